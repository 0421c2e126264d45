/* The viewer's text, made of viewer/ by cmake/Viewer.cmake: up to the page's title, from there to the data,
 * and behind them. Each ends in a zero. */
#ifndef CLI_VIEW_TEMPLATE_H
#define CLI_VIEW_TEMPLATE_H

extern const unsigned char view_template_head[], view_template_body[], view_template_script[];

#endif

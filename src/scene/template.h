/* Scenes that the library carries; the table is made from scenes/templates when it is built. */
#ifndef SCENE_TEMPLATE_H
#define SCENE_TEMPLATE_H

typedef struct dls_template {
    const char *name, *summary;
    const unsigned char *text;
} dls_template;

extern const dls_template dls_templates[];
extern const int dls_template_count;

#endif

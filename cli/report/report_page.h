/* A page to print: tables and figures of runs, comparisons and experiments, one after the other. */
#ifndef CLI_REPORT_REPORT_PAGE_H
#define CLI_REPORT_REPORT_PAGE_H

#include <delassus/output.h>

#include <stdbool.h>
#include <stdio.h>

void report_page_begin(FILE *stream, const char *title);
void report_page_end(FILE *stream);
void report_heading(FILE *stream, int level, const char *text);

/* A file of comma-separated values as a table, a figure as part of the page: false after a line on stderr. */
bool report_add_table(FILE *stream, const char *path, const char *name);
bool report_add_figure(FILE *stream, const char *path, const char *name);

/* Everything of a run: facts, what the steps were like, its last frame. False after a line on stderr. */
bool report_add_run(FILE *stream, const char *path);
/* Tables, figures and runs below a folder, a section for each folder; in `found` how many. */
bool report_add_folder(FILE *stream, const char *path, const char *name, int depth, int *found);

#endif

/* What `delassus analyze` found, for those who print, write and draw it. */
#ifndef CLI_ANALYZE_ANALYZE_H
#define CLI_ANALYZE_ANALYZE_H

#include <delassus/analysis.h>

typedef struct analyzed {
    const dls_analysis_measure *measure;
    dls_analysis *analysis; /* NULL where it could not be had */
    char why[512];          /* then */
} analyzed;

typedef struct analyze_report {
    const char *path;
    dls_results *results;
    dls_analysis_options options; /* frames resolved */
    int count;
    analyzed *items;
} analyze_report;

void analyze_print(const analyze_report *report);
void analyze_print_json(const analyze_report *report);
/* FOLDER/facts.csv and a CSV file per table. False after a line on stderr. */
bool analyze_write(const analyze_report *report, const char *folder);
/* FOLDER/NAME.svg and .png. False after a line on stderr. */
bool analyze_draw(const analyze_report *report, const char *folder);

#endif

/* Whole numbers of many things, frame after frame, packed so that deflate finds what is alike in them. */
#ifndef CLI_VIEW_TABLE_H
#define CLI_VIEW_TABLE_H

#include "cli/view/bytes.h"

enum { VIEW_MOST_CHANNELS = 10, VIEW_ROOTS = 1023, VIEW_FARTHEST = 1 << 29 };

typedef struct view_table {
    int frames, items, channels;
    int32_t *channel[VIEW_MOST_CHANNELS]; /* by frame, then item */
} view_table;

view_table view_table_begin(int frames, int items, int channels);
/* Frees it, and puts its channels behind bytes, deflated: of each the differences from the frame before,
 * zigzag coded, the lowest bytes of all before the next ones. Returns how many bytes a number of the first
 * three takes; numbers of others take two. */
int view_table_end(view_table *table, view_bytes *bytes);

/* x/quantum as a whole number; what lies farther out stands at the edge, and is counted. */
int32_t view_place_of(double x, double quantum, int64_t *beyond);
/* Sizes as top · (k/1023)²; returns top. */
double view_table_take_roots(view_table *table, int channel, const float *sizes);

#endif

#include "cli/view/table.h"

#include "cli/support/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 3 }; /* channels that are coordinates */

static size_t size_of(const view_table *t) { return (size_t)t->frames * (size_t)t->items; }

view_table view_table_begin(int frames, int items, int channels) {
    view_table t = {.frames = frames, .items = items, .channels = channels};
    for (int c = 0; c < channels; c++) t.channel[c] = report_allocate(size_of(&t) + 1, sizeof *t.channel[c]);
    return t;
}

int32_t view_place_of(double x, double quantum, int64_t *beyond) {
    double k = rint(x / quantum);
    if (fabs(k) <= VIEW_FARTHEST) return (int32_t)k;
    ++*beyond;
    return k < 0 ? -VIEW_FARTHEST : VIEW_FARTHEST;
}

double view_table_take_roots(view_table *t, int channel, const float *sizes) {
    float top = 0;
    for (size_t k = 0; k < size_of(t); k++) top = fmaxf(top, sizes[k]);
    for (size_t k = 0; k < size_of(t) && top > 0; k++)
        t->channel[channel][k] = (int32_t)lrint(VIEW_ROOTS * sqrt((double)sizes[k] / (double)top));
    return (double)top;
}

/* Differences in place, from the last frame to the first; returns how many bytes the largest needs. */
static int difference(const view_table *t, int32_t *channel) {
    uint32_t most = 0;
    for (int f = t->frames - 1; f >= 0; f--)
        for (int i = 0; i < t->items; i++) {
            size_t at = (size_t)f * (size_t)t->items + (size_t)i;
            int32_t d = channel[at] - (f ? channel[at - (size_t)t->items] : 0);
            uint32_t zigzag = (uint32_t)d << 1 ^ (uint32_t)(d < 0 ? -1 : 0);
            memcpy(&channel[at], &zigzag, sizeof zigzag);
            if (zigzag > most) most = zigzag;
        }
    return most < 1u << 16 ? 2 : most < 1u << 24 ? 3 : 4;
}

static void put_planes(const view_table *t, const int32_t *channel, int planes, view_bytes *bytes) {
    for (int p = 0; p < planes; p++) {
        uint8_t *place = bytes_extend(bytes, size_of(t));
        for (size_t k = 0; k < size_of(t); k++) place[k] = (uint8_t)((uint32_t)channel[k] >> 8 * p);
    }
}

int view_table_end(view_table *t, view_bytes *bytes) {
    int most = 2;
    for (int c = 0; c < t->channels; c++) {
        int planes = difference(t, t->channel[c]);
        if (planes > most) most = planes;
    }
    for (int c = 0; c < t->channels; c++) {
        put_planes(t, t->channel[c], c < PLACES ? most : 2, bytes);
        free(t->channel[c]);
    }
    bytes_deflate(bytes);
    return most;
}

/* Beds: bodies that lie close together, as balls, and what is seen of them from above. */
#include "analysis/bed.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "collide/broad/rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void dls_bed_release(dls_bed *bed) {
    dls_free(bed->balls);
    *bed = (dls_bed){0};
}

dls_status dls_bed_add(dls_bed *bed, const dls_bed_ball *ball, dls_error *error) {
    if (!DLS_RESERVE(bed->balls, bed->count, bed->room, bed->count + 1)) return dls_fail_memory(error);
    bed->balls[bed->count++] = *ball;
    return DLS_OK;
}

/* ---- extents ---- */

/* More places than any heap has, fewer than memory; those farther out could not be told apart. */
enum { MOST_PLACES = 10000000 };
static const double farthest_place = 1e12;

/* Places are half a mean body apart: the surface under a body is asked for about twice along each axis. */
static const double places_per_body = 2;

/* How many places about its own a ball may lie over, along one axis and each way. */
static double places_about(const dls_bed *bed, const dls_bed_ball *ball) {
    return ceil(ball->radius / bed->width);
}

static dls_status check_places(const dls_bed *bed, double time, dls_error *error) {
    double wanted = 0;
    for (int k = 0; k < bed->count; k++) {
        const dls_bed_ball *b = &bed->balls[k];
        double far = hypot(b->x[0], b->x[1]) / bed->width, about = 2 * places_about(bed, b) + 1;
        wanted += bed->dimension == 3 ? about * about : about;
        if (far <= farthest_place && fabs(b->x[2]) / bed->width <= farthest_place && wanted <= MOST_PLACES)
            continue;
        return dls_fail(error, DLS_ERROR_INPUT,
                        "the free surface at t = %g s in places %g m apart, half of a mean body: up to body "
                        "%d %.3g of them, %.3g from the origin, expected at most %d, and %g from the origin: "
                        "give a region",
                        time, bed->width, b->id, wanted, far, (int)MOST_PLACES, farthest_place);
    }
    return DLS_OK;
}

/* ---- the largest heap ---- */

static int find_root(int *parent, int k) {
    while (parent[k] != k) k = parent[k] = parent[parent[k]];
    return k;
}

static void join(int *parent, int a, int b) {
    a = find_root(parent, a), b = find_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

static void meet(void *self, const dls_proxy *p, const dls_proxy *q, dls_pair_list *list) {
    (void)list;
    join(self, p->shape, q->shape);
}

/* Two bodies hang together when the gap between them is at most a quarter of both radii added: dense flows
 * have smaller ones, and what flies above them larger. */
static const double link_gap = 0.25;

static dls_status link_balls(const dls_bed *bed, int *parent, dls_error *error) {
    dls_rows *rows = dls_rows_create();
    dls_workspace *scratch = dls_workspace_create();
    dls_proxy *proxies = DLS_NEW_ZERO(dls_proxy, bed->count);
    double *size = DLS_NEW(double, bed->count);
    uint8_t *level = DLS_NEW(uint8_t, bed->count);
    bool good = rows && scratch && proxies && size && level;
    for (int k = 0; k < bed->count && good; k++) {
        double reach = (1 + link_gap) * bed->balls[k].reach;
        proxies[k] = (dls_proxy){.ball = reach, .shape = k, .index = k};
        vec_copy(proxies[k].c, bed->balls[k].x);
        vec_set(proxies[k].h, reach, reach, reach);
        size[k] = 2 * reach;
        parent[k] = k;
    }
    if (good) {
        dls_rows_choose_levels(rows, bed->count, size);
        for (int k = 0; k < bed->count; k++) {
            int l = dls_rows_level(rows, size[k]);
            level[k] = (uint8_t)(l < 0 ? DLS_ASIDE : l);
        }
        for (int a = 0; a < bed->count; a++) /* the few largest meet all others one by one */
            for (int b = 0; b < bed->count && level[a] == DLS_ASIDE; b++)
                if (dls_proxies_meet(&proxies[a], &proxies[b])) join(parent, a, b);
        good = dls_rows_build(rows, bed->count, proxies, level, scratch);
    }
    for (int task = 0; good && task < dls_rows_task_count(rows); task++) dls_rows_sort(rows, task);
    for (int task = 0; good && task < dls_rows_task_count(rows); task++)
        dls_rows_sweep(rows, task, meet, parent, NULL);
    dls_free(level);
    dls_free(size);
    dls_free(proxies);
    dls_workspace_destroy(scratch);
    dls_rows_destroy(rows);
    return good ? DLS_OK : dls_fail_memory(error);
}

/* Of all that hang together what has the largest volume stays; of equals the one with the first body. */
static dls_status keep_largest(dls_bed *bed, dls_error *error) {
    int *parent = DLS_NEW(int, bed->count), best = 0, kept = 0;
    double *volume = DLS_NEW_ZERO(double, bed->count);
    dls_status status = parent && volume ? link_balls(bed, parent, error) : dls_fail_memory(error);
    for (int k = 0; k < bed->count && !status; k++)
        volume[find_root(parent, k)] += pow(bed->balls[k].radius, bed->dimension);
    for (int k = 1; k < bed->count && !status; k++)
        if (volume[k] > volume[best]) best = k;
    for (int k = 0; k < bed->count && !status; k++)
        if (find_root(parent, k) == best) bed->balls[kept++] = bed->balls[k];
    if (!status) bed->count = kept;
    dls_free(volume);
    dls_free(parent);
    return status;
}

dls_status dls_bed_settle(dls_bed *bed, double time, dls_error *error) {
    double diameter = 0;
    for (int k = 0; k < bed->count; k++) diameter += 2 * bed->balls[k].radius;
    if (bed->count == 0) return DLS_OK;
    bed->width = diameter / bed->count / places_per_body;
    dls_status status = check_places(bed, time, error);
    return status ? status : keep_largest(bed, error);
}

/* ---- the surface ---- */

static int compare_tops(const void *left, const void *right) {
    const dls_bed_top *a = left, *b = right;
    if (a->column != b->column) return a->column < b->column ? -1 : 1;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    return (a->height < b->height) - (a->height > b->height);
}

typedef struct top_list {
    int count;
    int64_t room;
    dls_bed_top *tops;
} top_list;

/* The places that a ball lies over, and the one that its centre is nearest to. */
static bool add_tops(const dls_bed *bed, const dls_bed_ball *b, top_list *list) {
    int64_t own_i = (int64_t)floor(b->x[0] / bed->width), own_j = (int64_t)floor(b->x[1] / bed->width),
            reach = (int64_t)places_about(bed, b), reach_j = bed->dimension == 3 ? reach : 0;
    for (int64_t i = own_i - reach; i <= own_i + reach; i++)
        for (int64_t j = own_j - reach_j; j <= own_j + reach_j; j++) {
            double u = ((double)i + 0.5) * bed->width, v = ((double)j + 0.5) * bed->width, du = u - b->x[0],
                   dv = bed->dimension == 3 ? v - b->x[1] : 0,
                   inside = b->radius * b->radius - du * du - dv * dv;
            if (inside < 0 && !(i == own_i && j == own_j)) continue;
            if (!DLS_RESERVE(list->tops, list->count, list->room, list->count + 1)) return false;
            list->tops[list->count++] = (dls_bed_top){i, j, u, v, b->x[2] + sqrt(fmax(inside, 0))};
        }
    return true;
}

dls_status dls_bed_tops(const dls_bed *bed, int *count, dls_bed_top **tops, dls_error *error) {
    top_list list = {0};
    int kept = 0;
    *count = 0, *tops = NULL;
    for (int k = 0; k < bed->count; k++)
        if (!add_tops(bed, &bed->balls[k], &list)) {
            dls_free(list.tops);
            return dls_fail_memory(error);
        }
    if (list.count) qsort(list.tops, (size_t)list.count, sizeof *list.tops, compare_tops);
    for (int k = 0; k < list.count; k++) {
        const dls_bed_top *top = &list.tops[k], *last = &list.tops[kept > 0 ? kept - 1 : 0];
        if (kept == 0 || top->column != last->column || top->row != last->row) list.tops[kept++] = *top;
    }
    *count = kept, *tops = list.tops;
    return DLS_OK;
}

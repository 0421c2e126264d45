#include "collide/broad/rows.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { SAMPLES = 512, ROWS_PER_BOX = 4, LEAST_ROOM = 64, TASK_SIZE = 2048, WINDOW = 64 };

/* One level: rows (j, k) across the axes 1 and 2, each cut into bins along axis 0. Outside of low … low +
 * n·cell the outermost rows go on, so that a few that are far away do not coarsen the rows of all. */
typedef struct level {
    int count;
    double half[3]; /* largest of its boxes, axes in the rows' order */
    double low[3], cell[3], inverse[3];
    int n[3];
    int first_bin;
} level;

typedef struct task {
    int level, row_first, row_end;
} task;

struct dls_rows {
    int axis[3];          /* the longest first: rows run along it */
    int level_count, few; /* levels 0 … few−1 are the largest shapes, tested against all */
    uint8_t level_of_bin[DLS_SIZE_BINS];
    int histogram[DLS_SIZE_BINS];
    level levels[DLS_LEVELS];
    /* in the scratch of the present call */
    dls_proxy *sorted;
    int bin_count;
    int *start; /* of bins in sorted, and one more */
    int task_count;
    task *tasks;
};

dls_rows *dls_rows_create(void) { return DLS_NEW_ZERO(dls_rows, 1); }

void dls_rows_destroy(dls_rows *rows) { dls_free(rows); }

size_t dls_rows_bytes(void) { return sizeof(dls_rows); }

/* ---- levels ---- */

/* Sixteenths of an octave, from the exponent and the first bits of the fraction. */
static int size_bin(double size) {
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    return (int)(bits >> 48) & (DLS_SIZE_BINS - 1);
}

void dls_rows_choose_levels(dls_rows *r, int count, const double *size) {
    int least = DLS_SIZE_BINS, most = -1; /* a small world has no time to look at all bins */
    for (int i = 0; i < count; i++) {
        if (!(size[i] >= 0)) continue;
        int bin = size_bin(size[i]);
        if (bin < least) least = bin;
        if (bin > most) most = bin;
    }
    if (most >= least) memset(r->histogram + least, 0, sizeof *r->histogram * (size_t)(most - least + 1));
    for (int i = 0; i < count; i++)
        if (size[i] >= 0) r->histogram[size_bin(size[i])]++;
    int members = 0, top = -1;
    r->level_count = r->few = 0;
    for (int bin = most; bin >= least; bin--) {
        if (!r->histogram[bin]) continue;
        if (r->level_count == 0 || (top - bin >= 16 && r->level_count < DLS_LEVELS)) {
            if (members <= DLS_FEW) r->few = r->level_count;
            top = bin;
            r->level_count++;
        }
        members += r->histogram[bin];
        r->level_of_bin[bin] = (uint8_t)(r->level_count - 1);
    }
    if (members <= DLS_FEW) r->few = r->level_count;
}

int dls_rows_level(const dls_rows *r, double size) {
    assert(size >= 0 && r->histogram[size_bin(size)] > 0); /* one of those that levels were chosen for */
    int l = r->level_of_bin[size_bin(size)];
    return l < r->few ? -1 : l;
}

/* ---- how far rows go ---- */

/* fmin and fmax are calls, for the sake of NaN, which does not come here. */
static inline double smaller(double x, double y) { return x < y ? x : y; }
static inline double larger(double x, double y) { return x > y ? x : y; }

static void sort_numbers(double *x, int n) {
    static const int gaps[] = {301, 132, 57, 23, 10, 4, 1};
    for (int g = 0; g < 7; g++)
        for (int i = gaps[g]; i < n; i++) {
            double t = x[i];
            int j = i;
            for (; j >= gaps[g] && x[j - gaps[g]] > t; j -= gaps[g]) x[j] = x[j - gaps[g]];
            x[j] = t;
        }
}

/* From what 90 % of a sample cover, and as much again on either side, but no farther than all do. */
static void choose_range(const double *x, int n, double least, double most, double *low, double *high) {
    double sample[SAMPLES];
    memcpy(sample, x, sizeof *sample * (size_t)n);
    sort_numbers(sample, n);
    double a = sample[n / 20], b = sample[n - 1 - n / 20];
    *low = fmax(least, a - (b - a));
    *high = fmin(most, b + (b - a));
}

typedef struct extent {
    int stride, seen, samples;
    double x[3][SAMPLES], least[3], most[3];
} extent;

static void extent_add(extent *e, level *l, const dls_proxy *p) {
    bool first = e->seen == 0, sampled = e->seen % e->stride == 0 && e->samples < SAMPLES;
    for (int k = 0; k < 3; k++) {
        e->least[k] = first ? p->c[k] : smaller(e->least[k], p->c[k]);
        e->most[k] = first ? p->c[k] : larger(e->most[k], p->c[k]);
        l->half[k] = larger(l->half[k], p->h[k]);
        if (sampled) e->x[k][e->samples] = p->c[k];
    }
    e->samples += sampled;
    e->seen++;
}

static int steps_of(double length, double cell) {
    double n = floor(length / cell) + 1;
    return n < 1 << 20 ? (int)n : 1 << 20;
}

/* Cells as long as the largest box, so that neighbours are at most one row away; longer where there would be
 * more than a few rows per box. */
static void choose_cells(level *l, const int *axis, const double *low, const double *high) {
    double half[3], room = ROWS_PER_BOX * (double)l->count + LEAST_ROOM;
    memcpy(half, l->half, sizeof half);
    for (int k = 0; k < 3; k++) {
        l->half[k] = half[axis[k]];
        l->low[k] = low[axis[k]];
        l->cell[k] = fmax(2 * l->half[k] * (1 + 1e-9), 1e-6 * (high[axis[k]] - low[axis[k]]));
        if (!(l->cell[k] > 0)) l->cell[k] = 1;
    }
    double length[3];
    for (int k = 0; k < 3; k++) length[k] = high[axis[k]] - low[axis[k]];
    for (;;) {
        l->n[1] = steps_of(length[1], l->cell[1]);
        l->n[2] = steps_of(length[2], l->cell[2]);
        if ((double)l->n[1] * l->n[2] <= room) break;
        int k = l->n[1] > l->n[2] ? 1 : 2;
        l->cell[k] *= 1.25;
    }
    double most = fmax(1, floor(room / ((double)l->n[1] * l->n[2])));
    l->n[0] = steps_of(length[0], l->cell[0]);
    if (l->n[0] > most) {
        l->n[0] = (int)most;
        l->cell[0] = length[0] / most;
    }
    for (int k = 0; k < 3; k++) l->inverse[k] = 1 / l->cell[k];
}

static inline int index_of(const level *l, int k, double x) {
    double i = (x - l->low[k]) * l->inverse[k];
    return !(i > 0) ? 0 : i >= l->n[k] ? l->n[k] - 1 : (int)i;
}

static void choose_rows(dls_rows *r, int count, const dls_proxy *proxy, const uint8_t *at) {
    int widest = 0;
    double low[DLS_LEVELS][3], high[DLS_LEVELS][3];
    for (int l = 0; l < r->level_count; l++) r->levels[l] = (level){.count = 0};
    for (int i = 0; i < count; i++)
        if (at[i] != DLS_ASIDE) r->levels[at[i]].count++;
    for (int l = 0; l < r->level_count; l++) {
        level *here = &r->levels[l];
        if (here->count == 0) continue;
        extent e = {.stride = (here->count + SAMPLES - 1) / SAMPLES};
        for (int i = 0; i < count; i++)
            if (at[i] == l) extent_add(&e, here, &proxy[i]);
        for (int k = 0; k < 3; k++)
            choose_range(e.x[k], e.samples, e.least[k], e.most[k], &low[l][k], &high[l][k]);
        if (here->count > r->levels[widest].count || r->levels[widest].count == 0) widest = l;
    }
    for (int k = 0; k < 3; k++) r->axis[k] = k;
    for (int k = 0; k < 3; k++)
        for (int j = k + 1; j < 3; j++) {
            int a = r->axis[k], b = r->axis[j];
            if (high[widest][b] - low[widest][b] > high[widest][a] - low[widest][a])
                r->axis[k] = b, r->axis[j] = a;
        }
    for (int l = 0, bins = 0; l < r->level_count; l++) {
        level *here = &r->levels[l];
        here->first_bin = bins;
        if (here->count == 0) continue;
        choose_cells(here, r->axis, low[l], high[l]);
        bins += here->n[0] * here->n[1] * here->n[2];
        r->bin_count = bins;
    }
}

/* ---- into rows ---- */

/* Bins are nearly in order already; a crowd in one bin must not cost its square. */
static void sort_row(dls_proxy *p, int n) {
    static const int gaps[] = {57491, 21915, 8353, 3184, 1214, 463, 176, 67, 26, 10, 4, 1};
    int g = 11, budget = 8 * n;
    for (int pass = 0; pass < 2; pass++, g = 0) {
        for (; g < 12; g++) {
            int gap = gaps[g];
            bool stopped = false;
            for (int i = gap; i < n && !stopped; i++) {
                if (!(p[i - gap].c[0] > p[i].c[0])) continue;
                dls_proxy t = p[i];
                int j = i;
                for (; j >= gap && p[j - gap].c[0] > t.c[0]; j -= gap) p[j] = p[j - gap];
                p[j] = t;
                budget -= (i - j) / gap;
                stopped = pass == 0 && budget < 0;
            }
            if (pass == 0 && !stopped) return;
        }
    }
}

#ifndef NDEBUG
static bool is_ascending(const dls_proxy *p, int n) {
    for (int i = 1; i < n; i++)
        if (p[i - 1].c[0] > p[i].c[0]) return false;
    return true;
}
#endif

static inline int row_start(const dls_rows *r, const level *l, int row) {
    return r->start[l->first_bin + row * l->n[0]];
}

/* Each task but the last of a level has TASK_SIZE boxes or more: tasks has room for all. */
static void make_tasks(dls_rows *r) {
    for (int k = 0; k < r->level_count; k++) {
        const level *l = &r->levels[k];
        if (l->count == 0) continue;
        int rows = l->n[1] * l->n[2], first = 0;
        for (int row = 0; row < rows; row++) {
            int end = row_start(r, l, row + 1);
            if (end - row_start(r, l, first) < TASK_SIZE && row + 1 < rows) continue;
            if (end > row_start(r, l, first)) r->tasks[r->task_count++] = (task){k, first, row + 1};
            first = row + 1;
        }
    }
}

bool dls_rows_build(dls_rows *r, int count, const dls_proxy *proxy, const uint8_t *at,
                    dls_workspace *scratch) {
    r->bin_count = r->task_count = 0;
    if (count == 0) return true;
    choose_rows(r, count, proxy, at);
    r->tasks = DLS_TAKE(scratch, task, count / TASK_SIZE + r->level_count);
    r->sorted = DLS_TAKE(scratch, dls_proxy, count);
    r->start = DLS_TAKE_ZERO(scratch, int, r->bin_count + 1);
    int *bin = DLS_TAKE(scratch, int, count);
    if (!r->tasks || !r->sorted || !r->start || !bin) return false;
    for (int i = 0; i < count; i++) {
        if (at[i] == DLS_ASIDE) continue;
        const level *l = &r->levels[at[i]];
        const double *c = proxy[i].c;
        int j = index_of(l, 1, c[r->axis[1]]), k = index_of(l, 2, c[r->axis[2]]);
        bin[i] = l->first_bin + (j * l->n[2] + k) * l->n[0] + index_of(l, 0, c[r->axis[0]]);
        r->start[bin[i]]++;
    }
    for (int b = 0, sum = 0; b <= r->bin_count; b++) {
        sum += r->start[b];
        r->start[b] = sum;
    }
    for (int i = count - 1; i >= 0; i--) {
        if (at[i] == DLS_ASIDE) continue;
        dls_proxy *p = &r->sorted[--r->start[bin[i]]];
        *p = proxy[i];
        for (int k = 0; k < 3; k++) p->c[k] = proxy[i].c[r->axis[k]], p->h[k] = proxy[i].h[r->axis[k]];
    }
    make_tasks(r);
    assert(r->task_count <= count / TASK_SIZE + r->level_count);
    return true;
}

/* ---- sweep ---- */

int dls_rows_task_count(const dls_rows *r) { return r->task_count; }

void dls_rows_sort(dls_rows *r, int number) {
    const task *t = &r->tasks[number];
    const level *l = &r->levels[t->level];
    for (int row = t->row_first; row < t->row_end; row++) {
        int begin = row_start(r, l, row), end = row_start(r, l, row + 1);
        if (end - begin > 1) sort_row(r->sorted + begin, end - begin);
        assert(is_ascending(r->sorted + begin, end - begin));
    }
}

typedef struct sweep {
    const dls_rows *rows;
    dls_meet_function meet;
    void *self;
    dls_pair_list *list;
} sweep;

/* p against candidates first … while their place is at most last: which balls meet is close to a coin toss,
 * so hits are gathered without a branch and looked at afterwards. */
static inline void sweep_window(const sweep *s, const dls_proxy *p, int first, int stop, double last) {
    const dls_proxy *q = s->rows->sorted;
    int hits[WINDOW], count = 0;
    for (int j = first; j < stop && q[j].c[0] <= last; j++) {
        double x = p->c[0] - q[j].c[0], y = p->c[1] - q[j].c[1], z = p->c[2] - q[j].c[2];
        double r = p->ball + q[j].ball;
        hits[count] = j;
        count += x * x + y * y + z * z <= r * r;
        if (count < WINDOW) continue;
        for (int k = 0; k < count; k++)
            if (dls_proxies_meet(p, &q[hits[k]])) s->meet(s->self, p, &q[hits[k]], s->list);
        count = 0;
    }
    for (int k = 0; k < count; k++)
        if (dls_proxies_meet(p, &q[hits[k]])) s->meet(s->self, p, &q[hits[k]], s->list);
}

static void sweep_alone(const sweep *s, const level *l, int begin, int end) {
    const dls_proxy *p = s->rows->sorted;
    for (int i = begin; i < end; i++) sweep_window(s, &p[i], i + 1, end, p[i].c[0] + p[i].h[0] + l->half[0]);
}

/* Boxes begin … end−1 of one row against another row of their level: the window only moves forward. */
static void sweep_against(const sweep *s, const level *b, int begin, int end, int row) {
    const dls_proxy *p = s->rows->sorted;
    double back = 2 * b->half[0];
    int bin = index_of(b, 0, p[begin].c[0] - back);
    int first = s->rows->start[b->first_bin + row * b->n[0] + bin], stop = row_start(s->rows, b, row + 1);
    for (int i = begin; i < end && first < stop; i++) {
        while (first < stop && p[first].c[0] < p[i].c[0] - back) first++;
        sweep_window(s, &p[i], first, stop, p[i].c[0] + p[i].h[0] + b->half[0]);
    }
}

/* A row between low and high across, begin … end−1, against the larger boxes of another: each of those finds
 * its window through the bins. */
typedef struct span {
    const level *at;
    int row, begin, end;
    double low[2], high[2];
} span;

static void sweep_larger(const sweep *s, const span *a, const level *b, int row) {
    const dls_proxy *p = s->rows->sorted;
    double first = p[a->begin].c[0] - a->at->half[0], last = p[a->end - 1].c[0] + a->at->half[0];
    const int *bins = s->rows->start + a->at->first_bin + a->row * a->at->n[0];
    int bin = index_of(b, 0, first - b->half[0]);
    int j = s->rows->start[b->first_bin + row * b->n[0] + bin], stop = row_start(s->rows, b, row + 1);
    for (; j < stop && p[j].c[0] - b->half[0] <= last; j++) {
        const dls_proxy *q = &p[j];
        if (q->c[1] + q->h[1] < a->low[0] || q->c[1] - q->h[1] > a->high[0]) continue;
        if (q->c[2] + q->h[2] < a->low[1] || q->c[2] - q->h[2] > a->high[1]) continue;
        double from = q->c[0] - q->h[0] - a->at->half[0], to = q->c[0] + q->h[0] + a->at->half[0];
        sweep_window(s, q, bins[index_of(a->at, 0, from)], a->end, to);
    }
}

/* Rows of a coarser level that the row may reach. */
static void sweep_coarser(const sweep *s, const span *a, const level *b) {
    int j0 = index_of(b, 1, a->low[0] - b->half[1]), j1 = index_of(b, 1, a->high[0] + b->half[1]);
    int k0 = index_of(b, 2, a->low[1] - b->half[2]), k1 = index_of(b, 2, a->high[1] + b->half[2]);
    for (int j = j0; j <= j1; j++)
        for (int k = k0; k <= k1; k++) sweep_larger(s, a, b, j * b->n[2] + k);
}

static void sweep_row(const sweep *s, int at, int row) {
    const dls_rows *r = s->rows;
    const level *l = &r->levels[at];
    int begin = row_start(r, l, row), end = row_start(r, l, row + 1), j = row / l->n[2], k = row % l->n[2];
    assert(begin <= end && j < l->n[1]);
    if (begin == end) return;
    sweep_alone(s, l, begin, end);
    if (k + 1 < l->n[2]) sweep_against(s, l, begin, end, row + 1);
    for (int side = k - 1; j + 1 < l->n[1] && side <= k + 1; side++)
        if (side >= 0 && side < l->n[2]) sweep_against(s, l, begin, end, (j + 1) * l->n[2] + side);
    if (at == 0) return;
    span a = {l, row, begin, end, {INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    for (int i = begin; i < end; i++)
        for (int m = 0; m < 2; m++) {
            const dls_proxy *p = &r->sorted[i];
            a.low[m] = smaller(a.low[m], p->c[m + 1] - p->h[m + 1]);
            a.high[m] = larger(a.high[m], p->c[m + 1] + p->h[m + 1]);
        }
    for (int up = at - 1; up >= 0; up--)
        if (r->levels[up].count) sweep_coarser(s, &a, &r->levels[up]);
}

void dls_rows_sweep(const dls_rows *r, int number, dls_meet_function meet, void *self, dls_pair_list *list) {
    const sweep s = {r, meet, self, list};
    const task *t = &r->tasks[number];
    for (int row = t->row_first; row < t->row_end; row++) sweep_row(&s, t->level, row);
}

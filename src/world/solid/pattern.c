#include "world/solid/pattern.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- where A has blocks ---- */

static int compare(const void *left, const void *right) { return *(const int *)left - *(const int *)right; }

/* Groups of each node, by node. */
static bool list_groups(const dls_groups *g, int nodes, int64_t **start, int **group) {
    *start = DLS_NEW_ZERO(int64_t, nodes + 2);
    *group = DLS_NEW(int, g->count ? g->start[g->count] : 0);
    if (!*start || !*group) return false;
    for (int64_t e = 0; g->count && e < g->start[g->count]; e++) (*start)[g->node[e] + 2]++;
    for (int i = 0; i < nodes; i++) (*start)[i + 2] += (*start)[i + 1];
    for (int k = 0; k < g->count; k++)
        for (int64_t e = g->start[k]; e < g->start[k + 1]; e++) (*group)[(*start)[g->node[e] + 1]++] = k;
    return true;
}

/* Nodes up to i that stand in a group with it, into column where that is there; returns how many. */
static int64_t lower_row(const dls_groups *g, int i, const int64_t *start, const int *group, int *mark,
                         int *column) {
    int64_t count = 0;
    for (int64_t k = start[i]; k < start[i + 1]; k++)
        for (int64_t e = g->start[group[k]]; e < g->start[group[k] + 1]; e++) {
            int j = g->node[e];
            if (j >= i || mark[j] == i + 1) continue;
            mark[j] = i + 1;
            if (column) column[count] = j;
            count++;
        }
    if (column) column[count] = i;
    return count + 1;
}

static bool make_rows(dls_pattern *p, const dls_groups *g) {
    int64_t *start = NULL;
    int *group = NULL, *mark = DLS_NEW_ZERO(int, p->nodes);
    bool good =
        mark && list_groups(g, p->nodes, &start, &group) && (p->start = DLS_NEW_ZERO(int64_t, p->nodes + 1));
    for (int i = 0; i < p->nodes && good; i++)
        p->start[i + 1] = p->start[i] + lower_row(g, i, start, group, mark, NULL);
    good = good && (p->column = DLS_NEW(int, p->start[p->nodes]));
    if (good) memset(mark, 0, sizeof *mark * (size_t)p->nodes);
    for (int i = 0; i < p->nodes && good; i++) {
        lower_row(g, i, start, group, mark, p->column + p->start[i]);
        qsort(p->column + p->start[i], (size_t)(p->start[i + 1] - p->start[i]), sizeof(int), compare);
    }
    dls_free(start);
    dls_free(group);
    dls_free(mark);
    return good;
}

/* ---- where L has ---- */

/* Places of A's rows in the order of elimination, each with those before it. */
typedef struct ordered {
    int64_t *start;
    int *column;
} ordered;

static bool make_ordered(const dls_pattern *p, ordered *S) {
    S->start = DLS_NEW_ZERO(int64_t, p->nodes + 2);
    S->column = DLS_NEW(int, p->start[p->nodes]);
    if (!S->start || !S->column) return false;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < p->nodes; i++)
            for (int64_t e = p->start[i]; e < p->start[i + 1]; e++) {
                int a = p->place[i], b = p->place[p->column[e]], later = a > b ? a : b;
                if (pass)
                    S->column[S->start[later + 1]++] = a > b ? b : a;
                else
                    S->start[later + 2]++;
            }
        for (int i = 0; i < p->nodes && !pass; i++) S->start[i + 2] += S->start[i + 1];
    }
    return true;
}

/* parent[i] is the first place behind i that column i of L reaches; ancestor shortens the ways there. */
static void grow_tree(const ordered *S, int n, int *parent, int *ancestor) {
    for (int k = 0; k < n; k++) {
        parent[k] = ancestor[k] = -1;
        for (int64_t e = S->start[k]; e < S->start[k + 1]; e++)
            for (int i = S->column[e], next; i >= 0 && i < k; i = next) {
                next = ancestor[i];
                ancestor[i] = k;
                if (next < 0) parent[i] = k;
            }
    }
}

/* Columns of L with an entry in row k: the ways from those of A towards the root. Any order. */
static int row_of_factor(const dls_pattern *p, const ordered *S, int k, int *mark, int *stack) {
    int count = 0;
    mark[k] = k + 1;
    for (int64_t e = S->start[k]; e < S->start[k + 1]; e++)
        for (int i = S->column[e]; mark[i] != k + 1; i = p->parent[i]) {
            mark[i] = k + 1;
            stack[count++] = i;
        }
    return count;
}

static void count_columns(dls_pattern *p, const ordered *S, int *mark, int *stack) {
    for (int k = 0; k < p->nodes; k++) {
        int count = row_of_factor(p, S, k, mark, stack);
        p->below[k + 1]++;
        p->left[k + 1] = p->left[k] + count;
        for (int s = 0; s < count; s++) p->below[stack[s] + 1]++;
    }
    for (int k = 0; k < p->nodes; k++) {
        double blocks = (double)p->below[k + 1];
        p->flops += blocks * blocks * p->size * p->size * p->size;
        p->below[k + 1] += p->below[k];
    }
}

/* Rows come in ascending order, so that columns of L fill from the top. */
static void fill_columns(dls_pattern *p, const ordered *S, int *mark, int *stack, int64_t *end) {
    for (int k = 0; k < p->nodes; k++) {
        int count = row_of_factor(p, S, k, mark, stack);
        qsort(stack, (size_t)count, sizeof *stack, compare);
        p->row[p->below[k]] = k;
        end[k] = p->below[k] + 1;
        for (int s = 0; s < count; s++) {
            int i = stack[s];
            p->of[p->left[k] + s] = i;
            p->entry[p->left[k] + s] = end[i];
            p->row[end[i]++] = k;
        }
    }
}

static int64_t find(const int *list, int64_t first, int64_t end, int what) {
    while (first < end) {
        int64_t middle = first + (end - first) / 2;
        if (list[middle] == what) return middle;
        if (list[middle] < what)
            first = middle + 1;
        else
            end = middle;
    }
    return -1;
}

static void map_blocks(dls_pattern *p) {
    for (int i = 0; i < p->nodes; i++)
        for (int64_t e = p->start[i]; e < p->start[i + 1]; e++) {
            int a = p->place[i], b = p->place[p->column[e]], column = a < b ? a : b, row = a < b ? b : a;
            int64_t entry = find(p->row, p->below[column], p->below[column + 1], row);
            assert(entry >= 0);
            p->into[e] = a >= b ? entry : ~entry;
        }
}

static bool make_factor(dls_pattern *p) {
    int n = p->nodes, *mark = DLS_NEW_ZERO(int, n), *stack = DLS_NEW(int, n);
    int64_t *end = DLS_NEW(int64_t, n);
    ordered S = {NULL, NULL};
    p->parent = DLS_NEW(int, n);
    p->below = DLS_NEW_ZERO(int64_t, n + 1);
    p->left = DLS_NEW_ZERO(int64_t, n + 1);
    p->into = DLS_NEW(int64_t, p->start[n]);
    bool good = mark && stack && end && p->parent && p->below && p->left && p->into && make_ordered(p, &S);
    if (good) {
        grow_tree(&S, n, p->parent, stack);
        count_columns(p, &S, mark, stack);
        p->row = DLS_NEW(int, p->below[n]);
        p->entry = DLS_NEW(int64_t, p->left[n]);
        p->of = DLS_NEW(int, p->left[n]);
        good = p->row && p->entry && p->of;
    }
    if (good) {
        memset(mark, 0, sizeof *mark * (size_t)n);
        fill_columns(p, &S, mark, stack, end);
        map_blocks(p);
    }
    dls_free(S.start);
    dls_free(S.column);
    dls_free(mark);
    dls_free(stack);
    dls_free(end);
    return good;
}

static bool make_order(dls_pattern *p, const double *places) {
    int *order = DLS_NEW(int, p->nodes);
    p->place = DLS_NEW(int, p->nodes);
    bool good = order && p->place && dls_pattern_order(p, places, order);
    for (int k = 0; k < p->nodes && good; k++) p->place[order[k]] = k;
    dls_free(order);
    return good;
}

dls_pattern *dls_pattern_create(int nodes, int size, const dls_groups *groups, const double *places) {
    dls_pattern *p = DLS_NEW_ZERO(dls_pattern, 1);
    if (!p) return NULL;
    p->nodes = nodes;
    p->size = size;
    if (make_rows(p, groups) && make_order(p, places) && make_factor(p)) return p;
    dls_pattern_destroy(p);
    return NULL;
}

dls_pattern *dls_pattern_create_full(int n) {
    static const double origin[3];
    return dls_pattern_create(1, n, &(dls_groups){0}, origin);
}

void dls_pattern_destroy(dls_pattern *p) {
    if (!p) return;
    void *held[] = {p->start, p->column, p->place, p->parent, p->below,
                    p->row,   p->into,   p->left,  p->entry,  p->of};
    for (size_t k = 0; k < sizeof held / sizeof *held; k++) dls_free(held[k]);
    dls_free(p);
}

int64_t dls_pattern_block(const dls_pattern *p, int i, int j) {
    int64_t e = find(p->column, p->start[i], p->start[i + 1], j);
    return e < 0 ? -1 : e * p->size * p->size;
}

/* ---- products ---- */

void dls_pattern_multiply(const dls_pattern *p, const double *A, const double *x, double *y) {
    int size = p->size;
    for (int i = 0; i < p->nodes; i++)
        for (int64_t e = p->start[i]; e < p->start[i + 1]; e++, A += size * size) {
            int j = p->column[e];
            for (int r = 0; r < size; r++)
                for (int c = 0; c < size; c++) {
                    y[size * i + r] += A[r * size + c] * x[size * j + c];
                    if (j < i) y[size * j + c] += A[r * size + c] * x[size * i + r];
                }
        }
}

void dls_pattern_turn(const dls_pattern *p, const double *R, bool back, double *x) {
    assert(p->size == 2 || p->size == 3);
    for (int i = 0; i < p->nodes; i++, x += p->size) {
        double turned[3] = {0, 0, 0};
        for (int r = 0; r < p->size; r++)
            for (int c = 0; c < p->size; c++) turned[r] += (back ? R[c + 3 * r] : R[r + 3 * c]) * x[c];
        for (int r = 0; r < p->size; r++) x[r] = turned[r];
    }
}

void dls_pattern_spread(const dls_pattern *p, const double *A, double *full) {
    int size = p->size, n = dls_pattern_freedoms(p);
    memset(full, 0, sizeof *full * (size_t)n * (size_t)n);
    for (int i = 0; i < p->nodes; i++)
        for (int64_t e = p->start[i]; e < p->start[i + 1]; e++, A += size * size)
            for (int r = 0; r < size; r++)
                for (int c = 0; c < size; c++) {
                    int64_t row = size * i + r, column = size * p->column[e] + c;
                    full[row * n + column] = full[column * n + row] = A[r * size + c];
                }
}

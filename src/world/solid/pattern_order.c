/* Nested dissection by places: a part is cut by a plane across its longest side, at the middle of its nodes;
 * both halves come first, and last those nodes behind the plane that are coupled with the other side. */
#include "base/memory.h"
#include "world/solid/pattern.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST = 8 }; /* nodes that are not cut further */

typedef struct dissection {
    const double *places;
    int64_t *start; /* neighbours of each node, those above it too */
    int *neighbour;
    int *side; /* of each node: the part that it was put into last */
    int parts;
} dissection;

typedef struct along {
    double at;
    int node;
} along;

static bool list_neighbours(dissection *x, const dls_pattern *p) {
    x->start = DLS_NEW_ZERO(int64_t, p->nodes + 2);
    x->neighbour = DLS_NEW(int, 2 * p->start[p->nodes]);
    if (!x->start || !x->neighbour) return false;
    for (int i = 0; i < p->nodes; i++)
        for (int64_t e = p->start[i]; e < p->start[i + 1] - 1; e++)
            x->start[i + 2]++, x->start[p->column[e] + 2]++;
    for (int i = 0; i < p->nodes; i++) x->start[i + 2] += x->start[i + 1];
    for (int i = 0; i < p->nodes; i++)
        for (int64_t e = p->start[i]; e < p->start[i + 1] - 1; e++) {
            x->neighbour[x->start[i + 1]++] = p->column[e];
            x->neighbour[x->start[p->column[e] + 1]++] = i;
        }
    return true;
}

static int compare(const void *left, const void *right) {
    const along *a = left, *b = right;
    return a->at != b->at ? (a->at > b->at) - (a->at < b->at) : (a->node > b->node) - (a->node < b->node);
}

/* Nodes along the longest side of their box; returns its length. */
static double sort_along(const dissection *x, const int *order, int count, along *line) {
    double low[3], high[3];
    int axis = 0;
    for (int d = 0; d < 3; d++) {
        low[d] = INFINITY, high[d] = -INFINITY;
        for (int k = 0; k < count; k++) {
            double at = x->places[3 * (int64_t)order[k] + d];
            low[d] = fmin(low[d], at), high[d] = fmax(high[d], at);
        }
        if (high[d] - low[d] > (high[axis] - low[axis]) * (1 + 1e-9)) axis = d;
    }
    for (int k = 0; k < count; k++) line[k] = (along){x->places[3 * (int64_t)order[k] + axis], order[k]};
    qsort(line, (size_t)count, sizeof *line, compare);
    return high[axis] - low[axis];
}

/* Where the line is cut: the jump nearest to its middle; nodes of one plane stay together. 0: nowhere. */
static int find_cut(const along *line, int count, double length) {
    for (int away = 0; away < count / 2; away++)
        for (int up = 0; up < 2; up++) {
            int k = up ? count / 2 + away : count / 2 - away;
            if (k > 0 && k < count && line[k].at - line[k - 1].at > 1e-6 * length) return k;
        }
    return 0;
}

/* order, count: a part. Leaves it in the order of elimination. */
static void dissect(dissection *x, int *order, int count, along *line) {
    if (count <= LEAST) return;
    double length = sort_along(x, order, count, line);
    int cut = find_cut(line, count, length), low = x->parts++, high = x->parts++, at, end;
    if (cut == 0) return;
    for (int k = 0; k < count; k++) x->side[line[k].node] = k < cut ? low : high;
    for (at = 0; at < cut; at++) order[at] = line[at].node;
    end = count;
    for (int k = cut; k < count; k++) {
        int node = line[k].node;
        bool touches = false;
        for (int64_t e = x->start[node]; e < x->start[node + 1] && !touches; e++)
            touches = x->side[x->neighbour[e]] == low;
        order[touches ? --end : at++] = node;
    }
    dissect(x, order, cut, line);
    dissect(x, order + cut, end - cut, line);
}

bool dls_pattern_order(const dls_pattern *p, const double *places, int *order) {
    for (int k = 0; k < p->nodes; k++) order[k] = k;
    if (p->nodes <= LEAST) return true;
    dissection x = {.places = places, .side = DLS_NEW_ZERO(int, p->nodes), .parts = 1};
    along *line = DLS_NEW(along, p->nodes);
    bool good = x.side && line && list_neighbours(&x, p);
    if (good) dissect(&x, order, p->nodes, line);
    dls_free(x.start);
    dls_free(x.neighbour);
    dls_free(x.side);
    dls_free(line);
    return good;
}

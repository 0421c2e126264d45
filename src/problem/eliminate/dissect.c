/* A part is cut where the levels of a walk from one of its far ends are thinnest about the middle: both
 * halves first, the cut last. In a chain of n links the way to the root of the elimination tree is then log₂
 * n long.
 */
#include "problem/eliminate/dissect.h"

typedef struct dissection {
    const dls_joint_graph *graph;
    int64_t *start; /* of each body in entry */
    int *entry;     /* nodes of each body, ascending */
    int *part;      /* of each node; −1 where its place is known */
    int *seen_node, *seen_body;
    int *queue, *level;
    int walks, parts;
} dissection;

static bool list_nodes(dissection *x, dls_workspace *w) {
    const dls_joint_graph *g = x->graph;
    int64_t sides = 2 * (int64_t)g->node_count;
    x->start = DLS_TAKE_ZERO(w, int64_t, g->body_count + 2);
    x->entry = DLS_TAKE(w, int, sides);
    if (!x->start || !x->entry) return false;
    for (int64_t k = 0; k < sides; k++)
        if (g->body[k] >= 0) x->start[g->body[k] + 2]++;
    for (int body = 0; body < g->body_count; body++) x->start[body + 2] += x->start[body + 1];
    for (int64_t k = 0; k < sides; k++)
        if (g->body[k] >= 0) x->entry[x->start[g->body[k] + 1]++] = (int)(k / 2);
    return true;
}

static void see_node(dissection *x, int node, int level, int *count) {
    if (x->seen_node[node] == x->walks) return;
    x->seen_node[node] = x->walks;
    x->level[node] = level;
    x->queue[(*count)++] = node;
}

/* Nodes of the part of `from` in the order of their distance from it; returns how many there are. */
static int walk(dissection *x, int from) {
    const dls_joint_graph *g = x->graph;
    int count = 0;
    x->walks++;
    see_node(x, from, 0, &count);
    for (int k = 0; k < count; k++)
        for (int side = 0, node = x->queue[k]; side < 2; side++) {
            int body = g->body[2 * (int64_t)node + side];
            if (body < 0 || x->seen_body[body] == x->walks) continue;
            x->seen_body[body] = x->walks;
            for (int64_t e = x->start[body]; e < x->start[body + 1]; e++)
                if (x->part[x->entry[e]] == x->part[from])
                    see_node(x, x->entry[e], x->level[node] + 1, &count);
        }
    return count;
}

/* The thinnest level that leaves a third on either side, or that in the middle; 0 where there is none. */
static int find_cut(const dissection *x, int count) {
    int best = 0, least = count, middle = x->level[x->queue[count / 2]], last = x->level[x->queue[count - 1]];
    for (int k = 0, next; k < count; k = next) {
        int level = x->level[x->queue[k]];
        for (next = k; next < count && x->level[x->queue[next]] == level; next++) continue;
        if (level == 0 || level == last) continue;
        bool balanced = 3 * k >= count && 3 * (count - next) >= count;
        if ((balanced || level == middle) && next - k < least) best = level, least = next - k;
    }
    return best;
}

/* Places first … end of order. */
typedef struct segment {
    int first, end;
} segment;

static void begin_part(dissection *x, const int *order, segment s, segment *stack, int *depth) {
    if (s.first == s.end) return;
    for (int k = s.first; k < s.end; k++) x->part[order[k]] = x->parts;
    x->parts++;
    stack[(*depth)++] = s;
}

/* What hangs together in a part, as parts of their own. */
static void separate(dissection *x, int *order, segment s, int *room, segment *stack, int *depth) {
    int part = x->part[order[s.first]], at = s.first;
    for (int k = s.first; k < s.end; k++) {
        if (x->part[order[k]] != part) continue;
        int count = walk(x, order[k]), first = at;
        for (int i = 0; i < count; i++) room[at++] = x->queue[i];
        begin_part(x, room, (segment){first, at}, stack, depth);
    }
    for (int k = s.first; k < s.end; k++) order[k] = room[k];
}

/* Nodes below the cut, above it, and the cut. */
static void halve(dissection *x, int *order, segment s, int cut, int *room, segment *stack, int *depth) {
    int at = s.first, ends[3];
    for (int group = 0; group < 3; group++) {
        for (int k = s.first; k < s.end; k++) {
            int level = x->level[order[k]], of = level < cut ? 0 : level > cut ? 1 : 2;
            if (of == group) room[at++] = order[k];
        }
        ends[group] = at;
    }
    for (int k = s.first; k < s.end; k++) order[k] = room[k];
    for (int k = ends[1]; k < s.end; k++) x->part[order[k]] = -1;
    begin_part(x, order, (segment){s.first, ends[0]}, stack, depth);
    begin_part(x, order, (segment){ends[0], ends[1]}, stack, depth);
}

static void divide(dissection *x, int *order, segment s, int *room, segment *stack, int *depth) {
    int count = walk(x, order[s.first]);
    if (count < s.end - s.first) {
        separate(x, order, s, room, stack, depth);
        return;
    }
    count = walk(x, x->queue[count - 1]);
    int cut = find_cut(x, count);
    if (cut > 0) halve(x, order, s, cut, room, stack, depth);
}

bool dls_dissect(const dls_joint_graph *graph, int *order, dls_workspace *w) {
    int n = graph->node_count, depth = 0;
    dls_workspace_mark mark = dls_workspace_get_mark(w);
    dissection x = {.graph = graph};
    x.part = DLS_TAKE(w, int, n);
    x.seen_node = DLS_TAKE_ZERO(w, int, n);
    x.seen_body = DLS_TAKE_ZERO(w, int, graph->body_count);
    x.queue = DLS_TAKE(w, int, n);
    x.level = DLS_TAKE(w, int, n);
    int *room = DLS_TAKE(w, int, n);
    segment *stack = DLS_TAKE(w, segment, n + 1);
    bool taken =
        x.part && x.seen_node && x.seen_body && x.queue && x.level && room && stack && list_nodes(&x, w);
    for (int k = 0; k < n && taken; k++) order[k] = k;
    if (taken) begin_part(&x, order, (segment){0, n}, stack, &depth);
    while (depth > 0) {
        segment s = stack[--depth];
        divide(&x, order, s, room, stack, &depth);
    }
    dls_workspace_release(w, mark);
    return taken;
}

/* Bodies come and go between two steps. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/parts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A body that comes in, wherever it waits. */
typedef struct arrival {
    uint64_t code; /* along the Morton curve */
    const dls_body *body;
    const dls_body_state *state;
    const dls_shape *shapes;
} arrival;

typedef struct plan {
    int arrivals, arriving_shapes, departures;
    arrival *order;
    void *scratch; /* for the arrivals of one array at a time */
} plan;

static bool is_ending(const dls_body_entry *e, double t) { return e->leaving || t >= e->death; }
static bool is_arriving(const dls_body_entry *e, double t) {
    return e->presence == DLS_WAITING && e->birth <= t && !is_ending(e, t);
}
/* Stands in the arrays and has to get out of them. */
static bool is_departing(const dls_body_entry *e, double t) {
    if (e->slot < 0 || e->presence == DLS_GONE) return false;
    return is_ending(e, t) || (e->presence == DLS_WAITING && e->birth > t);
}

bool dls_world_row_ends(const dls_world *w, int row, double t) {
    return is_ending(&w->entries[w->bodies[row].id], t);
}

bool dls_world_is_due(const dls_world *w, double t) { return w->unsettled || t >= w->next_change; }

/* ---- canonical order ---- */

/* 21 bits to every third bit. */
static uint64_t spread(uint64_t x) {
    x &= UINT64_C(0x1fffff);
    x = (x | x << 32) & UINT64_C(0x001f00000000ffff);
    x = (x | x << 16) & UINT64_C(0x001f0000ff0000ff);
    x = (x | x << 8) & UINT64_C(0x100f00f00f00f00f);
    x = (x | x << 4) & UINT64_C(0x10c30c30c30c30c3);
    return (x | x << 2) & UINT64_C(0x1249249249249249);
}

static int compare_numbers(const double *a, const double *b, int count) {
    for (int k = 0; k < count; k++)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

static int compare_ints(long long a, long long b) { return a < b ? -1 : a > b; }

static int compare_vertices(int count_a, const double *a, int count_b, const double *b) {
    int order = compare_ints(count_a, count_b);
    return order ? order : compare_numbers(a, b, 3 * count_a);
}

static int compare_belts(const double *a, const double *b) {
    return a && b ? compare_numbers(a, b, 3) : compare_ints(a != NULL, b != NULL);
}

static int compare_shapes(const dls_shape *a, const dls_shape *b) {
    const double numbers_a[2] = {a->radius, a->length}, numbers_b[2] = {b->radius, b->length};
    int order = compare_ints(a->kind, b->kind);
    if (!order) order = compare_numbers(a->x, b->x, 3);
    if (!order) order = compare_numbers(a->R, b->R, 9);
    if (!order) order = compare_numbers(numbers_a, numbers_b, 2);
    if (!order) order = compare_numbers(a->size, b->size, 3);
    if (!order) order = compare_ints(a->material, b->material);
    if (!order) order = compare_ints(a->group, b->group);
    if (!order) order = compare_ints(a->collides, b->collides);
    if (!order) order = compare_belts(a->belt, b->belt);
    if (!order && a->hull)
        order =
            compare_vertices(a->hull->vertex_count, a->hull->vertex, b->hull->vertex_count, b->hull->vertex);
    if (!order && a->mesh)
        order =
            compare_vertices(a->mesh->vertex_count, a->mesh->vertex, b->mesh->vertex_count, b->mesh->vertex);
    return order;
}

/* Bodies in one place: walls, say, that differ in their shapes alone. */
static int compare_bodies(const arrival *a, const arrival *b) {
    int order = compare_numbers(a->state->q, b->state->q, 4);
    if (!order) order = compare_numbers(&a->body->mass, &b->body->mass, 1);
    if (!order) order = compare_numbers(a->state->v, b->state->v, 3);
    if (!order) order = compare_numbers(a->state->w, b->state->w, 3);
    if (!order) order = compare_ints(a->body->motion, b->body->motion);
    if (!order) order = compare_ints(a->body->shape_count, b->body->shape_count);
    for (int k = 0; k < a->body->shape_count && !order; k++)
        order = compare_shapes(&a->shapes[k], &b->shapes[k]);
    return order ? order : compare_ints(a->body->id, b->body->id);
}

static int compare_arrivals(const void *left, const void *right) {
    const arrival *a = left, *b = right;
    if (a->code != b->code) return a->code < b->code ? -1 : 1;
    int order = compare_numbers(a->state->x, b->state->x, 3);
    return order ? order : compare_bodies(a, b);
}

/* Cells of a cube around those that move: what stands far away does not make them coarse. */
static void encode(arrival *order, int count) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0;
    for (int pass = 0; pass < 2 && isinf(low[0]); pass++)
        for (int k = 0; k < count; k++)
            for (int i = 0; i < 3 && (pass || order[k].body->motion == DLS_DYNAMIC); i++) {
                low[i] = fmin(low[i], order[k].state->x[i]);
                high[i] = fmax(high[i], order[k].state->x[i]);
            }
    for (int i = 0; i < 3; i++) size = fmax(size, high[i] - low[i]);
    const double cells = 2097151; /* 2²¹ − 1 */
    for (int k = 0; k < count; k++) {
        order[k].code = 0;
        for (int i = 0; i < 3 && size > 0; i++) {
            double s = fmax(0, fmin(1, (order[k].state->x[i] - low[i]) / size));
            order[k].code |= spread((uint64_t)(s * cells)) << i;
        }
    }
}

/* ---- the plan: all that may fail, before anything changes ---- */

static void drop_plan(dls_world *w, plan *p, double t, bool done) {
    for (int id = 0; !done && id < w->entry_count; id++)
        if (is_departing(&w->entries[id], t)) {
            dls_free(w->entries[id].kept); /* a copy: the arrays still have the body */
            w->entries[id].kept = NULL;
        }
    dls_free(p->order);
    dls_free(p->scratch);
}

static dls_status keep_departing(dls_world *w, double t, plan *p, dls_error *error) {
    for (int id = 0; id < w->entry_count; id++) {
        dls_body_entry *e = &w->entries[id];
        if (!is_departing(e, t)) continue;
        e->kept = dls_kept_create(&w->bodies[e->slot], &w->states[e->slot], dls_world_shapes(w, id));
        if (!e->kept) return dls_fail_memory(error);
        p->departures += e->presence == DLS_PRESENT;
    }
    return DLS_OK;
}

static dls_status make_plan(dls_world *w, double t, plan *p, dls_error *error) {
    for (int id = 0; id < w->entry_count; id++)
        if (is_arriving(&w->entries[id], t)) {
            p->arrivals++;
            p->arriving_shapes += dls_world_body(w, id)->shape_count;
        }
    dls_status status =
        dls_world_reserve(w, w->body_count + p->arrivals, w->shape_count + p->arriving_shapes, error);
    if (status) return status;
    size_t bodies = (size_t)p->arrivals * sizeof(dls_body), shapes = sizeof(dls_shape);
    shapes *= (size_t)p->arriving_shapes;
    p->order = DLS_NEW(arrival, p->arrivals);
    p->scratch = dls_alloc(1, bodies > shapes ? bodies : shapes);
    if (!p->order || !p->scratch) return dls_fail_memory(error);
    status = keep_departing(w, t, p, error);
    if (status) return status;
    int count = 0;
    for (int id = 0; id < w->entry_count; id++)
        if (is_arriving(&w->entries[id], t))
            p->order[count++] = (arrival){.body = dls_world_body(w, id),
                                          .state = dls_world_state(w, id),
                                          .shapes = dls_world_shapes(w, id)};
    encode(p->order, count);
    qsort(p->order, (size_t)count, sizeof *p->order, compare_arrivals);
    return DLS_OK;
}

/* ---- what cannot fail ---- */

/* Arrivals into rows behind those that are there, one array at a time because they may be staged right there.
 */
static void append(dls_world *w, plan *p) {
    dls_shape *shapes = p->scratch;
    dls_body *bodies = p->scratch;
    dls_body_state *states = p->scratch;
    assert(w->body_count + p->arrivals <= w->body_capacity);
    assert(w->shape_count + p->arriving_shapes <= w->shape_capacity);
    int first = w->body_count, place = 0;
    size_t count = p->arrivals > 0 ? (size_t)p->arrivals : 0;
    for (int k = 0; k < p->arrivals; k++) {
        const dls_body *body = p->order[k].body;
        if (body->shape_count)
            memcpy(shapes + place, p->order[k].shapes, (size_t)body->shape_count * sizeof *shapes);
        place += body->shape_count;
    }
    assert(place == p->arriving_shapes);
    if (place > 0) memcpy(w->shapes + w->shape_count, shapes, (size_t)place * sizeof *shapes);
    for (int k = 0; k < p->arrivals; k++) states[k] = *p->order[k].state;
    if (count) memcpy(w->states + first, states, count * sizeof *states);
    for (int k = 0; k < p->arrivals; k++) {
        bodies[k] = *p->order[k].body;
        bodies[k].uid = w->next_uid++;
        bodies[k].shape_first = w->shape_count;
        w->shape_count += bodies[k].shape_count;
    }
    if (count) memcpy(w->bodies + first, bodies, count * sizeof *bodies);
    w->body_count += p->arrivals;
    w->staged_count = w->staged_shapes = 0;
    for (int row = first; row < w->body_count; row++) {
        dls_body_entry *e = &w->entries[w->bodies[row].id];
        dls_free(e->kept);
        e->kept = NULL;
        e->presence = DLS_PRESENT;
        if (e->told) dls_told_begin(e->told, &w->states[row]);
    }
}

/* Rows whose body is kept elsewhere by now close up; all rows learn their numbers. */
static void close_up(dls_world *w) {
    int rows = 0, shapes = 0;
    for (int row = 0; row < w->body_count; row++) {
        dls_body body = w->bodies[row];
        if (w->entries[body.id].kept) continue;
        if (shapes != body.shape_first)
            memmove(w->shapes + shapes, w->shapes + body.shape_first,
                    (size_t)body.shape_count * sizeof *w->shapes);
        for (int k = 0; k < body.shape_count; k++) w->shapes[shapes + k].body = rows;
        body.shape_first = shapes;
        w->bodies[rows] = body;
        w->states[rows] = w->states[row];
        w->entries[body.id].row = w->entries[body.id].slot = rows;
        shapes += body.shape_count;
        rows++;
    }
    w->body_count = rows;
    w->shape_count = shapes;
}

#ifndef NDEBUG
/* Uids ascend, shapes of a row follow those of the row before and know it, entries know where they stand. */
static bool rows_are_canonical(const dls_world *w) {
    int shapes = 0;
    for (int row = 0; row < w->body_count; row++) {
        const dls_body *body = &w->bodies[row];
        const dls_body_entry *e = &w->entries[body->id];
        if (row > 0 && body->uid <= w->bodies[row - 1].uid) return false;
        if (body->uid >= w->next_uid || body->shape_first != shapes) return false;
        if (e->presence != DLS_PRESENT || e->kept || e->row != row || e->slot != row) return false;
        for (int k = 0; k < body->shape_count; k++)
            if (w->shapes[shapes + k].body != row) return false;
        shapes += body->shape_count;
    }
    return shapes == w->shape_count && w->staged_count == 0 && w->staged_shapes == 0;
}
#endif

static void update_entries(dls_world *w, double t) {
    w->next_change = INFINITY;
    for (int id = 0; id < w->entry_count; id++) {
        dls_body_entry *e = &w->entries[id];
        if (e->presence == DLS_GONE) continue;
        if (is_ending(e, t)) e->presence = DLS_GONE;
        if (e->kept) e->row = e->slot = -1;
        if (e->presence == DLS_WAITING) w->next_change = fmin(w->next_change, e->birth);
        if (e->presence == DLS_PRESENT) w->next_change = fmin(w->next_change, e->death);
    }
    w->unsettled = false;
}

dls_status dls_world_settle(dls_world *w, double t, bool *changed, dls_error *error) {
    *changed = false;
    if (!dls_world_is_due(w, t)) {
        w->settled = t;
        return DLS_OK;
    }
    plan p = {.arrivals = 0};
    dls_status status = make_plan(w, t, &p, error);
    if (!status) {
        append(w, &p);
        close_up(w);
        update_entries(w, t);
        assert(rows_are_canonical(w) && w->next_change > t);
        w->settled = t;
        *changed = p.arrivals + p.departures > 0;
    }
    drop_plan(w, &p, t, !status);
    return status;
}

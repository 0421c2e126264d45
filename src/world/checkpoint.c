/* Rows, states and drives as bytes, and back. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/parts.h"

#include <math.h>
#include <string.h>

typedef struct memory_head {
    int64_t entries, told, rows, next_uid;
    double settled;
} memory_head;

typedef struct memory_row {
    int32_t id, uid;
} memory_row;

typedef struct memory_entry {
    int32_t presence, leaving;
    dls_body_state state;
} memory_entry;

typedef struct memory_told {
    dls_pose start;
    double moved[6];
} memory_told;

size_t dls_world_memory_size(const dls_world *w) {
    return sizeof(memory_head) + (size_t)w->entry_count * sizeof(memory_entry) +
           (size_t)w->told_count * sizeof(memory_told) + (size_t)w->body_count * sizeof(memory_row);
}

static char *put(char *to, const void *from, size_t size) {
    memcpy(to, from, size);
    return to + size;
}

void dls_world_memory_write(const dls_world *w, void *bytes) {
    memory_head head = {w->entry_count, w->told_count, w->body_count, w->next_uid, w->settled};
    char *at = put(bytes, &head, sizeof head);
    for (int id = 0; id < w->entry_count; id++) {
        const dls_body_entry *e = &w->entries[id];
        memory_entry m = {(int32_t)e->presence, e->leaving, *dls_world_state(w, id)};
        at = put(at, &m, sizeof m);
    }
    for (int k = 0; k < w->told_count; k++) {
        const dls_body_told *told = w->entries[w->told_ids[k]].told;
        memory_told m = {.start = told->start};
        memcpy(m.moved, told->moved, sizeof m.moved);
        at = put(at, &m, sizeof m);
    }
    for (int row = 0; row < w->body_count; row++) {
        memory_row m = {w->bodies[row].id, w->bodies[row].uid};
        at = put(at, &m, sizeof m);
    }
}

/* ---- reading ---- */

/* The parts of the bytes; they have no alignment, so each item is copied out. */
typedef struct memory_view {
    memory_head head;
    const char *entries, *told, *rows;
} memory_view;

static memory_entry view_entry(const memory_view *v, int id) {
    memory_entry m;
    memcpy(&m, v->entries + (size_t)id * sizeof m, sizeof m);
    return m;
}
static memory_row view_row(const memory_view *v, int row) {
    memory_row m;
    memcpy(&m, v->rows + (size_t)row * sizeof m, sizeof m);
    return m;
}
static memory_told view_told(const memory_view *v, int k) {
    memory_told m;
    memcpy(&m, v->told + (size_t)k * sizeof m, sizeof m);
    return m;
}

static dls_status check_size(const dls_world *w, const char *bytes, size_t size, memory_view *v,
                             dls_error *error) {
    if (size < sizeof v->head)
        return dls_fail(error, DLS_ERROR_INPUT, "state of the world has %zu bytes, expected at least %zu",
                        size, sizeof v->head);
    memcpy(&v->head, bytes, sizeof v->head);
    if (v->head.entries != w->entry_count || v->head.told != w->told_count)
        return dls_fail(
            error, DLS_ERROR_INPUT,
            "state of a world with %lld bodies (%lld with forces or drives), this one has %d (%d)",
            (long long)v->head.entries, (long long)v->head.told, w->entry_count, w->told_count);
    if (v->head.rows < 0 || v->head.rows > w->entry_count || v->head.next_uid < v->head.rows ||
        v->head.next_uid > INT32_MAX || isnan(v->head.settled))
        return dls_fail(error, DLS_ERROR_INPUT, "state of the world is damaged: %lld of %d bodies present",
                        (long long)v->head.rows, w->entry_count);
    v->entries = bytes + sizeof v->head;
    v->told = v->entries + (size_t)v->head.entries * sizeof(memory_entry);
    v->rows = v->told + (size_t)v->head.told * sizeof(memory_told);
    size_t expected = (size_t)(v->rows - bytes) + (size_t)v->head.rows * sizeof(memory_row);
    if (size != expected)
        return dls_fail(error, DLS_ERROR_INPUT, "state of the world has %zu bytes, expected %zu", size,
                        expected);
    return DLS_OK;
}

static dls_status check_items(const dls_world *w, const memory_view *v, dls_error *error) {
    int present = 0, last_uid = -1;
    for (int id = 0; id < w->entry_count; id++) {
        memory_entry m = view_entry(v, id);
        double q = vec_dot(m.state.q + 1, m.state.q + 1) + m.state.q[0] * m.state.q[0];
        if (m.presence < DLS_WAITING || m.presence > DLS_GONE || m.leaving < 0 || m.leaving > 1 ||
            !dls_vec_is_finite(m.state.x, 3) || !dls_vec_is_finite(m.state.v, 3) ||
            !dls_vec_is_finite(m.state.w, 3) || !(fabs(q - 1) < 1e-6))
            return dls_fail(error, DLS_ERROR_INPUT, "state of body %d is damaged", id);
        present += m.presence == DLS_PRESENT;
    }
    if (present != v->head.rows)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "state of the world is damaged: %d bodies present in %lld rows", present,
                        (long long)v->head.rows);
    for (int row = 0; row < present; row++) {
        memory_row m = view_row(v, row);
        /* uids ascend, so no two rows are one; that each id comes once is seen when rows are made */
        if (m.id < 0 || m.id >= w->entry_count || view_entry(v, m.id).presence != DLS_PRESENT ||
            m.uid <= last_uid || m.uid >= v->head.next_uid)
            return dls_fail(error, DLS_ERROR_INPUT, "row %d of the state of the world is damaged", row);
        last_uid = m.uid;
    }
    for (int k = 0; k < w->told_count; k++) {
        memory_told m = view_told(v, k);
        if (!dls_vec_is_finite(m.start.x, 3) || !dls_vec_is_finite(m.start.q, 4) ||
            !dls_vec_is_finite(m.moved, 6))
            return dls_fail(error, DLS_ERROR_INPUT, "drive of body %d is damaged", w->told_ids[k]);
    }
    return DLS_OK;
}

/* New arrays, before they take the place of the old ones. */
typedef struct layout {
    dls_body *bodies;
    dls_body_state *states;
    dls_shape *shapes;
    int *row_of; /* by id */
    dls_body_kept **kept;
    int shape_count;
} layout;

static void drop_layout(const dls_world *w, layout *l, bool used) {
    for (int id = 0; l->kept && !used && id < w->entry_count; id++)
        if (l->kept[id] != w->entries[id].kept) dls_free(l->kept[id]);
    if (!used) dls_free(l->bodies), dls_free(l->states), dls_free(l->shapes);
    dls_free(l->row_of);
    dls_free(l->kept);
}

static dls_status make_layout(const dls_world *w, const memory_view *v, layout *l, dls_error *error) {
    int rows = (int)v->head.rows;
    l->row_of = DLS_NEW(int, w->entry_count);
    l->kept = DLS_NEW_ZERO(dls_body_kept *, w->entry_count);
    if (!l->row_of || !l->kept) return dls_fail_memory(error);
    for (int id = 0; id < w->entry_count; id++) l->row_of[id] = -1;
    for (int row = 0; row < rows; row++) {
        int id = view_row(v, row).id;
        if (l->row_of[id] >= 0) return dls_fail(error, DLS_ERROR_INPUT, "body %d has two rows", id);
        l->row_of[id] = row;
        l->shape_count += dls_world_body(w, id)->shape_count;
    }
    l->bodies = DLS_NEW(dls_body, rows);
    l->states = DLS_NEW(dls_body_state, rows);
    l->shapes = DLS_NEW(dls_shape, l->shape_count);
    if (!l->bodies || !l->states || !l->shapes) return dls_fail_memory(error);
    for (int id = 0; id < w->entry_count; id++) {
        if (l->row_of[id] >= 0) continue;
        l->kept[id] = w->entries[id].kept ? w->entries[id].kept
                                          : dls_kept_create(dls_world_body(w, id), dls_world_state(w, id),
                                                            dls_world_shapes(w, id));
        if (!l->kept[id]) return dls_fail_memory(error);
    }
    return DLS_OK;
}

static void fill_rows(const dls_world *w, const memory_view *v, layout *l) {
    int place = 0;
    for (int row = 0; row < (int)v->head.rows; row++) {
        memory_row m = view_row(v, row);
        dls_body *body = &l->bodies[row];
        *body = *dls_world_body(w, m.id);
        if (body->shape_count)
            memcpy(l->shapes + place, dls_world_shapes(w, m.id),
                   (size_t)body->shape_count * sizeof *l->shapes);
        for (int k = 0; k < body->shape_count; k++) l->shapes[place + k].body = row;
        body->shape_first = place;
        body->uid = m.uid;
        place += body->shape_count;
        l->states[row] = view_entry(v, m.id).state;
    }
}

static void use_layout(dls_world *w, const memory_view *v, layout *l) {
    fill_rows(w, v, l);
    dls_free(w->bodies), dls_free(w->states), dls_free(w->shapes);
    w->bodies = l->bodies, w->states = l->states, w->shapes = l->shapes;
    w->body_count = w->body_capacity = (int)v->head.rows;
    w->shape_count = w->shape_capacity = l->shape_count;
    w->staged_count = w->staged_shapes = 0;
    w->next_uid = (int)v->head.next_uid;
    w->settled = v->head.settled;
    w->unsettled = true; /* the next settle looks at everybody once */
    for (int id = 0; id < w->entry_count; id++) {
        dls_body_entry *e = &w->entries[id];
        memory_entry m = view_entry(v, id);
        if (l->row_of[id] >= 0) dls_free(e->kept);
        e->kept = l->kept[id];
        e->row = e->slot = l->row_of[id];
        e->presence = (dls_presence)m.presence;
        e->leaving = m.leaving;
        if (e->kept) e->kept->state = m.state;
    }
    for (int k = 0; k < w->told_count; k++) {
        dls_body_told *told = w->entries[w->told_ids[k]].told;
        memory_told m = view_told(v, k);
        told->start = m.start;
        memcpy(told->moved, m.moved, sizeof m.moved);
    }
}

dls_status dls_world_memory_read(dls_world *w, const void *bytes, size_t size, dls_error *error) {
    memory_view view = {.entries = NULL};
    layout l = {.bodies = NULL};
    dls_status status = check_size(w, bytes, size, &view, error);
    if (!status) status = check_items(w, &view, error);
    if (status) return status;
    status = make_layout(w, &view, &l, error);
    if (!status) use_layout(w, &view, &l);
    drop_layout(w, &l, !status);
    return status;
}

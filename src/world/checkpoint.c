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

/* A function that bytes cannot hold, by body and place. A list of them ends the bytes, with its length before
 * it; where there are none it is left out. */
typedef struct memory_callback {
    int32_t id, place;
} memory_callback;

static memory_callback callback_at(const dls_world *w, const dls_callback_place *at) {
    return (memory_callback){w->told_ids[at->told], at->place};
}

static int64_t callback_count(const dls_world *w) {
    int64_t count = 0;
    for (dls_callback_place at = dls_callback_first; dls_callback_next(w, &at);) count++;
    return count;
}

static size_t callback_bytes(int64_t count) {
    return count ? sizeof count + (size_t)count * sizeof(memory_callback) : 0;
}

size_t dls_world_memory_size(const dls_world *w) {
    return sizeof(memory_head) + (size_t)w->entry_count * sizeof(memory_entry) +
           (size_t)w->told_count * sizeof(memory_told) + (size_t)w->body_count * sizeof(memory_row) +
           callback_bytes(callback_count(w));
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
    int64_t callbacks = callback_count(w);
    if (callbacks) at = put(at, &callbacks, sizeof callbacks);
    for (dls_callback_place c = dls_callback_first; dls_callback_next(w, &c);) {
        memory_callback m = callback_at(w, &c);
        at = put(at, &m, sizeof m);
    }
}

/* ---- reading ---- */

/* The parts of the bytes; they have no alignment, so each item is copied out. */
typedef struct memory_view {
    memory_head head;
    const char *entries, *told, *rows, *callbacks;
    int64_t callback_count;
} memory_view;

/* Bodies that the state lacks are to wait: inlets make them when they are due. */
static memory_entry view_entry(const dls_world *w, const memory_view *v, int id) {
    memory_entry m = {.presence = DLS_WAITING};
    if (id >= v->head.entries) {
        m.state = *dls_world_state(w, id);
        return m;
    }
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

static dls_status fail_head(const char *what, int64_t found, int64_t low, int64_t high, dls_error *error) {
    return dls_fail(error, DLS_ERROR_INPUT, "state of the world is damaged: %lld %s, expected %lld to %lld",
                    (long long)found, what, (long long)low, (long long)high);
}

int64_t dls_world_memory_bodies(const void *bytes, size_t size) {
    memory_head head;
    if (size < sizeof head) return -1;
    memcpy(&head, bytes, sizeof head);
    bool fits = head.entries >= 0 && (uint64_t)head.entries <= (size - sizeof head) / sizeof(memory_entry);
    return fits ? head.entries : -1;
}

/* Every body gets one uid at most, so uids never run out. */
static dls_status check_head(const dls_world *w, const memory_head *h, dls_error *error) {
    if (h->entries > w->entry_count ||
        h->entries < (w->first_fed < w->entry_count ? w->first_fed : w->entry_count) ||
        h->told != w->told_count)
        return dls_fail(
            error, DLS_ERROR_INPUT,
            "state of a world with %lld bodies (%lld with forces or drives), this one has %d (%d)",
            (long long)h->entries, (long long)h->told, w->entry_count, w->told_count);
    if (h->rows < 0 || h->rows > h->entries)
        return fail_head("bodies present", h->rows, 0, h->entries, error);
    if (h->next_uid < h->rows || h->next_uid > h->entries)
        return fail_head("rows so far", h->next_uid, h->rows, h->entries, error);
    if (!(h->settled < HUGE_VAL))
        return dls_fail(error, DLS_ERROR_INPUT, "state of the world is damaged: its time is %g", h->settled);
    return DLS_OK;
}

static dls_status open_view(const dls_world *w, const char *bytes, size_t size, memory_view *v,
                            dls_error *error) {
    if (size < sizeof v->head)
        return dls_fail(error, DLS_ERROR_INPUT, "state of the world has %zu bytes, expected at least %zu",
                        size, sizeof v->head);
    memcpy(&v->head, bytes, sizeof v->head);
    dls_status status = check_head(w, &v->head, error);
    if (status) return status;
    v->entries = bytes + sizeof v->head;
    v->told = v->entries + (size_t)v->head.entries * sizeof(memory_entry);
    v->rows = v->told + (size_t)v->head.told * sizeof(memory_told);
    size_t expected = (size_t)(v->rows - bytes) + (size_t)v->head.rows * sizeof(memory_row);
    if (size > expected + sizeof v->callback_count) {
        memcpy(&v->callback_count, bytes + expected, sizeof v->callback_count);
        v->callbacks = bytes + expected + sizeof v->callback_count;
    }
    if (v->callback_count < 0 || v->callback_count > v->head.told * DLS_TOLD_PLACES ||
        size != expected + callback_bytes(v->callback_count))
        return dls_fail(error, DLS_ERROR_INPUT, "state of the world has %zu bytes, expected %zu", size,
                        expected + callback_bytes(callback_count(w)));
    return DLS_OK;
}

static bool is_unit(const double *q) {
    return fabs(vec_dot(q + 1, q + 1) + q[0] * q[0] - 1) < 1e-6; /* false where q is no number */
}

static dls_status check_entry(const dls_world *w, int id, const memory_entry *m, dls_error *error) {
    dls_error inner = {.status = DLS_OK};
    dls_status status = dls_body_state_check(w, dls_world_body(w, id), &m->state, &inner);
    if (!status && !is_unit(m->state.q))
        status = dls_fail(&inner, DLS_ERROR_INPUT, "its orientation has not length 1");
    if (!status && (m->presence < DLS_WAITING || m->presence > DLS_GONE || m->leaving < 0 || m->leaving > 1))
        status = dls_fail(&inner, DLS_ERROR_INPUT, "its presence is %d, and %d whether it leaves",
                          m->presence, m->leaving);
    if (!status) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "state of body %d is damaged: %.400s", id, inner.message);
}

static dls_status check_entries(const dls_world *w, const memory_view *v, dls_error *error) {
    int count[DLS_GONE + 1] = {0};
    for (int id = 0; id < w->entry_count; id++) {
        memory_entry m = view_entry(w, v, id);
        dls_status status = check_entry(w, id, &m, error);
        if (status) return status;
        count[m.presence]++;
    }
    int64_t present = count[DLS_PRESENT], most = present + count[DLS_GONE];
    if (v->head.rows != present) return fail_head("rows", v->head.rows, present, present, error);
    if (v->head.next_uid > most) return fail_head("rows so far", v->head.next_uid, present, most, error);
    return DLS_OK;
}

static dls_status check_rows(const dls_world *w, const memory_view *v, dls_error *error) {
    int last_uid = -1;
    for (int row = 0; row < (int)v->head.rows; row++) {
        memory_row m = view_row(v, row);
        /* uids ascend, so no two rows are one; that each id comes once is seen when rows are made */
        if (m.id < 0 || m.id >= w->entry_count || view_entry(w, v, m.id).presence != DLS_PRESENT ||
            m.uid <= last_uid || m.uid >= v->head.next_uid)
            return dls_fail(error, DLS_ERROR_INPUT, "row %d of the state of the world is damaged", row);
        last_uid = m.uid;
    }
    return DLS_OK;
}

static dls_status check_told(const dls_world *w, const memory_view *v, dls_error *error) {
    for (int k = 0; k < w->told_count; k++) {
        memory_told m = view_told(v, k);
        if (!dls_vec_is_near(m.start.x, 3) || !is_unit(m.start.q) || !dls_vec_is_near(m.moved, 6))
            return dls_fail(error, DLS_ERROR_INPUT, "drive of body %d is damaged", w->told_ids[k]);
    }
    return DLS_OK;
}

static dls_status fail_callback(const dls_world *w, const memory_callback *m, bool missing,
                                dls_error *error) {
    char label[128];
    if (m->id < 0 || m->id >= w->entry_count || m->place < 0 || m->place >= DLS_TOLD_PLACES)
        return dls_fail(error, DLS_ERROR_INPUT, "state of the world is damaged: a callback of body %d",
                        m->id);
    return dls_fail(
        error, DLS_ERROR_INPUT,
        "%s: the %s of the %s %s when the state was written, expected a world with the same callbacks",
        dls_body_label(w, m->id, label, sizeof label), dls_told_noun(m->place),
        dls_freedom_name(m->place < 6 ? m->place : (m->place - 6) / 3),
        missing ? "is no callback here and was one" : "is a callback here and was none");
}

/* Both lists ascend: where they part, the smaller one is what the other lacks. */
static dls_status check_callbacks(const dls_world *w, const memory_view *v, dls_error *error) {
    dls_callback_place at = dls_callback_first;
    for (int64_t k = 0;; k++) {
        bool here = dls_callback_next(w, &at), there = k < v->callback_count;
        if (!here && !there) return DLS_OK;
        memory_callback own = {INT32_MAX, 0}, stored = own;
        if (here) own = callback_at(w, &at);
        if (there) memcpy(&stored, v->callbacks + (size_t)k * sizeof stored, sizeof stored);
        bool missing = stored.id < own.id || (stored.id == own.id && stored.place < own.place);
        if (stored.id != own.id || stored.place != own.place)
            return fail_callback(w, missing ? &stored : &own, missing, error);
    }
}

/* New arrays, before they take the place of the old ones. */
struct dls_world_memory {
    memory_view view;
    dls_body *bodies;
    dls_body_state *states;
    dls_shape *shapes;
    int *row_of; /* by id */
    dls_body_kept **kept;
    int shape_count;
};
typedef dls_world_memory layout;

void dls_world_memory_drop(const dls_world *w, dls_world_memory *l) {
    if (!l) return;
    for (int id = 0; l->kept && id < w->entry_count; id++)
        if (l->kept[id] != w->entries[id].kept) dls_free(l->kept[id]);
    void *blocks[] = {l->bodies, l->states, l->shapes, l->row_of, l->kept, l};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) dls_free(blocks[k]);
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
        l->states[row] = view_entry(w, v, m.id).state;
        quat_mend(l->states[row].q);
    }
}

dls_status dls_world_memory_open(const dls_world *w, const void *bytes, size_t size,
                                 dls_world_memory **memory, dls_error *error) {
    *memory = NULL;
    layout *l = DLS_NEW_ZERO(layout, 1);
    if (!l) return dls_fail_memory(error);
    dls_status status = open_view(w, bytes, size, &l->view, error);
    if (!status) status = check_entries(w, &l->view, error);
    if (!status) status = check_rows(w, &l->view, error);
    if (!status) status = check_told(w, &l->view, error);
    if (!status) status = check_callbacks(w, &l->view, error);
    if (!status) status = make_layout(w, &l->view, l, error);
    if (status) {
        dls_world_memory_drop(w, l);
        return status;
    }
    fill_rows(w, &l->view, l);
    *memory = l;
    return DLS_OK;
}

dls_world dls_world_memory_preview(const dls_world *w, const dls_world_memory *l) {
    dls_world next = *w;
    next.bodies = l->bodies, next.states = l->states, next.shapes = l->shapes;
    next.body_count = next.body_capacity = (int)l->view.head.rows;
    next.shape_count = next.shape_capacity = l->shape_count;
    next.staged_count = next.staged_shapes = 0;
    next.next_uid = (int)l->view.head.next_uid;
    next.settled = l->view.head.settled;
    next.unsettled = true; /* the next settle looks at everybody once */
    return next;
}

static void use_entries(dls_world *w, const layout *l) {
    const memory_view *v = &l->view;
    for (int id = 0; id < w->entry_count; id++) {
        dls_body_entry *e = &w->entries[id];
        bool lacking = id >= v->head.entries; /* rows are those of the state by now: its block has the body */
        memory_entry m = {.presence = DLS_WAITING};
        if (lacking)
            m.state = l->kept[id]->state;
        else
            m = view_entry(w, v, id);
        if (l->row_of[id] >= 0) dls_free(e->kept);
        e->kept = l->kept[id];
        e->row = e->slot = l->row_of[id];
        e->presence = (dls_presence)m.presence;
        e->leaving = m.leaving;
        quat_mend(m.state.q);
        if (e->kept) e->kept->state = m.state;
    }
    for (int k = 0; k < w->told_count; k++) {
        dls_body_told *told = w->entries[w->told_ids[k]].told;
        memory_told m = view_told(v, k);
        quat_mend(m.start.q);
        told->start = m.start;
        memcpy(told->moved, m.moved, sizeof m.moved);
    }
}

void dls_world_memory_use(dls_world *w, dls_world_memory *l) {
    dls_free(w->bodies), dls_free(w->states), dls_free(w->shapes);
    *w = dls_world_memory_preview(w, l);
    use_entries(w, l);
    l->bodies = NULL, l->states = NULL, l->shapes = NULL;
    dls_world_memory_drop(w, l);
}

dls_status dls_world_memory_read(dls_world *w, const void *bytes, size_t size, dls_error *error) {
    dls_world_memory *memory;
    dls_status status = dls_world_memory_open(w, bytes, size, &memory, error);
    if (!status) dls_world_memory_use(w, memory);
    return status;
}

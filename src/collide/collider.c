/* All contacts of a world: places shapes, finds pairs, runs their functions on chunks of pairs, and gives
 * each contact what its forerunner had. Chunks are joined in order, so that threads leave no trace. */
#include "collide/collider.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "collide/meeting.h"
#include "world/joint/joint.h"
#include "world/shape/kinds.h"
#include "world/solid/solid.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 512, SLOTS = 32 };

typedef dls_collide_slot slot;

/* ---- keys ---- */

int dls_pair_key_compare(const dls_pair_key *p, const dls_pair_key *q) {
    if (p->uid_a != q->uid_a) return p->uid_a < q->uid_a ? -1 : 1;
    if (p->local_a != q->local_a) return p->local_a < q->local_a ? -1 : 1;
    if (p->uid_b != q->uid_b) return p->uid_b < q->uid_b ? -1 : 1;
    if (p->local_b != q->local_b) return p->local_b < q->local_b ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (p->image[k] != q->image[k]) return p->image[k] < q->image[k] ? -1 : 1;
    return 0;
}

dls_pair_key dls_contact_key(const dls_contact *c) {
    return (dls_pair_key){c->uid_a, c->uid_b, c->local_a, c->local_b, {c->image[0], c->image[1], c->image[2]},
                          0};
}

bool dls_contact_past(const dls_contact *c, dls_past_contact *past) {
    bool closed = c->at.gap <= 0;
    if (!closed && c->impulse[0] == 0 && c->impulse[1] == 0 && c->impulse[2] == 0) return false;
    memset(past, 0, sizeof *past);
    past->key = dls_contact_key(c);
    past->closed = closed;
    past->feature = c->at.feature;
    vec_copy(past->impulse, c->impulse);
    vec_copy(past->moment, c->moment);
    return true;
}

dls_contact_point dls_contact_seen(const dls_contact *c, bool swapped) {
    dls_contact_point at = c->at;
    if (swapped) dls_contact_point_flip(&at);
    return at;
}

/* ---- life ---- */

dls_collider *dls_collider_create(void) {
    dls_collider *c = DLS_NEW_ZERO(dls_collider, 1);
    if (!c) return NULL;
    c->broadphase = dls_broadphase_create();
    c->slots = DLS_NEW_ZERO(slot, SLOTS);
    c->own = dls_workspace_create();
    if (!c->broadphase || !c->slots || !c->own) {
        dls_collider_destroy(c);
        return NULL;
    }
    c->slot_count = SLOTS;
    c->retired = true;
    for (int a = 0; a < DLS_SHAPE_KINDS; a++)
        for (int b = 0; b < DLS_SHAPE_KINDS; b++)
            c->rows[a][b].row = dls_pair_find((dls_shape_kind)a, (dls_shape_kind)b, &c->rows[a][b].swapped);
    return c;
}

void dls_collider_destroy(dls_collider *c) {
    if (!c) return;
    dls_broadphase_destroy(c->broadphase);
    for (int k = 0; k < c->slot_count; k++) {
        dls_free(c->slots[k].contacts.item);
        dls_free(c->slots[k].kept.item);
        dls_free(c->slots[k].manifold.point);
        dls_free(c->slots[k].trial.point);
        dls_free(c->slots[k].passing.item);
    }
    dls_free(c->slots);
    dls_workspace_destroy(c->own);
    dls_free(c->contacts.item);
    dls_free(c->passing.item);
    dls_free(c->kept.item);
    dls_free(c->past.item);
    dls_free(c->past_kept.item);
    dls_free(c->past_points.item);
    dls_free(c);
}

int dls_collider_count(const dls_collider *c) { return c->contacts.count; }
dls_contact *dls_collider_contacts(dls_collider *c) { return c->contacts.item; }

size_t dls_collider_bytes(const dls_collider *c) {
    size_t sum = sizeof *c + dls_broadphase_bytes(c->broadphase) + sizeof *c->slots * (size_t)c->slot_count;
    for (int k = 0; k < c->slot_count; k++)
        sum +=
            sizeof(dls_contact) * (size_t)c->slots[k].contacts.capacity +
            sizeof(dls_kept_pair) * (size_t)c->slots[k].kept.capacity +
            sizeof(dls_contact_point) * (size_t)(c->slots[k].manifold.capacity + c->slots[k].trial.capacity);
    return sum + dls_workspace_bytes(c->own) + sizeof(dls_contact) * (size_t)c->contacts.capacity +
           sizeof(dls_kept_pair) * (size_t)(c->kept.capacity + c->past_kept.capacity) +
           sizeof(dls_past_contact) * (size_t)c->past.capacity +
           sizeof(dls_contact_point) * (size_t)c->past_points.capacity;
}

/* ---- what the lists promise ---- */

#ifndef NDEBUG
/* By who touches whom, then by feature; each contact once. */
static bool contacts_ascend(const dls_contact_list *list) {
    for (int i = 1; i < list->count; i++) {
        dls_pair_key p = dls_contact_key(&list->item[i - 1]), q = dls_contact_key(&list->item[i]);
        int order = dls_pair_key_compare(&p, &q);
        if (order > 0 || (order == 0 && list->item[i - 1].at.feature >= list->item[i].at.feature))
            return false;
    }
    return true;
}

static bool past_ascends(const dls_past_contact *past, int count) {
    for (int i = 1; i < count; i++) {
        int order = dls_pair_key_compare(&past[i - 1].key, &past[i].key);
        if (order > 0 || (order == 0 && past[i - 1].feature >= past[i].feature)) return false;
    }
    return true;
}

/* By key, with contacts that are there and no one else's. */
static bool kept_ascends(const dls_kept_list *list, int contacts) {
    int64_t end = 0;
    for (int i = 0; i < list->count; i++) {
        const dls_kept_pair *kept = &list->item[i];
        if (i > 0 && dls_pair_key_compare(&list->item[i - 1].key, &kept->key) >= 0) return false;
        if (kept->count < 0 || kept->first < end || kept->first + (int64_t)kept->count > contacts)
            return false;
        end = kept->first + (int64_t)kept->count;
    }
    return true;
}
#endif

/* ---- what the step before leaves ---- */

static void retire_points(dls_collider *c) {
    c->past_points.count = 0;
    for (int k = 0; k < c->kept.count; k++) {
        dls_kept_pair *kept = &c->kept.item[k];
        int first = c->past_points.count;
        for (int i = 0; i < kept->count; i++)
            c->past_points.item[c->past_points.count++] =
                dls_contact_seen(&c->contacts.item[kept->first + i], kept->swapped != 0);
        kept->first = first;
    }
}

void dls_collider_scale_impulses(dls_collider *c, double factor) {
    for (int i = 0; i < c->contacts.count; i++) {
        vec_scale(c->contacts.item[i].impulse, factor, c->contacts.item[i].impulse);
        vec_scale(c->contacts.item[i].moment, factor, c->contacts.item[i].moment);
    }
    for (int i = 0; i < c->past.count; i++) {
        vec_scale(c->past.item[i].impulse, factor, c->past.item[i].impulse);
        vec_scale(c->past.item[i].moment, factor, c->past.item[i].moment);
    }
}

/* Contacts become those of the step before. */
static dls_status retire(dls_collider *c, dls_workspace *scratch, dls_error *error) {
    c->before = c->past.item, c->before_count = c->past.count;
    assert(past_ascends(c->past.item, c->past.count));
    if (c->retired) return DLS_OK;
    assert(kept_ascends(&c->kept, c->contacts.count));
    int64_t points = 0;
    for (int k = 0; k < c->kept.count; k++) points += c->kept.item[k].count;
    dls_past_contact *past = DLS_TAKE(scratch, dls_past_contact, c->contacts.count);
    if (!past || !reserve_points(&c->past_points, points)) return dls_fail_memory(error);
    c->before = past, c->before_count = 0;
    for (int k = 0; k < c->contacts.count; k++)
        c->before_count += dls_contact_past(&c->contacts.item[k], &past[c->before_count]);
    assert(past_ascends(past, c->before_count));
    retire_points(c);
    dls_kept_list kept = c->past_kept;
    c->past_kept = c->kept;
    c->kept = kept;
    c->kept.count = c->contacts.count = 0;
    c->retired = true;
    return DLS_OK;
}

/* An update that failed leaves the step before to another try; without memory that one starts cold. */
static void save_past(dls_collider *c) {
    c->contacts.count = c->kept.count = 0;
    if (c->before == c->past.item) return;
    bool room = reserve_past(&c->past, c->before_count);
    if (room && c->before_count) memcpy(c->past.item, c->before, sizeof *c->before * (size_t)c->before_count);
    c->past.count = room ? c->before_count : 0;
}

/* From now on contacts are the memory. */
static void drop_past(dls_collider *c) {
    dls_free(c->past.item);
    c->past = (dls_past_list){NULL, 0, 0};
    c->retired = false;
}

/* ---- shapes where they stand ---- */

typedef struct update {
    dls_collider *collider;
    const dls_world *world;
    const dls_collide_options *options;
    const dls_shape_pair *pairs;
    int pair_count;
} update;

/* What moves a shape, and how fast it may come. */
static void set_mover(const update *u, int row, int i, const dls_body_state *state) {
    const dls_body *body = &u->world->bodies[row];
    const dls_shape *shape = u->collider->placed[i].shape;
    u->collider->movers[i] = (dls_mover){{state->v[0], state->v[1], state->v[2]},
                                         dls_shape_spin(shape, state->w) + dls_row_spread(u->world, row),
                                         shape->bound,
                                         body->uid,
                                         row,
                                         shape->material,
                                         (int16_t)(i - body->shape_first),
                                         (uint8_t)shape->kind};
}

static void place_bodies(void *self, int first, int end) {
    const update *u = self;
    for (int row = first; row < end; row++) {
        const dls_body *body = &u->world->bodies[row];
        const dls_body_state *state = &u->world->states[row];
        double R[9];
        assert(quat_is_unit(state->q));
        quat_matrix(state->q, R);
        for (int i = body->shape_first; i < body->shape_first + body->shape_count; i++) {
            if (body->is_solid) {
                state = dls_shape_carrier(u->world, row, i);
                quat_matrix(state->q, R);
            }
            dls_placed *placed = &u->collider->placed[i];
            placed->shape = &u->world->shapes[i];
            mat_apply(placed->x, R, placed->shape->x);
            vec_add(placed->x, placed->x, state->x);
            mat_multiply(placed->R, R, placed->shape->R);
            set_mover(u, row, i, state);
        }
    }
}

/* A solid whose shapes deform: where they stand and what they are now. */
typedef struct deforming {
    const dls_solid *solid;
    int row;
    dls_shape *now; /* one per shape */
    char *room;
} deforming;

typedef struct deform_work {
    const update *update;
    const deforming *item;
} deform_work;

static size_t room_of(const dls_solid *solid, const dls_shape *rest) {
    return (solid->kind->shape_bytes(solid->data, rest) + 63) / 64 * 64;
}

static void deform_solids(void *self, int first, int end) {
    const deform_work *work = self;
    const update *u = work->update;
    for (int k = first; k < end; k++) {
        const deforming *d = &work->item[k];
        const dls_body *body = &u->world->bodies[d->row];
        const dls_body_state *mean = &u->world->states[d->row];
        char *room = d->room;
        for (int s = 0; s < body->shape_count; s++) {
            int i = body->shape_first + s;
            const dls_shape *rest = &u->world->shapes[i];
            dls_placed *placed = &u->collider->placed[i];
            d->now[s] = *rest;
            d->solid->kind->deform(d->solid->data, u->world->q + d->solid->at, mean, rest, &d->now[s],
                                   placed->x, placed->R, room);
            placed->shape = &d->now[s];
            room += room_of(d->solid, rest);
            set_mover(u, d->row, i, mean);
        }
    }
}

/* Shapes of solids that are no lines take their place as they stand. */
static dls_status deform(update *u, dls_error *error) {
    const dls_world *w = u->world;
    dls_workspace *scratch = u->options->scratch;
    int count = 0;
    if (w->solid_count == 0) return DLS_OK;
    deforming *item = DLS_TAKE(scratch, deforming, w->solid_count);
    if (!item) return dls_fail_memory(error);
    for (int k = 0; k < w->solid_count; k++) {
        const dls_solid *solid = &w->solids[k];
        int row = w->entries[solid->id].row;
        if (row < 0 || solid->kind->line) continue;
        const dls_body *body = &w->bodies[row];
        size_t bytes = 0;
        for (int s = 0; s < body->shape_count; s++)
            bytes += room_of(solid, &w->shapes[body->shape_first + s]);
        item[count] = (deforming){solid, row, DLS_TAKE(scratch, dls_shape, body->shape_count),
                                  DLS_TAKE(scratch, char, (int64_t)bytes)};
        if (!item[count].now || !item[count].room) return dls_fail_memory(error);
        count++;
    }
    dls_parallel_each(count, u->options->threads, deform_solids, &(deform_work){u, item});
    return DLS_OK;
}

static dls_status place(update *u, dls_error *error) {
    dls_collider *c = u->collider;
    c->placed = DLS_TAKE(u->options->scratch, dls_placed, u->world->shape_count);
    c->movers = DLS_TAKE(u->options->scratch, dls_mover, u->world->shape_count);
    if (!c->placed || !c->movers) return dls_fail_memory(error);
    dls_parallel_for(u->world->body_count, u->options->threads, place_bodies, u);
    return deform(u, error);
}

/* ---- one pair ---- */

/* Where the walk through the step before has come to. */
typedef struct cursor {
    int past, kept;
} cursor;

static inline dls_pair_key key_of(const dls_collider *c, const dls_shape_pair *p) {
    const dls_mover *a = &c->movers[p->a], *b = &c->movers[p->b];
    return (dls_pair_key){a->uid, b->uid, a->local, b->local, {p->image[0], p->image[1], p->image[2]}, 0};
}

/* The first places in the lists of the step before that are not before key. */
static cursor cursor_at(const dls_collider *c, const dls_pair_key *key) {
    cursor at = {0, 0};
    for (int end = c->before_count; at.past < end;) {
        int middle = at.past + (end - at.past) / 2;
        if (dls_pair_key_compare(&c->before[middle].key, key) < 0)
            at.past = middle + 1;
        else
            end = middle;
    }
    for (int end = c->past_kept.count; at.kept < end;) {
        int middle = at.kept + (end - at.kept) / 2;
        if (dls_pair_key_compare(&c->past_kept.item[middle].key, key) < 0)
            at.kept = middle + 1;
        else
            end = middle;
    }
    return at;
}

static void sort_points(dls_contact_point *p, int n) {
    for (int i = 1; i < n; i++) {
        dls_contact_point t = p[i];
        int j = i;
        for (; j > 0 && p[j - 1].feature > t.feature; j--) p[j] = p[j - 1];
        p[j] = t;
    }
}

static bool repeats(const dls_contact_point *p, int n) {
    for (int i = 1; i < n; i++)
        if (p[i].feature == p[i - 1].feature) return true;
    return false;
}

/* One that comes again is renamed after how often it did, by a stride that no feature meets by chance; where
 * one does all the same, ranks are the names. */
void dls_order_points(dls_contact_point *p, int n) {
    sort_points(p, n);
    for (int round = 0; repeats(p, n); round++) {
        for (int i = n - 1; i > 0; i--) {
            int times = 0;
            while (times < i && p[i - times - 1].feature == p[i].feature) times++;
            p[i].feature += (uint64_t)times * 0x9E3779B97F4A7C15u;
        }
        for (int i = 0; round == 8 && i < n; i++) p[i].feature = (uint64_t)i;
        sort_points(p, n);
    }
}

/* dls_pair_reach from what is at hand. */
static inline double reach_of(const update *u, const dls_shape_pair *pair, const double *shift) {
    const dls_mover *a = &u->collider->movers[pair->a], *b = &u->collider->movers[pair->b];
    if (isinf(a->spin) || isinf(b->spin))
        return dls_pair_reach(u->world, u->collider->placed, u->options, pair, shift);
    double d[3], extra = u->options->extra ? u->options->extra[a->body] + u->options->extra[b->body] : 0;
    vec_sub(d, a->v, b->v);
    return u->options->margin + extra + u->options->h * (vec_norm(d) + a->spin + b->spin);
}

/* Whether the balls around the shapes are within reach. */
static inline bool balls_meet(const dls_collider *c, const dls_shape_pair *pair, const double *shift,
                              double reach) {
    double d[3], r = c->movers[pair->a].bound + c->movers[pair->b].bound + reach;
    for (int k = 0; k < 3; k++) d[k] = c->placed[pair->b].x[k] + shift[k] - c->placed[pair->a].x[k];
    return vec_dot(d, d) <= r * r * (1 + 1e-14);
}

static inline void make_contact(const update *u, const dls_shape_pair *pair, const dls_pair_key *key,
                                const dls_contact_point *point, bool swapped, dls_contact *c) {
    const dls_mover *of_a = &u->collider->movers[pair->a], *of_b = &u->collider->movers[pair->b];
    *c = (dls_contact){.a = pair->a,
                       .b = pair->b,
                       .body_a = of_a->body,
                       .body_b = of_b->body,
                       .uid_a = key->uid_a,
                       .uid_b = key->uid_b,
                       .local_a = key->local_a,
                       .local_b = key->local_b,
                       .image = {pair->image[0], pair->image[1], pair->image[2]},
                       .pair = of_a->material * u->world->material_count + of_b->material,
                       .at = *point};
    if (swapped) c->at = dls_contact_seen(c, true);
}

/* Both lists ascend, so the walk goes forward only. */
static void inherit(const dls_collider *c, const dls_pair_key *key, dls_contact *contact, cursor *at) {
    for (; at->past < c->before_count; at->past++) {
        const dls_past_contact *past = &c->before[at->past];
        int order = dls_pair_key_compare(&past->key, key);
        if (order > 0 || (order == 0 && past->feature > contact->at.feature)) return;
        if (order < 0 || past->feature < contact->at.feature) continue;
        vec_copy(contact->impulse, past->impulse);
        vec_copy(contact->moment, past->moment);
        contact->closed = past->closed != 0;
        at->past++;
        return;
    }
}

static void emit(const update *u, slot *s, const dls_shape_pair *pair, const dls_pair_key *key, bool swapped,
                 cursor *at) {
    dls_manifold *m = &s->manifold;
    if (m->count > 1) dls_order_points(m->point, m->count);
    if (!reserve_contacts(s->to, m->count)) {
        s->out_of_memory = true;
        return;
    }
    for (int k = 0; k < m->count; k++) {
        assert(s->to->count < s->to->capacity);
        dls_contact *contact = &s->to->item[s->to->count++];
        make_contact(u, pair, key, &m->point[k], swapped, contact);
        inherit(u->collider, key, contact, at);
    }
}

/* The pair's memory and contacts of the step before, if it had any. */
static const dls_kept_pair *recall(const dls_collider *c, const dls_pair_key *key, cursor *at) {
    for (; at->kept < c->past_kept.count; at->kept++) {
        int order = dls_pair_key_compare(&c->past_kept.item[at->kept].key, key);
        if (order >= 0) return order == 0 ? &c->past_kept.item[at->kept] : NULL;
    }
    return NULL;
}

static void keep(slot *s, const dls_pair_key *key, const dls_pair_memory *memory, int first, bool swapped) {
    if (memory->used == 0 && s->manifold.count == 0) return;
    if (!reserve_kept(s->kept_to, 1)) {
        s->out_of_memory = true;
        return;
    }
    assert(s->kept_to->count < s->kept_to->capacity);
    dls_kept_pair *kept = &s->kept_to->item[s->kept_to->count++];
    memset(kept, 0, sizeof *kept);
    kept->key = *key;
    kept->first = first, kept->count = s->manifold.count;
    kept->memory = *memory;
    kept->swapped = swapped;
}

/* Of the smaller one's size: see dls_meeting. */
static const double far_from_place = 1e-2;

/* By its velocities before the step and gravity, or by those that were tried. */
static dls_traveller traveller(const update *u, int shape, const dls_placed *placed, const double *shift,
                               bool tried) {
    const dls_mover *mover = &u->collider->movers[shape];
    const dls_body_state *state = &u->world->states[mover->body];
    dls_traveller t = {.placed = *placed, .moves = u->world->bodies[mover->body].motion == DLS_DYNAMIC};
    vec_add(t.centre, state->x, shift);
    vec_copy(t.w, tried ? u->options->tried[mover->body].w : state->w);
    if (tried)
        vec_copy(t.v, u->options->tried[mover->body].v);
    else
        vec_along(t.v, state->v, t.moves ? u->options->h : 0, u->world->def.gravity);
    return t;
}

/* The pair at hand on its free way, or on the one that was tried. */
static dls_meeting meeting_of(const update *u, const dls_shape_pair *pair, const dls_pair_kind *row,
                              const dls_placed *of_b, const double *shift, double reach, bool swapped,
                              bool tried) {
    const dls_collider *c = u->collider;
    static const double none[3] = {0, 0, 0};
    double size = fmin(c->movers[pair->a].bound, c->movers[pair->b].bound);
    dls_traveller a = traveller(u, pair->a, &c->placed[pair->a], none, tried),
                  b = traveller(u, pair->b, of_b, shift, tried);
    return (dls_meeting){.collide = row->collide,
                         .a = swapped ? b : a,
                         .b = swapped ? a : b,
                         .h = u->options->h,
                         .reach = reach,
                         .size = size,
                         .far = far_from_place * size};
}

/* Planes without end are as they seem, and balls have no ends of faces. What passes by on its free way, and
 * on the way that was tried, is left out and noted. */
static void follow_pair(const update *u, slot *s, const dls_shape_pair *pair, const dls_pair_kind *row,
                        const dls_placed *of_b, const double *shift, double reach, bool swapped) {
    const dls_mover *a = &u->collider->movers[pair->a], *b = &u->collider->movers[pair->b];
    if (isinf(a->bound) || isinf(b->bound)) return;
    if (dls_shape_table[a->kind].round && dls_shape_table[b->kind].round) return;
    if (u->world->bodies[a->body].is_solid || u->world->bodies[b->body].is_solid) return;
    for (int tried = u->options->tried != NULL; tried >= 0; tried--) {
        dls_meeting m = meeting_of(u, pair, row, of_b, shift, reach, swapped, tried);
        if (dls_pair_meet(&m, &s->trial, &s->manifold)) return;
        if (!tried) dls_pair_pass(&m, &s->manifold);
    }
    if (reserve_pairs(&s->passing, 1))
        s->passing.item[s->passing.count++] = *pair;
    else
        s->out_of_memory = true;
}

/* Whether a pair has contacts that are open: the rest is as it seems. */
static bool any_open(const dls_manifold *m) {
    for (int k = 0; k < m->count; k++)
        if (m->point[k].gap > 0) return true;
    return false;
}

static void collide_pair(const update *u, slot *s, const dls_shape_pair *pair, cursor *at) {
    const dls_collider *c = u->collider;
    const dls_placed *a = &c->placed[pair->a], *b = &c->placed[pair->b];
    assert(pair->a <= pair->b && c->movers[pair->a].body <= c->movers[pair->b].body);
    if (u->world->joint_count && dls_joints_part(u->world, c->movers[pair->a].body, c->movers[pair->b].body))
        return;
    int kind_a = c->movers[pair->a].kind, kind_b = c->movers[pair->b].kind;
    const dls_pair_kind *row = c->rows[kind_a][kind_b].row;
    bool swapped = c->rows[kind_a][kind_b].swapped;
    double shift[3];
    for (int k = 0; k < 3; k++) shift[k] = pair->image[k] * u->world->def.period_size[k];
    if (!row) {
        if (!s->stranger) s->stranger = pair;
        return;
    }
    double reach = reach_of(u, pair, shift);
    if (!balls_meet(c, pair, shift, reach)) return;
    dls_placed moved;
    if (pair->image[0] || pair->image[1] || pair->image[2]) {
        moved = *b;
        vec_add(moved.x, moved.x, shift);
        b = &moved;
    }
    dls_pair_key key = key_of(c, pair);
    const dls_kept_pair *kept = row->remembers ? recall(c, &key, at) : NULL;
    dls_pair_memory memory = {.used = 0};
    if (kept) memory = kept->memory;
    s->manifold.count = 0;
    row->collide(swapped ? b : a, swapped ? a : b, reach, &memory,
                 kept && kept->count ? c->past_points.item + kept->first : NULL, kept ? kept->count : 0,
                 &s->manifold);
    if (u->options->follow && any_open(&s->manifold)) follow_pair(u, s, pair, row, b, shift, reach, swapped);
    int first = s->to->count;
    if (s->manifold.count) emit(u, s, pair, &key, swapped, at);
    if (row->remembers) keep(s, &key, &memory, first, swapped);
}

/* ---- chunks ---- */

static void collide_slots(void *self, int first, int end) {
    const update *u = self;
    for (int k = first; k < end; k++) {
        slot *s = &u->collider->slots[k];
        bool direct = u->options->threads <= 1;
        s->to = direct ? &u->collider->contacts : &s->contacts;
        s->kept_to = direct ? &u->collider->kept : &s->kept;
        dls_pair_key key = key_of(u->collider, &u->pairs[s->first]);
        cursor at = cursor_at(u->collider, &key);
        s->contacts.count = s->kept.count = s->passing.count = 0;
        s->stranger = NULL;
        s->out_of_memory = s->manifold.out_of_memory = s->trial.out_of_memory = false;
        for (int i = s->first; i < s->end; i++) collide_pair(u, s, &u->pairs[i], &at);
    }
}

static dls_status check_slot(const update *u, const slot *s, dls_error *error) {
    if (s->out_of_memory || s->manifold.out_of_memory) return dls_fail_memory(error);
    if (!s->stranger) return DLS_OK;
    const dls_shape *a = &u->world->shapes[s->stranger->a], *b = &u->world->shapes[s->stranger->b];
    return dls_fail(error, DLS_ERROR_INPUT, "a %s and a %s do not collide; give them groups that keep apart",
                    dls_shape_kind_name(a->kind), dls_shape_kind_name(b->kind));
}

/* What the slots found goes behind what is there, in their order. */
static dls_status join(update *u, int slots, dls_error *error) {
    dls_collider *c = u->collider;
    int64_t contacts = 0, kept = 0, passing = 0;
    for (int k = 0; k < slots; k++) {
        dls_status status = check_slot(u, &c->slots[k], error);
        if (status) return status;
        contacts += c->slots[k].contacts.count;
        kept += c->slots[k].kept.count;
        passing += c->slots[k].passing.count;
    }
    if (!reserve_pairs(&c->passing, passing)) return dls_fail_memory(error);
    if (!reserve_contacts(&c->contacts, contacts) || !reserve_kept(&c->kept, kept))
        return dls_fail_memory(error);
    for (int k = 0; k < slots; k++) {
        const slot *s = &c->slots[k];
        for (int i = 0; i < s->passing.count; i++) c->passing.item[c->passing.count++] = s->passing.item[i];
        for (int i = 0; i < s->kept.count; i++) {
            c->kept.item[c->kept.count] = s->kept.item[i];
            c->kept.item[c->kept.count++].first += c->contacts.count;
        }
        if (s->contacts.count)
            memcpy(c->contacts.item + c->contacts.count, s->contacts.item,
                   sizeof(dls_contact) * (size_t)s->contacts.count);
        c->contacts.count += s->contacts.count;
    }
    return DLS_OK;
}

static dls_status collide_pairs(update *u, dls_error *error) {
    dls_collider *c = u->collider;
    dls_status status = DLS_OK;
    c->passing.count = 0;
    for (int first = 0; first < u->pair_count && !status;) {
        int slots = 0, most = u->options->threads > 1 ? SLOTS : 1;
        for (; slots < most && first < u->pair_count; slots++) {
            int end = u->pair_count - first > CHUNK ? first + CHUNK : u->pair_count;
            c->slots[slots].first = first, c->slots[slots].end = end;
            first = end;
        }
        dls_parallel_each(slots, u->options->threads, collide_slots, u);
        status = join(u, slots, error);
    }
    return status;
}

static dls_status check_call(const dls_world *world, const dls_collide_options *o, dls_error *error) {
    if (!(o->margin >= 0 && isfinite(o->margin)))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a margin of %g m; expected a number from 0 on",
                        o->margin);
    if (!(o->h >= 0 && isfinite(o->h)))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a step of %g s; expected a number from 0 on", o->h);
    for (int row = 0; row < world->body_count; row++)
        if (world->bodies[row].shape_count > INT16_MAX)
            return dls_fail(error, DLS_ERROR_INPUT, "body %d has %d shapes; at most %d can collide",
                            world->bodies[row].id, world->bodies[row].shape_count, INT16_MAX);
    return DLS_OK;
}

dls_status dls_collider_update(dls_collider *c, const dls_world *world, const dls_collide_options *options,
                               dls_error *error) {
    dls_status status = check_call(world, options, error);
    if (status) return status;
    dls_collide_options own = *options;
    if (!own.scratch) own.scratch = c->own;
    dls_workspace_mark mark = dls_workspace_get_mark(own.scratch);
    update u = {.collider = c, .world = world, .options = &own};
    status = retire(c, own.scratch, error);
    if (!status) status = place(&u, error);
    if (!status)
        status = dls_broadphase_find(c->broadphase, world, c->placed, &own, &u.pairs, &u.pair_count, error);
    if (!status) status = collide_pairs(&u, error);
    assert(status || (contacts_ascend(&c->contacts) && kept_ascends(&c->kept, c->contacts.count)));
    if (!status)
        drop_past(c);
    else if (c->retired)
        save_past(c);
    dls_workspace_release(own.scratch, mark);
    return status;
}

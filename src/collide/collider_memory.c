/* What the next step asks of this one, as bytes, and back. Bytes may be anyone's: sizes and order are
 * checked, bodies are looked up by uid, and nothing in them is followed as it stands. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "collide/collider.h"

#include <math.h>
#include <string.h>

static const uint64_t magic = 0x32304c4c4f434c44u; /* "DLCOLL02" in little-endian order */
/* Before it contacts had one number, never used, where their moment is now. */
static const uint64_t earlier_magic = 0x31304c4c4f434c44u;

enum { EARLIER_PAST = (int)(offsetof(dls_past_contact, moment) + sizeof(double)) };

typedef struct header {
    uint64_t magic;
    int64_t past, kept, points;
} header;

static header header_of(const dls_collider *c) {
    header h = {magic, 0, 0, 0};
    if (c->retired) {
        h.past = c->past.count, h.kept = c->past_kept.count, h.points = c->past_points.count;
        return h;
    }
    dls_past_contact past;
    for (int k = 0; k < c->contacts.count; k++) h.past += dls_contact_past(&c->contacts.item[k], &past);
    for (int k = 0; k < c->kept.count; k++) h.points += c->kept.item[k].count;
    h.kept = c->kept.count;
    return h;
}

size_t dls_collider_memory_size(const dls_collider *c) {
    header h = header_of(c);
    return sizeof h + sizeof(dls_past_contact) * (size_t)h.past + sizeof(dls_kept_pair) * (size_t)h.kept +
           sizeof(dls_contact_point) * (size_t)h.points;
}

static char *put(char *to, const void *from, size_t size) {
    if (size) memcpy(to, from, size);
    return to + size;
}

void dls_collider_memory_write(const dls_collider *c, void *bytes) {
    header h = header_of(c);
    char *to = put(bytes, &h, sizeof h);
    if (c->retired) {
        to = put(to, c->past.item, sizeof(dls_past_contact) * (size_t)h.past);
        to = put(to, c->past_kept.item, sizeof(dls_kept_pair) * (size_t)h.kept);
        put(to, c->past_points.item, sizeof(dls_contact_point) * (size_t)h.points);
        return;
    }
    dls_past_contact past;
    for (int k = 0; k < c->contacts.count; k++)
        if (dls_contact_past(&c->contacts.item[k], &past)) to = put(to, &past, sizeof past);
    int32_t first = 0;
    for (int k = 0; k < c->kept.count; k++) {
        dls_kept_pair kept;
        memcpy(&kept, &c->kept.item[k], sizeof kept);
        kept.first = first;
        first += kept.count;
        to = put(to, &kept, sizeof kept);
    }
    for (int k = 0; k < c->kept.count; k++)
        for (int i = 0; i < c->kept.item[k].count; i++) {
            const dls_contact *contact = &c->contacts.item[c->kept.item[k].first + i];
            dls_contact_point point = dls_contact_seen(contact, c->kept.item[k].swapped != 0);
            to = put(to, &point, sizeof point);
        }
}

/* ---- back ---- */

static bool finite_numbers(const double *x, int n) {
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static bool unit_vector(const double *n) { return fabs(vec_dot(n, n) - 1) < 1e-6; }

/* The row with a uid, −1 for none: uids ascend with rows. */
static int row_of(const dls_world *world, int uid) {
    int low = 0, high = world->body_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (world->bodies[middle].uid < uid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < world->body_count && world->bodies[low].uid == uid ? low : -1;
}

static bool has_shape(const dls_world *world, int uid, int local) {
    int row = row_of(world, uid);
    return row >= 0 && local >= 0 && local < world->bodies[row].shape_count;
}

static bool right_key(const dls_world *world, const dls_pair_key *key) {
    if (!has_shape(world, key->uid_a, key->local_a) || !has_shape(world, key->uid_b, key->local_b))
        return false;
    if (key->uid_a > key->uid_b || key->spare) return false;
    for (int k = 0; k < 3; k++)
        if (key->image[k] && !(world->def.period_size[k] > 0)) return false;
    return true;
}

static bool right_past(const dls_world *world, const dls_past_contact *p, const dls_past_contact *before) {
    if (!right_key(world, &p->key) || p->closed > 1 || p->spare[0] || p->spare[1] || p->spare[2])
        return false;
    if (!finite_numbers(p->impulse, 3) || !finite_numbers(p->moment, 3)) return false;
    int order = before ? dls_pair_key_compare(&before->key, &p->key) : -1;
    return order < 0 || (order == 0 && before->feature < p->feature);
}

/* Directions are units or were never written; what features name is for the pair functions to see. */
static bool right_memory(const dls_pair_memory *m) {
    if (m->used != 0 && m->used != 1) return false;
    return unit_vector(m->n) || (m->n[0] == 0 && m->n[1] == 0 && m->n[2] == 0);
}

static bool right_kept(const dls_world *world, const dls_kept_pair *p, const dls_kept_pair *before) {
    if (!right_key(world, &p->key) || p->swapped > 1 || p->spare || !right_memory(&p->memory)) return false;
    if (p->count < 0 || p->first != (before ? (int64_t)before->first + before->count : 0)) return false;
    return !before || dls_pair_key_compare(&before->key, &p->key) < 0;
}

static bool right_point(const dls_contact_point *p) {
    return finite_numbers(p->point_a, 3) && finite_numbers(p->point_b, 3) && unit_vector(p->normal) &&
           isfinite(p->gap);
}

/* Where the lists lie in the bytes; they have no alignment, so each item is copied out. */
typedef struct view {
    header head;
    const char *past, *kept, *points;
} view;

static size_t past_size(const header *h) {
    return h->magic == earlier_magic ? (size_t)EARLIER_PAST : sizeof(dls_past_contact);
}

static void get_past(const view *v, int64_t k, dls_past_contact *past) {
    size_t size = past_size(&v->head);
    memset(past, 0, sizeof *past);
    memcpy(past, v->past + (size_t)k * size, size);
    if (v->head.magic == earlier_magic) past->moment[0] = 0;
}

static bool right_lists(const view *v, const dls_world *world) {
    dls_past_contact past[2];
    for (int64_t k = 0; k < v->head.past; k++) {
        get_past(v, k, &past[k % 2]);
        if (!right_past(world, &past[k % 2], k ? &past[1 - k % 2] : NULL)) return false;
    }
    dls_kept_pair kept[2];
    int64_t points = 0;
    for (int64_t k = 0; k < v->head.kept; k++) {
        memcpy(&kept[k % 2], v->kept + (size_t)k * sizeof *kept, sizeof *kept);
        if (!right_kept(world, &kept[k % 2], k ? &kept[1 - k % 2] : NULL)) return false;
        points = (int64_t)kept[k % 2].first + kept[k % 2].count;
    }
    for (int64_t k = 0; k < v->head.points; k++) {
        dls_contact_point point;
        memcpy(&point, v->points + (size_t)k * sizeof point, sizeof point);
        if (!right_point(&point)) return false;
    }
    return points == v->head.points; /* the pairs have them all, one behind the other */
}

/* Counts from a header that fit the size, one by one so that no product overflows. */
static bool open_view(view *v, const char *bytes, size_t size) {
    if (size < sizeof v->head) return false;
    memcpy(&v->head, bytes, sizeof v->head);
    const int64_t count[3] = {v->head.past, v->head.kept, v->head.points};
    const size_t item[3] = {past_size(&v->head), sizeof(dls_kept_pair), sizeof(dls_contact_point)};
    const char **place[3] = {&v->past, &v->kept, &v->points};
    const char *at = bytes + sizeof v->head;
    size_t left = size - sizeof v->head;
    if (v->head.magic != magic && v->head.magic != earlier_magic) return false;
    for (int k = 0; k < 3; k++) {
        if (count[k] > INT32_MAX || (uint64_t)count[k] > left / item[k]) return false; /* none below 0, too */
        *place[k] = at;
        at += (size_t)count[k] * item[k];
        left -= (size_t)count[k] * item[k];
    }
    return left == 0;
}

static void get(const char *from, void *to, int64_t count, size_t size) {
    if (count) memcpy(to, from, (size_t)count * size);
}

dls_status dls_collider_memory_open(dls_collider *c, const dls_world *world, const void *bytes, size_t size,
                                    dls_error *error) {
    view v;
    if (!open_view(&v, bytes, size))
        return dls_fail(error, DLS_ERROR_INPUT, "%zu bytes that are no memory of contacts", size);
    if (!right_lists(&v, world))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "the memory of contacts names bodies that are not there, or is out of order");
    const header *h = &v.head;
    if (!reserve_past(&c->past, h->past) || !reserve_kept(&c->past_kept, h->kept) ||
        !reserve_points(&c->past_points, h->points))
        return dls_fail_memory(error);
    return DLS_OK;
}

void dls_collider_memory_use(dls_collider *c, const void *bytes, size_t size) {
    view v;
    if (!open_view(&v, bytes, size)) return;
    const header *h = &v.head;
    for (int64_t k = 0; k < h->past; k++) get_past(&v, k, &c->past.item[k]);
    get(v.kept, c->past_kept.item, h->kept, sizeof(dls_kept_pair));
    get(v.points, c->past_points.item, h->points, sizeof(dls_contact_point));
    c->past.count = (int)h->past, c->past_kept.count = (int)h->kept, c->past_points.count = (int)h->points;
    c->contacts.count = c->kept.count = 0;
    c->retired = true;
}

/* What the next step asks of this one, as bytes, and back. Bytes may be anyone's: sizes and order are
 * checked, bodies are looked up by uid, and nothing in them is followed as it stands. */
#include "base/error.h"
#include "base/memory.h"
#include "collide/collider.h"

#include <math.h>
#include <string.h>

static const uint64_t magic = 0x31304c4c4f434c44u; /* "DLCOLL01" in little-endian order */

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
    if (key->uid_a > key->uid_b) return false;
    for (int k = 0; k < 3; k++)
        if (key->image[k] && !(world->def.period_size[k] > 0)) return false;
    return true;
}

static bool right_past(const dls_world *world, const dls_past_contact *p, const dls_past_contact *before) {
    if (!right_key(world, &p->key) || p->closed > 1) return false;
    if (!finite_numbers(p->impulse, 3) || !isfinite(p->extra_impulse)) return false;
    int order = before ? dls_pair_key_compare(&before->key, &p->key) : -1;
    return order < 0 || (order == 0 && before->feature < p->feature);
}

static bool right_kept(const dls_world *world, const dls_kept_pair *p, const dls_kept_pair *before,
                       int64_t points) {
    if (!right_key(world, &p->key) || p->swapped > 1 || !finite_numbers(p->memory.n, 3)) return false;
    if (p->count < 0 || p->first != (before ? (int64_t)before->first + before->count : 0)) return false;
    if ((int64_t)p->first + p->count > points) return false;
    return !before || dls_pair_key_compare(&before->key, &p->key) < 0;
}

static bool right_lists(const dls_collider *c, const dls_world *world) {
    for (int k = 0; k < c->past.count; k++)
        if (!right_past(world, &c->past.item[k], k ? &c->past.item[k - 1] : NULL)) return false;
    const dls_kept_pair *last = NULL;
    for (int k = 0; k < c->past_kept.count; k++) {
        const dls_kept_pair *kept = &c->past_kept.item[k];
        if (!right_kept(world, kept, last, c->past_points.count)) return false;
        last = kept;
    }
    for (int k = 0; k < c->past_points.count; k++) {
        const dls_contact_point *p = &c->past_points.item[k];
        if (!finite_numbers(p->point_a, 3) || !finite_numbers(p->point_b, 3) ||
            !finite_numbers(p->normal, 3) || !isfinite(p->gap))
            return false;
    }
    return c->past_points.count == (last ? last->first + last->count : 0);
}

/* Counts from a header that fit the size, one by one so that no product overflows. */
static bool right_header(const header *h, size_t size) {
    const int64_t count[3] = {h->past, h->kept, h->points};
    const size_t item[3] = {sizeof(dls_past_contact), sizeof(dls_kept_pair), sizeof(dls_contact_point)};
    size_t left = size - sizeof *h;
    if (h->magic != magic) return false;
    for (int k = 0; k < 3; k++) {
        if (count[k] < 0 || count[k] > INT32_MAX || (uint64_t)count[k] > left / item[k]) return false;
        left -= (size_t)count[k] * item[k];
    }
    return left == 0;
}

static const char *get(const char *from, void *to, size_t size) {
    if (size) memcpy(to, from, size);
    return from + size;
}

static void forget(dls_collider *c) {
    c->past.count = c->past_kept.count = c->past_points.count = 0;
    c->contacts.count = c->kept.count = 0;
    c->retired = true;
}

dls_status dls_collider_memory_read(dls_collider *c, const dls_world *world, const void *bytes, size_t size,
                                    dls_error *error) {
    header h;
    forget(c);
    if (size >= sizeof h) memcpy(&h, bytes, sizeof h);
    if (size < sizeof h || !right_header(&h, size))
        return dls_fail(error, DLS_ERROR_INPUT, "%zu bytes that are no memory of contacts", size);
    if (!reserve_past(&c->past, h.past) || !reserve_kept(&c->past_kept, h.kept) ||
        !reserve_points(&c->past_points, h.points))
        return dls_fail_memory(error);
    const char *from = (const char *)bytes + sizeof h;
    from = get(from, c->past.item, sizeof(dls_past_contact) * (size_t)h.past);
    from = get(from, c->past_kept.item, sizeof(dls_kept_pair) * (size_t)h.kept);
    get(from, c->past_points.item, sizeof(dls_contact_point) * (size_t)h.points);
    c->past.count = (int)h.past, c->past_kept.count = (int)h.kept, c->past_points.count = (int)h.points;
    if (right_lists(c, world)) return DLS_OK;
    forget(c);
    return dls_fail(error, DLS_ERROR_INPUT,
                    "the memory of contacts names bodies that are not there, or is out of order");
}

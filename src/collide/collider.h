/* Inside the collider: what it holds, for its two files. */
#ifndef COLLIDE_COLLIDER_H
#define COLLIDE_COLLIDER_H

#include "base/memory.h"
#include "collide/broad/broadphase.h"

/* Who touches whom, in words that outlive rows. Ordered as rows are: uids ascend with them. */
typedef struct dls_pair_key {
    int32_t uid_a, uid_b;
    int16_t local_a, local_b, image[3];
    int16_t spare; /* 0: keys are written as bytes */
} dls_pair_key;

int dls_pair_key_compare(const dls_pair_key *p, const dls_pair_key *q); /* < 0, 0, > 0 */

/* A contact of the step before, as far as the next one asks for it. */
typedef struct dls_past_contact {
    dls_pair_key key;
    uint8_t closed, spare[3];
    uint64_t feature;
    double impulse[3], moment[3];
} dls_past_contact;

/* A pair of a row that remembers, with its contacts: in the collider's own, or in those of the step before.
 */
typedef struct dls_kept_pair {
    dls_pair_key key;
    int32_t first, count, spare;
    dls_pair_memory memory;
    uint64_t swapped; /* the function took b first */
} dls_kept_pair;

typedef struct dls_past_list {
    dls_past_contact *item;
    int count;
    int64_t capacity;
} dls_past_list;

typedef struct dls_kept_list {
    dls_kept_pair *item;
    int count;
    int64_t capacity;
} dls_kept_list;

typedef struct dls_point_list {
    dls_contact_point *item;
    int count;
    int64_t capacity;
} dls_point_list;

typedef struct dls_shape_pair_list {
    dls_shape_pair *item;
    int count;
    int64_t capacity;
} dls_shape_pair_list;

typedef struct dls_contact_list {
    dls_contact *item;
    int count;
    int64_t capacity;
} dls_contact_list;

/* What every pair asks of a shape, in one cache line. */
typedef struct dls_mover {
    double v[3];
    double spin, bound; /* dls_shape_spin; radius of the ball that holds it */
    int32_t uid, body, material;
    int16_t local;
    uint8_t kind;
} dls_mover;

/* A chunk of pairs and what came of it. */
typedef struct dls_collide_slot {
    int first, end;
    dls_contact_list contacts;
    dls_kept_list kept;   /* first: into the slot's contacts */
    dls_contact_list *to; /* these, or with one thread the collider's own: nothing is copied then */
    dls_kept_list *kept_to;
    dls_shape_pair_list passing;
    dls_manifold manifold, trial;
    const dls_shape_pair *stranger; /* a pair that no row of the table is for */
    bool out_of_memory;
} dls_collide_slot;

struct dls_collider {
    dls_broadphase *broadphase;
    struct {
        const dls_pair_kind *row;
        bool swapped;
    } rows[DLS_SHAPE_KINDS][DLS_SHAPE_KINDS];
    dls_workspace *own; /* scratch for callers who have none */
    dls_contact_list contacts;
    dls_kept_list kept;          /* first: into contacts */
    dls_shape_pair_list passing; /* pairs that would close, and pass by on their free way */

    /* the step before; `retired` says that contacts and kept have become this already */
    bool retired;
    dls_past_list past;      /* empty but after a step that failed, or that was read */
    dls_kept_list past_kept; /* first: into past_points */
    dls_point_list past_points;

    dls_collide_slot *slots; /* one per chunk of pairs that is under way */
    int slot_count;

    /* of the present update, in its scratch */
    dls_placed *placed;
    dls_mover *movers;
    const dls_past_contact *before; /* contacts of the step before */
    int before_count;
};

/* reserve_*(list, more): room for more items, and little beyond: these lists are what a contact costs. False
 * when memory is out. */
#define DLS_LIST_RESERVE(name, type)                                                                         \
    static inline bool name(type *list, int64_t more) {                                                      \
        int64_t needed = list->count + more;                                                                 \
        if (needed <= list->capacity) return true;                                                           \
        return needed <= INT32_MAX && dls_grow(&list->item, list->count, &list->capacity,                    \
                                               needed + needed / 16 + 16, sizeof *list->item);               \
    }
DLS_LIST_RESERVE(reserve_contacts, dls_contact_list)
DLS_LIST_RESERVE(reserve_past, dls_past_list)
DLS_LIST_RESERVE(reserve_pairs, dls_shape_pair_list)
DLS_LIST_RESERVE(reserve_kept, dls_kept_list)
DLS_LIST_RESERVE(reserve_points, dls_point_list)

dls_pair_key dls_contact_key(const dls_contact *contact);
/* What later steps ask of a contact; false where they ask nothing. */
bool dls_contact_past(const dls_contact *contact, dls_past_contact *past);
/* Features in order and each of them once. */
void dls_order_points(dls_contact_point *points, int count);
/* The contact point as the pair's function saw it. */
dls_contact_point dls_contact_seen(const dls_contact *contact, bool swapped);

#endif

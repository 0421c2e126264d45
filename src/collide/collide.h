/* From bodies to contacts: broad phase, one function per pair of kinds, identity from step to step. */
#ifndef COLLIDE_COLLIDE_H
#define COLLIDE_COLLIDE_H

#include "world/world.h"

#include <delassus/collide.h>

/* ---- narrow phase: one file per family, one row of the table in pairs.c per pair ---- */

/* A shape where it stands: its frame in the world. */
typedef struct dls_placed {
    const dls_shape *shape;
    double x[3], R[9]; /* R column-major */
} dls_placed;

/* What a pair remembers from step to step so that its answer does not flicker and starts warm. All zero at
 * first. Part of a checkpoint: same memory, same bits. It may come from a damaged file: n is finite, but a
 * pair function checks every index in feature before it follows it. */
typedef struct dls_pair_memory {
    double n[3];        /* last normal or separating direction */
    int32_t feature[5]; /* of the pair function's own choosing */
    int32_t used;       /* 0 until the function has written to it */
} dls_pair_memory;

/* Where a pair function puts its contacts; grows on demand. */
typedef struct dls_manifold {
    dls_contact_point *point;
    int count;
    int64_t capacity;
    bool out_of_memory;
} dls_manifold;

void dls_manifold_add(dls_manifold *manifold, const double *point_a, const double *point_b,
                      const double *normal, double gap, uint64_t feature);

/* A becomes B. */
void dls_contact_point_flip(dls_contact_point *point);

/* Adds every contact of a and b with gap ≤ margin. memory is never NULL. last (may be NULL) are the
 * last_count contacts that the pair had in the step before, as they were then, for rows that remember; like
 * memory they may come from a file. Kinds come in the order of the table. */
typedef void (*dls_pair_function)(const dls_placed *a, const dls_placed *b, double margin,
                                  dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                  dls_manifold *manifold);

typedef struct dls_pair_kind {
    dls_shape_kind a, b;
    dls_pair_function collide;
    bool exact;         /* gap and normal are those of the true distance to rounding */
    bool remembers;     /* uses memory or last: they are kept from step to step */
    const char *method; /* one line */
} dls_pair_kind;

/* The row for two kinds, swapped where it has them in the other order; NULL for two obstacles and for planar
 * with spatial. */
const dls_pair_kind *dls_pair_find(dls_shape_kind a, dls_shape_kind b, bool *swapped);

/* Rows of one family, defined in the file that is named after it. */
typedef struct dls_pair_family {
    const dls_pair_kind *rows;
    int count;
} dls_pair_family;

extern const dls_pair_family dls_pairs_planar, dls_pairs_round, dls_pairs_ellipsoid, dls_pairs_cylinder,
    dls_pairs_hull, dls_pairs_mesh, dls_pairs_skin;

/* ---- broad phase ---- */

/* In a periodic box b stands moved by image · period, an image of shapes where they are, however often they
 * went round. a < b, or a ≤ b for shapes of one body, which meets its own images where the box is small: then
 * image is not zero, and for a = b its first component that is not zero is positive. */
typedef struct dls_shape_pair {
    int a, b; /* shape rows */
    int16_t image[3];
} dls_shape_pair;

/* ---- all together ---- */

typedef struct dls_contact {
    int a, b;                 /* shape rows, a ≤ b as in dls_shape_pair */
    int body_a, body_b;       /* rows */
    int uid_a, uid_b;         /* of the bodies */
    int16_t local_a, local_b; /* shapes' places in their bodies */
    int16_t image[3];
    bool closed;   /* gap ≤ 0 in the step before */
    uint8_t spare; /* 0: no byte of a contact is by chance */
    int pair;      /* of materials, a place in the world's table */
    dls_contact_point at;
    double impulse[3]; /* of the last solve, on B, world axes, N s: the warm start */
    double moment[3];  /* of its friction against turning, likewise, N m s */
} dls_contact;

typedef struct dls_collider dls_collider; /* memory of the collisions of one world */

typedef struct dls_collide_options {
    double margin;          /* m; contacts exist where gap ≤ margin + what the pair may close in one step */
    double h;               /* length of the step, s */
    int threads;            /* any number gives the same contacts in the same order */
    dls_workspace *scratch; /* for what an update needs and does not keep; NULL: the collider has its own */
    bool follow;            /* pairs to where they meet: contacts that close elsewhere are no contacts */
    const double *extra;    /* per row, m: what it may go in the step beyond its velocity; NULL: nothing */
    const dls_body_state *tried; /* per row: velocities that pairs are followed by as well; NULL: none */
} dls_collide_options;

dls_collider *dls_collider_create(void); /* NULL when memory is out */
void dls_collider_destroy(dls_collider *collider);

/* All contacts of the world as its rows stand, in canonical order: by rows of A and B, image and feature.
 * Each carries over impulse and closed from the contact of the same identity, if there was one. */
dls_status dls_collider_update(dls_collider *collider, const dls_world *world,
                               const dls_collide_options *options, dls_error *error);

/* Whether bodies meet within h, as rows stand and fly, that no contact of the last update keeps apart: pairs
 * that were left out since they pass by on their free way, and all that these rows may come to. */
bool dls_collider_misses(dls_collider *collider, const dls_world *world, double h, const int *rows, int count,
                         dls_workspace *space);
/* When a row first meets another within h, INFINITY for never. */
double dls_collider_first_meeting(dls_collider *collider, const dls_world *world, double h, int row);

int dls_collider_count(const dls_collider *collider);
dls_contact *dls_collider_contacts(dls_collider *collider);
size_t dls_collider_bytes(const dls_collider *collider); /* held */
/* Impulses, kept for warm starts, by a factor. */
void dls_collider_scale_impulses(dls_collider *collider, double factor);

/* Everything that later steps depend on, as bytes for a checkpoint. size: what write needs. Reading has two
 * parts: open checks the bytes and makes room, and leaves what the collider remembers as it was; use, of the
 * same bytes, cannot fail. Of the world its rows and periods are asked. */
size_t dls_collider_memory_size(const dls_collider *collider);
void dls_collider_memory_write(const dls_collider *collider, void *bytes);
dls_status dls_collider_memory_open(dls_collider *collider, const dls_world *world, const void *bytes,
                                    size_t size, dls_error *error);
void dls_collider_memory_use(dls_collider *collider, const void *bytes, size_t size);

#endif

/* Gates: inlets, by which bodies come in at a rate, and removals, which take out those that stand in a region
 * or out of it. Both are asked at the beginning of a step, on one thread, in the order in which they are
 * defined.
 *
 * An inlet makes its k-th body when it is due, from + k/rate or from + mass so far/rate: those of all inlets
 * in the order of these times, so that ids do not depend on where there was room. The body waits, in the
 * world like any other, until a place is found where its ball touches nothing; the next one of the inlet
 * waits behind it. */
#ifndef INTEGRATE_GATES_H
#define INTEGRATE_GATES_H

#include "integrate/room.h"

#include <delassus/integrate.h>

typedef struct dls_removal {
    const char *name;
    dls_region region;
    bool outside;
    int name_count; /* bodies NAME and NAME-number; 0: all that are dynamic */
    const char *const *names;
} dls_removal;

typedef struct dls_inlet {
    const char *name;
    dls_region region;
    bool by_mass;
    double rate; /* kg/s, or bodies per second */
    double from, until, most_bodies, most_mass;
    uint64_t seed;
    /* The next body, as one that waits and is never due by its birth: all of it but its place. */
    dls_status (*make)(void *self, dls_world *world, dls_body_id *id, dls_error *error);
    void *self;
} dls_inlet;

/* Of the birth of a body that an inlet has made: no time, but a place decides. */
#define DLS_BIRTH_BY_PLACE 1e300

typedef struct dls_gates_def {
    int inlet_count, removal_count;
    dls_inlet *inlets;
    dls_removal *removals;
} dls_gates_def;

typedef struct dls_gates dls_gates;

/* The definition is borrowed. Bodies that are added to the world later are those of inlets. */
dls_status dls_gates_create(const dls_gates_def *def, dls_world *world, dls_gates **gates, dls_error *error);
void dls_gates_destroy(dls_gates *gates);

/* Marks bodies that leave and places those that come; the next settling of the world takes both. */
dls_status dls_gates_pass(dls_gates *gates, dls_world *world, double t, dls_error *error);
/* Bodies that are due and wait for room. */
void dls_gates_backlog(const dls_gates *gates, int64_t *bodies, double *mass);

/* Makes the first count bodies of all inlets, those that are there aside. */
dls_status dls_gates_make(dls_gates *gates, dls_world *world, int64_t count, dls_error *error);

/* What later steps depend on, as bytes. Reading has two parts: open checks, and makes the bodies that the
 * state of the world is going to speak of, bodies in all; use, of the same bytes, cannot fail. */
size_t dls_gates_memory_size(const dls_gates *gates);
void dls_gates_memory_write(const dls_gates *gates, void *bytes);
dls_status dls_gates_memory_open(dls_gates *gates, dls_world *world, const void *bytes, size_t size,
                                 int64_t bodies, dls_error *error);
void dls_gates_memory_use(dls_gates *gates, dls_world *world, const void *bytes);

/* The index-th, inlets first. */
int dls_gates_count(const dls_gates *gates);
dls_gate dls_gates_at(const dls_gates *gates, int index);

#endif

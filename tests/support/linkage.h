/* Problems of joined bodies, as steps make them. */
#ifndef DELASSUS_TESTS_SUPPORT_LINKAGE_H
#define DELASSUS_TESTS_SUPPORT_LINKAGE_H

#include "base/random.h"
#include "problem/problem.h"

#include <delassus/base.h>

typedef struct linkage {
    dls_workspace *space;
    dls_problem *p;
} linkage;

typedef struct linkage_shape {
    uint64_t seed;
    int bodies, contacts;
    int loops;     /* joints beyond those of a tree */
    int redundant; /* joints that hold once more what others hold already */
    int trees;     /* that bodies are divided among; at least 1 */
    bool far;      /* loops join any two bodies of a tree, not only near ones */
    bool planar, round, turning, soft, bounded;
    bool smooth; /* without friction */
    int wide;    /* every so many bodies have more freedoms than others; 0: none */
} linkage_shape;

/* Random bodies in random trees; a motion exists that every row allows. */
linkage linkage_random(const linkage_shape *shape);

typedef struct chain_shape {
    int links;
    int contacts;      /* per link, with the ground below */
    int every;         /* so many links have them, counted from the last; 0: all */
    double mass_ratio; /* of the last link to the others; 1 for none */
    double b_noise;    /* of contacts, m/s */
    double pull;       /* on the last link along x, of what makes all contacts slide */
    bool motors;       /* a motor in each joint */
    double limit;      /* of their torque impulses, of what would hold the chain up; INFINITY: none */
} chain_shape;

/* Rods in the plane, end to end along x from the ground, that fall for one step onto what touches them. */
linkage linkage_chain(const chain_shape *shape);

void linkage_end(linkage *l);

#endif

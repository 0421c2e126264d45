/* Random heaps: bodies and contact points anywhere, from one contact to strongly hyperstatic problems. A
 * solution always exists, for resting bodies open no gap: u = 0 is within reach of every contact. */
#ifndef DELASSUS_TESTS_SUPPORT_MULTIBODY_H
#define DELASSUS_TESTS_SUPPORT_MULTIBODY_H

#include "base/random.h"

#include <delassus/problem.h>

typedef struct multibody_shape {
    int bodies, contacts;
    double mu_low, mu_high;
    double lever; /* how far contact points lie from the bodies' centres */
    bool matrix_free;
} multibody_shape;

/* Drawn from all that may occur: 1 … 40 contacts, μ of 0.1 … 1.5, more or fewer impulses than freedoms. */
multibody_shape multibody_draw(dls_random *g);
dls_problem *multibody_problem(dls_random *g, const multibody_shape *shape);

#endif

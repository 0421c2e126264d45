/* A number that is known, and how well it must be met. */
#ifndef DELASSUS_TESTS_SUPPORT_NEAR_H
#define DELASSUS_TESTS_SUPPORT_NEAR_H

#include "support/test.h"

#include <math.h>

#define assert_near(a, b, tolerance)                                                                         \
    do {                                                                                                     \
        double near_a = (a), near_b = (b), near_t = (tolerance);                                             \
        if (!(fabs(near_a - near_b) <= near_t))                                                              \
            fail_msg("%s = %.15g, expected %.15g ± %g", #a, near_a, near_b, near_t);                         \
    } while (0)

#endif

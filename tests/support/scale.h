/* DLS_TEST_SCALE below 1 asks for fewer random cases and smaller problems, as under a sanitizer. */
#ifndef DELASSUS_TESTS_SUPPORT_SCALE_H
#define DELASSUS_TESTS_SUPPORT_SCALE_H

#include <stdlib.h>

static inline double test_scale(void) {
    const char *text = getenv("DLS_TEST_SCALE");
    double scale = text ? strtod(text, NULL) : 1;
    return scale > 0 && scale < 1 ? scale : 1;
}

/* count, or the scaled count where that is more than least. */
static inline int scaled(int count, int least) {
    int smaller = (int)(test_scale() * count);
    return smaller > least ? smaller : least < count ? least : count;
}

#endif

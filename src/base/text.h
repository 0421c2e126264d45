#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <delassus/base.h>

/* Letters that were added, left out, replaced or swapped with their neighbour; capitals do not count. */
int dls_text_distance(const char *a, const char *b);

#endif

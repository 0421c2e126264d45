/* Helpers around the option tables of delassus/base.h. */
#ifndef BASE_FIELD_H
#define BASE_FIELD_H

#include <delassus/base.h>

/* Edits between two words, for "did you mean". */
int dls_text_distance(const char *a, const char *b);

#endif

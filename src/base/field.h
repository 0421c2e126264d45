/* Helpers around the option tables of delassus/base.h. */
#ifndef BASE_FIELD_H
#define BASE_FIELD_H

#include <delassus/base.h>

/* Whether all numbers and choices lie in their ranges; the message names the first that does not. */
dls_status dls_field_check(const dls_field *fields, int field_count, const void *options, dls_error *error);
bool dls_field_is_number(const dls_field *field);
/* Whether a number lies in the field's range, and is whole where it must be. */
bool dls_field_fits(const dls_field *field, double value);
/* The rows that a name may be, into text as "one|two|three"; returns text. */
const char *dls_field_rows(const dls_field *field, char *text, size_t text_size);
/* Where a choice is near value ", did you mean 'choice'?" into text, else ""; returns text. */
const char *dls_field_hint(const dls_field *field, const char *value, char *text, size_t text_size);

#endif

/* JSON written as it is made: the writer keeps commas, quotes, escapes and indentation right. */
#ifndef CLI_SUPPORT_JSON_H
#define CLI_SUPPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_MAX_DEPTH = 16 };

typedef struct json {
    FILE *file;
    bool pretty; /* one member per line; else all on one line */
    int depth;
    bool filled[JSON_MAX_DEPTH]; /* whether the array or object at each depth has a member yet */
    bool after_key;
} json;

json json_begin(FILE *file, bool pretty);
void json_end(json *j); /* the final newline */

void json_key(json *j, const char *key);
void json_object_begin(json *j);
void json_object_end(json *j);
void json_array_begin(json *j);
void json_array_end(json *j);

void json_text(json *j, const char *text); /* NULL is null; bytes that are no UTF-8 become U+FFFD */
void json_real(json *j, double value);     /* all 17 digits; what is not finite is null */
void json_integer(json *j, int64_t value);
void json_bool(json *j, bool value);

/* A key and its value. */
void json_member_text(json *j, const char *key, const char *text);
void json_member_real(json *j, const char *key, double value);
void json_member_integer(json *j, const char *key, int64_t value);
void json_member_bool(json *j, const char *key, bool value);

#endif

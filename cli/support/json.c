/* JSON as RFC 8259 has it. */
#include "cli/support/json.h"

#include <delassus/base.h>

#include <assert.h>
#include <inttypes.h>
#include <math.h>

json json_begin(FILE *file, bool pretty) {
    return (json){.file = file, .pretty = pretty, .depth = 0, .after_key = false};
}

void json_end(json *j) {
    assert(j->depth == 0);
    fputc('\n', j->file);
}

static void new_line(json *j) {
    if (!j->pretty) return;
    fputc('\n', j->file);
    for (int i = 0; i < j->depth; i++) fputs("  ", j->file);
}

/* What stands between a value and the one before it. */
static void separate(json *j) {
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (j->depth == 0) return;
    if (j->filled[j->depth - 1]) fputs(j->pretty ? "," : ", ", j->file);
    j->filled[j->depth - 1] = true;
    new_line(j);
}

static void open_bracket(json *j, char bracket) {
    separate(j);
    assert(j->depth < JSON_MAX_DEPTH);
    fputc(bracket, j->file);
    j->filled[j->depth++] = false;
}

static void close_bracket(json *j, char bracket) {
    assert(j->depth > 0);
    bool filled = j->filled[--j->depth];
    if (filled) new_line(j);
    fputc(bracket, j->file);
}

void json_object_begin(json *j) { open_bracket(j, '{'); }
void json_object_end(json *j) { close_bracket(j, '}'); }
void json_array_begin(json *j) { open_bracket(j, '['); }
void json_array_end(json *j) { close_bracket(j, ']'); }

static void write_string(FILE *file, const char *text) {
    fputc('"', file);
    while (*text) {
        size_t length = dls_utf8_length(text);
        if (length == 0) {
            fputs("\\ufffd", file);
            length = 1;
        } else if (*text == '"' || *text == '\\') {
            fprintf(file, "\\%c", *text);
        } else if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            fprintf(file, "\\u%04x", (unsigned)*text);
        } else {
            fwrite(text, 1, length, file);
        }
        text += length;
    }
    fputc('"', file);
}

void json_key(json *j, const char *key) {
    separate(j);
    write_string(j->file, key);
    fputs(": ", j->file);
    j->after_key = true;
}

void json_text(json *j, const char *text) {
    separate(j);
    if (text)
        write_string(j->file, text);
    else
        fputs("null", j->file);
}

void json_real(json *j, double value) {
    separate(j);
    if (isfinite(value))
        fprintf(j->file, "%.17g", value);
    else
        fputs("null", j->file);
}

void json_integer(json *j, int64_t value) {
    separate(j);
    fprintf(j->file, "%" PRId64, value);
}

void json_bool(json *j, bool value) {
    separate(j);
    fputs(value ? "true" : "false", j->file);
}

void json_member_text(json *j, const char *key, const char *text) {
    json_key(j, key);
    json_text(j, text);
}

void json_member_real(json *j, const char *key, double value) {
    json_key(j, key);
    json_real(j, value);
}

void json_member_integer(json *j, const char *key, int64_t value) {
    json_key(j, key);
    json_integer(j, value);
}

void json_member_bool(json *j, const char *key, bool value) {
    json_key(j, key);
    json_bool(j, value);
}

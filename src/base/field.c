/* Options by name: text in, text out, with the table as the only list. */
#include "base/field.h"
#include "base/error.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const dls_field *find(const dls_field *fields, int count, const char *key, dls_nearest *nearest) {
    *nearest = dls_nearest_begin(key);
    for (int i = 0; i < count; i++) {
        if (!strcmp(fields[i].key, key)) return &fields[i];
        dls_nearest_offer(nearest, fields[i].key);
    }
    return NULL;
}

/* Index of value among the names separated by '|', or −1. */
static int choice_index(const char *choices, const char *value) {
    size_t length = strlen(value);
    int index = 0;
    for (const char *at = choices; at; index++) {
        const char *bar = strchr(at, '|');
        size_t size = bar ? (size_t)(bar - at) : strlen(at);
        if (size == length && !memcmp(at, value, size)) return index;
        at = bar ? bar + 1 : NULL;
    }
    return -1;
}

const char *dls_field_hint(const dls_field *field, const char *value, char *text, size_t size) {
    dls_nearest nearest = dls_nearest_begin(value);
    char names[512] = "";
    if (field->choices) snprintf(names, sizeof names, "%s", field->choices);
    for (char *at = names, *bar; at; at = bar ? bar + 1 : NULL) {
        if ((bar = strchr(at, '|'))) *bar = '\0';
        dls_nearest_offer(&nearest, at);
    }
    return dls_nearest_hint(&nearest, text, size);
}

const char *dls_field_rows(const dls_field *field, char *text, size_t size) {
    size_t used = 0;
    const char *name;
    *text = '\0';
    for (int i = 0; used < size && (name = field->row_at(i, NULL)); i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "|" : "", name);
    return text;
}

static dls_status check_name(const dls_field *field, const char *value, dls_error *error) {
    dls_nearest nearest = dls_nearest_begin(value);
    char list[200], hint[100];
    const char *name;
    if (!field->row_at) return DLS_OK;
    for (int i = 0; (name = field->row_at(i, NULL)); i++) {
        if (!strcmp(name, value)) return DLS_OK;
        dls_nearest_offer(&nearest, name);
    }
    return dls_fail(error, DLS_ERROR_ARGUMENT, "%s: '%.60s' is not one of %s%s", field->key, value,
                    dls_field_rows(field, list, sizeof list), dls_nearest_hint(&nearest, hint, sizeof hint));
}

/* ---- what may be given ---- */

static bool is_whole(const dls_field *field) {
    return field->type == DLS_FIELD_INT || field->type == DLS_FIELD_WHOLE;
}

bool dls_field_is_number(const dls_field *field) { return is_whole(field) || field->type == DLS_FIELD_REAL; }

bool dls_field_fits(const dls_field *field, double value) {
    return value >= field->low && value <= field->high && (!is_whole(field) || value == floor(value));
}

typedef struct field_words {
    const char *number, *whole, *above, *least, *and_up, *from, *name, *text, *vector;
} field_words;

static const field_words in_messages = {"a number", "a whole number", " above 0", " from ",   " up",
                                        " from ",   "a name",         "a text",   "[x, y, z]"};
static const field_words in_tables = {"number", "whole number", " > 0", " ≥ ",   "",
                                      ", ",     "name",         "text", "vector"};

/* Bounds from here on nobody meets: they are told only to those who do. */
static double far(const dls_field *field) { return field->type == DLS_FIELD_INT ? INT_MAX : 1e300; }

static void describe_number(const dls_field *field, const field_words *words, bool exact, char *text,
                            size_t size) {
    const char *noun = is_whole(field) ? words->whole : words->number;
    bool open = isinf(field->high) || (!exact && field->high >= far(field));
    if (open && field->low <= -far(field))
        snprintf(text, size, "%s", noun);
    else if (open && field->low > 0 && field->low <= 1e-300)
        snprintf(text, size, "%s%s", noun, words->above);
    else if (open)
        snprintf(text, size, "%s%s%g%s", noun, words->least, field->low, words->and_up);
    else
        snprintf(text, size, "%s%s%.10g to %.10g", noun, words->from, field->low, field->high);
}

static const char *describe(const dls_field *field, const field_words *words, char *text, size_t size) {
    if (field->row_at) return dls_field_rows(field, text, size);
    const char *noun = field->choices                    ? field->choices
                       : field->type == DLS_FIELD_BOOL   ? "yes or no"
                       : field->type == DLS_FIELD_NAME   ? words->name
                       : field->type == DLS_FIELD_TEXT   ? words->text
                       : field->type == DLS_FIELD_VECTOR ? words->vector
                                                         : "";
    snprintf(text, size, "%s", noun);
    if (!field->choices && dls_field_is_number(field)) describe_number(field, words, false, text, size);
    return text;
}

const char *dls_field_expected(const dls_field *field, char *text, size_t size) {
    return describe(field, &in_messages, text, size);
}

const char *dls_field_allowed(const dls_field *field, char *text, size_t size) {
    return describe(field, &in_tables, text, size);
}

/* ---- setting ---- */

static dls_status set_number(const dls_field *field, void *member, const char *value, dls_error *error) {
    char *end, expected[100];
    errno = 0;
    double number = strtod(value, &end);
    bool vanished = errno == ERANGE && number == 0; /* subnormal numbers raise ERANGE too, and are fine */
    if (end == value || *end || vanished || !dls_field_fits(field, number)) {
        describe_number(field, &in_messages, fabs(number) > far(field), expected, sizeof expected);
        return dls_fail(error, DLS_ERROR_ARGUMENT, "%s: '%s' is not %s", field->key, value, expected);
    }
    if (field->type == DLS_FIELD_INT)
        *(int *)member = (int)number;
    else
        *(double *)member = number;
    return DLS_OK;
}

static dls_status set_name(const dls_field *field, char *member, const char *value, dls_error *error) {
    if (strlen(value) >= DLS_NAME_SIZE)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "%s: '%.60s' is longer than a name, at most %d letters",
                        field->key, value, DLS_NAME_SIZE - 1);
    dls_status status = check_name(field, value, error);
    if (!status) memmove(member, value, strlen(value) + 1); /* it may be the member itself */
    return status;
}

static dls_status set_choice(const dls_field *field, void *member, const char *value, dls_error *error) {
    bool flag = field->type == DLS_FIELD_BOOL;
    const char *choices = flag ? "no|yes" : field->choices;
    char hint[100];
    int index = choice_index(choices, value);
    if (index < 0 && flag) index = choice_index("false|true", value);
    if (index < 0)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "%s: '%s' is not one of %s%s", field->key, value, choices,
                        dls_field_hint(field, value, hint, sizeof hint));
    if (flag)
        *(bool *)member = index == 1;
    else
        *(int *)member = index;
    return DLS_OK;
}

dls_status dls_field_set(const dls_field *fields, int field_count, void *options, const char *key,
                         const char *value, dls_error *error) {
    dls_error_clear(error);
    if (!key || !value) return dls_fail(error, DLS_ERROR_ARGUMENT, "an option and a value are needed");
    dls_nearest nearest;
    char hint[100];
    const dls_field *field = find(fields, field_count, key, &nearest);
    if (!field)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "no option '%s'%s", key,
                        dls_nearest_hint(&nearest, hint, sizeof hint));
    char *member = (char *)options + field->offset;
    switch (field->type) {
    case DLS_FIELD_INT:
    case DLS_FIELD_REAL:
    case DLS_FIELD_WHOLE:
        return set_number(field, member, value, error);
    case DLS_FIELD_NAME:
        return set_name(field, member, value, error);
    case DLS_FIELD_BOOL:
    case DLS_FIELD_CHOICE:
        return set_choice(field, member, value, error);
    case DLS_FIELD_TEXT:
        *(const char **)(void *)member = value;
        return DLS_OK;
    case DLS_FIELD_VECTOR:
    case DLS_FIELD_OWN:
        break;
    }
    return dls_fail(error, DLS_ERROR_ARGUMENT, "%s: a text cannot set it, expected its own reader", key);
}

static int choice_count(const char *choices) {
    int count = 1;
    for (const char *at = choices; *at; at++) count += *at == '|';
    return count;
}

dls_status dls_field_check(const dls_field *fields, int field_count, const void *options, dls_error *error) {
    for (int i = 0; i < field_count; i++) {
        const dls_field *field = &fields[i];
        const char *member = (const char *)options + field->offset;
        if (field->type == DLS_FIELD_NAME && !memchr(member, 0, DLS_NAME_SIZE))
            return dls_fail(error, DLS_ERROR_ARGUMENT, "%s has no end, expected at most %d letters",
                            field->key, DLS_NAME_SIZE - 1);
        dls_status status = field->type == DLS_FIELD_NAME ? check_name(field, member, error) : DLS_OK;
        if (status) return status;
        bool choice = field->type == DLS_FIELD_CHOICE;
        if (!choice && !dls_field_is_number(field)) continue;
        double value = choice || field->type == DLS_FIELD_INT ? *(const int *)(const void *)member
                                                              : *(const double *)(const void *)member;
        double low = choice ? 0 : field->low, high = choice ? choice_count(field->choices) - 1 : field->high;
        if (!(value >= low && value <= high))
            return dls_fail(error, DLS_ERROR_ARGUMENT, "%s is %g, expected %s%g to %g", field->key, value,
                            choice ? "a choice from " : "", low, high);
    }
    return DLS_OK;
}

void dls_field_print(const dls_field *field, const void *options, char *text, size_t text_size) {
    const char *member = (const char *)options + field->offset;
    switch (field->type) {
    case DLS_FIELD_INT:
        snprintf(text, text_size, "%d", *(const int *)member);
        break;
    case DLS_FIELD_REAL:
    case DLS_FIELD_WHOLE: {
        double value = *(const double *)member;
        snprintf(text, text_size, "%g", value);
        if (strtod(text, NULL) != value) snprintf(text, text_size, "%.17g", value);
        break;
    }
    case DLS_FIELD_NAME:
        snprintf(text, text_size, "%.*s", DLS_NAME_SIZE - 1, member);
        break;
    case DLS_FIELD_BOOL:
        snprintf(text, text_size, "%s", *(const bool *)member ? "yes" : "no");
        break;
    case DLS_FIELD_CHOICE: {
        const char *at = field->choices;
        for (int i = *(const int *)member; i > 0 && at; i--) {
            at = strchr(at, '|');
            if (at) at++;
        }
        int size = at ? (int)strcspn(at, "|") : 0;
        snprintf(text, text_size, "%.*s", size, at ? at : "");
        break;
    }
    case DLS_FIELD_TEXT: {
        const char *value = *(const char *const *)(const void *)member;
        snprintf(text, text_size, "%s", value ? value : "");
        break;
    }
    case DLS_FIELD_VECTOR: {
        const double *x = (const void *)member;
        snprintf(text, text_size, "[%g, %g, %g]", x[0], x[1], x[2]);
        break;
    }
    case DLS_FIELD_OWN:
        snprintf(text, text_size, "%s", "");
        break;
    }
}

/* Options by name: text in, text out, with the table as the only list. */
#include "base/field.h"
#include "base/error.h"

#include <errno.h>
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

static dls_status set_number(const dls_field *field, void *member, const char *value, dls_error *error) {
    char *end;
    errno = 0;
    double number = strtod(value, &end);
    bool whole = field->type != DLS_FIELD_INT || number == floor(number);
    bool vanished = errno == ERANGE && number == 0; /* subnormal numbers raise ERANGE too, and are fine */
    if (end == value || *end || vanished || !whole || !(number >= field->low && number <= field->high))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "%s: '%s' is not %s from %g to %g", field->key, value,
                        field->type == DLS_FIELD_INT ? "a whole number" : "a number", field->low,
                        field->high);
    if (field->type == DLS_FIELD_INT)
        *(int *)member = (int)number;
    else
        *(double *)member = number;
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
    if (field->type == DLS_FIELD_INT || field->type == DLS_FIELD_REAL)
        return set_number(field, member, value, error);
    if (field->type == DLS_FIELD_NAME) {
        if (strlen(value) >= DLS_NAME_SIZE)
            return dls_fail(error, DLS_ERROR_ARGUMENT,
                            "%s: '%.60s' is longer than a name, at most %d letters", key, value,
                            DLS_NAME_SIZE - 1);
        dls_status status = check_name(field, value, error);
        if (status) return status;
        memmove(member, value, strlen(value) + 1); /* it may be the member itself */
        return DLS_OK;
    }
    const char *choices = field->type == DLS_FIELD_BOOL ? "no|yes" : field->choices;
    int index = choice_index(choices, value);
    if (index < 0 && field->type == DLS_FIELD_BOOL) index = choice_index("false|true", value);
    if (index < 0)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "%s: '%s' is not one of %s%s", key, value, choices,
                        dls_field_hint(field, value, hint, sizeof hint));
    if (field->type == DLS_FIELD_BOOL)
        *(bool *)member = index == 1;
    else
        *(int *)member = index;
    return DLS_OK;
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
        if (field->type == DLS_FIELD_BOOL || field->type == DLS_FIELD_NAME) continue;
        bool choice = field->type == DLS_FIELD_CHOICE;
        double value = field->type == DLS_FIELD_REAL ? *(const double *)member : *(const int *)member;
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
    case DLS_FIELD_REAL: {
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
    }
}

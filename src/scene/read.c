/* Values and groups. Every message says what was found and what was expected. */
#include "scene/read.h"

#include "base/error.h"
#include "base/field.h"
#include "base/vector.h"
#include "world/function/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

dls_status dls_read_blame(const dls_node *node, dls_error *error) {
    if (!error || error->status == DLS_ERROR_MEMORY) return error ? error->status : DLS_ERROR_INPUT;
    char message[sizeof error->message];
    memcpy(message, error->message, sizeof message);
    return dls_node_fail(node, error, "%s", message);
}

bool dls_text_uses_time(const char *text) {
    for (const char *at = text; *at;) {
        if (isdigit((unsigned char)*at) || *at == '.') { /* 1e5 is no name */
            char *end;
            strtod(at, &end);
            at = end > at ? end : at + 1;
        } else if (isalpha((unsigned char)*at) || *at == '_') {
            size_t length = 1;
            while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
            if (length == 1 && *at == 't') return true;
            at += length;
        } else {
            at++;
        }
    }
    return false;
}

/* Most numbers are plain: no expression is made for them. */
static bool plain_number(const char *text, double *value) {
    char *end;
    if (!isdigit((unsigned char)*text) && !strchr("+-.", *text)) return false;
    *value = strtod(text, &end);
    return end != text && !*end;
}

/* The function of an expression; the message quotes it and says what it is for. */
static dls_status compile(dls_reader *reader, const dls_node *node, const char *what, const char *expected,
                          dls_function **function) {
    dls_constants constants = {reader->name_count, reader->names, reader->values};
    dls_error inner;
    dls_status status = dls_function_compile(node->text, &constants, function, &inner);
    if (status == DLS_ERROR_MEMORY) return dls_fail_memory(reader->error);
    if (!status) return DLS_OK;
    return dls_node_fail(node, reader->error, "%s is '%.60s', expected %s: %.200s", what, node->text,
                         expected, inner.message);
}

dls_status dls_read_number(dls_reader *reader, const dls_node *node, const char *what, const char *expected,
                           double *value) {
    if (node->kind != DLS_NODE_SCALAR)
        return dls_node_fail(node, reader->error, "%s is %s, expected %s", what, dls_node_noun(node),
                             expected);
    const char *text = node->text;
    if (!plain_number(text, value)) {
        if (!*text) return dls_node_fail(node, reader->error, "%s is empty, expected %s", what, expected);
        if (dls_text_uses_time(text))
            return dls_node_fail(node, reader->error,
                                 "%s is '%.60s', expected %s; t is known in functions of time only", what,
                                 text, expected);
        dls_function *function;
        dls_status status = compile(reader, node, what, expected, &function);
        if (status) return status;
        *value = dls_function_value(function, 0);
        dls_function_destroy(function);
    }
    if (!isfinite(*value))
        return dls_node_fail(node, reader->error, "%s is '%.60s', not finite, expected %s", what, text,
                             expected);
    return DLS_OK;
}

dls_status dls_read_numbers(dls_reader *reader, const dls_node *node, const char *what, int low, int high,
                            double *values, int *count) {
    char expected[64];
    if (low == high)
        snprintf(expected, sizeof expected, "a list of %d numbers", low);
    else
        snprintf(expected, sizeof expected, "a list of %d to %d numbers", low, high);
    if (node->kind != DLS_NODE_LIST)
        return dls_node_fail(node, reader->error, "%s is %s, expected %s", what, dls_node_noun(node),
                             expected);
    if (node->count < low || node->count > high)
        return dls_node_fail(node, reader->error, "%s has %d entries, expected %s", what, node->count,
                             expected);
    int k = 0;
    for (const dls_node *child = node->first; child; child = child->next) {
        dls_status status = dls_read_number(reader, child, what, "a number", &values[k++]);
        if (status) return status;
    }
    if (count) *count = k;
    return DLS_OK;
}

dls_status dls_read_vector(dls_reader *reader, const dls_node *node, const char *what, double *value) {
    double numbers[3] = {0};
    bool planar = reader->dimension == 2;
    if (node->kind == DLS_NODE_SCALAR && *node->text)
        return dls_node_fail(node, reader->error, "%s is '%.60s', expected %s", what, node->text,
                             planar ? "[x, y]" : "[x, y, z]");
    if (node->kind != DLS_NODE_LIST || node->count > 3 || node->count < reader->dimension)
        return dls_node_fail(node, reader->error, "%s is %s of %d, expected %s", what,
                             node->kind == DLS_NODE_LIST ? "a list" : dls_node_noun(node),
                             node->kind == DLS_NODE_SCALAR ? 1 : node->count,
                             planar ? "[x, y]" : "[x, y, z]");
    dls_status status = dls_read_numbers(reader, node, what, reader->dimension, 3, numbers, NULL);
    if (status) return status;
    if (planar && numbers[2] != 0)
        return dls_node_fail(node, reader->error, "%s has z = %g, expected [x, y] in the plane", what,
                             numbers[2]);
    vec_copy(value, numbers);
    return DLS_OK;
}

dls_status dls_read_list(dls_reader *reader, const dls_node *node, const char *what, const double **values,
                         int *count) {
    if (node->kind != DLS_NODE_LIST || node->count == 0)
        return dls_node_fail(node, reader->error, "%s is %s, expected a list of numbers", what,
                             node->kind == DLS_NODE_LIST ? "empty" : dls_node_noun(node));
    double *numbers = dls_arena_take(reader->arena, (size_t)node->count, sizeof(double));
    if (!numbers) return dls_fail_memory(reader->error);
    *values = numbers;
    *count = node->count;
    return dls_read_numbers(reader, node, what, node->count, node->count, numbers, NULL);
}

/* ---- functions of time, rotations, names ---- */

typedef struct function_text {
    const dls_node *t, *value;
} function_text;

static const dls_key function_keys[] = {
    {DLS_KEY("t", DLS_KEY_NODE, offsetof(function_text, t), "s", "times, ascending", "list of numbers"), NULL,
     true, 0},
    {DLS_KEY("value", DLS_KEY_NODE, offsetof(function_text, value), "",
             "values there, straight lines between", "list of numbers"),
     NULL, true, 0},
};

const dls_group dls_group_function = {"function",
                                      "a function of time",
                                      "A function of time is a number, an expression in `t` "
                                      "(`0.1*sin(2*pi*t)`), the name of one of the scene's `functions`, or "
                                      "this table. Beyond its ends a "
                                      "table keeps its first and last value.",
                                      DLS_GROUP_KEYS(function_keys),
                                      sizeof(function_text),
                                      NULL};

static dls_status read_table(dls_reader *reader, const dls_node *node, dls_function **function) {
    function_text text;
    dls_status status = dls_read_group(reader, node, &dls_group_function, 0, NULL, &text);
    if (status) return status;
    const double *t, *value;
    int t_count, value_count;
    if ((status = dls_read_list(reader, text.t, "t", &t, &t_count))) return status;
    if ((status = dls_read_list(reader, text.value, "value", &value, &value_count))) return status;
    if (t_count != value_count)
        return dls_node_fail(node, reader->error, "%d times and %d values, expected as many of both", t_count,
                             value_count);
    status = dls_function_table(t_count, t, value, function, reader->error);
    return status ? dls_read_blame(text.t, reader->error) : DLS_OK;
}

const dls_node *dls_function_named(const dls_reader *reader, const char *name) {
    for (const dls_named_function *f = reader->functions; f; f = f->next)
        if (!strcmp(f->node->key, name)) return f->node;
    return NULL;
}

/* Each names one above it, so there is an end. */
static const dls_node *find_named(const dls_reader *reader, const dls_node *node) {
    return node->kind == DLS_NODE_SCALAR ? dls_function_named(reader, node->text) : NULL;
}

dls_status dls_read_function(dls_reader *reader, const dls_node *node, const char *what,
                             dls_function **function) {
    static const char expected[] = "a number, an expression in t or a table {t: [...], value: [...]}";
    *function = NULL;
    for (const dls_node *named; (named = find_named(reader, node)); node = named) continue;
    if (node->kind == DLS_NODE_MAP) return read_table(reader, node, function);
    if (node->kind != DLS_NODE_SCALAR || !*node->text)
        return dls_node_fail(node, reader->error, "%s is %s, expected %s", what,
                             node->kind == DLS_NODE_SCALAR ? "empty" : dls_node_noun(node), expected);
    if (!dls_text_uses_time(node->text)) {
        double value;
        dls_status status = dls_read_number(reader, node, what, expected, &value);
        return status ? status : dls_function_constant(value, function, reader->error);
    }
    dls_status status = compile(reader, node, what, expected, function);
    if (status) return status;
    double start = dls_function_value(*function, 0);
    if (isfinite(start)) return DLS_OK;
    dls_function_destroy(*function);
    *function = NULL;
    return dls_node_fail(node, reader->error, "%s is '%.60s', which is %g at t = 0, expected a finite value",
                         what, node->text, start);
}

typedef struct rotation_text {
    double axis[3], angle;
} rotation_text;

static const dls_key rotation_keys[] = {
    {DLS_KEY("axis", DLS_KEY_VECTOR, offsetof(rotation_text, axis), "", "direction of the axis, any length",
             NULL),
     NULL, true, 0},
    {DLS_KEY("angle", DLS_KEY_REAL, offsetof(rotation_text, angle), "rad",
             "about it; 90*deg is a right angle", NULL),
     NULL, true, 0},
};

const dls_group dls_group_rotation = {"rotation",
                                      "a rotation",
                                      "In the plane a rotation is one angle in rad. In space it is this map "
                                      "or a quaternion `[w, x, y, z]`, which is "
                                      "brought to length 1.",
                                      DLS_GROUP_KEYS(rotation_keys),
                                      sizeof(rotation_text),
                                      NULL};

static dls_status read_quaternion(dls_reader *reader, const dls_node *node, double *q) {
    dls_status status = dls_read_numbers(reader, node, "rotation", 4, 4, q, NULL);
    if (status) return status;
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(length > 1e-100 && length < 1e100))
        return dls_node_fail(node, reader->error, "rotation has length %g, expected a unit quaternion",
                             length);
    quat_normalize(q);
    return DLS_OK;
}

dls_status dls_read_rotation(dls_reader *reader, const dls_node *node, double *q) {
    double turn[3] = {0};
    q[0] = 1, q[1] = q[2] = q[3] = 0;
    if (!node) return DLS_OK;
    if (node->kind == DLS_NODE_LIST && reader->dimension == 3) return read_quaternion(reader, node, q);
    if (node->kind == DLS_NODE_MAP && reader->dimension == 3) {
        rotation_text text;
        dls_status status = dls_read_group(reader, node, &dls_group_rotation, 0, NULL, &text);
        if (status) return status;
        double length = vec_norm(text.axis);
        if (!(length > 0 && isfinite(length)))
            return dls_node_fail(node, reader->error, "axis is (0, 0, 0), expected a direction");
        vec_scale(turn, text.angle / length, text.axis);
        if ((status = dls_doubt_angle(reader, dls_node_find(node, "angle"), text.angle))) return status;
    } else if (reader->dimension == 3) {
        return dls_node_fail(node, reader->error,
                             "rotation is '%.60s', expected {axis: [x, y, z], angle: a} or [w, x, y, z]",
                             node->text);
    } else {
        dls_status status = dls_read_number(reader, node, "rotation", "an angle in rad", &turn[2]);
        if (!status) status = dls_doubt_angle(reader, node, turn[2]);
        if (status) return status;
    }
    quat_exponential(q, turn);
    quat_normalize(q);
    return DLS_OK;
}

void dls_list_word(dls_word_list *list, const char *word) {
    static const char more[] = ", …";
    size_t length = strlen(word) + (list->used ? 2 : 0), size = sizeof list->text - sizeof more;
    if (list->used > size) return;
    bool fits = list->used + length <= size;
    const char *between = list->used ? ", " : "";
    int written = fits ? snprintf(list->text + list->used, length + 1, "%s%s", between, word)
                       : snprintf(list->text + list->used, sizeof more, "%s", more);
    list->used = fits ? list->used + (size_t)written : sizeof list->text;
}

int dls_read_name(dls_reader *reader, const dls_node *node, const char *text, const char *noun, int count,
                  const char *const *names) {
    char hint[100];
    dls_word_list known = {0};
    dls_nearest nearest = dls_nearest_begin(text);
    for (int i = 0; i < count; i++) {
        if (!strcmp(names[i], text)) return i;
        dls_nearest_offer(&nearest, names[i]);
        dls_list_word(&known, names[i]);
    }
    dls_nearest_hint(&nearest, hint, sizeof hint);
    dls_node_fail(node, reader->error, "no %s '%.60s'%s%s", noun, text,
                  *hint   ? hint
                  : count ? ", expected one of "
                          : "",
                  *hint ? "" : known.text);
    return -1;
}

/* ---- groups ---- */

/* In the plane vectors have two numbers. */
static const char *expected_of(const dls_reader *reader, const dls_field *field, char *text, size_t size) {
    if (field->type == DLS_FIELD_VECTOR && reader->dimension == 2) return "[x, y]";
    return dls_field_expected(field, text, size);
}

static dls_status read_word(dls_reader *reader, const dls_node *node, const dls_field *field, void *target) {
    char expected[200], hint[100];
    const char *one_of = field->type == DLS_FIELD_CHOICE ? "one of " : "";
    dls_field_expected(field, expected, sizeof expected);
    if (node->kind != DLS_NODE_SCALAR)
        return dls_node_fail(node, reader->error, "%s is %s, expected %s%s", field->key, dls_node_noun(node),
                             one_of, expected);
    if (!dls_field_set(field, 1, target, field->key, node->text, NULL)) return DLS_OK;
    return dls_node_fail(node, reader->error, "%s is '%.60s', expected %s%s%s", field->key, node->text,
                         one_of, expected, dls_field_hint(field, node->text, hint, sizeof hint));
}

static dls_status read_key(dls_reader *reader, const dls_node *node, const dls_field *field, void *target) {
    char *member = (char *)target + field->offset;
    if (field->type == DLS_FIELD_OWN) {
        *(const dls_node **)(void *)member = node;
        return DLS_OK;
    }
    if (field->type == DLS_FIELD_VECTOR)
        return dls_read_vector(reader, node, field->key, (double *)(void *)member);
    if (!dls_field_is_number(field)) return read_word(reader, node, field, target);
    double value;
    char expected[100];
    dls_field_expected(field, expected, sizeof expected);
    dls_status status = dls_read_number(reader, node, field->key, expected, &value);
    if (status) return status;
    if (!dls_field_fits(field, value))
        return dls_node_fail(node, reader->error, "%s is %.12g, expected %s", field->key, value, expected);
    *(double *)(void *)member = value;
    return DLS_OK;
}

static bool key_fits(const dls_key *key, uint32_t kind) { return !key->kinds || !kind || key->kinds & kind; }

static dls_status refuse_key(dls_reader *reader, const dls_node *child, const dls_group *group, uint32_t kind,
                             const char *noun) {
    char hint[100];
    dls_nearest nearest = dls_nearest_begin(child->key);
    if (strpbrk(child->key, "()*/"))
        return dls_node_fail(
            child, reader->error,
            "unknown key '%.60s' in %s; inside { } and [ ] an expression with a comma needs quotes",
            child->key, noun);
    for (int i = 0; i < group->key_count; i++)
        if (key_fits(&group->keys[i], kind)) dls_nearest_offer(&nearest, group->keys[i].field.key);
    dls_nearest_hint(&nearest, hint, sizeof hint);
    if (*hint)
        return dls_node_fail(child, reader->error, "unknown key '%.60s' in %s%s", child->key, noun, hint);
    dls_word_list known = {0};
    for (int i = 0; i < group->key_count; i++)
        if (key_fits(&group->keys[i], kind)) dls_list_word(&known, group->keys[i].field.key);
    return dls_node_fail(child, reader->error, "unknown key '%.60s' in %s, expected one of %s", child->key,
                         noun, known.text);
}

static const dls_key *find_key(const dls_group *group, uint32_t kind, const char *key) {
    for (int i = 0; i < group->key_count; i++)
        if (!strcmp(group->keys[i].field.key, key) && key_fits(&group->keys[i], kind)) return &group->keys[i];
    return NULL;
}

dls_status dls_read_group(dls_reader *reader, const dls_node *map, const dls_group *group, uint32_t kind,
                          const char *noun, void *target) {
    if (!noun) noun = group->noun;
    memset(target, 0, group->size);
    if (group->defaults) group->defaults(target);
    if (map->kind != DLS_NODE_MAP)
        return dls_node_fail(map, reader->error, "%s is %s, expected a map of keys", noun,
                             map->kind == DLS_NODE_SCALAR && !*map->text ? "empty" : dls_node_noun(map));
    for (const dls_node *child = map->first; child; child = child->next) {
        const dls_key *key = find_key(group, kind, child->key);
        if (!key) return refuse_key(reader, child, group, kind, noun);
        dls_status status = read_key(reader, child, &key->field, target);
        if (status) return status;
    }
    for (int i = 0; i < group->key_count; i++) {
        const dls_field *field = &group->keys[i].field;
        char expected[200];
        if (!group->keys[i].needed || !key_fits(&group->keys[i], kind) || dls_node_find(map, field->key))
            continue;
        return dls_node_fail(map, reader->error, "%s has no '%s', expected %s%s%s%s", noun, field->key,
                             expected_of(reader, field, expected, sizeof expected), *field->unit ? " (" : "",
                             field->unit, *field->unit ? ")" : "");
    }
    return DLS_OK;
}

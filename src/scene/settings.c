/* `--set path=value`: changes the tree before it is read, so that the tables check both alike. */
#include "scene/read.h"

#include "base/error.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct setting {
    dls_arena *arena;
    dls_error *error;
    const dls_source *source;
    const char *whole; /* the path, for messages */
} setting;

static dls_status refuse(const setting *s, const char *what, const char *part, const char *rest) {
    return dls_fail(s->error, DLS_ERROR_INPUT, "--set %.100s: %s '%.60s'%s", s->source->name, what, part,
                    rest);
}

/* Names that a file chooses: a setting may change them but not invent one, for that is a slip of the pen. */
static bool is_free_map(const dls_node *map) {
    return map->key && (!strcmp(map->key, "variables") || !strcmp(map->key, "materials") ||
                        !strcmp(map->key, "functions") || !strcmp(map->key, "frames"));
}

static dls_status refuse_name(const setting *s, const dls_node *map, const char *part) {
    char hint[100];
    dls_nearest nearest = dls_nearest_begin(part);
    for (const dls_node *child = map->first; child; child = child->next)
        dls_nearest_offer(&nearest, child->key);
    dls_nearest_hint(&nearest, hint, sizeof hint);
    char what[40];
    snprintf(what, sizeof what, "the scene has no %.*s", (int)strlen(map->key) - 1, map->key);
    return refuse(s, what, part, hint);
}

/* An entry of a list: by number from 0, or by the name that it holds. */
static dls_node *find_entry(const dls_node *list, const char *part) {
    char *end;
    long number = isdigit((unsigned char)*part) ? strtol(part, &end, 10) : -1;
    bool by_number = number >= 0 && !*end;
    for (dls_node *child = list->first; child; child = child->next) {
        const dls_node *name = dls_node_find(child, "name");
        if (by_number ? number-- == 0 : name && name->text && !strcmp(name->text, part)) return child;
    }
    return NULL;
}

static dls_status refuse_entry(const setting *s, const dls_node *list, const char *part) {
    char hint[100];
    dls_nearest nearest = dls_nearest_begin(part);
    for (const dls_node *child = list->first; child; child = child->next) {
        const dls_node *name = child->kind == DLS_NODE_MAP ? dls_node_find(child, "name") : NULL;
        if (name && name->text) dls_nearest_offer(&nearest, name->text);
    }
    dls_nearest_hint(&nearest, hint, sizeof hint);
    return refuse(s, "no entry", part, *hint ? hint : ", expected a number from 0 or the name of one");
}

/* The child that a part of the path names; in a map it is made where it is missing. */
static dls_status descend(const setting *s, dls_node *node, const char *part, dls_node **child) {
    if (!*part) return refuse(s, "an empty name in", s->whole, ", expected names with dots between");
    if (node->kind == DLS_NODE_SCALAR)
        return refuse(s, "nothing lies below a plain value, found", part, ", expected a shorter path");
    if (node->kind == DLS_NODE_LIST) {
        *child = find_entry(node, part);
        if (*child) return DLS_OK;
        return refuse_entry(s, node, part);
    }
    *child = dls_node_find(node, part);
    if (*child) return DLS_OK;
    if (is_free_map(node)) return refuse_name(s, node, part);
    dls_node *made = dls_arena_take(s->arena, 1, sizeof *made);
    const char *key = dls_arena_text(s->arena, part, strlen(part));
    if (!made || !key) return dls_fail_memory(s->error);
    *made = (dls_node){.kind = DLS_NODE_MAP, .line = 1, .source = s->source, .key = key};
    dls_node_append(node, made);
    *child = made;
    return DLS_OK;
}

/* The value takes the node's place among its neighbours. */
static void replace(dls_node *node, const dls_node *value) {
    const char *key = node->key;
    dls_node *next = node->next;
    *node = *value;
    node->key = key;
    node->next = next;
}

dls_status dls_setting_apply(dls_arena *arena, dls_node *root, const char *text, dls_error *error) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return dls_fail(error, DLS_ERROR_INPUT,
                        "--set '%.100s', expected path=value, for example time.step=1e-4", text);
    dls_source *source = dls_arena_take(arena, 1, sizeof *source);
    char *path = dls_arena_text(arena, text, (size_t)(equals - text));
    char *name = dls_arena_text(arena, text, strlen(text));
    if (!source || !path || !name) return dls_fail_memory(error);
    *source = (dls_source){name, true};
    setting s = {arena, error, source, name};
    dls_node *value, *node = root;
    dls_status status = dls_node_parse(arena, source, equals + 1, strlen(equals + 1), &value, error);
    while (!status && path) {
        char *dot = strchr(path, '.');
        if (dot) *dot = '\0';
        status = descend(&s, node, path, &node);
        path = dot ? dot + 1 : NULL;
    }
    if (!status) replace(node, value);
    return status;
}

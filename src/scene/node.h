/* A scene's text as a tree: every value knows the line that it stands on. */
#ifndef SCENE_NODE_H
#define SCENE_NODE_H

#include <delassus/base.h>

/* ---- memory that lives as long as the scene ---- */

typedef struct dls_arena {
    struct dls_arena_block *last;
} dls_arena;

void *dls_arena_take(dls_arena *arena, size_t count, size_t size); /* zeroed; NULL when memory is out */
char *dls_arena_text(dls_arena *arena, const char *text, size_t length);
void dls_arena_release(dls_arena *arena);

/* ---- nodes ---- */

typedef enum dls_node_kind { DLS_NODE_SCALAR = 0, DLS_NODE_LIST, DLS_NODE_MAP } dls_node_kind;

/* Where text comes from: a file, or one `--set` of the command line. */
typedef struct dls_source {
    const char *name;
    bool is_setting;
} dls_source;

typedef struct dls_node {
    dls_node_kind kind;
    int line;
    const dls_source *source;
    const char *key;  /* in the map that holds it, else NULL */
    const char *text; /* of a scalar */
    int count;        /* of children */
    struct dls_node *first, *last, *next;
} dls_node;

enum { DLS_NODE_DEPTH = 32, DLS_NODE_KEYS = 2000, DLS_SCENE_BYTES = 64 << 20 };

/* Reads one YAML document. Anchors, aliases, merges, tags, several documents and repeated keys are refused.
 */
dls_status dls_node_parse(dls_arena *arena, const dls_source *source, const char *text, size_t size,
                          dls_node **root, dls_error *error);

dls_node *dls_node_find(const dls_node *map, const char *key); /* NULL when there is none */
void dls_node_append(dls_node *parent, dls_node *child);
const char *dls_node_noun(const dls_node *node); /* "a text", "a list", "a map" */

/* "file:line: …", or "--set path=value: …" for what the command line said. */
dls_status dls_node_fail(const dls_node *node, dls_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

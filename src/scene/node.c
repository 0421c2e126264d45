/* YAML events to nodes. libyaml reads as a stream, so that limits hold before anything is stored. */
#include "scene/node.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

/* ---- arena ---- */

struct dls_arena_block {
    struct dls_arena_block *before;
    size_t used, size;
};

enum { BLOCK_HEAD = 64, BLOCK_BYTES = 1 << 16 };

void *dls_arena_take(dls_arena *arena, size_t count, size_t size) {
    if (size && count > SIZE_MAX / 4 / size) return NULL;
    size_t bytes = (count * size + 15) & ~(size_t)15;
    struct dls_arena_block *block = arena->last;
    if (!block || block->size - block->used < bytes) {
        size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        block = dls_alloc(BLOCK_HEAD + room, 1);
        if (!block) return NULL;
        *block = (struct dls_arena_block){arena->last, 0, room};
        arena->last = block;
    }
    char *taken = (char *)block + BLOCK_HEAD + block->used;
    block->used += bytes;
    return memset(taken, 0, bytes);
}

char *dls_arena_text(dls_arena *arena, const char *text, size_t length) {
    char *copy = dls_arena_take(arena, length + 1, 1);
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

void dls_arena_release(dls_arena *arena) {
    while (arena->last) {
        struct dls_arena_block *block = arena->last;
        arena->last = block->before;
        dls_free(block);
    }
}

/* ---- nodes ---- */

dls_node *dls_node_find(const dls_node *map, const char *key) {
    if (!map || map->kind != DLS_NODE_MAP) return NULL;
    for (dls_node *child = map->first; child; child = child->next)
        if (!strcmp(child->key, key)) return child;
    return NULL;
}

void dls_node_append(dls_node *parent, dls_node *child) {
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

const char *dls_node_noun(const dls_node *node) {
    static const char *const nouns[] = {"a text", "a list", "a map of keys"};
    if (node->kind == DLS_NODE_SCALAR && !*node->text) return "empty";
    return nouns[node->kind];
}

static dls_status fail_at(const dls_source *source, int line, dls_error *error, const char *message) {
    if (source->is_setting)
        return dls_fail(error, DLS_ERROR_INPUT, "--set %.100s: %s", source->name, message);
    return dls_fail(error, DLS_ERROR_INPUT, "%.200s:%d: %s", source->name, line, message);
}

dls_status dls_node_fail(const dls_node *node, dls_error *error, const char *format, ...) {
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return fail_at(node->source, node->line, error, message);
}

/* ---- parsing ---- */

typedef struct parse {
    dls_arena *arena;
    const dls_source *source;
    dls_error *error;
    const char *text;
    size_t size;
    yaml_parser_t yaml;
    dls_node *stack[DLS_NODE_DEPTH];
    int depth;
    const char *key; /* waits for its value */
    int key_line;
    dls_node *root;
} parse;

static dls_status refuse(const parse *p, size_t line, const char *message) {
    return fail_at(p->source, (int)line + 1, p->error, message);
}

static bool is_indented_by_tab(const parse *p, size_t line) {
    size_t at = 0;
    for (; at < p->size && line > 0; at++) line -= p->text[at] == '\n';
    while (at < p->size && p->text[at] == ' ') at++;
    return at < p->size && p->text[at] == '\t';
}

/* What libyaml says, with the line it says it of. */
static dls_status refuse_syntax(const parse *p) {
    const yaml_parser_t *yaml = &p->yaml;
    if (yaml->error == YAML_MEMORY_ERROR) return dls_fail_memory(p->error);
    char message[300];
    const char *problem = yaml->problem ? yaml->problem : "unreadable";
    bool tab = strstr(problem, "cannot start any token") && is_indented_by_tab(p, yaml->problem_mark.line);
    snprintf(message, sizeof message, "malformed YAML: %s%s%s", tab ? "a tab, expected blanks" : problem,
             yaml->context && !tab ? " " : "", yaml->context && !tab ? yaml->context : "");
    return refuse(p, yaml->problem_mark.line, message);
}

static bool key_is_due(const parse *p) {
    return p->depth > 0 && p->stack[p->depth - 1]->kind == DLS_NODE_MAP && !p->key;
}

static dls_status take_key(parse *p, const yaml_event_t *event) {
    size_t line = event->start_mark.line;
    const char *text = (const char *)event->data.scalar.value;
    const dls_node *map = p->stack[p->depth - 1];
    char message[200];
    if (!strcmp(text, "<<"))
        return refuse(p, line, "'<<' merges are not supported, expected a key; write the keys out");
    if (map->count >= DLS_NODE_KEYS) return refuse(p, line, "a map has too many keys, expected at most 2000");
    if (dls_node_find(map, text)) {
        snprintf(message, sizeof message, "key '%.60s' for the second time, expected each key once", text);
        return refuse(p, line, message);
    }
    p->key = dls_arena_text(p->arena, text, strlen(text));
    p->key_line = (int)line + 1;
    return p->key ? DLS_OK : dls_fail_memory(p->error);
}

/* A value: an entry of the container on top of the stack, or the root. */
static dls_status take_value(parse *p, const yaml_event_t *event, dls_node_kind kind, dls_node **made) {
    dls_node *node = dls_arena_take(p->arena, 1, sizeof *node);
    if (!node) return dls_fail_memory(p->error);
    *node =
        (dls_node){.kind = kind, .line = (int)event->start_mark.line + 1, .source = p->source, .key = p->key};
    if (p->key && kind != DLS_NODE_SCALAR) node->line = p->key_line; /* a block begins below its key */
    p->key = NULL;
    if (p->depth > 0)
        dls_node_append(p->stack[p->depth - 1], node);
    else
        p->root = node;
    *made = node;
    return DLS_OK;
}

static dls_status take_scalar(parse *p, const yaml_event_t *event) {
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length, line = event->start_mark.line;
    if (event->data.scalar.anchor)
        return refuse(p, line, "anchors (&name) are not supported; expected a value, try 'variables'");
    if (event->data.scalar.tag) return refuse(p, line, "tags (!name) are not supported; expected a value");
    if (memchr(text, '\0', length)) return refuse(p, line, "a text holds a zero byte, expected plain text");
    if (key_is_due(p)) return take_key(p, event);
    dls_node *node;
    dls_status status = take_value(p, event, DLS_NODE_SCALAR, &node);
    if (status) return status;
    node->text = dls_arena_text(p->arena, text, length);
    return node->text ? DLS_OK : dls_fail_memory(p->error);
}

static dls_status take_container(parse *p, const yaml_event_t *event, dls_node_kind kind) {
    bool list = kind == DLS_NODE_LIST;
    const void *anchor = list ? event->data.sequence_start.anchor : event->data.mapping_start.anchor;
    const void *tag = list ? event->data.sequence_start.tag : event->data.mapping_start.tag;
    size_t line = event->start_mark.line;
    if (anchor)
        return refuse(p, line, "anchors (&name) are not supported; expected a value, try 'variables'");
    if (tag) return refuse(p, line, "tags (!name) are not supported; expected a value");
    if (key_is_due(p)) return refuse(p, line, "a list or map as a key, expected a name");
    if (p->depth == DLS_NODE_DEPTH) return refuse(p, line, "nested too deep, expected at most 32 levels");
    dls_node *node;
    dls_status status = take_value(p, event, kind, &node);
    assert(p->depth < DLS_NODE_DEPTH);
    if (!status) p->stack[p->depth++] = node;
    return status;
}

static dls_status take_event(parse *p, const yaml_event_t *event) {
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return take_scalar(p, event);
    case YAML_SEQUENCE_START_EVENT:
        return take_container(p, event, DLS_NODE_LIST);
    case YAML_MAPPING_START_EVENT:
        return take_container(p, event, DLS_NODE_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        assert(p->depth > 0 && !p->key);
        p->depth--;
        return DLS_OK;
    case YAML_ALIAS_EVENT:
        return refuse(p, event->start_mark.line,
                      "aliases (*name) are not supported; expected a value, try 'variables'");
    case YAML_DOCUMENT_START_EVENT:
        if (p->root) return refuse(p, event->start_mark.line, "a second document, expected one per file");
        return DLS_OK;
    default:
        return DLS_OK;
    }
}

static dls_status take_events(parse *p) {
    for (bool done = false; !done;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&p->yaml, &event)) return refuse_syntax(p);
        done = event.type == YAML_STREAM_END_EVENT;
        dls_status status = take_event(p, &event);
        yaml_event_delete(&event);
        if (status) return status;
    }
    return p->root ? DLS_OK : refuse(p, 0, "nothing but comments, expected keys");
}

dls_status dls_node_parse(dls_arena *arena, const dls_source *source, const char *text, size_t size,
                          dls_node **root, dls_error *error) {
    parse p = {.arena = arena, .source = source, .error = error, .text = text, .size = size};
    *root = NULL;
    if (size > DLS_SCENE_BYTES)
        return dls_fail(error, DLS_ERROR_INPUT, "%.200s: %.1f MB, expected at most %d MB", source->name,
                        1e-6 * (double)size, DLS_SCENE_BYTES >> 20);
    if (!yaml_parser_initialize(&p.yaml)) return dls_fail_memory(error);
    yaml_parser_set_input_string(&p.yaml, (const unsigned char *)text, size);
    dls_status status = take_events(&p);
    yaml_parser_delete(&p.yaml);
    if (!status) *root = p.root;
    return status;
}

/* Gmsh's msh files, version 2.2 and 4.1, text and binary.
 *
 *     $Name … $EndName      sections; those that are not known are skipped
 *     Nodes, Elements       2.2: one list; 4.1: blocks, one for each entity
 *     Entities              4.1: which physical groups points, curves, surfaces and volumes belong to
 *     PhysicalNames         their names */
#include "scene/mesh/mesh.h"

#include "base/error.h"
#include "base/memory.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 40, MOST_TAGS = 1000 };

/* Physical groups of an entity. */
typedef struct entity {
    int dimension, number, group_count;
    int64_t first; /* in groups */
} entity;

typedef struct gmsh {
    dls_elements_text *t;
    const char *at, *end;
    char section[NAME_ROOM];
    int line; /* of text */
    bool binary, new_format, has_nodes, has_elements;
    int64_t entity_count, entity_room, group_count, group_room;
    entity *entities;
    int *groups;
} gmsh;

/* ---- what is read ---- */

static dls_status cut_off(gmsh *g) {
    g->t->line = g->binary ? 0 : g->line;
    return dls_text_refuse(g->t, "cut off in $%s, expected $End%s", g->section, g->section);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* To the next word of text. */
static void skip_blanks(gmsh *g) {
    for (; g->at < g->end && is_blank(*g->at); g->at++) g->line += *g->at == '\n';
}

/* What stands next, for messages. */
typedef struct gmsh_word {
    char text[21];
} gmsh_word;

static gmsh_word next_word(const gmsh *g) {
    gmsh_word word = {""};
    for (size_t k = 0; k + 1 < sizeof word.text && g->at + k < g->end && g->at[k] > ' ' && g->at[k] < 127;
         k++)
        word.text[k] = g->at[k];
    return word;
}

/* Where messages stand: the line of what is read next. */
static void mark(gmsh *g) {
    if (!g->binary) skip_blanks(g);
    g->t->line = g->binary ? 0 : g->line;
}

static dls_status take_bytes(gmsh *g, void *to, size_t size) {
    if ((size_t)(g->end - g->at) < size) return cut_off(g);
    memcpy(to, g->at, size);
    g->at += size;
    return DLS_OK;
}

/* A whole number of text, or one of so many bytes. */
static dls_status take_whole(gmsh *g, size_t bytes, int64_t *value) {
    *value = 0;
    if (g->binary) {
        int32_t narrow = 0;
        uint64_t wide = 0;
        dls_status status = bytes == 4 ? take_bytes(g, &narrow, 4) : take_bytes(g, &wide, 8);
        *value = bytes == 4 ? narrow : wide > INT64_MAX ? INT64_MAX : (int64_t)wide;
        return status;
    }
    char *stop;
    skip_blanks(g);
    g->t->line = g->line;
    if (g->at == g->end || *g->at == '$') return cut_off(g);
    *value = strtoll(g->at, &stop, 10);
    if (stop == g->at || (stop < g->end && !is_blank(*stop)))
        return dls_text_refuse(g->t, "'%s' in $%s, expected a whole number", next_word(g).text, g->section);
    g->at = stop;
    return DLS_OK;
}

static dls_status take_int(gmsh *g, int *value) {
    int64_t wide;
    dls_status status = take_whole(g, 4, &wide);
    *value = (int)(wide > INT_MAX ? INT_MAX : wide < INT_MIN ? INT_MIN : wide);
    return status;
}

/* How many things follow, none of which is shorter than so many bytes. */
static dls_status take_count(gmsh *g, size_t bytes, size_t least, int64_t *count) {
    dls_status status = take_whole(g, bytes, count);
    if (status) return status;
    if (*count < 0 || *count > (g->end - g->at) / (int64_t)least)
        return dls_text_refuse(g->t, "%lld of something in $%s, more than the file has bytes for",
                               (long long)*count, g->section);
    return DLS_OK;
}

static dls_status take_real(gmsh *g, double *value) {
    if (g->binary) return take_bytes(g, value, sizeof *value);
    char *stop;
    skip_blanks(g);
    g->t->line = g->line;
    if (g->at == g->end || *g->at == '$') return cut_off(g);
    *value = strtod(g->at, &stop);
    if (stop == g->at || (stop < g->end && !is_blank(*stop)))
        return dls_text_refuse(g->t, "'%s' in $%s, expected a number", next_word(g).text, g->section);
    g->at = stop;
    return DLS_OK;
}

/* ---- entities ---- */

static dls_status take_entity(gmsh *g, int dimension) {
    int64_t count = 0;
    int number = 0, bounds = dimension == 0 ? 3 : 6;
    double ignored;
    dls_status status = take_int(g, &number);
    for (int k = 0; k < bounds && !status; k++) status = take_real(g, &ignored);
    if (!status) status = take_count(g, 8, g->binary ? 4 : 2, &count);
    if (status) return status;
    if (!DLS_RESERVE(g->entities, g->entity_count, g->entity_room, g->entity_count + 1) ||
        !DLS_RESERVE(g->groups, g->group_count, g->group_room, g->group_count + count))
        return dls_fail_memory(g->t->error);
    if (count > MOST_TAGS)
        return dls_text_refuse(g->t, "an entity in %lld physical groups, expected at most %d",
                               (long long)count, MOST_TAGS);
    g->entities[g->entity_count++] = (entity){dimension, number, (int)count, g->group_count};
    for (int64_t k = 0; k < count && !status; k++) status = take_int(g, &g->groups[g->group_count++]);
    if (!status && dimension > 0) status = take_count(g, 8, g->binary ? 4 : 2, &count);
    for (int64_t k = 0; k < count && !status && dimension > 0; k++) status = take_int(g, &number);
    return status;
}

static int by_entity(const void *a, const void *b) {
    const entity *x = a, *y = b;
    if (x->dimension != y->dimension) return x->dimension < y->dimension ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static dls_status read_entities(gmsh *g) {
    int64_t counts[4] = {0};
    dls_status status = DLS_OK;
    for (int k = 0; k < 4 && !status; k++) status = take_count(g, 8, g->binary ? 36 : 8, &counts[k]);
    for (int k = 0; k < 4; k++)
        for (int64_t i = 0; i < counts[k] && !status; i++) status = take_entity(g, k);
    if (!status && g->entity_count)
        qsort(g->entities, (size_t)g->entity_count, sizeof *g->entities, by_entity);
    return status;
}

static const entity *find_entity(const gmsh *g, int dimension, int number) {
    entity key = {.dimension = dimension, .number = number};
    return g->entity_count
               ? bsearch(&key, g->entities, (size_t)g->entity_count, sizeof *g->entities, by_entity)
               : NULL;
}

/* How long a section is: a line of text where the format is old. */
static dls_status take_length(gmsh *g, size_t least, int64_t *count) {
    bool binary = g->binary;
    if (g->new_format || !binary) return take_count(g, 8, least, count);
    g->binary = false;
    dls_status status = take_count(g, 8, least, count);
    g->binary = binary;
    g->at += g->at < g->end && *g->at == '\r';
    g->at += g->at < g->end && *g->at == '\n';
    return status;
}

/* ---- nodes ---- */

static dls_status take_node(gmsh *g, int64_t number, int extras) {
    double X[3], ignored;
    dls_status status = DLS_OK;
    for (int k = 0; k < 3 && !status; k++) status = take_real(g, &X[k]);
    for (int k = 0; k < extras && !status; k++) status = take_real(g, &ignored);
    return status ? status : dls_text_add_node(g->t, number, X);
}

/* First all numbers, then all places; on curves, surfaces and in volumes parameters may follow each. */
static dls_status take_node_block(gmsh *g) {
    int dimension = 0, number = 0, parametric = 0;
    int64_t count = 0;
    dls_status status = take_int(g, &dimension);
    if (!status) status = take_int(g, &number);
    if (!status) status = take_int(g, &parametric);
    if (!status) status = take_count(g, 8, g->binary ? 32 : 8, &count);
    if (status) return status;
    if (dimension < 0 || dimension > 3)
        return dls_text_refuse(g->t, "an entity of dimension %d, expected 0 to 3", dimension);
    int64_t *numbers = DLS_NEW(int64_t, count);
    if (!numbers) return dls_fail_memory(g->t->error);
    for (int64_t i = 0; i < count && !status; i++) status = take_whole(g, 8, &numbers[i]);
    for (int64_t i = 0; i < count && !status; i++)
        status = take_node(g, numbers[i], parametric ? dimension : 0);
    dls_free(numbers);
    return status;
}

static dls_status read_nodes(gmsh *g) {
    int64_t blocks = 0, count = 0, ignored;
    dls_status status = take_length(g, g->binary ? 20 : 6, &blocks);
    if (status) return status;
    if (g->has_nodes) return dls_text_refuse(g->t, "$Nodes for the second time, expected them once");
    g->has_nodes = true;
    for (int k = 0; k < 3 && g->new_format && !status; k++) status = take_whole(g, 8, k ? &ignored : &count);
    for (int64_t i = 0; i < blocks && !status; i++) {
        int number;
        if (g->new_format) {
            status = take_node_block(g);
        } else {
            mark(g);
            status = take_int(g, &number);
            if (!status) status = take_node(g, number, 0);
        }
    }
    if (status) return status;
    if (g->new_format && count != g->t->node_count)
        return dls_text_refuse(g->t, "%lld nodes in $Nodes, which says %lld", (long long)g->t->node_count,
                               (long long)count);
    return dls_text_nodes_end(g->t);
}

/* ---- elements ---- */

static const dls_element_type *find_type(gmsh *g, int number, dls_status *status) {
    const dls_element_type *type = dls_element_type_find(DLS_TEXT_GMSH, number);
    *status = type ? DLS_OK
                   : dls_text_refuse(g->t,
                                     "elements of type %d, which is not known; expected tetrahedra of 4 or "
                                     "10 nodes (4, 11) or hexahedra of 8 (5)",
                                     number);
    return type;
}

static dls_status take_nodes(gmsh *g, const dls_element_type *type, size_t bytes, int64_t *nodes) {
    dls_status status = DLS_OK;
    for (int i = 0; i < type->nodes && !status; i++) status = take_whole(g, bytes, &nodes[i]);
    return status;
}

/* Its first tag is its physical group. */
static dls_status take_old_element(gmsh *g, const dls_element_type *type, int tags, int number) {
    int64_t nodes[DLS_MOST_CELL_NODES];
    int group = 0, ignored;
    dls_status status = DLS_OK;
    for (int k = 0; k < tags && !status; k++) status = take_int(g, k ? &ignored : &group);
    if (!status) status = take_nodes(g, type, 4, nodes);
    return status ? status : dls_text_add_cell(g->t, type, number, nodes, 1, &group);
}

static dls_status check_tags(gmsh *g, int tags) {
    if (tags >= 0 && tags <= MOST_TAGS) return DLS_OK;
    return dls_text_refuse(g->t, "an element with %d tags, expected 0 to %d", tags, MOST_TAGS);
}

/* Elements of one type in bytes, behind their type, how many they are, and how many tags each has. */
static dls_status take_old_block(gmsh *g, int64_t *left) {
    int head[3] = {0}, number;
    dls_status status = DLS_OK;
    for (int k = 0; k < 3 && !status; k++) status = take_int(g, &head[k]);
    if (status) return status;
    const dls_element_type *type = find_type(g, head[0], &status);
    if (!status) status = check_tags(g, head[2]);
    if (!status && (head[1] < 1 || head[1] > *left))
        status = dls_text_refuse(g->t, "%d elements in a block, expected 1 to the %lld that are left",
                                 head[1], (long long)*left);
    for (int i = 0; i < head[1] && !status; i++) {
        status = take_int(g, &number);
        if (!status) status = take_old_element(g, type, head[2], number);
    }
    *left -= head[1];
    return status;
}

static dls_status take_old_line(gmsh *g) {
    int number, of = 0, tags = 0;
    mark(g);
    dls_status status = take_int(g, &number);
    if (!status) status = take_int(g, &of);
    if (status) return status;
    const dls_element_type *type = find_type(g, of, &status);
    if (!status) status = take_int(g, &tags);
    if (!status) status = check_tags(g, tags);
    return status ? status : take_old_element(g, type, tags, number);
}

static dls_status take_new_block(gmsh *g) {
    int dimension = 0, number = 0, of = 0;
    int64_t count = 0, element, nodes[DLS_MOST_CELL_NODES];
    dls_status status = take_int(g, &dimension);
    if (!status) status = take_int(g, &number);
    if (!status) status = take_int(g, &of);
    if (!status) status = take_count(g, 8, g->binary ? 16 : 4, &count);
    if (status) return status;
    const dls_element_type *type = find_type(g, of, &status);
    const entity *whole = find_entity(g, dimension, number);
    int group_count = whole ? whole->group_count : 0;
    const int *groups = group_count ? g->groups + whole->first : NULL;
    for (int64_t i = 0; i < count && !status; i++) {
        mark(g);
        status = take_whole(g, 8, &element);
        if (!status) status = take_nodes(g, type, 8, nodes);
        if (!status) status = dls_text_add_cell(g->t, type, element, nodes, group_count, groups);
    }
    return status;
}

static dls_status read_elements(gmsh *g) {
    int64_t count = 0, ignored;
    mark(g);
    if (!g->has_nodes) return dls_text_refuse(g->t, "$Elements before $Nodes, expected nodes first");
    if (g->has_elements) return dls_text_refuse(g->t, "$Elements for the second time, expected them once");
    g->has_elements = true;
    dls_status status = take_length(g, g->binary ? 8 : 4, &count);
    for (int k = 0; k < 3 && g->new_format && !status; k++) status = take_whole(g, 8, &ignored);
    while (count > 0 && !status) {
        if (!g->new_format && g->binary) {
            status = take_old_block(g, &count);
            continue;
        }
        status = g->new_format ? take_new_block(g) : take_old_line(g);
        count--;
    }
    return status;
}

/* ---- sections ---- */

static dls_status read_names(gmsh *g) {
    int64_t count;
    bool binary = g->binary;
    g->binary = false; /* names are text in both */
    dls_status status = take_count(g, 4, 4, &count);
    for (int64_t i = 0; i < count && !status; i++) {
        int dimension = 0, number = 0;
        status = take_int(g, &dimension);
        if (!status) status = take_int(g, &number);
        if (status) break;
        skip_blanks(g);
        const char *name = g->at + 1, *close = name;
        while (close < g->end && *close != '"' && *close != '\n') close++;
        if (g->at >= g->end || *g->at != '"' || close >= g->end || *close != '"')
            status = dls_text_refuse(g->t, "a physical group without a name, expected one in quotes");
        else
            status = dls_text_add_name(g->t, dimension, number, name, (size_t)(close - name));
        g->at = status ? g->at : close + 1;
    }
    g->binary = binary;
    return status;
}

static dls_status read_format(gmsh *g) {
    double version = 0;
    int kind = 0, size = 0, one = 0;
    g->binary = false;
    dls_status status = take_real(g, &version);
    if (!status) status = take_int(g, &kind);
    if (!status) status = take_int(g, &size);
    if (status) return status;
    g->new_format = version > 4.05 && version < 4.15;
    if (!g->new_format && !(version > 2.15 && version < 2.25))
        return dls_text_refuse(g->t, "a .msh file of version %.6g, expected 2.2 or 4.1", version);
    if ((kind != 0 && kind != 1) || size != 8)
        return dls_text_refuse(g->t, "file-type %d and data-size %d, expected 0 or 1 and 8", kind, size);
    if (!kind) return DLS_OK;
    g->at += g->at < g->end && *g->at == '\r';
    g->at += g->at < g->end && *g->at == '\n';
    g->line++;
    g->binary = true;
    status = take_bytes(g, &one, sizeof one);
    if (!status && one != 1)
        return dls_text_refuse(g->t, "bytes in another order, expected a file of a little-endian machine");
    return status;
}

/* "$Name"; false at the end of the file. */
static dls_status open_section(gmsh *g, bool *found) {
    skip_blanks(g);
    g->t->line = g->binary ? 0 : g->line;
    *found = g->at < g->end;
    if (!*found) return DLS_OK;
    size_t length = strcspn(g->at, " \t\r\n");
    if (*g->at != '$' || length < 2 || length >= NAME_ROOM)
        return dls_text_refuse(g->t, "'%s', expected a section like $Nodes", next_word(g).text);
    memcpy(g->section, g->at + 1, length - 1);
    g->section[length - 1] = 0;
    g->at += length;
    /* bytes begin behind the line's end */
    while (g->at < g->end && *g->at != '\n') g->at++;
    if (g->at < g->end) g->at++, g->line++;
    return DLS_OK;
}

/* Behind "$EndName", which stands next, or anywhere behind what is skipped. */
static dls_status close_section(gmsh *g, bool skip) {
    char close[NAME_ROOM + 4] = "$End";
    size_t length = strlen(g->section) + 4;
    memcpy(close + 4, g->section, length - 3);
    while (skip && g->at < g->end && strncmp(g->at, close, length) != 0) g->line += *g->at++ == '\n';
    skip_blanks(g);
    g->t->line = g->binary ? 0 : g->line;
    if (g->end - g->at < (int64_t)length) return cut_off(g);
    if (strncmp(g->at, close, length) != 0)
        return dls_text_refuse(g->t, "more in $%s than it says, expected %s", g->section, close);
    g->at += length;
    return DLS_OK;
}

static dls_status read_section(gmsh *g, bool *first) {
    const struct {
        const char *name;
        dls_status (*read)(gmsh *g);
        bool needed;
    } known[] = {{"MeshFormat", read_format, true},
                 {"PhysicalNames", read_names, false},
                 {"Entities", read_entities, false},
                 {"Nodes", read_nodes, false},
                 {"Elements", read_elements, false}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(known[k].name, g->section) != 0) continue;
        if (known[k].needed != *first)
            return dls_text_refuse(g->t, "$%s, expected $MeshFormat first, and once", g->section);
        *first = false;
        dls_status status = known[k].read(g);
        return status ? status : close_section(g, false);
    }
    if (*first) return dls_text_refuse(g->t, "$%s, expected $MeshFormat first, and once", g->section);
    return close_section(g, true);
}

dls_status dls_gmsh_read(dls_elements_text *t, const char *bytes, size_t size) {
    gmsh g = {.t = t, .at = bytes, .end = bytes + size, .line = 1};
    bool first = true, found = true;
    t->format = DLS_TEXT_GMSH;
    dls_status status = DLS_OK;
    while (!status && found) {
        status = open_section(&g, &found);
        if (!status && found) status = read_section(&g, &first);
    }
    t->line = 0;
    if (!status && first) status = dls_text_refuse(t, "empty, expected $MeshFormat");
    dls_free(g.entities);
    dls_free(g.groups);
    return status;
}

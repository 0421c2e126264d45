/* What a definition says of one block, and whether it makes sense. */
#ifndef PROBLEM_DEFINITION_H
#define PROBLEM_DEFINITION_H

#include <delassus/problem.h>

static inline int dls_def_kind(const dls_problem_def *def, int c) {
    return def->block_kind ? def->block_kind[c] : DLS_CONTACT;
}

static inline int dls_parts_rows(uint8_t parts) { return (parts & 3) + (parts >> 2 & 3) + (parts >> 4 & 3); }

/* Rows of block c. */
static inline int dls_def_size(const dls_problem_def *def, int c) {
    if (def->block_size) return def->block_size[c];
    bool told = def->block_parts && dls_def_kind(def, c) == DLS_CONTACT;
    return told ? 1 + dls_parts_rows(def->block_parts[c]) : def->dimension;
}

/* Parts of contact c: those told, or all rows behind the normal one as a tangential part. */
static inline uint8_t dls_def_parts(const dls_problem_def *def, int c) {
    return def->block_parts ? def->block_parts[c] : DLS_PARTS(dls_def_size(def, c) - 1, 0, 0);
}

dls_status dls_def_check(const dls_problem_def *def, int64_t *rows, dls_error *error);

#endif

#include "support/permute.h"

#include "support/sample.h"

#include <stdlib.h>

int *random_places(dls_random *g, int blocks) {
    int *place = calloc((size_t)blocks + 1, sizeof(int));
    for (int c = 0; c < blocks; c++) {
        int other = (int)dls_random_below(g, (uint64_t)c + 1);
        place[c] = place[other];
        place[other] = c;
    }
    return place;
}

/* What the new problem is made of; place: of each scalar row. */
typedef struct parts {
    int *size, *place;
    uint8_t *kind;
    double *mu, *b, *W;
} parts;

static parts take_parts(const dls_problem *p) {
    size_t n = (size_t)dls_problem_row_count(p) + 1, blocks = (size_t)dls_problem_block_count(p) + 1;
    return (parts){.size = calloc(blocks, sizeof(int)),
                   .place = calloc(n, sizeof(int)),
                   .kind = calloc(blocks, 1),
                   .mu = calloc(blocks, sizeof(double)),
                   .b = calloc(n, sizeof(double)),
                   .W = calloc(n * n, sizeof(double))};
}

static void free_parts(parts *x) {
    free(x->size), free(x->place), free(x->kind), free(x->mu), free(x->b), free(x->W);
}

static void place_blocks(const dls_problem *p, const int *place, parts *x) {
    int blocks = dls_problem_block_count(p), *first = calloc((size_t)blocks + 2, sizeof(int));
    for (int c = 0; c < blocks; c++) {
        x->size[place[c]] = dls_problem_block_size(p, c);
        x->kind[place[c]] = (uint8_t)dls_problem_block_kind(p, c);
        x->mu[place[c]] = dls_problem_mu(p, c);
    }
    for (int c = 0; c < blocks; c++) first[c + 1] = first[c] + x->size[c];
    for (int c = 0; c < blocks; c++)
        for (int i = 0; i < dls_problem_block_size(p, c); i++) {
            int row = dls_problem_block_row(p, c) + i;
            x->place[row] = first[place[c]] + i;
            x->b[x->place[row]] = dls_problem_b(p)[row];
        }
    free(first);
}

dls_problem *permuted_problem(const dls_problem *p, const int *place) {
    int n = dls_problem_row_count(p);
    int64_t entries = dls_problem_export(p, NULL, NULL, NULL),
            *start = calloc((size_t)n + 1, sizeof(int64_t));
    int *column = calloc((size_t)entries + 1, sizeof(int));
    double *value = calloc((size_t)entries + 1, sizeof(double));
    parts x = take_parts(p);
    place_blocks(p, place, &x);
    dls_problem_export(p, start, column, value);
    for (int i = 0; i < n; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++) x.W[x.place[i] + n * x.place[column[k]]] = value[k];
    dls_problem_def def = {.block_count = dls_problem_block_count(p),
                           .block_size = x.size,
                           .block_kind = x.kind,
                           .mu = x.mu,
                           .b = x.b,
                           .reference_velocity = dls_problem_reference_velocity(p)};
    dls_problem *other = dense_problem(&def, n, x.W);
    free(start), free(column), free(value);
    free_parts(&x);
    return other;
}

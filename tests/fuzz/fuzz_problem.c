/* Bytes to a problem's definition: the validator must refuse it in one line, or make a problem that can be
 * judged, analysed and swept over without a crash. See make_corpus.c for the other direction. */
#include <delassus/problem.h>
#include <delassus/solve.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- what the bytes say; when they run out, zeros follow ---- */

typedef struct source {
    const uint8_t *data;
    size_t size;
} source;

static int take_byte(source *s) {
    if (!s->size) return 0;
    s->size--;
    return (int8_t)*s->data++;
}

static double take_real(source *s) {
    double value = 0;
    size_t count = s->size < sizeof value ? s->size : sizeof value;
    memcpy(&value, s->data, count);
    s->data += count;
    s->size -= count;
    return value;
}

/* Exactly as long as it must be, so that a sanitizer sees any step beyond. */
static double *take_reals(source *s, size_t count) {
    double *values = malloc(count * sizeof(double) + 1);
    for (size_t k = 0; k < count; k++) values[k] = take_real(s);
    return values;
}

/* ---- the definition ---- */

enum { MOST_BLOCKS = 12, MOST_ENTRIES = 40 };

typedef struct definition {
    dls_problem_def def;
    int size[MOST_BLOCKS];
    uint8_t kind[MOST_BLOCKS];
    size_t rows;
    double *mu, *b;
} definition;

/* Sizes and kinds may be anything; where they make no sense, nothing that depends on them may be read. */
static void take_definition(source *s, definition *d) {
    *d = (definition){.def = dls_default_problem_def()};
    int count = take_byte(s) % (MOST_BLOCKS + 1), flags = take_byte(s);
    d->def.block_count = count;
    d->def.dimension = take_byte(s);
    d->def.reference_velocity = flags & 4 ? take_real(s) : 0;
    for (int c = 0; c < count; c++) {
        d->size[c] = flags & 1 ? take_byte(s) : d->def.dimension;
        d->kind[c] = flags & 2 ? (uint8_t)take_byte(s) : DLS_CONTACT;
        d->rows += d->size[c] > 0 ? (size_t)d->size[c] : 0;
    }
    d->def.block_size = flags & 1 ? d->size : NULL;
    d->def.block_kind = flags & 2 ? d->kind : NULL;
    d->def.mu = d->mu = take_reals(s, count > 0 ? (size_t)count : 0);
    d->def.b = d->b = take_reals(s, d->rows);
}

/* Each row: how many entries, then a column and a value each. */
static dls_status create_stored(source *s, const definition *d, dls_problem **problem, dls_error *error) {
    int rows = (int)d->rows;
    size_t most = d->rows * MOST_ENTRIES;
    int64_t *start = malloc((d->rows + 1) * sizeof(int64_t));
    int *column = malloc(most * sizeof(int) + 1);
    double *value = malloc(most * sizeof(double) + 1);
    start[0] = 0;
    for (int i = 0; i < rows; i++) {
        start[i + 1] = start[i] + take_byte(s) % (MOST_ENTRIES + 1); /* may fall */
        for (int64_t k = start[i] < 0 ? 0 : start[i]; k < start[i + 1]; k++) {
            column[k] = take_byte(s);
            value[k] = take_real(s);
        }
    }
    size_t count = start[rows] > 0 ? (size_t)start[rows] : 0;
    column = realloc(column, count * sizeof(int) + 1);
    value = realloc(value, count * sizeof(double) + 1);
    dls_csr W = {rows, rows, start, column, value};
    dls_status status = dls_problem_create(&d->def, &W, problem, error);
    free(start);
    free(column);
    free(value);
    return status;
}

static dls_status create_bodies(source *s, const definition *d, dls_problem **problem, dls_error *error) {
    int count = take_byte(s) % 10, dof = take_byte(s) % 16, body[2 * MOST_BLOCKS];
    size_t bodies = count > 0 ? (size_t)count : 0, width = dof > 0 ? (size_t)dof : 0;
    for (int k = 0; k < 2 * d->def.block_count; k++) body[k] = take_byte(s);
    double *inverse_mass = take_reals(s, bodies * width * width), *H = take_reals(s, 2 * d->rows * width);
    dls_bodies all = {count, dof, inverse_mass, body, H};
    dls_status status = dls_problem_create_bodies(&d->def, &all, problem, error);
    free(inverse_mass);
    free(H);
    return status;
}

/* ---- what a problem must bear ---- */

static void check_message(dls_status status, const dls_error *error) {
    if (!status) return;
    if (error->status == status && strlen(error->message) > 0 && !strchr(error->message, '\n')) return;
    fprintf(stderr, "failure without a proper message: %s\n", error->message);
    abort();
}

static void sweep(source *s, const dls_problem *problem, double *r, double *u) {
    dls_nlgs_options options = dls_default_nlgs_options();
    dls_solve_info info;
    dls_error error = {0};
    int order = take_byte(s), law = take_byte(s);
    options.stop.max_iterations = 5;
    options.order = (dls_order)((order & 0x7f) % 4);
    snprintf(options.law, sizeof options.law, "%s", dls_law_at((law & 0x7f) % dls_law_count())->name);
    check_message(dls_solve_nlgs(problem, &options, r, u, NULL, &info, &error), &error);
}

static void exercise(source *s, dls_problem *problem) {
    size_t rows = (size_t)dls_problem_row_count(problem);
    double *r = take_reals(s, rows), *u = malloc(rows * sizeof(double) + 1);
    dls_measures measures;
    dls_problem_facts facts;
    dls_problem *stored = NULL;
    dls_error error = {0};
    check_message(dls_problem_measure(problem, r, NULL, &measures, &error), &error);
    check_message(dls_problem_analyze(problem, 40, &facts, &error), &error);
    memset(r, 0, rows * sizeof(double));
    sweep(s, problem, r, u);
    dls_status status = dls_problem_assemble(problem, &stored, &error);
    check_message(status, &error);
    dls_problem_destroy(stored);
    free(r);
    free(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    source s = {data, size};
    definition d;
    dls_problem *problem = NULL;
    dls_error error = {0};
    bool has_bodies = take_byte(&s) & 1;
    take_definition(&s, &d);
    dls_status status =
        has_bodies ? create_bodies(&s, &d, &problem, &error) : create_stored(&s, &d, &problem, &error);
    check_message(status, &error);
    if (!status) exercise(&s, problem);
    dls_problem_destroy(problem);
    free(d.mu);
    free(d.b);
    return 0;
}

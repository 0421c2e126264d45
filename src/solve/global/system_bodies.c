/* (A + B (W + α)) x = y with W = G Gᵀ, by w = Gᵀ x: with D = A + α B and H = D⁻¹ B G
 *
 *     (1 + Gᵀ H) w = Gᵀ D⁻¹ y,   x = D⁻¹ y − H w
 *
 * a matrix of bodies, which are fewer than the rows of their contacts. D is small where α is, so that digits
 * are lost in x: what is left of y is solved for again. */
#include "solve/global/system_kinds.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/small.h"

#include <math.h>
#include <string.h>

/* As of rows: assembly and products per row of a contact, indices and solves per entry. */
static const double ENTRY_COST = 40, ROW_COST = 2500;

static const double SMALL = 1e-10,
                    LOOSE = 1e-6; /* of y: what may be left of it, and what other pivots have to mend */

enum { REFINEMENTS = 1 };

static const int *bodies_of(const dls_system *s, int c) { return s->G.body + 2 * (int64_t)c; }

/* Where one side of block c lies in G, and in H. */
static int64_t side_place(const dls_system *s, int c, int side) {
    return (2 * (int64_t)s->problem->row[c] + side * dls_size(s->problem, c)) * s->G.dof;
}

static const double *side_of(const dls_system *s, int c, int side) { return s->G.G + side_place(s, c, side); }

/* v += G w, w += Gᵀ q of one side. */
static inline __attribute__((always_inline)) void add_side(int d, int dof, const double *G, const double *w,
                                                           double *v) {
    for (int i = 0; i < d; i++)
        for (int k = 0; k < dof; k++) v[i] += G[i * dof + k] * w[k];
}

static inline __attribute__((always_inline)) void add_transposed(int d, int dof, const double *G,
                                                                 const double *q, double *w) {
    for (int i = 0; i < d; i++)
        for (int k = 0; k < dof; k++) w[k] += G[i * dof + k] * q[i];
}

/* H = E G of one side. */
static inline __attribute__((always_inline)) void multiply_side(int d, int dof, const double *E,
                                                                const double *G, double *H) {
    for (int i = 0; i < d; i++)
        for (int k = 0; k < dof; k++) {
            double sum = 0;
            for (int j = 0; j < d; j++) sum += E[i + d * j] * G[j * dof + k];
            H[i * dof + k] = sum;
        }
}

/* D⁻¹ and H of block c; d and dof are constants where they are known. */
static inline __attribute__((always_inline)) bool prepare(dls_system *s, int c, int d, int dof) {
    const dls_problem *p = s->problem;
    int64_t at = dls_system_block(p, c);
    const double *A = s->A + at, *B = s->B + at;
    double D[DLS_MAX_BLOCK * DLS_MAX_BLOCK], E[DLS_MAX_BLOCK * DLS_MAX_BLOCK] = {0},
                                                               *inverse = s->inverse + at;
    for (int k = 0; k < d * d; k++) D[k] = A[k] + s->alpha * B[k];
    if (!small_invert(d, D, inverse)) return false;
    for (int j = 0; j < d; j++) small_multiply_add(d, inverse, B + d * j, E + d * j);
    for (int side = 0; side < 2; side++)
        if (bodies_of(s, c)[side] >= 0)
            multiply_side(d, dof, E, side_of(s, c, side), s->H + side_place(s, c, side));
    return true;
}

static bool prepare_block(dls_system *s, int c) {
    int d = dls_size(s->problem, c), dof = s->G.dof;
    if (d == 3 && dof == 6) return prepare(s, c, 3, 6);
    if (d == 2 && dof == 3) return prepare(s, c, 2, 3);
    return prepare(s, c, d, dof);
}

/* ---- 1 + Gᵀ H ---- */

/* Bodies that blocks in the system touch, numbered as they come. */
static void number_bodies(dls_system *s) {
    const dls_problem *p = s->problem;
    for (int body = 0; body < p->body_count; body++) s->place[body] = s->slot[body] = -1;
    for (int c = 0; c < p->block_count; c++)
        for (int side = 0; side < 2 && !s->left_out[c]; side++)
            if (bodies_of(s, c)[side] >= 0) s->place[bodies_of(s, c)[side]] = 0;
    s->matrix.size = 0;
    for (int body = 0; body < p->body_count; body++) {
        if (s->place[body] < 0) continue;
        s->place[body] = s->matrix.size;
        s->matrix.size += s->G.dof;
    }
}

/* The body itself and those that it touches, ascending, in near; returns how many. */
static int find_near(dls_system *s, int body) {
    int count = 1;
    s->near[0] = body;
    s->slot[body] = 0;
    for (int64_t e = s->G.start[body]; e < s->G.start[body + 1]; e++) {
        int c = s->G.entry[e] / 2, other = bodies_of(s, c)[1 - s->G.entry[e] % 2], k = count;
        if (s->left_out[c] || other < 0 || s->slot[other] >= 0) continue;
        for (; k > 0 && s->near[k - 1] > other; k--) s->near[k] = s->near[k - 1];
        s->near[k] = other;
        s->slot[other] = k;
        count++;
    }
    for (int k = 0; k < count; k++) s->slot[s->near[k]] = k;
    return count;
}

/* K += Gᵀ H of one side and another; rows of K are `width` apart. */
static inline __attribute__((always_inline)) void add_product(int d, int dof, const double *G,
                                                              const double *H, double *K, int width) {
    for (int i = 0; i < d; i++)
        for (int k = 0; k < dof; k++)
            for (int m = 0; m < dof; m++) K[k * width + m] += G[i * dof + k] * H[i * dof + m];
}

/* The rows of one body; returns where those of the next begin. */
static int fill_body(dls_system *s, int body, int at) {
    const dls_problem *p = s->problem;
    dls_factored *m = &s->matrix;
    int dof = s->G.dof, count = find_near(s, body), width = count * dof, row = s->place[body];
    double *K = m->value + at;
    for (int k = 0; k < dof; k++) {
        int *index = m->index + at + k * width;
        for (int i = 0; i < width; i++) index[i] = s->place[s->near[i / dof]] + i % dof;
        m->start[row + k + 1] = at + (k + 1) * width;
    }
    memset(K, 0, sizeof *K * (size_t)(width * dof));
    for (int k = 0; k < dof; k++) K[k * width + s->slot[body] * dof + k] = 1;
    for (int64_t e = s->G.start[body]; e < s->G.start[body + 1]; e++) {
        int c = s->G.entry[e] / 2, side = s->G.entry[e] % 2, d = dls_size(p, c);
        for (int other = 0; other < 2 && !s->left_out[c]; other++) {
            if (bodies_of(s, c)[other] < 0) continue;
            double *to = K + s->slot[bodies_of(s, c)[other]] * dof;
            const double *G = side_of(s, c, side), *H = s->H + side_place(s, c, other);
            if (d == 3 && dof == 6)
                add_product(3, 6, G, H, to, width);
            else
                add_product(d, dof, G, H, to, width);
        }
    }
    for (int k = 0; k < count; k++) s->slot[s->near[k]] = -1;
    return at + width * dof;
}

static bool fill(dls_system *s) {
    const dls_problem *p = s->problem;
    dls_factored *m = &s->matrix;
    int at = 0;
    for (int c = 0; c < p->block_count; c++)
        if (!s->left_out[c] && !prepare_block(s, c)) return false;
    number_bodies(s);
    m->start[0] = 0;
    for (int body = 0; body < p->body_count; body++)
        if (s->place[body] >= 0) at = fill_body(s, body, at);
    dls_factored_spread(m);
    return true;
}

/* ---- solution ---- */

/* What x leaves of y, times D⁻¹, in rest, and its Gᵀ in right; returns the square of what is left. */
static inline __attribute__((always_inline)) double find_rest_of(dls_system *s, int c, const double *x, int d,
                                                                 int dof) {
    const dls_problem *p = s->problem;
    int row = p->row[c];
    int64_t at = dls_system_block(p, c);
    double left[DLS_MAX_BLOCK], u[DLS_MAX_BLOCK], q[DLS_MAX_BLOCK] = {0};
    for (int i = 0; i < d; i++) left[i] = s->y[row + i], u[i] = s->u[row + i] + s->alpha * x[row + i];
    small_multiply_subtract(d, s->A + at, x + row, left);
    small_multiply_subtract(d, s->B + at, u, left);
    small_multiply_add(d, s->inverse + at, left, q);
    for (int i = 0; i < d; i++) s->rest[row + i] = q[i];
    for (int side = 0; side < 2; side++)
        if (bodies_of(s, c)[side] >= 0)
            add_transposed(d, dof, side_of(s, c, side), q, s->right + s->place[bodies_of(s, c)[side]]);
    return small_dot(d, left, left);
}

static double find_rest(dls_system *s, const double *x) {
    const dls_problem *p = s->problem;
    int dof = s->G.dof;
    double left = 0;
    p->op->product(p, x, s->u, s->state, 1);
    memset(s->right, 0, sizeof(double) * (size_t)s->matrix.size);
    for (int c = 0; c < p->block_count; c++) {
        int d = dls_size(p, c);
        if (s->left_out[c]) continue;
        left += d == 3 && dof == 6 ? find_rest_of(s, c, x, 3, 6) : find_rest_of(s, c, x, d, dof);
    }
    return left;
}

/* x += D⁻¹ (what is left) − H w */
static inline __attribute__((always_inline)) void add_rest_of(const dls_system *s, int c, double *x, int d,
                                                              int dof) {
    const dls_problem *p = s->problem;
    int row = p->row[c];
    double v[DLS_MAX_BLOCK] = {0};
    for (int side = 0; side < 2; side++)
        if (bodies_of(s, c)[side] >= 0)
            add_side(d, dof, s->H + side_place(s, c, side), s->right + s->place[bodies_of(s, c)[side]], v);
    for (int i = 0; i < d; i++) x[row + i] += s->rest[row + i] - v[i];
}

static void add_rest(const dls_system *s, double *x) {
    const dls_problem *p = s->problem;
    int dof = s->G.dof;
    for (int c = 0; c < p->block_count; c++) {
        int d = dls_size(p, c);
        if (s->left_out[c]) continue;
        if (d == 3 && dof == 6)
            add_rest_of(s, c, x, 3, 6);
        else
            add_rest_of(s, c, x, d, dof);
    }
}

/* Until little is left of y, or no less than before; the share that is left, NAN on failure. */
static double refine(dls_system *s, double *x) {
    const dls_problem *p = s->problem;
    double first = 0, last = INFINITY;
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1] && !s->left_out[c]; i++) x[i] = 0;
    for (int pass = 0;; pass++) {
        double left = find_rest(s, x);
        if (pass == 0) first = left;
        bool done = left <= SMALL * SMALL * first || left >= last || pass > REFINEMENTS;
        if (!isfinite(left) || done) return first > 0 ? sqrt(left / first) : left;
        last = left;
        if (!dls_factored_solve(&s->matrix, s->right)) return NAN;
        add_rest(s, x);
    }
}

static bool solve(dls_system *s, double *x) {
    memcpy(s->y, x, sizeof(double) * (size_t)s->problem->row_count);
    double left = refine(s, x);
    if (!(left <= LOOSE) && dls_factored_renew(&s->matrix)) left = refine(s, x);
    return isfinite(left);
}

/* ---- sizes ---- */

static int rows(const dls_problem *p) {
    const dls_side_matrix G = dls_problem_rows(p);
    int count = 0;
    for (int body = 0; body < p->body_count; body++) count += G.start[body + 1] > G.start[body];
    return count * G.dof;
}

/* Contacts of a pair follow each other. */
static int64_t entries(const dls_problem *p) {
    const dls_side_matrix G = dls_problem_rows(p);
    int64_t pairs = 0;
    for (int c = 0; c < p->block_count; c++) {
        const int *body = G.body + 2 * (int64_t)c, *before = c ? body - 2 : NULL;
        bool known = before && before[0] == body[0] && before[1] == body[1];
        pairs += body[0] >= 0 && body[1] >= 0 && !known;
    }
    return (rows(p) + 2 * pairs * G.dof) * G.dof;
}

static double least_cost(const dls_problem *p) {
    return ENTRY_COST * (double)entries(p) + ROW_COST * p->row_count;
}

static double spent(const dls_system *s) {
    int in = 0;
    for (int c = 0; c < s->problem->block_count; c++) in += s->left_out[c] ? 0 : dls_size(s->problem, c);
    return ENTRY_COST * s->matrix.start[s->matrix.size] + ROW_COST * in;
}

static dls_status take(dls_system *s, dls_error *error) {
    const dls_problem *p = s->problem;
    s->G = dls_problem_rows(p);
    int64_t rows = p->row_count, blocks = dls_system_block(p, p->block_count);
    int64_t sides = 2 * rows * s->G.dof, states = (int64_t)p->op->state_size(p);
    s->room = DLS_NEW_ZERO(double, blocks + sides + 3 * rows + states);
    s->slot = DLS_NEW(int, 2 * (int64_t)p->body_count);
    if (!s->room || !s->slot) return dls_fail_memory(error);
    s->matrix.refined = true;
    s->matrix.common.scale = -1;
    s->near = s->slot + p->body_count;
    s->inverse = s->room;
    s->H = s->inverse + blocks;
    s->y = s->H + sides;
    s->rest = s->y + rows;
    s->u = s->rest + rows;
    s->state = s->u + rows;
    return DLS_OK;
}

const dls_system_kind dls_system_of_bodies = {.entries = entries,
                                              .rows = rows,
                                              .least_cost = least_cost,
                                              .spent = spent,
                                              .take = take,
                                              .fill = fill,
                                              .solve = solve};

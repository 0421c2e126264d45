/* Interval blocks behind the contacts of a step: W = G Gᵀ + diag(ε) against sums over dense rows, units, and
 * contacts that keep their kernels. */
#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "problem/operator/bodies.h"
#include <delassus/solve.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 12, CONTACTS = 30, INTERVALS = 9, MOST_ROWS = 6 * (CONTACTS + INTERVALS), WIDTH = 6 };

typedef enum kind { PLANAR, SPATIAL, ROUND, MIXED, TURNING, KINDS } kind;

typedef struct step_problem {
    dls_workspace *space;
    dls_problem *p;
    double W[MOST_ROWS * MOST_ROWS]; /* in the units of its user */
    double G[MOST_ROWS][BODIES * WIDTH], compliance[MOST_ROWS];
} step_problem;

static void choose_bodies(dls_random *g, int *body) {
    body[0] = (int)dls_random_below(g, BODIES + 1) - 1; /* −1: something that cannot move */
    body[1] = (int)dls_random_below(g, BODIES);
    if (body[1] == body[0]) body[1] = (body[0] + 1) % BODIES;
}

static void fill_ball(dls_random *g, dls_problem *p, int c) {
    dls_body_rows *B = dls_rows_of(p);
    dls_round_row *row = &B->round[c];
    const int *body = B->body + 2 * c;
    for (int k = 0; k < 3; k++) row->n[k] = dls_random_normal(g);
    vec_scale(row->n, 1 / vec_norm(row->n), row->n);
    vec_tangents(row->n, row->t1, row->t2);
    row->a_a = body[0] < 0 ? 0 : 1 + 0.1 * body[0];
    row->a_b = 1 + 0.1 * body[1];
    row->beta_a = 1.5 * row->a_a;
    row->beta_b = -1.5 * row->a_b;
    if (!B->roll) return;
    B->roll[c].gamma_a = 3 * row->a_a;
    B->roll[c].gamma_b = 3 * row->a_b;
}

/* Columns v, ω of a body from a row of (v, ω) or (v, 0, ω, 0). */
static void keep_row(step_problem *s, int row, int body, int dof, const double *G) {
    double *to = s->G[row] + WIDTH * body;
    if (dof == 3)
        memcpy(to, G, 3 * sizeof *G);
    else
        for (int k = 0; k < 3; k++) to[k] = G[k], to[3 + k] = G[dof / 2 + k];
}

static void fill_rows(dls_random *g, dls_problem *p, int c) {
    const dls_body_rows *B = dls_rows_of(p);
    int d = dls_size(p, c), dof = B->dof;
    for (int side = 0; side < 2; side++) {
        double *G = dls_side_of(p, c, side);
        memset(G, 0, sizeof *G * (size_t)(d * dof));
        for (int i = 0; i < d; i++)
            for (int k = 0; k < (dof == 3 ? 3 : 6); k++)
                G[i * dof + (dof == 3 ? k : k / 3 * (dof / 2) + k % 3)] =
                    (side ? 1 : -1) * (i == k ? 1 : 0) + 0.3 * dls_random_normal(g);
    }
}

static void keep_block(step_problem *s, int c) {
    const dls_problem *p = s->p;
    const dls_body_rows *B = dls_rows_of(p);
    for (int side = 0; side < 2; side++) {
        double room[DLS_MAX_BLOCK * ROUND_STATE];
        const double *G = room;
        if (B->body[2 * c + side] < 0) continue;
        if (!dls_is_ball(B, c)) {
            G = dls_side_of(p, c, side);
        } else {
            dls_balls_side(B, c, side, room);
            if (B->roll) dls_rolling_side(p, c, side, room + 3 * B->dof);
        }
        for (int i = 0; i < dls_size(p, c); i++)
            keep_row(s, p->row[c] + i, B->body[2 * c + side], B->dof, G + i * B->dof);
    }
}

static void fill_interval(dls_random *g, step_problem *s, int c, bool soft) {
    dls_problem *p = s->p;
    fill_rows(g, p, c);
    p->inverse_mass[c] = dls_random_between(g, 0.5, 4);
    for (int i = p->row[c]; i < p->row[c + 1]; i++) {
        if (c % 3 == 0) p->low[i] = -0.2, p->high[i] = 0.3;
        if (c % 3 == 1) p->low[i] = 0;
        if (soft && i % 2) dls_rows_of(p)->compliance[i] = s->compliance[i] = dls_random_between(g, 0.1, 3);
    }
}

/* b = G y + n: with the velocities −y nothing approaches, and every row is held. */
static void make_solvable(dls_random *g, step_problem *s) {
    double y[BODIES * WIDTH];
    for (int k = 0; k < BODIES * WIDTH; k++) y[k] = dls_random_normal(g);
    for (int c = 0; c < s->p->block_count; c++)
        for (int i = s->p->row[c]; i < s->p->row[c + 1]; i++) {
            s->p->b[i] = s->p->kind[c] == DLS_CONTACT && i == s->p->row[c] ? 0.1 : 0;
            for (int k = 0; k < BODIES * WIDTH; k++) s->p->b[i] += s->G[i][k] * y[k];
        }
}

static step_problem *make(kind what, uint64_t seed, bool soft) {
    step_problem *s = calloc(1, sizeof *s);
    dls_random g = {seed};
    dls_error error;
    uint8_t ball[CONTACTS], parts[CONTACTS], sizes[INTERVALS];
    for (int c = 0; c < CONTACTS; c++) {
        ball[c] = what != MIXED || c % 4 > 0;
        parts[c] = c % 2 ? DLS_PARTS(2, 0, 0) : DLS_PARTS(2, 2, 1);
    }
    for (int c = 0; c < INTERVALS; c++) sizes[c] = (uint8_t)(1 + c % (what == PLANAR ? 3 : 6));
    dls_contacts_def def = {.count = CONTACTS,
                            .d = what == PLANAR ? 2 : 3,
                            .body_count = BODIES,
                            .reference_velocity = 0.1,
                            .ball = what == ROUND || what == MIXED || what == TURNING ? ball : NULL,
                            .parts = what == TURNING ? parts : NULL,
                            .interval_count = INTERVALS,
                            .interval_size = sizes};
    s->space = dls_workspace_create();
    assert_int_equal(dls_problem_begin_contacts(s->space, &def, &s->p, &error), DLS_OK);
    dls_problem *p = s->p;
    assert_true(p->row_count <= MOST_ROWS);
    for (int c = 0; c < p->block_count; c++) {
        choose_bodies(&g, dls_rows_of(p)->body + 2 * c);
        p->mu[c] = 0.5;
        if (p->parts) p->mu_rolling[c] = p->mu_spinning[c] = 0.1;
        for (int i = p->row[c]; i < p->row[c + 1]; i++) p->b[i] = dls_random_normal(&g);
        if (p->kind[c] == DLS_INTERVAL)
            fill_interval(&g, s, c, soft);
        else if (dls_is_ball(dls_rows_of(p), c))
            fill_ball(&g, p, c);
        else
            fill_rows(&g, p, c);
    }
    if (!p->parts) {
        for (int c = 0; c < p->block_count; c++) keep_block(s, c);
        make_solvable(&g, s);
    }
    assert_int_equal(dls_problem_end_contacts(p, 1, &error), DLS_OK);
    if (p->parts) /* which rows a ball has is known at the end, in units that go out again */
        for (int c = 0; c < p->block_count; c++) keep_block(s, c);
    for (int i = 0; i < p->row_count && p->parts; i++)
        for (int k = 0; k < BODIES * WIDTH; k++) s->G[i][k] /= p->unit[i];
    if (p->parts) make_solvable(&g, s);
    int n = p->row_count;
    for (int i = 0; i < n && p->parts; i++) p->given_b[i] = p->b[i], p->b[i] *= p->unit[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = i == j ? s->compliance[i] : 0;
            for (int k = 0; k < BODIES * WIDTH; k++) sum += s->G[i][k] * s->G[j][k];
            s->W[i + n * j] = sum;
        }
    return s;
}

static void end(step_problem *s) {
    dls_workspace_destroy(s->space);
    free(s);
}

static void check_velocity(const step_problem *s, const dls_problem *p, const double *r) {
    double u[MOST_ROWS];
    int n = p->row_count;
    dls_error error;
    assert_int_equal(dls_problem_velocity(p, r, u, NULL, &error), DLS_OK);
    for (int i = 0; i < n; i++) {
        double sum = dls_problem_b(p)[i];
        for (int j = 0; j < n; j++) sum += s->W[i + n * j] * r[j];
        if (!(fabs(u[i] - sum) < 1e-11)) fail_msg("row %d of %d: %.17g, expected %.17g", i, n, u[i], sum);
    }
}

static void test_products_and_blocks_are_those_of_dense_rows(void **state) {
    (void)state;
    for (int what = 0; what < KINDS; what++)
        for (int soft = 0; soft < 2; soft++) {
            step_problem *s = make((kind)what, (uint64_t)(10 + what), soft);
            dls_random g = {5};
            double r[MOST_ROWS], W[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
            dls_problem *stored;
            dls_error error;
            for (int i = 0; i < s->p->row_count; i++) r[i] = dls_random_normal(&g);
            check_velocity(s, s->p, r);
            assert_int_equal(dls_problem_assemble(s->p, &stored, &error), DLS_OK);
            check_velocity(s, stored, r);
            dls_problem_destroy(stored);
            assert_true(!soft == !dls_rows_of(s->p)->compliance);
            for (int c = 0; c < s->p->block_count; c++) {
                int d = dls_size(s->p, c), n = s->p->row_count, row = s->p->row[c];
                dls_problem_diagonal_block(s->p, c, W);
                for (int k = 0; k < d * d; k++)
                    assert_true(fabs(W[k] - s->W[row + k % d + n * (row + k / d)]) < 1e-12);
            }
            end(s);
        }
}

/* local() leaves out a block's own impulse, compliance and all. */
static void test_local_velocities_leave_out_the_block_itself(void **state) {
    (void)state;
    for (int what = 0; what < KINDS; what++) {
        step_problem *s = make((kind)what, (uint64_t)(30 + what), true);
        const dls_problem *p = s->p;
        int n = p->row_count;
        dls_random g = {6};
        double r[MOST_ROWS], v[DLS_MAX_BLOCK], *body = calloc(p->op->state_size(p), sizeof *body);
        for (int i = 0; i < n; i++) r[i] = dls_random_normal(&g);
        p->op->start(p, r, body, 1);
        for (int c = 0; c < p->block_count; c++) {
            p->op->local(p, c, r, body, v);
            for (int i = p->row[c]; i < p->row[c + 1]; i++) {
                double sum = p->b[i] / p->unit[i];
                for (int j = 0; j < n; j++)
                    if (j < p->row[c] || j >= p->row[c + 1]) sum += s->W[i + n * j] * r[j] * p->unit[j];
                assert_true(fabs(v[i - p->row[c]] / p->unit[i] - sum) < 1e-10);
            }
        }
        free(body);
        end(s);
    }
}

/* W_ii = w̄ inside, whatever ε. */
static void test_rows_of_intervals_are_in_their_units(void **state) {
    (void)state;
    step_problem *s = make(SPATIAL, 3, true);
    const dls_problem *p = s->p;
    for (int c = p->contact_count; c < p->block_count; c++)
        for (int i = 0, d = dls_size(p, c), n = p->row_count; i < d; i++) {
            int row = p->row[c] + i;
            assert_true(fabs(dls_diagonal(p, c)[i + d * i] - p->inverse_mass[c]) < 1e-12);
            assert_true(fabs(p->unit[row] - sqrt(p->inverse_mass[c] / s->W[row + n * row])) < 1e-12);
            if (c % 3 == 0) assert_true(fabs(p->high[row] * p->unit[row] - 0.3) < 1e-15);
        }
    for (int i = 0; i < p->row[p->contact_count]; i++) assert_true(p->unit[i] == 1);
    end(s);
}

static void test_contacts_keep_their_storage(void **state) {
    (void)state;
    step_problem *s = make(ROUND, 4, false);
    assert_int_equal(s->p->runs[0].storage, DLS_BALLS);
    assert_int_equal(s->p->runs[0].end, CONTACTS);
    end(s);
    s = make(SPATIAL, 4, false);
    assert_int_equal(dls_rows_of(s->p)->dof, 6); /* no balls, no longer rows */
    assert_int_equal(s->p->runs[0].end, CONTACTS);
    end(s);
    s = make(MIXED, 4, false);
    for (int c = 0; c < CONTACTS; c++) assert_int_equal(dls_is_ball(dls_rows_of(s->p), c), c % 4 > 0);
    end(s);
}

static void test_sweeps_solve_them(void **state) {
    (void)state;
    for (int what = 0; what < KINDS; what++) {
        step_problem *s = make((kind)what, (uint64_t)(50 + what), true);
        const dls_problem *p = s->p;
        double r[MOST_ROWS] = {0}, u[MOST_ROWS];
        dls_nlgs_options options = dls_default_nlgs_options();
        dls_solve_info info;
        dls_error error;
        options.stop.tolerance = 1e-10;
        assert_int_equal(dls_solve_nlgs(p, &options, r, u, NULL, &info, &error), DLS_OK);
        if (!(info.measures.residual <= 1e-10))
            fail_msg("kind %d: %g after %d sweeps", what, info.measures.residual, info.iterations);
        for (int c = CONTACTS; c < p->block_count; c++)
            for (int i = p->row[c]; i < p->row[c + 1]; i++) {
                double sum = dls_problem_b(p)[i];
                for (int j = 0; j < p->row_count; j++) sum += s->W[i + p->row_count * j] * r[j];
                if (c % 3 == 2) assert_true(fabs(sum) < 1e-7);
                if (c % 3 == 1) assert_true(r[i] >= -1e-12 && sum > -1e-7 && fabs(r[i] * sum) < 1e-6);
                if (c % 3 == 0) assert_true(r[i] >= -0.2 - 1e-12 && r[i] <= 0.3 + 1e-12);
            }
        end(s);
    }
}

static void test_rows_that_nothing_moves_are_refused(void **state) {
    (void)state;
    dls_workspace *space = dls_workspace_create();
    const uint8_t one = 1;
    dls_contacts_def def = {.d = 2, .body_count = 1, .interval_count = 1, .interval_size = &one};
    dls_error error;
    for (int defect = 0; defect < 3; defect++) {
        dls_problem *p;
        assert_int_equal(dls_problem_begin_contacts(space, &def, &p, &error), DLS_OK);
        dls_rows_of(p)->body[0] = 0, dls_rows_of(p)->body[1] = -1;
        memset(dls_side_of(p, 0, 0), 0, 6 * sizeof(double));
        p->b[0] = 0;
        p->inverse_mass[0] = defect != 1;
        if (defect) dls_side_of(p, 0, 0)[0] = 1;
        if (defect == 2) p->low[0] = 1, p->high[0] = -1;
        assert_int_equal(dls_problem_end_contacts(p, 1, &error), DLS_ERROR_INPUT);
        assert_non_null(strstr(error.message, defect == 2 ? "bounds" : "row 0 of interval block 0"));
    }
    dls_workspace_destroy(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_and_blocks_are_those_of_dense_rows),
        cmocka_unit_test(test_local_velocities_leave_out_the_block_itself),
        cmocka_unit_test(test_rows_of_intervals_are_in_their_units),
        cmocka_unit_test(test_contacts_keep_their_storage),
        cmocka_unit_test(test_sweeps_solve_them),
        cmocka_unit_test(test_rows_that_nothing_moves_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

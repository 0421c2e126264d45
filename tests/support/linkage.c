#include "support/linkage.h"

#include "base/memory.h"
#include "base/vector.h"
#include "problem/operator/bodies.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- random trees ---- */

enum { MOST_INTERVALS = 512 };

typedef struct tree_work {
    const linkage_shape *shape;
    dls_random g;
    dls_problem *p;
    double *mass; /* √(1/m) of each body */
} tree_work;

static int random_size(tree_work *x) { return 1 + (int)dls_random_below(&x->g, x->shape->planar ? 2 : 5); }

/* Interval k joins body k to one before it in its tree, or to the ground; loops and copies come behind. */
static void choose_bodies(tree_work *x, int k, int *body) {
    const linkage_shape *s = x->shape;
    int trees = s->trees > 1 ? s->trees : 1;
    if (k < s->bodies) {
        int before = k / trees;
        body[1] = k;
        body[0] = before ? k % trees + trees * (int)dls_random_below(&x->g, (uint64_t)before) : -1;
    } else {
        body[0] = (int)dls_random_below(&x->g, (uint64_t)s->bodies);
        int other = body[0] + trees * (1 + (int)dls_random_below(&x->g, 3));
        body[1] = other < s->bodies ? other : -1;
    }
}

static void random_rows(tree_work *x, int c) {
    dls_body_rows *B = dls_rows_of(x->p);
    int d = dls_size(x->p, c), dof = B->dof, freedoms = dof == 3 ? 3 : 6;
    for (int side = 0; side < 2; side++) {
        double *G = dls_side_of(x->p, c, side),
               root = B->body[2 * c + side] < 0 ? 0 : x->mass[B->body[2 * c + side]];
        memset(G, 0, sizeof *G * (size_t)(d * dof));
        for (int i = 0; i < d; i++)
            for (int k = 0; k < freedoms; k++)
                G[i * dof + (dof == 3 ? k : k / 3 * (dof / 2) + k % 3)] =
                    root * ((side ? 1 : -1) * (i == k ? 1 : 0) + 0.3 * dls_random_normal(&x->g));
    }
}

static void random_ball(tree_work *x, int c) {
    dls_body_rows *B = dls_rows_of(x->p);
    dls_round_row *row = &B->round[c];
    const int *body = B->body + 2 * c;
    for (int k = 0; k < 3; k++) row->n[k] = dls_random_normal(&x->g);
    vec_scale(row->n, 1 / vec_norm(row->n), row->n);
    vec_tangents(row->n, row->t1, row->t2);
    row->a_a = body[0] < 0 ? 0 : x->mass[body[0]];
    row->a_b = x->mass[body[1]];
    row->beta_a = 1.5 * row->a_a;
    row->beta_b = -1.5 * row->a_b;
    if (!B->roll) return;
    B->roll[c].gamma_a = 3 * row->a_a;
    B->roll[c].gamma_b = 3 * row->a_b;
}

/* Once more the rows of the first joints, mixed. */
static void copy_rows(tree_work *x, int c, int from) {
    dls_body_rows *B = dls_rows_of(x->p);
    int d = dls_size(x->p, c);
    memcpy(B->body + 2 * c, B->body + 2 * from, 2 * sizeof(int));
    assert_int_equal(d, dls_size(x->p, from));
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < d; i++)
            for (int k = 0; k < B->dof; k++)
                dls_side_of(x->p, c, side)[i * B->dof + k] =
                    2 * dls_side_of(x->p, from, side)[i * B->dof + k] +
                    (i ? dls_side_of(x->p, from, side)[k] : 0);
}

/* b = G y + n: velocities −y are allowed by all rows, and nothing approaches. */
static void make_solvable(tree_work *x) {
    dls_problem *p = x->p;
    dls_body_rows *B = dls_rows_of(p);
    size_t states = p->op->state_size(p);
    double *y = calloc(states, sizeof *y), *r = calloc((size_t)p->row_count, sizeof *r);
    for (int body = 0; body < p->body_count; body++)
        for (int k = 0; k < B->stride; k++)
            y[body * B->stride + k] = B->stride == 8 && k % 4 == 3 ? 0 : dls_random_normal(&x->g);
    for (int c = 0; c < p->block_count; c++) {
        double v[DLS_MAX_BLOCK], room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
        for (int i = p->row[c]; i < p->row[c + 1]; i++) p->b[i] = 0;
        p->op->local(p, c, r, y, v);
        (void)room;
        for (int i = p->row[c]; i < p->row[c + 1]; i++) {
            p->b[i] = v[i - p->row[c]] + (p->kind[c] == DLS_CONTACT && i == p->row[c] ? 0.1 : 0);
            p->given_b[i] = p->b[i] / p->unit[i];
        }
    }
    free(y);
    free(r);
}

linkage linkage_random(const linkage_shape *s) {
    linkage l = {.space = dls_workspace_create()};
    int intervals = s->bodies + s->loops + s->redundant;
    uint8_t *ball = malloc((size_t)s->contacts + 1), *parts = malloc((size_t)s->contacts + 1);
    uint8_t sizes[MOST_INTERVALS];
    tree_work x = {.shape = s, .g = {s->seed + 1}, .mass = malloc(sizeof(double) * (size_t)s->bodies)};
    dls_error error;
    assert_true(intervals <= MOST_INTERVALS);
    for (int c = 0; c < s->contacts; c++)
        ball[c] = c % 5 > 0, parts[c] = c % 2 ? DLS_PARTS(2, 2, 1) : DLS_PARTS(2, 0, 0);
    for (int k = 0; k < s->bodies + s->loops; k++) sizes[k] = (uint8_t)random_size(&x);
    for (int k = 0; k < s->redundant; k++) sizes[s->bodies + s->loops + k] = sizes[k];
    for (int k = 0; k < s->bodies; k++) x.mass[k] = dls_random_between(&x.g, 0.5, 2);
    dls_contacts_def def = {.count = s->contacts,
                            .d = s->planar ? 2 : 3,
                            .body_count = s->bodies,
                            .reference_velocity = 0.1,
                            .ball = s->round && !s->planar ? ball : NULL,
                            .parts = s->turning && !s->planar ? parts : NULL,
                            .interval_count = intervals,
                            .interval_size = sizes};
    assert_int_equal(dls_problem_begin_contacts(l.space, &def, &l.p, &error), DLS_OK);
    dls_problem *p = x.p = l.p;
    dls_body_rows *B = dls_rows_of(p);
    for (int c = 0; c < p->block_count; c++) {
        int k = c - p->contact_count, *body = B->body + 2 * c;
        p->mu[c] = k < 0 ? 0.5 : 0;
        if (p->parts) p->mu_rolling[c] = p->mu_spinning[c] = 0.1;
        for (int i = p->row[c]; i < p->row[c + 1]; i++) p->b[i] = 0;
        if (k < 0) {
            body[0] = (int)dls_random_below(&x.g, (uint64_t)s->bodies + 1) - 1;
            body[1] = (int)dls_random_below(&x.g, (uint64_t)s->bodies);
            if (body[0] == body[1]) body[0] = -1;
            if (dls_is_ball(B, c))
                random_ball(&x, c);
            else
                random_rows(&x, c);
            continue;
        }
        p->inverse_mass[c] = dls_random_between(&x.g, 0.5, 4);
        if (k < s->bodies + s->loops) {
            choose_bodies(&x, k, body);
            random_rows(&x, c);
        } else {
            copy_rows(&x, c, c - s->bodies - s->loops);
        }
        for (int i = p->row[c]; i < p->row[c + 1]; i++) {
            if (s->soft && i % 3 == 0) B->compliance[i] = dls_random_between(&x.g, 0.1, 3);
            if (s->bounded && i % 2) p->low[i] = -0.2, p->high[i] = 0.3;
        }
    }
    assert_int_equal(dls_problem_end_contacts(p, 1, &error), DLS_OK);
    make_solvable(&x);
    free(ball), free(parts), free(x.mass);
    return l;
}

void linkage_end(linkage *l) { dls_workspace_destroy(l->space); }

/* ---- chains ---- */

static const double STEP = 1e-3, GRAVITY = 9.81, LENGTH = 0.1;

typedef struct rod {
    double root, turn; /* √(1/m), √(1/I) */
} rod;

static rod rod_of(const chain_shape *s, int k) {
    double m = k == s->links - 1 ? s->mass_ratio : 1;
    return (rod){sqrt(1 / m), sqrt(12 / (m * LENGTH * LENGTH))};
}

/* Row of the direction (x, y) at `along` from the middle of the rod: of B where sign is 1. */
static void fill_row(const rod *r, double sign, double along, double x, double y, double turn, double *G) {
    G[0] = sign * r->root * x;
    G[1] = sign * r->root * y;
    G[2] = sign * r->turn * (along * y + turn);
}

linkage linkage_chain(const chain_shape *s) {
    linkage l = {.space = dls_workspace_create()};
    int n = s->links;
    dls_random g = {7};
    dls_error error;
    uint8_t *sizes = malloc(2 * (size_t)n);
    for (int k = 0; k < 2 * n; k++) sizes[k] = k < n ? 2 : 1;
    dls_contacts_def def = {.count = n * s->contacts,
                            .d = 2,
                            .body_count = n,
                            .reference_velocity = GRAVITY * STEP,
                            .interval_count = s->motors ? 2 * n : n,
                            .interval_size = sizes};
    assert_int_equal(dls_problem_begin_contacts(l.space, &def, &l.p, &error), DLS_OK);
    dls_problem *p = l.p;
    dls_body_rows *B = dls_rows_of(p);
    for (int c = 0; c < p->block_count; c++) {
        int k = c < def.count ? c / s->contacts : (c - def.count) % n, *body = B->body + 2 * c,
            row = p->row[c];
        bool contact = c < def.count, motor = c >= def.count + n;
        rod of_b = rod_of(s, k), of_a = k ? rod_of(s, k - 1) : of_b;
        double *A = dls_side_of(p, c, 0), *G = dls_side_of(p, c, 1), fall = -GRAVITY * STEP;
        memset(A, 0, 2 * sizeof *A * (size_t)(3 * dls_size(p, c)));
        body[1] = k;
        body[0] = contact || k == 0 ? -1 : k - 1;
        p->mu[c] = contact ? 0.5 : 0;
        if (contact) {
            double along = LENGTH * ((c % s->contacts + 0.5) / s->contacts - 0.5);
            fill_row(&of_b, 1, along, 0, 1, 0, G);
            fill_row(&of_b, 1, along, 1, 0, 0, G + 3);
            p->b[row] = fall + s->b_noise * dls_random_normal(&g);
            p->b[row + 1] = s->b_noise * dls_random_normal(&g);
            continue;
        }
        p->inverse_mass[c] = of_b.root * of_b.root + (k ? of_a.root * of_a.root : 0);
        for (int i = 0; i < 2 && !motor; i++) {
            fill_row(&of_b, 1, -LENGTH / 2, i == 0, i == 1, 0, G + 3 * i);
            if (k) fill_row(&of_a, -1, LENGTH / 2, i == 0, i == 1, 0, A + 3 * i);
            p->b[row + i] = i && !k ? fall : 0;
        }
        if (!motor) continue;
        fill_row(&of_b, 1, 0, 0, 0, 1, G);
        if (k) fill_row(&of_a, -1, 0, 0, 0, 1, A);
        double hold = 0.5 * (n - k) * (n - k) * LENGTH * GRAVITY * STEP;
        p->b[row] = 0;
        if (k % 2 == 0 && isfinite(s->limit)) p->high[row] = s->limit * hold, p->low[row] = -p->high[row];
    }
    assert_int_equal(dls_problem_end_contacts(p, 1, &error), DLS_OK);
    free(sizes);
    return l;
}

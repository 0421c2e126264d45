#include "support/linkage.h"

#include "base/memory.h"
#include "base/vector.h"
#include "problem/operator/bodies.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- random trees ---- */

typedef struct tree_work {
    const linkage_shape *shape;
    dls_random g;
    dls_problem *p;
    double *mass; /* √(1/m) of each body */
    int *body;    /* of each block, where some are wide */
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
        int away = s->far ? s->bodies / trees : 3,
            other = body[0] + trees * (1 + (int)dls_random_below(&x->g, (uint64_t)away));
        body[1] = other < s->bodies ? other : -1;
    }
}

static void random_rows(tree_work *x, int c) {
    dls_body_rows *B = dls_rows_of(x->p);
    int d = dls_size(x->p, c);
    for (int side = 0; side < 2; side++) {
        int dof = dls_width_of(B, B->body[2 * c + side]), freedoms = dof == 8 ? 6 : dof;
        double *G = dls_side_of(x->p, c, side),
               root = B->body[2 * c + side] < 0 ? 0 : x->mass[B->body[2 * c + side]];
        memset(G, 0, sizeof *G * (size_t)(d * dof));
        for (int i = 0; i < d; i++)
            for (int k = 0; k < freedoms; k++)
                G[i * dof + (dof == 8 ? k / 3 * 4 + k % 3 : k)] =
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
        for (int i = 0, dof = dls_width_of(B, B->body[2 * c + side]); i < d; i++)
            for (int k = 0; k < dof; k++)
                dls_side_of(x->p, c, side)[i * dof + k] = 2 * dls_side_of(x->p, from, side)[i * dof + k] +
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
    for (size_t k = states - (size_t)B->wide; k < states; k++) y[k] = dls_random_normal(&x->g);
    for (int c = 0; c < p->block_count; c++) {
        double v[DLS_MAX_BLOCK];
        for (int i = p->row[c]; i < p->row[c + 1]; i++) p->b[i] = 0;
        p->op->local(p, c, r, y, v);
        for (int i = p->row[c]; i < p->row[c + 1]; i++) {
            p->b[i] = v[i - p->row[c]] + (p->kind[c] == DLS_CONTACT && i == p->row[c] ? 0.1 : 0);
            p->given_b[i] = p->b[i] / p->unit[i];
        }
    }
    free(y);
    free(r);
}

static void choose_touching(tree_work *x, int *body) {
    int bodies = x->shape->bodies;
    body[0] = (int)dls_random_below(&x->g, (uint64_t)bodies + 1) - 1;
    body[1] = (int)dls_random_below(&x->g, (uint64_t)bodies);
    if (body[0] == body[1]) body[0] = -1;
}

static void fill_contact(tree_work *x, int c) {
    dls_body_rows *B = dls_rows_of(x->p);
    x->p->mu[c] = x->shape->smooth ? 0 : 0.5;
    if (x->p->parts) x->p->mu_rolling[c] = x->p->mu_spinning[c] = 0.1;
    if (!x->body) choose_touching(x, B->body + 2 * c);
    if (dls_is_ball(B, c))
        random_ball(x, c);
    else
        random_rows(x, c);
}

static void fill_joint(tree_work *x, int c) {
    const linkage_shape *s = x->shape;
    dls_problem *p = x->p;
    int k = c - p->contact_count;
    p->inverse_mass[c] = dls_random_between(&x->g, 0.5, 4);
    if (k < s->bodies + s->loops) {
        if (!x->body) choose_bodies(x, k, dls_rows_of(p)->body + 2 * c);
        random_rows(x, c);
    } else {
        copy_rows(x, c, c - s->bodies - s->loops);
    }
    for (int i = p->row[c]; i < p->row[c + 1]; i++) {
        if (s->soft && i % 3 == 0) dls_rows_of(p)->compliance[i] = dls_random_between(&x->g, 0.1, 3);
        if (s->bounded && i % 2) p->low[i] = -0.2, p->high[i] = 0.3;
    }
}

static int width_of(const linkage_shape *s, int body) {
    return body >= 0 && body % s->wide == 0 ? 9 + 5 * (body / s->wide % 4) : 0;
}

/* Bodies of all blocks before there are rows: widths follow from them, and which contacts may be balls. */
static int *choose_widths(tree_work *x, int intervals, uint8_t *ball, int *width) {
    const linkage_shape *s = x->shape;
    int *body = x->body = malloc(sizeof(int) * 2 * (size_t)(s->contacts + intervals));
    for (int k = 0; k < s->bodies; k++) width[k] = width_of(s, k);
    for (int c = 0; c < s->contacts; c++) {
        choose_touching(x, body + 2 * c);
        ball[c] = ball[c] && !width_of(s, body[2 * c]) && !width_of(s, body[2 * c + 1]);
    }
    for (int k = 0; k < intervals; k++) {
        int *of = body + 2 * (s->contacts + k);
        if (k < s->bodies + s->loops)
            choose_bodies(x, k, of);
        else
            memcpy(of, of - 2 * (s->bodies + s->loops), 2 * sizeof(int));
    }
    return body;
}

linkage linkage_random(const linkage_shape *s) {
    linkage l = {.space = dls_workspace_create()};
    size_t n = (size_t)s->contacts + 1, intervals = (size_t)(s->bodies + s->loops + s->redundant);
    uint8_t *ball = malloc(n), *parts = malloc(n), *sizes = malloc(intervals);
    tree_work x = {.shape = s, .g = {s->seed + 1}, .mass = malloc(sizeof(double) * (size_t)s->bodies)};
    dls_error error;
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
                            .interval_count = (int)intervals,
                            .interval_size = sizes};
    int *width = malloc(sizeof(int) * (size_t)s->bodies);
    if (s->wide) def.body = choose_widths(&x, (int)intervals, ball, width), def.width = width;
    assert_int_equal(dls_problem_begin_contacts(l.space, &def, &x.p, &error), DLS_OK);
    l.p = x.p;
    for (int i = 0; i < l.p->row_count; i++) l.p->b[i] = 0;
    for (int c = 0; c < l.p->block_count; c++)
        if (l.p->kind[c] == DLS_CONTACT)
            fill_contact(&x, c);
        else
            fill_joint(&x, c);
    assert_int_equal(dls_problem_end_contacts(l.p, 1, &error), DLS_OK);
    make_solvable(&x);
    free(ball), free(parts), free(sizes), free(x.mass), free(x.body), free(width);
    return l;
}

void linkage_end(linkage *l) { dls_workspace_destroy(l->space); }

/* ---- chains ---- */

static const double STEP = 1e-3, GRAVITY = 9.81, LENGTH = 0.1, FRICTION = 0.5;

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

typedef struct chain_work {
    const chain_shape *shape;
    dls_random g;
    dls_problem *p;
    int every, touched; /* links that have contacts */
} chain_work;

static void fill_ground(chain_work *x, int c) {
    const chain_shape *s = x->shape;
    int k = s->links - 1 - (x->touched - 1 - c / s->contacts) * x->every, row = x->p->row[c];
    double along = LENGTH * ((c % s->contacts + 0.5) / s->contacts - 0.5), *G = dls_side_of(x->p, c, 1);
    double pull = k == s->links - 1 ? s->pull * s->links * FRICTION * GRAVITY * STEP : 0;
    rod r = rod_of(s, k);
    dls_rows_of(x->p)->body[2 * c + 1] = k;
    x->p->mu[c] = FRICTION;
    fill_row(&r, 1, along, 0, 1, 0, G);
    fill_row(&r, 1, along, 1, 0, 0, G + 3);
    x->p->b[row] = -GRAVITY * STEP + s->b_noise * dls_random_normal(&x->g);
    x->p->b[row + 1] = s->b_noise * dls_random_normal(&x->g) + pull;
}

/* Two rows that hold the end of one rod to that of the next, or one that turns them against each other. */
static void fill_hinge(chain_work *x, int c, int k, bool motor) {
    const chain_shape *s = x->shape;
    dls_problem *p = x->p;
    int n = s->links, row = p->row[c];
    rod of_b = rod_of(s, k), of_a = rod_of(s, k ? k - 1 : 0);
    double *A = dls_side_of(p, c, 0), *G = dls_side_of(p, c, 1), hold = 0.5 * (n - k) * (n - k) * LENGTH;
    dls_rows_of(p)->body[2 * c] = k - 1;
    dls_rows_of(p)->body[2 * c + 1] = k;
    p->inverse_mass[c] = of_b.root * of_b.root + (k ? of_a.root * of_a.root : 0);
    for (int i = 0; i < (motor ? 1 : 2); i++) {
        double end = motor ? 0 : LENGTH / 2;
        fill_row(&of_b, 1, -end, !motor && i == 0, !motor && i == 1, motor, G + 3 * i);
        if (k) fill_row(&of_a, -1, end, !motor && i == 0, !motor && i == 1, motor, A + 3 * i);
    }
    if (motor && k % 2 == 0 && isfinite(s->limit)) {
        p->high[row] = s->limit * hold * GRAVITY * STEP;
        p->low[row] = -p->high[row];
    }
    if (motor) return;
    p->b[row] = k == n - 1 ? s->pull * n * FRICTION * GRAVITY * STEP : 0;
    p->b[row + 1] = k ? 0 : -GRAVITY * STEP;
}

linkage linkage_chain(const chain_shape *s) {
    linkage l = {.space = dls_workspace_create()};
    int n = s->links, every = s->every ? s->every : 1;
    chain_work x = {.shape = s, .g = {7}, .every = every, .touched = n / every};
    dls_error error;
    uint8_t *sizes = malloc(2 * (size_t)n);
    for (int k = 0; k < 2 * n; k++) sizes[k] = k < n ? 2 : 1;
    dls_contacts_def def = {.count = x.touched * s->contacts,
                            .d = 2,
                            .body_count = n,
                            .reference_velocity = GRAVITY * STEP,
                            .interval_count = s->motors ? 2 * n : n,
                            .interval_size = sizes};
    assert_int_equal(dls_problem_begin_contacts(l.space, &def, &x.p, &error), DLS_OK);
    dls_problem *p = l.p = x.p;
    for (int i = 0; i < p->row_count; i++) p->b[i] = 0;
    for (int c = 0; c < p->block_count; c++) {
        dls_rows_of(p)->body[2 * c] = -1;
        memset(dls_side_of(p, c, 0), 0, 2 * sizeof(double) * (size_t)(3 * dls_size(p, c)));
        if (c < def.count)
            fill_ground(&x, c);
        else
            fill_hinge(&x, c, (c - def.count) % n, c >= def.count + n);
    }
    assert_int_equal(dls_problem_end_contacts(p, 1, &error), DLS_OK);
    free(sizes);
    return l;
}

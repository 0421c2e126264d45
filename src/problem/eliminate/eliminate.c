/* Held rows: their order, S = G_J G_Jᵀ + diag(ε) = R Rᵀ, and r_J = −S⁻¹ (G_J Gᵀ r + b_J). */
#include "problem/eliminate/elimination.h"

#include "base/error.h"
#include "base/small.h"
#include "problem/eliminate/dissect.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MOST_REFINEMENTS = 3 };

static const double GAIN = 0.25; /* of Σ u²: a refinement that leaves more is at rounding */
static const double ROUNDING =
    1e-15; /* of the terms that u is summed from: what is below is rounding as well */

dls_elimination *dls_elimination_create(void) { return DLS_NEW_ZERO(dls_elimination, 1); }

void dls_elimination_destroy(dls_elimination *e) {
    if (!e) return;
    dls_free(e->known);
    dls_free(e->order);
    dls_free(e);
}

bool dls_can_eliminate(const dls_problem *p) {
    return p->op == &dls_operator_bodies && p->contact_count < p->block_count && !dls_rows_of(p)->tails;
}

/* ---- order ---- */

static int held_rows(const dls_elimination *e, int c) {
    int held = 0;
    for (int i = e->p->row[c]; i < e->p->row[c + 1]; i++) held += e->role[i] == DLS_ROW_HELD;
    return held;
}

static bool list_nodes(dls_elimination *e) {
    const dls_problem *p = e->p;
    int intervals = p->block_count - p->contact_count;
    e->block = DLS_TAKE(e->space, int, intervals);
    e->body = DLS_TAKE(e->space, int, 2 * (int64_t)intervals);
    if (!e->block || !e->body) return false;
    e->node_count = e->place_count = 0;
    for (int c = 0; c < p->block_count; c++) {
        int held = p->kind[c] == DLS_INTERVAL ? held_rows(e, c) : 0;
        if (held == 0) continue;
        memcpy(e->body + 2 * (int64_t)e->node_count, dls_rows_of(p)->body + 2 * (int64_t)c, 2 * sizeof(int));
        e->block[e->node_count++] = c;
        e->place_count += held;
    }
    return true;
}

/* The order again, unless these bodies were joined like this the last time. */
static bool find_order(dls_elimination *e) {
    int64_t sides = 2 * (int64_t)e->node_count;
    if (e->known_count == e->node_count && e->known &&
        !memcmp(e->known, e->body, sizeof(int) * (size_t)sides))
        return true;
    e->known_count = -1;
    if (!DLS_RESERVE(e->known, 0, e->known_capacity, sides) ||
        !DLS_RESERVE(e->order, 0, e->order_capacity, e->node_count))
        return false;
    dls_joint_graph graph = {e->node_count, e->p->body_count, e->body};
    if (!dls_dissect(&graph, e->order, e->space)) return false;
    if (sides) memcpy(e->known, e->body, sizeof(int) * (size_t)sides);
    e->known_count = e->node_count;
    return true;
}

static void place_row(dls_elimination *e, int node, int row, int place) {
    const dls_problem *p = e->p;
    int c = e->block[node];
    e->row[place] = row;
    for (int64_t side = 0; side < 2; side++) {
        e->body_of[2 * (int64_t)place + side] = e->body[2 * (int64_t)node + side];
        e->G[2 * (int64_t)place + side] =
            dls_side_of(p, c, (int)side) +
            (int64_t)(row - p->row[c]) * dls_width_of(dls_rows_of(p), e->body[2 * (int64_t)node + side]);
    }
}

/* Rows in their places, and the nodes of each body by position. */
static bool place_rows(dls_elimination *e) {
    const dls_problem *p = e->p;
    int place = 0;
    e->first_place = DLS_TAKE(e->space, int, e->node_count + 1);
    e->row = DLS_TAKE(e->space, int, e->place_count);
    e->G = DLS_TAKE(e->space, const double *, 2 * (int64_t)e->place_count);
    e->body_of = DLS_TAKE(e->space, int, 2 * (int64_t)e->place_count);
    e->start = DLS_TAKE_ZERO(e->space, int64_t, p->body_count + 2);
    e->entry = DLS_TAKE(e->space, int, 2 * (int64_t)e->node_count);
    if (!e->first_place || !e->row || !e->G || !e->body_of || !e->start || !e->entry) return false;
    for (int k = 0; k < e->node_count; k++) {
        int node = e->order[k], c = e->block[node];
        e->first_place[k] = place;
        for (int i = p->row[c]; i < p->row[c + 1]; i++)
            if (e->role[i] == DLS_ROW_HELD) place_row(e, node, i, place++);
        for (int side = 0; side < 2; side++)
            if (e->body[2 * (int64_t)node + side] >= 0) e->start[e->body[2 * (int64_t)node + side] + 2]++;
    }
    e->first_place[e->node_count] = place;
    for (int body = 0; body < p->body_count; body++) e->start[body + 2] += e->start[body + 1];
    for (int k = 0; k < e->node_count; k++)
        for (int side = 0; side < 2; side++) {
            int body = e->body[2 * (int64_t)e->order[k] + side];
            if (body >= 0) e->entry[e->start[body + 1]++] = 2 * k + side;
        }
    return true;
}

/* ---- S ---- */

/* Visits every pair of places, the second not before the first, that share a body: once to count the entries
 * of each column, once to write them. */
static void visit_pairs(dls_elimination *e, bool write) {
    const dls_body_rows *B = dls_rows_of(e->p);
    dls_upper *S = &e->S;
    for (int k = 0; k < e->node_count; k++)
        for (int side = 0; side < 2; side++) {
            int body = e->body[2 * (int64_t)e->order[k] + side];
            if (body < 0) continue;
            int width = dls_width_of(B, body);
            for (int64_t n = e->start[body]; n < e->start[body + 1] && e->entry[n] / 2 <= k; n++) {
                int other = e->entry[n] / 2, other_side = e->entry[n] % 2;
                for (int j = e->first_place[k]; j < e->first_place[k + 1]; j++)
                    for (int i = e->first_place[other]; i < e->first_place[other + 1] && i <= j; i++) {
                        int64_t at = S->start[j + 1]++;
                        if (!write) continue;
                        S->row[at] = i;
                        S->value[at] =
                            small_dot(width, dls_held_row(e, side, j), dls_held_row(e, other_side, i));
                    }
            }
        }
}

/* Columns of S, each with ε as its first entry. */
static bool make_S(dls_elimination *e) {
    const double *compliance = dls_rows_of(e->p)->compliance;
    dls_upper *S = &e->S;
    int n = S->n = e->place_count;
    S->start = DLS_TAKE_ZERO(e->space, int64_t, n + 2);
    if (!S->start) return false;
    for (int j = 0; j < n; j++) S->start[j + 1] = 1;
    visit_pairs(e, false);
    for (int j = n; j > 0; j--)
        S->start[j + 1] = S->start[j]; /* so that writing moves them where they belong */
    S->start[1] = 0;
    for (int j = 1; j <= n; j++) S->start[j + 1] += S->start[j];
    S->row = DLS_TAKE(e->space, int, S->start[n + 1]);
    S->value = DLS_TAKE(e->space, double, S->start[n + 1]);
    if (!S->row || !S->value) return false;
    for (int j = 0; j < n; j++) {
        S->row[S->start[j + 1]] = j;
        S->value[S->start[j + 1]++] = compliance ? compliance[e->row[j]] : 0;
    }
    visit_pairs(e, true);
    return true;
}

/* Places of one component follow each other, and end with its root. */
static bool find_components(dls_elimination *e) {
    int n = e->place_count, bodies = e->p->body_count, count = 0;
    for (int k = 0; k < n; k++) count += e->R.parent[k] < 0;
    e->component_count = count;
    e->component_first = DLS_TAKE(e->space, int, count + 1);
    e->joined = DLS_TAKE(e->space, int, bodies);
    int *of = DLS_TAKE(e->space, int, n);
    if (!e->component_first || !e->joined || !of) return false;
    count = 0;
    e->component_first[0] = 0;
    for (int k = 0; k < n; k++) {
        of[k] = count;
        assert(e->R.parent[k] < 0 || e->R.parent[k] > k);
        if (e->R.parent[k] < 0) e->component_first[++count] = k + 1;
    }
    for (int body = 0; body < bodies; body++) {
        bool held = e->start[body] < e->start[body + 1];
        e->joined[body] = held ? bodies + of[e->first_place[e->entry[e->start[body]] / 2]] : -1;
    }
    return true;
}

/* Rows on the way from a body to the root: all that a contact's tail has of it. */
static int reach_of(const dls_elimination *e, int body) {
    if (body < 0 || e->joined[body] < 0) return 0;
    return e->R.depth[e->first_place[e->entry[e->start[body]] / 2]];
}

static double count_tails(const dls_elimination *e) {
    const dls_problem *p = e->p;
    const int *body = dls_rows_of(p)->body;
    double sum = 0;
    for (int c = 0; c < p->block_count; c++) {
        int rows = p->kind[c] == DLS_CONTACT && dls_takes_part(e, c) ? dls_size(p, c) : 0;
        for (int i = p->row[c]; i < p->row[c + 1] && p->kind[c] == DLS_INTERVAL; i++)
            rows += e->role[i] == DLS_ROW_STAYS;
        if (rows)
            sum += (double)rows * (reach_of(e, body[2 * (int64_t)c]) + reach_of(e, body[2 * (int64_t)c + 1]));
    }
    return sum;
}

dls_status dls_elimination_begin(dls_elimination *e, const dls_problem *p, const uint8_t *role, int threads,
                                 dls_workspace *w, dls_elimination_cost *cost, dls_error *error) {
    assert(dls_can_eliminate(p));
    e->p = p;
    e->role = role;
    e->threads = threads;
    e->space = w;
    e->is_given = false;
    e->given = DLS_TAKE(w, double, p->row_count);
    if (!e->given || !list_nodes(e) || !find_order(e) || !place_rows(e) || !make_S(e) ||
        !dls_cholesky_analyze(&e->R, &e->S, w) || !find_components(e))
        return dls_fail_memory(error);
    *cost = (dls_elimination_cost){e->place_count, e->component_count, e->R.flops, count_tails(e)};
    return DLS_OK;
}

bool dls_elimination_touches(const dls_elimination *e, int c) {
    const int *body = dls_rows_of(e->p)->body + 2 * (int64_t)c;
    return (body[0] >= 0 && e->joined[body[0]] >= 0) || (body[1] >= 0 && e->joined[body[1]] >= 0);
}

dls_status dls_elimination_factor(dls_elimination *e, double dependent, dls_error *error) {
    if (!dls_cholesky_factor(&e->R, &e->S, dependent, e->space)) return dls_fail_memory(error);
    return DLS_OK;
}

/* ---- impulses of held rows ---- */

void dls_held_add(const dls_elimination *e, const double *x, double *y) {
    const dls_body_rows *B = dls_rows_of(e->p);
    for (int64_t j = 0; j < 2 * (int64_t)e->place_count; j++) {
        if (e->body_of[j] < 0) continue;
        const double *G = e->G[j];
        double by = x[j / 2];
        double *to = y + dls_place_of(B, e->body_of[j]);
        for (int i = 0, width = dls_width_of(B, e->body_of[j]); i < width; i++) to[i] += G[i] * by;
    }
}

void dls_held_gather(const dls_elimination *e, const double *y, double *u) {
    const dls_body_rows *B = dls_rows_of(e->p);
    for (int j = 0; j < e->place_count; j++)
        for (int side = 0; side < 2; side++) {
            int body = e->body_of[2 * (int64_t)j + side];
            if (body < 0) continue;
            u[j] += small_dot(dls_width_of(B, body), dls_held_row(e, side, j), y + dls_place_of(B, body));
        }
}

/* u = G_J y + ε x + b_J; returns Σ u² of the rows that have impulses. */
static double held_velocity(const dls_elimination *e, const double *x, const double *y, double *u) {
    const double *compliance = dls_rows_of(e->p)->compliance;
    double sum = 0;
    for (int j = 0; j < e->place_count; j++)
        u[j] = e->p->b[e->row[j]] + (compliance ? compliance[e->row[j]] * x[j] : 0);
    dls_held_gather(e, y, u);
    for (int j = 0; j < e->place_count; j++) sum += e->R.dropped[j] ? 0 : u[j] * u[j];
    return sum;
}

/* Σ (W_ii x_i)² over held rows: what u is summed from is no smaller. */
static double terms_of(const dls_elimination *e, const double *x) {
    double sum = 0;
    for (int k = 0; k < e->node_count; k++) {
        const dls_problem *p = e->p;
        int c = e->block[e->order[k]], d = dls_size(p, c);
        const double *W = dls_diagonal(p, c);
        for (int j = e->first_place[k]; j < e->first_place[k + 1]; j++) {
            double term = W[(e->row[j] - p->row[c]) * (d + 1)] * x[j];
            sum += term * term;
        }
    }
    return sum;
}

static dls_held_error worst_of(const dls_elimination *e, const double *u) {
    dls_held_error worst = {.row = -1, .block = -1, .dependent = e->R.dropped_count};
    for (int k = 0; k < e->node_count; k++)
        for (int j = e->first_place[k]; j < e->first_place[k + 1]; j++) {
            if (worst.row >= 0 && fabs(u[j]) <= worst.error) continue;
            worst.error = fabs(u[j]);
            worst.row = e->row[j];
            worst.block = e->block[e->order[k]];
            worst.left_out = e->R.dropped[j];
        }
    return worst;
}

/* x −= S⁻¹ u where u was found with x, until that does not make it smaller. */
static dls_held_error refine(const dls_elimination *e, const double *of_others, double *y, double *x,
                             double *u, double *change) {
    size_t states = sizeof(double) * e->p->op->state_size(e->p),
           places = sizeof(double) * (size_t)e->place_count;
    double least = INFINITY;
    for (int k = 0;; k++) {
        memcpy(y, of_others, states);
        if (k > 0) dls_held_add(e, x, y); /* x begins as zeros */
        double sum = held_velocity(e, x, y, u);
        bool rounding = k > 0 && sum <= ROUNDING * ROUNDING * terms_of(e, x);
        if (rounding || k > MOST_REFINEMENTS || !(sum < GAIN * least)) return worst_of(e, u);
        least = sum;
        memcpy(change, u, places);
        dls_cholesky_solve(&e->R, change);
        for (int j = 0; j < e->place_count; j++) x[j] -= change[j];
    }
}

dls_status dls_elimination_recover(dls_elimination *e, double *r, dls_held_error *held, dls_error *error) {
    const dls_problem *p = e->p;
    dls_workspace_mark mark = dls_workspace_get_mark(e->space);
    size_t states = p->op->state_size(p);
    double *of_others = DLS_TAKE(e->space, double, states), *y = DLS_TAKE(e->space, double, states);
    double *x = DLS_TAKE_ZERO(e->space, double, e->place_count),
           *u = DLS_TAKE(e->space, double, e->place_count);
    double *change = DLS_TAKE(e->space, double, e->place_count);
    bool taken = of_others && y && x && u && change;
    if (taken) {
        for (int j = 0; j < e->place_count; j++) r[e->row[j]] = 0;
        p->op->start(p, r, of_others, e->threads);
        *held = refine(e, of_others, y, x, u, change);
        for (int j = 0; j < e->place_count; j++) r[e->row[j]] = x[j];
    }
    dls_workspace_release(e->space, mark);
    return taken ? DLS_OK : dls_fail_memory(error);
}

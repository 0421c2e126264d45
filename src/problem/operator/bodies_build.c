/* Making matrix-free problems: of bodies that a user states, and of a step's contacts in its workspace. */
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "problem/definition.h"
#include "problem/operator/bodies.h"
#include "problem/operator/body_rows.h"

#include <math.h>
#include <string.h>

/* ---- bodies as stated ---- */

static dls_status check_bodies(const dls_problem *p, const dls_bodies *bodies, dls_error *error) {
    if (!bodies) return dls_fail(error, DLS_ERROR_ARGUMENT, "bodies are needed, got NULL");
    if (bodies->body_count < 0 || bodies->body_dof < 1 || bodies->body_dof > SMALL_MAX)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "%d bodies of %d freedoms, expected 0 or more bodies of 1 to %d", bodies->body_count,
                        bodies->body_dof, SMALL_MAX);
    if ((bodies->body_count && !bodies->inverse_mass) || (p->block_count && (!bodies->body || !bodies->H)))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "inverse masses, bodies of contacts and H are needed, got NULL");
    for (int k = 0; k < 2 * p->block_count; k++)
        if (bodies->body[k] < -1 || bodies->body[k] >= bodies->body_count)
            return dls_fail(error, DLS_ERROR_INPUT, "body %d of block %d is out of range, expected −1 … %d",
                            bodies->body[k], k / 2, bodies->body_count - 1);
    int64_t values = 2 * (int64_t)p->row_count * bodies->body_dof;
    for (int64_t k = 0; k < values; k++)
        if (!isfinite(bodies->H[k]))
            return dls_fail(error, DLS_ERROR_INPUT, "H's entry %lld is %g, expected a finite number",
                            (long long)k, bodies->H[k]);
    return DLS_OK;
}

/* L with A = L Lᵀ for a positive semidefinite A; a locked freedom has a zero row and column. Rounding is
 * judged against √(A_ii A_jj), so that masses and inertias of any size may stand side by side. */
static bool semidefinite_factor(int n, const double *A, double *L) {
    double size[SMALL_MAX];
    for (int i = 0; i < n; i++) {
        if (!(A[i + n * i] >= 0)) return false;
        size[i] = sqrt(A[i + n * i]);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (!(fabs(A[i + n * j] - A[j + n * i]) <= 1e-9 * size[i] * size[j])) return false;
    for (int j = 0; j < n; j++) {
        double pivot = A[j + n * j];
        for (int k = 0; k < j; k++) pivot -= L[j + n * k] * L[j + n * k];
        if (!(pivot >= -1e-10 * A[j + n * j])) return false;
        double root = pivot > 1e-13 * A[j + n * j] ? sqrt(pivot) : 0;
        for (int i = 0; i < n; i++) {
            double sum = A[i + n * j];
            for (int k = 0; k < j; k++) sum -= L[i + n * k] * L[j + n * k];
            if (i > j && root == 0 && !(fabs(sum) <= 1e-4 * size[i] * size[j])) return false;
            L[i + n * j] = i < j ? 0 : root > 0 ? sum / root : 0;
        }
    }
    return true;
}

/* G = H L for one side, from column-major H to rows. */
static void scale_side(int d, int dof, const double *H, const double *L, double *G) {
    for (int i = 0; i < d; i++)
        for (int k = 0; k < dof; k++) {
            double sum = 0;
            for (int j = 0; j < dof; j++) sum += H[i + d * j] * L[j + dof * k];
            G[i * dof + k] = sum;
        }
}

static void fill_rows(dls_problem *p, const dls_bodies *bodies, const double *L) {
    dls_body_rows *B = p->data;
    int dof = bodies->body_dof;
    int64_t at = 0;
    for (int c = 0; c < p->block_count; c++) {
        int d = dls_size(p, c), *pair = B->body + 2 * c;
        double *first = B->G + at, *second = first + d * dof;
        if (B->row_start) B->row_start[c] = at;
        for (int side = 0; side < 2; side++, at += d * dof) {
            pair[side] = bodies->body[2 * c + side];
            double *G = side ? second : first;
            if (pair[side] >= 0)
                scale_side(d, dof, bodies->H + at, L + (int64_t)pair[side] * dof * dof, G);
            else
                for (int k = 0; k < d * dof; k++) G[k] = 0;
        }
        if (pair[0] >= 0 && pair[0] == pair[1]) { /* a body that touches itself: one side carries both */
            for (int k = 0; k < d * dof; k++) first[k] += second[k], second[k] = 0;
            pair[1] = -1;
        }
    }
}

static void fill_diagonal(dls_problem *p) {
    for (int c = 0; c < p->block_count; c++) {
        int d = dls_size(p, c);
        double *W = dls_diagonal_place(p, c);
        for (int side = 0; side < 2; side++)
            body_outer(d, d, dls_rows_of(p)->dof, dls_side_of(p, c, side), dls_side_of(p, c, side), W);
    }
}

/* The bodies of a list of pairs, and their entries: counted in start[body + 2], or written. */
static void count_entries(const int *body, int64_t count, int64_t *start) {
    for (int64_t k = 0; k < count; k++)
        if (body[k] >= 0) start[body[k] + 2]++;
}

static void write_entries(const int *body, int64_t count, int64_t *start, int *entry) {
    for (int64_t k = 0; k < count; k++)
        if (body[k] >= 0) entry[start[body[k] + 1]++] = (int)k;
}

dls_status dls_bodies_list_entries(dls_problem *p, dls_error *error) {
    dls_body_rows *B = p->data;
    int64_t sides = 2 * (int64_t)p->block_count;
    B->start = dls_problem_take(p, p->body_count + 2, sizeof(int64_t));
    if (!B->start) return dls_fail_memory(error);
    count_entries(B->body, sides, B->start);
    if (B->tails) count_entries(B->tails->component, sides, B->start);
    for (int body = 0; body < p->body_count; body++) B->start[body + 2] += B->start[body + 1];
    B->entry = dls_problem_take(p, B->start[p->body_count + 1], sizeof(int));
    if (!B->entry) return dls_fail_memory(error);
    write_entries(B->body, sides, B->start, B->entry);
    if (B->tails) write_entries(B->tails->component, sides, B->start, B->entry);
    return DLS_OK;
}

static dls_status build(dls_problem *p, const dls_bodies *bodies, double *L, dls_error *error) {
    int dof = bodies->body_dof;
    for (int body = 0; body < bodies->body_count; body++)
        if (!semidefinite_factor(dof, bodies->inverse_mass + (int64_t)body * dof * dof,
                                 L + (int64_t)body * dof * dof))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "inverse mass of body %d is not finite and positive semidefinite", body);
    dls_body_rows *B = p->data = dls_problem_take(p, 1, sizeof *B);
    if (!B) return dls_fail_memory(error);
    p->body_count = bodies->body_count;
    B->dof = B->stride = B->widest = dof;
    B->body = DLS_NEW(int, 2 * (int64_t)p->block_count);
    B->G = DLS_NEW(double, 2 * (int64_t)p->row_count * dof);
    if (!p->uniform) B->row_start = DLS_NEW(int64_t, p->block_count);
    if (!B->body || !B->G || (!p->uniform && !B->row_start)) return dls_fail_memory(error);
    fill_rows(p, bodies, L);
    fill_diagonal(p);
    return dls_bodies_list_entries(p, error);
}

dls_status dls_problem_create_bodies(const dls_problem_def *def, const dls_bodies *bodies,
                                     dls_problem **problem, dls_error *error) {
    dls_error_clear(error);
    if (!problem) return dls_fail(error, DLS_ERROR_ARGUMENT, "nowhere to put the problem: NULL");
    *problem = NULL;
    dls_problem *p;
    dls_status status = dls_problem_begin(def, NULL, &p, error);
    if (status) return status;
    p->op = &dls_operator_bodies;
    status = check_bodies(p, bodies, error);
    if (!status) {
        double *L = DLS_NEW(double, (int64_t)bodies->body_count * bodies->body_dof * bodies->body_dof);
        status = L ? build(p, bodies, L, error) : dls_fail_memory(error);
        dls_free(L);
    }
    if (!status) status = dls_problem_finish(p, error);
    if (!status) status = dls_problem_take_units(p, error);
    if (status)
        dls_problem_destroy(p);
    else
        *problem = p;
    return status;
}

/* ---- contacts and intervals in a workspace ---- */

/* Contensou's third tangential row is one of rows alone. */
static bool may_be_ball(const dls_contacts_def *def, int c) {
    return def->ball && def->ball[c] && (!def->parts || (def->parts[c] & 3) == 2);
}

/* Balls are kept as such where they are most of the contacts: rows beside them are a third longer. */
static int ball_count(const dls_contacts_def *def) {
    int balls = 0;
    for (int c = 0; c < def->count && def->ball; c++) balls += may_be_ball(def, c);
    return def->d == 3 && 2 * (int64_t)balls >= def->count ? balls : 0;
}

static int block_size(const dls_contacts_def *def, int c) {
    if (c >= def->count) return def->interval_size[c - def->count];
    return def->parts ? 1 + dls_parts_rows(def->parts[c]) : def->d;
}

static bool touches_wide(const dls_contacts_def *def, int c) {
    for (int side = 0; side < 2 && def->width; side++) {
        int body = def->body[2 * (int64_t)c + side];
        if (body >= 0 && def->width[body]) return true;
    }
    return false;
}

/* A run of block c alone. */
static dls_run run_of(const dls_problem *p, const dls_contacts_def *def, int balls, int c) {
    bool contact = c < def->count, ball = contact && balls && may_be_ball(def, c);
    uint8_t parts = !contact ? 0 : def->parts ? def->parts[c] : DLS_PARTS(def->d - 1, 0, 0);
    dls_row_storage storage = ball ? DLS_BALLS : touches_wide(def, c) ? DLS_WIDE : DLS_ROWS;
    return (dls_run){c, c + 1, p->row[c], (uint8_t)block_size(def, c), p->kind[c], (uint8_t)storage, parts};
}

static bool are_alike(const dls_run *a, const dls_run *b) {
    return a->size == b->size && a->kind == b->kind && a->storage == b->storage && a->parts == b->parts;
}

/* Contacts of one size that are all balls or all rows. */
static bool is_single_run(const dls_problem *p, const dls_contacts_def *def, int balls) {
    return !def->parts && !def->interval_count && !def->width && (balls == 0 || balls == p->block_count);
}

/* Runs of blocks that are alike; where they are not all, row_start tells balls from rows and where rows
 * begin. */
static bool cut_runs(dls_problem *p, const dls_contacts_def *def, int balls) {
    dls_body_rows *B = p->data;
    int n = p->block_count;
    int64_t at = 0, most = 1;
    for (int c = 1; c < n && !is_single_run(p, def, balls); c++) {
        dls_run last = run_of(p, def, balls, c - 1), run = run_of(p, def, balls, c);
        most += !are_alike(&last, &run);
    }
    p->runs = DLS_TAKE(p->workspace, dls_run, most);
    if (!p->runs) return false;
    if (is_single_run(p, def, balls)) {
        if (n) p->runs[p->run_count++] = run_of(p, def, balls, 0);
        if (n) p->runs[0].end = n;
        return true;
    }
    B->row_start = DLS_TAKE(p->workspace, int64_t, n);
    if (!B->row_start) return false;
    for (int c = 0; c < n; c++) {
        dls_run run = run_of(p, def, balls, c);
        if (!p->run_count || !are_alike(&run, &p->runs[p->run_count - 1])) p->runs[p->run_count++] = run;
        p->runs[p->run_count - 1].end = c + 1;
        B->row_start[c] = run.storage == DLS_BALLS ? -1 : at;
        at += run.storage == DLS_BALLS ? 0 : dls_side_numbers(p, c);
    }
    return true;
}

/* What contacts with other parts than one have besides. */
static bool take_parts(dls_problem *p, const dls_contacts_def *def) {
    dls_workspace *w = p->workspace;
    int64_t n = p->block_count;
    p->parts = DLS_TAKE_ZERO(w, uint8_t, n);
    p->mu_rolling = DLS_TAKE_ZERO(w, double, n);
    p->mu_spinning = DLS_TAKE_ZERO(w, double, n);
    if (!p->parts || !p->mu_rolling || !p->mu_spinning) return false;
    for (int c = 0; c < def->count; c++) p->parts[c] = def->parts[c];
    return true;
}

/* What intervals have besides. */
static bool take_intervals(dls_problem *p, const dls_contacts_def *def) {
    dls_workspace *w = p->workspace;
    dls_body_rows *B = p->data;
    p->low = DLS_TAKE(w, double, p->row_count);
    p->high = DLS_TAKE(w, double, p->row_count);
    p->inverse_mass = DLS_TAKE_ZERO(w, double, p->block_count);
    p->masses_told = true;
    B->compliance = DLS_TAKE_ZERO(w, double, p->row_count);
    if (!p->low || !p->high || !p->inverse_mass || !B->compliance) return false;
    for (int i = 0; i < p->row_count; i++) p->low[i] = -HUGE_VAL, p->high[i] = HUGE_VAL;
    for (int c = def->count; c < p->block_count; c++) p->kind[c] = DLS_INTERVAL, p->mu[c] = 0;
    return true;
}

static bool take_layout(dls_problem *p, const dls_contacts_def *def) {
    dls_workspace *w = p->workspace;
    int64_t n = p->block_count, rows = p->row_count;
    bool units = def->parts || def->interval_count;
    p->row = DLS_TAKE(w, int, n + 1);
    p->kind = DLS_TAKE_ZERO(w, uint8_t, n);
    p->mu = DLS_TAKE(w, double, n);
    p->scale = DLS_TAKE(w, double, n);
    p->speed = DLS_TAKE_ZERO(w, double, n);
    p->b = DLS_TAKE(w, double, rows);
    if (!p->uniform) p->diagonal_start = DLS_TAKE(w, int64_t, n + 1);
    if (units) p->unit = DLS_TAKE(w, double, rows);
    if (units) p->given_b = DLS_TAKE(w, double, rows);
    if (!p->row || !p->kind || !p->mu || !p->scale || !p->speed || !p->b ||
        (!p->uniform && !p->diagonal_start) || (units && (!p->unit || !p->given_b)))
        return false;
    p->row[0] = 0;
    if (!p->uniform) p->diagonal_start[0] = 0;
    for (int c = 0; c < p->block_count; c++) {
        int size = block_size(def, c);
        p->row[c + 1] = p->row[c] + size;
        if (!p->uniform) p->diagonal_start[c + 1] = p->diagonal_start[c] + size * size;
    }
    return (!def->parts || take_parts(p, def)) && (!def->interval_count || take_intervals(p, def));
}

/* Widths and places of all bodies; states of wide ones lie behind those of all. */
static bool take_widths(dls_problem *p, const dls_contacts_def *def) {
    dls_body_rows *B = p->data;
    int *width = DLS_TAKE(p->workspace, int, def->body_count);
    int64_t *place = DLS_TAKE(p->workspace, int64_t, def->body_count);
    if (!width || !place) return false;
    for (int body = 0; body < def->body_count; body++) {
        bool wide = def->width[body] > 0;
        width[body] = wide ? def->width[body] : B->dof;
        place[body] = wide ? (int64_t)def->body_count * B->stride + B->wide : (int64_t)body * B->stride;
        if (wide) B->wide += def->width[body];
        if (width[body] > B->widest) B->widest = width[body];
    }
    B->width = width, B->place = place;
    return true;
}

static bool take_rows(dls_problem *p, const dls_contacts_def *def, int balls) {
    dls_workspace *w = p->workspace;
    dls_body_rows *B = p->data;
    int64_t n = p->block_count, d = p->uniform, numbers = 2 * (int64_t)p->row_count * B->dof;
    int64_t entries = d ? n * d * d : p->diagonal_start[n];
    bool only_balls = n && balls == n;
    for (int c = 0; c < def->count && balls; c++)
        if (may_be_ball(def, c)) numbers -= 2 * (int64_t)block_size(def, c) * B->dof;
    if (balls && def->parts) B->roll = DLS_TAKE(w, dls_roll_row, n);
    B->body = DLS_TAKE(w, int, 2 * n);
    if (balls) B->round = DLS_TAKE(w, dls_round_row, n);
    if (B->body && def->width) memcpy(B->body, def->body, sizeof(int) * 2 * (size_t)n);
    for (int64_t k = 0; k < 2 * n && def->width && B->body; k++)
        numbers += (int64_t)block_size(def, (int)(k / 2)) * (dls_width_of(B, B->body[k]) - B->dof);
    if (!only_balls) B->G = DLS_TAKE(w, double, numbers);
    if (!only_balls) p->diagonal = DLS_TAKE_ZERO(w, double, entries + DLS_MAX_BLOCK);
    return B->body && (!balls || (B->round && (B->roll || !def->parts))) &&
           (only_balls || (B->G && p->diagonal));
}

dls_status dls_problem_begin_contacts(dls_workspace *workspace, const dls_contacts_def *def,
                                      dls_problem **problem, dls_error *error) {
    dls_problem *p = *problem = DLS_TAKE_ZERO(workspace, dls_problem, 1);
    dls_body_rows *B = DLS_TAKE_ZERO(workspace, dls_body_rows, 1);
    if (!p || !B) return dls_fail_memory(error);
    int balls = ball_count(def);
    p->workspace = workspace;
    p->op = &dls_operator_bodies;
    p->data = B;
    p->contact_count = def->count;
    p->block_count = def->count + def->interval_count;
    for (int c = 0; c < p->block_count; c++) p->row_count += block_size(def, c);
    p->body_count = def->body_count;
    p->uniform = def->count && !def->parts && !def->interval_count ? def->d : 0;
    p->reference_velocity = def->reference_velocity;
    B->dof = def->d == 2 ? 3 : balls && balls < p->block_count ? ROUND_STATE : 6;
    B->stride = balls ? ROUND_STATE : B->dof;
    B->widest = B->dof;
    bool taken = (!def->width || take_widths(p, def)) && take_layout(p, def) && take_rows(p, def, balls) &&
                 cut_runs(p, def, balls);
    return taken ? DLS_OK : dls_fail_memory(error);
}

/* W_cc = G_c G_cᵀ: positive semidefinite as it comes. Gives the sum with their scales added one by one. */
static double end_rows(dls_problem *p, int first, int end, double sum) {
    const dls_body_rows *B = p->data;
    for (int c = first; c < end; c++) {
        int d = dls_size(p, c);
        double *W = dls_diagonal_place(p, c);
        for (int side = 0; side < 2; side++) {
            const double *G = dls_side_of(p, c, side);
            int body = B->body[2 * (int64_t)c + side], width = dls_width_of(B, body);
            if (body < 0) continue;
            if (d == 3 && width == 6)
                body_outer(3, 3, 6, G, G, W);
            else
                body_outer(d, d, width, G, G, W);
        }
        if (p->parts || p->kind[c] == DLS_INTERVAL) dls_bodies_take_units(p, c);
        p->scale[c] = small_trace(d, W) / d;
        sum += p->scale[c];
    }
    return sum;
}

/* What follows from γ, in units such that the rows behind the first three weigh as these: ℓ² = w̄/Σγ². */
static void end_rolling(dls_problem *p, int c, const double *W) {
    const dls_body_rows *B = p->data;
    const dls_round_row *row = &B->round[c];
    dls_roll_row *roll = &B->roll[c];
    double turn = roll->gamma_a * roll->gamma_a + roll->gamma_b * roll->gamma_b;
    double mean = (W[0] + 2 * W[4]) / 3, length = sqrt(mean / turn);
    bool rolling = p->parts[c] & DLS_PARTS(0, 3, 0), spinning = p->parts[c] & DLS_PARTS(0, 0, 3);
    p->mu_rolling[c] /= length;
    p->mu_spinning[c] /= length;
    roll->gamma_a *= length;
    roll->gamma_b *= length;
    roll->w_t = W[4];
    double w_r = roll->gamma_a * roll->gamma_a + roll->gamma_b * roll->gamma_b;
    roll->inverse_r = 1 / w_r;
    roll->kappa = row->beta_a * roll->gamma_a + row->beta_b * roll->gamma_b;
    roll->inverse = 1 / (roll->w_t * w_r - roll->kappa * roll->kappa);
    roll->mu_rolling = rolling ? p->mu_rolling[c] : -1;
    roll->mu_spinning = spinning ? p->mu_spinning[c] : -1;
    for (int i = p->row[c]; i < p->row[c + 1]; i++) {
        p->unit[i] = i < p->row[c] + 3 ? 1 : length;
        p->given_b[i] = p->b[i];
        p->b[i] *= p->unit[i];
    }
    if (p->diagonal) dls_rolling_diagonal(p, c, dls_diagonal_place(p, c));
    p->scale[c] = (3 * mean + (dls_size(p, c) - 3) * w_r) / dls_size(p, c);
}

static double end_balls(dls_problem *p, int first, int end, double sum) {
    const dls_body_rows *B = p->data;
    for (int c = first; c < end; c++) {
        dls_round_row *row = &B->round[c];
        double W[9];
        round_diagonal(row, W);
        row->inverse_n = 1 / W[0];
        row->inverse_t = 1 / W[4];
        row->mu = p->mu[c];
        p->scale[c] = (W[0] + 2 * W[4]) / 3;
        if (B->roll)
            end_rolling(p, c, W);
        else if (p->diagonal) /* rows stand beside them */
            memcpy(p->diagonal + 9 * (int64_t)c, W, sizeof W);
        sum += p->scale[c];
    }
    return sum;
}

static double end_range(void *self, int first, int end) {
    dls_problem *p = self;
    const dls_body_rows *B = p->data;
    double sum = 0;
    for (int c = first, stop; c < end; c = stop) {
        stop = B->row_start ? c + 1 : end; /* without starts all are of one storage */
        sum = dls_is_ball(B, c) ? end_balls(p, c, stop, sum) : end_rows(p, c, stop, sum);
    }
    for (int i = p->row[first]; i < p->row[end] && p->unit && !p->parts; i++) /* beside intervals */
        p->unit[i] = 1, p->given_b[i] = p->b[i];
    return sum;
}

/* Whether a row of an interval block has ε > 0; rows without any pay nothing. */
static bool is_compliant(const dls_problem *p) {
    const dls_body_rows *B = p->data;
    for (int i = p->row[p->contact_count]; i < p->row_count; i++)
        if (B->compliance[i] != 0) return true;
    return false;
}

/* W_cc = G_c G_cᵀ + diag(ε) of intervals; gives the sum of their scales. */
static double end_intervals(dls_problem *p) {
    dls_body_rows *B = p->data;
    double sum = 0;
    if (p->contact_count == p->block_count) return 0;
    if (!is_compliant(p)) B->compliance = NULL;
    for (int c = p->contact_count; c < p->block_count; c++) {
        double *W = dls_diagonal_place(p, c);
        int d = dls_size(p, c);
        for (int i = 0; i < d && B->compliance; i++) W[i + d * i] = B->compliance[p->row[c] + i];
        sum = end_rows(p, c, c + 1, sum);
    }
    return sum;
}

static dls_status check_intervals(const dls_problem *p, dls_error *error) {
    for (int c = p->contact_count; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1]; i++) {
            if (!(p->unit[i] > 0) || isinf(p->unit[i]))
                return dls_fail(error, DLS_ERROR_INPUT,
                                "row %d of interval block %d: nothing that it holds can move, or w̄ is %g",
                                i - p->row[c], c, p->inverse_mass[c]);
            if (!(p->low[i] <= p->high[i]))
                return dls_fail(error, DLS_ERROR_INPUT,
                                "row %d of interval block %d has bounds %g and %g, expected low ≤ high",
                                i - p->row[c], c, p->low[i], p->high[i]);
        }
    return DLS_OK;
}

dls_status dls_problem_end_contacts(dls_problem *p, int threads, dls_error *error) {
    int contacts = p->contact_count, intervals = p->block_count - contacts;
    double sum = dls_parallel_sum(contacts, threads, end_range, p), others = end_intervals(p);
    p->mean_scale = contacts ? sum / contacts : intervals ? others / intervals : 1;
    for (int c = 0; c < contacts; c++)
        if (!(p->scale[c] > 0) || isinf(p->scale[c]))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "contact %d: nothing that it touches can move (trace of its block %g)", c,
                            p->scale[c]);
    dls_status status = check_intervals(p, error);
    return status ? status : dls_bodies_list_entries(p, error);
}

/* The contacts of a step as one small problem of accelerations, A = D λ + free. */
#include "system/alpha.h"

#include "system/levels.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Beyond so many rows D is that of masses alone: with constraints held every row meets every other. */
enum { MOST_HELD = 1500 };

typedef struct contact_row {
    int family, row;
    const dls_row_place *place;
} contact_row;

/* Row i of those of contacts, N before F. */
static contact_row row_at(const dls_alpha *alpha, int i) {
    int normals = alpha->at.count[DLS_ROWS_N], f = i < normals ? DLS_ROWS_N : DLS_ROWS_F;
    int row = i < normals ? i : i - normals;
    return (contact_row){f, row, &alpha->place[f][row]};
}

static int row_count(const dls_alpha *alpha) {
    return alpha->at.count[DLS_ROWS_N] + alpha->at.count[DLS_ROWS_F];
}

static const double *direction_of(const dls_alpha *alpha, contact_row r) {
    return alpha->stage.terms.rows[r.family].W + r.place->W;
}

/* ---- which rows meet ---- */

static bool holds_constraints(const dls_alpha *alpha) {
    int held = alpha->at.count[DLS_ROWS_G] + alpha->at.count[DLS_ROWS_GAMMA];
    return held > 0 && row_count(alpha) <= MOST_HELD;
}

/* Rows of each body. */
static void list_rows(const dls_alpha *alpha, int *first, int *order) {
    int *place = first + 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < row_count(alpha); i++) {
            const dls_row_place *at = row_at(alpha, i).place;
            for (int side = 0; side < 2 && at->body[side] >= 0; side++) {
                if (pass == 0)
                    place[at->body[side] + 1]++;
                else
                    order[place[at->body[side]]++] = i;
            }
        }
        for (int b = 0; b < alpha->parts.count && pass == 0; b++) place[b + 1] += place[b];
    }
}

/* Rows that share a body with row i, each once; column NULL: only counted. */
static int meet(const dls_alpha *alpha, int i, const int *first, const int *order, int *seen, int *column) {
    const dls_row_place *at = row_at(alpha, i).place;
    int count = 0;
    for (int side = 0; side < 2 && at->body[side] >= 0; side++)
        for (int n = first[at->body[side]]; n < first[at->body[side] + 1]; n++) {
            if (seen[order[n]] == i + 1) continue;
            seen[order[n]] = i + 1;
            if (column) column[count] = order[n];
            count++;
        }
    return count;
}

void dls_contacts_fit(dls_alpha *alpha) {
    dls_row_matrix *D = &alpha->delassus;
    int rows = row_count(alpha);
    bool all = holds_constraints(alpha) || alpha->parts.count == 1;
    D->start = (int64_t *)dls_alpha_numbers(alpha, rows + 1), D->diagonal = dls_alpha_numbers(alpha, rows);
    int *first = dls_alpha_integers(alpha, alpha->parts.count + 2),
        *order = dls_alpha_integers(alpha, 2 * (int64_t)rows), *seen = dls_alpha_integers(alpha, rows);
    if (alpha->out_of_memory) return;
    list_rows(alpha, first, order);
    for (int i = 0; i < rows; i++)
        D->start[i + 1] = D->start[i] + (all ? rows : meet(alpha, i, first, order, seen, NULL));
    D->column = dls_alpha_integers(alpha, D->start[rows]),
    D->value = dls_alpha_numbers(alpha, D->start[rows]);
    if (alpha->out_of_memory) return;
    memset(seen, 0, sizeof *seen * (size_t)rows);
    for (int i = 0; i < rows; i++) {
        int *column = D->column + D->start[i];
        if (!all) meet(alpha, i, first, order, seen, column);
        for (int j = 0; j < rows && all; j++) column[j] = j;
    }
}

/* ---- D and free accelerations ---- */

/* a = M⁻¹h with constraints held. */
static void find_free(dls_alpha *alpha) {
    const dls_terms *terms = &alpha->stage.terms;
    double *a = alpha->move_u,
           *z[DLS_FAMILIES] = {alpha->d_value[DLS_ROWS_G], alpha->d_value[DLS_ROWS_GAMMA]};
    memcpy(a, terms->h, sizeof *a * (size_t)alpha->at.m);
    for (int f = DLS_ROWS_G; f <= DLS_ROWS_GAMMA; f++)
        for (int k = 0; k < alpha->at.count[f]; k++) z[f][k] = -terms->rows[f].zeta[k];
    dls_level_solve(alpha, DLS_LEVEL_HELD, a, z);
    for (int i = 0; i < row_count(alpha); i++) {
        contact_row r = row_at(alpha, i);
        alpha->free[i] = dls_row_dot(r.place, direction_of(alpha, r), a) + terms->rows[r.family].zeta[r.row];
    }
}

/* a of a unit force in row r. */
static void push_row(dls_alpha *alpha, contact_row r, double *a) {
    double *z[DLS_FAMILIES] = {alpha->d_value[DLS_ROWS_G], alpha->d_value[DLS_ROWS_GAMMA]};
    if (!holds_constraints(alpha)) {
        dls_level_divide(alpha, r.place, direction_of(alpha, r), a);
        return;
    }
    memset(a, 0, sizeof *a * (size_t)alpha->at.m); /* of the row before */
    dls_row_add(r.place, 1, direction_of(alpha, r), a);
    for (int f = DLS_ROWS_G; f <= DLS_ROWS_GAMMA; f++)
        memset(z[f], 0, sizeof *z[f] * (size_t)alpha->at.count[f]);
    dls_level_solve(alpha, DLS_LEVEL_HELD, a, z);
}

bool dls_contact_system(dls_alpha *alpha) {
    dls_row_matrix *D = &alpha->delassus;
    double *a = alpha->move_u;
    if (!dls_level_factor(alpha, DLS_LEVEL_HELD)) return false;
    find_free(alpha);
    memset(a, 0, sizeof *a * (size_t)alpha->at.m);
    for (int i = 0; i < row_count(alpha); i++) {
        const dls_row_place *own = row_at(alpha, i).place;
        push_row(alpha, row_at(alpha, i), a);
        for (int64_t n = D->start[i]; n < D->start[i + 1]; n++) {
            contact_row other = row_at(alpha, D->column[n]);
            D->value[n] = dls_row_dot(other.place, direction_of(alpha, other), a);
            if (D->column[n] == i) D->diagonal[i] = D->value[n];
        }
        for (int side = 0; side < 2; side++) memset(a + own->u[side], 0, sizeof *a * (size_t)own->m[side]);
    }
    return true;
}

/* Σ_j |D_ij| over the rows of the contact itself and of those that were closed: 1/r of a safe fixed point. */
static double row_sum(const dls_alpha *alpha, int i, int contact) {
    const dls_row_matrix *D = &alpha->delassus;
    int normals = alpha->at.count[DLS_ROWS_N];
    double sum = 0;
    for (int64_t n = D->start[i]; n < D->start[i + 1]; n++) {
        int j = D->column[n], owner = j < normals ? j : alpha->laws[alpha->law_of[j - normals]].contact;
        if (owner >= 0 && owner != contact && !alpha->state.closed[owner]) continue;
        sum += fabs(D->value[n]);
    }
    return sum;
}

static double prox_parameter(const dls_alpha *alpha, double own, double sum) {
    if (own > 0) return own;
    if (alpha->options.r > 0) return alpha->options.r;
    return sum > 0 ? 1 / sum : 1;
}

/* ---- units ---- */

/* WᵀM⁻¹W of a row, masses alone. */
static double mobility(const dls_alpha *alpha, int family, int row) {
    const dls_row_place *at = &alpha->place[family][row];
    const double *W = alpha->stage.terms.rows[family].W + at->W;
    double sum = 0;
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < at->m[side]; k++) {
            double w = *W++, mass = fabs(dls_mass_of(alpha, at->body[side], k));
            if (mass > 0) sum += w * w / mass;
        }
    return sum;
}

static double largest(int count, const double *x) {
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* What rounding leaves of positions, velocities and accelerations. */
static void find_rounding(dls_alpha *alpha) {
    static const double epsilon = 32 * DBL_EPSILON;
    const dls_terms *terms = &alpha->stage.terms;
    int m = alpha->at.m;
    double acceleration = largest(m, alpha->state.a);
    for (int b = 0; b < alpha->parts.count; b++)
        for (int i = alpha->parts.u[b]; i < alpha->parts.u[b + 1]; i++) {
            double mass = fabs(dls_mass_of(alpha, b, i - alpha->parts.u[b]));
            if (mass > 0) acceleration = fmax(acceleration, fabs(terms->h[i]) / mass);
        }
    double speed = largest(m, alpha->state.u), place = largest(alpha->at.n, alpha->state.q);
    alpha->stage.rounding[0] = epsilon * (place + alpha->options.dt * speed);
    alpha->stage.rounding[1] = epsilon * (speed + alpha->options.dt * acceleration);
    alpha->stage.rounding[2] = epsilon * (acceleration + speed * speed);
}

/* Of a row and its forces at the levels of position, velocity and acceleration; level: one over what counts
 * as much as v_ref does. */
static void weigh_row(dls_alpha *alpha, int f, int row, const double *level) {
    const dls_layout *at = &alpha->at;
    double rate = dls_row_unit(alpha, f, row), force = f < DLS_ROWS_N ? 0 : rate * mobility(alpha, f, row);
    double one = fmax(rate, force);
    if (at->kappa[f] >= 0) alpha->weight[at->kappa[f] + row] = one * level[0];
    alpha->weight[at->impact[f] + row] = one * level[1];
    alpha->weight[at->force[f] + row] = one * level[2];
}

/* Of R: 1, or with `scaled` one over what v_ref does and what rounding leaves: √(M_ii m) times it for rows of
 * motion with m the largest mass, in the units of its rows for kinematics and forces. */
static void weigh(dls_alpha *alpha) {
    const int *u = alpha->parts.u;
    double v = alpha->stage.v_ref, dt = alpha->options.dt, tolerance = alpha->options.tolerance, level[3];
    double scale[3] = {v * dt, v, v / dt}, heaviest = 0;
    for (int i = 0; i < alpha->at.total; i++) alpha->weight[i] = 1;
    if (!alpha->options.scaled || !(v > 0)) return;
    for (int k = 0; k < 3; k++) level[k] = 1 / (scale[k] + alpha->stage.rounding[k] / tolerance);
    for (int b = 0; b < alpha->parts.count; b++)
        for (int i = 0; i < u[b + 1] - u[b]; i++) heaviest = fmax(heaviest, fabs(dls_mass_of(alpha, b, i)));
    for (int b = 0; b < alpha->parts.count; b++)
        for (int i = 0; i < u[b + 1] - u[b]; i++) {
            double one = 1 / sqrt(fabs(dls_mass_of(alpha, b, i)) * heaviest);
            alpha->weight[alpha->at.a + u[b] + i] = one * level[2];
            alpha->weight[alpha->at.U + u[b] + i] = one * level[1];
            alpha->weight[alpha->at.Q + u[b] + i] = one * level[0];
        }
    DLS_EACH_FAMILY(f)
    for (int i = 0; i < alpha->at.count[f]; i++) weigh_row(alpha, f, i, level);
}

bool dls_scale_prox(dls_alpha *alpha) {
    int normals = alpha->at.count[DLS_ROWS_N];
    double sum = 0;
    if (!dls_contact_system(alpha)) {
        alpha->culprit = "mass (singular)", alpha->culprit_family = -1;
        return false;
    }
    for (int k = 0; k < normals; k++) {
        alpha->r_n[k] = prox_parameter(alpha, alpha->contacts[k].r, row_sum(alpha, k, k));
        sum += alpha->free[k] * alpha->free[k];
    }
    for (int l = 0; l < alpha->system.law_count; l++) {
        double largest = 0;
        for (int i = alpha->law_row[l]; i < alpha->law_row[l + 1]; i++)
            largest = fmax(largest, row_sum(alpha, normals + i, alpha->laws[l].contact));
        alpha->r_t[l] = prox_parameter(alpha, alpha->laws[l].r, largest);
    }
    memcpy(alpha->slip_before, alpha->stage.terms.rows[DLS_ROWS_F].rate,
           sizeof(double) * (size_t)alpha->at.count[DLS_ROWS_F]);
    alpha->stage.v_ref = alpha->options.v_ref;
    if (!(alpha->options.v_ref > 0) && normals > 0)
        alpha->stage.v_ref = alpha->options.dt * sqrt(sum / normals);
    find_rounding(alpha);
    weigh(alpha);
    return true;
}

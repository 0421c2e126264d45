/* How many accelerations the laws allow at the end of a step: every contact held or leaving, every law that
 * sticks at velocity level sticking or, where it is planar, beginning to slide either way. A law that slides
 * has its direction, so each of these modes is linear. */
#include "system/alpha.h"

#include "base/lu.h"
#include "base/small.h"

#include <math.h>
#include <string.h>

enum { MOST_MODES = 729, MOST_KEPT = 4 };

typedef enum law_mode { LAW_STICKS, LAW_SLIDES_UP, LAW_SLIDES_DOWN, LAW_MODES } law_mode;

static bool takes_part(const dls_alpha *alpha, int k) { return alpha->sets.A[k] && alpha->sets.B[k]; }

static bool law_takes_part(const dls_alpha *alpha, int l) {
    return alpha->laws[l].contact >= 0 && takes_part(alpha, alpha->laws[l].contact);
}

static int law_modes(const dls_alpha *alpha, int l) {
    return alpha->sets.D[l] && alpha->laws[l].size == 1 ? LAW_MODES : 1;
}

/* The digits of a mode: per contact whether it is held, per law how it moves. */
typedef struct reader {
    int left;
} reader;

static int digit(reader *r, int base) {
    int value = r->left % base;
    r->left /= base;
    return value;
}

/* s of −λ_F = N s: along γ_F where the law slides, ±μ where it begins to. */
static void slide_direction(const dls_alpha *alpha, int l, law_mode mode, double *s) {
    const dls_model_friction *law = &alpha->laws[l];
    double zero[DLS_LAW_SIZE] = {0}, along[DLS_LAW_SIZE] = {mode == LAW_SLIDES_DOWN ? -1 : 1};
    const double *y = alpha->sets.D[l] ? along : alpha->stage.terms.rows[DLS_ROWS_F].rate + alpha->law_row[l];
    dls_law_value value = dls_friction_value(law, DLS_MODE_SLIP, 1, y, zero, 1, alpha->system.user);
    memcpy(s, value.f, sizeof *s * (size_t)law->size);
}

/* Columns of the map from unknowns to forces: `mode_force` has rows × unknowns numbers. */
static int plan_mode(dls_alpha *alpha, int number) {
    int normals = alpha->at.count[DLS_ROWS_N], rows = normals + alpha->at.count[DLS_ROWS_F], unknowns = 0;
    reader r = {number};
    double s[DLS_LAW_SIZE], *T = alpha->mode_force;
    memset(T, 0, sizeof *T * (size_t)rows * (size_t)rows);
    for (int k = 0; k < normals; k++) {
        if (!takes_part(alpha, k) || !digit(&r, 2)) continue;
        alpha->mode_row[unknowns] = k;
        T[k + (int64_t)rows * unknowns++] = 1;
    }
    int held = unknowns;
    for (int l = 0; l < alpha->system.law_count; l++) {
        if (!law_takes_part(alpha, l)) continue;
        law_mode mode = (law_mode)digit(&r, law_modes(alpha, l));
        int owner = 0, first = normals + alpha->law_row[l];
        while (owner < held && alpha->mode_row[owner] != alpha->laws[l].contact) owner++;
        if (owner == held) { /* a contact that leaves has one mode of friction */
            if (mode != LAW_STICKS) return -1;
            continue;
        }
        if (alpha->sets.D[l] && mode == LAW_STICKS) {
            for (int i = 0; i < alpha->laws[l].size; i++) {
                alpha->mode_row[unknowns] = first + i;
                T[first + i + (int64_t)rows * unknowns++] = 1;
            }
            continue;
        }
        slide_direction(alpha, l, mode, s);
        for (int i = 0; i < alpha->laws[l].size; i++) T[first + i + (int64_t)rows * owner] = -s[i];
    }
    return unknowns;
}

/* forces and accelerations of rows, in mode_x: 2 · rows. False where the mode's matrix is singular. */
static bool solve_mode(dls_alpha *alpha, int unknowns) {
    int rows = alpha->at.count[DLS_ROWS_N] + alpha->at.count[DLS_ROWS_F];
    double *S = alpha->mode, *force = alpha->mode_x, *acceleration = force + rows, *v = acceleration + rows;
    for (int j = 0; j < unknowns; j++)
        for (int i = 0; i < unknowns; i++) {
            double sum = 0;
            for (int k = 0; k < rows; k++)
                sum += alpha->delassus[alpha->mode_row[i] + (int64_t)rows * k] *
                       alpha->mode_force[k + (int64_t)rows * j];
            S[i + (int64_t)unknowns * j] = sum;
        }
    for (int i = 0; i < unknowns; i++) v[i] = -alpha->free[alpha->mode_row[i]];
    double norm = 0;
    for (int i = 0; i < unknowns * unknowns; i++) norm = fmax(norm, fabs(S[i]));
    if (unknowns && dls_lu_factor(unknowns, S, alpha->mode_pivot, alpha->lu_room)) return false;
    for (int i = 0; i < unknowns; i++)
        if (!(fabs(S[i * (unknowns + 1)]) > 1e-12 * norm)) return false;
    if (unknowns) dls_lu_solve(unknowns, S, alpha->mode_pivot, v);
    memset(force, 0, sizeof *force * (size_t)rows);
    for (int j = 0; j < unknowns; j++)
        for (int i = 0; i < rows; i++) force[i] += alpha->mode_force[i + (int64_t)rows * j] * v[j];
    for (int i = 0; i < rows; i++) {
        acceleration[i] = alpha->free[i];
        for (int k = 0; k < rows; k++) acceleration[i] += alpha->delassus[i + (int64_t)rows * k] * force[k];
    }
    return true;
}

/* λ_N ≥ 0, g̈ ≥ 0, |λ_F| within its reservoir, γ̇_F against it where sliding begins. */
static bool is_allowed(const dls_alpha *alpha, double slack) {
    int normals = alpha->at.count[DLS_ROWS_N], rows = normals + alpha->at.count[DLS_ROWS_F];
    const double *force = alpha->mode_x, *acceleration = force + rows;
    for (int k = 0; k < normals; k++) {
        double w = alpha->delassus[k * ((int64_t)rows + 1)];
        if (takes_part(alpha, k) && (w * force[k] < -slack || acceleration[k] < -slack)) return false;
    }
    for (int l = 0; l < alpha->system.law_count; l++) {
        if (!law_takes_part(alpha, l) || !alpha->sets.D[l]) continue;
        const dls_model_friction *law = &alpha->laws[l];
        int row = normals + alpha->law_row[l];
        double p[DLS_LAW_SIZE], z[DLS_LAW_SIZE], w = alpha->delassus[row * ((int64_t)rows + 1)];
        for (int i = 0; i < law->size; i++) z[i] = -force[row + i];
        dls_friction_project(law, z, force[law->contact], p, alpha->system.user);
        for (int i = 0; i < law->size; i++)
            if (w * fabs(p[i] - z[i]) > slack) return false;
        double size = small_norm(law->size, force + row);
        if (small_dot(law->size, acceleration + row, force + row) > slack * size) return false;
    }
    return true;
}

/* Whether these accelerations were found before; else they are kept. */
static bool is_known(dls_alpha *alpha, int *found, double slack) {
    int rows = alpha->at.count[DLS_ROWS_N] + alpha->at.count[DLS_ROWS_F];
    const double *acceleration = alpha->mode_x + rows;
    for (int n = 0; n < *found; n++) {
        double off = 0;
        for (int i = 0; i < rows; i++)
            off = fmax(off, fabs(acceleration[i] - alpha->mode_kept[n * rows + i]));
        if (off <= 10 * slack) return true;
    }
    memcpy(alpha->mode_kept + (int64_t)*found * rows, acceleration, sizeof *acceleration * (size_t)rows);
    return false;
}

int dls_alpha_solutions(dls_alpha *alpha) {
    int rows = alpha->at.count[DLS_ROWS_N] + alpha->at.count[DLS_ROWS_F], modes = 1, found = 0;
    bool is_complete = true;
    double slack = 0;
    for (int k = 0; k < alpha->at.count[DLS_ROWS_N] && modes <= MOST_MODES; k++)
        modes *= takes_part(alpha, k) ? 2 : 1;
    for (int l = 0; l < alpha->system.law_count && modes <= MOST_MODES; l++) {
        if (!law_takes_part(alpha, l)) continue;
        modes *= law_modes(alpha, l);
        if (alpha->sets.D[l] && alpha->laws[l].size > 1) is_complete = false;
    }
    if (modes > MOST_MODES) return -1;
    for (int i = 0; i < rows; i++) slack = fmax(slack, 1e-9 * fabs(alpha->free[i]));
    for (int number = 0; number < modes && found < MOST_KEPT; number++) {
        int unknowns = plan_mode(alpha, number);
        if (unknowns < 0) continue;
        if (!solve_mode(alpha, unknowns))
            is_complete = false;
        else if (is_allowed(alpha, slack) && !is_known(alpha, &found, slack))
            found++;
    }
    return found == 0 && !is_complete ? -1 : found;
}

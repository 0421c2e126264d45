/* How many accelerations the laws allow at the end of a step: every contact held or leaving, every law that
 * sticks at velocity level sticking or, where it is planar, beginning to slide either way. A law that slides
 * has its direction, so each of these modes is linear. */
#include "system/alpha.h"

#include "base/lu.h"
#include "base/small.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MOST_MODES = 729, MOST_KEPT = 4, ACTING = 64 };

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

/* Rows of contacts that take part, with their D, and what a mode is solved with. */
typedef struct acting {
    int count, normals, index[ACTING]; /* index: among the rows of contacts; normals first */
    double D[ACTING * ACTING], free[ACTING];
    double map[ACTING * ACTING]; /* forces of rows by unknowns */
    int row[ACTING];             /* of each unknown */
    double force[ACTING], acceleration[ACTING];
    double kept[MOST_KEPT][ACTING];
} acting;

static int place_of(const acting *a, int index) {
    for (int i = 0; i < a->count; i++)
        if (a->index[i] == index) return i;
    return -1;
}

static bool gather(const dls_alpha *alpha, acting *a) {
    const dls_row_matrix *D = &alpha->delassus;
    int normals = alpha->at.count[DLS_ROWS_N];
    a->count = 0;
    for (int k = 0; k < normals; k++)
        if (takes_part(alpha, k)) {
            if (a->count == ACTING) return false;
            a->index[a->count++] = k;
        }
    a->normals = a->count;
    for (int l = 0; l < alpha->system.law_count; l++)
        for (int i = alpha->law_row[l]; law_takes_part(alpha, l) && i < alpha->law_row[l + 1]; i++) {
            if (a->count == ACTING) return false;
            a->index[a->count++] = normals + i;
        }
    memset(a->D, 0, sizeof a->D);
    for (int i = 0; i < a->count; i++) {
        a->free[i] = alpha->free[a->index[i]];
        for (int64_t n = D->start[a->index[i]]; n < D->start[a->index[i] + 1]; n++) {
            int j = place_of(a, D->column[n]);
            if (j >= 0) a->D[i + ACTING * j] = D->value[n];
        }
    }
    return true;
}

/* The map from unknowns to forces. */
static int plan_mode(const dls_alpha *alpha, acting *a, int number) {
    int unknowns = 0, first = a->normals;
    reader r = {number};
    double s[DLS_LAW_SIZE];
    memset(a->map, 0, sizeof a->map);
    for (int k = 0; k < a->normals; k++) {
        if (!digit(&r, 2)) continue;
        a->row[unknowns] = k;
        a->map[k + ACTING * unknowns++] = 1;
    }
    int held = unknowns;
    for (int l = 0; l < alpha->system.law_count; l++) {
        if (!law_takes_part(alpha, l)) continue;
        law_mode mode = (law_mode)digit(&r, law_modes(alpha, l));
        int owner = 0, at = first, d = alpha->laws[l].size;
        first += d;
        while (owner < held && a->index[a->row[owner]] != alpha->laws[l].contact) owner++;
        if (owner == held) { /* a contact that leaves has one mode of friction */
            if (mode != LAW_STICKS) return -1;
            continue;
        }
        if (alpha->sets.D[l] && mode == LAW_STICKS) {
            for (int i = 0; i < d; i++) {
                a->row[unknowns] = at + i;
                a->map[at + i + ACTING * unknowns++] = 1;
            }
            continue;
        }
        slide_direction(alpha, l, mode, s);
        for (int i = 0; i < d; i++) a->map[at + i + ACTING * owner] = -s[i];
    }
    return unknowns;
}

/* Forces and accelerations of rows. False where the mode's matrix is singular. */
static bool solve_mode(acting *a, int unknowns) {
    double S[ACTING * ACTING], v[ACTING], room[ACTING * ACTING], norm = 0;
    int pivot[ACTING];
    assert(dls_lu_room(unknowns) <= ACTING * ACTING);
    for (int j = 0; j < unknowns; j++)
        for (int i = 0; i < unknowns; i++) {
            double sum = 0;
            for (int k = 0; k < a->count; k++) sum += a->D[a->row[i] + ACTING * k] * a->map[k + ACTING * j];
            S[i + unknowns * j] = sum;
        }
    for (int i = 0; i < unknowns; i++) v[i] = -a->free[a->row[i]];
    for (int i = 0; i < unknowns * unknowns; i++) norm = fmax(norm, fabs(S[i]));
    if (unknowns && dls_lu_factor(unknowns, S, pivot, room)) return false;
    for (int i = 0; i < unknowns; i++)
        if (!(fabs(S[i * (unknowns + 1)]) > 1e-12 * norm)) return false;
    if (unknowns) dls_lu_solve(unknowns, S, pivot, v);
    for (int i = 0; i < a->count; i++) {
        a->force[i] = 0;
        for (int j = 0; j < unknowns; j++) a->force[i] += a->map[i + ACTING * j] * v[j];
    }
    for (int i = 0; i < a->count; i++) {
        a->acceleration[i] = a->free[i];
        for (int k = 0; k < a->count; k++) a->acceleration[i] += a->D[i + ACTING * k] * a->force[k];
    }
    return true;
}

/* λ_N ≥ 0, g̈ ≥ 0, |λ_F| within its reservoir, γ̇_F against it where sliding begins. */
static bool is_allowed(const dls_alpha *alpha, const acting *a, double slack) {
    for (int k = 0; k < a->normals; k++)
        if (a->D[k * (ACTING + 1)] * a->force[k] < -slack || a->acceleration[k] < -slack) return false;
    for (int l = 0, row = a->normals; l < alpha->system.law_count; l++) {
        if (!law_takes_part(alpha, l)) continue;
        const dls_model_friction *law = &alpha->laws[l];
        const double *force = a->force + row, *acceleration = a->acceleration + row;
        double p[DLS_LAW_SIZE], z[DLS_LAW_SIZE], w = a->D[row * (ACTING + 1)];
        row += law->size;
        if (!alpha->sets.D[l]) continue;
        for (int i = 0; i < law->size; i++) z[i] = -force[i];
        dls_friction_project(law, z, a->force[place_of(a, law->contact)], p, alpha->system.user);
        for (int i = 0; i < law->size; i++)
            if (w * fabs(p[i] - z[i]) > slack) return false;
        if (small_dot(law->size, acceleration, force) > slack * small_norm(law->size, force)) return false;
    }
    return true;
}

/* Whether these accelerations were found before; else they are kept. */
static bool is_known(acting *a, int found, double slack) {
    for (int n = 0; n < found; n++) {
        double off = 0;
        for (int i = 0; i < a->count; i++) off = fmax(off, fabs(a->acceleration[i] - a->kept[n][i]));
        if (off <= 10 * slack) return true;
    }
    memcpy(a->kept[found], a->acceleration, sizeof a->acceleration);
    return false;
}

int dls_alpha_solutions(const dls_alpha *alpha) {
    acting a;
    int modes = 1, found = 0;
    bool is_complete = true;
    double slack = 0;
    for (int k = 0; k < alpha->at.count[DLS_ROWS_N] && modes <= MOST_MODES; k++)
        modes *= takes_part(alpha, k) ? 2 : 1;
    for (int l = 0; l < alpha->system.law_count && modes <= MOST_MODES; l++) {
        if (!law_takes_part(alpha, l)) continue;
        modes *= law_modes(alpha, l);
        if (alpha->sets.D[l] && alpha->laws[l].size > 1) is_complete = false;
    }
    if (modes > MOST_MODES || !gather(alpha, &a)) return -1;
    for (int i = 0; i < a.count; i++) slack = fmax(slack, 1e-9 * fabs(a.free[i]));
    for (int number = 0; number < modes && found < MOST_KEPT; number++) {
        int unknowns = plan_mode(alpha, &a, number);
        if (unknowns < 0) continue;
        if (!solve_mode(&a, unknowns))
            is_complete = false;
        else if (is_allowed(alpha, &a, slack) && !is_known(&a, found, slack))
            found++;
    }
    return found == 0 && !is_complete ? -1 : found;
}

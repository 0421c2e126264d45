#include "world/solid/elastic.h"

#include "base/error.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const char *const names[DLS_ELASTIC_LAWS] = {[DLS_ELASTIC_KIRCHHOFF] = "kirchhoff",
                                                    [DLS_ELASTIC_LINEAR] = "linear",
                                                    [DLS_ELASTIC_NEO_HOOKEAN] = "neo-hookean"};

const char *dls_elastic_law_name(dls_elastic_law law) {
    return (unsigned)law < DLS_ELASTIC_LAWS ? names[law] : "";
}

/* ---- from a material ---- */

dls_status dls_elastic_check(const dls_material_def *m, dls_error *error) {
    if ((unsigned)m->law >= DLS_ELASTIC_LAWS)
        return dls_fail(error, DLS_ERROR_INPUT, "there is no elastic law %d", (int)m->law);
    if (!(m->young >= 0) || !isfinite(m->young))
        return dls_fail(error, DLS_ERROR_INPUT, "young is %g, expected a finite number above 0", m->young);
    if (!(m->poisson > -1 && m->poisson < 0.5))
        return dls_fail(error, DLS_ERROR_INPUT, "poisson is %g, expected a number above -1 and below 0.5",
                        m->poisson);
    if (!(m->damping >= 0) || !isfinite(m->damping))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "damping is %g, expected a finite number that is not negative", m->damping);
    return DLS_OK;
}

dls_status dls_elastic_of(const dls_material_def *m, dls_elastic *e, dls_error *error) {
    dls_status status = dls_elastic_check(m, error);
    if (status) return status;
    if (m->young == 0)
        return dls_fail(error, DLS_ERROR_INPUT, "a solid of material '%.60s', expected one that has 'young'",
                        m->name ? m->name : "");
    *e = (dls_elastic){.law = m->law,
                       .lambda = m->young * m->poisson / ((1 + m->poisson) * (1 - 2 * m->poisson)),
                       .mu = m->young / (2 * (1 + m->poisson)),
                       .damping = m->damping};
    return DLS_OK;
}

double dls_elastic_wave_speed(const dls_elastic *e, double density) {
    return sqrt((e->lambda + 2 * e->mu) / density);
}

/* ---- F ---- */

/* det F, and C = (det F) F⁻ᵀ. */
static double cofactors(const double *F, double *C) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            C[3 * i + j] = F[3 * a + c] * F[3 * b + d] - F[3 * a + d] * F[3 * b + c];
        }
    return F[0] * C[0] + F[1] * C[1] + F[2] * C[2];
}

/* The strain of the law, symmetric: ε or G. */
static void strain_of(const dls_elastic *e, const double *F, double *G) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = F[3 * i + j] + F[3 * j + i];
            if (e->law != DLS_ELASTIC_LINEAR)
                sum = F[i] * F[j] + F[3 + i] * F[3 + j] + F[6 + i] * F[6 + j];
            else
                sum -= i == j;
            G[3 * i + j] = 0.5 * (sum - (i == j));
        }
}

/* S = λ tr(G) 1 + 2 μ G */
static void hooke(const dls_elastic *e, const double *G, double *S) {
    double trace = G[0] + G[4] + G[8];
    for (int k = 0; k < 9; k++) S[k] = 2 * e->mu * G[k] + (k % 4 == 0 ? e->lambda * trace : 0);
}

/* C = A B of matrices row after row; C is neither. */
static void product(const double *A, const double *B, double *C) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

double dls_elastic_energy(const dls_elastic *e, const double *F) {
    double G[9], sum = 0;
    if (e->law == DLS_ELASTIC_NEO_HOOKEAN) {
        double C[9], J = cofactors(F, C);
        if (!(J > 0)) return INFINITY;
        for (int k = 0; k < 9; k++) sum += F[k] * F[k];
        return 0.5 * e->mu * (sum - 3) - e->mu * log(J) + 0.5 * e->lambda * log(J) * log(J);
    }
    strain_of(e, F, G);
    for (int k = 0; k < 9; k++) sum += G[k] * G[k];
    double trace = G[0] + G[4] + G[8];
    return 0.5 * e->lambda * trace * trace + e->mu * sum;
}

/* neo-hookean: P = μ F + (λ ln J − μ) F⁻ᵀ, else P = S or F S. */
void dls_elastic_stress(const dls_elastic *e, const double *F, double *P) {
    double G[9], S[9];
    if (e->law == DLS_ELASTIC_NEO_HOOKEAN) {
        double J = cofactors(F, S), factor = (e->lambda * log(J) - e->mu) / J;
        for (int k = 0; k < 9; k++) P[k] = e->mu * F[k] + factor * S[k];
        return;
    }
    strain_of(e, F, G);
    hooke(e, G, S);
    if (e->law == DLS_ELASTIC_LINEAR)
        memcpy(P, S, sizeof S);
    else
        product(F, S, P);
}

/* ---- slopes ---- */

/* dP = F (λ tr(dG) 1 + 2 μ dG), dG = sym(Fᵀ dF), with F = 1 for small strains. */
static void hooke_slope(const dls_elastic *e, const double *F, double *A) {
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double *turn = e->law == DLS_ELASTIC_LINEAR ? one : F;
    for (int b = 0; b < 9; b++) {
        int k = b / 3, L = b % 3;
        double dG[9] = {0}, dS[9], dP[9];
        for (int i = 0; i < 3; i++) { /* dF = e_k ⊗ e_L: Fᵀ dF has the row F_k· as column L */
            dG[3 * i + L] += 0.5 * turn[3 * k + i];
            dG[3 * L + i] += 0.5 * turn[3 * k + i];
        }
        hooke(e, dG, dS);
        product(turn, dS, dP);
        for (int a = 0; a < 9; a++) A[9 * a + b] = dP[a];
    }
}

/* With B = F⁻ᵀ and c = μ − λ ln J: dP = c (B dFᵀ B + dF BᵀB) + λ (B:dF) B, and what stress adds, dF S with
 * S = μ 1 − c BᵀB. */
static void neo_slope(const dls_elastic *e, const double *F, bool with_stress, double *A) {
    double B[9], BB[9], J = cofactors(F, B), c = e->mu - e->lambda * log(J);
    if (!with_stress) c = fmax(0, c); /* swollen so far, stress alone holds it together */
    for (int k = 0; k < 9; k++) B[k] /= J;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) BB[3 * i + j] = B[i] * B[j] + B[3 + i] * B[3 + j] + B[6 + i] * B[6 + j];
    for (int a = 0; a < 9; a++)
        for (int b = 0; b < 9; b++) {
            int i = a / 3, M = a % 3, k = b / 3, L = b % 3;
            A[9 * a + b] =
                c * (B[3 * i + L] * B[3 * k + M] + (i == k ? BB[3 * L + M] : 0)) + e->lambda * B[b] * B[a];
        }
}

/* A += what turns with F: dF S. */
static void add_stress(const dls_elastic *e, const double *F, double *A) {
    double G[9], S[9];
    if (e->law == DLS_ELASTIC_LINEAR) return;
    if (e->law == DLS_ELASTIC_NEO_HOOKEAN) {
        double C[9], J = cofactors(F, C), factor = (e->lambda * log(J) - e->mu) / (J * J);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                S[3 * i + j] =
                    (i == j ? e->mu : 0) + factor * (C[i] * C[j] + C[3 + i] * C[3 + j] + C[6 + i] * C[6 + j]);
    } else {
        strain_of(e, F, G);
        hooke(e, G, S);
    }
    for (int i = 0; i < 3; i++)
        for (int M = 0; M < 3; M++)
            for (int L = 0; L < 3; L++) A[9 * (3 * i + M) + 3 * i + L] += S[3 * L + M];
}

void dls_elastic_slope(const dls_elastic *e, const double *F, bool with_stress, double *A) {
    if (e->law == DLS_ELASTIC_NEO_HOOKEAN)
        neo_slope(e, F, with_stress, A);
    else
        hooke_slope(e, F, A);
    if (with_stress) add_stress(e, F, A);
}

/* One friction law: y ∈ N_{N·C}(−z) as equations, piece by piece or with the projection itself. */
#include "system/alpha.h"

#include "base/small.h"

#include <math.h>
#include <string.h>

/* s ∈ C with the largest s·y, and ∂s/∂y; 0 at y = 0. The ball has s = μ y/|y|. */
static void support(const dls_model_friction *law, const double *y, double *s, double *S, void *user) {
    int d = law->size;
    double length = small_norm(d, y);
    memset(s, 0, sizeof *s * (size_t)d), memset(S, 0, sizeof *S * (size_t)(d * d));
    if (!(length > 0)) return;
    if (law->reservoir) {
        law->reservoir->support(d, y, s, S, user);
        for (int i = 0; i < d; i++) s[i] *= law->mu;
        for (int i = 0; i < d * d; i++) S[i] *= law->mu;
        return;
    }
    for (int i = 0; i < d; i++) s[i] = law->mu * y[i] / length;
    for (int j = 0; j < d; j++)
        for (int i = 0; i < d; i++)
            S[i + d * j] = law->mu * ((i == j) - y[i] * y[j] / (length * length)) / length;
}

void dls_friction_project(const dls_model_friction *law, const double *z, double N, double *p, void *user) {
    int d = law->size;
    double radius = law->mu * fmax(N, 0);
    if (law->reservoir) {
        law->reservoir->project(d, z, radius, p, user);
        return;
    }
    double length = small_norm(d, z), s = length > radius ? radius / length : 1;
    for (int i = 0; i < d; i++) p[i] = s * z[i];
}

bool dls_friction_sticks(const dls_model_friction *law, double r, const double *y, const double *z, double N,
                         double slack, void *user) {
    double argument[DLS_LAW_SIZE], p[DLS_LAW_SIZE], off = 0;
    for (int i = 0; i < law->size; i++) argument[i] = r * y[i] - z[i];
    if (!law->reservoir) return small_norm(law->size, argument) <= law->mu * N + r * slack;
    dls_friction_project(law, argument, N, p, user);
    for (int i = 0; i < law->size; i++) off = fmax(off, fabs(p[i] - argument[i]));
    return N >= 0 && off <= 1e-12 * small_norm(law->size, argument) + r * slack;
}

/* ∂proj/∂argument and ∂proj/∂N by differences where a reservoir is the user's; exact for the ball. */
static void project_slopes(const dls_model_friction *law, const double *argument, double N, double *P,
                           double *PN, void *user) {
    int d = law->size;
    double shifted[DLS_LAW_SIZE], low[DLS_LAW_SIZE], high[DLS_LAW_SIZE];
    double radius = law->mu * fmax(N, 0), length = small_norm(d, argument);
    if (!law->reservoir) {
        bool inside = length <= radius;
        for (int j = 0; j < d; j++)
            for (int i = 0; i < d; i++) {
                double across = (i == j) - argument[i] * argument[j] / (length * length);
                P[i + d * j] = inside ? i == j : radius / length * across;
            }
        for (int i = 0; i < d; i++) PN[i] = inside || N <= 0 ? 0 : law->mu * argument[i] / length;
        return;
    }
    double size = 1e-6 * fmax(length, fabs(N)) + 1e-300;
    memcpy(shifted, argument, sizeof *shifted * (size_t)d);
    for (int j = 0; j < d; j++) {
        shifted[j] = argument[j] + size, dls_friction_project(law, shifted, N, high, user);
        shifted[j] = argument[j] - size, dls_friction_project(law, shifted, N, low, user);
        shifted[j] = argument[j];
        for (int i = 0; i < d; i++) P[i + d * j] = (high[i] - low[i]) / (2 * size);
    }
    dls_friction_project(law, argument, N + size, high, user);
    dls_friction_project(law, argument, N - size, low, user);
    for (int i = 0; i < d; i++) PN[i] = (high[i] - low[i]) / (2 * size);
}

static void set_identity(int d, double *matrix) {
    for (int i = 0; i < d; i++) matrix[i + d * i] = 1;
}

/* stick: y; slip: z + N s(y); open: z; prox: z + proj(r y − z). */
dls_law_value dls_friction_value(const dls_model_friction *law, dls_slip_mode mode, double r, const double *y,
                                 const double *z, double N, void *user) {
    int d = law->size;
    dls_law_value out;
    memset(&out, 0, sizeof out);
    const double *plain = mode == DLS_MODE_STICK ? y : z;
    set_identity(d, mode == DLS_MODE_STICK ? out.y : out.z);
    memcpy(out.f, plain, sizeof *plain * (size_t)d);
    if (mode == DLS_MODE_SLIP) {
        double s[DLS_LAW_SIZE], S[DLS_LAW_SIZE * DLS_LAW_SIZE];
        support(law, y, s, S, user);
        for (int i = 0; i < d; i++) out.f[i] += N * s[i], out.N[i] = s[i];
        for (int i = 0; i < d * d; i++) out.y[i] = N * S[i];
    } else if (mode == DLS_MODE_PROX) {
        double argument[DLS_LAW_SIZE], p[DLS_LAW_SIZE], P[DLS_LAW_SIZE * DLS_LAW_SIZE];
        for (int i = 0; i < d; i++) argument[i] = r * y[i] - z[i];
        dls_friction_project(law, argument, N, p, user);
        project_slopes(law, argument, N, P, out.N, user);
        for (int i = 0; i < d; i++) out.f[i] += p[i];
        for (int i = 0; i < d * d; i++) out.y[i] = r * P[i], out.z[i] -= P[i];
    }
    return out;
}

/* The derivative blocks of ebp and eal against central differences of their residuals, in every branch. */
#include "solve/law/law.h"
#include "support/block.h"
#include "support/test.h"

enum { BRANCHES = 3, WANTED = 300 };

typedef enum { EBP, EAL_TAU, EAL_R } residual_kind;

static dls_contact_state linearize(residual_kind kind, int d, double mu, double rho, const double *r,
                                   const double *v, double *Z, double *A, double *B) {
    if (kind == EBP) return dls_ebp_linearize(d, mu, rho, r, v, Z, A, B);
    return dls_eal_linearize(d, mu, rho, kind == EAL_TAU ? DLS_EAL_RADIUS_TAU : DLS_EAL_RADIUS_R, r, v, Z, A,
                             B);
}

/* r − proj(τ) as the definition says. */
static void expected_residual(residual_kind kind, int d, double mu, double rho, const double *r,
                              const double *v, double *Z) {
    double tau[4];
    for (int i = 0; i < d; i++) tau[i] = r[i] - rho * v[i];
    if (kind == EBP) {
        tau[0] -= rho * mu * small_norm(d - 1, v + 1);
        cone_project(d, mu, tau);
    } else {
        double radius = mu * fmax(0, kind == EAL_TAU ? tau[0] : r[0]), t = small_norm(d - 1, tau + 1);
        if (tau[0] <= 0) radius = tau[0] = 0;
        if (t > radius)
            for (int i = 1; i < d; i++) tau[i] *= radius / t;
    }
    for (int i = 0; i < d; i++) Z[i] = r[i] - tau[i];
}

/* Far enough from the kinks of |v_t|, |τ_t| and max(r_n, 0) for differences with this step. */
static bool is_smooth(residual_kind kind, int d, double rho, const double *r, const double *v) {
    double tau_t[3];
    for (int i = 1; i < d; i++) tau_t[i - 1] = r[i] - rho * v[i];
    return small_norm(d - 1, v + 1) > 0.2 && small_norm(d - 1, tau_t) > 0.2 &&
           (kind != EAL_R || fabs(r[0]) > 0.01);
}

/* Largest error of A and B at one point, or −1 where a difference would cross a branch. */
static double derivative_error(residual_kind kind, int d, double mu, double rho, const double *r,
                               const double *v, dls_contact_state *state) {
    const double step = 1e-5;
    double Z[4], A[16], B[16], unused[2][16], worst = 0;
    *state = linearize(kind, d, mu, rho, r, v, Z, A, B);
    for (int j = 0; j < 2 * d; j++) {
        double side[2][4];
        for (int s = 0; s < 2; s++) {
            double x[8];
            memcpy(x, r, sizeof(double) * (size_t)d);
            memcpy(x + d, v, sizeof(double) * (size_t)d);
            x[j] += s ? step : -step;
            if (linearize(kind, d, mu, rho, x, x + d, side[s], unused[0], unused[1]) != *state) return -1;
        }
        const double *column = j < d ? A + d * j : B + d * (j - d);
        for (int i = 0; i < d; i++)
            worst = fmax(worst, fabs(column[i] - (side[1][i] - side[0][i]) / (2 * step)));
    }
    return worst;
}

static void check_derivatives(residual_kind kind) {
    dls_random g = {2024};
    for (int d = 2; d <= 4; d++) {
        int seen[BRANCHES] = {0};
        for (int trial = 0; trial < 20000; trial++) {
            double r[4], v[4], Z[4], wanted[4], unused[2][16];
            double mu = trial % 10 ? dls_random_between(&g, 0, 2) : 0, rho = dls_random_between(&g, 0.2, 3);
            dls_contact_state state;
            for (int i = 0; i < d; i++) {
                r[i] = dls_random_normal(&g);
                v[i] = dls_random_normal(&g);
            }
            if (trial % 2) r[0] = fabs(r[0]) + 2;
            linearize(kind, d, mu, rho, r, v, Z, unused[0], unused[1]);
            expected_residual(kind, d, mu, rho, r, v, wanted);
            for (int i = 0; i < d; i++) assert_true(fabs(Z[i] - wanted[i]) < 1e-13);
            if (!is_smooth(kind, d, rho, r, v)) continue;
            double error = derivative_error(kind, d, mu, rho, r, v, &state);
            if (error < 0) continue;
            assert_in_range(state, DLS_OPEN, DLS_SLIP);
            if (error > 1e-6) fail_msg("d = %d, state %d: derivative off by %g", d, (int)state, error);
            seen[state]++;
        }
        for (int state = DLS_OPEN; state <= DLS_SLIP; state++) assert_true(seen[state] >= WANTED);
    }
}

static void ebp_blocks_match_differences(void **unused) {
    (void)unused;
    check_derivatives(EBP);
}

static void eal_blocks_match_differences_radius_tau(void **unused) {
    (void)unused;
    check_derivatives(EAL_TAU);
}

static void eal_blocks_match_differences_radius_r(void **unused) {
    (void)unused;
    check_derivatives(EAL_R);
}

/* The stick step of the condensed system, (A + B W) δ = −Z, is δ = −W⁻¹v for both laws. */
static void stick_step_is_the_whole_block(void **unused) {
    (void)unused;
    dls_random g = {5};
    int seen = 0;
    for (int trial = 0; trial < 6000; trial++) {
        int d = 2 + trial % 3;
        residual_kind kind = (residual_kind)(trial / 3 % 3);
        double W[16], copy[16], r[4] = {0}, v[4], Z[4], A[16], B[16], whole[4];
        block_bodies(&g, d, W);
        double rho = 1 / small_max_eigenvalue(d, W, d);
        for (int i = 0; i < d; i++) v[i] = 0.2 * dls_random_normal(&g);
        r[0] = 2 * rho;
        if (linearize(kind, d, 0.7, rho, r, v, Z, A, B) != DLS_STICK) continue;
        for (int j = 0; j < d; j++) small_multiply_add(d, B, W + d * j, A + d * j);
        memcpy(copy, W, sizeof W);
        memcpy(whole, v, sizeof v);
        assert_true(small_solve(d, A, Z) && small_solve(d, copy, whole));
        for (int i = 0; i < d; i++) assert_true(fabs(Z[i] - whole[i]) <= 1e-10 * small_norm(d, whole));
        seen++;
    }
    assert_true(seen > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ebp_blocks_match_differences),
        cmocka_unit_test(eal_blocks_match_differences_radius_tau),
        cmocka_unit_test(eal_blocks_match_differences_radius_r),
        cmocka_unit_test(stick_step_is_the_whole_block),
    };
    return cmocka_run_group_tests_name("derivatives of ebp and eal", tests, NULL, NULL);
}

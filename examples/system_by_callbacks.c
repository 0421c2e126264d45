/* A ball that spins falls onto a floor, slides and rolls: a mechanical system by callbacks, stepped by the
 * nonsmooth generalized-α scheme. What is left out (force directions, derivatives) is taken by differences.
 *
 *     cc system_by_callbacks.c $(pkg-config --cflags --libs delassus) -lm && ./a.out */
#include <delassus/delassus.h>
#include <stdio.h>

static const double radius = 0.1, mass = 1, gravity = 9.81;

/* q = (x, y, φ), u = q̇; matrices are column-major and zero before the call. */
static void ball_mass(double t, const double *q, double *M, void *user) {
    (void)t, (void)q, (void)user;
    M[0] = M[4] = mass, M[8] = 0.4 * mass * radius * radius;
}

static void ball_force(double t, const double *q, const double *u, double *h, void *user) {
    (void)t, (void)q, (void)u, (void)user;
    h[1] = -mass * gravity;
}

static void gap(double t, const double *q, double *g, void *user) {
    (void)t, (void)user;
    g[0] = q[1] - radius;
}

static void gap_rate(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = u[1];
}

static void slip(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = u[0] + radius * u[2];
}

int main(void) {
    const dls_model_contact contact = {.e_n = 0};
    const dls_model_friction law = {.contact = 0, .size = 1, .mu = 0.2};
    dls_model model = {.coordinates = 3,
                       .velocities = 3,
                       .mass = ball_mass,
                       .force = ball_force,
                       .contacts = &contact,
                       .law_count = 1,
                       .laws = &law};
    model.rows[DLS_ROWS_N] = (dls_model_rows){.count = 1, .value = gap, .rate = gap_rate};
    model.rows[DLS_ROWS_F] = (dls_model_rows){.count = 1, .rate = slip};

    const double q[] = {0, 1, 0}, u[] = {0, 0, 50};
    dls_alpha_options options = dls_alpha_default_options();
    options.dt = 2e-3;
    dls_alpha *alpha = NULL;
    dls_alpha_report report;
    dls_error error;
    dls_status status = dls_model_check(&model, 0, q, u, 0, &error);
    if (!status) status = dls_alpha_create(&model, &options, 0, q, u, &alpha, &error);
    for (int i = 0; !status && i < 1000; i++) {
        status = dls_alpha_step(alpha, &report, &error);
        if (status || (i + 1) % 150) continue;
        dls_alpha_view v = dls_alpha_get(alpha);
        printf("t = %.1f: x = %.4f, y = %.4f, force (%.3f, %.3f) N, %s\n", v.t, v.q[0], v.q[1],
               v.force[DLS_ROWS_N][0], v.force[DLS_ROWS_F][0] + 0.0,
               !v.closed[0]    ? "falls"
               : v.sticking[0] ? "rolls"
                               : "slides");
    }
    if (status) fprintf(stderr, "%s\n", error.message);
    dls_alpha_destroy(alpha);
    return status ? 2 : 0;
}

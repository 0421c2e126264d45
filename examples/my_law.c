/* A local law of your own for `delassus solve` and `delassus compare`:
 *
 *     cc -shared -fPIC -O2 my_law.c -o my_law.so -lm      (with -I where Delassus' headers are)
 *     delassus solve problem.hdf5 --law-from ./my_law.so --law uzawa
 *     delassus compare problems/… --law-from ./my_law.so --solvers nlgs:exact,nlgs:uzawa
 *
 * This one is Uzawa's fixed point with De Saxcé's term, r ← P_K(r − ρ (u + μ|u_t| n)), 1/ρ the trace of W. */
#include <delassus/law.h>

#include <math.h>

enum { MOST = 3, MOST_PASSES = 200 };

/* The nearest point of the cone |r_t| ≤ μ r_n. */
static void project(int d, double mu, double *r) {
    double t = 0;
    for (int k = 1; k < d; k++) t += r[k] * r[k];
    t = sqrt(t);
    if (t <= mu * r[0]) return;
    double n = (r[0] + mu * t) / (1 + mu * mu);
    if (n < 0) n = 0;
    for (int k = 1; k < d; k++) r[k] *= t > 0 ? mu * n / t : 0;
    r[0] = n;
}

/* u + μ|u_t| n with u = W r + b; W is column-major. */
static void shifted_velocity(int d, const double *W, double mu, const double *b, const double *r, double *u) {
    double t = 0;
    for (int i = 0; i < d; i++) {
        u[i] = b[i];
        for (int k = 0; k < d; k++) u[i] += W[k * d + i] * r[k];
    }
    for (int k = 1; k < d; k++) t += u[k] * u[k];
    u[0] += mu * sqrt(t);
}

static dls_contact_state solve(const dls_law_options *options, int d, const double *W, double mu,
                               const double *data, const double *b, double *r) {
    (void)data;
    double trace = 0, u[MOST] = {0}, next[MOST] = {0};
    for (int k = 0; k < d; k++) trace += W[k * d + k];
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        double change = 0, size = 0;
        shifted_velocity(d, W, mu, b, r, u);
        for (int k = 0; k < d; k++) next[k] = r[k] - u[k] / trace;
        project(d, mu, next);
        for (int k = 0; k < d; k++) {
            change += (next[k] - r[k]) * (next[k] - r[k]);
            size += next[k] * next[k] + b[k] * b[k] / (trace * trace);
            r[k] = next[k];
        }
        if (change <= options->local_tolerance * options->local_tolerance * size) break;
    }
    if (r[0] == 0) return DLS_OPEN;
    double t = 0;
    for (int k = 1; k < d; k++) t += r[k] * r[k];
    return sqrt(t) < mu * r[0] * (1 - 1e-12) ? DLS_STICK : DLS_SLIP;
}

static const dls_law laws[] = {
    {.name = "uzawa", .summary = "fixed point r <- P_K(r - rho (u + mu|u_t| n))", .solve = solve},
};

/* What the program asks for: rows one by one, and none where it was built with another dls_law. */
const dls_law *delassus_law(size_t row_size, int index);
const dls_law *delassus_law(size_t row_size, int index) {
    int count = row_size == sizeof *laws ? (int)(sizeof laws / sizeof *laws) : 0;
    return index >= 0 && index < count ? &laws[index] : NULL;
}

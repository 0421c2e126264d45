/* A body of 1 kg hits the ground at 1 m/s while moving along it at 2 m/s, with friction 0.3: it slips.
 *
 *     cc solve_one_contact.c $(pkg-config --cflags --libs delassus) && ./a.out */
#include <delassus/delassus.h>
#include <stdio.h>

int main(void) {
    const double W[] = {1, 1, 1}, b[] = {-1, 2, 0}, mu[] = {0.3}; /* W is diagonal: 1/kg; normal row first */
    const dls_csr W_rows = {
        .rows = 3, .columns = 3, .start = (int64_t[]){0, 1, 2, 3}, .column = (int[]){0, 1, 2}, .value = W};

    dls_problem_def def = dls_default_problem_def();
    def.block_count = 1, def.dimension = 3, def.mu = mu, def.b = b;

    dls_error error;
    dls_solve_info info;
    dls_problem *problem = NULL;
    double r[3] = {0}, u[3];
    const dls_nlgs_options options = dls_default_nlgs_options();
    if (dls_problem_create(&def, &W_rows, &problem, &error) ||
        dls_solve_nlgs(problem, &options, r, u, NULL, &info, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 2;
    }
    printf("%s: r = (%.6f, %.6f, %.6f) N s, u = (%.6f, %.6f, %.6f) m/s\n", dls_outcome_name(info.outcome),
           r[0], r[1], r[2], u[0], u[1], u[2]);
    dls_problem_destroy(problem);
    return info.outcome == DLS_CONVERGED ? 0 : 1;
}

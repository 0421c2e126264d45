#include "support/variant.h"

#include "support/test.h"

#include <stdio.h>
#include <string.h>

static void set_option(variant *v, char *setting) {
    dls_error error;
    char *value = strchr(setting, '=');
    if (!value) fail_msg("%s: '%s' has no value", v->text, setting);
    *value++ = 0;
    if (dls_field_set(v->solver->fields, v->solver->field_count, &v->options, setting, value, &error))
        fail_msg("%s: %s", v->text, error.message);
}

variant variant_from(const char *text) {
    char copy[256], *rest = NULL;
    variant v = {.text = text};
    snprintf(copy, sizeof copy, "%s", text);
    char *part = strtok_r(copy, "+", &rest);
    v.solver = dls_solver_find(part);
    if (!v.solver) fail_msg("no solver '%s'", part);
    v.solver->defaults(&v.options);
    v.options.stop.tolerance = 1e-8;
    while ((part = strtok_r(NULL, "+", &rest))) set_option(&v, part);
    return v;
}

dls_solve_info variant_solve(const variant *v, const dls_problem *problem, double *r, double *u) {
    dls_solve_info info;
    dls_measures judged;
    dls_error error;
    if (dls_solve(problem, v->solver, &v->options, r, u, NULL, &info, &error))
        fail_msg("%s: %s", v->text, error.message);
    assert_int_equal(dls_problem_measure(problem, r, NULL, &judged, NULL), DLS_OK);
    assert_memory_equal(&info.measures, &judged, sizeof judged);
    assert_string_equal(info.solver, v->solver->name);
    return info;
}

dls_solve_info variant_reach(const char *text, const dls_problem *problem, double tolerance, double *r,
                             double *u) {
    variant v = variant_from(text);
    v.options.stop.tolerance = tolerance;
    memset(r, 0, sizeof(double) * (size_t)dls_problem_row_count(problem));
    dls_solve_info info = variant_solve(&v, problem, r, u);
    if (info.outcome != DLS_CONVERGED || !(info.stop_value <= tolerance))
        fail_msg("%s to %g: %s at %g after %d iterations", text, tolerance, dls_outcome_name(info.outcome),
                 info.stop_value, info.iterations);
    return info;
}

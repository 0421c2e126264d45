/* Steps of a world, counted as Table 2 of paper 000 counts: iterations are means over steps that converged
 * with some, a step that reaches the limit has diverged. */
#include "experiments/koziara/steps.h"

#include "cli/support/interrupt.h"

#include <math.h>
#include <time.h>

static const double goal = 1e-8;

const char *const newton_method_names[NEWTON_METHODS] = {"Newton", "Gauss–Seidel", "Newton, Table 1",
                                                         "accelerated sweeps", "auto"};

double counts_per_step(const step_counts *c) {
    return c->counted ? (double)c->iterations / c->counted : nan("");
}

double counts_ratio(const step_counts *c) { return c->solver_seconds / c->wall_seconds; }

static dls_stop_options stop_of(int limit) {
    dls_stop_options stop = dls_default_nlgs_options().stop;
    stop.measure = DLS_STOP_MERIT_G;
    stop.tolerance = goal;
    stop.max_iterations = limit;
    return stop;
}

dls_pqn_options paper_newton(int limit) {
    dls_pqn_options o = dls_default_pqn_options();
    o.stop = stop_of(2 * limit); /* Gauss–Seidel behind it has as many */
    o.globalization = DLS_PQN_PAPER;
    o.newton_iterations = limit;
    o.delta = o.gmres_tolerance = 1e-3;
    o.gmres_iterations = 5;
    return o;
}

static dls_status set_newton(dls_simulation *s, const step_plan *plan, dls_error *error) {
    dls_pqn_options o = plan->newton ? *plan->newton : paper_newton(plan->limit);
    if (plan->method == DEFAULTS) o.delta = 0, o.gmres_tolerance = 0.25, o.gmres_iterations = 10;
    return dls_simulation_set_solver(s, dls_solver_find("pqn"), &o, error);
}

static dls_status set_method(dls_simulation *s, const step_plan *plan, dls_error *error) {
    dls_nlgs_options sweeps = dls_default_nlgs_options();
    dls_auto_options all = dls_default_auto_options();
    if (plan->method == NEWTON || plan->method == DEFAULTS) return set_newton(s, plan, error);
    all.stop = sweeps.stop = stop_of(plan->limit);
    all.stop.max_iterations = 100 * plan->limit;
    if (plan->method == AUTO) return dls_simulation_set_solver(s, dls_solver_find("auto"), &all, error);
    if (plan->method == SWEEPS) {
        sweeps.stop.check_interval = 1;
        sweeps.acceleration = DLS_PLAIN;
        sweeps.order = DLS_ORDER_NATURAL;
        sweeps.adapt = false;
        sweeps.stall_sweeps = 0;
    }
    return dls_simulation_set_solver(s, dls_solver_find("nlgs"), &sweeps, error);
}

static void count_step(const step_plan *plan, const dls_step_report *report, step_counts *c) {
    c->steps++;
    c->wall_seconds += report->seconds, c->solver_seconds += report->seconds_solve;
    c->contacts += report->contacts;
    c->certified += report->outcome == DLS_CONVERGED;
    c->penetration = fmax(c->penetration, report->penetration);
    c->energy = report->energy;
    bool diverged = report->iterations >= plan->limit && plan->method != AUTO;
    c->diverged += diverged;
    if (diverged || report->iterations == 0) return;
    c->counted++;
    c->iterations += report->iterations;
}

dls_status count_steps(dls_world *world, const step_plan *plan, step_counts *c, dls_error *error) {
    dls_simulation *s = NULL;
    dls_simulation_options options = dls_default_simulation_options();
    options.step = plan->h;
    dls_status status = dls_simulation_create(world, &options, &s, error);
    if (!status) status = set_method(s, plan, error);
    while (!status && dls_simulation_time(s) < plan->until - plan->h / 2 && !interrupt_seen()) {
        dls_step_report report;
        clock_t began = clock();
        status = dls_simulation_step(s, &report, error);
        if (status) break;
        c->seconds += (double)(clock() - began) / CLOCKS_PER_SEC;
        count_step(plan, &report, c);
        if (plan->look) plan->look(world, &report, plan->user);
    }
    dls_simulation_destroy(s);
    dls_world_destroy(world);
    return status;
}

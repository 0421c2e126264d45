/* The experiments, one row each, and the papers that they come from. */
#include "cli/support/report.h"
#include "experiments/reproduce.h"

#include <string.h>

static const experiment *const experiments[] = {
    &experiment_smoothing,       &experiment_linearisation,  &experiment_newton_iterations,
    &experiment_newton_drum,     &experiment_newton_delta,   &experiment_newton_relative,
    &experiment_newton_density,  &experiment_shaken_cubes,   &experiment_polar_derivative,
    &experiment_sphere_on_plane, &experiment_filling,        &experiment_compaction,
    &experiment_scaling,         &experiment_conveyor,       &experiment_fixed_drum,
    &experiment_sedimentation,   &experiment_rotating_drum,  &experiment_ball_on_table,
    &experiment_four_balls,      &experiment_many_balls,     &experiment_descent_parameter,
    &experiment_bouncing_ball,   &experiment_ball_in_corner, &experiment_ball_in_cylinder,
    &experiment_painleve_rod,    &experiment_guided_hopper,  &experiment_tippe_top,
    &experiment_alpha_orders,    &experiment_behaviours,     &experiment_heap,
    &experiment_mechanisms,
};

enum { EXPERIMENT_COUNT = sizeof experiments / sizeof *experiments, NAMES_TOLD = 3 };

static const experiment_source papers[] = {
    {"000", "Koziara", "A projected quasi-Newton method for dynamic multibody frictional contact problems"},
    {"001", "Melanz, Mazhar, Negrut",
     "Using an anti-relaxation step to improve the accuracy of the frictional contact solution in a DVI "
     "framework for rigid body dynamics"},
    {"002", "Abide et al.",
     "A semi-smooth Newton and Primal–Dual Active Set method for Non-Smooth Contact Dynamics"},
    {"003", "Dumont",
     "On enhanced descent algorithms for solving frictional multicontact problems: application to the "
     "discrete element method"},
    {"004", "Capobianco et al.",
     "A nonsmooth generalized-alpha method for mechanical systems with frictional contact"},
    {"behaviours", "Delassus", "Five behaviours for which contact simulators are criticised"},
    {"heap", "Delassus", "The angle of repose of a heap over rolling friction"},
    {"mechanisms", "Delassus", "Mechanisms: joints, drives, motors and limits, with and without contacts"},
};

int experiment_count(void) { return EXPERIMENT_COUNT; }

const experiment *experiment_at(int index) { return experiments[index]; }

const experiment *experiment_find(const char *name) {
    for (int i = 0; i < EXPERIMENT_COUNT; i++)
        if (!strcmp(experiments[i]->name, name)) return experiments[i];
    return NULL;
}

/* The nearest is looked for again among those not named yet. */
int experiment_refuse(const char *name) {
    bool told[EXPERIMENT_COUNT] = {false};
    char names[256] = "";
    for (int n = 0; n < NAMES_TOLD; n++) {
        dls_nearest best = dls_nearest_begin(name);
        for (int i = 0; i < EXPERIMENT_COUNT; i++)
            if (!told[i]) dls_nearest_offer(&best, experiments[i]->name);
        if (!best.best) break;
        for (int i = 0; i < EXPERIMENT_COUNT; i++) told[i] = told[i] || experiments[i]->name == best.best;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", n ? ", " : "; nearest: ", best.best);
    }
    return report_error("reproduce: no experiment '%s'%s ('delassus reproduce --list' lists all)", name,
                        names);
}

const experiment_source *experiment_paper(const experiment *e) {
    for (size_t i = 0; i < sizeof papers / sizeof *papers; i++)
        if (!strncmp(papers[i].name, e->name, strlen(papers[i].name))) return &papers[i];
    return NULL;
}

bool experiment_is_paper(const char *name) {
    for (size_t i = 0; i < sizeof papers / sizeof *papers; i++)
        if (!strcmp(papers[i].name, name)) return true;
    return false;
}

const char *experiment_section(const experiment *e) {
    const char *dash = strchr(e->name, '-');
    return dash ? dash + 1 : "";
}

const char *experiment_size_name(experiment_size size) { return size == SIZE_FULL ? "full" : "reduced"; }

/* Paper 002, section 6.4: balls in a drum that turns at 40 rpm. The angle of the bed's surface is the
 * library's own (docs/analysis.md, repose). Beside it stands that of the mass centre from the vertical: the
 * same for a flat surface, and more where it is steeper at its ends. */
#include "experiments/abide/drum.h"
#include "cli/support/csv.h"
#include "cli/support/report.h"

#include <delassus/analysis.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double drum_radius = 0.05, degree = 3.14159265358979323846 / 180;
const double drum_filling = 0.2916, drum_repose = 26;

enum { ANGLE, CENTRE_ANGLE, CENTRE_HEIGHT, OWN_COLUMNS, BLOCKS = 5 };

static const char *const columns[OWN_COLUMNS] = {"angle", "centre_angle", "centre_height"};

/* ---- the surface ----------------------------------------------------------------------------------------
 */

/* The angle of the surface as `delassus analyze RUN repose` has it; NaN where there is none. */
static double surface_angle(int count, const double *places, const double *radii) {
    dls_slope slope;
    const double up[3] = {0, 1, 0}, along[3] = {1, 0, 0};
    return dls_slope_measure(2, count, places, radii, up, along, &slope, NULL) ? nan("") : slope.angle;
}

static void measure(const dls_simulation *simulation, const dls_step_report *report, double *values) {
    const dls_world *world = dls_simulation_world(simulation);
    int bodies = dls_world_body_count(world), count = 0;
    if (report->step % CROWD_ROW) return; /* once in a row is enough */
    double x = 0, y = 0, *places = report_allocate((size_t)bodies + 1, 4 * sizeof *places),
           *radii = places + 3 * (size_t)bodies;
    for (int i = 0; i < bodies; i++) {
        dls_body_state s;
        dls_shape_def shape;
        if (dls_body_motion(world, i) != DLS_DYNAMIC || dls_body_state_get(world, i, &s, NULL) ||
            dls_body_shape(world, i, 0, &shape, NULL))
            continue;
        for (int k = 0; k < 3; k++) places[3 * count + k] = s.x[k];
        radii[count++] = shape.radius;
        x += s.x[0], y += s.x[1];
    }
    values[ANGLE] = surface_angle(count, places, radii);
    values[CENTRE_ANGLE] = atan2(x, -y) / degree;
    values[CENTRE_HEIGHT] = y / count + drum_radius;
    free(places);
}

/* ---- cases ----------------------------------------------------------------------------------------------
 */

static void set_size(abide_settings *s, int balls) { abide_set(s, "variables.n=%d", balls); }
/* The drum stands still until the balls lie, and turns from the start in the runs from there. */
static void set_start(abide_settings *s) { abide_set(s, "time.until=settle"); }
static void set_run(abide_settings *s) { abide_set(s, "variables.settle=0"); }

/* ε = 1e-6 N, γ = 1e-8 kg/s, Δt = 1e-4 s, e_n = 0.6, e_τ = 1. ρ = m/Δt with m the mass of two balls that
 * meet, m_i m_j/(m_i + m_j): 1/W_nn, which is 7/2 of 1/λmax for balls; halved for the formal velocity along
 * the tangent. */
const crowd_def drum_def = {
    .scene = "002-6.4",
    .parameters = {.rho_scale = 1.75, .gamma_n = "1e-12/1.6", .gamma_t = "1e-12/2", .increment = "1e-10"},
    .reduced_until = 0.02,
    .sweeps_table = 7,
    .seconds_table = 8,
    .sweeps = {{1680882, 2020349, 4069672, 5114280, 9422476},
               {1674177, 1933869, 4036740, 5036011, 9999666},
               {7836547, 8566285, 19607909, 15600032, 32656132},
               {1101849, 1340917, 4121136, 3688553, 8375264}},
    .seconds = {{69.482, 163.918, 677.212, 1817.413, 7492.300},
                {68.813, 153.254, 657.011, 1804.862, 7867.878},
                {337.16, 755.553, 3663.254, 6055.488, 27425.824},
                {124.918, 259.370, 1941.158, 3232.919, 16740.516}},
    .sweeps_figure = 10,
    .seconds_figure = 11,
    .shot_figure = 9,
    .shots = 1,
    .column_count = OWN_COLUMNS,
    .columns = columns,
    .measure = measure,
    .set = set_size,
    .set_start = set_start,
    .set_run = set_run,
};

/* ---- the angle ------------------------------------------------------------------------------------------
 */

/* Mean over the second half of the run, and its interval from the means of five parts. */
static dls_interval mean_angle(const case_history *h, int own) {
    double part[BLOCKS];
    for (int b = 0; b < BLOCKS; b++) {
        double t0 = 0.5 + 0.5 * b / BLOCKS, t1 = t0 + 0.5 / BLOCKS;
        part[b] = case_mean(h, CASE_COLUMNS + CROWD_OWN + own, t0 + 1e-9, t1 + 1e-9);
    }
    return dls_interval_of(BLOCKS, part);
}

double drum_angle(const case_history *h) { return mean_angle(h, ANGLE).mean; }

/* 26° is printed to a degree, which leaves 0.5° open, and the estimator is right to 0.5°; how much a bed
 * swings in a second is no excuse. */
const double drum_tolerance = 1;

/* One run by a method of the paper: its own swings make the interval. */
static void claim_angle(experiment_run *run, const case_history *h, int balls, const char *name) {
    dls_interval angle = mean_angle(h, ANGLE);
    angle.count = 1;
    claim_seeds(&run->claims, CLAIM_PRINTED, "deg", CLAIM_EQUAL, drum_repose, drum_tolerance, &angle,
                "angle of repose, %d balls, %s", balls, name);
}

/* What the default solver left between bodies. */
static void claim_default(experiment_run *run, const case_history *h, int balls) {
    double radius = 2.7e-3 * sqrt(100.0 / balls);
    run->claims.method = METHOD_OURS;
    claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 0.01,
                case_largest(h, CASE_PENETRATION, 0, (double)INFINITY) / radius,
                "largest penetration in radii, %d balls, auto", balls);
    claim_equal(&run->claims, CLAIM_DERIVED, "1", 1, case_mean(h, CASE_CERTIFIED, 0, (double)INFINITY), 0,
                "share of certified steps, %d balls, auto", balls);
    run->claims.method = METHOD_PAPERS;
}

/* Of whole runs: a reduced one is too short for an angle. */
static bool write_angles(experiment_run *run, const crowd *c) {
    output_file out;
    if (run->size != SIZE_FULL) return true;
    if (!run_table_open(run, "angles", &out)) return false;
    fputs("method,balls,angle_deg,interval_95_deg,centre_angle_deg,centre_interval_95_deg,centre_height_m\n",
          out.stream);
    for (int size = 0; size < c->sizes; size++)
        for (int m = 0; m < ABIDE_EVERY; m++) {
            const case_history *h = &c->of[m][size];
            if (!c->has[m][size] || !h->finished) continue;
            dls_interval surface = mean_angle(h, ANGLE), centre = mean_angle(h, CENTRE_ANGLE);
            fprintf(out.stream, "%s,%d", abide_name(m), crowd_sizes[size]);
            csv_real(out.stream, surface.mean), csv_real(out.stream, surface.half);
            csv_real(out.stream, centre.mean), csv_real(out.stream, centre.half);
            csv_real(out.stream, mean_angle(h, CENTRE_HEIGHT).mean);
            fputc('\n', out.stream);
        }
    return output_file_commit(&out);
}

/* ---- the experiment -------------------------------------------------------------------------------------
 */

static bool run_drum(experiment_run *run) {
    crowd c;
    bool reduced = run->size == SIZE_REDUCED;
    bool good = crowd_run(run, &drum_def, 1200, &c) && drum_run_fillings(run);
    for (int size = 0; size < c.sizes && good && !reduced; size++) {
        const case_history *active = &c.of[ABIDE_IPDAS][size];
        if (c.has[ABIDE_IPDAS][size] && active->finished)
            claim_angle(run, active, crowd_sizes[size], abide_name(ABIDE_IPDAS));
        claim_default(run, &c.of[ABIDE_OURS][size], crowd_sizes[size]);
    }
    if (good) crowd_claims(run, &c);
    if (good && *run->folder) good = crowd_write(run, &c) && write_angles(run, &c);
    crowd_free(&c);
    return good;
}

const experiment experiment_rotating_drum = {
    .name = "002-6.4",
    .title = "balls in a rotating drum, 100 to 1600 (Tables 7, 8, angle of repose)",
    .has_reduced = true,
    .has_full = true,
    .run = run_drum,
};

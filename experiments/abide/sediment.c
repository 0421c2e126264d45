/* Paper 002, section 6.3: balls of two sizes with random velocities settle in a box. */
#include "cli/support/csv.h"
#include "experiments/abide/crowd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEIGHT, OWN_COLUMNS };

static const char *const columns[OWN_COLUMNS] = {"centre_height"};

static const double small_radius[CROWD_SIZES] = {2.5e-4, 2.5e-4, 1.2e-4, 1.2e-4, 6e-5}; /* Table 4 */

/* Height of the mass centre. */
static void measure(const dls_simulation *simulation, const dls_step_report *report, double *values) {
    const dls_world *world = dls_simulation_world(simulation);
    double mass = 0, moment = 0;
    int bodies = dls_world_body_count(world);
    if (report->step % CROWD_ROW) return; /* once in a row is enough */
    for (int i = 0; i < bodies; i++) {
        dls_body_state s;
        dls_body_mass m;
        if (dls_body_motion(world, i) != DLS_DYNAMIC || dls_body_state_get(world, i, &s, NULL) ||
            dls_body_mass_get(world, i, &m, NULL))
            continue;
        mass += m.mass;
        moment += m.mass * s.x[1];
    }
    values[HEIGHT] = moment / mass;
}

static void set_size(abide_settings *s, int balls) { abide_set(s, "variables.n=%d", balls); }

/* ε = 1e-6 N, γ_n = 1e-4 and γ_τ = 1e-9 kg/s, Δt = 1e-4 s, e = 1; ρ as in section 6.4. Starred numbers, for
 * which the paper saw large penetrations, are left out. */
static const crowd_def sediment = {
    .scene = "002-6.3",
    .parameters = {.rho_scale = 1.75, .gamma_n = "1e-8/2", .gamma_t = "1e-13/2", .increment = "1e-10"},
    .reduced_until = 0.3,
    .sweeps_table = 6,
    .seconds_table = 5,
    .sweeps = {{67726, 89347, 95995, 147445, 25578301},
               {67121, 85663, 99765, 142802, 23836195},
               {326121, 363596, 442943, NAN, NAN},
               {106194, 120975, 138970, NAN, NAN}},
    .seconds = {{2.588, 8.412, 28.347, 107.919, 12298.419},
                {2.562, 8.392, 28.347, 105.408, 11515.381},
                {22.294, 44.214, 87.293, NAN, NAN},
                {13.751, 33.533, 65.856, NAN, NAN}},
    .sweeps_figure = 7,
    .seconds_figure = 6,
    .shot_figure = 5,
    .shots = 3,
    .column_count = OWN_COLUMNS,
    .columns = columns,
    .measure = measure,
    .set = set_size,
};

/* ---- claims ---------------------------------------------------------------------------------------------
 */

/* Over the last tenth of the run. */
static double late_penetration(const case_history *h) {
    double end = case_value(h, h->steps - 1, CASE_T);
    return case_largest(h, CASE_PENETRATION, 0.9 * end, end);
}

/* In the pictures of Fig. 5 the balls lie at the end. */
static void claim_rest(experiment_run *run, const case_history *h, int size) {
    double most = case_largest(h, CASE_KINETIC, 0, (double)INFINITY);
    claim_bound(&run->claims, CLAIM_PRINTED, "1", CLAIM_AT_MOST, 0.02,
                case_value(h, h->steps - 1, CASE_KINETIC) / most,
                "Fig. 5: kinetic energy at the end, of its largest, %d balls, auto", crowd_sizes[size]);
}

static void claim_default(experiment_run *run, const case_history *h, int size) {
    run->claims.method = METHOD_OURS;
    claim_rest(run, h, size);
    claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 0.01,
                late_penetration(h) / small_radius[size],
                "penetration at the end in small radii, %d balls, auto", crowd_sizes[size]);
    claim_equal(&run->claims, CLAIM_DERIVED, "1", 1, case_mean(h, CASE_CERTIFIED, 0, (double)INFINITY), 0,
                "share of certified steps, %d balls, auto", crowd_sizes[size]);
    run->claims.method = METHOD_PAPERS;
}

/* Remark 4: with 800 balls and more SAL and IBP leave large penetrations, the active sets do not. */
static void claim_remark(experiment_run *run, const crowd *c, int size) {
    static const int loose[] = {ABIDE_SAL, ABIDE_IBP};
    const case_history *good = &c->of[ABIDE_IPDAS][size];
    if (!isnan(sediment.sweeps[ABIDE_SAL][size]) || !good->finished) return;
    for (int i = 0; i < 2; i++) {
        const case_history *h = &c->of[loose[i]][size];
        if (!h->finished) continue;
        claim_bound(&run->claims, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 1,
                    late_penetration(h) / late_penetration(good),
                    "Remark 4: penetration at the end over that of IPDAS, %d balls, %s", crowd_sizes[size],
                    abide_name(loose[i]));
    }
}

/* ---- table ----------------------------------------------------------------------------------------------
 */

static bool write_penetrations(experiment_run *run, const crowd *c) {
    output_file out;
    if (!run_table_open(run, "penetration", &out)) return false;
    fputs("method,balls,small_radius_m,largest_m,at_the_end_m,largest_in_radii,at_the_end_in_radii,"
          "kinetic_energy_left,centre_height_m\n",
          out.stream);
    for (int size = 0; size < c->sizes; size++)
        for (int m = 0; m < ABIDE_EVERY; m++) {
            const case_history *h = &c->of[m][size];
            if (!c->has[m][size] || !h->finished) continue;
            double most = case_largest(h, CASE_PENETRATION, 0, (double)INFINITY), late = late_penetration(h);
            fprintf(out.stream, "%s,%d", abide_name(m), crowd_sizes[size]);
            csv_real(out.stream, small_radius[size]);
            csv_real(out.stream, most), csv_real(out.stream, late);
            csv_real(out.stream, most / small_radius[size]), csv_real(out.stream, late / small_radius[size]);
            csv_real(out.stream, case_value(h, h->steps - 1, CASE_KINETIC) /
                                     case_largest(h, CASE_KINETIC, 0, (double)INFINITY));
            csv_real(out.stream, case_value(h, h->steps - 1, CASE_COLUMNS + CROWD_OWN + HEIGHT));
            fputc('\n', out.stream);
        }
    return output_file_commit(&out);
}

/* ---- the experiment -------------------------------------------------------------------------------------
 */

static bool run_sediment(experiment_run *run) {
    crowd c;
    bool good = crowd_run(run, &sediment, 1200, &c);
    for (int size = 0; size < c.sizes && good; size++) {
        claim_default(run, &c.of[ABIDE_OURS][size], size);
        claim_remark(run, &c, size);
    }
    if (good) crowd_claims(run, &c);
    if (good && *run->folder) good = crowd_write(run, &c) && write_penetrations(run, &c);
    crowd_free(&c);
    return good;
}

const experiment experiment_sedimentation = {
    .name = "002-6.3",
    .title = "balls of two sizes settle in a box, 100 to 1600 (Tables 5, 6)",
    .has_reduced = true,
    .has_full = true,
    .run = run_sediment,
};

/* What a step of a simulation costs, in time and in memory.
 *
 *     bench_simulate filling [--spheres N] [--seconds T] [--tolerance X] [--threads N] [--seed N]
 *     bench_simulate packing [--spheres N] [--threads N] [--steps N] [--sweeps N] [--tolerance X] [--rolling
 * X]
 *
 * filling: spheres of radius 1 m and 1 kg fall from a jittered lattice of ten layers onto a floor, 10 × 10 of
 * 1.1 diameters for 1000 of them, between walls; μ = 0.3, e = 0, h = 0.01 s, and every step is solved to the
 * tolerance.
 *
 * packing: spheres of radii 0.9 … 1.1 m at rest in a box, some 15 deep whatever their number. A tile of at
 * most 1000 falls to rest between smooth walls; mirrored side by side, tiles are at rest in a larger box as
 * well. Rows are ordered as a lattice that is filled layer by layer. Steps to the tolerance are measured,
 * then steps of a fixed number of sweeps, which cost the same work per contact in packings of all sizes. Each
 * stage's time is the least of the measured steps.
 *
 * Prints one JSON object per line; bench/run makes tables of them. */
#include <delassus/delassus.h>

#include <malloc.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IN_TILE = 1000, WARM_STEPS = 2, WARM_SWEEPS = 100, SETTLING_SWEEPS = 40 };

static const double STEP = 0.01, MU = 0.3, PI = 3.14159265358979323846;
static const double SETTLING_SECONDS = 5;

typedef struct arguments {
    int spheres, threads, steps, sweeps, seed;
    double seconds, tolerance;
} arguments;

static double rolling; /* rolling friction over the radius */

static _Noreturn void give_up(const char *message) {
    fprintf(stderr, "bench_simulate: %s\n", message);
    exit(1);
}

static void check(dls_status status, const dls_error *error) {
    if (status) give_up(error->message);
}

static void *room_for(size_t count, size_t size) {
    void *room = calloc(count ? count : 1, size);
    if (!room) give_up("out of memory");
    return room;
}

/* ---- what is held ---------------------------------------------------------------------------------------
 */

static atomic_size_t held; /* bytes that the library holds */

static void *counted_allocate(size_t bytes, void *user) {
    (void)user;
    void *block = malloc(bytes);
    if (block) atomic_fetch_add(&held, malloc_usable_size(block));
    return block;
}

static void counted_release(void *block, void *user) {
    (void)user;
    atomic_fetch_sub(&held, malloc_usable_size(block));
    free(block);
}

/* The most that was resident; getrusage would count the program that started this one. */
static double peak_bytes(void) {
    char line[256];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0) kilobytes = atof(line + 6);
    if (file) fclose(file);
    return 1024 * kilobytes;
}

/* ---- worlds ---------------------------------------------------------------------------------------------
 */

typedef struct sphere {
    double x[3], radius;
} sphere;

/* The same numbers on every machine: xorshift64*. */
static double uniform(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)((*state * 0x2545F4914F6CDD1Du) >> 11) * 0x1p-53;
}

/* A floor at z = 0 and walls around [0, width] × [0, depth]. */
static void add_container(dls_world *world, double width, double depth, double wall_mu) {
    static const double root = 0.70710678118654752;
    const dls_pose poses[5] = {{.q = {1, 0, 0, 0}},
                               {.q = {root, 0, root, 0}}, /* solid at x ≤ 0 */
                               {.q = {root, -root, 0, 0}},
                               {.x = {width}, .q = {root, 0, -root, 0}},
                               {.x = {0, depth}, .q = {root, root, 0, 0}}};
    dls_material_def smooth = dls_default_material_def();
    dls_material_id wall;
    dls_error error;
    smooth.name = "wall", smooth.mu = wall_mu, smooth.e_n = smooth.e_t = 0;
    check(dls_world_add_material(world, &smooth, &wall, &error), &error);
    for (int k = 0; k < 5; k++) {
        dls_shape_def shape = dls_default_shape_def(DLS_HALF_SPACE);
        dls_body_def body = dls_default_body_def();
        dls_body_id id;
        shape.material = k ? wall : 0;
        body.motion = DLS_STATIC;
        body.pose = poses[k];
        body.shape_count = 1, body.shapes = &shape;
        check(dls_world_add_body(world, &body, &id, &error), &error);
    }
}

static dls_world *make_world(const sphere *spheres, int count, double width, double depth, double wall_mu) {
    dls_world_def def = dls_default_world_def();
    dls_world *world;
    dls_error error;
    check(dls_world_create(&def, &world, &error), &error);
    dls_material_def material = dls_default_material_def();
    material.name = "grain", material.density = 3 / (4 * PI); /* a sphere of 1 m weighs 1 kg */
    material.mu = MU, material.e_n = material.e_t = 0;
    material.turning.rolling_ratio = rolling;
    check(dls_world_set_material(world, 0, &material, &error), &error);
    add_container(world, width, depth, wall_mu);
    for (int i = 0; i < count; i++) {
        dls_shape_def shape = dls_default_shape_def(DLS_SPHERE);
        dls_body_def body = dls_default_body_def();
        dls_body_id id;
        shape.radius = spheres[i].radius;
        memcpy(body.pose.x, spheres[i].x, sizeof body.pose.x);
        body.shape_count = 1, body.shapes = &shape;
        check(dls_world_add_body(world, &body, &id, &error), &error);
    }
    return world;
}

static dls_simulation *make_simulation(dls_world *world, int threads) {
    dls_simulation_options options = dls_default_simulation_options();
    dls_simulation *simulation;
    dls_error error;
    options.step = STEP;
    options.threads = threads;
    check(dls_simulation_create(world, &options, &simulation, &error), &error);
    return simulation;
}

/* The default solver to a tolerance; at most so many iterations, 0: as many as it takes by default. */
static void solve_to(dls_simulation *simulation, double tolerance, int iterations) {
    dls_auto_options options;
    dls_error error;
    dls_simulation_solver_defaults(dls_solver_find("auto"), &options);
    options.stop.tolerance = tolerance;
    if (iterations) options.stop.max_iterations = iterations;
    check(dls_simulation_set_solver(simulation, dls_solver_find("auto"), &options, &error), &error);
}

/* So many sweeps with momentum, however good they are. */
static void solve_by_sweeps(dls_simulation *simulation, int sweeps) {
    dls_nlgs_options options;
    dls_error error;
    dls_simulation_solver_defaults(dls_solver_find("nlgs"), &options);
    options.acceleration = DLS_MOMENTUM;
    options.stop.tolerance = 0;
    options.stop.min_iterations = options.stop.max_iterations = sweeps;
    options.stop.check_interval = 1 << 30;
    options.stall_sweeps = 0;
    check(dls_simulation_set_solver(simulation, dls_solver_find("nlgs"), &options, &error), &error);
}

/* ---- filling --------------------------------------------------------------------------------------------
 */

/* count spheres above the floor, side × side in a layer, each moved by up to jitter. */
static sphere *lattice(int count, int side, double spacing, double least, double most, double jitter,
                       int seed) {
    sphere *spheres = room_for((size_t)count, sizeof *spheres);
    uint64_t state = 42 + 1000003 * (uint64_t)seed;
    for (int i = 0; i < count; i++) {
        const int cell[3] = {i % side, i / side % side, i / side / side};
        spheres[i].radius = least + (most - least) * uniform(&state);
        for (int k = 0; k < 3; k++)
            spheres[i].x[k] = (cell[k] + 0.5) * spacing + jitter * (2 * uniform(&state) - 1);
    }
    return spheres;
}

static void measure_filling(const arguments *args) {
    const int side = (int)lround(sqrt(args->spheres / 10.0));
    const double spacing = 1.1 * 2, width = side * spacing;
    sphere *spheres = lattice(args->spheres, side, spacing, 1, 1, 0.09, args->seed);
    dls_world *world = make_world(spheres, args->spheres, width, width, MU);
    dls_simulation *simulation = make_simulation(world, args->threads);
    solve_to(simulation, args->tolerance, 0);
    dls_error error;
    const int steps = (int)lround(args->seconds / STEP);
    const double began = dls_clock_cpu();
    for (int k = 0; k < steps; k++) check(dls_simulation_step(simulation, NULL, &error), &error);
    const double seconds = dls_clock_cpu() - began;
    const dls_run_summary sum = dls_simulation_summary(simulation);
    const dls_energy energy = dls_simulation_energy(simulation);
    printf(
        "{\"kind\": \"filling\", \"spheres\": %d, \"threads\": %d, \"tolerance\": %g, "
        "\"simulated_seconds\": %.6g, \"processor_seconds\": %.4g, \"steps\": %lld, \"certified\": %lld, "
        "\"worst_residual\": %.4g, \"worst_held\": %.4g, \"worst_error\": %.4g, \"contacts_per_step\": %.1f, "
        "\"iterations_per_step\": %.1f, \"collide_seconds\": %.4g, \"assemble_seconds\": %.4g, "
        "\"solve_seconds\": %.4g, \"wall_seconds\": %.4g, \"penetration\": %.3g, \"kinetic_energy\": %.4g}\n",
        args->spheres, args->threads, args->tolerance, steps * STEP, seconds, (long long)sum.steps,
        (long long)sum.certified, sum.worst_residual, sum.worst_held, sum.worst_error,
        (double)sum.contacts / (double)sum.steps, (double)sum.iterations / (double)sum.steps,
        sum.seconds_collide, sum.seconds_assemble, sum.seconds_solve, sum.seconds, sum.penetration,
        energy.kinetic);
    dls_simulation_destroy(simulation);
    dls_world_destroy(world);
    free(spheres);
}

/* ---- packing --------------------------------------------------------------------------------------------
 */

typedef struct packing {
    sphere *spheres;
    int count;
    double width, depth;
} packing;

/* Spheres that have come to rest between smooth walls. */
static packing settle_tile(int count) {
    int side = (int)lround(cbrt(count / 2.5));
    if (side < 2) side = 2;
    const double spacing = 2.5, width = side * spacing;
    packing tile = {lattice(count, side, spacing, 0.9, 1.1, 0.15, 0), count, width, width};
    dls_world *world = make_world(tile.spheres, count, width, width, 0);
    dls_simulation *simulation = make_simulation(world, 1);
    dls_error error;
    solve_by_sweeps(simulation, SETTLING_SWEEPS);
    for (int k = 0; k < (int)(SETTLING_SECONDS / STEP); k++)
        check(dls_simulation_step(simulation, NULL, &error), &error);
    const int walls = dls_world_body_count(world) - count;
    for (int i = 0; i < count; i++) {
        dls_body_state state;
        check(dls_body_state_get(world, walls + i, &state, &error), &error);
        memcpy(tile.spheres[i].x, state.x, sizeof state.x);
    }
    dls_simulation_destroy(simulation);
    dls_world_destroy(world);
    return tile;
}

/* Layer by layer, in each row by row, as a lattice is filled. */
static int compare_places(const void *left, const void *right) {
    const sphere *a = left, *b = right;
    for (int k = 2; k >= 0; k--) {
        const double cell_a = floor(a->x[k] / 2), cell_b = floor(b->x[k] / 2);
        if (cell_a != cell_b) return cell_a < cell_b ? -1 : 1;
    }
    for (int k = 2; k >= 0; k--)
        if (a->x[k] != b->x[k]) return a->x[k] < b->x[k] ? -1 : 1;
    return 0;
}

static packing make_packing(int wanted) {
    const int tiles = wanted <= MOST_IN_TILE ? 1 : (int)lround((double)wanted / MOST_IN_TILE);
    packing tile = settle_tile(tiles == 1 ? wanted : MOST_IN_TILE);
    int columns = (int)sqrt((double)tiles);
    while (tiles % columns) columns--;
    packing all = {room_for((size_t)tiles * (size_t)tile.count, sizeof(sphere)), 0, columns * tile.width,
                   tiles / columns * tile.depth};
    for (int k = 0; k < tiles; k++) {
        const int i = k % columns, j = k / columns;
        for (int s = 0; s < tile.count; s++) {
            sphere *at = &all.spheres[all.count++];
            *at = tile.spheres[s];
            at->x[0] = i % 2 ? (i + 1) * tile.width - at->x[0] : i * tile.width + at->x[0];
            at->x[1] = j % 2 ? (j + 1) * tile.depth - at->x[1] : j * tile.depth + at->x[1];
        }
    }
    qsort(all.spheres, (size_t)all.count, sizeof *all.spheres, compare_places);
    free(tile.spheres);
    return all;
}

typedef struct memory_use {
    double world, simulation, resident;
} memory_use;

/* Each stage the least of the steps; counts are those of the last. */
static dls_step_report measure_steps(dls_simulation *simulation, const arguments *args, double *iterations,
                                     int *certified, double *processor) {
    dls_step_report report, least = {0};
    double rest = HUGE_VAL;
    dls_error error;
    *iterations = *certified = 0;
    *processor = least.seconds_collide = least.seconds_assemble = least.seconds_solve = HUGE_VAL;
    for (int k = 0; k < args->steps; k++) {
        const dls_step_report before = least;
        const double began = dls_clock_cpu();
        check(dls_simulation_step(simulation, &report, &error), &error);
        *processor = fmin(*processor, dls_clock_cpu() - began);
        least = report;
        least.seconds_collide = fmin(before.seconds_collide, report.seconds_collide);
        least.seconds_assemble = fmin(before.seconds_assemble, report.seconds_assemble);
        least.seconds_solve = fmin(before.seconds_solve, report.seconds_solve);
        rest = fmin(rest,
                    report.seconds - report.seconds_collide - report.seconds_assemble - report.seconds_solve);
        *iterations += (double)report.iterations / args->steps;
        *certified += report.certified;
    }
    const double wall = least.seconds_collide + least.seconds_assemble + least.seconds_solve + rest;
    const double scale = args->threads == 1 ? *processor / wall : 1;
    least.seconds_collide *= scale, least.seconds_assemble *= scale, least.seconds_solve *= scale;
    least.seconds = wall * scale;
    return least;
}

static void print_packing(const arguments *args, const char *mode, dls_simulation *simulation, int spheres,
                          const memory_use *memory) {
    double iterations, processor;
    int certified;
    const dls_step_report s = measure_steps(simulation, args, &iterations, &certified, &processor);
    printf(
        "{\"kind\": \"packing\", \"mode\": \"%s\", \"spheres\": %d, \"threads\": %d, \"tolerance\": %g, "
        "\"contacts\": %d, \"active\": %d, \"steps\": %d, \"certified\": %d, \"iterations\": %.1f, "
        "\"residual\": %.3g, \"collide_seconds\": %.4g, \"assemble_seconds\": %.4g, "
        "\"solve_seconds\": %.4g, \"seconds\": %.4g, \"processor_seconds\": %.4g, "
        "\"world_bytes\": %.0f, \"simulation_bytes\": %zu, \"held_bytes\": %zu, "
        "\"resident_bytes\": %.0f, \"kinetic_energy\": %.3g, \"penetration\": %.3g, \"hash\": \"%016llx\"}\n",
        mode, spheres, args->threads, args->tolerance, s.contacts, s.active, args->steps, certified,
        iterations, s.residual, s.seconds_collide, s.seconds_assemble, s.seconds_solve, s.seconds, processor,
        memory->world, dls_simulation_memory(simulation), atomic_load(&held), peak_bytes() - memory->resident,
        s.energy.kinetic, s.penetration, (unsigned long long)dls_simulation_hash(simulation));
    fflush(stdout);
}

/* Iterations that a step may take: fewer in a packing so large that it would not end in minutes. */
static int most_sweeps(int spheres) {
    const int affordable = 30000000 / spheres;
    return affordable < 30 ? 30 : affordable > WARM_SWEEPS ? WARM_SWEEPS : affordable;
}

static void measure_packing(const arguments *args) {
    memory_use memory = {.resident = peak_bytes()};
    packing all = make_packing(args->spheres);
    const size_t before = atomic_load(&held);
    dls_world *world = make_world(all.spheres, all.count, all.width, all.depth, 0);
    free(all.spheres);
    memory.world = (double)(atomic_load(&held) - before);
    dls_simulation *simulation = make_simulation(world, args->threads);
    dls_error error;
    solve_to(simulation, args->tolerance, WARM_SWEEPS);
    for (int k = 0; k < WARM_STEPS; k++) check(dls_simulation_step(simulation, NULL, &error), &error);
    solve_to(simulation, args->tolerance, most_sweeps(all.count));
    print_packing(args, "tolerance", simulation, all.count, &memory);
    solve_by_sweeps(simulation, args->sweeps);
    print_packing(args, "sweeps", simulation, all.count, &memory);
    dls_simulation_destroy(simulation);
    dls_world_destroy(world);
}

/* ---- arguments ------------------------------------------------------------------------------------------
 */

static bool parse_arguments(int argc, char **argv, arguments *args) {
    *args = (arguments){1000, 1, 3, 20, 0, 5, 1e-4};
    for (int i = 2; i + 1 < argc; i += 2) {
        const char *key = argv[i], *value = argv[i + 1];
        if (strcmp(key, "--spheres") == 0)
            args->spheres = atoi(value);
        else if (strcmp(key, "--threads") == 0)
            args->threads = atoi(value);
        else if (strcmp(key, "--steps") == 0)
            args->steps = atoi(value);
        else if (strcmp(key, "--sweeps") == 0)
            args->sweeps = atoi(value);
        else if (strcmp(key, "--seed") == 0)
            args->seed = atoi(value);
        else if (strcmp(key, "--seconds") == 0)
            args->seconds = atof(value);
        else if (strcmp(key, "--tolerance") == 0)
            args->tolerance = atof(value);
        else if (strcmp(key, "--rolling") == 0)
            rolling = atof(value);
        else
            return false;
    }
    return argc >= 2 && argc % 2 == 0 && args->spheres > 0 && args->threads > 0 && args->steps > 0 &&
           args->sweeps > 0 && args->seconds > 0 && args->tolerance > 0;
}

int main(int argc, char **argv) {
    arguments args;
    dls_allocator_set(&(dls_allocator){counted_allocate, counted_release, NULL});
    const bool right = parse_arguments(argc, argv, &args);
    if (right && strcmp(argv[1], "filling") == 0)
        measure_filling(&args);
    else if (right && strcmp(argv[1], "packing") == 0)
        measure_packing(&args);
    else {
        fprintf(stderr, "usage: bench_simulate filling|packing [--spheres N] [--threads N] [--seconds T] "
                        "[--tolerance X] [--steps N] [--sweeps N]\n");
        return 2;
    }
    return 0;
}

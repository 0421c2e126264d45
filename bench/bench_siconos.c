/* Siconos and Delassus on the same contact problem, both judged by our residual.
 *
 *     bench_siconos FILE [--side ours|siconos|both] [--set nsgs|all] [--ours SPEC]... [--target T]...
 *                        [--time-limit S]
 *
 * Prints one JSON object per line: the problem, then one line per solver and target; bench/run makes tables
 * of them. SPEC is solver[:law][:key=value]..., for example nlgs:exact or nlgs:ebp:relaxation=0.7. Siconos
 * stores W by blocks (its own form) unless a solver's name says otherwise; its conversions from that form
 * belong to the solve, as in its own time steps. */
#include <delassus/delassus.h>

#include "contest.h"

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <SiconosConfig.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <openblas_config.h>

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- W in Siconos's form --------------------------------------------------------------------------------
 */

typedef struct peer_problem {
    int dimension, contacts, rows;
    size_t block_count;
    size_t *row_start, *column; /* of blocks */
    double *block;              /* column-major, one after the other */
    double *dense;              /* column-major */
    double *q, *mu;
    double impulse_unit; /* of r in Siconos's problem, N s */
} peer_problem;

static void *must(void *memory) {
    if (!memory) {
        fprintf(stderr, "bench_siconos: out of memory\n");
        exit(1);
    }
    return memory;
}

static void *make(size_t count, size_t size) { return must(calloc(count ? count : 1, size)); }

/* Marks the blocks of W's block row i in used, that of the diagonal with them. */
static void mark_blocks(const peer_problem *peer, const int64_t *start, const int *column, int i,
                        bool *used) {
    const int d = peer->dimension;
    for (int64_t k = start[d * i]; k < start[d * i + d]; k++) used[column[k] / d] = true;
    used[i] = true;
}

static size_t count_blocks(const peer_problem *peer, const int64_t *start, const int *column, bool *used) {
    size_t count = 0;
    for (int i = 0; i < peer->contacts; i++) {
        mark_blocks(peer, start, column, i, used);
        for (int j = 0; j < peer->contacts; j++) count += used[j], used[j] = false;
    }
    return count;
}

/* Scalar rows into d × d blocks, columns in rising order. */
static void fill_blocks(peer_problem *peer, const int64_t *start, const int *column, const double *value) {
    const int d = peer->dimension, n = peer->contacts;
    size_t *place = make((size_t)n, sizeof *place);
    bool *used = make((size_t)n, sizeof *used);
    const size_t count = count_blocks(peer, start, column, used);
    peer->row_start = make((size_t)n + 1, sizeof(size_t));
    peer->column = make(count, sizeof(size_t));
    peer->block = make(count * (size_t)(d * d), sizeof(double));
    for (int i = 0; i < n; i++) {
        mark_blocks(peer, start, column, i, used);
        for (int j = 0; j < n; j++) {
            if (!used[j]) continue;
            used[j] = false;
            peer->column[peer->block_count] = (size_t)j;
            place[j] = peer->block_count++;
        }
        for (int row = 0; row < d; row++)
            for (int64_t k = start[d * i + row]; k < start[d * i + row + 1]; k++)
                peer->block[place[column[k] / d] * (size_t)(d * d) + (size_t)(column[k] % d * d + row)] +=
                    value[k];
        peer->row_start[i + 1] = peer->block_count;
    }
    free(place);
    free(used);
}

/* Its planar solver takes a determinant, and a norm of impulses, below 2e-16 for zero: units are chosen so
 * that W's diagonal and q are about 1. Spatial problems are handed over as they are. */
static void choose_units(peer_problem *peer) {
    const size_t d = (size_t)peer->dimension, rows = (size_t)peer->rows;
    double trace = 0, square = 0;
    for (size_t i = 0; i < rows; i++) trace += peer->dense[i * rows + i], square += peer->q[i] * peer->q[i];
    const bool planar = d == 2 && trace > 0 && square > 0;
    const double mass = planar ? peer->rows / trace : 1, velocity = planar ? sqrt(square / peer->rows) : 1;
    for (size_t k = 0; k < peer->block_count * d * d; k++) peer->block[k] *= mass;
    for (size_t k = 0; k < rows * rows; k++) peer->dense[k] *= mass;
    for (size_t i = 0; i < rows; i++) peer->q[i] /= velocity;
    peer->impulse_unit = mass * velocity;
}

static peer_problem peer_from(const dls_problem *problem) {
    const int n = dls_problem_contact_count(problem), rows = dls_problem_row_count(problem);
    peer_problem peer = {.dimension = dls_problem_block_size(problem, 0), .contacts = n, .rows = rows};
    const int64_t entries = dls_problem_export(problem, NULL, NULL, NULL);
    int64_t *start = make((size_t)rows + 1, sizeof *start);
    int *column = make((size_t)entries, sizeof *column);
    double *value = make((size_t)entries, sizeof *value);
    dls_problem_export(problem, start, column, value);
    fill_blocks(&peer, start, column, value);
    peer.dense = make((size_t)rows * (size_t)rows, sizeof(double));
    for (int i = 0; i < rows; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++)
            peer.dense[(size_t)column[k] * (size_t)rows + (size_t)i] += value[k];
    peer.q = make((size_t)rows, sizeof(double));
    peer.mu = make((size_t)n, sizeof(double));
    memcpy(peer.q, dls_problem_b(problem), (size_t)rows * sizeof(double));
    for (int i = 0; i < n; i++) peer.mu[i] = dls_problem_mu(problem, i);
    free(start);
    free(column);
    free(value);
    choose_units(&peer);
    return peer;
}

static void *copy_of(const void *source, size_t bytes) {
    void *copy = must(malloc(bytes ? bytes : 1));
    return memcpy(copy, source, bytes);
}

static SparseBlockStructuredMatrix *blocks_of(const peer_problem *peer) {
    const size_t n = (size_t)peer->contacts, d = (size_t)peer->dimension;
    SparseBlockStructuredMatrix *W = SBM_new();
    W->nbblocks = (unsigned)peer->block_count;
    W->blocknumber0 = W->blocknumber1 = (unsigned)n;
    W->blocksize0 = make(n, sizeof(unsigned));
    for (size_t i = 0; i < n; i++) W->blocksize0[i] = (unsigned)(d * (i + 1));
    W->blocksize1 = copy_of(W->blocksize0, n * sizeof(unsigned));
    W->filled1 = n + 1;
    W->filled2 = peer->block_count;
    W->index1_data = copy_of(peer->row_start, (n + 1) * sizeof(size_t));
    W->index2_data = copy_of(peer->column, peer->block_count * sizeof(size_t));
    W->block = make(peer->block_count, sizeof(double *));
    for (size_t k = 0; k < peer->block_count; k++)
        W->block[k] = copy_of(peer->block + k * d * d, d * d * sizeof(double));
    return W;
}

/* Some solvers change the problem that they are given, so each solve gets a copy. */
static FrictionContactProblem *problem_of(const peer_problem *peer, NM_types storage) {
    const size_t n = (size_t)peer->rows;
    NumericsMatrix *W;
    if (storage == NM_DENSE)
        W = NM_create_from_data(NM_DENSE, peer->rows, peer->rows,
                                copy_of(peer->dense, n * n * sizeof(double)));
    else
        W = NM_create_from_data(NM_SPARSE_BLOCK, peer->rows, peer->rows, blocks_of(peer));
    return frictionContactProblem_new_with_data(peer->dimension, peer->contacts, W,
                                                copy_of(peer->q, n * sizeof(double)),
                                                copy_of(peer->mu, (size_t)peer->contacts * sizeof(double)));
}

/* ---- its solvers ----------------------------------------------------------------------------------------
 */

#define BLOCKS         NM_SPARSE_BLOCK
#define DENSE          NM_DENSE
#define NSGS           SICONOS_FRICTION_3D_NSGS
#define LOCAL_NEWTON   SICONOS_FRICTION_3D_ONECONTACT_NSN
#define LOCAL_DAMPED   SICONOS_FRICTION_3D_ONECONTACT_NSN_GP
#define LOCAL_HYBRID   SICONOS_FRICTION_3D_ONECONTACT_NSN_GP_HYBRID
#define LOCAL_ITERATED SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration
#define ALART          SICONOS_FRICTION_3D_NSN_AC
#define FISCHER        SICONOS_FRICTION_3D_NSN_FB
#define NATURAL        SICONOS_FRICTION_3D_NSN_NM
#define PROXIMAL       SICONOS_FRICTION_3D_PROX
#define ADMM           SICONOS_FRICTION_3D_ADMM

/* What differs from a solver's defaults, by name. */
typedef enum option {
    DEFAULT,
    LIGHT,
    FULL,
    TEN_LOCAL,
    ADAPTIVE_LOCAL,
    MOREAU_LOCAL,
    LOOP_LOCAL,
    RELAXED,
    OMEGA_OVER,
    OMEGA_UNDER,
    FREEZING,
    SHUFFLED,
    PLAIN,
    INNER_PLAIN,
    CSPARSE,
    INNER_CSPARSE,
    MOREAU,
    GRADIENT_START,
    REGULARIZED,
    SMALL_ALPHA,
    BALANCED,
    RESCALED,
    NORM_RHO,
    OPTION_COUNT
} option;

static const struct {
    enum { NOTHING, INTEGER, REAL, INNER_INTEGER } what; /* inner: of the solver inside */
    int index;
    double value;
} OPTIONS[OPTION_COUNT] = {
    [LIGHT] = {INTEGER, SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION,
               SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_LIGHT},
    [FULL] = {INTEGER, SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION,
              SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL},
    [TEN_LOCAL] = {INNER_INTEGER, SICONOS_IPARAM_MAX_ITER, 10},
    [ADAPTIVE_LOCAL] = {INTEGER, SICONOS_FRICTION_3D_IPARAM_INTERNAL_ERROR_STRATEGY,
                        SICONOS_FRICTION_3D_INTERNAL_ERROR_STRATEGY_ADAPTIVE},
    [MOREAU_LOCAL] = {INNER_INTEGER, SICONOS_FRICTION_3D_NSN_FORMULATION,
                      SICONOS_FRICTION_3D_NSN_FORMULATION_JEANMOREAU_STD},
    [LOOP_LOCAL] = {INNER_INTEGER, SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY,
                    SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY_PLI_NSN_LOOP},
    [RELAXED] = {INTEGER, SICONOS_FRICTION_3D_NSGS_RELAXATION, SICONOS_FRICTION_3D_NSGS_RELAXATION_TRUE},
    [OMEGA_OVER] = {REAL, SICONOS_FRICTION_3D_NSGS_RELAXATION_VALUE, 1.3},
    [OMEGA_UNDER] = {REAL, SICONOS_FRICTION_3D_NSGS_RELAXATION_VALUE, 0.8},
    [FREEZING] = {INTEGER, SICONOS_FRICTION_3D_NSGS_FREEZING_CONTACT, 10},
    [SHUFFLED] = {INTEGER, SICONOS_FRICTION_3D_NSGS_SHUFFLE, SICONOS_FRICTION_3D_NSGS_SHUFFLE_TRUE},
    [PLAIN] = {INTEGER, SICONOS_FRICTION_3D_NSN_LINESEARCH, SICONOS_FRICTION_3D_NSN_LINESEARCH_NO},
    [INNER_PLAIN] = {INNER_INTEGER, SICONOS_FRICTION_3D_NSN_LINESEARCH,
                     SICONOS_FRICTION_3D_NSN_LINESEARCH_NO},
    [CSPARSE] = {INTEGER, SICONOS_FRICTION_3D_NSN_LINEAR_SOLVER, SICONOS_FRICTION_3D_NSN_USE_CSLUSOL},
    [INNER_CSPARSE] = {INNER_INTEGER, SICONOS_FRICTION_3D_NSN_LINEAR_SOLVER,
                       SICONOS_FRICTION_3D_NSN_USE_CSLUSOL},
    [MOREAU] = {INTEGER, SICONOS_FRICTION_3D_NSN_FORMULATION,
                SICONOS_FRICTION_3D_NSN_FORMULATION_JEANMOREAU_STD},
    [GRADIENT_START] = {INTEGER, SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY,
                        SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY_VI_EG_NSN},
    [REGULARIZED] = {INTEGER, SICONOS_FRICTION_3D_PROXIMAL_IPARAM_STRATEGY,
                     SICONOS_FRICTION_3D_PROXIMAL_REGULARIZATION},
    [SMALL_ALPHA] = {REAL, SICONOS_FRICTION_3D_PROXIMAL_DPARAM_ALPHA, 1e-2},
    [BALANCED] = {INTEGER, SICONOS_FRICTION_3D_ADMM_IPARAM_RHO_STRATEGY,
                  SICONOS_FRICTION_3D_ADMM_RHO_STRATEGY_RESIDUAL_BALANCING},
    [RESCALED] = {INTEGER, SICONOS_FRICTION_3D_IPARAM_RESCALING, SICONOS_FRICTION_3D_RESCALING_SCALAR},
    [NORM_RHO] = {INTEGER, SICONOS_FRICTION_3D_ADMM_IPARAM_INITIAL_RHO,
                  SICONOS_FRICTION_3D_ADMM_INITIAL_RHO_NORM_INF},
};

typedef struct peer_solver {
    char name[48];
    const char
        *group; /* nsgs: every local solver with either stop test; tuned: NSGS with more; newton; other */
    int dimension, id, inner; /* inner: the solver inside, 0 for its default */
    NM_types storage;
    option options[3];
} peer_solver;

typedef struct peer_context {
    const peer_problem *problem;
    const peer_solver *solver;
} peer_context;

/* Local solvers of NSGS; those on a cylinder solve Tresca's law, not Coulomb's. */
static const struct {
    const char *name;
    int id;
    option option;
} LOCAL_SOLVERS[] = {
    {"newton", LOCAL_NEWTON, DEFAULT},
    {"quartic", SICONOS_FRICTION_3D_ONECONTACT_QUARTIC, DEFAULT},
    {"quartic-newton", SICONOS_FRICTION_3D_ONECONTACT_QUARTIC_NU, DEFAULT},
    {"cone", SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnCone, DEFAULT},
    {"cone-diagonal", SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithDiagonalization, DEFAULT},
    {"cone-regularized", SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithRegularization, DEFAULT},
    {"cone-iterated", LOCAL_ITERATED, DEFAULT},
    {"cone-iterated-10", LOCAL_ITERATED, TEN_LOCAL},
    {"newton-damped", LOCAL_DAMPED, DEFAULT},
    {"newton-adaptive", LOCAL_DAMPED, ADAPTIVE_LOCAL},
    {"newton-moreau", LOCAL_DAMPED, MOREAU_LOCAL},
    {"newton-hybrid", LOCAL_HYBRID, DEFAULT},
    {"newton-hybrid-loop", LOCAL_HYBRID, LOOP_LOCAL},
    {"glocker-newton", SICONOS_FRICTION_3D_NCPGlockerFBNewton, DEFAULT},
    {"glocker-fixed-point", SICONOS_FRICTION_3D_NCPGlockerFBFixedPoint, DEFAULT},
};

static const struct {
    const char *name;
    option option;
} STOPS[] = {{"light", LIGHT}, {"full", FULL}};

static const peer_solver OTHER_SOLVERS[] = {
    {"nsgs over-relaxed", "tuned", 3, NSGS, LOCAL_NEWTON, BLOCKS, {LIGHT, RELAXED, OMEGA_OVER}},
    {"nsgs under-relaxed", "tuned", 3, NSGS, LOCAL_NEWTON, BLOCKS, {LIGHT, RELAXED, OMEGA_UNDER}},
    {"nsgs freezing", "tuned", 3, NSGS, LOCAL_NEWTON, BLOCKS, {LIGHT, FREEZING}},
    {"nsgs shuffled", "tuned", 3, NSGS, LOCAL_NEWTON, BLOCKS, {LIGHT, SHUFFLED}},
    {"proximal plain", "other", 3, PROXIMAL, 0, BLOCKS, {INNER_PLAIN}},
    {"newton gradient-start", "newton", 3, ALART, 0, BLOCKS, {PLAIN, GRADIENT_START}},
    {"admm", "other", 3, ADMM, 0, BLOCKS, {DEFAULT}},
    {"vi-extragradient", "other", 3, SICONOS_FRICTION_3D_VI_EG, 0, BLOCKS, {DEFAULT}},
    {"newton", "newton", 3, ALART, 0, BLOCKS, {DEFAULT}},
    {"newton plain", "newton", 3, ALART, 0, BLOCKS, {PLAIN}},
    {"newton plain csparse", "newton", 3, ALART, 0, BLOCKS, {PLAIN, CSPARSE}},
    {"newton plain dense", "newton", 3, ALART, 0, DENSE, {PLAIN}},
    {"newton moreau", "newton", 3, ALART, 0, BLOCKS, {MOREAU}},
    {"newton moreau plain", "newton", 3, ALART, 0, BLOCKS, {MOREAU, PLAIN}},
    {"newton gradient-start csparse", "newton", 3, ALART, 0, BLOCKS, {PLAIN, GRADIENT_START, CSPARSE}},
    {"newton gradient-start dense", "newton", 3, ALART, 0, DENSE, {PLAIN, GRADIENT_START}},
    {"newton fischer-burmeister", "newton", 3, FISCHER, 0, BLOCKS, {DEFAULT}},
    {"newton fischer-burmeister plain", "newton", 3, FISCHER, 0, BLOCKS, {PLAIN}},
    {"newton natural-map", "newton", 3, NATURAL, 0, BLOCKS, {DEFAULT}},
    {"newton natural-map plain", "newton", 3, NATURAL, 0, BLOCKS, {PLAIN}},
    {"proximal", "other", 3, PROXIMAL, 0, BLOCKS, {DEFAULT}},
    {"proximal csparse", "other", 3, PROXIMAL, 0, BLOCKS, {INNER_CSPARSE}},
    {"proximal plain csparse", "other", 3, PROXIMAL, 0, BLOCKS, {INNER_PLAIN, INNER_CSPARSE}},
    {"proximal plain dense", "other", 3, PROXIMAL, 0, DENSE, {INNER_PLAIN}},
    {"proximal fischer-burmeister", "other", 3, PROXIMAL, FISCHER, BLOCKS, {DEFAULT}},
    {"proximal nsgs", "other", 3, PROXIMAL, NSGS, BLOCKS, {DEFAULT}},
    {"proximal regularized", "other", 3, PROXIMAL, 0, BLOCKS, {REGULARIZED, SMALL_ALPHA}},
    {"admm dense", "other", 3, ADMM, 0, DENSE, {DEFAULT}},
    {"admm balanced", "other", 3, ADMM, 0, BLOCKS, {BALANCED}},
    {"admm balanced rescaled", "other", 3, ADMM, 0, BLOCKS, {BALANCED, RESCALED}},
    {"admm norm", "other", 3, ADMM, 0, BLOCKS, {NORM_RHO}},
    {"admm norm balanced", "other", 3, ADMM, 0, BLOCKS, {NORM_RHO, BALANCED}},
    {"vi-fixed-point", "other", 3, SICONOS_FRICTION_3D_VI_FPP, 0, BLOCKS, {DEFAULT}},
    {"extragradient", "other", 3, SICONOS_FRICTION_3D_EG, 0, BLOCKS, {DEFAULT}},
    {"fixed-point", "other", 3, SICONOS_FRICTION_3D_FPP, 0, BLOCKS, {DEFAULT}},
    {"hyperplane", "other", 3, SICONOS_FRICTION_3D_HP, 0, BLOCKS, {DEFAULT}},
    {"de-saxce", "other", 3, SICONOS_FRICTION_3D_DSFP, 0, BLOCKS, {DEFAULT}},
    {"tresca", "other", 3, SICONOS_FRICTION_3D_TFP, 0, BLOCKS, {DEFAULT}},
    {"panagiotopoulos", "other", 3, SICONOS_FRICTION_3D_PFP, 0, BLOCKS, {DEFAULT}},
    {"aclm", "other", 3, SICONOS_FRICTION_3D_ACLMFP, 0, BLOCKS, {DEFAULT}},
    {"nsgs velocity", "other", 3, SICONOS_FRICTION_3D_NSGSV, 0, BLOCKS, {DEFAULT}},
    {"nsgs light", "nsgs", 2, SICONOS_FRICTION_2D_NSGS, 0, BLOCKS, {LIGHT}},
    {"nsgs light-full", "nsgs", 2, SICONOS_FRICTION_2D_NSGS, 0, BLOCKS, {DEFAULT}},
    {"nsgs dense", "nsgs", 2, SICONOS_FRICTION_2D_NSGS, 0, DENSE, {DEFAULT}},
    {"conjugate gradient", "other", 2, SICONOS_FRICTION_2D_CPG, 0, DENSE, {DEFAULT}},
    {"lemke", "other", 2, SICONOS_FRICTION_2D_LEMKE, 0, DENSE, {DEFAULT}},
};

enum {
    LOCAL_COUNT = sizeof LOCAL_SOLVERS / sizeof *LOCAL_SOLVERS,
    STOP_COUNT = sizeof STOPS / sizeof *STOPS
};
enum { OTHER_COUNT = sizeof OTHER_SOLVERS / sizeof *OTHER_SOLVERS };
enum { MAX_SOLVERS = LOCAL_COUNT * STOP_COUNT + OTHER_COUNT };

/* The Gauss–Seidel solvers of a dimension; before them, if all are wanted, the rest. */
static int list_solvers(int dimension, bool all, peer_solver *list) {
    int count = 0;
    for (int i = 0; i < OTHER_COUNT; i++)
        if (OTHER_SOLVERS[i].dimension == dimension && (all || strcmp(OTHER_SOLVERS[i].group, "nsgs") == 0))
            list[count++] = OTHER_SOLVERS[i];
    for (int k = 0; k < STOP_COUNT && dimension == 3; k++)
        for (int i = 0; i < LOCAL_COUNT; i++) {
            peer_solver *solver = &list[count++];
            *solver = (peer_solver){.group = "nsgs",
                                    .dimension = 3,
                                    .id = NSGS,
                                    .inner = LOCAL_SOLVERS[i].id,
                                    .storage = BLOCKS,
                                    .options = {STOPS[k].option, LOCAL_SOLVERS[i].option}};
            snprintf(solver->name, sizeof solver->name, "nsgs %s %s", LOCAL_SOLVERS[i].name, STOPS[k].name);
        }
    return count;
}

static SolverOptions *options_of(const peer_solver *solver, double tolerance) {
    SolverOptions *options = solver_options_create(solver->id);
    if (solver->inner) solver_options_update_internal(options, 0, solver->inner);
    /* time ends a solve, not a count; Newton either converges soon or cycles */
    options->iparam[SICONOS_IPARAM_MAX_ITER] = strcmp(solver->group, "newton") == 0 ? 1000 : 100000000;
    for (int k = 0; k < 3; k++) {
        const int index = OPTIONS[solver->options[k]].index;
        const double value = OPTIONS[solver->options[k]].value;
        switch (OPTIONS[solver->options[k]].what) {
        case INTEGER:
            options->iparam[index] = (int)value;
            break;
        case REAL:
            options->dparam[index] = value;
            break;
        case INNER_INTEGER:
            options->internalSolvers[0]->iparam[index] = (int)value;
            break;
        case NOTHING:
            break;
        }
    }
    options->dparam[SICONOS_DPARAM_TOL] = tolerance;
    return options;
}

static double peer_solve(const void *context, double tolerance, double *r, int *iterations) {
    const peer_context *peer = context;
    FrictionContactProblem *problem = problem_of(peer->problem, peer->solver->storage);
    SolverOptions *options = options_of(peer->solver, tolerance);
    double *u = make((size_t)peer->problem->rows, sizeof(double));
    const double start = dls_clock_cpu();
    if (peer->problem->dimension == 3)
        fc3d_driver(problem, r, u, options);
    else
        fc2d_driver(problem, r, u, options);
    const double seconds = dls_clock_cpu() - start;
    *iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
    for (int i = 0; i < peer->problem->rows; i++) r[i] *= peer->problem->impulse_unit;
    solver_options_delete(options);
    free(options);
    frictionContactProblem_free(problem);
    free(u);
    return seconds;
}

/* ---- our solvers ----------------------------------------------------------------------------------------
 */

typedef struct our_context {
    const dls_problem *problem;
    const dls_solver *solver;
    _Alignas(max_align_t) char options[DLS_MAX_OPTIONS_SIZE];
    char text[256]; /* what options name */
} our_context;

static double our_solve(const void *context, double tolerance, double *r, int *iterations) {
    our_context ours = *(const our_context *)context;
    dls_solve_info info = {0};
    dls_error error;
    ((dls_stop_options *)ours.options)->tolerance = tolerance;
    /* no workspace: every solve allocates what it needs, as on the other side */
    if (dls_solve(ours.problem, ours.solver, ours.options, r, NULL, NULL, &info, &error) != DLS_OK)
        return HUGE_VAL;
    *iterations = info.iterations;
    return info.cpu_seconds;
}

/* solver[:law][:key=value]... */
static bool parse_spec(const char *spec, const dls_problem *problem, double time_limit, our_context *ours) {
    snprintf(ours->text, sizeof ours->text, "%s", spec);
    char *rest = NULL, *name = strtok_r(ours->text, ":", &rest);
    ours->problem = problem;
    ours->solver = name ? dls_solver_find(name) : NULL;
    if (!ours->solver) {
        fprintf(stderr, "bench_siconos: no solver '%s'\n", spec);
        return false;
    }
    ours->solver->defaults(ours->options);
    dls_stop_options *stop = (dls_stop_options *)ours->options;
    stop->threads = 1;
    stop->time_limit = time_limit;
    for (char *part; (part = strtok_r(NULL, ":", &rest));) {
        char *value = strchr(part, '=');
        if (value) *value++ = '\0';
        dls_error error;
        if (dls_field_set(ours->solver->fields, ours->solver->field_count, ours->options,
                          value ? part : "law", value ? value : part, &error) != DLS_OK) {
            fprintf(stderr, "bench_siconos: %s: %s\n", spec, error.message);
            return false;
        }
    }
    return true;
}

/* ---- the contest ----------------------------------------------------------------------------------------
 */

static const double MEMORY = 4e9; /* bytes that one solver may take */

typedef struct arguments {
    const char *file;
    bool ours, siconos, all;
    double targets[CONTEST_MAX_TARGETS];
    int target_count;
    const char *specs[16];
    int spec_count;
    double time_limit;
} arguments;

static void print_scores(const char *side, const char *group, const char *name, const double *targets,
                         const contest_score *scores, int count) {
    for (int k = 0; k < count; k++) {
        printf("{\"side\": \"%s\", \"group\": \"%s\", \"solver\": \"%s\", \"target\": %g, ", side, group,
               name, targets[k]);
        if (isfinite(scores[k].seconds))
            printf("\"seconds\": %.4g, \"residual\": %.4g, \"tolerance\": %.4g, \"iterations\": %d}\n",
                   scores[k].seconds, scores[k].residual, scores[k].tolerance, scores[k].iterations);
        else
            printf("\"seconds\": null}\n");
    }
    fflush(stdout);
}

/* A solve that takes twice the best score so far can win nothing. The best Gauss–Seidel solver is looked for
 * down to 1e-6; beyond, where it takes minutes, only what could be the best of all solvers is waited for. */
static void set_patience(const arguments *args, bool gauss_seidel, double best[2][CONTEST_MAX_TARGETS],
                         double *solve_seconds) {
    for (int k = 0; k < args->target_count; k++) {
        const double to_beat = best[gauss_seidel && args->targets[k] > 5e-7 ? 0 : 1][k];
        solve_seconds[k] = fmin(args->time_limit, 2 * to_beat + 0.05);
    }
}

static void run_siconos(const dls_problem *problem, const arguments *args) {
    const peer_problem peer = peer_from(problem);
    peer_solver solvers[MAX_SOLVERS];
    const int count = list_solvers(peer.dimension, args->all, solvers);
    double best[2][CONTEST_MAX_TARGETS],
        solve_seconds[CONTEST_MAX_TARGETS]; /* best of Gauss–Seidel, of all */
    for (int k = 0; k < args->target_count; k++) best[0][k] = best[1][k] = HUGE_VAL;
    for (int i = 0; i < count; i++) {
        const bool gauss_seidel = strcmp(solvers[i].group, "nsgs") == 0;
        const peer_context context = {&peer, &solvers[i]};
        const contestant entry = {&context, peer_solve, false};
        contest_score scores[CONTEST_MAX_TARGETS];
        set_patience(args, gauss_seidel, best, solve_seconds);
        contest_run(problem, &entry, args->targets, args->target_count,
                    (contest_limits){solve_seconds, MEMORY}, scores);
        for (int k = 0; k < args->target_count; k++) {
            if (gauss_seidel) best[0][k] = fmin(best[0][k], scores[k].seconds);
            best[1][k] = fmin(best[1][k], scores[k].seconds);
        }
        print_scores("siconos", solvers[i].group, solvers[i].name, args->targets, scores, args->target_count);
    }
}

static bool run_ours(const dls_problem *problem, const arguments *args) {
    for (int i = 0; i < args->spec_count; i++) {
        our_context context;
        if (!parse_spec(args->specs[i], problem, args->time_limit, &context)) return false;
        const contestant entry = {&context, our_solve, true};
        double solve_seconds[CONTEST_MAX_TARGETS];
        for (int k = 0; k < args->target_count; k++) solve_seconds[k] = args->time_limit;
        contest_score scores[CONTEST_MAX_TARGETS];
        contest_run(problem, &entry, args->targets, args->target_count,
                    (contest_limits){solve_seconds, MEMORY}, scores);
        print_scores("ours", "", args->specs[i], args->targets, scores, args->target_count);
    }
    return true;
}

/* Siconos's friction problems have contacts of one size only. */
static bool is_uniform(const dls_problem *problem) {
    const int n = dls_problem_block_count(problem);
    for (int i = 0; i < n; i++)
        if (dls_problem_block_kind(problem, i) != DLS_CONTACT ||
            dls_problem_block_size(problem, i) != dls_problem_block_size(problem, 0))
            return false;
    return n > 0 && dls_problem_block_size(problem, 0) <= 3;
}

static bool parse_arguments(int argc, char **argv, arguments *args) {
    *args = (arguments){.ours = true, .siconos = true, .time_limit = 10};
    for (int i = 1; i < argc; i++) {
        const char *key = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strncmp(key, "--", 2) != 0) {
            args->file = key;
            continue;
        }
        i++;
        if (strcmp(key, "--side") == 0) {
            args->ours = strcmp(value, "siconos") != 0;
            args->siconos = strcmp(value, "ours") != 0;
        } else if (strcmp(key, "--set") == 0) {
            args->all = strcmp(value, "all") == 0;
        } else if (strcmp(key, "--ours") == 0 && args->spec_count < 16) {
            args->specs[args->spec_count++] = value;
        } else if (strcmp(key, "--target") == 0 && args->target_count < CONTEST_MAX_TARGETS) {
            args->targets[args->target_count++] = strtod(value, NULL);
        } else if (strcmp(key, "--time-limit") == 0) {
            args->time_limit = strtod(value, NULL);
        } else {
            return false;
        }
    }
    return args->file && args->target_count && args->time_limit > 0;
}

int main(int argc, char **argv) {
    arguments args;
    if (!parse_arguments(argc, argv, &args)) {
        fprintf(stderr, "usage: bench_siconos FILE --target T [--side ours|siconos|both] [--set nsgs|all] "
                        "[--ours SPEC]... [--time-limit S]\n");
        return 2;
    }
    openblas_set_num_threads(1);
    dls_fclib *file = NULL;
    dls_error error;
    if (dls_fclib_read(args.file, &file, &error) != DLS_OK) {
        fprintf(stderr, "bench_siconos: %s\n", error.message);
        return 2;
    }
    const dls_problem *problem = dls_fclib_problem(file);
    const bool uniform = is_uniform(problem);
    printf("{\"file\": \"%s\", \"contacts\": %d, \"rows\": %d, \"dimension\": %d}\n", args.file,
           dls_problem_contact_count(problem), dls_problem_row_count(problem),
           uniform ? dls_problem_block_size(problem, 0) : 0);
    bool ok = true;
    if (args.siconos && uniform) run_siconos(problem, &args);
    if (args.ours) ok = run_ours(problem, &args);
    dls_fclib_destroy(file);
    return ok ? 0 : 2;
}

/* Solvers of the contact problem. All take the same call, are judged by the same residual, and are rows of
 * one table, so that a solver of your own stands beside them. */
#ifndef DELASSUS_SOLVE_H
#define DELASSUS_SOLVE_H

#include <delassus/law.h>
#include <delassus/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Non-convergence is an outcome, not an error. */
typedef enum dls_outcome {
    DLS_CONVERGED = 0,
    DLS_ITERATION_LIMIT,
    DLS_TIME_LIMIT,
    DLS_STALLED,  /* no further progress at this accuracy; the best iterate is returned */
    DLS_DIVERGED, /* NaN or overflow; the best iterate is returned */
    DLS_CANCELLED /* the callback said so */
} dls_outcome;

DLS_API const char *dls_outcome_name(dls_outcome outcome);

/* What a solver compares with the tolerance. By residual a problem with a reference velocity is solved when
 * no contact is let go either: held ≤ DLS_HELD_LIMIT. */
typedef enum dls_stop_measure {
    DLS_STOP_RESIDUAL = 0,
    DLS_STOP_MAX_ERROR,
    DLS_STOP_RESIDUAL_ACTIVE,
    DLS_STOP_RESIDUAL_FULL,
    DLS_STOP_NATURAL_MAP,
    DLS_STOP_FCLIB_MERIT,
    DLS_STOP_SICONOS_ERROR,
    DLS_STOP_EPS_GLOB,
    DLS_STOP_MERIT_G,
    DLS_STOP_APGD_RESIDUAL,
    DLS_STOP_COMPLEMENTARITY,
    DLS_STOP_PENETRATION,
    DLS_STOP_CONE_VIOLATION,
    DLS_STOP_INCREMENT /* max|Δr_n| + max|Δr_t| over one iteration, N s, as in paper 002 */
} dls_stop_measure;

/* What the callback sees after an iteration, on the thread that called the solver. The struct and r are valid
 * during the call only. */
typedef struct dls_iterate {
    int iteration;
    double residual; /* the stop measure where it was computed in this iteration, else the free estimate */
    bool exact;      /* whether it was */
    double seconds;  /* since the solve began */
    const double *r;
} dls_iterate;

typedef bool (*dls_iterate_callback)(const dls_iterate *iterate, void *user); /* false cancels the solve */

/* What a solution is for: sweeps and auto choose by it how long they try what, whichever way W is kept. */
typedef enum dls_purpose {
    DLS_PURPOSE_AUTO = 0, /* a step in a simulation, else a problem alone */
    DLS_PURPOSE_PROBLEM,  /* one problem, to be solved at any cost that its limits allow */
    DLS_PURPOSE_STEP      /* one of many alike, from a warm start: the next one waits */
} dls_purpose;

/* The first member of every solver's options. */
typedef struct dls_stop_options {
    dls_stop_measure measure;
    double tolerance;
    int max_iterations;
    int min_iterations; /* of sweeps even where the start is good enough: warm starts then go on improving */
    double time_limit;  /* s of wall time; 0 for none */
    int check_interval; /* iterations between true measures; 0: only when the free estimate asks for it */
    int threads;        /* results have the same bits for any number */
    dls_purpose purpose;
    dls_iterate_callback callback; /* NULL: none */
    void *user; /* of the callback: both must live as long as whoever has copied these options */
} dls_stop_options;

/* residual to 1e-8, 100,000 iterations, one thread, no callback: what `defaults` of a solver begins with. */
DLS_API dls_stop_options dls_default_stop_options(void);

enum { DLS_MAX_STAGES = 32 };

/* A solver may run others in turn; each leaves one entry. */
typedef struct dls_stage {
    const char *name;
    int iterations;
    double seconds;
    double residual; /* at its end */
} dls_stage;

typedef struct dls_solve_info {
    const char *solver;
    const char *law; /* "" where there is none */
    dls_outcome outcome;
    int iterations;
    double seconds, cpu_seconds; /* of the solver call alone */
    double stop_value;           /* the stop measure at the returned r */
    dls_measures measures;       /* the certificate of the returned r, with u = W r + b */
    bool relaxed;                /* the convex cone problem was solved; stop_value is its own residual */
    int colours;                 /* of a coloured order, else 0 */
    int serial_blocks;           /* blocks of hub bodies that a coloured order visits one by one */
    int restarts;                /* of the acceleration */
    int fallbacks;               /* times that a solver left the rest to Gauss–Seidel */
    int unsolved;                /* contacts that the law could not solve in the last sweep */
    int64_t products;            /* with W, or sweeps */
    double work;                 /* in sweeps over the problem: each, or what costs as many flops, is 1 */
    int stage_count;
    dls_stage stages[DLS_MAX_STAGES];
    void *user; /* that of the solver's row: set before its solve function is called */
} dls_solve_info;

/* ---- nonlinear Gauss–Seidel --------------------------------------------------------------------------- */

typedef enum dls_order {
    DLS_ORDER_AUTO = 0, /* natural for small problems, coloured for large ones; never depends on threads */
    DLS_ORDER_NATURAL,
    DLS_ORDER_RANDOM, /* one permutation; a new one for every sweep where nothing accelerates */
    DLS_ORDER_COLOURED
} dls_order;

typedef enum dls_acceleration {
    DLS_ACCELERATION_AUTO = 0, /* Anderson for small problems, momentum for large ones */
    DLS_ANDERSON,
    DLS_MOMENTUM,
    DLS_PLAIN
} dls_acceleration;

typedef struct dls_nlgs_options {
    dls_stop_options stop;
    char law[DLS_NAME_SIZE]; /* its name in the law table */
    dls_law_options local;
    dls_order order;
    int seed;          /* of the random order */
    bool alternate;    /* every other sweep runs backward */
    double relaxation; /* r ← r + ω (law(r) − r); 1 is Gauss–Seidel */
    dls_acceleration acceleration;
    int window;       /* of Anderson acceleration */
    int window_reset; /* sweeps after which the window is cleared */
    int stall_sweeps; /* give up when the best residual has not fallen by a tenth in so many sweeps; 0: never
                       */
    bool adapt; /* when sweeps stall, try momentum, then relaxation by 0.7, then alternation before giving up
                 */
} dls_nlgs_options;

DLS_API dls_nlgs_options dls_default_nlgs_options(void);

/* r: in the start (zeros for a cold one), out the solution; u (may be NULL): W r + b.
 * workspace may be NULL; with one, repeated solves do not allocate. */
DLS_API dls_status dls_solve_nlgs(const dls_problem *problem, const dls_nlgs_options *options, double *r,
                                  double *u, dls_workspace *workspace, dls_solve_info *info,
                                  dls_error *error);

/* ---- proximal semismooth Newton -------------------------------------------------------------------------
 */

typedef enum dls_newton_form { DLS_FORM_ALART_CURNIER = 0, DLS_FORM_NATURAL_MAP } dls_newton_form;

typedef struct dls_newton_options {
    dls_stop_options stop; /* an iteration is one factorisation */
    dls_newton_form form;
    double alpha;           /* first proximal parameter, against the scaled W */
    double over_relaxation; /* of the proximal point iteration */
} dls_newton_options;

DLS_API dls_newton_options dls_default_newton_options(void);

/* ---- interior point on the coupled problem ---------------------------------------------------------------
 */

typedef struct dls_ipm_options {
    dls_stop_options stop; /* an iteration is one factorisation */
    double polish; /* below this residual, or where the path is lost, proximal Newton takes over; 0: never */
} dls_ipm_options;

DLS_API dls_ipm_options dls_default_ipm_options(void);

/* ---- accelerated projected gradient (paper 001)
 * ------------------------------------------------------------ */

typedef struct dls_apgd_options {
    dls_stop_options stop; /* an iteration is a step of the gradient */
    bool relaxed;          /* solve the convex cone problem instead: stops on its own residual, and says so */
    double q;              /* of (30): 0 accelerates, 1 is plain projected gradient */
    bool scaled;           /* in natural units of each contact; the paper has none */
    double
        restart_growth; /* anti-relaxed: restart where the residual grows so much; 0: never, as the paper */
} dls_apgd_options;

DLS_API dls_apgd_options dls_default_apgd_options(void);

/* ---- projected quasi-Newton (paper 000)
 * --------------------------------------------------------------------- */

typedef enum dls_pqn_shift {
    DLS_SHIFT_ABSOLUTE = 0,
    DLS_SHIFT_MIN,
    DLS_SHIFT_AVERAGE,
    DLS_SHIFT_MAX
} dls_pqn_shift;
typedef enum dls_pqn_globalization { DLS_PQN_LINE_SEARCH = 0, DLS_PQN_PAPER } dls_pqn_globalization;

typedef struct dls_pqn_options {
    dls_stop_options stop; /* an iteration is a Newton step, or a sweep of the fallback */
    dls_pqn_globalization
        globalization;      /* line search on the merit with adapted δ, or projection and δ alone */
    double rho;             /* kg; 0: 1/mean W_ii, which makes the method free of units */
    double omega;           /* smoothing relative to ‖b‖/√contacts */
    double delta;           /* regularisation δ */
    dls_pqn_shift shift;    /* δ as it is, or times ρ and the least, mean or largest W_ii */
    int gmres_iterations;   /* m: most products of one linear solve */
    double gmres_tolerance; /* ε of one linear solve, relative */
    int gmres_restart;
    int newton_iterations; /* most Newton steps before Gauss–Seidel takes over */
    int max_products;      /* most products with W before Gauss–Seidel takes over */
    bool fallback;         /* Gauss–Seidel where Newton fails */
} dls_pqn_options;

DLS_API dls_pqn_options dls_default_pqn_options(void);

/* ---- auto: the default ------------------------------------------------------------------------------------
 */

/* Sweeps first; where they are slow, the interior point and Newton; the choice counts flops, not seconds. */
typedef struct dls_auto_options {
    dls_stop_options stop;   /* iterations: sweeps, factorisations and gradient steps together */
    double max_factor_flops; /* no factorisation that costs more */
    double budget;           /* flops that factorisations in a time step of few contacts may always cost */
    double step_work;        /* sweeps, or as many flops, that a time step may cost at most; 0: no bound */
    double step_flops;       /* flops that a time step may cost in any case, however cheap its sweeps are */
} dls_auto_options;

DLS_API dls_auto_options dls_default_auto_options(void);

/* ---- the solver table --------------------------------------------------------------------------------- */

/* A row of the table, and what a user registers. solve is called by the thread that called dls_solve: r holds
 * the start and takes the solution, u may be NULL and need not be filled, info comes with names, user and NaN
 * as stop_value. It returns DLS_OK with an outcome in info, or a status with a message in error, which may be
 * NULL; it has to return. */
typedef struct dls_solver {
    const char *name;
    const char *summary;
    size_t options_size;
    void (*defaults)(void *options); /* the struct begins with a dls_stop_options */
    const dls_field *fields;
    int field_count;
    dls_status (*solve)(const dls_problem *problem, const void *options, double *r, double *u,
                        dls_workspace *workspace, dls_solve_info *info, dls_error *error);
    void *user; /* yours; solve finds it in info */
} dls_solver;

enum { DLS_MAX_OPTIONS_SIZE = 1024 };

/* Solvers that are built in, then those of users. A row of a user is valid until it is taken out; at NULL
 * there is none. These and the two below may be called by any thread at any time. */
DLS_API int dls_solver_count(void);
DLS_API const dls_solver *dls_solver_at(int index);
DLS_API const dls_solver *dls_solver_find(const char *name);
/* The row is copied; its strings, fields and user are not, and must live until it is taken out. There is room
 * for 32 rows. */
DLS_API dls_status dls_solver_register(const dls_solver *solver, dls_error *error);
/* Refused while any thread solves, as long as a simulation or scene has it as its solver, and for solvers
 * that are built in. */
DLS_API dls_status dls_solver_unregister(const char *name, dls_error *error);

/* Runs a row of the table: checks the arguments, times the call, and certifies what comes back, so that no
 * solver judges itself. */
DLS_API dls_status dls_solve(const dls_problem *problem, const dls_solver *solver, const void *options,
                             double *r, double *u, dls_workspace *workspace, dls_solve_info *info,
                             dls_error *error);

/* ---- problems without a solution ---------------------------------------------------------------------- */

enum { DLS_CONTRADICTION_BLOCKS = 8 };

/* Impulses along the normals of contacts, and any in bilateral rows, that move nothing and yet press on what
 * closes: whatever r is, one of these blocks closes, or is off, by at least `closing`. */
typedef struct dls_contradiction {
    bool found;
    double closing;  /* m/s */
    double impulse;  /* N s: proven for all r with Σ|r| below it; in exact arithmetic there is no bound */
    int block_count; /* that take part */
    int blocks[DLS_CONTRADICTION_BLOCKS]; /* the first of them */
} dls_contradiction;

/* Looks for the proof where a solver did not converge; it costs some thousand sweeps at most. What is not
 * found is not proven to be solvable: friction can leave a problem without a solution as well. */
DLS_API dls_status dls_find_contradiction(const dls_problem *problem, dls_workspace *workspace,
                                          dls_contradiction *found, dls_error *error);

/* Why a solution misses its tolerance. */
typedef enum dls_reason {
    DLS_REASON_NONE = 0,      /* it does not, or no one knows: older files do not say */
    DLS_REASON_CONTRADICTION, /* contacts or joints contradict each other: there is no solution */
    DLS_REASON_DRIFT,    /* impulses walk on through contacts that slide, by the same way in every sweep */
    DLS_REASON_WORK,     /* the bound on work, or on iterations, came first */
    DLS_REASON_STALLED,  /* the solver made no further progress */
    DLS_REASON_DIVERGED, /* numbers went beyond all bounds */
    DLS_REASON_STOPPED   /* by time, by the caller, or by another measure than the residual */
} dls_reason;
enum { DLS_REASONS = 7 };

DLS_API const char *dls_reason_name(dls_reason reason); /* "none", "contradiction", "drift", … */

#ifdef __cplusplus
}
#endif
#endif

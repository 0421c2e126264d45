/* Inside the contact problem: what solvers may read, and the operator behind W. */
#ifndef PROBLEM_PROBLEM_H
#define PROBLEM_PROBLEM_H

#include "base/parallel.h"
#include <delassus/law.h>
#include <delassus/problem.h>

#include <assert.h>

typedef struct dls_operator dls_operator;

/* Consecutive blocks that are alike, and are visited by one kernel. */
typedef struct dls_run {
    int first, end; /* blocks */
    int row;        /* of the first */
    uint8_t size, kind;
    uint8_t storage; /* how the operator keeps them; its own affair */
    uint8_t parts;   /* DLS_PARTS of contacts, 0 of intervals */
} dls_run;

enum { DLS_MAX_COLOURS = 64, DLS_NO_COLOUR = 255, DLS_HUB = 64, DLS_MOST_TOUCHED = 4 };
enum { DLS_LEAST_SHARED = 4096 }; /* blocks: fewer are solved sooner than ranks can talk */

/* Numbers of an operator's state. */
typedef struct dls_span {
    int64_t first;
    int count;
} dls_span;

struct dls_problem {
    int block_count, contact_count, row_count, body_count;
    int uniform; /* d where all blocks are contacts of size d with one tangential part, else 0 */
    int *row;    /* first row of each block, block_count + 1 entries */
    uint8_t *kind;
    uint8_t *parts; /* DLS_PARTS of each contact; NULL where all have one tangential part */
    double *mu, *b;
    double *mu_rolling, *mu_spinning; /* NULL where parts is */
    double *low, *high;               /* bounds of each row; NULL where none has any */
    double *unit;                     /* what each row of the user was multiplied by; NULL: 1, see units.c */
    double *given_b;                  /* b of the user where there are units */
    double reference_velocity;
    int64_t *diagonal_start;  /* NULL where uniform */
    double *diagonal;         /* W_cc, column-major; NULL where all bodies are balls */
    double *scale;            /* tr(W_cc)/d of each block: 1/ρ_c of the judge, 1/kg */
    double mean_scale;        /* W̄: its mean over contacts, or over intervals where there are none */
    double *inverse_mass;     /* w̄ of each interval block, 1/kg; NULL where there is none */
    bool masses_told;         /* w̄ came with the definition; else it follows from coupled contacts */
    double *speed;            /* of the bodies of each block; NULL: 0 */
    dls_workspace *workspace; /* where its arrays are, and it itself; NULL: in blocks of their own */
    int run_count;
    dls_run *runs;                            /* all blocks, in order */
    const struct dls_elimination *eliminated; /* of a problem that joints were taken out of; else NULL */
    const dls_ranks *ranks; /* all of which have this problem and solve it together; NULL: no others */
    const dls_operator *op;
    void *data; /* how the operator keeps W: only it, and who fills it, knows */
};

struct dls_visits;
struct dls_sweep_change;

/* What a solver may ask of W, one row per way to keep it. state holds what a sweep carries along (body
 * velocities), state_size doubles; it follows r through changed(). Where it says "or NULL", a row may leave
 * the function out. */
struct dls_operator {
    const char *name;
    size_t (*state_size)(const dls_problem *p);
    /* u = W r, and state for this r; any number of threads gives the same bits */
    void (*product)(const dls_problem *p, const double *r, double *u, double *state, int threads);
    /* u of the blocks first … end − 1 alone, and of state what they need; or NULL: product */
    void (*product_of)(const dls_problem *p, const double *r, double *u, double *state, int first, int end,
                       int threads);
    /* state for this r */
    void (*start)(const dls_problem *p, const double *r, double *state, int threads);
    /* v = b_c + Σ_{j≠c} W_cj r_j: the velocity of block c without its own impulse */
    void (*local)(const dls_problem *p, int c, const double *r, const double *state, double *v);
    /* r_c has changed by delta */
    void (*changed)(const dls_problem *p, int c, const double *delta, double *state);
    /* W_cc made in room, where the problem has no diagonal blocks in store; or NULL */
    void (*diagonal)(const dls_problem *p, int c, double *room);

    /* Visits the blocks at the places first … end of the order, by kernels of its own for each run; or NULL:
     * by local() and changed() */
    struct dls_sweep_change (*sweep)(struct dls_visits *visits, int first, int end, double *r, bool backward);
    /* whether its kernel has this law in closed form for a run, and needs nothing prepared; or NULL: never */
    bool (*knows_law)(const dls_problem *p, const dls_run *run, const dls_law *law);
    /* colour[c] of each block. Blocks c, c+1, … of one chunk (c / chunk) share one, so that a visit in order
     * finds its neighbours in cache; coupled blocks of two chunks never do. DLS_NO_COLOUR for blocks of hubs,
     * bodies that touch more than DLS_HUB others, and where all colours are taken. scratch: body_count words.
     * Or NULL: blocks are visited one after the other */
    void (*colour)(const dls_problem *p, int chunk, uint8_t *colour, uint64_t *scratch);

    /* Sweeps in single precision; or NULL */
    const struct dls_lane_kernel *lanes;

    /* The parts of the state that visits to c read and write, bodies as it were; returns how many, and where
     * the numbers of one are. Or both NULL: ranks do not share sweeps */
    int (*touched)(const dls_problem *p, int c, int body[DLS_MOST_TOUCHED]);
    dls_span (*span)(const dls_problem *p, int body);

    /* How many blocks are coupled with c, itself aside; column, or NULL, lists them, ascending */
    int64_t (*coupled)(const dls_problem *p, int c, int *column);
    /* W_cj of the k-th of them, column-major */
    void (*block)(const dls_problem *p, int c, int64_t k, int j, double *W);

    /* W ← S W S; or NULL: rows stay in the units that they came in */
    void (*rescale)(dls_problem *p, const double *S);

    double (*sweep_cost)(const dls_problem *p); /* flops of W in one sweep, laws aside */
    /* entries of W as it is factored (dls_problem_keep), or a bound from below where counting would cost as
     * much as assembling */
    int64_t (*least_entries)(const dls_problem *p);
    void (*release)(dls_problem *p);
    size_t (*memory)(const dls_problem *p); /* bytes of data */
};

/* Whether ranks share the work on this problem. */
static inline bool dls_is_shared(const dls_problem *p) {
    return dls_are_several(p->ranks) && p->block_count >= DLS_LEAST_SHARED;
}

static inline int dls_size(const dls_problem *p, int c) {
    assert(c >= 0 && c < p->block_count);
    return p->uniform ? p->uniform : p->row[c + 1] - p->row[c];
}

static inline uint8_t dls_parts_of(const dls_problem *p, int c) {
    if (p->kind[c] != DLS_CONTACT) return 0;
    return p->parts ? p->parts[c] : DLS_PARTS(dls_size(p, c) - 1, 0, 0);
}

/* Whether a contact's friction is one tangential part: what Coulomb's law is. */
static inline bool dls_is_plain(uint8_t parts) { return parts > 0 && parts < DLS_PARTS(0, 1, 0); }

/* The cone of a contact, without the parts that it does not have. */
static inline dls_cone dls_cone_of(const dls_problem *p, int c) {
    uint8_t parts = dls_parts_of(p, c);
    dls_cone cone = {.d = dls_size(p, c)};
    const double mu[3] = {p->mu[c], p->parts ? p->mu_rolling[c] : 0, p->parts ? p->mu_spinning[c] : 0};
    for (int k = 0; k < 3; k++) {
        int size = parts >> 2 * k & 3;
        if (!size) continue;
        cone.size[cone.count] = size;
        cone.mu[cone.count++] = mu[k];
    }
    return cone;
}

/* z ← nearest impulse that block c allows. */
void dls_block_project(const dls_problem *p, int c, double *z);

/* W_cc as it is stored. */
static inline const double *dls_diagonal(const dls_problem *p, int c) {
    assert(p->diagonal && c >= 0 && c < p->block_count);
    return p->diagonal + (p->uniform ? (int64_t)c * p->uniform * p->uniform : p->diagonal_start[c]);
}

/* W_cc of any problem, as it is stored or made in room. */
static inline const double *dls_diagonal_in(const dls_problem *p, int c, double *room) {
    if (p->diagonal) return dls_diagonal(p, c);
    p->op->diagonal(p, c, room);
    return room;
}

/* Checks def and makes a problem without an operator. With a workspace everything lies there: destroying the
 * problem does nothing, and a problem made anew in each step does not allocate. */
dls_status dls_problem_begin(const dls_problem_def *def, dls_workspace *workspace, dls_problem **problem,
                             dls_error *error);
/* Room for one of its arrays, cleared; NULL when memory is out. */
void *dls_problem_take(dls_problem *p, int64_t count, size_t size);
/* Checks the diagonal blocks and computes what follows from them. */
dls_status dls_problem_finish(dls_problem *p, dls_error *error);
/* The same of blocks of a problem that was finished once, in other units or places: they are as definite. */
dls_status dls_problem_settle(dls_problem *p, dls_error *error);
/* Multiplies rows so that all are m/s and N s; what users see stays theirs. After finish, once. */
dls_status dls_problem_take_units(dls_problem *p, dls_error *error);
/* S of the angular rows of a contact by its W_cc, and μ of its parts in these units. */
void dls_find_contact_units(dls_problem *p, int c, double *S);
/* S of the rows of an interval block by its W_cc. */
void dls_find_row_units(const dls_problem *p, int c, double *S);
/* r of a user to that of the rows inside, and r, u of these back; either may be NULL. */
void dls_enter_units(const dls_problem *p, double *r);
void dls_leave_units(const dls_problem *p, double *r, double *u);
/* W_cc where it is kept, to be changed. */
static inline double *dls_diagonal_place(const dls_problem *p, int c) {
    int64_t d = dls_size(p, c);
    return p->diagonal + (p->uniform ? c * d * d : p->diagonal_start[c]);
}

/* The same problem with W stored, in the workspace, or where that is NULL in blocks of its own. */
dls_status dls_problem_assemble_in(const dls_problem *p, dls_workspace *workspace, dls_problem **stored,
                                   dls_error *error);

/* u = W r + b with scratch for the operator's state. */
void dls_velocity(const dls_problem *p, const double *r, double *u, double *state, int threads);

/* The same for the blocks that this rank judges, which are all where there is no other. */
void dls_velocity_to_judge(const dls_problem *p, const double *r, double *u, double *state, int threads);

/* What the judge says, see dls_measures. */
typedef struct dls_verdict {
    double residual, max_error, held;
    double scale; /* ‖s‖ over all blocks, m/s */
    double residual_active, residual_full;
} dls_verdict;

/* Where ranks share the problem all of them call it, and each needs r and u of the blocks that it judges. */
dls_verdict dls_judge(const dls_problem *p, const double *r, const double *u, int threads);
/* N of block c as the judge weighs it; returns |N_c|, m/s. */
double dls_block_error(const dls_problem *p, int c, const double *r, const double *u);
/* How many contacts have an impulse that the natural map calls open; clean, or NULL, gets r without those. */
int dls_drop_open(const dls_problem *p, const double *r, const double *u, double *clean);
/* All measures; Wr_b = W r + b. */
void dls_measure_all(const dls_problem *p, const double *r, const double *u, const double *Wr_b, int threads,
                     dls_measures *measures);

#endif

/* Inside the contact problem: what solvers may read, and the operator behind W. */
#ifndef PROBLEM_PROBLEM_H
#define PROBLEM_PROBLEM_H

#include <delassus/problem.h>

/* Off-diagonal blocks of W by rows; diagonal blocks live in the problem. */
typedef struct dls_block_rows {
    int64_t *start;       /* block_count + 1 */
    int *column;          /* ascending in each row */
    int64_t *value_start; /* of each block in value; NULL where all blocks have one size */
    double *value;        /* column-major, padded for SIMD */
} dls_block_rows;

/* A contact of balls, two cache lines; see round_rows.h. */
typedef struct dls_round_row {
    double n[3], a_a; /* a = 1/√m of each body, 0 where it cannot move */
    double t1[3], a_b;
    double t2[3], beta_a;                    /* β = (arm · n)/√J */
    double inverse_n, inverse_t, mu, beta_b; /* 1/w_n, 1/w_t */
} dls_round_row;

/* W = G Gᵀ with G = H L and M⁻¹ = L Lᵀ: body velocities are scaled so that no mass appears in a sweep. */
typedef struct dls_body_rows {
    int dof;
    int *body;            /* two per block, −1 for none */
    int64_t *row_start;   /* of each block in G; NULL where all blocks have one size */
    double *G;            /* per block: rows × dof of its first body, row after row, then of its second */
    int64_t *start;       /* body_count + 1 into entry */
    int *entry;           /* 2 · block + side of each block that touches the body, ascending */
    dls_round_row *round; /* instead of G where all bodies are balls */
} dls_body_rows;

typedef struct dls_operator dls_operator;

enum { DLS_MAX_COLOURS = 64, DLS_NO_COLOUR = 255, DLS_HUB = 64 };

struct dls_problem {
    int block_count, contact_count, row_count, body_count;
    int uniform; /* d where all blocks are contacts of size d, else 0 */
    int *row;    /* first row of each block, block_count + 1 entries */
    uint8_t *kind;
    double *mu, *b;
    double reference_velocity;
    int64_t *diagonal_start;  /* NULL where uniform */
    double *diagonal;         /* W_cc, column-major; NULL where all bodies are balls */
    double *scale;            /* tr(W_cc)/d of each block: 1/ρ_c of the judge, 1/kg */
    double mean_scale;        /* W̄: its mean over contacts, or over bilateral blocks where there are none */
    double *inverse_mass;     /* w̄ of each bilateral block, 1/kg; NULL where there is none */
    double *speed;            /* of the bodies of each block; NULL: 0 */
    dls_workspace *workspace; /* where its arrays are, and it itself; NULL: in blocks of their own */
    const dls_operator *op;
    dls_block_rows blocks; /* used by the stored operator */
    dls_body_rows bodies;  /* used by the matrix-free operator */
};

/* What a solver may ask of W. state holds what a sweep carries along (body velocities), state_size doubles;
 * it follows r through changed(). */
struct dls_operator {
    const char *name;
    size_t (*state_size)(const dls_problem *p);
    /* u = W r, and state for this r; any number of threads gives the same bits */
    void (*product)(const dls_problem *p, const double *r, double *u, double *state, int threads);
    /* state for this r */
    void (*start)(const dls_problem *p, const double *r, double *state, int threads);
    /* v = b_c + Σ_{j≠c} W_cj r_j: the velocity of block c without its own impulse */
    void (*local)(const dls_problem *p, int c, const double *r, const double *state, double *v);
    /* r_c has changed by delta */
    void (*changed)(const dls_problem *p, int c, const double *delta, double *state);
    /* colour[c] of each block. Blocks c, c+1, … of one chunk (c / chunk) share one, so that a visit in order
     * finds its neighbours in cache; coupled blocks of two chunks never do. DLS_NO_COLOUR for blocks of hubs,
     * bodies that touch more than DLS_HUB others, and where all colours are taken. scratch: body_count words
     */
    void (*colour)(const dls_problem *p, int chunk, uint8_t *colour, uint64_t *scratch);
    /* mean of tr(W_jj)/d over the contacts j that are coupled with block c; 0 where there are none */
    double (*coupled_scale)(const dls_problem *p, int c);
    void (*release)(dls_problem *p);
    size_t (*memory)(const dls_problem *p);
};

extern const dls_operator dls_operator_stored, dls_operator_bodies, dls_operator_round;

static inline int dls_size(const dls_problem *p, int c) {
    return p->uniform ? p->uniform : p->row[c + 1] - p->row[c];
}

/* W_cc as it is stored. */
static inline const double *dls_diagonal(const dls_problem *p, int c) {
    return p->diagonal + (p->uniform ? (int64_t)c * p->uniform * p->uniform : p->diagonal_start[c]);
}

enum { DLS_ROUND_DIAGONAL = 9 };

/* W_cc of any problem: stored, or of balls diag(w_n, w_t, w_t) made in room. */
static inline const double *dls_diagonal_in(const dls_problem *p, int c, double *room) {
    if (p->diagonal) return dls_diagonal(p, c);
    const dls_round_row *row = &p->bodies.round[c];
    for (int k = 0; k < DLS_ROUND_DIAGONAL; k++) room[k] = 0;
    room[0] = row->a_a * row->a_a + row->a_b * row->a_b;
    room[4] = room[8] = room[0] + row->beta_a * row->beta_a + row->beta_b * row->beta_b;
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

/* A matrix-free problem of contacts of one size in a workspace. Whoever begins it fills mu, b, bodies.body
 * and bodies.G (already H L), or of balls the frames, a and β of bodies.round, before ending it. */
typedef struct dls_contacts_def {
    int count, d, body_count, dof;
    bool round; /* three rows of balls */
    double reference_velocity;
} dls_contacts_def;

dls_status dls_problem_begin_contacts(dls_workspace *workspace, const dls_contacts_def *def,
                                      dls_problem **problem, dls_error *error);
dls_status dls_problem_end_contacts(dls_problem *p, int threads, dls_error *error);
/* The same with W stored, in the workspace. */
dls_status dls_problem_assemble_in(const dls_problem *p, dls_workspace *workspace, dls_problem **stored,
                                   dls_error *error);

/* u = W r + b with scratch for the operator's state. */
void dls_velocity(const dls_problem *p, const double *r, double *u, double *state, int threads);

/* What the judge says, see dls_measures. */
typedef struct dls_verdict {
    double residual, max_error, held;
    double scale; /* ‖s‖ over all blocks, m/s */
    double residual_active, residual_full;
} dls_verdict;

dls_verdict dls_judge(const dls_problem *p, const double *r, const double *u, int threads);
/* N of block c as the judge weighs it; returns |N_c|, m/s. */
double dls_block_error(const dls_problem *p, int c, const double *r, const double *u);
/* How many contacts have an impulse that the natural map calls open; clean, or NULL, gets r without those. */
int dls_drop_open(const dls_problem *p, const double *r, const double *u, double *clean);
/* All measures; Wr_b = W r + b. */
void dls_measure_all(const dls_problem *p, const double *r, const double *u, const double *Wr_b, int threads,
                     dls_measures *measures);

#endif

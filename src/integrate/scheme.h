/* Time-stepping schemes are rows of a table. What all of them share stands in step.c: bodies come and go,
 * drives, energies, records, and putting all back where a step fails. */
#ifndef INTEGRATE_SCHEME_H
#define INTEGRATE_SCHEME_H

#include "integrate/simulation.h"

/* The numbers of a scheme, as shares of the step h from its beginning, where bodies are at q with v. */
typedef struct dls_step_plan {
    double contacts_at; /* contacts are found, and M and H taken, at q + contacts_at · h v */
    double joints_at;   /* rows of joints stand at q + joints_at · h v, and ask u⁺ = −g/h of it */
    int force_count;    /* v_free = v + h M⁻¹ Σ weight F(t + at · h) */
    struct {
        double at, weight;
    } forces[DLS_FORCE_TIMES];
    /* c_D, c_K of a solid: A = M + c_D h D + c_K h² K, its forces at q + c_D h v */
    double damping, stiffness;
} dls_step_plan;

typedef enum dls_moves_solids {
    DLS_MOVES_NO_SOLIDS = 0,
    DLS_MOVES_LINES, /* beams alone: shapes on spots */
    DLS_MOVES_SOLIDS
} dls_moves_solids;

struct dls_scheme {
    const char *name, *summary;
    bool whole_gap;          /* gap/h stands in b for gaps of both signs: open contacts do not bounce */
    bool follow;             /* pairs are followed to where they meet within the step */
    dls_moves_solids solids; /* which bodies that deform it moves */
    dls_step_plan (*plan)(const dls_simulation *simulation);
    /* From where contacts were found to the end of the step, with v⁺. */
    void (*move)(dls_simulation *simulation, const dls_step_plan *plan);
    /* The step itself: rows stand at its beginning, drives are set; they leave it at its end. */
    dls_status (*advance)(dls_simulation *simulation, const dls_step_plan *plan, dls_step_report *report,
                          dls_error *error);

    /* What a scene is asked before it runs: refuses worlds and options that it does not know; NULL: none. */
    dls_status (*check)(const dls_world *world, const dls_simulation_options *options, dls_error *error);

    /* What it keeps between steps, in simulation->memory: all five, or NULL for nothing. Reading gets the
     * rows as they will be, and changes all or nothing; of bytes that the same simulation wrote it cannot
     * fail. */
    dls_status (*begin)(dls_simulation *simulation, dls_error *error);
    void (*end)(dls_simulation *simulation);
    size_t (*state_size)(const dls_simulation *simulation);
    void (*state_write)(const dls_simulation *simulation, void *bytes);
    dls_status (*state_read)(dls_simulation *simulation, const dls_world *next, const void *bytes,
                             size_t size, dls_error *error);
};

/* Fails where the world has a solid that the scheme does not move. */
dls_status dls_scheme_check_solids(const dls_scheme *scheme, const dls_world *world, dls_error *error);

/* NULL for a name that no row has. */
const dls_scheme *dls_scheme_find(const char *name);
/* A row beside those of the table, before threads start; it must outlive its
 * simulations, and stay until it is taken out again. */
dls_status dls_scheme_register(const dls_scheme *scheme, dls_error *error);
void dls_scheme_unregister(const dls_scheme *scheme);

/* When a plan takes forces for the k-th time: to the bit the time that callbacks are asked for. */
dls_force_time dls_plan_force(const dls_simulation *simulation, const dls_step_plan *plan, int k);

/* The step of impulse schemes, by the plan and the move of their row:
 *
 *     q_m = q + contacts_at · h v,   u = W r + b at q_m,   v⁺ = v_free + M⁻¹Hᵀ r,   move */
dls_status dls_impulse_advance(dls_simulation *simulation, const dls_step_plan *plan, dls_step_report *report,
                               dls_error *error);
/* q⁺ = q_m + (1 − contacts_at) · h v⁺ */
void dls_move_rest(dls_simulation *simulation, const dls_step_plan *plan);

#endif

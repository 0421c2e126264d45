/* Inside a simulation: a world, its collisions, the assembly of the step and what was added up so far. */
#ifndef INTEGRATE_SIMULATION_H
#define INTEGRATE_SIMULATION_H

#include "assemble/joints.h"
#include "integrate/gates.h"

#include <delassus/integrate.h>

#include <stdalign.h>

typedef struct dls_scheme dls_scheme;

/* Impacts of a step that were struck in their order. */
typedef struct dls_impacts {
    int64_t count;
    int left;                      /* contacts that still met when the bound on impacts was reached */
    double impact, friction, work; /* J: taken along normals and by friction, done by what is driven */
    double jump;                   /* largest change of a velocity */
    double rest;                   /* s: from where contacts' gaps stand to the end of the step */
    dls_twist *shift; /* per row, what the end of the step is moved by; in the step's space, NULL: none */
} dls_impacts;

struct dls_simulation {
    dls_world *world;
    dls_simulation_options options;
    const dls_scheme *scheme;
    void *memory;           /* the scheme's, NULL where it keeps nothing between steps */
    const dls_ranks *ranks; /* that share the steps; NULL: no others */
    const dls_solver *solver;
    alignas(16) unsigned char solver_options[DLS_MAX_OPTIONS_SIZE];
    dls_collider *collider;
    dls_assembly assembly; /* of the last step; collisions and the solver have the rest of its space */
    dls_body_state *kept;  /* states at the beginning of the step */
    char *kept_solids;     /* q and u of solids then, as bytes */
    int64_t kept_solids_capacity;
    double kept_jump;
    char *kept_joints; /* of joints then, as bytes */
    int64_t kept_joints_capacity;
    char *kept_memory; /* what the scheme kept then, as bytes */
    size_t kept_size;
    int64_t kept_capacity;
    dls_pose *found; /* where rows stood when the contacts were found */
    int row_capacity;
    int found_count;       /* rows in found: 0 before the first step */
    dls_body_state *tried; /* with velocities by which bodies met what no contact kept apart */
    double *extra;         /* per row: what it goes farther by these than contacts were looked for, m */
    int64_t tried_capacity, extra_capacity;
    double margin;      /* of the last look */
    int flown_uid;      /* bodies from this uid on have not flown yet */
    int kept_flown_uid; /* at the beginning of the step */
    double t;
    double smallest; /* radius of a moving body */
    double jump;     /* largest change of a velocity by impulses in the last step */
    int64_t step;
    double rebased_t; /* when the length of the step was last set: t = rebased_t + h (step − rebased_step) */
    int64_t rebased_step;
    bool started;
    double base_energy; /* kinetic and potential energy at the start, and of bodies that came and went */
    dls_energy energy;
    dls_run_summary summary;
    struct dls_elimination *elimination; /* of joints; NULL until there are any */
    struct dls_solid_factors *factors;   /* of solids */
    int joint_record_count;              /* of the last step */
    int64_t joint_record_capacity;
    dls_joint_record *joint_records;
    dls_impacts impacts; /* of the last step */
    double joint_work;   /* of driven bodies through joints in the last step */
    dls_gates *gates;    /* NULL for none */
    dls_traffic pending; /* since the last step that ended */
};

/* v_ref of the step that begins at t: as the options have it, else |g| h, else h times the largest push. */
double dls_reference_velocity(const dls_world *world, const dls_simulation_options *options, double t);
/* Bodies pass by these from the next step on; the definition is borrowed. Once, before the first step. */
dls_status dls_simulation_set_gates(dls_simulation *simulation, const dls_gates_def *def, dls_error *error);
/* Bodies that are due come in, those that leave go. */
dls_status dls_simulation_settle(dls_simulation *simulation, dls_error *error);
/* Room for so many rows. */
dls_status dls_simulation_reserve(dls_simulation *simulation, int rows, dls_error *error);
/* Room for all rows, and the detection margin; what they depend on has changed. */
dls_status dls_simulation_ready(dls_simulation *simulation, bool started, dls_error *error);
/* The last step's problem and its contacts end: they speak of rows that may be other bodies' by now. */
void dls_simulation_forget(dls_simulation *simulation);
/* Whether pairs are followed to where they meet within a step. */
bool dls_simulation_follows(const dls_simulation *simulation);
/* Refuses states that are no numbers, or beyond DLS_FARTHEST. */
dls_status dls_simulation_check_states(dls_simulation *simulation, dls_error *error);
/* Contacts where the rows stand, which is noted; what the last step left in the space ends there. again:
 * those that tried velocities meet with, too. */
dls_status dls_simulation_find_contacts(dls_simulation *simulation, bool again, dls_error *error);
/* After look number `look`, from 0: whether rows, which have v⁺, meet on their way what no contact keeps them
 * from. Then v⁺ is noted as tried, and rows are as they were before impulses. */
dls_status dls_simulation_look_again(dls_simulation *simulation, const dls_twist *before, int look,
                                     bool *again, dls_error *error);
/* Rows fly for dt; what flies for the first time stops where it meets another body. */
void dls_simulation_fly_on(dls_simulation *simulation, double dt);
/* Whether the parts of a record are those of a contact in a world of that dimension. */
bool dls_contact_record_fits(const dls_contact_record *record, int dimension);

/* ---- flight: bodies move on their own ---- */

/* x += dt v and a free rotation over dt, for all rows; ω follows the angular momentum, which stays. */
void dls_fly(dls_world *world, double dt, int threads);
/* A row by a small turn; its angular momentum stays. */
void dls_turn_row(dls_world *world, int row, const double *turn);
/* From the states kept at the beginning of the step: x = x₀ + h(θ v + (1 − θ) v₀), and the rotation likewise;
 * solids: as bytes. */
void dls_fly_theta(dls_world *world, const dls_body_state *kept, const void *solids, double h, double theta,
                   int threads);

/* ---- joints ---- */

/* States of all rows, and spots of solids, where rows of joints stand, at q + at · h v from the beginning of
 * the step. */
dls_status dls_joints_place(dls_simulation *simulation, double at, const dls_body_state **states,
                            const struct dls_spot **spots, dls_error *error);
/* What their impulses did, while bodies have v⁺ and stand where the impulses acted. */
dls_status dls_joints_apply(dls_simulation *simulation, dls_error *error);
/* At the end of the step: coordinates, records, and what breaks. */
void dls_joints_end(dls_simulation *simulation, dls_step_report *report);
/* Stored in springs. */
double dls_joints_energy(const dls_world *world);

/* ---- energy ---- */

/* Kinetic and potential energy of the dynamic rows, and what solids store. */
void dls_energy_now(const dls_world *world, int threads, double *kinetic, double *potential, double *strain);
/* The same of one row, together. */
double dls_energy_row(const dls_world *world, int row);
/* Adds what the step that ended dissipated and what was done from outside. */
void dls_energy_step(dls_simulation *simulation);

/* What the fastest body goes in the step is a number, and so is its square. */
static inline bool dls_step_makes_sense(double h) { return h >= 1 / DLS_FARTHEST && h <= DLS_FARTHEST; }

#endif

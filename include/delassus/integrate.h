/* Time stepping of a world. One step, whatever the scheme:
 *
 *     place bodies → contacts → u = W r + b → solve, judge → v⁺ = v_free + M⁻¹ Hᵀ r → move
 *
 * Every step's contact solution is certified by the one judge (problem.h); a step that misses its tolerance
 * says so. The same world, options and number of steps give the same bits, on any number of threads. */
#ifndef DELASSUS_INTEGRATE_H
#define DELASSUS_INTEGRATE_H

#include <delassus/collide.h>
#include <delassus/joint.h>
#include <delassus/ranks.h>
#include <delassus/solve.h>
#include <delassus/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name of the index-th scheme, NULL behind the last; summary, where it is not NULL, gets a line about it.
 *
 *     moreau-jean   contacts and forces at the half step, q + h/2 v
 *     theta         θ-method on forces and places; contacts at q + h/2 v
 *     dvi           semi-implicit, paper 001: contacts at q, gap/h for all of them, q + h v⁺
 *     generalized-alpha   second order between impacts, paper 004: contacts and joints hold at the levels of
 *                         position, velocity and acceleration at the end of every step */
DLS_API const char *dls_scheme_at(int index, const char **summary);

/* Which pairs become contacts of a step. */
typedef enum dls_entering {
    DLS_ENTER_MARGIN = 0, /* all that may close within the step; b_n += gap/h where open: no penetration */
    DLS_ENTER_CLOSED      /* those with gap ≤ 0, as papers 002 and 003 */
} dls_entering;

/* Where restitution enters b. */
typedef enum dls_restitution {
    DLS_RESTITUTION_IMPACTS = 0, /* contacts that meet faster than rest_speed */
    DLS_RESTITUTION_FORMAL,      /* every closed contact in every step, as papers 002 and 003 */
    DLS_RESTITUTION_IN_ORDER     /* impacts happen one after the other within the step, at their own times */
} dls_restitution;

/* How contacts go on within a step of an impulse scheme. */
typedef enum dls_kinematics {
    DLS_KINEMATICS_SECOND = 0, /* b has h/2 of what bends their rows; impulses act where the contact closes */
    DLS_KINEMATICS_FIRST       /* as tangent planes, as papers 001 to 003; impulses act amid the gap */
} dls_kinematics;

typedef enum dls_operator_choice { DLS_OPERATOR_BODIES = 0, DLS_OPERATOR_STORED } dls_operator_choice;

/* How a step solves for joints. */
typedef enum dls_joints_choice {
    DLS_JOINTS_ELIMINATED = 0, /* rows that are held are eliminated before contacts are solved */
    DLS_JOINTS_BLOCKS          /* rows are blocks beside the contacts, which is to compare */
} dls_joints_choice;

/* How forces of solids enter A = M + c_D h D + c_K h² K. */
typedef enum dls_stiffness {
    DLS_STIFFNESS_IMPLICIT = 0, /* linearly implicit: c_D and c_K are the scheme's */
    DLS_STIFFNESS_EXPLICIT      /* both are 0: dls_solids_stable_step limits the step */
} dls_stiffness;

typedef struct dls_simulation_options {
    char scheme[DLS_NAME_SIZE]; /* its name */
    double step;                /* h, s */
    double theta;
    double margin; /* detection margin, m; 0: a twentieth of the smallest moving body, up to all of it where
                      bodies are hit hard */
    dls_kinematics kinematics;
    dls_entering entering;
    double stabilisation; /* share of a penetration that a step takes back, 0 … 1 (dvi always takes all) */
    double stabilisation_speed; /* at most, m/s; 0: |g| h */
    dls_restitution restitution;
    double rest_speed;         /* slower approaches do not bounce, m/s; 0: |g| h */
    double reference_velocity; /* v_ref of the judge, m/s; 0: |g| h, without gravity h · largest force / mean
                                  mass */
    dls_stiffness stiffness;   /* of solids */
    dls_joints_choice joints;  /* whether joint rows are eliminated or kept as blocks */
    dls_operator_choice op;    /* how W is kept: matrix-free, or by rows, which is to compare */
    bool warm_start;
    int threads;
    dls_alpha_options alpha; /* of generalized-alpha; its dt and v_ref are those above */
} dls_simulation_options;

DLS_API dls_simulation_options dls_default_simulation_options(void);
DLS_API const dls_field *dls_simulation_fields(int *count);

typedef struct dls_energy {
    double kinetic, potential;
    double friction, impact; /* dissipated so far, by sliding and along normals */
    double turning;          /* the same by friction against turning: rolling, spinning and drilling */
    double joints;           /* the same in joints: dampers, friction, limits, and what holding them takes */
    double spring;           /* stored in springs of joints */
    double strain;           /* stored in solids */
    double damping;          /* dissipated so far in solids, by the mean velocities of steps */
    double numerical;        /* made so far, or lost, by the scheme: in solids what is stored less
                                what was done on strains, in bodies that joints pull at hard what steadies them */
    double work;             /* of drives, belts and applied forces so far */
    double motors;           /* of drives, motors and servos of joints so far */
    /* kinetic + potential + spring + strain + friction + impact + turning + joints + damping − work − motors
     * − numerical − what it was at the start, and what bodies that came and went brought and took */
    double unaccounted;
} dls_energy;

/* Bodies that came in and went since the start, by their births and deaths, by hand or by gates. Masses and
 * energies (kinetic and potential, as they came and went) are those of dynamic bodies. */
typedef struct dls_traffic {
    int64_t bodies_in, bodies_out;
    double mass_in, mass_out;     /* kg */
    double energy_in, energy_out; /* J */
} dls_traffic;

typedef struct dls_step_report {
    int64_t step; /* number of the step that ended, from 1 */
    double t;     /* at its end */
    int bodies, contacts, active;
    dls_outcome outcome;
    dls_reason reason; /* why the step is not certified */
    bool certified; /* residual ≤ the solver's tolerance, and held ≤ DLS_HELD_LIMIT where it is known */
    double residual, max_error;
    double held; /* NaN without a reference velocity */
    int iterations;
    double sweeps; /* over the step's contacts that the solver's work is worth, by flops; NaN: not counted */
    double penetration; /* largest −gap of the step's contacts, m */
    int joints;         /* that acted */
    int joint_rows, joint_rows_at_bound;
    dls_joint_id contradiction; /* a joint that others do not let hold; −1: none */
    int joints_broken;          /* at the end of this step */
    double joint_gap;           /* largest violation of a held freedom at its end, m or rad */
    int retried, halvings; /* of generalized-alpha: pieces that Newton did not solve at once; steps cut */
    int ambiguous;         /* of generalized-alpha: pieces whose accelerations have no or several solutions */
    dls_energy energy;
    dls_traffic traffic; /* at the beginning of the step */
    int64_t backlog;     /* bodies of inlets that were due and found no room, and their mass in kg */
    double backlog_mass;
    double seconds_collide, seconds_assemble, seconds_solve, seconds;
} dls_step_report;

/* What a run adds up to. */
typedef struct dls_run_summary {
    int64_t steps, certified;
    int64_t uncertified[DLS_REASONS];   /* the others, by the reason */
    double worst_residual, worst_error; /* over all steps */
    double worst_held;                  /* NaN where it is known of none */
    double penetration;
    int64_t contacts, iterations; /* sums */
    dls_traffic traffic;
    double seconds_collide, seconds_assemble, seconds_solve, seconds;
} dls_run_summary;

typedef struct dls_simulation dls_simulation;

/* The world is borrowed: it must outlive the simulation, and bodies may be added and removed between steps.
 */
DLS_API dls_status dls_simulation_create(dls_world *world, const dls_simulation_options *options,
                                         dls_simulation **simulation, dls_error *error);
DLS_API void dls_simulation_destroy(dls_simulation *simulation);

/* A solver's defaults as a simulation has them: tolerance 1e-6, and at least one sweep in every step, so that
 * the errors of a body at rest die out. */
DLS_API void dls_simulation_solver_defaults(const dls_solver *solver, void *options);
/* auto with those defaults until told otherwise; for the solver of a scene see scene.h. The options are
 * copied whole. */
DLS_API dls_status dls_simulation_set_solver(dls_simulation *simulation, const dls_solver *solver,
                                             const void *options, dls_error *error);
/* Ranks that share the steps, each with a simulation of its own of the same world, which makes the same
 * calls: all have the same bits as one alone. NULL: no others, until told otherwise. The table is borrowed.
 * Solvers may not look at the clock then (time_limit 0). */
DLS_API dls_status dls_simulation_set_ranks(dls_simulation *simulation, const dls_ranks *ranks,
                                            dls_error *error);
DLS_API dls_status dls_simulation_set_step(dls_simulation *simulation, double h, dls_error *error);

DLS_API dls_status dls_simulation_step(dls_simulation *simulation, dls_step_report *report, dls_error *error);
/* The world as it stands after the last step: what dls_body_state_get and others read. Valid as long as the
 * caller keeps the world that it gave. */
DLS_API const dls_world *dls_simulation_world(const dls_simulation *simulation);
DLS_API double dls_simulation_time(const dls_simulation *simulation);
DLS_API int64_t dls_simulation_steps(const dls_simulation *simulation);
DLS_API dls_run_summary dls_simulation_summary(const dls_simulation *simulation);
DLS_API dls_energy dls_simulation_energy(const dls_simulation *simulation);

/* A gate of the scene: an inlet, by which bodies come in, or a removal, by which they leave. */
typedef struct dls_gate {
    const char *name; /* the scene's, valid as long as it is */
    bool is_inlet;
    int64_t bodies; /* that passed so far */
    double mass;
    int64_t backlog; /* of an inlet: bodies that are due and wait for room */
    double backlog_mass;
} dls_gate;
DLS_API int dls_simulation_gate_count(const dls_simulation *simulation);
/* All zero, with the name "", where there is none of that index. */
DLS_API dls_gate dls_simulation_gate(const dls_simulation *simulation, int index);
/* Impacts of the last step that were struck in their order; left, where it is not NULL, gets how many
 * contacts still met when their bound was reached. */
DLS_API int64_t dls_simulation_impacts(const dls_simulation *simulation, int *left);
/* Of every body's state bits, in the order of rows: equal hashes, equal runs. */
DLS_API uint64_t dls_simulation_hash(const dls_simulation *simulation);
DLS_API size_t dls_simulation_memory(const dls_simulation *simulation); /* bytes held, world aside */

/* ---- contacts of the last step ---------------------------------------------------------------------------
 */

/* 320 bytes, each member aligned to its size: four 32-bit integers, three of 16 bits, two bytes that are 0,
 * one of 64 bits, 23 doubles, an integer of 32 bits and as many that are 0, 12 doubles. A contact is the same
 * one from step to step while bodies, shapes, image and feature are. */
typedef struct dls_contact_record {
    dls_body_id body_a, body_b;
    int shape_a, shape_b; /* in their bodies */
    int16_t image[3];     /* B stands moved by image · period */
    uint64_t feature;
    double point[3]; /* in the middle of the gap */
    double frame[9]; /* columns n, t₁, t₂: n from A to B */
    double gap;
    double mu;
    double impulse[3];  /* r on B in the frame, N s */
    double velocity[3]; /* u after the step in the frame (with the shift and restitution terms of b) */
    double b[3];        /* of u = W r + b */
    /* Friction against turning, rows behind those above: DLS_PARTS, lengths in m; torque on B, N m s, and
     * relative angular velocity, rad/s, about n of drilling, then rolling about t₁ and t₂ (z in the plane),
     * then spinning about n, as far as the parts are there. Rows of drilling count in N s and m/s. */
    int parts; /* 0: tangential rows alone */
    double mu_rolling, mu_spinning, drilling;
    double torque[3], spin[3], b_spin[3];
} dls_contact_record;

/* None before the first step and after one that failed. */
DLS_API int dls_simulation_contact_count(const dls_simulation *simulation);
/* An index out of range leaves a record of zeros between the bodies −1 and −1. */
DLS_API void dls_simulation_contact(const dls_simulation *simulation, int index, dls_contact_record *record);
/* All of them in one call into the caller's array, sorted by who they are. Where capacity is too small
 * nothing is written to records, and count says how many there are. */
DLS_API dls_status dls_simulation_contacts(const dls_simulation *simulation, int capacity,
                                           dls_contact_record *records, int *count, dls_error *error);
/* The contact problem of the last step and its solution, blocks in the order of contacts. Both are the
 * simulation's own, valid until its next dls_simulation_step or dls_simulation_state_read, or its end; bodies
 * may be added and removed meanwhile. Records and poses are copies. */
DLS_API const dls_problem *dls_simulation_problem(const dls_simulation *simulation);
DLS_API const double *dls_simulation_impulses(const dls_simulation *simulation);
/* Where bodies stood when that problem was made. */
DLS_API dls_status dls_simulation_contact_pose(const dls_simulation *simulation, dls_body_id id,
                                               dls_pose *pose, dls_error *error);
/* The contact problem of recorded contacts: bodies stand at poses (by id, as dls_simulation_contact_pose gave
 * them), b and μ are those of the records. */
DLS_API dls_status dls_contact_records_problem(const dls_world *world, const dls_pose *poses, int count,
                                               const dls_contact_record *records, double reference_velocity,
                                               dls_problem **problem, dls_error *error);
/* Impulses of all rows of a record, as the blocks of that problem have them, DLS_MAX_BLOCK at most; returns
 * how many. */
DLS_API int dls_contact_record_impulses(const dls_contact_record *record, int dimension, double *r);
/* What its rows against turning do to B, and with the opposite sign to A: a torque, N m s in world axes. */
DLS_API void dls_contact_record_torque(const dls_contact_record *record, double *torque);

/* ---- joints of the last step ----------------------------------------------------------------------------
 */

/* What a joint did in the last step and how it stands at its end. Impulses are those on B, in the axes of A's
 * frame, torques about the origin of B's frame: motors, springs and friction are in them. */
typedef struct dls_joint_record {
    dls_joint_id joint;
    dls_body_id body[2];           /* DLS_GROUND for the ground */
    double point[3];               /* origin of B's frame, m */
    double frame[9];               /* columns: axes of A's frame, world axes */
    double impulse[DLS_FREEDOMS];  /* N s and N m s */
    double actuator[DLS_FREEDOMS]; /* the part of it that drives, motors and servos gave, of free freedoms */
    double coordinate[DLS_FREEDOMS], speed[DLS_FREEDOMS]; /* of free freedoms, at the end of the step */
    double gap;  /* largest violation of what is held, at the end of the step, m or rad */
    double work; /* of its actuators in the step, J */
    double lost; /* in it in the step, J */
} dls_joint_record;

/* Joints that acted in the last step, by ascending id. Where capacity is too small nothing is written to
 * records, and count says how many there are. */
DLS_API dls_status dls_simulation_joints(const dls_simulation *simulation, int capacity,
                                         dls_joint_record *records, int *count, dls_error *error);

/* ---- state as bytes ---------------------------------------------------------------------------------------
 * All that later steps depend on: a simulation of the same world definition that reads it goes on with the
 * same bits. It has no checksum of its own (output.h adds one). Bytes that no such simulation can have
 * written are refused, and leave the simulation as it was. */
DLS_API size_t dls_simulation_state_size(const dls_simulation *simulation);
DLS_API void dls_simulation_state_write(const dls_simulation *simulation, void *bytes);
DLS_API dls_status dls_simulation_state_read(dls_simulation *simulation, const void *bytes, size_t size,
                                             dls_error *error);

#ifdef __cplusplus
}
#endif
#endif

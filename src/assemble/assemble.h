/* From contacts to the contact problem: masses and free velocities where the bodies stand, G = H L, μ and b.
 */
#ifndef ASSEMBLE_ASSEMBLE_H
#define ASSEMBLE_ASSEMBLE_H

#include "collide/collide.h"
#include "problem/problem.h"

/* When forces are taken, and how much they count. */
typedef struct dls_force_time {
    double t, weight;
} dls_force_time;

enum { DLS_FORCE_TIMES = 2 };

/* How contacts enter and what is added to the velocity without impulses. Lengths and speeds in SI. */
typedef struct dls_assemble_options {
    double t, h;
    int force_count; /* their impulse is h Σ weight F(t) over these times */
    dls_force_time forces[DLS_FORCE_TIMES];
    bool closed_only;  /* contacts with gap ≤ 0 alone */
    bool whole_gap;    /* b_n += gap/h for gaps of both signs */
    bool bends;        /* contacts move within a step, and impulses act where they will close */
    double least_bend; /* accelerations below count for nothing, m/s² */
    double share;      /* of a penetration that is taken back */
    double most_speed; /* at which it is */
    bool formal;       /* closed contacts bounce whatever their speed */
    bool in_order;     /* impacts happened before the problem: what strikes alone does not bounce in it */
    double rest_speed; /* slower approaches do not bounce */
    double reference_velocity;
    double contacts_at;                 /* contacts are found at q + contacts_at · h v, */
    double joints_at;                   /* rows of joints stand at q + joints_at · h v, */
    const dls_body_state *joint_states; /* where bodies are so, */
    const struct dls_spot *joint_spots; /* and spots of solids */
    double damping, stiffness;          /* c_D, c_K of springs, servos and solids */
    bool explicit_solids;               /* A of solids is M; their forces stay at q + c_D h v */
    struct dls_solid_factors *factors;  /* kept over steps; NULL: made anew */
    bool stored;                        /* W by rows instead of matrix-free */
    bool warm_start;
    int threads;
} dls_assemble_options;

/* Mass of a row where it stands: M⁻¹ = L Lᵀ with L = diag(root, S). All zero where it is not dynamic, servos
 * aside, which yield along their axes. */
typedef struct dls_row_mass {
    double root[3]; /* 1/√m along each axis, 0 where locked */
    double S[9];    /* S Sᵀ is the inverse inertia in world axes, column-major */
    bool is_ball;   /* one free sphere about its mass centre, S a multiple of 1 */
    bool rolls;     /* one disc or sphere about its mass centre */
    bool driven;
    bool joined; /* a joint acts on it */
} dls_row_mass;

/* Whether any impulse moves the row. */
bool dls_row_can_move(const dls_row_mass *mass);

/* Velocity of a row: of its mass centre, and angular in world axes. */
typedef struct dls_twist {
    double v[3], w[3];
} dls_twist;

/* All of one step, in its workspace: valid until the next one begins. */
typedef struct dls_assembly {
    dls_workspace *space;
    int dimension, row_count;
    dls_row_mass *mass;           /* per row */
    dls_twist *before;            /* without forces and impulses */
    struct dls_tight_body *tight; /* bodies that joints pull at hard: joints.h */
    int tight_count;
    dls_twist *free;      /* with forces, without impulses */
    int block_count;      /* of contacts; blocks of joints stand behind them */
    int *contact_of;      /* the contact that each block is */
    dls_problem *rows;    /* matrix-free */
    dls_problem *problem; /* the same, or the same with W stored */
    double *r;            /* in: warm start; out: solution */
    double *u;            /* W r + b */
    double *to_mean; /* u⁻ + u⁺ − u: velocity before the step, less what b has beside the free velocity */
    double *cohesion; /* impulse of attraction per block, N s; NULL where no pair has any */
    double *drilling; /* radius per block; NULL where nothing resists turning */
    double *belt;    /* along t₁ and t₂ of each block, what belts add to u; NULL where no shape has one */
    bool at_surface; /* where one side moves alone, impulses act on its surface, not amid the gap */
    int inert;       /* contacts left out because nothing that they touch can move */
    struct dls_solid_steps *solids; /* NULL where the world has none */
    struct dls_joint_asks *joints;  /* rows behind those of contacts; NULL where the world has none */
} dls_assembly;

/* Begins a step: masses and velocities of all rows as the world stands. */
dls_status dls_assemble_bodies(dls_assembly *a, const dls_world *world, const dls_assemble_options *options,
                               dls_error *error);
/* The problem of these contacts, and of joints. */
dls_status dls_assemble_contacts(dls_assembly *a, const dls_world *world, const dls_contact *contacts,
                                 int count, const dls_assemble_options *options, dls_error *error);
/* Where the impulse of a contact acts on both of its bodies: where it will close, on the surface of the side
 * that moves, and amid the gap where both do, so that angular momentum stays. */
void dls_contact_acts_at(const dls_assembly *assembly, const dls_contact *contact, double *point);

/* Velocity of B's surface less that of A's against their shapes, world axes. */
void dls_contact_belt(const dls_world *world, const dls_contact *contact, double *belt);
/* Whether its impacts are its own: it bounces, and no impulse on its bodies goes through joints, or into
 * shapes that deform. */
bool dls_contact_strikes(const dls_assembly *assembly, const dls_world *world, const dls_contact *contact);

/* Where a block acts. */
typedef struct dls_block_place {
    int row_a, row_b;
    double point[3], shift[3];      /* B stands moved by shift */
    double frame[9];                /* columns n, t₁, t₂ */
    double arm[2][3];               /* from the mass centres of A and B, which follow from the rest */
    bool spotted;                   /* A or B is a solid: */
    const struct dls_spot *spot[2]; /* what carries it, and its arm is from; NULL where it is rigid */
    bool belted;                    /* surfaces move against their shapes: */
    double belt[3];                 /* that of B less that of A, world axes */
} dls_block_place;

/* The problem, with blocks of their own memory, of places whose friction and b are given (arms are not);
 * masses are those of a. */
typedef struct dls_given_block {
    dls_block_place place;
    uint8_t parts;
    double mu, mu_rolling, mu_spinning, drilling;
    double b[DLS_MAX_BLOCK];
} dls_given_block;

dls_status dls_assemble_given(const dls_assembly *a, const dls_world *world, int count,
                              const dls_given_block *blocks, double reference_velocity, dls_problem **problem,
                              dls_error *error);

/* Columns n, t₁, t₂ of a contact. */
void dls_contact_frame(const double *normal, double *frame);

/* v⁺ = v_free + L Gᵀ r, written to the world's rows and solids, for a step of length h. */
dls_status dls_assemble_apply(const dls_assembly *a, dls_world *world, double h, int threads,
                              dls_error *error);

#endif

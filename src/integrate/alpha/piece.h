/* A world as mechanical systems for generalized-α: bodies that come near each other or are joined are a
 * piece, and each piece is a system
 *
 *     M du = h dt + W_g dP_g + W_γ dP_γ + W_N dP_N + W_F dP_F
 *
 * with u = (v, Ω in body axes) and q = (x, quaternion), in the plane u = (v, ω) and q = (x, angle). Rows: g
 * of joints and drives by position; γ of rolling, gears, drives by velocity and locked freedoms; gaps of
 * contacts and limits; γ_F of friction. Springs, motors and servos are forces. */
#ifndef INTEGRATE_ALPHA_PIECE_H
#define INTEGRATE_ALPHA_PIECE_H

#include "collide/collider.h"
#include "collide/curvature.h"
#include "integrate/scheme.h"
#include "system/alpha.h"
#include "world/solid/solid.h"

/* ---- what steps leave to each other: as bytes, so without holes ---- */

typedef struct dls_alpha_body {
    int32_t uid, known; /* known: a is that of a step */
    double a[6], a_bar[6], U[6], Q[6];
} dls_alpha_body;

enum { DLS_ALPHA_ROWS = 6, DLS_ALPHA_LAWS = 3 }; /* of friction: t₁, t₂, drilling, rolling, spinning */

typedef struct dls_alpha_contact {
    dls_pair_key key;
    uint8_t closed, sticking, spare[6]; /* sticking: bit k for law k */
    uint64_t feature;
    double n[3], t[3]; /* its normal and first tangent */
    double kappa, impact, force, bar;
    double impact_f[DLS_ALPHA_ROWS], force_f[DLS_ALPHA_ROWS], bar_f[DLS_ALPHA_ROWS];
    double push[3], turn[3], arm[2][3]; /* W λ̄ as a force and a moment on B, and where they act */
} dls_alpha_contact;

typedef struct dls_alpha_joint {
    int32_t joint;
    uint8_t freedom, role, closed, sticking;
    double kappa, impact, force, bar;
} dls_alpha_joint;

typedef struct dls_alpha_bodies {
    dls_alpha_body *item;
    int count;
    int64_t capacity;
} dls_alpha_bodies;

/* Of solids: a, ā, U and Q, each as long as the world's q. */
typedef struct dls_alpha_solids {
    double *item;
    int count;
    int64_t capacity;
} dls_alpha_solids;

typedef struct dls_alpha_contacts {
    dls_alpha_contact *item;
    int count;
    int64_t capacity;
} dls_alpha_contacts;

typedef struct dls_alpha_joints {
    dls_alpha_joint *item;
    int count;
    int64_t capacity;
} dls_alpha_joints;

/* The scheme's memory. */
typedef struct dls_alpha_world {
    dls_alpha *alpha; /* of one piece at a time */
    dls_workspace *space;
    double dt; /* of the last step; 0: none was taken */
    dls_alpha_bodies bodies;
    dls_alpha_solids solids;
    dls_alpha_contacts contacts, next_contacts;
    dls_alpha_joints joints, next_joints;
    int *left, left_count; /* of contacts, those that the collider has no more */
    dls_manifold manifold;
} dls_alpha_world;

/* What the contact still has in ā, for when it is left behind. */
struct dls_piece_contact;
void dls_alpha_keep_push(const struct dls_piece_contact *c, dls_alpha_contact *kept);
/* Contacts that the collider has no more; false when memory is out. */
bool dls_alpha_find_left(dls_simulation *s);

/* By what it is known; NULL where it was not there. */
const dls_alpha_contact *dls_alpha_find_contact(const dls_alpha_world *w, const dls_contact *contact);
const dls_alpha_joint *dls_alpha_find_joint(const dls_alpha_world *w, int joint, int freedom, int role);

dls_status dls_alpha_world_begin(dls_simulation *s, dls_error *error);
void dls_alpha_world_end(dls_simulation *s);
size_t dls_alpha_world_size(const dls_simulation *s);
void dls_alpha_world_write(const dls_simulation *s, void *bytes);
dls_status dls_alpha_world_read(dls_simulation *s, const dls_world *next, const void *bytes, size_t size,
                                dls_error *error);

/* ---- a piece ---- */

/* One law of friction of a contact: rows of its block and the coefficient. */
typedef struct dls_piece_law {
    int first, size; /* from t₁ on */
    double mu;
} dls_piece_law;

typedef struct dls_piece_contact {
    int contact, pair;                   /* of the collider; of the piece */
    int row[2], body[2];                 /* of the world; of the piece, −1: nothing pushes it */
    int of[2];                           /* bodies of its rows, those that are pushed first */
    int spot[2];                         /* on a solid; −1: the side is rigid */
    double shift[3];                     /* B stands moved by it */
    bool carried;                        /* its pair does not tell a distance: the features found stay */
    int face;                            /* the side whose plane the other's corner is over */
    int law_count, row_count, first_row; /* of friction; first_row: among those of γ_F */
    dls_piece_law law[DLS_ALPHA_LAWS];
    double axis_scale;                         /* of drilling */
    uint8_t tangents, rolls, spins, drills;    /* rows of each kind */
    double cohesion;                           /* N, where it was closed */
    double base_n[3], base_t[3];               /* t₁ follows from these by the least rotation */
    dls_contact_point at;                      /* where it stands */
    double arm[2][3], axis[DLS_ALPHA_ROWS][3]; /* axes of the rows of friction */
} dls_piece_contact;

/* Contacts of two shapes, found by one call. */
typedef struct dls_piece_pair {
    int first, count; /* contacts of the piece */
    const dls_pair_kind *kind;
    bool swapped; /* the function takes B first */
    double margin;
    dls_pair_memory memory;  /* of the pair, where its function remembers */
    dls_contact_point *last; /* as the function saw them where they were found; NULL: it does not remember */
    dls_placed placed[2];    /* shapes where they stand, B moved */
} dls_piece_pair;

/* A row of a joint, or of a locked freedom where joint < 0. */
typedef struct dls_piece_row {
    int joint, freedom, role, body; /* body: of the locked freedom */
    int family, index;              /* −1: a force */
    int law;                        /* of γ_F rows without contact; −1: none */
    int of[2];                      /* bodies of the piece; −1: no second one */
    int pose;                       /* among the poses of joints */
    double sign, limit;             /* of limits: g = sign (q − limit) */
} dls_piece_row;

typedef struct dls_piece_body {
    int row, solid;       /* of the world; −1: rigid */
    int n, m, at_q, at_u; /* coordinates and velocities, and where they begin */
    int at_M, at_B;       /* its packed blocks */
    double q[4];          /* in the plane: orientation at angle 0 */
    double inertia[9];    /* in body axes */
} dls_piece_body;

/* Where all rows of the world, and its solids, are said to be, and what accelerates the driven ones; where
 * the bodies of the piece stand, how they move, and the poses and rows of its joints there. */
typedef struct dls_stand {
    dls_world shadow; /* with its own states, q, u and spots */
    dls_body_state *states;
    double (*R)[9];
    dls_twist *acceleration;
    double t, *q, *u;
    bool stands, moves; /* at q, and with u */
    bool knows_joints;
    dls_joint_pose *pose;
    dls_joint_row *row;
} dls_stand;

typedef struct dls_piece {
    dls_simulation *s;
    dls_alpha_world *w;
    int dimension, size_q, size_u; /* coordinates and velocities of all bodies */
    bool packed;                   /* W, M and B by bodies; else dense */
    int body_count, contact_count, pair_count, row_count, driven_count, law_count, joint_count, tie_count;
    dls_piece_body *body;
    dls_piece_contact *contact;
    dls_piece_pair *pair;
    dls_piece_row *joint_row;
    int *driven; /* rows of the world that move by functions of time */
    int *joint;  /* those of poses */
    int family_count[DLS_FAMILIES];
    dls_model_contact *contacts;
    dls_model_friction *laws;
    double *unit[DLS_FAMILIES]; /* of rows, m/s per rate */
    int *part_q, *part_u;       /* of dls_parts */
    bool *turns;
    int (*row_bodies[DLS_FAMILIES])[2], (*tie)[2], *tie_row; /* tie_row: springs and servos */
    int *W_at[DLS_FAMILIES];                                 /* where packed columns begin */
    double t0;
    int *local;          /* body of the piece of each row, −1: none */
    dls_stand at, aside; /* aside: for differences along the motion */
    bool lonely, bends;  /* contacts are not asked for; ζ below is of where it stands and moves */
    double (*contact_zeta)[1 + DLS_ALPHA_ROWS], *row_zeta;
    double *column; /* of W */
    double *matrix; /* of the largest solid, and room to factor it */
    int *pivot;
    double *left;  /* what contacts that are left behind have in ā */
    double *probe; /* rates of rows of joints */
} dls_piece;

/* Bodies to q, and driven ones to t; contacts follow. NaN in q gives a gap of NaN. */
void dls_piece_stand(dls_piece *p, double t, const double *q);
/* The same, and velocities. */
void dls_piece_move(dls_piece *p, double t, const double *q, const double *u);
/* q and u of the piece from the states of its bodies, and back. */
void dls_piece_load(const dls_piece *p, const dls_body_state *states, double *q, double *u);
void dls_piece_store(dls_piece *p, double t, const double *q, const double *u, dls_body_state *states);
/* Places of the contacts where bodies stand. */
void dls_piece_touch(dls_piece *p);

/* Axes and arms of a contact by its normal and points: t = t₀ − (n₀ + n)(n·t₀)/(1 + n₀·n), the least
 * rotation. */
void dls_piece_frame(const dls_piece *p, dls_piece_contact *c);
/* What carries a side, and its axes. */
const dls_body_state *dls_piece_side(const dls_piece *p, const dls_piece_contact *c, int side, double *R);
/* V of a contact along its row k, from −1: n, then those of friction. */
double dls_piece_contact_rate(const dls_piece *p, const dls_piece_contact *c, int k);
/* d·(velocity of a spot) + turn·(its angular velocity), times sign, added to the rows of its solid. */
void dls_piece_spot_direction(const dls_spot *spot, double sign, const double *d, const double *turn,
                              double *W);
/* Where the entries of a body begin in a column of W of rows of these bodies. */
double *dls_piece_entries(const dls_piece *p, double *W, const int of[2], int body);
/* Its column of W. */
void dls_piece_contact_direction(const dls_piece *p, const dls_piece_contact *c, int k, double *W);
/* ṫ₁ and ṫ₂ of dls_piece_frame where n moves by ν. */
void dls_piece_frame_rate(const dls_piece_contact *c, const double *nu, double *first, double *second);
/* How its sides are curved where they touch; where two surfaces lie on each other, the point is a corner of
 * the one that is no obstacle. */
void dls_piece_curvature(const dls_piece *p, const dls_piece_contact *c, dls_curvature side[2]);
/* Velocity of B's surface less that of A's, against their shapes, and its rate. */
void dls_piece_belts(const dls_piece *p, const dls_piece_contact *c, double *velocity, double *rate);
/* Features of a contact where it was found; exact: its pair tells the distance. */
void dls_piece_set_face(const dls_piece *p, dls_piece_contact *c, bool exact);
/* Asks the function of a pair where its contacts stand. */
void dls_piece_touch_pair(dls_piece *p, dls_piece_pair *pair);
/* ζ of all its rows, the normal one first. */
void dls_piece_contact_bend(const dls_piece *p, const dls_piece_contact *c, double *zeta);

/* Value and speed of a row of a joint or of a locked freedom as bodies stand, and its column of W. */
double dls_piece_row_value(const dls_piece *p, const dls_piece_row *row, double t);
double dls_piece_row_rate(const dls_piece *p, const dls_piece_row *row, double t);
void dls_piece_row_direction(const dls_piece *p, const dls_piece_row *row, double *W);
/* Speed of the row that is asked, in a world where the step began. */
double dls_joint_speed_at(const dls_world *began, dls_simulation *s, const dls_joint_ask *ask);
/* The force of a spring, motor or servo, by its own coordinate and speed or by those that are given. */
double dls_piece_row_force(const dls_piece *p, const dls_piece_row *row, double t);
double dls_piece_force_at(const dls_piece *p, const dls_piece_row *row, double coordinate, double speed,
                          double t);
/* Poses and rows of all joints where bodies stand. */
void dls_piece_know_joints(dls_piece *p);
/* Rows of the acting joint, appended to p->joint_row; at most DLS_PIECE_JOINT_ROWS. */
enum { DLS_PIECE_JOINT_ROWS = 6 + 6 * 5 + 2 };
void dls_piece_add_joint(dls_piece *p, int joint);
/* |F| that friction of a joint follows from, by forces of its held rows: family after family. */
double dls_piece_joint_load(const dls_piece *p, const dls_alpha *alpha, int joint);

/* The left of its bodies; false when memory is out. */
bool dls_piece_find_left(dls_piece *p);
/* y ← M⁻¹ y */
void dls_piece_divide_by_mass(const dls_piece *p, double *y);
/* The piece as a system, by bodies where it is packed; its user is the piece. */
dls_model dls_piece_model(dls_piece *p);
dls_parts dls_piece_parts(dls_piece *p);
/* Slopes of forces and rows; T of B₀ = B T. */
void dls_piece_slopes(double t, const double *q, const double *u, dls_part_slopes *out, void *user);
void dls_piece_tangent(const double *q, const double *B, double *T, void *user);
/* Bodies of the piece one by one: set to coordinates, to velocities. */
void dls_piece_set_body(dls_piece *p, int body, const double *q);
void dls_piece_set_velocity(dls_piece *p, int body, const double *u);

/* ---- all pieces of a step ---- */

typedef struct dls_pieces {
    int count;
    int *body_first, *body_order;       /* rows of each piece */
    int *contact_first, *contact_order; /* of the collider */
    int *joint_first, *joint_order;     /* ids */
} dls_pieces;

dls_status dls_pieces_find(dls_simulation *s, dls_pieces *pieces, dls_error *error);
dls_status dls_piece_make(dls_simulation *s, const dls_pieces *pieces, int index, dls_piece *p,
                          dls_error *error);

#endif

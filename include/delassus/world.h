/* The world: rigid bodies with shapes and materials, in the plane or in space, under gravity.
 *
 * Units are SI. A body's frame is the one its shapes are given in; its state belongs to the mass centre:
 *
 *     x  mass centre, m        q  orientation (w, x, y, z): world = R(q) · body
 *     v  its velocity, m/s     w  angular velocity, rad/s, in world axes
 *
 * A planar world uses the same state with z = 0, rotation about z and no other; planar shapes live in it and
 * only there. Objects are named by ids that never come back; a definition starts from dls_default_*(). */
#ifndef DELASSUS_WORLD_H
#define DELASSUS_WORLD_H

#include <delassus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dls_world dls_world;

typedef int dls_body_id;     /* 0, 1, … in the order of dls_world_add_body; −1 for none */
typedef int dls_material_id; /* 0 is the material that shapes have unless told otherwise */

typedef struct dls_pose {
    double x[3], q[4];
} dls_pose;

/* ---- functions of time --------------------------------------------------------------------------------- */

typedef struct dls_function dls_function; /* t ↦ number */

DLS_API dls_status dls_function_constant(double value, dls_function **function, dls_error *error);
/* Piecewise linear through (t, value), constant beyond its ends; times strictly ascending. */
DLS_API dls_status dls_function_table(int count, const double *t, const double *value,
                                      dls_function **function, dls_error *error);
/* An expression in t and in named constants ("2*pi*rpm/60 * min(t, 1)"); names may be NULL where count is 0.
 * From weak to strong: c ? a : b, ||, &&, comparisons, + -, * /, a sign, ^ (from the right: 2^3^2 = 2^9,
 * -2^2 = -4). sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp ln log (the same) log2
 * log10 sqrt abs sign rint (halves go up) of one argument, atan2 of two, min max sum avg of any number;
 * constants pi, e. At most 4096 characters and 64 levels of parentheses, calls, choices and exponents. */
DLS_API dls_status dls_function_expression(const char *text, int constant_count, const char *const *names,
                                           const double *values, dls_function **function, dls_error *error);
/* The function of t in *y; false where it cannot tell, and then, as where y is NaN or infinite, the step that
 * asked fails with the body, the freedom and the time, and all states are as before it. */
typedef bool (*dls_time_callback)(double t, double *y, void *user);

/* A function of your own: its value, and its first and second derivative where it has them. Without those
 * dls_function_derivatives gives NaN, never differences, and what needs them refuses the function.
 *
 * A step asks for values at its beginning, on the thread that called it, once for each time that it needs:
 * the end of the step for a position, its middle for velocities and forces, its ends too for forces of
 * schemes that use them. A callback may read the world, which is as the step before left it, but not change
 * it or step it, and has to return. Runs have the same bits as far as it answers the same.
 *
 * Checkpoints cannot hold it: who goes on from one gives the world the same callbacks in the same places, and
 * a world with one too few or too many is refused. */
typedef struct dls_callback_def {
    dls_time_callback value, rate, acceleration; /* the last two may be NULL */
    void *user;                                  /* of all of them */
    void (*release)(void *user); /* when the function is destroyed, by the world or by you; NULL: nothing */
} dls_callback_def;

/* The struct is copied. Where the call fails user stays yours. */
DLS_API dls_status dls_function_callback(const dls_callback_def *def, dls_function **function,
                                         dls_error *error);
/* May be infinite or NaN where the expression is, and is NaN where a callback fails. Any number of threads
 * may ask one function at once, as far as a callback stands it. */
DLS_API double dls_function_value(const dls_function *function, double t);
/* Value, first and second derivative in t, by the rules of calculus and not by differences. At a kink of abs,
 * min, max and of a table they are those from the right; of c ? a : b those of the side that is chosen; of
 * sign, rint, comparisons, && and || zero, also where they jump. Infinite or NaN where there are none, as of
 * sqrt(t) at 0, and NaN where the value is. */
DLS_API void dls_function_derivatives(const dls_function *function, double t, double out[3]);
DLS_API void dls_function_destroy(dls_function *function); /* NULL is fine */

/* ---- world ----------------------------------------------------------------------------------------------
 */

typedef struct dls_world_def {
    int dimension; /* 2 or 3 */
    double gravity[3];
    double period_low[3], period_size[3]; /* a periodic box where size > 0; positions are never wrapped */
} dls_world_def;

DLS_API dls_world_def dls_default_world_def(void);
DLS_API dls_status dls_world_create(const dls_world_def *def, dls_world **world, dls_error *error);
DLS_API void dls_world_destroy(dls_world *world);
DLS_API int dls_world_dimension(const dls_world *world);
DLS_API void dls_world_gravity(const dls_world *world, double *gravity);
DLS_API void dls_world_period(const dls_world *world, double *low, double *size);

/* ---- materials ------------------------------------------------------------------------------------------
 */

/* Friction against turning: a contact with normal force F_n resists relative rotation with torques of up to
 * length · F_n. Ratios are lengths over the smaller radius of the two shapes, half of their least thickness;
 * both add up. In the plane there is rolling alone. */
typedef struct dls_turning_def {
    double rolling, spinning;             /* m: about the tangents, about the normal */
    double rolling_ratio, spinning_ratio; /* 1 */
    double drilling; /* m: Coulomb–Contensou, sliding and spinning in one law with this radius; not with
                        spinning */
} dls_turning_def;

/* How solids of a material answer to strain. */
typedef enum dls_elastic_law {
    DLS_ELASTIC_KIRCHHOFF = 0, /* St Venant's and Kirchhoff's: Hooke's law of Green's strain, for any turns */
    DLS_ELASTIC_LINEAR,        /* Hooke's law of small strains, for small turns */
    DLS_ELASTIC_NEO_HOOKEAN,   /* with ln J: resists to be turned inside out */
    DLS_ELASTIC_LAWS
} dls_elastic_law;

DLS_API const char *dls_elastic_law_name(dls_elastic_law law); /* "kirchhoff", "linear", "neo-hookean" */

typedef struct dls_material_def {
    const char *name; /* copied */
    double density;   /* kg/m³, kg/m² in the plane */
    double mu, e_n, e_t;
    double cohesion; /* N, attraction of a closed contact */
    dls_turning_def turning;
    double young;   /* Pa, of bodies that deform (solid.h); 0: it has none, and its bodies are rigid */
    double poisson; /* ratio, above −1 and below 0.5 */
    dls_elastic_law law;
    double damping; /* s: stress follows strain + damping · its rate */
} dls_material_def;

/* What a contact obeys. Pairs that are not stated mix: μ, cohesion and turning the smaller, e_n and e_t the
 * larger. */
typedef struct dls_pair_def {
    double mu, e_n, e_t;
    double cohesion;
    dls_turning_def turning;
} dls_pair_def;

DLS_API dls_material_def dls_default_material_def(void);
DLS_API dls_status dls_world_add_material(dls_world *world, const dls_material_def *def, dls_material_id *id,
                                          dls_error *error);
/* Bodies that are there keep their masses; stated pairs stay as stated. */
DLS_API dls_status dls_world_set_material(dls_world *world, dls_material_id id, const dls_material_def *def,
                                          dls_error *error);
DLS_API int dls_world_material_count(const dls_world *world);
/* The name in it is valid until the material is set anew. */
DLS_API dls_status dls_world_material(const dls_world *world, dls_material_id id, dls_material_def *def,
                                      dls_error *error);
DLS_API dls_status dls_world_set_pair(dls_world *world, dls_material_id a, dls_material_id b,
                                      const dls_pair_def *def, dls_error *error);
/* stated (may be NULL): whether the pair was set and not mixed. */
DLS_API dls_status dls_world_pair(const dls_world *world, dls_material_id a, dls_material_id b,
                                  dls_pair_def *def, bool *stated, dls_error *error);

/* ---- shapes ---------------------------------------------------------------------------------------------
 */

typedef enum dls_shape_kind {
    /* planar */
    DLS_DISC = 0,   /* radius */
    DLS_HALF_PLANE, /* y ≤ 0 is solid in the shape's frame */
    DLS_CHAIN,      /* segments between consecutive points; solid on the right when walking along it */
    DLS_POLYGON,    /* convex hull of points */
    DLS_DRUM,       /* inside of a circle: solid beyond radius */
    /* spatial */
    DLS_SPHERE,          /* radius */
    DLS_HALF_SPACE,      /* z ≤ 0 is solid in the shape's frame */
    DLS_BOX,             /* size: full edge lengths */
    DLS_CAPSULE,         /* radius and length of its axis, along z */
    DLS_ELLIPSOID,       /* size: semi-axes */
    DLS_POLYHEDRON,      /* convex hull of points */
    DLS_CYLINDER,        /* radius and length along z */
    DLS_CYLINDER_INSIDE, /* solid beyond radius and beyond the ends of length along z (0: open, endless) */
    DLS_BOX_INSIDE,      /* solid outside of a box of size */
    DLS_MESH, /* triangles, obstacle only: bodies stay on the side of the counter-clockwise normals */
    DLS_SKIN, /* the surface of a solid's own mesh, whatever it is: see solid.h */
    DLS_SHAPE_KINDS
} dls_shape_kind;

DLS_API const char *dls_shape_kind_name(dls_shape_kind kind); /* "disc", "half-plane", "cylinder-inside", … */
DLS_API bool dls_shape_kind_is_planar(dls_shape_kind kind);
/* Half-planes, half-spaces, chains, drums, insides and meshes have no mass: static and driven bodies only. */
DLS_API bool dls_shape_kind_is_obstacle(dls_shape_kind kind);

/* One shape of a body; members that the kind does not use are ignored. Arrays are copied. */
typedef struct dls_shape_def {
    dls_shape_kind kind;
    dls_pose pose; /* in the body's frame */
    double radius, length, size[3];
    int point_count;
    const double *points; /* three numbers each, z = 0 in the plane */
    bool closed;          /* chain: last point joins the first */
    int triangle_count;
    const int *triangles; /* three point indices each */
    double belt[3]; /* m/s, of its surface against the shape, in the shape's frame: a conveyor. What lies
                       along a contact's normal does not count */
    dls_material_id material;
    uint32_t group, collides; /* bits: shapes collide where each one's group meets the other's mask */
    double at;  /* of a solid's shape: the place that its pose is in the frame of, see solid.h */
    bool point; /* of a disc or sphere: its radius is 0, it is a point without mass */
} dls_shape_def;

DLS_API dls_shape_def dls_default_shape_def(dls_shape_kind kind);

/* ---- bodies ---------------------------------------------------------------------------------------------
 */

typedef enum dls_motion {
    DLS_DYNAMIC = 0,
    DLS_STATIC,
    DLS_DRIVEN, /* moves as told, whatever pushes it */
    DLS_MOTIONS
} dls_motion;

DLS_API const char *dls_motion_name(dls_motion motion); /* "dynamic", "static", "driven" */

/* A freedom of a driven body: its way, its speed, or a servo; all NULL and 0: at rest. Freedoms are the
 * coordinates x, y, z of the mass centre and rotations about the world axes through it. A position is what
 * the coordinate has moved, or the angle it has turned, since birth. One axis may turn by position or
 * velocity, or all three by velocity. Functions are owned by the world from then on, also when the call
 * fails; no two places may share one. */
typedef struct dls_drive {
    dls_function *position; /* m or rad, met at the end of every step */
    dls_function *velocity; /* m/s or rad/s, taken in the middle of every step */
    /* servo (translations only): speed = gain · (wanted + force of the contacts along the axis in the same
     * step), with a gain that lets it be max_speed at most without contacts: it yields until contacts push
     * back with the wanted force */
    dls_function *force; /* N, along the axis, that the body is to press with */
    double gain;         /* m/(s N) */
    double max_speed;    /* m/s */
} dls_drive;

typedef struct dls_body_def {
    const char *name; /* copied; NULL: none */
    dls_motion motion;
    dls_pose pose;     /* of the body's frame */
    double v[3], w[3]; /* of the mass centre; angular velocity in world axes */
    int shape_count;
    const dls_shape_def *shapes; /* several make a compound: their masses add up, overlaps count twice */
    double mass; /* 0: from shapes and densities. Given alone, it scales the inertia of the shapes */
    const double *inertia; /* NULL: from shapes; else 3 × 3 about the mass centre, in the body's frame, kg m²;
                             with it mass is needed, and centre is the mass centre */
    double centre[3];      /* static and driven bodies have no mass: this is the point that they turn about */
    bool locked[6];        /* translations along x, y, z, then rotations about x, y, z of the world */
    dls_function *force[3],
        *torque[3];      /* applied at the mass centre, world axes; NULL: none; owned as above */
    dls_drive drive[6];  /* of a driven body */
    dls_function *belts; /* factor of the speeds of its shapes' belts, taken in the middle of every step;
                            NULL: 1; owned as above */
    double birth, death; /* takes part in [birth, death); infinite by default */
    const struct dls_solid_def *solid; /* NULL: rigid; else see solid.h, copied */
} dls_body_def;

DLS_API dls_body_def dls_default_body_def(void);
/* Shapes with the masses that they make are checked here; bodies take part from the next step on. */
DLS_API dls_status dls_world_add_body(dls_world *world, const dls_body_def *def, dls_body_id *id,
                                      dls_error *error);
/* Leaves at the beginning of the next step; its id is never used again. */
DLS_API dls_status dls_world_remove_body(dls_world *world, dls_body_id id, dls_error *error);

DLS_API int dls_world_body_count(const dls_world *world); /* ids given so far, removed ones included */
typedef enum dls_presence { DLS_WAITING = 0, DLS_PRESENT, DLS_GONE } dls_presence;
/* A body that there never was is gone and static, and has no name, no radius and no shapes. */
DLS_API dls_presence dls_body_presence(const dls_world *world, dls_body_id id);
/* How many bodies wait, take part or are gone, and their ids, ascending, into the caller's array. Where
 * capacity is too small nothing is written to ids, and count says how many there are. */
DLS_API int dls_world_presence_count(const dls_world *world, dls_presence presence);
DLS_API dls_status dls_world_presence_ids(const dls_world *world, dls_presence presence, int capacity,
                                          dls_body_id *ids, int *count, dls_error *error);
/* "" for none; valid as long as the world. */
DLS_API const char *dls_body_name(const dls_world *world, dls_body_id id);
DLS_API dls_body_id dls_world_find_body(const dls_world *world, const char *name); /* −1 when there is none */
DLS_API dls_motion dls_body_motion(const dls_world *world, dls_body_id id);

/* 13 numbers without gaps: an array of states is a matrix of doubles, row by row, with the columns x 0 … 2,
 * q 3 … 6, v 7 … 9 and w 10 … 12. */
typedef struct dls_body_state {
    double x[3], q[4], v[3], w[3];
} dls_body_state;

/* States, poses and masses are copies: nothing that is read here changes with the world. */
DLS_API dls_status dls_body_state_get(const dls_world *world, dls_body_id id, dls_body_state *state,
                                      dls_error *error);
/* A driven position goes on from where this puts the body. */
DLS_API dls_status dls_body_state_set(dls_world *world, dls_body_id id, const dls_body_state *state,
                                      dls_error *error);
/* The same for many bodies in one call, into or from the caller's array: of the ids given, each its row; or,
 * with ids NULL, of all bodies by id, where count must be dls_world_body_count. All ids and states are
 * checked first, and a call that fails has written and set nothing. Of an id that comes twice the last state
 * stays. */
DLS_API dls_status dls_body_states_get(const dls_world *world, int count, const dls_body_id *ids,
                                       dls_body_state *states, dls_error *error);
DLS_API dls_status dls_body_states_set(dls_world *world, int count, const dls_body_id *ids,
                                       const dls_body_state *states, dls_error *error);
/* Of the body's frame, as in its definition. */
DLS_API dls_status dls_body_pose_get(const dls_world *world, dls_body_id id, dls_pose *pose,
                                     dls_error *error);

typedef struct dls_body_mass {
    double mass;       /* infinite for static and driven bodies, and so is their inertia */
    double inertia[9]; /* about the mass centre, body axes, column-major; in the plane only inertia[8] */
    double centre[3];  /* of mass, in the body's frame */
} dls_body_mass;

DLS_API dls_status dls_body_mass_get(const dls_world *world, dls_body_id id, dls_body_mass *mass,
                                     dls_error *error);
/* Of the ball about the mass centre that holds all shapes; INFINITY without bound. */
DLS_API double dls_body_radius(const dls_world *world, dls_body_id id);
DLS_API int dls_body_shape_count(const dls_world *world, dls_body_id id);
/* A shape as it lies about the mass centre, in body axes: world = x + R(q)·pose. Points and triangles belong
 * to the world and are valid until the step in which the body leaves it; those of a polygon or polyhedron are
 * the vertices of its hull. */
DLS_API dls_status dls_body_shape(const dls_world *world, dls_body_id id, int index, dls_shape_def *def,
                                  dls_error *error);

#ifdef __cplusplus
}
#endif
#endif

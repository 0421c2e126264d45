/* Solids inside the world: what a few bodies have in addition to their rows, and the table of their kinds.
 *
 *     M q̈ = load + force(q) − D u,   K = −∂force/∂q,   q̇ = u,   M constant
 *
 * Their q and u lie in the world's own arrays, one after the other, and never move; rows of bodies come and
 * go. */
#ifndef WORLD_SOLID_SOLID_H
#define WORLD_SOLID_SOLID_H

#include "world/solid/pattern.h"
#include "world/world.h"

#include <delassus/solid.h>

typedef struct dls_solid_data dls_solid_data; /* mesh, material, rest shape: the kind's own */

enum { DLS_SPOT_FREEDOMS = 30 }; /* that one place may depend on */

/* A material place on a solid: a contact's side, a joint's frame. It moves by
 *
 *     (v, ω) = Σ_k J_k u[index_k] */
typedef struct dls_spot {
    int solid, cell;
    double at[3];         /* material coordinates, of the cell where the solid has cells; a line has one */
    dls_body_state state; /* of its frame, as the solid stands and moves */
    int count, index[DLS_SPOT_FREEDOMS];
    double J[DLS_SPOT_FREEDOMS][6]; /* velocity of the place, angular velocity */
} dls_spot;

typedef struct dls_solid_kind dls_solid_kind;

typedef struct dls_solid {
    dls_body_id id;
    int n;          /* freedoms */
    int64_t at;     /* in world->q and world->u */
    int first_spot; /* of the shapes of a line, in their order */
    double spread;  /* m/s: how much faster than its mean motion a place of it may be */
    const dls_solid_kind *kind;
    dls_solid_data *data;
    int model; /* the first solid that is made like it: data are its own, factors may be */
    dls_solid_def def;
} dls_solid;

/* Which symmetric matrix. */
typedef enum dls_solid_matrix {
    DLS_SOLID_MASS,      /* M, whatever q */
    DLS_SOLID_DAMPING,   /* D */
    DLS_SOLID_STIFFNESS, /* K, stresses that turn with q included */
    DLS_SOLID_MATERIAL   /* K without these: never indefinite */
} dls_solid_matrix;

/* What a solid is made of. Shapes are made, in the body's frame. */
typedef struct dls_solid_build {
    const dls_world *world;
    const dls_body_def *body;
    const dls_solid_def *def;
    dls_shape *shapes;
} dls_solid_build;

/* Where a contact touches a solid. */
typedef struct dls_solid_touch {
    int shape;        /* of the body */
    uint64_t feature; /* of the contact */
    int side;    /* 0 or 1: its shape, of the kind it has at rest, is the pair function's first or second */
    double p[3]; /* where the impulse acts */
} dls_solid_touch;

/* Two families. On a **line** a place is one number from 0 to 1 and shapes are rigid, each on a spot of its
 * own. Of all others places are points of the body's frame at rest, about the mass centre; shapes deform
 * with the body, and a contact makes its spots where it touches. */
struct dls_solid_kind {
    const char *name, *summary;
    bool line;
    dls_solid_def (*preset)(void);
    dls_status (*create)(const dls_solid_build *build, dls_solid_data **data, dls_error *error);
    void (*release)(dls_solid_data *data);
    /* Whether just these data would be made; NULL: never. */
    bool (*equal)(const dls_solid_data *data, const dls_solid_build *build);
    /* Shapes become those that the solid has: NULL, they are. */
    dls_status (*dress)(const dls_solid_data *data, const dls_solid_build *build, dls_error *error);
    int (*freedoms)(const dls_solid_data *data);
    double (*reach)(
        const dls_solid_data *data); /* of a line, from its mass centre, however it bends; else 0 */
    double (*damping)(const dls_solid_data *data); /* s; NULL: as the definition says */
    /* At rest, in the body's frame: mass, centre, inertia about it. */
    void (*mass)(const dls_solid_data *data, dls_body_mass *mass);
    /* The rest shape where this mean motion puts it. */
    void (*begin)(const dls_solid_data *data, const dls_body_state *mean, double *q, double *u);
    void (*mean)(const dls_solid_data *data, const double *q, const double *u, dls_body_state *mean);
    /* f += M a for an acceleration of all places alike */
    void (*load)(const dls_solid_data *data, const double *a, double *f);
    /* f −= ∂(strain energy)/∂q */
    void (*force)(const dls_solid_data *data, const double *q, double *f);
    const dls_pattern *(*pattern)(const dls_solid_data *data); /* of all matrices, made by create */
    /* Columns of R: axes that turn with the solid and from which M, D and K look the same whatever q; matrix
     * then gives them as seen from there. False, or NULL: there are no such axes. */
    bool (*fixed_axes)(const dls_solid_data *data, const double *q, double *R);
    /* A += factor · a matrix at q, the lower half in blocks of the pattern */
    void (*matrix)(const dls_solid_data *data, dls_solid_matrix which, const double *q, double factor,
                   double *A);
    /* Place, axes (columns) and rows of the spot's `at`; its state but x is found by whoever asks. */
    void (*spot)(const dls_solid_data *data, const double *q, dls_spot *spot, double *R);
    /* Places of a line, from 0 to 1, evenly, that show its shape, or of a skin; from 2 on. NULL: none. */
    int (*nodes)(const dls_solid_data *data);
    /* ---- of all but lines ---- */
    /* `at` and cell of the material place X; false where the solid has no such place. */
    bool (*locate)(const dls_solid_data *data, const double *X, dls_spot *spot);
    /* The same of the place that a contact touches, as the solid stands at q. */
    void (*touch)(const dls_solid_data *data, const double *q, const dls_solid_touch *touch, dls_spot *spot);
    /* A shape as it stands at q: `now`, a copy of the one at rest whose numbers and geometry follow, its
     * frame x, R. What of it changes lies in room, so many bytes; what does not is shared. */
    size_t (*shape_bytes)(const dls_solid_data *data, const dls_shape *rest);
    void (*deform)(const dls_solid_data *data, const double *q, const dls_body_state *mean,
                   const dls_shape *rest, dls_shape *now, double *x, double *R, void *room);
    /* Largest speed of its places against the rigid motion that mean is. */
    double (*spread)(const dls_solid_data *data, const double *q, const double *u,
                     const dls_body_state *mean);
    /* The cell that is turned inside out at q, −1: none. NULL: none ever is. */
    int (*inverted)(const dls_solid_data *data, const double *q);
    /* Nodes of its elements; place X at rest about the mass centre, and sides of the block of one. NULL: it
     * has none. */
    int (*elements)(const dls_solid_data *data);
    unsigned (*element_node)(const dls_solid_data *data, int node, double *X);
    /* Vertices of its skin, as its shape has them, and how fast; von Mises's stress there, and the principal
     * ones, descending. As many as nodes says; NULL: it has no skin. */
    void (*skin)(const dls_solid_data *data, const double *q, const double *u, double *x, double *v,
                 double *von_mises, double *principal);
    /* F of all its places and its rate, column-major; false, or NULL: its shapes do not deform by one. */
    bool (*gradient)(const dls_solid_data *data, const double *q, const double *u, double *F, double *rate);
    /* ---- of all ---- */
    double (*kinetic_energy)(const dls_solid_data *data, const double *u); /* ½ uᵀM u */
    double (*strain_energy)(const dls_solid_data *data, const double *q);
};

extern const dls_solid_kind *const dls_solid_table[DLS_SOLID_FORMS];
extern const dls_solid_kind dls_solid_kind_beam, dls_solid_kind_pseudo_rigid, dls_solid_kind_elements;

/* ---- made with a body ---- */

/* Checks and makes all that may fail, and room for it; drop undoes it. */
dls_status dls_solid_prepare(dls_world *world, const dls_body_def *def, dls_shape *shapes, dls_solid *solid,
                             dls_error *error);
void dls_solid_drop(const dls_world *world, dls_solid *solid);
/* The world takes it, at rest where the mean motion puts it. Cannot fail. */
void dls_solid_join(dls_world *world, dls_solid *solid, const dls_body_def *def, const dls_body_state *mean);
void dls_solids_release(dls_world *world);

/* A spot more, of a joint: at of a line, X in the body's frame of another. */
dls_status dls_solid_add_spot(dls_world *world, int solid, double at, const double *X, int *spot,
                              dls_error *error);

/* ---- as it stands ---- */

/* The index of a body's solid; −1 of a rigid one. */
static inline int dls_solid_of(const dls_world *world, dls_body_id id) {
    return id >= 0 ? world->entries[id].solid : -1;
}
/* A row's. */
static inline dls_solid *dls_solid_of_row(const dls_world *world, int row) {
    return &world->solids[world->entries[world->bodies[row].id].solid];
}
static inline bool dls_solid_damps(const dls_solid *solid) {
    return solid->def.damping > 0 || solid->def.mass_damping > 0;
}
/* The spot that shape i of the world's rows stands on; NULL where it is no shape of a line. */
static inline dls_spot *dls_spot_of_shape(const dls_world *world, int row, int i) {
    if (!world->bodies[row].is_solid) return NULL;
    const dls_solid *solid = dls_solid_of_row(world, row);
    return solid->kind->line ? &world->spots[solid->first_spot + i - world->bodies[row].shape_first] : NULL;
}
/* What carries shape i: its body's mean motion, or its spot. */
static inline const dls_body_state *dls_shape_carrier(const dls_world *world, int row, int i) {
    const dls_spot *spot = dls_spot_of_shape(world, row, i);
    return spot ? &spot->state : &world->states[row];
}

/* How much faster than its carrier a place of the row's shapes may be. */
static inline double dls_row_spread(const dls_world *world, int row) {
    return world->bodies[row].is_solid ? dls_solid_of_row(world, row)->spread : 0;
}

/* v, w by u of the spot's solid. */
void dls_spot_twist(const dls_spot *spot, const double *u, double *v, double *w);
/* d·(velocity of the place) + turn·(angular velocity) by the same. */
double dls_spot_speed(const dls_spot *spot, const double *d, const double *turn, const double *u);
/* Makes a spot's state and rows anew. */
void dls_spot_stand(const dls_world *world, dls_spot *spot);
/* Mean motion and spots follow q and u; of rows that take part, or of all. */
void dls_solid_stand(dls_world *world, int solid);
void dls_solids_stand(dls_world *world);
/* The rest shape where the state puts it. */
void dls_solid_begin(dls_world *world, int solid, const dls_body_state *mean);
/* q += dt u of those that take part. */
void dls_solids_fly(dls_world *world, double dt);

/* A matrix at q as n × n numbers in world axes; room: as many. */
void dls_solid_full_matrix(const dls_solid *solid, dls_solid_matrix which, const double *q, double *room,
                           double *A);

/* Fails, by name, where a solid that takes part is turned inside out. */
dls_status dls_solids_check(const dls_world *world, dls_error *error);

/* ω² of the fastest mode at rest, 1/s²; NaN where memory is out. */
double dls_solid_fastest(const dls_solid *solid);

/* ½ uᵀM u */
double dls_solid_kinetic(const dls_world *world, const dls_solid *solid);
double dls_solid_strain(const dls_world *world, const dls_solid *solid);

/* q and u of all solids as bytes; reading checks first. */
size_t dls_solids_memory_size(const dls_world *world);
void dls_solids_memory_write(const dls_world *world, void *bytes);
dls_status dls_solids_memory_check(const dls_world *world, const void *bytes, size_t size, dls_error *error);
void dls_solids_memory_use(dls_world *world, const void *bytes);

#endif

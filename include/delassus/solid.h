/* Solids: bodies that deform. A body whose definition has a solid moves by coordinates of its own, q with q̇ =
 * u and a constant mass matrix; its dls_body_state is its mean motion: mass centre, mean rotation and their
 * rates.
 *
 * A beam is a line: a place on it is a material coordinate `at`, from 0 at its first end to 1 at its last; a
 * frame goes with it, with axis x along the tangent. Shapes of a line stand in the frame of their `at`, and
 * joints hold that of theirs. A place on any other solid is a point of the body's frame at rest, with a frame
 * that was the body's; its shapes deform with it, contacts touch it wherever they do, and a joint holds the
 * place where its frame was. */
#ifndef DELASSUS_SOLID_H
#define DELASSUS_SOLID_H

#include <delassus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dls_solid_form {
    DLS_SOLID_BEAM = 0,     /* straight at rest along x of the body's frame, from its origin; in the plane */
    DLS_SOLID_PSEUDO_RIGID, /* x = x̄ + F X for all its places: 12 freedoms, (x̄, rows of F); in space */
    DLS_SOLID_ELEMENTS,     /* a mesh of finite elements, in space */
    DLS_SOLID_FORMS
} dls_solid_form;

/* Elements. Hexahedra have incompatible modes and the corotational form alone; tet4 is stiff in bending. */
typedef enum dls_solid_cell {
    DLS_SOLID_CELL_ANY = 0, /* hex8 of corotational bodies, tet10 of others */
    DLS_SOLID_TET4,
    DLS_SOLID_TET10,
    DLS_SOLID_HEX8,
    DLS_SOLID_CELLS
} dls_solid_cell;

/* Nodes and cells in the frame of the body's one shape, a skin. Nodes of cells are numbered from 0, in the
 * order of VTK; mid-side nodes of a tet10 lie on the edges 01, 12, 20, 03, 13, 23. Numbers and lines, by
 * which messages call them, may be NULL. */
typedef struct dls_solid_mesh {
    dls_solid_cell cell;
    int node_count, cell_count;
    const double *points;
    const int *cells;
    const int *node_number, *cell_number, *node_line, *cell_line;
} dls_solid_mesh;

DLS_API const char *dls_solid_form_name(dls_solid_form form); /* "beam" */
DLS_API const char *dls_solid_form_summary(dls_solid_form form);
DLS_API bool dls_solid_form_is_line(dls_solid_form form);

/* Strain energy of a beam: ∫ ½ EA (λ − 1)² + ½ EI κ² ds with its stretch λ and curvature κ, whatever its
 * turns; shear is left out. Its curve is a B-spline.
 *
 * A pseudo-rigid body is made of its shapes, of one material with a Young's modulus: mass, strain energy and
 * damping follow from these. Spheres, ellipsoids, boxes and polyhedra deform with it. */
typedef struct dls_solid_def {
    dls_solid_form form;
    bool retained;       /* pseudo-rigid: shapes keep their form, and go with place and mean rotation alone */
    double length;       /* m, at rest */
    double EA, EI;       /* N, N m² */
    double line_density; /* kg/m */
    double damping;      /* s: stress follows strain + damping · its rate; of a beam, else the material's */
    int degree;          /* of the spline, 2 to 5 */
    int elements;        /* pieces of it, from 1 on */
    int gauss;           /* points of each at which energies are summed, degree + 1 to 8 */
    /* ---- elements: density, stiffness, law and damping are those of the shape's material ---- */
    int cells[3];               /* along x, y, z of a box, sphere, ellipsoid or cylinder that they fill */
    double bend;                /* rad: x of a box goes round the y axis at the radius size_x/bend, so that an
                                   arch stands about its shape's origin; a full turn closes a ring */
    dls_solid_cell cell;        /* which */
    bool corotational;          /* small strains as seen from the mean rotation, as with the linear law */
    bool lumped;                /* a diagonal M */
    double mass_damping;        /* 1/s: D = mass_damping M + damping K */
    const dls_solid_mesh *mesh; /* of a skin; copied; NULL: cells fill the shape */
} dls_solid_def;

DLS_API dls_solid_def dls_default_solid_def(dls_solid_form form);

/* Numbers of q and of u; 0 of a rigid body and of one that there is not. */
DLS_API int dls_solid_freedoms(const dls_world *world, dls_body_id id);
/* As it was made, without its mesh. */
DLS_API dls_status dls_solid_get(const dls_world *world, dls_body_id id, dls_solid_def *def,
                                 dls_error *error);
/* q and u into or from arrays of so many numbers each; either may be NULL. */
DLS_API dls_status dls_solid_state_get(const dls_world *world, dls_body_id id, double *q, double *u,
                                       dls_error *error);
DLS_API dls_status dls_solid_state_set(dls_world *world, dls_body_id id, const double *q, const double *u,
                                       dls_error *error);
/* Where the frame of a place stands and how it moves. */
DLS_API dls_status dls_solid_place(const dls_world *world, dls_body_id id, double at, dls_body_state *state,
                                   dls_error *error);
/* The same of a solid that is no line: X is a point of the body's frame, as the solid is at rest. */
DLS_API dls_status dls_solid_point(const dls_world *world, dls_body_id id, const double *X,
                                   dls_body_state *state, dls_error *error);
/* Nodes of a body of elements, in the order in which its mesh was told; 0 of others. */
DLS_API int dls_solid_element_nodes(const dls_world *world, dls_body_id id);
/* Where a node is at rest, in the body's frame, and on which sides of the cells that fill a shape: bits 0 to
 * 5 are low and high x, y and z; none where the mesh was told. */
DLS_API dls_status dls_solid_element_node(const dls_world *world, dls_body_id id, int node, double *X,
                                          unsigned *sides, dls_error *error);
/* How many places, evenly from 0 to 1, show its shape: those that results hold. 0 of a rigid body. */
DLS_API int dls_solid_node_count(const dls_world *world, dls_body_id id);
/* The longest step, s, that explicit forces of all solids stand near their rest; INFINITY where there are
 * none whose fastest mode is known. */
DLS_API double dls_solids_stable_step(const dls_world *world);
/* What it holds: ½ uᵀM u and the energy of its strains, J. Either may be NULL. */
DLS_API dls_status dls_solid_energy(const dls_world *world, dls_body_id id, double *kinetic, double *strain,
                                    dls_error *error);

#ifdef __cplusplus
}
#endif
#endif

/* Bodies of elements: q are the places of nodes, three numbers each.
 *
 *     E(q) = Σ_cells ∫ ψ(F) dV,  F = Σ_i q_i ∇N_iᵀ                     total Lagrangian
 *     E(q) = ½ dᵀ K₀ d,  d_i = Rᵀ(q_i − c) − X_i                       corotational
 *
 * with c the mass centre and R the mean rotation, the polar factor of S = ∫ρ (x − c) Xᵀ dV = Σ_i q_i w_iᵀ. */
#ifndef WORLD_SOLID_ELEMENTS_ELEMENTS_H
#define WORLD_SOLID_ELEMENTS_ELEMENTS_H

#include "world/solid/elastic.h"
#include "world/solid/elements/basis.h"
#include "world/solid/elements/mesh.h"
#include "world/solid/pattern.h"

typedef struct dls_elements {
    dls_cell_mesh *mesh; /* X from the mass centre */
    bool corotational;
    dls_elastic law;
    double density, mass_damping;              /* D = mass_damping M + law.damping K */
    double mass, centre[3], inertia[9], reach; /* at rest; centre in the frame that the mesh was told in */
    int points;                                /* per cell */
    double *weight;                            /* dV of each point of each cell */
    double *gradient;                          /* ∇N there, of each node, 3 numbers */
    dls_pattern *pattern;                      /* nodes of a cell are coupled */
    int64_t *block; /* where those of a cell stand in it: nodes × nodes, −1 above the diagonal */
    double *M;      /* one number per block: M_ik 1 */
    double *K0;     /* corotational: as the pattern has it */
    double *share;  /* Σ_k M_ik / m, of each node: c = Σ share_i q_i */
    double *w;      /* Σ_k M_ik X_k, 3 of each node */
} dls_elements;

typedef struct dls_elements_def {
    dls_elastic law; /* linear where corotational */
    bool corotational, lumped;
    double density, mass_damping;
} dls_elements_def;

/* Takes the mesh, also where it fails. */
dls_status dls_elements_create(const dls_elements_def *def, dls_cell_mesh *mesh, dls_elements **out,
                               dls_error *error);
void dls_elements_destroy(dls_elements *e);

/* q of the cell's nodes. */
static inline void dls_elements_gather(const dls_elements *e, int cell, const double *q, double *of) {
    int nodes = dls_cell_kinds[e->mesh->form].nodes;
    const int *at = e->mesh->cells + (int64_t)nodes * cell;
    for (int i = 0; i < nodes; i++)
        for (int d = 0; d < 3; d++) of[3 * i + d] = q[3 * (int64_t)at[i] + d];
}
/* ∇N of a point of a cell, and its dV. */
static inline const double *dls_elements_gradient(const dls_elements *e, int cell, int point) {
    return e->gradient +
           3 * (int64_t)dls_cell_kinds[e->mesh->form].nodes * ((int64_t)cell * e->points + point);
}
static inline double dls_elements_weight(const dls_elements *e, int cell, int point) {
    return e->weight[(int64_t)cell * e->points + point];
}
/* F = Σ q_i g_iᵀ of count nodes, row after row. */
void dls_elements_strain(int count, const double *q, const double *g, double *F);

/* A += factor K of one cell at F: K_ab = dV Σ_jl g_a[j] (∂P/∂F)_ij,kl g_b[l], blocks of the pattern. */
void dls_elements_add_cell(const dls_elements *e, int cell, const double *K, double factor, double *A);
/* K (3 nodes)² of a cell, row after row: the law's at q, at rest with incompatible modes where q is NULL. */
void dls_elements_cell_matrix(const dls_elements *e, int cell, const double *q, bool stresses, double *K);

/* F += what the modes of a hexahedron add at a point, d: displacements of its nodes. */
void dls_elements_modes(const dls_elements *e, int cell, const double *d, int point, double *F);

/* ---- motion and energies ---- */

/* How a set of places weighted by w has turned: S = Σ q_i w_iᵀ = R U, and G = tr U − U. A rate u of q turns R
 * with ω = R G⁻¹ Σ w_i × Rᵀ u_i. */
typedef struct dls_polar {
    double R[9], inverse[9]; /* G⁻¹ */
} dls_polar;

/* False where S has no rotation: det S ≤ 0. R is 1 then. */
bool dls_polar_of(const double *S, dls_polar *polar);
/* Row k of ω in u: (v → ω) = R G⁻¹ [w]× Rᵀ, column-major. */
void dls_polar_rate(const dls_polar *polar, const double *w, double *rate);

/* Mass centre and mean rotation. */
bool dls_elements_frame(const dls_elements *e, const double *q, double *c, dls_polar *polar);
void dls_elements_begin(const dls_elements *e, const double *x, const double *R, const double *v,
                        const double *w, double *q, double *u);
/* f += M a, one acceleration for all */
void dls_elements_load(const dls_elements *e, const double *a, double *f);
/* f −= ∂E/∂q */
void dls_elements_force(const dls_elements *e, const double *q, double *f);
double dls_elements_energy(const dls_elements *e, const double *q);
double dls_elements_kinetic(const dls_elements *e, const double *u);
void dls_elements_add_mass(const dls_elements *e, double factor, double *A);
/* K of a corotational body is R K₀ Rᵀ: exact where d = 0. */
void dls_elements_add_stiffness(const dls_elements *e, const double *q, bool stresses, double factor,
                                double *A);
/* The first cell with det F ≤ 0 at a point; −1: none. */
int dls_elements_inverted(const dls_elements *e, const double *q);

/* Cauchy's stress at each node, means of the cells' own points by volume: xx, yy, zz, xy, yz, zx. */
dls_status dls_elements_stress(const dls_elements *e, const double *q, double *stress, dls_error *error);
double dls_stress_mises(const double *s);
void dls_stress_principal(const double *s, double *values); /* descending */

#endif

/* Shape functions N(ξ) of the cells and where integrals over them are summed. */
#ifndef WORLD_SOLID_ELEMENTS_BASIS_H
#define WORLD_SOLID_ELEMENTS_BASIS_H

#include "world/solid/elements/mesh.h"

enum { DLS_BASIS_POINTS = 125 };

typedef struct dls_basis_rule {
    int count;
    double xi[DLS_BASIS_POINTS][3], weight[DLS_BASIS_POINTS];
} dls_basis_rule;

/* Where strain energies are summed: 1 point of tet4, 4 of tet10, 8 of hex8. */
void dls_basis_strain_rule(dls_cell_form form, dls_basis_rule *rule);
/* Exact for N_i N_k det ∂X/∂ξ. */
void dls_basis_mass_rule(dls_cell_form form, dls_basis_rule *rule);

/* N of each node and its slopes in ξ. */
void dls_basis_at(dls_cell_form form, const double *xi, double *N, double (*slope)[3]);
/* ∂X/∂ξ at ξ, columns by ξ; returns its determinant. X: of the cell's nodes. */
double dls_basis_jacobian(dls_cell_form form, const double (*slope)[3], const double *X, double *J);
/* ∇N = slope J⁻¹ */
void dls_basis_gradients(dls_cell_form form, const double (*slope)[3], const double *J,
                         double (*gradient)[3]);
/* The least det ∂X/∂ξ where strains are summed and at nodes. */
double dls_basis_least_volume(dls_cell_form form, const double *X);
/* ξ of a node. */
const double *dls_basis_node(dls_cell_form form, int node);
/* ξ of the cell's place at x, by Newton; false where there is none near the cell. */
bool dls_basis_find(dls_cell_form form, const double *X, const double *x, double *xi);

#endif

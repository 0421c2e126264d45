/* Elastic laws of solids: energy of a deformation gradient F, first Piola–Kirchhoff stress P = ∂ψ/∂F and its
 * slope. F and P are row after row: F[3 i + J] = F_iJ.
 *
 *     linear       ψ = ½ λ tr(ε)² + μ ε:ε,       ε = ½(F + Fᵀ) − 1: small strains and small turns
 *     kirchhoff    ψ = ½ λ tr(G)² + μ G:G,       G = ½(FᵀF − 1)
 *     neo-hookean  ψ = ½ μ (tr FᵀF − 3) − μ ln J + ½ λ ln²J,   J = det F: ψ → ∞ where J → 0 */
#ifndef WORLD_SOLID_ELASTIC_H
#define WORLD_SOLID_ELASTIC_H

#include <delassus/world.h>

typedef struct dls_elastic {
    dls_elastic_law law;
    double lambda, mu; /* Lamé's, Pa */
    double damping;    /* s: stress follows strain + damping · its rate */
} dls_elastic;

/* Whether these numbers can be a material's; young 0 says that it has none. */
dls_status dls_elastic_check(const dls_material_def *material, dls_error *error);
/* λ = E ν / ((1 + ν)(1 − 2ν)), μ = E / (2 (1 + ν)) of a material that has them. */
dls_status dls_elastic_of(const dls_material_def *material, dls_elastic *elastic, dls_error *error);

/* ψ, J/m³; INFINITY where the law has no such F. */
double dls_elastic_energy(const dls_elastic *elastic, const double *F);
void dls_elastic_stress(const dls_elastic *elastic, const double *F, double *P);
/* A[9 a + b] = ∂P_a/∂F_b. Without stress: its part that turns with F left out, never indefinite. */
void dls_elastic_slope(const dls_elastic *elastic, const double *F, bool with_stress, double *A);

/* Speed of pressure waves at rest, m/s: √((λ + 2μ)/density). */
double dls_elastic_wave_speed(const dls_elastic *elastic, double density);

#endif

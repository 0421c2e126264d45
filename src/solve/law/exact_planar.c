/* The planar contact (d = 2): e is +1 or −1, and the pencil is one equation between numbers. */
#include "solve/law/exact_parts.h"

#include <float.h>

/* What prepare keeps; s₊ and s₋ are n·W d for e = ±1. */
enum { IS_REGULAR, INVERSE_NORMAL, INVERSE_DET, INVERSE_S_PLUS, INVERSE_S_MINUS };

#define LEAST_SCHUR 1e-12 /* relative to |W|; below, the sticking impulse is examined by the slow path */

EXACT_ONE_COPY int dls_exact_prepare2(const double W[4], double mu, double data[DLS_EXACT_DATA2]) {
    double size = W[0] + W[3], product = W[1] / W[0] * W[2], schur = W[3] - product;
    bool is_in_range = size > EXACT_SMALL && size < EXACT_LARGE && mu >= 0 && mu < EXACT_LARGE_FRICTION;
    bool is_regular = is_in_range && W[0] > 0 && schur > LEAST_SCHUR * size &&
                      fabs(W[1]) + fabs(W[2]) + fabs(product) < EXACT_GROWTH * size;
    data[IS_REGULAR] = is_regular;
    if (!is_regular) return 0;
    data[INVERSE_NORMAL] = 1 / W[0];
    data[INVERSE_DET] = 1 / (W[0] * schur);
    data[INVERSE_S_PLUS] = 1 / (W[0] + mu * W[2]);
    data[INVERSE_S_MINUS] = 1 / (W[0] - mu * W[2]);
    return 1;
}

/* With σ = −sign p the larger ℓ is |p| − B: if positive, that is the slip against σ where s > 0; if not,
 * sticking, because |e| = |p|/B ≤ 1. Anything else is left to the enumeration. */
EXACT_ONE_COPY dls_contact_state dls_exact_solve2_prepared(const double W[4], double mu,
                                                           const double data[DLS_EXACT_DATA2],
                                                           const double b[2], double r[2]) {
    double bn = b[0], bt = b[1], size = fabs(bn) + fabs(bt);
    if (data[IS_REGULAR] == 0 || !(size < EXACT_LARGE)) return dls_exact_solve_slowly(2, W, mu, b, r);
    if (bn >= 0) {
        r[0] = r[1] = 0;
        return DLS_OPEN;
    }
    if (size < EXACT_SMALL) return dls_exact_solve_slowly(2, W, mu, b, r);
    double p = W[0] * bt - bn * W[1], B = mu * (bt * W[2] - bn * W[3]);
    if (fabs(p) > B) {
        double rn = -bn * (p > 0 ? data[INVERSE_S_MINUS] : data[INVERSE_S_PLUS]);
        if (!(rn > 0 && rn <= DBL_MAX)) return dls_exact_solve_slowly(2, W, mu, b, r);
        r[0] = rn;
        r[1] = p > 0 ? -mu * rn : mu * rn;
        return DLS_SLIP;
    }
    double rt = -p * data[INVERSE_DET];
    double rn = -(bn + W[2] * rt) * data[INVERSE_NORMAL];
    if (!(rn > 0)) return dls_exact_solve_slowly(2, W, mu, b, r);
    r[0] = rn;
    r[1] = rt;
    return DLS_STICK;
}

dls_contact_state dls_exact_solve2(const double W[4], double mu, const double b[2], double r[2]) {
    double data[DLS_EXACT_DATA2];
    dls_exact_prepare2(W, mu, data);
    return dls_exact_solve2_prepared(W, mu, data, b, r);
}

void dls_exact_find_slips2(const dls_exact_contact *contact, dls_exact_branches *branches) {
    const double plus = 1, minus = -1;
    dls_exact_offer_slip(contact, &plus, branches);
    dls_exact_offer_slip(contact, &minus, branches);
}

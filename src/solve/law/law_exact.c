/* exact: the row over the one-contact solver of exact.h. */
#include "solve/law/exact.h"
#include "solve/law/law.h"

#include <assert.h>

static int exact_data_size(int d) { return d == 3 ? DLS_EXACT_DATA3 : d == 2 ? DLS_EXACT_DATA2 : 0; }

static void exact_prepare(const dls_law_options *options, int d, const double *W, double mu, double *data) {
    (void)options;
    if (d == 3)
        dls_exact_prepare3(W, mu, data);
    else if (d == 2)
        dls_exact_prepare2(W, mu, data);
}

static dls_contact_state exact_solve(const dls_law_options *options, int d, const double *W, double mu,
                                     const double *data, const double *b, double *r) {
    (void)options;
    assert(d >= 2 && d <= LAW_MAX && mu >= 0);
    if (d == 3) return dls_exact_solve3_prepared(W, mu, data, b, r);
    if (d == 2) return dls_exact_solve2_prepared(W, mu, data, b, r);
    return dls_exact_solve4(W, mu, b, r);
}

const dls_law dls_law_exact = {
    .name = "exact",
    .summary = "the local solution itself: take-off, stick or slip, the same from any start",
    .data_size = exact_data_size,
    .prepare = exact_prepare,
    .solve = exact_solve,
    .cone_data_size = dls_cone_newton_size,
    .prepare_cone = dls_cone_newton_prepare,
    .solve_cone = dls_exact_cone,
    .exact = true,
};

/* Options of the generalized-α scheme. */
#include <delassus/system.h>

#include <stddef.h>

dls_alpha_options dls_alpha_default_options(void) {
    return (dls_alpha_options){.dt = 1e-3,
                               .rho = 0.5,
                               .tolerance = 1e-8,
                               .tolerance_fixed = 1e-8,
                               .max_newton = 40,
                               .max_fixed = 20000,
                               .max_halvings = 6,
                               .start = DLS_START_SHIFTED};
}

#define REAL(member, low, high, unit, help)                                                                  \
    { #member, DLS_FIELD_REAL, offsetof(dls_alpha_options, member), low, high, NULL, unit, help, NULL }
#define INT(member, low, high, help)                                                                         \
    { #member, DLS_FIELD_INT, offsetof(dls_alpha_options, member), low, high, NULL, "1", help, NULL }
#define CHOICE(member, count, choices, help)                                                                 \
    { #member, DLS_FIELD_CHOICE, offsetof(dls_alpha_options, member), 0, (count)-1, choices, "1", help, NULL }

static const dls_field fields[] = {
    REAL(dt, 1e-300, 1e300, "s", "time step"),
    REAL(rho, 0, 1, "1", "spectral radius at infinite frequency: 1 keeps, 0 damps it at once"),
    CHOICE(scheme, 3, "chung-hulbert|hht|newmark", "coefficients; hht takes rho from 1/2 on, newmark none"),
    CHOICE(solver, 2, "newton|fixed-point", "newton falls back on fixed points"),
    CHOICE(residual, 2, "sets|prox", "equations of the present sets, or with the projections themselves"),
    CHOICE(open, 2, "percussion|multiplier",
           "what vanishes at open contacts: P_N and the like, or Λ_N and κ_N"),
    CHOICE(start, 2, "plain|shifted", "bars of the first step: the values, or where the scheme has them"),
    CHOICE(slip, 3, "switched|end|split",
           "percussion of a sliding law: along its last direction, split, or what fits how it turns"),
    CHOICE(jacobian, 2, "chain|differences",
           "slopes in q and u by the chain rule, or differences in the unknowns"),
    REAL(r, 0, 1e300, "kg", "of the prox equations; 0: from the contact's own masses"),
    REAL(tolerance, 1e-300, 1e300, "1", "largest entry of the residual"),
    REAL(tolerance_fixed, 1e-300, 1e300, "1", "largest change in a fixed-point iteration"),
    {"scaled", DLS_FIELD_BOOL, offsetof(dls_alpha_options, scaled), 0, 1, NULL, "1",
     "tolerances are shares of what v_ref does to masses in a step, whatever the units", NULL},
    INT(max_newton, 1, 100000, "updates before another way is tried"),
    INT(max_fixed, 1, 100000000, "fixed-point iterations"),
    INT(max_halvings, 0, 30, "how often a step without a solution is cut in half"),
    REAL(v_ref, 0, 1e300, "m/s", "reference of the certificate; 0: free acceleration of the gaps times dt"),
};

const dls_field *dls_alpha_fields(int *count) {
    *count = (int)(sizeof fields / sizeof *fields);
    return fields;
}

/* The option table of the local laws, once, for their own struct and for every struct that holds it. */
#ifndef SOLVE_LAW_FIELDS_H
#define SOLVE_LAW_FIELDS_H

#include <delassus/law.h>

/* member: the path to the dls_law_options in type with its dot, or nothing where type is dls_law_options. */
#define DLS_LAW_FIELDS(type, member)                                                                         \
    {"rho-scale",                                                                                            \
     DLS_FIELD_REAL,                                                                                         \
     offsetof(type, member rho_scale),                                                                       \
     1e-6,                                                                                                   \
     1e6,                                                                                                    \
     NULL,                                                                                                   \
     "1",                                                                                                    \
     "multiplies the descent parameters that the block gives"},                                              \
        {"rho",                                                                                              \
         DLS_FIELD_REAL,                                                                                     \
         offsetof(type, member rho),                                                                         \
         0,                                                                                                  \
         1e300,                                                                                              \
         NULL,                                                                                               \
         "kg",                                                                                               \
         "fixed descent parameter of sbp, sal, ebp, eal; 0: from the block"},                                \
        {"gamma-n",                                                                                          \
         DLS_FIELD_REAL,                                                                                     \
         offsetof(type, member gamma_n),                                                                     \
         0,                                                                                                  \
         1e300,                                                                                              \
         NULL,                                                                                               \
         "kg",                                                                                               \
         "fixed normal parameter of epdas, ipdas; 0: from the block"},                                       \
        {"gamma-t",                                                                                          \
         DLS_FIELD_REAL,                                                                                     \
         offsetof(type, member gamma_t),                                                                     \
         0,                                                                                                  \
         1e300,                                                                                              \
         NULL,                                                                                               \
         "kg",                                                                                               \
         "fixed tangential parameter of epdas, ipdas; 0: from the block"},                                   \
        {"local-tol",                                                                                        \
         DLS_FIELD_REAL,                                                                                     \
         offsetof(type, member local_tolerance),                                                             \
         0,                                                                                                  \
         1,                                                                                                  \
         NULL,                                                                                               \
         "1",                                                                                                \
         "ebp, eal: stop on |Z|/ρ relative to |b|"},                                                         \
        {"local-iter",                                                                                       \
         DLS_FIELD_INT,                                                                                      \
         offsetof(type, member local_iterations),                                                            \
         1,                                                                                                  \
         1e6,                                                                                                \
         NULL,                                                                                               \
         "1",                                                                                                \
         "ebp, eal: most Newton iterations in a visit; 1 with ebp is IBP"},                                  \
        {"eal-radius",                                                                                       \
         DLS_FIELD_CHOICE,                                                                                   \
         offsetof(type, member eal_radius),                                                                  \
         0,                                                                                                  \
         0,                                                                                                  \
         "tau|r",                                                                                            \
         "1",                                                                                                \
         "friction radius of eal: μτ_n, or μr_n as printed"},                                                \
        {"pdas-compare",                                                                                     \
         DLS_FIELD_CHOICE,                                                                                   \
         offsetof(type, member pdas_compare),                                                                \
         0,                                                                                                  \
         0,                                                                                                  \
         "new|old",                                                                                          \
         "1",                                                                                                \
         "epdas, ipdas: normal impulse in the friction test"},                                               \
        {"pdas-slip", DLS_FIELD_CHOICE,         offsetof(type, member pdas_slip), 0, 0, "direct|newton",     \
         "1",         "epdas, ipdas: slip step"},                                                            \
        {"pdas-iter", DLS_FIELD_INT, offsetof(type, member pdas_iterations), 1, 1000,                        \
         NULL,        "1",           "epdas, ipdas: steps in a visit"},                                      \
    {                                                                                                        \
        "safeguard", DLS_FIELD_BOOL, offsetof(type, member safeguard), 0, 0, NULL, "1",                      \
            "fall back to a safer law where a step makes no sense"                                           \
    }

#endif

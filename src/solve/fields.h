/* Option tables in short form: of the laws and of the stop test, once, for every struct that holds them. */
#ifndef SOLVE_FIELDS_H
#define SOLVE_FIELDS_H

#include <delassus/solve.h>

/* A field named like its member; path leads from type to the struct that holds the member, with its dot. */
#define DLS_REAL(type, path, member, low, high, unit, help)                                                  \
    { #member, DLS_FIELD_REAL, offsetof(type, path member), low, high, NULL, unit, help, NULL }
#define DLS_INT(type, path, member, low, high, help)                                                         \
    { #member, DLS_FIELD_INT, offsetof(type, path member), low, high, NULL, "1", help, NULL }
#define DLS_BOOL(type, path, member, help)                                                                   \
    { #member, DLS_FIELD_BOOL, offsetof(type, path member), 0, 1, NULL, "1", help, NULL }
#define DLS_CHOICE(type, path, member, count, choices, help)                                                 \
    { #member, DLS_FIELD_CHOICE, offsetof(type, path member), 0, (count)-1, choices, "1", help, NULL }

#define DLS_LAW_FIELDS(type, path)                                                                           \
    DLS_REAL(type, path, rho_scale, 1e-6, 1e6, "1",                                                          \
             "multiplies the descent parameters that the block itself gives"),                               \
        DLS_REAL(type, path, rho, 0, 1e100, "kg",                                                            \
                 "fixed descent parameter of sbp, sal, ebp, eal; 0: 1/λmax(W_cc)"),                          \
        DLS_REAL(type, path, gamma_n, 0, 1e100, "kg", "fixed normal parameter of epdas, ipdas; 0: 1/W_nn"),  \
        DLS_REAL(type, path, gamma_t, 0, 1e100, "kg",                                                        \
                 "fixed tangential parameter of epdas, ipdas; 0: 1/λmax(W_tt)"),                             \
        DLS_REAL(type, path, local_tolerance, 1e-16, 1, "1",                                                 \
                 "ebp, eal and repeated pdas steps: stop on |Z| against |r| + ρ|b|"),                        \
        DLS_INT(type, path, local_iterations, 1, 1000,                                                       \
                "ebp, eal: Newton steps per visit; 1 with ebp is the ibp of paper 002"),                     \
        DLS_CHOICE(type, path, eal_radius, 2, "tau|r",                                                       \
                   "friction radius of eal: μτ_n (Alart, Curnier) or μr_n (as printed)"),                    \
        DLS_CHOICE(type, path, pdas_compare, 2, "new|old",                                                   \
                   "normal impulse in the stick test of pdas: new or, as printed, old"),                     \
        DLS_CHOICE(type, path, pdas_slip, 2, "direct|newton",                                                \
                   "slip step of pdas: along the trial direction, or Newton in it too"),                     \
        DLS_INT(type, path, pdas_iterations, 1, 1000, "epdas, ipdas: steps per visit"),                      \
        DLS_BOOL(                                                                                            \
            type, path, safeguard,                                                                           \
            "ebp, eal: restart where Newton cycles; pdas: ipdas, eal or sal where a step makes no sense")

#define DLS_STOP_FIELDS(type)                                                                                \
    DLS_CHOICE(type, stop., measure, 14,                                                                     \
               "residual|max_error|residual_active|residual_full|natural_map|fclib_merit|siconos_error|"     \
               "eps_glob|merit_g|apgd_residual|complementarity|penetration|cone_violation|increment",        \
               "what is compared with the tolerance"),                                                       \
        DLS_REAL(type, stop., tolerance, 0, 1e300, "1", "of the stop measure, in its unit"),                 \
        DLS_INT(type, stop., max_iterations, 0, 2147483647, "most iterations"),                              \
        DLS_INT(type, stop., min_iterations, 0, 2147483647,                                                  \
                "least sweeps of nlgs and auto, even from a start that is good enough"),                     \
        DLS_REAL(type, stop., time_limit, 0, 1e9, "s", "most wall time; 0 for none"),                        \
        DLS_INT(type, stop., check_interval, 0, 2147483647,                                                  \
                "iterations between true measures; 0: when a free estimate asks for one"),                   \
        DLS_INT(type, stop., threads, 1, 1024, "results have the same bits for any number"),                 \
        DLS_CHOICE(type, stop., purpose, 3, "auto|problem|step",                                             \
                   "of nlgs and auto: a problem alone or a time step; auto: a step in simulations")

#endif

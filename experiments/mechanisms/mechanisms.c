/* Mechanisms with closed forms or references that have converged: joints of every use, alone and with
 * contacts, in every scheme. No paper: the bounds are ours. */
#include "experiments/mechanisms/mechanisms.h"

static bool (*const cases[])(experiment_run *run) = {
    show_pendulum,   show_double_pendulum, show_drift,   show_four_bar, show_slider_crank, show_universal,
    show_gears,      show_shaft,           show_disc,    show_bicycle,  show_superball,    show_clearance,
    show_woodpecker, show_cart_pole,       show_capstan, show_peg,      show_catenary,     show_bridge,
    show_heavy_bob,  show_growth,          show_arms,    show_nets,     show_ragdolls,
};

static bool run_mechanisms(experiment_run *run) {
    run->claims.method = METHOD_OURS; /* of no paper */
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        if (!cases[k](run)) return false;
    return true;
}

const experiment experiment_mechanisms = {
    .name = "mechanisms",
    .title = "joints: mechanisms against closed forms, chains, what they cost",
    .has_reduced = true,
    .has_full = true,
    .run = run_mechanisms,
};

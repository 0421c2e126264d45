/* Mechanisms with closed forms or references that have converged: joints of every use, alone and with
 * contacts, in every scheme. No paper: the bounds are ours. */
#include "experiments/mechanisms/mechanisms.h"

#include "cli/support/interrupt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mechanism {
    const char *name;
    bool (*show)(experiment_run *run);
} mechanism;

static const mechanism mechanisms[] = {
    {"pendulum", show_pendulum},
    {"double-pendulum", show_double_pendulum},
    {"drift", show_drift},
    {"four-bar", show_four_bar},
    {"slider-crank", show_slider_crank},
    {"universal", show_universal},
    {"gears", show_gears},
    {"shaft", show_shaft},
    {"disc", show_disc},
    {"bicycle", show_bicycle},
    {"superball", show_superball},
    {"clearance", show_clearance},
    {"woodpecker", show_woodpecker},
    {"cart-pole", show_cart_pole},
    {"capstan", show_capstan},
    {"peg", show_peg},
    {"catenary", show_catenary},
    {"bridge", show_bridge},
    {"heavy-bob", show_heavy_bob},
    {"growth", show_growth},
    {"arms", show_arms},
    {"nets", show_nets},
};

static bool run_mechanisms(experiment_run *run) {
    const char *only = getenv("DLS_MECHANISM");
    for (size_t k = 0; k < sizeof mechanisms / sizeof *mechanisms; k++)
        if ((!only || !strcmp(only, mechanisms[k].name)) && !mechanisms[k].show(run)) return false;
    return !interrupt_seen();
}

const experiment experiment_mechanisms = {
    .name = "mechanisms",
    .title = "joints: mechanisms against closed forms, chains, what they cost",
    .has_reduced = true,
    .has_full = true,
    .run = run_mechanisms,
};

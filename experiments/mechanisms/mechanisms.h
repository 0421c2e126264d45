/* The cases of the experiment: each states its claims, and is false after a line on stderr or an interrupt.
 */
#ifndef EXPERIMENTS_MECHANISMS_MECHANISMS_H
#define EXPERIMENTS_MECHANISMS_MECHANISMS_H

#include "experiments/mechanisms/rig.h"

bool show_pendulum(experiment_run *run);
bool show_double_pendulum(experiment_run *run);
bool show_drift(experiment_run *run);
bool show_four_bar(experiment_run *run);
bool show_slider_crank(experiment_run *run);
bool show_clearance(experiment_run *run);
bool show_universal(experiment_run *run);
bool show_gears(experiment_run *run);
bool show_shaft(experiment_run *run);
bool show_woodpecker(experiment_run *run);
bool show_disc(experiment_run *run);
bool show_bicycle(experiment_run *run);
bool show_superball(experiment_run *run);
bool show_cart_pole(experiment_run *run);
bool show_capstan(experiment_run *run);
bool show_peg(experiment_run *run);
bool show_catenary(experiment_run *run);
bool show_bridge(experiment_run *run);
bool show_heavy_bob(experiment_run *run);
bool show_growth(experiment_run *run);
bool show_arms(experiment_run *run);
bool show_nets(experiment_run *run);
bool show_ragdolls(experiment_run *run);

#endif

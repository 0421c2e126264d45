/* Paper 002, section 6.4: the drum, and beds of it that differ in how full it is. */
#ifndef EXPERIMENTS_ABIDE_DRUM_H
#define EXPERIMENTS_ABIDE_DRUM_H

#include "experiments/abide/crowd.h"

extern const crowd_def drum_def;
extern const double drum_filling;   /* the scene's own share of solid area */
extern const double drum_repose;    /* 26°, which the paper quotes */
extern const double drum_tolerance; /* of claims on it */

/* Mean angle of the surface over the second half of a run. */
double drum_angle(const case_history *h);

/* The default solver's angle over fillings and seeds: claims, a table and a figure. */
bool drum_run_fillings(experiment_run *run);

#endif

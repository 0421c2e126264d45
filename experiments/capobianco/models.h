/* The six systems of paper 004, section 10, by callbacks, and one on which directions of slip turn or
 * reverse. */
#ifndef EXPERIMENTS_CAPOBIANCO_MODELS_H
#define EXPERIMENTS_CAPOBIANCO_MODELS_H

#include <delassus/system.h>

enum { BENCHMARK_COORDINATES = 12, BENCHMARK_CONTACTS = 2, BENCHMARK_CONSTRAINTS = 3 };

/* Shape functions N, N′, N″ of the hopper's beam at its Gauss points, their weights in ξ, and EA and EI. */
enum { BEAM_POINTS = 10, BEAM_CONTROLS = 4 };

typedef struct beam_table {
    double weight[BEAM_POINTS], shape[BEAM_POINTS][3][BEAM_CONTROLS];
    double axial, bending;
} beam_table;

/* A system, where it starts, and the parameters of the paper's footnotes. */
typedef struct benchmark {
    dls_model model;
    dls_model_contact contacts[BENCHMARK_CONTACTS];
    dls_model_friction laws[BENCHMARK_CONTACTS];
    double q[BENCHMARK_COORDINATES], u[BENCHMARK_COORDINATES];
    beam_table beam;
    double end; /* s */
    dls_alpha_options options;
} benchmark;

/* What all of them share: no slip-direction variant, the plain start, a law per contact. */
void benchmark_begin(benchmark *b, int coordinates, int velocities, int contacts, int friction_rows);
/* Footnotes of section 10. */
void benchmark_parameters(benchmark *b, double r, double dt, double rho, double tolerance, double end);

/* A benchmark points into itself: fill it where it stays. */
void benchmark_bouncing_ball(benchmark *b, double spin, double e_n); /* 10.1 */
void benchmark_corner(benchmark *b);                                 /* 10.2 */
void benchmark_cylinder(benchmark *b);                               /* 10.3 */
void benchmark_painleve(benchmark *b);                               /* 10.4 */
void benchmark_hopper(benchmark *b);                                 /* 10.5 */
void benchmark_tippe_top(benchmark *b);                              /* 10.6 */
/* A block on a plate that shakes along x: slip turns where the block moves across, and reverses where not. */
void benchmark_shaken_block(benchmark *b, double across);

/* Kinetic energy and m g y of the ball of 10.1 to 10.3. */
double ball_energy(const double *q, const double *u);
/* Of the top: between the vertical and its axis. */
double tippe_top_angle(const double *q);
double tippe_top_energy(const double *q, const double *u);
/* Kinetic, strain and potential energy of the hopper. */
double hopper_energy(const benchmark *b, double t, const double *q, const double *u);
/* Its vertical momentum, which gravity and percussions of the foot change and nothing else: N s, and its
 * mass. */
double hopper_momentum(const benchmark *b, double t, const double *u);
double hopper_mass_of_all(void);
/* Kinetic and potential energy of Painlevé's rod. */
double rod_energy(const double *q, const double *u);

#endif

/* Rigid bodies in space that touch at given points: problems whose solutions are known from mechanics. */
#ifndef DELASSUS_TESTS_SUPPORT_SCENE_H
#define DELASSUS_TESTS_SUPPORT_SCENE_H

#include <delassus/problem.h>

typedef struct scene scene;

scene *scene_create(int bodies, int contacts); /* room for so many */
void scene_free(scene *s);

/* Returns the body's number. inertia: about each of the three axes. velocity: without contacts. */
int scene_body(scene *s, const double position[3], double mass, double inertia, const double velocity[3]);
/* normal points from body a (−1: the ground) to body b, of unit length. */
void scene_contact(scene *s, int a, int b, const double point[3], const double normal[3], double mu);
/* The problem, matrix-free or stored, never NULL. */
dls_problem *scene_problem(const scene *s, bool matrix_free);

#endif

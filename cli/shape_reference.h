/* The reference page of shapes and of how their pairs are collided. */
#ifndef DELASSUS_CLI_SHAPE_REFERENCE_H
#define DELASSUS_CLI_SHAPE_REFERENCE_H

/* Prints docs/shapes.md from the tables of kinds and pairs. */
void print_shape_reference(void);

#endif

/* mpirun and its like start as many programs as there are ranks; one without MPI would run the scene as
 * often. */
#ifndef CLI_MPI_LAUNCHER_H
#define CLI_MPI_LAUNCHER_H

/* Where such a launcher started several of this program: becomes delassus-mpi, which stands beside it.
 * Returns 0 where none did, and EXIT_BAD_INPUT, with a message from the first, where there is no
 * delassus-mpi. */
int launcher_hand_over(char **argv);

#endif

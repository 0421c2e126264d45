/* What a main of the program calls. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <delassus/ranks.h>

/* Ranks that share what is run, before program_run; NULL: no others. */
void program_set_ranks(const dls_ranks *ranks);
const dls_ranks *program_ranks(void);

/* A command by its words; returns the exit code. */
int program_run(int argc, char **argv);

#endif

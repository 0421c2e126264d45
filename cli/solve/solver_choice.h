/* A solver as the user names it, NAME[:LAW][+key=value…], with its options set by its own field table. */
#ifndef CLI_SOLVE_SOLVER_CHOICE_H
#define CLI_SOLVE_SOLVER_CHOICE_H

#include <delassus/solve.h>

#include <stdbool.h>

typedef struct solver_choice {
    const dls_solver *solver;
    char label[96]; /* as the user wrote it */
    union {
        dls_stop_options stop; /* the head of every solver's options */
        max_align_t align;
        char bytes[DLS_MAX_OPTIONS_SIZE];
    } options;
} solver_choice;

/* All that can be wrong is said in one line on stderr, with the nearest known name; then false. */
bool solver_choice_parse(solver_choice *choice, const char *text);
bool solver_choice_set_law(solver_choice *choice, const char *name);
bool solver_choice_set(solver_choice *choice, const char *key, const char *value);
bool solver_choice_assign(solver_choice *choice, const char *key_is_value); /* "key=value" */

/* The law that the options name, "" where the solver has none. */
const char *solver_choice_law(const solver_choice *choice);

#endif

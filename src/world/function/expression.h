#ifndef WORLD_FUNCTION_EXPRESSION_H
#define WORLD_FUNCTION_EXPRESSION_H

#include "world/function/operation.h"

#include <delassus/world.h>

/* A text may have so many characters, and parentheses, calls, choices and exponents so many levels. */
enum { DLS_EXPRESSION_LENGTH = 4096, DLS_EXPRESSION_LEVELS = 64 };

typedef struct dls_instruction {
    dls_operation operation;
    double number; /* of DLS_OP_NUMBER */
} dls_instruction;

/* Arguments before operations: numbers and the time go onto a stack, operations take from it and put back. */
typedef struct dls_expression {
    int count;
    dls_instruction *program;
} dls_expression;

/* Names beside t, pi and e, which are letters, digits and _; they win over pi and e, the last of equal ones
 * over the others. */
typedef struct dls_constants {
    int count;
    const char *const *names;
    const double *values;
} dls_constants;

/* Messages have the column, from 1, but not the text. To be released also after a failure. */
dls_status dls_expression_compile(const char *text, const dls_constants *constants,
                                  dls_expression *expression, dls_error *error);
void dls_expression_release(dls_expression *expression);
double dls_expression_value(const dls_expression *expression, double t);
dls_jet dls_expression_jet(const dls_expression *expression, double t);

/* As dls_function_expression, for callers that quote the text themselves: messages leave it out, and
 * constants are taken as they are. */
dls_status dls_function_compile(const char *text, const dls_constants *constants, dls_function **function,
                                dls_error *error);

#endif

#ifndef WORLD_FUNCTION_OPERATION_H
#define WORLD_FUNCTION_OPERATION_H

#include <delassus/base.h>

/* What an expression is made of. Operations take their arguments from the top of a stack. */
typedef enum dls_operation {
    DLS_OP_NUMBER,
    DLS_OP_TIME,
    DLS_OP_NEGATE,
    DLS_OP_ADD,
    DLS_OP_SUBTRACT,
    DLS_OP_MULTIPLY,
    DLS_OP_DIVIDE,
    DLS_OP_POWER,
    DLS_OP_LESS,
    DLS_OP_LESS_EQUAL,
    DLS_OP_GREATER,
    DLS_OP_GREATER_EQUAL,
    DLS_OP_EQUAL,
    DLS_OP_UNEQUAL,
    DLS_OP_AND,
    DLS_OP_OR,
    DLS_OP_CHOOSE, /* c ? a : b */
    DLS_OP_MIN,
    DLS_OP_MAX,
    DLS_OP_ATAN2,
    DLS_OP_SIN,
    DLS_OP_COS,
    DLS_OP_TAN,
    DLS_OP_ASIN,
    DLS_OP_ACOS,
    DLS_OP_ATAN,
    DLS_OP_SINH,
    DLS_OP_COSH,
    DLS_OP_TANH,
    DLS_OP_ASINH,
    DLS_OP_ACOSH,
    DLS_OP_ATANH,
    DLS_OP_EXP,
    DLS_OP_LN,
    DLS_OP_LOG2,
    DLS_OP_LOG10,
    DLS_OP_SQRT,
    DLS_OP_ABS,
    DLS_OP_SIGN,
    DLS_OP_RINT
} dls_operation;

/* A value with its first and second derivative in t. */
typedef struct dls_jet {
    double v, d, dd;
    bool still; /* constant about this time: d = dd = 0 also where slopes are infinite */
} dls_jet;

int dls_operation_arity(dls_operation operation); /* 0 for a number and the time */
/* Of the arguments x[0 .. arity − 1]. */
double dls_operation_value(dls_operation operation, const double *x);
dls_jet dls_operation_jet(dls_operation operation, const dls_jet *x);

#endif

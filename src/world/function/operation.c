/* The operations of expressions: values, and first and second derivatives in t.
 *
 * For f of one argument u(t): (f ∘ u)' = f' u', (f ∘ u)'' = f'' u'² + f' u''. At a kink of abs, min and max
 * the derivatives are those from the right, found from the first of value, d and dd that tells two sides
 * apart; what jumps (sign, rint, comparisons) has none but zero, and a choice has those of what it chose. */
#include "world/function/operation.h"

#include <math.h>

typedef struct operation_row {
    int arity;
    double (*value)(const double *x);
    void (*slopes)(double u, double *slope); /* f'(u), f''(u) of a smooth function of one argument */
    dls_jet (*jet)(const dls_jet *x);        /* of all else; the value is filled in by the caller */
} operation_row;

/* ---- values ---- */

static double value_negate(const double *x) { return -x[0]; }
static double value_add(const double *x) { return x[0] + x[1]; }
static double value_subtract(const double *x) { return x[0] - x[1]; }
static double value_multiply(const double *x) { return x[0] * x[1]; }
static double value_divide(const double *x) { return x[0] / x[1]; }
static double value_power(const double *x) { return pow(x[0], x[1]); }
static double value_less(const double *x) { return x[0] < x[1]; }
static double value_less_equal(const double *x) { return x[0] <= x[1]; }
static double value_greater(const double *x) { return x[0] > x[1]; }
static double value_greater_equal(const double *x) { return x[0] >= x[1]; }
static double value_equal(const double *x) { return x[0] == x[1]; }
static double value_unequal(const double *x) { return x[0] != x[1]; }
static double value_and(const double *x) { return x[0] != 0 && x[1] != 0; }
static double value_or(const double *x) { return x[0] != 0 || x[1] != 0; }
static double value_choose(const double *x) { return x[0] != 0 ? x[1] : x[2]; }
static double value_min(const double *x) { return x[1] < x[0] ? x[1] : x[0]; }
static double value_max(const double *x) { return x[0] < x[1] ? x[1] : x[0]; }
static double value_atan2(const double *x) { return atan2(x[0], x[1]); }
static double value_sin(const double *x) { return sin(x[0]); }
static double value_cos(const double *x) { return cos(x[0]); }
static double value_tan(const double *x) { return tan(x[0]); }
static double value_asin(const double *x) { return asin(x[0]); }
static double value_acos(const double *x) { return acos(x[0]); }
static double value_atan(const double *x) { return atan(x[0]); }
static double value_sinh(const double *x) { return sinh(x[0]); }
static double value_cosh(const double *x) { return cosh(x[0]); }
static double value_tanh(const double *x) { return tanh(x[0]); }
static double value_asinh(const double *x) { return asinh(x[0]); }
static double value_acosh(const double *x) { return acosh(x[0]); }
static double value_atanh(const double *x) { return atanh(x[0]); }
static double value_exp(const double *x) { return exp(x[0]); }
static double value_ln(const double *x) { return log(x[0]); }
static double value_log2(const double *x) { return log2(x[0]); }
static double value_log10(const double *x) { return log10(x[0]); }
static double value_sqrt(const double *x) { return sqrt(x[0]); }
static double value_abs(const double *x) { return fabs(x[0]); }
static double value_sign(const double *x) { return (x[0] > 0) - (x[0] < 0); }
static double value_rint(const double *x) { return floor(x[0] + 0.5); } /* halves go up */

/* ---- slopes of functions of one argument ---- */

static void set(double *slope, double first, double second) { slope[0] = first, slope[1] = second; }

static void slopes_negate(double u, double *slope) {
    (void)u;
    set(slope, -1, 0);
}
static void slopes_sin(double u, double *slope) { set(slope, cos(u), -sin(u)); }
static void slopes_cos(double u, double *slope) { set(slope, -sin(u), -cos(u)); }
static void slopes_tan(double u, double *slope) {
    double v = tan(u), first = 1 + v * v;
    set(slope, first, 2 * v * first);
}
static void slopes_asin(double u, double *slope) {
    double rest = (1 - u) * (1 + u), first = 1 / sqrt(rest);
    set(slope, first, u * first / rest);
}
static void slopes_acos(double u, double *slope) {
    slopes_asin(u, slope);
    set(slope, -slope[0], -slope[1]);
}
static void slopes_atan(double u, double *slope) {
    double first = 1 / (1 + u * u);
    set(slope, first, -2 * u * first * first);
}
static void slopes_sinh(double u, double *slope) { set(slope, cosh(u), sinh(u)); }
static void slopes_cosh(double u, double *slope) { set(slope, sinh(u), cosh(u)); }
static void slopes_tanh(double u, double *slope) {
    double first = 1 / (cosh(u) * cosh(u));
    set(slope, first, -2 * tanh(u) * first);
}
static void slopes_asinh(double u, double *slope) {
    double root = hypot(1, u);
    set(slope, 1 / root, -(u / root) / root / root);
}
static void slopes_acosh(double u, double *slope) {
    double root = sqrt(u - 1) * sqrt(u + 1);
    set(slope, 1 / root, -(u / root) / root / root);
}
static void slopes_atanh(double u, double *slope) {
    double first = 1 / ((1 - u) * (1 + u));
    set(slope, first, 2 * u * first * first);
}
static void slopes_exp(double u, double *slope) { set(slope, exp(u), exp(u)); }
static void slopes_ln(double u, double *slope) { set(slope, 1 / u, -1 / u / u); }
static void slopes_log2(double u, double *slope) { set(slope, M_LOG2E / u, -M_LOG2E / u / u); }
static void slopes_log10(double u, double *slope) { set(slope, M_LOG10E / u, -M_LOG10E / u / u); }
static void slopes_sqrt(double u, double *slope) {
    double first = 0.5 / sqrt(u);
    set(slope, first, -first / (2 * u));
}

static dls_jet chain(const dls_jet *u, const double *slope) {
    return (dls_jet){.d = slope[0] * u->d, .dd = slope[1] * u->d * u->d + slope[0] * u->dd};
}

/* ---- derivatives of all else ---- */

static dls_jet jet_add(const dls_jet *x) { return (dls_jet){.d = x[0].d + x[1].d, .dd = x[0].dd + x[1].dd}; }
static dls_jet jet_subtract(const dls_jet *x) {
    return (dls_jet){.d = x[0].d - x[1].d, .dd = x[0].dd - x[1].dd};
}

static bool is_nothing(const dls_jet *x) { return x->still && x->v == 0; }

static dls_jet jet_multiply(const dls_jet *x) {
    const dls_jet *a = &x[0], *b = &x[1];
    return (dls_jet){.d = a->d * b->v + a->v * b->d,
                     .dd = a->dd * b->v + 2 * a->d * b->d + a->v * b->dd,
                     .still = is_nothing(a) || is_nothing(b)};
}

/* From q b = a: q' b + q b' = a', q'' b + 2 q' b' + q b'' = a''. */
static dls_jet jet_divide(const dls_jet *x) {
    const dls_jet *a = &x[0], *b = &x[1];
    double q = a->v / b->v, d = (a->d - q * b->d) / b->v;
    return (dls_jet){.d = d, .dd = (a->dd - 2 * d * b->d - q * b->dd) / b->v, .still = is_nothing(a)};
}

/* u^c with a constant c as a function of u; else f = exp(L) with L = w ln u: f' = f L', f'' = f (L'' + L'²).
 */
static dls_jet jet_power(const dls_jet *x) {
    const dls_jet *u = &x[0], *w = &x[1];
    if (w->still) {
        double c = w->v, c2 = c * (c - 1);
        double slope[2] = {c == 0 ? 0 : c * pow(u->v, c - 1), c2 == 0 ? 0 : c2 * pow(u->v, c - 2)};
        dls_jet y = chain(u, slope);
        y.still = c == 0;
        return y;
    }
    if (is_nothing(u) && w->v > 0) return (dls_jet){.still = true};
    double f = pow(u->v, w->v), ln = log(u->v), rate = u->d / u->v;
    double d = w->d * ln + w->v * rate;
    double dd = w->dd * ln + 2 * w->d * rate + w->v * (u->dd / u->v - rate * rate);
    return (dls_jet){.d = f * d, .dd = f * (dd + d * d)};
}

/* With r² = x² + y² and m = x y' − y x': (atan2(y, x))' = m/r². */
static dls_jet jet_atan2(const dls_jet *arguments) {
    const dls_jet *y = &arguments[0], *x = &arguments[1];
    double r = hypot(x->v, y->v), c = x->v / r, s = y->v / r;
    double d = (c * y->d - s * x->d) / r;
    return (dls_jet){.d = d, .dd = (c * y->dd - s * x->dd - 2 * d * (c * x->d + s * y->d)) / r};
}

/* Whether a lies below b just after t. */
static bool is_below(const dls_jet *a, const dls_jet *b) {
    if (a->v != b->v) return a->v < b->v;
    return a->d != b->d ? a->d < b->d : a->dd < b->dd;
}

static dls_jet jet_min(const dls_jet *x) { return is_below(&x[1], &x[0]) ? x[1] : x[0]; }
static dls_jet jet_max(const dls_jet *x) { return is_below(&x[0], &x[1]) ? x[1] : x[0]; }
static dls_jet jet_abs(const dls_jet *x) {
    double s = is_below(x, &(dls_jet){0}) ? -1 : 1;
    return (dls_jet){.d = s * x->d, .dd = s * x->dd};
}
static dls_jet jet_choose(const dls_jet *x) { return x[0].v != 0 ? x[1] : x[2]; }
static dls_jet jet_of_steps(const dls_jet *x) {
    (void)x;
    return (dls_jet){.still = true};
}

/* ---- the table ---- */

static const operation_row rows[] = {
    [DLS_OP_NUMBER] = {0, NULL, NULL, NULL},
    [DLS_OP_TIME] = {0, NULL, NULL, NULL},
    [DLS_OP_NEGATE] = {1, value_negate, slopes_negate, NULL},
    [DLS_OP_ADD] = {2, value_add, NULL, jet_add},
    [DLS_OP_SUBTRACT] = {2, value_subtract, NULL, jet_subtract},
    [DLS_OP_MULTIPLY] = {2, value_multiply, NULL, jet_multiply},
    [DLS_OP_DIVIDE] = {2, value_divide, NULL, jet_divide},
    [DLS_OP_POWER] = {2, value_power, NULL, jet_power},
    [DLS_OP_LESS] = {2, value_less, NULL, jet_of_steps},
    [DLS_OP_LESS_EQUAL] = {2, value_less_equal, NULL, jet_of_steps},
    [DLS_OP_GREATER] = {2, value_greater, NULL, jet_of_steps},
    [DLS_OP_GREATER_EQUAL] = {2, value_greater_equal, NULL, jet_of_steps},
    [DLS_OP_EQUAL] = {2, value_equal, NULL, jet_of_steps},
    [DLS_OP_UNEQUAL] = {2, value_unequal, NULL, jet_of_steps},
    [DLS_OP_AND] = {2, value_and, NULL, jet_of_steps},
    [DLS_OP_OR] = {2, value_or, NULL, jet_of_steps},
    [DLS_OP_CHOOSE] = {3, value_choose, NULL, jet_choose},
    [DLS_OP_MIN] = {2, value_min, NULL, jet_min},
    [DLS_OP_MAX] = {2, value_max, NULL, jet_max},
    [DLS_OP_ATAN2] = {2, value_atan2, NULL, jet_atan2},
    [DLS_OP_SIN] = {1, value_sin, slopes_sin, NULL},
    [DLS_OP_COS] = {1, value_cos, slopes_cos, NULL},
    [DLS_OP_TAN] = {1, value_tan, slopes_tan, NULL},
    [DLS_OP_ASIN] = {1, value_asin, slopes_asin, NULL},
    [DLS_OP_ACOS] = {1, value_acos, slopes_acos, NULL},
    [DLS_OP_ATAN] = {1, value_atan, slopes_atan, NULL},
    [DLS_OP_SINH] = {1, value_sinh, slopes_sinh, NULL},
    [DLS_OP_COSH] = {1, value_cosh, slopes_cosh, NULL},
    [DLS_OP_TANH] = {1, value_tanh, slopes_tanh, NULL},
    [DLS_OP_ASINH] = {1, value_asinh, slopes_asinh, NULL},
    [DLS_OP_ACOSH] = {1, value_acosh, slopes_acosh, NULL},
    [DLS_OP_ATANH] = {1, value_atanh, slopes_atanh, NULL},
    [DLS_OP_EXP] = {1, value_exp, slopes_exp, NULL},
    [DLS_OP_LN] = {1, value_ln, slopes_ln, NULL},
    [DLS_OP_LOG2] = {1, value_log2, slopes_log2, NULL},
    [DLS_OP_LOG10] = {1, value_log10, slopes_log10, NULL},
    [DLS_OP_SQRT] = {1, value_sqrt, slopes_sqrt, NULL},
    [DLS_OP_ABS] = {1, value_abs, NULL, jet_abs},
    [DLS_OP_SIGN] = {1, value_sign, NULL, jet_of_steps},
    [DLS_OP_RINT] = {1, value_rint, NULL, jet_of_steps},
};

int dls_operation_arity(dls_operation operation) { return rows[operation].arity; }

double dls_operation_value(dls_operation operation, const double *x) { return rows[operation].value(x); }

dls_jet dls_operation_jet(dls_operation operation, const dls_jet *x) {
    const operation_row *row = &rows[operation];
    double values[3], slope[2];
    bool still = true;
    for (int k = 0; k < row->arity; k++) values[k] = x[k].v, still = still && x[k].still;
    dls_jet y = {0};
    if (still) {
        y.still = true;
    } else if (row->slopes) {
        row->slopes(x->v, slope);
        y = chain(x, slope);
    } else {
        y = row->jet(x);
    }
    y.v = row->value(values);
    return y;
}

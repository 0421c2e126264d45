/* What several runs tell: observed orders, errors by Richardson, intervals by Student and Welch. */
#include <delassus/analysis.h>

#include <math.h>

/* ---- orders ---- */

/* Δ₁ = C h^p (1 − f^−p), Δ₂ = Δ₁ f^−p, so p = log(Δ₁/Δ₂)/log f, and the error of the finest is Δ₂/(f^p − 1).
 */
dls_refinement dls_refinement_observe(double factor, int count, const double *changes) {
    static const double least = 0.5, most = 2, play = 0.25;
    dls_refinement o = {(double)NAN, factor > 1 && count >= 2, (double)NAN};
    double low = (double)INFINITY, high = -low, first_order = 0;
    for (int k = 0; k + 1 < count && factor > 1; k++) {
        o.order = changes[k] > 0 && changes[k + 1] > 0 ? log(changes[k] / changes[k + 1]) / log(factor)
                                                       : (double)NAN;
        low = fmin(low, o.order), high = fmax(high, o.order);
        o.steady = o.steady && o.order >= least && o.order <= most + play;
    }
    if (!(o.order >= least)) {
        o.steady = false;
        return o;
    }
    o.steady = o.steady && high - low <= play;
    for (int k = 0; k < count; k++)
        first_order = fmax(first_order, changes[k] * pow(factor, k + 1 - count) / (factor - 1));
    o.error = o.steady ? changes[count - 1] / (pow(factor, fmin(o.order, most)) - 1) : first_order;
    return o;
}

/* ---- Student's distribution ---- */

/* The continued fraction of the incomplete beta function I_x(a, b), by Lentz. */
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m <= 300; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step = 1;
        for (int half = 0; half < 2; half++) {
            double term = half ? odd : even;
            d = 1 + term * d, c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d), c = fabs(c) < tiny ? tiny : c;
            step = c * d;
            value *= step;
        }
        if (fabs(step - 1) < 1e-15) break;
    }
    return value;
}

static double beta_share(double a, double b, double x) {
    if (x <= 0 || x >= 1) return x >= 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(|T| > t) = I_x(ν/2, 1/2) with x = ν/(ν + t²): falls with t, so bisection in log t finds the quantile. */
double dls_student_quantile(double freedoms, double confidence) {
    if (!(freedoms >= 1 && confidence > 0 && confidence < 1)) return (double)NAN;
    double low = -40, high = 40;
    for (int i = 0; i < 200 && high - low > 1e-15; i++) {
        double middle = (low + high) / 2, t = exp(middle), x = freedoms / (freedoms + t * t);
        if (beta_share(freedoms / 2, 0.5, x) > 1 - confidence)
            low = middle;
        else
            high = middle;
    }
    return exp((low + high) / 2);
}

/* ---- intervals ---- */

static const double confidence = 0.95;

/* mean ± t s/√n */
dls_interval dls_interval_of(int count, const double *values) {
    dls_interval i = {.count = count, .freedoms = count - 1};
    double squares = 0;
    for (int k = 0; k < count; k++) i.mean += values[k] / count;
    for (int k = 0; k < count; k++) squares += (values[k] - i.mean) * (values[k] - i.mean);
    if (count < 1) i.mean = (double)NAN;
    i.deviation = count > 1 ? sqrt(squares / (count - 1)) : (double)NAN;
    i.half = count > 1 ? dls_student_quantile(i.freedoms, confidence) * i.deviation / sqrt(count)
                       : (double)INFINITY;
    return i;
}

/* s² = s_a²/n_a + s_b²/n_b with ν = s⁴/Σ (s_i²/n_i)²/(n_i − 1) */
dls_interval dls_interval_difference(const dls_interval *a, const dls_interval *b) {
    dls_interval d = {.count = a->count < b->count ? a->count : b->count, .mean = a->mean - b->mean};
    double one = a->deviation * a->deviation / a->count, other = b->deviation * b->deviation / b->count;
    d.freedoms = a->count + b->count - 2;
    if (d.count < 2) {
        d.deviation = (double)NAN, d.half = (double)INFINITY;
        return d;
    }
    if (one + other > 0)
        d.freedoms =
            (one + other) * (one + other) / (one * one / (a->count - 1) + other * other / (b->count - 1));
    d.deviation = sqrt((one + other) * d.count);
    d.half = dls_student_quantile(fmax(d.freedoms, 1), confidence) * sqrt(one + other);
    return d;
}

dls_decision dls_interval_decide(const dls_interval *interval, double expected, double margin) {
    double distance = fabs(interval->mean - expected);
    if (distance + interval->half <= margin) return DLS_WITHIN;
    return distance - interval->half > margin ? DLS_BEYOND : DLS_UNDECIDED;
}

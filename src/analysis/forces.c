/* How normal forces are distributed. */
#include "analysis/analysis.h"
#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Largest likelihood of P(f) = β exp(−β (f − 1)) over the n values above 1: β = 1/mean(f − 1), ± β/√n. */
void dls_tail_fit(int count, double *f, double *beta, double *beta_error, double *distance) {
    *beta = *beta_error = *distance = NAN;
    if (count > 0) qsort(f, (size_t)count, sizeof *f, ascending);
    int first = 0;
    while (first < count && f[first] <= 1) first++;
    int n = count - first;
    double sum = 0;
    for (int k = first; k < count; k++) sum += f[k] - 1;
    if (n < 10 || !(sum > 0)) return;
    *beta = n / sum;
    *beta_error = *beta / sqrt(n);
    *distance = 0;
    for (int k = 0; k < n; k++) {
        double expected = 1 - exp(-*beta * (f[first + k] - 1));
        *distance = fmax(*distance, fmax(fabs(expected - (double)k / n), fabs(expected - (k + 1.0) / n)));
    }
}

typedef struct force_list {
    int64_t count, room;
    double *f; /* over the frame's mean */
    double sum;
} force_list;

static dls_status force_frame(dls_analysis_work *work, void *user, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    force_list *list = user;
    if (!DLS_RESERVE(list->f, list->count, list->room, list->count + s->contact_count))
        return dls_fail_memory(error);
    int64_t first = list->count;
    double sum = 0;
    for (int k = 0; k < s->contact_count; k++) {
        const dls_contact_force *c = &s->contacts[k];
        if (!c->loaded || !(c->normal_force > 0)) continue;
        list->f[list->count++] = c->normal_force;
        sum += c->normal_force;
    }
    double mean = sum / (double)(list->count - first);
    for (int64_t k = first; k < list->count; k++) list->f[k] /= mean;
    list->sum += sum;
    if (list->count > first) dls_analysis_add_row(work->out, 1, (const double[]){s->time, mean});
    return DLS_OK;
}

static const char *const force_columns[] = {"f", "low", "high", "density", "count", "tail"};
static const char *const force_units[] = {"1", "1", "1", "1", "1", "1"};
static const char *const mean_columns[] = {"time", "mean"};
static const char *const mean_units[] = {"s", "N"};

/* Freedman's and Diaconis' width 2 IQR n^(−1/3), between 0.2 and 0.5. */
static double class_width(const force_list *list) {
    int64_t n = list->count;
    double width = 2 * (list->f[3 * n / 4] - list->f[n / 4]) / cbrt((double)n);
    return fmin(fmax(width, 0.2), 0.5);
}

enum { LEAST_IN_CLASS = 10 };

/* Classes span as many widths as it takes to hold ten forces. Above the mean a class stands where the fit
 * equals its own mean over the class, so that wide classes of an exponential lie on its line; below, in its
 * middle. */
static double class_place(double low, double high, double beta) {
    if (!(low >= 1)) return 0.5 * (low + high);
    double mean = (exp(-beta * (low - 1)) - exp(-beta * (high - 1))) / (beta * (high - low));
    return isfinite(mean) && mean > 0 ? 1 - log(mean) / beta : 0.5 * (low + high);
}

static void add_classes(dls_analysis *out, const force_list *list, double beta) {
    int64_t n = list->count, next = 0, above = 0;
    double width = class_width(list), low = 0;
    for (int64_t k = 0; k < n; k++) above += list->f[k] > 1;
    while (next < n) {
        int64_t first = next, least = n - next < 2 * LEAST_IN_CLASS ? n - next : LEAST_IN_CLASS;
        double high = width * (floor(list->f[first + least - 1] / width) + 1);
        while (next < n && list->f[next] < high) next++;
        double share = (double)(next - first) / (double)n, place = class_place(low, high, beta), tail = NAN;
        if (low >= 1) tail = (double)above / (double)n * beta * exp(-beta * (place - 1));
        const double row[] = {place, low, high, share / (high - low), (double)(next - first), tail};
        dls_analysis_add_row(out, 0, row);
        low = high;
    }
}

static void add_facts(dls_analysis *out, const force_list *list, double beta, double error, double distance) {
    int64_t above = 0;
    for (int64_t k = 0; k < list->count; k++) above += list->f[k] > 1;
    dls_analysis_add_mean(out, "mean force", 1, 1, "mean normal force of loaded contacts");
    dls_analysis_add_fact(out, "tail exponent", "1", beta, error,
                          "β of P(f) ∝ exp(−β f) for forces above the mean");
    dls_analysis_add_fact(out, "tail distance", "1", distance, NAN,
                          "largest distance between the distribution function and the fit");
    dls_analysis_add_fact(out, "share above mean", "1", (double)above / (double)list->count, NAN,
                          "of the loaded contacts");
    dls_analysis_add_fact(out, "largest", "1", list->f[list->count - 1], NAN,
                          "force over the mean of its frame");
    dls_analysis_add_fact(out, "forces", "1", (double)list->count, NAN, "number of forces, over all frames");
}

dls_status dls_measure_forces(dls_analysis_work *work, dls_error *error) {
    force_list list = {0};
    double beta, beta_error, distance;
    dls_analysis_add_table(work->out, "forces", 6, force_columns, force_units);
    dls_analysis_add_table(work->out, "force_mean", 2, mean_columns, mean_units);
    dls_status status = dls_analysis_frames(work, true, force_frame, &list, error);
    if (!status && (list.count == 0 || list.count > INT32_MAX))
        status = dls_fail(error, DLS_ERROR_INPUT, "forces: %lld loaded contacts in the chosen frames",
                          (long long)list.count);
    if (!status) {
        dls_tail_fit((int)list.count, list.f, &beta, &beta_error, &distance);
        add_classes(work->out, &list, beta);
        add_facts(work->out, &list, beta, beta_error, distance);
    }
    dls_free(list.f);
    return status;
}

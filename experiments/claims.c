/* Claims: stated by experiments, judged here and nowhere else. */
#include "cli/support/report.h"
#include "experiments/reproduce.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- judging ------------------------------------------------------------------------------------------- */

claim_verdict claim_judge(const claim *c) {
    bool holds = false, misses = true;
    double low = c->ours - c->half, high = c->ours + c->half;
    switch (c->relation) {
    case CLAIM_NOT_COMPARABLE:
        return VERDICT_NOT_COMPARABLE;
    case CLAIM_EQUAL:
        holds = fmax(fabs(low - c->paper), fabs(high - c->paper)) <= c->tolerance;
        misses = low - c->paper > c->tolerance || c->paper - high > c->tolerance;
        break;
    case CLAIM_DECADES:
        holds = fabs(log10(c->ours / c->paper)) <= c->tolerance;
        break;
    case CLAIM_AT_MOST:
        holds = high <= c->paper;
        misses = low > c->paper;
        break;
    case CLAIM_AT_LEAST:
        holds = low >= c->paper;
        misses = high < c->paper;
        break;
    case CLAIM_ORDER: /* ours counts the pairs that stand the other way round */
        holds = c->ours == 0;
        break;
    }
    if (holds && isfinite(c->ours)) return VERDICT_PASS;
    return c->seeds > 0 && !misses && isfinite(c->ours) ? VERDICT_UNDECIDED : VERDICT_FAIL;
}

const char *verdict_name(claim_verdict verdict) {
    static const char *const names[] = {"pass", "fail", "undecided", "not comparable"};
    return names[verdict];
}

const char *claim_relation_name(claim_relation relation) {
    static const char *const names[] = {"equal", "decades", "at most", "at least", "order", "not comparable"};
    return names[relation];
}

const char *claim_source_name(claim_source source) { return source == CLAIM_PRINTED ? "printed" : "derived"; }

claim_group claim_group_of(const claim *c) {
    if (c->method == METHOD_OURS) return GROUP_OURS;
    return c->source == CLAIM_PRINTED ? GROUP_PRINTED : GROUP_DERIVED;
}

verdict_counts claim_count(const claim_list *list) {
    verdict_counts counts = {.of = {0}};
    for (int i = 0; i < list->count; i++) {
        claim_verdict verdict = claim_judge(&list->items[i]);
        claim_group group = claim_group_of(&list->items[i]);
        counts.of[verdict]++;
        counts.passed[group] += verdict == VERDICT_PASS;
        counts.failed[group] += verdict == VERDICT_FAIL;
    }
    return counts;
}

claim_verdict verdict_overall(verdict_counts counts) {
    return counts.of[VERDICT_FAIL] == 0 && counts.of[VERDICT_PASS] > 0 ? VERDICT_PASS : VERDICT_FAIL;
}

/* ---- stating ------------------------------------------------------------------------------------------- */

static void append(claim_list *list, const claim *stated) {
    list->items = report_grow(list->items, (size_t)list->count, sizeof *list->items);
    list->items[list->count] = *stated;
    list->items[list->count++].method = list->method;
}

void claim_equal(claim_list *list, claim_source source, const char *unit, double paper, double ours,
                 double tolerance, const char *format, ...) {
    claim c = {.relation = CLAIM_EQUAL,
               .source = source,
               .unit = unit,
               .paper = paper,
               .ours = ours,
               .tolerance = tolerance};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c.text, sizeof c.text, format, arguments);
    va_end(arguments);
    append(list, &c);
}

void claim_bound(claim_list *list, claim_source source, const char *unit, claim_relation relation,
                 double bound, double ours, const char *format, ...) {
    claim c = {.relation = relation, .source = source, .unit = unit, .paper = bound, .ours = ours};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c.text, sizeof c.text, format, arguments);
    va_end(arguments);
    append(list, &c);
}

void claim_decades(claim_list *list, claim_source source, const char *unit, double paper, double ours,
                   double decades, const char *format, ...) {
    claim c = {.relation = CLAIM_DECADES,
               .source = source,
               .unit = unit,
               .paper = paper,
               .ours = ours,
               .tolerance = decades};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c.text, sizeof c.text, format, arguments);
    va_end(arguments);
    append(list, &c);
}

void claim_seeds(claim_list *list, claim_source source, const char *unit, claim_relation relation,
                 double paper, double tolerance, const dls_interval *ours, const char *format, ...) {
    claim c = {.relation = relation,
               .source = source,
               .unit = unit,
               .paper = paper,
               .ours = ours->mean,
               .tolerance = tolerance,
               .seeds = ours->count,
               .half = ours->half};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c.text, sizeof c.text, format, arguments);
    va_end(arguments);
    append(list, &c);
}

/* ---- orders -------------------------------------------------------------------------------------------- */

static double side_of(const contender *c, bool ours) { return ours ? c->ours : c->paper; }

/* Pairs that the paper puts in an order and we do not; all of them where a number is missing. */
static int count_reversed(const contender *c, int count) {
    int reversed = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) reversed += c[i].paper < c[k].paper && !(c[i].ours < c[k].ours);
    return reversed;
}

/* "a < b = c, 3.6 ×": the last over the first. */
static void write_order(char *text, size_t size, const contender *contenders, int count, bool ours) {
    enum { MOST = 16 };
    const contender *sorted[MOST] = {NULL};
    int n = count < MOST ? count : MOST;
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && side_of(sorted[at - 1], ours) > side_of(&contenders[i], ours); at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = &contenders[i];
    }
    size_t used = 0;
    for (int i = 0; i < n && used < size; i++) {
        const char *sign = i == 0                                                    ? ""
                           : side_of(sorted[i], ours) > side_of(sorted[i - 1], ours) ? " < "
                                                                                     : " = ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", sign, sorted[i]->name);
    }
    double ratio = n ? side_of(sorted[n - 1], ours) / side_of(sorted[0], ours) : 1;
    if (used < size && isfinite(ratio)) snprintf(text + used, size - used, ", %.3g ×", ratio);
}

static void show_contenders(claim_list *list, const char *text, const char *unit, const char *reason,
                            const contender *contenders, int count) {
    for (int i = 0; i < count; i++) {
        claim one = {.relation = CLAIM_NOT_COMPARABLE,
                     .unit = unit,
                     .paper = contenders[i].paper,
                     .ours = contenders[i].ours,
                     .reason = reason};
        snprintf(one.text, sizeof one.text, "%s: %s", text, contenders[i].name);
        append(list, &one);
    }
}

void claim_order(claim_list *list, const char *text, const char *unit, const char *reason,
                 const contender *contenders, int count) {
    show_contenders(list, text, unit, reason, contenders, count);
    claim order = {.relation = CLAIM_ORDER, .unit = unit, .ours = count_reversed(contenders, count)};
    write_order(order.paper_order, sizeof order.paper_order, contenders, count, false);
    write_order(order.our_order, sizeof order.our_order, contenders, count, true);
    snprintf(order.text, sizeof order.text, "%s: order", text);
    append(list, &order);
}

/* The one that the paper has next above another; NULL where none is. */
static const contender *next_above(const contender *c, const contender *contenders, int count) {
    const contender *next = NULL;
    for (int i = 0; i < count; i++)
        if (contenders[i].paper > c->paper && (!next || contenders[i].paper < next->paper))
            next = &contenders[i];
    return next;
}

void claim_order_seeds(claim_list *list, const char *text, const char *unit, const char *reason,
                       const contender *contenders, int count, const double *const *each, int seeds) {
    show_contenders(list, text, unit, reason, contenders, count);
    for (int i = 0; i < count; i++) {
        const contender *low = &contenders[i], *high = next_above(low, contenders, count);
        double ratio[EXPERIMENT_MOST_SEEDS];
        if (!high) continue;
        for (int k = 0; k < seeds; k++) ratio[k] = log10(each[high - contenders][k] / each[i][k]);
        dls_interval ours = dls_interval_of(seeds, ratio);
        claim_seeds(list, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 0, 0, &ours, "%s: log₁₀ of %s over %s", text,
                    high->name, low->name);
    }
}

void claim_list_free(claim_list *list) {
    free(list->items);
    *list = (claim_list){0};
}

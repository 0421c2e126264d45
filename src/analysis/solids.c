/* Solids over time: the largest stresses at the nodes of their skins. */
#include "analysis/analysis.h"
#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const char *const columns[] = {"time", "body", "von_mises", "x", "y", "z", "tension", "pressure"};
static const char *const units[] = {"s", "1", "Pa", "m", "m", "m", "Pa", "Pa"};

/* Largest of each over all frames. */
typedef struct solids_peak {
    double value, when;
    int body;
} solids_peak;

typedef struct solids_work {
    int64_t room;
    dls_node_record *nodes;
    solids_peak von_mises, tension, pressure;
} solids_work;

static void raise(solids_peak *peak, double value, double t, int body) {
    if (value > peak->value || peak->body < 0) *peak = (solids_peak){value, t, body};
}

/* Nodes first to end are those of one body: tension is the largest principal stress, pressure the least,
 * negated. */
static void add_body(dls_analysis_work *work, solids_work *s, int first, int end) {
    const dls_node_record *n = s->nodes, *worst = &n[first];
    double tension = n[first].principal[0], pressure = -n[first].principal[2], t = work->snapshot.time;
    int body = n[first].body;
    for (int k = first; k < end; k++) {
        if (n[k].von_mises > worst->von_mises) worst = &n[k];
        tension = fmax(tension, n[k].principal[0]);
        pressure = fmax(pressure, -n[k].principal[2]);
    }
    const double row[] = {t,           body,        worst->von_mises, worst->x[0],
                          worst->x[1], worst->x[2], tension,          pressure};
    dls_analysis_add_row(work->out, 0, row);
    raise(&s->von_mises, worst->von_mises, t, body);
    raise(&s->tension, tension, t, body);
    raise(&s->pressure, pressure, t, body);
}

static dls_status solids_frame(dls_analysis_work *work, void *user, dls_error *error) {
    solids_work *s = user;
    int frame = work->snapshot.frame, count = dls_results_frame_node_count(work->results, frame);
    if (!DLS_RESERVE(s->nodes, 0, s->room, count)) return dls_fail_memory(error);
    dls_status status = dls_results_frame_nodes(work->results, frame, s->nodes, error);
    for (int first = 0, end; first < count && !status; first = end) {
        for (end = first + 1; end < count && s->nodes[end].body == s->nodes[first].body;) end++;
        add_body(work, s, first, end);
    }
    return status;
}

static void add_peak(dls_analysis_work *work, const char *what, const solids_peak *peak,
                     const char *meaning) {
    char name[64];
    dls_analysis_add_fact(work->out, what, "Pa", peak->value, NAN, meaning);
    snprintf(name, sizeof name, "%s time", what);
    dls_analysis_add_fact(work->out, name, "s", peak->when, NAN, "when it was");
    snprintf(name, sizeof name, "%s body", what);
    dls_analysis_add_fact(work->out, name, "1", peak->body, NAN, "whose it was");
}

dls_status dls_measure_solids(dls_analysis_work *work, dls_error *error) {
    static const solids_peak none = {NAN, NAN, -1};
    solids_work s = {.von_mises = none, .tension = none, .pressure = none};
    dls_analysis_add_table(work->out, "solids", COUNT(columns), columns, units);
    dls_status status = dls_analysis_frames(work, false, solids_frame, &s, error);
    if (!status && s.von_mises.body < 0)
        status = dls_fail(error, DLS_ERROR_INPUT, "solids: none with nodes in the chosen frames");
    if (!status) {
        add_peak(work, "largest von Mises", &s.von_mises, "von Mises's stress at a node of a skin");
        add_peak(work, "largest tension", &s.tension, "largest principal stress");
        add_peak(work, "largest pressure", &s.pressure, "least principal stress, negated");
    }
    dls_free(s.nodes);
    return status;
}

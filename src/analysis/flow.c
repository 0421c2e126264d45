/* Mass flow through a plane: bodies whose centres pass it between frames. */
#include "analysis/analysis.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

enum { TIME, FORWARD, BACKWARD, NET, FORWARD_COUNT, BACKWARD_COUNT, RATE, COUNT_RATE };
enum { BORN = COUNT_RATE + 1, DIED, AHEAD, BORN_AHEAD, DIED_AHEAD, FLOW_COLUMNS };

static const char *const flow_columns[FLOW_COLUMNS] = {
    "time",       "forward_mass", "backward_mass", "net_mass",   "forward_count",   "backward_count", "rate",
    "count_rate", "born_mass",    "dead_mass",     "ahead_mass", "born_ahead_mass", "dead_ahead_mass"};
static const char *const flow_units[FLOW_COLUMNS] = {"s",   "kg", "kg", "kg", "1",  "1", "kg/s",
                                                     "1/s", "kg", "kg", "kg", "kg", "kg"};

typedef struct flow_work {
    double normal[3], offset; /* the plane: normal · x = offset */
    double spacing;           /* of its images along the normal; 0: it has none */
    bool begun;
    double *x; /* centres and presence in the frame before */
    bool *present;
    double sums[FLOW_COLUMNS]; /* a row: cumulated since the first frame */
    dls_analysis_region region;
} flow_work;

/* How many images of the plane lie behind a body, counted from the plane itself; 0 or 1 where it has none. */
static double passed(const flow_work *f, const double *x) {
    double s = vec_dot(f->normal, x) - f->offset;
    return f->spacing > 0 ? floor(s / f->spacing) : s >= 0;
}

/* More passages between two frames than a region can be asked about. */
static const double most_passages = 1000;

/* Of a straight way from x0 to x1, the passages whose points lie in the region; without one all of them. */
static dls_status count_passages(const flow_work *f, bool has_region, int id, const double *x0,
                                 const double *x1, double *count, dls_error *error) {
    double from = passed(f, x0), to = passed(f, x1), s0 = vec_dot(f->normal, x0) - f->offset,
           way = vec_dot(f->normal, x1) - f->offset - s0, step = to < from ? -1 : 1;
    *count = to - from;
    if (*count == 0 || !has_region) return DLS_OK;
    if (!(fabs(*count) <= most_passages))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "flow: body %d passes the plane %.3g times between two frames, expected at most %g: "
                        "leave the region out",
                        id, fabs(*count), most_passages);
    int all = (int)fabs(*count);
    *count = 0;
    for (int k = 0; k < all; k++) {
        double image = step > 0 ? from + 1 + k : from - k, p[3];
        double at = (f->spacing > 0 ? image * f->spacing : 0) - s0, share = at / way;
        for (int i = 0; i < 3; i++) p[i] = x0[i] + share * (x1[i] - x0[i]);
        if (dls_analysis_region_has(&f->region, p)) *count += step;
    }
    return DLS_OK;
}

/* Between the frames: who passed, who was born, who died. */
static dls_status add_passages(const dls_analysis_work *work, flow_work *f, double *sums, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    for (int id = 0; id < s->body_count; id++) {
        double count, mass = s->mass[id], *x0 = f->x + 3 * (size_t)id;
        const double *x1 = s->states[id].x;
        if (s->motion[id] != DLS_DYNAMIC || (!f->present[id] && !s->present[id])) continue;
        if (f->present[id] && s->present[id]) {
            dls_status status = count_passages(f, work->options.has_region, id, x0, x1, &count, error);
            if (status) return status;
            sums[count > 0 ? FORWARD : BACKWARD] += fabs(count) * mass;
            sums[count > 0 ? FORWARD_COUNT : BACKWARD_COUNT] += fabs(count);
        } else {
            bool born = s->present[id], ahead = passed(f, born ? x1 : x0) > 0;
            sums[born ? BORN : DIED] += mass;
            if (ahead) sums[born ? BORN_AHEAD : DIED_AHEAD] += mass;
        }
    }
    return DLS_OK;
}

static dls_status flow_frame(dls_analysis_work *work, void *user, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    flow_work *f = user;
    double row[FLOW_COLUMNS];
    dls_status status = DLS_OK;
    memcpy(row, f->sums, sizeof row);
    if (f->begun) status = add_passages(work, f, row, error);
    if (status) return status;
    row[TIME] = s->time;
    row[NET] = row[FORWARD] - row[BACKWARD];
    double count = row[FORWARD_COUNT] - row[BACKWARD_COUNT], h = s->time - f->sums[TIME];
    row[RATE] = f->begun && h > 0 ? (row[NET] - f->sums[NET]) / h : (double)NAN;
    row[COUNT_RATE] =
        f->begun && h > 0 ? (count - f->sums[FORWARD_COUNT] + f->sums[BACKWARD_COUNT]) / h : (double)NAN;
    row[AHEAD] = 0;
    for (int id = 0; id < s->body_count; id++) {
        f->present[id] = s->present[id];
        vec_copy(f->x + 3 * (size_t)id, s->states[id].x);
        if (dls_snapshot_moves(s, id) && passed(f, s->states[id].x) > 0) row[AHEAD] += s->mass[id];
    }
    memcpy(f->sums, row, sizeof row);
    f->begun = true;
    for (int k = AHEAD; k <= DIED_AHEAD && f->spacing > 0; k++) row[k] = NAN; /* in a period nothing is */
    dls_analysis_add_row(work->out, 0, row);
    return DLS_OK;
}

/* A plane across a period has an image in every cell, a period apart; one at another angle to it would cut
 * the cell many times. */
static dls_status take_plane(const dls_analysis_work *work, flow_work *f, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    const double *n = work->options.plane_normal;
    vec_copy(f->normal, n);
    if (s->dimension == 2) f->normal[2] = 0;
    double most = fmax(fmax(fabs(f->normal[0]), fabs(f->normal[1])), fabs(f->normal[2]));
    for (int k = 0; k < 3; k++)
        f->normal[k] /= most; /* squares of what is left neither vanish nor overflow */
    vec_scale(f->normal, 1 / vec_norm(f->normal), f->normal);
    f->offset = vec_dot(f->normal, work->options.plane_point);
    for (int k = 0; k < s->dimension; k++) {
        if (!(s->period_size[k] > 0) || f->normal[k] == 0) continue;
        if (fabs(f->normal[k]) < 1)
            return dls_fail(error, DLS_ERROR_INPUT,
                            "flow: the plane's normal (%g, %g, %g) leans against the periodic axis %c, "
                            "expected along it or level to it",
                            n[0], n[1], n[2], "xyz"[k]);
        f->spacing = s->period_size[k];
    }
    return DLS_OK;
}

/* ---- rates ---- */

enum { PARTS = 10 };

/* Mean rate of a cumulated column between two rows, forward less backward. */
static double rate_between(const dls_analysis_rows *t, int64_t first, int64_t last, int forward,
                           int backward) {
    const double *a = t->values + first * t->column_count, *b = t->values + last * t->column_count;
    return (b[forward] - a[forward] - b[backward] + a[backward]) / (b[TIME] - a[TIME]);
}

/* u² = Σ T_b (q_b − q)² / (T (B − 1)) over B parts of the frames with rates q_b and durations T_b, which adds
 * up to T: standard error of q = Σ T_b q_b / T, for parts that know nothing of each other. */
static double rate_error(const dls_analysis_rows *t, int64_t first, int64_t last, int forward, int backward) {
    int64_t parts = last - first < PARTS ? last - first : PARTS;
    double mean = rate_between(t, first, last, forward, backward), sum = 0,
           whole = t->values[last * t->column_count] - t->values[first * t->column_count];
    if (parts < 2) return (double)NAN;
    for (int64_t k = 0; k < parts; k++) {
        int64_t a = first + (last - first) * k / parts, b = first + (last - first) * (k + 1) / parts;
        double off = rate_between(t, a, b, forward, backward) - mean;
        sum += (t->values[b * t->column_count] - t->values[a * t->column_count]) * off * off;
    }
    return sqrt(sum / whole / (double)(parts - 1));
}

static void add_rates(dls_analysis *out) {
    const dls_analysis_rows *t = &out->tables[0];
    int64_t last = t->count - 1, middle = last / 2;
    const double *end = t->values + last * t->column_count;
    dls_analysis_add_fact(out, "mass rate", "kg/s", rate_between(t, 0, last, FORWARD, BACKWARD),
                          rate_error(t, 0, last, FORWARD, BACKWARD),
                          "net along the normal; standard error from ten parts of the time");
    dls_analysis_add_fact(out, "number rate", "1/s", rate_between(t, 0, last, FORWARD_COUNT, BACKWARD_COUNT),
                          rate_error(t, 0, last, FORWARD_COUNT, BACKWARD_COUNT), "the same of bodies");
    double change = (double)NAN, spread = (double)NAN;
    if (middle > 0) {
        change =
            rate_between(t, middle, last, FORWARD, BACKWARD) - rate_between(t, 0, middle, FORWARD, BACKWARD);
        spread = hypot(rate_error(t, middle, last, FORWARD, BACKWARD),
                       rate_error(t, 0, middle, FORWARD, BACKWARD));
    }
    dls_analysis_add_fact(out, "drift", "kg/s", change, spread,
                          "mass rate of the second half less that of the first: near 0 where it is steady");
    const struct {
        const char *name, *unit;
        int column;
        const char *meaning;
    } sums[] = {{"forward mass", "kg", FORWARD, "that passed along the normal"},
                {"backward mass", "kg", BACKWARD, "that passed against it"},
                {"forward number", "1", FORWARD_COUNT, "of bodies, likewise"},
                {"backward number", "1", BACKWARD_COUNT, "of bodies, likewise"},
                {"born mass", "kg", BORN, "that came between the frames, on either side: it passed nothing"},
                {"dead mass", "kg", DIED, "that went between the frames, on either side"}};
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++)
        dls_analysis_add_fact(out, sums[k].name, sums[k].unit, end[sums[k].column], NAN, sums[k].meaning);
}

dls_status dls_measure_flow(dls_analysis_work *work, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    flow_work f = {0};
    dls_analysis_add_table(work->out, "flow", FLOW_COLUMNS, flow_columns, flow_units);
    if (work->options.last_frame == work->options.first_frame)
        return dls_fail(error, DLS_ERROR_INPUT, "flow: one frame is chosen, expected two or more");
    dls_status status = take_plane(work, &f, error);
    if (status) return status;
    f.x = DLS_NEW_ZERO(double, 3 * (int64_t)s->body_count);
    f.present = DLS_NEW_ZERO(bool, s->body_count);
    if (!f.x || !f.present) status = dls_fail_memory(error);
    if (!status && work->options.has_region)
        status = dls_analysis_region_create(s, &work->options, &f.region, error);
    if (!status) status = dls_analysis_frames(work, false, flow_frame, &f, error);
    if (!status && !work->out->is_out_of_memory) add_rates(work->out);
    dls_analysis_region_release(&f.region);
    dls_free(f.present);
    dls_free(f.x);
    return status;
}

/* Pressure on walls over height, from the forces of contacts and the areas of faces that they lie on. */
#include "analysis/walls.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

/* Of one frame, in a layer of a wall. */
typedef struct layer_force {
    double normal, drag;
    int contacts;
} layer_force;

/* Running means over frames. */
typedef struct layer_mean {
    int64_t frames, contacts;
    double area, pressure, drag, pressure_squares, drag_squares;
} layer_mean;

typedef struct pressure_work {
    dls_wall_layers layers;
    double e[3]; /* along the axis, upward */
    double diameter, bodies, top;
    int wall_count, *wall_of; /* by body, −1 for none */
    dls_wall *walls;
    layer_force *forces; /* of the frame, wall by wall */
    layer_mean *means;   /* the same, and those of all walls together behind them */
    double lost, pushed; /* normal forces in layers without area; all */
} pressure_work;

enum { TOTAL_TIME, TOTAL_NORMAL, TOTAL_WALLS, TOTAL_BASE, TOTAL_WEIGHT, TOTAL_COLUMNS };

static const char *const columns[] = {"place", "area",        "pressure", "spread_pressure",
                                      "drag",  "spread_drag", "contacts", "janssen"};
static const char *const units[2][8] = {{"m", "m", "N/m", "N/m", "N/m", "N/m", "1", "N/m"},
                                        {"m", "m²", "Pa", "Pa", "Pa", "Pa", "1", "Pa"}};
static const char *const wall_columns[] = {"body", "place",       "area",    "pressure", "spread_pressure",
                                           "drag", "spread_drag", "contacts"};
static const char *const wall_units[2][8] = {{"1", "m", "m", "N/m", "N/m", "N/m", "N/m", "1"},
                                             {"1", "m", "m²", "Pa", "Pa", "Pa", "Pa", "1"}};
static const char *const total_columns[] = {"time", "normal", "walls_carry", "base_carries", "weight"};
static const char *const total_units[] = {"s", "N", "N", "N", "N"};

/* ---- contacts on walls ---- */

/* The side that stands: 1 for B, 0 for A, −1 where both move or both stand. */
static int wall_side(const dls_snapshot *s, const dls_contact_force *c) {
    bool a = s->motion[c->a] == DLS_DYNAMIC, b = s->motion[c->b] == DLS_DYNAMIC;
    return a == b ? -1 : a ? 1 : 0;
}

/* Point on the wall, direction out of it, force on it. */
typedef struct wall_contact {
    dls_body_id body;
    double point[3], normal[3], force[3];
} wall_contact;

static bool find_wall_contact(const dls_snapshot *s, const dls_contact_force *c, wall_contact *w) {
    int side = wall_side(s, c);
    if (side < 0) return false;
    w->body = side ? c->b : c->a;
    vec_scale(w->normal, side ? -1 : 1, c->normal);
    vec_scale(w->force, side ? 1 : -1, c->force);
    vec_copy(w->point, c->point);
    if (side) vec_sub(w->point, w->point, c->shift);
    return true;
}

static bool is_in_region(const dls_analysis_work *work, const double *point) {
    const dls_analysis_options *o = &work->options;
    for (int k = 0; k < work->snapshot.dimension && o->has_region; k++)
        if (point[k] < o->region_low[k] || point[k] > o->region_high[k]) return false;
    return true;
}

/* ---- first: how far bodies reach, which faces they touch ---- */

static void reach_box(const dls_snapshot *s, dls_body_id id, dls_wall_layers *l) {
    for (int k = 0; k < s->dimension; k++) {
        double d[3] = {0, 0, 0}, p[3];
        if (s->period_size[k] > 0) {
            l->box_low[k] = s->period_low[k], l->box_high[k] = s->period_low[k] + s->period_size[k];
            continue;
        }
        d[k] = 1;
        dls_body_support(s, id, d, p);
        l->box_high[k] = fmax(l->box_high[k], p[k]);
        d[k] = -1;
        dls_body_support(s, id, d, p);
        l->box_low[k] = fmin(l->box_low[k], p[k]);
    }
}

static dls_status add_touch(const dls_snapshot *s, const wall_contact *w, dls_wall *wall, dls_error *error) {
    dls_wall_touch touch;
    const dls_pose *pose = &s->poses[w->body];
    double Q[9], off[3];
    quat_matrix(pose->q, Q);
    vec_sub(off, w->point, pose->x);
    mat_apply_transposed(touch.point, Q, off);
    mat_apply_transposed(touch.normal, Q, w->normal);
    wall->pose = *pose;
    return dls_wall_touch_add(wall, &touch, error);
}

static dls_status reach_frame(dls_analysis_work *work, void *user, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    pressure_work *p = user;
    for (int id = 0; id < s->body_count; id++) {
        if (!dls_snapshot_moves(s, id) || !s->is_loaded[id] || !(s->radius[id] > 0)) continue;
        reach_box(s, id, &p->layers);
        p->diameter += 2 * s->radius[id];
        p->bodies++;
    }
    for (int k = 0; k < s->contact_count; k++) {
        wall_contact w;
        if (!s->contacts[k].loaded || !find_wall_contact(s, &s->contacts[k], &w)) continue;
        dls_status status = add_touch(s, &w, &p->walls[p->wall_of[w.body]], error);
        if (status) return status;
    }
    return DLS_OK;
}

enum { MOST_LAYERS = 100000, MOST_MEANS = 10000000 };

static dls_status choose_layers(const dls_analysis_work *work, pressure_work *p, dls_error *error) {
    dls_wall_layers *l = &p->layers;
    const dls_analysis_options *o = &work->options;
    if (!(p->bodies > 0))
        return dls_fail(error, DLS_ERROR_INPUT, "pressure: no moving body bears load in the chosen frames");
    double mean = p->diameter / p->bodies;
    p->top = l->box_high[l->axis];
    l->margin = mean / 8;
    l->has_region = o->has_region;
    vec_copy(l->region_low, o->region_low);
    vec_copy(l->region_high, o->region_high);
    l->low = o->has_region ? o->region_low[l->axis] : l->box_low[l->axis];
    l->high = o->has_region ? o->region_high[l->axis] : l->box_high[l->axis];
    double wanted = o->layers > 0 ? o->layers : ceil((l->high - l->low) / mean);
    if (!(wanted <= MOST_LAYERS))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "pressure: %.6g layers from %g m to %g m, expected at most %d: ask for fewer", wanted,
                        l->low, l->high, (int)MOST_LAYERS);
    l->count = wanted >= 1 ? (int)wanted : 1;
    if ((double)l->count * (p->wall_count + 1) > MOST_MEANS)
        return dls_fail(
            error, DLS_ERROR_INPUT,
            "pressure: %d layers of %d walls, expected a product of at most %d: ask for fewer layers",
            l->count, p->wall_count, (int)MOST_MEANS);
    return DLS_OK;
}

static dls_status make_walls(dls_analysis_work *work, pressure_work *p, dls_error *error) {
    const dls_wall_layers *l = &p->layers;
    double middle[3] = {0, 0, 0}, reach = 0;
    int64_t cells = (int64_t)(p->wall_count + 1) * l->count;
    for (int k = 0; k < l->dimension; k++) {
        middle[k] = 0.5 * (l->box_low[k] + l->box_high[k]);
        reach = hypot(reach, l->box_high[k] - l->box_low[k] + 2 * l->margin);
    }
    reach += fmax(fabs(l->high - middle[l->axis]), fabs(l->low - middle[l->axis]));
    p->forces = DLS_NEW_ZERO(layer_force, cells);
    p->means = DLS_NEW_ZERO(layer_mean, cells);
    if (!p->forces || !p->means) return dls_fail_memory(error);
    for (int k = 0; k < p->wall_count; k++) {
        dls_wall *wall = &p->walls[k];
        dls_pose pose = wall->pose; /* when it was touched last: endless ones go far beyond */
        if (wall->touch_count == 0) continue;
        if (!(wall->area = DLS_NEW_ZERO(double, l->count))) return dls_fail_memory(error);
        dls_status status = dls_wall_create(work->results, &pose, 2 * reach, middle, wall, error);
        if (status) return status;
        dls_wall_mark(wall, l->margin);
    }
    return DLS_OK;
}

/* ---- then: forces over areas ---- */

/* p = Σ f_n/A, drag = Σ −f_t · e/A of a layer; running means over frames. */
static void add_mean(layer_mean *m, const layer_force *f, double area) {
    double pressure = f->normal / area, drag = f->drag / area, n = (double)++m->frames;
    double off = pressure - m->pressure, drag_off = drag - m->drag;
    m->pressure += off / n, m->drag += drag_off / n, m->area += (area - m->area) / n;
    m->pressure_squares += off * (pressure - m->pressure);
    m->drag_squares += drag_off * (drag - m->drag);
    m->contacts += f->contacts;
}

static int layer_at(const dls_wall_layers *l, const double *point) {
    double at = floor((point[l->axis] - l->low) / (l->high - l->low) * l->count);
    return at < 0 ? 0 : at >= l->count ? l->count - 1 : (int)at;
}

static void add_forces(const dls_analysis_work *work, pressure_work *p, double *total) {
    const dls_snapshot *s = &work->snapshot;
    const dls_wall_layers *l = &p->layers;
    for (int k = 0; k < s->contact_count; k++) {
        wall_contact w;
        if (!find_wall_contact(s, &s->contacts[k], &w) || !is_in_region(work, w.point)) continue;
        double normal = s->contacts[k].normal_force, rise = -vec_dot(w.force, p->e);
        bool steep = dls_wall_is_steep(w.normal, l->axis);
        total[steep ? TOTAL_WALLS : TOTAL_BASE] += rise;
        if (!steep) continue;
        total[TOTAL_NORMAL] += normal;
        layer_force *f = &p->forces[(int64_t)p->wall_of[w.body] * l->count + layer_at(l, w.point)];
        f->normal += normal;
        f->drag += rise - normal * vec_dot(w.normal, p->e); /* the tangent's share alone */
        f->contacts += s->contacts[k].loaded;
    }
}

static dls_status force_frame(dls_analysis_work *work, void *user, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    pressure_work *p = user;
    const dls_wall_layers *l = &p->layers;
    double total[TOTAL_COLUMNS] = {s->time}, mass = 0;
    memset(p->forces, 0, (size_t)(p->wall_count + 1) * (size_t)l->count * sizeof *p->forces);
    for (int id = 0; id < s->body_count; id++)
        if (dls_snapshot_moves(s, id)) mass += s->mass[id];
    total[TOTAL_WEIGHT] = mass * vec_norm(s->gravity);
    add_forces(work, p, total);
    dls_analysis_add_row(work->out, 2, total);
    for (int k = 0; k < p->wall_count; k++) {
        dls_wall *wall = &p->walls[k];
        if (!wall->area || !s->present[wall->body]) continue;
        dls_status status = dls_wall_measure(wall, l, &s->poses[wall->body], error);
        if (status) return status;
    }
    for (int layer = 0; layer < l->count; layer++) {
        layer_force all = {0};
        double area = 0;
        for (int k = 0; k < p->wall_count; k++) {
            const dls_wall *wall = &p->walls[k];
            const layer_force *f = &p->forces[(int64_t)k * l->count + layer];
            double own = wall->area && s->present[wall->body] ? wall->area[layer] : 0;
            p->pushed += f->normal;
            if (!(own > 0)) p->lost += f->normal;
            if (!(own > 0)) continue;
            add_mean(&p->means[(int64_t)k * l->count + layer], f, own);
            all.normal += f->normal, all.drag += f->drag, all.contacts += f->contacts, area += own;
        }
        if (area > 0) add_mean(&p->means[(int64_t)p->wall_count * l->count + layer], &all, area);
    }
    return DLS_OK;
}

/* ---- Janssen ---- */

typedef struct janssen {
    double pressure, length, misfit;
} janssen;

/* Σ A (p − p∞ (1 − exp(−z/λ)))² over layers at depths z, with the p∞ that is best for this λ. */
static double misfit_at(const pressure_work *p, double length, double *saturation) {
    const dls_wall_layers *l = &p->layers;
    const layer_mean *m = p->means + (int64_t)p->wall_count * l->count;
    double pp = 0, ps = 0, ss = 0;
    for (int k = 0; k < l->count; k++) {
        double z = p->top - l->low - (k + 0.5) * (l->high - l->low) / l->count, shape = 1 - exp(-z / length);
        if (m[k].frames == 0 || !(z > 0)) continue;
        pp += m[k].area * m[k].pressure * m[k].pressure;
        ps += m[k].area * m[k].pressure * shape;
        ss += m[k].area * shape * shape;
    }
    *saturation = ss > 0 ? ps / ss : (double)NAN;
    return ss > 0 ? (pp - ps * ps / ss) / pp : (double)INFINITY;
}

/* λ between a tenth of a layer and ten heights, by its logarithm: the best of a row of them, then by halving.
 */
static janssen fit_janssen(const pressure_work *p) {
    enum { TRIED = 200 };
    const dls_wall_layers *l = &p->layers;
    double least = log(0.1 * (l->high - l->low) / l->count), most = log(10 * (l->high - l->low)),
           best = least, step = (most - least) / TRIED, saturation;
    int used = 0;
    for (int k = 0; k < l->count; k++) used += p->means[(int64_t)p->wall_count * l->count + k].frames > 0;
    for (int k = 1; k <= TRIED; k++)
        if (misfit_at(p, exp(least + k * step), &saturation) < misfit_at(p, exp(best), &saturation))
            best = least + k * step;
    for (; step > 1e-9; step /= 2)
        for (int way = -1; way <= 1; way += 2)
            if (misfit_at(p, exp(best + way * step), &saturation) < misfit_at(p, exp(best), &saturation))
                best += way * step;
    double misfit = misfit_at(p, exp(best), &saturation);
    if (used < 4 || !(best > least + 1e-6) || !(best < most - 1e-6) || !isfinite(saturation))
        return (janssen){NAN, NAN, NAN};
    return (janssen){saturation, exp(best), sqrt(fmax(misfit, 0))};
}

/* ---- results ---- */

static double spread_of(double squares, int64_t frames) {
    return frames > 1 ? sqrt(squares / (double)(frames - 1)) : (double)NAN;
}

static void add_layers(dls_analysis_work *work, const pressure_work *p, const janssen *fit) {
    const dls_wall_layers *l = &p->layers;
    double up = p->e[l->axis];
    for (int k = 0; k <= p->wall_count; k++)
        for (int layer = 0; layer < l->count; layer++) {
            const layer_mean *m = &p->means[(int64_t)k * l->count + layer];
            bool all = k == p->wall_count;
            if (m->frames == 0 && !all) continue;
            double place = l->low + (layer + 0.5) * (l->high - l->low) / l->count,
                   depth = up > 0 ? p->top - place : (double)NAN;
            double none = m->frames > 0 ? 0 : (double)NAN;
            const double row[] = {all ? 0 : p->walls[k].body,
                                  place,
                                  m->area,
                                  m->pressure + none,
                                  spread_of(m->pressure_squares, m->frames),
                                  m->drag + none,
                                  spread_of(m->drag_squares, m->frames),
                                  m->frames ? (double)m->contacts / (double)m->frames : 0,
                                  depth > 0 ? fit->pressure * (1 - exp(-depth / fit->length)) : (double)NAN};
            dls_analysis_add_row(work->out, all ? 0 : 1, all ? row + 1 : row);
        }
}

static void add_facts(dls_analysis_work *work, const pressure_work *p) {
    dls_analysis *out = work->out;
    const dls_wall_layers *l = &p->layers;
    const char *unit = units[l->dimension - 2][2];
    double force = 0, drag = 0, area = 0;
    for (int k = 0; k < l->count; k++) {
        const layer_mean *m = &p->means[(int64_t)p->wall_count * l->count + k];
        force += m->area * m->pressure, drag += m->area * m->drag, area += m->area;
    }
    janssen fit = p->e[l->axis] > 0 ? fit_janssen(p) : (janssen){NAN, NAN, NAN};
    dls_analysis_add_fact(out, "mean pressure", unit, force / area, NAN,
                          "normal force on steep walls over their area");
    dls_analysis_add_fact(out, "mean drag", unit, drag / area, NAN,
                          "downward friction on them over the same area");
    dls_analysis_add_fact(out, "mobilised friction", "1", drag / force, NAN, "drag over pressure");
    dls_analysis_add_mean(out, "walls carry", 2, TOTAL_WALLS, "upward force of steep walls on the bodies");
    dls_analysis_add_mean(out, "base carries", 2, TOTAL_BASE, "the same of what is less steep than 45°");
    dls_analysis_add_mean(out, "weight", 2, TOTAL_WEIGHT, "of the moving bodies");
    dls_analysis_add_fact(out, "saturation pressure", unit, fit.pressure, NAN,
                          "p∞ of p = p∞ (1 − exp(−z/λ)) with the depth z below the top");
    dls_analysis_add_fact(out, "decay length", "m", fit.length, NAN,
                          "λ of the same; none beyond ten heights");
    dls_analysis_add_fact(out, "misfit", "1", fit.misfit, NAN,
                          "rms of what the fit leaves over that of the pressure");
    dls_analysis_add_fact(out, "area", units[l->dimension - 2][1], area, NAN,
                          "of the steep walls that are touched");
    dls_analysis_add_fact(out, "force without area", "1", p->pushed > 0 ? p->lost / p->pushed : 0, NAN,
                          "share of the normal force in layers where no face was found");
    add_layers(work, p, &fit);
}

static dls_status open_walls(dls_analysis_work *work, pressure_work *p, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    p->wall_of = DLS_NEW(int, s->body_count);
    if (!p->wall_of) return dls_fail_memory(error);
    for (int id = 0; id < s->body_count; id++)
        p->wall_of[id] = s->motion[id] == DLS_DYNAMIC ? -1 : p->wall_count++;
    if (p->wall_count == 0)
        return dls_fail(error, DLS_ERROR_INPUT, "pressure: the run has no static or driven body");
    p->walls = DLS_NEW_ZERO(dls_wall, p->wall_count);
    if (!p->walls) return dls_fail_memory(error);
    for (int id = 0; id < s->body_count; id++)
        if (p->wall_of[id] >= 0) p->walls[p->wall_of[id]].body = id;
    return DLS_OK;
}

dls_status dls_measure_pressure(dls_analysis_work *work, dls_error *error) {
    int d = work->snapshot.dimension;
    pressure_work p = {.layers = {.dimension = d, .axis = work->axis}};
    for (int k = 0; k < 3; k++) p.layers.box_low[k] = INFINITY, p.layers.box_high[k] = -INFINITY;
    p.e[work->axis] = work->up[work->axis] < 0 ? -1 : 1;
    dls_analysis_add_table(work->out, "pressure", 8, columns, units[d - 2]);
    dls_analysis_add_table(work->out, "pressure_walls", 8, wall_columns, wall_units[d - 2]);
    dls_analysis_add_table(work->out, "pressure_total", TOTAL_COLUMNS, total_columns, total_units);
    dls_status status = open_walls(work, &p, error);
    if (!status) status = dls_analysis_frames(work, true, reach_frame, &p, error);
    if (!status) status = choose_layers(work, &p, error);
    if (!status) status = make_walls(work, &p, error);
    if (!status) status = dls_analysis_frames(work, true, force_frame, &p, error);
    if (!status && !(p.pushed > 0))
        status = dls_fail(error, DLS_ERROR_INPUT,
                          "pressure: no contact of the chosen frames bears load on a wall that "
                          "is steeper than 45°");
    if (!status && !work->out->is_out_of_memory) add_facts(work, &p);
    for (int k = 0; k < p.wall_count && p.walls; k++) dls_wall_release(&p.walls[k]);
    dls_free(p.walls);
    dls_free(p.wall_of);
    dls_free(p.forces);
    dls_free(p.means);
    return status;
}

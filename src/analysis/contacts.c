/* Measures of contact forces: containers, coordination, fabric, stress, distribution. */
#include "analysis/analysis.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- forces on containers: F = Σ f, T = Σ (x_c − x) × f + t ---- */

void dls_container_force(const dls_snapshot *s, dls_body_id id, double *force, double *torque) {
    vec_set(force, 0, 0, 0);
    vec_set(torque, 0, 0, 0);
    for (int k = 0; k < s->contact_count; k++) {
        const dls_contact_force *c = &s->contacts[k];
        for (int side = 0; side < 2; side++) {
            if ((side ? c->b : c->a) != id) continue;
            double arm[3], turn[3], sign = side ? 1 : -1;
            vec_sub(arm, c->point, s->poses[id].x);
            if (side) vec_sub(arm, arm, c->shift);
            vec_cross(turn, arm, c->force);
            vec_along(force, force, sign, c->force);
            vec_add(turn, turn, c->torque);
            vec_along(torque, torque, sign, turn);
        }
    }
}

static const char *const container_columns[] = {"time", "body", "fx", "fy", "fz", "tx", "ty", "tz"};
static const char *const container_units[] = {"s", "1", "N", "N", "N", "N m", "N m", "N m"};
static const char *const total_columns[] = {"time", "fx", "fy", "fz", "weight"};
static const char *const total_units[] = {"s", "N", "N", "N", "N"};

static dls_status container_frame(dls_analysis_work *work, void *user, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    const int *tables = user;
    double total[3] = {0, 0, 0}, mass = 0;
    (void)error;
    for (int id = 0; id < s->body_count; id++) {
        if (dls_snapshot_moves(s, id)) mass += s->mass[id];
        if (!s->present[id] || s->motion[id] == DLS_DYNAMIC) continue;
        double row[8] = {s->time, id};
        dls_container_force(s, id, row + 2, row + 5);
        vec_add(total, total, row + 2);
        dls_analysis_add_row(work->out, tables[1], row);
    }
    const double row[] = {s->time, total[0], total[1], total[2], mass * vec_norm(s->gravity)};
    dls_analysis_add_row(work->out, tables[0], row);
    return DLS_OK;
}

enum { MOST_NAMED_CONTAINERS = 12 };

/* Means of each container, as long as they are few. */
static void container_facts(dls_analysis_work *work, int table) {
    const dls_snapshot *s = &work->snapshot;
    const dls_analysis_rows *rows = &work->out->tables[table];
    int fixed = 0;
    for (int id = 0; id < s->body_count; id++) fixed += s->motion[id] != DLS_DYNAMIC;
    for (int id = 0; id < s->body_count && fixed <= MOST_NAMED_CONTAINERS; id++) {
        if (s->motion[id] == DLS_DYNAMIC) continue;
        const char *name = dls_results_body_name(work->results, id);
        for (int k = 0; k < 6; k++) {
            if (s->dimension == 2 && k >= 2 && k <= 4) continue;
            double sum = 0, squares = 0;
            int64_t n = 0;
            for (int pass = 0; pass < 2; pass++) {
                for (int64_t i = 0; i < rows->count; i++) {
                    const double *row = rows->values + i * rows->column_count;
                    if (row[1] != id) continue;
                    if (pass == 0) sum += row[2 + k], n++;
                    if (pass == 1) squares += (row[2 + k] - sum / (double)n) * (row[2 + k] - sum / (double)n);
                }
            }
            char text[64];
            if (*name)
                snprintf(text, sizeof text, "%.50s %s", name, container_columns[2 + k]);
            else
                snprintf(text, sizeof text, "body %d %s", id, container_columns[2 + k]);
            if (n > 0)
                dls_analysis_add_fact(work->out, text, container_units[2 + k], sum / (double)n,
                                      n > 1 ? sqrt(squares / (double)(n - 1)) : (double)NAN,
                                      "by contacts on this body, mean over frames");
        }
    }
}

dls_status dls_measure_container(dls_analysis_work *work, dls_error *error) {
    int fixed = 0;
    for (int id = 0; id < work->snapshot.body_count; id++) fixed += work->snapshot.motion[id] != DLS_DYNAMIC;
    if (fixed == 0)
        return dls_fail(error, DLS_ERROR_INPUT, "container: the run has no static or driven body");
    int tables[2] = {dls_analysis_add_table(work->out, "container_total", 5, total_columns, total_units),
                     dls_analysis_add_table(work->out, "container", 8, container_columns, container_units)};
    dls_status status = dls_analysis_frames(work, true, container_frame, tables, error);
    if (status) return status;
    for (int k = 1; k <= 3; k++) {
        static const char *const names[] = {"total fx", "total fy", "total fz"};
        if (k <= work->snapshot.dimension)
            dls_analysis_add_mean(work->out, names[k - 1], tables[0], k,
                                  "on all static and driven bodies, mean over frames");
    }
    dls_analysis_add_mean(work->out, "weight", tables[0], 4, "of the moving bodies");
    container_facts(work, tables[1]);
    return DLS_OK;
}

/* ---- coordination: neighbours that a loaded contact joins ---- */

typedef struct neighbour_pair {
    int a, b;
} neighbour_pair;

static int compare_pairs(const void *left, const void *right) {
    const neighbour_pair *p = left, *q = right;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

/* Loaded pairs with at least one moving body, each once. */
static int find_pairs(const dls_snapshot *s, neighbour_pair *pairs) {
    int count = 0, kept = 0;
    for (int k = 0; k < s->contact_count; k++) {
        const dls_contact_force *c = &s->contacts[k];
        if (!c->loaded || (!dls_snapshot_moves(s, c->a) && !dls_snapshot_moves(s, c->b))) continue;
        pairs[count++] = c->a < c->b ? (neighbour_pair){c->a, c->b} : (neighbour_pair){c->b, c->a};
    }
    qsort(pairs, (size_t)count, sizeof *pairs, compare_pairs);
    for (int k = 0; k < count; k++)
        if (k == 0 || compare_pairs(&pairs[k], &pairs[kept - 1])) pairs[kept++] = pairs[k];
    return kept;
}

/* Z = Σ z_p / N;  Z_m = Σ_{z_p ≥ 2} z_p / N_{z_p ≥ 2} */
static void count_neighbours(const dls_snapshot *s, const int *z, dls_coordination *c) {
    int64_t sum = 0;
    for (int id = 0; id < s->body_count; id++) {
        if (!dls_snapshot_moves(s, id)) continue;
        c->bodies++;
        c->floating += z[id] == 0;
        c->single += z[id] == 1;
        sum += z[id];
        c->histogram[z[id] < COUNT(c->histogram) ? z[id] : COUNT(c->histogram) - 1]++;
    }
    int held = c->bodies - c->floating - c->single;
    c->mean = c->bodies ? (double)sum / c->bodies : (double)NAN;
    c->mechanical = held ? (double)(sum - c->single) / held : (double)NAN;
}

dls_status dls_coordination_measure(const dls_snapshot *s, dls_coordination *c, dls_error *error) {
    *c = (dls_coordination){0};
    neighbour_pair *pairs = DLS_NEW(neighbour_pair, s->contact_count);
    int *z = DLS_NEW_ZERO(int, s->body_count);
    dls_status status = pairs && z ? DLS_OK : dls_fail_memory(error);
    int count = status ? 0 : find_pairs(s, pairs);
    for (int k = 0; k < count; k++) {
        bool wall = !dls_snapshot_moves(s, pairs[k].a) || !dls_snapshot_moves(s, pairs[k].b);
        *(wall ? &c->wall_pairs : &c->pairs) += 1;
        z[pairs[k].a]++, z[pairs[k].b]++;
    }
    if (!status) count_neighbours(s, z, c);
    dls_free(pairs);
    dls_free(z);
    return status;
}

static const char *const coordination_columns[] = {"time",     "bodies", "neighbours", "without_rattlers",
                                                   "rattlers", "pairs",  "wall_pairs"};
static const char *const coordination_units[] = {"s", "1", "1", "1", "1", "1", "1"};
static const char *const neighbour_columns[] = {"neighbours", "share"};
static const char *const neighbour_units[] = {"1", "1"};

typedef struct coordination_work {
    int table;
    int64_t bodies, histogram[16];
} coordination_work;

static dls_status coordination_frame(dls_analysis_work *work, void *user, dls_error *error) {
    coordination_work *sum = user;
    dls_coordination c;
    dls_status status = dls_coordination_measure(&work->snapshot, &c, error);
    if (status) return status;
    double rattlers = c.bodies ? (double)(c.floating + c.single) / c.bodies : (double)NAN;
    const double row[] = {work->snapshot.time, c.bodies, c.mean, c.mechanical, rattlers, c.pairs,
                          c.wall_pairs};
    dls_analysis_add_row(work->out, sum->table, row);
    sum->bodies += c.bodies;
    for (int k = 0; k < COUNT(c.histogram); k++) sum->histogram[k] += c.histogram[k];
    return DLS_OK;
}

dls_status dls_measure_coordination(dls_analysis_work *work, dls_error *error) {
    dls_analysis *out = work->out;
    coordination_work sum = {.table = dls_analysis_add_table(out, "coordination", COUNT(coordination_columns),
                                                             coordination_columns, coordination_units)};
    int table = dls_analysis_add_table(out, "neighbours", 2, neighbour_columns, neighbour_units);
    dls_status status = dls_analysis_frames(work, true, coordination_frame, &sum, error);
    if (status) return status;
    int last = COUNT(sum.histogram) - 1;
    while (last > 0 && sum.histogram[last] == 0) last--;
    for (int k = 0; k <= last && sum.bodies > 0; k++) {
        const double row[] = {k, (double)sum.histogram[k] / (double)sum.bodies};
        dls_analysis_add_row(out, table, row);
    }
    dls_analysis_add_mean(out, "neighbours", sum.table, 2, "loaded neighbours per moving body");
    dls_analysis_add_mean(out, "neighbours without rattlers", sum.table, 3,
                          "of those that have at least two");
    dls_analysis_add_mean(out, "rattlers", sum.table, 4, "share of moving bodies with fewer than two");
    return DLS_OK;
}

/* ---- tensors ---- */

/* F = Σ n nᵀ / N over loaded contacts between moving bodies whose points lie in the region */
int dls_fabric_measure(const dls_snapshot *s, const dls_analysis_region *region, double *F) {
    int count = 0;
    memset(F, 0, 9 * sizeof *F);
    for (int k = 0; k < s->contact_count; k++) {
        const dls_contact_force *c = &s->contacts[k];
        if (!c->loaded || !dls_snapshot_moves(s, c->a) || !dls_snapshot_moves(s, c->b)) continue;
        if (!dls_analysis_region_has(region, c->point)) continue;
        count++;
        for (int i = 0; i < 9; i++) F[i] += c->normal[i % 3] * c->normal[i / 3];
    }
    for (int i = 0; i < 9 && count; i++) F[i] /= count;
    return count;
}

static void add_moment(const dls_snapshot *s, const dls_contact_force *c, int side, double share, double *M) {
    dls_body_id id = side ? c->b : c->a;
    double arm[3], weight = side ? -share : share;
    vec_sub(arm, c->point, s->poses[id].x);
    if (side) vec_sub(arm, arm, c->shift);
    for (int i = 0; i < 9; i++) M[i] += weight * c->force[i % 3] * arm[i / 3];
}

/* σ = −(1/V) Σ_p w_p Σ_c f_c (x_c − x_p)ᵀ, compression positive: with both bodies inside a contact gives
 * f (x_B − x_A)ᵀ/V, Love's and Weber's branch vector */
dls_status dls_stress_measure(const dls_snapshot *s, const dls_analysis_region *region, double *stress,
                              dls_error *error) {
    double *share = DLS_NEW_ZERO(double, s->body_count);
    if (!share) return dls_fail_memory(error);
    memset(stress, 0, 9 * sizeof *stress);
    for (int id = 0; id < s->body_count; id++)
        if (dls_snapshot_moves(s, id)) share[id] = dls_analysis_region_share(region, s, id);
    for (int k = 0; k < s->contact_count; k++) {
        const dls_contact_force *c = &s->contacts[k];
        for (int side = 0; side < 2; side++) add_moment(s, c, side, share[side ? c->b : c->a], stress);
    }
    for (int i = 0; i < 9; i++) stress[i] /= region->volume;
    dls_free(share);
    return DLS_OK;
}

/* Jacobi's rotations on the symmetric part. */
static void diagonalise(int d, double S[3][3], double V[3][3]) {
    for (int round = 0; round < 40; round++)
        for (int p = 0; p < d; p++)
            for (int q = p + 1; q < d; q++) {
                if (fabs(S[p][q]) <= 1e-300) continue;
                double theta = (S[q][q] - S[p][p]) / (2 * S[p][q]);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), n = t * c;
                for (int k = 0; k < d; k++) {
                    double x = S[k][p], y = S[k][q];
                    S[k][p] = c * x - n * y, S[k][q] = n * x + c * y;
                    x = V[k][p], y = V[k][q];
                    V[k][p] = c * x - n * y, V[k][q] = n * x + c * y;
                }
                for (int k = 0; k < d; k++) {
                    double x = S[p][k], y = S[q][k];
                    S[p][k] = c * x - n * y, S[q][k] = n * x + c * y;
                }
            }
}

void dls_tensor_principal(int d, const double *tensor, double *values, double *direction) {
    double S[3][3] = {{0}}, V[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) S[i][j] = 0.5 * (tensor[i + 3 * j] + tensor[j + 3 * i]);
    diagonalise(d, S, V);
    int first = 0;
    for (int k = 1; k < d; k++)
        if (S[k][k] > S[first][first]) first = k;
    vec_set(direction, V[0][first], V[1][first], V[2][first]);
    values[2] = 0;
    for (int k = 0; k < d; k++) values[k] = S[k][k];
    for (int i = 0; i < d; i++)
        for (int j = i + 1; j < d; j++)
            if (values[j] > values[i]) {
                double swap = values[i];
                values[i] = values[j], values[j] = swap;
            }
}

static const char *const fabric_2[] = {"time", "contacts", "xx",         "yy",   "xy",
                                       "f1",   "f2",       "anisotropy", "angle"};
static const char *const fabric_units_2[] = {"s", "1", "1", "1", "1", "1", "1", "1", "deg"};
static const char *const fabric_3[] = {"time", "contacts", "xx", "yy", "zz", "xy",
                                       "xz",   "yz",       "f1", "f2", "f3", "anisotropy"};
static const char *const fabric_units_3[] = {"s", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1"};
static const char *const stress_2[] = {"time", "area", "xx", "yy",       "xy",
                                       "yx",   "s1",   "s2", "pressure", "ratio"};
static const char *const stress_units_2[] = {"s", "m²", "N/m", "N/m", "N/m", "N/m", "N/m", "N/m", "N/m", "1"};
static const char *const stress_3[] = {"time", "volume", "xx", "yy", "zz", "xy", "xz",       "yz",
                                       "yx",   "zx",     "zy", "s1", "s2", "s3", "pressure", "ratio"};
static const char *const stress_units_3[] = {"s",  "m³", "Pa", "Pa", "Pa", "Pa", "Pa", "Pa",
                                             "Pa", "Pa", "Pa", "Pa", "Pa", "Pa", "Pa", "1"};

/* Where the entries of the columns from "xx" on stand in a column-major tensor. */
static const int entries_2[] = {0, 4, 3, 1}, entries_3[] = {0, 4, 8, 3, 6, 7, 1, 2, 5};

static int put_fabric(const dls_snapshot *s, const double *F, double *row) {
    const double degree = 180 / 3.14159265358979323846;
    double values[3], direction[3];
    int n = 0, d = s->dimension, entries = d == 2 ? 3 : 6;
    dls_tensor_principal(d, F, values, direction);
    for (int k = 0; k < entries; k++) row[n++] = F[d == 2 ? entries_2[k] : entries_3[k]];
    for (int k = 0; k < d; k++) row[n++] = values[k];
    /* a of P(n) = (1 + a cos 2θ)/2π in the plane; f₁ − f₃ in space */
    row[n++] = d == 2 ? 2 * (values[0] - values[1]) : values[0] - values[2];
    if (d == 2) {
        double angle = degree * atan2(direction[1], direction[0]);
        row[n++] = angle <= -90 ? angle + 180 : angle > 90 ? angle - 180 : angle;
    }
    return n;
}

static int put_stress(const dls_snapshot *s, const double *stress, double *row) {
    double values[3], direction[3], pressure = 0;
    int n = 0, d = s->dimension, entries = d == 2 ? 4 : 9;
    dls_tensor_principal(d, stress, values, direction);
    for (int k = 0; k < entries; k++) row[n++] = stress[d == 2 ? entries_2[k] : entries_3[k]];
    for (int k = 0; k < d; k++) {
        row[n++] = values[k];
        pressure += values[k] / d;
    }
    row[n++] = pressure;
    row[n++] = (values[0] - values[d - 1]) / (values[0] + values[d - 1]);
    return n;
}

static dls_status tensor_frame(dls_analysis_work *work, void *user, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    const bool *is_stress = user;
    double T[9], row[20] = {s->time};
    bool loaded = false;
    for (int id = 0; id < s->body_count; id++)
        loaded = loaded || (dls_snapshot_moves(s, id) && s->is_loaded[id]);
    if (!loaded && !work->options.has_region) return DLS_OK; /* nothing touches: no region, no row */
    dls_analysis_region region;
    dls_status status = dls_analysis_region_create(s, &work->options, &region, error);
    if (status) return status;
    if (*is_stress) {
        status = dls_stress_measure(s, &region, T, error);
        row[1] = region.volume;
        if (!status) put_stress(s, T, row + 2);
    } else {
        int count = dls_fabric_measure(s, &region, T);
        if (count == 0)
            for (int i = 0; i < 9; i++) T[i] = NAN;
        row[1] = count;
        put_fabric(s, T, row + 2);
    }
    dls_analysis_region_release(&region);
    if (!status) dls_analysis_add_row(work->out, 0, row);
    return status;
}

static dls_status nothing_touches(const char *measure, dls_error *error) {
    return dls_fail(error, DLS_ERROR_INPUT, "%s: no contact of the chosen frames bears load", measure);
}

/* Of the mean tensor: angles of axes have no mean of their own. */
static void add_major_angle(dls_analysis *out) {
    double F[9] = {0}, row[20];
    const dls_analysis_rows *rows = &out->tables[0];
    dls_snapshot plane = {.dimension = 2};
    for (int64_t k = 0; k < rows->count; k++)
        for (int i = 0; i < 3; i++) {
            double value = rows->values[k * rows->column_count + 2 + i];
            if (isfinite(value)) F[entries_2[i]] += value;
        }
    F[1] = F[3];
    int n = put_fabric(&plane, F, row);
    dls_analysis_add_fact(out, "angle", "deg", row[n - 1], NAN,
                          "of the mean tensor's major direction from x");
}

dls_status dls_measure_fabric(dls_analysis_work *work, dls_error *error) {
    bool plane = work->snapshot.dimension == 2, is_stress = false;
    dls_analysis *out = work->out;
    dls_analysis_add_table(out, "fabric", plane ? COUNT(fabric_2) : COUNT(fabric_3),
                           plane ? fabric_2 : fabric_3, plane ? fabric_units_2 : fabric_units_3);
    dls_status status = dls_analysis_frames(work, true, tensor_frame, &is_stress, error);
    if (status) return status;
    if (out->tables[0].count == 0) return nothing_touches("fabric", error);
    dls_analysis_add_mean(out, "anisotropy", 0, plane ? 7 : 11,
                          plane ? "2 (f1 − f2) of the fabric tensor's eigenvalues"
                                : "f1 − f3 of the fabric tensor's eigenvalues");
    for (int k = 2; k < (plane ? 5 : 8); k++)
        dls_analysis_add_mean(out, out->tables[0].columns[k], 0, k, "mean of n nᵀ");
    if (plane) add_major_angle(out);
    return DLS_OK;
}

dls_status dls_measure_stress(dls_analysis_work *work, dls_error *error) {
    bool plane = work->snapshot.dimension == 2, is_stress = true;
    dls_analysis *out = work->out;
    dls_analysis_add_table(out, "stress", plane ? COUNT(stress_2) : COUNT(stress_3),
                           plane ? stress_2 : stress_3, plane ? stress_units_2 : stress_units_3);
    dls_status status = dls_analysis_frames(work, true, tensor_frame, &is_stress, error);
    if (status) return status;
    if (out->tables[0].count == 0) return nothing_touches("stress", error);
    dls_analysis_add_mean(out, "pressure", 0, plane ? 8 : 14,
                          "mean of the normal stresses, compression positive");
    dls_analysis_add_mean(out, "ratio", 0, plane ? 9 : 15,
                          plane ? "(s1 − s2)/(s1 + s2)" : "(s1 − s3)/(s1 + s3)");
    for (int k = 2; k < (plane ? 6 : 11); k++)
        dls_analysis_add_mean(out, out->tables[0].columns[k], 0, k, "force direction, then branch direction");
    return DLS_OK;
}

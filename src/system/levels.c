#include "system/levels.h"

#include "base/lu.h"
#include "solve/sparse_lu.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Rows of the level that read V_j y, and by which factors. */
typedef struct reader {
    int first, count;
    double by[DLS_LAW_SIZE];
} reader;

typedef struct level {
    dls_workspace *space;
    dls_sparse_lu *lu;
    double *A; /* blocks of groups, factored */
    int *pivot;
    int *index[DLS_FAMILIES]; /* of rows among the unknown forces; −1: told by the row itself */
    int count, *family, *row;
    reader *readers;
    const double *V[DLS_FAMILIES];
    /* S by columns */
    int *start, *rows;
    double *values, *diagonal, *scale_row, *scale_column, *rhs, *motion;
    int64_t rows_capacity, values_capacity;
} level;

/* Bodies that ties connect are a group: one block of A. */
typedef struct groups {
    int count, *of, *inside;   /* of a body: its group, and where it begins in it */
    int *first, *order, *size; /* bodies of each group, and its velocities */
    int64_t *A_at;
    int *pivot_at;
} groups;

struct dls_levels {
    level level[DLS_LEVELS];
    groups groups;
};

dls_levels *dls_levels_create(void) {
    dls_levels *levels = DLS_NEW_ZERO(dls_levels, 1);
    bool good = levels != NULL;
    for (int i = 0; good && i < DLS_LEVELS; i++) {
        levels->level[i].space = dls_workspace_create();
        levels->level[i].lu = dls_sparse_lu_create();
        good = levels->level[i].space && levels->level[i].lu;
    }
    if (good) return levels;
    dls_levels_destroy(levels);
    return NULL;
}

void dls_levels_destroy(dls_levels *levels) {
    if (!levels) return;
    for (int i = 0; i < DLS_LEVELS; i++) {
        level *l = &levels->level[i];
        dls_workspace_destroy(l->space);
        dls_sparse_lu_destroy(l->lu);
        dls_free(l->rows);
        dls_free(l->values);
    }
    dls_free(levels);
}

/* ---- groups ---- */

static int root_of(int *parent, int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static void join_ties(const dls_parts *parts, int *parent) {
    for (int b = 0; b < parts->count; b++) parent[b] = b;
    for (int i = 0; i < parts->tie_count; i++) {
        if (parts->tie[i][1] < 0) continue;
        int a = root_of(parent, parts->tie[i][0]), b = root_of(parent, parts->tie[i][1]);
        parent[a < b ? b : a] = a < b ? a : b;
    }
}

void dls_levels_fit(dls_alpha *alpha) {
    const dls_parts *parts = &alpha->parts;
    groups *g = &alpha->levels->groups;
    int *parent = dls_alpha_integers(alpha, parts->count);
    g->of = dls_alpha_integers(alpha, parts->count), g->inside = dls_alpha_integers(alpha, parts->count);
    g->first = dls_alpha_integers(alpha, parts->count + 1),
    g->order = dls_alpha_integers(alpha, parts->count);
    g->size = dls_alpha_integers(alpha, parts->count);
    g->pivot_at = dls_alpha_integers(alpha, parts->count + 1);
    g->A_at = (int64_t *)dls_alpha_numbers(alpha, parts->count + 1);
    g->count = 0;
    if (alpha->out_of_memory) return;
    join_ties(parts, parent);
    for (int b = 0; b < parts->count; b++) {
        int root = root_of(parent, b);
        g->of[b] = root == b ? g->count++ : g->of[root];
        g->inside[b] = g->size[g->of[b]];
        g->size[g->of[b]] += parts->u[b + 1] - parts->u[b];
        g->first[g->of[b] + 1]++;
    }
    for (int i = 0; i < g->count; i++) {
        g->first[i + 1] += g->first[i];
        g->A_at[i + 1] = g->A_at[i] + (int64_t)g->size[i] * g->size[i];
        g->pivot_at[i + 1] = g->pivot_at[i] + g->size[i];
    }
    int *place = parent;
    memcpy(place, g->first, sizeof *place * (size_t)parts->count);
    for (int b = 0; b < parts->count; b++) g->order[place[g->of[b]]++] = b;
}

/* ---- A ---- */

/* A += s · block of a body, lead its rows. */
static void add_block(const dls_alpha *alpha, level *l, int b, double s, const double *block, int lead) {
    const groups *g = &alpha->levels->groups;
    int m = alpha->parts.u[b + 1] - alpha->parts.u[b], size = g->size[g->of[b]];
    double *A = l->A + g->A_at[g->of[b]] + (int64_t)(size + 1) * g->inside[b];
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) A[i + (int64_t)size * j] += s * block[i + (int64_t)lead * j];
}

static void add_tie(const dls_alpha *alpha, level *l, int tie, double s, const double *matrix) {
    const groups *g = &alpha->levels->groups;
    const int *body = alpha->parts.tie[tie];
    int width = dls_tie_width(alpha, tie), size = g->size[g->of[body[0]]], at[2] = {0, 0}, m[2] = {0, 0};
    double *A = l->A + g->A_at[g->of[body[0]]];
    for (int side = 0; side < 2 && body[side] >= 0; side++) {
        at[side] = g->inside[body[side]];
        m[side] = alpha->parts.u[body[side] + 1] - alpha->parts.u[body[side]];
    }
    for (int j = 0; j < width; j++)
        for (int i = 0; i < width; i++) {
            int row = i < m[0] ? at[0] + i : at[1] + i - m[0],
                column = j < m[0] ? at[0] + j : at[1] + j - m[0];
            A[row + (int64_t)size * column] += s * matrix[i + (int64_t)width * j];
        }
}

/* −y ∂W/∂q at the body's own place, y of positions and c_q times that of accelerations. */
static void add_turns(const dls_alpha *alpha, level *l, const double *x) {
    double share, other;
    DLS_EACH_FAMILY(f) {
        const dls_row_slopes *slopes = &alpha->slopes.rows[f];
        const double *y = dls_dynamic_force(alpha, x, f, 2, &share),
                     *force = dls_dynamic_force(alpha, x, f, 0, &other);
        for (int i = 0; i < alpha->at.count[f] && slopes->turn; i++) {
            const dls_row_place *row = &alpha->place[f][i];
            double s = -share * y[i] - alpha->stage.c_q * force[i];
            const double *turn = slopes->turn + slopes->turn_at[i];
            if (s == 0) continue;
            add_block(alpha, l, row->body[0], s, turn, row->width);
            if (row->body[1] >= 0)
                add_block(alpha, l, row->body[1], s, turn + (int64_t)(row->width + 1) * row->m[0],
                          row->width);
        }
    }
}

/* M; − c_u h_u of velocities; and of positions c_q (…)_q, where δu is taken for c_u/c_q δq as it is without
 * impacts. */
static void fill_A(const dls_alpha *alpha, level *l, dls_level_kind kind) {
    const dls_slopes *slopes = &alpha->slopes;
    double c_q = alpha->stage.c_q, c_u = alpha->stage.c_u;
    bool place = kind == DLS_LEVEL_POSITION, speed = place || kind == DLS_LEVEL_VELOCITY;
    memset(l->A, 0, sizeof *l->A * (size_t)alpha->levels->groups.A_at[alpha->levels->groups.count]);
    for (int b = 0; b < alpha->parts.count; b++) {
        int m = alpha->parts.u[b + 1] - alpha->parts.u[b];
        int64_t at = alpha->M_at[b];
        add_block(alpha, l, b, 1, alpha->stage.terms.M + at, m);
        if (speed) add_block(alpha, l, b, -c_u, slopes->force_u + at, m);
        if (place) add_block(alpha, l, b, c_q, slopes->dynamic[0] + at, m);
        if (place) add_block(alpha, l, b, 1, slopes->dynamic[2] + at, m);
    }
    for (int i = 0; i < alpha->parts.tie_count && speed; i++) {
        add_tie(alpha, l, i, -c_u, slopes->tie_u + slopes->tie_at[i]);
        if (place) add_tie(alpha, l, i, -c_q, slopes->tie_q + slopes->tie_at[i]);
    }
    if (place) add_turns(alpha, l, alpha->x);
}

static bool factor_A(dls_alpha *alpha, level *l) {
    const groups *g = &alpha->levels->groups;
    for (int i = 0; i < g->count; i++)
        if (dls_lu_factor(g->size[i], l->A + g->A_at[i], l->pivot + g->pivot_at[i], alpha->lu_room))
            return false;
    return true;
}

static void solve_group(const dls_alpha *alpha, const level *l, int g, double *v) {
    const groups *all = &alpha->levels->groups;
    dls_lu_solve(all->size[g], l->A + all->A_at[g], l->pivot + all->pivot_at[g], v);
}

/* y ← A⁻¹ y */
static void solve_A(dls_alpha *alpha, const level *l, double *y) {
    const groups *g = &alpha->levels->groups;
    const int *u = alpha->parts.u;
    double *v = alpha->group_x;
    for (int i = 0; i < g->count; i++) {
        for (int k = g->first[i]; k < g->first[i + 1]; k++) {
            int b = g->order[k];
            memcpy(v + g->inside[b], y + u[b], sizeof *y * (size_t)(u[b + 1] - u[b]));
        }
        solve_group(alpha, l, i, v);
        for (int k = g->first[i]; k < g->first[i + 1]; k++) {
            int b = g->order[k];
            memcpy(y + u[b], v + g->inside[b], sizeof *y * (size_t)(u[b + 1] - u[b]));
        }
    }
}

/* ---- equations ---- */

/* Whether the level finds the force of a row; else the row itself says it. */
static bool is_unknown(const dls_alpha *alpha, dls_level_kind kind, int f, int i, int law) {
    if (f == DLS_ROWS_G) return true;
    if (f == DLS_ROWS_GAMMA) return kind != DLS_LEVEL_POSITION;
    if (kind == DLS_LEVEL_HELD || alpha->stage.frozen) return false;
    if (f == DLS_ROWS_N) {
        if (kind == DLS_LEVEL_POSITION) return alpha->sets.place[i];
        return kind == DLS_LEVEL_VELOCITY ? alpha->sets.B[i] : alpha->sets.C[i];
    }
    int contact = alpha->laws[law].contact;
    return kind != DLS_LEVEL_POSITION && (contact < 0 || alpha->sets.A[contact]);
}

static const dls_law_value *law_of(const dls_alpha *alpha, dls_level_kind kind, int law) {
    return kind == DLS_LEVEL_VELOCITY ? &alpha->impact_law[law] : &alpha->force_law[law];
}

static void set_reader(const dls_alpha *alpha, level *l, dls_level_kind kind, int k, int law) {
    int f = l->family[k], row = l->row[k];
    reader *r = &l->readers[k];
    *r = (reader){.first = k, .count = 1, .by = {1}};
    if (f == DLS_ROWS_N && alpha->options.residual == DLS_ALPHA_PROX) r->by[0] = alpha->r_n[row];
    if (f != DLS_ROWS_F) return;
    int inside = row - alpha->law_row[law], d = alpha->laws[law].size;
    bool reads = kind == DLS_LEVEL_VELOCITY || alpha->sets.D[law];
    *r = (reader){.first = k - inside, .count = reads ? d : 0};
    for (int i = 0; i < r->count; i++) r->by[i] = law_of(alpha, kind, law)->y[i + d * inside];
}

static bool list_unknowns(dls_alpha *alpha, level *l, dls_level_kind kind) {
    int most = 0;
    DLS_EACH_FAMILY(f) most += alpha->at.count[f];
    l->family = DLS_TAKE(l->space, int, most), l->row = DLS_TAKE(l->space, int, most);
    l->readers = DLS_TAKE(l->space, reader, most);
    if (!l->family || !l->row || !l->readers) return false;
    l->count = 0;
    DLS_EACH_FAMILY(f) {
        l->index[f] = DLS_TAKE(l->space, int, alpha->at.count[f]);
        l->V[f] = kind == DLS_LEVEL_POSITION ? alpha->slopes.rows[f].value : alpha->stage.terms.rows[f].W;
        if (!l->index[f]) return false;
        for (int i = 0; i < alpha->at.count[f]; i++) {
            int law = f == DLS_ROWS_F ? alpha->law_of[i] : -1;
            l->index[f][i] = -1;
            if (!is_unknown(alpha, kind, f, i, law)) continue;
            int k = l->index[f][i] = l->count++;
            l->family[k] = f, l->row[k] = i;
            set_reader(alpha, l, kind, k, law);
        }
    }
    return true;
}

/* ---- S ---- */

/* Which unknowns touch a group, and with which side. */
typedef struct lists {
    int *first, *unknown, *side;
    double *v, *sum, *row_sum;
    int *touched, *row_touched;
    bool *seen, *row_seen;
} lists;

static bool take_lists(dls_alpha *alpha, level *l, lists *s) {
    int group_count = alpha->levels->groups.count;
    dls_workspace *space = l->space;
    s->first = DLS_TAKE_ZERO(space, int, group_count + 2);
    s->unknown = DLS_TAKE(space, int, 2 * l->count), s->side = DLS_TAKE(space, int, 2 * l->count);
    s->v = DLS_TAKE(space, double, alpha->at.m);
    s->sum = DLS_TAKE_ZERO(space, double, l->count), s->row_sum = DLS_TAKE_ZERO(space, double, l->count);
    s->touched = DLS_TAKE(space, int, l->count), s->row_touched = DLS_TAKE(space, int, l->count);
    s->seen = DLS_TAKE_ZERO(space, bool, l->count), s->row_seen = DLS_TAKE_ZERO(space, bool, l->count);
    return s->first && s->unknown && s->side && s->v && s->sum && s->row_sum && s->touched &&
           s->row_touched && s->seen && s->row_seen;
}

static void fill_lists(const dls_alpha *alpha, const level *l, lists *s) {
    const groups *g = &alpha->levels->groups;
    int *place = s->first + 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < l->count; k++) {
            const dls_row_place *row = &alpha->place[l->family[k]][l->row[k]];
            for (int side = 0; side < 2 && row->body[side] >= 0; side++) {
                int group = g->of[row->body[side]];
                if (pass == 0) {
                    place[group + 1]++;
                    continue;
                }
                s->unknown[place[group]] = k, s->side[place[group]++] = side;
            }
        }
        for (int i = 0; i < g->count && pass == 0; i++) place[i + 1] += place[i];
    }
}

/* Entry of the column that is being made. */
static void add_entry(lists *s, int *count, int row, double value) {
    if (!s->row_seen[row]) s->row_seen[row] = true, s->row_touched[(*count)++] = row;
    s->row_sum[row] += value;
}

/* V_j A⁻¹ W_k of all j that touch a group of k. */
static int couple(const dls_alpha *alpha, const level *l, int k, lists *s) {
    const groups *g = &alpha->levels->groups;
    const dls_row_place *own = &alpha->place[l->family[k]][l->row[k]];
    const double *W = alpha->stage.terms.rows[l->family[k]].W + own->W;
    int group[2] = {g->of[own->body[0]], own->body[1] < 0 ? -1 : g->of[own->body[1]]}, count = 0;
    for (int side = 0; side < 2 && group[side] >= 0; side++) {
        if (side && group[1] == group[0]) break;
        memset(s->v, 0, sizeof *s->v * (size_t)g->size[group[side]]);
        for (int other = side; other < 2 && own->body[other] >= 0; other++)
            if (group[other] == group[side])
                memcpy(s->v + g->inside[own->body[other]], W + (other ? own->m[0] : 0),
                       sizeof *W * (size_t)own->m[other]);
        solve_group(alpha, l, group[side], s->v);
        for (int n = s->first[group[side]]; n < s->first[group[side] + 1]; n++) {
            int j = s->unknown[n], at = s->side[n];
            const dls_row_place *row = &alpha->place[l->family[j]][l->row[j]];
            const double *V = l->V[l->family[j]] + row->W + (at ? row->m[0] : 0),
                         *v = s->v + g->inside[row->body[at]];
            if (!s->seen[j]) s->seen[j] = true, s->sum[j] = 0, s->touched[count++] = j;
            for (int d = 0; d < row->m[at]; d++) s->sum[j] += V[d] * v[d];
        }
    }
    return count;
}

/* E of column k: forces and normal forces in laws. */
static void add_forces(const dls_alpha *alpha, const level *l, dls_level_kind kind, int k, lists *s,
                       int *count) {
    int f = l->family[k], row = l->row[k];
    if (f == DLS_ROWS_N)
        for (int law = alpha->contact_law[row]; law >= 0; law = alpha->next_law[law])
            for (int i = 0; i < alpha->laws[law].size; i++) {
                int place = l->index[DLS_ROWS_F][alpha->law_row[law] + i];
                double value = kind == DLS_LEVEL_POSITION || place < 0 ? 0 : law_of(alpha, kind, law)->N[i];
                if (value != 0) add_entry(s, count, place, value);
            }
    if (f != DLS_ROWS_F) return;
    int first = l->readers[k].first, law = alpha->law_of[row];
    int d = alpha->laws[law].size, inside = row - alpha->law_row[law];
    for (int i = 0; i < d; i++) add_entry(s, count, first + i, law_of(alpha, kind, law)->z[i + d * inside]);
}

/* By columns, and D_kk = V_k A⁻¹ W_k. */
static bool fill_S(dls_alpha *alpha, level *l, dls_level_kind kind, lists *s) {
    l->start[0] = 0;
    for (int k = 0; k < l->count; k++) {
        int coupled = couple(alpha, l, k, s), count = 0, at = l->start[k];
        l->diagonal[k] = s->sum[k];
        for (int n = 0; n < coupled; n++) {
            int j = s->touched[n];
            const reader *r = &l->readers[j];
            for (int i = 0; i < r->count; i++) add_entry(s, &count, r->first + i, r->by[i] * s->sum[j]);
            s->seen[j] = false;
        }
        add_entry(s, &count, k, 0);
        add_forces(alpha, l, kind, k, s, &count);
        if (!DLS_RESERVE(l->rows, at, l->rows_capacity, at + count) ||
            !DLS_RESERVE(l->values, at, l->values_capacity, at + count))
            return false;
        for (int n = 0; n < count; n++) {
            int row = s->row_touched[n];
            l->rows[at + n] = row, l->values[at + n] = s->row_sum[row];
            s->row_sum[row] = 0, s->row_seen[row] = false;
        }
        l->start[k + 1] = at + count;
    }
    return true;
}

/* The power of two next to 1/largest. */
static double inverse_power(double largest) {
    int exponent;
    if (!(largest > 0) || !isfinite(largest)) return 1;
    frexp(largest, &exponent);
    return ldexp(1, 1 - exponent);
}

/* Rows, then columns, so that the largest entry of each is near one. */
static void equilibrate(level *l) {
    for (int k = 0; k < l->count; k++) l->scale_row[k] = 0;
    for (int k = 0; k < l->start[l->count]; k++)
        l->scale_row[l->rows[k]] = fmax(l->scale_row[l->rows[k]], fabs(l->values[k]));
    for (int k = 0; k < l->count; k++) l->scale_row[k] = inverse_power(l->scale_row[k]);
    for (int j = 0; j < l->count; j++) {
        double largest = 0;
        for (int k = l->start[j]; k < l->start[j + 1]; k++) {
            l->values[k] *= l->scale_row[l->rows[k]];
            largest = fmax(largest, fabs(l->values[k]));
        }
        l->scale_column[j] = inverse_power(largest);
        for (int k = l->start[j]; k < l->start[j + 1]; k++) l->values[k] *= l->scale_column[j];
    }
}

/* Rows that hold V y give way: more may be held than there are freedoms. */
static void yield(level *l) {
    static const double epsilon = 1e-9;
    double most = 0;
    for (int k = 0; k < l->count; k++) most = fmax(most, fabs(l->diagonal[k]));
    for (int k = 0; k < l->count; k++) {
        const reader *r = &l->readers[k];
        if (r->count == 0) continue;
        double more = epsilon * r->by[k - r->first] * fmax(fabs(l->diagonal[k]), 1e-6 * most);
        for (int n = l->start[k]; n < l->start[k + 1]; n++)
            if (l->rows[n] == k) l->values[n] += l->scale_row[k] * more * l->scale_column[k];
    }
}

static bool take_S(dls_alpha *alpha, level *l) {
    l->start = DLS_TAKE(l->space, int, l->count + 1);
    l->diagonal = DLS_TAKE(l->space, double, l->count), l->rhs = DLS_TAKE(l->space, double, l->count);
    l->scale_row = DLS_TAKE(l->space, double, l->count);
    l->scale_column = DLS_TAKE(l->space, double, l->count);
    l->motion = DLS_TAKE(l->space, double, alpha->at.m);
    return l->start && l->diagonal && l->rhs && l->scale_row && l->scale_column && l->motion;
}

bool dls_level_factor(dls_alpha *alpha, dls_level_kind kind) {
    static const double least_pivot = 1e-13;
    const groups *g = &alpha->levels->groups;
    level *l = &alpha->levels->level[kind];
    lists s;
    dls_workspace_release(l->space, (dls_workspace_mark){0, 0});
    l->A = DLS_TAKE(l->space, double, g->A_at[g->count]);
    l->pivot = DLS_TAKE(l->space, int, g->pivot_at[g->count]);
    if (!l->A || !l->pivot || !list_unknowns(alpha, l, kind) || !take_S(alpha, l)) return false;
    fill_A(alpha, l, kind);
    if (!factor_A(alpha, l)) return false;
    if (l->count == 0) return true;
    if (!take_lists(alpha, l, &s)) return false;
    fill_lists(alpha, l, &s);
    if (!fill_S(alpha, l, kind, &s)) return false;
    equilibrate(l);
    double pivot = dls_sparse_lu_factor(l->lu, l->count, l->start, l->rows, l->values);
    if (kind != DLS_LEVEL_HELD && !alpha->stage.frozen)
        alpha->condition = fmax(alpha->condition, pivot > 0 ? 1 / pivot : HUGE_VAL);
    if (pivot > least_pivot) return true;
    yield(l);
    return dls_sparse_lu_factor(l->lu, l->count, l->start, l->rows, l->values) > 0;
}

/* ---- solving ---- */

/* What rows say of their own forces: z of the normal force in laws. */
static void take_off_normal(const dls_alpha *alpha, const level *l, dls_level_kind kind,
                            double *const z[DLS_FAMILIES]) {
    if (kind == DLS_LEVEL_POSITION || !z[DLS_ROWS_F] || !z[DLS_ROWS_N]) return;
    for (int law = 0; law < alpha->system.law_count; law++) {
        int contact = alpha->laws[law].contact, k = l->index[DLS_ROWS_F][alpha->law_row[law]];
        if (k < 0 || contact < 0 || l->index[DLS_ROWS_N][contact] >= 0) continue;
        for (int i = 0; i < alpha->laws[law].size; i++)
            l->rhs[k + i] -= law_of(alpha, kind, law)->N[i] * z[DLS_ROWS_N][contact];
    }
}

void dls_level_solve(dls_alpha *alpha, dls_level_kind kind, double *y, double *const z[DLS_FAMILIES]) {
    level *l = &alpha->levels->level[kind];
    DLS_EACH_FAMILY(f)
    for (int i = 0; z[f] && i < alpha->at.count[f]; i++) {
        const dls_row_place *row = &alpha->place[f][i];
        if (l->index[f][i] < 0)
            dls_row_add(row, z[f][i], alpha->stage.terms.rows[f].W + row->W, y);
        else
            l->rhs[l->index[f][i]] = z[f][i];
    }
    solve_A(alpha, l, y);
    if (l->count == 0) return;
    take_off_normal(alpha, l, kind, z);
    for (int k = 0; k < l->count; k++) {
        const dls_row_place *row = &alpha->place[l->family[k]][l->row[k]];
        double along = dls_row_dot(row, l->V[l->family[k]] + row->W, y);
        for (int i = 0; i < l->readers[k].count; i++)
            l->rhs[l->readers[k].first + i] -= l->readers[k].by[i] * along;
    }
    for (int k = 0; k < l->count; k++) l->rhs[k] *= l->scale_row[k];
    dls_sparse_lu_solve(l->lu, l->rhs);
    memset(l->motion, 0, sizeof *l->motion * (size_t)alpha->at.m);
    for (int k = 0; k < l->count; k++) {
        const dls_row_place *row = &alpha->place[l->family[k]][l->row[k]];
        double force = z[l->family[k]][l->row[k]] = l->scale_column[k] * l->rhs[k];
        dls_row_add(row, force, alpha->stage.terms.rows[l->family[k]].W + row->W, l->motion);
    }
    solve_A(alpha, l, l->motion);
    for (int i = 0; i < alpha->at.m; i++) y[i] += l->motion[i];
}

void dls_level_divide(dls_alpha *alpha, const dls_row_place *row, const double *w, double *a) {
    const groups *g = &alpha->levels->groups;
    double *v = alpha->group_x;
    for (int side = 0; side < 2 && row->body[side] >= 0; side++) {
        int b = row->body[side], group = g->of[b];
        memset(v, 0, sizeof *v * (size_t)g->size[group]);
        memcpy(v + g->inside[b], w + (side ? row->m[0] : 0), sizeof *v * (size_t)row->m[side]);
        solve_group(alpha, &alpha->levels->level[DLS_LEVEL_HELD], group, v);
        memcpy(a + row->u[side], v + g->inside[b], sizeof *v * (size_t)row->m[side]);
    }
}

/* ---- all levels ---- */

bool dls_levels_factor(dls_alpha *alpha) {
    for (int kind = DLS_LEVEL_POSITION; kind <= DLS_LEVEL_ACCELERATION; kind++)
        if (!dls_level_factor(alpha, (dls_level_kind)kind)) return false;
    return true;
}

/* One level on what is left of R: (δq, δκ̂), (δu, δP) or (δa, δλ) in the unknowns of x. */
static void solve_level(dls_alpha *alpha, dls_level_kind kind, const double *left, double *s) {
    const dls_layout *at = &alpha->at;
    const double carried[] = {alpha->stage.c_q, alpha->stage.c_u, 0};
    const int row[] = {at->Q, at->U, at->a};
    double *z[DLS_FAMILIES], *y = s + row[kind];
    memset(s, 0, sizeof *s * (size_t)at->total);
    for (int i = 0; i < at->m; i++) y[i] = left[row[kind] + i] + carried[kind] * left[at->a + i];
    DLS_EACH_FAMILY(f) {
        int place = kind == DLS_LEVEL_POSITION   ? at->kappa[f]
                    : kind == DLS_LEVEL_VELOCITY ? at->impact[f]
                                                 : at->force[f];
        z[f] = place < 0 ? NULL : s + place;
        if (z[f]) memcpy(z[f], left + place, sizeof *s * (size_t)at->count[f]);
    }
    dls_level_solve(alpha, kind, y, z);
    if (kind != DLS_LEVEL_ACCELERATION) return;
    for (int i = 0; i < at->m; i++)
        s[at->U + i] = -alpha->stage.c_u * y[i], s[at->Q + i] = -alpha->stage.c_q * y[i];
    DLS_EACH_FAMILY(f) for (int i = 0; i < at->count[f]; i++) {
        s[at->impact[f] + i] = -alpha->stage.c_u * z[f][i];
        if (at->kappa[f] >= 0) s[at->kappa[f] + i] = -alpha->stage.c_q * z[f][i];
    }
}

static double largest(int count, const double *x) {
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* How far a level still moved, as a share of all that it did. */
static double share_of(const dls_alpha *alpha, dls_level_kind kind, const double *s, const double *step) {
    const dls_layout *at = &alpha->at;
    const double carried[] = {alpha->stage.c_q, alpha->stage.c_u, 0};
    const int row[] = {at->Q, at->U, at->a};
    double whole = largest(at->m, step + row[kind]) + carried[kind] * largest(at->m, step + at->a);
    return whole > 0 ? largest(at->m, s + row[kind]) / whole : 0;
}

/* Rows of light bodies count as much as those of heavy ones: rounds end where motions do not change any more,
 * not where R is small. */
bool dls_levels_solve(dls_alpha *alpha, const double *x, const double *R, double *step) {
    enum { ROUNDS = 12 };
    static const double enough = 1e-11, near = 1e-3;
    int total = alpha->at.total;
    double *left = alpha->left, *s = alpha->change, *product = alpha->R_probe, before = HUGE_VAL;
    memcpy(left, R, sizeof *R * (size_t)total);
    memset(step, 0, sizeof *step * (size_t)total);
    double share = 0;
    for (int round = 0; round < ROUNDS; round++) {
        share = 0;
        for (int kind = DLS_LEVEL_POSITION; kind <= DLS_LEVEL_ACCELERATION; kind++) {
            solve_level(alpha, (dls_level_kind)kind, left, s);
            dls_jacobian_product(alpha, x, s, product);
            for (int i = 0; i < total; i++) step[i] += s[i], left[i] -= product[i];
            share = fmax(share, share_of(alpha, (dls_level_kind)kind, s, step));
        }
        if (!(share > enough) || !(share < 0.5 * before)) break;
        if (round > 0) before = share;
    }
    return share <= near;
}

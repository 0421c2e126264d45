/* Rigid contacts are redundant: many r give the same W r, and which of them a solver ends with is a matter of
 * the order of its visits. Elastic bodies spread their load; the limit of ever stiffer ones is the r of least
 * norm. With W = G Gᵀ it is found on bodies, over the contacts of a cluster that hold:
 *
 *     y = G (GᵀG)⁺ Gᵀ r,     r ← r + t (y − r)  with the largest t ≤ 1 for which r stays in its cones,
 *
 * and again without the contacts at which it ended. Gᵀ r stays, and with it every velocity. */
#include "assemble/spread.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/small.h"
#include "problem/operator/bodies.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 4, REFINEMENTS = 3, SMALL = 36, MOST = 360 }; /* freedoms of a cluster */

static const double yield = 1e-10; /* of the mean diagonal of GᵀG, which is singular as a rule */
static const double same = 1e-10;  /* by which Gᵀ r may differ, of its largest number */
static const double together =
    1e-3;                        /* contacts that end so near each other leave together: mirror images do */
static const double share = 0.1; /* of what the solve took, for clusters that are not small */

/* A row of G that takes part: six numbers or three for either body, and where in the cluster these begin. */
typedef struct held_row {
    const double *g[2];
    int at[2]; /* −1: nothing moves there */
    int width;
} held_row;

typedef struct held {
    int block, first, count; /* rows: without friction the normal one alone */
    bool out;                /* r ended at the border of its cone */
} held;

typedef struct cluster {
    int count, rows, n; /* contacts, their rows, freedoms */
    held *contact;
    held_row *row;
    double *L, *z, *x, *left, *y, *r, *began;
} cluster;

/* ---- G and Gᵀ of the cluster ---- */

static double times_row(const held_row *row, const double *x) {
    double sum = 0;
    for (int side = 0; side < 2; side++)
        for (int i = 0; row->at[side] >= 0 && i < row->width; i++)
            sum += row->g[side][i] * x[row->at[side] + i];
    return sum;
}

static void add_row(const held_row *row, double factor, double *z) {
    for (int side = 0; side < 2; side++)
        for (int i = 0; row->at[side] >= 0 && i < row->width; i++)
            z[row->at[side] + i] += factor * row->g[side][i];
}

/* A += gᵀ g, columns below the diagonal */
static void add_square(const held_row *row, int n, double *A) {
    for (int s = 0; s < 2; s++)
        for (int j = 0; row->at[s] >= 0 && j < row->width; j++) {
            double *column = A + (int64_t)n * (row->at[s] + j);
            for (int side = 0; side < 2; side++)
                for (int i = 0; row->at[side] >= 0 && i < row->width; i++)
                    column[row->at[side] + i] += row->g[s][j] * row->g[side][i];
        }
}

/* L Lᵀ = A + yield; L may be A's room. */
static void factor(int n, double *L) {
    double mean = 0;
    for (int j = 0; j < n; j++) mean += L[(int64_t)n * j + j] / n;
    for (int j = 0; j < n; j++) {
        double *column = L + (int64_t)n * j;
        column[j] = sqrt(fmax(column[j] + yield * mean, 1e-3 * yield * mean));
        for (int i = j + 1; i < n; i++) column[i] /= column[j];
        for (int k = j + 1; k < n; k++)
            for (int i = k; i < n; i++) L[(int64_t)n * k + i] -= column[i] * column[k];
    }
}

static void solve(int n, const double *L, double *x) {
    for (int j = 0; j < n; j++) {
        x[j] /= L[(int64_t)n * j + j];
        for (int i = j + 1; i < n; i++) x[i] -= L[(int64_t)n * j + i] * x[j];
    }
    for (int j = n - 1; j >= 0; j--) {
        for (int i = j + 1; i < n; i++) x[j] -= L[(int64_t)n * j + i] * x[i];
        x[j] /= L[(int64_t)n * j + j];
    }
}

/* ---- y ---- */

/* x = (GᵀG)⁺ z over contacts that are not out, with the factor that is there. */
static void solve_bodies(cluster *w) {
    memset(w->x, 0, sizeof(double) * (size_t)w->n);
    for (int pass = 0; pass <= REFINEMENTS; pass++) {
        memcpy(w->left, w->z, sizeof(double) * (size_t)w->n);
        for (int c = 0; c < w->count && pass; c++)
            for (int k = w->contact[c].first;
                 !w->contact[c].out && k < w->contact[c].first + w->contact[c].count; k++)
                add_row(&w->row[k], -times_row(&w->row[k], w->x), w->left);
        solve(w->n, w->L, w->left);
        for (int i = 0; i < w->n; i++) w->x[i] += w->left[i];
    }
}

/* L Lᵀ = GᵀG, z = Gᵀ r, over contacts that are not out. */
static void factor_bodies(cluster *w) {
    memset(w->L, 0, sizeof(double) * (size_t)w->n * (size_t)w->n);
    memset(w->z, 0, sizeof(double) * (size_t)w->n);
    for (int c = 0; c < w->count; c++)
        for (int k = w->contact[c].first; !w->contact[c].out && k < w->contact[c].first + w->contact[c].count;
             k++) {
            add_square(&w->row[k], w->n, w->L);
            add_row(&w->row[k], w->r[k], w->z);
        }
    factor(w->n, w->L);
}

/* y = G (GᵀG)⁺ Gᵀ r over contacts that are not out; elsewhere y = r. */
static void least_norm(cluster *w) {
    factor_bodies(w);
    memcpy(w->y, w->r, sizeof(double) * (size_t)w->rows);
    solve_bodies(w);
    for (int c = 0; c < w->count; c++)
        for (int k = w->contact[c].first; !w->contact[c].out && k < w->contact[c].first + w->contact[c].count;
             k++)
            w->y[k] = times_row(&w->row[k], w->x);
}

/* The largest t ≤ 1 with r + t (y − r) in K: |r_t + t e_t|² = μ²(r_n + t e_n)², r_n + t e_n ≥ 0. */
static double step_in_cone(const cluster *w, const held *c, double mu) {
    const double *r = w->r + c->first, *y = w->y + c->first;
    double en = y[0] - r[0], t = 1;
    if (r[0] + en < 0) t = r[0] > 0 ? r[0] / -en : 0;
    double a = -mu * mu * en * en, b = -mu * mu * r[0] * en, d = mu * mu * r[0] * r[0];
    for (int k = 1; k < c->count; k++) {
        double e = y[k] - r[k];
        a += e * e, b += r[k] * e, d -= r[k] * r[k];
    }
    if (c->count == 1 || a * t * t + 2 * b * t <= d) return t;
    double root = sqrt(fmax(b * b + a * d, 0)); /* a t² + 2 b t = d */
    double at = b + root > 0 ? d / (b + root) : 0;
    return fmax(0, fmin(t, at * (1 - 1e-12)));
}

/* Once towards y; false where all is done. */
static bool step_on(cluster *w, const dls_problem *p) {
    double t = 1;
    bool blocked = false;
    least_norm(w);
    for (int c = 0; c < w->count; c++)
        if (!w->contact[c].out) t = fmin(t, step_in_cone(w, &w->contact[c], p->mu[w->contact[c].block]));
    for (int c = 0; c < w->count && t < 1; c++)
        if (!w->contact[c].out && step_in_cone(w, &w->contact[c], p->mu[w->contact[c].block]) <= t + together)
            w->contact[c].out = blocked = true;
    for (int k = 0; k < w->rows; k++) w->r[k] += t * (w->y[k] - w->r[k]);
    return blocked;
}

/* Whether Gᵀ r is what it was. */
static bool moves_alike(cluster *w) {
    double most = 0, off = 0;
    memset(w->z, 0, sizeof(double) * (size_t)w->n);
    memset(w->x, 0, sizeof(double) * (size_t)w->n);
    for (int k = 0; k < w->rows; k++) {
        add_row(&w->row[k], w->began[k], w->z);
        add_row(&w->row[k], w->r[k] - w->began[k], w->x);
    }
    for (int i = 0; i < w->n; i++) most = fmax(most, fabs(w->z[i])), off = fmax(off, fabs(w->x[i]));
    return off <= same * most;
}

/* ---- what holds from the start ---- */

/* v = −(GᵀG)⁺ Gᵀ b and the r of least norm with Gᵀ r = v: all contacts that are not out hold. b in began. */
static void hold_all(cluster *w) {
    for (int k = 0; k < w->rows; k++) w->r[k] = -w->began[k];
    factor_bodies(w);
    solve_bodies(w);
    memcpy(w->z, w->x, sizeof(double) * (size_t)w->n);
    solve_bodies(w);
    for (int c = 0; c < w->count; c++)
        for (int k = w->contact[c].first; k < w->contact[c].first + w->contact[c].count; k++)
            w->r[k] = w->contact[c].out ? 0 : times_row(&w->row[k], w->x);
}

static bool lets_go(cluster *w) {
    bool any = false;
    for (int c = 0; c < w->count; c++)
        if (!w->contact[c].out && w->r[w->contact[c].first] < 0) w->contact[c].out = any = true;
    return any;
}

/* Whether r is a solution: in its cones, u = 0 where it holds, u_n ≥ 0 where it does not. */
static bool is_held(cluster *w, const dls_problem *p) {
    double most = 0;
    memset(w->x, 0, sizeof(double) * (size_t)w->n);
    for (int k = 0; k < w->rows; k++) {
        add_row(&w->row[k], w->r[k], w->x);
        most = fmax(most, fabs(w->began[k]));
    }
    for (int c = 0; c < w->count; c++) {
        const held *contact = &w->contact[c];
        const double *r = w->r + contact->first;
        if (small_norm(contact->count - 1, r + 1) > p->mu[contact->block] * r[0]) return false;
        for (int k = 0; k < (contact->out ? 1 : contact->count); k++) {
            double u = times_row(&w->row[contact->first + k], w->x) + w->began[contact->first + k];
            if (!(contact->out ? u >= -same * most : fabs(u) <= same * most)) return false;
        }
    }
    return true;
}

/* ---- clusters ---- */

typedef struct spreading {
    dls_assembly *a;
    bool begins; /* before the solve: all contacts may hold */
    double limit, flops;
    int *root;  /* per body, its cluster's first; then its first freedom there */
    int *order; /* blocks that hold, by cluster */
    int count;
} spreading;

static bool holds(const spreading *s, int c) {
    const dls_problem *p = s->a->rows;
    if (s->begins) return true;
    const double *u = s->a->u + p->row[c];
    int rows = p->mu[c] > 0 ? dls_size(p, c) : 1;
    return small_norm(rows, u) <= s->limit;
}

static int find_root(const int *root, int body) {
    while (root[body] != body) body = root[body];
    return body;
}

static int cluster_of(const spreading *s, int c) {
    const int *body = dls_rows_of(s->a->rows)->body + 2 * (int64_t)c;
    return find_root(s->root, body[0] >= 0 ? body[0] : body[1]);
}

/* Blocks that hold, those of a cluster together, in order. */
static void gather(spreading *s, int *next) {
    const dls_problem *p = s->a->rows;
    for (int i = 0; i < p->body_count; i++) s->root[i] = i, next[i] = 0;
    for (int c = 0; c < s->a->block_count; c++) {
        const int *body = dls_rows_of(p)->body + 2 * (int64_t)c;
        if (!holds(s, c) || body[0] < 0 || body[1] < 0) continue;
        int a = find_root(s->root, body[0]), b = find_root(s->root, body[1]);
        s->root[a > b ? a : b] = a > b ? b : a;
    }
    for (int c = 0; c < s->a->block_count; c++)
        if (holds(s, c)) next[cluster_of(s, c)]++;
    for (int i = 0, sum = 0; i < p->body_count; i++) {
        int here = next[i];
        next[i] = sum;
        sum += here;
    }
    for (int c = 0; c < s->a->block_count; c++)
        if (holds(s, c)) s->order[next[cluster_of(s, c)]++] = c, s->count++;
}

/* The rows of blocks first to end of the order; freedoms of bodies are numbered as they come. */
static bool fill_cluster(spreading *s, int first, int end, int *place, cluster *w) {
    const dls_problem *p = s->a->rows;
    const dls_body_rows *rows = dls_rows_of(p);
    *w = (cluster){.count = end - first};
    w->contact = DLS_TAKE(s->a->space, held, w->count);
    w->row = DLS_TAKE(s->a->space, held_row, (int64_t)DLS_MAX_BLOCK * w->count);
    if (!w->contact || !w->row) return false;
    for (int i = first; i < end; i++)
        for (int side = 0; side < 2; side++) {
            int body = rows->body[2 * (int64_t)s->order[i] + side];
            if (body >= 0) place[body] = -1;
        }
    for (int i = first; i < end; i++) {
        int c = s->order[i];
        held *contact = &w->contact[i - first];
        *contact = (held){.block = c, .first = w->rows, .count = p->mu[c] > 0 ? dls_size(p, c) : 1};
        for (int k = 0; k < contact->count; k++) {
            held_row *row = &w->row[w->rows++];
            *row = (held_row){.width = rows->dof, .at = {-1, -1}};
            for (int side = 0; side < 2; side++) {
                int body = rows->body[2 * (int64_t)c + side];
                if (body < 0) continue;
                if (place[body] < 0) place[body] = w->n, w->n += rows->dof;
                row->at[side] = place[body];
                row->g[side] = dls_side_of(p, c, side) + (int64_t)k * rows->dof;
            }
        }
    }
    return true;
}

/* Whether two bodies touch in several places: faces do, round ones do not. Contacts of a pair follow each
 * other. */
static bool has_faces(const spreading *s, const cluster *w) {
    const int *body = dls_rows_of(s->a->rows)->body;
    for (int i = 1; i < w->count; i++) {
        const int *p = body + 2 * (int64_t)w->contact[i - 1].block,
                  *q = body + 2 * (int64_t)w->contact[i].block;
        if (p[0] == q[0] && p[1] == q[1]) return true;
    }
    return false;
}

/* Small ones always, large ones for a share of what the solve took, and none whose impulses are determined or
 * that has no faces. */
static bool is_worth_it(const spreading *s, const cluster *w) {
    double n = w->n;
    if (w->rows <= w->n || w->n > MOST || !has_faces(s, w)) return false;
    return w->n <= SMALL || ROUNDS * (n * n * n / 3 + 150.0 * w->rows) <= share * s->flops;
}

static bool make_room(spreading *s, cluster *w) {
    w->L = DLS_TAKE(s->a->space, double, (int64_t)w->n * w->n);
    w->z = DLS_TAKE(s->a->space, double, 3 * (int64_t)w->n);
    w->y = DLS_TAKE(s->a->space, double, 3 * (int64_t)w->rows);
    if (!w->L || !w->z || !w->y) return false;
    w->x = w->z + w->n, w->left = w->x + w->n;
    w->r = w->y + w->rows, w->began = w->r + w->rows;
    return true;
}

static bool spread_cluster(spreading *s, cluster *w) {
    dls_problem *p = s->a->rows;
    if (!make_room(s, w)) return false;
    for (int c = 0; c < w->count; c++)
        for (int k = 0; k < w->contact[c].count; k++)
            w->r[w->contact[c].first + k] = w->began[w->contact[c].first + k] =
                s->a->r[p->row[w->contact[c].block] + k];
    for (int round = 0; round < ROUNDS && step_on(w, p); round++) {}
    if (!moves_alike(w)) return true;
    for (int c = 0; c < w->count; c++)
        for (int k = 0; k < w->contact[c].count; k++)
            s->a->r[p->row[w->contact[c].block] + k] = w->r[w->contact[c].first + k];
    return true;
}

/* Small ones that nothing held so far begin with all that can hold, if that is a solution: where it is not
 * the only one sweeps from zero find what slips. */
static bool begin_cluster(spreading *s, cluster *w) {
    dls_problem *p = s->a->rows;
    for (int c = 0; c < w->count; c++)
        for (int k = 0; k < dls_size(p, w->contact[c].block); k++)
            if (s->a->r[p->row[w->contact[c].block] + k] != 0) return true;
    if (!make_room(s, w)) return false;
    for (int c = 0; c < w->count; c++)
        memcpy(w->began + w->contact[c].first, p->b + p->row[w->contact[c].block],
               sizeof(double) * (size_t)w->contact[c].count);
    hold_all(w);
    for (int round = 1; round < ROUNDS && lets_go(w); round++) hold_all(w);
    if (!is_held(w, p)) return true;
    for (int c = 0; c < w->count; c++)
        memcpy(s->a->r + p->row[w->contact[c].block], w->r + w->contact[c].first,
               sizeof(double) * (size_t)w->contact[c].count);
    return true;
}

/* Blocks that turn, joints, solids and balls keep what the solver found. */
static bool may_spread(const dls_assembly *a) {
    const dls_problem *p = a->rows;
    if (!a->block_count || p->parts || p->block_count != a->block_count || a->solids) return false;
    return !dls_rows_of(p)->round && !dls_rows_of(p)->width;
}

static dls_status spread_all(spreading *s, dls_error *error) {
    dls_assembly *a = s->a;
    if (!may_spread(a)) return DLS_OK;
    s->root = DLS_TAKE(a->space, int, a->rows->body_count);
    s->order = DLS_TAKE(a->space, int, a->block_count);
    int *place = DLS_TAKE(a->space, int, a->rows->body_count);
    if (!s->root || !s->order || !place) return dls_fail_memory(error);
    gather(s, place);
    for (int first = 0, end; first < s->count; first = end) {
        dls_workspace_mark mark = dls_workspace_get_mark(a->space);
        cluster w;
        int root = cluster_of(s, s->order[first]);
        for (end = first + 1; end < s->count && cluster_of(s, s->order[end]) == root;) end++;
        if (!fill_cluster(s, first, end, place, &w)) return dls_fail_memory(error);
        if (is_worth_it(s, &w) && !(s->begins ? begin_cluster(s, &w) : spread_cluster(s, &w)))
            return dls_fail_memory(error);
        dls_workspace_release(a->space, mark);
    }
    return DLS_OK;
}

dls_status dls_assemble_spread(dls_assembly *a, double limit, double flops, dls_error *error) {
    spreading s = {.a = a, .limit = limit, .flops = flops};
    return spread_all(&s, error);
}

dls_status dls_assemble_hold(dls_assembly *a, dls_error *error) {
    spreading s = {.a = a, .begins = true};
    return spread_all(&s, error);
}

/* Shapes with bounds go into rows (rows.c); those without, and the few that are much larger than the rest,
 * are tested against all. In a periodic box a shape has a proxy for every image that touches the box, and two
 * shapes meet where the higher of their lower corners lies in the box: once for every pair of images. */
#include "collide/broad/broadphase.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "collide/broad/rows.h"
#include "world/shape/kinds.h"
#include "world/solid/solid.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LARGE_TASK = 8192, MOST_IMAGES = 64, FIRST_PAIRS = 1024, ROLE_ROWS = 0, ROLE_LARGE, ROLE_UNBOUNDED };

/* What keeps two shapes from colliding, at hand. */
typedef struct filter {
    uint32_t group, collides;
    int body;
    uint8_t dynamic, role;
    uint8_t wide; /* bit k: longer than the period in direction k, and not dynamic */
} filter;

struct dls_broadphase {
    const dls_world *world; /* these of the present call */
    const dls_placed *placed;
    dls_collide_options options;
    double drift[3]; /* velocity that most have in common: it closes no gap */
    bool periodic;
    bool alike; /* nothing but distance keeps shapes in rows apart: no filter needs to be looked at */
    double period[3];

    /* in the scratch of the present call */
    dls_proxy *bound; /* of every shape, with its reach */
    filter *filters;
    double *size; /* longest edge, −1 without bounds */
    int *start;   /* of the pairs of a, and one more */
    uint8_t *level;
    int large_count;
    int *large;
    dls_proxy_image *image; /* of every proxy, periodic only */
    int pair_count;
    dls_shape_pair *pairs;

    dls_rows *rows;
    int list_count;
    int64_t list_capacity;
    dls_pair_list *lists; /* one per task; they grow on threads */
};

dls_broadphase *dls_broadphase_create(void) {
    dls_broadphase *b = DLS_NEW_ZERO(dls_broadphase, 1);
    if (!b) return NULL;
    b->rows = dls_rows_create();
    if (b->rows) return b;
    dls_free(b);
    return NULL;
}

void dls_broadphase_destroy(dls_broadphase *b) {
    if (!b) return;
    dls_rows_destroy(b->rows);
    for (int64_t k = 0; k < b->list_capacity; k++) dls_free(b->lists[k].pair);
    dls_free(b->lists);
    dls_free(b);
}

size_t dls_broadphase_bytes(const dls_broadphase *b) {
    size_t sum = sizeof *b + dls_rows_bytes() + (size_t)b->list_capacity * sizeof *b->lists;
    for (int64_t k = 0; k < b->list_capacity; k++) sum += (size_t)b->lists[k].capacity * sizeof *b->pairs;
    return sum;
}

/* ---- how far a shape may come ---- */

double dls_shape_spin(const dls_shape *s, const double *w) {
    bool round = dls_shape_table[s->kind].round;
    double arm = vec_dot(s->x, s->x), speed = vec_dot(w, w);
    if ((round && arm == 0) || speed == 0) return 0;
    return sqrt(speed) * (round ? sqrt(arm) : sqrt(arm) + s->bound);
}

/* Where b has no bounds and turns, its velocity is taken where a is. */
static double unbounded_speed(const dls_body_state *a, const dls_body_state *b, const double *place,
                              double ball) {
    double arm[3], turn[3], u[3];
    vec_sub(arm, place, b->x);
    vec_cross(turn, b->w, arm);
    for (int k = 0; k < 3; k++) u[k] = a->v[k] - b->v[k] - turn[k];
    return vec_norm(u) + vec_norm(b->w) * ball;
}

double dls_pair_reach(const dls_world *world, const dls_placed *placed, const dls_collide_options *options,
                      const dls_shape_pair *pair, const double *shift) {
    const dls_shape *a = placed[pair->a].shape, *b = placed[pair->b].shape;
    const dls_body_state *sa = dls_shape_carrier(world, a->body, pair->a),
                         *sb = dls_shape_carrier(world, b->body, pair->b);
    double spin_a = dls_shape_spin(a, sa->w) + dls_row_spread(world, a->body),
           spin_b = dls_shape_spin(b, sb->w) + dls_row_spread(world, b->body), u[3], place[3], speed;
    if (isinf(spin_b)) {
        vec_sub(place, placed[pair->a].x, shift);
        speed = unbounded_speed(sa, sb, place, a->bound) + spin_a;
    } else if (isinf(spin_a)) {
        vec_add(place, placed[pair->b].x, shift);
        speed = unbounded_speed(sb, sa, place, b->bound) + spin_b;
    } else {
        vec_sub(u, sa->v, sb->v);
        speed = vec_norm(u) + spin_a + spin_b;
    }
    double extra = options->extra ? options->extra[a->body] + options->extra[b->body] : 0;
    return options->margin + extra + options->h * speed;
}

/* The mean velocity of what moves freely, unless it serves worse than rest does. */
static void choose_drift(dls_broadphase *b) {
    const dls_world *w = b->world;
    double mean[3] = {0, 0, 0}, at_rest = 0, moving = 0, u[3];
    int count = 0;
    vec_set(b->drift, 0, 0, 0);
    for (int i = 0; i < w->body_count; i++) {
        if (w->bodies[i].motion != DLS_DYNAMIC) continue;
        vec_add(mean, mean, w->states[i].v);
        count++;
    }
    if (count == 0) return;
    vec_scale(mean, 1.0 / count, mean);
    for (int i = 0; i < w->body_count; i++) {
        vec_sub(u, w->states[i].v, mean);
        moving += vec_norm(u);
        at_rest += vec_norm(w->states[i].v);
    }
    if (moving < at_rest) vec_copy(b->drift, mean);
}

/* ---- bounds of every shape ---- */

static bool near_state(const dls_body_state *s) {
    double sum = 0; /* a NaN anywhere makes it NaN */
    for (int k = 0; k < 3; k++) sum += fabs(s->x[k]) + fabs(s->v[k]) + fabs(s->w[k]);
    for (int k = 0; k < 4; k++) sum += fabs(s->q[k]);
    return sum <= 9 * DLS_FARTHEST;
}

static void bound_shape(dls_broadphase *b, int i) {
    const dls_placed *p = &b->placed[i];
    const dls_body_state *state = dls_shape_carrier(b->world, p->shape->body, i);
    dls_proxy *proxy = &b->bound[i];
    filter *f = &b->filters[i];
    double low[3], high[3], u[3], half[3], longest = 0;
    dls_shape_box(p->shape, p->x, p->R, low, high);
    vec_sub(u, state->v, b->drift);
    double spin = dls_shape_spin(p->shape, state->w) + dls_row_spread(b->world, p->shape->body);
    double reach = 0.5 * b->options.margin + b->options.h * (vec_norm(u) + spin);
    if (b->options.extra) reach += b->options.extra[p->shape->body];
    *f = (filter){p->shape->group, p->shape->collides,
                  p->shape->body,  b->world->bodies[p->shape->body].motion == DLS_DYNAMIC,
                  ROLE_ROWS,       0};
    bool bounded = isfinite(reach);
    for (int k = 0; k < 3; k++) {
        bounded = bounded && isfinite(low[k]) && isfinite(high[k]);
        if (!f->dynamic && b->period[k] > 0 && high[k] - low[k] > b->period[k] * (1 + 1e-9))
            f->wide |= (uint8_t)(1 << k);
    }
    b->size[i] = -1;
    f->role = ROLE_UNBOUNDED;
    if (!bounded) return;
    for (int k = 0; k < 3; k++) {
        proxy->c[k] = 0.5 * low[k] + 0.5 * high[k];
        half[k] = 0.5 * high[k] - 0.5 * low[k];
        proxy->h[k] = half[k] + reach;
        proxy->h[k] += 1e-15 * (fabs(proxy->c[k]) + proxy->h[k]); /* what rounding may hide */
        if (2 * proxy->h[k] > longest) longest = 2 * proxy->h[k];
    }
    double corner = vec_norm(half), ball = p->shape->bound + vec_distance(proxy->c, p->x);
    proxy->ball = (corner < ball ? corner : ball) + reach;
    proxy->ball += 2e-15 * (vec_norm(proxy->c) + proxy->ball);
    proxy->shape = proxy->index = i;
    f->role = ROLE_ROWS;
    for (int k = 0; k < 3; k++)
        if (b->period[k] > 0 && 2 * proxy->h[k] > b->period[k] * (1 - 1e-9)) f->role = ROLE_LARGE;
    if (f->role == ROLE_ROWS) b->size[i] = longest;
}

static double bound_shapes(void *self, int first, int end) {
    dls_broadphase *b = self;
    double wrong = 0;
    for (int i = first; i < end; i++) {
        if (!near_state(&b->world->states[b->placed[i].shape->body])) {
            wrong++;
            continue;
        }
        bound_shape(b, i);
    }
    return wrong;
}

static dls_status say_wrong_state(const dls_world *w, dls_error *error) {
    int i = 0;
    while (i < w->body_count - 1 && near_state(&w->states[i])) i++;
    return dls_fail(error, DLS_ERROR_NUMERIC,
                    "body %d has a position or velocity that is not a number, or is beyond %g",
                    w->bodies[i].id, DLS_FARTHEST);
}

static dls_status take_shapes(dls_broadphase *b, int count, dls_error *error) {
    dls_workspace *scratch = b->options.scratch;
    b->bound = DLS_TAKE(scratch, dls_proxy, count);
    b->filters = DLS_TAKE(scratch, filter, count);
    b->size = DLS_TAKE(scratch, double, count);
    b->start = DLS_TAKE(scratch, int, count + 1);
    b->level = DLS_TAKE(scratch, uint8_t, count);
    b->large = DLS_TAKE(scratch, int, count);
    bool taken = b->bound && b->filters && b->size && b->start && b->level && b->large;
    return taken ? DLS_OK : dls_fail_memory(error);
}

/* ---- pairs as they are found ---- */

static bool grow_list(dls_pair_list *list) {
    int64_t wanted = list->count ? list->count + list->count / 2 : FIRST_PAIRS;
    list->out_of_memory = !dls_grow(&list->pair, list->count, &list->capacity, wanted, sizeof *list->pair);
    return !list->out_of_memory;
}

static inline bool may_collide(const filter *f, const filter *g) {
    return (f->dynamic || g->dynamic) && (f->group & g->collides) && (g->group & f->collides);
}

static inline void add_pair(dls_pair_list *list, int a, int b, const int *image) {
    if (list->count == list->capacity && !grow_list(list)) return;
    dls_shape_pair *pair = &list->pair[list->count++];
    pair->a = a, pair->b = b;
    for (int k = 0; k < 3; k++) pair->image[k] = (int16_t)image[k];
}

static void meet_plain(void *self, const dls_proxy *p, const dls_proxy *q, dls_pair_list *list) {
    static const int none[3] = {0, 0, 0};
    const dls_broadphase *b = self;
    const filter *f = &b->filters[p->shape], *g = &b->filters[q->shape];
    if (f->body == g->body || !may_collide(f, g)) return;
    if (p->shape < q->shape)
        add_pair(list, p->shape, q->shape, none);
    else
        add_pair(list, q->shape, p->shape, none);
}

static void meet_alike(void *self, const dls_proxy *p, const dls_proxy *q, dls_pair_list *list) {
    static const int none[3] = {0, 0, 0};
    (void)self;
    bool ordered = p->shape < q->shape;
    add_pair(list, ordered ? p->shape : q->shape, ordered ? q->shape : p->shape, none);
}

/* q moved by image meets p. */
static void add_image_pair(const dls_broadphase *b, int p, int q, const int *image, dls_pair_list *list) {
    assert(b->periodic || (image[0] == 0 && image[1] == 0 && image[2] == 0));
    const filter *f = &b->filters[p], *g = &b->filters[q];
    int sign = image[0] ? image[0] : image[1] ? image[1] : image[2];
    if ((f->body == g->body && sign == 0) || !may_collide(f, g)) return;
    for (int k = 0; k < 3; k++)
        if (image[k] > INT16_MAX || image[k] < -INT16_MAX) list->out_of_range = true;
    if (p < q || (p == q && sign > 0)) {
        add_pair(list, p, q, image);
        return;
    }
    int back[3] = {-image[0], -image[1], -image[2]};
    add_pair(list, q, p, back);
}

static void meet_periodic(void *self, const dls_proxy *p, const dls_proxy *q, dls_pair_list *list) {
    const dls_broadphase *b = self;
    const dls_proxy_image *i = &b->image[p->index], *j = &b->image[q->index];
    int image[3];
    for (int k = 0; k < 3; k++) {
        if (i->cell[k] && j->cell[k]) return; /* the same two meet elsewhere */
        image[k] = j->offset[k] - i->offset[k];
    }
    add_image_pair(b, p->shape, q->shape, image, list);
}

/* ---- shapes that are tested against all ---- */

/* At least how far the point c is from the solid side of an obstacle; −INFINITY where that is not simple. */
static double wall_distance(const dls_placed *w, const double *c) {
    const dls_shape *s = w->shape;
    unsigned walls = dls_shape_table[s->kind].walls;
    double d[3], p[3], least = walls ? INFINITY : -INFINITY;
    vec_sub(d, c, w->x);
    mat_apply_transposed(p, w->R, d);
    if (walls & DLS_WALL_FLAT) least = p[dls_shape_table[s->kind].planar ? 1 : 2];
    if (walls & DLS_WALL_ROUND) least = fmin(least, s->radius - sqrt(p[0] * p[0] + p[1] * p[1]));
    if (walls & DLS_WALL_ENDS && s->length > 0) least = fmin(least, 0.5 * s->length - fabs(p[2]));
    for (int k = 0; k < 3 && walls & DLS_WALL_BOX; k++) least = fmin(least, s->size[k] - fabs(p[k]));
    return least;
}

/* Whether shape i may reach a shape without bounds, whose velocity is taken where i is. */
static bool reaches_unbounded(const dls_broadphase *b, int large, const dls_proxy *p) {
    const dls_body_state *s = &b->world->states[b->filters[large].body];
    double distance = wall_distance(&b->placed[large], p->c), arm[3], turn[3], u[3];
    vec_sub(arm, p->c, s->x);
    vec_cross(turn, s->w, arm);
    for (int k = 0; k < 3; k++) u[k] = s->v[k] + turn[k] - b->drift[k];
    double speed = vec_norm(u) + vec_norm(s->w) * p->ball;
    double rounding = 1e-14 * (vec_norm(p->c) + vec_norm(b->placed[large].x));
    return distance <= p->ball + 0.5 * b->options.margin + b->options.h * speed + rounding;
}

/* Images of i that bring its box to the large one's. */
static void large_images(const dls_broadphase *b, int large, int i, int *first, int *last) {
    const dls_proxy *g = &b->bound[large], *p = &b->bound[i];
    int wide = b->filters[large].wide | b->filters[i].wide;
    for (int k = 0; k < 3; k++) {
        first[k] = last[k] = 0;
        if (!(b->period[k] > 0)) continue;
        double d = g->c[k] - p->c[k], reach = g->h[k] + p->h[k], low = ceil((d - reach) / b->period[k]),
               high = floor((d + reach) / b->period[k]);
        if (wide >> k & 1) low = high = nearbyint(d / b->period[k]);
        first[k] = (int)fmax(fmin(low, 1e9), -1e9);
        last[k] = (int)fmax(fmin(high, 1e9), -1e9);
    }
}

static void test_periodic(const dls_broadphase *b, int large, int i, dls_pair_list *list) {
    int first[3], last[3], m[3];
    large_images(b, large, i, first, last);
    for (int k = 0; k < 3; k++)
        if ((int64_t)last[k] - first[k] > 2 * MOST_IMAGES) {
            list->out_of_range = true;
            return;
        }
    for (m[0] = first[0]; m[0] <= last[0]; m[0]++)
        for (m[1] = first[1]; m[1] <= last[1]; m[1]++)
            for (m[2] = first[2]; m[2] <= last[2]; m[2]++) {
                dls_proxy moved = b->bound[i];
                for (int k = 0; k < 3; k++) moved.c[k] += m[k] * b->period[k];
                int sign = m[0] ? m[0] : m[1] ? m[1] : m[2];
                if ((large != i || sign > 0) && dls_proxies_meet(&b->bound[large], &moved))
                    add_image_pair(b, large, i, m, list);
            }
}

static void test_large(const dls_broadphase *b, int large, int i, dls_pair_list *list) {
    static const int none[3] = {0, 0, 0};
    const filter *f = &b->filters[large], *g = &b->filters[i];
    if (!may_collide(f, g) || g->role == ROLE_UNBOUNDED) return;
    if (f->role == ROLE_UNBOUNDED) {
        if (reaches_unbounded(b, large, &b->bound[i])) add_image_pair(b, large, i, none, list);
    } else if (g->role == ROLE_LARGE && i < large) {
        return; /* found the other way round */
    } else if (b->periodic) {
        test_periodic(b, large, i, list);
    } else if (dls_proxies_meet(&b->bound[large], &b->bound[i])) {
        add_image_pair(b, large, i, none, list);
    }
}

/* ---- proxies ---- */

static void choose_levels(dls_broadphase *b) {
    int count = b->world->shape_count;
    uint32_t group = UINT32_MAX, collides = UINT32_MAX;
    b->large_count = 0;
    b->alike = !b->periodic;
    dls_rows_choose_levels(b->rows, count, b->size);
    for (int i = 0; i < count; i++) {
        filter *f = &b->filters[i];
        int level = f->role == ROLE_ROWS ? dls_rows_level(b->rows, b->size[i]) : -1;
        if (level < 0 && f->role == ROLE_ROWS) f->role = ROLE_LARGE;
        b->level[i] = (uint8_t)(level < 0 ? DLS_ASIDE : level);
        if (level < 0) {
            b->large[b->large_count++] = i;
            continue;
        }
        group &= f->group, collides &= f->collides;
        b->alike = b->alike && f->dynamic && (i == 0 || f->body != b->filters[i - 1].body);
    }
    b->alike = b->alike && (group & collides); /* one bit that all have is enough */
}

/* In direction k: how often the shape went round, and the images of it that touch the box. */
static bool choose_images(const dls_broadphase *b, const dls_proxy *p, int *wrap, int *corner, int *first,
                          int *last) {
    for (int k = 0; k < 3; k++) {
        double L = b->period[k], low = b->world->def.period_low[k];
        wrap[k] = corner[k] = first[k] = last[k] = 0;
        if (!(L > 0)) continue;
        double round = floor((p->c[k] - low) / L), c = p->c[k] - round * L - low;
        if (!(fabs(round) < 1e9)) return false;
        wrap[k] = (int)round;
        corner[k] = c < p->h[k] ? -1 : 0;
        first[k] = c + p->h[k] * (1 + 1e-12) >= L * (1 - 1e-12) ? -1 : 0;
        last[k] = -corner[k];
    }
    return true;
}

/* What rows are made of: a proxy for every shape, or for every image of one. */
typedef struct proxies {
    int count;
    const dls_proxy *proxy;
    const uint8_t *level;
} proxies;

/* All images of the shapes in rows whose boxes touch the periodic box; how many, where proxy is NULL. −1: a
 * shape is too far away. */
static int list_images(const dls_broadphase *b, dls_proxy *proxy, uint8_t *level, int *stray) {
    int n = 0;
    for (int i = 0; i < b->world->shape_count; i++) {
        int wrap[3], corner[3], first[3], last[3], m[3];
        if (b->filters[i].role != ROLE_ROWS) continue;
        if (!choose_images(b, &b->bound[i], wrap, corner, first, last)) {
            *stray = i;
            return -1;
        }
        for (m[0] = first[0]; m[0] <= last[0]; m[0]++)
            for (m[1] = first[1]; m[1] <= last[1]; m[1]++)
                for (m[2] = first[2]; m[2] <= last[2]; m[2]++, n++) {
                    if (!proxy) continue;
                    proxy[n] = b->bound[i];
                    proxy[n].index = n;
                    level[n] = b->level[i];
                    for (int k = 0; k < 3; k++) {
                        b->image[n].offset[k] = m[k] - wrap[k];
                        b->image[n].cell[k] = (int8_t)(corner[k] + m[k]);
                        proxy[n].c[k] += b->image[n].offset[k] * b->period[k];
                    }
                }
    }
    return n;
}

static dls_status make_images(dls_broadphase *b, proxies *all, dls_error *error) {
    dls_workspace *scratch = b->options.scratch;
    int stray = 0, count = list_images(b, NULL, NULL, &stray);
    if (count < 0)
        return dls_fail(error, DLS_ERROR_NUMERIC, "body %d is a billion periods away",
                        b->world->bodies[b->filters[stray].body].id);
    dls_proxy *proxy = DLS_TAKE(scratch, dls_proxy, count);
    uint8_t *level = DLS_TAKE(scratch, uint8_t, count);
    b->image = DLS_TAKE(scratch, dls_proxy_image, count);
    if (!proxy || !level || !b->image) return dls_fail_memory(error);
    *all = (proxies){list_images(b, proxy, level, &stray), proxy, level};
    return DLS_OK;
}

/* ---- tasks ---- */

static dls_status grow_lists(dls_broadphase *b, int count, dls_error *error) {
    int64_t had = b->list_capacity;
    if (!DLS_RESERVE(b->lists, had, b->list_capacity, count)) return dls_fail_memory(error);
    for (int64_t k = had; k < b->list_capacity; k++) b->lists[k] = (dls_pair_list){0};
    b->list_count = count;
    for (int k = 0; k < count; k++) {
        b->lists[k].count = 0;
        b->lists[k].out_of_memory = b->lists[k].out_of_range = false;
    }
    return DLS_OK;
}

static void sort_task(void *self, int task, int end) {
    dls_broadphase *b = self;
    for (; task < end; task++) dls_rows_sort(b->rows, task);
}

static void find_task(void *self, int task, int end) {
    dls_broadphase *b = self;
    int sweeps = dls_rows_task_count(b->rows);
    dls_meet_function meet = b->periodic ? meet_periodic : b->alike ? meet_alike : meet_plain;
    for (; task < end; task++) {
        dls_pair_list *list = &b->lists[task];
        if (task < sweeps) {
            dls_rows_sweep(b->rows, task, meet, b, list);
            continue;
        }
        int first = (task - sweeps) * LARGE_TASK, last = first + LARGE_TASK;
        if (last > b->world->shape_count) last = b->world->shape_count;
        for (int k = 0; k < b->large_count; k++)
            for (int i = first; i < last; i++) test_large(b, b->large[k], i, list);
    }
}

/* ---- canonical order ---- */

static inline bool after(const dls_shape_pair *p, const dls_shape_pair *q) {
    if (p->b != q->b) return p->b > q->b;
    for (int k = 0; k < 3; k++)
        if (p->image[k] != q->image[k]) return p->image[k] > q->image[k];
    return false;
}

/* Pairs of one a: a handful, or many where a is large; by insertion over shrinking gaps. */
static void sort_pairs(dls_shape_pair *p, int n) {
    static const int gaps[] = {57491, 21915, 8353, 3184, 1214, 463, 176, 67, 26, 10, 4, 1};
    int g = 11;
    bool sorted = true;
    for (int i = 1; n > 32 && i < n && sorted; i++) sorted = !after(&p[i - 1], &p[i]);
    if (n > 32 && sorted) return;
    while (n > 32 && g > 0 && gaps[g - 1] < n) g--;
    for (; g < 12; g++)
        for (int i = gaps[g]; i < n; i++) {
            if (!after(&p[i - gaps[g]], &p[i])) continue;
            dls_shape_pair t = p[i];
            int j = i;
            for (; j >= gaps[g] && after(&p[j - gaps[g]], &t); j -= gaps[g]) p[j] = p[j - gaps[g]];
            p[j] = t;
        }
}

static void sort_range(void *self, int first, int end) {
    dls_broadphase *b = self;
    for (int a = first; a < end; a++)
        if (b->start[a + 1] - b->start[a] > 1)
            sort_pairs(b->pairs + b->start[a], b->start[a + 1] - b->start[a]);
}

#ifndef NDEBUG
/* Ascending by (a, b, image), each pair once, a before b. */
static bool pairs_are_canonical(const dls_broadphase *b) {
    for (int i = 0; i < b->pair_count; i++) {
        const dls_shape_pair *p = &b->pairs[i];
        if (p->a < 0 || p->a > p->b || p->b >= b->world->shape_count) return false;
        if (i > 0 && (p->a < p[-1].a || (p->a == p[-1].a && !after(p, p - 1)))) return false;
    }
    return true;
}
#endif

static dls_status check_lists(dls_broadphase *b, dls_error *error) {
    int64_t count = 0;
    for (int k = 0; k < b->list_count; k++) {
        if (b->lists[k].out_of_memory) return dls_fail_memory(error);
        if (b->lists[k].out_of_range)
            return dls_fail(error, DLS_ERROR_NUMERIC,
                            "shapes are more periods apart than %d, or one reaches over more than %d",
                            INT16_MAX, MOST_IMAGES);
        count += b->lists[k].count;
    }
    if (count > INT32_MAX / 2) return dls_fail_memory(error);
    b->pair_count = (int)count;
    b->pairs = DLS_TAKE(b->options.scratch, dls_shape_pair, count);
    return b->pairs ? DLS_OK : dls_fail_memory(error);
}

/* By counting on a, then within each a: the lists' own order does not matter. */
static dls_status order_pairs(dls_broadphase *b, dls_error *error) {
    dls_status status = check_lists(b, error);
    if (status) return status;
    int shapes = b->world->shape_count;
    memset(b->start, 0, sizeof *b->start * ((size_t)shapes + 1));
    for (int k = 0; k < b->list_count; k++)
        for (int i = 0; i < b->lists[k].count; i++) b->start[b->lists[k].pair[i].a]++;
    for (int a = 0, sum = 0; a <= shapes; a++) {
        sum += b->start[a];
        b->start[a] = sum;
    }
    for (int k = b->list_count - 1; k >= 0; k--)
        for (int i = b->lists[k].count - 1; i >= 0; i--) {
            const dls_shape_pair *pair = &b->lists[k].pair[i];
            b->pairs[--b->start[pair->a]] = *pair;
        }
    dls_parallel_for(shapes, b->options.threads, sort_range, b);
    assert(pairs_are_canonical(b));
    return DLS_OK;
}

dls_status dls_broadphase_find(dls_broadphase *b, const dls_world *world, const dls_placed *placed,
                               const dls_collide_options *options, const dls_shape_pair **pairs, int *count,
                               dls_error *error) {
    b->world = world, b->placed = placed, b->options = *options;
    memcpy(b->period, world->def.period_size, sizeof b->period);
    b->periodic = b->period[0] > 0 || b->period[1] > 0 || b->period[2] > 0;
    *pairs = NULL, *count = 0;
    dls_status status = take_shapes(b, world->shape_count, error);
    if (status || world->shape_count == 0) return status;
    choose_drift(b);
    if (dls_parallel_sum(world->shape_count, options->threads, bound_shapes, b) > 0)
        return say_wrong_state(world, error);
    choose_levels(b);
    proxies all = {world->shape_count, b->bound, b->level};
    if (b->periodic) status = make_images(b, &all, error);
    if (status) return status;
    if (!dls_rows_build(b->rows, all.count, all.proxy, all.level, options->scratch))
        return dls_fail_memory(error);
    dls_parallel_each(dls_rows_task_count(b->rows), options->threads, sort_task, b);
    int larges = b->large_count ? (world->shape_count + LARGE_TASK - 1) / LARGE_TASK : 0;
    status = grow_lists(b, dls_rows_task_count(b->rows) + larges, error);
    if (status) return status;
    dls_parallel_each(b->list_count, options->threads, find_task, b);
    status = order_pairs(b, error);
    if (!status) *pairs = b->pairs, *count = b->pair_count;
    return status;
}

/* Pairs that no contact keeps apart although they meet on the way that their bodies take. Velocities of the
 * step before tell where contacts are looked for; a body that is hit, or born, goes farther. */
#include "collide/collider.h"
#include "collide/meeting.h"

#include "base/memory.h"
#include "base/vector.h"
#include "world/joint/joint.h"
#include "world/shape/kinds.h"

#include <math.h>
#include <string.h>

/* Shapes in cells of a grid, by where they stand. What reaches much farther than others is in none. */
typedef struct grid {
    int cells[3], count; /* along each axis, 1 where the box is periodic; in all */
    double first[3], width[3];
    double far;          /* how far shapes in cells reach within the step */
    int *start, *member; /* members of cell k from start[k] on; behind those of the last are all others */
} grid;

typedef struct search {
    dls_collider *collider;
    const dls_world *world;
    double h;
    bool known;       /* pairs that have contacts are left out */
    const grid *grid; /* NULL: every shape is asked about every other */
} search;

enum { ROWS_IN_GRID = 16 };    /* so many rows are worth a grid */
static const double ASIDE = 4; /* mean reaches */

static void place_shape(const dls_world *world, int shape, const double *shift, dls_traveller *t) {
    const dls_shape *s = &world->shapes[shape];
    const dls_body_state *state = &world->states[s->body];
    double R[9];
    quat_matrix(state->q, R);
    t->placed.shape = s;
    vec_add(t->centre, state->x, shift);
    mat_apply(t->placed.x, R, s->x);
    vec_add(t->placed.x, t->placed.x, t->centre);
    mat_multiply(t->placed.R, R, s->R);
    vec_copy(t->v, state->v);
    vec_copy(t->w, state->w);
    t->moves = world->bodies[s->body].motion == DLS_DYNAMIC;
}

/* Contacts ascend by who touches whom. */
static bool has_contacts(const dls_collider *c, const dls_world *world, int a, int b, const int16_t *image) {
    const dls_body *of_a = &world->bodies[world->shapes[a].body],
                   *of_b = &world->bodies[world->shapes[b].body];
    dls_pair_key key = {of_a->uid,
                        of_b->uid,
                        (int16_t)(a - of_a->shape_first),
                        (int16_t)(b - of_b->shape_first),
                        {image[0], image[1], image[2]},
                        0};
    int low = 0, high = c->contacts.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        dls_pair_key here = dls_contact_key(&c->contacts.item[middle]);
        int order = dls_pair_key_compare(&here, &key);
        if (order == 0) return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* When shapes a and b, b moved by image periods, first touch; a < b or they are of one body. */
static double meeting_time(const search *s, int a, int b, const int16_t *image) {
    static const double none[3] = {0, 0, 0};
    dls_traveller of_a, of_b;
    double shift[3], d[3], u[3];
    for (int k = 0; k < 3; k++) shift[k] = image[k] * s->world->def.period_size[k];
    place_shape(s->world, a, none, &of_a);
    place_shape(s->world, b, shift, &of_b);
    const dls_shape *sa = of_a.placed.shape, *sb = of_b.placed.shape;
    vec_sub(d, of_b.placed.x, of_a.placed.x);
    vec_sub(u, of_b.v, of_a.v);
    double reach = s->h * (vec_norm(u) + (isinf(sa->bound) ? 0 : dls_shape_spin(sa, of_a.w)) +
                           (isinf(sb->bound) ? 0 : dls_shape_spin(sb, of_b.w)));
    if (!(vec_norm(d) <= sa->bound + sb->bound + reach)) return INFINITY;
    if (s->known && has_contacts(s->collider, s->world, a, b, image)) return INFINITY;
    const dls_pair_kind *row = s->collider->rows[sa->kind][sb->kind].row;
    bool swapped = s->collider->rows[sa->kind][sb->kind].swapped;
    if (!row) return INFINITY;
    dls_meeting m = {.collide = row->collide,
                     .a = swapped ? of_b : of_a,
                     .b = swapped ? of_a : of_b,
                     .h = s->h,
                     .reach = reach,
                     .size = fmin(sa->bound, sb->bound)};
    return dls_pair_meeting_time(&m, &s->collider->slots[0].trial);
}

/* ---- a grid ---- */

/* How far a shape may be within the step from where it stands. */
static double reach_of(const search *s, int shape, double *at) {
    static const double none[3] = {0, 0, 0};
    dls_traveller t;
    place_shape(s->world, shape, none, &t);
    vec_copy(at, t.placed.x);
    double spin = isinf(t.placed.shape->bound) ? 0 : dls_shape_spin(t.placed.shape, t.w);
    return t.placed.shape->bound + s->h * (vec_norm(t.v) + spin);
}

static int cell_along(const grid *g, int axis, double at) {
    double k = (at - g->first[axis]) / g->width[axis];
    return k > 0 ? k < g->cells[axis] ? (int)k : g->cells[axis] - 1 : 0;
}

static int cell_of(const grid *g, const double *at) {
    return (cell_along(g, 2, at[2]) * g->cells[1] + cell_along(g, 1, at[1])) * g->cells[0] +
           cell_along(g, 0, at[0]);
}

/* Cells as wide as two shapes reach, and no more of them than there are shapes. */
static void lay_out(const search *s, grid *g) {
    const dls_world *w = s->world;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    double sum = 0, mean, at[3], volume = 1;
    int finite = 0;
    for (int k = 0; k < w->shape_count; k++) {
        double reach = reach_of(s, k, at);
        if (!isinf(reach)) sum += reach, finite++;
    }
    mean = finite ? sum / finite : 0;
    for (int k = 0; k < w->shape_count; k++) {
        double reach = reach_of(s, k, at);
        if (!(reach <= ASIDE * mean)) continue;
        g->far = fmax(g->far, reach);
        for (int i = 0; i < 3; i++) low[i] = fmin(low[i], at[i]), high[i] = fmax(high[i], at[i]);
    }
    for (int i = 0; i < 3; i++) volume *= fmax(high[i] - low[i], 2 * g->far);
    double side = fmax(2 * g->far, cbrt(volume / w->shape_count));
    g->count = 1;
    for (int i = 0; i < 3; i++) {
        double cells = w->def.period_size[i] > 0 ? 1 : floor((high[i] - low[i]) / side);
        g->cells[i] = cells > 1 ? (int)fmin(cells, w->shape_count) : 1;
        g->first[i] = low[i];
        g->width[i] = high[i] > low[i] ? (high[i] - low[i]) / g->cells[i] : 1;
        g->count *= g->cells[i];
    }
}

/* False when memory is out: then there is none. */
static bool fill_grid(const search *s, grid *g, dls_workspace *space) {
    int count = s->world->shape_count;
    *g = (grid){.count = 0};
    lay_out(s, g);
    g->start = DLS_TAKE_ZERO(space, int, (int64_t)g->count + 2);
    g->member = DLS_TAKE(space, int, count);
    int *cell = DLS_TAKE(space, int, count);
    if (!g->start || !g->member || !cell) return false;
    for (int k = 0; k < count; k++) {
        double at[3], reach = reach_of(s, k, at);
        cell[k] = reach <= g->far ? cell_of(g, at) : g->count;
        g->start[cell[k] + 1]++;
    }
    for (int k = 0; k <= g->count; k++) g->start[k + 1] += g->start[k];
    for (int k = count - 1; k >= 0; k--) g->member[--g->start[cell[k] + 1]] = k;
    memmove(g->start, g->start + 1, sizeof *g->start * ((size_t)g->count + 1));
    g->start[g->count + 1] = count;
    return true;
}

/* ---- all that a row may meet ---- */

static bool may_meet(const dls_world *world, const dls_shape *a, const dls_shape *b) {
    return a->body != b->body && a->group & b->collides && b->group & a->collides &&
           !world->bodies[a->body].is_solid && !world->bodies[b->body].is_solid &&
           !(world->joint_count && dls_joints_part(world, a->body, b->body));
}

/* Over the images next to each other, with pairs in the order of rows. */
static double meet_shapes(const search *s, int i, int k) {
    const double *period = s->world->def.period_size;
    int a = i < k ? i : k, b = i < k ? k : i, most[3];
    double first = INFINITY;
    for (int axis = 0; axis < 3; axis++) most[axis] = period[axis] > 0 ? 1 : 0;
    for (int x = -most[0]; x <= most[0]; x++)
        for (int y = -most[1]; y <= most[1]; y++)
            for (int z = -most[2]; z <= most[2]; z++) {
                int16_t image[3] = {(int16_t)x, (int16_t)y, (int16_t)z};
                first = fmin(first, meeting_time(s, a, b, image));
            }
    return first;
}

static double meet_shape(const search *s, int i, int k) {
    const dls_shape *shapes = s->world->shapes;
    return may_meet(s->world, &shapes[i], &shapes[k]) ? meet_shapes(s, i, k) : (double)INFINITY;
}

static double meet_members(const search *s, int i, int cell) {
    double first = INFINITY;
    for (int k = s->grid->start[cell]; k < s->grid->start[cell + 1]; k++)
        first = fmin(first, meet_shape(s, i, s->grid->member[k]));
    return first;
}

/* In the cells that shape i reaches, and aside. */
static double meet_near(const search *s, int i) {
    const grid *g = s->grid;
    double at[3], first = meet_members(s, i, g->count), reach = reach_of(s, i, at) + g->far;
    int from[3], to[3];
    for (int k = 0; k < 3; k++)
        from[k] = cell_along(g, k, at[k] - reach), to[k] = cell_along(g, k, at[k] + reach);
    for (int z = from[2]; z <= to[2]; z++)
        for (int y = from[1]; y <= to[1]; y++)
            for (int x = from[0]; x <= to[0]; x++)
                first = fmin(first, meet_members(s, i, (z * g->cells[1] + y) * g->cells[0] + x));
    return first;
}

static double meet_row(const search *s, int row) {
    const dls_world *w = s->world;
    const dls_body *body = &w->bodies[row];
    double first = INFINITY;
    for (int i = body->shape_first; i < body->shape_first + body->shape_count; i++) {
        if (s->grid) first = fmin(first, meet_near(s, i));
        for (int k = 0; k < w->shape_count && !s->grid; k++) first = fmin(first, meet_shape(s, i, k));
    }
    return first;
}

double dls_collider_first_meeting(dls_collider *c, const dls_world *world, double h, int row) {
    search s = {.collider = c, .world = world, .h = h};
    return meet_row(&s, row);
}

bool dls_collider_misses(dls_collider *c, const dls_world *world, double h, const int *rows, int count,
                         dls_workspace *space) {
    search s = {.collider = c, .world = world, .h = h};
    grid cells;
    for (int k = 0; k < c->passing.count; k++)
        if (meeting_time(&s, c->passing.item[k].a, c->passing.item[k].b, c->passing.item[k].image) <= h)
            return true;
    s.known = true;
    if (count > ROWS_IN_GRID && fill_grid(&s, &cells, space)) s.grid = &cells;
    for (int k = 0; k < count; k++)
        if (meet_row(&s, rows[k]) <= h) return true;
    return false;
}

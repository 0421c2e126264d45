/* Pairs that no contact keeps apart although they meet on the way that their bodies take. Velocities of the
 * step before tell where contacts are looked for; a body that is hit, or born, goes farther. */
#include "collide/collider.h"
#include "collide/meeting.h"

#include "base/vector.h"
#include "world/joint/joint.h"
#include "world/shape/kinds.h"

#include <math.h>

typedef struct search {
    dls_collider *collider;
    const dls_world *world;
    double h;
    bool known; /* pairs that have contacts are left out */
} search;

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

static double meet_row(const search *s, int row) {
    const dls_world *w = s->world;
    const dls_body *body = &w->bodies[row];
    double first = INFINITY;
    for (int i = body->shape_first; i < body->shape_first + body->shape_count; i++)
        for (int k = 0; k < w->shape_count; k++)
            if (may_meet(w, &w->shapes[i], &w->shapes[k])) first = fmin(first, meet_shapes(s, i, k));
    return first;
}

double dls_collider_first_meeting(dls_collider *c, const dls_world *world, double h, int row) {
    search s = {.collider = c, .world = world, .h = h};
    return meet_row(&s, row);
}

bool dls_collider_misses(dls_collider *c, const dls_world *world, double h, const int *rows, int count) {
    search s = {.collider = c, .world = world, .h = h};
    for (int k = 0; k < c->passing.count; k++)
        if (meeting_time(&s, c->passing.item[k].a, c->passing.item[k].b, c->passing.item[k].image) <= h)
            return true;
    s.known = true;
    for (int k = 0; k < count; k++)
        if (meet_row(&s, rows[k]) <= h) return true;
    return false;
}

/* Where two bodies will meet within the step. Planes of contacts hold for ever, the faces, edges and corners
 * they stem from do not: a vertex that leaves a face before it gets down to it must not feel the plane
 * beyond. For open contacts that would close in the step, but not where they are found, the pair is followed
 * on its free way, and what it meets with there takes their place:
 *
 *     t ← t + min gap(t)/(−u_n),   until gap(t) = 0 or t > h,   gap now = −t u_n
 *
 * Planes keep convex bodies apart until they close, so a pair in straight motion is never late. One that
 * turns may be, for corners swing in while the nearest point goes away: what lies in each other at a time
 * that was tried, or at the end of the step, has met since it was last seen apart, and when is found by
 * bisection. */
#include "collide/meeting.h"

#include "base/vector.h"

#include <math.h>
#include <string.h>

static const double touch = 1e-4; /* of the smaller one's size: a gap that counts as none on the way */
static const double turns = 1e-3; /* rad in a step: below, motion is straight */
enum { LOOKS = 32, BISECTIONS = 12 };

/* Of the material point p of a side. */
static void velocity_of(const dls_traveller *side, const double *p, double *v) {
    double arm[3];
    vec_sub(arm, p, side->centre);
    vec_cross(v, side->w, arm);
    vec_add(v, v, side->v);
}

static void relative_velocity(const dls_traveller *a, const dls_traveller *b, const dls_contact_point *c,
                              double *u) {
    double of_a[3];
    velocity_of(a, c->point_a, of_a);
    velocity_of(b, c->point_b, u);
    vec_sub(u, u, of_a);
}

/* A side t later: about its mass centre, which goes straight. */
static void move(const dls_traveller *from, double t, dls_traveller *to) {
    double turn[3], q[4], R[9], arm[3];
    *to = *from;
    vec_scale(turn, t, from->w);
    quat_exponential(q, turn);
    quat_matrix(q, R);
    vec_along(to->centre, from->centre, t, from->v);
    vec_sub(arm, from->placed.x, from->centre);
    mat_apply(arm, R, arm);
    vec_add(to->placed.x, to->centre, arm);
    mat_multiply(to->placed.R, R, from->placed.R);
}

/* Whether a contact would close in the step, and far from where it is. */
static bool closes_elsewhere(const dls_meeting *m, const dls_contact_point *c) {
    double u[3], t[3];
    if (!(c->gap > 0)) return false;
    relative_velocity(&m->a, &m->b, c, u);
    double along = vec_dot(u, c->normal);
    if (!(c->gap < -along * m->h)) return false;
    vec_along(t, u, -along, c->normal);
    return vec_norm(t) * c->gap > m->far * -along;
}

/* Contacts of the pair at time t, in trial; the time after which the first of them is closed, INFINITY for
 * none. inside: whether the pair lies in each other then. */
static double look_ahead(const dls_meeting *m, double t, dls_traveller *a, dls_traveller *b,
                         dls_manifold *trial, bool *inside) {
    dls_pair_memory memory = {.used = 0};
    double first = INFINITY;
    *inside = false;
    move(&m->a, t, a);
    move(&m->b, t, b);
    trial->count = 0;
    m->collide(&a->placed, &b->placed, m->reach, &memory, NULL, 0, trial);
    for (int k = 0; k < trial->count; k++) {
        double u[3], speed;
        *inside = *inside || trial->point[k].gap < -touch * m->size;
        relative_velocity(a, b, &trial->point[k], u);
        speed = -vec_dot(u, trial->point[k].normal);
        if (speed > 0) first = fmin(first, fmax(trial->point[k].gap - touch * m->size, 0) / speed);
    }
    return first;
}

/* The contact as it is seen now: plane and levers are those of later, the point is that of the side that
 * moves, or the middle where both do. Where they touch too early for t is no penetration. */
static void bring_back(const dls_meeting *m, double t, const dls_traveller *a, const dls_traveller *b,
                       dls_contact_point *c) {
    double u[3], back_a[3], back_b[3], middle[3], share = m->a.moves ? (m->b.moves ? 0.5 : 0) : 1;
    relative_velocity(a, b, c, u);
    vec_along(back_a, c->point_a, -t, a->v);
    vec_along(back_b, c->point_b, -t, b->v);
    c->gap = fmax(c->gap - t * vec_dot(u, c->normal), 0);
    for (int k = 0; k < 3; k++) {
        middle[k] = (1 - share) * back_a[k] + share * back_b[k];
        c->point_a[k] = middle[k] - share * c->gap * c->normal[k];
        c->point_b[k] = middle[k] + (1 - share) * c->gap * c->normal[k];
    }
}

static dls_contact_point *find(const dls_manifold *m, uint64_t feature) {
    for (int k = 0; k < m->count; k++)
        if (m->point[k].feature == feature) return &m->point[k];
    return NULL;
}

/* What closes elsewhere goes, unless it is still there when the pair meets. */
static void drop(const dls_meeting *m, const dls_manifold *later, dls_manifold *manifold) {
    int kept = 0;
    for (int k = 0; k < manifold->count; k++) {
        dls_contact_point *c = &manifold->point[k];
        if (closes_elsewhere(m, c) && !(later && find(later, c->feature))) continue;
        manifold->point[kept++] = *c;
    }
    manifold->count = kept;
}

/* The pair is apart at one time and in each other at a later one, which becomes the time of the meeting. */
static void close_in(const dls_meeting *m, double apart, dls_manifold *trial, dls_traveller *a,
                     dls_traveller *b, double *t) {
    bool inside;
    for (int k = 0; k < BISECTIONS; k++) {
        double middle = 0.5 * (apart + *t);
        look_ahead(m, middle, a, b, trial, &inside);
        *(inside ? t : &apart) = middle;
    }
    look_ahead(m, *t, a, b, trial, &inside);
}

/* Whether the pair touches within the step, and when; a and b are its sides then, trial their contacts. */
static bool find_meeting(const dls_meeting *m, dls_manifold *trial, dls_traveller *a, dls_traveller *b,
                         double *t) {
    bool turning = m->h * (vec_norm(m->a.w) + vec_norm(m->b.w)) > turns, inside = false, began_inside = false;
    double apart = 0;
    *t = 0;
    for (int look = 0; look < LOOKS; look++) {
        double wait = look_ahead(m, *t, a, b, trial, &inside);
        if (look == 0) began_inside = inside;
        if (turning && inside && !began_inside) {
            close_in(m, apart, trial, a, b, t);
            return true;
        }
        if (!(wait > 0)) return true;
        if (!(*t + wait <= m->h) && (!turning || began_inside || *t == m->h)) return false;
        apart = *t;
        *t = fmin(*t + wait, m->h);
    }
    return true;
}

double dls_pair_meeting_time(const dls_meeting *m, dls_manifold *trial) {
    dls_traveller a, b;
    double t;
    return find_meeting(m, trial, &a, &b, &t) ? t : (double)INFINITY;
}

/* Contacts of the meeting at t, as they are now, in the place of those that close elsewhere. */
static void replace(const dls_meeting *m, double t, const dls_traveller *a, const dls_traveller *b,
                    const dls_manifold *later, dls_manifold *manifold) {
    drop(m, later, manifold);
    for (int k = 0; k < later->count; k++) {
        dls_contact_point c = later->point[k];
        double u[3];
        relative_velocity(a, b, &c, u);
        if (!(vec_dot(u, c.normal) < 0)) continue;
        dls_contact_point *here = find(manifold, c.feature);
        if (here && !closes_elsewhere(m, here)) continue;
        bring_back(m, t, a, b, &c);
        if (here)
            *here = c;
        else
            dls_manifold_add(manifold, c.point_a, c.point_b, c.normal, c.gap, c.feature);
    }
}

bool dls_pair_meet(const dls_meeting *m, dls_manifold *trial, dls_manifold *manifold) {
    dls_traveller a, b;
    double t;
    int k = 0;
    while (k < manifold->count && !closes_elsewhere(m, &manifold->point[k])) k++;
    if (k == manifold->count) return true;
    bool meets = find_meeting(m, trial, &a, &b, &t);
    if (trial->out_of_memory) manifold->out_of_memory = true;
    if (meets && t > 0) /* else they touch already */
        replace(m, t, &a, &b, trial, manifold);
    return meets;
}

void dls_pair_pass(const dls_meeting *m, dls_manifold *manifold) { drop(m, NULL, manifold); }

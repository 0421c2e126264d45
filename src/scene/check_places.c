/* Bodies that stand where they should not: born into others, or behind the surface that is to hold them. */
#include "scene/check.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "collide/depth.h"
#include "collide/mesh/query.h"
#include "world/shape/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A body as it is given, whether it has a row or waits. */
typedef struct standing {
    dls_body_id id;
    double step, low; /* of its birth; where it begins along x */
    const dls_body *body;
    const dls_body_state *state;
    const dls_shape *shapes;
} standing;

static bool shapes_meet(const dls_shape *a, const dls_shape *b) {
    return a->group & b->collides && b->group & a->collides;
}

/* ---- births ---- */

static standing stand(const dls_world *w, dls_body_id id, double h) {
    const dls_body_entry *e = &w->entries[id];
    standing s = {.id = id, .step = e->birth > 0 ? ceil(e->birth / h - 1e-9) : 0};
    if (e->kept) {
        s.body = &e->kept->body, s.state = &e->kept->state, s.shapes = e->kept->shapes;
    } else {
        s.body = &w->bodies[e->slot], s.state = &w->states[e->slot];
        if (w->shapes) s.shapes = w->shapes + s.body->shape_first; /* none where no body has any */
    }
    s.low = s.state->x[0] - s.body->radius;
    return s;
}

static int by_birth_and_place(const void *a, const void *b) {
    const standing *x = a, *y = b;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void place(const standing *s, int shape, dls_placed *placed) {
    double R[9];
    quat_matrix(s->state->q, R);
    placed->shape = &s->shapes[shape];
    mat_apply(placed->x, R, placed->shape->x);
    vec_add(placed->x, placed->x, s->state->x);
    mat_multiply(placed->R, R, placed->shape->R);
}

/* NaN when memory is out. */
static double body_depth(const standing *a, const standing *b, dls_manifold *manifold) {
    double most = 0;
    if (a->body->motion != DLS_DYNAMIC && b->body->motion != DLS_DYNAMIC) return 0;
    if (vec_distance(a->state->x, b->state->x) > a->body->radius + b->body->radius) return 0;
    for (int i = 0; i < a->body->shape_count; i++)
        for (int k = 0; k < b->body->shape_count; k++) {
            dls_placed first, second;
            place(a, i, &first);
            place(b, k, &second);
            double depth = dls_placed_depth(&first, &second, manifold);
            if (isnan(depth)) return depth;
            most = fmax(most, depth);
        }
    return most;
}

typedef struct births {
    dls_check *check;
    int newborn_count, still_count;
    standing *newborns, *stills; /* in the order of birth and place; static bodies that are there before */
    dls_manifold manifold;
    int pairs; /* that overlap */
    double deepest;
} births;

static dls_status judge(births *x, const standing *a, const standing *b, dls_error *error) {
    char first[80], second[80];
    double depth = body_depth(a, b, &x->manifold);
    if (isnan(depth)) return dls_fail_memory(error);
    if (depth == 0) return DLS_OK;
    x->deepest = fmax(x->deepest, depth);
    if (x->pairs++ < DLS_CHECK_LINES)
        dls_check_warn(x->check, "overlap at birth: %s, born at t = %g s, and %s, %.3g m deep",
                       dls_check_label(x->check, a->id, first, sizeof first),
                       x->check->world->entries[a->id].birth,
                       dls_check_label(x->check, b->id, second, sizeof second), depth);
    return DLS_OK;
}

static dls_status judge_all(births *x, dls_error *error) {
    const dls_world *w = x->check->world;
    dls_status status = DLS_OK;
    for (int i = 0; i < x->newborn_count; i++) {
        const standing *a = &x->newborns[i];
        for (int k = 0; k < x->still_count && !status; k++) {
            const standing *b = &x->stills[k];
            bool there = b->step < a->step && w->entries[b->id].death > w->entries[a->id].birth;
            if (there) status = judge(x, a, b, error);
        }
        for (int k = i + 1; k < x->newborn_count && !status; k++) {
            const standing *b = &x->newborns[k];
            if (b->step != a->step || b->low > a->state->x[0] + a->body->radius) break;
            status = judge(x, a, b, error);
        }
        if (status) return status;
    }
    return DLS_OK;
}

dls_status dls_check_births(dls_check *c, dls_error *error) {
    int count = dls_world_body_count(c->world);
    births x = {.check = c, .newborns = DLS_NEW(standing, count), .stills = DLS_NEW(standing, count)};
    dls_status status = x.newborns && x.stills ? DLS_OK : dls_fail_memory(error);
    for (int id = 0; id < count && !status; id++) {
        if (c->world->entries[id].presence == DLS_GONE) continue;
        standing s = stand(c->world, id, c->h);
        if (s.body->motion == DLS_STATIC) x.stills[x.still_count++] = s;
        if (s.step > 0) x.newborns[x.newborn_count++] = s;
    }
    if (!status && x.newborn_count) {
        qsort(x.newborns, (size_t)x.newborn_count, sizeof *x.newborns, by_birth_and_place);
        status = judge_all(&x, error);
    }
    if (x.pairs > DLS_CHECK_LINES)
        dls_check_warn(c, "overlap at birth: %d pairs of bodies in all, the deepest %.3g m", x.pairs,
                       x.deepest);
    dls_free(x.manifold.point);
    dls_free(x.newborns);
    dls_free(x.stills);
    return status;
}

/* ---- the back of a mesh ---- */

/* Whether there are faces within the size of the body, and it is behind them all. */
static bool is_behind(const standing *s, const standing *holder, int shape) {
    const dls_mesh *mesh = holder->shapes[shape].mesh;
    double reach = 2 * s->body->radius, p[3], from[3], low[3], high[3];
    dls_placed placed;
    dls_mesh_walk walk;
    place(holder, shape, &placed);
    vec_sub(from, s->state->x, placed.x);
    mat_apply_transposed(p, placed.R, from);
    for (int k = 0; k < 3; k++) low[k] = p[k] - reach, high[k] = p[k] + reach;
    dls_mesh_walk_begin(&walk, mesh, low, high);
    bool any = false;
    for (int e; (e = dls_mesh_walk_next(&walk)) >= 0;) {
        double near[3];
        dls_triangle_closest(dls_mesh_corner(mesh, e, 0), dls_mesh_corner(mesh, e, 1),
                             dls_mesh_corner(mesh, e, 2), p, near);
        if (vec_distance(p, near) > reach) continue;
        vec_sub(from, p, dls_mesh_corner(mesh, e, 0));
        if (!(vec_dot(from, mesh->normal + 3 * e) < 0)) return false;
        any = true;
    }
    return any;
}

/* The side of a chain on which the body's centre is, by the segments nearest to it: 1, −1 behind all of them,
 * 0 where they disagree. */
static int side_of_chain(const standing *s, const standing *holder, int shape) {
    const dls_mesh *mesh = holder->shapes[shape].mesh;
    double p[3], from[3], least = INFINITY;
    int side = 0;
    dls_placed placed;
    place(holder, shape, &placed);
    vec_sub(from, s->state->x, placed.x);
    mat_apply_transposed(p, placed.R, from);
    for (int e = 0; e < mesh->element_count; e++) {
        const double *v = mesh->vertex + 3 * mesh->element[2 * e];
        double along[3], near[3];
        vec_sub(along, mesh->vertex + 3 * mesh->element[2 * e + 1], v);
        vec_sub(from, p, v);
        double t = fmin(1, fmax(0, vec_dot(from, along) / vec_dot(along, along)));
        vec_along(near, v, t, along);
        double distance = vec_distance(p, near), slack = 1e-9 * s->body->radius;
        int here = vec_dot(from, mesh->normal + 3 * e) < 0 ? -1 : 1;
        if (distance > least + slack) continue;
        side = distance < least - slack || here == side ? here : 0;
        least = fmin(least, distance);
    }
    return side;
}

static bool body_meets(const standing *s, const dls_shape *shape) {
    for (int k = 0; k < s->body->shape_count; k++)
        if (shapes_meet(&s->shapes[k], shape)) return true;
    return false;
}

/* What touches the free border of a surface, or reaches through it, is not asked: its centre decides. */
static int count_behind(dls_check *c, const standing *holder, int shape, int told) {
    char body[80], mesh[80];
    int count = 0;
    for (int row = 0; row < c->world->body_count; row++) {
        if (c->world->bodies[row].motion != DLS_DYNAMIC) continue;
        standing s = stand(c->world, c->world->bodies[row].id, c->h);
        if (!body_meets(&s, &holder->shapes[shape]) || !is_behind(&s, holder, shape)) continue;
        if (told + count++ < DLS_CHECK_LINES)
            dls_check_warn(c,
                           "%s starts behind the mesh of %s; are its faces turned inside out? 'flip: yes' "
                           "turns them",
                           dls_check_label(c, s.id, body, sizeof body),
                           dls_check_label(c, holder->id, mesh, sizeof mesh));
    }
    return count;
}

/* Where all bodies that a chain is for are behind it, it was walked the wrong way round. */
static void check_chain(dls_check *c, const standing *holder, int shape) {
    char first[80], chain[80];
    int behind = 0;
    for (int row = 0; row < c->world->body_count; row++) {
        if (c->world->bodies[row].motion != DLS_DYNAMIC) continue;
        standing s = stand(c->world, c->world->bodies[row].id, c->h);
        if (!body_meets(&s, &holder->shapes[shape])) continue;
        int side = side_of_chain(&s, holder, shape);
        if (side > 0) return;
        if (side < 0 && behind++ == 0) dls_check_label(c, s.id, first, sizeof first);
    }
    if (behind)
        dls_check_warn(
            c,
            "%s%s start%s behind the chain of %s, which is solid on the right when one walks along "
            "it; was it walked the wrong way round? 'flip: yes' turns it",
            first, behind > 1 ? " and all others" : "", behind > 1 ? "" : "s",
            dls_check_label(c, holder->id, chain, sizeof chain));
}

void dls_check_meshes(dls_check *c) {
    int count = 0;
    for (int row = 0; row < c->world->body_count; row++) {
        standing holder = stand(c->world, c->world->bodies[row].id, c->h);
        for (int shape = 0; shape < holder.body->shape_count; shape++)
            if (dls_shape_table[holder.shapes[shape].kind].needs & DLS_SHAPE_TRIANGLES)
                count += count_behind(c, &holder, shape, count);
            else if (dls_shape_table[holder.shapes[shape].kind].needs & DLS_SHAPE_CHAIN)
                check_chain(c, &holder, shape);
    }
    if (count > DLS_CHECK_LINES) dls_check_warn(c, "%d bodies start behind a mesh in all", count);
}

/* ---- compounds ---- */

/* Of the smaller shape's radius: plates that cross at their borders share little. */
static const double SHARED = 0.25;

/* How deep shapes i and k of a body lie in each other. */
static double shared_depth(const dls_shape *i, const dls_shape *k, dls_manifold *manifold) {
    dls_placed placed[2] = {{.shape = i}, {.shape = k}};
    dls_pair_memory memory = {.used = 0};
    bool swapped;
    const dls_pair_kind *row = dls_pair_find(i->kind, k->kind, &swapped);
    double depth = 0;
    if (!row) return 0;
    for (int n = 0; n < 2; n++) {
        vec_copy(placed[n].x, placed[n].shape->x);
        memcpy(placed[n].R, placed[n].shape->R, sizeof placed[n].R);
    }
    manifold->count = 0;
    row->collide(&placed[swapped], &placed[!swapped], 0, &memory, NULL, 0, manifold);
    for (int n = 0; n < manifold->count; n++) depth = fmax(depth, -manifold->point[n].gap);
    return depth;
}

/* The deepest overlap among the first shapes of a body. */
static double compound_depth(const dls_body *body, const dls_shape *shapes, dls_manifold *manifold) {
    enum { MOST = 64 };
    double depth = 0;
    for (int i = 0; i < body->shape_count && i < MOST; i++)
        for (int k = i + 1; k < body->shape_count && k < MOST; k++) {
            double here = shared_depth(&shapes[i], &shapes[k], manifold);
            if (here > SHARED * fmin(shapes[i].bound, shapes[k].bound)) depth = fmax(depth, here);
        }
    return depth;
}

/* Whether the mass is the sum of what the shapes make. */
static bool mass_is_of_shapes(const dls_world *world, const dls_body *body) {
    double sum = 0;
    for (int k = body->shape_first; k < body->shape_first + body->shape_count; k++) {
        double mass, centre[3], inertia[9];
        dls_shape_mass(&world->shapes[k], &mass, centre, inertia);
        sum += mass * world->materials[world->shapes[k].material].def.density;
    }
    return fabs(sum - body->mass) <= 1e-9 * sum;
}

void dls_check_compounds(dls_check *c) {
    dls_manifold manifold = {.count = 0};
    char first[80] = "";
    double depth = 0;
    int count = 0;
    for (int row = 0; row < c->world->body_count; row++) {
        const dls_body *body = &c->world->bodies[row];
        if (body->motion != DLS_DYNAMIC || body->shape_count < 2 || body->is_solid) continue;
        if (!mass_is_of_shapes(c->world, body)) continue;
        double here = compound_depth(body, c->world->shapes + body->shape_first, &manifold);
        if (here > 0 && count++ == 0) dls_check_label(c, body->id, first, sizeof first), depth = here;
    }
    if (count)
        dls_check_warn(
            c,
            "shapes of %s%s overlap, by %.3g m: in a mass that follows from shapes what they share "
            "counts twice; give it 'mass', or shapes that only touch",
            first, count > 1 ? " and others" : "", depth);
    dls_free(manifold.point);
}

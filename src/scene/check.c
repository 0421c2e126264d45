/* What is likely a mistake in a scene that reads well. */
#include "scene/check.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "collide/collide.h"
#include "integrate/scheme.h"
#include "scene/gates.h"
#include "world/shape/kinds.h"

#include <delassus/solid.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dls_check_warn(dls_check *c, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    c->warnings++;
    if (c->warn) c->warn(line, c->user);
}

const char *dls_check_label(const dls_check *c, dls_body_id id, char *text, size_t size) {
    const char *name = dls_body_name(c->world, id);
    if (*name)
        snprintf(text, size, "'%.60s'", name);
    else
        snprintf(text, size, "body %d", id);
    return text;
}

/* ---- overlaps at the start ---- */

/* What counts as small beside a contact: the smaller of its two shapes. */
static double contact_size(const dls_world *world, const dls_contact *contact) {
    double size = fmin(world->shapes[contact->a].bound, world->shapes[contact->b].bound);
    return isfinite(size) ? size : 0;
}

static void check_contacts(dls_check *c, dls_collider *collider) {
    const dls_contact *contacts = dls_collider_contacts(collider), *worst = NULL;
    int count = dls_collider_count(collider), pairs = 0;
    char a[80], b[80];
    const dls_contact *last = NULL;
    for (int i = 0; i < count; i++) {
        const dls_contact *contact = &contacts[i];
        if (!(contact->at.gap < -1e-6 * contact_size(c->world, contact))) continue;
        bool same = last && last->body_a == contact->body_a && last->body_b == contact->body_b;
        last = contact;
        pairs += !same;
        if (!worst || contact->at.gap < worst->at.gap) worst = contact;
        if (same || pairs > DLS_CHECK_LINES) continue;
        dls_check_warn(c, "overlap at the start: %s and %s, %.3g m deep at (%.4g, %.4g, %.4g)",
                       dls_check_label(c, c->world->bodies[contact->body_a].id, a, sizeof a),
                       dls_check_label(c, c->world->bodies[contact->body_b].id, b, sizeof b),
                       -contact->at.gap, contact->at.point_a[0], contact->at.point_a[1],
                       contact->at.point_a[2]);
    }
    if (pairs > DLS_CHECK_LINES)
        dls_check_warn(c, "overlap at the start: %d pairs of bodies in all, the deepest %.3g m", pairs,
                       -worst->at.gap);
    const dls_simulation_options *o = dls_scene_simulation_options(c->scene);
    if (pairs > 0 && c->g == 0 && !dls_scheme_find(o->scheme)->whole_gap && o->stabilisation > 0 &&
        o->stabilisation_speed == 0)
        dls_check_warn(
            c, "overlaps stay: without gravity integrator.stabilisation_speed = 0 takes nothing back, give "
               "it a speed");
}

static dls_status check_overlaps(dls_check *c, dls_error *error) {
    dls_world *world = dls_scene_world(c->scene);
    dls_collider *collider = dls_collider_create();
    dls_collide_options options = {.margin = 0, .h = 0, .threads = 1};
    bool changed;
    dls_status status = collider ? dls_world_settle(world, 0, &changed, error) : dls_fail_memory(error);
    if (!status) status = dls_collider_update(collider, world, &options, error);
    if (!status) check_contacts(c, collider);
    dls_collider_destroy(collider);
    return status;
}

/* ---- sizes and speeds ---- */

/* INFINITY for what is no solid. */
static double thickness(const dls_shape *shape) {
    double thick = dls_shape_table[shape->kind].thickness ? dls_shape_table[shape->kind].thickness(shape) : 0;
    return thick > 0 ? thick : HUGE_VAL; /* of a point too: nothing goes through it unnoticed */
}

typedef struct extent {
    double smallest, speed, fall; /* of dynamic bodies: thickness, speed at the start, height of the scene */
    double low, high;             /* of the scene, along gravity */
    char small[80], fast[80];     /* who they are */
    bool any;                     /* there are dynamic bodies */
} extent;

static void take_height(extent *e, double along, double radius) {
    e->low = fmin(e->low, along - radius);
    e->high = fmax(e->high, along + radius);
}

static void take_body(extent *e, const char *name, double speed, double size) {
    if (speed > e->speed || !e->any) {
        e->speed = speed;
        snprintf(e->fast, sizeof e->fast, "%s", name);
    }
    if (size < e->smallest) {
        e->smallest = size;
        snprintf(e->small, sizeof e->small, "%s", name);
    }
    e->any = true;
}

/* Bodies that are going to come in. */
static void measure_inlet(const dls_check *c, const dls_inlet *inlet, const double *g, extent *e) {
    const dls_feed *feed = inlet->self;
    char name[80];
    snprintf(name, sizeof name, "a body of '%.60s'", inlet->name);
    for (int k = 0; k < feed->mixture.count; k++) {
        const dls_part *part = &feed->mixture.parts[k];
        double v[3], radius = part->prototype.radius * part->size.high;
        vec_add(v, part->prototype.def.v, feed->velocity);
        double speed =
            vec_norm(v) + feed->speed * sqrt(feed->dimension) + radius * vec_norm(part->prototype.def.w);
        take_body(e, name, speed, part->prototype.thickness * part->size.low);
    }
    if (c->g > 0) {
        take_height(e, vec_dot(inlet->region.low, g) / c->g, 0);
        take_height(e, vec_dot(inlet->region.high, g) / c->g, 0);
    }
}

/* Speeds at the start, and what a fall through the height of the scene would add. */
static extent measure(const dls_check *c) {
    extent e = {.smallest = INFINITY, .low = INFINITY, .high = -INFINITY};
    const dls_gates_def *gates = dls_scene_gates(c->scene);
    double g[3];
    char name[80];
    dls_world_gravity(c->world, g);
    for (int row = 0; row < c->world->body_count; row++) {
        const dls_body *body = &c->world->bodies[row];
        const dls_body_state *state = &c->world->states[row];
        double size = INFINITY;
        if (isfinite(body->radius) && c->g > 0) take_height(&e, vec_dot(state->x, g) / c->g, body->radius);
        if (body->motion != DLS_DYNAMIC) continue;
        for (int s = 0; s < body->shape_count; s++)
            size = fmin(size, thickness(&c->world->shapes[body->shape_first + s]));
        take_body(&e, dls_check_label(c, body->id, name, sizeof name),
                  vec_norm(state->v) + body->radius * vec_norm(state->w), size);
    }
    for (int i = 0; i < gates->inlet_count; i++) measure_inlet(c, &gates->inlets[i], g, &e);
    e.fall = e.high > e.low ? e.high - e.low : 0;
    return e;
}

static void check_walls(dls_check *c, const extent *e) {
    double speed = sqrt(e->speed * e->speed + 2 * c->g * e->fall), way = speed * c->h;
    char name[80];
    int thin = 0;
    if (!e->any) return;
    for (int row = 0; row < c->world->body_count; row++) {
        const dls_body *body = &c->world->bodies[row];
        double least = INFINITY;
        if (body->motion == DLS_DYNAMIC) continue;
        for (int s = 0; s < body->shape_count; s++)
            least = fmin(least, thickness(&c->world->shapes[body->shape_first + s]));
        if (!(way > least) || thin++ >= DLS_CHECK_LINES) continue;
        dls_check_warn(
            c,
            "thin wall: %s is %.3g m thick, a body may move %.3g m in a step (%.3g m/s for %g s); shorten "
            "the step",
            dls_check_label(c, body->id, name, sizeof name), least, way, speed, c->h);
    }
    if (thin > DLS_CHECK_LINES) dls_check_warn(c, "thin wall: %d bodies in all", thin);
}

static void check_step(dls_check *c, const extent *e) {
    if (!e->any || !isfinite(e->smallest)) return;
    double way = e->speed * c->h, drop = c->g * c->h * c->h;
    if (way > e->smallest)
        dls_check_warn(
            c,
            "step too long: %s moves %.3g m in a step of %g s, more than the smallest body is thick (%.3g m)",
            e->fast, way, c->h, e->smallest);
    if (drop > 0.1 * e->smallest)
        dls_check_warn(
            c,
            "step too long: from rest a body falls %.3g m in a step of %g s, more than a tenth of the "
            "smallest "
            "body, %s (%.3g m)",
            drop, c->h, e->small, e->smallest);
    const dls_run_options *run = dls_scene_run_options(c->scene);
    if (run->until > 0 && run->until < c->h)
        dls_check_warn(c, "step too long: it is %g s and the run ends at %g s", c->h, run->until);
    double end = ceil(run->until / c->h - 0.5) * c->h; /* of many small steps a part of one is nothing */
    if (run->until >= c->h && fabs(end - run->until) > 1e-3 * run->until)
        dls_check_warn(c, "the run ends at %.9g s: %g s is no multiple of the step of %g s", end, run->until,
                       c->h);
}

/* ---- impacts that follow each other ---- */

static const double BOUNCY = 0.5; /* e_n from which the order of impacts is most of what happens */

/* Whether both may move and would bounce well; what lies deeper than rounding is told elsewhere. */
static bool would_hand_on(const dls_check *c, const dls_contact *contact, double way) {
    return contact->at.gap < way && contact->at.gap > -1e-6 * contact_size(c->world, contact) &&
           c->world->bodies[contact->body_a].motion == DLS_DYNAMIC &&
           c->world->bodies[contact->body_b].motion == DLS_DYNAMIC &&
           c->world->pairs[contact->pair].e_n >= BOUNCY;
}

/* A body that others stand by on two sides hands on what hits it within the step, if one is so fast. */
static dls_status check_rows(dls_check *c, const extent *e, dls_error *error) {
    const dls_simulation_options *o = dls_scene_simulation_options(c->scene);
    double way = e->speed * c->h;
    char name[80];
    if (o->restitution != DLS_RESTITUTION_IMPACTS || o->entering == DLS_ENTER_CLOSED ||
        !dls_scheme_find(o->scheme)->follow || dls_scheme_find(o->scheme)->whole_gap ||
        !(e->any && e->speed > 10 * c->g * c->h && way > 0))
        return DLS_OK;
    dls_collider *collider = dls_collider_create();
    dls_collide_options options = {.margin = way, .h = 0, .threads = 1};
    int *near = DLS_NEW_ZERO(int, (int64_t)c->world->body_count + 1), found = 0;
    dls_status status =
        collider && near ? dls_collider_update(collider, c->world, &options, error) : dls_fail_memory(error);
    for (int i = 0; !status && i < dls_collider_count(collider); i++) {
        const dls_contact *contact = &dls_collider_contacts(collider)[i];
        if (!would_hand_on(c, contact, way) || contact->body_a == contact->body_b) continue;
        for (int side = 0; side < 2 && !found; side++) {
            int row = side ? contact->body_b : contact->body_a,
                other = 1 + (side ? contact->body_a : contact->body_b);
            found = near[row] && near[row] != other ? row + 1 : 0;
            near[row] = other;
        }
    }
    if (found)
        dls_check_warn(
            c,
            "impacts in a row: %s has neighbours nearer than %.3g m, which a body moves in a step; "
            "integrator.restitution: in-order strikes one after the other",
            dls_check_label(c, c->world->bodies[found - 1].id, name, sizeof name), way);
    dls_free(near);
    dls_collider_destroy(collider);
    return status;
}

/* ---- pairs of materials ---- */

/* What shapes of one material are, put together: who they are and whom they meet. */
typedef struct use {
    bool dynamic, other;
    uint32_t groups, collides;
    double radius; /* largest of what moves: half its thickness, or more */
} use;

static bool may_meet(const use *a, const use *b) {
    if (!(a->dynamic && (b->dynamic || b->other)) && !(b->dynamic && a->other)) return false;
    return a->groups & b->collides && b->groups & a->collides;
}

static void note_feed(const dls_feed *feed, use *uses) {
    for (int k = 0; k < feed->mixture.count; k++) {
        const dls_prototype *p = &feed->mixture.parts[k].prototype;
        for (int s = 0; s < p->def.shape_count; s++) {
            use *u = &uses[p->shapes[s].material];
            u->dynamic = true;
            u->radius = fmax(u->radius, p->radius * feed->mixture.parts[k].size.high);
            u->groups |= p->shapes[s].group;
            u->collides |= p->shapes[s].collides;
        }
    }
}

/* A ball whose rolling friction is longer than its radius does not roll at 45°: a share of the radius, or mm,
 * was meant. */
static void check_rolling(dls_check *c, int a, int b, const dls_pair_def *pair, double radius) {
    double length = pair->turning.rolling + pair->turning.rolling_ratio * radius;
    if (length > radius && radius > 0 && isfinite(radius))
        dls_check_warn(c,
                       "rolling friction of '%.60s' on '%.60s' is %.3g m, the largest radius of what moves "
                       "%.3g m: it does not roll at 45 degrees; rolling is a length in m, rolling_ratio a "
                       "share of the radius",
                       c->world->materials[a].name, c->world->materials[b].name, length, radius);
}

static dls_status check_pairs(dls_check *c, dls_error *error) {
    int count = dls_world_material_count(c->world);
    const dls_gates_def *gates = dls_scene_gates(c->scene);
    use *uses = DLS_NEW_ZERO(use, count);
    if (!uses) return dls_fail_memory(error);
    for (int i = 0; i < gates->inlet_count; i++) note_feed(gates->inlets[i].self, uses);
    for (int id = 0; id < dls_world_body_count(c->world); id++) /* those that wait for their birth, too */
        for (int s = 0; s < dls_body_shape_count(c->world, id); s++) {
            const dls_shape *shape = &dls_world_shapes(c->world, id)[s];
            use *u = &uses[shape->material];
            bool dynamic = dls_body_motion(c->world, id) == DLS_DYNAMIC;
            u->dynamic = u->dynamic || dynamic;
            u->other = u->other || !dynamic;
            if (dynamic) u->radius = fmax(u->radius, 0.5 * thickness(shape));
            u->groups |= shape->group;
            u->collides |= shape->collides;
        }
    dls_status status = DLS_OK;
    for (int a = 0; a < count && !status; a++)
        for (int b = a; b < count && !status; b++) {
            dls_pair_def pair;
            bool stated = true;
            if (!may_meet(&uses[a], &uses[b])) continue;
            status = dls_world_pair(c->world, a, b, &pair, &stated, error);
            if (!status) check_rolling(c, a, b, &pair, fmax(uses[a].radius, uses[b].radius));
            if (!status && !stated && a != b)
                dls_check_warn(
                    c,
                    "materials '%.60s' and '%.60s' may meet and are not among the pairs: mixed to mu %g, "
                    "e_n %g",
                    c->world->materials[a].name, c->world->materials[b].name, pair.mu, pair.e_n);
        }
    dls_free(uses);
    return status;
}

/* What the scheme knows, solids that it moves, and a step that their explicit forces stand. */
static dls_status check_solids(dls_check *c, dls_error *error) {
    const dls_simulation_options *o = dls_scene_simulation_options(c->scene);
    const dls_scheme *scheme = dls_scheme_find(o->scheme);
    dls_status status = scheme ? dls_scheme_check_solids(scheme, c->world, error) : DLS_OK;
    if (!status && scheme && scheme->check) status = scheme->check(c->world, o, error);
    bool is_explicit = o->stiffness == DLS_STIFFNESS_EXPLICIT;
    double stable = is_explicit ? dls_solids_stable_step(c->world) : (double)INFINITY;
    if (!status && c->h > stable)
        dls_check_warn(c,
                       "step too long: explicit forces of solids need at most %.3g s, it is %g s; "
                       "stiffness: implicit has no such limit",
                       stable, c->h);
    return status;
}

dls_status dls_scene_check(dls_scene *scene, void (*warn_line)(const char *line, void *user), void *user,
                           int *warnings, dls_error *error) {
    dls_error_clear(error);
    if (!scene) return dls_fail(error, DLS_ERROR_ARGUMENT, "a scene is needed, got NULL");
    double g[3];
    dls_world_gravity(dls_scene_world(scene), g);
    dls_check c = {.scene = scene,
                   .world = dls_scene_world(scene),
                   .warn = warn_line,
                   .user = user,
                   .h = dls_scene_simulation_options(scene)->step,
                   .g = vec_norm(g)};
    for (int i = 0; dls_scene_doubt(scene, i); i++) dls_check_warn(&c, "%s", dls_scene_doubt(scene, i));
    dls_status status = check_overlaps(&c, error);
    if (!status) status = dls_check_births(&c, error);
    if (!status) {
        dls_check_meshes(&c);
        dls_check_compounds(&c);
        extent e = measure(&c);
        check_walls(&c, &e);
        check_step(&c, &e);
        status = check_rows(&c, &e, error);
    }
    if (!status) {
        status = check_pairs(&c, error);
    }
    if (!status) status = check_solids(&c, error);
    if (warnings) *warnings = c.warnings;
    return status;
}

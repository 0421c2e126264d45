/* What is sampled: places, velocities and turns of bodies, the mass centre, energies, joints, sums. */
#include "cli/converge/converge.h"
#include "cli/support/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More bodies or joints than these are not told one by one. */
enum { MOST_NAMED = 6 };

static const struct energy_row {
    const char *name;
    size_t offset;
} energies[] = {
    {"kinetic energy", offsetof(dls_energy, kinetic)},
    {"potential energy", offsetof(dls_energy, potential)},
    {"energy in springs", offsetof(dls_energy, spring)},
    {"strain energy", offsetof(dls_energy, strain)},
    {"energy lost by sliding", offsetof(dls_energy, friction)},
    {"energy lost in impacts", offsetof(dls_energy, impact)},
    {"energy lost by turning", offsetof(dls_energy, turning)},
    {"energy lost in joints", offsetof(dls_energy, joints)},
    {"energy lost in solids", offsetof(dls_energy, damping)},
    {"work of drives and forces", offsetof(dls_energy, work)},
    {"work of motors", offsetof(dls_energy, motors)},
};

enum { ENERGIES = sizeof energies / sizeof *energies };

static void add(quantity_list *list, quantity_form form, int width, const char *unit, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static void add(quantity_list *list, quantity_form form, int width, const char *unit, const char *format,
                ...) {
    list->items = report_grow(list->items, (size_t)list->count, sizeof *list->items);
    quantity *q = &list->items[list->count++];
    *q = (quantity){.unit = unit, .form = form, .offset = list->width, .width = width};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(q->name, sizeof q->name, format, arguments);
    va_end(arguments);
    list->width += width;
}

static void label(const char *name, const char *kind, int id, char text[QUANTITY_NAME / 2]) {
    if (*name)
        snprintf(text, QUANTITY_NAME / 2, "%s", name);
    else
        snprintf(text, QUANTITY_NAME / 2, "%s %d", kind, id);
}

static void find_bodies(const dls_world *world, quantity_list *list) {
    int count = dls_world_body_count(world);
    list->bodies = report_allocate((size_t)count + 1, sizeof *list->bodies);
    list->masses = report_allocate((size_t)count + 1, sizeof *list->masses);
    for (int i = 0; i < count; i++) {
        dls_body_mass mass;
        if (dls_body_motion(world, i) != DLS_DYNAMIC || dls_body_presence(world, i) == DLS_GONE ||
            dls_body_mass_get(world, i, &mass, NULL))
            continue;
        list->masses[list->body_count] = mass.mass;
        list->bodies[list->body_count++] = i;
    }
}

static void add_bodies(const dls_world *world, quantity_list *list) {
    char name[QUANTITY_NAME / 2];
    int n = list->body_count;
    if (!list->by_body || n == 0) return;
    add(list, FORM_FIELD, 3 * n, "m", n > 1 ? "places of all bodies" : "place");
    add(list, FORM_FIELD, 3 * n, "m/s", n > 1 ? "velocities of all bodies" : "velocity");
    if (n > 1) add(list, FORM_VECTOR, 3, "m", "mass centre");
    for (int i = 0; i < n && n <= MOST_NAMED; i++) {
        label(dls_body_name(world, list->bodies[i]), "body", list->bodies[i], name);
        if (n > 1) add(list, FORM_VECTOR, 3, "m", "place of %s", name);
        if (n > 1) add(list, FORM_VECTOR, 3, "m/s", "velocity of %s", name);
        add(list, FORM_TURN, 4, "rad", "turn of %s", name);
        add(list, FORM_VECTOR, 3, "rad/s", "spin of %s", name);
    }
}

static void add_joints(const dls_world *world, quantity_list *list) {
    char name[QUANTITY_NAME / 2];
    list->joint_count = dls_world_joint_count(world);
    list->records = report_allocate((size_t)list->joint_count + 1, sizeof *list->records);
    if (list->joint_count == 0) return;
    add(list, FORM_SCALAR, 1, "m, rad", "largest gap of joints so far");
    list->items[list->count - 1].numerical = true;
    if (list->joint_count > MOST_NAMED) return;
    for (int i = 0; i < list->joint_count; i++) {
        label(dls_joint_name(world, i), "joint", i, name);
        add(list, FORM_VECTOR, DLS_FREEDOMS, "m, rad", "coordinates of %s", name);
        add(list, FORM_VECTOR, 3, "N", "force in %s", name);
        add(list, FORM_VECTOR, 3, "N m", "torque in %s", name);
    }
}

bool quantities_of(dls_scene *scene, quantity_list *list) {
    const dls_world *world = dls_scene_world(scene);
    double g[3];
    *list = (quantity_list){.dimension = dls_world_dimension(world),
                            .by_body = !dls_scene_inlet_count(scene) && !dls_scene_removal_count(scene)};
    dls_world_gravity(world, g);
    double length = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    for (int k = 0; k < 3 && length > 0; k++) list->up[k] = -g[k] / length;
    find_bodies(world, list);
    add_bodies(world, list);
    if (list->by_body && list->body_count > 0 && length > 0)
        add(list, FORM_SCALAR, 1, "m", "height of the mass centre");
    for (int i = 0; i < ENERGIES; i++) add(list, FORM_SCALAR, 1, "J", "%s", energies[i].name);
    add(list, FORM_SCALAR, 1, "N s", "normal impulses so far");
    add(list, FORM_SCALAR, 1, "m", "deepest penetration so far");
    list->items[list->count - 1].numerical = true;
    add(list, FORM_COUNT, 1, "1", "contacts");
    add_joints(world, list);
    return true;
}

void quantities_free(quantity_list *list) {
    free(list->items);
    free(list->bodies);
    free(list->masses);
    free(list->records);
    *list = (quantity_list){0};
}

/* ---- sampling: in the order in which they were added ---- */

void quantities_add_step(const dls_simulation *simulation, const dls_step_report *report,
                         quantity_sums *sums) {
    for (int i = 0; i < dls_simulation_contact_count(simulation); i++) {
        dls_contact_record c;
        dls_simulation_contact(simulation, i, &c);
        sums->impulse += c.impulse[0];
    }
    sums->penetration = fmax(sums->penetration, report->penetration);
    sums->joint_gap = fmax(sums->joint_gap, report->joint_gap);
}

/* A body that does not take part has no numbers. */
static dls_body_state state_of(const dls_world *world, dls_body_id id) {
    dls_body_state s;
    if (dls_body_presence(world, id) == DLS_PRESENT && !dls_body_state_get(world, id, &s, NULL)) return s;
    double *numbers = (double *)&s;
    for (size_t k = 0; k < sizeof s / sizeof *numbers; k++) numbers[k] = (double)NAN;
    return s;
}

static double *put(double *to, const double *from, int count) {
    memcpy(to, from, (size_t)count * sizeof *to);
    return to + count;
}

static double *sample_bodies(const quantity_list *list, const dls_world *world, double *to) {
    int n = list->body_count;
    double centre[3] = {0}, mass = 0, *velocities = to + 3 * (size_t)n, *after = to + 6 * (size_t)n;
    if (!list->by_body || n == 0) return to;
    for (int i = 0; i < n; i++) {
        dls_body_state s = state_of(world, list->bodies[i]);
        memcpy(to + 3 * (size_t)i, s.x, sizeof s.x);
        memcpy(velocities + 3 * (size_t)i, s.v, sizeof s.v);
        if (isnan(s.x[0])) continue;
        for (int k = 0; k < 3; k++) centre[k] += list->masses[i] * s.x[k];
        mass += list->masses[i];
    }
    for (int k = 0; k < 3; k++) centre[k] /= mass;
    if (n > 1) after = put(after, centre, 3);
    for (int i = 0; i < n && n <= MOST_NAMED; i++) {
        dls_body_state s = state_of(world, list->bodies[i]);
        if (n > 1) after = put(put(after, s.x, 3), s.v, 3);
        after = put(put(after, s.q, 4), s.w, 3);
    }
    double height = centre[0] * list->up[0] + centre[1] * list->up[1] + centre[2] * list->up[2];
    bool gravity = list->up[0] != 0 || list->up[1] != 0 || list->up[2] != 0;
    return gravity ? put(after, &height, 1) : after;
}

static void sample_joints(const quantity_list *list, const dls_simulation *simulation, double h, double *to) {
    int count = 0;
    size_t width = DLS_FREEDOMS + 6;
    if (list->joint_count == 0 || list->joint_count > MOST_NAMED) return;
    for (size_t k = 0; k < width * (size_t)list->joint_count; k++) to[k] = 0;
    if (dls_simulation_joints(simulation, list->joint_count, list->records, &count, NULL)) return;
    for (int i = 0; i < count; i++) {
        const dls_joint_record *r = &list->records[i];
        if (r->joint < 0 || r->joint >= list->joint_count) continue;
        double *at = put(to + width * (size_t)r->joint, r->coordinate, DLS_FREEDOMS);
        for (int k = 0; k < 6; k++) at[k] = r->impulse[k] / h;
    }
}

void quantities_sample(const quantity_list *list, const dls_simulation *simulation,
                       const dls_step_report *report, const quantity_sums *sums, double *sample) {
    double *to = sample_bodies(list, dls_simulation_world(simulation), sample);
    for (int i = 0; i < ENERGIES; i++)
        *to++ = *(const double *)((const char *)&report->energy + energies[i].offset);
    *to++ = sums->impulse;
    *to++ = sums->penetration;
    *to++ = report->contacts;
    if (list->joint_count > 0) *to++ = sums->joint_gap;
    sample_joints(list, simulation, report->t / (double)report->step, to);
}

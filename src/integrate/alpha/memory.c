/* What generalized-α keeps between steps, known by bodies, contacts and rows of joints. */
#include "base/error.h"
#include "base/vector.h"
#include "integrate/alpha/finish.h"
#include "world/parts.h"

#include <math.h>
#include <string.h>

static bool is_driven(const dls_world *world, int row) {
    return row >= 0 && world->bodies[row].motion == DLS_DRIVEN;
}

/* Bodies that do not move as a joint holds them would begin with a blow that nobody told of. */
static dls_status check_joint(const dls_world *world, int id, double most, dls_error *error) {
    const dls_joint *joint = &world->joints[id];
    bool planar = world->def.dimension == 2;
    dls_joint_pose pose;
    dls_joint_row row;
    char label[128];
    if (!dls_joint_acts(world, joint) || joint->def.rope) return DLS_OK;
    dls_joint_stand(world, joint, world->states, world->spots, &pose);
    if (is_driven(world, pose.row[0]) || is_driven(world, pose.row[1])) return DLS_OK;
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        if (!(dls_joint_table[joint->def.kind].held[planar] >> k & 1)) continue;
        if (!dls_joint_held_row(joint, &pose, world->def.dimension, k, &row)) continue;
        double speed = dls_joint_row_speed(world, &pose, &row, world->states);
        if (fabs(speed) > most)
            return dls_fail(error, DLS_ERROR_INPUT,
                            "%s: bodies move at %.6g %s against what it holds, expected 0 at the start with "
                            "generalized-alpha",
                            dls_joint_label(world, id, label, sizeof label), speed, k < 3 ? "m/s" : "rad/s");
    }
    return DLS_OK;
}

static dls_status check_joints(const dls_world *world, dls_error *error) {
    double fastest = 1;
    for (int row = 0; row < world->body_count; row++)
        fastest = fmax(fastest, fmax(vec_norm(world->states[row].v), vec_norm(world->states[row].w)));
    for (int id = 0; id < world->joint_count; id++) {
        dls_status status = check_joint(world, id, 1e-3 * fastest, error);
        if (status) return status;
    }
    return DLS_OK;
}

/* What the scheme does not know. */
static dls_status check_world(const dls_world *world, const dls_simulation_options *options,
                              dls_error *error) {
    const dls_alpha_options *o = &options->alpha;
    char label[128];
    if (o->scheme == DLS_HHT && o->rho < 0.5)
        return dls_fail(error, DLS_ERROR_INPUT, "rho is %g, expected 0.5 to 1 with coefficients hht", o->rho);
    for (int i = 0; i < world->told_count; i++) {
        const dls_body_told *told = world->entries[world->told_ids[i]].told;
        if (told && told->has_servo)
            return dls_fail(error, DLS_ERROR_INPUT,
                            "%s is driven by a force, expected position or velocity with generalized-alpha",
                            dls_body_label(world, world->told_ids[i], label, sizeof label));
    }
    return DLS_OK;
}

dls_status dls_alpha_world_admits(const dls_world *world, const dls_simulation_options *options,
                                  dls_error *error) {
    dls_status status = check_world(world, options, error);
    return status ? status : check_joints(world, error);
}

dls_status dls_alpha_world_begin(dls_simulation *s, dls_error *error) {
    dls_status status = check_world(s->world, &s->options, error);
    if (status) return status;
    dls_alpha_world *w = s->memory = DLS_NEW_ZERO(dls_alpha_world, 1);
    if (!w) return dls_fail_memory(error);
    w->alpha = dls_alpha_empty();
    w->space = dls_workspace_create();
    return w->alpha && w->space ? DLS_OK : dls_fail_memory(error);
}

void dls_alpha_world_end(dls_simulation *s) {
    dls_alpha_world *w = s->memory;
    dls_alpha_destroy(w->alpha);
    dls_workspace_destroy(w->space);
    dls_free(w->bodies.item);
    dls_free(w->solids.item);
    dls_free(w->contacts.item);
    dls_free(w->next_contacts.item);
    dls_free(w->joints.item);
    dls_free(w->next_joints.item);
    dls_free(w->manifold.point);
    dls_free(w);
}

/* ---- looking up ---- */

static int compare_contact(const dls_alpha_contact *kept, const dls_pair_key *key, uint64_t feature) {
    int order = dls_pair_key_compare(&kept->key, key);
    if (order) return order;
    return kept->feature < feature ? -1 : kept->feature > feature;
}

const dls_alpha_contact *dls_alpha_find_contact(const dls_alpha_world *w, const dls_contact *contact) {
    dls_pair_key key = dls_contact_key(contact);
    int low = 0, high = w->contacts.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = compare_contact(&w->contacts.item[middle], &key, contact->at.feature);
        if (order == 0) return &w->contacts.item[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static int compare_joint(const dls_alpha_joint *kept, int joint, int freedom, int role) {
    if (kept->joint != joint) return kept->joint < joint ? -1 : 1;
    if (kept->freedom != freedom) return kept->freedom < freedom ? -1 : 1;
    return kept->role < role ? -1 : kept->role > role;
}

const dls_alpha_joint *dls_alpha_find_joint(const dls_alpha_world *w, int joint, int freedom, int role) {
    int low = 0, high = w->joints.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = compare_joint(&w->joints.item[middle], joint, freedom, role);
        if (order == 0) return &w->joints.item[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- as bytes ---- */

typedef struct alpha_head {
    double dt;
    int64_t bodies, contacts, joints, solids;
} alpha_head;

size_t dls_alpha_world_size(const dls_simulation *s) {
    const dls_alpha_world *w = s->memory;
    return sizeof(alpha_head) + sizeof *w->bodies.item * (size_t)w->bodies.count +
           sizeof *w->contacts.item * (size_t)w->contacts.count +
           sizeof *w->joints.item * (size_t)w->joints.count + sizeof(double) * (size_t)w->solids.count;
}

static char *put(char *to, const void *from, size_t size) {
    if (size) memcpy(to, from, size);
    return to + size;
}

void dls_alpha_world_write(const dls_simulation *s, void *bytes) {
    const dls_alpha_world *w = s->memory;
    alpha_head head = {w->dt, w->bodies.count, w->contacts.count, w->joints.count, w->solids.count};
    char *to = put(bytes, &head, sizeof head);
    to = put(to, w->bodies.item, sizeof *w->bodies.item * (size_t)w->bodies.count);
    to = put(to, w->contacts.item, sizeof *w->contacts.item * (size_t)w->contacts.count);
    to = put(to, w->joints.item, sizeof *w->joints.item * (size_t)w->joints.count);
    put(to, w->solids.item, sizeof(double) * (size_t)w->solids.count);
}

static bool are_numbers(const double *numbers, int count) {
    for (int i = 0; i < count; i++)
        if (!isfinite(numbers[i])) return false;
    return true;
}

static bool bodies_fit(const dls_alpha_bodies *list, const dls_world *next) {
    int row = 0;
    for (int i = 0; i < list->count; i++) {
        const dls_alpha_body *body = &list->item[i];
        while (row < next->body_count && next->bodies[row].uid < body->uid) row++;
        if (row == next->body_count || next->bodies[row].uid != body->uid) return false;
        if (i && body->uid <= list->item[i - 1].uid) return false;
        if ((body->known != 0 && body->known != 1) || !are_numbers(body->a, 24)) return false;
    }
    return true;
}

static bool contacts_fit(const dls_alpha_contacts *list) {
    for (int i = 0; i < list->count; i++) {
        const dls_alpha_contact *c = &list->item[i];
        if (i && compare_contact(c - 1, &c->key, c->feature) >= 0) return false;
        if (c->closed > 1 || c->sticking >= 1 << DLS_ALPHA_LAWS) return false;
        if (!are_numbers(c->n, 22 + 3 * DLS_ALPHA_ROWS)) return false;
        if (!vec_is_unit(c->n) || !vec_is_unit(c->t) || !(fabs(vec_dot(c->n, c->t)) < 1e-6)) return false;
    }
    return true;
}

static bool joints_fit(const dls_alpha_joints *list, int joints) {
    for (int i = 0; i < list->count; i++) {
        const dls_alpha_joint *row = &list->item[i];
        if (row->joint < 0 || row->joint >= joints || row->freedom >= DLS_FREEDOMS ||
            row->role >= DLS_JOINT_ROLES || row->closed > 1 || row->sticking > 1)
            return false;
        if (i && compare_joint(row - 1, row->joint, row->freedom, row->role) >= 0) return false;
        if (!are_numbers(&row->kappa, 4)) return false;
    }
    return true;
}

/* Copies of what the bytes hold, in blocks of their own. */
static dls_status open_lists(const char *from, const alpha_head *head, dls_alpha_world *out,
                             dls_error *error) {
    out->bodies.count = (int)head->bodies, out->contacts.count = (int)head->contacts;
    out->joints.count = (int)head->joints;
    out->bodies.capacity = head->bodies, out->contacts.capacity = head->contacts;
    out->joints.capacity = head->joints;
    out->bodies.item = dls_alloc_copy(from, (size_t)head->bodies, sizeof *out->bodies.item);
    from += sizeof *out->bodies.item * (size_t)head->bodies;
    out->contacts.item = dls_alloc_copy(from, (size_t)head->contacts, sizeof *out->contacts.item);
    from += sizeof *out->contacts.item * (size_t)head->contacts;
    out->joints.item = dls_alloc_copy(from, (size_t)head->joints, sizeof *out->joints.item);
    from += sizeof *out->joints.item * (size_t)head->joints;
    out->solids.count = (int)head->solids, out->solids.capacity = head->solids;
    out->solids.item = dls_alloc_copy(from, (size_t)head->solids, sizeof(double));
    bool good = out->bodies.item && out->contacts.item && out->joints.item && out->solids.item;
    return good ? DLS_OK : dls_fail_memory(error);
}

static void drop_lists(dls_alpha_world *w) {
    dls_free(w->solids.item);
    dls_free(w->bodies.item);
    dls_free(w->contacts.item);
    dls_free(w->joints.item);
}

static bool sizes_fit(const alpha_head *head, size_t size) {
    const int64_t most = INT32_MAX / 2;
    if (!(head->dt >= 0) || !isfinite(head->dt)) return false;
    if (head->bodies < 0 || head->contacts < 0 || head->joints < 0 || head->solids < 0 ||
        head->bodies > most || head->contacts > most || head->joints > most || head->solids > most)
        return false;
    return size == sizeof *head + sizeof(dls_alpha_body) * (size_t)head->bodies +
                       sizeof(dls_alpha_contact) * (size_t)head->contacts +
                       sizeof(dls_alpha_joint) * (size_t)head->joints + sizeof(double) * (size_t)head->solids;
}

dls_status dls_alpha_world_read(dls_simulation *s, const dls_world *next, const void *bytes, size_t size,
                                dls_error *error) {
    dls_alpha_world *w = s->memory, read = {.dt = 0};
    alpha_head head;
    if (size >= sizeof head) memcpy(&head, bytes, sizeof head);
    if (size < sizeof head || !sizes_fit(&head, size))
        return dls_fail(error, DLS_ERROR_INPUT, "a state of generalized-alpha of %zu bytes makes no sense",
                        size);
    dls_status status = open_lists((const char *)bytes + sizeof head, &head, &read, error);
    if (!status && (!bodies_fit(&read.bodies, next) || !contacts_fit(&read.contacts) ||
                    !joints_fit(&read.joints, next->joint_count) ||
                    (read.solids.count && read.solids.count != 4 * next->freedom_count) ||
                    !are_numbers(read.solids.item, read.solids.count)))
        status = dls_fail(error, DLS_ERROR_INPUT,
                          "a state of generalized-alpha does not fit its bodies, or has no numbers");
    if (status) {
        drop_lists(&read);
        return status;
    }
    drop_lists(w);
    w->dt = head.dt;
    w->solids = read.solids;
    w->bodies = read.bodies, w->contacts = read.contacts, w->joints = read.joints;
    return DLS_OK;
}

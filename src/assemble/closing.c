/* How fast gaps of joints close. Rows ask u⁺ = −g/h, so that their impulses r do the work −r g/h, which is
 * small beside the kinetic energy of the bodies while these turn by less than a radian in a step. Bodies that
 * jam (an arm between its joint and a contact in line with it) answer any such speed by impulses without
 * bound: there the joints would drive them. A joined set in which
 *
 *     Σ −r g/h > K + ½ m v_ref² + v_ref Σ |r⁻|,
 *
 * r⁻ the impulses of the step before and K relative to the mass centre where nothing ties the set to the
 * ground, closes its gaps no faster than v_ref, as contacts are pushed apart, and not at all where even that
 * drives it. */
#include "assemble/joints.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <math.h>

/* Of bodies that joints connect; numbered by their least row. */
typedef struct joined_set {
    double mass, momentum[3], kinetic;
    double fed;  /* work of the rows that close gaps */
    double load; /* Σ |r⁻| of these */
    bool tied;   /* to what impulses do not move */
} joined_set;

static int find_root(const int *root, int row) {
    while (root[row] != row) row = root[row];
    return row;
}

static bool is_free(const dls_world *world, int row) {
    return row >= 0 && world->bodies[row].motion == DLS_DYNAMIC;
}

static void connect(const dls_assembly *a, const dls_world *world, int *root) {
    const dls_joint_asks *asks = a->joints;
    for (int row = 0; row < a->row_count; row++) root[row] = row;
    for (int at = 0; at < asks->joint_count; at++) {
        const int *row = asks->pose[at].row;
        if (!is_free(world, row[0]) || !is_free(world, row[1])) continue;
        int i = find_root(root, row[0]), k = find_root(root, row[1]);
        root[i > k ? i : k] = i > k ? k : i;
    }
}

/* The set of a joint: that of either body; −1 where impulses move neither. */
static int set_of(const dls_world *world, const int *root, const int *row) {
    for (int side = 0; side < 2; side++)
        if (is_free(world, row[side])) return find_root(root, row[side]);
    return -1;
}

static void add_body(const dls_assembly *a, const dls_world *world, int row, joined_set *set) {
    const dls_body *body = &world->bodies[row];
    const double *v = a->before[row].v;
    double R[9], w[3];
    quat_matrix(world->states[row].q, R);
    mat_apply_transposed(w, R, a->before[row].w);
    mat_apply_transposed(w, body->axes, w);
    for (int k = 0; k < 3; k++) set->kinetic += 0.5 * body->inertia[k] * w[k] * w[k];
    set->kinetic += 0.5 * body->mass * vec_dot(v, v);
    set->mass += body->mass;
    vec_along(set->momentum, set->momentum, body->mass, v);
}

static void add_joint(const dls_assembly *a, const dls_world *world, int at, joined_set *set) {
    const dls_joint_asks *asks = a->joints;
    for (int side = 0; side < 2; side++) set->tied |= !is_free(world, asks->pose[at].row[side]);
    for (int i = asks->first[at]; i < asks->first[at + 1]; i++) {
        const dls_joint_ask *ask = &asks->ask[i];
        if (!ask->closes) continue;
        set->fed += fmax(0, -a->r[asks->first_row + i] * ask->added);
        set->load += fabs(world->joints[ask->joint].impulse[ask->freedom][ask->role]) /
                     a->rows->unit[asks->first_row + i];
    }
}

static bool is_driven_by_gaps(const joined_set *set, double v_ref) {
    double mean = set->tied ? 0 : 0.5 * vec_dot(set->momentum, set->momentum) / set->mass;
    return set->fed > set->kinetic - mean + 0.5 * set->mass * v_ref * v_ref + v_ref * set->load;
}

/* b of a row, in its unit and in the user's. */
static bool slow_down(dls_assembly *a, int i, double most_speed) {
    dls_joint_ask *ask = &a->joints->ask[i];
    dls_problem *p = a->rows;
    int row = a->joints->first_row + i;
    double most = most_speed / p->unit[row], change = copysign(fmax(0, fabs(ask->added) - most), ask->added);
    ask->added -= change;
    p->given_b[row] -= change;
    p->b[row] -= p->unit[row] * change;
    return change != 0;
}

dls_status dls_slow_closing(dls_assembly *a, const dls_world *world, double v_ref, double most_speed,
                            bool *slower, dls_error *error) {
    const dls_joint_asks *asks = a->joints;
    *slower = false;
    if (!asks || asks->joint_count == 0 || v_ref == 0) return DLS_OK;
    dls_workspace_mark mark = dls_workspace_get_mark(a->space);
    int *root = DLS_TAKE(a->space, int, a->row_count);
    joined_set *set = DLS_TAKE_ZERO(a->space, joined_set, a->row_count);
    if (!root || !set) return dls_fail_memory(error);
    connect(a, world, root);
    for (int row = 0; row < a->row_count; row++)
        if (is_free(world, row)) add_body(a, world, row, &set[find_root(root, row)]);
    for (int at = 0; at < asks->joint_count; at++) {
        int of = set_of(world, root, asks->pose[at].row);
        if (of >= 0) add_joint(a, world, at, &set[of]);
    }
    for (int at = 0; at < asks->joint_count; at++) {
        int of = set_of(world, root, asks->pose[at].row);
        if (of < 0 || !is_driven_by_gaps(&set[of], v_ref)) continue;
        for (int i = asks->first[at]; i < asks->first[at + 1]; i++)
            if (asks->ask[i].closes) *slower |= slow_down(a, i, most_speed);
    }
    dls_workspace_release(a->space, mark);
    return DLS_OK;
}

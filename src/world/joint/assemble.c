/* Bodies are moved until joints hold: Gauss–Newton on the gaps g of all held rows,
 *
 *     Δq = −M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁺ g,      then  v ← v − M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁺ J v
 *
 * by conjugate gradients, which find the least change also where rows are redundant. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/joint/joint.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 60 };
static const double CLOSE = 1e-12; /* of the size of what is joined */

typedef struct held_row {
    int joint, body[2]; /* ids, −1: nothing that moves */
    dls_joint_row row;
} held_row;

typedef struct assembling {
    dls_world *world;
    int count, bodies;
    int64_t capacity;
    held_row *rows;
    double *x;      /* per id: change of place, of orientation */
    double *vector; /* of the rows: λ, residual, direction, product, diagonal */
} assembling;

static bool is_moving(const dls_world *world, int id) {
    return id >= 0 && dls_world_body(world, id)->motion == DLS_DYNAMIC && dls_solid_of(world, id) < 0;
}

/* y = M⁻¹ y of one body: freedoms that are locked stay. */
static void divide_by_mass(const dls_world *world, int id, double *y) {
    const dls_body *body = dls_world_body(world, id);
    double R[9], Q[9];
    quat_matrix(dls_world_state(world, id)->q, R);
    mat_multiply(Q, R, body->axes);
    for (int k = 0; k < 6; k++)
        if (body->locked >> k & 1) y[k] = 0;
    for (int k = 0; k < 3; k++) y[k] *= body->inverse_mass;
    mat_apply_transposed(y + 3, Q, y + 3);
    for (int k = 0; k < 3; k++) y[3 + k] *= body->inertia_root[k] * body->inertia_root[k];
    mat_apply(y + 3, Q, y + 3);
    for (int k = 3; k < 6; k++)
        if (body->locked >> k & 1) y[k] = 0;
}

/* x = M⁻¹ Jᵀ λ */
static void moved_by(assembling *a, const double *lambda) {
    memset(a->x, 0, sizeof(double) * 6 * (size_t)a->world->entry_count);
    for (int i = 0; i < a->count; i++)
        for (int side = 0; side < 2; side++) {
            int id = a->rows[i].body[side];
            if (id < 0) continue;
            vec_along(a->x + 6 * (int64_t)id, a->x + 6 * (int64_t)id, lambda[i], a->rows[i].row.v[side]);
            vec_along(a->x + 6 * (int64_t)id + 3, a->x + 6 * (int64_t)id + 3, lambda[i],
                      a->rows[i].row.w[side]);
        }
    for (int id = 0; id < a->world->entry_count; id++)
        if (is_moving(a->world, id)) divide_by_mass(a->world, id, a->x + 6 * (int64_t)id);
}

/* J x of one row. */
static double along_row(const assembling *a, int i) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        int id = a->rows[i].body[side];
        if (id >= 0)
            sum += vec_dot(a->rows[i].row.v[side], a->x + 6 * (int64_t)id) +
                   vec_dot(a->rows[i].row.w[side], a->x + 6 * (int64_t)id + 3);
    }
    return sum;
}

/* ---- the rows ---- */

static bool add_rows(assembling *a, int id) {
    const dls_joint *joint = &a->world->joints[id];
    dls_joint_pose pose;
    if (joint->removed || joint->broken) return true;
    if (!DLS_RESERVE(a->rows, a->count, a->capacity, a->count + DLS_FREEDOMS)) return false;
    dls_joint_stand(a->world, joint, NULL, NULL, &pose);
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        held_row *row = &a->rows[a->count];
        if (!dls_joint_held_row(joint, &pose, a->world->def.dimension, k, &row->row)) continue;
        if (joint->def.rope && row->row.value <= 0) continue;
        row->joint = id;
        for (int side = 0; side < 2; side++)
            row->body[side] = is_moving(a->world, joint->def.body[side]) ? joint->def.body[side] : -1;
        a->count++;
    }
    return true;
}

static bool find_rows(assembling *a) {
    a->count = 0;
    for (int id = 0; id < a->world->joint_count; id++)
        if (!add_rows(a, id)) return false;
    dls_free(a->vector);
    a->vector = DLS_NEW_ZERO(double, 5 * (int64_t)a->count);
    return a->vector;
}

/* The gap that is missed most; a row of the velocity level has none. */
static double largest_gap(const assembling *a, int *joint) {
    double most = 0;
    for (int i = 0; i < a->count; i++)
        if (fabs(a->rows[i].row.value) > most) {
            most = fabs(a->rows[i].row.value);
            *joint = a->rows[i].joint;
        }
    return most;
}

static double row_mass(assembling *a, int i) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        int id = a->rows[i].body[side];
        if (id < 0) continue;
        double y[6];
        vec_copy(y, a->rows[i].row.v[side]);
        vec_copy(y + 3, a->rows[i].row.w[side]);
        divide_by_mass(a->world, id, y);
        sum += vec_dot(y, a->rows[i].row.v[side]) + vec_dot(y + 3, a->rows[i].row.w[side]);
    }
    return sum > 0 ? sum : 1;
}

/* J M⁻¹ Jᵀ λ = right, in vector[0 … count); x = M⁻¹ Jᵀ λ. */
static void solve_rows(assembling *a, const double *right) {
    int n = a->count;
    double *lambda = a->vector, *residual = lambda + n, *direction = residual + n, *product = direction + n,
           *diagonal = product + n, before = 0, first;
    for (int i = 0; i < n; i++) {
        diagonal[i] = row_mass(a, i);
        lambda[i] = 0;
        residual[i] = right[i];
        direction[i] = residual[i] / diagonal[i];
        before += residual[i] * direction[i];
    }
    first = before;
    for (int k = 0; k < 20 * n + 100 && before > 1e-30 * first && before > 0; k++) {
        double curvature = 0, after = 0;
        moved_by(a, direction);
        for (int i = 0; i < n; i++) {
            product[i] = along_row(a, i);
            curvature += direction[i] * product[i];
        }
        if (!(curvature > 0)) break;
        for (int i = 0; i < n; i++) {
            lambda[i] += before / curvature * direction[i];
            residual[i] -= before / curvature * product[i];
            after += residual[i] * residual[i] / diagonal[i];
        }
        for (int i = 0; i < n; i++) direction[i] = residual[i] / diagonal[i] + after / before * direction[i];
        before = after;
    }
    moved_by(a, lambda);
}

/* ---- moving ---- */

static double move(assembling *a, double share) {
    double most = 0;
    for (int id = 0; id < a->world->entry_count; id++) {
        if (!is_moving(a->world, id)) continue;
        double *x = a->x + 6 * (int64_t)id, turn[3], q[4];
        dls_body_state *state = dls_world_state(a->world, id);
        vec_along(state->x, state->x, share, x);
        vec_scale(turn, share, x + 3);
        quat_exponential(q, turn);
        quat_multiply(state->q, q, state->q);
        quat_normalize(state->q);
        most = fmax(most, fmax(vec_norm(x), vec_norm(x + 3)));
    }
    return most;
}

static double size_of(const dls_world *world) {
    double most = 0;
    for (int id = 0; id < world->joint_count; id++)
        for (int side = 0; side < 2; side++)
            if (world->joints[id].def.body[side] >= 0)
                most = fmax(most, vec_norm(world->joints[id].offset[side]));
    return most > 0 ? most : 1;
}

/* Large turns are taken in parts, so that the linear step stays near the curve. */
static dls_status close_gaps(assembling *a, dls_assembled *report, dls_error *error) {
    double size = size_of(a->world);
    int worst = 0;
    for (;;) {
        if (!find_rows(a)) return dls_fail_memory(error);
        report->left = largest_gap(a, &worst);
        if (report->left <= CLOSE * size || report->iterations == MOST_ROUNDS) break;
        double *right = DLS_NEW(double, a->count), farthest = 0;
        if (!right) return dls_fail_memory(error);
        for (int i = 0; i < a->count; i++) right[i] = -a->rows[i].row.value;
        solve_rows(a, right);
        dls_free(right);
        for (int64_t k = 0; k < 2 * (int64_t)a->world->entry_count; k++)
            farthest = fmax(farthest, vec_norm(a->x + 3 * k) / (k % 2 ? 1 : size));
        move(a, farthest > 0.5 ? 0.5 / farthest : 1);
        report->iterations++;
    }
    char label[128];
    if (report->left <= 1e-9 * size) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT,
                    "joints cannot be assembled: %s stays apart by %.3g after %d rounds; joints contradict "
                    "each other, or bodies stand too far away",
                    dls_joint_label(a->world, worst, label, sizeof label), report->left, report->iterations);
}

static dls_status match_speeds(assembling *a, dls_assembled *report, dls_error *error) {
    double *right = DLS_NEW(double, a->count);
    if (!right) return dls_fail_memory(error);
    for (int i = 0; i < a->count; i++) {
        right[i] = 0;
        for (int side = 0; side < 2; side++) {
            int id = a->world->joints[a->rows[i].joint].def.body[side];
            if (id < 0) continue;
            const dls_body_state *state = dls_world_state(a->world, id);
            right[i] -= vec_dot(a->rows[i].row.v[side], state->v) + vec_dot(a->rows[i].row.w[side], state->w);
        }
    }
    solve_rows(a, right);
    dls_free(right);
    for (int id = 0; id < a->world->entry_count; id++) {
        if (!is_moving(a->world, id)) continue;
        dls_body_state *state = dls_world_state(a->world, id);
        vec_add(state->v, state->v, a->x + 6 * (int64_t)id);
        vec_add(state->w, state->w, a->x + 6 * (int64_t)id + 3);
        report->sped = fmax(report->sped, vec_norm(a->x + 6 * (int64_t)id));
    }
    return DLS_OK;
}

static void compare(const dls_world *world, const dls_body_state *kept, dls_assembled *report) {
    for (int id = 0; id < world->entry_count; id++) {
        const dls_body_state *state = dls_world_state(world, id);
        double way = vec_distance(state->x, kept[id].x), cosine = 0;
        for (int k = 0; k < 4; k++) cosine += state->q[k] * kept[id].q[k];
        double turn = 2 * acos(fmin(1, fabs(cosine)));
        report->bodies += way > 0 || memcmp(state->q, kept[id].q, sizeof state->q) != 0;
        report->moved = fmax(report->moved, way);
        report->turned = fmax(report->turned, turn);
    }
}

dls_status dls_world_assemble_joints(dls_world *world, dls_assembled *report, dls_error *error) {
    dls_assembled ignored;
    dls_error_clear(error);
    if (!world) return dls_fail(error, DLS_ERROR_ARGUMENT, "a world is needed, got NULL");
    if (!report) report = &ignored;
    *report = (dls_assembled){.iterations = 0};
    assembling a = {.world = world, .x = DLS_NEW_ZERO(double, 6 * (int64_t)world->entry_count)};
    dls_body_state *kept = DLS_NEW(dls_body_state, world->entry_count);
    dls_status status = a.x && kept ? DLS_OK : dls_fail_memory(error);
    bool copied = !status;
    for (int id = 0; copied && id < world->entry_count; id++) kept[id] = *dls_world_state(world, id);
    if (!status) status = close_gaps(&a, report, error);
    if (!status && a.count) status = match_speeds(&a, report, error);
    for (int id = 0; status && copied && id < world->entry_count; id++)
        *dls_world_state(world, id) = kept[id];
    if (!status) compare(world, kept, report);
    dls_free(a.rows);
    dls_free(a.x);
    dls_free(a.vector);
    dls_free(kept);
    return status;
}

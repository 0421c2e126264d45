/* Joints that pull: a body that hangs between the points where joints act with forces F on arms l is turned
 * back when it is turned by φ, by the torque
 *
 *     Σ (φ × l) × F = −K φ,    K = Σ (F·l) 1 − ½ (l Fᵀ + F lᵀ)
 *
 * The step takes that torque where the joints stand, explicitly, which swings up where h²K is large beside J:
 * tight chains and bridges of light bodies at long steps, whose links swing faster than steps can follow.
 * There
 *
 *     (J + c h² K) ω⁺ = J ω⁻ + h torque + impulses,    c = max(c_K, ½),
 *
 * which is stable for any K, for it can only take energy: 1 + c h²ω² ≥ h²ω²/2 − 1. */
#include "assemble/joints.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/parts.h"

#include <math.h>
#include <string.h>

/* h²K/J from which a body is stiffened. An explicit torque swings up from 4 on; the forces are those of the
 * step before. A struck chain is held alike by 0.25 to 3, gains twice as much by 4 and comes apart by 8. */
static const double TIGHT = 1;
static const double LEAST_SHARE = 0.5; /* c: the least that is stable; by 0.25 a struck chain comes apart */
static const double HEAVY = 10; /* times a body's mass: a neighbour that stands still; 2 to 1e3 do alike */

/* K of one side of a joint by its impulses of the last step, which are h F. */
static void add_pull(const dls_joint_asks *asks, const dls_joint *joint, int at, int side, double *hK) {
    const dls_joint_pose *pose = &asks->pose[at];
    double F[3] = {0, 0, 0}, l[3];
    for (int i = asks->first[at]; i < asks->first[at + 1]; i++) {
        const dls_joint_ask *ask = &asks->ask[i];
        bool pulls = ask->role == DLS_ROLE_HELD || ask->role == DLS_ROLE_LOW || ask->role == DLS_ROLE_HIGH;
        if (pulls && ask->freedom < 3)
            vec_along(F, F, joint->impulse[ask->freedom][ask->role], ask->row.v[side]);
    }
    vec_sub(l, pose->p[side], pose->x[side]);
    double pull = vec_dot(F, l);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) hK[i + 3 * k] += (i == k ? pull : 0) - 0.5 * (l[i] * F[k] + F[i] * l[k]);
}

/* P = J S V, for S Sᵀ = J⁻¹ in world axes: z = Pᵀ ω are the body's turns in units of energy, ½ |z|². */
static void turns_of(const dls_body *body, const double *q, const double *SV, double *P) {
    double R[9], Q[9];
    quat_matrix(q, R);
    mat_multiply(Q, R, body->axes);
    for (int k = 0; k < 3; k++) {
        double own[3];
        mat_apply_transposed(own, Q, SV + 3 * k);
        for (int i = 0; i < 3; i++) own[i] *= body->inertia[i];
        mat_apply(P + 3 * k, Q, own);
    }
}

/* S Sᵀ = A⁻¹ on axes on which K is diagonal beside J; only what turns back counts. False where nothing is
 * tight. */
static bool stiffen(dls_row_mass *mass, const double *hK, double h, double c, double *SV, double *added) {
    double T[9], KS[9], value[3], V[9];
    bool tight = false;
    mat_multiply(KS, hK, mass->S);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) T[i + 3 * k] = h * vec_dot(mass->S + 3 * i, KS + 3 * k);
    dls_inertia_principal(T, value, V);
    for (int k = 0; k < 3; k++) tight |= value[k] > TIGHT;
    if (!tight) return false;
    mat_multiply(SV, mass->S, V);
    for (int k = 0; k < 3; k++) {
        added[k] = fmax(fmax(c, LEAST_SHARE) * value[k], 0);
        vec_scale(mass->S + 3 * k, 1 / sqrt(1 + added[k]), SV + 3 * k);
    }
    mass->is_ball = false;
    return true;
}

/* ω_free = A⁻¹ J (ω⁻ + h J⁻¹ torque) */
static void slow_down(const dls_tight_body *body, const double *SV, double *w) {
    double free[3];
    vec_copy(free, w);
    vec_set(w, 0, 0, 0);
    for (int k = 0; k < 3; k++)
        vec_along(w, w, vec_dot(body->turn + 3 * k, free) / (1 + body->added[k]), SV + 3 * k);
}

/* Between the ground and a heavy body a light rod cannot swing, however hard it is pulled: a wave runs on
 * where the next body gives way. */
static bool gives_way(const dls_world *world, int row, int next) {
    return next >= 0 && world->bodies[next].motion == DLS_DYNAMIC &&
           world->bodies[next].mass < HEAVY * world->bodies[row].mass;
}

/* K of all bodies that joints act on, in the order in which joints name them; slot: of each row, −1 for none.
 */
static int add_pulls(const dls_assembly *a, const dls_world *world, int *slot, int *row_of, double *hK) {
    const dls_joint_asks *asks = a->joints;
    int count = 0;
    for (int at = 0; at < asks->joint_count; at++)
        for (int side = 0; side < 2; side++) {
            int row = asks->pose[at].row[side];
            if (world->joints[asks->joint[at]].def.conserving) continue; /* their own rule keeps the energy */
            if (row < 0 || world->bodies[row].motion != DLS_DYNAMIC || world->bodies[row].is_solid) continue;
            if (!gives_way(world, row, asks->pose[at].row[1 - side])) continue;
            if (slot[row] < 0) slot[row] = count, row_of[count++] = row;
            add_pull(asks, &world->joints[asks->joint[at]], at, side, hK + 9 * (int64_t)slot[row]);
        }
    return count;
}

dls_status dls_tighten(dls_assembly *a, const dls_world *world, const dls_assemble_options *o,
                       dls_error *error) {
    if (!a->joints || a->joints->joint_count == 0 || o->explicit_solids) return DLS_OK;
    int most = 2 * a->joints->joint_count;
    int *slot = DLS_TAKE(a->space, int, a->row_count), *row_of = DLS_TAKE(a->space, int, most);
    double *hK = DLS_TAKE_ZERO(a->space, double, 9 * (int64_t)most);
    a->tight = DLS_TAKE(a->space, dls_tight_body, most);
    if (!slot || !row_of || !hK || !a->tight) return dls_fail_memory(error);
    for (int row = 0; row < a->row_count; row++) slot[row] = -1;
    for (int k = 0, count = add_pulls(a, world, slot, row_of, hK); k < count; k++) {
        dls_tight_body *body = &a->tight[a->tight_count];
        double SV[9];
        body->row = row_of[k];
        if (!stiffen(&a->mass[body->row], hK + 9 * (int64_t)k, o->h, o->stiffness, SV, body->added)) continue;
        turns_of(&world->bodies[body->row], world->states[body->row].q, SV, body->turn);
        slow_down(body, SV, a->free[body->row].w);
        a->tight_count++;
    }
    return DLS_OK;
}

double dls_tight_energy(const dls_assembly *a, const dls_world *world) {
    double sum = 0;
    for (int k = 0; k < a->tight_count; k++) {
        const dls_tight_body *body = &a->tight[k];
        for (int i = 0; i < 3; i++) {
            double before = vec_dot(body->turn + 3 * i, a->before[body->row].w);
            double after = vec_dot(body->turn + 3 * i, world->states[body->row].w);
            sum -= 0.5 * body->added[i] * after * (after + before);
        }
    }
    return sum;
}

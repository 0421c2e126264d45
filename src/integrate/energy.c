/* Where the energy goes. With u⁻ and u⁺ the velocities of a contact before and after the step,
 *
 *     E⁺ − E = ½ rᵀ(u⁺ + u⁻) + work of drives and applied forces
 *
 * holds to rounding for the half-step scheme and bodies that turn steadily; what remains is told as
 * unaccounted. What bodies bring when they come and take when they go is added to E and is no one's gain. */
#include "assemble/solids.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "integrate/simulation.h"

#include <math.h>

typedef struct energy_work {
    const dls_world *world;
    const dls_simulation *simulation;
    bool normal; /* of impulses, or what is along the tangents */
} energy_work;

static double kinetic_range(void *self, int first, int end) {
    const dls_world *world = ((energy_work *)self)->world;
    double sum = 0;
    for (int row = first; row < end; row++) {
        const dls_body *body = &world->bodies[row];
        const dls_body_state *state = &world->states[row];
        if (body->motion != DLS_DYNAMIC || body->is_solid) continue;
        double R[9], w[3];
        quat_matrix(state->q, R);
        mat_apply_transposed(w, R, state->w);
        mat_apply_transposed(w, body->axes, w);
        sum += body->mass * vec_dot(state->v, state->v);
        for (int k = 0; k < 3; k++) sum += body->inertia[k] * w[k] * w[k];
    }
    return sum / 2;
}

static double potential_range(void *self, int first, int end) {
    const dls_world *world = ((energy_work *)self)->world;
    double sum = 0;
    for (int row = first; row < end; row++)
        if (world->bodies[row].motion == DLS_DYNAMIC)
            sum -= world->bodies[row].mass * vec_dot(world->def.gravity, world->states[row].x);
    return sum;
}

void dls_energy_now(const dls_world *world, int threads, double *kinetic, double *potential, double *strain) {
    energy_work work = {world, NULL, false};
    *strain = 0;
    *kinetic = dls_parallel_sum(world->body_count, threads, kinetic_range, &work);
    for (int k = 0; k < world->solid_count; k++) {
        if (world->entries[world->solids[k].id].row < 0) continue;
        *kinetic += dls_solid_kinetic(world, &world->solids[k]);
        *strain += dls_solid_strain(world, &world->solids[k]);
    }
    *potential = dls_parallel_sum(world->body_count, threads, potential_range, &work);
}

double dls_energy_row(const dls_world *world, int row) {
    energy_work work = {world, NULL, false};
    double own = kinetic_range(&work, row, row + 1) + potential_range(&work, row, row + 1);
    if (!world->bodies[row].is_solid) return own;
    const dls_solid *solid = dls_solid_of_row(world, row);
    return own + dls_solid_kinetic(world, solid) + dls_solid_strain(world, solid);
}

/* −½ Σ r_k (u_k⁺ + u_k⁻) over the rows first_row … end_row − 1 of a block: what the contact takes. Attraction
 * is an impulse of the contact like r. */
static double taken(const dls_simulation *s, int block, int first_row, int end_row) {
    const dls_assembly *a = &s->assembly;
    double sum = 0;
    for (int k = first_row; k < end_row; k++) {
        int i = a->rows->row[block] + k;
        double r = a->r[i] - (k == 0 && a->cohesion ? a->cohesion[block] : 0);
        sum -= 0.5 * r * (a->u[i] + a->to_mean[i]);
    }
    return sum;
}

static double impact_range(void *self, int first, int end) {
    const energy_work *work = self;
    double sum = 0;
    for (int block = first; block < end; block++) sum += taken(work->simulation, block, 0, 1);
    return sum;
}

static double friction_range(void *self, int first, int end) {
    const energy_work *work = self;
    double sum = 0;
    for (int block = first; block < end; block++)
        sum += taken(work->simulation, block, 1, work->simulation->assembly.dimension);
    return sum;
}

/* Rows of relative angular velocity, Contensou's among them, stand behind the tangential ones. */
static double turning_range(void *self, int first, int end) {
    const dls_simulation *s = ((energy_work *)self)->simulation;
    const int *row = s->assembly.rows->row;
    double sum = 0;
    for (int block = first; block < end; block++)
        sum += taken(s, block, s->assembly.dimension, row[block + 1] - row[block]);
    return sum;
}

/* From the mass centre of a side's row to where the contact's impulse acts. */
static void side_arm(const dls_simulation *s, const dls_contact *c, int side, double *arm) {
    int row = side ? c->body_b : c->body_a;
    dls_contact_acts_at(&s->assembly, c, arm);
    for (int k = 0; k < 3; k++)
        arm[k] -= s->found[row].x[k] + (side ? c->image[k] * s->world->def.period_size[k] : 0);
}

/* Half of what the driven side's velocity changes at the beginning of the step: what it carries has had no
 * slip by that. */
static void half_jump(const dls_simulation *s, int row, const double *arm, double *jump) {
    const dls_twist *before = &s->assembly.before[row];
    const dls_body_state *kept = &s->kept[row];
    vec_set(jump, 0, 0, 0);
    if (s->world->bodies[row].uid >= s->kept_flown_uid)
        return; /* its first step: it comes with its velocity */
    for (int k = 0; k < 3; k++) jump[k] = 0.5 * (before->w[k] - kept->w[k]);
    vec_cross(jump, jump, arm);
    for (int k = 0; k < 3; k++) jump[k] += 0.5 * (before->v[k] - kept->v[k]);
}

/* ½ r·ΔV of driven sides, along the normal or along the tangents: u⁻ has their velocities in the step, and is
 * to have those before it. */
static double jump_range(void *self, int first, int end) {
    const energy_work *work = self;
    const dls_simulation *s = work->simulation;
    const dls_assembly *a = &s->assembly;
    const dls_contact *contacts = dls_collider_contacts(s->collider);
    double sum = 0;
    for (int block = first; block < end; block++) {
        const dls_contact *c = &contacts[a->contact_of[block]];
        for (int side = 0; side < 2; side++) {
            int row = side ? c->body_b : c->body_a;
            if (s->world->bodies[row].motion != DLS_DRIVEN) continue;
            double arm[3], jump[3], normal = vec_dot(c->impulse, c->at.normal);
            side_arm(s, c, side, arm);
            half_jump(s, row, arm, jump);
            double along = vec_dot(jump, c->at.normal), part = (side ? 1 : -1) * normal * along;
            if (work->normal)
                sum += part - (side ? 1 : -1) * (a->cohesion ? a->cohesion[block] * along : 0);
            else
                sum += (side ? 1 : -1) * vec_dot(c->impulse, jump) - part;
        }
    }
    return sum;
}

/* r · (velocity of the driven side at the contact, the mean of before and after): what drives put in. */
static double drive_range(void *self, int first, int end) {
    const dls_simulation *s = ((energy_work *)self)->simulation;
    const dls_assembly *a = &s->assembly;
    const dls_contact *contacts = dls_collider_contacts(s->collider);
    double sum = 0;
    for (int block = first; block < end; block++) {
        const dls_contact *c = &contacts[a->contact_of[block]];
        for (int side = 0; side < 2; side++) {
            int row = side ? c->body_b : c->body_a;
            if (s->world->bodies[row].motion != DLS_DRIVEN) continue;
            double arm[3], speed[3], jump[3], net[3];
            side_arm(s, c, side, arm);
            half_jump(s, row, arm, jump);
            dls_twist mean = a->before[row];
            for (int k = 0; k < 3; k++) mean.v[k] = 0.5 * (mean.v[k] + s->world->states[row].v[k]) - jump[k];
            vec_cross(speed, mean.w, arm);
            vec_add(speed, speed, mean.v);
            vec_along(net, c->impulse, a->cohesion ? -a->cohesion[block] : 0, c->at.normal);
            sum += (side ? -1 : 1) * (vec_dot(net, speed) + vec_dot(c->moment, mean.w));
        }
    }
    return sum;
}

/* −r_t · (what belts add to u): friction takes r_t of the whole slip, bodies have it of their own part. */
static double belt_range(void *self, int first, int end) {
    const dls_assembly *a = &((energy_work *)self)->simulation->assembly;
    double sum = 0;
    for (int block = first; block < end; block++)
        for (int k = 1; k < a->dimension; k++)
            sum -= a->r[a->rows->row[block] + k] * a->belt[2 * (int64_t)block + k - 1];
    return sum;
}

/* Forces told by functions, over the mean velocity of the step; gravity is in the potential. */
static double applied_work(const dls_simulation *s) {
    const dls_world *world = s->world;
    double sum = 0, h = s->options.step;
    for (int row = 0; row < world->body_count; row++) {
        const dls_body *body = &world->bodies[row];
        if (body->motion != DLS_DYNAMIC || !body->has_forces) continue;
        double force[3], torque[3];
        if (dls_world_force(world, row, s->t - h / 2, force, torque, NULL)) continue;
        vec_along(force, force, -body->mass, world->def.gravity);
        const dls_twist *before = &s->assembly.before[row];
        for (int k = 0; k < 3; k++)
            sum += 0.5 * h *
                   (force[k] * (before->v[k] + world->states[row].v[k]) +
                    torque[k] * (before->w[k] + world->states[row].w[k]));
        const dls_twist *shift = s->impacts.shift ? &s->impacts.shift[row] : NULL;
        if (shift) sum += vec_dot(force, shift->v) + vec_dot(torque, shift->w);
    }
    return sum;
}

/* Actuators put in, the rest of a joint takes; driven bodies put in what they do through joints. */
static void joint_work(dls_simulation *s) {
    dls_energy *e = &s->energy;
    for (int k = 0; k < s->joint_record_count; k++) {
        e->motors += s->joint_records[k].work;
        e->joints += s->joint_records[k].lost;
    }
    e->work += s->joint_work;
    e->spring = dls_joints_energy(s->world);
}

void dls_energy_step(dls_simulation *s) {
    energy_work work = {s->world, s, false}, along_normal = {s->world, s, true};
    dls_energy *e = &s->energy;
    int threads = s->options.threads, blocks = s->assembly.block_count;
    e->impact += dls_parallel_sum(blocks, threads, impact_range, &work);
    e->friction += dls_parallel_sum(blocks, threads, friction_range, &work);
    if (s->world->told_count) {
        e->impact += dls_parallel_sum(blocks, threads, jump_range, &along_normal);
        e->friction += dls_parallel_sum(blocks, threads, jump_range, &work);
    }
    e->impact += s->impacts.impact;
    e->friction += s->impacts.friction;
    e->work += s->impacts.work;
    if (s->assembly.drilling) e->turning += dls_parallel_sum(blocks, threads, turning_range, &work);
    e->work += dls_parallel_sum(blocks, threads, drive_range, &work) + applied_work(s);
    if (s->assembly.belt) e->work += dls_parallel_sum(blocks, threads, belt_range, &work);
    double stored = e->strain;
    dls_energy_now(s->world, threads, &e->kinetic, &e->potential, &e->strain);
    if (s->assembly.solids) {
        e->damping += s->assembly.solids->damped;
        if (!isnan(s->assembly.solids->strained))
            e->numerical += e->strain - stored + s->assembly.solids->strained;
    }
    joint_work(s);
    e->unaccounted = e->kinetic + e->potential + e->spring + e->strain + e->friction + e->impact +
                     e->turning + e->joints + e->damping - e->work - e->motors - e->numerical -
                     s->base_energy;
}

/* Impacts in order. Within a step bodies move freely between impacts, and gaps are those of q_m, linear in
 * the displacements:
 *
 *     g(t) = g_m + u⁻(t − t_m) + a t²/2 + Σ n·HΔ_i (t − t_i),      a = (u_free − u⁻)/h
 *
 * with Δ_i the jumps of velocity by the impulse at t_i. The contact that closes first is struck alone, by the
 * law of one contact with restitution at its place then, and the contacts of its two bodies are looked at
 * anew: so on until none closes before the end of the step that would leave faster than rest_speed. The rest
 * of the step is the usual problem. Bodies then have ΣΔ_i more speed, and end
 *
 *     δ = Σ (h − t_i) Δ_i − (what the scheme makes of ΣΔ_i)
 *
 * from where it takes them, which conserves momentum, angular momentum and, at e = 1, energy. */
#include "integrate/impacts.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "collide/curvature.h"
#include "solve/law/law.h"
#include "world/shape/kinds.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Impacts that a step may have: this many, and for each contact. */
enum { MOST_IMPACTS = 1000, MOST_PER_CONTACT = 20 };
static const double MOST_TURN =
    1; /* rad of a normal from q_m to the impact: beyond it the one of q_m stays */

/* ---- what is known of a contact ---- */

/* One that may be struck: g(t) without impacts, and e_n. */
typedef struct striker {
    int contact, heap; /* place in the heap, −1: not in it */
    double n[3], arm[2][3];
    double gap, u, a, e_n;
    double t; /* when it closes */
} striker;

typedef struct row_impacts {
    dls_twist sum, late; /* ΣΔ_i, Σ t_i Δ_i */
    int first, count;    /* of its strikers, in the list of all rows */
    bool moves;
} row_impacts;

typedef struct impact_work {
    dls_simulation *s;
    const dls_assemble_options *o;
    double t_m, now;
    striker *striker;
    int striker_count;
    int *of_row; /* strikers of row after row */
    int *heap, heap_count;
    row_impacts *row;
} impact_work;

static dls_contact *contact_of(const impact_work *w, const striker *k) {
    return &dls_collider_contacts(w->s->collider)[k->contact];
}

static int row_of(const dls_contact *c, int side) { return side ? c->body_b : c->body_a; }

/* Velocity of a material point. */
static void point_velocity(const dls_twist *twist, const double *arm, double *v) {
    vec_cross(v, twist->w, arm);
    vec_add(v, v, twist->v);
}

/* n·(point of B − point of A) of two twists. */
static double along(const double *n, const dls_twist *a, const double *arm_a, const dls_twist *b,
                    const double *arm_b) {
    double of_a[3], of_b[3];
    point_velocity(a, arm_a, of_a);
    point_velocity(b, arm_b, of_b);
    vec_sub(of_b, of_b, of_a);
    return vec_dot(n, of_b);
}

static void look_at(const impact_work *w, int index, striker *k) {
    const dls_assembly *a = &w->s->assembly;
    const dls_contact *c = &dls_collider_contacts(w->s->collider)[index];
    *k = (striker){.contact = index, .heap = -1, .gap = c->at.gap, .e_n = w->s->world->pairs[c->pair].e_n};
    vec_copy(k->n, c->at.normal);
    for (int side = 0; side < 2; side++) {
        vec_sub(k->arm[side], side ? c->at.point_b : c->at.point_a, w->s->world->states[row_of(c, side)].x);
        for (int i = 0; i < 3 && side; i++) k->arm[1][i] -= c->image[i] * w->s->world->def.period_size[i];
    }
    k->u = along(k->n, &a->before[c->body_a], k->arm[0], &a->before[c->body_b], k->arm[1]);
    double free = along(k->n, &a->free[c->body_a], k->arm[0], &a->free[c->body_b], k->arm[1]);
    k->a = (free - k->u) / w->o->h;
    k->gap -= k->u * w->t_m;
}

/* When it closes next at the present velocities, HUGE_VAL where it does not in this step, or too slowly. */
static double closes_by(const impact_work *w, const striker *k, double gained, double late) {
    double now = w->now, h = w->o->h;
    double gap = k->gap - late + (k->u + gained) * now + 0.5 * k->a * now * now;
    double speed = k->u + gained + k->a * now;
    if (gap <= 0) return k->e_n * -speed > w->o->rest_speed ? now : HUGE_VAL;
    double square = speed * speed - 2 * k->a * gap;
    if (!(square > 0) || !(k->e_n * sqrt(square) > w->o->rest_speed)) return HUGE_VAL;
    double fall = -speed + sqrt(square);
    double t = fall > 0 ? now + 2 * gap / fall : HUGE_VAL;
    return t <= h ? t : HUGE_VAL;
}

static double closes_at(const impact_work *w, const striker *k) {
    const dls_contact *c = contact_of(w, k);
    const row_impacts *of_a = &w->row[c->body_a], *of_b = &w->row[c->body_b];
    return closes_by(w, k, along(k->n, &of_a->sum, k->arm[0], &of_b->sum, k->arm[1]),
                     along(k->n, &of_a->late, k->arm[0], &of_b->late, k->arm[1]));
}

/* ---- which is first: a heap by time, ties by the order of contacts ---- */

static bool is_before(const impact_work *w, int i, int j) {
    const striker *p = &w->striker[i], *q = &w->striker[j];
    return p->t < q->t || (p->t == q->t && i < j);
}

static void put(impact_work *w, int place, int k) {
    w->heap[place] = k;
    w->striker[k].heap = place;
}

static void sift(impact_work *w, int place) {
    int k = w->heap[place];
    for (int up = (place - 1) / 2; place > 0 && is_before(w, k, w->heap[up]); up = (place - 1) / 2) {
        put(w, place, w->heap[up]);
        place = up;
    }
    for (int down; (down = 2 * place + 1) < w->heap_count; place = down) {
        if (down + 1 < w->heap_count && is_before(w, w->heap[down + 1], w->heap[down])) down++;
        if (!is_before(w, w->heap[down], k)) break;
        put(w, place, w->heap[down]);
    }
    put(w, place, k);
}

/* Gives a striker its time, HUGE_VAL takes it out. */
static void set_time(impact_work *w, int k, double t) {
    striker *x = &w->striker[k];
    x->t = t;
    if (x->heap < 0 && !(t < HUGE_VAL)) return;
    if (x->heap < 0) put(w, w->heap_count++, k);
    int place = x->heap;
    if (t < HUGE_VAL) {
        sift(w, place);
        return;
    }
    int last = w->heap[--w->heap_count];
    x->heap = -1;
    if (last == k) return;
    put(w, place, last);
    sift(w, place);
}

/* ---- one impact ---- */

/* Where a striker's bodies touch at the time of its impact. */
typedef struct impact_place {
    double frame[9], arm[2][3];
} impact_place;

/* How far a row has come from q_m at t, as a motion. */
static void displacement(const impact_work *w, int row, dls_twist *d) {
    const dls_assembly *a = &w->s->assembly;
    const row_impacts *of = &w->row[row];
    double t = w->now, h = w->o->h;
    const double *before = a->before[row].v, *free = a->free[row].v;
    const double *turn = a->before[row].w, *free_turn = a->free[row].w;
    for (int k = 0; k < 3; k++) {
        d->v[k] = before[k] * (t - w->t_m) + (free[k] - before[k]) / h * t * t / 2 + of->sum.v[k] * t -
                  of->late.v[k];
        d->w[k] = turn[k] * (t - w->t_m) + (free_turn[k] - turn[k]) / h * t * t / 2 + of->sum.w[k] * t -
                  of->late.w[k];
    }
}

static bool surface_of(const impact_work *w, const dls_contact *c, int side, dls_curvature *surface) {
    const dls_world *world = w->s->world;
    const dls_shape *shape = &world->shapes[side ? c->b : c->a];
    const dls_body_state *state = &world->states[row_of(c, side)];
    double R[9], x[3], n[3], own[9];
    quat_matrix(state->q, R);
    mat_apply(x, R, shape->x);
    vec_add(x, x, state->x);
    for (int k = 0; k < 3 && side; k++) x[k] += c->image[k] * world->def.period_size[k];
    mat_multiply(own, R, shape->R);
    vec_scale(n, side ? -1 : 1, c->at.normal);
    return dls_curvature_at(shape, x, own, side ? c->at.point_b : c->at.point_a, n, surface);
}

/* From the mass centre of A to that of B, at the time of the impact. */
static void between(const impact_work *w, const dls_contact *c, const dls_twist d[2], double *way) {
    const dls_world *world = w->s->world;
    for (int k = 0; k < 3; k++)
        way[k] = world->states[c->body_b].x[k] + c->image[k] * world->def.period_size[k] + d[1].v[k] -
                 world->states[c->body_a].x[k] - d[0].v[k];
}

/* n and arms go on from q_m by the kinematics of contacts, whose motion is the displacement since. */
static void carry_on(const impact_work *w, const striker *k, const dls_twist d[2], double *n,
                     double arm[2][3]) {
    const dls_contact *c = contact_of(w, k);
    dls_curvature side[2];
    dls_side_motion motion[2] = {{.v = {0}}, {.v = {0}}};
    dls_contact_motion moves;
    for (int i = 0; i < 2; i++) {
        point_velocity(&d[i], k->arm[i], motion[i].v);
        vec_copy(motion[i].w, d[i].w);
        if (!surface_of(w, c, i, &side[i])) return;
    }
    if (!dls_contact_moves_alike(side, k->n, c->at.gap, motion, &moves) &&
        !dls_contact_moves(side, k->n, c->at.gap, motion, &moves))
        return;
    for (int i = 0; i < 2; i++) {
        double turned[3];
        vec_cross(turned, d[i].w, k->arm[i]);
        vec_add(turned, turned, moves.slide[i]);
        if (vec_norm(turned) > MOST_TURN * vec_norm(k->arm[i]) && w->row[row_of(c, i)].moves) return;
        vec_add(motion[i].a, k->arm[i], turned);
    }
    if (vec_norm(moves.nu) > MOST_TURN) return;
    vec_add(n, n, moves.nu);
    vec_scale(n, 1 / vec_norm(n), n);
    for (int i = 0; i < 2; i++) vec_copy(arm[i], motion[i].a);
}

/* Discs and balls have their normal along their centres; where both bodies move they are hit at one point. */
static void place_impact(const impact_work *w, const striker *k, impact_place *p) {
    const dls_contact *c = contact_of(w, k);
    const dls_row_mass *mass = w->s->assembly.mass;
    dls_twist d[2];
    double n[3], way[3], apart[3];
    for (int i = 0; i < 2; i++) displacement(w, row_of(c, i), &d[i]);
    memcpy(p->arm, k->arm, sizeof p->arm);
    vec_copy(n, k->n);
    between(w, c, d, way);
    if (mass[c->body_a].rolls && mass[c->body_b].rolls && vec_norm(way) > 0) {
        vec_scale(n, 1 / vec_norm(way), way);
        vec_scale(p->arm[0], vec_norm(k->arm[0]), n);
        vec_scale(p->arm[1], -vec_norm(k->arm[1]), n);
    } else
        carry_on(w, k, d, n, p->arm);
    dls_contact_frame(n, p->frame);
    if (!w->row[c->body_a].moves || !w->row[c->body_b].moves) return;
    vec_add(apart, way, p->arm[1]);
    vec_sub(apart, apart, p->arm[0]);
    vec_along(p->arm[0], p->arm[0], 0.5, apart);
    vec_along(p->arm[1], p->arm[1], -0.5, apart);
}

/* Δ of a row by an impulse at the arm. */
static void jump_of(const dls_row_mass *mass, const double *arm, const double *impulse, dls_twist *jump) {
    double turn[3];
    for (int k = 0; k < 3; k++) jump->v[k] = mass->root[k] * mass->root[k] * impulse[k];
    vec_cross(turn, arm, impulse);
    mat_apply_transposed(turn, mass->S, turn);
    mat_apply(jump->w, mass->S, turn);
}

/* Velocity of a row at the time of the impact. */
static void velocity_now(const impact_work *w, int row, dls_twist *out) {
    const dls_assembly *a = &w->s->assembly;
    double share = w->now / w->o->h;
    for (int k = 0; k < 3; k++) {
        out->v[k] =
            a->before[row].v[k] + share * (a->free[row].v[k] - a->before[row].v[k]) + w->row[row].sum.v[k];
        out->w[k] =
            a->before[row].w[k] + share * (a->free[row].w[k] - a->before[row].w[k]) + w->row[row].sum.w[k];
    }
}

/* u of the frame's rows by two twists. */
static void rows_of(const impact_place *p, int d, const dls_twist *a, const dls_twist *b, double *u) {
    for (int k = 0; k < d; k++) u[k] = along(p->frame + 3 * k, a, p->arm[0], b, p->arm[1]);
}

/* W of the contact alone: column j is what a unit of row j does to u. */
static void own_block(const impact_work *w, const dls_contact *c, const impact_place *p, int d, double *W) {
    const dls_assembly *a = &w->s->assembly;
    for (int j = 0; j < d; j++) {
        dls_twist jump[2];
        double back[3];
        vec_scale(back, -1, p->frame + 3 * j);
        jump_of(&a->mass[c->body_a], p->arm[0], back, &jump[0]);
        jump_of(&a->mass[c->body_b], p->arm[1], p->frame + 3 * j, &jump[1]);
        rows_of(p, d, &jump[0], &jump[1], W + d * j);
    }
}

/* The law of one contact: r of û = u⁺ + e u⁻ = W r + b; without friction where that has no solution. */
static void solve_alone(int d, const double *W, double mu, const double *b, double *r) {
    dls_contact_state state = DLS_UNSOLVED;
    memset(r, 0, sizeof *r * 3);
    if (mu > 0 && dls_law_apply(&dls_law_exact, NULL, d, W, mu, b, r, NULL, &state, NULL) == DLS_OK &&
        state != DLS_UNSOLVED && isfinite(r[0] + r[1] + r[2]))
        return;
    vec_set(r, W[0] > 0 ? fmax(-b[0] / W[0], 0) : 0, 0, 0);
}

static void give(impact_work *w, int row, const double *arm, const double *impulse) {
    const dls_row_mass *mass = &w->s->assembly.mass[row];
    dls_twist jump;
    if (!w->row[row].moves) return;
    jump_of(mass, arm, impulse, &jump);
    row_impacts *of = &w->row[row];
    for (int k = 0; k < 3; k++) {
        of->sum.v[k] += jump.v[k];
        of->sum.w[k] += jump.w[k];
        of->late.v[k] += w->now * jump.v[k];
        of->late.w[k] += w->now * jump.w[k];
    }
}

/* What the impact takes, −½ r (u⁺ + u⁻), and what driven bodies and belts do in it. */
static void book(impact_work *w, const dls_contact *c, const impact_place *p, int d, const double *r,
                 const double *u, const double *after, const double *belt, const double *impulse) {
    dls_impacts *sum = &w->s->impacts;
    for (int k = 0; k < d; k++) {
        double own = k && belt ? vec_dot(p->frame + 3 * k, belt) : 0;
        *(k ? &sum->friction : &sum->impact) -= 0.5 * r[k] * (u[k] + after[k]);
        sum->work -= r[k] * own;
    }
    for (int side = 0; side < 2; side++) {
        double v[3];
        dls_twist now;
        if (w->s->world->bodies[row_of(c, side)].motion != DLS_DRIVEN) continue;
        velocity_now(w, row_of(c, side), &now);
        point_velocity(&now, p->arm[side], v);
        sum->work += (side ? -1 : 1) * vec_dot(impulse, v);
    }
}

/* Strikes a contact; false where it does not approach by the normal of its time. */
static bool strike(impact_work *w, const striker *k) {
    const dls_contact *c = contact_of(w, k);
    const dls_world *world = w->s->world;
    const dls_pair_def *pair = &world->pairs[c->pair];
    int d = world->def.dimension;
    impact_place p;
    dls_twist of[2];
    double u[3], W[9], b[3], r[3], after[3], impulse[3] = {0, 0, 0}, back[3], belt[3];
    place_impact(w, k, &p);
    velocity_now(w, c->body_a, &of[0]);
    velocity_now(w, c->body_b, &of[1]);
    rows_of(&p, d, &of[0], &of[1], u);
    dls_contact_belt(world, c, belt);
    for (int j = 1; j < d; j++) u[j] += vec_dot(p.frame + 3 * j, belt);
    if (!(u[0] < 0)) return false;
    own_block(w, c, &p, d, W);
    for (int j = 0; j < d; j++) b[j] = (1 + (j ? pair->e_t : pair->e_n)) * u[j];
    solve_alone(d, W, pair->mu, b, r);
    for (int j = 0; j < d; j++) {
        after[j] = u[j];
        for (int i = 0; i < d; i++) after[j] += W[j + d * i] * r[i];
        vec_along(impulse, impulse, r[j], p.frame + 3 * j);
    }
    book(w, c, &p, d, r, u, after, belt, impulse);
    vec_scale(back, -1, impulse);
    give(w, c->body_a, p.arm[0], back);
    give(w, c->body_b, p.arm[1], impulse);
    return true;
}

/* ---- all of them ---- */

static bool bounces(const dls_world *world) {
    double most = 0;
    for (int k = 0; k < world->material_count * world->material_count; k++)
        most = fmax(most, world->pairs[k].e_n);
    return most > 0;
}

static bool may_strike(const dls_simulation *s, const dls_contact *c) {
    return dls_contact_strikes(&s->assembly, s->world, c);
}

/* How many close before any is struck. */
static double close_range(void *self, int first, int end) {
    const impact_work *w = self;
    const dls_contact *contacts = dls_collider_contacts(w->s->collider);
    int count = 0;
    for (int i = first; i < end; i++) {
        striker k;
        if (!may_strike(w->s, &contacts[i])) continue;
        look_at(w, i, &k);
        count += closes_by(w, &k, 0, 0) < HUGE_VAL;
    }
    return count;
}

static dls_status find_strikers(impact_work *w, dls_error *error) {
    dls_simulation *s = w->s;
    const dls_contact *contacts = dls_collider_contacts(s->collider);
    int count = dls_collider_count(s->collider), n = 0;
    for (int i = 0; i < count; i++) n += may_strike(s, &contacts[i]);
    w->row = DLS_TAKE_ZERO(s->assembly.space, row_impacts, s->world->body_count);
    w->striker = DLS_TAKE(s->assembly.space, striker, n);
    w->heap = DLS_TAKE(s->assembly.space, int, n);
    w->of_row = DLS_TAKE(s->assembly.space, int, 2 * (int64_t)n);
    s->impacts.shift = DLS_TAKE(s->assembly.space, dls_twist, s->world->body_count);
    if (!w->row || !w->striker || !w->heap || !w->of_row || !s->impacts.shift) return dls_fail_memory(error);
    for (int i = 0; i < count; i++)
        if (may_strike(s, &contacts[i])) look_at(w, i, &w->striker[w->striker_count++]);
    return DLS_OK;
}

/* The strikers of each row, in their order. */
static void sort_by_rows(impact_work *w) {
    int at = 0;
    for (int k = 0; k < w->striker_count; k++)
        for (int side = 0; side < 2; side++) w->row[row_of(contact_of(w, &w->striker[k]), side)].count++;
    for (int row = 0; row < w->s->world->body_count; row++) {
        w->row[row].first = at;
        at += w->row[row].count;
        w->row[row].count = 0;
        w->row[row].moves = dls_row_can_move(&w->s->assembly.mass[row]);
    }
    for (int k = 0; k < w->striker_count; k++)
        for (int side = 0; side < 2; side++) {
            row_impacts *of = &w->row[row_of(contact_of(w, &w->striker[k]), side)];
            w->of_row[of->first + of->count++] = k;
        }
}

/* The contacts of a body that was struck are looked at anew; what nothing moves was not struck. */
static void look_again(impact_work *w, int row) {
    const row_impacts *of = &w->row[row];
    for (int i = 0; i < of->count && of->moves; i++) {
        int k = w->of_row[of->first + i];
        set_time(w, k, closes_at(w, &w->striker[k]));
    }
}

static void strike_all(impact_work *w) {
    dls_impacts *sum = &w->s->impacts;
    int64_t most = MOST_IMPACTS + (int64_t)MOST_PER_CONTACT * w->striker_count;
    for (int k = 0; k < w->striker_count; k++) set_time(w, k, closes_at(w, &w->striker[k]));
    while (w->heap_count && sum->count < most) {
        int k = w->heap[0];
        const dls_contact *c = contact_of(w, &w->striker[k]);
        w->now = w->striker[k].t;
        set_time(w, k, HUGE_VAL);
        if (!strike(w, &w->striker[k])) continue;
        sum->count++;
        look_again(w, c->body_a);
        look_again(w, c->body_b);
    }
    sum->left = w->heap_count;
}

/* Velocities with their jumps, and gaps as they will be when bodies have moved by δ. */
static void take_over(impact_work *w, const dls_step_plan *plan) {
    dls_simulation *s = w->s;
    dls_assembly *a = &s->assembly;
    dls_contact *contacts = dls_collider_contacts(s->collider);
    s->impacts.rest = (1 - plan->joints_at) * w->o->h;
    for (int row = 0; row < s->world->body_count; row++) {
        const dls_twist *sum = &w->row[row].sum, *late = &w->row[row].late;
        dls_body_state *state = &s->world->states[row];
        dls_twist *shift = &s->impacts.shift[row];
        for (int k = 0; k < 3; k++) {
            state->v[k] += sum->v[k], state->w[k] += sum->w[k];
            a->free[row].v[k] += sum->v[k], a->free[row].w[k] += sum->w[k];
            shift->v[k] = plan->joints_at * w->o->h * sum->v[k] - late->v[k];
            shift->w[k] = plan->joints_at * w->o->h * sum->w[k] - late->w[k];
        }
        s->impacts.jump = fmax(s->impacts.jump, vec_norm(sum->v));
    }
    for (int i = 0; i < dls_collider_count(s->collider); i++) {
        dls_contact *c = &contacts[i];
        striker k;
        look_at(w, i, &k);
        c->at.gap +=
            along(k.n, &s->impacts.shift[c->body_a], k.arm[0], &s->impacts.shift[c->body_b], k.arm[1]);
    }
}

dls_status dls_impacts_strike(dls_simulation *s, const dls_step_plan *plan, const dls_assemble_options *o,
                              dls_error *error) {
    impact_work w = {.s = s, .o = o, .t_m = plan->contacts_at * o->h};
    s->impacts = (dls_impacts){0};
    if (!o->in_order || !bounces(s->world)) return DLS_OK;
    if (dls_parallel_sum(dls_collider_count(s->collider), o->threads, close_range, &w) == 0) return DLS_OK;
    dls_status status = find_strikers(&w, error);
    if (status) return status;
    sort_by_rows(&w);
    strike_all(&w);
    take_over(&w, plan);
    return DLS_OK;
}

static bool was_struck(const dls_simulation *s, int row) {
    const dls_twist *shift = &s->impacts.shift[row];
    return vec_dot(shift->v, shift->v) + vec_dot(shift->w, shift->w) > 0;
}

double dls_impacts_gap(const dls_simulation *s, const dls_contact *c) {
    dls_twist twist[2];
    double arm[2][3];
    if (!s->impacts.shift || !(was_struck(s, c->body_a) || was_struck(s, c->body_b))) return c->at.gap;
    for (int side = 0; side < 2; side++) {
        const dls_body_state *state = &s->world->states[row_of(c, side)];
        vec_copy(twist[side].v, state->v);
        vec_copy(twist[side].w, state->w);
        vec_sub(arm[side], side ? c->at.point_b : c->at.point_a, state->x);
        for (int k = 0; k < 3 && side; k++) arm[1][k] -= c->image[k] * s->world->def.period_size[k];
    }
    return c->at.gap + s->impacts.rest * along(c->at.normal, &twist[0], arm[0], &twist[1], arm[1]);
}

void dls_impacts_move(dls_simulation *s) {
    for (int row = 0; s->impacts.shift && row < s->world->body_count; row++) {
        const dls_twist *shift = &s->impacts.shift[row];
        double *x = s->world->states[row].x;
        if (s->world->bodies[row].motion != DLS_DYNAMIC || s->world->bodies[row].is_solid) continue;
        vec_add(x, x, shift->v);
        if (vec_dot(shift->w, shift->w) > 0) dls_turn_row(s->world, row, shift->w);
    }
}

/* Solids before contacts act, linearly implicit. With f the load and the force of strains at q_f = q + c_D h
 * u,
 *
 *     A = M + c_D h D + c_K h² K,   u_free = u + h A⁻¹ (f(q_f) − D u),   u⁺ = u_free + A⁻¹ Hᵀ r
 *
 * Where stresses make A indefinite, K is that of the material alone: the order stays, for they stand in f. */
#include "assemble/solids.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "problem/operator/bodies.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- factors that are kept ---- */

/* Of a model, for these c_D h and c_K h². */
typedef struct kept_factor {
    double damping, stiffness;
    double *L, *D; /* NULL until it was asked for */
} kept_factor;

struct dls_solid_factors {
    int count; /* solids that there is an item for */
    int64_t capacity;
    kept_factor *item; /* by model */
    size_t bytes;
};

dls_solid_factors *dls_solid_factors_create(void) { return DLS_NEW_ZERO(dls_solid_factors, 1); }

void dls_solid_factors_destroy(dls_solid_factors *f) {
    if (!f) return;
    for (int k = 0; k < f->count; k++) {
        dls_free(f->item[k].L);
        dls_free(f->item[k].D);
    }
    dls_free(f->item);
    dls_free(f);
}

size_t dls_solid_factors_bytes(const dls_solid_factors *f) { return f ? f->bytes : 0; }

static bool reserve_factors(dls_solid_factors *f, int solids) {
    if (!DLS_RESERVE(f->item, f->count, f->capacity, solids)) return false;
    while (f->count < solids) f->item[f->count++] = (kept_factor){.L = NULL};
    return true;
}

/* ---- A ---- */

typedef struct solids_work {
    dls_assembly *assembly;
    const dls_world *world;
    const dls_assemble_options *options;
    double *place, *force; /* q_f and the impulse of one solid */
    double *A, *column;    /* of one solid, and room to factor it */
} solids_work;

/* What D and K count in A. */
static double of_damping(const dls_assemble_options *o) { return o->explicit_solids ? 0 : o->damping * o->h; }
static double of_stiffness(const dls_assemble_options *o) {
    return o->explicit_solids ? 0 : o->stiffness * o->h * o->h;
}

/* A, factored; K is the material's where it has to be. */
static bool factor(const solids_work *work, const dls_solid_step *step, const double *D, double *L) {
    const dls_assemble_options *o = work->options;
    const dls_solid *solid = step->solid;
    int64_t numbers = dls_pattern_numbers(step->pattern);
    for (int pass = 0; pass < 2; pass++) {
        memset(work->A, 0, sizeof(double) * (size_t)numbers);
        solid->kind->matrix(solid->data, DLS_SOLID_MASS, work->place, 1, work->A);
        for (int64_t k = 0; k < numbers && D; k++) work->A[k] += of_damping(o) * D[k];
        if (!o->explicit_solids)
            solid->kind->matrix(solid->data, pass ? DLS_SOLID_MATERIAL : DLS_SOLID_STIFFNESS, work->place,
                                of_stiffness(o), work->A);
        if (dls_pattern_factor(step->pattern, work->A, L, work->column)) return true;
    }
    return false;
}

static dls_status fail_singular(const solids_work *work, const dls_solid *solid, dls_error *error) {
    return dls_fail(error, DLS_ERROR_NUMERIC,
                    "body %d: its matrix of mass and stiffness is singular at t = %g", solid->id,
                    work->options->t);
}

/* Room for L and D: of the model where factors are kept, else of this step. */
static bool take_factor(const solids_work *work, const dls_solid_step *step, kept_factor *kept) {
    int64_t numbers = dls_pattern_numbers(step->pattern), below = dls_pattern_factor_numbers(step->pattern);
    bool damps = dls_solid_damps(step->solid), keep = step->turned && work->options->factors;
    if (kept->L) return true;
    kept->L = keep ? DLS_NEW(double, below) : DLS_TAKE(work->assembly->space, double, below);
    if (damps) kept->D = keep ? DLS_NEW(double, numbers) : DLS_TAKE(work->assembly->space, double, numbers);
    if (keep && kept->L) work->options->factors->bytes += sizeof(double) * (size_t)below;
    if (keep && kept->D) work->options->factors->bytes += sizeof(double) * (size_t)numbers;
    return kept->L && (kept->D || !damps);
}

/* L and D of a step: those that are kept, where A is the same again. */
static dls_status find_factor(const solids_work *work, dls_solid_step *step, dls_error *error) {
    const dls_assemble_options *o = work->options;
    const dls_solid *solid = step->solid;
    double damping = of_damping(o), stiffness = of_stiffness(o);
    step->turned = solid->kind->fixed_axes && solid->kind->fixed_axes(solid->data, work->place, step->R);
    kept_factor own = {.L = NULL},
                *kept = step->turned && o->factors ? &o->factors->item[solid->model] : &own;
    if (!kept->L || kept->damping != damping || kept->stiffness != stiffness) {
        if (!take_factor(work, step, kept)) return dls_fail_memory(error);
        kept->damping = damping, kept->stiffness = NAN; /* not yet */
        if (kept->D) {
            memset(kept->D, 0, sizeof(double) * (size_t)dls_pattern_numbers(step->pattern));
            solid->kind->matrix(solid->data, DLS_SOLID_DAMPING, work->place, 1, kept->D);
        }
        if (!factor(work, step, kept->D, kept->L)) return fail_singular(work, solid, error);
        kept->stiffness = stiffness;
    }
    step->L = kept->L, step->D = kept->D;
    return DLS_OK;
}

/* ---- u_free ---- */

/* x += factor · R̄ D R̄ᵀ u */
static void add_damping(const dls_solid_steps *steps, const dls_solid_step *step, double factor,
                        const double *u, double *x) {
    double *turned = steps->room[0], *sum = steps->room[1];
    memcpy(turned, u, sizeof(double) * (size_t)step->n);
    if (step->turned) dls_pattern_turn(step->pattern, step->R, true, turned);
    memset(sum, 0, sizeof(double) * (size_t)step->n);
    dls_pattern_multiply(step->pattern, step->D, turned, sum);
    if (step->turned) dls_pattern_turn(step->pattern, step->R, false, sum);
    for (int i = 0; i < step->n; i++) x[i] += factor * sum[i];
}

/* x += R̄ Pᵀ L⁻ᵀ y; y is lost. */
static void add_back(const dls_solid_steps *steps, const dls_solid_step *step, double *y, double *x) {
    double *back = steps->room[0];
    dls_pattern_back(step->pattern, step->L, y);
    dls_pattern_leave(step->pattern, y, back);
    if (step->turned) dls_pattern_turn(step->pattern, step->R, false, back);
    for (int i = 0; i < step->n; i++) x[i] += back[i];
}

/* h Σ weight (load at t) + h (force(q_f) − D u); the load acts on all places alike. */
static dls_status impulse(const solids_work *work, const dls_solid_step *step, dls_error *error) {
    const dls_assemble_options *o = work->options;
    const dls_solid *solid = step->solid;
    memset(work->force, 0, sizeof(double) * (size_t)step->n);
    solid->kind->force(solid->data, work->place, work->force);
    for (int i = 0; i < step->n; i++) step->strain[i] = o->h * work->force[i];
    for (int i = 0; i < o->force_count; i++) {
        double force[3], torque[3];
        dls_status status = dls_world_force(work->world, step->row, o->forces[i].t, force, torque, error);
        if (status) return status;
        vec_scale(force, o->forces[i].weight * work->world->bodies[step->row].inverse_mass, force);
        solid->kind->load(solid->data, force, work->force);
    }
    if (step->D) add_damping(work->assembly->solids, step, -1, work->world->u + solid->at, work->force);
    for (int i = 0; i < step->n; i++) work->force[i] *= o->h;
    return DLS_OK;
}

static dls_status assemble_solid(const solids_work *work, int index, dls_error *error) {
    const dls_world *w = work->world;
    const dls_assemble_options *o = work->options;
    const dls_solid *solid = &w->solids[index];
    dls_assembly *a = work->assembly;
    dls_solid_step *step = &a->solids->step[index];
    const double *q = w->q + solid->at, *u = w->u + solid->at;
    double *y = a->solids->room[1];
    for (int i = 0; i < step->n; i++) work->place[i] = q[i] + (o->damping - o->contacts_at) * o->h * u[i];
    dls_status status = find_factor(work, step, error);
    if (!status) status = impulse(work, step, error);
    if (status) return status;
    if (step->turned) dls_pattern_turn(step->pattern, step->R, true, work->force);
    dls_pattern_enter(step->pattern, work->force, y);
    dls_pattern_forward(step->pattern, step->L, y);
    memcpy(step->free, u, sizeof(double) * (size_t)step->n);
    add_back(a->solids, step, y, step->free);
    dls_body_state mean;
    solid->kind->mean(solid->data, q, step->free, &mean);
    vec_copy(a->free[step->row].v, mean.v);
    vec_copy(a->free[step->row].w, mean.w);
    return DLS_OK;
}

/* Steps of the solids that take part, and room for one of them at a time. */
static bool take(solids_work *work) {
    dls_assembly *a = work->assembly;
    const dls_world *w = work->world;
    int64_t numbers = 0, column = 0;
    dls_solid_steps *steps = a->solids = DLS_TAKE_ZERO(a->space, dls_solid_steps, 1);
    if (!steps) return false;
    steps->step = DLS_TAKE_ZERO(a->space, dls_solid_step, w->solid_count);
    steps->width = DLS_TAKE_ZERO(a->space, int, a->row_count);
    if (!steps->step || !steps->width) return false;
    for (int k = 0; k < w->solid_count; k++) {
        const dls_solid *solid = &w->solids[k];
        dls_solid_step *step = &steps->step[k];
        *step = (dls_solid_step){.row = w->entries[solid->id].row, .n = solid->n, .solid = solid};
        step->pattern = solid->kind->pattern(solid->data);
        assert(dls_pattern_freedoms(step->pattern) == solid->n);
        if (step->row < 0) continue;
        steps->width[step->row] = step->n;
        if (step->n > steps->widest) steps->widest = step->n;
        if (dls_pattern_numbers(step->pattern) > numbers) numbers = dls_pattern_numbers(step->pattern);
        if (dls_pattern_room(step->pattern) > column) column = dls_pattern_room(step->pattern);
        step->free = DLS_TAKE(a->space, double, step->n);
        step->strain = DLS_TAKE(a->space, double, step->n);
        if (!step->free || !step->strain) return false;
    }
    double **room[] = {&work->place, &work->force, &steps->room[0], &steps->room[1]};
    for (int k = 0; k < 4; k++)
        if (!(*room[k] = DLS_TAKE(a->space, double, steps->widest))) return false;
    work->A = DLS_TAKE(a->space, double, numbers);
    work->column = DLS_TAKE(a->space, double, column);
    return work->A && work->column;
}

dls_status dls_assemble_solids(dls_assembly *a, const dls_world *w, const dls_assemble_options *o,
                               dls_error *error) {
    if (w->solid_count == 0) return DLS_OK;
    solids_work work = {.assembly = a, .world = w, .options = o};
    if (!take(&work) || (o->factors && !reserve_factors(o->factors, w->solid_count)))
        return dls_fail_memory(error);
    for (int k = 0; k < w->solid_count; k++) {
        dls_status status = a->solids->step[k].row >= 0 ? assemble_solid(&work, k, error) : DLS_OK;
        if (status) return status;
    }
    return DLS_OK;
}

/* ---- rows ---- */

void dls_solid_row(const dls_assembly *a, const dls_spot *spot, const double *d, const double *turn,
                   double *G) {
    const dls_solid_step *step = &a->solids->step[spot->solid];
    const dls_pattern *p = step->pattern;
    int places[DLS_SPOT_FREEDOMS];
    for (int i = 0; i < step->n; i++) G[i] = 0;
    for (int k = 0; k < spot->count; k++) {
        int of = spot->index[k] % p->size;
        double entry = vec_dot(d, spot->J[k]) + vec_dot(turn, spot->J[k] + 3);
        places[k] = p->place[spot->index[k] / p->size];
        double *at = G + (int64_t)p->size * places[k];
        if (!step->turned) at[of] += entry;
        for (int c = 0; c < p->size && step->turned; c++) at[c] += step->R[of + 3 * c] * entry;
    }
    dls_pattern_forward_from(p, step->L, places, spot->count, G);
}

void dls_solid_push(const dls_assembly *a, const dls_spot *spot, const double *push, const double *turn) {
    const dls_solid_step *step = &a->solids->step[spot->solid];
    double *y = a->solids->room[1];
    dls_solid_row(a, spot, push, turn, y);
    add_back(a->solids, step, y, step->free);
}

/* ---- what the step did ---- */

static double dot(int n, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* y = Lᵀ P R̄ᵀ x */
static void take_root(const dls_solid_steps *steps, const dls_solid_step *step, const double *x, double *y) {
    double *turned = steps->room[0];
    memcpy(turned, x, sizeof(double) * (size_t)step->n);
    if (step->turned) dls_pattern_turn(step->pattern, step->R, true, turned);
    dls_pattern_enter(step->pattern, turned, y);
    dls_pattern_upper(step->pattern, step->L, y);
}

/* Over the step, with ū = ½ (u + u⁺), D takes h ūᵀDū, and forces of strains do the rest of what makes
 * ½ u⁺ᵀMu⁺ − ½ uᵀMu,
 *
 *     ūᵀ (h force(q_f) − h D u − (A − M)(u⁺ − u)) + h ūᵀDū
 *
 * u before and the impulse of strains are lost. */
static void book(dls_solid_steps *steps, const dls_solid_step *step, double h, const double *mean,
                 const double *after) {
    const dls_solid *solid = step->solid;
    double *before = step->free, *of = step->strain;
    int n = step->n;
    double work = dot(n, mean, of) + solid->kind->kinetic_energy(solid->data, after) -
                  solid->kind->kinetic_energy(solid->data, before);
    if (step->D) {
        memset(of, 0, sizeof(double) * (size_t)n);
        add_damping(steps, step, h, mean, of);
        double damped = dot(n, mean, of);
        steps->damped += damped;
        work += damped - dot(n, before, of);
    }
    for (int i = 0; i < n; i++) before[i] = after[i] - before[i];
    take_root(steps, step, before, steps->room[1]);
    take_root(steps, step, mean, of);
    steps->strained += work - dot(n, of, steps->room[1]);
}

void dls_solids_apply(const dls_assembly *a, dls_world *w, double h, double *y) {
    if (!a->solids) return;
    for (int k = 0; k < w->solid_count; k++) {
        const dls_solid_step *step = &a->solids->step[k];
        if (!step->L) continue;
        double *u = w->u + w->solids[k].at, *mean = y + dls_place_of(dls_rows_of(a->rows), step->row);
        add_back(a->solids, step, mean, step->free);
        for (int i = 0; i < step->n; i++) {
            double after = step->free[i];
            mean[i] = 0.5 * (u[i] + after);
            step->free[i] = u[i];
            u[i] = after;
        }
        book(a->solids, step, h, mean, u);
    }
    dls_solids_stand(w);
}

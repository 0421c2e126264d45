/* Solids of a world: made with their bodies, and how they and their spots stand. */
#include "world/solid/solid.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/parts.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

const dls_solid_kind *const dls_solid_table[DLS_SOLID_FORMS] = {
    [DLS_SOLID_BEAM] = &dls_solid_kind_beam,
    [DLS_SOLID_PSEUDO_RIGID] = &dls_solid_kind_pseudo_rigid,
    [DLS_SOLID_ELEMENTS] = &dls_solid_kind_elements,
};

static const dls_solid_kind *kind_of(dls_solid_form form) {
    return (unsigned)form < DLS_SOLID_FORMS ? dls_solid_table[form] : NULL;
}

const char *dls_solid_form_name(dls_solid_form form) { return kind_of(form) ? kind_of(form)->name : ""; }
const char *dls_solid_form_summary(dls_solid_form form) {
    return kind_of(form) ? kind_of(form)->summary : "";
}

bool dls_solid_form_is_line(dls_solid_form form) { return kind_of(form) && kind_of(form)->line; }

dls_solid_def dls_default_solid_def(dls_solid_form form) {
    return kind_of(form) ? kind_of(form)->preset() : (dls_solid_def){.form = form};
}

/* ---- checks ---- */

/* What a rigid body may have and a solid not. */
static const char *unfit(const dls_body_def *def) {
    if (def->motion != DLS_DYNAMIC) return "is static or driven";
    if (def->mass != 0 || def->inertia || vec_norm(def->centre) != 0)
        return "has a mass, inertia or centre of its own";
    for (int k = 0; k < 6; k++)
        if (def->locked[k]) return "has locked freedoms";
    for (int k = 0; k < 3; k++)
        if (def->torque[k]) return "has a torque";
    return NULL;
}

static dls_status check_place(double at, dls_error *error) {
    if (at >= 0 && at <= 1) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "a place on a solid is %g, expected 0 to 1", at);
}

static bool is_line(const dls_body_def *def) { return kind_of(def->solid->form)->line; }

static dls_status check_solid(const dls_world *world, const dls_body_def *def, dls_error *error) {
    const char *wrong = unfit(def);
    if (!kind_of(def->solid->form))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "there is no kind of solid %d", (int)def->solid->form);
    if (wrong)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "a solid %s, expected a dynamic body that nothing else is told of", wrong);
    dls_status status = DLS_OK;
    for (int k = 0; k < def->shape_count && !status && is_line(def); k++)
        status = check_place(def->shapes[k].at, error);
    if (!status && world->solid_count >= INT_MAX / 2)
        return dls_fail(error, DLS_ERROR_INPUT, "more than %d solids", INT_MAX / 2);
    return status;
}

/* ---- making ---- */

/* Room for one solid more with n freedoms and so many spots. */
static bool reserve(dls_world *w, int n, int spots) {
    int64_t speeds = w->freedom_capacity;
    return DLS_RESERVE(w->solids, w->solid_count, w->solid_capacity, w->solid_count + 1) &&
           DLS_RESERVE(w->u, w->freedom_count, speeds, w->freedom_count + n) &&
           DLS_RESERVE(w->q, w->freedom_count, w->freedom_capacity, w->freedom_count + n) &&
           DLS_RESERVE(w->spots, w->spot_count, w->spot_capacity, w->spot_count + spots);
}

/* One of the last models that were made, if it is what the definition asks for; −1: none. */
static int find_model(const dls_solid_build *build, const dls_solid_kind *kind) {
    const dls_world *w = build->world;
    enum { MOST_TRIED = 32 };
    int tried = 0;
    for (int k = w->solid_count - 1; k >= 0 && kind->equal && tried < MOST_TRIED; tried++) {
        const dls_solid *model = &w->solids[w->solids[k].model];
        if (model->kind == kind && kind->equal(model->data, build)) return w->solids[k].model;
        k = w->solids[k].model == k ? k - 1 : w->solids[k].model;
    }
    return -1;
}

dls_status dls_solid_prepare(dls_world *w, const dls_body_def *def, dls_shape *shapes, dls_solid *solid,
                             dls_error *error) {
    dls_status status = check_solid(w, def, error);
    if (status) return status;
    *solid = (dls_solid){.kind = kind_of(def->solid->form), .def = *def->solid};
    dls_solid_build build = {w, def, def->solid, shapes};
    int model = find_model(&build, solid->kind);
    solid->model = model < 0 ? w->solid_count : model;
    if (model >= 0)
        solid->data = w->solids[model].data;
    else
        status = solid->kind->create(&build, &solid->data, error);
    if (status) return status;
    solid->def.mesh = NULL; /* the data have what it told */
    solid->n = solid->kind->freedoms(solid->data);
    if (solid->kind->damping) solid->def.damping = solid->kind->damping(solid->data);
    if (!reserve(w, solid->n, is_line(def) ? def->shape_count : 0)) status = dls_fail_memory(error);
    if (!status && solid->kind->dress) status = solid->kind->dress(solid->data, &build, error);
    if (status) dls_solid_drop(w, solid);
    return status;
}

void dls_solid_drop(const dls_world *w, dls_solid *solid) {
    if (solid->data && solid->model == w->solid_count) solid->kind->release(solid->data);
    solid->data = NULL;
}

static dls_spot *put_spot(dls_world *w, int solid, double at) {
    dls_spot *spot = &w->spots[w->spot_count++];
    memset(spot, 0, sizeof *spot);
    spot->solid = solid;
    spot->at[0] = at;
    return spot;
}

void dls_solid_join(dls_world *w, dls_solid *solid, const dls_body_def *def, const dls_body_state *mean) {
    int index = w->solid_count;
    assert(index < w->solid_capacity && w->freedom_count + solid->n <= w->freedom_capacity);
    solid->at = w->freedom_count;
    solid->first_spot = w->spot_count;
    w->freedom_count += solid->n;
    w->solids[w->solid_count++] = *solid;
    for (int k = 0; k < def->shape_count && solid->kind->line; k++) put_spot(w, index, def->shapes[k].at);
    dls_solid_begin(w, index, mean);
}

/* X: in the body's frame. */
static dls_status locate(const dls_world *w, const dls_solid *solid, const double *X, dls_spot *spot,
                         dls_error *error) {
    double place[3];
    vec_sub(place, X, w->entries[solid->id].centre);
    if (dls_vec_is_near(X, 3) && solid->kind->locate(solid->data, place, spot)) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "there is no place (%g, %g, %g) on the solid", X[0], X[1], X[2]);
}

dls_status dls_solid_add_spot(dls_world *w, int solid, double at, const double *X, int *spot,
                              dls_error *error) {
    const dls_solid *of = &w->solids[solid];
    dls_spot made = {.solid = solid, .at = {at}};
    dls_status status = of->kind->line ? check_place(at, error) : locate(w, of, X, &made, error);
    if (status) return status;
    if (!DLS_RESERVE(w->spots, w->spot_count, w->spot_capacity, w->spot_count + 1))
        return dls_fail_memory(error);
    *spot = w->spot_count;
    *put_spot(w, solid, at) = made;
    dls_spot_stand(w, &w->spots[*spot]);
    return DLS_OK;
}

void dls_solids_release(dls_world *w) {
    for (int k = 0; k < w->solid_count; k++)
        if (w->solids[k].model == k) w->solids[k].kind->release(w->solids[k].data);
    dls_free(w->solids);
    dls_free(w->q);
    dls_free(w->u);
    dls_free(w->spots);
}

/* ---- as they stand ---- */

void dls_spot_twist(const dls_spot *spot, const double *u, double *v, double *w) {
    vec_set(v, 0, 0, 0);
    vec_set(w, 0, 0, 0);
    for (int k = 0; k < spot->count; k++) {
        vec_along(v, v, u[spot->index[k]], spot->J[k]);
        vec_along(w, w, u[spot->index[k]], spot->J[k] + 3);
    }
}

double dls_spot_speed(const dls_spot *spot, const double *d, const double *turn, const double *u) {
    double v[3], w[3];
    dls_spot_twist(spot, u, v, w);
    return vec_dot(d, v) + vec_dot(turn, w);
}

void dls_spot_stand(const dls_world *w, dls_spot *spot) {
    const dls_solid *solid = &w->solids[spot->solid];
    double R[9];
    solid->kind->spot(solid->data, w->q + solid->at, spot, R);
    quat_from_matrix(spot->state.q, R);
    dls_spot_twist(spot, w->u + solid->at, spot->state.v, spot->state.w);
}

static void stand_spots(dls_world *w) {
    for (int k = 0; k < w->spot_count; k++) dls_spot_stand(w, &w->spots[k]);
}

static void stand_mean(dls_world *w, dls_solid *solid) {
    const double *q = w->q + solid->at, *u = w->u + solid->at;
    dls_body_state *mean = dls_world_state(w, solid->id);
    solid->kind->mean(solid->data, q, u, mean);
    if (solid->kind->spread) solid->spread = solid->kind->spread(solid->data, q, u, mean);
}

void dls_solid_stand(dls_world *w, int index) {
    stand_mean(w, &w->solids[index]);
    for (int k = 0; k < w->spot_count; k++)
        if (w->spots[k].solid == index) dls_spot_stand(w, &w->spots[k]);
}

void dls_solids_stand(dls_world *w) {
    for (int k = 0; k < w->solid_count; k++)
        if (w->entries[w->solids[k].id].row >= 0) stand_mean(w, &w->solids[k]);
    stand_spots(w);
}

void dls_solid_begin(dls_world *w, int index, const dls_body_state *mean) {
    const dls_solid *solid = &w->solids[index];
    solid->kind->begin(solid->data, mean, w->q + solid->at, w->u + solid->at);
    for (int k = 0; k < w->spot_count; k++)
        if (w->spots[k].solid == index) dls_spot_stand(w, &w->spots[k]);
}

void dls_solids_fly(dls_world *w, double dt) {
    for (int k = 0; k < w->solid_count; k++) {
        const dls_solid *solid = &w->solids[k];
        if (w->entries[solid->id].row < 0) continue;
        for (int64_t i = solid->at; i < solid->at + solid->n; i++) w->q[i] += dt * w->u[i];
    }
    if (w->solid_count) dls_solids_stand(w);
}

dls_status dls_solids_check(const dls_world *w, dls_error *error) {
    for (int k = 0; k < w->solid_count; k++) {
        const dls_solid *solid = &w->solids[k];
        if (w->entries[solid->id].row < 0 || !solid->kind->inverted) continue;
        int cell = solid->kind->inverted(solid->data, w->q + solid->at);
        char label[120];
        if (cell >= 0)
            return dls_fail(error, DLS_ERROR_NUMERIC,
                            "%s is turned inside out (%s, element %d), expected stresses that its law can "
                            "bear, a shorter step or law: neo-hookean",
                            dls_body_label(w, solid->id, label, sizeof label), solid->kind->name, cell);
    }
    return DLS_OK;
}

double dls_solid_kinetic(const dls_world *w, const dls_solid *solid) {
    return solid->kind->kinetic_energy(solid->data, w->u + solid->at);
}

/* R̄ A R̄ᵀ: every row turned, then every column. */
void dls_solid_full_matrix(const dls_solid *solid, dls_solid_matrix which, const double *q, double *room,
                           double *A) {
    const dls_pattern *p = solid->kind->pattern(solid->data);
    int n = solid->n;
    double R[9];
    memset(room, 0, sizeof *room * (size_t)dls_pattern_numbers(p));
    solid->kind->matrix(solid->data, which, q, 1, room);
    dls_pattern_spread(p, room, A);
    if (!solid->kind->fixed_axes || !solid->kind->fixed_axes(solid->data, q, R)) return;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < n; k++) room[k] = pass ? A[(int64_t)n * k + i] : A[(int64_t)n * i + k];
            dls_pattern_turn(p, R, false, room);
            for (int k = 0; k < n; k++) *(pass ? &A[(int64_t)n * k + i] : &A[(int64_t)n * i + k]) = room[k];
        }
}

double dls_solid_strain(const dls_world *w, const dls_solid *solid) {
    return solid->kind->strain_energy(solid->data, w->q + solid->at);
}

/* ---- for users ---- */

/* NULL, with a word, where the body is no solid. */
static const dls_solid *find(const dls_world *w, dls_body_id id, dls_error *error) {
    dls_error_clear(error);
    if (w && id >= 0 && id < w->entry_count && dls_solid_of(w, id) >= 0)
        return &w->solids[dls_solid_of(w, id)];
    dls_fail(error, DLS_ERROR_ARGUMENT, "body %d is no solid", id);
    return NULL;
}

int dls_solid_freedoms(const dls_world *w, dls_body_id id) {
    const dls_solid *solid = find(w, id, NULL);
    return solid ? solid->n : 0;
}

dls_status dls_solid_get(const dls_world *w, dls_body_id id, dls_solid_def *def, dls_error *error) {
    const dls_solid *solid = find(w, id, error);
    if (!solid) return DLS_ERROR_ARGUMENT;
    if (!def) return dls_fail(error, DLS_ERROR_ARGUMENT, "a place for the definition is needed");
    *def = solid->def;
    return DLS_OK;
}

dls_status dls_solid_state_get(const dls_world *w, dls_body_id id, double *q, double *u, dls_error *error) {
    const dls_solid *solid = find(w, id, error);
    if (!solid) return DLS_ERROR_ARGUMENT;
    if (q) memcpy(q, w->q + solid->at, sizeof *q * (size_t)solid->n);
    if (u) memcpy(u, w->u + solid->at, sizeof *u * (size_t)solid->n);
    return DLS_OK;
}

dls_status dls_solid_state_set(dls_world *w, dls_body_id id, const double *q, const double *u,
                               dls_error *error) {
    const dls_solid *solid = find(w, id, error);
    if (!solid) return DLS_ERROR_ARGUMENT;
    if ((q && !dls_vec_is_near(q, solid->n)) || (u && !dls_vec_is_near(u, solid->n)))
        return dls_fail(error, DLS_ERROR_INPUT, "a coordinate or its rate is no number, or beyond %g",
                        DLS_FARTHEST);
    if (q) memcpy(w->q + solid->at, q, sizeof *q * (size_t)solid->n);
    if (u) memcpy(w->u + solid->at, u, sizeof *u * (size_t)solid->n);
    dls_solid_stand(w, dls_solid_of(w, id));
    return DLS_OK;
}

dls_status dls_solid_place(const dls_world *w, dls_body_id id, double at, dls_body_state *state,
                           dls_error *error) {
    if (!find(w, id, error)) return DLS_ERROR_ARGUMENT;
    const dls_solid *solid = &w->solids[dls_solid_of(w, id)];
    if (!solid->kind->line)
        return dls_fail(error, DLS_ERROR_INPUT, "a place from 0 to 1 on a %s, expected a point of it",
                        solid->kind->name);
    dls_status status = check_place(at, error);
    if (status) return status;
    if (!state) return dls_fail(error, DLS_ERROR_ARGUMENT, "a place for the state is needed");
    dls_spot spot = {.solid = dls_solid_of(w, id), .at = {at}};
    dls_spot_stand(w, &spot);
    *state = spot.state;
    return DLS_OK;
}

dls_status dls_solid_point(const dls_world *w, dls_body_id id, const double *X, dls_body_state *state,
                           dls_error *error) {
    const dls_solid *solid = find(w, id, error);
    if (!solid) return DLS_ERROR_ARGUMENT;
    if (!X || !state)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a point and a place for the state are needed");
    if (solid->kind->line)
        return dls_fail(error, DLS_ERROR_INPUT, "a point on a %s, expected a place from 0 to 1",
                        solid->kind->name);
    dls_spot spot = {.solid = dls_solid_of(w, id)};
    dls_status status = locate(w, solid, X, &spot, error);
    if (status) return status;
    dls_spot_stand(w, &spot);
    *state = spot.state;
    return DLS_OK;
}

int dls_solid_element_nodes(const dls_world *world, dls_body_id id) {
    const dls_solid *solid = find(world, id, NULL);
    return solid && solid->kind->elements ? solid->kind->elements(solid->data) : 0;
}

dls_status dls_solid_element_node(const dls_world *world, dls_body_id id, int node, double *X,
                                  unsigned *sides, dls_error *error) {
    dls_error_clear(error);
    int count = dls_solid_element_nodes(world, id);
    if (!X || !sides || node < 0 || node >= count)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "there is no node %d of body %d, or no room for it", node,
                        id);
    const dls_solid *solid = find(world, id, error);
    *sides = solid->kind->element_node(solid->data, node, X);
    vec_add(X, X, world->entries[id].centre);
    return DLS_OK;
}

int dls_solid_node_count(const dls_world *w, dls_body_id id) {
    const dls_solid *solid = find(w, id, NULL);
    return solid && solid->kind->nodes ? solid->kind->nodes(solid->data) : 0;
}

dls_status dls_solid_energy(const dls_world *w, dls_body_id id, double *kinetic, double *strain,
                            dls_error *error) {
    const dls_solid *solid = find(w, id, error);
    if (!solid) return DLS_ERROR_ARGUMENT;
    if (kinetic) *kinetic = dls_solid_kinetic(w, solid);
    if (strain) *strain = dls_solid_strain(w, solid);
    return DLS_OK;
}

/* 2 (√(1 + ξ²) − ξ)/ω with ξ = (mass_damping/ω + damping ω)/2, of the fastest mode of all. */
double dls_solids_stable_step(const dls_world *w) {
    double least = INFINITY;
    for (int k = 0; w && k < w->solid_count; k++) {
        const dls_solid *solid = &w->solids[k];
        const dls_solid *model = &w->solids[solid->model];
        if (w->entries[solid->id].presence == DLS_GONE ||
            (model != solid && w->entries[model->id].presence != DLS_GONE))
            continue;
        double omega = sqrt(dls_solid_fastest(solid)),
               xi = 0.5 * (solid->def.mass_damping / omega + solid->def.damping * omega);
        least = fmin(least, 2 * (sqrt(1 + xi * xi) - xi) / omega);
    }
    return least;
}

/* ---- as bytes ---- */

size_t dls_solids_memory_size(const dls_world *w) { return 2 * sizeof(double) * (size_t)w->freedom_count; }

void dls_solids_memory_write(const dls_world *w, void *bytes) {
    size_t half = sizeof(double) * (size_t)w->freedom_count;
    if (!half) return;
    memcpy(bytes, w->q, half);
    memcpy((char *)bytes + half, w->u, half);
}

dls_status dls_solids_memory_check(const dls_world *w, const void *bytes, size_t size, dls_error *error) {
    size_t expected = dls_solids_memory_size(w);
    if (size != expected)
        return dls_fail(error, DLS_ERROR_INPUT, "solids of a state have %zu bytes, expected %zu", size,
                        expected);
    for (size_t k = 0; k < expected / sizeof(double); k++) {
        double number;
        memcpy(&number, (const char *)bytes + k * sizeof number, sizeof number);
        if (!dls_vec_is_near(&number, 1))
            return dls_fail(error, DLS_ERROR_INPUT, "a coordinate of a solid is no number, or beyond %g",
                            DLS_FARTHEST);
    }
    return DLS_OK;
}

void dls_solids_memory_use(dls_world *w, const void *bytes) {
    size_t half = sizeof(double) * (size_t)w->freedom_count;
    if (!half) return;
    memcpy(w->q, bytes, half);
    memcpy(w->u, (const char *)bytes + half, half);
    for (int k = 0; k < w->solid_count; k++) dls_solid_stand(w, k);
}

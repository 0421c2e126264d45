/* Pseudo-rigid bodies: all places move by one affine map, x(X) = x̄ + F X, X about the mass centre at rest.
 *
 *     q = (x̄, rows of F),   T = ½ m |x̄̇|² + ½ tr(Ḟ E Ḟᵀ),   E = ∫ ρ X Xᵀ dV,   strain energy V ψ(F)
 *
 * The mean rotation R is that of F = R U; its rate is the ω of a place. */
#include "base/error.h"
#include "base/memory.h"
#include "base/small.h"
#include "base/vector.h"
#include "world/parts.h"
#include "world/shape/deform.h"
#include "world/shape/kinds.h"
#include "world/solid/elastic.h"
#include "world/solid/solid.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { FREEDOMS = 12 };

struct dls_solid_data {
    dls_elastic elastic;
    bool retained; /* shapes keep their form */
    double volume;
    dls_body_mass mass;
    double E[9];
    double radius; /* of the ball about the mass centre that holds it at rest */
    dls_pattern *pattern;
};

/* ---- making ---- */

static dls_solid_def preset(void) { return (dls_solid_def){.form = DLS_SOLID_PSEUDO_RIGID}; }

/* All shapes are of one material, and of kinds that have a form to deform into. */
static dls_status check(const dls_solid_build *b, dls_error *error) {
    const dls_body_def *body = b->body;
    if (b->world->def.dimension != 3)
        return dls_fail(error, DLS_ERROR_INPUT, "a pseudo-rigid body in the plane, expected one in space");
    if (body->shape_count == 0)
        return dls_fail(error, DLS_ERROR_INPUT, "a pseudo-rigid body has no shape, expected one");
    for (int k = 0; k < body->shape_count; k++) {
        const dls_shape *shape = &b->shapes[k];
        if (shape->material != b->shapes[0].material)
            return dls_fail(error, DLS_ERROR_INPUT,
                            "shapes of a pseudo-rigid body are of two materials, expected one");
        if (!b->def->retained && !dls_shape_can_deform(shape))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "a pseudo-rigid %s, expected a sphere, ellipsoid, box or polyhedron, or "
                            "'shape: retained'",
                            dls_shape_kind_name(shape->kind));
    }
    return DLS_OK;
}

/* E = ½ tr(I) 1 − I of the inertia I about the mass centre. */
static void set_masses(const dls_solid_build *b, dls_solid_data *body) {
    const double *I = body->mass.inertia;
    for (int k = 0; k < 9; k++) body->E[k] = (k % 4 == 0 ? 0.5 * (I[0] + I[4] + I[8]) : 0) - I[k];
    for (int k = 0; k < b->body->shape_count; k++) {
        const dls_shape *shape = &b->shapes[k];
        double volume, centre[3], inertia[9];
        dls_shape_mass(shape, &volume, centre, inertia);
        body->volume += volume;
        body->radius = fmax(body->radius, vec_distance(shape->x, body->mass.centre) + shape->bound);
    }
}

/* What the definition asks for, without a pattern. */
static dls_status measure(const dls_solid_build *b, dls_solid_data *body, dls_error *error) {
    dls_status status = check(b, error);
    if (!status) status = dls_body_weigh(b->world, b->body, b->shapes, &body->mass, error);
    if (!status)
        status = dls_elastic_of(&b->world->materials[b->shapes[0].material].def, &body->elastic, error);
    if (status) return status;
    body->retained = b->def->retained;
    set_masses(b, body);
    return DLS_OK;
}

/* The centre, and three rows of F that K couples. */
static dls_pattern *make_pattern(void) {
    static const int64_t start[3] = {0, 1, 4};
    static const int node[4] = {0, 1, 2, 3};
    static const double places[12] = {0};
    return dls_pattern_create(4, 3, &(dls_groups){2, start, node}, places);
}

static void release(dls_solid_data *body) {
    dls_pattern_destroy(body->pattern);
    dls_free(body);
}

static dls_status create(const dls_solid_build *build, dls_solid_data **data, dls_error *error) {
    dls_solid_data *body = DLS_NEW_ZERO(dls_solid_data, 1);
    if (!body) return dls_fail_memory(error);
    dls_status status = measure(build, body, error);
    if (!status && !(body->pattern = make_pattern())) status = dls_fail_memory(error);
    if (status)
        release(body);
    else
        *data = body;
    return status;
}

/* Numbers of an asked body, in their order in the struct. */
static bool equal(const dls_solid_data *body, const dls_solid_build *build) {
    dls_solid_data asked = {.volume = 0};
    if (measure(build, &asked, NULL)) return false;
    return asked.elastic.law == body->elastic.law && asked.elastic.lambda == body->elastic.lambda &&
           asked.elastic.mu == body->elastic.mu && asked.elastic.damping == body->elastic.damping &&
           asked.retained == body->retained && asked.volume == body->volume && asked.radius == body->radius &&
           asked.mass.mass == body->mass.mass &&
           !memcmp(asked.mass.centre, body->mass.centre, 3 * sizeof(double)) &&
           !memcmp(asked.E, body->E, sizeof asked.E);
}

static int freedoms(const dls_solid_data *body) { return body ? FREEDOMS : 0; }
static double reach(const dls_solid_data *body) { return body ? 0 : INFINITY; }
static double damping(const dls_solid_data *body) { return body->elastic.damping; }
static void mass_of(const dls_solid_data *body, dls_body_mass *mass) { *mass = body->mass; }
static const dls_pattern *pattern_of(const dls_solid_data *body) { return body->pattern; }

/* ---- F = R U ---- */

/* F X of rows. */
static void apply(double *x, const double *F, const double *X) { mat_apply_transposed(x, F, X); }

/* C = (det F) F⁻ᵀ, rows; returns det F. */
static double cofactors(const double *F, double *C) {
    vec_cross(C, F + 3, F + 6);
    vec_cross(C + 3, F + 6, F);
    vec_cross(C + 6, F, F + 3);
    return vec_dot(F, C);
}

/* R by R ← ½ (s R + R⁻ᵀ/s), s = det^(−1/3) at first: R column-major. False where F is inside out. */
static bool polar(const double *F, double *R) {
    double Q[9], C[9], change = 1;
    memcpy(Q, F, sizeof Q);
    for (int round = 0; round < 40 && change > 1e-30; round++) {
        double J = cofactors(Q, C), s = round < 4 ? 1 / cbrt(J) : 1;
        if (!(J > 0) || !isfinite(J)) return false;
        change = 0;
        for (int k = 0; k < 9; k++) {
            double next = 0.5 * (s * Q[k] + C[k] / (J * s));
            change += (next - Q[k]) * (next - Q[k]);
            Q[k] = next;
        }
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) R[i + 3 * j] = Q[3 * i + j];
    return mat_is_rotation(R);
}

/* T with ω = T a, a the axial vector of RᵀḞ − ḞᵀR: T = R (tr(U) 1 − U)⁻¹. */
static void turning(const double *F, const double *R, double *T) {
    double U[9], inverse[9];
    for (int j = 0; j < 3; j++) {
        double column[3] = {F[j], F[3 + j], F[6 + j]};
        mat_apply_transposed(U + 3 * j, R, column);
    }
    double trace = U[0] + U[4] + U[8];
    for (int k = 0; k < 9; k++) U[k] = (k % 4 == 0 ? trace : 0) - U[k];
    if (!small_invert(3, U, inverse)) memset(inverse, 0, sizeof inverse);
    mat_multiply(T, R, inverse);
}

static void spin_of(const double *F, const double *R, const double *rate, double *w) {
    double T[9], sum[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        for (int L = 0; L < 3; L++) { /* of Ḟ = e_k ⊗ e_L the axial vector is e_L × (row k of R) */
            double unit[3] = {L == 0, L == 1, L == 2}, row[3] = {R[k], R[k + 3], R[k + 6]}, a[3];
            vec_cross(a, unit, row);
            vec_along(sum, sum, rate[3 * k + L], a);
        }
    turning(F, R, T);
    mat_apply(w, T, sum);
}

/* ---- motion ---- */

static void begin(const dls_solid_data *body, const dls_body_state *mean, double *q, double *u) {
    double R[9], turned[3];
    (void)body;
    quat_matrix(mean->q, R);
    vec_copy(q, mean->x);
    vec_copy(u, mean->v);
    for (int j = 0; j < 3; j++) {
        vec_cross(turned, mean->w, R + 3 * j);
        for (int i = 0; i < 3; i++) {
            q[3 + 3 * i + j] = R[i + 3 * j];
            u[3 + 3 * i + j] = turned[i];
        }
    }
}

/* What is inside out keeps the rotation that it had. */
static void mean_of(const dls_solid_data *body, const double *q, const double *u, dls_body_state *mean) {
    double R[9];
    (void)body;
    vec_copy(mean->x, q);
    vec_copy(mean->v, u);
    if (!polar(q + 3, R)) return;
    quat_from_matrix(mean->q, R);
    spin_of(q + 3, R, u + 3, mean->w);
}

/* |Ḟ − ω × F| times the farthest X. */
static double spread(const dls_solid_data *body, const double *q, const double *u,
                     const dls_body_state *mean) {
    double sum = 0;
    for (int j = 0; j < 3; j++) {
        double column[3] = {q[3 + j], q[6 + j], q[9 + j]}, turned[3];
        vec_cross(turned, mean->w, column);
        for (int i = 0; i < 3; i++) {
            double rate = u[3 + 3 * i + j] - turned[i];
            sum += rate * rate;
        }
    }
    return sqrt(sum) * body->radius;
}

static int inverted(const dls_solid_data *body, const double *q) {
    double C[9];
    (void)body;
    return cofactors(q + 3, C) > 0 ? -1 : 0;
}

/* ---- forces ---- */

static void load(const dls_solid_data *body, const double *a, double *f) {
    vec_along(f, f, body->mass.mass, a);
}

static void force(const dls_solid_data *body, const double *q, double *f) {
    double P[9];
    dls_elastic_stress(&body->elastic, q + 3, P);
    for (int k = 0; k < 9; k++) f[3 + k] -= body->volume * P[k];
}

static double kinetic_energy(const dls_solid_data *body, const double *u) {
    double sum = body->mass.mass * vec_dot(u, u), of[3];
    for (int i = 0; i < 3; i++) {
        mat_apply(of, body->E, u + 3 + 3 * i);
        sum += vec_dot(of, u + 3 + 3 * i);
    }
    return sum / 2;
}

static double strain_energy(const dls_solid_data *body, const double *q) {
    return body->volume * dls_elastic_energy(&body->elastic, q + 3);
}

/* ---- matrices ---- */

/* The block of two nodes, i ≥ j, row after row. */
static double *block_of(const dls_solid_data *body, double *A, int i, int j) {
    return A + dls_pattern_block(body->pattern, i, j);
}

static void add_mass(const dls_solid_data *body, double factor, double *A) {
    double *centre = block_of(body, A, 0, 0);
    for (int k = 0; k < 3; k++) centre[4 * k] += factor * body->mass.mass;
    for (int i = 1; i < 4; i++)
        for (int k = 0; k < 9; k++) block_of(body, A, i, i)[k] += factor * body->E[k];
}

static void matrix(const dls_solid_data *body, dls_solid_matrix which, const double *q, double factor,
                   double *A) {
    double slope[81];
    if (which == DLS_SOLID_MASS) {
        add_mass(body, factor, A);
        return;
    }
    if (which == DLS_SOLID_DAMPING) factor *= body->elastic.damping;
    dls_elastic_slope(&body->elastic, q + 3, which == DLS_SOLID_STIFFNESS, slope);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k <= i; k++) {
            double *block = block_of(body, A, 1 + i, 1 + k);
            for (int J = 0; J < 3; J++)
                for (int L = 0; L < 3; L++)
                    block[3 * J + L] += factor * body->volume * slope[9 * (3 * i + J) + 3 * k + L];
        }
}

/* ---- places ---- */

static bool locate(const dls_solid_data *body, const double *X, dls_spot *spot) {
    vec_copy(spot->at, X);
    spot->cell = 0;
    return body != NULL;
}

/* X = F⁻¹ (p − x̄) */
static void touch(const dls_solid_data *body, const double *q, const dls_solid_touch *touch, dls_spot *spot) {
    double C[9], d[3], J = cofactors(q + 3, C), X[3];
    vec_sub(d, touch->p, q);
    mat_apply(X, C, d); /* F⁻¹ = Cᵀ/J, and rows are read as columns */
    vec_scale(X, 1 / J, X);
    locate(body, X, spot);
}

static void spot(const dls_solid_data *body, const double *q, dls_spot *spot, double *R) {
    double T[9];
    (void)body;
    apply(spot->state.x, q + 3, spot->at);
    vec_add(spot->state.x, spot->state.x, q);
    if (!polar(q + 3, R)) memcpy(R, (const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, 9 * sizeof *R);
    turning(q + 3, R, T);
    spot->count = FREEDOMS;
    memset(spot->J, 0, sizeof *spot->J * FREEDOMS);
    for (int k = 0; k < FREEDOMS; k++) spot->index[k] = k;
    for (int i = 0; i < 3; i++) {
        spot->J[i][i] = 1;
        for (int L = 0; L < 3; L++) {
            double unit[3] = {L == 0, L == 1, L == 2}, row[3] = {R[i], R[i + 3], R[i + 6]}, a[3];
            double *J = spot->J[3 + 3 * i + L];
            J[i] = spot->at[L];
            vec_cross(a, unit, row);
            mat_apply(J + 3, T, a);
        }
    }
}

/* ---- shapes ---- */

static size_t shape_bytes(const dls_solid_data *body, const dls_shape *rest) {
    return body->retained ? 0 : dls_shape_deform_bytes(rest);
}

static void deform(const dls_solid_data *body, const double *q, const dls_body_state *mean,
                   const dls_shape *rest, dls_shape *now, double *x, double *R, void *room) {
    double G[9], turn[9], offset[3];
    quat_matrix(mean->q, turn);
    apply(offset, q + 3, rest->x);
    vec_add(x, q, offset);
    mat_apply_transposed(now->x, turn, offset);
    mat_multiply(R, turn, rest->R);
    if (body->retained) return;
    for (int j = 0; j < 3; j++) apply(G + 3 * j, q + 3, rest->R + 3 * j);
    dls_shape_deform(rest, G, now, R, room);
}

static bool gradient(const dls_solid_data *body, const double *q, const double *u, double *F, double *rate) {
    for (int k = 0; k < 9; k++) F[k] = q[3 + 3 * (k % 3) + k / 3], rate[k] = u[3 + 3 * (k % 3) + k / 3];
    return !body->retained;
}

const dls_solid_kind dls_solid_kind_pseudo_rigid = {
    .name = "pseudo-rigid",
    .summary = "a body in space whose places all move by one affine map",
    .preset = preset,
    .create = create,
    .release = release,
    .equal = equal,
    .freedoms = freedoms,
    .reach = reach,
    .damping = damping,
    .mass = mass_of,
    .begin = begin,
    .mean = mean_of,
    .load = load,
    .force = force,
    .pattern = pattern_of,
    .matrix = matrix,
    .spot = spot,
    .locate = locate,
    .touch = touch,
    .shape_bytes = shape_bytes,
    .deform = deform,
    .spread = spread,
    .inverted = inverted,
    .gradient = gradient,
    .kinetic_energy = kinetic_energy,
    .strain_energy = strain_energy,
};

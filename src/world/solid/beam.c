/* The planar beam without shear. Its curve r(ξ) = Σ N_i(ξ) q_i, 0 ≤ ξ ≤ 1, is a B-spline over an open knot
 * vector; with a = r′, b = r″, S = a·a and its length L at rest
 *
 *     λ = √S/L,   κ = (a × b)/(S L),   E = ∫ (½ EA (λ − 1)² + ½ EI κ²) L dξ,   M = ∫ ρ Nᵀ N L dξ
 *
 * so that turning it as a whole strains nothing. D = damping · (K of the strains' own slopes). */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/solid/solid.h"

#include <math.h>
#include <string.h>

enum { MOST_DEGREE = 5, MOST_GAUSS = 8, MOST_ELEMENTS = 1000, CONTROLS = MOST_DEGREE + 1 };
_Static_assert(2 * CONTROLS <= DLS_SPOT_FREEDOMS,
               "a place of a beam depends on two numbers per control point");

/* Where energies are summed: N, N′, N″ of the control points first … first + degree. */
typedef struct beam_point {
    int first;
    double weight; /* of dξ */
    double N[3][CONTROLS];
} beam_point;

struct dls_solid_data {
    dls_solid_def def;
    int controls, point_count;
    double *greville; /* ξ of each control point on a straight beam of even speed */
    dls_pattern *pattern;
    beam_point points[];
};

/* ---- splines ---- */

static double knot(const dls_solid_def *def, int k) {
    return fmax(0, fmin(1, (double)(k - def->degree) / def->elements));
}

/* N of degree p at ξ in the element that begins with knot k: the p + 1 that are not zero, by Cox and de Boor.
 */
static void basis(const dls_solid_def *def, int p, int k, double xi, double *N) {
    N[0] = 1;
    for (int d = 1; d <= p; d++) {
        double before = 0;
        for (int i = 0; i < d; i++) {
            double right = knot(def, k + 1 + i), left = knot(def, k + 1 + i - d),
                   share = N[i] / (right - left);
            N[i] = before + (right - xi) * share;
            before = (xi - left) * share;
        }
        N[d] = before;
    }
}

/* Derivatives by those of one degree less: N_i′ = p (N_i/(t_{i+p} − t_i) − N_{i+1}/(t_{i+p+1} − t_{i+1})). */
static void slope_of(const dls_solid_def *def, int p, int k, const double *lower, double *N) {
    for (int i = 0; i <= p; i++) N[i] = 0;
    for (int i = 0; i < p; i++) {
        double share = p * lower[i] / (knot(def, k + 1 + i) - knot(def, k + 1 + i - p));
        N[i] -= share;
        N[i + 1] += share;
    }
}

static int element_at(const dls_solid_def *def, double xi) {
    int e = (int)(xi * def->elements);
    return e < 0 ? 0 : e < def->elements ? e : def->elements - 1;
}

static void spline_at(const dls_solid_def *def, int element, double xi, double N[3][CONTROLS]) {
    int p = def->degree, k = element + p;
    double lower[CONTROLS] = {0}, lowest[CONTROLS] = {0};
    basis(def, p, k, xi, N[0]);
    basis(def, p - 1, k, xi, lower);
    slope_of(def, p, k, lower, N[1]);
    basis(def, p - 2, k, xi, lowest);
    slope_of(def, p - 1, k, lowest, lower);
    slope_of(def, p, k, lower, N[2]);
}

/* Zeros of the Legendre polynomial P_n in (−1, 1) and Gauss's weights, by Newton. */
static void gauss_rule(int n, double *place, double *weight) {
    const double pi = acos(-1);
    for (int i = 0; i < n; i++) {
        double x = -cos(pi * (i + 0.75) / (n + 0.5)), slope = 1;
        for (int round = 0; round < 20; round++) {
            double P = 1, before = 0;
            for (int k = 1; k <= n; k++) {
                double next = ((2 * k - 1) * x * P - (k - 1) * before) / k;
                before = P, P = next;
            }
            slope = n * (x * P - before) / (x * x - 1);
            x -= P / slope;
        }
        place[i] = x;
        weight[i] = 2 / ((1 - x * x) * slope * slope);
    }
}

/* ---- making ---- */

static dls_solid_def preset(void) {
    return (dls_solid_def){.form = DLS_SOLID_BEAM, .degree = 3, .elements = 8, .gauss = 5};
}

static dls_status check_number(const char *what, double value, bool zero, dls_error *error) {
    if (isfinite(value) && (value > 0 || (zero && value == 0))) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "%s of a beam is %g, expected a finite number %s", what, value,
                    zero ? "that is not negative" : "above 0");
}

static dls_status check_count(const char *what, int value, int low, int high, dls_error *error) {
    if (value >= low && value <= high) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "%s of a beam is %d, expected %d to %d", what, value, low, high);
}

static dls_status check(const dls_solid_def *def, int dimension, dls_error *error) {
    if (dimension != 2) return dls_fail(error, DLS_ERROR_INPUT, "a beam in space, expected one in the plane");
    dls_status status = check_number("length", def->length, false, error);
    if (!status) status = check_number("EA", def->EA, false, error);
    if (!status) status = check_number("EI", def->EI, false, error);
    if (!status) status = check_number("line_density", def->line_density, false, error);
    if (!status) status = check_number("damping", def->damping, true, error);
    if (!status) status = check_count("degree", def->degree, 2, MOST_DEGREE, error);
    if (!status) status = check_count("elements", def->elements, 1, MOST_ELEMENTS, error);
    return status ? status : check_count("gauss", def->gauss, def->degree + 1, MOST_GAUSS, error);
}

static void fill_points(dls_solid_data *beam) {
    const dls_solid_def *def = &beam->def;
    double place[MOST_GAUSS], weight[MOST_GAUSS];
    gauss_rule(def->gauss, place, weight);
    for (int k = 0; k < beam->point_count; k++) {
        int e = k / def->gauss, g = k % def->gauss;
        beam_point *point = &beam->points[k];
        point->first = e;
        point->weight = 0.5 * weight[g] / def->elements;
        spline_at(def, e, (e + 0.5 * (1 + place[g])) / def->elements, point->N);
    }
    for (int i = 0; i < beam->controls; i++) {
        beam->greville[i] = 0;
        for (int j = 1; j <= def->degree; j++) beam->greville[i] += knot(def, i + j) / def->degree;
    }
}

/* Control points of an element are coupled. */
static dls_pattern *make_pattern(const dls_solid_data *beam) {
    int elements = beam->def.elements, each = beam->def.degree + 1;
    int64_t *start = DLS_NEW(int64_t, elements + 1);
    int *node = DLS_NEW(int, (int64_t)elements *each);
    double *places = DLS_NEW_ZERO(double, 3 * (int64_t)beam->controls);
    dls_pattern *pattern = NULL;
    if (start && node && places) {
        for (int e = 0; e <= elements; e++) start[e] = (int64_t)e * each;
        for (int k = 0; k < elements * each; k++) node[k] = k / each + k % each;
        for (int i = 0; i < beam->controls; i++) places[3 * i] = beam->greville[i];
        pattern = dls_pattern_create(beam->controls, 2, &(dls_groups){elements, start, node}, places);
    }
    dls_free(start);
    dls_free(node);
    dls_free(places);
    return pattern;
}

static dls_status create(const dls_solid_build *build, dls_solid_data **data, dls_error *error) {
    const dls_solid_def *def = build->def;
    dls_status status = check(def, build->world->def.dimension, error);
    if (status) return status;
    int points = def->elements * def->gauss, controls = def->elements + def->degree;
    size_t before = sizeof(dls_solid_data) + sizeof(beam_point) * (size_t)points;
    dls_solid_data *beam = dls_alloc_zero(1, before + sizeof(double) * (size_t)controls);
    if (!beam) return dls_fail_memory(error);
    beam->def = *def;
    beam->controls = controls;
    beam->point_count = points;
    beam->greville = (double *)((char *)beam + before);
    fill_points(beam);
    beam->pattern = make_pattern(beam);
    if (!beam->pattern) {
        dls_free(beam);
        return dls_fail_memory(error);
    }
    *data = beam;
    return DLS_OK;
}

static void release(dls_solid_data *beam) {
    dls_pattern_destroy(beam->pattern);
    dls_free(beam);
}

static bool equal(const dls_solid_data *beam, const dls_solid_build *build) {
    const dls_solid_def *own = &beam->def, *def = build->def;
    return build->world->def.dimension == 2 && own->length == def->length && own->EA == def->EA &&
           own->EI == def->EI && own->line_density == def->line_density && own->damping == def->damping &&
           own->degree == def->degree && own->elements == def->elements && own->gauss == def->gauss;
}

static const dls_pattern *pattern_of(const dls_solid_data *beam) { return beam->pattern; }
static int freedoms(const dls_solid_data *beam) { return 2 * beam->controls; }
static double reach(const dls_solid_data *beam) { return beam->def.length; }

/* I = m L²/12 about the middle */
static void mass_of(const dls_solid_data *beam, dls_body_mass *mass) {
    double L = beam->def.length;
    memset(mass, 0, sizeof *mass);
    mass->mass = beam->def.line_density * L;
    mass->inertia[8] = mass->mass * L * L / 12;
    mass->centre[0] = L / 2;
}

/* ---- motion ---- */

static void begin(const dls_solid_data *beam, const dls_body_state *mean, double *q, double *u) {
    double R[9];
    quat_matrix(mean->q, R);
    for (int i = 0; i < beam->controls; i++) {
        double arm[3], along = beam->def.length * (beam->greville[i] - 0.5);
        vec_scale(arm, along, R);
        q[2 * i] = mean->x[0] + arm[0];
        q[2 * i + 1] = mean->x[1] + arm[1];
        u[2 * i] = mean->v[0] - mean->w[2] * arm[1];
        u[2 * i + 1] = mean->v[1] + mean->w[2] * arm[0];
    }
}

/* r, r′ or r″ of q or of u at a point. */
static void curve(const dls_solid_data *beam, const beam_point *point, int order, const double *q,
                  double *r) {
    r[0] = r[1] = 0;
    for (int i = 0; i <= beam->def.degree; i++) {
        const double *control = q + 2 * (point->first + i);
        r[0] += point->N[order][i] * control[0];
        r[1] += point->N[order][i] * control[1];
    }
}

/* Centre c = ∫ r dξ; the mean angle is that of p = ∫ (ξ − ½)(r − c) dξ, which a straight beam has along it.
 */
static void moments(const dls_solid_data *beam, const double *q, double *c, double *p) {
    c[0] = c[1] = p[0] = p[1] = 0;
    for (int k = 0; k < beam->point_count; k++) {
        const beam_point *point = &beam->points[k];
        double r[2], xi = 0;
        curve(beam, point, 0, q, r);
        for (int i = 0; i <= beam->def.degree; i++) xi += point->N[0][i] * beam->greville[point->first + i];
        for (int d = 0; d < 2; d++) {
            c[d] += point->weight * r[d];
            p[d] += point->weight * (xi - 0.5) * r[d];
        }
    }
}

static void mean_of(const dls_solid_data *beam, const double *q, const double *u, dls_body_state *mean) {
    double p[2], rate[2];
    memset(mean, 0, sizeof *mean);
    moments(beam, q, mean->x, p);
    moments(beam, u, mean->v, rate);
    double angle = atan2(p[1], p[0]), square = p[0] * p[0] + p[1] * p[1];
    mean->q[0] = cos(angle / 2);
    mean->q[3] = sin(angle / 2);
    mean->w[2] = square > 0 ? (p[0] * rate[1] - p[1] * rate[0]) / square : 0;
}

/* ---- strains ---- */

/* λ, κ and their slopes in (a, b). */
typedef struct beam_strain {
    double a[2], b[2], S, stretch, curvature;
    double to_stretch[4], to_curvature[4];
} beam_strain;

static void strain_at(const dls_solid_data *beam, const beam_point *point, const double *q, beam_strain *s) {
    double L = beam->def.length;
    curve(beam, point, 1, q, s->a);
    curve(beam, point, 2, q, s->b);
    s->S = s->a[0] * s->a[0] + s->a[1] * s->a[1];
    double root = sqrt(s->S);
    s->stretch = root / L;
    s->curvature = (s->a[0] * s->b[1] - s->a[1] * s->b[0]) / (s->S * L);
    for (int d = 0; d < 2; d++) {
        s->to_stretch[d] = s->a[d] / (root * L);
        s->to_stretch[2 + d] = 0;
        s->to_curvature[d] = (d ? -s->b[0] : s->b[1]) / (s->S * L) - 2 * s->curvature * s->a[d] / s->S;
        s->to_curvature[2 + d] = (d ? s->a[0] : -s->a[1]) / (s->S * L);
    }
}

static double strain_energy(const dls_solid_data *beam, const double *q) {
    const dls_solid_def *def = &beam->def;
    double sum = 0;
    for (int k = 0; k < beam->point_count; k++) {
        beam_strain s;
        strain_at(beam, &beam->points[k], q, &s);
        sum += 0.5 * def->length * beam->points[k].weight *
               (def->EA * (s.stretch - 1) * (s.stretch - 1) + def->EI * s.curvature * s.curvature);
    }
    return sum;
}

static void force(const dls_solid_data *beam, const double *q, double *f) {
    const dls_solid_def *def = &beam->def;
    for (int k = 0; k < beam->point_count; k++) {
        const beam_point *point = &beam->points[k];
        beam_strain s;
        strain_at(beam, point, q, &s);
        double weight = def->length * point->weight;
        double tension = weight * def->EA * (s.stretch - 1), moment = weight * def->EI * s.curvature;
        for (int i = 0; i <= def->degree; i++)
            for (int d = 0; d < 2; d++)
                f[2 * (point->first + i) + d] -=
                    point->N[1][i] * (tension * s.to_stretch[d] + moment * s.to_curvature[d]) +
                    point->N[2][i] * moment * s.to_curvature[2 + d];
    }
}

static double kinetic_energy(const dls_solid_data *beam, const double *u) {
    double sum = 0;
    for (int k = 0; k < beam->point_count; k++) {
        double v[2];
        curve(beam, &beam->points[k], 0, u, v);
        sum += 0.5 * beam->def.line_density * beam->def.length * beam->points[k].weight *
               (v[0] * v[0] + v[1] * v[1]);
    }
    return sum;
}

static void load(const dls_solid_data *beam, const double *a, double *f) {
    for (int k = 0; k < beam->point_count; k++) {
        const beam_point *point = &beam->points[k];
        double mass = beam->def.line_density * beam->def.length * point->weight;
        for (int i = 0; i <= beam->def.degree; i++)
            for (int d = 0; d < 2; d++) f[2 * (point->first + i) + d] += mass * point->N[0][i] * a[d];
    }
}

/* ---- matrices ---- */

/* Of (a, b): weight (EA ∇λ∇λᵀ + EI ∇κ∇κᵀ), and with the stresses EA (λ − 1) ∇∇λ + EI κ ∇∇κ, where
 *
 *     ∇∇λ_aa = (1/√S − a aᵀ/S^{3/2})/L
 *     ∇∇κ_aa = −2 (c aᵀ + a cᵀ)/(S² L) + 8 κ a aᵀ/S² − 2 κ/S,   c = ∂(a × b)/∂a
 *     ∇∇κ_ab = ∂c/∂b/(S L) − 2 a ∇κ_bᵀ/S */
static void stiffness_at(const dls_solid_def *def, const beam_strain *s, bool stresses, double k[4][4]) {
    double L = def->length, S = s->S, c[2] = {s->b[1], -s->b[0]};
    double tension = stresses ? def->EA * (s->stretch - 1) : 0,
           moment = stresses ? def->EI * s->curvature : 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            k[i][j] = def->EA * s->to_stretch[i] * s->to_stretch[j] +
                      def->EI * s->to_curvature[i] * s->to_curvature[j];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double one = i == j, turn = i == j ? 0 : i ? -1 : 1, aa = s->a[i] * s->a[j];
            k[i][j] += tension * (one - aa / S) / (sqrt(S) * L) +
                       moment * (-2 * (c[i] * s->a[j] + s->a[i] * c[j]) / (S * S * L) +
                                 8 * s->curvature * aa / (S * S) - 2 * s->curvature * one / S);
            double mixed = moment * (turn / (S * L) - 2 * s->a[i] * s->to_curvature[2 + j] / S);
            k[i][2 + j] += mixed;
            k[2 + j][i] += mixed;
        }
}

static void add_stiffness(const dls_solid_data *beam, const beam_point *point, const double *q, bool stresses,
                          double factor, double *A) {
    int p = beam->def.degree;
    double k[4][4];
    beam_strain s;
    strain_at(beam, point, q, &s);
    stiffness_at(&beam->def, &s, stresses, k);
    factor *= beam->def.length * point->weight;
    for (int i = 0; i <= p; i++)
        for (int j = 0; j <= i; j++) {
            double *block = A + dls_pattern_block(beam->pattern, point->first + i, point->first + j);
            for (int d = 0; d < 2; d++)
                for (int e = 0; e < 2; e++) {
                    double sum = 0;
                    for (int x = 0; x < 2; x++)
                        for (int y = 0; y < 2; y++)
                            sum += point->N[1 + x][i] * point->N[1 + y][j] * k[2 * x + d][2 * y + e];
                    block[2 * d + e] += factor * sum;
                }
        }
}

static void add_mass(const dls_solid_data *beam, const beam_point *point, double factor, double *A) {
    int p = beam->def.degree;
    factor *= beam->def.line_density * beam->def.length * point->weight;
    for (int i = 0; i <= p; i++)
        for (int j = 0; j <= i; j++) {
            double *block = A + dls_pattern_block(beam->pattern, point->first + i, point->first + j);
            for (int d = 0; d < 2; d++) block[3 * d] += factor * point->N[0][i] * point->N[0][j];
        }
}

static void matrix(const dls_solid_data *beam, dls_solid_matrix which, const double *q, double factor,
                   double *A) {
    if (which == DLS_SOLID_DAMPING) factor *= beam->def.damping;
    for (int k = 0; k < beam->point_count && factor != 0; k++)
        if (which == DLS_SOLID_MASS)
            add_mass(beam, &beam->points[k], factor, A);
        else
            add_stiffness(beam, &beam->points[k], q, which == DLS_SOLID_STIFFNESS, factor, A);
}

/* ---- places ---- */

/* ω = (a × ȧ)/S */
static void spot(const dls_solid_data *beam, const double *q, dls_spot *spot, double *R) {
    beam_point at = {.first = element_at(&beam->def, spot->at[0])};
    double a[2];
    spline_at(&beam->def, at.first, spot->at[0], at.N);
    curve(beam, &at, 0, q, spot->state.x);
    spot->state.x[2] = 0;
    curve(beam, &at, 1, q, a);
    double S = a[0] * a[0] + a[1] * a[1], root = sqrt(S);
    vec_set(R, a[0] / root, a[1] / root, 0);
    vec_set(R + 3, -R[1], R[0], 0);
    vec_set(R + 6, 0, 0, 1);
    spot->count = 2 * (beam->def.degree + 1);
    memset(spot->J, 0, sizeof spot->J);
    for (int k = 0; k < spot->count; k++) {
        int i = k / 2, d = k % 2;
        spot->index[k] = 2 * at.first + k;
        spot->J[k][d] = at.N[0][i];
        spot->J[k][5] = at.N[1][i] * (d ? a[0] : -a[1]) / S;
    }
}

/* Four to an element: a curve of a few degrees looks smooth. */
static int nodes(const dls_solid_data *beam) { return 4 * beam->def.elements + 1; }

const dls_solid_kind dls_solid_kind_beam = {
    .name = "beam",
    .summary = "a beam without shear in the plane, straight at rest, as a spline",
    .line = true,
    .preset = preset,
    .create = create,
    .release = release,
    .equal = equal,
    .freedoms = freedoms,
    .reach = reach,
    .mass = mass_of,
    .begin = begin,
    .mean = mean_of,
    .load = load,
    .force = force,
    .pattern = pattern_of,
    .matrix = matrix,
    .spot = spot,
    .nodes = nodes,
    .kinetic_energy = kinetic_energy,
    .strain_energy = strain_energy,
};

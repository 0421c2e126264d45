/* Problems of any size, made from bodies on a lattice: a place to measure solvers without a file.
 * One step of length h under gravity; impulses at the contacts keep bodies from falling through each other.
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/small.h"
#include "problem/problem.h"

#include <math.h>

static const double GRAVITY = 9.81, STEP = 1e-3, RADIUS = 0.01, DENSITY = 2500, PI = 3.14159265358979323846;
static const double KEEP_SPHERES = 0.55, KEEP_DISCS = 0.75; /* share of lattice neighbours that touch */
static const double TILT = 0.1, AGITATION = 0.05;           /* of normals; of velocities, in units of g h */

typedef struct builder {
    int dimension, dof, body_count, contact_count, room;
    double *position;     /* of bodies, three numbers each */
    double *inverse_mass; /* dof² each */
    double *velocity;     /* dof each */
    int *body;            /* two per contact */
    double *lever; /* from the centre of each of the two bodies to the contact, six numbers per contact */
    double *normal;
    dls_random random;
} builder;

static void builder_free(builder *x) {
    dls_free(x->position);
    dls_free(x->inverse_mass);
    dls_free(x->velocity);
    dls_free(x->body);
    dls_free(x->lever);
    dls_free(x->normal);
}

static bool builder_begin(builder *x, int dimension, int bodies, int room, uint64_t seed) {
    int dof = dimension == 3 ? 6 : 3;
    *x = (builder){.dimension = dimension, .dof = dof, .body_count = bodies, .room = room, .random = {seed}};
    x->position = DLS_NEW_ZERO(double, 3 * (int64_t)bodies);
    x->inverse_mass = DLS_NEW_ZERO(double, (int64_t)bodies *dof *dof);
    x->velocity = DLS_NEW_ZERO(double, (int64_t)bodies *dof);
    x->body = DLS_NEW(int, 2 * (int64_t)room);
    x->lever = DLS_NEW_ZERO(double, 6 * (int64_t)room);
    x->normal = DLS_NEW_ZERO(double, 3 * (int64_t)room);
    return x->position && x->inverse_mass && x->velocity && x->body && x->lever && x->normal;
}

/* inertia: about the three axes (the third alone in the plane). The last position axis of the dimension is
 * up. */
static void set_body(builder *x, int body, const double *position, double mass, const double *inertia) {
    int dim = x->dimension, dof = x->dof;
    double *M = x->inverse_mass + (int64_t)body * dof * dof, *v = x->velocity + (int64_t)body * dof;
    for (int i = 0; i < 3; i++) x->position[3 * (int64_t)body + i] = position[i];
    for (int i = 0; i < dim; i++) M[i + dof * i] = 1 / mass;
    for (int i = dim; i < dof; i++) M[i + dof * i] = 1 / inertia[dim == 3 ? i - dim : 2];
    for (int i = 0; i < dim; i++) v[i] = AGITATION * GRAVITY * STEP * dls_random_normal(&x->random);
    v[dim - 1] -= GRAVITY * STEP;
}

/* normal points from body a to body b; a = −1 is the ground. */
static double *add_contact(builder *x, int a, int b, const double *normal) {
    int64_t c = x->contact_count++;
    x->body[2 * c] = a;
    x->body[2 * c + 1] = b;
    double length = small_norm(3, normal);
    for (int i = 0; i < 3; i++) x->normal[3 * c + i] = normal[i] / length;
    return x->lever + 6 * c;
}

/* Two round bodies, or a round one on the ground: both levers lie along the normal. */
static void touch_round(builder *x, int a, int b, const double *normal) {
    double *lever = add_contact(x, a, b, normal);
    const double *n = x->normal + 3 * (int64_t)(x->contact_count - 1);
    for (int i = 0; i < 3; i++) {
        lever[i] = RADIUS * n[i];
        lever[3 + i] = -RADIUS * n[i];
    }
}

static void touch_at(builder *x, int a, int b, const double *normal, const double *point) {
    double *lever = add_contact(x, a, b, normal);
    for (int i = 0; i < 3; i++) {
        if (a >= 0) lever[i] = point[i] - x->position[3 * (int64_t)a + i];
        lever[3 + i] = point[i] - x->position[3 * (int64_t)b + i];
    }
}

static void cross(const double *a, const double *b, double *c) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Rows n, t₁, t₂ of the contact frame. */
static void contact_frame(int dimension, const double *n, double frame[3][3]) {
    double helper[3] = {0, 0, 0};
    memcpy(frame[0], n, 3 * sizeof(double));
    if (dimension == 2) {
        frame[1][0] = -n[1];
        frame[1][1] = n[0];
        frame[1][2] = 0;
        return;
    }
    int least = fabs(n[0]) < fabs(n[1]) ? 0 : 1;
    if (fabs(n[2]) < fabs(n[least])) least = 2;
    helper[least] = 1;
    cross(n, helper, frame[1]);
    double length = small_norm(3, frame[1]);
    for (int i = 0; i < 3; i++) frame[1][i] /= length;
    cross(n, frame[1], frame[2]);
}

/* One side of H: the velocity of a body's point along each axis, e·(v + ω × l) = e·v + (l × e)·ω. */
static void fill_side(const builder *x, const double *lever, double frame[3][3], double sign, double *H) {
    int d = x->dimension;
    double moment[3];
    for (int i = 0; i < d; i++) {
        cross(lever, frame[i], moment);
        for (int j = 0; j < d; j++) H[i + d * j] = sign * frame[i][j];
        for (int j = d; j < x->dof; j++) H[i + d * j] = sign * moment[d == 3 ? j - d : 2];
    }
}

static void fill_contact(const builder *x, int c, double *H, double *b) {
    int d = x->dimension;
    double frame[3][3];
    contact_frame(d, x->normal + 3 * (int64_t)c, frame);
    for (int i = 0; i < d; i++) b[i] = 0;
    for (int side = 0; side < 2; side++, H += d * x->dof) {
        int body = x->body[2 * (int64_t)c + side];
        if (body < 0) continue;
        fill_side(x, x->lever + 6 * (int64_t)c + 3 * side, frame, side ? 1 : -1, H);
        const double *v = x->velocity + (int64_t)body * x->dof;
        for (int j = 0; j < x->dof; j++)
            for (int i = 0; i < d; i++) b[i] += H[i + d * j] * v[j];
    }
}

static dls_status finish(builder *x, double mu, bool matrix_free, dls_problem **problem, dls_error *error) {
    int64_t n = x->contact_count, d = x->dimension;
    double *H = DLS_NEW_ZERO(double, 2 * n * d * x->dof), *b = DLS_NEW(double, n *d),
           *friction = DLS_NEW(double, n);
    dls_status status = H && b && friction ? DLS_OK : dls_fail_memory(error);
    dls_problem *free_problem = NULL;
    if (!status) {
        for (int c = 0; c < n; c++) {
            friction[c] = mu;
            fill_contact(x, c, H + 2 * c * d * x->dof, b + c * d);
        }
        dls_problem_def def = {.block_count = (int)n, .dimension = (int)d, .mu = friction, .b = b};
        dls_bodies bodies = {x->body_count, x->dof, x->inverse_mass, x->body, H};
        status = dls_problem_create_bodies(&def, &bodies, &free_problem, error);
    }
    dls_free(H);
    dls_free(b);
    dls_free(friction);
    if (status || matrix_free) {
        *problem = free_problem;
        return status;
    }
    status = dls_problem_assemble(free_problem, problem, error);
    dls_problem_destroy(free_problem);
    return status;
}

static void tilted(builder *x, const double *direction, double *normal) {
    for (int i = 0; i < 3; i++)
        normal[i] = direction[i] + (i < x->dimension ? TILT * dls_random_normal(&x->random) : 0);
}

/* ---- spheres: a block of a face-centred cubic lattice on a floor, with a share of its contacts ----
 * No walls: a body jammed between two of them can carry any impulse, and nothing would be unique. */

static int sphere_at(int side, int i, int j, int k) {
    return (i + j + k) % 2 == 0 ? (int)((((int64_t)k * side + j) * side + i) / 2) : -1;
}

static void touch_spheres(builder *x, int side, int layers, int i, int j, int k) {
    static const int to[6][3] = {{1, 1, 0}, {1, -1, 0}, {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1}};
    int self = sphere_at(side, i, j, k);
    for (int e = 0; e < 6; e++) {
        int p = i + to[e][0], q = j + to[e][1], s = k + to[e][2];
        if (p < 0 || q < 0 || s < 0 || p >= side || q >= side || s >= layers) continue;
        if (dls_random_unit(&x->random) > KEEP_SPHERES) continue;
        double direction[3] = {to[e][0], to[e][1], to[e][2]}, normal[3];
        tilted(x, direction, normal);
        touch_round(x, self, sphere_at(side, p, q, s), normal);
    }
    const double up[3] = {0, 0, 1};
    if (k == 0) touch_round(x, -1, self, up);
}

static dls_status generate_packing(const dls_generate_def *def, dls_problem **problem, dls_error *error) {
    const double spacing = sqrt(2) * RADIUS; /* between lattice planes */
    int side = 2, layers = 1;                /* side is even, so that every layer holds the same number */
    while (0.5 * pow(side, 3) * 6 * KEEP_SPHERES < def->size) side += 2;
    while (0.5 * pow(side, 2) * ((6 * KEEP_SPHERES) * layers - 2 * KEEP_SPHERES + 1) < def->size) layers++;
    int bodies = (int)((int64_t)side * side * layers / 2);
    builder x;
    if (!builder_begin(&x, 3, bodies, 6 * bodies + side * side, def->seed)) {
        builder_free(&x);
        return dls_fail_memory(error);
    }
    for (int k = 0; k < layers; k++)
        for (int j = 0; j < side; j++)
            for (int i = 0; i < side; i++) {
                int body = sphere_at(side, i, j, k);
                double position[3] = {i * spacing, j * spacing, k * spacing};
                double mass = DENSITY * 4 / 3 * PI * pow(RADIUS, 3) * dls_random_between(&x.random, 0.8, 1.2);
                double inertia = 0.4 * mass * RADIUS * RADIUS, three[3] = {inertia, inertia, inertia};
                if (body >= 0) set_body(&x, body, position, mass, three);
            }
    for (int k = 0; k < layers; k++)
        for (int j = 0; j < side; j++)
            for (int i = 0; i < side; i++)
                if (sphere_at(side, i, j, k) >= 0) touch_spheres(&x, side, layers, i, j, k);
    dls_status status = finish(&x, def->mu, def->matrix_free, problem, error);
    builder_free(&x);
    return status;
}

/* ---- a wall of bricks: each rests on the two below it, four points with each ---- */

static void touch_bricks(builder *x, int below, int above, double left, double right, double depth,
                         double height) {
    const double up[3] = {0, 0, 1};
    for (int corner = 0; corner < 4; corner++) {
        double point[3] = {corner & 1 ? right : left, corner & 2 ? depth : -depth, height};
        touch_at(x, below, above, up, point);
    }
}

static dls_status generate_stack(const dls_generate_def *def, dls_problem **problem, dls_error *error) {
    const double length = 0.2, width = 0.1, height = 0.06;
    const double mass = DENSITY * length * width * height;
    const double inertia[3] = {mass * (width * width + height * height) / 12,
                               mass * (length * length + height * height) / 12,
                               mass * (length * length + width * width) / 12};
    int rows = 1;
    while (8 * (rows + 1) * (rows + 1) <= def->size) rows++;
    builder x;
    if (!builder_begin(&x, 3, rows * rows, 8 * rows * rows, def->seed)) {
        builder_free(&x);
        return dls_fail_memory(error);
    }
    for (int k = 0; k < rows; k++)
        for (int i = 0; i < rows; i++) {
            double shift = k % 2 ? 0.5 * length : 0, floor = k * height;
            double position[3] = {i * length + shift, 0, floor + 0.5 * height};
            int self = k * rows + i, beside = k % 2 ? i + 1 : i - 1;
            double low = position[0] - 0.45 * length, high = position[0] + 0.45 * length;
            set_body(&x, self, position, mass, inertia);
            double middle = position[0] + (k % 2 ? 0.05 : -0.05) * length;
            if (k == 0) {
                touch_bricks(&x, -1, self, low, high, 0.45 * width, floor);
                continue;
            }
            bool rests_on_two = beside >= 0 && beside < rows;
            double inner = k % 2 ? middle - 0.1 * length : middle + 0.1 * length;
            touch_bricks(&x, self - rows, self, k % 2 ? low : inner, k % 2 ? inner : high, 0.45 * width,
                         floor);
            if (rests_on_two)
                touch_bricks(&x, (k - 1) * rows + beside, self, k % 2 ? middle : low, k % 2 ? high : middle,
                             0.45 * width, floor);
        }
    dls_status status = finish(&x, def->mu, def->matrix_free, problem, error);
    builder_free(&x);
    return status;
}

/* ---- discs in the plane: a triangular lattice on a floor ---- */

static void touch_discs(builder *x, int side, int i, int k) {
    const double half = 0.5, tall = 0.5 * sqrt(3);
    const double to[3][3] = {{1, 0, 0}, {half, tall, 0}, {-half, tall, 0}};
    int self = k * side + i, right = i + (k % 2), other[3] = {i + 1, right, right - 1};
    for (int e = 0; e < 3; e++) {
        int row = e ? k + 1 : k;
        if (other[e] < 0 || other[e] >= side || row >= side) continue;
        if (dls_random_unit(&x->random) > KEEP_DISCS) continue;
        double normal[3];
        tilted(x, to[e], normal);
        touch_round(x, self, row * side + other[e], normal);
    }
    const double up[3] = {0, 1, 0};
    if (k == 0) touch_round(x, -1, self, up);
}

static dls_status generate_discs(const dls_generate_def *def, dls_problem **problem, dls_error *error) {
    int side = 1;
    while (3 * KEEP_DISCS * side * side + side < def->size) side++;
    builder x;
    if (!builder_begin(&x, 2, side * side, 3 * side * side + side, def->seed)) {
        builder_free(&x);
        return dls_fail_memory(error);
    }
    for (int k = 0; k < side; k++)
        for (int i = 0; i < side; i++) {
            double position[3] = {(2 * i + k % 2) * RADIUS, k * sqrt(3) * RADIUS, 0};
            double mass = DENSITY * PI * RADIUS * RADIUS * dls_random_between(&x.random, 0.8, 1.2);
            double inertia[3] = {0, 0, 0.5 * mass * RADIUS * RADIUS};
            set_body(&x, k * side + i, position, mass, inertia);
        }
    for (int k = 0; k < side; k++)
        for (int i = 0; i < side; i++) touch_discs(&x, side, i, k);
    dls_status status = finish(&x, def->mu, def->matrix_free, problem, error);
    builder_free(&x);
    return status;
}

typedef struct generator_row {
    const char *name, *help;
    dls_status (*generate)(const dls_generate_def *def, dls_problem **problem, dls_error *error);
} generator_row;

static const generator_row generators[DLS_GENERATORS] = {
    [DLS_GENERATE_PACKING] = {"packing", "spheres under gravity on a floor", generate_packing},
    [DLS_GENERATE_STACK] = {"stack", "boxes with four contacts each, hyperstatic", generate_stack},
    [DLS_GENERATE_DISCS] = {"discs", "planar discs under gravity", generate_discs},
};

static bool is_generator(dls_generator kind) { return (unsigned)kind < DLS_GENERATORS; }

const char *dls_generator_name(dls_generator kind) { return is_generator(kind) ? generators[kind].name : ""; }
const char *dls_generator_help(dls_generator kind) { return is_generator(kind) ? generators[kind].help : ""; }

dls_generate_def dls_default_generate_def(void) {
    return (dls_generate_def){.kind = DLS_GENERATE_PACKING, .size = 1000, .mu = 0.3, .seed = 1};
}

dls_status dls_problem_generate(const dls_generate_def *def, dls_problem **problem, dls_error *error) {
    dls_error_clear(error);
    if (!def || !problem)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a definition and a place for the problem are needed");
    *problem = NULL;
    if (def->size < 1 || def->size > 100000000)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "size is %d, expected 1 … 100000000 contacts", def->size);
    if (!is_generator(def->kind))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "generator %d, expected 0 … %d", (int)def->kind,
                        DLS_GENERATORS - 1);
    return generators[def->kind].generate(def, problem, error);
}

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

/* Joints of the mixed problem: rows of relative velocity along the axes n, t₁, t₂, then of relative angular
 * velocity about the last of them; bounds in units of the weight of a sphere times the step, for turns times
 * its radius; the speed that a motor is set to, in rad/s. */
typedef struct joint_row {
    int linear, angular;
    double low, high, speed;
} joint_row;

static const joint_row joints[] = {
    {3, 0, -HUGE_VAL, HUGE_VAL, 0}, /* ball joint */
    {3, 2, -HUGE_VAL, HUGE_VAL, 0}, /* hinge */
    {1, 0, 0, HUGE_VAL, 0},         /* stop */
    {0, 1, 0, HUGE_VAL, 0},         /* stop of a turn */
    {0, 1, -0.5, 0.5, 2},           /* motor */
    {0, 3, -0.1, 0.1, 0},           /* dry friction of a turn */
    {1, 0, -1, 1, 0},               /* brake */
};
enum { JOINTS = sizeof joints / sizeof *joints, IS_JOINT = 1 << 6 };

/* Contacts of the mixed problem; DRILLING is the length of the third tangential row, of the radius. */
static const uint8_t layouts[] = {DLS_PARTS(0, 0, 0), DLS_PARTS(2, 0, 0), DLS_PARTS(2, 2, 0),
                                  DLS_PARTS(2, 2, 1), DLS_PARTS(2, 0, 1), DLS_PARTS(3, 0, 0)};
enum { LAYOUTS = sizeof layouts };
static const double DRILLING = 0.3, JOINED = 0.1; /* and the share of lattice neighbours that are joined */

typedef struct builder {
    const dls_generate_def *def;
    int dimension, dof, body_count, contact_count, room;
    double *position;     /* of bodies, three numbers each */
    double *inverse_mass; /* dof² each */
    double *velocity;     /* dof each */
    int *body;            /* two per contact */
    double *lever; /* from the centre of each of the two bodies to the contact, six numbers per contact */
    double *normal;
    uint8_t *form; /* of each block: DLS_PARTS of a contact, or IS_JOINT and a row of the joints above */
    dls_random random;
} builder;

static void builder_free(builder *x) {
    dls_free(x->position);
    dls_free(x->inverse_mass);
    dls_free(x->velocity);
    dls_free(x->body);
    dls_free(x->lever);
    dls_free(x->normal);
    dls_free(x->form);
}

static bool builder_begin(builder *x, int dimension, int bodies, int room, const dls_generate_def *def) {
    int dof = dimension == 3 ? 6 : 3;
    *x = (builder){.def = def,
                   .dimension = dimension,
                   .dof = dof,
                   .body_count = bodies,
                   .room = room,
                   .random = {def->seed}};
    x->position = DLS_NEW_ZERO(double, 3 * (int64_t)bodies);
    x->inverse_mass = DLS_NEW_ZERO(double, (int64_t)bodies *dof *dof);
    x->velocity = DLS_NEW_ZERO(double, (int64_t)bodies *dof);
    x->body = DLS_NEW(int, 2 * (int64_t)room);
    x->lever = DLS_NEW_ZERO(double, 6 * (int64_t)room);
    x->normal = DLS_NEW_ZERO(double, 3 * (int64_t)room);
    x->form = DLS_NEW(uint8_t, room);
    return x->position && x->inverse_mass && x->velocity && x->body && x->lever && x->normal && x->form;
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
    x->form[c] = DLS_PARTS(x->dimension - 1, 0, 0);
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

/* One row of a block: the axis, and whether it is a turn about it (times a length) or a way along it. */
typedef struct row_axis {
    const double *axis;
    double length; /* 0 of a way */
} row_axis;

static int block_rows(uint8_t form) {
    if (form & IS_JOINT) return joints[form & ~IS_JOINT].linear + joints[form & ~IS_JOINT].angular;
    return 1 + (form & 3) + (form >> 2 & 3) + (form >> 4 & 3);
}

/* Contacts: n, t₁, t₂, n times a length (Contensou), then turns about t₁ and t₂ (rolling), about n
 * (spinning).
 */
static row_axis axis_of(uint8_t form, double frame[3][3], int row) {
    int linear = 1 + (form & 3), rolling = form >> 2 & 3;
    if (form & IS_JOINT) {
        const joint_row *joint = &joints[form & ~IS_JOINT];
        if (row < joint->linear) return (row_axis){frame[row], 0};
        return (row_axis){frame[3 - joint->angular + row - joint->linear], 1};
    }
    if (row == 3 && linear == 4) return (row_axis){frame[0], DRILLING * RADIUS};
    if (row < linear) return (row_axis){frame[row], 0};
    return (row_axis){frame[row < linear + rolling ? 1 + row - linear : 0], 1};
}

/* One row of one side of H: the velocity of a body's point along an axis, e·(v + ω × l) = e·v + (l × e)·ω, or
 * ℓ e·ω. */
static void fill_row(const builder *x, const double *lever, row_axis row, double sign, int rows, double *H) {
    int d = x->dimension;
    double moment[3];
    cross(lever, row.axis, moment);
    for (int j = 0; j < d; j++) H[rows * j] = row.length > 0 ? 0 : sign * row.axis[j];
    for (int j = d; j < x->dof; j++)
        H[rows * j] = sign * (row.length > 0 ? row.length * row.axis[j - d] : moment[d == 3 ? j - d : 2]);
}

static void fill_block(const builder *x, int c, double *H, double *b) {
    int rows = block_rows(x->form[c]);
    double frame[3][3];
    contact_frame(x->dimension, x->normal + 3 * (int64_t)c, frame);
    for (int i = 0; i < rows; i++) b[i] = x->form[c] & IS_JOINT ? -joints[x->form[c] & ~IS_JOINT].speed : 0;
    for (int side = 0; side < 2; side++, H += rows * x->dof) {
        int body = x->body[2 * (int64_t)c + side];
        if (body < 0) continue;
        for (int i = 0; i < rows; i++)
            fill_row(x, x->lever + 6 * (int64_t)c + 3 * side, axis_of(x->form[c], frame, i), side ? 1 : -1,
                     rows, H + i);
        const double *v = x->velocity + (int64_t)body * x->dof;
        for (int j = 0; j < x->dof; j++)
            for (int i = 0; i < rows; i++) b[i] += H[i + rows * j] * v[j];
    }
}

/* What the library asks for, block by block. */
typedef struct tables {
    int *size;
    uint8_t *kind;
    double *mu, *mu_rolling, *mu_spinning, *b, *low, *high, *H;
} tables;

static void tables_free(tables *t) {
    dls_free(t->size);
    dls_free(t->kind);
    double *arrays[] = {t->mu, t->mu_rolling, t->mu_spinning, t->b, t->low, t->high, t->H};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) dls_free(arrays[k]);
}

static bool tables_begin(tables *t, const builder *x) {
    int64_t n = x->contact_count, rows = 0;
    for (int c = 0; c < n; c++) rows += block_rows(x->form[c]);
    *t = (tables){.size = DLS_NEW(int, n),
                  .kind = DLS_NEW(uint8_t, n),
                  .mu = DLS_NEW(double, n),
                  .mu_rolling = DLS_NEW(double, n),
                  .mu_spinning = DLS_NEW(double, n),
                  .b = DLS_NEW(double, rows),
                  .low = DLS_NEW(double, rows),
                  .high = DLS_NEW(double, rows),
                  .H = DLS_NEW_ZERO(double, 2 * rows * x->dof)};
    return t->size && t->kind && t->mu && t->mu_rolling && t->mu_spinning && t->b && t->low && t->high &&
           t->H;
}

static void tables_fill(tables *t, const builder *x) {
    const dls_generate_def *def = x->def;
    const double weight = DENSITY * 4 / 3 * PI * pow(RADIUS, 3) * GRAVITY * STEP;
    int64_t row = 0;
    for (int c = 0; c < x->contact_count; row += t->size[c++]) {
        bool is_joint = x->form[c] & IS_JOINT;
        const joint_row *joint = &joints[is_joint ? x->form[c] & ~IS_JOINT : 0];
        t->size[c] = block_rows(x->form[c]);
        t->kind[c] = is_joint ? DLS_INTERVAL : DLS_CONTACT;
        t->mu[c] = def->mu;
        t->mu_rolling[c] = def->mu_rolling;
        t->mu_spinning[c] = def->mu_spinning;
        for (int i = 0; i < t->size[c]; i++) {
            double unit = is_joint && i >= joint->linear ? RADIUS * weight : weight;
            t->low[row + i] = is_joint ? joint->low * unit : 0;
            t->high[row + i] = is_joint ? joint->high * unit : 0;
        }
        fill_block(x, c, t->H + 2 * row * x->dof, t->b + row);
    }
}

static dls_status finish(builder *x, dls_problem **problem, dls_error *error) {
    tables t;
    dls_status status = tables_begin(&t, x) ? DLS_OK : dls_fail_memory(error);
    dls_problem *free_problem = NULL;
    if (!status) {
        tables_fill(&t, x);
        dls_problem_def def = {.block_count = x->contact_count,
                               .block_size = t.size,
                               .block_kind = t.kind,
                               .block_parts = x->form,
                               .mu = t.mu,
                               .mu_rolling = t.mu_rolling,
                               .mu_spinning = t.mu_spinning,
                               .low = t.low,
                               .high = t.high,
                               .b = t.b};
        dls_bodies bodies = {x->body_count, x->dof, x->inverse_mass, x->body, t.H};
        status = dls_problem_create_bodies(&def, &bodies, &free_problem, error);
    }
    tables_free(&t);
    if (status || x->def->matrix_free) {
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

/* What the block that was added last is, and the share of neighbours that are joined. */
typedef struct sphere_kind {
    void (*form)(builder *x, bool is_joint);
    double joined;
} sphere_kind;

static void form_plain(builder *x, bool is_joint) {
    (void)x;
    (void)is_joint;
}

static void form_rolling(builder *x, bool is_joint) {
    (void)is_joint;
    x->form[x->contact_count - 1] = DLS_PARTS(2, 2, x->def->mu_spinning > 0);
}

static void form_mixed(builder *x, bool is_joint) {
    uint64_t which = dls_random_below(&x->random, is_joint ? JOINTS : LAYOUTS);
    x->form[x->contact_count - 1] = is_joint ? (uint8_t)(IS_JOINT | which) : layouts[which];
}

static void touch_spheres(builder *x, const sphere_kind *kind, int side, int layers, int i, int j, int k) {
    static const int to[6][3] = {{1, 1, 0}, {1, -1, 0}, {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1}};
    int self = sphere_at(side, i, j, k);
    for (int e = 0; e < 6; e++) {
        int p = i + to[e][0], q = j + to[e][1], s = k + to[e][2];
        if (p < 0 || q < 0 || s < 0 || p >= side || q >= side || s >= layers) continue;
        double chance = dls_random_unit(&x->random), direction[3] = {to[e][0], to[e][1], to[e][2]}, normal[3];
        if (chance > KEEP_SPHERES + kind->joined) continue;
        tilted(x, direction, normal);
        touch_round(x, self, sphere_at(side, p, q, s), normal);
        kind->form(x, chance > KEEP_SPHERES);
    }
    const double up[3] = {0, 0, 1};
    if (k != 0) return;
    touch_round(x, -1, self, up);
    kind->form(x, false);
}

static dls_status generate_spheres(const dls_generate_def *def, const sphere_kind *kind,
                                   dls_problem **problem, dls_error *error) {
    const double spacing = sqrt(2) * RADIUS; /* between lattice planes */
    int side = 2, layers = 1;                /* side is even, so that every layer holds the same number */
    while (0.5 * pow(side, 3) * 6 * KEEP_SPHERES < def->size) side += 2;
    while (0.5 * pow(side, 2) * ((6 * KEEP_SPHERES) * layers - 2 * KEEP_SPHERES + 1) < def->size) layers++;
    int bodies = (int)((int64_t)side * side * layers / 2);
    builder x;
    if (!builder_begin(&x, 3, bodies, 6 * bodies + side * side, def)) {
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
                if (sphere_at(side, i, j, k) >= 0) touch_spheres(&x, kind, side, layers, i, j, k);
    dls_status status = finish(&x, problem, error);
    builder_free(&x);
    return status;
}

static dls_status generate_packing(const dls_generate_def *def, dls_problem **problem, dls_error *error) {
    return generate_spheres(def, &(sphere_kind){form_plain, 0}, problem, error);
}

static dls_status generate_rolling(const dls_generate_def *def, dls_problem **problem, dls_error *error) {
    return generate_spheres(def, &(sphere_kind){form_rolling, 0}, problem, error);
}

static dls_status generate_mixed(const dls_generate_def *def, dls_problem **problem, dls_error *error) {
    dls_generate_def own = *def;
    if (own.mu_spinning == 0) own.mu_spinning = 0.5 * own.mu_rolling;
    return generate_spheres(&own, &(sphere_kind){form_mixed, JOINED}, problem, error);
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
    if (!builder_begin(&x, 3, rows * rows, 8 * rows * rows, def)) {
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
    dls_status status = finish(&x, problem, error);
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
    if (!builder_begin(&x, 2, side * side, 3 * side * side + side, def)) {
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
    dls_status status = finish(&x, problem, error);
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
    [DLS_GENERATE_ROLLING] = {"rolling", "the packing with rolling and spinning friction", generate_rolling},
    [DLS_GENERATE_MIXED] = {"mixed", "the packing with contacts of several kinds, joints, stops and motors",
                            generate_mixed},
};

static bool is_generator(dls_generator kind) { return (unsigned)kind < DLS_GENERATORS; }

const char *dls_generator_name(dls_generator kind) { return is_generator(kind) ? generators[kind].name : ""; }
const char *dls_generator_help(dls_generator kind) { return is_generator(kind) ? generators[kind].help : ""; }

dls_generate_def dls_default_generate_def(void) {
    return (dls_generate_def){
        .kind = DLS_GENERATE_PACKING, .size = 1000, .mu = 0.3, .seed = 1, .mu_rolling = 1e-3};
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
    const double mu[] = {def->mu, def->mu_rolling, def->mu_spinning};
    for (int k = 0; k < 3; k++)
        if (!(isfinite(mu[k]) && mu[k] >= 0))
            return dls_fail(error, DLS_ERROR_INPUT, "coefficient of %s friction is %g, expected 0 or more",
                            k == 0   ? "tangential"
                            : k == 1 ? "rolling"
                                     : "spinning",
                            mu[k]);
    return generators[def->kind].generate(def, problem, error);
}

/* Generators: many bodies from few prototypes, the same for the same seed. */
#include "scene/generate.h"

#include "base/error.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

/* ---- what they share ---- */

dls_status dls_crowd_begin(dls_crowd *crowd, dls_reader *reader, const dls_node *map, dls_mixture *mixture,
                           const dls_common_text *common) {
    dls_size_law size;
    *crowd = (dls_crowd){.reader = reader,
                         .map = map,
                         .mixture = mixture,
                         .common = *common,
                         .random = {(uint64_t)fmin(common->seed, 0x1p53)}};
    dls_status status = dls_read_size(reader, common->size, &size);
    return status ? status : dls_mixture_set_sizes(reader, mixture, &size);
}

/* A normal vector in four dimensions has every direction alike, and so has the rotation that it is. */
void dls_rotation_draw(dls_random *random, int dimension, double *q) {
    double length = 0;
    if (dimension == 2) {
        double half = 3.14159265358979323846 * dls_random_unit(random);
        q[0] = cos(half), q[1] = q[2] = 0, q[3] = sin(half);
        return;
    }
    while (!(length > 1e-6)) {
        for (int k = 0; k < 4; k++) q[k] = dls_random_normal(random);
        length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    }
    quat_normalize(q);
}

dls_status dls_crowd_add(dls_crowd *crowd, const double *x, const dls_part *part, double size) {
    double q[4], birth = (double)crowd->count++ * crowd->common.birth_interval;
    bool random = crowd->common.orientation == 1;
    dls_prototype body = part->prototype;
    double speed = crowd->common.speed, *v = body.def.v;
    if (random) dls_rotation_draw(&crowd->random, crowd->reader->dimension, q);
    for (int k = 0; k < crowd->reader->dimension && speed > 0; k++)
        v[k] += dls_random_between(&crowd->random, -speed, speed);
    return dls_prototype_add(crowd->reader, &body, x, random ? q : NULL, size, birth);
}

/* ---- lattice ---- */

typedef struct lattice_text {
    dls_common_text common;
    double origin[3], spacing[3], counts[3], jitter;
} lattice_text;

static void lattice_defaults(void *target) {
    lattice_text *text = target;
    text->common.seed = 1;
}

static const dls_key lattice_keys[] = {
    {DLS_KEY("origin", DLS_KEY_VECTOR, offsetof(lattice_text, origin), "m", "place of the first body", NULL),
     NULL, false, 0},
    {DLS_KEY("spacing", DLS_KEY_VECTOR, offsetof(lattice_text, spacing), "m",
             "from one body to the next along each axis", NULL),
     NULL, true, 0},
    {DLS_KEY("counts", DLS_KEY_VECTOR, offsetof(lattice_text, counts), "", "how many along each axis", NULL),
     NULL, true, 0},
    {DLS_KEY("jitter", DLS_KEY_NOT_NEGATIVE, offsetof(lattice_text, jitter), "m",
             "largest random shift along each axis; may make bodies overlap", NULL),
     NULL, false, 0},
    DLS_COMMON_KEYS(lattice_text),
};

const dls_group dls_group_lattice = {"bodies.lattice",
                                     "a lattice",
                                     "Rows of bodies along the axes, x running fastest.",
                                     DLS_GROUP_KEYS(lattice_keys),
                                     sizeof(lattice_text),
                                     lattice_defaults};

static dls_status check_counts(dls_reader *reader, const dls_node *map, double *counts) {
    if (reader->dimension == 2) counts[2] = 1;
    for (int k = 0; k < 3; k++)
        if (!(counts[k] >= 1) || counts[k] != floor(counts[k]))
            return dls_node_fail(dls_node_find(map, "counts"), reader->error,
                                 "counts has %g, expected whole numbers from 1 up", counts[k]);
    return DLS_OK;
}

static dls_status fill_lattice(dls_crowd *crowd, const lattice_text *text, double total) {
    int64_t nx = (int64_t)text->counts[0], ny = (int64_t)text->counts[1];
    dls_status status = DLS_OK;
    for (int64_t i = 0; i < (int64_t)total && !status; i++) {
        const dls_part *part = dls_crowd_part(crowd, i);
        double x[3], place[3] = {(double)(i % nx), (double)(i / nx % ny), (double)(i / nx / ny)};
        double size = dls_size_draw(&part->size, &crowd->random);
        for (int k = 0; k < 3; k++) {
            x[k] = text->origin[k] + place[k] * text->spacing[k];
            if (text->jitter > 0 && k < crowd->reader->dimension)
                x[k] += dls_random_between(&crowd->random, -text->jitter, text->jitter);
        }
        status = dls_crowd_add(crowd, x, part, size);
    }
    return status;
}

static dls_status generate_lattice(dls_reader *reader, const dls_node *map, dls_mixture *mixture) {
    lattice_text text;
    dls_crowd crowd;
    dls_status status = dls_read_group(reader, map, &dls_group_lattice, 0, NULL, &text);
    if (!status) status = check_counts(reader, map, text.counts);
    if (status) return status;
    double total = text.counts[0] * text.counts[1] * text.counts[2];
    status = dls_crowd_begin(&crowd, reader, map, mixture, &text.common);
    if (!status) status = dls_crowd_plan(&crowd, map, total);
    if (!status) status = fill_lattice(&crowd, &text, total);
    dls_crowd_end(&crowd);
    return status;
}

/* ---- layers ---- */

typedef struct layers_text {
    dls_common_text common;
    const dls_node *region;
    double count, gap, jitter;
} layers_text;

static void layers_defaults(void *target) {
    layers_text *text = target;
    text->common.seed = 1;
    text->gap = 0.1;
    text->jitter = 1;
}

static const dls_key layers_keys[] = {
    {DLS_KEY("region", DLS_KEY_NODE, offsetof(layers_text, region), "", "where they lie", "region"), NULL,
     true, 0},
    {DLS_KEY("count", DLS_KEY_COUNT, offsetof(layers_text, count), "", "how many bodies, from the bottom up",
             NULL),
     NULL, true, 0},
    {DLS_KEY("gap", DLS_KEY_NOT_NEGATIVE, offsetof(layers_text, gap), "",
             "room between two of the largest bodies, in parts of their diameter", NULL),
     NULL, false, 0},
    {DLS_KEY("jitter", DLS_KEY_SHARE, offsetof(layers_text, jitter), "",
             "share of that room that random shifts take; bodies never overlap", NULL),
     NULL, false, 0},
    DLS_COMMON_KEYS(layers_text),
};

const dls_group dls_group_layers = {"bodies.layers",
                                    "layers",
                                    "Staggered layers, filled from the bottom of a region upwards (along y "
                                    "in the plane, z in space): many bodies "
                                    "that are about to fall, at once and without overlaps.",
                                    DLS_GROUP_KEYS(layers_keys),
                                    sizeof(layers_text),
                                    layers_defaults};

/* Rows of a triangular lattice in the plane, square layers on each other's hollows in space: neighbours in a
 * layer and across layers are a apart. */
typedef struct layer_lattice {
    double a, height, first[3];
    int64_t nx, ny, layers;
} layer_lattice;

static layer_lattice plan_layers(const dls_region *region, double radius, double gap) {
    int up = region->dimension - 1;
    layer_lattice l = {.a = 2 * radius * (1 + gap), .ny = 1};
    double inset = l.a / 2; /* a body and its shifts stay inside */
    l.height = up == 1 ? l.a * sqrt(3) / 2 : l.a / sqrt(2);
    double width[3];
    for (int k = 0; k < 3; k++) {
        width[k] = region->high[k] - region->low[k] - 2 * inset;
        l.first[k] = k <= up ? region->low[k] + inset : 0;
    }
    l.nx = width[0] >= 0 ? 1 + (int64_t)fmin(width[0] / l.a, 1e9) : 0;
    if (up == 2) l.ny = width[1] >= 0 ? 1 + (int64_t)fmin(width[1] / l.a, 1e9) : 0;
    l.layers = width[up] >= 0 ? 1 + (int64_t)fmin(width[up] / l.height, 1e9) : 0;
    return l;
}

static dls_status fill_layers(dls_crowd *crowd, const layers_text *text, const dls_region *region) {
    double radius = dls_mixture_radius(crowd->mixture);
    layer_lattice l = plan_layers(region, radius, text->gap);
    int up = region->dimension - 1;
    double shift = text->jitter * radius * text->gap, wanted = text->count;
    double places = 1e8 + 10 * wanted; /* enough for all but the absurd: grains of sand in a hall */
    dls_status status = DLS_OK;
    for (int64_t k = 0; k < l.layers && (double)crowd->count < wanted; k++)
        for (int64_t i = 0; i < l.nx * l.ny && (double)crowd->count < wanted && !status && places > 0; i++) {
            places--;
            double odd = k % 2 ? l.a / 2 : 0;
            double x[3] = {l.first[0] + (double)(i % l.nx) * l.a + odd,
                           l.first[1] + (double)(i / l.nx) * l.a + odd, 0};
            x[up] = l.first[up] + (double)k * l.height;
            if (!dls_region_holds(region, x, l.a / 2 * (1 - 1e-12))) continue;
            const dls_part *part = dls_crowd_part(crowd, crowd->count);
            double size = dls_size_draw(&part->size, &crowd->random), d[3] = {0}, length = 2;
            while (!(length <= 1)) { /* a shift in the ball */
                for (int m = 0; m <= up; m++) d[m] = dls_random_between(&crowd->random, -1, 1);
                length = vec_norm(d);
            }
            vec_along(x, x, shift, d);
            status = dls_crowd_add(crowd, x, part, size);
        }
    if (!status && (double)crowd->count < wanted)
        return dls_node_fail(text->region, crowd->reader->error,
                             "the region holds %lld bodies of radius %g m in layers, expected room for %.12g",
                             (long long)crowd->count, radius, wanted);
    return status;
}

static dls_status plan_and_fill(dls_crowd *crowd, const layers_text *text, const dls_region *region) {
    dls_status status = dls_crowd_plan(crowd, crowd->map, text->count);
    if (status) return status;
    double room = dls_region_volume(region), radius = dls_mixture_radius(crowd->mixture);
    if (text->count * pow(radius, region->dimension) > room) /* a cube of half the side holds no more */
        return dls_node_fail(text->region, crowd->reader->error,
                             "%.12g bodies of radius %g m in a region of %g m%s, expected a larger region",
                             text->count, radius, room, region->dimension == 2 ? "²" : "³");
    return fill_layers(crowd, text, region);
}

static dls_status generate_layers(dls_reader *reader, const dls_node *map, dls_mixture *mixture) {
    layers_text text;
    dls_region region;
    dls_crowd crowd;
    dls_status status = dls_read_group(reader, map, &dls_group_layers, 0, NULL, &text);
    if (!status) status = dls_read_region(reader, text.region, true, &region);
    if (status) return status;
    status = dls_crowd_begin(&crowd, reader, map, mixture, &text.common);
    if (!status) status = plan_and_fill(&crowd, &text, &region);
    dls_crowd_end(&crowd);
    return status;
}

/* ---- pyramid and wall ---- */

typedef struct courses_text {
    dls_common_text common;
    double origin[3], base, length, height, gap;
    int bond;
} courses_text;

static void courses_defaults(void *target) {
    courses_text *text = target;
    text->common.seed = 1;
}

#define COURSE_KEYS                                                                                          \
    {DLS_KEY("origin", DLS_KEY_VECTOR, offsetof(courses_text, origin), "m",                                  \
             "middle of the bottom, where the lowest course stands", NULL),                                  \
     NULL, false, 0},                                                                                        \
        {DLS_KEY("gap", DLS_KEY_NOT_NEGATIVE, offsetof(courses_text, gap), "m",                              \
                 "between neighbours and courses", NULL),                                                    \
         NULL, false, 0},                                                                                    \
        DLS_COMMON_KEYS(courses_text)

static const dls_key pyramid_keys[] = {
    {DLS_KEY("base", DLS_KEY_COUNT, offsetof(courses_text, base), "",
             "bodies along a side of the lowest course; each course has one less", NULL),
     NULL, true, 0},
    COURSE_KEYS,
};

static const dls_key wall_keys[] = {
    {DLS_KEY("length", DLS_KEY_COUNT, offsetof(courses_text, length), "",
             "bodies along the lowest course, along x", NULL),
     NULL, true, 0},
    {DLS_KEY("height", DLS_KEY_COUNT, offsetof(courses_text, height), "", "courses", NULL), NULL, true, 0},
    {DLS_KEY("bond", DLS_KEY_CHOICE, offsetof(courses_text, bond), "",
             "running: every second course is shifted by half a body and has one less", "running|stacked"),
     NULL, false, 0},
    COURSE_KEYS,
};

const dls_group dls_group_pyramid = {"bodies.pyramid",
                                     "a pyramid",
                                     "Courses of bodies, each with one less along its sides than the one "
                                     "below: lines in the plane, squares in "
                                     "space. Bodies stand as far apart as the boxes around them.",
                                     DLS_GROUP_KEYS(pyramid_keys),
                                     sizeof(courses_text),
                                     courses_defaults};

const dls_group dls_group_wall = {
    "bodies.wall",
    "a wall",
    "Courses of bodies along x, with bodies as far apart as the boxes around them.",
    DLS_GROUP_KEYS(wall_keys),
    sizeof(courses_text),
    courses_defaults};

/* A course of nx × ny bodies, its middle over the origin. */
static dls_status add_course(dls_crowd *crowd, const courses_text *text, int64_t course, int64_t nx,
                             int64_t ny) {
    const dls_prototype *p = &crowd->mixture->parts->prototype;
    double size = crowd->mixture->parts->size.low, pitch[3], middle[3];
    int up = crowd->reader->dimension - 1;
    for (int k = 0; k < 3; k++) {
        pitch[k] = size * (p->high[k] - p->low[k]) + text->gap;
        middle[k] = size * (p->high[k] + p->low[k]) / 2;
    }
    dls_status status = DLS_OK;
    for (int64_t i = 0; i < nx * ny && !status; i++) {
        double x[3] = {text->origin[0] + ((double)(i % nx) - (double)(nx - 1) / 2) * pitch[0] - middle[0],
                       text->origin[1] + ((double)(i / nx) - (double)(ny - 1) / 2) * pitch[1] - middle[1], 0};
        x[up] = text->origin[up] + (double)course * pitch[up] - size * p->low[up];
        const dls_part *part = dls_crowd_part(crowd, crowd->count);
        status = dls_crowd_add(crowd, x, part, size);
    }
    return status;
}

/* Parts of a mixture stand in each other's places. */
static bool parts_are_alike(const dls_mixture *mixture) {
    const dls_part *first = mixture->parts;
    double length = first->size.low * first->prototype.radius;
    for (int k = 0; k < mixture->count; k++) {
        const dls_part *part = &mixture->parts[k];
        if (part->size.kind != DLS_SIZE_CONSTANT) return false;
        for (int i = 0; i < 3; i++)
            if (fabs(part->size.low * part->prototype.low[i] - first->size.low * first->prototype.low[i]) >
                    1e-9 * length ||
                fabs(part->size.low * part->prototype.high[i] - first->size.low * first->prototype.high[i]) >
                    1e-9 * length)
                return false;
    }
    return true;
}

static dls_status begin_courses(dls_crowd *crowd, dls_reader *reader, const dls_node *map,
                                dls_mixture *mixture, const courses_text *text, double total) {
    dls_status status = dls_crowd_begin(crowd, reader, map, mixture, &text->common);
    if (status) return status;
    if (!parts_are_alike(mixture) || text->common.orientation == 1)
        return dls_node_fail(map, reader->error,
                             "courses of bodies that differ, expected one size and orientation");
    return dls_crowd_plan(crowd, map, total);
}

static dls_status generate_pyramid(dls_reader *reader, const dls_node *map, dls_mixture *mixture) {
    courses_text text;
    dls_crowd crowd;
    dls_status status = dls_read_group(reader, map, &dls_group_pyramid, 0, NULL, &text);
    if (status) return status;
    double n = text.base;
    bool planar = reader->dimension == 2;
    double total = planar ? n * (n + 1) / 2 : n * (n + 1) * (2 * n + 1) / 6;
    status = begin_courses(&crowd, reader, map, mixture, &text, total);
    for (int64_t course = 0; !status && (double)course < n; course++) {
        int64_t side = (int64_t)n - course;
        status = add_course(&crowd, &text, course, side, planar ? 1 : side);
    }
    dls_crowd_end(&crowd);
    return status;
}

static dls_status generate_wall(dls_reader *reader, const dls_node *map, dls_mixture *mixture) {
    courses_text text;
    dls_crowd crowd;
    dls_status status = dls_read_group(reader, map, &dls_group_wall, 0, NULL, &text);
    if (status) return status;
    bool running = text.bond == 0;
    if (running && text.length < 2)
        return dls_node_fail(map, reader->error, "length is 1 in a running bond, expected 2 or more");
    double total = text.length * text.height - (running ? floor(text.height / 2) : 0);
    status = begin_courses(&crowd, reader, map, mixture, &text, total);
    for (int64_t course = 0; !status && (double)course < text.height; course++)
        status = add_course(&crowd, &text, course, (int64_t)text.length - (running && course % 2), 1);
    dls_crowd_end(&crowd);
    return status;
}

/* ---- the table ---- */

static const dls_scene_generator generators[] = {
    {"lattice", generate_lattice, DLS_USE_GENERATED | DLS_USE_PLACED},
    {"packing", dls_generate_packing, DLS_USE_GENERATED},
    {"layers", generate_layers, DLS_USE_GENERATED},
    {"pyramid", generate_pyramid, DLS_USE_GENERATED},
    {"wall", generate_wall, DLS_USE_GENERATED},
    {"links", dls_generate_links, DLS_USE_GENERATED | DLS_USE_PLACED},
};

const dls_scene_generator *dls_generator_find(const char *key) {
    for (size_t i = 0; i < sizeof generators / sizeof *generators; i++)
        if (!strcmp(generators[i].key, key)) return &generators[i];
    return NULL;
}

dls_status dls_read_generator(dls_reader *reader, const dls_node *item, const dls_node *map,
                              const dls_scene_generator *generator) {
    for (const dls_node *child = item->first; child; child = child->next)
        if (child != map && strcmp(child->key, "body") != 0 && strcmp(child->key, "mixture") != 0)
            return dls_node_fail(child, reader->error,
                                 "key '%.60s' beside '%s', expected 'body' or 'mixture' only", child->key,
                                 map->key);
    dls_mixture mixture;
    dls_status status = dls_mixture_read(reader, item, map->key, generator->use, &mixture);
    return status ? status : generator->generate(reader, map, &mixture);
}

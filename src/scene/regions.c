/* Sizes and regions of generators. */
#include "scene/generate.h"

#include "base/error.h"
#include "base/vector.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- sizes ---- */

typedef struct size_text {
    const dls_node *uniform, *normal, *table;
} size_text;

static const dls_key size_keys[] = {
    {DLS_KEY("uniform", DLS_KEY_NODE, offsetof(size_text, uniform), "", "low and high, all between as likely",
             "[low, high]"),
     "none", false, 0},
    {DLS_KEY("normal", DLS_KEY_NODE, offsetof(size_text, normal), "",
             "a normal distribution, cut at both ends", "map"),
     "none", false, 0},
    {DLS_KEY("table", DLS_KEY_NODE, offsetof(size_text, table), "", "given sizes with their shares", "map"),
     "none", false, 0},
};

const dls_group dls_group_size = {"size",
                                  "a size",
                                  "A size is a number or one of these. It multiplies all lengths of the "
                                  "prototype; masses that are given go "
                                  "with its cube (square in the plane).",
                                  DLS_GROUP_KEYS(size_keys),
                                  sizeof(size_text),
                                  NULL};

typedef struct normal_text {
    double mean, deviation, low, high;
} normal_text;

static const dls_key normal_keys[] = {
    {DLS_KEY("mean", DLS_KEY_POSITIVE, offsetof(normal_text, mean), "", "mean before cutting", NULL), NULL,
     true, 0},
    {DLS_KEY("deviation", DLS_KEY_POSITIVE, offsetof(normal_text, deviation), "",
             "standard deviation before cutting", NULL),
     NULL, true, 0},
    {DLS_KEY("low", DLS_KEY_POSITIVE, offsetof(normal_text, low), "", "none is smaller", NULL), NULL, true,
     0},
    {DLS_KEY("high", DLS_KEY_POSITIVE, offsetof(normal_text, high), "", "none is larger", NULL), NULL, true,
     0},
};

const dls_group dls_group_normal = {
    "size.normal", "a normal distribution", "", DLS_GROUP_KEYS(normal_keys), sizeof(normal_text), NULL};

typedef struct size_table_text {
    const dls_node *size, *share;
} size_table_text;

static const dls_key size_table_keys[] = {
    {DLS_KEY("size", DLS_KEY_NODE, offsetof(size_table_text, size), "", "the sizes", "list of numbers"), NULL,
     true, 0},
    {DLS_KEY("share", DLS_KEY_NODE, offsetof(size_table_text, share), "",
             "how many bodies have each, in parts of any sum", "list of numbers"),
     NULL, true, 0},
};

const dls_group dls_group_size_table = {
    "size.table", "a table of sizes", "", DLS_GROUP_KEYS(size_table_keys), sizeof(size_table_text), NULL};

static dls_status read_uniform(dls_reader *reader, const dls_node *node, dls_size_law *law) {
    double ends[2];
    dls_status status = dls_read_numbers(reader, node, "uniform", 2, 2, ends, NULL);
    if (status) return status;
    if (!(ends[0] > 0 && ends[1] >= ends[0]))
        return dls_node_fail(node, reader->error, "uniform is [%g, %g], expected 0 < low ≤ high", ends[0],
                             ends[1]);
    *law = (dls_size_law){.kind = DLS_SIZE_UNIFORM, .low = ends[0], .high = ends[1]};
    return DLS_OK;
}

static dls_status read_normal(dls_reader *reader, const dls_node *node, dls_size_law *law) {
    normal_text text;
    dls_status status = dls_read_group(reader, node, &dls_group_normal, 0, NULL, &text);
    if (status) return status;
    /* a range far from the mean would be hit by one draw in thousands */
    if (!(text.high > text.low && text.low < text.mean + 3 * text.deviation &&
          text.high > text.mean - 3 * text.deviation && text.high - text.low > 1e-3 * text.deviation))
        return dls_node_fail(node, reader->error,
                             "low is %g and high %g, expected low < high around the mean %g ± 3 · %g",
                             text.low, text.high, text.mean, text.deviation);
    *law = (dls_size_law){.kind = DLS_SIZE_NORMAL,
                          .low = text.low,
                          .high = text.high,
                          .mean = text.mean,
                          .deviation = text.deviation};
    return DLS_OK;
}

static dls_status read_size_table(dls_reader *reader, const dls_node *node, dls_size_law *law) {
    size_table_text text;
    const double *share;
    int share_count;
    dls_status status = dls_read_group(reader, node, &dls_group_size_table, 0, NULL, &text);
    *law = (dls_size_law){.kind = DLS_SIZE_TABLE, .low = INFINITY};
    if (!status) status = dls_read_list(reader, text.size, "size", &law->size, &law->count);
    if (!status) status = dls_read_list(reader, text.share, "share", &share, &share_count);
    if (status) return status;
    if (share_count != law->count)
        return dls_node_fail(node, reader->error, "%d sizes and %d shares, expected as many of both",
                             law->count, share_count);
    law->until = dls_arena_take(reader->arena, (size_t)law->count, sizeof(double));
    if (!law->until) return dls_fail_memory(reader->error);
    double sum = 0;
    for (int k = 0; k < law->count; k++) {
        if (!(law->size[k] > 0) || !(share[k] >= 0))
            return dls_node_fail(node, reader->error,
                                 "size %g with share %g, expected sizes above 0 and shares of at least 0",
                                 law->size[k], share[k]);
        law->low = fmin(law->low, law->size[k]);
        law->high = fmax(law->high, law->size[k]);
        law->until[k] = sum += share[k];
    }
    if (!(sum > 0 && isfinite(sum)))
        return dls_node_fail(node, reader->error, "shares add up to %g, expected a sum above 0", sum);
    for (int k = 0; k < law->count; k++) law->until[k] /= sum;
    return DLS_OK;
}

dls_status dls_read_size(dls_reader *reader, const dls_node *node, dls_size_law *law) {
    *law = (dls_size_law){.low = 1, .high = 1};
    if (!node) return DLS_OK;
    if (node->kind == DLS_NODE_SCALAR) {
        double value;
        dls_status status =
            dls_read_number(reader, node, "size", "a number above 0 or a distribution", &value);
        if (status) return status;
        if (!(value > 0))
            return dls_node_fail(node, reader->error, "size is %g, expected a number above 0", value);
        law->low = law->high = value;
        return DLS_OK;
    }
    size_text text;
    dls_status status = dls_read_group(reader, node, &dls_group_size, 0, NULL, &text);
    if (status) return status;
    if (!!text.uniform + !!text.normal + !!text.table != 1)
        return dls_node_fail(node, reader->error, "a size with %d distributions, expected one", node->count);
    if (text.uniform) return read_uniform(reader, text.uniform, law);
    return text.normal ? read_normal(reader, text.normal, law) : read_size_table(reader, text.table, law);
}

double dls_size_draw(const dls_size_law *law, dls_random *random) {
    assert(law->low > 0 && law->low <= law->high);
    if (law->kind == DLS_SIZE_UNIFORM) return dls_random_between(random, law->low, law->high);
    if (law->kind == DLS_SIZE_NORMAL) {
        for (int tries = 0; tries < 10000; tries++) {
            double size = law->mean + law->deviation * dls_random_normal(random);
            if (size >= law->low && size <= law->high) return size;
        }
        return fmin(fmax(law->mean, law->low), law->high);
    }
    if (law->kind == DLS_SIZE_TABLE) {
        double share = dls_random_unit(random);
        for (int k = 0; k < law->count; k++)
            if (share < law->until[k]) return law->size[k];
        return law->size[law->count - 1];
    }
    return law->low;
}

double dls_size_power_mean(const dls_size_law *law, int d) {
    dls_random random = {1};
    double sum = 0;
    for (int k = 0; k < 1000; k++) sum += pow(dls_size_draw(law, &random), d);
    return sum / 1000;
}

/* ---- regions ---- */

typedef struct region_text {
    const dls_node *kind;
    double low[3], high[3], centre[3], radius, length, point[3], normal[3];
} region_text;

enum { BOX = 1, DISC = 2, CYLINDER = 4, BALL = 8, HALF = 16 };
#define AT(member) offsetof(region_text, member)

static const dls_key region_keys[] = {
    {DLS_KEY(
         "kind", DLS_KEY_NODE, AT(kind), "",
         "box in both; disc and half-plane in the plane; cylinder (along z), ball and half-space in space",
         "box|disc|half-plane|cylinder|ball|half-space"),
     NULL, true, 0},
    {DLS_KEY("low", DLS_KEY_VECTOR, AT(low), "m", "corner of a box with the smallest coordinates", NULL),
     NULL, true, BOX},
    {DLS_KEY("high", DLS_KEY_VECTOR, AT(high), "m", "the opposite corner", NULL), NULL, true, BOX},
    {DLS_KEY("centre", DLS_KEY_VECTOR, AT(centre), "m", "of a disc, cylinder or ball", NULL), NULL, false,
     DISC | CYLINDER | BALL},
    {DLS_KEY("radius", DLS_KEY_POSITIVE, AT(radius), "m", "of a disc, cylinder or ball", NULL), NULL, true,
     DISC | CYLINDER | BALL},
    {DLS_KEY("length", DLS_KEY_POSITIVE, AT(length), "m", "of a cylinder", NULL), NULL, true, CYLINDER},
    {DLS_KEY("point", DLS_KEY_VECTOR, AT(point), "m", "of the border of a half-plane or half-space", NULL),
     NULL, false, HALF},
    {DLS_KEY("normal", DLS_KEY_VECTOR, AT(normal), "", "out of a half-plane or half-space, any length", NULL),
     "up: y in the plane, z in space", false, HALF},
};

const dls_group dls_group_region = {"region",
                                    "a region",
                                    "In world coordinates. Bodies of a packing, of layers or of an inlet "
                                    "lie inside, with the balls that hold them; removals ask for mass "
                                    "centres. A box that spans the periodic box in a direction has no "
                                    "walls there. Half-planes and half-spaces are for removals alone.",
                                    DLS_GROUP_KEYS(region_keys),
                                    sizeof(region_text),
                                    NULL};

typedef struct region_kind {
    const char *name;
    uint32_t keys; /* its bit in the table above */
    bool planar, spatial;
    int across;
} region_kind;

static const region_kind region_kinds[] = {
    {"box", BOX, true, true, 0},
    {"disc", DISC, true, false, 2},
    {"cylinder", CYLINDER, false, true, 2},
    {"ball", BALL, false, true, 3},
    {"half-plane", HALF, true, false, 0},
    {"half-space", HALF, false, true, 0},
};
enum { REGION_KINDS = sizeof region_kinds / sizeof *region_kinds };

static bool kind_fits(const dls_reader *reader, const region_kind *kind, bool bounded) {
    return (reader->dimension == 2 ? kind->planar : kind->spatial) && !(bounded && kind->keys == HALF);
}

/* NULL after a message. */
static const region_kind *read_region_kind(dls_reader *reader, const dls_node *map, bool bounded) {
    const char *names[REGION_KINDS];
    char known[80] = "";
    const dls_node *node = dls_node_find(map, "kind");
    if (!node || node->kind != DLS_NODE_SCALAR) return region_kinds; /* the table says what is missing */
    for (int k = 0; k < REGION_KINDS; k++) {
        names[k] = region_kinds[k].name;
        if (!kind_fits(reader, &region_kinds[k], bounded)) continue;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? " or " : "", names[k]);
    }
    int place = dls_read_name(reader, node, node->text, "kind of region", REGION_KINDS, names);
    if (place < 0) return NULL;
    const region_kind *kind = &region_kinds[place];
    if (kind_fits(reader, kind, bounded)) return kind;
    dls_node_fail(node, reader->error, "a %s in a scene of dimension %d, expected %s", node->text,
                  reader->dimension, known);
    return NULL;
}

static void mark_periodic(const dls_reader *reader, dls_region *region) {
    for (int k = 0; k < region->dimension; k++) {
        double size = reader->period_size[k], length = region->high[k] - region->low[k];
        region->periodic[k] = region->across == 0 && size > 0 && fabs(length - size) <= 1e-9 * size;
    }
}

static dls_status make_half(dls_reader *reader, const dls_node *map, const region_text *text,
                            dls_region *region) {
    vec_copy(region->centre, text->point);
    vec_copy(region->normal, text->normal);
    if (!dls_node_find(map, "normal")) region->normal[reader->dimension - 1] = 1;
    double length = vec_norm(region->normal);
    if (!(length > 1e-100 && length < 1e100))
        return dls_node_fail(map, reader->error, "normal has length %g, expected a direction", length);
    vec_scale(region->normal, 1 / length, region->normal);
    return DLS_OK;
}

dls_status dls_read_region(dls_reader *reader, const dls_node *map, bool bounded, dls_region *region) {
    region_text text;
    const region_kind *kind = read_region_kind(reader, map, bounded);
    if (!kind) return DLS_ERROR_INPUT;
    dls_status status = dls_read_group(reader, map, &dls_group_region, kind->keys, NULL, &text);
    if (status) return status;
    *region = (dls_region){.dimension = reader->dimension, .across = kind->across, .radius = text.radius};
    if (kind->keys == HALF) return make_half(reader, map, &text, region);
    vec_copy(region->centre, text.centre);
    vec_copy(region->low, text.low);
    vec_copy(region->high, text.high);
    for (int k = 0; k < reader->dimension; k++) {
        if (kind->across == 0) {
            if (!(text.high[k] > text.low[k]))
                return dls_node_fail(map, reader->error, "a region from %g to %g, expected low below high",
                                     text.low[k], text.high[k]);
            continue;
        }
        double half = k < kind->across ? text.radius : text.length / 2;
        region->low[k] = text.centre[k] - half;
        region->high[k] = text.centre[k] + half;
    }
    mark_periodic(reader, region);
    return DLS_OK;
}

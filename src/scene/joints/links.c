/* Joints in numbers: links along a curve, and neighbours among generated bodies. */
#include "scene/generate.h"
#include "scene/joints/joints.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- links: bodies along a curve ---- */

typedef struct links_text {
    const dls_node *points, *joint, *ends;
    double count;
    bool closed;
} links_text;

static const dls_key links_keys[] = {
    {DLS_KEY("points", DLS_KEY_NODE, offsetof(links_text, points), "m",
             "the curve: straight lines between these", "list of vectors"),
     NULL, true, 0},
    {DLS_KEY("count", DLS_KEY_COUNT, offsetof(links_text, count), "", "how many bodies", NULL), NULL, true,
     0},
    {DLS_KEY("closed", DLS_KEY_FLAG, offsetof(links_text, closed), "",
             "the last point joins the first: a ring", NULL),
     NULL, false, 0},
    {DLS_KEY("joint", DLS_KEY_NODE, offsetof(links_text, joint), "",
             "between neighbours: a joint without bodies and place; a name gets a number behind it", "joint"),
     NULL, true, 0},
    {DLS_KEY("ends", DLS_KEY_NODE, offsetof(links_text, ends), "",
             "what such joints hold the first and the last body to: names, ground, or none", "[name, name]"),
     "[none, none]", false, 0},
};

const dls_group dls_group_links = {
    "bodies.links",
    "links",
    "Bodies along a curve with joints between neighbours: chains, ropes, bridges. The curve is cut into as "
    "many parts as there are bodies, equally long along it; each body stands in the middle of its part with "
    "the x axis of its frame along it, and joints are where parts meet. Joints with two ends, distances and "
    "springs, go from one body's origin to the next.",
    DLS_GROUP_KEYS(links_keys),
    sizeof(links_text),
    NULL};

static dls_status read_curve(dls_reader *reader, const dls_node *list, bool closed, double **points,
                             int *count) {
    if (list->kind != DLS_NODE_LIST || list->count < 2)
        return dls_node_fail(list, reader->error, "points is %s, expected a list of two or more vectors",
                             list->kind == DLS_NODE_LIST ? "a short list" : dls_node_noun(list));
    *count = list->count + closed;
    *points = dls_arena_take(reader->arena, 3 * (size_t)*count, sizeof(double));
    if (!*points) return dls_fail_memory(reader->error);
    double *at = *points;
    for (const dls_node *child = list->first; child; child = child->next, at += 3) {
        dls_status status = dls_read_vector(reader, child, "a point", at);
        if (status) return status;
    }
    if (closed) vec_copy(at, *points);
    return DLS_OK;
}

/* Places at equal ways along the curve, both ends included. */
static dls_status cut_curve(dls_reader *reader, const dls_node *list, const double *points, int point_count,
                            int count, double *stations) {
    double length = 0, done = 0;
    for (int k = 1; k < point_count; k++) length += vec_distance(points + 3 * k - 3, points + 3 * k);
    if (!(length > 0 && isfinite(length)))
        return dls_node_fail(list, reader->error, "a curve of length %g, expected one above 0", length);
    int side = 1;
    for (int i = 0; i <= count; i++) {
        double way = length * i / count, part = 0;
        for (; side < point_count; side++) {
            part = vec_distance(points + 3 * side - 3, points + 3 * side);
            if (done + part >= way || side == point_count - 1) break;
            done += part;
        }
        double share = part > 0 ? fmin(fmax((way - done) / part, 0), 1) : 0;
        for (int k = 0; k < 3; k++)
            stations[3 * i + k] = (1 - share) * points[3 * side - 3 + k] + share * points[3 * side + k];
    }
    return DLS_OK;
}

/* The least rotation that takes x to a direction. */
static void turn_to(const double *direction, double *q) {
    static const double x[3] = {1, 0, 0};
    double axis[3];
    vec_cross(axis, x, direction);
    double sine = vec_norm(axis), angle = atan2(sine, direction[0]);
    if (sine > 0)
        vec_scale(axis, angle / sine, axis);
    else
        vec_set(axis, 0, 0, angle);
    quat_exponential(q, axis);
    quat_normalize(q);
}

static dls_status add_links(dls_crowd *crowd, dls_links *links) {
    for (int i = 0; i < links->count; i++) {
        const double *from = links->stations + 3 * i, *to = from + 3;
        double middle[3], along[3], q[4];
        for (int k = 0; k < 3; k++) middle[k] = 0.5 * (from[k] + to[k]), along[k] = to[k] - from[k];
        double length = vec_norm(along);
        if (!(length > 0))
            return dls_node_fail(crowd->map, crowd->reader->error,
                                 "a link of length 0, expected a curve that does not turn back on itself");
        vec_scale(along, 1 / length, along);
        turn_to(along, q);
        dls_prototype body = dls_crowd_part(crowd, i)->prototype;
        dls_status status = dls_prototype_add(crowd->reader, &body, middle, q, 1, 0);
        if (status) return status;
    }
    return DLS_OK;
}

static dls_status check_ends(dls_reader *reader, const links_text *text) {
    const dls_node *ends = text->ends;
    if (!ends) return DLS_OK;
    if (ends->kind != DLS_NODE_LIST || ends->count != 2)
        return dls_node_fail(ends, reader->error, "ends is %s, expected two names: [ground, none]",
                             ends->kind == DLS_NODE_LIST ? "a list of another length" : dls_node_noun(ends));
    if (text->closed)
        return dls_node_fail(ends, reader->error, "ends of a closed curve, expected one of them");
    return DLS_OK;
}

dls_status dls_generate_links(dls_reader *reader, const dls_node *map, dls_mixture *mixture) {
    links_text text;
    dls_common_text common = {.seed = 1};
    dls_crowd crowd;
    double *points;
    int point_count = 0;
    dls_status status = dls_read_group(reader, map, &dls_group_links, 0, NULL, &text);
    if (!status) status = check_ends(reader, &text);
    if (!status) status = read_curve(reader, text.points, text.closed, &points, &point_count);
    if (status) return status;
    if (text.joint->kind != DLS_NODE_MAP)
        return dls_node_fail(text.joint, reader->error, "joint is %s, expected a map like {kind: spherical}",
                             dls_node_noun(text.joint));
    status = dls_crowd_begin(&crowd, reader, map, mixture, &common);
    if (!status) status = dls_crowd_plan(&crowd, map, text.count);
    dls_links *links = status ? NULL : dls_arena_take(reader->arena, 1, sizeof *links);
    double *stations =
        links ? dls_arena_take(reader->arena, 3 * ((size_t)text.count + 1), sizeof(double)) : NULL;
    if (!status && !stations) status = dls_fail_memory(reader->error);
    if (!status) {
        *links = (dls_links){.joint = text.joint,
                             .ends = text.ends,
                             .first = dls_world_body_count(reader->world),
                             .count = (int)text.count,
                             .closed = text.closed,
                             .stations = stations};
        status = cut_curve(reader, text.points, points, point_count, links->count, stations);
    }
    if (!status) status = add_links(&crowd, links);
    dls_crowd_end(&crowd);
    if (status) return status;
    dls_links **last = &reader->links;
    while (*last) last = &(*last)->next;
    *last = links;
    return DLS_OK;
}

/* ---- joints of links, once all bodies are there ---- */

static dls_status refuse_keys(dls_reader *reader, const dls_node *map, const char *const *keys) {
    for (; *keys; keys++) {
        const dls_node *node = dls_node_find(map, *keys);
        if (node)
            return dls_node_fail(
                node, reader->error,
                "'%s' of joints that are made in numbers, expected none: their bodies say it", *keys);
    }
    return DLS_OK;
}

static void name_joint(const dls_node *map, int number, dls_joint_given *given) {
    const dls_node *name = dls_node_find(map, "name");
    given->name[0] = '\0';
    if (name && name->kind == DLS_NODE_SCALAR && *name->text)
        snprintf(given->name, sizeof given->name, "%.100s-%d", name->text, number);
}

/* Between a and b at a place; −1 is the ground, whose end is that place. */
static dls_status join(dls_reader *reader, const dls_node *map, dls_body_id a, dls_body_id b,
                       const double *place, int number) {
    dls_joint_given given = {.is_given = true, .body = {a, b}};
    vec_copy(given.middle, place);
    for (int k = 0; k < 2; k++) {
        dls_pose pose;
        vec_copy(given.point[k], place);
        if (given.body[k] < 0) continue;
        dls_status status = dls_body_pose_get(reader->world, given.body[k], &pose, reader->error);
        if (status) return status;
        vec_copy(given.point[k], pose.x);
    }
    vec_sub(given.along, given.point[1], given.point[0]);
    double length = vec_norm(given.along);
    if (length > 0)
        vec_scale(given.along, 1 / length, given.along);
    else
        vec_set(given.along, 1, 0, 0);
    name_joint(map, number, &given);
    return dls_read_joint(reader, map, &given);
}

static dls_status join_end(dls_reader *reader, const dls_links *links, int end, int *number) {
    const dls_node *node = end ? links->ends->last : links->ends->first;
    const double *place = links->stations + (end ? 3 * links->count : 0);
    dls_body_id other = DLS_GROUND, own = links->first + (end ? links->count - 1 : 0);
    if (node->kind == DLS_NODE_SCALAR && !strcmp(node->text, "none")) return DLS_OK;
    dls_status status = dls_read_body_name(reader, node, &other);
    if (status) return status;
    return join(reader, links->joint, end ? own : other, end ? other : own, place, (*number)++);
}

static dls_status join_chain(dls_reader *reader, const dls_links *links) {
    static const char *const taken[] = {"bodies", "at", "neighbours", NULL};
    int number = 0;
    dls_status status = refuse_keys(reader, links->joint, taken);
    if (!status && links->ends) status = join_end(reader, links, 0, &number);
    for (int i = 1; i < links->count && !status; i++)
        status = join(reader, links->joint, links->first + i - 1, links->first + i, links->stations + 3 * i,
                      number++);
    if (!status && links->ends) status = join_end(reader, links, 1, &number);
    if (!status && links->closed && links->count > 2)
        status = join(reader, links->joint, links->first + links->count - 1, links->first, links->stations,
                      number++);
    return status;
}

dls_status dls_join_links(dls_reader *reader) {
    dls_status status = DLS_OK;
    for (const dls_links *links = reader->links; links && !status; links = links->next)
        status = join_chain(reader, links);
    return status;
}

/* ---- neighbours ---- */

typedef struct neighbours_text {
    const char *of;
    double within;
} neighbours_text;

static const dls_key neighbours_keys[] = {
    {DLS_KEY("of", DLS_KEY_TEXT, offsetof(neighbours_text, of), "",
             "name of the generated bodies, without their number", NULL),
     NULL, true, 0},
    {DLS_KEY("within", DLS_KEY_POSITIVE, offsetof(neighbours_text, within), "m",
             "those whose frames are no farther apart at the start are joined", NULL),
     NULL, true, 0},
};

const dls_group dls_group_neighbours = {
    "joints.neighbours",
    "neighbours",
    "Instead of `bodies`: a joint between every two bodies of one name that are near each other at the "
    "start, half-way between their origins, or from one origin to the other where the kind has two ends. A "
    "lattice with distances between neighbours is a net. Their `name` gets a number behind it.",
    DLS_GROUP_KEYS(neighbours_keys),
    sizeof(neighbours_text),
    NULL};

/* More pairs than this for each body are no neighbours but a slip in `within`. */
enum { MOST_NEIGHBOURS = 64 };

typedef struct knot {
    dls_body_id id;
    double x[3];
} knot;

typedef struct pair {
    dls_body_id a, b;
    double middle[3];
} pair;

static bool is_of(const char *name, const char *family) {
    size_t length = strlen(family);
    if (strncmp(name, family, length) != 0 || name[length] != '-' || !name[length + 1]) return false;
    for (const char *at = name + length + 1; *at; at++)
        if (!isdigit((unsigned char)*at)) return false;
    return true;
}

static int by_place(const void *a, const void *b) {
    const knot *x = a, *y = b;
    if (x->x[0] != y->x[0]) return x->x[0] < y->x[0] ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_ids(const void *a, const void *b) {
    const pair *x = a, *y = b;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static dls_status find_knots(dls_reader *reader, const char *family, knot **knots, int *count) {
    int64_t room = 0;
    for (int id = 0; id < dls_world_body_count(reader->world); id++) {
        dls_pose pose;
        if (!is_of(dls_body_name(reader->world, id), family)) continue;
        if (!dls_grow(knots, *count, &room, *count + 1, sizeof **knots))
            return dls_fail_memory(reader->error);
        dls_status status = dls_body_pose_get(reader->world, id, &pose, reader->error);
        if (status) return status;
        (*knots)[*count].id = id;
        vec_copy((*knots)[(*count)++].x, pose.x);
    }
    if (*count) qsort(*knots, (size_t)*count, sizeof **knots, by_place);
    return DLS_OK;
}

static dls_status find_pairs(dls_reader *reader, const dls_node *map, const knot *knots, int count,
                             double within, pair **pairs, int64_t *pair_count) {
    int64_t room = 0;
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count && knots[k].x[0] - knots[i].x[0] <= within; k++) {
            if (vec_distance(knots[i].x, knots[k].x) > within) continue;
            if (*pair_count >= (int64_t)MOST_NEIGHBOURS * count)
                return dls_node_fail(map, reader->error,
                                     "within is %g m, more than %d neighbours for each body, expected less",
                                     within, MOST_NEIGHBOURS);
            if (!dls_grow(pairs, *pair_count, &room, *pair_count + 1, sizeof **pairs))
                return dls_fail_memory(reader->error);
            bool swap = knots[i].id > knots[k].id;
            pair *p = &(*pairs)[(*pair_count)++];
            p->a = knots[swap ? k : i].id, p->b = knots[swap ? i : k].id;
            for (int m = 0; m < 3; m++) p->middle[m] = 0.5 * (knots[i].x[m] + knots[k].x[m]);
        }
    if (*pair_count) qsort(*pairs, (size_t)*pair_count, sizeof **pairs, by_ids);
    return DLS_OK;
}

dls_status dls_join_neighbours(dls_reader *reader, const dls_node *joint, const dls_node *map) {
    static const char *const taken[] = {"bodies", "at", NULL};
    neighbours_text text;
    knot *knots = NULL;
    pair *pairs = NULL;
    int count = 0;
    int64_t pair_count = 0;
    dls_status status = refuse_keys(reader, joint, taken);
    if (!status) status = dls_read_group(reader, map, &dls_group_neighbours, 0, NULL, &text);
    if (status) return status;
    status = find_knots(reader, text.of, &knots, &count);
    if (!status) status = find_pairs(reader, map, knots, count, text.within, &pairs, &pair_count);
    if (!status && !pair_count)
        status = dls_node_fail(map, reader->error,
                               "%d bodies '%.60s-…', none within %g m of another, expected neighbours", count,
                               text.of, text.within);
    for (int64_t k = 0; k < pair_count && !status; k++)
        status = join(reader, joint, pairs[k].a, pairs[k].b, pairs[k].middle, (int)k);
    dls_free(knots);
    dls_free(pairs);
    return status;
}

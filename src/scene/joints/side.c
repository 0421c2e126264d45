/* Sides of joints: which body, and where its frame stands. */
#include "scene/joints/joints.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <delassus/solid.h>

#include <math.h>
#include <string.h>

typedef struct frame_text {
    const char *frame;
    const dls_node *body, *at, *axis, *second;
    double end;
} frame_text;

static void side_defaults(void *target) {
    frame_text *text = target;
    text->end = -1;
}

#define AT(member) offsetof(frame_text, member)
#define FRAME_KEYS(place)                                                                                    \
    {DLS_KEY("at", DLS_KEY_NODE, AT(at), "m", "its origin, in the body's frame", "vector"), place, false,    \
     0},                                                                                                     \
        {DLS_KEY("axis", DLS_KEY_NODE, AT(axis), "", "direction of its axis 1 there, any length", "vector"), \
         "that of the joint", false, 0},                                                                     \
    {                                                                                                        \
        DLS_KEY("second", DLS_KEY_NODE, AT(second), "",                                                      \
                "its axis 2 is as near to this as a right angle allows", "vector"),                          \
            "any", false, 0                                                                                  \
    }

static const dls_key side_keys[] = {
    {DLS_KEY("body", DLS_KEY_NODE, AT(body), "", "name of the body, or ground", "name"), NULL, true, 0},
    {DLS_KEY("frame", DLS_KEY_TEXT, AT(frame), "", "one of the body's `frames`, instead of what follows",
             NULL),
     "none", false, 0},
    {DLS_KEY("end", DLS_KEY_SHARE, AT(end), "",
             "where on a solid: 0 at its first end, 1 at its last, or a share between; needed there", NULL),
     "none", false, 0},
    FRAME_KEYS("that of the joint"),
};

const dls_group dls_group_side = {
    "joints.bodies",
    "a side of a joint",
    "Each of a joint's two bodies is a name or this map. Names are those of bodies, of generated ones with "
    "their number (`link-3`), or `ground`, which never moves.",
    DLS_GROUP_KEYS(side_keys),
    sizeof(frame_text),
    side_defaults};

static const dls_key frame_keys[] = {FRAME_KEYS("zero")};

const dls_group dls_group_frame = {
    "bodies.frames",
    "a frame",
    "Below `frames` of a body, each name has such a map: a place that joints use as `{body: arm, frame: "
    "tip}`. Of generated bodies its place is multiplied by the drawn size.",
    DLS_GROUP_KEYS(frame_keys),
    sizeof(frame_text),
    NULL};

/* ---- frames of bodies ---- */

dls_status dls_note_frames(dls_reader *reader, const dls_node *frames, dls_body_id id, double size) {
    if (!frames) return DLS_OK;
    if (frames->kind != DLS_NODE_MAP)
        return dls_node_fail(frames, reader->error, "frames is %s, expected a map of frames",
                             dls_node_noun(frames));
    for (const dls_node *child = frames->first; child; child = child->next) {
        frame_text text;
        double ignored[3];
        dls_status status = dls_read_group(reader, child, &dls_group_frame, 0, NULL, &text);
        if (!status && text.at) status = dls_read_vector(reader, text.at, "at", ignored);
        if (!status && text.axis) status = dls_read_direction(reader, text.axis, ignored);
        if (!status && text.second) status = dls_read_direction(reader, text.second, ignored);
        if (status) return status;
    }
    if (!DLS_RESERVE(reader->framed, reader->framed_count, reader->framed_room, reader->framed_count + 1))
        return dls_fail_memory(reader->error);
    reader->framed[reader->framed_count++] = (dls_framed){id, frames, size};
    return DLS_OK;
}

/* Bodies come in the order of their ids. */
static const dls_framed *find_framed(const dls_reader *reader, dls_body_id id) {
    int64_t low = 0, high = reader->framed_count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (reader->framed[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < reader->framed_count && reader->framed[low].id == id ? &reader->framed[low] : NULL;
}

static dls_status read_frame(dls_reader *reader, const dls_node *node, const char *name, dls_body_id id,
                             frame_text *text, double *size) {
    const dls_framed *framed = id >= 0 ? find_framed(reader, id) : NULL;
    const dls_node *frame = framed ? dls_node_find(framed->frames, name) : NULL;
    char hint[100];
    dls_nearest nearest = dls_nearest_begin(name);
    for (const dls_node *child = framed ? framed->frames->first : NULL; child; child = child->next)
        dls_nearest_offer(&nearest, child->key);
    dls_nearest_hint(&nearest, hint, sizeof hint);
    if (!frame)
        return dls_node_fail(node, reader->error, "body '%.60s' has no frame '%.60s'%s",
                             id >= 0 ? dls_body_name(reader->world, id) : "ground", name,
                             *hint ? hint : ", expected one of its 'frames'");
    *size = framed->size;
    return dls_read_group(reader, frame, &dls_group_frame, 0, NULL, text);
}

/* ---- sides ---- */

dls_status dls_read_direction(dls_reader *reader, const dls_node *node, double *direction) {
    dls_status status = dls_read_vector(reader, node, node->key ? node->key : "axis", direction);
    if (status) return status;
    double length = vec_norm(direction);
    if (!(length > 1e-100 && length < 1e100))
        return dls_node_fail(node, reader->error, "%s has length %g, expected a direction",
                             node->key ? node->key : "axis", length);
    vec_scale(direction, 1 / length, direction);
    return DLS_OK;
}

/* A body that is called ground is that body. */
dls_status dls_read_body_name(dls_reader *reader, const dls_node *node, dls_body_id *id) {
    if (node->kind != DLS_NODE_SCALAR)
        return dls_node_fail(node, reader->error, "a body is %s, expected its name or ground",
                             dls_node_noun(node));
    *id = dls_world_find_body(reader->world, node->text);
    if (*id >= 0) return DLS_OK;
    *id = DLS_GROUND;
    if (!strcmp(node->text, "ground")) return DLS_OK;
    char hint[100];
    dls_nearest nearest = dls_nearest_begin(node->text);
    dls_nearest_offer(&nearest, "ground");
    for (int k = 0; k < dls_world_body_count(reader->world); k++)
        if (*dls_body_name(reader->world, k)) dls_nearest_offer(&nearest, dls_body_name(reader->world, k));
    dls_nearest_hint(&nearest, hint, sizeof hint);
    return dls_node_fail(node, reader->error, "no body '%.60s'%s", node->text,
                         *hint ? hint : ", expected the name of one or ground");
}

/* From body to world coordinates. */
static dls_status place(dls_reader *reader, const frame_text *text, double size, dls_side *side) {
    dls_pose pose = {{0, 0, 0}, {1, 0, 0, 0}};
    double R[9];
    dls_status status = DLS_OK;
    if (side->body >= 0) status = dls_body_pose_get(reader->world, side->body, &pose, reader->error);
    quat_matrix(pose.q, R);
    side->has_point = text->at || text->frame;
    side->has_axis = text->axis, side->has_second = text->second;
    if (!status && text->at) status = dls_read_vector(reader, text->at, "at", side->point);
    if (!status && text->axis) status = dls_read_direction(reader, text->axis, side->axis);
    if (!status && text->second) status = dls_read_direction(reader, text->second, side->second);
    vec_scale(side->point, size, side->point);
    mat_apply(side->point, R, side->point);
    vec_add(side->point, side->point, pose.x);
    mat_apply(side->axis, R, side->axis);
    mat_apply(side->second, R, side->second);
    return status;
}

/* A side on a solid says where, and stands there unless it says more; others do not. */
static dls_status place_on_solid(dls_reader *reader, const dls_node *node, double end, dls_side *side) {
    dls_solid_def def;
    bool solid = side->body >= 0 && dls_solid_freedoms(reader->world, side->body) > 0;
    if (solid && !dls_solid_get(reader->world, side->body, &def, NULL))
        solid =
            dls_solid_form_is_line(def.form); /* others are joined where they are told to, as rigid ones */
    const char *name = side->body >= 0 ? dls_body_name(reader->world, side->body) : "ground";
    dls_body_state place;
    if (solid && end < 0)
        return dls_node_fail(node, reader->error,
                             "body '%.60s' is a solid, expected where on it: {body: %.60s, end: 0}", name,
                             name);
    if (!solid && end >= 0)
        return dls_node_fail(node, reader->error, "end of '%.60s', which is no line, expected that of a beam",
                             name);
    if (!solid) return DLS_OK;
    side->end = end;
    dls_status status = dls_solid_place(reader->world, side->body, end, &place, reader->error);
    if (!status && !side->has_point) vec_copy(side->point, place.x), side->has_point = true;
    return status;
}

dls_status dls_read_side(dls_reader *reader, const dls_node *node, dls_side *side) {
    *side = (dls_side){.body = DLS_GROUND};
    if (node->kind == DLS_NODE_SCALAR) {
        dls_status status = dls_read_body_name(reader, node, &side->body);
        return status ? status : place_on_solid(reader, node, -1, side);
    }
    frame_text text;
    double size = 1;
    dls_status status = dls_read_group(reader, node, &dls_group_side, 0, NULL, &text);
    if (!status) status = dls_read_body_name(reader, text.body, &side->body);
    if (status) return status;
    if (text.frame && (text.at || text.axis || text.second))
        return dls_node_fail(node, reader->error,
                             "a frame and its place in one side, expected 'frame' or 'at', 'axis', 'second'");
    const char *name = text.frame;
    double end = text.end;
    if (name) status = read_frame(reader, node, name, side->body, &text, &size);
    if (status) return status;
    text.frame = name;
    status = place(reader, &text, size, side);
    return status ? status : place_on_solid(reader, node, end, side);
}

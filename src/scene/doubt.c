/* Values that can be read and are probably meant in another unit, or otherwise. They are noted while a scene
 * is read, where the line is known, and told when it is checked. */
#include "scene/gates.h"
#include "scene/read.h"

#include "base/error.h"
#include "base/vector.h"
#include "integrate/scheme.h"
#include "world/shape/kinds.h"
#include "world/world.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Foams have 10 kg/m³ and more, osmium 22600. */
static const double LIGHTEST = 10, HEAVIEST = 30000;
/* In the plane a density is one of matter times a depth that nobody knows: only what no depth explains. */
static const double HEAVIEST_PLANAR = 1e6;
static const double ROUGHEST = 5;    /* friction coefficient */
static const double MOST_TURN = 0.5; /* rad in a step */
/* A container is some times as large as what is in it, in mm for m a thousand times that; a body that moves
 * is not many times as large as all the rest, and an obstacle not much smaller than the smallest body. */
static const double LARGEST_OBSTACLE = 500, LARGEST_BODY = 20, SMALLEST_OBSTACLE = 0.01;

__attribute__((format(printf, 3, 4))) static dls_status doubt(dls_reader *reader, const dls_node *node,
                                                              const char *format, ...) {
    for (const dls_doubt *d = reader->doubts; d; d = d->next)
        if (d->node == node) return DLS_OK; /* prototypes are read again for each of their bodies */
    char said[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    dls_error line;
    dls_node_fail(node, &line, "%s", said);
    dls_doubt *d = dls_arena_take(reader->arena, 1, sizeof *d);
    char *copy = d ? dls_arena_text(reader->arena, line.message, strlen(line.message)) : NULL;
    if (!copy) return dls_fail_memory(reader->error);
    *d = (dls_doubt){node, copy, NULL};
    if (reader->last_doubt)
        reader->last_doubt->next = d;
    else
        reader->doubts = d;
    reader->last_doubt = d;
    return DLS_OK;
}

/* Whether a name stands in an expression as a word of its own. */
static bool has_word(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        bool before = at > text && (at[-1] == '_' || isalnum((unsigned char)at[-1]));
        bool behind = at[length] == '_' || isalnum((unsigned char)at[length]);
        if (!before && !behind) return true;
    }
    return false;
}

/* More than a whole turn that says nothing of degrees, or degrees of what was in rad already: pi/6*deg. */
dls_status dls_doubt_angle(dls_reader *reader, const dls_node *node, double angle) {
    const char *text = node->text;
    bool degrees = has_word(text, "deg");
    if (!degrees && fabs(angle) > 2 * M_PI * (1 + 1e-6))
        return doubt(reader, node, "%s is %g rad, %.4g turns; angles are in rad, %g degrees are %g*deg",
                     node->key ? node->key : "angle", angle, fabs(angle) / (2 * M_PI), angle, angle);
    if (degrees && has_word(text, "pi") && !strpbrk(text + 1, "+-"))
        return doubt(reader, node, "%s is '%.60s', %.3g rad; deg is pi/180, expected '30*deg' or 'pi/6'",
                     node->key ? node->key : "angle", text, angle);
    return DLS_OK;
}

dls_status dls_doubt_turning(dls_reader *reader, const dls_node *node, double speed) {
    double turn = fabs(speed) * reader->step;
    if (!(turn > MOST_TURN)) return DLS_OK;
    return doubt(reader, node, "%s is %g rad/s, %.3g turns in a step of %g s; %g rpm are %g*2*pi/60",
                 node->key ? node->key : "speed", speed, turn / (2 * M_PI), reader->step, speed, speed);
}

dls_status dls_doubt_friction(dls_reader *reader, const dls_node *map, double mu) {
    const dls_node *node = dls_node_find(map, "mu");
    if (!node || !(mu > ROUGHEST)) return DLS_OK;
    if (mu < 90)
        return doubt(reader, node,
                     "mu is %g, coefficients of friction are seldom above 1; an angle of friction "
                     "of %g degrees is 'tan(%g*deg)'",
                     mu, mu, mu);
    return doubt(reader, node, "mu is %g, coefficients of friction are seldom above 1", mu);
}

/* A factor of 1000 is what g/cm³ and g/m³ make. */
dls_status dls_doubt_density(dls_reader *reader, const dls_node *map, double density) {
    const dls_node *node = dls_node_find(map, "density");
    bool planar = reader->dimension == 2, light = !planar && density < LIGHTEST;
    double meant = light ? 1000 * density : density / 1000;
    char guess[64] = "";
    if (!node || !(light || density > (planar ? HEAVIEST_PLANAR : HEAVIEST))) return DLS_OK;
    if (!planar && meant >= LIGHTEST && meant <= HEAVIEST)
        snprintf(guess, sizeof guess, "; %g %s are %g", density, light ? "g/cm³" : "g/m³", meant);
    return doubt(reader, node, "density is %g kg/m%s, %s%s", density, planar ? "²" : "³",
                 light ? "less than foam has" : "more than any metal has", guess);
}

/* 9.81 m/s² in other units, and pointing up. */
dls_status dls_doubt_gravity(dls_reader *reader, const dls_node *node, const double *gravity) {
    static const struct {
        const char *unit;
        double value;
    } units[] = {{"cm/s²", 981}, {"mm/s²", 9810}, {"ft/s²", 32.17}, {"in/s²", 386.1}};
    double size = vec_norm(gravity), up = gravity[reader->dimension - 1];
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (fabs(size - units[i].value) < 0.01 * units[i].value)
            return doubt(reader, node, "gravity is %g m/s²; %g %s are 9.81 m/s²", size, size, units[i].unit);
    if (up > 0 && up == size)
        return doubt(reader, node, "gravity points up, along +%s; down is %g",
                     reader->dimension == 2 ? "y" : "z", -up);
    return DLS_OK;
}

/* Where that is not 0 then, the body flies to it within a step; what it moves in a step is not asked. */
dls_status dls_doubt_start(dls_reader *reader, const dls_node *drive, const dls_body_def *def, int freedom) {
    static const char *const axes[] = {"along x", "along y", "along z", "about x", "about y", "about z"};
    const dls_node *node = dls_node_find(drive, "position");
    const dls_function *position = def->drive[freedom].position;
    const char *unit = freedom < 3 ? "m" : "rad";
    if (!node || !position) return DLS_OK;
    double t = fmax(def->birth, 0), at = dls_function_value(position, t);
    double way = fabs(dls_function_value(position, t + reader->step) - at);
    if (!isfinite(at) || fabs(at) <= 2 * way + 1e-12) return DLS_OK;
    return doubt(reader, node,
                 "%s%.60s%sposition %s is %g %s at t = %g s, where the body has moved 0 %s: it jumps in its "
                 "first step; a position counts from where the body stands, expected 0 there",
                 def->name ? "'" : "", def->name ? def->name : "", def->name ? "': " : "", axes[freedom], at,
                 unit, t, unit);
}

/* Bodies get that speed within the first step, by an impulse. */
dls_status dls_doubt_rate(dls_reader *reader, const dls_node *node, double told, double has, double t,
                          const char *unit) {
    if (!(fabs(told - has) > 1e-6 * fmax(fabs(told), fabs(has)) + 1e-12)) return DLS_OK;
    return doubt(
        reader, node,
        "position begins with %g %s at t = %g s, where the joint has %g %s: a jolt in the first step; "
        "a function that begins with that speed has none, nor have bodies that do",
        told, unit, t, has, unit);
}

dls_status dls_doubt_scheme(dls_reader *reader, const dls_node *integrator,
                            const dls_simulation_options *options) {
    const dls_node *node = integrator ? dls_node_find(integrator, "scheme") : NULL;
    int count = dls_world_material_count(reader->world);
    if (!node || !dls_scheme_find(options->scheme)->whole_gap || options->entering == DLS_ENTER_CLOSED ||
        options->restitution == DLS_RESTITUTION_IN_ORDER)
        return DLS_OK;
    for (int a = 0; a < count; a++)
        for (int b = a; b < count; b++) {
            dls_pair_def pair;
            dls_material_def first, second;
            if (dls_world_pair(reader->world, a, b, &pair, NULL, NULL) || !(pair.e_n > 0)) continue;
            if (dls_world_material(reader->world, a, &first, NULL)) continue;
            if (dls_world_material(reader->world, b, &second, NULL)) continue;
            return doubt(
                reader, node,
                "e_n is %g of materials '%.60s' and '%.60s', which has no effect: %s brings bodies to "
                "touch and no contact that is open bounces; 'restitution: in-order' lets them bounce, and so "
                "does 'entering: closed'",
                pair.e_n, first.name, second.name, options->scheme);
        }
    return DLS_OK;
}

/* ---- files in other units ---- */

dls_status dls_note_unscaled(dls_reader *reader, const dls_node *file, int count, const double *points,
                             bool obstacle) {
    dls_unscaled *note = dls_arena_take(reader->arena, 1, sizeof *note);
    if (!note) return dls_fail_memory(reader->error);
    note->node = file;
    note->obstacle = obstacle;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < count; i++) {
            low = fmin(low, points[3 * i + k]);
            high = fmax(high, points[3 * i + k]);
        }
        note->size = fmax(note->size, high - low);
    }
    note->next = reader->unscaled;
    reader->unscaled = note;
    return DLS_OK;
}

typedef struct surroundings {
    double low[3], high[3];
    double smallest; /* diameter of a body that moves */
} surroundings;

static void take_place(surroundings *s, const double *x, double radius) {
    for (int k = 0; k < 3; k++) {
        s->low[k] = fmin(s->low[k], x[k] - radius);
        s->high[k] = fmax(s->high[k], x[k] + radius);
    }
}

/* Of all that is clearly smaller than the file: bodies, and what inlets bring. */
static surroundings look_around(const dls_reader *reader, const dls_gates_def *gates, double size) {
    const dls_world *world = reader->world;
    surroundings s = {.low = {INFINITY, INFINITY, INFINITY},
                      .high = {-INFINITY, -INFINITY, -INFINITY},
                      .smallest = INFINITY};
    for (int id = 0; id < dls_world_body_count(world); id++) {
        const dls_body *body = dls_world_body(world, id);
        if (body->motion == DLS_DYNAMIC) s.smallest = fmin(s.smallest, 2 * body->radius);
        if (2 * body->radius < size / 10) take_place(&s, dls_world_state(world, id)->x, body->radius);
    }
    for (int i = 0; i < gates->inlet_count; i++) {
        const dls_feed *feed = gates->inlets[i].self;
        take_place(&s, gates->inlets[i].region.low, 0);
        take_place(&s, gates->inlets[i].region.high, 0);
        for (int k = 0; k < feed->mixture.count; k++)
            s.smallest = fmin(s.smallest,
                              2 * feed->mixture.parts[k].prototype.radius * feed->mixture.parts[k].size.low);
    }
    return s;
}

static dls_status doubt_scale(dls_reader *reader, const dls_gates_def *gates, const dls_unscaled *file) {
    surroundings s = look_around(reader, gates, file->size);
    double most = file->obstacle ? LARGEST_OBSTACLE : LARGEST_BODY, extent = 0;
    for (int k = 0; k < 3; k++) extent = fmax(extent, s.high[k] - s.low[k]);
    if (extent > 0 && file->size > most * extent)
        return doubt(
            reader, file->node,
            "'%.100s' is %.3g m large, all that is smaller lies within %.3g m; if its lengths are in "
            "mm, 'scale: 0.001' is missing, if they are in m, 'scale: 1' says so",
            file->node->text, file->size, extent);
    if (file->obstacle && isfinite(s.smallest) && file->size < SMALLEST_OBSTACLE * s.smallest)
        return doubt(reader, file->node,
                     "'%.100s' is %.3g m large, the smallest body that moves %.3g m; 'scale' multiplies its "
                     "lengths to m, 'scale: 1' says that they are",
                     file->node->text, file->size, s.smallest);
    return DLS_OK;
}

dls_status dls_doubt_scales(dls_reader *reader, const dls_gates_def *gates) {
    dls_status status = DLS_OK;
    for (const dls_unscaled *file = reader->unscaled; file && !status; file = file->next)
        status = doubt_scale(reader, gates, file);
    return status;
}

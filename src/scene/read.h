/* Nodes to values, by tables: what a key means, its unit, its preset and what is said when it is wrong. */
#ifndef SCENE_READ_H
#define SCENE_READ_H

#include "scene/node.h"

#include <delassus/joint.h>
#include <delassus/scene.h>

#include <float.h>
#include <math.h>

/* ---- tables ---- */

/* A key of a map: an option whose numbers may be expressions. Its unit is "" for none. */
typedef struct dls_key {
    dls_field field;
    const char *preset; /* shown instead of the value in the defaults; NULL: that value */
    bool needed;
    uint32_t kinds; /* bits, of which one must be the kind's for it to have this key; 0: all */
} dls_key;

#define DLS_KEY(name, kind, at, unit_, help_, choices_)                                                      \
    { .key = name, kind, .offset = at, .unit = unit_, .help = help_, .choices = choices_ }

#define DLS_KEY_NUMBER(type_, from, to) .type = type_, .low = from, .high = to
#define DLS_KEY_REAL                    DLS_KEY_NUMBER(DLS_FIELD_REAL, -INFINITY, INFINITY)
#define DLS_KEY_POSITIVE                DLS_KEY_NUMBER(DLS_FIELD_REAL, DBL_TRUE_MIN, INFINITY)
#define DLS_KEY_NOT_NEGATIVE            DLS_KEY_NUMBER(DLS_FIELD_REAL, 0, INFINITY)
#define DLS_KEY_SHARE                   DLS_KEY_NUMBER(DLS_FIELD_REAL, 0, 1)
#define DLS_KEY_COUNT                   DLS_KEY_NUMBER(DLS_FIELD_WHOLE, 1, INFINITY)
#define DLS_KEY_WHOLE                   DLS_KEY_NUMBER(DLS_FIELD_WHOLE, 0, INFINITY)
#define DLS_KEY_FLAG                    .type = DLS_FIELD_BOOL
#define DLS_KEY_CHOICE                  .type = DLS_FIELD_CHOICE
#define DLS_KEY_TEXT                    .type = DLS_FIELD_TEXT
#define DLS_KEY_VECTOR                  .type = DLS_FIELD_VECTOR
#define DLS_KEY_NODE                    .type = DLS_FIELD_OWN /* const dls_node *: read by code */

/* The keys of one map. */
typedef struct dls_group {
    const char *path;  /* as the reference page calls it: "bodies.shape" */
    const char *noun;  /* as messages call it: "a body" */
    const char *about; /* a sentence or two for the reference page */
    const dls_key *keys;
    int key_count;
    size_t size;                    /* of the struct that keys point into */
    void (*defaults)(void *target); /* NULL: all zero */
} dls_group;

#define DLS_GROUP_KEYS(keys) keys, (int)(sizeof(keys) / sizeof *(keys))

/* All groups, for the reference; those of field tables aside. NULL ends the list. */
extern const dls_group *const dls_scene_groups[];
extern const dls_group dls_group_scene, dls_group_periodic, dls_group_material, dls_group_pair,
    dls_group_body, dls_group_rotation, dls_group_drive, dls_group_function, dls_group_shape, dls_group_solid,
    dls_group_lattice, dls_group_packing, dls_group_layers, dls_group_pyramid, dls_group_wall,
    dls_group_links, dls_group_frame, dls_group_joint, dls_group_side, dls_group_freedom,
    dls_group_joint_drive, dls_group_joint_motor, dls_group_joint_servo, dls_group_joint_spring,
    dls_group_joint_friction, dls_group_support, dls_group_break, dls_group_neighbours, dls_group_spring_item,
    dls_group_mixture, dls_group_inlet, dls_group_removal, dls_group_region, dls_group_size, dls_group_normal,
    dls_group_size_table;

/* ---- the reader ---- */

/* A value that can be read and is probably a mistake. */
typedef struct dls_doubt {
    const dls_node *node;
    const char *line; /* with the place of the node */
    struct dls_doubt *next;
} dls_doubt;

enum { DLS_SCENE_NAMES = 500, DLS_SCENE_GROUPS = 31 };

/* A file of points whose unit the scene does not say. */
typedef struct dls_unscaled {
    const dls_node *node; /* its name */
    double size;          /* m, its longest extent, if it is in m */
    bool obstacle;
    struct dls_unscaled *next;
} dls_unscaled;

/* Generated bodies of one name: NAME-0, NAME-1, … over all generators and inlets that have it. */
typedef struct dls_family {
    char name[104];
    int64_t next_number;
    struct dls_family *next;
} dls_family;

/* A function of time that has a name. */
typedef struct dls_named_function {
    const dls_node *node;
    struct dls_named_function *next;
} dls_named_function;

/* A body that has frames for joints. */
typedef struct dls_framed {
    dls_body_id id;
    const dls_node *frames;
    double size; /* that its prototype was multiplied by */
} dls_framed;

/* Surfaces of bodies that are held, once all bodies are there. */
struct dls_element_file;
typedef struct dls_supports {
    dls_body_id id;
    const dls_node *list;
    const struct dls_element_file *file; /* whose groups name nodes; NULL: none */
    struct dls_supports *next;
} dls_supports;

/* Bodies along a curve whose joints are made when all bodies are there. */
typedef struct dls_links {
    const dls_node *joint, *ends;
    dls_body_id first;
    int count;
    bool closed;
    double *stations; /* where parts of the curve meet, its ends included */
    struct dls_links *next;
} dls_links;

typedef struct dls_reader {
    dls_error *error;
    dls_arena *arena;
    const char *folder; /* where files are looked for */
    int given_count;    /* files that are in memory */
    const dls_file *given;
    int file_count, file_room; /* files that were read, with a zero behind each */
    dls_file *files;
    int dimension;
    dls_world *world;
    double period_low[3], period_size[3];
    int name_count; /* variables */
    const char *names[DLS_SCENE_NAMES];
    double values[DLS_SCENE_NAMES];
    int group_count; /* of collision */
    const char *groups[DLS_SCENE_GROUPS];
    double bodies;  /* asked for so far */
    double bytes;   /* they need */
    double machine; /* bytes that this machine has; 0: not asked yet */
    double step;    /* s, of the scene */
    dls_doubt *doubts, *last_doubt;
    dls_family *families;
    dls_unscaled *unscaled;
    dls_named_function *functions;
    int64_t framed_count, framed_room; /* by id */
    dls_framed *framed;
    dls_links *links;
    dls_supports *supports, *last_supports;
    int64_t joint_count, joint_room;
    const dls_node **joint_nodes; /* by id */
} dls_reader;

/* Presets, then every key of the map into target. kind: the bits of the group's kind, 0 where it has none. */
dls_status dls_read_group(dls_reader *reader, const dls_node *map, const dls_group *group, uint32_t kind,
                          const char *noun, void *target);

/* what: the key, for messages. */
dls_status dls_read_number(dls_reader *reader, const dls_node *node, const char *what, const char *expected,
                           double *value);
/* low to high numbers. */
dls_status dls_read_numbers(dls_reader *reader, const dls_node *node, const char *what, int low, int high,
                            double *values, int *count);
dls_status dls_read_vector(dls_reader *reader, const dls_node *node, const char *what, double *value);
/* A list of numbers of any length, in the arena. */
dls_status dls_read_list(dls_reader *reader, const dls_node *node, const char *what, const double **values,
                         int *count);
/* Whether an expression names t. */
bool dls_text_uses_time(const char *text);
/* A number, an expression in t, or a table {t, value}; the caller owns it. */
dls_status dls_read_function(dls_reader *reader, const dls_node *node, const char *what,
                             dls_function **function);
/* Functions with a name, which may stand for a function of time. */
dls_status dls_read_functions(dls_reader *reader, const dls_node *map);
const dls_node *dls_function_named(const dls_reader *reader, const char *name); /* NULL: none */
/* An angle in the plane; in space {axis, angle} or a quaternion [w, x, y, z]. NULL: none. */
dls_status dls_read_rotation(dls_reader *reader, const dls_node *node, double *q);
/* Words for a message, with commas between them, as many as fit; begins empty. */
typedef struct dls_word_list {
    size_t used;
    char text[280];
} dls_word_list;

void dls_list_word(dls_word_list *list, const char *word);

/* A name among count names; −1 after a message that suggests the nearest, or lists all. noun: "material". */
int dls_read_name(dls_reader *reader, const dls_node *node, const char *text, const char *noun, int count,
                  const char *const *names);

/* Adds the message of a failed call to where the node stands. */
dls_status dls_read_blame(const dls_node *node, dls_error *error);

/* ---- parts of a scene, each in its own file ---- */

/* doubt.c: values that are probably others than meant. node is the value, map what holds it under its key. */
dls_status dls_doubt_angle(dls_reader *reader, const dls_node *node, double angle);
dls_status dls_doubt_turning(dls_reader *reader, const dls_node *node, double speed);
dls_status dls_doubt_friction(dls_reader *reader, const dls_node *map, double mu);
dls_status dls_doubt_density(dls_reader *reader, const dls_node *map, double density);
/* A driven position, which counts from where the body stands at its birth. */
dls_status dls_doubt_start(dls_reader *reader, const dls_node *drive, const dls_body_def *def, int freedom);
/* A joint's position that begins with another speed than its bodies have. */
dls_status dls_doubt_rate(dls_reader *reader, const dls_node *node, double told, double has, double t,
                          const char *unit);
/* Restitution that the scheme has no use for. */
dls_status dls_doubt_scheme(dls_reader *reader, const dls_node *integrator,
                            const dls_simulation_options *options);
/* Files without `scale` whose size does not go with that of all else; noted as they are read, asked at the
 * end. */
dls_status dls_note_unscaled(dls_reader *reader, const dls_node *file, int count, const double *points,
                             bool obstacle);
struct dls_gates_def;
dls_status dls_doubt_scales(dls_reader *reader, const struct dls_gates_def *gates);
dls_status dls_doubt_gravity(dls_reader *reader, const dls_node *node, const double *gravity);

/* settings.c: one "path=value" onto the tree. */
dls_status dls_setting_apply(dls_arena *arena, dls_node *root, const char *text, dls_error *error);

/* bodies.c */
/* Bits of the kinds of a body's keys. */
typedef enum dls_prototype_use {
    DLS_USE_SINGLE = 1,
    DLS_USE_GENERATED = 2,
    DLS_USE_FED = 4,
    DLS_USE_PLACED = 8 /* with generated: places are told, so that a body may have no size */
} dls_prototype_use;

typedef struct dls_prototype {
    const dls_node *node;
    dls_family *family; /* NULL of a single body */
    dls_body_def def;
    dls_shape_def *shapes; /* as written */
    dls_shape_def *scaled; /* the same, times a size */
    double inertia[9];
    const dls_node *force, *torque, *belts, *drive, *frames, *supports;
    double *points;                      /* room for scaled points */
    const struct dls_element_file *file; /* of its solid's mesh; NULL: none */
    struct dls_solid_mesh *scaled_mesh;  /* of such a solid, times a size */
    struct dls_solid_def *scaled_solid;
    /* of generators only: */
    double low[3], high[3]; /* box about the origin of its frame, turned as the prototype says */
    double radius;          /* of the ball about that origin */
    double volume;          /* area in the plane */
    double mass;            /* as given or by densities */
    double thickness;       /* of its thinnest shape */
    double reach;           /* radius of the ball about its mass centre, as the world has it */
} dls_prototype;

dls_status dls_read_bodies(dls_reader *reader, const dls_node *list);
/* Of one that is not single its measures are wanted, it has no place of its own, and without a name it has
 * that of the family. */
dls_status dls_prototype_read(dls_reader *reader, const dls_node *map, dls_prototype_use use,
                              const char *family, dls_prototype *prototype);
/* One body: all lengths times size, turned by q, moved by x; NULL for neither. inertia: room for nine. What
 * functions of time say is left out. */
dls_body_def dls_prototype_define(const dls_prototype *prototype, int dimension, const double *x,
                                  const double *q, double size, double *inertia);
/* The next name of the family that no body has. */
void dls_family_name(const dls_world *world, dls_family *family, char *name, size_t size);
/* Such a body into the world. */
dls_status dls_prototype_add(dls_reader *reader, dls_prototype *prototype, const double *x, const double *q,
                             double size, double birth);
/* Refuses a number of bodies that this machine cannot hold, before anything is allocated. */
dls_status dls_reader_reserve(dls_reader *reader, const dls_node *node, double count,
                              const dls_prototype *prototype);

/* shapes.c */
/* A body that deforms. */
struct dls_solid_def;
/* file: of its mesh; left as it is where it has none. */
dls_status dls_read_solid(dls_reader *reader, const dls_node *map, struct dls_solid_def *def,
                          const struct dls_element_file **file);
dls_status dls_read_shape(dls_reader *reader, const dls_node *map, const dls_shape_def *inherited,
                          dls_shape_def *def);
/* material, group, collides and ignores, which bodies and shapes share. */
dls_status dls_read_material(dls_reader *reader, const dls_node *node, dls_material_id *id);
dls_status dls_read_collision(dls_reader *reader, const dls_node *group, const dls_node *collides,
                              const dls_node *ignores, dls_shape_def *def);

/* mesh/ */
/* Points and triangles of an OBJ or STL file, in the arena. */
dls_status dls_mesh_file_read(dls_reader *reader, const dls_node *node, const char *path, double scale,
                              dls_shape_def *def);
/* The same from bytes; name is for messages. */
dls_status dls_mesh_bytes_read(dls_arena *arena, const char *name, const char *bytes, size_t size,
                               dls_shape_def *def, dls_error *error);

/* generate.c, packing.c */
typedef struct dls_mixture dls_mixture;
typedef struct dls_scene_generator {
    const char *key;
    dls_status (*generate)(dls_reader *reader, const dls_node *map, dls_mixture *mixture);
    dls_prototype_use use;
} dls_scene_generator;
const dls_scene_generator *dls_generator_find(const char *key); /* NULL when it is none */
/* All bodies of a generator, whose map stands in the item beside its prototypes. */
dls_status dls_read_generator(dls_reader *reader, const dls_node *item, const dls_node *map,
                              const dls_scene_generator *generator);

/* joints/ */
/* Frames of a body that was made, of a prototype times a size; NULL: none. */
dls_status dls_note_frames(dls_reader *reader, const dls_node *frames, dls_body_id id, double size);
/* What holds surfaces of a body of elements; NULL: nothing. */
dls_status dls_note_supports(dls_reader *reader, const dls_node *list, const struct dls_element_file *file,
                             dls_body_id id);
dls_status dls_generate_links(dls_reader *reader, const dls_node *map, dls_mixture *mixture);
/* Joints of links, then those of both lists; each may be NULL. */
dls_status dls_read_joints(dls_reader *reader, const dls_node *joints, const dls_node *springs);
/* Moves bodies until joints hold where that is wanted, and refuses joints that do not hold and drives that
 * begin with a jump. */
dls_status dls_start_joints(dls_reader *reader, const dls_node *assembling, bool wanted,
                            dls_assembled *report);

/* options.c: groups whose keys are those of field tables. */
typedef struct dls_scene_options {
    dls_simulation_options simulation;
    dls_run_options run;
    const dls_solver *solver;
    union {
        max_align_t align;
        char bytes[DLS_MAX_OPTIONS_SIZE];
    } solver_options;
} dls_scene_options;

void dls_scene_options_default(dls_scene_options *options);
/* Whether key is such a group at the top of a scene. */
bool dls_option_group_is(const char *key);
int dls_option_group_count(void);
const char *dls_option_group_at(int index, const char **about);
dls_status dls_read_option_group(dls_reader *reader, const dls_node *map, dls_scene_options *options);
dls_status dls_read_solver(dls_reader *reader, const dls_node *map, dls_scene_options *options);
/* The k-th key of a group, or false. preset is where the value of the defaults is printed to. */
bool dls_option_key_at(const char *group, int index, dls_scene_key *key, char *preset, size_t preset_size);

#endif

/* What generators share: sizes, regions, orientations. */
#ifndef SCENE_GENERATE_H
#define SCENE_GENERATE_H

#include "scene/read.h"

#include "base/random.h"
#include "world/region.h"

/* ---- sizes: a factor on all lengths of the prototype ---- */

typedef enum dls_size_kind {
    DLS_SIZE_CONSTANT = 0,
    DLS_SIZE_UNIFORM,
    DLS_SIZE_NORMAL,
    DLS_SIZE_TABLE
} dls_size_kind;

typedef struct dls_size_law {
    dls_size_kind kind;
    double low, high; /* what may come */
    double mean, deviation;
    int count; /* of a table */
    const double *size;
    double *until; /* shares added up, the last is 1 */
} dls_size_law;

/* NULL: always 1. */
dls_status dls_read_size(dls_reader *reader, const dls_node *node, dls_size_law *law);
double dls_size_draw(const dls_size_law *law, dls_random *random);
/* The mean of the d-th power, for estimates. */
double dls_size_power_mean(const dls_size_law *law, int d);

/* ---- regions ---- */

/* bounded: a half-space is refused. */
dls_status dls_read_region(dls_reader *reader, const dls_node *map, bool bounded, dls_region *region);

/* ---- what every generator has ---- */

typedef struct dls_common_text {
    const dls_node *size;
    double seed, birth_interval, speed;
    int orientation; /* 0: as the prototype, 1: random */
} dls_common_text;

#define DLS_COMMON_KEYS(type)                                                                                \
    {DLS_KEY("size", DLS_KEY_NODE, offsetof(type, common.size), "",                                          \
             "multiplies all lengths of the prototype: a number or a distribution", "size"),                 \
     "1", false, 0},                                                                                         \
        {DLS_KEY("orientation", DLS_KEY_CHOICE, offsetof(type, common.orientation), "",                      \
                 "as the prototype stands, or any, each as likely", "same|random"),                          \
         NULL, false, 0},                                                                                    \
        {DLS_KEY("seed", DLS_KEY_WHOLE, offsetof(type, common.seed), "",                                     \
                 "another seed, other places, sizes and velocities; the same seed, the same bits", NULL),    \
         NULL, false, 0},                                                                                    \
        {DLS_KEY("speed", DLS_KEY_NOT_NEGATIVE, offsetof(type, common.speed), "m/s",                         \
                 "a random velocity, of this size at most along each axis, is added to the prototype's",     \
                 NULL),                                                                                      \
         NULL, false, 0},                                                                                    \
    {                                                                                                        \
        DLS_KEY("birth_interval", DLS_KEY_NOT_NEGATIVE, offsetof(type, common.birth_interval), "s",          \
                "time between the births of one body and the next; 0: all at once", NULL),                   \
            NULL, false, 0                                                                                   \
    }

/* ---- mixtures ---- */

typedef struct dls_part {
    dls_prototype prototype;
    dls_size_law size;
    bool has_size; /* of its own */
    double weight; /* share of the number of bodies; all add up to 1 once sizes are set */
} dls_part;

struct dls_mixture {
    const dls_node *node;
    int count;
    dls_part *parts;
    bool by_mass;
};

/* The `body` or the `mixture` of an item. */
dls_status dls_mixture_read(dls_reader *reader, const dls_node *item, const char *family,
                            dls_prototype_use use, dls_mixture *mixture);
/* Parts without a size of their own get this one; weights become shares of numbers. */
dls_status dls_mixture_set_sizes(dls_reader *reader, dls_mixture *mixture, const dls_size_law *size);
/* Of the largest ball about a body. */
double dls_mixture_radius(const dls_mixture *mixture);
/* How many of n bodies are of which part. */
void dls_mixture_apportion(const dls_mixture *mixture, int64_t n, int64_t *counts);
/* The part of the body behind those that are made. */
int dls_mixture_next(const dls_mixture *mixture, const int64_t *made);

/* ---- bodies of a generator ---- */

typedef struct dls_crowd {
    dls_reader *reader;
    const dls_node *map;
    dls_mixture *mixture;
    dls_common_text common;
    dls_random random;
    int *order; /* parts of the bodies that are planned; NULL where there is one part */
    int64_t planned;
    int64_t count; /* made so far */
} dls_crowd;

/* Reads sizes; dls_crowd_end() belongs to it, whatever it says. */
dls_status dls_crowd_begin(dls_crowd *crowd, dls_reader *reader, const dls_node *map, dls_mixture *mixture,
                           const dls_common_text *common);
void dls_crowd_end(dls_crowd *crowd);
/* So many bodies are going to be made: they must fit into memory, and each gets its part. */
dls_status dls_crowd_plan(dls_crowd *crowd, const dls_node *node, double total);
const dls_part *dls_crowd_part(const dls_crowd *crowd, int64_t number);
/* The next body at x, of a size that was drawn from that of its part. */
dls_status dls_crowd_add(dls_crowd *crowd, const double *x, const dls_part *part, double size);
/* Any orientation, each as likely. */
void dls_rotation_draw(dls_random *random, int dimension, double *q);

dls_status dls_generate_packing(dls_reader *reader, const dls_node *map, dls_mixture *mixture);

#endif

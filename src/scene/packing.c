/* Random packings without overlap of the balls that hold the bodies.
 *
 * The largest first, each at a random place that is free. Where none is found any more (above a third of the
 * volume in space, half of the area in the plane), all are put at random and pushed apart. */
#include "scene/generate.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct packing_text {
    dls_common_text common;
    const dls_node *region;
    double count, solid_fraction, gap;
} packing_text;

static void packing_defaults(void *target) {
    packing_text *text = target;
    text->common.seed = 1;
}

static const dls_key packing_keys[] = {
    {DLS_KEY("region", DLS_KEY_NODE, offsetof(packing_text, region), "", "where they lie", "region"), NULL,
     true, 0},
    {DLS_KEY("count", DLS_KEY_COUNT, offsetof(packing_text, count), "", "how many bodies", NULL), "none",
     false, 0},
    {DLS_KEY("solid_fraction", DLS_KEY_SHARE, offsetof(packing_text, solid_fraction), "",
             "instead of count: their volume (area) in parts of the region's", NULL),
     "none", false, 0},
    {DLS_KEY("gap", DLS_KEY_NOT_NEGATIVE, offsetof(packing_text, gap), "m", "least room between two bodies",
             NULL),
     NULL, false, 0},
    DLS_COMMON_KEYS(packing_text),
};

const dls_group dls_group_packing = {"bodies.packing",
                                     "a packing",
                                     "Random places in a region, without overlap of the balls that hold the "
                                     "bodies. Spheres reach a solid fraction of "
                                     "about 0.55, discs of 0.75.",
                                     DLS_GROUP_KEYS(packing_keys),
                                     sizeof(packing_text),
                                     packing_defaults};

/* ---- balls in cells ---- */

enum { LEVELS = 24 };

typedef struct ball {
    const dls_part *part;
    double x[3], radius, size;
    int64_t cell[3];
    int level, next;
} ball;

typedef struct packing {
    dls_region region;
    double gap, largest;
    int count, placed;
    ball *balls;
    int *order; /* from the largest down */
    int *slots; /* of the hash table: the first ball of a cell, −1 for none */
    uint32_t mask;
    double (*push)[3];
    double overlap; /* of a round: squares of depths in parts of distances, added up */
} packing;

static double cell_size(const packing *p, int level) { return ldexp(2 * p->largest + p->gap, -level); }

static uint32_t slot_of(const packing *p, int level, const int64_t *cell) {
    uint64_t h = (uint64_t)level;
    for (int k = 0; k < 3; k++) {
        h = (h ^ (uint64_t)cell[k]) * 0x9E3779B97F4A7C15u;
        h ^= h >> 29;
    }
    uint32_t slot = (uint32_t)h & p->mask;
    for (;; slot = (slot + 1) & p->mask) {
        if (p->slots[slot] < 0) return slot;
        const ball *first = &p->balls[p->slots[slot]];
        if (first->level == level && !memcmp(first->cell, cell, sizeof first->cell)) return slot;
    }
}

static void cell_of(const packing *p, const double *x, int level, int64_t *cell) {
    double size = cell_size(p, level);
    for (int k = 0; k < 3; k++) cell[k] = (int64_t)floor((x[k] - p->region.low[k]) / size);
}

static void insert(packing *p, int index) {
    ball *b = &p->balls[index];
    cell_of(p, b->x, b->level, b->cell);
    uint32_t slot = slot_of(p, b->level, b->cell);
    b->next = p->slots[slot];
    p->slots[slot] = index;
}

static void clear(packing *p) { memset(p->slots, 0xff, ((size_t)p->mask + 1) * sizeof *p->slots); }

/* Calls meet for every ball of the levels 0 … level that may touch one at x; false ends the search. */
typedef bool (*meet_function)(packing *p, int index, const double *x, int other);

static bool search_level(packing *p, int index, const double *x, int level, meet_function meet) {
    double size = cell_size(p, level), reach = p->balls[index].radius + p->gap + size / 2, end[3];
    int64_t first[3], last[3], cell[3];
    for (int k = 0; k < 3; k++) end[k] = k < p->region.dimension ? x[k] - reach : x[k];
    cell_of(p, end, level, first);
    for (int k = 0; k < 3; k++) end[k] = k < p->region.dimension ? x[k] + reach : x[k];
    cell_of(p, end, level, last);
    for (cell[2] = first[2]; cell[2] <= last[2]; cell[2]++)
        for (cell[1] = first[1]; cell[1] <= last[1]; cell[1]++)
            for (cell[0] = first[0]; cell[0] <= last[0]; cell[0]++)
                for (int i = p->slots[slot_of(p, level, cell)]; i >= 0; i = p->balls[i].next)
                    if (!meet(p, index, x, i)) return false;
    return true;
}

/* At x, and at its images where the region is periodic and the border is near. */
static bool search(packing *p, int index, meet_function meet) {
    const ball *b = &p->balls[index];
    const dls_region *region = &p->region;
    double near = b->radius + p->largest + p->gap, x[3];
    int low[3] = {0}, high[3] = {0}, shift[3];
    for (int k = 0; k < region->dimension; k++) {
        if (!region->periodic[k]) continue;
        high[k] = b->x[k] - region->low[k] < near;
        low[k] = region->high[k] - b->x[k] < near ? -1 : 0;
    }
    for (shift[2] = low[2]; shift[2] <= high[2]; shift[2]++)
        for (shift[1] = low[1]; shift[1] <= high[1]; shift[1]++)
            for (shift[0] = low[0]; shift[0] <= high[0]; shift[0]++) {
                for (int k = 0; k < 3; k++) x[k] = b->x[k] + shift[k] * (region->high[k] - region->low[k]);
                for (int level = 0; level <= b->level; level++)
                    if (!search_level(p, index, x, level, meet)) return false;
            }
    return true;
}

/* ---- one after the other ---- */

static bool is_free_of(packing *p, int index, const double *x, int other) {
    const ball *b = &p->balls[other];
    return vec_distance(x, b->x) >= p->balls[index].radius + b->radius + p->gap;
}

/* A place in the region where the ball fits; false when the draws run out. */
static bool draw_place(packing *p, ball *b, dls_random *random) {
    const dls_region *region = &p->region;
    for (int tries = 0; tries < 1000; tries++) {
        for (int k = 0; k < region->dimension; k++) {
            double inset = region->periodic[k] ? 0 : b->radius;
            b->x[k] = dls_random_between(random, region->low[k] + inset, region->high[k] - inset);
        }
        if (dls_region_holds(region, b->x, b->radius * (1 - 1e-14))) return true;
    }
    return false;
}

static bool place_one_by_one(packing *p, dls_random *random) {
    double draws = 2e4 + 200.0 * p->count;
    clear(p);
    for (p->placed = 0; p->placed < p->count; p->placed++) {
        ball *b = &p->balls[p->order[p->placed]];
        for (bool found = false; !found;) {
            if (draws-- < 0 || !draw_place(p, b, random)) return false;
            found = search(p, p->order[p->placed], is_free_of);
        }
        insert(p, p->order[p->placed]);
    }
    return true;
}

/* ---- pushed apart ---- */

/* Both move along the line of centres, the smaller one farther; one from the other's image alike. */
static bool push_apart(packing *p, int index, const double *x, int other) {
    ball *a = &p->balls[index], *b = &p->balls[other];
    if (other == index || (a->level == b->level && other > index)) return true; /* each pair once */
    double d[3], length, wanted = (a->radius + b->radius + p->gap) * 1.002;
    vec_sub(d, x, b->x);
    length = vec_norm(d);
    if (length >= wanted) return true;
    if (!(length > 1e-9 * wanted)) { /* on each other: any direction, the same every time */
        vec_set(d, 1, 0, 0);
        d[1] = (index % 7) * 0.1;
        length = vec_norm(d);
        vec_scale(d, 1e-3 * wanted / length, d);
        length = 1e-3 * wanted;
    }
    double depth = wanted - length, share = b->radius / (a->radius + b->radius);
    p->overlap += depth * depth / (wanted * wanted);
    vec_along(p->push[index], p->push[index], 0.7 * share * depth / length, d);
    vec_along(p->push[other], p->push[other], -0.7 * (1 - share) * depth / length, d);
    return true;
}

static void keep_inside(const dls_region *region, ball *b) {
    double d[3], radius = b->radius * (1 + 1e-12);
    for (int k = 0; k < region->dimension; k++) {
        double low = region->low[k], high = region->high[k], length = high - low;
        if (region->periodic[k])
            b->x[k] -= length * floor((b->x[k] - low) / length);
        else
            b->x[k] = fmin(fmax(b->x[k], low + radius), high - radius);
    }
    dls_region_offset(region, b->x, d);
    double length = vec_norm(d), most = region->radius - radius;
    if (region->across && length > most) vec_along(b->x, b->x, most / length - 1, d);
}

static void insert_all(packing *p) {
    clear(p);
    for (int i = 0; i < p->count; i++) insert(p, p->order[i]);
}

static bool check_free(packing *p, int index, const double *x, int other) {
    return other == index || is_free_of(p, index, x, other);
}

static void push_all(packing *p) {
    p->overlap = 0;
    memset(p->push, 0, (size_t)p->count * sizeof *p->push);
    for (int i = 0; i < p->count; i++) search(p, i, push_apart);
    for (int i = 0; i < p->count; i++) {
        vec_add(p->balls[i].x, p->balls[i].x, p->push[i]);
        keep_inside(&p->region, &p->balls[i]);
    }
}

/* Pushing ends in a place for all, or where all are stuck: then the overlap stays as it is, while it goes
 * down on the way to a place, however slowly past a saddle. */
static bool place_together(packing *p, dls_random *random) {
    double work = 2e9; /* visits: a minute or so, then it is said to be too dense */
    double least = INFINITY, patience = 500 + 150000.0 / p->count;
    for (int i = p->placed; i < p->count; i++)
        if (!draw_place(p, &p->balls[p->order[i]], random)) return false;
    p->placed = p->count;
    for (int round = 0, gained = 0; work > 0; round++, work -= 1000.0 * p->count) {
        insert_all(p);
        bool free = round % 8 == 7;
        for (int i = 0; i < p->count && free; i++) free = search(p, i, check_free);
        if (free) return true;
        push_all(p);
        if (p->overlap < (1 - 1e-9) * least) least = p->overlap, gained = round;
        if (round - gained > patience) return false;
    }
    return false;
}

/* ---- the generator ---- */

typedef struct ranked {
    double radius;
    int index;
} ranked;

static int compare_ranks(const void *a, const void *b) {
    const ranked *i = a, *j = b;
    return i->radius > j->radius   ? -1
           : i->radius < j->radius ? 1
                                   : (i->index > j->index) - (i->index < j->index);
}

/* From the largest down, and the level of each: cells halve from level to level. */
static bool rank_balls(packing *p) {
    ranked *ranks = DLS_NEW(ranked, p->count);
    if (!ranks) return false;
    for (int i = 0; i < p->count; i++) ranks[i] = (ranked){p->balls[i].radius, i};
    qsort(ranks, (size_t)p->count, sizeof *ranks, compare_ranks);
    p->largest = ranks[0].radius;
    for (int i = 0; i < p->count; i++) {
        ball *b = &p->balls[ranks[i].index];
        p->order[i] = ranks[i].index;
        while (b->level < LEVELS && 2 * b->radius + p->gap <= cell_size(p, b->level + 1)) b->level++;
    }
    dls_free(ranks);
    return true;
}

static dls_status append_ball(packing *p, int64_t *capacity, double size, const dls_part *part,
                              dls_error *error) {
    if (!DLS_RESERVE(p->balls, p->count, *capacity, p->count + 1)) return dls_fail_memory(error);
    p->balls[p->count++] = (ball){.part = part, .size = size, .radius = part->prototype.radius * size};
    return DLS_OK;
}

static dls_status draw_count(dls_crowd *crowd, packing *p, double count) {
    int64_t capacity = 0;
    dls_status status = dls_crowd_plan(crowd, crowd->map, count);
    while (!status && p->count < count) {
        const dls_part *part = dls_crowd_part(crowd, p->count);
        double size = dls_size_draw(&part->size, &crowd->random);
        status = append_ball(p, &capacity, size, part, crowd->reader->error);
    }
    return status;
}

/* As many as come nearest to a volume, the parts of a mixture by their shares all along. */
static dls_status draw_volume(dls_crowd *crowd, packing *p, double wanted) {
    const dls_mixture *m = crowd->mixture;
    int d = crowd->reader->dimension;
    int64_t capacity = 0, *made = dls_arena_take(crowd->reader->arena, (size_t)m->count, sizeof *made);
    if (!made) return dls_fail_memory(crowd->reader->error);
    double mean = 0, filled = 0;
    for (int k = 0; k < m->count; k++)
        mean += m->parts[k].weight * m->parts[k].prototype.volume * dls_size_power_mean(&m->parts[k].size, d);
    dls_status status = DLS_OK;
    for (int k = 0; k < m->count && !status; k++)
        status = dls_reader_reserve(crowd->reader, crowd->map, ceil(m->parts[k].weight * wanted / mean),
                                    &m->parts[k].prototype);
    while (!status) {
        int k = dls_mixture_next(m, made);
        const dls_part *part = &m->parts[k];
        double size = dls_size_draw(&part->size, &crowd->random),
               more = part->prototype.volume * pow(size, d);
        if (filled + more / 2 > wanted) break;
        filled += more;
        made[k]++;
        status = append_ball(p, &capacity, size, part, crowd->reader->error);
    }
    return status;
}

/* Draws count sizes, or as many as come nearest to the solid fraction. */
static dls_status draw_sizes(dls_crowd *crowd, const packing_text *text, packing *p) {
    dls_status status = text->count > 0
                            ? draw_count(crowd, p, text->count)
                            : draw_volume(crowd, p, text->solid_fraction * dls_region_volume(&p->region));
    if (!status && !p->count)
        return dls_node_fail(
            crowd->map, crowd->reader->error,
            "no body fits into a solid fraction of %g, expected more room or a larger fraction",
            text->solid_fraction);
    return status;
}

static dls_status check_fit(const dls_crowd *crowd, const packing_text *text, const packing *p) {
    const dls_region *region = &p->region;
    double room = INFINITY, filled = 0;
    for (int k = 0; k < region->dimension; k++)
        room = fmin(room, region->high[k] - region->low[k] - (region->periodic[k] ? p->gap : 0));
    if (2 * p->largest > room)
        return dls_node_fail(text->region, crowd->reader->error,
                             "a body of radius %g m in a region %g m wide, expected a wider one", p->largest,
                             room);
    for (int i = 0; i < p->count; i++)
        filled += pow(p->balls[i].radius, region->dimension) * (region->dimension == 2 ? 3.1416 : 4.18879);
    double fraction = filled / dls_region_volume(region), most = region->dimension == 2 ? 0.9069 : 0.7405;
    if (fraction < most) return DLS_OK;
    return dls_node_fail(crowd->map, crowd->reader->error,
                         "balls around the bodies fill %.3g of the region, expected less than %g", fraction,
                         most);
}

static dls_status allocate(packing *p, dls_error *error) {
    uint32_t slots = 64;
    while (slots < 2.0 * p->count) slots *= 2;
    p->mask = slots - 1;
    p->slots = DLS_NEW(int, slots);
    p->order = DLS_NEW(int, p->count);
    p->push = dls_alloc((size_t)p->count, sizeof *p->push);
    return p->slots && p->order && p->push && rank_balls(p) ? DLS_OK : dls_fail_memory(error);
}

static dls_status place_all(dls_crowd *crowd, const packing_text *text, packing *p) {
    dls_status status = check_fit(crowd, text, p);
    if (status) return status;
    if (!place_one_by_one(p, &crowd->random) && !place_together(p, &crowd->random))
        return dls_node_fail(crowd->map, crowd->reader->error,
                             "no room found for %d bodies without overlap, expected fewer or a larger region",
                             p->count);
    for (int i = 0; i < p->count && !status; i++)
        status = dls_crowd_add(crowd, p->balls[i].x, p->balls[i].part, p->balls[i].size);
    return status;
}

dls_status dls_generate_packing(dls_reader *reader, const dls_node *map, dls_mixture *mixture) {
    packing_text text;
    packing p = {0};
    dls_crowd crowd;
    dls_status status = dls_read_group(reader, map, &dls_group_packing, 0, NULL, &text);
    if (!status && (text.count > 0) == (text.solid_fraction > 0))
        return dls_node_fail(map, reader->error, "%s count %s solid_fraction, expected one of them",
                             text.count > 0 ? "both" : "neither", text.count > 0 ? "and" : "nor");
    if (!status) status = dls_read_region(reader, text.region, true, &p.region);
    if (status) return status;
    status = dls_crowd_begin(&crowd, reader, map, mixture, &text.common);
    p.gap = text.gap;
    if (!status) status = draw_sizes(&crowd, &text, &p);
    if (!status) status = allocate(&p, reader->error);
    if (!status) status = place_all(&crowd, &text, &p);
    dls_crowd_end(&crowd);
    dls_free(p.balls);
    dls_free(p.order);
    dls_free(p.slots);
    dls_free(p.push);
    return status;
}

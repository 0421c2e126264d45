/* Mixtures: several prototypes with shares, from one generator or one inlet. */
#include "scene/generate.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct part_text {
    double number_share, mass_share;
    const dls_node *size, *body;
} part_text;

static void part_defaults(void *target) {
    part_text *text = target;
    text->number_share = text->mass_share = NAN;
}

static const dls_key part_keys[] = {
    {DLS_KEY("body", DLS_KEY_NODE, offsetof(part_text, body), "", "the prototype", "body"), NULL, true, 0},
    {DLS_KEY("number_share", DLS_KEY_NOT_NEGATIVE, offsetof(part_text, number_share), "",
             "how many bodies are of it, in parts of any sum", NULL),
     "none", false, 0},
    {DLS_KEY("mass_share", DLS_KEY_NOT_NEGATIVE, offsetof(part_text, mass_share), "",
             "instead: how much of the mass, in parts of any sum", NULL),
     "none", false, 0},
    {DLS_KEY("size", DLS_KEY_NODE, offsetof(part_text, size), "",
             "of its bodies, instead of the generator's: a number or a distribution", "size"),
     "that of the generator", false, 0},
};

const dls_group dls_group_mixture = {
    "bodies.mixture",
    "a part of a mixture",
    "A generator or an inlet has one prototype, its `body`, or a `mixture`: a list of such maps, all with "
    "`number_share` or all with `mass_share`. Numbers of bodies follow the shares exactly, but for what is "
    "left of one body (largest remainders); masses are taken as the mean of the sizes. Which body is of "
    "which part is random and follows from the seed.",
    DLS_GROUP_KEYS(part_keys),
    sizeof(part_text),
    part_defaults};

/* ---- reading ---- */

static dls_status read_part(dls_reader *reader, const dls_node *map, dls_prototype_use use,
                            const char *family, dls_mixture *m, dls_part *part) {
    part_text text;
    dls_status status = dls_read_group(reader, map, &dls_group_mixture, 0, NULL, &text);
    if (status) return status;
    bool by_number = !isnan(text.number_share), by_mass = !isnan(text.mass_share);
    if (by_number == by_mass)
        return dls_node_fail(map, reader->error, "%s number_share %s mass_share, expected one of them",
                             by_mass ? "both" : "neither", by_mass ? "and" : "nor");
    if (part > m->parts && by_mass != m->by_mass)
        return dls_node_fail(map, reader->error, "a %s behind a %s, expected the same in all parts",
                             by_mass ? "mass_share" : "number_share",
                             by_mass ? "number_share" : "mass_share");
    m->by_mass = by_mass;
    part->weight = by_mass ? text.mass_share : text.number_share;
    part->has_size = text.size != NULL;
    status = dls_read_size(reader, text.size, &part->size);
    return status ? status : dls_prototype_read(reader, text.body, use, family, &part->prototype);
}

static dls_status read_parts(dls_reader *reader, const dls_node *list, dls_prototype_use use,
                             const char *family, dls_mixture *m) {
    if (list->kind != DLS_NODE_LIST || !list->count)
        return dls_node_fail(list, reader->error, "mixture is %s, expected a list of parts",
                             list->kind == DLS_NODE_LIST ? "empty" : dls_node_noun(list));
    m->parts = dls_arena_take(reader->arena, (size_t)list->count, sizeof *m->parts);
    if (!m->parts) return dls_fail_memory(reader->error);
    double sum = 0;
    for (const dls_node *child = list->first; child; child = child->next) {
        dls_status status = read_part(reader, child, use, family, m, &m->parts[m->count]);
        if (status) return status;
        sum += m->parts[m->count++].weight;
    }
    if (sum > 0 && isfinite(sum)) return DLS_OK;
    return dls_node_fail(list, reader->error, "shares add up to %g, expected a sum above 0", sum);
}

dls_status dls_mixture_read(dls_reader *reader, const dls_node *item, const char *family,
                            dls_prototype_use use, dls_mixture *m) {
    const dls_node *body = dls_node_find(item, "body"), *list = dls_node_find(item, "mixture");
    *m = (dls_mixture){.node = list ? list : body};
    if (!body == !list)
        return dls_node_fail(item, reader->error, "'%s' has %s", family,
                             body ? "both 'body' and 'mixture' beside it, expected one of them"
                                  : "no 'body' beside it, expected a prototype or a 'mixture'");
    if (list) return read_parts(reader, list, use, family, m);
    m->parts = dls_arena_take(reader->arena, 1, sizeof *m->parts);
    if (!m->parts) return dls_fail_memory(reader->error);
    m->count = 1;
    m->parts->weight = 1;
    return dls_prototype_read(reader, body, use, family, &m->parts->prototype);
}

dls_status dls_mixture_set_sizes(dls_reader *reader, dls_mixture *m, const dls_size_law *common) {
    double sum = 0;
    for (int k = 0; k < m->count; k++) {
        dls_part *part = &m->parts[k];
        if (!part->has_size) part->size = *common;
        double mean = m->by_mass ? dls_size_power_mean(&part->size, reader->dimension) : 1;
        if (m->by_mass) part->weight /= part->prototype.mass * mean;
        sum += part->weight;
    }
    if (!(sum > 0 && isfinite(sum)))
        return dls_node_fail(m->node, reader->error,
                             "shares make no numbers of bodies, expected other masses");
    for (int k = 0; k < m->count; k++) m->parts[k].weight /= sum;
    return DLS_OK;
}

double dls_mixture_radius(const dls_mixture *m) {
    double most = 0;
    for (int k = 0; k < m->count; k++)
        most = fmax(most, m->parts[k].prototype.radius * m->parts[k].size.high);
    return most;
}

/* ---- which body is of which part ---- */

/* Largest remainders: n_k = ⌊w_k n⌋, and one more for those with the largest w_k n − n_k; ties to the first.
 */
void dls_mixture_apportion(const dls_mixture *m, int64_t n, int64_t *counts) {
    int64_t given = 0;
    for (int k = 0; k < m->count; k++) given += counts[k] = (int64_t)floor(m->parts[k].weight * (double)n);
    for (; given < n; given++) {
        int best = 0;
        double most = -INFINITY;
        for (int k = 0; k < m->count; k++) {
            double rest = m->parts[k].weight * (double)n - (double)counts[k];
            if (rest > most && m->parts[k].weight > 0) most = rest, best = k;
        }
        counts[best]++;
    }
}

/* The part that is farthest behind its share, w_k (n + 1) − n_k, so that every beginning has the shares. */
int dls_mixture_next(const dls_mixture *m, const int64_t *made) {
    int best = 0;
    double most = -INFINITY, total = 1;
    for (int k = 0; k < m->count; k++) total += (double)made[k];
    for (int k = 0; k < m->count; k++) {
        double behind = m->parts[k].weight * total - (double)made[k];
        if (m->parts[k].weight > 0 && behind > most) most = behind, best = k;
    }
    return best;
}

/* Another sequence than that of places and sizes, which do not change with the parts. */
static void shuffle(int *order, int64_t count, uint64_t seed) {
    dls_random random = {seed ^ UINT64_C(0x6d69787475726573)};
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t k = (int64_t)dls_random_below(&random, (uint64_t)i + 1);
        int swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
}

dls_status dls_crowd_plan(dls_crowd *crowd, const dls_node *node, double total) {
    const dls_mixture *m = crowd->mixture;
    dls_status status = DLS_OK;
    for (int k = 0; k < m->count && !status; k++)
        status =
            dls_reader_reserve(crowd->reader, node, ceil(total * m->parts[k].weight), &m->parts[k].prototype);
    if (status || m->count == 1) return status;
    int64_t count = (int64_t)total, *counts = DLS_NEW(int64_t, m->count);
    crowd->order = DLS_NEW(int, count);
    if (!counts || !crowd->order) {
        dls_free(counts);
        return dls_fail_memory(crowd->reader->error);
    }
    dls_mixture_apportion(m, count, counts);
    int64_t at = 0;
    for (int k = 0; k < m->count; k++)
        for (int64_t i = 0; i < counts[k]; i++) crowd->order[at++] = k;
    assert(at == count);
    shuffle(crowd->order, count, crowd->random.state);
    crowd->planned = count;
    dls_free(counts);
    return DLS_OK;
}

const dls_part *dls_crowd_part(const dls_crowd *crowd, int64_t number) {
    assert(!crowd->order || number < crowd->planned);
    return &crowd->mixture->parts[crowd->order ? crowd->order[number] : 0];
}

void dls_crowd_end(dls_crowd *crowd) { dls_free(crowd->order); }

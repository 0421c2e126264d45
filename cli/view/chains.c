/* Force chains: contacts that carried a normal force, frame after frame. Those that were there in the frame
 * before come first, in its order, and cost a flag; the others follow with their bodies. Of each
 *
 *     F_n  its logarithm, eight levels to a factor of two          slip  |r_t| ≥ 0.999 μ r_n
 *
 * and, unless two balls touch, which tell it by their places, the point in 1/84 of a body's reach and the
 * normal folded onto an octahedron. Where contacts take more room than they have, the weakest are left out.
 */
#include "cli/support/report.h"
#include "cli/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST_THINGS = 3600; /* bodies times frames for which any run has room */
enum { LEVELS = 8, TOP_LEVEL = 255, PLACE = 5, PLACES_TO_A_REACH = 84 };

typedef struct chain {
    int a, b, shape_a, shape_b;
    int image; /* 13: the same; 9, 3 and 1 for each period along x, y and z */
    uint64_t feature;
    double force; /* N */
    uint8_t level, slip;
    bool has_place;
    int8_t place[PLACE]; /* the point, and the normal */
} chain;

typedef struct chain_list {
    chain *item;
    int count;
} chain_list;

static double clamp(double x, double most) { return fmax(-most, fmin(most, x)); }

/* n / (|n_x| + |n_y| + |n_z|), the lower half folded over the upper one. */
static void fold_normal(const double *n, int8_t *two) {
    double sum = fabs(n[0]) + fabs(n[1]) + fabs(n[2]), x = n[0] / sum, y = n[1] / sum;
    if (n[2] < 0) {
        double folded = copysign(1 - fabs(y), x);
        y = copysign(1 - fabs(x), y);
        x = folded;
    }
    two[0] = (int8_t)lrint(127 * clamp(x, 1));
    two[1] = (int8_t)lrint(127 * clamp(y, 1));
}

static void take_place(const view_run *run, const dls_contact_record *r, const dls_body_state *states,
                       chain *c) {
    int body = run->bodies[r->body_a].moves ? r->body_a : r->body_b;
    double reach = run->bodies[body].reach;
    c->has_place = !(run->bodies[r->body_a].is_ball && run->bodies[r->body_b].is_ball);
    if (!c->has_place) return;
    for (int k = 0; k < 3; k++) {
        double away = r->point[k] - states[body].x[k];
        c->place[k] = reach > 0 ? (int8_t)lrint(PLACES_TO_A_REACH * clamp(away / reach, 1.5)) : 0;
    }
    fold_normal(r->frame, c->place + 3);
}

static chain chain_of(const view_run *run, const dls_contact_record *r, const dls_body_state *states,
                      double length) {
    double along = hypot(r->impulse[1], r->impulse[2]);
    chain c = {.a = r->body_a,
               .b = r->body_b,
               .shape_a = r->shape_a,
               .shape_b = r->shape_b,
               .feature = r->feature,
               .force = r->impulse[0] / length,
               .slip = along >= 0.999 * r->mu * r->impulse[0]};
    c.image = (int)(13 + 9 * clamp(r->image[0], 1) + 3 * clamp(r->image[1], 1) + clamp(r->image[2], 1));
    take_place(run, r, states, &c);
    return c;
}

/* What it puts on bodies that do not move freely. */
static void add_wall_force(const view_run *run, const dls_contact_record *r, double *sum) {
    bool on_a = !run->bodies[r->body_a].moves, on_b = !run->bodies[r->body_b].moves;
    for (int k = 0; k < 3 && on_a != on_b; k++)
        for (int c = 0; c < 3; c++) sum[k] += (on_b ? 1 : -1) * r->frame[3 * c + k] * r->impulse[c];
}

static bool read_frame(view_run *run, int frame, chain_list *list) {
    int shown = view_result_frame(run, frame), count = dls_results_frame_contact_count(run->results, shown);
    double length = run->frame[shown].length, wall[3] = {0, 0, 0};
    dls_contact_record *records = report_allocate((size_t)count + 1, sizeof *records);
    dls_body_state *states = report_allocate((size_t)run->body_count + 1, sizeof *states);
    dls_error error;
    bool good = !dls_results_frame_states(run->results, shown, states, NULL, &error) &&
                !dls_results_frame_contacts(run->results, shown, records, &error);
    list->item = report_allocate((size_t)count + 1, sizeof *list->item);
    for (int k = 0; k < count && good && length > 0; k++) {
        add_wall_force(run, &records[k], wall);
        if (records[k].impulse[0] > 0) list->item[list->count++] = chain_of(run, &records[k], states, length);
    }
    if (length > 0)
        run->frame[shown].wall_force =
            sqrt(wall[0] * wall[0] + wall[1] * wall[1] + wall[2] * wall[2]) / length;
    if (!good) report_error("view: %s", error.message);
    free(records);
    free(states);
    return good;
}

/* ---- the same contact in two frames ---- */

static int by_identity(const void *left, const void *right) {
    const chain *p = left, *q = right;
    const int ps[] = {p->a, p->b, p->shape_a, p->shape_b, p->image},
              qs[] = {q->a, q->b, q->shape_a, q->shape_b, q->image};
    for (int k = 0; k < 5; k++)
        if (ps[k] != qs[k]) return ps[k] < qs[k] ? -1 : 1;
    return p->feature < q->feature ? -1 : p->feature > q->feature;
}

/* ---- streams of a block ---- */

typedef struct streams {
    view_bytes counts, stays, bodies, levels, slips, places[PLACE];
} streams;

static void put_contact(streams *s, const chain *c, const chain *before) {
    bytes_put(&s->levels, (uint8_t)(c->level - (before ? before->level : 0)));
    bytes_put(&s->slips, c->slip);
    for (int k = 0; k < PLACE && c->has_place; k++)
        bytes_put(&s->places[k], (uint8_t)(c->place[k] - (before ? before->place[k] : 0)));
}

static void put_bodies(streams *s, const chain *c, int *last) {
    bytes_put_count(&s->bodies, (uint64_t)(c->a - *last));
    int apart = c->b - c->a;
    bytes_put_count(&s->bodies, (uint64_t)(apart < 0 ? -2 * (int64_t)apart - 1 : 2 * (int64_t)apart));
    bytes_put(&s->bodies, (uint8_t)c->image);
    *last = c->a;
}

/* Puts those of list that are at least as strong as floor, and leaves in `kept` the order they came in. */
static void put_frame(streams *s, const chain_list *list, double floor, chain_list *kept) {
    chain_list now = {report_allocate((size_t)list->count + 1, sizeof *now.item), 0};
    bool *known = report_allocate((size_t)list->count + 1, sizeof *known);
    for (int k = 0; k < kept->count; k++) {
        chain *found = bsearch(&kept->item[k], list->item, (size_t)list->count, sizeof *found, by_identity);
        bool stays = found && found->force >= floor && !known[found - list->item];
        bytes_put(&s->stays, stays);
        if (!stays) continue;
        known[found - list->item] = true;
        put_contact(s, found, &kept->item[k]);
        now.item[now.count++] = *found;
    }
    int stayed = now.count, last = 0;
    for (int k = 0; k < list->count; k++) {
        if (known[k] || list->item[k].force < floor) continue;
        put_bodies(s, &list->item[k], &last);
        put_contact(s, &list->item[k], NULL);
        now.item[now.count++] = list->item[k];
    }
    bytes_put_count(&s->counts, (uint64_t)(now.count - stayed));
    free(known);
    free(kept->item);
    *kept = now;
}

/* Each stream with its length before it, all deflated. */
static view_bytes join_streams(streams *s) {
    view_bytes all = {0}, *parts[5 + PLACE] = {&s->counts, &s->stays, &s->bodies, &s->levels, &s->slips};
    for (int k = 0; k < PLACE; k++) parts[5 + k] = &s->places[k];
    for (int k = 0; k < 5 + PLACE; k++) {
        bytes_put_count(&all, parts[k]->count);
        bytes_append(&all, parts[k]);
        bytes_free(parts[k]);
    }
    bytes_deflate(&all);
    return all;
}

static view_bytes pack_above(const chain_list *lists, int frames, double floor) {
    streams s = {0};
    chain_list kept = {0};
    for (int f = 0; f < frames; f++) put_frame(&s, &lists[f], floor, &kept);
    free(kept.item);
    return join_streams(&s);
}

/* ---- a block ---- */

static int by_size(const void *left, const void *right) {
    double p = *(const double *)left, q = *(const double *)right;
    return p < q ? -1 : p > q;
}

/* All forces, ascending. */
static double *sorted_forces(const chain_list *lists, int frames, int64_t count) {
    double *forces = report_allocate((size_t)count + 1, sizeof *forces);
    for (int f = 0, used = 0; f < frames; f++)
        for (int k = 0; k < lists[f].count; k++) forces[used++] = lists[f].item[k].force;
    qsort(forces, (size_t)count, sizeof *forces, by_size);
    return forces;
}

/* level = 255 + 8 log₂(F/F_top), 1 at least */
static void set_levels(chain_list *lists, int frames, double top) {
    for (int f = 0; f < frames; f++)
        for (int k = 0; k < lists[f].count; k++)
            lists[f].item[k].level =
                (uint8_t)fmax(1, rint(TOP_LEVEL + LEVELS * log2(lists[f].item[k].force / top)));
}

/* As many of the strongest as the room lets in. */
static void fit(const view_run *run, view_block *block, const chain_list *lists, const double *forces) {
    double things = fmax((double)run->body_count + run->point_count, LEAST_THINGS / run->frames);
    double room = run->room * things * block->count, share = 1;
    for (int attempt = 0; attempt < 8; attempt++) {
        block->left_out = (int64_t)((1 - share) * (double)block->contacts);
        bytes_free(&block->chains);
        double floor = block->left_out < block->contacts ? forces[block->left_out] : (double)INFINITY;
        block->chains = pack_above(lists, block->count, floor);
        if ((double)block->chains.count <= room || block->contacts == 0) return;
        share *= fmin(0.9, 0.97 * room / (double)block->chains.count);
    }
    block->left_out = block->contacts;
    bytes_free(&block->chains);
    block->chains = pack_above(lists, block->count, INFINITY);
}

bool view_chains_pack(view_run *run, view_block *block) {
    if (!dls_results_has_contacts(run->results)) return true;
    chain_list *lists = report_allocate((size_t)block->count, sizeof *lists);
    bool good = true;
    for (int f = 0; f < block->count && good; f++) {
        good = read_frame(run, block->first + f, &lists[f]);
        qsort(lists[f].item, (size_t)lists[f].count, sizeof *lists[f].item, by_identity);
        block->contacts += lists[f].count;
    }
    if (good) {
        double *forces = sorted_forces(lists, block->count, block->contacts);
        block->top_force = block->contacts ? forces[block->contacts - 1] : 0;
        set_levels(lists, block->count, block->top_force);
        fit(run, block, lists, forces);
        free(forces);
    }
    for (int f = 0; f < block->count; f++) free(lists[f].item);
    free(lists);
    return good;
}

#include "solve/sweep/shared.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>

/* While it is prepared. */
typedef struct planner {
    dls_sweep_share *share;
    const dls_sweep_cut *cut;
    int words;       /* of a set of ranks */
    uint64_t *users; /* per body: the ranks whose visits touch it */
    int *seen;       /* per body: the range that listed it last, from 1 */
    int64_t *fill;   /* next place of each list, while they are filled */
} planner;

static inline void add_rank(uint64_t *set, int k) { set[k / 64] |= (uint64_t)1 << k % 64; }
static inline bool has_rank(const uint64_t *set, int k) { return set[k / 64] >> k % 64 & 1; }

/* ---- who visits what ---- */

/* Chunks are alike, so that equal numbers of them are equal shares. */
static void cut_blocks(dls_sweep_share *s, int chunk) {
    const dls_problem *p = s->problem;
    int n = p->block_count, chunks = (n + chunk - 1) / chunk;
    for (int k = 0; k <= s->ranks->count; k++) {
        int64_t first = (int64_t)dls_first_of_rank(s->ranks, chunks, k) * chunk;
        s->block[k] = first < n ? first : n;
        s->row_start[k] = (int64_t)sizeof(double) * p->row[s->block[k]];
    }
}

/* The rank of a block that has a colour, at k or behind it. */
static int owner_from(const dls_sweep_share *s, int c, int k) {
    while (c >= s->block[k + 1]) k++;
    return k;
}

/* Pieces of a range ascend, and so do their ranks. */
static void cut_ranges(planner *x) {
    dls_sweep_share *s = x->share;
    const dls_sweep_cut *cut = x->cut;
    int me = s->ranks->index;
    for (int g = 0; g < cut->range_count; g++) {
        dls_sweep_range own = cut->ranges[g];
        while (own.parallel && own.first < own.end && cut->order[cut->piece[own.first]] < s->block[me])
            own.first++;
        while (own.parallel && own.first < own.end && cut->order[cut->piece[own.end - 1]] >= s->block[me + 1])
            own.end--;
        s->own[g] = own;
    }
}

static void add_users(planner *x, int first, int end, int k) {
    const dls_problem *p = x->share->problem;
    for (int place = first; place < end; place++) {
        int body[DLS_MOST_TOUCHED], count = p->op->touched(p, x->cut->order[place], body);
        for (int i = 0; i < count; i++) {
            if (body[i] < 0) continue;
            uint64_t *set = x->users + (int64_t)x->words * body[i];
            if (k >= 0)
                add_rank(set, k);
            else
                for (int w = 0; w < x->words; w++) set[w] = UINT64_MAX; /* those beyond the last count too */
        }
    }
}

static void find_users(planner *x) {
    const dls_sweep_cut *cut = x->cut;
    for (int g = 0; g < cut->range_count; g++) {
        const dls_sweep_range *range = &cut->ranges[g];
        for (int i = range->first, k = 0; i < range->end; i++) {
            k = range->parallel ? owner_from(x->share, cut->order[cut->piece[i]], k) : -1;
            add_users(x, cut->piece[i], cut->piece[i + 1], k);
        }
    }
}

/* ---- messages ---- */

/* One body of a list of range g and rank k: counted, or written down. */
static void list_body(planner *x, dls_halo *halo, int64_t *fill, int g, int k, int body) {
    int64_t list = (int64_t)g * (x->share->ranks->count + 1) + k;
    if (fill) {
        halo->body[fill[list]++] = body;
    } else {
        halo->first[list]++;
        halo->start[list] += x->share->span(x->share->problem, body).count;
    }
}

/* A body that rank k changed in range g goes to all who touch it. */
static void list_change(planner *x, int64_t *fill_out, int64_t *fill_in, int g, int k, int body) {
    dls_sweep_share *s = x->share;
    const uint64_t *set = x->users + (int64_t)x->words * body;
    if (x->seen[body] == g + 1) return;
    x->seen[body] = g + 1;
    if (k != s->ranks->index) {
        if (has_rank(set, s->ranks->index)) list_body(x, &s->in, fill_in, g, k, body);
        return;
    }
    for (int other = 0; other < s->ranks->count; other++)
        if (other != k && has_rank(set, other)) list_body(x, &s->out, fill_out, g, other, body);
}

/* Both sides of a message walk the same blocks in the same order, and so list the same bodies. */
static void list_changes(planner *x, int64_t *fill_out, int64_t *fill_in) {
    const dls_sweep_cut *cut = x->cut;
    const dls_problem *p = x->share->problem;
    memset(x->seen, 0, sizeof(int) * (size_t)p->body_count);
    for (int g = 0; g < cut->range_count; g++) {
        const dls_sweep_range *range = &cut->ranges[g];
        for (int i = range->first, k = 0; i < range->end && range->parallel; i++) {
            k = owner_from(x->share, cut->order[cut->piece[i]], k);
            for (int place = cut->piece[i]; place < cut->piece[i + 1]; place++) {
                int body[DLS_MOST_TOUCHED], count = p->op->touched(p, cut->order[place], body);
                for (int j = 0; j < count; j++)
                    if (body[j] >= 0) list_change(x, fill_out, fill_in, g, k, body[j]);
            }
        }
    }
}

/* Counts to places; returns how many bodies there are, and the numbers of the largest range. */
static int64_t place_lists(planner *x, dls_halo *halo, int64_t *most) {
    int lists = x->share->ranks->count + 1;
    int64_t bodies = 0;
    *most = 0;
    for (int g = 0; g < x->cut->range_count; g++) {
        int64_t numbers = 0;
        for (int k = 0; k < lists; k++) {
            int64_t at = (int64_t)g * lists + k, count = halo->first[at], size = halo->start[at];
            halo->first[at] = bodies;
            halo->start[at] = numbers;
            bodies += count;
            numbers += size;
        }
        if (numbers > *most) *most = numbers;
    }
    return bodies;
}

static bool take_halo(planner *x, dls_halo *halo, int64_t lists, dls_workspace *w) {
    int64_t most, bodies = place_lists(x, halo, &most);
    halo->body = DLS_TAKE(w, int, bodies);
    halo->numbers = DLS_TAKE(w, double, most);
    memcpy(x->fill, halo->first, sizeof(int64_t) * (size_t)lists);
    return halo->body && halo->numbers;
}

/* ---- what is told after a sweep ---- */

static void list_told(planner *x) {
    dls_sweep_share *s = x->share;
    const dls_sweep_cut *cut = x->cut;
    int count = 0;
    for (int k = 0; k < s->ranks->count; k++) {
        s->told_start[k] = (int64_t)sizeof(dls_sweep_change) * count;
        for (int g = 0; g < cut->range_count; g++)
            for (int i = cut->ranges[g].first; i < cut->ranges[g].end && cut->ranges[g].parallel; i++)
                if (owner_from(s, cut->order[cut->piece[i]], 0) == k) s->told[count++] = i;
    }
    s->told_start[s->ranks->count] = (int64_t)sizeof(dls_sweep_change) * count;
}

bool dls_sweep_share_prepare(dls_sweep_share *s, const dls_problem *p, const dls_sweep_cut *cut,
                             dls_workspace *w) {
    int ranks = p->ranks->count, words = (ranks + 63) / 64;
    int64_t lists = (int64_t)cut->range_count * (ranks + 1);
    *s = (dls_sweep_share){
        .ranks = p->ranks,
        .problem = p,
        .span = cut->span,
        .own = DLS_TAKE(w, dls_sweep_range, cut->range_count),
        .block = DLS_TAKE(w, int64_t, ranks + 1),
        .row_start = DLS_TAKE(w, int64_t, ranks + 1),
        .out = {.first = DLS_TAKE_ZERO(w, int64_t, lists), .start = DLS_TAKE_ZERO(w, int64_t, lists)},
        .in = {.first = DLS_TAKE_ZERO(w, int64_t, lists), .start = DLS_TAKE_ZERO(w, int64_t, lists)},
        .told = DLS_TAKE(w, int, cut->piece_count),
        .told_start = DLS_TAKE(w, int64_t, ranks + 1),
        .parts = DLS_TAKE(w, dls_sweep_change, cut->piece_count)};
    planner x = {.share = s,
                 .cut = cut,
                 .words = words,
                 .users = DLS_TAKE_ZERO(w, uint64_t, (int64_t)words * p->body_count),
                 .seen = DLS_TAKE(w, int, p->body_count),
                 .fill = DLS_TAKE(w, int64_t, lists)};
    int64_t *fill_in = DLS_TAKE(w, int64_t, lists);
    if (!s->own || !s->block || !s->row_start || !s->out.first || !s->out.start || !s->in.first ||
        !s->in.start || !s->told || !s->told_start || !s->parts || !x.users || !x.seen || !x.fill || !fill_in)
        return false;
    cut_blocks(s, cut->chunk);
    cut_ranges(&x);
    find_users(&x);
    list_changes(&x, NULL, NULL);
    if (!take_halo(&x, &s->in, lists, w)) return false;
    memcpy(fill_in, x.fill, sizeof(int64_t) * (size_t)lists);
    if (!take_halo(&x, &s->out, lists, w)) return false;
    list_changes(&x, x.fill, fill_in);
    list_told(&x);
    return true;
}

/* ---- within a sweep ---- */

void dls_sweep_share_meet(const dls_sweep_share *s, int g, double *state) {
    const dls_problem *p = s->problem;
    int lists = s->ranks->count + 1, last = lists - 1;
    const int64_t *out = s->out.first + (int64_t)g * lists, *in = s->in.first + (int64_t)g * lists;
    double *number = s->out.numbers;
    for (int64_t i = out[0]; i < out[last]; i++) {
        dls_span span = s->span(p, s->out.body[i]);
        memcpy(number, state + span.first, sizeof(double) * (size_t)span.count);
        number += span.count;
    }
    s->ranks->swap(s->ranks->self, s->out.numbers, s->out.start + (int64_t)g * lists, s->in.numbers,
                   s->in.start + (int64_t)g * lists);
    number = s->in.numbers;
    for (int64_t i = in[0]; i < in[last]; i++) {
        dls_span span = s->span(p, s->in.body[i]);
        memcpy(state + span.first, number, sizeof(double) * (size_t)span.count);
        number += span.count;
    }
}

void dls_sweep_share_tell(const dls_sweep_share *s, dls_sweep_change *parts) {
    int ranks = s->ranks->count;
    int64_t size = (int64_t)sizeof *parts;
    for (int64_t i = s->told_start[s->ranks->index] / size; i < s->told_start[s->ranks->index + 1] / size;
         i++)
        s->parts[i] = parts[s->told[i]];
    s->ranks->gather(s->ranks->self, s->parts, s->told_start);
    for (int64_t i = 0; i < s->told_start[ranks] / size; i++) parts[s->told[i]] = s->parts[i];
}

void dls_sweep_share_gather(const dls_sweep_share *s, double *r) {
    s->ranks->gather(s->ranks->self, r, s->row_start);
}

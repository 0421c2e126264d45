#include "base/parallel.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { LEAST_PART = 512 };

/* ---- processes that were forked ---- */

static atomic_bool has_threads, has_lost_them;
static pthread_once_t watches = PTHREAD_ONCE_INIT;

static void note_fork(void) {
    if (has_threads) has_lost_them = true;
}
static void watch_forks(void) { pthread_atfork(NULL, NULL, note_fork); }

int dls_threads(int wanted) {
    pthread_once(&watches, watch_forks);
    if (has_lost_them) return 1;
    has_threads = true;
    return wanted;
}

/* ---- loops ---- */

void dls_parallel_for(int count, int threads, dls_range_work work, void *self) {
    if (threads <= 1 || count <= LEAST_PART) {
        work(self, 0, count);
        return;
    }
#pragma omp parallel for num_threads(dls_threads(threads)) schedule(static)
    for (int k = 0; k < threads; k++)
        work(self, (int)((long long)count * k / threads), (int)((long long)count * (k + 1) / threads));
}

void dls_parallel_each(int count, int threads, dls_range_work work, void *self) {
    if (threads <= 1 || count <= 1) {
        for (int k = 0; k < count; k++) work(self, k, k + 1);
        return;
    }
#pragma omp parallel for num_threads(dls_threads(threads)) schedule(dynamic, 1)
    for (int k = 0; k < count; k++) work(self, k, k + 1);
}

static int part_size(int count) {
    int size = (count + DLS_MOST_PARTS - 1) / DLS_MOST_PARTS;
    return size < LEAST_PART ? LEAST_PART : size;
}

int dls_part_count(int count) {
    int size = part_size(count), parts = (count + size - 1) / size;
    assert(parts <= DLS_MOST_PARTS);
    return parts;
}

int dls_part_first(int count, int part) {
    int size = part_size(count);
    return part * size < count ? part * size : count;
}

void dls_parallel_some_parts(int count, int first, int end, int threads, dls_part_work work, void *self) {
    if (threads > 1 && end - first > 1) {
#pragma omp parallel for num_threads(dls_threads(threads)) schedule(static)
        for (int k = first; k < end; k++)
            work(self, k, dls_part_first(count, k), dls_part_first(count, k + 1));
    } else {
        for (int k = first; k < end; k++)
            work(self, k, dls_part_first(count, k), dls_part_first(count, k + 1));
    }
}

int dls_parallel_parts(int count, int threads, dls_part_work work, void *self) {
    int parts = dls_part_count(count);
    dls_parallel_some_parts(count, 0, parts, threads, work, self);
    return parts;
}

typedef struct values {
    dls_range_value value;
    void *self;
    double *part;
} values;

static void value_part(void *self, int part, int first, int end) {
    const values *v = self;
    v->part[part] = v->value(v->self, first, end);
}

double dls_parallel_sum(int count, int threads, dls_range_value share, void *self) {
    double part[DLS_MOST_PARTS], sum = 0;
    int parts = dls_parallel_parts(count, threads, value_part, &(values){share, self, part});
    for (int k = 0; k < parts; k++) sum += part[k];
    return sum;
}

double dls_parallel_max(int count, int threads, dls_range_value largest, void *self) {
    double part[DLS_MOST_PARTS], max = 0;
    int parts = dls_parallel_parts(count, threads, value_part, &(values){largest, self, part});
    for (int k = 0; k < parts; k++)
        if (part[k] > max) max = part[k];
    return max;
}

void dls_ranks_tell(const dls_ranks *ranks, void *all, size_t size) {
    int64_t start[DLS_MOST_RANKS + 1];
    for (int k = 0; k <= ranks->count; k++) start[k] = (int64_t)size * k;
    ranks->gather(ranks->self, all, start);
}

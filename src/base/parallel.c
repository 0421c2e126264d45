#include "base/parallel.h"

#include <assert.h>

enum { LEAST_PART = 512 };

void dls_parallel_for(int count, int threads, dls_range_work work, void *self) {
    if (threads <= 1 || count <= LEAST_PART) {
        work(self, 0, count);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int k = 0; k < threads; k++)
        work(self, (int)((long long)count * k / threads), (int)((long long)count * (k + 1) / threads));
}

void dls_parallel_each(int count, int threads, dls_range_work work, void *self) {
    if (threads <= 1 || count <= 1) {
        for (int k = 0; k < count; k++) work(self, k, k + 1);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int k = 0; k < count; k++) work(self, k, k + 1);
}

static int end_of(int part, int size, int count) {
    return (part + 1) * size < count ? (part + 1) * size : count;
}

int dls_parallel_parts(int count, int threads, dls_part_work work, void *self) {
    int size = (count + DLS_MOST_PARTS - 1) / DLS_MOST_PARTS;
    if (size < LEAST_PART) size = LEAST_PART;
    int parts = (count + size - 1) / size;
    assert(parts <= DLS_MOST_PARTS);
    if (threads > 1 && parts > 1) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int k = 0; k < parts; k++) work(self, k, k * size, end_of(k, size, count));
    } else {
        for (int k = 0; k < parts; k++) work(self, k, k * size, end_of(k, size, count));
    }
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

#include "base/parallel.h"

enum { MOST_PARTS = 256, LEAST_CHUNK = 512 };

static int end_of(int chunk, int size, int count) {
    return (chunk + 1) * size < count ? (chunk + 1) * size : count;
}

double dls_parallel_sum(int count, int threads, dls_range_function work, void *self) {
    double part[MOST_PARTS], sum = 0;
    int size = (count + MOST_PARTS - 1) / MOST_PARTS;
    if (size < LEAST_CHUNK) size = LEAST_CHUNK;
    int chunks = (count + size - 1) / size;
    if (threads > 1 && chunks > 1) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int k = 0; k < chunks; k++) part[k] = work(self, k * size, end_of(k, size, count));
    } else {
        for (int k = 0; k < chunks; k++) part[k] = work(self, k * size, end_of(k, size, count));
    }
    for (int k = 0; k < chunks; k++) sum += part[k];
    return sum;
}

void dls_parallel_for(int count, int threads, dls_range_function work, void *self) {
    if (threads <= 1 || count <= LEAST_CHUNK) {
        work(self, 0, count);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int k = 0; k < threads; k++)
        work(self, (int)((long long)count * k / threads), (int)((long long)count * (k + 1) / threads));
}

void dls_parallel_each(int count, int threads, dls_range_function work, void *self) {
    if (threads <= 1 || count <= 1) {
        for (int k = 0; k < count; k++) work(self, k, k + 1);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int k = 0; k < count; k++) work(self, k, k + 1);
}

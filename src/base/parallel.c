#include "base/parallel.h"

enum { LEAST_CHUNK = 512 };

double dls_parallel_sum(int count, int threads, dls_range_function work, void *self) {
    double part[DLS_SUM_PARTS], sum = 0;
    int size = (count + DLS_SUM_PARTS - 1) / DLS_SUM_PARTS;
    if (size < LEAST_CHUNK) size = LEAST_CHUNK;
    int chunks = (count + size - 1) / size;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int k = 0; k < chunks; k++)
        part[k] = work(self, k * size, (k + 1) * size < count ? (k + 1) * size : count);
    for (int k = 0; k < chunks; k++) sum += part[k];
    return sum;
}

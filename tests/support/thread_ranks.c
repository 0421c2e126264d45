#include "support/thread_ranks.h"

#include "support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct group {
    int count;
    pthread_barrier_t barrier;
    void **bytes; /* of each rank, while they gather */
    const double **out;
    const int64_t **out_start;
    rank_work work;
    void *user;
} group;

typedef struct member {
    group *group;
    dls_ranks ranks;
    rank_traffic traffic;
} member;

static void gather(void *self, void *bytes, const int64_t *start) {
    member *m = self;
    group *g = m->group;
    g->bytes[m->ranks.index] = bytes;
    m->traffic.gathers++;
    pthread_barrier_wait(&g->barrier);
    for (int k = 0; k < g->count; k++)
        if (k != m->ranks.index)
            memcpy((char *)bytes + start[k], (char *)g->bytes[k] + start[k],
                   (size_t)(start[k + 1] - start[k]));
    pthread_barrier_wait(&g->barrier);
}

static void swap(void *self, const double *out, const int64_t *out_start, double *in,
                 const int64_t *in_start) {
    member *m = self;
    group *g = m->group;
    int me = m->ranks.index;
    g->out[me] = out;
    g->out_start[me] = out_start;
    m->traffic.swaps++;
    m->traffic.numbers += out_start[g->count];
    pthread_barrier_wait(&g->barrier);
    for (int k = 0; k < g->count; k++) {
        int64_t count = in_start[k + 1] - in_start[k];
        if (g->out_start[k][me + 1] - g->out_start[k][me] != count) abort(); /* two views of one message */
        memcpy(in + in_start[k], g->out[k] + g->out_start[k][me], sizeof *in * (size_t)count);
    }
    pthread_barrier_wait(&g->barrier);
}

static void *begin(void *self) {
    member *m = self;
    m->group->work(&m->ranks, m->group->user);
    return NULL;
}

rank_traffic run_ranks(int count, rank_work work, void *user) {
    group g = {.count = count,
               .bytes = calloc((size_t)count, sizeof(void *)),
               .out = calloc((size_t)count, sizeof(double *)),
               .out_start = calloc((size_t)count, sizeof(int64_t *)),
               .work = work,
               .user = user};
    member *members = calloc((size_t)count, sizeof *members);
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    rank_traffic sum = {0};
    assert_true(g.bytes && g.out && g.out_start && members && threads);
    assert_int_equal(pthread_barrier_init(&g.barrier, NULL, (unsigned)count), 0);
    for (int k = 0; k < count; k++) {
        members[k] = (member){.group = &g};
        members[k].ranks =
            (dls_ranks){.count = count, .index = k, .self = &members[k], .gather = gather, .swap = swap};
        assert_int_equal(pthread_create(&threads[k], NULL, begin, &members[k]), 0);
    }
    for (int k = 0; k < count; k++) {
        pthread_join(threads[k], NULL);
        sum.gathers += members[k].traffic.gathers;
        sum.swaps += members[k].traffic.swaps;
        sum.numbers += members[k].traffic.numbers;
    }
    pthread_barrier_destroy(&g.barrier);
    free(threads);
    free(members);
    free(g.out_start);
    free(g.out);
    free(g.bytes);
    return sum;
}

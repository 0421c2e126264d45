#include "support/allocator.h"

#include <delassus/base.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int asked, live;
static int limit;
static bool once;

static void *counting_allocate(size_t bytes, void *user) {
    (void)user;
    int number = atomic_fetch_add(&asked, 1) + 1;
    if (limit && (once ? number == limit : number >= limit)) return NULL;
    void *block = malloc(bytes);
    if (block) atomic_fetch_add(&live, 1);
    return block;
}

static void counting_release(void *block, void *user) {
    (void)user;
    atomic_fetch_sub(&live, 1);
    free(block);
}

static void begin(int fail_at, bool only_that) {
    atomic_store(&asked, 0);
    atomic_store(&live, 0);
    limit = fail_at;
    once = only_that;
    dls_allocator_set(&(dls_allocator){counting_allocate, counting_release, NULL});
}

void counting_begin(int fail_at) { begin(fail_at, false); }
void counting_begin_once(int fail_at) { begin(fail_at, true); }

int counting_end(void) {
    dls_allocator_set(NULL);
    return atomic_load(&live);
}

int counting_allocations(void) { return atomic_load(&asked); }
int counting_live(void) { return atomic_load(&live); }

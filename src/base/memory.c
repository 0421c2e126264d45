#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64, MAX_CHUNKS = 48, FIRST_CHUNK = 1 << 16, HUGE_PAGE = 1 << 21 };

static void *system_allocate(size_t bytes, void *user) {
    (void)user;
    return malloc(bytes);
}

static void system_release(void *block, void *user) {
    (void)user;
    free(block);
}

static dls_allocator allocator = {system_allocate, system_release, NULL};

void dls_allocator_set(const dls_allocator *wanted) {
    allocator = wanted ? *wanted : (dls_allocator){system_allocate, system_release, NULL};
}

/* Large arrays ask for huge pages: a sweep out of natural order would miss the page tables at every row. */
static void want_huge_pages(char *block, size_t bytes) {
#ifdef MADV_HUGEPAGE
    uintptr_t first = ((uintptr_t)block + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    uintptr_t end = ((uintptr_t)block + bytes) & ~(uintptr_t)(HUGE_PAGE - 1);
    if (first < end) madvise(block + (first - (uintptr_t)block), end - first, MADV_HUGEPAGE);
#else
    (void)block, (void)bytes;
#endif
}

/* The raw pointer is kept just below the aligned block. */
void *dls_alloc(size_t count, size_t size) {
    const size_t overhead = ALIGNMENT + sizeof(void *);
    if (size && count > (SIZE_MAX - overhead) / size) return NULL;
    char *raw = allocator.allocate(count * size + overhead, allocator.user);
    if (!raw) return NULL;
    uintptr_t aligned = ((uintptr_t)raw + sizeof(void *) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    char *block = raw + (aligned - (uintptr_t)raw);
    memcpy(block - sizeof(void *), &raw, sizeof raw);
    if (count * size >= 2 * HUGE_PAGE) want_huge_pages(block, count * size);
    return block;
}

void *dls_alloc_zero(size_t count, size_t size) {
    void *block = dls_alloc(count, size);
    if (block) memset(block, 0, count * size);
    return block;
}

void *dls_alloc_copy(const void *source, size_t count, size_t size) {
    void *block = dls_alloc(count, size);
    if (block && count) memcpy(block, source, count * size);
    return block;
}

bool dls_grow(void *array, int64_t count, int64_t *capacity, int64_t wanted, size_t size) {
    void *old, *larger = wanted < 0 ? NULL : dls_alloc((size_t)wanted, size);
    if (!larger) return false;
    memcpy(&old, array, sizeof old);
    if (count) memcpy(larger, old, (size_t)count * size);
    dls_free(old);
    memcpy(array, &larger, sizeof larger);
    *capacity = wanted;
    return true;
}

void dls_free(void *block) {
    if (!block) return;
    void *raw;
    memcpy(&raw, (char *)block - sizeof(void *), sizeof raw);
    allocator.release(raw, allocator.user);
}

struct dls_workspace {
    int chunk_count, chunk; /* chunk: the one that is being filled */
    size_t used;            /* bytes of it */
    size_t most;            /* bytes that were ever taken at once */
    struct {
        char *bytes;
        size_t size, used; /* used: when the next one was begun */
    } chunks[MAX_CHUNKS];
};

dls_workspace *dls_workspace_create(void) { return dls_alloc_zero(1, sizeof(dls_workspace)); }

size_t dls_workspace_bytes(const dls_workspace *w) {
    size_t sum = sizeof *w;
    for (int i = 0; i < w->chunk_count; i++) sum += w->chunks[i].size;
    return sum;
}

static void free_chunks(dls_workspace *w) {
    for (int i = 0; i < w->chunk_count; i++) dls_free(w->chunks[i].bytes);
    w->chunk_count = 0;
}

void dls_workspace_destroy(dls_workspace *workspace) {
    if (!workspace) return;
    free_chunks(workspace);
    dls_free(workspace);
}

static bool add_chunk(dls_workspace *w, size_t bytes) {
    if (w->chunk_count == MAX_CHUNKS) return false;
    size_t size = 0;
    for (int i = 0; i < w->chunk_count; i++) size += w->chunks[i].size;
    size = size / 2 > FIRST_CHUNK ? size / 2 : FIRST_CHUNK;
    if (size < bytes) size = bytes;
    char *block = dls_alloc(size, 1);
    if (!block) return false;
    w->chunks[w->chunk_count].bytes = block;
    w->chunks[w->chunk_count].size = size;
    w->chunk_count++;
    return true;
}

void *dls_workspace_take(dls_workspace *w, size_t count, size_t size) {
    if (!w || (size && count > (SIZE_MAX - ALIGNMENT) / size)) return NULL;
    size_t bytes = (count * size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (!bytes) bytes = ALIGNMENT;
    while (w->chunk >= w->chunk_count || w->chunks[w->chunk].size - w->used < bytes) {
        if (w->chunk + 1 >= w->chunk_count && !add_chunk(w, bytes)) return NULL;
        if (w->chunk + 1 < w->chunk_count) w->chunks[w->chunk++].used = w->used;
        w->used = 0;
    }
    assert(w->used % ALIGNMENT == 0);
    void *block = w->chunks[w->chunk].bytes + w->used;
    w->used += bytes;
    return block;
}

void *dls_workspace_take_zero(dls_workspace *w, size_t count, size_t size) {
    void *block = dls_workspace_take(w, count, size);
    if (block) memset(block, 0, count * size);
    return block;
}

dls_workspace_mark dls_workspace_get_mark(const dls_workspace *w) {
    return (dls_workspace_mark){w->chunk, w->used};
}

static void note_most(dls_workspace *w) {
    size_t taken = w->used;
    for (int i = 0; i < w->chunk; i++) taken += w->chunks[i].used;
    if (w->most < taken) w->most = taken;
}

/* One chunk for all that was ever taken at once, and a sixteenth more, serves the next solves without
 * allocation; failing to get it costs nothing. */
static void merge_chunks(dls_workspace *w) {
    free_chunks(w);
    add_chunk(w, w->most + w->most / 16);
}

void dls_workspace_release(dls_workspace *w, dls_workspace_mark mark) {
    assert(mark.chunk < w->chunk || (mark.chunk == w->chunk && mark.used <= w->used)); /* in order */
    note_most(w);
    w->chunk = mark.chunk;
    w->used = mark.used;
    if (mark.chunk == 0 && mark.used == 0 && w->chunk_count > 1) merge_chunks(w);
}

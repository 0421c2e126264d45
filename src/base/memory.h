/* All memory of the library: single blocks for objects that live long, a workspace for what one solve needs.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <delassus/base.h>

/* count · size bytes, 64-byte aligned, not cleared; NULL when out of memory or when the product overflows.
 * A count of 0 gives a block that may be freed. */
void *dls_alloc(size_t count, size_t size);
void *dls_alloc_zero(size_t count, size_t size);
void *dls_alloc_copy(const void *source, size_t count, size_t size);
void dls_free(void *block); /* NULL is fine */

#define DLS_NEW(type, count)      ((type *)dls_alloc((size_t)(count), sizeof(type)))
#define DLS_NEW_ZERO(type, count) ((type *)dls_alloc_zero((size_t)(count), sizeof(type)))

/* Moves the first count items at *array, a pointer to items of size bytes, into a block for those wanted.
 * False when memory is out: all stays as it was. */
bool dls_grow(void *array, int64_t count, int64_t *capacity, int64_t wanted, size_t size);

/* Room for needed items, and for half as many more; capacity is an int64_t. */
#define DLS_RESERVE(array, count, capacity, needed)                                                          \
    ((needed) <= (capacity) ||                                                                               \
     dls_grow(&(array), count, &(capacity), (int64_t)(needed) + (needed) / 2 + 16, sizeof *(array)))

/* ---- workspace: take in order, release back to a mark ---- */

typedef struct dls_workspace_mark {
    int chunk;
    size_t used;
} dls_workspace_mark;

/* 64-byte aligned, not cleared; NULL when out of memory. A NULL workspace gives NULL. */
void *dls_workspace_take(dls_workspace *workspace, size_t count, size_t size);
void *dls_workspace_take_zero(dls_workspace *workspace, size_t count, size_t size);
size_t dls_workspace_bytes(const dls_workspace *workspace); /* held */
dls_workspace_mark dls_workspace_get_mark(const dls_workspace *workspace);
/* Gives back all that was taken since the mark; when nothing is in use any more, chunks merge into one. */
void dls_workspace_release(dls_workspace *workspace, dls_workspace_mark mark);

#define DLS_TAKE(workspace, type, count)                                                                     \
    ((type *)dls_workspace_take(workspace, (size_t)(count), sizeof(type)))
#define DLS_TAKE_ZERO(workspace, type, count)                                                                \
    ((type *)dls_workspace_take_zero(workspace, (size_t)(count), sizeof(type)))

#endif

/* A results file as it was at one instant, as far as HDF5 looks for its way through it: every block of
 * HDF5's own, copied and checked. HDF5 gets these and no others, so what a writer changes meanwhile, and what
 * a hostile file holds, never reaches it; rows are read from the file. */
#ifndef OUTPUT_RESULTS_STRUCTURE_H
#define OUTPUT_RESULTS_STRUCTURE_H

#include "output/results/journal.h"

typedef struct dls_structure_block {
    uint64_t begin, end;
    uint8_t *bytes;
} dls_structure_block;

typedef struct dls_structure {
    dls_structure_block *blocks; /* by ascending place */
    int64_t count, room;
    uint64_t size; /* of the file */
} dls_structure;

/* Reads again where a writer is just changing what it reads; where one was killed then, its record tells what
 * it was about to write. */
dls_status dls_structure_take(int descriptor, const char *name, dls_structure *structure, dls_error *error);
/* Puts what the blocks hold of size bytes at address over what was read of them. */
void dls_structure_overlay(const dls_structure *structure, uint64_t address, uint64_t size, void *bytes);
void dls_structure_free(dls_structure *structure);

#endif

/* FNV-1a by words of 64 bits, stirred so that high bits reach low ones. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#define DLS_HASH_BEGIN UINT64_C(0xCBF29CE484222325)

static inline uint64_t dls_hash_word(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x100000001B3);
    return hash ^ hash >> 29;
}

#endif

/* The checksum of checkpoints, written down once more: tests change bytes and make the sum right again. */
#ifndef DELASSUS_TESTS_SUPPORT_CHECKPOINT_SUM_H
#define DELASSUS_TESTS_SUPPORT_CHECKPOINT_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t checkpoint_number(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline uint64_t checkpoint_mix(uint64_t x) {
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 32;
}

static inline uint64_t checkpoint_sum(const uint8_t *bytes, size_t size) {
    uint64_t lane[4] = {0x243f6a8885a308d3u, 0x13198a2e03707344u, 0xa4093822299f31d0u, 0x082efa98ec4e6c89u};
    uint8_t rest[8] = {0};
    for (size_t k = 0; k < size / 8; k++) {
        uint64_t x = (lane[k % 4] ^ checkpoint_number(bytes + 8 * k)) * 0x9e3779b97f4a7c15u;
        lane[k % 4] = x << 27 | x >> 37;
    }
    memcpy(rest, bytes + size / 8 * 8, size % 8);
    uint64_t sum = checkpoint_mix(size ^ checkpoint_number(rest) * 0xd6e8feb86659fd93u);
    for (int k = 0; k < 4; k++) sum = checkpoint_mix(sum ^ lane[k]);
    return sum;
}

/* The last eight bytes of a whole checkpoint. */
static inline void checkpoint_seal(uint8_t *bytes, size_t size) {
    memcpy(bytes + size - 8, &(uint64_t){checkpoint_sum(bytes, size - 8)}, 8);
}

#endif

/* Bytes to a checkpoint: refused in one line, or read whole and handed to a simulation, which takes it or
 * refuses it in one line and can go on stepping either way. */
#include "support/checkpoint_world.h"

#include <delassus/output.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size,
                                              size_t room); /* in a fuzzer, not in a replay */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static void require(bool holds, const char *what, const dls_error *error) {
    if (holds) return;
    fprintf(stderr, "%s: %s\n", what, error->message);
    abort();
}

static void check_message(dls_status status, const dls_error *error) {
    require(error->status == status, "another status", error);
    require(strlen(error->message) > 0 && !strchr(error->message, '\n'), "not one line", error);
}

static void exercise(const dls_checkpoint *checkpoint) {
    dls_world *world = checkpoint_world();
    dls_simulation *simulation = NULL;
    dls_simulation_options options = dls_default_simulation_options();
    dls_error error = {0};
    dls_step_report report;
    require(!dls_simulation_create(world, &options, &simulation, &error), "no simulation", &error);
    dls_status status = dls_checkpoint_restore(checkpoint, simulation, &error);
    if (status) check_message(status, &error);
    for (int k = 0; k < 3 && !status; k++) {
        status = dls_simulation_step(simulation, &report, &error);
        if (status) check_message(status, &error);
    }
    dls_simulation_destroy(simulation);
    dls_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    dls_checkpoint *checkpoint = NULL;
    dls_error error = {0};
    dls_status status = dls_checkpoint_read_memory(data, size, &checkpoint, &error);
    if (status) {
        check_message(status, &error);
        require(!checkpoint, "failed and made one", &error);
        return 0;
    }
    size_t words = strlen(dls_checkpoint_scene_text(checkpoint)) + strlen(dls_checkpoint_title(checkpoint));
    for (int k = 0; k < dls_checkpoint_setting_count(checkpoint); k++)
        words += strlen(dls_checkpoint_setting(checkpoint, k));
    require(words < size, "more words than bytes", &error);
    exercise(checkpoint);
    dls_checkpoint_destroy(checkpoint);
    return 0;
}

/* ---- the checksum, which no mutation would hit by chance: written down here once more ---- */

static uint64_t number(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 32;
}

static uint64_t checksum(const uint8_t *bytes, size_t size) {
    uint64_t lane[4] = {0x243f6a8885a308d3u, 0x13198a2e03707344u, 0xa4093822299f31d0u, 0x082efa98ec4e6c89u};
    uint8_t rest[8] = {0};
    for (size_t k = 0; k < size / 8; k++) {
        uint64_t x = (lane[k % 4] ^ number(bytes + 8 * k)) * 0x9e3779b97f4a7c15u;
        lane[k % 4] = x << 27 | x >> 37;
    }
    memcpy(rest, bytes + size / 8 * 8, size % 8);
    uint64_t sum = mix(size ^ number(rest) * 0xd6e8feb86659fd93u);
    for (int k = 0; k < 4; k++) sum = mix(sum ^ lane[k]);
    return sum;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
    size = LLVMFuzzerMutate(data, size, room);
    if (seed % 8 == 0 || size < 104) return size; /* wrong sums must be met, too */
    if (seed % 8 < 5) {                           /* and sizes that add up */
        uint64_t used = 104;
        for (int k = 0; k < 5; k++) used += number(data + 48 + 8 * k);
        if (used <= size) memcpy(data + 88, &(uint64_t){size - used}, 8);
    }
    memcpy(data + size - 8, &(uint64_t){checksum(data, size - 8)}, 8);
    return size;
}

/* Bytes to a checkpoint: refused in one line, or read whole and handed to a simulation, which takes it or
 * refuses it in one line and can go on stepping either way. */
#include "support/checkpoint_sum.h"
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

enum {
    STEPS = 2, /* one with what was restored, one with what that left */
    SHARE_TAKEN = 4,
    SHARE_REFUSED = 8 /* of such checkpoints one steps: steps cost more than all else */
};

/* A few sweeps: solvers have a target of their own. */
static dls_simulation *simulation_of(dls_world *world) {
    dls_simulation *simulation = NULL;
    dls_simulation_options options = dls_default_simulation_options();
    const dls_solver *solver = dls_solver_find("nlgs");
    dls_nlgs_options sweeps;
    dls_error error = {0};
    require(!dls_simulation_create(world, &options, &simulation, &error), "no simulation", &error);
    dls_simulation_solver_defaults(solver, &sweeps);
    sweeps.stop.max_iterations = 10;
    require(!dls_simulation_set_solver(simulation, solver, &sweeps, &error), "no solver", &error);
    return simulation;
}

static void exercise(const dls_checkpoint *checkpoint, uint64_t sum) {
    dls_world *world = checkpoint_world(dls_checkpoint_title(checkpoint));
    dls_simulation *simulation = simulation_of(world);
    dls_error error = {0};
    dls_step_report report;
    dls_status status = dls_checkpoint_restore(checkpoint, simulation, &error);
    if (status) check_message(status, &error);
    bool refused = status != DLS_OK;
    bool steps =
        !LLVMFuzzerMutate || sum % (refused ? SHARE_REFUSED : SHARE_TAKEN) == 0; /* all in a replay */
    for (int k = 0; steps && k < (refused ? 1 : STEPS) && (refused || !status); k++) {
        status = dls_simulation_step(simulation, &report, &error);
        if (status) check_message(status, &error);
        require(!status || !refused, "refused, and not as it was", &error);
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
    exercise(checkpoint, checkpoint_sum(data, size));
    dls_checkpoint_destroy(checkpoint);
    return 0;
}

/* Sections of the state that reach beyond its end end with it. */
static void mend_sections(uint8_t *state, uint64_t size) {
    enum { MAGIC = 8, SECTION = 32, AT_SIZE = 24 };
    for (uint64_t at = MAGIC; at + SECTION <= size;) {
        uint64_t left = size - at - SECTION, length = checkpoint_number(state + at + AT_SIZE);
        if (length > left) memcpy(state + at + AT_SIZE, &left, sizeof left);
        at += SECTION + (length > left ? left : length);
    }
}

/* No mutation would hit the checksum by chance. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
    size = LLVMFuzzerMutate(data, size, room);
    if (seed % 8 == 0 || size < 104) return size; /* wrong sums must be met, too */
    if (seed % 8 < 5) {                           /* and sizes that add up */
        uint64_t used = 104;
        for (int k = 0; k < 5; k++) used += checkpoint_number(data + 48 + 8 * k);
        if (used <= size) memcpy(data + 88, &(uint64_t){size - used}, 8);
        if (used >= 104 && used <= size && data[8] == 3) mend_sections(data + used - 8, size - used);
    }
    checkpoint_seal(data, size);
    return size;
}

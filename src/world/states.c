/* States of many bodies in one call. */
#include "base/error.h"
#include "base/vector.h"
#include "world/parts.h"

#include <string.h>

/* Callers take arrays of states as matrices of 13 columns. */
_Static_assert(sizeof(dls_body_state) == 13 * sizeof(double), "a state has 13 numbers and no gaps");

int dls_world_presence_count(const dls_world *world, dls_presence presence) {
    int count = 0;
    for (int id = 0; world && id < world->entry_count; id++) count += world->entries[id].presence == presence;
    return count;
}

dls_status dls_world_presence_ids(const dls_world *world, dls_presence presence, int capacity,
                                  dls_body_id *ids, int *count, dls_error *error) {
    dls_error_clear(error);
    if (!world || !count || capacity < 0 || (capacity > 0 && !ids))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "a world, room for ids and a place for their count are needed");
    int found = *count = dls_world_presence_count(world, presence), next = 0;
    if (found > capacity)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "room for %d ids, expected %d", capacity, found);
    for (int id = 0; next < found; id++)
        if (world->entries[id].presence == presence) ids[next++] = id;
    return DLS_OK;
}

static dls_status check_ids(const dls_world *world, int count, const dls_body_id *ids, const void *states,
                            dls_error *error) {
    dls_error_clear(error);
    if (!world || count < 0 || (count > 0 && !states))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a world and an array of states are needed");
    if (!ids && count != world->entry_count)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "an array of %d states for all bodies, expected %d", count,
                        world->entry_count);
    for (int k = 0; ids && k < count; k++)
        if (ids[k] < 0 || ids[k] >= world->entry_count)
            return dls_fail(error, DLS_ERROR_ARGUMENT, "id %d of %d: there is no body %d among %d", k, count,
                            ids[k], world->entry_count);
    return DLS_OK;
}

dls_status dls_body_states_get(const dls_world *world, int count, const dls_body_id *ids,
                               dls_body_state *states, dls_error *error) {
    dls_status status = check_ids(world, count, ids, states, error);
    for (int k = 0; !status && k < count; k++) states[k] = *dls_world_state(world, ids ? ids[k] : k);
    return status;
}

dls_status dls_body_states_set(dls_world *world, int count, const dls_body_id *ids,
                               const dls_body_state *states, dls_error *error) {
    dls_status status = check_ids(world, count, ids, states, error);
    for (int k = 0; !status && k < count; k++) {
        dls_body_id id = ids ? ids[k] : k;
        dls_error inner = {.status = DLS_OK};
        char label[128];
        status = dls_body_state_check(world, dls_world_body(world, id), &states[k], &inner);
        if (status)
            dls_fail(error, status, "%s: %.350s", dls_body_label(world, id, label, sizeof label),
                     inner.message);
    }
    for (int k = 0; !status && k < count; k++) dls_state_take(world, ids ? ids[k] : k, &states[k]);
    return status;
}

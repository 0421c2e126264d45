/* What later steps depend on of joints, as bytes. */
#include "base/error.h"
#include "world/joint/joint.h"

#include <math.h>
#include <string.h>

typedef struct memory_joint {
    int32_t removed, broken;
    double turned[DLS_FREEDOMS], integral[DLS_FREEDOMS], slip[DLS_FREEDOMS];
    double load;
    double impulse[DLS_FREEDOMS][DLS_JOINT_ROLES];
} memory_joint;

size_t dls_joints_memory_size(const dls_world *world) {
    return (size_t)world->joint_count * sizeof(memory_joint);
}

void dls_joints_memory_write(const dls_world *world, void *bytes) {
    for (int id = 0; id < world->joint_count; id++) {
        const dls_joint *joint = &world->joints[id];
        memory_joint m = {.removed = joint->removed, .broken = joint->broken, .load = joint->load};
        memcpy(m.turned, joint->turned, sizeof m.turned);
        memcpy(m.integral, joint->integral, sizeof m.integral);
        memcpy(m.slip, joint->slip, sizeof m.slip);
        memcpy(m.impulse, joint->impulse, sizeof m.impulse);
        memcpy((char *)bytes + (size_t)id * sizeof m, &m, sizeof m);
    }
}

static bool makes_sense(const memory_joint *m) {
    double sum = m->load;
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        sum += fabs(m->turned[k]) + fabs(m->integral[k]) + fabs(m->slip[k]);
        for (int role = 0; role < DLS_JOINT_ROLES; role++) sum += fabs(m->impulse[k][role]);
    }
    return m->load >= 0 && sum <= DLS_FARTHEST && (m->removed == 0 || m->removed == 1) &&
           (m->broken == 0 || m->broken == 1);
}

dls_status dls_joints_memory_check(const dls_world *world, const void *bytes, size_t size, dls_error *error) {
    if (size != dls_joints_memory_size(world))
        return dls_fail(error, DLS_ERROR_INPUT, "section 'joints' of a state has %zu bytes, expected %zu",
                        size, dls_joints_memory_size(world));
    for (int id = 0; id < world->joint_count; id++) {
        memory_joint m;
        memcpy(&m, (const char *)bytes + (size_t)id * sizeof m, sizeof m);
        if (!makes_sense(&m))
            return dls_fail(error, DLS_ERROR_INPUT, "section 'joints' of a state makes no sense at joint %d",
                            id);
    }
    return DLS_OK;
}

void dls_joints_memory_use(dls_world *world, const void *bytes) {
    for (int id = 0; id < world->joint_count; id++) {
        dls_joint *joint = &world->joints[id];
        memory_joint m;
        memcpy(&m, (const char *)bytes + (size_t)id * sizeof m, sizeof m);
        joint->removed = m.removed;
        joint->broken = m.broken;
        joint->load = m.load;
        memcpy(joint->turned, m.turned, sizeof m.turned);
        memcpy(joint->integral, m.integral, sizeof m.integral);
        memcpy(joint->slip, m.slip, sizeof m.slip);
        memcpy(joint->impulse, m.impulse, sizeof m.impulse);
    }
    world->joint_changes++;
}

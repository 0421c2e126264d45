/* Supports over time: reactions of joints that hold one surface, NAME-0, NAME-1, …, added up. */
#include "analysis/analysis.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const char *const columns[] = {"time",  "support",  "force_x",  "force_y", "force_z",
                                      "force", "torque_x", "torque_y", "torque_z"};
static const char *const units[] = {"s", "1", "N", "N", "N", "N", "N m", "N m", "N m"};

/* Joints of one name with numbers, at one body A. */
typedef struct support {
    char name[104];
    int joints;
    double force[3], torque[3]; /* of this frame, in A's axes about its origin */
    double largest, when, sum[3];
} support;

typedef struct supports_work {
    int count, frames;
    int64_t room, records_room;
    support *supports;
    int *support_of; /* of each joint; −1: it has no number */
    dls_joint_record *records;
} supports_work;

/* "NAME-12" has the stem NAME. */
static bool stem_of(const char *name, char stem[104]) {
    size_t length = strlen(name), end = length;
    while (end > 0 && isdigit((unsigned char)name[end - 1])) end--;
    if (end == length || end < 2 || name[end - 1] != '-' || end > 103) return false;
    memcpy(stem, name, end - 1);
    stem[end - 1] = '\0';
    return true;
}

/* Numbers of one name follow each other, so that the last support is asked first. */
static int find(const supports_work *s, const char *stem) {
    for (int k = s->count - 1; k >= 0; k--)
        if (!strcmp(s->supports[k].name, stem)) return k;
    return -1;
}

static dls_status find_supports(dls_analysis_work *work, supports_work *s, dls_error *error) {
    int count = dls_results_joint_count(work->results);
    for (int id = 0; id < count; id++) {
        char stem[104];
        s->support_of[id] = -1;
        if (!stem_of(dls_results_joint_name(work->results, id), stem)) continue;
        int of = find(s, stem);
        if (of < 0) {
            if (!DLS_RESERVE(s->supports, s->count, s->room, s->count + 1)) return dls_fail_memory(error);
            of = s->count++;
            s->supports[of] = (support){.when = NAN};
            memcpy(s->supports[of].name, stem, sizeof stem);
        }
        s->supports[of].joints++;
        s->support_of[id] = of;
    }
    if (s->count) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "supports: no joints NAME-0, NAME-1, … that could be added up");
}

/* F += R r/h with R the axes of the joint on A, at the place where they stand there. */
static void add_reaction(dls_analysis_work *work, support *of, const dls_joint_record *record) {
    dls_joint_def def;
    double R[9], force[3], torque[3], arm[3], per = 1 / work->snapshot.h;
    if (dls_results_joint(work->results, record->joint, &def, NULL)) return;
    quat_matrix(def.frame[0].q, R);
    mat_apply(force, R, record->impulse);
    mat_apply(torque, R, record->impulse + 3);
    vec_cross(arm, def.frame[0].x, force);
    vec_along(of->force, of->force, per, force);
    vec_along(of->torque, of->torque, per, torque);
    vec_along(of->torque, of->torque, per, arm);
}

static dls_status supports_frame(dls_analysis_work *work, void *user, dls_error *error) {
    supports_work *s = user;
    int frame = work->snapshot.frame, count = dls_results_frame_joint_count(work->results, frame);
    if (!DLS_RESERVE(s->records, 0, s->records_room, count)) return dls_fail_memory(error);
    dls_status status = dls_results_frame_joints(work->results, frame, s->records, error);
    for (int k = 0; k < s->count; k++)
        vec_set(s->supports[k].force, 0, 0, 0), vec_set(s->supports[k].torque, 0, 0, 0);
    for (int k = 0; k < count && !status; k++) {
        int of = s->support_of[s->records[k].joint];
        if (of >= 0) add_reaction(work, &s->supports[of], &s->records[k]);
    }
    for (int k = 0; k < s->count && !status; k++) {
        support *of = &s->supports[k];
        double force = vec_norm(of->force);
        const double row[] = {work->snapshot.time, k,     of->force[0],  of->force[1],
                              of->force[2],        force, of->torque[0], of->torque[1],
                              of->torque[2]};
        dls_analysis_add_row(work->out, 0, row);
        vec_add(of->sum, of->sum, of->force);
        if (force > of->largest || isnan(of->when)) of->largest = force, of->when = work->snapshot.time;
    }
    s->frames++;
    return status;
}

static void add_facts(dls_analysis_work *work, const supports_work *s) {
    for (int k = 0; k < s->count; k++) {
        const support *of = &s->supports[k];
        const struct {
            const char *what, *unit, *meaning;
            double value;
        } facts[] = {{"joints", "1", "that hold it", of->joints},
                     {"force", "N", "its largest", of->largest},
                     {"force time", "s", "when it was", of->when},
                     {"mean force x", "N", "on what is held", of->sum[0] / s->frames},
                     {"mean force y", "N", "on what is held", of->sum[1] / s->frames},
                     {"mean force z", "N", "on what is held", of->sum[2] / s->frames}};
        for (int i = 0; i < COUNT(facts); i++) {
            char name[128];
            snprintf(name, sizeof name, "%.100s %s", of->name, facts[i].what);
            dls_analysis_add_fact(work->out, name, facts[i].unit, facts[i].value, NAN, facts[i].meaning);
        }
    }
}

dls_status dls_measure_supports(dls_analysis_work *work, dls_error *error) {
    supports_work s = {.support_of = DLS_NEW(int, dls_results_joint_count(work->results))};
    dls_status status = s.support_of ? DLS_OK : dls_fail_memory(error);
    dls_analysis_add_table(work->out, "supports", COUNT(columns), columns, units);
    if (!status) status = find_supports(work, &s, error);
    if (!status) status = dls_analysis_frames(work, true, supports_frame, &s, error);
    if (!status) add_facts(work, &s);
    dls_free(s.supports);
    dls_free(s.support_of);
    dls_free(s.records);
    return status;
}

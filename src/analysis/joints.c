/* Joints over time: where they stand, what they carry, what their motors do and what is lost in them. */
#include "analysis/analysis.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array)         ((int)(sizeof(array) / sizeof *(array)))
#define SIX(name)            name "_1", name "_2", name "_3", name "_4", name "_5", name "_6"
#define SIX_UNITS(way, turn) way, way, way, turn, turn, turn

static const char *const joint_columns[] = {"time",       "joint",         "force",        "torque",
                                            "power",      "loss",          "gap",          SIX("coordinate"),
                                            SIX("speed"), SIX("reaction"), SIX("actuator")};
static const char *const joint_units[] = {"s",
                                          "1",
                                          "N",
                                          "N m",
                                          "W",
                                          "W",
                                          "m or rad",
                                          SIX_UNITS("m", "rad"),
                                          SIX_UNITS("m/s", "rad/s"),
                                          SIX_UNITS("N", "N m"),
                                          SIX_UNITS("N", "N m")};
enum { JOINT_COLUMNS = COUNT(joint_columns), FIRST_OF_SIX = 7 };

static const char *const peak_columns[] = {"joint",       "force", "force_time", "torque",
                                           "torque_time", "power", "power_time", "gap"};
static const char *const peak_units[] = {"1", "N", "s", "N m", "s", "W", "s", "m or rad"};

/* Largest of each, and when it was. */
typedef struct peak {
    bool acted;
    double force, force_time, torque, torque_time, power, power_time, gap;
} peak;

typedef struct joints_work {
    int chosen; /* −1: all */
    int64_t room;
    dls_joint_record *records;
    peak *peaks; /* of every joint */
} joints_work;

dls_status dls_analysis_find_joint(const dls_results *r, const char *name, dls_joint_id *id,
                                   dls_error *error) {
    int count = dls_results_joint_count(r);
    char *end;
    for (*id = 0; *id < count; ++*id)
        if (!strcmp(dls_results_joint_name(r, *id), name)) return DLS_OK;
    long number = strtol(name, &end, 10);
    *id = number >= 0 && number < count ? (dls_joint_id)number : -1;
    if (end != name && !*end && *id >= 0) return DLS_OK;
    return dls_fail(error, DLS_ERROR_ARGUMENT, "no joint '%.60s', expected a name or a number from 0 to %d",
                    name, count - 1);
}

static void raise(double *largest, double *when, double value, double t) {
    if (!(fabs(value) > fabs(*largest)) && !isnan(*when)) return;
    *largest = value;
    *when = t;
}

/* Forces are impulses over the step's length h. */
static void add_joint(dls_analysis_work *work, joints_work *j, const dls_joint_record *record) {
    const dls_snapshot *s = &work->snapshot;
    dls_joint_def def;
    double row[JOINT_COLUMNS], per = 1 / s->h;
    double force = per * vec_norm(record->impulse), torque = per * vec_norm(record->impulse + 3),
           power = per * record->work;
    if (dls_results_joint(work->results, record->joint, &def, NULL)) return;
    const double first[FIRST_OF_SIX] = {s->time, record->joint,      force,      torque,
                                        power,   per * record->lost, record->gap};
    uint8_t free = dls_joint_kind_free(def.kind, s->dimension);
    memcpy(row, first, sizeof first);
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        double *six = row + FIRST_OF_SIX + k;
        bool is_free = free >> k & 1;
        six[0] = is_free ? record->coordinate[k] : (double)NAN;
        six[6] = is_free ? record->speed[k] : (double)NAN;
        six[12] = per * record->impulse[k];
        six[18] = is_free ? per * record->actuator[k] : (double)NAN;
    }
    dls_analysis_add_row(work->out, 0, row);
    peak *p = &j->peaks[record->joint];
    p->acted = true;
    raise(&p->force, &p->force_time, force, s->time);
    raise(&p->torque, &p->torque_time, torque, s->time);
    raise(&p->power, &p->power_time, power, s->time);
    p->gap = fmax(p->gap, record->gap);
}

static dls_status joints_frame(dls_analysis_work *work, void *user, dls_error *error) {
    joints_work *j = user;
    int frame = work->snapshot.frame, count = dls_results_frame_joint_count(work->results, frame);
    if (!DLS_RESERVE(j->records, 0, j->room, count)) return dls_fail_memory(error);
    dls_status status = dls_results_frame_joints(work->results, frame, j->records, error);
    for (int k = 0; k < count && !status; k++)
        if (j->chosen < 0 || j->records[k].joint == j->chosen) add_joint(work, j, &j->records[k]);
    return status;
}

/* ---- facts ---- */

static void add_fact_of(dls_analysis_work *work, dls_joint_id id, const char *what, const char *unit,
                        double value, const char *meaning) {
    char name[64];
    const char *own = dls_results_joint_name(work->results, id);
    if (*own)
        snprintf(name, sizeof name, "%.40s %s", own, what);
    else
        snprintf(name, sizeof name, "joint %d %s", id, what);
    dls_analysis_add_fact(work->out, name, unit, value, NAN, meaning);
}

enum { MOST_TOLD = 16 }; /* joints of which each has facts of its own */

static void add_facts(dls_analysis_work *work, const joints_work *j) {
    peak most = {.force_time = NAN, .torque_time = NAN};
    int count = dls_results_joint_count(work->results), acted = 0;
    for (int id = 0; id < count; id++) {
        const peak *p = &j->peaks[id];
        if (!p->acted) continue;
        acted++;
        raise(&most.force, &most.force_time, p->force, p->force_time);
        raise(&most.torque, &most.torque_time, p->torque, p->torque_time);
        most.gap = fmax(most.gap, p->gap);
    }
    dls_analysis_add_fact(work->out, "largest force", "N", most.force, NAN, "of any joint on its body B");
    dls_analysis_add_fact(work->out, "largest force time", "s", most.force_time, NAN, "when it was");
    dls_analysis_add_fact(work->out, "largest torque", "N m", most.torque, NAN,
                          "of any joint on its body B, about its point");
    dls_analysis_add_fact(work->out, "largest torque time", "s", most.torque_time, NAN, "when it was");
    dls_analysis_add_fact(work->out, "largest gap", "m or rad", most.gap, NAN, "of what joints hold");
    dls_analysis_add_fact(work->out, "joints", "1", acted, NAN, "that acted");
    for (int id = 0; id < count && acted <= MOST_TOLD; id++) {
        const peak *p = &j->peaks[id];
        if (!p->acted) continue;
        add_fact_of(work, id, "force", "N", p->force, "its largest");
        add_fact_of(work, id, "force time", "s", p->force_time, "when it was");
        if (!(p->torque > 0)) continue;
        add_fact_of(work, id, "torque", "N m", p->torque, "its largest");
        add_fact_of(work, id, "torque time", "s", p->torque_time, "when it was");
    }
}

static void add_peaks(dls_analysis_work *work, const joints_work *j) {
    for (int id = 0; id < dls_results_joint_count(work->results); id++) {
        const peak *p = &j->peaks[id];
        const double row[] = {id,       p->force,      p->force_time, p->torque, p->torque_time,
                              p->power, p->power_time, p->gap};
        if (p->acted) dls_analysis_add_row(work->out, 1, row);
    }
}

dls_status dls_measure_joints(dls_analysis_work *work, dls_error *error) {
    int count = dls_results_joint_count(work->results);
    joints_work j = {.chosen = -1, .peaks = DLS_NEW_ZERO(peak, count)};
    dls_status status = j.peaks ? DLS_OK : dls_fail_memory(error);
    for (int id = 0; id < count && !status; id++)
        j.peaks[id].force_time = j.peaks[id].torque_time = j.peaks[id].power_time = NAN;
    if (!status && work->options.joint)
        status = dls_analysis_find_joint(work->results, work->options.joint, &j.chosen, error);
    dls_analysis_add_table(work->out, "joints", JOINT_COLUMNS, joint_columns, joint_units);
    dls_analysis_add_table(work->out, "joint_peaks", COUNT(peak_columns), peak_columns, peak_units);
    if (!status) status = dls_analysis_frames(work, true, joints_frame, &j, error);
    if (!status && work->out->tables[0].count == 0)
        status = dls_fail(error, DLS_ERROR_INPUT, "joints: none acted in the chosen frames");
    if (!status) {
        add_peaks(work, &j);
        add_facts(work, &j);
    }
    dls_free(j.records);
    dls_free(j.peaks);
    return status;
}

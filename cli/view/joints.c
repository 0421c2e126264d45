/* What joints did, and where, as floats: a joint has nine per frame, and those that did not act have zeros.
 */
#include "cli/support/report.h"
#include "cli/view/view.h"

#include <math.h>
#include <stdlib.h>

static double length_of(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* The first freedom that the kind leaves free, −1 for none. */
static int free_freedom(const view_run *run, int joint) {
    dls_joint_def def;
    if (dls_results_joint(run->results, joint, &def, NULL)) return -1;
    uint8_t is_free = dls_joint_kind_free(def.kind, dls_results_dimension(run->results));
    for (int k = 0; k < DLS_FREEDOMS; k++)
        if (is_free >> k & 1) return k;
    return -1;
}

static void take_joint(const view_run *run, const dls_joint_record *r, double length, float *row) {
    int freedom = free_freedom(run, r->joint);
    row[0] = 1;
    row[1] = length > 0 ? (float)(length_of(r->impulse) / length) : 0;
    row[2] = length > 0 ? (float)(length_of(r->impulse + 3) / length) : 0;
    row[3] = (float)r->gap;
    row[4] = freedom < 0 ? 0 : (float)r->coordinate[freedom];
    row[5] = freedom < 0 ? 0 : (float)r->speed[freedom];
    for (int k = 0; k < 3; k++) row[6 + k] = (float)r->point[k];
}

/* Before the first step none has acted, and all are shown. */
static bool read_frame(const view_run *run, int frame, float (*rows)[VIEW_JOINT_CHANNELS]) {
    int shown = view_result_frame(run, frame), count = dls_results_frame_joint_count(run->results, shown);
    dls_joint_record *records = report_allocate((size_t)count + 1, sizeof *records);
    dls_error error;
    bool good = !dls_results_frame_joints(run->results, shown, records, &error);
    for (int j = 0; j < run->joint_count; j++)
        for (int c = 0; c < VIEW_JOINT_CHANNELS; c++) rows[j][c] = c == 0 && run->frame[shown].step == 0;
    for (int k = 0; k < count && good; k++)
        take_joint(run, &records[k], run->frame[shown].length, rows[records[k].joint]);
    if (!good) report_error("view: %s", error.message);
    free(records);
    return good;
}

bool view_joints_pack(view_run *run, view_block *block) {
    if (!run->joint_count) return true;
    float(*rows)[VIEW_JOINT_CHANNELS] = report_allocate((size_t)run->joint_count, sizeof *rows);
    bool good = true;
    for (int f = 0; f < block->count && good; f++) {
        good = read_frame(run, block->first + f, rows);
        for (int c = 0; c < VIEW_JOINT_CHANNELS && good; c++)
            for (int j = 0; j < run->joint_count; j++) bytes_put_float(&block->joints, (double)rows[j][c]);
    }
    free(rows);
    bytes_deflate(&block->joints);
    return good;
}

/* A scene from its first step to its last: stepping, recording, checkpoints, resuming. */
#ifndef DELASSUS_RUN_H
#define DELASSUS_RUN_H

#include <delassus/output.h>
#include <delassus/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/* After every step; false ends the run there, with a checkpoint. */
typedef bool (*dls_run_callback)(const dls_step_report *report, const dls_simulation *simulation, void *user);

/* Once before the first step; resumed: from a checkpoint. */
typedef void (*dls_run_begin_callback)(const dls_simulation *simulation, bool resumed, void *user);

typedef struct dls_run_def {
    const char *results; /* path of the results file, NULL for none; the checkpoint is PATH.checkpoint */
    /* From that checkpoint, if there is one; without it, or without a checkpoint, the run begins anew and
     * replaces what is there. The scene must be the one of the checkpoint, settings of time.until,
     * run.threads, run.strict and run.checkpoint_interval aside: they do not change a bit of what is computed
     * and recorded; and so must the files that it reads. */
    bool resume;
    const char *dump_folder; /* uncertified steps go there: FCLib, or Matrix Market where it has no word;
                                NULL: nowhere */
    dls_run_begin_callback begin;
    dls_run_callback callback;
    void *user; /* of both */
    /* Ranks that share the run, NULL for none. All call with the same scene and definition; rank 0 alone
     * writes files, the others read the checkpoint where they resume, and must reach it. What one of them
     * fails at, or where its callback ends the run, is so for all. */
    const dls_ranks *ranks;
} dls_run_def;

typedef enum dls_run_end { DLS_RUN_FINISHED = 0, DLS_RUN_INTERRUPTED, DLS_RUN_UNCERTIFIED } dls_run_end;

/* Frames are recorded at the first step at or after every multiple of the output interval, to half a step,
 * and at the last step. A run that ends early, with an error or not, leaves results that can be read. */
DLS_API dls_status dls_run_scene(dls_scene *scene, const dls_run_def *def, dls_run_end *end,
                                 dls_run_summary *summary, uint64_t *hash, dls_error *error);

/* The contact problem of a recorded frame, rebuilt from what the file holds: blocks in the order of the
 * frame's contacts, whose impulses solve it; joints act on them by the reactions that they had. */
DLS_API dls_status dls_results_problem(dls_results *results, int frame, dls_problem **problem,
                                       dls_error *error);

#ifdef __cplusplus
}
#endif
#endif

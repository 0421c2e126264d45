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

typedef struct dls_run_def {
    const char *results;     /* path of the results file, NULL for none; the checkpoint is PATH.checkpoint */
    bool resume;             /* from that checkpoint, if there is one */
    const char *dump_folder; /* uncertified steps go there as FCLib files; NULL: nowhere */
    dls_run_callback callback;
    void *user;
} dls_run_def;

typedef enum dls_run_end { DLS_RUN_FINISHED = 0, DLS_RUN_INTERRUPTED, DLS_RUN_UNCERTIFIED } dls_run_end;

DLS_API dls_status dls_run_scene(dls_scene *scene, const dls_run_def *def, dls_run_end *end,
                                 dls_run_summary *summary, uint64_t *hash, dls_error *error);

/* The contact problem of a recorded frame, rebuilt from what the file holds: blocks in the order of the frame's
 * contacts, whose impulses solve it. */
DLS_API dls_status dls_results_problem(dls_results *results, int frame, dls_problem **problem,
                                       dls_error *error);

#ifdef __cplusplus
}
#endif
#endif

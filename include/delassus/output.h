/* What a run leaves: results (one HDF5 file), an XDMF file beside it, checkpoints, and exports of them. */
#ifndef DELASSUS_OUTPUT_H
#define DELASSUS_OUTPUT_H

#include <delassus/integrate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- writing results -------------------------------------------------------------------------------------
 * Readable while the run goes on and after a crash: every frame that was written stays. */

typedef struct dls_results_writer dls_results_writer;

typedef struct dls_results_def {
    const char *title, *scene_text;
    int setting_count;
    const char *const *settings;
    const char *solver;         /* its name */
    const char *solver_options; /* as text, key=value lines */
    double tolerance;
    bool contacts;
} dls_results_def;

/* A new file; what stood under that name is replaced only once the new one is sound. */
DLS_API dls_status dls_results_create(const char *path, const dls_world *world, const dls_results_def *def,
                                      dls_results_writer **writer, dls_error *error);
/* Goes on with a file after a resume: frames and steps after t are dropped. */
DLS_API dls_status dls_results_continue(const char *path, const dls_world *world, int64_t step,
                                        dls_results_writer **writer, dls_error *error);
/* One line of history per step. */
DLS_API dls_status dls_results_add_step(dls_results_writer *writer, const dls_step_report *report,
                                        dls_error *error);
/* States, and contacts where asked for, as they are now. */
DLS_API dls_status dls_results_add_frame(dls_results_writer *writer, const dls_simulation *simulation,
                                         dls_error *error);
/* Everything that was added so far is on its way to the disk: what a checkpoint relies on. */
DLS_API dls_status dls_results_flush(dls_results_writer *writer, dls_error *error);
/* Finishes the file and the XDMF beside it. Also after an error; NULL is fine. */
DLS_API dls_status dls_results_close(dls_results_writer *writer, const dls_run_summary *summary,
                                     dls_error *error);

/* ---- reading results --------------------------------------------------------------------------------------
 */

typedef struct dls_results dls_results;

DLS_API dls_status dls_results_open(const char *path, dls_results **results, dls_error *error);
DLS_API void dls_results_destroy(dls_results *results);
DLS_API const char *dls_results_title(const dls_results *results);
DLS_API const char *dls_results_scene_text(const dls_results *results);
DLS_API int dls_results_setting_count(const dls_results *results);
DLS_API const char *dls_results_setting(const dls_results *results, int index);
DLS_API int dls_results_dimension(const dls_results *results);
DLS_API bool dls_results_finished(const dls_results *results); /* the run came to its end */
DLS_API int dls_results_body_count(const dls_results *results);
DLS_API const char *dls_results_body_name(const dls_results *results, dls_body_id id);
DLS_API int dls_results_frame_count(const dls_results *results);
DLS_API double dls_results_frame_time(const dls_results *results, int frame);
DLS_API int64_t dls_results_frame_step(const dls_results *results, int frame);
/* States by id; present tells which bodies take part. Arrays of body_count, either may be NULL. */
DLS_API dls_status dls_results_frame_states(dls_results *results, int frame, dls_body_state *states,
                                            bool *present, dls_error *error);
DLS_API dls_status dls_results_frame_poses(dls_results *results, int frame, dls_pose *poses,
                                           dls_error *error);
DLS_API int dls_results_frame_contact_count(const dls_results *results, int frame);
DLS_API dls_status dls_results_frame_contacts(dls_results *results, int frame, dls_contact_record *contacts,
                                              dls_error *error);
DLS_API int64_t dls_results_step_count(const dls_results *results);
DLS_API dls_status dls_results_steps(dls_results *results, int64_t first, int64_t count,
                                     dls_step_report *reports, dls_error *error);

/* ---- checkpoints ------------------------------------------------------------------------------------------
 */

/* Written aside and renamed, with a checksum over everything. scene_text and settings are kept so that a
 * checkpoint alone can go on. */
DLS_API dls_status dls_checkpoint_write(const char *path, const dls_simulation *simulation,
                                        const dls_results_def *def, dls_error *error);

typedef struct dls_checkpoint dls_checkpoint;
DLS_API dls_status dls_checkpoint_read(const char *path, dls_checkpoint **checkpoint, dls_error *error);
DLS_API dls_status dls_checkpoint_read_memory(const void *bytes, size_t size, dls_checkpoint **checkpoint,
                                              dls_error *error);
DLS_API void dls_checkpoint_destroy(dls_checkpoint *checkpoint);
DLS_API const char *dls_checkpoint_scene_text(const dls_checkpoint *checkpoint);
DLS_API int dls_checkpoint_setting_count(const dls_checkpoint *checkpoint);
DLS_API const char *dls_checkpoint_setting(const dls_checkpoint *checkpoint, int index);
DLS_API dls_status dls_checkpoint_restore(const dls_checkpoint *checkpoint, dls_simulation *simulation,
                                          dls_error *error);

/* ---- exports ----------------------------------------------------------------------------------------------
 */

/* FOLDER/bodies.csv, contacts.csv, steps.csv */
DLS_API dls_status dls_results_export_csv(dls_results *results, const char *folder, dls_error *error);
/* FOLDER/run.pvd with a .vtp of the bodies' surfaces and one of the force chains per frame */
DLS_API dls_status dls_results_export_vtk(dls_results *results, const dls_world *world, const char *folder,
                                          dls_error *error);

#ifdef __cplusplus
}
#endif
#endif

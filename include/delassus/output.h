/* What a run leaves: results (one HDF5 file), an XDMF file beside it, checkpoints, and exports of them. */
#ifndef DELASSUS_OUTPUT_H
#define DELASSUS_OUTPUT_H

#include <delassus/integrate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- writing results -------------------------------------------------------------------------------------
 * Readable while the run goes on and after a crash: every frame that was written stays, whenever the process
 * is killed. docs/results-format.md tells what the file holds. After a failure (a full disk) what was there
 * before stays readable, later calls return the same failure, and dls_results_close still has to be called.
 */

typedef struct dls_results_writer dls_results_writer;

typedef struct dls_results_def {
    const char *title, *scene_text; /* NULL: "" */
    int setting_count;
    const char *const *settings;
    const char *solver;         /* its name */
    const char *solver_options; /* as text, key=value lines */
    double tolerance;
    bool contacts; /* recorded with every frame */
    int file_count;
    const dls_file *files; /* that the scene needs beside its text */
} dls_results_def;

/* A new file; what stood under that name is replaced only once the new one is sound. The world is borrowed
 * until the end; bodies and materials that it gains are recorded with the next frame. */
DLS_API dls_status dls_results_create(const char *path, const dls_world *world, const dls_results_def *def,
                                      dls_results_writer **writer, dls_error *error);
/* Goes on with a file after a resume at the end of a step: frames and steps after it are dropped. The file is
 * made anew beside the old one and takes its place when it is sound. */
DLS_API dls_status dls_results_continue(const char *path, const dls_world *world, int64_t step,
                                        dls_results_writer **writer, dls_error *error);
/* The same, and a frame of that very step is dropped too unless keep_last: the run would have had none there
 * if it had not ended. */
DLS_API dls_status dls_results_continue_frames(const char *path, const dls_world *world, int64_t step,
                                               bool keep_last, dls_results_writer **writer, dls_error *error);
/* One line of history per step. It reaches the file with the next frame or flush. */
DLS_API dls_status dls_results_add_step(dls_results_writer *writer, const dls_step_report *report,
                                        dls_error *error);
/* States, joints that acted, and contacts where asked for, as they are now. In the file, whatever happens,
 * once it returns. The frame of a step that has one already is not written again. */
DLS_API dls_status dls_results_add_frame(dls_results_writer *writer, const dls_simulation *simulation,
                                         dls_error *error);
/* All that was added is on the disk, also through a power cut: to be called before a checkpoint is written,
 * so that a resumed run finds every step before it. */
DLS_API dls_status dls_results_flush(dls_results_writer *writer, dls_error *error);
/* Finishes the file and the XDMF beside it (PATH.xdmf). summary: of a run that came to its end, else NULL.
 * Also after an error; NULL is fine. */
DLS_API dls_status dls_results_close(dls_results_writer *writer, const dls_run_summary *summary,
                                     dls_error *error);

/* ---- reading results --------------------------------------------------------------------------------------
 * A file that is being written is read as it is when it is opened. */

typedef struct dls_results dls_results;

/* Texts, names, points, triangles and files that results hand out are valid until they are destroyed; states,
 * contacts and reports are copies. One dls_results is for one thread at a time. */
DLS_API dls_status dls_results_open(const char *path, dls_results **results, dls_error *error);
DLS_API void dls_results_destroy(dls_results *results);
DLS_API const char *dls_results_title(const dls_results *results);
DLS_API const char *dls_results_scene_text(const dls_results *results);
DLS_API int dls_results_setting_count(const dls_results *results);
DLS_API const char *dls_results_setting(const dls_results *results, int index); /* NULL where there is none */
/* Files that the scene needs beside its text, as it names them. */
DLS_API dls_status dls_results_files(dls_results *results, int *count, const dls_file **files,
                                     dls_error *error);
DLS_API const char *dls_results_version(const dls_results *results); /* of the library that wrote it */
DLS_API const char *dls_results_solver(const dls_results *results);
DLS_API const char *dls_results_solver_options(const dls_results *results);
DLS_API double dls_results_tolerance(const dls_results *results);
DLS_API bool dls_results_has_contacts(const dls_results *results); /* they were recorded */
DLS_API dls_world_def dls_results_world(const dls_results *results);
DLS_API int dls_results_dimension(const dls_results *results);
/* Whether the run came to its end; summary may be NULL. */
DLS_API bool dls_results_finished(const dls_results *results, dls_run_summary *summary);
DLS_API int dls_results_material_count(const dls_results *results);
DLS_API dls_status dls_results_material(const dls_results *results, dls_material_id id, dls_material_def *def,
                                        dls_error *error);
DLS_API int dls_results_body_count(const dls_results *results);
DLS_API const char *dls_results_body_name(const dls_results *results, dls_body_id id); /* "" for none */
/* A body that there is not is static, and has no shapes; a frame that there is not is of time 0 and step −1,
 * and has no contacts and no joints. */
DLS_API dls_motion dls_results_body_motion(const dls_results *results, dls_body_id id);
DLS_API dls_status dls_results_body_mass(const dls_results *results, dls_body_id id, dls_body_mass *mass,
                                         dls_error *error);
DLS_API int dls_results_body_shape_count(const dls_results *results, dls_body_id id);
/* As dls_body_shape gives it, and polyhedra have the triangles of their faces too. */
DLS_API dls_status dls_results_body_shape(const dls_results *results, dls_body_id id, int index,
                                          dls_shape_def *def, dls_error *error);
DLS_API int dls_results_joint_count(const dls_results *results);
DLS_API const char *dls_results_joint_name(const dls_results *results, dls_joint_id id); /* "" for none */
/* As dls_joint_get gives it. */
DLS_API dls_status dls_results_joint(const dls_results *results, dls_joint_id id, dls_joint_def *def,
                                     dls_error *error);
DLS_API int dls_results_frame_count(const dls_results *results);
DLS_API double dls_results_frame_time(const dls_results *results, int frame);
DLS_API int64_t dls_results_frame_step(const dls_results *results, int frame);
/* States by id; present tells which bodies take part, others stand at the origin. Arrays of body_count,
 * either may be NULL. */
DLS_API dls_status dls_results_frame_states(dls_results *results, int frame, dls_body_state *states,
                                            bool *present, dls_error *error);
/* Where bodies stood when the frame's contacts were found (as dls_simulation_contact_pose), by id. */
DLS_API dls_status dls_results_frame_poses(dls_results *results, int frame, dls_pose *poses,
                                           dls_error *error);
DLS_API int dls_results_frame_contact_count(const dls_results *results, int frame);
DLS_API dls_status dls_results_frame_contacts(dls_results *results, int frame, dls_contact_record *contacts,
                                              dls_error *error);
/* Joints that acted in the step that ended at the frame, by ascending id: as dls_simulation_joints. */
DLS_API int dls_results_frame_joint_count(const dls_results *results, int frame);
DLS_API dls_status dls_results_frame_joints(dls_results *results, int frame, dls_joint_record *joints,
                                            dls_error *error);
/* Places on solids at the frame, those of one body together, by ascending body: along a line, or the points
 * of a skin in the order of that shape. */
typedef struct dls_node_record {
    dls_body_id body;
    double at; /* material coordinate of a line; of a skin the number of the point over that of the last */
    double x[3], v[3];   /* m, m/s */
    double von_mises;    /* Pa; 0 of lines, and of files without it */
    double principal[3]; /* Pa, Cauchy's principal stresses, descending; likewise */
} dls_node_record;
DLS_API int dls_results_frame_node_count(const dls_results *results, int frame);
DLS_API dls_status dls_results_frame_nodes(dls_results *results, int frame, dls_node_record *nodes,
                                           dls_error *error);
/* Of solids that deform alike everywhere, by ascending body: the place X of the body's frame is at x + F X.
 */
typedef struct dls_gradient_record {
    dls_body_id body;
    double F[9], rate[9]; /* column-major; 1, 1/s */
} dls_gradient_record;
DLS_API int dls_results_frame_gradient_count(const dls_results *results, int frame);
DLS_API dls_status dls_results_frame_gradients(dls_results *results, int frame,
                                               dls_gradient_record *gradients, dls_error *error);
DLS_API int64_t dls_results_step_count(const dls_results *results);
DLS_API dls_status dls_results_steps(dls_results *results, int64_t first, int64_t count,
                                     dls_step_report *reports, dls_error *error);

/* ---- checkpoints ------------------------------------------------------------------------------------------
 */

/* Written aside and renamed, with a checksum over everything. What def says is kept so that a checkpoint
 * alone can go on. */
DLS_API dls_status dls_checkpoint_write(const char *path, const dls_simulation *simulation,
                                        const dls_results_def *def, dls_error *error);

typedef struct dls_checkpoint dls_checkpoint;
DLS_API dls_status dls_checkpoint_read(const char *path, dls_checkpoint **checkpoint, dls_error *error);
DLS_API dls_status dls_checkpoint_read_memory(const void *bytes, size_t size, dls_checkpoint **checkpoint,
                                              dls_error *error);
DLS_API void dls_checkpoint_destroy(dls_checkpoint *checkpoint);
DLS_API int64_t dls_checkpoint_step(const dls_checkpoint *checkpoint);
DLS_API double dls_checkpoint_time(const dls_checkpoint *checkpoint);
/* These texts are valid until the checkpoint is destroyed. */
DLS_API const char *dls_checkpoint_scene_text(const dls_checkpoint *checkpoint);
DLS_API int dls_checkpoint_setting_count(const dls_checkpoint *checkpoint);
DLS_API const char *dls_checkpoint_setting(const dls_checkpoint *checkpoint,
                                           int index); /* NULL where there is none */
DLS_API const char *dls_checkpoint_title(const dls_checkpoint *checkpoint);
DLS_API const char *dls_checkpoint_solver(const dls_checkpoint *checkpoint);
DLS_API const char *dls_checkpoint_solver_options(const dls_checkpoint *checkpoint);
/* The simulation must be of the same scene. */
DLS_API dls_status dls_checkpoint_restore(const dls_checkpoint *checkpoint, dls_simulation *simulation,
                                          dls_error *error);

/* ---- exports ----------------------------------------------------------------------------------------------
 */

/* FOLDER/bodies.csv, contacts.csv, joints.csv, steps.csv: a row per body, contact or joint and frame, or
 * step, under a line that names columns and units. The folder is made where it is missing. */
DLS_API dls_status dls_results_export_csv(dls_results *results, const char *folder, dls_error *error);
/* FOLDER/run.pvd with bodies_00000.vtp …, the surfaces of all shapes, and contacts_00000.vtp …, the force
 * chains, and where there are joints joints_00000.vtp …, points and lines with their forces; a file of each
 * per frame. */
DLS_API dls_status dls_results_export_vtk(dls_results *results, const char *folder, dls_error *error);

#ifdef __cplusplus
}
#endif
#endif

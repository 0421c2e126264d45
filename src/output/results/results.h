/* Results files inside: what the writer and the reader hold. */
#ifndef OUTPUT_RESULTS_RESULTS_H
#define OUTPUT_RESULTS_RESULTS_H

#include "fclib/image.h"
#include "output/results/layout.h"

/* ---- writer ---- */

enum { DLS_BATCH = 4096, DLS_PENDING = 256 };

/* Rows that wait for more of their table. */
typedef struct dls_held_rows {
    char *rows;
    int count;
} dls_held_rows;

struct dls_results_writer {
    char *path;
    dls_file_name name;
    const dls_world *world;
    dls_output_device device;
    hid_t file;
    dls_table tables[DLS_TABLES];
    dls_results_def def; /* texts are not kept */
    size_t name_size;    /* room of a body's name */
    char *rows, *column; /* DLS_BATCH rows of a frame, and one column of them */
    dls_held_rows held[DLS_TABLE_STATES];
    int pending_count; /* steps that are not in the file yet */
    dls_step_report pending[DLS_PENDING];
    dls_frame_row *frames; /* all of them, for the XDMF */
    int frame_count;
    int64_t frame_capacity;
    int xdmf_frames;          /* in the XDMF that is on the disk */
    bool has_turning;         /* contacts have the columns of turning */
    dls_joint_record *joints; /* of the last step */
    int64_t joint_room;
    double *skin; /* of one solid: places, rates and stresses of its vertices */
    int64_t skin_room;
    dls_error failure;
};

/* Makes the file aside, with all tables empty but those of the world; commit puts it in its place. */
dls_status dls_writer_open(const char *path, const dls_world *world, const dls_results_def *def,
                           dls_results_writer **writer, dls_aside **aside, dls_error *error);
dls_status dls_writer_commit(dls_results_writer *writer, dls_aside *aside, dls_error *error);
/* Gives all up, the file aside too. */
void dls_writer_abandon(dls_results_writer *writer, dls_aside *aside);
/* What failed first is what every later call says. */
dls_status dls_writer_fail(dls_results_writer *writer, dls_error *error);
/* Notes a frame for the XDMF; false when memory is out. */
bool dls_writer_note_frame(dls_results_writer *writer, const dls_frame_row *frame);
/* Makes the index as long as the frame has points; false where HDF5 refuses. */
bool dls_writer_number_points(dls_results_writer *writer, const dls_frame_row *frame);
/* Hands what was written to the system. */
dls_status dls_writer_flush(dls_results_writer *writer, dls_error *error);

/* Whether it has, or will have, joints. */
bool dls_writer_has_joints(const dls_results_writer *writer);
/* Adds what the world has and the file does not. */
dls_status dls_writer_add_world(dls_results_writer *writer, dls_error *error);
/* Of all names in the world, at least 31. */
size_t dls_writer_name_size(const dls_world *world);
dls_joint_def_row dls_joint_def_row_of(const dls_joint_def *def);
dls_joint_def dls_joint_def_of(const dls_joint_def_row *row); /* without a name */

/* False where HDF5 refuses or memory is out. */
bool dls_files_write(hid_t file, int count, const dls_file *files);

/* PATH.xdmf anew. */
dls_status dls_xdmf_write(const dls_results_writer *writer, dls_error *error);

/* ---- reader ---- */

struct dls_results {
    dls_file_name name;
    dls_structure structure;
    dls_output_device device;
    hid_t file;
    int format; /* version */
    int64_t file_size;
    dls_table tables[DLS_TABLES];
    char *title, *solver, *version;
    char **scene_text, **solver_options, **settings; /* blocks of dls_texts_read */
    int setting_count;
    int file_count; /* once they were asked for */
    dls_file *files;
    char **file_names, *file_bytes;
    double tolerance;
    bool has_contacts, has_turning, is_finished; /* has_turning: a contact of it may resist turning */
    bool has_stress, has_principal;              /* nodes have von Mises's; and the principal ones */
    dls_world_def world;
    dls_run_summary summary;
    int frame_count;
    dls_frame_row *frames;
    int64_t step_count;
    int body_count, shape_count, material_count, joint_count;
    dls_body_row *bodies;
    char *body_names; /* name_size bytes each, zero-ended */
    size_t body_name_size;
    dls_shape_row *shapes;
    double *points;
    int32_t *triangles;
    int64_t point_count, triangle_count;
    dls_material_row *materials;
    char *material_names;
    size_t material_name_size;
    dls_pair_row *pairs; /* of the materials, row by row of a triangle */
    dls_joint_def_row *joints;
    char *joint_names;
    size_t joint_name_size;
    int64_t state_rows, contact_rows, reaction_rows, node_rows,
        gradient_rows;  /* that all of their columns have */
    dls_error left_out; /* why bodies or joints at the end of their tables do not count, if some do not */
};

/* Fails with "FILE: damaged: DATASET, row ROW: …": what was found, and what was expected. */
dls_status dls_results_fail(const dls_results *results, int table, int64_t row, dls_error *error,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Rows of any table; every number is in its column's range. */
dls_status dls_results_rows(const dls_results *results, int table, int64_t first, int64_t count, void *rows,
                            dls_error *error);

/* Whether a row agrees with those that it speaks of. What is not whole speaks of rows that are not there, as
 * the last ones do while they are written. */
dls_status dls_results_check_shape(const dls_results *results, int index, bool *is_whole, dls_error *error);
dls_status dls_results_check_body(const dls_results *results, int id, bool *is_whole, dls_error *error);
dls_status dls_results_check_joint(const dls_results *results, int id, bool *is_whole, dls_error *error);
dls_status dls_results_check_frame(const dls_results *results, int index, bool *is_whole, dls_error *error);
dls_status dls_results_check_pairs(const dls_results *results, dls_error *error);

/* Behind the last of the columns that contacts have in this file. */
static inline int dls_results_contact_end(const dls_results *results) {
    return results->has_turning ? DLS_TABLE_TURNING_END : DLS_TABLE_CONTACTS_END;
}

/* The same of nodes. */
static inline int dls_results_node_end(const dls_results *results) {
    return results->has_principal ? DLS_TABLE_NODES_END
           : results->has_stress  ? DLS_TABLE_NODES_PRINCIPAL
                                  : DLS_TABLE_NODES_STRESS;
}

dls_shape_def dls_results_shape_def(const dls_results *results, int index);

/* Rows of the history, as sound as those below. */
dls_status dls_results_step_rows(const dls_results *results, int64_t first, int64_t count,
                                 dls_step_report *rows, dls_error *error);
/* Rows first … first + count − 1 of a frame's states, contacts, reactions, nodes or gradients, as the row
 * structs have them.
 */
dls_status dls_results_state_rows(const dls_results *results, int frame, int first, int count,
                                  dls_state_row *rows, dls_error *error);
/* Bodies of states, checked to ascend from *before on, which becomes the last of them. */
dls_status dls_results_state_bodies(const dls_results *results, int64_t first, int count, int32_t *before,
                                    int32_t *body, dls_error *error);
/* Quaternions of a column of states, checked and brought to length 1. */
dls_status dls_results_turns(const dls_results *results, int table, int64_t first, int count, double *q,
                             dls_error *error);
dls_status dls_results_contact_rows(const dls_results *results, int frame, int first, int count,
                                    dls_contact_row *rows, dls_error *error);
dls_status dls_results_node_rows(const dls_results *results, int frame, int first, int count,
                                 dls_node_record *rows, dls_error *error);
dls_status dls_results_gradient_rows(const dls_results *results, int frame, int first, int count,
                                     dls_gradient_record *rows, dls_error *error);
dls_status dls_results_reaction_rows(const dls_results *results, int frame, int first, int count,
                                     dls_reaction_row *rows, dls_error *error);
/* Length of the step that ended in the frame, from the history; 0 where it is not known. */
dls_status dls_results_step_length(const dls_results *results, int frame, double *h, dls_error *error);

#endif

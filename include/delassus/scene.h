/* Scenes: a world, how it is stepped and what is recorded, as one text file (YAML, so JSON too; SI units).
 *
 * Messages say file:line, what was found and what was expected: "drum.yaml:14: unknown key 'raduis' in a
 * disc, did you mean 'radius'?". */
#ifndef DELASSUS_SCENE_H
#define DELASSUS_SCENE_H

#include <delassus/integrate.h>
#include <delassus/joint.h>
#include <delassus/solid.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a run does beside stepping. */
typedef struct dls_run_options {
    double until;               /* s */
    double output_interval;     /* s between recorded states; 0: every step */
    bool output_contacts;       /* record contacts with them */
    double checkpoint_interval; /* s of wall time; 0: only at the end and when interrupted */
    bool strict;                /* stop at the first step that is not certified */
} dls_run_options;

DLS_API dls_run_options dls_default_run_options(void);
DLS_API const dls_field *dls_run_fields(int *count);

typedef struct dls_scene dls_scene;

/* settings: count texts "key=value" that override values of the file, keys as paths ("time.step=1e-4",
 * "solver.tolerance=1e-6", "variables.rpm=20"). */
DLS_API dls_status dls_scene_read(const char *path, int setting_count, const char *const *settings,
                                  dls_scene **scene, dls_error *error);
/* The same from memory; name stands for the file in messages, folder is where mesh files are looked for. */
DLS_API dls_status dls_scene_read_text(const char *text, size_t size, const char *name, const char *folder,
                                       int setting_count, const char *const *settings, dls_scene **scene,
                                       dls_error *error);
/* The same, of files that are in memory under the names that the scene has for them; others are looked for in
 * the present folder. */
DLS_API dls_status dls_scene_read_stored(const char *text, size_t size, const char *name, int file_count,
                                         const dls_file *files, int setting_count,
                                         const char *const *settings, dls_scene **scene, dls_error *error);
DLS_API void dls_scene_destroy(dls_scene *scene);

/* A simulation of the scene's world with its integrator, its solver and their options, at its beginning; one
 * that dls_simulation_create makes of the same world has the default solver. The scene must outlive it.
 * dls_run_scene (run.h) records, too. */
DLS_API dls_status dls_scene_simulation_create(dls_scene *scene, dls_simulation **simulation,
                                               dls_error *error);

/* What follows belongs to the scene and is valid until it is destroyed.
 *
 * The file's text with the settings that were applied as a comment at its end: enough to read it again. */
DLS_API const char *dls_scene_text(const dls_scene *scene);
DLS_API int dls_scene_setting_count(const dls_scene *scene);
DLS_API const char *dls_scene_setting(const dls_scene *scene, int index); /* NULL where there is none */
/* The files that it read beside its text (meshes), each once. */
DLS_API int dls_scene_file_count(const dls_scene *scene);
DLS_API const dls_file *dls_scene_files(const dls_scene *scene);
DLS_API const char *dls_scene_title(const dls_scene *scene); /* "" for none */
DLS_API dls_world *dls_scene_world(dls_scene *scene);
DLS_API const dls_simulation_options *dls_scene_simulation_options(const dls_scene *scene);
/* Whether the scene asked for its joints to be assembled, and what that did. */
DLS_API bool dls_scene_assembled(const dls_scene *scene, dls_assembled *report);
DLS_API int dls_scene_inlet_count(const dls_scene *scene);
DLS_API int dls_scene_removal_count(const dls_scene *scene);
DLS_API const dls_run_options *dls_scene_run_options(const dls_scene *scene);
DLS_API const dls_solver *dls_scene_solver(const dls_scene *scene);
DLS_API const void *dls_scene_solver_options(const dls_scene *scene);

/* Values that look as if they were meant in other units than SI (angles in degrees, g/cm³, cm/s², files of
 * meshes in mm), driven positions that begin with a jump, and restitution that the scheme has no use for,
 * noted while the scene was read: the index-th line about one, NULL where there is none. */
DLS_API const char *dls_scene_doubt(const dls_scene *scene, int index);

/* Looks for what is likely a mistake: those doubts, bodies that overlap at the start or at their birth, or
 * stand behind a mesh, walls thinner than speed × h, pairs of materials that meet and are not stated, steps
 * too long for the sizes. Calls warn with one line each. */
DLS_API dls_status dls_scene_check(dls_scene *scene, void (*warn)(const char *line, void *user), void *user,
                                   int *warnings, dls_error *error);

/* ---- meshes from files ------------------------------------------------------------------------------------
 */

typedef struct dls_mesh_file dls_mesh_file;

/* Triangles of a .obj or .stl file, or elements of a .msh (Gmsh 2.2 or 4.1) or .vtu file; scale multiplies
 * all lengths. */
DLS_API dls_status dls_mesh_file_open(const char *path, double scale, dls_mesh_file **file, dls_error *error);
DLS_API void dls_mesh_file_close(dls_mesh_file *file); /* NULL is fine */
/* What follows is valid until the file is closed; bodies copy what they take of it.
 *
 * The surface: of triangles a mesh, of elements the skin that is the one shape of their body. */
DLS_API const dls_shape_def *dls_mesh_file_shape(const dls_mesh_file *file);
/* For dls_solid_def; NULL where the file has triangles. */
DLS_API const dls_solid_mesh *dls_mesh_file_elements(const dls_mesh_file *file);
/* The index-th physical group, by its name or its number, with its nodes, ascending; NULL behind the last. */
DLS_API const char *dls_mesh_file_group(const dls_mesh_file *file, int index, int *count, const int **nodes);

/* ---- templates and reference ------------------------------------------------------------------------------
 */

/* NULL where there is no template of that index. */
DLS_API int dls_scene_template_count(void);
DLS_API const char *dls_scene_template_name(int index);
DLS_API const char *dls_scene_template_summary(int index);
DLS_API const char *dls_scene_template_text(int index); /* a commented scene that runs */

/* Everything a scene may say, group by group, from the tables that the reader itself uses. */
typedef struct dls_scene_key {
    const char *group; /* "bodies", "bodies.shapes", "time", … */
    const char *key, *type, *unit, *preset, *help;
} dls_scene_key;
DLS_API int dls_scene_key_count(void);
/* Its texts live until the next call of the same thread. All are "" where there is no key of that index. */
DLS_API dls_scene_key dls_scene_key_at(int index);
/* The groups in the order of their keys, with a sentence or two about each ("" for none); NULL where there is
 * no group of that index. */
DLS_API int dls_scene_group_count(void);
DLS_API const char *dls_scene_group_name(int index);
DLS_API const char *dls_scene_group_about(int index);
/* Whether shapes of that kind have that key of the group "bodies.shape". */
DLS_API bool dls_scene_shape_has(dls_shape_kind kind, const char *key);

#ifdef __cplusplus
}
#endif
#endif

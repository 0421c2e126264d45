/* Writes the inputs that fuzzing starts from:  make_corpus tests/fuzz/corpus
 *
 * fclib/    small files of each form, storage and file format; those named crashes-* were found by fuzzing
 * and crash HDF5 1.10.8 where it meets them unchecked problem/  small problems in the bytes that
 * fuzz_problem.c reads, stored and matrix-free; checkpoint/  of the worlds of checkpoint_world.h,
 * before, at and after births and deaths; results/ numbers of each kind put into each dataset and attribute.
 * Those named broke-* were found by fuzzing */
#include "base/random.h"
#include "output/results/layout.h"
#include "support/checkpoint_world.h"
#include "support/fclib_files.h"
#include "support/sample.h"

#include <delassus/output.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static FILE *create(const char *folder, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

/* ---- FCLib files ---- */

static void write_file(const char *folder, const char *name, file_bytes bytes) {
    FILE *file = create(folder, name);
    fwrite(bytes.data, 1, bytes.size, file);
    fclose(file);
    free_bytes(&bytes);
}

/* Guesses and texts cost more bytes than they are worth in every file. */
static file_bytes without_extras(file_bytes bytes, const char *root) {
    char info[64];
    snprintf(info, sizeof info, "%s/info", root);
    file_edit edit = edit_begin(bytes);
    edit_remove(&edit, info);
    edit_remove(&edit, "/guesses");
    file_bytes less = edit_end(&edit);
    free_bytes(&bytes);
    return less;
}

/* Texts as h5py writes them. */
static file_bytes with_long_texts(file_bytes bytes) {
    file_edit edit = edit_begin(bytes);
    edit_long_text(&edit, "/fclib_local/info/title", "a title in the heap");
    edit_long_text(&edit, "/fclib_local/info/description", "and what it is about");
    file_bytes other = edit_end(&edit);
    free_bytes(&bytes);
    return other;
}

static void make_files(const char *folder) {
    const struct {
        const char *name;
        dls_fclib_form form;
        int dimension, contacts, equalities;
        fclib_storage storage;
        H5F_libver_t format;
        bool has_extras, is_rolling;
    } files[] = {
        {"local.hdf5", DLS_FCLIB_LOCAL, 3, 1, 1, STORE_ROWS, H5F_LIBVER_EARLIEST, true, false},
        {"planar.hdf5", DLS_FCLIB_LOCAL, 2, 2, 0, STORE_TRIPLETS, H5F_LIBVER_EARLIEST, false, false},
        {"global.hdf5", DLS_FCLIB_GLOBAL, 2, 2, 1, STORE_COLUMNS, H5F_LIBVER_EARLIEST, false, false},
        {"global-triplets.hdf5", DLS_FCLIB_GLOBAL, 3, 1, 0, STORE_TRIPLETS, H5F_LIBVER_EARLIEST, false,
         false},
        {"local-v18.hdf5", DLS_FCLIB_LOCAL, 3, 1, 1, STORE_COLUMNS, H5F_LIBVER_V18, true, false},
        {"global-v110.hdf5", DLS_FCLIB_GLOBAL, 3, 1, 1, STORE_TRIPLETS, H5F_LIBVER_V110, true, false},
        {"rolling.hdf5", DLS_FCLIB_LOCAL, 5, 1, 1, STORE_ROWS, H5F_LIBVER_EARLIEST, false, true},
        {"rolling-planar.hdf5", DLS_FCLIB_LOCAL, 3, 2, 0, STORE_TRIPLETS, H5F_LIBVER_V18, false, true},
        {"rolling-global.hdf5", DLS_FCLIB_GLOBAL, 5, 1, 0, STORE_COLUMNS, H5F_LIBVER_EARLIEST, false, true}};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        fclib_sample s = make_fclib_sample(files[k].form, files[k].dimension, files[k].contacts,
                                           files[k].equalities, (int)k + 1);
        s.is_rolling = files[k].is_rolling;
        file_bytes bytes = make_fclib_file(&s, files[k].storage, files[k].format);
        if (!files[k].has_extras) bytes = without_extras(bytes, fclib_sample_root(&s));
        if (files[k].has_extras && files[k].format == H5F_LIBVER_V18) bytes = with_long_texts(bytes);
        write_file(folder, files[k].name, bytes);
    }
}

/* ---- problems ---- */

static void put_byte(FILE *file, int value) { fputc(value & 0xff, file); }
static void put_reals(FILE *file, const double *values, int count) {
    fwrite(values, sizeof(double), (size_t)count, file);
}

/* Block sizes and kinds are both given. */
static void put_definition(FILE *file, const sample *s) {
    put_byte(file, s->def.block_count);
    put_byte(file, 3);
    put_byte(file, s->def.dimension);
    for (int c = 0; c < s->def.block_count; c++) {
        put_byte(file, s->size[c]);
        put_byte(file, s->kind[c]);
    }
    put_reals(file, s->mu, s->def.block_count);
    put_reals(file, s->b, s->rows);
}

static void put_matrix(FILE *file, const sample *s) {
    for (int i = 0; i < s->rows; i++) {
        int count = 0;
        for (int j = 0; j < s->rows; j++) count += s->W[i + s->rows * j] != 0;
        put_byte(file, count);
        for (int j = 0; j < s->rows; j++) {
            if (s->W[i + s->rows * j] == 0) continue;
            put_byte(file, j);
            put_reals(file, &s->W[i + s->rows * j], 1);
        }
    }
}

static void put_bodies(FILE *file, const sample *s) {
    const dls_bodies *b = &s->bodies;
    put_byte(file, b->body_count);
    put_byte(file, b->body_dof);
    for (int k = 0; k < 2 * s->def.block_count; k++) put_byte(file, b->body[k]);
    put_reals(file, b->inverse_mass, b->body_count * b->body_dof * b->body_dof);
    put_reals(file, b->H, 2 * s->rows * b->body_dof);
}

static void make_problems(const char *folder) {
    const sample_shape shapes[] = {
        {.blocks = 1, .bodies = 1, .dof = 6, .dimension = 3, .mu_low = 0.5, .mu_high = 0.5, .coupling = 0.3},
        {.blocks = 4, .bodies = 3, .dof = 3, .dimension = 2, .mu_low = 0, .mu_high = 1, .coupling = 0.5},
        {.blocks = 6,
         .bodies = 3,
         .dof = 6,
         .bilateral_every = 3,
         .mu_low = 0.1,
         .mu_high = 2,
         .coupling = 0.8}};
    dls_random g = {1};
    for (int k = 0; k < 3; k++) {
        sample s = sample_create(&g, &shapes[k]);
        for (int has_bodies = 0; has_bodies < 2; has_bodies++) {
            char name[32];
            snprintf(name, sizeof name, "%s-%d", has_bodies ? "bodies" : "stored", k);
            FILE *file = create(folder, name);
            put_byte(file, has_bodies);
            put_definition(file, &s);
            if (has_bodies)
                put_bodies(file, &s);
            else
                put_matrix(file, &s);
            fclose(file);
        }
        sample_free(&s);
    }
}

/* ---- checkpoints ---- */

static void make_checkpoints_of(const char *title, const char *folder) {
    static const char *const settings[] = {"time.step=0.01"};
    dls_results_def def = {.title = title,
                           .scene_text = "a scene\n",
                           .setting_count = 1,
                           .settings = settings,
                           .solver = "auto",
                           .tolerance = 1e-6};
    dls_world *world = checkpoint_world(title);
    dls_simulation *simulation = NULL;
    dls_simulation_options options = dls_default_simulation_options();
    dls_step_report report;
    dls_error error = {0};
    options.step = 0.01;
    dls_status status = dls_simulation_create(world, &options, &simulation, &error);
    for (int step = 0; step <= 4 && !status; step++) {
        char path[1100];
        snprintf(path, sizeof path, "%s/%s-%d", folder, title, step);
        status = dls_checkpoint_write(path, simulation, &def, &error);
        if (!status) status = dls_simulation_step(simulation, &report, &error);
    }
    if (status) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    dls_simulation_destroy(simulation);
    dls_world_destroy(world);
}

static void make_checkpoints(const char *folder) {
    for (int k = 0; k < CHECKPOINT_WORLDS; k++) make_checkpoints_of(checkpoint_worlds[k].title, folder);
}

/* ---- results ---- */

/* One record of fuzz_results.c: thing, column, row, place, and a number or eight letters. */
static void put_record(FILE *file, int thing, int column, int row, int place, const void *number) {
    put_byte(file, thing);
    put_byte(file, column);
    put_byte(file, row);
    put_byte(file, place);
    fwrite(number, 8, 1, file);
}

static FILE *create_numbered(const char *folder, const char *name, int k) {
    char numbered[32];
    snprintf(numbered, sizeof numbered, "%s-%02d", name, k);
    return create(folder, numbered);
}

/* The things of fuzz_results.c: each table, then row counts, whole attributes, real ones, seven texts, sizes
 * and bytes of files; and its uses, twice as many as there are, for two samples. */
enum { THINGS = DLS_TABLE_SUMMARY + 1 + 12, SAMPLE_USES = 50 };

/* Numbers of each kind into each thing. */
static void make_result_numbers(const char *folder) {
    const double numbers[] = {0, -1, 0.5, 1e16, 1e59, 1e300, NAN, INFINITY};
    const int32_t wholes[] = {0, -1, 2, 255, INT32_MAX};
    for (int thing = 0; thing < THINGS; thing++) {
        FILE *file = create_numbered(folder, "thing", thing);
        put_byte(file, thing % SAMPLE_USES);
        for (int k = 0; k < 8; k++) {
            const int32_t whole[2] = {wholes[k % 5], k % 2 ? -1 : 0};
            const void *number = k < 4 || thing % 3 == 0 ? (const void *)whole : &numbers[k];
            put_record(file, thing, 3 * k, k, k, number);
        }
        fclose(file);
    }
}

/* Nothing changed, for each use; and places that can be, with extents that cannot be measured. */
static void make_result_uses(const char *folder) {
    const double far[] = {0.5, 1e16, 1e59};
    for (int use = 0; use < SAMPLE_USES; use++) {
        FILE *file = create_numbered(folder, "sound", use);
        put_byte(file, use);
        fclose(file);
        file = create_numbered(folder, "place", use);
        put_byte(file, use);
        for (int body = 0; body < 4; body++)
            put_record(file, DLS_TABLE_STATES + 2, 0, 2 + body, use % 3, &far[(use + body) % 3]);
        fclose(file);
    }
}

static void make_results(const char *folder) {
    make_result_numbers(folder);
    make_result_uses(folder);
}

int main(int argc, char **argv) {
    char folder[1000];
    if (argc != 2) {
        fprintf(stderr, "usage: make_corpus FOLDER\n");
        return 2;
    }
    mkdir(argv[1], 0777);
    snprintf(folder, sizeof folder, "%s/fclib", argv[1]);
    mkdir(folder, 0777);
    make_files(folder);
    snprintf(folder, sizeof folder, "%s/problem", argv[1]);
    mkdir(folder, 0777);
    make_problems(folder);
    snprintf(folder, sizeof folder, "%s/checkpoint", argv[1]);
    mkdir(folder, 0777);
    make_checkpoints(folder);
    snprintf(folder, sizeof folder, "%s/results", argv[1]);
    mkdir(folder, 0777);
    make_results(folder);
    return 0;
}

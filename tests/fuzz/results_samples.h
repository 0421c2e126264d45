/* Small runs with every kind of shape, whose results files are what hostile ones are made of. */
#ifndef TESTS_FUZZ_RESULTS_SAMPLES_H
#define TESTS_FUZZ_RESULTS_SAMPLES_H

#define _GNU_SOURCE
#include <delassus/run.h>

#include <ftw.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const sample_scenes[] = {
    "delassus: 1\ntitle: plane\ndimension: 2\ntime: {step: 0.01, until: 0.02}\n"
    "materials: {clay: {density: 2000, mu: 0.5, cohesion: 1}, ice: {density: 900, mu: 0}}\nbodies:\n"
    "- {motion: static, material: clay, shape: {kind: half-plane}}\n"
    "- {motion: static, material: ice, shape: {kind: chain, points: [[4, 1], [0, -1], [-4, 1]]}}\n"
    "- {material: clay, shape: {kind: disc, radius: 0.1}, position: [0, 0.1]}\n"
    "- {material: clay, shape: {kind: disc, radius: 0.1}, position: [0.2, 0.1]}\n"
    "- {name: ball, material: ice, shape: {kind: disc, radius: 0.1}, position: [0.1, 0.27]}\n"
    "- {material: clay, shape: {kind: polygon, points: [[-0.1, -0.1], [0.1, -0.1], [0, 0.1]]},"
    " position: [0.5, 0.07]}\n"
    "- {name: crank, mass: 1, inertia: 0.1, position: [1, 1]}\n"
    "joints:\n"
    "- {name: motor, kind: revolute, bodies: [ground, crank], at: [1.2, 1], drive: {velocity: 3, torque: "
    "9}}\n"
    "- {kind: prismatic, bodies: [ground, ball], axis: [0, 1], limits: [-0.5, 0.5], friction: 1}\n"
    "springs: [{bodies: [crank, ball], stiffness: 10, damping: 1}]\n"
    "output: {interval: 0.01}\n",
    "delassus: 1\ntitle: space\ndimension: 3\ntime: {step: 0.01, until: 0.02}\n"
    "materials: {wood: {density: 600, mu: 0.5}}\nbodies:\n"
    "- {motion: static, material: wood, shape: {kind: half-space}}\n"
    "- {motion: static, material: wood, shape: {kind: box-inside, size: [9, 9, 9]}}\n"
    "- {material: wood, shape: {kind: sphere, radius: 0.1}, position: [0, 0, 0.1]}\n"
    "- {material: wood, shape: {kind: box, size: [0.2, 0.2, 0.2]}, position: [0.3, 0, 0.1]}\n"
    "- {material: wood, shape: {kind: capsule, radius: 0.1, length: 0.2}, position: [0.6, 0, 0.2]}\n"
    "- {material: wood, shape: {kind: ellipsoid, size: [0.1, 0.2, 0.1]}, position: [0, 0.5, 0.1]}\n"
    "- {material: wood, shape: {kind: cylinder, radius: 0.1, length: 0.2}, position: [0.3, 0.5, 0.1]}\n"
    "- {material: wood, position: [0.6, 0.5, 0.1], shape: {kind: polyhedron,"
    " points: [[-0.1, -0.1, -0.1], [0.1, -0.1, -0.1], [0, 0.1, -0.1], [0, 0, 0.1]]}}\n"
    "- {motion: static, material: wood, shape: {kind: mesh, file: tile.obj}}\n"
    "- {name: rod, mass: 1, inertia: [0.1, 0.1, 0.1], position: [2, 0, 1]}\n"
    "- {name: bob, material: wood, shape: {kind: sphere, radius: 0.1}, position: [2, 0, 0.5]}\n"
    "joints:\n"
    "- {name: ball, kind: spherical, bodies: [ground, rod], at: [2, 0, 1.2], cone: 1}\n"
    "- {name: cross, kind: universal, bodies: [rod, bob], at: [2, 0, 0.8], axis: [1, 0, 0], second: [0, 1, "
    "0]}\n"
    "- {kind: distance, rope: yes, bodies: [ground, bob], at: [[3, 0, 1], [2, 0, 0.5]]}\n"
    "output: {interval: 0.01}\n"};

enum { SAMPLES = sizeof sample_scenes / sizeof *sample_scenes };

/* A folder of one's own, in memory where the system has such, empty again at the end. */
static char sample_folder[] = "/dev/shm/fuzz_results_XXXXXX";

static int sample_remove_one(const char *path, const struct stat *about, int kind, struct FTW *level) {
    (void)about, (void)kind;
    return level->level > 0 ? remove(path) : 0;
}

static void sample_empty_folder(void) { nftw(sample_folder, sample_remove_one, 8, FTW_DEPTH | FTW_PHYS); }

static void sample_remove_folder(void) {
    sample_empty_folder();
    rmdir(sample_folder);
}

/* HDF5 keeps what it frees, half a megabyte for every file: fresh pages are slower than what is done in them.
 */
static void sample_begin(void) {
    H5set_free_list_limits(-1, -1, -1, -1, -1, -1);
    if (!mkdtemp(sample_folder)) {
        strcpy(sample_folder, "/tmp/fuzz_XXXXXX");
        if (!mkdtemp(sample_folder)) abort();
    }
    atexit(sample_remove_folder);
}

static dls_scene *sample_scene(int k) {
    static const char tile[] = "v -1 -1 -1\nv 1 -1 -1\nv 0 1 -1\nf 1 2 3\n";
    const dls_file file = {"tile.obj", tile, sizeof tile - 1};
    dls_scene *scene = NULL;
    dls_error error = {0};
    if (dls_scene_read_stored(sample_scenes[k], strlen(sample_scenes[k]), "scene", 1, &file, 0, NULL, &scene,
                              &error)) {
        fprintf(stderr, "no sample: %s\n", error.message);
        abort();
    }
    return scene;
}

/* Runs it; its results are at path. */
static void sample_run(int k, const char *path) {
    dls_error error = {0};
    dls_run_end end;
    dls_scene *scene = sample_scene(k);
    if (dls_run_scene(scene, &(dls_run_def){.results = path}, &end, NULL, NULL, &error)) {
        fprintf(stderr, "no sample: %s\n", error.message);
        abort();
    }
    dls_scene_destroy(scene);
}

/* The bytes of a file; to be freed. */
static uint8_t *sample_bytes(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) abort();
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size);
    if (!bytes || fread(bytes, 1, *size, file) != *size) abort();
    fclose(file);
    return bytes;
}

/* A file without a place on any disk, and how it is opened. */
static inline int sample_file(const uint8_t *bytes, size_t size, char path[32]) {
    int descriptor = memfd_create("results", 0);
    snprintf(path, 32, "/proc/self/fd/%d", descriptor);
    if (descriptor < 0 || write(descriptor, bytes, size) != (ssize_t)size) abort();
    return descriptor;
}

#endif

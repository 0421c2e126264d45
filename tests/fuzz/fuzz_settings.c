/* Settings, one on each line of the input, to a scene that has something of everything: they must be refused
 * in one line, or make a scene that tells them, and is made again from what it tells. */
#include <delassus/scene.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 16 };

static const char text[] =
    "delassus: 1\n"
    "dimension: 2\n"
    "gravity: [0, -9.81]\n"
    "variables: {rpm: 20, wide: 2*rpm}\n"
    "materials: {stone: {density: 2500, mu: 0.5}, steel: {mu: 0.2}}\n"
    "pairs: [{between: [stone, steel], mu: 0.3}]\n"
    "bodies:\n"
    "  - {name: ground, motion: static, shape: {kind: half-plane, material: steel}}\n"
    "  - {name: disc, position: [0, 0.1], velocity: [0.5, 0], shape: {kind: disc, radius: 0.1}}\n"
    "  - {name: box, position: [1, wide], shapes: [{kind: box, size: [0.2, 0.2], material: stone}]}\n"
    "time: {step: 1e-2, until: 0.1}\n"
    "integrator: {scheme: moreau-jean}\n"
    "output: {interval: 0.03}\n"
    "run: {strict: no}\n"
    "solver: {name: nlgs, law: ebp, tolerance: 1e-6}\n";

/* A setting may ask for much: memory for that runs out. */
static void *allocate(size_t bytes, void *user) {
    (void)user;
    return bytes <= 192 << 10 ? malloc(bytes) : NULL;
}
static void release(void *block, void *user) {
    (void)user;
    free(block);
}

static dls_scene *read_text(const char *from, int count, const char *const *settings) {
    dls_scene *scene = NULL;
    dls_error error = {0};
    dls_status status =
        dls_scene_read_text(from, strlen(from), "fuzz.yaml", "/absent", count, settings, &scene, &error);
    bool good = (scene != NULL) == (status == DLS_OK);
    bool told = error.status == status && *error.message && !strchr(error.message, '\n');
    if (good && (!status || told)) return scene;
    fprintf(stderr, "failure without a proper message: %s\n", error.message);
    abort();
}

/* The text and the settings that a scene tells of make the same scene again. */
static void check_again(const dls_scene *scene, int count) {
    const char *settings[MOST];
    if (dls_scene_setting_count(scene) != count) abort();
    for (int i = 0; i < count; i++) settings[i] = dls_scene_setting(scene, i);
    dls_scene *again = read_text(dls_scene_text(scene), count, settings);
    if (!again || strcmp(dls_scene_title(scene), dls_scene_title(again))) abort();
    if (memcmp(dls_scene_run_options(scene), dls_scene_run_options(again), sizeof(dls_run_options))) abort();
    dls_scene_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *settings[MOST];
    int count = 0;
    char *copy = malloc(size + 1);
    if (size) memcpy(copy, data, size);
    copy[size] = '\0';
    for (char *at = copy; at && count < MOST; count++) {
        char *end = strchr(at, '\n');
        if (end) *end = '\0';
        settings[count] = at;
        at = end ? end + 1 : NULL;
    }
    dls_allocator_set(&(dls_allocator){allocate, release, NULL});
    dls_scene *scene = read_text(text, count, settings);
    if (scene) check_again(scene, count);
    dls_scene_destroy(scene);
    free(copy);
    return 0;
}

/* Bytes to the scene reader, which must refuse them in one line or make a world. */
#include "scene/read.h"

#include <delassus/scene.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_message(dls_status status, const dls_error *error) {
    if (!status) return;
    if (error->status == status && strlen(error->message) > 0 && !strchr(error->message, '\n')) return;
    fprintf(stderr, "failure without a proper message: %s\n", error->message);
    abort();
}

/* Scenes of many bodies are good scenes and slow: memory for more than two thousand runs out, */
static void *allocate(size_t bytes, void *user) {
    (void)user;
    return bytes <= 192 << 10 ? malloc(bytes) : NULL;
}
static void release(void *block, void *user) {
    (void)user;
    free(block);
}

/* and numbers that are long stay out. */
static bool asks_for_much(const uint8_t *data, size_t size) {
    size_t digits = 0;
    for (size_t i = 0; i < size; i++) {
        bool digit = data[i] >= '0' && data[i] <= '9';
        digits = digit ? digits + 1 : 0;
        if (digits > 3 || data[i] == '^') return true;
        if (digits && i + 1 < size && (data[i + 1] | 32) == 'e') return true;
    }
    return false;
}

/* The first line, where it begins with "--set ", is a setting. */
static void read_scene(const uint8_t *data, size_t size) {
    const uint8_t *end = memchr(data, '\n', size);
    char setting[200] = "";
    if (size > 6 && !memcmp(data, "--set ", 6) && end && end - data < 200) {
        memcpy(setting, data + 6, (size_t)(end - data) - 6);
        size -= (size_t)(end + 1 - data);
        data = end + 1;
    }
    const char *settings[] = {setting};
    char *text =
        malloc(size + 1); /* exactly as long as it must be, so that a sanitizer sees any step beyond */
    if (size) memcpy(text, data, size);
    text = realloc(text, size ? size : 1);
    dls_scene *scene = NULL;
    dls_error error = {0};
    dls_status status =
        dls_scene_read_text(text, size, "fuzz.yaml", "/absent", *setting ? 1 : 0, settings, &scene, &error);
    check_message(status, &error);
    if ((scene != NULL) != (status == DLS_OK)) abort();
    if (scene) check_message(dls_scene_check(scene, NULL, NULL, NULL, &error), &error);
    dls_scene_destroy(scene);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    dls_allocator_set(&(dls_allocator){allocate, release, NULL});
    if (!asks_for_much(data, size)) read_scene(data, size);
    return 0;
}

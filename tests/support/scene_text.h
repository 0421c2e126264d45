/* Scenes from text in tests: read them, or see them refused with the right words. */
#ifndef DELASSUS_TESTS_SUPPORT_SCENE_TEXT_H
#define DELASSUS_TESTS_SUPPORT_SCENE_TEXT_H

#include "support/test.h"

#include <delassus/delassus.h>

#include <string.h>

static inline dls_scene *read_with(const char *text, int count, const char *const *settings,
                                   dls_error *error) {
    dls_scene *scene = NULL;
    dls_status status =
        dls_scene_read_text(text, strlen(text), "test.yaml", ".", count, settings, &scene, error);
    assert_int_equal(status, error->status);
    assert_true((scene == NULL) == (status != DLS_OK));
    return scene;
}

static inline dls_scene *read_good(const char *text) {
    dls_error error;
    dls_scene *scene = read_with(text, 0, NULL, &error);
    if (!scene) fail_msg("%s", error.message);
    return scene;
}

static inline void refuses_with(const char *text, int count, const char *const *settings,
                                const char *message) {
    dls_error error;
    dls_scene *scene = read_with(text, count, settings, &error);
    if (scene) fail_msg("read without complaint, expected: %s", message);
    if (!strstr(error.message, message)) fail_msg("'%s' does not hold '%s'", error.message, message);
}

static inline void refuses(const char *text, const char *message) { refuses_with(text, 0, NULL, message); }

static inline dls_body_state state_of(dls_scene *scene, const char *name) {
    dls_world *world = dls_scene_world(scene);
    dls_body_state state;
    dls_body_id id = dls_world_find_body(world, name);
    if (id < 0) fail_msg("no body '%s'", name);
    assert_int_equal(dls_body_state_get(world, id, &state, NULL), DLS_OK);
    return state;
}

static inline dls_shape_def shape_of(dls_scene *scene, dls_body_id id) {
    dls_shape_def def;
    assert_int_equal(dls_body_shape(dls_scene_world(scene), id, 0, &def, NULL), DLS_OK);
    return def;
}

#define HEAD2 "delassus: 1\ndimension: 2\n"
#define HEAD3 "delassus: 1\n"
#define BALL  "{name: ball, shape: {kind: sphere, radius: 0.5}"

#endif

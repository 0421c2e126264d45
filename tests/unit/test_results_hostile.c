/* Results files with numbers that cannot be: refused where they are read, in one line that says where. */
#include "h5/check.h"
#include "support/allocator.h"
#include "support/results_edit.h"
#include "support/scale.h"
#include "support/small_run.h"
#include "support/test.h"

#include <delassus/analysis.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 4, MOST_BODIES = 32, MOST_CONTACTS = 400 };

/* Frames of every step from 0 on, with a sound end. */
static void write_run(const char *path, int dimension) {
    small_run run = small_run_create(dimension);
    dls_results_def def = small_run_def();
    dls_results_writer *writer;
    dls_run_summary summary = {.steps = STEPS, .certified = STEPS, .worst_held = NAN};
    dls_error error = {0};
    def.contacts = true;
    if (dls_results_create(path, run.world, &def, &writer, &error)) fail_msg("%s", error.message);
    for (int k = 0; k <= STEPS; k++) {
        dls_step_report report;
        if (k > 0) report = small_run_step(&run);
        if (k > 0 && dls_results_add_step(writer, &report, &error)) fail_msg("%s", error.message);
        if (dls_results_add_frame(writer, run.simulation, &error)) fail_msg("%s", error.message);
    }
    if (dls_results_close(writer, &summary, &error)) fail_msg("%s", error.message);
    small_run_destroy(&run);
}

static dls_status read_frames(dls_results *r, dls_error *error) {
    static dls_contact_record contacts[MOST_CONTACTS];
    dls_body_state states[MOST_BODIES];
    dls_pose poses[MOST_BODIES];
    assert_in_range(dls_results_body_count(r), 0, MOST_BODIES);
    for (int k = 0; k < dls_results_frame_count(r); k++) {
        assert_in_range(dls_results_frame_contact_count(r, k), 0, MOST_CONTACTS);
        dls_status status = dls_results_frame_states(r, k, states, NULL, error);
        if (!status) status = dls_results_frame_poses(r, k, poses, error);
        if (!status) status = dls_results_frame_contacts(r, k, contacts, error);
        if (status) return status;
    }
    return DLS_OK;
}

static dls_status read_steps(dls_results *r, dls_error *error) {
    dls_step_report reports[STEPS];
    for (int64_t k = 0; k < dls_results_step_count(r); k++) {
        dls_status status = dls_results_steps(r, k, 1, reports, error);
        if (status) return status;
    }
    return DLS_OK;
}

/* All that can be read. */
static dls_status read_all(const char *path, dls_error *error) {
    dls_results *r;
    dls_status status = dls_results_open(path, &r, error);
    if (status) {
        assert_null(r);
        return status;
    }
    status = read_frames(r, error);
    if (!status) status = read_steps(r, error);
    dls_results_destroy(r);
    return status;
}

/* ---- numbers ---- */

typedef struct hostile {
    int dimension;
    const char *dataset, *member;
    int64_t row;
    int place;
    double value;
    const char *found; /* NULL: it is none */
} hostile;

static const hostile rows[] = {
    /* the world */
    {3, "bodies/properties", "motion", 4, 0, 3, "motion is "},
    {3, "bodies/properties", "mass", 4, 0, NAN, "mass is nan, expected a number from 0 on"},
    {3, "bodies/properties", "mass", 4, 0, 0, "mass is 0, expected a finite number above 0"},
    {3, "bodies/properties", "mass", 4, 0, INFINITY, "mass is inf, expected a finite number above 0"},
    {3, "bodies/properties", "mass", 0, 0, INFINITY, NULL},
    {3, "bodies/properties", "inertia", 4, 8, INFINITY, "inertia is inf, expected finite numbers"},
    {3, "bodies/properties", "centre", 4, 1, 1e61, "centre is 1e+61, expected a number from -1e+60 to 1e+60"},
    {3, "bodies/properties", "radius", 4, 0, -1, "radius is -1, expected a number from 0 on"},
    {3, "bodies/properties", "shape_start", 4, 0, -1, "shape_start is -1, expected a count from 0 to 2^53"},
    {3, "bodies/properties", "shape_start", 4, 0, 3, "shape 3 is of body 3, expected body 4"},
    {3, "bodies/properties", "shape_count", 4, 0, -2, "shape_count is -2, expected a count from 0 to 2^53"},
    {3, "bodies/properties", "shape_count", 4, 0, 1e9, "shapes 4 to 1000000003, expected 0 to 13"},
    {3, "shapes/properties", "body", 4, 0, -1, "body is -1, expected a count from 0 to 2^53"},
    {3, "shapes/properties", "kind", 4, 0, 77, "kind is "},
    {3, "shapes/properties", "kind", 4, 0, 0, "a disc is a planar shape and this is space"},
    {3, "shapes/properties", "position", 4, 2, -INFINITY, "position is -inf"},
    {3, "shapes/properties", "orientation", 4, 0, NAN, "orientation is nan, expected a finite number"},
    {3, "shapes/properties", "size", 4, 1, -0.1, "size is -0.1, expected a finite number above 0"},
    {3, "shapes/properties", "radius", 5, 0, 0, "radius is 0, expected a finite number above 0"},
    {3, "shapes/properties", "length", 5, 0, NAN, "length is nan, expected a finite number above 0"},
    {3, "shapes/properties", "material", 4, 0, -1, "material is -1, expected a count from 0 to 2^53"},
    {3, "shapes/properties", "material", 4, 0, 2, "material is 2, expected 0 to 1"},
    {2, "shapes/properties", "closed", 2, 0, 255, "closed is 255, expected 0 to 1"},
    {3, "shapes/properties", "point_start", 3, 0, -1, "point_start is -1, expected a count from 0 to 2^53"},
    {3, "shapes/properties", "point_count", 3, 0, 1000, "points 0 to 999, expected 0 to 8"},
    {3, "shapes/properties", "triangle_start", 3, 0, 1e15, "triangles 1000000000000000 to "},
    {3, "shapes/properties", "triangle_count", 3, 0, -7, "triangle_count is -7, expected a count"},
    {3, "shapes/points", NULL, 2, 1, NAN, "points is nan, expected a number from -1e+60 to 1e+60"},
    {3, "shapes/triangles", NULL, 1, 2, 4, "a corner is 4, expected 0 to 3"},
    {3, "shapes/triangles", NULL, 1, 2, -1, "triangles is -1, expected a count from 0 to 2^53"},
    {3, "materials/properties", "density", 0, 0, NAN, "density is nan, expected a finite number from 0 on"},
    {3, "materials/properties", "mu", 0, 0, -1, "mu is -1, expected a finite number from 0 on"},
    {3, "materials/properties", "e_n", 0, 0, 2, "e_n is 2, expected a number from 0 to 1"},
    {3, "materials/pairs", "a", 1, 0, 7, "materials 7 and 1, expected 0 and 1"},
    {3, "materials/pairs", "cohesion", 1, 0, NAN, "cohesion is nan, expected a finite number from 0 on"},
    {3, "materials/pairs", "stated", 1, 0, 255, "stated is 255, expected 0 to 1"},
    /* frames */
    {3, "frames", "step", 1, 0, 0, "step is 0, expected one after 0"},
    {3, "frames", "step", 1, 0, -1, "step is -1, expected a count from 0 to 2^53"},
    {3, "frames", "time", 2, 0, 0.001, "time is 0.001, expected 0.01 or later"},
    {3, "frames", "time", 2, 0, NAN, "time is nan, expected a number from 0 to 1e+60"},
    {3, "frames", "state_start", 2, 0, 5, "states from 5 and contacts from "},
    {3, "frames", "state_count", 2, 0, -5, "state_count is -5, expected a count from 0 to 2^53"},
    {3, "frames", "state_count", 2, 0, 1e9, "1000000000 states and "},
    {3, "frames", "contact_start", 2, 0, -1, "contact_start is -1, expected a count from 0 to 2^53"},
    {3, "frames", "contact_count", 2, 0, -1, "contact_count is -1, expected a count from 0 to 2^53"},
    {3, "frames", "contact_count", 3, 0, 1e9, "states and 1000000000 contacts, expected at most "},
    /* states */
    {3, "states/body", NULL, 15, 0, -1, "body is -1, expected 0 to 12"},
    {3, "states/body", NULL, 15, 0, 13, "body is 13, expected 0 to 12"},
    {3, "states/body", NULL, 15, 0, 0, "body is 0, expected one after "},
    {3, "states/radius", NULL, 15, 0, NAN, "radius is nan, expected a number from 0 on"},
    {3, "states/position", NULL, 15, 1, NAN, "position is nan, expected a number from -1e+60 to 1e+60"},
    {3, "states/position", NULL, 15, 1, 1e61, "position is 1e+61, expected a number from -1e+60 to 1e+60"},
    {3, "states/position", NULL, 15, 1, 1e59, NULL},
    {3, "states/orientation", NULL, 15, 0, INFINITY, "orientation is inf, expected a number from -1 to 1"},
    {3, "states/orientation", NULL, 15, 0, 0, "expected a quaternion of length 1"},
    {3, "states/velocity", NULL, 15, 0, -INFINITY, "velocity is -inf, expected a number from -1e+60"},
    {3, "states/angular_velocity", NULL, 15, 0, NAN, "angular_velocity is nan, expected a number"},
    {3, "states/contact_position", NULL, 15, 0, NAN, "contact_position is nan, expected a number"},
    {3, "states/contact_orientation", NULL, 15, 0, 0, "expected a quaternion of length 1"},
    /* contacts */
    {3, "contacts/bodies", NULL, 3, 1, 13, "bodies is 13, expected 0 to 12"},
    {3, "contacts/bodies", NULL, 3, 0, -1, "bodies is -1, expected 0 to 12"},
    {3, "contacts/shapes", NULL, 3, 0, -1, "shapes is -1, expected a count from 0 to 2^53"},
    {3, "contacts/shapes", NULL, 3, 1, 9, "shape is 9, expected 0 to 0 as body "},
    {3, "contacts/point", NULL, 3, 2, NAN, "point is nan, expected a number from -1e+60 to 1e+60"},
    {3, "contacts/frame", NULL, 3, 4, NAN, "frame is nan, expected a number from -1 to 1"},
    {3, "contacts/frame", NULL, 3, 2, 0.5, "a direction is ("},
    {3, "contacts/gap", NULL, 3, 0, NAN, "gap is nan, expected a number from -1e+60 to 1e+60"},
    {3, "contacts/mu", NULL, 3, 0, -1, "mu is -1, expected a finite number from 0 on"},
    {3, "contacts/impulse", NULL, 3, 0, INFINITY, "impulse is inf, expected a number from -1e+60 to 1e+60"},
    {3, "contacts/velocity", NULL, 3, 0, NAN, "velocity is nan, expected a number from -1e+60 to 1e+60"},
    {3, "contacts/b", NULL, 3, 0, NAN, "b is nan, expected a number from -1e+60 to 1e+60"},
    {3, "contacts/world_impulse", NULL, 3, 0, NAN, "world_impulse is nan, expected a number from"},
    /* steps */
    {3, "steps", "step", 2, 0, 2, "step is 2, expected one after 2"},
    {3, "steps", "step", 2, 0, -1, "step is -1, expected a count from 0 to 2^53"},
    {3, "steps", "time", 2, 0, 0.001, "time is 0.001"},
    {3, "steps", "time", 2, 0, NAN, "time is nan, expected a number from 0 to 1e+60"},
    {3, "steps", "bodies", 2, 0, -1, "bodies is -1, expected a count from 0 to 2^53"},
    {3, "steps", "contacts", 2, 0, -1, "contacts is -1, expected a count from 0 to 2^53"},
    {3, "steps", "active", 2, 0, 1e9, "active is 1000000000, expected 0 to "},
    {3, "steps", "outcome", 2, 0, 99, "outcome is "},
    {3, "steps", "certified", 2, 0, 255, "certified is 255, expected 0 to 1"},
    {3, "steps", "certified", 2, 0, 2, "certified is "},
    {3, "steps", "residual", 2, 0, NAN, "residual is nan, expected a number from 0 on"},
    {3, "steps", "max_error", 2, 0, -1, "max_error is -1, expected a number from 0 on"},
    {3, "steps", "held", 2, 0, NAN, NULL},
    {3, "steps", "held", 2, 0, -1, "held is -1, expected a number from 0 on, or nan"},
    {3, "steps", "iterations", 2, 0, -1, "iterations is -1, expected a count from 0 to 2^53"},
    {3, "steps", "penetration", 2, 0, NAN, "penetration is nan, expected a number from 0 on"},
    {3, "steps", "kinetic", 2, 0, NAN, "kinetic is nan, expected a finite number"},
    {3, "steps", "seconds", 2, 0, INFINITY, "seconds is inf, expected a finite number"},
    {3, "summary", "steps", 0, 0, -1, "steps is -1, expected a count from 0 to 2^53"},
    {3, "summary", "worst_residual", 0, 0, NAN, "worst_residual is nan, expected a number from 0 on"},
    {3, "summary", "worst_held", 0, 0, NAN, NULL},
    {3, "summary", "penetration", 0, 0, NAN, "penetration is nan, expected a number from 0 on"},
};

static void test_rows(void **state) {
    (void)state;
    unsigned char *bytes[2];
    long size[2];
    int wrong = 0;
    for (int k = 0; k < 2; k++) {
        write_run("sound.h5", k + 2);
        bytes[k] = results_load("sound.h5", &size[k]);
    }
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const hostile *h = &rows[k];
        char where[100];
        dls_error error = {0};
        results_save("hostile.h5", bytes[h->dimension - 2], size[h->dimension - 2]);
        results_set("hostile.h5", h->dataset, h->member, h->row, h->place, h->value);
        dls_status status = read_all("hostile.h5", &error);
        snprintf(where, sizeof where, "hostile.h5: damaged: %s, row %lld: ", h->dataset, (long long)h->row);
        bool good = h->found ? status == DLS_ERROR_FILE && strstr(error.message, h->found) &&
                                   strstr(error.message, where)
                             : status == DLS_OK;
        if (good) continue;
        wrong++;
        print_message("%s %s row %lld: %d '%s', expected '%s'\n", h->dataset, h->member ? h->member : "",
                      (long long)h->row, status, error.message, h->found ? h->found : "nothing");
    }
    for (int k = 0; k < 2; k++) free(bytes[k]);
    assert_int_equal(wrong, 0);
}

static void test_attributes(void **state) {
    (void)state;
    const struct {
        const char *name;
        double value;
        const char *found;
    } facts[] = {{"has_contacts", 2, "has_contacts: 2, expected 0 or 1"},
                 {"dimension", 4, "dimension: 4, expected 2 or 3"},
                 {"tolerance", NAN, "tolerance: nan, expected numbers from 0 to 1e+60"},
                 {"gravity", INFINITY, "gravity: inf, expected numbers from -1e+60 to 1e+60"},
                 {"period_low", NAN, "period_low: nan, expected numbers from -1e+60 to 1e+60"},
                 {"period_size", -1, "period_size: -1, expected numbers from 0 to 1e+60"}};
    long size;
    write_run("sound.h5", 3);
    unsigned char *bytes = results_load("sound.h5", &size);
    for (size_t k = 0; k < sizeof facts / sizeof *facts; k++) {
        dls_error error = {0};
        results_save("hostile.h5", bytes, size);
        results_set_attribute("hostile.h5", facts[k].name, 0, facts[k].value);
        assert_int_equal(read_all("hostile.h5", &error), DLS_ERROR_FILE);
        if (!strstr(error.message, facts[k].found)) fail_msg("%s: %s", facts[k].name, error.message);
    }
    free(bytes);
}

/* What the last frame does not speak of may be half written: the file opens without it. */
static void test_last_rows(void **state) {
    (void)state;
    dls_results *r;
    dls_error error = {0};
    write_run("last.h5", 3);
    results_set("last.h5", "frames", "contact_count", STEPS, 0, 1e9);
    assert_int_equal(dls_results_open("last.h5", &r, &error), DLS_OK);
    assert_int_equal(dls_results_frame_count(r), STEPS);
    dls_results_destroy(r);
    results_set("last.h5", "frames", "step", STEPS, 0, -1);
    results_set("last.h5", "steps", "step", STEPS - 1, 0, -1);
    assert_int_equal(dls_results_open("last.h5", &r, &error), DLS_OK);
    assert_int_equal(dls_results_frame_count(r), STEPS);
    assert_int_equal(dls_results_step_count(r), STEPS - 1);
    dls_results_destroy(r);
}

/* Going on copies what was: not from a file that could not be read. */
static void test_going_on(void **state) {
    (void)state;
    const struct {
        const char *dataset;
        int64_t row;
        double value;
        const char *found;
    } cases[] = {{"states/position", 15, NAN, "states/position, row 15: position is nan"},
                 {"states/body", 15, 99, "states/body, row 15: body is 99"},
                 {"contacts/impulse", 3, INFINITY, "contacts/impulse, row 3: impulse is inf"}};
    small_run run = small_run_create(3);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dls_results_writer *writer = NULL;
        dls_error error = {0};
        write_run("going.h5", 3);
        results_set("going.h5", cases[k].dataset, NULL, cases[k].row, 0, cases[k].value);
        dls_status status = dls_results_continue("going.h5", run.world, STEPS, &writer, &error);
        assert_int_equal(status, DLS_ERROR_FILE);
        assert_null(writer);
        if (!strstr(error.message, cases[k].found)) fail_msg("%s", error.message);
    }
    small_run_destroy(&run);
}

/* ---- extents without measure ---- */

static void test_huge_extents(void **state) {
    (void)state;
    const struct {
        const char *measure, *found;
        double place;
    } cases[] = {{"repose", "half of a mean body: up to body 4 ", 1e16},
                 {"repose", "half of a mean body: up to body 4 ", 1e59},
                 {"profile", "layers from ", 1e16},
                 {"profile", "layers from ", 1e59}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dls_results *r;
        dls_analysis *analysis = NULL;
        dls_error error = {0};
        dls_analysis_options options = dls_default_analysis_options();
        options.axis = DLS_AXIS_X;
        write_run("huge.h5", 3);
        /* bodies 4 and 5 of frame 1 */
        results_set("huge.h5", "states/position", NULL, 12 + 4, 0, cases[k].place);
        results_set("huge.h5", "states/position", NULL, 12 + 5, 0, -cases[k].place);
        if (dls_results_open("huge.h5", &r, &error)) fail_msg("%s", error.message);
        dls_status status = dls_analysis_create(r, cases[k].measure, &options, &analysis, &error);
        assert_int_equal(status, DLS_ERROR_INPUT);
        assert_null(analysis);
        if (!strstr(error.message, cases[k].found)) fail_msg("%s", error.message);
        dls_results_destroy(r);
    }
}

/* Orientations of fewer digits than are written. */
static void test_rough_orientations(void **state) {
    (void)state;
    enum { BODIES = 13, PRESENT = 12, BODY = 4 };
    static const char *const columns[] = {"states/orientation", "states/contact_orientation"};
    dls_body_state before[BODIES], after[BODIES];
    dls_pose poses[BODIES];
    dls_results *r;
    dls_error error = {0};
    write_run("rough.h5", 3);
    if (dls_results_open("rough.h5", &r, &error)) fail_msg("%s", error.message);
    assert_int_equal(dls_results_body_count(r), BODIES);
    if (dls_results_frame_states(r, 1, before, NULL, &error)) fail_msg("%s", error.message);
    dls_results_destroy(r);
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 2; c++)
            results_set("rough.h5", columns[c], NULL, PRESENT + BODY, k, (1 + 2e-7) * before[BODY].q[k]);
    if (dls_results_open("rough.h5", &r, &error)) fail_msg("%s", error.message);
    if (dls_results_frame_states(r, 1, after, NULL, &error)) fail_msg("%s", error.message);
    if (dls_results_frame_poses(r, 1, poses, &error)) fail_msg("%s", error.message);
    for (int c = 0; c < 2; c++) {
        const double *q = c ? poses[BODY].q : after[BODY].q;
        assert_true(fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) < 1e-15);
    }
    for (int id = 0; id < BODIES; id++)
        if (id != BODY) assert_memory_equal(&after[id], &before[id], sizeof before[id]);
    dls_results_destroy(r);
}

/* ---- structure ---- */

/* The header of a dataset of texts (class 3, version 1, padded by zeros, UTF-8, 32 bytes) after at, made to
 * hold texts of another size under a checksum that is right; 0 where there is none. */
static size_t forge_text_size(uint8_t *bytes, size_t size, size_t at, uint32_t length) {
    static const uint8_t type[] = {0x13, 0x11, 0, 0, 32, 0, 0, 0};
    size_t header = 0;
    for (; at + 64 < size && memcmp(bytes + at, type, sizeof type); at++)
        if (!memcmp(bytes + at, "OHDR", 4)) header = at;
    if (header == 0 || at + 64 >= size) return 0;
    unsigned flags = bytes[header + 5];
    int width = 1 << (flags & 3);
    size_t place = header + 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0);
    size_t end = place + (size_t)width + check_number(bytes + place, width);
    memcpy(bytes + at + 4, &length, sizeof length);
    memcpy(bytes + end, &(uint32_t){check_sum(bytes + header, end - header)}, 4);
    return at + sizeof type;
}

/* Names of bodies, materials and joints without a letter of room: no such type can be made by HDF5, but read.
 */
static void test_texts_of_no_size(void **state) {
    (void)state;
    static uint8_t whole[1 << 20], bytes[1 << 20];
    size_t size, at = 0;
    int forged = 0;
    write_run("texts.h5", 2);
    FILE *file = fopen("texts.h5", "rb");
    size = fread(whole, 1, sizeof whole, file);
    fclose(file);
    for (;; forged++) {
        dls_error error = {0};
        memcpy(bytes, whole, size);
        if (!(at = forge_text_size(bytes, size, at, 0))) break;
        file = fopen("forged.h5", "wb");
        assert_int_equal(fwrite(bytes, 1, size, file), size);
        fclose(file);
        assert_int_equal(read_all("forged.h5", &error), DLS_ERROR_FILE);
        if (!strstr(error.message, "damaged HDF5 file: datatype")) fail_msg("%s", error.message);
    }
    assert_int_equal(forged, 3);
}

/* ---- memory ---- */

static void write_memory_run(void) {
    small_run run = small_run_create(3);
    dls_results_def def = small_run_def();
    const dls_file files[] = {{"a.obj", "abc", 3}, {"b.obj", "defg", 4}};
    dls_results_writer *writer;
    dls_error error = {0};
    def.contacts = true;
    def.file_count = 2;
    def.files = files;
    assert_int_equal(dls_results_create("memory.h5", run.world, &def, &writer, &error), DLS_OK);
    dls_step_report report = small_run_step(&run);
    assert_int_equal(dls_results_add_step(writer, &report, &error), DLS_OK);
    assert_int_equal(dls_results_add_frame(writer, run.simulation, &error), DLS_OK);
    assert_int_equal(dls_results_close(writer, NULL, &error), DLS_OK);
    small_run_destroy(&run);
}

typedef dls_status (*use_function)(dls_results *results, const char *name, dls_error *error);

static dls_status read_anew(dls_results *results, const char *name, dls_error *error) {
    dls_results *r = NULL;
    int count;
    const dls_file *files;
    (void)results;
    dls_status status = dls_results_open(name, &r, error);
    if (!status) status = read_frames(r, error);
    if (!status) status = read_steps(r, error);
    if (!status) status = dls_results_files(r, &count, &files, error);
    dls_results_destroy(r);
    return status;
}

static dls_status analyse(dls_results *results, const char *name, dls_error *error) {
    dls_analysis *analysis = NULL;
    dls_analysis_options options = dls_default_analysis_options();
    options.has_plane = true, options.plane_normal[0] = 1;
    dls_status status = dls_analysis_create(results, name, &options, &analysis, error);
    dls_analysis_destroy(analysis);
    return status;
}

/* Each allocation fails once: that is said as it is, and nothing is lost. */
static void fail_each(use_function use, dls_results *results, const char *name) {
    dls_error error = {0};
    dls_status sound = use(results, name, &error); /* a measure may have nothing to measure */
    bool reached_end = false;
    assert_true(sound == DLS_OK || (use == analyse && sound == DLS_ERROR_INPUT));
    for (int k = 1; !reached_end; k += test_scale() < 1 ? 5 : 1) {
        error = (dls_error){0};
        counting_begin_once(k);
        dls_status status = use(results, name, &error);
        reached_end = counting_allocations() < k;
        int lost = counting_end();
        if (status != (reached_end ? sound : DLS_ERROR_MEMORY) || error.status != status || lost)
            fail_msg("%s, allocation %d: status %d, '%s', %d blocks lost", name, k, status, error.message,
                     lost);
    }
}

static void test_memory(void **state) {
    (void)state;
    dls_results *r;
    write_memory_run();
    fail_each(read_anew, NULL, "memory.h5");
    assert_int_equal(dls_results_open("memory.h5", &r, NULL), DLS_OK);
    for (int k = 0; k < dls_analysis_measure_count(); k++)
        fail_each(analyse, r, dls_analysis_measure_at(k)->name);
    fail_each(dls_results_export_csv, r, "csv");
    fail_each(dls_results_export_vtk, r, "vtk");
    dls_results_destroy(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),       cmocka_unit_test(test_rough_orientations),
        cmocka_unit_test(test_attributes), cmocka_unit_test(test_last_rows),
        cmocka_unit_test(test_going_on),   cmocka_unit_test(test_huge_extents),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_texts_of_no_size)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

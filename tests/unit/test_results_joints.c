/* Joints in results: what goes in comes out, what cannot be is refused, tables and measures know of it. */
#include "base/vector.h"
#include "output/results/results.h"
#include "support/joined.h"
#include "support/measured.h"
#include "support/near.h"
#include "support/results_edit.h"
#include "support/small_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 12, MOST = 32 };

typedef struct moment {
    int count;
    dls_joint_record joint[MOST];
    dls_step_report report;
} moment;

/* ---- what goes in comes out ---- */

static void check_record(const dls_reaction_row *row, const dls_joint_record *was) {
    double impulse[3], torque[3];
    size_t from = offsetof(dls_joint_record, point);
    assert_int_equal(row->record.joint, was->joint);
    assert_memory_equal(row->record.body, was->body, sizeof was->body);
    assert_memory_equal((const char *)&row->record + from, (const char *)was + from, sizeof *was - from);
    mat_apply(impulse, was->frame, was->impulse);
    mat_apply(torque, was->frame, was->impulse + 3);
    assert_memory_equal(row->world_impulse, impulse, sizeof impulse);
    assert_memory_equal(row->world_torque, torque, sizeof torque);
}

static void check_report(const dls_step_report *report, const dls_step_report *was) {
    assert_int_equal(report->joints, was->joints);
    assert_int_equal(report->joint_rows, was->joint_rows);
    assert_int_equal(report->joint_rows_at_bound, was->joint_rows_at_bound);
    assert_int_equal(report->joints_broken, was->joints_broken);
    assert_true(report->joint_gap == was->joint_gap);
    assert_memory_equal(&report->energy, &was->energy, sizeof was->energy);
}

static void check_moments(const char *path, const moment *m) {
    dls_results *r;
    OK(dls_results_open(path, &r, error));
    assert_int_equal(dls_results_frame_count(r), STEPS + 1);
    assert_int_equal(dls_results_frame_joint_count(r, 0), 0);
    for (int k = 0; k < STEPS; k++) {
        static dls_reaction_row rows[MOST];
        dls_joint_record records[MOST];
        dls_step_report report;
        assert_int_equal(dls_results_frame_joint_count(r, k + 1), m[k].count);
        OK(dls_results_reaction_rows(r, k + 1, 0, m[k].count, rows, error));
        OK(dls_results_frame_joints(r, k + 1, records, error));
        for (int i = 0; i < m[k].count; i++) {
            check_record(&rows[i], &m[k].joint[i]);
            assert_memory_equal(&records[i], &rows[i].record, sizeof *records);
        }
        OK(dls_results_steps(r, k, 1, &report, error));
        check_report(&report, &m[k].report);
    }
    dls_results_destroy(r);
}

/* Two bodies side by side, and later what joins them. */
static dls_world *apart(void) {
    dls_world *world = measured_world(3);
    measured_round(world, 0.1, 0, 0, 0);
    measured_round(world, 0.1, 0.5, 0, 0);
    return world;
}

static void join(dls_world *world) {
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_DISTANCE);
    def.body[0] = 0, def.body[1] = 1;
    OK(dls_world_add_joint(world, &def, NULL, error));
}

/* Steps with a frame each, of which the joint comes before step `begin`. Before step `again`, where it is not
 * 0, the file is closed and gone on with. */
static void write_moments(const char *path, dls_world *world, int begin, int again, moment *m) {
    dls_simulation_options options = dls_default_simulation_options();
    dls_results_def def = small_run_def();
    dls_simulation *simulation;
    dls_results_writer *writer;
    options.step = 1e-3;
    def.contacts = true;
    OK(dls_simulation_create(world, &options, &simulation, error));
    OK(dls_results_create(path, world, &def, &writer, error));
    OK(dls_results_add_frame(writer, simulation, error));
    for (int k = 0; k < STEPS; k++, m++) {
        if (begin && k == begin) join(world);
        if (again && k == again) {
            OK(dls_results_close(writer, NULL, error));
            OK(dls_results_continue(path, world, k, &writer, error));
        }
        memset(&m->report, 0, sizeof m->report);
        OK(dls_simulation_step(simulation, &m->report, error));
        OK(dls_results_add_step(writer, &m->report, error));
        OK(dls_results_add_frame(writer, simulation, error));
        OK(dls_simulation_joints(simulation, MOST, m->joint, &m->count, error));
    }
    dls_run_summary summary = dls_simulation_summary(simulation);
    OK(dls_results_close(writer, &summary, error));
    dls_simulation_destroy(simulation);
}

static void check_definitions(const char *path, const dls_world *world) {
    dls_results *r;
    OK(dls_results_open(path, &r, error));
    assert_int_equal(dls_results_joint_count(r), dls_world_joint_count(world));
    for (int id = 0; id < dls_world_joint_count(world); id++) {
        dls_joint_def was, is;
        OK(dls_joint_get(world, id, &was, error));
        OK(dls_results_joint(r, id, &is, error));
        dls_joint_def_row a = dls_joint_def_row_of(&was), b = dls_joint_def_row_of(&is);
        assert_memory_equal(&a, &b, sizeof a);
        assert_string_equal(is.name, was.name ? was.name : "");
        for (int k = 0; k < DLS_FREEDOMS; k++) {
            was.freedom[k].velocity = was.freedom[k].force = NULL;
            assert_memory_equal(&is.freedom[k], &was.freedom[k], sizeof was.freedom[k]);
        }
        assert_true(is.rope == was.rope && is.length == was.length && is.break_force == was.break_force);
    }
    assert_string_equal(dls_results_joint_name(r, -1), "");
    assert_string_equal(dls_results_joint_name(r, dls_results_joint_count(r)), "");
    dls_joint_def def;
    dls_error error = {0};
    assert_int_equal(dls_results_joint(r, dls_results_joint_count(r), &def, &error), DLS_ERROR_ARGUMENT);
    dls_results_destroy(r);
}

static void test_joints_come_back(void **state) {
    (void)state;
    static moment m[STEPS];
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int again = 0; again <= 6; again += 6) {
            dls_world *world = linkage_world(dimension);
            write_moments("all.h5", world, 0, again, m);
            check_moments("all.h5", m);
            check_definitions("all.h5", world);
            assert_int_equal(m[0].count, dls_world_joint_count(world));
            if (dimension == 2) { /* one breaks, and is in no frame after that */
                assert_int_equal(m[0].report.joints_broken, 1);
                assert_int_equal(m[1].count, m[0].count - 1);
                for (int k = 0; k < m[1].count; k++) assert_true(m[1].joint[k].joint != LINKAGE_BROKEN);
            }
            assert_true(m[STEPS - 1].report.energy.spring > 0);
            dls_world_destroy(world);
        }
}

/* Steps from before have none of it, also where the file went on in between. */
static void test_a_joint_that_comes_late(void **state) {
    (void)state;
    static moment m[STEPS];
    for (int again = 0; again <= 9; again += 3) {
        dls_world *world = apart();
        write_moments("late.h5", world, 6, again, m);
        assert_int_equal(m[5].count, 0);
        assert_int_equal(m[6].count, 1);
        assert_int_equal(m[6].report.joints, 1);
        check_moments("late.h5", m);
        check_definitions("late.h5", world);
        dls_world_destroy(world);
    }
}

static void test_runs_without_joints_have_no_rows_of_them(void **state) {
    (void)state;
    dls_results *r = measured_run(apart(), "plain.h5", 3, true);
    assert_int_equal(dls_results_joint_count(r), 0);
    assert_int_equal(r->tables[DLS_TABLE_JOINT_STEPS].rows, 0);
    for (int k = DLS_TABLE_REACTIONS; k < DLS_TABLE_REACTIONS_END; k++)
        assert_int_equal(r->tables[k].rows, 0);
    dls_step_report report;
    OK(dls_results_steps(r, 0, 1, &report, error));
    assert_true(report.joints == 0 && report.joint_gap == 0 && report.energy.motors == 0);
    dls_results_destroy(r);
}

/* ---- what cannot be ---- */

/* All that can be read of joints. */
static dls_status read_all(const char *path, dls_error *error) {
    static dls_joint_record records[MOST];
    dls_step_report reports[STEPS];
    dls_results *r;
    dls_status status = dls_results_open(path, &r, error);
    for (int k = 0; !status && k < dls_results_frame_count(r); k++) {
        assert_in_range(dls_results_frame_joint_count(r, k), 0, MOST);
        status = dls_results_frame_joints(r, k, records, error);
    }
    if (!status) {
        assert_in_range(dls_results_step_count(r), 0, STEPS);
        status = dls_results_steps(r, 0, dls_results_step_count(r), reports, error);
    }
    dls_results_destroy(r);
    return status;
}

static const struct {
    const char *dataset, *member;
    int64_t row;
    int place;
    double value;
    const char *found; /* NULL: it is none */
} hostile[] = {
    {"joints/properties", "kind", 1, 0, DLS_JOINT_KINDS, "kind is "},
    {"joints/properties", "kind", 1, 0, -1, "kind is "},
    {"joints/properties", "bodies", 1, 0, -2, "body is -2, expected -1 to 6"},
    {"joints/properties", "bodies", 1, 1, 0, "it joins body 0 with itself, expected two"},
    {"joints/properties", "position_a", 1, 2, NAN, "position_a is nan, expected a number from -1e+60"},
    {"joints/properties", "position_b", 1, 0, 1e61, "position_b is 1e+61, expected a number from -1e+60"},
    {"joints/properties", "orientation_a", 1, 0, INFINITY, "orientation_a is inf, expected a number from -1"},
    {"joints/properties", "orientation_b", 1, 0, 0.1, "expected a quaternion of length 1"},
    {"joints/properties", "length", 7, 0, -1, "length is -1, expected a finite number from 0 on"},
    {"joints/properties", "rope", 7, 0, 2, "rope is 2, expected 0 to 1"},
    {"joints/properties", "ratio", 1, 0, NAN, "ratio is nan, expected a finite number"},
    {"joints/properties", "radius", 1, 0, -1, "radius is -1, expected a finite number from 0 on"},
    {"joints/properties", "cone", 1, 0, NAN, "cone is nan, expected a finite number from 0 on"},
    {"joints/properties", "conserving", 1, 0, 9, "conserving is 9, expected 0 to 1"},
    {"joints/properties", "collide", 1, 0, 9, "collide is 9, expected 0 to 1"},
    {"joints/properties", "break_force", 1, 0, -1, "break_force is -1, expected a finite number from 0 on"},
    {"joints/properties", "break_torque", 1, 0, NAN, "break_torque is nan, expected a finite number from 0"},
    {"joints/properties", "p", 1, 0, NAN, "p is nan, expected a finite number from 0 on"},
    {"joints/properties", "d", 1, 5, -1, "d is -1, expected a finite number from 0 on"},
    {"joints/properties", "i", 1, 3, INFINITY, "i is inf, expected a finite number from 0 on"},
    {"joints/properties", "max_force", 1, 3, NAN, "max_force is nan, expected a finite number from 0 on"},
    {"joints/properties", "stiffness", 5, 0, -1, "stiffness is -1, expected a finite number from 0 on"},
    {"joints/properties", "damping", 5, 0, NAN, "damping is nan, expected a finite number from 0 on"},
    {"joints/properties", "rest", 5, 0, INFINITY, "rest is inf, expected a finite number"},
    {"joints/properties", "one_sided", 5, 2, 2, "one_sided is 2, expected -1 to 1"},
    {"joints/properties", "low", 3, 3, NAN, "low is nan, expected a number"},
    {"joints/properties", "low", 3, 3, 3, "limits are 3 and 2, expected the lower one first"},
    {"joints/properties", "high", 3, 3, INFINITY, NULL},
    {"joints/properties", "restitution", 3, 3, 2, "restitution is 2, expected a number from 0 to 1"},
    {"joints/properties", "friction", 3, 3, -1, "friction is -1, expected a finite number from 0 on"},
    {"joints/properties", "friction_mu", 3, 3, NAN, "friction_mu is nan, expected a finite number from 0 on"},
    {"joints/properties", "friction_radius", 3, 3, -1, "friction_radius is -1, expected a finite number"},
    {"frames", "reaction_start", 3, 0, 5, "reactions from 5 on, expected "},
    {"frames", "reaction_start", 3, 0, -1, "reaction_start is -1, expected a count from 0 to 2^53"},
    {"frames", "reaction_count", 3, 0, -1, "reaction_count is -1, expected a count from 0 to 2^53"},
    {"frames", "reaction_count", 3, 0, 1e9, "1000000000 reactions, expected at most "},
    {"reactions/joint", NULL, 10, 0, -1, "joint is -1, expected 0 to 7"},
    {"reactions/joint", NULL, 10, 0, 8, "joint is 8, expected 0 to 7"},
    {"reactions/joint", NULL, 10, 0, 0, "joint is 0, expected one after 1"},
    {"reactions/bodies", NULL, 10, 0, 5, "bodies 5 and 2, expected 1 and 2 as joint 2 has them"},
    {"reactions/bodies", NULL, 10, 1, -1, "bodies 1 and -1, expected 1 and 2 as joint 2 has them"},
    {"reactions/point", NULL, 10, 2, NAN, "point is nan, expected a number from -1e+60 to 1e+60"},
    {"reactions/frame", NULL, 10, 4, NAN, "frame is nan, expected a number from -1 to 1"},
    {"reactions/frame", NULL, 10, 4, 0.5, "a direction is ("},
    {"reactions/impulse", NULL, 10, 5, INFINITY, "impulse is inf, expected a number from -1e+60 to 1e+60"},
    {"reactions/actuator", NULL, 10, 0, 1e61, "actuator is 1e+61, expected a number from -1e+60 to 1e+60"},
    {"reactions/coordinate", NULL, 10, 3, NAN, "coordinate is nan, expected a number from -1e+60 to 1e+60"},
    {"reactions/speed", NULL, 10, 3, NAN, "speed is nan, expected a number from -1e+60 to 1e+60"},
    {"reactions/gap", NULL, 10, 0, NAN, "gap is nan, expected a number from -1e+60 to 1e+60"},
    {"reactions/work", NULL, 10, 0, INFINITY, "work is inf, expected a number from -1e+60 to 1e+60"},
    {"reactions/lost", NULL, 10, 0, NAN, "lost is nan, expected a number from -1e+60 to 1e+60"},
    {"reactions/lost", NULL, 10, 0, -1, NULL},
    {"reactions/world_impulse", NULL, 10, 0, NAN, "world_impulse is nan, expected a number from"},
    {"reactions/world_torque", NULL, 10, 2, NAN, "world_torque is nan, expected a number from"},
    {"joints/steps", "joints", 2, 0, -1, "joints is -1, expected a count from 0 to 2^53"},
    {"joints/steps", "joint_rows", 2, 0, -1, "joint_rows is -1, expected a count from 0 to 2^53"},
    {"joints/steps", "joint_rows_at_bound", 2, 0, 1e6, "joint_rows_at_bound is 1000000, expected 0 to "},
    {"joints/steps", "joints_broken", 2, 0, -1, "joints_broken is -1, expected a count from 0 to 2^53"},
    {"joints/steps", "joint_gap", 2, 0, NAN, "joint_gap is nan, expected a number from 0 on"},
    {"joints/steps", "spring", 2, 0, NAN, "spring is nan, expected a finite number"},
    {"joints/steps", "motors", 2, 0, INFINITY, "motors is inf, expected a finite number"},
    {"joints/steps", "joint_loss", 2, 0, NAN, "joint_loss is nan, expected a finite number"},
};

static void write_sound(const char *path) {
    static moment m[STEPS];
    dls_world *world = linkage_world(2);
    write_moments(path, world, 0, 0, m);
    dls_world_destroy(world);
}

static void test_refused(void **state) {
    (void)state;
    long size;
    int wrong = 0;
    write_sound("sound.h5");
    unsigned char *bytes = results_load("sound.h5", &size);
    for (size_t k = 0; k < sizeof hostile / sizeof *hostile; k++) {
        char where[100];
        dls_error error = {0};
        results_save("hostile.h5", bytes, size);
        results_set("hostile.h5", hostile[k].dataset, hostile[k].member, hostile[k].row, hostile[k].place,
                    hostile[k].value);
        dls_status status = read_all("hostile.h5", &error);
        snprintf(where, sizeof where, "hostile.h5: damaged: %s, row %lld: ", hostile[k].dataset,
                 (long long)hostile[k].row);
        bool good = hostile[k].found ? status == DLS_ERROR_FILE && strstr(error.message, hostile[k].found) &&
                                           strstr(error.message, where)
                                     : status == DLS_OK;
        if (good) continue;
        wrong++;
        print_message("%s %s row %lld: %d '%s', expected '%s'\n", hostile[k].dataset,
                      hostile[k].member ? hostile[k].member : "", (long long)hostile[k].row, status,
                      error.message, hostile[k].found ? hostile[k].found : "nothing");
    }
    free(bytes);
    assert_int_equal(wrong, 0);
}

/* A frame whose reactions are not there yet is left out; a joint whose body is not there yet too, and then
 * what speaks of it has that for a reason. */
static void test_rows_that_were_being_written(void **state) {
    (void)state;
    dls_results *r;
    dls_error why = {0};
    write_sound("last.h5");
    results_set("last.h5", "frames", "reaction_count", STEPS, 0, 1e9);
    OK(dls_results_open("last.h5", &r, error));
    assert_int_equal(dls_results_frame_count(r), STEPS);
    dls_results_destroy(r);
    write_sound("last.h5");
    results_set("last.h5", "joints/properties", "bodies", 7, 1, 99);
    assert_int_equal(dls_results_open("last.h5", &r, &why), DLS_ERROR_FILE);
    if (!strstr(why.message, "joints/properties, row 7: body is 99, expected -1 to 6"))
        fail_msg("%s", why.message);
    for (int frame = 1; frame <= STEPS; frame++) results_set("last.h5", "frames", "step", frame, 0, -1);
    OK(dls_results_open("last.h5", &r, error));
    assert_int_equal(dls_results_frame_count(r), 1);
    assert_int_equal(dls_results_joint_count(r), 7);
    dls_results_destroy(r);
}

/* Steps count as far as all of their columns go. */
static void test_history_of_joints_that_is_shorter(void **state) {
    (void)state;
    dls_results *r;
    write_sound("short.h5");
    hid_t file = H5Fopen("short.h5", H5F_ACC_RDWR, H5P_DEFAULT),
          dataset = H5Dopen2(file, "joints/steps", H5P_DEFAULT);
    assert_true(H5Dset_extent(dataset, (const hsize_t[]){STEPS - 2}) >= 0);
    H5Dclose(dataset);
    H5Fclose(file);
    OK(dls_results_open("short.h5", &r, error));
    assert_int_equal(dls_results_step_count(r), STEPS - 2);
    dls_results_destroy(r);
}

/* Going on copies what was: not from a file that could not be read. */
static void test_going_on(void **state) {
    (void)state;
    dls_world *world = linkage_world(2);
    dls_results_writer *writer = NULL;
    dls_error error = {0};
    write_sound("going.h5");
    results_set("going.h5", "reactions/impulse", NULL, 10, 0, NAN);
    assert_int_equal(dls_results_continue("going.h5", world, STEPS, &writer, &error), DLS_ERROR_FILE);
    assert_null(writer);
    if (!strstr(error.message, "reactions/impulse, row 10: impulse is nan")) fail_msg("%s", error.message);
    dls_world_destroy(world);
}

/* ---- exports ---- */

static char *text_of(const char *path) {
    long size;
    char *bytes = (char *)results_load(path, &size);
    char *text = malloc((size_t)size + 1);
    memcpy(text, bytes, (size_t)size);
    text[size] = '\0';
    free(bytes);
    return text;
}

static int count_of(const char *text, const char *words) {
    int count = 0;
    for (; (text = strstr(text, words)); text += strlen(words)) count++;
    return count;
}

/* Numbers behind the name of a row, which may be quoted. */
static void test_csv(void **state) {
    (void)state;
    static moment m[STEPS];
    dls_world *world = linkage_world(2);
    dls_results *r;
    write_moments("csv.h5", world, 0, 0, m);
    OK(dls_results_open("csv.h5", &r, error));
    OK(dls_results_export_csv(r, "csv", error));
    char *text = text_of("csv/joints.csv"), *line = strchr(text, '\n') + 1;
    assert_true(strstr(text, "frame,step,time [s],joint,name,kind,body_a,body_b,x [m]") == text);
    int columns = 1;
    for (const char *c = text; *c != '\n'; c++) columns += *c == ',';
    assert_int_equal(columns, 8 + 3 + 9 + 4 * 6 + 3 + 6);
    for (int k = 0; k < STEPS; k++)
        for (int i = 0; i < m[k].count; i++, line = strchr(line, '\n') + 1) {
            const dls_joint_record *j = &m[k].joint[i];
            char words[64], *end = strchr(line, '\n');
            snprintf(words, sizeof words, ",%s,%d,%d,", dls_joint_kind_name(r->joints[j->joint].kind),
                     j->body[0], j->body[1]);
            char *at = strstr(line, words);
            assert_true(at && at < end);
            at += strlen(words) - 1;
            const double *numbers[] = {j->point, j->frame, j->impulse, j->actuator, j->coordinate,
                                       j->speed, &j->gap,  &j->work,   &j->lost};
            const int widths[] = {3, 9, 6, 6, 6, 6, 1, 1, 1};
            for (int n = 0; n < 9; n++)
                for (int c = 0; c < widths[n]; c++) assert_true(strtod(at + 1, &at) == numbers[n][c]);
        }
    assert_true(*line == '\0');
    free(text);
    text = text_of("csv/steps.csv");
    assert_int_equal(count_of(text,
                              ",joints,joint_rows,joint_rows_at_bound,joints_broken,joint_gap [m or rad],"
                              "spring [J],motors [J],joint_loss [J]\n"),
                     1);
    free(text);
    dls_results_destroy(r);
    dls_world_destroy(world);
}

/* An array behind the XML of a .vtp, by its offset. */
static const char *array_of(const char *text, long size, const char *name, uint64_t *bytes) {
    char words[64];
    snprintf(words, sizeof words, "Name=\"%s\"", name);
    const char *at = strstr(text, words);
    assert_non_null(at);
    uint64_t offset = strtoull(strstr(at, "offset=\"") + 8, NULL, 10);
    const char *raw = strstr(text, "encoding=\"raw\">\n_");
    assert_non_null(raw);
    raw += strlen("encoding=\"raw\">\n_") + offset;
    assert_true(raw + 8 <= text + size);
    memcpy(bytes, raw, sizeof *bytes);
    return raw + 8;
}

static void test_vtk(void **state) {
    (void)state;
    static moment m[STEPS];
    dls_world *world = linkage_world(2);
    dls_results *r;
    long size;
    uint64_t bytes;
    write_moments("vtk.h5", world, 0, 0, m);
    OK(dls_results_open("vtk.h5", &r, error));
    OK(dls_results_export_vtk(r, "vtk", error));
    char *text = text_of("vtk/run.pvd");
    assert_int_equal(count_of(text, "name=\"joints\""), STEPS + 1);
    free(text);
    text = (char *)results_load("vtk/joints_00002.vtp", &size);
    int count = m[1].count;
    char head[120];
    snprintf(head, sizeof head, "NumberOfPoints=\"%d\" NumberOfVerts=\"%d\" NumberOfLines=\"%d\"", 3 * count,
             count, count);
    assert_non_null(strstr(text, head));
    const char *force = array_of(text, size, "force_vector", &bytes);
    assert_int_equal(bytes, 2 * count * 3 * (int)sizeof(double)); /* of points, then of lines */
    for (int i = 0; i < 2 * count; i++) {
        double world_force[3], written[3];
        mat_apply(world_force, m[1].joint[i % count].frame, m[1].joint[i % count].impulse);
        memcpy(written, force + (size_t)i * sizeof written, sizeof written);
        for (int k = 0; k < 3; k++) assert_near(written[k], world_force[k] / 1e-3, 1e-9 * fabs(written[k]));
    }
    const char *points = array_of(text, size, "points", &bytes);
    for (int i = 0; i < count; i++)
        assert_memory_equal(points + (size_t)(3 * i + 1) * 24, m[1].joint[i].point, 24);
    free(text);
    text = text_of("vtk.h5.xdmf");
    assert_int_equal(count_of(text, "<Grid Name=\"joints\""), STEPS + 1);
    assert_int_equal(count_of(text, "vtk.h5:/reactions/world_torque"), 2 * STEPS);
    free(text);
    dls_results_destroy(r);
    dls_world_destroy(world);
}

/* ---- measures ---- */

/* A wheel without weight on its axle turns at 5 rad/s against a friction of 0.3 N m: the motor's torque is
 * that friction, what it puts in is lost. A mass m hangs beside it by a rod, and pulls with its weight. */
static dls_world *wheel_and_weight(void) {
    static const double inertia[9] = {1, 0, 0, 0, 1, 0, 0, 0, 0.02};
    dls_world *world = measured_world(2);
    dls_body_def body = dls_default_body_def();
    dls_body_id wheel, weight;
    body.mass = 2;
    body.inertia = inertia;
    OK(dls_world_add_body(world, &body, &wheel, error));
    body.pose.x[0] = 1;
    OK(dls_world_add_body(world, &body, &weight, error));
    dls_joint_def axle = dls_default_joint_def(DLS_JOINT_REVOLUTE),
                  rod = dls_default_joint_def(DLS_JOINT_DISTANCE);
    axle.name = "axle";
    axle.body[1] = wheel;
    axle.freedom[3].friction = 0.3;
    OK(dls_function_constant(5, &axle.freedom[3].velocity, error));
    OK(dls_joint_place(world, &axle, (const double[3]){0, 0, 0}, NULL, NULL, error));
    OK(dls_world_add_joint(world, &axle, NULL, error));
    rod.body[1] = weight;
    rod.frame[0].x[0] = 1, rod.frame[0].x[1] = 0.7;
    OK(dls_world_add_joint(world, &rod, NULL, error));
    return world;
}

static void test_measure(void **state) {
    (void)state;
    enum { RUN = 20 };
    dls_results *r = measured_run(wheel_and_weight(), "measure.h5", RUN, false);
    dls_analysis_options o = dls_default_analysis_options();
    double load = 2 * MEASURED_GRAVITY;
    dls_analysis *a = measured_analysis(r, "joints", &o);
    dls_analysis_table t = dls_analysis_table_at(a, 0);
    assert_int_equal(t.row_count, 2 * RUN);
    assert_near(measured_fact(a, "joints", NULL), 2, 0);
    assert_near(measured_fact(a, "axle force", NULL), load, 1e-6 * load);
    assert_near(measured_fact(a, "joint 1 force", NULL), load, 1e-6 * load);
    assert_near(measured_fact(a, "axle torque time", NULL), 1e-3, 1e-12); /* it starts from rest */
    assert_near(measured_fact(a, "axle torque", NULL), 0.02 * 5 / 1e-3, 1e-6);
    assert_true(isnan(measured_last(a, "coordinate_4")) && isnan(measured_last(a, "actuator_1")));
    double reaction[3] = {measured_last(a, "reaction_1"), measured_last(a, "reaction_2"),
                          measured_last(a, "reaction_3")};
    assert_near(vec_norm(reaction), load, 1e-6 * load);
    dls_analysis_destroy(a);
    o.joint = "axle";
    a = measured_analysis(r, "joints", &o);
    t = dls_analysis_table_at(a, 0);
    assert_int_equal(t.row_count, RUN);
    assert_near(measured_last(a, "coordinate_4"), 5e-3 * RUN, 5e-3 + 1e-9);
    assert_near(measured_last(a, "speed_4"), 5, 1e-9);
    assert_true(isnan(measured_last(a, "coordinate_1")));
    assert_near(measured_last(a, "actuator_4"), 0.3, 1e-9);
    assert_near(measured_last(a, "reaction_4"), 0, 1e-9); /* motor and friction */
    assert_near(measured_last(a, "power"), 0.3 * 5, 1e-8);
    assert_near(measured_last(a, "loss"), 0.3 * 5, 1e-8);
    dls_analysis_table peaks = dls_analysis_table_at(a, 1);
    assert_int_equal(peaks.row_count, 1);
    assert_near(peaks.values[0], 0, 0);
    dls_analysis_destroy(a);
    o.joint = "1"; /* by its number */
    a = measured_analysis(r, "joints", &o);
    assert_near(measured_last(a, "joint"), 1, 0);
    dls_analysis_destroy(a);
    a = measured_analysis(r, "energy", NULL);
    double first = 1e-3 * 5 * 0.3;
    assert_near(measured_fact(a, "motors", NULL), first * (RUN - 1), 1e-9);
    assert_near(measured_fact(a, "joint loss", NULL), first * (RUN - 1), 1e-9);
    double exchanged = measured_last(a, "motors") + measured_last(a, "joint_loss"),
           unaccounted = measured_fact(a, "unaccounted", NULL);
    assert_near(measured_fact(a, "unaccounted share", NULL) * exchanged, unaccounted, 1e-9 * unaccounted);
    assert_near(measured_last(a, "total"), measured_last(a, "kinetic") + measured_last(a, "potential"),
                1e-12);
    dls_analysis_destroy(a);
    dls_results_destroy(r);
}

static void test_measure_is_refused(void **state) {
    (void)state;
    dls_error error = {0};
    dls_analysis *a = NULL;
    dls_analysis_options o = dls_default_analysis_options();
    dls_results *r = measured_run(apart(), "none.h5", 2, true);
    assert_int_equal(dls_analysis_create(r, "joints", NULL, &a, &error), DLS_ERROR_INPUT);
    assert_string_equal(error.message, "joints needs joints, and this run has none");
    dls_results_destroy(r);
    r = measured_run(wheel_and_weight(), "some.h5", 2, true);
    o.joint = "hinge";
    assert_int_equal(dls_analysis_create(r, "joints", &o, &a, &error), DLS_ERROR_ARGUMENT);
    assert_string_equal(error.message, "no joint 'hinge', expected a name or a number from 0 to 1");
    o.joint = "2";
    assert_int_equal(dls_analysis_create(r, "joints", &o, &a, &error), DLS_ERROR_ARGUMENT);
    o.joint = NULL;
    o.last_frame = 0;
    assert_int_equal(dls_analysis_create(r, "joints", &o, &a, &error), DLS_ERROR_INPUT);
    dls_results_destroy(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joints_come_back),
        cmocka_unit_test(test_a_joint_that_comes_late),
        cmocka_unit_test(test_runs_without_joints_have_no_rows_of_them),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_rows_that_were_being_written),
        cmocka_unit_test(test_history_of_joints_that_is_shorter),
        cmocka_unit_test(test_going_on),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_vtk),
        cmocka_unit_test(test_measure),
        cmocka_unit_test(test_measure_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

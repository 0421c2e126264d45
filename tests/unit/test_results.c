/* Results files: what goes in comes out, to the bit, whenever the writer stops. */
#include "output/results/driver.h"
#include "support/scale.h"
#include "support/small_run.h"
#include "support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK(call)                                                                                             \
    do {                                                                                                     \
        dls_error error_ = {0};                                                                              \
        dls_error *error = &error_;                                                                          \
        if (call) fail_msg("%s", error_.message);                                                            \
    } while (0)

enum { STEPS = 14, MOST_BODIES = 16, MOST_CONTACTS = 200 };

/* What was true at a frame. */
typedef struct moment {
    double time;
    int64_t step;
    int bodies;
    bool present[MOST_BODIES];
    dls_body_state state[MOST_BODIES];
    dls_pose pose[MOST_BODIES];
    int contact_count;
    dls_contact_record contact[MOST_CONTACTS];
} moment;

typedef struct story {
    int count;
    moment at[STEPS + 1];
    dls_step_report report[STEPS];
} story;

static void remember(const small_run *run, moment *m) {
    memset(m, 0, sizeof *m);
    m->time = dls_simulation_time(run->simulation);
    m->step = dls_simulation_steps(run->simulation);
    m->bodies = dls_world_body_count(run->world);
    assert_in_range(m->bodies, 1, MOST_BODIES);
    for (int id = 0; id < m->bodies; id++) {
        const char *name = dls_body_name(run->world, id);
        m->present[id] = dls_body_presence(run->world, id) == DLS_PRESENT;
        /* before the first step nobody has been taken in, and who is due counts as there */
        if (dls_body_presence(run->world, id) == DLS_WAITING)
            m->present[id] = strcmp(name, "born") != 0 || m->time >= 0.05;
        m->state[id].q[0] = m->pose[id].q[0] = 1;
        if (!m->present[id]) continue;
        OK(dls_body_state_get(run->world, id, &m->state[id], error));
        OK(dls_simulation_contact_pose(run->simulation, id, &m->pose[id], error));
    }
    m->contact_count = dls_simulation_contact_count(run->simulation);
    assert_in_range(m->contact_count, 0, MOST_CONTACTS);
    for (int k = 0; k < m->contact_count; k++) dls_simulation_contact(run->simulation, k, &m->contact[k]);
}

static void check_moment(dls_results *results, int frame, const moment *m, bool contacts) {
    static dls_contact_record contact[MOST_CONTACTS];
    dls_body_state state[MOST_BODIES];
    dls_pose pose[MOST_BODIES];
    bool present[MOST_BODIES];
    assert_true(dls_results_body_count(results) >= m->bodies);
    assert_true(dls_results_frame_time(results, frame) == m->time);
    assert_int_equal(dls_results_frame_step(results, frame), m->step);
    OK(dls_results_frame_states(results, frame, state, present, error));
    OK(dls_results_frame_poses(results, frame, pose, error));
    for (int id = 0; id < m->bodies; id++) {
        assert_int_equal(present[id], m->present[id]);
        assert_memory_equal(&state[id], &m->state[id], sizeof *state);
        if (contacts) assert_memory_equal(&pose[id], &m->pose[id], sizeof *pose);
    }
    for (int id = m->bodies; id < dls_results_body_count(results); id++) assert_false(present[id]);
    if (!contacts) return;
    assert_int_equal(dls_results_frame_contact_count(results, frame), m->contact_count);
    memset(contact, 0, sizeof contact);
    OK(dls_results_frame_contacts(results, frame, contact, error));
    for (int k = 0; k < m->contact_count; k++) {
        const dls_contact_record *a = &contact[k], *b = &m->contact[k];
        assert_int_equal(a->body_a, b->body_a);
        assert_int_equal(a->body_b, b->body_b);
        assert_int_equal(a->shape_a, b->shape_a);
        assert_int_equal(a->shape_b, b->shape_b);
        assert_memory_equal(a->image, b->image, sizeof a->image);
        assert_true(a->feature == b->feature && a->gap == b->gap && a->mu == b->mu);
        assert_memory_equal(a->point, b->point, sizeof a->point);
        assert_memory_equal(a->frame, b->frame, sizeof a->frame);
        assert_memory_equal(a->impulse, b->impulse, sizeof a->impulse);
        assert_memory_equal(a->velocity, b->velocity, sizeof a->velocity);
        assert_memory_equal(a->b, b->b, sizeof a->b);
    }
}

/* A frame after every step from first on; a body comes late. told is called after each, with their count. */
static void record(small_run *run, dls_results_writer *writer, int first, int last, story *s,
                   void (*told)(int frames)) {
    for (int step = first; step <= last; step++) {
        if (step > 0) {
            dls_step_report report = small_run_step(run);
            OK(dls_results_add_step(writer, &report, error));
            if (s) s->report[step - 1] = report;
        }
        if (step == 9) small_run_add_late(run);
        OK(dls_results_add_frame(writer, run->simulation, error));
        if (s) {
            remember(run, &s->at[step]);
            s->count = step + 1;
        }
        if (told) told(step + 1);
    }
}

static void write_run(const char *path, int dimension, bool contacts, story *s) {
    small_run run = small_run_create(dimension);
    dls_results_def def = small_run_def();
    dls_results_writer *writer;
    def.contacts = contacts;
    OK(dls_results_create(path, run.world, &def, &writer, error));
    record(&run, writer, 0, STEPS, s, NULL);
    dls_run_summary summary = dls_simulation_summary(run.simulation);
    OK(dls_results_close(writer, &summary, error));
    small_run_destroy(&run);
}

static void check_story(const char *path, const story *s, int least_frames, bool contacts) {
    dls_results *results;
    OK(dls_results_open(path, &results, error));
    int frames = dls_results_frame_count(results);
    assert_in_range(frames, least_frames, s->count);
    for (int k = 0; k < frames; k++) check_moment(results, k, &s->at[k], contacts);
    assert_in_range(dls_results_step_count(results), least_frames > 0 ? least_frames - 1 : 0, STEPS);
    for (int64_t k = 0; k < dls_results_step_count(results); k++) {
        dls_step_report report;
        memset(&report, 0, sizeof report);
        OK(dls_results_steps(results, k, 1, &report, error));
        assert_int_equal(report.step, s->report[k].step);
        assert_true(report.residual == s->report[k].residual);
        assert_int_equal(report.outcome, s->report[k].outcome);
        assert_int_equal(report.certified, s->report[k].certified);
        assert_memory_equal(&report.energy, &s->report[k].energy, sizeof report.energy);
    }
    dls_results_destroy(results);
}

static story told;

/* ---- what goes in comes out ---- */

static void test_all_comes_back(void **state) {
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        for (int contacts = 0; contacts < 2; contacts++) {
            write_run("all.h5", dimension, contacts, &told);
            check_story("all.h5", &told, STEPS + 1, contacts);
        }
    }
}

static void test_facts_come_back(void **state) {
    (void)state;
    dls_results *r;
    dls_run_summary summary;
    dls_material_def material;
    dls_body_mass mass;
    dls_shape_def shape;
    write_run("facts.h5", 3, true, &told);
    OK(dls_results_open("facts.h5", &r, error));
    assert_string_equal(dls_results_title(r), "a small run");
    assert_string_equal(dls_results_scene_text(r), "title: a small run\n# ends here\n");
    assert_int_equal(dls_results_setting_count(r), 2);
    assert_string_equal(dls_results_setting(r, 1), "variables.size=1");
    assert_string_equal(dls_results_solver(r), "auto");
    assert_string_equal(dls_results_solver_options(r), "tolerance=1e-6\n");
    assert_string_equal(dls_results_version(r), dls_version());
    assert_true(dls_results_tolerance(r) == 1e-6 && dls_results_world(r).gravity[2] == -9.81);
    assert_int_equal(dls_results_dimension(r), 3);
    assert_true(dls_results_finished(r, &summary));
    assert_int_equal(summary.steps, STEPS);
    assert_int_equal(dls_results_material_count(r), 3);
    OK(dls_results_material(r, 1, &material, error));
    assert_string_equal(material.name, "stone");
    assert_true(material.mu == 0.7);
    assert_int_equal(dls_results_body_count(r), 14);
    assert_string_equal(dls_results_body_name(r, 6), "Ei, \"groß\"");
    assert_string_equal(dls_results_body_name(r, 5), "");
    assert_string_equal(dls_results_body_name(r, 13), "late");
    assert_int_equal(dls_results_body_motion(r, 0), DLS_STATIC);
    OK(dls_results_body_mass(r, 7, &mass, error));
    OK(dls_results_material(r, 0, &material, error));
    assert_true(fabs(mass.mass / (material.density * 3.14159265358979 * 0.01 * 0.2) - 1) < 1e-12);
    assert_int_equal(dls_results_body_shape_count(r, 9), 2);
    OK(dls_results_body_shape(r, 8, 0, &shape, error));
    assert_int_equal(shape.kind, DLS_POLYHEDRON);
    assert_int_equal(shape.point_count, 5);
    assert_int_equal(shape.triangle_count, 6);
    OK(dls_results_body_shape(r, 3, 0, &shape, error));
    assert_int_equal(shape.triangle_count, 2);
    dls_results_destroy(r);
}

/* A second opening of the file, while it is being written, sees what has been written so far. */
static void test_readable_while_written(void **state) {
    (void)state;
    small_run run = small_run_create(3);
    dls_results_def def = small_run_def();
    dls_results_writer *writer;
    OK(dls_results_create("live.h5", run.world, &def, &writer, error));
    told.count = 0;
    for (int step = 0; step <= STEPS; step++) {
        record(&run, writer, step, step, &told, NULL);
        check_story("live.h5", &told, step + 1, true);
    }
    OK(dls_results_close(writer, NULL, error));
    dls_results *r;
    OK(dls_results_open("live.h5", &r, error));
    assert_false(dls_results_finished(r, NULL));
    dls_results_destroy(r);
    small_run_destroy(&run);
}

/* ---- the end may come at any time ---- */

static int write_limit, writes;
static int report_pipe;

static void count_write(const dls_driver_deed *deed, void *user) {
    (void)deed, (void)user;
    if (++writes > write_limit) _exit(0);
}

static void tell_pipe(int frames) {
    char byte = (char)frames;
    if (write(report_pipe, &byte, 1) != 1) _exit(1);
}

/* Runs a writer in a process of its own, under a name of its own; returns the frames that it reported. */
static int run_child(const char *path, void (*wait_and_kill)(pid_t child)) {
    int ends[2], frames = 0;
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        report_pipe = ends[1];
        if (!wait_and_kill) dls_driver_watch(count_write, NULL);
        small_run run = small_run_create(3);
        dls_results_def def = small_run_def();
        dls_results_writer *writer;
        if (dls_results_create(path, run.world, &def, &writer, NULL)) _exit(1);
        tell_pipe(0);
        record(&run, writer, 0, STEPS, NULL, tell_pipe);
        dls_run_summary summary = {0};
        _exit(dls_results_close(writer, &summary, NULL) ? 1 : 0);
    }
    close(ends[1]);
    if (wait_and_kill) wait_and_kill(child);
    int status, got = -1;
    while (read(ends[0], &byte, 1) == 1) got = frames = byte;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!wait_and_kill) assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return got < 0 ? -1 : frames;
}

static void remove_parts(void) {
    DIR *folder = opendir(".");
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strstr(entry->d_name, ".part")) unlink(entry->d_name);
    closedir(folder);
}

/* The process ends before its n-th write, for every n (some of them, where time is short): what it reported
 * as written is there, and what stood under the name before stays until then. */
static void test_end_at_every_write(void **state) {
    (void)state;
    write_run("reference.h5", 3, true, &told);
    writes = 0, write_limit = 1 << 30;
    unlink("end.h5");
    dls_driver_watch(count_write, NULL);
    write_run("end.h5", 3, true, NULL);
    dls_driver_watch(NULL, NULL);
    int total = writes, every = total / scaled(80, 20), created = 0;
    for (int k = 1; k < total; k += every) {
        unlink("end.h5");
        writes = 0, write_limit = k;
        int frames = run_child("end.h5", NULL);
        if (frames >= 0) check_story("end.h5", &told, frames, true);
        if (frames < 0 && created) fail_msg("no file after %d writes", k);
        created = frames >= 0;
    }
    assert_true(created);
    remove_parts();
}

static void kill_soon(pid_t child) {
    usleep((useconds_t)(rand() % 40000));
    kill(child, SIGKILL);
}

static void test_kill(void **state) {
    (void)state;
    write_run("reference.h5", 3, true, &told);
    srand(1);
    for (int k = 0; k < scaled(25, 5); k++) {
        unlink("killed.h5");
        int frames = run_child("killed.h5", kill_soon);
        if (frames >= 0) check_story("killed.h5", &told, frames, true);
    }
    remove_parts();
}

/* ---- going on ---- */

/* Stops without a close after step `kept`, is taken back to step `from`, and goes on. */
static void resume_at(int from, int kept) {
    small_run run = small_run_create(3);
    dls_results_def def = small_run_def();
    dls_results_writer *writer;
    dls_checkpoint *checkpoint = NULL;
    OK(dls_results_create("resumed.h5", run.world, &def, &writer, error));
    for (int step = 0; step <= kept; step++) {
        record(&run, writer, step, step, NULL, NULL);
        if (step != from) continue;
        OK(dls_results_flush(writer, error));
        OK(dls_checkpoint_write("resumed.h5.checkpoint", run.simulation, &def, error));
    }
    OK(dls_results_close(writer, NULL, error));
    small_run_destroy(&run);
    run = small_run_create(3);
    if (from >= 9) small_run_add_late(&run);
    OK(dls_checkpoint_read("resumed.h5.checkpoint", &checkpoint, error));
    OK(dls_checkpoint_restore(checkpoint, run.simulation, error));
    assert_int_equal(dls_checkpoint_step(checkpoint), from);
    assert_true(dls_checkpoint_time(checkpoint) == dls_simulation_time(run.simulation));
    assert_string_equal(dls_checkpoint_setting(checkpoint, 0), "time.step=0.01");
    dls_checkpoint_destroy(checkpoint);
    OK(dls_results_continue("resumed.h5", run.world, from, &writer, error));
    record(&run, writer, from + 1, STEPS, NULL, NULL);
    dls_run_summary summary = dls_simulation_summary(run.simulation);
    OK(dls_results_close(writer, &summary, error));
    small_run_destroy(&run);
}

static void test_going_on(void **state) {
    (void)state;
    const int cases[][2] = {{0, 3}, {4, 4}, {5, 8}, {7, STEPS}, {10, 12}};
    write_run("reference.h5", 3, true, &told);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        resume_at(cases[k][0], cases[k][1]);
        check_story("resumed.h5", &told, STEPS + 1, true);
        dls_results *r;
        OK(dls_results_open("resumed.h5", &r, error));
        assert_true(dls_results_finished(r, NULL));
        assert_int_equal(dls_results_step_count(r), STEPS);
        assert_int_equal(dls_results_body_count(r), 14);
        dls_results_destroy(r);
    }
}

static void expect(dls_status status, const dls_error *error, const char *words) {
    assert_int_not_equal(status, DLS_OK);
    assert_int_equal(status, error->status);
    assert_null(strchr(error->message, '\n'));
    if (!strstr(error->message, words)) fail_msg("'%s' is not in: %s", words, error->message);
}

static void test_not_of_this_run(void **state) {
    (void)state;
    small_run run = small_run_create(3), planar = small_run_create(2);
    dls_results_writer *writer = (dls_results_writer *)&run;
    dls_error error;
    write_run("other.h5", 3, true, NULL);
    dls_status status = dls_results_continue("other.h5", run.world, STEPS + 1, &writer, &error);
    expect(status, &error, "other.h5: row 14 of its history is step 14, expected 15");
    assert_null(writer);
    status = dls_results_continue("other.h5", planar.world, 3, &writer, &error);
    expect(status, &error, "of dimension 3, expected 2");
    status = dls_results_continue("missing.h5", run.world, 3, &writer, &error);
    expect(status, &error, "missing.h5: cannot be read: No such file");
    small_run_destroy(&run);
    small_run_destroy(&planar);
}

/* ---- where it cannot be written ---- */

static void expect_create(const char *path, const char *words) {
    small_run run = small_run_create(2);
    dls_results_def def = small_run_def();
    dls_results_writer *writer;
    dls_error error;
    expect(dls_results_create(path, run.world, &def, &writer, &error), &error, words);
    assert_null(writer);
    small_run_destroy(&run);
}

static void test_unwritable(void **state) {
    (void)state;
    mkdir("folder", 0777);
    expect_create("no/such/folder.h5", "no/such/folder.h5: cannot be written: No such file or directory");
    expect_create("folder", "folder: cannot be written: Is a directory");
    expect_create("/dev/null", "no regular file");
}

/* The disk is full after so many bytes. */
static int run_with_limit(rlim_t limit, char *message, size_t size) {
    int ends[2];
    struct {
        int frames;
        char message[512];
    } told_back = {0, ""};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, limit});
        small_run run = small_run_create(3);
        dls_results_def def = small_run_def();
        dls_results_writer *writer = NULL;
        dls_error error = {0};
        dls_status status = dls_results_create("full.h5", run.world, &def, &writer, &error);
        told_back.frames = status ? -1 : 0;
        for (int step = 0; step <= STEPS && !status; step++) {
            dls_step_report report = {0};
            if (step) report = small_run_step(&run);
            if (step) status = dls_results_add_step(writer, &report, &error);
            if (step == 9) small_run_add_late(&run);
            if (!status) status = dls_results_add_frame(writer, run.simulation, &error);
            told_back.frames += !status;
        }
        memcpy(told_back.message, error.message, sizeof error.message);
        dls_status again = writer ? dls_results_add_frame(writer, run.simulation, NULL) : status;
        if (again != status) _exit(2);
        if (dls_results_close(writer, NULL, NULL) != (writer ? status : DLS_OK)) _exit(3);
        small_run_destroy(&run);
        if (write(ends[1], &told_back, sizeof told_back) != sizeof told_back) _exit(4);
        _exit(H5close() < 0 ? 5 : 0);
    }
    close(ends[1]);
    int status;
    ssize_t got = read(ends[0], &told_back, sizeof told_back);
    close(ends[0]);
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) fail_msg("exit %x at %ld bytes", status, (long)limit);
    assert_int_equal(got, sizeof told_back);
    snprintf(message, size, "%s", told_back.message);
    return told_back.frames;
}

static void test_full_disk(void **state) {
    (void)state;
    char message[512];
    struct stat about;
    write_run("reference.h5", 3, true, &told);
    assert_int_equal(stat("reference.h5", &about), 0);
    int count = scaled(24, 8), some = 0, none = 0;
    for (int k = 0; k < count; k++) {
        unlink("full.h5");
        int frames = run_with_limit((rlim_t)(about.st_size * (k + 1) / (count + 1)), message, sizeof message);
        if (frames > STEPS) continue; /* the file is larger than its frames need */
        if (!strstr(message, "full.h5: cannot be written: File too large") &&
            !strstr(message, "full.h5.xdmf: cannot be written: File too large"))
            fail_msg("%s", message);
        none += frames < 0;
        some += frames > 0;
        if (frames >= 0) check_story("full.h5", &told, frames, true);
        if (frames < 0) assert_int_equal(access("full.h5", F_OK), -1);
    }
    assert_true(none > 0 && some > 0);
}

/* ---- files that are not sound ---- */

static unsigned char *load(const char *path, size_t *size) {
    struct stat about;
    int file = open(path, O_RDONLY);
    assert_true(file >= 0 && !fstat(file, &about));
    *size = (size_t)about.st_size;
    unsigned char *bytes = malloc(*size);
    assert_int_equal(read(file, bytes, *size), *size);
    close(file);
    return bytes;
}

static void save(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

typedef enum reading { SOUND, REFUSED, BAD_MESSAGE } reading;

static reading judge(dls_status status, const dls_error *error, const char *path) {
    bool good = status == error->status && strstr(error->message, path) && !strchr(error->message, '\n');
    return good ? REFUSED : BAD_MESSAGE;
}

/* Reads all that can be read. */
static reading read_everything(const char *path) {
    static dls_contact_record contact[MOST_CONTACTS];
    dls_results *r = NULL;
    dls_error error = {0};
    dls_status status = dls_results_open(path, &r, &error);
    reading found = status ? judge(status, &error, path) : SOUND;
    for (int k = 0; found == SOUND && k < dls_results_frame_count(r); k++) {
        dls_body_state states[MOST_BODIES];
        if (dls_results_body_count(r) > MOST_BODIES) break;
        status = dls_results_frame_states(r, k, states, NULL, &error);
        if (!status && dls_results_frame_contact_count(r, k) <= MOST_CONTACTS)
            status = dls_results_frame_contacts(r, k, contact, &error);
        if (status) found = judge(status, &error, path);
    }
    dls_results_destroy(r);
    return found;
}

static void test_truncated(void **state) {
    (void)state;
    size_t size;
    write_run("whole.h5", 3, true, NULL);
    unsigned char *bytes = load("whole.h5", &size);
    assert_int_equal(read_everything("whole.h5"), SOUND);
    for (int k = 0; k < 50; k++) {
        save("cut.h5", bytes, size * (size_t)k / 50);
        assert_int_equal(read_everything("cut.h5"), REFUSED);
    }
    free(bytes);
}

/* Sixteen bytes at random; data may be wrong then, but every message must be good. */
static void read_damaged(unsigned char *bytes, size_t size, int count) {
    srand(7);
    for (int k = 0; k < count; k++) {
        size_t at = k % 2 ? (size_t)rand() % size : (size_t)rand() % (size < 20000 ? size : 20000);
        unsigned char before[16];
        size_t length = size - at < 16 ? size - at : 16;
        memcpy(before, bytes + at, length);
        for (size_t i = 0; i < length; i++) bytes[at + i] = (unsigned char)rand();
        FILE *file = fopen("hurt.h5", "wb");
        if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) _exit(2);
        if (read_everything("hurt.h5") == BAD_MESSAGE) _exit(3);
        memcpy(bytes + at, before, length);
    }
}

/* In a process of its own: HDF5 loses some memory on the way out of damaged files. */
static void test_damaged(void **state) {
    (void)state;
    size_t size;
    int status;
    write_run("whole.h5", 2, true, NULL);
    unsigned char *bytes = load("whole.h5", &size);
    pid_t child = fork();
    if (child == 0) {
        read_damaged(bytes, size, scaled(120, 20));
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) fail_msg("ended with %x", status);
    free(bytes);
}

static void set_int_attribute(const char *path, const char *name, int value) {
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT, &value);
    H5Aclose(attribute);
    H5Fclose(file);
}

static void test_foreign(void **state) {
    (void)state;
    dls_results *r;
    dls_error error;
    save("words.h5", "these are words and no numbers, and of them more than forty-eight", 65);
    expect(dls_results_open("words.h5", &r, &error), &error, "words.h5: no results file: it does not begin");
    save("nothing.h5", "", 0);
    expect(dls_results_open("nothing.h5", &r, &error), &error, "nothing.h5: no results file");
    expect(dls_results_open("folder", &r, &error), &error,
           "folder: a folder, expected a file with the results of a run");
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Fclose(H5Fcreate("old.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access));
    expect(dls_results_open("old.h5", &r, &error), &error, "an HDF5 file of another kind");
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Fclose(H5Fcreate("other.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access));
    H5Pclose(access);
    expect(dls_results_open("other.h5", &r, &error), &error, "an HDF5 file of another kind");
    write_run("version.h5", 2, true, NULL);
    set_int_attribute("version.h5", "format_version", 99);
    expect(dls_results_open("version.h5", &r, &error), &error,
           "results of format version 99, expected 1 to 10");
}

/* ---- calls beyond measure ---- */

static void test_names_without_measure(void **state) {
    (void)state;
    enum { LONG = 2000000 };
    small_run run = small_run_create(2);
    dls_results_def def = small_run_def();
    dls_results_writer *writer;
    dls_results *r;
    char *name = malloc(LONG + 1);
    memset(name, 'n', LONG);
    name[LONG] = '\0';
    memcpy(name + 1023, "ö", strlen("ö")); /* its second byte has no room: the letter goes */
    dls_body_def body = dls_default_body_def();
    body.name = name;
    body.motion = DLS_STATIC;
    dls_shape_def shape = dls_default_shape_def(DLS_DISC);
    shape.radius = 0.1;
    body.shape_count = 1;
    body.shapes = &shape;
    dls_body_id id;
    OK(dls_world_add_body(run.world, &body, &id, error));
    OK(dls_results_create("long.h5", run.world, &def, &writer, error));
    OK(dls_results_close(writer, NULL, error));
    OK(dls_results_open("long.h5", &r, error));
    assert_int_equal(strlen(dls_results_body_name(r, id)), 1023);
    assert_memory_equal(dls_results_body_name(r, id), name, 1023);
    dls_results_destroy(r);
    small_run_destroy(&run);
    free(name);
}

static void test_arguments(void **state) {
    (void)state;
    small_run run = small_run_create(2);
    dls_results_def def = small_run_def();
    dls_results_writer *writer = NULL;
    dls_results *r;
    dls_step_report report;
    dls_error error;
    def.file_count = 1;
    def.files = NULL;
    assert_int_equal(dls_results_create("never.h5", run.world, &def, &writer, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(access("never.h5", F_OK), -1);
    write_run("steps.h5", 2, true, NULL);
    assert_int_equal(dls_results_open("steps.h5", &r, &error), DLS_OK);
    assert_int_equal(dls_results_steps(r, INT64_MAX - 1, 5, &report, &error), DLS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "no 5 steps from 9223372036854775806 on"));
    dls_results_destroy(r);
    small_run_destroy(&run);
}

/* Bytes of a crashed run are as HDF5 itself wants them: no marks, no missing end. */
static void test_plain_hdf5_opens_it(void **state) {
    (void)state;
    writes = 0, write_limit = 400;
    unlink("plain.h5");
    int frames = run_child("plain.h5", NULL);
    assert_true(frames > 0);
    hid_t file = H5Fopen("plain.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    hid_t dataset = H5Dopen2(file, "/states/position", H5P_DEFAULT), space = H5Dget_space(dataset);
    hsize_t extent[2];
    assert_int_equal(H5Sget_simple_extent_dims(space, extent, NULL), 2);
    assert_true(extent[0] >= 11 * (hsize_t)frames && extent[1] == 3);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_comes_back),
                                       cmocka_unit_test(test_facts_come_back),
                                       cmocka_unit_test(test_readable_while_written),
                                       cmocka_unit_test(test_end_at_every_write),
                                       cmocka_unit_test(test_kill),
                                       cmocka_unit_test(test_going_on),
                                       cmocka_unit_test(test_not_of_this_run),
                                       cmocka_unit_test(test_unwritable),
                                       cmocka_unit_test(test_full_disk),
                                       cmocka_unit_test(test_truncated),
                                       cmocka_unit_test(test_damaged),
                                       cmocka_unit_test(test_foreign),
                                       cmocka_unit_test(test_names_without_measure),
                                       cmocka_unit_test(test_arguments),
                                       cmocka_unit_test(test_plain_hdf5_opens_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

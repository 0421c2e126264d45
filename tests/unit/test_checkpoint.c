/* Checkpoints: the same state, or one line that says why not. */
#include "collide/collider.h"
#include "integrate/state.h"
#include "support/allocator.h"
#include "support/checkpoint_sum.h"
#include "support/checkpoint_world.h"
#include "support/scale.h"
#include "support/small_run.h"
#include "support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <float.h>
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

static void expect(dls_status status, const dls_error *error, const char *words) {
    assert_int_not_equal(status, DLS_OK);
    assert_int_equal(status, error->status);
    assert_null(strchr(error->message, '\n'));
    if (!strstr(error->message, words)) fail_msg("'%s' is not in: %s", words, error->message);
}

static unsigned char *load(const char *path, size_t *size) {
    struct stat about;
    int file = open(path, O_RDONLY);
    assert_true(file >= 0 && !fstat(file, &about));
    *size = (size_t)about.st_size;
    unsigned char *bytes = malloc(*size + 1);
    assert_int_equal(read(file, bytes, *size), *size);
    close(file);
    return bytes;
}

static void write_one(const char *path, int dimension, int steps) {
    small_run run = small_run_create(dimension);
    dls_results_def def = small_run_def();
    for (int k = 0; k < steps; k++) small_run_step(&run);
    OK(dls_checkpoint_write(path, run.simulation, &def, error));
    small_run_destroy(&run);
}

static unsigned char *state_of(const dls_simulation *simulation, size_t *size) {
    *size = dls_simulation_state_size(simulation);
    unsigned char *bytes = malloc(*size);
    dls_simulation_state_write(simulation, bytes);
    return bytes;
}

/* Seconds aside, all that the steps added up to. */
static void assert_same_sums(const dls_run_summary *a, const dls_run_summary *b) {
    assert_true(a->steps == b->steps && a->certified == b->certified && a->contacts == b->contacts);
    assert_true(a->iterations == b->iterations && a->worst_residual == b->worst_residual);
    assert_true(a->worst_error == b->worst_error && a->penetration == b->penetration);
}

static void assert_same_end(const small_run *a, const small_run *b) {
    size_t size_a, size_b;
    unsigned char *state_a = state_of(a->simulation, &size_a), *state_b = state_of(b->simulation, &size_b);
    dls_run_summary sum_a = dls_simulation_summary(a->simulation),
                    sum_b = dls_simulation_summary(b->simulation);
    assert_true(dls_simulation_hash(a->simulation) == dls_simulation_hash(b->simulation));
    assert_int_equal(size_a, size_b);
    assert_memory_equal(state_a, state_b, size_a);
    assert_true(sum_a.contacts > 0 && sum_a.iterations > 0 && sum_a.penetration > 0);
    assert_same_sums(&sum_a, &sum_b);
    free(state_a);
    free(state_b);
}

/* From every step, restored and not, the same at the end: hash, energies, sums, and what the next step starts
 * from.
 */
static void test_goes_on_with_the_same_bits(void **state) {
    (void)state;
    enum { END = 12 };
    for (int dimension = 2; dimension <= 3; dimension++) {
        small_run whole = small_run_create(dimension);
        for (int k = 0; k < END; k++) small_run_step(&whole);
        for (int from = 0; from <= END; from += 3) {
            dls_checkpoint *checkpoint;
            write_one("a.checkpoint", dimension, from);
            OK(dls_checkpoint_read("a.checkpoint", &checkpoint, error));
            assert_int_equal(dls_checkpoint_step(checkpoint), from);
            small_run again = small_run_create(dimension);
            OK(dls_checkpoint_restore(checkpoint, again.simulation, error));
            dls_checkpoint_destroy(checkpoint);
            for (int k = from; k < END; k++) small_run_step(&again);
            assert_same_end(&whole, &again);
            small_run_destroy(&again);
        }
        small_run_destroy(&whole);
    }
}

static void test_words_come_back(void **state) {
    (void)state;
    dls_checkpoint *c;
    write_one("words.checkpoint", 2, 5);
    OK(dls_checkpoint_read("words.checkpoint", &c, error));
    assert_string_equal(dls_checkpoint_title(c), "a small run");
    assert_string_equal(dls_checkpoint_scene_text(c), "title: a small run\n# ends here\n");
    assert_string_equal(dls_checkpoint_solver(c), "auto");
    assert_string_equal(dls_checkpoint_solver_options(c), "tolerance=1e-6\n");
    assert_int_equal(dls_checkpoint_setting_count(c), 2);
    assert_string_equal(dls_checkpoint_setting(c, 1), "variables.size=1");
    assert_null(dls_checkpoint_setting(c, 2));
    assert_true(fabs(dls_checkpoint_time(c) - 0.05) < 1e-12);
    dls_checkpoint_destroy(c);
}

/* Cut anywhere, or with any one bit wrong. */
static void test_damage_is_seen(void **state) {
    (void)state;
    size_t size;
    dls_error error;
    dls_checkpoint *c;
    write_one("hurt.checkpoint", 2, 7);
    unsigned char *bytes = load("hurt.checkpoint", &size);
    for (size_t k = 0; k < size; k += 1 + size / 200) {
        dls_status status = dls_checkpoint_read_memory(bytes, k, &c, &error);
        expect(status, &error, k < 8 ? "no checkpoint" : "damaged checkpoint");
        assert_null(c);
    }
    int step = scaled(100, 1) < 100 ? 97 : 3;
    for (size_t bit = 0; bit < 8 * size; bit += (size_t)step) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        dls_status status = dls_checkpoint_read_memory(bytes, size, &c, &error);
        expect(status, &error, "checkpoint");
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    bytes[size] = 0;
    expect(dls_checkpoint_read_memory(bytes, size + 1, &c, &error), &error, "bytes behind its end");
    bytes[8] = 4;
    expect(dls_checkpoint_read_memory(bytes, size, &c, &error), &error, "version 4, expected 2 or 3");
    bytes[8] = 1;
    expect(dls_checkpoint_read_memory(bytes, size, &c, &error), &error, "version 1, expected 2 or 3");
    bytes[8] = 3, bytes[12] ^= 1;
    expect(dls_checkpoint_read_memory(bytes, size, &c, &error), &error, "another order of bytes");
    free(bytes);
}

static void test_foreign_files(void **state) {
    (void)state;
    dls_checkpoint *c;
    dls_error error;
    FILE *file = fopen("words.txt", "w");
    fputs("title: no checkpoint\n", file);
    fclose(file);
    mkdir("folder", 0777);
    expect(dls_checkpoint_read("words.txt", &c, &error), &error, "words.txt: no checkpoint");
    expect(dls_checkpoint_read("folder", &c, &error), &error, "folder: a folder, expected a checkpoint file");
    expect(dls_checkpoint_read("missing", &c, &error), &error, "missing: cannot be read: No such file");
    expect(dls_checkpoint_read("/dev/zero", &c, &error), &error,
           "/dev/zero: a device, expected a checkpoint file");
    write_one("planar.checkpoint", 2, 3);
    assert_int_equal(dls_checkpoint_read("planar.checkpoint", &c, &error), DLS_OK);
    small_run run = small_run_create(3);
    dls_status status = dls_checkpoint_restore(c, run.simulation, &error);
    expect(status, &error, "planar.checkpoint: ");
    dls_checkpoint_destroy(c);
    small_run_destroy(&run);
}

/* What was there stays when the new one cannot be written, and nothing is left beside it. */
static void test_unwritable(void **state) {
    (void)state;
    write_one("kept.checkpoint", 2, 3);
    small_run run = small_run_create(2);
    dls_results_def def = small_run_def();
    dls_error error;
    expect(dls_checkpoint_write("no/such/folder", run.simulation, &def, &error), &error,
           "no/such/folder: cannot be written: No such file or directory");
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
        dls_status status = dls_checkpoint_write("kept.checkpoint", run.simulation, &def, &error);
        _exit(status == DLS_ERROR_FILE && strstr(error.message, "File too large") ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    small_run_destroy(&run);
    dls_checkpoint *c;
    assert_int_equal(dls_checkpoint_read("kept.checkpoint", &c, &error), DLS_OK);
    assert_int_equal(dls_checkpoint_step(c), 3);
    dls_checkpoint_destroy(c);
    DIR *folder = opendir(".");
    for (struct dirent *entry; (entry = readdir(folder));) assert_null(strstr(entry->d_name, ".part"));
    closedir(folder);
}

static void test_memory_runs_out(void **state) {
    (void)state;
    size_t size;
    write_one("memory.checkpoint", 2, 3);
    unsigned char *bytes = load("memory.checkpoint", &size);
    for (int k = 1;; k++) {
        dls_checkpoint *c = NULL;
        dls_error error = {0};
        counting_begin(k);
        dls_status status = dls_checkpoint_read_memory(bytes, size, &c, &error);
        dls_checkpoint_destroy(c);
        assert_int_equal(counting_end(), 0);
        if (!status) break;
        assert_int_equal(status, DLS_ERROR_MEMORY);
        assert_true(k < 20);
    }
    free(bytes);
}

/* ---- states that no run can have written ---- */

/* As they stand in the bytes of a state. */
typedef struct section_head {
    char tag[16];
    uint64_t version, size;
} section_head;
typedef struct state_sums {
    double step_length, t, rebased_t, base_energy, jump;
    int64_t step, rebased_step, started;
    double kinetic, potential, friction, impact, work, unaccounted;
    int64_t steps, certified, contacts, iterations;
    double worst_residual, worst_error, worst_held, penetration;
} state_sums;
typedef struct world_head {
    int64_t entries, told, rows, next_uid;
    double settled;
} world_head;
typedef struct world_entry {
    int32_t presence, leaving;
    dls_body_state state;
} world_entry;
typedef struct world_told {
    dls_pose start;
    double moved[6];
} world_told;
typedef struct world_row {
    int32_t id, uid;
} world_row;
typedef struct contacts_head {
    uint64_t magic;
    int64_t past, kept, points;
} contacts_head;

/* A world after some steps, and where things are in its state. */
typedef struct stand {
    dls_world *world;
    dls_simulation *simulation;
    unsigned char *bytes;
    size_t size, sums_at, world_at, entry_at, told_at, row_at, rows_end, contacts_at, past_at, kept_at,
        point_at, scheme_at;
    contacts_head contacts;
} stand;

static dls_simulation *start(dls_world *world) {
    dls_simulation_options options = dls_default_simulation_options();
    dls_simulation *simulation = NULL;
    options.step = 0.01;
    OK(dls_simulation_create(world, &options, &simulation, error));
    return simulation;
}

/* Where the section with a tag begins, behind its head. */
static size_t section_of(const stand *s, const char *tag, size_t *size) {
    section_head head = {{0}, 0, 0};
    for (size_t at = 8; at < s->size; at += sizeof head + head.size) {
        memcpy(&head, s->bytes + at, sizeof head);
        *size = head.size;
        if (!strcmp(head.tag, tag)) return at + sizeof head;
    }
    fail_msg("no section %s", tag);
    return 0;
}

static stand stand_create(const char *title, int steps) {
    stand s = {.world = checkpoint_world(title)};
    world_head head;
    size_t size;
    s.simulation = start(s.world);
    for (int k = 0; k < steps; k++) OK(dls_simulation_step(s.simulation, NULL, error));
    s.size = dls_simulation_state_size(s.simulation);
    s.bytes = malloc(s.size);
    dls_simulation_state_write(s.simulation, s.bytes);
    s.sums_at = section_of(&s, "simulation", &size);
    assert_int_equal(size, sizeof(state_sums));
    s.scheme_at = section_of(&s, "scheme", &size);
    assert_int_equal(size, DLS_NAME_SIZE);
    s.world_at = section_of(&s, "world", &size);
    memcpy(&head, s.bytes + s.world_at, sizeof head);
    s.entry_at = s.world_at + sizeof head;
    s.told_at = s.entry_at + sizeof(world_entry) * (size_t)head.entries;
    s.row_at = s.told_at + sizeof(world_told) * (size_t)head.told;
    s.rows_end = s.row_at + sizeof(world_row) * (size_t)head.rows;
    assert_int_equal(s.rows_end, s.world_at + size);
    s.contacts_at = section_of(&s, "collider", &size);
    memcpy(&s.contacts, s.bytes + s.contacts_at, sizeof s.contacts);
    s.past_at = s.contacts_at + sizeof s.contacts;
    s.kept_at = s.past_at + sizeof(dls_past_contact) * (size_t)s.contacts.past;
    s.point_at = s.kept_at + sizeof(dls_kept_pair) * (size_t)s.contacts.kept;
    assert_int_equal(s.point_at + sizeof(dls_contact_point) * (size_t)s.contacts.points,
                     s.contacts_at + size);
    return s;
}

static void stand_destroy(stand *s) {
    dls_simulation_destroy(s->simulation);
    dls_world_destroy(s->world);
    free(s->bytes);
}

/* Refused with these words, and the simulation that read it is as it was. */
static void refuse(const stand *s, size_t at, const void *value, size_t size, const char *words) {
    unsigned char *bad = malloc(s->size), *after = malloc(s->size);
    dls_error error = {0};
    memcpy(bad, s->bytes, s->size);
    memcpy(bad + at, value, size);
    if (!memcmp(bad, s->bytes, s->size)) fail_msg("no damage for '%s'", words);
    dls_status status = dls_simulation_state_read(s->simulation, bad, s->size, &error);
    if (!status) fail_msg("accepted: %s", words);
    assert_int_equal(status, DLS_ERROR_INPUT);
    expect(status, &error, words);
    assert_int_equal(dls_simulation_state_size(s->simulation), s->size);
    dls_simulation_state_write(s->simulation, after);
    if (memcmp(after, s->bytes, s->size)) fail_msg("not as it was: %s", words);
    free(bad);
    free(after);
}

#define REFUSE(base, type, member, kind, value, words)                                                       \
    refuse(&s, (base) + offsetof(type, member), &(kind){value}, sizeof(kind), words)

/* Refused with these words, and the simulation that read it is as it was. */
static void refuse_state(const stand *s, const unsigned char *bytes, size_t size, const char *words) {
    unsigned char *exact = malloc(size + !size), *after = malloc(s->size); /* a byte too far is seen */
    dls_error error = {0};
    if (size) memcpy(exact, bytes, size);
    expect(dls_simulation_state_read(s->simulation, exact, size, &error), &error, words);
    assert_int_equal(dls_simulation_state_size(s->simulation), s->size);
    dls_simulation_state_write(s->simulation, after);
    assert_memory_equal(after, s->bytes, s->size);
    free(exact);
    free(after);
}

/* Sections in any order are the same state; one that is unknown, missing, there twice, of another version or
 * size is named. */
static void test_sections_of_states(void **state) {
    (void)state;
    stand s = stand_create("shapes", 2);
    const size_t places[] = {s.sums_at, s.world_at, s.contacts_at, s.scheme_at};
    static const char *const tags[] = {"simulation", "world", "collider", "scheme"};
    section_head head;
    unsigned char *bytes = malloc(2 * s.size), *after = malloc(s.size);
    for (int k = 0; k < 4; k++) {
        size_t at = places[k] - sizeof head, size;
        char words[100];
        memcpy(&head, s.bytes + at, sizeof head);
        size = sizeof head + head.size;
        snprintf(words, sizeof words, "a state has no section '%s'", tags[k]);
        memcpy(bytes, s.bytes, at);
        memcpy(bytes + at, s.bytes + at + size, s.size - at - size);
        refuse_state(&s, bytes, s.size - size, words);
        memcpy(bytes + s.size - size, s.bytes + at, size); /* as the last one */
        OK(dls_simulation_state_read(s.simulation, bytes, s.size, error));
        dls_simulation_state_write(s.simulation, after);
        assert_memory_equal(after, s.bytes, s.size);
        memcpy(bytes + s.size, s.bytes + at, size);
        snprintf(words, sizeof words, "a state has the section '%s' twice", tags[k]);
        refuse_state(&s, bytes, s.size + size, words);
        snprintf(words, sizeof words, "section '%s' of a state has version 2, expected 1", tags[k]);
        REFUSE(at, section_head, version, uint64_t, 2, words);
        REFUSE(at, section_head, size, uint64_t, UINT64_MAX, "does not hold what it says");
        REFUSE(at, section_head, size, uint64_t, -sizeof head, "does not hold what it says");
        refuse(&s, at, "ranks\0\0\0\0\0\0\0\0\0\0", 16, "a state with a section 'ranks', which delassus ");
        refuse(&s, at, "a\nb\0\0\0\0\0\0\0\0\0\0\0\0", 16, "a section 'a?b', which");
    }
    for (size_t cut = 0; cut < s.size; cut += 1 + s.size / 500) refuse_state(&s, s.bytes, cut, "a state");
    char name[DLS_NAME_SIZE + 8] = "dvi";
    refuse(&s, s.scheme_at, name, DLS_NAME_SIZE,
           "a state of the scheme 'dvi', this simulation has 'moreau-jean'");
    memset(name, 'x', DLS_NAME_SIZE);
    refuse(&s, s.scheme_at, name, DLS_NAME_SIZE, "of the scheme 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', this");
    static const char *const later[] = {"gates", "turning", "joints"}; /* older ones lack them */
    for (int k = 0; k < 3; k++) {
        size_t size = 0, at = section_of(&s, later[k], &size) - sizeof head;
        memcpy(bytes, s.bytes, at);
        size += sizeof head;
        memcpy(bytes + at, s.bytes + at + size, s.size - at - size);
        OK(dls_simulation_state_read(s.simulation, bytes, s.size - size, error));
        dls_simulation_state_write(s.simulation, after);
        assert_memory_equal(after, s.bytes, s.size);
    }
    size_t turning_size = 0, turning_at = section_of(&s, "turning", &turning_size);
    refuse(&s, turning_at, &(double){NAN}, sizeof(double), "section 'turning' of a state has nan J");
    memcpy(bytes, s.bytes, turning_at);
    memcpy(bytes + turning_at - sizeof(uint64_t), &(uint64_t){4}, sizeof(uint64_t));
    memcpy(bytes + turning_at + 4, s.bytes + turning_at + 8, s.size - turning_at - 8);
    refuse_state(&s, bytes, s.size - 4, "section 'turning' of a state has 4 bytes, expected 8");
    memcpy(bytes, s.bytes, s.size);
    memcpy(&head, s.bytes + s.scheme_at - sizeof head, sizeof head);
    assert_int_equal(s.scheme_at + head.size, s.size); /* it is the last one: longer or shorter */
    head.size = DLS_NAME_SIZE - 1;
    memcpy(bytes + s.scheme_at - sizeof head, &head, sizeof head);
    refuse_state(&s, bytes, s.size - 1, "a state names no scheme");
    head.size = DLS_NAME_SIZE + 8;
    memcpy(bytes + s.scheme_at - sizeof head, &head, sizeof head);
    memset(bytes + s.size, 0, 8);
    refuse_state(&s, bytes, s.size + 8, "a state has 8 bytes of the scheme 'moreau-jean', expected none");
    free(bytes);
    free(after);
    stand_destroy(&s);
}

static void test_sums_of_states(void **state) {
    (void)state;
    stand s = stand_create("shapes", 2);
#define HEAD(member, kind, value, words) REFUSE(s.sums_at, state_sums, member, kind, value, words)
    HEAD(step, int64_t, -1, "its counts");
    HEAD(step, int64_t, INT64_MAX, "its counts");
    HEAD(rebased_step, int64_t, 3, "its counts");
    HEAD(started, int64_t, 2, "its counts");
    HEAD(steps, int64_t, 3, "its counts");
    HEAD(certified, int64_t, 3, "its counts");
    HEAD(contacts, int64_t, INT64_MAX, "its counts");
    HEAD(iterations, int64_t, -1, "its counts");
    HEAD(base_energy, double, NAN, "its energies");
    HEAD(kinetic, double, INFINITY, "its energies");
    HEAD(potential, double, NAN, "its energies");
    HEAD(friction, double, NAN, "its energies");
    HEAD(impact, double, NAN, "its energies");
    HEAD(work, double, -INFINITY, "its energies");
    HEAD(unaccounted, double, NAN, "its energies");
    HEAD(jump, double, NAN, "its energies or errors");
    HEAD(worst_residual, double, -1, "its energies or errors");
    HEAD(worst_error, double, NAN, "its energies or errors");
    HEAD(worst_held, double, -1, "its energies or errors");
    HEAD(penetration, double, -1, "its energies or errors");
    HEAD(step_length, double, 0, "its times");
    HEAD(step_length, double, 0.02, "its times");
    HEAD(step_length, double, INFINITY, "its times");
    HEAD(t, double, NAN, "its times");
    HEAD(t, double, 1, "its times");
    HEAD(rebased_t, double, -INFINITY, "its times");
    HEAD(rebased_t, double, 1, "its times");
    stand_destroy(&s);
    s = stand_create("shapes", 0); /* no time has passed, whatever a step is */
    HEAD(step_length, double, -1, "its times");
    stand_destroy(&s);
}

/* What has fewer digits than this library writes is brought to length 1; what has them keeps its bits. */
static void test_rough_orientations(void **state) {
    (void)state;
    stand s = stand_create("shapes", 2);
    size_t body = s.entry_at + 2 * sizeof(world_entry), beside = body + sizeof(world_entry);
    size_t places[] = {body + offsetof(world_entry, state.q), s.told_at + offsetof(world_told, start.q)};
    unsigned char *after = malloc(s.size);
    for (int k = 0; k < 2; k++) {
        double q[4], sum = 0;
        memcpy(q, s.bytes + places[k], sizeof q);
        for (int i = 0; i < 4; i++) q[i] *= 1 + 2e-7;
        memcpy(s.bytes + places[k], q, sizeof q);
        OK(dls_simulation_state_read(s.simulation, s.bytes, s.size, error));
        dls_simulation_state_write(s.simulation, after);
        memcpy(q, after + places[k], sizeof q);
        for (int i = 0; i < 4; i++) sum += q[i] * q[i];
        assert_true(fabs(sum - 1) < 1e-15);
        assert_memory_equal(after + beside, s.bytes + beside, sizeof(world_entry));
    }
    OK(dls_simulation_step(s.simulation, NULL, error));
    free(after);
    stand_destroy(&s);
}

static void test_worlds_of_states(void **state) {
    (void)state;
    stand s = stand_create("shapes", 2);
    size_t static_body = s.entry_at + sizeof(world_entry), body = static_body + sizeof(world_entry),
           last_row = s.rows_end - sizeof(world_row);
#define WORLD(member, value, words) REFUSE(s.world_at, world_head, member, int64_t, value, words)
    WORLD(entries, 13, "state of a world with 13 bodies");
    WORLD(told, 3, "(3 with forces or drives)");
    WORLD(rows, -1, "-1 bodies present, expected 0 to 12");
    WORLD(rows, 13, "13 bodies present, expected 0 to 12");
    WORLD(rows, 10, "bytes, expected ");
    WORLD(next_uid, 10, "10 rows so far, expected 11 to 12");
    WORLD(next_uid, INT32_MAX, "2147483647 rows so far, expected 11 to 12");
    WORLD(next_uid, 12, "12 rows so far, expected 11 to 11"); /* one still waits */
    REFUSE(s.world_at, world_head, settled, double, NAN, "its time is nan");
    REFUSE(s.world_at, world_head, settled, double, INFINITY, "its time is inf");
#define BODY(member, kind, value, words) REFUSE(body, world_entry, member, kind, value, words)
    BODY(presence, int32_t, 3, "body 2 is damaged: its presence is 3");
    BODY(presence, int32_t, -1, "body 2 is damaged: its presence is -1");
    BODY(presence, int32_t, DLS_GONE, "11 rows, expected 10 to 10");
    BODY(leaving, int32_t, 2, "body 2 is damaged: its presence");
    BODY(state.x[1], double, NAN, "body 2 is damaged: the body is at");
    BODY(state.x[1], double, 1e61, "body 2 is damaged: a position or velocity is beyond 1e+60");
    BODY(state.v[0], double, -1e61, "beyond 1e+60");
    BODY(state.w[2], double, 1e61, "beyond 1e+60");
    BODY(state.v[2], double, INFINITY, "velocity is not finite");
    BODY(state.q[0], double, 2, "its orientation has not length 1");
    BODY(state.q[3], double, NAN, "body 2 is damaged: the body has the orientation");
    REFUSE(static_body, world_entry, state.v[0], double, 1, "body 1 is damaged: velocity along x is 1");
    REFUSE(s.told_at, world_told, start.x[0], double, 1e61, "drive of body 0 is damaged");
    REFUSE(s.told_at, world_told, start.q[0], double, 2, "drive of body 0 is damaged");
    REFUSE(s.told_at, world_told, moved[5], double, NAN, "drive of body 0 is damaged");
    REFUSE(s.row_at, world_row, uid, int32_t, -1, "row 0 of the state");
    REFUSE(last_row, world_row, uid, int32_t, 11, "row 10 of the state");
    REFUSE(last_row, world_row, uid, int32_t, 0, "row 10 of the state");
    world_row twice[2];
    memcpy(twice, s.bytes + s.row_at, sizeof twice);
    REFUSE(s.row_at + sizeof(world_row), world_row, id, int32_t, twice[0].id, "has two rows");
    /* before the first and behind the last body, where other bytes look like one that is present */
    double one = 1 + DBL_EPSILON;
    memcpy(s.bytes + s.told_at, &one, sizeof one);
    size_t before = s.entry_at - sizeof(world_entry); /* there the sums count iterations */
    assert_int_equal(before, s.sums_at + offsetof(state_sums, iterations));
    memcpy(s.bytes + before, &(int64_t){DLS_PRESENT}, sizeof(int64_t));
    OK(dls_simulation_state_read(s.simulation, s.bytes, s.size, error));
    REFUSE(s.row_at, world_row, id, int32_t, 12, "row 0 of the state");
    REFUSE(s.row_at, world_row, id, int32_t, -1, "row 0 of the state");
    stand_destroy(&s);
    s = stand_create("plane", 2);
    REFUSE(s.entry_at + sizeof(world_entry), world_entry, state.x[2], double, 1, "expected 0 in the plane");
    REFUSE(s.entry_at + sizeof(world_entry), world_entry, state.w[0], double, 1, "angular velocity about x");
    stand_destroy(&s);
}

static void test_contacts_of_states(void **state) {
    (void)state;
    static const char no_memory[] = "no memory of contacts", wrong[] = "the memory of contacts names";
    stand s = stand_create("shapes", 2);
    assert_true(s.contacts.past > 1 && s.contacts.kept > 1 && s.contacts.points > 1);
#define COUNT(member, value) REFUSE(s.contacts_at, contacts_head, member, int64_t, value, no_memory)
    COUNT(magic, 0);
    COUNT(past, -1);
    COUNT(kept, INT64_MAX / 64);
    COUNT(points, s.contacts.points + 1);
    COUNT(points, s.contacts.points - 1);
    size_t last_past = s.kept_at - sizeof(dls_past_contact);
#define PAST(member, kind, value) REFUSE(last_past, dls_past_contact, member, kind, value, wrong)
    PAST(key.uid_a, int32_t, INT32_MAX);
    PAST(key.uid_b, int32_t, -1);
    PAST(key.local_a, int16_t, 1);
    REFUSE(s.past_at, dls_past_contact, key.local_a, int16_t, -1, wrong);
    PAST(key.image[1], int16_t, 1); /* no period along y */
    PAST(key.spare, int16_t, 1);
    PAST(closed, uint8_t, 2);
    PAST(spare[2], uint8_t, 1);
    PAST(impulse[1], double, NAN);
    PAST(moment[2], double, INFINITY);
    dls_past_contact past;
    memcpy(&past, s.bytes + last_past, sizeof past);
    const int32_t turned[2] = {past.key.uid_b, past.key.uid_a};
    refuse(&s, last_past, turned, sizeof turned, wrong);
    memcpy(&past, s.bytes + s.past_at + sizeof past, sizeof past);
    refuse(&s, s.past_at, &past, sizeof past, wrong); /* the same one twice */
    stand_destroy(&s);
}

static void test_pairs_of_states(void **state) {
    (void)state;
    static const char wrong[] = "the memory of contacts names";
    stand s = stand_create("shapes", 2);
    size_t count = (size_t)s.contacts.kept, last = count - 1, size = count * sizeof(dls_kept_pair);
#define KEPT(member, kind, value) REFUSE(s.kept_at, dls_kept_pair, member, kind, value, wrong)
    KEPT(key.uid_a, int32_t, INT32_MAX);
    KEPT(first, int32_t, 1);
    KEPT(count, int32_t, INT32_MAX);
    KEPT(spare, int32_t, 1);
    KEPT(swapped, uint64_t, 2);
    KEPT(memory.n[0], double, 1e300);
    KEPT(memory.n[0], double, NAN);
    KEPT(memory.used, int32_t, 2);
    dls_kept_pair *good = malloc(size), *bad = malloc(size);
    memcpy(good, s.bytes + s.kept_at, size);
    refuse(&s, s.kept_at, &good[1].key, sizeof good[1].key, wrong); /* the same one twice */
    memcpy(bad, good, size);
    bad[0].count = bad[1].first = -1; /* all points are someone's, but with one less than none */
    bad[1].count = good[1].first + good[1].count + 1;
    refuse(&s, s.kept_at, bad, size, wrong);
    memcpy(bad, good, size);
    while (last > 0 && bad[last].count == 0) bad[last--].first--;
    bad[last].count--; /* a point that is no one's */
    refuse(&s, s.kept_at, bad, size, wrong);
    free(good);
    free(bad);
#define POINT(member, kind, value) REFUSE(s.point_at, dls_contact_point, member, kind, value, wrong)
    POINT(point_a[0], double, NAN);
    POINT(point_b[2], double, INFINITY);
    POINT(normal[0], double, 1e200);
    POINT(normal[1], double, NAN);
    POINT(gap, double, NAN);
    stand_destroy(&s);
}

/* Whichever allocation fails, the simulation is as it was and goes on. */
static void test_memory_runs_out_in_a_state(void **state) {
    (void)state;
    stand s = stand_create("shapes", 2);
    unsigned char *before = malloc(s.size), *after = malloc(s.size);
    for (int k = 1;; k++) {
        dls_error error = {0};
        counting_begin(0);
        dls_world *world = checkpoint_world("shapes");
        dls_simulation *simulation = start(world);
        int made = counting_allocations();
        dls_simulation_destroy(simulation);
        dls_world_destroy(world);
        assert_int_equal(counting_end(), 0);
        counting_begin_once(made + k);
        world = checkpoint_world("shapes");
        simulation = start(world);
        size_t size = dls_simulation_state_size(simulation);
        assert_true(size <= s.size);
        dls_simulation_state_write(simulation, before);
        dls_status status = dls_simulation_state_read(simulation, s.bytes, s.size, &error);
        if (status) {
            assert_int_equal(status, DLS_ERROR_MEMORY);
            assert_int_equal(dls_simulation_state_size(simulation), size);
            dls_simulation_state_write(simulation, after);
            assert_memory_equal(before, after, size);
            assert_int_equal(dls_simulation_step(simulation, NULL, &error), DLS_OK);
        }
        dls_simulation_destroy(simulation);
        dls_world_destroy(world);
        assert_int_equal(counting_end(), 0);
        if (!status) break;
        assert_true(k < 100);
    }
    free(before);
    free(after);
    stand_destroy(&s);
}

/* What the head says of step and time is what the state has. */
static void test_heads_of_files(void **state) {
    (void)state;
    enum { AT_STEP = 16, AT_TIME = 24 };
    size_t size;
    dls_error error;
    dls_checkpoint *c;
    write_one("head.checkpoint", 2, 4);
    unsigned char *bytes = load("head.checkpoint", &size);
    const double nan = NAN, later = 1;
    const int64_t step = 5;
    const struct {
        size_t at;
        const void *value;
        const char *words;
    } list[] = {{AT_STEP, &step, "of another step than its head"},
                {AT_TIME, &nan, "of another step than its head"},
                {AT_TIME, &later, "of another step than its head"},
                {AT_STEP, &(int64_t){-1}, "of another step than its head"}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        unsigned char *bad = malloc(size);
        memcpy(bad, bytes, size);
        memcpy(bad + list[k].at, list[k].value, 8);
        checkpoint_seal(bad, size);
        expect(dls_checkpoint_read_memory(bad, size, &c, &error), &error, list[k].words);
        assert_null(c);
        free(bad);
    }
    free(bytes);
}

/* The inputs that fuzzing starts from are checkpoints that can be gone on with, not of a format of the past.
 */
static void test_fuzzing_starts_from_good_ones(void **state) {
    (void)state;
    for (int k = 0; k < CHECKPOINT_WORLDS; k++)
        for (int step = 0; step <= 4; step++) {
            char path[512];
            dls_checkpoint *c;
            snprintf(path, sizeof path, "%s/tests/fuzz/corpus/checkpoint/%s-%d", DLS_SOURCE_DIR,
                     checkpoint_worlds[k].title, step);
            OK(dls_checkpoint_read(path, &c, error));
            dls_world *world = checkpoint_world(dls_checkpoint_title(c));
            dls_simulation *simulation = start(world);
            OK(dls_checkpoint_restore(c, simulation, error));
            assert_int_equal(dls_simulation_steps(simulation), step);
            dls_checkpoint_destroy(c);
            dls_simulation_destroy(simulation);
            dls_world_destroy(world);
        }
}

/* Files of the version before: the same state, and the same bits from there on. */
static void test_files_of_version_2(void **state) {
    (void)state;
    for (int k = 0; k < CHECKPOINT_WORLDS; k++) {
        uint64_t hash[2];
        unsigned char *bytes[2];
        size_t size[2];
        for (int old = 0; old < 2; old++) {
            char path[512];
            dls_checkpoint *c;
            snprintf(path, sizeof path, "%s/tests/fuzz/corpus/checkpoint/%s%s-4", DLS_SOURCE_DIR,
                     old ? "version2-" : "", checkpoint_worlds[k].title);
            unsigned char *file = load(path, &size[old]);
            assert_int_equal(file[8], old ? 2 : 3);
            free(file);
            OK(dls_checkpoint_read(path, &c, error));
            dls_world *world = checkpoint_world(dls_checkpoint_title(c));
            dls_simulation *simulation = start(world);
            OK(dls_checkpoint_restore(c, simulation, error));
            bytes[old] = state_of(simulation, &size[old]);
            for (int step = 0; step < 3; step++) OK(dls_simulation_step(simulation, NULL, error));
            hash[old] = dls_simulation_hash(simulation);
            dls_checkpoint_destroy(c);
            dls_simulation_destroy(simulation);
            dls_world_destroy(world);
        }
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        assert_true(hash[0] == hash[1]);
        free(bytes[0]);
        free(bytes[1]);
    }
}

/* Its sizes are looked at before they are followed. */
static void test_states_of_version_2(void **state) {
    (void)state;
    stand s = stand_create("shapes", 2);
    const size_t sizes[2] = {s.rows_end - s.world_at, s.scheme_at - sizeof(section_head) - s.contacts_at};
    size_t size = 0;
    unsigned char *bytes = malloc(s.size), *after = malloc(s.size);
    const struct {
        const void *from;
        size_t size;
    } parts[] = {{sizes, sizeof sizes},
                 {s.bytes + s.sums_at, sizeof(state_sums)},
                 {s.bytes + s.world_at, sizes[0]},
                 {s.bytes + s.contacts_at, sizes[1]}};
    for (int k = 0; k < 4; k++) {
        memcpy(bytes + size, parts[k].from, parts[k].size);
        size += parts[k].size;
    }
    OK(dls_simulation_state_read(s.simulation, bytes, size, error));
    dls_simulation_state_write(s.simulation, after);
    assert_memory_equal(after, s.bytes, s.size);
    const uint64_t wrong[][2] = {{UINT64_MAX, sizes[1]}, {sizes[0], 0}, {size, -sizeof(state_sums)}};
    for (int k = 0; k < 3; k++) {
        memcpy(bytes, wrong[k], sizeof wrong[k]);
        refuse_state(&s, bytes, size, "does not hold what it says");
    }
    refuse_state(&s, bytes, sizeof sizes + sizeof(state_sums) - 1, "expected 192 or more");
    free(bytes);
    free(after);
    stand_destroy(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_goes_on_with_the_same_bits),
                                       cmocka_unit_test(test_words_come_back),
                                       cmocka_unit_test(test_damage_is_seen),
                                       cmocka_unit_test(test_foreign_files),
                                       cmocka_unit_test(test_unwritable),
                                       cmocka_unit_test(test_memory_runs_out),
                                       cmocka_unit_test(test_sections_of_states),
                                       cmocka_unit_test(test_sums_of_states),
                                       cmocka_unit_test(test_rough_orientations),
                                       cmocka_unit_test(test_worlds_of_states),
                                       cmocka_unit_test(test_contacts_of_states),
                                       cmocka_unit_test(test_pairs_of_states),
                                       cmocka_unit_test(test_memory_runs_out_in_a_state),
                                       cmocka_unit_test(test_heads_of_files),
                                       cmocka_unit_test(test_fuzzing_starts_from_good_ones),
                                       cmocka_unit_test(test_files_of_version_2),
                                       cmocka_unit_test(test_states_of_version_2)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Checkpoints: the state of a simulation and the words that made it, in one file with a checksum.
 *
 *     "DLSCHECK", format version, byte order mark      8 + 4 + 4 bytes
 *     step, time, tolerance, flags                     8 each
 *     sizes of the parts, in order                     8 each
 *     the parts: title, scene, solver, its options, settings (texts that end in a zero), state
 *     checksum over all that is before it              8
 *
 * Numbers are little-endian; the state is as the machine has it, which the byte order mark guards: tagged
 * sections (integrate/state.c), in files of version 2 its parts one behind the other. */
#include "base/error.h"
#include "base/memory.h"
#include "fclib/image.h"
#include "integrate/state.h"
#include "output/results/results.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = {'D', 'L', 'S', 'C', 'H', 'E', 'C', 'K'};

enum { CHECKPOINT_VERSION = 3, OLDEST_VERSION = 2, ORDER_MARK = 0x01020304 };
enum { PART_TITLE, PART_SCENE, PART_SOLVER, PART_OPTIONS, PART_SETTINGS, PART_STATE, PARTS };
enum { HEAD = 16 + 8 * 4 + 8 * PARTS, SUM_SIZE = 8 };
enum {
    AT_VERSION = 8,
    AT_ORDER = 12,
    AT_STEP = 16,
    AT_TIME = 24,
    AT_TOLERANCE = 32,
    AT_FLAGS = 40,
    AT_SIZES = 48
};

struct dls_checkpoint {
    dls_image image;
    dls_file_name name;
    int64_t step;
    double time;
    const char *part[PARTS];
    uint64_t size[PARTS];
    int setting_count;
    const char **settings;
};

/* ---- checksum: four lanes of 64 bits, each multiplied and turned, folded at the end ---- */

static uint64_t turn(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 32;
}

static uint64_t number_at(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int k = 7; k >= 0; k--) value = value << 8 | bytes[k];
    return value;
}

static void put_number(uint8_t *bytes, uint64_t value) {
    for (int k = 0; k < 8; k++) bytes[k] = (uint8_t)(value >> 8 * k);
}

/* Every lane's step is one to one in the word and in the lane, so a change of one word always shows. */
static uint64_t checksum(const uint8_t *bytes, size_t size) {
    uint64_t lane[4] = {0x243f6a8885a308d3u, 0x13198a2e03707344u, 0xa4093822299f31d0u, 0x082efa98ec4e6c89u};
    size_t words = size / 8;
    for (size_t k = 0; k < words; k++)
        lane[k % 4] = turn((lane[k % 4] ^ number_at(bytes + 8 * k)) * 0x9e3779b97f4a7c15u, 27);
    uint8_t rest[8] = {0};
    memcpy(rest, bytes + 8 * words, size % 8);
    uint64_t sum = mix(size ^ number_at(rest) * 0xd6e8feb86659fd93u);
    for (int k = 0; k < 4; k++) sum = mix(sum ^ lane[k]);
    return sum;
}

/* ---- writing ---- */

static size_t settings_size(const dls_results_def *def) {
    size_t size = 0;
    for (int k = 0; k < def->setting_count; k++) size += strlen(def->settings[k]) + 1;
    return size;
}

static void put_head(uint8_t *bytes, const dls_simulation *simulation, const dls_results_def *def,
                     const uint64_t *size) {
    double time = dls_simulation_time(simulation);
    uint32_t order = ORDER_MARK;
    uint64_t number;
    memset(bytes, 0, HEAD);
    memcpy(bytes, magic, sizeof magic);
    bytes[AT_VERSION] = CHECKPOINT_VERSION;
    memcpy(bytes + AT_ORDER, &order, sizeof order);
    put_number(bytes + AT_STEP, (uint64_t)dls_simulation_steps(simulation));
    memcpy(&number, &time, sizeof number);
    put_number(bytes + AT_TIME, number);
    memcpy(&number, &def->tolerance, sizeof number);
    put_number(bytes + AT_TOLERANCE, number);
    put_number(bytes + AT_FLAGS, def->contacts);
    for (int k = 0; k < PARTS; k++) put_number(bytes + AT_SIZES + 8 * k, size[k]);
}

/* All of it in memory: the sum is over the bytes that are written. */
static uint8_t *encode(const dls_simulation *simulation, const dls_results_def *def, size_t *total) {
    const char *texts[] = {def->title, def->scene_text, def->solver, def->solver_options};
    uint64_t size[PARTS];
    *total = HEAD + SUM_SIZE;
    for (int k = 0; k < PART_SETTINGS; k++) size[k] = texts[k] ? strlen(texts[k]) + 1 : 1;
    size[PART_SETTINGS] = settings_size(def);
    size[PART_STATE] = dls_simulation_state_size(simulation);
    for (int k = 0; k < PARTS; k++) *total += (size_t)size[k];
    uint8_t *bytes = dls_alloc(*total, 1), *at = bytes + HEAD;
    /* the state wants to be aligned where it is written and read */
    void *state = dls_alloc((size_t)size[PART_STATE], 1);
    if (bytes && state) {
        put_head(bytes, simulation, def, size);
        for (int k = 0; k < PART_SETTINGS; at += size[k++])
            memcpy(at, texts[k] ? texts[k] : "", (size_t)size[k]);
        for (int k = 0; k < def->setting_count; k++) {
            size_t length = strlen(def->settings[k]) + 1;
            memcpy(at, def->settings[k], length);
            at += length;
        }
        dls_simulation_state_write(simulation, state);
        memcpy(at, state, (size_t)size[PART_STATE]);
        put_number(bytes + *total - SUM_SIZE, checksum(bytes, *total - SUM_SIZE));
    } else {
        dls_free(bytes);
        bytes = NULL;
    }
    dls_free(state);
    return bytes;
}

dls_status dls_checkpoint_write(const char *path, const dls_simulation *simulation,
                                const dls_results_def *def, dls_error *error) {
    dls_error_clear(error);
    if (!path || !simulation || !def || (def->setting_count && !def->settings))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "path, simulation and def are needed, got NULL");
    size_t size;
    uint8_t *bytes = encode(simulation, def, &size);
    if (!bytes) return dls_fail_memory(error);
    dls_status status = dls_file_write(path, bytes, size, error);
    dls_free(bytes);
    return status;
}

/* ---- reading ---- */

static dls_status fail_damaged(const dls_checkpoint *c, const char *what, dls_error *error) {
    return dls_fail(error, DLS_ERROR_FILE, "%s: damaged checkpoint: %s", c->name.text, what);
}

static dls_status check_head(const dls_checkpoint *c, dls_error *error) {
    const uint8_t *bytes = c->image.bytes;
    uint32_t order = 0;
    if (c->image.size < sizeof magic || memcmp(bytes, magic, sizeof magic))
        return dls_fail(error, DLS_ERROR_FILE, "%s: no checkpoint: it begins with other letters than %.8s",
                        c->name.text, magic);
    if (c->image.size < HEAD + SUM_SIZE) return fail_damaged(c, "it ends within its head", error);
    memcpy(&order, bytes + AT_ORDER, sizeof order);
    unsigned version = (unsigned)bytes[AT_VERSION] | (unsigned)bytes[AT_VERSION + 1] << 8 |
                       (unsigned)bytes[AT_VERSION + 2] << 16 | (unsigned)bytes[AT_VERSION + 3] << 24;
    if (version < OLDEST_VERSION || version > CHECKPOINT_VERSION)
        return dls_fail(error, DLS_ERROR_FILE,
                        "%s: checkpoint of format version %u, expected %d or %d: it is of another version of "
                        "delassus than this (%s)",
                        c->name.text, version, OLDEST_VERSION, CHECKPOINT_VERSION, dls_version());
    if (order != ORDER_MARK)
        return dls_fail(error, DLS_ERROR_FILE, "%s: checkpoint of a machine with another order of bytes",
                        c->name.text);
    return DLS_OK;
}

static dls_status find_parts(dls_checkpoint *c, dls_error *error) {
    const uint8_t *bytes = c->image.bytes;
    uint64_t room = c->image.size - HEAD - SUM_SIZE, at = HEAD;
    for (int k = 0; k < PARTS; k++) {
        c->size[k] = number_at(bytes + AT_SIZES + 8 * k);
        if (c->size[k] > room)
            return dls_fail(error, DLS_ERROR_FILE,
                            "%s: damaged checkpoint: %zu bytes are there, expected %" PRIu64 " more",
                            c->name.text, c->image.size, c->size[k] - room);
        c->part[k] = (const char *)bytes + at;
        room -= c->size[k];
        at += c->size[k];
    }
    if (room) return fail_damaged(c, "there are bytes behind its end", error);
    if (checksum(bytes, c->image.size - SUM_SIZE) != number_at(bytes + at))
        return fail_damaged(c, "its checksum is wrong", error);
    return DLS_OK;
}

static dls_status find_texts(dls_checkpoint *c, dls_error *error) {
    for (int k = 0; k < PART_SETTINGS; k++)
        if (c->size[k] == 0 || memchr(c->part[k], '\0', (size_t)c->size[k]) != c->part[k] + c->size[k] - 1)
            return fail_damaged(c, "a text does not end where it should", error);
    const char *at = c->part[PART_SETTINGS], *end = at + c->size[PART_SETTINGS];
    if (at < end && end[-1]) return fail_damaged(c, "a setting does not end", error);
    if (c->size[PART_SETTINGS] > INT_MAX) return fail_damaged(c, "its settings are too long", error);
    for (const char *k = at; k < end; k++) c->setting_count += !*k;
    c->settings = DLS_NEW(const char *, c->setting_count);
    if (!c->settings) return dls_fail_memory(error);
    for (int k = 0; k < c->setting_count; k++, at += strlen(at) + 1) c->settings[k] = at;
    return DLS_OK;
}

/* Step and time stand in the head for those who look at it alone; the state has them, too. */
static dls_status check_state(dls_checkpoint *c, dls_error *error) {
    dls_error inner = {0};
    int64_t step = 0;
    double time = 0;
    uint64_t number = number_at(c->image.bytes + AT_TIME);
    memcpy(&c->time, &number, sizeof c->time);
    c->step = (int64_t)number_at(c->image.bytes + AT_STEP);
    if (dls_simulation_state_peek(c->part[PART_STATE], (size_t)c->size[PART_STATE], &step, &time, &inner))
        return fail_damaged(c, inner.message, error);
    if (c->step != step || !(c->time == time))
        return fail_damaged(c, "its state is of another step than its head", error);
    return DLS_OK;
}

/* Takes image over, whatever happens. */
static dls_status decode(dls_image image, const char *path, dls_checkpoint **checkpoint, dls_error *error) {
    dls_checkpoint *c = DLS_NEW_ZERO(dls_checkpoint, 1);
    if (!c) {
        dls_image_free(&image);
        return dls_fail_memory(error);
    }
    c->image = image;
    c->name = dls_file_name_of(path);
    dls_status status = check_head(c, error);
    if (!status) status = find_parts(c, error);
    if (!status) status = find_texts(c, error);
    if (!status) status = check_state(c, error);
    if (status)
        dls_checkpoint_destroy(c);
    else
        *checkpoint = c;
    return status;
}

/* What does not begin like a checkpoint is not read to its end. */
static dls_status read_input(const dls_input *input, const char *path, dls_image *image, dls_error *error) {
    char first[sizeof magic] = {0};
    bool is_ours = pread(input->descriptor, first, sizeof first, 0) == sizeof first &&
                   !memcmp(first, magic, sizeof magic);
    size_t size = is_ours ? (size_t)input->size : 0;
    *image = (dls_image){dls_alloc(size, 1), size};
    if (!image->bytes) return dls_fail_memory(error);
    int64_t got = dls_input_read(input, image->bytes, size);
    if (got < 0) return dls_input_fail(path, errno, error);
    image->size = (size_t)got;
    return DLS_OK;
}

dls_status dls_checkpoint_read(const char *path, dls_checkpoint **checkpoint, dls_error *error) {
    dls_error_clear(error);
    if (!path || !checkpoint)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "path and checkpoint are needed, got NULL");
    *checkpoint = NULL;
    dls_image image = {0};
    dls_input input;
    dls_status status = dls_input_open(path, DLS_INPUT_FILE, "a checkpoint file", &input, error);
    if (!status) status = read_input(&input, path, &image, error);
    dls_input_close(&input);
    if (!status) return decode(image, path, checkpoint, error);
    dls_image_free(&image);
    return status;
}

dls_status dls_checkpoint_read_memory(const void *bytes, size_t size, dls_checkpoint **checkpoint,
                                      dls_error *error) {
    dls_error_clear(error);
    if ((!bytes && size) || !checkpoint)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "bytes and checkpoint are needed, got NULL");
    *checkpoint = NULL;
    dls_image image = {dls_alloc_copy(bytes, size, 1), size};
    if (!image.bytes) return dls_fail_memory(error);
    return decode(image, "(memory)", checkpoint, error);
}

void dls_checkpoint_destroy(dls_checkpoint *checkpoint) {
    if (!checkpoint) return;
    dls_image_free(&checkpoint->image);
    dls_free(checkpoint->settings);
    dls_free(checkpoint);
}

int64_t dls_checkpoint_step(const dls_checkpoint *checkpoint) { return checkpoint->step; }
double dls_checkpoint_time(const dls_checkpoint *checkpoint) { return checkpoint->time; }
int dls_checkpoint_setting_count(const dls_checkpoint *checkpoint) { return checkpoint->setting_count; }
const char *dls_checkpoint_title(const dls_checkpoint *c) { return c->part[PART_TITLE]; }
const char *dls_checkpoint_scene_text(const dls_checkpoint *c) { return c->part[PART_SCENE]; }
const char *dls_checkpoint_solver(const dls_checkpoint *c) { return c->part[PART_SOLVER]; }
const char *dls_checkpoint_solver_options(const dls_checkpoint *c) { return c->part[PART_OPTIONS]; }

const char *dls_checkpoint_setting(const dls_checkpoint *checkpoint, int index) {
    return index >= 0 && index < checkpoint->setting_count ? checkpoint->settings[index] : NULL;
}

dls_status dls_checkpoint_restore(const dls_checkpoint *checkpoint, dls_simulation *simulation,
                                  dls_error *error) {
    dls_error_clear(error);
    if (!checkpoint || !simulation)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "checkpoint and simulation are needed, got NULL");
    size_t size = (size_t)checkpoint->size[PART_STATE];
    void *state = dls_alloc_copy(checkpoint->part[PART_STATE], size, 1);
    if (!state) return dls_fail_memory(error);
    dls_error inner = {0};
    dls_status status = dls_simulation_state_read(simulation, state, size, &inner);
    dls_free(state);
    if (!status) return DLS_OK;
    return dls_fail(error, status, "%s: %s", checkpoint->name.text, inner.message);
}

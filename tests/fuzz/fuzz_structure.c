/* Numbers put into the blocks of HDF5 in sound results files, under checksums that are right: refused in one
 * line before HDF5 sees any of it, or read, and gone on with.
 *
 * The first byte chooses the sample; each 12 bytes after it are a block, a place in it, how many bytes are
 * put there, and these. */
#include "results_samples.h"

#include "support/forge.h"

#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size,
                                              size_t room); /* in a fuzzer, not in a replay */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static forge_sample samples[SAMPLES];
static char paths[SAMPLES][64]; /* each holds its sample between two inputs */
static dls_scene *scenes[SAMPLES];

static void begin(void) {
    if (scenes[0]) return;
    sample_begin();
    for (int k = 0; k < SAMPLES; k++) {
        snprintf(paths[k], sizeof paths[k], "%s/sample-%d.h5", sample_folder, k);
        sample_run(k, paths[k]);
        samples[k].bytes = sample_bytes(paths[k], &samples[k].size);
        forge_find(&samples[k], "EADB EASB FHIB");
        scenes[k] = sample_scene(k);
    }
}

static bool is_refused(dls_status status, const dls_error *error) {
    if (!status) return false;
    if (error->status == status && error->message[0] && !strchr(error->message, '\n')) return true;
    fprintf(stderr, "no good message: %s\n", error->message);
    abort();
}

/* All that HDF5 is asked for. */
static void read_all(const char *path) {
    dls_results *r = NULL;
    dls_error error = {0};
    const dls_file *files;
    int count;
    if (is_refused(dls_results_open(path, &r, &error), &error)) return;
    dls_body_state *states = calloc((size_t)dls_results_body_count(r) + 1, sizeof *states);
    for (int k = 0; k < dls_results_frame_count(r); k++) {
        dls_contact_record *contacts =
            calloc((size_t)dls_results_frame_contact_count(r, k) + 1, sizeof *contacts);
        is_refused(dls_results_frame_states(r, k, states, NULL, &error), &error);
        is_refused(dls_results_frame_contacts(r, k, contacts, &error), &error);
        free(contacts);
    }
    for (int64_t k = 0; k < dls_results_step_count(r); k++) {
        dls_step_report report;
        if (is_refused(dls_results_steps(r, k, 1, &report, &error), &error)) break;
    }
    is_refused(dls_results_files(r, &count, &files, &error), &error);
    free(states);
    dls_results_destroy(r);
}

static void go_on(const char *path, dls_scene *scene, int64_t step) {
    dls_results_writer *writer = NULL;
    dls_error error = {0};
    if (!is_refused(dls_results_continue(path, dls_scene_world(scene), step, &writer, &error), &error))
        is_refused(dls_results_close(writer, NULL, &error), &error);
}

/* ---- numbers ---- */

enum { RECORD = 12 };

static void put(int file, const uint8_t *bytes, size_t begin, size_t size) {
    if (pwrite(file, bytes + begin, size, (off_t)begin) != (ssize_t)size) abort();
}

static void put_block(int file, const uint8_t *bytes, const forge_block *b) {
    put(file, bytes, b->begin, b->size);
    put(file, bytes, b->sum, 4);
}

/* Blocks that are changed, a bit each. */
typedef struct changed {
    uint64_t bits[FORGE_BLOCKS / 64 + 1];
} changed;

static bool is_changed(const changed *c, int block) { return c->bits[block / 64] >> block % 64 & 1; }

static void put_records(const forge_sample *s, uint8_t *bytes, const uint8_t *data, size_t size, changed *c) {
    for (size_t at = 0; at + RECORD <= size; at += RECORD) {
        int block = data[at] % s->block_count;
        const forge_block *b = &s->blocks[block];
        size_t place = (data[at + 1] + 256u * data[at + 2]) % b->size, count = 1 + data[at + 3] % 8;
        if (count > b->size - place) count = b->size - place;
        memcpy(bytes + b->begin + place, data + at + 4, count);
        c->bits[block / 64] |= UINT64_C(1) << block % 64;
    }
}

/* As it was; where a run went on the file is another one. */
static void restore(const forge_sample *s, const char *path, uint8_t *bytes, const changed *c, bool whole) {
    int file = open(path, O_WRONLY | O_CREAT | (whole ? O_TRUNC : 0), 0666);
    if (file < 0) abort();
    if (whole) put(file, s->bytes, 0, s->size);
    for (int k = 0; k < s->block_count; k++) {
        const forge_block *b = &s->blocks[k];
        if (!is_changed(c, k)) continue;
        if (!whole) put_block(file, s->bytes, b);
        memcpy(bytes + b->begin, s->bytes + b->begin, b->size);
        memcpy(bytes + b->sum, s->bytes + b->sum, 4);
    }
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t *copies[SAMPLES];
    begin();
    if (size < 1) return 0;
    int which = data[0] % SAMPLES;
    const forge_sample *s = &samples[which];
    changed c = {0};
    bool goes_on = data[0] / SAMPLES % 8 == 0;
    if (!copies[which]) copies[which] = memcpy(malloc(s->size), s->bytes, s->size);
    put_records(s, copies[which], data + 1, size - 1, &c);
    int file = open(paths[which], O_WRONLY);
    for (int k = 0; k < s->block_count; k++) {
        if (!is_changed(&c, k)) continue;
        forge_seal_block(copies[which], &s->blocks[k]);
        put_block(file, copies[which], &s->blocks[k]);
    }
    close(file);
    read_all(paths[which]);
    if (goes_on) go_on(paths[which], scenes[which], 2);
    restore(s, paths[which], copies[which], &c, goes_on);
    return 0;
}

/* Addresses of blocks and numbers near those that are there lead farther than any bytes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
    begin();
    unsigned choice = seed >> 3;
    if (seed % 4 == 0 || size < 1 || room < 1 + RECORD) return LLVMFuzzerMutate(data, size, room);
    const forge_sample *s = &samples[data[0] % SAMPLES];
    size_t records = (size - 1) / RECORD, at = choice % (records + 1);
    if (at == records && 1 + (records + 1) * RECORD > room) at = 0;
    if (at == records) size = 1 + (records + 1) * RECORD;
    uint8_t *record = data + 1 + at * RECORD;
    int block = (int)(choice / 5 % (unsigned)s->block_count);
    const forge_block *b = &s->blocks[block];
    uint64_t value = s->blocks[choice / 17 % (unsigned)s->block_count].begin;
    size_t place = choice / 3 % b->size;
    if (seed % 4 == 2) { /* over an address */
        size_t field = s->fields[choice % (unsigned)s->field_count];
        for (block = 0;
             field < s->blocks[block].begin || field >= s->blocks[block].begin + s->blocks[block].size;)
            block++;
        place = field - s->blocks[block].begin;
    } else if (seed % 4 == 3) { /* nearly the same */
        value = check_number(s->bytes + b->begin + place, 1) + (choice % 2 ? 1 : 255);
    }
    record[0] = (uint8_t)block;
    record[1] = (uint8_t)place;
    record[2] = (uint8_t)(place >> 8);
    record[3] = seed % 4 == 3 ? 0 : 7;
    memcpy(record + 4, &value, sizeof value);
    return size;
}

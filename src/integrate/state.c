/* A simulation's state as bytes: "DLSSTATE", then one section per part,
 *
 *     tag 16 bytes, zeros behind it     version 8     size 8     so many bytes
 *
 * in any order, each once. What a later part keeps is a section more; what one of them does not know is
 * refused by its tag. The bytes have no alignment. */
#include "integrate/state.h"

#include "base/error.h"
#include "integrate/scheme.h"
#include "world/solid/solid.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char magic[8] = {'D', 'L', 'S', 'S', 'T', 'A', 'T', 'E'};

enum { TAG_SIZE = 16 };

typedef struct section_head {
    char tag[TAG_SIZE];
    uint64_t version, size;
} section_head;

/* The simulation's own section: times, energies, and its summary, seconds aside. */
typedef struct state_sums {
    double step_length, t, rebased_t, base_energy, jump;
    int64_t step, rebased_step, started;
    double kinetic, potential, friction, impact, work, unaccounted;
    int64_t steps, certified, contacts, iterations;
    double worst_residual, worst_error, worst_held, penetration;
} state_sums;

/* ---- the parts ---- */

static size_t sums_size(const dls_simulation *s) {
    (void)s;
    return sizeof(state_sums);
}

static void sums_write(const dls_simulation *s, void *bytes) {
    const dls_run_summary *sum = &s->summary;
    state_sums sums = {.step_length = s->options.step,
                       .t = s->t,
                       .rebased_t = s->rebased_t,
                       .base_energy = s->base_energy,
                       .jump = s->jump,
                       .step = s->step,
                       .rebased_step = s->rebased_step,
                       .started = s->started,
                       .kinetic = s->energy.kinetic,
                       .potential = s->energy.potential,
                       .friction = s->energy.friction,
                       .impact = s->energy.impact,
                       .work = s->energy.work,
                       .unaccounted = s->energy.unaccounted,
                       .steps = sum->steps,
                       .certified = sum->certified,
                       .contacts = sum->contacts,
                       .iterations = sum->iterations,
                       .worst_residual = sum->worst_residual,
                       .worst_error = sum->worst_error,
                       .worst_held = sum->worst_held,
                       .penetration = sum->penetration};
    memcpy(bytes, &sums, sizeof sums);
}

static size_t world_size(const dls_simulation *s) { return dls_world_memory_size(s->world); }
static void world_write(const dls_simulation *s, void *bytes) { dls_world_memory_write(s->world, bytes); }

static size_t collider_size(const dls_simulation *s) { return dls_collider_memory_size(s->collider); }
static void collider_write(const dls_simulation *s, void *bytes) {
    dls_collider_memory_write(s->collider, bytes);
}

/* Its name, and what it keeps. */
static size_t scheme_size(const dls_simulation *s) {
    return DLS_NAME_SIZE + (s->scheme->state_size ? s->scheme->state_size(s) : 0);
}

static void scheme_write(const dls_simulation *s, void *bytes) {
    memset(bytes, 0, DLS_NAME_SIZE);
    memcpy(bytes, s->scheme->name, strlen(s->scheme->name));
    if (s->scheme->state_write) s->scheme->state_write(s, (char *)bytes + DLS_NAME_SIZE);
}

/* What came and went, over all steps and since the last one, and what gates have done. */
typedef struct state_traffic {
    dls_traffic all, pending;
} state_traffic;

static size_t gates_size(const dls_simulation *s) {
    return sizeof(state_traffic) + dls_gates_memory_size(s->gates);
}

static void gates_write(const dls_simulation *s, void *bytes) {
    state_traffic traffic = {s->summary.traffic, s->pending};
    memcpy(bytes, &traffic, sizeof traffic);
    dls_gates_memory_write(s->gates, (char *)bytes + sizeof traffic);
}

/* What friction against turning took so far, and what the scheme made in solids. */
static size_t number_size(const dls_simulation *s) {
    (void)s;
    return sizeof(double);
}

static void turning_write(const dls_simulation *s, void *bytes) {
    memcpy(bytes, &s->energy.turning, sizeof(double));
}

static void numerical_write(const dls_simulation *s, void *bytes) {
    memcpy(bytes, &s->energy.numerical, sizeof(double));
}

/* Energies of joints so far, and what they keep. */
typedef struct state_joints {
    double joints, spring, motors;
} state_joints;

static size_t joints_size(const dls_simulation *s) {
    return sizeof(state_joints) + dls_joints_memory_size(s->world);
}

static void joints_write(const dls_simulation *s, void *bytes) {
    state_joints sums = {s->energy.joints, s->energy.spring, s->energy.motors};
    memcpy(bytes, &sums, sizeof sums);
    dls_joints_memory_write(s->world, (char *)bytes + sizeof sums);
}

/* Energies of solids so far, and their q and u. */
typedef struct state_solids {
    double strain, damping;
} state_solids;

static size_t solids_size(const dls_simulation *s) {
    return sizeof(state_solids) + dls_solids_memory_size(s->world);
}

static void solids_write(const dls_simulation *s, void *bytes) {
    state_solids sums = {s->energy.strain, s->energy.damping};
    memcpy(bytes, &sums, sizeof sums);
    dls_solids_memory_write(s->world, (char *)bytes + sizeof sums);
}

/* Steps that were not certified, by the reason. */
static size_t reasons_size(const dls_simulation *s) { return sizeof s->summary.uncertified; }

static void reasons_write(const dls_simulation *s, void *bytes) {
    memcpy(bytes, s->summary.uncertified, sizeof s->summary.uncertified);
}

enum { REASONS, GATES, TURNING, NUMERICAL, JOINTS, SOLIDS, SIMULATION, WORLD, COLLIDER, SCHEME, PARTS };

static const struct {
    const char *tag;
    uint64_t version;
    size_t (*size)(const dls_simulation *s);
    void (*write)(const dls_simulation *s, void *bytes);
    bool may_lack; /* older states have none */
} parts[PARTS] = {[REASONS] = {"reasons", 1, reasons_size, reasons_write, true},
                  [GATES] = {"gates", 1, gates_size, gates_write, true},
                  [TURNING] = {"turning", 1, number_size, turning_write, true},
                  [NUMERICAL] = {"numerical", 1, number_size, numerical_write, true},
                  [JOINTS] = {"joints", 1, joints_size, joints_write, true},
                  [SOLIDS] = {"solids", 1, solids_size, solids_write, true},
                  [SIMULATION] = {"simulation", 1, sums_size, sums_write, false},
                  [WORLD] = {"world", 1, world_size, world_write, false},
                  [COLLIDER] = {"collider", 1, collider_size, collider_write, false},
                  [SCHEME] = {"scheme", 1, scheme_size, scheme_write, false}};

/* ---- writing ---- */

size_t dls_simulation_state_size(const dls_simulation *s) {
    size_t size = sizeof magic;
    for (int k = 0; k < PARTS; k++) size += sizeof(section_head) + parts[k].size(s);
    return size;
}

void dls_simulation_state_write(const dls_simulation *s, void *bytes) {
    char *at = bytes;
    memcpy(at, magic, sizeof magic);
    at += sizeof magic;
    for (int k = 0; k < PARTS; k++) {
        section_head head = {.version = parts[k].version, .size = parts[k].size(s)};
        memcpy(head.tag, parts[k].tag, strlen(parts[k].tag));
        memcpy(at, &head, sizeof head);
        parts[k].write(s, at + sizeof head);
        at += sizeof head + head.size;
    }
}

/* ---- sections ---- */

/* Where the bytes of a part are; NULL where it has none. */
typedef struct section {
    const char *bytes;
    size_t size;
} section;

static int part_of(const char *tag) {
    for (int k = 0; k < PARTS; k++) {
        char padded[TAG_SIZE] = {0};
        memcpy(padded, parts[k].tag, strlen(parts[k].tag));
        if (!memcmp(padded, tag, TAG_SIZE)) return k;
    }
    return -1;
}

/* A name from bytes that may be anything, to be shown. */
static const char *shown(const char *bytes, size_t size, char *text) {
    size_t length = strnlen(bytes, size);
    for (size_t k = 0; k < length; k++) text[k] = isprint((unsigned char)bytes[k]) ? bytes[k] : '?';
    text[length] = '\0';
    return text;
}

static dls_status fail_size(size_t size, dls_error *error) {
    return dls_fail(error, DLS_ERROR_INPUT, "a state of %zu bytes does not hold what it says", size);
}

static dls_status check_section(const section_head *head, const section *found, int *part, dls_error *error) {
    char text[TAG_SIZE + 1];
    *part = part_of(head->tag);
    if (*part < 0)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "a state with a section '%s', which delassus %s does not know",
                        shown(head->tag, TAG_SIZE, text), dls_version());
    if (head->version != parts[*part].version)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "section '%s' of a state has version %" PRIu64 ", expected %" PRIu64,
                        parts[*part].tag, head->version, parts[*part].version);
    if (found[*part].bytes)
        return dls_fail(error, DLS_ERROR_INPUT, "a state has the section '%s' twice", parts[*part].tag);
    return DLS_OK;
}

static dls_status find_sections(const char *bytes, size_t size, section *found, dls_error *error) {
    const char *at = bytes + sizeof magic;
    size_t left = size - sizeof magic;
    while (left > 0) {
        section_head head;
        int part;
        if (left < sizeof head) return fail_size(size, error);
        memcpy(&head, at, sizeof head);
        dls_status status = check_section(&head, found, &part, error);
        if (status) return status;
        if (head.size > left - sizeof head) return fail_size(size, error);
        found[part] = (section){at + sizeof head, (size_t)head.size};
        at += sizeof head + head.size;
        left -= sizeof head + (size_t)head.size;
    }
    for (int k = 0; k < PARTS; k++)
        if (!found[k].bytes && !parts[k].may_lack)
            return dls_fail(error, DLS_ERROR_INPUT, "a state has no section '%s'", parts[k].tag);
    return DLS_OK;
}

/* States of checkpoints of version 2: sizes of world and collider, the sums, world, collider; of the scheme
 * nothing. */
static dls_status find_untagged(const char *bytes, size_t size, section *found, dls_error *error) {
    uint64_t sizes[2];
    const size_t before = sizeof sizes + sizeof(state_sums);
    if (size < before)
        return dls_fail(error, DLS_ERROR_INPUT, "a state has %zu bytes, expected %zu or more", size, before);
    memcpy(sizes, bytes, sizeof sizes);
    uint64_t rest = size - before;
    if (sizes[0] > rest || sizes[1] != rest - sizes[0]) return fail_size(size, error);
    found[SIMULATION] = (section){bytes + sizeof sizes, sizeof(state_sums)};
    found[WORLD] = (section){bytes + before, (size_t)sizes[0]};
    found[COLLIDER] = (section){bytes + before + sizes[0], (size_t)sizes[1]};
    return DLS_OK;
}

/* ---- reading ---- */

/* Counts are summed and subtracted later: none may be near the end of its type. */
static bool counts_make_sense(const state_sums *sums) {
    const int64_t most = INT64_C(1) << 53;
    const int64_t counts[] = {sums->step,      sums->rebased_step, sums->steps,
                              sums->certified, sums->contacts,     sums->iterations};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i] < 0 || counts[i] > most) return false;
    return sums->rebased_step <= sums->step && sums->certified <= sums->steps && sums->steps <= sums->step &&
           (sums->started == 0 || sums->started == 1);
}

static bool numbers_make_sense(const state_sums *sums) {
    const double finite[] = {sums->base_energy, sums->kinetic, sums->potential,  sums->friction,
                             sums->impact,      sums->work,    sums->unaccounted};
    const double not_negative[] = {sums->jump, sums->worst_residual, sums->worst_error, sums->penetration};
    for (size_t i = 0; i < sizeof finite / sizeof *finite; i++)
        if (!isfinite(finite[i])) return false;
    for (size_t i = 0; i < sizeof not_negative / sizeof *not_negative; i++)
        if (!(not_negative[i] >= 0)) return false;
    return !(sums->worst_held < 0);
}

/* t = rebased_t + h (step − rebased_step), which steps go on from. */
static bool times_make_sense(const state_sums *sums) {
    double h = sums->step_length, t = sums->t, from = sums->rebased_t;
    double passed = h * (double)(sums->step - sums->rebased_step);
    if (!(dls_step_makes_sense(h) && isfinite(from) && isfinite(passed))) return false;
    return fabs(from + passed - t) <= 1e-12 * (fabs(from) + passed);
}

static dls_status read_sums(const section *from, state_sums *sums, dls_error *error) {
    if (from->size != sizeof *sums)
        return dls_fail(error, DLS_ERROR_INPUT, "section 'simulation' of a state has %zu bytes, expected %zu",
                        from->size, sizeof *sums);
    memcpy(sums, from->bytes, sizeof *sums);
    const char *wrong = !counts_make_sense(sums)    ? "its counts"
                        : !numbers_make_sense(sums) ? "its energies or errors"
                        : !times_make_sense(sums)   ? "its times"
                                                    : NULL;
    if (!wrong) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "a state with step %g s at t = %g makes no sense: %s",
                    sums->step_length, sums->t, wrong);
}

/* A section that is one number: 0 where it lacks. */
static dls_status read_number(const section *found, int part, double *number, dls_error *error) {
    *number = 0;
    if (!found[part].bytes) return DLS_OK;
    if (found[part].size != sizeof *number)
        return dls_fail(error, DLS_ERROR_INPUT, "section '%s' of a state has %zu bytes, expected %zu",
                        parts[part].tag, found[part].size, sizeof *number);
    memcpy(number, found[part].bytes, sizeof *number);
    if (isfinite(*number)) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "section '%s' of a state has %g J, expected a finite number",
                    parts[part].tag, *number);
}

static dls_status read_joints(const dls_simulation *s, const section *from, state_joints *sums,
                              dls_error *error) {
    *sums = (state_joints){0, 0, 0};
    if (!from->bytes && s->world->joint_count == 0) return DLS_OK;
    if (from->size < sizeof *sums)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "section 'joints' of a state has %zu bytes, expected %zu or more", from->size,
                        sizeof *sums);
    memcpy(sums, from->bytes, sizeof *sums);
    if (!isfinite(sums->joints) || !isfinite(sums->spring) || !isfinite(sums->motors))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "section 'joints' of a state has energies that are not finite");
    return dls_joints_memory_check(s->world, from->bytes + sizeof *sums, from->size - sizeof *sums, error);
}

static dls_status read_solids(const dls_simulation *s, const section *from, state_solids *sums,
                              dls_error *error) {
    *sums = (state_solids){0, 0};
    if (!from->bytes && s->world->solid_count == 0) return DLS_OK;
    if (from->size < sizeof *sums)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "section 'solids' of a state has %zu bytes, expected %zu or more", from->size,
                        sizeof *sums);
    memcpy(sums, from->bytes, sizeof *sums);
    if (!isfinite(sums->strain) || !isfinite(sums->damping))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "section 'solids' of a state has energies that are not finite");
    return dls_solids_memory_check(s->world, from->bytes + sizeof *sums, from->size - sizeof *sums, error);
}

static dls_status open_state(const void *bytes, size_t size, section *found, state_sums *sums,
                             dls_error *error) {
    bool tagged = size >= sizeof magic && !memcmp(bytes, magic, sizeof magic);
    dls_status status = (tagged ? find_sections : find_untagged)(bytes, size, found, error);
    return status ? status : read_sums(&found[SIMULATION], sums, error);
}

dls_status dls_simulation_state_peek(const void *bytes, size_t size, int64_t *step, double *t,
                                     dls_error *error) {
    section found[PARTS] = {{NULL, 0}};
    state_sums sums;
    dls_status status = open_state(bytes, size, found, &sums, error);
    if (!status) *step = sums.step, *t = sums.t;
    return status;
}

/* Of another scheme nothing can be gone on with; where none is named, by one alone that keeps nothing. */
static dls_status read_scheme(dls_simulation *s, const dls_world *next, const section *from,
                              dls_error *error) {
    const dls_scheme *scheme = s->scheme;
    char name[DLS_NAME_SIZE] = {0}, text[DLS_NAME_SIZE + 1];
    if (!from->bytes && !scheme->state_read) return DLS_OK;
    if (from->size < sizeof name)
        return dls_fail(error, DLS_ERROR_INPUT, "a state names no scheme, this simulation has '%s'",
                        scheme->name);
    memcpy(name, scheme->name, strlen(scheme->name));
    if (memcmp(from->bytes, name, sizeof name) != 0)
        return dls_fail(error, DLS_ERROR_INPUT, "a state of the scheme '%s', this simulation has '%s'",
                        shown(from->bytes, sizeof name, text), scheme->name);
    size_t size = from->size - sizeof name;
    if (scheme->state_read) return scheme->state_read(s, next, from->bytes + sizeof name, size, error);
    if (size == 0) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "a state has %zu bytes of the scheme '%s', expected none", size,
                    scheme->name);
}

static bool traffic_makes_sense(const dls_traffic *t) {
    const int64_t most = INT64_C(1) << 53;
    return t->bodies_in >= 0 && t->bodies_in <= most && t->bodies_out >= 0 && t->bodies_out <= most &&
           t->mass_in >= 0 && isfinite(t->mass_in) && t->mass_out >= 0 && isfinite(t->mass_out) &&
           isfinite(t->energy_in) && isfinite(t->energy_out);
}

/* Makes the bodies of inlets that the section of the world speaks of. */
static dls_status open_gates(dls_simulation *s, const section *found, state_traffic *traffic,
                             dls_error *error) {
    const section *from = &found[GATES];
    *traffic = (state_traffic){.all = {0}};
    if (!from->bytes && dls_gates_count(s->gates) == 0) return DLS_OK;
    if (from->size < sizeof *traffic)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "section 'gates' of a state has %zu bytes, expected %zu or more", from->size,
                        sizeof *traffic);
    memcpy(traffic, from->bytes, sizeof *traffic);
    if (!traffic_makes_sense(&traffic->all) || !traffic_makes_sense(&traffic->pending))
        return dls_fail(error, DLS_ERROR_INPUT, "section 'gates' of a state makes no sense");
    return dls_gates_memory_open(s->gates, s->world, from->bytes + sizeof *traffic,
                                 from->size - sizeof *traffic,
                                 dls_world_memory_bodies(found[WORLD].bytes, found[WORLD].size), error);
}

static dls_status read_reasons(const section *from, int64_t *uncertified, dls_error *error) {
    size_t size = sizeof(int64_t) * DLS_REASONS;
    memset(uncertified, 0, size);
    if (!from->bytes) return DLS_OK;
    if (from->size != size)
        return dls_fail(error, DLS_ERROR_INPUT, "section 'reasons' of a state has %zu bytes, expected %zu",
                        from->size, size);
    memcpy(uncertified, from->bytes, size);
    for (int k = 0; k < DLS_REASONS; k++)
        if (uncertified[k] < 0 || uncertified[k] > INT64_C(1) << 53)
            return dls_fail(error, DLS_ERROR_INPUT, "section 'reasons' of a state makes no sense");
    return DLS_OK;
}

static void take_sums(dls_simulation *s, const state_sums *sums, double turning) {
    s->options.step = sums->step_length;
    s->t = sums->t;
    s->rebased_t = sums->rebased_t;
    s->base_energy = sums->base_energy;
    s->jump = sums->jump;
    s->step = sums->step;
    s->rebased_step = sums->rebased_step;
    s->energy = (dls_energy){.kinetic = sums->kinetic,
                             .potential = sums->potential,
                             .friction = sums->friction,
                             .impact = sums->impact,
                             .turning = turning,
                             .work = sums->work,
                             .unaccounted = sums->unaccounted};
    s->summary = (dls_run_summary){.traffic = s->summary.traffic,
                                   .steps = sums->steps,
                                   .certified = sums->certified,
                                   .contacts = sums->contacts,
                                   .iterations = sums->iterations,
                                   .worst_residual = sums->worst_residual,
                                   .worst_error = sums->worst_error,
                                   .worst_held = sums->worst_held,
                                   .penetration = sums->penetration};
}

/* The parts are checked and made before the first of them changes anything; the scheme, which changes all or
 * nothing, is the last that can fail. */
static dls_status read_parts(dls_simulation *s, const section *found, state_solids *solids,
                             dls_error *error) {
    dls_world_memory *memory = NULL;
    const section *world = &found[WORLD], *collider = &found[COLLIDER];
    state_traffic traffic;
    dls_status status = open_gates(s, found, &traffic, error);
    if (!status) status = read_solids(s, &found[SOLIDS], solids, error); /* those of inlets are made */
    if (!status) status = dls_world_memory_open(s->world, world->bytes, world->size, &memory, error);
    if (status) return status;
    dls_world next = dls_world_memory_preview(s->world, memory);
    status = dls_simulation_reserve(s, next.body_count, error);
    if (!status)
        status = dls_collider_memory_open(s->collider, &next, collider->bytes, collider->size, error);
    if (!status) status = read_scheme(s, &next, &found[SCHEME], error);
    if (status) {
        dls_world_memory_drop(s->world, memory);
        return status;
    }
    dls_collider_memory_use(s->collider, collider->bytes, collider->size);
    dls_world_memory_use(s->world, memory);
    if (found[GATES].bytes) dls_gates_memory_use(s->gates, s->world, found[GATES].bytes + sizeof traffic);
    s->pending = traffic.pending;
    s->summary.traffic = traffic.all;
    return DLS_OK;
}

dls_status dls_simulation_state_read(dls_simulation *s, const void *bytes, size_t size, dls_error *error) {
    section found[PARTS] = {{NULL, 0}};
    state_sums sums;
    double turning, numerical;
    int64_t uncertified[DLS_REASONS];
    state_joints joints;
    state_solids solids;
    dls_error_clear(error);
    if (!s || !bytes)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a simulation and bytes are needed, got NULL");
    dls_status status = open_state(bytes, size, found, &sums, error);
    if (!status) status = read_reasons(&found[REASONS], uncertified, error);
    if (!status) status = read_number(found, TURNING, &turning, error);
    if (!status) status = read_number(found, NUMERICAL, &numerical, error);
    if (!status) status = read_joints(s, &found[JOINTS], &joints, error);
    if (!status) status = read_parts(s, found, &solids, error);
    if (status) return status;
    if (found[SOLIDS].bytes) dls_solids_memory_use(s->world, found[SOLIDS].bytes + sizeof solids);
    if (found[JOINTS].bytes) dls_joints_memory_use(s->world, found[JOINTS].bytes + sizeof joints);
    take_sums(s, &sums, turning);
    memcpy(s->summary.uncertified, uncertified, sizeof uncertified);
    s->energy.joints = joints.joints;
    s->energy.spring = joints.spring;
    s->energy.motors = joints.motors;
    s->energy.strain = solids.strain;
    s->energy.damping = solids.damping;
    s->energy.numerical = numerical;
    s->flown_uid = s->step > 0 ? s->world->next_uid : 0; /* who came since the last step is in no row yet */
    dls_simulation_forget(s);
    return dls_simulation_ready(s, sums.started != 0, error);
}

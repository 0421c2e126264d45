/* The table of dls_ranks by MPI. Errors of MPI are fatal, as they are by default: a rank that cannot be
 * reached has lost its share, and the job ends. */
#include "base/error.h"
#include "base/memory.h"

#include <delassus_dist/dist.h>

#include <limits.h>
#include <mpi.h>
#include <time.h>

enum { TAG = 1, MOST_BYTES = 1 << 30 };

struct dls_dist {
    dls_ranks ranks;
    MPI_Comm world;
    bool is_ours; /* MPI was initialised here */
    MPI_Request *requests;
    int *counts, *places; /* of each rank, bytes */
    dls_dist_traffic traffic;
};

/* Beyond 2 GB, which MPI cannot count: rank after rank, in pieces. */
static void gather_much(dls_dist *d, char *bytes, const int64_t *start) {
    for (int k = 0; k < d->ranks.count; k++)
        for (int64_t at = start[k]; at < start[k + 1]; at += MOST_BYTES) {
            int64_t left = start[k + 1] - at;
            MPI_Bcast(bytes + at, (int)(left < MOST_BYTES ? left : MOST_BYTES), MPI_BYTE, k, d->world);
        }
}

static void gather(void *self, void *bytes, const int64_t *start) {
    dls_dist *d = self;
    double began = MPI_Wtime();
    if (start[d->ranks.count] > INT_MAX) {
        gather_much(d, bytes, start);
    } else {
        for (int k = 0; k < d->ranks.count; k++) {
            d->places[k] = (int)start[k];
            d->counts[k] = (int)(start[k + 1] - start[k]);
        }
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, bytes, d->counts, d->places, MPI_BYTE, d->world);
    }
    d->traffic.gathers++;
    d->traffic.bytes += (double)(start[d->ranks.index + 1] - start[d->ranks.index]);
    d->traffic.seconds += MPI_Wtime() - began;
}

/* How many numbers the next message of those that are left carries. */
static int piece_of(int64_t left) {
    enum { MOST_NUMBERS = MOST_BYTES / sizeof(double) };
    return (int)(left < MOST_NUMBERS ? left : MOST_NUMBERS);
}

/* Messages longer than MPI can count go in pieces, each after the one before has arrived. */
static void swap_behind(dls_dist *d, const double *out, const int64_t *out_start, double *in,
                        const int64_t *in_start, int64_t done, bool *more) {
    int count = 0;
    *more = false;
    for (int k = 0; k < d->ranks.count; k++) {
        int64_t left = in_start[k + 1] - in_start[k] - done;
        if (left > 0)
            MPI_Irecv(in + in_start[k] + done, piece_of(left), MPI_DOUBLE, k, TAG, d->world,
                      &d->requests[count++]);
    }
    for (int k = 0; k < d->ranks.count; k++) {
        int64_t left = out_start[k + 1] - out_start[k] - done;
        if (left <= 0) continue;
        MPI_Isend(out + out_start[k] + done, piece_of(left), MPI_DOUBLE, k, TAG, d->world,
                  &d->requests[count++]);
        d->traffic.messages++;
        d->traffic.bytes += (double)sizeof(double) * piece_of(left);
    }
    *more = count > 0;
    MPI_Waitall(count, d->requests, MPI_STATUSES_IGNORE);
}

static void swap(void *self, const double *out, const int64_t *out_start, double *in,
                 const int64_t *in_start) {
    dls_dist *d = self;
    double began = MPI_Wtime();
    bool more = true;
    for (int64_t done = 0; more; done += piece_of(INT64_MAX))
        swap_behind(d, out, out_start, in, in_start, done, &more);
    d->traffic.seconds += MPI_Wtime() - began;
}

/* ---- beginning and end ---- */

static bool take_room(dls_dist *d) {
    d->requests = DLS_NEW(MPI_Request, 2 * d->ranks.count);
    d->counts = DLS_NEW(int, d->ranks.count);
    d->places = DLS_NEW(int, d->ranks.count);
    return d->requests && d->counts && d->places;
}

dls_status dls_dist_begin(int *argc, char ***argv, dls_dist **dist, dls_error *error) {
    int is_initialised, level = MPI_THREAD_FUNNELED;
    dls_error_clear(error);
    if (!dist) return dls_fail(error, DLS_ERROR_ARGUMENT, "nowhere to put the ranks: NULL");
    *dist = NULL;
    dls_dist *d = DLS_NEW_ZERO(dls_dist, 1);
    if (!d) return dls_fail_memory(error);
    MPI_Initialized(&is_initialised);
    if (!is_initialised) MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
    d->is_ours = !is_initialised;
    MPI_Comm_dup(MPI_COMM_WORLD, &d->world);
    d->ranks = (dls_ranks){.self = d, .gather = gather, .swap = swap};
    MPI_Comm_size(d->world, &d->ranks.count);
    MPI_Comm_rank(d->world, &d->ranks.index);
    if (take_room(d)) {
        *dist = d;
        return DLS_OK;
    }
    dls_dist_end(d);
    return dls_fail_memory(error);
}

const dls_ranks *dls_dist_ranks(const dls_dist *d) { return &d->ranks; }

dls_dist_traffic dls_dist_traffic_get(const dls_dist *d) { return d->traffic; }

bool dls_dist_meet(dls_dist *d, double seconds) {
    static const struct timespec pause = {.tv_nsec = 1000000};
    MPI_Request request;
    double began = MPI_Wtime();
    int all = 0;
    MPI_Ibarrier(d->world, &request);
    for (MPI_Test(&request, &all, MPI_STATUS_IGNORE); !all && MPI_Wtime() - began < seconds;
         MPI_Test(&request, &all, MPI_STATUS_IGNORE))
        nanosleep(&pause, NULL); /* the last one may be at work for long: no core is to burn */
    return all;
}

void dls_dist_abort(dls_dist *d, int code) { MPI_Abort(d->world, code); }

void dls_dist_end(dls_dist *d) {
    if (!d) return;
    MPI_Comm_free(&d->world);
    if (d->is_ours) MPI_Finalize();
    dls_free(d->requests);
    dls_free(d->counts);
    dls_free(d->places);
    dls_free(d);
}

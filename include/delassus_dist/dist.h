/* Ranks that talk by MPI: a library of its own, delassus_dist, in builds with DELASSUS_MPI. */
#ifndef DELASSUS_DIST_DIST_H
#define DELASSUS_DIST_DIST_H

#include <delassus/ranks.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dls_dist dls_dist;

/* What this rank sent so far, and how long it talked and waited. */
typedef struct dls_dist_traffic {
    int64_t messages; /* to single ranks */
    int64_t gathers;  /* with all of them */
    double bytes;     /* handed in by this rank, each once however many hear them */
    double seconds;   /* of wall time */
} dls_dist_traffic;

/* All processes of the job call it, once; MPI is initialised where it is not yet. The communicator is a copy
 * of MPI_COMM_WORLD. */
DLS_API dls_status dls_dist_begin(int *argc, char ***argv, dls_dist **dist, dls_error *error);
DLS_API const dls_ranks *dls_dist_ranks(const dls_dist *dist); /* as long as dist is there */
DLS_API dls_dist_traffic dls_dist_traffic_get(const dls_dist *dist);
/* Waits so many seconds, or for ever where they are INFINITY, for all ranks to call it: whether they did.
 * Where not, dls_dist_abort is all that is left. */
DLS_API bool dls_dist_meet(dls_dist *dist, double seconds);
/* Ends this process and all others of the job, by that exit code. */
DLS_API void dls_dist_abort(dls_dist *dist, int code);
/* After dls_dist_meet; MPI is finalised where it was initialised here. NULL is fine. */
DLS_API void dls_dist_end(dls_dist *dist);

#ifdef __cplusplus
}
#endif
#endif

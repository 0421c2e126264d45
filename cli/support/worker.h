/* Work in other processes: a crash or an endless loop costs one result, never the others. A worker takes one
 * job after the other; a new one replaces it when it crashes, is killed, or has done its share. */
#ifndef CLI_SUPPORT_WORKER_H
#define CLI_SUPPORT_WORKER_H

#include <stdbool.h>
#include <stddef.h>

typedef enum worker_end {
    WORKER_WAITING = 0, /* not run; stays so after an interrupt */
    WORKER_DONE,
    WORKER_CRASHED, /* by a signal, or without a full result */
    WORKER_TIMEOUT, /* killed at its wall limit */
    WORKER_CANCELLED
} worker_end;

typedef struct worker_job {
    void (*work)(const void *input, void *result); /* called in the child */
    const void *input;
    void
        *result; /* plain data without pointers; work begins with zeros; filled when the end is WORKER_DONE */
    size_t result_size;
    double wall_limit; /* s */
    worker_end end;
    int signal; /* that ended a crashed child, or 0 */
} worker_job;

/* Called in the parent when a job starts (end is WORKER_WAITING) and when it has ended. */
typedef void (*worker_callback)(const worker_job *job, int ended, int count, void *user);

/* Runs all jobs, at most `parallel` at once. An interrupt kills those that run; returns false then. */
bool worker_run(worker_job *jobs, int count, int parallel, worker_callback callback, void *user);

#endif

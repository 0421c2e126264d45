/* fork, a pipe for the result, poll with deadlines. */
#include "worker.h"

#include "interrupt.h"
#include "report.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_WAIT = 200 }; /* ms */

static double clock_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the child ---------------------------------------------------------------------------------------- */

static _Noreturn void be_child(const worker_job *job, int descriptor) {
    signal(SIGINT, SIG_IGN); /* the parent decides */
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    job->work(job->input, job->result);
    const char *at = job->result;
    for (size_t left = job->result_size; left > 0;) {
        ssize_t sent = write(descriptor, at, left);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) _exit(EXIT_FAILURE);
        at += sent;
        left -= (size_t)sent;
    }
    _exit(EXIT_SUCCESS);
}

/* ---- the parent --------------------------------------------------------------------------------------- */

static bool start(worker_job *job) {
    int ends[2];
    if (pipe(ends)) return false;
    fflush(NULL); /* or the child would write our buffers once more */
    job->process = fork();
    if (job->process < 0) {
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    if (job->process == 0) {
        close(ends[0]);
        be_child(job, ends[1]);
    }
    close(ends[1]);
    job->pipe = ends[0];
    job->deadline = clock_now() + job->wall_limit;
    job->received = 0;
    return true;
}

static void finish(worker_job *job, worker_end end) {
    int status = 0;
    if (end != WORKER_DONE) kill(job->process, SIGKILL);
    close(job->pipe);
    while (waitpid(job->process, &status, 0) < 0 && errno == EINTR) continue;
    job->process = 0;
    job->end = end;
    bool whole =
        WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS && job->received == job->result_size;
    if (end != WORKER_DONE || whole) return;
    job->end = WORKER_CRASHED;
    job->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* Takes what is in the pipe; true when the child has closed it. */
static bool receive(worker_job *job) {
    char beyond; /* the end of the file shows as a read of nothing */
    char *to = (char *)job->result + job->received;
    size_t left = job->result_size - job->received;
    ssize_t got = left ? read(job->pipe, to, left) : read(job->pipe, &beyond, 1);
    if (got < 0) return errno != EINTR;
    job->received += left ? (size_t)got : 0;
    return got == 0;
}

typedef struct pool {
    worker_job *jobs, **running;
    struct pollfd *polled;
    int count, parallel, next, running_count, ended;
    worker_callback callback;
    void *user;
} pool;

static void end_job(pool *p, int slot, worker_end end) {
    worker_job *job = p->running[slot];
    finish(job, end);
    p->running[slot] = p->running[--p->running_count];
    p->ended++;
    if (p->callback) p->callback(job, p->ended, p->count, p->user);
}

static void start_jobs(pool *p) {
    while (p->running_count < p->parallel && p->next < p->count) {
        worker_job *job = &p->jobs[p->next++];
        if (p->callback) p->callback(job, p->ended, p->count, p->user);
        if (start(job)) {
            p->running[p->running_count++] = job;
        } else {
            job->end = WORKER_CRASHED;
            p->ended++;
        }
    }
}

/* Waits for news or for the first deadline, then ends what is over. */
static void wait_for_news(pool *p) {
    double first = HUGE_VAL;
    for (int i = 0; i < p->running_count; i++) {
        p->polled[i] = (struct pollfd){.fd = p->running[i]->pipe, .events = POLLIN};
        first = fmin(first, p->running[i]->deadline);
    }
    /* an interrupt that comes just before poll() is not to wait for a deadline */
    double milliseconds = fmin(ceil(1e3 * fmax(0, first - clock_now())), LONGEST_WAIT);
    int news = poll(p->polled, (nfds_t)p->running_count, (int)milliseconds);
    double now = clock_now();
    for (int i = p->running_count - 1; i >= 0; i--) { /* backward: end_job moves the last one */
        if (news > 0 && p->polled[i].revents && receive(p->running[i]))
            end_job(p, i, WORKER_DONE);
        else if (now >= p->running[i]->deadline)
            end_job(p, i, WORKER_TIMEOUT);
    }
}

bool worker_run(worker_job *jobs, int count, int parallel, worker_callback callback, void *user) {
    pool p = {.jobs = jobs, .count = count, .parallel = parallel, .callback = callback, .user = user};
    p.running = report_allocate((size_t)parallel, sizeof *p.running);
    p.polled = report_allocate((size_t)parallel, sizeof *p.polled);
    while (p.ended < count && !interrupt_seen()) {
        start_jobs(&p);
        if (p.running_count) wait_for_news(&p);
    }
    bool complete = p.ended == count;
    while (p.running_count) end_job(&p, 0, WORKER_CANCELLED);
    free(p.running);
    free(p.polled);
    return complete;
}

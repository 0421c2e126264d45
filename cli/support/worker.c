/* fork, a socket for jobs and results, poll with deadlines. */
#include "cli/support/worker.h"

#include "cli/support/interrupt.h"
#include "cli/support/report.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LONGEST_WAIT = 200, /* ms */
    SHARE = 100         /* jobs of one worker: what libraries keep from job to job goes with it */
};

typedef struct worker {
    pid_t process; /* 0: none */
    int socket;
    int begun; /* jobs that it has had, the present one among them */
    worker_job *job;
    double deadline;
    size_t received;
} worker;

typedef struct pool {
    worker_job *jobs;
    worker *workers;
    struct pollfd *polled;
    int count, parallel, next, ended;
    size_t largest; /* result */
    worker_callback callback;
    void *user;
} pool;

/* ---- the child ---------------------------------------------------------------------------------------- */

static bool send_all(int socket, const void *bytes, size_t size) {
    for (const char *at = bytes; size > 0;) {
        ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* Numbers of jobs come in, results go out; it ends when the parent closes its end, or is gone. */
static _Noreturn void be_child(const pool *p, int socket) {
    signal(SIGINT, SIG_IGN); /* the parent decides */
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    for (int i = 0; i < p->parallel; i++) /* or others would never see the parent close them */
        if (p->workers[i].process) close(p->workers[i].socket);
    void *result = report_allocate(1, p->largest);
    for (int number; recv(socket, &number, sizeof number, MSG_WAITALL) == sizeof number;) {
        const worker_job *job = &p->jobs[number];
        memset(result, 0, job->result_size);
        job->work(job->input, result);
        if (!send_all(socket, result, job->result_size)) _exit(EXIT_FAILURE);
    }
    _exit(EXIT_SUCCESS);
}

/* ---- the parent --------------------------------------------------------------------------------------- */

static bool start(const pool *p, worker *w) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return false;
    fflush(NULL); /* or the child would write our buffers once more */
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        be_child(p, ends[1]);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return false;
    }
    *w = (worker){.process = process, .socket = ends[0]};
    return true;
}

/* Returns the signal that ended it, or 0. */
static int stop(worker *w, bool kill_it) {
    int status = 0;
    if (!w->process) return 0;
    if (kill_it) kill(w->process, SIGKILL);
    close(w->socket);
    while (waitpid(w->process, &status, 0) < 0 && errno == EINTR) continue;
    w->process = 0;
    w->job = NULL;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void end_job(pool *p, worker_job *job, worker_end end, int signal_number) {
    job->end = end;
    job->signal = signal_number;
    p->ended++;
    if (p->callback) p->callback(job, p->ended, p->count, p->user);
}

/* False where it cannot be told of the job. */
static bool give(const pool *p, worker *w, worker_job *job) {
    int number = (int)(job - p->jobs);
    if (w->process && w->begun >= SHARE) stop(w, false);
    if (!w->process && !start(p, w)) return false;
    w->job = job;
    w->received = 0;
    w->begun++;
    w->deadline = dls_clock_wall() + job->wall_limit;
    return send_all(w->socket, &number, sizeof number);
}

/* A worker that did other jobs before may have died of them: a fresh one tries this job once more. */
static void mourn(pool *p, worker *w) {
    worker_job *job = w->job;
    bool was_fresh = w->begun == 1;
    int signal_number = stop(w, false);
    if (!was_fresh && give(p, w, job)) return;
    if (!was_fresh) signal_number = stop(w, true);
    end_job(p, job, WORKER_CRASHED, signal_number);
}

static void give_jobs(pool *p) {
    for (int i = 0; i < p->parallel && p->next < p->count; i++) {
        if (p->workers[i].job) continue;
        worker_job *job = &p->jobs[p->next++];
        if (p->callback) p->callback(job, p->ended, p->count, p->user);
        if (give(p, &p->workers[i], job)) continue;
        if (p->workers[i].process)
            mourn(p, &p->workers[i]);
        else
            end_job(p, job, WORKER_CRASHED, 0);
    }
}

/* Takes what has come; false when the worker is gone. */
static bool receive(pool *p, worker *w) {
    worker_job *job = w->job;
    ssize_t got = recv(w->socket, (char *)job->result + w->received, job->result_size - w->received, 0);
    if (got < 0) return errno == EINTR;
    w->received += (size_t)got;
    if (w->received == job->result_size) {
        w->job = NULL;
        end_job(p, job, WORKER_DONE, 0);
    }
    return got > 0;
}

/* Waits for news or for the first deadline, then ends what is over. */
static void wait_for_news(pool *p) {
    double first = HUGE_VAL;
    for (int i = 0; i < p->parallel; i++) { /* poll() passes over negative descriptors */
        const worker *w = &p->workers[i];
        p->polled[i] = (struct pollfd){.fd = w->job ? w->socket : -1, .events = POLLIN};
        if (w->job) first = fmin(first, w->deadline);
    }
    /* an interrupt that comes just before poll() is not to wait for a deadline */
    double milliseconds = fmin(ceil(1e3 * fmax(0, first - dls_clock_wall())), LONGEST_WAIT);
    int news = poll(p->polled, (nfds_t)p->parallel, (int)milliseconds);
    double now = dls_clock_wall();
    for (int i = 0; i < p->parallel; i++) {
        worker *w = &p->workers[i];
        worker_job *job = w->job;
        if (!job) continue;
        if (news > 0 && p->polled[i].revents) {
            if (!receive(p, w)) mourn(p, w);
        } else if (now >= w->deadline) {
            stop(w, true);
            end_job(p, job, WORKER_TIMEOUT, 0);
        }
    }
}

static bool is_busy(const pool *p) {
    for (int i = 0; i < p->parallel; i++)
        if (p->workers[i].job) return true;
    return false;
}

bool worker_run(worker_job *jobs, int count, int parallel, worker_callback callback, void *user) {
    pool p = {.jobs = jobs, .count = count, .parallel = parallel, .callback = callback, .user = user};
    p.workers = report_allocate((size_t)parallel, sizeof *p.workers);
    p.polled = report_allocate((size_t)parallel, sizeof *p.polled);
    for (int i = 0; i < count; i++)
        if (jobs[i].result_size > p.largest) p.largest = jobs[i].result_size;
    while (p.ended < count && !interrupt_seen()) {
        give_jobs(&p);
        if (is_busy(&p)) wait_for_news(&p);
    }
    bool complete = p.ended == count;
    for (int i = 0; i < parallel; i++) {
        worker_job *job = p.workers[i].job;
        stop(&p.workers[i], job != NULL);
        if (job) end_job(&p, job, WORKER_CANCELLED, 0);
    }
    free(p.workers);
    free(p.polled);
    return complete;
}

/* SIGINT, SIGTERM and SIGHUP as a flag. */
#include "cli/support/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t seen;

static void note(int signal_number) {
    (void)signal_number;
    seen = 1;
}

void interrupt_watch(void) {
    /* no SA_RESTART: a waiting poll() is to wake up */
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction former;
    bool is_ignored = !sigaction(SIGHUP, NULL, &former) && former.sa_handler == SIG_IGN; /* nohup: go on */
    if (!is_ignored) sigaction(SIGHUP, &action, NULL);
}

bool interrupt_seen(void) { return seen; }

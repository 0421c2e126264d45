/* The program as one rank of several, started by mpirun or its like. */
#define _GNU_SOURCE
#include "cli/program.h"
#include "cli/support/report.h"

#include <delassus_dist/dist.h>

#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* A rank that failed alone waits so long for the others, which may be about to fail of the same. */
static const double GRACE = 5; /* s */

enum { MOST_WORDS = 4096 };

/* The first rank speaks for all: what others print on stdout goes, what they print on stderr is kept apart.
 * Returns stderr as it was. */
static FILE *fall_silent(void) {
    int errors = dup(STDERR_FILENO), kept = memfd_create("stderr", 0);
    FILE *file = errors >= 0 ? fdopen(errors, "w") : NULL;
    if (!file || kept < 0 || dup2(kept, STDERR_FILENO) < 0 || !freopen("/dev/null", "w", stdout)) return NULL;
    return file;
}

/* What a rank had to say when the others did not come to the same end. */
static void speak(FILE *file, int rank) {
    char words[MOST_WORDS];
    fflush(stderr);
    ssize_t length = pread(STDERR_FILENO, words, sizeof words - 1, 0);
    words[length > 0 ? length : 0] = '\0';
    fprintf(file, "rank %d: %s", rank, words);
    fflush(file);
}

int main(int argc, char **argv) {
    dls_dist *dist;
    dls_error error;
    if (dls_dist_begin(&argc, &argv, &dist, &error)) return report_error("%s", error.message);
    const dls_ranks *ranks = dls_dist_ranks(dist);
    FILE *errors = ranks->index > 0 ? fall_silent() : NULL;
    program_set_ranks(ranks);
    int code = program_run(argc, argv);
    if (!dls_dist_meet(dist, code == EXIT_BAD_INPUT ? GRACE : (double)INFINITY)) {
        if (errors) speak(errors, ranks->index);
        dls_dist_abort(dist, code);
    }
    dls_dist_end(dist);
    if (errors) fclose(errors);
    return code;
}

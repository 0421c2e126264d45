#define _GNU_SOURCE
#include "cli/mpi/launcher.h"

#include "cli/support/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names by which launchers tell a process how many there are, and which it is: Open MPI; MPICH, Intel MPI and
 * srun by PMI; MVAPICH. */
static const char *const names[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                       {"PMI_SIZE", "PMI_RANK"},
                                       {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"}};

int launcher_hand_over(char **argv) {
    const char *rank = NULL;
    int size = 1;
    for (size_t k = 0; k < sizeof names / sizeof *names && size < 2; k++) {
        const char *text = getenv(names[k][0]);
        size = text ? atoi(text) : 1;
        rank = getenv(names[k][1]);
    }
    if (size < 2) return 0;
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof "-mpi");
    if (length > 0) {
        memcpy(path + length, "-mpi", sizeof "-mpi");
        execv(path, argv);
    }
    if (!rank || atoi(rank) == 0)
        report_error(
            "started as %d processes, but there is no delassus-mpi beside this program, which is built "
            "without MPI; expected a build with DELASSUS_MPI (docs/scaling.md)",
            size);
    return EXIT_BAD_INPUT;
}

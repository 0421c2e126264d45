/* The program on its own. */
#include "cli/mpi/launcher.h"
#include "cli/program.h"

int main(int argc, char **argv) {
    int refused = launcher_hand_over(argv);
    return refused ? refused : program_run(argc, argv);
}

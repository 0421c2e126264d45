/* The program: one table of commands. */
#include "cli/program.h"

#include "cli/commands.h"
#include "cli/support/arguments.h"
#include "cli/support/report.h"

#include <delassus/delassus.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* A command is one file and one row here. */
static const command *const commands[] = {
    &command_new,      &command_check,  &command_run,       &command_picture, &command_view,
    &command_analyze,  &command_solve,  &command_info,      &command_compare, &command_solvers,
    &command_generate, &command_export, &command_reproduce, &command_report,  &command_converge,
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static const command *find_command(const char *name) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(commands[i]->name, name)) return commands[i];
    return NULL;
}

static int refuse_unknown(const char *name) {
    dls_nearest n = dls_nearest_begin(name + strspn(name, "-"));
    bool dashed = *name == '-';
    if (dashed) {
        dls_nearest_offer(&n, "help");
        dls_nearest_offer(&n, "version");
    }
    bool general = n.best != NULL;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        dls_nearest_offer(&n, commands[i]->name);
        general = general && n.best != commands[i]->name;
    }
    if (!dashed) dls_nearest_offer(&n, "help");
    n.wanted = name;
    if (dashed && !n.best)
        return report_error("option '%s' stands before a command, expected 'delassus COMMAND [operands] "
                            "[options]' ('delassus help' lists all)",
                            name);
    return report_unknown(dashed ? "no option" : "no command", &n, general ? "delassus --" : "delassus ",
                          "delassus help");
}

static void print_overview(FILE *file) {
    fprintf(
        file,
        "usage: delassus COMMAND [operands] [options]\n\n"
        "Rigid bodies with hard contact and Coulomb friction: simulate scenes, solve contact problems, and\n"
        "certify every answer. To begin: 'delassus new'.\n\n"
        "commands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(file, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(file, "\n'delassus help COMMAND' or 'delassus COMMAND --help' tells all about one;\n"
                  "'delassus --version' prints the version.\n"
                  "Exit status: 0 done, 1 not converged or interrupted, 2 bad input or usage.\n");
}

static int run_help(int word_count, char **words) {
    if (word_count == 0) {
        print_overview(stdout);
        return EXIT_DONE;
    }
    const command *c = find_command(words[0]);
    if (!c) return refuse_unknown(words[0]);
    command_help(c);
    return EXIT_DONE;
}

static const dls_ranks *shared_ranks;

void program_set_ranks(const dls_ranks *ranks) { shared_ranks = ranks; }

const dls_ranks *program_ranks(void) { return shared_ranks; }

/* What ranks do not share is for the first of them alone. */
static bool is_ours(const command *c) {
    return !shared_ranks || shared_ranks->index == 0 || (c && c->is_shared);
}

static int run(int argc, char **argv) {
    const command *c = argc < 2 ? NULL : find_command(argv[1]);
    if (!is_ours(c)) return EXIT_DONE;
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_BAD_INPUT;
    }
    const char *name = argv[1];
    if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h"))
        return run_help(argc - 2, argv + 2);
    if (!strcmp(name, "--version")) {
        printf("delassus %s\n", dls_version());
        return EXIT_DONE;
    }
    return c ? command_execute(c, argc - 2, argv + 2) : refuse_unknown(name);
}

int program_run(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a failed write, not the end */
    return report_finish(run(argc, argv));
}

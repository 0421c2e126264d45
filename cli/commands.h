/* The rows of the command table, each defined in command_NAME.c. */
#ifndef DELASSUS_CLI_COMMANDS_H
#define DELASSUS_CLI_COMMANDS_H

#include "cli/support/arguments.h"

extern const command command_solve;
extern const command command_info;
extern const command command_compare;
extern const command command_solvers;
extern const command command_generate;
extern const command command_export;
extern const command command_reproduce;
extern const command command_new;
extern const command command_check;
extern const command command_run;
extern const command command_picture;
extern const command command_view;
extern const command command_report;
extern const command command_analyze;
extern const command command_converge;

#endif

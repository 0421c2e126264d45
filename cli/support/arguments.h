/* Commands and their options as tables: parsing, help and errors all come from them. */
#ifndef CLI_SUPPORT_ARGUMENTS_H
#define CLI_SUPPORT_ARGUMENTS_H

#include <delassus/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts of an option that may be given several times, or the operands of a command. */
typedef struct text_list {
    int count;
    const char **items;
} text_list;

/* The value goes where the field's offset says in the command's values. */
typedef struct option {
    dls_field field; /* its key is without the dashes, its unit what help calls the value, NULL for a flag */
    char letter;     /* short name, or 0 */
} option;

#define OPTION(name, letter_, type_, value, at, help_)                                                       \
    { {.key = name, type_, .offset = at, .unit = value, .help = help_}, letter_ }
#define OPTION_FLAG           .type = DLS_FIELD_BOOL
#define OPTION_TEXT           .type = DLS_FIELD_TEXT
#define OPTION_LIST           .type = DLS_FIELD_OWN /* text_list */
#define OPTION_INT(from, to)  .type = DLS_FIELD_INT, .low = from, .high = to
#define OPTION_REAL(from, to) .type = DLS_FIELD_REAL, .low = from, .high = to

/* One row of the command table. */
typedef struct command {
    const char *name;
    const char *summary;  /* one line, for the list of commands */
    const char *operands; /* as usage shows them */
    const char *details;  /* paragraphs for `help`, or NULL */
    int least_operands, most_operands;
    const option *options;
    int option_count;
    const void *defaults; /* of the values, copied before parsing */
    size_t values_size;
    int (*run)(const text_list *operands, const void *values); /* returns the exit code */
    bool is_shared; /* by ranks: all of them run it, else the first alone */
} command;

/* Parses and runs; returns the exit code. words begin after the command's name. */
int command_execute(const command *c, int word_count, char **words);

/* Prints the help of one command on stdout. */
void command_help(const command *c);

/* Splits "a,b,c" into a list; an empty part makes it false. The list holds one block: list_free_split. */
bool list_split(const char *text, text_list *list);
void list_free_split(text_list *list);

#endif

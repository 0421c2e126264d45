/* Commands and their options as tables: parsing, help and errors all come from them. */
#ifndef CLI_SUPPORT_ARGUMENTS_H
#define CLI_SUPPORT_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts of an option that may be given several times, or the operands of a command. */
typedef struct text_list {
    int count;
    const char **items;
} text_list;

typedef enum option_type {
    OPTION_FLAG, /* bool */
    OPTION_TEXT, /* const char * */
    OPTION_LIST, /* text_list */
    OPTION_INT,  /* int */
    OPTION_REAL  /* double */
} option_type;

typedef struct option {
    const char *name; /* without the dashes */
    char letter;      /* short name, or 0 */
    option_type type;
    const char *value; /* what help calls the value, NULL for a flag */
    size_t offset;     /* of the member in the command's values */
    double low, high;  /* range of numbers, both ends allowed */
    const char *help;  /* one line */
} option;

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

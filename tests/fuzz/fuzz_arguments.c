/* A command line, a word on each line of the input, to the parser of every command: it must refuse it in one
 * line, or hand on operands and numbers that are in their ranges. Words that name solvers are parsed as such.
 */
#include "cli/commands.h"
#include "cli/solve/solver_choice.h"
#include "cli/support/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const command *const commands[] = {
    &command_solve, &command_info, &command_compare, &command_solvers, &command_generate, &command_export,
    &command_new,   &command_run,  &command_check,   &command_picture, &command_analyze,  &command_reproduce};
enum { COMMANDS = sizeof commands / sizeof *commands, MOST_WORDS = 64 };

static const command *present;
static bool has_parsed; /* operands, as names of solvers */

static void require(bool condition) {
    if (!condition) abort();
}

/* A default may stand outside of the range, for "not given". */
static void check_value(const dls_field *field, const char *values) {
    double number[2];
    for (int k = 0; k < 2; k++) {
        const char *member = (k ? (const char *)present->defaults : values) + field->offset;
        number[k] = field->type == DLS_FIELD_INT ? *(const int *)member : *(const double *)member;
    }
    require(number[0] == number[1] || (number[0] >= field->low && number[0] <= field->high));
}

/* Once: no command reads them otherwise. */
static void parse_solvers(const text_list *operands) {
    for (int i = 0; i < operands->count; i++) {
        text_list parts;
        solver_choice choice;
        if (!list_split(operands->items[i], &parts)) continue;
        for (int k = 0; k < parts.count; k++)
            if (solver_choice_parse(&choice, parts.items[k])) require(choice.solver != NULL);
        list_free_split(&parts);
    }
}

/* In the place of the command's own work. */
static int look(const text_list *operands, const void *values) {
    require(operands->count >= present->least_operands && operands->count <= present->most_operands);
    for (int i = 0; i < present->option_count; i++) {
        const dls_field *field = &present->options[i].field;
        if (field->type == DLS_FIELD_INT || field->type == DLS_FIELD_REAL) check_value(field, values);
    }
    if (!has_parsed) parse_solvers(operands);
    has_parsed = true;
    return EXIT_DONE;
}

static void execute(int count, char **words) {
    has_parsed = false;
    for (int i = 0; i < COMMANDS; i++) {
        command copy = *commands[i];
        copy.run = look;
        present = &copy;
        int code = command_execute(&copy, count, words);
        require(code == EXIT_DONE || code == EXIT_BAD_INPUT);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *nowhere;
    FILE *out = stdout, *err = stderr;
    char *words[MOST_WORDS], *text = malloc(size + 1);
    int count = 0;
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    require(text && nowhere);
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    for (char *at = text; at && count < MOST_WORDS; count++) {
        char *end = strchr(at, '\n');
        if (end) *end = '\0';
        words[count] = at;
        at = end ? end + 1 : NULL;
    }
    stdout = stderr = nowhere;
    execute(count, words);
    stdout = out, stderr = err;
    free(text);
    return 0;
}

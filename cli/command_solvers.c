/* delassus solvers: what there is, from the tables that the solvers themselves read. */
#include "cli/commands.h"
#include "cli/support/json.h"
#include "cli/support/report.h"

#include <delassus/delassus.h>

#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct solvers_values {
    bool json, markdown;
} solvers_values;

#define AT(member) offsetof(solvers_values, member)

static const option options[] = {
    OPTION("json", 0, OPTION_FLAG, NULL, AT(json), "print one JSON object"),
    OPTION("markdown", 0, OPTION_FLAG, NULL, AT(markdown), "print the reference page docs/options.md"),
};

typedef union options_bytes {
    max_align_t align;
    char bytes[DLS_MAX_OPTIONS_SIZE];
} options_bytes;

/* ---- one option ---------------------------------------------------------------------------------------- */

/* What may be given: a range, or the choices. */
static void print_allowed(const dls_field *field, char *text, size_t size) {
    const char *whole = field->type == DLS_FIELD_REAL ? "" : "whole, ";
    switch (field->type) {
    case DLS_FIELD_INT:
    case DLS_FIELD_REAL:
    case DLS_FIELD_WHOLE:
        if (field->high >= 1e9)
            snprintf(text, size, "%s%g and up", whole, field->low);
        else
            snprintf(text, size, "%s%g to %g", whole, field->low, field->high);
        return;
    case DLS_FIELD_BOOL:
        snprintf(text, size, "no, yes");
        return;
    case DLS_FIELD_NAME: /* users may add rows to its table */
        snprintf(text, size, "a name");
        return;
    case DLS_FIELD_TEXT:
    case DLS_FIELD_VECTOR:
    case DLS_FIELD_OWN:
        dls_field_expected(field, text, size);
        return;
    case DLS_FIELD_CHOICE:
        break;
    }
    *text = '\0';
    size_t used = 0;
    for (const char *at = field->choices; at && used < size;) {
        int length = (int)strcspn(at, "|");
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", used ? ", " : "", length, at);
        at = at[length] ? at + length + 1 : NULL;
    }
}

static const char *shown_unit(const dls_field *field) { return strcmp(field->unit, "1") ? field->unit : ""; }

/* ---- terminal ------------------------------------------------------------------------------------------ */

enum { KEY_COLUMNS = 18, VALUE_COLUMNS = 10, LONG_RANGE = 32 };

/* Key, default, meaning, and what may be given: behind it, or below where that is long. */
static void print_field(const dls_field *field, const void *values) {
    char value[64], allowed[256];
    dls_field_print(field, values, value, sizeof value);
    print_allowed(field, allowed, sizeof allowed);
    const char *unit = shown_unit(field);
    int width = text_width(value) + (*unit ? 1 + text_width(unit) : 0);
    printf("    %-*s %s%s%s%*s %s", KEY_COLUMNS, field->key, value, *unit ? " " : "", unit,
           width < VALUE_COLUMNS ? VALUE_COLUMNS - width : 0, "", field->help);
    if (text_width(allowed) > LONG_RANGE) printf("\n    %*s ", KEY_COLUMNS + VALUE_COLUMNS + 1, "");
    printf(" %s[%s]%s\n", colour_begin(COLOUR_FAINT), allowed, colour_end(COLOUR_FAINT));
}

static void print_solver(const dls_solver *solver) {
    options_bytes values;
    solver->defaults(values.bytes);
    printf("%s%s%s: %s\n", colour_begin(COLOUR_STRONG), solver->name, colour_end(COLOUR_STRONG),
           solver->summary);
    for (int i = 0; i < solver->field_count; i++) print_field(&solver->fields[i], values.bytes);
}

static void print_law(const dls_law *law) {
    printf("    %s%-8s%s %s\n", colour_begin(COLOUR_STRONG), law->name, colour_end(COLOUR_STRONG),
           law->summary);
}

/* One struct serves all laws; each line of help says which it concerns. */
static void print_law_options(void) {
    int count;
    const dls_field *fields = dls_law_fields(&count);
    dls_law_options values = dls_default_law_options();
    printf("\noptions of the laws\n");
    for (int i = 0; i < count; i++) print_field(&fields[i], &values);
}

static int print_one(const char *name) {
    dls_nearest n = dls_nearest_begin(name);
    for (int i = 0; i < dls_solver_count(); i++) {
        dls_nearest_offer(&n, dls_solver_at(i)->name);
        if (strcmp(dls_solver_at(i)->name, name)) continue;
        print_solver(dls_solver_at(i));
        return EXIT_DONE;
    }
    for (int i = 0; i < dls_law_count(); i++) {
        dls_nearest_offer(&n, dls_law_at(i)->name);
        if (strcmp(dls_law_at(i)->name, name)) continue;
        print_law(dls_law_at(i));
        print_law_options();
        return EXIT_DONE;
    }
    return report_unknown("no solver or law", &n, "", "delassus solvers");
}

static int print_all(void) {
    printf("Solvers, with their options: default, meaning, [what may be given].\n\n");
    for (int i = 0; i < dls_solver_count(); i++) {
        print_solver(dls_solver_at(i));
        putchar('\n');
    }
    printf("Local laws, for solvers that sweep over contacts:\n");
    for (int i = 0; i < dls_law_count(); i++) print_law(dls_law_at(i));
    printf("\nUse as --solver NAME:LAW+key=value, or with --law NAME and --set key=value.\n");
    return EXIT_DONE;
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void field_to_json(json *j, const dls_field *field, const void *values) {
    static const char *const types[] = {"int",   "real", "bool",   "choice", "name",
                                        "whole", "text", "vector", "own"};
    char text[256];
    json_object_begin(j);
    json_member_text(j, "key", field->key);
    json_member_text(j, "type", types[field->type]);
    dls_field_print(field, values, text, sizeof text);
    json_member_text(j, "default", text);
    if (field->type <= DLS_FIELD_REAL || field->type == DLS_FIELD_WHOLE) {
        json_member_real(j, "low", field->low);
        json_member_real(j, "high", field->high);
    }
    if (field->type == DLS_FIELD_CHOICE) json_member_text(j, "choices", field->choices);
    json_member_text(j, "unit", field->unit);
    json_member_text(j, "help", field->help);
    json_object_end(j);
}

static void solver_to_json(json *j, const dls_solver *solver) {
    options_bytes values;
    solver->defaults(values.bytes);
    json_object_begin(j);
    json_member_text(j, "name", solver->name);
    json_member_text(j, "summary", solver->summary);
    json_key(j, "options");
    json_array_begin(j);
    for (int i = 0; i < solver->field_count; i++) field_to_json(j, &solver->fields[i], values.bytes);
    json_array_end(j);
    json_object_end(j);
}

static int print_json(void) {
    json j = json_begin(stdout, true);
    json_object_begin(&j);
    json_member_text(&j, "version", dls_version());
    json_key(&j, "solvers");
    json_array_begin(&j);
    for (int i = 0; i < dls_solver_count(); i++) solver_to_json(&j, dls_solver_at(i));
    json_array_end(&j);
    json_key(&j, "laws");
    json_array_begin(&j);
    for (int i = 0; i < dls_law_count(); i++) {
        json_object_begin(&j);
        json_member_text(&j, "name", dls_law_at(i)->name);
        json_member_text(&j, "summary", dls_law_at(i)->summary);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
    return EXIT_DONE;
}

/* ---- the reference page -------------------------------------------------------------------------------- */

/* Text of a table cell: a bar would end it. */
static void print_cell(const char *text) {
    for (; *text; text++) {
        if (*text == '|') putchar('\\');
        putchar(*text);
    }
}

static void print_markdown_field(const dls_field *field, const void *values) {
    char value[64], allowed[256];
    dls_field_print(field, values, value, sizeof value);
    print_allowed(field, allowed, sizeof allowed);
    printf("| `%s` | %s | %s | %s | ", field->key, value, shown_unit(field), allowed);
    print_cell(field->help);
    printf(" |\n");
}

static int print_markdown(void) {
    printf("# Solvers, laws and their options\n\n"
           "Written by `delassus solvers --markdown` from the tables that the solvers themselves read.\n"
           "Give an option as `--set key=value`, or in a solver's name: `--solver nlgs:ebp+window=8`.\n");
    for (int i = 0; i < dls_solver_count(); i++) {
        const dls_solver *solver = dls_solver_at(i);
        options_bytes values;
        solver->defaults(values.bytes);
        printf("\n## Solver `%s`\n\n%s.\n\n", solver->name, solver->summary);
        printf("| option | default | unit | allowed | meaning |\n|---|---|---|---|---|\n");
        for (int k = 0; k < solver->field_count; k++) print_markdown_field(&solver->fields[k], values.bytes);
    }
    printf("\n## Local laws\n\n| law | what it does |\n|---|---|\n");
    for (int i = 0; i < dls_law_count(); i++) {
        printf("| `%s` | ", dls_law_at(i)->name);
        print_cell(dls_law_at(i)->summary);
        printf(" |\n");
    }
    return EXIT_DONE;
}

static int run(const text_list *operands, const void *values) {
    const solvers_values *v = values;
    if (v->markdown) return print_markdown();
    if (v->json) return print_json();
    return operands->count ? print_one(operands->items[0]) : print_all();
}

static const solvers_values defaults = {false, false};

const command command_solvers = {
    .name = "solvers",
    .summary = "list solvers and local laws with every option, default, range and unit",
    .operands = "[NAME]",
    .details = NULL,
    .least_operands = 0,
    .most_operands = 1,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(solvers_values),
    .run = run,
};

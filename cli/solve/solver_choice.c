/* From text to a row of the solver table and its options. */
#include "cli/solve/solver_choice.h"

#include "cli/support/report.h"

#include <delassus/law.h>

#include <stdio.h>
#include <string.h>

static bool refuse_solver(const char *name) {
    dls_nearest n = dls_nearest_begin(name);
    for (int i = 0; i < dls_solver_count(); i++) dls_nearest_offer(&n, dls_solver_at(i)->name);
    report_unknown("no solver", &n, "", "delassus solvers");
    return false;
}

static bool refuse_law(const char *name) {
    dls_nearest n = dls_nearest_begin(name);
    for (int i = 0; i < dls_law_count(); i++) dls_nearest_offer(&n, dls_law_at(i)->name);
    report_unknown("no law", &n, "", "delassus solvers");
    return false;
}

/* The option that holds the law's name, NULL for a solver without one. */
static const dls_field *law_field(const dls_solver *solver) {
    for (int i = 0; i < solver->field_count; i++)
        if (!strcmp(solver->fields[i].key, "law")) return &solver->fields[i];
    return NULL;
}

bool solver_choice_set_law(solver_choice *choice, const char *name) {
    if (!dls_law_find(name)) return refuse_law(name);
    const dls_field *field = law_field(choice->solver);
    if (field && !dls_field_set(field, 1, choice->options.bytes, "law", name, NULL)) return true;
    report_error("solver '%s' takes no law, got '%s'", choice->solver->name, name);
    return false;
}

const char *solver_choice_law(const solver_choice *choice) {
    const dls_field *field = law_field(choice->solver);
    return field ? choice->options.bytes + field->offset : "";
}

static bool has_field(const dls_solver *solver, const char *key) {
    dls_nearest n = dls_nearest_begin(key);
    for (int i = 0; i < solver->field_count; i++) {
        if (!strcmp(solver->fields[i].key, key)) return true;
        dls_nearest_offer(&n, solver->fields[i].key);
    }
    char what[96], lister[96];
    snprintf(what, sizeof what, "solver '%s' has no option", solver->name);
    snprintf(lister, sizeof lister, "delassus solvers %s", solver->name);
    report_unknown(what, &n, "", lister);
    return false;
}

bool solver_choice_set(solver_choice *choice, const char *key, const char *value) {
    const dls_solver *solver = choice->solver;
    dls_error error;
    if (!strcmp(key, "law")) return solver_choice_set_law(choice, value);
    if (!has_field(solver, key)) return false;
    if (!dls_field_set(solver->fields, solver->field_count, choice->options.bytes, key, value, &error))
        return true;
    report_error("%s: %s", solver->name, error.message);
    return false;
}

bool solver_choice_assign(solver_choice *choice, const char *text) {
    char key[64];
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof key) {
        report_error("solver '%s': '%s' is no setting, expected key=value", choice->solver->name, text);
        return false;
    }
    snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
    return solver_choice_set(choice, key, equals + 1);
}

bool solver_choice_parse(solver_choice *choice, const char *text) {
    *choice = (solver_choice){0};
    char copy[sizeof choice->label];
    if (strlen(text) >= sizeof copy) {
        report_error("solver '%s' is too long, expected at most %zu bytes", text, sizeof copy - 1);
        return false;
    }
    snprintf(choice->label, sizeof choice->label, "%s", text);
    snprintf(copy, sizeof copy, "%s", text);
    char *settings = strchr(copy, '+');
    if (settings) *settings++ = '\0';
    char *law = strchr(copy, ':');
    if (law) *law++ = '\0';
    choice->solver = dls_solver_find(copy);
    if (!choice->solver) return refuse_solver(copy);
    choice->solver->defaults(choice->options.bytes);
    if (law && !solver_choice_set_law(choice, law)) return false;
    while (settings) {
        char *next = strchr(settings, '+');
        /* the plus of an exponent, as in 1e+3, belongs to the number */
        while (next && next > settings && (next[-1] == 'e' || next[-1] == 'E') &&
               strchr(settings, '=') < next && next[1] >= '0' && next[1] <= '9')
            next = strchr(next + 1, '+');
        if (next) *next++ = '\0';
        if (!solver_choice_assign(choice, settings)) return false;
        settings = next;
    }
    return true;
}

/* delassus info: what a file holds and how hard it may be, without solving it. */
#include "cli/commands.h"
#include "cli/support/json.h"
#include "cli/support/problem_file.h"
#include "cli/support/report.h"

#include <delassus/delassus.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>

/* Rows up to which rank and condition are computed unasked: about two seconds. */
enum { DENSE_LIMIT = 1500 };

typedef struct info_values {
    bool json, full, as_stored;
} info_values;

#define AT(member) offsetof(info_values, member)

static const option options[] = {
    OPTION("full", 'f', OPTION_FLAG, NULL, AT(full), "rank and condition whatever the size (cubic in rows)"),
    OPTION("as-stored", 0, OPTION_FLAG, NULL, AT(as_stored),
           "one triangle of a global problem's M is all of M, not half of a symmetric one"),
    OPTION("json", 0, OPTION_FLAG, NULL, AT(json), "one JSON object per file, one per line"),
};

typedef struct findings {
    const char *path;
    const dls_problem *problem;
    /* what FCLib files say beside it */
    bool global, mirrored;
    int freedoms, guesses;
    const char *title, *description, *math_info;
    const double *solution;                                         /* NULL: none */
    int contacts[DLS_MAX_BLOCK + 1], bilaterals[DLS_MAX_BLOCK + 1]; /* blocks by size */
    uint8_t parts[DLS_MAX_BLOCK + 1];                               /* of contacts by size */
    bool rolls;
    dls_problem_facts facts;
    bool has_solution, solution_is_zero;
    double solution_residual;
} findings;

/* ---- looking ------------------------------------------------------------------------------------------ */

static int rolling_rows(const findings *f, int size) { return f->parts[size] >> 2 & 3; }

static int spinning_rows(const findings *f, int size) { return f->parts[size] >> 4; }

static void count_blocks(findings *f) {
    for (int c = 0; c < dls_problem_block_count(f->problem); c++) {
        int size = dls_problem_block_size(f->problem, c);
        bool is_contact = dls_problem_block_kind(f->problem, c) == DLS_CONTACT;
        (is_contact ? f->contacts : f->bilaterals)[size]++;
        if (!is_contact) continue;
        f->parts[size] = dls_problem_block_parts(f->problem, c);
        f->rolls = f->rolls || rolling_rows(f, size);
    }
}

static dls_status judge_solution(findings *f, dls_error *error) {
    const double *r = f->solution;
    f->has_solution = r != NULL;
    f->solution_residual = nan("");
    if (!r) return DLS_OK;
    f->solution_is_zero = true;
    for (int i = 0; i < dls_problem_row_count(f->problem); i++)
        if (r[i] != 0) f->solution_is_zero = false;
    dls_measures measures;
    dls_status status = dls_problem_measure(f->problem, r, NULL, &measures, error);
    if (!status) f->solution_residual = measures.residual;
    return status;
}

static dls_status look(findings *f, bool full, dls_error *error) {
    count_blocks(f);
    dls_status status = dls_problem_analyze(f->problem, full ? INT_MAX : DENSE_LIMIT, &f->facts, error);
    return status ? status : judge_solution(f, error);
}

/* ---- for a person ------------------------------------------------------------------------------------- */

static void print_blocks(const findings *f) {
    const char *separator = "  blocks           ";
    for (int size = 1; size <= DLS_MAX_BLOCK; size++) {
        if (f->contacts[size]) {
            printf("%s%d contact%s of %d row%s", separator, f->contacts[size], plural(f->contacts[size]),
                   size, plural(size));
            if (rolling_rows(f, size) || spinning_rows(f, size))
                printf(" (normal, %d tangential, %d rolling, %d spinning)", f->parts[size] & 3,
                       rolling_rows(f, size), spinning_rows(f, size));
            separator = ", ";
        }
        if (f->bilaterals[size]) {
            printf("%s%d bilateral of %d row%s", separator, f->bilaterals[size], size, plural(size));
            separator = ", ";
        }
    }
    if (*separator != ',') printf("%snone", separator);
    putchar('\n');
}

static void print_rank(const findings *f) {
    const dls_problem_facts *facts = &f->facts;
    int rows = dls_problem_row_count(f->problem);
    if (rows == 0) return;
    if (facts->rank < 0) {
        printf("  rank             not computed for more than %d rows; --full does\n", DENSE_LIMIT);
        return;
    }
    printf("  rank             %d of %d\n", facts->rank, rows);
    printf("  hyperstaticity   %.4g rows per rank%s\n", facts->hyperstaticity,
           facts->hyperstaticity > 1 ? ": impulses are not unique" : "");
    printf("  condition        %.3g\n", facts->condition);
}

static void print_operator(const findings *f) {
    const dls_problem_facts *facts = &f->facts;
    int rows = dls_problem_row_count(f->problem), blocks = dls_problem_block_count(f->problem);
    char memory[32];
    format_bytes((double)dls_problem_memory(f->problem), memory, sizeof memory);
    printf("  W                %d × %d", rows, rows);
    int64_t stored = dls_problem_stored_blocks(f->problem);
    if (stored)
        printf(", %lld block%s stored, %.1f per block row", (long long)stored, plural(stored),
               (double)stored / blocks);
    printf("\n  memory           %s\n", memory);
    if (rows == 0) return;
    if (isnan(facts->asymmetry))
        printf("  symmetry         by construction\n");
    else if (facts->asymmetry == 0)
        printf("  symmetry         exact\n");
    else
        printf("  symmetry         off by %.2g of the largest entry\n", facts->asymmetry);
    printf("  diagonal         %.3g to %.3g 1/kg\n", facts->diagonal_low, facts->diagonal_high);
    print_rank(f);
}

static void print_solution(const findings *f) {
    if (!f->has_solution)
        printf("  solution         none stored\n");
    else if (f->solution_is_zero)
        printf("  solution         stored, but zero: it proves nothing (residual %.3g)\n",
               f->solution_residual);
    else
        printf("  solution         stored, residual %.3g\n", f->solution_residual);
    if (f->guesses) printf("  guesses          %d\n", f->guesses);
}

static void print_line(const char *label, const char *text) {
    printf("%s", label);
    print_plain(text);
    putchar('\n');
}

/* Lengths come back from the unit of their rows: the last bits may be others. */
static void print_range(const char *label, double low, double high, const char *unit) {
    if (isnan(low)) return;
    printf("%s%.6g", label, low);
    if (high - low > 1e-12 * high) printf(" to %.6g", high);
    printf("%s\n", unit);
}

static void print_findings(const findings *f) {
    printf("%s", colour_begin(COLOUR_STRONG));
    print_line("", f->path);
    printf("%s", colour_end(COLOUR_STRONG));
    if (*f->title) print_line("  title            ", f->title);
    if (*f->description) print_line("  description      ", f->description);
    printf("  form             %s%s\n", f->global ? "global (M, H, f, w), condensed to W" : "local (W, q)",
           f->rolls ? ", rolling friction" : "");
    if (f->mirrored)
        printf("  mass matrix      one triangle stored, mirrored; --as-stored takes it literally\n");
    if (f->freedoms) printf("  freedoms         %d\n", f->freedoms);
    if (dls_problem_body_count(f->problem))
        printf("  bodies           %d\n", dls_problem_body_count(f->problem));
    printf("  contacts         %d\n", dls_problem_contact_count(f->problem));
    print_blocks(f);
    if (dls_problem_contact_count(f->problem) == 0) printf("  friction         no contacts\n");
    print_range("  friction         μ = ", f->facts.mu_low, f->facts.mu_high, "");
    print_range("  rolling          μ_r = ", f->facts.mu_rolling_low, f->facts.mu_rolling_high, " m");
    print_operator(f);
    print_solution(f);
}

/* ---- for a program ------------------------------------------------------------------------------------ */

static void blocks_to_json(json *j, const findings *f) {
    json_key(j, "blocks");
    json_array_begin(j);
    for (int size = 1; size <= DLS_MAX_BLOCK; size++)
        for (int kind = DLS_CONTACT; kind <= DLS_INTERVAL; kind++) {
            int count = kind == DLS_CONTACT ? f->contacts[size] : f->bilaterals[size];
            if (!count) continue;
            json_object_begin(j);
            json_member_text(j, "kind", kind == DLS_CONTACT ? "contact" : "bilateral");
            json_member_integer(j, "rows", size);
            if (kind == DLS_CONTACT) json_member_integer(j, "rolling_rows", rolling_rows(f, size));
            json_member_integer(j, "count", count);
            json_object_end(j);
        }
    json_array_end(j);
}

static void facts_to_json(json *j, const dls_problem_facts *facts) {
    json_member_real(j, "asymmetry", facts->asymmetry);
    json_key(j, "rank");
    if (facts->rank < 0)
        json_text(j, NULL);
    else
        json_integer(j, facts->rank);
    json_member_real(j, "hyperstaticity", facts->hyperstaticity);
    json_member_real(j, "condition", facts->condition);
    json_member_real(j, "mu_low", facts->mu_low);
    json_member_real(j, "mu_high", facts->mu_high);
    json_member_real(j, "mu_rolling_low", facts->mu_rolling_low);
    json_member_real(j, "mu_rolling_high", facts->mu_rolling_high);
    json_member_real(j, "diagonal_low", facts->diagonal_low);
    json_member_real(j, "diagonal_high", facts->diagonal_high);
}

static void print_json(const findings *f) {
    json j = json_begin(stdout, false);
    json_object_begin(&j);
    json_member_text(&j, "file", f->path);
    json_member_text(&j, "form", f->global ? "global" : "local");
    json_member_text(&j, "title", f->title);
    json_member_text(&j, "description", f->description);
    json_member_text(&j, "math_info", f->math_info);
    json_member_integer(&j, "contacts", dls_problem_contact_count(f->problem));
    json_member_integer(&j, "rows", dls_problem_row_count(f->problem));
    json_member_integer(&j, "bodies", dls_problem_body_count(f->problem));
    json_member_integer(&j, "freedoms", f->freedoms);
    json_member_bool(&j, "mirrored", f->mirrored);
    blocks_to_json(&j, f);
    json_member_integer(&j, "stored_blocks", dls_problem_stored_blocks(f->problem));
    json_member_integer(&j, "memory", (int64_t)dls_problem_memory(f->problem));
    facts_to_json(&j, &f->facts);
    json_member_bool(&j, "has_solution", f->has_solution);
    json_member_bool(&j, "solution_is_zero", f->has_solution && f->solution_is_zero);
    json_member_real(&j, "solution_residual", f->solution_residual);
    json_member_integer(&j, "guesses", f->guesses);
    json_object_end(&j);
    json_end(&j);
}

/* ---- the command -------------------------------------------------------------------------------------- */

static void hear(findings *f, const dls_fclib *file) {
    f->global = dls_fclib_source_form(file) == DLS_FCLIB_GLOBAL;
    f->freedoms = dls_fclib_freedoms(file);
    f->guesses = dls_fclib_guess_count(file);
    f->title = dls_fclib_title(file);
    f->description = dls_fclib_description(file);
    f->math_info = dls_fclib_math_info(file);
    f->solution = dls_fclib_solution(file);
}

static int inform(const char *path, const info_values *v) {
    problem_source source;
    char message[1024];
    if (!problem_source_open(path, v->as_stored, &source, message, sizeof message))
        return report_error("%s", message);
    findings f = {.path = path, .problem = source.problem, .title = "", .description = "", .math_info = ""};
    if (source.fclib) hear(&f, source.fclib);
    f.mirrored = source.is_mirrored;
    dls_error error;
    int code = EXIT_DONE;
    if (look(&f, v->full, &error))
        code = report_error("%s: %s", path, error.message);
    else if (v->json)
        print_json(&f);
    else
        print_findings(&f);
    problem_source_close(&source);
    return code;
}

static int run(const text_list *operands, const void *values) {
    const info_values *v = values;
    int code = EXIT_DONE;
    for (int i = 0; i < operands->count; i++) {
        if (i > 0 && !v->json) putchar('\n');
        int one = inform(operands->items[i], v);
        if (one > code) code = one;
    }
    return code;
}

static const info_values defaults = {false, false, false};

const command command_info = {
    .name = "info",
    .summary = "tell what a problem file holds: sizes, friction, symmetry, rank, condition",
    .operands = "FILE…",
    .details = NULL,
    .least_operands = 1,
    .most_operands = INT_MAX,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(info_values),
    .run = run,
};

/* A run for people, as `paper | ours | tolerance | verdict`, and as JSON. */
#include "cli/support/report.h"
#include "cli/support/table.h"
#include "experiments/reproduce.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ------------------------------------------------------------------------------------------- */

/* One digit beyond the tolerance, so that a difference is seen where it counts; few without one. */
static void format_number(double value, double tolerance, char *text, size_t size) {
    int digits = value == floor(value) ? 15 : 4;
    if (tolerance > 0 && value != 0 && isfinite(value))
        digits = (int)(floor(log10(fabs(value))) - floor(log10(tolerance))) + 2;
    digits = digits < 3 ? 3 : digits > 15 ? 15 : digits;
    snprintf(text, size, "%.*g", digits, value);
}

static void format_sides(const claim *c, char *paper, char *ours, char *tolerance, size_t size) {
    const char *mark = c->source == CLAIM_DERIVED ? "*" : "";
    char number[64];
    snprintf(tolerance, size, "–");
    if (c->relation == CLAIM_ORDER) {
        snprintf(paper, size, "%s", c->paper_order);
        snprintf(ours, size, "%s", c->our_order);
        return;
    }
    const char *sign = c->relation == CLAIM_AT_MOST ? "≤ " : c->relation == CLAIM_AT_LEAST ? "≥ " : "";
    double resolution = c->relation == CLAIM_EQUAL ? c->tolerance : 0;
    format_number(c->paper, resolution, number, sizeof number);
    snprintf(paper, size, "%s%s%s", sign, number, mark);
    format_number(c->ours, resolution, ours, size);
    size_t used = strlen(ours);
    if (c->seeds > 0) snprintf(ours + used, size - used, " ± %.2g (%d)", c->half, c->seeds);
    if (c->relation == CLAIM_DECADES) snprintf(tolerance, size, "× %.2g", pow(10, c->tolerance));
    if (c->relation == CLAIM_EQUAL) snprintf(tolerance, size, resolution > 0 ? "%.2g" : "exact", resolution);
}

void verdict_counts_text(verdict_counts counts, char *text, size_t size) {
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < VERDICT_COUNT && used < size; i++)
        if (counts.of[i] > 0 || i == VERDICT_FAIL)
            used += (size_t)snprintf(text + used, size - used, "%s%d %s", used ? ", " : "", counts.of[i],
                                     verdict_name((claim_verdict)i));
}

/* ---- people -------------------------------------------------------------------------------------------- */

static report_colour verdict_colour(claim_verdict verdict) {
    return verdict == VERDICT_PASS ? COLOUR_GOOD : verdict == VERDICT_FAIL ? COLOUR_BAD : COLOUR_FAINT;
}

static void print_claims(const claim_list *list, bool paper) {
    const char *const heads[] = {"claim", "unit", paper ? "paper" : "bound", "ours", "tolerance", "verdict"};
    table *t = table_create(6);
    table_align_left(t, 5);
    for (int i = 0; i < 6; i++) table_cell(t, COLOUR_STRONG, "%s", heads[i]);
    for (int i = 0; i < list->count; i++) {
        const claim *c = &list->items[i];
        char paper_side[128], our_side[128], tolerance[128];
        format_sides(c, paper_side, our_side, tolerance, sizeof paper_side);
        table_cell(t, COLOUR_NONE, "%s", c->text);
        table_cell(t, COLOUR_FAINT, "%s", strcmp(c->unit, "1") ? c->unit : "");
        table_cell(t, COLOUR_NONE, "%s", paper_side);
        table_cell(t, COLOUR_NONE, "%s", our_side);
        table_cell(t, COLOUR_FAINT, "%s", tolerance);
        table_cell(t, verdict_colour(claim_judge(c)), "%s", verdict_name(claim_judge(c)));
    }
    table_print(t);
}

/* Each reason once, and what the star means where one is. */
static void print_notes(const claim_list *list, bool paper) {
    bool derived = false;
    for (int i = 0; i < list->count; i++) {
        const claim *c = &list->items[i];
        derived = derived || c->source == CLAIM_DERIVED;
        bool told = !c->reason;
        for (int k = 0; k < i && !told; k++) told = list->items[k].reason == c->reason;
        if (!told) printf("not comparable: %s\n", c->reason);
    }
    if (derived && paper) printf("* not printed in the paper: it follows from its equations and data\n");
    for (int i = 0; i < list->count; i++)
        if (list->items[i].seeds > 0) {
            printf("± is the interval of 95 %% over that many seeds; undecided: it does not tell\n");
            break;
        }
    if (derived && !paper) printf("* no paper: a bound of ours, or what follows from the equations\n");
}

void experiment_print(const experiment_run *run) {
    const experiment *e = run->experiment;
    char counts[96], seconds[32];
    verdict_counts found = claim_count(&run->claims);
    verdict_counts_text(found, counts, sizeof counts);
    format_seconds(run->seconds, seconds, sizeof seconds);
    printf("%s%s  %s%s\n", colour_begin(COLOUR_STRONG), e->name, e->title, colour_end(COLOUR_STRONG));
    bool paper = *experiment_section(e);
    printf("%s%s%s; %s size\n\n", experiment_paper(e)->authors, paper ? ", section " : "",
           experiment_section(e),
           run->size == SIZE_REDUCED ? "reduced"
           : paper                   ? "the paper's"
                                     : "full");
    print_claims(&run->claims, paper);
    print_notes(&run->claims, paper);
    printf("\n%s%s%s in %s\n", colour_begin(verdict_colour(verdict_overall(found))), counts,
           colour_end(verdict_colour(verdict_overall(found))), seconds);
    if (*run->folder) printf("tables and figures are in %s\n", run->folder);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void claim_to_json(json *j, const claim *c) {
    json_object_begin(j);
    json_member_text(j, "text", c->text);
    json_member_text(j, "unit", c->unit);
    json_member_text(j, "relation", claim_relation_name(c->relation));
    json_member_text(j, "source", claim_source_name(c->source));
    json_member_text(j, "method", c->method == METHOD_OURS ? "ours" : "paper's");
    if (c->relation == CLAIM_ORDER) {
        json_member_text(j, "paper", c->paper_order);
        json_member_text(j, "ours", c->our_order);
    } else {
        json_member_real(j, "paper", c->paper);
        json_member_real(j, "ours", c->ours);
    }
    if (c->relation == CLAIM_EQUAL || c->relation == CLAIM_DECADES)
        json_member_real(j, "tolerance", c->tolerance);
    if (c->seeds > 0) {
        json_member_integer(j, "seeds", c->seeds);
        json_member_real(j, "half", c->half);
    }
    json_member_text(j, "verdict", verdict_name(claim_judge(c)));
    if (c->reason) json_member_text(j, "reason", c->reason);
    json_object_end(j);
}

static void files_to_json(json *j, const experiment_run *run) {
    json_key(j, "files");
    json_array_begin(j);
    for (int i = 0; i < run->file_count; i++) json_text(j, run->files[i]);
    json_array_end(j);
}

void verdict_to_json(json *j, verdict_counts counts) {
    json_member_text(j, "verdict", verdict_name(verdict_overall(counts)));
    json_member_integer(j, "passed", counts.of[VERDICT_PASS]);
    json_member_integer(j, "failed", counts.of[VERDICT_FAIL]);
    json_member_integer(j, "undecided", counts.of[VERDICT_UNDECIDED]);
    json_member_integer(j, "not_comparable", counts.of[VERDICT_NOT_COMPARABLE]);
}

void experiment_head_to_json(json *j, const experiment *e) {
    json_member_text(j, "experiment", e->name);
    json_member_text(j, "title", e->title);
    json_member_text(j, "authors", experiment_paper(e)->authors);
    json_member_text(j, "paper", experiment_paper(e)->title);
    json_member_text(j, "section", experiment_section(e));
}

void experiment_to_json(json *j, const experiment_run *run) {
    char command[96];
    snprintf(command, sizeof command, "delassus reproduce %s%s", run->experiment->name,
             run->experiment->has_reduced && run->size == SIZE_FULL ? " --full" : "");
    experiment_head_to_json(j, run->experiment);
    json_member_text(j, "size", experiment_size_name(run->size));
    verdict_to_json(j, claim_count(&run->claims));
    json_member_text(j, "command", command);
    json_member_real(j, "seconds", run->seconds);
    json_key(j, "claims");
    json_array_begin(j);
    for (int i = 0; i < run->claims.count; i++) claim_to_json(j, &run->claims.items[i]);
    json_array_end(j);
    if (*run->folder) files_to_json(j, run);
}

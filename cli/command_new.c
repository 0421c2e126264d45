/* delassus new: a commented scene to start from. */
#include "cli/commands.h"
#include "cli/support/output_file.h"
#include "cli/support/report.h"

#include <delassus/scene.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct new_values {
    const char *output;
    bool force;
} new_values;

#define AT(member) offsetof(new_values, member)

static const option options[] = {
    OPTION("output", 'o', OPTION_TEXT, "FILE", AT(output),
           "where to write it; '-' is stdout [TEMPLATE.yaml]"),
    OPTION("force", 'f', OPTION_FLAG, NULL, AT(force), "replace a file that exists"),
};

static int print_list(void) {
    printf("Templates, for delassus new TEMPLATE:\n\n");
    int width = 0;
    for (int i = 0; i < dls_scene_template_count(); i++) {
        int one = text_width(dls_scene_template_name(i));
        width = one > width ? one : width;
    }
    for (int i = 0; i < dls_scene_template_count(); i++)
        printf("  %s%-*s%s  %s\n", colour_begin(COLOUR_STRONG), width, dls_scene_template_name(i),
               colour_end(COLOUR_STRONG), dls_scene_template_summary(i));
    return EXIT_DONE;
}

static int find_template(const char *name) {
    char stem[128]; /* drum.yaml is a file, its template is drum */
    snprintf(stem, sizeof stem, "%s", name);
    char *ending = strstr(stem, ".yaml");
    if (ending) *ending = '\0';
    dls_nearest n = dls_nearest_begin(stem);
    for (int i = 0; i < dls_scene_template_count(); i++) {
        if (!strcmp(dls_scene_template_name(i), name)) return i;
        dls_nearest_offer(&n, dls_scene_template_name(i));
    }
    n.wanted = name;
    report_unknown("new: no template", &n, "", "delassus new");
    return -1;
}

static int write_scene(const char *path, const char *text) {
    output_file out;
    if (!output_file_open(&out, path)) return EXIT_BAD_INPUT;
    fputs(text, out.stream);
    if (!output_file_commit(&out)) return EXIT_BAD_INPUT;
    printf("%s: written; edit it, then 'delassus check %s' and 'delassus run %s'\n", path, path, path);
    return EXIT_DONE;
}

static int run(const text_list *operands, const void *values) {
    const new_values *v = values;
    if (!operands->count) return print_list();
    int index = find_template(operands->items[0]);
    if (index < 0) return EXIT_BAD_INPUT;
    char preset[128];
    snprintf(preset, sizeof preset, "%s.yaml", dls_scene_template_name(index));
    const char *path = v->output ? v->output : preset, *text = dls_scene_template_text(index);
    if (!strcmp(path, "-")) {
        fputs(text, stdout);
        return EXIT_DONE;
    }
    struct stat there;
    if (!v->force && stat(path, &there) == 0 && S_ISREG(there.st_mode))
        return report_error("%s: exists already, expected a new name, or --force to replace it", path);
    return write_scene(path, text);
}

static const new_values defaults = {NULL, false};

const command command_new = {
    .name = "new",
    .summary = "write a commented scene to start from",
    .operands = "[TEMPLATE]",
    .details = "Without a template, lists them.\n\n"
               "  delassus new drum -o drum.yaml",
    .least_operands = 0,
    .most_operands = 1,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(new_values),
    .run = run,
};

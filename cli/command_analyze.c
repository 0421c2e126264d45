/* delassus analyze: what a run tells. */
#include "cli/analyze/analyze.h"
#include "cli/commands.h"
#include "cli/support/output_file.h"
#include "cli/support/report.h"
#include "cli/support/results_file.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct analyze_values {
    const char *output, *frames, *axis, *region, *plane, *joint;
    int layers;
    double floor;
    bool json;
} analyze_values;

#define AT(member) offsetof(analyze_values, member)

static const option options[] = {
    OPTION("output", 'o', OPTION_TEXT, "DIR", AT(output), "CSV files and figures (PNG, SVG) go there"),
    OPTION("frames", 0, OPTION_TEXT, "A:B", AT(frames),
           "recorded frames A to B, from 0; from the end where negative; either may be left out"),
    OPTION("axis", 0, OPTION_TEXT, "AXIS", AT(axis),
           "x, y or z: of the profile (default: upright) and of the slope (default: the first level one)"),
    OPTION("region", 0, OPTION_TEXT, "BOX", AT(region),
           "x0:x1,y0:y1[,z0:z1] instead of the hull of the bodies that bear load"),
    OPTION(
        "plane", 0, OPTION_TEXT, "PLANE", AT(plane),
        "of the flow: [-]AXIS=PLACE, or POINT:NORMAL as x,y[,z]:nx,ny[,nz]; forward is along AXIS or NORMAL"),
    OPTION("layers", 0, OPTION_INT(1, 100000), "N", AT(layers),
           "of the profile; default: as thick as a mean body"),
    OPTION("floor", 0, OPTION_REAL(0, 0.5), "SHARE", AT(floor),
           "a contact bears load above this share of the mean normal force"),
    OPTION("joint", 0, OPTION_TEXT, "NAME", AT(joint), "the joint that is measured alone, by name or number"),
    OPTION("json", 0, OPTION_FLAG, NULL, AT(json), "facts and tables as one JSON object on stdout"),
};

/* ---- what is asked for ---- */

static int list_measures(void) {
    printf("Measures, for delassus analyze RUN MEASURE…; without any, all that the run allows:\n\n");
    for (int k = 0; k < dls_analysis_measure_count(); k++) {
        const dls_analysis_measure *m = dls_analysis_measure_at(k);
        printf("  %s%-16s%s %s%s%s\n", colour_begin(COLOUR_STRONG), m->name, colour_end(COLOUR_STRONG),
               m->summary,
               m->needs & DLS_NEEDS_CONTACTS ? " (needs contacts)"
               : m->needs & DLS_NEEDS_PLANE  ? " (needs --plane)"
               : m->needs & DLS_NEEDS_ASKING ? " (by name only)"
               : m->needs & DLS_NEEDS_JOINTS ? " (needs joints)"
                                             : "",
               m->needs & DLS_NEEDS_HEAP ? " (spatial runs, by name only)" : "");
    }
    return EXIT_DONE;
}

static const dls_analysis_measure *find_measure(const char *name) {
    dls_nearest n = dls_nearest_begin(name);
    for (int k = 0; k < dls_analysis_measure_count(); k++) {
        const dls_analysis_measure *m = dls_analysis_measure_at(k);
        if (!strcmp(m->name, name)) return m;
        dls_nearest_offer(&n, m->name);
    }
    report_unknown("analyze: no measure", &n, "", "delassus analyze");
    return NULL;
}

/* One end of a range; nothing leaves the value as it is. */
static bool read_end(const char **text, int frames, int *value) {
    char *end;
    if (!**text || **text == ':') return true;
    long number = strtol(*text, &end, 10);
    if (end == *text || number < INT_MIN || number > INT_MAX) return false;
    *text = end;
    *value = number < 0 ? (int)number + frames : (int)number;
    return true;
}

static bool read_frames(const char *text, int frames, dls_analysis_options *o) {
    const char *at = text;
    o->first_frame = 0;
    o->last_frame = frames - 1;
    if (!text) return true;
    bool good = *text && read_end(&at, frames, &o->first_frame);
    if (good && *at == ':')
        at++, good = read_end(&at, frames, &o->last_frame);
    else
        o->last_frame = o->first_frame;
    if (good && !*at && o->first_frame >= 0 && o->first_frame <= o->last_frame && o->last_frame < frames)
        return true;
    report_error("analyze: frames '%s', expected A:B within 0:%d", text, frames - 1);
    return false;
}

static bool read_region(const char *text, int dimension, dls_analysis_options *o) {
    const char *at = text;
    bool good = true;
    if (!text) return true;
    for (int k = 0; k < dimension && good; k++) {
        char *end;
        o->region_low[k] = strtod(at, &end);
        good = end != at && *end == ':';
        if (!good) break;
        at = end + 1;
        o->region_high[k] = strtod(at, &end);
        good = end != at && *end == (k + 1 < dimension ? ',' : '\0') && o->region_low[k] < o->region_high[k];
        at = end + 1;
    }
    o->has_region = true;
    if (!good)
        report_error("analyze: region '%s', expected %s with each low below its high", text,
                     dimension == 2 ? "x0:x1,y0:y1 in a planar run" : "x0:x1,y0:y1,z0:z1 in a spatial run");
    return good;
}

/* So many numbers with commas between; NULL where there are others, else what follows them. */
static const char *read_vector(const char *text, int dimension, double *v) {
    for (int k = 0; k < dimension; k++) {
        char *end;
        if (k > 0 && *text++ != ',') return NULL;
        v[k] = strtod(text, &end);
        if (end == text || !isfinite(v[k])) return NULL;
        text = end;
    }
    return text;
}

static bool read_plane(const char *text, int dimension, dls_analysis_options *o) {
    if (!text) return true;
    const char *at = text + (*text == '-'), *axis = *at ? strchr("xyz", *at) : NULL;
    bool good, along = axis && at[1] == '=';
    if (along) {
        int k = (int)(axis - "xyz");
        o->plane_normal[k] = *text == '-' ? -1 : 1;
        at = read_vector(at + 2, 1, o->plane_point + k);
        good = at && !*at && k < dimension;
    } else {
        at = read_vector(text, dimension, o->plane_point);
        at = at && *at == ':' ? read_vector(at + 1, dimension, o->plane_normal) : NULL;
        good = at && !*at;
    }
    o->has_plane = true;
    if (!good)
        report_error("analyze: plane '%s', expected %s", text,
                     dimension == 2 ? "[-]x=PLACE, [-]y=PLACE or x,y:nx,ny in a planar run"
                                    : "[-]x=PLACE, y, z likewise, or x,y,z:nx,ny,nz in a spatial run");
    return good;
}

static bool read_options(const analyze_values *v, const dls_results *results, dls_analysis_options *o) {
    *o = dls_default_analysis_options();
    int frames = dls_results_frame_count(results);
    if (frames == 0) {
        report_error("analyze: the run has no frames: it ended before the first was written");
        return false;
    }
    if (v->axis) {
        const char *found = strlen(v->axis) == 1 ? strchr("xyz", *v->axis) : NULL;
        if (!found) {
            report_error("analyze: no axis '%s', expected x, y or z", v->axis);
            return false;
        }
        o->axis = (dls_analysis_axis)(found - "xyz" + 1);
    }
    o->layers = v->layers;
    o->floor = v->floor;
    o->joint = v->joint;
    int dimension = dls_results_dimension(results);
    return read_frames(v->frames, frames, o) && read_region(v->region, dimension, o) &&
           read_plane(v->plane, dimension, o);
}

/* Whether the measure makes sense of any such run; what a run could have recorded and did not is no matter of
 * that. */
static bool suits(const dls_analysis_measure *m, const dls_results *results, bool has_plane) {
    dls_world_def world = dls_results_world(results);
    bool gravity = world.gravity[0] != 0 || world.gravity[1] != 0 || world.gravity[2] != 0;
    if ((m->needs & DLS_NEEDS_JOINTS) && dls_results_joint_count(results) == 0) return false;
    if ((m->needs & (DLS_NEEDS_HEAP | DLS_NEEDS_ASKING)) || ((m->needs & DLS_NEEDS_PLANE) && !has_plane))
        return false;
    return !((m->needs & DLS_NEEDS_SPACE) && world.dimension == 2) &&
           !((m->needs & DLS_NEEDS_GRAVITY) && !gravity);
}

static bool choose_measures(const text_list *operands, analyze_report *r) {
    int all = dls_analysis_measure_count();
    r->items = report_allocate((size_t)(operands->count > all ? operands->count : all), sizeof *r->items);
    for (int k = 1; k < operands->count; k++)
        if (!(r->items[r->count++].measure = find_measure(operands->items[k]))) return false;
    for (int k = 0; k < all && operands->count == 1; k++)
        if (suits(dls_analysis_measure_at(k), r->results, r->options.has_plane))
            r->items[r->count++].measure = dls_analysis_measure_at(k);
    return true;
}

/* All at once, before any work: a run without contacts names all that would need them. */
static bool check_contacts(const analyze_report *r) {
    char need[512] = "", other[512] = "";
    bool missing = false;
    if (dls_results_has_contacts(r->results)) return true;
    for (int k = 0; k < r->count; k++) {
        bool needs = r->items[k].measure->needs & DLS_NEEDS_CONTACTS;
        char *text = needs ? need : other;
        size_t used = strlen(text);
        snprintf(text + used, sizeof need - used, "%s%s", used ? " " : "", r->items[k].measure->name);
        missing = missing || needs;
    }
    if (!missing) return true;
    report_error("analyze: %s: no contacts are recorded, which these need: %s; run it with "
                 "--set output.contacts=yes%s%s",
                 r->path, need, *other ? ", or ask only for: " : "", other);
    return false;
}

/* ---- doing it ---- */

/* What was asked for by name has to be there; of all measures, those that find nothing are left out. */
static bool measure_all(analyze_report *r, bool named) {
    int found = 0;
    for (int k = 0; k < r->count; k++) {
        dls_error error;
        analyzed *item = &r->items[k];
        if (!dls_analysis_create(r->results, item->measure->name, &r->options, &item->analysis, &error)) {
            found++;
            continue;
        }
        bool needed = named || error.status == DLS_ERROR_FILE || error.status == DLS_ERROR_MEMORY;
        snprintf(item->why, sizeof item->why, "%s", error.message);
        if (!needed) continue;
        report_error("analyze: %s: %s", r->path, error.message);
        return false;
    }
    if (!found) report_error("analyze: %s: nothing to measure: %s", r->path, r->count ? r->items[0].why : "");
    return found > 0;
}

static int analyze(const text_list *operands, const analyze_values *v, analyze_report *r) {
    if (!read_options(v, r->results, &r->options) || !choose_measures(operands, r) || !check_contacts(r) ||
        !measure_all(r, operands->count > 1))
        return EXIT_BAD_INPUT;
    if (v->output &&
        !(output_folder_make(v->output) && analyze_write(r, v->output) && analyze_draw(r, v->output)))
        return EXIT_BAD_INPUT;
    if (v->json)
        analyze_print_json(r);
    else
        analyze_print(r);
    return EXIT_DONE;
}

static int run(const text_list *operands, const void *values) {
    analyze_report r = {0};
    if (operands->count == 0) return list_measures();
    r.path = operands->items[0];
    const char *output = ((const analyze_values *)values)->output;
    if (output && !output_folder_is_apart(output, r.path)) return EXIT_BAD_INPUT;
    if (!(r.results = results_file_open(r.path))) return EXIT_BAD_INPUT;
    int code = analyze(operands, values, &r);
    for (int k = 0; k < r.count; k++) dls_analysis_destroy(r.items[k].analysis);
    free(r.items);
    dls_results_destroy(r.results);
    return code;
}

static const analyze_values defaults = {.floor = 1e-4};

const command command_analyze = {
    .name = "analyze",
    .summary = "measure a run: forces, packing, stress, slopes, energy, joints",
    .operands = "[RUN [MEASURE...]]",
    .details = "RUN is a results file. Without a measure, all that the run allows; without a run, lists the\n"
               "measures. docs/analysis.md has their formulas.\n\n"
               "  delassus analyze drum.h5 -o drum\n"
               "  delassus analyze drum.h5 repose profile --frames 100: --json\n\n"
               "Exit status: 0 done, 2 bad input: no contacts recorded, a cut file, a spatial measure of a\n"
               "planar run.",
    .least_operands = 0,
    .most_operands = 64,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(analyze_values),
    .run = run,
};

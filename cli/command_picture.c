/* delassus picture: a frame of a run, drawn. */
#include "cli/commands.h"
#include "cli/picture/shot.h"
#include "cli/support/output_file.h"
#include "cli/support/report.h"
#include "cli/support/results_file.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct picture_values {
    const char *output, *view, *frames;
    int frame;
    bool forces;
    double width, zoom;
    const char *region, *bodies;
} picture_values;

#define AT(member) offsetof(picture_values, member)

static const option options[] = {
    OPTION("output", 'o', OPTION_TEXT, "PATH", AT(output),
           "PATH.png and PATH.svg, of --frames a folder; default: the name of the run"),
    OPTION("frame", 0, OPTION_INT(0, INT_MAX), "N", AT(frame), "recorded frame, from 0; default: the last"),
    OPTION("frames", 0, OPTION_TEXT, "A:B:N", AT(frames),
           "for a film: every Nth frame from A to B, any left out: all, to the last, 1"),
    OPTION("view", 0, OPTION_TEXT, "VIEW", AT(view), "front, side, top or iso of a run in space"),
    OPTION("region", 0, OPTION_TEXT, "BOX", AT(region),
           "x0:x1,y0:y1[,z0:z1] fills the page instead of all that is there"),
    OPTION("bodies", 0, OPTION_TEXT, "NAME", AT(bodies), "bodies whose names begin so fill the page"),
    OPTION("zoom", 0, OPTION_REAL(1e-3, 1e6), "FACTOR", AT(zoom),
           "so many times as large, about the middle of the page"),
    OPTION("forces", 0, OPTION_FLAG, NULL, AT(forces), "force chains over the bodies"),
    OPTION("width", 0, OPTION_REAL(1, 14), "INCHES", AT(width), "width of the page"),
};

/* "x0:x1,y0:y1[,z0:z1]" */
static bool read_region(const char *text, picture_focus *focus) {
    const char *at = text;
    char *end;
    int axis = 0;
    for (bool more = true; more && axis < 3; axis++, at = end + 1) {
        double *side = focus->region[axis];
        side[0] = strtod(at, &end);
        if (end == at || *end != ':') return false;
        at = end + 1;
        side[1] = strtod(at, &end);
        if (end == at || !(side[0] < side[1]) || !isfinite(side[1] - side[0])) return false;
        more = *end == ',';
    }
    focus->has_region = true;
    return axis >= 2 && at[-1] == '\0';
}

static picture_focus focus_of(const picture_values *v) {
    picture_focus focus = {.bodies = v->bodies, .zoom = v->zoom};
    if (v->region) read_region(v->region, &focus);
    return focus;
}

static bool draw(dls_results *results, int frame, const picture_values *v, const picture_frame *common,
                 const char *path) {
    picture_shot s;
    char message[512];
    bool good = picture_shot_read(&s, results, frame, v->view, v->forces, v->width);
    s.picture.frame = common;
    s.picture.focus = focus_of(v);
    if (good && !picture_write(&s.picture, path, message, sizeof message)) {
        report_error("picture: %s", message);
        good = false;
    }
    picture_shot_free(&s);
    return good;
}

static int draw_one(dls_results *results, int frame, const picture_values *v, const char *path) {
    if (!draw(results, frame, v, NULL, path)) return EXIT_BAD_INPUT;
    printf("%s.png, %s.svg: frame %d, t = %g s\n", path, path, frame, dls_results_frame_time(results, frame));
    return EXIT_DONE;
}

/* ---- films ---- */

typedef struct span {
    int first, last, by;
} span;

/* "A:B:N", where any number may be missing. */
static bool read_span(const char *text, int frames, span *s) {
    int *const numbers[3] = {&s->first, &s->last, &s->by};
    const char *rest = text;
    *s = (span){0, frames - 1, 1};
    for (int k = 0; k < 3; k++) {
        char *end;
        long value = strtol(rest, &end, 10);
        if (end != rest) *numbers[k] = value < -1 || value > INT_MAX ? -1 : (int)value;
        if (*end == 0) break;
        if (*end != ':' || k == 2) return false;
        rest = end + 1;
    }
    if (s->by > frames) s->by = frames;
    return s->first >= 0 && s->first <= s->last && s->last < frames && s->by >= 1;
}

/* Framing and scales are those of all frames of the film. */
static int draw_film(dls_results *results, const span *film, const picture_values *v, const char *folder) {
    picture_frame common = picture_frame_none();
    int count = 0;
    for (int frame = film->first; frame <= film->last; frame += film->by) {
        picture_shot s;
        bool good = picture_shot_read(&s, results, frame, v->view, v->forces, v->width);
        s.picture.focus = focus_of(v);
        if (good) picture_frame_enclose(&common, &s.picture);
        picture_shot_free(&s);
        if (!good) return EXIT_BAD_INPUT;
    }
    if (!output_folder_make(folder)) return EXIT_BAD_INPUT;
    for (int frame = film->first; frame <= film->last; frame += film->by) {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%05d", folder, count++);
        if (length < 0 || (size_t)length >= sizeof path || !draw(results, frame, v, &common, path))
            return EXIT_BAD_INPUT;
    }
    printf("%s: %d picture%s, from t = %g s to %g s\n", folder, count, plural(count),
           dls_results_frame_time(results, film->first),
           dls_results_frame_time(results, film->first + (count - 1) * film->by));
    return EXIT_DONE;
}

/* PATH.png and PATH.svg are written: an ending that was given is none of PATH's. */
static bool take_stem(const char *given, const char *const *endings, char *stem, size_t size) {
    size_t length = strlen(given);
    if (length >= size) return report_error("picture: a path of %zu letters is too long", length), false;
    memcpy(stem, given, length + 1);
    for (int k = 0; k < 2; k++)
        if (length > 4 && !strcmp(stem + length - 4, endings[k])) stem[length - 4] = 0;
    return true;
}

static int run(const text_list *operands, const void *values) {
    const picture_values *v = values;
    static const char *const endings[] = {".png", ".svg"};
    char named[4096];
    picture_view view;
    dls_results *results;
    if (!picture_view_find(v->view, &view))
        return report_error("picture: no view '%s', expected front, side, top or iso", v->view);
    picture_focus focus;
    if (v->region && !read_region(v->region, &focus))
        return report_error("picture: no region '%s', expected x0:x1,y0:y1[,z0:z1] with x0 < x1", v->region);
    if (v->output ? !take_stem(v->output, endings, named, sizeof named)
                  : !output_path_named_after(operands->items[0], "", named, sizeof named))
        return EXIT_BAD_INPUT;
    if (v->frames && v->frame >= 0)
        return report_error("picture: --frame and --frames exclude each other, expected one of them");
    if (!output_stem_is_apart(named, 2, endings, operands->items[0])) return EXIT_BAD_INPUT;
    if (!(results = results_file_open(operands->items[0]))) return EXIT_BAD_INPUT;
    int frames = dls_results_frame_count(results), frame = v->frame < 0 ? frames - 1 : v->frame;
    int code = EXIT_BAD_INPUT;
    span film;
    if (frames == 0)
        report_error("picture: %s holds no frame yet", operands->items[0]);
    else if (frame >= frames)
        report_error("picture: no frame %d in %s, expected 0 to %d", frame, operands->items[0], frames - 1);
    else if (v->forces && !dls_results_has_contacts(results))
        report_error("picture: %s holds no contacts (output.contacts was no), expected them for --forces",
                     operands->items[0]);
    else if (v->frames && !read_span(v->frames, frames, &film))
        report_error("picture: no frames '%s' in %s, expected A:B:N with 0 ≤ A ≤ B ≤ %d and N ≥ 1", v->frames,
                     operands->items[0], frames - 1);
    else if (v->frames)
        code = draw_film(results, &film, v, v->output ? v->output : named);
    else
        code = draw_one(results, frame, v, named);
    dls_results_destroy(results);
    return code;
}

static const picture_values defaults = {.view = "iso", .frame = -1, .width = 5, .zoom = 1};

const command command_picture = {
    .name = "picture",
    .summary = "draw a frame of a run, or several for a film",
    .operands = "RESULTS",
    .details = "Bodies as they are, coloured by speed, with their joints, and force chains where asked for;\n"
               "in space without perspective.\n\n"
               "  delassus picture drum.h5 --forces\n"
               "  delassus picture filling.h5 --view front --frame 0 -o start\n"
               "  delassus picture drum.h5 --frames 0:100:2 -o frames",
    .least_operands = 1,
    .most_operands = 1,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(picture_values),
    .run = run,
};

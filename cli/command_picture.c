/* delassus picture: a frame of a run, drawn. */
#include "cli/commands.h"
#include "cli/picture/picture.h"
#include "cli/support/output_file.h"
#include "cli/support/report.h"
#include "cli/support/results_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool joins_present(const dls_body_id *body, const bool *present) {
    return (body[0] < 0 || present[body[0]]) && (body[1] < 0 || present[body[1]]);
}

typedef struct picture_values {
    const char *output, *view;
    int frame;
    bool forces;
    double width;
} picture_values;

#define AT(member) offsetof(picture_values, member)

static const option options[] = {
    {"output", 'o', OPTION_TEXT, "PATH", AT(output), 0, 0,
     "PATH.png and PATH.svg; default: the name of the run"},
    {"frame", 0, OPTION_INT, "N", AT(frame), 0, INT_MAX, "recorded frame, from 0; default: the last"},
    {"view", 0, OPTION_TEXT, "VIEW", AT(view), 0, 0, "front, side, top or iso of a run in space"},
    {"forces", 0, OPTION_FLAG, NULL, AT(forces), 0, 0, "force chains over the bodies"},
    {"width", 0, OPTION_REAL, "INCHES", AT(width), 1, 14, "width of the page"},
};

/* Before the first step nothing has acted yet: all whose bodies are there are drawn. */
static dls_status find_joints(dls_results *results, int frame, const bool *present, dls_joint_id *ids,
                              int *count, dls_error *error) {
    int acted = dls_results_frame_joint_count(results, frame), all = dls_results_joint_count(results);
    dls_joint_record *records = report_allocate((size_t)acted + 1, sizeof *records);
    dls_status status = dls_results_frame_joints(results, frame, records, error);
    *count = 0;
    for (int k = 0; k < acted && !status; k++)
        if (joins_present(records[k].body, present)) ids[(*count)++] = records[k].joint;
    for (int id = 0; id < all && dls_results_frame_step(results, frame) == 0; id++) {
        dls_joint_def def;
        if (!dls_results_joint(results, id, &def, NULL) && joins_present(def.body, present))
            ids[(*count)++] = id;
    }
    free(records);
    return status;
}

static int draw(dls_results *results, int frame, const picture_values *v, const char *path) {
    int bodies = dls_results_body_count(results);
    int contacts = v->forces ? dls_results_frame_contact_count(results, frame) : 0;
    dls_body_state *states = report_allocate((size_t)bodies + 1, sizeof *states);
    bool *present = report_allocate((size_t)bodies + 1, sizeof *present);
    dls_contact_record *records = report_allocate((size_t)contacts + 1, sizeof *records);
    dls_joint_id *joints = report_allocate((size_t)dls_results_joint_count(results) + 1, sizeof *joints);
    dls_error error;
    char message[512];
    picture p = {.dimension = dls_results_dimension(results),
                 .body_count = bodies,
                 .results = results,
                 .states = states,
                 .present = present,
                 .contact_count = contacts,
                 .contacts = records,
                 .joints = joints,
                 .time = dls_results_frame_time(results, frame),
                 .title = dls_results_title(results),
                 .width_inches = v->width};
    int code = EXIT_BAD_INPUT;
    picture_view_find(p.dimension == 2 ? "top" : v->view, &p.view);
    if (dls_results_frame_states(results, frame, states, present, &error) ||
        find_joints(results, frame, present, joints, &p.joint_count, &error) ||
        (contacts && dls_results_frame_contacts(results, frame, records, &error)))
        report_error("picture: %s", error.message);
    else if (!picture_write(&p, path, message, sizeof message))
        report_error("picture: %s", message);
    else
        code = EXIT_DONE;
    if (code == EXIT_DONE) printf("%s.png, %s.svg: frame %d, t = %g s\n", path, path, frame, p.time);
    free(states);
    free(present);
    free(records);
    free(joints);
    return code;
}

static int run(const text_list *operands, const void *values) {
    const picture_values *v = values;
    static const char *const endings[] = {".png", ".svg"};
    char named[4096];
    picture_view view;
    dls_results *results;
    if (!picture_view_find(v->view, &view))
        return report_error("picture: no view '%s', expected front, side, top or iso", v->view);
    if (!v->output && !output_path_named_after(operands->items[0], "", named, sizeof named))
        return EXIT_BAD_INPUT;
    if (!output_stem_is_apart(v->output ? v->output : named, 2, endings, operands->items[0]))
        return EXIT_BAD_INPUT;
    if (!(results = results_file_open(operands->items[0]))) return EXIT_BAD_INPUT;
    int frames = dls_results_frame_count(results), frame = v->frame < 0 ? frames - 1 : v->frame;
    int code = EXIT_BAD_INPUT;
    if (frames == 0)
        report_error("picture: %s holds no frame yet", operands->items[0]);
    else if (frame >= frames)
        report_error("picture: no frame %d in %s, expected 0 to %d", frame, operands->items[0], frames - 1);
    else if (v->forces && !dls_results_has_contacts(results))
        report_error("picture: %s holds no contacts (output.contacts was no), expected them for --forces",
                     operands->items[0]);
    else
        code = draw(results, frame, v, v->output ? v->output : named);
    dls_results_destroy(results);
    return code;
}

static const picture_values defaults = {.view = "iso", .frame = -1, .width = 5};

const command command_picture = {
    .name = "picture",
    .summary = "draw a frame of a run",
    .operands = "RESULTS",
    .details = "Bodies as they are, coloured by speed, with their joints, and force chains where asked for;\n"
               "in space without perspective.\n\n"
               "  delassus picture drum.h5 --forces\n"
               "  delassus picture filling.h5 --view front --frame 0 -o start",
    .least_operands = 1,
    .most_operands = 1,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(picture_values),
    .run = run,
};

#include "cli/picture/shot.h"

#include "cli/support/report.h"

#include <stdlib.h>

static bool joins_present(const dls_body_id *body, const bool *present) {
    return (body[0] < 0 || present[body[0]]) && (body[1] < 0 || present[body[1]]);
}

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

void picture_shot_free(picture_shot *s) {
    free(s->states);
    free(s->present);
    free(s->contacts);
    free(s->joints);
    free(s->nodes);
    free(s->gradients);
}

bool picture_shot_read(picture_shot *s, dls_results *results, int frame, const char *view, bool forces,
                       double width_inches) {
    int bodies = dls_results_body_count(results);
    int contacts = forces ? dls_results_frame_contact_count(results, frame) : 0;
    dls_error error;
    s->states = report_allocate((size_t)bodies + 1, sizeof *s->states);
    s->present = report_allocate((size_t)bodies + 1, sizeof *s->present);
    s->contacts = report_allocate((size_t)contacts + 1, sizeof *s->contacts);
    s->joints = report_allocate((size_t)dls_results_joint_count(results) + 1, sizeof *s->joints);
    s->nodes = report_allocate((size_t)dls_results_frame_node_count(results, frame) + 1, sizeof *s->nodes);
    s->gradients =
        report_allocate((size_t)dls_results_frame_gradient_count(results, frame) + 1, sizeof *s->gradients);
    s->picture = (picture){.dimension = dls_results_dimension(results),
                           .body_count = bodies,
                           .results = results,
                           .states = s->states,
                           .present = s->present,
                           .contact_count = contacts,
                           .contacts = s->contacts,
                           .joints = s->joints,
                           .node_count = dls_results_frame_node_count(results, frame),
                           .nodes = s->nodes,
                           .gradient_count = dls_results_frame_gradient_count(results, frame),
                           .gradients = s->gradients,
                           .time = dls_results_frame_time(results, frame),
                           .title = dls_results_title(results),
                           .width_inches = width_inches};
    picture_view_find(s->picture.dimension == 2 ? "top" : view, &s->picture.view);
    if (!dls_results_frame_states(results, frame, s->states, s->present, &error) &&
        !find_joints(results, frame, s->present, s->joints, &s->picture.joint_count, &error) &&
        !dls_results_frame_nodes(results, frame, s->nodes, &error) &&
        !dls_results_frame_gradients(results, frame, s->gradients, &error) &&
        (!contacts || !dls_results_frame_contacts(results, frame, s->contacts, &error)))
        return true;
    report_error("picture: %s", error.message);
    return false;
}

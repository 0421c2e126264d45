/* Rows of a results file as all readers get them: numbers in the ranges of their columns, and what rows say
 * of each other is true. Whoever uses results needs no checks of its own. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "integrate/simulation.h"
#include "output/results/results.h"
#include "world/shape/shape.h"
#include "world/world.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

dls_status dls_results_fail(const dls_results *r, int table, int64_t row, dls_error *error,
                            const char *format, ...) {
    char what[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return dls_fail(error, DLS_ERROR_FILE, "%s: damaged: %s, row %" PRId64 ": %s", r->name.text,
                    dls_table_layouts[table].path, row, what);
}

/* A body that is not there may be one that was left out when the file was opened: that has a better reason.
 */
static dls_status fail_fault(const dls_results *r, int table, int64_t first, const dls_fault *fault,
                             dls_error *error) {
    if (fault->range == DLS_RANGE_INDEX && r->left_out.status) {
        if (error) *error = r->left_out;
        return r->left_out.status;
    }
    return dls_results_fail(r, table, first + fault->row, error, "%s", fault->what);
}

dls_status dls_results_rows(const dls_results *r, int table, int64_t first, int64_t count, void *rows,
                            dls_error *error) {
    dls_fault fault;
    dls_silence silence = dls_silence_begin();
    bool done = dls_table_read(&r->tables[table], first, count, rows);
    dls_status status = done ? DLS_OK : dls_driver_fail(&r->device, r->name.text, "read", error);
    dls_silence_end(silence);
    if (!status && !dls_table_check(&r->tables[table], count, rows, &fault))
        status = fail_fault(r, table, first, &fault, error);
    return status;
}

/* ---- the world ---- */

static bool is_blank(const void *row, size_t size) {
    const char *bytes = row;
    for (size_t k = 0; k < size; k++)
        if (bytes[k]) return false;
    return true;
}

static bool is_unit(int count, const double *x) {
    double sum = 0;
    for (int k = 0; k < count; k++) sum += x[k] * x[k];
    return fabs(sum - 1) <= 1e-6;
}

static dls_status check_corners(const dls_results *r, const dls_shape_row *s, dls_error *error) {
    const int32_t *corner = r->triangles + 3 * s->triangle_start;
    for (int64_t k = 0; k < 3 * (int64_t)s->triangle_count; k++)
        if (corner[k] >= s->point_count)
            return dls_results_fail(r, DLS_TABLE_TRIANGLES, s->triangle_start + k / 3, error,
                                    "a corner is %d, expected 0 to %d", corner[k], s->point_count - 1);
    return DLS_OK;
}

dls_status dls_results_check_shape(const dls_results *r, int index, bool *is_whole, dls_error *error) {
    const dls_shape_row *s = &r->shapes[index];
    const int table = DLS_TABLE_SHAPES;
    *is_whole = false;
    if (is_blank(s, sizeof *s)) return dls_results_fail(r, table, index, error, "it was not written");
    if (s->point_start > r->point_count - s->point_count)
        return dls_results_fail(r, table, index, error,
                                "points %" PRId64 " to %" PRId64 ", expected 0 to %" PRId64, s->point_start,
                                s->point_start + s->point_count - 1, r->point_count - 1);
    if (s->triangle_start > r->triangle_count - s->triangle_count)
        return dls_results_fail(
            r, table, index, error, "triangles %" PRId64 " to %" PRId64 ", expected 0 to %" PRId64,
            s->triangle_start, s->triangle_start + s->triangle_count - 1, r->triangle_count - 1);
    if (s->material >= r->material_count)
        return dls_results_fail(r, table, index, error, "material is %d, expected 0 to %d", s->material,
                                r->material_count - 1);
    *is_whole = true;
    dls_error inner = {0};
    dls_shape_def def = dls_results_shape_def(r, index);
    if (dls_shape_check(&def, r->world.dimension, &inner))
        return dls_results_fail(r, table, index, error, "%s", inner.message);
    return check_corners(r, s, error);
}

dls_status dls_results_check_body(const dls_results *r, int id, bool *is_whole, dls_error *error) {
    const dls_body_row *b = &r->bodies[id];
    const int table = DLS_TABLE_BODIES;
    *is_whole = false;
    if (is_blank(b, sizeof *b)) return dls_results_fail(r, table, id, error, "it was not written");
    if (b->shape_start > r->shape_count - b->shape_count)
        return dls_results_fail(r, table, id, error, "shapes %d to %" PRId64 ", expected 0 to %d",
                                b->shape_start, (int64_t)b->shape_start + b->shape_count - 1,
                                r->shape_count - 1);
    *is_whole = true;
    for (int k = b->shape_start; k < b->shape_start + b->shape_count; k++)
        if (r->shapes[k].body != id)
            return dls_results_fail(r, table, id, error, "shape %d is of body %d, expected body %d", k,
                                    r->shapes[k].body, id);
    if (b->motion != DLS_DYNAMIC) return DLS_OK;
    if (!(b->mass.mass > 0) || !isfinite(b->mass.mass))
        return dls_results_fail(r, table, id, error, "mass is %g, expected a finite number above 0",
                                b->mass.mass);
    for (int k = 0; k < 9; k++)
        if (!isfinite(b->mass.inertia[k]))
            return dls_results_fail(r, table, id, error, "inertia is %g, expected finite numbers",
                                    b->mass.inertia[k]);
    return DLS_OK;
}

dls_status dls_results_check_joint(const dls_results *r, int id, bool *is_whole, dls_error *error) {
    dls_joint_def_row *j = &r->joints[id];
    const int table = DLS_TABLE_JOINTS;
    *is_whole = false;
    if (is_blank(j, sizeof *j)) return dls_results_fail(r, table, id, error, "it was not written");
    for (int side = 0; side < 2; side++)
        if (j->body[side] >= r->body_count)
            return dls_results_fail(r, table, id, error, "body is %d, expected -1 to %d", j->body[side],
                                    r->body_count - 1);
    *is_whole = true;
    for (int side = 0; side < 2; side++) {
        double *q = j->frame[side].q;
        if (j->body[side] < DLS_GROUND)
            return dls_results_fail(r, table, id, error, "body is %d, expected -1 to %d", j->body[side],
                                    r->body_count - 1);
        if (!is_unit(4, q))
            return dls_results_fail(r, table, id, error,
                                    "(%g, %g, %g, %g), expected a quaternion of length 1", q[0], q[1], q[2],
                                    q[3]);
        quat_mend(q);
    }
    if (j->body[0] == j->body[1])
        return dls_results_fail(r, table, id, error, "it joins body %d with itself, expected two",
                                j->body[0]);
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        if (j->low[k] > j->high[k])
            return dls_results_fail(r, table, id, error, "limits are %g and %g, expected the lower one first",
                                    j->low[k], j->high[k]);
        if (j->one_sided[k] < -1 || j->one_sided[k] > 1)
            return dls_results_fail(r, table, id, error, "one_sided is %d, expected -1 to 1",
                                    j->one_sided[k]);
    }
    return DLS_OK;
}

/* Row by row of a triangle: (0, 0), (0, 1), (1, 1), (0, 2), … */
dls_status dls_results_check_pairs(const dls_results *r, dls_error *error) {
    for (int b = 0, at = 0; b < r->material_count; b++)
        for (int a = 0; a <= b; a++, at++)
            if (r->pairs[at].a != a || r->pairs[at].b != b)
                return dls_results_fail(r, DLS_TABLE_PAIRS, at, error,
                                        "materials %d and %d, expected %d and %d", r->pairs[at].a,
                                        r->pairs[at].b, a, b);
    return DLS_OK;
}

/* ---- frames and steps ---- */

dls_status dls_results_check_frame(const dls_results *r, int index, bool *is_whole, dls_error *error) {
    static const dls_frame_row none = {.step = -1};
    const dls_frame_row *f = &r->frames[index], *last = index > 0 ? f - 1 : &none;
    const int table = DLS_TABLE_FRAMES;
    int64_t states = last->state_start + last->state_count,
            contacts = last->contact_start + last->contact_count,
            reactions = last->reaction_start + last->reaction_count,
            nodes = last->node_start + last->node_count,
            gradients = last->gradient_start + last->gradient_count;
    *is_whole = true;
    if (f->step <= last->step)
        return dls_results_fail(r, table, index, error, "step is %" PRId64 ", expected one after %" PRId64,
                                f->step, last->step);
    if (f->time < last->time)
        return dls_results_fail(r, table, index, error, "time is %g, expected %g or later", f->time,
                                last->time);
    if (f->state_start != states || f->contact_start != contacts)
        return dls_results_fail(r, table, index, error,
                                "states from %" PRId64 " and contacts from %" PRId64 " on, expected %" PRId64
                                " and %" PRId64,
                                f->state_start, f->contact_start, states, contacts);
    if (f->reaction_start != reactions)
        return dls_results_fail(r, table, index, error, "reactions from %" PRId64 " on, expected %" PRId64,
                                f->reaction_start, reactions);
    if (f->node_start != nodes)
        return dls_results_fail(r, table, index, error, "nodes from %" PRId64 " on, expected %" PRId64,
                                f->node_start, nodes);
    if (f->gradient_start != gradients)
        return dls_results_fail(r, table, index, error, "gradients from %" PRId64 " on, expected %" PRId64,
                                f->gradient_start, gradients);
    *is_whole = false;
    if (f->gradient_count > r->gradient_rows - gradients)
        return dls_results_fail(r, table, index, error, "%d gradients, expected at most %" PRId64,
                                f->gradient_count, r->gradient_rows - gradients);
    if (f->node_count > r->node_rows - nodes)
        return dls_results_fail(r, table, index, error, "%d nodes, expected at most %" PRId64, f->node_count,
                                r->node_rows - nodes);
    if (f->reaction_count > r->reaction_rows - reactions)
        return dls_results_fail(r, table, index, error, "%d reactions, expected at most %" PRId64,
                                f->reaction_count, r->reaction_rows - reactions);
    if (f->state_count > r->state_rows - states || f->contact_count > r->contact_rows - contacts)
        return dls_results_fail(
            r, table, index, error, "%d states and %d contacts, expected at most %" PRId64 " and %" PRId64,
            f->state_count, f->contact_count, r->state_rows - states, r->contact_rows - contacts);
    *is_whole = true;
    return DLS_OK;
}

/* Puts what joints add to them into the reports of steps. */
static dls_status add_joint_steps(const dls_results *r, int64_t first, int64_t count,
                                  dls_step_report *reports, dls_error *error) {
    enum { BATCH = 64 };
    dls_joint_step_row rows[BATCH];
    dls_status status = DLS_OK;
    if (r->tables[DLS_TABLE_JOINT_STEPS].rows == 0) return DLS_OK;
    for (int64_t done = 0; done < count && !status; done += BATCH) {
        int64_t batch = count - done < BATCH ? count - done : BATCH;
        status = dls_results_rows(r, DLS_TABLE_JOINT_STEPS, first + done, batch, rows, error);
        for (int64_t k = 0; k < batch && !status; k++) {
            const dls_joint_step_row *row = &rows[k];
            dls_step_report *s = &reports[done + k];
            s->joints = row->joints;
            s->joint_rows = row->rows;
            s->joint_rows_at_bound = row->rows_at_bound;
            s->joints_broken = row->broken;
            s->joint_gap = row->gap;
            s->energy.spring = row->spring;
            s->energy.motors = row->motors;
            s->energy.joints = row->lost;
            if (row->rows_at_bound > row->rows)
                status = dls_results_fail(r, DLS_TABLE_JOINT_STEPS, first + done + k, error,
                                          "joint_rows_at_bound is %d, expected 0 to %d", row->rows_at_bound,
                                          row->rows);
        }
    }
    return status;
}

/* Steps shorter than 1/DLS_FARTHEST would make forces out of impulses that are no numbers. */
dls_status dls_results_step_rows(const dls_results *r, int64_t first, int64_t count, dls_step_report *rows,
                                 dls_error *error) {
    dls_step_report last = {0};
    dls_status status = DLS_OK;
    if (first > 0) status = dls_results_rows(r, DLS_TABLE_STEPS, first - 1, 1, &last, error);
    memset(rows, 0, sizeof *rows * (size_t)count);
    if (!status) status = dls_results_rows(r, DLS_TABLE_STEPS, first, count, rows, error);
    if (!status) status = add_joint_steps(r, first, count, rows, error);
    for (int64_t k = 0; k < count && !status; k++) {
        const dls_step_report *before = k > 0 ? &rows[k - 1] : &last, *s = &rows[k];
        if (s->step <= before->step)
            status =
                dls_results_fail(r, DLS_TABLE_STEPS, first + k, error,
                                 "step is %" PRId64 ", expected one after %" PRId64, s->step, before->step);
        else if (!(s->t - before->t >= 1 / DLS_FARTHEST))
            status = dls_results_fail(r, DLS_TABLE_STEPS, first + k, error,
                                      "time is %.17g, expected more than %.17g", s->t, before->t);
        else if (s->active > s->contacts)
            status = dls_results_fail(r, DLS_TABLE_STEPS, first + k, error, "active is %d, expected 0 to %d",
                                      s->active, s->contacts);
    }
    return status;
}

/* ---- states and contacts ---- */

/* Columns first … end − 1 come back into the rows that they were taken from. */
static dls_status read_columns(const dls_results *r, int first, int end, int64_t start, int count, char *rows,
                               size_t row_size, dls_error *error) {
    char *column = dls_alloc((size_t)count, row_size);
    dls_status status = column ? DLS_OK : dls_fail_memory(error);
    for (int k = first; k < end && !status; k++) {
        size_t offset = dls_table_layouts[k].cells[0].offset, size = dls_table_layouts[k].row_size;
        status = dls_results_rows(r, k, start, count, column, error);
        for (int i = 0; i < count && !status; i++)
            memcpy(rows + (size_t)i * row_size + offset, column + (size_t)i * size, size);
    }
    dls_free(column);
    return status;
}

static dls_status check_turn(const dls_results *r, int table, int64_t at, double *q, dls_error *error) {
    if (!is_unit(4, q))
        return dls_results_fail(r, table, at, error, "(%g, %g, %g, %g), expected a quaternion of length 1",
                                q[0], q[1], q[2], q[3]);
    quat_mend(q);
    return DLS_OK;
}

static dls_status check_order(const dls_results *r, int64_t at, int32_t before, int32_t body,
                              dls_error *error) {
    if (body > before) return DLS_OK;
    return dls_results_fail(r, DLS_TABLE_STATES, at, error, "body is %d, expected one after %d", body,
                            before);
}

dls_status dls_results_turns(const dls_results *r, int table, int64_t first, int count, double *q,
                             dls_error *error) {
    dls_status status = DLS_OK;
    for (int i = 0; i < count && !status; i++)
        status = check_turn(r, table, first + i, q + 4 * (size_t)i, error);
    return status;
}

dls_status dls_results_state_bodies(const dls_results *r, int64_t first, int count, int32_t *before,
                                    int32_t *body, dls_error *error) {
    dls_status status = dls_results_rows(r, DLS_TABLE_STATES, first, count, body, error);
    for (int i = 0; i < count && !status; *before = body[i++])
        status = check_order(r, first + i, *before, body[i], error);
    return status;
}

static dls_status take_state(const dls_results *r, int64_t at, int32_t before, dls_state_row *row,
                             dls_error *error) {
    dls_status status = check_order(r, at, before, row->body, error);
    if (!status) status = check_turn(r, DLS_TABLE_STATES + 3, at, row->state.q, error);
    if (!status) status = check_turn(r, DLS_TABLE_STATES_POSES + 1, at, row->contact_pose.q, error);
    return status;
}

/* Without contacts there are no poses of them: bodies are where they are. */
static void stand_where_they_are(int count, dls_state_row *rows) {
    for (int i = 0; i < count; i++) {
        memcpy(rows[i].contact_pose.x, rows[i].state.x, sizeof rows[i].state.x);
        memcpy(rows[i].contact_pose.q, rows[i].state.q, sizeof rows[i].state.q);
    }
}

dls_status dls_results_state_rows(const dls_results *r, int frame, int first, int count, dls_state_row *rows,
                                  dls_error *error) {
    int end = r->has_contacts ? DLS_TABLE_STATES_END : DLS_TABLE_STATES_POSES;
    int64_t start = r->frames[frame].state_start + first;
    int32_t before = -1;
    memset(rows, 0, sizeof *rows * (size_t)count);
    dls_status status =
        read_columns(r, DLS_TABLE_STATES, end, start, count, (char *)rows, sizeof *rows, error);
    if (!status && first > 0) status = dls_results_rows(r, DLS_TABLE_STATES, start - 1, 1, &before, error);
    if (!status && !r->has_contacts) stand_where_they_are(count, rows);
    for (int i = 0; i < count && !status; before = rows[i++].body)
        status = take_state(r, start + i, before, &rows[i], error);
    return status;
}

static dls_status check_contact(const dls_results *r, int64_t at, const dls_contact_record *c,
                                dls_error *error) {
    const int32_t body[2] = {c->body_a, c->body_b}, shape[2] = {c->shape_a, c->shape_b};
    for (int k = 0; k < 2; k++)
        if (shape[k] >= r->bodies[body[k]].shape_count)
            return dls_results_fail(r, DLS_TABLE_CONTACTS + 1, at, error,
                                    "shape is %d, expected 0 to %d as body %d has them", shape[k],
                                    r->bodies[body[k]].shape_count - 1, body[k]);
    for (int k = 0; k < 3; k++)
        if (!is_unit(3, c->frame + 3 * k))
            return dls_results_fail(r, DLS_TABLE_CONTACTS + 5, at, error,
                                    "a direction is (%g, %g, %g), expected one of length 1", c->frame[3 * k],
                                    c->frame[3 * k + 1], c->frame[3 * k + 2]);
    if (!dls_contact_record_fits(c, r->world.dimension))
        return dls_results_fail(
            r, DLS_TABLE_TURNING, at, error,
            "parts are %d with a drilling radius of %g, expected those of a contact in %s", c->parts,
            c->drilling, r->world.dimension == 2 ? "the plane" : "space");
    return DLS_OK;
}

dls_status dls_results_contact_rows(const dls_results *r, int frame, int first, int count,
                                    dls_contact_row *rows, dls_error *error) {
    int64_t start = r->frames[frame].contact_start + first;
    memset(rows, 0, sizeof *rows * (size_t)count);
    dls_status status = read_columns(r, DLS_TABLE_CONTACTS, dls_results_contact_end(r), start, count,
                                     (char *)rows, sizeof *rows, error);
    for (int i = 0; i < count && !status; i++) status = check_contact(r, start + i, &rows[i].record, error);
    return status;
}

/* Joints ascend within a frame, and join the bodies that they did when they were added. */
static dls_status check_reaction(const dls_results *r, int64_t at, int32_t before,
                                 const dls_joint_record *record, dls_error *error) {
    if (record->joint <= before)
        return dls_results_fail(r, DLS_TABLE_REACTIONS, at, error, "joint is %d, expected one after %d",
                                record->joint, before);
    const int32_t *body = r->joints[record->joint].body;
    if (record->body[0] != body[0] || record->body[1] != body[1])
        return dls_results_fail(r, DLS_TABLE_REACTIONS + 1, at, error,
                                "bodies %d and %d, expected %d and %d as joint %d has them", record->body[0],
                                record->body[1], body[0], body[1], record->joint);
    for (int k = 0; k < 3; k++)
        if (!is_unit(3, record->frame + 3 * k))
            return dls_results_fail(r, DLS_TABLE_REACTIONS + 3, at, error,
                                    "a direction is (%g, %g, %g), expected one of length 1",
                                    record->frame[3 * k], record->frame[3 * k + 1], record->frame[3 * k + 2]);
    return DLS_OK;
}

dls_status dls_results_reaction_rows(const dls_results *r, int frame, int first, int count,
                                     dls_reaction_row *rows, dls_error *error) {
    int64_t start = r->frames[frame].reaction_start + first;
    int32_t before = -1;
    memset(rows, 0, sizeof *rows * (size_t)count);
    dls_status status = read_columns(r, DLS_TABLE_REACTIONS, DLS_TABLE_REACTIONS_END, start, count,
                                     (char *)rows, sizeof *rows, error);
    if (!status && first > 0) status = dls_results_rows(r, DLS_TABLE_REACTIONS, start - 1, 1, &before, error);
    for (int i = 0; i < count && !status; before = rows[i++].record.joint)
        status = check_reaction(r, start + i, before, &rows[i].record, error);
    return status;
}

/* Bodies ascend within a frame, places along each of them. */
dls_status dls_results_node_rows(const dls_results *r, int frame, int first, int count, dls_node_record *rows,
                                 dls_error *error) {
    int64_t start = r->frames[frame].node_start + first;
    memset(rows, 0, sizeof *rows * (size_t)count);
    dls_status status = read_columns(r, DLS_TABLE_NODES, dls_results_node_end(r), start, count, (char *)rows,
                                     sizeof *rows, error);
    for (int i = 1; i < count && !status; i++) {
        const dls_node_record *before = &rows[i - 1], *row = &rows[i];
        if (row->body < before->body || (row->body == before->body && !(row->at > before->at)))
            status =
                dls_results_fail(r, DLS_TABLE_NODES, start + i, error,
                                 "body %d at %g, expected a place behind %g of body %d, or a body after it",
                                 row->body, row->at, before->at, before->body);
    }
    return status;
}

/* Bodies ascend within a frame, and nothing is turned inside out. */
dls_status dls_results_gradient_rows(const dls_results *r, int frame, int first, int count,
                                     dls_gradient_record *rows, dls_error *error) {
    int64_t start = r->frames[frame].gradient_start + first;
    int32_t before = -1;
    memset(rows, 0, sizeof *rows * (size_t)count);
    dls_status status = read_columns(r, DLS_TABLE_GRADIENTS, DLS_TABLE_GRADIENTS_END, start, count,
                                     (char *)rows, sizeof *rows, error);
    if (!status && first > 0) status = dls_results_rows(r, DLS_TABLE_GRADIENTS, start - 1, 1, &before, error);
    for (int i = 0; i < count && !status; before = rows[i++].body) {
        double side[3], volume;
        vec_cross(side, rows[i].F, rows[i].F + 3);
        volume = vec_dot(side, rows[i].F + 6);
        if (rows[i].body <= before)
            status = dls_results_fail(r, DLS_TABLE_GRADIENTS, start + i, error,
                                      "body is %d, expected one after %d", rows[i].body, before);
        else if (!(volume > 0))
            status = dls_results_fail(r, DLS_TABLE_GRADIENTS + 1, start + i, error,
                                      "its determinant is %g, expected one above 0", volume);
    }
    return status;
}

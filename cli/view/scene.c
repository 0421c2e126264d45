/* What the page is told beside the packed blocks: bodies, shapes, materials, joints, frames, and what was
 * left out. */
#include "cli/support/json.h"
#include "cli/view/view.h"

#include <math.h>

static void put_numbers(json *j, const char *key, const double *values, int count) {
    json_key(j, key);
    json_array_begin(j);
    for (int k = 0; k < count; k++) json_real(j, values[k]);
    json_array_end(j);
}

static bool is_zero(const double *values, int count) {
    for (int k = 0; k < count; k++)
        if (values[k] != 0) return false;
    return true;
}

/* Members that are 0 are left out. */
static void put_shape(json *j, const dls_shape_def *s) {
    json_object_begin(j);
    json_member_text(j, "kind", dls_shape_kind_name(s->kind));
    if (dls_shape_kind_is_obstacle(s->kind)) json_member_bool(j, "obstacle", true);
    if (!is_zero(s->pose.x, 3)) put_numbers(j, "x", s->pose.x, 3);
    if (!is_zero(s->pose.q + 1, 3)) put_numbers(j, "q", s->pose.q, 4);
    if (s->radius > 0) json_member_real(j, "radius", s->radius);
    if (s->length > 0) json_member_real(j, "length", s->length);
    if (!is_zero(s->size, 3)) put_numbers(j, "size", s->size, 3);
    if (s->point_count) put_numbers(j, "points", s->points, 3 * s->point_count);
    if (s->closed) json_member_bool(j, "closed", true);
    if (s->triangle_count) {
        json_key(j, "triangles");
        json_array_begin(j);
        for (int k = 0; k < 3 * s->triangle_count; k++) json_integer(j, s->triangles[k]);
        json_array_end(j);
    }
    if (s->material) json_member_integer(j, "material", s->material);
    json_object_end(j);
}

static const char *const solids[VIEW_SOLIDS] = {"", "line", "skin", "affine"};

static void put_body(json *j, const view_run *run, int id) {
    dls_shape_def shape;
    const char *name = dls_results_body_name(run->results, id);
    json_object_begin(j);
    if (*name) json_member_text(j, "name", name);
    if (!run->bodies[id].moves)
        json_member_text(j, "motion", dls_motion_name(dls_results_body_motion(run->results, id)));
    else
        json_member_real(j, "mass", run->bodies[id].mass);
    if (run->bodies[id].is_ball) json_member_bool(j, "ball", true);
    json_member_real(j, "reach", run->bodies[id].reach);
    if (run->bodies[id].solid) {
        json_member_text(j, "solid", solids[run->bodies[id].solid]);
        json_member_integer(j, "first", run->bodies[id].first_point);
        json_member_integer(j, "count", run->bodies[id].point_count);
    }
    json_key(j, "shapes");
    json_array_begin(j);
    for (int k = 0; k < dls_results_body_shape_count(run->results, id); k++)
        if (!dls_results_body_shape(run->results, id, k, &shape, NULL)) {
            if (run->bodies[id].stand) shape.pose = run->bodies[id].stand[k];
            put_shape(j, &shape);
        }
    json_array_end(j);
    json_object_end(j);
}

/* Frames of joints are told about the mass centres here. */
static void put_joint(json *j, const view_run *run, int id) {
    static const char *const places[] = {"xa", "xb"}, *const turns[] = {"qa", "qb"};
    dls_joint_def def;
    if (dls_results_joint(run->results, id, &def, NULL)) return;
    json_object_begin(j);
    json_member_text(j, "name", dls_results_joint_name(run->results, id));
    json_member_text(j, "kind", dls_joint_kind_name(def.kind));
    json_member_integer(j, "a", def.body[0]);
    json_member_integer(j, "b", def.body[1]);
    for (int end = 0; end < 2; end++) {
        dls_body_mass mass = {0};
        double x[3];
        if (def.body[end] >= 0) dls_results_body_mass(run->results, def.body[end], &mass, NULL);
        for (int k = 0; k < 3; k++) x[k] = def.frame[end].x[k] - mass.centre[k];
        put_numbers(j, places[end], x, 3);
        put_numbers(j, turns[end], def.frame[end].q, 4);
    }
    json_object_end(j);
}

static void put_frame(json *j, const view_run *run, int frame) {
    int shown = view_result_frame(run, frame);
    const view_frame *f = &run->frame[shown];
    json_array_begin(j);
    json_integer(j, shown);
    json_integer(j, f->step);
    json_real(j, f->time);
    json_integer(j, f->step == 0 ? -1 : f->is_certified);
    json_real(j, f->residual);
    json_real(j, f->held);
    json_real(j, f->penetration);
    json_integer(j, f->iterations);
    json_integer(j, f->contacts);
    json_real(j, f->wall_force);
    json_array_end(j);
}

static void put_block(json *j, const view_block *b) {
    json_object_begin(j);
    json_member_integer(j, "first", b->first);
    json_member_integer(j, "count", b->count);
    json_member_integer(j, "planes", b->planes);
    json_member_integer(j, "point_planes", b->point_planes);
    json_member_real(j, "speed", b->top_speed);
    json_member_real(j, "spin", b->top_spin);
    json_member_real(j, "energy", b->top_energy);
    json_member_real(j, "stress", b->top_stress);
    json_member_real(j, "force", b->top_force);
    json_object_end(j);
}

static void put_facts(json *j, const view_run *run) {
    dls_world_def world = dls_results_world(run->results);
    int64_t contacts = 0, left_out = 0;
    for (int k = 0; k < run->block_count; k++) {
        contacts += run->block[k].contacts;
        left_out += run->block[k].left_out;
    }
    json_member_text(j, "title", dls_results_title(run->results));
    json_member_text(j, "version", dls_version());
    json_member_text(j, "solver", dls_results_solver(run->results));
    json_member_real(j, "tolerance", dls_results_tolerance(run->results));
    json_member_integer(j, "dimension", dls_results_dimension(run->results));
    put_numbers(j, "gravity", world.gravity, 3);
    put_numbers(j, "period", world.period_size, 3);
    json_member_bool(j, "finished", dls_results_finished(run->results, NULL));
    json_member_bool(j, "chains", dls_results_has_contacts(run->results));
    json_member_integer(j, "points", run->point_count);
    json_member_real(j, "quantum", run->quantum);
    json_member_real(j, "smallest", run->smallest);
    put_numbers(j, "low", run->seen.low, 3);
    put_numbers(j, "high", run->seen.high, 3);
    json_member_integer(j, "beyond", run->beyond);
    json_member_integer(j, "result_frames", run->result_frames);
    json_member_integer(j, "contacts", contacts);
    json_member_integer(j, "left_out", left_out);
    json_member_integer(j, "steps", run->steps);
    json_member_integer(j, "uncertified", run->uncertified);
    json_member_integer(j, "history_rows", run->history_rows);
    json_member_integer(j, "history_steps", run->history_steps);
}

static void put_materials(json *j, const view_run *run) {
    dls_material_def material;
    for (int k = 0; k < dls_results_material_count(run->results); k++)
        if (!dls_results_material(run->results, k, &material, NULL))
            json_text(j, material.name ? material.name : "");
}

void view_scene_write(const view_run *run, FILE *stream) {
    json j = json_begin(stream, false);
    json_object_begin(&j);
    put_facts(&j, run);
    json_key(&j, "materials");
    json_array_begin(&j);
    put_materials(&j, run);
    json_array_end(&j);
    json_key(&j, "bodies");
    json_array_begin(&j);
    for (int b = 0; b < run->body_count; b++) put_body(&j, run, b);
    json_array_end(&j);
    json_key(&j, "joints");
    json_array_begin(&j);
    for (int k = 0; k < run->joint_count; k++) put_joint(&j, run, k);
    json_array_end(&j);
    json_key(&j, "frames");
    json_array_begin(&j);
    for (int f = 0; f < run->frames; f++) put_frame(&j, run, f);
    json_array_end(&j);
    json_key(&j, "blocks");
    json_array_begin(&j);
    for (int k = 0; k < run->block_count; k++) put_block(&j, &run->block[k]);
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
}

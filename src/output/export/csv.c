/* Results as tables of text. Numbers are written so that they read back to the same bits. */
#include "base/error.h"
#include "base/memory.h"
#include "output/results/results.h"

#include <inttypes.h>

static void put_reals(FILE *out, int count, const double *values) {
    for (int k = 0; k < count; k++) fprintf(out, ",%.17g", values[k]);
}

/* ---- a row of each kind ---- */

typedef struct csv_frame {
    dls_results *results;
    int frame;
    int64_t step;
    double time;
} csv_frame;

static void put_frame(FILE *out, const csv_frame *f) {
    fprintf(out, "%d,%" PRId64 ",%.17g", f->frame, f->step, f->time);
}

static dls_status put_bodies(FILE *out, const csv_frame *f, void *rows, dls_error *error) {
    int total = f->results->frames[f->frame].state_count;
    dls_state_row *row = rows;
    for (int first = 0; first < total; first += DLS_BATCH) {
        int count = total - first < DLS_BATCH ? total - first : DLS_BATCH;
        dls_status status = dls_results_state_rows(f->results, f->frame, first, count, row, error);
        if (status) return status;
        for (int k = 0; k < count; k++) {
            put_frame(out, f);
            fprintf(out, ",%d,", row[k].body);
            dls_put_csv(out, dls_results_body_name(f->results, row[k].body));
            put_reals(out, 3, row[k].state.x);
            put_reals(out, 4, row[k].state.q);
            put_reals(out, 3, row[k].state.v);
            put_reals(out, 3, row[k].state.w);
            fprintf(out, "\n");
        }
    }
    return DLS_OK;
}

static void put_turning(FILE *out, const dls_contact_row *row) {
    const dls_contact_record *c = &row->record;
    fprintf(out, ",%d", c->parts);
    put_reals(out, 3, (double[]){c->mu_rolling, c->mu_spinning, c->drilling});
    put_reals(out, 3, c->torque);
    put_reals(out, 3, c->spin);
    put_reals(out, 3, row->world_torque);
}

static dls_status put_contacts(FILE *out, const csv_frame *f, void *rows, dls_error *error) {
    int total = f->results->frames[f->frame].contact_count;
    dls_contact_row *row = rows;
    for (int first = 0; first < total; first += DLS_BATCH) {
        int count = total - first < DLS_BATCH ? total - first : DLS_BATCH;
        dls_status status = dls_results_contact_rows(f->results, f->frame, first, count, row, error);
        if (status) return status;
        for (int k = 0; k < count; k++) {
            const dls_contact_record *c = &row[k].record;
            put_frame(out, f);
            fprintf(out, ",%d,%d,%d,%d,%" PRIu64, c->body_a, c->body_b, c->shape_a, c->shape_b, c->feature);
            put_reals(out, 3, c->point);
            put_reals(out, 3, c->frame);
            put_reals(out, 1, &c->gap);
            put_reals(out, 1, &c->mu);
            put_reals(out, 3, c->impulse);
            put_reals(out, 3, c->velocity);
            put_reals(out, 3, row[k].world_impulse);
            if (f->results->has_turning) put_turning(out, &row[k]);
            fprintf(out, "\n");
        }
    }
    return DLS_OK;
}

static dls_status put_joints(FILE *out, const csv_frame *f, void *rows, dls_error *error) {
    int total = f->results->frames[f->frame].reaction_count;
    dls_reaction_row *row = rows;
    for (int first = 0; first < total; first += DLS_BATCH) {
        int count = total - first < DLS_BATCH ? total - first : DLS_BATCH;
        dls_status status = dls_results_reaction_rows(f->results, f->frame, first, count, row, error);
        if (status) return status;
        for (int k = 0; k < count; k++) {
            const dls_joint_record *j = &row[k].record;
            put_frame(out, f);
            fprintf(out, ",%d,", j->joint);
            dls_put_csv(out, dls_results_joint_name(f->results, j->joint));
            fprintf(out, ",%s,%d,%d", dls_joint_kind_name((dls_joint_kind)f->results->joints[j->joint].kind),
                    j->body[0], j->body[1]);
            put_reals(out, 3, j->point);
            put_reals(out, 9, j->frame);
            put_reals(out, DLS_FREEDOMS, j->impulse);
            put_reals(out, DLS_FREEDOMS, j->actuator);
            put_reals(out, DLS_FREEDOMS, j->coordinate);
            put_reals(out, DLS_FREEDOMS, j->speed);
            put_reals(out, 3, (double[]){j->gap, j->work, j->lost});
            put_reals(out, 3, row[k].world_impulse);
            put_reals(out, 3, row[k].world_torque);
            fprintf(out, "\n");
        }
    }
    return DLS_OK;
}

static dls_status put_nodes(FILE *out, const csv_frame *f, void *rows, dls_error *error) {
    int total = f->results->frames[f->frame].node_count;
    dls_node_record *row = rows;
    for (int first = 0; first < total; first += DLS_BATCH) {
        int count = total - first < DLS_BATCH ? total - first : DLS_BATCH;
        dls_status status = dls_results_node_rows(f->results, f->frame, first, count, row, error);
        if (status) return status;
        for (int k = 0; k < count; k++) {
            put_frame(out, f);
            fprintf(out, ",%d", row[k].body);
            put_reals(out, 1, &row[k].at);
            put_reals(out, 3, row[k].x);
            put_reals(out, 3, row[k].v);
            put_reals(out, 1, &row[k].von_mises);
            put_reals(out, 3, row[k].principal);
            fprintf(out, "\n");
        }
    }
    return DLS_OK;
}

static dls_status put_gradients(FILE *out, const csv_frame *f, void *rows, dls_error *error) {
    int total = f->results->frames[f->frame].gradient_count;
    dls_gradient_record *row = rows;
    for (int first = 0; first < total; first += DLS_BATCH) {
        int count = total - first < DLS_BATCH ? total - first : DLS_BATCH;
        dls_status status = dls_results_gradient_rows(f->results, f->frame, first, count, row, error);
        if (status) return status;
        for (int k = 0; k < count; k++) {
            put_frame(out, f);
            fprintf(out, ",%d", row[k].body);
            put_reals(out, 9, row[k].F);
            put_reals(out, 9, row[k].rate);
            fprintf(out, "\n");
        }
    }
    return DLS_OK;
}

/* ---- files ---- */

static bool always(const dls_results *r) { return r != NULL; }
static bool has_contacts(const dls_results *r) { return r->has_contacts; }
static bool has_joints(const dls_results *r) { return r->joint_count > 0; }
static bool has_nodes(const dls_results *r) { return r->node_rows > 0; }
static bool has_gradients(const dls_results *r) { return r->gradient_rows > 0; }
static bool has_solids(const dls_results *r) { return has_nodes(r) || has_gradients(r); }

typedef struct csv_file {
    const char *name, *head, *turning_head; /* the latter of results in which contacts resist turning */
    bool (*is_there)(const dls_results *results);
    dls_status (*put)(FILE *out, const csv_frame *frame, void *rows, dls_error *error);
} csv_file;

/* Six columns, of which the last three are rotations. */
#define SIX(name, way, turn)                                                                                 \
    name "_1 [" way "]," name "_2 [" way "]," name "_3 [" way "]," name "_4 [" turn "]," name "_5 [" turn    \
         "]," name "_6 [" turn "],"

static const csv_file frame_files[] = {
    {"bodies.csv",
     "frame,step,time [s],body,name,x [m],y [m],z [m],qw,qx,qy,qz,vx [m/s],vy [m/s],vz [m/s],"
     "wx [rad/s],wy [rad/s],wz [rad/s]",
     "", always, put_bodies},
    {"contacts.csv",
     "frame,step,time [s],body_a,body_b,shape_a,shape_b,feature,x [m],y [m],z [m],nx,ny,nz,gap [m],mu,"
     "impulse_n [N s],impulse_t1 [N s],impulse_t2 [N s],velocity_n [m/s],velocity_t1 [m/s],velocity_t2 [m/s],"
     "impulse_x [N s],impulse_y [N s],impulse_z [N s]",
     ",parts,mu_rolling [m],mu_spinning [m],drilling [m],torque_1 [N m s],torque_2 [N m s],torque_3 [N m s],"
     "spin_1 [rad/s],spin_2 [rad/s],spin_3 [rad/s],torque_x [N m s],torque_y [N m s],torque_z [N m s]",
     has_contacts, put_contacts},
    {"joints.csv",
     "frame,step,time [s],joint,name,kind,body_a,body_b,x [m],y [m],z [m],"
     "axis_1x,axis_1y,axis_1z,axis_2x,axis_2y,axis_2z,axis_3x,axis_3y,axis_3z," SIX("impulse", "N s", "N m s")
         SIX("actuator", "N s", "N m s") SIX("coordinate", "m", "rad")
             SIX("speed", "m/s", "rad/s") "gap [m or rad],work [J],lost [J],"
                                          "impulse_x [N s],impulse_y [N s],impulse_z [N s],"
                                          "torque_x [N m s],torque_y [N m s],torque_z [N m s]",
     "", has_joints, put_joints},
    {"nodes.csv",
     "frame,step,time [s],body,at,x [m],y [m],z [m],vx [m/s],vy [m/s],vz [m/s],von_mises [Pa],"
     "stress_1 [Pa],stress_2 [Pa],stress_3 [Pa]",
     "", has_nodes, put_nodes},
    {"gradients.csv",
     "frame,step,time [s],body,Fxx,Fyx,Fzx,Fxy,Fyy,Fzy,Fxz,Fyz,Fzz,rate_xx [1/s],rate_yx [1/s],rate_zx [1/s],"
     "rate_xy [1/s],rate_yy [1/s],rate_zy [1/s],rate_xz [1/s],rate_yz [1/s],rate_zz [1/s]",
     "", has_gradients, put_gradients}};

static dls_status open_in(const char *folder, const char *name, dls_aside **aside, dls_error *error) {
    char *path = dls_path_join(folder, name);
    dls_status status = path ? dls_aside_open(path, aside, error) : dls_fail_memory(error);
    dls_free(path);
    return status;
}

static dls_status export_frames(dls_results *r, const char *folder, const csv_file *file, dls_error *error) {
    void *rows = dls_alloc(DLS_BATCH, sizeof(union {
                               dls_state_row state;
                               dls_contact_row contact;
                               dls_reaction_row reaction;
                           }));
    dls_aside *aside;
    dls_status status = rows ? open_in(folder, file->name, &aside, error) : dls_fail_memory(error);
    if (!status) {
        FILE *out = dls_aside_stream(aside);
        fprintf(out, "%s%s\n", file->head, r->has_turning ? file->turning_head : "");
        for (int k = 0; !status && !ferror(out) && k < r->frame_count; k++)
            status = file->put(out, &(csv_frame){r, k, r->frames[k].step, r->frames[k].time}, rows, error);
        status = dls_aside_close(aside, status, false, error);
    }
    dls_free(rows);
    return status;
}

static void put_step(FILE *out, const dls_step_report *s, bool joints, bool solids) {
    const double reals[] = {
        s->residual,         s->max_error,        s->held,          s->penetration, s->energy.kinetic,
        s->energy.potential, s->energy.friction,  s->energy.impact, s->energy.work, s->energy.unaccounted,
        s->seconds_collide,  s->seconds_assemble, s->seconds_solve, s->seconds};
    const double passed[] = {s->traffic.mass_in,    s->traffic.mass_out, s->traffic.energy_in,
                             s->traffic.energy_out, s->backlog_mass,     s->energy.turning};
    fprintf(out, "%" PRId64 ",%.17g,%d,%d,%d,%s,%d,%d", s->step, s->t, s->bodies, s->contacts, s->active,
            dls_outcome_name(s->outcome), s->certified, s->iterations);
    put_reals(out, (int)(sizeof reals / sizeof *reals), reals);
    fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64, s->traffic.bodies_in, s->traffic.bodies_out,
            s->backlog);
    put_reals(out, (int)(sizeof passed / sizeof *passed), passed);
    fprintf(out, ",%s", dls_reason_name(s->reason));
    put_reals(out, 1, &s->sweeps);
    if (joints) {
        fprintf(out, ",%d,%d,%d,%d", s->joints, s->joint_rows, s->joint_rows_at_bound, s->joints_broken);
        put_reals(out, 4, (double[]){s->joint_gap, s->energy.spring, s->energy.motors, s->energy.joints});
    }
    if (solids) put_reals(out, 3, (double[]){s->energy.strain, s->energy.damping, s->energy.numerical});
    fprintf(out, "\n");
}

static dls_status put_steps(FILE *out, dls_results *r, dls_step_report *reports, dls_error *error) {
    dls_status status = DLS_OK;
    fputs(
        "step,time [s],bodies,contacts,active,outcome,certified,iterations,residual,max_error [m/s],held,"
        "penetration [m],kinetic [J],potential [J],friction [J],impact [J],work [J],unaccounted [J],"
        "seconds_collide [s],seconds_assemble [s],seconds_solve [s],seconds [s],bodies_in,bodies_out,backlog,"
        "mass_in [kg],mass_out [kg],energy_in [J],energy_out [J],backlog_mass [kg],turning [J],reason,sweeps",
        out);
    fputs(has_joints(r)
              ? ",joints,joint_rows,joint_rows_at_bound,joints_broken,joint_gap [m or rad],spring [J],"
                "motors [J],joint_loss [J]"
              : "",
          out);
    fputs(has_solids(r) ? ",strain [J],damping [J],numerical [J]\n" : "\n", out);
    for (int64_t first = 0; !status && first < r->step_count; first += DLS_BATCH) {
        int64_t count = r->step_count - first < DLS_BATCH ? r->step_count - first : DLS_BATCH;
        status = dls_results_steps(r, first, count, reports, error);
        for (int64_t k = 0; k < count && !status; k++)
            put_step(out, &reports[k], has_joints(r), has_solids(r));
    }
    return status;
}

static dls_status export_steps(dls_results *r, const char *folder, dls_error *error) {
    dls_step_report *reports = DLS_NEW(dls_step_report, DLS_BATCH);
    dls_aside *aside;
    dls_status status = reports ? open_in(folder, "steps.csv", &aside, error) : dls_fail_memory(error);
    if (!status)
        status = dls_aside_close(aside, put_steps(dls_aside_stream(aside), r, reports, error), false, error);
    dls_free(reports);
    return status;
}

dls_status dls_results_export_csv(dls_results *results, const char *folder, dls_error *error) {
    dls_error inner = {0};
    dls_error_clear(error);
    if (!results || !folder)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "results and folder are needed, got NULL");
    dls_status status = dls_folder_make(folder, &inner);
    for (size_t k = 0; k < sizeof frame_files / sizeof *frame_files && !status; k++)
        if (frame_files[k].is_there(results))
            status = export_frames(results, folder, &frame_files[k], &inner);
    if (!status) status = export_steps(results, folder, &inner);
    if (status && error) *error = inner;
    return status;
}

/* Faces of walls, found from their surfaces as they are drawn; polygons cut to boxes and layers. */
#include "analysis/walls.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "output/export/surface.h"
#include "world/shape/kinds.h"

#include <math.h>
#include <string.h>

/* ---- polygons ---- */

/* Three corners, and one more for each of six planes of two boxes and two of a layer at most. */
enum { MOST_CORNERS = 18 };

typedef struct polygon {
    int count;
    double x[MOST_CORNERS][3];
} polygon;

/* What of it lies where sign · x[axis] ≤ sign · place; lines are polygons of two corners that go there and
 * back. */
static void cut(polygon *p, int axis, double sign, double place) {
    polygon kept = {0};
    for (int k = 0; k < p->count; k++) {
        const double *a = p->x[k], *b = p->x[(k + 1) % p->count];
        double da = sign * (a[axis] - place), db = sign * (b[axis] - place);
        if (da <= 0 && kept.count < MOST_CORNERS) vec_copy(kept.x[kept.count++], a);
        if ((da < 0 && db > 0) || (da > 0 && db < 0)) {
            if (kept.count == MOST_CORNERS) break;
            double share = da / (da - db), *x = kept.x[kept.count++];
            for (int i = 0; i < 3; i++) x[i] = a[i] + share * (b[i] - a[i]);
        }
    }
    *p = kept;
}

/* Area; of a line, which is gone along twice, length. */
static double size_of(const polygon *p, int dimension) {
    double sum[3] = {0, 0, 0}, way = 0;
    for (int k = 0; k < p->count; k++) {
        double a[3], b[3], c[3];
        vec_sub(a, p->x[k], p->x[0]);
        vec_sub(b, p->x[(k + 1) % p->count], p->x[0]);
        vec_cross(c, a, b);
        vec_add(sum, sum, c);
        way += vec_distance(p->x[k], p->x[(k + 1) % p->count]);
    }
    return 0.5 * (dimension == 2 ? way : vec_norm(sum));
}

/* ---- faces ---- */

bool dls_wall_is_steep(const double *normal, int axis) { return fabs(normal[axis]) < sqrt(0.5); }

static dls_status add_face(dls_wall *wall, int dimension, const double *a, const double *b, const double *c,
                           bool two_sided, bool endless, dls_error *error) {
    dls_wall_face face = {.two_sided = two_sided, .endless = endless};
    double u[3], v[3];
    vec_copy(face.corner[0], a);
    vec_copy(face.corner[1], b);
    vec_copy(face.corner[2], c);
    vec_sub(u, b, a);
    vec_sub(v, c, a);
    if (dimension == 2) /* walked along with the solid to the left */
        vec_set(face.normal, u[1], -u[0], 0);
    else
        vec_cross(face.normal, u, v);
    double length = vec_norm(face.normal);
    if (!(length > 0)) return DLS_OK;
    vec_scale(face.normal, 1 / length, face.normal);
    if (!DLS_RESERVE(wall->faces, wall->face_count, wall->face_room, wall->face_count + 1))
        return dls_fail_memory(error);
    wall->faces[wall->face_count++] = face;
    return DLS_OK;
}

/* Polygons as fans of triangles, in the plane their edges; lines only where a shape has nothing else. */
static dls_status add_cells(dls_wall *wall, int dimension, const dls_surface *s, bool endless,
                            dls_error *error) {
    bool solid = false;
    dls_status status = DLS_OK;
    const int *corner = s->corners;
    for (int k = 0; k < s->cell_count; k++) solid = solid || s->cell_size[k] > 0;
    for (int cell = 0; cell < s->cell_count && !status; cell++) {
        bool is_line = s->cell_size[cell] < 0;
        int count = is_line ? -s->cell_size[cell] : s->cell_size[cell], edges = is_line ? count - 1 : count;
        for (int k = 0; dimension == 2 && k < edges && is_line != solid && !status; k++) {
            const double *a = s->points + 3 * (size_t)corner[k],
                         *b = s->points + 3 * (size_t)corner[(k + 1) % count];
            status = add_face(wall, 2, a, b, b, is_line, endless, error);
        }
        for (int k = 1; dimension == 3 && k + 1 < count && !is_line && !status; k++)
            status = add_face(wall, 3, s->points + 3 * (size_t)corner[0], s->points + 3 * (size_t)corner[k],
                              s->points + 3 * (size_t)corner[k + 1], false, endless, error);
        corner += count;
    }
    return status;
}

enum { SIDES = 128 };

/* Planes, and tubes without ends. */
static bool is_endless(const dls_shape_def *def) {
    unsigned walls = dls_shape_table[def->kind].walls;
    return (walls & DLS_WALL_FLAT) || ((walls & DLS_WALL_ENDS) && !(def->length > 0));
}

dls_status dls_wall_create(const dls_results *r, const dls_pose *pose, double reach, const double *middle,
                           dls_wall *wall, dls_error *error) {
    dls_surface surface = {0};
    dls_status status = DLS_OK;
    int dimension = dls_results_dimension(r);
    double Q[9], own[3], in_body[3], in_shape[3];
    quat_matrix(pose->q, Q);
    vec_sub(own, middle, pose->x);
    mat_apply_transposed(in_body, Q, own);
    for (int k = 0; k < dls_results_body_shape_count(r, wall->body) && !status; k++) {
        dls_shape_def def;
        double S[9];
        status = dls_results_body_shape(r, wall->body, k, &def, error);
        if (status) break;
        quat_matrix(def.pose.q, S);
        vec_sub(own, in_body, def.pose.x);
        mat_apply_transposed(in_shape, S, own);
        dls_surface_clear(&surface);
        dls_surface_add(&surface, &def, SIDES, reach, in_shape);
        for (int i = 0; i < surface.point_count; i++) {
            double p[3];
            mat_apply(p, S, surface.points + 3 * (size_t)i);
            vec_add(surface.points + 3 * (size_t)i, p, def.pose.x);
        }
        status = surface.is_out_of_memory ? dls_fail_memory(error)
                                          : add_cells(wall, dimension, &surface, is_endless(&def), error);
    }
    dls_surface_free(&surface);
    return status;
}

void dls_wall_release(dls_wall *wall) {
    dls_free(wall->faces);
    dls_free(wall->touches);
    dls_free(wall->area);
    *wall = (dls_wall){0};
}

/* ---- contacts on them ---- */

enum { MOST_TOUCHES = 4096 };

/* Where there are too many every other one goes, and of those that follow as many are left out. */
dls_status dls_wall_touch_add(dls_wall *wall, const dls_wall_touch *touch, dls_error *error) {
    if (!wall->touches) {
        wall->touches = DLS_NEW(dls_wall_touch, MOST_TOUCHES);
        wall->touch_stride = 1;
    }
    if (!wall->touches) return dls_fail_memory(error);
    if (wall->touch_skip++ % wall->touch_stride) return DLS_OK;
    if (wall->touch_count == MOST_TOUCHES) {
        for (int k = 0; 2 * k < MOST_TOUCHES; k++) wall->touches[k] = wall->touches[2 * k];
        wall->touch_count = MOST_TOUCHES / 2;
        wall->touch_stride *= 2;
        wall->touch_skip = 1;
    }
    wall->touches[wall->touch_count++] = *touch;
    return DLS_OK;
}

static bool lies_on(const dls_wall_touch *t, const dls_wall_face *f, double margin) {
    double off[3], cosine = vec_dot(t->normal, f->normal);
    vec_sub(off, t->point, f->corner[0]);
    return (f->two_sided ? fabs(cosine) : cosine) > 0.9 && fabs(vec_dot(off, f->normal)) <= margin;
}

void dls_wall_mark(dls_wall *wall, double margin) {
    int at = 0; /* neighbours are touched by the same contacts */
    for (int k = 0; k < wall->face_count; k++)
        for (int n = 0; n < wall->touch_count && !wall->faces[k].touched; n++) {
            int t = (at + n) % wall->touch_count;
            if (!lies_on(&wall->touches[t], &wall->faces[k], margin)) continue;
            wall->faces[k].touched = true;
            at = t;
        }
}

/* ---- areas ---- */

/* More pieces of faces than anyone waits for. */
static const double most_pieces = 1e8;

static int layer_of(const dls_wall_layers *l, double height) {
    double at = floor((height - l->low) / (l->high - l->low) * l->count);
    return at < 0 ? 0 : at >= l->count ? l->count - 1 : (int)at;
}

static void add_pieces(dls_wall *wall, const dls_wall_layers *l, const polygon *face) {
    double low = INFINITY, high = -INFINITY, thickness = (l->high - l->low) / l->count;
    for (int k = 0; k < face->count; k++) {
        low = fmin(low, face->x[k][l->axis]);
        high = fmax(high, face->x[k][l->axis]);
    }
    if (face->count < 2 || high < l->low || low > l->high) return;
    for (int k = layer_of(l, low); k <= layer_of(l, high); k++) {
        polygon piece = *face;
        cut(&piece, l->axis, 1, l->low + (k + 1) * thickness);
        cut(&piece, l->axis, -1, l->low + k * thickness);
        if (piece.count > 1) wall->area[k] += size_of(&piece, l->dimension);
    }
}

dls_status dls_wall_measure(dls_wall *wall, const dls_wall_layers *l, const dls_pose *pose,
                            dls_error *error) {
    double Q[9], normal[3];
    if (wall->is_measured && !memcmp(&wall->pose, pose, sizeof *pose)) return DLS_OK;
    if ((double)wall->face_count * l->count > most_pieces)
        return dls_fail(
            error, DLS_ERROR_INPUT,
            "%d faces of body %d in %d layers, expected a product of at most %g: ask for fewer layers",
            wall->face_count, wall->body, l->count, most_pieces);
    quat_matrix(pose->q, Q);
    memset(wall->area, 0, (size_t)l->count * sizeof *wall->area);
    for (int k = 0; k < wall->face_count; k++) {
        const dls_wall_face *f = &wall->faces[k];
        mat_apply(normal, Q, f->normal);
        if (!f->touched || !dls_wall_is_steep(normal, l->axis)) continue;
        polygon p = {.count = l->dimension};
        for (int i = 0; i < p.count; i++) {
            mat_apply(p.x[i], Q, f->corner[i]);
            vec_add(p.x[i], p.x[i], pose->x);
        }
        for (int i = 0; i < l->dimension; i++) {
            double beyond = l->margin * fabs(normal[i]);
            if (f->endless && i != l->axis) {
                cut(&p, i, 1, l->box_high[i] + beyond);
                cut(&p, i, -1, l->box_low[i] - beyond);
            }
            if (!l->has_region) continue;
            cut(&p, i, 1, l->region_high[i]);
            cut(&p, i, -1, l->region_low[i]);
        }
        add_pieces(wall, l, &p);
    }
    wall->pose = *pose;
    wall->is_measured = true;
    return DLS_OK;
}

/* A world falls into pieces: bodies that contacts or joints connect, other than through what is held. */
#include "assemble/turning.h"
#include "base/error.h"
#include "base/lu.h"
#include "base/small.h"
#include "base/vector.h"
#include "integrate/alpha/piece.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- who belongs together ---- */

static int root_of(int *parent, int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* The lower row is the root. */
static void join(int *parent, int a, int b) {
    a = root_of(parent, a), b = root_of(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

static bool is_moved(const dls_world *world, int row) {
    return row >= 0 && world->bodies[row].motion == DLS_DYNAMIC;
}

static void rows_of_joint(const dls_world *world, int joint, int *row) {
    for (int side = 0; side < 2; side++) {
        int id = world->joints[joint].def.body[side];
        row[side] = id < 0 ? -1 : world->entries[id].row;
    }
}

/* Items of each piece, in their order: item i belongs to owner[i], −1 to none. */
static bool deal(dls_workspace *space, int pieces, int count, const int *owner, int **first, int **order) {
    *first = DLS_TAKE_ZERO(space, int, pieces + 2);
    *order = DLS_TAKE(space, int, count);
    if (!*first || !*order) return false;
    int *place = *first + 1;
    for (int i = 0; i < count; i++)
        if (owner[i] >= 0) place[owner[i] + 1]++;
    for (int k = 1; k <= pieces; k++) place[k] += place[k - 1];
    for (int i = 0; i < count; i++)
        if (owner[i] >= 0) (*order)[place[owner[i]]++] = i;
    return true;
}

static void connect(const dls_simulation *s, int *parent) {
    const dls_world *world = s->world;
    const dls_contact *contacts = dls_collider_contacts(s->collider);
    for (int c = 0; c < dls_collider_count(s->collider); c++)
        if (is_moved(world, contacts[c].body_a) && is_moved(world, contacts[c].body_b))
            join(parent, contacts[c].body_a, contacts[c].body_b);
    for (int id = 0; id < world->joint_count; id++) {
        int row[2];
        if (!dls_joint_acts(world, &world->joints[id])) continue;
        rows_of_joint(world, id, row);
        if (is_moved(world, row[0]) && is_moved(world, row[1])) join(parent, row[0], row[1]);
    }
}

dls_status dls_pieces_find(dls_simulation *s, dls_pieces *pieces, dls_error *error) {
    const dls_world *world = s->world;
    dls_workspace *space = ((dls_alpha_world *)s->memory)->space;
    const dls_contact *contacts = dls_collider_contacts(s->collider);
    int rows = world->body_count, contact_count = dls_collider_count(s->collider),
        joints = world->joint_count;
    int *parent = DLS_TAKE(space, int, rows), *piece = DLS_TAKE(space, int, rows);
    int *of_contact = DLS_TAKE(space, int, contact_count), *of_joint = DLS_TAKE(space, int, joints);
    if (!parent || !piece || !of_contact || !of_joint) return dls_fail_memory(error);
    for (int row = 0; row < rows; row++) parent[row] = row;
    connect(s, parent);
    *pieces = (dls_pieces){.count = 0};
    for (int row = 0; row < rows; row++) {
        if (!is_moved(world, row))
            piece[row] = -1;
        else
            piece[row] = root_of(parent, row) == row ? pieces->count++ : piece[root_of(parent, row)];
    }
    for (int c = 0; c < contact_count; c++)
        of_contact[c] = piece[is_moved(world, contacts[c].body_a) ? contacts[c].body_a : contacts[c].body_b];
    for (int id = 0; id < joints; id++) {
        int row[2] = {-1, -1};
        if (dls_joint_acts(world, &world->joints[id])) rows_of_joint(world, id, row);
        int moved = is_moved(world, row[0]) ? row[0] : row[1];
        of_joint[id] = moved < 0 ? -1 : piece[moved];
    }
    if (!deal(space, pieces->count, rows, piece, &pieces->body_first, &pieces->body_order) ||
        !deal(space, pieces->count, contact_count, of_contact, &pieces->contact_first,
              &pieces->contact_order) ||
        !deal(space, pieces->count, joints, of_joint, &pieces->joint_first, &pieces->joint_order))
        return dls_fail_memory(error);
    return DLS_OK;
}

/* ---- bodies ---- */

/* J = A diag(I) Aᵀ in body axes. */
static void set_inertia(const dls_body *body, double *J) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            J[i + 3 * j] = 0;
            for (int k = 0; k < 3; k++)
                J[i + 3 * j] += body->axes[i + 3 * k] * body->inertia[k] * body->axes[j + 3 * k];
        }
}

static void add_locked(dls_piece *p, int body) {
    const dls_body *of = &p->s->world->bodies[p->body[body].row];
    int freedoms = p->dimension == 2 ? 0x23 : 0x3F;
    if (p->body[body].solid >= 0) return;
    for (int k = 0; k < 6; k++)
        if (of->locked & freedoms & 1 << k)
            p->joint_row[p->row_count++] = (dls_piece_row){.joint = -1,
                                                           .freedom = k,
                                                           .role = DLS_ROLE_HELD,
                                                           .body = body,
                                                           .of = {body, -1},
                                                           .family = DLS_ROWS_GAMMA,
                                                           .index = p->family_count[DLS_ROWS_GAMMA]++,
                                                           .law = -1,
                                                           .sign = 1};
}

static void note_driven(dls_piece *p, int row) {
    if (row < 0 || p->s->world->bodies[row].motion != DLS_DRIVEN) return;
    const dls_body *body = &p->s->world->bodies[row];
    if (!p->s->world->entries[body->id].told) return;
    for (int i = 0; i < p->driven_count; i++)
        if (p->driven[i] == row) return;
    p->driven[p->driven_count++] = row;
}

/* ---- contacts ---- */

static void add_part(dls_piece *p, dls_piece_contact *c, int k, int size, double mu, double e_t) {
    if (size == 0) return;
    c->law[c->law_count++] = (dls_piece_law){c->row_count, size, mu};
    c->row_count += size;
    p->laws[p->law_count++] = (dls_model_friction){.contact = k, .size = size, .mu = mu, .e_t = e_t};
}

static void add_friction(dls_piece *p, dls_piece_contact *c, int k, const dls_contact *contact) {
    const dls_pair_def *pair = &p->s->world->pairs[contact->pair];
    double rolling, spinning;
    uint8_t parts = dls_turning_parts(p->s->world, contact, &rolling, &spinning);
    c->first_row = p->family_count[DLS_ROWS_F];
    if (pair->mu == 0 && rolling == 0 && spinning == 0) return;
    c->drills = (parts & 3) == 3;
    c->tangents = (uint8_t)(p->dimension - 1);
    c->rolls = parts >> 2 & 3, c->spins = parts >> 4 & 3;
    c->axis_scale = pair->turning.drilling;
    add_part(p, c, k, c->tangents + c->drills, pair->mu, pair->e_t);
    add_part(p, c, k, c->rolls, rolling, 0);
    add_part(p, c, k, c->spins, spinning, 0);
    p->family_count[DLS_ROWS_F] += c->row_count;
}

static int spot_of(const dls_piece *p, int row, int shape) {
    const dls_spot *spot = dls_spot_of_shape(p->s->world, row, shape);
    return spot ? (int)(spot - p->s->world->spots) : -1;
}

static void add_contact(dls_piece *p, int index) {
    const dls_contact *contact = &dls_collider_contacts(p->s->collider)[index];
    const dls_pair_def *pair = &p->s->world->pairs[contact->pair];
    const dls_alpha_contact *past = dls_alpha_find_contact(p->w, contact);
    int k = p->contact_count++;
    dls_piece_contact *c = &p->contact[k];
    double frame[9];
    *c = (dls_piece_contact){
        .contact = index,
        .row = {contact->body_a, contact->body_b},
        .body = {p->local[contact->body_a], p->local[contact->body_b]},
        .spot = {spot_of(p, contact->body_a, contact->a), spot_of(p, contact->body_b, contact->b)},
        .at = contact->at};
    c->of[0] = c->body[0] < 0 ? c->body[1] : c->body[0], c->of[1] = c->body[0] < 0 ? -1 : c->body[1];
    for (int i = 0; i < 3; i++) c->shift[i] = contact->image[i] * p->s->world->def.period_size[i];
    c->cohesion = past && past->closed ? pair->cohesion : 0;
    dls_contact_frame(contact->at.normal, frame);
    vec_copy(c->base_n, past ? past->n : frame);
    vec_copy(c->base_t, past ? past->t : frame + 3);
    p->contacts[k] = (dls_model_contact){.e_n = pair->e_n};
    p->family_count[DLS_ROWS_N]++;
    add_friction(p, c, k, contact);
    note_driven(p, contact->body_a);
    note_driven(p, contact->body_b);
}

static const dls_kept_pair *kept_of(const dls_collider *c, const dls_contact *contact) {
    dls_pair_key key = dls_contact_key(contact);
    int low = 0, high = c->kept.count;
    while (low < high) {
        int middle = low + (high - low) / 2, order = dls_pair_key_compare(&c->kept.item[middle].key, &key);
        if (order == 0) return &c->kept.item[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Contacts of one pair follow each other. */
static bool make_pair(dls_piece *p, int first, int end) {
    const dls_contact *contacts = dls_collider_contacts(p->s->collider);
    const dls_contact *contact = &contacts[p->contact[first].contact];
    const dls_shape *shapes = p->s->world->shapes;
    dls_piece_pair *pair = &p->pair[p->pair_count];
    double farthest = 0;
    *pair = (dls_piece_pair){.first = first, .count = end - first};
    pair->kind = dls_pair_find(shapes[contact->a].kind, shapes[contact->b].kind, &pair->swapped);
    const dls_kept_pair *kept = pair->kind->remembers ? kept_of(p->s->collider, contact) : NULL;
    if (kept) {
        pair->memory = kept->memory;
        pair->last = DLS_TAKE(p->w->space, dls_contact_point, pair->count);
        if (!pair->last) return false;
    }
    for (int i = first; i < end; i++) {
        p->contact[i].pair = p->pair_count;
        dls_piece_set_face(p, &p->contact[i], pair->kind->exact);
        farthest = fmax(farthest, p->contact[i].at.gap);
        if (kept) pair->last[i - first] = dls_contact_seen(&contacts[p->contact[i].contact], pair->swapped);
    }
    pair->margin = 2 * farthest + p->s->smallest;
    p->pair_count++;
    return true;
}

static bool same_pair(const dls_contact *a, const dls_contact *b) {
    return a->a == b->a && a->b == b->b && memcmp(a->image, b->image, sizeof a->image) == 0;
}

static bool make_pairs(dls_piece *p) {
    const dls_contact *contacts = dls_collider_contacts(p->s->collider);
    for (int first = 0, end; first < p->contact_count; first = end) {
        for (end = first + 1; end < p->contact_count; end++)
            if (!same_pair(&contacts[p->contact[first].contact], &contacts[p->contact[end].contact])) break;
        if (!make_pair(p, first, end)) return false;
    }
    return true;
}

/* ---- masses ---- */

static void divide_solid(const dls_piece *p, const dls_piece_body *body, double *y) {
    const dls_solid *solid = &p->at.shadow.solids[body->solid];
    int n = body->n;
    double *A = p->matrix;
    dls_solid_full_matrix(solid, DLS_SOLID_MASS, p->at.shadow.q + solid->at, A + n * n, A);
    if (!dls_lu_factor(n, A, p->pivot, A + n * n)) dls_lu_solve(n, A, p->pivot, y);
}

static void divide_body(const dls_piece *p, const dls_piece_body *body, double *y) {
    double J[9];
    if (body->solid >= 0) {
        divide_solid(p, body, y);
        return;
    }
    for (int k = 0; k < p->dimension; k++) y[k] /= p->s->world->bodies[body->row].mass;
    if (p->dimension == 2) {
        y[2] /= body->inertia[8];
        return;
    }
    memcpy(J, body->inertia, sizeof J);
    small_solve(3, J, y + 3);
}

void dls_piece_divide_by_mass(const dls_piece *p, double *y) {
    for (int i = 0; i < p->body_count; i++) divide_body(p, &p->body[i], y + p->body[i].at_u);
}

/* ---- units ---- */

/* √(w̄/w) with w of the row and w̄ = Σ 1/m of its bodies: what makes its rate a speed. */
static double unit_of(dls_piece *p, const int of[2], const double *W) {
    double speed = 0, w = 0, *scaled = p->column;
    for (int side = 0; side < 2 && of[side] >= 0; side++) {
        const dls_piece_body *body = &p->body[of[side]];
        if (small_dot(body->m, W, W) > 0) speed += p->s->world->bodies[body->row].inverse_mass;
        memcpy(scaled, W, sizeof *W * (size_t)body->m);
        divide_body(p, body, scaled);
        w += small_dot(body->m, W, scaled);
        W += body->m;
    }
    return w > 0 && speed > 0 ? sqrt(speed / w) : 1;
}

static int widest_body(const dls_piece *p) {
    int widest = 0;
    for (int i = 0; i < p->body_count; i++)
        if (p->body[i].m > widest) widest = p->body[i].m;
    return widest;
}

/* Rows of joints, and those of contacts that turn; the others are speeds. */
static bool find_units(dls_piece *p) {
    int size = 2 * widest_body(p);
    double *W = DLS_TAKE(p->w->space, double, size);
    DLS_EACH_FAMILY(f) {
        p->unit[f] = DLS_TAKE(p->w->space, double, p->family_count[f]);
        if (!W || !p->unit[f]) return false;
        for (int i = 0; i < p->family_count[f]; i++) p->unit[f][i] = 1;
    }
    for (int i = 0; i < p->row_count; i++) {
        const dls_piece_row *row = &p->joint_row[i];
        if (row->family < 0) continue;
        memset(W, 0, sizeof *W * (size_t)size);
        dls_piece_row_direction(p, row, W);
        p->unit[row->family][row->index] = unit_of(p, row->of, W);
    }
    for (int i = 0; i < p->contact_count; i++) {
        const dls_piece_contact *c = &p->contact[i];
        for (int k = c->tangents + c->drills; k < c->row_count; k++) {
            memset(W, 0, sizeof *W * (size_t)size);
            dls_piece_contact_direction(p, c, k, W);
            p->unit[DLS_ROWS_F][c->first_row + k] = unit_of(p, c->of, W);
        }
    }
    return true;
}

/* ---- making one ---- */

static bool take_stand(const dls_piece *p, dls_stand *at, int joints, int64_t rows) {
    dls_workspace *space = p->w->space;
    at->q = DLS_TAKE(space, double, p->size_q), at->u = DLS_TAKE(space, double, p->size_u);
    at->pose = DLS_TAKE(space, dls_joint_pose, joints), at->row = DLS_TAKE(space, dls_joint_row, rows);
    at->stands = at->moves = at->knows_joints = false;
    return at->q && at->u && at->pose && at->row;
}

static bool take(dls_piece *p, int contacts, int joints) {
    dls_workspace *space = p->w->space;
    int64_t rows = 6 * (int64_t)p->body_count + (int64_t)DLS_PIECE_JOINT_ROWS * joints;
    int size = p->size_q > 12 ? p->size_q : 12, widest = 0;
    for (int i = 0; i < p->body_count; i++)
        if (p->body[i].solid >= 0 && p->body[i].n > widest) widest = p->body[i].n;
    p->matrix = DLS_TAKE(space, double, 2 * (int64_t)widest * widest + dls_lu_room(widest) + widest);
    p->pivot = DLS_TAKE(space, int, widest);
    p->contact = DLS_TAKE(space, dls_piece_contact, contacts);
    p->pair = DLS_TAKE(space, dls_piece_pair, contacts);
    p->joint_row = DLS_TAKE(space, dls_piece_row, rows);
    p->driven = DLS_TAKE(space, int, 2 * ((int64_t)contacts + joints));
    p->contacts = DLS_TAKE(space, dls_model_contact, contacts + rows);
    p->laws = DLS_TAKE(space, dls_model_friction, (int64_t)DLS_ALPHA_LAWS * contacts + rows);
    p->column = DLS_TAKE(space, double, 2 * size), p->joint = DLS_TAKE(space, int, joints);
    p->contact_zeta = dls_workspace_take(space, (size_t)contacts, sizeof *p->contact_zeta);
    p->row_zeta = DLS_TAKE(space, double, rows), p->probe = DLS_TAKE(space, double, rows);
    return p->body && p->contact && p->pair && p->joint_row && p->driven && p->contacts && p->laws &&
           p->matrix && p->pivot && p->column && p->joint && p->contact_zeta && p->row_zeta && p->probe &&
           take_stand(p, &p->at, joints, rows) && take_stand(p, &p->aside, joints, rows);
}

static void make_bodies(dls_piece *p, const int *rows) {
    int blocks = 0, motions = 0;
    p->size_q = p->size_u = 0;
    for (int i = 0; i < p->body_count; i++) {
        const dls_body *of = &p->s->world->bodies[rows[i]];
        dls_piece_body *body = &p->body[i];
        *body = (dls_piece_body){.row = rows[i],
                                 .solid = of->is_solid ? p->s->world->entries[of->id].solid : -1,
                                 .n = p->dimension == 2 ? 3 : 7,
                                 .m = p->dimension == 2 ? 3 : 6,
                                 .at_q = p->size_q,
                                 .at_u = p->size_u};
        if (body->solid >= 0) body->n = body->m = p->s->world->solids[body->solid].n;
        memcpy(body->q, p->s->kept[rows[i]].q, sizeof body->q);
        set_inertia(of, body->inertia);
        p->local[rows[i]] = i;
        body->at_M = blocks, body->at_B = motions;
        blocks += body->m * body->m, motions += body->n * body->m;
        p->size_q += body->n, p->size_u += body->m;
    }
}

/* ---- bodies of rows ---- */

static bool has_tie(const dls_piece_row *row) {
    return row->role == DLS_ROLE_SPRING || row->role == DLS_ROLE_SERVO;
}

static void set_bodies(int (*out)[2], int i, const int of[2]) { out[i][0] = of[0], out[i][1] = of[1]; }

static void place_columns(dls_piece *p, int f) {
    p->W_at[f][0] = 0;
    for (int i = 0; i < p->family_count[f]; i++) {
        int width = 0;
        for (int side = 0; side < 2 && p->row_bodies[f][i][side] >= 0; side++)
            width += p->body[p->row_bodies[f][i][side]].m;
        p->W_at[f][i + 1] = p->W_at[f][i] + width;
    }
}

static bool list_bodies(dls_piece *p) {
    dls_workspace *space = p->w->space;
    p->part_q = DLS_TAKE(space, int, p->body_count + 1), p->part_u = DLS_TAKE(space, int, p->body_count + 1);
    p->tie = dls_workspace_take(space, (size_t)p->row_count, sizeof *p->tie);
    p->tie_row = DLS_TAKE(space, int, p->row_count), p->turns = DLS_TAKE(space, bool, p->body_count);
    if (!p->part_q || !p->part_u || !p->tie || !p->tie_row || !p->turns) return false;
    for (int i = 0; i < p->body_count; i++) p->turns[i] = p->body[i].solid < 0;
    DLS_EACH_FAMILY(f) {
        p->row_bodies[f] = dls_workspace_take(space, (size_t)p->family_count[f], sizeof *p->row_bodies[f]);
        p->W_at[f] = DLS_TAKE(space, int, p->family_count[f] + 1);
        if (!p->row_bodies[f] || !p->W_at[f]) return false;
    }
    for (int i = 0; i < p->body_count; i++) p->part_q[i] = p->body[i].at_q, p->part_u[i] = p->body[i].at_u;
    p->part_q[p->body_count] = p->size_q, p->part_u[p->body_count] = p->size_u;
    for (int i = 0; i < p->contact_count; i++) {
        const dls_piece_contact *c = &p->contact[i];
        set_bodies(p->row_bodies[DLS_ROWS_N], i, c->of);
        for (int k = 0; k < c->row_count; k++) set_bodies(p->row_bodies[DLS_ROWS_F], c->first_row + k, c->of);
    }
    for (int i = 0; i < p->row_count; i++) {
        const dls_piece_row *row = &p->joint_row[i];
        if (row->family >= 0) set_bodies(p->row_bodies[row->family], row->index, row->of);
        if (!has_tie(row)) continue;
        set_bodies(p->tie, p->tie_count, row->of);
        p->tie_row[p->tie_count++] = i;
    }
    DLS_EACH_FAMILY(f) place_columns(p, f);
    return true;
}

dls_status dls_piece_make(dls_simulation *s, const dls_pieces *pieces, int index, dls_piece *p,
                          dls_error *error) {
    const int *contact = pieces->contact_order + pieces->contact_first[index];
    const int *joint = pieces->joint_order + pieces->joint_first[index];
    int contacts = pieces->contact_first[index + 1] - pieces->contact_first[index];
    int joints = pieces->joint_first[index + 1] - pieces->joint_first[index];
    p->s = s, p->w = s->memory, p->t0 = s->t;
    p->dimension = s->world->def.dimension;
    p->body_count = pieces->body_first[index + 1] - pieces->body_first[index];
    p->contact_count = p->pair_count = p->row_count = p->driven_count = p->law_count = 0;
    p->joint_count = p->tie_count = 0;
    p->lonely = p->bends = false, p->packed = true;
    memset(p->family_count, 0, sizeof p->family_count);
    p->body = DLS_TAKE(p->w->space, dls_piece_body, p->body_count);
    if (!p->body) return dls_fail_memory(error);
    make_bodies(p, pieces->body_order + pieces->body_first[index]);
    if (!take(p, contacts, joints)) return dls_fail_memory(error);
    for (int i = 0; i < contacts; i++) add_contact(p, contact[i]);
    if (!make_pairs(p)) return dls_fail_memory(error);
    for (int i = 0; i < p->body_count; i++) add_locked(p, i);
    for (int i = 0; i < joints; i++) {
        int row[2];
        rows_of_joint(s->world, joint[i], row);
        note_driven(p, row[0]);
        note_driven(p, row[1]);
        dls_piece_add_joint(p, joint[i]);
    }
    for (int i = 0; i < p->contact_count; i++) dls_piece_frame(p, &p->contact[i]);
    return find_units(p) && list_bodies(p) && dls_piece_find_left(p) ? DLS_OK : dls_fail_memory(error);
}

/* Contacts that bodies left behind. While the collider tells of an open contact, P = 0 takes out of u what
 * its λ̄ still has in ā; once it does not,
 *
 *     ā ← ā − M⁻¹W λ̄
 *
 * of the bodies that it was between, with W where the step before ended: exact where W does not turn. */
#include "base/vector.h"
#include "integrate/alpha/piece.h"
#include "world/parts.h"

#include <string.h>

/* ---- at the end of a step: W λ̄ as a wrench ---- */

void dls_alpha_keep_push(const dls_piece_contact *c, dls_alpha_contact *kept) {
    vec_scale(kept->push, kept->bar, c->at.normal);
    vec_set(kept->turn, 0, 0, 0);
    for (int k = 0; k < c->row_count; k++) {
        double *to = k < c->tangents ? kept->push : kept->turn;
        vec_along(to, to, kept->bar_f[k], c->axis[k]);
    }
    for (int side = 0; side < 2; side++) vec_copy(kept->arm[side], c->arm[side]);
}

/* ---- at the beginning of the next ---- */

bool dls_alpha_find_left(dls_simulation *s) {
    dls_alpha_world *w = s->memory;
    const dls_contact *contacts = dls_collider_contacts(s->collider);
    bool *stays = DLS_TAKE_ZERO(w->space, bool, w->contacts.count);
    w->left = DLS_TAKE(w->space, int, w->contacts.count), w->left_count = 0;
    if (!stays || !w->left) return false;
    for (int i = 0; i < dls_collider_count(s->collider); i++) {
        const dls_alpha_contact *past = dls_alpha_find_contact(w, &contacts[i]);
        if (past) stays[past - w->contacts.item] = true;
    }
    for (int i = 0; i < w->contacts.count; i++) {
        const dls_alpha_contact *c = &w->contacts.item[i];
        if (!stays[i] && (vec_dot(c->push, c->push) > 0 || vec_dot(c->turn, c->turn) > 0))
            w->left[w->left_count++] = i;
    }
    return true;
}

static int body_of(const dls_piece *p, int uid) {
    for (int i = 0; i < p->body_count; i++)
        if (p->w->bodies.item[p->body[i].row].uid == uid) return i;
    return -1;
}

/* y += sign Wλ̄ at the velocities of one side. */
static void add_push(const dls_piece *p, const dls_alpha_contact *c, int side, int i, double *y) {
    const dls_piece_body *body = &p->body[i];
    const dls_world *world = p->s->world;
    double turn[3], sign = side ? 1 : -1;
    int local = side ? c->key.local_b : c->key.local_a;
    const dls_body *of = &world->bodies[body->row];
    if (local < 0 || local >= of->shape_count) return;
    const dls_spot *spot = dls_spot_of_shape(world, body->row, of->shape_first + local);
    vec_cross(turn, c->arm[side], c->push);
    vec_add(turn, turn, c->turn);
    y += body->at_u;
    if (spot) {
        dls_piece_spot_direction(spot, sign, c->push, turn, y);
        return;
    }
    for (int k = 0; k < p->dimension; k++) y[k] += sign * c->push[k];
    if (p->dimension == 2) {
        y[2] += sign * turn[2];
        return;
    }
    mat_apply_transposed(turn, p->at.R[body->row], turn);
    for (int k = 0; k < 3; k++) y[3 + k] += sign * turn[k];
}

bool dls_piece_find_left(dls_piece *p) {
    p->left = DLS_TAKE_ZERO(p->w->space, double, p->size_u);
    if (!p->left) return false;
    for (int k = 0; k < p->w->left_count; k++) {
        const dls_alpha_contact *c = &p->w->contacts.item[p->w->left[k]];
        for (int side = 0; side < 2; side++) {
            int body = body_of(p, side ? c->key.uid_b : c->key.uid_a);
            if (body >= 0) add_push(p, c, side, body, p->left);
        }
    }
    if (p->w->left_count > 0) dls_piece_divide_by_mass(p, p->left);
    return true;
}

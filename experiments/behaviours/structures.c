/* What stands: an A-frame of cards, a box that sticks, an arch and a tower at rest. */
#include "experiments/behaviours/turned.h"

#include <math.h>
#include <string.h>

static const double G = 9.81, PI = 3.14159265358979323846;

/* ---- 13: two cards ---- */

/* Feet on a plane, heads on each other. Each foot bears the weight m g of a card and the head a level force
 * N (L cos α) = m g (L/2) sin α, so that feet slip from tan α = 2 μ on, at 31.0° and, with the thickness of a
 * card, 31.2°. How far one moves in 0.3 s. */
static bool frame(const variant *v, double degrees, double *moved) {
    const double thick = 5e-4, width = 0.06, tall = 0.09, alpha = degrees * PI / 180;
    turned_def def = turned_default(3);
    def.gravity = G, def.pair.mu = 0.3;
    turned t = turned_open(&def, v);
    dls_shape_def card = dls_default_shape_def(DLS_BOX);
    const double size[3] = {thick, width, tall}, up = tall / 2 * cos(alpha) + thick / 2 * sin(alpha),
                 out = tall / 2 * sin(alpha) + thick / 2 * cos(alpha);
    dls_body_id id[2];
    memcpy(card.size, size, sizeof size);
    turned_add_floor(&t);
    for (int k = 0; k < 2; k++) {
        const double side = k ? 1 : -1, x[3] = {side * out, 0, up};
        double q[4];
        turn_about(1, -side * alpha, q);
        id[k] = turned_add_shape(&t, DLS_DYNAMIC, &card, x, q, NULL, NULL);
    }
    turned_start(&t, &def, v);
    const dls_body_state before = turned_state(&t, id[0]);
    turned_run(&t, (int)lround(0.3 / (v->share * def.step)));
    *moved = distance_of(turned_state(&t, id[0]).x, before.x);
    return turned_close(&t);
}

static bool show_cards(experiment_run *run) {
    static const double holds[] = {17, 31}, falls = 31.4;
    for (int k = 0; k < VARIANTS; k++) {
        double moved;
        for (int i = 0; i < 2; i++) {
            if (!frame(&variants[k], holds[i], &moved)) return false;
            claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-7, moved,
                        "13: two cards that lean by %g° on each other, μ = 0.3, move in 0.3 s, %s", holds[i],
                        variants[k].name);
        }
        if (!frame(&variants[k], falls, &moved)) return false;
        claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_LEAST, 1e-4, moved, "13: by %g°, %s", falls,
                    variants[k].name);
    }
    return true;
}

/* ---- 14: a box that sticks ---- */

/* 1 kg, four contacts of 5 N, on a slab and pulled: whether it has gone after 0.1 s. */
static bool lifts(const variant *v, double pull, bool *gone) {
    turned_def def = turned_default(3);
    def.gravity = G, def.pair.mu = 0.3, def.pair.cohesion = 5;
    turned t = turned_open(&def, v);
    dls_shape_def box = dls_default_shape_def(DLS_BOX), slab = box;
    dls_body_def body = dls_default_body_def();
    const double small[3] = {0.1, 0.1, 0.1}, large[3] = {1, 1, 0.2}, force[3] = {0, 0, pull};
    memcpy(box.size, small, sizeof small);
    memcpy(slab.size, large, sizeof large);
    turned_add_shape(&t, DLS_STATIC, &slab, NULL, NULL, NULL, NULL);
    body.shape_count = 1, body.shapes = &box, body.mass = 1;
    body.pose.x[2] = 0.15;
    turned_pull(&t, &body, force);
    dls_body_id id = turned_add(&t, &body);
    turned_start(&t, &def, v);
    turned_run(&t, (int)lround(0.1 / (v->share * def.step)));
    *gone = turned_state(&t, id).x[2] > 0.15 + 1e-6;
    return turned_close(&t);
}

/* It holds to its weight and 4 · 5 N: the least pull that lifts it, by bisection. */
static bool show_sticking(experiment_run *run) {
    for (int k = 0; k < VARIANTS; k++) {
        double low = 20, high = 40;
        while (high - low > 1e-3) {
            bool gone;
            double pull = (low + high) / 2;
            if (!lifts(&variants[k], pull, &gone)) return false;
            if (gone)
                high = pull;
            else
                low = pull;
        }
        claim_equal(&run->claims, CLAIM_DERIVED, "N", 4 * 5 + G, high, 0.01,
                    "14: pull that lifts a box of 1 kg off four contacts of 5 N, %s", variants[k].name);
    }
    return true;
}

/* ---- 15: at rest ---- */

typedef struct stillness {
    double speed, moved; /* m/s, m: the largest of any body in the second half */
    double iterations;   /* per step */
    int uncertified;
} stillness;

static bool stand(turned *t, const dls_body_id *id, int count, int steps, stillness *out) {
    enum { MOST = 32 };
    dls_body_state began[MOST];
    turned_run(t, steps / 2);
    *out = (stillness){0};
    for (int k = 0; k < count; k++) began[k] = turned_state(t, id[k]);
    for (int n = 0; n < steps / 2 && turned_run(t, 1); n++)
        for (int k = 0; k < count; k++) {
            const dls_body_state now = turned_state(t, id[k]);
            out->speed = fmax(out->speed, length_of(now.v));
            out->moved = fmax(out->moved, distance_of(now.x, began[k].x));
        }
    out->iterations = (double)t->iterations / steps;
    out->uncertified = t->uncertified;
    return turned_close(t);
}

/* Half a ring of 21 stones, thickness 0.115 of its mean radius of 1 m; the thinnest that stands has 0.1075.
 */
static bool stand_arch(const variant *v, double seconds, stillness *out) {
    enum { STONES = 21 };
    const double inner = 1 - 0.115 / 2, outer = 1 + 0.115 / 2;
    turned_def def = turned_default(2);
    def.gravity = G, def.pair.mu = 0.7;
    turned t = turned_open(&def, v);
    dls_body_id id[STONES];
    turned_add_floor(&t);
    for (int k = 0; k < STONES; k++) {
        double a = PI * k / STONES, b = PI * (k + 1) / STONES;
        const double points[12] = {inner * cos(a), inner * sin(a), 0, outer * cos(a), outer * sin(a), 0,
                                   outer * cos(b), outer * sin(b), 0, inner * cos(b), inner * sin(b), 0};
        dls_shape_def stone = dls_default_shape_def(DLS_POLYGON);
        stone.points = points, stone.point_count = 4;
        id[k] = turned_add_shape(&t, DLS_DYNAMIC, &stone, NULL, NULL, NULL, NULL);
    }
    turned_start(&t, &def, v);
    return stand(&t, id, STONES, (int)lround(seconds / (v->share * def.step)), out);
}

/* Twenty cubes of 1 m. */
static bool stand_tower(const variant *v, double seconds, stillness *out) {
    enum { CUBES = 20 };
    turned_def def = turned_default(3);
    def.step = 5e-3, def.gravity = G, def.pair.mu = 0.5;
    turned t = turned_open(&def, v);
    dls_body_id id[CUBES];
    dls_shape_def cube = dls_default_shape_def(DLS_BOX);
    for (int k = 0; k < 3; k++) cube.size[k] = 1;
    turned_add_floor(&t);
    for (int k = 0; k < CUBES; k++) {
        const double x[3] = {0, 0, k + 0.5};
        id[k] = turned_add_shape(&t, DLS_DYNAMIC, &cube, x, NULL, NULL, NULL);
    }
    turned_start(&t, &def, v);
    return stand(&t, id, CUBES, (int)lround(seconds / (v->share * def.step)), out);
}

/* Ten times what the tolerance lets a contact err, 1e-6 |g| h. */
static bool show_rest(experiment_run *run) {
    claim_list *c = &run->claims;
    double seconds = run->size == SIZE_FULL ? 4 : 1; /* and looked at in the second half */
    for (int k = 0; k < VARIANTS; k++) {
        const char *name = variants[k].name;
        double fall = G * variants[k].share; /* over 1 s */
        stillness arch, tower;
        if (!stand_arch(&variants[k], seconds, &arch) || !stand_tower(&variants[k], seconds, &tower))
            return false;
        claim_bound(c, CLAIM_DERIVED, "m/s", CLAIM_AT_MOST, 1e-5 * 1e-3 * fall, arch.speed,
                    "15: an arch of t/R = 0.115 at rest, fastest stone, %s", name);
        claim_bound(c, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-8, arch.moved, "15: it creeps in %g s, %s",
                    seconds / 2, name);
        claim_bound(c, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 100, arch.iterations,
                    "15: its iterations per step, %s", name);
        claim_bound(c, CLAIM_DERIVED, "m/s", CLAIM_AT_MOST, 1e-5 * 5e-3 * fall, tower.speed,
                    "15: a tower of 20 cubes at rest, fastest one, %s", name);
        claim_bound(c, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-7, tower.moved, "15: it moves in %g s, %s",
                    seconds / 2, name);
        claim_bound(c, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 500, tower.iterations,
                    "15: its iterations per step, %s", name);
        claim_equal(c, CLAIM_DERIVED, "1", 0, arch.uncertified + tower.uncertified, 0,
                    "15: steps of both that are not certified, %s", name);
    }
    return true;
}

bool show_structures(experiment_run *run) { return show_cards(run) && show_sticking(run) && show_rest(run); }

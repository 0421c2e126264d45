/* A pole on a cart that is held upright, by a servo at its hinge and by a force on the cart that follows from
 * the state. With x of the cart, θ of the pole from upright, M + m the mass, s = m l, J₀ = I + m l²:
 *
 *     (M + m) ẍ − s θ̈ = F,      J₀ θ̈ − s ẍ = s g θ + τ      (linear) */
#include "experiments/mechanisms/mechanisms.h"

#include <math.h>

static const double down[3] = {0, -9.81, 0}, z_axis[3] = {0, 0, 1}, x_axis[3] = {1, 0, 0},
                    origin[3] = {0, 0, 0};
static const double G = 9.81, CART = 1, POLE = 0.2, LENGTH = 1, LEAN = 1e-4;

typedef struct cart {
    rig r;
    dls_body_id cart, pole;
    dls_joint_id hinge;
    double gain[4];
} cart;

static double moment(void) { return POLE * LENGTH * LENGTH / 3; } /* J₀ */
static double offset(void) { return POLE * LENGTH / 2; }          /* s */

/* Already leaning; the hinge's coordinate is 0 upright. */
static void add_pole(cart *m, double p, double d) {
    const double top[3] = {-LENGTH * sin(LEAN), LENGTH * cos(LEAN), 0};
    m->pole = rig_add_rod(&m->r, POLE, origin, top);
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_REVOLUTE);
    def.body[0] = m->cart, def.body[1] = m->pole;
    if (p > 0) {
        def.freedom[3].p = p, def.freedom[3].d = d;
        def.freedom[3].target = rig_constant(&m->r, 0);
    }
    rig_place(&m->r, &def, origin, z_axis, NULL);
    /* A's frame is turned back by the lean, about z */
    double w = def.frame[0].q[0], z = def.frame[0].q[3], x = def.frame[0].q[1], y = def.frame[0].q[2],
           half = -LEAN / 2;
    def.frame[0].q[0] = cos(half) * w - sin(half) * z, def.frame[0].q[3] = cos(half) * z + sin(half) * w;
    def.frame[0].q[1] = cos(half) * x - sin(half) * y, def.frame[0].q[2] = cos(half) * y + sin(half) * x;
    m->hinge = rig_add_joint(&m->r, &def);
}

/* −K (x, θ, ẋ, θ̇) of the state that the step before left. */
static bool feed_back(double t, double *y, void *user) {
    (void)t;
    const cart *m = user;
    dls_body_state body = rig_state(&m->r, m->cart);
    dls_joint_state hinge = rig_joint(&m->r, m->hinge);
    *y = -m->gain[0] * body.x[0] - m->gain[1] * hinge.coordinate[3] - m->gain[2] * body.v[0] -
         m->gain[3] * hinge.speed[3];
    return true;
}

static void build_cart(cart *m, bool fed_back, double p, double d) {
    const double inertia[3] = {1, 1, 1};
    m->r = rig_open(2, down);
    m->cart = rig_add_mass(&m->r, CART, inertia, origin);
    dls_joint_def rail = dls_default_joint_def(DLS_JOINT_PRISMATIC);
    rail.body[0] = DLS_GROUND, rail.body[1] = m->cart;
    if (fed_back && !m->r.failed) {
        dls_callback_def def = {.value = feed_back, .user = m};
        m->r.failed = dls_function_callback(&def, &rail.freedom[0].force, &m->r.error) != DLS_OK;
    }
    rig_join(&m->r, &rail, origin, x_axis, NULL);
    add_pole(m, p, d);
}

/* ---- servo ---- */

/* J θ̈ + d θ̇ + (p − s g) θ = 0 with J = J₀ − s²/(M + m): p and d for a frequency and a damping. */
static bool hold_by_servo(experiment_run *run, const rig_scheme *scheme, double h, double *error) {
    static const double FREQUENCY = 6, DAMPING = 0.2;
    double J = moment() - offset() * offset() / (CART + POLE), decay = DAMPING * FREQUENCY;
    double turn = FREQUENCY * sqrt(1 - DAMPING * DAMPING);
    cart m;
    build_cart(&m, false, offset() * G + J * FREQUENCY * FREQUENCY, 2 * decay * J);
    rig_start(&m.r, scheme, h, 1e-13);
    *error = 0;
    while (m.r.last.t < 3 - h / 2 && rig_step(&m.r)) {
        double t = m.r.last.t, expected = exp(-decay * t) * (cos(turn * t) + decay / turn * sin(turn * t));
        *error = fmax(*error, fabs(rig_joint(&m.r, m.hinge).coordinate[3] / LEAN - expected));
    }
    if (run) rig_claim_books(run, "cart and pole, servo", &m.r);
    return rig_close(&m.r);
}

/* ---- feedback ---- */

/* Gains for poles −1.5, −4 and −5 ± 2i: coefficients of s² (s² − c) + (k₁ + k₃ s)(b (s² − c) + a e) +
 * (k₂ + k₄ s) e s², with ẍ = a θ + b F and θ̈ = c θ + e F. */
static void place_poles(double *gain) {
    double s = offset(), total = CART + POLE, D = total * moment() - s * s;
    double a = s * s * G / D, b = moment() / D, c = total * s * G / D, e = s / D, f = a * e - b * c;
    /* (s + 1.5)(s + 4) = s² + 5.5 s + 6, (s + 5)² + 4 = s² + 10 s + 29 */
    double p3 = 15.5, p2 = 29 + 55 + 6, p1 = 5.5 * 29 + 60, p0 = 6 * 29;
    gain[0] = p0 / f, gain[2] = p1 / f;
    gain[1] = (p2 + c - gain[0] * b) / e, gain[3] = (p3 - gain[2] * b) / e;
}

/* The slowest rate, from the cart's way back when all others have died out. */
static bool hold_by_feedback(experiment_run *run, const rig_scheme *scheme, double h, double *rate) {
    cart m;
    double early = 0;
    place_poles(m.gain);
    build_cart(&m, true, 0, 0);
    rig_start(&m.r, scheme, h, 1e-13);
    while (m.r.last.t < 8 - h / 2 && rig_step(&m.r))
        if (fabs(m.r.last.t - 6) < h / 2) early = rig_state(&m.r, m.cart).x[0];
    *rate = log(early / rig_state(&m.r, m.cart).x[0]) / 2;
    if (run) rig_claim_books(run, "cart and pole, feedback", &m.r);
    return rig_close(&m.r);
}

bool show_cart_pole(experiment_run *run) {
    for (int s = 0; s < RIG_SCHEMES; s++) {
        double coarse, fine, rate[2];
        experiment_run *books = s ? NULL : run;
        rig_scheme sampled = rig_schemes[s];
        sampled.order = 0.9; /* the force follows a step later */
        if (!hold_by_servo(books, &rig_schemes[s], 4e-3, &coarse) ||
            !hold_by_servo(NULL, &rig_schemes[s], 2e-3, &fine) ||
            !hold_by_feedback(books, &sampled, 2e-3, &rate[0]) ||
            !hold_by_feedback(NULL, &sampled, 1e-3, &rate[1]))
            return false;
        rig_claim_order(run, "cart and pole, servo", &rig_schemes[s], coarse, fine);
        claim_equal(&run->claims, CLAIM_DERIVED, "1/s", 1.5, 2 * rate[1] - rate[0], 1e-3,
                    "cart and pole, feedback: slowest eigenvalue for h → 0, %s", sampled.label);
        rig_claim_order(run, "cart and pole, feedback", &sampled, fabs(rate[0] - 1.5), fabs(rate[1] - 1.5));
    }
    return true;
}

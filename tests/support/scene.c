#include "support/scene.h"

#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct scene {
    int bodies, contacts;
    double *position, *inverse_mass, *velocity; /* 3, 36 and 3 per body */
    int *body;
    double *H, *mu, *b; /* 36, 1 and 3 per contact */
};

scene *scene_create(int bodies, int contacts) {
    scene *s = calloc(1, sizeof *s);
    size_t n = (size_t)contacts + 1, m = (size_t)bodies + 1;
    s->position = calloc(3 * m, sizeof(double));
    s->inverse_mass = calloc(36 * m, sizeof(double));
    s->velocity = calloc(3 * m, sizeof(double));
    s->body = calloc(2 * n, sizeof(int));
    s->H = calloc(36 * n, sizeof(double));
    s->mu = calloc(n, sizeof(double));
    s->b = calloc(3 * n, sizeof(double));
    return s;
}

void scene_free(scene *s) {
    free(s->position);
    free(s->inverse_mass);
    free(s->velocity);
    free(s->body);
    free(s->H);
    free(s->mu);
    free(s->b);
    free(s);
}

int scene_body(scene *s, const double position[3], double mass, double inertia, const double velocity[3]) {
    int body = s->bodies++;
    memcpy(s->position + 3 * body, position, 3 * sizeof(double));
    memcpy(s->velocity + 3 * body, velocity, 3 * sizeof(double));
    for (int i = 0; i < 6; i++) s->inverse_mass[36 * body + 7 * i] = 1 / (i < 3 ? mass : inertia);
    return body;
}

static void cross(const double *a, const double *b, double *c) {
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = a[j] * b[k] - a[k] * b[j];
    }
}

/* Rows n, t, n × t; a normal along x gets t = y, any other the tangent nearest to x. */
static void frame_of(const double n[3], double frame[3][3]) {
    int along = fabs(n[0]) < 0.9 ? 0 : 1;
    double length = 0;
    for (int i = 0; i < 3; i++) {
        frame[0][i] = n[i];
        frame[1][i] = (i == along) - n[along] * n[i];
        length += frame[1][i] * frame[1][i];
    }
    for (int i = 0; i < 3; i++) frame[1][i] /= sqrt(length);
    cross(frame[0], frame[1], frame[2]);
}

void scene_contact(scene *s, int a, int b, const double point[3], const double normal[3], double mu) {
    int c = s->contacts++, pair[2] = {a, b};
    double frame[3][3];
    frame_of(normal, frame);
    s->mu[c] = mu;
    for (int side = 0; side < 2; side++) {
        int body = s->body[2 * c + side] = pair[side];
        double *H = s->H + 36 * c + 18 * side, lever[3], moment[3], sign = side ? 1 : -1;
        if (body < 0) continue;
        for (int i = 0; i < 3; i++) lever[i] = point[i] - s->position[3 * body + i];
        for (int i = 0; i < 3; i++) {
            cross(lever, frame[i], moment);
            for (int j = 0; j < 3; j++) {
                H[i + 3 * j] = sign * frame[i][j];
                H[i + 3 * (3 + j)] = sign * moment[j];
                s->b[3 * c + i] += sign * frame[i][j] * s->velocity[3 * body + j];
            }
        }
    }
}

dls_problem *scene_problem(const scene *s, bool matrix_free) {
    dls_problem_def def = {.block_count = s->contacts, .dimension = 3, .mu = s->mu, .b = s->b};
    dls_bodies bodies = {s->bodies, 6, s->inverse_mass, s->body, s->H};
    dls_problem *implicit, *stored;
    dls_error error;
    if (dls_problem_create_bodies(&def, &bodies, &implicit, &error)) fail_msg("%s", error.message);
    if (matrix_free) return implicit;
    if (dls_problem_assemble(implicit, &stored, &error)) fail_msg("%s", error.message);
    dls_problem_destroy(implicit);
    return stored;
}

/* Vectors of three, rotations as 3 × 3 column-major matrices and as unit quaternions (w, x, y, z), inlined.
 */
#ifndef BASE_VECTOR_H
#define BASE_VECTOR_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>

static inline void vec_set(double *r, double x, double y, double z) { r[0] = x, r[1] = y, r[2] = z; }
static inline void vec_copy(double *r, const double *a) { r[0] = a[0], r[1] = a[1], r[2] = a[2]; }
static inline double vec_dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline double vec_norm(const double *a) { return sqrt(vec_dot(a, a)); }
static inline void vec_add(double *r, const double *a, const double *b) {
    for (int i = 0; i < 3; i++) r[i] = a[i] + b[i];
}
static inline void vec_sub(double *r, const double *a, const double *b) {
    for (int i = 0; i < 3; i++) r[i] = a[i] - b[i];
}
static inline void vec_scale(double *r, double s, const double *a) {
    for (int i = 0; i < 3; i++) r[i] = s * a[i];
}
/* r = a + s b */
static inline void vec_along(double *r, const double *a, double s, const double *b) {
    for (int i = 0; i < 3; i++) r[i] = a[i] + s * b[i];
}
static inline void vec_cross(double *r, const double *a, const double *b) {
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    vec_set(r, x, y, z);
}
static inline double vec_distance(const double *a, const double *b) {
    double d[3];
    vec_sub(d, a, b);
    return vec_norm(d);
}

/* To rounding; what is told by others is checked or made so where it comes in. */
static inline bool vec_is_unit(const double *n) { return fabs(vec_dot(n, n) - 1) < 1e-9; }

/* r = R a, in place too */
static inline void mat_apply(double *r, const double *R, const double *a) {
    double x = R[0] * a[0] + R[3] * a[1] + R[6] * a[2], y = R[1] * a[0] + R[4] * a[1] + R[7] * a[2],
           z = R[2] * a[0] + R[5] * a[1] + R[8] * a[2];
    vec_set(r, x, y, z);
}
/* r = Rᵀ a, in place too */
static inline void mat_apply_transposed(double *r, const double *R, const double *a) {
    double x = vec_dot(R, a), y = vec_dot(R + 3, a), z = vec_dot(R + 6, a);
    vec_set(r, x, y, z);
}
/* C = A B; C is neither */
static inline void mat_multiply(double *C, const double *A, const double *B) {
    for (int j = 0; j < 3; j++) mat_apply(C + 3 * j, A, B + 3 * j);
}

/* t₁, t₂ complete the unit n to a right-handed frame; depends on n alone. In the plane (n_z = 0) t₁ is n
 * turned by +90° and t₂ is z. */
static inline void vec_tangents(const double *n, double *t1, double *t2) {
    assert(vec_is_unit(n));
    double h = n[0] * n[0] + n[1] * n[1];
    if (h < 0.5) { /* n is nearer to z: start from x */
        double s = 1 / sqrt(n[1] * n[1] + n[2] * n[2]);
        vec_set(t1, 0, n[2] * s, -n[1] * s);
        vec_cross(t2, n, t1);
        return;
    }
    double s = 1 / sqrt(h);
    vec_set(t1, -n[1] * s, n[0] * s, 0);
    vec_cross(t2, n, t1);
}

/* ---- quaternions ---- */

static inline void quat_normalize(double *q) {
    double s = 1 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) q[i] *= s;
}
static inline bool quat_is_unit(const double *q) {
    return fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) < 1e-9;
}
/* Of a file that may have fewer digits: what is a unit quaternion keeps its bits. */
static inline void quat_mend(double *q) {
    if (!quat_is_unit(q)) quat_normalize(q);
}
/* r = a b, in place too */
static inline void quat_multiply(double *r, const double *a, const double *b) {
    double w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    double x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    double y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    double z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
    r[0] = w, r[1] = x, r[2] = y, r[3] = z;
}
static inline void quat_matrix(const double *q, double *R) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    R[0] = 1 - 2 * (y * y + z * z), R[3] = 2 * (x * y - w * z), R[6] = 2 * (x * z + w * y);
    R[1] = 2 * (x * y + w * z), R[4] = 1 - 2 * (x * x + z * z), R[7] = 2 * (y * z - w * x);
    R[2] = 2 * (x * z - w * y), R[5] = 2 * (y * z + w * x), R[8] = 1 - 2 * (x * x + y * y);
}
/* The rotation by the vector a (axis times angle). */
static inline void quat_exponential(double *q, const double *a) {
    double angle = vec_norm(a), s = angle > 1e-6 ? sin(angle / 2) / angle : 0.5 - angle * angle / 48;
    q[0] = cos(angle / 2);
    vec_scale(q + 1, s, a);
}
/* Columns are units, and right-handed: the third is the cross product of the others. */
static inline bool mat_is_rotation(const double *R) {
    double third[3];
    vec_cross(third, R, R + 3);
    return vec_is_unit(R) && vec_is_unit(R + 3) && vec_distance(third, R + 6) < 1e-9;
}
/* Of a rotation matrix, w ≥ 0. */
static inline void quat_from_matrix(double *q, const double *R) {
    assert(mat_is_rotation(R));
    double trace = R[0] + R[4] + R[8];
    if (trace > 0) {
        double s = 2 * sqrt(1 + trace);
        q[0] = s / 4, q[1] = (R[5] - R[7]) / s, q[2] = (R[6] - R[2]) / s, q[3] = (R[1] - R[3]) / s;
    } else {
        int i = R[4] > R[0] ? 1 : 0;
        if (R[8] > R[4 * i]) i = 2;
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double s = 2 * sqrt(fmax(0, 1 + R[4 * i] - R[4 * j] - R[4 * k]));
        q[0] = (R[k + 3 * j] - R[j + 3 * k]) / s;
        q[1 + i] = s / 4;
        q[1 + j] = (R[j + 3 * i] + R[i + 3 * j]) / s;
        q[1 + k] = (R[k + 3 * i] + R[i + 3 * k]) / s;
        if (q[0] < 0)
            for (int m = 0; m < 4; m++) q[m] = -q[m];
    }
    quat_normalize(q);
}

#endif

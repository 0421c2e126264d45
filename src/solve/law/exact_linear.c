/* Small dense algebra of the exact solver: complete pivoting, and the least curvature of W on the cone. */
#include "solve/law/exact_parts.h"

#include <float.h>

/* ---- elimination ------------------------------------------------------------------------------------ */

/* Brings the largest remaining entry of step k to the diagonal. */
static void pivot(int n, int k, dls_exact_factors *f) {
    int row = k, column = k, index;
    for (int j = k; j < n; j++)
        for (int i = k; i < n; i++)
            if (fabs(f->a[i + n * j]) > fabs(f->a[row + n * column])) row = i, column = j;
    for (int m = 0; m < n; m++) {
        double t = f->a[k + n * m];
        f->a[k + n * m] = f->a[row + n * m];
        f->a[row + n * m] = t;
    }
    for (int m = 0; m < n; m++) {
        double t = f->a[m + n * k];
        f->a[m + n * k] = f->a[m + n * column];
        f->a[m + n * column] = t;
    }
    index = f->row[k], f->row[k] = f->row[row], f->row[row] = index;
    index = f->column[k], f->column[k] = f->column[column], f->column[column] = index;
}

/* P A Q = L U; what is left after a zero pivot is zero. */
void dls_exact_factor(int n, const double *A, dls_exact_factors *f) {
    memcpy(f->a, A, sizeof(double) * (size_t)(n * n));
    for (int i = 0; i < n; i++) f->row[i] = f->column[i] = i;
    for (int k = 0; k < n; k++) {
        pivot(n, k, f);
        double top = f->a[k + n * k];
        if (k == 0) f->largest_pivot = fabs(top);
        f->least_pivot = fabs(top);
        if (top == 0) return;
        for (int i = k + 1; i < n; i++) {
            double l = f->a[i + n * k] /= top;
            for (int j = k + 1; j < n; j++) f->a[i + n * j] -= l * f->a[k + n * j];
        }
    }
}

/* A x = y, with unknowns that have no pivot above `least` set to 0. */
void dls_exact_backsolve(int n, const dls_exact_factors *f, double least, const double *y, double *x) {
    double z[4];
    for (int i = 0; i < n; i++) {
        z[i] = y[f->row[i]];
        for (int j = 0; j < i; j++) z[i] -= f->a[i + n * j] * z[j];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) z[i] -= f->a[i + n * j] * z[j];
        z[i] = fabs(f->a[i + n * i]) > least ? z[i] / f->a[i + n * i] : 0;
    }
    for (int i = 0; i < n; i++) x[f->column[i]] = z[i];
}

/* ---- curvature -------------------------------------------------------------------------------------- */

/* x, y ← c x − s y, s x + c y */
static void rotate(double c, double s, double *x, double *y) {
    double t = c * *x - s * *y;
    *y = s * *x + c * *y;
    *x = t;
}

/* A = Q diag(λ) Qᵀ for a symmetric A by cyclic Jacobi, n ≤ 3; A is destroyed. */
static void eigen_symmetric(int n, double *A, double *lambda, double *Q) {
    for (int i = 0; i < n * n; i++) Q[i] = i % (n + 1) == 0;
    for (int round = 0; round < 12; round++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (A[p + n * q] == 0) continue;
                double theta = (A[q + n * q] - A[p + n * p]) / (2 * A[p + n * q]);
                double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; k++) rotate(c, s, &A[k + n * p], &A[k + n * q]);
                for (int k = 0; k < n; k++) rotate(c, s, &A[p + n * k], &A[q + n * k]);
                for (int k = 0; k < n; k++) rotate(c, s, &Q[k + n * p], &Q[k + n * q]);
            }
    for (int i = 0; i < n; i++) lambda[i] = A[i + n * i];
}

/* y_i = −h_i/(λ_i + shift), 0 where nothing pushes; returns |y|. */
static double respond(int n, const double *lambda, const double *h, double shift, double *y) {
    for (int i = 0; i < n; i++) y[i] = h[i] == 0 ? 0 : -h[i] / (lambda[i] + shift);
    return small_norm(n, y);
}

/* argmin 2h·y + Σ λ_i y_i² over |y| ≤ radius: inside, or y = −(λ + shift)⁻¹h with the shift ≥ −min λ for
 * which |y| = radius; where none is large enough, what is missing goes along the softest direction. */
static void minimise_on_ball(int n, const double *lambda, const double *h, double radius, double *y) {
    int soft = 0;
    for (int i = 1; i < n; i++)
        if (lambda[i] < lambda[soft]) soft = i;
    if (lambda[soft] > 0 && respond(n, lambda, h, 0, y) <= radius) return;

    double lo = fmax(0, -lambda[soft]), hi = lo + small_norm(n, h) / radius;
    for (int k = 0; k < 200; k++) {
        double middle = lo + 0.5 * (hi - lo);
        if (middle <= lo || middle >= hi) break;
        if (respond(n, lambda, h, middle, y) > radius)
            lo = middle;
        else
            hi = middle;
    }
    double size = respond(n, lambda, h, hi, y);
    if (!isfinite(size)) {
        for (int i = 0; i < n; i++) y[i] = 0;
        size = 0;
    }
    if (size > radius) {
        for (int i = 0; i < n; i++) y[i] *= radius / size;
    } else {
        y[soft] = copysign(sqrt(y[soft] * y[soft] + (radius - size) * (radius + size)), y[soft]);
    }
}

/* dᵀWd = w_nn + 2h·x + xᵀAx is minimised over d = (1, x), |x| ≤ μ; only the symmetric part of W counts. */
double dls_exact_least_curvature(const dls_exact_contact *contact, double *direction) {
    int d = contact->d, n = d - 1;
    const double *W = contact->W;
    double A[9], Q[9], lambda[3] = {0}, h[3], turned[3], y[3] = {0}, product[4] = {0};
    for (int i = 0; i < n; i++) {
        h[i] = 0.5 * (W[1 + i] + W[d * (1 + i)]);
        for (int j = 0; j < n; j++) A[i + n * j] = 0.5 * (W[1 + i + d * (1 + j)] + W[1 + j + d * (1 + i)]);
    }
    eigen_symmetric(n, A, lambda, Q);
    for (int i = 0; i < n; i++) turned[i] = small_dot(n, Q + n * i, h);
    if (contact->mu > 0) minimise_on_ball(n, lambda, turned, contact->mu, y);
    direction[0] = 1;
    for (int i = 0; i < n; i++) {
        direction[1 + i] = 0;
        for (int j = 0; j < n; j++) direction[1 + i] += Q[i + n * j] * y[j];
    }
    double length = small_norm(d, direction);
    for (int i = 0; i < d; i++) direction[i] /= length;
    small_multiply_add(d, W, direction, product);
    return small_dot(d, direction, product);
}

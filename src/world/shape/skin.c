/* Meshes that move: a tree of the same halves with new boxes. */
#include "world/shape/skin.h"

#include "base/vector.h"

#include <math.h>

static size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

size_t dls_mesh_moved_bytes(const dls_mesh *rest) {
    return rounded(sizeof(dls_mesh)) + rounded(sizeof(dls_tree)) +
           rounded(3 * sizeof(double) * (size_t)rest->vertex_count) +
           rounded(3 * sizeof(double) * (size_t)rest->element_count) +
           sizeof(dls_tree_node) * (size_t)rest->tree->node_count;
}

dls_mesh *dls_mesh_moved(const dls_mesh *rest, void *room) {
    char *at = room;
    dls_mesh *now = (dls_mesh *)(void *)at;
    at += rounded(sizeof *now);
    *now = *rest;
    now->tree = (dls_tree *)(void *)at;
    at += rounded(sizeof *now->tree);
    *now->tree = *rest->tree;
    now->vertex = (double *)(void *)at;
    at += rounded(3 * sizeof(double) * (size_t)rest->vertex_count);
    now->normal = (double *)(void *)at;
    at += rounded(3 * sizeof(double) * (size_t)rest->element_count);
    now->tree->node = (dls_tree_node *)(void *)at;
    for (int k = 0; k < rest->tree->node_count; k++) now->tree->node[k] = rest->tree->node[k];
    return now;
}

/* A triangle that has shrunk to a line keeps a normal, along any axis. */
static void make_normal(dls_mesh *now, int element) {
    double u[3], v[3], *n = now->normal + 3 * (size_t)element;
    const int *corner = now->element + 3 * (size_t)element;
    vec_sub(u, now->vertex + 3 * (size_t)corner[1], now->vertex + 3 * (size_t)corner[0]);
    vec_sub(v, now->vertex + 3 * (size_t)corner[2], now->vertex + 3 * (size_t)corner[0]);
    vec_cross(n, u, v);
    double area = vec_norm(n);
    if (area > 0 && isfinite(area))
        vec_scale(n, 1 / area, n);
    else
        vec_set(n, 0, 0, 1);
}

static void take_box(double *low, double *high, const double *from, const double *to) {
    for (int i = 0; i < 3; i++) {
        low[i] = fmin(low[i], from[i]);
        high[i] = fmax(high[i], to[i]);
    }
}

/* Children stand behind their parents: from the last node to the root. */
void dls_mesh_refit(dls_mesh *now) {
    for (int k = 0; k < now->element_count; k++) make_normal(now, k);
    for (int k = now->tree->node_count - 1; k >= 0; k--) {
        dls_tree_node *node = &now->tree->node[k];
        vec_set(node->low, INFINITY, INFINITY, INFINITY);
        vec_set(node->high, -INFINITY, -INFINITY, -INFINITY);
        if (node->left >= 0) {
            const dls_tree_node *left = &now->tree->node[node->left], *right = &now->tree->node[node->right];
            take_box(node->low, node->high, left->low, left->high);
            take_box(node->low, node->high, right->low, right->high);
            continue;
        }
        for (int i = 0; i < 3 * node->right; i++) {
            int element = now->tree->element[-1 - node->left + i / 3];
            const double *p = now->vertex + 3 * (size_t)now->element[3 * (size_t)element + (size_t)(i % 3)];
            take_box(node->low, node->high, p, p);
        }
    }
}

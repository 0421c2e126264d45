/* A tree of boxes over the elements of a mesh, halved by the middles of elements along the longest axis. */
#include "base/memory.h"
#include "world/parts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { LEAF = 4 }; /* elements at most */

typedef struct tree_item {
    double low[3], high[3];
    double key; /* where its middle lies along the axis that is split */
    int element;
} tree_item;

static int compare_items(const void *left, const void *right) {
    const tree_item *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->element < b->element ? -1 : a->element > b->element;
}

static void make_item(int corners, const double *vertex, const int *element, int k, tree_item *item) {
    item->element = k;
    for (int i = 0; i < 3; i++) {
        item->low[i] = INFINITY;
        item->high[i] = -INFINITY;
        for (int j = 0; j < corners; j++) {
            double x = vertex[3 * element[corners * k + j] + i];
            item->low[i] = fmin(item->low[i], x);
            item->high[i] = fmax(item->high[i], x);
        }
    }
}

static void enclose(dls_tree_node *node, const tree_item *items, int first, int end) {
    for (int i = 0; i < 3; i++) {
        node->low[i] = INFINITY;
        node->high[i] = -INFINITY;
        for (int k = first; k < end; k++) {
            node->low[i] = fmin(node->low[i], items[k].low[i]);
            node->high[i] = fmax(node->high[i], items[k].high[i]);
        }
    }
}

/* Sorts along the axis in which middles spread most. */
static void sort_items(tree_item *items, int first, int end) {
    double low[3], high[3];
    for (int i = 0; i < 3; i++) low[i] = INFINITY, high[i] = -INFINITY;
    for (int k = first; k < end; k++)
        for (int i = 0; i < 3; i++) {
            double middle = 0.5 * items[k].low[i] + 0.5 * items[k].high[i];
            low[i] = fmin(low[i], middle);
            high[i] = fmax(high[i], middle);
        }
    int axis = high[1] - low[1] > high[0] - low[0] ? 1 : 0;
    if (high[2] - low[2] > high[axis] - low[axis]) axis = 2;
    for (int k = first; k < end; k++) items[k].key = 0.5 * items[k].low[axis] + 0.5 * items[k].high[axis];
    qsort(items + first, (size_t)(end - first), sizeof *items, compare_items);
}

/* Returns the number of the node over items first … end − 1; halving keeps the depth at log₂ of their count.
 */
static int build(dls_tree *tree, tree_item *items, int first, int end) {
    assert(first < end);
    int number = tree->node_count++;
    enclose(&tree->node[number], items, first, end);
    if (end - first <= LEAF) {
        tree->node[number].left = -1 - first;
        tree->node[number].right = end - first;
        return number;
    }
    sort_items(items, first, end);
    int middle = first + (end - first) / 2;
    int left = build(tree, items, first, middle), right = build(tree, items, middle, end);
    tree->node[number].left = left;
    tree->node[number].right = right;
    return number;
}

void dls_tree_destroy(dls_tree *tree) {
    if (!tree) return;
    dls_free(tree->node);
    dls_free(tree->element);
    dls_free(tree);
}

dls_tree *dls_tree_create(int corners, const double *vertex, int count, const int *element) {
    dls_tree *tree = DLS_NEW_ZERO(dls_tree, 1);
    tree_item *items = DLS_NEW(tree_item, count);
    if (tree) {
        tree->node = DLS_NEW(dls_tree_node, 2 * (size_t)count);
        tree->element = DLS_NEW(int, count);
    }
    if (!tree || !items || !tree->node || !tree->element) {
        dls_free(items);
        dls_tree_destroy(tree);
        return NULL;
    }
    for (int k = 0; k < count; k++) make_item(corners, vertex, element, k, &items[k]);
    build(tree, items, 0, count);
    assert(tree->node_count < 2 * count || count == 0);
    for (int k = 0; k < count; k++) tree->element[k] = items[k].element;
    dls_free(items);
    return tree;
}

/* Nested dissection of nodes that are joined where they share a body. */
#ifndef PROBLEM_ELIMINATE_DISSECT_H
#define PROBLEM_ELIMINATE_DISSECT_H

#include "base/memory.h"

typedef struct dls_joint_graph {
    int node_count, body_count;
    const int *body; /* two per node, −1 for none */
} dls_joint_graph;

/* order[k]: the node that is eliminated as the k-th. Connected nodes lie together. It depends on nothing but
 * the graph, nodes in ascending order where it leaves a choice. False when memory is out. */
bool dls_dissect(const dls_joint_graph *graph, int *order, dls_workspace *workspace);

#endif

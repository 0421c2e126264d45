/* Symmetric matrices of blocks, of which most are zero, and A = Pᵀ L Lᵀ P of them.
 *
 * A node has `size` freedoms, and two nodes of a group are coupled: freedom d of node i is number size·i + d.
 * The lower half of A is kept by rows of blocks, the diagonal one last, size × size numbers each, row after
 * row; diagonal blocks are whole. A full matrix is one node of as many freedoms.
 *
 * A pattern is made once for a shape of body, and knows the order of elimination and where L has entries. It
 * never changes: any number of matrices and threads use it. */
#ifndef WORLD_SOLID_PATTERN_H
#define WORLD_SOLID_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct dls_pattern {
    int nodes, size;
    int64_t *start; /* of the row of each node in column, nodes + 1 */
    int *column;    /* nodes, ascending, up to its own */
    int *place;     /* of each node in the order of elimination */
    int *parent;    /* by place: elimination tree, −1 at its roots */
    int64_t *below; /* of the column at each place in row, nodes + 1 */
    int *row;       /* places, ascending, the diagonal first */
    int64_t *into;  /* entry of L that each block of A stands in; ~entry where it is turned over */
    int64_t *left;  /* of the row at each place in entry and of, nodes + 1 */
    int64_t *entry; /* those of L left of the diagonal, */
    int *of;        /* and their columns */
    double flops;   /* of a factorisation */
} dls_pattern;

/* Which nodes are coupled: those that stand in one group. */
typedef struct dls_groups {
    int count;
    const int64_t *start; /* count + 1 */
    const int *node;
} dls_groups;

/* Places of nodes (three numbers each, at rest) guide the order: it halves the body again and again. NULL
 * where memory is out. */
dls_pattern *dls_pattern_create(int nodes, int size, const dls_groups *groups, const double *places);
/* One node of n freedoms: A is n × n numbers, row after row. */
dls_pattern *dls_pattern_create_full(int n);
void dls_pattern_destroy(dls_pattern *p); /* NULL is fine */

static inline int dls_pattern_freedoms(const dls_pattern *p) { return p->nodes * p->size; }
/* Numbers of A, and of L. */
static inline int64_t dls_pattern_numbers(const dls_pattern *p) {
    return p->start[p->nodes] * p->size * p->size;
}
static inline int64_t dls_pattern_factor_numbers(const dls_pattern *p) {
    return p->below[p->nodes] * p->size * p->size;
}
/* Where the block of nodes i ≥ j begins in A; −1 where they are not coupled. */
int64_t dls_pattern_block(const dls_pattern *p, int i, int j);

/* y += A x */
void dls_pattern_multiply(const dls_pattern *p, const double *A, const double *x, double *y);
/* x ← R x, or Rᵀ x to go back, at every node of two or three freedoms; columns of R: axes in space. */
void dls_pattern_turn(const dls_pattern *p, const double *R, bool back, double *x);
/* n × n numbers, both halves. */
void dls_pattern_spread(const dls_pattern *p, const double *A, double *full);

/* False where a pivot is not above rounding: A is not positive definite then. room: as for one column. */
bool dls_pattern_factor(const dls_pattern *p, const double *A, double *L, double *room);
static inline int64_t dls_pattern_room(const dls_pattern *p) { return (int64_t)p->nodes * p->size * p->size; }

/* Vectors in the order of elimination: y = P x and x = Pᵀ y. */
void dls_pattern_enter(const dls_pattern *p, const double *x, double *y);
void dls_pattern_leave(const dls_pattern *p, const double *y, double *x);
/* y ← L⁻¹ y and y ← L⁻ᵀ y. */
void dls_pattern_forward(const dls_pattern *p, const double *L, double *y);
void dls_pattern_back(const dls_pattern *p, const double *L, double *y);
/* y ← Lᵀ y, so that xᵀ A x = |Lᵀ P x|². */
void dls_pattern_upper(const dls_pattern *p, const double *L, double *y);
/* y ← L⁻¹ y of a y that is zero but at these places, which are lost: along their ways to the root alone. */
void dls_pattern_forward_from(const dls_pattern *p, const double *L, int *places, int count, double *y);

/* order[k]: the node that is eliminated as the k-th. The lower half of A is as in p; false where memory is
 * out. */
bool dls_pattern_order(const dls_pattern *p, const double *places, int *order);

#endif

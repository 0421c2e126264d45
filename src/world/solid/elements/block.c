/* Boxes, ellipsoids and cylinders as grids of cells. A cube −1 … 1 is stretched onto each: with t the largest
 * of |p_k| and ℓ = |p|/t, over all three coordinates or over x and y,
 *
 *     p ← p ((1 − t) k + t/ℓ),   k = 0.7
 *
 * so that t = 1 lies on the unit ball, and cells near the middle stay bricks. A box may be bent about the y
 * axis:
 *
 *     (x, y, z) ← ((ρ + z) sin(x/ρ), y, (ρ + z) cos(x/ρ)),   ρ = size_x/bend */
#include "world/solid/elements/mesh.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <math.h>

enum { MOST_SIDE = 1000 };

/* Grid points of a block: per cell one, or two where there are mid-side nodes. */
typedef struct block_grid {
    const dls_block *block;
    int per, steps[3], count[3]; /* along each edge; a ring's last point is its first */
} block_grid;

static int grid_node(const block_grid *g, const int *at) {
    return at[0] % g->count[0] + g->count[0] * (at[1] + g->count[1] * at[2]);
}

static void stretch(const dls_block *block, double *p) {
    int round = block->form == DLS_BLOCK_ELLIPSOID ? 3 : block->form == DLS_BLOCK_CYLINDER ? 2 : 0;
    double t = 0, square = 0;
    for (int k = 0; k < round; k++) {
        t = fmax(t, fabs(p[k]));
        square += p[k] * p[k];
    }
    double scale = t > 0 ? 0.7 * (1 - t) + t * t / sqrt(square) : 1;
    for (int k = 0; k < 3; k++) {
        double half = block->form == DLS_BLOCK_ELLIPSOID || k < round ? block->size[k] : 0.5 * block->size[k];
        p[k] *= half * (k < round ? scale : 1);
    }
}

static void bend(const dls_block *block, double *p) {
    if (!(block->bend > 0)) return;
    double radius = block->size[0] / block->bend, angle = p[0] / radius, r = radius + p[2];
    vec_set(p, r * sin(angle), p[1], r * cos(angle));
}

static void put_corner(const block_grid *g, const int *at, double *X) {
    double *p = X + 3 * (long)grid_node(g, at);
    for (int k = 0; k < 3; k++) p[k] = 2.0 * at[k] / g->steps[k] - 1;
    stretch(g->block, p);
    bend(g->block, p);
}

/* A ring has no ends. */
static void put_sides(const block_grid *g, uint8_t *sides) {
    int at[3];
    for (at[2] = 0; at[2] < g->count[2]; at[2]++)
        for (at[1] = 0; at[1] < g->count[1]; at[1]++)
            for (at[0] = 0; at[0] < g->count[0]; at[0]++)
                for (int k = 0; k < 3; k++)
                    if (g->count[k] > g->steps[k])
                        sides[grid_node(g, at)] |=
                            (uint8_t)((at[k] == 0) << 2 * k | (at[k] == g->steps[k]) << (2 * k + 1));
}

/* ---- cells ---- */

/* The grid point that lies so many half or whole cells from the cell's first corner. */
static int corner_of(const block_grid *g, const int *cell, const int *offset) {
    int at[3];
    for (int k = 0; k < 3; k++) at[k] = g->per * cell[k] + offset[k];
    return grid_node(g, at);
}

static void put_brick(const block_grid *g, const int *cell, int *nodes) {
    static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    for (int i = 0; i < 8; i++) nodes[i] = corner_of(g, cell, corner[i]);
}

/* Six tetrahedra about the diagonal of a brick, one for each order in which x, y and z may be walked: their
 * faces meet those of the next brick. Mid-side nodes are the grid points between, straight. */
static void put_tetrahedra(const block_grid *g, const int *cell, double *X, int *nodes) {
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    static const int edge[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
    int step = g->per, count = step == 2 ? 10 : 4;
    for (int t = 0; t < 6; t++, nodes += count) {
        int at[4][3] = {{0, 0, 0}};
        for (int i = 1; i < 4; i++)
            for (int k = 0; k < 3; k++) at[i][k] = at[i - 1][k] + (order[t][i - 1] == k ? step : 0);
        for (int i = 0, odd = t >= 3; i < 4; i++)
            nodes[i] = corner_of(g, cell, at[odd && i && i < 3 ? 3 - i : i]);
        for (int e = 0; e < count - 4; e++) {
            int middle[3], a = edge[e][0], b = edge[e][1];
            if (t >= 3) a = a && a < 3 ? 3 - a : a, b = b && b < 3 ? 3 - b : b;
            for (int k = 0; k < 3; k++) middle[k] = (at[a][k] + at[b][k]) / 2;
            nodes[4 + e] = corner_of(g, cell, middle);
            double *p = X + 3 * (long)nodes[4 + e];
            vec_add(p, X + 3 * (long)nodes[edge[e][0]], X + 3 * (long)nodes[edge[e][1]]);
            vec_scale(p, 0.5, p);
        }
    }
}

static void fill(const block_grid *g, double *X, int *cells) {
    const int *count = g->block->cells;
    int at[3], nodes = dls_cell_kinds[g->block->cell].nodes, made = 0;
    for (at[2] = 0; at[2] < g->count[2]; at[2] += g->per)
        for (at[1] = 0; at[1] < g->count[1]; at[1] += g->per)
            for (at[0] = 0; at[0] < g->count[0]; at[0] += g->per) put_corner(g, at, X);
    for (at[2] = 0; at[2] < count[2]; at[2]++)
        for (at[1] = 0; at[1] < count[1]; at[1]++)
            for (at[0] = 0; at[0] < count[0]; at[0]++) {
                if (g->block->cell == DLS_CELL_HEX8) {
                    put_brick(g, at, cells + (long)nodes * made++);
                } else {
                    put_tetrahedra(g, at, X, cells + (long)nodes * made);
                    made += 6;
                }
            }
}

static dls_status check_block(const dls_block *block, dls_error *error) {
    double cells = block->cell == DLS_CELL_HEX8 ? 1 : 6;
    for (int k = 0; k < 3; k++) {
        if (block->cells[k] < 1 || block->cells[k] > MOST_SIDE)
            return dls_fail(error, DLS_ERROR_INPUT, "cells has %d, expected 1 to %d along each edge",
                            block->cells[k], MOST_SIDE);
        if (!(block->size[k] > 0) || !(block->size[k] < 1e30))
            return dls_fail(error, DLS_ERROR_INPUT, "a meshed body has size %g, expected a number above 0",
                            block->size[k]);
        if (block->form != DLS_BLOCK_BOX && k < (block->form == DLS_BLOCK_ELLIPSOID ? 3 : 2) &&
            block->cells[k] < 2)
            return dls_fail(error, DLS_ERROR_INPUT, "cells has %d across a round body, expected 2 or more",
                            block->cells[k]);
        cells *= block->cells[k];
    }
    if (cells > DLS_MOST_CELLS)
        return dls_fail(error, DLS_ERROR_INPUT, "cells make %g elements, expected at most %d", cells,
                        DLS_MOST_CELLS);
    return DLS_OK;
}

/* A chord of less than 90°, a ring of three cells or more, and an inside that does not turn inside out. */
static dls_status check_bend(const dls_block *block, dls_error *error) {
    double most = 2 * M_PI;
    if (!(block->bend >= 0) || block->bend > most * (1 + 1e-12))
        return dls_fail(error, DLS_ERROR_INPUT, "bend is %g rad, expected 0 to a full turn", block->bend);
    if (!(block->bend > 0)) return DLS_OK;
    if (block->form != DLS_BLOCK_BOX)
        return dls_fail(error, DLS_ERROR_INPUT, "bend of a round body, expected a box");
    if (block->size[2] * block->bend >= 1.99 * block->size[0])
        return dls_fail(error, DLS_ERROR_INPUT,
                        "a box of length %g m and thickness %g m bent by %g rad has no inside, expected a "
                        "longer or thinner one",
                        block->size[0], block->size[2], block->bend);
    if (block->cells[0] < 3 * block->bend / M_PI)
        return dls_fail(error, DLS_ERROR_INPUT, "cells has %d along a bend of %g rad, expected %g or more",
                        block->cells[0], block->bend, ceil(3 * block->bend / M_PI));
    return DLS_OK;
}

dls_status dls_cell_mesh_block(const dls_block *block, dls_cell_mesh **mesh, dls_error *error) {
    block_grid grid = {.block = block, .per = block->cell == DLS_CELL_TET10 ? 2 : 1};
    dls_status status = check_block(block, error);
    if (!status) status = check_bend(block, error);
    if (status) return status;
    bool ring = block->bend > 2 * M_PI * (1 - 1e-9);
    for (int k = 0; k < 3; k++) {
        grid.steps[k] = grid.per * block->cells[k];
        grid.count[k] = grid.steps[k] + (k > 0 || !ring);
    }
    dls_cell_list list = {.form = block->cell,
                          .node_count = grid.count[0] * grid.count[1] * grid.count[2],
                          .cell_count = block->cells[0] * block->cells[1] * block->cells[2] *
                                        (block->cell == DLS_CELL_HEX8 ? 1 : 6)};
    double *X = DLS_NEW_ZERO(double, 3 * (long)list.node_count);
    int *nodes = DLS_NEW(int, (long)dls_cell_kinds[block->cell].nodes *list.cell_count);
    uint8_t *sides = DLS_NEW_ZERO(uint8_t, list.node_count);
    status = X && nodes && sides ? DLS_OK : dls_fail_memory(error);
    if (!status) {
        fill(&grid, X, nodes);
        put_sides(&grid, sides);
        list.X = X, list.cells = nodes;
        status = dls_cell_mesh_create(&list, mesh, error);
    }
    if (!status)
        (*mesh)->sides = sides;
    else
        dls_free(sides);
    dls_free(X);
    dls_free(nodes);
    return status;
}

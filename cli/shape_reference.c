#include "cli/shape_reference.h"

#include <delassus/collide.h>

#include <stdio.h>

static const char *const head =
    "# Shapes and how they collide\n"
    "\n"
    "Written by `delassus check --shape-reference` from the tables that collide shapes. What a scene says of "
    "a\n"
    "shape is in [scene-format.md](scene-format.md#bodiesshape); which pairs become contacts of a step is "
    "in\n"
    "[simulation.md](simulation.md#which-contacts-there-are).\n"
    "\n"
    "A contact joins the nearest points p_A and p_B of two shapes: n is the unit normal from A to B, and the "
    "gap\n"
    "n · (p_B − p_A) is negative where they overlap, the shortest way out. Every pair collides, except two\n"
    "obstacles. Where shapes touch in one place there is one contact; a face, an edge or an axis that lies "
    "along\n"
    "another one has a contact at every corner or end of what they share, and none is dropped.\n"
    "\n"
    "- **exact**: gap and normal are those of the true distance, to rounding. The tests hold them against a "
    "search\n"
    "  by brute force over random poses.\n"
    "- Otherwise corners, edges and faces compete, and among near ties the contacts that were there stay, "
    "with the\n"
    "  normal of their face: what rests does not flicker. The gap may then miss the distance by 1e-7 of the "
    "size.\n"
    "- Polygons, boxes and polyhedra whose faces lie in one plane and share an edge or a corner only, to "
    "8e-6 "
    "of the\n"
    "  size, have no contact there: nothing bumps where one body slides from one to the next. Where they "
    "lean "
    "against\n"
    "  each other edge on edge, or in the plane corner on corner, the normal is the one amid all that both "
    "admit.\n"
    "- On meshes and chains a body is pushed only along directions that the neighbouring faces allow: edges "
    "inside\n"
    "  a flat or hollow surface do not catch.\n";

static const char *const tail =
    "\nThe same is there for two shapes of your own: `dls_shapes_collide` returns all their contacts, and\n"
    "`dls_pair_method` and `dls_pair_is_exact` the lines above.\n";

static void print_pair(dls_shape_kind a, dls_shape_kind b) {
    const char *method = dls_pair_method(a, b);
    if (!method) return;
    printf("| `%s` | `%s` | %s |", dls_shape_kind_name(a), dls_shape_kind_name(b),
           dls_pair_is_exact(a, b) ? "yes" : "");
    putchar(' ');
    for (; *method; method++) {
        if (*method == '|') putchar('\\'); /* it would end the cell */
        putchar(*method);
    }
    printf(" |\n");
}

static void print_table(const char *title, bool planar) {
    printf("\n## %s\n\n| shape | with | exact | how |\n|---|---|---|---|\n", title);
    for (int a = 0; a < DLS_SHAPE_KINDS; a++) {
        dls_shape_kind first = (dls_shape_kind)a;
        if (dls_shape_kind_is_planar(first) != planar || dls_shape_kind_is_obstacle(first)) continue;
        for (int b = 0; b < DLS_SHAPE_KINDS; b++) {
            dls_shape_kind second = (dls_shape_kind)b;
            bool listed = b < a && !dls_shape_kind_is_obstacle(second);
            if (dls_shape_kind_is_planar(second) == planar && !listed) print_pair(first, second);
        }
    }
}

void print_shape_reference(void) {
    fputs(head, stdout);
    print_table("In the plane", true);
    print_table("In space", false);
    fputs(tail, stdout);
}

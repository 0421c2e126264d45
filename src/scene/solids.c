/* Bodies that deform. */
#include "scene/read.h"

#include "base/error.h"

#include <delassus/solid.h>

#include <math.h>

typedef struct solid_text {
    const dls_node *kind;
    double length, EA, EI, line_density, damping, degree, elements, gauss;
} solid_text;

static void solid_defaults(void *target) {
    solid_text *text = target;
    dls_solid_def def = dls_default_solid_def(DLS_SOLID_BEAM);
    text->degree = def.degree;
    text->elements = def.elements;
    text->gauss = def.gauss;
}

#define AT(member) offsetof(solid_text, member)

static const dls_row solid_rows[] = {
    {"kind", DLS_ROW_NODE, AT(kind), "", "beam: one without shear in the plane, straight at rest", NULL,
     "beam", true, 0},
    {"length", DLS_ROW_POSITIVE, AT(length), "m", "along x of the body's frame, from its origin", NULL, NULL,
     true, 0},
    {"EA", DLS_ROW_POSITIVE, AT(EA), "N", "stiffness against stretch", NULL, NULL, true, 0},
    {"EI", DLS_ROW_POSITIVE, AT(EI), "N m²", "stiffness against bending", NULL, NULL, true, 0},
    {"line_density", DLS_ROW_POSITIVE, AT(line_density), "kg/m", "mass over length", NULL, NULL, true, 0},
    {"damping", DLS_ROW_NOT_NEGATIVE, AT(damping), "s", "stress follows strain + damping · its rate", NULL,
     NULL, false, 0},
    {"degree", DLS_ROW_COUNT, AT(degree), "", "of its spline, 2 to 5", NULL, NULL, false, 0},
    {"elements", DLS_ROW_COUNT, AT(elements), "", "pieces of its spline", NULL, NULL, false, 0},
    {"gauss", DLS_ROW_COUNT, AT(gauss), "", "points of each at which energies are summed, degree + 1 to 8",
     NULL, NULL, false, 0},
};

const dls_group dls_group_solid = {"bodies.solid",
                                   "a solid",
                                   "A body with `solid` deforms. Its mass follows from it; it has none of "
                                   "`mass`, `inertia`, `centre`, `locked`, "
                                   "`torque` and `drive`, and is no prototype. Shapes of it say by `end` "
                                   "where they stand; they are in the frame "
                                   "of that place, x along the tangent. So do sides of joints.",
                                   DLS_GROUP_ROWS(solid_rows),
                                   sizeof(solid_text),
                                   solid_defaults};

/* A count that an int holds; the solid says what it expects. */
static int whole(double number) { return (int)fmin(number, 1e9); }

dls_status dls_read_solid(dls_reader *reader, const dls_node *map, dls_solid_def *def) {
    const char *names[DLS_SOLID_FORMS];
    solid_text text;
    for (int k = 0; k < DLS_SOLID_FORMS; k++) names[k] = dls_solid_form_name((dls_solid_form)k);
    dls_status status = dls_read_group(reader, map, &dls_group_solid, 0, NULL, &text);
    if (status) return status;
    if (text.kind->kind != DLS_NODE_SCALAR)
        return dls_node_fail(text.kind, reader->error, "kind is %s, expected a name",
                             dls_node_noun(text.kind));
    int form = dls_read_name(reader, text.kind, text.kind->text, "kind of solid", DLS_SOLID_FORMS, names);
    if (form < 0) return DLS_ERROR_INPUT;
    *def = (dls_solid_def){.form = (dls_solid_form)form,
                           .length = text.length,
                           .EA = text.EA,
                           .EI = text.EI,
                           .line_density = text.line_density,
                           .damping = text.damping,
                           .degree = whole(text.degree),
                           .elements = whole(text.elements),
                           .gauss = whole(text.gauss)};
    return DLS_OK;
}

/* Bodies that deform. */
#include "scene/mesh/mesh.h"

#include "base/error.h"

#include <delassus/solid.h>

#include <math.h>
#include <stdio.h>

typedef struct solid_text {
    const dls_node *kind;
    double length, EA, EI, line_density, damping, degree, elements, gauss;
    double cells[3], mass_damping, scale, bend;
    const char *mesh;
    int shape, element, form, mass;
} solid_text;

static void solid_defaults(void *target) {
    solid_text *text = target;
    dls_solid_def def = dls_default_solid_def(DLS_SOLID_BEAM);
    text->degree = def.degree;
    text->elements = def.elements;
    text->gauss = def.gauss;
    text->scale = 1;
    for (int k = 0; k < 3; k++) text->cells[k] = 2;
}

#define AT(member) offsetof(solid_text, member)

/* Which kinds have a key. */
enum {
    BEAM = 1 << DLS_SOLID_BEAM,
    PSEUDO_RIGID = 1 << DLS_SOLID_PSEUDO_RIGID,
    ELEMENTS = 1 << DLS_SOLID_ELEMENTS
};

static const dls_key solid_keys[] = {
    {DLS_KEY("kind", DLS_KEY_NODE, AT(kind), "",
             "beam: one without shear in the plane, straight at rest; pseudo-rigid: all its places move by "
             "one affine map; elements: a mesh of finite elements, which fills the body's one shape or comes "
             "from a file",
             "beam|pseudo-rigid|elements"),
     NULL, true, 0},
    {DLS_KEY("length", DLS_KEY_POSITIVE, AT(length), "m", "along x of the body's frame, from its origin",
             NULL),
     NULL, true, BEAM},
    {DLS_KEY("EA", DLS_KEY_POSITIVE, AT(EA), "N", "stiffness against stretch", NULL), NULL, true, BEAM},
    {DLS_KEY("EI", DLS_KEY_POSITIVE, AT(EI), "N m²", "stiffness against bending", NULL), NULL, true, BEAM},
    {DLS_KEY("line_density", DLS_KEY_POSITIVE, AT(line_density), "kg/m", "mass over length", NULL), NULL,
     true, BEAM},
    {DLS_KEY("damping", DLS_KEY_NOT_NEGATIVE, AT(damping), "s", "stress follows strain + damping · its rate",
             NULL),
     NULL, false, BEAM},
    {DLS_KEY("degree", DLS_KEY_COUNT, AT(degree), "", "of its spline, 2 to 5", NULL), NULL, false, BEAM},
    {DLS_KEY("elements", DLS_KEY_COUNT, AT(elements), "", "pieces of its spline", NULL), NULL, false, BEAM},
    {DLS_KEY("gauss", DLS_KEY_COUNT, AT(gauss), "",
             "points of each at which energies are summed, degree + 1 to 8", NULL),
     NULL, false, BEAM},
    {DLS_KEY(
         "shape", DLS_KEY_CHOICE, AT(shape), "",
         "whether spheres, ellipsoids, boxes and polyhedra deform with the body, or shapes keep their form",
         "deforming|retained"),
     NULL, false, PSEUDO_RIGID},
    {DLS_KEY("cells", DLS_KEY_VECTOR, AT(cells), "",
             "how many cells fill a box, sphere, ellipsoid or cylinder along x, y and z; each is a "
             "hexahedron or six tetrahedra",
             NULL),
     "[2, 2, 2]", false, ELEMENTS},
    {DLS_KEY(
         "bend", DLS_KEY_NOT_NEGATIVE, AT(bend), "rad",
         "of a box: its x goes round the y axis of its frame at the radius size_x/bend, an arch about its "
         "origin, z to the outside; 2*pi closes a ring; of single bodies",
         NULL),
     NULL, false, ELEMENTS},
    {DLS_KEY(
         "mesh", DLS_KEY_TEXT, AT(mesh), "",
         "instead of cells: a .msh file of Gmsh (2.2 or 4.1) or a .vtu file, beside the scene, with elements "
         "of one kind of `element`; the body has no shape of its own then",
         NULL),
     "none", false, ELEMENTS},
    {DLS_KEY("scale", DLS_KEY_POSITIVE, AT(scale), "", "multiplies the file's lengths: 0.001 for millimetres",
             NULL),
     NULL, false, ELEMENTS},
    {DLS_KEY(
         "element", DLS_KEY_CHOICE, AT(element), "",
         "tet4: stiff in bending; tet10; hex8: corotational alone; any: hex8 where corotational, else tet10",
         "any|tet4|tet10|hex8"),
     NULL, false, ELEMENTS},
    {DLS_KEY("form", DLS_KEY_CHOICE, AT(form), "",
             "material: strains by the material's law, for large ones; corotational: small strains as seen "
             "from the mean rotation, as with `law: linear`",
             "material|corotational"),
     NULL, false, ELEMENTS},
    {DLS_KEY("mass", DLS_KEY_CHOICE, AT(mass), "", "matrix of masses", "consistent|lumped"), NULL, false,
     ELEMENTS},
    {DLS_KEY("mass_damping", DLS_KEY_NOT_NEGATIVE, AT(mass_damping), "1/s",
             "D = mass_damping M + damping K, with the material's `damping`", NULL),
     NULL, false, ELEMENTS},
};

const dls_group dls_group_solid = {
    "bodies.solid",
    "a solid",
    "A body with `solid` deforms. It has none of `mass`, `inertia`, `centre`, `locked`, `torque` and "
    "`drive`. "
    "A beam's mass follows from its own numbers, and it is no prototype; its shapes say by `end` where they "
    "stand, in the frame of that place, x along the tangent, and so do sides of joints. Others have mass and "
    "stiffness from their shapes and their material (`young`, `poisson`, `law`, `damping`); joints hold the "
    "place that they are told.",
    DLS_GROUP_KEYS(solid_keys),
    sizeof(solid_text),
    solid_defaults};

/* A count that an int holds; the solid says what it expects. */
static int whole(double number) { return (int)fmin(fmax(number, -1e9), 1e9); }

static dls_status read_cells(dls_reader *reader, const dls_node *map, const double *cells,
                             dls_solid_def *def) {
    for (int k = 0; k < 3; k++) {
        if (cells[k] != floor(cells[k]) || !(cells[k] >= 1 && cells[k] <= 1000))
            return dls_node_fail(dls_node_find(map, "cells"), reader->error,
                                 "cells has %g, expected three whole numbers from 1 to 1000", cells[k]);
        def->cells[k] = whole(cells[k]);
    }
    return DLS_OK;
}

/* Which kind the map names; −1 after a message. */
static int read_kind(dls_reader *reader, const dls_node *map) {
    const char *names[DLS_SOLID_FORMS];
    for (int k = 0; k < DLS_SOLID_FORMS; k++) names[k] = dls_solid_form_name((dls_solid_form)k);
    const dls_node *kind = dls_node_find(map, "kind");
    if (!kind || kind->kind != DLS_NODE_SCALAR) {
        dls_node_fail(kind ? kind : map, reader->error, "kind of a solid is %s, expected a name",
                      kind ? dls_node_noun(kind) : "missing");
        return -1;
    }
    return dls_read_name(reader, kind, kind->text, "kind of solid", DLS_SOLID_FORMS, names);
}

/* The mesh of a file goes with the definition; its skin is the body's shape. */
static dls_status read_mesh(dls_reader *reader, const dls_node *map, const solid_text *text,
                            dls_solid_def *def, const dls_element_file **file) {
    static const char *const others[] = {"cells", "element", "bend"};
    const dls_node *node = dls_node_find(map, "mesh");
    dls_element_file *made = dls_arena_take(reader->arena, 1, sizeof *made);
    if (!made) return dls_fail_memory(reader->error);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (dls_node_find(map, others[k]))
            return dls_node_fail(dls_node_find(map, others[k]), reader->error,
                                 "'%s' with a mesh, whose file says it, expected one of them", others[k]);
    dls_status status = dls_elements_file_read(reader, node, text->mesh, text->scale, made);
    def->mesh = &made->mesh;
    *file = made;
    if (status || dls_node_find(map, "scale")) return status;
    return dls_note_unscaled(reader, node, made->mesh.node_count, made->mesh.points, false);
}

dls_status dls_read_solid(dls_reader *reader, const dls_node *map, dls_solid_def *def,
                          const dls_element_file **file) {
    solid_text text;
    char noun[40];
    int form = map->kind == DLS_NODE_MAP ? read_kind(reader, map) : DLS_SOLID_BEAM;
    if (form < 0) return DLS_ERROR_INPUT;
    snprintf(noun, sizeof noun, "a solid of kind %s", dls_solid_form_name((dls_solid_form)form));
    dls_status status = dls_read_group(reader, map, &dls_group_solid, 1u << form,
                                       map->kind == DLS_NODE_MAP ? noun : NULL, &text);
    if (status) return status;
    *def = (dls_solid_def){.form = (dls_solid_form)form,
                           .retained = text.shape == 1,
                           .length = text.length,
                           .EA = text.EA,
                           .EI = text.EI,
                           .line_density = text.line_density,
                           .damping = text.damping,
                           .degree = whole(text.degree),
                           .elements = whole(text.elements),
                           .gauss = whole(text.gauss),
                           .cell = (dls_solid_cell)text.element,
                           .corotational = text.form == 1,
                           .lumped = text.mass == 1,
                           .mass_damping = text.mass_damping,
                           .bend = text.bend};
    if (text.mesh) return read_mesh(reader, map, &text, def, file);
    if (dls_node_find(map, "scale"))
        return dls_node_fail(dls_node_find(map, "scale"), reader->error,
                             "scale without a mesh, expected one whose lengths it multiplies");
    return form == DLS_SOLID_ELEMENTS ? read_cells(reader, map, text.cells, def) : DLS_OK;
}

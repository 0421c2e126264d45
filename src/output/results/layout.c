#include "output/results/layout.h"

#include <math.h>

#define LENGTH(array) (int)(sizeof(array) / sizeof *(array))

/* One plain column out of a struct. */
#define COLUMN(type, width, row, member, unit, range)                                                        \
    .cell_count = 1, .cells = &(const dls_cell) { "", type, width, offsetof(row, member), unit, range }

static const dls_cell frame_cells[] = {
    {"step", DLS_CELL_INT64, 1, offsetof(dls_frame_row, step), "1", DLS_RANGE_COUNT},
    {"time", DLS_CELL_DOUBLE, 1, offsetof(dls_frame_row, time), "s", DLS_RANGE_TIME},
    {"state_start", DLS_CELL_INT64, 1, offsetof(dls_frame_row, state_start), "1", DLS_RANGE_COUNT},
    {"state_count", DLS_CELL_INT32, 1, offsetof(dls_frame_row, state_count), "1", DLS_RANGE_COUNT},
    {"contact_start", DLS_CELL_INT64, 1, offsetof(dls_frame_row, contact_start), "1", DLS_RANGE_COUNT},
    {"contact_count", DLS_CELL_INT32, 1, offsetof(dls_frame_row, contact_count), "1", DLS_RANGE_COUNT},
    {"reaction_start", DLS_CELL_INT64, 1, offsetof(dls_frame_row, reaction_start), "1", DLS_RANGE_COUNT},
    {"reaction_count", DLS_CELL_INT32, 1, offsetof(dls_frame_row, reaction_count), "1", DLS_RANGE_COUNT},
    {"node_start", DLS_CELL_INT64, 1, offsetof(dls_frame_row, node_start), "1", DLS_RANGE_COUNT},
    {"node_count", DLS_CELL_INT32, 1, offsetof(dls_frame_row, node_count), "1", DLS_RANGE_COUNT},
    {"gradient_start", DLS_CELL_INT64, 1, offsetof(dls_frame_row, gradient_start), "1", DLS_RANGE_COUNT},
    {"gradient_count", DLS_CELL_INT32, 1, offsetof(dls_frame_row, gradient_count), "1", DLS_RANGE_COUNT},
};

static const dls_older older_frames[] = {{4, "reaction_start", 0, 0}, {4, "reaction_count", 0, 0},
                                         {5, "node_start", 0, 0},     {5, "node_count", 0, 0},
                                         {6, "gradient_start", 0, 0}, {6, "gradient_count", 0, 0}};

static const dls_cell step_cells[] = {
    {"step", DLS_CELL_INT64, 1, offsetof(dls_step_report, step), "1", DLS_RANGE_COUNT},
    {"time", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, t), "s", DLS_RANGE_TIME},
    {"bodies", DLS_CELL_INT32, 1, offsetof(dls_step_report, bodies), "1", DLS_RANGE_COUNT},
    {"contacts", DLS_CELL_INT32, 1, offsetof(dls_step_report, contacts), "1", DLS_RANGE_COUNT},
    {"active", DLS_CELL_INT32, 1, offsetof(dls_step_report, active), "1", DLS_RANGE_COUNT},
    {"outcome", DLS_CELL_OUTCOME, 1, offsetof(dls_step_report, outcome), "1", DLS_RANGE_ANY},
    {"certified", DLS_CELL_BOOL, 1, offsetof(dls_step_report, certified), "1", DLS_RANGE_ANY},
    {"residual", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, residual), "1", DLS_RANGE_OPEN_SIZE},
    {"max_error", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, max_error), "m/s", DLS_RANGE_OPEN_SIZE},
    {"held", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, held), "1", DLS_RANGE_KNOWN_SIZE},
    {"iterations", DLS_CELL_INT32, 1, offsetof(dls_step_report, iterations), "1", DLS_RANGE_COUNT},
    {"penetration", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, penetration), "m", DLS_RANGE_OPEN_SIZE},
    {"kinetic", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, energy.kinetic), "J", DLS_RANGE_FINITE},
    {"potential", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, energy.potential), "J", DLS_RANGE_FINITE},
    {"friction", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, energy.friction), "J", DLS_RANGE_FINITE},
    {"impact", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, energy.impact), "J", DLS_RANGE_FINITE},
    {"work", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, energy.work), "J", DLS_RANGE_FINITE},
    {"unaccounted", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, energy.unaccounted), "J", DLS_RANGE_FINITE},
    {"seconds_collide", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, seconds_collide), "s",
     DLS_RANGE_FINITE},
    {"seconds_assemble", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, seconds_assemble), "s",
     DLS_RANGE_FINITE},
    {"seconds_solve", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, seconds_solve), "s", DLS_RANGE_FINITE},
    {"seconds", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, seconds), "s", DLS_RANGE_FINITE},
    {"bodies_in", DLS_CELL_INT64, 1, offsetof(dls_step_report, traffic.bodies_in), "1", DLS_RANGE_COUNT},
    {"bodies_out", DLS_CELL_INT64, 1, offsetof(dls_step_report, traffic.bodies_out), "1", DLS_RANGE_COUNT},
    {"mass_in", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, traffic.mass_in), "kg", DLS_RANGE_SIZE},
    {"mass_out", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, traffic.mass_out), "kg", DLS_RANGE_SIZE},
    {"energy_in", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, traffic.energy_in), "J", DLS_RANGE_FINITE},
    {"energy_out", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, traffic.energy_out), "J", DLS_RANGE_FINITE},
    {"backlog", DLS_CELL_INT64, 1, offsetof(dls_step_report, backlog), "1", DLS_RANGE_COUNT},
    {"backlog_mass", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, backlog_mass), "kg", DLS_RANGE_FINITE},
    {"turning", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, energy.turning), "J", DLS_RANGE_FINITE},
    {"strain", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, energy.strain), "J", DLS_RANGE_FINITE},
    {"damping", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, energy.damping), "J", DLS_RANGE_FINITE},
    {"numerical", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, energy.numerical), "J", DLS_RANGE_FINITE},
    {"reason", DLS_CELL_REASON, 1, offsetof(dls_step_report, reason), "1", DLS_RANGE_ANY},
    {"sweeps", DLS_CELL_DOUBLE, 1, offsetof(dls_step_report, sweeps), "1", DLS_RANGE_KNOWN_SIZE},
};

static const dls_older older_steps[] = {
    {1, "held", 0, NAN},         {2, "bodies_in", 0, 0},   {2, "bodies_out", 0, 0},   {2, "mass_in", 0, NAN},
    {2, "mass_out", 0, NAN},     {2, "energy_in", 0, NAN}, {2, "energy_out", 0, NAN}, {2, "backlog", 0, 0},
    {2, "backlog_mass", 0, NAN}, {3, "turning", 0, 0},     {5, "strain", 0, 0},       {5, "damping", 0, 0},
    {7, "numerical", 0, 0},      {8, "reason", 0, 0},      {8, "sweeps", 0, NAN},
};

static const dls_cell summary_cells[] = {
    {"steps", DLS_CELL_INT64, 1, offsetof(dls_run_summary, steps), "1", DLS_RANGE_COUNT},
    {"certified", DLS_CELL_INT64, 1, offsetof(dls_run_summary, certified), "1", DLS_RANGE_COUNT},
    {"worst_residual", DLS_CELL_DOUBLE, 1, offsetof(dls_run_summary, worst_residual), "1",
     DLS_RANGE_OPEN_SIZE},
    {"worst_error", DLS_CELL_DOUBLE, 1, offsetof(dls_run_summary, worst_error), "m/s", DLS_RANGE_OPEN_SIZE},
    {"worst_held", DLS_CELL_DOUBLE, 1, offsetof(dls_run_summary, worst_held), "1", DLS_RANGE_KNOWN_SIZE},
    {"penetration", DLS_CELL_DOUBLE, 1, offsetof(dls_run_summary, penetration), "m", DLS_RANGE_OPEN_SIZE},
    {"contacts", DLS_CELL_INT64, 1, offsetof(dls_run_summary, contacts), "1", DLS_RANGE_COUNT},
    {"iterations", DLS_CELL_INT64, 1, offsetof(dls_run_summary, iterations), "1", DLS_RANGE_COUNT},
    {"seconds_collide", DLS_CELL_DOUBLE, 1, offsetof(dls_run_summary, seconds_collide), "s",
     DLS_RANGE_FINITE},
    {"seconds_assemble", DLS_CELL_DOUBLE, 1, offsetof(dls_run_summary, seconds_assemble), "s",
     DLS_RANGE_FINITE},
    {"seconds_solve", DLS_CELL_DOUBLE, 1, offsetof(dls_run_summary, seconds_solve), "s", DLS_RANGE_FINITE},
    {"seconds", DLS_CELL_DOUBLE, 1, offsetof(dls_run_summary, seconds), "s", DLS_RANGE_FINITE},
    {"bodies_in", DLS_CELL_INT64, 1, offsetof(dls_run_summary, traffic.bodies_in), "1", DLS_RANGE_COUNT},
    {"bodies_out", DLS_CELL_INT64, 1, offsetof(dls_run_summary, traffic.bodies_out), "1", DLS_RANGE_COUNT},
    {"mass_in", DLS_CELL_DOUBLE, 1, offsetof(dls_run_summary, traffic.mass_in), "kg", DLS_RANGE_SIZE},
    {"mass_out", DLS_CELL_DOUBLE, 1, offsetof(dls_run_summary, traffic.mass_out), "kg", DLS_RANGE_SIZE},
    {"energy_in", DLS_CELL_DOUBLE, 1, offsetof(dls_run_summary, traffic.energy_in), "J", DLS_RANGE_FINITE},
    {"energy_out", DLS_CELL_DOUBLE, 1, offsetof(dls_run_summary, traffic.energy_out), "J", DLS_RANGE_FINITE},
    {"uncertified", DLS_CELL_INT64, DLS_REASONS, offsetof(dls_run_summary, uncertified), "1",
     DLS_RANGE_COUNT},
};

static const dls_older older_summary[] = {
    {1, "worst_held", 0, NAN}, {2, "bodies_in", 0, 0},   {2, "bodies_out", 0, 0},   {2, "mass_in", 0, NAN},
    {2, "mass_out", 0, NAN},   {2, "energy_in", 0, NAN}, {2, "energy_out", 0, NAN}, {8, "uncertified", 0, 0},
};

static const dls_cell body_cells[] = {
    {"motion", DLS_CELL_MOTION, 1, offsetof(dls_body_row, motion), "1", DLS_RANGE_ANY},
    {"mass", DLS_CELL_DOUBLE, 1, offsetof(dls_body_row, mass.mass), "kg", DLS_RANGE_OPEN_SIZE},
    {"inertia", DLS_CELL_DOUBLE, 9, offsetof(dls_body_row, mass.inertia), "kg m2", DLS_RANGE_ANY},
    {"centre", DLS_CELL_DOUBLE, 3, offsetof(dls_body_row, mass.centre), "m", DLS_RANGE_NEAR},
    {"radius", DLS_CELL_DOUBLE, 1, offsetof(dls_body_row, radius), "m", DLS_RANGE_OPEN_SIZE},
    {"shape_start", DLS_CELL_INT32, 1, offsetof(dls_body_row, shape_start), "1", DLS_RANGE_COUNT},
    {"shape_count", DLS_CELL_INT32, 1, offsetof(dls_body_row, shape_count), "1", DLS_RANGE_COUNT},
};

static const dls_cell shape_cells[] = {
    {"body", DLS_CELL_INT32, 1, offsetof(dls_shape_row, body), "1", DLS_RANGE_COUNT},
    {"kind", DLS_CELL_KIND, 1, offsetof(dls_shape_row, kind), "1", DLS_RANGE_ANY},
    {"position", DLS_CELL_DOUBLE, 3, offsetof(dls_shape_row, pose.x), "m", DLS_RANGE_NEAR},
    {"orientation", DLS_CELL_DOUBLE, 4, offsetof(dls_shape_row, pose.q), "1", DLS_RANGE_FINITE},
    {"radius", DLS_CELL_DOUBLE, 1, offsetof(dls_shape_row, radius), "m", DLS_RANGE_ANY},
    {"length", DLS_CELL_DOUBLE, 1, offsetof(dls_shape_row, length), "m", DLS_RANGE_ANY},
    {"size", DLS_CELL_DOUBLE, 3, offsetof(dls_shape_row, size), "m", DLS_RANGE_ANY},
    {"material", DLS_CELL_INT32, 1, offsetof(dls_shape_row, material), "1", DLS_RANGE_COUNT},
    {"group", DLS_CELL_UINT32, 1, offsetof(dls_shape_row, group), "1", DLS_RANGE_ANY},
    {"collides", DLS_CELL_UINT32, 1, offsetof(dls_shape_row, collides), "1", DLS_RANGE_ANY},
    {"closed", DLS_CELL_BOOL, 1, offsetof(dls_shape_row, closed), "1", DLS_RANGE_ANY},
    {"point_start", DLS_CELL_INT64, 1, offsetof(dls_shape_row, point_start), "1", DLS_RANGE_COUNT},
    {"point_count", DLS_CELL_INT32, 1, offsetof(dls_shape_row, point_count), "1", DLS_RANGE_COUNT},
    {"triangle_start", DLS_CELL_INT64, 1, offsetof(dls_shape_row, triangle_start), "1", DLS_RANGE_COUNT},
    {"triangle_count", DLS_CELL_INT32, 1, offsetof(dls_shape_row, triangle_count), "1", DLS_RANGE_COUNT},
    {"at", DLS_CELL_DOUBLE, 1, offsetof(dls_shape_row, at), "1", DLS_RANGE_SHARE},
};

static const dls_older older_shapes[] = {{9, "at", 0, 0}};

/* The numbers of friction against turning. */
#define TURNING(row, member)                                                                                 \
    {"rolling", DLS_CELL_DOUBLE, 1, offsetof(row, member.rolling), "m", DLS_RANGE_SIZE},                     \
        {"spinning", DLS_CELL_DOUBLE, 1, offsetof(row, member.spinning), "m", DLS_RANGE_SIZE},               \
        {"rolling_ratio", DLS_CELL_DOUBLE, 1, offsetof(row, member.rolling_ratio), "1", DLS_RANGE_SIZE},     \
        {"spinning_ratio", DLS_CELL_DOUBLE, 1, offsetof(row, member.spinning_ratio), "1", DLS_RANGE_SIZE}, { \
        "drilling", DLS_CELL_DOUBLE, 1, offsetof(row, member.drilling), "m", DLS_RANGE_SIZE                  \
    }

static const dls_older without_turning[] = {
    {3, "rolling", 0, 0},        {3, "spinning", 0, 0}, {3, "rolling_ratio", 0, 0},
    {3, "spinning_ratio", 0, 0}, {3, "drilling", 0, 0},
};

static const dls_cell material_cells[] = {
    {"density", DLS_CELL_DOUBLE, 1, offsetof(dls_material_row, density), "kg/m3 (kg/m2 in the plane)",
     DLS_RANGE_SIZE},
    {"mu", DLS_CELL_DOUBLE, 1, offsetof(dls_material_row, mu), "1", DLS_RANGE_SIZE},
    {"e_n", DLS_CELL_DOUBLE, 1, offsetof(dls_material_row, e_n), "1", DLS_RANGE_SHARE},
    {"e_t", DLS_CELL_DOUBLE, 1, offsetof(dls_material_row, e_t), "1", DLS_RANGE_SHARE},
    {"cohesion", DLS_CELL_DOUBLE, 1, offsetof(dls_material_row, cohesion), "N", DLS_RANGE_SIZE},
    TURNING(dls_material_row, turning),
};

static const dls_cell pair_cells[] = {
    {"a", DLS_CELL_INT32, 1, offsetof(dls_pair_row, a), "1", DLS_RANGE_COUNT},
    {"b", DLS_CELL_INT32, 1, offsetof(dls_pair_row, b), "1", DLS_RANGE_COUNT},
    {"mu", DLS_CELL_DOUBLE, 1, offsetof(dls_pair_row, pair.mu), "1", DLS_RANGE_SIZE},
    {"e_n", DLS_CELL_DOUBLE, 1, offsetof(dls_pair_row, pair.e_n), "1", DLS_RANGE_SHARE},
    {"e_t", DLS_CELL_DOUBLE, 1, offsetof(dls_pair_row, pair.e_t), "1", DLS_RANGE_SHARE},
    {"cohesion", DLS_CELL_DOUBLE, 1, offsetof(dls_pair_row, pair.cohesion), "N", DLS_RANGE_SIZE},
    {"stated", DLS_CELL_BOOL, 1, offsetof(dls_pair_row, stated), "1", DLS_RANGE_ANY},
    TURNING(dls_pair_row, pair.turning),
};

/* A number for each of the freedoms. */
#define FREEDOMS(type, member, unit, range)                                                                  \
    { #member, type, DLS_FREEDOMS, offsetof(dls_joint_def_row, member), unit, range }

static const dls_cell joint_cells[] = {
    {"kind", DLS_CELL_JOINT, 1, offsetof(dls_joint_def_row, kind), "1", DLS_RANGE_ANY},
    {"bodies", DLS_CELL_INT32, 2, offsetof(dls_joint_def_row, body), "1", DLS_RANGE_ANY},
    {"position_a", DLS_CELL_DOUBLE, 3, offsetof(dls_joint_def_row, frame[0].x), "m", DLS_RANGE_NEAR},
    {"orientation_a", DLS_CELL_DOUBLE, 4, offsetof(dls_joint_def_row, frame[0].q), "1", DLS_RANGE_UNIT},
    {"position_b", DLS_CELL_DOUBLE, 3, offsetof(dls_joint_def_row, frame[1].x), "m", DLS_RANGE_NEAR},
    {"orientation_b", DLS_CELL_DOUBLE, 4, offsetof(dls_joint_def_row, frame[1].q), "1", DLS_RANGE_UNIT},
    {"length", DLS_CELL_DOUBLE, 1, offsetof(dls_joint_def_row, length), "m", DLS_RANGE_SIZE},
    {"rope", DLS_CELL_BOOL, 1, offsetof(dls_joint_def_row, rope), "1", DLS_RANGE_ANY},
    {"ratio", DLS_CELL_DOUBLE, 1, offsetof(dls_joint_def_row, ratio), "1 (m of a rack)", DLS_RANGE_FINITE},
    {"radius", DLS_CELL_DOUBLE, 1, offsetof(dls_joint_def_row, radius), "m", DLS_RANGE_SIZE},
    {"cone", DLS_CELL_DOUBLE, 1, offsetof(dls_joint_def_row, cone), "rad", DLS_RANGE_SIZE},
    {"conserving", DLS_CELL_BOOL, 1, offsetof(dls_joint_def_row, conserving), "1", DLS_RANGE_ANY},
    {"collide", DLS_CELL_BOOL, 1, offsetof(dls_joint_def_row, collide), "1", DLS_RANGE_ANY},
    {"break_force", DLS_CELL_DOUBLE, 1, offsetof(dls_joint_def_row, break_force), "N", DLS_RANGE_SIZE},
    {"break_torque", DLS_CELL_DOUBLE, 1, offsetof(dls_joint_def_row, break_torque), "N m", DLS_RANGE_SIZE},
    FREEDOMS(DLS_CELL_DOUBLE, p, "N/m or N m/rad", DLS_RANGE_SIZE),
    FREEDOMS(DLS_CELL_DOUBLE, d, "N s/m or N m s/rad", DLS_RANGE_SIZE),
    FREEDOMS(DLS_CELL_DOUBLE, i, "N/(m s) or N m/(rad s)", DLS_RANGE_SIZE),
    FREEDOMS(DLS_CELL_DOUBLE, max_force, "N or N m", DLS_RANGE_SIZE),
    FREEDOMS(DLS_CELL_DOUBLE, stiffness, "N/m or N m/rad", DLS_RANGE_SIZE),
    FREEDOMS(DLS_CELL_DOUBLE, damping, "N s/m or N m s/rad", DLS_RANGE_SIZE),
    FREEDOMS(DLS_CELL_DOUBLE, rest, "m or rad", DLS_RANGE_FINITE),
    FREEDOMS(DLS_CELL_INT32, one_sided, "1", DLS_RANGE_ANY),
    FREEDOMS(DLS_CELL_DOUBLE, low, "m or rad", DLS_RANGE_OPEN),
    FREEDOMS(DLS_CELL_DOUBLE, high, "m or rad", DLS_RANGE_OPEN),
    FREEDOMS(DLS_CELL_DOUBLE, restitution, "1", DLS_RANGE_SHARE),
    FREEDOMS(DLS_CELL_DOUBLE, friction, "N or N m", DLS_RANGE_SIZE),
    FREEDOMS(DLS_CELL_DOUBLE, friction_mu, "1", DLS_RANGE_SIZE),
    FREEDOMS(DLS_CELL_DOUBLE, friction_radius, "m", DLS_RANGE_SIZE),
};

static const dls_cell joint_step_cells[] = {
    {"joints", DLS_CELL_INT32, 1, offsetof(dls_joint_step_row, joints), "1", DLS_RANGE_COUNT},
    {"joint_rows", DLS_CELL_INT32, 1, offsetof(dls_joint_step_row, rows), "1", DLS_RANGE_COUNT},
    {"joint_rows_at_bound", DLS_CELL_INT32, 1, offsetof(dls_joint_step_row, rows_at_bound), "1",
     DLS_RANGE_COUNT},
    {"joints_broken", DLS_CELL_INT32, 1, offsetof(dls_joint_step_row, broken), "1", DLS_RANGE_COUNT},
    {"joint_gap", DLS_CELL_DOUBLE, 1, offsetof(dls_joint_step_row, gap), "m or rad", DLS_RANGE_OPEN_SIZE},
    {"spring", DLS_CELL_DOUBLE, 1, offsetof(dls_joint_step_row, spring), "J", DLS_RANGE_FINITE},
    {"motors", DLS_CELL_DOUBLE, 1, offsetof(dls_joint_step_row, motors), "J", DLS_RANGE_FINITE},
    {"joint_loss", DLS_CELL_DOUBLE, 1, offsetof(dls_joint_step_row, lost), "J", DLS_RANGE_FINITE},
};

/* Paths are given without the root. A plain column's row_size is that of its numbers. */
#define PLAIN(name, type, ctype, width, row, member, unit, range)                                            \
    {                                                                                                        \
        .path = name, .chunk = 256, .row_size = sizeof(ctype) * (width),                                     \
        COLUMN(type, width, row, member, unit, range)                                                        \
    }
#define COLUMNS(name, marked, rows, row, list)                                                               \
    .path = name, .is_compound = true, .is_marked = marked, .chunk = rows, .row_size = sizeof(row),          \
    .cell_count = LENGTH(list), .cells = list
#define COMPOUND(name, marked, rows, row, list)                                                              \
    { COLUMNS(name, marked, rows, row, list) }
#define GROWN(name, marked, rows, row, list, earlier)                                                        \
    { COLUMNS(name, marked, rows, row, list), .older_count = LENGTH(earlier), .older = earlier }
#define STATE(name, type, ctype, width, member, unit, range)                                                 \
    PLAIN("states/" name, type, ctype, width, dls_state_row, member, unit, range)
#define CONTACT(name, type, ctype, width, member, unit, range)                                               \
    PLAIN("contacts/" name, type, ctype, width, dls_contact_row, member, unit, range)
#define LATER(version, name, type, ctype, width, row, member, unit, range)                                   \
    {                                                                                                        \
        .path = name, .since = version, .chunk = 256, .row_size = sizeof(ctype) * (width),                   \
        COLUMN(type, width, row, member, unit, range)                                                        \
    }
#define TURNS(name, type, ctype, width, member, unit, range)                                                 \
    LATER(4, "contacts/" name, type, ctype, width, dls_contact_row, member, unit, range)
#define NODE(name, ctype, type, width, member, unit, range)                                                  \
    LATER(6, "nodes/" name, type, ctype, width, dls_node_record, member, unit, range)
#define GRADIENT(name, ctype, type, width, member, unit, range)                                              \
    LATER(7, "gradients/" name, type, ctype, width, dls_gradient_record, member, unit, range)
#define REACTS(name, type, ctype, width, member, unit, range)                                                \
    LATER(5, "reactions/" name, type, ctype, width, dls_reaction_row, member, unit, range)

typedef struct text_row {
    char text[1];
} text_row;
typedef struct point_row {
    double x[3];
} point_row;
typedef struct index_row {
    int32_t point;
} index_row;
typedef struct triangle_row {
    int32_t point[3];
} triangle_row;

const dls_table_layout dls_table_layouts[DLS_TABLES] = {
    [DLS_TABLE_BODY_NAMES] = PLAIN("bodies/name", DLS_CELL_TEXT, char, 1, text_row, text, "1", DLS_RANGE_ANY),
    [DLS_TABLE_BODIES] = COMPOUND("bodies/properties", false, 256, dls_body_row, body_cells),
    [DLS_TABLE_SHAPES] = GROWN("shapes/properties", false, 256, dls_shape_row, shape_cells, older_shapes),
    [DLS_TABLE_POINTS] =
        PLAIN("shapes/points", DLS_CELL_DOUBLE, double, 3, point_row, x, "m", DLS_RANGE_NEAR),
    [DLS_TABLE_TRIANGLES] =
        PLAIN("shapes/triangles", DLS_CELL_INT32, int32_t, 3, triangle_row, point, "1", DLS_RANGE_COUNT),
    [DLS_TABLE_MATERIAL_NAMES] =
        PLAIN("materials/name", DLS_CELL_TEXT, char, 1, text_row, text, "1", DLS_RANGE_ANY),
    [DLS_TABLE_MATERIALS] =
        GROWN("materials/properties", false, 16, dls_material_row, material_cells, without_turning),
    [DLS_TABLE_PAIRS] = GROWN("materials/pairs", false, 16, dls_pair_row, pair_cells, without_turning),

    [DLS_TABLE_JOINT_NAMES] =
        LATER(5, "joints/name", DLS_CELL_TEXT, char, 1, text_row, text, "1", DLS_RANGE_ANY),
    [DLS_TABLE_JOINTS] = {COLUMNS("joints/properties", false, 16, dls_joint_def_row, joint_cells),
                          .since = 5},

    [DLS_TABLE_STATES + 0] = STATE("body", DLS_CELL_INT32, int32_t, 1, body, "1", DLS_RANGE_INDEX),
    [DLS_TABLE_STATES + 1] = STATE("radius", DLS_CELL_FLOAT, float, 1, radius, "m", DLS_RANGE_OPEN_SIZE),
    [DLS_TABLE_STATES + 2] = STATE("position", DLS_CELL_DOUBLE, double, 3, state.x, "m", DLS_RANGE_NEAR),
    [DLS_TABLE_STATES + 3] = STATE("orientation", DLS_CELL_DOUBLE, double, 4, state.q, "1", DLS_RANGE_UNIT),
    [DLS_TABLE_STATES + 4] = STATE("velocity", DLS_CELL_DOUBLE, double, 3, state.v, "m/s", DLS_RANGE_NEAR),
    [DLS_TABLE_STATES + 5] =
        STATE("angular_velocity", DLS_CELL_DOUBLE, double, 3, state.w, "rad/s", DLS_RANGE_NEAR),
    [DLS_TABLE_STATES_POSES + 0] =
        STATE("contact_position", DLS_CELL_DOUBLE, double, 3, contact_pose.x, "m", DLS_RANGE_NEAR),
    [DLS_TABLE_STATES_POSES + 1] =
        STATE("contact_orientation", DLS_CELL_DOUBLE, double, 4, contact_pose.q, "1", DLS_RANGE_UNIT),

    [DLS_TABLE_CONTACTS + 0] =
        CONTACT("bodies", DLS_CELL_INT32, int32_t, 2, record.body_a, "1", DLS_RANGE_INDEX),
    [DLS_TABLE_CONTACTS + 1] =
        CONTACT("shapes", DLS_CELL_INT32, int32_t, 2, record.shape_a, "1", DLS_RANGE_COUNT),
    [DLS_TABLE_CONTACTS + 2] = CONTACT("image", DLS_CELL_INT16, int16_t, 3, record.image, "1", DLS_RANGE_ANY),
    [DLS_TABLE_CONTACTS + 3] =
        CONTACT("feature", DLS_CELL_UINT64, uint64_t, 1, record.feature, "1", DLS_RANGE_ANY),
    [DLS_TABLE_CONTACTS + 4] =
        CONTACT("point", DLS_CELL_DOUBLE, double, 3, record.point, "m", DLS_RANGE_NEAR),
    [DLS_TABLE_CONTACTS + 5] =
        CONTACT("frame", DLS_CELL_DOUBLE, double, 9, record.frame, "1", DLS_RANGE_UNIT),
    [DLS_TABLE_CONTACTS + 6] = CONTACT("gap", DLS_CELL_DOUBLE, double, 1, record.gap, "m", DLS_RANGE_NEAR),
    [DLS_TABLE_CONTACTS + 7] = CONTACT("mu", DLS_CELL_DOUBLE, double, 1, record.mu, "1", DLS_RANGE_SIZE),
    [DLS_TABLE_CONTACTS + 8] =
        CONTACT("impulse", DLS_CELL_DOUBLE, double, 3, record.impulse, "N s", DLS_RANGE_NEAR),
    [DLS_TABLE_CONTACTS + 9] =
        CONTACT("velocity", DLS_CELL_DOUBLE, double, 3, record.velocity, "m/s", DLS_RANGE_NEAR),
    [DLS_TABLE_CONTACTS + 10] = CONTACT("b", DLS_CELL_DOUBLE, double, 3, record.b, "m/s", DLS_RANGE_NEAR),
    [DLS_TABLE_CONTACTS + 11] =
        CONTACT("world_impulse", DLS_CELL_DOUBLE, double, 3, world_impulse, "N s", DLS_RANGE_NEAR),

    [DLS_TABLE_TURNING + 0] = TURNS("parts", DLS_CELL_INT32, int32_t, 1, record.parts, "1", DLS_RANGE_COUNT),
    [DLS_TABLE_TURNING + 1] =
        TURNS("lengths", DLS_CELL_DOUBLE, double, 3, record.mu_rolling, "m", DLS_RANGE_SIZE),
    [DLS_TABLE_TURNING + 2] =
        TURNS("torque", DLS_CELL_DOUBLE, double, 3, record.torque, "N m s (N s of drilling)", DLS_RANGE_NEAR),
    [DLS_TABLE_TURNING + 3] =
        TURNS("spin", DLS_CELL_DOUBLE, double, 3, record.spin, "rad/s (m/s of drilling)", DLS_RANGE_NEAR),
    [DLS_TABLE_TURNING + 4] =
        TURNS("b_spin", DLS_CELL_DOUBLE, double, 3, record.b_spin, "rad/s (m/s of drilling)", DLS_RANGE_NEAR),
    [DLS_TABLE_TURNING + 5] =
        TURNS("world_torque", DLS_CELL_DOUBLE, double, 3, world_torque, "N m s", DLS_RANGE_NEAR),

    [DLS_TABLE_REACTIONS + 0] =
        REACTS("joint", DLS_CELL_INT32, int32_t, 1, record.joint, "1", DLS_RANGE_INDEX),
    [DLS_TABLE_REACTIONS + 1] = REACTS("bodies", DLS_CELL_INT32, int32_t, 2, record.body, "1", DLS_RANGE_ANY),
    [DLS_TABLE_REACTIONS + 2] =
        REACTS("point", DLS_CELL_DOUBLE, double, 3, record.point, "m", DLS_RANGE_NEAR),
    [DLS_TABLE_REACTIONS + 3] =
        REACTS("frame", DLS_CELL_DOUBLE, double, 9, record.frame, "1", DLS_RANGE_UNIT),
    [DLS_TABLE_REACTIONS + 4] =
        REACTS("impulse", DLS_CELL_DOUBLE, double, 6, record.impulse, "N s, N m s", DLS_RANGE_NEAR),
    [DLS_TABLE_REACTIONS + 5] =
        REACTS("actuator", DLS_CELL_DOUBLE, double, 6, record.actuator, "N s, N m s", DLS_RANGE_NEAR),
    [DLS_TABLE_REACTIONS + 6] =
        REACTS("coordinate", DLS_CELL_DOUBLE, double, 6, record.coordinate, "m, rad", DLS_RANGE_NEAR),
    [DLS_TABLE_REACTIONS + 7] =
        REACTS("speed", DLS_CELL_DOUBLE, double, 6, record.speed, "m/s, rad/s", DLS_RANGE_NEAR),
    [DLS_TABLE_REACTIONS + 8] =
        REACTS("gap", DLS_CELL_DOUBLE, double, 1, record.gap, "m or rad", DLS_RANGE_NEAR),
    [DLS_TABLE_REACTIONS + 9] = REACTS("work", DLS_CELL_DOUBLE, double, 1, record.work, "J", DLS_RANGE_NEAR),
    [DLS_TABLE_REACTIONS + 10] = REACTS("lost", DLS_CELL_DOUBLE, double, 1, record.lost, "J", DLS_RANGE_NEAR),
    [DLS_TABLE_REACTIONS + 11] =
        REACTS("world_impulse", DLS_CELL_DOUBLE, double, 3, world_impulse, "N s", DLS_RANGE_NEAR),
    [DLS_TABLE_REACTIONS + 12] =
        REACTS("world_torque", DLS_CELL_DOUBLE, double, 3, world_torque, "N m s", DLS_RANGE_NEAR),

    [DLS_TABLE_NODES + 0] = NODE("body", int32_t, DLS_CELL_INT32, 1, body, "1", DLS_RANGE_INDEX),
    [DLS_TABLE_NODES + 1] = NODE("at", double, DLS_CELL_DOUBLE, 1, at, "1", DLS_RANGE_SHARE),
    [DLS_TABLE_NODES + 2] = NODE("position", double, DLS_CELL_DOUBLE, 3, x, "m", DLS_RANGE_NEAR),
    [DLS_TABLE_NODES + 3] = NODE("velocity", double, DLS_CELL_DOUBLE, 3, v, "m/s", DLS_RANGE_NEAR),
    [DLS_TABLE_NODES_STRESS] = LATER(7, "nodes/von_mises", DLS_CELL_DOUBLE, double, 1, dls_node_record,
                                     von_mises, "Pa", DLS_RANGE_SIZE),
    [DLS_TABLE_NODES_PRINCIPAL] = LATER(9, "nodes/principal_stress", DLS_CELL_DOUBLE, double, 3,
                                        dls_node_record, principal, "Pa", DLS_RANGE_NEAR),

    [DLS_TABLE_GRADIENTS + 0] = GRADIENT("body", int32_t, DLS_CELL_INT32, 1, body, "1", DLS_RANGE_INDEX),
    [DLS_TABLE_GRADIENTS + 1] = GRADIENT("F", double, DLS_CELL_DOUBLE, 9, F, "1", DLS_RANGE_NEAR),
    [DLS_TABLE_GRADIENTS + 2] = GRADIENT("rate", double, DLS_CELL_DOUBLE, 9, rate, "1/s", DLS_RANGE_NEAR),

    [DLS_TABLE_JOINT_STEPS] = {COLUMNS("joints/steps", false, 256, dls_joint_step_row, joint_step_cells),
                               .since = 5},
    [DLS_TABLE_FRAMES] = GROWN("frames", true, 64, dls_frame_row, frame_cells, older_frames),
    [DLS_TABLE_STEPS] = GROWN("steps", true, 256, dls_step_report, step_cells, older_steps),
    [DLS_TABLE_SUMMARY] = GROWN("summary", false, 1, dls_run_summary, summary_cells, older_summary),
    [DLS_TABLE_INDEX] = PLAIN("index", DLS_CELL_INT32, int32_t, 1, index_row, point, "1", DLS_RANGE_ANY),
};

/* Three columns read members that follow each other as an array. */
_Static_assert(offsetof(dls_contact_record, body_b) ==
                       offsetof(dls_contact_record, body_a) + sizeof(int32_t) &&
                   offsetof(dls_contact_record, shape_b) ==
                       offsetof(dls_contact_record, shape_a) + sizeof(int32_t),
               "bodies and shapes of a contact lie side by side");
_Static_assert(offsetof(dls_contact_record, mu_spinning) ==
                       offsetof(dls_contact_record, mu_rolling) + sizeof(double) &&
                   offsetof(dls_contact_record, drilling) ==
                       offsetof(dls_contact_record, mu_rolling) + 2 * sizeof(double),
               "lengths of a contact lie side by side");

/* Figures of an analysis: one row of a table says what a figure shows. */
#include "cli/analyze/analyze.h"
#include "cli/figure/figure.h"
#include "cli/support/report.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SERIES = 13, MOST_POINTS = 1500 };

/* A column as it is, what it has changed since its first row, against its sign, or as it is if it is not all
 * zero. */
typedef enum drawn_value { AS_IT_IS, FROM_FIRST, NEGATED, UNLESS_ZERO } drawn_value;

/* A column that is drawn, by name; one that the table does not have is left out. */
typedef struct drawn_column {
    const char *column, *name;
    figure_style style;
    drawn_value value;
} drawn_column;

typedef struct drawing {
    const char *table, *file;
    const char *x, *x_label, *y_label; /* labels without unit */
    figure_scale y_scale;
    bool upright; /* x stands upright: profiles */
    drawn_column columns[MOST_SERIES];
} drawing;

static const drawing drawings[] = {
    {"container_total",
     "container",
     "time",
     "time",
     "force on containers",
     FIGURE_LINEAR,
     false,
     {{"fx", "F_{x}", FIGURE_PLAIN, AS_IT_IS},
      {"fy", "F_{y}", FIGURE_PLAIN, AS_IT_IS},
      {"fz", "F_{z}", FIGURE_PLAIN, AS_IT_IS},
      {"weight", "−weight", FIGURE_PLAIN, NEGATED}}},
    {"pressure",
     "pressure",
     "place",
     "place along the axis",
     "traction of walls",
     FIGURE_LINEAR,
     true,
     {{"pressure", "pressure", FIGURE_LINE, AS_IT_IS},
      {"drag", "drag", FIGURE_LINE, AS_IT_IS},
      {"janssen", "Janssen", FIGURE_PLAIN, AS_IT_IS}}},
    {"pressure_total",
     "pressure_total",
     "time",
     "time",
     "upward force",
     FIGURE_LINEAR,
     false,
     {{"walls_carry", "walls", FIGURE_PLAIN, AS_IT_IS},
      {"base_carries", "base", FIGURE_PLAIN, AS_IT_IS},
      {"weight", "weight", FIGURE_PLAIN, AS_IT_IS}}},
    {"coordination",
     "coordination",
     "time",
     "time",
     "neighbours per body",
     FIGURE_LINEAR,
     false,
     {{"neighbours", "all bodies", FIGURE_PLAIN, AS_IT_IS},
      {"without_rattlers", "without rattlers", FIGURE_PLAIN, AS_IT_IS}}},
    {"neighbours",
     "neighbours",
     "neighbours",
     "loaded neighbours",
     "share of bodies",
     FIGURE_LINEAR,
     false,
     {{"share", NULL, FIGURE_BARS, AS_IT_IS}}},
    {"fraction",
     "fraction",
     "time",
     "time",
     "solid fraction",
     FIGURE_LINEAR,
     false,
     {{"fraction", NULL, FIGURE_PLAIN, AS_IT_IS}}},
    {"fabric",
     "fabric",
     "time",
     "time",
     "fabric",
     FIGURE_LINEAR,
     false,
     {{"xx", "F_{xx}", FIGURE_PLAIN, AS_IT_IS},
      {"yy", "F_{yy}", FIGURE_PLAIN, AS_IT_IS},
      {"zz", "F_{zz}", FIGURE_PLAIN, AS_IT_IS},
      {"xy", "F_{xy}", FIGURE_PLAIN, AS_IT_IS},
      {"anisotropy", "anisotropy", FIGURE_PLAIN, AS_IT_IS}}},
    {"stress",
     "stress",
     "time",
     "time",
     "stress",
     FIGURE_LINEAR,
     false,
     {{"xx", "σ_{xx}", FIGURE_PLAIN, AS_IT_IS},
      {"yy", "σ_{yy}", FIGURE_PLAIN, AS_IT_IS},
      {"zz", "σ_{zz}", FIGURE_PLAIN, AS_IT_IS},
      {"xy", "σ_{xy}", FIGURE_PLAIN, AS_IT_IS},
      {"pressure", "pressure", FIGURE_PLAIN, AS_IT_IS}}},
    {"forces",
     "forces",
     "f",
     "normal force over its mean, f",
     "P(f)",
     FIGURE_LOG,
     false,
     {{"density", "run", FIGURE_POINTS, AS_IT_IS}, {"tail", "exponential tail", FIGURE_PLAIN, AS_IT_IS}}},
    {"repose",
     "repose",
     "time",
     "time",
     "angle of repose",
     FIGURE_LINEAR,
     false,
     {{"angle", NULL, FIGURE_PLAIN, AS_IT_IS}}},
    {"repose_surface",
     "repose_surface",
     "place",
     "place along the axis",
     "height",
     FIGURE_LINEAR,
     false,
     {{"height", "top of the bed", FIGURE_POINTS, AS_IT_IS}, {"fit", "fitted line", FIGURE_PLAIN, AS_IT_IS}}},
    {"cone",
     "cone",
     "time",
     "time",
     "angle of the heap",
     FIGURE_LINEAR,
     false,
     {{"angle", NULL, FIGURE_PLAIN, AS_IT_IS}}},
    {"cone_surface",
     "cone_surface",
     "place",
     "distance from the axis",
     "height",
     FIGURE_LINEAR,
     false,
     {{"height", "top of the bed", FIGURE_POINTS, AS_IT_IS}, {"fit", "fitted line", FIGURE_PLAIN, AS_IT_IS}}},
    {"height",
     "height",
     "time",
     "time",
     "height",
     FIGURE_LINEAR,
     false,
     {{"centre", "mass centre", FIGURE_PLAIN, AS_IT_IS}, {"top", "top", FIGURE_PLAIN, AS_IT_IS}}},
    {"flow",
     "flow",
     "time",
     "time",
     "mass since the first frame",
     FIGURE_LINEAR,
     false,
     {{"forward_mass", "forward", FIGURE_PLAIN, AS_IT_IS},
      {"backward_mass", "backward", FIGURE_PLAIN, AS_IT_IS},
      {"born_mass", "born", FIGURE_PLAIN, AS_IT_IS},
      {"dead_mass", "dead", FIGURE_PLAIN, AS_IT_IS}}},
    {"flow",
     "flow_rate",
     "time",
     "time",
     "mass rate",
     FIGURE_LINEAR,
     false,
     {{"rate", NULL, FIGURE_PLAIN, AS_IT_IS}}},
    {"profile",
     "profile",
     "place",
     "place along the axis",
     "mean velocity",
     FIGURE_LINEAR,
     true,
     {{"vx", "v_{x}", FIGURE_LINE, AS_IT_IS},
      {"vy", "v_{y}", FIGURE_LINE, AS_IT_IS},
      {"vz", "v_{z}", FIGURE_LINE, AS_IT_IS}}},
    {"profile",
     "profile_spread",
     "place",
     "place along the axis",
     "spread of the velocity",
     FIGURE_LINEAR,
     true,
     {{"spread_vx", "v_{x}", FIGURE_LINE, AS_IT_IS},
      {"spread_vy", "v_{y}", FIGURE_LINE, AS_IT_IS},
      {"spread_vz", "v_{z}", FIGURE_LINE, AS_IT_IS}}},
    {"energy",
     "energy",
     "time",
     "time",
     "energy",
     FIGURE_LINEAR,
     false,
     {{"kinetic", "kinetic", FIGURE_PLAIN, AS_IT_IS},
      {"potential", "change of potential", FIGURE_PLAIN, FROM_FIRST},
      {"friction", "lost to friction", FIGURE_PLAIN, AS_IT_IS},
      {"impact", "lost in impacts", FIGURE_PLAIN, AS_IT_IS},
      {"work", "work of drives", FIGURE_PLAIN, AS_IT_IS},
      {"unaccounted", "unaccounted", FIGURE_PLAIN, AS_IT_IS},
      {"turning", "lost to turning", FIGURE_PLAIN, UNLESS_ZERO},
      {"spring", "stored in springs", FIGURE_PLAIN, UNLESS_ZERO},
      {"motors", "work of motors", FIGURE_PLAIN, UNLESS_ZERO},
      {"joint_loss", "lost in joints", FIGURE_PLAIN, UNLESS_ZERO},
      {"strain", "stored in solids", FIGURE_PLAIN, UNLESS_ZERO},
      {"damping", "damped in solids", FIGURE_PLAIN, UNLESS_ZERO},
      {"numerical", "made by the scheme", FIGURE_PLAIN, UNLESS_ZERO}}},
    {"joints",
     "joints_force",
     "time",
     "time",
     "reaction force",
     FIGURE_LINEAR,
     false,
     {{"force", NULL, FIGURE_PLAIN, UNLESS_ZERO}}},
    {"joints",
     "joints_torque",
     "time",
     "time",
     "reaction torque",
     FIGURE_LINEAR,
     false,
     {{"torque", NULL, FIGURE_PLAIN, UNLESS_ZERO}}},
    {"joints",
     "joints_power",
     "time",
     "time",
     "power of motors and loss",
     FIGURE_LINEAR,
     false,
     {{"power", "motor", FIGURE_PLAIN, UNLESS_ZERO}, {"loss", "loss", FIGURE_PLAIN, UNLESS_ZERO}}},
    {"joints",
     "joints_way",
     "time",
     "time",
     "coordinate",
     FIGURE_LINEAR,
     false,
     {{"coordinate_1", "1", FIGURE_PLAIN, UNLESS_ZERO},
      {"coordinate_2", "2", FIGURE_PLAIN, UNLESS_ZERO},
      {"coordinate_3", "3", FIGURE_PLAIN, UNLESS_ZERO}}},
    {"joints",
     "joints_angle",
     "time",
     "time",
     "coordinate",
     FIGURE_LINEAR,
     false,
     {{"coordinate_4", "4", FIGURE_PLAIN, UNLESS_ZERO},
      {"coordinate_5", "5", FIGURE_PLAIN, UNLESS_ZERO},
      {"coordinate_6", "6", FIGURE_PLAIN, UNLESS_ZERO}}},
    {"penetration",
     "penetration",
     "time",
     "time",
     "penetration",
     FIGURE_LINEAR,
     false,
     {{"penetration", NULL, FIGURE_PLAIN, AS_IT_IS}}},
    {"residual",
     "residual",
     "time",
     "time",
     "residual of the step",
     FIGURE_LOG,
     false,
     {{"residual", NULL, FIGURE_PLAIN, AS_IT_IS}}},
    {"complementarity",
     "complementarity",
     "time",
     "time",
     "|r · (u + μ|u_{t}| n)|",
     FIGURE_LOG,
     false,
     {{"largest", "largest", FIGURE_PLAIN, AS_IT_IS}, {"sum", "sum", FIGURE_PLAIN, AS_IT_IS}}},
};

/* ---- points ---- */

static int find_column(const dls_analysis_table *t, const char *name) {
    for (int k = 0; k < t->column_count; k++)
        if (!strcmp(t->columns[k], name)) return k;
    return -1;
}

/* Long histories keep the lowest and the highest point of each stretch. */
static size_t thin_out(size_t count, double *x, double *y) {
    size_t stretch = (2 * count + MOST_POINTS - 1) / MOST_POINTS, kept = 0;
    if (count <= MOST_POINTS) return count;
    for (size_t first = 0; first < count; first += stretch) {
        size_t end = first + stretch < count ? first + stretch : count, low = first, high = first;
        for (size_t k = first; k < end; k++) {
            if (y[k] < y[low]) low = k;
            if (y[k] > y[high]) high = k;
        }
        size_t early = low < high ? low : high, late = low < high ? high : low;
        double points[4] = {x[early], y[early], x[late], y[late]};
        x[kept] = points[0], y[kept++] = points[1];
        if (early == late) continue;
        x[kept] = points[2], y[kept++] = points[3];
    }
    return kept;
}

/* Lines of surfaces come in the order of cells. */
static int compare_points(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void sort_points(size_t count, double *x, double *y) {
    double(*pairs)[2] = report_allocate(count + 1, sizeof *pairs);
    for (size_t k = 0; k < count; k++) pairs[k][0] = x[k], pairs[k][1] = y[k];
    qsort(pairs, count, sizeof *pairs, compare_points);
    for (size_t k = 0; k < count; k++) x[k] = pairs[k][0], y[k] = pairs[k][1];
    free(pairs);
}

/* Rows belong to the joints of the column `joint`, each of which has series of its own. */
static bool is_of_joints(const drawing *d) { return !strcmp(d->table, "joints"); }

/* Rows of a joint, or all of them. */
typedef struct drawn_rows {
    const dls_analysis_table *table;
    int joint_at, joint; /* column and its number; column −1: all */
} drawn_rows;

static bool is_drawn(const drawn_rows *r, int64_t row) {
    return r->joint_at < 0 || r->table->values[row * r->table->column_count + r->joint_at] == r->joint;
}

static figure_series take_series(const drawn_rows *r, const drawing *d, const drawn_column *c, int x_at,
                                 int y_at, unsigned look) {
    const dls_analysis_table *t = r->table;
    size_t count = 0;
    double *x = report_allocate((size_t)t->row_count + 1, sizeof *x),
           *y = report_allocate((size_t)t->row_count + 1, sizeof *y);
    for (int64_t k = 0; k < t->row_count; k++) {
        const double *row = t->values + k * t->column_count;
        if (!is_drawn(r, k)) continue;
        x[count] = row[x_at];
        y[count++] =
            c->value == NEGATED ? -row[y_at] : row[y_at] - (c->value == FROM_FIRST ? t->values[y_at] : 0);
    }
    if (c->style == FIGURE_PLAIN) {
        sort_points(count, x, y);
        count = thin_out(count, x, y);
    }
    if (d->upright) return (figure_series){c->name, y, x, count, c->style, look};
    return (figure_series){c->name, x, y, count, c->style, look};
}

/* ---- figures ---- */

static void label_axis(char *text, size_t size, const char *label, const char *unit) {
    if (strcmp(unit, "1"))
        snprintf(text, size, "%s, %s", label, unit);
    else
        snprintf(text, size, "%s", label);
}

static bool write_figure(const figure *f, const char *folder, const char *name) {
    char path[PATH_MAX], message[512];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path) {
        report_error("analyze: the name of the folder is too long");
        return false;
    }
    if (figure_write(f, path, message, sizeof message)) return true;
    report_error("%s: %s", path, message);
    return false;
}

/* Nothing but zeros, and numbers that do not exist. */
static bool is_zero(const drawn_rows *r, int column) {
    for (int64_t k = 0; k < r->table->row_count; k++) {
        double value = r->table->values[k * r->table->column_count + column];
        if (is_drawn(r, k) && value != 0 && !isnan(value)) return false;
    }
    return true;
}

/* What a page shows: series, and whose they are. */
typedef struct drawn_series {
    figure_series series[MOST_SERIES];
    char names[MOST_SERIES][96];
    size_t count;
    int unit_at; /* column that says the unit */
} drawn_series;

static void name_series(const analyze_report *r, const drawn_rows *rows, const char *column, char *name,
                        size_t size) {
    const char *own = dls_results_joint_name(r->results, rows->joint);
    char number[32];
    snprintf(number, sizeof number, "joint %d", rows->joint);
    snprintf(name, size, "%.60s%s%s", *own ? own : number, column ? ", " : "", column ? column : "");
}

static void add_series(const analyze_report *r, const drawn_rows *rows, const drawing *d, drawn_series *out) {
    bool plane = dls_results_dimension(r->results) == 2;
    int x_at = find_column(rows->table, d->x);
    for (int k = 0; k < MOST_SERIES && d->columns[k].column && out->count < MOST_SERIES; k++) {
        const drawn_column *c = &d->columns[k];
        int y_at = find_column(rows->table, c->column);
        if (y_at < 0 || (plane && !strcmp(c->column, "fz"))) continue;
        if (c->value == UNLESS_ZERO && is_zero(rows, y_at)) continue;
        if (out->count == 0) out->unit_at = y_at;
        unsigned look = is_of_joints(d) ? (unsigned)out->count + 1 : (unsigned)k + 1;
        figure_series *series = &out->series[out->count];
        *series = take_series(rows, d, c, x_at, y_at, look);
        if (is_of_joints(d)) {
            name_series(r, rows, c->name, out->names[out->count], sizeof *out->names);
            series->name = out->names[out->count];
        }
        out->count++;
    }
}

static bool draw(const analyze_report *r, const dls_analysis_table *t, const drawing *d, const char *folder) {
    figure_mark tolerance = {"tolerance", true, dls_results_tolerance(r->results)};
    int x_at = find_column(t, d->x), joints = is_of_joints(d) ? dls_results_joint_count(r->results) : 1;
    drawn_series drawn = {.unit_at = x_at};
    for (int joint = 0; joint < joints; joint++)
        add_series(r, &(drawn_rows){t, is_of_joints(d) ? find_column(t, "joint") : -1, joint}, d, &drawn);
    figure_series *series = drawn.series;
    size_t count = drawn.count;
    char x_label[128], y_label[128];
    label_axis(x_label, sizeof x_label, d->x_label, t->units[x_at]);
    label_axis(y_label, sizeof y_label, d->y_label, t->units[drawn.unit_at]);
    figure_axis x = {x_label, FIGURE_LINEAR, 0, 0}, y = {y_label, d->y_scale, 0, 0};
    figure f = {.x = d->upright ? y : x, .y = d->upright ? x : y, .series = series, .series_count = count};
    if (!strcmp(d->table, "residual") && tolerance.value > 0) f.marks = &tolerance, f.mark_count = 1;
    bool good = count == 0 || write_figure(&f, folder, d->file);
    for (size_t k = 0; k < count; k++) {
        free((void *)(uintptr_t)series[k].x);
        free((void *)(uintptr_t)series[k].y);
    }
    return good;
}

bool analyze_draw(const analyze_report *r, const char *folder) {
    bool good = true;
    for (int i = 0; i < r->count; i++)
        for (int k = 0; r->items[i].analysis && k < dls_analysis_table_count(r->items[i].analysis); k++) {
            dls_analysis_table t = dls_analysis_table_at(r->items[i].analysis, k);
            for (size_t d = 0; d < sizeof drawings / sizeof *drawings && good; d++)
                if (!strcmp(drawings[d].table, t.name) && t.row_count > 0)
                    good = draw(r, &t, &drawings[d], folder);
        }
    return good;
}

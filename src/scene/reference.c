/* Everything a scene may say, from the tables that read it. */
#include "scene/read.h"

#include "world/shape/kinds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const dls_group *const dls_scene_groups[] = {
    &dls_group_scene,
    &dls_group_periodic,
    &dls_group_material,
    &dls_group_pair,
    &dls_group_body,
    &dls_group_solid,
    &dls_group_support,
    &dls_group_shape,
    &dls_group_rotation,
    &dls_group_function,
    &dls_group_drive,
    &dls_group_frame,
    &dls_group_lattice,
    &dls_group_packing,
    &dls_group_layers,
    &dls_group_pyramid,
    &dls_group_wall,
    &dls_group_links,
    &dls_group_mixture,
    &dls_group_inlet,
    &dls_group_removal,
    &dls_group_joint,
    &dls_group_side,
    &dls_group_neighbours,
    &dls_group_freedom,
    &dls_group_joint_drive,
    &dls_group_joint_motor,
    &dls_group_joint_servo,
    &dls_group_joint_spring,
    &dls_group_joint_friction,
    &dls_group_break,
    &dls_group_spring_item,
    &dls_group_region,
    &dls_group_size,
    &dls_group_normal,
    &dls_group_size_table,
    NULL,
};

static int table_group_count(void) {
    int count = 0;
    while (dls_scene_groups[count]) count++;
    return count;
}

/* ---- keys ---- */

/* The value that the group's defaults hold. */
static void print_preset(const dls_group *group, const dls_key *key, char *text, size_t size) {
    union {
        max_align_t align;
        char bytes[1024];
    } target;
    memset(&target, 0, sizeof target);
    if (group->defaults) group->defaults(target.bytes);
    *text = '\0';
    if (key->needed) {
        snprintf(text, size, "needed");
    } else if (key->preset) {
        snprintf(text, size, "%s", key->preset);
    } else {
        dls_field_print(&key->field, target.bytes, text, size);
        if (!strcmp(text, "[0, 0, 0]")) snprintf(text, size, "zero");
    }
}

/* ---- public: groups of tables first, then those of field tables ---- */

int dls_scene_group_count(void) { return table_group_count() + dls_option_group_count(); }

const char *dls_scene_group_name(int index) {
    const char *about;
    int tables = table_group_count();
    if (index < 0 || index >= dls_scene_group_count()) return NULL;
    return index < tables ? dls_scene_groups[index]->path : dls_option_group_at(index - tables, &about);
}

const char *dls_scene_group_about(int index) {
    const char *about;
    int tables = table_group_count();
    if (index < 0 || index >= dls_scene_group_count()) return NULL;
    if (index < tables) return dls_scene_groups[index]->about;
    dls_option_group_at(index - tables, &about);
    return about;
}

/* Key k of a group, or false behind the last. */
static bool group_key_at(int group, int k, dls_scene_key *key) {
    static _Thread_local char preset[128], type[200];
    int tables = table_group_count();
    *preset = '\0';
    if (group >= tables) {
        const char *about;
        return dls_option_key_at(dls_option_group_at(group - tables, &about), k, key, preset, sizeof preset);
    }
    const dls_group *table = dls_scene_groups[group];
    if (k >= table->key_count) return false;
    const dls_field *field = &table->keys[k].field;
    print_preset(table, &table->keys[k], preset, sizeof preset);
    *key = (dls_scene_key){table->path, field->key, dls_field_allowed(field, type, sizeof type),
                           field->unit, preset,     field->help};
    return true;
}

int dls_scene_key_count(void) {
    dls_scene_key key;
    int count = 0;
    for (int group = 0; group < dls_scene_group_count(); group++)
        for (int k = 0; group_key_at(group, k, &key); k++) count++;
    return count;
}

dls_scene_key dls_scene_key_at(int index) {
    dls_scene_key key = {"", "", "", "", "", ""};
    int at = 0;
    for (int group = 0; group < dls_scene_group_count(); group++)
        for (int k = 0; group_key_at(group, k, &key); k++)
            if (at++ == index) return key;
    return (dls_scene_key){"", "", "", "", "", ""};
}

bool dls_scene_shape_has(dls_shape_kind kind, const char *key) {
    if ((unsigned)kind >= DLS_SHAPE_KINDS || !key) return false;
    for (int i = 0; i < dls_group_shape.key_count; i++) {
        const dls_key *of = &dls_group_shape.keys[i];
        if (!strcmp(of->field.key, key)) return !of->kinds || of->kinds & dls_shape_table[kind].needs;
    }
    return false;
}

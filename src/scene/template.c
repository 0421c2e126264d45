#include "scene/template.h"

#include <delassus/scene.h>

#include <stddef.h>

int dls_scene_template_count(void) { return dls_template_count; }

static const dls_template *at(int index) {
    return index >= 0 && index < dls_template_count ? &dls_templates[index] : NULL;
}

const char *dls_scene_template_name(int index) { return at(index) ? at(index)->name : NULL; }
const char *dls_scene_template_summary(int index) { return at(index) ? at(index)->summary : NULL; }
const char *dls_scene_template_text(int index) { return at(index) ? (const char *)at(index)->text : NULL; }

/* Functions of users among those that push and drive bodies: where they are, and when they are asked. */
#include "base/error.h"
#include "world/function/function.h"
#include "world/parts.h"

#include <math.h>

dls_function *dls_told_at(const dls_body_told *told, int place) {
    if (place < 6) return place < 3 ? told->force[place] : told->torque[place - 3];
    if (place == DLS_TOLD_BELTS) return told->belts;
    const dls_drive *drive = &told->drive[(place - 6) / 3];
    dls_function *const of_drive[3] = {drive->position, drive->velocity, drive->force};
    return of_drive[place % 3];
}

const char *dls_told_noun(int place) {
    static const char *const of_drive[3] = {"position", "velocity", "force"};
    if (place == DLS_TOLD_BELTS) return "factor";
    return place < 6 ? place < 3 ? "force" : "torque" : of_drive[place % 3];
}

bool dls_told_has_callback(const dls_body_told *told) {
    bool found = false;
    for (int place = 0; place < DLS_TOLD_PLACES; place++)
        found |= dls_function_is_callback(dls_told_at(told, place));
    return found;
}

bool dls_callback_next(const dls_world *w, dls_callback_place *at) {
    for (; at->told < w->told_count; at->told++, at->place = -1) {
        const dls_body_told *told = w->entries[w->told_ids[at->told]].told;
        while (told->has_callback && ++at->place < DLS_TOLD_PLACES)
            if (dls_function_is_callback(dls_told_at(told, at->place))) return true;
    }
    return false;
}

static const char *freedom_of(int place) {
    return place == DLS_TOLD_BELTS ? "belts" : dls_freedom_name(place < 6 ? place : (place - 6) / 3);
}

static dls_status ask(const dls_world *w, dls_body_id id, int place, double t, dls_error *error) {
    char label[128];
    dls_function *f = dls_told_at(w->entries[id].told, place);
    bool answered = dls_function_ask(f, t);
    double value = dls_function_recall(f, t);
    if (answered && isfinite(value)) return DLS_OK;
    dls_body_label(w, id, label, sizeof label);
    const char *noun = dls_told_noun(place), *freedom = freedom_of(place);
    if (answered)
        return dls_fail(error, DLS_ERROR_NUMERIC,
                        "%s: callback gives %g as %s of the %s at t = %.12g, expected a finite number", label,
                        value, noun, freedom, t);
    return dls_fail(error, DLS_ERROR_NUMERIC, "%s: callback of the %s of the %s failed at t = %.12g", label,
                    noun, freedom, t);
}

/* A position is met at the end, a velocity taken in the middle; a servo also says how large forces are. */
dls_status dls_world_ask(const dls_world *w, const dls_asked_times *times, dls_error *error) {
    dls_callback_place at = dls_callback_first;
    dls_status status = DLS_OK;
    while (!status && dls_callback_next(w, &at)) {
        dls_body_id id = w->told_ids[at.told];
        if (w->entries[id].row < 0) continue;
        const double servo[2] = {times->middle, times->force[0]};
        bool driven = at.place >= 6;
        bool belts = at.place == DLS_TOLD_BELTS;
        const double *t = !driven             ? times->force
                          : belts             ? &times->middle
                          : at.place % 3 == 0 ? &times->end
                          : at.place % 3 == 1 ? &times->middle
                                              : servo;
        int count = !driven ? times->force_count : at.place % 3 == 2 && !belts ? 2 : 1;
        dls_function_forget(dls_told_at(w->entries[id].told, at.place));
        for (int k = 0; !status && k < count; k++) status = ask(w, id, at.place, t[k], error);
    }
    return status;
}

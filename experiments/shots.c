/* Pictures of cases: a run records its states at equal times, and what it recorded is drawn and removed. */
#include "cli/picture/shot.h"
#include "cli/support/report.h"
#include "experiments/case.h"

#include <unistd.h>

static const double width_inches = 2;

static void shot_name(const case_shots *shots, int number, const char *ending, char name[EXPERIMENT_NAME]) {
    snprintf(name, EXPERIMENT_NAME, "%s-%d%s", shots->name, number, ending);
}

static bool wanted(const experiment_run *run, const case_shots *shots) {
    return run && *run->folder && shots->name;
}

void case_shots_path(const experiment_run *run, const case_shots *shots, char path[PATH_MAX]) {
    char file[EXPERIMENT_NAME];
    *path = '\0';
    if (!wanted(run, shots)) return;
    snprintf(file, sizeof file, "%s.h5", shots->name);
    run_path(run, file, path);
}

/* ---- drawing ------------------------------------------------------------------------------------------- */

/* One frame as NAME-number.png; a crowd of vectors would be ten times as large. */
static bool draw(experiment_run *run, const case_shots *shots, picture_shot *s, const picture_frame *common,
                 int number) {
    char name[EXPERIMENT_NAME], path[PATH_MAX], message[512];
    shot_name(shots, number, "", name);
    run_path(run, name, path);
    s->picture.frame = common;
    if (!picture_write(&s->picture, path, message, sizeof message)) {
        report_error("%s: %s", path, message);
        return false;
    }
    shot_name(shots, number, ".svg", name);
    run_path(run, name, path);
    unlink(path);
    shot_name(shots, number, ".png", name);
    run_file_add(run, name);
    return true;
}

/* Every frame but the start: first how far all of them reach, then their pictures. */
static bool draw_all(experiment_run *run, const case_shots *shots, dls_results *results) {
    const int frames = dls_results_frame_count(results);
    picture_frame common = picture_frame_none();
    bool good = true;
    for (int pass = 0; pass < 2; pass++)
        for (int frame = 1; frame < frames && good; frame++) {
            picture_shot s;
            good = picture_shot_read(&s, results, frame, shots->view, false, width_inches);
            if (good && pass == 0) picture_frame_enclose(&common, &s.picture);
            if (good && pass == 1) good = draw(run, shots, &s, &common, frame);
            picture_shot_free(&s);
        }
    return good;
}

static void remove_results(const char *results) {
    static const char *const endings[] = {"", ".checkpoint", ".xdmf"};
    char path[PATH_MAX];
    for (int i = 0; i < 3; i++)
        if (snprintf(path, sizeof path, "%s%s", results, endings[i]) < PATH_MAX) unlink(path);
}

bool case_shots_draw(experiment_run *run, const case_shots *shots, const char *results) {
    if (!wanted(run, shots)) return true;
    dls_results *opened = NULL;
    dls_error error;
    bool good = !dls_results_open(results, &opened, &error);
    if (!good) report_error("reproduce: %s", error.message);
    good = good && draw_all(run, shots, opened);
    dls_results_destroy(opened);
    remove_results(results);
    return good;
}

bool case_shots_recall(experiment_run *run, const case_shots *shots) {
    char name[EXPERIMENT_NAME], path[PATH_MAX];
    if (!wanted(run, shots)) return true;
    for (int number = 1;; number++) {
        shot_name(shots, number, ".png", name);
        run_path(run, name, path);
        if (access(path, R_OK) != 0) return number > 1;
        run_file_add(run, name);
    }
}

/* A run as one page that shows it: the bodies, what happened, and the viewer that draws them. */
#ifndef CLI_VIEW_VIEW_H
#define CLI_VIEW_VIEW_H

#include "cli/view/bytes.h"

#include <delassus/output.h>

typedef enum view_solid { VIEW_RIGID = 0, VIEW_LINE, VIEW_SKIN, VIEW_AFFINE, VIEW_SOLIDS } view_solid;

/* What a page needs of a body to pack its motion. */
typedef struct view_body {
    bool moves;       /* it is dynamic */
    bool is_ball;     /* one ball about its mass centre */
    double reach;     /* m: no point of it is farther from the mass centre at rest; 0 without shapes */
    double mass;      /* kg; 0 where it is not dynamic */
    view_solid solid; /* how it deforms, and which of the run's points are its own */
    int first_point, point_count;
    dls_pose *stand; /* of a line: of each shape, in the frame of the place that it stands at */
} view_body;

/* A shape on a line: the place that moves it is packed like a body, behind the bodies. */
typedef struct view_stand {
    int body;
    double at;
} view_stand;

typedef struct view_box {
    double low[3], high[3]; /* m; high below low: empty */
} view_box;

/* A frame of the results, and the step that ended at it. */
typedef struct view_frame {
    double time, length; /* s; of the step, 0 where there was none */
    int64_t step;
    bool is_certified;
    double residual, held, penetration;
    int iterations, contacts;
    double wall_force; /* N: of all contacts together on what does not move freely */
    view_box moving;   /* about bodies that do */
} view_frame;

/* Frames that follow each other, packed: the first stands alone, others say what changed. */
typedef struct view_block {
    int first, count;           /* of the page's frames */
    int planes, point_planes;   /* bytes of a coordinate of bodies, of points of those that deform */
    double top_speed, top_spin; /* m/s, rad/s */
    double top_energy;          /* J: ½ m v² */
    double top_stress;          /* Pa */
    double top_force;           /* N: the largest normal force of a contact in it */
    int64_t contacts, left_out; /* that carried a force; those that were too weak for the room there was */
    view_bytes states, points, chains, joints;
} view_block;

typedef struct view_run {
    dls_results *results;
    int body_count, joint_count;
    view_body *bodies;
    int point_count;    /* of bodies that deform */
    view_stand *stands; /* by body, then by shape */
    int stand_count;
    int result_frames;  /* that the results hold */
    int stride, frames; /* every stride-th of them is in the page, frames in all */
    view_frame *frame;  /* of the results, all of them */
    double quantum;     /* m: places are multiples of it */
    double smallest;    /* m: the radius of the smallest body that moves */
    bool is_planar;
    view_box seen;  /* what the page shows at first */
    int64_t beyond; /* states that lie too far away to be told, and stand at the edge */
    double room;    /* bytes per body and frame that chains may take */
    view_bytes history;
    int history_rows;
    int64_t history_steps; /* that a row stands for */
    int64_t steps, uncertified;
    view_block *block;
    int block_count;
} view_run;

/* What a frame holds of bodies that deform, and the states of all. */
typedef struct view_solids {
    int node_count, gradient_count;
    dls_node_record *node;
    dls_gradient_record *gradient;
    dls_body_state *state;
} view_solids;

enum { VIEW_JOINT_CHANNELS = 9, VIEW_HISTORY_COLUMNS = 12 };

/* Each is false after a line on stderr. */
bool view_run_begin(view_run *run, dls_results *results);
void view_run_end(view_run *run);
/* Packs all frames, and fewer of them, or weaker contacts less, where they take more letters than limit. */
bool view_run_pack(view_run *run, size_t limit);
/* No point of the shape lies farther from its origin; in `inner` half of its least extent. */
double view_shape_reach(const dls_shape_def *shape, double *inner);
view_box view_box_none(void);
void view_box_enclose(const view_run *run, view_box *box, int id, const dls_body_state *state);
bool view_box_find(view_run *run);     /* seen, after all frames are packed */
bool view_history_read(view_run *run); /* fills frame as well */
bool view_solids_find(view_run *run);  /* how bodies deform, after the rest of them is known */
/* Places of stands in a frame of the results, from states of bodies to those behind them. */
bool view_stands_take(const view_run *run, int shown, dls_body_state *states, bool *present);
bool view_states_pack(view_run *run, view_block *block);
bool view_solids_pack(view_run *run, view_block *block);
bool view_chains_pack(view_run *run, view_block *block);
bool view_joints_pack(view_run *run, view_block *block);

int view_result_frame(const view_run *run, int frame); /* which of the results' frames it is */

void view_scene_write(const view_run *run, FILE *stream); /* JSON: all but the packed blocks */
void view_page_write(const view_run *run, FILE *stream);

#endif

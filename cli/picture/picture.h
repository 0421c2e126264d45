/* A frame of a run as a picture: bodies where they are, coloured by speed, joints and force chains over them.
 */
#ifndef CLI_PICTURE_PICTURE_H
#define CLI_PICTURE_PICTURE_H

#include <delassus/run.h>

/* Where the eye is: right and up are unit vectors of the page, toward points at the eye. */
typedef struct picture_view {
    double right[3], up[3], toward[3];
} picture_view;

/* What pictures of one film share: how far they reach on the page, and where their scales end. */
typedef struct picture_frame {
    double low[2], high[2]; /* m */
    double top_speed, top_force;
} picture_frame;

/* What the page shows of all that is there; obstacles around it are cut off by its border. */
typedef struct picture_focus {
    const char *bodies;  /* those whose name begins so; NULL: all */
    bool has_region;     /* this box of the world, in its place */
    double region[3][2]; /* m */
    double zoom;         /* times as large about the middle */
} picture_focus;

typedef struct picture {
    int dimension, body_count;
    const dls_results *results; /* for the shapes */
    const dls_body_state *states;
    const bool *present;
    int contact_count;
    const dls_contact_record *contacts; /* force chains; 0 for none */
    int joint_count;
    const dls_joint_id *joints; /* that are drawn; their bodies are present */
    int node_count;
    const dls_node_record *nodes; /* of bodies that deform, as results have them */
    int gradient_count;
    const dls_gradient_record *gradients; /* of those that deform alike everywhere */
    double time;
    const char *title;
    picture_view view;
    double width_inches;
    picture_focus focus;
    const picture_frame *frame; /* NULL: its own */
} picture;

/* False when there is no such view: front, side, top, iso. */
bool picture_view_find(const char *name, picture_view *view);
/* A frame that holds nothing yet, and one that grows to hold a picture too. */
picture_frame picture_frame_none(void);
void picture_frame_enclose(picture_frame *frame, const picture *p);
/* Writes PATH.svg and PATH.png; on failure fills the message and returns false. */
bool picture_write(const picture *p, const char *path_without_extension, char *message, size_t message_size);

#endif

/* Inside of the picture: what the shapes of a frame look like from the eye. Lengths in metres on the page
 * plane. */
#ifndef CLI_PICTURE_ITEMS_H
#define CLI_PICTURE_ITEMS_H

#include "cli/picture/picture.h"

typedef enum item_kind {
    ITEM_DISC,  /* centre and radius: discs and spheres */
    ITEM_FACE,  /* a filled polygon */
    ITEM_LINES, /* pairs of points: edges of walls and hollow shapes */
    ITEM_RING,  /* a circle that is not filled: a drum */
    ITEM_CROSS, /* the mass centre of a body without shapes */
    ITEM_BAR,   /* two points: from there to a joint of it; many: a body that deforms */
    ITEM_STAY   /* the same of a body with shapes, behind all: seen where the joint lies outside of them */
} item_kind;

typedef struct picture_item {
    item_kind kind;
    double x, y, depth, radius;
    double spoke[2];  /* direction of a mark on a planar disc that shows how it turns; 0 for none */
    int first, count; /* points, two numbers each */
    double shade;     /* 0 dark … 1 bright */
    int body;
    bool wall;
} picture_item;

/* A joint as it is seen; what is drawn of it does not grow with the page. */
typedef struct picture_joint {
    dls_joint_kind kind;
    bool rope, sprung;  /* sprung: a freedom has a spring or a damper */
    double place[2][2]; /* origins of the frames of A and B */
    double axis[3][2];  /* of A's frame */
} picture_joint;

typedef struct picture_items {
    picture_item *item;
    int count;
    picture_joint *joint;
    int joint_count;
    double *point;
    int point_count;
    bool moving;                          /* what is being added */
    bool hollow;                          /* and has room inside of its outline */
    double low[2], high[2];               /* of what is shown */
    double solid_low[2], solid_high[2];   /* of what is not hollow */
    double moving_low[2], moving_high[2]; /* of bodies that move freely */
} picture_items;

void picture_items_gather(const picture *p, picture_items *items);
void picture_items_free(picture_items *items);

/* Page coordinates of a place; depth grows toward the eye. */
void picture_project(const picture_view *view, const double *x, double *page, double *depth);

#endif

/* A frame as it is read, with the memory that its picture points to. */
#ifndef CLI_PICTURE_SHOT_H
#define CLI_PICTURE_SHOT_H

#include "cli/picture/picture.h"

typedef struct picture_shot {
    dls_body_state *states;
    bool *present;
    dls_contact_record *contacts;
    dls_joint_id *joints;
    dls_node_record *nodes;
    dls_gradient_record *gradients;
    picture picture;
} picture_shot;

/* False after a line on stderr; to be freed in any case. The view is one that there is. */
bool picture_shot_read(picture_shot *shot, dls_results *results, int frame, const char *view, bool forces,
                       double width_inches);
void picture_shot_free(picture_shot *shot);

#endif

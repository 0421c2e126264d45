#include "collide/collide.h"

const dls_pair_family dls_pairs_cylinder = {NULL, 0};

#include "collide/collide.h"

const dls_pair_family dls_pairs_mesh = {NULL, 0};

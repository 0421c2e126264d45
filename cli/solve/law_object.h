/* Laws of users from shared objects: `solve` and `compare` know them by name like those that are built in. */
#ifndef CLI_SOLVE_LAW_OBJECT_H
#define CLI_SOLVE_LAW_OBJECT_H

#include "cli/support/arguments.h"

/* Each object has `const dls_law *delassus_law(size_t row_size, int index)`: its index-th row, NULL behind
 * the last and where row_size is not the size of dls_law that it was compiled with. False after one line on
 * stderr. Objects stay loaded to the end of the program. */
bool law_objects_load(const text_list *paths);

#endif

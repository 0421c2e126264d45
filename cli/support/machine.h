/* The machine that measured, for the record. */
#ifndef CLI_SUPPORT_MACHINE_H
#define CLI_SUPPORT_MACHINE_H

#include "cli/support/json.h"

/* What the program was made of (cmake/Origin.cmake): a digest of the sources of library, experiments and
 * scenes, and the commit, "unknown" outside of a repository. */
extern const char origin_digest[], origin_commit[];

/* An object: processor, cores, system. */
void machine_to_json(json *j);

#endif

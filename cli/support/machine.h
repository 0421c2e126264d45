/* The machine that measured, for the record. */
#ifndef CLI_SUPPORT_MACHINE_H
#define CLI_SUPPORT_MACHINE_H

#include "cli/support/json.h"

/* An object: processor, cores, system. */
void machine_to_json(json *j);

#endif

/* The machine that measured, for the record. */
#ifndef DELASSUS_CLI_MACHINE_H
#define DELASSUS_CLI_MACHINE_H

#include "json.h"

/* An object: processor, cores, system. */
void machine_to_json(json *j);

#endif

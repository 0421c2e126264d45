/* Ctrl-C, SIGTERM or a closed terminal ask once, politely: work ends at the next good moment. A second time
 * ends the program. */
#ifndef DELASSUS_CLI_INTERRUPT_H
#define DELASSUS_CLI_INTERRUPT_H

#include <stdbool.h>

void interrupt_watch(void);
bool interrupt_seen(void);

#endif

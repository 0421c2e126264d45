/* Ctrl-C, SIGTERM or a closed terminal ask once, politely: work ends at the next good moment. A second time
 * ends the program. */
#ifndef CLI_SUPPORT_INTERRUPT_H
#define CLI_SUPPORT_INTERRUPT_H

#include <stdbool.h>

void interrupt_watch(void);
bool interrupt_seen(void);

#endif

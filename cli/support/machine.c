/* Read from the system, never from the user. */
#include "cli/support/machine.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* "model name : …" of the first processor; "unknown" where there is no such line. */
static void read_processor(char *name, size_t size) {
    char line[256];
    snprintf(name, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (file) fclose(file);
}

void machine_to_json(json *j) {
    char processor[256];
    struct utsname system;
    read_processor(processor, sizeof processor);
    json_object_begin(j);
    json_member_text(j, "processor", processor);
    json_member_integer(j, "cores", sysconf(_SC_NPROCESSORS_ONLN));
    if (uname(&system) == 0) {
        json_member_text(j, "system", system.sysname);
        json_member_text(j, "release", system.release);
        json_member_text(j, "architecture", system.machine);
    }
    json_member_text(j, "compiler", __VERSION__);
    json_object_end(j);
}

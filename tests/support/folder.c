/* tests/run gives every test program an empty folder to write in; started by hand it makes one of its own, so
 * that nothing is left in the folder where it was started. */
#define _XOPEN_SOURCE 700 /* nftw */
#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char made[4096];
static pid_t owner; /* a child that exits must not remove it */

static int is_empty(const char *path) {
    int entries = 0;
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        entries += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    if (folder) closedir(folder);
    return entries == 0;
}

static int remove_entry(const char *path, const struct stat *facts, int kind, struct FTW *place) {
    (void)facts, (void)kind, (void)place;
    return remove(path);
}

__attribute__((constructor)) static void enter(void) {
    const char *temporary = getenv("TMPDIR");
    if (is_empty(".")) return;
    snprintf(made, sizeof made, "%s/delassus-test-XXXXXX", temporary && *temporary ? temporary : P_tmpdir);
    owner = getpid();
    if (!mkdtemp(made) || chdir(made)) {
        perror(made);
        exit(1);
    }
}

__attribute__((destructor)) static void leave(void) {
    if (*made && getpid() == owner && !chdir("/")) nftw(made, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Feeds the files of a corpus to a fuzz target without a fuzzer, so that what was once found stays found. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Replays one regular file; returns how many inputs that was. */
static int replay_file(const char *path) {
    struct stat status;
    if (stat(path, &status) || !S_ISREG(status.st_mode)) return 0;
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    size_t size = (size_t)status.st_size;
    uint8_t *data = malloc(size ? size : 1); /* no slack: a sanitizer sees any read past the end */
    bool whole = data && fread(data, 1, size, file) == size;
    if (whole) {
        fprintf(stderr, "replaying %s\n", path);
        LLVMFuzzerTestOneInput(data, size);
    }
    free(data);
    fclose(file);
    return whole;
}

int main(int argc, char **argv) {
    int count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (!folder) continue;
        for (struct dirent *entry; (entry = readdir(folder));) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            count += replay_file(path);
        }
        closedir(folder);
    }
    printf("1..1\n%sok 1 - %d inputs replayed\n", count ? "" : "not ", count);
    return count ? 0 : 1;
}

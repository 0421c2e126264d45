#include "output/export/text.h"

#include "base/error.h"
#include "base/memory.h"
#include "output/results/results.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

dls_text *dls_text_open(const char *path, dls_error *error) {
    dls_text *text = DLS_NEW(dls_text, 1);
    if (!text) {
        dls_fail_memory(error);
        return NULL;
    }
    text->used = 0;
    text->status = DLS_OK;
    if (dls_aside_open(&text->aside, path, error)) {
        dls_free(text);
        return NULL;
    }
    text->aside.is_quick = true;
    return text;
}

static void flush(dls_text *text) {
    if (!text->status) text->status = dls_aside_write(&text->aside, text->buffer, text->used);
    text->used = 0;
}

dls_status dls_text_close(dls_text *text) {
    flush(text);
    dls_status status = text->status;
    if (status)
        dls_aside_abandon(&text->aside);
    else
        status = dls_aside_commit(&text->aside);
    dls_free(text);
    return status;
}

void dls_text_put(dls_text *text, const void *bytes, size_t size) {
    if (size > DLS_TEXT_ROOM - text->used) flush(text);
    if (size > DLS_TEXT_ROOM) {
        if (!text->status) text->status = dls_aside_write(&text->aside, bytes, size);
        return;
    }
    memcpy(text->buffer + text->used, bytes, size);
    text->used += size;
}

void dls_text_print(dls_text *text, const char *format, ...) {
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length > 0) dls_text_put(text, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

void dls_text_print_xml(dls_text *text, const char *words) {
    for (; *words; words++) {
        const char *name = *words == '&'   ? "&amp;"
                           : *words == '<' ? "&lt;"
                           : *words == '>' ? "&gt;"
                           : *words == '"' ? "&quot;"
                                           : NULL;
        bool is_forbidden = (unsigned char)*words < ' ' && !strchr("\t\n\r", *words);
        if (name)
            dls_text_put(text, name, strlen(name));
        else
            dls_text_put(text, is_forbidden ? "?" : words, 1);
    }
}

void dls_text_print_csv(dls_text *text, const char *words) {
    bool is_quoted = strpbrk(words, ",\"\n\r") || *words == ' ' || *words == '=';
    if (!is_quoted) {
        dls_text_put(text, words, strlen(words));
        return;
    }
    dls_text_put(text, "\"", 1);
    for (; *words; words++) {
        if (*words == '"') dls_text_put(text, "\"", 1);
        dls_text_put(text, words, 1);
    }
    dls_text_put(text, "\"", 1);
}

char *dls_path_join(const char *folder, const char *name) {
    size_t length = strlen(folder), room = length + strlen(name) + 2;
    char *path = DLS_NEW(char, room);
    if (path) snprintf(path, room, "%s%s%s", folder, length && folder[length - 1] != '/' ? "/" : "", name);
    return path;
}

/* Makes it and those above it. */
dls_status dls_output_folder(const char *folder, dls_error *error) {
    char *path = dls_alloc_copy(folder, strlen(folder) + 1, 1);
    if (!path) return dls_fail_memory(error);
    struct stat about;
    int number = 0;
    for (char *at = path + 1; *path && !number; at++) {
        if (*at != '/' && *at) continue;
        char end = *at;
        *at = '\0';
        if (mkdir(path, 0777) && errno != EEXIST) number = errno;
        *at = end;
        if (!end) break;
    }
    if (!number && stat(path, &about)) number = errno;
    if (!number && !S_ISDIR(about.st_mode)) number = ENOTDIR;
    dls_free(path);
    if (!number) return DLS_OK;
    return dls_fail(error, DLS_ERROR_FILE, "%s: cannot be written to: %s", dls_file_name_of(folder).text,
                    strerror(number));
}

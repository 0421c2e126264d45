#include "base/text.h"

#include "base/hash.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- "did you mean": the known name nearest to one that nobody knows ---- */

enum { LONGEST = 63 }; /* letters of a known name that count */

static int least(int a, int b) { return a < b ? a : b; }

static bool same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

/* d(i, j) = least of d(i−1, j) + 1, d(i, j−1) + 1, d(i−1, j−1) + [a_i ≠ b_j], and d(i−2, j−2) + 1 where two
 * letters changed places; three rows of it are kept. */
int dls_text_distance(const char *a, const char *b) {
    int rows[3][LONGEST + 1], n = least((int)strlen(b), LONGEST);
    int *row = rows[0], *above = rows[1], *higher = rows[2];
    for (int j = 0; j <= n; j++) row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int *free_row = higher;
        higher = above;
        above = row;
        row = free_row;
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = least(row[j], higher[j - 2] + 1);
        }
    }
    return row[n];
}

/* An edit for every three letters, and one in two letters. */
static bool is_near(int distance, size_t wanted, size_t candidate) {
    int longer = (int)(wanted > candidate ? wanted : candidate);
    int shorter = (int)(wanted > candidate ? candidate : wanted);
    return distance < shorter && distance <= (longer < 6 ? 1 : longer / 3);
}

dls_nearest dls_nearest_begin(const char *wanted) { return (dls_nearest){wanted, NULL, 1 << 20}; }

void dls_nearest_offer(dls_nearest *nearest, const char *candidate) {
    size_t wanted = strlen(nearest->wanted), size = strlen(candidate);
    bool begins = wanted >= 2 && wanted < size && !strncmp(candidate, nearest->wanted, wanted);
    size_t least_edits = wanted > size ? wanted - size : size - wanted;
    if (!begins && (least_edits > INT_MAX || !is_near((int)least_edits, wanted, size))) return;
    int distance = begins ? 1 : dls_text_distance(nearest->wanted, candidate);
    if (distance >= nearest->distance || !(begins || is_near(distance, wanted, size))) return;
    nearest->distance = distance;
    nearest->best = candidate;
}

const char *dls_nearest_hint(const dls_nearest *nearest, char *text, size_t size) {
    *text = '\0';
    if (nearest->best) snprintf(text, size, ", did you mean '%.60s'?", nearest->best);
    return text;
}

/* ---- characters ---- */

size_t dls_utf8_length(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) return s[0] != 0;
    size_t length = s[0] >= 0xC2 && s[0] < 0xE0   ? 2
                    : (s[0] & 0xF0) == 0xE0       ? 3
                    : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                                  : 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    bool is_overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool is_surrogate = s[0] == 0xED && s[1] >= 0xA0;
    bool is_beyond = s[0] == 0xF4 && s[1] >= 0x90;
    return is_overlong || is_surrogate || is_beyond ? 0 : length;
}

void dls_put_xml(FILE *stream, const char *text) {
    while (*text) {
        size_t length = dls_utf8_length(text);
        const char *name = *text == '&'   ? "&amp;"
                           : *text == '<' ? "&lt;"
                           : *text == '>' ? "&gt;"
                           : *text == '"' ? "&quot;"
                                          : NULL;
        if (name)
            fputs(name, stream);
        else if (length == 0 || ((unsigned char)*text < ' ' && !strchr("\t\n\r", *text)))
            fputc('?', stream);
        else
            fwrite(text, 1, length, stream);
        text += length ? length : 1;
    }
}

/* Spreadsheets take what begins with '=' for a formula unless it is quoted. */
void dls_put_csv(FILE *stream, const char *text) {
    bool is_quoted = strpbrk(text, ",\"\n\r") || *text == ' ' || *text == '=';
    if (is_quoted) fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"') fputc('"', stream);
        fputc(*text, stream);
    }
    if (is_quoted) fputc('"', stream);
}

uint64_t dls_hash_text(const char *text) {
    uint64_t hash = DLS_HASH_BEGIN;
    for (; *text; text++) hash = dls_hash_word(hash, (unsigned char)*text);
    return hash;
}

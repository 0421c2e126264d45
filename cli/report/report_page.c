#include "cli/report/report_page.h"

#include "cli/support/report.h"
#include "cli/view/bytes.h"

#include <stdlib.h>
#include <string.h>

static const char STYLE[] =
    "body{font:15px/1.45 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#1b1f24;"
    "background:#fff}h1,h2,h3{line-height:1.2}table{border-collapse:collapse;font-size:13px;margin:0 0 1em;"
    "display:block;overflow-x:auto}th,td{border-bottom:1px solid #d5dae0;padding:2px 8px;text-align:left}"
    "td.number{text-align:right;font-variant-numeric:tabular-nums}caption{text-align:left;font-weight:bold;"
    "padding:4px 0}figure{margin:0 0 1em;break-inside:avoid}figcaption{font-size:13px;color:#68707a}"
    "img{max-width:100%}@media print{body{margin:0;max-width:none;font-size:11px}h2{break-after:avoid}"
    "tr{break-inside:avoid}}@page{margin:18mm}";

void report_page_begin(FILE *stream, const char *title) {
    fprintf(stream,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
            "style-src 'unsafe-inline'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>%s</style>\n"
            "<title>",
            STYLE);
    dls_put_xml(stream, title);
    fputs("</title>\n</head>\n<body>\n", stream);
    report_heading(stream, 1, title);
}

void report_page_end(FILE *stream) {
    fprintf(stream, "<p>Made by delassus %s.</p>\n</body>\n</html>\n", dls_version());
}

void report_heading(FILE *stream, int level, const char *text) {
    fprintf(stream, "<h%d>", level);
    dls_put_xml(stream, text);
    fprintf(stream, "</h%d>\n", level);
}

/* ---- files ---- */

/* The bytes of a file with a zero behind them; NULL after a line on stderr. */
static char *read_whole(const char *path, size_t *size) {
    FILE *file;
    dls_error error;
    view_bytes bytes = {0};
    if (dls_file_open(path, "a file of a report", &file, &error)) {
        report_error("report: %s", error.message);
        return NULL;
    }
    for (size_t read = 1; read > 0;) {
        char part[4096];
        read = fread(part, 1, sizeof part, file);
        memcpy(bytes_extend(&bytes, read), part, read);
    }
    fclose(file);
    *size = bytes.count;
    bytes_put(&bytes, 0);
    return (char *)bytes.data;
}

bool report_add_figure(FILE *stream, const char *path, const char *name) {
    size_t size;
    char *text = read_whole(path, &size);
    if (!text) return false;
    fputs("<figure><img alt=\"", stream);
    dls_put_xml(stream, name);
    fputs("\" src=\"data:image/svg+xml;base64,", stream);
    bytes_write_base64(&(view_bytes){(uint8_t *)text, size, size}, stream);
    fputs("\"><figcaption>", stream);
    dls_put_xml(stream, name);
    fputs("</figcaption></figure>\n", stream);
    free(text);
    return true;
}

/* ---- tables ---- */

enum { MOST_ROWS = 200 };

/* Cuts the next cell out of a row, quotes taken off; *ends says whether the row ends behind it. NULL behind
 * the last. */
static char *next_cell(char **rest, bool *ends) {
    char *cell = *rest, *to = cell, *from = cell;
    bool quoted = *from == '"';
    if (!*from) return NULL;
    if (quoted) from++;
    while (*from && (quoted || (*from != ',' && *from != '\n'))) {
        if (quoted && *from == '"') {
            if (from[1] == '"')
                from++;
            else
                quoted = false;
            if (!quoted) {
                from++;
                continue;
            }
        }
        if (*from != '\r' || from[1] != '\n') *to++ = *from;
        from++;
    }
    *ends = *from != ',';
    *rest = *from ? from + 1 : from;
    *to = 0;
    return cell;
}

/* Numbers have five digits here: the file has them all. */
static void put_cell(FILE *stream, const char *cell, bool is_head) {
    char *end;
    double value = strtod(cell, &end);
    bool is_number = *cell && !*end && !is_head;
    fputs(is_head ? "<th>" : is_number ? "<td class=\"number\">" : "<td>", stream);
    if (is_number)
        fprintf(stream, "%.5g", value);
    else
        dls_put_xml(stream, cell);
    fputs(is_head ? "</th>" : "</td>", stream);
}

bool report_add_table(FILE *stream, const char *path, const char *name) {
    size_t size;
    char *text = read_whole(path, &size), *rest = text, *cell;
    int64_t rows = 0;
    bool ends = true;
    if (!text) return false;
    fputs("<table><caption>", stream);
    dls_put_xml(stream, name);
    fputs("</caption>\n", stream);
    while ((cell = next_cell(&rest, &ends))) {
        fputs(rows <= MOST_ROWS ? "<tr>" : "", stream);
        for (;;) {
            if (rows <= MOST_ROWS) put_cell(stream, cell, rows == 0);
            if (ends || !(cell = next_cell(&rest, &ends))) break;
        }
        fputs(rows <= MOST_ROWS ? "</tr>\n" : "", stream);
        rows++;
    }
    fputs("</table>\n", stream);
    if (rows > MOST_ROWS + 1) fprintf(stream, "<p>%lld more rows.</p>\n", (long long)(rows - MOST_ROWS - 1));
    free(text);
    return true;
}

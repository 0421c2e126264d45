/* The page: the viewer's own text around what was packed. Names and titles are never part of the markup but
 * of the packed JSON, except the page's title, which is escaped. */
#include "cli/support/report.h"
#include "cli/view/template.h"
#include "cli/view/view.h"

#include <stdlib.h>

static void put_data(FILE *stream, const char *name, int number, const view_bytes *bytes) {
    fprintf(stream, "<script type=\"text/plain\" id=\"%s%d\">", name, number);
    bytes_write_base64(bytes, stream);
    fputs("</script>\n", stream);
}

static view_bytes packed_scene(const view_run *run) {
    char *text = NULL;
    size_t size = 0;
    view_bytes bytes = {0};
    FILE *stream = open_memstream(&text, &size);
    if (stream) {
        view_scene_write(run, stream);
        fclose(stream);
        bytes = (view_bytes){(uint8_t *)text, size, size};
    }
    bytes_deflate(&bytes);
    return bytes;
}

void view_page_write(const view_run *run, FILE *stream) {
    const char *title = dls_results_title(run->results);
    view_bytes scene = packed_scene(run);
    fputs((const char *)view_template_head, stream);
    dls_put_xml(stream, *title ? title : "A run of delassus");
    fputs((const char *)view_template_body, stream);
    put_data(stream, "scene", 0, &scene);
    put_data(stream, "history", 0, &run->history);
    for (int k = 0; k < run->block_count; k++) {
        put_data(stream, "states", k, &run->block[k].states);
        put_data(stream, "points", k, &run->block[k].points);
        put_data(stream, "chains", k, &run->block[k].chains);
        put_data(stream, "joints", k, &run->block[k].joints);
    }
    fputs((const char *)view_template_script, stream);
    bytes_free(&scene);
}

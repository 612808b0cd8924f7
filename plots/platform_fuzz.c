/* Fuzz target that takes any bytes as the files of a folder that kvcast plot draws as a platform and as a
 * pipeline: platform.xml, a line "---", and result.json. Files that are refused have one message. What dot
 * gets of others has whole strings, so that no text of the files can be a part of the graph. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plots/pipeline.h"
#include "plots/platform.h"
#include "sim/base/text/refusal_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static char folder[64];

static const char *path_of(const char *name)
{
    static char path[96];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void remove_folder(void)
{
    unlink(path_of("platform.xml"));
    unlink(path_of("result.json"));
    rmdir(folder);
}

static void write_file(const char *name, const uint8_t *data, size_t bytes)
{
    FILE *file = fopen(path_of(name), "wb");
    kvc_fuzz_check(file != NULL && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

/* The title is HTML, which has no strings of dot. */
static void check_graph(const char *text)
{
    const char *html = strstr(text, "label=<");
    kvc_fuzz_check(html != NULL);
    const char *end = strstr(html, ">];\n");
    kvc_fuzz_check(end != NULL);
    bool quoted = false;
    for (const char *at = end; *at != '\0'; at++) {
        if (quoted && *at == '\\') {
            at++;
            kvc_fuzz_check(*at != '\0');
        } else if (*at == '"') {
            quoted = !quoted;
        }
        kvc_fuzz_check(*at == '\n' ? !quoted : (unsigned char)*at >= ' ');
    }
    kvc_fuzz_check(!quoted);
}

/* Texts of the pipeline stand between tags only, without tags of their own. */
static void check_pipeline(bool wide)
{
    size_t size;
    char *text;
    int depth = 0;
    struct kvc_diag diag = {0};
    FILE *out = open_memstream(&text, &size);
    kvc_fuzz_check(out != NULL);
    enum kvc_status status = kvc_pipeline_extract(folder, wide, out, &diag);
    fclose(out);
    for (const char *at = text; *at != '\0' && status == KVC_OK; at++) {
        bool arrow = at > text && *at == '>' && at[-1] == '-';
        depth += *at == '<' ? 1 : *at == '>' && !arrow ? -1 : 0;
        kvc_fuzz_check(depth >= 0 && (*at == '\n' ? depth == 0 : (unsigned char)*at >= ' '));
    }
    kvc_fuzz_check(depth == 0);
    if (status != KVC_OK) {
        kvc_fuzz_check_refusal(status, &diag);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static bool is_ready;
    if (!is_ready) {
        snprintf(folder, sizeof(folder), "%s/kvcast-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        kvc_fuzz_check(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
        is_ready = true;
    }
    const uint8_t *line = memmem(data, bytes, "---\n", 4);
    size_t first = line != NULL ? (size_t)(line - data) : bytes, second = line != NULL ? first + 4 : bytes;
    write_file("platform.xml", data, first);
    write_file("result.json", data + second, bytes - second);

    struct kvc_picture picture;
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_picture_read(folder, &picture, &diag);
    if (status == KVC_OK) {
        size_t size;
        char *text;
        FILE *out = open_memstream(&text, &size);
        kvc_fuzz_check(out != NULL);
        kvc_picture_write(&picture, data[0] % 2 == 0, out);
        fclose(out);
        check_graph(text);
        free(text);
    } else {
        kvc_fuzz_check_refusal(status, &diag);
    }
    kvc_picture_free(&picture);
    check_pipeline(bytes % 2 == 0);
    return 0;
}

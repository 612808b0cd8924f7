#include "scenarios/cli/print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/files/partial_file.h"

enum { COLUMNS_MAX = 16 };

void kvc_grid_add(struct kvc_grid *grid, const char *text)
{
    grid->cell = kvc_array_grown(grid->cell, grid->count + 1, sizeof(*grid->cell));
    grid->cell[grid->count++] = kvc_array_of_text(text);
}

void kvc_grid_print(struct kvc_grid *grid, int indent, FILE *out)
{
    int width[COLUMNS_MAX] = {0};
    for (size_t i = 0; i < grid->count; i++) {
        int bytes = (int)strlen(grid->cell[i]);
        int *column = &width[i % grid->columns];
        *column = bytes > *column ? bytes : *column;
    }
    for (size_t i = 0; i < grid->count; i++) {
        size_t column = i % grid->columns;
        bool last = column + 1 == grid->columns;
        fprintf(out, "%*s%-*s%s", column == 0 ? indent : 2, "", last ? 0 : width[column], grid->cell[i],
                last ? "\n" : "");
        free(grid->cell[i]);
    }
    free(grid->cell);
    grid->cell = NULL;
    grid->count = 0;
}

int kvc_print_failure(const struct kvc_diag *diag)
{
    fputs("kvcast: ", stderr);
    kvc_diag_print(diag, stderr);
    fputc('\n', stderr);
    return diag->status;
}

static enum kvc_status put_json(const json_t *document, FILE *out, const char *name, struct kvc_diag *diag)
{
    if (json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) != 0 || fputc('\n', out) == EOF) {
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, name, 0, "cannot be written: %s", strerror(errno));
    }
    return KVC_OK;
}

static enum kvc_status write_json(const json_t *document, const char *destination, struct kvc_diag *diag)
{
    struct kvc_partial_file file = {0};
    if (strcmp(destination, "-") == 0) {
        return put_json(document, stdout, "stdout", diag);
    }
    enum kvc_status status = kvc_partial_file_open(&file, destination, diag);
    if (status == KVC_OK) {
        status = put_json(document, file.file, destination, diag);
    }
    if (status == KVC_OK) {
        status = kvc_partial_file_commit(&file, diag);
    }
    kvc_partial_file_discard(&file);
    return status;
}

int kvc_print_json(json_t *document, const char *destination)
{
    struct kvc_diag diag = {0};
    enum kvc_status status = write_json(document, destination, &diag);
    json_decref(document);
    return status == KVC_OK ? KVC_OK : kvc_print_failure(&diag);
}

void kvc_print_warning(const struct kvc_diag *diag)
{
    fputs("kvcast: warning: ", stderr);
    kvc_diag_print(diag, stderr);
    fputc('\n', stderr);
}

void kvc_print_warnings(const struct kvc_loaded *loaded)
{
    for (uint32_t i = 0; i < loaded->warning_count; i++) {
        fprintf(stderr, "kvcast: warning: %s\n", loaded->warning[i]);
    }
}

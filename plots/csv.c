#include "plots/csv.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 64 << 20 };

void kvc_csv_free(struct kvc_csv *csv)
{
    free(csv->cell);
    free(csv->text);
    *csv = (struct kvc_csv){0};
}

static enum kvc_status read_text(const char *path, char **text, struct kvc_diag *diag)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "cannot be read: %s", strerror(errno));
    }
    size_t room = 1 << 16, length = 0;
    *text = malloc(room);
    while (*text != NULL) {
        length += fread(*text + length, 1, room - length - 1, file);
        if (length < room - 1 || room > BYTES_MAX) {
            break;
        }
        char *more = realloc(*text, room *= 2);
        if (more == NULL) {
            free(*text);
        }
        *text = more;
    }
    bool failed = ferror(file) != 0;
    fclose(file);
    if (*text == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %s", path);
    }
    (*text)[length] = '\0';
    if (failed) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "cannot be read");
    }
    if (length >= BYTES_MAX) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "is too large for a picture");
    }
    return KVC_OK;
}

/* Cuts off one cell and steps to what follows it; *ends: the row ends here. Quotes are taken out in place. */
static char *next_cell(char **at, bool *ends)
{
    char *cell = *at, *to = *at, *from = *at;
    bool quoted = *from == '"';
    if (quoted) {
        from++;
    }
    while (*from != '\0') {
        if (quoted && *from == '"') {
            if (from[1] == '"') {
                from++;
            } else {
                quoted = false;
                from++;
                continue;
            }
        } else if (!quoted && (*from == ',' || *from == '\n')) {
            break;
        }
        if (quoted || *from != '\r') {
            *to++ = *from;
        }
        from++;
    }
    *ends = *from != ',';
    *at = *from != '\0' ? from + 1 : from;
    *to = '\0';
    return cell;
}

static enum kvc_status add_row(struct kvc_csv *csv, char **at, size_t *room, const char *path, int line,
                               struct kvc_diag *diag)
{
    size_t count = 0, first = csv->columns * (csv->columns > 0 ? csv->rows + 1 : 0);
    bool ends = false;
    while (!ends) {
        if (first + count == *room) {
            *room = *room == 0 ? 256 : 2 * *room;
            char **more = realloc(csv->cell, *room * sizeof(*more));
            if (more == NULL) {
                return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %s", path);
            }
            csv->cell = more;
        }
        csv->cell[first + count++] = next_cell(at, &ends);
    }
    if (csv->columns == 0) {
        csv->columns = count;
        return KVC_OK;
    }
    if (count != csv->columns) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, line, "%zu columns, the header has %zu", count,
                                csv->columns);
    }
    csv->rows++;
    return KVC_OK;
}

enum kvc_status kvc_csv_read(const char *path, struct kvc_csv *csv, struct kvc_diag *diag)
{
    size_t room = 0;
    *csv = (struct kvc_csv){0};
    enum kvc_status status = read_text(path, &csv->text, diag);
    char *at = csv->text;
    for (int line = 1; status == KVC_OK && *at != '\0'; line++) {
        if (*at == '\n') {
            at++;
        } else {
            status = add_row(csv, &at, &room, path, line, diag);
        }
    }
    if (status == KVC_OK && csv->rows == 0) {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "has no rows below its header");
    }
    if (status != KVC_OK) {
        kvc_csv_free(csv);
    }
    return status;
}

long kvc_csv_column(const struct kvc_csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->columns; i++) {
        if (strcmp(csv->cell[i], name) == 0) {
            return (long)i;
        }
    }
    return -1;
}

const char *kvc_csv_cell(const struct kvc_csv *csv, size_t row, size_t column)
{
    return csv->cell[(row + 1) * csv->columns + column];
}

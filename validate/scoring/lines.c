#include "validate/scoring/lines.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum kvc_status kvc_column_text(const char *text, char *to, size_t size, struct kvc_diag *diag)
{
    if (strlen(text) >= size) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found \"%.40s...\", allowed are %zu characters", text,
                             size - 1);
    }
    strcpy(to, text);
    return KVC_OK;
}

enum kvc_status kvc_column_number(const char *text, double *value, struct kvc_diag *diag)
{
    char *end;
    *value = NAN;
    if (*text == '\0') {
        return KVC_OK;
    }
    *value = strtod(text, &end);
    if (*end != '\0' || !isfinite(*value)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found \"%s\", expected a number", text);
    }
    return KVC_OK;
}

static int count_columns(const char *line)
{
    int count = 1;
    for (; *line != '\0'; line++) {
        count += *line == ',';
    }
    return count;
}

/* Splits at commas in place; a column beyond the last one that is expected is not cut off. */
static void split(char *line, int columns, char **column)
{
    int count = 0;
    column[count++] = line;
    for (char *c = line; *c != '\0' && count < columns; c++) {
        if (*c != ',') {
            continue;
        }
        *c = '\0';
        column[count++] = c + 1;
    }
}

static enum kvc_status take_line(const struct kvc_lines *lines, char *line, int number, struct kvc_diag *diag)
{
    char *column[KVC_COLUMNS_MAX];
    if (number == 1) {
        return strcmp(line, lines->header) == 0
                   ? KVC_OK
                   : kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found header \"%.60s\", expected \"%s\"", line,
                                   lines->header);
    }
    if (line[0] == '\0') {
        return KVC_OK;
    }
    int expected = count_columns(lines->header), found = count_columns(line);
    if (found < expected || (found > expected && !lines->last_may_have_commas)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found %d columns, expected %d", found, expected);
    }
    split(line, expected, column);
    return lines->take(lines->data, column, number, diag);
}

enum kvc_status kvc_lines_read(const char *path, const struct kvc_lines *lines, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    char *line = NULL;
    size_t room = 0;
    int number = 0;
    FILE *in = fopen(path, "re");
    if (in == NULL) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "cannot read: %s", strerror(errno));
    }
    while (status == KVC_OK && getline(&line, &room, in) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        status = take_line(lines, line, ++number, diag);
    }
    free(line);
    fclose(in);
    if (status == KVC_OK && number == 0) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "is empty, expected the header \"%s\"",
                                lines->header);
    }
    if (status != KVC_OK && diag != NULL) {
        snprintf(diag->file, sizeof(diag->file), "%s", path);
        diag->line = number;
    }
    return status;
}

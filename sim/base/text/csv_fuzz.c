/* Fuzz target that takes any bytes as a table of comma-separated values. The first byte selects the required
 * format of the table. A table that is accepted is whole, its lines are in order, its numbers are finite, and
 * written anew, with quotes around every cell, it reads back as the same cells. A table that is refused has a
 * message. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text/csv.h"
#include "sim/base/files/memory_file_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { LAST_HAS_COMMAS = 1, NEEDS_ROWS = 2, FIXED_HEADER = 4 };

static void check(bool right)
{
    if (!right) {
        abort();
    }
}

static void check_cells(const struct kvc_csv *csv)
{
    int line = 0;
    check(kvc_csv_column(csv, csv->cell[0]) == 0);
    for (size_t row = 0; row < csv->rows; row++) {
        check(kvc_csv_line(csv, row) > line);
        line = kvc_csv_line(csv, row);
        for (size_t column = 0; column < csv->columns; column++) {
            const char *cell = kvc_csv_cell(csv, row, column);
            struct kvc_diag diag = {0};
            char copy[8];
            double value;
            bool is_number = kvc_csv_number(cell, &value, &diag) == KVC_OK;
            check(is_number ? isfinite(value) || *cell == '\0' : diag.message[0] != '\0');
            check((kvc_csv_copy(cell, copy, sizeof(copy), &diag) == KVC_OK) == (strlen(cell) < sizeof(copy)));
        }
    }
}

/* Writes the table with quotes around every cell. Returns memory that the caller frees. */
static char *quoted(const struct kvc_csv *csv, size_t *bytes)
{
    char *text;
    FILE *out = open_memstream(&text, bytes);
    check(out != NULL);
    for (size_t i = 0; i < (csv->rows + 1) * csv->columns; i++) {
        putc('"', out);
        for (const char *at = csv->cell[i]; *at != '\0'; at++) {
            fputs(*at == '"' ? "\"\"" : (char[]){*at, '\0'}, out);
        }
        fputs((i + 1) % csv->columns == 0 ? "\"\n" : "\",", out);
    }
    fclose(out);
    return text;
}

static void check_written_anew(const struct kvc_csv *csv)
{
    size_t bytes;
    char *text = quoted(csv, &bytes);
    struct kvc_csv again;
    const struct kvc_csv_format any = {0};
    check(kvc_csv_read(kvc_memory_file((const uint8_t *)text, bytes), &any, &again, NULL) == KVC_OK);
    check(again.rows == csv->rows && again.columns == csv->columns);
    for (size_t i = 0; i < (csv->rows + 1) * csv->columns; i++) {
        check(strcmp(again.cell[i], csv->cell[i]) == 0);
    }
    kvc_csv_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    struct kvc_csv_format format = {.header = (data[0] & FIXED_HEADER) != 0 ? "id,value" : NULL,
                                    .last_has_commas = (data[0] & LAST_HAS_COMMAS) != 0,
                                    .needs_rows = (data[0] & NEEDS_ROWS) != 0};
    struct kvc_diag diag = {0};
    struct kvc_csv csv;
    const char *path = kvc_memory_file(data + 1, bytes - 1);
    if (kvc_csv_read(path, &format, &csv, &diag) != KVC_OK) {
        check(diag.status == KVC_ERR_SCENARIO && diag.message[0] != '\0' && strcmp(diag.file, path) == 0);
        check(csv.cell == NULL && csv.text == NULL);
        return 0;
    }
    check(!format.needs_rows || csv.rows > 0);
    if (csv.columns > 0) {
        check_cells(&csv);
        check_written_anew(&csv);
    }
    kvc_csv_free(&csv);
    return 0;
}

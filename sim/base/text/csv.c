#include "sim/base/text/csv.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { BYTES_MAX = 64 << 20, FIRST_ROOM = 1 << 16, FIRST_CELLS = 256 };

/* The state of a reader. */
struct reader {
    const char *path;
    const struct kvc_csv_format *format;
    struct kvc_csv *csv;
    size_t cell_room, line_room;
    char *at; /* The next character to read. */
    int line; /* Line number of `at`. */
    struct kvc_diag *diag;
};

void kvc_csv_free(struct kvc_csv *csv)
{
    free(csv->cell);
    free(csv->line);
    free(csv->text);
    *csv = (struct kvc_csv){0};
}

static enum kvc_status out_of_memory(const struct reader *reader)
{
    return kvc_diag_fail(reader->diag, KVC_ERR_RUNTIME, "no memory for %s", reader->path);
}

#define FAIL(reader, line, ...)                                                                              \
    kvc_diag_fail_at((reader)->diag, KVC_ERR_SCENARIO, (reader)->path, (line), __VA_ARGS__)

/* Reads the whole file into memory and adds a zero byte at the end. */
static enum kvc_status read_text(const struct reader *reader)
{
    FILE *file = fopen(reader->path, "re");
    if (file == NULL) {
        return FAIL(reader, 0, "cannot read: %s", strerror(errno));
    }
    size_t room = FIRST_ROOM, length = 0;
    char *text = malloc(room);
    while (text != NULL) {
        length += fread(text + length, 1, room - length - 1, file);
        if (length < room - 1 || room > BYTES_MAX) {
            break;
        }
        char *larger = realloc(text, room *= 2);
        if (larger == NULL) {
            free(text);
        }
        text = larger;
    }
    int error = ferror(file) != 0 ? errno : 0;
    fclose(file);
    if (text == NULL) {
        return out_of_memory(reader);
    }
    text[length] = '\0';
    reader->csv->text = text;
    if (error != 0) {
        return FAIL(reader, 0, "cannot read: %s", strerror(error));
    }
    if (length >= BYTES_MAX) {
        return FAIL(reader, 0, "is too large, at most %d MiB are allowed", BYTES_MAX >> 20);
    }
    return strlen(text) == length ? KVC_OK : FAIL(reader, 0, "contains a zero byte, expected text");
}

static bool at_line_end(const char *at)
{
    return *at == '\0' || *at == '\n' || (at[0] == '\r' && (at[1] == '\n' || at[1] == '\0'));
}

static void skip_line_end(struct reader *reader)
{
    reader->at += *reader->at == '\r';
    if (*reader->at == '\n') {
        reader->at++;
        reader->line++;
    }
}

/* Moves the text between two quotes to *to and steps past the closing quote. */
static enum kvc_status unquote(struct reader *reader, char **to)
{
    int first_line = reader->line;
    char *from = reader->at + 1;
    for (; *from != '"' || *++from == '"'; from++) {
        if (*from == '\0') {
            return FAIL(reader, first_line, "found a cell that begins with a quote, but no closing quote");
        }
        reader->line += *from == '\n';
        *(*to)++ = *from;
    }
    reader->at = from;
    return KVC_OK;
}

/* Cuts off the next cell and steps over the comma or line end after it. Quotes are removed in place. Text
 * between a closing quote and the next comma still belongs to the cell. */
static enum kvc_status cut_cell(struct reader *reader, bool takes_commas, char **cell, bool *row_ends)
{
    char *to = reader->at;
    *cell = to;
    if (*reader->at == '"') {
        enum kvc_status status = unquote(reader, &to);
        if (status != KVC_OK) {
            return status;
        }
    }
    while (!at_line_end(reader->at) && (takes_commas || *reader->at != ',')) {
        *to++ = *reader->at++;
    }
    *row_ends = *reader->at != ',';
    if (*row_ends) {
        skip_line_end(reader);
    } else {
        reader->at++;
    }
    *to = '\0';
    return KVC_OK;
}

static bool reserve_cell(struct reader *reader, size_t used)
{
    if (used < reader->cell_room) {
        return true;
    }
    size_t room = reader->cell_room > 0 ? 2 * reader->cell_room : FIRST_CELLS;
    char **larger = realloc(reader->csv->cell, room * sizeof(*larger));
    if (larger == NULL) {
        return false;
    }
    reader->csv->cell = larger;
    reader->cell_room = room;
    return true;
}

static bool add_line(struct reader *reader, size_t row, int line)
{
    if (row == reader->line_room) {
        size_t room = reader->line_room > 0 ? 2 * reader->line_room : FIRST_CELLS;
        int *larger = realloc(reader->csv->line, room * sizeof(*larger));
        if (larger == NULL) {
            return false;
        }
        reader->csv->line = larger;
        reader->line_room = room;
    }
    reader->csv->line[row] = line;
    return true;
}

/* Reads one row, or the header if no columns are known yet. */
static enum kvc_status read_row(struct reader *reader)
{
    struct kvc_csv *csv = reader->csv;
    bool is_header = csv->columns == 0, row_ends = false;
    size_t row = is_header ? 0 : csv->rows + 1, first = row * csv->columns, count = 0;
    int line = reader->line;
    if (!add_line(reader, row, line)) {
        return out_of_memory(reader);
    }
    while (!row_ends) {
        if (!reserve_cell(reader, first + count)) {
            return out_of_memory(reader);
        }
        bool takes_commas = reader->format->last_has_commas && !is_header && count + 1 == csv->columns;
        enum kvc_status status = cut_cell(reader, takes_commas, &csv->cell[first + count++], &row_ends);
        if (status != KVC_OK) {
            return status;
        }
    }
    if (is_header) {
        csv->columns = count;
        return KVC_OK;
    }
    if (count != csv->columns) {
        return FAIL(reader, line, "found %zu columns, expected %zu", count, csv->columns);
    }
    csv->rows++;
    return KVC_OK;
}

static enum kvc_status check_header(const struct reader *reader)
{
    const char *expected = reader->format->header, *found = reader->csv->text;
    size_t length = strcspn(found, "\r\n");
    if (*found == '\0' && expected != NULL) {
        return FAIL(reader, 0, "is empty, expected the header \"%s\"", expected);
    }
    if (expected != NULL && (strlen(expected) != length || memcmp(found, expected, length) != 0)) {
        return FAIL(reader, 1, "found header \"%.*s\", expected \"%s\"", (int)(length < 60 ? length : 60),
                    found, expected);
    }
    return KVC_OK;
}

static enum kvc_status read_rows(struct reader *reader)
{
    enum kvc_status status = check_header(reader);
    reader->at = reader->csv->text;
    reader->line = 1;
    while (status == KVC_OK && *reader->at != '\0') {
        if (at_line_end(reader->at)) {
            skip_line_end(reader);
        } else {
            status = read_row(reader);
        }
    }
    if (status == KVC_OK && reader->csv->rows == 0 && reader->format->needs_rows) {
        return FAIL(reader, 0, "has no rows below its header");
    }
    return status;
}

enum kvc_status kvc_csv_read(const char *path, const struct kvc_csv_format *format, struct kvc_csv *csv,
                             struct kvc_diag *diag)
{
    struct reader reader = {.path = path, .format = format, .csv = csv, .diag = diag};
    *csv = (struct kvc_csv){0};
    enum kvc_status status = read_text(&reader);
    if (status == KVC_OK) {
        status = read_rows(&reader);
    }
    if (status != KVC_OK) {
        kvc_csv_free(csv);
    }
    return status;
}

enum kvc_status kvc_csv_visit(const char *path, const struct kvc_csv_format *format, kvc_csv_row_fn take,
                              void *data, struct kvc_diag *diag)
{
    struct kvc_csv csv;
    enum kvc_status status = kvc_csv_read(path, format, &csv, diag);
    for (size_t row = 0; status == KVC_OK && row < csv.rows; row++) {
        status = take(data, csv.cell + (row + 1) * csv.columns, kvc_csv_line(&csv, row), diag);
        if (status != KVC_OK && diag != NULL) {
            snprintf(diag->file, sizeof(diag->file), "%s", path);
            diag->line = kvc_csv_line(&csv, row);
        }
    }
    kvc_csv_free(&csv);
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

int kvc_csv_line(const struct kvc_csv *csv, size_t row)
{
    return csv->line[row + 1];
}

enum kvc_status kvc_csv_copy(const char *cell, char *to, size_t size, struct kvc_diag *diag)
{
    if (strlen(cell) >= size) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found \"%.40s...\", allowed are %zu characters", cell,
                             size - 1);
    }
    strcpy(to, cell);
    return KVC_OK;
}

enum kvc_status kvc_csv_number(const char *cell, double *value, struct kvc_diag *diag)
{
    char *end;
    *value = NAN;
    if (*cell == '\0') {
        return KVC_OK;
    }
    *value = strtod(cell, &end);
    if (*end != '\0' || !isfinite(*value)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found \"%s\", expected a number", cell);
    }
    return KVC_OK;
}

enum kvc_status kvc_csv_has_column(const char *path, const char *name, bool *has, struct kvc_diag *diag)
{
    const struct kvc_csv_format format = {0};
    struct kvc_csv any = {0};
    enum kvc_status status = kvc_csv_read(path, &format, &any, diag);
    *has = status == KVC_OK && kvc_csv_column(&any, name) >= 0;
    kvc_csv_free(&any);
    return status;
}

/* Extracts predictions and the values that they are compared with from a CSV file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text/csv.h"
#include "plots/figure.h"

static bool parse_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

/* Columns of a table of errors; -1 when the table lacks the column. */
struct error_columns {
    long name, predicted, published, measured, metric;
};

/* Returns the value that a prediction is compared with: the published one if that cell is filled, else the
 * measured one. */
static const char *reference_of(const struct kvc_csv *csv, size_t row, const struct error_columns *columns)
{
    const char *published = columns->published >= 0 ? kvc_csv_cell(csv, row, (size_t)columns->published) : "";
    return published[0] == '\0' && columns->measured >= 0 ? kvc_csv_cell(csv, row, (size_t)columns->measured)
                                                          : published;
}

static const char *series_title(const struct kvc_csv *csv, size_t row, const struct error_columns *columns)
{
    return columns->metric >= 0 ? kvc_csv_cell(csv, row, (size_t)columns->metric) : "case";
}

/* Labels the axis "published", "measured" or "published or measured". */
static void label_references(const struct kvc_csv *csv, const struct error_columns *columns,
                             struct kvc_figure_data *figure)
{
    bool published = false, measured = false;
    for (size_t i = 0; i < csv->rows; i++) {
        bool is_published =
            columns->published >= 0 && kvc_csv_cell(csv, i, (size_t)columns->published)[0] != '\0';
        published |= is_published;
        measured |= !is_published;
    }
    snprintf(figure->x_label, KVC_AXIS_TEXT, "%s%s%s", published ? "published" : "",
             published && measured ? " or " : "", measured ? "measured" : "");
}

/* More names would overlap. */
enum { NAMED_MAX = 8 };

/* Returns the error of the row's prediction, or NaN if the prediction or its reference is not a number. */
static double error_frac(const struct kvc_csv *csv, size_t row, const struct error_columns *columns)
{
    double reference, predicted;
    if (!parse_number(reference_of(csv, row, columns), &reference) ||
        !parse_number(kvc_csv_cell(csv, row, (size_t)columns->predicted), &predicted)) {
        return NAN;
    }
    return fabs(predicted - reference) / fabs(reference);
}

/* Returns whether the row's error is one of the largest, so that its case is named. */
static bool is_named(const struct kvc_csv *csv, size_t row, const struct error_columns *columns)
{
    double own_frac = error_frac(csv, row, columns);
    size_t larger = 0;
    for (size_t i = 0; i < csv->rows && larger < NAMED_MAX; i++) {
        larger += error_frac(csv, i, columns) > own_frac;
    }
    return larger < NAMED_MAX;
}

/* Writes one point: reference, prediction and name. */
static enum kvc_status put_error(const struct kvc_csv *csv, size_t row, const struct error_columns *columns,
                                 const char *path, struct kvc_figure_data *figure, struct kvc_diag *diag)
{
    double x, y;
    if (!parse_number(reference_of(csv, row, columns), &x) ||
        !parse_number(kvc_csv_cell(csv, row, (size_t)columns->predicted), &y)) {
        return kvc_diag_fail_at(
            diag, KVC_ERR_SCENARIO, path, kvc_csv_line(csv, row),
            "found a cell that is not a number, allowed: numbers in predicted and in published or measured");
    }
    fprintf(figure->data, "%.12g %.12g ", x, y);
    kvc_figure_put_quoted(is_named(csv, row, columns) ? kvc_csv_cell(csv, row, (size_t)columns->name) : "",
                          figure->data);
    fputc('\n', figure->data);
    return KVC_OK;
}

static enum kvc_status put_errors(const struct kvc_csv *csv, const char *path, struct kvc_figure_data *figure,
                                  struct kvc_diag *diag)
{
    const struct error_columns columns = {
        .name = kvc_csv_column(csv, "case"),
        .predicted = kvc_csv_column(csv, "predicted"),
        .published = kvc_csv_column(csv, "published"),
        .measured = kvc_csv_column(csv, "measured"),
        .metric = kvc_csv_column(csv, "metric"),
    };
    if (columns.name < 0 || columns.predicted < 0 || (columns.published < 0 && columns.measured < 0)) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 1,
                                "expected the columns case, predicted, and published or measured");
    }
    label_references(csv, &columns, figure);
    for (size_t i = 0; i < csv->rows; i++) {
        const char *title = series_title(csv, i, &columns);
        bool is_new = true;
        for (size_t j = 0; j < i && is_new; j++) {
            is_new = strcmp(series_title(csv, j, &columns), title) != 0;
        }
        if (!is_new) {
            continue;
        }
        kvc_figure_begin_block(figure, title);
        for (size_t j = i; j < csv->rows; j++) {
            if (strcmp(series_title(csv, j, &columns), title) != 0) {
                continue;
            }
            enum kvc_status status = put_error(csv, j, &columns, path, figure, diag);
            if (status != KVC_OK) {
                return status;
            }
        }
    }
    return KVC_OK;
}

enum kvc_status kvc_errors_extract(const char *path, struct kvc_figure_data *figure, struct kvc_diag *diag)
{
    struct kvc_csv csv;
    enum kvc_status status = kvc_csv_read(path, &(struct kvc_csv_format){.needs_rows = true}, &csv, diag);
    if (status == KVC_OK) {
        status = put_errors(&csv, path, figure, diag);
    }
    kvc_csv_free(&csv);
    return status;
}

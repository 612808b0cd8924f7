#include "plots/plot.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plots/document.h"
#include "plots/graph.h"
#include "plots/pipeline.h"
#include "plots/platform.h"
#include "plots/program.h"
#include "plots/sweep.h"
#include "sim/base/array.h"
#include "sim/base/files/data_dir.h"
#include "sim/base/files/partial_file.h"
#include "sim/base/text/csv.h"
#include "sim/base/text/option.h"

const char *const kvc_plot_kinds[] = {"cdf",      "sweep",    "timeline",   "error",    "capacity",
                                      "pareto",   "tail",     "miss_ratio", "critical", "day",
                                      "platform", "pipeline", NULL};

enum { TITLE_TEXT = 160 };

/* ---- results ---- */

static bool namesakes(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "scenario"), json_object_get(b, "scenario"));
}

static bool are_of_one_store(const json_t *a, const json_t *b)
{
    return namesakes(a, b) && json_equal(json_object_get(a, "system"), json_object_get(b, "system"));
}

/* Returns whether a parameter has different values in results of the same scenario and store. */
static bool differs(json_t *const *documents, int count, const json_t *document, const char *key,
                    const json_t *value)
{
    for (int i = 0; i < count; i++) {
        if (are_of_one_store(documents[i], document) &&
            !json_equal(json_object_get(json_object_get(documents[i], "parameters"), key), value)) {
            return true;
        }
    }
    return false;
}

/* Writes the value of a parameter as a person does: "666MHz" becomes "666 MHz". */
static void write_value(const json_t *value, char text[TITLE_TEXT])
{
    char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
    if (dumped == NULL) {
        kvc_out_of_memory("the text of a parameter");
    }
    const char *written = json_is_string(value) ? json_string_value(value) : dumped, *expected;
    size_t digits = strspn(written, "+-.0123456789");
    double ignored;
    bool is_quantity = false;
    for (enum kvc_unit unit = KVC_UNIT_NS; unit <= KVC_UNIT_WATTS && written[digits] != '\0'; unit++) {
        is_quantity = is_quantity || kvc_quantity_parse(written, unit, &ignored, &expected);
    }
    snprintf(text, TITLE_TEXT, "%.*s%s%s", is_quantity ? (int)digits : TITLE_TEXT, written,
             is_quantity ? " " : "",
             !is_quantity                          ? ""
             : strcmp(written + digits, "us") == 0 ? "µs"
                                                   : written + digits);
    free(dumped);
}

/* Names a result by its scenario. Results that share a scenario are named by their stores, and those of one
 * store by the parameters that differ, as far as the legend has room for them, or else by their paths. */
static void title_of(json_t *const *documents, int count, int which, const char *path, size_t room,
                     char title[TITLE_TEXT])
{
    const json_t *document = documents[which];
    const char *name = json_string_value(json_object_get(document, "scenario")), *key;
    const char *store = json_string_value(json_object_get(document, "system"));
    json_t *parameters = json_object_get(document, "parameters"), *value;
    int same_name = 0, same_store = 0, more = 0;
    size_t length = 0;
    title[0] = '\0';
    for (int i = 0; i < count; i++) {
        same_name += namesakes(documents[i], document);
        same_store += are_of_one_store(documents[i], document);
    }
    if (same_name == 1 || same_store < same_name) {
        length += (size_t)snprintf(title, TITLE_TEXT, "%.*s%s%s", (int)room, name != NULL ? name : path,
                                   same_name > 1 && store != NULL ? ": " : "",
                                   same_name > 1 && store != NULL ? store : "");
    }
    size_t own = length;
    json_object_foreach(parameters, key, value)
    {
        char text[TITLE_TEXT], part[2 * TITLE_TEXT];
        if (same_store == 1 || !differs(documents, count, document, key, value)) {
            continue;
        }
        const char *dot = strrchr(key, '.');
        write_value(value, text);
        snprintf(part, sizeof(part), "%s%s = %s", length > 0 ? ", " : "", dot != NULL ? dot + 1 : key, text);
        if (more > 0 || length + strlen(part) + strlen(", 99 more") > room) {
            more++;
        } else {
            length += (size_t)snprintf(title + length, TITLE_TEXT - length, "%s", part);
        }
    }
    if (more > 0) {
        snprintf(title + length, TITLE_TEXT - length, "%s%d more", length > 0 ? ", " : "", more);
    } else if (same_store > 1 && length == own) {
        snprintf(title, TITLE_TEXT, "%.60s (%.60s)", name != NULL ? name : "?", path);
    }
}

/* Puts the percentiles whose 95 % intervals are known, as "latency_us fraction low_us high_us". gnuplot needs
 * a line even where there is none. */
static void put_percentiles(struct kvc_figure_data *figure, const json_t *percentiles, const char *title)
{
    size_t index;
    json_t *entry;
    kvc_figure_begin_block(figure, title);
    fputs("NaN NaN NaN NaN\n", figure->data);
    json_array_foreach(percentiles, index, entry)
    {
        const json_t *interval = json_object_get(entry, "ci95");
        double us = json_number_value(json_object_get(entry, "us")), half_us = json_number_value(interval);
        if (json_is_number(interval)) { /* The axis may be logarithmic: no bar reaches below a tenth. */
            fprintf(figure->data, "%.12g %.12g %.12g %.12g\n", us,
                    json_number_value(json_object_get(entry, "p")),
                    half_us < 0.9 * us ? us - half_us : 0.1 * us, us + half_us);
        }
    }
}

static enum kvc_status put_cdf(struct kvc_figure_data *figure, const char *path, const json_t *document,
                               const char *title, struct kvc_diag *diag)
{
    const json_t *points = json_object_get(json_object_get(document, "latency_us"), "cdf");
    size_t index;
    json_t *point;
    if (json_array_size(points) == 0) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0,
                                "has no latency distribution (latency_us.cdf)");
    }
    kvc_figure_begin_block(figure, title);
    fprintf(figure->data, "%.12g 0\n", json_number_value(json_array_get(json_array_get(points, 0), 0)));
    json_array_foreach(points, index, point)
    {
        const json_t *us = json_array_get(point, 0), *fraction = json_array_get(point, 1);
        if (!json_is_number(us) || !json_is_number(fraction)) {
            return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0,
                                    "latency_us.cdf: point %zu is not a pair of numbers", index + 1);
        }
        fprintf(figure->data, "%.12g %.12g\n", json_number_value(us), json_number_value(fraction));
    }
    put_percentiles(figure, json_object_get(json_object_get(document, "latency_us"), "percentiles"), title);
    return KVC_OK;
}

/* Writes a block with one value per window from the window `first` on. A value that is no number is a gap. */
static void put_windows(struct kvc_figure_data *figure, const char *title, const json_t *values, size_t first,
                        double length_ms)
{
    size_t count = json_array_size(values);
    kvc_figure_begin_block(figure, title);
    if (first >= count) {
        fputs("NaN NaN\n", figure->data);
    }
    for (size_t i = first; i <= count && first < count; i++) {
        /* The last value is repeated, so that its step has a width. */
        const json_t *value = json_array_get(values, i < count ? i : count - 1);
        fprintf(figure->data, "%.12g %.12g\n", (double)i * length_ms,
                json_is_number(value) ? json_number_value(value) : NAN);
    }
}

/* Puts the throughput and the mean latency by window. A run without a warm-up begins with no request on its
 * way, so that the first window has fewer answers than requests: the lines leave it out. */
static enum kvc_status put_timeline(struct kvc_figure_data *figure, const char *path, const json_t *document,
                                    const char *title, struct kvc_diag *diag)
{
    const json_t *windows = json_object_get(document, "windows");
    const json_t *mops = json_object_get(windows, "mops");
    double length_ms = json_number_value(json_object_get(windows, "length_us")) * 1e-3;
    size_t count = json_array_size(mops);
    if (count == 0 || !(length_ms > 0)) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "has no throughput windows (windows.mops)");
    }
    for (size_t i = 0; i < count; i++) {
        if (!json_is_number(json_array_get(mops, i))) {
            return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0,
                                    "windows.mops: value %zu is not a number", i + 1);
        }
    }
    bool begins_empty = kvc_document_number(json_object_get(document, "simulation"), "warmup_s") == 0;
    size_t first = begins_empty && count > 1;
    put_windows(figure, title, mops, first, length_ms);
    put_windows(figure, title, json_object_get(windows, "latency_mean_us"), first, length_ms);
    return KVC_OK;
}

/* Returns whether two results are the same. Only how long the simulation took differs between two runs of the
 * same scenario. */
static bool are_same(json_t *a, json_t *b)
{
    json_t *one = json_copy(a), *other = json_copy(b);
    if (one == NULL || other == NULL) {
        kvc_out_of_memory("copies of two results");
    }
    json_object_del(one, "simulation");
    json_object_del(other, "simulation");
    bool same = json_equal(one, other);
    json_decref(one);
    json_decref(other);
    return same;
}

/* Refuses a result that is also an earlier one, whose line it would cover. */
static enum kvc_status check_new(json_t *const *documents, char *const *files, int which,
                                 struct kvc_diag *diag)
{
    for (int i = 0; i < which; i++) {
        if (are_same(documents[i], documents[which])) {
            return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, files[which], 0,
                                    "is the same result as %.300s, allowed: each result once", files[i]);
        }
    }
    return KVC_OK;
}

static enum kvc_status put_result(const struct kvc_plot_options *plot, struct kvc_figure_data *figure,
                                  const char *file, const json_t *document, const char *title,
                                  struct kvc_diag *diag)
{
    enum kvc_status status = plot->kind == KVC_PLOT_TIMELINE
                                 ? put_timeline(figure, file, document, title, diag)
                                 : put_cdf(figure, file, document, title, diag);
    return status == KVC_OK ? kvc_document_check_result(file, document, diag) : status;
}

static enum kvc_status extract_results(const struct kvc_plot_options *plot, struct kvc_figure_data *figure,
                                       struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    json_t **documents = kvc_array_of((size_t)plot->input_count, sizeof(*documents));
    char **files = kvc_array_of((size_t)plot->input_count, sizeof(*files));
    for (int i = 0; i < plot->input_count && status == KVC_OK; i++) {
        char file[PATH_MAX];
        status = kvc_document_find(plot->inputs[i], KVC_DOCUMENT_RESULT, file, diag);
        files[i] = kvc_array_of_text(file);
        if (status == KVC_OK) {
            status = kvc_document_load(file, KVC_DOCUMENT_RESULT, &documents[i], diag);
        }
        if (status == KVC_OK) {
            status = check_new(documents, files, i, diag);
        }
    }
    for (int i = 0; i < plot->input_count && status == KVC_OK; i++) {
        char title[TITLE_TEXT];
        title_of(documents, plot->input_count, i, files[i], plot->wide ? KVC_LEGEND_WIDE : KVC_LEGEND_TEXT,
                 title);
        status = put_result(plot, figure, files[i], documents[i], title, diag);
    }
    for (int i = 0; i < plot->input_count; i++) {
        json_decref(documents[i]);
        free(files[i]);
    }
    free(documents);
    free(files);
    return status;
}

/* ---- tables of errors ---- */

/* Returns whether the text is a finite number. */
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

/* Returns whether the row's reference is 0, from which no prediction has a relative error. */
static bool is_of_zero(const struct kvc_csv *csv, size_t row, const struct error_columns *columns)
{
    double reference;
    return parse_number(reference_of(csv, row, columns), &reference) && reference == 0;
}

static const char *series_title(const struct kvc_csv *csv, size_t row, const struct error_columns *columns)
{
    return columns->metric >= 0 ? kvc_csv_cell(csv, row, (size_t)columns->metric) : "case";
}

/* Labels the axis "published", "measured" or "published or measured", and says
 * how many cases of value 0 the picture leaves out, which are returned. */
static size_t label_references(const struct kvc_csv *csv, const struct error_columns *columns,
                               struct kvc_figure_data *figure)
{
    bool published = false, measured = false;
    size_t zeros = 0;
    char left_out[64] = "";
    for (size_t i = 0; i < csv->rows; i++) {
        zeros += is_of_zero(csv, i, columns);
        bool is_published =
            columns->published >= 0 && kvc_csv_cell(csv, i, (size_t)columns->published)[0] != '\0';
        published |= is_published;
        measured |= !is_published;
    }
    if (zeros > 0) {
        snprintf(left_out, sizeof(left_out), ", without %zu of value 0", zeros);
    }
    snprintf(figure->x_label, KVC_AXIS_TEXT, "%s%s%s%s (unit of the case)", published ? "published" : "",
             published && measured ? " or " : "", measured ? "measured" : "", left_out);
    return zeros;
}

/* More names would overlap. */
enum { NAMED_MAX = 8 };

/* Returns the error of the row's prediction, or NaN if the prediction or its reference is not a number, or
 * the reference is 0. */
static double error_frac(const struct kvc_csv *csv, size_t row, const struct error_columns *columns)
{
    double reference, predicted;
    if (!parse_number(reference_of(csv, row, columns), &reference) ||
        !parse_number(kvc_csv_cell(csv, row, (size_t)columns->predicted), &predicted) || reference == 0) {
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
    kvc_figure_put_quoted(figure,
                          is_named(csv, row, columns) ? kvc_csv_cell(csv, row, (size_t)columns->name) : "");
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
    size_t left_out = label_references(csv, &columns, figure);
    for (size_t i = 0; i < csv->rows; i++) {
        const char *title = series_title(csv, i, &columns);
        bool is_new = !is_of_zero(csv, i, &columns);
        for (size_t j = 0; j < i && is_new; j++) {
            is_new = is_of_zero(csv, j, &columns) || strcmp(series_title(csv, j, &columns), title) != 0;
        }
        if (!is_new) {
            continue;
        }
        kvc_figure_begin_block(figure, title);
        for (size_t j = i; j < csv->rows; j++) {
            if (is_of_zero(csv, j, &columns) || strcmp(series_title(csv, j, &columns), title) != 0) {
                continue;
            }
            enum kvc_status status = put_error(csv, j, &columns, path, figure, diag);
            if (status != KVC_OK) {
                return status;
            }
        }
    }
    if (left_out == 0) {
        return KVC_OK;
    }
    return kvc_diag_fail_at(diag, figure->blocks > 0 ? KVC_OK : KVC_ERR_SCENARIO, path, 0,
                            "found %zu of %zu cases whose published or measured value is 0, allowed: another "
                            "number, because a prediction has no relative error from 0; the picture leaves "
                            "them out",
                            left_out, csv->rows);
}

/* Extracts a table of errors. Its columns are case, predicted, published or measured or both (each row fills
 * one of them), and optionally metric, which gives each metric its own block. The lines of a block are
 * "reference predicted case". Rows whose reference is 0 are left out; `diag` then warns of them. */
static enum kvc_status extract_errors(const char *path, struct kvc_figure_data *figure, struct kvc_diag *diag)
{
    struct kvc_csv csv;
    enum kvc_status status = kvc_csv_read(path, &(struct kvc_csv_format){.needs_rows = true}, &csv, diag);
    if (status == KVC_OK) {
        status = put_errors(&csv, path, figure, diag);
    }
    kvc_csv_free(&csv);
    return status;
}

/* ---- capacities ---- */

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Returns the latency of a point and half its interval: a metric's or, for NULL, the closed form's mean; 0 if
 * it is unknown. */
static double latency_us(const json_t *point, const char *metric, double *half_width_us)
{
    const json_t *latency =
        json_object_get(json_object_get(point, "latency_us"), metric != NULL ? metric : "");
    *half_width_us = metric != NULL ? number_of(latency, "ci95") : 0;
    return metric != NULL ? number_of(latency, "mean")
                          : number_of(json_object_get(point, "closed_form"), "latency_mean_us");
}

/* Returns 2 if all replicas serve the load of a point, 1 if some do, and 0 if none does. */
static int served_state(const json_t *point)
{
    const json_t *by = json_object_get(point, "served_by");
    if (!json_is_number(by)) { /* As capacities were written that had one verdict only. */
        return json_is_true(json_object_get(point, "served")) ? 2 : 0;
    }
    return json_number_value(by) >= number_of(point, "replicas") ? 2 : json_number_value(by) > 0;
}

/* Writes one line of the figure, unless no point has its latency. Returns the number of its points. */
static uint32_t put_line(struct kvc_figure_data *figure, const json_t *points, const char *title,
                         const char *metric)
{
    size_t index;
    json_t *point;
    uint32_t written = 0;
    json_array_foreach(points, index, point)
    {
        double half_width_us, us = latency_us(point, metric, &half_width_us);
        if (!(us > 0)) {
            continue;
        }
        if (written++ == 0) {
            kvc_figure_begin_block(figure, title);
        }
        /* The axis is logarithmic: an interval does not reach below a tenth of the latency. */
        double low_us = us - half_width_us > us / 10 ? us - half_width_us : us / 10;
        fprintf(figure->data, "%.12g %.12g %.12g %.12g %d %d\n", number_of(point, "offered_mops"), us, low_us,
                us + half_width_us, served_state(point),
                json_is_number(json_object_get(point, "share_frac")));
    }
    return written;
}

/* Extracts the latency over the offered load. `path` is the capacity.json of kvcast capacity. The first block
 * has one line "low mean high" for the capacity; where a partial answer has no high end, the highest load
 * stands for it, and an unknown mean is 0. The other blocks are the lines of the figure, "offered_mops
 * latency_us low_us high_us state on_curve": the simulated mean, p50, p95 and p99 with their 95 % intervals,
 * and the closed form's mean. */
static enum kvc_status extract_capacity(const char *path, struct kvc_figure_data *figure,
                                        struct kvc_diag *diag)
{
    static const char *const metrics[] = {"mean", "p50", "p95", "p99"};
    json_t *document;
    uint32_t written = 0;
    enum kvc_status status = kvc_document_load(path, KVC_DOCUMENT_CAPACITY, &document, diag);
    if (status != KVC_OK) {
        return status;
    }
    const json_t *capacity = json_object_get(document, "capacity_mops");
    const json_t *points = json_object_get(document, "points");
    kvc_figure_begin_block(figure, "capacity");
    double high_mops = number_of(capacity, "high");
    const json_t *last = json_array_get(points, json_array_size(points) - 1);
    fprintf(figure->data, "%.12g %.12g %.12g\n", number_of(capacity, "low"), number_of(capacity, "mean"),
            high_mops > 0 ? high_mops : number_of(last, "offered_mops"));
    for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
        written += put_line(figure, points, metrics[i], metrics[i]);
    }
    put_line(figure, points, "closed form, mean", NULL);
    json_decref(document);
    if (written == 0) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "has no latencies (points)");
    }
    return KVC_OK;
}

/* ---- Pareto fronts ---- */

/* The x axis of a front. */
struct x_axis {
    const char *label;
    bool is_closed_form; /* A member of `closed_form`, not of the point itself. */
    const char *key;
};

static double closed_form(const json_t *point, const char *metric)
{
    return kvc_document_number(json_object_get(point, "closed_form"), metric);
}

static struct x_axis choose_x(const json_t *front)
{
    if (json_is_true(json_object_get(front, "has_price"))) {
        return (struct x_axis){"price (US dollars)", false, "price_usd"};
    }
    if (json_is_true(json_object_get(front, "has_watts"))) {
        return (struct x_axis){"power (W)", true, "watts_mean"};
    }
    return (struct x_axis){"nodes", false, "nodes"};
}

/* A value and half the width of its interval, which is 0 if it has none. */
struct drawn {
    double value, half_width;
};

static struct drawn simulated(const json_t *point, const char *metric)
{
    const json_t *value = json_object_get(json_object_get(point, "simulated"), metric);
    double half_width = kvc_document_number(value, "half_width");
    return (struct drawn){kvc_document_number(value, "mean"), isnan(half_width) ? 0 : half_width};
}

static void put_point(struct kvc_figure_data *figure, struct drawn x, struct drawn latency_us, double watts)
{
    fprintf(figure->data, "%.12g %.12g %.12g %.12g %.12g\n", x.value, latency_us.value,
            isnan(watts) ? 0 : watts, x.half_width, latency_us.half_width);
}

/* Writes the chosen point as it was simulated. */
static void put_chosen(struct kvc_figure_data *figure, const json_t *document, const struct x_axis *x,
                       const char *metric)
{
    const json_t *chosen = json_object_get(document, "chosen");
    struct drawn latency = simulated(chosen, metric), watts = simulated(chosen, "watts_mean");
    if (!isnan(latency.value)) {
        kvc_figure_begin_block(figure, "chosen, simulated");
        put_point(figure,
                  x->is_closed_form ? simulated(chosen, x->key)
                                    : (struct drawn){kvc_document_number(chosen, x->key), 0},
                  latency, watts.value);
    }
}

/* Returns the objective for a metric; 0 if there is none. */
static double goal(const json_t *document, const char *metric)
{
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(document, "goals"), index, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "metric"));
        double at_most = kvc_document_number(entry, "at_most");
        if (name != NULL && strcmp(name, metric) == 0 && !isnan(at_most)) {
            return at_most;
        }
    }
    return 0;
}

/* Writes the latency's name on the y axis: "p95" for latency_p95_us. */
static void name_latency(const char *metric, char text[32])
{
    size_t prefix = strlen("latency_"), suffix = strlen("_us"), length = strlen(metric);
    snprintf(text, 32, "%.*s", (int)(length - prefix - suffix), metric + prefix);
}

/* Extracts the Pareto front of a plan. `path` is the plan.json of kvcast plan. The x axis is
 * the price if every point has one, else the power, else the number of nodes. The first block has the
 * objectives for both axes. The others are the front by the closed form and, if there is one, the chosen
 * point as it was simulated, with lines "x latency_us watts x_half_width half_width_us". */
static enum kvc_status extract_pareto(const char *path, struct kvc_figure_data *figure, struct kvc_diag *diag)
{
    json_t *document, *point;
    size_t index;
    char name[32];
    enum kvc_status status = kvc_document_load(path, KVC_DOCUMENT_PLAN, &document, diag);
    if (status != KVC_OK) {
        return status;
    }
    const json_t *front = json_object_get(document, "front"), *points = json_object_get(front, "points");
    const char *metric = json_string_value(json_object_get(front, "latency"));
    if (metric == NULL || strlen(metric) <= strlen("latency__us") || json_array_size(points) == 0) {
        json_decref(document);
        return kvc_diag_fail_at(
            diag, KVC_ERR_SCENARIO, path, 0,
            "has no front with a latency: the closed form knows none, or no point may meet "
            "the slo");
    }
    struct x_axis x = choose_x(front);
    name_latency(metric, name);
    snprintf(figure->x_label, KVC_AXIS_TEXT, "%s", x.label);
    figure->x_numeric = json_is_true(json_object_get(front, "has_watts")) && !x.is_closed_form; /* Colours. */
    snprintf(figure->y_label, KVC_AXIS_TEXT, "%s latency (µs)", name);
    kvc_figure_begin_block(figure, "objectives");
    fprintf(figure->data, "%.12g %.12g\n", goal(document, x.key), goal(document, metric));
    kvc_figure_begin_block(figure, "front by closed form");
    json_array_foreach(points, index, point)
    {
        double at = x.is_closed_form ? closed_form(point, x.key) : kvc_document_number(point, x.key);
        put_point(figure, (struct drawn){at, 0}, (struct drawn){closed_form(point, metric), 0},
                  closed_form(point, "watts_mean"));
    }
    put_chosen(figure, document, &x, metric);
    json_decref(document);
    return KVC_OK;
}

/* Writes a block for each part of a request's way: its beginning and end among the slowest requests, in row
 * 1, and among all, in row 2. Returns whether there are parts. */
static bool put_parts(struct kvc_figure_data *figure, const json_t *parts)
{
    const json_t *part;
    size_t index;
    double slowest_us = 0, mean_us = 0;
    json_array_foreach(parts, index, part)
    {
        const char *name = json_string_value(json_object_get(part, "part"));
        double slowest = kvc_document_number(part, "slowest_us"), mean = kvc_document_number(part, "mean_us");
        kvc_figure_begin_block(figure, name != NULL ? name : "");
        fprintf(figure->data, "1 %.9g %.9g\n2 %.9g %.9g\n", slowest_us, slowest_us + slowest, mean_us,
                mean_us + mean);
        slowest_us += slowest;
        mean_us += mean;
    }
    return json_array_size(parts) > 0;
}

/* Writes a block for each value that resources change: lines of "row change_percent half_width_percent name",
 * the first resource in the highest row. */
static void put_reliefs(struct kvc_figure_data *figure, const json_t *resources)
{
    static const char *const keys[] = {"throughput", "latency_mean", "latency_p99"};
    static const char *const titles[] = {"throughput", "mean latency", "p99 latency"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        const json_t *resource;
        size_t index;
        kvc_figure_begin_block(figure, titles[i]);
        json_array_foreach(resources, index, resource)
        {
            const json_t *change = json_object_get(resource, keys[i]);
            const char *name = json_string_value(json_object_get(resource, "resource"));
            double half_width = kvc_document_number(change, "ci95_frac");
            fprintf(figure->data, "%zu %.9g %.9g ", json_array_size(resources) - index,
                    100 * kvc_document_number(change, "change_frac"),
                    isnan(half_width) ? 0 : 100 * half_width);
            kvc_figure_put_quoted(figure, name != NULL ? name : "");
            fputc('\n', figure->data);
        }
    }
}

/* Extracts an analysis of kvcast why: the parts of a request's way, if they are known, and then what the
 * resources change. */
static enum kvc_status extract_critical(const char *path, struct kvc_figure_data *figure,
                                        struct kvc_diag *diag)
{
    json_t *document;
    enum kvc_status status = kvc_document_load(path, KVC_DOCUMENT_WHY, &document, diag);
    if (status != KVC_OK) {
        return status;
    }
    const json_t *resources = json_object_get(document, "resources");
    figure->x_numeric = put_parts(figure, json_object_get(json_object_get(document, "path"), "parts"));
    if (json_array_size(resources) > 0) {
        put_reliefs(figure, resources);
        snprintf(figure->x_label, KVC_AXIS_TEXT, "%zu", json_array_size(resources));
    } else if (!figure->x_numeric) {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0,
                                  "has neither parts of a request's way nor resources to draw");
    }
    json_decref(document);
    return status;
}

/* ---- days ---- */

/* Writes the values of a window at the hour that it begins or ends. */
static void put_day_window(struct kvc_figure_data *figure, const json_t *window, const char *hour)
{
    fprintf(figure->data, "%.12g %.12g %.12g %.12g %.12g\n", kvc_document_number(window, hour),
            kvc_document_number(window, "rate_mops"), kvc_document_number(window, "throughput_mops"),
            kvc_document_number(window, "latency_p99_us"), kvc_document_number(window, "watts_mean"));
}

/* Extracts the windows of a day: lines of "hour offered_mops served_mops p99_us watts", with a last one for
 * the end. The label of the x axis holds the objective of the p99 latency. */
static enum kvc_status extract_day(const char *path, struct kvc_figure_data *figure, struct kvc_diag *diag)
{
    json_t *document;
    const json_t *window;
    size_t index;
    enum kvc_status status = kvc_document_load(path, KVC_DOCUMENT_DAY, &document, diag);
    if (status != KVC_OK) {
        return status;
    }
    const json_t *windows = json_object_get(document, "windows");
    double p99_us = kvc_document_number(document, "slo_p99_us");
    if (json_array_size(windows) == 0) {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "has no windows");
    }
    if (!isnan(p99_us)) {
        snprintf(figure->x_label, KVC_AXIS_TEXT, "%.12g", p99_us);
    }
    kvc_figure_begin_block(figure, "day");
    json_array_foreach(windows, index, window)
    {
        put_day_window(figure, window, "from_hour");
    }
    if (index > 0) {
        put_day_window(figure, json_array_get(windows, index - 1), "to_hour");
    }
    json_decref(document);
    return status;
}

/* ---- traces ---- */

/* Extracts the miss-ratio curve of a trace: lines of "cache_bytes miss_percent", ascending. */
static enum kvc_status extract_miss_ratio(const char *path, struct kvc_figure_data *figure,
                                          struct kvc_diag *diag)
{
    json_t *document;
    const json_t *point;
    size_t index;
    enum kvc_status status = kvc_document_load(path, KVC_DOCUMENT_TRACE, &document, diag);
    if (status != KVC_OK) {
        return status;
    }
    const char *trace = json_string_value(json_object_get(document, "trace"));
    const char *slash = trace != NULL ? strrchr(trace, '/') : NULL;
    const json_t *curve = json_object_get(document, "miss_ratio_curve");
    if (json_array_size(curve) == 0) {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "has no GETs, so no miss ratio to draw");
    }
    kvc_figure_begin_block(figure, slash != NULL ? slash + 1 : trace != NULL ? trace : "");
    json_array_foreach(curve, index, point)
    {
        fprintf(figure->data, "%.12g %.12g\n", kvc_document_number(point, "cache_bytes"),
                100 * kvc_document_number(point, "miss_frac"));
    }
    json_decref(document);
    return status;
}

/* ---- drawing ---- */

static enum kvc_status extract_platform(const struct kvc_plot_options *plot, struct kvc_figure_data *figure,
                                        struct kvc_diag *diag)
{
    struct kvc_picture picture;
    enum kvc_status status = kvc_picture_read(plot->inputs[0], &picture, diag);
    if (status == KVC_OK) {
        kvc_picture_write(&picture, plot->wide, figure->data);
    }
    kvc_picture_free(&picture);
    return status;
}

static enum kvc_status extract_pipeline(const struct kvc_plot_options *plot, struct kvc_figure_data *figure,
                                        struct kvc_diag *diag)
{
    return kvc_pipeline_extract(plot->inputs[0], plot->wide, figure->data, diag);
}

static enum kvc_status extract_sweep(const struct kvc_plot_options *plot, struct kvc_figure_data *figure,
                                     struct kvc_diag *diag)
{
    char file[PATH_MAX];
    const struct kvc_sweep_view view = {.x = plot->x, .y = plot->y, .by = plot->by};
    enum kvc_status status = kvc_document_find(plot->inputs[0], KVC_DOCUMENT_SWEEP, file, diag);
    return status == KVC_OK ? kvc_sweep_extract(file, &view, figure, diag) : status;
}

/* Extracts from the one file that the input names. */
static enum kvc_status extract_found(enum kvc_status (*extract)(const char *path,
                                                                struct kvc_figure_data *figure,
                                                                struct kvc_diag *diag),
                                     enum kvc_document_kind kind, const struct kvc_plot_options *plot,
                                     struct kvc_figure_data *figure, struct kvc_diag *diag)
{
    char file[PATH_MAX];
    enum kvc_status status = kvc_document_find(plot->inputs[0], kind, file, diag);
    return status == KVC_OK ? extract(file, figure, diag) : status;
}

enum kvc_status kvc_figure_extract(const struct kvc_plot_options *plot, struct kvc_figure_data *figure,
                                   struct kvc_diag *diag)
{
    bool takes_several =
        plot->kind == KVC_PLOT_CDF || plot->kind == KVC_PLOT_TAIL || plot->kind == KVC_PLOT_TIMELINE;
    if (!takes_several && plot->input_count != 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "a picture of kind %s takes one file, found %d",
                             kvc_plot_kinds[plot->kind], plot->input_count);
    }
    switch (plot->kind) {
    case KVC_PLOT_CDF:
    case KVC_PLOT_TAIL:
    case KVC_PLOT_TIMELINE:
        return extract_results(plot, figure, diag);
    case KVC_PLOT_SWEEP:
        return extract_sweep(plot, figure, diag);
    case KVC_PLOT_ERROR:
        return extract_found(extract_errors, KVC_DOCUMENT_ERRORS, plot, figure, diag);
    case KVC_PLOT_CAPACITY:
        return extract_found(extract_capacity, KVC_DOCUMENT_CAPACITY, plot, figure, diag);
    case KVC_PLOT_PARETO:
        return extract_found(extract_pareto, KVC_DOCUMENT_PLAN, plot, figure, diag);
    case KVC_PLOT_MISS_RATIO:
        return extract_found(extract_miss_ratio, KVC_DOCUMENT_TRACE, plot, figure, diag);
    case KVC_PLOT_CRITICAL:
        return extract_found(extract_critical, KVC_DOCUMENT_WHY, plot, figure, diag);
    case KVC_PLOT_DAY:
        return extract_found(extract_day, KVC_DOCUMENT_DAY, plot, figure, diag);
    case KVC_PLOT_PLATFORM:
        return extract_platform(plot, figure, diag);
    case KVC_PLOT_PIPELINE:
        return extract_pipeline(plot, figure, diag);
    }
    KVC_BUG("unknown kind of picture %d", (int)plot->kind);
}

bool kvc_plot_is_graph(enum kvc_plot_kind kind)
{
    return kind == KVC_PLOT_PLATFORM || kind == KVC_PLOT_PIPELINE;
}

static const char *format_of(const char *output)
{
    static const char *const formats[] = {"svg", "pdf", "png"};
    const char *dot = strrchr(output, '.');
    for (size_t i = 0; dot != NULL && i < sizeof(formats) / sizeof(*formats); i++) {
        if (strcmp(dot + 1, formats[i]) == 0) {
            return formats[i];
        }
    }
    return NULL;
}

/* Runs the program that draws this kind. gnuplot reads the data several times, by the name of its stdin. */
static enum kvc_status draw(const struct kvc_plot_options *plot, const struct kvc_figure_data *figure,
                            struct kvc_partial_file *picture, struct kvc_diag *diag)
{
    char name[64], style[PATH_MAX], script[PATH_MAX];
    const char *format = format_of(plot->output);
    const char *const arguments[] = {
        style,
        "/dev/stdin",
        "/dev/stdout",
        format,
        plot->wide ? "2" : "1",
        figure->x_label,
        figure->x_numeric ? "1" : "0",
        figure->y_label,
        NULL,
    };
    if (kvc_plot_is_graph(plot->kind)) {
        snprintf(name, sizeof(name), "the %s", kvc_plot_kinds[plot->kind]);
        return kvc_graph_draw(fileno(figure->data), format, name, picture, diag);
    }
    snprintf(name, sizeof(name), "plots/%s.gp", kvc_plot_kinds[plot->kind]);
    kvc_data_path(name, script);
    kvc_data_path("plots/style.gp", style);
    return kvc_gnuplot_draw(script, arguments, fileno(figure->data), format, picture, diag);
}

/* Extracts the data and draws them. */
static enum kvc_status extract_and_draw(const struct kvc_plot_options *plot, struct kvc_figure_data *figure,
                                        struct kvc_diag *diag)
{
    struct kvc_partial_file picture = {0};
    enum kvc_status status = kvc_figure_extract(plot, figure, diag);
    if (status == KVC_OK && (fflush(figure->data) != 0 || ferror(figure->data))) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the data of %s: %s", plot->output,
                               strerror(errno));
    }
    if (status == KVC_OK && plot->stream != NULL) {
        picture.file = plot->stream;
        snprintf(picture.path, sizeof(picture.path), "%s", plot->output);
        return draw(plot, figure, &picture, diag);
    }
    if (status == KVC_OK) {
        status = plot->in_folder ? kvc_partial_file_replace(&picture, plot->output, diag)
                                 : kvc_partial_file_open(&picture, plot->output, diag);
    }
    if (status == KVC_OK) {
        status = draw(plot, figure, &picture, diag);
    }
    if (status == KVC_OK) {
        status = kvc_partial_file_commit(&picture, diag);
    }
    kvc_partial_file_discard(&picture);
    return status;
}

enum kvc_status kvc_plot_draw(const struct kvc_plot_options *plot, struct kvc_diag *diag)
{
    struct kvc_figure_data figure = {0};
    if (format_of(plot->output) == NULL) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, plot->output, 0,
                                "found a picture of unknown format, allowed: .svg, .pdf, .png");
    }
    /* The data stay in memory: a temporary file could meet a full disk, or survive a signal. */
    int descriptor = memfd_create("figure", MFD_CLOEXEC);
    figure.data = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (figure.data == NULL) {
        enum kvc_status status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the data of %s: %s",
                                               plot->output, strerror(errno));
        if (descriptor >= 0) {
            close(descriptor);
        }
        return status;
    }
    enum kvc_status status = extract_and_draw(plot, &figure, diag);
    fclose(figure.data);
    return status;
}

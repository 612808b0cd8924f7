/* The answers and the numbers of every kind of page but that of a result. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/output/compared/compare.h"
#include "scenarios/output/json_value.h"
#include "scenarios/output/page/page.h"
#include "scenarios/output/page/page_writer.h"
#include "sim/base/array.h"

enum { ROWS_SHOWN = 60 };

/* Begins a list that the reader opens if there are more rows than a printed page has room for. */
static bool begin_long(const struct kvc_page_writer *to, size_t rows)
{
    bool is_long = rows > ROWS_SHOWN;
    if (is_long) {
        kvc_page_mark(to, "<details><summary>");
        kvc_page_put(to, "All %zu rows of the table", rows);
        kvc_page_mark(to, "</summary>\n");
    }
    return is_long;
}

/* ---- a capacity ---- */

void kvc_page_answer_capacity(const struct kvc_page_writer *to)
{
    kvc_page_put(to, "%s, simulated, ", kvc_page_text(to->document, "system"));
    if (isnan(kvc_page_number(to->document, "capacity_mops.mean"))) {
        kvc_page_put(to, "serves none of the loads that were tried.");
        return;
    }
    kvc_page_put(to, "serves at most ");
    kvc_page_put_number(to, "capacity_mops.mean", "", "Mops");
    kvc_page_put(to, ", between ");
    kvc_page_put_number(to, "capacity_mops.low", "", "and ");
    kvc_page_put_number(to, "capacity_mops.high", "", "Mops");
    if (!isnan(kvc_page_number(to->document, "closed_form_mops"))) {
        kvc_page_put(to, "; its closed form says ");
        kvc_page_put_number(to, "closed_form_mops", "", "Mops");
    }
    kvc_page_put(to, ".");
}

void kvc_page_details_capacity(const struct kvc_page_writer *to)
{
    const json_t *points = kvc_page_at(to->document, "points"), *point;
    size_t i;
    kvc_page_begin_table(to, "Loads with 95 % intervals",
                         "Offered, Mops|Served|#Throughput, Mops|#Mean latency, µs|#99th percentile, µs");
    json_array_foreach(points, i, point)
    {
        char offered[32];
        snprintf(offered, sizeof(offered), "%.4g", kvc_page_number(point, "offered_mops"));
        kvc_page_begin_row(to, offered);
        kvc_page_put_cell(to, json_is_true(kvc_page_at(point, "served")) ? "yes" : "no");
        kvc_page_put_value(to, kvc_page_number(point, "throughput_mops.mean"),
                           kvc_page_number(point, "throughput_mops.ci95"));
        kvc_page_put_value(to, kvc_page_number(point, "latency_us.mean.mean"),
                           kvc_page_number(point, "latency_us.mean.ci95"));
        kvc_page_put_value(to, kvc_page_number(point, "latency_us.p99.mean"),
                           kvc_page_number(point, "latency_us.p99.ci95"));
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
}

/* ---- a day ---- */

/* Writes an hour of the day: 13.5 is 13:30. */
static const char *clock_of(double hour, char text[16])
{
    long minutes = lround(hour * 60);
    snprintf(text, 16, "%02ld:%02ld", minutes / 60 % 100, minutes % 60);
    return text;
}

void kvc_page_answer_day(const struct kvc_page_writer *to)
{
    char path[KVC_PAGE_KEY], from[16];
    long long worst = json_integer_value(kvc_page_at(to->document, "worst")) - 1; /* -1: no number. */
    kvc_page_put(to, "A day of %s, by %s, needs ", kvc_page_text(to->document, "system"),
                 kvc_page_text(to->document, "by"));
    if (isnan(kvc_page_number(to->document, "energy_kwh"))) {
        kvc_page_put(to, "an unknown energy, since no watts are stated for %s",
                     kvc_page_text(to->document, "watts_missing"));
    } else {
        kvc_page_put_number(to, "energy_kwh", "energy_ci95_kwh", "kWh");
    }
    if (!isnan(kvc_page_number(to->document, "cost_usd"))) {
        kvc_page_put(to, ", which costs ");
        kvc_page_put_number(to, "cost_usd", "", "US dollars");
    }
    snprintf(path, sizeof(path), "windows.%lld.from_hour", worst);
    kvc_page_put(to, ". It is worst from %s on, with ", clock_of(kvc_page_number(to->document, path), from));
    snprintf(path, sizeof(path), "windows.%lld.rate_mops", worst);
    kvc_page_put_number(to, path, "", "Mops");
    snprintf(path, sizeof(path), "windows.%lld.latency_p99_us", worst);
    if (!isnan(kvc_page_number(to->document, path))) {
        kvc_page_put(to, " and a 99th percentile of ");
        kvc_page_put_number(to, path, "", "µs");
    }
    const json_t *met = kvc_page_at(to->document, "slo_met");
    kvc_page_put(to, json_is_true(met)    ? ". Every window meets the objectives."
                     : json_is_false(met) ? ". Some windows miss an objective."
                                          : ".");
}

/* Puts whether the objectives of a window are met, and which are not. */
static void put_objectives(const struct kvc_page_writer *to, const json_t *window)
{
    const json_t *met = kvc_page_at(window, "slo_met"), *margin;
    const char *name;
    char text[256] = "";
    int used = 0;
    json_object_foreach((json_t *)window, name, margin)
    {
        static const char from[] = "slo_", to_end[] = "_margin_frac";
        int length = (int)strlen(name) - (int)strlen(from) - (int)strlen(to_end);
        if (length > 0 && strncmp(name, from, strlen(from)) == 0 &&
            strcmp(name + strlen(from) + length, to_end) == 0 && json_number_value(margin) < 0 &&
            used < (int)sizeof(text)) {
            used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%.*s", used > 0 ? ", " : ": ",
                             length, name + strlen(from));
        }
    }
    char cell[sizeof(text) + 16];
    snprintf(cell, sizeof(cell), "%s%s",
             json_is_true(met)    ? "met"
             : json_is_false(met) ? "not met"
                                  : "none",
             text);
    kvc_page_put_cell(to, cell);
}

void kvc_page_details_day(const struct kvc_page_writer *to)
{
    static const char *const shown[][2] = {{"rate_mops", ""},
                                           {"throughput_mops", "throughput_ci95_mops"},
                                           {"latency_mean_us", "latency_mean_ci95_us"},
                                           {"latency_p99_us", "latency_p99_ci95_us"},
                                           {"watts_mean", "watts_mean_ci95"},
                                           {"energy_kwh", ""}};
    const json_t *windows = kvc_page_at(to->document, "windows"), *window;
    size_t i;
    bool is_long = begin_long(to, json_array_size(windows));
    kvc_page_begin_table(
        to, "Windows with 95 % intervals",
        "From|#Load, Mops|#Throughput, Mops|#Mean latency, µs|#99th percentile, µs|#Power, W|#Energy, "
        "kWh|Objectives");
    json_array_foreach(windows, i, window)
    {
        char from[16];
        kvc_page_begin_row(to, clock_of(kvc_page_number(window, "from_hour"), from));
        for (size_t k = 0; k < sizeof(shown) / sizeof(*shown); k++) {
            kvc_page_put_value(to, kvc_page_number(window, shown[k][0]),
                               kvc_page_number(window, shown[k][1]));
        }
        put_objectives(to, window);
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
    kvc_page_mark(to, is_long ? "</details>\n" : "");
}

/* ---- a plan ---- */

/* Writes the values of a candidate: "cluster.nodes = 2, system.cycle = 120us". */
static void name_candidate(const json_t *candidate, char *name, size_t size)
{
    json_t *values = json_object_get(candidate, "values"), *value;
    const char *key;
    size_t length = 0;
    name[0] = '\0';
    json_object_foreach(values, key, value)
    {
        if (length < size) {
            length += (size_t)snprintf(name + length, size - length, "%s%s = %s", length > 0 ? ", " : "", key,
                                       json_is_string(value) ? json_string_value(value) : "");
        }
    }
}

/* Puts a value of the chosen candidate: the simulated one, or that of the closed form. */
static void put_chosen(const struct kvc_page_writer *to, const char *metric, const char *before,
                       const char *unit)
{
    char path[KVC_PAGE_KEY], interval[KVC_PAGE_KEY];
    snprintf(path, sizeof(path), "chosen.simulated.%s.mean", metric);
    snprintf(interval, sizeof(interval), "chosen.simulated.%s.half_width", metric);
    if (isnan(kvc_page_number(to->document, path))) {
        snprintf(path, sizeof(path), "chosen.closed_form.%s", metric);
    }
    if (!isnan(kvc_page_number(to->document, path))) {
        kvc_page_put(to, "%s", before);
        kvc_page_put_number(to, path, interval, unit);
    }
}

void kvc_page_answer_plan(const struct kvc_page_writer *to)
{
    char name[512];
    name_candidate(kvc_page_at(to->document, "chosen"), name, sizeof(name));
    if (!json_is_object(kvc_page_at(to->document, "chosen"))) {
        kvc_page_put(to, "None of the ");
        kvc_page_put_number(to, "counts.candidates", "", "candidates is known to meet all goals.");
        return;
    }
    kvc_page_put(to, "Of ");
    kvc_page_put_number(to, "counts.candidates", "", "candidates");
    kvc_page_put(to, ", the one with the least %s that meets all goals is %s",
                 kvc_page_text(to->document, "minimise"), name);
    put_chosen(to, "throughput_mops", ": it answers ", "Mops");
    put_chosen(to, "latency_p99_us", ", with a 99th percentile of ", "µs");
    put_chosen(to, "watts_mean", ", and takes ", "W");
    if (!isnan(kvc_page_number(to->document, "chosen.price_usd"))) {
        kvc_page_put(to, ", for ");
        kvc_page_put_number(to, "chosen.price_usd", "", "USD");
    }
    kvc_page_put(to, ".");
}

static void put_simulated(const struct kvc_page_writer *to, const json_t *candidate, const char *metric)
{
    const json_t *simulated = kvc_page_at(kvc_page_at(candidate, "simulated"), metric);
    double mean = kvc_page_number(simulated, "mean");
    kvc_page_put_value(to,
                       isnan(mean) ? kvc_page_number(kvc_page_at(candidate, "closed_form"), metric) : mean,
                       kvc_page_number(simulated, "half_width"));
}

void kvc_page_details_plan(const struct kvc_page_writer *to)
{
    const json_t *entry, *goals = kvc_page_at(to->document, "chosen.goals");
    size_t i;
    if (json_array_size(goals) > 0) {
        kvc_page_begin_table(to, "Goals", "Metric|#At most|#At least|#Found|#Margin, %");
        json_array_foreach(goals, i, entry)
        {
            kvc_page_begin_row(to, kvc_page_text(entry, "metric"));
            kvc_page_put_value(to, kvc_page_number(entry, "at_most"), NAN);
            kvc_page_put_value(to, kvc_page_number(entry, "at_least"), NAN);
            kvc_page_put_value(to, kvc_page_number(entry, "found"), kvc_page_number(entry, "half_width"));
            kvc_page_put_value(to, 100 * kvc_page_number(entry, "margin_frac"), NAN);
            kvc_page_end_row(to);
        }
        kvc_page_end_table(to);
    }
    kvc_page_begin_table(
        to, "The front: candidates that no other one beats in everything. Intervals mark simulated values.",
        "Candidate|#Nodes|#Price, USD|#Power, W|#Throughput, Mops|#99th percentile, µs|Fate");
    json_array_foreach(kvc_page_at(to->document, "front.points"), i, entry)
    {
        char name[512];
        name_candidate(entry, name, sizeof(name));
        kvc_page_begin_row(to, name);
        kvc_page_put_value(to, kvc_page_number(entry, "nodes"), NAN);
        kvc_page_put_value(to, kvc_page_number(entry, "price_usd"), NAN);
        put_simulated(to, entry, "watts_mean");
        put_simulated(to, entry, "throughput_mops");
        put_simulated(to, entry, "latency_p99_us");
        kvc_page_put_cell(to, kvc_page_text(entry, "fate"));
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
}

/* ---- a comparison ---- */

/* Puts the metric of a result and, but for the first, whether it differs. */
static void put_compared(const struct kvc_page_writer *to, const char *name, size_t result,
                         const char *before, const char *unit)
{
    const json_t *metric;
    size_t i;
    json_array_foreach(kvc_page_at(to->document, "metrics"), i, metric)
    {
        char path[KVC_PAGE_KEY], interval[KVC_PAGE_KEY], difference[KVC_PAGE_KEY];
        snprintf(path, sizeof(path), "metrics.%zu.values.%zu.mean", i, result);
        snprintf(interval, sizeof(interval), "metrics.%zu.values.%zu.ci95", i, result);
        snprintf(difference, sizeof(difference), "differences.%zu.verdict", result - 1);
        if (strcmp(kvc_page_text(metric, "name"), name) != 0 || isnan(kvc_page_number(to->document, path))) {
            continue;
        }
        kvc_page_put(to, "%s", before);
        kvc_page_put_number(to, path, interval, unit);
        const char *verdict = result > 0 ? kvc_page_text(metric, difference) : "";
        kvc_page_put(to, verdict[0] != '\0' ? " (%s)" : "%s", verdict);
    }
}

void kvc_page_answer_compare(const struct kvc_page_writer *to)
{
    size_t count = json_array_size(kvc_page_at(to->document, "results"));
    for (size_t i = 0; i < count; i++) {
        kvc_page_put(to, "%s%c", i > 0 ? "; " : "", 'A' + (int)i);
        put_compared(to, "throughput_mops", i, " answers ", "Mops");
        put_compared(to, "latency_p99_us", i, " with a 99th percentile of ", "µs");
    }
    kvc_page_put(to, ". The words in brackets say how it differs from A by more than chance.");
}

void kvc_page_details_compare(const struct kvc_page_writer *to)
{
    const json_t *entry, *results = kvc_page_at(to->document, "results"), *value;
    const json_t *parameters = kvc_page_at(to->document, "parameters");
    size_t i, j, count = json_array_size(results), length;
    char columns[512], letters[256];
    kvc_page_begin_table(to, "Results", "Result|Name|Store|Command|What binds");
    json_array_foreach(results, i, entry)
    {
        kvc_page_begin_row(to, (char[]){(char)('A' + (int)i), '\0'});
        kvc_page_put_cell(to, kvc_page_text(entry, "name"));
        kvc_page_put_cell(to, kvc_page_text(entry, "system"));
        kvc_page_put_cell(to, kvc_page_text(entry, "command"));
        kvc_page_put_cell(to, kvc_page_text(entry, "bottleneck.why"));
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
    length = (size_t)snprintf(columns, sizeof(columns), "Metric");
    letters[0] = '\0';
    for (i = 0; i < count && i < KVC_COMPARED_MAX; i++) {
        char letter = (char)('A' + (int)i);
        length += (size_t)snprintf(columns + length, sizeof(columns) - length,
                                   i == 0 ? "|#%c" : "|#%c|%c against A", letter, letter);
        snprintf(letters + 2 * i, sizeof(letters) - 2 * i, "|%c", letter);
    }
    kvc_page_begin_table(to, "Metrics with 95 % intervals", columns);
    json_array_foreach(kvc_page_at(to->document, "metrics"), i, entry)
    {
        const char *label = kvc_page_text(entry, "label"), *name = kvc_page_text(entry, "name");
        size_t bytes = strlen(name);
        bool is_share = bytes > 5 && strcmp(name + bytes - 5, "_frac") == 0;
        char row[160];
        if (label[0] == '\0') {
            continue; /* The table of kvcast compare leaves it out, too. */
        }
        snprintf(row, sizeof(row), "%.140s%s", label, is_share ? ", %" : "");
        kvc_page_begin_row(to, row);
        for (j = 0; j < count && j < KVC_COMPARED_MAX; j++) {
            const json_t *difference = json_array_get(kvc_page_at(entry, "differences"), j - 1);
            const char *verdict = kvc_page_text(difference, "verdict");
            double percent = 100 * kvc_page_number(difference, "change_frac"), scale = is_share ? 100 : 1;
            char change[64];
            value = json_array_get(kvc_page_at(entry, "values"), j);
            kvc_page_put_value(to, scale * kvc_page_number(value, "mean"),
                               scale * kvc_page_number(value, "ci95"));
            if (j > 0) {
                snprintf(change, sizeof(change), "%+.3g %% (%.30s)", percent,
                         verdict[0] != '\0' ? verdict : "not judged");
                kvc_page_put_cell(to, isnan(percent) ? verdict : change);
            }
        }
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
    snprintf(columns, sizeof(columns), "Parameter%s", letters);
    kvc_page_begin_table(to, "Parameters that differ", columns);
    json_array_foreach(parameters, i, entry)
    {
        kvc_page_begin_row(to, kvc_page_text(entry, "path"));
        json_array_foreach(kvc_page_at(entry, "values"), j, value)
        {
            char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(KVC_JSON_DIGITS));
            kvc_page_put_cell(to, json_is_string(value) ? json_string_value(value)
                                  : dump != NULL        ? dump
                                                        : "");
            free(dump);
        }
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
}

/* ---- tables: sweeps and errors ---- */

/* Returns the cell of a column, or "" where there is no such column. */
static const char *cell(const struct kvc_page_writer *to, size_t row, const char *column)
{
    long found = kvc_csv_column(to->page->csv, column);
    return found >= 0 ? kvc_csv_cell(to->page->csv, row, (size_t)found) : "";
}

/* Returns the number in a cell, or NaN. */
static double cell_number(const struct kvc_page_writer *to, size_t row, const char *column)
{
    struct kvc_diag ignored;
    double value = NAN;
    return kvc_csv_number(cell(to, row, column), &value, &ignored) == KVC_OK ? value : NAN;
}

static void put_cell_data(const struct kvc_page_writer *to, size_t row, const char *column, const char *unit)
{
    char key[KVC_PAGE_KEY];
    snprintf(key, sizeof(key), "row %zu %s", row + 1, column);
    kvc_page_put_data(to, cell_number(to, row, column), key);
    kvc_page_put(to, unit[0] != '\0' ? " %s" : "%s", unit);
}

/* Returns the number of columns with what is swept, which follow the first one. */
static size_t swept_columns(const struct kvc_csv *csv)
{
    long first = kvc_csv_column(csv, "throughput_mops");
    return first > 1 ? (size_t)first - 1 : 0;
}

void kvc_page_answer_sweep(const struct kvc_page_writer *to)
{
    const struct kvc_csv *csv = to->page->csv;
    size_t best = csv->rows, met = 0, judged = 0;
    for (size_t i = 0; i < csv->rows; i++) {
        const char *is_met = cell(to, i, "slo_met");
        double mops = cell_number(to, i, "throughput_mops");
        met += strcmp(is_met, "1") == 0;
        judged += is_met[0] != '\0';
        if (strcmp(is_met, "0") != 0 && !isnan(mops) &&
            (best == csv->rows || mops > cell_number(to, best, "throughput_mops"))) {
            best = i;
        }
    }
    kvc_page_put(to, "Of %zu points, ", csv->rows);
    if (judged > 0) {
        kvc_page_put(to, "%zu meet%s the objectives%s", met, met == 1 ? "s" : "",
                     best < csv->rows ? ", and of these " : "");
    }
    if (best < csv->rows) {
        kvc_page_put(to, "point %s has the highest throughput: ", cell(to, best, "point"));
        put_cell_data(to, best, "throughput_mops", "Mops");
        if (!isnan(cell_number(to, best, "latency_p99_us"))) {
            kvc_page_put(to, " with a 99th percentile of ");
            put_cell_data(to, best, "latency_p99_us", "µs");
        }
        for (size_t i = 1; i <= swept_columns(csv); i++) {
            kvc_page_put(to, "%s%s = %s", i == 1 ? ", with " : ", ", csv->cell[i],
                         kvc_csv_cell(csv, best, i));
        }
    } else if (judged == 0) {
        kvc_page_put(to, "none has a throughput");
    }
    kvc_page_put(to, ".");
}

void kvc_page_details_sweep(const struct kvc_page_writer *to)
{
    static const char *const shown[][2] = {{"throughput_mops", "throughput_ci95_mops"},
                                           {"latency_mean_us", "latency_mean_ci95_us"},
                                           {"latency_p99_us", "latency_p99_ci95_us"},
                                           {"watts_mean", "watts_mean_ci95"}};
    const struct kvc_csv *csv = to->page->csv;
    size_t swept = swept_columns(csv);
    char columns[4096];
    size_t length = (size_t)snprintf(columns, sizeof(columns), "Point");
    for (size_t i = 1; i <= swept && length < sizeof(columns); i++) {
        length += (size_t)snprintf(columns + length, sizeof(columns) - length, "|%.100s", csv->cell[i]);
    }
    snprintf(columns + (length < 3900 ? length : 3900), 196, "%s",
             "|#Throughput, Mops|#Mean latency, µs|#99th percentile, µs|#Power, W|What binds|Objectives");
    bool is_long = begin_long(to, csv->rows);
    kvc_page_begin_table(to, "Points with 95 % intervals", columns);
    for (size_t row = 0; row < csv->rows; row++) {
        const char *met = cell(to, row, "slo_met");
        kvc_page_begin_row(to, cell(to, row, "point"));
        for (size_t i = 1; i <= swept; i++) {
            kvc_page_put_cell(to, kvc_csv_cell(csv, row, i));
        }
        for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
            kvc_page_put_value(to, cell_number(to, row, shown[i][0]), cell_number(to, row, shown[i][1]));
        }
        kvc_page_put_cell(to, cell(to, row, "bottleneck"));
        kvc_page_put_cell(to, met[0] == '\0' ? "none" : strcmp(met, "1") == 0 ? "met" : "not met");
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
    kvc_page_mark(to, is_long ? "</details>\n" : "");
}

/* Returns the column that has what a row of errors is compared with. */
static const char *reference_of(const struct kvc_page_writer *to, size_t row)
{
    return cell(to, row, "published")[0] != '\0' ? "published" : "measured";
}

/* Returns the error of a prediction [fraction], or NaN if it has none. */
static double error_frac(const struct kvc_page_writer *to, size_t row)
{
    double reference = cell_number(to, row, reference_of(to, row));
    return reference != 0 ? cell_number(to, row, "predicted") / reference - 1 : NAN;
}

static int compare_numbers(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

void kvc_page_answer_errors(const struct kvc_page_writer *to)
{
    const struct kvc_csv *csv = to->page->csv;
    double *errors = kvc_array_of(csv->rows, sizeof(*errors));
    size_t count = 0, worst = 0;
    for (size_t i = 0; i < csv->rows; i++) {
        double error = fabs(error_frac(to, i));
        if (!isnan(error)) {
            worst = count == 0 || error > fabs(error_frac(to, worst)) ? i : worst;
            errors[count++] = error;
        }
    }
    qsort(errors, count, sizeof(*errors), compare_numbers);
    kvc_page_put(to, "%zu of %zu predictions can be compared", count, csv->rows);
    if (count > 0) {
        kvc_page_put(to, ": half of them are within ");
        kvc_page_put_data(to, 50 * (errors[(count - 1) / 2] + errors[count / 2]), "median error, %");
        kvc_page_put(to, " %% of what was measured or published, and the worst, %s, is wrong by ",
                     cell(to, worst, "case"));
        kvc_page_put_data(to, 100 * fabs(error_frac(to, worst)), "worst error, %");
        kvc_page_put(to, " %%: ");
        put_cell_data(to, worst, "predicted", "instead of ");
        put_cell_data(to, worst, reference_of(to, worst), "");
    }
    kvc_page_put(to, ".");
    free(errors);
}

void kvc_page_details_errors(const struct kvc_page_writer *to)
{
    bool is_long = begin_long(to, to->page->csv->rows);
    kvc_page_begin_table(to, "Predictions", "Case|Metric|From|#Value|#Predicted|#Error, %");
    for (size_t row = 0; row < to->page->csv->rows; row++) {
        kvc_page_begin_row(to, cell(to, row, "case"));
        kvc_page_put_cell(to, cell(to, row, "metric"));
        kvc_page_put_cell(to, reference_of(to, row));
        kvc_page_put_value(to, cell_number(to, row, reference_of(to, row)), NAN);
        kvc_page_put_value(to, cell_number(to, row, "predicted"), NAN);
        kvc_page_put_value(to, 100 * error_frac(to, row), NAN);
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
    kvc_page_mark(to, is_long ? "</details>\n" : "");
}

/* ---- what binds ---- */

void kvc_page_answer_why(const struct kvc_page_writer *to)
{
    kvc_page_put(to, "%s, by its %s, answers ", kvc_page_text(to->document, "system"),
                 kvc_page_text(to->document, "answer"));
    kvc_page_put_number(to, "throughput_mops.mean", "throughput_mops.ci95", "Mops");
    if (!isnan(kvc_page_number(to->document, "latency_us.mean"))) {
        kvc_page_put(to, " with a mean latency of ");
        kvc_page_put_number(to, "latency_us.mean", "latency_us.mean_ci95", "µs");
    }
    const char *stage = kvc_page_text(to->document, "bottleneck.stage");
    kvc_page_put(to, strcmp(stage, "load") == 0 ? "; the %s is the limit." : "; %s binds.", stage);
}

void kvc_page_details_why(const struct kvc_page_writer *to)
{
    static const char *const changes[] = {"throughput", "latency_mean", "latency_p99"};
    const json_t *entry, *parts = kvc_page_at(to->document, "path.parts");
    size_t i;
    kvc_page_begin_table(to, "What a resource would change if it were 5 % faster, with 95 % intervals",
                         "Resource|#Busy, %|#Throughput, %|#Mean latency, %|#99th percentile, %");
    json_array_foreach(kvc_page_at(to->document, "resources"), i, entry)
    {
        kvc_page_begin_row(to, kvc_page_text(entry, "resource"));
        kvc_page_put_value(to, 100 * kvc_page_number(entry, "utilization_frac"), NAN);
        for (size_t k = 0; k < sizeof(changes) / sizeof(*changes); k++) {
            const json_t *change = kvc_page_at(entry, changes[k]);
            kvc_page_put_value(to, 100 * kvc_page_number(change, "change_frac"),
                               100 * kvc_page_number(change, "ci95_frac"));
        }
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
    if (json_array_size(parts) > 0) {
        kvc_page_begin_table(to, "Where requests spend their time",
                             "Part|#All, µs|#All, %|#Slowest 1 %, µs|#Slowest 1 %, %");
        json_array_foreach(parts, i, entry)
        {
            kvc_page_begin_row(to, kvc_page_text(entry, "part"));
            kvc_page_put_value(to, kvc_page_number(entry, "mean_us"), NAN);
            kvc_page_put_value(to, 100 * kvc_page_number(entry, "mean_frac"), NAN);
            kvc_page_put_value(to, kvc_page_number(entry, "slowest_us"), NAN);
            kvc_page_put_value(to, 100 * kvc_page_number(entry, "slowest_frac"), NAN);
            kvc_page_end_row(to);
        }
        kvc_page_end_table(to);
    }
}

/* ---- a trace ---- */

void kvc_page_answer_trace(const struct kvc_page_writer *to)
{
    kvc_page_put(to, "%s (%s) has ", kvc_page_text(to->document, "trace"),
                 kvc_page_text(to->document, "format"));
    kvc_page_put_number(to, "requests", "", "requests for ");
    kvc_page_put_number(to, "keys", "", "keys, whose pairs have ");
    kvc_page_put_number(to, "footprint_bytes", "", "bytes together. ");
    if (!isnan(kvc_page_number(to->document, "repeated_get_frac"))) {
        kvc_page_put(to, "A cache with room for all pairs would answer %.2f %% of the GETs. ",
                     100 * kvc_page_number(to->document, "repeated_get_frac"));
    }
    kvc_page_put(to, "A Zipf exponent of ");
    kvc_page_put_data(to, kvc_page_number(to->document, "zipf"), "zipf");
    kvc_page_put(
        to,
        " fits the popularity of the keys best; the share of requests for the most popular keys is at most "
        "%.2g points off.",
        100 * kvc_page_number(to->document, "zipf_ks_distance"));
    if (!isnan(kvc_page_number(to->document, "twin_miss_frac_off_max"))) {
        kvc_page_put(to, " The miss ratio of its twin, %s, is at most %.3g points off.",
                     kvc_page_text(to->document, "twin"),
                     100 * kvc_page_number(to->document, "twin_miss_frac_off_max"));
    }
}

static void put_facts(const struct kvc_page_writer *to)
{
    static const struct {
        const char *name, *key;
        double times;
    } facts[] = {{"Length, s", "duration_s", 1},
                 {"Rate, Mops", "mops", 1},
                 {"Requests in the busiest second", "busiest_s_requests", 1},
                 {"GETs, %", "get_frac", 100},
                 {"SETs, %", "set_frac", 100},
                 {"DELETEs, %", "delete_frac", 100},
                 {"Mean key, bytes", "key_bytes_mean", 1},
                 {"Largest key, bytes", "key_bytes_max", 1},
                 {"Mean value, bytes", "value_bytes_mean", 1},
                 {"Largest value, bytes", "value_bytes_max", 1}};
    kvc_page_begin_table(to, "The trace", "Fact|#Value");
    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
        kvc_page_begin_row(to, facts[i].name);
        kvc_page_put_value(to, facts[i].times * kvc_page_number(to->document, facts[i].key), NAN);
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
}

void kvc_page_details_trace(const struct kvc_page_writer *to)
{
    const json_t *entry, *reuse = kvc_page_at(to->document, "reuse_distance");
    char name[32];
    size_t i;
    put_facts(to);
    if (json_array_size(reuse) > 0) {
        kvc_page_begin_table(to, "How soon keys come back",
                             "Share of the repeated GETs, %|#Within keys|#Within bytes");
        json_array_foreach(reuse, i, entry)
        {
            snprintf(name, sizeof(name), "%.4g", 100 * kvc_page_number(entry, "p"));
            kvc_page_begin_row(to, name);
            kvc_page_put_value(to, kvc_page_number(entry, "keys"), NAN);
            kvc_page_put_value(to, kvc_page_number(entry, "bytes"), NAN);
            kvc_page_end_row(to);
        }
        kvc_page_end_table(to);
    }
    kvc_page_begin_table(to, "Misses of an LRU cache",
                         "Cache, bytes|#Of all bytes, %|#Misses, % of the GETs");
    json_array_foreach(kvc_page_at(to->document, "miss_ratio_curve"), i, entry)
    {
        snprintf(name, sizeof(name), "%.0f", kvc_page_number(entry, "cache_bytes"));
        kvc_page_begin_row(to, name);
        kvc_page_put_value(to, 100 * kvc_page_number(entry, "footprint_frac"), NAN);
        kvc_page_put_value(to, 100 * kvc_page_number(entry, "miss_frac"), NAN);
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
}

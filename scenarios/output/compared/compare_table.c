#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/document.h"
#include "scenarios/output/compared/compare.h"
#include "scenarios/output/table.h"

enum { NAME_COLUMNS = 32, FIRST_COLUMNS = 22, OTHER_COLUMNS = 44 };

/* Prints a value with its interval; shares are printed in percent. */
static void print_value(const json_t *value, bool is_share, char *out, size_t size)
{
    double scale = is_share ? 100 : 1, mean = kvc_document_number(value, "mean") * scale;
    double half_width = kvc_document_number(value, "ci95") * scale;
    const char *unit = is_share ? " %" : "";
    if (isnan(mean)) {
        snprintf(out, size, "-");
    } else if (!(half_width > 0)) {
        snprintf(out, size, "%.4g%s", mean, unit);
    } else {
        snprintf(out, size, "%.4g%s +- %.2g", mean, unit, half_width);
    }
}

/* Prints by how much a value differs: a share in points, other values relative to the first. */
static void print_change(const json_t *difference, bool is_share, char *out, size_t size)
{
    double change = 100 * kvc_document_number(difference, is_share ? "change" : "change_frac");
    const char *verdict = kvc_document_text(difference, "verdict");
    if (isnan(change) || strcmp(verdict, "same") == 0) {
        snprintf(out, size, "%s", isnan(change) ? "" : verdict);
        return;
    }
    const char *judged = strcmp(verdict, "-") == 0 ? "(not judged)" : verdict;
    if (!is_share && change >= 1000) {
        snprintf(out, size, "%.3g times %s", 1 + change / 100, judged);
    } else {
        snprintf(out, size, "%+.3g %s %s", change, is_share ? "points" : "%", judged);
    }
}

/* Writes the cell of result `at` of `count`, and at least one blank or the end of the line. */
static void write_cell(const struct kvc_table *table, const char *cell, size_t at, size_t count)
{
    int columns = at + 1 == count ? 0 : at == 0 ? FIRST_COLUMNS - 1 : OTHER_COLUMNS - 1;
    fprintf(table->out, "%-*s%c", columns, cell, at + 1 == count ? '\n' : ' ');
}

static void write_label(const struct kvc_table *table, const char *label)
{
    fprintf(table->out, "%-*s ", NAME_COLUMNS - 1, label);
}

static void write_metric(const struct kvc_table *table, const json_t *metric)
{
    const json_t *values = json_object_get(metric, "values");
    const char *name = kvc_document_text(metric, "name");
    size_t length = strlen(name), count = json_array_size(values);
    bool is_share = length > 5 && strcmp(name + length - 5, "_frac") == 0;
    write_label(table, kvc_document_text(metric, "label"));
    for (size_t i = 0; i < count; i++) {
        const json_t *difference = json_array_get(json_object_get(metric, "differences"), i - 1);
        const char *verdict = kvc_document_text(difference, "verdict");
        bool differs = strcmp(verdict, "higher") == 0 || strcmp(verdict, "lower") == 0;
        char value[64], change[64] = "", cell[160];
        print_value(json_array_get(values, i), is_share, value, sizeof(value));
        print_change(difference, is_share, change, sizeof(change));
        snprintf(cell, sizeof(cell), "%-*s%s", change[0] == '\0' ? 0 : FIRST_COLUMNS, value, change);
        fputs(differs ? table->bold : "", table->out);
        write_cell(table, cell, i, count);
        fputs(differs ? table->plain : "", table->out);
    }
}

static void write_results(const struct kvc_table *table, const json_t *results)
{
    const json_t *result;
    size_t i, count = json_array_size(results);
    json_array_foreach(results, i, result)
    {
        fprintf(table->out, "%s%c%s  %s  (%s: %s, %s)\n", table->bold, 'A' + (int)i, table->plain,
                kvc_document_text(result, "name"), kvc_document_text(result, "scenario"),
                kvc_document_text(result, "system"), kvc_document_text(result, "command"));
    }
    fprintf(table->out, "\n%s", table->bold);
    write_label(table, "");
    for (i = 0; i < count; i++) {
        write_cell(table, (char[]){(char)('A' + (int)i), '\0'}, i, count);
    }
    fputs(table->plain, table->out);
}

static void write_bottlenecks(const struct kvc_table *table, const json_t *results)
{
    const json_t *result;
    size_t i, count = json_array_size(results);
    write_label(table, "bottleneck");
    json_array_foreach(results, i, result)
    {
        const json_t *bottleneck = json_object_get(result, "bottleneck");
        char cell[128];
        snprintf(cell, sizeof(cell), "%s (%s)", kvc_document_text(bottleneck, "stage"),
                 kvc_document_text(bottleneck, "device"));
        write_cell(table, strcmp(kvc_document_text(bottleneck, "stage"), "load") == 0 ? "the load" : cell, i,
                   count);
    }
}

/* Returns whether a path is that of a value of a device whose profile differs, too. */
static bool is_of_profile(const json_t *parameters, const char *path)
{
    const json_t *parameter;
    size_t i;
    json_array_foreach(parameters, i, parameter)
    {
        const char *base = kvc_document_text(parameter, "path");
        size_t length = strlen(base);
        if (length > 5 && strcmp(base + length - 5, ".base") == 0 && strcmp(base, path) != 0 &&
            strncmp(base, path, length - 4) == 0) {
            return true;
        }
    }
    return false;
}

/* The values of another profile are only counted. */
static void write_parameters(const struct kvc_table *table, const json_t *parameters)
{
    const json_t *parameter, *value;
    size_t i, j, hidden = 0;
    json_array_foreach(parameters, i, parameter)
    {
        const json_t *values = json_object_get(parameter, "values");
        const char *path = kvc_document_text(parameter, "path");
        fputs(i == 0 ? "\nparameters that differ\n" : "", table->out);
        if (is_of_profile(parameters, path)) {
            hidden++;
            continue;
        }
        write_label(table, path);
        json_array_foreach(values, j, value)
        {
            char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
            bool is_known = dump != NULL && strcmp(dump, "null") != 0;
            write_cell(table, is_known ? dump : "-", j, json_array_size(values));
            free(dump);
        }
    }
    if (hidden > 0) {
        fprintf(table->out, "and %zu value%s of these hardware profiles\n", hidden, hidden == 1 ? "" : "s");
    }
}

void kvc_compare_write_table(const json_t *comparison, bool color, FILE *out)
{
    struct kvc_table table = kvc_table_begin(out, color);
    const json_t *metric, *note;
    size_t i;
    write_results(&table, json_object_get(comparison, "results"));
    json_array_foreach(json_object_get(comparison, "metrics"), i, metric)
    {
        if (json_is_string(json_object_get(metric, "label"))) {
            write_metric(&table, metric);
        }
    }
    write_bottlenecks(&table, json_object_get(comparison, "results"));
    write_parameters(&table, json_object_get(comparison, "parameters"));
    json_array_foreach(json_object_get(comparison, "notes"), i, note)
    {
        fprintf(out, "%s%s%s%s\n", i == 0 ? "\n" : "", table.warn, json_string_value(note), table.plain);
    }
}

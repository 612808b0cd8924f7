#include "plots/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/text/csv.h"
#include "sim/base/text/option.h"

enum {
    NAME_MAX_BYTES = 128,
    TITLE_BYTES = 256,
    CATEGORIES_MAX = 40,
    LIST_BYTES = 600, /* Room for the names in a message. */
    NAMES_MAX = 512,  /* Most columns that are searched for a similar name. */
};

/* ---- units ---- */

/* The endings of columns, the dimension that they mean, and the units in which a person writes it. */
static const struct dimension {
    const char *suffix;
    enum kvc_unit unit;
    const char *words[6], *decimal[6]; /* `decimal` has powers of 1000, where they differ. */
} dimensions[] = {
    {"_ns", KVC_UNIT_NS, {"ns", "us", "ms", "s"}, {NULL}},
    {"_bytes_per_s", KVC_UNIT_BYTES_PER_S, {"B/s", "KB/s", "MB/s", "GB/s"}, {NULL}},
    {"_bytes", KVC_UNIT_BYTES, {"B", "KiB", "MiB", "GiB"}, {"B", "KB", "MB", "GB"}},
    {"_hz", KVC_UNIT_HZ, {"Hz", "kHz", "MHz", "GHz"}, {NULL}},
    {"_mops", KVC_UNIT_MOPS, {"Mops"}, {NULL}},
    {"_watts", KVC_UNIT_WATTS, {"W"}, {NULL}},
};

/* Returns the length of a name without the ending, or 0 if it does not end so. */
static size_t stem(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0 ? length - tail : 0;
}

/* A swept value: a column of the table. */
struct axis {
    size_t column;
    char name[NAME_MAX_BYTES]; /* As the scenario has it, without the unit. */
    bool is_numeric;
    double factor;    /* Units of the column in one of the unit `word`. */
    const char *word; /* Unit in which values are written: "us"; empty: none. */
};

/* Chooses the largest of the units in which the smallest of the values other than 0 is at least 1. */
static void choose_unit(const struct kvc_csv *csv, struct axis *axis, const struct dimension *dimension)
{
    double smallest = INFINITY, scale;
    bool is_decimal = dimension->decimal[0] != NULL;
    const char *expected;
    for (size_t i = 0; i < csv->rows; i++) {
        double value = fabs(strtod(kvc_csv_cell(csv, i, axis->column), NULL));
        smallest = value > 0 ? fmin(smallest, value) : smallest;
        is_decimal = is_decimal && fmod(value, 1000) == 0;
    }
    const char *const *words = is_decimal ? dimension->decimal : dimension->words;
    for (size_t i = 0; words[i] != NULL; i++) {
        char one[16];
        snprintf(one, sizeof(one), "1%s", words[i]);
        if (i == 0 || (kvc_quantity_parse(one, dimension->unit, &scale, &expected) && scale <= smallest)) {
            axis->word = words[i];
            axis->factor = i == 0 ? 1 : scale;
        }
    }
}

static struct axis axis_of(const struct kvc_csv *csv, size_t column)
{
    struct axis axis = {.column = column, .is_numeric = true, .factor = 1, .word = ""};
    struct kvc_diag ignored = {0};
    double value;
    for (size_t i = 0; i < csv->rows && axis.is_numeric; i++) {
        axis.is_numeric =
            kvc_csv_number(kvc_csv_cell(csv, i, column), &value, &ignored) == KVC_OK && !isnan(value);
    }
    snprintf(axis.name, sizeof(axis.name), "%s", csv->cell[column]);
    for (size_t i = 0; i < sizeof(dimensions) / sizeof(*dimensions) && axis.is_numeric; i++) {
        size_t length = stem(csv->cell[column], dimensions[i].suffix);
        if (length > 0 && length < sizeof(axis.name)) {
            axis.name[length] = '\0';
            choose_unit(csv, &axis, &dimensions[i]);
            break;
        }
    }
    return axis;
}

/* Writes a unit as it is printed: "us" with its Greek letter. */
static const char *printed(const char *word)
{
    return strcmp(word, "us") == 0 ? "µs" : word;
}

/* Writes the value that an axis has in a row: "160 µs", "875 MHz", "getk"; or "160" without its unit. */
static void put_value(const struct kvc_csv *csv, size_t row, const struct axis *axis, bool with_unit,
                      char text[NAME_MAX_BYTES])
{
    const char *cell = kvc_csv_cell(csv, row, axis->column);
    double value = strtod(cell, NULL) / axis->factor;
    const char *word = with_unit ? printed(axis->word) : "", *blank = word[0] != '\0' ? " " : "";
    if (!axis->is_numeric) {
        snprintf(text, NAME_MAX_BYTES, "%s", cell);
    } else if (value == round(value) && fabs(value) < 1e15) {
        snprintf(text, NAME_MAX_BYTES, "%.0f%s%s", value, blank, word);
    } else {
        snprintf(text, NAME_MAX_BYTES, "%.6g%s%s", value, blank, word);
    }
}

/* ---- metrics ---- */

/* A column over which the swept values are drawn. */
struct metric {
    size_t column;
    long interval; /* Column with half the width of its interval; -1: none. */
    long margin;   /* Column with the margin of the objective for it; -1: none. */
    bool at_least; /* The objective is a lower bound. */
    double scale;  /* Shares are drawn as percentages. */
    char label[KVC_AXIS_TEXT];
};

static const struct {
    const char *column, *label, *objective;
    bool at_least;
} known[] = {
    {"throughput_mops", "throughput (Mops)", "mops", true},
    {"offered_mops", "offered load (Mops)", NULL, false},
    {"lost_frac", "lost requests (%)", NULL, false},
    {"unserved_frac", "requests that stay behind (%)", NULL, false},
    {"hit_frac", "hit ratio (%)", "hit", true},
    {"latency_mean_us", "mean latency (µs)", NULL, false},
    {"latency_p50_us", "p50 latency (µs)", "p50", false},
    {"latency_p95_us", "p95 latency (µs)", "p95", false},
    {"latency_p99_us", "p99 latency (µs)", "p99", false},
    {"latency_p999_us", "p99.9 latency (µs)", "p999", false},
    {"watts_mean", "power (W)", "watts", false},
    {"kops_per_watt", "requests per energy (kops/W)", NULL, false},
    {"price_usd", "price (US dollars)", "price", false},
};

/* The units of other metrics. */
static const struct {
    const char *suffix, *unit;
} endings[] = {{"_frac", "%"},    {"_us", "µs"}, {"_ns", "ns"},       {"_ms", "ms"}, {"_bytes_per_s", "B/s"},
               {"_mops", "Mops"}, {"_s", "s"},   {"_bytes", "bytes"}, {"_hz", "Hz"}, {"_watts", "W"}};

/* Writes a metric that is not known as words: "bottleneck utilization (%)". */
static void label_words(const char *column, char label[KVC_AXIS_TEXT])
{
    int length = (int)strlen(column);
    const char *unit = "";
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
        if (stem(column, endings[i].suffix) > 0) {
            length = (int)stem(column, endings[i].suffix);
            unit = endings[i].unit;
            break;
        }
    }
    snprintf(label, KVC_AXIS_TEXT, "%.*s%s%s%s", length < 120 ? length : 120, column,
             unit[0] != '\0' ? " (" : "", unit, unit[0] != '\0' ? ")" : "");
    for (char *at = label; *at != '\0'; at++) {
        *at = *at == '_' ? ' ' : *at;
    }
}

/* Returns the column of a metric's interval: ci95 stands before the unit, or at the end. */
static long interval_of(const struct kvc_csv *csv, const char *column)
{
    char name[NAME_MAX_BYTES + 16];
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
        size_t length = stem(column, endings[i].suffix);
        if (length > 0) {
            snprintf(name, sizeof(name), "%.*s_ci95%s", (int)length, column, endings[i].suffix);
            return kvc_csv_column(csv, name);
        }
    }
    snprintf(name, sizeof(name), "%.100s_ci95", column);
    return kvc_csv_column(csv, name);
}

static struct metric metric_of(const struct kvc_csv *csv, size_t column)
{
    const char *name = csv->cell[column];
    struct metric metric = {.column = column,
                            .interval = interval_of(csv, name),
                            .margin = -1,
                            .scale = stem(name, "_frac") > 0 ? 100 : 1};
    label_words(name, metric.label);
    size_t tenant = strncmp(name, "tenant_", strlen("tenant_")) == 0 ? stem(name, "_latency_p99_us") : 0;
    if (tenant > 0) { /* "tenant_web_latency_p99_us" */
        char margin[NAME_MAX_BYTES + 32];
        snprintf(margin, sizeof(margin), "slo_%.*s_p99_margin_frac", (int)tenant, name);
        metric.margin = kvc_csv_column(csv, margin);
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (strcmp(name, known[i].column) == 0) {
            char margin[64];
            snprintf(margin, sizeof(margin), "slo_%s_margin_frac", known[i].objective);
            snprintf(metric.label, sizeof(metric.label), "%s", known[i].label);
            metric.margin = known[i].objective != NULL ? kvc_csv_column(csv, margin) : -1;
            metric.at_least = known[i].at_least;
        }
    }
    return metric;
}

/* Returns a cell as a number; NaN if it is empty. */
static double number_at(const struct kvc_csv *csv, size_t row, long column)
{
    const char *cell = column >= 0 ? kvc_csv_cell(csv, row, (size_t)column) : "";
    return cell[0] != '\0' ? strtod(cell, NULL) : NAN;
}

/* Returns the objective that a row was compared with; NaN if there is none. The margin is the distance from
 * the objective relative to it. */
static double objective_of(const struct kvc_csv *csv, size_t row, const struct metric *metric)
{
    double margin = number_at(csv, row, metric->margin), value = number_at(csv, row, (long)metric->column);
    return value / (metric->at_least ? 1 + margin : 1 - margin);
}

/* ---- choosing columns ---- */

/* What a picture draws, by the user's choice. */
struct choice {
    const struct kvc_csv *csv;
    size_t axes; /* Swept values: columns 1 to `axes`. */
    struct axis *axis;
    size_t x;      /* The axis that x shows. */
    bool *is_line; /* Whether an axis is one of the lines. */
    struct metric y;
};

/* Returns whether a column has a number in at least one row, and is not an interval. */
static bool is_metric(const struct kvc_csv *csv, size_t column)
{
    bool has_number = false;
    for (size_t i = 0; i < csv->rows && !has_number; i++) {
        struct kvc_diag ignored = {0};
        double value;
        has_number =
            kvc_csv_number(kvc_csv_cell(csv, i, column), &value, &ignored) == KVC_OK && !isnan(value);
    }
    return has_number && strstr(csv->cell[column], "ci95") == NULL;
}

/* Checks the numbers that are drawn. An empty cell is unknown. */
static enum kvc_status check_column(const struct kvc_csv *csv, const char *path, long column,
                                    struct kvc_diag *diag)
{
    for (size_t i = 0; i < csv->rows && column >= 0; i++) {
        struct kvc_diag ignored = {0};
        double value;
        const char *cell = kvc_csv_cell(csv, i, (size_t)column);
        if (kvc_csv_number(cell, &value, &ignored) != KVC_OK) {
            return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, kvc_csv_line(csv, i),
                                    "%.60s: found \"%.60s\", allowed: a number", csv->cell[column], cell);
        }
    }
    return KVC_OK;
}

/* Appends a name to a list, or counts it if the list is full. */
static void list(char names[LIST_BYTES], size_t *more, const char *name)
{
    size_t used = strlen(names);
    if (used + strlen(name) + 32 >= LIST_BYTES) {
        ++*more;
        return;
    }
    snprintf(names + used, LIST_BYTES - used, "%s%s", used > 0 ? ", " : "", name);
}

/* Fails because no swept value (`of_axes`) or metric is called so, and lists those that there are. */
static enum kvc_status fail_unknown(const struct choice *choice, const char *option, const char *found,
                                    bool of_axes, struct kvc_diag *diag)
{
    const char *names[NAMES_MAX + 1];
    char text[LIST_BYTES] = "", rest[64] = "";
    size_t count = 0, more = 0;
    for (size_t i = 0; i < choice->axes && of_axes && count < NAMES_MAX; i++) {
        names[count++] = choice->axis[i].name;
    }
    for (size_t i = choice->axes + 1; i < choice->csv->columns && !of_axes && count < NAMES_MAX; i++) {
        if (is_metric(choice->csv, i)) {
            names[count++] = choice->csv->cell[i];
        }
    }
    names[count] = NULL;
    for (size_t i = 0; i < count; i++) {
        list(text, &more, names[i]);
    }
    if (more > 0) {
        snprintf(rest, sizeof(rest), " and %zu more columns of its first line", more);
    }
    const char *nearest = kvc_nearest_name(found, names);
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "plot: found %s %.100s, allowed: %s%s%s%s%s", option, found,
                         text, rest, nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
                         nearest != NULL ? "?" : "");
}

/* Finds a swept value by its path or by the name of its column. */
static bool find_axis(const struct choice *choice, const char *name, size_t *axis)
{
    for (size_t i = 0; i < choice->axes; i++) {
        if (strcmp(choice->axis[i].name, name) == 0 ||
            strcmp(choice->csv->cell[choice->axis[i].column], name) == 0) {
            *axis = i;
            return true;
        }
    }
    return false;
}

static enum kvc_status choose_lines(struct choice *choice, const char *by, struct kvc_diag *diag)
{
    if (by == NULL) {
        if (choice->axes > 1) {
            choice->is_line[choice->x == 0 ? 1 : 0] = true;
        }
        return KVC_OK;
    }
    for (const char *at = by; *at != '\0';) {
        char name[NAME_MAX_BYTES];
        size_t axis, length = strcspn(at, ",");
        snprintf(name, sizeof(name), "%.*s", (int)(length < 127 ? length : 127), at);
        at += length + (at[length] == ',');
        if (!find_axis(choice, name, &axis)) {
            return fail_unknown(choice, "--by", name, true, diag);
        }
        if (axis == choice->x) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "plot: found %s as --by and as -x, allowed: each swept value once", name);
        }
        choice->is_line[axis] = true;
    }
    return KVC_OK;
}

static enum kvc_status choose(struct choice *choice, const char *path, const struct kvc_sweep_view *view,
                              struct kvc_diag *diag)
{
    const char *y = view->y != NULL ? view->y : "throughput_mops";
    long column = kvc_csv_column(choice->csv, y);
    if (view->x != NULL && !find_axis(choice, view->x, &choice->x)) {
        return fail_unknown(choice, "-x", view->x, true, diag);
    }
    enum kvc_status status = view->y == NULL ? check_column(choice->csv, path, column, diag) : KVC_OK;
    if (status == KVC_OK && (column <= (long)choice->axes || !is_metric(choice->csv, (size_t)column))) {
        status = fail_unknown(choice, "-y", y, false, diag);
    }
    if (status == KVC_OK) {
        choice->y = metric_of(choice->csv, (size_t)column);
        status = check_column(choice->csv, path, column, diag);
    }
    if (status == KVC_OK) {
        status = check_column(choice->csv, path, choice->y.interval, diag);
    }
    return status == KVC_OK ? choose_lines(choice, view->by, diag) : status;
}

/* ---- points ---- */

/* Distinct texts in the order of their appearance. */
struct texts {
    char (*text)[TITLE_BYTES];
    uint32_t count, most;
};

/* Returns the number of a text, which is added if it is new and there is room; else `most`. */
static uint32_t number_of(struct texts *texts, const char *text)
{
    uint32_t i = 0;
    while (i < texts->count && strcmp(texts->text[i], text) != 0) {
        i++;
    }
    if (i == texts->count && i < texts->most) {
        snprintf(texts->text[texts->count++], TITLE_BYTES, "%s", text);
    }
    return i;
}

struct point {
    uint32_t panel, line;
    size_t row;
    double x, y, half_width;
};

static int compare_points(const void *a, const void *b)
{
    const struct point *one = a, *other = b;
    return one->panel != other->panel ? (one->panel > other->panel) - (one->panel < other->panel)
           : one->line != other->line ? (one->line > other->line) - (one->line < other->line)
           : one->x != other->x       ? (one->x > other->x) - (one->x < other->x)
                                      : (one->row > other->row) - (one->row < other->row);
}

/* Returns the part of a path after its last dot, or all of it if another swept value has the same part. */
static const char *short_name(const struct choice *choice, size_t axis)
{
    const char *dot = strrchr(choice->axis[axis].name, '.');
    for (size_t i = 0; i < choice->axes && dot != NULL; i++) {
        const char *other = strrchr(choice->axis[i].name, '.');
        if (i != axis && other != NULL && strcmp(other, dot) == 0) {
            dot = NULL;
        }
    }
    return dot != NULL ? dot + 1 : choice->axis[axis].name;
}

/* Writes the names of the swept values that lines differ in, if there are several: "gpu_core, api". They are
 * the title of the legend, which then has the values alone. */
static void name_lines(const struct choice *choice, char title[TITLE_BYTES])
{
    size_t length = 0, count = 0;
    title[0] = '\0';
    for (size_t i = 0; i < choice->axes && length < TITLE_BYTES; i++) {
        if (choice->is_line[i]) {
            length += (size_t)snprintf(title + length, TITLE_BYTES - length, "%s%s", count++ > 0 ? ", " : "",
                                       short_name(choice, i));
        }
    }
    if (count < 2) {
        title[0] = '\0';
    }
}

/* Names the line or the panel of a row by its swept values: "gpu_core = 875 MHz", or without the names. */
static void title_of(const struct choice *choice, size_t row, bool of_lines, bool with_names,
                     char title[TITLE_BYTES])
{
    size_t length = 0;
    title[0] = '\0';
    for (size_t i = 0; i < choice->axes; i++) {
        char value[NAME_MAX_BYTES];
        if (i == choice->x || choice->is_line[i] != of_lines || length >= TITLE_BYTES) {
            continue;
        }
        put_value(choice->csv, row, &choice->axis[i], true, value);
        length += (size_t)snprintf(title + length, TITLE_BYTES - length, "%s%s%s%s", length > 0 ? ", " : "",
                                   with_names ? short_name(choice, i) : "", with_names ? " = " : "", value);
    }
}

static enum kvc_status fail_crowded(const struct choice *choice, const char *what, uint32_t most,
                                    const char *remedy, struct kvc_diag *diag)
{
    char text[LIST_BYTES] = "";
    size_t more = 0;
    for (size_t i = 0; i < choice->axes; i++) {
        list(text, &more, choice->axis[i].name);
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                         "plot: found more than %u %s, allowed: %u; %s (swept are %s)", most, what, most,
                         remedy, text);
}

/* Fills the points, and names lines, panels and categories. */
static enum kvc_status place(const struct choice *choice, struct point *points, struct texts *lines,
                             struct texts *panels, struct texts *categories, struct kvc_diag *diag)
{
    const struct axis *x = &choice->axis[choice->x];
    char names[TITLE_BYTES];
    name_lines(choice, names);
    for (size_t i = 0; i < choice->csv->rows; i++) {
        char title[TITLE_BYTES];
        double y = number_at(choice->csv, i, (long)choice->y.column);
        double half_width = number_at(choice->csv, i, choice->y.interval);
        points[i] =
            (struct point){.row = i, .y = y * choice->y.scale, .half_width = half_width * choice->y.scale};
        title_of(choice, i, true, names[0] == '\0', title);
        points[i].line = number_of(lines, title);
        title_of(choice, i, false, true, title);
        points[i].panel = number_of(panels, title);
        points[i].x = x->is_numeric ? number_at(choice->csv, i, (long)x->column) / x->factor
                                    : number_of(categories, kvc_csv_cell(choice->csv, i, x->column));
        if (points[i].line == lines->most) {
            return fail_crowded(choice, "lines", lines->most, "choose another value with --by", diag);
        }
        if (points[i].panel == panels->most) {
            return fail_crowded(choice, "panels", panels->most,
                                "add a swept value to --by, or choose another -x", diag);
        }
        if (!x->is_numeric && points[i].x >= categories->most) {
            return fail_crowded(choice, "words on the x axis", categories->most, "choose another -x", diag);
        }
    }
    return KVC_OK;
}

/* Writes the titles of the panels, and the objective of each if all its points have the same one. */
static void put_panels(const struct choice *choice, const struct point *points, const struct texts *panels,
                       struct kvc_figure_data *figure)
{
    char names[TITLE_BYTES];
    name_lines(choice, names);
    kvc_figure_begin_block(figure, names);
    for (uint32_t panel = 0; panel < panels->count; panel++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < choice->csv->rows; i++) {
            double objective = objective_of(choice->csv, points[i].row, &choice->y);
            if (points[i].panel == panel && isfinite(objective)) {
                low = fmin(low, objective);
                high = fmax(high, objective);
            }
        }
        bool is_bounded = high >= low && high - low <= 1e-6 * fabs(high);
        kvc_figure_put_quoted(figure, panels->text[panel]);
        fprintf(figure->data, " %d %.9g \"%s\"\n", is_bounded, is_bounded ? high * choice->y.scale : 0,
                choice->y.at_least ? "at least" : "at most");
    }
}

/* Returns whether the axis has room for the labels of all values: each is apart from its neighbour by an
 * eighth of the axis, which is logarithmic from a ratio of 30 on (plots/sweep.gp). `x` is sorted. */
static bool has_room(const double *x, size_t count)
{
    bool is_log = x[0] > 0 && x[count - 1] > 30 * x[0];
    double range = is_log ? log(x[count - 1] / x[0]) : x[count - 1] - x[0];
    for (size_t i = 1; i < count; i++) {
        double gap = is_log ? log(x[i] / x[i - 1]) : x[i] - x[i - 1];
        if (gap > 0 && gap < range / 8) {
            return false;
        }
    }
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

static bool are_few(const struct point *points, size_t count)
{
    double *x = kvc_array_of(count, sizeof(*x));
    for (size_t i = 0; i < count; i++) {
        x[i] = points[i].x;
    }
    qsort(x, count, sizeof(*x), compare_numbers);
    bool few = has_room(x, count);
    free(x);
    return few;
}

static void put_line(const struct choice *choice, const struct point *points, uint32_t panel, uint32_t line,
                     const char *title, struct kvc_figure_data *figure)
{
    const struct axis *x = &choice->axis[choice->x];
    bool any = false;
    kvc_figure_begin_block(figure, title);
    for (size_t i = 0; i < choice->csv->rows; i++) {
        if (points[i].panel != panel || points[i].line != line || isnan(points[i].y)) {
            continue;
        }
        any = true;
        char label[NAME_MAX_BYTES];
        put_value(choice->csv, points[i].row, x, false, label);
        fprintf(figure->data, "%.12g ", points[i].x);
        kvc_figure_put_quoted(figure, label);
        fprintf(figure->data, " %.12g %.12g\n", points[i].y,
                isnan(points[i].half_width) ? 0 : points[i].half_width);
    }
    if (!any) {
        fputs("NaN \"\" NaN NaN\n", figure->data);
    }
}

static enum kvc_status put(const struct choice *choice, struct kvc_figure_data *figure, struct kvc_diag *diag)
{
    const struct axis *x = &choice->axis[choice->x];
    struct point *points = kvc_array_of(choice->csv->rows, sizeof(*points));
    struct texts lines = {.text = kvc_array_of(KVC_LINES_MAX, TITLE_BYTES), .most = KVC_LINES_MAX};
    struct texts panels = {.text = kvc_array_of(KVC_PANELS_MAX, TITLE_BYTES), .most = KVC_PANELS_MAX};
    struct texts categories = {.text = kvc_array_of(CATEGORIES_MAX, TITLE_BYTES), .most = CATEGORIES_MAX};
    enum kvc_status status = place(choice, points, &lines, &panels, &categories, diag);
    if (status == KVC_OK) {
        qsort(points, choice->csv->rows, sizeof(*points), compare_points);
        snprintf(figure->x_label, KVC_AXIS_TEXT, "%.120s%s%s%s", x->name, x->word[0] != '\0' ? " (" : "",
                 printed(x->word), x->word[0] != '\0' ? ")" : "");
        snprintf(figure->y_label, KVC_AXIS_TEXT, "%s", choice->y.label);
        figure->x_numeric = x->is_numeric && !are_few(points, choice->csv->rows);
        put_panels(choice, points, &panels, figure);
        for (uint32_t panel = 0; panel < panels.count; panel++) {
            for (uint32_t line = 0; line < lines.count; line++) {
                put_line(choice, points, panel, line, lines.text[line], figure);
            }
        }
    }
    free(categories.text);
    free(panels.text);
    free(lines.text);
    free(points);
    return status;
}

enum kvc_status kvc_sweep_extract(const char *path, const struct kvc_sweep_view *view,
                                  struct kvc_figure_data *figure, struct kvc_diag *diag)
{
    struct kvc_csv csv;
    enum kvc_status status = kvc_csv_read(path, &(struct kvc_csv_format){.needs_rows = true}, &csv, diag);
    long first = status == KVC_OK ? kvc_csv_column(&csv, "throughput_mops") : 0;
    if (status == KVC_OK && (kvc_csv_column(&csv, "point") != 0 || first < 2)) {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 1,
                                  "is not the sweep.csv of kvcast sweep: its columns are point, the swept "
                                  "parameters, throughput_mops, ...");
    }
    if (status == KVC_OK) {
        struct choice choice = {.csv = &csv, .axes = (size_t)first - 1};
        choice.axis = kvc_array_of(choice.axes, sizeof(*choice.axis));
        choice.is_line = kvc_array_of(choice.axes, sizeof(*choice.is_line));
        for (size_t i = 0; i < choice.axes; i++) {
            choice.axis[i] = axis_of(&csv, i + 1);
        }
        status = choose(&choice, path, view, diag);
        if (status == KVC_OK) {
            status = put(&choice, figure, diag);
        }
        free(choice.axis);
        free(choice.is_line);
    }
    kvc_csv_free(&csv);
    return status;
}

/* kvcast report: writes the page of an answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plots/plot.h"
#include "plots/program.h"
#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/print.h"
#include "scenarios/explore/sweep/database.h"
#include "scenarios/output/compared/compare.h"
#include "scenarios/output/page/page.h"
#include "sim/base/files/partial_file.h"

enum { FLAG_OUTPUT };

static const struct kvc_flag flags[] = {
    [FLAG_OUTPUT] = {"--output", "-o", "FILE", "write the page to FILE, which ends in .html"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "report",
    .positional = "RESULT|CAPACITY|DAY|COMPARE|SWEEP|PLAN|WHY|TRACE|VALIDATE",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Writes an answer as one HTML page that needs no other file and no network. The page states the answer in a\n"
        "sentence and shows pictures and tables with 95 % intervals. Where the input records them, it also shows the\n"
        "errors of such forecasts, the parameters with their sources, and the command that repeats the answer.\n"
        "The input is a folder that --out of run, predict, measure, capacity, day, compare, sweep, plan, why, trace or\n"
        "validate wrote, or one of its files: result.json, capacity.json, day.json, compare.json, sweep.csv, plan.json,\n"
        "why.json, trace.json or errors.csv. --output is required. Without gnuplot or Graphviz, the page says which\n"
        "pictures are missing.",
    .flags = flags,
};

/* A picture that a kind of answer has. */
static const struct drawing {
    enum kvc_document_kind of;
    enum kvc_plot_kind kind;
    const char *y; /* A sweep shows this column on the y axis. */
    const char *caption;
} drawings[] = {
    {KVC_DOCUMENT_RESULT, KVC_PLOT_CDF, NULL, "The share of requests that are answered within each latency."},
    {KVC_DOCUMENT_RESULT, KVC_PLOT_TAIL, NULL, "The share of requests that take longer than each latency."},
    {KVC_DOCUMENT_RESULT, KVC_PLOT_TIMELINE, NULL, "Throughput and mean latency over the simulated time."},
    {KVC_DOCUMENT_RESULT, KVC_PLOT_PIPELINE, NULL,
     "The stages that requests pass through, with their work and utilization."},
    {KVC_DOCUMENT_RESULT, KVC_PLOT_PLATFORM, NULL,
     "The machine, with the utilization and power of its devices."},
    {KVC_DOCUMENT_CAPACITY, KVC_PLOT_CAPACITY, NULL, "Latency over the offered load, up to the capacity."},
    {KVC_DOCUMENT_DAY, KVC_PLOT_DAY, NULL, "Load, 99th percentile and power over the hours."},
    {KVC_DOCUMENT_PLAN, KVC_PLOT_PARETO, NULL, "The front of the plan, with the chosen candidate."},
    {KVC_DOCUMENT_WHY, KVC_PLOT_CRITICAL, NULL,
     "Where requests spend their time, and what faster resources change."},
    {KVC_DOCUMENT_TRACE, KVC_PLOT_MISS_RATIO, NULL,
     "The share of GETs that an LRU cache misses, over its size."},
    {KVC_DOCUMENT_COMPARE, KVC_PLOT_CDF, NULL, "The latency distributions of the results."},
    {KVC_DOCUMENT_COMPARE, KVC_PLOT_TAIL, NULL, "The share of requests that take longer than each latency."},
    {KVC_DOCUMENT_SWEEP, KVC_PLOT_SWEEP, "throughput_mops", "Throughput over what is swept."},
    {KVC_DOCUMENT_SWEEP, KVC_PLOT_SWEEP, "latency_p99_us", "The 99th percentile over what is swept."},
    {KVC_DOCUMENT_ERRORS, KVC_PLOT_ERROR, NULL, "Predicted over measured or published values."},
};

/* Writes the path of a file beside another one. */
static void beside(const char *file, const char *name, char path[PATH_MAX])
{
    const char *slash = strrchr(file, '/');
    snprintf(path, PATH_MAX, "%.*s%s", slash != NULL ? (int)(slash + 1 - file) : 0, file, name);
}

/* Returns whether a result has what the picture shows. */
static bool has(const struct kvc_page *page, const char *file, enum kvc_plot_kind kind)
{
    const json_t *windows = json_object_get(json_object_get(page->document, "windows"), "mops");
    const json_t *cdf = json_object_get(json_object_get(page->document, "latency_us"), "cdf");
    char platform[PATH_MAX];
    beside(file, "platform.xml", platform);
    return kind == KVC_PLOT_TIMELINE   ? json_array_size(windows) > 1
           : kind == KVC_PLOT_PIPELINE ? json_object_get(page->document, "pipeline") != NULL
           : kind == KVC_PLOT_PLATFORM ? access(platform, F_OK) == 0
                                       : json_array_size(cdf) > 0;
}

/* Finds the results of a comparison: in folders A, B and so on beside it, where it ran them, or else by their
 * names. Returns their number. */
static int find_compared(const struct kvc_page *page, const char *file, char path[KVC_COMPARED_MAX][PATH_MAX])
{
    const json_t *results = json_object_get(page->document, "results");
    int count = 0;
    while (count < KVC_COMPARED_MAX && count < (int)json_array_size(results)) {
        const char *name = json_string_value(json_object_get(json_array_get(results, (size_t)count), "name"));
        beside(file, (char[]){(char)('A' + count), '\0'}, path[count]);
        if (access(path[count], F_OK) != 0) {
            snprintf(path[count], PATH_MAX, "%.3000s", name != NULL ? name : "");
        }
        count++;
    }
    return count;
}

/* Draws a picture. The page says what is wrong with its data, or that a program is missing. */
static enum kvc_status draw(struct kvc_page *page, const char *const *inputs, int count,
                            const struct drawing *drawing, struct kvc_diag *diag)
{
    struct kvc_page_picture *picture = &page->picture[page->count++];
    size_t bytes;
    FILE *stream = open_memstream(&picture->svg, &bytes);
    if (stream == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a picture: %s", strerror(errno));
    }
    const struct kvc_plot_options plot = {.kind = drawing->kind,
                                          .input_count = count,
                                          .inputs = inputs,
                                          .output = "page.svg",
                                          .stream = stream,
                                          .y = drawing->y};
    struct kvc_diag said = {0};
    enum kvc_status status = kvc_plot_draw(&plot, &said);
    bool is_written = fclose(stream) == 0;
    picture->caption = drawing->caption;
    if (status == KVC_OK) {
        return is_written ? KVC_OK : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a picture");
    }
    if (status == KVC_ERR_RUNTIME &&
        kvc_program_is_installed(kvc_plot_is_graph(drawing->kind) ? "dot" : "gnuplot")) {
        *diag = said;
        return status;
    }
    free(picture->svg);
    picture->svg = NULL;
    snprintf(picture->why, sizeof(picture->why), "%.400s", said.message);
    kvc_print_warning(&said);
    return KVC_OK;
}

static enum kvc_status draw_all(struct kvc_page *page, const char *file, struct kvc_diag *diag)
{
    char path[KVC_COMPARED_MAX][PATH_MAX];
    const char *inputs[KVC_COMPARED_MAX] = {file};
    int count = page->kind == KVC_DOCUMENT_COMPARE ? find_compared(page, file, path) : 1;
    enum kvc_status status = KVC_OK;
    for (int i = 0; i < count && page->kind == KVC_DOCUMENT_COMPARE; i++) {
        inputs[i] = path[i];
    }
    for (size_t i = 0; i < sizeof(drawings) / sizeof(*drawings) && status == KVC_OK; i++) {
        if (drawings[i].of == page->kind &&
            (page->kind != KVC_DOCUMENT_RESULT || has(page, file, drawings[i].kind))) {
            status = draw(page, inputs, count, &drawings[i], diag);
        }
    }
    return status;
}

static enum kvc_status write_page(const struct kvc_page *page, const char *output, struct kvc_diag *diag)
{
    struct kvc_partial_file file;
    enum kvc_status status = kvc_partial_file_open(&file, output, diag);
    if (status == KVC_OK) {
        kvc_page_write(page, file.file);
        status = kvc_partial_file_commit(&file, diag);
    }
    kvc_partial_file_discard(&file);
    return status;
}

/* The member that the answer of a kind comes from; NULL: a table. */
static const char *const needed[KVC_DOCUMENT_ERRORS + 1] = {
    [KVC_DOCUMENT_RESULT] = "throughput_mops",
    [KVC_DOCUMENT_CAPACITY] = "capacity_mops",
    [KVC_DOCUMENT_PLAN] = "counts",
    [KVC_DOCUMENT_DAY] = "windows",
    [KVC_DOCUMENT_WHY] = "throughput_mops",
    [KVC_DOCUMENT_COMPARE] = "results",
    [KVC_DOCUMENT_TRACE] = "requests",
};

/* Reads the answer, which needs what every page of its kind begins with. */
static enum kvc_status read_answer(struct kvc_page *page, char file[PATH_MAX], json_t **document,
                                   struct kvc_csv *csv, struct kvc_diag *diag)
{
    const struct kvc_csv_format format = {.needs_rows = true};
    enum kvc_status status = kvc_document_find_any(page->source, &page->kind, file, diag);
    if (status != KVC_OK) {
        return status;
    }
    if (page->kind == KVC_DOCUMENT_SWEEP || page->kind == KVC_DOCUMENT_ERRORS) {
        page->csv = csv;
        if (page->kind == KVC_DOCUMENT_SWEEP) {
            char folder[PATH_MAX];
            beside(file, ".", folder);
            page->document = *document = kvc_database_summary(folder);
        }
        return kvc_csv_read(file, &format, csv, diag);
    }
    status = kvc_document_load(file, page->kind, document, diag);
    page->document = *document;
    if (status == KVC_OK && page->kind == KVC_DOCUMENT_RESULT) {
        return kvc_document_check_result(file, *document, diag);
    }
    const char *member = needed[page->kind];
    const json_t *found = json_object_get(*document, member);
    bool is_list = page->kind == KVC_DOCUMENT_COMPARE || page->kind == KVC_DOCUMENT_DAY;
    bool is_there = is_list ? json_array_size(found) > 0 : found != NULL;
    return status == KVC_OK && !is_there
               ? kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, 0, "has no %s, which every %s has", member,
                                  kvc_document_noun(page->kind))
               : status;
}

static enum kvc_status report(const struct kvc_arguments *arguments, struct kvc_diag *diag)
{
    const char *output = arguments->flag[FLAG_OUTPUT];
    const char *dot = output != NULL ? strrchr(output, '.') : NULL;
    char file[PATH_MAX];
    json_t *document = NULL;
    struct kvc_csv csv = {0};
    struct kvc_page page = {.source = arguments->positional[0]};
    if (dot == NULL || strcmp(dot, ".html") != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "report: found %s%.200s, allowed: --output FILE.html",
                             output != NULL ? "--output " : "no --output", output != NULL ? output : "");
    }
    enum kvc_status status = read_answer(&page, file, &document, &csv, diag);
    if (status == KVC_OK) {
        status = draw_all(&page, file, diag);
    }
    if (status == KVC_OK) {
        status = write_page(&page, output, diag);
    }
    for (uint32_t i = 0; i < page.count; i++) {
        free(page.picture[i].svg);
    }
    json_decref(document);
    kvc_csv_free(&csv);
    return status;
}

int kvc_command_report(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    enum kvc_status status = report(&arguments, &diag);
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}

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
#include "scenarios/output/page.h"
#include "sim/base/files/partial_file.h"

enum { FLAG_OUTPUT };

static const struct kvc_flag flags[] = {
    [FLAG_OUTPUT] = {"--output", "-o", "FILE", "write the page to FILE, which ends in .html"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "report",
    .positional = "RESULT",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Writes one page of HTML, which needs no other file and no network: the answer in a sentence, pictures,\n"
        "tables with 95 % intervals, how far such forecasts were from measured values, every parameter with its\n"
        "source, and the commands that repeat the answer. RESULT is a folder that --out wrote, or its result.json.\n"
        "Without gnuplot the page says which pictures are missing.",
    .flags = flags,
};

/* A picture that a kind of answer has. */
struct drawing {
    enum kvc_plot_kind kind;
    const char *caption;
};

static const struct drawing of_result[] = {
    {KVC_PLOT_CDF, "The share of requests that are answered within each latency."},
    {KVC_PLOT_TAIL, "The share of requests that take longer than each latency."},
    {KVC_PLOT_TIMELINE, "Throughput and mean latency over the simulated time."},
    {KVC_PLOT_PLATFORM, "The machine, with the utilization and power of its devices."},
};

/* Returns whether the answer has what the picture shows. */
static bool has(const struct kvc_page *page, const char *file, enum kvc_plot_kind kind)
{
    const json_t *windows = json_object_get(json_object_get(page->document, "windows"), "mops");
    const json_t *cdf = json_object_get(json_object_get(page->document, "latency_us"), "cdf");
    char platform[PATH_MAX];
    const char *slash = strrchr(file, '/');
    switch (kind) {
    case KVC_PLOT_CDF:
    case KVC_PLOT_TAIL:
        return json_array_size(cdf) > 0;
    case KVC_PLOT_TIMELINE:
        return json_array_size(windows) > 1;
    case KVC_PLOT_PLATFORM:
        snprintf(platform, sizeof(platform), "%.*splatform.xml", slash != NULL ? (int)(slash + 1 - file) : 0,
                 file);
        return access(platform, F_OK) == 0;
    default:
        return true;
    }
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
                                          .stream = stream};
    struct kvc_diag said = {0};
    enum kvc_status status = kvc_plot_draw(&plot, &said);
    bool is_written = fclose(stream) == 0;
    picture->caption = drawing->caption;
    if (status == KVC_OK) {
        return is_written ? KVC_OK : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a picture");
    }
    if (status == KVC_ERR_RUNTIME &&
        kvc_program_is_installed(drawing->kind == KVC_PLOT_PLATFORM ? "dot" : "gnuplot")) {
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
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < sizeof(of_result) / sizeof(*of_result) && status == KVC_OK; i++) {
        if (has(page, file, of_result[i].kind)) {
            status = draw(page, &file, 1, &of_result[i], diag);
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

static enum kvc_status report(const struct kvc_arguments *arguments, struct kvc_diag *diag)
{
    const char *output = arguments->flag[FLAG_OUTPUT];
    const char *dot = output != NULL ? strrchr(output, '.') : NULL;
    char file[PATH_MAX];
    json_t *document = NULL;
    struct kvc_page page = {.source = arguments->positional[0]};
    if (dot == NULL || strcmp(dot, ".html") != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "report: found %s%.200s, allowed: --output FILE.html",
                             output != NULL ? "--output " : "no --output", output != NULL ? output : "");
    }
    enum kvc_status status = kvc_document_find_any(page.source, &page.kind, file, diag);
    if (status == KVC_OK && page.kind != KVC_DOCUMENT_RESULT) {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, 0,
                                  "is a %s, of which no page can be written; allowed: a %s",
                                  kvc_document_noun(page.kind), kvc_document_noun(KVC_DOCUMENT_RESULT));
    }
    if (status == KVC_OK) {
        status = kvc_document_load(file, page.kind, &document, diag);
        page.document = document;
    }
    if (status == KVC_OK) {
        status = kvc_document_check_result(file, document, diag);
    }
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

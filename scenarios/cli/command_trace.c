/* kvcast trace: describes a trace. */
#include <stdlib.h>

#include "plots/document.h"
#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/command_answer.h"
#include "scenarios/cli/print.h"
#include "scenarios/output/trace_report.h"
#include "scenarios/run/answer.h"
#include "sim/base/array.h"
#include "sim/base/files/partial_file.h"
#include "sim/workload/trace/twin_writer.h"

enum { FLAG_TWIN };

static const struct kvc_flag flags[] = {
    [FLAG_TWIN] = {"--twin", NULL, "FILE",
                   "write a synthetic twin of the trace, which workload.arrival.trace takes"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "trace",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Describes a trace, of any format that workload.arrival.trace takes: requests, keys, sizes, mix, popularity\n"
        "(the best Zipf exponent, and how far it is off), reuse distances, and how many GETs an LRU cache of any size\n"
        "misses. --out writes trace.json, trace.csv with the miss-ratio curve, and miss_ratio.svg, .pdf and .png.\n"
        "--twin writes a synthetic trace without the keys of FILE. Its requests come at the same rates, and use keys\n"
        "again after about as many others. kvcast reads it back and says how far its misses are off.",
    .flags = flags,
    .takes = KVC_TAKES_JSON | KVC_TAKES_OUT | KVC_TAKES_QUIET | KVC_TAKES_FORCE,
};

/* Writes the twin, and reads it again to say how far its miss-ratio curve is from the trace's. */
static enum kvc_status write_twin(const struct kvc_arguments *arguments,
                                  const struct kvc_trace_profile *profile, json_t *report,
                                  struct kvc_diag *diag)
{
    struct kvc_partial_file file = {0};
    struct kvc_progress_bar bar;
    struct kvc_trace_profile *twin = kvc_array_of(1, sizeof(*twin));
    const char *path = arguments->flag[FLAG_TWIN];
    const struct kvc_progress *progress = kvc_progress_bar_open(&bar, arguments->quiet);
    enum kvc_status status = kvc_partial_file_open(&file, path, diag);
    if (status == KVC_OK) {
        status = kvc_twin_write(arguments->positional[0], profile, file.file, progress, diag);
    }
    if (status == KVC_OK && (status = kvc_partial_file_flush(&file, diag)) == KVC_OK) {
        const char *written = file.partial[0] != '\0' ? file.partial : file.path;
        status = kvc_trace_profile_read(written, twin, NULL, progress, diag);
    }
    if (status == KVC_OK) {
        kvc_trace_report_add_twin(report, path, twin);
        fprintf(file.file, "# the miss ratio of an LRU cache is at most %.4f off, with %.0f bytes\n",
                kvc_document_number(report, "twin_miss_frac_off_max"),
                kvc_document_number(report, "twin_off_max_at_bytes"));
        status = kvc_partial_file_commit(&file, diag);
    }
    kvc_partial_file_discard(&file);
    kvc_progress_bar_close(&bar);
    free(twin);
    return status;
}

static enum kvc_status describe(const struct kvc_arguments *arguments, struct kvc_diag *diag)
{
    struct kvc_answer_files files;
    struct kvc_progress_bar bar;
    struct kvc_trace_profile *profile = kvc_array_of(1, sizeof(*profile));
    const char *path = arguments->positional[0];
    enum kvc_status status = kvc_answer_files_open(&files, arguments->out, "trace", arguments->json, diag);
    if (status == KVC_OK) {
        status =
            kvc_trace_profile_read(path, profile, NULL, kvc_progress_bar_open(&bar, arguments->quiet), diag);
        kvc_progress_bar_close(&bar);
    }
    if (status == KVC_OK) {
        json_t *report = kvc_trace_report(path, profile);
        const struct kvc_document_forms forms = {report, "trace report", kvc_trace_report_write_csv,
                                                 kvc_trace_report_write_table};
        status = arguments->flag[FLAG_TWIN] != NULL ? write_twin(arguments, profile, report, diag) : KVC_OK;
        if (status == KVC_OK) {
            status = kvc_command_write(&files, &forms, diag);
        }
        json_decref(report);
    }
    kvc_answer_files_discard(&files);
    free(profile);
    return status;
}

static enum kvc_status draw(const char *folder, struct kvc_diag *diag)
{
    return kvc_answer_files_draw(folder, "miss_ratio", KVC_PLOT_MISS_RATIO, &folder, 1, diag);
}

int kvc_command_trace(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_command_begin(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    enum kvc_status status = describe(&arguments, &diag);
    if (status == KVC_OK && arguments.out != NULL) {
        status = kvc_command_draw(draw, arguments.out, &diag);
    }
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}

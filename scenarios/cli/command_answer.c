/* kvcast run, predict and measure: they load one scenario, find the answer, show it and write it to files. */
#include "scenarios/cli/command_answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plots/program.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/print.h"
#include "scenarios/output/json_value.h"
#include "scenarios/output/table.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/ranks/ranks.h"

bool kvc_command_begin(int argc, char **argv, const struct kvc_usage *usage, struct kvc_arguments *arguments,
                       int *exit_status)
{
    bool parsed = kvc_arguments_parse(argc, argv, usage, arguments, exit_status);
    if (parsed && arguments->is_long) {
        kvc_time_limit_set(INFINITY);
    }
    return parsed;
}

bool kvc_command_is_scenario(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".lua") == 0;
}

enum kvc_status kvc_command_load(enum kvc_status status, const struct kvc_arguments *arguments,
                                 struct kvc_loaded **loaded, struct kvc_diag *diag)
{
    if (status == KVC_OK) {
        status = kvc_scenario_load(arguments->positional[0], &arguments->set, loaded, diag);
    }
    status = kvc_ranks_agree(status, diag);
    if (status == KVC_OK && !arguments->quiet) {
        kvc_print_warnings(*loaded);
    }
    return status == KVC_OK ? kvc_ranks_check_loaded(*loaded, diag) : status;
}

void kvc_command_tell(enum kvc_status status, const struct kvc_arguments *arguments, struct kvc_diag *diag)
{
    if (status == KVC_OK && diag->message[0] != '\0') {
        if (!arguments->quiet) {
            kvc_print_warning(diag);
        }
        *diag = (struct kvc_diag){0};
    }
}

enum kvc_status kvc_command_drawn(enum kvc_status status, const struct kvc_diag *diag)
{
    if (status == KVC_OK || (status == KVC_ERR_RUNTIME && kvc_program_is_installed("gnuplot"))) {
        return status;
    }
    kvc_print_warning(diag);
    return KVC_OK;
}

enum kvc_status kvc_command_draw(enum kvc_status (*draw)(const char *folder, struct kvc_diag *diag),
                                 const char *folder, struct kvc_diag *diag)
{
    return kvc_command_drawn(draw(folder, diag), diag);
}

static enum kvc_status write_json(const void *report, FILE *out, struct kvc_diag *diag)
{
    const struct kvc_document_forms *forms = report;
    return kvc_json_write_document(forms->document, forms->what, out, diag);
}

static void write_csv(const void *report, FILE *out)
{
    const struct kvc_document_forms *forms = report;
    forms->csv(forms->document, out);
}

static void write_table(const void *report, bool color, FILE *out)
{
    const struct kvc_document_forms *forms = report;
    forms->table(forms->document, color, out);
}

enum kvc_status kvc_command_write(struct kvc_answer_files *files, const struct kvc_document_forms *forms,
                                  struct kvc_diag *diag)
{
    const struct kvc_answer_forms all = {.report = forms,
                                         .json = write_json,
                                         .csv = write_csv,
                                         .table = write_table,
                                         .color = kvc_table_color(stdout)};
    return kvc_answer_files_write(files, &all, stdout, diag);
}

/* Flags of run and predict alone, by position. */
enum { FLAG_SENSITIVITY };

static const struct kvc_flag flags[] = {
    [FLAG_SENSITIVITY] = {"--sensitivity", NULL, NULL,
                          "also find what faster hardware would gain, and how uncertain the answer is"},
    {0},
};

static enum kvc_status answer(const struct kvc_arguments *arguments, const struct kvc_loaded *loaded,
                              enum kvc_answer_by by, struct kvc_diag *diag)
{
    struct kvc_progress_bar bar;
    const struct kvc_answer_options task = {
        .loaded = loaded,
        .path = arguments->positional[0],
        .set = &arguments->set,
        .by = by,
        .jobs = arguments->jobs,
        .out = kvc_ranks_is_first() ? arguments->out : NULL,
        .json = kvc_ranks_is_first() ? arguments->json : NULL,
        .keeps = !arguments->is_forced,
        .sensitivity = by != KVC_ANSWER_BY_MEASUREMENT && arguments->flag[FLAG_SENSITIVITY] != NULL,
        .color = kvc_table_color(stdout),
        .progress = kvc_progress_bar_open(&bar, arguments->quiet),
    };
    enum kvc_status status = kvc_answer(&task, stdout, diag);
    kvc_progress_bar_close(&bar);
    return status;
}

/* Flags of measure alone, by position. */
enum { FLAG_AGAINST, FLAG_PAIRS };

static const struct kvc_flag flags_measure[] = {
    [FLAG_AGAINST] =
        {"--against", NULL, "SCENARIO.lua|CHANGES",
         "measure the ratio to another scenario, or to this one with changes: PATH=VALUE;PATH=VALUE"},
    [FLAG_PAIRS] = {"--pairs", NULL, "N", "pairs of turns of --against (default 200)"},
    {0},
};

/* Answers the scenario that the arguments name, and draws the latency distribution into the folder of --out
 * if there is one. Returns the exit status. */
static int answer_command(int argc, char **argv, const struct kvc_usage *usage, enum kvc_answer_by by)
{
    struct kvc_arguments arguments;
    struct kvc_loaded *loaded = NULL;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_command_begin(argc, argv, usage, &arguments, &exit_status)) {
        return exit_status;
    }
    enum kvc_status status = kvc_command_load(KVC_OK, &arguments, &loaded, &diag);
    bool is_pair = by == KVC_ANSWER_BY_MEASUREMENT &&
                   (arguments.flag[FLAG_AGAINST] != NULL || arguments.flag[FLAG_PAIRS] != NULL);
    if (status == KVC_OK) {
        status = is_pair ? kvc_command_pair(&arguments, loaded, arguments.flag[FLAG_AGAINST],
                                            arguments.flag[FLAG_PAIRS], &diag)
                         : answer(&arguments, loaded, by, &diag);
    }
    kvc_command_tell(status, &arguments, &diag);
    if (status == KVC_OK && arguments.out != NULL && kvc_ranks_is_first() && by != KVC_ANSWER_BY_PREDICTION &&
        !is_pair) {
        status = kvc_command_draw(kvc_answer_draw, arguments.out, &diag);
    }
    kvc_loaded_free(loaded);
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}

static const struct kvc_usage usage_run = {
    .command = "run",
    .positional = "SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Simulates a scenario and reports throughput, latency, utilisation and the bottleneck. --out writes\n"
        "result.json, latency.hgrm, cdf.csv, windows.csv, timeline.json (for Perfetto), platform.xml and\n"
        "pictures of the latency distribution into the folder.",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_REPLICAS | KVC_TAKES_JOBS | KVC_TAKES_JSON |
             KVC_TAKES_OUT | KVC_TAKES_FORCE | KVC_TAKES_QUIET | KVC_TAKES_LONG,
    .flags = flags,
};

int kvc_command_run(int argc, char **argv)
{
    return answer_command(argc, argv, &usage_run, KVC_ANSWER_BY_RUN);
}

static const struct kvc_usage usage_predict = {
    .command = "predict",
    .positional = "SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Evaluates the closed-form model of the store, which takes microseconds. The result has the keys of\n"
        "kvcast run and the metrics of the model. --out writes result.json into the folder.",
    .takes =
        KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_JSON | KVC_TAKES_OUT | KVC_TAKES_FORCE | KVC_TAKES_QUIET,
    .flags = flags,
};

int kvc_command_predict(int argc, char **argv)
{
    return answer_command(argc, argv, &usage_predict, KVC_ANSWER_BY_PREDICTION);
}

static const struct kvc_usage usage_measure = {
    .command = "measure",
    .positional = "SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Runs the store for real on this machine: its threads receive requests from packets in memory, search,\n"
        "read and answer with the same kernels that a simulation runs. run.duration is wall-clock time; one\n"
        "second is a good choice. Result keys and files are the same as for kvcast run. If the store cannot be\n"
        "measured with these options, the message names the option and what is allowed\n"
        "(docs/measuring.md).\n\n"
        "--against keeps a second store in memory and lets both take turns of 30 ms, so that what the machine does\n"
        "meanwhile cancels. The answer is the ratio of the second store's metrics to the first one's, with their 95 %\n"
        "intervals. --out then writes pair.json and pair.csv.",
    .takes =
        KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_JSON | KVC_TAKES_OUT | KVC_TAKES_FORCE | KVC_TAKES_QUIET,
    .flags = flags_measure,
};

int kvc_command_measure(int argc, char **argv)
{
    return answer_command(argc, argv, &usage_measure, KVC_ANSWER_BY_MEASUREMENT);
}

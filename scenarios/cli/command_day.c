/* kvcast day: a day of 24 hours, its energy, its cost and its worst window. */
#include <stdio.h>

#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/command_answer.h"
#include "scenarios/cli/print.h"
#include "scenarios/explore/day/report.h"
#include "scenarios/output/table.h"

enum { FLAG_PREDICT };

static const struct kvc_flag flags[] = {
    [FLAG_PREDICT] = {"--predict", NULL, NULL,
                      "evaluate the closed form of every window instead of simulating it"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "day",
    .positional = "SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Says how much energy 24 hours take, what it costs, and in which window the objectives are nearest to being\n"
        "missed. The table day of the scenario states the load over the hours. The day is cut into windows, each of\n"
        "which is simulated as a run of its own at its mean rate. --out writes day.json, day.csv, and day.svg, .pdf\n"
        "and .png.",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_REPLICAS | KVC_TAKES_JOBS | KVC_TAKES_JSON |
             KVC_TAKES_OUT | KVC_TAKES_FORCE | KVC_TAKES_QUIET | KVC_TAKES_LONG,
    .flags = flags,
};

static enum kvc_status answer(const struct kvc_arguments *arguments, const struct kvc_loaded *loaded,
                              struct kvc_diag *diag)
{
    struct kvc_progress_bar bar;
    const struct kvc_day_output output = {
        .options = {.path = arguments->positional[0],
                    .set = &arguments->set,
                    .loaded = loaded,
                    .predict = arguments->flag[FLAG_PREDICT] != NULL,
                    .jobs = arguments->jobs,
                    .progress = kvc_progress_bar_open(&bar, arguments->quiet)},
        .out = arguments->out,
        .json = arguments->json,
        .keeps = !arguments->is_forced,
        .color = kvc_table_color(stdout),
    };
    enum kvc_status status = kvc_day_answer_write(&output, stdout, diag);
    kvc_progress_bar_close(&bar);
    return status;
}

int kvc_command_day(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_loaded *loaded = NULL;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_command_begin(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    enum kvc_status status = kvc_command_load(KVC_OK, &arguments, &loaded, &diag);
    if (status == KVC_OK) {
        status = answer(&arguments, loaded, &diag);
    }
    kvc_command_tell(status, &arguments, &diag);
    if (status == KVC_OK && arguments.out != NULL) {
        status = kvc_command_draw(kvc_day_draw, arguments.out, &diag);
    }
    kvc_loaded_free(loaded);
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}

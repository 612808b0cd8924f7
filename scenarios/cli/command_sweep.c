/* kvcast sweep: runs every point of a scenario's sweep table. */
#include <stdio.h>

#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/progress_bar.h"
#include "scenarios/cli/print.h"
#include "scenarios/explore/sweep.h"

enum { FLAG_PREDICT };

static const struct kvc_flag flags[] = {
    [FLAG_PREDICT] = {"--predict", NULL, NULL,
                      "evaluate the closed form of every point instead of simulating it"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "sweep",
    .positional = "SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Runs every point of the scenario's sweep table, which is the Cartesian product of its values, and\n"
        "writes DIR/sweep.csv and DIR/points/NNNN.json. Points that are already in DIR are kept, so that an\n"
        "interrupted sweep continues where it stopped. --out is required.",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_REPLICAS | KVC_TAKES_JOBS | KVC_TAKES_OUT |
             KVC_TAKES_QUIET,
    .flags = flags,
};

static enum kvc_status sweep(const struct kvc_arguments *arguments, struct kvc_sweep_done *done,
                             struct kvc_diag *diag)
{
    struct kvc_progress_bar bar;
    const struct kvc_sweep_options task = {
        .path = arguments->positional[0],
        .set = &arguments->set,
        .load = kvc_scenario_load,
        .load_point = kvc_scenario_load_point,
        .folder = arguments->out,
        .predict = arguments->flag[FLAG_PREDICT] != NULL,
        .jobs = arguments->jobs,
        .progress = kvc_progress_bar_open(&bar, arguments->quiet),
    };
    enum kvc_status status = kvc_sweep_run(&task, done, diag);
    kvc_progress_bar_close(&bar);
    return status;
}

int kvc_command_sweep(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_sweep_done done;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    enum kvc_status status = KVC_OK;
    if (arguments.out == NULL) {
        status = kvc_diag_fail(&diag, KVC_ERR_SCENARIO,
                               "sweep: --out DIR is missing; it names the folder for the results");
    } else {
        status = sweep(&arguments, &done, &diag);
    }
    if (status == KVC_OK) {
        printf("%u points (%u kept from before): %s/sweep.csv\n", done.points, done.kept, arguments.out);
    }
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}

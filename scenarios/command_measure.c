/* kvcast measure: the store's real pipeline on this machine. */
#include <stdio.h>

#include "scenarios/arguments.h"
#include "scenarios/command.h"
#include "scenarios/output/answer.h"
#include "scenarios/output/bar.h"
#include "scenarios/output/table.h"
#include "scenarios/print.h"

static const struct kvc_usage usage = {
    .command = "measure",
    .positional = "SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Runs the store for real: threads that receive requests from packets in memory, search, read and\n"
        "answer, with the kernels that the simulation counts. run.duration is wall clock: a second is good.\n"
        "Same result keys and files as kvcast run. Measured is one socket, system.feed = \"memory\",\n"
        "system.admission = \"all\", functional = \"full\", the index on the GPU, or where there is none on\n"
        "the scheduler's thread.",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_JSON | KVC_TAKES_OUT | KVC_TAKES_QUIET,
};

static enum kvc_status measure(const struct kvc_arguments *arguments, const struct kvc_loaded *loaded,
                               struct kvc_diag *diag)
{
    struct kvc_bar bar;
    const struct kvc_answer_task task = {
        .loaded = loaded,
        .path = arguments->positional[0],
        .set = &arguments->set,
        .by = KVC_ANSWER_BY_MEASUREMENT,
        .out = arguments->out,
        .json = arguments->json,
        .color = kvc_table_color(stdout),
        .progress = kvc_bar_open(&bar, arguments->quiet),
    };
    enum kvc_status status = kvc_answer(&task, stdout, diag);
    kvc_bar_close(&bar);
    return status;
}

int kvc_command_measure(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_loaded *loaded = NULL;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status))
        return exit_status;
    enum kvc_status status = kvc_scenario_load(arguments.positional[0], &arguments.set, &loaded, &diag);
    if (status == KVC_OK && !arguments.quiet)
        kvc_print_warnings(loaded);
    if (status == KVC_OK)
        status = measure(&arguments, loaded, &diag);
    if (status == KVC_OK && arguments.out != NULL)
        kvc_draw_or_warn(arguments.out);
    kvc_loaded_free(loaded);
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}

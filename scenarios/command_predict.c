/* kvcast predict: the closed-form answer. */
#include <stdio.h>

#include "scenarios/arguments.h"
#include "scenarios/command.h"
#include "scenarios/output/answer.h"
#include "scenarios/output/table.h"
#include "scenarios/print.h"

static const struct kvc_usage usage = {
    .command = "predict",
    .positional = "SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help = "Answers a scenario by the store's closed-form model, in microseconds, with the result keys of "
            "kvcast run\n"
            "and the model's own figures. With --out, the folder gets result.json.",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_JSON | KVC_TAKES_OUT | KVC_TAKES_QUIET,
};

int kvc_command_predict(int argc, char **argv)
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
    if (status == KVC_OK) {
        const struct kvc_answer_task task = {
            .loaded = loaded,
            .path = arguments.positional[0],
            .set = &arguments.set,
            .by = KVC_ANSWER_BY_PREDICTION,
            .out = arguments.out,
            .json = arguments.json,
            .color = kvc_table_color(stdout),
        };
        status = kvc_answer(&task, stdout, &diag);
    }
    kvc_loaded_free(loaded);
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}

/* kvcast predict: evaluates the closed form of a scenario. */
#include "scenarios/cli/command.h"
#include "scenarios/cli/command_answer.h"

static const struct kvc_usage usage = {
    .command = "predict",
    .positional = "SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Evaluates the closed-form model of the store, which takes microseconds. The result has the keys of\n"
        "kvcast run and the metrics of the model. --out writes result.json into the folder.",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_JSON | KVC_TAKES_OUT | KVC_TAKES_QUIET,
    .flags = kvc_answer_flags,
};

int kvc_command_predict(int argc, char **argv)
{
    return kvc_command_answer(argc, argv, &usage, KVC_ANSWER_BY_PREDICTION);
}

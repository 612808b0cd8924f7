/* kvcast predict: the closed-form answer. */
#include "scenarios/cli/command.h"
#include "scenarios/cli/command_answer.h"

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
    return kvc_command_answer(argc, argv, &usage, KVC_ANSWER_BY_PREDICTION);
}

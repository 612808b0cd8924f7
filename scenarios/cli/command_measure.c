/* kvcast measure: runs a store for real on this machine. */
#include "scenarios/cli/command.h"
#include "scenarios/cli/command_answer.h"

static const struct kvc_usage usage = {
    .command = "measure",
    .positional = "SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Runs the store for real on this machine: its threads receive requests from packets in memory, search,\n"
        "read and answer with the same kernels that a simulation runs. run.duration is wall-clock time; one\n"
        "second is a good choice. The result keys and files are those of kvcast run. If the store cannot be\n"
        "measured with these options, the message names the option and what is allowed\n"
        "(docs/measuring.md).",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_JSON | KVC_TAKES_OUT | KVC_TAKES_QUIET,
};

int kvc_command_measure(int argc, char **argv)
{
    return kvc_command_answer(argc, argv, &usage, KVC_ANSWER_BY_MEASUREMENT);
}

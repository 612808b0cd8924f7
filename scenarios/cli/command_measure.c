/* kvcast measure: the store's real pipeline on this machine. */
#include "scenarios/cli/command.h"
#include "scenarios/cli/command_answer.h"

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

int kvc_command_measure(int argc, char **argv)
{
    return kvc_command_answer(argc, argv, &usage, KVC_ANSWER_BY_MEASUREMENT);
}

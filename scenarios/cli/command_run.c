/* kvcast run: simulates a scenario. */
#include "scenarios/cli/command.h"
#include "scenarios/cli/command_answer.h"

static const struct kvc_usage usage = {
    .command = "run",
    .positional = "SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Simulates a scenario and reports throughput, latency, utilisation and the bottleneck. --out writes\n"
        "result.json, latency.hgrm, cdf.csv, windows.csv, timeline.json (for Perfetto), platform.xml and\n"
        "pictures of the latency distribution into the folder.",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_REPLICAS | KVC_TAKES_JOBS | KVC_TAKES_JSON |
             KVC_TAKES_OUT | KVC_TAKES_QUIET | KVC_TAKES_LONG,
    .flags = kvc_answer_flags,
};

int kvc_command_run(int argc, char **argv)
{
    return kvc_command_answer(argc, argv, &usage, KVC_ANSWER_BY_RUN);
}

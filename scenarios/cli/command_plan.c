/* kvcast plan: finds the best configuration that meets the scenario's slo. */
#include <stdio.h>

#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/command_answer.h"
#include "scenarios/cli/print.h"
#include "scenarios/explore/plan/report.h"
#include "scenarios/output/table.h"
#include "scenarios/run/ranks/ranks.h"

enum { FLAG_HEADROOM, FLAG_EXHAUSTIVE };

enum { UNMET = 1 /* Exit status: the plan was made, but no point meets the slo. */ };

static const struct kvc_flag flags[] = {
    [FLAG_HEADROOM] =
        {"--headroom", NULL, NULL,
         "search the highest load that the chosen point serves within the latencies of the slo"},
    [FLAG_EXHAUSTIVE] = {"--exhaustive", NULL, NULL,
                         "simulate every point to a decision, to check the search; takes long"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "plan",
    .positional = "SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Finds the point of the scenario's sweep table that meets its slo under its load with the lowest price,\n"
        "power or number of nodes, as plan.minimise says. The closed form drops the points that miss the slo by\n"
        "more than its own error; the others are simulated, best first, with one replica more at a time until\n"
        "every objective is decided. Answers with the margins, the runner-up, the resource that binds, and the\n"
        "Pareto front of price, power and latency. --out writes plan.json, plan.csv and pictures of the front.\n"
        "The exit status is 1 when no point meets the slo; the answer then says what comes nearest.",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_JOBS | KVC_TAKES_JSON | KVC_TAKES_OUT |
             KVC_TAKES_FORCE | KVC_TAKES_QUIET | KVC_TAKES_LONG,
    .flags = flags,
};

static enum kvc_status plan(const struct kvc_arguments *arguments, const struct kvc_loaded *loaded,
                            bool *is_met, char *why, size_t why_size, struct kvc_diag *diag)
{
    struct kvc_progress_bar bar;
    const struct kvc_plan_output output = {
        .options = {.path = arguments->positional[0],
                    .set = &arguments->set,
                    .loaded = loaded,
                    .jobs = arguments->jobs,
                    .exhaustive = arguments->flag[FLAG_EXHAUSTIVE] != NULL,
                    .headroom = arguments->flag[FLAG_HEADROOM] != NULL,
                    .progress = kvc_progress_bar_open(&bar, arguments->quiet)},
        .out = kvc_ranks_is_first() ? arguments->out : NULL,
        .json = kvc_ranks_is_first() ? arguments->json : NULL,
        .keeps = !arguments->is_forced,
        .color = kvc_table_color(stdout),
    };
    enum kvc_status status = kvc_plan_answer_write(&output, stdout, is_met, why, why_size, diag);
    kvc_progress_bar_close(&bar);
    return status;
}

int kvc_command_plan(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_loaded *loaded = NULL;
    struct kvc_diag diag = {0};
    bool is_met = false;
    char why[1024];
    int exit_status;
    if (!kvc_command_begin(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    enum kvc_status status = kvc_command_load(KVC_OK, &arguments, &loaded, &diag);
    if (status == KVC_OK) {
        status = plan(&arguments, loaded, &is_met, why, sizeof(why), &diag);
    }
    kvc_command_tell(status, &arguments, &diag);
    if (status == KVC_OK && arguments.out != NULL && kvc_ranks_is_first()) {
        status = kvc_command_draw(kvc_plan_draw, arguments.out, &diag);
    }
    if (status == KVC_OK && !is_met && kvc_ranks_is_first()) {
        fprintf(stderr, "kvcast: %s\n", why);
    }
    kvc_loaded_free(loaded);
    kvc_arguments_free(&arguments);
    if (status != KVC_OK) {
        return kvc_print_failure(&diag);
    }
    return is_met ? 0 : UNMET;
}

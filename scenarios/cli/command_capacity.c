/* kvcast capacity: finds the highest load that a store serves. */
#include <stdio.h>
#include <string.h>

#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/command_answer.h"
#include "scenarios/cli/print.h"
#include "scenarios/run/ranks/ranks.h"
#include "scenarios/output/table.h"
#include "scenarios/run/capacity.h"

enum { FLAG_LOSS, FLAG_LATENCY, FLAG_PRECISION };

static const struct kvc_flag flags[] = {
    [FLAG_LOSS] = {"--loss", NULL, "SHARE", "requests that may be lost, 0 to below 1 (default 0: none)"},
    [FLAG_LATENCY] = {"--latency", NULL, "METRIC=TIME",
                      "bound a latency, such as p99=1ms; mean, p50, p95, p99 or p999 (default: none)"},
    [FLAG_PRECISION] = {"--precision", NULL, "SHARE",
                        "width of the interval, relative to the capacity, 0.001 to 0.5 (default 0.01)"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "capacity",
    .positional = "SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Finds the highest load that the store serves without loss, in closed form and simulated, and the\n"
        "latency over the load. Clients send in an open loop: a Poisson process, evenly spaced frames or a\n"
        "curve of rates as in the scenario, at other rates; saturating clients become a Poisson process.\n"
        "A load is served if no more than --loss of the requests are dropped, the backlog does not grow and\n"
        "--latency is met. Each load is simulated by at least three replicas. Between the ends of the\n"
        "interval they may disagree. --out writes capacity.json, capacity.csv and pictures of the latency.\n"
        "The first Ctrl-C or SIGTERM ends the search with what the loads judged so far say, the second one at\n"
        "once. The exit status is 3 when no load meets the bounds, and 130 after Ctrl-C or SIGTERM.",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_REPLICAS | KVC_TAKES_JOBS | KVC_TAKES_JSON |
             KVC_TAKES_OUT | KVC_TAKES_FORCE | KVC_TAKES_QUIET | KVC_TAKES_LONG,
    .flags = flags,
};

/* Parses one bound if it was given. An error names the flag. */
static enum kvc_status parse_bound(const char *text,
                                   enum kvc_status (*parse)(const char *, struct kvc_capacity_bounds *,
                                                            struct kvc_diag *),
                                   struct kvc_capacity_bounds *bounds, struct kvc_diag *diag)
{
    struct kvc_diag inner = {0};
    if (text == NULL || parse(text, bounds, &inner) == KVC_OK) {
        return KVC_OK;
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "capacity: --%.900s", inner.message);
}

static enum kvc_status parse_bounds(const struct kvc_arguments *arguments, struct kvc_capacity_bounds *bounds,
                                    struct kvc_diag *diag)
{
    *bounds = kvc_capacity_bounds_default;
    enum kvc_status status = parse_bound(arguments->flag[FLAG_LOSS], kvc_capacity_parse_loss, bounds, diag);
    if (status == KVC_OK) {
        status = parse_bound(arguments->flag[FLAG_LATENCY], kvc_capacity_parse_latency, bounds, diag);
    }
    if (status == KVC_OK) {
        status = parse_bound(arguments->flag[FLAG_PRECISION], kvc_capacity_parse_precision, bounds, diag);
    }
    return status;
}

static enum kvc_status find(const struct kvc_arguments *arguments, const struct kvc_capacity_bounds *bounds,
                            const struct kvc_loaded *loaded, bool *partial, struct kvc_diag *diag)
{
    struct kvc_progress_bar bar;
    const struct kvc_capacity_task task = {
        .loaded = loaded,
        .path = arguments->positional[0],
        .set = &arguments->set,
        .options = {.bounds = *bounds,
                    .jobs = arguments->jobs,
                    .progress = kvc_progress_bar_open(&bar, arguments->quiet)},
        .out = kvc_ranks_is_first() ? arguments->out : NULL,
        .json = kvc_ranks_is_first() ? arguments->json : NULL,
        .keeps = !arguments->is_forced,
        .color = kvc_table_color(stdout),
    };
    enum kvc_status status = kvc_capacity_answer(&task, stdout, partial, diag);
    kvc_progress_bar_close(&bar);
    return status;
}

int kvc_command_capacity(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_capacity_bounds bounds;
    struct kvc_loaded *loaded = NULL;
    struct kvc_diag diag = {0};
    bool partial = false;
    int exit_status;
    if (!kvc_command_begin(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    enum kvc_status status =
        kvc_command_load(parse_bounds(&arguments, &bounds, &diag), &arguments, &loaded, &diag);
    if (status == KVC_OK) {
        status = find(&arguments, &bounds, loaded, &partial, &diag);
    }
    kvc_command_tell(status, &arguments, &diag);
    if (status == KVC_OK && arguments.out != NULL && kvc_ranks_is_first()) {
        status = kvc_command_draw(kvc_capacity_draw, arguments.out, &diag);
    }
    kvc_loaded_free(loaded);
    kvc_arguments_free(&arguments);
    if (status != KVC_OK) {
        return kvc_print_failure(&diag);
    }
    return partial ? KVC_ERR_INTERRUPTED : KVC_OK;
}

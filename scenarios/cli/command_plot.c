/* kvcast plot: draws results. */
#include <string.h>

#include "plots/plot.h"
#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/print.h"
#include "sim/base/text/option.h"

enum { FLAG_KIND, FLAG_OUTPUT, FLAG_WIDE, FLAG_X, FLAG_Y, FLAG_BY };

static const struct kvc_flag flags[] = {
    [FLAG_KIND] =
        {"--kind", "-k", "KIND",
         "what to draw: cdf, tail, sweep, timeline, error, capacity, pareto, miss_ratio, critical, day, "
         "platform or pipeline"},
    [FLAG_OUTPUT] = {"--output", "-o", "FILE", "write the picture to FILE, which ends in .svg, .pdf or .png"},
    [FLAG_WIDE] = {"--wide", NULL, NULL, "draw for two columns of a paper (17.5 cm) instead of one (8.5 cm)"},
    [FLAG_X] = {"--x", "-x", "NAME", "of sweep: the swept value on the x axis; the first one by default"},
    [FLAG_Y] = {"--y", "-y", "COLUMN", "of sweep: the column on the y axis; throughput_mops by default"},
    [FLAG_BY] =
        {"--by", NULL, "NAMES",
         "of sweep: the swept values, separated by commas, that lines differ in; by default the first "
         "one that is not on the x axis"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "plot",
    .positional = "RESULT...",
    .positional_min = 1,
    .positional_max = KVC_POSITIONAL_MAX,
    .help =
        "Draws results with gnuplot; platform and pipeline with Graphviz. RESULT is a folder that --out wrote, or\n"
        "the file in it that is named below.\n"
        "  cdf         latency distribution, one line for each result.json\n"
        "  tail        the share of requests that are slower than each latency, on a logarithmic axis, one line for each\n"
        "              result.json\n"
        "  timeline    throughput and mean latency over time, one line for each result.json\n"
        "  sweep       any column with numbers of a sweep.csv (-y) over any swept value (-x), one line for each value\n"
        "              of others (--by), one panel for each value of the rest; with the objective for this column\n"
        "  error       predicted over published or measured values, from a CSV file with the columns\n"
        "              case,published,predicted or case,measured,predicted; validate --out writes errors.csv\n"
        "  capacity    latency over the offered load, from the capacity.json of capacity --out\n"
        "  pareto      latency over price, with the power, of the front in the plan.json of plan --out\n"
        "  miss_ratio  GETs that an LRU cache misses over its size, from the trace.json of trace --out\n"
        "  critical    how long requests are in each part of the store, all and the slowest 1 %, and what each resource\n"
        "              would change if it were 5 % faster, from the why.json of why --out\n"
        "  day         load, p99 latency and power over the hours, from the day.json of day --out\n"
        "  platform    the simulated machine: stages of the store, nodes, devices, links, rates, utilization and power,\n"
        "              from the result.json of run --out and the platform.xml beside it\n"
        "  pipeline    the stages of the store: devices, work, operations, batches, branches, structures, utilization and the\n"
        "              bottleneck, from the result.json of run --out, or the document of run --json or predict --json",
    .flags = flags,
};

static enum kvc_status find_kind(const char *name, enum kvc_plot_kind *kind, struct kvc_diag *diag)
{
    if (name == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "plot: --kind is missing; allowed: cdf, tail, sweep, timeline, error, "
                             "capacity, pareto, miss_ratio, critical, day, platform, pipeline");
    }
    for (int i = 0; kvc_plot_kinds[i] != NULL; i++) {
        if (strcmp(kvc_plot_kinds[i], name) == 0) {
            *kind = (enum kvc_plot_kind)i;
            return KVC_OK;
        }
    }
    const char *nearest = kvc_nearest_name(name, kvc_plot_kinds);
    return kvc_diag_fail(
        diag, KVC_ERR_SCENARIO,
        "plot: found --kind %.100s, allowed: cdf, tail, sweep, timeline, error, capacity, pareto, miss_ratio, critical, day, platform, pipeline%s%s%s",
        name, nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
        nearest != NULL ? "?" : "");
}

int kvc_command_plot(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    struct kvc_plot_options plot = {
        .input_count = arguments.positional_count,
        .inputs = arguments.positional,
        .output = arguments.flag[FLAG_OUTPUT],
        .x = arguments.flag[FLAG_X],
        .y = arguments.flag[FLAG_Y],
        .by = arguments.flag[FLAG_BY],
        .wide = arguments.flag[FLAG_WIDE] != NULL,
    };
    enum kvc_status status = find_kind(arguments.flag[FLAG_KIND], &plot.kind, &diag);
    if (status == KVC_OK && plot.kind != KVC_PLOT_SWEEP &&
        (plot.x != NULL || plot.y != NULL || plot.by != NULL)) {
        status = kvc_diag_fail(&diag, KVC_ERR_SCENARIO,
                               "plot: found -x, -y or --by with --kind %s, allowed: --kind sweep",
                               kvc_plot_kinds[plot.kind]);
    }
    if (status == KVC_OK && plot.output == NULL) {
        status = kvc_diag_fail(&diag, KVC_ERR_SCENARIO,
                               "plot: --output is missing; allowed: FILE.svg, FILE.pdf, FILE.png");
    }
    if (status == KVC_OK) {
        status = kvc_plot_draw(&plot, &diag);
    }
    if (status == KVC_OK && diag.message[0] != '\0') {
        kvc_print_warning(&diag);
    }
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}

/* kvcast plot: pictures of results. */
#include <string.h>

#include "plots/plot.h"
#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/print.h"
#include "sim/base/option.h"

enum { FLAG_KIND, FLAG_OUTPUT, FLAG_WIDE };

static const struct kvc_flag flags[] = {
    [FLAG_KIND] = {"--kind", "-k", "KIND", "cdf | throughput | timeline | error"},
    [FLAG_OUTPUT] = {"--output", "-o", "FILE", "the picture: FILE.svg, FILE.pdf or FILE.png"},
    [FLAG_WIDE] = {"--wide", NULL, NULL, "17.5 cm wide, for two columns, instead of 8.5 cm"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "plot",
    .positional = "RESULT...",
    .positional_min = 1,
    .positional_max = KVC_POSITIONAL_MAX,
    .help = "Draws results with gnuplot.\n"
            "  cdf         latency distribution of result.json files, one line each\n"
            "  timeline    throughput over time of result.json files, one line each\n"
            "  throughput  of a sweep.csv over its first swept parameter, one line per value of the others\n"
            "  error       predicted against published or measured, from a CSV with the columns\n"
            "              case,published,predicted or case,measured,predicted; validate --out writes one",
    .flags = flags,
};

static enum kvc_status find_kind(const char *name, enum kvc_plot_kind *kind, struct kvc_diag *diag)
{
    if (name == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "plot: --kind is missing: cdf, throughput, timeline or error");
    }
    for (int i = 0; kvc_plot_kinds[i] != NULL; i++) {
        if (strcmp(kvc_plot_kinds[i], name) == 0) {
            *kind = (enum kvc_plot_kind)i;
            return KVC_OK;
        }
    }
    const char *nearest = kvc_nearest_name(name, kvc_plot_kinds);
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                         "plot: found --kind %.100s, allowed: cdf, throughput, timeline, error%s%s%s", name,
                         nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
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
        .wide = arguments.flag[FLAG_WIDE] != NULL,
    };
    enum kvc_status status = find_kind(arguments.flag[FLAG_KIND], &plot.kind, &diag);
    if (status == KVC_OK && plot.output == NULL) {
        status = kvc_diag_fail(&diag, KVC_ERR_SCENARIO,
                               "plot: --output is missing: FILE.svg, FILE.pdf or FILE.png");
    }
    if (status == KVC_OK) {
        status = kvc_plot_draw(&plot, &diag);
    }
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}

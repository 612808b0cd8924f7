/* kvcast calibrate: measures this machine and writes a machine file. */
#include <stdio.h>
#include <string.h>

#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/print.h"
#include "scenarios/run/calibrate.h"
#include "sim/base/files/partial_file.h"
#include "sim/base/version.h"

enum { FLAG_FILE, FLAG_QUICK };

static const struct kvc_flag flags[] = {
    [FLAG_FILE] = {"--output", "-o", "FILE.lua", "machine file to write (required)"},
    [FLAG_QUICK] = {"--quick", NULL, NULL, "measure fewer points, of small stores: takes one to two minutes"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "calibrate",
    .positional = "",
    .positional_min = 0,
    .positional_max = 0,
    .help =
        "Measures this machine's memory, cores and GPU and the real code of the stores that can be measured,\n"
        "and writes a machine file, which scenarios name as node.machine. A full calibration takes minutes and\n"
        "up to 4 GiB of memory. Nothing else should run meanwhile: the command reports a busy machine, but it\n"
        "cannot correct for it. An interrupted calibration leaves no file.",
    .takes = KVC_TAKES_QUIET,
    .flags = flags,
};

static void warn(const struct kvc_calibrated *calibrated)
{
    double slowest_frac = kvc_cores_slowest_frac(&calibrated->machine.cores);
    double spread_frac = kvc_steadiness_spread_frac(&calibrated->steadiness);
    if (slowest_frac < kvc_cores_shared_frac) {
        fprintf(
            stderr,
            "kvcast: warning: the slowest core ran at %.0f %% of the fastest while all worked: it shares its units "
            "with another core or with a neighbour of this machine\n",
            100 * slowest_frac);
    }
    if (spread_frac > kvc_steadiness_busy_frac) {
        fprintf(
            stderr,
            "kvcast: warning: the same arithmetic took up to %.0f %% longer at times: this machine is busy "
            "or its clock varies, calibrate again\n",
            100 * spread_frac);
    }
}

static enum kvc_status calibrate(const struct kvc_arguments *arguments, struct kvc_calibrated *calibrated,
                                 struct kvc_diag *diag)
{
    struct kvc_partial_file file = {0};
    struct kvc_progress_bar bar;
    const struct kvc_calibration_options options = {.quick = arguments->flag[FLAG_QUICK] != NULL,
                                                    .version = kvc_version};
    /* The file is opened first, so that a file that cannot be written is reported before minutes of
     * measuring. */
    enum kvc_status status = kvc_partial_file_open(&file, arguments->flag[FLAG_FILE], diag);
    if (status == KVC_OK) {
        status = kvc_calibrate(&options, kvc_progress_bar_open(&bar, arguments->quiet), calibrated, diag);
        kvc_progress_bar_close(&bar);
    }
    if (status == KVC_OK) {
        kvc_profile_write(calibrated->profile, file.file);
        status = kvc_partial_file_commit(&file, diag);
    }
    kvc_partial_file_discard(&file);
    return status;
}

/* Scenarios know a machine file by its name. */
static bool is_lua(const char *path)
{
    size_t bytes = strlen(path);
    return bytes > strlen(".lua") && strcmp(path + bytes - strlen(".lua"), ".lua") == 0;
}

int kvc_command_calibrate(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_calibrated calibrated = {.profile = NULL};
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    enum kvc_status status = KVC_OK;
    if (arguments.flag[FLAG_FILE] == NULL) {
        status = kvc_diag_fail(&diag, KVC_ERR_SCENARIO, "calibrate: -o FILE.lua is missing");
    } else if (!is_lua(arguments.flag[FLAG_FILE])) {
        status = kvc_diag_fail(&diag, KVC_ERR_SCENARIO,
                               "calibrate: -o: found \"%s\", allowed: a file that ends in .lua",
                               arguments.flag[FLAG_FILE]);
    }
    if (status == KVC_OK) {
        status = calibrate(&arguments, &calibrated, &diag);
    }
    if (status == KVC_OK && !arguments.quiet) {
        kvc_profile_write_summary(calibrated.profile, stdout);
        warn(&calibrated);
    }
    kvc_calibrated_free(&calibrated);
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}

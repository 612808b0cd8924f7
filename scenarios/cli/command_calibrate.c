/* kvcast calibrate: this machine as a hardware profile. */
#include <stdio.h>

#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/progress_bar.h"
#include "sim/base/partial_file.h"
#include "scenarios/cli/print.h"
#include "scenarios/run/calibrate.h"

enum { FLAG_FILE, FLAG_QUICK };

static const struct kvc_flag flags[] = {
    [FLAG_FILE] = {"--output", "-o", "FILE.lua", "where the machine file goes (required)"},
    [FLAG_QUICK] = {"--quick", NULL, NULL, "small tables: seconds, and costs of smaller stores"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "calibrate",
    .positional = "",
    .positional_min = 0,
    .positional_max = 0,
    .help =
        "Measures this machine's memory and the stages of Mega-KV's pipeline with the real kernels, fits\n"
        "straight lines and writes a machine file; scenarios name it as node.machine. Takes a minute and\n"
        "2 GiB. Nothing else should run meanwhile: a busy machine is reported, not averaged away. An\n"
        "interrupted calibration leaves no file.",
    .takes = KVC_TAKES_QUIET,
    .flags = flags,
};

static void print_curve(const char *what, const struct kvc_fit *fit, const char *per)
{
    printf("%-22s %9.4g ns a %-9s +- %-8.2g and %9.4g ns +- %-8.2g worst point %4.1f %% off%s\n", what,
           fit->slope, per, fit->slope_half, fit->base, fit->base_half, 100 * fit->worst_frac,
           fit->linear ? "" : ": NOT a straight line");
}

static void print_report(const struct kvc_machine_report *report)
{
    const struct kvc_memory_latency_curve *memory = &report->memory;
    const struct kvc_memory_latency_point *largest = &memory->point[memory->count - 1];
    double spread_frac = kvc_steadiness_spread_frac(&report->steadiness);
    printf("%u cores of %s\n", report->facts.cores, report->facts.cpu);
    printf("random line            %9.4g ns alone, %.4g ns with %d under way, in %llu MiB\n",
           largest->line_ns[0], largest->line_ns[KVC_MEMORY_LATENCY_CHAINS - 1],
           1 << (KVC_MEMORY_LATENCY_CHAINS - 1), (unsigned long long)(largest->bytes >> 20));
    printf("sequential             %9.4g GB/s\n", memory->sequential_bytes_per_s / 1e9);
    printf("index on               %s\n", report->gpu.present ? report->gpu.name : "one thread");
    print_curve("receive a frame", &report->stages.receive.fit, "request");
    print_curve("write an item", &report->stages.write.fit, "byte");
    print_curve("read an item", &report->stages.read.fit, "byte");
    print_curve("search", &report->stages.search.fit, "job");
    print_curve("insert and delete", &report->stages.insert.fit, "job");
    if (kvc_cores_slowest_frac(&report->cores) < kvc_cores_shared_frac) {
        fprintf(
            stderr,
            "kvcast: warning: a core ran at %.0f %% while all worked: it shares its units with another one "
            "or with a neighbour of this machine\n",
            100 * kvc_cores_slowest_frac(&report->cores));
    }
    if (spread_frac > KVC_MACHINE_BUSY_FRAC) {
        fprintf(
            stderr,
            "kvcast: warning: the same arithmetic took up to %.0f %% longer at times: this machine is busy "
            "or its clock varies, calibrate again\n",
            100 * spread_frac);
    }
}

static enum kvc_status calibrate(const struct kvc_arguments *arguments, struct kvc_machine_report *report,
                                 struct kvc_diag *diag)
{
    struct kvc_partial_file file = {0};
    struct kvc_bar bar;
    const struct kvc_calibration_options calibration = {.quick = arguments->flag[FLAG_QUICK] != NULL,
                                                        .version = KVC_VERSION};
    /* before measuring: a minute is too long to learn that the file cannot be written */
    enum kvc_status status = kvc_partial_file_open(&file, arguments->flag[FLAG_FILE], diag);
    if (status == KVC_OK) {
        status = kvc_calibrate(&calibration, kvc_bar_open(&bar, arguments->quiet), report, diag);
        kvc_bar_close(&bar);
    }
    if (status == KVC_OK) {
        kvc_machine_write(report, file.file);
        status = kvc_partial_file_commit(&file, diag);
    }
    kvc_partial_file_discard(&file);
    return status;
}

int kvc_command_calibrate(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_machine_report report;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    enum kvc_status status = KVC_OK;
    if (arguments.flag[FLAG_FILE] == NULL) {
        status = kvc_diag_fail(&diag, KVC_ERR_SCENARIO, "calibrate: -o FILE.lua is missing");
    }
    if (status == KVC_OK) {
        status = calibrate(&arguments, &report, &diag);
    }
    if (status == KVC_OK && !arguments.quiet) {
        print_report(&report);
    }
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}

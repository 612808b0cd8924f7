/* kvcast doctor: what this machine can do. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kernels/pages.h"
#include "plots/program.h"
#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/print.h"
#include "scenarios/output/table.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/files/data_dir.h"
#include "sim/probes/machine.h"

enum { TEXT = 256 };

/* What was looked at. */
struct finding {
    const char *name;
    bool good;
    char found[TEXT];
    const char
        *otherwise; /* What does not work or is slower, and what helps; for findings that are not good. */
};

static struct finding find_processors(void)
{
    struct finding finding = {.name = "processors", .good = true};
    uint32_t processors = kvc_pool_processors();
    snprintf(finding.found, TEXT, "%u: as many processes run at a time, unless --jobs says otherwise",
             processors);
    return finding;
}

static struct finding find_memory(void)
{
    struct finding finding = {
        .name = "memory", .otherwise = "larger stores are refused; kvcast check says what a scenario needs"};
    double available_gib = kvc_memory_available_bytes() / 1073741824.0;
    finding.good = available_gib >= 1;
    snprintf(finding.found, TEXT, "%.1f GiB available", available_gib);
    return finding;
}

static struct finding find_huge_pages(void)
{
    struct finding finding = {.name = "huge pages",
                              .good = kvc_pages_has_huge(),
                              .otherwise = "stores of gigabytes are simulated and measured more slowly; "
                                           "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"};
    snprintf(finding.found, TEXT, "%s", finding.good ? "used where they are asked for" : "switched off");
    return finding;
}

static struct finding find_data(void)
{
    char path[PATH_MAX];
    struct stat status;
    struct finding finding = {.name = "data",
                              .otherwise =
                                  "scenarios find no hardware; set KVCAST_DATA to the folder that has "
                                  "scenarios/hardware"};
    kvc_data_path("scenarios/hardware", path);
    finding.good = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    snprintf(finding.found, TEXT, "%.240s", kvc_data_dir());
    return finding;
}

static struct finding find_program(const char *name, const char *otherwise)
{
    struct finding finding = {.name = name, .good = kvc_program_is_installed(name), .otherwise = otherwise};
    snprintf(finding.found, TEXT, "%s", finding.good ? "installed" : "not installed");
    return finding;
}

static struct finding find_gpu(void)
{
    struct kvc_gpu_facts gpu;
    struct finding finding = {.name = "GPU",
                              .otherwise =
                                  "simulations need none; kvcast calibrate and measure run the GPU's part on "
                                  "a core (a build with -DKVCAST_CUDA=ON uses a GPU)"};
    kvc_gpu_find(&gpu);
    finding.good = gpu.present;
    if (gpu.present) {
        snprintf(finding.found, TEXT, "%.100s, %u multiprocessors, %.0f GiB", gpu.name, gpu.multiprocessors,
                 (double)gpu.memory_bytes / 1073741824.0);
    } else {
        snprintf(finding.found, TEXT, "none that this build can use");
    }
    return finding;
}

static json_t *document(const struct finding *finding, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        bool good = finding[i].good;
        json_array_append_new(list, json_pack("{s:s, s:b, s:s, s:s?}", "name", finding[i].name, "good", good,
                                              "found", finding[i].found, "otherwise",
                                              good ? NULL : finding[i].otherwise));
    }
    return json_pack("{s:s, s:o}", "schema", "kvcast.doctor/1", "findings", list);
}

static void print_findings(const struct finding *finding, size_t count)
{
    bool color = kvc_table_color(stdout);
    for (size_t i = 0; i < count; i++) {
        bool warns = color && !finding[i].good;
        printf("%s%-12s%s%s\n", warns ? "\033[33m" : "", finding[i].name, finding[i].found,
               warns ? "\033[0m" : "");
        if (!finding[i].good) {
            printf("%-12s%s\n", "", finding[i].otherwise);
        }
    }
}

static const struct kvc_usage usage = {
    .command = "doctor",
    .positional = "",
    .help =
        "Says what this machine can do: processors, memory, huge pages, the data folder, the programs that draw,\n"
        "and a GPU. What is missing is named with what it is needed for and what helps. The exit status is 0.",
    .takes = KVC_TAKES_JSON | KVC_TAKES_QUIET,
};

int kvc_command_doctor(int argc, char **argv)
{
    struct kvc_arguments arguments;
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    const struct finding findings[] = {
        find_processors(),
        find_memory(),
        find_huge_pages(),
        find_data(),
        find_program("gnuplot", "no pictures but those of machines; apt-get install gnuplot-nox"),
        find_program("dot", "no pictures of machines (plot -k platform); apt-get install graphviz"),
        find_gpu(),
    };
    enum { FINDINGS = sizeof(findings) / sizeof(*findings) };
    if (arguments.json != NULL) {
        exit_status = kvc_print_json(document(findings, FINDINGS), arguments.json);
    }
    if (exit_status == KVC_OK && (arguments.json == NULL || strcmp(arguments.json, "-") != 0)) {
        print_findings(findings, FINDINGS);
    }
    kvc_arguments_free(&arguments);
    return exit_status;
}

#include "scenarios/run/memory_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "scenarios/run/memory_base.h"
#include "scenarios/run/ranks.h"

static const double bytes_per_gib = 1024.0 * 1024.0 * 1024.0;

/* Returns the number in a file that contains nothing else, such as a limit of the control group, or -1. */
static double number_in_file(const char *path)
{
    double value = -1;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return -1;
    }
    if (fscanf(file, "%lf", &value) != 1) { /* "max" stands for no limit. */
        value = -1;
    }
    fclose(file);
    return value;
}

static double meminfo_available_bytes(void)
{
    char line[256];
    double kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    if (file == NULL) {
        return 0;
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "MemAvailable: %lf kB", &kib) == 1) {
            break;
        }
    }
    fclose(file);
    return kib * 1024;
}

double kvc_memory_available_bytes(void)
{
    double available = meminfo_available_bytes();
    double limit = number_in_file("/sys/fs/cgroup/memory.max");
    double used = number_in_file("/sys/fs/cgroup/memory.current");
    if (limit >= 0 && used >= 0) {
        available = fmin(available, fmax(limit - used, 0));
    }
    return available / kvc_ranks_here();
}

double kvc_memory_needed_bytes(const struct kvc_scenario *scenario)
{
    return kvc_memory_base_bytes(scenario) + kvc_scenario_memory_bytes(scenario);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

enum kvc_status kvc_memory_plan(double needed, double available, uint32_t replicas, uint32_t jobs,
                                uint32_t processors, uint32_t *planned, struct kvc_diag *diag)
{
    uint32_t wanted = least(jobs != 0 ? jobs : processors, replicas);
    *planned = wanted;
    if (available <= 0 || needed <= 0) {
        return KVC_OK;
    }
    uint32_t fit = (uint32_t)fmin(floor(available / needed), UINT32_MAX);
    if (fit == 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "the run needs %.1f GiB, but this machine has %.1f GiB available; "
                             "use functional = \"sampled\" (run.functional)",
                             needed / bytes_per_gib, available / bytes_per_gib);
    }
    if (jobs != 0 && fit < wanted) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "%u jobs need %.1f GiB, but this machine has %.1f GiB available; use --jobs %u or "
            "functional = \"sampled\" (run.functional)",
            wanted, needed * wanted / bytes_per_gib, available / bytes_per_gib, fit);
    }
    *planned = least(wanted, fit);
    return KVC_OK;
}

#include "scenarios/run/memory_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    return available;
}

/* Returns how many children fit beside `base` stores in the parent. */
static uint32_t jobs_that_fit(double needed, double available, double base)
{
    double jobs = floor(available / needed - base);
    return jobs < 0 ? 0 : jobs > UINT32_MAX ? UINT32_MAX : (uint32_t)jobs;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

enum kvc_status kvc_memory_plan(double needed, double available, uint32_t replicas, uint32_t jobs,
                                uint32_t processors, struct kvc_memory_plan *plan, struct kvc_diag *diag)
{
    uint32_t wanted = least(jobs != 0 ? jobs : processors, replicas);
    *plan = (struct kvc_memory_plan){.jobs = wanted, .shared = replicas > 1};
    if (available <= 0 || needed <= 0) {
        return KVC_OK;
    }
    uint32_t apart = jobs_that_fit(needed, available, 0);
    uint32_t sharing = replicas > 1 ? jobs_that_fit(needed, available, 1) : 0;
    if (apart == 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "the run needs %.1f GiB, but this machine has %.1f GiB available; "
                             "use functional = \"sampled\" (run.functional)",
                             needed / bytes_per_gib, available / bytes_per_gib);
    }
    if (sharing >= wanted) {
        return KVC_OK;
    }
    plan->shared = jobs == 0 && sharing > 0;
    if (plan->shared) {
        plan->jobs = sharing;
    } else if (jobs == 0) {
        plan->jobs = least(wanted, apart);
    } else if (apart < wanted) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "%u jobs need %.1f GiB, but this machine has %.1f GiB available; use --jobs %u or "
            "functional = \"sampled\" (run.functional)",
            wanted, needed * wanted / bytes_per_gib, available / bytes_per_gib, apart);
    }
    return KVC_OK;
}

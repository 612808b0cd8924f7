/* Measures the growth of a cluster's cost with its nodes: CPU time of whole runs, with the same load for each
 * node, and the exponent of the power law through them. Nodes that share nothing cost as much as they cost
 * alone.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "scenarios/load/load.h"
#include "scenarios/run/driver.h"

enum { SIZES = 7, ROUNDS_MAX = 15 };

static double cpu_s(void)
{
    struct rusage own, children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    return (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec + children.ru_utime.tv_sec +
                    children.ru_stime.tv_sec) +
           1e-6 * (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec + children.ru_utime.tv_usec +
                           children.ru_stime.tv_usec);
}

/* Returns the CPU time of one run [s]; exits with status 3 if it fails. */
static double run(const char *path, uint32_t nodes)
{
    struct kvc_overrides set = {0};
    struct kvc_diag diag = {0};
    struct kvc_loaded *loaded = NULL;
    struct kvc_outcome *outcome = NULL;
    const struct kvc_run_options options = {.jobs = 1};
    const struct {
        const char *path;
        double each;
    } scaled[] = {{"cluster.nodes", 1}, {"workload.keys", 1e6}, {"workload.arrival.poisson_mops", 120}};
    char value[32];
    double begin_s = cpu_s();
    enum kvc_status status = kvc_overrides_add(&set, "run.replicas", "1", &diag);
    if (status == KVC_OK) {
        status = kvc_overrides_add(&set, "run.duration", "20ms", &diag);
    }
    for (size_t i = 0; i < sizeof(scaled) / sizeof(*scaled) && status == KVC_OK; i++) {
        snprintf(value, sizeof(value), "%.0f", scaled[i].each * nodes);
        status = kvc_overrides_add(&set, scaled[i].path, value, &diag);
    }
    if (status == KVC_OK) {
        status = kvc_scenario_load(path, &set, &loaded, &diag);
    }
    if (status == KVC_OK) {
        status = kvc_driver_run(&loaded->scenario, &options, &outcome, &diag);
    }
    if (status != KVC_OK) {
        fprintf(stderr, "cluster_bench: %s\n", diag.message);
        exit(3);
    }
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
    kvc_overrides_clear(&set);
    return cpu_s() - begin_s;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "scenarios/examples/cluster.lua";
    uint32_t rounds = argc > 2 && atoi(argv[2]) > 0 ? (uint32_t)atoi(argv[2]) : 3;
    double seconds[SIZES][ROUNDS_MAX], n = 0, x = 0, y = 0, xx = 0, xy = 0;
    rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
    for (uint32_t round = 0; round < rounds; round++) { /* In turns, so that a busy machine is fair to all. */
        for (uint32_t i = 0; i < SIZES; i++) {
            seconds[i][round] = run(path, 1u << i);
        }
    }
    printf("%6s %12s %14s\n", "nodes", "CPU s", "CPU ms a node");
    for (uint32_t i = 0; i < SIZES; i++) {
        qsort(seconds[i], rounds, sizeof(*seconds[i]), ascending);
        double median = seconds[i][rounds / 2], log_n = log(1u << i), log_s = log(median);
        printf("%6u %12.3f %14.1f\n", 1u << i, median, 1e3 * median / (1u << i));
        n++;
        x += log_n;
        y += log_s;
        xx += log_n * log_n;
        xy += log_n * log_s;
    }
    printf("exponent %.3f of CPU time over nodes, 1 to %u, least squares\n",
           (n * xy - x * y) / (n * xx - x * x), 1u << (SIZES - 1));
    return 0;
}

/* Measures sweeps of Mega-KV by the closed form on one core: points per second, and what of the time goes
 * into evaluating, storing and exporting them; then storing alone, of rows that are made up.
 *
 * Times are processor times, so that other programs on the machine do not count. Every size is twice the one
 * before, so that the rates show whether the time is linear in the number of points. The sizes end when a
 * sweep takes longer than a few seconds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/sweep/sweep.h"
#include "sim/base/clock.h"

enum { FIRST = 1000, LARGEST = 2048000, STORED = 512000 };

static const double longest_s = 5;

static char folder[] = "/tmp/kvcast-sweep-bench-XXXXXX";

static int fail(const struct kvc_diag *diag)
{
    kvc_diag_print(diag, stderr);
    fputc('\n', stderr);
    return diag->status;
}

/* Writes a scenario with a grid of `points` points, 1000 times a power of 2. */
static bool write_scenario(const char *path, uint32_t points)
{
    uint32_t ports = points <= 16000 ? 5 : 80, rates = points / 100 / ports;
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return false;
    }
    fprintf(file,
            "return { system = { kind = 'megakv' },\n"
            "  workload = { keys = 1e6, key = 16, value = 64, get = 0.9, set = 0.1, dist = { zipf = 0.99 },\n"
            "    arrival = { poisson_mops = 80 } },\n"
            "  slo = { p99 = '400us' },\n"
            "  sweep = { ['system.cycle'] = { from = '100us', to = '400us', steps = 50 },\n"
            "    ['system.gpu_core'] = { '875MHz', '666MHz' },\n"
            "    ['node.nic.port_rate'] = { from = '10Gbps', to = '100Gbps', steps = %u },\n"
            "    ['workload.arrival.poisson_mops'] = { from = 10, to = 160, steps = %u } } }\n",
            ports, rates);
    return fclose(file) == 0;
}

static enum kvc_status time_sweep(uint32_t points, double *whole_s, struct kvc_diag *diag)
{
    char path[96], out[96];
    struct kvc_sweep_done done;
    snprintf(path, sizeof(path), "%s/sweep.lua", folder);
    snprintf(out, sizeof(out), "%s/out", folder);
    if (!write_scenario(path, points)) {
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, path, 0, "cannot be written");
    }
    const struct kvc_sweep_options task = {.path = path,
                                           .load = kvc_scenario_load,
                                           .load_point = kvc_scenario_load_point,
                                           .folder = out,
                                           .predict = true,
                                           .restart = true};
    double start_s = kvc_clock_cpu_s();
    enum kvc_status status = kvc_sweep_run(&task, &done, diag);
    *whole_s = kvc_clock_cpu_s() - start_s;
    if (status == KVC_OK) {
        double us = 1e6 / points;
        printf("%9u %12.0f %12.2f %12.2f %12.2f %12.2f\n", points, points / *whole_s, done.evaluate_s * us,
               done.store_s * us, done.export_s * us,
               (*whole_s - done.evaluate_s - done.store_s - done.export_s) * us);
    }
    return status;
}

/* Stores rows whose numbers are random, in batches as a sweep does. */
static enum kvc_status time_storing(struct kvc_diag *diag)
{
    enum { BATCH = 5000 };
    char path[96], out[96];
    struct kvc_loaded *loaded = NULL;
    struct kvc_space *space = NULL;
    struct kvc_database *database = NULL;
    struct kvc_identity identity = {.count = 0};
    struct kvc_forecast forecast = {.throughput_mops = 81.25, .nodes = 1, .bottleneck_stage = "index"};
    struct kvc_row row;
    uint32_t value[KVC_SWEEP_AXES_MAX];
    snprintf(path, sizeof(path), "%s/sweep.lua", folder);
    snprintf(out, sizeof(out), "%s/out", folder);
    if (!write_scenario(path, STORED)) {
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, path, 0, "cannot be written");
    }
    enum kvc_status status = kvc_scenario_load(path, NULL, &loaded, diag);
    status = status == KVC_OK ? kvc_space_create(loaded, &space, diag) : status;
    status = status == KVC_OK ? kvc_identity_of(loaded, NULL, space, true, &identity, diag) : status;
    const struct kvc_database_layout layout = {
        .space = space, .slo = loaded != NULL ? &loaded->slo : NULL, .predict = true};
    status = status == KVC_OK ? kvc_database_open(out, &identity, &layout, true, &database, diag) : status;
    double start_s = kvc_clock_cpu_s();
    for (uint32_t i = 0; i < STORED && status == KVC_OK; i++) {
        forecast.latency.mean_us = 200 + 1e-3 * i;
        forecast.latency.p99_us = sqrt(i);
        forecast.watts_mean = 1.0 / (i + 1);
        kvc_row_of_forecast(&forecast, &row);
        kvc_space_point(space, i, value);
        status = i % BATCH == 0 ? kvc_database_begin(database, diag) : KVC_OK;
        status = status == KVC_OK ? kvc_database_add(database, i, value, &row, NULL, diag) : status;
        if (status == KVC_OK && (i + 1) % BATCH == 0) {
            status = kvc_database_commit(database, diag);
        }
    }
    printf("storing alone: %.2f us a point, %d points\n", (kvc_clock_cpu_s() - start_s) * 1e6 / STORED,
           STORED);
    kvc_database_close(database);
    kvc_identity_free(&identity);
    kvc_space_free(space);
    kvc_loaded_free(loaded);
    return status;
}

int main(void)
{
    struct kvc_diag diag = {0};
    char command[64];
    double whole_s = 0;
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return KVC_ERR_RUNTIME;
    }
    printf("kvcast sweep --predict, Mega-KV, one core\n%9s %12s %12s %12s %12s %12s\n", "points", "points/s",
           "evaluate us", "store us", "export us", "rest us");
    enum kvc_status status = KVC_OK;
    for (uint32_t n = FIRST; n <= LARGEST && whole_s < longest_s && status == KVC_OK; n *= 2) {
        status = time_sweep(n, &whole_s, &diag);
    }
    if (status == KVC_OK) {
        status = time_storing(&diag);
    }
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    if (system(command) != 0) {
        perror(command);
    }
    return status == KVC_OK ? 0 : fail(&diag);
}

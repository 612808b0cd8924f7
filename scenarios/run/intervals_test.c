/* The interval of a single run covers the mean over many runs about as often as it says. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "scenarios/load/load.h"
#include "scenarios/run/driver.h"

enum { SEEDS = 40, KNOWN_MIN = 30 };

/* Largest allowed width of one run's intervals relative to the spread of the runs. */
static const double widest = 2;

/* Runs a scenario in Lua once for each seed. The caller frees the outcomes. */
static void run_all(const char *text, struct kvc_outcome *outcome[SEEDS])
{
    char path[] = "/tmp/kvcast-intervals-XXXXXX";
    struct kvc_diag diag = {0};
    struct kvc_loaded *loaded = NULL;
    const struct kvc_run_options options = {.jobs = 1};
    FILE *file = fdopen(mkstemp(path), "w");
    cr_assert(file != NULL && fprintf(file, "return %s\n", text) > 0 && fclose(file) == 0);
    cr_assert_eq(kvc_scenario_load(path, NULL, &loaded, &diag), KVC_OK, "%s", diag.message);
    unlink(path);
    for (uint32_t i = 0; i < SEEDS; i++) {
        loaded->scenario.run.seed = 1 + i;
        cr_assert_eq(kvc_driver_run(&loaded->scenario, &options, &outcome[i], &diag), KVC_OK, "%s",
                     diag.message);
    }
    kvc_loaded_free(loaded);
}

/* Expects that at least 80 % of the intervals of a value cover its mean over all runs, which is nearly the
 * mean of a very long run, and that they are not much wider than the runs' own spread says. */
static void expect_coverage(struct kvc_outcome *const outcome[SEEDS], const char *name)
{
    double mean = 0, squares = 0, half_widths = 0;
    uint32_t known = 0, covered = 0;
    for (uint32_t i = 0; i < SEEDS; i++) {
        mean += kvc_outcome_interval(outcome[i], name).mean / SEEDS;
    }
    for (uint32_t i = 0; i < SEEDS; i++) {
        struct kvc_interval interval = kvc_outcome_interval(outcome[i], name);
        bool is_known = isfinite(interval.half_width);
        known += is_known;
        half_widths += is_known ? interval.half_width : 0;
        covered += is_known && fabs(interval.mean - mean) <= interval.half_width;
        squares += (interval.mean - mean) * (interval.mean - mean);
    }
    cr_expect(known >= KNOWN_MIN && covered >= 0.8 * known, "%s, %g: %d of %d intervals cover it", name, mean,
              (int)covered, (int)known);
    double width = half_widths / known, spread = 2 * sqrt(squares / (SEEDS - 1));
    cr_expect(width > 0 && width <= widest * spread, "%s, %g +- %g: 95 %% of the runs lie within %g", name,
              mean, width, spread);
}

static void expect_all(const char *text, const char *const *names)
{
    struct kvc_outcome *outcome[SEEDS];
    run_all(text, outcome);
    for (; *names != NULL; names++) {
        expect_coverage(outcome, *names);
    }
    for (uint32_t i = 0; i < SEEDS; i++) {
        kvc_outcome_free(outcome[i]);
    }
}

/* There is one stream, because the assignment of connections to streams differs only between runs. */
Test(intervals, of_one_run_cover_the_mean_of_many, .timeout = 300)
{
    static const char *const names[] = {"devices.node0.socket0.cpu.utilization_frac",
                                        "devices.node0.socket0.dram.utilization_frac",
                                        "devices.node0.socket0.gpu.utilization_frac",
                                        "devices.node0.socket0.gpu.watts_mean",
                                        "devices.node0.socket0.gpu.joules",
                                        "devices.node0.socket0.nic-rx.watts_mean",
                                        "devices.node0.socket0.pcie-down.utilization_frac",
                                        "stages.receive.mean_us",
                                        "stages.index.mean_us",
                                        "stages.send.mean_us",
                                        "model.batching_mean_us",
                                        "model.write_latency_mean_us",
                                        "model.stream_search_utilization_frac",
                                        "model.stream_insert_utilization_frac",
                                        "model.t_search_us",
                                        "model.jobs_per_search",
                                        "model.search_ns_per_job",
                                        "model.t_insert_us",
                                        "model.jobs_per_insert",
                                        "model.insert_ns_per_job",
                                        "kernel.replaced",
                                        NULL};
    expect_all(
        "{ system = { kind = 'megakv', cycle = '100us', streams = 1, index = '4MiB', slab = '16MiB' }, "
        "node = { sockets = 1 }, workload = { keys = 1e5, key = 8, value = 8, get = 0.9, set = 0.1, "
        "arrival = { poisson_mops = 8 } }, run = { warmup = '2ms', duration = '8ms' } }",
        names);
}

/* The number of accesses of a GET or SET depends on the places of the keys, so it differs between runs. */
Test(intervals, of_one_run_of_a_card_cover_the_mean_of_many, .timeout = 300)
{
    static const char *const names[] = {"devices.node0.nic0.card.utilization_frac",
                                        "devices.node0.nic0.pcie-up.utilization_frac",
                                        "devices.node0.nic0.pcie-down.utilization_frac",
                                        "devices.node0.nic0.tx.utilization_frac",
                                        "devices.node0.socket0.dram.utilization_frac",
                                        "kernel.cache_hit_frac",
                                        "model.collided_frac",
                                        "model.merged_frac",
                                        "model.dma_reads_per_op",
                                        "model.dram_lines_per_op",
                                        NULL};
    expect_all(
        "{ system = { kind = 'kvdirect', memory = '4MiB', dispatch = 0.6 }, "
        "node = { fpga = { base = 'catapult-stratix-v', dram = '256KiB' } }, "
        "workload = { keys = 5e4, key = 8, value = 2, set = 0.3, arrival = { poisson_mops = 60 }, fill = 'at_once' }, "
        "run = { warmup = '200us', duration = '1ms' } }",
        names);
}

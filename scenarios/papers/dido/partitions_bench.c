/* Forecasts the throughput of partitions of DIDO's tasks over cores and a GPU, measures it, and compares.
 *
 * The forecast adds up what each task costs alone on one core, times what sharing with other cores adds, and
 * what the tasks of a stage on the GPU cost alone (models/dido/real/forecast.h); the pipelines themselves are
 * no input. The machine may do other work
 * meanwhile, so only batches during which no thread was kept from running count (undisturbed_mops in
 * models/dido/real/measure.c), every partition is measured several times, in turn with the others, and
 * medians count. Prints for each partition the forecast, the measured throughput with its least and greatest
 * value, the runs that had enough undisturbed time and this time, the share of the GETs that were hits, and
 * the error; then the rank correlation of both (Spearman), and the regret: how much less the partition that
 * is forecast to be the best does than the one that is. The closed form of the scenario's own hardware is
 * shown beside it; only its order can be compared, unless the hardware is this machine's.
 *
 *   dido_partitions_bench [--gpu] [SCENARIO.lua [key=value ...]]
 *
 * Without --gpu, two cores are divided in many ways; the default scenario is
 * scenarios/papers/dido/partitions.lua. With --gpu, eight cores and a GPU are; one of the cores launches its
 * kernels. The default is partitions_gpu.lua beside it. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "models/dido/config.h"
#include "models/dido/dido.h"
#include "models/dido/real/forecast.h"
#include "models/dido/real/measure.h"
#include "scenarios/load/load.h"
#include "sim/base/array.h"
#include "sim/base/files/data_dir.h"

static const char *const on_cores[] = {
    "cpu:1 RV > cpu:1 PP MM search insert delete KC RD WR SD",
    "cpu:1 RV PP > cpu:1 MM search insert delete KC RD WR SD",
    "cpu:1 RV PP MM > cpu:1 search insert delete KC RD WR SD",
    "cpu:1 RV PP MM insert delete > cpu:1 search KC RD WR SD",
    "cpu:1 RV PP MM search > cpu:1 insert delete KC RD WR SD",
    "cpu:1 RV PP MM search insert delete > cpu:1 KC RD WR SD",
    "cpu:1 RV PP MM search KC > cpu:1 insert delete RD WR SD",
    "cpu:1 RV PP MM search insert delete KC > cpu:1 RD WR SD",
    "cpu:1 RV PP MM search KC RD > cpu:1 insert delete WR SD",
    "cpu:1 RV PP MM search insert delete KC RD > cpu:1 WR SD",
    "cpu:1 RV PP MM search insert delete KC RD WR > cpu:1 SD",
    "cpu:1 RV PP search > cpu:1 MM insert delete KC RD WR SD",
    "cpu:1 RV PP search KC RD > cpu:1 MM insert delete WR SD",
};

static const char *const with_gpu[] = {
    "cpu:8 RV PP MM search insert delete KC RD WR SD",
    "cpu:3 RV PP MM insert delete > cpu:5 search KC RD WR SD",
    "cpu:4 RV PP MM search insert delete > cpu:4 KC RD WR SD",
    "cpu:6 RV PP MM search insert delete KC RD > cpu:2 WR SD",
    "cpu:4 RV PP MM insert delete > gpu search > cpu:3 KC RD WR SD",
    "cpu:3 RV PP MM > gpu search > cpu:4 insert delete KC RD WR SD",
    "cpu:4 RV PP MM insert delete > gpu search KC > cpu:3 RD WR SD",
    "cpu:2 RV PP MM insert delete > gpu search KC RD > cpu:5 WR SD",
    "cpu:4 RV PP MM insert delete > gpu search KC RD > cpu:3 WR SD",
    "cpu:5 RV PP MM insert delete > gpu search KC RD > cpu:2 WR SD",
    "cpu:1 RV PP > gpu search KC RD > cpu:6 MM insert delete WR SD",
    "cpu:4 RV PP MM insert delete > gpu search KC RD WR > cpu:3 SD",
    "cpu:6 RV PP MM insert delete > gpu search KC RD WR > cpu:1 SD",
    "cpu:3 RV PP MM > gpu search insert delete > cpu:4 KC RD WR SD",
    "cpu:4 RV PP MM > gpu search insert delete KC RD > cpu:3 WR SD",
    "cpu:5 RV PP MM search insert delete > gpu KC RD > cpu:2 WR SD",
    "cpu:4 RV PP MM search insert delete > gpu KC RD WR > cpu:3 SD",
    "cpu:5 RV PP MM search insert delete KC > gpu RD > cpu:2 WR SD",
    "cpu:4 RV PP MM > gpu insert delete > cpu:3 search KC RD WR SD",
    "cpu:1 RV PP MM insert delete > gpu search KC RD > cpu:6 WR SD",
};

enum {
    PARTITIONS_MAX = sizeof(with_gpu) / sizeof(*with_gpu),
    RUNS = 3,
    TEAM = 2, /* Cores on which sharing is measured, all tasks in one stage; no such partition is ranked. */
    TEAM_WITH_GPU = 3,
    BATCH =
        /* Queries of a batch while costs next to a GPU are measured: about as many as in its pipelines. */
    16384,
};
_Static_assert(sizeof(on_cores) / sizeof(*on_cores) <= PARTITIONS_MAX, "room for the results");

static const char *const *partitions;
static int partition_count;

/* Undisturbed time that a run must have [ms]. */
static const double undisturbed_least_ms = 5;

static const char *path;
static struct kvc_overrides overrides; /* Overrides of the command line. */

static void die(const struct kvc_diag *diag)
{
    fprintf(stderr, "dido_partitions_bench: %s\n", diag->message);
    exit(2);
}

/* Loads the scenario with a pipeline. */
static struct kvc_loaded *load(const char *pipeline)
{
    struct kvc_overrides set = {0};
    struct kvc_diag diag = {0};
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status = kvc_overrides_add(&set, "system.pipeline", pipeline, &diag);
    for (uint32_t i = 0; status == KVC_OK && i < overrides.count; i++) {
        status = kvc_overrides_add(&set, overrides.entry[i].path, overrides.entry[i].value, &diag);
    }
    if (status != KVC_OK || kvc_scenario_load(path, &set, &loaded, &diag) != KVC_OK) {
        die(&diag);
    }
    kvc_overrides_clear(&set);
    return loaded;
}

/* The runs of a partition that were undisturbed for long enough. */
struct row {
    uint32_t runs;
    double mops[RUNS], undisturbed_ms;
    uint64_t gets, hits;
};

/* Prints the costs with the tasks of a stage on the GPU, or with none there. */
static void print_costs(const struct kvc_dido_real_costs *costs)
{
    char text[KVC_DIDO_PIPELINE_TEXT_MAX] = "all on the cpu";
    struct kvc_dido_pipeline gpu = {.stages = 1, .stage = {{.on_gpu = true, .tasks = costs->gpu_tasks}}};
    if (costs->gpu_tasks != 0) {
        kvc_dido_pipeline_print(&gpu, text, sizeof(text));
    }
    printf("%s: ns of a query alone on a core, together and apart:", text);
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        if ((costs->gpu_tasks & kvc_dido_bit((enum kvc_dido_task)task)) == 0) {
            printf("  %s %.1f %.1f", kvc_dido_task_names[task], costs->together_ns[task],
                   costs->apart_ns[task]);
        }
    }
    printf("  handling %.1f", costs->handling_ns);
    for (int i = 0; i < KVC_DIDO_REAL_GPU_SIZES && costs->gpu_tasks != 0; i++) {
        printf("%s%.0f in %.1f us", i == 0 ? "; alone on the GPU " : ", ", costs->gpu_queries[i],
               costs->gpu_ns[i] * 1e-3);
    }
    printf("\n");
    fflush(stdout);
}

/* Costs by the tasks that are on the GPU. */
static struct kvc_dido_real_costs all_costs[PARTITIONS_MAX];

static const struct kvc_dido_real_costs *costs_of(const struct kvc_dido_pipeline *pipeline)
{
    const struct kvc_dido_real_costs *costs = all_costs;
    while (costs->gpu_tasks != kvc_dido_real_gpu_tasks(pipeline)) {
        costs++;
    }
    return costs;
}

/* Measures the costs of the tasks of all partitions alone. */
static void measure_costs(uint32_t batch_queries, uint32_t team)
{
    uint32_t gpu_tasks[PARTITIONS_MAX], count = 0;
    struct kvc_diag diag = {0};
    struct kvc_loaded *loaded = load(partitions[0]);
    for (int i = 0; i < partition_count; i++) {
        struct kvc_dido_pipeline pipeline;
        uint32_t known = 0;
        if (kvc_dido_pipeline_parse(partitions[i], &pipeline, &diag) != KVC_OK) {
            die(&diag);
        }
        gpu_tasks[count] = kvc_dido_real_gpu_tasks(&pipeline);
        while (gpu_tasks[known] != gpu_tasks[count]) {
            known++;
        }
        count += known == count;
    }
    fprintf(stderr, "measuring tasks alone in %u ways\n", count);
    if (kvc_dido_real_costs_measure(&loaded->scenario, gpu_tasks, count, batch_queries, team, NULL, all_costs,
                                    &diag) != KVC_OK) {
        die(&diag);
    }
    kvc_loaded_free(loaded);
    printf("times longer on %u cores:", team);
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        printf("  %s %.2f", kvc_dido_task_names[task], all_costs[0].shared_ratio[task]);
    }
    printf("\n");
    for (uint32_t i = 0; i < count; i++) {
        print_costs(&all_costs[i]);
    }
}

static void measure_partition(const char *pipeline, struct row *row)
{
    struct kvc_diag diag = {0};
    struct kvc_loaded *loaded = load(pipeline);
    struct kvc_result *result = kvc_array_of(1, sizeof(*result));
    if (kvc_measurable_run(&kvc_dido_measurable, &loaded->scenario, NULL, result, &diag) != KVC_OK) {
        die(&diag);
    }
    double undisturbed_ms = kvc_metrics_get(&result->model, "undisturbed_ms");
    if (undisturbed_ms >= undisturbed_least_ms) {
        row->mops[row->runs++] = kvc_metrics_get(&result->model, "undisturbed_mops");
        row->undisturbed_ms += undisturbed_ms;
    }
    row->gets += result->gets;
    row->hits += result->hits;
    if (kvc_metrics_get(&result->kernel, "foreign") > 0) {
        fprintf(stderr, "dido_partitions_bench: \"%s\" answered %.0f GETs with other keys' values\n",
                pipeline, kvc_metrics_get(&result->kernel, "foreign"));
    }
    free(result);
    kvc_loaded_free(loaded);
}

/* Returns the forecast from costs, and the closed form's prediction from the scenario's hardware. */
static double forecast_of(const char *pipeline, double *closed_mops)
{
    struct kvc_diag diag = {0};
    struct kvc_loaded *loaded = load(pipeline);
    struct kvc_result *result = kvc_array_of(1, sizeof(*result));
    if (kvc_dido_model.predict(&loaded->scenario, result, &diag) != KVC_OK) {
        die(&diag);
    }
    *closed_mops = result->throughput_mops;
    const struct kvc_dido_config *config = kvc_dido_config_of(&loaded->scenario);
    double mops = kvc_dido_real_forecast_mops(costs_of(&config->pipeline), &config->pipeline,
                                              kvc_dido_interval_ns(config, &config->pipeline));
    free(result);
    kvc_loaded_free(loaded);
    return mops;
}

/* Prints how well an order of the partitions agrees with the measured one. */
static void print_agreement(const char *what, const double *forecast, const double *measured)
{
    double work[2 * PARTITIONS_MAX];
    size_t count = (size_t)partition_count;
    size_t chosen = gsl_stats_max_index(forecast, 1, count);
    size_t best = gsl_stats_max_index(measured, 1, count);
    printf("%-12s rank correlation %.3f, regret %.1f %% (\"%s\" instead of \"%s\")\n", what,
           gsl_stats_spearman(forecast, 1, measured, 1, count, work),
           100 * (1 - measured[chosen] / measured[best]), partitions[chosen], partitions[best]);
}

static void print_rows(struct row *row)
{
    double forecast[PARTITIONS_MAX], measured[PARTITIONS_MAX], closed[PARTITIONS_MAX], error[PARTITIONS_MAX];
    size_t count = (size_t)partition_count;
    printf("\n%-63s %9s %9s %15s %5s %12s %7s %7s %7s\n", "partition", "forecast", "measured",
           "least..greatest", "runs", "undisturbed", "hits", "error", "closed");
    for (int i = 0; i < partition_count; i++) {
        if (row[i].runs == 0) {
            fprintf(stderr, "dido_partitions_bench: \"%s\" was always disturbed\n", partitions[i]);
            exit(3);
        }
        double *mops = row[i].mops;
        forecast[i] = forecast_of(partitions[i], &closed[i]);
        gsl_sort(mops, 1, row[i].runs);
        measured[i] = gsl_stats_median_from_sorted_data(mops, 1, row[i].runs);
        error[i] = fabs(forecast[i] / measured[i] - 1);
        printf("%-63s %9.2f %9.2f %7.2f %7.2f %5u %9.0f ms %7.4f %+6.1f%% %7.2f\n", partitions[i],
               forecast[i], measured[i], mops[0], mops[row[i].runs - 1], row[i].runs, row[i].undisturbed_ms,
               (double)row[i].hits / (double)row[i].gets, 100 * (forecast[i] / measured[i] - 1), closed[i]);
    }
    printf("\nerror of the forecast: mean %.1f %%, largest %.1f %%\n", 100 * gsl_stats_mean(error, 1, count),
           100 * gsl_stats_max(error, 1, count));
    print_agreement("forecast", forecast, measured);
    print_agreement("closed form", closed, measured);
}

int main(int argc, char **argv)
{
    static struct row row[PARTITIONS_MAX];
    static char standard[PATH_MAX];
    struct kvc_diag diag = {0};
    const bool gpu = argc > 1 && strcmp(argv[1], "--gpu") == 0;
    const int first = gpu ? 2 : 1;
    partitions = gpu ? with_gpu : on_cores;
    partition_count =
        (int)(gpu ? sizeof(with_gpu) / sizeof(*with_gpu) : sizeof(on_cores) / sizeof(*on_cores));
    kvc_data_path(gpu ? "scenarios/papers/dido/partitions_gpu.lua" : "scenarios/papers/dido/partitions.lua",
                  standard);
    path = argc > first ? argv[first] : standard;
    for (int i = first + 1; i < argc; i++) {
        if (kvc_overrides_parse(&overrides, argv[i], &diag) != KVC_OK) {
            die(&diag);
        }
    }
    measure_costs(gpu ? BATCH : 0, gpu ? TEAM_WITH_GPU : TEAM);
    for (int run = 0; run < RUNS; run++) {
        for (int i = 0; i < partition_count; i++) {
            fprintf(stderr, "run %d of %d, partition %d of %d: %s\n", run + 1, RUNS, i + 1, partition_count,
                    partitions[i]);
            measure_partition(partitions[i], &row[i]);
        }
    }
    print_rows(row);
    kvc_overrides_clear(&overrides);
    return 0;
}

/* Forecasts the throughput of partitions of DIDO's tasks over two cores, measures it, and compares.
 *
 * The forecast adds up what each task costs alone on one core (models/dido/real/forecast.h); the pipelines
 * themselves are no input. The machine may do other work meanwhile, so only batches during which no thread
 * was kept from running count (undisturbed_mops in models/dido/real/report.h), every partition is measured
 * several times, in turn with the others, and medians count. Prints for each partition the forecast, the
 * measured throughput with its least and greatest value, the runs that had enough undisturbed time and this
 * time, and the error; then the rank correlation of both (Spearman), and the regret: how much less the
 * partition that is forecast to be the best does than the one that is. The closed form of the scenario's own
 * hardware is shown beside it; only its order can be compared, unless the hardware is this machine's.
 *
 *   dido_partitions_bench [SCENARIO.lua [key=value ...]]    default: scenarios/papers/dido/partitions.lua */
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
#include "sim/base/data_dir.h"

static const char *const partitions[] = {
    "cpu:2 RV PP MM search insert delete KC RD WR SD",
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
enum { PARTITIONS = sizeof(partitions) / sizeof(*partitions), RUNS = 3 };

/* Undisturbed time that a run must have [ms]. */
static const double undisturbed_least_ms = 5;

static const char *path;
static struct kvc_overrides overrides; /* Of the command line. */

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
};

static void print_costs(const struct kvc_dido_real_costs *costs)
{
    printf("ns of a query alone on a core, together and apart:");
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        printf("  %s %.1f %.1f", kvc_dido_task_names[task], costs->together_ns[task], costs->apart_ns[task]);
    }
    printf("  handling %.1f\n", costs->handling_ns);
    fflush(stdout);
}

static void measure_partition(const char *pipeline, struct row *row)
{
    struct kvc_diag diag = {0};
    struct kvc_loaded *loaded = load(pipeline);
    struct kvc_result *result = kvc_array_of(1, sizeof(*result));
    if (kvc_dido_measure(&loaded->scenario, NULL, result, &diag) != KVC_OK) {
        die(&diag);
    }
    double undisturbed_ms = kvc_metrics_get(&result->model, "undisturbed_ms");
    if (undisturbed_ms >= undisturbed_least_ms) {
        row->mops[row->runs++] = kvc_metrics_get(&result->model, "undisturbed_mops");
        row->undisturbed_ms += undisturbed_ms;
    }
    free(result);
    kvc_loaded_free(loaded);
}

/* Returns the forecast from costs, and the closed form's prediction from the scenario's hardware. */
static double forecast_of(const char *pipeline, const struct kvc_dido_real_costs *costs, double *closed_mops)
{
    struct kvc_diag diag = {0};
    struct kvc_loaded *loaded = load(pipeline);
    struct kvc_result *result = kvc_array_of(1, sizeof(*result));
    if (kvc_dido_model.predict(&loaded->scenario, result, &diag) != KVC_OK) {
        die(&diag);
    }
    *closed_mops = result->throughput_mops;
    double mops = kvc_dido_real_forecast_mops(costs, &kvc_dido_config_of(&loaded->scenario)->pipeline);
    free(result);
    kvc_loaded_free(loaded);
    return mops;
}

/* Prints how well an order of the partitions agrees with the measured one. */
static void print_agreement(const char *what, const double *forecast, const double *measured)
{
    double work[2 * PARTITIONS];
    size_t chosen = gsl_stats_max_index(forecast, 1, PARTITIONS);
    size_t best = gsl_stats_max_index(measured, 1, PARTITIONS);
    printf("%-12s rank correlation %.3f, regret %.1f %% (\"%s\" instead of \"%s\")\n", what,
           gsl_stats_spearman(forecast, 1, measured, 1, PARTITIONS, work),
           100 * (1 - measured[chosen] / measured[best]), partitions[chosen], partitions[best]);
}

static void print_rows(struct row *row, const struct kvc_dido_real_costs *costs)
{
    double forecast[PARTITIONS], measured[PARTITIONS], closed[PARTITIONS], error[PARTITIONS];
    printf("\n%-60s %9s %9s %15s %5s %12s %7s %7s\n", "partition", "forecast", "measured", "least..greatest",
           "runs", "undisturbed", "error", "closed");
    for (int i = 0; i < PARTITIONS; i++) {
        if (row[i].runs == 0) {
            fprintf(stderr, "dido_partitions_bench: \"%s\" was always disturbed\n", partitions[i]);
            exit(3);
        }
        double *mops = row[i].mops;
        forecast[i] = forecast_of(partitions[i], costs, &closed[i]);
        gsl_sort(mops, 1, row[i].runs);
        measured[i] = gsl_stats_median_from_sorted_data(mops, 1, row[i].runs);
        error[i] = fabs(forecast[i] / measured[i] - 1);
        printf("%-60s %9.2f %9.2f %7.2f %7.2f %5u %9.0f ms %+6.1f%% %7.2f\n", partitions[i], forecast[i],
               measured[i], mops[0], mops[row[i].runs - 1], row[i].runs, row[i].undisturbed_ms,
               100 * (forecast[i] / measured[i] - 1), closed[i]);
    }
    printf("\nerror of the forecast: mean %.1f %%, largest %.1f %%\n",
           100 * gsl_stats_mean(error, 1, PARTITIONS), 100 * gsl_stats_max(error, 1, PARTITIONS));
    print_agreement("forecast", forecast, measured);
    print_agreement("closed form", closed, measured);
}

int main(int argc, char **argv)
{
    static struct row row[PARTITIONS];
    static char standard[PATH_MAX];
    struct kvc_diag diag = {0};
    kvc_data_path("scenarios/papers/dido/partitions.lua", standard);
    path = argc > 1 ? argv[1] : standard;
    for (int i = 2; i < argc; i++) {
        if (kvc_overrides_parse(&overrides, argv[i], &diag) != KVC_OK) {
            die(&diag);
        }
    }
    struct kvc_loaded *alone = load(kvc_dido_real_together);
    struct kvc_dido_real_costs costs;
    if (kvc_dido_real_costs_measure(&alone->scenario, NULL, &costs, &diag) != KVC_OK) {
        die(&diag);
    }
    kvc_loaded_free(alone);
    print_costs(&costs);
    for (int run = 0; run < RUNS; run++) {
        for (int i = 0; i < PARTITIONS; i++) {
            measure_partition(partitions[i], &row[i]);
        }
    }
    print_rows(row, &costs);
    kvc_overrides_clear(&overrides);
    return 0;
}

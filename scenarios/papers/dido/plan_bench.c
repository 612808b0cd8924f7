/* Measures how well DIDO's closed form ranks pipelines, and how fast it and the simulation are.
 *
 * For each workload, every pipeline is predicted and simulated. Prints the mean and the largest error of the
 * prediction, the rank correlation (Spearman) of predicted and simulated throughput, the regret of the chosen
 * pipeline, which is the gap between its simulated throughput and the best one, the time of the search by
 * closed form, and the simulated requests a second of one core; "of it bare" is what would remain if only the
 * requests were generated and the real structures worked.
 *
 * The error is the difference between prediction and simulation, relative to the simulation, as in the paper
 * (sec. V.B). The requests a second are meaningful on a quiet machine only.
 *
 *   dido_plan_bench [--searches] [--each] [--every N] [--only TEXT] [NAME=VALUE ...]
 *
 * --searches simulates nothing: it prints how long the search takes for each of the 24 presets, whose median
 * is the default of system.planning, and how long it takes with the fit of the popularity and the shares of
 * the caches, which a simulated planner does before. --each prints every pipeline, --every takes one pipeline
 * of N, --only the workloads that contain TEXT. NAME=VALUE changes the scenario as --set does;
 * system.stealing=false compares without stealing. */
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "models/dido/adapt.h"
#include "models/dido/config.h"
#include "scenarios/load/load.h"
#include "scenarios/run/driver.h"

enum { PIPELINES_MAX = 512, SEARCHES = 5 };

/* The store is small, so that its SETs replace all of it in the warm-up. What depends on its size is as much
 * smaller than on the paper's machine, which has room for 1908 MB: the cache of the CPU. */
static const char scenario_text[] =
    "local scale = 4 * 1024 * 1024 / 1908e6 "
    "return { name = \"plan-bench\", system = { kind = \"dido\", pipeline = \"megakv\", slab = \"4MiB\" },"
    " node = { cpu = { base = \"a10-7850k\", llc = 4 * 1024 * 1024 * scale } },"
    " workload = { preset = \"K8-G95-U\", keys = 1000, arrival = \"saturate\" },"
    " run = { warmup = \"30ms\", duration = \"8ms\", bottleneck = \"utilization\" } }";

/* Preset, keys that fill the slabs, GET share, skew (0: uniform), warm-up in ms: the paper's 24 workloads
 * (sec. V.A). */
static const char *const workloads[] = {
    "K8-G95-U 132e3 1 0 4",          "K8-G95-S 132e3 1 0.99 4",   "K8-G95-U 132e3 0.95 0 60",
    "K8-G95-S 132e3 0.95 0.99 60",   "K8-G95-U 132e3 0.5 0 30",   "K8-G95-S 132e3 0.5 0.99 30",
    "K16-G95-U 44e3 1 0 4",          "K16-G95-S 44e3 1 0.99 4",   "K16-G95-U 44e3 0.95 0 40",
    "K16-G95-S 44e3 0.95 0.99 40",   "K16-G95-U 44e3 0.5 0 30",   "K16-G95-S 44e3 0.5 0.99 30",
    "K32-G95-U 13.9e3 1 0 4",        "K32-G95-S 13.9e3 1 0.99 4", "K32-G95-U 13.9e3 0.95 0 40",
    "K32-G95-S 13.9e3 0.95 0.99 40", "K32-G95-U 13.9e3 0.5 0 30", "K32-G95-S 13.9e3 0.5 0.99 30",
    "K128-G95-U 3.6e3 1 0 4",        "K128-G95-S 3.6e3 1 0.99 4", "K128-G95-U 3.6e3 0.95 0 20",
    "K128-G95-S 3.6e3 0.95 0.99 20", "K128-G95-U 3.6e3 0.5 0 30", "K128-G95-S 3.6e3 0.5 0.99 30",
};

/* A chosen pipeline that lacks less of the best one is the best: simulations differ by as much by chance. */
static const double best_frac = 1e-3;

/* Over all workloads. */
struct summary {
    uint32_t workloads, pipelines, best;
    double error_sum, error_largest, regret_sum, regret_largest;
};

struct row {
    char pipeline[KVC_DIDO_PIPELINE_TEXT_MAX];
    double predicted_mops, simulated_mops;
};

struct table {
    uint32_t count;
    struct row row[PIPELINES_MAX];
    double search_ms, requests, wall_s, kernel_s;
};

struct arguments {
    bool searches, each;
    uint32_t every;
    const char *only;
    int settings;
    char **setting;
};

static void stop(const struct kvc_diag *diag)
{
    kvc_diag_print(diag, stderr);
    fputc('\n', stderr);
    exit(2);
}

/* Loads the scenario with a workload, a pipeline and the user's settings, which come last. */
static struct kvc_loaded *load(const struct arguments *arguments, const char *path, const char *workload,
                               const char *pipeline)
{
    struct kvc_overrides set = {0};
    struct kvc_loaded *loaded = NULL;
    struct kvc_diag diag = {0};
    char preset[32], keys[32], get[32], zipf[32], warmup[32], text[64];
    sscanf(workload, "%31s %31s %31s %31s %31s", preset, keys, get, zipf, warmup);
    snprintf(text, sizeof(text), "%.6g", 1 - atof(get));
    strcat(warmup, "ms");
    enum kvc_status status = kvc_overrides_add(&set, "workload.preset", preset, &diag);
    status = status == KVC_OK ? kvc_overrides_add(&set, "workload.get", get, &diag) : status;
    status = status == KVC_OK ? kvc_overrides_add(&set, "workload.set", text, &diag) : status;
    status = status == KVC_OK ? kvc_overrides_add(&set, "workload.keys", keys, &diag) : status;
    status = status == KVC_OK ? kvc_overrides_add(&set, "run.warmup", warmup, &diag) : status;
    if (status == KVC_OK && atof(zipf) > 0) {
        status = kvc_overrides_add(&set, "workload.dist.zipf", zipf, &diag);
    }
    status = status == KVC_OK ? kvc_overrides_add(&set, "system.pipeline", pipeline, &diag) : status;
    for (int i = 0; i < arguments->settings && status == KVC_OK; i++) {
        status = kvc_overrides_parse(&set, arguments->setting[i], &diag);
    }
    status = status == KVC_OK ? kvc_scenario_load(path, &set, &loaded, &diag) : status;
    kvc_overrides_clear(&set);
    if (status != KVC_OK) {
        stop(&diag);
    }
    return loaded;
}

static void list(void *data, const struct kvc_dido_pipeline *pipeline)
{
    struct table *table = data;
    if (table->count == PIPELINES_MAX) {
        KVC_BUG("more than %d pipelines", PIPELINES_MAX);
    }
    kvc_dido_pipeline_print(pipeline, table->row[table->count++].pipeline, KVC_DIDO_PIPELINE_TEXT_MAX);
}

/* Takes the fastest of some searches, as other programs slow the others down. */
static void search(struct table *table, const struct kvc_loaded *loaded)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(&loaded->scenario);
    struct kvc_dido_mix mix = kvc_dido_mix_of(config, &loaded->scenario.workload);
    table->search_ms = INFINITY;
    for (int i = 0; i < SEARCHES; i++) {
        clock_t started = clock();
        struct kvc_dido_plan plan = kvc_dido_best_plan(config, NULL, &mix);
        double ms = (double)(clock() - started) * 1e3 / CLOCKS_PER_SEC;
        table->search_ms = plan.per_ns > 0 ? fmin(table->search_ms, ms) : INFINITY;
    }
    kvc_dido_pipeline_visit_all((uint32_t)config->cpu->cores, list, table);
}

static double mops_of(struct table *table, struct kvc_loaded *loaded, bool predict)
{
    const struct kvc_run_options options = {.jobs = 1};
    struct kvc_outcome *outcome = NULL;
    struct kvc_diag diag = {0};
    fflush(stdout); /* The driver forks. */
    enum kvc_status status = predict ? kvc_driver_predict(&loaded->scenario, &outcome, &diag)
                                     : kvc_driver_run(&loaded->scenario, &options, &outcome, &diag);
    if (status != KVC_OK) {
        stop(&diag);
    }
    double mops = kvc_outcome_interval(outcome, "throughput_mops").mean;
    if (!predict) {
        table->requests += (double)outcome->result.requests_simulated;
        table->wall_s += outcome->result.wall_s;
        table->kernel_s += outcome->result.kernel_wall_s + outcome->result.source_wall_s;
    }
    kvc_outcome_free(outcome);
    return mops;
}

/* ---- statistics ---- */

static double error_of(const struct row *row)
{
    return fabs(row->predicted_mops / row->simulated_mops - 1);
}

static double rank_correlation(const struct table *table)
{
    double predicted[PIPELINES_MAX], simulated[PIPELINES_MAX], work[2 * PIPELINES_MAX];
    for (uint32_t i = 0; i < table->count; i++) {
        predicted[i] = table->row[i].predicted_mops;
        simulated[i] = table->row[i].simulated_mops;
    }
    return gsl_stats_spearman(predicted, 1, simulated, 1, table->count, work);
}

static void print(const char *workload, const struct table *table, bool each, struct summary *summary)
{
    double sum = 0, largest = 0, best = 0;
    const struct row *chosen = &table->row[0];
    for (uint32_t i = 0; i < table->count; i++) {
        const struct row *row = &table->row[i];
        if (each) {
            printf("  %7.2f %7.2f %+6.1f %%  %s\n", row->predicted_mops, row->simulated_mops,
                   100 * (row->predicted_mops / row->simulated_mops - 1), row->pipeline);
        }
        sum += error_of(row);
        largest = fmax(largest, error_of(row));
        best = fmax(best, row->simulated_mops);
        chosen = row->predicted_mops > chosen->predicted_mops ? row : chosen;
    }
    double regret = 1 - chosen->simulated_mops / best;
    summary->workloads++;
    summary->pipelines += table->count;
    summary->best += regret < best_frac;
    summary->error_sum += sum;
    summary->error_largest = fmax(summary->error_largest, largest);
    summary->regret_sum += regret;
    summary->regret_largest = fmax(summary->regret_largest, regret);
    printf("%-28s %9u %6.1f %% %6.1f %% %9.3f %6.1f %% %6.2f Mops %7.1f ms %10.1f M/s %10.1f M/s  %s\n",
           workload, table->count, 100 * sum / table->count, 100 * largest, rank_correlation(table),
           100 * regret, chosen->simulated_mops, table->search_ms, table->requests / table->wall_s * 1e-6,
           table->requests / table->kernel_s * 1e-6, chosen->pipeline);
    fflush(stdout);
}

static void compare(const struct arguments *arguments, const char *path, const char *workload,
                    struct summary *summary)
{
    struct table *table = calloc(1, sizeof(*table));
    if (table == NULL) {
        kvc_out_of_memory("a table of pipelines");
    }
    struct kvc_loaded *loaded = load(arguments, path, workload, "megakv");
    search(table, loaded);
    kvc_loaded_free(loaded);
    uint32_t all = table->count;
    table->count = 0;
    for (uint32_t i = 0; i < all; i += arguments->every) {
        struct row *row = &table->row[table->count++];
        *row = table->row[i];
        loaded = load(arguments, path, workload, row->pipeline);
        row->predicted_mops = mops_of(table, loaded, true);
        row->simulated_mops = mops_of(table, loaded, false);
        kvc_loaded_free(loaded);
    }
    print(workload, table, arguments->each, summary);
    free(table);
}

/* ---- the planner's time ---- */

struct planner_times {
    double search_ms, all_ms;
};

/* Returns the times of a plan for a batch of a preset's load; the fastest of some, as above. */
static struct planner_times planner_times(const struct arguments *arguments, const char *path,
                                          const struct kvc_workload_preset *preset)
{
    char workload[128];
    snprintf(workload, sizeof(workload), "%s %llu %.2f %.2f 1", preset->name,
             (unsigned long long)preset->keys, preset->get_frac, preset->zipf_s);
    struct kvc_loaded *loaded = load(arguments, path, workload, "megakv");
    const struct kvc_dido_config *config = kvc_dido_config_of(&loaded->scenario);
    struct kvc_dido_mix mix = kvc_dido_mix_of(config, &loaded->scenario.workload);
    double distinct = kvc_dido_expected_distinct(preset->keys, preset->zipf_s, KVC_DIDO_SAMPLE_MAX);
    const struct kvc_dido_profile profile = {.get_frac = mix.get_frac,
                                             .set_frac = mix.set_frac,
                                             .key_bytes = mix.key_bytes,
                                             .value_bytes = mix.value_bytes,
                                             .sampled = KVC_DIDO_SAMPLE_MAX,
                                             .distinct = (uint32_t)distinct};
    struct kvc_dido_adapter adapter;
    struct planner_times least = {INFINITY, INFINITY};
    kvc_dido_adapter_open(&adapter, config->options->adapt_threshold_frac, &profile, 0);
    for (int i = 0; i < SEARCHES; i++) {
        clock_t started = clock();
        double per_ns = kvc_dido_best_plan(config, NULL, &mix).per_ns;
        clock_t searched = clock();
        per_ns += kvc_dido_adapt(&adapter, config, &profile, &mix, preset->keys).per_ns;
        double scale_ms = per_ns > 0 ? 1e3 / CLOCKS_PER_SEC : INFINITY;
        least.search_ms = fmin(least.search_ms, (double)(searched - started) * scale_ms);
        least.all_ms = fmin(least.all_ms, (double)(clock() - searched) * scale_ms);
    }
    kvc_dido_adapter_close(&adapter);
    kvc_loaded_free(loaded);
    return least;
}

static void print_searches(const struct arguments *arguments, const char *path)
{
    double ms[KVC_DIDO_PRESETS];
    printf("%-12s %10s %10s\n", "preset", "search", "all");
    for (int i = 0; i < KVC_DIDO_PRESETS; i++) {
        struct planner_times times = planner_times(arguments, path, &kvc_dido_presets[i]);
        ms[i] = times.search_ms;
        printf("%-12s %7.3f ms %7.3f ms\n", kvc_dido_presets[i].name, times.search_ms, times.all_ms);
    }
    gsl_sort(ms, 1, KVC_DIDO_PRESETS);
    printf("searches: median %.3f ms, from %.3f to %.3f ms\n",
           gsl_stats_median_from_sorted_data(ms, 1, KVC_DIDO_PRESETS), ms[0], ms[KVC_DIDO_PRESETS - 1]);
}

static struct arguments parse(int argc, char **argv)
{
    struct arguments arguments = {.every = 1, .only = ""};
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--searches") == 0) {
            arguments.searches = true;
        } else if (strcmp(argv[i], "--each") == 0) {
            arguments.each = true;
        } else if (strcmp(argv[i], "--every") == 0 && more && atoi(argv[i + 1]) > 0) {
            arguments.every = (uint32_t)atoi(argv[++i]);
        } else if (strcmp(argv[i], "--only") == 0 && more) {
            arguments.only = argv[++i];
        } else {
            fprintf(stderr, "found %s, allowed: --searches, --each, --every N, --only TEXT, NAME=VALUE\n",
                    argv[i]);
            exit(2);
        }
    }
    arguments.settings = argc - i;
    arguments.setting = argv + i;
    return arguments;
}

int main(int argc, char **argv)
{
    struct arguments arguments = parse(argc, argv);
    char path[] = "/tmp/kvcast-plans-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    if (file == NULL || fputs(scenario_text, file) < 0 || fclose(file) != 0) {
        fprintf(stderr, "cannot write %s\n", path);
        return 3;
    }
    if (arguments.searches) {
        print_searches(&arguments, path);
        unlink(path);
        return 0;
    }
    printf("%-28s %9s %8s %8s %9s %8s %11s %10s %14s %14s  %s\n", "preset keys GET Zipf warm-up", "pipelines",
           "mean", "largest", "rank", "regret", "chosen", "search", "simulation", "of it bare",
           "chosen pipeline");
    struct summary summary = {0};
    for (size_t w = 0; w < sizeof(workloads) / sizeof(*workloads); w++) {
        if (strstr(workloads[w], arguments.only) != NULL) {
            compare(&arguments, path, workloads[w], &summary);
        }
    }
    unlink(path);
    if (summary.workloads > 0) {
        printf(
            "%u workloads: mean error %.1f %%, largest %.1f %%; regret %.2f %% in the mean, %.1f %% at most; "
            "the best pipeline in %u\n",
            summary.workloads, 100 * summary.error_sum / summary.pipelines, 100 * summary.error_largest,
            100 * summary.regret_sum / summary.workloads, 100 * summary.regret_largest, summary.best);
    }
    return 0;
}

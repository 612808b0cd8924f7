#include "models/measured/pair.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

#include "models/model.h"
#include "sim/base/array.h"

const char *const kvc_pair_metric_names[KVC_PAIR_METRICS] = {
    [KVC_PAIR_THROUGHPUT] = "throughput_mops",  [KVC_PAIR_LATENCY_MEAN] = "latency_mean_us",
    [KVC_PAIR_LATENCY_P99] = "latency_p99_us",  [KVC_PAIR_T_SEARCH] = "t_search_us",
    [KVC_PAIR_T_INSERT] = "t_insert_us",        [KVC_PAIR_SEARCH_JOBS] = "jobs_per_search",
    [KVC_PAIR_INSERT_JOBS] = "jobs_per_insert", [KVC_PAIR_KOPS_PER_WATT] = "kops_per_watt",
};

/* Two stores of a run. */
struct sides {
    const struct kvc_scenario *const *scenario;
    void *store[2];
    struct kvc_measured_store reports[2];
    struct kvc_measured measured;
};

/* ---- the readings ---- */

double kvc_pair_median(double *values, uint32_t count, double *low, double *high)
{
    *low = *high = NAN;
    /* The numbers of values below the median are binomial: a value at the 2.5 % quantile, and its mirror. */
    uint32_t below = 0;
    while (count > 0 && gsl_cdf_binomial_P(below, 0.5, count) <= 0.025) {
        below++;
    }
    gsl_sort(values, 1, count);
    if (below == 0) {
        return NAN;
    }
    *low = values[below - 1];
    *high = values[count - below];
    return gsl_stats_median_from_sorted_data(values, 1, count);
}

/* The windows of a turn that count: all but its first one. */
static void want_turn(const struct kvc_watched *watched, uint32_t turn, bool *wanted)
{
    for (uint32_t i = 0; i < watched->count; i++) {
        wanted[i] = i / watched->turn == turn && kvc_watched_counts(watched, i);
    }
}

/* What a machine did to the threads of a turn. */
struct disturbance {
    double stalled_ns; /* Time for which threads were kept from running, over all cores [ns]. */
    double speed;      /* Mean speed of the cores [steps/ns]; 0: not measured. */
};

static struct disturbance disturbance_of(const struct kvc_watched *watched, const bool *wanted)
{
    struct disturbance found = {0};
    uint32_t measured = 0;
    for (uint32_t core = 0; core < watched->cores; core++) {
        for (uint32_t i = 0; i < watched->count; i++) {
            const struct kvc_core_window *window = &watched->watch[core].window[i];
            found.stalled_ns += wanted[i] ? kvc_core_window_stalled_ns(window) : 0;
            found.speed += wanted[i] ? (double)window->speed : 0;
            measured += wanted[i] && window->speed > 0;
        }
    }
    found.speed /= measured > 0 ? measured : 1;
    return found;
}

/* Sets the metrics of a turn. */
static void read_turn(const struct sides *sides, uint32_t side, const bool *wanted,
                      struct kvc_result *scratch, double value[KVC_PAIR_METRICS])
{
    *scratch = (struct kvc_result){.has_histogram = false};
    kvc_measured_report_part(&sides->measured, side, &sides->reports[side], wanted, scratch);
    const struct kvc_histogram *latency = &scratch->latency;
    value[KVC_PAIR_THROUGHPUT] = scratch->throughput_mops;
    value[KVC_PAIR_LATENCY_MEAN] = latency->count > 0 ? kvc_histogram_mean_ns(latency) / 1e3 : NAN;
    value[KVC_PAIR_LATENCY_P99] = latency->count > 0 ? kvc_histogram_percentile_ns(latency, 0.99) / 1e3 : NAN;
    value[KVC_PAIR_KOPS_PER_WATT] =
        scratch->throughput_mops * 1e3 / kvc_measured_watts(&sides->measured, wanted);
    for (int m = KVC_PAIR_T_SEARCH; m <= KVC_PAIR_INSERT_JOBS; m++) {
        value[m] = kvc_metrics_get(&scratch->model, kvc_pair_metric_names[m]);
    }
}

/* Reads all pairs: value[side][metric][pair], and the disturbance of each. */
static void read_pairs(const struct sides *sides, double *value[2][KVC_PAIR_METRICS], double *disturbed_frac,
                       uint32_t pairs)
{
    const struct kvc_watched *watched = &sides->measured.watched;
    double windows_ns = 2 * (watched->turn - 1) * kvc_quiet_window_ns * watched->cores;
    bool *wanted = kvc_array_of(watched->count + 1, sizeof(*wanted));
    struct kvc_result *scratch = kvc_array_of(1, sizeof(*scratch));
    for (uint32_t pair = 0; pair < pairs; pair++) {
        struct disturbance of[2];
        for (uint32_t turn = 2 * pair; turn <= 2 * pair + 1; turn++) {
            double read[KVC_PAIR_METRICS];
            uint32_t side = kvc_watched_side(2, turn);
            want_turn(watched, turn, wanted);
            of[side] = disturbance_of(watched, wanted);
            read_turn(sides, side, wanted, scratch, read);
            for (int m = 0; m < KVC_PAIR_METRICS; m++) {
                value[side][m][pair] = read[m];
            }
        }
        double unequal = of[0].speed > 0 && of[1].speed > 0 ? fabs(log(of[1].speed / of[0].speed)) : 0;
        disturbed_frac[pair] = (of[0].stalled_ns + of[1].stalled_ns) / windows_ns + unequal;
    }
    free(scratch);
    free(wanted);
}

/* Sets counts[] to the pairs before, between and after whose turns handoffs were as usual. If they are too
 * few for an interval, further ones follow until there are enough. Reading i is taken after turn i. */
static void find_usual(const struct kvc_memory_watch *memory, const bool *usual, bool *counts, uint32_t pairs)
{
    for (uint32_t pair = 0; pair < pairs; pair++) {
        uint32_t turn = 2 * pair;
        counts[pair] = (pair == 0 || usual[turn - 1]) && usual[turn] &&
                       (turn + 1 >= memory->count[0] || usual[turn + 1]);
    }
    for (uint32_t pair = 0; kvc_quiet_count(counts, pairs) < KVC_PAIRS_LEAST && pair < pairs; pair++) {
        counts[pair] = true;
    }
}

/* Sets read[] to the readings of the memory before, between and after the turns of the pairs that count. */
static void find_readings(const struct kvc_memory_watch *memory, const bool *counts, uint32_t pairs,
                          bool *read)
{
    for (uint32_t i = 0; i < memory->room; i++) {
        uint32_t pair = i / 2,
                 next = (i + 1) / 2; /* An odd reading is after a pair and before the next one. */
        read[i] = (pair < pairs && counts[pair]) || (next < pairs && counts[next]);
    }
}

/* Returns the median of values[0 .. count - 1] that are wanted, of which there is one at least. */
static double median_of(double *values, const bool *wanted, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        values[kept] = values[i];
        kept += wanted[i];
    }
    return gsl_stats_median(values, 1, kept);
}

/* Sets the reading of a metric over the wanted pairs in which both stores have it. */
static void read_metric(const double *a, const double *b, const bool *wanted, uint32_t pairs,
                        struct kvc_pair_reading *reading)
{
    double *values = kvc_array_of(3 * (size_t)pairs + 1, sizeof(*values));
    double *of_a = values, *of_b = values + pairs, *ratio = values + 2 * (size_t)pairs, low, high;
    uint32_t count = 0;
    for (uint32_t i = 0; i < pairs; i++) {
        if (wanted[i] && a[i] > 0 && b[i] > 0) {
            of_a[count] = a[i];
            of_b[count] = b[i];
            ratio[count++] = b[i] / a[i];
        }
    }
    reading->a = kvc_pair_median(of_a, count, &low, &high);
    reading->b = kvc_pair_median(of_b, count, &low, &high);
    reading->ratio = kvc_pair_median(ratio, count, &reading->low, &reading->high);
    free(values);
}

static void read_result(struct sides *sides, struct kvc_pair_result *result)
{
    struct kvc_measured *measured = &sides->measured;
    kvc_watched_stop(&measured->watched);
    uint32_t pairs = measured->watched.count / measured->watched.turn / 2;
    size_t room = pairs + 1;
    bool *counts = kvc_array_of(room, sizeof(*counts));
    double *values = kvc_array_of((2 * KVC_PAIR_METRICS + 1) * room, sizeof(*values));
    double *value[2][KVC_PAIR_METRICS], *disturbed_frac = values + 2 * KVC_PAIR_METRICS * room;
    for (size_t i = 0; i < 2 * KVC_PAIR_METRICS; i++) {
        value[i / KVC_PAIR_METRICS][i % KVC_PAIR_METRICS] = values + i * room;
    }
    read_pairs(sides, value, disturbed_frac, pairs);
    bool *readings = kvc_array_of(measured->memory.room + 2 * room, sizeof(*readings));
    kvc_memory_watch_usual(&measured->memory, KVC_MEMORY_HANDOFFS, readings);
    find_usual(&measured->memory, readings, counts, pairs);
    *result = (struct kvc_pair_result){
        .pairs = pairs,
        .counted = kvc_quiet_count(counts, pairs),
        .disturbed_frac = median_of(disturbed_frac, counts, pairs),
        .core_speed_steps_per_ns = kvc_watched_core_speed(&measured->watched),
        .stalled_frac = kvc_watched_stalled_frac(&measured->watched),
        .others_frac = measured->noise.others_frac,
        .cores = measured->cores,
    };
    find_readings(&measured->memory, counts, pairs, readings);
    result->memory = kvc_memory_watch_rates(&measured->memory, readings);
    for (uint32_t core = 0; core < measured->cores; core++) {
        result->core_line_ns[core] = kvc_memory_watch_line_ns(&measured->memory, readings, core);
    }
    for (int m = 0; m < KVC_PAIR_METRICS; m++) {
        read_metric(value[0][m], value[1][m], counts, pairs, &result->reading[m]);
    }
    free(readings);
    free(values);
    free(counts);
}

/* ---- the run ---- */

static enum kvc_status run(struct sides *sides, uint32_t pairs, const struct kvc_progress *progress,
                           struct kvc_diag *diag)
{
    struct kvc_measured *measured = &sides->measured;
    enum kvc_status status = kvc_measured_open(measured, &sides->scenario[0]->run, pairs, diag);
    if (status != KVC_OK) {
        return status;
    }
    for (uint32_t side = 0; side < 2; side++) {
        const struct kvc_model *model = sides->scenario[side]->model;
        measured->side = side;
        measured->node[side] = &sides->scenario[side]->node;
        kvc_measurable_join(model->measurable, sides->store[side], measured, &sides->reports[side]);
    }
    status = kvc_measured_run(
        measured, (const atomic_bool *const[2]){sides->reports[0].failed, sides->reports[1].failed}, progress,
        diag);
    for (uint32_t side = 0; side < 2; side++) {
        enum kvc_status finished = sides->scenario[side]->model->measurable->finish(sides->store[side], diag);
        status = status == KVC_OK ? finished : status;
    }
    return status;
}

enum kvc_status kvc_measured_pair(const struct kvc_scenario *const scenario[2], uint32_t pairs,
                                  const struct kvc_progress *progress, struct kvc_pair_result *result,
                                  struct kvc_diag *diag)
{
    struct sides *sides = kvc_array_of(1, sizeof(*sides));
    enum kvc_status status = KVC_OK;
    sides->scenario = scenario;
    for (uint32_t side = 0; side < 2 && status == KVC_OK; side++) {
        status = kvc_measurable_open(scenario[side]->model->measurable, scenario[side], progress,
                                     &sides->store[side], diag);
    }
    if (status == KVC_OK) {
        status = run(sides, pairs, progress, diag);
    }
    if (status == KVC_OK) {
        read_result(sides, result);
    }
    kvc_measured_close(&sides->measured);
    for (uint32_t side = 0; side < 2; side++) {
        scenario[side]->model->measurable->close(sides->store[side]);
    }
    free(sides);
    return status;
}

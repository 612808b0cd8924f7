#include "scenarios/output/windows.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/output/json_value.h"
#include "sim/base/array.h"

/* Share of the requests that may take longer than the bound of a percentile. */
static const double slow_frac[KVC_SPAN_LIMITS] = {[KVC_OBJECTIVE_P50] = 0.5,
                                                  [KVC_OBJECTIVE_P95] = 0.05,
                                                  [KVC_OBJECTIVE_P99] = 0.01,
                                                  [KVC_OBJECTIVE_P999] = 0.001};

/* ---- one window ---- */

static bool is_latency(enum kvc_objective objective)
{
    return objective <= KVC_OBJECTIVE_P999;
}

static double length_us(const struct kvc_spans *spans, uint32_t i)
{
    return i + 1 < spans->count ? spans->length_us : spans->last_us;
}

static double measured_us(const struct kvc_spans *spans)
{
    return spans->length_us * (spans->count - 1) + spans->last_us;
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* Returns the requests sent in a window that have no answer at the end of the run. */
static double unanswered(const struct kvc_span *span)
{
    return fmax((double)span->offered - (double)span->dropped - (double)span->answered, 0);
}

/* Returns the share of the requests sent in a window that took or have been waiting for longer than the bound
 * of a percentile. */
static double late_frac(const struct kvc_spans *spans, uint32_t i, enum kvc_objective objective,
                        double limit_us)
{
    const struct kvc_span *span = &spans->span[i];
    double left_us = measured_us(spans) - i * spans->length_us - length_us(spans, i);
    double waiting = left_us >= limit_us ? unanswered(span) : 0;
    return share((double)span->over[objective] + waiting, (double)span->timed + waiting);
}

/* Returns whether requests that wait at the end of the run may still miss the bound of a percentile. */
static bool is_open(const struct kvc_span *span, enum kvc_objective objective)
{
    double waiting = unanswered(span);
    return is_latency(objective) && share((double)span->over[objective] + waiting,
                                          (double)span->timed + waiting) > slow_frac[objective];
}

/* Returns the value of an objective in a window; NaN: there were no requests to judge. */
static double value_of(const struct kvc_spans *spans, uint32_t i, enum kvc_objective objective,
                       double limit_us)
{
    const struct kvc_span *span = &spans->span[i];
    switch (objective) {
    case KVC_OBJECTIVE_MOPS:
        return (double)span->completed / length_us(spans, i);
    case KVC_OBJECTIVE_LOSS:
        return share((double)span->dropped, (double)span->offered);
    case KVC_OBJECTIVE_HIT:
        return share((double)span->hits, (double)span->gets);
    default:
        return late_frac(spans, i, objective, limit_us);
    }
}

/* ---- the worst window ---- */

/* Finds the worst value of one replica and its window. */
static double worst_of(const struct kvc_spans *spans, enum kvc_objective objective, double limit_us,
                       uint32_t *at)
{
    double worst = NAN, sign = kvc_objective_kinds[objective].at_least ? -1 : 1;
    for (uint32_t i = 0; i < spans->count; i++) {
        double value = value_of(spans, i, objective, limit_us);
        if (!isnan(value) && (isnan(worst) || sign * value > sign * worst)) {
            worst = value;
            *at = i;
        }
    }
    return worst;
}

static void find_worst(const struct kvc_outcome *outcome, uint32_t replicas, enum kvc_objective objective,
                       double bound, struct kvc_slo_windows *windows)
{
    struct kvc_window_worst *worst = &windows->worst[windows->worst_count++];
    double *value = kvc_array_of(replicas, sizeof(*value)),
           sign = kvc_objective_kinds[objective].at_least ? -1 : 1;
    double limit_us = is_latency(objective) ? bound : NAN;
    uint32_t first = 0, at = 0;
    for (uint32_t i = 0; i < replicas; i++) {
        value[i] = worst_of(outcome->spans[i], objective, limit_us, &at);
        if (i == 0 || isnan(value[first]) || sign * value[i] > sign * value[first]) {
            first = i;
            worst->from_us = at * windows->length_us;
        }
    }
    struct kvc_interval interval = kvc_interval_of(value, replicas);
    worst->judged = kvc_judged_of(objective, is_latency(objective) ? slow_frac[objective] : bound,
                                  interval.mean, interval.half_width);
    worst->limit_us = limit_us;
    windows->worst_count -= isnan(bound) && isnan(interval.mean); /* Nothing was sent, so nothing was lost. */
    free(value);
}

static void find_all_worst(const struct kvc_slo *slo, const struct kvc_outcome *outcome, uint32_t replicas,
                           struct kvc_slo_windows *windows)
{
    windows->by_throughput = true;
    windows->margin_frac = NAN;
    for (enum kvc_objective i = 0; i <= KVC_OBJECTIVE_HIT; i++) {
        double bound = kvc_slo_bound(slo, i);
        if (!isnan(bound) || i == KVC_OBJECTIVE_MOPS || i == KVC_OBJECTIVE_LOSS) {
            find_worst(outcome, replicas, i, bound, windows);
        }
        if (!isnan(bound)) {
            const struct kvc_judged *judged = &windows->worst[windows->worst_count - 1].judged;
            double distance = judged->bound - judged->found;
            windows->by_throughput = false;
            windows->margin_frac =
                fmin(windows->margin_frac, isnan(judged->margin_frac) ? distance : judged->margin_frac);
        }
    }
}

/* ---- changes ---- */

static int by_time(const void *left, const void *right)
{
    double a = ((const struct kvc_window_change *)left)->at_us;
    double b = ((const struct kvc_window_change *)right)->at_us;
    return (a > b) - (a < b);
}

static void describe_device(const struct kvc_change *change, char *what, size_t bytes)
{
    char quantity[48];
    bool off = !isnan(change->off_ns);
    kvc_quantity_print(off ? change->off_ns : change->clock_hz, off ? KVC_UNIT_NS : KVC_UNIT_HZ, quantity,
                       sizeof(quantity));
    snprintf(what, bytes, "%.80s %s %s", change->device, off ? "off for" : "at", quantity);
}

static void describe_cluster(const struct kvc_cluster_change *change, char *what, size_t bytes)
{
    if (!isnan(change->join)) {
        snprintf(what, bytes, "%g node%s", change->join, change->join == 1 ? " joins" : "s join");
    } else {
        bool fails = !isnan(change->fail);
        snprintf(what, bytes, "node %g %s", fails ? change->fail : change->leave, fails ? "fails" : "leaves");
    }
}

/* Joins changes at the same time. They are sorted. */
static void join_changes(struct kvc_slo_windows *windows)
{
    uint32_t count = 0, more = 0;
    for (uint32_t i = 0; i < windows->change_count; i++) {
        if (count > 0 && windows->change[count - 1].at_us == windows->change[i].at_us) {
            struct kvc_window_change *first = &windows->change[count - 1];
            char *end = more > 0 ? strstr(first->what, " and ") : first->what + strlen(first->what);
            snprintf(end, sizeof(first->what) - (size_t)(end - first->what), " and %u more", ++more);
        } else {
            windows->change[count++] = windows->change[i];
            more = 0;
        }
    }
    windows->change_count = count;
}

static void list_changes(const struct kvc_scenario *scenario, struct kvc_slo_windows *windows)
{
    for (uint32_t i = 0; i < scenario->run.change_count; i++) {
        struct kvc_window_change *change = &windows->change[windows->change_count++];
        change->at_us = scenario->run.changes[i].at_ns * 1e-3;
        describe_device(&scenario->run.changes[i], change->what, sizeof(change->what));
    }
    for (uint32_t i = 0; i < scenario->cluster.change_count; i++) {
        struct kvc_window_change *change = &windows->change[windows->change_count++];
        change->at_us = scenario->cluster.change[i].at_ns * 1e-3;
        describe_cluster(&scenario->cluster.change[i], change->what, sizeof(change->what));
    }
    qsort(windows->change, windows->change_count, sizeof(*windows->change), by_time);
    join_changes(windows);
}

/* ---- the time that is missed ---- */

/* Sets the interval in which all windows of an undisturbed run lie with 95 % probability, and the largest
 * loss, from the windows before the first change. */
static void find_usual(const struct kvc_spans *spans, double until_us, struct kvc_slo_windows *windows)
{
    uint32_t before = (uint32_t)fmin(until_us / spans->length_us, spans->count);
    double *mops = kvc_array_of(before + 1, sizeof(*mops));
    windows->low_mops = windows->high_mops = windows->lost_frac = NAN;
    for (uint32_t i = 0; i < before; i++) {
        mops[i] = value_of(spans, i, KVC_OBJECTIVE_MOPS, NAN);
        windows->lost_frac = fmax(windows->lost_frac, value_of(spans, i, KVC_OBJECTIVE_LOSS, NAN));
    }
    if (before >= KVC_BATCHES_MIN && before < spans->count) {
        double mean = gsl_stats_mean(mops, 1, before), after = spans->count - before;
        double deviation = gsl_stats_sd(mops, 1, before) * sqrt(1 + 1.0 / before);
        double half_width = deviation * gsl_cdf_tdist_Qinv(0.025 / after, before - 1);
        windows->low_mops = mean - half_width;
        windows->high_mops = mean + half_width;
    }
    free(mops);
}

/* Returns whether a window meets all objectives, or without one, has the usual throughput. Unknown: requests
 * that wait at the end of the run decide. */
static enum kvc_slo_state state_of(const struct kvc_slo_windows *windows, const struct kvc_spans *spans,
                                   uint32_t i)
{
    double mops = value_of(spans, i, KVC_OBJECTIVE_MOPS, NAN);
    enum kvc_slo_state state = KVC_SLO_MET;
    if (windows->by_throughput) {
        bool usual = mops >= windows->low_mops && mops <= windows->high_mops &&
                     !(value_of(spans, i, KVC_OBJECTIVE_LOSS, NAN) > windows->lost_frac);
        return usual ? KVC_SLO_MET : KVC_SLO_MISSED;
    }
    for (uint32_t k = 0; k < windows->worst_count && state != KVC_SLO_MISSED; k++) {
        const struct kvc_window_worst *worst = &windows->worst[k];
        enum kvc_objective objective = worst->judged.objective;
        double value = value_of(spans, i, objective, worst->limit_us);
        if (kvc_judged_of(objective, worst->judged.bound, value, NAN).state == KVC_SLO_MISSED) {
            state = KVC_SLO_MISSED;
        } else if (is_open(&spans->span[i], objective) && !isnan(worst->judged.bound)) {
            state = KVC_SLO_UNKNOWN;
        }
    }
    return state;
}

/* Returns the time to recover from change `number` in one replica, 0 if it misses nothing, or NaN if no
 * window shows that it recovers before the next change. */
static double recover_us(const struct kvc_slo_windows *windows, uint32_t number,
                         const enum kvc_slo_state *state)
{
    double at_us = windows->change[number].at_us, recover_us = 0;
    uint32_t end = windows->count;
    bool is_met = false; /* A window after the last one that misses. */
    if (number + 1 < windows->change_count) {
        end = (uint32_t)fmin(windows->change[number + 1].at_us / windows->length_us, end);
    }
    for (uint32_t i = (uint32_t)(at_us / windows->length_us); i < end; i++) {
        recover_us = state[i] == KVC_SLO_MISSED ? (i + 1) * windows->length_us - at_us : recover_us;
        is_met = state[i] == KVC_SLO_MET || (is_met && state[i] != KVC_SLO_MISSED);
    }
    return is_met ? recover_us : NAN;
}

static void find_times(const struct kvc_loaded *loaded, const struct kvc_outcome *outcome, uint32_t replicas,
                       struct kvc_slo_windows *windows)
{
    enum kvc_slo_state *state = kvc_array_of(windows->count, sizeof(*state));
    bool known = !windows->by_throughput, steady = !kvc_workload_changes(&loaded->scenario.workload);
    double *time_us = kvc_array_of((size_t)replicas * (windows->change_count + 1), sizeof(*time_us));
    windows->low_mops = windows->high_mops = NAN;
    for (uint32_t r = 0; r < replicas; r++) {
        if (windows->by_throughput && steady && windows->change_count > 0) {
            find_usual(outcome->spans[r], windows->change[0].at_us, windows);
            known = !isnan(windows->low_mops);
        }
        for (uint32_t i = 0; i < windows->count; i++) {
            state[i] = state_of(windows, outcome->spans[r], i);
            time_us[r] += state[i] == KVC_SLO_MISSED ? length_us(outcome->spans[r], i) : 0;
        }
        for (uint32_t i = 0; i < windows->change_count; i++) {
            double found_us = known ? recover_us(windows, i, state) : NAN;
            time_us[(size_t)(i + 1) * replicas + r] = found_us;
            windows->change[i].recovered += !isnan(found_us);
        }
    }
    windows->missed_us = known ? kvc_interval_of(time_us, replicas) : (struct kvc_interval){NAN, NAN};
    for (uint32_t i = 0; i < windows->change_count; i++) {
        windows->change[i].recover_us = kvc_interval_of(time_us + (size_t)(i + 1) * replicas, replicas);
    }
    free(state);
    free(time_us);
}

struct kvc_slo_windows kvc_slo_windows_of(const struct kvc_loaded *loaded, const struct kvc_outcome *outcome)
{
    struct kvc_slo_windows windows = {.margin_frac = NAN};
    uint32_t replicas = outcome->replicas > 0 ? outcome->replicas : 1;
    for (uint32_t i = 0; i < replicas; i++) {
        if (outcome->spans[i] == NULL || outcome->spans[i]->count != outcome->spans[0]->count) {
            return windows;
        }
    }
    windows.count = outcome->spans[0]->count;
    windows.length_us = outcome->spans[0]->length_us;
    windows.measured_us = measured_us(outcome->spans[0]);
    find_all_worst(&loaded->slo, outcome, replicas, &windows);
    list_changes(&loaded->scenario, &windows);
    find_times(loaded, outcome, replicas, &windows);
    return windows;
}

struct kvc_slo_verdict kvc_slo_judge(const struct kvc_loaded *loaded, const struct kvc_outcome *outcome,
                                     struct kvc_slo_windows *windows)
{
    struct kvc_slo_values values = kvc_slo_values_of(loaded, outcome);
    *windows = kvc_slo_windows_of(loaded, outcome);
    values.window_margin_frac = windows->margin_frac;
    return kvc_slo_verdict_of(&loaded->slo, &values);
}

/* ---- output ---- */

static json_t *worst_json(const struct kvc_window_worst *worst)
{
    const struct kvc_judged *judged = &worst->judged;
    const struct kvc_objective_kind *kind = &kvc_objective_kinds[judged->objective];
    json_t *object = json_object();
    char name[KVC_NAME_MAX];
    snprintf(name, sizeof(name), is_latency(judged->objective) ? "latency_%.8s_over_frac" : "%.40s",
             is_latency(judged->objective) ? kind->key : kind->name);
    json_object_set_new(object, "name",
                        json_string(judged->objective == KVC_OBJECTIVE_LOSS ? "lost_frac" : name));
    if (is_latency(judged->objective)) {
        json_object_set_new(object, "limit_us", kvc_json_number(worst->limit_us));
    }
    json_object_set_new(object, kind->at_least ? "at_least" : "at_most", kvc_json_number(judged->bound));
    json_object_set_new(object, "found", kvc_json_number(judged->found));
    json_object_set_new(object, "ci95", kvc_json_number(judged->half_width));
    json_object_set_new(object, "from_s", kvc_json_number(worst->from_us * 1e-6));
    json_object_set_new(object, "met",
                        isnan(judged->bound) || judged->state == KVC_SLO_UNKNOWN
                            ? json_null()
                            : json_boolean(judged->state == KVC_SLO_MET));
    return object;
}

static json_t *change_json(const struct kvc_window_change *change)
{
    json_t *object = json_object();
    json_object_set_new(object, "at_s", kvc_json_number(change->at_us * 1e-6));
    json_object_set_new(object, "what", kvc_json_text(change->what));
    json_object_set_new(object, "recover_s", kvc_json_number(change->recover_us.mean * 1e-6));
    json_object_set_new(object, "recover_ci95_s", kvc_json_number(change->recover_us.half_width * 1e-6));
    json_object_set_new(object, "recovered", kvc_json_count(change->recovered));
    return object;
}

json_t *kvc_slo_windows_json(const struct kvc_slo_windows *windows)
{
    if (windows->count == 0) {
        return NULL;
    }
    json_t *object = json_object(), *objectives = json_array(), *changes = json_array();
    for (uint32_t i = 0; i < windows->worst_count; i++) {
        json_array_append_new(objectives, worst_json(&windows->worst[i]));
    }
    for (uint32_t i = 0; i < windows->change_count; i++) {
        json_array_append_new(changes, change_json(&windows->change[i]));
    }
    json_object_set_new(object, "length_s", kvc_json_number(windows->length_us * 1e-6));
    json_object_set_new(object, "count", kvc_json_count(windows->count));
    json_object_set_new(object, "objectives", objectives);
    json_object_set_new(object, "missed_s", kvc_json_number(windows->missed_us.mean * 1e-6));
    json_object_set_new(object, "missed_ci95_s", kvc_json_number(windows->missed_us.half_width * 1e-6));
    if (windows->by_throughput) {
        json_object_set_new(object, "usual_low_mops", kvc_json_number(windows->low_mops));
        json_object_set_new(object, "usual_high_mops", kvc_json_number(windows->high_mops));
    }
    json_object_set_new(object, "changes", changes);
    return object;
}

static void write_half_width(double half_width, FILE *out)
{
    if (isfinite(half_width)) {
        fprintf(out, " +- %.2g", half_width);
    }
}

/* Writes a value, whose unit is a percentage where it is a share. */
static void write_worst(const struct kvc_window_worst *worst, FILE *out)
{
    const struct kvc_judged *judged = &worst->judged;
    const struct kvc_objective_kind *kind = &kvc_objective_kinds[judged->objective];
    bool rate = judged->objective == KVC_OBJECTIVE_MOPS;
    double scale = rate ? 1 : 100;
    const char *unit = rate ? "Mops" : "%";
    const char *label = judged->objective == KVC_OBJECTIVE_LOSS ? "lost requests" : kind->label;
    if (!isnan(judged->bound)) {
        static const char *const states[] = {
            [KVC_SLO_UNKNOWN] = "unknown", [KVC_SLO_MET] = "met", [KVC_SLO_MISSED] = "missed"};
        fprintf(out, "%s: ", states[judged->state]);
    }
    fprintf(out, "%s%s%.4g", is_latency(judged->objective) ? "" : label,
            is_latency(judged->objective) ? "" : " ", scale * judged->found);
    write_half_width(scale * judged->half_width, out);
    fprintf(out, " %s", unit);
    if (is_latency(judged->objective)) {
        fprintf(out, " of the requests take longer than %.6g us (%s)", worst->limit_us, kind->key);
    }
    if (!isnan(judged->bound)) {
        fprintf(out, ", %s %.4g %s", kind->at_least ? "at least" : "at most", scale * judged->bound, unit);
    }
    fprintf(out, ", from %.4g ms on", worst->from_us * 1e-3);
}

/* Writes for how long objectives were missed, or the throughput was not the usual one. */
static void write_missed(const struct kvc_slo_windows *windows, FILE *out)
{
    fprintf(out, "%-14s%u of %.4g ms: ", "windows", windows->count, windows->length_us * 1e-3);
    if (isnan(windows->missed_us.mean)) {
        fputs("too few before the first change, or a load that moves, to tell the usual throughput\n", out);
        return;
    }
    if (windows->by_throughput) {
        fprintf(out, "unlike before the first change (%.4g to %.4g Mops) for ", windows->low_mops,
                windows->high_mops);
    } else {
        fputs("an objective is missed for ", out);
    }
    fprintf(out, "%.4g", windows->missed_us.mean * 1e-3);
    write_half_width(windows->missed_us.half_width * 1e-3, out);
    fprintf(out, " of %.4g ms\n", windows->measured_us * 1e-3);
}

static void write_change(const struct kvc_window_change *change, uint32_t replicas, FILE *out)
{
    fprintf(out, "at %.4g ms %s: ", change->at_us * 1e-3, change->what);
    if (change->recovered < replicas) {
        fputs("does not recover", out);
        if (change->recovered > 0) {
            fprintf(out, " in %u of %u replicas", replicas - change->recovered, replicas);
        }
    } else if (change->recover_us.mean > 0) {
        fprintf(out, "recovers after %.4g", change->recover_us.mean * 1e-3);
        write_half_width(change->recover_us.half_width * 1e-3, out);
        fputs(" ms", out);
    } else {
        fputs("no window shows it", out);
    }
    fputc('\n', out);
}

void kvc_slo_windows_write(const struct kvc_slo_windows *windows, const struct kvc_slo *slo,
                           uint32_t replicas, const char *warn, const char *plain, FILE *out)
{
    if (windows->count == 0) {
        if (!isnan(slo->window_ns) && kvc_slo_bounds_windows(slo)) {
            fprintf(out, "%-14s%sunknown: this answer has no windows%s\n", "worst window", warn, plain);
        }
        return;
    }
    for (uint32_t i = 0; i < windows->worst_count; i++) {
        const struct kvc_judged *judged = &windows->worst[i].judged;
        bool missed = !isnan(judged->bound) && judged->state == KVC_SLO_MISSED;
        fprintf(out, "%-14s%s", i == 0 ? "worst window" : "", missed ? warn : "");
        write_worst(&windows->worst[i], out);
        fprintf(out, "%s\n", missed ? plain : "");
    }
    if (!isnan(slo->watts)) {
        fprintf(out, "%-14spower is known over the run alone\n", "");
    }
    write_missed(windows, out);
    for (uint32_t i = 0; i < windows->change_count && !isnan(windows->missed_us.mean); i++) {
        fprintf(out, "%-14s", i == 0 ? "changes" : "");
        write_change(&windows->change[i], replicas, out);
    }
}

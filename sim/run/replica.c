#include "sim/run/replica.h"

#include <math.h>

#include "sim/base/clock.h"
#include "sim/engine.h"
#include "sim/run/too_long.h"

/* Returns whether the run would need more wall-clock time than it may. The speed so far decides, once it has
 * been measured for long enough. */
static bool takes_too_long(struct kvc_monitor *monitor, double now_ns)
{
    static const double least_s = 2;
    const struct kvc_recorder *recorder = monitor->recorder;
    double wall_s = kvc_clock_wall_s();
    if (monitor->first_wall_s <= 0) {
        monitor->first_wall_s = wall_s;
        return false;
    }
    double elapsed_s = wall_s - monitor->first_wall_s;
    if (monitor->wall_limit_s <= 0 || elapsed_s < least_s || kvc_source_ended(monitor->source)) {
        return false;
    }
    double from_ns = isfinite(recorder->from_ns) ? recorder->from_ns : now_ns; /* Now at the earliest. */
    double needed_s = elapsed_s * (from_ns + monitor->expected_ns) / now_ns;
    monitor->needed_wall_s = needed_s > monitor->wall_limit_s ? needed_s : 0;
    return monitor->needed_wall_s > 0;
}

void kvc_monitor_look(struct kvc_monitor *monitor, double now_ns)
{
    struct kvc_recorder *recorder = monitor->recorder;
    kvc_recorder_lead(recorder, now_ns, kvc_source_lead(monitor->source));
    bool over = kvc_recorder_check(recorder, now_ns) || kvc_source_error(monitor->source, NULL) != KVC_OK;
    if (!over && monitor->drained != NULL && kvc_source_ended(monitor->source) &&
        monitor->drained(monitor->data)) {
        kvc_recorder_cut(recorder, now_ns);
        over = true;
    }
    if (isfinite(recorder->from_ns)) {
        kvc_changes_start(monitor->changes, recorder->from_ns);
        kvc_policy_start(monitor->policy, recorder->from_ns);
    }
    if (now_ns >= recorder->from_ns && monitor->meters->last_ns < recorder->until_ns) {
        bool begins = monitor->meters->first_ns < 0;
        kvc_meters_read(monitor->meters, now_ns);
        kvc_recorder_joules(recorder, now_ns, kvc_meters_joules(monitor->meters));
        kvc_recorder_sample_begin(recorder, now_ns);
        kvc_meters_sample(monitor->meters, recorder);
        if (monitor->count != NULL) {
            monitor->count(monitor->data, begins);
        }
    }
    if (over || takes_too_long(monitor, now_ns)) {
        kvc_engine_stop();
    }
    bool measuring = isfinite(recorder->from_ns);
    kvc_progress_report(monitor->progress, measuring ? "measure" : "warm up",
                        measuring ? fmin((now_ns - recorder->from_ns) / monitor->expected_ns, 1) : 0);
}

/* The body of an actor that looks at the start of the run and at the end of every window. `monitor` is a
 * struct kvc_monitor. */
static void monitor_main(void *data)
{
    struct kvc_monitor *monitor = data;
    for (uint64_t window = 0;; window++) {
        /* The engine's clock may be off by rounding, and a look just before an edge would miss it. */
        double edge_ns = (double)window * monitor->recorder->window_ns;
        kvc_engine_sleep_until_ns(edge_ns);
        kvc_monitor_look(monitor, edge_ns);
    }
}

/* Returns the length of the measured time. A trace may end before it. */
static double expected_ns(const struct kvc_scenario *scenario)
{
    const struct kvc_workload *workload = &scenario->workload;
    double trace_ns = workload->arrival == KVC_ARRIVAL_TRACE ? workload->trace.facts.end_ns : INFINITY;
    return fmin(scenario->run.duration_ns, fmax(trace_ns, 1));
}

enum { UNRECEIVED_ROWS = 4096 /* More than any frame has. */ };

enum kvc_status kvc_replica_open(struct kvc_replica *replica, const struct kvc_run_context *context,
                                 const struct kvc_replica_options *options, struct kvc_diag *diag)
{
    const struct kvc_run *run = &context->scenario->run;
    *replica = (struct kvc_replica){.context = context,
                                    .opened_ticks = kvc_clock_ticks(),
                                    .opened_s = kvc_clock_wall_s(),
                                    .opened_cpu_s = kvc_clock_cpu_s()};
    enum kvc_status status = kvc_changes_check(run, options->platform, diag);
    if (status == KVC_OK) {
        status = kvc_engine_open(context->platform, options->platform, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    replica->source = kvc_source_create(&options->source, diag);
    if (replica->source == NULL) {
        return diag != NULL ? diag->status : KVC_ERR_RUNTIME;
    }
    kvc_meters_open(&replica->meters, options->platform);
    replica->monitor = (struct kvc_monitor){.recorder = &replica->recorder,
                                            .source = replica->source,
                                            .progress = context->progress,
                                            .meters = &replica->meters,
                                            .changes = &replica->changes,
                                            .policy = &replica->policy,
                                            .expected_ns = expected_ns(context->scenario),
                                            .wall_limit_s = context->wall_limit_s};
    kvc_changes_open(&replica->changes, run, options->platform);
    kvc_recorder_open(&replica->recorder, options->window_ns, run->warmup_ns, run->duration_ns);
    replica->recorder.warmup_most_ns = run->warmup_most_ns;
    replica->recorder.judged = kvc_scenario_judged(context->scenario);
    _Static_assert((int)KVC_TENANTS_MAX <= (int)KVC_RESULT_TENANTS_MAX, "a result has room for all tenants");
    kvc_recorder_open_tenants(&replica->recorder, options->source.workload->tenant_count);
    if (kvc_workload_has_multigets(options->source.workload)) {
        replica->recorder.multigets =
            kvc_multigets_create((uint32_t)options->source.workload->multiget,
                                 kvc_workload_multiget_frac(options->source.workload));
    }
    replica->recorder.clients_wait = kvc_workload_clients_wait(options->source.workload);
    replica->recorder.changing = kvc_workload_changes(options->source.workload) || run->change_count > 0 ||
                                 kvc_power_policy_looks(&context->scenario->power);
    replica->shards = options->source.nodes * options->source.sockets;
    return KVC_OK;
}

void kvc_replica_close(struct kvc_replica *replica)
{
    kvc_source_free(replica->source);
    kvc_recorder_close(&replica->recorder);
    kvc_meters_close(&replica->meters);
    kvc_policy_close(&replica->policy);
}

/* Counts the requests of an open loop that were sent within the measured time, but that the store has not
 * even received. Other clients send no request that the store does not take. */
static void count_unreceived(struct kvc_replica *replica)
{
    const struct kvc_workload *workload = &replica->context->scenario->workload;
    if (isinf(kvc_workload_rate_max_mops(workload))) {
        return;
    }
    struct kvc_batch *batch = kvc_batch_create(UNRECEIVED_ROWS, kvc_workload_key_stride(workload));
    for (uint32_t shard = 0; shard < replica->shards; shard++) {
        while (kvc_source_drain(replica->source, shard, replica->recorder.until_ns, batch) > 0) {
            kvc_recorder_offered(&replica->recorder, batch->sent_ns, batch->count);
            batch->count = 0;
        }
    }
    kvc_batch_free(batch);
}

/* The duration of a trace may be automatic, so it comes from the recorder. */
static enum kvc_status fail_too_long(const struct kvc_replica *replica, struct kvc_diag *diag)
{
    return kvc_run_too_long(replica->context->scenario->run.warmup_ns, replica->recorder.duration_ns,
                            "at its present speed the run needs", replica->monitor.needed_wall_s,
                            replica->monitor.wall_limit_s, diag);
}

enum kvc_status kvc_replica_run(struct kvc_replica *replica, bool monitor_has_actor, struct kvc_diag *diag)
{
    if (isfinite(replica->recorder.from_ns)) {
        kvc_changes_start(&replica->changes, replica->recorder.from_ns);
        kvc_policy_start(&replica->policy, replica->recorder.from_ns);
    }
    if (monitor_has_actor) {
        kvc_engine_spawn("monitor", monitor_main, &replica->monitor);
    }
    kvc_engine_run();
    enum kvc_status status = kvc_source_error(replica->source, diag);
    if (status == KVC_OK) {
        status = kvc_policy_error(&replica->policy, diag);
    }
    if (status == KVC_OK && replica->monitor.needed_wall_s > 0) {
        status = fail_too_long(replica, diag);
    }
    if (status == KVC_OK) {
        count_unreceived(replica);
    }
    return status;
}

/* Notes what became of the trace. */
static void note_trace(const struct kvc_replica *replica, struct kvc_result *result)
{
    const struct kvc_workload *workload = &replica->context->scenario->workload;
    const struct kvc_source_trace_counts counts = kvc_source_trace_counts(replica->source);
    const struct kvc_trace_facts *facts = &workload->trace.facts;
    kvc_result_note(
        result, "the trace (%s) has %s%.0f requests for %.0f keys, replayed %.4g times as fast as recorded",
        facts->format, facts->is_whole ? "" : "about ", facts->requests, facts->keys, workload->trace.scale);
    if (!kvc_source_ended(replica->source)) {
        kvc_result_note(result, "the trace goes on after the %.4g ms that were replayed",
                        replica->recorder.until_ns * 1e-6);
    }
    if (counts.filled > 0) {
        kvc_result_note(result,
                        "clients filled what missed with %llu SETs, besides the %llu requests of the trace",
                        (unsigned long long)counts.filled, (unsigned long long)counts.read);
    }
    if (counts.expired > 0) {
        kvc_result_note(result, "%llu pairs were deleted when their time to live had passed",
                        (unsigned long long)counts.expired);
    }
    if (counts.too_large > 0) {
        kvc_result_note(
            result,
            "%llu of %llu requests of the trace are for pairs with more than %u bytes in the key "
            "or %u in the value, which the store does not take; they count as misses or are not sent",
            (unsigned long long)counts.too_large, (unsigned long long)counts.read,
            kvc_workload_key_bytes_max(workload), kvc_workload_value_bytes_max(workload));
    }
}

void kvc_replica_report(const struct kvc_replica *replica)
{
    struct kvc_result *result = replica->context->result;
    kvc_meters_report(&replica->meters, result);
    kvc_policy_report(&replica->policy, replica->recorder.until_ns, result);
    if (replica->context->scenario->workload.arrival == KVC_ARRIVAL_TRACE) {
        note_trace(replica, result);
    } else if (kvc_source_trace_counts(replica->source).filled > 0) {
        kvc_result_note(result, "clients filled what missed with %llu SETs, besides the requests of the load",
                        (unsigned long long)kvc_source_trace_counts(replica->source).filled);
    }
    result->activities = kvc_engine_activities();
    result->wall_s = kvc_clock_wall_s() - replica->opened_s;
    result->cpu_s = kvc_clock_cpu_s() - replica->opened_cpu_s;
    double tick_s = result->wall_s / (double)(kvc_clock_ticks() - replica->opened_ticks);
    result->engine_wall_s = (double)kvc_engine_ticks() * tick_s;
    result->source_wall_s = (double)replica->source_ticks * tick_s;
    result->kernel_wall_s = (double)replica->kernel_ticks * tick_s;
}

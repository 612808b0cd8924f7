#include "sim/run/replica.h"

#include <math.h>

#include "sim/base/clock.h"
#include "sim/run/too_long.h"

enum { UNRECEIVED_ROWS = 4096 /* More than any frame has. */ };

enum kvc_status kvc_replica_open(struct kvc_replica *replica, const struct kvc_run_context *context,
                                 const struct kvc_replica_options *options, struct kvc_diag *diag)
{
    const struct kvc_run *run = &context->scenario->run;
    *replica = (struct kvc_replica){
        .context = context, .opened_ticks = kvc_clock_ticks(), .opened_s = kvc_clock_wall_s()};
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
                                            .wall_limit_s = context->wall_limit_s};
    kvc_changes_open(&replica->changes, run, options->platform);
    enum kvc_status opened =
        kvc_recorder_open(&replica->recorder, options->window_ns, run->warmup_ns, run->duration_ns, diag);
    replica->recorder.warmup_most_ns = run->warmup_most_ns;
    replica->recorder.changing = kvc_workload_changes(options->source.workload) || run->change_count > 0 ||
                                 kvc_power_policy_looks(&context->scenario->power);
    replica->shards = options->source.nodes * options->source.sockets;
    return opened;
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
    if (batch == NULL) {
        kvc_out_of_memory("%d requests", UNRECEIVED_ROWS);
    }
    for (uint32_t shard = 0; shard < replica->shards; shard++) {
        while (kvc_source_drain(replica->source, shard, replica->recorder.until_ns, batch) > 0) {
            kvc_recorder_offered(&replica->recorder, batch->sent_ns, batch->count);
            batch->count = 0;
        }
    }
    kvc_batch_free(batch);
}

/* A trace without a stated duration has one that nobody wrote. */
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
        kvc_engine_spawn("monitor", kvc_monitor_main, &replica->monitor);
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

void kvc_replica_report(const struct kvc_replica *replica)
{
    struct kvc_result *result = replica->context->result;
    kvc_meters_report(&replica->meters, result);
    kvc_policy_report(&replica->policy, replica->recorder.until_ns, result);
    if (replica->context->scenario->workload.arrival == KVC_ARRIVAL_TRACE &&
        !kvc_source_ended(replica->source)) {
        kvc_result_note(result, "the trace goes on after the %.4g ms that were replayed",
                        replica->recorder.until_ns * 1e-6);
    }
    result->activities = kvc_engine_activities();
    result->wall_s = kvc_clock_wall_s() - replica->opened_s;
    double tick_s = result->wall_s / (double)(kvc_clock_ticks() - replica->opened_ticks);
    result->engine_wall_s = (double)kvc_engine_ticks() * tick_s;
    result->source_wall_s = (double)replica->source_ticks * tick_s;
    result->kernel_wall_s = (double)replica->kernel_ticks * tick_s;
}

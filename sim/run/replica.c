#include "sim/run/replica.h"

#include <math.h>

#include "sim/base/clock.h"
#include "sim/base/rng.h"

enum kvc_status kvc_replica_open(struct kvc_replica *replica, const struct kvc_run_context *context,
                                 const struct kvc_replica_options *options, struct kvc_diag *diag)
{
    const struct kvc_run *run = &context->scenario->run;
    struct kvc_source_params source = options->source;
    struct kvc_rng seeds;
    kvc_rng_init(&seeds, run->seed, "replica", context->replica);
    *replica = (struct kvc_replica){.context = context,
                                    .seed = kvc_rng_u64(&seeds),
                                    .opened_ticks = kvc_clock_ticks(),
                                    .opened_s = kvc_clock_wall_s()};
    enum kvc_status status = kvc_changes_check(run, options->platform, diag);
    if (status == KVC_OK) {
        status = kvc_engine_open(context->platform_path, options->platform, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    source.seed = replica->seed;
    replica->source = kvc_source_create(&source, diag);
    if (replica->source == NULL) {
        return diag != NULL ? diag->status : KVC_ERR_RUNTIME;
    }
    kvc_meters_open(&replica->meters, options->platform);
    replica->monitor = (struct kvc_monitor){.recorder = &replica->recorder,
                                            .source = replica->source,
                                            .progress = context->progress,
                                            .meters = &replica->meters,
                                            .changes = &replica->changes};
    kvc_changes_open(&replica->changes, run, options->platform);
    return kvc_recorder_open(&replica->recorder, options->window_ns, run->warmup_ns, run->duration_ns, diag);
}

void kvc_replica_close(struct kvc_replica *replica)
{
    kvc_source_free(replica->source);
    kvc_recorder_close(&replica->recorder);
    kvc_meters_close(&replica->meters);
}

enum kvc_status kvc_replica_run(struct kvc_replica *replica, bool monitor_has_actor, struct kvc_diag *diag)
{
    if (isfinite(replica->recorder.from_ns)) {
        kvc_changes_start(&replica->changes, replica->recorder.from_ns);
    }
    if (monitor_has_actor) {
        kvc_engine_spawn("monitor", kvc_monitor_main, &replica->monitor);
    }
    kvc_engine_run();
    return kvc_source_error(replica->source, diag);
}

void kvc_replica_report(const struct kvc_replica *replica)
{
    struct kvc_result *result = replica->context->result;
    kvc_meters_report(&replica->meters, result);
    result->activities = kvc_engine_activities();
    result->wall_s = kvc_clock_wall_s() - replica->opened_s;
    double tick_s = result->wall_s / (double)(kvc_clock_ticks() - replica->opened_ticks);
    result->engine_wall_s = (double)kvc_engine_ticks() * tick_s;
    result->source_wall_s = (double)replica->source_ticks * tick_s;
    result->kernel_wall_s = (double)replica->kernel_ticks * tick_s;
}

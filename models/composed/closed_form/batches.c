#include "models/composed/closed_form/batches.h"

#include <math.h>

#include "sim/workload/phases.h"

double kvc_composed_batch_most(const struct kvc_composed_config *config)
{
    const struct kvc_composed_batch_options *batch = &config->options->batch;
    double requests = config->batch_most, each_bytes = fmax(config->means.request_bytes, 1);
    double filled = fmax(batch->bytes / each_bytes + config->frame_mean / 2, config->frame_mean);
    return batch->bytes > 0 ? fmax(fmin(requests, filled), 1) : requests;
}

double kvc_composed_burst_most(const struct kvc_composed_mix *mix, const struct kvc_composed_stage *stage)
{
    return mix->frame.requests * (double)stage->options->burst;
}

double kvc_composed_batch_grown(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix)
{
    const struct kvc_composed_batch_options *batch = &config->options->batch;
    double most = kvc_composed_batch_most(config);
    if (batch->bytes <= 0 || config->batched == 0) {
        return most;
    }
    const struct kvc_composed_stage *stage = &config->stage[config->batched - 1];
    double jobs = (double)batch->buffers + config->pool[stage->pool].servers + 1;
    double burst = fmin(kvc_composed_burst_most(mix, stage), mix->in_flight / config->pipelines / jobs);
    double filled = batch->bytes / fmax(config->means.request_bytes, 1) + burst / 2;
    return fmax(most, fmin(fmax(filled, burst), config->batch_most));
}

double kvc_composed_batch_time_ns(const struct kvc_composed_config *config)
{
    const struct kvc_composed_batch_options *batch = &config->options->batch;
    double time_ns = batch->timeout_ns > 0 ? batch->timeout_ns : INFINITY;
    return batch->every_ns > 0 ? fmin(time_ns, batch->every_ns) : time_ns;
}

bool kvc_composed_closes_idle(const struct kvc_composed_config *config, double requests)
{
    return config->options->batch.while_busy && !isfinite(kvc_composed_batch_time_ns(config)) &&
           requests < kvc_composed_batch_most(config);
}

double kvc_composed_batch_requests(const struct kvc_composed_config *config, double per_ns)
{
    const struct kvc_composed_batch_options *batch = &config->options->batch;
    double requests = kvc_composed_batch_most(config);
    if (batch->timeout_ns > 0) {
        requests = fmin(requests, 1 + per_ns * batch->timeout_ns);
    }
    if (batch->every_ns > 0) {
        requests = fmin(requests, per_ns * batch->every_ns);
    }
    if (batch->while_busy && !isfinite(kvc_composed_batch_time_ns(config))) { /* If none is under way. */
        requests = fmin(requests, config->frame_mean);
    }
    return fmax(requests, 1);
}

double kvc_composed_window_ns(const struct kvc_scenario *scenario)
{
    static const double shortest_ns = 100e3, longest_ns = 2e6, batches = 3, saturated_mops = 5;
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    double rate_mops = kvc_workload_rate_max_mops(&scenario->workload) / config->shards;
    double batch_ns = 0;
    if (config->batched < config->stages) {
        batch_ns = kvc_composed_batch_most(config) * (double)config->pipelines /
                   (isfinite(rate_mops) ? rate_mops : saturated_mops) * 1e3;
        batch_ns = fmin(batch_ns, kvc_composed_batch_time_ns(config));
        batch_ns = config->options->batch.while_busy ? 0 : batch_ns; /* It closes with what has come. */
    }
    double window_ns = fmin(fmax(batches * batch_ns, shortest_ns), longest_ns);
    window_ns = fmin(window_ns, kvc_phases_window_ns(&scenario->workload));
    return scenario->run.duration_ns > 0 ? fmin(window_ns, scenario->run.duration_ns) : window_ns;
}

#include "models/composed/closed_form/rate.h"

#include <math.h>

#include "models/composed/closed_form/buffer.h"

/* Returns the requests that clients of a closed loop send as a frame. Those that are answered together send
 * together, but for those whose next key is on another socket. A batch brings clients together again. Where
 * none does, a branch parts them for good, and a pause keeps those apart that begin apart. */
static double closed_frame(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix)
{
    const struct kvc_workload *workload = mix->workload;
    double most = fmin(config->frame_mean, (double)workload->clients / config->shards);
    bool parts = workload->think_ns > 0 || config->shards > 1;
    for (uint32_t i = 0; i < config->stages; i++) {
        parts = parts || (config->stage[i].when != 0 && !config->stage[i].options->background);
    }
    return config->batched < config->stages ? fmax(most / config->shards, 1) : parts ? 1 : fmax(most, 1);
}

struct kvc_composed_mix kvc_composed_mix_at(const struct kvc_composed_config *config,
                                            const struct kvc_composed_mix *mix, double per_ns)
{
    const struct kvc_workload *workload = mix->workload;
    struct kvc_composed_mix at = *mix;
    kvc_composed_mix_evict(&at, per_ns);
    kvc_composed_buffer_at(config, &at, per_ns, 0);
    at.frame = (struct kvc_fill){.requests = config->frame_mean};
    if (workload->arrival == KVC_ARRIVAL_CLOSED) {
        at.frame.requests = closed_frame(config, mix);
    } else if (kvc_workload_has_rate(workload) && !kvc_workload_sends_together(workload)) {
        double per_flow_ns = per_ns / kvc_workload_flows(workload);
        at.frame = kvc_fill_of(per_flow_ns, config->frame_requests, workload->fill_timeout_ns);
    }
    return at;
}

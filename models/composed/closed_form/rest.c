#include "models/composed/closed_form/rest.h"

#include <math.h>

/* Adds a wait for one of some stages, a bit for each, to those that are served last, as they have requests.
 */
static void add_wait(const struct kvc_composed_config *config, uint32_t stages, const double *share,
                     double ns, double *wait_ns)
{
    int64_t last = INT64_MAX;
    uint32_t waiting = 0;
    double all = 0;
    for (uint32_t i = 0; i < config->stages; i++) {
        const struct kvc_composed_stage_options *options = config->stage[i].options;
        int64_t turn = 2 * (int64_t)options->priority + !options->shared; /* Own queues are first. */
        if ((stages >> i & 1) == 0 || share[i] <= 0 || turn > last) {
            continue;
        }
        all = (turn < last ? 0 : all) + share[i];
        waiting = (turn < last ? 0 : waiting) | 1u << i;
        last = turn;
    }
    for (; waiting != 0; waiting &= waiting - 1) {
        int stage = __builtin_ctz(waiting);
        wait_ns[stage] += ns * share[stage] / all;
    }
}

void kvc_composed_add_rest(const struct kvc_composed_config *config, const struct kvc_composed_rest *rest,
                           const double *share, double *wait_ns)
{
    uint32_t last = config->stages - 1, pool = rest->pool;
    uint32_t stages = pool < config->pools ? config->pool[pool].stages : 1u << last;
    uint32_t stage = (uint32_t)__builtin_ctz(stages);
    double rest_ns = rest->ns;
    if (pool < config->pools && stages == 1u << last && config->stage[last].place == KVC_COMPOSED_NIC_TX) {
        wait_ns[last] += rest_ns; /* The wire has what is answered. */
        return;
    }
    if (stages >> config->batched != 0) {
        double room_ns = pool < config->pools ? fmax(rest->room_requests, 0) / rest->per_ns : 0;
        double inside_ns = fmin(room_ns, rest_ns);
        add_wait(config, stages >> config->batched << config->batched, share, inside_ns, wait_ns);
        rest_ns -= inside_ns;
        stage = config->batched - (config->batched > 0);
        stages = 1u << stage;
    }
    while (rest_ns > 0) {
        double room = (double)config->stage[stage].options->queue * config->pipelines;
        double room_ns = room * rest->job_requests[stage] / rest->per_ns;
        double here_ns = room > 0 && stage > 0 ? fmin(room_ns, rest_ns) : rest_ns;
        add_wait(config, stages, share, here_ns, wait_ns);
        rest_ns -= here_ns;
        stage -= stage > 0;
        stages = 1u << stage;
    }
}

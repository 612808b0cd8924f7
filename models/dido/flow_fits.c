#include <math.h>

#include "models/dido/flow.h"

/* The GPU's stage as its owner and the thieves see it while they share a period. */
struct shares {
    double gpu_ns;   /* What the GPU cannot leave to thieves, and what it must take of other stages. */
    double share_ns; /* What it can leave to thieves of its batch, */
    double taken;    /* the share of that for which they have time, */
    double gain_ns;  /* and what it saves, at most, if it exchanges work with them. */
};

/* Returns the time of a whole batch, or of a thief with `cores` cores. */
static double batch_ns(const struct kvc_dido_flow *flow, const struct kvc_dido_flow_work *work, double cores)
{
    double alone_ns = work->alone_ns / cores, memory_ns = work->channel_ns / flow->channels;
    return alone_ns > memory_ns ? alone_ns : memory_ns;
}

/* Lets the GPU take as much of a stage of the CPU as it must, or the stage's cores as much of the GPU's as
 * they have time for. Where both gain, they exchange work. Returns whether the stage fits into the period. */
static bool share(const struct kvc_dido_flow *flow, const struct kvc_dido_flow_stage *stage,
                  const struct kvc_dido_flow_stage *gpu, double period_ns, struct shares *shares)
{
    double whole_ns = batch_ns(flow, &stage->whole, 1), saved_ns = whole_ns - batch_ns(flow, &stage->rest, 1);
    double gpu_ns = stage->stolen.launch_ns + batch_ns(flow, &stage->stolen, 1), given = 0;
    double steals = gpu->can_be_stolen ? 1 / batch_ns(flow, &gpu->stolen, stage->cores) : 0;
    if (whole_ns <= period_ns) {
        shares->taken += (period_ns - whole_ns) * steals;
    } else {
        given = (whole_ns - period_ns) / saved_ns;
        if (!stage->can_be_stolen || saved_ns <= 0 || given > 1) {
            return false;
        }
        shares->gpu_ns += given * gpu_ns;
    }
    double gain_ns = saved_ns * steals * shares->share_ns - gpu_ns;
    shares->gain_ns += stage->can_be_stolen && gain_ns > 0 ? (1 - given) * gain_ns : 0;
    return true;
}

bool kvc_dido_flow_fits(const struct kvc_dido_flow *flow, double period_ns)
{
    const struct kvc_dido_flow_stage *gpu = NULL;
    double channel_ns = 0;
    for (uint32_t s = 0; s < flow->stages; s++) {
        const struct kvc_dido_flow_stage *stage = &flow->stage[s];
        double divided_ns = stage->stolen.channel_ns + stage->rest.channel_ns;
        bool saves = stage->can_be_stolen && divided_ns < stage->whole.channel_ns;
        channel_ns += saves ? divided_ns : stage->whole.channel_ns;
        gpu = stage->on_gpu ? stage : gpu;
    }
    struct shares shares = {0};
    if (gpu != NULL) {
        shares.gpu_ns = gpu->whole.launch_ns + batch_ns(flow, &gpu->rest, 1);
        shares.share_ns = batch_ns(flow, &gpu->whole, 1) - batch_ns(flow, &gpu->rest, 1);
    }
    bool fits = channel_ns <= period_ns * flow->channels;
    for (uint32_t s = 0; fits && s < flow->stages; s++) {
        const struct kvc_dido_flow_stage *stage = &flow->stage[s];
        if (!stage->on_gpu) {
            fits = gpu != NULL ? share(flow, stage, gpu, period_ns, &shares)
                               : batch_ns(flow, &stage->whole, 1) <= period_ns;
        }
    }
    double left = fmin(shares.taken, 1), own_ns = (1 - left) * shares.share_ns - shares.gain_ns;
    return fits && shares.gpu_ns + fmax(own_ns, 0) <= period_ns;
}

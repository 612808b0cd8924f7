#include "sim/devices/gpu_waves.h"

#include <math.h>

/* Returns the share of random accesses whose translation misses. */
static double missed_frac(const struct kvc_gpu *gpu, double bytes)
{
    return gpu->walkers > 0 && bytes > gpu->walk_free_bytes ? 1 - gpu->walk_free_bytes / bytes : 0;
}

double kvc_gpu_waves_held(const struct kvc_gpu *gpu)
{
    return (double)gpu->sms * floor((double)gpu->threads_per_sm / (double)gpu->wave_threads);
}

double kvc_gpu_waves_ns(const struct kvc_gpu *gpu, const struct kvc_gpu_waves *waves)
{
    double cycle_ns = 1e9 / gpu->clocks[0].core_hz, sms = (double)gpu->sms;
    double count = ceil(waves->threads / (double)gpu->wave_threads);
    double held = kvc_gpu_waves_held(gpu);
    double walks = waves->random * missed_frac(gpu, waves->bytes);
    double issue_ns = count * waves->instructions / (sms * gpu->wave_issue) * cycle_ns;
    double wait_ns =
        ceil(count / held) * (waves->depth * (gpu->access_ns + waves->further_ns) + walks * gpu->walk_ns +
                              waves->instructions * gpu->wave_gap_cycles * cycle_ns);
    double walk_ns = walks > 0 ? waves->threads * walks * gpu->walk_ns / (double)gpu->walkers : 0;
    return fmax(fmax(issue_ns, wait_ns), walk_ns);
}

#include "sim/devices/gpu_waves.h"

#include <math.h>

double kvc_gpu_waves_ns(const struct kvc_gpu *gpu, const struct kvc_gpu_waves *waves)
{
    double cycle_ns = 1e9 / gpu->clocks[0].core_hz, sms = (double)gpu->sms;
    double count = ceil(waves->threads / (double)gpu->wave_threads);
    double held = sms * floor((double)gpu->threads_per_sm / (double)gpu->wave_threads);
    double issue_ns = count * waves->instructions / (sms * gpu->wave_issue) * cycle_ns;
    double wait_ns = ceil(count / held) *
                     (waves->depth * gpu->access_ns + waves->instructions * gpu->wave_gap_cycles * cycle_ns);
    return fmax(issue_ns, wait_ns);
}

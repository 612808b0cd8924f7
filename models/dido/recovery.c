#include "models/dido/recovery.h"

#include <math.h>

#include "sim/workload/phases.h"

static const double recovered_frac = 0.95;

static double mean_mops(const struct kvc_result *result, uint32_t first, uint32_t end)
{
    double sum = 0;
    for (uint32_t i = first; i < end; i++) {
        sum += (double)result->window_mops[i];
    }
    return sum / (end - first);
}

/* Returns how long the windows first to end - 1 of a phase were below the throughput of its last third [us].
 */
static double recovery_of_us(const struct kvc_result *result, uint32_t first, uint32_t end)
{
    uint32_t third = end - (end - first) / 3, recovered = third;
    double level_mops = mean_mops(result, third, end);
    while (recovered > first && (double)result->window_mops[recovered - 1] >= recovered_frac * level_mops) {
        recovered--;
    }
    return (recovered - first) * result->window_us;
}

double kvc_dido_recovery_us(const struct kvc_workload *workload, double from_ns,
                            const struct kvc_result *result)
{
    double window_ns = result->window_us * 1e3, until_ns = from_ns + result->window_count * window_ns;
    double sum_us = 0, begin_ns = from_ns, slack_ns = window_ns / 2;
    uint32_t changes = 0;
    while (workload->phase_count > 0 && begin_ns + slack_ns < until_ns) {
        double middle_ns = begin_ns + slack_ns, phase_ns = kvc_phases_begin_ns(workload, middle_ns);
        double end_ns = phase_ns + kvc_phases_length_ns(workload, kvc_phases_at(workload, middle_ns));
        double windows = (end_ns - phase_ns) / window_ns;
        bool whole = fabs(phase_ns - begin_ns) < slack_ns && end_ns < until_ns + slack_ns;
        if (whole && windows > KVC_DIDO_WINDOWS_OF_PHASE - 0.5) {
            uint32_t first = (uint32_t)lround((begin_ns - from_ns) / window_ns);
            sum_us += recovery_of_us(result, first, first + (uint32_t)lround(windows));
            changes++;
        }
        begin_ns = end_ns;
    }
    return changes > 0 ? sum_us / changes : NAN;
}

#include "sim/workload/phases.h"

#include <math.h>

/* Returns the time from the start of a cycle to the start of a phase; phase_count: to the end of the cycle
 * [ns]. */
static double offset_ns(const struct kvc_workload *workload, uint32_t phase)
{
    double sum_ns = 0;
    for (uint32_t i = 0; i < phase; i++) {
        sum_ns += kvc_phases_length_ns(workload, i);
    }
    return sum_ns;
}

double kvc_phases_cycle_ns(const struct kvc_workload *workload)
{
    return offset_ns(workload, workload->phase_count);
}

/* Returns the start of the cycle of a time [ns]. */
static double cycle_begin_ns(const struct kvc_workload *workload, double time_ns)
{
    double cycle_ns = kvc_phases_cycle_ns(workload);
    return floor(time_ns / cycle_ns) * cycle_ns;
}

uint32_t kvc_phases_at(const struct kvc_workload *workload, double time_ns)
{
    uint32_t phase = 0;
    if (workload->phase_count > 0) {
        double within_ns = time_ns - cycle_begin_ns(workload, time_ns);
        while (phase + 1 < workload->phase_count && within_ns >= offset_ns(workload, phase + 1)) {
            phase++;
        }
    }
    return phase;
}

double kvc_phases_begin_ns(const struct kvc_workload *workload, double time_ns)
{
    return workload->phase_count > 0
               ? cycle_begin_ns(workload, time_ns) + offset_ns(workload, kvc_phases_at(workload, time_ns))
               : 0;
}

double kvc_phases_own_ns(const struct kvc_workload *workload, uint32_t phase, double time_ns)
{
    double length_ns = kvc_phases_length_ns(workload, phase), begin_ns = cycle_begin_ns(workload, time_ns);
    double within_ns = time_ns - begin_ns - offset_ns(workload, phase);
    return begin_ns / kvc_phases_cycle_ns(workload) * length_ns + fmin(fmax(within_ns, 0), length_ns);
}

double kvc_phases_time_ns(const struct kvc_workload *workload, uint32_t phase, double own_ns)
{
    double length_ns = kvc_phases_length_ns(workload, phase), cycles = floor(own_ns / length_ns);
    return cycles * kvc_phases_cycle_ns(workload) + offset_ns(workload, phase) + own_ns - cycles * length_ns;
}

uint64_t kvc_phases_first_key(const struct kvc_workload *workload, uint32_t phase)
{
    return workload->keys * phase / kvc_phases_count(workload);
}

struct kvc_workload kvc_phases_workload(const struct kvc_workload *workload, uint32_t phase)
{
    struct kvc_workload one;
    kvc_workload_copy(&one, workload);
    if (workload->phase_count > 0) {
        const struct kvc_phase *like = &workload->phases[phase];
        one.phase_count = 0;
        one.keys = kvc_phases_first_key(workload, phase + 1) - kvc_phases_first_key(workload, phase);
        one.key_bytes = like->key_bytes;
        one.value_bytes = like->value_bytes;
        one.get_frac = like->get_frac;
        one.set_frac = like->set_frac;
        one.delete_frac = like->delete_frac;
        one.popularity = like->zipf_s > 0 ? KVC_POPULARITY_ZIPF : KVC_POPULARITY_UNIFORM;
        one.zipf_s = like->zipf_s;
    }
    return one;
}

struct kvc_workload kvc_phases_mean(const struct kvc_workload *workload)
{
    struct kvc_workload mean;
    kvc_workload_copy(&mean, workload);
    if (workload->phase_count > 0) {
        mean.get_frac = mean.set_frac = mean.delete_frac = 0;
    }
    for (uint32_t i = 0; i < workload->phase_count; i++) {
        double time_frac = kvc_phases_length_ns(workload, i) / kvc_phases_cycle_ns(workload);
        mean.get_frac += time_frac * workload->phases[i].get_frac;
        mean.set_frac += time_frac * workload->phases[i].set_frac;
        mean.delete_frac += time_frac * workload->phases[i].delete_frac;
    }
    return mean;
}

double kvc_phases_window_ns(const struct kvc_workload *workload)
{
    double shortest_ns = INFINITY;
    for (uint32_t i = 0; i < workload->phase_count; i++) {
        shortest_ns = fmin(shortest_ns, kvc_phases_length_ns(workload, i));
    }
    return shortest_ns / KVC_PHASES_WINDOWS;
}

uint32_t kvc_phases_count(const struct kvc_workload *workload)
{
    return workload->phase_count > 0 ? workload->phase_count : 1;
}

#include "validate/probes/timing.h"

#include <gsl/gsl_sort.h>

#include "sim/base/clock.h"

enum { REPETITIONS_MIN = 5, REPETITIONS_MAX = 15 };

static const double steady_frac = 0.02;

static double repetition_s(kvc_timing_fn *prepare, kvc_timing_fn *work, void *data, uint32_t repetition)
{
    if (prepare != NULL) {
        prepare(data, repetition);
    }
    double started_s = kvc_clock_wall_s();
    work(data, repetition);
    return kvc_clock_wall_s() - started_s;
}

struct kvc_timing kvc_timing_measure(kvc_timing_fn *prepare, kvc_timing_fn *work, void *data)
{
    double seconds[REPETITIONS_MAX];
    struct kvc_timing timing = {0};
    repetition_s(prepare, work, data, 0);
    while (timing.repetitions < REPETITIONS_MAX) {
        seconds[timing.repetitions] = repetition_s(prepare, work, data, timing.repetitions + 1);
        timing.repetitions++;
        if (timing.repetitions < REPETITIONS_MIN) {
            continue;
        }
        gsl_sort(seconds, 1, timing.repetitions);
        timing.median_s = seconds[timing.repetitions / 2];
        timing.low_s = seconds[timing.repetitions / 4];
        timing.high_s = seconds[3 * timing.repetitions / 4];
        if (timing.high_s - timing.low_s < 2 * steady_frac * timing.median_s) {
            break;
        }
    }
    return timing;
}

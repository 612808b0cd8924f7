#include "sim/probes/timing.h"

#include <stdbool.h>

#include <gsl/gsl_sort.h>

#include "sim/base/clock.h"
#include "sim/probes/lost.h"
#include "sim/probes/quiet.h"

enum { REPETITIONS_MIN = 5, REPETITIONS_MAX = 15, DISTURBED_MAX = 30 };

static const double steady_frac = 0.02;

/* Returns the time of a repetition, and sets *disturbed if the thread lost too much of it. */
static double repetition_s(kvc_timing_fn *prepare, kvc_timing_fn *work, void *data, uint32_t repetition,
                           bool *disturbed)
{
    struct kvc_lost lost;
    if (prepare != NULL) {
        prepare(data, repetition);
    }
    kvc_lost_begin(&lost);
    double started_s = kvc_clock_wall_s();
    work(data, repetition);
    double seconds = kvc_clock_wall_s() - started_s;
    *disturbed = kvc_lost_s(&lost) > kvc_quiet_stalled_frac * seconds;
    return seconds;
}

struct kvc_timing kvc_timing_measure(kvc_timing_fn *prepare, kvc_timing_fn *work, void *data)
{
    double seconds[REPETITIONS_MAX];
    struct kvc_timing timing = {0};
    bool disturbed;
    uint32_t calls = 0;
    repetition_s(prepare, work, data, calls++, &disturbed);
    while (timing.repetitions < REPETITIONS_MAX) {
        double one_s = repetition_s(prepare, work, data, calls++, &disturbed);
        kvc_lost_note_repetition(!disturbed);
        if (disturbed && timing.disturbed < DISTURBED_MAX) {
            timing.disturbed++;
            continue;
        }
        seconds[timing.repetitions++] = one_s;
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

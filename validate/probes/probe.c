#include "validate/probes/probe.h"

#include <gsl/gsl_sort.h>
#include <math.h>

#include "sim/base/clock.h"

enum { REPETITIONS_MIN = 5, REPETITIONS_MAX = 15, REFERENCE_STEPS = 2000000, REFERENCE_REPETITIONS = 3 };

static const double steady_frac = 0.02;

static double repetition_s(kvc_probe_fn *prepare, kvc_probe_fn *work, void *data, uint32_t repetition)
{
    if (prepare != NULL) {
        prepare(data, repetition);
    }
    double started_s = kvc_clock_wall_s();
    work(data, repetition);
    return kvc_clock_wall_s() - started_s;
}

struct kvc_probe_time kvc_probe(kvc_probe_fn *prepare, kvc_probe_fn *work, void *data)
{
    double seconds[REPETITIONS_MAX];
    struct kvc_probe_time time = {0};
    repetition_s(prepare, work, data, 0);
    while (time.repetitions < REPETITIONS_MAX) {
        seconds[time.repetitions] = repetition_s(prepare, work, data, time.repetitions + 1);
        time.repetitions++;
        if (time.repetitions < REPETITIONS_MIN) {
            continue;
        }
        gsl_sort(seconds, 1, time.repetitions);
        time.median_s = seconds[time.repetitions / 2];
        time.low_s = seconds[time.repetitions / 4];
        time.high_s = seconds[3 * time.repetitions / 4];
        if (time.high_s - time.low_s < 2 * steady_frac * time.median_s) {
            break;
        }
    }
    return time;
}

/* Every step needs the one before it: no cache, no memory, nothing that another thread could take away but
 * the core itself. */
static double reference_s(void)
{
    uint64_t value = 1;
    double started_s = kvc_clock_wall_s();
    for (uint32_t i = 0; i < REFERENCE_STEPS; i++) {
        value = value * 6364136223846793005u + 1;
        __asm__ volatile("" : "+r"(value));
    }
    return kvc_clock_wall_s() - started_s;
}

void kvc_steadiness_check(struct kvc_steadiness *steadiness)
{
    double seconds = INFINITY;
    for (int repetition = 0; repetition < REFERENCE_REPETITIONS; repetition++) {
        seconds = fmin(seconds, reference_s());
    }
    if (steadiness->checks == 0) {
        steadiness->fastest_s = steadiness->slowest_s = seconds;
    }
    steadiness->fastest_s = fmin(steadiness->fastest_s, seconds);
    steadiness->slowest_s = fmax(steadiness->slowest_s, seconds);
    steadiness->checks++;
}

double kvc_steadiness_spread_frac(const struct kvc_steadiness *steadiness)
{
    return steadiness->checks > 1 ? steadiness->slowest_s / steadiness->fastest_s - 1 : 0;
}

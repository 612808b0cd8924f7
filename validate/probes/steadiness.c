#include "validate/probes/steadiness.h"

#include <math.h>

#include "sim/base/clock.h"

enum { STEPS = 2000000, REPETITIONS = 3 };

const double kvc_steadiness_busy_frac = 0.05;

/* Every step needs the result of the one before it and no memory: only the core itself can slow it down. */
static double arithmetic_s(void)
{
    uint64_t value = 1;
    double started_s = kvc_clock_wall_s();
    for (uint32_t i = 0; i < STEPS; i++) {
        value = value * 6364136223846793005u + 1;
        __asm__ volatile("" : "+r"(value));
    }
    return kvc_clock_wall_s() - started_s;
}

void kvc_steadiness_check(struct kvc_steadiness *steadiness)
{
    double seconds = INFINITY;
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        seconds = fmin(seconds, arithmetic_s());
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

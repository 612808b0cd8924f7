#include "sim/probes/speed.h"

#include <math.h>

#include "sim/base/clock.h"

/* Times shorter than the clock's own resolution cannot be told from 0 [s]. */
static const double least_s = 1e-9;

/* Six independent chains of arithmetic: about four instructions per clock on today's cores. */
double kvc_speed_measure(uint32_t steps)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    double started_s = kvc_clock_wall_s();
    for (uint32_t i = 0; i < steps; i++) {
        a += i;
        b ^= i;
        c -= i;
        d += i << 1;
        e ^= i << 2;
        f -= i;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    }
    return steps / fmax(kvc_clock_wall_s() - started_s, least_s) * 1e-9;
}

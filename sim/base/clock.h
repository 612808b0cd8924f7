/* Wall clock, for the simulator's own speed; never part of a simulated result. */
#ifndef KVC_SIM_BASE_CLOCK_H
#define KVC_SIM_BASE_CLOCK_H

#include <time.h>

static inline double kvc_clock_wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif

/** @file
 * Wall clocks that measure the speed of the simulator itself. They never affect a simulated result. */
#ifndef KVC_SIM_BASE_CLOCK_H
#define KVC_SIM_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/** Returns the time of a monotonic clock with an arbitrary origin [s]. */
static inline double kvc_clock_wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** Returns the processor time that this process has used, which other processes on the machine do not change
 * [s]. */
static inline double kvc_clock_cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/** Reads a finer and cheaper clock for many short intervals. The length of a tick depends on the machine: add
 * the intervals up, and convert the sum with the ticks and the seconds of the whole run. */
static inline uint64_t kvc_clock_ticks(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return (uint64_t)(kvc_clock_wall_s() * 1e9);
#endif
}

#endif

/* Timing of short pieces of work: the median over repetitions, with quartiles. */
#ifndef KVC_SIM_PROBES_TIMING_H
#define KVC_SIM_PROBES_TIMING_H

#include <stdint.h>

/* A piece of work. `repetition` counts its calls from 0, so that every call can use other keys. */
typedef void kvc_timing_fn(void *data, uint32_t repetition);

struct kvc_timing {
    double median_s;      /* Median over the repetitions [s]. */
    double low_s, high_s; /* Lower and upper quartile [s]. */
    uint32_t repetitions; /* Timed calls, without the warm-up and the disturbed ones. */
    uint32_t disturbed;   /* Calls that were left out because other work took more than 1 % of their time. */
};

/* Measures the wall time of one call of `work`. One call warms up; then 5 to 15 calls are timed, until the
 * quartiles are less than 4 % of the median apart. A call during which other work took more than 1 % of the
 * thread's time does not count (sim/probes/lost.h); after 30 such calls, all count. `prepare` runs
 * before every call and is not timed; it may be NULL. */
struct kvc_timing kvc_timing_measure(kvc_timing_fn *prepare, kvc_timing_fn *work, void *data);

#endif

/* Timing of short pieces of work, as the median over repetitions with quartiles, and the processor time that
 * a thread lost meanwhile: it was ready to run, but the system let another thread run, or, where the
 * hypervisor says so, another machine. */
#ifndef KVC_SIM_PROBES_TIMING_H
#define KVC_SIM_PROBES_TIMING_H

#include <stdbool.h>
#include <stdint.h>

/* The clocks of the calling thread at one moment. */
struct kvc_lost {
    double wall_s; /* Wall clock [s]. */
    double cpu_s;  /* Processor time of the thread [s]. */
    long sleeps;   /* Number of times that the thread had gone to sleep by itself. */
};

/* Reads the clocks of the calling thread, which takes about a microsecond. */
void kvc_lost_begin(struct kvc_lost *lost);

/* Returns the time that the calling thread has lost since then [s]; 0 if it went to sleep by itself, such as
 * to wait for a GPU, because sleep and lost time then look the same. */
double kvc_lost_s(const struct kvc_lost *since);

/* Returns the sum of all times that kvc_lost_s has returned to any thread of this process [s]. */
double kvc_lost_total_s(void);

/* The first notes a repetition of a calibration in this process. The second returns the share of quiet
 * repetitions; 1 before any. */
void kvc_lost_note_repetition(bool quiet);
double kvc_lost_quiet_frac(void);

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
 * thread's time does not count; after 30 such calls, all count. `prepare` runs
 * before every call and is not timed; it may be NULL. */
struct kvc_timing kvc_timing_measure(kvc_timing_fn *prepare, kvc_timing_fn *work, void *data);

#endif

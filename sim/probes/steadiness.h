/* Checks of the machine's steadiness and speed at intervals during a calibration. A fixed amount of
 * arithmetic always takes the same time on a machine that does nothing else. The speed of the cores while all
 * of them work is measured as by a run's watch (sim/probes/core_watch.h), so that the two can be compared. */
#ifndef KVC_SIM_PROBES_STEADINESS_H
#define KVC_SIM_PROBES_STEADINESS_H

#include <stdint.h>

#include "sim/probes/memory_watch.h"

/* A zeroed struct has no checks yet. */
struct kvc_steadiness {
    double fastest_s, slowest_s; /* Fastest and slowest check so far [s]. */
    uint32_t checks;
    uint32_t cores, windows;        /* Cores whose speed is known, and the number of speeds of each. */
    double *speed;                  /* Speeds by window, then by core [steps of arithmetic per ns]. */
    struct kvc_memory_watch memory; /* Its buffer is NULL before the first check. */
};

void kvc_steadiness_free(struct kvc_steadiness *steadiness);

/* Times the arithmetic once more, then watches all cores for a window of 10 ms, and the memory for a
 * millisecond. */
void kvc_steadiness_check(struct kvc_steadiness *steadiness);

/* Adds the speeds of the cores in a window; 0: not measured. Every window has the same cores. */
void kvc_steadiness_add_speeds(struct kvc_steadiness *steadiness, const double *speed, uint32_t cores);

/* The mean over the cores of their fast speeds (sim/probes/quiet.h), as a run reports it; NaN if none is
 * known. */
double kvc_steadiness_core_speed(const struct kvc_steadiness *steadiness);

/* Returns the difference between the slowest and the fastest check, as a fraction of the fastest; 0 before
 * two checks.
 */
double kvc_steadiness_spread_frac(const struct kvc_steadiness *steadiness);

/* A larger spread means that the machine did other work, or that its clock varies. */
extern const double kvc_steadiness_busy_frac;

#endif

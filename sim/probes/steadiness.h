/* Checks of the machine's steadiness and speed at intervals during a calibration. A fixed amount of
 * arithmetic always takes the same time on a machine that does nothing else. The speed of the cores while all
 * of them work is measured as by a run's watch (sim/probes/core_watch.h), so that the two can be compared. */
#ifndef KVC_SIM_PROBES_STEADINESS_H
#define KVC_SIM_PROBES_STEADINESS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/probes/memory/memory_watch.h"
#include "sim/probes/thread_pool.h"

/* A zeroed struct has no checks yet. */
struct kvc_steadiness {
    double fastest_s, slowest_s; /* Fastest and slowest check so far [s]. */
    uint32_t checks;
    uint32_t cores, windows;        /* Cores whose speed is known, and the number of speeds of each. */
    double *speed;                  /* Speeds by window, then by core [steps of arithmetic per ns]. */
    struct kvc_memory_watch memory; /* Its buffer is NULL before the first reading. */
    /* The state of the machine to which the calibration refers; line_ns is NaN if the memory is not known,
     * and 0 before the first reading. */
    struct kvc_memory_rates reference;
    double endurance_s; /* Time that may still be lost because the memory is slower than in any state [s]. */
};

void kvc_steadiness_free(struct kvc_steadiness *steadiness);

/* Times the arithmetic once more, then watches all cores for a window of 10 ms. */
void kvc_steadiness_check(struct kvc_steadiness *steadiness);

/* Reads the memory: `pool` on its awake cores; NULL: threads of their own, on all cores. The first call also
 * finds a reference to begin with, the lower quartile of a hundred readings in two seconds. Returns the
 * number of the reading, or a negative number if the memory is not known. */
int64_t kvc_steadiness_read_memory(struct kvc_steadiness *steadiness, struct kvc_thread_pool *pool);

/* Returns whether the measurement between two readings is to be repeated: random lines took more than three
 * times as long as in the reference. Costs at such a time, as while a host moves the memory of its guest, are
 * worthless. The function then waits a little and subtracts `lost_s`, the time since the first reading, from
 * the endurance. Once that is used up, it returns false, and the calibration must fail. */
bool kvc_steadiness_disturbed(struct kvc_steadiness *steadiness, const int64_t reading[2], double lost_s);

/* Makes the commonest state of all readings the reference. */
void kvc_steadiness_settle(struct kvc_steadiness *steadiness);

/* Returns the distance of the machine from the reference at two readings: the mean over both and over all
 * cores of the largest |ln(time / reference)| of lines, handoffs and arithmetic. Arithmetic that is faster
 * than in the reference, as beside a sibling that sleeps, adds nothing. 0: as in the reference, or not known.
 */
double kvc_steadiness_distance(const struct kvc_steadiness *steadiness, const int64_t reading[2]);

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

/* How steady the machine is: a fixed amount of arithmetic, timed at intervals during a calibration. On a
 * machine that does nothing else it always takes the same time. */
#ifndef KVC_VALIDATE_PROBES_STEADINESS_H
#define KVC_VALIDATE_PROBES_STEADINESS_H

#include <stdint.h>

/* A zeroed struct has no checks yet. */
struct kvc_steadiness {
    double fastest_s, slowest_s; /* Fastest and slowest check so far [s]. */
    uint32_t checks;
};

/* Times the arithmetic once more. */
void kvc_steadiness_check(struct kvc_steadiness *steadiness);

/* How much longer the slowest check took than the fastest, as a fraction of the fastest; 0 before two checks.
 */
double kvc_steadiness_spread_frac(const struct kvc_steadiness *steadiness);

/* A larger spread means that the machine did other work, or that its clock varies. */
extern const double kvc_steadiness_busy_frac;

#endif

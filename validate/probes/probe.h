/* Times of short pieces of work, and how steady the machine is meanwhile. */
#ifndef KVC_VALIDATE_PROBES_PROBE_H
#define KVC_VALIDATE_PROBES_PROBE_H

#include <stdint.h>

/* A piece of work; `turn` counts its calls, so that it can take other keys each time. */
typedef void kvc_probe_fn(void *data, uint32_t repetition);

struct kvc_probe_time {
    double median_s, low_s, high_s; /* and the quartiles */
    uint32_t repetitions;
};

/* Wall time of one call of `work`: once to warm up, then 5 to 15 times, until the quartiles are within 2 % of
 * the median. `prepare` (NULL: nothing) is called before each of them and not timed. */
struct kvc_probe_time kvc_probe(kvc_probe_fn *prepare, kvc_probe_fn *work, void *data);

/* A fixed amount of arithmetic, timed now and then during a calibration. On a machine that does nothing else
 * it always takes the same. A zeroed struct is a fresh one. */
struct kvc_steadiness {
    double fastest_s, slowest_s;
    uint32_t checks;
};

void kvc_steadiness_check(struct kvc_steadiness *steadiness);

/* How much longer the slowest check took than the fastest; 0 before two checks. */
double kvc_steadiness_spread_frac(const struct kvc_steadiness *steadiness);

#endif

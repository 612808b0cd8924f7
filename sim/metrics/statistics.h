/* Output analysis: confidence intervals over replicas and detection of the warm-up.
 *
 * Student's t interval: Law, Simulation Modeling and Analysis, 5th ed., sec. 4.5. MSER-5: White, "An
 * effective truncation heuristic for bias reduction in simulation output", Simulation 69(6), 1997. */
#ifndef KVC_SIM_METRICS_STATISTICS_H
#define KVC_SIM_METRICS_STATISTICS_H

#include <stdint.h>

struct kvc_interval {
    double mean;
    double half_width; /* of the 95 % interval; NaN with fewer than two values */
};

/* 95 % confidence interval of the mean of independent values. */
struct kvc_interval kvc_interval_of(const double *values, uint32_t count);

/* MSER-5 over a time series of equally long windows: how many leading values to discard (a multiple of 5), or
 * -1 when the series is too short (below 50 values) or has not settled (the minimum lies in its second half).
 * The cuts that leave less than 20 values are not looked at: so few values differ little by chance. */
int64_t kvc_mser5(const double *values, uint32_t count);

#endif

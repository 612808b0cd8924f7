/** @file
 * Output analysis: confidence intervals over replicas, and detection of the warm-up.
 *
 * The confidence interval is Student's t interval (Law, Simulation Modeling and Analysis, 5th ed., sec. 4.5).
 * The warm-up is detected with MSER-5 (White, "An effective truncation heuristic for bias reduction in
 * simulation output", Simulation 69(6), 1997). */
#ifndef KVC_SIM_METRICS_STATISTICS_H
#define KVC_SIM_METRICS_STATISTICS_H

#include <stdint.h>

/** A mean with its confidence interval. */
struct kvc_interval {
    double mean;       /**< The mean; NaN without values. */
    double half_width; /**< Half the width of the 95 % interval; NaN with fewer than two values. */
};

/** Returns the 95 % confidence interval of the mean of independent values. */
struct kvc_interval kvc_interval_of(const double *values, uint32_t count);

/** Determines how many leading values of a time series to discard. The values belong to windows of equal
 * length. Returns a multiple of 5, or -1 if the series is too short (below 50 values) or has not settled (the
 * minimum of the statistic lies in its second half). Cuts that leave fewer than 20 values are not considered,
 * because so few values may be close to each other by chance. */
int64_t kvc_mser5(const double *values, uint32_t count);

#endif

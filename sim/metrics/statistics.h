/** @file
 * Output analysis: confidence intervals over replicas and over batches, and detection of the warm-up.
 *
 * The confidence interval is Student's t interval (Law, Simulation Modeling and Analysis, 5th ed., sec. 4.5),
 * over replicas or over the batches of one run (ibid., sec. 9.5.3).
 * The warm-up is detected with MSER-5 (White, "An effective truncation heuristic for bias reduction in
 * simulation output", Simulation 69(6), 1997). */
#ifndef KVC_SIM_METRICS_STATISTICS_H
#define KVC_SIM_METRICS_STATISTICS_H

#include <stdint.h>

enum { KVC_BATCHES_MIN = 5 /**< Values of a series that an interval needs at least. */ };

/** A mean with its confidence interval. */
struct kvc_interval {
    double mean;       /**< The mean; NaN without values. */
    double half_width; /**< Half the width of the 95 % interval; NaN with fewer than two values. */
};

/** Returns the 95 % confidence interval of the mean of independent values. */
struct kvc_interval kvc_interval_of(const double *values, uint32_t count);

/** Returns the mean of a stationary series, such as the means of a run's batches, and its 95 % confidence
 * interval. Neighbouring values may be correlated. While the lag-1 correlation is significant (10 %), pairs
 * of neighbours are joined, unless fewer than KVC_BATCHES_MIN values would be left. A positive correlation
 * that remains widens the interval by sqrt((1 + r) / (1 - r)), as for a first-order autoregression (Tafazzoli
 * and Wilson, "Skart: a skewness- and autoregression-adjusted batch-means procedure", IIE Transactions 43(2),
 * 2011). The half width is NaN if it is still significant, if there are fewer than KVC_BATCHES_MIN values, or
 * if one of them is NaN. Intervals over 40 values cover the mean in 95 % of the cases without correlation, in
 * 93 % with 0.4 and in 91 % with 0.6. */
struct kvc_interval kvc_interval_of_batches(const double *values, uint32_t count);

/** Returns a value rounded to this number of digits. Sums whose order differs between processes, such as
 * SimGrid's, are equal only after rounding. */
double kvc_rounded(double value, int digits);

/** Determines how many leading values of a time series to discard. The values belong to windows of equal
 * length. Returns a multiple of 5, or -1 if the series is too short (below 50 values) or has not settled (the
 * minimum of the statistic lies in its second half). Cuts that leave fewer than 20 values are not considered,
 * because so few values may be close to each other by chance. */
int64_t kvc_mser5(const double *values, uint32_t count);

#endif

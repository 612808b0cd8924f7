#include "sim/metrics/statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

enum {
    BATCH = 5,
    KEPT_MIN = 4, /* Least number of batches; with fewer, the statistic may be near 0 by chance. */
    BATCHES_MIN = 2 * KEPT_MIN +
                  2, /* With fewer values, no allowed cut lies in the second half, and a trend would pass. */
};

struct kvc_interval kvc_interval_of(const double *values, uint32_t count)
{
    if (count == 0) {
        return (struct kvc_interval){NAN, NAN};
    }
    double mean = gsl_stats_mean(values, 1, count);
    if (count == 1) {
        return (struct kvc_interval){mean, NAN};
    }
    double error = gsl_stats_sd_m(values, 1, count, mean) / sqrt(count);
    if (error < 1e-14 * fabs(mean)) { /* The values differ by rounding only. */
        error = 0;
    }
    return (struct kvc_interval){mean, gsl_cdf_tdist_Pinv(0.975, count - 1) * error};
}

/* Returns the lag-1 autocorrelation, corrected for the bias of short series; 0 if the values are equal. */
static double neighbour_correlation(const double *values, uint32_t count, double mean)
{
    double products = 0, squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        double deviation = values[i] - mean;
        squares += deviation * deviation;
        products += i > 0 ? deviation * (values[i - 1] - mean) : 0;
    }
    return squares > 0 ? products / squares + 1.0 / count : 0;
}

struct kvc_interval kvc_interval_of_batches(const double *values, uint32_t count)
{
    static const double SIGNIFICANT = 1.645; /* Quantile of the normal distribution for 5 % on either side. */
    struct kvc_interval interval = {count > 0 ? gsl_stats_mean(values, 1, count) : NAN, NAN};
    if (count < KVC_BATCHES_MIN || isnan(interval.mean)) {
        return interval;
    }
    double *joined = kvc_array_of(count, sizeof(*joined));
    memcpy(joined, values, count * sizeof(*joined));
    for (;; count /= 2) {
        double mean = gsl_stats_mean(joined, 1, count), r = neighbour_correlation(joined, count, mean);
        double limit = SIGNIFICANT * sqrt((count - 2.0) / ((double)count * count - 1));
        if (fabs(r) > limit && count / 2 >= KVC_BATCHES_MIN) {
            for (uint32_t i = 0; i < count / 2; i++) {
                joined[i] = (joined[2 * i] + joined[2 * i + 1]) / 2;
            }
            continue;
        }
        if (r <= limit) { /* A negative correlation only makes the interval wider than necessary. */
            r = fmax(r, 0);
            interval.half_width = kvc_interval_of(joined, count).half_width * sqrt((1 + r) / (1 - r));
        }
        break;
    }
    free(joined);
    return interval;
}

double kvc_rounded(double value, int digits)
{
    if (value == 0 || !isfinite(value)) {
        return value;
    }
    /* Powers of ten are exact, a product or quotient of two exact numbers is the one closest to the decimal
     * number. So values that round to the same decimal number are equal, on either side of a power of ten. */
    double places = digits - 1 - floor(log10(fabs(value)));
    if (places < 0) {
        return round(value / pow(10, -places)) * pow(10, -places);
    }
    return round(value * pow(10, places)) / pow(10, places);
}

static double batch_mean(const double *values, uint32_t batch)
{
    return gsl_stats_mean(values + (uint64_t)batch * BATCH, 1, BATCH);
}

/* Goes from the last batch backwards and updates the mean and the squared deviations of the kept batches
 * (Welford). They give the squared standard error that MSER minimizes. */
int64_t kvc_mser5(const double *values, uint32_t count)
{
    uint32_t batches = count / BATCH, best = 0;
    double mean = 0, squares = 0, least = INFINITY;
    if (batches < BATCHES_MIN) {
        return -1;
    }
    for (uint32_t first = batches; first-- > 0;) {
        double value = batch_mean(values, first), kept = batches - first, delta = value - mean;
        mean += delta / kept;
        squares += delta * (value - mean);
        if (kept < KEPT_MIN) {
            continue;
        }
        double statistic = squares / (kept * kept);
        if (statistic <= least) {
            least = statistic;
            best = first;
        }
    }
    return best > batches / 2 ? -1 : (int64_t)best * BATCH;
}

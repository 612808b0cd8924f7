#include "sim/metrics/statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

enum {
    BATCH = 5,
    KEPT_MIN = 4, /* Batches; with fewer, the statistic may be near 0 by chance. */
    BATCHES_MIN =
        2 * KEPT_MIN + 2, /* With fewer, no allowed cut lies in the second half, and a trend would pass. */
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
    return (struct kvc_interval){mean, gsl_cdf_tdist_Pinv(0.975, count - 1) * error};
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

#include "sim/probes/quiet.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>

#include "sim/base/array.h"
#include "sim/metrics/statistics.h"

const double kvc_quiet_window_ns = 10e6;
const double kvc_quiet_stalled_frac = 0.01;
/* Least speed in a quiet window, relative to the fast speed. */
static const double speed_least_frac = 0.9;

static const double fast_quantile = 0.9;

enum { VALUES_MIN = 3 };

double kvc_core_window_stalled_ns(const struct kvc_core_window *window)
{
    return fmax(window->lost_ns, window->gaps_ns);
}

/* Returns the 90th percentile of the positive values, or 0 if there are none. */
static double fast_of(const double *values, uint32_t count)
{
    double *kept = kvc_array_of(count + 1, sizeof(*kept));
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (values[i] > 0) {
            kept[known++] = values[i];
        }
    }
    gsl_sort(kept, 1, known);
    double fast = known > 0 ? kept[(uint32_t)(fast_quantile * (known - 1))] : 0;
    free(kept);
    return fast;
}

double kvc_quiet_fast_speed(const struct kvc_core_window *core, uint32_t windows)
{
    double *speed = kvc_array_of(windows + 1, sizeof(*speed));
    for (uint32_t i = 0; i < windows; i++) {
        speed[i] = core[i].speed;
    }
    double fast = fast_of(speed, windows);
    free(speed);
    return fast;
}

/* Sets speed[i] to the mean speed of the cores in window i, relative to the fast speed of each; 0 if no speed
 * was measured in it. */
static void find_mean_speeds(const struct kvc_core_window *const *cores, uint32_t count, uint32_t windows,
                             double *speed)
{
    uint32_t *known = kvc_array_of(windows + 1, sizeof(*known));
    for (uint32_t core = 0; core < count; core++) {
        double fast = kvc_quiet_fast_speed(cores[core], windows);
        for (uint32_t i = 0; i < windows; i++) {
            if (cores[core][i].speed > 0) {
                speed[i] += cores[core][i].speed / fast;
                known[i]++;
            }
        }
    }
    for (uint32_t i = 0; i < windows; i++) {
        speed[i] = known[i] > 0 ? speed[i] / known[i] : 0;
    }
    free(known);
}

void kvc_quiet_find(const struct kvc_core_window *const *cores, uint32_t count, uint32_t windows, bool *quiet)
{
    double *speed = kvc_array_of(windows + 1, sizeof(*speed));
    find_mean_speeds(cores, count, windows, speed);
    double least = speed_least_frac * fast_of(speed, windows);
    for (uint32_t i = 0; i < windows; i++) {
        quiet[i] = speed[i] == 0 || speed[i] >= least;
        for (uint32_t core = 0; core < count; core++) {
            quiet[i] = quiet[i] && kvc_core_window_stalled_ns(&cores[core][i]) <=
                                       kvc_quiet_stalled_frac * kvc_quiet_window_ns;
        }
    }
    free(speed);
}

void kvc_quiet_drop_recovery(const struct kvc_quiet_flow *flow, uint32_t windows, double from_ns,
                             bool open_loop, bool *quiet)
{
    bool recovering = false, caught_up = false;
    double since_ns = from_ns;
    for (uint32_t i = 0; i < windows; i++) {
        double end_ns = from_ns + (i + 1) * kvc_quiet_window_ns;
        if (!quiet[i]) {
            recovering = true;
            caught_up = !open_loop;
            since_ns = end_ns;
        } else if (recovering && !caught_up) {
            quiet[i] = false;
            caught_up = flow[i].caught_up;
            since_ns = end_ns;
        } else if (recovering) {
            quiet[i] = flow[i].oldest_sent_ns >= since_ns;
            recovering = !quiet[i];
        }
    }
}

uint32_t kvc_quiet_count(const bool *quiet, uint32_t windows)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < windows; i++) {
        count += quiet[i];
    }
    return count;
}

uint32_t kvc_quiet_batch(uint32_t order, uint32_t count)
{
    uint32_t batches = count < KVC_QUIET_BATCHES ? count : KVC_QUIET_BATCHES;
    return (uint32_t)((uint64_t)order * batches / count);
}

double kvc_quiet_half_width(const double *values, uint32_t count)
{
    double *known = kvc_array_of(count + 1, sizeof(*known));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!isnan(values[i])) {
            known[kept++] = values[i];
        }
    }
    double half_width = kept < VALUES_MIN ? NAN : kvc_interval_of(known, kept).half_width;
    free(known);
    return half_width;
}

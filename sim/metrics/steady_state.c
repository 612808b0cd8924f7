#include "sim/metrics/steady_state.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/metrics/statistics.h"

enum { PARTS = 10 /* Parts of a time that is examined. */, BATCH = 5 };

static const double too_small_frac = 0.001;
static const double errors_least = 4;
static const double waiting_errors_least = 2; /* A false alarm costs a few windows only. */

const char *const kvc_series_names[KVC_SERIES] = {"throughput", "hit ratio", "backlog", "mean latency",
                                                  "lead of the clients"};
const char *const kvc_series_units[KVC_SERIES] = {"requests a window", "of the GETs", "requests", "us",
                                                  "requests"};

/* By series: the change that matters, as a part of the mean; of the hit ratio, it is absolute. Throughput
 * shows what a change of the lead does. */
static const double matters[KVC_SERIES] = {0.01, 0.005, 0.1, 0.05, INFINITY};

/* Sets value[i] for the windows 0 to count - 1. */
static void find_series(const struct kvc_window *windows, uint32_t count, enum kvc_series series,
                        double *value)
{
    double before = 0, backlog = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct kvc_window *window = &windows[i];
        backlog += (double)window->offered - (double)window->dropped - (double)window->completed;
        switch (series) {
        case KVC_SERIES_THROUGHPUT:
            before = (double)window->completed;
            break;
        case KVC_SERIES_HIT_RATIO:
            before = window->gets > 0 ? (double)window->hits / (double)window->gets : before;
            break;
        case KVC_SERIES_BACKLOG:
            before = backlog;
            break;
        case KVC_SERIES_LEAD:
            before = window->lead;
            break;
        case KVC_SERIES_LATENCY:
        case KVC_SERIES:
            before = window->completed > 0 ? window->latency_ns / (double)window->completed / 1e3 : before;
            break;
        }
        value[i] = before;
    }
}

/* Returns whether the means of five windows in the second half hardly differ. */
static bool is_flat(const double *value, uint32_t count)
{
    double least = INFINITY, most = -INFINITY;
    for (uint32_t i = count / 2; i + BATCH <= count; i += BATCH) {
        double mean = gsl_stats_mean(value + i, 1, BATCH);
        least = fmin(least, mean);
        most = fmax(most, mean);
    }
    return most - least <= too_small_frac * fabs(gsl_stats_mean(value + count / 2, 1, count - count / 2));
}

/* Returns by which part of `whole` something grows throughout PARTS equal times, by `growth` in each; 0 if
 * that is too small to matter or less than so many standard errors. */
static double growth_frac(const double growth[PARTS], double whole, double errors)
{
    double mean = gsl_stats_mean(growth, 1, PARTS), error = gsl_stats_sd(growth, 1, PARTS) / sqrt(PARTS);
    double frac = whole > 0 ? PARTS * mean / whole : 0;
    return frac > matters[KVC_SERIES_THROUGHPUT] && mean > error * errors ? frac : 0;
}

/* Returns whether the lead of the clients grows in the second half. */
static bool lead_grows(const struct kvc_window *windows, uint32_t count)
{
    double growth[PARTS] = {0}, completed = 0;
    uint32_t half = count / 2;
    for (uint32_t i = 0; i < half; i++) {
        const struct kvc_window *window = &windows[count - half + i];
        growth[(uint64_t)i * PARTS / half] += window->lead - window[-1].lead;
        completed += (double)window->completed;
    }
    return growth_frac(growth, completed, waiting_errors_least) > 0;
}

/* Sets the means of PARTS equal times. */
static void find_parts(const double *value, uint32_t count, double part[PARTS])
{
    for (uint32_t i = 0; i < PARTS; i++) {
        uint32_t from = (uint32_t)((uint64_t)i * count / PARTS);
        uint32_t to = (uint32_t)((uint64_t)(i + 1) * count / PARTS);
        part[i] = gsl_stats_mean(value + from, 1, to - from);
    }
}

/* Returns the change of a series that matters. */
static double change_that_matters(enum kvc_series series, double level)
{
    return matters[series] * (series == KVC_SERIES_HIT_RATIO ? 1 : fabs(level));
}

/* Returns whether a line through the means of PARTS equal times changes by more than chance and by enough to
 * matter. Unlike the scatter within two halves, the scatter around the line does not contain the trend. */
static bool has_trend(const double *value, uint32_t count, enum kvc_series series)
{
    static const double at[PARTS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    double part[PARTS], start, slope, ignored, squared_error;
    find_parts(value, count, part);
    int error =
        gsl_fit_linear(at, 1, part, 1, PARTS, &start, &slope, &ignored, &ignored, &squared_error, &ignored);
    if (error != GSL_SUCCESS) {
        kvc_give_up("no line fits the throughput over time: %s", gsl_strerror(error));
    }
    return fabs(slope) > waiting_errors_least * sqrt(squared_error) &&
           fabs(slope) * PARTS > change_that_matters(series, gsl_stats_mean(part, 1, PARTS));
}

/* Returns whether a series has a steady end. `value` is scratch. */
static bool is_settled(const struct kvc_window *windows, uint32_t count, enum kvc_series series,
                       double *value)
{
    find_series(windows, count, series, value);
    int64_t cut = kvc_mser5(value, count);
    return is_flat(value, count) || (cut >= 0 && !has_trend(value + cut, count - (uint32_t)cut, series));
}

enum kvc_series kvc_windows_unsteady(const struct kvc_window *windows, uint32_t count)
{
    double *value = kvc_array_of(count + 1, sizeof(*value));
    int series = 0;
    for (; series < KVC_SERIES; series++) {
        bool steady = series == KVC_SERIES_LEAD ? !lead_grows(windows, count)
                                                : is_settled(windows, count, (enum kvc_series)series, value);
        if (!steady) {
            break;
        }
    }
    free(value);
    return (enum kvc_series)series;
}

double kvc_windows_overload_frac(const struct kvc_window *windows, uint32_t count)
{
    double growth[PARTS] = {0}, kept = 0;
    uint32_t half = count / 2;
    for (uint32_t i = 0; i < half; i++) {
        const struct kvc_window *window = &windows[count - half + i];
        double left = (double)window->offered - (double)window->dropped;
        growth[(uint64_t)i * PARTS / half] += left - (double)window->completed;
        kept += left;
    }
    return growth_frac(growth, kept, errors_least);
}

/* Returns the mean of a half and adds its squared standard error. */
static double mean_of_half(const double *value, uint32_t count, double *squared_error)
{
    double part[PARTS];
    find_parts(value, count, part);
    *squared_error += gsl_stats_variance(part, 1, PARTS) / PARTS;
    return gsl_stats_mean(value, 1, count);
}

struct kvc_drift kvc_windows_drift(const struct kvc_window *windows, uint32_t first, uint32_t count,
                                   enum kvc_series series)
{
    struct kvc_drift drift = {NAN, NAN, false};
    uint32_t half = count / 2;
    double squared_error = 0;
    if (half < PARTS) {
        return drift;
    }
    double *value = kvc_array_of(first + count, sizeof(*value));
    find_series(windows, first + count, series, value);
    drift.first = mean_of_half(value + first, half, &squared_error);
    drift.second = mean_of_half(value + first + count - half, half, &squared_error);
    free(value);
    double change = fabs(drift.second - drift.first);
    double level = fmax(fabs(drift.first), fabs(drift.second));
    drift.significant =
        change > errors_least * sqrt(squared_error) && change > change_that_matters(series, level);
    return drift;
}

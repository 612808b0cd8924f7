#include "sim/metrics/recorder.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/metrics/statistics.h"

enum { PARTS = 10 /* Parts of a time that is examined. */, PARTS_LEAST = 3 };

static const double errors_least = 4;
static const double waiting_errors_least = 2; /* A false alarm costs a few windows only. */

const char *const kvc_series_names[KVC_SERIES] = {"throughput", "hit ratio", "backlog", "mean latency",
                                                  "lead of the clients"};
static const char *const series_units[KVC_SERIES] = {"requests a window", "of the GETs", "requests", "us",
                                                     "requests"};

/* For each series, the change that matters, as a fraction of the mean; for the hit ratio, it is absolute. A
 * change of the lead shows in the throughput. */
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

/* Returns how many standard errors, with this degree of freedom, are as unlikely by chance as `errors` of the
 * mean of PARTS parts. */
static double errors_with(double errors, double freedom)
{
    return gsl_cdf_tdist_Qinv(gsl_cdf_tdist_Q(errors, PARTS - 1), freedom);
}

/* Returns the share of `whole` by which a quantity grows in `parts` equal times, where growth[i] is its
 * growth in time i. Returns 0 if that is too small to matter or less than `errors` standard errors of PARTS
 * parts. */
static double growth_frac(const double *growth, uint32_t parts, double whole, double errors)
{
    double mean = gsl_stats_mean(growth, 1, parts), error = gsl_stats_sd(growth, 1, parts) / sqrt(parts);
    double frac = whole > 0 ? parts * mean / whole : 0;
    if (parts < PARTS) {
        errors = errors_with(errors, parts - 1);
    }
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
    return growth_frac(growth, PARTS, completed, waiting_errors_least) > 0;
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

/* Returns the slope of the line through some points and sets its standard error. Unlike the scatter within
 * two halves, the scatter around the line does not contain the trend. */
static double fit_slope(const double *at, const double *value, size_t points, double *standard_error)
{
    double start, slope, ignored, squared_error;
    int error =
        gsl_fit_linear(at, 1, value, 1, points, &start, &slope, &ignored, &ignored, &squared_error, &ignored);
    if (error != GSL_SUCCESS) {
        kvc_give_up("no line fits a series over time: %s", gsl_strerror(error));
    }
    *standard_error = sqrt(squared_error);
    return slope;
}

/* Returns whether a line through the means of PARTS equal times changes by more than chance and by enough to
 * matter. */
static bool has_trend(const double *value, uint32_t count, enum kvc_series series)
{
    static const double at[PARTS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    double part[PARTS], standard_error;
    find_parts(value, count, part);
    double slope = fit_slope(at, part, PARTS, &standard_error);
    return fabs(slope) > waiting_errors_least * standard_error &&
           fabs(slope) * PARTS > change_that_matters(series, gsl_stats_mean(part, 1, PARTS));
}

/* Returns whether the last of PARTS equal times has answers. A store that answers nothing for a while, such
 * as a full one that passes all its items once, is not steady, although its throughput has no trend. */
static bool ends_with_answers(const double *completed, uint32_t count)
{
    double part[PARTS];
    find_parts(completed, count, part);
    return part[PARTS - 1] > 0;
}

/* Returns whether a series has a steady end, and raises *from to the window with which that begins. `value`
 * is scratch. */
static bool is_settled(const struct kvc_window *windows, uint32_t count, enum kvc_series series,
                       double *value, uint32_t *from)
{
    find_series(windows, count, series, value);
    int64_t cut = kvc_mser5(value, count);
    uint32_t begin = cut >= 0 ? (uint32_t)cut : count / 2;
    *from = begin > *from ? begin : *from;
    return !has_trend(value + begin, count - begin, series) &&
           (series != KVC_SERIES_THROUGHPUT || ends_with_answers(value + begin, count - begin));
}

enum kvc_series kvc_windows_unsteady(const struct kvc_window *windows, uint32_t count, uint32_t *from)
{
    double *value = kvc_array_of(count + 1, sizeof(*value));
    int series = 0;
    *from = 0;
    for (; series < KVC_SERIES; series++) {
        bool steady = series == KVC_SERIES_LEAD
                          ? !lead_grows(windows, count)
                          : is_settled(windows, count, (enum kvc_series)series, value, from);
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
    uint32_t half = count / 2, parts = half < PARTS ? half : PARTS;
    for (uint32_t i = 0; i < half; i++) {
        const struct kvc_window *window = &windows[count - half + i];
        double left = (double)window->offered - (double)window->dropped;
        growth[(uint64_t)i * parts / half] += left - (double)window->completed;
        kept += left;
    }
    return parts >= PARTS_LEAST ? growth_frac(growth, parts, kept, errors_least) : NAN;
}

/* Returns the share of the requests that stays behind by the latencies of the second half: where each request
 * waits for the backlog before it, the latency grows by this share of the time that passes. Answers that come
 * in bursts hide the growth of a backlog from counts, but not from latencies. Returns 0 as growth_frac()
 * does. */
static double latency_growth_frac(const struct kvc_window *windows, uint32_t count, double window_ns)
{
    double at_ns[PARTS], mean_ns[PARTS], latency_ns[PARTS] = {0}, completed[PARTS] = {0};
    double standard_error;
    uint32_t half = count / 2, parts = half < PARTS ? half : PARTS;
    size_t points = 0;
    for (uint32_t i = 0; i < half; i++) {
        const struct kvc_window *window = &windows[count - half + i];
        latency_ns[(uint64_t)i * parts / half] += window->latency_ns;
        completed[(uint64_t)i * parts / half] += (double)window->completed;
    }
    for (uint32_t i = 0; i < parts; i++) {
        if (completed[i] > 0) {
            at_ns[points] = (i + 0.5) * half / parts * window_ns;
            mean_ns[points++] = latency_ns[i] / completed[i];
        }
    }
    if (points <= PARTS_LEAST) {
        return 0;
    }
    double slope = fit_slope(at_ns, mean_ns, points, &standard_error);
    double errors = errors_with(errors_least, (double)points - 2);
    return slope > matters[KVC_SERIES_THROUGHPUT] && slope > errors * standard_error ? slope : 0;
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

enum {
    WINDOWS_OVERLOADED =
        200, /* From this window on, the recorder does not wait for a store with more load than it serves. */
    WINDOWS_LAST_LOOK = 2000, /* From this window on, the run is measured without a steady state. */
    WINDOWS_BETWEEN_LOOKS = 10,
    WINDOW_ROOM = 1024, /* Windows for which there is memory at first. */
};

void kvc_recorder_open(struct kvc_recorder *recorder, double window_ns, double warmup_ns, double duration_ns)
{
    memset(recorder, 0, sizeof(*recorder));
    recorder->window_ns = window_ns;
    recorder->duration_ns = duration_ns;
    recorder->detect = warmup_ns < 0;
    recorder->warmup_most_ns = 0;
    recorder->unsteady = KVC_SERIES;
    recorder->from_ns = recorder->detect ? INFINITY : warmup_ns;
    recorder->until_ns = recorder->from_ns + duration_ns;
    recorder->window_room = WINDOW_ROOM;
    recorder->window = kvc_array_of(recorder->window_room, sizeof(*recorder->window));
    kvc_batches_open(&recorder->batches, window_ns);
}

/* The room for windows doubles, and all of it is cleared. The report makes a series of their values. */
double kvc_recorder_memory_bytes(double window_ns, double warmup_ns, double duration_ns,
                                 double latency_octaves)
{
    double warmup_windows = warmup_ns < 0 ? KVC_RECORDER_WINDOWS_FIRST : ceil(warmup_ns / window_ns);
    double windows = warmup_windows + ceil(duration_ns / window_ns);
    double room = WINDOW_ROOM * exp2(ceil(fmax(log2(windows / WINDOW_ROOM), 0)));
    return room * sizeof(struct kvc_window) + windows * sizeof(double) +
           kvc_batches_memory_bytes(window_ns, duration_ns, latency_octaves);
}

void kvc_recorder_close(struct kvc_recorder *recorder)
{
    free(recorder->window);
    free(recorder->tenant);
    kvc_multigets_free(recorder->multigets);
    kvc_batches_close(&recorder->batches);
}

static struct kvc_window *window_at(struct kvc_recorder *recorder, double time_ns)
{
    uint32_t window = (uint32_t)(fmax(time_ns, 0) / recorder->window_ns);
    if (window >= recorder->window_room) {
        uint32_t room = recorder->window_room;
        while (window >= room) {
            room *= 2;
        }
        recorder->window = kvc_array_grown(recorder->window, room, sizeof(*recorder->window));
        memset(recorder->window + recorder->window_room, 0,
               (room - recorder->window_room) * sizeof(*recorder->window));
        recorder->window_room = room;
    }
    if (window >= recorder->windows) {
        recorder->windows = window + 1;
    }
    return &recorder->window[window];
}

/* Returns the first index whose time is at least the bound. Times ascend. */
static uint32_t lower_bound(const double *time_ns, uint32_t count, double bound_ns)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (time_ns[middle] < bound_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Returns the window of row `first`, and in *end the first row of a later window. */
static struct kvc_window *window_rows(struct kvc_recorder *recorder, const double *done_ns, uint32_t first,
                                      uint32_t count, uint32_t *end)
{
    struct kvc_window *window = window_at(recorder, done_ns[first]);
    double end_ns = (double)(window - recorder->window + 1) * recorder->window_ns;
    *end = first + lower_bound(done_ns + first, count - first, end_ns);
    if (*end == first) { /* Rounding placed the row on the edge. */
        *end = first + 1;
    }
    return window;
}

/* Adds in four independent sums, so that the additions overlap. */
double kvc_recorder_sum(const double *sent_ns, const double *done_ns, uint32_t count, double *done_sum_ns)
{
    double latency[4] = {0}, done[4] = {0};
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (int lane = 0; lane < 4; lane++) {
            latency[lane] += done_ns[i + lane] - sent_ns[i + lane];
            done[lane] += done_ns[i + lane];
        }
    }
    for (; i < count; i++) {
        latency[0] += done_ns[i] - sent_ns[i];
        done[0] += done_ns[i];
    }
    *done_sum_ns += (done[0] + done[1]) + (done[2] + done[3]);
    return (latency[0] + latency[1]) + (latency[2] + latency[3]);
}

/* Notes how far completions lie in the future and in the past when they are recorded. */
static void note_reach(struct kvc_recorder *recorder, double now_ns, const double *done_ns, uint32_t count)
{
    recorder->longest_span_ns = fmax(recorder->longest_span_ns, done_ns[count - 1] - now_ns);
    recorder->longest_lag_ns = fmax(recorder->longest_lag_ns, now_ns - done_ns[0]);
}

/* Returns the span of a moment, or NULL if none is counted then. The number of spans follows from the
 * measured time, so they are opened with the first moment in it. */
static struct kvc_span *span_at(struct kvc_recorder *recorder, double time_ns)
{
    double length_ns = recorder->judged.length_ns;
    if (!(length_ns > 0) || !kvc_recorder_measures(recorder, time_ns)) {
        return NULL;
    }
    if (recorder->spans.count == 0) {
        kvc_spans_open(&recorder->spans, length_ns * 1e-3, recorder->duration_ns * 1e-3);
    }
    return kvc_spans_at(&recorder->spans, (time_ns - recorder->from_ns) * 1e-3);
}

static void judge_latencies(struct kvc_recorder *recorder, const double *sent_ns, const double *done_ns,
                            uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_span *span = span_at(recorder, sent_ns[i]);
        for (int limit = 0; limit < KVC_SPAN_LIMITS && span != NULL; limit++) {
            span->over[limit] += done_ns[i] - sent_ns[i] > recorder->judged.limit_ns[limit];
        }
        if (span != NULL) {
            span->timed++;
        }
    }
}

static void judge_completions(struct kvc_recorder *recorder, const double *sent_ns, const double *done_ns,
                              uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_span *sent = span_at(recorder, sent_ns[i]), *done = span_at(recorder, done_ns[i]);
        if (sent != NULL) {
            sent->answered++;
        }
        if (done != NULL) {
            done->completed++;
        }
    }
}

/* Returns the multigets, which know the measured time. */
static struct kvc_multigets *multigets_of(const struct kvc_recorder *recorder)
{
    recorder->multigets->from_ns = recorder->from_ns;
    recorder->multigets->until_ns = recorder->until_ns;
    return recorder->multigets;
}

double kvc_recorder_latencies(struct kvc_recorder *recorder, double now_ns, const double *sent_ns,
                              const double *done_ns, uint32_t count)
{
    double total_ns = 0, done_ns_sum = 0;
    if (count == 0) {
        return 0;
    }
    for (uint32_t i = 0, end; i < count; i = end) {
        struct kvc_window *window = window_rows(recorder, done_ns, i, count, &end);
        double sum_ns = kvc_recorder_sum(sent_ns + i, done_ns + i, end - i, &done_ns_sum);
        window->timed += end - i;
        window->latency_ns += sum_ns;
        total_ns += sum_ns;
    }
    uint32_t first = lower_bound(done_ns, count, recorder->from_ns);
    uint32_t last = lower_bound(done_ns, count, recorder->until_ns);
    kvc_batches_latencies(&recorder->batches, recorder->from_ns, sent_ns + first, done_ns + first,
                          last - first);
    if (recorder->judged.length_ns > 0) {
        judge_latencies(recorder, sent_ns, done_ns, count);
    }
    if (recorder->multigets != NULL) {
        kvc_multigets_answered(multigets_of(recorder), sent_ns, done_ns, count);
    }
    note_reach(recorder, now_ns, done_ns, count);
    return total_ns;
}

void kvc_recorder_paths(struct kvc_recorder *recorder, const double *sent_ns, const double *done_ns,
                        uint32_t count, const double *mark_ns, uint32_t marks, uint32_t stride)
{
    uint32_t first = lower_bound(done_ns, count, recorder->from_ns);
    uint32_t last = lower_bound(done_ns, count, recorder->until_ns);
    kvc_paths_count(&recorder->paths, sent_ns + first, done_ns + first, last - first,
                    mark_ns + (size_t)first * stride, marks, stride);
}

void kvc_recorder_completions(struct kvc_recorder *recorder, double now_ns, const double *sent_ns,
                              const double *done_ns, uint32_t count, uint32_t *first, uint32_t *last)
{
    *first = lower_bound(done_ns, count, recorder->from_ns);
    *last = lower_bound(done_ns, count, recorder->until_ns);
    for (uint32_t i = 0, end; i < count; i = end) {
        struct kvc_window *window = window_rows(recorder, done_ns, i, count, &end);
        window->completed += end - i;
    }
    if (*last > *first) {
        kvc_batches_completions(&recorder->batches, recorder->from_ns, done_ns + *first, *last - *first);
    }
    if (recorder->judged.length_ns > 0) {
        judge_completions(recorder, sent_ns, done_ns, count);
    }
    if (count > 0) {
        note_reach(recorder, now_ns, done_ns, count);
    }
}

void kvc_recorder_open_tenants(struct kvc_recorder *recorder, uint32_t tenants)
{
    recorder->tenants = tenants;
    recorder->tenant = tenants > 0 ? kvc_array_of(tenants, sizeof(*recorder->tenant)) : NULL;
}

void kvc_recorder_tenants(struct kvc_recorder *recorder, const struct kvc_tenant_rows *rows)
{
    if (recorder->tenants == 0) {
        return;
    }
    uint32_t first = lower_bound(rows->done_ns, rows->count, recorder->from_ns);
    uint32_t last = lower_bound(rows->done_ns, rows->count, recorder->until_ns);
    for (uint32_t i = first; i < last; i++) {
        struct kvc_tenant_record *tenant = &recorder->tenant[rows->tenant[i]];
        bool hit = rows->outcome[i] == rows->hit,
             get = hit || rows->outcome[i] == rows->miss || rows->outcome[i] == rows->other_miss;
        tenant->completed++;
        tenant->gets += get;
        tenant->hits += hit;
        if (get || rows->times_all) {
            kvc_histogram_record(&tenant->latency, rows->sent_ns + i, rows->done_ns + i, 1);
        }
    }
}

/* Requests that were sent in one window, and on the same side of the edges of the measured time. */
struct sent_together {
    uint32_t count;
    struct kvc_window *window;
    struct kvc_batch_counts *batch; /* NULL outside of the measured time. */
    struct kvc_span *span;          /* NULL if none is counted. */
};

/* Returns the requests that belong together from the first on. */
static struct sent_together sent_together(struct kvc_recorder *recorder, const double *sent_ns,
                                          uint32_t count)
{
    double window = floor(sent_ns[0] / recorder->window_ns);
    double low_ns = window * recorder->window_ns, high_ns = low_ns + recorder->window_ns;
    bool measured = kvc_recorder_measures(recorder, sent_ns[0]);
    struct sent_together sent = {
        .count = 1, .window = window_at(recorder, sent_ns[0]), .span = span_at(recorder, sent_ns[0])};
    while (sent.count < count && sent_ns[sent.count] >= low_ns && sent_ns[sent.count] < high_ns &&
           kvc_recorder_measures(recorder, sent_ns[sent.count]) == measured &&
           (sent.span == NULL || span_at(recorder, sent_ns[sent.count]) == sent.span)) {
        sent.count++;
    }
    if (measured) {
        sent.batch = kvc_batches_at(&recorder->batches, sent_ns[0] - recorder->from_ns);
    }
    return sent;
}

void kvc_recorder_offered(struct kvc_recorder *recorder, const double *sent_ns, uint32_t count)
{
    struct sent_together sent;
    recorder->offered_in_all += count;
    for (uint32_t i = 0; i < count; i += sent.count) {
        sent = sent_together(recorder, sent_ns + i, count - i);
        sent.window->offered += sent.count;
        if (sent.batch != NULL) {
            sent.batch->offered += sent.count;
            recorder->offered += sent.count;
        }
        if (sent.span != NULL) {
            sent.span->offered += sent.count;
        }
    }
}

void kvc_recorder_dropped(struct kvc_recorder *recorder, const double *sent_ns, uint32_t count)
{
    struct sent_together sent;
    if (recorder->multigets != NULL) {
        kvc_multigets_dropped(multigets_of(recorder), sent_ns, count);
    }
    for (uint32_t i = 0; i < count; i += sent.count) {
        sent = sent_together(recorder, sent_ns + i, count - i);
        sent.window->dropped += sent.count;
        if (sent.batch != NULL) {
            sent.batch->dropped += sent.count;
            recorder->dropped += sent.count;
        }
        if (sent.span != NULL) {
            sent.span->dropped += sent.count;
        }
    }
}

void kvc_recorder_lookups(struct kvc_recorder *recorder, double done_ns, uint64_t gets, uint64_t hits)
{
    struct kvc_window *window = window_at(recorder, done_ns);
    window->gets += gets;
    window->hits += hits;
    if (kvc_recorder_measures(recorder, done_ns)) {
        struct kvc_batch_counts *batch = kvc_batches_at(&recorder->batches, done_ns - recorder->from_ns);
        batch->gets += gets;
        batch->hits += hits;
    }
    struct kvc_span *span = span_at(recorder, done_ns);
    if (span != NULL) {
        span->gets += gets;
        span->hits += hits;
    }
}

void kvc_recorder_lead(struct kvc_recorder *recorder, double now_ns, double lead)
{
    window_at(recorder, now_ns - recorder->window_ns / 2)->lead = lead;
}

void kvc_recorder_busy(struct kvc_recorder *recorder, uint32_t stage, double start_ns, double end_ns)
{
    double first_ns = fmax(start_ns, recorder->from_ns), last_ns = fmin(end_ns, recorder->until_ns);
    if (last_ns > first_ns) {
        recorder->busy_ns[stage] += last_ns - first_ns;
        kvc_batches_busy(&recorder->batches, stage, first_ns - recorder->from_ns,
                         last_ns - recorder->from_ns);
    }
}

void kvc_recorder_worked(struct kvc_recorder *recorder, uint32_t stage, double now_ns, double busy_ns)
{
    if (now_ns > recorder->from_ns && now_ns <= recorder->until_ns) {
        double offset_ns = nextafter(now_ns - recorder->from_ns, 0);
        recorder->busy_ns[stage] += busy_ns;
        kvc_batches_at(&recorder->batches, offset_ns)->busy_ns[stage] += busy_ns;
    }
}

/* Returns the batch of the window that ends at now_ns, or NULL if the window was not measured. */
static struct kvc_batch_counts *batch_ending(struct kvc_recorder *recorder, double now_ns)
{
    double middle_ns = now_ns - recorder->window_ns / 2;
    return kvc_recorder_measures(recorder, middle_ns)
               ? kvc_batches_at(&recorder->batches, middle_ns - recorder->from_ns)
               : NULL;
}

void kvc_recorder_joules(struct kvc_recorder *recorder, double now_ns, double joules)
{
    struct kvc_batch_counts *batch = batch_ending(recorder, now_ns);
    if (batch != NULL) {
        batch->joules += joules - recorder->joules;
    }
    recorder->joules = joules;
}

void kvc_recorder_sample_begin(struct kvc_recorder *recorder, double now_ns)
{
    const struct kvc_batch_counts *batch = batch_ending(recorder, now_ns);
    kvc_ratios_begin(&recorder->batches.ratios,
                     batch != NULL ? (int32_t)(batch - recorder->batches.batch) : -1);
}

void kvc_recorder_sample(struct kvc_recorder *recorder, const struct kvc_ratio *ratio, uint32_t ratios)
{
    for (uint32_t i = 0; i < ratios; i++) {
        kvc_ratios_sample(&recorder->batches.ratios, &ratio[i]);
    }
}

/* Starts measuring at the next window that no recorded batch reaches into. */
static void start_measuring(struct kvc_recorder *recorder, double now_ns)
{
    double clear_ns = now_ns + recorder->longest_span_ns;
    recorder->from_ns = (floor(clear_ns / recorder->window_ns) + 1) * recorder->window_ns;
    recorder->until_ns = recorder->from_ns + recorder->duration_ns;
}

bool kvc_recorder_check(struct kvc_recorder *recorder, double now_ns)
{
    double known_ns = fmax(now_ns - recorder->longest_lag_ns, 0);
    uint32_t complete = (uint32_t)(known_ns / recorder->window_ns);
    if (isfinite(recorder->from_ns)) {
        return known_ns >= recorder->until_ns;
    }
    if (complete < KVC_RECORDER_WINDOWS_FIRST || complete % WINDOWS_BETWEEN_LOOKS != 0 ||
        complete > recorder->window_room) {
        return false;
    }
    uint32_t steady_from;
    recorder->unsteady = kvc_windows_unsteady(recorder->window, complete, &steady_from);
    bool grows = recorder->unsteady == KVC_SERIES_BACKLOG || recorder->unsteady == KVC_SERIES_LATENCY;
    if (grows && complete >= WINDOWS_OVERLOADED) {
        recorder->overload_frac = kvc_windows_overload_frac(recorder->window, complete);
    }
    bool waited =
        complete >= WINDOWS_LAST_LOOK || (recorder->warmup_most_ns > 0 && now_ns >= recorder->warmup_most_ns);
    if (recorder->unsteady == KVC_SERIES || waited || recorder->overload_frac > 0) {
        start_measuring(recorder, now_ns);
        recorder->steady_ns =
            recorder->unsteady == KVC_SERIES ? steady_from * recorder->window_ns : recorder->from_ns;
    }
    return false;
}

void kvc_recorder_cut(struct kvc_recorder *recorder, double now_ns)
{
    if (recorder->from_ns > now_ns) {
        recorder->from_ns = now_ns;
    }
    recorder->until_ns = fmin(recorder->until_ns, now_ns);
}

struct kvc_stage_result *kvc_recorder_report_stage(const struct kvc_recorder *recorder, const char *name,
                                                   const char *device, unsigned stages, double servers,
                                                   struct kvc_result *result)
{
    double busy_ns = kvc_sum_of_stages(recorder->busy_ns, stages);
    double measured_ns = recorder->until_ns - recorder->from_ns;
    struct kvc_stage_result *stage =
        kvc_result_add_stage(result, name, device, measured_ns > 0 ? busy_ns / servers / measured_ns : 0);
    stage->busy_s = busy_ns * 1e-9;
    stage->served = result->completed;
    kvc_batches_report_stage(&recorder->batches, name, stages, servers, measured_ns, result);
    return stage;
}

/* Returns the number of windows that lie wholly in the measured time, and the first of them. */
static uint32_t measured_windows(const struct kvc_recorder *recorder, uint32_t *first)
{
    uint32_t last = (uint32_t)floor(recorder->until_ns / recorder->window_ns + 1e-9);
    *first = (uint32_t)ceil(recorder->from_ns / recorder->window_ns - 1e-9);
    last = last < recorder->windows ? last : recorder->windows;
    return last > *first ? last - *first : 0;
}

static void report_windows(const struct kvc_recorder *recorder, struct kvc_result *result)
{
    uint32_t first, count = measured_windows(recorder, &first), last = first + count;
    uint32_t joined = (count + KVC_WINDOWS_MAX - 1) / KVC_WINDOWS_MAX;
    result->window_us = recorder->window_ns * joined / 1e3;
    for (uint32_t i = first; joined > 0 && i + joined <= last; i += joined) {
        uint64_t completions = 0, timed = 0;
        double latency_ns = 0;
        for (uint32_t j = i; j < i + joined; j++) {
            completions += recorder->window[j].completed;
            timed += recorder->window[j].timed;
            latency_ns += recorder->window[j].latency_ns;
        }
        double mops = (double)completions / result->window_us;
        result->window_latency[result->window_count] =
            (float)(timed > 0 ? mops * latency_ns / 1e3 / (double)timed : 0);
        result->window_mops[result->window_count++] = (float)mops;
    }
}

/* A run in which nothing happened has spans, too. */
static void report_spans(struct kvc_recorder *recorder, struct kvc_result *result)
{
    double measured_ns = recorder->until_ns - recorder->from_ns;
    if (measured_ns > 0 && span_at(recorder, recorder->from_ns) != NULL) {
        kvc_spans_end(&recorder->spans, measured_ns * 1e-3);
        result->spans = recorder->spans;
    }
}

/* Adds notes on the series that were not steady when the measured time began, or drifted within it. */
static void note_unsteady(const struct kvc_recorder *recorder, struct kvc_result *result)
{
    uint32_t first, count = measured_windows(recorder, &first);
    if (recorder->overload_frac > 0) {
        kvc_result_note(
            result,
            "more requests are sent than answered: %.3g %% of them stay behind, and the backlog and the "
            "latency grow as long as the run lasts",
            100 * recorder->overload_frac);
        return;
    }
    if (recorder->unsteady != KVC_SERIES) {
        kvc_result_note(
            result,
            "the %s was not steady when measuring began after %.3g ms; the result depends on when "
            "it was measured",
            kvc_series_names[recorder->unsteady], recorder->from_ns * 1e-6);
    }
    for (int series = 0; series < KVC_SERIES && !recorder->changing; series++) {
        struct kvc_drift drift = kvc_windows_drift(recorder->window, first, count, (enum kvc_series)series);
        if (drift.significant) {
            kvc_result_note(result,
                            "the %s drifted while it was measured, from %.4g to %.4g %s (means of the two "
                            "halves): a longer run gives another result",
                            kvc_series_names[series], drift.first, drift.second, series_units[series]);
        }
    }
}

/* Returns NaN if the run is too short to tell. A load or a machine that changes on purpose may grow the
 * backlog for a while and serve it later. */
static double backlog_growth_frac(const struct kvc_recorder *recorder)
{
    uint32_t first, count = measured_windows(recorder, &first);
    if (recorder->changing || recorder->clients_wait) {
        return 0;
    }
    double counted = kvc_windows_overload_frac(recorder->window, first + count);
    double waited = latency_growth_frac(recorder->window, first + count, recorder->window_ns);
    double growth = fmax(recorder->overload_frac, waited);
    return growth > 0 ? fmax(growth, counted) : counted; /* NaN only if nothing is known. */
}

static void report_tenants(const struct kvc_recorder *recorder, struct kvc_result *result)
{
    result->tenant_count = recorder->tenants;
    for (uint32_t i = 0; i < recorder->tenants; i++) {
        const struct kvc_tenant_record *tenant = &recorder->tenant[i];
        const struct kvc_histogram *latency = &tenant->latency;
        result->tenant[i] = (struct kvc_tenant_result){
            .throughput_mops = (double)tenant->completed * 1e-6 / result->simulated_s,
            .hit_frac = tenant->gets > 0 ? (double)tenant->hits / (double)tenant->gets : NAN,
            .latency = {.mean_us = kvc_histogram_mean_ns(latency) * 1e-3,
                        .p50_us = kvc_histogram_percentile_ns(latency, 0.5) * 1e-3,
                        .p95_us = kvc_histogram_percentile_ns(latency, 0.95) * 1e-3,
                        .p99_us = kvc_histogram_percentile_ns(latency, 0.99) * 1e-3,
                        .p999_us = kvc_histogram_percentile_ns(latency, 0.999) * 1e-3}};
    }
}

void kvc_recorder_report(struct kvc_recorder *recorder, struct kvc_result *result)
{
    double measured_ns = recorder->until_ns - recorder->from_ns;
    result->offered = recorder->offered;
    result->dropped = recorder->dropped;
    result->throughput_mops = measured_ns > 0 ? (double)result->completed / measured_ns * 1e3 : 0;
    result->simulated_s = measured_ns * 1e-9;
    result->warmup_s = recorder->from_ns * 1e-9;
    result->steady_s = (recorder->detect ? recorder->steady_ns : recorder->from_ns) * 1e-9;
    kvc_batches_report(&recorder->batches, measured_ns, result);
    result->paths = recorder->paths;
    result->moves = recorder->changing;
    result->has_histogram = true;
    report_windows(recorder, result);
    report_spans(recorder, result);
    report_tenants(recorder, result);
    if (recorder->multigets != NULL) {
        kvc_multigets_report(recorder->multigets, measured_ns, &result->model);
    }
    result->growth_frac = backlog_growth_frac(recorder);
    note_unsteady(recorder, result);
}

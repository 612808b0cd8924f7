#include "models/megakv/real/measurement.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/base/diag.h"
#include "sim/probes/timing.h"
#include "sim/probes/quiet.h"

enum { SETTLING = 3, REPEATED_MAX = 50 /* Repetitions that were not quiet and are made again. */ };

/* Measures a repetition. Returns whether it was quiet: other work took at most 1 % of it, on all threads. */
static bool repeat_once(kvc_megakv_repetition_fn *fn, void *data, int repetition, double *ns)
{
    struct kvc_lost own;
    double started_s = kvc_clock_wall_s(), before_s = kvc_lost_total_s();
    kvc_lost_begin(&own);
    *ns = fn(data, repetition);
    kvc_lost_s(&own); /* Adds the time that this thread lost to the total. */
    double lost_s = kvc_lost_total_s() - before_s;
    bool quiet = lost_s <= kvc_quiet_stalled_frac * (kvc_clock_wall_s() - started_s);
    kvc_lost_note_repetition(quiet);
    return quiet;
}

/* Replaces the times of repetitions that were not quiet by quantiles of the quiet ones, so that only these
 * decide about the median and the quartiles. If none was quiet, all times are kept. */
static void leave_out(const bool quiet[KVC_MEGAKV_REPETITIONS], double ns[KVC_MEGAKV_REPETITIONS])
{
    double kept_ns[KVC_MEGAKV_REPETITIONS];
    int kept = 0, next = 0;
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        if (quiet[i]) {
            kept_ns[kept++] = ns[i];
        }
    }
    gsl_sort(kept_ns, 1, (size_t)kept);
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS && kept > 0; i++) {
        if (!quiet[i]) {
            ns[i] = kept_ns[(2 * next++ + 1) * kept / (2 * (KVC_MEGAKV_REPETITIONS - kept))];
        }
    }
}

static void repeat(kvc_megakv_repetition_fn *fn, void *data, int settling, double ns[KVC_MEGAKV_REPETITIONS])
{
    int left = REPEATED_MAX;
    for (int i = -SETTLING - settling; i < 0; i++) {
        fn(data, -1);
    }
    bool quiet[KVC_MEGAKV_REPETITIONS];
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        do {
            quiet[i] = repeat_once(fn, data, i, &ns[i]);
        } while (!quiet[i] && left-- > 0);
    }
    leave_out(quiet, ns);
}

void kvc_megakv_repeat(struct kvc_megakv_watching *watching, kvc_megakv_repetition_fn *fn, void *data,
                       int settling, double ns[KVC_MEGAKV_REPETITIONS])
{
    struct kvc_steadiness *steadiness = watching->steadiness;
    int64_t *reading = watching->reading;
    int attempts = 0;
    double started_s;
    do {
        started_s = kvc_clock_wall_s();
        reading[0] = kvc_steadiness_read_memory(steadiness, watching->pool);
        repeat(fn, data, settling, ns);
        reading[1] = kvc_steadiness_read_memory(steadiness, watching->pool);
    } while (kvc_steadiness_disturbed(steadiness, reading, kvc_clock_wall_s() - started_s) &&
             ++attempts != watching->attempts);
}

void kvc_megakv_measured_curve_add(struct kvc_megakv_measured_curve *measured,
                                   const struct kvc_megakv_watching *watching,
                                   const struct kvc_megakv_cost_point *where,
                                   double ns[KVC_MEGAKV_REPETITIONS])
{
    const uint32_t repetitions = KVC_MEGAKV_REPETITIONS, i = measured->curve.count++;
    if (i == KVC_MEGAKV_COST_POINTS_MAX) {
        KVC_BUG("a cost curve of more than %d points", KVC_MEGAKV_COST_POINTS_MAX);
    }
    gsl_sort(ns, 1, repetitions);
    measured->low_ns[i] = ns[repetitions / 4];
    measured->high_ns[i] = ns[3 * repetitions / 4];
    measured->curve.point[i] = *where;
    measured->curve.point[i].ns = ns[repetitions / 2];
    memcpy(measured->reading[i], watching->reading, sizeof(watching->reading));
}

/* Returns the measured load factor nearest to one half. */
static double middle_load(const struct kvc_megakv_cost_curve *curve)
{
    double load_frac = curve->point[0].load_frac;
    for (uint32_t i = 1; i < curve->count; i++) {
        if (fabs(curve->point[i].load_frac - 0.5) < fabs(load_frac - 0.5)) {
            load_frac = curve->point[i].load_frac;
        }
    }
    return load_frac;
}

enum kvc_status kvc_megakv_measured_curve_fit(struct kvc_megakv_measured_curve *measured, bool in_streams,
                                              struct kvc_diag *diag)
{
    struct kvc_megakv_cost_range range = kvc_megakv_cost_range_of(&measured->curve);
    double streams = in_streams ? range.threads_high : 1, load_frac = middle_load(&measured->curve);
    double x[KVC_FIT_POINTS_MAX], ns[KVC_FIT_POINTS_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < measured->curve.count && count < KVC_FIT_POINTS_MAX; i++) {
        const struct kvc_megakv_cost_point *point = &measured->curve.point[i];
        bool wanted = point->footprint_bytes >= range.footprint_high &&
                      (double)point->threads >= range.threads_high && point->size > 0 &&
                      point->key_bytes <= range.key_low && point->load_frac == load_frac;
        if (!wanted || point->ns <= 0) { /* Times of 0 were too short to measure. */
            continue;
        }
        x[count] = point->size * streams;
        ns[count++] = point->ns;
    }
    measured->fit = (struct kvc_fit){.points = 0};
    bool too_short = measured->is_extra && count < KVC_FIT_POINTS_MIN;
    return too_short ? KVC_OK : kvc_fit_line(x, ns, count, &measured->fit, diag);
}

#define CURVE(field)                                                                                         \
    {                                                                                                        \
#field, offsetof(struct kvc_megakv_measurement, field)                                               \
    }
/* clang-format off */
const struct kvc_megakv_named_curve kvc_megakv_named_curves[KVC_MEGAKV_MEASURED_CURVES] = {
    CURVE(receive), CURVE(write), CURVE(evict), CURVE(evict_half_marked), CURVE(pass), CURVE(mix),
    CURVE(read), CURVE(read_checked), CURVE(read_half_marked), CURVE(read_marked), CURVE(read_half_missed),
    CURVE(read_slowest), CURVE(read_batch), CURVE(compare),
    CURVE(search), CURVE(search_miss), CURVE(search_half_missed),
    CURVE(insert), CURVE(replace), CURVE(insert_half_replaced),
    CURVE(erase), CURVE(erase_miss), CURVE(erase_half_missed), CURVE(drain),
};
/* clang-format on */

const struct kvc_megakv_measured_curve *kvc_megakv_curve_of(const struct kvc_megakv_measurement *measurement,
                                                            const struct kvc_megakv_named_curve *named)
{
    return (const struct kvc_megakv_measured_curve *)((const char *)measurement + named->offset);
}

/* Passes over the points that a calibration makes at most. */
enum { PASSES_MAX = 8 };

/* Distance of a candidate. */
static const double near_distance = 0.2231; /* ln 1.25 */

/* Returns the pass whose time counts for point i of a curve. */
static uint32_t choose_pass(const struct kvc_megakv_measured_curve *const *of, uint32_t passes,
                            const struct kvc_steadiness *steadiness, uint32_t i)
{
    double distance[PASSES_MAX], nearest = INFINITY, ns[PASSES_MAX];
    uint32_t candidate[PASSES_MAX], candidates = 0;
    size_t order[PASSES_MAX];
    for (uint32_t p = 0; p < passes; p++) {
        distance[p] = kvc_steadiness_distance(steadiness, of[p]->reading[i]);
        nearest = fmin(nearest, distance[p]);
    }
    for (uint32_t p = 0; p < passes; p++) {
        if (distance[p] <= fmax(near_distance, nearest)) {
            ns[candidates] = of[p]->curve.point[i].ns;
            candidate[candidates++] = p;
        }
    }
    gsl_sort_index(order, ns, 1, candidates);
    return candidate[order[(candidates - 1) / 2]];
}

void kvc_megakv_measurement_choose(const struct kvc_megakv_measurement *pass, uint32_t passes,
                                   const struct kvc_steadiness *steadiness,
                                   struct kvc_megakv_measurement *chosen)
{
    *chosen = pass[0];
    for (int c = 0; c < KVC_MEGAKV_MEASURED_CURVES; c++) {
        const struct kvc_megakv_named_curve *named = &kvc_megakv_named_curves[c];
        const struct kvc_megakv_measured_curve *of[PASSES_MAX];
        struct kvc_megakv_measured_curve *to =
            (struct kvc_megakv_measured_curve *)((char *)chosen + named->offset);
        for (uint32_t p = 0; p < passes; p++) {
            of[p] = kvc_megakv_curve_of(&pass[p], named);
            if (of[p]->curve.count != to->curve.count) {
                KVC_BUG("passes of a calibration with different points of %s", named->name);
            }
        }
        for (uint32_t i = 0; i < to->curve.count; i++) {
            const struct kvc_megakv_measured_curve *best = of[choose_pass(of, passes, steadiness, i)];
            to->curve.point[i] = best->curve.point[i];
            to->low_ns[i] = best->low_ns[i];
            to->high_ns[i] = best->high_ns[i];
        }
    }
}

enum kvc_status kvc_megakv_measurement_fit(struct kvc_megakv_measurement *measurement, struct kvc_diag *diag)
{
    struct kvc_megakv_measured_curve *const curves[] = {&measurement->search, &measurement->receive,
                                                        &measurement->write,  &measurement->read,
                                                        &measurement->insert, &measurement->erase};
    enum kvc_status status = KVC_OK;
    measurement->write.is_extra = true;
    for (size_t i = 0; status == KVC_OK && i < sizeof(curves) / sizeof(*curves); i++) {
        status = kvc_megakv_measured_curve_fit(curves[i], curves[i] == &measurement->search, diag);
    }
    return status;
}

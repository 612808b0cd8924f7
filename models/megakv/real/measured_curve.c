#include "models/megakv/real/measured_curve.h"

#include <gsl/gsl_sort.h>
#include <math.h>

/* Two passes that differ by more than this fraction disagree: one of them was disturbed. */
static const double disagreeing_frac = 0.1;

/* Returns the index of the point, or the number of points if the curve does not have it yet. */
static uint32_t find_point(const struct kvc_megakv_cost_curve *curve, double size, double footprint_bytes,
                           uint32_t threads)
{
    uint32_t at = 0;
    while (at < curve->count &&
           (curve->point[at].size != size || curve->point[at].footprint_bytes != footprint_bytes ||
            curve->point[at].threads != threads)) {
        at++;
    }
    return at;
}

void kvc_megakv_measured_curve_add(struct kvc_megakv_measured_curve *measured, double size,
                                   double footprint_bytes, uint32_t threads,
                                   double ns[KVC_MEGAKV_REPETITIONS])
{
    const uint32_t repetitions = KVC_MEGAKV_REPETITIONS;
    struct kvc_megakv_cost_curve *curve = &measured->curve;
    uint32_t at = find_point(curve, size, footprint_bytes, threads);
    gsl_sort(ns, 1, repetitions);
    double median_ns = ns[repetitions / 2], low_ns = ns[repetitions / 4], high_ns = ns[3 * repetitions / 4];
    if (at == curve->count) {
        curve->count++;
    } else {
        double before_ns = curve->point[at].ns;
        measured->disagreeing += fabs(median_ns - before_ns) > disagreeing_frac * fmin(median_ns, before_ns);
        median_ns = (median_ns + before_ns) / 2;
        low_ns = fmin(low_ns, measured->low_ns[at]);
        high_ns = fmax(high_ns, measured->high_ns[at]);
    }
    curve->point[at] = (struct kvc_megakv_cost_point){size, footprint_bytes, threads, median_ns};
    measured->low_ns[at] = low_ns;
    measured->high_ns[at] = high_ns;
}

enum kvc_status kvc_megakv_measured_curve_fit(struct kvc_megakv_measured_curve *measured, bool in_streams,
                                              struct kvc_diag *diag)
{
    struct kvc_megakv_cost_range range = kvc_megakv_cost_range_of(&measured->curve);
    double streams = in_streams ? range.threads_high : 1;
    double x[KVC_FIT_POINTS_MAX], ns[KVC_FIT_POINTS_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < measured->curve.count && count < KVC_FIT_POINTS_MAX; i++) {
        const struct kvc_megakv_cost_point *point = &measured->curve.point[i];
        bool wanted = point->footprint_bytes >= range.footprint_high &&
                      (double)point->threads >= range.threads_high && point->size > 0;
        if (!wanted || point->ns <= 0) { /* Times of 0 were too short to measure. */
            continue;
        }
        x[count] = point->size * streams;
        ns[count++] = point->ns;
    }
    return kvc_fit_line(x, ns, count, &measured->fit, diag);
}

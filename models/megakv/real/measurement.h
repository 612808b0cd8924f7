/* The measured costs of Mega-KV's stages on this machine: the curves of struct kvc_megakv_cost_profile. */
#ifndef KVC_MODELS_MEGAKV_REAL_MEASUREMENT_H
#define KVC_MODELS_MEGAKV_REAL_MEASUREMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "models/megakv/cost_profile.h"
#include "sim/probes/fit.h"
#include "sim/probes/steadiness.h"

/* A measured cost curve: its points with their quartiles, and the straight line that fits them. */

/* Repetitions of the measurement of a point in one pass. */
enum { KVC_MEGAKV_REPETITIONS = 9 };

struct kvc_megakv_measured_curve {
    struct kvc_megakv_cost_curve curve;
    double low_ns[KVC_MEGAKV_COST_POINTS_MAX], high_ns[KVC_MEGAKV_COST_POINTS_MAX]; /* Quartiles [ns]. */
    /* The memory was read before and after each point; these are the numbers of the readings. */
    int64_t reading[KVC_MEGAKV_COST_POINTS_MAX][2];
    struct kvc_fit fit; /* Time over size; see kvc_megakv_measured_curve_fit. */
    bool is_extra; /* The difference of two times, which may be 0: without enough points, there is no line. */
};

/* Does some work and returns how long one piece of it took [ns]. `repetition` is -1 while the caches settle,
 * then 0 to KVC_MEGAKV_REPETITIONS - 1. */
typedef double kvc_megakv_repetition_fn(void *data, int repetition);

/* What a measurement of a calibration watches. */
struct kvc_megakv_watching {
    struct kvc_steadiness *steadiness;
    struct kvc_thread_pool *pool; /* Threads that are awake; NULL: only the calling one is. */
    int attempts;                 /* Most attempts, for work that uses up free places; 0: any number. */
    /* The latest measurement lies between these readings of the memory. */
    int64_t reading[2];
};

/* Calls `fn` a few times to settle, `settling` times beyond that, and then KVC_MEGAKV_REPETITIONS times,
 * whose results it writes to `ns`. All measurements of stages repeat here. The memory is read before and
 * after. If random lines took more than three times as long as in the reference, all begins again, until the
 * attempts or the endurance are used up. */
void kvc_megakv_repeat(struct kvc_megakv_watching *watching, kvc_megakv_repetition_fn *fn, void *data,
                       int settling, double ns[KVC_MEGAKV_REPETITIONS]);

/* Adds the median of the times `ns` of the latest measurement at the coordinates of `where`, with their
 * quartiles, and sorts them. */
void kvc_megakv_measured_curve_add(struct kvc_megakv_measured_curve *measured,
                                   const struct kvc_megakv_watching *watching,
                                   const struct kvc_megakv_cost_point *where,
                                   double ns[KVC_MEGAKV_REPETITIONS]);

/* Fits a line to the points with the shortest keys, a load factor near one half, the largest footprint and
 * the most threads. With `in_streams`, the points' sizes refer to one stream, and the line is fitted over the
 * size of all streams together. Returns the errors of kvc_fit_line. */
enum kvc_status kvc_megakv_measured_curve_fit(struct kvc_megakv_measured_curve *measured, bool in_streams,
                                              struct kvc_diag *diag);

/* Only receive, write, read, search, insert and erase have fits. */
struct kvc_megakv_measurement {
    struct kvc_megakv_measured_curve receive, write, evict, evict_half_marked, pass, mix, read, read_checked,
        read_half_marked, read_marked, read_half_missed, read_slowest, read_batch, compare, search,
        search_miss, search_half_missed, insert, replace, insert_half_replaced, erase, erase_miss,
        erase_half_missed, drain;
};

/* The curves by their names in a machine file, in the order of that file. */
enum { KVC_MEGAKV_MEASURED_CURVES = 24 };
struct kvc_megakv_named_curve {
    const char *name;
    size_t offset; /* Offset in struct kvc_megakv_measurement. */
};
extern const struct kvc_megakv_named_curve kvc_megakv_named_curves[KVC_MEGAKV_MEASURED_CURVES];
const struct kvc_megakv_measured_curve *kvc_megakv_curve_of(const struct kvc_megakv_measurement *measurement,
                                                            const struct kvc_megakv_named_curve *named);

/* Chooses the cost of each point from several passes over all points. A point is measured again only after
 * all others, when the machine may have changed its state. A pass is a candidate if the machine was within a
 * factor of 1.25 of the steadiness's reference. If no pass was, the nearest one is the only candidate. The
 * lower median of their times counts: receivers sometimes take three to ten times as long for seconds
 * although all readings are as usual. */
void kvc_megakv_measurement_choose(const struct kvc_megakv_measurement *pass, uint32_t passes,
                                   const struct kvc_steadiness *steadiness,
                                   struct kvc_megakv_measurement *chosen);

/* Fits the curves that the values of cpu, dram and gpu come from, and that the summary shows. Returns
 * KVC_ERR_RUNTIME if no line fits the times. */
enum kvc_status kvc_megakv_measurement_fit(struct kvc_megakv_measurement *measurement, struct kvc_diag *diag);

#endif

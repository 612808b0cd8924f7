#include "models/megakv/real/measurement.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "sim/base/array.h"

enum { PASSES = 3, POINTS = 3, READINGS = 4, USUAL = 0, SLOW_LINES = 1, SLOWER_LINES = 2, FAR_HANDOFFS = 3 };

static struct kvc_memory_rates rates[READINGS] = {[USUAL] = {40, 250, 20e9, 30, 1.8},
                                                  [SLOW_LINES] = {60, 250, 20e9, 30, 1.8},
                                                  [SLOWER_LINES] = {80, 250, 20e9, 30, 1.8},
                                                  [FAR_HANDOFFS] = {41, 250, 20e9, 160, 1.8}};
static uint32_t counts[] = {READINGS};

/* A point as a pass has measured it. */
struct measured {
    double ns;
    int64_t reading;
};

/* The first point meets the usual state in all passes, the second in none, and the third in two. */
static const struct measured measured[POINTS][PASSES] = {
    {{9, USUAL}, {30, USUAL}, {10, USUAL}},
    {{7, SLOWER_LINES}, {5, SLOW_LINES}, {3, FAR_HANDOFFS}},
    {{8, USUAL}, {6, SLOW_LINES}, {12, USUAL}}};
static const double chosen_ns[POINTS] = {10, 5, 8};

Test(measurement, the_lower_median_of_the_usual_passes_counts)
{
    struct kvc_steadiness steadiness = {
        .memory = {.cores = 1, .room = READINGS, .count = counts, .rates = rates}, .reference = rates[USUAL]};
    struct kvc_megakv_measurement *pass = kvc_array_of(PASSES, sizeof(*pass)),
                                  *chosen = kvc_array_of(1, sizeof(*chosen));
    for (int p = 0; p < PASSES; p++) {
        for (int i = 0; i < POINTS; i++) {
            const struct measured *point = &measured[i][p];
            const struct kvc_megakv_watching watching = {.reading = {point->reading, point->reading}};
            const struct kvc_megakv_cost_point where = {.size = i + 1};
            double ns[KVC_MEGAKV_REPETITIONS];
            for (int r = 0; r < KVC_MEGAKV_REPETITIONS; r++) {
                ns[r] = point->ns;
            }
            kvc_megakv_measured_curve_add(&pass[p].read, &watching, &where, ns);
        }
    }
    kvc_megakv_measurement_choose(pass, PASSES, &steadiness, chosen);
    cr_assert_eq(chosen->read.curve.count, POINTS);
    for (int i = 0; i < POINTS; i++) {
        cr_expect_eq(chosen->read.curve.point[i].size, i + 1);
        cr_expect_eq(chosen->read.curve.point[i].ns, chosen_ns[i], "point %d", i);
        cr_expect_eq(chosen->read.low_ns[i], chosen_ns[i]);
    }
    free(chosen);
    free(pass);
}

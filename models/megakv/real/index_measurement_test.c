/* Measures launches of small indexes. Times depend on the machine and on its other work, so the only
 * expectation is that a hundred times as many jobs take longer. Tests of the index count the lines that a job
 * touches and the elements that it displaces. */
#include "models/megakv/real/index_measurement.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const struct kvc_megakv_index_options small = {
    .bytes = {0x1p20, 0x1p22}, .load_frac = {0.2, 0.9}, .jobs = {64, 8192}, .streams = {1}};
enum { POINTS = 2 * 2 * 2 };

static struct kvc_megakv_measurement *measured(void)
{
    struct kvc_megakv_measurement *measurement = calloc(1, sizeof(*measurement));
    struct kvc_steadiness steadiness = {.reference.line_ns = NAN}; /* The test looks at no noise. */
    struct kvc_diag diag = {0};
    cr_assert_not_null(measurement);
    cr_assert_eq(kvc_megakv_measure_index(&small, &steadiness, NULL, measurement, &diag), KVC_OK, "%s",
                 diag.message);
    cr_expect_gt(kvc_steadiness_core_speed(&steadiness), 0, "the speed of the cores is known");
    kvc_steadiness_free(&steadiness);
    return measurement;
}

/* Returns the time of a launch in an index of 4 MiB. */
static double ns_of(const struct kvc_megakv_measured_curve *curve, double jobs, double load_frac)
{
    struct kvc_curve by_size = kvc_megakv_cost_curve_by_size(&curve->curve, 0, load_frac, 1, NULL);
    return kvc_curve_at(&by_size, jobs);
}

Test(index_measurement, launches_of_all_kinds)
{
    struct kvc_megakv_measurement *measurement = measured();
    const struct kvc_megakv_measured_curve *const curves[] = {
        &measurement->search, &measurement->search_miss, &measurement->search_half_missed,
        &measurement->insert, &measurement->replace,     &measurement->insert_half_replaced,
        &measurement->erase,  &measurement->erase_miss,  &measurement->erase_half_missed};
    for (size_t i = 0; i < sizeof(curves) / sizeof(*curves); i++) {
        struct kvc_megakv_cost_range range = kvc_megakv_cost_range_of(&curves[i]->curve);
        cr_expect_eq(curves[i]->curve.count, POINTS);
        cr_expect(range.footprint_low == 0x1p20 && range.footprint_high == 0x1p22);
        cr_expect(range.load_low == 0.2 && range.load_high == 0.9);
        cr_expect(range.key_high == 0 && range.threads_high == 1);
        for (uint32_t p = 0; p < curves[i]->curve.count; p++) {
            cr_expect_gt(curves[i]->curve.point[p].ns, 0);
        }
        cr_expect_gt(ns_of(curves[i], 8192, 0.2), 4 * ns_of(curves[i], 64, 0.2), "curve %zu: more jobs", i);
    }
    free(measurement);
}

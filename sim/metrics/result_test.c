#include "sim/metrics/result.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>

static struct kvc_result result;

Test(result, a_new_stage_is_empty_but_for_its_name_and_utilization)
{
    struct kvc_stage_result *stage = kvc_result_add_stage(&result, "receive", "cpu", 0.4);
    cr_expect_eq(result.stage_count, 1);
    cr_expect_eq(stage, &result.stage[0]);
    cr_expect_str_eq(stage->name, "receive");
    cr_expect_str_eq(stage->device, "cpu");
    cr_expect_eq(stage->utilization_frac, 0.4);
    cr_expect_eq(stage->busy_s, 0);
    cr_expect_eq(stage->served, 0);
    cr_expect(isnan(stage->mean_us));
}

Test(result, more_stages_than_fit_are_a_bug, .signal = SIGABRT)
{
    for (int i = 0; i <= KVC_STAGES_MAX; i++) {
        kvc_result_add_stage(&result, "receive", "cpu", 0);
    }
}

Test(metrics, by_name)
{
    struct kvc_metrics metrics = {0};
    kvc_metrics_set(&metrics, "load_factor_frac", 0.5);
    kvc_metrics_set(&metrics, "t_search_us", 63);
    cr_expect_eq(kvc_metrics_get(&metrics, "load_factor_frac"), 0.5);
    cr_expect_eq(kvc_metrics_get(&metrics, "t_search_us"), 63);
    cr_expect(isnan(kvc_metrics_get(&metrics, "t_search")));
}

Test(notes, once_each_and_no_more_than_fit)
{
    for (int i = 0; i < 2 * KVC_NOTES_MAX; i++) {
        kvc_result_note(&result, "note %d", i / 2);
    }
    cr_expect_eq(result.note_count, KVC_NOTES_MAX);
    cr_expect_str_eq(result.note[KVC_NOTES_MAX - 1], "note 15");
    kvc_result_note(&result, "one more");
    cr_expect_eq(result.note_count, KVC_NOTES_MAX);
    cr_expect_str_eq(result.note[KVC_NOTES_MAX - 1], "note 15");
}

#include "sim/metrics/bottleneck.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct kvc_result result;

Test(bottleneck, is_the_busiest_stage)
{
    kvc_result_add_stage(&result, "receive", "cpu", 0.4);
    kvc_result_add_stage(&result, "search", "gpu", 0.71);
    kvc_result_add_stage(&result, "send", "cpu", 0.98);
    kvc_bottleneck_find(&result);
    cr_expect_str_eq(result.bottleneck_stage, "send");
    cr_expect_str_eq(result.bottleneck_device, "cpu");
    cr_expect_str_eq(result.bottleneck_why,
                     "send (cpu) is busy 98.0 % of the time, next is search (gpu) with 71.0 %");
}

Test(bottleneck, is_the_load_when_no_stage_is_busy)
{
    kvc_result_add_stage(&result, "search", "gpu", 0.2);
    kvc_result_add_stage(&result, "send", "cpu", 0.89);
    kvc_bottleneck_find(&result);
    cr_expect_str_eq(result.bottleneck_stage, "load");
    cr_expect_not_null(strstr(result.bottleneck_why, "the load is the limit"));
    cr_expect_not_null(strstr(result.bottleneck_why, "send (cpu) is busy 89.0 %"));
}

Test(bottleneck, ignores_stages_of_unknown_utilization)
{
    kvc_result_add_stage(&result, "receive", "cpu", NAN);
    kvc_result_add_stage(&result, "search", "gpu", 1);
    kvc_bottleneck_find(&result);
    cr_expect_str_eq(result.bottleneck_stage, "search");
    cr_expect_str_eq(result.bottleneck_why, "search (gpu) is busy 100.0 % of the time");
    result.stage_count = 1;
    kvc_bottleneck_find(&result);
    cr_expect_str_eq(result.bottleneck_stage, "load");
    cr_expect_str_eq(result.bottleneck_why, "");
}

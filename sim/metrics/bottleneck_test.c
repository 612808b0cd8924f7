#include "sim/metrics/bottleneck.h"

#include <stdlib.h>
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

Test(bottleneck, is_found_without_words)
{
    kvc_result_add_stage(&result, "search", "gpu", 1);
    result.is_wordless = true;
    kvc_bottleneck_find(&result);
    kvc_result_note(&result, "nobody reads this");
    cr_expect_str_eq(result.bottleneck_stage, "search");
    cr_expect_str_eq(result.bottleneck_device, "gpu");
    cr_expect_str_eq(result.bottleneck_why, "");
    cr_expect_eq(result.note_count, 0);
    result.is_wordless = false;
}

/* Three stages in two parts: the first is busiest, and the second differs by as much as the parts do. */
Test(bottleneck, names_the_stages_that_the_parts_cannot_tell_apart)
{
    static const struct {
        double utilization[6];
        const char *named;
    } expected[] = {
        {{0.99, 0.99, 0.98, 0.98, 0.5, 0.5}, "a"},
        {{0.99, 0.988, 0.987, 0.989, 0.5, 0.5}, "a+b"},
        {{0.99, 0.988, 0.988, 0.988, 0.987, 0.989}, "undecided"},
        {{0.8, 0.8, 0.5, 0.5, 0.5, 0.5}, "load"},
        {{0.88, 0.94, 0.5, 0.5, 0.5, 0.5}, "load+a"},
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        struct kvc_result *measured = calloc(1, sizeof(*measured));
        const double *value = expected[i].utilization;
        for (int stage = 0; stage < 3; stage++) {
            const char *names[] = {"a", "b", "c"};
            kvc_result_add_stage(measured, names[stage], "cpu",
                                 (value[2 * stage] + value[2 * stage + 1]) / 2);
        }
        kvc_bottleneck_find_in_parts(measured, value, 2);
        cr_expect_str_eq(measured->bottleneck_stage, expected[i].named, "%zu: %s", i,
                         measured->bottleneck_stage);
        free(measured);
    }
}

Test(bottleneck, finds_a_stage_among_joined_names)
{
    cr_expect(kvc_bottleneck_names("receive+index", "index"));
    cr_expect(kvc_bottleneck_names("receive+index", "receive"));
    cr_expect_not(kvc_bottleneck_names("receive+index", "rec"));
    cr_expect_not(kvc_bottleneck_names("receive+index", "send"));
    cr_expect_not(kvc_bottleneck_names("", "send"));
}

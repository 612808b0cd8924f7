#include "sim/workload/presets.h"

#include <criterion/criterion.h>
#include <string.h>

#include "sim/workload/workload.h"

static const struct kvc_workload valid = {.keys = 1000,
                                          .key_bytes = 8,
                                          .value_bytes = 8,
                                          .get_frac = 0.9,
                                          .set_frac = 0.05,
                                          .delete_frac = 0.05,
                                          .preload_frac = 1};

static const struct kvc_workload_preset own[] = {
    {.name = "own-small", .source = "none", KVC_PRESET_FIXED_SIZES(16, 64)},
    {.name = "own-large", .source = "none", KVC_PRESET_FIXED_SIZES(32, 512)},
    {.name = NULL},
};

static const struct kvc_workload_preset *const lists[] = {own, kvc_workload_presets, NULL};

static void apply(struct kvc_workload *workload, const char *name)
{
    const struct kvc_workload_preset *preset;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_workload_preset_choose(lists, name, &preset, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(kvc_workload_preset_find(lists, name), preset);
    kvc_workload_preset_apply(preset, workload);
}

Test(presets, combine_and_leave_other_fields_alone)
{
    struct kvc_workload workload = valid;
    apply(&workload, "own-large");
    cr_assert_eq(workload.key_bytes, 32);
    cr_assert_eq(workload.value_bytes, 512);
    cr_assert_eq(workload.get_frac, 0.9);
    apply(&workload, "ycsb-a");
    cr_assert_eq(workload.key_bytes, 32);
    cr_assert_eq(workload.get_frac, 0.5);
    cr_assert_eq(workload.set_frac, 0.5);
    cr_assert_eq(workload.delete_frac, 0);
    cr_assert_eq(workload.keys, 1000);
    apply(&workload, "facebook-etc");
    cr_assert_eq(workload.sizes, KVC_SIZES_ETC);
    cr_assert_float_eq(workload.get_frac / workload.set_frac, 30, 1e-12);
    apply(&workload, "own-small");
    cr_assert_eq(workload.sizes, KVC_SIZES_FIXED);
    cr_assert_eq(workload.value_bytes, 64);
}

Test(presets, with_unknown_names_are_refused_and_the_nearest_is_named)
{
    const struct kvc_workload_preset *preset;
    struct kvc_diag diag = {0};
    cr_assert_null(kvc_workload_preset_find(lists, "own-medium"));
    cr_assert_eq(kvc_workload_preset_choose(lists, "ownlarge", &preset, &diag), KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, "did you mean \"own-large\""), "%s", diag.message);
    diag = (struct kvc_diag){0};
    cr_assert_eq(kvc_workload_preset_choose(lists, "zzzzzzzzzzzz", &preset, &diag), KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, "allowed: own-small, own-large, ycsb-a, "), "%s", diag.message);
}

Test(presets, of_bg_are_complete_and_differ_in_their_updates)
{
    static const double updates[] = {0, 0.001, 0.01, 0.1};
    for (size_t i = 0; i < sizeof(updates) / sizeof(*updates); i++) {
        struct kvc_workload workload = valid;
        struct kvc_action_mix mix;
        struct kvc_diag diag = {0};
        cr_assert_not_null(kvc_bg_presets[i].name);
        kvc_workload_preset_apply(&kvc_bg_presets[i], &workload);
        enum kvc_status status = kvc_workload_check(&workload, &diag);
        cr_assert_eq(status, KVC_OK, "%s: %s", kvc_bg_presets[i].name, diag.message);
        cr_expect_eq(workload.set_frac, updates[i], "%s", kvc_bg_presets[i].name);
        kvc_action_mix_open(&mix, &workload, NULL);
        cr_expect_eq(mix.kinds, 5);
        /* 0.4 invitations and 0.2 rejections of a key, 0.2 of five keys and 0.2 of four. */
        double invalidated = kvc_action_mix_invalidated(&mix);
        cr_expect_float_eq(invalidated, 2.4, 1e-12, "%g", invalidated);
    }
}

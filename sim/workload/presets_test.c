#include "sim/workload/presets.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct kvc_workload valid = {.keys = 1000,
                                          .key_bytes = 8,
                                          .value_bytes = 8,
                                          .get_frac = 0.9,
                                          .set_frac = 0.05,
                                          .delete_frac = 0.05,
                                          .preload_frac = 1};

Test(presets, combine_and_leave_other_fields_alone)
{
    struct kvc_workload workload = valid;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_workload_apply_preset(&workload, "megakv-c", &diag), KVC_OK);
    cr_assert_eq(workload.key_bytes, 32);
    cr_assert_eq(workload.value_bytes, 512);
    cr_assert_eq(workload.get_frac, 0.9);
    cr_assert_eq(kvc_workload_apply_preset(&workload, "ycsb-a", &diag), KVC_OK);
    cr_assert_eq(workload.key_bytes, 32);
    cr_assert_eq(workload.get_frac, 0.5);
    cr_assert_eq(workload.set_frac, 0.5);
    cr_assert_eq(workload.delete_frac, 0);
    cr_assert_eq(workload.keys, 1000);
    cr_assert_eq(kvc_workload_apply_preset(&workload, "facebook-etc", &diag), KVC_OK);
    cr_assert_eq(workload.sizes, KVC_SIZES_ETC);
    cr_assert_float_eq(workload.get_frac / workload.set_frac, 30, 1e-12);
    cr_assert_eq(kvc_workload_apply_preset(&workload, "dido-k32", &diag), KVC_OK);
    cr_assert_eq(workload.sizes, KVC_SIZES_FIXED);
    cr_assert_eq(workload.value_bytes, 256);
}

Test(presets, make_valid_workloads)
{
    int count = 0;
    for (const struct kvc_workload_preset *preset = kvc_workload_presets; preset->name != NULL;
         preset++, count++) {
        struct kvc_workload workload = valid;
        struct kvc_diag diag = {0};
        cr_assert_eq(kvc_workload_preset_find(preset->name), preset);
        cr_assert_eq(kvc_workload_apply_preset(&workload, preset->name, &diag), KVC_OK);
        cr_assert_eq(kvc_workload_check(&workload, &diag), KVC_OK, "%s: %s", preset->name, diag.message);
        cr_assert_gt(strlen(preset->source), 0);
        cr_assert(preset->has_sizes || preset->has_mix);
    }
    cr_assert_eq(count, 16);
}

Test(presets, with_unknown_names_are_refused_and_the_nearest_is_named)
{
    struct kvc_workload workload = valid;
    struct kvc_diag diag = {0};
    cr_assert_null(kvc_workload_preset_find("megakv-e"));
    cr_assert_eq(kvc_workload_apply_preset(&workload, "megakvb", &diag), KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, "did you mean \"megakv-"), "%s", diag.message);
    cr_assert_eq(workload.key_bytes, 8);
}

#include "models/registry.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct kvc_workload valid = {.keys = 1000,
                                          .key_bytes = 8,
                                          .value_bytes = 8,
                                          .get_frac = 0.9,
                                          .set_frac = 0.05,
                                          .delete_frac = 0.05,
                                          .preload_frac = 1};

/* Names must be unique: the lookup would never return a second store or kind of the same name. */
Test(registry, finds_every_store_and_kind_by_its_name)
{
    for (size_t i = 0; kvc_models[i] != NULL; i++) {
        cr_expect_eq(kvc_model_find(kvc_models[i]->name), kvc_models[i]);
    }
    for (size_t i = 0; kvc_device_kinds[i] != NULL; i++) {
        cr_expect_eq(kvc_device_kind_find(kvc_device_kinds[i]->name), kvc_device_kinds[i]);
    }
    cr_expect_null(kvc_model_find("nosuch"));
    cr_expect_null(kvc_device_kind_find("nosuch"));
}

Test(registry, lists_presets_that_make_valid_workloads)
{
    int count = 0;
    for (size_t i = 0; kvc_workload_preset_lists[i] != NULL; i++) {
        const struct kvc_workload_preset *preset = kvc_workload_preset_lists[i];
        for (; preset->name != NULL; preset++, count++) {
            struct kvc_workload workload = valid;
            struct kvc_diag diag = {0};
            cr_assert_eq(kvc_workload_preset_find(kvc_workload_preset_lists, preset->name), preset);
            kvc_workload_preset_apply(preset, &workload);
            cr_assert_eq(kvc_workload_check(&workload, &diag), KVC_OK, "%s: %s", preset->name, diag.message);
            cr_assert_gt(strlen(preset->source), 0);
            cr_assert(preset->has_sizes || preset->has_mix);
        }
    }
    cr_assert_eq(count, 40);
}

Test(registry, has_the_data_sets_of_the_stores)
{
    struct kvc_workload workload = valid;
    struct kvc_diag diag = {0};
    const struct kvc_workload_preset *preset;
    kvc_workload_preset_apply(kvc_workload_preset_find(kvc_workload_preset_lists, "megakv-c"), &workload);
    cr_assert_eq(workload.key_bytes, 32);
    cr_assert_eq(workload.value_bytes, 512);
    kvc_workload_preset_apply(kvc_workload_preset_find(kvc_workload_preset_lists, "K32-G95-S"), &workload);
    cr_assert_eq(workload.value_bytes, 256);
    cr_assert_null(kvc_workload_preset_find(kvc_workload_preset_lists, "megakv-e"));
    cr_assert_eq(kvc_workload_preset_choose(kvc_workload_preset_lists, "megakvb", &preset, &diag),
                 KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, "did you mean \"megakv-"), "%s", diag.message);
}

#include "models/dido/config.h"

#include <criterion/criterion.h>
#include <string.h>

#include "kernels/megakv/slab.h"

static const double shared_bytes = 1908e6, slab_bytes = KVC_MEGAKV_SLAB_BYTES, full_most = 0.9;

/* Returns the size of the smallest index that is at most nine tenths full. */
static double index_bytes_of(double keys)
{
    double bytes = 64;
    while (keys * 8 > full_most * bytes) {
        bytes *= 2;
    }
    return bytes;
}

Test(presets, fill_the_memory_that_both_processors_share)
{
    for (int i = 0; i < KVC_DIDO_PRESETS; i++) {
        const struct kvc_workload_preset *preset = &kvc_dido_presets[i];
        double item_bytes =
            kvc_megakv_slab_item_bytes((uint32_t)preset->key_bytes, (uint32_t)preset->value_bytes);
        double keys = (double)preset->keys, bytes = index_bytes_of(keys) + keys * item_bytes;
        cr_expect_leq(bytes, shared_bytes, "%s: %.1f MB", preset->name, bytes * 1e-6);
        double more = keys + 2 * slab_bytes / item_bytes;
        bytes = index_bytes_of(more) + more * item_bytes;
        cr_expect_gt(bytes, shared_bytes, "%s: two more slabs take %.1f MB", preset->name, bytes * 1e-6);
    }
}

Test(presets, have_the_names_of_the_paper)
{
    struct kvc_workload workload = {.preload_frac = 1};
    const struct kvc_workload_preset *const lists[] = {kvc_dido_presets, NULL};
    const struct kvc_workload_preset *preset = kvc_workload_preset_find(lists, "K32-G95-S");
    cr_assert_not_null(preset);
    kvc_workload_preset_apply(preset, &workload);
    cr_expect_eq(workload.key_bytes, 32);
    cr_expect_eq(workload.value_bytes, 256);
    cr_expect_float_eq(workload.set_frac, 0.05, 1e-12);
    cr_expect_eq(workload.popularity, KVC_POPULARITY_ZIPF);
    cr_expect_eq(workload.zipf_s, 0.99);
    preset = kvc_workload_preset_find(lists, "K128-G50-U");
    cr_assert_not_null(preset);
    kvc_workload_preset_apply(preset, &workload);
    cr_expect_eq(workload.popularity, KVC_POPULARITY_UNIFORM);
    cr_expect_eq(workload.keys, preset->keys);
    cr_expect_null(kvc_dido_presets[KVC_DIDO_PRESETS].name);
}

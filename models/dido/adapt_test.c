#include <criterion/criterion.h>
#include <math.h>

#include "models/dido/adapt.h"
#include "sim/workload/source/source.h"

enum { ITEMS = 1000000, QUERIES = 4096, FRAME = 16 };

static struct kvc_dido_adapter adapter_of(double get_frac, double zipf_s)
{
    const struct kvc_dido_profile planned = {
        .get_frac = get_frac, .set_frac = 1 - get_frac, .key_bytes = 16, .value_bytes = 64};
    struct kvc_dido_adapter adapter;
    kvc_dido_adapter_open(&adapter, 0.1, &planned, zipf_s);
    return adapter;
}

/* Returns whether a load counts as changed if one counter is `factor` times its planned value. */
static bool changes(size_t counter, double factor)
{
    struct kvc_dido_adapter adapter = adapter_of(0.8, 0);
    struct kvc_dido_profile profile = adapter.planned;
    double *value = (double *)(void *)((char *)&profile + counter);
    *value *= factor;
    profile.sampled = QUERIES;
    profile.distinct = QUERIES;
    bool changed = kvc_dido_has_changed(&adapter, &profile, ITEMS);
    kvc_dido_adapter_close(&adapter);
    return changed;
}

Test(dido_adapt, a_change_of_9_percent_plans_nothing_and_one_of_11_percent_does)
{
    static const size_t counters[] = {offsetof(struct kvc_dido_profile, get_frac),
                                      offsetof(struct kvc_dido_profile, key_bytes),
                                      offsetof(struct kvc_dido_profile, value_bytes)};
    for (int i = 0; i < 3; i++) {
        bool up_9 = changes(counters[i], 1.09), up_11 = changes(counters[i], 1.11);
        bool down_9 = changes(counters[i], 0.91), down_11 = changes(counters[i], 0.89);
        cr_expect_not(up_9, "counter %d", i);
        cr_expect_not(down_9, "counter %d", i);
        cr_expect(up_11, "counter %d", i);
        cr_expect(down_11, "counter %d", i);
    }
}

/* Returns the profile of the next queries of a load with 16 byte keys. */
static struct kvc_dido_profile profile_of(struct kvc_dido_adapter *adapter, double zipf_s, uint64_t seed)
{
    struct kvc_workload workload = {.keys = ITEMS,
                                    .key_bytes = 16,
                                    .value_bytes = 64,
                                    .get_frac = 0.8,
                                    .set_frac = 0.2,
                                    .popularity = zipf_s > 0 ? KVC_POPULARITY_ZIPF : KVC_POPULARITY_UNIFORM,
                                    .zipf_s = zipf_s};
    const struct kvc_source_params params = {
        .workload = &workload, .nodes = 1, .sockets = 1, .seed = seed, .frame_requests = FRAME};
    struct kvc_source *source = kvc_source_create(&params, NULL);
    struct kvc_batch *batch = kvc_batch_create(QUERIES, kvc_workload_key_stride(&workload));
    cr_assert_not_null(source);
    cr_assert_not_null(batch);
    while (batch->count < QUERIES) {
        cr_assert_eq(kvc_source_drain(source, 0, 0, batch), FRAME);
    }
    struct kvc_dido_profile profile = kvc_dido_profile_of(adapter, batch);
    kvc_batch_free(batch);
    kvc_source_free(source);
    return profile;
}

Test(dido_adapt, a_profile_counts_its_batch)
{
    struct kvc_dido_adapter adapter = adapter_of(0.8, 0);
    struct kvc_dido_profile profile = profile_of(&adapter, 0, 1);
    cr_expect_float_eq(profile.get_frac, 0.8, 0.03);
    cr_expect_float_eq(profile.set_frac, 1 - profile.get_frac, 1e-12);
    cr_expect_eq(profile.key_bytes, 16);
    cr_expect_eq(profile.value_bytes, 64);
    cr_expect_eq(profile.sampled, (uint32_t)QUERIES);
    double expected = kvc_dido_expected_distinct(ITEMS, 0, QUERIES);
    cr_expect_float_eq((double)profile.distinct, expected, 15, "%u of %.1f", profile.distinct, expected);
    kvc_dido_adapter_close(&adapter);
}

/* Batches of the same load differ by chance; batches of another popularity differ by more. */
Test(dido_adapt, the_exponent_is_found_from_one_batch)
{
    static const double exponents[] = {0, 0.8, 0.99, 1.2};
    for (int i = 0; i < 4; i++) {
        struct kvc_dido_adapter adapter = adapter_of(0.8, exponents[i]);
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct kvc_dido_profile profile = profile_of(&adapter, exponents[i], seed);
            double found = kvc_dido_fit_zipf(&profile, ITEMS);
            bool changed = kvc_dido_has_changed(&adapter, &profile, ITEMS);
            cr_expect_float_eq(found, exponents[i], 0.04, "%.3f found, %.2f is true", found, exponents[i]);
            cr_expect_not(changed, "exponent %.2f, seed %d", exponents[i], (int)seed);
        }
        adapter.zipf_s = exponents[(i + 2) % 4];
        struct kvc_dido_profile other = profile_of(&adapter, exponents[i], 1);
        bool noticed = kvc_dido_has_changed(&adapter, &other, ITEMS);
        cr_expect(noticed, "from %.2f to %.2f", adapter.zipf_s, exponents[i]);
        kvc_dido_adapter_close(&adapter);
    }
}

Test(dido_adapt, a_small_batch_says_nothing_about_the_popularity)
{
    struct kvc_dido_adapter adapter = adapter_of(0.8, 0);
    struct kvc_dido_profile profile = adapter.planned;
    profile.sampled = KVC_DIDO_SAMPLE_MIN - 1;
    profile.distinct = 1;
    bool small = kvc_dido_has_changed(&adapter, &profile, ITEMS);
    profile.sampled = KVC_DIDO_SAMPLE_MIN;
    bool enough = kvc_dido_has_changed(&adapter, &profile, ITEMS);
    cr_expect_not(small);
    cr_expect(enough);
    kvc_dido_adapter_close(&adapter);
}

/* ---- recovery ---- */

/* Two phases of ten windows of 0.3 ms, measured from `first_window` on. */
static struct kvc_result measured(const float *mops, uint32_t windows)
{
    static struct kvc_result result;
    result = (struct kvc_result){.window_us = 300, .window_count = windows};
    for (uint32_t i = 0; i < windows; i++) {
        result.window_mops[i] = mops[i];
    }
    return result;
}

static struct kvc_workload alternating(void)
{
    struct kvc_workload workload = {.keys = 2, .phase_count = 2};
    workload.phases[0].length_ns = 3e6;
    return workload;
}

Test(dido_recovery, lasts_until_the_throughput_stays_up)
{
    static const float mops[] = {30, 10, 10, 20, 20, 20, 20, 20, 20, 20,  /* 0.9 ms */
                                 20, 20, 20, 20, 30, 30, 30, 30, 30, 30}; /* 1.2 ms */
    struct kvc_result result = measured(mops, 20);
    struct kvc_workload workload = alternating();
    cr_expect_float_eq(kvc_dido_recovery_us(&workload, 6e6, &result), 1050, 1e-6);
}

Test(dido_recovery, counts_whole_phases_only)
{
    /* A partial phase comes first. */
    static const float mops[] = {1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,
                                 10, 20, 20, 20, 20, 20, 20, 20, 20, 20, 10}; /* 0.3 ms, and a part */
    struct kvc_result result = measured(mops + 1, 21);
    struct kvc_workload workload = alternating();
    workload.phases[1].length_ns = 9e6;
    workload.phases[0].length_ns = 3e6;
    cr_expect_float_eq(kvc_dido_recovery_us(&workload, 9e6, &result), 300, 1e-6);
    result = measured(mops, 9);
    double none_us = kvc_dido_recovery_us(&workload, 9e6, &result);
    cr_expect(isnan(none_us), "no phase is whole");
}

Test(dido_recovery, needs_the_windows_of_the_run)
{
    static const float mops[] = {10, 20, 20, 20, 20};
    struct kvc_result result = measured(mops, 5);
    struct kvc_workload workload = alternating();
    result.window_us = 600;
    double joined_us = kvc_dido_recovery_us(&workload, 0, &result);
    cr_expect(isnan(joined_us), "windows were joined");
}

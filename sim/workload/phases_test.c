#include "sim/workload/phases.h"

#include <criterion/criterion.h>
#include <string.h>

#include "sim/workload/source/source_fixture.h"

enum { ROWS = 40000, KEYS = 1001 };

/* Two phases of 3 and 1 us: short items that are read and written, and long ones that are only read. */
static struct kvc_workload alternating(int arrival)
{
    struct kvc_workload workload = kvc_test_workload(arrival);
    workload.keys = KEYS;
    workload.preload_frac = 1;
    workload.fill = KVC_FILL_AT_ONCE;
    workload.phase_count = 2;
    workload.phases[0] = (struct kvc_phase){3000, 8, 8, 0.5, 0.5, 0, 0};
    workload.phases[1] = (struct kvc_phase){1000, 16, 64, 1, 0, 0, 0.99};
    return workload;
}

Test(phases, time_of_a_phase_counts_only_while_it_lasts)
{
    struct kvc_workload workload = alternating(KVC_ARRIVAL_SATURATE);
    cr_expect_eq(kvc_phases_cycle_ns(&workload), 4000);
    cr_expect_eq(kvc_phases_at(&workload, 2999), 0);
    cr_expect_eq(kvc_phases_at(&workload, 3000), 1);
    cr_expect_eq(kvc_phases_at(&workload, 4000), 0);
    cr_expect_eq(kvc_phases_begin_ns(&workload, 7500), 7000);
    cr_expect_eq(kvc_phases_own_ns(&workload, 0, 3500), 3000);
    cr_expect_eq(kvc_phases_own_ns(&workload, 0, 4100), 3100);
    cr_expect_eq(kvc_phases_own_ns(&workload, 1, 2000), 0);
    workload.phases[1].length_ns = 0;
    cr_expect_eq(kvc_phases_cycle_ns(&workload), 6000, "as long as the one before");
    for (double time_ns = 50; time_ns < 20000; time_ns += 100) {
        uint32_t phase = kvc_phases_at(&workload, time_ns);
        double again_ns = kvc_phases_time_ns(&workload, phase, kvc_phases_own_ns(&workload, phase, time_ns));
        cr_expect_float_eq(again_ns, time_ns, 1e-6, "%g ns became %g ns", time_ns, again_ns);
    }
}

/* Checks that a request is one of the phase. */
static void check_row(const struct kvc_batch *batch, uint32_t row, uint32_t phase)
{
    const uint64_t first[] = {0, KEYS / 2, KEYS};
    cr_assert_eq(batch->key_bytes[row], phase == 0 ? 8 : 16);
    cr_assert_eq(batch->value_bytes[row], phase == 0 ? 8u : 64u);
    cr_assert(batch->key_id[row] >= first[phase] && batch->key_id[row] < first[phase + 1],
              "key %llu in phase %u", (unsigned long long)batch->key_id[row], phase);
}

Test(phases, requests_of_an_open_load_are_those_of_the_phase_in_which_they_are_sent)
{
    struct kvc_workload workload = alternating(KVC_ARRIVAL_POISSON);
    workload.rate_mops = 1000;
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, ROWS);
    uint32_t of_phase[2] = {0};
    kvc_test_drain(source, 0, 20000, batch);
    cr_assert_gt(batch->count, 0);
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t phase = kvc_phases_at(&workload, batch->sent_ns[i]);
        check_row(batch, i, phase);
        cr_assert(phase == 0 || batch->op[i] == KVC_OP_GET);
        of_phase[phase]++;
        cr_assert(i == 0 || batch->sent_ns[i] >= batch->sent_ns[i - 1], "frames leave one after the other");
    }
    cr_expect_leq(batch->sent_ns[batch->count - 1], 20000);
    cr_expect_float_eq((double)of_phase[0], 15000, 1500, "%u of 15 us at 1 request a ns", of_phase[0]);
    cr_expect_float_eq((double)of_phase[1], 5000, 900, "%u of 5 us", of_phase[1]);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

/* A frame is there at the time at which the source says that it leaves, whatever rounding does to times of
 * phases. */
Test(phases, frames_leave_when_the_source_says)
{
    struct kvc_workload workload = alternating(KVC_ARRIVAL_POISSON);
    workload.rate_mops = 2.7;
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, ROWS);
    for (int i = 0; i < 20000; i++) {
        double next_ns = kvc_source_next_ns(source, 0);
        batch->count = 0;
        cr_assert_gt(kvc_source_drain(source, 0, next_ns, batch), 0, "frame %d at %.17g ns", i, next_ns);
    }
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(phases, saturating_clients_send_requests_of_the_present_phase)
{
    struct kvc_workload workload = alternating(KVC_ARRIVAL_SATURATE);
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, ROWS);
    for (double now_ns = 0; now_ns < 12000; now_ns += 500) {
        uint32_t first = batch->count, got = kvc_source_drain(source, 0, now_ns, batch);
        cr_assert_eq(got, KVC_TEST_FRAME);
        for (uint32_t i = first; i < batch->count; i++) {
            check_row(batch, i, kvc_phases_at(&workload, now_ns));
        }
    }
    kvc_batch_free(batch);
    kvc_source_free(source);
}

/* Exactly the requested keys are preloaded, and no two keys are equal. */
Test(phases, all_keys_are_stored_side_by_side)
{
    struct kvc_workload workload = alternating(KVC_ARRIVAL_SATURATE);
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *keys = kvc_test_batch(&workload, KEYS), *asked = kvc_test_batch(&workload, ROWS);
    kvc_source_keys(source, 0, KEYS, keys);
    cr_assert_eq(keys->count, (uint32_t)KEYS);
    for (uint32_t i = 0; i < KEYS; i++) {
        cr_assert_eq(keys->key_id[i], i);
        check_row(keys, i, i < KEYS / 2 ? 0 : 1);
    }
    for (double now_ns = 0; now_ns < 12000; now_ns += 100) {
        kvc_source_drain(source, 0, now_ns, asked);
    }
    for (uint32_t i = 0; i < asked->count; i++) {
        cr_assert_eq(asked->hash[i], keys->hash[asked->key_id[i]], "request %u has another hash", i);
    }
    kvc_batch_free(keys);
    kvc_batch_free(asked);
    kvc_source_free(source);
}

static void refuse(const struct kvc_workload *workload, const char *message)
{
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_workload_check(workload, &diag);
    cr_expect_eq(status, KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, message), "\"%s\" is not \"%s\"", diag.message, message);
}

Test(phases, what_contradicts_them_is_refused)
{
    struct kvc_workload workload = alternating(KVC_ARRIVAL_CLOSED);
    refuse(&workload, "workload.arrival: allowed with workload.phases");
    workload = alternating(KVC_ARRIVAL_POISSON);
    workload.fill = KVC_FILL_GRADUALLY;
    refuse(&workload, "workload.fill: allowed with workload.phases");
    workload = alternating(KVC_ARRIVAL_SATURATE);
    workload.phases[1].set_frac = 0.1;
    refuse(&workload, "workload.phases.2: get = 1, set = 0.1");
    workload = alternating(KVC_ARRIVAL_SATURATE);
    workload.phases[0].length_ns = 0;
    refuse(&workload, "workload.phases.1.length: found 0 ns");
    workload = alternating(KVC_ARRIVAL_SATURATE);
    workload.preload_frac = 0.5;
    refuse(&workload, "workload.preload");
}

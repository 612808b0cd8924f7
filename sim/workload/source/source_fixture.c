#include "sim/workload/source/source_fixture.h"

#include <criterion/criterion.h>

struct kvc_workload kvc_test_workload(int arrival)
{
    return (struct kvc_workload){
        .keys = 100000,
        .key_bytes = 8,
        .value_bytes = 8,
        .get_frac = 0.7,
        .set_frac = 0.2,
        .delete_frac = 0.1,
        .arrival = arrival,
        .rate_mops = 100,
        .clients = 500,
        .think_ns = 2000,
        .trace = {.copies = 1, .sampled_frac = 1, .scale = 1},
        .burst_count = 1,
        .bursts = {{.times = 4, .length_ns = 1e5, .at_ns = -1, .every_ns = 4e5}},
        .mmpp_states = 2,
        .mmpp = {{.rate_mops = 50, .length_ns = 3e4}, {.rate_mops = 300, .length_ns = 1e4}},
        .curve_points = 2,
        .curve = {{.time_ns = 0, .rate_mops = 50}, {.time_ns = 1e6, .rate_mops = 150}}};
}

struct kvc_source *kvc_test_source(const struct kvc_workload *workload, uint32_t nodes, uint32_t sockets,
                                   uint64_t seed)
{
    struct kvc_diag diag = {0};
    struct kvc_source_params params = {.workload = workload,
                                       .nodes = nodes,
                                       .sockets = sockets,
                                       .seed = seed,
                                       .hash_seed = KVC_TEST_HASH_SEED,
                                       .frame_requests = KVC_TEST_FRAME};
    cr_assert_eq(kvc_workload_check(workload, &diag), KVC_OK, "%s", diag.message);
    struct kvc_source *source = kvc_source_create(&params, &diag);
    cr_assert_not_null(source, "%s", diag.message);
    return source;
}

struct kvc_batch *kvc_test_batch(const struct kvc_workload *workload, uint32_t capacity)
{
    struct kvc_batch *batch = kvc_batch_create(capacity, kvc_workload_key_stride(workload));
    cr_assert_not_null(batch);
    return batch;
}

uint32_t kvc_test_drain(struct kvc_source *source, uint32_t shard, double until_ns, struct kvc_batch *batch)
{
    uint32_t first = batch->count, got;
    while (batch->capacity - batch->count >= KVC_TEST_FRAME &&
           (got = kvc_source_drain(source, shard, until_ns, batch)) != 0) {
        for (uint32_t i = batch->count - got; i < batch->count; i++) {
            double done_ns = batch->sent_ns[i] + 700 + 10 * batch->client[i];
            kvc_source_complete(source, &batch->client[i], &done_ns, 1);
        }
    }
    return batch->count - first;
}

#include <criterion/criterion.h>
#include <math.h>

#include "sim/workload/source/source_fixture.h"

static uint32_t closed_step(struct kvc_source *source, uint32_t shards, double now_ns, double think_ns,
                            struct kvc_batch *batch, double *ready_ns, uint8_t *outstanding)
{
    uint32_t sent = 0;
    for (uint32_t shard = 0; shard < shards; shard++) {
        double last_ns = 0;
        batch->count = 0;
        while (kvc_source_drain(source, shard, now_ns, batch) != 0) {
            ;
        }
        for (uint32_t i = 0; i < batch->count; i++) {
            uint32_t client = batch->client[i];
            cr_assert_eq(outstanding[client], 0, "client %u sent twice", client);
            cr_assert_float_eq(batch->sent_ns[i], ready_ns[client], 1e-6);
            cr_assert(batch->sent_ns[i] >= last_ns && batch->sent_ns[i] <= now_ns);
            last_ns = batch->sent_ns[i];
            outstanding[client] = 1;
            sent++;
        }
        for (uint32_t i = 0; i < batch->count; i += 3) { /* A third is answered now, the others later. */
            double done_ns = now_ns + 100;
            kvc_source_complete(source, &batch->client[i], &done_ns, 1);
            outstanding[batch->client[i]] = 0;
            ready_ns[batch->client[i]] = done_ns + think_ns;
        }
    }
    return sent;
}

Test(source_closed, clients_wait_for_their_responses)
{
    enum { CLIENTS = 300 };
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_CLOSED);
    workload.clients = CLIENTS;
    struct kvc_source *source = kvc_test_source(&workload, 2, 2, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, 1000);
    double ready_ns[CLIENTS];
    uint8_t outstanding[CLIENTS] = {0};
    uint32_t sent = 0;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        ready_ns[i] = workload.think_ns * i / CLIENTS; /* The clients start staggered. */
    }
    for (double now_ns = 50; now_ns < 2e5; now_ns += 50) {
        sent += closed_step(source, 4, now_ns, workload.think_ns, batch, ready_ns, outstanding);
        for (uint32_t i = 0; i < CLIENTS; i++) { /* Late responses. */
            double done_ns = now_ns + 25;
            if (!outstanding[i] || (i + (uint32_t)now_ns / 50) % 7 != 0) {
                continue;
            }
            kvc_source_complete(source, &i, &done_ns, 1);
            outstanding[i] = 0;
            ready_ns[i] = done_ns + workload.think_ns;
        }
    }
    cr_assert_gt(sent, 10 * CLIENTS);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(source_closed, clients_without_a_response_send_once)
{
    enum { CLIENTS = 100000 };
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_CLOSED);
    workload.clients = CLIENTS;
    workload.think_ns = 0;
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, 2 * CLIENTS);
    uint32_t got;
    while ((got = kvc_source_drain(source, 0, 1e9, batch)) != 0) {
        cr_assert_leq(got, KVC_TEST_FRAME);
    }
    cr_assert_eq(batch->count, CLIENTS);
    for (uint32_t i = 0; i < CLIENTS; i++) { /* All send at 0, in the order of their numbers. */
        cr_assert(batch->client[i] == i && batch->sent_ns[i] == 0);
    }
    cr_assert(isinf(kvc_source_next_ns(source, 0)));
    kvc_batch_free(batch);
    kvc_source_free(source);
}

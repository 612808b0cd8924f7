/** @file
 * Sources and batches for the tests of sim/workload/source/source.h. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_SOURCE_FIXTURE_H
#define KVC_SIM_WORKLOAD_SOURCE_SOURCE_FIXTURE_H

#include <stdint.h>

#include "sim/workload/source/source.h"

enum {
    KVC_TEST_FRAME = 10,    /**< Requests per frame. */
    KVC_TEST_SEED = 11,     /**< Seed of most sources. */
    KVC_TEST_HASH_SEED = 3, /**< Seed of kvc_hash. */
};

/** Returns a valid workload with 100,000 keys of 8 bytes, all three operations and uniform popularity. */
struct kvc_workload kvc_test_workload(int arrival);

/** Creates a source, or fails the test. */
struct kvc_source *kvc_test_source(const struct kvc_workload *workload, uint32_t nodes, uint32_t sockets,
                                   uint64_t seed);

/** Creates an empty batch for a workload, or fails the test. */
struct kvc_batch *kvc_test_batch(const struct kvc_workload *workload, uint32_t capacity);

/** Drains what is sent by until_ns while the batch has room for whole frames, and answers each request 700 ns
 * or more after it was sent. Returns the number of requests. */
uint32_t kvc_test_drain(struct kvc_source *source, uint32_t shard, double until_ns, struct kvc_batch *batch);

#endif

/** @file
 * A replica with one host for the tests of sim/run. */
#ifndef KVC_SIM_RUN_REPLICA_FIXTURE_H
#define KVC_SIM_RUN_REPLICA_FIXTURE_H

#include "sim/run/replica.h"

enum { KVC_TEST_WINDOW_NS = 1000 /**< Length of a window. */ };

/** A scenario, its result and its replica. */
struct kvc_test_run {
    struct kvc_scenario scenario;
    struct kvc_run_context context;
    struct kvc_result result;
    struct kvc_platform *platform;
    struct kvc_replica replica;
};

/** Opens a replica of a run without devices, or fails the test. Measures from 10 us to 30 us. */
struct kvc_test_run *kvc_test_run_open(const struct kvc_workload *workload);

/** Closes the replica and frees the run. */
void kvc_test_run_free(struct kvc_test_run *run);

#endif

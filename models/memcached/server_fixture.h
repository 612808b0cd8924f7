/* Servers of published machines for tests, without a scenario file. */
#ifndef KVC_MODELS_MEMCACHED_SERVER_FIXTURE_H
#define KVC_MODELS_MEMCACHED_SERVER_FIXTURE_H

#include "models/memcached/config.h"
#include "models/memcached/store.h"
#include "models/model.h"

/* A scenario and everything that it refers to. */
struct kvc_test_memcached {
    struct kvc_scenario scenario;
    struct kvc_memcached_options options;
    struct kvc_memcached_config config;
    struct kvc_cpu cpu;
    struct kvc_dram dram;
    struct kvc_nic nic;
    struct kvc_fpga fpga;
    struct kvc_flash flash;
};

/* Outcome of a run of the server by itself. */
struct kvc_test_memcached_outcome {
    double mops, mean_ns;
    uint64_t offered, answered, dropped, hits, gets;
    uint64_t in_flight;    /* Requests that were neither answered nor dropped when the run ended. */
    double thread_busy_ns; /* Busy time of the busiest thread within the measured time. */
    double done_ns_sum;    /* Fingerprint of all answers. */
};

/* Fills in a saturating load of stored keys on one of the four stores, with its standard options. */
void kvc_test_memcached_describe(struct kvc_test_memcached *test, const struct kvc_model *model);

/* Resolves and checks the scenario; fails the test if it is refused. */
void kvc_test_memcached_resolve(struct kvc_test_memcached *test);

/* Simulates the resolved server for `ms` milliseconds after one of warm-up. Asserts that every request is
 * answered or dropped once, and that answers come in order and after their requests. */
struct kvc_test_memcached_outcome kvc_test_memcached_simulate(struct kvc_test_memcached *test, double ms,
                                                              uint64_t seed);

#endif

/* A sampled run of each store equals a full one. sampled_slow_test.c compares many more. */
#include "scenarios/run/sampled_fixture.h"

#include <criterion/criterion.h>

Test(sampled, megakv_evicts_alike, .timeout = 120)
{
    const uint64_t rates[] = {16, 0};
    kvc_test_sampled(
        KVC_TEST_MEGAKV("12MiB") "workload = { keys = 1e6, key = 8, value = 8, get = 0.5, set = 0.5, "
                                 "dist = { zipf = 0.99 }, " KVC_TEST_STEADY,
        "warmup = '40ms', duration = '40ms'", rates);
}

Test(sampled, kvdirect_caches_alike, .timeout = 120)
{
    const uint64_t rates[] = {64, 0};
    kvc_test_sampled(KVC_TEST_KVDIRECT "workload = { keys = 2e6, key = 8, value = 2, set = 0.3, "
                                       "dist = { zipf = 0.99 }, arrival = 'saturate' }",
                     "warmup = '300us', duration = '2ms'", rates);
}

/* A sampled run of each store equals a full one. sampled_slow_test.c compares many more. */
#include "scenarios/run/sampled_fixture.h"

#include <criterion/criterion.h>

/* Parts of scenarios. The stores are small, so that full runs take a second or two. */
#define INDEX(slab)                                                                                          \
    "system = { kind = 'megakv', cycle = '400us', index = '32MiB', slab = '" slab                            \
    "' }, node = { sockets = 1 }, "
#define CARD                                                                                                 \
    "system = { kind = 'kvdirect', memory = '64MiB', dispatch = 0.6, idle_power = '87W' }, "                 \
    "node = { fpga = { base = 'catapult-stratix-v', dram = '4MiB' } }, "
#define STEADY "arrival = { fixed_mops = 40 }, fill = 'at_once', flows = 8 }"

Test(sampled, an_index_evicts_alike, .timeout = 120)
{
    const uint64_t rates[] = {16, 0};
    kvc_test_sampled(INDEX("12MiB") "workload = { keys = 1e6, key = 8, value = 8, get = 0.5, set = 0.5, "
                                    "dist = { zipf = 0.99 }, " STEADY,
                     "warmup = '40ms', duration = '40ms'", rates);
}

Test(sampled, a_card_caches_alike, .timeout = 120)
{
    const uint64_t rates[] = {64, 0};
    kvc_test_sampled(CARD "workload = { keys = 2e6, key = 8, value = 2, set = 0.3, "
                          "dist = { zipf = 0.99 }, arrival = 'saturate' }",
                     "warmup = '300us', duration = '2ms'", rates);
}

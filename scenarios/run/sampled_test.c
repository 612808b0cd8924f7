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
#define FLASH                                                                                                \
    "system = { kind = 'bluecache', index = '4MiB', dram = '16MiB', flash = '64MiB', chunk = 16 }, "         \
    "node = { flash = { base = 'bluecache-flash', chips = 2, pages_per_block = 16 } }, "
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

/* DRAM evicts, the log reclaims rows, and the chips limit the throughput. */
Test(sampled, a_log_on_flash_is_read_and_written_alike, .timeout = 120)
{
    kvc_test_sampled_bursts(FLASH "workload = { keys = 2e5, key = 24, value = 900, get = 0.88, set = 0.1, "
                                  "delete = 0.02, dist = { zipf = 0.9 }, arrival = 'saturate' }",
                            "warmup = '100ms', duration = '300ms', replicas = 4, seed = 1", 16);
}

/* Without DRAM, GETs of hot keys find the write buffer. */
Test(sampled, a_write_buffer_is_hit_alike, .timeout = 120)
{
    const uint64_t rates[] = {64, 0};
    kvc_test_sampled("system = { kind = 'bluecache', index = '16MiB', dram = '0B', flash = '1GiB' }, "
                     "workload = { keys = 1e5, key = 32, value = 992, get = 0.8, set = 0.2, "
                     "dist = { zipf = 0.9 }, arrival = 'saturate' }",
                     "warmup = '50ms', duration = '200ms'", rates);
}

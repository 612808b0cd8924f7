/* Sampled runs of both stores equal full ones: uniform and Zipf keys, reads and writes, with and without
 * eviction, mixed sizes, and all sampling rates that the number of keys allows. */
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

static const uint64_t rates[] = {2, 8, 64, 256, 0};
/* The hits of a cache are those of the sampled requests, of which a run has too few at higher rates. */
static const uint64_t cache_rates[] = {2, 8, 64, 0};
static const uint64_t low_rates[] = {2, 8, 0};

#define REPLICAS "replicas = 3, seed = 1, "
#define CACHE(slab, keys, mix, dist)                                                                         \
    INDEX(slab)                                                                                              \
    "workload = { keys = " keys ", " mix ", dist = " dist ", " STEADY
#define OVER(mix, dist) CARD "workload = { " mix ", dist = " dist ", arrival = 'saturate' }"
#define READS "key = 8, value = 8, get = 1, set = 0"
#define HALF "key = 8, value = 8, get = 0.5, set = 0.5"

static const char *const roomy[] = {
    CACHE("256MiB", "2e6", READS, "'uniform'"), CACHE("256MiB", "2e6", READS, "{ zipf = 0.99 }"),
    CACHE("256MiB", "2e6", HALF, "{ zipf = 0.99 }"), CACHE("256MiB", "2e6", HALF, "{ zipf = 1.2 }"), NULL};
static const char *const caches[] = {CACHE("24MiB", "2e6", HALF, "'uniform'"),
                                     CACHE("24MiB", "2e6", HALF, "{ zipf = 0.99 }"),
                                     CACHE("12MiB", "2e6", HALF, "{ zipf = 1.2 }"), NULL};
static const char *const mixed_sizes[] = {
    CACHE("128MiB", "1e6", "sizes = 'etc', get = 0.9, set = 0.1", "{ zipf = 0.99 }"), NULL};
static const char *const pairs[] = {
    OVER("keys = 2e6, key = 8, value = 2, set = 0", "'uniform'"),
    OVER("keys = 2e6, key = 8, value = 2, set = 0", "{ zipf = 0.99 }"),
    OVER("keys = 2e6, key = 8, value = 2, set = 0.5", "'uniform'"),
    OVER("keys = 2e6, key = 8, value = 2, set = 0.5", "{ zipf = 0.99 }"),
    OVER("keys = 2e6, key = 8, value = 2, set = 0.5", "{ zipf = 1.2 }"),
    OVER("keys = 2e6, key = 8, value = 2, get = 0.5, set = 0.4, delete = 0.1", "{ zipf = 0.99 }"),
    NULL};
static const char *const slabs[] = {OVER("keys = 2.5e5, key = 16, value = 100, set = 0.3", "{ zipf = 0.99 }"),
                                    NULL};

static void compare(const char *const *texts, const char *run, const uint64_t *at)
{
    for (; *texts != NULL; texts++) {
        kvc_test_sampled(*texts, run, at);
    }
}

Test(sampled_slow, an_index_with_room, .timeout = 900)
{
    compare(roomy, REPLICAS "warmup = '2ms', duration = '5ms'", rates);
}

Test(sampled_slow, an_index_that_evicts, .timeout = 900)
{
    compare(caches, REPLICAS "warmup = '80ms', duration = '80ms'", cache_rates);
}

Test(sampled_slow, an_index_of_mixed_sizes, .timeout = 900)
{
    compare(mixed_sizes, REPLICAS "warmup = '40ms', duration = '80ms'", low_rates);
}

Test(sampled_slow, a_card_with_inline_pairs, .timeout = 900)
{
    compare(pairs, REPLICAS "warmup = '300us', duration = '2ms'", cache_rates);
}

Test(sampled_slow, a_card_with_slabs, .timeout = 900)
{
    compare(slabs, REPLICAS "warmup = '300us', duration = '2ms'", low_rates);
}

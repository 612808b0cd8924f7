/* Sampled runs of both stores equal full ones: uniform and Zipf keys, reads and writes, with and without
 * eviction, mixed sizes, and all sampling rates that the number of keys allows. */
#include "scenarios/run/sampled_fixture.h"

#include <criterion/criterion.h>

static const uint64_t rates[] = {2, 8, 64, 256, 0};
/* The hits of a cache are those of the sampled requests, of which a run has too few at higher rates. */
static const uint64_t cache_rates[] = {2, 8, 64, 0};
static const uint64_t low_rates[] = {2, 8, 0};

#define REPLICAS "replicas = 3, seed = 1, "
#define MEGAKV(slab, keys, mix, dist)                                                                        \
    KVC_TEST_MEGAKV(slab)                                                                                    \
    "workload = { keys = " keys ", " mix ", dist = " dist ", " KVC_TEST_STEADY
#define KVDIRECT(mix, dist) KVC_TEST_KVDIRECT "workload = { " mix ", dist = " dist ", arrival = 'saturate' }"
#define READS "key = 8, value = 8, get = 1, set = 0"
#define HALF "key = 8, value = 8, get = 0.5, set = 0.5"

static const char *const megakv_rooms[] = {
    MEGAKV("256MiB", "2e6", READS, "'uniform'"), MEGAKV("256MiB", "2e6", READS, "{ zipf = 0.99 }"),
    MEGAKV("256MiB", "2e6", HALF, "{ zipf = 0.99 }"), MEGAKV("256MiB", "2e6", HALF, "{ zipf = 1.2 }"), NULL};
static const char *const megakv_caches[] = {MEGAKV("24MiB", "2e6", HALF, "'uniform'"),
                                            MEGAKV("24MiB", "2e6", HALF, "{ zipf = 0.99 }"),
                                            MEGAKV("12MiB", "2e6", HALF, "{ zipf = 1.2 }"), NULL};
static const char *const megakv_sizes[] = {
    MEGAKV("128MiB", "1e6", "sizes = 'etc', get = 0.9, set = 0.1", "{ zipf = 0.99 }"), NULL};
static const char *const kvdirect_pairs[] = {
    KVDIRECT("keys = 2e6, key = 8, value = 2, set = 0", "'uniform'"),
    KVDIRECT("keys = 2e6, key = 8, value = 2, set = 0", "{ zipf = 0.99 }"),
    KVDIRECT("keys = 2e6, key = 8, value = 2, set = 0.5", "'uniform'"),
    KVDIRECT("keys = 2e6, key = 8, value = 2, set = 0.5", "{ zipf = 0.99 }"),
    KVDIRECT("keys = 2e6, key = 8, value = 2, set = 0.5", "{ zipf = 1.2 }"),
    KVDIRECT("keys = 2e6, key = 8, value = 2, get = 0.5, set = 0.4, delete = 0.1", "{ zipf = 0.99 }"),
    NULL};
static const char *const kvdirect_slabs[] = {
    KVDIRECT("keys = 2.5e5, key = 16, value = 100, set = 0.3", "{ zipf = 0.99 }"), NULL};

static void compare(const char *const *texts, const char *run, const uint64_t *at)
{
    for (; *texts != NULL; texts++) {
        kvc_test_sampled(*texts, run, at);
    }
}

Test(sampled_slow, megakv_with_room, .timeout = 900)
{
    compare(megakv_rooms, REPLICAS "warmup = '2ms', duration = '5ms'", rates);
}

Test(sampled_slow, megakv_as_a_cache, .timeout = 900)
{
    compare(megakv_caches, REPLICAS "warmup = '80ms', duration = '80ms'", cache_rates);
}

Test(sampled_slow, megakv_with_mixed_sizes, .timeout = 900)
{
    compare(megakv_sizes, REPLICAS "warmup = '40ms', duration = '80ms'", low_rates);
}

Test(sampled_slow, kvdirect_inline, .timeout = 900)
{
    compare(kvdirect_pairs, REPLICAS "warmup = '300us', duration = '2ms'", cache_rates);
}

Test(sampled_slow, kvdirect_in_slabs, .timeout = 900)
{
    compare(kvdirect_slabs, REPLICAS "warmup = '300us', duration = '2ms'", low_rates);
}

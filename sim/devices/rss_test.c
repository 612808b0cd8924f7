#include "sim/devices/nic.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

static uint32_t address(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return a << 24 | b << 16 | c << 8 | d;
}

/* The IPv4 part of Microsoft's "Verifying the RSS hash calculation". */
Test(rss, hashes_like_the_verification_suite)
{
    const struct {
        struct kvc_rss_tuple tuple;
        uint32_t addresses, ports;
    } vectors[] = {
        {{address(66, 9, 149, 187), address(161, 142, 100, 80), 2794, 1766}, 0x323e8fc2, 0x51ccc178},
        {{address(199, 92, 111, 2), address(65, 69, 140, 83), 14230, 4739}, 0xd718262a, 0xc626b0ea},
        {{address(24, 19, 198, 95), address(12, 22, 207, 184), 12898, 38024}, 0xd2d0a5de, 0x5c2b394a},
        {{address(38, 27, 205, 30), address(209, 142, 163, 6), 48228, 2217}, 0x82989176, 0xafc7327f},
        {{address(153, 39, 163, 191), address(202, 188, 127, 2), 44251, 1303}, 0x5d1809c5, 0x10e828a2},
    };
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
        uint32_t addresses = kvc_rss_tuple_hash(&vectors[i].tuple, KVC_RSS_ADDRESSES);
        uint32_t ports = kvc_rss_tuple_hash(&vectors[i].tuple, KVC_RSS_PORTS);
        cr_expect_eq(addresses, vectors[i].addresses, "vector %zu: %08x", i, addresses);
        cr_expect_eq(ports, vectors[i].ports, "vector %zu: %08x", i, ports);
    }
}

/* A bit of the input changes the hash in the same way, whatever the other bits are. */
Test(rss, the_hash_is_linear)
{
    uint8_t a[12] = {1, 77, 3, 200, 9}, b[12] = {13, 5, 0, 1, 255, 7, 8, 9, 10, 11, 12, 254}, both[12];
    for (size_t i = 0; i < sizeof(both); i++) {
        both[i] = a[i] ^ b[i];
    }
    cr_expect_eq(kvc_rss_hash(both, 12), kvc_rss_hash(a, 12) ^ kvc_rss_hash(b, 12));
    cr_expect_eq(kvc_rss_hash((uint8_t[12]){0}, 12), 0);
}

static const struct kvc_rss_params params = {
    .queues = 8, .entries = 512, .clients = 64, .connections = 1024, .seed = 1};

/* Returns how many connections of each of up to 16 queues there are. */
static void count_queues(const struct kvc_rss_params *with, double *count)
{
    struct kvc_rss *rss = kvc_rss_open(with, NULL);
    double hottest = 0;
    memset(count, 0, 16 * sizeof(*count));
    for (uint32_t i = 0; i < with->connections; i++) {
        struct kvc_rss_tuple tuple = kvc_rss_tuple_of(with, i);
        uint32_t queue = kvc_rss_queue(rss, i);
        cr_assert_lt(queue, with->queues);
        cr_assert_eq(queue, kvc_rss_tuple_hash(&tuple, with->fields) % with->entries % with->queues);
        hottest = fmax(hottest, ++count[queue]);
    }
    cr_expect_float_eq(kvc_rss_hottest_frac(rss), hottest / with->connections, 1e-12);
    kvc_rss_close(rss);
}

/* Over many seeds, every queue gets its share of the table's entries. */
Test(rss, queues_get_their_shares)
{
    static const uint32_t queues[] = {1, 2, 7, 8, 16};
    for (size_t i = 0; i < sizeof(queues) / sizeof(*queues); i++) {
        double count[16], sum[16] = {0}, all = 0;
        for (uint64_t seed = 0; seed < 200; seed++) {
            struct kvc_rss_params with = params;
            with.queues = queues[i];
            with.connections = with.clients; /* Addresses in a row are not independent, ports are. */
            with.seed = seed;
            count_queues(&with, count);
            for (uint32_t q = 0; q < queues[i]; q++) {
                sum[q] += count[q];
                all += count[q];
            }
        }
        for (uint32_t q = 0; q < queues[i]; q++) {
            double entries = (512 + queues[i] - 1 - q) / queues[i], mean = all * entries / 512;
            cr_expect_float_eq(sum[q], mean, 5 * sqrt(mean) + 1e-9, "queue %u of %u", q, queues[i]);
        }
    }
}

/* A client that counts its address up covers the table evenly, which chance would not: the hash is linear. */
Test(rss, counted_addresses_spread_better_than_chance)
{
    double few[16], many[16], worst_few = 0, worst_many = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct kvc_rss_params with = params;
        with.seed = seed;
        with.connections = with.clients;
        count_queues(&with, few);
        with.clients = 1;
        with.connections = 65536;
        count_queues(&with, many);
        for (int q = 0; q < 8; q++) {
            worst_few = fmax(worst_few, few[q] / 8);
            worst_many = fmax(worst_many, many[q] / 8192);
        }
    }
    cr_expect_gt(worst_few, 1.5);
    cr_expect_lt(worst_many, 1.001);
}

Test(rss, depends_on_seed_and_server_only)
{
    struct kvc_rss_params other = params;
    struct kvc_rss *one = kvc_rss_open(&params, NULL), *same = kvc_rss_open(&other, NULL);
    other.server = 1;
    struct kvc_rss *server = kvc_rss_open(&other, NULL);
    other.server = 0;
    other.seed = 2;
    struct kvc_rss *seed = kvc_rss_open(&other, NULL);
    uint32_t servers = 0, seeds = 0;
    for (uint32_t i = 0; i < params.connections; i++) {
        cr_assert_eq(kvc_rss_queue(one, i), kvc_rss_queue(same, i));
        servers += kvc_rss_queue(one, i) != kvc_rss_queue(server, i);
        seeds += kvc_rss_queue(one, i) != kvc_rss_queue(seed, i);
    }
    cr_expect_gt(servers, params.connections / 4);
    cr_expect_gt(seeds, params.connections / 4);
    kvc_rss_close(one);
    kvc_rss_close(same);
    kvc_rss_close(server);
    kvc_rss_close(seed);
    kvc_rss_close(NULL);
}

static void refused(uint32_t queues, uint32_t entries, const char *says)
{
    struct kvc_rss_params bad = params;
    struct kvc_diag diag = {0};
    bad.queues = queues;
    bad.entries = entries;
    cr_assert_null(kvc_rss_open(&bad, &diag));
    cr_assert_eq(diag.status, KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, says), "\"%s\" lacks \"%s\"", diag.message, says);
}

Test(rss, bad_tables_are_refused)
{
    refused(4, 100, "nic.rss_entries is 100; allowed are powers of two");
    refused(4, 0, "nic.rss_entries is 0");
    refused(4, 131072, "nic.rss_entries is 131072");
    refused(9, 8, "nic.queues is 9; allowed are 1 to 8");
    refused(0, 8, "nic.queues is 0");
}

/* The closed form's hottest shard against the shards of many replicas, as sources place their keys. */
#include "sim/workload/keys/hottest_shard.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/seeds.h"
#include "sim/workload/source/source_fixture.h"
#include "sim/workload/keys/zipf.h"

enum { REPLICAS = 200, PLACED = 5000, SHARDS_MAX = 16 };

struct replicas {
    double share[REPLICAS]; /* Share of the fullest shard. */
    double rate;            /* Mean of their inverses. */
    double deviation;       /* Standard deviation of the inverses. */
};

/* The share of the requests of each key that is placed on its own. */
struct popularity {
    uint32_t placed;
    double mass[PLACED];
    double rest; /* Share of the less popular keys, which are spread evenly. */
};

static void set_popularity(struct popularity *popularity, const struct kvc_workload *workload)
{
    double below = 0;
    bool zipf = workload->popularity == KVC_POPULARITY_ZIPF;
    popularity->placed = workload->keys < PLACED ? (uint32_t)workload->keys : PLACED;
    for (uint32_t i = 0; i < popularity->placed; i++) {
        double to = zipf ? kvc_zipf_mass(workload->keys, workload->zipf_s, i + 1)
                         : (i + 1.0) / (double)workload->keys;
        popularity->mass[i] = to - below;
        below = to;
    }
    popularity->rest = 1 - below;
}

/* Returns the share of the fullest shard in a replica. */
static double fullest(const struct kvc_workload *workload, const struct popularity *popularity,
                      uint32_t nodes, uint32_t sockets, uint32_t replica)
{
    uint32_t shards = nodes * sockets;
    uint64_t seed = kvc_seed_of_replica(KVC_TEST_SEED, replica);
    struct kvc_workload uniform = *workload; /* The popularity plays no part where a key is placed. */
    uniform.popularity = KVC_POPULARITY_UNIFORM;
    const struct kvc_source_params params = {.workload = &uniform,
                                             .nodes = nodes,
                                             .sockets = sockets,
                                             .seed = seed,
                                             .hash_seed = kvc_seed_of_hash(seed),
                                             .frame_requests = 1};
    struct kvc_source *source = kvc_source_create(&params, NULL);
    struct kvc_batch *batch = kvc_test_batch(&uniform, popularity->placed);
    double share[SHARDS_MAX] = {0}, most = 0;
    kvc_source_keys(source, 0, popularity->placed, batch);
    for (uint32_t i = 0; i < popularity->placed; i++) {
        share[kvc_source_shard(source, batch->hash[i])] += popularity->mass[i];
    }
    for (uint32_t i = 0; i < shards; i++) {
        most = fmax(most, share[i] + popularity->rest / shards);
    }
    kvc_batch_free(batch);
    kvc_source_free(source);
    return most;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Places the keys of all replicas and sorts the shares of their fullest shards. */
static struct replicas place(const struct kvc_workload *workload, uint32_t nodes, uint32_t sockets)
{
    struct replicas replicas = {0};
    struct popularity *popularity = calloc(1, sizeof(*popularity));
    set_popularity(popularity, workload);
    double squares = 0;
    for (uint32_t i = 0; i < REPLICAS; i++) {
        replicas.share[i] = fullest(workload, popularity, nodes, sockets, i);
        replicas.rate += 1 / replicas.share[i] / REPLICAS;
        squares += 1 / replicas.share[i] / replicas.share[i] / REPLICAS;
    }
    replicas.deviation = sqrt(squares - replicas.rate * replicas.rate);
    qsort(replicas.share, REPLICAS, sizeof(*replicas.share), ascending);
    free(popularity);
    return replicas;
}

/* Both means have a random error. */
static void expect_mean(const struct kvc_workload *workload, uint32_t nodes, uint32_t sockets)
{
    struct replicas replicas = place(workload, nodes, sockets);
    double share = kvc_hottest_shard_frac(workload, nodes, sockets, 0);
    double error = replicas.deviation * sqrt(1.0 / REPLICAS + 1.0 / 256);
    cr_expect_float_eq(1 / share, replicas.rate, 4 * error,
                       "%u nodes, %u sockets: rate %g, replicas %g +- %g", nodes, sockets, 1 / share,
                       replicas.rate, error);
    cr_expect_gt(replicas.deviation, 0);
}

/* The fullest of ten NICs in KV-Direct's figure 20: with one fixed hash it had 1.55 times the mean. */
Test(hottest_shard, of_ten_under_zipf_varies_around_four_thirds_of_the_mean)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
    workload.keys = 3400000000;
    workload.popularity = KVC_POPULARITY_ZIPF;
    workload.zipf_s = 0.99;
    struct replicas replicas = place(&workload, 1, 10);
    cr_expect_float_eq(10 * replicas.share[REPLICAS / 2], 1.33, 0.03);
    cr_expect_lt(10 * replicas.share[REPLICAS / 20], 1.25);
    cr_expect_gt(10 * replicas.share[REPLICAS - 1 - REPLICAS / 20], 1.45);
    expect_mean(&workload, 1, 10);
}

Test(hottest_shard, is_the_mean_over_replicas)
{
    static const double exponents[] = {0.6, 0.99, 1.3};
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
    workload.popularity = KVC_POPULARITY_ZIPF;
    for (size_t i = 0; i < sizeof(exponents) / sizeof(*exponents); i++) {
        workload.zipf_s = exponents[i];
        workload.keys = 1000000;
        expect_mean(&workload, 1, 2);
        workload.keys = PLACED;
        expect_mean(&workload, 2, 2);
    }
    workload.popularity = KVC_POPULARITY_UNIFORM;
    expect_mean(&workload, 3, 1);
    expect_mean(&workload, 1, 2);
    workload.keys = 100; /* With so few keys, chance determines the load of the shards. */
    expect_mean(&workload, 1, 3);
}

Test(hottest_shard, is_an_equal_one_where_shards_have_their_own_clients)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
    workload.popularity = KVC_POPULARITY_ZIPF;
    workload.zipf_s = 0.99;
    cr_expect_eq(kvc_hottest_shard_frac(&workload, 1, 1, 0), 1);
    cr_expect_gt(kvc_hottest_shard_frac(&workload, 2, 2, 0), 0.26);
    workload.clients_for = KVC_CLIENTS_FOR_SOCKET;
    cr_expect_eq(kvc_hottest_shard_frac(&workload, 2, 2, 0), 0.25);
}

Test(hottest_shard, has_a_larger_share_with_fewer_virtual_nodes)
{
    const struct kvc_workload workload = {.keys = 10000000, .get_frac = 1};
    cr_expect_float_eq(kvc_hottest_shard_frac(&workload, 8, 1, 0), 0.128, 0.002);
    /* The harmonic mean of the largest of 8 gamma variables with shape 16 over their sum. */
    cr_expect_float_eq(kvc_hottest_shard_frac(&workload, 8, 1, 16), 0.1707, 0.004, "%g",
                       kvc_hottest_shard_frac(&workload, 8, 1, 16));
}

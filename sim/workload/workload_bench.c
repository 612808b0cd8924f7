/* Measures the cost of making a request: random draws alone, and whole requests routed into batches. Prints
 * medians of RUNS repetitions in ns. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/workload/source/source.h"
#include "sim/workload/keys/zipf.h"

enum { RUNS = 5, REQUESTS = 4000000, FRAME = 100, BATCH = 2000, DRAWS = 1024 };

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values)
{
    qsort(values, RUNS, sizeof(*values), ascending);
    return values[RUNS / 2];
}

static void die(const char *what)
{
    fprintf(stderr, "workload_bench: %s\n", what);
    exit(1);
}

static double zipf_ns(double s, uint64_t keys)
{
    static uint64_t rank[DRAWS];
    double ns[RUNS];
    struct kvc_rng rng;
    struct kvc_zipf *zipf = kvc_zipf_create(keys, s);
    if (zipf == NULL) {
        die("no memory");
    }
    kvc_rng_init(&rng, 1, "bench", 0);
    for (int run = 0; run < RUNS; run++) {
        double start = now_ns();
        for (int drawn = 0; drawn < REQUESTS; drawn += DRAWS) {
            kvc_zipf_fill(zipf, &rng, rank, DRAWS);
        }
        ns[run] = (now_ns() - start) / REQUESTS;
    }
    kvc_zipf_free(zipf);
    return median(ns);
}

/* Drains all shards in turn, frame by frame. Returns the time per request [ns]. */
static double drain_ns(struct kvc_source *source, uint32_t shards, struct kvc_batch *batch, int requests)
{
    double start = now_ns(), done_ns[BATCH];
    int taken = 0;
    for (uint32_t shard = 0, idle = 0; taken < requests; shard = (shard + 1) % shards) {
        uint32_t got;
        batch->count = 0;
        while (batch->count + FRAME <= BATCH && (got = kvc_source_drain(source, shard, 1e18, batch)) != 0) {
            taken += (int)got;
        }
        idle = batch->count != 0 ? 0 : idle + 1;
        if (idle == shards) {
            die("no shard has requests");
        }
        for (uint32_t i = 0; i < batch->count; i++) { /* The service time of the closed loop. */
            done_ns[i] = batch->sent_ns[i] + 1000;
        }
        kvc_source_complete(source, batch->client, done_ns, batch->count);
    }
    return (now_ns() - start) / taken;
}

static void check(const struct kvc_source *source, uint32_t shard, const struct kvc_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        if (kvc_source_shard(source, batch->hash[i]) != shard) {
            die("a request went to the wrong shard");
        }
    }
}

static double source_ns(const struct kvc_workload *workload, uint32_t nodes, uint32_t sockets)
{
    double ns[RUNS];
    struct kvc_source_params params = {.workload = workload,
                                       .nodes = nodes,
                                       .sockets = sockets,
                                       .seed = 1,
                                       .hash_seed = 1,
                                       .frame_requests = FRAME};
    struct kvc_source *source = kvc_source_create(&params, NULL);
    struct kvc_batch *batch = kvc_batch_create(BATCH, kvc_workload_key_stride(workload));
    if (source == NULL || batch == NULL) {
        die("no memory");
    }
    drain_ns(source, nodes * sockets, batch, REQUESTS / 10);
    for (uint32_t shard = 0; shard < nodes * sockets; shard++) {
        batch->count = 0;
        kvc_source_drain(source, shard, 1e18, batch);
        check(source, shard, batch);
    }
    for (int run = 0; run < RUNS; run++) {
        ns[run] = drain_ns(source, nodes * sockets, batch, REQUESTS);
    }
    kvc_source_free(source);
    kvc_batch_free(batch);
    return median(ns);
}

int main(void)
{
    static const double exponents[] = {0.5, 0.99, 1.2};
    static const struct {
        uint32_t nodes, sockets;
    } shapes[] = {{1, 1}, {1, 2}, {4, 2}};
    static const struct {
        const char *name;
        int popularity, sizes, arrival;
        uint64_t key_bytes;
    } loads[] = {
        {"uniform, 8 B keys, saturating", KVC_POPULARITY_UNIFORM, KVC_SIZES_FIXED, KVC_ARRIVAL_SATURATE, 8},
        {"zipf 0.99, 8 B keys, saturating", KVC_POPULARITY_ZIPF, KVC_SIZES_FIXED, KVC_ARRIVAL_SATURATE, 8},
        {"zipf 0.99, 128 B keys, saturating", KVC_POPULARITY_ZIPF, KVC_SIZES_FIXED, KVC_ARRIVAL_SATURATE,
         128},
        {"zipf 0.99, etc sizes, saturating", KVC_POPULARITY_ZIPF, KVC_SIZES_ETC, KVC_ARRIVAL_SATURATE, 8},
        {"uniform, 8 B keys, poisson", KVC_POPULARITY_UNIFORM, KVC_SIZES_FIXED, KVC_ARRIVAL_POISSON, 8},
        {"uniform, 8 B keys, rate curve", KVC_POPULARITY_UNIFORM, KVC_SIZES_FIXED, KVC_ARRIVAL_CURVE, 8},
        {"uniform, 8 B keys, 10000 clients", KVC_POPULARITY_UNIFORM, KVC_SIZES_FIXED, KVC_ARRIVAL_CLOSED, 8},
    };
    for (size_t i = 0; i < sizeof(exponents) / sizeof(*exponents); i++) {
        printf("zipf %-4g of 50e6 keys, draw alone %8.2f ns\n", exponents[i],
               zipf_ns(exponents[i], 50000000));
    }
    printf("%-36s %8s %8s %8s\n", "ns per request, by shards", "1", "2", "8");
    for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
        struct kvc_workload workload = {.keys = 50000000,
                                        .sizes = loads[i].sizes,
                                        .key_bytes = loads[i].key_bytes,
                                        .value_bytes = 8,
                                        .get_frac = 0.95,
                                        .set_frac = 0.05,
                                        .popularity = loads[i].popularity,
                                        .zipf_s = 0.99,
                                        .arrival = loads[i].arrival,
                                        .rate_mops = 100,
                                        .curve = {{0, 100}, {1e12, 200}},
                                        .curve_points = 2,
                                        .flows = 64,
                                        .connections = 16,
                                        .fill_timeout_ns = 1e5,
                                        .clients = 10000,
                                        .think_ns = 1000};
        printf("%-36s", loads[i].name);
        for (size_t j = 0; j < sizeof(shapes) / sizeof(*shapes); j++) {
            printf(" %8.2f", source_ns(&workload, shapes[j].nodes, shapes[j].sockets));
        }
        printf("\n");
    }
    return 0;
}

/* Holds the latencies of every store's closed form against short runs at 30 and 70 % of its capacity. The
 * bounds are the errors that docs/mechanisms.md states, widened by the noise of a run. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "models/forecast.h"
#include "scenarios/run/laws_fixture.h"
#include "sim/base/rng.h"
#include "sim/workload/keys/zipf.h"

enum { LATENCIES = 5 };

static const char *const names[LATENCIES] = {"latency_mean_us", "latency_p50_us", "latency_p95_us",
                                             "latency_p99_us", "latency_p99.9_us"};

struct load {
    const char *system, *arrival, *duration;
    double low_frac[LATENCIES], high_frac[LATENCIES]; /* Least and largest error of the closed form. */
};

static const struct load loads[] = {
    /* clang-format off */
    {"kind = 'megakv', index = '16MiB', slab = '64MiB'", "poisson_mops = 42", "5ms",
     {-0.03, -0.03, -0.09, -0.13, -0.18}, {0.02, 0.02, 0.00, -0.05, -0.05}},
    {"kind = 'megakv', index = '16MiB', slab = '64MiB'", "poisson_mops = 98", "5ms",
     {-0.05, -0.05, -0.06, -0.10, -0.12}, {0.00, 0.00, 0.00, -0.04, -0.04}},
    {"kind = 'memcachedgpu', entries = 2e5, slab = '64MiB'", "poisson_mops = 4.1", "3ms",
     {-0.02, -0.03, -0.03, -0.05, -0.08}, {0.02, 0.03, 0.02, 0.00, 0.00}},
    {"kind = 'memcachedgpu', entries = 2e5, slab = '64MiB'", "poisson_mops = 9.6", "3ms",
     {-0.02, -0.02, -0.03, -0.05, -0.07}, {0.02, 0.02, 0.00, 0.00, 0.00}},
    {"kind = 'bluecache'", "poisson_mops = 1.38", "20ms",
     {-0.03, -0.04, -0.04, -0.07, -0.12}, {0.03, 0.04, 0.03, 0.00, 0.00}},
    {"kind = 'bluecache'", "poisson_mops = 3.2", "20ms",
     {0.15, 0.15, 0.14, 0.12, 0.10}, {0.25, 0.28, 0.25, 0.24, 0.22}},
    {"kind = 'dido'", "poisson_mops = 9.1", "10ms",
     {0.00, 0.00, 0.03, 0.01, -0.01}, {0.08, 0.08, 0.12, 0.09, 0.07}},
    {"kind = 'dido'", "poisson_mops = 21.3", "10ms",
     {-0.09, -0.09, -0.03, -0.05, -0.08}, {0.00, 0.00, 0.06, 0.04, 0.02}},
    {"kind = 'kvdirect', memory = '64MiB'", "poisson_mops = 30", "1ms",
     {-0.07, -0.05, -0.15, -0.25, -0.38}, {0.00, 0.02, -0.07, -0.15, -0.27}},
    {"kind = 'kvdirect', memory = '64MiB'", "poisson_mops = 70", "1ms",
     {-0.10, -0.08, -0.16, -0.24, -0.34}, {-0.03, 0.00, -0.08, -0.15, -0.24}},
    {"kind = 'rdma'", "poisson_mops = 6.6", "3ms",
     {-0.01, -0.01, -0.01, -0.01, -0.01}, {0.01, 0.01, 0.01, 0.02, 0.03}},
    {"kind = 'rdma'", "poisson_mops = 15.4", "3ms",
     {-0.01, -0.01, -0.01, -0.01, -0.02}, {0.01, 0.01, 0.02, 0.03, 0.05}},
    {"kind = 'memcached'", "poisson_mops = 0.69", "20ms",
     {-0.01, -0.01, -0.02, 0.06, 0.18}, {0.02, 0.01, 0.03, 0.19, 0.36}},
    {"kind = 'memcached'", "poisson_mops = 1.6", "20ms",
     {-0.02, -0.05, -0.02, -0.04, 0.00}, {0.03, 0.01, 0.08, 0.08, 0.16}},
    {"kind = 'mica'", "poisson_mops = 23.7", "1ms",
     {-0.01, -0.01, -0.02, -0.03, -0.04}, {0.01, 0.01, 0.00, 0.00, 0.00}},
    {"kind = 'mica'", "poisson_mops = 55.2", "1ms",
     {-0.02, -0.01, -0.03, -0.04, -0.06}, {0.00, 0.01, 0.00, 0.00, 0.00}},
    {"kind = 'fpga_memcached'", "poisson_mops = 7.7", "2ms",
     {-0.01, -0.01, -0.01, -0.01, -0.01}, {0.01, 0.01, 0.02, 0.03, 0.04}},
    {"kind = 'fpga_memcached'", "poisson_mops = 17.9", "2ms",
     {-0.01, -0.01, -0.01, -0.01, -0.01}, {0.01, 0.01, 0.02, 0.03, 0.04}},
    {"kind = 'fatcache'", "clients = 4", "60ms",
     {-0.03, -0.02, -0.07, -0.28, -0.36}, {0.00, 0.01, 0.00, -0.10, -0.20}},
    {"kind = 'fatcache'", "clients = 16", "60ms",
     {-0.14, -0.10, -0.34, -0.44, -0.56}, {-0.05, -0.02, -0.24, -0.34, -0.42}},
    /* clang-format on */
};

static struct kvc_outcome *answer(const struct load *load, bool predict)
{
    return kvc_laws_answer(
        kvc_laws_load(
            "return { system = { %s }, run = { duration = '%s', replicas = 1 }, workload = { keys = 1e5, "
            "key = 16, value = 32, get = 0.95, set = 0.05, arrival = { %s } } }\n",
            load->system, load->duration, load->arrival),
        predict);
}

Test(closed_form, has_the_latencies_of_a_run_but_for_the_stated_errors, .timeout = 120)
{
    for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
        const struct load *load = &loads[i];
        struct kvc_outcome *closed = answer(load, true), *ran = answer(load, false);
        for (int k = 0; k < LATENCIES; k++) {
            double error = kvc_laws_value(closed, names[k]) / kvc_laws_value(ran, names[k]) - 1;
            cr_expect(error >= load->low_frac[k] && error <= load->high_frac[k],
                      "%s with %s: the error of %s is %+.3f, not %+.3f to %+.3f", load->system, load->arrival,
                      names[k], error, load->low_frac[k], load->high_frac[k]);
        }
        kvc_outcome_free(closed);
        kvc_outcome_free(ran);
    }
}

/* Writes a trace of GETs whose popular keys change over time, so that the popularity of a key over the whole
 * trace does not tell whether a cache has it. Values have 1000 bytes. */
static void write_trace(FILE *file)
{
    enum { ROWS = 30000, KEYS = 5000, ROWS_PER_SHIFT = 10 };
    struct kvc_zipf *zipf = kvc_zipf_create(KEYS, 0.9);
    struct kvc_rng rng;
    kvc_rng_init(&rng, 5, "trace", 0);
    fprintf(file, "time_us,op,key,key_bytes,value_bytes\n");
    for (uint64_t i = 0; i < ROWS; i++) {
        uint64_t key;
        kvc_zipf_fill(zipf, &rng, &key, 1);
        fprintf(file, "%llu,get,k%llu,16,1000\n", (unsigned long long)(20 * i),
                (unsigned long long)(key + i / ROWS_PER_SHIFT));
    }
    cr_assert_eq(fclose(file), 0);
    kvc_zipf_free(zipf);
}

/* Stores with room for some of the trace's pairs. Timestamps of a millisecond, sets of a table, CLOCK, the
 * log of a core and SETs that are still on their way make them differ from LRU. */
Test(closed_form, has_the_hits_of_a_trace_in_a_store_that_evicts)
{
    static const struct {
        const char *system;
        double error_frac; /* Largest error of the hit ratio. */
    } stores[] = {
        {"kind = 'memcached', entries = 500", 0.03},
        {"kind = 'memcached', entries = 2000", 0.01},
        {"kind = 'fpga_memcached', entries = 2000", 0.02},
        {"kind = 'memcachedgpu', entries = 2048", 0.06},
        {"kind = 'megakv', slab = '2MiB', index = '1MiB'", 0.03},
        {"kind = 'dido', slab = '2MiB', index = '1MiB'", 0.03},
        {"kind = 'mica', log = '128KiB'", 0.03},
    };
    char path[] = "/tmp/kvcast-trace-XXXXXX";
    write_trace(fdopen(mkstemp(path), "w"));
    for (size_t i = 0; i < sizeof(stores) / sizeof(*stores); i++) {
        double hit_frac[2];
        for (int predict = 0; predict < 2; predict++) {
            struct kvc_outcome *outcome = kvc_laws_answer(
                kvc_laws_load("return { system = { %s }, run = { replicas = 1 }, workload = { arrival = { "
                              "trace = '%s', misses = 'fill' } } }",
                              stores[i].system, path),
                predict);
            hit_frac[predict] = predict ? kvc_metrics_get(&outcome->result.model, "hit_frac")
                                        : kvc_laws_value(outcome, "hit_frac");
            kvc_outcome_free(outcome);
        }
        cr_expect_float_eq(hit_frac[1], hit_frac[0], stores[i].error_frac, "%s: %.4f, but a run has %.4f",
                           stores[i].system, hit_frac[1], hit_frac[0]);
    }
    unlink(path);
}

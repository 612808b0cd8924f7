/* Holds the latencies of every store's closed form against short runs at 30 and 70 % of its capacity. The
 * bounds are the errors that docs/mechanisms.md states, widened by the noise of a run. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "models/forecast.h"
#include "scenarios/run/laws_fixture.h"

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
     {0.00, 0.00, -0.07, -0.10, -0.15}, {0.06, 0.06, 0.00, 0.00, 0.00}},
    {"kind = 'megakv', index = '16MiB', slab = '64MiB'", "poisson_mops = 98", "5ms",
     {0.00, 0.00, -0.02, -0.06, -0.12}, {0.07, 0.07, 0.06, 0.03, 0.00}},
    {"kind = 'memcachedgpu', entries = 2e5, slab = '64MiB'", "poisson_mops = 4.1", "3ms",
     {-0.02, -0.03, -0.03, -0.05, -0.08}, {0.02, 0.03, 0.02, 0.00, 0.00}},
    {"kind = 'memcachedgpu', entries = 2e5, slab = '64MiB'", "poisson_mops = 9.6", "3ms",
     {-0.02, -0.02, -0.03, -0.05, -0.07}, {0.02, 0.02, 0.00, 0.00, 0.00}},
    {"kind = 'bluecache'", "poisson_mops = 1.38", "20ms",
     {-0.03, -0.04, -0.04, -0.07, -0.12}, {0.03, 0.04, 0.03, 0.00, 0.00}},
    {"kind = 'bluecache'", "poisson_mops = 3.2", "20ms",
     {0.15, 0.15, 0.14, 0.12, 0.10}, {0.25, 0.28, 0.25, 0.24, 0.22}},
    {"kind = 'dido'", "poisson_mops = 14.4", "10ms",
     {-0.06, -0.06, -0.02, -0.04, -0.06}, {0.00, 0.00, 0.06, 0.04, 0.02}},
    {"kind = 'dido'", "poisson_mops = 33.6", "10ms",
     {-0.16, -0.16, -0.15, -0.19, -0.22}, {-0.06, -0.06, -0.05, -0.09, -0.12}},
    {"kind = 'kvdirect', memory = '64MiB'", "poisson_mops = 45", "1ms",
     {-0.08, -0.06, -0.13, -0.21, -0.30}, {0.00, 0.02, -0.04, -0.11, -0.18}},
    {"kind = 'kvdirect', memory = '64MiB'", "poisson_mops = 105", "1ms",
     {-0.11, -0.10, -0.14, -0.21, -0.28}, {-0.04, -0.02, -0.05, -0.11, -0.16}},
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

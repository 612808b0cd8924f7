#include "models/megakv/periodic.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { POSITIONS = 64, CYCLES = 64 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Follows every cycle and every request. Returns their number. */
static uint32_t simulate(const struct kvc_megakv_cycle_times *times, uint32_t delay, double *value)
{
    double gpu_free_ns = 0, sender_free_ns = 0;
    uint32_t count = 0;
    for (uint32_t k = 1; k <= CYCLES * delay; k++) {
        double launched_ns = k * times->cycle_ns;
        double searched_ns = fmax(launched_ns, gpu_free_ns) + times->search_ns;
        double sent_from_ns = fmax(searched_ns, sender_free_ns);
        gpu_free_ns = searched_ns + (k % delay == 0 && !times->overlap ? times->insert_ns : 0);
        sender_free_ns = sent_from_ns + times->batch_send_ns;
        for (int i = 0; i < POSITIONS && k > (CYCLES - 1) * delay; i++) {
            double position = (i + 0.5) / POSITIONS,
                   arrived_ns = launched_ns - (1 - position) * times->cycle_ns;
            value[count++] = sent_from_ns + position * times->batch_send_ns - arrived_ns + times->fixed_ns;
        }
    }
    qsort(value, count, sizeof(*value), compare);
    return count;
}

static void expect_equal(const struct kvc_megakv_cycle_times *times, uint32_t delay)
{
    static const double quantiles[] = {1, 0.999, 0.99, 0.95, 0.5, 0.01, 0};
    static double value[KVC_MEGAKV_DELAY_MAX * POSITIONS];
    double found_ns[7], sum_ns = 0;
    uint32_t count = simulate(times, delay, value);
    struct kvc_megakv_latencies latencies = kvc_megakv_latencies_of(times, delay);
    kvc_megakv_latency_quantiles_ns(&latencies, quantiles, 7, found_ns);
    for (uint32_t i = 0; i < count; i++) {
        sum_ns += value[i];
    }
    double mean_ns = sum_ns / count;
    cr_expect_float_eq(kvc_megakv_latency_mean_ns(&latencies), mean_ns, 1e-10 * mean_ns);
    for (int i = 0; i < 7; i++) {
        double expected_ns = value[(size_t)(quantiles[i] * (count - 1))];
        cr_expect_float_eq(found_ns[i], expected_ns, 1e-10 * expected_ns, "%g of delay %u: %g, not %g",
                           quantiles[i], delay, found_ns[i], expected_ns);
    }
}

Test(periodic, has_the_latencies_of_every_cycle_and_request)
{
    static const uint32_t delays[] = {1, 2, 3, 7, 64};
    static const struct kvc_megakv_cycle_times cases[] = {
        {160e3, 90e3, 100e3, 60e3, 1, 1, 1e3, false},  /* A search waits for the inserts before it. */
        {160e3, 90e3, 100e3, 60e3, 1, 1, 1e3, true},   /* It does not. */
        {160e3, 20e3, 10e3, 159e3, 1, 1, 0, false},    /* The sender is nearly always busy. */
        {160e3, 150e3, 100e3, 200e3, 1, 1, 0, false},  /* Neither can keep up. */
        {160e3, 50e3, 400e3, 160e3, 1, 1, 5e3, false}, /* All requests of a batch take as long. */
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        for (size_t d = 0; d < sizeof(delays) / sizeof(*delays); d++) {
            expect_equal(&cases[c], delays[d]);
        }
    }
}

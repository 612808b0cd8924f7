#include "sim/metrics/multigets.h"

#include <criterion/criterion.h>
#include <math.h>

#include "sim/base/rng.h"

enum { MULTIGETS = 5000, KEYS = 3 };

static double metric(const struct kvc_multigets *multigets, const char *name)
{
    struct kvc_metrics metrics = {.count = 0};
    kvc_multigets_report(multigets, 1e9, &metrics);
    return kvc_metrics_get(&metrics, name);
}

/* Returns when multiget i is sent. */
static double sent(uint32_t i)
{
    return 10 * i + 0.25;
}

/* Answers to thousands of open multigets come in any order; each waits for its last one. */
Test(multigets, wait_for_their_last_answer)
{
    static uint32_t order[MULTIGETS * KEYS];
    struct kvc_multigets *multigets = kvc_multigets_create(KEYS, 1);
    struct kvc_rng rng;
    double sum_ns = 0;
    kvc_rng_init(&rng, 1, "order", 0);
    multigets->until_ns = INFINITY;
    for (uint32_t i = 0; i < MULTIGETS * KEYS; i++) {
        uint32_t other = (uint32_t)kvc_rng_below(&rng, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (uint32_t i = 0; i < MULTIGETS * KEYS; i++) {
        uint32_t multiget = order[i] / KEYS, key = order[i] % KEYS;
        double sent_ns = sent(multiget), done_ns = sent_ns + 100 + multiget + 1000 * key;
        kvc_multigets_answered(multigets, &sent_ns, &done_ns, 1);
    }
    for (uint32_t i = 0; i < MULTIGETS; i++) {
        sum_ns += 100 + i + 1000 * (KEYS - 1);
    }
    cr_expect_eq(multigets->count, 0);
    cr_expect_eq(multigets->latency.count, MULTIGETS);
    cr_expect_float_eq(metric(multigets, "multiget_mean_us"), sum_ns / MULTIGETS * 1e-3, 1e-9);
    cr_expect_float_eq(metric(multigets, "multiget_mops"), MULTIGETS * 1e-6, 1e-12);
    cr_expect_eq(metric(multigets, "multiget_lost_frac"), 0);
    kvc_multigets_free(multigets);
}

/* A lost request takes its multiget with it, whatever comes first; times outside of the measured one do not
 * count. */
Test(multigets, are_lost_with_any_of_their_requests)
{
    struct kvc_multigets *multigets = kvc_multigets_create(2, 1);
    multigets->from_ns = 100;
    multigets->until_ns = 1000;
    const struct {
        double sent_ns, first_ns, second_ns; /* First and second end; below 0: lost. */
    } all[] = {{110, 200, 300}, {120, -1, 300}, {130, 300, -1},
               {140, -1, -1},   {50, 60, 99},   {150, 200, 1000}};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        const double *end_ns = &all[i].first_ns;
        for (int key = 0; key < 2; key++) {
            if (end_ns[key] < 0) {
                kvc_multigets_dropped(multigets, &all[i].sent_ns, 1);
            } else {
                kvc_multigets_answered(multigets, &all[i].sent_ns, &end_ns[key], 1);
            }
        }
    }
    cr_expect_eq(multigets->count, 0);
    cr_expect_eq(multigets->latency.count, 1);
    cr_expect_eq(multigets->lost, 3);
    cr_expect_float_eq(metric(multigets, "multiget_p99_us"), 0.19, 0.001);
    cr_expect_float_eq(metric(multigets, "multiget_lost_frac"), 0.75, 1e-12);
    kvc_multigets_free(multigets);
}

/* What is sent at other times is a write, and nobody waits for it. */
Test(multigets, are_told_apart_from_writes_by_their_times)
{
    enum { SENT = 100000 };
    struct kvc_multigets *multigets = kvc_multigets_create(1, 0.3);
    multigets->until_ns = INFINITY;
    for (uint32_t i = 0; i < SENT; i++) {
        double sent_ns = sent(i), done_ns = sent_ns + 1;
        kvc_multigets_answered(multigets, &sent_ns, &done_ns, 1);
    }
    cr_expect_float_eq((double)multigets->latency.count, 0.3 * SENT, 5 * sqrt(0.3 * 0.7 * SENT));
    kvc_multigets_free(multigets);
}

#include "models/latency.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct kvc_workload poisson = {.arrival = KVC_ARRIVAL_POISSON, .rate_mops = 1};

static struct kvc_latencies latencies_of(const struct kvc_latency_law *law,
                                         const struct kvc_workload *workload, double mops)
{
    struct kvc_latencies found;
    kvc_latencies_set(law, workload, mops, &found);
    return found;
}

static struct kvc_latency_law queue_of(double servers, double utilization_frac, double job_cv2)
{
    struct kvc_latency_law law = {0};
    kvc_latency_add(&law, 1, 0, 0);
    kvc_latency_queue(&law, &poisson,
                      &(struct kvc_latency_queue){.name = "threads",
                                                  .servers = servers,
                                                  .job_ns = 1000,
                                                  .job_cv2 = job_cv2,
                                                  .utilization_frac = utilization_frac,
                                                  .share = 1,
                                                  .equals_frac = 1,
                                                  .visits = 1});
    return law;
}

Test(latency, of_parts_is_a_mixture_of_intervals)
{
    struct kvc_latency_law law = {0};
    kvc_latency_add(&law, 0.9, 1000, 1000);
    kvc_latency_add(&law, 0.1, 10000, 0);
    struct kvc_latencies found = latencies_of(&law, &poisson, 1);
    cr_expect_float_eq(found.mean_us, 0.9 * 1.5 + 0.1 * 10, 1e-9);
    cr_expect_float_eq(found.p50_us, 1 + 0.5 / 0.9, 1e-6);
    cr_expect_float_eq(found.p95_us, 10, 1e-6);
    cr_expect_float_eq(found.p999_us, 10, 1e-6);
}

Test(latency, of_one_server_is_that_of_pollaczek_and_khinchine)
{
    struct kvc_latency_law constant = queue_of(1, 0.7, 0), exponential = queue_of(1, 0.7, 1);
    cr_expect_float_eq(latencies_of(&constant, &poisson, 1).mean_us, 0.7 / 0.3 / 2, 1e-9);
    struct kvc_latencies found = latencies_of(&exponential, &poisson, 1);
    cr_expect_float_eq(found.mean_us, 0.7 / 0.3, 1e-9);
    cr_expect_float_eq(found.p99_us, log(0.7 / 0.01) / 0.3, 1e-6, "exact for M/M/1");
    cr_expect_float_eq(found.p50_us, log(0.7 / 0.5) / 0.3, 1e-6);
}

Test(latency, of_many_servers_follows_erlang)
{
    struct kvc_latency_law law = queue_of(2, 0.5, 1); /* Erlang's C(2, 0.5) is 1/3. */
    cr_expect_float_eq(latencies_of(&law, &poisson, 1).mean_us, 1.0 / 3, 1e-9);
    cr_expect_float_eq(latencies_of(&law, &poisson, 1).p50_us, 0, 1e-6, "most do not wait");
}

Test(latency, of_a_load_at_or_above_the_capacity_is_unknown)
{
    char text[KVC_NOTE_BYTES];
    struct kvc_latency_law full = queue_of(1, 1, 0), below = queue_of(1, 0.5, 0);
    cr_expect(isnan(latencies_of(&full, &poisson, 1).mean_us));
    cr_expect(isnan(latencies_of(&below, &poisson, 0.9).p99_us), "a tenth of the load is not served");
    kvc_latencies_explain(&full, &poisson, 1, text);
    cr_expect_not_null(strstr(text, "the backlog grows"), "%s", text);
    cr_expect(isfinite(latencies_of(&below, &poisson, 1).p999_us));
}

Test(latency, of_clients_that_wait_follows_little)
{
    const struct kvc_workload clients = {.arrival = KVC_ARRIVAL_SATURATE};
    struct kvc_latency_law law = {0};
    kvc_latency_add(&law, 0.5, 1000, 0);
    kvc_latency_add(&law, 0.5, 3000, 0);
    kvc_latency_closed(&law, 10000);
    struct kvc_latencies found = latencies_of(&law, &clients, 1);
    cr_expect_float_eq(found.mean_us, 10, 1e-9);
    cr_expect_float_eq(found.p50_us, 9, 1e-6);
    cr_expect_float_eq(found.p99_us, 11, 1e-6);
}

Test(latency, of_a_cluster_is_unknown_if_that_of_a_class_is)
{
    const struct kvc_latencies known = {2, 2, 3, 4, 5}, unknown = {NAN, NAN, NAN, NAN, NAN};
    struct kvc_latencies sum = {0};
    kvc_latencies_add_class(&sum, &known, 1);
    kvc_latencies_end_sum(&sum, 1);
    cr_expect_eq(sum.p99_us, 4);
    sum = (struct kvc_latencies){0};
    kvc_latencies_add_class(&sum, &known, 1);
    kvc_latencies_add_class(&sum, &unknown, 1);
    kvc_latencies_end_sum(&sum, 2);
    cr_expect(isnan(sum.mean_us) && isnan(sum.p99_us));
}

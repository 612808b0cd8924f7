#include "models/composed/closed_form/mva.h"

#include <criterion/criterion.h>
#include <math.h>

#include "sim/base/bracket.h"

/* Equal queues that each customer visits one after the other, and a delay. Times and arrivals are
 * exponential: the share of the customers that come to a queue is small. */
struct circle {
    double customers, queues, servers, job_ns, delay_ns;
};

static struct kvc_latency_queue queue_of(const struct circle *circle, double per_ns)
{
    return (struct kvc_latency_queue){.group = KVC_LATENCY_PARALLEL,
                                      .name = "queue",
                                      .servers = circle->servers,
                                      .job_ns = circle->job_ns,
                                      .job_cv2 = 1,
                                      .utilization_frac = per_ns * circle->job_ns / circle->servers,
                                      .equals_frac = 1,
                                      .visits = 1};
}

static double wait_ns(const struct circle *circle, double per_ns)
{
    struct kvc_composed_network network = {0};
    const struct kvc_latency_queue queue = queue_of(circle, per_ns);
    kvc_composed_network_add(&network, NULL, &queue, circle->customers, 0);
    return kvc_composed_network_ns(&network);
}

static double left(void *data, double log_per_ns)
{
    const struct circle *circle = data;
    double per_ns = exp(log_per_ns);
    double cycle_ns = circle->delay_ns + circle->queues * (circle->job_ns + wait_ns(circle, per_ns));
    return log(per_ns * cycle_ns / circle->customers);
}

/* Returns the throughput, as models/composed/predict.c finds it. */
static double rate_of(struct circle circle)
{
    double low = log(1e-9), high = log(circle.servers / circle.job_ns);
    struct kvc_bracket bracket = {low, left(&circle, low), high, left(&circle, high)};
    return bracket.f_high < 0 ? exp(high) : exp(kvc_bisect_rising(left, &circle, low, high, 50, bracket));
}

/* Returns the sum of the weights of all places of n customers, at a queue or in the delay, in units of the
 * time of a job (Gordon and Newell, "Closed Queuing Systems with Exponential Servers", Operations Research
 * 15(2), 1967). */
static double weights(const struct circle *circle, int n)
{
    double sum = 0, at_queue = 1;
    for (int j = 0; j <= n; j++) {
        double delayed = 1;
        for (int i = 1; i <= n - j; i++) {
            delayed *= circle->delay_ns / circle->job_ns / i;
        }
        sum += at_queue * delayed;
        at_queue /= fmin(j + 1, circle->servers);
    }
    return sum;
}

static double exact_rate(const struct circle *circle)
{
    int n = (int)circle->customers;
    return weights(circle, n - 1) / weights(circle, n) / circle->job_ns;
}

Test(composed_mva, of_equal_queues_is_exact)
{
    for (double n = 1; n <= 64; n *= 2) {
        const struct circle circle = {n, 3, 1, 100, 0};
        cr_expect_float_eq(rate_of(circle), n / (n + 2) / 100, 1e-9, "%g customers", n);
    }
}

/* Schweitzer's approximation errs most where the customers are about as many as just keep the servers busy.
 */
Test(composed_mva, is_near_the_exact_solution)
{
    for (double servers = 1; servers <= 8; servers *= 2) {
        for (double n = 1; n <= 128; n *= 2) {
            const struct circle circle = {n, 1, servers, 100, 400};
            double error = rate_of(circle) / exact_rate(&circle) - 1;
            cr_expect_lt(fabs(error), 0.07, "%g servers, %g customers: %.3f", servers, n, error);
        }
    }
}

Test(composed_mva, stays_within_the_bounds_of_operational_analysis)
{
    for (double servers = 1; servers <= 8; servers *= 2) {
        for (double n = 1; n <= 128; n *= 2) {
            const struct circle circle = {n, 1, servers, 100, 400};
            double most = fmin(n / 500, servers / 100);
            cr_expect_leq(rate_of(circle), most * (1 + 1e-9), "%g servers, %g customers", servers, n);
            cr_expect(n > servers || fabs(rate_of(circle) / most - 1) < 1e-9, "each customer finds a server");
        }
    }
}

/* With many customers, what one of them takes is nothing, and the network is that of an open load. */
Test(composed_mva, of_many_customers_waits_as_an_open_load_does)
{
    static const struct kvc_workload poisson = {.arrival = KVC_ARRIVAL_POISSON};
    for (double utilization_frac = 0.1; utilization_frac < 0.95; utilization_frac += 0.2) {
        const struct circle many = {1e9, 1, 2, 100, 0};
        double per_ns = utilization_frac * 2 / 100;
        const struct kvc_latency_queue queue = queue_of(&many, per_ns);
        double open_ns = kvc_latency_wait_of(&poisson, &queue).mean_ns;
        cr_expect_float_eq(wait_ns(&many, per_ns), open_ns, 1e-5 * open_ns);
    }
}

Test(composed_mva, lets_customers_of_constant_times_keep_their_distances)
{
    struct kvc_composed_network network = {0};
    const struct circle circle = {10, 1, 1, 100, 400};
    struct kvc_latency_queue queue = queue_of(&circle, 0.009);
    queue.job_cv2 = 0;
    queue.share = 1;
    kvc_composed_network_add(&network, NULL, &queue, 10, 0);
    cr_expect_float_eq(kvc_composed_network_ns(&network), 0, 1e-12);
    queue.share = 0.5; /* Keys choose one of two such queues. */
    kvc_composed_network_add(&network, NULL, &queue, 10, 0);
    cr_expect_gt(kvc_composed_network_ns(&network), 10);
}

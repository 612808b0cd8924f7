#include "models/composed/closed_form/mva.h"

#include <math.h>

#include "sim/base/diag.h"

/* Returns what a customer of a closed load meets at a queue: the others, who do not come at random. */
static struct kvc_latency_wait closed_wait(const struct kvc_latency_queue *queue, double customers)
{
    static const struct kvc_workload regular = {.arrival = KVC_ARRIVAL_FIXED};
    struct kvc_latency_queue others = *queue;
    double before_ns = (customers - queue->servers) / queue->servers * queue->job_ns;
    if (before_ns <= 0) {
        return (struct kvc_latency_wait){*queue, 0, 0};
    }
    others.utilization_frac = fmin(queue->utilization_frac, 1) * (customers - 1) / customers;
    others.longest_ns = queue->longest_ns > 0 ? fmin(queue->longest_ns, before_ns) : before_ns;
    struct kvc_latency_wait wait = kvc_latency_wait_of(&regular, &others);
    wait.queue.utilization_frac = queue->utilization_frac;
    return wait;
}

void kvc_composed_network_add(struct kvc_composed_network *network, const struct kvc_workload *workload,
                              const struct kvc_latency_queue *queue, double customers)
{
    if (!(queue->job_ns > 0 && queue->utilization_frac > 0)) {
        return;
    }
    if (network->queues == KVC_COMPOSED_QUEUES_MAX) {
        KVC_BUG("more than %d queues", KVC_COMPOSED_QUEUES_MAX);
    }
    network->wait[network->queues++] =
        isinf(customers) ? kvc_latency_wait_of(workload, queue) : closed_wait(queue, customers);
}

void kvc_composed_network_wait(const struct kvc_composed_network *network, struct kvc_latency_law *law)
{
    for (uint32_t i = 0; i < network->queues; i++) {
        struct kvc_latency_wait *longest = &law->wait[network->wait[i].queue.group];
        if (network->wait[i].mean_ns > longest->mean_ns) {
            *longest = network->wait[i];
        }
    }
}

double kvc_composed_network_ns(const struct kvc_composed_network *network)
{
    struct kvc_latency_law law = {0};
    double sum_ns = 0;
    kvc_composed_network_wait(network, &law);
    for (int i = 0; i < KVC_LATENCY_GROUPS; i++) {
        sum_ns += law.wait[i].mean_ns;
    }
    return sum_ns;
}

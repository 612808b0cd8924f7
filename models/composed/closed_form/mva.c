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
                              const struct kvc_latency_queue *queue, double customers, uint32_t stages)
{
    if (!(queue->job_ns > 0 && queue->utilization_frac > 0)) {
        return;
    }
    if (network->queues == KVC_COMPOSED_QUEUES_MAX) {
        KVC_BUG("more than %d queues", KVC_COMPOSED_QUEUES_MAX);
    }
    network->stages[network->queues] = stages;
    network->wait[network->queues++] =
        isinf(customers) ? kvc_latency_wait_of(workload, queue) : closed_wait(queue, customers);
}

/* Sets the queue of each group that has the longest wait; UINT32_MAX: none waits in it. */
static void set_longest(const struct kvc_composed_network *network, uint32_t longest[KVC_LATENCY_GROUPS])
{
    for (int i = 0; i < KVC_LATENCY_GROUPS; i++) {
        longest[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < network->queues; i++) {
        uint32_t *of = &longest[network->wait[i].queue.group];
        bool is_longer = network->wait[i].mean_ns > (*of == UINT32_MAX ? 0 : network->wait[*of].mean_ns);
        *of = is_longer ? i : *of;
    }
}

void kvc_composed_network_wait(const struct kvc_composed_network *network, struct kvc_latency_law *law)
{
    uint32_t longest[KVC_LATENCY_GROUPS];
    set_longest(network, longest);
    for (int i = 0; i < KVC_LATENCY_GROUPS; i++) {
        if (longest[i] != UINT32_MAX) {
            law->wait[i] = network->wait[longest[i]];
        }
    }
}

double kvc_composed_network_ns(const struct kvc_composed_network *network)
{
    uint32_t longest[KVC_LATENCY_GROUPS];
    double sum_ns = 0;
    set_longest(network, longest);
    for (int i = 0; i < KVC_LATENCY_GROUPS; i++) {
        sum_ns += longest[i] != UINT32_MAX ? network->wait[longest[i]].mean_ns : 0;
    }
    return sum_ns;
}

void kvc_composed_network_by_stage(const struct kvc_composed_network *network, const double *share,
                                   double *wait_ns)
{
    uint32_t longest[KVC_LATENCY_GROUPS];
    set_longest(network, longest);
    for (int i = 0; i < KVC_LATENCY_GROUPS; i++) {
        uint32_t stages = longest[i] != UINT32_MAX ? network->stages[longest[i]] : 0;
        double all = 0;
        for (uint32_t left = stages; left != 0; left &= left - 1) {
            all += share[__builtin_ctz(left)];
        }
        for (uint32_t left = stages; left != 0 && all > 0; left &= left - 1) {
            int stage = __builtin_ctz(left);
            wait_ns[stage] += network->wait[longest[i]].mean_ns * share[stage] / all;
        }
    }
}

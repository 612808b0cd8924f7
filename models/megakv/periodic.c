#include "models/megakv/periodic.h"

#include <math.h>

enum {
    POSITIONS = 64,       /* Requests of a batch whose latency is computed. */
    SETTLING_CYCLES = 64, /* Cycles per delay after which growing waits are taken. */
};

struct kvc_megakv_latencies kvc_megakv_latencies_of(const struct kvc_megakv_cycle_times *times,
                                                    uint32_t delay)
{
    struct kvc_megakv_latencies latencies;
    double gpu_free_ns = 0, sender_free_ns = 0; /* Counted from the launch of a cycle. */
    double search_ns = times->search_ns, cycle_ns = times->cycle_ns;
    double middle_ns = (times->batch_send_ns + cycle_ns) / 2 + times->fixed_ns;
    latencies.batches = delay;
    latencies.spread_ns = times->batch_send_ns - cycle_ns;
    for (uint32_t round = 0; round < SETTLING_CYCLES; round++) {
        double gpu_before_ns = gpu_free_ns, sender_before_ns = sender_free_ns;
        for (uint32_t k = 0; k < delay; k++) {
            double searched_ns = gpu_free_ns + search_ns;
            double sent_from_ns = fmax(searched_ns, sender_free_ns);
            double inserted_ns = searched_ns + (k + 1 == delay && !times->overlap ? times->insert_ns : 0);
            latencies.middle_ns[k] = sent_from_ns + middle_ns;
            gpu_free_ns = fmax(inserted_ns - cycle_ns, 0);
            /* A search takes search_ns at least, so a sender that is free earlier waits for it. */
            sender_free_ns = fmax(sent_from_ns + times->batch_send_ns - cycle_ns, search_ns);
        }
        if (gpu_free_ns == gpu_before_ns && sender_free_ns == sender_before_ns) {
            break; /* The next round would be the same. */
        }
    }
    return latencies;
}

double kvc_megakv_latency_mean_ns(const struct kvc_megakv_latencies *latencies)
{
    double sum_ns = 0;
    for (uint32_t k = 0; k < latencies->batches; k++) {
        sum_ns += latencies->middle_ns[k];
    }
    return sum_ns / latencies->batches;
}

void kvc_megakv_latency_quantiles_ns(const struct kvc_megakv_latencies *latencies, const double *quantile,
                                     uint32_t count, double *value_ns)
{
    uint32_t requests = latencies->batches * POSITIONS, next = 0, taken = 0;
    double step_ns = fabs(latencies->spread_ns) / POSITIONS;
    double longest_ns[KVC_MEGAKV_DELAY_MAX]; /* Of the requests of each batch that are not taken yet. */
    uint32_t left[KVC_MEGAKV_DELAY_MAX];     /* How many these are. */
    for (uint32_t k = 0; k < latencies->batches; k++) {
        longest_ns[k] = latencies->middle_ns[k] + step_ns * (POSITIONS - 1) / 2;
        left[k] = POSITIONS;
    }
    while (next < count) {
        uint32_t first = 0;
        for (uint32_t k = 1; k < latencies->batches; k++) {
            first = longest_ns[k] > longest_ns[first] ? k : first;
        }
        for (; next < count && requests - 1 - (uint32_t)(quantile[next] * (requests - 1)) == taken; next++) {
            value_ns[next] = longest_ns[first];
        }
        taken++;
        longest_ns[first] = --left[first] > 0 ? longest_ns[first] - step_ns : -INFINITY;
    }
}

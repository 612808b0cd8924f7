/* Mega-KV's energy manager: which clocks of CPU and GPU serve what the slower of the two can serve.
 *
 * Source: Zhang et al., VLDB J. 26(5), 2017, sec. 6. Symbols: T_C is the throughput of the CPU, measured
 * while the store runs; T_G is that of the GPU, by eq. (4) at the cycle and a clock pair's fit; both of one
 * socket.
 *
 * - If the CPU is faster, it is slowed by a step while T_C - T_G > mu * T_G (eq. (3)), and measured anew
 * after each step. The paper prints "until": the condition holds at the begin, so it can only mean "while".
 * - If the GPU is faster, it gets the pair with min { T | T > T_C }, of all pairs that it has.
 * - If T_C has changed by more than a share since the manager tuned the clocks, both get their highest clocks
 *   and the manager tunes them again.
 *
 * Assumed, because the paper does not say: how long the CPU is measured after a change of clocks
 * (power.settle), and that sockets are managed on their own, since each has a scheduler, a CPU and a GPU. */
#ifndef KVC_MODELS_MEGAKV_MANAGER_H
#define KVC_MODELS_MEGAKV_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "models/megakv/costs.h"
#include "models/megakv/equations.h"
#include "sim/power_policy.h"

/* Whether the CPU is so much faster than the GPU that it is slowed: eq. (3). */
bool kvc_megakv_cpu_leads(double cpu_mops, double gpu_mops, double mu);

/* Returns the pair with the smallest throughput above cpu_mops; pair 0, the fastest, if none has one.
 * gpu_mops[i] is the throughput at pair i. */
uint32_t kvc_megakv_slowest_pair(const double *gpu_mops, uint32_t pairs, double cpu_mops);

/* What the manager of a socket is doing. */
enum kvc_megakv_managing {
    KVC_MEGAKV_MEASURING, /* Both have their highest clocks, and T_C is being measured. */
    KVC_MEGAKV_SLOWING,   /* The CPU was slowed by a step, and T_C is being measured. */
    KVC_MEGAKV_TUNED,     /* The clocks fit the T_C that was measured last. */
};

/* The manager of a socket. A zeroed one begins to measure. */
struct kvc_megakv_manager {
    enum kvc_megakv_managing state;
    double tuned_mops; /* T_C when the clocks were tuned [million/s]. */
    uint32_t tunings;  /* How often they were. */
};

/* Looks at a socket, chooses its states and returns the time until the next look [ns]. The throughputs of the
 * GPU follow from the costs of the store. */
double kvc_megakv_manage(struct kvc_megakv_manager *manager, const struct kvc_power_policy *power,
                         const struct kvc_megakv_costs *costs, const struct kvc_megakv_load *load,
                         const struct kvc_power_view *view, struct kvc_power_choice *choice);

#endif

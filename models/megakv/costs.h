/* What one request costs on Mega-KV's receiver and sender threads, and a launch on the index's device.
 *
 * Shared by the closed form and the simulation. Where the node's stages were measured, their laws are what is
 * charged, for the number of pipelines and the memory that the scenario has. Else the unit costs come from
 * the hardware profile; what is charged: receiver  every request: packet I/O and parsing (compute), and its
 * index job (signature and hash, for a SET the location too) written to the batch as a stream (stall). SET:
 * the payload is read from the packet as a stream and written to its item, whose first line is a random
 * access (stall). sender    every response: packet I/O (compute). GET: its location read from the batch as a
 * stream (stall). GET that hit: the item's lines, the first at random, and the response written as a stream
 * (stall). api get: a pointer to the request is read as a stream and the request's key fetched again to
 * compare; two cycles after it was parsed it has left the core's own caches, so this is one last-level-cache
 * hit (stall). SET, DELETE: the acknowledgement only. Not charged (no published or measured cost): signature
 * and hash computation, allocation and the CLOCK bitmap, stores into the NIC's rings. */
#ifndef KVC_MODELS_MEGAKV_COSTS_H
#define KVC_MODELS_MEGAKV_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/index.h"
#include "models/megakv/cache.h"
#include "models/megakv/config.h"
#include "models/megakv/launch.h"
#include "sim/base/curve.h"
#include "sim/scenario.h"

/* Unit costs, as far as a scenario settles them. */
struct kvc_megakv_costs {
    const struct kvc_megakv_config *config;
    uint32_t clock;        /* Clock pair of the GPU, which the closed form varies. */
    bool measured;         /* the curves are the costs, by what kvc_stages says */
    double pass_ns;        /* of the CLOCK hand, an item */
    double high_load;      /* the index: 0 as much as the laws say, 1 as much as the fuller ones do */
    double slowest_sender; /* over the mean of all */
    struct kvc_megakv_lookup_mix
        lookup_mix; /* as the closed form expects them; all 0 where nothing was measured */
    struct kvc_curve receive, write, read, read_checked, read_half_marked, read_marked, read_half_missed,
        search, search_miss, drain, insert;
    /* the fuller index, and the usual one with as many streams as that was measured with */
    struct kvc_curve search_high_load, search_usual, insert_high_load, insert_usual;
};

/* `scenario` must outlive them. */
struct kvc_megakv_costs kvc_megakv_costs_of(const struct kvc_scenario *scenario);

/* Of one of the requests of a frame of frame_requests. */
struct kvc_cpu_cost kvc_megakv_receive_cost(const struct kvc_megakv_costs *costs, double frame_requests,
                                            int op, uint32_t key_bytes, uint32_t value_bytes);

struct kvc_cpu_cost kvc_megakv_send_cost(const struct kvc_megakv_costs *costs,
                                         const struct kvc_megakv_lookup_mix *lookup_mix, int outcome,
                                         uint32_t key_bytes, uint32_t value_bytes);

/* Of one launch of all streams together; 0 jobs take 0. `hit_frac`: of searches. `taken`: index jobs of SETs
 * and DELETEs that the scheduler takes out of the batches once the search has been begun. `stats`: what the
 * index counted so far, NULL: nothing is known. */
double kvc_megakv_launch_ns(const struct kvc_megakv_costs *costs, enum kvc_megakv_kernel kernel, double jobs,
                            double hit_frac, double drained, const struct kvc_index_stats *stats);

/* Mean costs of a request over the workload's operations and keys. */
struct kvc_megakv_mean_costs {
    struct kvc_cpu_cost receive, send;
};
struct kvc_megakv_mean_costs kvc_megakv_mean_costs_of(const struct kvc_scenario *scenario,
                                                      const struct kvc_megakv_costs *costs);

#endif

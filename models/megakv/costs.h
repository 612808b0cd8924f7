/* Costs of a request on Mega-KV's receiver and sender threads, and of a launch on the device of the index.
 *
 * The closed form and the simulation share them. If the node's stages were measured (its cost profile), the
 * measured cost curves are charged, for the scenario's number of pipelines and amount of memory. Otherwise
 * the hardware profile gives the unit costs:
 *
 *   receiver  Every request costs compute: half of a key-value operation (cpu.operation, which includes
 *             packet I/O, parsing and hashing), or without that value the I/O and parsing of its packet. Its
 *             index job, which is the signature and hash and for a SET the location, is written to the batch
 *             as a stream (stall). A SET also reads the payload from the packet as a stream and writes it to
 *             the item, whose first line is a random access (stall).
 *
 *   sender    Every response costs the same compute. A GET reads its location from the batch as a stream
 *             (stall). A GET that hits also reads the item's lines and writes the response as a stream
 *             (stall). The first line comes from the last-level cache as often as the workload's reuse of
 *             items says, and from a random place in memory otherwise. A GET that finds another key's item
 *             reads one line in the same way (stall). Under api = "get" both kinds of GET read a pointer to
 *             the request as a stream and fetch the request's key again to compare. Two cycles after parsing,
 *             the key has left the core's own caches, so this is one hit in the last-level cache (stall).
 *             SETs and DELETEs cost nothing else. While a load misses, the core executes the instructions
 *             behind it, so a stall is a latency less cpu.lookahead.
 *
 * The operation of cpu.operation includes the index, which Mega-KV's CPU does not access; no source splits
 * it, so its compute is an upper bound. What a request moves between memory and caches is its load on the
 * DRAM, whether its costs are measured or not. */
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

/* Costs that do not depend on the individual request. */
struct kvc_megakv_costs {
    const struct kvc_megakv_config *config;
    uint32_t clock;        /* Clock pair of the GPU; the closed form varies it. */
    double hit_frac;       /* Share of the GETs that hit in the long run. */
    bool measured;         /* The curves below are charged. Otherwise they are empty. */
    double pass_ns;        /* Time in which the CLOCK hand passes an item. */
    double high_load;      /* Position between the two measured load factors: 0 is the normal one, 1 the high
                              one. */
    double slowest_sender; /* Time of the slowest sender over the mean time of all. */
    double core_speed; /* Speed of the cores relative to their fastest clock; a simulation may change it. */
    double llc_frac;   /* Share of the items that senders find in the last-level cache. */
    struct kvc_megakv_lookup_mix
        lookup_mix; /* Mix that the closed form expects; 0 if nothing was measured. */
    struct kvc_curve receive, write, read, read_checked, read_half_marked, read_marked, read_half_missed,
        search, search_miss, drain,
        insert;               /* As in the cost profile, for the scenario's threads and memory. */
    struct kvc_curve compare; /* Likewise; no points: no cost of the comparison is known. */
    /* The index at a high load, and at the normal load with the streams that the high load was measured with.
     */
    struct kvc_curve search_high_load, search_usual, insert_high_load, insert_usual;
};

/* Returns the costs of a resolved scenario, which must outlive them. */
struct kvc_megakv_costs kvc_megakv_costs_of(const struct kvc_scenario *scenario);

/* Returns the cost of receiving one of the `frame_requests` requests in a frame. */
struct kvc_cpu_cost kvc_megakv_receive_cost(const struct kvc_megakv_costs *costs, double frame_requests,
                                            int op, uint32_t key_bytes, uint32_t value_bytes);

/* Returns the cost of answering a request. `lookup_mix` is the mix of the GETs in its batch. */
struct kvc_cpu_cost kvc_megakv_send_cost(const struct kvc_megakv_costs *costs,
                                         const struct kvc_megakv_lookup_mix *lookup_mix, int outcome,
                                         uint32_t key_bytes, uint32_t value_bytes);

/* Return what receiving and answering a request do to the socket's memory. The bytes of packets, jobs and
 * responses are streamed once; items are random lines followed by streamed ones. */
struct kvc_dram_load kvc_megakv_receive_load(const struct kvc_megakv_costs *costs, int op, uint32_t key_bytes,
                                             uint32_t value_bytes);
struct kvc_dram_load kvc_megakv_send_load(const struct kvc_megakv_costs *costs, int outcome,
                                          uint32_t key_bytes, uint32_t value_bytes);

/* A launch of all streams. */
struct kvc_megakv_launch_work {
    enum kvc_megakv_kernel kernel;
    double jobs;     /* Index jobs of all streams. */
    double hit_frac; /* Share of searches that hit. */
    double drained;  /* SETs and DELETEs whose index jobs the scheduler drains once the search has begun. */
    const struct kvc_index_stats *stats; /* Counters of the index so far; NULL: unknown. */
};

/* Returns the kernel of the stream that has `jobs` of the launch's jobs. Its copies come on top. */
struct kvc_gpu_kernel kvc_megakv_kernel_of(const struct kvc_megakv_costs *costs,
                                           const struct kvc_megakv_launch_work *launch, double jobs);

/* Returns the duration of one launch of all streams together [ns]; 0 jobs take no time. `hit_frac` is the
 * share of searches that hit. `drained` is the number of SETs and DELETEs whose index jobs the scheduler
 * moves out of the batches once the search has begun. `stats` holds the counters of the index so far; NULL:
 * they are unknown. */
double kvc_megakv_launch_ns(const struct kvc_megakv_costs *costs, enum kvc_megakv_kernel kernel, double jobs,
                            double hit_frac, double drained, const struct kvc_index_stats *stats);

/* Mean costs of a request over the workload's operations and keys. */
struct kvc_megakv_mean_costs {
    struct kvc_cpu_cost receive, send;
};
struct kvc_megakv_mean_costs kvc_megakv_mean_costs_of(const struct kvc_scenario *scenario,
                                                      const struct kvc_megakv_costs *costs);

#endif

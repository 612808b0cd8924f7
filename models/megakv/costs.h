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
 *             the item. New items follow one another in address order, as those of the authors' program do
 *             (2015: a slab's items are dealt out in order, and evicted places come from a walk over a
 *             bitmap), so this is a stream as well (stall).
 *
 *   sender    The response to a GET costs the same compute. It reads its location from the batch as a stream
 *             (stall). A GET that hits also reads the item's lines and writes the response as a stream
 *             (stall). The first line comes from the last-level cache as often as the workload's reuse of
 *             items says, and from a random place in memory otherwise. A GET that finds another key's item
 *             reads one line in the same way (stall). Under api = "get" the receiver writes a job record with
 *             the key of each GET, and the sender reads it, as streams (stall). The sender then finds the
 *             next record and compares the keys (compute, system.compare). SETs and DELETEs cost nothing: the
 *             authors' sender passes over them without an answer. Here their answer still takes a header in a
 *             frame. While a load misses, the core executes the instructions after it, so a stall is a
 *             latency minus cpu.lookahead.
 *
 * The operation of cpu.operation includes the index, which Mega-KV's CPU does not access; no source splits
 * it, so its compute is an upper bound. What a request moves between memory and caches is its load on the
 * DRAM, whether its costs are measured or not. */
#ifndef KVC_MODELS_MEGAKV_COSTS_H
#define KVC_MODELS_MEGAKV_COSTS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernels/index.h"
#include "kernels/megakv/cuckoo.h"
#include "models/shards/cache.h"
#include "models/shards/launch.h"
#include "models/megakv/config.h"
#include "models/megakv/cost_profile.h"
#include "sim/base/curve.h"
#include "sim/devices/gpu.h"
#include "sim/scenario.h"

/* Outcome of a request at its sender. */
enum kvc_megakv_outcome {
    KVC_MEGAKV_HIT,
    KVC_MEGAKV_MISS,     /* The search found no location. */
    KVC_MEGAKV_MISMATCH, /* The search found a location, but its item was evicted or has another key. */
    KVC_MEGAKV_DONE,     /* A SET or DELETE. */
    KVC_MEGAKV_OUTCOMES,
};

/* Returns the outcome of an operation if every GET hits. */
static inline enum kvc_megakv_outcome kvc_megakv_usual_outcome(enum kvc_op op)
{
    return op == KVC_OP_GET ? KVC_MEGAKV_HIT : KVC_MEGAKV_DONE;
}

/* Returns the bytes of a response inside a frame. */
double kvc_megakv_response_bytes(const struct kvc_nic *nic, enum kvc_megakv_api api,
                                 enum kvc_megakv_outcome outcome, uint32_t key_bytes, uint32_t value_bytes);

/* A measured cost by the length of the key and the size of the piece of work. */
struct kvc_megakv_keyed_curve {
    uint32_t count; /* Measured lengths of keys; 0: not measured. */
    double key_bytes[KVC_MEGAKV_COST_KEYS_MAX];
    struct kvc_curve curve[KVC_MEGAKV_COST_KEYS_MAX];
};

/* Returns the cost at a length of keys and a size. Lines join the measured lengths; beyond them the nearest
 * one counts. 0 for a cost that was not measured. */
double kvc_megakv_keyed_at(const struct kvc_megakv_keyed_curve *keyed, double key_bytes, double size);

/* Receiving, by the batches that a receiver's core fills in turn. */
struct kvc_megakv_batch_costs {
    uint32_t count;
    double batches_bytes[KVC_MEGAKV_COST_BATCHES_MAX]; /* In ascending order. */
    struct kvc_megakv_keyed_curve curve[KVC_MEGAKV_COST_BATCHES_MAX];
};

/* Costs that do not depend on the individual request. */
struct kvc_megakv_costs {
    const struct kvc_megakv_config *config;
    uint32_t clock;        /* Clock pair of the GPU; the closed form varies it. */
    double hit_frac;       /* Share of the GETs that hit in the long run. */
    bool measured;         /* The curves below are charged; otherwise they are unused. */
    bool evicting;         /* Closed form only: the slabs are full, so that every SET evicts an item. */
    double set_job_frac;   /* Share of SETs among SETs and DELETEs. */
    double pass_ns;        /* Time in which the CLOCK hand passes an item. */
    double mix_ns;         /* Extra cost of every request at its receiver in a mix of operations. */
    double slowest_sender; /* Time of the slowest sender over the mean time of all. */
    double core_speed; /* Speed of the cores relative to their fastest clock; a simulation may change it. */
    double llc_frac;   /* Share of the items that senders find in the last-level cache. */
    double l2_frac;    /* Share of the index's lines that a GPU finds in its L2 cache; 0: not known. */
    double hot_frac;   /* Share of the requests that are for the most popular key, if l2_frac is known. */
    struct kvc_shards_lookup_mix
        lookup_mix; /* Mix that the closed form expects; 0 if nothing was measured. */
    /* Curves of the cost profile for the scenario's threads, memory and load of the index. */
    struct kvc_megakv_keyed_curve write, evict, evict_half_marked, read, read_checked, read_half_marked,
        read_marked, read_half_missed, compare;
    struct kvc_curve search, search_miss, search_half_missed, insert, replace, insert_half_replaced, erase,
        erase_miss, erase_half_missed, drain;
    struct kvc_megakv_batch_costs receive_by_batch;
    struct kvc_curve read_by_batch; /* Cost by the memory of the batches; no points if it was not measured. */
    /* Costs for the batches of kvc_megakv_costs_use_batches. */
    struct kvc_megakv_keyed_curve receive;
    double read_batch_ns; /* Extra cost of a hit at its sender over the smallest batches. */
};

/* Sets the costs of a resolved scenario, which must outlive them. The smallest measured batches count until
 * kvc_megakv_costs_use_batches() changes them. Without measured costs, the curves are not set: they are by
 * far the largest part, and a forecast has no time to clear them. */
void kvc_megakv_costs_open(struct kvc_megakv_costs *costs, const struct kvc_scenario *scenario);

/* Returns the same costs, with empty curves where nothing was measured. */
struct kvc_megakv_costs kvc_megakv_costs_of(const struct kvc_scenario *scenario);

/* Returns the rate of mispredictions for two kinds in random order, of which `frac` are of one kind, relative
 * to one half of each, where it is measured. It is proportional to the rarer kind. */
static inline double kvc_megakv_surprise_frac(double frac)
{
    return 2 * fmin(frac, 1 - frac);
}

/* Returns the memory of the batches that a receiver's core fills in turn: `rows` requests in each buffer of
 * each pipeline on the core [bytes]. Keys count as 8 bytes, because longer ones have curves of their own. */
double kvc_megakv_batches_bytes(double rows, uint32_t buffers, uint32_t pipelines);

/* Sets the costs of receiving and answering to batches of `rows` requests: large batches have left the caches
 * before their turn comes again. Costs are interpolated between measured batches; beyond them the nearest one
 * counts.
 */
void kvc_megakv_costs_use_batches(struct kvc_megakv_costs *costs, double rows);

/* Returns the cost of receiving one of the `frame_requests` requests in a frame. The place of a SET was free;
 * otherwise kvc_megakv_evict_ns is added. */
struct kvc_cpu_cost kvc_megakv_receive_cost(const struct kvc_megakv_costs *costs, double frame_requests,
                                            int op, uint32_t key_bytes, uint32_t value_bytes);

/* Returns the extra cost of a SET at its receiver if its place must be taken from another item [ns]. It is
 * negative if new memory costs more, and 0 if nothing was measured. `marked_frac` is the share of items that
 * were read since, and therefore spared, among those that the CLOCK hand passes. The victims are scattered
 * among them; from one half on, nearly every victim lies alone. */
double kvc_megakv_evict_ns(const struct kvc_megakv_costs *costs, uint32_t key_bytes, uint32_t value_bytes,
                           double marked_frac);

/* Returns the cost of answering a request. `lookup_mix` is the mix of the GETs in its batch. */
struct kvc_cpu_cost kvc_megakv_send_cost(const struct kvc_megakv_costs *costs,
                                         const struct kvc_shards_lookup_mix *lookup_mix, int outcome,
                                         uint32_t key_bytes, uint32_t value_bytes);

/* Return the load of receiving and answering a request on the socket's memory. The bytes of packets, jobs and
 * responses are streamed once; items are random lines followed by streamed ones. */
struct kvc_dram_load kvc_megakv_receive_load(const struct kvc_megakv_costs *costs, int op, uint32_t key_bytes,
                                             uint32_t value_bytes);
struct kvc_dram_load kvc_megakv_send_load(const struct kvc_megakv_costs *costs, int outcome,
                                          uint32_t key_bytes, uint32_t value_bytes);

/* Mean costs of a request over the workload's operations and keys. */
struct kvc_megakv_mean_costs {
    struct kvc_cpu_cost receive, send;
};
struct kvc_megakv_mean_costs kvc_megakv_mean_costs_of(const struct kvc_scenario *scenario,
                                                      const struct kvc_megakv_costs *costs);

/* Returns the items of mean size that a socket can keep, for which there is room in slabs and index. */
double kvc_megakv_items_max(const struct kvc_megakv_config *config);

/* The work of the GPU for a launch of index operations. */

/* Bytes that pass through the caches with a GET of the smallest item, 8 bytes of key and 8 of value: a packet
 * of 16 bytes, a row of its batch with key, length, hash, location and time, and the item's line. Before each
 * measured launch, the same number of bytes passes for each of its jobs. */
enum { KVC_MEGAKV_PASSING_BYTES = 16 + (8 + 1 + 8 + 4 + 8) + 64 };

/* Costs of a launch on the device of the index. */

/* A launch of all streams. */
struct kvc_megakv_launch_work {
    enum kvc_shards_kernel kernel;
    double jobs;          /* Index jobs of all streams. */
    double erases;        /* Deletes among them. The other jobs of the kernel are inserts or searches. */
    double replaced_frac; /* Share of the inserts whose key the index has. */
    double erased_frac;   /* Share of the deletes whose item the index has. */
    double hit_frac;      /* Share of searches that hit. */
    double drained; /* SETs and DELETEs whose index jobs the scheduler drains once the search has begun. */
    const struct kvc_index_stats *stats; /* Counters of the index so far; NULL: unknown. */
};

/* Returns the kernel of the stream that has `jobs` of the launch's jobs. Its copies take additional time. */
struct kvc_gpu_kernel kvc_megakv_kernel_of(const struct kvc_megakv_costs *costs,
                                           const struct kvc_megakv_launch_work *launch, double jobs);

/* Returns the duration of a launch of all streams together [ns]; 0 jobs take no time. Measured inserts and
 * deletes run one after the other, so their times add up. */
double kvc_megakv_launch_ns(const struct kvc_megakv_costs *costs,
                            const struct kvc_megakv_launch_work *launch);

/* Returns the duration of a launch at another clock pair of the GPU [ns]. */
double kvc_megakv_launch_at_ns(const struct kvc_megakv_costs *costs, uint32_t clock,
                               const struct kvc_megakv_launch_work *launch);

/* Return the expected work of a launch in the closed form: of searches, or of the index jobs of `writes` SETs
 * and DELETEs. Deletes of evicted items count if costs are measured; otherwise they are part of the SETs. */
struct kvc_megakv_launch_work kvc_megakv_search_work(const struct kvc_megakv_costs *costs, double searches,
                                                     double drained);
struct kvc_megakv_launch_work kvc_megakv_insert_work(const struct kvc_megakv_costs *costs, double writes);

#endif

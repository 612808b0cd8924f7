/* DIDO's configuration: its options with every "auto" resolved, its devices, and values derived from them and
 * the workload. */
#ifndef KVC_MODELS_DIDO_CONFIG_H
#define KVC_MODELS_DIDO_CONFIG_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "models/shards/store.h"
#include "models/dido/pipeline.h"
#include "models/room.h"
#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"
#include "sim/scenario.h"
#include "sim/workload/presets.h"

/* DIDO's 24 workloads as presets (ICDE 2017, sec. V.A): four data sets, three mixes of YCSB and two
 * popularities. "K8-G95-S" has keys of 8 bytes, 95 % GETs and skewed popularity; "-U" is uniform. */

enum { KVC_DIDO_PRESETS = 24 };

/* The name of the last entry is NULL. */
extern const struct kvc_workload_preset kvc_dido_presets[];

/* DIDO's options as a scenario writes them. */

/* The closed form that predicts and plans. */
enum kvc_dido_predictor {
    KVC_DIDO_BY_KVCAST, /* "kvcast": the costs of the simulation (predict.h). */
    KVC_DIDO_BY_PAPER,  /* "paper": the authors' cost model (plan.c). */
};

/* Source of requests and destination of responses. */
enum kvc_dido_feed {
    KVC_DIDO_NETWORK, /* "network": frames pass through the sockets of the operating system. */
    KVC_DIDO_MEMORY,  /* "memory": requests are read from memory, and responses are not sent. */
};

struct kvc_dido_options {
    char pipeline[KVC_TEXT_MAX];
    bool adapt;
    double adapt_threshold_frac;
    double planning_ns;
    bool stealing;
    uint64_t steal_set;
    double steal_ns;
    double latency_limit_ns;
    double interval_ns; /* 0: "auto". */
    int feed;           /* enum kvc_dido_feed. */
    double receive_cycles, send_cycles, cycles_ratio;
    double index_bytes, slab_bytes; /* 0: "auto". */
    uint64_t max_displacements;
    int predict; /* enum kvc_dido_predictor. */
};

extern const struct kvc_option_table kvc_dido_option_table;

enum { KVC_DIDO_BATCH_MAX = 65536 /* Most queries of a batch. */ };

struct kvc_dido_config {
    const struct kvc_dido_options *options; /* Owned by the scenario. */
    const struct kvc_cpu
        *cpu; /* CPU at the run's clock; copies also point to clocked_cpu of the resolved configuration. */
    struct kvc_cpu clocked_cpu;
    uint32_t cpu_pstate; /* State of the CPU at the run's clock. */
    const struct kvc_dram *dram;
    const struct kvc_gpu *gpu;
    const struct kvc_nic *nic;
    const struct kvc_pcie *pcie; /* Link between CPU and GPU; NULL: they share the memory. */
    double link_ns; /* Time that a read of a line over the link adds to the GPU's own [ns]; 0: no link. */
    enum kvc_dido_feed feed;
    double path_ns; /* Way of a message between client and node; 0: requests come from memory. */
    uint64_t stated_frame_requests; /* Requests of a frame in the scenario; 0: as many as fit. */
    uint64_t multiget;              /* Keys of a multiget. */
    uint32_t frame_requests;        /* Requests of a frame at most. */
    double frame_mean;              /* Mean requests of a full frame. */
    double request_bytes;           /* Mean size of a request in a frame. */
    double response_bytes;          /* Mean size of a response in a frame. */
    double index_bytes, slab_bytes;
    double other_items; /* Items of other phases, which the load does not request. */
    uint64_t sample_rate;
    double item_cached_frac;   /* Share of the CPU's accesses to items that its last-level cache answers. */
    double bucket_cached_frac; /* Share of the CPU's accesses to buckets that this cache answers. */
    double popular_frac; /* Share of the requests for the most popular items that this cache has room for. */
    bool plans;          /* The scenario does not state the pipeline. */
    bool adapts;         /* A new pipeline is planned when the load changes. */
    struct kvc_dido_pipeline pipeline; /* Stated pipeline, or the one that the closed form chooses. */
};

/* Returns the configuration of a resolved scenario. */
static inline const struct kvc_dido_config *kvc_dido_config_of(const struct kvc_scenario *scenario)
{
    return scenario->config;
}

/* Returns the memory of the index and the items [bytes]. */
static inline double kvc_dido_data_bytes(const struct kvc_dido_config *config)
{
    return config->index_bytes + config->slab_bytes;
}

/* Returns the longest time of a stage of a pipeline [ns]. */
double kvc_dido_interval_ns(const struct kvc_dido_config *config, const struct kvc_dido_pipeline *pipeline);

/* Sets everything but the pipeline of a resolved scenario's configuration, and checks the devices. */
enum kvc_status kvc_dido_config_open(struct kvc_dido_config *config, const struct kvc_scenario *scenario,
                                     struct kvc_diag *diag);

/* Checks the sizes of index and slabs, and that the slabs hold the values of the load. */
enum kvc_status kvc_dido_config_check(const struct kvc_dido_config *config,
                                      const struct kvc_workload *workload, struct kvc_diag *diag);

/* Sets the values that a configuration derives from a load: frames, and the contents of the caches. The load
 * has no phases. */
void kvc_dido_set_load(struct kvc_dido_config *config, const struct kvc_workload *load);

/* Turns the configuration of a load with phases, whose slabs are settled, into the configuration of one
 * phase. */
void kvc_dido_set_phase(struct kvc_dido_config *config, const struct kvc_workload *workload, uint32_t phase);

/* Returns the configuration under one phase of the scenario's load. It has the slabs that the items of the
 * phase need, and the cache contents of a long phase. */
struct kvc_dido_config kvc_dido_config_of_phase(const struct kvc_scenario *scenario, uint32_t phase);

/* Returns the parameters of a scenario's store. */
struct kvc_shards_params kvc_dido_store_params_of(const struct kvc_scenario *scenario);

/* Creates the store of a scenario: see kvc_shards_create(). */
enum kvc_status kvc_dido_store_create(const struct kvc_scenario *scenario, uint64_t seed,
                                      const struct kvc_progress *progress, struct kvc_shards **store,
                                      struct kvc_diag *diag);

/* Returns the queries of the next batch of a saturated pipeline, for the simulation and the measured runtime.
 * Batches now have `now` queries, and a batch of `queries` kept its slowest stage busy for slowest_ns. The
 * result is the number with which this stage would have been busy for the interval. A batch grows or shrinks
 * by no more than a quarter from one to the next. */
static inline double kvc_dido_next_batch(double interval_ns, double now, double queries, double slowest_ns)
{
    static const double step_most = 1.25;
    double fits = queries * interval_ns / slowest_ns;
    double next = fmin(fmax((now + fits) / 2, now / step_most), now * step_most);
    return fmin(fmax(next, 1), KVC_DIDO_BATCH_MAX);
}

/* The rooms of struct kvc_model: the index and slabs of a stated size. */
uint32_t kvc_dido_rooms(const struct kvc_scenario *scenario, struct kvc_model_room *room);

#endif

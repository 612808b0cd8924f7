/* DIDO's configuration: its options with every "auto" resolved, its devices, and values derived from them and
 * the workload. */
#ifndef KVC_MODELS_DIDO_CONFIG_H
#define KVC_MODELS_DIDO_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "models/dido/options.h"
#include "models/dido/pipeline.h"
#include "models/cuckoo_store/store.h"
#include "sim/base/diag.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"
#include "sim/scenario.h"

enum { KVC_DIDO_BATCH_MAX = 65536 /* Queries of a batch at most. */ };

struct kvc_dido_config {
    const struct kvc_dido_options *options; /* Owned by the scenario. */
    const struct kvc_cpu *cpu; /* At the clock of the run: clocked_cpu, of the resolved configuration also in
                                  its copies. */
    struct kvc_cpu clocked_cpu;
    uint32_t cpu_pstate; /* Of the clock of the run. */
    const struct kvc_dram *dram;
    const struct kvc_gpu *gpu;
    const struct kvc_nic *nic;
    const struct kvc_pcie *pcie; /* Between CPU and GPU; NULL: they share the memory. */
    double link_ns;              /* Time of a read of a line over it on top of the GPU's own [ns]; 0: none. */
    enum kvc_dido_network network;
    uint64_t stated_frame_requests; /* As the scenario says; 0: as many as fit. */
    uint32_t frame_requests;        /* Requests of a frame. */
    double request_bytes;           /* Mean size of a request in a frame. */
    double response_bytes;          /* Mean size of a response in a frame. */
    double index_bytes, slab_bytes;
    double other_items; /* Items in the store that the load does not request: those of other phases. */
    uint64_t sample_rate;
    double item_cached_frac;   /* Share of the CPU's accesses to items that its last-level cache answers. */
    double bucket_cached_frac; /* Likewise for the buckets of the index. */
    double popular_frac; /* Share of the requests for the most popular items that this cache has room for. */
    bool plans;          /* The pipeline is not said. */
    bool adapts;         /* It is planned anew when the load changes. */
    struct kvc_dido_pipeline pipeline; /* As said, or as the closed form chooses. */
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

/* Resolves the scenario's options; `config` is a struct kvc_dido_config. Refuses pipelines that cannot be. */
enum kvc_status kvc_dido_resolve(const struct kvc_scenario *scenario, void *config, struct kvc_diag *diag);

/* Sets what a configuration derives from a load: frames, and what the caches hold. The load has no phases. */
void kvc_dido_set_load(struct kvc_dido_config *config, const struct kvc_workload *load);

/* Returns the configuration under one phase of the scenario's load. Its slabs are those that the items of the
 * phase need. What the caches hold is what they hold when the phase lasts. */
struct kvc_dido_config kvc_dido_config_of_phase(const struct kvc_scenario *scenario, uint32_t phase);

/* Checks what the ranges of single options cannot express. */
enum kvc_status kvc_dido_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Returns the parameters of a scenario's store. */
struct kvc_cuckoo_store_params kvc_dido_store_params_of(const struct kvc_scenario *scenario);

/* Creates the store of a scenario: see kvc_cuckoo_store_create(). */
enum kvc_status kvc_dido_store_create(const struct kvc_scenario *scenario, uint64_t seed,
                                      const struct kvc_progress *progress, struct kvc_cuckoo_store **store,
                                      struct kvc_diag *diag);

#endif

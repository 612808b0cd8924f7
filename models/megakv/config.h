/* Mega-KV's configuration: its options with every "auto" resolved, its devices, and the values derived from
 * them and the workload. */
#ifndef KVC_MODELS_MEGAKV_CONFIG_H
#define KVC_MODELS_MEGAKV_CONFIG_H

#include <math.h>
#include <stdint.h>

#include "models/shards/sizes.h"
#include "models/shards/store.h"
#include "models/megakv/cost_profile.h"
#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/devices/cpu.h"
#include "sim/devices/database.h"
#include "sim/devices/gpu.h"
#include "sim/devices/pcie.h"
#include "sim/scenario.h"
#include "sim/workload/presets.h"

/* Mega-KV's data sets as workload presets (VLDB J. 26(5), 2017, sec. 8.1). */

/* The name of the last entry is NULL. */
extern const struct kvc_workload_preset kvc_megakv_presets[];

/* Mega-KV's options: the scenario's table `system`, as the user wrote it. */

/* Sizes of the pipeline. */
enum {
    KVC_MEGAKV_DELAY_MAX = 64,   /* Largest delay n. */
    KVC_MEGAKV_ROWS_MAX = 65536, /* Rows that a buffer holds. */
    KVC_MEGAKV_SEND_ROWS =
        256, /* Rows that a sender answers before the next sender on its core gets its turn. */
};

enum kvc_megakv_api {
    KVC_MEGAKV_GET,  /* The sender compares the stored key with the requested one. */
    KVC_MEGAKV_GETK, /* The response contains the key, and the client compares. */
};

enum kvc_megakv_feed {
    KVC_MEGAKV_NETWORK, /* Requests and responses pass through the NIC. */
    /* Requests are read from local memory, as in the paper's experiments that the network would limit. */
    KVC_MEGAKV_MEMORY,
};

enum kvc_megakv_insert_stream {
    KVC_MEGAKV_INSERT_IN_PIPELINES, /* Inserts follow the searches in the stream of each pipeline, as eq. (1)
                                       assumes: T_S + T_max <= 2C. */
    /* Inserts and deletes overlap with the searches in a stream of their own. */
    KVC_MEGAKV_INSERT_OWN_STREAM,
};

enum kvc_megakv_cycle_from {
    KVC_MEGAKV_CYCLE_FROM_SCHEDULE, /* Launches are due at multiples of the cycle. */
    KVC_MEGAKV_CYCLE_FROM_LAUNCH,   /* A launch is due a cycle after the one before, which may be late. */
};

enum kvc_megakv_index_on {
    KVC_MEGAKV_INDEX_ON_GPU,    /* Launches queue on the device while the scheduler continues. */
    KVC_MEGAKV_INDEX_ON_THREAD, /* The scheduler's thread does the work of the index and swaps again when
                                   it has finished. */
};

enum kvc_megakv_threads {
    KVC_MEGAKV_OWN_THREADS,    /* Every receiver and sender has a hardware thread of its own. */
    KVC_MEGAKV_SHARED_THREADS, /* The receivers share the scheduler's core between its launches; the senders
                                  take turns on the other cores. */
};

enum kvc_megakv_gpu_power {
    KVC_MEGAKV_GPU_POWER_KERNELS, /* Busy watts while kernels run, idle watts between them. */
    /* Busy watts all the time: published values are often means of a sensor that does not separate kernels
     * from the gaps between launches. */
    KVC_MEGAKV_GPU_POWER_SERVING,
};

struct kvc_megakv_options {
    double cycle_ns;            /* Scheduling cycle C [ns]. */
    uint64_t delay;             /* n: inserts and deletes are launched every n cycles. */
    int api;                    /* enum kvc_megakv_api. */
    double compare_ns;          /* Compute of get beyond getk [ns]; below 0: from cpu.operation. */
    int feed;                   /* enum kvc_megakv_feed. */
    int insert_stream;          /* enum kvc_megakv_insert_stream. */
    int cycle_from;             /* enum kvc_megakv_cycle_from. */
    int index_on;               /* enum kvc_megakv_index_on. */
    int threads;                /* enum kvc_megakv_threads. */
    uint64_t streams;           /* Pipelines per socket, one CUDA stream each; 0: as many as fit the cores. */
    uint64_t buffers;           /* Batch buffers per pipeline. */
    double index_bytes;         /* Index of each GPU [bytes]. */
    double slab_bytes;          /* Item memory of each socket [bytes]; 0: room for all keys and 10 % more. */
    uint64_t max_displacements; /* Displacements of an insert before it drops an element. */
    double gpu_core_hz;         /* Core clock of the GPU's clock pair [Hz]; 0: the fastest pair. */
    int gpu_power;              /* enum kvc_megakv_gpu_power. */
};

extern const struct kvc_option_table kvc_megakv_option_table;

struct kvc_megakv_config {
    /* Devices of a node, owned by the scenario. A testbench has no devices, because it runs on the real
     * machine. */
    const struct kvc_cpu *cpu;
    const struct kvc_dram *dram;
    const struct kvc_gpu *gpu;
    const struct kvc_nic *nic;
    const struct kvc_pcie *pcie;
    const struct kvc_megakv_cost_profile *cost_profile;
    const struct kvc_database *database; /* Database of the socket; NULL: none. */

    /* The resolved options. */
    double cycle_ns;
    uint32_t delay;
    enum kvc_megakv_api api;
    double compare_ns; /* Compute of a GET under api = "get" beyond that under "getk" [ns]. */
    enum kvc_megakv_feed feed;
    enum kvc_megakv_insert_stream insert_stream;
    enum kvc_megakv_cycle_from cycle_from;
    enum kvc_megakv_index_on index_on;
    enum kvc_megakv_threads threads;
    uint32_t streams;
    uint32_t buffers;
    double index_bytes;
    double slab_bytes;
    uint32_t max_displacements;
    enum kvc_megakv_gpu_power gpu_power;
    uint32_t clock; /* Clock pair in gpu->clocks; gpu->clock_count if it has no such pair. */

    /* Derived values. */
    uint32_t shards;         /* Sockets of the whole cluster. */
    uint32_t frame_requests; /* Most requests that saturating and open-loop clients put into a frame. */
    double frame_mean;       /* Mean requests of a full frame. */
    uint64_t sample_rate;    /* One key in this many is kept; 1: all keys, 0: none (functional = "off"). */
    double full_bytes;       /* Indexes and slabs of the cluster if every key is kept [bytes]. */
    double senders;          /* Senders of a socket that work at the same time. */
    struct kvc_shards_means means; /* Mean sizes. */
};

/* Returns the configuration of a resolved scenario. */
static inline const struct kvc_megakv_config *kvc_megakv_config_of(const struct kvc_scenario *scenario)
{
    return scenario->config;
}

/* Returns whether the scheduler of a socket polls the GPU, so that its core never idles. */
static inline bool kvc_megakv_polls(const struct kvc_scenario *scenario)
{
    return kvc_megakv_config_of(scenario)->index_on == KVC_MEGAKV_INDEX_ON_GPU &&
           scenario->power.policy != KVC_POWER_RACE_TO_IDLE;
}

/* Returns the items of mean size that the slabs of a socket hold. */
static inline double kvc_megakv_mean_items(const struct kvc_megakv_config *config)
{
    return floor(config->slab_bytes / config->means.item_bytes);
}

/* Resolves the scenario's options; `config` is a struct kvc_megakv_config. */
enum kvc_status kvc_megakv_resolve(const struct kvc_scenario *scenario, void *config, struct kvc_diag *diag);

/* Checks what the ranges of single options cannot express: PCIe device, cores, clock pair, GPU memory, the
 * size of the index, values that the slab store holds. */
enum kvc_status kvc_megakv_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* The rooms of struct kvc_model: the index and the slabs. */
uint32_t kvc_megakv_rooms(const struct kvc_scenario *scenario, struct kvc_model_room *room);

/* Returns the parameters of a scenario's store. */
struct kvc_shards_params kvc_megakv_store_params_of(const struct kvc_scenario *scenario);

/* Creates the store of a scenario: see kvc_shards_create(). */
enum kvc_status kvc_megakv_store_create(const struct kvc_scenario *scenario, uint64_t seed,
                                        const struct kvc_progress *progress, struct kvc_shards **store,
                                        struct kvc_diag *diag);

/* Returns the parameters of the scenario's request source in a replica with this seed: every socket is
 * a shard. */
struct kvc_source_params kvc_megakv_source_of(const struct kvc_scenario *scenario, uint64_t seed);

#endif

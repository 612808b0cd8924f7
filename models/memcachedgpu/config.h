/* MemcachedGPU's configuration: its options with every "auto" resolved, its devices, and values derived from
 * them and the workload. */
#ifndef KVC_MODELS_MEMCACHEDGPU_CONFIG_H
#define KVC_MODELS_MEMCACHEDGPU_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "models/memcachedgpu/cost_profile.h"
#include "models/memcachedgpu/options.h"
#include "sim/base/diag.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"
#include "sim/scenario.h"

enum { KVC_MEMCACHEDGPU_CLASSES_MAX = 5 };

/* A table for keys of up to key_bytes_max bytes. */
struct kvc_memcachedgpu_class {
    uint32_t key_bytes_max;
    uint64_t entries;
};

struct kvc_memcachedgpu_config {
    const struct kvc_memcachedgpu_options *options; /* Owned by the scenario. */
    const struct kvc_cpu *cpu;
    const struct kvc_dram *dram;
    const struct kvc_gpu *gpu;
    const struct kvc_nic *nic;
    const struct kvc_pcie *pcie;
    const struct kvc_memcachedgpu_cost_profile *profile;
    enum kvc_memcachedgpu_receive receive;
    enum kvc_memcachedgpu_feed feed;
    enum kvc_memcachedgpu_index index;
    uint32_t batch, streams, post_threads, shards;
    uint64_t buffers; /* Receive buffers of a server. */
    uint32_t class_count;
    struct kvc_memcachedgpu_class classes[KVC_MEMCACHEDGPU_CLASSES_MAX]; /* In ascending order. */
    double table_bytes;     /* Of all tables of a server, on the GPU. */
    double slab_bytes;      /* Items of a server, on the host. */
    bool writes;            /* Whether there are SETs or DELETEs of any origin. */
    uint32_t block_threads; /* Threads of a block of the GET kernel. */
};

enum {
    KVC_MEMCACHEDGPU_BLOCK_PACKETS = 32, /* Packets of a block of the GET kernel. */
    KVC_MEMCACHEDGPU_PACKET_THREADS = 2, /* A main and a helper thread (memcachedgpu.threads_per_packet). */
    KVC_MEMCACHEDGPU_PAGE_BYTES = 65536, /* memcachedgpu.gpu.page: memory is pinned in such pages. */
};

/* Returns the configuration of a resolved scenario. */
static inline const struct kvc_memcachedgpu_config *
kvc_memcachedgpu_config_of(const struct kvc_scenario *scenario)
{
    return scenario->config;
}

/* Resolves the scenario's options; `config` is a struct kvc_memcachedgpu_config. Always returns KVC_OK. */
enum kvc_status kvc_memcachedgpu_resolve(const struct kvc_scenario *scenario, void *config,
                                         struct kvc_diag *diag);

/* Checks what the ranges of single options cannot express. */
enum kvc_status kvc_memcachedgpu_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Returns whether threads that are busy at the same time share cores as siblings: the driver's, the pre and
 * post threads, and those that serve writes. While each has a core, it holds the core when it waits for
 * memory, too. */
static inline bool kvc_memcachedgpu_shares_cores(const struct kvc_memcachedgpu_config *config)
{
    uint64_t threads = 2 + config->post_threads + (config->writes ? config->options->set_threads : 0);
    return config->cpu->threads_per_core > 1 && threads > config->cpu->cores;
}

/* Returns the class of a key's table, or class_count if no table has room for the key. */
static inline uint32_t kvc_memcachedgpu_class_of(const struct kvc_memcachedgpu_config *config,
                                                 uint32_t key_bytes)
{
    uint32_t class = 0;
    while (class < config->class_count && key_bytes > config->classes[class].key_bytes_max) {
        class ++;
    }
    return class;
}

#endif

/* MemcachedGPU's configuration: its options with every "auto" resolved, its devices, and values derived from
 * them and the workload. */
#ifndef KVC_MODELS_MEMCACHEDGPU_CONFIG_H
#define KVC_MODELS_MEMCACHEDGPU_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "models/memcachedgpu/tables.h"
#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/node.h"
#include "sim/devices/pcie.h"
#include "models/room.h"
#include "sim/scenario.h"

/* MemcachedGPU's options: the scenario's table `system`, as the user wrote it. */

enum {
    KVC_MEMCACHEDGPU_BATCH_MAX = 65536,
    KVC_MEMCACHEDGPU_WAYS_MAX = 16,
    KVC_MEMCACHEDGPU_STREAMS_MAX = 128,
    KVC_MEMCACHEDGPU_POST_MAX = 64,
    KVC_MEMCACHEDGPU_SET_CONNECTIONS_MAX = 256,
};

enum kvc_memcachedgpu_receive {
    KVC_MEMCACHEDGPU_RECEIVE_GPU,  /* GNoM: the NIC writes packets into GPU memory. */
    KVC_MEMCACHEDGPU_RECEIVE_HOST, /* NGD: the NIC writes packets into host memory, and batches are copied. */
};

enum kvc_memcachedgpu_feed {
    KVC_MEMCACHEDGPU_NETWORK, /* Packets pass through the NIC. */
    KVC_MEMCACHEDGPU_MEMORY,  /* Packets are read from host memory, as in the offline limit study. */
};

enum kvc_memcachedgpu_fill {
    KVC_MEMCACHEDGPU_FILL_NIC, /* Packets arrive where the batch is read. */
    KVC_MEMCACHEDGPU_FILL_PRE, /* The pre thread receives packets and copies each into the batch. */
};

enum kvc_memcachedgpu_program {
    KVC_MEMCACHEDGPU_MEASURED,  /* As measured: small blocks, and results are copied back. */
    KVC_MEMCACHEDGPU_PUBLISHED, /* The authors': large blocks, which write results to host memory. */
};

enum kvc_memcachedgpu_layout {
    KVC_MEMCACHEDGPU_ONE_TABLE,   /* Every entry has room for the longest key. */
    KVC_MEMCACHEDGPU_BY_KEY_SIZE, /* A table for each class of key sizes, as large as its share of the keys.
                                   */
};

enum kvc_memcachedgpu_misses {
    KVC_MEMCACHEDGPU_MISSES_LEAVE, /* A miss has no consequence. */
    KVC_MEMCACHEDGPU_MISSES_SET,   /* The client then SETs the key. */
};

struct kvc_memcachedgpu_options {
    int receive;                /* enum kvc_memcachedgpu_receive. */
    int feed;                   /* enum kvc_memcachedgpu_feed. */
    int fill;                   /* enum kvc_memcachedgpu_fill. */
    int program;                /* enum kvc_memcachedgpu_program. */
    uint64_t batch;             /* Packets of a full batch. */
    double batch_timeout_ns;    /* Longest wait for a full batch [ns]; 0: no limit. */
    uint64_t streams;           /* CUDA streams, which have one batch each. */
    uint64_t post_threads;      /* Threads that answer. */
    uint64_t receive_ports;     /* Ports that requests arrive at; responses leave by all. */
    double receive_bytes;       /* Memory of all receive buffers [bytes]. */
    uint64_t buffer_bytes;      /* Size of a receive buffer. */
    int index;                  /* enum kvc_memcachedgpu_index. */
    int tables;                 /* enum kvc_memcachedgpu_layout. */
    uint64_t ways;              /* Entries of a set. */
    uint64_t entries;           /* Entries of all tables. */
    uint64_t key_room;          /* Longest key of an entry [bytes]. */
    double slab_bytes;          /* Host memory of the items [bytes]; 0: room for all entries. */
    double expiry_ns;           /* Life of an item [ns]; 0: for ever. */
    int misses;                 /* enum kvc_memcachedgpu_misses. */
    int get_transport;          /* Only UDP. */
    int set_transport;          /* Only TCP. */
    uint64_t set_threads;       /* Threads of memcached that serve TCP. */
    uint64_t set_connections;   /* Connections that send SETs one after the other. */
    double set_wait_ns;         /* Wait of a SET for each batch of GETs that the card has in hand [ns]. */
    double damaged_frac;        /* Share of the packets that arrive damaged. */
    uint64_t background_blocks; /* Blocks of the other task; 0: there is none. */
    uint64_t background_threads;
    uint64_t background_kernels; /* Launches that its blocks are divided over. */
    double background_ns;        /* Time of the task as one kernel on the idle card [ns]. */
    double
        background_copy_bytes; /* Size of each of the two vectors that it copies to the card first [bytes]. */
    double background_start_ns; /* Start of the task after the measured time begins [ns]. */
};

extern const struct kvc_option_table kvc_memcachedgpu_option_table;

/* Costs of MemcachedGPU's code: the GET kernel in cycles of a multiprocessor, and the host's part in time.
 *
 * Cycles and dependent accesses are properties of the code. They are measured on one card and applied to
 * others: cycles scale with the clock, accesses take the latency of the card. The host's times scale with the
 * clock of its cores. This assumes that a cycle does as much work on every generation of hardware. */

struct kvc_memcachedgpu_cost_profile {
    char name[KVC_TEXT_MAX]; /* Origin of the costs, for people. */
    double clock_hz;         /* Core clock of the card that was measured. */
    double block_cycles; /* Cycles of a block of 32 packets with keys of 16 bytes, without its accesses. */
    double key_cycles;   /* Cycles for each further byte of the longest key in a block. */
    double accesses;     /* Dependent accesses of a block to device memory. */
    double block_shared_bytes; /* Shared memory of a block. */
    double packet_cycles;      /* Cycles of one multiprocessor for a packet when blocks fill the card. */
    double set_cycles;         /* Cycles of the kernel of a SET, one warp, without its accesses. */
    double call_ns;        /* Time of one CUDA call of a host thread: a copy, a launch or an event [ns]. */
    double call_polled_ns; /* Time of a call while other threads poll events [ns]; NaN: not measured. */
    double staging_bytes_per_s; /* Rate of a copy's call from memory that is not pinned; NaN: not measured. */
    double host_clock_hz;       /* Clock of the cores that the host's times were measured on. */
    double answer_ns; /* Compute of a post thread for a response, without waiting for memory [ns]. */
    double set_ns;    /* Compute of a SET in the network stack and memcached [ns]; NaN: not measured. */
};

extern const struct kvc_device_kind kvc_memcachedgpu_cost_profile_kind;

/* Finds the node's costs. Returns NULL if it has none. */
static inline const struct kvc_memcachedgpu_cost_profile *
kvc_memcachedgpu_cost_profile_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_memcachedgpu_cost_profile_kind);
}

struct kvc_memcachedgpu_config {
    struct kvc_memcachedgpu_options sized;          /* The scenario's options with entries for its keys. */
    const struct kvc_memcachedgpu_options *options; /* The same. */
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
    struct kvc_memcachedgpu_class classes[KVC_MEMCACHEDGPU_CLASSES_MAX]; /* Sorted by key size, ascending. */
    double table_bytes;     /* GPU memory of all tables of a server [bytes]. */
    double slab_bytes;      /* Host memory of a server's items [bytes]. */
    bool writes;            /* Whether there are SETs or DELETEs of any origin. */
    uint32_t block_packets; /* Packets of a block of the GET kernel. */
};

enum {
    KVC_MEMCACHEDGPU_BLOCK_PACKETS = 32, /* Packets of a block of the GET kernel, as measured. */
    /* The same in the authors' program, and its shared memory for a packet [bytes]
     * (ngd_gnom_set_assoc_memc.cu: NUM_REQUESTS_PER_GROUP; mod_pkt_info and item_is_found). */
    KVC_MEMCACHEDGPU_PUBLISHED_PACKETS = 256,
    KVC_MEMCACHEDGPU_PUBLISHED_SHARED = 84,
    /* Each packet has a main and a helper thread (memcachedgpu.threads_per_packet). */
    KVC_MEMCACHEDGPU_PACKET_THREADS = 2,
    KVC_MEMCACHEDGPU_PAGE_BYTES = 65536, /* Page size of pinned GPU memory (memcachedgpu.gpu.page). */
};

/* Returns the configuration of a resolved scenario. */
static inline const struct kvc_memcachedgpu_config *
kvc_memcachedgpu_config_of(const struct kvc_scenario *scenario)
{
    return scenario->config;
}

/* The rooms of struct kvc_model: entries and slabs. */
uint32_t kvc_memcachedgpu_rooms(const struct kvc_scenario *scenario, struct kvc_model_room *room);

/* Resolves the scenario's options; `config` is a struct kvc_memcachedgpu_config. Always returns KVC_OK. */
enum kvc_status kvc_memcachedgpu_resolve(const struct kvc_scenario *scenario, void *config,
                                         struct kvc_diag *diag);

/* Checks what the ranges of single options cannot express. */
enum kvc_status kvc_memcachedgpu_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Returns whether threads that are busy at the same time share cores as siblings: the driver's thread, the
 * pre and post threads, and the threads that serve writes. A thread with a core of its own occupies it even
 * while it waits for memory. */
static inline bool kvc_memcachedgpu_shares_cores(const struct kvc_memcachedgpu_config *config)
{
    uint64_t threads = 2 + config->post_threads + (config->writes ? config->options->set_threads : 0);
    return config->cpu->threads_per_core > 1 && threads > config->cpu->cores;
}

/* Returns whether the pre thread receives packets and fills batches, before it launches them. */
static inline bool kvc_memcachedgpu_pre_fills(const struct kvc_memcachedgpu_config *config)
{
    return config->options->fill == KVC_MEMCACHEDGPU_FILL_PRE;
}

/* Returns the shape of a server's tables. */
static inline struct kvc_memcachedgpu_shape
kvc_memcachedgpu_shape_of(const struct kvc_memcachedgpu_config *config)
{
    return (struct kvc_memcachedgpu_shape){config->index, (uint32_t)config->options->ways,
                                           config->class_count, config->classes};
}

/* Return the size of a request and of a response [bytes], from the Ethernet header on, without FCS. */
uint32_t kvc_memcachedgpu_request_bytes(uint32_t key_bytes);
uint32_t kvc_memcachedgpu_response_bytes(bool found, uint32_t head_bytes, uint32_t value_bytes);

/* Returns the length of the head of a response [bytes]. */
uint32_t kvc_memcachedgpu_head_bytes(bool found, uint32_t key_bytes, uint32_t value_bytes);

#endif

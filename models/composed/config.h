/* A store that a scenario composes: its options, and what follows from them and the machine.
 *
 * Requests pass through a list of stages, each of which works on a device of the machine. A stage states its
 * work in numbers, and names the operations that it does on the store's real index and values; what these
 * touch is charged to the device as well. Frames are served one by one until they reach the stage in front of
 * which batches form. A stage may be for some requests only: the others pass it by at once. */
#ifndef KVC_MODELS_COMPOSED_CONFIG_H
#define KVC_MODELS_COMPOSED_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/index.h"
#include "models/shards/sizes.h"
#include "models/shards/store.h"
#include "models/resource.h"
#include "models/room.h"
#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/devices/cpu.h"
#include "sim/devices/database.h"
#include "sim/devices/dram.h"
#include "sim/devices/flash/flash.h"
#include "sim/devices/fpga.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"
#include "sim/scenario.h"
#include "sim/workload/batch.h"

enum {
    KVC_COMPOSED_STAGES_MAX = KVC_MODEL_STAGES_MAX,
    KVC_COMPOSED_WORKS_MAX = 4,
    KVC_COMPOSED_POINTS_MAX = 16,
    KVC_COMPOSED_PRIORITIES = 4,
    KVC_COMPOSED_ROUTES_MAX = 4,      /* Routes, with that of the requests on none. */
    KVC_COMPOSED_BATCH_MAX = 1 << 20, /* Most requests of a batch. */
    KVC_COMPOSED_PORTS_MAX = 64,
};

/* Where a stage works. */
enum kvc_composed_place {
    KVC_COMPOSED_CPU,
    KVC_COMPOSED_GPU,
    KVC_COMPOSED_FPGA,
    KVC_COMPOSED_NIC_RX,
    KVC_COMPOSED_NIC_TX,
    KVC_COMPOSED_PCIE_DOWN,
    KVC_COMPOSED_PCIE_UP,
    KVC_COMPOSED_DATABASE,
    KVC_COMPOSED_FLASH,
    KVC_COMPOSED_NODE, /* Another node, over the ports and back. */
    KVC_COMPOSED_CARD_CPU,
    KVC_COMPOSED_PLACES,
};

/* What the numbers of a piece of work count for. */
enum kvc_composed_per {
    KVC_COMPOSED_PER_REQUEST,
    KVC_COMPOSED_PER_BATCH,
    KVC_COMPOSED_PER_BYTE,
    KVC_COMPOSED_PER_BLOCK, /* Each block of a kernel, beside the work of its requests. */
    KVC_COMPOSED_PERS,
};

/* Operations on the real structures, as bits, in the order in which a stage does them. */
enum kvc_composed_does {
    KVC_COMPOSED_PARSE = 1 << 0,   /* Reads the packet, which the NIC has put into the cache. */
    KVC_COMPOSED_WRITE = 1 << 1,   /* Writes the items of SETs, and evicts others for them. */
    KVC_COMPOSED_SEARCH = 1 << 2,  /* Searches the index for the keys of GETs. */
    KVC_COMPOSED_INSERT = 1 << 3,  /* Inserts the items of SETs into the index. */
    KVC_COMPOSED_ERASE = 1 << 4,   /* Erases evicted items, and the keys of DELETEs, from the index. */
    KVC_COMPOSED_COMPARE = 1 << 5, /* Compares the keys of found items with those of GETs. */
    KVC_COMPOSED_READ = 1 << 6,    /* Reads the values of found items. */
    /* The following work on the hot tier. */
    KVC_COMPOSED_HOT_SEARCH = 1 << 7, /* Searches its index for the keys of GETs. */
    KVC_COMPOSED_HOT_READ = 1 << 8,   /* Reads the values that it has. */
    KVC_COMPOSED_HOT_FILL =
        1 << 9, /* Copies found items that it lacks into it, and evicts others for them. */
    KVC_COMPOSED_HOT_ERASE = 1 << 10, /* Takes the keys of SETs and DELETEs out of it. */
};

/* Their names, by bit; NULL ends the list. */
extern const char *const kvc_composed_operations[];

enum {
    KVC_COMPOSED_ON_INDEX = KVC_COMPOSED_SEARCH | KVC_COMPOSED_INSERT | KVC_COMPOSED_ERASE,
    KVC_COMPOSED_ON_VALUES = KVC_COMPOSED_WRITE | KVC_COMPOSED_COMPARE | KVC_COMPOSED_READ,
};

/* Conditions of a stage, as bits. Those of one kind are alternatives. */
enum kvc_composed_when {
    KVC_COMPOSED_WHEN_GET = 1 << 0,
    KVC_COMPOSED_WHEN_SET = 1 << 1,
    KVC_COMPOSED_WHEN_DELETE = 1 << 2,
    KVC_COMPOSED_WHEN_HIT = 1 << 3,
    KVC_COMPOSED_WHEN_MISS = 1 << 4,
    KVC_COMPOSED_WHEN_LARGE = 1 << 5,
    KVC_COMPOSED_WHEN_SMALL = 1 << 6,
    KVC_COMPOSED_WHEN_HOT = 1 << 7,  /* GETs that the hot tier answers. */
    KVC_COMPOSED_WHEN_COLD = 1 << 8, /* All other requests. */
    /* Requests on the first route; the bits behind it are for the others. */
    KVC_COMPOSED_WHEN_ROUTED = 1 << 9,
    KVC_COMPOSED_WHEN_ROUTES = ((1 << KVC_COMPOSED_ROUTES_MAX) - 1) << 9,
};

/* How frames are spread over the pipelines. */
enum kvc_composed_spread {
    KVC_COMPOSED_BY_CONNECTION, /* The NIC hashes their connections. */
    KVC_COMPOSED_BY_KEY,        /* Clients address the pipeline that owns the key. */
    KVC_COMPOSED_IN_TURN,       /* Each gets the next one. */
};

/* What becomes of requests that reach a full queue. */
enum kvc_composed_full { KVC_COMPOSED_WAIT, KVC_COMPOSED_DROP, KVC_COMPOSED_REFUSE };

enum kvc_composed_memory {
    KVC_COMPOSED_IN_HOST,
    KVC_COMPOSED_IN_GPU,
    KVC_COMPOSED_IN_CARD,
    KVC_COMPOSED_IN_CXL,
    KVC_COMPOSED_IN_FLASH
};

/* Kernels of the values. */
enum kvc_composed_values { KVC_COMPOSED_NO_VALUES, KVC_COMPOSED_SLAB, KVC_COMPOSED_LOG, KVC_COMPOSED_INLINE };

/* ---- options: the scenario's table `system` ---- */

struct kvc_composed_index_options {
    int kernel;   /* Number in kvc_composed_index_kernels; 0: none. */
    int memory;   /* enum kvc_composed_memory. */
    double bytes; /* 0: auto. */
    uint64_t max_displacements;
};

struct kvc_composed_values_options {
    int kernel;          /* enum kvc_composed_values. */
    int memory;          /* enum kvc_composed_memory. */
    double bytes;        /* 0: auto. */
    double buffer_bytes; /* Flash: memory of its write buffer; 0: auto. */
    double inline_bytes; /* Inline: largest pair in the index's entries; 0: auto. */
};

/* A cache of items in front of the store: an index and items of its own. */
struct kvc_composed_hot_options {
    int kernel;   /* Number in kvc_composed_index_kernels; 0: the store's index knows what is hot. */
    int memory;   /* enum kvc_composed_memory. */
    double bytes; /* Item memory; 0: there is no hot tier. */
    double admit; /* Share of the found items that the tier takes when it is filled. */
};

enum { KVC_COMPOSED_BUFFERS_MAX = 64 /* Batches of a pipeline. */ };

struct kvc_composed_batch_options {
    uint64_t count;    /* 0: no limit. */
    double bytes;      /* 0: no limit. */
    double timeout_ns; /* From the first request of a batch; 0: none. */
    double every_ns;   /* Batches close at multiples of it; 0: they do not. */
    bool while_busy;   /* They close when those before them are answered. */
    uint64_t buffers;  /* Batches of a pipeline. */
    char before[KVC_TEXT_MAX], apart[KVC_TEXT_MAX];
};

/* A piece of work; numbers that are not stated are 0. */
struct kvc_composed_work {
    double cycles, ns, instructions, lines, bytes;
    int per; /* enum kvc_composed_per. */
};

/* A measured point of the time of a job. */
struct kvc_composed_point {
    double requests, ns;
};

struct kvc_composed_stage_options {
    char name[KVC_TEXT_MAX];
    int on; /* enum kvc_composed_place. */
    uint64_t cores, streams, interval;
    bool split;                /* All cores serve one job at a time. */
    uint64_t block, threads;   /* GPU: requests of a thread block, and threads of each; 0: no blocks. */
    double block_memory_bytes; /* GPU: shared memory of a block. */
    uint64_t ports;            /* NIC: ports that it uses, each by itself; 0: all of them as one. */
    int memory;                /* NIC: enum kvc_composed_memory that receives packets. */
    char pool[KVC_TEXT_MAX], beside[KVC_TEXT_MAX], after[KVC_TEXT_MAX], route[KVC_TEXT_MAX];
    double share; /* Its route takes this share of the requests; NaN: not stated. */
    uint64_t priority;
    double steal_ns;              /* NaN: its cores take no jobs of other pipelines. */
    struct kvc_composed_work own; /* Stated in the stage itself. */
    uint32_t work_count;
    struct kvc_composed_work work[KVC_COMPOSED_WORKS_MAX];
    uint32_t curve_count;
    struct kvc_composed_point curve[KVC_COMPOSED_POINTS_MAX];
    uint32_t does; /* Bits of enum kvc_composed_does. */
    uint32_t when; /* Bits of enum kvc_composed_when. */
    uint32_t of;   /* Bits of 1 << enum kvc_op: operations whose requests the work counts. */
    double overlap;
    uint64_t burst;
    uint64_t every;
    bool background;
    bool shared;
    uint64_t queue; /* 0: no limit. */
    int full;       /* enum kvc_composed_full. */
};

struct kvc_composed_options {
    uint64_t pipelines;
    uint64_t outstanding;      /* 0: auto. */
    uint64_t backlog;          /* 0: clients look at `outstanding` only. */
    int spread;                /* enum kvc_composed_spread. */
    char policy[KVC_TEXT_MAX]; /* What results show of the function; empty: there is none. */
    double policy_every_ns;
    double large_bytes;
    double cached_frac; /* Share of the lines of host memory that the card's memory may cache. */
    double gpu_core_hz; /* Core clock of the GPU's clock pair; 0: the fastest. */
    struct kvc_composed_index_options index;
    struct kvc_composed_values_options values;
    struct kvc_composed_hot_options hot;
    struct kvc_composed_batch_options batch;
    uint32_t stage_count;
    struct kvc_composed_stage_options stage[KVC_COMPOSED_STAGES_MAX];
};

extern const struct kvc_option_table kvc_composed_option_table;

/* ---- the resolved configuration ---- */

/* Servers that take their jobs from one queue: cores, streams, or one direction of a link. Stages that name
 * the same pool share it, and so do all stages on a link. */
struct kvc_composed_pool {
    enum kvc_composed_place place;
    uint32_t servers; /* Servers in a pipeline, or in the node if it is shared. */
    uint32_t cores;   /* CPU: cores of a server. */
    bool of_node;     /* One for all pipelines. */
    uint32_t first;   /* Number of its first queue; each pipeline has one, or the node. */
    bool takes_all;   /* Jobs need no free server: the device has queues of its own. */
    bool steals;      /* Its idle cores take jobs of other pipelines. */
    bool is_common;   /* Its cores serve all pipelines alike, for all of its stages. */
    uint32_t stages;  /* A bit for each stage that it serves. */
};

struct kvc_composed_stage {
    const struct kvc_composed_stage_options *options; /* Owned by the scenario. */
    enum kvc_composed_place place;
    uint32_t pool; /* Number of its pool. */
    uint32_t does; /* Bits of enum kvc_composed_does, with what no stage states (kvc_composed_resolve()). */
    uint32_t first, last; /* The stages that work beside each other: the one that others name, to the last. */
    uint32_t when;        /* Conditions of the first of them, with their route. */
    uint32_t after;       /* Number of the stage for whose kernels its jobs wait; its own: none. */
    struct kvc_composed_work per[KVC_COMPOSED_PERS]; /* Sums of its work by enum kvc_composed_per. */
    uint32_t works;                                  /* A bit for each of these that is not 0. */
};

/* Cores and their memory. */
struct kvc_composed_cores {
    const struct kvc_cpu *cpu; /* NULL: there are none. */
    const struct kvc_dram *dram;
    double llc_frac; /* Share of the first lines of items and buckets that the last-level cache holds. */
    double line_ns;  /* Mean stall of a core for such a line. */
    /* Channels of their memory, and their time for a line at a random place and for a byte in order [ns]. */
    double channels, channel_line_ns, channel_byte_ns;
};

struct kvc_composed_config {
    const struct kvc_composed_options *options; /* Owned by the scenario. */
    const struct kvc_cpu *cpu;
    const struct kvc_dram *dram;
    const struct kvc_gpu *gpu;
    const struct kvc_nic *nic;
    const struct kvc_pcie *pcie;
    const struct kvc_fpga *fpga;
    const struct kvc_database *database;
    const struct kvc_flash *flash;
    double thread_cores; /* Cores of a hardware thread: 1, or fewer if stages use more threads than there are
                            cores. */
    double core_speed;   /* Speed of the cores at the scenario's clock, relative to their fastest. */
    uint32_t gpu_clock;  /* Clock pair of the GPU at the start. */
    uint32_t shards, pipelines;
    uint32_t stages, pools;
    struct kvc_composed_stage stage[KVC_COMPOSED_STAGES_MAX];
    struct kvc_composed_pool pool[KVC_COMPOSED_STAGES_MAX];
    uint32_t routes; /* At least 1: without any, all requests are on one. */
    /* By route: the share of the requests that take it, and the stage that states it; `stages`: none does,
     * and it takes what the others leave. */
    double route_frac[KVC_COMPOSED_ROUTES_MAX];
    uint32_t route_stage[KVC_COMPOSED_ROUTES_MAX];
    uint32_t batched; /* First stage that serves batches; `stages`: none does. */
    uint32_t apart;   /* First stage behind it that serves their requests one by one; `stages`: none does. */
    uint32_t frame_most;                           /* Requests that a job of frames has room for. */
    uint32_t batch_most;                           /* Requests with which a batch closes. */
    uint32_t batch_room;                           /* Requests that it can have before it closes. */
    uint64_t outstanding;                          /* Saturating load: requests of a node in flight. */
    uint32_t frame_requests;                       /* Requests of a frame at most, */
    uint32_t phase_frame_requests[KVC_PHASES_MAX]; /* and those by phase of the load. */
    uint32_t frame_answers;                        /* Responses of a frame at most, if they fit. */
    double frame_mean;                             /* Mean requests of a full frame. */
    uint32_t rx_parts,
        tx_parts; /* Ports of the card over those that carry a frame, or responses, at a time. */
    const struct kvc_index_kind *index; /* NULL: the store has no index. */
    bool has_values;                    /* Values lie in a memory of their own. */
    bool inlines;                       /* The index holds them. */
    struct kvc_index_pairs pairs;       /* Its pairs, if it does. */
    bool fills;                         /* It takes the values that a database gives for GETs that missed. */
    bool logs;                          /* A log holds the values. */
    double keys;                        /* Mean keys of a shard. */
    double index_bytes, slots;          /* Memory of a shard's index, and how many keys it holds. */
    double value_bytes;                 /* Item memory of a shard. */
    bool on_flash;                      /* The item memory is on flash. */
    uint64_t flash_pages;               /* Pages of the log on flash. */
    double buffer_bytes;                /* Memory of the log's write buffer. */
    double hottest_chip;                /* Reads of the chip with most of them over the mean of all. */
    bool has_hot;                       /* The store has a hot tier. */
    const struct kvc_index_kind *hot_index; /* NULL: the store's index knows what is hot. */
    double hot_index_bytes, hot_bytes;      /* Its index and its item memory in a shard. */
    double hot_items;                       /* Items that a shard's tier has room for. */
    double full_bytes;                      /* Index and items of all shards. */
    uint64_t sample_rate;
    struct kvc_shards_means means; /* The size of an item is that of the kernel of the values. */
    struct kvc_composed_cores host_cores, card_cores;
    struct kvc_composed_cores cxl; /* Cores of the host and the memory behind CXL. */
    double
        cached_hit_frac; /* Share of the accesses to cacheable lines that find them in the card's memory. */
    double put_frac;     /* Share of the requests that change a line. */
    double l2_frac;      /* Share of the index's lines in the GPU's L2 cache. */
    double hot_frac;     /* Share of the requests for the most popular key, if l2_frac is known. */
    double hop_ns;       /* One way to another node, without the time on the wire. */
    double path_ns;      /* One way between client and memory, without the time on the wire; 0: no network. */
    bool on_network;     /* Requests come over the NIC. */
    bool compares;       /* Some stage compares keys. */
};

/* Whether the values have a memory of their own. */
static inline bool kvc_composed_has_values(const struct kvc_composed_options *options)
{
    return options->values.kernel != KVC_COMPOSED_NO_VALUES && options->values.kernel != KVC_COMPOSED_INLINE;
}

/* Returns the operation that copies values to responses, and the one that copies them from requests. */
static inline uint32_t kvc_composed_reads(const struct kvc_composed_config *config)
{
    return config->inlines ? KVC_COMPOSED_SEARCH : KVC_COMPOSED_READ;
}
static inline uint32_t kvc_composed_writes(const struct kvc_composed_config *config)
{
    return config->inlines ? KVC_COMPOSED_INSERT : KVC_COMPOSED_WRITE;
}

/* Returns the sizes of the pairs of the index; NULL: it holds no values. */
static inline const struct kvc_index_pairs *kvc_composed_pairs_of(const struct kvc_composed_config *config)
{
    return config->inlines ? &config->pairs : NULL;
}

/* Whether a place has cores that run code. */
static inline bool kvc_composed_has_cores(enum kvc_composed_place place)
{
    return place == KVC_COMPOSED_CPU || place == KVC_COMPOSED_CARD_CPU;
}

/* Returns the bytes of the card's memory in a socket and their rate, and the channels that share it; all are
 * 0 without such memory. */
struct kvc_composed_card_memory {
    double bytes, bytes_per_s, channels;
};
struct kvc_composed_card_memory kvc_composed_card_memory_of(const struct kvc_composed_config *config);

/* Returns the memory (enum kvc_composed_memory) in which the structures lie that a stage works on; -1: it
 * works on none, -2: on several in different memories. */
int kvc_composed_memory_of(const struct kvc_composed_config *config, uint32_t stage);

/* Sets whether what a stage does on an index, and on items, is in the memory behind CXL. */
void kvc_composed_find_far(const struct kvc_composed_config *config, const struct kvc_composed_stage *stage,
                           bool *index, bool *values);

/* Returns the hardware threads that stages on a place use. */
uint64_t kvc_composed_threads(const struct kvc_composed_config *config, enum kvc_composed_place place);

/* Whether a stage works on the card. */
bool kvc_composed_on_card(const struct kvc_composed_config *config);

/* Whether a stage that a port is next to is on the card, so that the port's frames do not cross to host
 * memory. */
bool kvc_composed_port_on_card(const struct kvc_composed_config *config, uint32_t stage);

/* Whether a stage with conditions is for the requests of a route. */
static inline bool kvc_composed_is_on(uint32_t when, uint32_t route)
{
    return (when & KVC_COMPOSED_WHEN_ROUTES) == 0 ||
           (when & (uint32_t)KVC_COMPOSED_WHEN_ROUTED << route) != 0;
}

/* What rounding may leave of the sum of all shares. */
#define KVC_COMPOSED_SHARES_ERROR 1e-9

/* Gives a route whose share no stage states what the others leave. Returns the sum of all shares. */
double kvc_composed_set_rest(const struct kvc_composed_config *config, double *route_frac);

/* Returns the kind of device of a place, as platforms name it. */
const char *kvc_composed_device(enum kvc_composed_place place);

/* Whether cores take the jobs of a stage from other pipelines. */
static inline bool kvc_composed_steals(const struct kvc_composed_stage_options *options)
{
    return options->steal_ns >= 0;
}

/* Whether a place is a device with queues of its own (models/composed/storage.h). */
static inline bool kvc_composed_is_storage(enum kvc_composed_place place)
{
    return place == KVC_COMPOSED_DATABASE || place == KVC_COMPOSED_FLASH;
}

/* Whether a stage keeps the jobs that it is for waiting elsewhere: on storage, or on another node. */
static inline bool kvc_composed_is_away(enum kvc_composed_place place)
{
    return kvc_composed_is_storage(place) || place == KVC_COMPOSED_NODE;
}

/* Returns the first stage that is not on the receiving ports, or stage 0. */
static inline uint32_t kvc_composed_first_behind_ports(const struct kvc_composed_config *config)
{
    return config->stage[0].place == KVC_COMPOSED_NIC_RX && config->stages > 1;
}

/* Returns whether cores and GPU use the same memory, and so the structures of each other. */
static inline bool kvc_composed_shares_memory(const struct kvc_composed_config *config)
{
    return config->gpu != NULL && config->gpu->shares_memory;
}

/* Returns whether the servers of a stage in front of the batches do not hold a frame that waits for one.
 * Those that serve batches as well turn to these, or they would wait for themselves. A port leaves the frame
 * in the memory of its pipeline, and so takes those of the others. */
static inline bool kvc_composed_turns(const struct kvc_composed_config *config, uint32_t stage)
{
    const struct kvc_composed_pool *pool = &config->pool[config->stage[stage].pool];
    bool port = pool->place == KVC_COMPOSED_NIC_RX && stage + 1 == config->batched;
    return stage < config->batched && (port || pool->stages >> config->batched != 0);
}

/* Returns the configuration of a resolved scenario. */
static inline const struct kvc_composed_config *kvc_composed_config_of(const struct kvc_scenario *scenario)
{
    return scenario->config;
}

/* Resolves the scenario's options; `config` is a struct kvc_composed_config. Returns KVC_ERR_SCENARIO for
 * stages that cannot be served. */
enum kvc_status kvc_composed_resolve(const struct kvc_scenario *scenario, void *config,
                                     struct kvc_diag *diag);

/* Turns the resolved configuration into the one of a phase of the load, for what stages cost. */
void kvc_composed_set_phase(struct kvc_composed_config *config, const struct kvc_scenario *scenario,
                            uint32_t phase);

/* Checks what the ranges of single options cannot express. */
enum kvc_status kvc_composed_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* The rooms of struct kvc_model: index and values. */
uint32_t kvc_composed_rooms(const struct kvc_scenario *scenario, struct kvc_model_room *room);

/* Returns the parameters of a scenario's structures. */
struct kvc_shards_params kvc_composed_store_params_of(const struct kvc_scenario *scenario);
struct kvc_shards_params kvc_composed_hot_params_of(const struct kvc_scenario *scenario);

/* Returns the most jobs that wait for a stage, of one pipeline; 0: any number. The ring of the ports holds
 * frames in front of the stage that receives them. */
uint64_t kvc_composed_room_of(const struct kvc_composed_config *config, uint32_t stage);

/* Returns the operations of all stages, as bits of enum kvc_composed_does. */
uint32_t kvc_composed_does(const struct kvc_composed_config *config);

/* Returns the items that a shard has room for. */
double kvc_composed_items(const struct kvc_composed_config *config);

#endif

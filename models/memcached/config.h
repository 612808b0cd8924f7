/* Configuration of a server of memcached: its options with typed choices, its devices, and values derived
 * from them. */
#ifndef KVC_MODELS_MEMCACHED_CONFIG_H
#define KVC_MODELS_MEMCACHED_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "models/memcached/cost_profile.h"
#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/devices/cpu.h"
#include "sim/devices/database.h"
#include "sim/devices/dram.h"
#include "sim/devices/flash/flash.h"
#include "sim/devices/fpga.h"
#include "sim/devices/nic.h"
#include "sim/scenario.h"

/* Options of the servers that MemcachedGPU and BlueCache are compared with: the scenario's `system` table.
 *
 * Source of the first three: Hetherington et al., MemcachedGPU, SoCC 2015, table 6. Four stores share one
 * struct; the option table of each lists only its own fields:
 *   - memcached 1.4.15 on cores, with the sockets of Linux, UDP or TCP, or with PF_RING,
 *   - MICA (Lim et al., NSDI 2014), whose cores each own a partition and poll the NIC,
 *   - memcached on an FPGA (Blott et al., HotCloud 2013), a pipeline of a fixed depth,
 *   - Fatcache (github.com/twitter/fatcache), with which BlueCache is compared (Xu et al., PVLDB 10(4),
 *     2016).
 *
 * All costs of processors are in core cycles, so that they carry over to other clocks. */

/* Path of packets to the threads of memcached. */
enum kvc_memcached_network {
    KVC_MEMCACHED_KERNEL,  /* The sockets of Linux. */
    KVC_MEMCACHED_PF_RING, /* Threads poll the NIC for UDP; TCP still takes the kernel. */
    KVC_MEMCACHED_TCP,     /* Connections, each of which belongs to a thread. */
};

/* Source of MICA's requests. */
enum kvc_memcached_feed {
    KVC_MEMCACHED_FROM_NETWORK,
    KVC_MEMCACHED_FROM_MEMORY, /* Requests are read without packets, which shows the limit of the table. */
};

/* The lock that a GET of memcached holds while it searches. */
enum kvc_memcached_lock {
    KVC_MEMCACHED_LOCK_ITEM,   /* A lock of a few items; contention is not modelled. */
    KVC_MEMCACHED_LOCK_GLOBAL, /* The lock of the whole cache. */
};

struct kvc_memcached_options {
    uint64_t threads;
    int network; /* enum kvc_memcached_network. */
    int lock;    /* enum kvc_memcached_lock. */
    int feed;    /* enum kvc_memcached_feed. */
    bool client_assisted, loopback;
    uint64_t entries, key_room, ways; /* The table. */
    double bump_ns;
    uint64_t buckets; /* MICA: buckets of a core. */
    double log_bytes; /* MICA: log of a core. */
    double compute_cycles, set_compute_cycles;
    double stack_receive_cycles, stack_send_cycles, copy_cycles, schedule_cycles, crossing_cycles;
    double epoll_cycles;
    uint64_t system_calls;
    double tcp_ratio, wake_cycles, cycles_ratio, core_share;
    /* Fatcache: memory slabs of an instance; SSD space of all instances. */
    double slab_memory_bytes, disk_bytes;
    double bypass_receive_cycles, bypass_send_cycles;
    uint64_t backlog, burst, fill_buffers;
    double remote_line_ns;
    uint64_t datapath_bytes;
    double depth_cycles, price_usd;
    uint64_t outstanding;
};

extern const struct kvc_option_table kvc_memcached_option_table;
extern const struct kvc_option_table kvc_memcached_mica_option_table;
extern const struct kvc_option_table kvc_memcached_fpga_option_table;
extern const struct kvc_option_table kvc_memcached_fatcache_option_table;

/* The four servers. */
enum kvc_memcached_kind {
    KVC_MEMCACHED_VANILLA,
    KVC_MEMCACHED_MICA,
    KVC_MEMCACHED_FPGA,
    KVC_MEMCACHED_FATCACHE,
};

enum {
    KVC_MEMCACHED_BURST_MAX = 64,
    KVC_MEMCACHED_THREADS_MAX = 1024,
    KVC_MEMCACHED_KEY_MAX = 250,     /* Longest key [bytes] (memcached.h, KEY_MAX_LENGTH). */
    KVC_MEMCACHED_WINDOW_NS = 50000, /* Window of the recorder; a whole number of slices fills it. */
};

enum {
    KVC_MEMCACHED_AT_ONCE = 16,         /* Responses, then requests, in a step of clients on the node. */
    KVC_MEMCACHED_OPEN_REQUESTS = 1024, /* In flight over UDP, of an open loop of such clients. */
};

enum {
    KVC_MEMCACHED_SLAB_BYTES = 1 << 20, /* Size of a slab (fc_settings.h, SLAB_SIZE). */
    KVC_MEMCACHED_SLAB_ITEM_BYTES = 49, /* Header of an item before its key (fc_item.h, struct item). */
};

/* Slab sizes, equal for all instances. */
struct kvc_memcached_slab_sizes {
    uint32_t memory_slabs, disk_slabs; /* Slabs of an instance, at least one of each. */
    uint32_t page_bytes;               /* Page size of the SSD. */
};

/* Sizes that have room for all keys of a socket; each store uses some of them. */
struct kvc_memcached_needed {
    double entries;    /* Entries of its table. */
    double buckets;    /* Buckets of a core's index. */
    double log_bytes;  /* Log of a core [bytes]. */
    double disk_bytes; /* Slabs on the SSD [bytes]. */
};

struct kvc_memcached_config {
    enum kvc_memcached_kind kind;
    struct kvc_memcached_options sized;          /* The scenario's options with sizes for its keys. */
    const struct kvc_memcached_options *options; /* The same. */
    struct kvc_memcached_needed needed;
    const struct kvc_nic *nic; /* Devices, owned by the scenario; NULL: it has none. */
    const struct kvc_cpu *cpu;
    const struct kvc_dram *dram;
    const struct kvc_fpga *fpga;
    const struct kvc_database *database;
    const struct kvc_flash *flash;
    /* memcached with clients on the node: measured costs, instead of cycles; NULL: none are known. */
    const struct kvc_memcached_cost_profile *profile;
    /* Fatcache: slabs of an instance, which is simulated as a thread. */
    struct kvc_memcached_slab_sizes slabs;
    uint32_t threads, burst, outstanding;
    uint32_t rings;    /* Receive rings of the NIC; the first threads own one each. */
    uint32_t room;     /* Capacity of the queue in front of a thread, or of the queue that all threads share
                          [packets]. */
    uint32_t multiget; /* Keys of a GET, at least 1. */
    uint32_t buckets;  /* Buckets of memcached's table. */
    uint32_t key_bytes_max; /* Longest key of the workload, for which the entries of a table have room. */
    bool staged;            /* The thread that receives a packet and the one that serves it may differ. */
    bool shared;            /* Staged: any thread may serve the request; otherwise its owner does. */
    bool owned;             /* The NIC delivers a packet to the thread that serves it. */
    bool tcp;               /* Requests come over connections. */
    bool loopback;          /* Clients are on the node itself. */
    bool client_core;       /* They work on one core, which may be what limits them, by measured costs. */
    bool offline;           /* Requests come from memory, without packets. */
    bool polls;             /* Threads poll, and draw full power even when idle. */
    bool locks_gets, locks_sets;
    double cycle_ns;
    double llc_frac;  /* Share of the table's lines that the last-level cache holds. */
    double llc_ns;    /* Stall for a line in that cache. */
    double line_ns;   /* Mean stall for a line of the table. */
    double memory_ns; /* Mean time for which a line of the table occupies the memory. */
    double overlap;   /* Lines that a thread waits for at a time. */
    double move_ns;   /* Mean time to fetch a line that a core of any socket of the node has written. */
    double depth_ns;  /* Latency of the pipeline, without the times of a packet's bytes. */
    double path_ns;   /* Latency of the network, one way; over TCP, plus half of the client's own work. */
    double io_ns;     /* Fatcache: time of a blocking system call, without the time of the SSD. */
    double wake_ns;   /* Time until a sleeping thread runs; 0: not modelled. */
    double client_ns; /* Work of a client's core for a request and its response over TCP or on the node,
                         without measured costs. */
    double doublings; /* With a profile: of the store beyond one that stays in the caches. */
    uint32_t cores;   /* With a profile: cores of the server's threads. */
    double price_usd; /* Price of the processors or FPGAs of all sockets and nodes; 0: unknown. */
};

/* Returns the configuration of a resolved scenario. */
static inline const struct kvc_memcached_config *kvc_memcached_config_of(const struct kvc_scenario *scenario)
{
    return scenario->config;
}

/* Returns the measured costs of the transport; the configuration must have a profile. */
static inline const struct kvc_memcached_transport_costs *
kvc_memcached_transport_costs_of(const struct kvc_memcached_config *config)
{
    return config->tcp ? &config->profile->tcp : &config->profile->udp;
}

/* Returns the cycles of the kernel for a request, except for receiving its packet. */
double kvc_memcached_kernel_cycles(const struct kvc_memcached_options *options);

/* Returns the cycles of the kernel for a request over TCP and its response. On the node itself, the sender's
 * system call does the receiver's protocol work; over a NIC, the receiver does, which is the same work. */
double kvc_memcached_tcp_cycles(const struct kvc_memcached_config *config);

/* Returns the most requests that clients on the node have in flight; over TCP, their connections. */
uint64_t kvc_memcached_requests_most(const struct kvc_scenario *scenario);

/* Returns the bytes of an item. */
uint32_t kvc_memcached_slab_item_bytes(uint32_t key_bytes, uint32_t value_bytes);

/* Returns the pages of a slab. */
uint32_t kvc_memcached_slab_pages(const struct kvc_memcached_slab_sizes *sizes);

/* Returns the pages of the SSD that all instances of Fatcache use. */
uint64_t kvc_memcached_disk_pages(const struct kvc_memcached_config *config);

/* Resolve the scenario's options; `config` is a struct kvc_memcached_config. Return KVC_ERR_SCENARIO if
 * memcached has more threads than there are cores, if Fatcache asks for more bytes than the SSD has or fewer
 * than its translation layer needs, or if an item does not fit. */
enum kvc_status kvc_memcached_resolve(const struct kvc_scenario *scenario, void *config,
                                      struct kvc_diag *diag);
enum kvc_status kvc_memcached_mica_resolve(const struct kvc_scenario *scenario, void *config,
                                           struct kvc_diag *diag);
enum kvc_status kvc_memcached_fpga_resolve(const struct kvc_scenario *scenario, void *config,
                                           struct kvc_diag *diag);
enum kvc_status kvc_memcached_fatcache_resolve(const struct kvc_scenario *scenario, void *config,
                                               struct kvc_diag *diag);

/* Checks what the ranges of single options cannot express. For example, a scenario must have no trace, one
 * request in a packet, and every request on the real table. */
enum kvc_status kvc_memcached_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Returns whether clients of a closed loop may send their next request within the same slice, which needs a
 * single server. */
bool kvc_memcached_goes_on(const struct kvc_scenario *scenario);

/* Returns the length of a slice, which divides KVC_MEMCACHED_WINDOW_NS [ns]. With several servers, a client
 * of a closed loop sends its next request no earlier than this time after the thread is done with the
 * previous one, so that no request leaves its client in a slice that is already simulated. */
double kvc_memcached_slice_ns(const struct kvc_scenario *scenario);

#endif

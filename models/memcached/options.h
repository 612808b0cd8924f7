/* Options of the servers that MemcachedGPU and BlueCache are compared with: the scenario's `system` table.
 *
 * Source of the first three: Hetherington et al., MemcachedGPU, SoCC 2015, table 6. Four stores share one
 * struct, of which each has the rows that concern it:
 *   - memcached 1.4.15 on cores, with the sockets of Linux, UDP or TCP, or with PF_RING,
 *   - MICA (Lim et al., NSDI 2014), whose cores each own a partition and poll the NIC,
 *   - memcached on an FPGA (Blott et al., HotCloud 2013), a pipeline of a fixed depth,
 *   - Fatcache (github.com/twitter/fatcache), with which BlueCache is compared (Xu et al., PVLDB 10(4),
 * 2016).
 *
 * All costs of processors are in core cycles, so that they carry over to other clocks. */
#ifndef KVC_MODELS_MEMCACHED_OPTIONS_H
#define KVC_MODELS_MEMCACHED_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/text/option.h"

/* How packets reach the threads of memcached. */
enum kvc_memcached_network {
    KVC_MEMCACHED_KERNEL,  /* The sockets of Linux. */
    KVC_MEMCACHED_PF_RING, /* Threads poll the NIC for UDP; TCP still takes the kernel. */
    KVC_MEMCACHED_TCP,     /* Connections, each of which belongs to a thread. */
};

/* Where MICA's requests come from. */
enum kvc_memcached_feed {
    KVC_MEMCACHED_FROM_NETWORK,
    KVC_MEMCACHED_FROM_MEMORY, /* Without packets: the limit of the table. */
};

/* What a GET of memcached holds while it searches. */
enum kvc_memcached_lock {
    KVC_MEMCACHED_LOCK_ITEM,   /* A lock of a few items; nobody waits for it. */
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
    uint64_t buckets; /* MICA: of a core. */
    double log_bytes; /* MICA: of a core. */
    double compute_cycles, set_compute_cycles;
    double stack_receive_cycles, stack_send_cycles, copy_cycles, schedule_cycles, crossing_cycles;
    double epoll_cycles;
    uint64_t system_calls;
    double tcp_ratio, wake_cycles, cycles_ratio;
    double slab_memory_bytes, disk_bytes; /* Fatcache: of an instance; of all instances. */
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

#endif

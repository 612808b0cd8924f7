/* MemcachedGPU's options: the scenario's table `system`, as the user wrote it. */
#ifndef KVC_MODELS_MEMCACHEDGPU_OPTIONS_H
#define KVC_MODELS_MEMCACHEDGPU_OPTIONS_H

#include <stdint.h>

#include "sim/base/text/option.h"

enum {
    KVC_MEMCACHEDGPU_BATCH_MAX = 65536,
    KVC_MEMCACHEDGPU_WAYS_MAX = 16,
    KVC_MEMCACHEDGPU_STREAMS_MAX = 128,
    KVC_MEMCACHEDGPU_POST_MAX = 64,
    KVC_MEMCACHEDGPU_SET_CONNECTIONS_MAX = 256,
};

enum kvc_memcachedgpu_receive {
    KVC_MEMCACHEDGPU_RECEIVE_GPU,  /* GNoM: the NIC writes packets into GPU memory. */
    KVC_MEMCACHEDGPU_RECEIVE_HOST, /* NGD: it writes them into host memory, and batches are copied. */
};

enum kvc_memcachedgpu_feed {
    KVC_MEMCACHEDGPU_NETWORK, /* Packets pass through the NIC. */
    KVC_MEMCACHEDGPU_MEMORY,  /* They are read from host memory, as in the offline limit study. */
};

enum kvc_memcachedgpu_index {
    KVC_MEMCACHEDGPU_SETS,
    KVC_MEMCACHEDGPU_HOPSCOTCH,
    KVC_MEMCACHEDGPU_CHAINED,
};

enum kvc_memcachedgpu_layout {
    KVC_MEMCACHEDGPU_ONE_TABLE,   /* Every entry has room for the longest key. */
    KVC_MEMCACHEDGPU_BY_KEY_SIZE, /* A table for each class of key sizes, as large as its share of the keys.
                                   */
};

enum kvc_memcachedgpu_misses {
    KVC_MEMCACHEDGPU_MISSES_LEAVE, /* Clients do nothing about a miss. */
    KVC_MEMCACHEDGPU_MISSES_SET,   /* The client then SETs the key. */
};

struct kvc_memcachedgpu_options {
    int receive;                /* enum kvc_memcachedgpu_receive. */
    int feed;                   /* enum kvc_memcachedgpu_feed. */
    uint64_t batch;             /* Packets of a full batch. */
    double batch_timeout_ns;    /* Longest that a batch waits to be full [ns]; 0: no limit. */
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
    double damaged_frac;        /* Share of the packets that arrive damaged. */
    uint64_t background_blocks; /* Blocks of the other task; 0: there is none. */
    uint64_t background_threads;
    uint64_t background_kernels; /* Launches that its blocks are divided over. */
    double background_ns;        /* Time of the task as one kernel on the idle card [ns]. */
    double background_start_ns;  /* From the begin of the measured time [ns]. */
};

extern const struct kvc_option_table kvc_memcachedgpu_option_table;

#endif

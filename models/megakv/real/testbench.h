/* A testbench is a real, preloaded store with real pipelines, on which the stages of the threads are
 * measured while all of them work, as in a store.
 *
 * The testbench works in rounds. In a round the scheduler launches the batch of the round before, the senders
 * answer the batch of the round before that, and the receivers take in a batch. All begin at the same time,
 * but receivers that share the scheduler's core begin after the launch. Every stage therefore finds its input
 * where the stage before has left it, on another core in general, and the other cores use caches and memory
 * meanwhile. The index is on the scheduler's thread; its launches are measured elsewhere
 * (index_measurement.h). */
#ifndef KVC_MODELS_MEGAKV_REAL_TESTBENCH_H
#define KVC_MODELS_MEGAKV_REAL_TESTBENCH_H

#include "models/megakv/config.h"
#include "models/megakv/real/node.h"
#include "sim/probes/thread_pool.h"

/* The loads of the testbench's nodes. */
enum kvc_megakv_testbench_load {
    KVC_MEGAKV_TESTBENCH_GETS, /* GETs only. */
    KVC_MEGAKV_TESTBENCH_SETS, /* SETs only. */
    KVC_MEGAKV_TESTBENCH_MIX,  /* SETs and GETs in equal numbers and random order. */
    KVC_MEGAKV_TESTBENCH_LOADS
};

struct kvc_megakv_testbench_options {
    uint32_t key_bytes, value_bytes; /* Length of all keys and values [bytes]. */
    double items_bytes;              /* Slab memory of all items [bytes]. */
    double room_bytes;               /* Slab memory that is still free [bytes]. */
    uint32_t pipelines;
    bool shared_cores; /* Receivers share core 0 with the scheduler and senders share the other cores.
                          Otherwise every thread has a core, beginning with the scheduler. */
    uint32_t cores;    /* Cores in use. */
    /* The last load, in the order of the enum, that rounds may have. Packets are made only for loads up to
     * it, because making them takes time. */
    enum kvc_megakv_testbench_load last_load;
};

/* Keys that the GETs of a round look up. */
enum kvc_megakv_testbench_search {
    KVC_MEGAKV_TESTBENCH_NO_SEARCH,   /* None: the index is not searched, and all GETs miss. */
    KVC_MEGAKV_TESTBENCH_KEYS,        /* Keys of the store. */
    KVC_MEGAKV_TESTBENCH_ABSENT_KEYS, /* Keys that the store does not have. */
    KVC_MEGAKV_TESTBENCH_HALF_ABSENT  /* Half of each, in random order. */
};

/* The work of every pipeline in one round. */
struct kvc_megakv_testbench_work {
    uint32_t gets; /* GETs to be received, searched and answered. Whole frames are received and then cut to
                      this. */
    enum kvc_megakv_testbench_search search;
    bool client_compares; /* The senders that answer them do not compare keys. */
    uint32_t sets;        /* SETs to be received, stored and inserted. */
    bool mixed;           /* SETs come in a mix whose GETs are dropped. */
};

/* The times of a round, as means over the pipelines, and its counts. */
struct kvc_megakv_testbench_round {
    double receive_gets_s, receive_sets_s; /* Time of a receiver for GETs, and for SETs or a mix [s]. */
    uint32_t gets_rows;                    /* GETs that each receiver took in. */
    uint32_t sets_rows, sets; /* SETs or requests of a mix that each receiver took in, and the SETs alone. */
    uint32_t search_jobs;     /* Searches of all pipelines. */
    double collect_s;         /* Time to collect the SETs' index jobs [s]. */
    uint32_t insert_jobs;     /* Index jobs of the SETs. */
    double send_s;            /* Time of a sender [s]. */
    double each_send_s[KVC_MEGAKV_REAL_PIPELINES_MAX]; /* Time of each sender [s]. */
    uint32_t send_rows;                                /* GETs that each sender answered. */
    bool client_compared;                              /* The senders did not compare keys. */
    uint64_t misses;                                   /* Misses among the answers of all senders. */
    uint64_t passed;                                   /* Items that the CLOCK hand passed. */
};

struct kvc_megakv_testbench;

/* The argument of a task of the thread pool. */
struct kvc_megakv_testbench_task {
    struct kvc_megakv_testbench *testbench;
    struct kvc_megakv_real_pipeline *pipeline; /* NULL: the scheduler's task. */
    uint32_t rows;
};

/* Tasks of a round: the scheduler, and for each pipeline a sender and two receivers. */
enum { KVC_MEGAKV_TESTBENCH_TASKS_MAX = 1 + 3 * KVC_MEGAKV_REAL_PIPELINES_MAX };

struct kvc_megakv_testbench {
    struct kvc_megakv_testbench_options params;
    uint64_t keys; /* Keys of the store. */
    struct kvc_megakv_options options;
    struct kvc_megakv_config config[KVC_MEGAKV_TESTBENCH_LOADS];
    struct kvc_scenario scenario[KVC_MEGAKV_TESTBENCH_LOADS];
    struct kvc_shards *store;
    struct kvc_megakv_real_node node[KVC_MEGAKV_TESTBENCH_LOADS]; /* All nodes work on the same store. */
    struct kvc_thread_pool *pool;
    struct kvc_megakv_testbench_work
        held; /* Work that is received but not launched; `gets` counts the GETs that fit. */
    struct kvc_megakv_testbench_work answering; /* Work that is launched but not answered. */
    struct kvc_megakv_real_buffer *held_buffers[KVC_MEGAKV_TESTBENCH_LOADS][KVC_MEGAKV_REAL_PIPELINES_MAX];
    struct kvc_megakv_testbench_round *round; /* The current round, and its tasks. */
    struct kvc_megakv_testbench_task task[KVC_MEGAKV_TESTBENCH_TASKS_MAX];
    struct kvc_thread_pool_task work[KVC_MEGAKV_TESTBENCH_TASKS_MAX];
    uint32_t tasks;
};

/* Returns how many requests fit into a basic Ethernet frame. */
uint32_t kvc_megakv_testbench_frame_requests(enum kvc_megakv_testbench_load load, uint32_t key_bytes,
                                             uint32_t value_bytes);

/* Creates and preloads the store. `frame_requests` is the size of the frames; 0: as many as fit. `pool`
 * must outlive the testbench. Returns KVC_ERR_RUNTIME if memory is short. The testbench
 * must be closed even after an error. */
enum kvc_status kvc_megakv_testbench_open(struct kvc_megakv_testbench *testbench,
                                          const struct kvc_megakv_testbench_options *params,
                                          uint32_t frame_requests, struct kvc_thread_pool *pool,
                                          struct kvc_diag *diag);
void kvc_megakv_testbench_close(struct kvc_megakv_testbench *testbench); /* A zeroed testbench is allowed. */

/* Works for one round. When sizes change, the first two rounds still work on batches of the old sizes. */
void kvc_megakv_testbench_run(struct kvc_megakv_testbench *testbench,
                              const struct kvc_megakv_testbench_work *work,
                              struct kvc_megakv_testbench_round *round);

#endif

/* A store to try stages on: the real one, preloaded, with the real pipelines over it. It works in turns:
 * receivers take in a batch, the scheduler launches that of the turn before, and senders answer the one
 * before that, all at the same time, as in a store at work, but each with as much to do as it is given. */
#ifndef KVC_MODELS_MEGAKV_REAL_TESTBENCH_H
#define KVC_MODELS_MEGAKV_REAL_TESTBENCH_H

#include "models/megakv/options.h"
#include "models/model.h"
#include "validate/probes/thread_pool.h"
#include "models/megakv/real/pipeline.h"

struct kvc_megakv_testbench_options {
    uint32_t value_bytes;
    double slab_bytes; /* full of items */
    uint32_t pipelines;
    bool on_gpu;       /* the index */
    bool shared_cores; /* receivers on core 0, senders on the others; else a core for each, behind the
                          scheduler's */
    uint32_t cores;
};

/* What is looked up: nothing, the keys, keys that the store does not have, or one half of each. */
enum kvc_megakv_testbench_search {
    KVC_MEGAKV_TESTBENCH_NO_SEARCH,
    KVC_MEGAKV_TESTBENCH_KEYS,
    KVC_MEGAKV_TESTBENCH_ABSENT_KEYS,
    KVC_MEGAKV_TESTBENCH_HALF_ABSENT
};

/* GETs alone; or as many SETs in any order between them, because that is how a store gets them. */
enum kvc_megakv_testbench_load {
    KVC_MEGAKV_TESTBENCH_GETS,
    KVC_MEGAKV_TESTBENCH_MIX,
    KVC_MEGAKV_TESTBENCH_LOADS
};

/* What every pipeline gets to do in a turn. */
struct kvc_megakv_testbench_work {
    uint32_t gets; /* GETs alone, to be received, searched and answered; whole frames, then cut */
    enum kvc_megakv_testbench_search search;
    uint32_t sets; /* of a mix, to be received, stored and inserted; its GETs are forgotten */
};

/* Times of one turn, means over the pipelines, and what was done in them. */
struct kvc_megakv_testbench_round {
    double receive_gets_s, receive_mix_s; /* a receiver's */
    uint32_t gets_rows, mix_rows, mix_sets;
    double search_s; /* of the launch of all pipelines */
    uint32_t search_jobs;
    double drain_s, insert_s; /* of the scheduler for the SETs' index jobs, and of their launch */
    uint32_t insert_jobs;
    double send_s; /* a sender's */
    double each_send_s[KVC_MEGAKV_REAL_PIPELINES_MAX];
    uint32_t send_rows;
    uint64_t misses; /* of all send_rows * pipelines */
    uint64_t passed; /* items, by the CLOCK hand */
};

struct kvc_megakv_testbench_task {
    struct kvc_megakv_real_pipeline *pipeline;
    uint32_t rows;
};

struct kvc_megakv_testbench {
    struct kvc_megakv_testbench_options params;
    double index_bytes;
    uint64_t keys;
    struct kvc_megakv_options system;
    struct kvc_scenario scenario[KVC_MEGAKV_TESTBENCH_LOADS];
    struct kvc_megakv_store *store;
    struct kvc_megakv_real_node node[KVC_MEGAKV_TESTBENCH_LOADS];
    struct kvc_thread_pool *pool;
    /* A store launches once a cycle, and what the core's caches have forgotten by then belongs to what a
     * launch costs. 0: at once */
    double period_s;
    double launched_s; /* the last one */
    /* received and not launched yet, launched and not answered yet */
    struct kvc_megakv_testbench_work held,
        answering; /* their gets: those of whole frames that there was room for */
    struct kvc_megakv_real_buffer *held_buffers[KVC_MEGAKV_TESTBENCH_LOADS][KVC_MEGAKV_REAL_PIPELINES_MAX];
    struct kvc_megakv_testbench_round *repetition; /* that is under way */
    uint32_t count;                                /* of its tasks */
    struct kvc_megakv_testbench_task task[3 * KVC_MEGAKV_REAL_PIPELINES_MAX];
    struct kvc_thread_pool_task work[3 * KVC_MEGAKV_REAL_PIPELINES_MAX + 1];
};

/* Bytes of the bed's keys, and requests of its frames. */
enum { KVC_MEGAKV_TESTBENCH_KEY_BYTES = 8 };
uint32_t kvc_megakv_testbench_frame_requests(enum kvc_megakv_testbench_load load, uint32_t value_bytes);

/* KVC_ERR_RUNTIME: memory. Close it in any case. `frame_requests` 0: as many as fit a frame of basic
 * Ethernet. */
enum kvc_status kvc_megakv_testbench_open(struct kvc_megakv_testbench *testbench,
                                          const struct kvc_megakv_testbench_options *params,
                                          uint32_t frame_requests, struct kvc_thread_pool *pool,
                                          struct kvc_diag *diag);
void kvc_megakv_testbench_close(struct kvc_megakv_testbench *testbench); /* a zeroed one is allowed */

/* One turn. After a change of sizes the first two turns are none to measure. */
void kvc_megakv_testbench_round(struct kvc_megakv_testbench *testbench,
                                const struct kvc_megakv_testbench_work *work,
                                struct kvc_megakv_testbench_round *repetition);

#endif

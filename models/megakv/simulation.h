/* The moving parts of a simulated Mega-KV, shared by the files of this folder only.
 *
 * A request's way: client -> kvc_megakv_receive (receiver.c) fills a pipeline's buffer -> the scheduler
 * (scheduler.c) swaps the buffers of all pipelines every cycle and launches them -> the GPU (scheduler.c)
 * searches -> the sender (sender.c) reads the items and answers -> the recorder (recorder.c) takes the times.
 *
 * Per socket there is one scheduler, one GPU and one sender per pipeline, each an actor of the engine.
 * Receivers need none: nothing waits for them inside a cycle, so their recursion is evaluated when the
 * scheduler swaps. */
#ifndef KVC_MODELS_MEGAKV_SIMULATION_H
#define KVC_MODELS_MEGAKV_SIMULATION_H

#include <stdbool.h>
#include <stdint.h>

#include "models/megakv/config.h"
#include "models/megakv/costs.h"
#include "models/megakv/equations.h"
#include "models/megakv/store.h"
#include "sim/engine.h"
#include "sim/run/replica.h"

enum {
    KVC_MEGAKV_BUFFERS_MAX = 16,
    KVC_MEGAKV_DELAY_MAX = 64,
    KVC_MEGAKV_RESPONSE_BYTES = 4 << 20,
};

/* Stages whose busy time is recorded. */
enum kvc_megakv_stage {
    KVC_MEGAKV_RX,
    KVC_MEGAKV_RECEIVE,
    KVC_MEGAKV_SEARCH,
    KVC_MEGAKV_INSERT,
    KVC_MEGAKV_SEND,
    KVC_MEGAKV_TX,
    KVC_MEGAKV_STAGES,
};

/* One of a pipeline's batch buffers. */
struct kvc_megakv_buffer {
    struct kvc_batch *batch;
    double *received_ns;    /* per row: the receiver is done with it */
    uint32_t *location;     /* per row, after the search; NONE for rows without a search */
    bool *sampled;          /* per row: runs through the real structures */
    double received_sum_ns; /* over all rows */
    double launched_ns, searched_ns;
    uint32_t gets;
    uint32_t *launched_gets; /* threads = "shared": per pipeline, of the launch that this one was part of */
};

/* Index jobs that wait for the next insert launch. */
struct kvc_megakv_writes {
    uint32_t inserts, erases, insert_room, erase_room;
    uint64_t *insert_hash, *erase_hash;
    uint32_t *insert_location, *erase_location;
    double jobs;    /* as the GPU sees them: every insert and erase, sampled or not */
    double drained; /* of them, by earlier cycles */
};

struct kvc_megakv_socket;

/* A hardware thread. Under threads = "shared" several tasks of a socket use one in turns. */
struct kvc_megakv_core {
    double free_ns; /* when it has worked off all that it has been given */
    /* of senders: the launch whose batches it answers, and when it began with them */
    double searched_ns, began_ns;
};

struct kvc_megakv_pipeline {
    struct kvc_megakv_socket *socket;
    uint32_t number;

    struct kvc_megakv_buffer buffers[KVC_MEGAKV_BUFFERS_MAX];
    struct kvc_megakv_buffer *filling;
    struct kvc_megakv_buffer *free_stack[KVC_MEGAKV_BUFFERS_MAX];
    uint32_t free_count;
    struct kvc_gate *free_gate;
    struct kvc_megakv_buffer *ready[KVC_MEGAKV_BUFFERS_MAX]; /* ring, searched and waiting for the sender */
    uint32_t ready_head, ready_tail;
    struct kvc_gate *ready_gate;

    /* receiver */
    struct kvc_megakv_core own_receive_core, *receive_core;
    double rx_free_ns;    /* its receive queue's share of the wire */
    double next_frame_ns; /* saturating: the next frame's turn */
    double frame_step_ns; /* and the time per request between turns */
    double *started_ns;   /* ring: when the last nic.ring_frames frames left the receive ring */
    uint64_t frames;
    double receive_stretch, send_stretch;       /* hyper-threads, see kvc_smt_stretch */
    double receive_compute_ns, send_compute_ns; /* since the last swap */
    double swapped_ns;
    /* per request until the next swap, where sizes are fixed */
    double receive_ns[KVC_OP_COUNT], request_bytes[KVC_OP_COUNT];

    /* sender */
    struct kvc_megakv_lookup_mix lookup_mix; /* what the GETs of its batch found */
    struct kvc_megakv_core *send_core;       /* NULL: its own */
    double slowness;                         /* of its sender's core over the mean */
    double tx_free_ns;
    double pace_ns;                         /* sender's time per request in its last batch */
    double waited_ns[KVC_MEGAKV_DELAY_MAX]; /* ring: how long the last n searched batches waited for the
                                               sender */
    uint64_t batches;
};

/* What the scheduler hands to the GPU. */
struct kvc_megakv_launch {
    struct kvc_megakv_launch *next;
    enum kvc_megakv_kernel kernel;
    struct kvc_megakv_buffer **buffers; /* SEARCH: one per pipeline */
    double drained;                     /* SEARCH: index jobs that came with them */
    struct kvc_megakv_writes writes;    /* INSERT */
};

struct kvc_megakv_socket {
    struct kvc_megakv_simulation *simulation;
    struct kvc_megakv_shard *shard; /* NULL: functional = "off" */
    uint32_t number;
    char host[64];
    struct kvc_megakv_pipeline *pipelines;
    struct kvc_megakv_writes writes; /* being filled */
    struct kvc_megakv_launch *launches, **launches_end;
    struct kvc_gate *launch_gate;
    bool launch_running;
    struct kvc_gate *done_gate; /* index_on = "thread": a launch is through */
    /* threads = "shared" */
    struct kvc_megakv_core first_core; /* scheduler and receivers */
    struct kvc_megakv_core *send_cores;
    struct kvc_rng rss, thinning, outcome;
    uint64_t outcomes_known, outcomes_hit; /* of recent sampled GETs, to draw those of the others */
};

/* Launches of one kernel that ended within the measured time. */
struct kvc_megakv_launches {
    uint64_t count;
    double jobs, ns;
};

struct kvc_megakv_simulation {
    const struct kvc_scenario *scenario;
    const struct kvc_megakv_config *config;
    struct kvc_megakv_costs costs;
    struct kvc_megakv_store *store;
    struct kvc_replica replica;
    struct kvc_megakv_socket *sockets;
    uint32_t socket_count, streams;
    double admit_rows; /* per pipeline and cycle, what the GPU can finish in time */
    bool paced;        /* eq. (4) gives a limit */
    bool shared;       /* threads = "shared" */
    bool on_thread;    /* index_on = "thread" */
    uint32_t buffer_rows;
    bool fixed_sizes;
    double first_pace_ns;       /* of every sender, before its first batch: the closed form's */
    struct kvc_batch *overflow; /* frames that find their pipeline's buffer full */
    uint32_t *rows;             /* scratch of receiver.c and scheduler.c */
    uint64_t *hashes;
    uint32_t *locations;
    struct kvc_megakv_slab_evicted *evicted;
    uint8_t *response; /* where senders copy values to */
    uint32_t response_position;
    uint8_t *read_result;
    double *done_ns, *column_a, *column_b; /* scratch of sender.c, per row */
    uint64_t launches, late_launches;      /* in the measured time */
    double late_ns, late_ns_max, first_launch_ns, last_launch_ns;
    struct kvc_megakv_launches searched, inserted;
    uint64_t completed, hits, misses, writes, sets;
    /* sums over the requests of whole frames and batches within the measured time, for stage means */
    double receive_sum_ns, batch_sum_ns, gpu_sum_ns, send_sum_ns, write_latency_sum_ns;
    uint64_t received, batched, written;
};

/* Receives everything that reached `socket`'s pipelines by until_ns; at the swap's time. */
void kvc_megakv_receive(struct kvc_megakv_socket *socket, double until_ns);

/* Moves the rows that the receiver finished after until_ns, and those beyond the admitted number, into
 * `next`. */
void kvc_megakv_split(struct kvc_megakv_pipeline *pipeline, struct kvc_megakv_buffer *next, double until_ns);

/* Rows that the pipeline may launch in one cycle. */
double kvc_megakv_admitted(const struct kvc_megakv_pipeline *pipeline);

/* Notes that a swap and launch happened, late_ns after it was due. */
void kvc_megakv_count_launch(struct kvc_megakv_simulation *simulation, double now_ns, double late_ns);

/* Adds an index job. */
void kvc_megakv_writes_insert(struct kvc_megakv_writes *writes, uint64_t hash, uint32_t location);
void kvc_megakv_writes_erase(struct kvc_megakv_writes *writes, uint64_t hash, uint32_t location);
void kvc_megakv_writes_free(struct kvc_megakv_writes *writes);

/* Actor bodies; `data` is the socket or the pipeline. */
void kvc_megakv_scheduler_main(void *socket);
void kvc_megakv_gpu_main(void *socket);
void kvc_megakv_sender_main(void *pipeline);

#endif

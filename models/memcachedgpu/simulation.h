/* The state of a simulated MemcachedGPU, shared by the files of this folder that simulate it.
 *
 * A GET passes through these files: the receiver (receiver.c) puts its packet into a receive buffer and forms
 * batches. The pre thread launches a batch in a free stream (stream.c), which runs the kernel on the real
 * packets (execute.c) while the card shares its multiprocessors by blocks. A post thread (answer.c) sends the
 * responses and gives the buffers and the stream back. SETs and DELETEs go another way, over TCP (writes.c).
 * Another task may use the same card (stream.c).
 *
 * The receiver, the streams and the threads that serve writes are actors of the engine. The actor of a stream
 * stays with its batch until it is answered: the pre thread and the post threads are gates that it passes. A
 * single packet is never an activity, but every packet of a batch has its own times of arrival and response.
 */
#ifndef KVC_MODELS_MEMCACHEDGPU_SIMULATION_H
#define KVC_MODELS_MEMCACHEDGPU_SIMULATION_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/memcachedgpu/get.h"
#include "models/memcachedgpu/config.h"
#include "models/memcachedgpu/costs.h"
#include "models/memcachedgpu/resources.h"
#include "models/memcachedgpu/store.h"
#include "sim/base/rng.h"
#include "sim/devices/gpu_blocks.h"
#include "sim/devices/socket.h"
#include "sim/engine.h"
#include "sim/run/replica.h"
#include "sim/run/slices/slice_mover.h"

enum {
    /* Size of the largest packet, plus one. */
    KVC_MEMCACHEDGPU_WIRE_BYTES =
        KVC_MEMCACHEDGPU_PACKET_HEADER_BYTES + KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX + 1,
};

/* Outcome of a GET. */
enum kvc_memcachedgpu_outcome {
    KVC_MEMCACHEDGPU_HIT,
    KVC_MEMCACHEDGPU_MISS,
    KVC_MEMCACHEDGPU_BAD, /* The packet is not a valid request and gets no response. */
};

/* A batch of packets, on its way through the server. */
struct kvc_memcachedgpu_job {
    struct kvc_batch *batch;
    double *arrived_ns;    /* By row: when the packet reached its buffer [ns]. */
    double *done_ns;       /* By response: when it reaches the client [ns]. */
    double *sent_ns;       /* By response: when its request was sent [ns]. */
    uint8_t *outcome;      /* By row: enum kvc_memcachedgpu_outcome. */
    uint16_t *head_bytes;  /* By row: length of the head of the response. */
    double arrived_sum_ns; /* Sum of arrived_ns [ns]. */
    double full_ns;        /* When the batch was complete [ns]. */
    double called_ns;      /* When the pre thread began to launch it [ns]. */
    double launched_ns;    /* When the pre thread had launched it [ns]. */
    double ended_ns;       /* When its kernel had ended and the heads were on the host [ns]. */
    double copied_bytes;   /* Size of the packets as copied to the GPU [bytes]. */
    double returned_bytes; /* Size of the heads and results [bytes]. */
    double sectors;        /* Random sectors that the kernel read and wrote. */
    uint32_t key_bytes_max;
    uint32_t stamp;                    /* Timestamp that its GETs leave in the table. */
    uint64_t second;                   /* The same by memcached's clock, which ticks every second [s]. */
    bool in_flight;                    /* Executed and not yet answered. */
    struct kvc_memcachedgpu_job *next; /* Next job in a queue or in the list of free jobs. */
    struct kvc_memcachedgpu_job *next_of_all;
};

/* First-in, first-out queue of jobs; an actor waits at the gate for the next one. */
struct kvc_memcachedgpu_queue {
    struct kvc_memcachedgpu_job *head, *tail;
    struct kvc_gate *gate;
};

/* Buffers that become free at time_ns. */
struct kvc_memcachedgpu_release {
    double time_ns;
    uint32_t buffers;
};

/* A SET or DELETE on its way. */
struct kvc_memcachedgpu_write {
    double sent_ns;
    uint64_t key_id;
    uint32_t value_bytes;
    uint8_t op, key_bytes;
};

/* Use of a shared device by packets, copies and answers. It accumulates over several batches before it
 * becomes an activity. */
struct kvc_memcachedgpu_share {
    struct kvc_slice_mover mover;
    double amount;   /* Amount not yet posted to the engine. */
    double alone_ns; /* Time over which the amount was used [ns]. */
};

/* The set that a writer's kernel locks exclusively while it runs. */
struct kvc_memcachedgpu_lock {
    uint64_t set;     /* See kvc_memcachedgpu_tables_set(). */
    double since_ns;  /* When the kernel's block was placed [ns]; NaN: no set is locked. */
    uint32_t waiting; /* Batches with a GET of that set that wait for it. */
    struct kvc_gate *released;
};

struct kvc_memcachedgpu_server;

/* An actor that a server has several of: a stream or a writer. */
struct kvc_memcachedgpu_thread {
    struct kvc_memcachedgpu_server *server;
    uint32_t number;
};

/* A post thread, which answers batches whose kernel has ended. */
struct kvc_memcachedgpu_post {
    struct kvc_memcachedgpu_server *server;
    uint32_t number;
    uint32_t batches;          /* Batches that it has and that wait for it; it polls while there are none. */
    struct kvc_gate *turn;     /* Held for the batch that it answers. */
    struct kvc_poller *poller; /* Keeps the core busy while it polls. */
};

struct kvc_memcachedgpu_server {
    struct kvc_memcachedgpu_simulation *simulation;
    struct kvc_memcachedgpu_shard *shard; /* NULL with functional = "off". */
    uint32_t number;
    struct kvc_socket device;
    struct kvc_gpu_blocks *blocks;

    /* Receiver. */
    struct kvc_batch *staged; /* Requests that clients have sent or will send. */
    uint32_t staged_next;
    double *port_free_ns; /* By receive port: when the wire from the clients becomes idle [ns]. */
    uint64_t packets;     /* Packets that have arrived. */
    double receive_free_ns;
    uint64_t buffers_free;
    struct kvc_memcachedgpu_release *release; /* Ring in the order of time. */
    uint32_t release_head, release_tail, release_room;
    struct kvc_gate *released; /* Opens when buffers are released while the receiver waits for them. */
    bool receiver_waits;
    struct kvc_memcachedgpu_share wire_in, wire_out, receiving, copying, answering;
    struct kvc_rng damage, outcome_draw;

    /* Batches. */
    struct kvc_memcachedgpu_job *free_jobs, *all_jobs;
    struct kvc_memcachedgpu_queue full;  /* Full batches that no stream has taken. */
    struct kvc_gate *wanted;             /* feed = "memory": the pre thread can take a batch. */
    struct kvc_gate *pre;                /* The pre thread, for one batch at a time. */
    struct kvc_gate *copy_in, *copy_out; /* The copy engines, one copy each at a time. */
    /* CUDA calls of several threads take turns; NULL: only one thread makes calls. */
    struct kvc_gate *driver;
    struct kvc_memcachedgpu_thread *streams, *writers;
    struct kvc_memcachedgpu_post *posts;
    uint32_t polling;  /* Post threads that poll events now. */
    double in_hand_ns; /* Sum of the times from the launches of batches to the ends of their kernels [ns]. */
    uint64_t batches;  /* Batches that streams have ended. */
    uint64_t second, second_answered; /* Latest seconds of batches that were executed and answered [s]. */
    double *tx_free_ns;               /* Indexed by port. */

    /* Writes. */
    struct kvc_memcachedgpu_write *write; /* Ring. */
    uint32_t write_head, write_tail, write_room;
    struct kvc_gate *written;      /* Opens for every write in the ring. */
    struct kvc_gate *set_threads;  /* Threads of memcached that are free. */
    struct kvc_gate *table_writer; /* One write updates the table at a time. */
    struct kvc_gate *answered;     /* Opens when a batch is answered while a writer waits for it. */
    uint32_t writers_waiting;
    struct kvc_memcachedgpu_lock lock;
    struct kvc_memcachedgpu_write latest; /* The key that was received last, which set_connections store. */
};

/* Tracks the mean response time of windows of consecutive GETs before, during and after the other task. */
struct kvc_memcachedgpu_watch {
    double started_ns, ended_ns; /* Start and end of the other task [ns]; NaN: not yet. */
    double sum_ns;
    uint32_t count;
    double before_sum_ns, before_count; /* Windows before the task started. */
    double most_ns;                     /* Largest mean of a window since then [ns]. */
    double disturbed_ns; /* End of the last window whose mean exceeds twice the earlier mean [ns]. */
};

struct kvc_memcachedgpu_simulation {
    struct kvc_replica replica;
    const struct kvc_scenario *scenario;
    const struct kvc_memcachedgpu_config *config;
    struct kvc_memcachedgpu_store *store;
    struct kvc_workload ungrouped; /* Workload of the source, with one request per packet. */
    struct kvc_socket *devices;    /* Indexed by server. */
    struct kvc_memcachedgpu_server *servers;
    double wire_ns[KVC_MEMCACHEDGPU_WIRE_BYTES]; /* Time of a packet on a port, by its size [ns]. */
    double path_ns;  /* One way between client and memory, without the time on the wire [ns]. */
    double hit_frac; /* Hit ratio of the closed form, for functional = "off". */

    /* Scratch of execute.c. */
    /* Head of a request, which is everything before the key, by the key's length. */
    uint8_t head[KVC_MEMCACHEDGPU_PACKET_KEY_MAX + 1][KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET];
    uint32_t packet_stride;
    uint8_t *packets, *responses, *values, *read_result;
    struct kvc_memcachedgpu_get_packet *packet;
    struct kvc_memcachedgpu_get_result *results;
    uint8_t *read_key_bytes;
    uint32_t *location;
    uint32_t values_position;

    struct kvc_memcachedgpu_watch watch;

    /* Counts within the measured time. */
    uint64_t completed, hits, misses, sets, deletes;
    uint64_t bad[KVC_MEMCACHEDGPU_PACKET_STATUS_COUNT]; /* Counts of the whole run. */
    uint64_t batches, lock_waits;
    double set_latency_sum_ns;

    /* Sums over the GETs of whole batches within the measured time, for the stages' means. */
    double batching_sum_ns, launch_sum_ns, gpu_sum_ns, answer_sum_ns;
    uint64_t batched;
    double kernel_sum_ns, kernels, kernel_packets; /* Times of kernels from launch to end. */

    struct kvc_index_stats first_index, last_index;
};

enum { KVC_MEMCACHEDGPU_WATCH_GETS = 256 /* memcachedgpu.bgt.window. */ };

/* memcachedgpu.c: uses `amount` of a device, for which the server alone would need alone_ns. */
void kvc_memcachedgpu_take(struct kvc_memcachedgpu_share *share, double amount, double alone_ns);

/* receiver.c */
void kvc_memcachedgpu_receiver_main(void *server);
/* Returns whether the clients fill a batch when the server can take one. */
bool kvc_memcachedgpu_is_paced(const struct kvc_memcachedgpu_server *server);
/* Frees buffers at time_ns, which is not in the past. */
void kvc_memcachedgpu_release(struct kvc_memcachedgpu_server *server, double time_ns, uint32_t buffers);

/* stream.c */
/* Makes CUDA calls; waits for its turn if other threads also call the driver. */
void kvc_memcachedgpu_call_driver(struct kvc_memcachedgpu_server *server, double cpu_ns);
void kvc_memcachedgpu_stream_main(void *thread);
void kvc_memcachedgpu_background_main(void *server);
void kvc_memcachedgpu_watch_add(struct kvc_memcachedgpu_watch *watch, const double *sent_ns,
                                const double *done_ns, uint32_t count);

/* writes.c */
void kvc_memcachedgpu_writer_main(void *thread);
void kvc_memcachedgpu_connection_main(void *thread);
void kvc_memcachedgpu_add_write(struct kvc_memcachedgpu_server *server,
                                const struct kvc_memcachedgpu_write *write);

/* Runs the kernel of a write, which locks the set of its key. */
void kvc_memcachedgpu_run_locked(struct kvc_memcachedgpu_server *server,
                                 const struct kvc_memcachedgpu_write *write, struct kvc_gpu_grid grid);

/* Waits while a write locks the set of one of the batch's keys. */
void kvc_memcachedgpu_wait_for_lock(struct kvc_memcachedgpu_server *server, const struct kvc_batch *batch);

/* execute.c: runs the packets of a batch through the real code. */
void kvc_memcachedgpu_execute(struct kvc_memcachedgpu_server *server, struct kvc_memcachedgpu_job *job);

/* Writes the heads of requests with keys of all lengths. */
void kvc_memcachedgpu_write_heads(struct kvc_memcachedgpu_simulation *simulation);

/* answer.c: waits for the post thread, and answers a batch whose kernel has ended. */
void kvc_memcachedgpu_answer(struct kvc_memcachedgpu_post *post, struct kvc_memcachedgpu_job *job);

/* ---- queues ---- */

static inline void kvc_memcachedgpu_push(struct kvc_memcachedgpu_queue *queue,
                                         struct kvc_memcachedgpu_job *job)
{
    job->next = NULL;
    if (queue->head == NULL) {
        queue->head = job;
    } else {
        queue->tail->next = job;
    }
    queue->tail = job;
    kvc_gate_post(queue->gate);
}

static inline struct kvc_memcachedgpu_job *kvc_memcachedgpu_pop(struct kvc_memcachedgpu_queue *queue)
{
    struct kvc_memcachedgpu_job *job = queue->head;
    queue->head = job->next;
    return job;
}

#endif

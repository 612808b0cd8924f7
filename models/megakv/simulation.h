/* The state of a simulated Mega-KV, shared by the files of this folder that simulate it.
 *
 * A request passes through these files: kvc_megakv_receive (receiver.c) puts it into a pipeline's buffer.
 * Every cycle, the scheduler (scheduler.c) swaps the buffers of all pipelines and launches a search of each
 * in its stream (stream.c), which copies it to the GPU and back. The sender (sender.c) reads the items and
 * answers.
 *
 * Schedulers, the streams of a socket and senders are actors of the engine. What others share with them
 * becomes activities, so SimGrid shares cores, memory and links. Receivers handle requests one by one and are
 * too fast for activities: at each swap, the scheduler computes what they have received since the previous
 * one. Their work of that cycle then becomes one activity per pipeline for the cores. The streams share their
 * GPU with nobody, so their times are exact arithmetic (sim/devices/gpu_streams.h). What receivers, copies,
 * kernels and senders take from memory, GPU and links is posted once a cycle (share.c). How much longer than
 * alone such an activity took is the slowdown of those who posted it in the next cycle. */
#ifndef KVC_MODELS_MEGAKV_SIMULATION_H
#define KVC_MODELS_MEGAKV_SIMULATION_H

#include <stdbool.h>
#include <stdint.h>

#include "models/shards/store.h"
#include "models/megakv/closed_form.h"
#include "models/megakv/config.h"
#include "models/megakv/costs.h"
#include "models/megakv/resources.h"
#include "sim/base/events.h"
#include "sim/devices/database.h"
#include "sim/devices/gpu_streams.h"
#include "sim/devices/nic.h"
#include "sim/devices/socket.h"
#include "sim/engine.h"
#include "sim/power_policy.h"
#include "sim/run/cache_aside.h"
#include "sim/run/replica.h"
#include "sim/run/stalls.h"
#include "sim/workload/batch.h"

/* The database of a socket (node.database), and the requests that wait for it (sim/run/cache_aside.h).
 *
 * A SET of a frame stays with its client: it begins as an update when the frame leaves, and a DELETE follows.
 * A GET that misses continues with a query when its response arrives, and a SET follows. The client sends
 * this next message at once, in a frame of its own over the same connection, to the same pipeline. Such a
 * frame costs the receiver as much as one request of a usual frame.
 *
 * The database handles its events with the receivers, once a cycle, at their own times. */

struct kvc_megakv_buffer;
struct kvc_megakv_simulation;

/* Meaning of a row of a buffer: the number of the request that it continues, or one of these. The last three
 * are known once the row is answered. */
enum {
    KVC_MEGAKV_ASIDE_NONE = UINT32_MAX - 3, /* A GET or DELETE of the application. */
    KVC_MEGAKV_ASIDE_GOES_ON,               /* The row's request has not ended. */
    KVC_MEGAKV_ASIDE_FILLED,                /* The row's request was a GET that missed, and ends. */
    KVC_MEGAKV_ASIDE_UPDATED,               /* The row's request was a SET, and ends. */
};

struct kvc_megakv_aside_request;

struct kvc_megakv_aside {
    struct kvc_events events;
    struct kvc_database_engine database;
    struct kvc_invalidations invalidations;
    const struct kvc_source *source;
    struct kvc_batch *batch; /* Room for one key. */
    struct kvc_megakv_aside_request *request;
    uint8_t *keys; /* Keys of all requests, batch->key_stride bytes each. */
    uint32_t *free_request;
    uint32_t requests, free_count;
    double posted_ns; /* Busy time of the database that is already posted. */
};

/* Opens the database of a socket. The database and `source` must outlive it. Exits with status 3 if memory is
 * short. */
void kvc_megakv_aside_open(struct kvc_megakv_aside *aside, const struct kvc_database *database,
                           const struct kvc_source *source, uint32_t key_stride, uint64_t seed,
                           uint32_t number);
void kvc_megakv_aside_close(struct kvc_megakv_aside *aside);

/* Takes the SETs out of the frame that begins at row `first` of a buffer, and lets them begin as updates when
 * the frame leaves. Marks the other rows. */
void kvc_megakv_aside_take_updates(struct kvc_megakv_aside *aside, struct kvc_megakv_buffer *buffer,
                                   uint32_t first, uint32_t pipeline);

/* Handles the next event. Returns the number of a request whose next message its client sends at that time,
 * or KVC_MEGAKV_ASIDE_NONE. */
uint32_t kvc_megakv_aside_handle(struct kvc_megakv_aside *aside, double *time_ns);

/* Returns the pipeline of a request. */
uint32_t kvc_megakv_aside_pipeline(const struct kvc_megakv_aside *aside, uint32_t number);

/* Appends the next message of a request to a buffer, as a frame that leaves at time_ns. */
void kvc_megakv_aside_put(const struct kvc_megakv_aside *aside, uint32_t number, double time_ns,
                          struct kvc_megakv_buffer *buffer);

/* Forgets a request that has ended or whose message is lost. */
void kvc_megakv_aside_forget(struct kvc_megakv_aside *aside, uint32_t number);

/* Takes the responses of a buffer: row i found outcome[i] (enum kvc_megakv_outcome), and its response arrives
 * at done_ns[i]. Continues requests, and marks in buffer->aside the rows that end theirs. */
void kvc_megakv_aside_answer(struct kvc_megakv_aside *aside, struct kvc_megakv_buffer *buffer,
                             const uint8_t *outcome, const double *done_ns, uint32_t pipeline);

/* Mega-KV's energy manager, which lowers the clocks of CPU and GPU to the pace of the slower of the two.
 *
 * Source: Zhang et al., VLDB J. 26(5), 2017, sec. 6. Symbols: T_C is the throughput of the CPU, measured
 * while the store runs; T_G is the throughput of the GPU, by eq. (4) at the cycle and a clock pair's fit;
 * both of one socket.
 *
 * - If the CPU is faster, it is slowed by a step while T_C - T_G > mu * T_G (eq. (3)), and measured anew
 *   after each step. The paper prints "until": the condition holds at the start, so it can only mean "while".
 * - If the GPU is faster, it gets the pair with min { T | T > T_C }, of all pairs that it has.
 * - If T_C has changed by more than a share since the manager tuned the clocks, both get their highest clocks
 *   and the manager tunes them again.
 *
 * Assumed, because the paper does not say: how long the CPU is measured after a change of clocks
 * (power.settle), and that sockets are managed on their own, since each has a scheduler, a CPU and a GPU. */

/* Returns whether the CPU leads the GPU by enough to be slowed: eq. (3). */
bool kvc_megakv_cpu_leads(double cpu_mops, double gpu_mops, double mu);

/* Returns the pair with the smallest throughput above cpu_mops; pair 0, the fastest, if none has one.
 * gpu_mops[i] is the throughput at pair i. */
uint32_t kvc_megakv_slowest_pair(const double *gpu_mops, uint32_t pairs, double cpu_mops);

/* State of a socket's manager. */
enum kvc_megakv_managing {
    KVC_MEGAKV_MEASURING, /* Both have their highest clocks, and T_C is being measured. */
    KVC_MEGAKV_SLOWING,   /* The CPU was slowed by a step, and T_C is being measured. */
    KVC_MEGAKV_TUNED,     /* The clocks fit the T_C that was measured last. */
};

/* The manager of a socket. A zeroed one begins to measure. */
struct kvc_megakv_manager {
    enum kvc_megakv_managing state;
    double tuned_mops; /* T_C when the clocks were tuned [million/s]. */
    uint32_t tunings;  /* Number of times that the clocks were tuned. */
};

/* Looks at a socket, chooses its states and returns the time until the next look [ns]. The throughputs of the
 * GPU follow from the costs of the store. */
double kvc_megakv_manage(struct kvc_megakv_manager *manager, const struct kvc_power_policy *power,
                         const struct kvc_megakv_costs *costs, const struct kvc_megakv_load *load,
                         const struct kvc_power_view *view, struct kvc_power_choice *choice);

enum {
    KVC_MEGAKV_BUFFERS_MAX = 16,
    KVC_MEGAKV_RESPONSE_BYTES = 4 << 20,
};

/* A batch buffer of a pipeline. */
struct kvc_megakv_buffer {
    struct kvc_batch *batch;
    double *received_ns;     /* By row: when the receiver finished it [ns]. */
    uint32_t *location;      /* By row: result of the search; KVC_LOCATION_NONE for rows without one. */
    bool *sampled;           /* By row: whether it runs through the real data structures. */
    double *done_ns;         /* By row: when the response reaches the client if nothing else is busy [ns]. */
    uint8_t *outcome;        /* By row: enum kvc_megakv_outcome. */
    uint32_t *aside;         /* With a database, by row: KVC_MEGAKV_ASIDE_NONE and so on, or a request. */
    uint32_t *connection;    /* With a database, by row: connection of the client. */
    double received_sum_ns;  /* Sum of received_ns over all rows [ns]. */
    double launched_ns;      /* When the scheduler launched its search [ns]. */
    double searched_ns;      /* When the search ended [ns]. */
    uint32_t gets;           /* GET rows. */
    uint32_t *launched_gets; /* threads = "shared": GET rows of each pipeline in the same launch. */
};

/* Index jobs that wait for the next insert launch. */
struct kvc_megakv_writes {
    uint32_t inserts, erases;         /* Jobs that run on the real index. */
    uint32_t insert_room, erase_room; /* Jobs that the arrays have room for. */
    uint64_t *insert_hash, *erase_hash;
    uint32_t *insert_location, *erase_location;
    double jobs;       /* Jobs as the GPU sees them: every insert and erase, sampled or not. */
    double erase_jobs; /* Erases among them. */
    double drained;    /* Number of these jobs that earlier searches have drained. */
};

struct kvc_megakv_socket;

/* A launch of all streams of a socket. The stream that ends last frees it. */
struct kvc_megakv_launch {
    struct kvc_megakv_launch_work work;
    bool begun;                      /* Whether a stream has begun with it. */
    double started_ns;               /* When the first stream began with it [ns]. */
    uint32_t running;                /* Streams that have not ended. */
    bool copied_in;                  /* Whether the load of the copies to the card is posted. */
    bool copied_out;                 /* Whether the load of the copies back is posted. */
    struct kvc_megakv_writes writes; /* Insert: the jobs. */
};

/* A stream's part of a launch. */
struct kvc_megakv_job {
    struct kvc_megakv_launch *launch;
    struct kvc_megakv_buffer *buffer; /* Search: the pipeline's buffer. */
    double jobs;                      /* Jobs of the launch. */
};

enum { KVC_MEGAKV_STREAM_JOBS = 64 };

/* A CUDA stream, which runs its jobs in order. */
struct kvc_megakv_stream {
    struct kvc_megakv_socket *socket;
    struct kvc_megakv_pipeline *pipeline;               /* NULL: the stream of the inserts. */
    uint32_t number;                                    /* Number among the streams of the GPU. */
    struct kvc_megakv_job jobs[KVC_MEGAKV_STREAM_JOBS]; /* Ring. */
    uint32_t head, tail;
    bool busy;        /* Whether the job at the head has begun. */
    double began_ns;  /* When it began [ns]. */
    double out_bytes; /* Bytes that all streams of its launch copy back. */
};

/* Use of a device, and of the links between two hosts, by several threads or streams of a socket. An actor
 * turns it into one activity each a cycle. */
struct kvc_megakv_share {
    uint32_t host;
    uint32_t from, to; /* Hosts between which bytes cross, if any do. */
    double amount_ns;  /* Work that waits for the activity [ns]. */
    double bytes;      /* Bytes that wait for the activity. */
    double span_ns;    /* Time over which the work was done [ns]. */
    double stretch;    /* Slowdown of the latest activity relative to running alone. */
    bool running;
    struct kvc_gate *gate;
};

/* A hardware thread. With threads = "shared", several tasks of a socket take turns on one. */
struct kvc_megakv_core {
    double free_ns;     /* When it has finished all work it was given [ns]. */
    double searched_ns; /* Senders: end of the search whose batches it answers [ns]. */
    double began_ns;    /* Senders: when it began to answer these batches [ns]. */
    struct kvc_stalls stalls;
};

/* A receiver, its buffers and a sender. */
struct kvc_megakv_pipeline {
    struct kvc_megakv_socket *socket;
    uint32_t number;

    struct kvc_megakv_buffer buffers[KVC_MEGAKV_BUFFERS_MAX];
    struct kvc_megakv_buffer *filling; /* The buffer that the receiver fills. */
    struct kvc_megakv_buffer *free_stack[KVC_MEGAKV_BUFFERS_MAX];
    uint32_t free_count;
    struct kvc_gate *free_gate;
    struct kvc_megakv_buffer *ready[KVC_MEGAKV_BUFFERS_MAX]; /* Ring of searched buffers for the sender. */
    uint32_t ready_head, ready_tail;
    struct kvc_gate *ready_gate;

    /* Receiver. */
    struct kvc_megakv_core own_receive_core, *receive_core;
    double *started_ns;       /* Ring: when the last nic.ring_frames frames left the receive ring [ns]. */
    uint64_t frames;          /* Frames that reached the receive ring. */
    double worked_ns;         /* Work on the cores since the last swap [ns]. */
    double posted_ns;         /* Work that waits for the next activity [ns]. */
    double core_stretch;      /* Slowdown of the latest activity relative to running alone. */
    struct kvc_work received; /* The latest activity. */
    /* If all sizes are fixed, the following are valid until the next swap. */
    double receive_ns[KVC_OP_COUNT];    /* Time of the receiver for a request [ns]. */
    double request_bytes[KVC_OP_COUNT]; /* Size of a request in a frame [bytes]. */

    /* Stream. */
    struct kvc_megakv_stream stream;

    /* Sender. */
    /* Slowdown of its latest batch by other users of its devices. */
    double stretch;
    struct kvc_shards_lookup_mix lookup_mix; /* Outcomes of the latest batch's GETs. */
    struct kvc_megakv_core own_send_core, *send_core;
    double slowness; /* Time for a request relative to the mean sender's. */
};

struct kvc_megakv_socket {
    struct kvc_megakv_simulation *simulation;
    struct kvc_shard *shard; /* NULL with functional = "off". */
    uint32_t number;
    char name[KVC_PLATFORM_NAME_MAX];
    struct kvc_megakv_pipeline *pipelines;
    struct kvc_megakv_buffer **launched;    /* By pipeline: the buffer of the latest launch. */
    struct kvc_socket device;               /* Devices of the socket in the platform. */
    struct kvc_megakv_writes writes;        /* Jobs for the next insert launch. */
    struct kvc_megakv_stream insert_stream; /* insert_stream = "own". */
    struct kvc_gpu_streams *gpu;            /* Streams of the pipelines, then that of the inserts. */
    uint64_t handed_rows, sent_rows; /* Rows of all buffers that the senders have got, and given back. */
    struct kvc_gate *sent_gate;      /* threads = "shared": tells that a sender has given one back. */
    struct kvc_gate *launch_gate;    /* Wakes the actor of the streams at a launch. */
    struct kvc_gate *ended_gate; /* Wakes the scheduler when all pipelines' streams have ended a launch. */
    struct kvc_megakv_share copies_in, copies_out; /* Bytes to the GPU and back. */
    struct kvc_megakv_share kernels;               /* Work of kernels. */
    double kernels_posted_ns;                      /* When the kernels' work was last posted [ns]. */
    struct kvc_gate *receive_gate; /* Wakes the actor that draws on the cores for the receivers. */
    bool receiving;                /* That actor is working and needs no wake-up. */
    double receive_span_ns;        /* Time in which the posted work of all receivers was done [ns]. */
    double receive_compute_ns;     /* Compute of a request, until the next swap [ns]. */
    struct kvc_dram_load receive_load[KVC_OP_COUNT]; /* Load of a request, if all sizes are fixed. */
    struct kvc_megakv_share memory;                  /* Memory, and frames from the clients. */
    struct kvc_megakv_share answers;                 /* Frames to the clients. */
    /* Load of receivers and copies on the memory since the last swap, and its channels before that swap. */
    struct kvc_dram_load received_load;
    double received_channels;
    double received_bytes; /* Bytes on the wire since the last swap. */
    /* Bytes of responses, and time of memory channels for them [ns], since the last swap, which cannot delay
     * their batches. */
    double answered_bytes, answered_channel_ns;
    uint64_t sent_here;                   /* Requests of the whole run, dropped ones included. */
    uint64_t served_here;                 /* Requests of these that were answered. */
    double receive_busy_ns, send_busy_ns; /* Busy times of all receivers and senders [ns]. */
    struct kvc_megakv_manager manager;    /* Chooses the socket's clocks if the scenario has a manager. */
    struct kvc_megakv_aside *aside;       /* The socket's database; NULL: none. */
    struct kvc_megakv_share queried;      /* Use of the database by requests. */
    double *port_free_ns;                 /* By port: when the wire from the clients becomes idle [ns]. */
    double swapped_ns;                    /* When the buffers were last swapped [ns]. */
    struct kvc_megakv_core first_core;    /* The scheduler; threads = "shared": the receivers, too. */
    struct kvc_megakv_core *send_cores;   /* threads = "shared": the other cores. */
    struct kvc_rss *rss;                  /* Queues of the connections. */
    struct kvc_rng spread;                /* feed = "memory": draws the queue of a frame. */
    struct kvc_rng thinning, outcome;
    double outcomes_known; /* Recent sampled GETs; their hit ratio decides about GETs not sampled. */
    double outcomes_hit;   /* Number of these that hit. */
    /* Recent sampled SETs; their share of evictions determines the cost of the next ones. */
    double sets_known;
    double sets_evicting; /* Number of these that evicted an item. */
    double items_passed;  /* Items that the CLOCK hand passed for these SETs, victims included. */
    double batch_rows;    /* Mean requests of the latest batches. */
};

/* Launches of one kernel that ended within the measured time. */
struct kvc_megakv_launches {
    uint64_t count;
    double jobs; /* Sum of their jobs. */
    double ns;   /* Sum of their durations [ns]. */
};

/* Sums over all shards since preloading (kernels/megakv/cuckoo.h, kernels/megakv/slab.h). */
struct kvc_megakv_counters {
    uint64_t searches, search_lines, inserts, insert_lines, displacements, dropped, replaced;
    uint64_t evicted, reads, read_lines, marked;
    uint64_t rejected; /* SETs that found no memory. */
    uint64_t items;    /* Items in the slabs now, in use or replaced. */
};

struct kvc_megakv_simulation {
    struct kvc_replica replica;
    const struct kvc_scenario *scenario;
    const struct kvc_megakv_config *config;
    struct kvc_megakv_behind behind; /* Mean requests to the store. */
    struct kvc_megakv_costs costs;
    struct kvc_shards *store;
    const struct kvc_platform *platform;
    struct kvc_socket *devices; /* Indexed by socket. */
    struct kvc_megakv_socket *sockets;
    uint32_t socket_count;
    uint32_t streams; /* Pipelines of a socket. */
    bool shared;      /* threads = "shared". */
    bool on_thread;   /* index_on = "thread". */
    double path_ns;   /* One way between client and memory, without the time on the wire [ns]. */
    bool fixed_sizes; /* Whether all keys and values have the same size. */

    uint32_t *rows; /* Scratch of receiver.c and scheduler.c, up to response. */
    uint64_t *hashes;
    uint32_t *locations;
    struct kvc_megakv_slab_evicted *evicted;
    uint8_t *response; /* Buffer that senders copy values to. */
    uint32_t response_position;
    uint8_t *read_result;        /* Scratch of sender.c, by row: results of reading, then outcomes. */
    double *done_ns;             /* Scratch of sender.c, by row: when the response reaches the client [ns]. */
    double *column_a, *column_b; /* Scratch of sender.c, by row. */

    /* The real structures' counters when the measured time began and when it ended. */
    struct kvc_megakv_counters first_counters, last_counters;

    /* Length of the stalls that the threads had met when the measured time began, and when it ended [ns]. */
    double first_stalled_ns, last_stalled_ns;

    /* Queries and updates of the databases when the measured time began and when it ended. */
    uint64_t first_queries, first_updates, last_queries, last_updates;

    /* Counts within the measured time. */
    uint64_t launches, late_launches; /* Swaps, and those that came late. */
    double late_ns, late_ns_max;      /* Sum and maximum of their delays [ns]. */
    double first_launch_ns, last_launch_ns;
    struct kvc_megakv_launches searched, inserted;
    uint64_t completed, hits, misses, writes, sets;

    /* Sums over the requests of whole frames and batches within the measured time, for the stages' means. */
    /* Sum of the times from the arrival of the frame to the end of receiving [ns]. */
    double receive_sum_ns;
    double batch_sum_ns; /* Sum of the times from the end of receiving to the launch [ns]. */
    double gpu_sum_ns;   /* Sum of the times from the launch to the end of the search [ns]. */
    /* Sum of the times from the end of the search to the arrival of the response [ns]. */
    double send_sum_ns;
    double write_latency_sum_ns; /* Latencies of SETs and DELETEs in a workload that also has GETs [ns]. */
    uint64_t received;           /* Requests in receive_sum_ns. */
    uint64_t batched;            /* Requests in batch_sum_ns, gpu_sum_ns and send_sum_ns. */
    uint64_t written;            /* Requests in write_latency_sum_ns. */
};

/* Sets the costs to the current clock of the socket's cores and to its current batches. Sockets share the
 * costs. */
static inline void kvc_megakv_use_cores(const struct kvc_megakv_socket *socket)
{
    struct kvc_megakv_simulation *simulation = socket->simulation;
    kvc_megakv_costs_use_batches(&simulation->costs, socket->batch_rows);
    simulation->costs.core_speed =
        kvc_cpu_pstate_speed(simulation->config->cpu, kvc_engine_pstate((uint32_t)socket->device.cpu));
}

/* Returns a core that threads of the socket run on, or NULL if there are fewer. Core 0 is the scheduler's,
 * and those of the senders follow. */
struct kvc_megakv_core *kvc_megakv_core_of(struct kvc_megakv_socket *socket, uint32_t number);

/* Receives everything that reached the pipelines of `socket` by until_ns. Called at that time. */
void kvc_megakv_receive(struct kvc_megakv_socket *socket, double until_ns);

/* Moves the rows that the receiver finished after until_ns into `next`. */
void kvc_megakv_split(struct kvc_megakv_pipeline *pipeline, struct kvc_megakv_buffer *next, double until_ns);

/* Hands work that was done within span_ns, and bytes, to the actor of the share. */
void kvc_megakv_share_post(struct kvc_megakv_share *share, double amount_ns, double bytes, double span_ns);

/* Adds a stream's part of a launch to the stream's queue. */
void kvc_megakv_stream_add(struct kvc_megakv_stream *stream, struct kvc_megakv_job job);

/* Looks up the sampled GETs of a buffer. */
void kvc_megakv_search(struct kvc_megakv_socket *socket, struct kvc_megakv_buffer *buffer);

/* Runs index jobs, and returns the items of keys that a client deleted to the slabs. */
void kvc_megakv_insert(struct kvc_megakv_socket *socket, const struct kvc_megakv_writes *writes);

/* Counts a launch that began at start_ns and ends now. */
void kvc_megakv_count_kernel(struct kvc_megakv_simulation *simulation,
                             const struct kvc_megakv_launch_work *work, double start_ns);

/* Hands a searched buffer to the pipeline's sender. */
void kvc_megakv_hand_over(struct kvc_megakv_pipeline *pipeline, struct kvc_megakv_buffer *buffer);

/* Returns the hit ratio of the real searches since `before`, or the closed form's if there were none. */
double kvc_megakv_hit_frac_since(const struct kvc_megakv_socket *socket,
                                 const struct kvc_index_stats *before);

/* Takes the counters of the simulation `data` (sim/run/replica.h). */
void kvc_megakv_count(void *data, bool begins);

/* Sets the shares of the real inserts since `before` whose key the index had, and of the real deletes whose
 * item it had. If there were none, the closed form's expectation is used. */
void kvc_megakv_note_changes_since(const struct kvc_megakv_socket *socket,
                                   const struct kvc_index_stats *before, struct kvc_megakv_launch_work *work);

/* Opens the power policy of the replica for the sockets of the simulation. */
void kvc_megakv_open_policy(struct kvc_megakv_simulation *simulation);

/* Adds the values and notes of the simulation `data` to its result (models/simulate.h). */
void kvc_megakv_report(void *data, struct kvc_result *result);

/* Counts a swap and its launch at now_ns, late_ns after they were due. */
void kvc_megakv_count_launch(struct kvc_megakv_simulation *simulation, double now_ns, double late_ns);

/* Adds an index job. */
void kvc_megakv_writes_insert(struct kvc_megakv_writes *writes, uint64_t hash, uint32_t location);
void kvc_megakv_writes_erase(struct kvc_megakv_writes *writes, uint64_t hash, uint32_t location);

/* Frees the arrays, not the struct. */
void kvc_megakv_writes_free(struct kvc_megakv_writes *writes);

/* Bodies of the actors. Their argument is the socket, pipeline or share. */
void kvc_megakv_scheduler_main(void *socket);
void kvc_megakv_poll_main(void *socket);
void kvc_megakv_streams_main(void *socket);
void kvc_megakv_sender_main(void *pipeline);
void kvc_megakv_receivers_main(void *socket);
void kvc_megakv_share_main(void *share);

#endif

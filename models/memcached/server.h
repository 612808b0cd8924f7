/* Simulates one server: its wire, receive rings that overflow, and threads.
 *
 * A thread does one job at a time. It receives up to a burst of packets from its ring of the NIC. It serves
 * them at once or hands them on, to a queue that all threads serve (the socket of Linux) or to the thread
 * that owns the connection or the key. A polling thread that finds both kinds of work alternates between
 * them. A core of Linux receives first, because packets interrupt threads; with too much load, it therefore
 * serves less than it could.
 *
 * The thread that serves a request runs it on the real table. The lines that the table touches cause memory
 * stalls. If the operation holds the lock of the whole cache, other threads wait meanwhile.
 *
 * An instance of Fatcache, which is a thread here, does nothing else while it waits for its SSD. All
 * instances share the SSD.
 *
 * A database may back the cache (node.database): a GET that misses continues with a query and a SET of its
 * result, and a SET becomes an update followed by DELETEs (sim/run/cache_aside.h).
 *
 * Like a NIC of KV-Direct, the server handles its own events up to the engine's time. Its clock stands still
 * while it is stopped.
 *
 * Saturating and closed-loop clients wait for a place in a queue instead of losing requests.
 *
 * With measured costs of a node (cost_profile.h), clients are one thread on a core of their own. A thread of
 * the server looks for what is ready, serves it, and looks again; it sleeps if it finds nothing. Threads that
 * share a core wait until the one that runs falls asleep or has had its slice. Over UDP, each request wakes
 * all threads that sleep, because they share a socket.
 *
 * Not modelled: requests of several packets, which take one place in a ring; interrupts within a request;
 * interrupts that wait (coalescing), ksoftirqd; over UDP, sleeping threads and their wake-up; over TCP,
 * separate acknowledgements; the work of a thread that wakes a client. Without measured costs, clients on
 * the node itself do not wait for a core, and which of their threads share one is not modelled either
 * (system.core_share says what a thread has left);
 * lines of the kernel's sockets that move between cores; instances of Fatcache that share a core. */
#ifndef KVC_MODELS_MEMCACHED_SERVER_H
#define KVC_MODELS_MEMCACHED_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "models/memcached/store.h"
#include "sim/base/events.h"
#include "sim/devices/database.h"
#include "sim/devices/flash/flash_engine.h"
#include "sim/devices/nic.h"
#include "sim/run/answers.h"
#include "sim/run/cache_aside.h"
#include "sim/workload/source/source.h"

/* A queue of requests with a limited room, such as a ring of the NIC or a socket. */
struct kvc_memcached_queue {
    uint32_t *request;
    uint32_t first, count, room;
};

struct kvc_memcached_thread {
    struct kvc_memcached_queue ring, handed; /* Packets of the NIC; requests that other threads received. */
    uint32_t job[KVC_MEMCACHED_BURST_MAX];
    uint32_t jobs;                      /* Requests of the current job; 0: idle. */
    bool receives;                      /* The current or latest job receives packets to hand them on. */
    uint32_t ready;                     /* Jobs that its latest look has found, with measured costs. */
    bool awake;                         /* It runs, or waits for its core. */
    struct kvc_memcached_blocks blocks; /* SSD operations that the current job has yet to submit. */
    uint32_t pages;                     /* Pages of the SSD that the thread waits for. */
    /* When the thread began to wait, and how long the current job has waited so far. */
    double asked_ns, waited_ns;
    double started_ns, busy_ns, work_ns; /* work_ns is busy_ns without waits for the SSD. */
    double waking_ns, receiving_ns;      /* Parts of busy_ns: until it ran, and receiving packets. */
};

struct kvc_memcached_request;

/* The clients' thread on the node, with measured costs. A step of it looks for responses, receives up to
 * KVC_MEMCACHED_AT_ONCE of them, and then sends as many requests. */
struct kvc_memcached_clients {
    struct kvc_memcached_queue due, answered; /* Requests to send, and responses to receive. */
    uint32_t job[KVC_MEMCACHED_BURST_MAX];    /* What it sends or receives: a request, or a multiget. */
    uint32_t jobs, left;                      /* Jobs that are left in this half of the step. */
    uint64_t in_flight, most;                 /* Requests or multigets in flight. */
    bool works, sends;                        /* A step is in progress; it is in its second half. */
    double now_ns;                            /* End of its latest work. */
};

/* A core of the server's threads, with measured costs. */
struct kvc_memcached_core {
    int32_t running;                  /* Thread that has it; -1: it is idle. */
    double since_ns;                  /* When that thread got it. */
    struct kvc_memcached_queue ready; /* Threads that wait for it. */
};

struct kvc_memcached_server {
    const struct kvc_scenario *scenario;
    const struct kvc_memcached_config *config;
    struct kvc_memcached_shard *shard;
    struct kvc_source *source;
    uint32_t number; /* Number of its shard. */
    bool goes_on;    /* The server tells the source what it has answered; see kvc_memcached_goes_on(). */
    struct kvc_rss *rss;
    struct kvc_batch *batch; /* Holds one request. */
    struct kvc_events events;
    struct kvc_database_engine database;
    struct kvc_invalidations invalidations; /* Invalidations of its updates. */
    struct kvc_flash_engine flash;          /* Fatcache: the SSD that its instances share. */
    struct kvc_memcached_request *request;
    uint8_t *keys; /* Keys of all requests. */
    uint32_t *free_request;
    uint32_t requests, free_count;
    struct kvc_memcached_thread *thread;
    struct kvc_memcached_queue socket; /* Requests that any thread serves. */
    struct kvc_memcached_clients clients;
    struct kvc_memcached_core *core; /* NULL: each thread has one. */
    double receive_free_ns, send_free_ns, lock_free_ns, memory_free_ns;
    /* Busy times since the server was opened. */
    double receive_busy_ns, send_busy_ns, lock_busy_ns, memory_busy_ns;
    struct kvc_answers answers;
    double *dropped_ns; /* Send times of the requests dropped since the owner last emptied the list. */
    uint32_t dropped, dropped_room;
    uint64_t served, ring_drops, handed_drops; /* Counts since the server was opened. */
    double advanced_ns, stopped_ns, resumed_ns;
};

/* Opens the server. `scenario`, `shard` and `source` must outlive it. Exits with status 3 if memory is short.
 */
void kvc_memcached_server_open(struct kvc_memcached_server *server, const struct kvc_scenario *scenario,
                               struct kvc_memcached_shard *shard, struct kvc_source *source, uint32_t number,
                               uint64_t seed);
void kvc_memcached_server_close(struct kvc_memcached_server *server);

/* Return the busy time of the busiest thread, including waits for an SSD, and the work of all threads
 * together, excluding such waits [ns]. */
double kvc_memcached_server_thread_busy_ns(const struct kvc_memcached_server *server);
double kvc_memcached_server_threads_work_ns(const struct kvc_memcached_server *server);

/* Returns the busy time of the threads' stage, without the time until a sleeping thread runs [ns]: the mean
 * of threads that share the requests, but at least the time that the fullest ring takes of its thread, and
 * the busiest of threads that have requests of their own. */
double kvc_memcached_server_threads_busy_ns(const struct kvc_memcached_server *server);

/* Simulates up to time_ns. */
void kvc_memcached_server_advance(struct kvc_memcached_server *server, double time_ns);

/* Stops the server for stop_ns from the end of the latest advance. Its work pauses, and requests wait on the
 * wire. */
void kvc_memcached_server_stop(struct kvc_memcached_server *server, double stop_ns);

#endif

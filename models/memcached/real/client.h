/* The clients of a measured memcached: one thread that never sleeps, with one socket for UDP or a connection
 * for each client over TCP.
 *
 * Requests are memcached's text commands. Over UDP they have its header of 8 bytes, by whose number responses
 * find their requests; over TCP a connection has one request at a time. Latency counts from the intended send
 * time, so that a request that had to wait for a connection, or for the client's thread, counts as a request
 * of an open loop should. The client checks every byte of every value. */
#ifndef KVC_MODELS_MEMCACHED_REAL_CLIENT_H
#define KVC_MODELS_MEMCACHED_REAL_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "models/memcached/real/server.h"
#include "sim/metrics/histogram.h"
#include "sim/workload/batch.h"

enum { KVC_MEMCACHED_REAL_REQUESTS_MAX = 4096, KVC_MEMCACHED_REAL_MULTIGET_MAX = 100 };

/* The requests of a client. */
struct kvc_memcached_real_load {
    bool tcp;
    uint32_t requests;        /* Most requests in flight; over TCP, the connections. */
    uint32_t keys;            /* Most keys of a request. */
    uint32_t key_bytes_max;   /* Longest key [bytes]. */
    uint32_t value_bytes_max; /* Longest value [bytes]. */
    /* Appends the next request that is due: one request, or the GETs of one multiget. Returns how many;
     * now_ns is the time since the start. */
    uint32_t (*next)(void *data, double now_ns, struct kvc_batch *batch);
    /* Tells that a request of `client` was answered; may be NULL. */
    void (*answered)(void *data, uint32_t client, double now_ns);
    void *data;
};

struct kvc_memcached_real_counts {
    double busy_ns; /* Time in which the client sent or received [ns]. */
    uint64_t hits, misses, sets, deletes, lost;
    uint64_t multigets;
    double multiget_ns; /* Sum of their latencies [ns]. */
};

struct kvc_memcached_real_request;

/* A zeroed client can be closed. */
struct kvc_memcached_real_client {
    struct kvc_memcached_real_load load;
    struct kvc_memcached_real_request *request;
    uint32_t *free; /* Requests that are not in flight: a ring, so that connections take turns. */
    uint32_t free_first, free_count, looked;
    int ready; /* TCP: the epoll of all connections; UDP: the socket. */
    char *text;
    double started_s;
    struct kvc_memcached_real_counts counts;
    bool caught_up;
    double oldest_sent_ns;
    struct kvc_histogram latency;
    atomic_bool failed;
    char error[160]; /* What was wrong. */
};

/* Connects to the server. Returns KVC_ERR_RUNTIME if that fails. It must be closed even then. */
enum kvc_status kvc_memcached_real_client_open(struct kvc_memcached_real_client *client,
                                               const struct kvc_memcached_real_server *server,
                                               const struct kvc_memcached_real_load *load,
                                               struct kvc_diag *diag);
void kvc_memcached_real_client_close(struct kvc_memcached_real_client *client);

/* Receives what has arrived and sends what is due. Returns the time at which it was
 * done [ns], or 0 if there was nothing to do. Sets `failed` and `error` after a wrong response. */
double kvc_memcached_real_client_step(struct kvc_memcached_real_client *client);

/* The two halves of a step: receives up to KVC_MEMCACHED_AT_ONCE messages that have arrived, and sends up to
 * `most` requests that are due. Return how many. */
uint32_t kvc_memcached_real_client_receive(struct kvc_memcached_real_client *client);
uint32_t kvc_memcached_real_client_send(struct kvc_memcached_real_client *client, uint32_t most);

/* SETs the keys of a batch without a client. Returns KVC_ERR_RUNTIME if the server does not take them. */
enum kvc_status kvc_memcached_real_preload(const struct kvc_memcached_real_server *server,
                                           const struct kvc_batch *batch, struct kvc_diag *diag);

/* Writes the text of a key of `bytes` bytes, which has no end mark. */
void kvc_memcached_real_key(uint64_t id, uint32_t bytes, char *text);

/* Returns how many keys of this size there are. */
double kvc_memcached_real_keys(uint32_t bytes);

/* Checks the response to a GET of `count` rows of a batch from `first` on: the pairs that were found, in
 * order. Returns how many, or -1 if anything else is in it. */
int kvc_memcached_real_check(const struct kvc_batch *batch, uint32_t first, uint32_t count,
                             const char *response, size_t bytes);

#endif

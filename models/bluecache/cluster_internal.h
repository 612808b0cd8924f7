/* The parts of a cluster that its files share: requests, their events, and the steps that lead to one
 * another.
 *
 * cluster.c takes requests from the clients and hands out events, host.c and protocol.c take them from the
 * host to its card and back, cluster_ways.c from card to card, and cluster_stores.c serves them at the card
 * that stores the key. */
#ifndef KVC_MODELS_BLUECACHE_CLUSTER_INTERNAL_H
#define KVC_MODELS_BLUECACHE_CLUSTER_INTERNAL_H

#include <string.h>

#include "models/bluecache/cluster.h"
#include "models/bluecache/costs.h"

/* Events of requests; `unit` is the node. Those of flash engines have numbers from 64 on. */
enum {
    KVC_BLUECACHE_HOPS,
    KVC_BLUECACHE_ARRIVES,
    KVC_BLUECACHE_SEARCHED,
    KVC_BLUECACHE_DONE,
    KVC_BLUECACHE_BEGINS,
    KVC_BLUECACHE_SEGMENT, /* At the card; `tag` is the number of its messages. */
    KVC_BLUECACHE_ACKNOWLEDGED,
    KVC_BLUECACHE_BURST, /* At the host; likewise. */
    KVC_BLUECACHE_RETURNED,
    KVC_BLUECACHE_LOOKS,
    KVC_BLUECACHE_FLUSHED
};

/* The end mark of a flush, in place of a request. */
#define KVC_BLUECACHE_END UINT32_MAX

struct kvc_bluecache_request {
    double sent_ns;
    double tail_ns;        /* When the last byte has crossed the link behind it. */
    uint64_t page, *pages; /* Pages to read: the only one, or all of them. */
    uint64_t key_id, hash;
    uint32_t value_bytes, client, page_count, pages_left;
    uint16_t app, store;
    uint8_t wanted, op; /* What the application wants, and what the cache is asked for at present. */
    uint8_t key_bytes, place;
    bool hit, answered, missed;
    bool kept;                          /* It changes the structures (sample.h). */
    struct kvc_invalidated invalidated; /* What an update has yet to delete. */
};

static inline bool kvc_bluecache_saturates(const struct kvc_bluecache_cluster *cluster)
{
    return cluster->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
}

static inline bool kvc_bluecache_is_closed(const struct kvc_bluecache_cluster *cluster)
{
    return cluster->scenario->workload.arrival == KVC_ARRIVAL_CLOSED;
}

static inline bool kvc_bluecache_has_database(const struct kvc_bluecache_cluster *cluster)
{
    return cluster->config->database != NULL;
}

/* Return a time as the value of an entry of a ring, and back. */
static inline uint64_t kvc_bluecache_bits(double time_ns)
{
    uint64_t bits;
    memcpy(&bits, &time_ns, sizeof(bits));
    return bits;
}

static inline double kvc_bluecache_time(uint64_t bits)
{
    double time_ns;
    memcpy(&time_ns, &bits, sizeof(time_ns));
    return time_ns;
}

/* Returns the bytes of a request or, once it is answered, of its response. */
static inline uint32_t kvc_bluecache_bytes_of(const struct kvc_bluecache_request *request)
{
    return request->answered
               ? kvc_bluecache_response_bytes((enum kvc_op)request->op, request->hit, request->value_bytes)
               : kvc_bluecache_request_bytes((enum kvc_op)request->op, request->key_bytes,
                                             request->value_bytes);
}

/* Moves a request or response on from a card: to the next one, or to where it ends. */
void kvc_bluecache_move(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number);

/* A request has arrived at its store, where SETs may wait for a write buffer. */
void kvc_bluecache_arrive(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number);

/* Looks for the key of a request in the card's DRAM. */
void kvc_bluecache_search(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number);

/* The DRAM has answered: the request responds or reads its pages. */
void kvc_bluecache_searched(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at,
                            uint32_t number);

/* A chip has done what it was asked for; `number` is a request or a tag of the writer. */
void kvc_bluecache_chip_done(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at,
                             uint32_t number);

#endif

/* The parts of a cluster that its files share: requests, their events, and the steps that lead to one
 * another.
 *
 * cluster.c takes requests from the clients and hands out events, cluster_ways.c moves them between hosts and
 * cards, and cluster_stores.c serves them at the card that stores the key. */
#ifndef KVC_MODELS_BLUECACHE_CLUSTER_INTERNAL_H
#define KVC_MODELS_BLUECACHE_CLUSTER_INTERNAL_H

#include "models/bluecache/cluster.h"

/* Events of requests; `unit` is the node. Those of flash engines have numbers from 64 on. */
enum {
    KVC_BLUECACHE_HOPS,
    KVC_BLUECACHE_ARRIVES,
    KVC_BLUECACHE_SEARCHED,
    KVC_BLUECACHE_DONE,
    KVC_BLUECACHE_BEGINS
};

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

/* Sends a request to the cache from its host. */
void kvc_bluecache_send_request(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number);

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

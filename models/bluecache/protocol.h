/* The protocol engine of a card: it takes the requests of its host out of DMA segments, in order, and
 * collects their responses in bursts.
 *
 * A request enters the table of keys in flight, where it stays until its response is in a burst; while the
 * table is full, the next ones wait in their segments. A segment is acknowledged when the last request that
 * ends in it has been taken. An end mark stops the engine until the table is empty; then it is answered
 * itself.
 *
 * A burst goes to the host when it is full, or when the answer to an end mark is in it. It needs a free
 * segment, which the host returns after reading it. Its bytes cross PCIe as they come.
 *
 * Source: Xu et al., BlueCache, sec. 3.1, and the authors' program (github.com/xushuotao/fpgamemcached,
 * bsv/Proc_128.bsv and Proc_128_remote.bsv: doHash, doReqs_0, doDMAWrite).
 *
 * Not modelled: zeros with which that program fills a burst that ends early. The paper measured 20 us for
 * small pairs and 25 us for such of 8 KB, which differ by the time of a full burst. */
#ifndef KVC_MODELS_BLUECACHE_PROTOCOL_H
#define KVC_MODELS_BLUECACHE_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#include "models/bluecache/segments.h"
#include "sim/base/ring.h"

struct kvc_bluecache_cluster;

struct kvc_bluecache_protocol {
    struct kvc_ring queue;   /* Messages of segments on the way, and when their last bytes are there. */
    struct kvc_ring unread;  /* Segments, when they are there, and the last message that ends in them. */
    uint32_t there;          /* Messages that have begun to arrive and are not taken. */
    uint32_t segments_there; /* Segments likewise that are not acknowledged. */
    uint32_t taken;          /* Messages, since the cluster opened. */
    uint32_t in_flight;      /* Requests in the table. */
    bool ending;             /* An end mark waits for the table to be empty. */
    double end_ns;           /* When it was taken. */
    struct kvc_bluecache_segments segments;
    struct kvc_ring unsent; /* Responses that wait for a segment, and their bytes. */
    uint32_t in_burst;      /* Responses that end in the open burst. */
    double burst_ns;        /* When all of its bytes have crossed. */
};

void kvc_bluecache_protocol_open(struct kvc_bluecache_cluster *cluster, uint32_t app);
void kvc_bluecache_protocol_close(struct kvc_bluecache_protocol *protocol);

/* A segment with that many ends of messages begins to arrive. */
void kvc_bluecache_protocol_receive(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app,
                                    uint32_t messages);

/* A request of the card's host has been served. */
void kvc_bluecache_protocol_answer(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number);

/* The host has returned a segment. */
void kvc_bluecache_protocol_returned(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app);

#endif

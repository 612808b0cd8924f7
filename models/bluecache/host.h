/* The software of a host: it collects requests in DMA segments, flushes them, and hands responses to the
 * application.
 *
 * Requests are written one after another, under a lock if there are application threads. A segment goes to
 * the card when it is full. If no request is coming, a flush sends what there is, with an end mark behind it:
 * the card answers the mark when it has answered everything before it, and ends its burst there (protocol.h).
 * No other flush begins before that answer is back. With application threads, a thread of its own flushes,
 * which sleeps for some time after each flush (system.flush_pause); an open load is flushed by its only
 * thread, which does not sleep. A saturating host always has requests and flushes only if everything that the
 * card had is answered.
 *
 * A burst of responses causes one interrupt. With application threads, the interrupt wakes the response
 * thread, which wakes one thread after another. The mutex of the table of return pointers is the one of the
 * segments, and the table is an array with a place for each thread, so that looking up a response costs
 * nothing besides.
 *
 * Source: Xu et al., BlueCache, sec. 3.1 and 4, and the authors' program (github.com/xushuotao/fpgamemcached,
 * bsv/Test_Bluecache_JNI/bluecachedaemon.cpp: flush_request, dmaBufMemwrite, decode_response).
 *
 * Not modelled: how much later than asked for the flushing thread wakes; cores that threads share; the lock
 * while nobody waits for it, which the flushing thread takes at each look. Versions of that program which
 * flush every 64 requests or all threads together are not modelled either. */
#ifndef KVC_MODELS_BLUECACHE_HOST_H
#define KVC_MODELS_BLUECACHE_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "models/bluecache/segments.h"
#include "sim/base/ring.h"

struct kvc_bluecache_cluster;

struct kvc_bluecache_host {
    struct kvc_bluecache_segments segments;
    struct kvc_ring unwritten; /* Messages that wait for a segment, and their bytes. */
    struct kvc_ring written;   /* Messages that end in the open segment, and where they end there. */
    struct kvc_ring coming;    /* Responses that the card has put into its bursts. */
    uint32_t sent;             /* Messages in segments for the card, since the cluster opened. */
    uint32_t unanswered;       /* Requests without a response in a burst that has been read. */
    bool looks, flushing;      /* A look for requests is planned; an end mark is unanswered. */
    double awake_ns;           /* When the flushing thread has slept. */
    double call_free_ns, thread_free_ns; /* Of the lock and of the response thread. */
    double call_busy_ns, thread_busy_ns; /* Since the cluster opened. */
};

void kvc_bluecache_host_open(struct kvc_bluecache_cluster *cluster, uint32_t app);
void kvc_bluecache_host_close(struct kvc_bluecache_host *host);

/* Writes a request. */
void kvc_bluecache_send_request(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number);

/* The card has read a segment. */
void kvc_bluecache_host_acknowledged(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app);

/* Flushes if no request is coming. */
void kvc_bluecache_host_look(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app);

/* Takes the next response out of a burst that came at now_ns. Returns when the application has it [ns];
 * *number becomes its request, or KVC_BLUECACHE_END. */
double kvc_bluecache_host_take(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app,
                               uint32_t *number);

/* A burst that came at now_ns has been read: its segment goes back to the card. */
void kvc_bluecache_host_took(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app);

/* The answer to the end mark has been read. */
void kvc_bluecache_host_flushed(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app);

#endif

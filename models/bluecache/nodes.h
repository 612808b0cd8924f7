/* The nodes of a BlueCache cluster: the software of the hosts, and the cards with their protocol engines,
 * DRAM, flash and links to other cards. Clients and the database are in cluster.h.
 *
 * Hosts. A host collects requests in DMA segments, flushes them, and hands responses to the application. It
 * writes one request after another, under a lock if there are application threads. A segment goes to the card
 * when it is full. If no request is coming, a flush sends the open segment with an end mark behind its last
 * request: the card answers the mark when it has answered everything before it, and ends its burst there. No
 * other flush begins before that answer is back. With application threads, a separate thread flushes; it
 * sleeps for some time after each flush (system.flush_pause). An open load is flushed by its only thread,
 * which does not sleep. A saturating host always has requests and flushes only if the card has answered
 * everything that it had.
 *
 * A burst of responses causes one interrupt. With application threads, the interrupt wakes the response
 * thread, which wakes one thread after another. The table of return pointers has the same mutex as the
 * segments. It is an array with a place for each thread, so looking up a response costs nothing extra.
 *
 * Not modelled: the flushing thread wakes later than it asked for; threads share cores; the flushing thread
 * takes the lock at each look even while nobody waits for it; versions of the authors' program that flush
 * every 64 requests, which leaves fewer threads without an answer, or all threads together.
 *
 * Protocol engines. The protocol engine of a card takes the requests of its host out of DMA segments, in
 * order, and collects their responses in bursts. A request enters the table of keys in flight, where it stays
 * until its response is in a burst; while the table is full, the next requests wait in their segments. The
 * engine acknowledges a segment when it has taken the last request that ends in it. An end mark stops the
 * engine until the table is empty; then the engine answers the mark. So do all published versions of an
 * engine with end marks (doHash stalls while inFlightCmds is not 0), although the paper says that partial
 * segments are pushed in the background: the thread is in the background, and the card still drains. A burst
 * goes to the host when it is full or when it contains the answer to an end mark. It needs a free segment,
 * which the host returns after reading it. Its bytes cross PCIe as they come. A pair of several pages is put
 * into bursts page by page, as the pages come (FlashReader.bsv: doDistributeData).
 *
 * Not modelled: pages of such a pair that come out of order wait for the ones before them, and other
 * responses wait for its last page; pairs of other cards are sent when all their pages are there; the zeros
 * with which that program fills a burst that ends early. The paper measured 20 us for small pairs and 25 us
 * for pairs of 8 KB, which differ by the time of a full burst.
 *
 * Stores. Each channel of the card's DRAM serves one access after another. A pair on flash is read page by
 * page; the controller has a limited number of tags, which requests of its own host and of other hosts get in
 * turn. SETs wait while both write buffers are being programmed.
 *
 * Source: Xu et al., BlueCache, sec. 3.1 and 4, and the authors' program (github.com/xushuotao/fpgamemcached,
 * bsv/Test_Bluecache_JNI/bluecachedaemon.cpp: flush_request, dmaBufMemwrite, decode_response;
 * bsv/Proc_128.bsv and Proc_128_remote.bsv: doHash, doReqs_0, doDMAWrite). */
#ifndef KVC_MODELS_BLUECACHE_NODES_H
#define KVC_MODELS_BLUECACHE_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "models/bluecache/card.h"
#include "models/bluecache/sample.h"
#include "sim/base/events.h"
#include "sim/base/ring.h"
#include "sim/base/rng.h"
#include "sim/devices/database.h"
#include "sim/devices/flash/flash_engine.h"
#include "sim/run/answers.h"
#include "sim/run/cache_aside.h"
#include "sim/workload/source/source.h"

/* The DMA segments of one direction: buffers in the host's memory. Messages follow one another without gaps,
 * so a message may lie in several segments. */
struct kvc_bluecache_segments {
    uint32_t bytes;  /* Size of a segment. */
    uint32_t filled; /* Bytes in the open segment. */
    uint32_t free;   /* Segments that can be opened. */
    bool open;
};

struct kvc_bluecache_host {
    struct kvc_bluecache_segments segments;
    struct kvc_ring unwritten; /* Messages that wait for a segment, and their bytes. */
    struct kvc_ring written;   /* Messages that end in the open segment, and where they end there. */
    struct kvc_ring coming;    /* Responses that the card has put into its bursts. */
    uint32_t sent;             /* Messages in segments for the card, since the cluster opened. */
    uint32_t unanswered;       /* Requests without a response in a burst that has been read. */
    bool looks;                /* The host will look for further requests. */
    bool flushing;             /* An end mark is unanswered. */
    double awake_ns;           /* Time at which the flushing thread wakes [ns]. */
    double call_free_ns;       /* Time at which the lock is free [ns]. */
    double thread_free_ns;     /* Time at which the response thread is free [ns]. */
    /* Busy times of the lock and of the response thread since the cluster opened [ns]. */
    double call_busy_ns, thread_busy_ns;
};

struct kvc_bluecache_protocol {
    struct kvc_ring queue;   /* Messages of segments on the way, and when their last bytes are there. */
    struct kvc_ring unread;  /* Segments, when they are there, and the last message that ends in them. */
    uint32_t there;          /* Messages that have begun to arrive and are not taken. */
    uint32_t segments_there; /* Segments that have begun to arrive and are not acknowledged. */
    uint32_t taken;          /* Messages taken since the cluster opened. */
    uint32_t in_flight;      /* Requests in the table. */
    bool ending;             /* An end mark waits for the table to be empty. */
    double end_ns;           /* Time at which the engine took the end mark [ns]. */
    struct kvc_bluecache_segments segments;
    struct kvc_ring unsent; /* Responses that wait for a segment, and their bytes. */
    uint32_t in_burst;      /* Responses that end in the open burst. */
    double burst_ns;        /* Time at which all of its bytes have crossed PCIe [ns]. */
};

/* Events of requests; `unit` is the node. Events of flash engines have numbers from 64 on. */
enum {
    KVC_BLUECACHE_HOPS,
    KVC_BLUECACHE_ARRIVES,
    KVC_BLUECACHE_SEARCHED,
    KVC_BLUECACHE_DONE,
    KVC_BLUECACHE_BEGINS,
    KVC_BLUECACHE_SEGMENT, /* A segment reaches the card; `tag` is the number of its messages. */
    KVC_BLUECACHE_ACKNOWLEDGED,
    KVC_BLUECACHE_BURST, /* A burst reaches the host; `tag` is the number of its messages. */
    KVC_BLUECACHE_RETURNED,
    KVC_BLUECACHE_LOOKS,
    KVC_BLUECACHE_FLUSHED
};

/* In place of a request: the end mark of a flush, and a part of a response that does not end it. */
#define KVC_BLUECACHE_END UINT32_MAX
#define KVC_BLUECACHE_PART (UINT32_MAX - 1)

struct kvc_bluecache_request {
    double sent_ns;
    double reached_ns;  /* Time at which the card begins to search [ns]. */
    double searched_ns; /* Time at which it ends the search [ns]. */
    double found_ns;    /* Time at which it has the data [ns]. */
    double tail_ns;     /* Time at which the last byte has crossed the previous link [ns]. */
    uint64_t page;      /* The page to read if there is only one. */
    uint64_t *pages;    /* The pages to read if there are several; otherwise NULL. */
    uint64_t key_id, hash;
    uint32_t value_bytes, client, page_count, pages_left;
    uint32_t
        streamed_bytes; /* Bytes of its response that were put into bursts before its last page was read. */
    uint16_t app, store;
    uint8_t wanted; /* Operation that the application asked for. */
    uint8_t op;     /* Operation that the cache is executing for it. */
    uint8_t key_bytes, place;
    bool hit, answered, missed;
    bool kept;                          /* The request changes the structures (sample.h). */
    struct kvc_invalidated invalidated; /* Keys that an update has yet to delete. */
};

struct kvc_bluecache_node {
    struct kvc_flash_engine flash;
    uint32_t tags_used;
    struct kvc_bluecache_writer writer;
    struct kvc_ring wanted[2]; /* Pages that wait for a tag: for the own host, and for other hosts. */
    uint32_t turn;             /* Index in `wanted` that got the last tag. */
    struct kvc_ring blocked;   /* SETs that wait for a write buffer. */
    struct kvc_batch *staged;  /* Requests that the structures have run or will run next. */
    uint32_t request[KVC_BLUECACHE_RUN_MAX], next;
    struct kvc_bluecache_host host;
    struct kvc_bluecache_protocol protocol;
    double in_free_ns, out_free_ns;               /* Times at which PCIe is free in each direction [ns]. */
    double *dram_free_ns;                         /* Time at which each DRAM channel is free [ns]. */
    double in_busy_ns, out_busy_ns, dram_busy_ns; /* Busy times since the cluster opened [ns]. */
};

struct kvc_bluecache_cluster {
    const struct kvc_scenario *scenario;
    const struct kvc_bluecache_config *config;
    struct kvc_bluecache_shards *shards;
    struct kvc_bluecache_sample sample;
    struct kvc_source *source;
    struct kvc_rng
        choice; /* Picks the store that a saturating host asks, and the DRAM channel of a request. */
    struct kvc_events events;
    struct kvc_bluecache_node *node;
    uint32_t *route;                     /* kvc_fabric_routes(). */
    double *edge_free_ns, *edge_busy_ns; /* Links between nodes: from * nodes + to [ns]. */
    struct kvc_database_engine database;
    struct kvc_invalidations invalidations; /* Keys that updates delete. */
    struct kvc_bluecache_request *request;
    uint8_t *keys;           /* Keys of all requests; NULL without a database. */
    struct kvc_batch *again; /* Holds a request that follows an answer of the database. */
    uint32_t *free_request;
    uint32_t requests, free_count, next_app;
    struct kvc_answers answers;
    uint64_t served, flash_reads; /* All counters count since the cluster opened. */
    uint64_t remote;              /* Requests for other nodes. */
    uint64_t segments, flushes, bursts;
    uint64_t gets, dram_hits, flash_hits; /* GETs that the stores have served, by place. */
    uint64_t set_bytes;                   /* Keys and values of SETs. */
    uint64_t kernel_ticks, source_ticks;  /* kvc_clock_ticks() in the structures and in the source. */
    bool started;
};

static inline bool kvc_bluecache_saturates(const struct kvc_bluecache_cluster *cluster)
{
    return cluster->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
}

static inline bool kvc_bluecache_has_database(const struct kvc_bluecache_cluster *cluster)
{
    return cluster->config->database != NULL;
}

/* Opens and closes the software of a host. */
void kvc_bluecache_host_open(struct kvc_bluecache_cluster *cluster, uint32_t app);
void kvc_bluecache_host_close(struct kvc_bluecache_host *host);

/* Writes a request. */
void kvc_bluecache_send_request(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number);

/* Handles that the card has read a segment. */
void kvc_bluecache_host_acknowledged(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app);

/* Flushes if no request is coming. */
void kvc_bluecache_host_look(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app);

/* Takes the next response out of a burst that came at now_ns. Returns when the application has it [ns];
 * *number becomes its request, or KVC_BLUECACHE_END. */
double kvc_bluecache_host_take(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app,
                               uint32_t *number);

/* Returns the segment of a burst that came at now_ns and has been read to the card. */
void kvc_bluecache_host_took(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app);

/* Handles that the answer to the end mark has been read. */
void kvc_bluecache_host_flushed(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app);

/* Opens and closes the protocol engine of a card. */
void kvc_bluecache_protocol_open(struct kvc_bluecache_cluster *cluster, uint32_t app);
void kvc_bluecache_protocol_close(struct kvc_bluecache_protocol *protocol);

/* Handles that a segment in which `messages` messages end begins to arrive. */
void kvc_bluecache_protocol_receive(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app,
                                    uint32_t messages);

/* Handles that the host has returned a segment. */
void kvc_bluecache_protocol_returned(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app);

/* Moves a request or response on from a card: to the next card, or to where it ends. */
void kvc_bluecache_move(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number);

/* Handles that a request has arrived at its store, where SETs may wait for a write buffer. */
void kvc_bluecache_arrive(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number);

/* Handles that the DRAM has answered: the request responds or reads its pages. */
void kvc_bluecache_searched(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at,
                            uint32_t number);

/* Handles that a chip has finished an operation; `number` is a request or a tag of the writer. */
void kvc_bluecache_chip_done(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at,
                             uint32_t number);

#endif

/* The closed form of a host that collects requests in DMA segments and flushes them (host.h, protocol.h).
 *
 * The requests of a flush are answered before the next one begins. A flush of n requests takes as long as a
 * request alone, and then as long as the busiest of the units that limit the store needs for its further
 * ones. Of n requests at random to U units, the busiest one gets n/U + sqrt(2 n/U ln U) (Raab and Steger,
 * "Balls into Bins", RANDOM 1998, for n much larger than U). Hosts flush at different times, and each is
 * taken to have the whole store meanwhile: with many threads on several hosts, the simulation is slower. A
 * saturating host does not flush, unless it may not keep more requests in flight than segments and bursts
 * hold. */
#ifndef KVC_MODELS_BLUECACHE_FLUSHES_H
#define KVC_MODELS_BLUECACHE_FLUSHES_H

#include "sim/scenario.h"

/* What a host gets back from a card: all times without waiting. */
struct kvc_bluecache_service {
    double alone_ns;      /* Of a request, with its flush. */
    double away_ns;       /* In which a request waits for what is no card. */
    double lowest_per_ns; /* Rate of the slowest stage of the cache, for all hosts. */
    double most_per_ns;   /* Likewise, or of what is no card, if that is slower. */
    double units;         /* Servers of that stage among which requests are spread at random. */
    double request_bytes, response_bytes; /* On average. */
};

struct kvc_bluecache_flow {
    double per_ns;     /* Rate of all hosts. */
    double latency_ns; /* NAN: an open load is higher than the rate. */
    double together;   /* Requests that a host flushes together; INFINITY: it flushes only full segments. */
};

/* Returns the rate at which the segments of all hosts can take requests to the cards and responses back [per
 * ns]; a segment is free again after a round trip. */
double kvc_bluecache_segments_per_ns(const struct kvc_scenario *scenario,
                                     const struct kvc_bluecache_service *service);

struct kvc_bluecache_flow kvc_bluecache_flow_of(const struct kvc_scenario *scenario,
                                                const struct kvc_bluecache_service *service);

/* Returns the segments or bursts that `together` messages of some bytes and an end mark fill on average. */
double kvc_bluecache_messages_per_segment(const struct kvc_scenario *scenario, double together, double bytes);

#endif

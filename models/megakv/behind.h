/* A Mega-KV with a database behind it as the closed form sees it: what the store is asked for in place of
 * what the application wants (sim/run/cache_aside.h).
 *
 * The mix follows from the long run, in which every key that was asked for is stored if there is room, and
 * otherwise the most popular ones are. What is stored misses after updates. */
#ifndef KVC_MODELS_MEGAKV_BEHIND_H
#define KVC_MODELS_MEGAKV_BEHIND_H

#include "models/megakv/config.h"
#include "models/megakv/costs.h"
#include "sim/run/cache_aside.h"

struct kvc_megakv_behind {
    struct kvc_scenario
        scenario; /* With the store's requests, and no more of them than the database serves. */
    struct kvc_megakv_config config;
    struct kvc_cache_aside_mix mix;
    double messages;               /* Requests to the store for one of the application. */
    struct kvc_database_load load; /* Of the database, for a request of the application. */
    double limit_mops;             /* Of the application's requests, by the database of the hottest node. */
};

/* Sees a resolved scenario. Without a database, it is as it was. The result refers to itself: it must not be
 * copied. */
void kvc_megakv_behind_open(struct kvc_megakv_behind *behind, const struct kvc_scenario *scenario);

/* Opens the costs of the store's requests. */
void kvc_megakv_behind_costs(const struct kvc_megakv_behind *behind, struct kvc_megakv_costs *costs);

/* Returns the mean latency of a GET of the application, or of any request if there are no GETs, if one of the
 * store takes latency_ns, of which it waits fill_ns for its frame [ns]. What follows the database does not
 * wait for others. */
double kvc_megakv_behind_latency_ns(const struct kvc_megakv_behind *behind, double latency_ns,
                                    double fill_ns);

#endif

/** @file
 * What an application does with a cache in front of a database (cache-aside).
 *
 * A GET that misses becomes a query of the database and then a SET of its result. A SET is an update of the
 * database and then a DELETE of the key, so that the next GET of the key misses and the cache never holds
 * what is no longer true. All other requests concern the cache alone.
 *
 * Not modelled: updates that invalidate several keys, queries for the same key at the same time that share
 * one answer, and results that are updated while they are on their way to the cache. */
#ifndef KVC_SIM_RUN_CACHE_ASIDE_H
#define KVC_SIM_RUN_CACHE_ASIDE_H

#include <math.h>
#include <stdbool.h>

#include "sim/devices/database.h"
#include "sim/workload/workload.h"

/** Returns whether a request of the application begins with an update of the database. */
static inline bool kvc_cache_aside_updates(enum kvc_op wanted)
{
    return wanted == KVC_OP_SET;
}

/** Returns whether a request that the cache has answered goes on with a query. `wanted` is what the
 * application wants, `asked` what the cache was asked for, and `hit` whether it had the key. */
static inline bool kvc_cache_aside_queries(enum kvc_op wanted, enum kvc_op asked, bool hit)
{
    return wanted == KVC_OP_GET && asked == KVC_OP_GET && !hit;
}

/** Returns what the cache is asked for when the database has answered. */
static inline enum kvc_op kvc_cache_aside_follows(enum kvc_op wanted)
{
    return kvc_cache_aside_updates(wanted) ? KVC_OP_DELETE : KVC_OP_SET;
}

/** What the cache is asked for and what the database is, for each request of the application on average. */
struct kvc_cache_aside_mix {
    double get;     /**< GETs. */
    double set;     /**< SETs. */
    double delete;  /**< DELETEs. */
    double queries; /**< Queries of the database. */
    double updates; /**< Updates of it. */
    double hit;     /**< Share of the GETs that hit. */
};

/** Returns the share of the GETs of stored keys that find them valid: with a database, a GET misses if the
 * latest request for its key was an update or a DELETE. */
static inline double kvc_cache_aside_valid_frac(const struct kvc_workload *workload)
{
    return workload->get_frac;
}

/** Returns the mix if a share `hit` of the GETs hits. */
static inline struct kvc_cache_aside_mix kvc_cache_aside_mix_of(const struct kvc_workload *workload,
                                                                bool has_database, double hit)
{
    double get = workload->get_frac, set = workload->set_frac, delete = fmax(1 - get - set, 0);
    if (!has_database) {
        return (struct kvc_cache_aside_mix){.get = get, .set = set, .delete = delete, .hit = hit};
    }
    double queries = get * (1 - hit);
    return (struct kvc_cache_aside_mix){
        .get = get, .set = queries, .delete = delete + set, .queries = queries, .updates = set, .hit = hit};
}

/** Returns the time for which a request of the application occupies one of the queries that the database
 * works on [ns]. */
static inline double kvc_cache_aside_database_ns(const struct kvc_cache_aside_mix *mix,
                                                 const struct kvc_database *database)
{
    return mix->queries * kvc_database_ns(database, false) + mix->updates * kvc_database_ns(database, true);
}

/** Returns the time that a request of the application spends at the database if it waits nowhere [ns]. */
static inline double kvc_cache_aside_latency_ns(const struct kvc_cache_aside_mix *mix,
                                                const struct kvc_database *database)
{
    return kvc_cache_aside_database_ns(mix, database) + (mix->queries + mix->updates) * database->latency_ns;
}

#endif

/** @file
 * The cache-aside pattern: requests of an application with a cache in front of a database.
 *
 * A GET that misses becomes a query of the database and then a SET of its result. A SET is an update of the
 * database and then a DELETE of the key, so that the next GET of the key misses and the cache never holds an
 * outdated value. With actions (sim/workload/workload.h), an update is followed by a DELETE of every key that
 * it invalidates, one after another. All other requests concern the cache alone.
 *
 * Not modelled: queries for the same key at the same time that share one answer, and results that are updated
 * while they are on their way to the cache. */
#ifndef KVC_SIM_RUN_CACHE_ASIDE_H
#define KVC_SIM_RUN_CACHE_ASIDE_H

#include <stdbool.h>

#include "sim/devices/database.h"
#include "sim/scenario.h"
#include "sim/workload/source/source.h"

/** Returns whether a request of the application begins with an update of the database. */
static inline bool kvc_cache_aside_updates(enum kvc_op wanted)
{
    return wanted == KVC_OP_SET;
}

/** Returns whether a request that the cache has answered continues with a query. `wanted` is the
 * application's operation, `asked` the cache's, and `hit` says whether the cache had the key. */
static inline bool kvc_cache_aside_queries(enum kvc_op wanted, enum kvc_op asked, bool hit)
{
    return wanted == KVC_OP_GET && asked == KVC_OP_GET && !hit;
}

/** Returns the operation of the cache that follows the answer of the database. */
static inline enum kvc_op kvc_cache_aside_follows(enum kvc_op wanted)
{
    return kvc_cache_aside_updates(wanted) ? KVC_OP_DELETE : KVC_OP_SET;
}

/** Requests to the cache and to the database for each request of the application, on average. */
struct kvc_cache_aside_mix {
    double get;     /**< GETs. */
    double set;     /**< SETs. */
    double delete;  /**< DELETEs. */
    double queries; /**< Queries of the database. */
    double updates; /**< Updates of the database. */
    double hit;     /**< Share of the GETs that hit. */
};

/** Checks that a database and all keys are there if the workload has actions. */
enum kvc_status kvc_cache_aside_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/** Returns the share of the GETs of stored keys that find them valid: with a database, a GET misses if the
 * last request that concerned its key was an update or a DELETE. */
double kvc_cache_aside_valid_frac(const struct kvc_workload *workload);

/** Returns the mix if a share `hit` of the GETs hits. */
struct kvc_cache_aside_mix kvc_cache_aside_mix_of(const struct kvc_workload *workload, bool has_database,
                                                  double hit);

/** Returns the mean load of the database by a request of the application, with its ways, if it waits nowhere.
 * The database is asked for `keys` keys. */
struct kvc_database_load kvc_cache_aside_load_of(const struct kvc_cache_aside_mix *mix,
                                                 const struct kvc_database *database, double keys);

/** Draws the keys that updates invalidate. */
struct kvc_invalidations {
    const struct kvc_source *source; /**< Knows the actions and the members. */
    struct kvc_rng rng;              /**< Draws actions and further members. */
};

/** Keys that an update has yet to delete from the cache, one after another. */
struct kvc_invalidated {
    uint64_t *key_id; /**< The keys; NULL: none. */
    uint32_t left;    /**< Number of keys left. */
};

/** Opens the draws of a replica; `source` must outlive them. */
void kvc_invalidations_open(struct kvc_invalidations *invalidations, const struct kvc_source *source,
                            uint64_t seed);

/** Draws the action of an update for a key, and the keys that it invalidates: keys of the key's member and of
 * the other members that the action concerns. Without actions, the update invalidates the key itself. The
 * caller frees the keys. Exits with status 3 if memory is short. */
struct kvc_invalidated kvc_invalidations_draw(struct kvc_invalidations *invalidations, uint64_t key_id);

/** Takes the next key; there must be one. */
uint64_t kvc_invalidated_next(struct kvc_invalidated *invalidated);

/** Frees the keys, not the struct. */
void kvc_invalidated_free(struct kvc_invalidated *invalidated);

#endif

/** @file
 * A database engine is a database at work: it simulates the queries that run and those that wait.
 *
 * The engine adds its steps as events; their owner hands them back. If the times of queries are known, what
 * they share within the database's machine is in these times. Otherwise, statements wait for a core, and
 * reads of pages for the drives. */
#ifndef KVC_SIM_DEVICES_DATABASE_ENGINE_H
#define KVC_SIM_DEVICES_DATABASE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/events.h"
#include "sim/base/ring.h"
#include "sim/base/rng.h"
#include "sim/devices/database.h"
#include "sim/devices/page_pool.h"

/** Kinds of events that engines add; `unit` of such an event is 0. They are above those of other engines with
 * the same queue (flash_engine.h). An owner numbers its own kinds below. */
enum {
    KVC_DATABASE_WORKED = 128, /**< A query has run. */
    KVC_DATABASE_ANSWERED,     /**< Its result has arrived. */
    KVC_DATABASE_COMPUTED,     /**< Its statements have run. */
    KVC_DATABASE_FETCHED,      /**< A page has come from the drives. */
};

/** What a query on a machine still does. */
struct kvc_database_query {
    uint64_t key_id; /**< What it asks for. */
    uint32_t pages;  /**< Pages that it has yet to use. */
};

/** One database at work. */
struct kvc_database_engine {
    const struct kvc_database *database; /**< Parameters. */
    struct kvc_events *events;           /**< Where the engine posts its events. */
    struct kvc_rng times;                /**< Of the times of queries. */
    struct kvc_ring waiting;             /**< Queries that wait; the value says whether it is an update. */
    uint64_t running;                    /**< Queries that run. */
    uint64_t reads;                      /**< Queries asked for so far. */
    uint64_t writes;                     /**< Updates asked for so far. */
    double busy_ns; /**< Time of all queries whose time is known that were started, summed up. */
    struct kvc_database_query *query; /**< On a machine: of each tag. */
    uint32_t query_room;              /**< Entries of `query`. */
    struct kvc_page_pool pool;        /**< On a machine: pages in memory. */
    struct kvc_ring for_core;         /**< Queries that wait for a core. */
    uint64_t computing;               /**< Queries whose statements run. */
    double cores_busy_ns;             /**< Time of all statements, summed up. */
    double drives_free_ns;            /**< When the drives begin to read the next page. */
    double drives_busy_ns;            /**< Time for which they were busy. */
    uint64_t pages_used;              /**< Pages that queries have used. */
    uint64_t pages_read;              /**< Likewise those that came from the drives. */
};

/** Opens a database. The engine adds its events to `events`, whose owner hands them to
 * kvc_database_engine_handle(); `database` and `events` must outlive the engine. Databases of one run
 * differ by `number`. */
void kvc_database_engine_open(struct kvc_database_engine *engine, const struct kvc_database *database,
                              struct kvc_events *events, uint64_t seed, uint32_t number);

/** Frees the queue. A zeroed engine is allowed. */
void kvc_database_engine_close(struct kvc_database_engine *engine);

/** Asks for a query or an update of a key at `now_ns`. `tag` comes back when its result has arrived; until
 * then, no other query has it. Exits with status 3 if memory is short. */
void kvc_database_ask(struct kvc_database_engine *engine, double now_ns, bool writes, uint64_t key_id,
                      uint32_t tag);

/** Returns for how long the busiest part of the database was busy: all of its queries, cores or drives [ns].
 * A zeroed engine is allowed. */
double kvc_database_engine_busy_ns(const struct kvc_database_engine *engine);

/** Handles an event of this engine. Returns true if a result arrives at the event's time; the event's tag is
 * then that of the query. */
bool kvc_database_engine_handle(struct kvc_database_engine *engine, const struct kvc_event *event);

#endif

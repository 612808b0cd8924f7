/** @file
 * A database engine is a database at work: it simulates the queries that run and those that wait.
 *
 * The engine adds its steps as events; their owner hands them back. Not modelled: queries that share parts of
 * the database's machine, locks of rows, and its own cache; they are in the times of queries. */
#ifndef KVC_SIM_DEVICES_DATABASE_ENGINE_H
#define KVC_SIM_DEVICES_DATABASE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/events.h"
#include "sim/base/ring.h"
#include "sim/base/rng.h"
#include "sim/devices/database.h"

/** Kinds of events that engines add; `unit` of such an event is 0. They are above those of other engines with
 * the same queue (flash_engine.h). An owner numbers its own kinds below. */
enum {
    KVC_DATABASE_WORKED = 128, /**< A query has run. */
    KVC_DATABASE_ANSWERED,     /**< Its result has arrived. */
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
    double busy_ns;                      /**< Time of all queries that were started, summed up. */
};

/** Opens a database. The engine adds its events to `events`, whose owner hands them to
 * kvc_database_engine_handle(); `database` and `events` must outlive the engine. */
void kvc_database_engine_open(struct kvc_database_engine *engine, const struct kvc_database *database,
                              struct kvc_events *events, uint64_t seed);

/** Frees the queue. A zeroed engine is allowed. */
void kvc_database_engine_close(struct kvc_database_engine *engine);

/** Asks for a query or an update at `now_ns`. `tag` comes back when its result has arrived. Exits with status
 * 3 if memory is short. */
void kvc_database_ask(struct kvc_database_engine *engine, double now_ns, bool writes, uint32_t tag);

/** Returns for how long the database was busy, 1 for all of its queries [ns]. A zeroed engine is allowed. */
double kvc_database_engine_busy_ns(const struct kvc_database_engine *engine);

/** Handles an event of this engine. Returns true if a result arrives at the event's time; the event's tag is
 * then that of the query. */
bool kvc_database_engine_handle(struct kvc_database_engine *engine, const struct kvc_event *event);

#endif

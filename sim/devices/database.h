/** @file
 * A database with a cache in front: the slow store of all data, which applications query when the
 * cache misses and which they update.
 *
 * It works on a limited number of queries at a time; others wait in the order of their arrival. Latency
 * therefore rises with load, and the capacity is `queries` divided by the time of a query.
 *
 * The time of a query is known, or follows from the database's machine (read = "machine"): a query takes the
 * time of its statements on one of `cores`, and then it reads pages one after another. A page that is not in
 * the pool comes from the drives, which give `page_mops` together and one after `page_read_ns`. The pages of
 * a key lie anywhere in the data, so that the hits of the pool depend on what the cache misses.
 *
 * Not modelled: locks, pages that are written, upper levels of indexes, which are taken to be in the pool,
 * and rows of several keys that share a page more often than by chance. *
 *
 * A page pool is the memory in which a database keeps pages of its drives, such as InnoDB's buffer pool. It
 * keeps the pages that were used last. At first, it holds pages from the beginning of the data.
 *
 * Not modelled: InnoDB's lists for old and for young pages, pages that are written back, and read-ahead.
 *
 * A database engine is a database at work: it simulates the queries that run and those that wait.
 *
 * The engine adds its steps as events; their owner hands them back. If the times of queries are known, what
 * they share within the database's machine is in these times. Otherwise, statements wait for a core, and
 * reads of pages for the drives. */
#ifndef KVC_SIM_DEVICES_DATABASE_H
#define KVC_SIM_DEVICES_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/events.h"
#include "sim/base/ring.h"
#include "sim/base/rng.h"
#include "sim/devices/node.h"

/** A pool of at least one page. */
struct kvc_page_pool {
    uint32_t *older; /**< For each page in the pool, the page that was used before it. */
    uint32_t
        *younger; /**< For each page, the page that was used after it; outside the pool, the page itself. */
    uint32_t oldest;   /**< The page that leaves next. */
    uint32_t youngest; /**< The page that was used last. */
};

/** Opens a pool with room for `room` of `pages` pages, 1 <= room <= pages. Exits with status 3 if memory is
 * short. */
void kvc_page_pool_open(struct kvc_page_pool *pool, uint32_t pages, uint32_t room);

/** Frees the lists. A zeroed pool is allowed. */
void kvc_page_pool_close(struct kvc_page_pool *pool);

/** Uses a page. Returns whether it was in the pool. Afterwards it is there, in place of the oldest page. */
bool kvc_page_pool_use(struct kvc_page_pool *pool, uint32_t page);

/** Distribution of the times of queries. */
enum kvc_database_times {
    KVC_DATABASE_EXPONENTIAL, /**< "exponential": some take much longer than others. */
    KVC_DATABASE_FIXED,       /**< "fixed": all take the same time. */
};

/** Parameters of a database. */
struct kvc_database {
    char name[KVC_TEXT_MAX]; /**< Name of the product and its load, for people. */
    uint64_t queries;        /**< Queries that it works on at a time. */
    double read_ns;          /**< Mean time of a query, without waiting and `latency_ns`. */
    double write_ns;   /**< Mean time of an update, without waiting and `latency_ns`; below 0: `read_ns`. */
    double latency_ns; /**< Way to the database and back. */
    int times;         /**< enum kvc_database_times. */
    /* The machine, if it determines the times. */
    uint64_t cores;      /**< Statements that run at a time; 0: unknown. */
    double statements;   /**< Mean number of statements of a query. */
    double statement_ns; /**< Mean time of a statement on a core whose pages are in the pool. */
    double pages;        /**< Mean number of pages that a query uses. */
    double page_bytes;   /**< Size of a page [bytes]. */
    double data_bytes;   /**< Size of all pages [bytes]. */
    double pool_bytes;   /**< Size of the pool [bytes]. */
    double page_read_ns; /**< Time in which a drive reads a page if nothing waits. */
    double page_mops;    /**< Pages that all drives read together [million/s]. */
};

/** The descriptor of a database. A node has one only if its scenario names it. */
extern const struct kvc_device_kind kvc_database_kind;

/** Finds the database of the node. Returns NULL if it has none. */
static inline const struct kvc_database *kvc_database_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_database_kind);
}

/** Returns the memory that the simulation of the pool needs [bytes]. */
double kvc_database_memory_bytes(const struct kvc_database *database);

/** Mean load of a query or an update. */
struct kvc_database_load {
    double time_ns; /**< Time without waiting and way [ns]. */
    double busy_ns; /**< Time for which it keeps the busiest part busy: queries, cores or drives [ns]. */
};

/** Returns the mean load of a query or an update, in closed form. `keys` are requested; the misses of the
 * cache are assumed to be spread evenly over them. */
struct kvc_database_load kvc_database_load_of(const struct kvc_database *database, bool writes, double keys);

/** Makes the database faster by a factor, for a question of what would be if. */
void kvc_database_speed_up(struct kvc_database *database, double factor);

/** Kinds of events that engines add; `unit` of such an event is 0. They are above the kinds of other engines
 * with the same queue (flash_engine.h). An owner numbers its own kinds below. */
enum {
    KVC_DATABASE_WORKED = 128, /**< A query has run. */
    KVC_DATABASE_ANSWERED,     /**< The query's result has arrived. */
    KVC_DATABASE_COMPUTED,     /**< The query's statements have run. */
    KVC_DATABASE_FETCHED,      /**< A page has come from the drives. */
};

/** Remaining work of a query on a machine. */
struct kvc_database_query {
    uint64_t key_id; /**< Key that the query asks for. */
    uint32_t pages;  /**< Pages that it has yet to use. */
};

/** One database at work. */
struct kvc_database_engine {
    const struct kvc_database *database; /**< Parameters. */
    struct kvc_events *events;           /**< Queue to which the engine posts its events. */
    struct kvc_rng times;                /**< Draws the times of queries. */
    struct kvc_ring waiting;             /**< Queries that wait; the value says whether it is an update. */
    uint64_t running;                    /**< Queries that run. */
    uint64_t reads;                      /**< Queries asked for so far. */
    uint64_t writes;                     /**< Updates asked for so far. */
    double
        busy_ns; /**< Times of all queries that were started, summed up; queries on a machine do not count. */
    struct kvc_database_query *query; /**< On a machine: the query of each tag. */
    uint32_t query_room;              /**< Entries of `query`. */
    struct kvc_page_pool pool;        /**< On a machine: pages in memory. */
    struct kvc_ring for_core;         /**< Queries that wait for a core. */
    uint64_t computing;               /**< Queries whose statements run. */
    double cores_busy_ns;             /**< Time of all statements, summed up. */
    double drives_free_ns;            /**< When the drives begin to read the next page. */
    double drives_busy_ns;            /**< Time for which they were busy. */
    uint64_t pages_used;              /**< Pages that queries have used. */
    uint64_t pages_read;              /**< Pages among them that came from the drives. */
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

/** Handles an event of this engine. Returns true if a result arrives at the event's time; the event then has
 * the query's tag. */
bool kvc_database_engine_handle(struct kvc_database_engine *engine, const struct kvc_event *event);

#endif

/** @file
 * A database behind a cache: the slow place where all data are, which applications ask when the cache misses
 * and which they update.
 *
 * It works on a limited number of queries at a time; others wait in the order of their arrival. Latency
 * therefore rises with load, and the capacity is `queries` divided by the time of a query.
 *
 * The time of a query is known, or follows from the database's machine (read = "machine"): a query takes the
 * time of its statements on one of `cores`, and then it reads pages one after another. A page that is not in
 * the pool (sim/devices/page_pool.h) comes from the drives, which give `page_mops` together and one after
 * `page_read_ns`. The pages of a key lie anywhere in the data, so that what popular keys leave for the pool
 * depends on what the cache misses.
 *
 * Not modelled: locks, pages that are written, upper levels of indexes, which are taken to be in the pool,
 * and rows of several keys that share a page more often than by chance. */
#ifndef KVC_SIM_DEVICES_DATABASE_H
#define KVC_SIM_DEVICES_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/devices/node.h"

/** How long queries of one kind take. */
enum kvc_database_times {
    KVC_DATABASE_EXPONENTIAL, /**< "exponential": some take much longer than others. */
    KVC_DATABASE_FIXED,       /**< "fixed": all take the same time. */
};

/** Parameters of a database. */
struct kvc_database {
    char name[KVC_TEXT_MAX]; /**< Name of the product and its load, for people. */
    uint64_t queries;        /**< Queries that it works on at a time. */
    double read_ns;          /**< Mean time of a query, without waiting and `latency_ns`. */
    double write_ns;         /**< Mean time of an update likewise; below 0: as that of a query. */
    double latency_ns;       /**< Way to the database and back. */
    int times;               /**< enum kvc_database_times. */
    /* Of the machine. */
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

/** Finds the database behind the node. Returns NULL if it has none. */
static inline const struct kvc_database *kvc_database_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_database_kind);
}

/** Returns whether the time of a query or an update follows from the machine. */
static inline bool kvc_database_on_machine(const struct kvc_database *database, bool writes)
{
    return database->read_ns < 0 && !(writes && database->write_ns >= 0);
}

/** Returns the mean time of a query or an update that does not follow from the machine, without waiting and
 * way [ns]. */
static inline double kvc_database_ns(const struct kvc_database *database, bool writes)
{
    return writes && database->write_ns >= 0 ? database->write_ns : database->read_ns;
}

/** Returns the number of pages of all data, at least 1. */
uint32_t kvc_database_data_pages(const struct kvc_database *database);

/** Returns the number of pages of the pool, at least 1. */
uint32_t kvc_database_pool_pages(const struct kvc_database *database);

/** Returns the memory that the simulation of the pool needs [bytes]. */
double kvc_database_memory_bytes(const struct kvc_database *database);

/** What a query or an update takes on average. */
struct kvc_database_load {
    double time_ns; /**< Time without waiting and way [ns]. */
    double busy_ns; /**< Time for which it keeps the busiest part busy: queries, cores or drives [ns]. */
};

/** Returns the mean load of a query or an update, in closed form. `keys` are asked for; what the cache misses
 * is taken to be spread evenly over them. */
struct kvc_database_load kvc_database_load_of(const struct kvc_database *database, bool writes, double keys);

/** Makes the database faster by a factor, for a question of what would be if. */
void kvc_database_speed_up(struct kvc_database *database, double factor);

#endif

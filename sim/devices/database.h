/** @file
 * A database behind a cache: the slow place where all data are, which applications ask when the cache misses
 * and which they update.
 *
 * It works on a limited number of queries at a time; others wait in the order of their arrival. Latency
 * therefore rises with load, and the capacity is `queries` divided by the time of a query. */
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
};

/** The descriptor of a database. A node has one only if its scenario names it. */
extern const struct kvc_device_kind kvc_database_kind;

/** Finds the database behind the node. Returns NULL if it has none. */
static inline const struct kvc_database *kvc_database_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_database_kind);
}

/** Returns the mean time of a query or an update, without waiting and way [ns]. */
static inline double kvc_database_ns(const struct kvc_database *database, bool writes)
{
    return writes && database->write_ns >= 0 ? database->write_ns : database->read_ns;
}

/** Makes the database faster by a factor, for a question of what would be if. */
void kvc_database_speed_up(struct kvc_database *database, double factor);

#endif

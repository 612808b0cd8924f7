/** @file
 * Ids of the keys of several tenants (sim/workload/tenants.h), ranked by their share of all requests.
 *
 * The keys of each tenant are cut into blocks of nearly equal popularity
 * (sim/workload/keys/zipf_sums.h), and the blocks of all tenants follow each other in descending
 * order of popularity. So a lower id means a more popular key, except within 1/64 of a rank. */
#ifndef KVC_SIM_WORKLOAD_KEYS_TENANT_KEYS_H
#define KVC_SIM_WORKLOAD_KEYS_TENANT_KEYS_H

#include <stdint.h>

#include "sim/base/text/option.h"

enum { KVC_TENANTS_MAX = 8 /**< Tenants of a store. */ };

/** A tenant of a store: users with keys of their own (sim/workload/tenants.h). */
struct kvc_tenant {
    char name[KVC_TEXT_MAX]; /**< Name of the tenant, unique. */
    double rate_mops; /**< Rate of its requests [million/s]; only proportions count if the load has a rate. */
    uint64_t keys;    /**< Distinct keys. */
    uint64_t key_bytes;   /**< Size of its keys [bytes]. */
    uint64_t value_bytes; /**< Size of its values [bytes]. */
    double get_frac;      /**< Share of GET requests; the others are SETs or DELETEs. */
    double delete_frac;   /**< Share of DELETE requests. */
    double zipf_s;        /**< Exponent of the popularity of its keys; 0: all are equally popular. */
    double p99_ns;        /**< Largest 99th percentile of its latency that is good enough [ns]; 0: any. */
};

/** Returns a tenant's share of all requests, 0 to 1. */
double kvc_tenants_share(const struct kvc_tenant *tenants, uint32_t count, uint32_t number);

/** Returns the share of an operation (enum kvc_op) among a tenant's requests, 0 to 1. */
double kvc_tenants_op_frac(const struct kvc_tenant *tenant, int op);

/** Returns a number from 0 to 1 by which to tell apart the popularities of the keys of different tenants. */
double kvc_tenants_mark(const struct kvc_tenant *tenants, uint32_t count);

/** Keys of one tenant with nearly equal popularity. */
struct kvc_tenant_block {
    uint64_t first;      /**< Id of the first key. */
    uint64_t first_rank; /**< Rank of this key among those of the tenant, from 0. */
    uint64_t keys;       /**< Number of keys. */
    double mass;         /**< Their share of all requests, 0 to 1. */
    uint32_t tenant;     /**< The tenant. */
};

/** The ids of a workload's keys. */
struct kvc_tenant_keys {
    uint32_t count;                     /**< Used entries of `block`. */
    uint32_t room;                      /**< Allocated entries of `block`. */
    struct kvc_tenant_block *block;     /**< The blocks in ascending order of ids. */
    uint32_t of_count[KVC_TENANTS_MAX]; /**< Blocks of each tenant. */
    uint32_t *of[KVC_TENANTS_MAX];      /**< Numbers of these blocks, in ascending order. */
};

/** Returns the ids of the keys of tenants, at least one. They belong to the calling thread and hold until
 * the thread has asked for those of 256 others. */
const struct kvc_tenant_keys *kvc_tenant_keys_of(const struct kvc_tenant *tenants, uint32_t count);

/** Returns a copy, which the caller frees with kvc_tenant_keys_free(). Ends the program if memory is short.
 */
struct kvc_tenant_keys *kvc_tenant_keys_copy(const struct kvc_tenant_keys *keys);

/** Frees a copy. NULL is allowed. */
void kvc_tenant_keys_free(struct kvc_tenant_keys *keys);

/** Turns ranks among the keys of a tenant into ids, in place. */
void kvc_tenant_keys_to_ids(const struct kvc_tenant_keys *keys, uint32_t tenant, uint64_t *rank,
                            uint32_t count);

/** Returns the block of a key. */
const struct kvc_tenant_block *kvc_tenant_keys_block(const struct kvc_tenant_keys *keys, uint64_t key_id);

/** Returns the share of all requests that a key receives, that of the mean key of its block. */
static inline double kvc_tenant_keys_popularity(const struct kvc_tenant_keys *keys, uint64_t key_id)
{
    const struct kvc_tenant_block *block = kvc_tenant_keys_block(keys, key_id);
    return block->mass / (double)block->keys;
}

#endif

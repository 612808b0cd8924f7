/** @file
 * Divides the keys of a workload into the parts of a cluster's nodes (sim/workload/keys/key_part.h). */
#ifndef KVC_SIM_WORKLOAD_KEYS_KEY_PARTS_H
#define KVC_SIM_WORKLOAD_KEYS_KEY_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/workload/keys/key_part.h"
#include "sim/workload/workload.h"

/** Parameters of the parts of a cluster. */
struct kvc_key_parts_params {
    const struct kvc_workload
        *workload;          /**< The load of all nodes, without part, actions, phases or trace. */
    uint64_t hash_seed;     /**< Seed of kvc_hash and of the ring. */
    uint32_t nodes;         /**< Number of all nodes, including later ones; at most 65535. */
    uint32_t epochs;        /**< 1 to KVC_KEY_EPOCHS_MAX. */
    const double *from_ns;  /**< When each epoch begins [ns]. */
    const uint32_t *points; /**< Points of node i in epoch e: entry e * nodes + i. */
    const bool *dead;       /**< Whether node i is dead in epoch e: entry e * nodes + i. */
};

/** The parts of all nodes. */
struct kvc_key_parts {
    uint32_t nodes;                        /**< Number of parts. */
    struct kvc_key_part *part;             /**< Indexed by node. */
    uint32_t *key;                         /**< The keys of all parts. */
    uint64_t *owned;                       /**< Epochs of the keys; NULL: there is one. */
    double moved_frac[KVC_KEY_EPOCHS_MAX]; /**< Share of the keys whose node changed when the epoch began. */
};

/** Returns the memory of the parts of a workload with `keys` keys [bytes]. With several epochs, a key needs
 * memory for every node that owns it at some time; this assumes two nodes. */
double kvc_key_parts_bytes(uint64_t keys, uint32_t epochs);

/** Returns the memory that kvc_key_parts_create takes before it frees its notes [bytes]. */
double kvc_key_parts_create_bytes(uint64_t keys, uint32_t epochs);

/** Computes all parts in passes over the keys. Returns NULL and fills `diag` if memory is short. Shares
 * are exact to about 1e-7 of themselves. */
struct kvc_key_parts *kvc_key_parts_create(const struct kvc_key_parts_params *params, struct kvc_diag *diag);

/** Frees the parts. NULL is allowed. */
void kvc_key_parts_free(struct kvc_key_parts *parts);

#endif

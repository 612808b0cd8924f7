/** @file
 * Chooses stand-ins for the keys that a sample lacks (sampling.h).
 *
 * In a store that simulates every request, a request for a key outside the sample takes the path of its
 * stand-in key. For a hot key, this is its representative. For any other key, it is the sampled key of the
 * same shard whose popularity is nearest. */
#ifndef KVC_SIM_WORKLOAD_KEYS_ALIKE_H
#define KVC_SIM_WORKLOAD_KEYS_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/workload/keys/sampling.h"
#include "sim/workload/source/source.h"

/** The stand-ins of a workload's keys. */
struct kvc_alike {
    struct kvc_sampling sampling; /**< The sample. */
    uint64_t strata;              /**< Whole strata of the keys. */
    uint16_t *stratum_shard;      /**< Shard of the key of each stratum; NULL: there is one shard. */
    uint64_t *representative;     /**< Representative of each hot key; NULL: there are none. */
    bool *present;                /**< Whether each hot key is stored. The owner keeps this up to date. */
    struct kvc_batch *stand_in;   /**< One row: the stand-in that was looked up last. */
};

/** Finds the stand-ins for the keys of a source. struct kvc_sampling_kinds explains `choice` and `kind`;
 * representatives are preloaded keys, if there are any. Returns KVC_ERR_RUNTIME if memory is short;
 * kvc_alike_close() is allowed then. */
enum kvc_status kvc_alike_open(struct kvc_alike *alike, const struct kvc_sampling *sampling,
                               const struct kvc_source_params *source, enum kvc_sampling_choice choice,
                               uint32_t (*kind)(uint32_t key_bytes, uint32_t value_bytes),
                               struct kvc_diag *diag);

/** Frees the memory of the stand-ins, not the struct. */
void kvc_alike_close(struct kvc_alike *alike);

/** Finds the stand-in, in the same shard, of a key that the sample lacks, and stores it in alike->stand_in.
 */
void kvc_alike_find(struct kvc_alike *alike, const struct kvc_source *source, uint32_t shard,
                    uint64_t key_id);

#endif

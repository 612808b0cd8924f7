/* Which keys of a sample stand for the keys that it lacks (store.h). */
#ifndef KVC_MODELS_KVDIRECT_ALIKE_H
#define KVC_MODELS_KVDIRECT_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/workload/sampling.h"
#include "sim/workload/source.h"

struct kvc_kvdirect_alike {
    struct kvc_sampling sampling;
    uint64_t strata;            /* Whole strata of the keys. */
    uint16_t *stratum_shard;    /* Of the key of each stratum; NULL: there is one shard. */
    uint64_t *representative;   /* Of each hot key; NULL: there are none. */
    bool *present;              /* Of each hot key: whether it is there. */
    struct kvc_batch *stand_in; /* One row: the key alike that was looked up last. */
};

/* Opens the keys of a source with so many shards. Returns KVC_ERR_RUNTIME if memory is short. */
enum kvc_status kvc_kvdirect_alike_open(struct kvc_kvdirect_alike *alike, const struct kvc_sampling *sampling,
                                        const struct kvc_source_params *source, struct kvc_diag *diag);
void kvc_kvdirect_alike_close(struct kvc_kvdirect_alike *alike);

/* Looks up the key alike of a key that the sample lacks, in the same shard, and puts it into alike->stand_in.
 */
void kvc_kvdirect_alike_find(struct kvc_kvdirect_alike *alike, const struct kvc_source *source,
                             uint32_t shard, uint64_t key_id);

#endif

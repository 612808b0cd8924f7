#include "sim/workload/keys/alike.h"

#include <stdlib.h>

enum { BLOCK_KEYS = 4096 };

/* Notes the shard of the key of every stratum. */
static bool find_shards(struct kvc_alike *alike, const struct kvc_source *source, struct kvc_batch *batch)
{
    uint64_t rate = alike->sampling.rate;
    alike->stratum_shard = malloc(alike->strata * sizeof(*alike->stratum_shard));
    for (uint64_t first = 0; first < alike->strata && alike->stratum_shard != NULL; first += batch->count) {
        uint64_t left = alike->strata - first, end = first + (left < BLOCK_KEYS ? left : BLOCK_KEYS);
        batch->count = 0;
        kvc_sampling_add_keys(&alike->sampling, source, first * rate, end * rate, batch);
        for (uint32_t i = 0; i < batch->count; i++) {
            alike->stratum_shard[first + i] = (uint16_t)kvc_source_shard(source, batch->hash[i]);
        }
    }
    return alike->stratum_shard != NULL;
}

static bool find_representatives(struct kvc_alike *alike, const struct kvc_source *source,
                                 const struct kvc_workload *workload, struct kvc_sampling_kinds kinds)
{
    uint64_t preloaded = (uint64_t)(workload->preload_frac * (double)workload->keys);
    kinds.keys = preloaded >= alike->sampling.rate ? preloaded : workload->keys;
    kinds.key_stride = kvc_workload_key_stride(workload);
    alike->representative = kvc_sampling_representatives(&alike->sampling, source, &kinds);
    alike->present = calloc(alike->sampling.hot_keys, sizeof(*alike->present));
    for (uint64_t i = 0; i < alike->sampling.hot_keys && alike->present != NULL; i++) {
        alike->present[i] = i < preloaded;
    }
    return alike->present != NULL;
}

enum kvc_status kvc_alike_open(struct kvc_alike *alike, const struct kvc_sampling *sampling,
                               const struct kvc_source_params *params, enum kvc_sampling_choice choice,
                               uint32_t (*kind)(uint32_t key_bytes, uint32_t value_bytes),
                               struct kvc_diag *diag)
{
    uint32_t key_stride = kvc_workload_key_stride(params->workload);
    struct kvc_batch *batch = kvc_batch_create(BLOCK_KEYS, key_stride);
    struct kvc_source *source = kvc_source_create(params, diag);
    *alike = (struct kvc_alike){.sampling = *sampling,
                                .strata = params->workload->keys / sampling->rate,
                                .stand_in = kvc_batch_create(1, key_stride)};
    bool ok = source != NULL;
    if (ok && params->nodes * params->sockets > 1) {
        ok = find_shards(alike, source, batch);
    }
    if (ok && sampling->hot_keys > 0) {
        ok = find_representatives(alike, source, params->workload,
                                  (struct kvc_sampling_kinds){.choice = choice, .kind = kind});
    }
    kvc_source_free(source);
    kvc_batch_free(batch);
    return ok ? KVC_OK
              : kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                              "no memory for the keys that stand for others in a sample");
}

void kvc_alike_close(struct kvc_alike *alike)
{
    free(alike->stratum_shard);
    free(alike->representative);
    free(alike->present);
    kvc_batch_free(alike->stand_in);
}

/* Returns the stratum nearest to a key's among the strata whose sampled key belongs to the shard. */
static uint64_t stratum_of(const struct kvc_alike *alike, uint32_t shard, uint64_t key_id)
{
    uint64_t stratum = key_id / alike->sampling.rate, last = alike->strata - 1;
    stratum = stratum < last ? stratum : last;
    for (uint64_t d = 0; alike->stratum_shard != NULL && d <= last; d++) {
        if (stratum + d <= last && alike->stratum_shard[stratum + d] == shard) {
            return stratum + d;
        }
        if (stratum >= d && alike->stratum_shard[stratum - d] == shard) {
            return stratum - d;
        }
    }
    return stratum;
}

void kvc_alike_find(struct kvc_alike *alike, const struct kvc_source *source, uint32_t shard, uint64_t key_id)
{
    uint64_t found = key_id < alike->sampling.hot_keys
                         ? alike->representative[key_id]
                         : kvc_sampling_key(stratum_of(alike, shard, key_id), alike->sampling.rate);
    alike->stand_in->count = 0;
    kvc_source_keys(source, found, 1, alike->stand_in);
}

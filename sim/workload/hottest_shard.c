#include "sim/workload/hottest_shard.h"

#include <math.h>
#include <stdlib.h>

#include "sim/workload/zipf.h"

enum { POPULAR_KEYS = 4096 };

double kvc_hottest_shard_frac(const struct kvc_source_params *params)
{
    const struct kvc_workload *workload = params->workload;
    uint32_t shards = params->nodes * params->sockets;
    if (workload->clients_for == KVC_CLIENTS_FOR_SOCKET || workload->popularity != KVC_POPULARITY_ZIPF ||
        shards == 1 || workload->arrival == KVC_ARRIVAL_TRACE) {
        return 1.0 / shards;
    }
    struct kvc_zipf *zipf = kvc_zipf_create(workload->keys, workload->zipf_s);
    struct kvc_source *source = kvc_source_create(params, NULL);
    struct kvc_batch *batch = kvc_batch_create(POPULAR_KEYS, kvc_workload_key_stride(workload));
    double *shard_mass = calloc(shards, sizeof(*shard_mass)), hottest = 0;
    uint32_t popular = workload->keys < POPULAR_KEYS ? (uint32_t)workload->keys : POPULAR_KEYS;
    if (zipf == NULL || source == NULL || batch == NULL || shard_mass == NULL) {
        kvc_out_of_memory("the places of %u keys", popular);
    }
    kvc_source_keys(source, 0, popular, batch);
    for (uint32_t i = 0; i < popular; i++) {
        shard_mass[kvc_source_shard(source, batch->hash[i])] +=
            kvc_zipf_mass(zipf, i + 1) - kvc_zipf_mass(zipf, i);
    }
    for (uint32_t i = 0; i < shards; i++) {
        hottest = fmax(hottest, shard_mass[i]);
    }
    double share = hottest + (1 - kvc_zipf_mass(zipf, popular)) / shards;
    free(shard_mass);
    kvc_batch_free(batch);
    kvc_source_free(source);
    kvc_zipf_free(zipf);
    return share;
}

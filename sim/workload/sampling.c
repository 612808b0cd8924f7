#include "sim/workload/sampling.h"

enum { HOT_STRATA = 64 };

uint64_t kvc_sampling_hot_keys(uint64_t keys, uint64_t rate)
{
    if (rate <= 1) {
        return 0;
    }
    uint64_t hot = HOT_STRATA * rate, half = keys / 2 / rate * rate;
    return hot < half ? hot : half;
}

void kvc_sampling_add_keys(const struct kvc_sampling *sampling, const struct kvc_source *source,
                           uint64_t first, uint64_t end, struct kvc_batch *batch)
{
    uint64_t rate = sampling->rate, whole = rate == 1 || end < sampling->hot_keys ? end : sampling->hot_keys;
    if (first < whole) {
        kvc_source_keys(source, first, (uint32_t)(whole - first), batch);
        first = whole;
    }
    for (uint64_t stratum = first / rate; stratum * rate < end; stratum++) {
        uint64_t key_id = kvc_sampling_key(stratum, rate);
        if (key_id >= first && key_id < end) {
            kvc_source_keys(source, key_id, 1, batch);
        }
    }
}

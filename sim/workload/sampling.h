/** @file
 * A sample of the keys, on which a run with functional = "sampled" keeps its real data structures small.
 *
 * Of every `rate` consecutive key ids, the sample contains one, chosen by a hash. The method follows SHARDS
 * (Waldspurger et al., FAST 2015), but is stratified: key ids are ranks of popularity, so the sample contains
 * keys of all popularities in proportion. The most popular keys each receive a visible share of all requests,
 * so leaving one out would distort the results. A sample may therefore contain all of these hot keys. */
#ifndef KVC_SIM_WORKLOAD_SAMPLING_H
#define KVC_SIM_WORKLOAD_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/rng.h"
#include "sim/workload/source.h"

/** A sample of the keys. */
struct kvc_sampling {
    uint64_t rate;     /**< One of `rate` keys is kept, a power of two; 1: all keys, 0: none. */
    uint64_t hot_keys; /**< All keys with a lower id are kept, a multiple of `rate`. */
};

/** Returns how many of `keys` keys are hot at a rate: 64 strata, but at most half of the keys. With a Zipf
 * exponent of 1, the next key in the sample has then about 1/64 of the popularity of the most popular key.
 * Returns 0 if the rate is 0 or 1. */
uint64_t kvc_sampling_hot_keys(uint64_t keys, uint64_t rate);

/** Returns the key that is kept of the ids from stratum * rate to (stratum + 1) * rate - 1. `rate` is a power
 * of two. */
static inline uint64_t kvc_sampling_key(uint64_t stratum, uint64_t rate)
{
    return stratum * rate + (kvc_mix64(stratum) & (rate - 1));
}

/** Returns whether the sample contains a key. The rate is not 0. */
static inline bool kvc_sampling_keeps_key(const struct kvc_sampling *sampling, uint64_t key_id)
{
    uint64_t rate = sampling->rate;
    return rate == 1 || key_id < sampling->hot_keys ||
           (kvc_mix64(key_id / rate) & (rate - 1)) == (key_id & (rate - 1));
}

/** Returns whether a request for a key belongs to a sample of the requests, in which every request stands for
 * `rate` of them. Of the requests for a hot key, one in `rate` does, drawn from `rng`; of the other keys, all
 * requests for a key in the sample. The rate is not 0. */
static inline bool kvc_sampling_keeps_request(const struct kvc_sampling *sampling, uint64_t key_id,
                                              struct kvc_rng *rng)
{
    uint64_t rate = sampling->rate;
    if (rate > 1 && key_id < sampling->hot_keys) {
        return (kvc_rng_u64(rng) & (rate - 1)) == 0;
    }
    return kvc_sampling_keeps_key(sampling, key_id);
}

/** Appends to `batch` those of the keys `first` to end - 1 that the sample contains, in ascending order. The
 * batch must have room. The rate is not 0. */
void kvc_sampling_add_keys(const struct kvc_sampling *sampling, const struct kvc_source *source,
                           uint64_t first, uint64_t end, struct kvc_batch *batch);

#endif

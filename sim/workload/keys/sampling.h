/** @file
 * A sample of the keys, on which a run with functional = "sampled" keeps its real data structures small.
 *
 * The sample contains one of every `rate` consecutive key ids (a stratum), chosen by a hash. The method
 * follows SHARDS (Waldspurger et al., FAST 2015), but is stratified: key ids are ranks of popularity, so the
 * sample contains keys of all popularities in proportion, and tables that are smaller by the rate have the
 * load factor and the eviction rate of the whole ones.
 *
 * Each of the most popular keys receives a visible share of all requests, so a sample that happened to
 * contain one of them, or none, would see too many or too few requests. These hot keys have representatives
 * in the sample (kvc_sampling_representatives()), which stand for all hot keys equally. */
#ifndef KVC_SIM_WORKLOAD_KEYS_SAMPLING_H
#define KVC_SIM_WORKLOAD_KEYS_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/rng.h"
#include "sim/workload/source/source.h"

/** A sample of the keys. */
struct kvc_sampling {
    uint64_t rate;     /**< One of `rate` keys is kept, a power of two; 1: all keys, 0: none. */
    uint64_t hot_keys; /**< Keys with a lower id are hot, a multiple of `rate`. */
};

/** Returns the sample of a workload's keys at a rate. The keys of the first `hot_strata` strata are hot, but
 * at most half of the keys. The next key in the sample has then about 1/hot_strata of the requests for the
 * most popular stratum. No key is hot if all are equally popular, or if the rate is 0 or 1. */
struct kvc_sampling kvc_sampling_of(const struct kvc_workload *workload, uint64_t rate, uint64_t hot_strata);

/** Returns the sampled key of the ids from stratum * rate to (stratum + 1) * rate - 1. `rate` is a power
 * of two. */
static inline uint64_t kvc_sampling_key(uint64_t stratum, uint64_t rate)
{
    return stratum * rate + (kvc_mix64(stratum) & (rate - 1));
}

/** Returns whether the sample contains a key. The rate is not 0. */
static inline bool kvc_sampling_keeps_key(const struct kvc_sampling *sampling, uint64_t key_id)
{
    uint64_t rate = sampling->rate;
    return rate == 1 || (kvc_mix64(key_id / rate) & (rate - 1)) == (key_id & (rate - 1));
}

/** Returns whether a request for a key belongs to a sample of the requests, in which every request stands for
 * `rate` of them. One in `rate` requests for a hot key, drawn from `rng`, belongs to it and goes to the key's
 * representative. Requests for another key belong to it if the key is in the sample. The rate is not 0. */
static inline bool kvc_sampling_keeps_request(const struct kvc_sampling *sampling, uint64_t key_id,
                                              struct kvc_rng *rng)
{
    if (key_id < sampling->hot_keys) {
        return (kvc_rng_u64(rng) & (sampling->rate - 1)) == 0;
    }
    return kvc_sampling_keeps_key(sampling, key_id);
}

/** Appends the keys among `first` to end - 1 that the sample contains to `batch`, in ascending order. The
 * batch must have room. The rate is not 0. */
void kvc_sampling_add_keys(const struct kvc_sampling *sampling, const struct kvc_source *source,
                           uint64_t first, uint64_t end, struct kvc_batch *batch);

/** Places of the representatives of hot keys. */
enum kvc_sampling_choice {
    /** At the nearest popularity. The first 8 strata count as equally popular: otherwise, the key of the
     * first stratum would have to stand for a third of all requests. */
    KVC_SAMPLING_ALIKE,
    KVC_SAMPLING_SPREAD, /**< Anywhere, so that few hot keys share one. */
};

/** The kinds of keys; only keys of one kind may represent one another. */
struct kvc_sampling_kinds {
    enum kvc_sampling_choice choice; /**< Choice among the keys of the same kind. */
    uint64_t keys;                   /**< Keys with a lower id may be representatives. */
    uint32_t key_stride;             /**< Room for the longest key [bytes], a multiple of 8. */
    /** Returns the kind of a pair by its sizes [bytes]. A representative is of the same kind and shard if the
     * first 65536 strata contain one, otherwise of the same shard. */
    uint32_t (*kind)(uint32_t key_bytes, uint32_t value_bytes);
};

/** Returns the representative of every hot key, a key id of the sample. The caller passes the array to
 * free(). Without hot keys, this is NULL. Exits with status 3 if memory is short. */
uint64_t *kvc_sampling_representatives(const struct kvc_sampling *sampling, const struct kvc_source *source,
                                       const struct kvc_sampling_kinds *kinds);

#endif

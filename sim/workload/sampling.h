/** @file
 * Selects the keys that a sampled run keeps: one of every `rate` consecutive key ids, chosen by a hash.
 *
 * The method follows SHARDS (Waldspurger et al., FAST 2015), but is stratified: key ids are ranks of
 * popularity, so the sample contains keys of all popularities in proportion. */
#ifndef KVC_SIM_WORKLOAD_SAMPLING_H
#define KVC_SIM_WORKLOAD_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/rng.h"

/** Returns the key that is kept of the ids from stratum * rate to (stratum + 1) * rate - 1. `rate` is a power
 * of two. */
static inline uint64_t kvc_sampling_key(uint64_t stratum, uint64_t rate)
{
    return stratum * rate + (kvc_mix64(stratum) & (rate - 1));
}

/** Returns whether the sample contains a key. `rate` is a power of two. */
static inline bool kvc_sampling_keeps(uint64_t key_id, uint64_t rate)
{
    return (kvc_mix64(key_id / rate) & (rate - 1)) == (key_id & (rate - 1));
}

#endif

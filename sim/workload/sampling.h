/* Which keys a sampled run keeps: one of each `rate` consecutive key ids, picked by hashing.
 *
 * After SHARDS (Waldspurger et al., FAST 2015), but stratified: ids are ranks of popularity, so the sample
 * has keys of all popularities in proportion. */
#ifndef KVC_SIM_WORKLOAD_SAMPLING_H
#define KVC_SIM_WORKLOAD_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/rng.h"

/* The key that is kept of [stratum * rate, (stratum + 1) * rate); rate: a power of two. */
static inline uint64_t kvc_sampling_key(uint64_t stratum, uint64_t rate)
{
    return stratum * rate + (kvc_mix64(stratum) & (rate - 1));
}

static inline bool kvc_sampling_keeps(uint64_t key_id, uint64_t rate)
{
    return (kvc_mix64(key_id / rate) & (rate - 1)) == (key_id & (rate - 1));
}

#endif

/** @file
 * How many keys fit into a table whose sets have a fixed number of entries, in closed form.
 *
 * A hash spreads the keys over the sets, so the number of keys of a set is Poisson-distributed, and a full
 * set keeps as many keys as it has entries. The number is exact for many sets. Not modelled: entries that a
 * table shares between sets. */
#ifndef KVC_SIM_WORKLOAD_KEYS_HASHED_SETS_H
#define KVC_SIM_WORKLOAD_KEYS_HASHED_SETS_H

#include "sim/workload/workload.h"

/** Returns how many of `keys` keys `sets` sets of `ways` entries keep. */
double kvc_hashed_sets_held(double keys, double sets, double ways);

/** Returns the share of the requests for keys that such sets hold, if each keeps its most popular keys of the
 * `keys` most popular ones: those for which fewer than `ways` more popular ones are in the same set. */
double kvc_hashed_sets_hit_frac(const struct kvc_workload *workload, double keys, double sets, double ways);

/** Returns the smallest power of two of sets that keep all keys but one in a thousand. */
double kvc_hashed_sets_for(double keys, double ways);

#endif

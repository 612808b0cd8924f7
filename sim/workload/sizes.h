/* Sizes of keys and values: a fixed function of the key's id, so that a key has one size in all requests.
 *
 * Facebook's pools are those of Atikoglu et al., "Workload analysis of a large-scale key-value store",
 * SIGMETRICS 2012. Where that has no formula, the simplest distribution with what is known is used:
 *
 * - etc: the paper's model. Key sizes are generalised extreme value (mu 30.7984, sigma 8.20449, xi 0.078688).
 *   Value sizes 0..14 have a table of probabilities; from 15 on, the excess over 15 is generalised Pareto
 *   (theta 0, sigma 214.476, xi 0.348238). The table, and theta read as "from 15 bytes", are as in the load
 *   generator mutilate. (Its gaps between requests, generalised Pareto 0, 16.0292, 0.154971 in us, belong to
 *   one server of 2012; no arrival process here uses them.)
 * - usr: keys of 16 or 21 bytes, values of 2. How many keys have which size is not given; half each here.
 * - app: 31 and 270 bytes, the typical ones (so quoted by MemcachedGPU, SoCC 2015, too); fixed here.
 * - var, sys: no formula and no typical size. Here: ETC's model restricted to values below 500 bytes, an
 *   assumption of this program.
 *
 * Continuous sizes are rounded down. Keys are clipped to 4..250 bytes (4 so that 2^32 ids stay distinct; a
 * shorter ETC key has probability 1e-19), values to KVC_VALUE_BYTES_MAX. */
#ifndef KVC_SIM_WORKLOAD_SIZES_H
#define KVC_SIM_WORKLOAD_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/workload/workload.h"

enum { KVC_VALUE_BYTES_MAX = (1 << 20) - 4096 };

struct kvc_sizes;

void kvc_sizes_free(struct kvc_sizes *sizes); /* NULL is allowed */

/* NULL when memory is short. */
struct kvc_sizes *kvc_sizes_create(const struct kvc_workload *workload);

/* Whether every key and every value has the same size. */
bool kvc_sizes_fixed(const struct kvc_sizes *sizes);

/* Sizes of `count` keys. */
void kvc_sizes_fill(const struct kvc_sizes *sizes, const uint64_t *key_id, size_t count, uint8_t *key_bytes,
                    uint32_t *value_bytes);

/* Largest sizes and exact means of a pool (a set other than KVC_SIZES_FIXED). */
uint32_t kvc_size_set_key_max(enum kvc_size_set set);
uint32_t kvc_size_set_value_max(enum kvc_size_set set);
double kvc_size_set_key_mean(enum kvc_size_set set);
double kvc_size_set_value_mean(enum kvc_size_set set);

#endif

/* Sizes of keys and values: a fixed function of the key's id, so that a key has the same size in every request.
 *
 * Facebook's pools follow Atikoglu et al., "Workload analysis of a large-scale key-value store", SIGMETRICS 2012:
 *
 *   etc  Sec. 5: key sizes are generalised extreme value (mu 30.7984, sigma 8.20449, xi 0.078688); value sizes
 *        0..14 have a table of probabilities, from 15 on the excess over 15 is generalised Pareto (theta 0,
 *        sigma 214.476, xi 0.348238). The table's 15 numbers and the reading of theta = 0 as "from 15 bytes" are
 *        those of the load generator mutilate. (Its gaps between requests are generalised Pareto too: 0, 16.0292,
 *        0.154971, in us; they belong to one server of 2012 and no arrival process here uses them.)
 *   usr  Sec. 3.2: keys have 16 or 21 bytes, values 2. How many keys have which size is not in the text; half each
 *        here.
 *   app  Sec. 3.2: over 90 % of the keys have 31 bytes and values of about 270 bytes are the most frequent; fixed
 *        at 31 and 270 here.
 *   var, sys  The text gives no sizes or formula, only that except in ETC 90 % of the space goes to values below
 *        500 bytes. Here: ETC's model restricted to values below 500 bytes. That is an assumption of this
 *        program, not the paper's.
 *
 * Continuous sizes are rounded down. Keys are clipped to 4..250 bytes (4 so that 2^32 ids stay distinct; a shorter
 * ETC key has probability 1e-19), values to KVC_VALUE_BYTES_MAX. */
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

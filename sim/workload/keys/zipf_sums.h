/** @file
 * Sums of k^-s over the most popular ranks of a Zipf distribution, whatever its number of ranks.
 *
 * The ranks are cut into blocks whose width is 1/64 of their first rank, rounded down, and at least 1. A
 * thread keeps the sums up to the ends of the blocks for the exponents that it used last, because closed
 * forms iterate over the blocks of one exponent again and again, with many numbers of keys. */
#ifndef KVC_SIM_WORKLOAD_KEYS_ZIPF_SUMS_H
#define KVC_SIM_WORKLOAD_KEYS_ZIPF_SUMS_H

#include <stdint.h>

/** The sums of an exponent. */
struct kvc_zipf_sums;

/** Returns the sums of exponent `s` > 0, which belong to this thread until kvc_zipf_sums_close(). */
struct kvc_zipf_sums *kvc_zipf_sums_open(double s);

/** Gives the sums back. NULL is allowed. */
void kvc_zipf_sums_close(struct kvc_zipf_sums *sums);

/** Returns the sum of k^-s for k = 1 to `last`, with a relative error below 1e-9. */
double kvc_zipf_sums_to(const struct kvc_zipf_sums *sums, uint64_t last);

/** Returns the same sum up to the end of a block, counted from 0. Blocks up to rank 2^32 are known. */
double kvc_zipf_sums_to_block(struct kvc_zipf_sums *sums, uint32_t block);

/** Returns the number of ranks of the block whose first rank is `first`, counted from 0. */
uint64_t kvc_zipf_sums_width(uint64_t first);

#endif

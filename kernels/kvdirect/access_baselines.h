/** @file
 * Memory accesses per operation of the two hash tables that KV-Direct is compared with. Internal to the
 * benchmark of its table.
 *
 * KV-Direct (SOSP 2017), fig. 11 and sec. 5.1.1, compares with MemC3's bucket cuckoo hashing and FaRM's
 * chained associative hopscotch hashing. Keys are inline and compared in parallel, values are in slabs. Here
 * a slot is an 8-byte key and a 4-byte location, a line of 64 bytes has 4 slots, and a slab has exactly the
 * size of its value. An access is a line of the index or a value, read or written, which is how KV-Direct's
 * own table counts them.
 *
 * The index takes all memory that the values leave. MemC3's index is a power of two in size, so the index has
 * the same size at all utilizations, and so does FaRM's; the size of the whole memory and the number of pairs
 * follow from it. FaRM has the fewest overflow blocks, in 64ths of the index, that hold the pairs. */
#ifndef KVC_KERNELS_KVDIRECT_ACCESS_BASELINES_H
#define KVC_KERNELS_KVDIRECT_ACCESS_BASELINES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Prints one row for each table and each utilization.
 *
 * GETs and overwriting PUTs go to random keys; an overwriting PUT stores its value in another slab and thus
 * writes the location. New PUTs are the last 2 percent before the utilization is reached; the one with the
 * most accesses has a column of its own.
 *
 * @param index_bytes Size of the index, a power of two [bytes].
 * @param pair_bytes  Size of a pair, more than 8 [bytes].
 * @param first       The lowest utilization.
 * @param steps       Number of utilizations, which are 0.05 apart.
 * @return False if memory ran out. */
bool kvc_access_baselines(uint64_t index_bytes, uint32_t pair_bytes, double first, int steps);

/** Prints the head of these rows. */
void kvc_access_baselines_head(void);

#ifdef __cplusplus
}
#endif

#endif

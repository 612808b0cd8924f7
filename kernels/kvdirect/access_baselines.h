/* Memory accesses per operation of the hash tables that KV-Direct is compared with.
 *
 * KV-Direct (SOSP 2017), fig. 11 and sec. 5.1.1: MemC3's bucket cuckoo hashing and FaRM's chained associative
 * hopscotch hashing, keys inline and compared in parallel, values in slabs. Here a slot is an 8-byte key and
 * a 4-byte location, 4 of them in a line of 64 bytes, and a value's slab is of exactly its size. An access is
 * a line of the index or a value, read or written, as KV-Direct's own table counts them.
 *
 * All memory that the values leave is index. A power of two, MemC3's index is the same for all utilizations,
 * and so is FaRM's; the whole memory and the number of pairs follow from it. FaRM's overflow blocks are the
 * fewest, in 64ths of the index, that hold the pairs. */
#ifndef KVC_KERNELS_KVDIRECT_ACCESS_BASELINES_H
#define KVC_KERNELS_KVDIRECT_ACCESS_BASELINES_H

#include <stdbool.h>
#include <stdint.h>

/* Prints a row for each of `steps` utilizations from `first` on, 0.05 apart, and each table. A GET and a PUT
 * that overwrites go to random keys; such a PUT stores its value in another slab and thus writes the
 * location. New PUTs are the last 2 %; the one with most accesses stands apart. Pairs are of more than 8
 * bytes, `index_bytes` is a power of two. false: out of memory. */
bool kvc_access_baselines(uint64_t index_bytes, uint32_t pair_bytes, double first, int steps);

/* Prints the head of these rows. */
void kvc_access_baselines_head(void);

#endif

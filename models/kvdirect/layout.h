/* Layout of KV-Direct's memory: the accesses of an operation by hash index fraction and inline threshold, and
 * the best choice of both.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.1 and 5.1.1, fig. 6, 9 and 10. A larger index has shorter chains
 * but leaves less memory for slabs and chained buckets. The largest index that leaves room for all pairs
 * needs the fewest accesses. */
#ifndef KVC_MODELS_KVDIRECT_LAYOUT_H
#define KVC_MODELS_KVDIRECT_LAYOUT_H

#include <stdint.h>

/* Memory accesses of an operation on a key that exists. A PUT of the same size also writes one bucket or
 * slab.
 */
struct kvc_kvdirect_accesses {
    double bucket_reads, slab_reads; /* Accesses of an operation. */
    double pairs_per_bucket;         /* Mean over the index. */
    double slab_lines, used_lines;   /* Lines of a pair's slab, and those that the pair fills; 0: inline. */
};

/* Returns the reads of an operation. */
static inline double kvc_kvdirect_reads(const struct kvc_kvdirect_accesses *accesses)
{
    return accesses->bucket_reads + accesses->slab_reads;
}

/* Returns the accesses for pairs of `pair_bytes` that are spread at random over the buckets of a hash
 * index. */
struct kvc_kvdirect_accesses kvc_kvdirect_accesses_of(double keys, double buckets, uint32_t inline_bytes,
                                                      uint32_t pair_bytes);

/* Returns the mean fraction of the memory that index, chained buckets and slabs need. They do not fit if it
 * exceeds 1. */
double kvc_kvdirect_needed_frac(double keys, double bytes, double index_frac, uint32_t inline_bytes,
                                uint32_t pair_bytes);

/* Returns the largest index fraction that leaves room for everything else, or 0 if there is none. */
double kvc_kvdirect_best_index(double keys, double bytes, uint32_t inline_bytes, uint32_t pair_bytes);

struct kvc_kvdirect_layout {
    double index_frac;
    uint32_t inline_bytes;
};

/* Returns the layout with the fewest reads for `keys` pairs in `bytes` of memory. Only automatic values are
 * chosen: an index_frac of 0 or less, and inline_bytes = KVC_KVDIRECT_INLINE_AUTO. If the pairs do not fit,
 * the index takes half of the memory. */
struct kvc_kvdirect_layout kvc_kvdirect_best_layout(double keys, double bytes, uint32_t pair_bytes,
                                                    double index_frac, uint32_t inline_bytes);

#endif

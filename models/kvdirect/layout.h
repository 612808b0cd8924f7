/* How KV-Direct's hash table uses its memory: accesses of an operation by utilization, hash index ratio and
 * inline threshold, and the best choice of both.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.1 and 5.1.1, fig. 6, 9 and 10: a larger index has shorter chains,
 * and less memory for slabs and chained buckets; the largest one that holds all pairs needs the fewest
 * accesses. */
#ifndef KVC_MODELS_KVDIRECT_LAYOUT_H
#define KVC_MODELS_KVDIRECT_LAYOUT_H

#include <stdint.h>

/* Memory accesses of an operation on a key that exists; a PUT of the same size writes one bucket or slab
 * more. */
struct kvc_kvdirect_accesses {
    double bucket_reads, slab_reads;
    double pairs_per_bucket;       /* of the index, mean */
    double slab_lines, used_lines; /* of a pair's slab, and of it those that the pair fills; 0: inline */
};

static inline double kvc_kvdirect_reads(const struct kvc_kvdirect_accesses *accesses)
{
    return accesses->bucket_reads + accesses->slab_reads;
}

/* Pairs of `pair_bytes`, spread over `buckets` of a hash index at random. */
struct kvc_kvdirect_accesses kvc_kvdirect_accesses_of(double keys, double buckets, uint32_t inline_bytes,
                                                      uint32_t pair_bytes);

/* Of memory for `bytes`, what the index, chained buckets and slabs need, mean; above 1 they do not fit. */
double kvc_kvdirect_needed_frac(double keys, double bytes, double index_frac, uint32_t inline_bytes,
                                uint32_t pair_bytes);

/* The largest index that leaves room for everything else; 0: there is none. */
double kvc_kvdirect_best_index(double keys, double bytes, uint32_t inline_bytes, uint32_t pair_bytes);

struct kvc_kvdirect_layout {
    double index_frac;
    uint32_t inline_bytes;
};

/* The layout with the fewest reads for `keys` pairs in `bytes` of memory. Only what is automatic is chosen:
 * an index_frac of 0 or less, inline_bytes = KVC_KVDIRECT_INLINE_AUTO. If the pairs do not fit, the index
 * takes half of the memory. */
struct kvc_kvdirect_layout kvc_kvdirect_best_layout(double keys, double bytes, uint32_t pair_bytes,
                                                    double index_frac, uint32_t inline_bytes);

#endif

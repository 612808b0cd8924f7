/* The GPU twin of the cuckoo index.
 *
 * The same table, bucket for bucket, in device memory; the same answers. A processing unit of `threads`
 * threads serves one job; each thread reads cells / threads cells of a bucket at once. Inserts first try to
 * replace or to find an empty cell without locks; what met two full buckets then makes room under locks, one
 * displacement at a time, so that no element is ever in flight. Of equal elements in one batch one wins, and
 * which is not defined; the locations of the others are reported. With partitions, large insert batches are
 * first grouped by partition, so that its buckets stay in the second-level cache while it is filled.
 *
 * An element that finds no place is itself the one dropped, not the last one of a chain as on a CPU; no
 * random seed.
 *
 * Calls of one index run one after the other. The functions of index.h return when the answer is there; those
 * below return at once. `stats` may be NULL on this twin: it counts nothing then. If the device fails,
 * kvc_cuda_stream_wait says so and outputs are KVC_LOCATION_NONE or not written. */
#ifndef KVC_KERNELS_MEGAKV_CUCKOO_CUDA_H
#define KVC_KERNELS_MEGAKV_CUCKOO_CUDA_H

#include "kernels/cuda.h"
#include "kernels/megakv/cuckoo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NULL with errno EINVAL (params), ENODEV or ENOMEM. */
struct kvc_index *kvc_megakv_cuckoo_cuda_create(const struct kvc_megakv_cuckoo_params *params);

/* Arrays in device or pinned host memory, to stay as they are until the stream has been waited for. */
void kvc_megakv_cuckoo_cuda_search_async(struct kvc_index *index, struct kvc_cuda_stream *stream,
                                         const uint64_t *hash, uint32_t count, uint32_t *location);

/* Insert jobs that go to a partition's own block of threads, as published (its Fig. 7), rather than to as
 * many as there is work for: on for true. */
void kvc_megakv_cuckoo_cuda_exclusive_blocks(struct kvc_index *index, bool exclusive);

/* Copies a CPU table's or this table's words out and in, for comparing twins; `bytes` is the table size. */
bool kvc_megakv_cuckoo_cuda_download(const struct kvc_index *index, void *words);

extern const struct kvc_index_kind kvc_megakv_cuckoo_cuda_kind;             /* the published geometry */
extern const struct kvc_index_kind kvc_megakv_cuckoo_interleaved_cuda_kind; /* buckets of 4 cells */

#ifdef __cplusplus
}
#endif

#endif

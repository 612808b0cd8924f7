/** @file
 * The cuckoo index in GPU memory, the twin of cuckoo.h: the same table, bucket for bucket, with the same
 * answers.
 *
 * A processing unit of `threads` threads serves one job; each thread reads slots / threads slots of a bucket
 * at once. An insert first tries, without locks, to replace an equal signature or to fill an empty slot. A
 * job that meets two full buckets then makes room under locks, one displacement at a time, so that no element
 * is ever out of the table. If a batch contains equal elements, one of them wins, in no defined order, and
 * the locations of the others are reported. With partitions, large insert batches are first grouped by
 * partition, so that the buckets of a partition stay in the second-level cache while they are filled.
 *
 * The twins differ in two ways: an element that finds no place is itself dropped here, whereas a CPU drops
 * the last element of the chain; and there is no random seed.
 *
 * Calls of one index run one after another. The functions of index.h return when the answer is there; those
 * below return at once. `stats` may be NULL here; nothing is counted then. If the device fails,
 * kvc_cuda_stream_wait() reports it and outputs are KVC_LOCATION_NONE or not written.
 */
#ifndef KVC_KERNELS_MEGAKV_CUCKOO_CUDA_H
#define KVC_KERNELS_MEGAKV_CUCKOO_CUDA_H

#include "kernels/cuda.h"
#include "kernels/megakv/cuckoo.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Creates an empty table in device memory; NULL with errno EINVAL (params), ENODEV or ENOMEM. */
struct kvc_index *kvc_megakv_cuckoo_cuda_create(const struct kvc_megakv_cuckoo_params *params);

/** Starts a search for `count` hashes in a stream and returns at once.
 *
 * The arrays lie in device or pinned host memory and must stay unchanged until the stream has been waited
 * for.
 */
void kvc_megakv_cuckoo_cuda_search_async(struct kvc_index *index, struct kvc_cuda_stream *stream,
                                         const uint64_t *hash, uint32_t count, uint32_t *location);

/** Selects whether each partition's inserts run in one block of threads of their own, as published (Fig. 7).
 *
 * By default, inserts run in as many blocks as there is work for.
 */
void kvc_megakv_cuckoo_cuda_exclusive_blocks(struct kvc_index *index, bool exclusive);

/** Copies the words of the table, as many bytes as the table has, into host memory, to compare the twins.
 *
 * Returns false if the device fails.
 */
bool kvc_megakv_cuckoo_cuda_download(const struct kvc_index *index, void *words);

/** The table with the published geometry in device memory. */
extern const struct kvc_index_kind kvc_megakv_cuckoo_cuda_kind;

/** The interleaved table with buckets of 4 slots in device memory. */
extern const struct kvc_index_kind kvc_megakv_cuckoo_interleaved_cuda_kind;

#ifdef __cplusplus
}
#endif

#endif

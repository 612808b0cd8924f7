/* The device of the index: the GPU, or a thread of the processor. */
#ifndef KVC_MODELS_MEGAKV_REAL_DEVICE_H
#define KVC_MODELS_MEGAKV_REAL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/megakv/cuckoo.h"
#include "models/shards/store.h"

/* Creates an empty index. Returns NULL if the parameters are wrong or memory is short. */
struct kvc_index *kvc_megakv_real_device_index(bool on_gpu, const struct kvc_megakv_cuckoo_params *params);

/* Moves the preloaded index of the shard to the GPU, entry by entry. Returns KVC_ERR_RUNTIME if there is no
 * GPU, the program was built without CUDA, the GPU's memory is too small, or entries were lost; the index
 * then stays where it was. */
enum kvc_status kvc_megakv_real_device_move_index(const struct kvc_scenario *scenario,
                                                  struct kvc_shard *shard, struct kvc_diag *diag);

/* Queues of searches that run at the same time, one for each pipeline; on the GPU each queue is a CUDA
 * stream. */
struct kvc_megakv_real_device_queues;

/* Creates the queues. Returns NULL if memory is short. On the processor nothing is queued: a search runs
 * when it begins. */
struct kvc_megakv_real_device_queues *kvc_megakv_real_device_queues_create(bool on_gpu, uint32_t count);
void kvc_megakv_real_device_queues_free(struct kvc_megakv_real_device_queues *queues); /* NULL is allowed */

/* Begins a search. The arrays come from kvc_megakv_real_device_array and must not change before
 * kvc_megakv_real_device_search_end. Searches on the GPU do not count in the shard's statistics. */
void kvc_megakv_real_device_search_begin(struct kvc_megakv_real_device_queues *queues, uint32_t queue,
                                         struct kvc_shard *shard, const uint64_t *hash, uint32_t count,
                                         uint32_t *location);

/* Waits for all searches that have begun. Returns false if the device failed. */
bool kvc_megakv_real_device_search_end(struct kvc_megakv_real_device_queues *queues);

/* Allocates memory that the index's device reads and writes in place. Returns NULL if memory is short. */
void *kvc_megakv_real_device_array(bool on_gpu, size_t bytes);
void kvc_megakv_real_device_array_free(bool on_gpu, void *array); /* NULL is allowed */

#endif

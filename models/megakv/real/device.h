/* What the index runs on: the GPU where there is one, else a thread of the processor. */
#ifndef KVC_MODELS_MEGAKV_REAL_DEVICE_H
#define KVC_MODELS_MEGAKV_REAL_DEVICE_H

#include <stdbool.h>

#include "kernels/megakv/cuckoo.h"
#include "models/megakv/store.h"

/* An empty table. NULL: the parameters are wrong, or there is no memory for it. */
struct kvc_index *kvc_megakv_real_device_index(bool on_gpu, const struct kvc_megakv_cuckoo_params *params);

/* Moves the preloaded index of the shard to the GPU, entry by entry. KVC_ERR_RUNTIME: there is no GPU (or the
 * program was built without CUDA), its memory is too small, or entries were lost; the index then stays where
 * it was. */
enum kvc_status kvc_megakv_real_device_move_index(const struct kvc_scenario *scenario,
                                                  struct kvc_megakv_shard *shard, struct kvc_diag *diag);

/* Searches that are under way at once: one queue for each pipeline, as each has a CUDA stream. */
struct kvc_megakv_real_device_queues;

/* NULL: no memory. On the processor there is nothing to queue, and searches run as they are begun. */
struct kvc_megakv_real_device_queues *kvc_megakv_real_device_queues_create(bool on_gpu, uint32_t count);
void kvc_megakv_real_device_queues_free(struct kvc_megakv_real_device_queues *queues); /* NULL is allowed */

/* Begins a search; arrays of kvc_megakv_real_device_array stay as they are until
 * kvc_megakv_real_device_search_end. The GPU counts nothing in `stats`. */
void kvc_megakv_real_device_search_begin(struct kvc_megakv_real_device_queues *queues, uint32_t queue,
                                         struct kvc_megakv_shard *shard, const uint64_t *hash, uint32_t count,
                                         uint32_t *location);

/* Waits for all of them. false: the device failed. */
bool kvc_megakv_real_device_search_end(struct kvc_megakv_real_device_queues *queues);

/* Memory that the index's device reads and writes in place. NULL: there is none left. */
void *kvc_megakv_real_device_array(bool on_gpu, size_t bytes);
void kvc_megakv_real_device_array_free(bool on_gpu, void *array); /* NULL is allowed */

#endif

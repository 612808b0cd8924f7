/* What the index runs on: the GPU where there is one, else a thread of the processor. */
#ifndef KVC_VALIDATE_MEASURE_DEVICE_H
#define KVC_VALIDATE_MEASURE_DEVICE_H

#include <stdbool.h>

#include "models/megakv/store.h"

/* Moves the preloaded index of the shard to the GPU, entry by entry; *on_gpu tells whether there is one (and
 * the program was built with CUDA). KVC_ERR_RUNTIME: its memory is too small, or entries were lost; the index
 * then stays where it was. */
enum kvc_status kvc_device_take_index(const struct kvc_scenario *scenario, struct kvc_megakv_shard *shard,
                                      bool *on_gpu, struct kvc_diag *diag);

/* Memory that the index's device reads and writes in place. NULL: there is none left. */
void *kvc_device_array(bool on_gpu, size_t bytes);
void kvc_device_array_free(bool on_gpu, void *array); /* NULL is allowed */

#endif

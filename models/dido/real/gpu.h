/* The stage of a real pipeline on the GPU, over PCIe.
 *
 * It holds any of search, insert, delete, KC, RD and WR (kernels/megakv/shared_cuda.h). There is one copy of
 * the data: the GPU works in place on the index, the items and the batches, which are pinned and mapped into
 * its address space. A thread launches the kernels for a whole batch, asks for their end, and hands the batch
 * on. It needs a core of its own, in addition to the pipeline's cores. It returns the items of DELETEs to
 * their slabs, since only the CPU changes these. */
#ifndef KVC_MODELS_DIDO_REAL_GPU_H
#define KVC_MODELS_DIDO_REAL_GPU_H

#include "models/dido/real/work.h"
#include "sim/base/diag.h"

struct kvc_dido_real_gpu;

enum kvc_dido_real_gpu_state {
    KVC_DIDO_REAL_GPU_BUSY,
    KVC_DIDO_REAL_GPU_DONE,
    KVC_DIDO_REAL_GPU_FAILED, /* The process cannot use the device any more. */
};

/* Returns whether the program has been built with CUDA and the machine has a GPU. */
bool kvc_dido_real_gpu_is_here(void);

/* Checks that the GPU can run the stage of a pipeline on it, if there is one: no task without GPU code,
 * insert and delete on the same side, and a GPU. The message begins with "system.pipeline". */
enum kvc_status kvc_dido_real_gpu_check(const struct kvc_dido_pipeline *pipeline, struct kvc_diag *diag);

/* Shares the store and the batches with the GPU; they must outlive the object. Returns NULL with
 * KVC_ERR_RUNTIME if the GPU or the system refuses, or if memory is short. */
struct kvc_dido_real_gpu *kvc_dido_real_gpu_create(struct kvc_dido_real_store *store,
                                                   struct kvc_dido_real_batch *const *batches, uint32_t count,
                                                   struct kvc_diag *diag);
void kvc_dido_real_gpu_free(struct kvc_dido_real_gpu *gpu); /* NULL is allowed. */

/* Begins to do the tasks of a stage for a batch. Returns false if the device refuses. */
bool kvc_dido_real_gpu_begin(struct kvc_dido_real_gpu *gpu, const struct kvc_dido_real_batch *batch,
                             const struct kvc_dido_stage *stage);

/* Returns the state of the last batch. */
enum kvc_dido_real_gpu_state kvc_dido_real_gpu_ask(struct kvc_dido_real_gpu *gpu);

/* Does the CPU's part of the work after a batch is done. */
void kvc_dido_real_gpu_end(struct kvc_dido_real_gpu *gpu, struct kvc_dido_real_batch *batch,
                           const struct kvc_dido_stage *stage);

/* Adds the GPU's counts since the last call. Returns false if the device has failed. */
bool kvc_dido_real_gpu_count(struct kvc_dido_real_gpu *gpu, struct kvc_index_stats *stats);

#endif

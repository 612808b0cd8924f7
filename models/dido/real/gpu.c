#include "models/dido/real/gpu.h"

#include <stdlib.h>
#include <string.h>

/* Returns the index of the stage on the GPU, or the number of stages if there is none. */
static uint32_t stage_on_gpu(const struct kvc_dido_pipeline *pipeline)
{
    uint32_t stage = 0;
    while (stage < pipeline->stages && !pipeline->stage[stage].on_gpu) {
        stage++;
    }
    return stage;
}

enum kvc_status kvc_dido_real_gpu_check(const struct kvc_dido_pipeline *pipeline, struct kvc_diag *diag)
{
    uint32_t number = stage_on_gpu(pipeline);
    if (number == pipeline->stages) {
        return KVC_OK;
    }
    const struct kvc_dido_stage *stage = &pipeline->stage[number];
    bool parses = kvc_dido_stage_has(stage, KVC_DIDO_PP),
         inserts = kvc_dido_stage_has(stage, KVC_DIDO_INSERT);
    if (parses || kvc_dido_stage_has(stage, KVC_DIDO_MM)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.pipeline: found %s on the gpu; a measurement allows search, insert, "
                             "delete, KC, RD and WR there",
                             parses ? "PP" : "MM");
    }
    if (inserts != kvc_dido_stage_has(stage, KVC_DIDO_ERASE)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.pipeline: found %s on the gpu and %s on the cpu; a measurement allows "
                             "both on the same one, because only one can change the index",
                             inserts ? "insert" : "delete", inserts ? "delete" : "insert");
    }
    return kvc_dido_real_gpu_is_here()
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "system.pipeline: found stage %u on the gpu, but no CUDA device, or a program "
                               "that was built without CUDA; allowed here: stages on the cpu",
                               number + 1);
}

#ifndef KVC_HAVE_CUDA

bool kvc_dido_real_gpu_is_here(void)
{
    return false;
}

/* kvc_dido_real_gpu_check() refuses all scenarios that would lead here. */
struct kvc_dido_real_gpu *kvc_dido_real_gpu_create(struct kvc_dido_real_store *store,
                                                   struct kvc_dido_real_batch *const *batches, uint32_t count,
                                                   struct kvc_diag *diag)
{
    (void)store;
    (void)batches;
    (void)count;
    kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the program was built without CUDA");
    return NULL;
}

void kvc_dido_real_gpu_free(struct kvc_dido_real_gpu *gpu)
{
    (void)gpu;
}

bool kvc_dido_real_gpu_begin(struct kvc_dido_real_gpu *gpu, const struct kvc_dido_real_batch *batch,
                             const struct kvc_dido_stage *stage)
{
    (void)gpu;
    (void)batch;
    (void)stage;
    return false;
}

enum kvc_dido_real_gpu_state kvc_dido_real_gpu_ask(struct kvc_dido_real_gpu *gpu)
{
    (void)gpu;
    return KVC_DIDO_REAL_GPU_FAILED;
}

void kvc_dido_real_gpu_end(struct kvc_dido_real_gpu *gpu, struct kvc_dido_real_batch *batch,
                           const struct kvc_dido_stage *stage)
{
    (void)gpu;
    (void)batch;
    (void)stage;
}

bool kvc_dido_real_gpu_count(struct kvc_dido_real_gpu *gpu, struct kvc_index_stats *stats)
{
    (void)gpu;
    (void)stats;
    return false;
}

#else

#include <errno.h>

#include "kernels/cuda.h"
#include "kernels/megakv/packet.h"
#include "kernels/megakv/shared_cuda.h"
#include "sim/base/array.h"

struct kvc_dido_real_gpu {
    struct kvc_megakv_slab *slab;
    struct kvc_megakv_shared *shared;
    struct kvc_megakv_shared_set *set; /* The sets of the batch, in pinned memory. */
    uint32_t blocks;
    void **block; /* Shared memory of batches. */
};

bool kvc_dido_real_gpu_is_here(void)
{
    struct kvc_cuda_device device;
    return kvc_cuda_device(&device);
}

/* Shares the batches. Returns false if the device refuses. */
static bool share_batches(struct kvc_dido_real_gpu *gpu, struct kvc_dido_real_batch *const *batches,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!kvc_cuda_share(batches[i]->block, batches[i]->block_bytes)) {
            return false;
        }
        gpu->block[gpu->blocks++] = batches[i]->block;
    }
    gpu->set = kvc_cuda_alloc_pinned(batches[0]->shape.rows * sizeof(*gpu->set));
    return gpu->set != NULL;
}

struct kvc_dido_real_gpu *kvc_dido_real_gpu_create(struct kvc_dido_real_store *store,
                                                   struct kvc_dido_real_batch *const *batches, uint32_t count,
                                                   struct kvc_diag *diag)
{
    struct kvc_dido_real_gpu *gpu = kvc_array_of(1, sizeof(*gpu));
    *gpu = (struct kvc_dido_real_gpu){.slab = store->slab, .block = kvc_array_of(count, sizeof(*gpu->block))};
    gpu->shared = kvc_megakv_shared_create(store->index, store->slab);
    if (gpu->shared == NULL && errno == EINVAL) {
        KVC_BUG("the index of dido has not the geometry that the GPU's code is for");
    }
    if (gpu->shared == NULL || !share_batches(gpu, batches, count)) {
        kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU cannot share the memory of the store: %s",
                      kvc_cuda_error());
        kvc_dido_real_gpu_free(gpu);
        return NULL;
    }
    return gpu;
}

void kvc_dido_real_gpu_free(struct kvc_dido_real_gpu *gpu)
{
    if (gpu == NULL) {
        return;
    }
    kvc_megakv_shared_free(gpu->shared);
    kvc_cuda_free_pinned(gpu->set);
    for (uint32_t i = 0; i < gpu->blocks; i++) {
        kvc_cuda_unshare(gpu->block[i]);
    }
    free(gpu->block);
    free(gpu);
}

static uint32_t tasks_of(const struct kvc_dido_stage *stage)
{
    static const uint32_t bit[KVC_DIDO_TASKS] = {
        [KVC_DIDO_SEARCH] = KVC_MEGAKV_SHARED_SEARCH, [KVC_DIDO_INSERT] = KVC_MEGAKV_SHARED_INSERT,
        [KVC_DIDO_ERASE] = KVC_MEGAKV_SHARED_ERASE,   [KVC_DIDO_KC] = KVC_MEGAKV_SHARED_COMPARE,
        [KVC_DIDO_RD] = KVC_MEGAKV_SHARED_READ,       [KVC_DIDO_WR] = KVC_MEGAKV_SHARED_RESPOND,
    };
    uint32_t tasks = 0;
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        tasks |= kvc_dido_stage_has(stage, (enum kvc_dido_task)task) ? bit[task] : 0;
    }
    return tasks;
}

bool kvc_dido_real_gpu_begin(struct kvc_dido_real_gpu *gpu, const struct kvc_dido_real_batch *batch,
                             const struct kvc_dido_stage *stage)
{
    for (uint32_t i = 0; i < batch->sets; i++) {
        const struct kvc_dido_real_set *set = &batch->set[i];
        gpu->set[i] = (struct kvc_megakv_shared_set){set->first, set->rows, set->evictions};
    }
    const struct kvc_megakv_shared_batch shared = {.rows = batch->rows,
                                                   .sets = batch->sets,
                                                   .key_stride = batch->shape.key_stride,
                                                   .value_stride = batch->shape.value_stride,
                                                   .set = gpu->set,
                                                   .evicted = batch->evicted,
                                                   .op = batch->op,
                                                   .keys = batch->keys,
                                                   .key_bytes = batch->key_bytes,
                                                   .hash = batch->hash,
                                                   .location = batch->location,
                                                   .result = batch->result,
                                                   .read_bytes = batch->read_bytes,
                                                   .values = batch->values,
                                                   .responses = batch->responses};
    return kvc_megakv_shared_begin(gpu->shared, &shared, tasks_of(stage));
}

enum kvc_dido_real_gpu_state kvc_dido_real_gpu_ask(struct kvc_dido_real_gpu *gpu)
{
    enum kvc_cuda_event_state state = kvc_megakv_shared_state(gpu->shared);
    return state == KVC_CUDA_EVENT_PENDING   ? KVC_DIDO_REAL_GPU_BUSY
           : state == KVC_CUDA_EVENT_REACHED ? KVC_DIDO_REAL_GPU_DONE
                                             : KVC_DIDO_REAL_GPU_FAILED;
}

void kvc_dido_real_gpu_end(struct kvc_dido_real_gpu *gpu, struct kvc_dido_real_batch *batch,
                           const struct kvc_dido_stage *stage)
{
    const uint8_t *at = batch->op, *end = batch->op + batch->rows;
    while (kvc_dido_stage_has(stage, KVC_DIDO_ERASE) &&
           (at = memchr(at, KVC_MEGAKV_PACKET_DELETE, (size_t)(end - at))) != NULL) {
        uint32_t row = (uint32_t)(at++ - batch->op);
        if (batch->location[row] != KVC_LOCATION_NONE) {
            kvc_megakv_slab_release_key(gpu->slab, batch->location[row], batch->hash[row]);
        }
    }
}

bool kvc_dido_real_gpu_count(struct kvc_dido_real_gpu *gpu, struct kvc_index_stats *stats)
{
    return kvc_megakv_shared_count(gpu->shared, stats);
}

#endif

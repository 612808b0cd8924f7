#include "models/megakv/real/device.h"

#include <stdlib.h>

static enum kvc_status no_gpu(struct kvc_diag *diag)
{
    return kvc_diag_fail(
        diag, KVC_ERR_RUNTIME,
        "found no GPU, or the program was built without CUDA; system.index_on = \"thread\" runs "
        "the index on the scheduler's thread");
}

#ifndef KVC_HAVE_CUDA

struct kvc_index *kvc_megakv_real_device_index(bool on_gpu, const struct kvc_megakv_cuckoo_params *params)
{
    (void)on_gpu;
    return kvc_megakv_cuckoo_create(params);
}

struct kvc_megakv_real_device_queues {
    uint32_t count;
};

struct kvc_megakv_real_device_queues *kvc_megakv_real_device_queues_create(bool on_gpu, uint32_t count)
{
    struct kvc_megakv_real_device_queues *queues = malloc(sizeof(*queues));
    (void)on_gpu;
    if (queues != NULL) {
        queues->count = count;
    }
    return queues;
}

void kvc_megakv_real_device_queues_free(struct kvc_megakv_real_device_queues *queues)
{
    free(queues);
}

void kvc_megakv_real_device_search_begin(struct kvc_megakv_real_device_queues *queues, uint32_t queue,
                                         struct kvc_shard *shard, const uint64_t *hash, uint32_t count,
                                         uint32_t *location)
{
    (void)queues;
    (void)queue;
    kvc_index_search(shard->index, hash, count, location, &shard->index_stats);
}

bool kvc_megakv_real_device_search_end(struct kvc_megakv_real_device_queues *queues)
{
    (void)queues;
    return true;
}

void *kvc_megakv_real_device_array(bool on_gpu, size_t bytes)
{
    (void)on_gpu;
    return malloc(bytes);
}

void kvc_megakv_real_device_array_free(bool on_gpu, void *array)
{
    (void)on_gpu;
    free(array);
}

enum kvc_status kvc_megakv_real_device_move_index(const struct kvc_scenario *scenario,
                                                  struct kvc_shard *shard, struct kvc_diag *diag)
{
    (void)scenario;
    (void)shard;
    return no_gpu(diag);
}

#else

#include "kernels/cuda.h"
#include "kernels/megakv/cuckoo_cuda.h"
#include "models/megakv/config.h"
#include "sim/base/array.h"
#include "sim/base/seeds.h"
#include "sim/workload/source/source.h"

enum { BLOCK = 1 << 16 };

struct kvc_index *kvc_megakv_real_device_index(bool on_gpu, const struct kvc_megakv_cuckoo_params *params)
{
    return on_gpu ? kvc_megakv_cuckoo_cuda_create(params) : kvc_megakv_cuckoo_create(params);
}

struct kvc_megakv_real_device_queues {
    bool on_gpu;
    uint32_t count;
    struct kvc_cuda_stream *stream[]; /* All NULL on the processor. */
};

struct kvc_megakv_real_device_queues *kvc_megakv_real_device_queues_create(bool on_gpu, uint32_t count)
{
    struct kvc_megakv_real_device_queues *queues =
        calloc(1, sizeof(*queues) + count * sizeof(struct kvc_cuda_stream *));
    bool created = queues != NULL;
    for (uint32_t i = 0; created && i < count; i++) {
        queues->on_gpu = on_gpu;
        queues->count = i + 1;
        queues->stream[i] = on_gpu ? kvc_cuda_stream_create() : NULL;
        created = !on_gpu || queues->stream[i] != NULL;
    }
    if (created) {
        return queues;
    }
    kvc_megakv_real_device_queues_free(queues);
    return NULL;
}

void kvc_megakv_real_device_queues_free(struct kvc_megakv_real_device_queues *queues)
{
    for (uint32_t i = 0; queues != NULL && i < queues->count; i++) {
        if (queues->stream[i] != NULL) {
            kvc_cuda_stream_free(queues->stream[i]);
        }
    }
    free(queues);
}

void kvc_megakv_real_device_search_begin(struct kvc_megakv_real_device_queues *queues, uint32_t queue,
                                         struct kvc_shard *shard, const uint64_t *hash, uint32_t count,
                                         uint32_t *location)
{
    if (queues->on_gpu && count > 0) {
        kvc_megakv_cuckoo_cuda_search_async(shard->index, queues->stream[queue], hash, count, location);
    } else if (count > 0) {
        kvc_index_search(shard->index, hash, count, location, &shard->index_stats);
    }
}

bool kvc_megakv_real_device_search_end(struct kvc_megakv_real_device_queues *queues)
{
    bool succeeded = true;
    for (uint32_t i = 0; queues->on_gpu && i < queues->count; i++) {
        succeeded = kvc_cuda_stream_wait(queues->stream[i]) && succeeded;
    }
    return succeeded;
}

void *kvc_megakv_real_device_array(bool on_gpu, size_t bytes)
{
    return on_gpu ? kvc_cuda_alloc_pinned(bytes) : malloc(bytes);
}

void kvc_megakv_real_device_array_free(bool on_gpu, void *array)
{
    if (on_gpu && array != NULL) {
        kvc_cuda_free_pinned(array);
    } else {
        free(array);
    }
}

/* Looks up all keys of the workload in the processor's index, block by block, and inserts the entries that
 * it finds into the device's index. */
static void copy_entries(const struct kvc_workload *workload, struct kvc_source *source,
                         struct kvc_batch *batch, uint32_t *location, struct kvc_index *from,
                         struct kvc_index *to)
{
    struct kvc_index_stats stats = {0};
    for (uint64_t first = 0; first < workload->keys; first += BLOCK) {
        uint32_t count = workload->keys - first < BLOCK ? (uint32_t)(workload->keys - first) : BLOCK,
                 found = 0;
        batch->count = 0;
        kvc_source_keys(source, first, count, batch);
        kvc_index_search(from, batch->hash, count, location, &stats);
        for (uint32_t i = 0; i < count; i++) {
            if (location[i] == KVC_LOCATION_NONE) {
                continue;
            }
            batch->hash[found] = batch->hash[i];
            location[found++] = location[i];
        }
        kvc_index_insert(to, batch->hash, location, found, NULL, &stats);
    }
}

static enum kvc_status move_index(const struct kvc_scenario *scenario, struct kvc_shard *shard,
                                  struct kvc_index *device, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_source_params params =
        kvc_megakv_source_of(scenario, kvc_seed_of_replica(scenario->run.seed, 0));
    struct kvc_source *source = kvc_source_create(&params, diag);
    struct kvc_batch *batch = kvc_batch_create(BLOCK, kvc_workload_key_stride(workload));
    uint32_t *location = kvc_array_of(BLOCK, sizeof(*location));
    enum kvc_status status = source != NULL ? KVC_OK : diag->status;
    if (status == KVC_OK) {
        copy_entries(workload, source, batch, location, shard->index, device);
        if (kvc_index_used(device) != kvc_index_used(shard->index)) {
            status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU's index took only %llu of %llu entries",
                                   (unsigned long long)kvc_index_used(device),
                                   (unsigned long long)kvc_index_used(shard->index));
        }
    }
    free(location);
    kvc_batch_free(batch);
    kvc_source_free(source);
    return status;
}

enum kvc_status kvc_megakv_real_device_move_index(const struct kvc_scenario *scenario,
                                                  struct kvc_shard *shard, struct kvc_diag *diag)
{
    struct kvc_cuda_device gpu;
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    struct kvc_megakv_cuckoo_params params = {.bytes = (uint64_t)config->index_bytes,
                                              .max_displacements = config->max_displacements};
    if (!kvc_cuda_device(&gpu)) {
        return no_gpu(diag);
    }
    struct kvc_index *device = kvc_megakv_real_device_index(true, &params);
    if (device == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU %s has too little memory for system.index",
                             gpu.name);
    }
    enum kvc_status status = move_index(scenario, shard, device, diag);
    struct kvc_index *left = status == KVC_OK ? shard->index : device;
    if (status == KVC_OK) {
        shard->index = device;
    }
    kvc_index_free(left);
    return status;
}

#endif

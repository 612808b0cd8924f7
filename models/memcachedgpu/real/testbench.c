#include "models/memcachedgpu/real/testbench.h"

#include <string.h>

#include "kernels/cuda_probe.h"

enum { FLUSHED_SECTORS = 1 << 23, VALUE_BYTES = 2 };

bool kvc_memcachedgpu_testbench_sets_open(struct kvc_memcachedgpu_testbench_sets *sets, uint32_t room,
                                          uint32_t key_bytes)
{
    uint64_t keys_bytes = (uint64_t)room * key_bytes + 16; /* Reads take whole words. */
    *sets = (struct kvc_memcachedgpu_testbench_sets){
        .keys = kvc_cuda_alloc_pinned(keys_bytes),
        .device_keys = kvc_cuda_alloc(keys_bytes),
        .offset = kvc_cuda_alloc_pinned(room * sizeof(*sets->offset)),
        .device_offset = kvc_cuda_alloc(room * sizeof(*sets->offset)),
        .bytes = kvc_cuda_alloc_pinned(room * sizeof(*sets->bytes)),
        .device_bytes = kvc_cuda_alloc(room * sizeof(*sets->bytes)),
        .items = kvc_cuda_alloc_pinned(room * sizeof(*sets->items)),
        .device_items = kvc_cuda_alloc(room * sizeof(*sets->items)),
        .out = kvc_cuda_alloc_pinned(room * sizeof(*sets->out)),
        .cycles = kvc_cuda_alloc_pinned(room * sizeof(*sets->cycles)),
        .room = room,
        .key_bytes = key_bytes,
    };
    return sets->keys != NULL && sets->device_keys != NULL && sets->offset != NULL &&
           sets->device_offset != NULL && sets->bytes != NULL && sets->device_bytes != NULL &&
           sets->items != NULL && sets->device_items != NULL && sets->out != NULL && sets->cycles != NULL;
}

void kvc_memcachedgpu_testbench_sets_close(struct kvc_memcachedgpu_testbench_sets *sets)
{
    kvc_cuda_free_pinned(sets->keys);
    kvc_cuda_free_pinned(sets->offset);
    kvc_cuda_free_pinned(sets->bytes);
    kvc_cuda_free_pinned(sets->items);
    kvc_cuda_free(sets->device_keys);
    kvc_cuda_free(sets->device_offset);
    kvc_cuda_free(sets->device_bytes);
    kvc_cuda_free(sets->device_items);
    kvc_cuda_free_pinned(sets->out);
    kvc_cuda_free_pinned(sets->cycles);
    memset(sets, 0, sizeof(*sets));
}

void kvc_memcachedgpu_testbench_sets_put_sized(struct kvc_memcachedgpu_testbench_sets *sets, uint32_t i,
                                               uint64_t id, uint32_t key_bytes, uint32_t value_bytes)
{
    sets->offset[i] = i * sets->key_bytes;
    sets->bytes[i] = (uint8_t)key_bytes;
    sets->items[i] = (struct kvc_set_assoc_item){.location = (uint32_t)id, .value_bytes = value_bytes};
    kvc_memcachedgpu_text_key(sets->keys + sets->offset[i], id, key_bytes);
}

void kvc_memcachedgpu_testbench_sets_put(struct kvc_memcachedgpu_testbench_sets *sets, uint32_t i,
                                         uint64_t id)
{
    kvc_memcachedgpu_testbench_sets_put_sized(sets, i, id, sets->key_bytes, VALUE_BYTES);
}

bool kvc_memcachedgpu_testbench_sets_begin(struct kvc_memcachedgpu_testbench_sets *sets,
                                           struct kvc_index *index, uint32_t count, uint32_t now,
                                           struct kvc_cuda_stream *stream)
{
    struct kvc_set_assoc_keys keys = {sets->device_keys, sets->device_offset, sets->device_bytes};
    bool begun =
        kvc_cuda_copy_begin(sets->device_keys, sets->keys, (uint64_t)count * sets->key_bytes, stream) &&
        kvc_cuda_copy_begin(sets->device_offset, sets->offset, count * sizeof(*sets->offset), stream) &&
        kvc_cuda_copy_begin(sets->device_bytes, sets->bytes, count * sizeof(*sets->bytes), stream) &&
        kvc_cuda_copy_begin(sets->device_items, sets->items, count * sizeof(*sets->items), stream);
    kvc_set_assoc_cuda_insert_timed(index, stream, &keys, sets->device_items, count, now, sets->out,
                                    sets->cycles);
    return begun;
}

/* Stores keys 0 to bench->stored - 1. */
static bool fill(struct kvc_memcachedgpu_testbench *bench)
{
    struct kvc_memcachedgpu_testbench_sets sets;
    bool filled =
        kvc_memcachedgpu_testbench_sets_open(&sets, KVC_MEMCACHEDGPU_TESTBENCH_BATCH_MAX, bench->key_bytes);
    for (uint64_t first = 0; filled && first < bench->stored; first += sets.room) {
        uint32_t count = bench->stored - first < sets.room ? (uint32_t)(bench->stored - first) : sets.room;
        for (uint32_t i = 0; i < count; i++) {
            kvc_memcachedgpu_testbench_sets_put(&sets, i, first + i);
        }
        filled = kvc_memcachedgpu_testbench_sets_begin(&sets, bench->index, count, bench->now, NULL) &&
                 kvc_cuda_stream_wait(NULL);
        bench->now += count;
    }
    kvc_memcachedgpu_testbench_sets_close(&sets);
    return filled;
}

enum kvc_status kvc_memcachedgpu_testbench_open(struct kvc_memcachedgpu_testbench *bench, uint64_t bytes,
                                                uint32_t key_bytes, struct kvc_diag *diag)
{
    struct kvc_set_assoc_params params = {
        .sets = (uint32_t)(bytes / kvc_set_assoc_set_bytes(KVC_SET_ASSOC_WAYS, key_bytes)),
        .ways = KVC_SET_ASSOC_WAYS,
        .key_bytes_max = key_bytes};
    *bench = (struct kvc_memcachedgpu_testbench){.key_bytes = key_bytes,
                                                 .stored = (uint64_t)params.sets * params.ways / 2,
                                                 .now = 1,
                                                 .index = kvc_set_assoc_cuda_create(&params)};
    kvc_rng_init(&bench->rng, 1, "GET measurement", key_bytes);
    bench->scratch = kvc_cuda_alloc(KVC_MEMCACHEDGPU_TESTBENCH_SCRATCH_BYTES);
    if (bench->index == NULL || bench->scratch == NULL ||
        !kvc_cuda_zero(bench->scratch, KVC_MEMCACHEDGPU_TESTBENCH_SCRATCH_BYTES) || !fill(bench)) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                             "the GPU has no memory for a table of %.4g MiB, or fails to fill it",
                             (double)bytes / 0x1p20);
    }
    return KVC_OK;
}

static void free_images(struct kvc_memcachedgpu_testbench *bench)
{
    kvc_cuda_free_pinned(bench->images);
    kvc_cuda_free(bench->device_images);
    bench->images = bench->device_images = NULL;
}

void kvc_memcachedgpu_testbench_close(struct kvc_memcachedgpu_testbench *bench)
{
    free_images(bench);
    kvc_cuda_free(bench->scratch);
    if (bench->index != NULL) {
        kvc_index_free(bench->index);
    }
    bench->index = NULL;
    bench->scratch = NULL;
}

enum kvc_status kvc_memcachedgpu_testbench_prepare(struct kvc_memcachedgpu_testbench *bench, uint32_t batch,
                                                   uint32_t packets, bool hits, struct kvc_diag *diag)
{
    uint8_t key[KVC_MEMCACHEDGPU_REAL_KEY_ROOM];
    free_images(bench);
    bench->layout = kvc_memcachedgpu_real_layout_of(batch, bench->key_bytes);
    bench->batches = packets / batch;
    uint64_t bytes = bench->batches * bench->layout.image_bytes;
    bench->images = kvc_cuda_alloc_pinned(bytes);
    bench->device_images = kvc_cuda_alloc(bytes);
    if (bench->images == NULL || bench->device_images == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %u packets", packets);
    }
    memset(bench->images, 0, bytes);
    /* A stride coprime to the number of keys reaches each key once. */
    uint64_t id = kvc_rng_below(&bench->rng, bench->stored), stride = 999983;
    for (uint32_t b = 0; b < bench->batches; b++) {
        uint8_t *image = bench->images + b * bench->layout.image_bytes;
        for (uint32_t i = 0; i < batch; i++) {
            id = (id + stride) % bench->stored;
            kvc_memcachedgpu_text_key(key, hits ? id : id + bench->stored, bench->key_bytes);
            kvc_memcachedgpu_real_put(&bench->layout, image, i, key, bench->key_bytes);
        }
    }
    if (!kvc_cuda_copy_begin(bench->device_images, bench->images, bytes, NULL) ||
        !kvc_cuda_stream_wait(NULL)) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU failed while it was measured");
    }
    return KVC_OK;
}

const uint8_t *kvc_memcachedgpu_testbench_image(const struct kvc_memcachedgpu_testbench *bench,
                                                uint64_t number, bool on_device)
{
    return (on_device ? bench->device_images : bench->images) +
           number % bench->batches * bench->layout.image_bytes;
}

bool kvc_memcachedgpu_testbench_flush(struct kvc_memcachedgpu_testbench *bench)
{
    return kvc_cuda_probe_sectors(bench->scratch, KVC_MEMCACHEDGPU_TESTBENCH_SCRATCH_BYTES, FLUSHED_SECTORS,
                                  (uint32_t)kvc_rng_below(&bench->rng, 64));
}

/* A GPU for tests: the functions of kernels/cuda.h and of MemcachedGPU's kernels, run by their CPU twins.
 * Work completes as soon as it begins. The first query of an event finds it pending. */
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda_probe.h"
#include "kernels/memcachedgpu/background_cuda.h"
#include "kernels/memcachedgpu/get_cuda.h"

enum { SCRATCH_BYTES_MAX = 1 << 20 /* Cap of an allocation that is never read. */ };

struct kvc_cuda_event {
    bool asked;
};

struct kvc_cuda_stream {
    int number;
};

bool kvc_cuda_device(struct kvc_cuda_device *device)
{
    *device = (struct kvc_cuda_device){.name = "CPU twins", .multiprocessors = 4};
    return true;
}

void *kvc_cuda_alloc(uint64_t bytes)
{
    uint64_t needed = bytes < UINT64_C(1) << 31 ? bytes : SCRATCH_BYTES_MAX;
    return aligned_alloc(128, (needed + 127) / 128 * 128);
}

void kvc_cuda_free(void *memory)
{
    free(memory);
}

void *kvc_cuda_alloc_pinned(uint64_t bytes)
{
    return kvc_cuda_alloc(bytes);
}

void kvc_cuda_free_pinned(void *memory)
{
    free(memory);
}

bool kvc_cuda_zero(void *memory, uint64_t bytes)
{
    memset(memory, 0, bytes < UINT64_C(1) << 31 ? bytes : SCRATCH_BYTES_MAX);
    return true;
}

struct kvc_cuda_stream *kvc_cuda_stream_create(void)
{
    return calloc(1, sizeof(struct kvc_cuda_stream));
}

void kvc_cuda_stream_free(struct kvc_cuda_stream *stream)
{
    free(stream);
}

bool kvc_cuda_stream_wait(struct kvc_cuda_stream *stream)
{
    (void)stream;
    return true;
}

bool kvc_cuda_copy_begin(void *to, const void *from, uint64_t bytes, struct kvc_cuda_stream *stream)
{
    (void)stream;
    memcpy(to, from, bytes);
    return true;
}

bool kvc_cuda_copy_rows_begin(void *to, const void *from, uint64_t stride, uint64_t bytes, uint64_t rows,
                              struct kvc_cuda_stream *stream)
{
    (void)stream;
    for (uint64_t row = 0; row < rows; row++) {
        memcpy((uint8_t *)to + row * stride, (const uint8_t *)from + row * stride, bytes);
    }
    return true;
}

struct kvc_cuda_event *kvc_cuda_event_create(void)
{
    return calloc(1, sizeof(struct kvc_cuda_event));
}

void kvc_cuda_event_free(struct kvc_cuda_event *event)
{
    free(event);
}

bool kvc_cuda_event_record(struct kvc_cuda_event *event, struct kvc_cuda_stream *stream)
{
    (void)stream;
    event->asked = false;
    return true;
}

enum kvc_cuda_event_state kvc_cuda_event_query(struct kvc_cuda_event *event)
{
    enum kvc_cuda_event_state state = event->asked ? KVC_CUDA_EVENT_REACHED : KVC_CUDA_EVENT_PENDING;
    event->asked = true;
    return state;
}

struct kvc_index *kvc_set_assoc_cuda_create(const struct kvc_set_assoc_params *params)
{
    struct kvc_set_assoc *table = kvc_set_assoc_create(params);
    return table != NULL ? &table->base.index : NULL;
}

void kvc_set_assoc_cuda_insert_timed(struct kvc_index *index, struct kvc_cuda_stream *stream,
                                     const struct kvc_set_assoc_keys *keys,
                                     const struct kvc_set_assoc_item *items, uint32_t count, uint32_t now,
                                     struct kvc_set_assoc_item *out, uint64_t *cycles)
{
    struct kvc_index_stats stats = {0};
    (void)stream;
    kvc_table_insert((struct kvc_table *)index, keys, items, count, now, out, &stats);
    for (uint32_t i = 0; cycles != NULL && i < count; i++) {
        cycles[i] = 1000;
    }
}

void kvc_memcachedgpu_get_cuda(const struct kvc_index *index, const struct kvc_memcachedgpu_get_batch *batch,
                               struct kvc_cuda_stream *stream)
{
    struct kvc_index_stats stats = {0};
    (void)stream;
    kvc_memcachedgpu_get((struct kvc_set_assoc *)(uintptr_t)index, batch, &stats);
}

/* Block b runs from 1000 + 10 b ns to 3000 + 10 b ns. */
void kvc_memcachedgpu_get_cuda_timed(const struct kvc_index *index,
                                     const struct kvc_memcachedgpu_get_batch *batch,
                                     struct kvc_memcachedgpu_get_clock *clocks,
                                     struct kvc_cuda_stream *stream)
{
    kvc_memcachedgpu_get_cuda(index, batch, stream);
    for (uint32_t b = 0; b * KVC_MEMCACHEDGPU_GET_BLOCK_PACKETS < batch->count; b++) {
        clocks[b] = (struct kvc_memcachedgpu_get_clock){1000 + 10 * b, 3000 + 10 * b, 4000};
    }
}

bool kvc_cuda_probe_launch(void)
{
    return true;
}

bool kvc_cuda_probe_sectors(const void *table, uint64_t bytes, uint64_t count, uint32_t repetition)
{
    (void)table, (void)bytes, (void)count, (void)repetition;
    return true;
}

bool kvc_cuda_probe_chase(const void *table, uint64_t bytes, uint32_t lanes, uint32_t steps,
                          struct kvc_cuda_chase *chase)
{
    (void)table, (void)lanes, (void)steps;
    *chase = bytes < 1 << 30 ? (struct kvc_cuda_chase){100, 200} : (struct kvc_cuda_chase){300, 600};
    return true;
}

struct kvc_background {
    int unused;
};

struct kvc_background *kvc_background_create(const struct kvc_background_params *params)
{
    (void)params;
    return calloc(1, sizeof(struct kvc_background));
}

void kvc_background_free(struct kvc_background *background)
{
    free(background);
}

void kvc_background_begin(struct kvc_background *background, uint32_t rounds, struct kvc_cuda_stream *stream)
{
    (void)background, (void)rounds, (void)stream;
}

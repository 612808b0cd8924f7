#include "models/memcachedgpu/real/lane.h"

bool kvc_memcachedgpu_real_lane_open(struct kvc_memcachedgpu_real_lane *lane,
                                     const struct kvc_memcachedgpu_real_layout *layout)
{
    uint64_t responses_bytes = (uint64_t)layout->batch * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES;
    uint64_t results_bytes = (uint64_t)layout->batch * sizeof(*lane->results);
    *lane = (struct kvc_memcachedgpu_real_lane){
        .layout = *layout,
        .stream = kvc_cuda_stream_create(),
        .end = kvc_cuda_event_create(),
        .image = kvc_cuda_alloc(layout->image_bytes),
        .responses = kvc_cuda_alloc(responses_bytes),
        .results = kvc_cuda_alloc(results_bytes),
        .heads = kvc_cuda_alloc_pinned(responses_bytes),
        .answers = kvc_cuda_alloc_pinned(results_bytes),
    };
    return lane->stream != NULL && lane->end != NULL && lane->image != NULL && lane->responses != NULL &&
           lane->results != NULL && lane->heads != NULL && lane->answers != NULL;
}

void kvc_memcachedgpu_real_lane_close(struct kvc_memcachedgpu_real_lane *lane)
{
    kvc_cuda_event_free(lane->end);
    kvc_cuda_stream_free(lane->stream);
    kvc_cuda_free(lane->image);
    kvc_cuda_free(lane->responses);
    kvc_cuda_free(lane->results);
    kvc_cuda_free_pinned(lane->heads);
    kvc_cuda_free_pinned(lane->answers);
    *lane = (struct kvc_memcachedgpu_real_lane){.count = 0};
}

bool kvc_memcachedgpu_real_lane_begin(struct kvc_memcachedgpu_real_lane *lane,
                                      const struct kvc_memcachedgpu_real_job *job)
{
    const struct kvc_memcachedgpu_real_layout *layout = &lane->layout;
    const uint8_t *image = job->copied ? lane->image : job->image;
    struct kvc_memcachedgpu_get_batch batch =
        kvc_memcachedgpu_real_batch_of(layout, image, job->count, job->now);
    bool begun = true;
    batch.responses = lane->responses;
    batch.results = lane->results;
    lane->count = job->count;
    if (job->copied) {
        begun =
            kvc_cuda_copy_begin(lane->image, job->image,
                                layout->packets_at + (uint64_t)job->count * layout->slot_bytes, lane->stream);
    }
    if (job->clocks != NULL) {
        kvc_memcachedgpu_get_cuda_timed(job->index, &batch, job->clocks, lane->stream);
    } else {
        kvc_memcachedgpu_get_cuda(job->index, &batch, lane->stream);
    }
    if (job->copied) {
        begun = begun &&
                kvc_cuda_copy_begin(lane->answers, lane->results, job->count * sizeof(*lane->answers),
                                    lane->stream) &&
                kvc_cuda_copy_rows_begin(lane->heads, lane->responses, KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES,
                                         layout->head_bytes, job->count, lane->stream);
    }
    return kvc_cuda_event_record(lane->end, lane->stream) && begun;
}

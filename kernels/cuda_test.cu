/* Tests events, copies and the chains of dependent accesses. Exit status 0 means success, 77 means that there
 * is no device. */
#include <cstring>

#include "kernels/cuda_bench.cuh"
#include "kernels/cuda_probe.h"

namespace
{

constexpr uint64_t table_bytes = UINT64_C(1) << 30;

void expect(bool right, const char *what)
{
    if (!right) {
        kvc::die(what);
    }
}

/* An event after long work is pending at first and reached in the end. */
void test_events()
{
    uint8_t *table = kvc::device_array<uint8_t>(table_bytes);
    struct kvc_cuda_stream *stream = kvc_cuda_stream_create();
    struct kvc_cuda_event *event = kvc_cuda_event_create();
    expect(stream != nullptr && event != nullptr, "create");
    expect(kvc_cuda_event_query(event) == KVC_CUDA_EVENT_REACHED, "an event that was never recorded");
    for (int pass = 0; pass < 20; pass++) {
        kvc::check(cudaMemsetAsync(table, pass, table_bytes, reinterpret_cast<cudaStream_t>(stream)), "fill");
    }
    expect(kvc_cuda_event_record(event, stream), "record");
    expect(kvc_cuda_event_query(event) == KVC_CUDA_EVENT_PENDING, "an event behind other work");
    expect(kvc_cuda_stream_wait(stream), "wait");
    expect(kvc_cuda_event_query(event) == KVC_CUDA_EVENT_REACHED, "an event after the work");
    kvc_cuda_event_free(event);
    kvc_cuda_event_free(nullptr);
    kvc_cuda_stream_free(stream);
    kvc_cuda_free(table);
}

/* Rows are copied without what lies between them. */
void test_rows()
{
    std::vector<uint8_t> from(8 * 32);
    for (size_t i = 0; i < from.size(); i++) {
        from[i] = static_cast<uint8_t>(i);
    }
    uint8_t *device = kvc::device_array<uint8_t>(from.size());
    kvc::check(cudaMemcpy(device, from.data(), from.size(), cudaMemcpyHostToDevice), "copy in");
    uint8_t *host = static_cast<uint8_t *>(kvc_cuda_alloc_pinned(from.size()));
    expect(host != nullptr, "pinned memory");
    std::memset(host, 0xee, from.size());
    expect(kvc_cuda_copy_rows_begin(host, device, 32, 20, 8, nullptr) && kvc_cuda_stream_wait(nullptr),
           "rows");
    for (size_t i = 0; i < from.size(); i++) {
        expect(host[i] == (i % 32 < 20 ? from[i] : 0xee), "a byte of a row");
    }
    expect(kvc_cuda_copy_begin(host, device, from.size(), nullptr) && kvc_cuda_stream_wait(nullptr), "copy");
    expect(std::memcmp(host, from.data(), from.size()) == 0, "a copy");
    kvc_cuda_free(device);
    kvc_cuda_free_pinned(host);
}

/* Chains in a small table take less time than in a large one, and its clock is one of a GPU. */
void test_chase()
{
    uint8_t *table = kvc::device_array<uint8_t>(table_bytes);
    kvc::check(cudaMemset(table, 0, table_bytes), "zero");
    struct kvc_cuda_chase near, far, one;
    expect(kvc_cuda_probe_chase(table, 1 << 20, 32, 20000, &near) &&
               kvc_cuda_probe_chase(table, table_bytes, 32, 20000, &far) &&
               kvc_cuda_probe_chase(table, table_bytes, 1, 20000, &one),
           "chase");
    expect(near.ns < 0.8 * far.ns && one.ns < far.ns && one.ns > 50, "times of chains");
    expect(far.cycles / far.ns > 0.2 && far.cycles / far.ns < 5, "a clock in GHz");
    kvc_cuda_free(table);
}

} // namespace

int main()
{
    kvc::need_device();
    test_events();
    test_rows();
    test_chase();
    std::printf("events, copies and chains are right\n");
    return 0;
}

#include "kernels/memcachedgpu/get_cuda.h"

#include "kernels/global_clock.cuh"
#include "kernels/memcachedgpu/set_assoc_device.cuh"

namespace
{

constexpr uint32_t warp_threads = 32;
constexpr uint32_t block_packets = KVC_MEMCACHEDGPU_GET_BLOCK_PACKETS;
static_assert(block_packets == warp_threads, "a thread of each warp serves a packet");
constexpr uint32_t block_threads = 2 * warp_threads; /* a main and a helper warp */
constexpr uint32_t packet_threads = 8;               /* threads that load or store a packet together */
constexpr uint32_t chunk_bytes = 16;
constexpr uint32_t rounds = block_packets * packet_threads / block_threads;

/* Room for a request as it lies in memory, from the multiple of 16 bytes in front of it. */
constexpr uint32_t request_chunks =
    (KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX + 2 * (chunk_bytes - 1)) / chunk_bytes;
constexpr uint32_t response_chunks = KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES / chunk_bytes;
/* The distance of packets is an odd number of words, so that threads at the same place of different packets
 * use different banks. */
constexpr uint32_t request_words = request_chunks * 4 + 1;
constexpr uint32_t response_words = response_chunks * 4 + 1;

struct shared_state {
    uint32_t request[block_packets * request_words];
    uint32_t response[block_packets * response_words];
    /* What the main thread tells the helper thread, and vice versa. */
    struct kvc_memcachedgpu_packet_item item[block_packets];
    uint32_t location[block_packets];
    uint8_t key_bytes[block_packets];
    uint8_t text_status[block_packets];
    uint8_t header_status[block_packets];
    uint16_t response_bytes[block_packets];
};

__device__ __forceinline__ void store_chunk(uint32_t *to, uint4 chunk)
{
    to[0] = chunk.x;
    to[1] = chunk.y;
    to[2] = chunk.z;
    to[3] = chunk.w;
}

/* Loads the packets of the block into shared memory; all threads call it. `packet` is the one of the thread's
 * lane. */
__device__ __forceinline__ void load_packets(const uint8_t *packets,
                                             struct kvc_memcachedgpu_get_packet packet, uint32_t *request)
{
    uint32_t warp = threadIdx.x / warp_threads, lane = threadIdx.x % warp_threads;
    uint32_t column = lane % packet_threads;
    uint32_t row = warp * (warp_threads / packet_threads) + lane / packet_threads;
    uint4 chunk[rounds];
    uint32_t chunks[rounds];
    const uint4 *from[rounds];
    /* All loads of the first 128 bytes of each packet start before the first is waited for. */
#pragma unroll
    for (uint32_t r = 0; r < rounds; r++) {
        uint32_t p = r * (block_threads / packet_threads) + row;
        uint32_t offset = __shfl_sync(0xffffffffu, packet.offset, static_cast<int>(p));
        uint32_t bytes = __shfl_sync(0xffffffffu, packet.bytes, static_cast<int>(p));
        uint32_t shift = offset % chunk_bytes;
        uint32_t wanted = min(bytes, static_cast<uint32_t>(KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX));
        chunks[r] = bytes == 0 ? 0 : (shift + wanted + chunk_bytes - 1) / chunk_bytes;
        from[r] = reinterpret_cast<const uint4 *>(packets + (offset - shift));
        if (column < chunks[r]) {
            chunk[r] = __ldcs(from[r] + column);
        }
    }
#pragma unroll
    for (uint32_t r = 0; r < rounds; r++) {
        uint32_t *to = request + (r * (block_threads / packet_threads) + row) * request_words;
        if (column < chunks[r]) {
            store_chunk(to + column * 4, chunk[r]);
        }
        for (uint32_t c = column + packet_threads; c < chunks[r]; c += packet_threads) {
            store_chunk(to + c * 4, __ldcs(from[r] + c));
        }
    }
}

/* Stores the finished responses in global memory; all threads call it. */
__device__ __forceinline__ void store_responses(const shared_state &shared, uint32_t packets,
                                                uint8_t *responses)
{
    uint32_t column = threadIdx.x % packet_threads;
    for (uint32_t p = threadIdx.x / packet_threads; p < packets; p += block_threads / packet_threads) {
        uint32_t chunks = (shared.response_bytes[p] + chunk_bytes - 1) / chunk_bytes;
        const uint32_t *from = shared.response + p * response_words;
        uint4 *to = reinterpret_cast<uint4 *>(responses + static_cast<uint64_t>(p) *
                                                              KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
        for (uint32_t c = column; c < chunks; c += packet_threads) {
            const uint32_t *words = from + c * 4;
            __stcs(to + c, make_uint4(words[0], words[1], words[2], words[3]));
        }
    }
}

/* `clocks` is used if TIMED only. */
template <bool SHARED, bool TIMED>
__global__ void __launch_bounds__(block_threads)
    get_kernel(kvc::set_table table, struct kvc_memcachedgpu_get_batch batch,
               struct kvc_memcachedgpu_get_clock *clocks)
{
    __shared__ shared_state shared;
    uint64_t begin_ns = 0;
    long long begin = 0;
    if constexpr (TIMED) {
        begin_ns = kvc::global_ns();
        begin = clock64();
    }
    uint32_t lane = threadIdx.x % warp_threads;
    bool main_warp = threadIdx.x < warp_threads;
    uint32_t first = blockIdx.x * block_packets;
    uint32_t packets = min(batch.count - first, block_packets);
    struct kvc_memcachedgpu_get_packet packet = {0, 0};
    if (lane < packets) {
        uint2 word = __ldcs(reinterpret_cast<const uint2 *>(batch.packet) + first + lane);
        packet.offset = word.x;
        packet.bytes = word.y;
    }
    load_packets(batch.packets, packet, shared.request);
    __syncthreads();

    const uint8_t *request = reinterpret_cast<const uint8_t *>(shared.request + lane * request_words) +
                             packet.offset % chunk_bytes;
    uint8_t *response = reinterpret_cast<uint8_t *>(shared.response + lane * response_words);
    struct kvc::set_found found = {nullptr, {0, 0, 0, 0}};
    if (main_warp) {
        uint32_t key_bytes, lines = 0;
        enum kvc_memcachedgpu_packet_status status =
            kvc_memcachedgpu_packet_get(request, packet.bytes, &key_bytes);
        const uint8_t *key = request + KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET;
        if (key_bytes - 1 < table.key_bytes_max) {
            struct kvc_set_assoc_place place = kvc_set_assoc_place(&table, key, key_bytes);
            found = kvc::search_set<SHARED>(table, place, key, key_bytes, &lines);
        }
        shared.text_status[lane] = static_cast<uint8_t>(status);
        shared.key_bytes[lane] = static_cast<uint8_t>(key_bytes);
        shared.item[lane].found = found.entry != nullptr;
        shared.item[lane].flags = static_cast<uint16_t>(found.header.w);
        shared.item[lane].value_bytes = found.header.z;
        shared.location[lane] = found.entry != nullptr ? found.header.y : KVC_LOCATION_NONE;
    } else {
        shared.header_status[lane] =
            static_cast<uint8_t>(kvc_memcachedgpu_packet_check(request, packet.bytes, batch.port));
        if (packet.bytes >= KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET) {
            kvc_memcachedgpu_packet_begin(request, packet.bytes, response);
        }
    }
    __syncthreads();

    if (main_warp) {
        if (found.entry != nullptr && shared.header_status[lane] == KVC_MEMCACHEDGPU_PACKET_OK) {
            kvc::stamp(found, batch.now);
        }
    } else {
        enum kvc_memcachedgpu_packet_status status = kvc_memcachedgpu_packet_both(
            static_cast<enum kvc_memcachedgpu_packet_status>(shared.header_status[lane]),
            static_cast<enum kvc_memcachedgpu_packet_status>(shared.text_status[lane]));
        struct kvc_memcachedgpu_get_result result = {KVC_LOCATION_NONE, 0, 0, 0,
                                                     static_cast<uint8_t>(status)};
        if (status == KVC_MEMCACHEDGPU_PACKET_OK) {
            struct kvc_memcachedgpu_packet_item item = shared.item[lane];
            result.location = shared.location[lane];
            result.value_bytes = item.found ? item.value_bytes : 0;
            result.key_bytes = shared.key_bytes[lane];
            result.response_bytes =
                static_cast<uint16_t>(kvc_memcachedgpu_packet_end(response, result.key_bytes, &item));
            if (result.response_bytes == 0) {
                result.status = KVC_MEMCACHEDGPU_PACKET_VALUE_LONG;
            }
        }
        shared.response_bytes[lane] = result.response_bytes;
        if (lane < packets) {
            batch.results[first + lane] = result;
        }
    }
    __syncthreads();
    store_responses(shared, packets,
                    batch.responses + static_cast<uint64_t>(first) * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
    if constexpr (TIMED) {
        __syncthreads();
        if (threadIdx.x == 0) {
            uint64_t cycles = static_cast<uint64_t>(clock64() - begin);
            clocks[blockIdx.x] = {begin_ns, kvc::global_ns(), cycles};
        }
    }
}

template <bool TIMED>
void launch(const struct kvc_index *index, const struct kvc_memcachedgpu_get_batch *batch,
            struct kvc_memcachedgpu_get_clock *clocks, struct kvc_cuda_stream *stream)
{
    if (batch->count == 0) {
        return;
    }
    bool shared_lock;
    struct kvc_set_assoc_table table = kvc_set_assoc_cuda_table(index, &shared_lock);
    uint32_t blocks = (batch->count - 1) / block_packets + 1;
    auto *kernel = shared_lock ? get_kernel<true, TIMED> : get_kernel<false, TIMED>;
    kernel<<<blocks, block_threads, 0, reinterpret_cast<cudaStream_t>(stream)>>>(table, *batch, clocks);
}

} // namespace

uint32_t kvc_memcachedgpu_get_cuda_shared_bytes(void)
{
    return sizeof(shared_state);
}

void kvc_memcachedgpu_get_cuda(const struct kvc_index *index, const struct kvc_memcachedgpu_get_batch *batch,
                               struct kvc_cuda_stream *stream)
{
    launch<false>(index, batch, nullptr, stream);
}

void kvc_memcachedgpu_get_cuda_timed(const struct kvc_index *index,
                                     const struct kvc_memcachedgpu_get_batch *batch,
                                     struct kvc_memcachedgpu_get_clock *clocks,
                                     struct kvc_cuda_stream *stream)
{
    launch<true>(index, batch, clocks, stream);
}

/* Runs the work of a GPU that answers queries in the host's memory: it searches the index, compares keys,
 * copies values out of items and writes responses, and inserts and erases elements. One thread has one query.
 *
 * The program checks the answers and prints the device only: a profiler counts the instructions of its
 * kernels,
 *
 *     ncu --profile-from-start off --metrics smsp__inst_executed.sum query_cuda_bench
 *
 * in this order: search of present keys, search of absent keys, erase, insert, and insert's second kernel, in
 * a table at load 0.9; then for each size of items the comparison, the copy and the responses, and at last
 * responses without a value. Every kernel has 16,384 queries, that is 512 warps: the count over 512 is what a
 * thread executes, together with what only other threads of its warp need. */
#include <vector>

#include <cuda_profiler_api.h>

#include "kernels/cuda_bench.cuh"
#include "kernels/megakv/cuckoo_cuda.h"
#include "kernels/megakv/packet.h"
#include "kernels/megakv/slab.h"

using kvc::check;
using kvc::device_array;
using kvc::die;

namespace
{

constexpr uint32_t query_count = 16384;
constexpr uint32_t block_threads = 256;
/* at most what insert batches are grouped for; the published kernels do not group either */
constexpr uint64_t table_bytes = 8 << 20;
constexpr uint32_t table_keys = table_bytes / 8 / 640 * 576; /* load 0.9, in 64 equal steps */

/* The items of a slab store with one size class, and the arrays of a batch. Sizes are multiples of 8 bytes.
 */
struct queries {
    const uint8_t *slabs;
    const uint32_t *item_bytes; /* of each slab */
    unsigned long long *referenced;
    const uint32_t *location;
    const uint64_t *keys;
    uint32_t key_words;
    uint32_t value_words; /* distance between values */
    uint64_t *values;
    uint64_t *responses;
    uint8_t *result;
};

__device__ const uint64_t *item_of(const queries &batch, uint32_t location)
{
    uint32_t number = location >> 16;
    return reinterpret_cast<const uint64_t *>(batch.slabs +
                                              static_cast<uint64_t>(number) * KVC_MEGAKV_SLAB_BYTES +
                                              (location & 0xffff) * batch.item_bytes[number]);
}

__global__ void __launch_bounds__(block_threads) compare_keys(queries batch, uint32_t count)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    const uint64_t *item = item_of(batch, batch.location[i]), *key = batch.keys + i * batch.key_words;
    uint64_t header = __ldcg(item);
    bool same = (header & kvc_megakv_slab_tag_using) != 0 &&
                kvc_megakv_slab_header_key_bytes(header) == batch.key_words * 8;
    for (uint32_t word = 0; same && word < batch.key_words; word++) {
        same = __ldcg(item + 1 + word) == key[word];
    }
    batch.result[i] = same ? KVC_MEGAKV_SLAB_HIT : KVC_MEGAKV_SLAB_MISMATCH;
}

__global__ void __launch_bounds__(block_threads) read_values(queries batch, uint32_t count)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count || batch.result[i] != KVC_MEGAKV_SLAB_HIT) {
        return;
    }
    uint32_t location = batch.location[i];
    const uint64_t *item = item_of(batch, location);
    uint64_t *to = batch.values + i * batch.value_words;
    uint64_t header = __ldcg(item);
    const uint64_t *value = item + 1 + kvc_megakv_slab_header_key_bytes(header) / 8;
    uint32_t words = kvc_megakv_slab_header_value_bytes(header) / 8;
    for (uint32_t word = 0; word < words; word++) {
        to[word] = __ldcg(value + word);
    }
    __threadfence();
    bool whole = (header & kvc_megakv_slab_tag_using) != 0 && __ldcg(item) == header;
    unsigned long long *marks = batch.referenced + location / 64, mark = 1ull << (location & 63);
    if (whole && (*marks & mark) == 0) {
        atomicOr(marks, mark);
    }
    batch.result[i] = whole ? KVC_MEGAKV_SLAB_HIT : KVC_MEGAKV_SLAB_CHANGED;
}

__global__ void __launch_bounds__(block_threads)
    write_responses(queries batch, uint32_t words, uint32_t count)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    const uint64_t *from = batch.values + i * batch.value_words;
    uint64_t *to = batch.responses + static_cast<uint64_t>(i) * (1 + words);
    to[0] = KVC_MEGAKV_PACKET_GET | static_cast<uint64_t>(words * 8) << 32;
    for (uint32_t word = 0; word < words; word++) {
        to[1 + word] = from[word];
    }
}

uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

template <typename T> T *on_device(const std::vector<T> &from)
{
    T *array = device_array<T>(from.size());
    check(cudaMemcpy(array, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
    return array;
}

template <typename T> std::vector<T> on_host(const T *from, uint64_t count)
{
    std::vector<T> array(count);
    check(cudaMemcpy(array.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost), "copy");
    return array;
}

/* Runs the kernels that `work` launches under the eyes of the profiler. */
template <typename WORK> void profiled(WORK work)
{
    check(cudaDeviceSynchronize(), "preparation");
    cudaProfilerStart();
    work();
    check(cudaDeviceSynchronize(), "kernel");
    cudaProfilerStop();
}

uint64_t hash_of(uint32_t number)
{
    return mix(number + 1);
}

/* Fills the table and then replaces all its elements three times, the oldest first, because a table that was
 * only filled has more of them in their primary buckets. Returns the number of the oldest element. */
uint32_t fill_and_replace(struct kvc_index *index)
{
    constexpr uint32_t steps = 64, batch = table_keys / steps;
    struct kvc_index_stats stats = {};
    std::vector<uint64_t> hash(batch);
    std::vector<uint32_t> value(batch);
    auto number_from = [&](uint32_t first) {
        for (uint32_t i = 0; i < batch; i++) {
            value[i] = first + i;
            hash[i] = hash_of(first + i);
        }
    };
    for (uint32_t step = 0; step < 4 * steps; step++) {
        if (step >= steps) {
            number_from((step - steps) * batch);
            kvc_index_erase(index, hash.data(), value.data(), batch, nullptr, &stats);
        }
        number_from(step * batch);
        kvc_index_insert(index, hash.data(), value.data(), batch, nullptr, &stats);
    }
    if (stats.dropped != 0 || stats.erased != 3 * steps * batch) {
        die("the table has lost an element");
    }
    return 3 * steps * batch;
}

void run_index()
{
    struct kvc_megakv_cuckoo_params params = {};
    params.bytes = table_bytes;
    params.threads = 1;
    params.max_displacements = 64;
    struct kvc_index *index = kvc_megakv_cuckoo_cuda_create(&params);
    if (index == nullptr) {
        die("no table");
    }
    std::vector<uint64_t> absent(query_count), present(query_count);
    std::vector<uint32_t> value_present(query_count);
    uint32_t oldest = fill_and_replace(index);
    for (uint32_t i = 0; i < query_count; i++) {
        constexpr uint32_t apart = table_keys / query_count;
        value_present[i] = oldest + i * apart + static_cast<uint32_t>(mix(i) % apart);
        present[i] = hash_of(value_present[i]);
        absent[i] = hash_of(oldest + table_keys + i);
    }
    struct kvc_index_stats stats = {};
    uint64_t *device_present = on_device(present), *device_absent = on_device(absent);
    uint32_t *device_value = on_device(value_present), *found = device_array<uint32_t>(query_count);
    profiled([&] { kvc_index_search(index, device_present, query_count, found, &stats); });
    if (stats.search_hits != query_count) {
        die("a key is lost");
    }
    profiled([&] { kvc_index_search(index, device_absent, query_count, found, &stats); });
    profiled([&] { kvc_index_erase(index, device_present, device_value, query_count, found, &stats); });
    if (stats.erased != query_count) {
        die("a key could not be erased");
    }
    profiled([&] { kvc_index_insert(index, device_absent, device_value, query_count, found, &stats); });
    kvc_index_free(index);
    for (void *array : {static_cast<void *>(device_present), static_cast<void *>(device_absent),
                        static_cast<void *>(device_value), static_cast<void *>(found)}) {
        kvc_cuda_free(array);
    }
}

/* The items of a batch lie at random places of a store. */
void run_items(uint32_t key_bytes, uint32_t value_bytes)
{
    uint32_t item_bytes = kvc_megakv_slab_item_bytes(key_bytes, value_bytes);
    uint32_t items = kvc_megakv_slab_items(key_bytes, value_bytes), slabs = (query_count + items - 1) / items;
    uint32_t key_words = key_bytes / 8, value_words = value_bytes / 8;
    std::vector<uint64_t> memory(static_cast<uint64_t>(slabs) * KVC_MEGAKV_SLAB_BYTES / 8);
    std::vector<uint64_t> keys(query_count * key_words), values(query_count * value_words);
    std::vector<uint32_t> location(query_count), size(slabs, item_bytes);
    for (uint32_t i = 0; i < query_count; i++) {
        uint32_t place = static_cast<uint32_t>(i * UINT64_C(7919) % query_count);
        location[i] = place / items << 16 | place % items;
        uint64_t *item = memory.data() + static_cast<uint64_t>(place / items) * KVC_MEGAKV_SLAB_BYTES / 8 +
                         static_cast<uint64_t>(place % items) * item_bytes / 8;
        *item++ = kvc_megakv_slab_header_shape(key_bytes, value_bytes);
        for (uint32_t word = 0; word < key_words; word++) {
            *item++ = keys[i * key_words + word] = mix(i + word);
        }
        for (uint32_t word = 0; word < value_words; word++) {
            *item++ = values[i * value_words + word] = mix(i - word);
        }
    }
    std::vector<unsigned long long> all_referenced(slabs * 65536ull / 64, ~0ull);
    queries batch = {reinterpret_cast<uint8_t *>(on_device(memory)),
                     on_device(size),
                     on_device(all_referenced),
                     on_device(location),
                     on_device(keys),
                     key_words,
                     value_words,
                     device_array<uint64_t>(values.size()),
                     device_array<uint64_t>(values.size() + query_count),
                     device_array<uint8_t>(query_count)};
    constexpr uint32_t blocks = query_count / block_threads;
    profiled([&] { compare_keys<<<blocks, block_threads>>>(batch, query_count); });
    profiled([&] { read_values<<<blocks, block_threads>>>(batch, query_count); });
    if (on_host(batch.values, values.size()) != values ||
        on_host(batch.result, query_count) != std::vector<uint8_t>(query_count, KVC_MEGAKV_SLAB_HIT)) {
        die("a value is not that of its key");
    }
    profiled([&] { write_responses<<<blocks, block_threads>>>(batch, value_words, query_count); });
    std::vector<uint64_t> response = on_host(batch.responses, values.size() + query_count);
    for (uint64_t i = 0; i < response.size(); i++) {
        uint64_t word = i % (1 + value_words);
        if (word != 0 && response[i] != values[i / (1 + value_words) * value_words + word - 1]) {
            die("a response has another value");
        }
    }
    if (value_bytes == 1024) {
        profiled([&] { write_responses<<<blocks, block_threads>>>(batch, 0, query_count); });
    }
    for (const void *array :
         {static_cast<const void *>(batch.slabs), static_cast<const void *>(batch.item_bytes),
          static_cast<const void *>(batch.referenced), static_cast<const void *>(batch.location),
          static_cast<const void *>(batch.keys), static_cast<const void *>(batch.values),
          static_cast<const void *>(batch.responses), static_cast<const void *>(batch.result)}) {
        kvc_cuda_free(const_cast<void *>(array));
    }
}

} // namespace

int main()
{
    kvc::print_header("query_cuda_bench");
    run_index();
    run_items(8, 8);
    run_items(16, 64);
    run_items(32, 256);
    run_items(128, 1024);
    return 0;
}

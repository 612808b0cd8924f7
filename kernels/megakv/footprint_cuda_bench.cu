/* Measures what an index in GPU memory gains from the second-level cache: elementary operations and the
 * cuckoo index by size of the table, and by skew of the keys. Numbers are medians in G/s. */
#include <cmath>

#include "kernels/cuda_bench.cuh"
#include "kernels/megakv/cuckoo_cuda.h"

namespace
{

using kvc::check;
using kvc::device_array;

constexpr double mib = 1048576;
constexpr uint32_t bulk = 1u << 24;

uint32_t grid_of(uint64_t count)
{
    return static_cast<uint32_t>((count + 255) / 256);
}

/* Item i of a list of random items of a table. */
__device__ uint64_t at(uint64_t i, uint64_t items)
{
    return __umul64hi(kvc_mix_64(i), items);
}

__global__ void read_sectors(const uint4 *table, uint64_t sectors, uint64_t count, uint32_t *sink)
{
    uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    if (i < count * 2) {
        uint4 word = __ldcg(table + at(i / 2, sectors) * 2 + i % 2);
        if ((word.x ^ word.y ^ word.z ^ word.w) == 0x12345678u) {
            *sink = 1;
        }
    }
}

__global__ void swap_words(unsigned long long *table, uint64_t words, uint64_t count)
{
    uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    if (i < count) {
        atomicCAS(table + at(i, words), 0ull, i + 1);
    }
}

/* Returns a rank from 1 to `keys` with a probability proportional to its power of -s, by rejection-inversion
 * (Hoermann and Derflinger, 1996); s = 0: all equally often. */
__device__ uint32_t zipf(uint64_t seed, double keys, double s)
{
    for (uint64_t draw = 0;; draw++) {
        double u = static_cast<double>(kvc_mix_64(seed * 64 + draw) >> 11) * 0x1p-53;
        if (s == 0) {
            return 1 + static_cast<uint32_t>(u * keys);
        }
        auto area = [s](double x) { return (pow(x, 1 - s) - 1) / (1 - s); };
        double low = area(1.5) - 1, point = low + u * (area(keys + 0.5) - low);
        double x = pow(1 + point * (1 - s), 1 / (1 - s)), rank = fmin(fmax(floor(x + 0.5), 1.0), keys);
        if (point >= area(rank + 0.5) - pow(rank, -s)) {
            return static_cast<uint32_t>(rank);
        }
    }
}

/* Makes jobs: `keys` = 0: keys from first + 1 on; otherwise some of the keys, by popularity. */
__global__ void make_jobs(uint64_t *hash, uint32_t *value, uint32_t count, uint32_t first, uint32_t keys,
                          double s)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        uint32_t key = keys == 0 ? first + i + 1 : zipf(first + i, keys, s);
        uint32_t signature = kvc::mix_32(key);
        hash[i] = static_cast<uint64_t>(signature) << 32 | kvc::mix_32(signature ^ 0x5bd1e995u);
        value[i] = key;
    }
}

void bench_elements()
{
    constexpr uint64_t count = UINT64_C(1) << 27;
    uint8_t *table = device_array<uint8_t>(UINT64_C(8) << 30);
    uint32_t *sink = device_array<uint32_t>(1);
    cudaMemset(table, 0, UINT64_C(8) << 30);
    std::printf("%8s %8s %8s\n", "MiB", "sectors", "swaps");
    for (double size : {4, 8, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 256, 512, 1024, 2048, 8192}) {
        uint64_t bytes = static_cast<uint64_t>(size * mib);
        double read_s = kvc::time_device_s(5, [&](int) {
            read_sectors<<<grid_of(count * 2), 256>>>(reinterpret_cast<uint4 *>(table), bytes / 32, count,
                                                      sink);
        });
        double swap_s = kvc::time_device_s(5, [&](int) {
            swap_words<<<grid_of(count), 256>>>(reinterpret_cast<unsigned long long *>(table), bytes / 8,
                                                count);
        });
        std::printf("%8.0f %8.2f %8.2f\n", size, count / read_s / 1e9, count / swap_s / 1e9);
        cudaMemset(table, 0, bytes);
    }
    kvc_cuda_free(table);
    kvc_cuda_free(sink);
}

void bench_index(double size, uint32_t slots, enum kvc_megakv_cuckoo_layout layout)
{
    struct kvc_megakv_cuckoo_params params = {};
    params.bytes = static_cast<uint64_t>(size * mib);
    params.layout = layout;
    params.slots = slots;
    params.partitions = 1;
    params.max_displacements = 64;
    struct kvc_index *index = kvc_megakv_cuckoo_cuda_create(&params);
    uint32_t keys = static_cast<uint32_t>(params.bytes / 16);
    uint64_t *hash = device_array<uint64_t>(bulk);
    uint32_t *value = device_array<uint32_t>(bulk), *found = device_array<uint32_t>(bulk);
    for (uint32_t first = 0; first < keys; first += bulk) {
        uint32_t count = std::min(bulk, keys - first);
        make_jobs<<<grid_of(count), 256>>>(hash, value, count, first, 0, 0);
        kvc_index_insert(index, hash, value, count, nullptr, nullptr);
    }
    for (double s : {0.0, 0.6, 0.8, 0.99, 1.2}) {
        make_jobs<<<grid_of(bulk), 256>>>(hash, value, bulk, 0, keys, s);
        std::printf("%-11s %2u slots %6.0f MiB zipf %4.2f",
                    layout == KVC_MEGAKV_CUCKOO_APART ? "apart" : "interleaved", slots, size, s);
        for (uint32_t count : {1u << 14, 1u << 16, 1u << 20, bulk}) {
            auto next = [count](int run) { return static_cast<uint64_t>(run) * count % bulk; };
            int runs = count < bulk ? 101 : 5;
            double search_s = kvc::time_device_s(runs, [&](int run) {
                kvc_megakv_cuckoo_cuda_search_async(index, nullptr, hash + next(run), count, found);
            });
            double insert_s = kvc::time_device_s(runs / 3, [&](int run) {
                kvc_index_insert(index, hash + next(run), value + next(run), count, nullptr, nullptr);
            });
            std::printf("  %8u: %7.2f %8.2f us", count, search_s * 1e6, insert_s * 1e6);
        }
        std::printf("\n");
        std::fflush(stdout);
    }
    kvc_index_free(index);
    kvc_cuda_free(hash);
    kvc_cuda_free(value);
    kvc_cuda_free(found);
}

} // namespace

int main()
{
    kvc::print_header("footprint_cuda_bench");
    bench_elements();
    std::printf("jobs a launch: time of searches that hit, of inserts of present keys\n");
    for (double size : {4, 16, 32, 64, 128, 256, 512, 1024, 2048, 8192}) {
        bench_index(size, 8, KVC_MEGAKV_CUCKOO_APART);
        bench_index(size, 8, KVC_MEGAKV_CUCKOO_INTERLEAVED);
    }
    return 0;
}

/* Measures the cuckoo index on the GPU, next to what its memory allows.
 *
 * Bulk calls work on a table of 2^28 slots (2 GiB) with distinct 32-bit keys (the signature) and 32-bit
 * values; searches are hits in random order. Every table is verified before it is timed: it finds everything
 * that was inserted, with its own value, and nothing else. Numbers are medians; the limits are measured in
 * the same process. */
#include <cstring>
#include <string>

#include "kernels/cuda_bench.cuh"
#include "kernels/hash.h"
#include "kernels/megakv/cuckoo_cuda.h"

using kvc::check;
using kvc::device_array;
using kvc::die;

namespace
{

constexpr uint64_t table_bytes = UINT64_C(2) << 30;
constexpr uint64_t slots_all = table_bytes / 8;
constexpr int runs = 7;

uint32_t grid_of(uint64_t count)
{
    return static_cast<uint32_t>((count + 255) / 256);
}

/* Returns signature and bucket hash of key i; the distinct keys are 1, 2, and so on. */
__host__ __device__ uint64_t hash_of(uint32_t key)
{
    uint32_t signature = kvc::mix_32(key);
    return static_cast<uint64_t>(signature) << 32 | kvc::mix_32(signature ^ 0x5bd1e995u);
}

/* Makes jobs for keys first to first + count - 1, whose values are the keys. */
__global__ void make_jobs(uint64_t *hash, uint32_t *value, uint32_t first, uint32_t count)
{
    uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    if (i < count) {
        hash[i] = hash_of(first + static_cast<uint32_t>(i));
        value[i] = first + static_cast<uint32_t>(i);
    }
}

__global__ void make_lookups(uint64_t *hash, uint32_t *value, uint32_t keys, uint32_t count, uint64_t seed)
{
    uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    if (i < count) {
        uint32_t key = 1 + static_cast<uint32_t>(kvc_mix_64(seed + i * 0x9e3779b97f4a7c15u) % keys);
        hash[i] = hash_of(key);
        value[i] = key;
    }
}

__global__ void count_unlike(const uint32_t *left, const uint32_t *right, uint32_t fixed, uint32_t count,
                             unsigned long long *unlike)
{
    uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    if (i < count && left[i] != (right != nullptr ? right[i] : fixed)) {
        atomicAdd(unlike, 1ull);
    }
}

uint64_t unlike(const uint32_t *left, const uint32_t *right, uint32_t fixed, uint32_t count)
{
    unsigned long long *total = device_array<unsigned long long>(1), result;
    cudaMemset(total, 0, sizeof(*total));
    count_unlike<<<grid_of(count), 256>>>(left, right, fixed, count, total);
    check(cudaMemcpy(&result, total, sizeof(result), cudaMemcpyDeviceToHost), "compare");
    kvc_cuda_free(total);
    return result;
}

/* --- limits --- */

__global__ void read_random(const uint4 *table, uint64_t mask, uint64_t count, int words, uint32_t *sink)
{
    /* `words` threads read neighbouring 16-byte words: 2 make a sector, 4 make a 64-byte bucket. */
    uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    uint64_t at = (kvc_mix_64(i / words) & mask) * words + i % words;
    if (i < count * words) {
        uint4 word = __ldcg(table + at);
        if ((word.x ^ word.y ^ word.z ^ word.w) == 0x12345678u) {
            *sink = 1;
        }
    }
}

__global__ void swap_random(unsigned long long *table, uint64_t mask, uint64_t count)
{
    uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    if (i < count) {
        atomicCAS(table + (kvc_mix_64(i) & mask), 0ull, i + 1);
    }
}

struct limits {
    double sector_gops, bucket_gops, swap_gops;
};

limits measure_limits()
{
    constexpr uint64_t count = UINT64_C(1) << 27;
    uint8_t *table = device_array<uint8_t>(table_bytes);
    uint32_t *sink = device_array<uint32_t>(1);
    limits limit;
    cudaMemset(table, 0x5a, table_bytes);
    auto read = [&](int words) {
        double seconds = kvc::time_device_s(runs, [&](int) {
            read_random<<<grid_of(count * words), 256>>>(reinterpret_cast<uint4 *>(table),
                                                         table_bytes / 16 / words - 1, count, words, sink);
        });
        return count / seconds / 1e9;
    };
    limit.sector_gops = read(2);
    limit.bucket_gops = read(4);
    double line_gops = read(8);
    std::vector<double> seconds;
    for (int run = 0; run < 3; run++) {
        cudaMemset(table, 0, table_bytes);
        seconds.push_back(kvc::time_device_s(1, [&](int) {
            swap_random<<<grid_of(count), 256>>>(reinterpret_cast<unsigned long long *>(table),
                                                 table_bytes / 8 - 1, count);
        }));
    }
    limit.swap_gops = count / kvc::median(seconds) / 1e9;
    std::printf("limits, G/s: random 32-byte sectors %.1f, 64-byte buckets by 4 threads %.1f, 128-byte lines "
                "by 8 %.1f, "
                "8-byte compare-and-swap %.1f\n",
                limit.sector_gops, limit.bucket_gops, line_gops, limit.swap_gops);
    kvc_cuda_free(table);
    kvc_cuda_free(sink);
    return limit;
}

/* --- bulk --- */

struct geometry {
    enum kvc_megakv_cuckoo_layout layout;
    uint32_t slots, threads, partitions;
};

struct kvc_index *create(const geometry &shape, bool published = false)
{
    struct kvc_megakv_cuckoo_params params = {};
    params.bytes = table_bytes;
    params.layout = shape.layout;
    params.slots = shape.slots;
    params.threads = shape.threads;
    params.partitions = shape.partitions;
    params.max_displacements = 64;
    params.published_displacement = published;
    struct kvc_index *index = kvc_megakv_cuckoo_cuda_create(&params);
    if (index == nullptr) {
        std::perror("create");
        std::exit(3);
    }
    return index;
}

struct jobs {
    uint64_t *hash;
    uint32_t *value, *found;
    uint32_t count;
};

struct bulk_result {
    double insert_gops, search_gops, miss_gops, erase_gops;
    uint64_t dropped, wrong, displacements;
    double lines_per_search, lines_per_insert;
};

const char *layout_name(enum kvc_megakv_cuckoo_layout layout)
{
    return layout == KVC_MEGAKV_CUCKOO_APART ? "apart" : "interleaved";
}

/* Fills new tables with `keys` keys, one call each, and measures the calls; returns the last table. */
struct kvc_index *bench_inserts(const geometry &shape, uint32_t keys, const jobs &all, bulk_result *result)
{
    struct kvc_index_stats stats = {};
    struct kvc_index *index = nullptr;
    std::vector<double> seconds;
    for (int run = 0; run < 5; run++) {
        kvc_index_free(index);
        index = create(shape);
        make_jobs<<<grid_of(keys), 256>>>(all.hash, all.value, 1, keys);
        check(cudaDeviceSynchronize(), "jobs");
        stats = {};
        cudaEvent_t start, stop;
        cudaEventCreate(&start);
        cudaEventCreate(&stop);
        cudaEventRecord(start);
        kvc_index_insert(index, all.hash, all.value, keys, nullptr, &stats);
        cudaEventRecord(stop);
        check(cudaEventSynchronize(stop), "insert");
        float ms;
        cudaEventElapsedTime(&ms, start, stop);
        seconds.push_back(ms * 1e-3);
    }
    result->insert_gops = keys / kvc::median(seconds) / 1e9;
    result->dropped = stats.dropped;
    result->displacements = stats.displacements;
    result->lines_per_insert = static_cast<double>(stats.insert_lines) / keys;
    if (kvc_index_used(index) + stats.dropped != keys) {
        die("an inserted key is neither in the table nor reported");
    }
    return index;
}

double search_gops(struct kvc_index *index, uint32_t keys, const jobs &all)
{
    return keys / 1e9 / kvc::time_device_s(runs, [&](int) {
               kvc_megakv_cuckoo_cuda_search_async(index, nullptr, all.hash, keys, all.found);
           });
}

/* Verifies the table, and measures searches for keys that it has and for keys that it has not. */
void bench_searches(struct kvc_index *index, uint32_t keys, const jobs &all, bulk_result *result)
{
    struct kvc_index_stats stats = {};
    /* Every inserted key is found, with its own value. */
    kvc_index_search(index, all.hash, keys, all.found, nullptr);
    result->wrong = unlike(all.found, all.value, 0, keys);
    make_lookups<<<grid_of(keys), 256>>>(all.hash, all.value, keys, keys, 77);
    kvc_index_search(index, all.hash, keys, all.found, &stats);
    result->lines_per_search = static_cast<double>(stats.search_lines) / keys;
    result->search_gops = search_gops(index, keys, all);
    /* No other key is found. */
    make_jobs<<<grid_of(keys), 256>>>(all.hash, all.value, keys + 1, keys);
    kvc_index_search(index, all.hash, keys, all.found, nullptr);
    if (unlike(all.found, nullptr, KVC_LOCATION_NONE, keys) != 0) {
        die("a key was found that was never inserted");
    }
    result->miss_gops = search_gops(index, keys, all);
}

void bench_erases(struct kvc_index *index, uint32_t keys, const jobs &all, bulk_result *result)
{
    struct kvc_index_stats stats = {};
    make_jobs<<<grid_of(keys), 256>>>(all.hash, all.value, 1, keys);
    double start = kvc::now_s();
    kvc_index_erase(index, all.hash, all.value, keys, nullptr, &stats);
    result->erase_gops = keys / (kvc::now_s() - start) / 1e9;
    if (stats.erased + result->dropped != keys || kvc_index_used(index) != 0) {
        die("some keys were not erased");
    }
}

/* Fills a table to `load` in one call, verifies it and measures it. */
void bench_bulk(const geometry &shape, double load, const jobs &all)
{
    bulk_result result = {};
    uint32_t keys = static_cast<uint32_t>(load * slots_all);
    struct kvc_index *index = bench_inserts(shape, keys, all, &result);
    bench_searches(index, keys, all, &result);
    bench_erases(index, keys, all, &result);
    kvc_index_free(index);
    std::printf("%-11s %2u slots, %u threads, %3u partitions, load %.2f: search %5.1f (%.3f buckets), "
                "misses %5.1f, insert %5.1f (%.3f "
                "buckets, %.4f moves), erase %5.1f G/s; %llu dropped, %llu wrong\n",
                layout_name(shape.layout), shape.slots, shape.threads, shape.partitions, load,
                result.search_gops, result.lines_per_search, result.miss_gops, result.insert_gops,
                result.lines_per_insert, static_cast<double>(result.displacements) / keys, result.erase_gops,
                static_cast<unsigned long long>(result.dropped),
                static_cast<unsigned long long>(result.wrong));
    std::fflush(stdout);
    if (result.wrong != result.dropped) {
        die("an inserted key is not found");
    }
}

jobs allocate_jobs(uint64_t count)
{
    return {device_array<uint64_t>(count), device_array<uint32_t>(count), device_array<uint32_t>(count),
            static_cast<uint32_t>(count)};
}

void free_jobs(const jobs &all)
{
    kvc_cuda_free(all.hash);
    kvc_cuda_free(all.value);
    kvc_cuda_free(all.found);
}

void bench_all_bulk(bool quick)
{
    jobs all = allocate_jobs(slots_all);
    std::vector<geometry> shapes;
    for (enum kvc_megakv_cuckoo_layout layout : {KVC_MEGAKV_CUCKOO_APART, KVC_MEGAKV_CUCKOO_INTERLEAVED}) {
        for (uint32_t slots : {4u, 8u}) {
            for (uint32_t threads = quick ? 2 : 1; threads <= (quick ? 4 : slots); threads *= 2) {
                shapes.push_back({layout, slots, threads, 256});
            }
        }
    }
    shapes.push_back({KVC_MEGAKV_CUCKOO_APART, 8, 2, 1});
    shapes.push_back({KVC_MEGAKV_CUCKOO_INTERLEAVED, 8, 4, 1});
    std::printf("\nbulk calls, %llu slots:\n", static_cast<unsigned long long>(slots_all));
    for (const geometry &shape : shapes) {
        for (double load : {0.5, 0.8, 0.9}) {
            if (!quick || load < 0.9) {
                bench_bulk(shape, load, all);
            }
        }
    }
    free_jobs(all);
}

/* Counts the elements that the published displacement loses. */
void bench_published()
{
    jobs all = allocate_jobs(slots_all);
    std::printf("\npublished displacement (alternate bucket of a displaced element from the new element's "
                "signature):\n");
    for (double load : {0.5, 0.8, 0.9}) {
        struct kvc_index *index = create({KVC_MEGAKV_CUCKOO_APART, 8, 0, 1}, true);
        uint32_t keys = static_cast<uint32_t>(load * slots_all);
        struct kvc_index_stats stats = {};
        make_jobs<<<grid_of(keys), 256>>>(all.hash, all.value, 1, keys);
        kvc_index_insert(index, all.hash, all.value, keys, nullptr, &stats);
        kvc_index_search(index, all.hash, keys, all.found, nullptr);
        uint64_t wrong = unlike(all.found, all.value, 0, keys);
        std::printf("load %.2f: %llu of %u lookups wrong (%.4f %%), %llu dropped and reported, %.5f moves "
                    "per insert\n",
                    load, static_cast<unsigned long long>(wrong), keys, 100.0 * wrong / keys,
                    static_cast<unsigned long long>(stats.dropped),
                    static_cast<double>(stats.displacements) / keys);
        kvc_index_free(index);
    }
    free_jobs(all);
}

/* --- over PCIe --- */

double pcie_once(struct kvc_index *index, std::vector<struct kvc_cuda_stream *> &streams,
                 const uint64_t *hash, uint32_t *found, uint32_t count)
{
    uint32_t share = static_cast<uint32_t>((count + streams.size() - 1) / streams.size());
    double start = kvc::now_s();
    for (size_t s = 0; s < streams.size(); s++) {
        uint32_t first = static_cast<uint32_t>(s) * share;
        if (first < count) {
            kvc_megakv_cuckoo_cuda_search_async(index, streams[s], hash + first,
                                                count - first < share ? count - first : share, found + first);
        }
    }
    for (struct kvc_cuda_stream *stream : streams) {
        if (!kvc_cuda_stream_wait(stream)) {
            die("a stream failed");
        }
    }
    return kvc::now_s() - start;
}

/* Times a search with copies into device memory and back. */
double pcie_copied(struct kvc_index *index, std::vector<struct kvc_cuda_stream *> &streams,
                   const uint64_t *hash, uint32_t *found, const jobs &device, uint32_t count, uint32_t pieces)
{
    uint32_t share = (count + pieces - 1) / pieces;
    double start = kvc::now_s();
    for (uint32_t p = 0; p < pieces; p++) {
        uint32_t first = p * share, size = count - first < share ? count - first : share;
        cudaStream_t stream = reinterpret_cast<cudaStream_t>(streams[p % streams.size()]);
        if (first >= count) {
            break;
        }
        cudaMemcpyAsync(device.hash + first, hash + first, size * 8ull, cudaMemcpyHostToDevice, stream);
        kvc_megakv_cuckoo_cuda_search_async(index, streams[p % streams.size()], device.hash + first, size,
                                            device.found + first);
        cudaMemcpyAsync(found + first, device.found + first, size * 4ull, cudaMemcpyDeviceToHost, stream);
    }
    for (struct kvc_cuda_stream *stream : streams) {
        kvc_cuda_stream_wait(stream);
    }
    return kvc::now_s() - start;
}

void bench_pcie(const geometry &shape)
{
    constexpr uint32_t most = 16u << 20;
    uint32_t keys = slots_all / 2;
    jobs all = allocate_jobs(keys);
    struct kvc_index *index = create(shape);
    make_jobs<<<grid_of(keys), 256>>>(all.hash, all.value, 1, keys);
    kvc_index_insert(index, all.hash, all.value, keys, nullptr, nullptr);
    uint64_t *hash = static_cast<uint64_t *>(kvc_cuda_alloc_pinned(most * 8ull));
    uint32_t *found = static_cast<uint32_t *>(kvc_cuda_alloc_pinned(most * 4ull));
    uint32_t *value = static_cast<uint32_t *>(std::malloc(most * 4ull));
    if (hash == nullptr || found == nullptr || value == nullptr) {
        die("no pinned memory");
    }
    make_lookups<<<grid_of(most), 256>>>(all.hash, all.value, keys, most, 5);
    check(cudaMemcpy(hash, all.hash, most * 8ull, cudaMemcpyDeviceToHost), "copy");
    check(cudaMemcpy(value, all.value, most * 4ull, cudaMemcpyDeviceToHost), "copy");
    std::printf(
        "\nsearch over PCIe, 8 B in and 4 B out per job, %s, %u slots, load 0.5; us per batch, G/s:\n",
        layout_name(shape.layout), shape.slots);
    std::printf("%10s %22s %22s %22s %22s\n", "jobs", "in place, 1 stream", "in place, 7 streams",
                "copied, 1 stream", "copied, 7 streams");
    for (uint32_t count = 1024; count <= most; count *= 4) {
        std::printf("%10u", count);
        for (bool copied : {false, true}) {
            for (size_t streams_used : {1, 7}) {
                std::vector<struct kvc_cuda_stream *> streams;
                for (size_t s = 0; s < streams_used; s++) {
                    streams.push_back(kvc_cuda_stream_create());
                }
                std::memset(found, 0, count * 4ull);
                std::vector<double> seconds;
                for (int run = 0; run < 31; run++) {
                    uint32_t pieces = streams_used == 1 ? 1 : count < (1u << 20) ? 7 : 28;
                    double s = copied ? pcie_copied(index, streams, hash, found, all, count, pieces)
                                      : pcie_once(index, streams, hash, found, count);
                    if (run > 3) {
                        seconds.push_back(s);
                    }
                }
                if (std::memcmp(found, value, count * 4ull) != 0) {
                    die("a search over PCIe gave a wrong location");
                }
                std::printf(" %12.1f us %6.2f", kvc::median(seconds) * 1e6,
                            count / kvc::median(seconds) / 1e9);
                for (struct kvc_cuda_stream *stream : streams) {
                    kvc_cuda_stream_free(stream);
                }
            }
        }
        std::printf("   limit 20 us + 0.27 ns: %.1f us\n", 20 + 0.27e-3 * count);
        std::fflush(stdout);
    }
    kvc_cuda_free_pinned(hash);
    kvc_cuda_free_pinned(found);
    std::free(value);
    kvc_index_free(index);
    free_jobs(all);
}

/* --- the paper's Figures 6 and 7 on this GPU --- */

void bench_figure_6()
{
    constexpr uint32_t jobs_count = 60000;
    jobs all = allocate_jobs(slots_all / 2);
    uint32_t keys = slots_all / 2;
    std::printf(
        "\nsearch time of %u jobs in device memory, load 0.5, us (Mega-KV's Fig. 6), by slots and threads:\n",
        jobs_count);
    for (enum kvc_megakv_cuckoo_layout layout : {KVC_MEGAKV_CUCKOO_APART, KVC_MEGAKV_CUCKOO_INTERLEAVED}) {
        for (uint32_t slots : {4u, 8u, 16u, 32u}) {
            std::printf("%-11s %2u slots:", layout_name(layout), slots);
            for (uint32_t threads = 1; threads <= slots; threads *= 2) {
                struct kvc_index *index = create({layout, slots, threads, 1});
                make_jobs<<<grid_of(keys), 256>>>(all.hash, all.value, 1, keys);
                kvc_index_insert(index, all.hash, all.value, keys, nullptr, nullptr);
                make_lookups<<<grid_of(keys), 256>>>(all.hash, all.value, keys, keys, 9);
                double seconds = kvc::time_device_s(201, [&](int run) {
                    kvc_megakv_cuckoo_cuda_search_async(index, nullptr,
                                                        all.hash + run * static_cast<uint64_t>(jobs_count),
                                                        jobs_count, all.found);
                });
                std::printf("  %2u: %5.2f", threads, seconds * 1e6);
                kvc_index_free(index);
            }
            std::printf("\n");
            std::fflush(stdout);
        }
    }
    free_jobs(all);
}

void bench_figure_7()
{
    jobs all = allocate_jobs(slots_all / 2);
    std::printf("\ninsert with one block of threads a partition (Mega-KV's Fig. 7), apart, 8 slots, M/s, by "
                "partitions:\n");
    for (uint32_t batch : {16384u, 65536u, 262144u, 1048576u}) {
        std::printf("%8u jobs:", batch);
        for (uint32_t partitions = 1; partitions <= 1024; partitions *= 4) {
            struct kvc_index *index = create({KVC_MEGAKV_CUCKOO_APART, 8, 0, partitions});
            kvc_megakv_cuckoo_cuda_exclusive_blocks(index, true);
            uint64_t next = 0;
            make_jobs<<<grid_of(batch * 12), 256>>>(all.hash, all.value, 1, batch * 12);
            double seconds = kvc::time_device_s(11, [&](int) {
                kvc_index_insert(index, all.hash + next, all.value + next, batch, nullptr, nullptr);
                next += batch;
            });
            std::printf("  %4u: %7.1f", partitions, batch / seconds / 1e6);
            kvc_index_free(index);
        }
        std::printf("\n");
        std::fflush(stdout);
    }
    free_jobs(all);
}

} // namespace

int main(int argc, char **argv)
{
    bool quick = argc > 1 && std::strcmp(argv[1], "-q") == 0;
    if (argc > 2 || (argc == 2 && !quick)) {
        std::fprintf(stderr, "usage: cuckoo_cuda_bench [-q]\n");
        return 2;
    }
    kvc::print_header("cuckoo_cuda_bench");
    measure_limits();
    bench_all_bulk(quick);
    bench_pcie({KVC_MEGAKV_CUCKOO_INTERLEAVED, 8, 0, 1});
    bench_pcie({KVC_MEGAKV_CUCKOO_APART, 8, 0, 1});
    bench_published();
    bench_figure_6();
    bench_figure_7();
    return 0;
}

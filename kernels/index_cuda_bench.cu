/* Measures all GPU indexes in their published geometry through the common interface.
 *
 * Calls are bulk operations on arrays in device memory. Searches hit at random, at half load. A kind that
 * changes its table one element at a time gets smaller batches, and only as many as fit into two seconds. The
 * exit status is 77 if there is no device.
 *
 * usage: index_cuda_bench [LOG2_BYTES]   (default 31: tables of 2 GiB) */
#include <cmath>

#include "kernels/cuda_bench.cuh"
#include "kernels/hash.h"
#include "kernels/index_kinds.h"

namespace
{

constexpr uint32_t batch_max = 1 << 24, batch_min = 1 << 16;
constexpr int runs = 7;
constexpr double call_s = 0.05, fill_s = 2;

/* Element i of a batch that starts at `first` has the hash mix_64(first + i + 1) and the location first + i.
 */
__global__ void in_order(uint64_t *hash, uint32_t *location, uint32_t first)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    hash[i] = kvc_mix_64(first + i + 1);
    location[i] = first + i;
}

__global__ void at_random(uint64_t *hash, uint32_t *location, uint32_t held, uint32_t seed)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t which = static_cast<uint32_t>(kvc_mix_64(i * 7919ull + seed) % held);
    hash[i] = kvc_mix_64(which + 1ull);
    location[i] = which;
}

__global__ void count_wrong(const uint32_t *location, const uint32_t *found, unsigned long long *wrong)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (found[i] != location[i]) {
        atomicAdd(wrong, 1ull);
    }
}

struct arrays {
    uint64_t *hash;
    uint32_t *location, *found;
    unsigned long long *wrong;
};

unsigned long long wrong_answers(const arrays &at, uint32_t batch)
{
    unsigned long long wrong;
    kvc::check(cudaMemset(at.wrong, 0, sizeof(wrong)), "clear");
    count_wrong<<<batch / 256, 256>>>(at.location, at.found, at.wrong);
    kvc::check(cudaMemcpy(&wrong, at.wrong, sizeof(wrong), cudaMemcpyDefault), "read back");
    return wrong;
}

template <typename WORK> double timed_s(WORK work)
{
    kvc::check(cudaDeviceSynchronize(), "keys");
    double start_s = kvc::now_s();
    work();
    return kvc::now_s() - start_s;
}

double insert_s(struct kvc_index *index, const arrays &at, uint32_t first, uint32_t batch,
                struct kvc_index_stats *stats)
{
    in_order<<<batch / 256, 256>>>(at.hash, at.location, first);
    return timed_s([&] { kvc_index_insert(index, at.hash, at.location, batch, nullptr, stats); });
}

/* Returns the largest batch that should take at most call_s, judging by the second of two small batches. */
uint32_t batch_for(struct kvc_index *index, const arrays &at, struct kvc_index_stats *stats)
{
    insert_s(index, at, 0, batch_min, stats);
    double seconds = insert_s(index, at, batch_min, batch_min, stats);
    uint32_t batch = batch_min;
    for (; batch < batch_max && seconds < call_s / 2; seconds *= 2) {
        batch *= 2;
    }
    return batch;
}

double lines(uint64_t touched, uint64_t operations)
{
    return static_cast<double>(touched) / static_cast<double>(operations);
}

void bench_kind(const struct kvc_index_kind &kind, uint64_t bytes, const arrays &at)
{
    struct kvc_index *index = kind.create(bytes, 1);
    if (index == nullptr) {
        std::perror(kind.name);
        std::exit(3);
    }
    struct kvc_index_stats stats = {};
    uint32_t batch = batch_for(index, at, &stats), held = 2 * batch_min;
    uint64_t half = kvc_index_capacity(index) / 2;
    std::vector<double> insert, search, erase;
    double left_s = fill_s;
    while (insert.empty() || (held + batch <= half && left_s > 0)) {
        insert.push_back(insert_s(index, at, held, batch, &stats));
        left_s -= insert.back();
        held += batch;
    }
    unsigned long long wrong = 0;
    for (int run = 0; run < runs; run++) {
        at_random<<<batch / 256, 256>>>(at.hash, at.location, held, run);
        search.push_back(timed_s([&] { kvc_index_search(index, at.hash, batch, at.found, &stats); }));
        wrong += wrong_answers(at, batch);
    }
    double load = static_cast<double>(kvc_index_used(index)) / static_cast<double>(kvc_index_capacity(index));
    for (uint32_t first = 0; first + batch <= held; first += batch) {
        in_order<<<batch / 256, 256>>>(at.hash, at.location, first);
        erase.push_back(
            timed_s([&] { kvc_index_erase(index, at.hash, at.location, batch, nullptr, &stats); }));
    }
    std::printf("%-28s %9u %6.2f %9.3f %9.3f %9.3f %8.2f %8.2f %8.2f %8.4f\n", kind.name, batch, load,
                batch / kvc::median(search) * 1e-9, batch / kvc::median(insert) * 1e-9,
                batch / kvc::median(erase) * 1e-9, lines(stats.search_lines, stats.searches),
                lines(stats.insert_lines, stats.inserts), lines(stats.erase_lines, stats.erases),
                100.0 * static_cast<double>(wrong) / (static_cast<double>(runs) * batch));
    std::fflush(stdout);
    kvc_index_free(index);
}

} // namespace

int main(int argc, char **argv)
{
    int log2_bytes = argc > 1 ? std::atoi(argv[1]) : 31;
    if (argc > 2 || log2_bytes < 30 || log2_bytes > 36) {
        std::fprintf(stderr, "usage: index_cuda_bench [LOG2_BYTES 30..36]\n");
        return 2;
    }
    kvc::print_header("index_cuda_bench");
    std::printf(
        "tables of %.0f GiB; lines: 64-byte lines per operation; wrong: no location, or another key's\n"
        "%-28s %9s %6s %9s %9s %9s %8s %8s %8s %8s\n%-28s %9s %6s %9s %9s %9s\n",
        std::ldexp(1.0, log2_bytes - 30), "index", "batch", "load", "search", "insert", "erase", "lines/s",
        "lines/i", "lines/e", "wrong_%", "", "", "", "G/s", "G/s", "G/s");
    arrays at = {kvc::device_array<uint64_t>(batch_max), kvc::device_array<uint32_t>(batch_max),
                 kvc::device_array<uint32_t>(batch_max), kvc::device_array<unsigned long long>(1)};
    for (uint32_t k = 0; kvc_cuda_index_kinds[k] != nullptr; k++) {
        bench_kind(*kvc_cuda_index_kinds[k], UINT64_C(1) << log2_bytes, at);
    }
    kvc_cuda_free(at.hash);
    kvc_cuda_free(at.location);
    kvc_cuda_free(at.found);
    kvc_cuda_free(at.wrong);
    return 0;
}

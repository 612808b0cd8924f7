/* All GPU indexes in their published geometry, through the common interface: bulk calls on arrays in device
 * memory, random hits, at half load. Exit status 77: no device.
 *
 * usage: index_cuda_bench [LOG2_BYTES]   (31: tables of 2 GiB) */
#include <cmath>

#include "kernels/cuda_bench.cuh"

namespace
{

constexpr uint32_t batch = 1 << 24;
constexpr int runs = 7;

/* Element i of the run that starts at `first` has hash mix_64(first + i) and location first + i. */
__global__ void in_order(uint64_t *hash, uint32_t *location, uint32_t first)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    hash[i] = kvc::mix_64(first + i + 1);
    location[i] = first + i;
}

__global__ void at_random(uint64_t *hash, uint32_t *location, uint32_t held, uint32_t seed)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t which = static_cast<uint32_t>(kvc::mix_64(i * 7919ull + seed) % held);
    hash[i] = kvc::mix_64(which + 1ull);
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

unsigned long long wrong_answers(const arrays &at)
{
    unsigned long long wrong;
    kvc::check(cudaMemset(at.wrong, 0, sizeof(wrong)), "clear");
    count_wrong<<<batch / 256, 256>>>(at.location, at.found, at.wrong);
    kvc::check(cudaMemcpy(&wrong, at.wrong, sizeof(wrong), cudaMemcpyDefault), "read back");
    return wrong;
}

void bench_kind(const struct kvc_index_kind &kind, uint64_t bytes, const arrays &at)
{
    struct kvc_index *index = kind.create(bytes, 1);
    if (index == nullptr) {
        std::perror(kind.name);
        std::exit(3);
    }
    struct kvc_index_stats stats = {};
    uint32_t held = 0;
    std::vector<double> insert_s, erase_s;
    while (held + batch <= kvc_index_capacity(index) / 2 || held == 0) {
        in_order<<<batch / 256, 256>>>(at.hash, at.location, held);
        kvc::check(cudaDeviceSynchronize(), "keys");
        double start_s = kvc::now_s();
        kvc_index_insert(index, at.hash, at.location, batch, nullptr, &stats);
        insert_s.push_back(kvc::now_s() - start_s);
        held += batch;
    }
    std::vector<double> search_s;
    unsigned long long wrong = 0;
    for (int run = 0; run < runs; run++) {
        at_random<<<batch / 256, 256>>>(at.hash, at.location, held, run);
        kvc::check(cudaDeviceSynchronize(), "keys");
        double start_s = kvc::now_s();
        kvc_index_search(index, at.hash, batch, at.found, &stats);
        search_s.push_back(kvc::now_s() - start_s);
        wrong += wrong_answers(at);
    }
    double load = static_cast<double>(kvc_index_used(index)) / static_cast<double>(kvc_index_capacity(index));
    for (uint32_t first = 0; first < held; first += batch) {
        in_order<<<batch / 256, 256>>>(at.hash, at.location, first);
        kvc::check(cudaDeviceSynchronize(), "keys");
        double start_s = kvc::now_s();
        kvc_index_erase(index, at.hash, at.location, batch, nullptr, &stats);
        erase_s.push_back(kvc::now_s() - start_s);
    }
    std::printf("%-26s %6.2f %8.2f %8.2f %8.2f %9.2f %9.2f %9.2f %8.4f\n", kind.name, load,
                batch / kvc::median(search_s) * 1e-9, batch / kvc::median(insert_s) * 1e-9,
                batch / kvc::median(erase_s) * 1e-9,
                static_cast<double>(stats.search_lines) / static_cast<double>(stats.searches),
                static_cast<double>(stats.insert_lines) / static_cast<double>(stats.inserts),
                static_cast<double>(stats.erase_lines) / static_cast<double>(stats.erases),
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
        "bulk calls of %u, tables of %.1f GiB; wrong: another key's or none, or displaced unnoticed\n", batch,
        std::ldexp(1.0, log2_bytes - 30));
    std::printf("%-26s %6s %8s %8s %8s %9s %9s %9s %8s\n", "index", "load", "search", "insert", "erase",
                "lines/s", "lines/i", "lines/e", "wrong_%");
    std::printf("%-26s %6s %8s %8s %8s\n", "", "", "G/s", "G/s", "G/s");
    arrays at = {kvc::device_array<uint64_t>(batch), kvc::device_array<uint32_t>(batch),
                 kvc::device_array<uint32_t>(batch), kvc::device_array<unsigned long long>(1)};
    for (uint32_t k = 0; kvc_cuda_index_kinds[k] != nullptr; k++) {
        bench_kind(*kvc_cuda_index_kinds[k], UINT64_C(1) << log2_bytes, at);
    }
    kvc_cuda_free(at.hash);
    kvc_cuda_free(at.location);
    kvc_cuda_free(at.found);
    kvc_cuda_free(at.wrong);
    return 0;
}

/* Support for GPU benchmarks and tests: timing on the device, medians, and a line that says where the metrics
 * come from. */
#ifndef KVC_KERNELS_CUDA_BENCH_CUH
#define KVC_KERNELS_CUDA_BENCH_CUH

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/cuda.h"
#include "kernels/hash.h"

#ifndef KVC_COMMIT
#define KVC_COMMIT "unknown"
#endif

namespace kvc
{

/* The finaliser of MurmurHash3. */
__host__ __device__ inline uint32_t mix_32(uint32_t z)
{
    z = (z ^ z >> 16) * 0x85ebca6bu;
    z = (z ^ z >> 13) * 0xc2b2ae35u;
    return z ^ z >> 16;
}

inline void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        std::exit(3);
    }
}

[[noreturn]] inline void die(const char *what)
{
    std::fprintf(stderr, "wrong: %s\n", what);
    std::exit(1);
}

/* Exits with status 77, which means skipped, if there is no device. */
inline void need_device()
{
    struct kvc_cuda_device device;
    if (!kvc_cuda_device(&device)) {
        std::fprintf(stderr, "no CUDA device: skipped\n");
        std::exit(77);
    }
}

inline void print_header(const char *name)
{
    struct kvc_cuda_device device;
    char date[32];
    std::time_t now = std::time(nullptr);
    need_device();
    kvc_cuda_device(&device);
    std::strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
    std::printf(
        "# %s: %s, %d multiprocessors, %.0f GiB, L2 %.0f MiB; driver %d.%d, CUDA %d.%d; commit %s; %s\n",
        name, device.name, device.multiprocessors, device.memory_bytes / 1073741824.0,
        device.l2_bytes / 1048576.0, device.driver / 1000, device.driver % 1000 / 10, device.runtime / 1000,
        device.runtime % 1000 / 10, KVC_COMMIT, date);
    std::fflush(stdout);
}

inline double median(std::vector<double> value)
{
    std::sort(value.begin(), value.end());
    return value[value.size() / 2];
}

/* Median time of `runs` calls of `work` on the default stream, after one warm-up call [s]. */
template <typename WORK> double time_device_s(int runs, WORK work)
{
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start), "event");
    check(cudaEventCreate(&stop), "event");
    std::vector<double> seconds;
    for (int run = -1; run < runs; run++) {
        float ms = 0;
        cudaEventRecord(start);
        work(run < 0 ? 0 : run);
        cudaEventRecord(stop);
        check(cudaEventSynchronize(stop), "timed work");
        cudaEventElapsedTime(&ms, start, stop);
        if (run >= 0) {
            seconds.push_back(ms * 1e-3);
        }
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    return median(seconds);
}

inline double now_s()
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <typename T> T *device_array(uint64_t count)
{
    T *array = static_cast<T *>(kvc_cuda_alloc(count * sizeof(T)));
    if (array == nullptr) {
        std::fprintf(stderr, "out of device memory\n");
        std::exit(3);
    }
    return array;
}

} // namespace kvc

#endif

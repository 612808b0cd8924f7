/* The clock that all multiprocessors of the device share. */
#ifndef KVC_KERNELS_GLOBAL_CLOCK_CUH
#define KVC_KERNELS_GLOBAL_CLOCK_CUH

#include <cstdint>

namespace kvc
{

/* Returns the time since an arbitrary origin [ns]; its resolution depends on the device. */
__device__ __forceinline__ uint64_t global_ns()
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    return ns;
}

} // namespace kvc

#endif

/* Bijections that scramble words, to derive keys and places on the device. */
#ifndef KVC_KERNELS_MIX_CUH
#define KVC_KERNELS_MIX_CUH

#include <cstdint>

namespace kvc
{

/* The finaliser of MurmurHash3. */
__host__ __device__ inline uint32_t mix_32(uint32_t z)
{
    z = (z ^ z >> 16) * 0x85ebca6bu;
    z = (z ^ z >> 13) * 0xc2b2ae35u;
    return z ^ z >> 16;
}

/* The finaliser of SplitMix64. */
__host__ __device__ inline uint64_t mix_64(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

} // namespace kvc

#endif

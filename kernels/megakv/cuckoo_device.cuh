/* The cuckoo table as kernels see it. */
#ifndef KVC_KERNELS_MEGAKV_CUCKOO_DEVICE_CUH
#define KVC_KERNELS_MEGAKV_CUCKOO_DEVICE_CUH

#include <cstdint>

#include "kernels/megakv/cuckoo_layout.h"

namespace kvc
{

/* What kernels count; every block adds to it once. */
struct cuckoo_counters {
    unsigned long long search_hits, search_lines;
    unsigned long long inserted, insert_lines, replaced, displacements, dropped;
    unsigned long long erased, erase_lines;
};

struct cuckoo_table {
    uint32_t *words;
    struct kvc_megakv_cuckoo_layout_masks masks;
    uint32_t max_displacements;
    cuckoo_counters *counters;
    /* Elements moved so far, for a table in the host's memory, which the host searches at the same time;
     * otherwise NULL. */
    unsigned long long *moves;
};

/* Loads WORDS words from an address that is aligned to as many words (at most 4). The loads bypass the
 * first-level cache, because another thread may just have written the words. */
template <int WORDS> __device__ __forceinline__ void load_words(const uint32_t *from, uint32_t (&word)[WORDS])
{
    if constexpr (WORDS == 1) {
        word[0] = __ldcg(from);
    } else if constexpr (WORDS == 2) {
        uint2 two = __ldcg(reinterpret_cast<const uint2 *>(from));
        word[0] = two.x;
        word[1] = two.y;
    } else {
#pragma unroll
        for (int i = 0; i < WORDS; i += 4) {
            uint4 four = __ldcg(reinterpret_cast<const uint4 *>(from + i));
            word[i] = four.x;
            word[i + 1] = four.y;
            word[i + 2] = four.z;
            word[i + 3] = four.w;
        }
    }
}

/* The part of a bucket that one of THREADS threads reads. In the layout with signatures and locations apart
 * it is signatures only. */
template <int SLOTS, int THREADS, bool APART> struct bucket_share {
    static constexpr int slots = SLOTS / THREADS;
    static constexpr int words = APART ? slots : 2 * slots;
    uint32_t word[words];

    __device__ __forceinline__ void load(const uint32_t *bucket, uint32_t member)
    {
        load_words<words>(bucket + member * words, word);
    }

    __device__ __forceinline__ uint32_t signature(int slot) const
    {
        return word[APART ? slot : 2 * slot];
    }

    /* Interleaved layout only. */
    __device__ __forceinline__ uint32_t location(int slot) const
    {
        return word[2 * slot + 1];
    }

    /* Interleaved layout only: whether the slot never held an element. */
    __device__ __forceinline__ bool never_used(int slot) const
    {
        return (word[2 * slot] | word[2 * slot + 1]) == 0;
    }
};

template <int SLOTS>
__device__ __forceinline__ uint32_t *bucket_words(const cuckoo_table &table, uint32_t bucket)
{
    return table.words + static_cast<uint64_t>(bucket) * (2 * SLOTS);
}

/* Adds up what the threads of the block counted. All threads of the block call it. */
__device__ __forceinline__ void add_count(unsigned long long *total, uint32_t mine)
{
    __shared__ unsigned long long block;
    uint32_t warp = __reduce_add_sync(0xffffffffu, mine);
    if (threadIdx.x == 0) {
        block = 0;
    }
    __syncthreads();
    if ((threadIdx.x & 31) == 0 && warp != 0) {
        atomicAdd(&block, static_cast<unsigned long long>(warp));
    }
    __syncthreads();
    if (threadIdx.x == 0 && block != 0) {
        atomicAdd(total, block);
    }
    __syncthreads();
}

} // namespace kvc

#endif

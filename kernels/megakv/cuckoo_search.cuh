/* Search: every warp takes 32 jobs at a time, and its processing units of THREADS threads take turns at them.
 * The reads of the primary buckets of all turns are in flight together; only jobs that miss continue with
 * their alternate bucket. */
#ifndef KVC_KERNELS_MEGAKV_CUCKOO_SEARCH_CUH
#define KVC_KERNELS_MEGAKV_CUCKOO_SEARCH_CUH

#include "kernels/megakv/cuckoo_device.cuh"

namespace kvc
{

/* Searches each lane's `bucket` for the `signature` of the lane's job, unless the job is not `active`. Sets
 * `location` if the job is found, and `closed` if every slot of the bucket has been used. */
template <int SLOTS, int THREADS, bool APART>
__device__ __forceinline__ void probe_warp(const cuckoo_table &table, uint32_t bucket, uint32_t signature,
                                           bool active, uint32_t *location, bool *closed)
{
    constexpr uint32_t all = 0xffffffffu;
    constexpr int units = 32 / THREADS;
    constexpr int turns = THREADS;
    constexpr int at_once = turns < 4 ? turns : 4; /* limits the number of registers */
    using share = bucket_share<SLOTS, THREADS, APART>;
    uint32_t lane = threadIdx.x & 31, member = lane % THREADS, unit = lane / THREADS;
    uint32_t my_turn = lane / units, my_unit = lane % units;
    *closed = true;
#pragma unroll
    for (int first = 0; first < turns; first += at_once) {
        share held[at_once];
        bool serves[at_once];
        uint32_t wanted[at_once], base[at_once];
#pragma unroll
        for (int i = 0; i < at_once; i++) {
            int job = (first + i) * units + static_cast<int>(unit);
            wanted[i] = THREADS == 1 ? signature : __shfl_sync(all, signature, job);
            base[i] = THREADS == 1 ? bucket : __shfl_sync(all, bucket, job);
            serves[i] = THREADS == 1 ? active : __shfl_sync(all, static_cast<int>(active), job) != 0;
            if (serves[i]) {
                held[i].load(bucket_words<SLOTS>(table, base[i]), member);
            }
        }
#pragma unroll
        for (int i = 0; i < at_once; i++) {
            uint32_t found = KVC_LOCATION_NONE;
            bool match = false, unused = false;
#pragma unroll
            for (int slot = share::slots - 1; slot >= 0; slot--) {
                bool equal = serves[i] && held[i].signature(slot) == wanted[i];
                match |= equal;
                if constexpr (APART) {
                    found = equal ? static_cast<uint32_t>(slot) : found;
                } else {
                    found = equal ? held[i].location(slot) : found;
                    unused |= serves[i] && held[i].never_used(slot);
                }
            }
            if constexpr (APART) {
                if (match) {
                    found =
                        __ldcg(bucket_words<SLOTS>(table, base[i]) +
                               kvc_megakv_cuckoo_location_word(SLOTS, true, member * share::slots + found));
                }
            }
            if constexpr (THREADS == 1) {
                *location = match ? found : *location;
                *closed = !unused;
            } else {
                /* The result goes to the lane that owns the job, from the first matching thread of the unit.
                 */
                uint32_t matches = __ballot_sync(all, match), unuseds = __ballot_sync(all, unused);
                constexpr uint32_t unit_mask = static_cast<uint32_t>((UINT64_C(1) << THREADS) - 1);
                uint32_t mine = matches >> my_unit * THREADS & unit_mask;
                uint32_t from = my_unit * THREADS + (mine != 0 ? __ffs(static_cast<int>(mine)) - 1 : 0);
                uint32_t value = __shfl_sync(all, found, static_cast<int>(from));
                if (my_turn == static_cast<uint32_t>(first + i)) {
                    *location = mine != 0 ? value : *location;
                    *closed = (unuseds >> my_unit * THREADS & unit_mask) == 0;
                }
            }
        }
    }
}

template <int SLOTS, int THREADS, bool APART>
__global__ void __launch_bounds__(256)
    cuckoo_search(cuckoo_table table, const uint64_t *hash, uint32_t count, uint32_t *location)
{
    uint32_t hits = 0, lines = 0;
    uint32_t stride = gridDim.x * blockDim.x;
    /* the same for all threads, because the warp works together */
    uint32_t rounds = (count + stride - 1) / stride;
    for (uint32_t round = 0; round < rounds; round++) {
        uint64_t job = static_cast<uint64_t>(round) * stride + blockIdx.x * blockDim.x + threadIdx.x;
        bool active = job < count;
        if (!__any_sync(0xffffffffu, active)) {
            break;
        }
        uint64_t mine = active ? __ldcs(hash + job) : 0;
        uint32_t signature = kvc_signature(mine);
        uint32_t primary = kvc_megakv_cuckoo_primary(table.masks, mine);
        uint32_t alternate = kvc_megakv_cuckoo_alternate(table.masks, primary, signature);
        uint32_t found = KVC_LOCATION_NONE;
        bool closed;
        probe_warp<SLOTS, THREADS, APART>(table, primary, signature, active, &found, &closed);
        lines += active;
        bool again = active && found == KVC_LOCATION_NONE && closed && alternate != primary;
        if (__any_sync(0xffffffffu, again)) {
            probe_warp<SLOTS, THREADS, APART>(table, alternate, signature, again, &found, &closed);
            lines += again;
        }
        if (active) {
            __stcs(location + job, found);
            hits += found != KVC_LOCATION_NONE;
        }
    }
    add_count(&table.counters->search_hits, hits);
    add_count(&table.counters->search_lines, lines);
}

} // namespace kvc

#endif

/* Erase, one thread per job. */
#ifndef KVC_KERNELS_MEGAKV_CUCKOO_ERASE_CUH
#define KVC_KERNELS_MEGAKV_CUCKOO_ERASE_CUH

#include "kernels/megakv/cuckoo_change.cuh"

namespace kvc
{

template <int SLOTS, bool APART>
__device__ __forceinline__ bool erase_one(uint32_t *words, uint32_t slot, uint32_t signature,
                                          uint32_t location, uint32_t *left)
{
    element now = read_slot<SLOTS, APART>(words, slot);
    if (now.signature != signature || (location != KVC_LOCATION_ANY && location != now.location)) {
        return false;
    }
    if constexpr (APART) {
        if (atomicCAS(words + slot, signature, KVC_MEGAKV_CUCKOO_EMPTY) != signature) {
            return false;
        }
        *left = atomicExch(words + SLOTS + slot, KVC_LOCATION_NONE);
        return true;
    } else {
        unsigned long long was = slot_access<SLOTS, APART>::pack(now.signature, now.location);
        *left = now.location;
        return atomicCAS(reinterpret_cast<unsigned long long *>(words) + slot, was,
                         slot_access<SLOTS, APART>::pack(KVC_MEGAKV_CUCKOO_EMPTY,
                                                         KVC_MEGAKV_CUCKOO_ERASED_LOCATION)) == was;
    }
}

template <int SLOTS, bool APART>
__global__ void __launch_bounds__(256) cuckoo_erase(cuckoo_table table, insert_jobs jobs, job_tickets tickets)
{
    using view = bucket_view<SLOTS, APART>;
    __shared__ uint4 rooms[view::by_warp ? 256 * view::chunks : 1];
    uint4 *room = rooms + (view::by_warp ? threadIdx.x / 32 * 32 * view::chunks : 0);
    uint32_t erased = 0, lines = 0;
    job_queue queue(tickets, jobs.count);
    uint64_t job;
    while (queue.take(&job)) {
        bool active = job < queue.end();
        uint64_t hash = active ? __ldcs(jobs.hash + job) : 0;
        uint32_t wanted = active ? __ldcs(jobs.location + job) : 0;
        uint32_t signature = kvc_signature(hash);
        uint32_t primary = kvc_megakv_cuckoo_primary(table.masks, hash);
        uint32_t alternate = kvc_megakv_cuckoo_alternate(table.masks, primary, signature);
        view home(table, primary, active, room);
        uint32_t *words = home.words;
        uint32_t slot = active ? home.find(signature) : SLOTS;
        bool further = active && slot == SLOTS && alternate != primary && !home.has_never_used();
        lines += active;
        if (__any_sync(0xffffffffu, further)) {
            view other(table, alternate, further, room);
            if (further) {
                slot = other.find(signature);
                words = other.words;
                lines++;
            }
        }
        if (active) {
            uint32_t left = KVC_LOCATION_NONE;
            bool gone = slot != SLOTS && erase_one<SLOTS, APART>(words, slot, signature, wanted, &left);
            erased += gone;
            report(jobs, static_cast<uint32_t>(job), gone ? left : KVC_LOCATION_NONE);
        }
    }
    add_count(&table.counters->erased, erased);
    add_count(&table.counters->erase_lines, lines);
}

} // namespace kvc

#endif

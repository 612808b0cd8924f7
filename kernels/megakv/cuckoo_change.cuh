/* What the insert and erase kernels share: the jobs of a batch, a bucket as one thread sees it, and atomic
 * changes of a slot. */
#ifndef KVC_KERNELS_MEGAKV_CUCKOO_CHANGE_CUH
#define KVC_KERNELS_MEGAKV_CUCKOO_CHANGE_CUH

#include "kernels/megakv/cuckoo_device.cuh"

namespace kvc
{

struct insert_jobs {
    const uint64_t *hash;
    const uint32_t *location;
    const uint32_t *index; /* indices into `out`, or NULL if each job uses its own number */
    uint32_t count;
    uint32_t *out; /* may be NULL */
};

/* Hands out jobs to blocks in order, so that the blocks at work are near each other in a grouped batch, and
 * so in the second-level cache. A fixed stride would let blocks drift apart. */
struct job_tickets {
    uint32_t *next;
    const uint32_t *starts; /* if not NULL, block b takes jobs starts[b] to starts[b + 1] - 1 instead */
};

class job_queue
{
  public:
    __device__ __forceinline__ job_queue(const job_tickets &tickets, uint32_t count)
        : tickets_(tickets), end_(count)
    {
        if (tickets.starts != nullptr) {
            at_ = tickets.starts[blockIdx.x];
            end_ = tickets.starts[blockIdx.x + 1];
        }
    }

    /* Takes the thread's next job, which may lie behind end(); returns false if the block has none left. All
     * threads of the block call it. */
    __device__ __forceinline__ bool take(uint64_t *job)
    {
        __shared__ uint32_t ticket;
        if (tickets_.starts == nullptr && left_ == 0) {
            __syncthreads();
            if (threadIdx.x == 0) {
                ticket = atomicAdd(tickets_.next, turns * blockDim.x);
            }
            __syncthreads();
            at_ = ticket;
            left_ = turns;
        }
        left_--;
        *job = static_cast<uint64_t>(at_) + threadIdx.x;
        bool any = at_ < end_;
        at_ += blockDim.x;
        return any;
    }

    __device__ __forceinline__ uint32_t end() const
    {
        return end_;
    }

  private:
    static constexpr uint32_t turns = 4;
    job_tickets tickets_;
    uint32_t at_ = 0, end_, left_ = 0;
};

__device__ __forceinline__ void report(const insert_jobs &jobs, uint32_t job, uint32_t left)
{
    if (jobs.out != nullptr) {
        jobs.out[jobs.index != nullptr ? jobs.index[job] : job] = left;
    }
}

/* The slots of a bucket as one thread sees them. */
template <int SLOTS, bool APART> struct bucket_view : bucket_share<SLOTS, 1, APART> {
    using share = bucket_share<SLOTS, 1, APART>;
    uint32_t *words;

    __device__ __forceinline__ bucket_view(const cuckoo_table &table, uint32_t bucket)
        : words(bucket_words<SLOTS>(table, bucket))
    {
        this->load(words, 0);
    }

    static constexpr int chunks = share::words / 4; /* of 16 bytes */
    /* Larger buckets would take too much shared memory, and one thread reads them in wide accesses anyway. */
    static constexpr bool by_warp = chunks <= 4;

    /* Reads one bucket per lane of a warp. Neighbouring lanes read neighbouring chunks, so that each memory
     * sector is requested once. `room` is 32 * chunks of shared memory that belong to the warp. Lanes that
     * are not `wanted` receive nothing. */
    __device__ __forceinline__ bucket_view(const cuckoo_table &table, uint32_t bucket, bool wanted,
                                           uint4 *room)
        : words(bucket_words<SLOTS>(table, bucket))
    {
        constexpr uint32_t all = 0xffffffffu;
        uint32_t lane = threadIdx.x & 31;
        if constexpr (!by_warp) {
            if (wanted) {
                this->load(words, 0);
            }
            return;
        }
        uint4 chunk[chunks];
        uint32_t wants = __ballot_sync(all, wanted);
#pragma unroll
        for (int step = 0; step < chunks; step++) {
            uint32_t number = step * 32 + lane, job = number / chunks, part = number % chunks;
            uint32_t of = __shfl_sync(all, bucket, static_cast<int>(job));
            if ((wants >> job & 1) != 0) {
                chunk[step] = __ldcg(reinterpret_cast<const uint4 *>(bucket_words<SLOTS>(table, of)) + part);
            }
        }
        __syncwarp();
#pragma unroll
        for (int step = 0; step < chunks; step++) {
            uint32_t number = step * 32 + lane, job = number / chunks, part = number % chunks;
            room[job * chunks + (part + job) % chunks] = chunk[step]; /* rotated, for fewer bank conflicts */
        }
        __syncwarp();
#pragma unroll
        for (int part = 0; part < chunks; part++) {
            uint4 mine = room[lane * chunks + (part + lane) % chunks];
            this->word[4 * part] = mine.x;
            this->word[4 * part + 1] = mine.y;
            this->word[4 * part + 2] = mine.z;
            this->word[4 * part + 3] = mine.w;
        }
    }

    /* Returns the slot with this signature, or SLOTS if there is none. */
    __device__ __forceinline__ uint32_t find(uint32_t wanted) const
    {
        uint32_t found = SLOTS;
#pragma unroll
        for (int slot = SLOTS - 1; slot >= 0; slot--) {
            found = this->signature(slot) == wanted ? static_cast<uint32_t>(slot) : found;
        }
        return found;
    }

    /* Returns the empty slot that this signature goes to, or SLOTS if there is none. */
    __device__ __forceinline__ uint32_t empty_for(uint32_t wanted) const
    {
        uint32_t least = SLOTS;
#pragma unroll
        for (int slot = 0; slot < SLOTS; slot++) {
            uint32_t distance = kvc_megakv_cuckoo_distance(SLOTS, wanted, static_cast<uint32_t>(slot));
            least = this->signature(slot) == KVC_MEGAKV_CUCKOO_EMPTY && distance < least ? distance : least;
        }
        return least == SLOTS ? SLOTS : kvc_megakv_cuckoo_slot_at(SLOTS, wanted, least);
    }

    __device__ __forceinline__ bool has_never_used() const
    {
        bool any = false;
        if constexpr (!APART) {
#pragma unroll
            for (int slot = 0; slot < SLOTS; slot++) {
                any |= this->never_used(slot);
            }
        }
        return any;
    }
};

template <int SLOTS, bool APART> struct slot_access {
    static __device__ __forceinline__ unsigned long long pack(uint32_t signature, uint32_t location)
    {
        return static_cast<unsigned long long>(location) << 32 | signature;
    }

    /* Fills a slot that was seen empty; returns false if another thread was faster. */
    static __device__ __forceinline__ bool fill(uint32_t *bucket, uint32_t slot, uint32_t signature,
                                                uint32_t location, uint32_t *left)
    {
        *left = KVC_LOCATION_NONE;
        if constexpr (APART) {
            if (atomicCAS(bucket + slot, KVC_MEGAKV_CUCKOO_EMPTY, signature) != KVC_MEGAKV_CUCKOO_EMPTY) {
                return false;
            }
            /* An equal element may store its location between the two operations; then this one counts as
             * later. */
            *left = atomicExch(bucket + SLOTS + slot, location);
            return true;
        } else {
            unsigned long long *word = reinterpret_cast<unsigned long long *>(bucket) + slot;
            unsigned long long next = pack(signature, location);
            unsigned long long was = atomicCAS(word, pack(0, 0), next);
            if (was == pack(KVC_MEGAKV_CUCKOO_EMPTY, KVC_MEGAKV_CUCKOO_ERASED_LOCATION)) {
                was = atomicCAS(word, was, next);
                return was == pack(KVC_MEGAKV_CUCKOO_EMPTY, KVC_MEGAKV_CUCKOO_ERASED_LOCATION);
            }
            return was == 0;
        }
    }

    /* Replaces the location of a slot that has this signature. While inserts run, elements leave only under
     * locks. */
    static __device__ __forceinline__ uint32_t replace(uint32_t *bucket, uint32_t slot, uint32_t location)
    {
        return atomicExch(bucket + kvc_megakv_cuckoo_location_word(SLOTS, APART, slot), location);
    }
};

struct element {
    uint32_t signature, location;
};

template <int SLOTS, bool APART>
__device__ __forceinline__ element read_slot(const uint32_t *bucket, uint32_t slot)
{
    return {__ldcg(bucket + kvc_megakv_cuckoo_signature_word(SLOTS, APART, slot)),
            __ldcg(bucket + kvc_megakv_cuckoo_location_word(SLOTS, APART, slot))};
}

/* Orders changes of a table for a host that searches it at the same time. */
__device__ __forceinline__ void fence_for_host(const cuckoo_table &table)
{
    if (table.moves != nullptr) {
        __threadfence_system();
    }
}

/* Whoever finds the signature finds its location. */
template <int SLOTS, bool APART>
__device__ __forceinline__ void write_slot(const cuckoo_table &table, uint32_t *bucket, uint32_t slot,
                                           element value)
{
    __stcg(bucket + kvc_megakv_cuckoo_location_word(SLOTS, APART, slot), value.location);
    fence_for_host(table);
    __stcg(bucket + kvc_megakv_cuckoo_signature_word(SLOTS, APART, slot), value.signature);
}

template <bool APART> __device__ __forceinline__ element erased_slot()
{
    return {KVC_MEGAKV_CUCKOO_EMPTY, APART ? KVC_LOCATION_NONE : KVC_MEGAKV_CUCKOO_ERASED_LOCATION};
}

} // namespace kvc

#endif

/* The cuckoo table as kernels see it, atomic changes of a slot, and insert, one thread per job, in two
 * kernels.
 *
 * The first kernel replaces an equal signature or fills an empty slot by compare-and-swap. While it runs,
 * slots only fill up and equal elements compete for the same slot, so each element is in the table once. Jobs
 * that meet two full buckets are listed for the second kernel, which displaces elements under locks: it finds
 * a path of elements to an empty slot without locks and then walks it from its end, locking and checking the
 * two buckets of each move. Whoever holds the locks of both buckets of an element sees all of its places, so
 * the second kernel keeps elements unique, too. */
#ifndef KVC_KERNELS_MEGAKV_CUCKOO_DEVICE_CUH
#define KVC_KERNELS_MEGAKV_CUCKOO_DEVICE_CUH

#include <cstdint>

#include "kernels/megakv/cuckoo.h"

namespace kvc
{

/* Counters of kernels; every block adds to them once. */
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

/* Adds up the counts of the block's threads. All threads of the block call it. */
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

    /* Takes the thread's next job, which may lie beyond end(); returns false if the block has none left. All
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

constexpr uint32_t lock_count = 1u << 20;
constexpr int path_max = 64;      /* most elements on the way to an empty slot */
constexpr int path_attempts = 64; /* random paths tried before an element is dropped */
constexpr int tries_max = 1 << 12;

/* Jobs that met two full buckets. */
struct insert_rest {
    uint32_t *job;
    uint32_t *count;
    uint32_t *locks; /* lock_count words, all 0 between calls */
};

enum class insert_result { placed, replaced, both_full, beaten, dropped };

/* Tries until the element is in the table or both its buckets are full. */
template <int SLOTS, bool APART>
__device__ __noinline__ insert_result insert_alone(const cuckoo_table &table, uint64_t hash,
                                                   uint32_t location, uint32_t *left, uint32_t *lines)
{
    using access = slot_access<SLOTS, APART>;
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = kvc_megakv_cuckoo_primary(table.masks, hash);
    uint32_t alternate = kvc_megakv_cuckoo_alternate(table.masks, primary, signature);
    for (;;) {
        bucket_view<SLOTS, APART> home(table, primary);
        uint32_t *words = home.words;
        uint32_t same = home.find(signature), empty = home.empty_for(signature);
        *lines += 1;
        if (same == SLOTS && alternate != primary && !home.has_never_used()) {
            bucket_view<SLOTS, APART> other(table, alternate);
            *lines += 1;
            same = other.find(signature);
            if (same != SLOTS || empty == SLOTS) {
                empty = other.empty_for(signature);
                words = other.words;
            }
        }
        if (same != SLOTS) {
            *left = access::replace(words, same, location);
            return *left != KVC_LOCATION_NONE ? insert_result::replaced : insert_result::placed;
        }
        if (empty == SLOTS) {
            return insert_result::both_full;
        }
        if (access::fill(words, empty, signature, location, left)) {
            return *left != KVC_LOCATION_NONE ? insert_result::replaced : insert_result::placed;
        }
    }
}

/* Inserts one job per lane; the lanes read together. The result `beaten` means that another thread took the
 * slot and that the job must be tried again alone. */
template <int SLOTS, bool APART>
__device__ __forceinline__ insert_result insert_together(const cuckoo_table &table, uint64_t hash,
                                                         uint32_t location, bool active, uint32_t *left,
                                                         uint32_t *lines, uint4 *room)
{
    using access = slot_access<SLOTS, APART>;
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = kvc_megakv_cuckoo_primary(table.masks, hash);
    uint32_t alternate = kvc_megakv_cuckoo_alternate(table.masks, primary, signature);
    bucket_view<SLOTS, APART> home(table, primary, active, room);
    *lines += active;
    uint32_t *words = home.words;
    uint32_t same = active ? home.find(signature) : SLOTS;
    uint32_t empty = active ? home.empty_for(signature) : SLOTS;
    bool further = active && same == SLOTS && alternate != primary && !home.has_never_used();
    if (__any_sync(0xffffffffu, further)) {
        bucket_view<SLOTS, APART> other(table, alternate, further, room);
        if (further) {
            *lines += 1;
            same = other.find(signature);
            if (same != SLOTS || empty == SLOTS) {
                empty = other.empty_for(signature);
                words = other.words;
            }
        }
    }
    *left = KVC_LOCATION_NONE;
    if (!active) {
        return insert_result::placed;
    }
    if (same != SLOTS) {
        *left = access::replace(words, same, location);
    } else if (empty == SLOTS) {
        return insert_result::both_full;
    } else if (!access::fill(words, empty, signature, location, left)) {
        return insert_result::beaten;
    }
    return *left != KVC_LOCATION_NONE ? insert_result::replaced : insert_result::placed;
}

template <int SLOTS, bool APART>
__global__ void __launch_bounds__(256)
    cuckoo_insert(cuckoo_table table, insert_jobs jobs, insert_rest rest, job_tickets tickets)
{
    using view = bucket_view<SLOTS, APART>;
    __shared__ uint4 rooms[view::by_warp ? 256 * view::chunks : 1];
    uint4 *room = rooms + (view::by_warp ? threadIdx.x / 32 * 32 * view::chunks : 0);
    uint32_t placed = 0, replaced = 0, lines = 0;
    job_queue queue(tickets, jobs.count);
    uint64_t job;
    while (queue.take(&job)) {
        bool active = job < queue.end();
        uint64_t hash = active ? __ldcs(jobs.hash + job) : 0;
        uint32_t location = active ? __ldcs(jobs.location + job) : 0;
        uint32_t left;
        insert_result result =
            insert_together<SLOTS, APART>(table, hash, location, active, &left, &lines, room);
        if (result == insert_result::beaten) {
            result = insert_alone<SLOTS, APART>(table, hash, location, &left, &lines);
        }
        if (!active) {
            continue;
        }
        if (result == insert_result::both_full) {
            rest.job[atomicAdd(rest.count, 1)] = static_cast<uint32_t>(job);
        } else {
            placed += result == insert_result::placed;
            replaced += result == insert_result::replaced;
            report(jobs, static_cast<uint32_t>(job), left);
        }
    }
    add_count(&table.counters->inserted, placed);
    add_count(&table.counters->replaced, replaced);
    add_count(&table.counters->insert_lines, lines);
}

/* --- making room --- */

__device__ __forceinline__ uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(*state >> 33);
}

__device__ __forceinline__ uint32_t lock_of(uint32_t bucket)
{
    return bucket & (lock_count - 1);
}

/* Takes both locks or none. The lower one comes first, so that one of several threads that run in step and
 * want the same two locks gets them. */
__device__ __forceinline__ bool try_lock_pair(uint32_t *locks, uint32_t one, uint32_t other)
{
    uint32_t first = min(lock_of(one), lock_of(other)), second = max(lock_of(one), lock_of(other));
    if (atomicCAS(locks + first, 0, 1) != 0) {
        return false;
    }
    if (first != second && atomicCAS(locks + second, 0, 1) != 0) {
        atomicExch(locks + first, 0);
        return false;
    }
    __threadfence();
    return true;
}

__device__ __forceinline__ void unlock_pair(uint32_t *locks, uint32_t one, uint32_t other)
{
    uint32_t first = lock_of(one), second = lock_of(other);
    __threadfence();
    atomicExch(locks + first, 0);
    if (first != second) {
        atomicExch(locks + second, 0);
    }
}

/* Replaces an equal element or fills an empty slot, under the locks of both buckets; returns false if both
 * are full. */
template <int SLOTS, bool APART>
__device__ __forceinline__ bool place_locked(const cuckoo_table &table, uint32_t primary, uint32_t alternate,
                                             element value, uint32_t *left)
{
    for (int turn = 0; turn < 2; turn++) {
        bucket_view<SLOTS, APART> view(table, turn == 0 ? primary : alternate);
        uint32_t same = view.find(value.signature);
        if (same != SLOTS) {
            *left = read_slot<SLOTS, APART>(view.words, same).location;
            write_slot<SLOTS, APART>(table, view.words, same, value);
            return true;
        }
    }
    *left = KVC_LOCATION_NONE;
    for (int turn = 0; turn < 2; turn++) {
        bucket_view<SLOTS, APART> view(table, turn == 0 ? primary : alternate);
        uint32_t empty = view.empty_for(value.signature);
        if (empty != SLOTS) {
            write_slot<SLOTS, APART>(table, view.words, empty, value);
            return true;
        }
    }
    return false;
}

/* Moves an element to its alternate bucket, if it is still where it was seen and there is room. */
template <int SLOTS, bool APART>
__device__ __forceinline__ bool move_locked(const cuckoo_table &table, uint32_t from, uint32_t slot,
                                            element value, uint32_t to)
{
    uint32_t *source = bucket_words<SLOTS>(table, from);
    element now = read_slot<SLOTS, APART>(source, slot);
    if (now.signature != value.signature || now.location != value.location) {
        return false;
    }
    bucket_view<SLOTS, APART> target(table, to);
    uint32_t empty = target.empty_for(value.signature);
    if (empty == SLOTS) {
        return false;
    }
    write_slot<SLOTS, APART>(table, target.words, empty, value);
    if (table.moves != nullptr) {
        /* A host that has missed the element searches again if the counter has changed. */
        __threadfence_system();
        atomicAdd(table.moves, 1ull);
        __threadfence_system();
    }
    write_slot<SLOTS, APART>(table, source, slot, erased_slot<APART>());
    return true;
}

/* Frees a slot of a full bucket by moving elements along a random path. Returns false if there was no such
 * path (`long_path` is set) or if the table changed meanwhile. */
template <int SLOTS, bool APART>
__device__ bool make_room(const cuckoo_table &table, uint32_t *locks, uint32_t bucket, uint64_t *random,
                          uint32_t *moves, uint32_t *lines, bool *long_path)
{
    uint32_t path_bucket[path_max + 1];
    uint8_t path_slot[path_max];
    element path_element[path_max];
    int length = 0;
    int limit = table.max_displacements < path_max ? static_cast<int>(table.max_displacements) : path_max;
    *long_path = false;
    for (;;) {
        if (length == limit) {
            *long_path = true;
            return false;
        }
        uint32_t slot = next_random(random) % SLOTS;
        element victim = read_slot<SLOTS, APART>(bucket_words<SLOTS>(table, bucket), slot);
        path_bucket[length] = bucket;
        path_slot[length] = static_cast<uint8_t>(slot);
        path_element[length] = victim;
        if (victim.signature == KVC_MEGAKV_CUCKOO_EMPTY) {
            break; /* another thread made room meanwhile */
        }
        bucket = kvc_megakv_cuckoo_alternate(table.masks, bucket, victim.signature);
        for (int i = 0; i <= length; i++) {
            if (path_bucket[i] == bucket) {
                *long_path = true; /* the path is a circle */
                return false;
            }
        }
        length++;
        path_bucket[length] = bucket;
        *lines += 1;
        if (bucket_view<SLOTS, APART>(table, bucket).empty_for(victim.signature) != SLOTS) {
            break;
        }
    }
    while (length > 0) {
        length--;
        uint32_t from = path_bucket[length], to = path_bucket[length + 1];
        while (!try_lock_pair(locks, from, to)) {
            __nanosleep(64);
        }
        bool moved =
            from != to && move_locked<SLOTS, APART>(table, from, path_slot[length], path_element[length], to);
        unlock_pair(locks, from, to);
        if (!moved) {
            return false;
        }
        *moves += 1;
    }
    return true;
}

/* Inserts an element under locks, whether its buckets are full or not. The seed of the choice of victims is
 * any number that differs from job to job. */
template <int SLOTS, bool APART>
__device__ __forceinline__ insert_result insert_locked(const cuckoo_table &table, uint32_t *locks,
                                                       uint64_t hash, uint32_t location, uint64_t seed,
                                                       uint32_t *left, uint32_t *moves, uint32_t *lines)
{
    element value = {kvc_signature(hash), location};
    uint32_t primary = kvc_megakv_cuckoo_primary(table.masks, hash);
    uint32_t alternate = kvc_megakv_cuckoo_alternate(table.masks, primary, value.signature);
    uint64_t random = hash ^ UINT64_C(0x9e3779b97f4a7c15) * (seed + 1);
    bool done = false;
    *left = KVC_LOCATION_NONE;
    /* Moves that fail because other threads were faster are repeated, but not forever. */
    for (int attempts = 0, tries = 0; !done && attempts < path_attempts && tries < tries_max; tries++) {
        while (!try_lock_pair(locks, primary, alternate)) {
            __nanosleep(64);
        }
        done = place_locked<SLOTS, APART>(table, primary, alternate, value, left);
        unlock_pair(locks, primary, alternate);
        if (!done) {
            bool long_path = false;
            uint32_t from = (next_random(&random) & 1) != 0 ? primary : alternate;
            make_room<SLOTS, APART>(table, locks, from, &random, moves, lines, &long_path);
            attempts += long_path;
        }
    }
    if (!done) {
        *left = location;
        return insert_result::dropped;
    }
    return *left != KVC_LOCATION_NONE ? insert_result::replaced : insert_result::placed;
}

template <int SLOTS, bool APART>
__global__ void __launch_bounds__(256)
    cuckoo_insert_rest(cuckoo_table table, insert_jobs jobs, insert_rest rest)
{
    uint32_t placed = 0, replaced = 0, dropped = 0, moves = 0, lines = 0;
    uint32_t count = *rest.count;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        uint32_t job = rest.job[i], left;
        insert_result result = insert_locked<SLOTS, APART>(table, rest.locks, jobs.hash[job],
                                                           jobs.location[job], i, &left, &moves, &lines);
        placed += result == insert_result::placed;
        replaced += result == insert_result::replaced;
        dropped += result == insert_result::dropped;
        report(jobs, job, left);
    }
    add_count(&table.counters->inserted, placed);
    add_count(&table.counters->replaced, replaced);
    add_count(&table.counters->dropped, dropped);
    add_count(&table.counters->displacements, moves);
    add_count(&table.counters->insert_lines, lines);
}

/* Displacement as published: the new element swaps places with the victim, and each displaced element goes to
 * the alternate bucket that the signature of its displacer gives. */
template <int SLOTS, bool APART>
__global__ void __launch_bounds__(256)
    cuckoo_insert_published(cuckoo_table table, insert_jobs jobs, insert_rest rest)
{
    uint32_t placed = 0, dropped = 0, moves = 0, lines = 0;
    uint32_t count = *rest.count;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        uint32_t job = rest.job[i];
        uint64_t hash = jobs.hash[job];
        element value = {kvc_signature(hash), jobs.location[job]};
        uint32_t bucket = kvc_megakv_cuckoo_primary(table.masks, hash);
        uint64_t random = hash ^ UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
        bool done = false;
        for (uint32_t chain = 0; !done; chain++) {
            while (!try_lock_pair(rest.locks, bucket, bucket)) {
                __nanosleep(64);
            }
            bucket_view<SLOTS, APART> view(table, bucket);
            uint32_t slot = view.empty_for(value.signature);
            done = slot != SLOTS;
            slot = done ? slot : next_random(&random) % SLOTS;
            element victim = read_slot<SLOTS, APART>(view.words, slot);
            if (done || chain < table.max_displacements) {
                write_slot<SLOTS, APART>(table, view.words, slot, value);
            }
            unlock_pair(rest.locks, bucket, bucket);
            lines++;
            if (!done) {
                if (chain == table.max_displacements) {
                    dropped++;
                    report(jobs, job, value.location);
                    break;
                }
                bucket = kvc_megakv_cuckoo_alternate(table.masks, bucket, value.signature);
                value = victim;
                moves++;
            }
        }
        if (done) {
            placed++;
            report(jobs, job, KVC_LOCATION_NONE);
        }
    }
    add_count(&table.counters->inserted, placed);
    add_count(&table.counters->dropped, dropped);
    add_count(&table.counters->displacements, moves);
    add_count(&table.counters->insert_lines, lines);
}

} // namespace kvc

#endif

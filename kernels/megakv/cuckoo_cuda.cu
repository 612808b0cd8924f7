#include "kernels/megakv/cuckoo_cuda.h"

#include <cerrno>
#include <new>

#include <cub/device/device_radix_sort.cuh>

#include "kernels/megakv/cuckoo_device.cuh"
#include "kernels/staging.cuh"

namespace kvc
{

/* Search: every warp takes 32 jobs at a time, and its processing units of THREADS threads take turns at them.
 * The reads of the primary buckets of all turns are in flight together; only jobs that miss continue with
 * their alternate bucket. */

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

/* Erase, one thread per job. */

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

namespace
{

constexpr uint32_t block_threads = 256;
/* part of the table that one group of a grouped insert batch covers */
constexpr uint64_t group_bytes = 8 << 20;

struct cuckoo_cuda {
    struct kvc_index index;
    struct kvc_megakv_cuckoo_params params;
    kvc::cuckoo_table table;
    uint32_t *locks;
    uint32_t *counts; /* numbers of jobs: those left for the second kernel, those taken by blocks */
    uint32_t blocks_max;
    uint32_t bucket_bits;
    bool exclusive;
    uint64_t used;
};

cuckoo_cuda *cuda_of(struct kvc_index *index)
{
    return reinterpret_cast<cuckoo_cuda *>(index); /* the first member */
}

uint32_t blocks_for(const cuckoo_cuda *self, uint32_t count)
{
    uint32_t blocks = (count + block_threads - 1) / block_threads;
    return blocks < self->blocks_max ? blocks : self->blocks_max;
}

/* --- kernels for a geometry --- */

using search_kernel = void (*)(kvc::cuckoo_table, const uint64_t *, uint32_t, uint32_t *);

template <int SLOTS, bool APART> search_kernel search_of_threads(uint32_t threads)
{
    switch (threads) {
    case 1:
        return kvc::cuckoo_search<SLOTS, 1, APART>;
    case 2:
        return kvc::cuckoo_search<SLOTS, 2, APART>;
    case 4:
        return kvc::cuckoo_search<SLOTS, 4, APART>;
    case 8:
        if constexpr (SLOTS >= 8) {
            return kvc::cuckoo_search<SLOTS, 8, APART>;
        }
        break;
    case 16:
        if constexpr (SLOTS >= 16) {
            return kvc::cuckoo_search<SLOTS, 16, APART>;
        }
        break;
    case 32:
        if constexpr (SLOTS >= 32) {
            return kvc::cuckoo_search<SLOTS, 32, APART>;
        }
        break;
    }
    return nullptr;
}

struct kernels {
    search_kernel search;
    void (*insert)(kvc::cuckoo_table, kvc::insert_jobs, kvc::insert_rest, kvc::job_tickets);
    void (*insert_rest)(kvc::cuckoo_table, kvc::insert_jobs, kvc::insert_rest);
    void (*erase)(kvc::cuckoo_table, kvc::insert_jobs, kvc::job_tickets);
};

template <int SLOTS, bool APART> kernels kernels_of(const struct kvc_megakv_cuckoo_params &params)
{
    return {search_of_threads<SLOTS, APART>(params.threads), kvc::cuckoo_insert<SLOTS, APART>,
            params.published_displacement ? kvc::cuckoo_insert_published<SLOTS, APART>
                                          : kvc::cuckoo_insert_rest<SLOTS, APART>,
            kvc::cuckoo_erase<SLOTS, APART>};
}

template <bool APART> kernels kernels_of_layout(const struct kvc_megakv_cuckoo_params &params)
{
    switch (params.slots) {
    case 4:
        return kernels_of<4, APART>(params);
    case 8:
        return kernels_of<8, APART>(params);
    case 16:
        return kernels_of<16, APART>(params);
    default:
        return kernels_of<32, APART>(params);
    }
}

kernels kernels_of(const cuckoo_cuda *self)
{
    return self->params.layout == KVC_MEGAKV_CUCKOO_APART ? kernels_of_layout<true>(self->params)
                                                          : kernels_of_layout<false>(self->params);
}

/* --- counters --- */

void reset_counters(cuckoo_cuda *self, cudaStream_t stream)
{
    cudaMemsetAsync(self->table.counters, 0, sizeof(*self->table.counters), stream);
}

/* Waits for the stream; returns zeros if it failed. */
kvc::cuckoo_counters read_counters(cuckoo_cuda *self, cudaStream_t stream)
{
    kvc::cuckoo_counters counters = {};
    if (cudaMemcpyAsync(&counters, self->table.counters, sizeof(counters), cudaMemcpyDeviceToHost, stream) !=
            cudaSuccess ||
        cudaStreamSynchronize(stream) != cudaSuccess) {
        return {};
    }
    return counters;
}

/* --- search --- */

void cuckoo_cuda_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                        struct kvc_index_stats *stats)
{
    cuckoo_cuda *self = cuda_of(index);
    cudaStream_t stream = nullptr;
    if (count == 0) {
        return;
    }
    kvc::staged<const uint64_t> hashes(hash, count, true, false, stream);
    kvc::staged<uint32_t> locations(location, count, false, true, stream);
    if (hashes.error() == cudaSuccess && locations.error() == cudaSuccess) {
        reset_counters(self, stream);
        kvc_megakv_cuckoo_cuda_search_async(index, nullptr, hashes.device(), count, locations.device());
        locations.finish();
    }
    kvc::cuckoo_counters counters = read_counters(self, stream);
    if (stats != nullptr) {
        stats->searches += count;
        stats->search_hits += counters.search_hits;
        stats->search_lines += counters.search_lines;
    }
}

/* --- insert --- */

/* The jobs of a batch, sorted by the high bits of their bucket. */
class grouped
{
  public:
    grouped(const cuckoo_cuda *self, const kvc::insert_jobs &jobs, uint32_t bits, cudaStream_t stream)
        : jobs_(jobs), stream_(stream)
    {
        int end = static_cast<int>(self->bucket_bits), begin = end - static_cast<int>(bits);
        uint64_t count = jobs.count, scratch_bytes = 0;
        if (jobs.out == nullptr) {
            sort(nullptr, scratch_bytes, jobs.location, static_cast<uint32_t *>(nullptr), begin, end);
        } else {
            sort(nullptr, scratch_bytes, static_cast<const uint32_t *>(nullptr),
                 static_cast<uint32_t *>(nullptr), begin, end);
        }
        uint64_t words = jobs.out == nullptr ? 1 : 3;
        if (cudaMallocAsync(&memory_, count * 8 + words * count * 4 + scratch_bytes + 256, stream) !=
            cudaSuccess) {
            cudaGetLastError();
            memory_ = nullptr;
            return;
        }
        hash_ = static_cast<uint64_t *>(memory_);
        location_ = reinterpret_cast<uint32_t *>(hash_ + count);
        void *scratch = reinterpret_cast<void *>(
            (reinterpret_cast<uintptr_t>(location_ + words * count) + 255) & ~static_cast<uintptr_t>(255));
        if (jobs.out == nullptr) {
            sort(scratch, scratch_bytes, jobs.location, location_, begin, end);
            jobs_.location = location_;
        } else {
            uint32_t *number = location_ + count, *index = location_ + 2 * count;
            number_jobs(number, jobs.count);
            sort(scratch, scratch_bytes, number, index, begin, end);
            gather(jobs.location, index, location_, jobs.count);
            jobs_.location = location_;
            jobs_.index = index;
        }
        jobs_.hash = hash_;
    }

    grouped(const grouped &) = delete;
    grouped &operator=(const grouped &) = delete;

    ~grouped()
    {
        if (memory_ != nullptr) {
            cudaFreeAsync(memory_, stream_);
        }
    }

    /* Returns the original jobs if there was no memory to sort in. */
    const kvc::insert_jobs &jobs() const
    {
        return jobs_;
    }

    bool done() const
    {
        return memory_ != nullptr;
    }

  private:
    void sort(void *scratch, uint64_t &scratch_bytes, const uint32_t *from, uint32_t *to, int begin, int end)
    {
        size_t bytes = scratch_bytes;
        cub::DeviceRadixSort::SortPairs(scratch, bytes, jobs_.hash, hash_, from, to, jobs_.count, begin, end,
                                        stream_);
        scratch_bytes = bytes;
    }

    void number_jobs(uint32_t *number, uint32_t count);
    void gather(const uint32_t *from, const uint32_t *index, uint32_t *to, uint32_t count);

    kvc::insert_jobs jobs_;
    cudaStream_t stream_;
    void *memory_ = nullptr;
    uint64_t *hash_ = nullptr;
    uint32_t *location_ = nullptr;
};

__global__ void number_kernel(uint32_t *number, uint32_t count)
{
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        number[i] = static_cast<uint32_t>(i);
    }
}

__global__ void gather_kernel(const uint32_t *from, const uint32_t *index, uint32_t *to, uint32_t count)
{
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        to[i] = from[index[i]];
    }
}

void grouped::number_jobs(uint32_t *number, uint32_t count)
{
    number_kernel<<<1024, block_threads, 0, stream_>>>(number, count);
}

void grouped::gather(const uint32_t *from, const uint32_t *index, uint32_t *to, uint32_t count)
{
    gather_kernel<<<1024, block_threads, 0, stream_>>>(from, index, to, count);
}

/* starts[p] is the first job of partition p, and starts[partitions] is count. The jobs are sorted by
 * partition. */
__global__ void find_starts(const uint64_t *hash, uint32_t count, uint32_t bucket_mask, int shift,
                            uint32_t partitions, uint32_t *starts)
{
    uint32_t partition = blockIdx.x * blockDim.x + threadIdx.x;
    if (partition > partitions) {
        return;
    }
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t of = (static_cast<uint32_t>(hash[middle]) & bucket_mask) >> shift;
        if (of < partition) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    starts[partition] = partition == partitions ? count : low;
}

uint32_t log2_of(uint64_t power)
{
    return 63u - static_cast<uint32_t>(__builtin_clzll(power));
}

/* Returns by how many high bits of the bucket a batch of this size is grouped; 0 if grouping does not pay. */
uint32_t group_bits(const cuckoo_cuda *self, uint32_t count)
{
    uint32_t bits = 0;
    if (self->params.bytes > group_bytes && count >= self->params.bytes / 64) {
        bits = log2_of(self->params.bytes / group_bytes);
    }
    if (self->exclusive && log2_of(self->params.partitions) > bits) {
        bits = log2_of(self->params.partitions);
    }
    return bits < self->bucket_bits ? bits : self->bucket_bits;
}

void launch_insert(cuckoo_cuda *self, const kvc::insert_jobs &jobs, bool sorted, cudaStream_t stream)
{
    kernels run = kernels_of(self);
    uint32_t *scratch = nullptr;
    uint32_t partitions = self->params.partitions;
    bool exclusive = self->exclusive && (sorted || partitions == 1);
    if (cudaMallocAsync(&scratch, sizeof(*scratch) * (jobs.count + partitions + 1), stream) != cudaSuccess) {
        return;
    }
    kvc::insert_rest rest = {scratch, self->counts, self->locks};
    uint32_t *starts = exclusive ? scratch + jobs.count : nullptr;
    cudaMemsetAsync(self->counts, 0, 2 * sizeof(*self->counts), stream);
    if (exclusive) {
        find_starts<<<(partitions + block_threads) / block_threads, block_threads, 0, stream>>>(
            jobs.hash, jobs.count, self->table.masks.bucket,
            static_cast<int>(self->bucket_bits - log2_of(partitions)), partitions, starts);
    }
    uint32_t blocks = exclusive ? partitions : blocks_for(self, jobs.count);
    run.insert<<<blocks, block_threads, 0, stream>>>(self->table, jobs, rest, {self->counts + 1, starts});
    run.insert_rest<<<blocks_for(self, jobs.count), block_threads, 0, stream>>>(self->table, jobs, rest);
    cudaFreeAsync(scratch, stream);
}

void cuckoo_cuda_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                        uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    cuckoo_cuda *self = cuda_of(index);
    cudaStream_t stream = nullptr;
    if (count == 0) {
        return;
    }
    kvc::staged<const uint64_t> hashes(hash, count, true, false, stream);
    kvc::staged<const uint32_t> locations(location, count, true, false, stream);
    kvc::staged<uint32_t> outs(out, count, false, true, stream);
    if (hashes.error() == cudaSuccess && locations.error() == cudaSuccess && outs.error() == cudaSuccess) {
        kvc::insert_jobs jobs = {hashes.device(), locations.device(), nullptr, count, outs.device()};
        reset_counters(self, stream);
        uint32_t bits = group_bits(self, count);
        if (bits > 0) {
            grouped sorted(self, jobs, bits, stream);
            launch_insert(self, sorted.jobs(), sorted.done(), stream);
        } else {
            launch_insert(self, jobs, false, stream);
        }
        outs.finish();
    }
    kvc::cuckoo_counters counters = read_counters(self, stream);
    self->used += counters.inserted;
    if (stats != nullptr) {
        stats->inserts += count;
        stats->insert_lines += counters.insert_lines;
        stats->replaced += counters.replaced;
        stats->displacements += counters.displacements;
        stats->dropped += counters.dropped;
    }
}

/* --- erase --- */

void launch_erase(cuckoo_cuda *self, const kvc::insert_jobs &jobs, cudaStream_t stream)
{
    cudaMemsetAsync(self->counts, 0, 2 * sizeof(*self->counts), stream);
    kernels_of(self).erase<<<blocks_for(self, jobs.count), block_threads, 0, stream>>>(
        self->table, jobs, {self->counts + 1, nullptr});
}

void cuckoo_cuda_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                       uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    cuckoo_cuda *self = cuda_of(index);
    cudaStream_t stream = nullptr;
    if (count == 0) {
        return;
    }
    kvc::staged<const uint64_t> hashes(hash, count, true, false, stream);
    kvc::staged<const uint32_t> locations(location, count, true, false, stream);
    kvc::staged<uint32_t> outs(out, count, false, true, stream);
    if (hashes.error() == cudaSuccess && locations.error() == cudaSuccess && outs.error() == cudaSuccess) {
        kvc::insert_jobs jobs = {hashes.device(), locations.device(), nullptr, count, outs.device()};
        reset_counters(self, stream);
        uint32_t bits = group_bits(self, count);
        if (bits > 0) {
            grouped sorted(self, jobs, bits, stream);
            launch_erase(self, sorted.jobs(), stream);
        } else {
            launch_erase(self, jobs, stream);
        }
        outs.finish();
    }
    kvc::cuckoo_counters counters = read_counters(self, stream);
    self->used -= counters.erased;
    if (stats != nullptr) {
        stats->erases += count;
        stats->erased += counters.erased;
        stats->erase_lines += counters.erase_lines;
    }
}

/* --- the rest --- */

uint64_t cuckoo_cuda_capacity(const struct kvc_index *index)
{
    return reinterpret_cast<const cuckoo_cuda *>(index)->params.bytes / 8;
}

uint64_t cuckoo_cuda_used(const struct kvc_index *index)
{
    return reinterpret_cast<const cuckoo_cuda *>(index)->used;
}

void cuckoo_cuda_free(struct kvc_index *index)
{
    cuckoo_cuda *self = cuda_of(index);
    cudaFree(self->table.words);
    cudaFree(self->table.counters);
    cudaFree(self->locks);
    cudaFree(self->counts);
    delete self;
}

const struct kvc_index_ops cuckoo_cuda_ops = {
    cuckoo_cuda_free,  cuckoo_cuda_search,   cuckoo_cuda_insert,
    cuckoo_cuda_erase, cuckoo_cuda_capacity, cuckoo_cuda_used,
};

/* Clears the table. Empty slots have signature 0; in the layout with locations apart, they also have no
 * location. */
cudaError_t clear(cuckoo_cuda *self)
{
    uint64_t bytes = self->params.bytes;
    if (self->params.layout == KVC_MEGAKV_CUCKOO_INTERLEAVED) {
        return cudaMemset(self->table.words, 0, bytes);
    }
    uint64_t half = self->params.slots * sizeof(uint32_t);
    cudaError_t error = cudaMemset2D(self->table.words, 2 * half, 0, half, bytes / (2 * half));
    return error != cudaSuccess ? error
                                : cudaMemset2D(self->table.words + self->params.slots, 2 * half, 0xff, half,
                                               bytes / (2 * half));
}

cudaError_t allocate(cuckoo_cuda *self)
{
    cudaError_t error;
    cudaDeviceProp properties;
    if ((error = cudaGetDeviceProperties(&properties, 0)) != cudaSuccess ||
        (error = cudaMalloc(&self->table.words, self->params.bytes)) != cudaSuccess ||
        (error = cudaMalloc(&self->table.counters, sizeof(*self->table.counters))) != cudaSuccess ||
        (error = cudaMalloc(&self->locks, sizeof(*self->locks) * kvc::lock_count)) != cudaSuccess ||
        (error = cudaMalloc(&self->counts, 2 * sizeof(*self->counts))) != cudaSuccess ||
        (error = cudaMemset(self->locks, 0, sizeof(*self->locks) * kvc::lock_count)) != cudaSuccess ||
        (error = clear(self)) != cudaSuccess || (error = cudaDeviceSynchronize()) != cudaSuccess) {
        return error;
    }
    /* The memory pool keeps scratch memory of large batches for the next batch. */
    uint64_t keep = UINT64_MAX;
    cudaMemPool_t pool;
    if ((error = cudaDeviceGetDefaultMemPool(&pool, 0)) != cudaSuccess ||
        (error = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep)) != cudaSuccess) {
        return error;
    }
    self->blocks_max =
        static_cast<uint32_t>(properties.multiProcessorCount *
                              (properties.maxThreadsPerMultiProcessor / static_cast<int>(block_threads)));
    return cudaSuccess;
}

struct kvc_index *create_published(uint64_t bytes, uint64_t)
{
    struct kvc_megakv_cuckoo_params params = {};
    params.bytes = bytes;
    params.max_displacements = 64;
    return kvc_megakv_cuckoo_cuda_create(&params);
}

struct kvc_index *create_interleaved(uint64_t bytes, uint64_t)
{
    struct kvc_megakv_cuckoo_params params = {};
    params.bytes = bytes;
    params.layout = KVC_MEGAKV_CUCKOO_INTERLEAVED;
    params.slots = 4;
    params.max_displacements = 64;
    return kvc_megakv_cuckoo_cuda_create(&params);
}

} // namespace

void kvc_megakv_cuckoo_cuda_search_async(struct kvc_index *index, struct kvc_cuda_stream *stream,
                                         const uint64_t *hash, uint32_t count, uint32_t *location)
{
    cuckoo_cuda *self = cuda_of(index);
    kernels_of(self)
        .search<<<blocks_for(self, count), block_threads, 0, reinterpret_cast<cudaStream_t>(stream)>>>(
            self->table, hash, count, location);
}

void kvc_megakv_cuckoo_cuda_exclusive_blocks(struct kvc_index *index, bool exclusive)
{
    cuda_of(index)->exclusive = exclusive;
}

bool kvc_megakv_cuckoo_cuda_download(const struct kvc_index *index, void *words)
{
    const cuckoo_cuda *self = reinterpret_cast<const cuckoo_cuda *>(index);
    return cudaMemcpy(words, self->table.words, self->params.bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
}

struct kvc_index *kvc_megakv_cuckoo_cuda_create(const struct kvc_megakv_cuckoo_params *params)
{
    cuckoo_cuda *self = new (std::nothrow) cuckoo_cuda();
    if (self == nullptr) {
        errno = ENOMEM;
        return nullptr;
    }
    self->index.ops = &cuckoo_cuda_ops;
    self->params = *params;
    if (!kvc_megakv_cuckoo_params_complete(&self->params, &self->table.masks) || params->portable ||
        params->seed != 0) {
        delete self;
        errno = EINVAL;
        return nullptr;
    }
    if (self->params.threads == 0) {
        self->params.threads = self->params.slots < 8 ? 2 : 4;
    }
    self->table.max_displacements = params->max_displacements;
    self->bucket_bits = log2_of(static_cast<uint64_t>(self->table.masks.bucket) + 1);
    cudaError_t error = allocate(self);
    if (error != cudaSuccess) {
        cudaGetLastError();
        cuckoo_cuda_free(&self->index);
        errno = error == cudaErrorMemoryAllocation ? ENOMEM : ENODEV;
        return nullptr;
    }
    return &self->index;
}

const struct kvc_index_kind kvc_megakv_cuckoo_cuda_kind = {
    .name = "megakv-cuckoo-cuda",
    .source = "Mega-KV, VLDB J. 26(5) 2017, sec. 4",
    .create = create_published,
    .partial = true,
};

const struct kvc_index_kind kvc_megakv_cuckoo_interleaved_cuda_kind = {
    .name = "cuckoo-interleaved-cuda",
    .source = "Mega-KV's cuckoo, slots of signature and location in one sector",
    .create = create_interleaved,
    .partial = true,
};

#include "kernels/memcachedgpu/tables_cuda.h"

#include <cerrno>
#include <new>

#include "kernels/staging.cuh"

namespace
{

constexpr uint32_t block_threads = 128;
constexpr uint32_t warp_threads = 32;

/* Adds what the threads of a warp counted in one kernel; all threads of the warp call it. */
__device__ __forceinline__ void add_stats(struct kvc_index_stats *to, const struct kvc_index_stats &local)
{
    const uint64_t fields[] = {local.search_hits, local.search_lines, local.insert_lines, local.replaced,
                               local.dropped,     local.evicted,      local.erased,       local.erase_lines};
    uint64_t *const sums[] = {&to->search_hits, &to->search_lines, &to->insert_lines, &to->replaced,
                              &to->dropped,     &to->evicted,      &to->erased,       &to->erase_lines};
#pragma unroll
    for (int f = 0; f < 8; f++) {
        uint32_t sum = __reduce_add_sync(0xffffffffu, static_cast<uint32_t>(fields[f]));
        if (threadIdx.x % warp_threads == 0 && sum != 0) {
            atomicAdd(reinterpret_cast<unsigned long long *>(sums[f]), static_cast<unsigned long long>(sum));
        }
    }
}

enum class table_operation { search, insert, erase };

/* Performs one call of index.h: makes the arrays accessible to the device, launches (`launch` returns a
 * cudaError_t), waits and adds the statistics to `stats`, which may be NULL. Returns what this batch counted,
 * or zeros if the device failed. */
template <typename LAUNCH>
struct kvc_index_stats run_batch(table_operation operation, const uint64_t *hash, const uint32_t *location,
                                 uint32_t *out, uint32_t count, struct kvc_index_stats *counted,
                                 struct kvc_index_stats *stats, LAUNCH launch)
{
    cudaStream_t stream = nullptr;
    struct kvc_index_stats local = {};
    if (count == 0) {
        return local;
    }
    kvc::staged<const uint64_t> hashes(hash, count, true, false, stream);
    kvc::staged<const uint32_t> locations(location, count, true, false, stream);
    kvc::staged<uint32_t> outs(out, count, false, true, stream);
    if (hashes.error() != cudaSuccess || locations.error() != cudaSuccess || outs.error() != cudaSuccess ||
        cudaMemsetAsync(counted, 0, sizeof(*counted), stream) != cudaSuccess) {
        return local;
    }
    struct kvc_table_batch batch = {};
    batch.hash = hashes.device();
    batch.location = locations.device();
    batch.location_out = outs.device();
    if (launch(batch, stream) != cudaSuccess) {
        return local;
    }
    outs.finish();
    if (cudaMemcpyAsync(&local, counted, sizeof(local), cudaMemcpyDeviceToHost, stream) != cudaSuccess ||
        cudaStreamSynchronize(stream) != cudaSuccess) {
        return {};
    }
    local.searches += operation == table_operation::search ? count : 0;
    local.inserts += operation == table_operation::insert ? count : 0;
    local.erases += operation == table_operation::erase ? count : 0;
    if (stats != nullptr) {
        kvc_index_stats_add(stats, &local);
    }
    return local;
}

/* Allocates zeroed device memory; nullptr with errno. */
template <typename T> T *alloc_zeroed(uint64_t bytes)
{
    void *memory = kvc_cuda_alloc(bytes);
    if (memory != nullptr && cudaMemset(memory, 0, bytes) != cudaSuccess) {
        kvc_cuda_free(memory);
        errno = ENODEV;
        memory = nullptr;
    }
    return static_cast<T *>(memory);
}

bool copy_in(void *to, const void *from, uint64_t bytes)
{
    return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
}

bool copy_out(void *to, const void *from, uint64_t bytes)
{
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
}

/* --- the hopscotch table --- */

namespace hopscotch
{

/* more entries than any neighbourhood has, so that a neighbourhood needs two locks at most */
constexpr uint32_t lock_entries = 64;
static_assert(lock_entries >= KVC_HOPSCOTCH_NEIGHBOURS_MAX, "");

struct hopscotch_cuda {
    struct kvc_index index;
    struct kvc_hopscotch_table table;
    uint32_t *locks;
    struct kvc_index_stats *counted;
    uint32_t clock;
    uint64_t used;
};

hopscotch_cuda *cuda_of(struct kvc_index *index)
{
    return reinterpret_cast<hopscotch_cuda *>(index); /* the first member */
}

const hopscotch_cuda *cuda_of(const struct kvc_index *index)
{
    return reinterpret_cast<const hopscotch_cuda *>(index);
}

__global__ void __launch_bounds__(block_threads)
    search_kernel(struct kvc_hopscotch_table table, struct kvc_table_batch batch, uint32_t count,
                  uint32_t now, struct kvc_index_stats *counted)
{
    uint32_t i = blockIdx.x * block_threads + threadIdx.x;
    struct kvc_index_stats local = {};
    if (i < count) {
        struct kvc_table_key key = kvc_table_key(&batch, i);
        kvc_table_answer(
            &batch, i, kvc_hopscotch_search_one(&table, kvc_hopscotch_place(&table, key), key, now, &local));
    }
    add_stats(counted, local);
}

/* Runs an insert or an erase under the locks of its neighbourhood. A thread that gets the first lock but not
 * the second releases the first again, so the thread with the highest locks can always proceed. */
template <typename CHANGE>
__device__ void locked(const struct kvc_hopscotch_table &table, uint32_t *locks, uint32_t home, CHANGE change)
{
    uint32_t *first = &locks[home / lock_entries];
    uint32_t *second = &locks[(home + table.neighbours - 1) / lock_entries];
    for (bool done = false; !done;) {
        if (atomicCAS(first, 0u, 1u) == 0) {
            if (second == first || atomicCAS(second, 0u, 1u) == 0) {
                __threadfence(); /* makes visible what other threads wrote under the locks */
                change();
                __threadfence();
                if (second != first) {
                    atomicExch(second, 0u);
                }
                done = true;
            }
            atomicExch(first, 0u);
        }
        if (!done) {
            __nanosleep(64);
        }
    }
}

template <table_operation OPERATION>
__global__ void __launch_bounds__(block_threads)
    change_kernel(struct kvc_hopscotch_table table, uint32_t *locks, struct kvc_table_batch batch,
                  uint32_t count, uint32_t now, struct kvc_index_stats *counted)
{
    uint32_t i = blockIdx.x * block_threads + threadIdx.x;
    struct kvc_index_stats local = {};
    if (i < count) {
        struct kvc_table_key key = kvc_table_key(&batch, i);
        struct kvc_hopscotch_place place = kvc_hopscotch_place(&table, key);
        struct kvc_set_assoc_item item = kvc_table_item(&batch, i);
        if (OPERATION == table_operation::insert && item.location >= KVC_LOCATION_ANY) {
            local.dropped++;
        } else {
            locked(table, locks, place.home, [&] {
                item = OPERATION == table_operation::insert
                           ? kvc_hopscotch_insert_one(&table, place, key, &item, now + i, &local)
                           : kvc_hopscotch_erase_one(&table, place, key, kvc_table_wanted(&batch, i), &local);
            });
        }
        kvc_table_answer(&batch, i, item);
    }
    add_stats(counted, local);
}

uint32_t blocks_for(uint32_t count)
{
    return (count + block_threads - 1) / block_threads;
}

void index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                  struct kvc_index_stats *stats)
{
    hopscotch_cuda *self = cuda_of(index);
    uint32_t now = self->clock++;
    run_batch(table_operation::search, hash, nullptr, location, count, self->counted, stats,
              [&](const struct kvc_table_batch &batch, cudaStream_t stream) {
                  search_kernel<<<blocks_for(count), block_threads, 0, stream>>>(self->table, batch, count,
                                                                                 now, self->counted);
                  return cudaGetLastError();
              });
}

void index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location, uint32_t count,
                  uint32_t *out, struct kvc_index_stats *stats)
{
    hopscotch_cuda *self = cuda_of(index);
    uint32_t now = self->clock;
    self->clock += count;
    struct kvc_index_stats done =
        run_batch(table_operation::insert, hash, location, out, count, self->counted, stats,
                  [&](const struct kvc_table_batch &batch, cudaStream_t stream) {
                      change_kernel<table_operation::insert><<<blocks_for(count), block_threads, 0, stream>>>(
                          self->table, self->locks, batch, count, now, self->counted);
                      return cudaGetLastError();
                  });
    self->used += done.insert_lines != 0 ? count - done.replaced - done.evicted - done.dropped : 0;
}

void index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location, uint32_t count,
                 uint32_t *out, struct kvc_index_stats *stats)
{
    hopscotch_cuda *self = cuda_of(index);
    self->used -=
        run_batch(table_operation::erase, hash, location, out, count, self->counted, stats,
                  [&](const struct kvc_table_batch &batch, cudaStream_t stream) {
                      change_kernel<table_operation::erase><<<blocks_for(count), block_threads, 0, stream>>>(
                          self->table, self->locks, batch, count, 0, self->counted);
                      return cudaGetLastError();
                  })
            .erased;
}

uint64_t index_capacity(const struct kvc_index *index)
{
    return kvc_hopscotch_capacity(&cuda_of(index)->table);
}

uint64_t index_used(const struct kvc_index *index)
{
    return cuda_of(index)->used;
}

void index_free(struct kvc_index *index)
{
    hopscotch_cuda *self = cuda_of(index);
    kvc_cuda_free(self->table.tags);
    kvc_cuda_free(self->table.entries);
    kvc_cuda_free(self->locks);
    kvc_cuda_free(self->counted);
    delete self;
}

constexpr struct kvc_index_ops hopscotch_cuda_ops = {
    index_free, index_search, index_insert, index_erase, index_capacity, index_used,
};

struct kvc_index *create_published(uint64_t bytes, uint64_t)
{
    uint64_t homes = bytes / (1 + kvc_set_assoc_entry_bytes(sizeof(uint64_t)));
    if (homes > UINT32_MAX) {
        errno = EINVAL;
        return nullptr;
    }
    struct kvc_hopscotch_params params = {};
    params.homes = static_cast<uint32_t>(homes);
    params.key_bytes_max = sizeof(uint64_t);
    return kvc_hopscotch_cuda_create(&params);
}

} // namespace hopscotch

/* --- the chained table --- */

namespace chained
{

struct chained_cuda {
    struct kvc_index index;
    struct kvc_chained_table table;
    struct kvc_index_stats *counted;
    uint32_t clock;
};

chained_cuda *cuda_of(struct kvc_index *index)
{
    return reinterpret_cast<chained_cuda *>(index); /* the first member */
}

const chained_cuda *cuda_of(const struct kvc_index *index)
{
    return reinterpret_cast<const chained_cuda *>(index);
}

/* Searches without changing anything; number[i] receives the entry of key i. */
__global__ void __launch_bounds__(block_threads)
    search_kernel(struct kvc_chained_table table, struct kvc_table_batch batch, uint32_t count, uint32_t now,
                  uint32_t *number, struct kvc_index_stats *counted)
{
    uint32_t i = blockIdx.x * block_threads + threadIdx.x;
    struct kvc_index_stats local = {};
    if (i < count) {
        struct kvc_table_key key = kvc_table_key(&batch, i);
        struct kvc_chained_found found =
            kvc_chained_find(&table, kvc_chained_head(&table, key), key, &local.search_lines);
        struct kvc_set_assoc_item item = kvc_table_no_item();
        if (found.number != KVC_CHAINED_NONE) {
            const struct kvc_chained_entry *entry = kvc_chained_entry(&table, found.number);
            item = kvc_table_entry_item(&entry->header);
            item.stamp = kvc_chained_due(&table, entry, now) ? now : item.stamp;
            local.search_hits++;
        }
        number[i] = found.number;
        kvc_table_answer(&batch, i, item);
    }
    add_stats(counted, local);
}

__device__ __forceinline__ void fetch(const void *line)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
}

/* Moves the entries that were found to the front of the queue, in order. One warp runs it: the first thread
 * does the work, and the other threads prefetch for it. */
__global__ void __launch_bounds__(warp_threads)
    touch_kernel(struct kvc_chained_table table, const uint32_t *number, uint32_t count, uint32_t now,
                 struct kvc_index_stats *counted)
{
    struct kvc_index_stats local = {};
    for (uint64_t first = 0; first < count; first += warp_threads) {
        uint64_t i = first + threadIdx.x;
        if (i < count && number[i] != KVC_CHAINED_NONE) {
            const struct kvc_chained_entry *entry = kvc_chained_entry(&table, number[i]);
            if (entry->newer != KVC_CHAINED_NONE) {
                fetch(kvc_chained_entry(&table, entry->newer));
            }
            if (entry->older != KVC_CHAINED_NONE) {
                fetch(kvc_chained_entry(&table, entry->older));
            }
        }
        __syncwarp();
        for (uint64_t k = first; threadIdx.x == 0 && k < first + warp_threads && k < count; k++) {
            if (number[k] != KVC_CHAINED_NONE) {
                kvc_chained_touch(&table, number[k], now, &local.search_lines);
            }
        }
        __syncwarp();
    }
    add_stats(counted, local);
}

__device__ struct kvc_set_assoc_item insert_one(const struct kvc_chained_table &table,
                                                const struct kvc_table_batch &batch, uint32_t *head,
                                                uint32_t i, uint32_t now, struct kvc_index_stats *stats)
{
    struct kvc_set_assoc_item item = kvc_table_item(&batch, i);
    if (item.location >= KVC_LOCATION_ANY) {
        stats->dropped++;
        return item;
    }
    return kvc_chained_insert_one(&table, head, kvc_table_key(&batch, i), &item, now + i, stats);
}

/* Inserts or erases a batch in order; one warp runs it, as above. */
template <table_operation OPERATION>
__global__ void __launch_bounds__(warp_threads)
    change_kernel(struct kvc_chained_table table, struct kvc_table_batch batch, uint32_t count, uint32_t now,
                  struct kvc_index_stats *counted)
{
    __shared__ uint32_t *head[warp_threads];
    struct kvc_index_stats local = {};
    for (uint64_t first = 0; first < count; first += warp_threads) {
        uint64_t i = first + threadIdx.x;
        if (i < count) {
            uint32_t *its = kvc_chained_head(&table, kvc_table_key(&batch, static_cast<uint32_t>(i)));
            head[threadIdx.x] = its;
            if (*its != KVC_CHAINED_NONE) {
                fetch(kvc_chained_entry(&table, *its));
            }
        }
        __syncwarp();
        for (uint32_t k = 0; threadIdx.x == 0 && k < warp_threads && first + k < count; k++) {
            uint32_t its = static_cast<uint32_t>(first + k);
            struct kvc_set_assoc_item item =
                OPERATION == table_operation::insert
                    ? insert_one(table, batch, head[k], its, now, &local)
                    : kvc_chained_erase_one(&table, head[k], kvc_table_key(&batch, its),
                                            kvc_table_wanted(&batch, its), &local);
            kvc_table_answer(&batch, its, item);
        }
        __syncwarp();
    }
    add_stats(counted, local);
}

void index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                  struct kvc_index_stats *stats)
{
    chained_cuda *self = cuda_of(index);
    uint32_t now = self->clock++;
    run_batch(table_operation::search, hash, nullptr, location, count, self->counted, stats,
              [&](const struct kvc_table_batch &batch, cudaStream_t stream) {
                  uint32_t *number = nullptr;
                  cudaError_t error =
                      cudaMallocAsync(reinterpret_cast<void **>(&number), count * sizeof(*number), stream);
                  if (error != cudaSuccess) {
                      return error;
                  }
                  search_kernel<<<(count + block_threads - 1) / block_threads, block_threads, 0, stream>>>(
                      self->table, batch, count, now, number, self->counted);
                  touch_kernel<<<1, warp_threads, 0, stream>>>(self->table, number, count, now,
                                                               self->counted);
                  error = cudaGetLastError();
                  cudaFreeAsync(number, stream);
                  return error;
              });
}

void index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location, uint32_t count,
                  uint32_t *out, struct kvc_index_stats *stats)
{
    chained_cuda *self = cuda_of(index);
    uint32_t now = self->clock;
    self->clock += count;
    run_batch(table_operation::insert, hash, location, out, count, self->counted, stats,
              [&](const struct kvc_table_batch &batch, cudaStream_t stream) {
                  change_kernel<table_operation::insert>
                      <<<1, warp_threads, 0, stream>>>(self->table, batch, count, now, self->counted);
                  return cudaGetLastError();
              });
}

void index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location, uint32_t count,
                 uint32_t *out, struct kvc_index_stats *stats)
{
    chained_cuda *self = cuda_of(index);
    run_batch(table_operation::erase, hash, location, out, count, self->counted, stats,
              [&](const struct kvc_table_batch &batch, cudaStream_t stream) {
                  change_kernel<table_operation::erase>
                      <<<1, warp_threads, 0, stream>>>(self->table, batch, count, 0, self->counted);
                  return cudaGetLastError();
              });
}

uint64_t index_capacity(const struct kvc_index *index)
{
    return cuda_of(index)->table.capacity;
}

uint64_t index_used(const struct kvc_index *index)
{
    struct kvc_chained_state state = {};
    return copy_out(&state, cuda_of(index)->table.state, sizeof(state)) ? state.used : 0;
}

void index_free(struct kvc_index *index)
{
    chained_cuda *self = cuda_of(index);
    kvc_cuda_free(self->table.heads);
    kvc_cuda_free(self->table.entries);
    kvc_cuda_free(self->table.state);
    kvc_cuda_free(self->counted);
    delete self;
}

constexpr struct kvc_index_ops chained_cuda_ops = {
    index_free, index_search, index_insert, index_erase, index_capacity, index_used,
};

struct kvc_index *create_published(uint64_t bytes, uint64_t)
{
    struct kvc_chained_params params;
    if (!kvc_chained_published(bytes, &params)) {
        errno = EINVAL;
        return nullptr;
    }
    return kvc_chained_cuda_create(&params);
}

} // namespace chained

} // namespace

struct kvc_index *kvc_hopscotch_cuda_create(const struct kvc_hopscotch_params *params)
{
    struct kvc_hopscotch_table table;
    if (!kvc_hopscotch_geometry(params, &table) || params->key_bytes_max < sizeof(uint64_t)) {
        errno = EINVAL;
        return nullptr;
    }
    hopscotch::hopscotch_cuda *self = new (std::nothrow)
        hopscotch::hopscotch_cuda{{&hopscotch::hopscotch_cuda_ops}, table, nullptr, nullptr, 0, 0};
    if (self == nullptr) {
        errno = ENOMEM;
        return nullptr;
    }
    uint64_t locks = kvc_hopscotch_capacity(&table) / hopscotch::lock_entries + 1;
    self->table.tags = alloc_zeroed<uint8_t>(kvc_hopscotch_tags_bytes(&table));
    self->table.entries = alloc_zeroed<uint8_t>(kvc_hopscotch_entries_bytes(&table));
    self->locks = alloc_zeroed<uint32_t>(locks * sizeof(uint32_t));
    self->counted = alloc_zeroed<struct kvc_index_stats>(sizeof(struct kvc_index_stats));
    if (self->table.tags == nullptr || self->table.entries == nullptr || self->locks == nullptr ||
        self->counted == nullptr) {
        int error = errno;
        hopscotch::index_free(&self->index);
        errno = error;
        return nullptr;
    }
    return &self->index;
}

struct kvc_index *kvc_hopscotch_cuda_copy(const struct kvc_hopscotch *from)
{
    struct kvc_hopscotch_params params = {from->table.homes, from->table.neighbours,
                                          from->table.key_bytes_max};
    struct kvc_index *index = kvc_hopscotch_cuda_create(&params);
    if (index == nullptr) {
        return nullptr;
    }
    hopscotch::hopscotch_cuda *self = hopscotch::cuda_of(index);
    self->clock = from->base.clock;
    self->used = from->used;
    if (!copy_in(self->table.tags, from->table.tags, kvc_hopscotch_tags_bytes(&self->table)) ||
        !copy_in(self->table.entries, from->table.entries, kvc_hopscotch_entries_bytes(&self->table))) {
        hopscotch::index_free(index);
        errno = ENODEV;
        return nullptr;
    }
    return index;
}

bool kvc_hopscotch_cuda_download(const struct kvc_index *index, struct kvc_hopscotch *to)
{
    const hopscotch::hopscotch_cuda *self = hopscotch::cuda_of(index);
    const struct kvc_hopscotch_table &table = self->table;
    if (table.homes != to->table.homes || table.neighbours != to->table.neighbours ||
        table.key_bytes_max != to->table.key_bytes_max ||
        !copy_out(to->table.tags, table.tags, kvc_hopscotch_tags_bytes(&table)) ||
        !copy_out(to->table.entries, table.entries, kvc_hopscotch_entries_bytes(&table))) {
        return false;
    }
    to->base.clock = self->clock;
    to->used = self->used;
    return true;
}

const struct kvc_index_kind kvc_hopscotch_cuda_kind = {
    .name = "memcachedgpu-hopscotch-cuda",
    .source = "MemcachedGPU, SoCC 2015, sec. 4.2.1",
    .create = hopscotch::create_published,
    .caches = true,
    .forgets = false,
    .partial = false,
    .many_readers = false,
};

struct kvc_index *kvc_chained_cuda_create(const struct kvc_chained_params *params)
{
    struct kvc_chained_table table;
    if (!kvc_chained_geometry(params, &table) || params->key_bytes_max < sizeof(uint64_t)) {
        errno = EINVAL;
        return nullptr;
    }
    chained::chained_cuda *self =
        new (std::nothrow) chained::chained_cuda{{&chained::chained_cuda_ops}, table, nullptr, 0};
    if (self == nullptr) {
        errno = ENOMEM;
        return nullptr;
    }
    self->table.heads = alloc_zeroed<uint32_t>(kvc_chained_heads_bytes(&table));
    self->table.entries = alloc_zeroed<uint8_t>(kvc_chained_entries_bytes(&table));
    self->table.state = alloc_zeroed<struct kvc_chained_state>(sizeof(struct kvc_chained_state));
    self->counted = alloc_zeroed<struct kvc_index_stats>(sizeof(struct kvc_index_stats));
    if (self->table.heads == nullptr || self->table.entries == nullptr || self->table.state == nullptr ||
        self->counted == nullptr) {
        int error = errno;
        chained::index_free(&self->index);
        errno = error;
        return nullptr;
    }
    return &self->index;
}

struct kvc_index *kvc_chained_cuda_copy(const struct kvc_chained *from)
{
    struct kvc_chained_params params = {from->table.buckets, from->table.capacity, from->table.key_bytes_max,
                                        from->table.bump_after};
    struct kvc_index *index = kvc_chained_cuda_create(&params);
    if (index == nullptr) {
        return nullptr;
    }
    chained::chained_cuda *self = chained::cuda_of(index);
    self->clock = from->base.clock;
    if (!copy_in(self->table.heads, from->table.heads, kvc_chained_heads_bytes(&self->table)) ||
        !copy_in(self->table.entries, from->table.entries, kvc_chained_entries_bytes(&self->table)) ||
        !copy_in(self->table.state, from->table.state, sizeof(*self->table.state))) {
        chained::index_free(index);
        errno = ENODEV;
        return nullptr;
    }
    return index;
}

bool kvc_chained_cuda_download(const struct kvc_index *index, struct kvc_chained *to)
{
    const chained::chained_cuda *self = chained::cuda_of(index);
    const struct kvc_chained_table &table = self->table;
    if (table.buckets != to->table.buckets || table.capacity != to->table.capacity ||
        table.key_bytes_max != to->table.key_bytes_max ||
        !copy_out(to->table.heads, table.heads, kvc_chained_heads_bytes(&table)) ||
        !copy_out(to->table.entries, table.entries, kvc_chained_entries_bytes(&table)) ||
        !copy_out(to->table.state, table.state, sizeof(*table.state))) {
        return false;
    }
    to->base.clock = self->clock;
    return true;
}

const struct kvc_index_kind kvc_chained_cuda_kind = {
    .name = "memcachedgpu-chained-cuda",
    .source = "memcached's chains as in MemcachedGPU, SoCC 2015, sec. 5.2",
    .create = chained::create_published,
    .caches = true,
    .forgets = false,
    .partial = false,
    .many_readers = false,
};

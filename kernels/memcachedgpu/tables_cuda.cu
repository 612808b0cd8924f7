#include "kernels/memcachedgpu/tables_cuda.h"

#include "kernels/memcachedgpu/table_cuda.cuh"

using kvc::add_of_warp;
using kvc::block_threads;
using kvc::warp_threads;

namespace
{

/* Adds what the threads of a warp counted in one kernel; all threads of the warp call it. */
__device__ __forceinline__ void add_stats(struct kvc_index_stats *to, const struct kvc_index_stats &local)
{
    const uint64_t fields[] = {local.search_hits, local.search_lines, local.insert_lines, local.replaced,
                               local.dropped,     local.evicted,      local.erased,       local.erase_lines};
    uint64_t *const sums[] = {&to->search_hits, &to->search_lines, &to->insert_lines, &to->replaced,
                              &to->dropped,     &to->evicted,      &to->erased,       &to->erase_lines};
#pragma unroll
    for (int f = 0; f < 8; f++) {
        add_of_warp(sums[f], static_cast<uint32_t>(fields[f]));
    }
}

/* --- the hopscotch table --- */

/* more entries than any neighbourhood has, so that a neighbourhood needs two locks at most */
constexpr uint32_t lock_entries = 64;
static_assert(lock_entries >= KVC_HOPSCOTCH_NEIGHBOURS_MAX, "");

__global__ void __launch_bounds__(block_threads)
    hopscotch_search(struct kvc_hopscotch_table table, struct kvc_table_batch batch, uint32_t count,
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

template <enum kvc_table_operation OPERATION>
__global__ void __launch_bounds__(block_threads)
    hopscotch_change(struct kvc_hopscotch_table table, uint32_t *locks, struct kvc_table_batch batch,
                     uint32_t count, uint32_t now, struct kvc_index_stats *counted)
{
    uint32_t i = blockIdx.x * block_threads + threadIdx.x;
    struct kvc_index_stats local = {};
    if (i < count) {
        struct kvc_table_key key = kvc_table_key(&batch, i);
        struct kvc_hopscotch_place place = kvc_hopscotch_place(&table, key);
        struct kvc_set_assoc_item item = kvc_table_item(&batch, i);
        if (OPERATION == KVC_TABLE_INSERT && item.location >= KVC_LOCATION_ANY) {
            local.dropped++;
        } else {
            locked(table, locks, place.home, [&] {
                item = OPERATION == KVC_TABLE_INSERT
                           ? kvc_hopscotch_insert_one(&table, place, key, &item, now + i, &local)
                           : kvc_hopscotch_erase_one(&table, place, key, kvc_table_wanted(&batch, i), &local);
            });
        }
        kvc_table_answer(&batch, i, item);
    }
    add_stats(counted, local);
}

struct hopscotch_cuda : kvc::table_cuda {
    using params = struct kvc_hopscotch_params;
    using cpu = struct kvc_hopscotch;

    struct kvc_hopscotch_table table;
    uint32_t *locks;
    uint64_t held; /* entries that hold an item */

    bool geometry(const params &of)
    {
        return kvc_hopscotch_geometry(&of, &table) && of.key_bytes_max >= sizeof(uint64_t);
    }

    static bool published(uint64_t bytes, params *to)
    {
        return kvc_hopscotch_published(bytes, to);
    }

    static params params_of(const cpu &from)
    {
        return {from.table.homes, from.table.neighbours, from.table.key_bytes_max};
    }

    bool same_geometry(const struct kvc_hopscotch_table &other) const
    {
        return table.homes == other.homes && table.neighbours == other.neighbours &&
               table.key_bytes_max == other.key_bytes_max;
    }

    template <typename FUNCTION> bool arrays(const struct kvc_hopscotch_table &other, FUNCTION function)
    {
        uint64_t lock_count = kvc_hopscotch_capacity(&table) / lock_entries + 1;
        return function(table.tags, other.tags, kvc_hopscotch_tags_bytes(&table)) &&
               function(table.entries, other.entries, kvc_hopscotch_entries_bytes(&table)) &&
               function(locks, nullptr, lock_count * sizeof(*locks));
    }

    cudaError_t launch(enum kvc_table_operation operation, const struct kvc_table_batch &batch,
                       uint32_t count, uint32_t now, cudaStream_t stream,
                       struct kvc_index_stats *counts) const
    {
        uint32_t blocks = kvc::blocks_for(count);
        if (operation == KVC_TABLE_SEARCH) {
            hopscotch_search<<<blocks, block_threads, 0, stream>>>(table, batch, count, now, counts);
        } else {
            auto *kernel = operation == KVC_TABLE_INSERT ? hopscotch_change<KVC_TABLE_INSERT>
                                                         : hopscotch_change<KVC_TABLE_ERASE>;
            kernel<<<blocks, block_threads, 0, stream>>>(table, locks, batch, count, now, counts);
        }
        return cudaGetLastError();
    }

    void ended(enum kvc_table_operation operation, uint32_t count, const struct kvc_index_stats &counts)
    {
        held += operation == KVC_TABLE_INSERT ? count - counts.replaced - counts.evicted - counts.dropped : 0;
        held -= counts.erased;
    }

    uint64_t capacity() const
    {
        return kvc_hopscotch_capacity(&table);
    }

    uint64_t used() const
    {
        return held;
    }

    bool copy_rest(const cpu &from)
    {
        held = from.used;
        return true;
    }

    bool download_rest(cpu *to) const
    {
        to->used = held;
        return true;
    }
};

using hopscotch_index = kvc::table_index<hopscotch_cuda>;

/* --- the chained table --- */

/* Searches without changing anything; number[i] receives the entry of key i. */
__global__ void __launch_bounds__(block_threads)
    chained_search(struct kvc_chained_table table, struct kvc_table_batch batch, uint32_t count, uint32_t now,
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
    chained_touch(struct kvc_chained_table table, const uint32_t *number, uint32_t count, uint32_t now,
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

__device__ struct kvc_set_assoc_item chained_insert(const struct kvc_chained_table &table,
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
template <enum kvc_table_operation OPERATION>
__global__ void __launch_bounds__(warp_threads)
    chained_change(struct kvc_chained_table table, struct kvc_table_batch batch, uint32_t count, uint32_t now,
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
                OPERATION == KVC_TABLE_INSERT
                    ? chained_insert(table, batch, head[k], its, now, &local)
                    : kvc_chained_erase_one(&table, head[k], kvc_table_key(&batch, its),
                                            kvc_table_wanted(&batch, its), &local);
            kvc_table_answer(&batch, its, item);
        }
        __syncwarp();
    }
    add_stats(counted, local);
}

struct chained_cuda : kvc::table_cuda {
    using params = struct kvc_chained_params;
    using cpu = struct kvc_chained;

    struct kvc_chained_table table;

    bool geometry(const params &of)
    {
        return kvc_chained_geometry(&of, &table) && of.key_bytes_max >= sizeof(uint64_t);
    }

    static bool published(uint64_t bytes, params *to)
    {
        return kvc_chained_published(bytes, to);
    }

    static params params_of(const cpu &from)
    {
        return {from.table.buckets, from.table.capacity, from.table.key_bytes_max, from.table.bump_after};
    }

    bool same_geometry(const struct kvc_chained_table &other) const
    {
        return table.buckets == other.buckets && table.capacity == other.capacity &&
               table.key_bytes_max == other.key_bytes_max;
    }

    template <typename FUNCTION> bool arrays(const struct kvc_chained_table &other, FUNCTION function)
    {
        return function(table.heads, other.heads, kvc_chained_heads_bytes(&table)) &&
               function(table.entries, other.entries, kvc_chained_entries_bytes(&table)) &&
               function(table.state, other.state, sizeof(*table.state));
    }

    cudaError_t launch(enum kvc_table_operation operation, const struct kvc_table_batch &batch,
                       uint32_t count, uint32_t now, cudaStream_t stream,
                       struct kvc_index_stats *counts) const
    {
        if (operation != KVC_TABLE_SEARCH) {
            auto *kernel = operation == KVC_TABLE_INSERT ? chained_change<KVC_TABLE_INSERT>
                                                         : chained_change<KVC_TABLE_ERASE>;
            kernel<<<1, warp_threads, 0, stream>>>(table, batch, count, now, counts);
            return cudaGetLastError();
        }
        uint32_t *number = nullptr;
        cudaError_t error =
            cudaMallocAsync(reinterpret_cast<void **>(&number), count * sizeof(*number), stream);
        if (error != cudaSuccess) {
            return error;
        }
        chained_search<<<kvc::blocks_for(count), block_threads, 0, stream>>>(table, batch, count, now, number,
                                                                             counts);
        chained_touch<<<1, warp_threads, 0, stream>>>(table, number, count, now, counts);
        error = cudaGetLastError();
        cudaFreeAsync(number, stream);
        return error;
    }

    uint64_t capacity() const
    {
        return table.capacity;
    }

    uint64_t used() const
    {
        struct kvc_chained_state state = {};
        return kvc::copy(&state, table.state, sizeof(state)) ? state.used : 0;
    }

    bool copy_rest(const cpu &)
    {
        return true;
    }

    bool download_rest(cpu *) const
    {
        return true;
    }
};

using chained_index = kvc::table_index<chained_cuda>;

} // namespace

struct kvc_index *kvc_hopscotch_cuda_create(const struct kvc_hopscotch_params *params)
{
    return hopscotch_index::create(params);
}

struct kvc_index *kvc_hopscotch_cuda_copy(const struct kvc_hopscotch *from)
{
    return hopscotch_index::create_copy(from);
}

bool kvc_hopscotch_cuda_download(const struct kvc_index *index, struct kvc_hopscotch *to)
{
    return hopscotch_index::download(index, to);
}

const struct kvc_index_kind kvc_hopscotch_cuda_kind = {
    .name = "memcachedgpu-hopscotch-cuda",
    .source = "MemcachedGPU, SoCC 2015, sec. 4.2.1",
    .create = hopscotch_index::create_published,
    .caches = true,
    .forgets = false,
    .partial = false,
    .many_readers = false,
};

struct kvc_index *kvc_chained_cuda_create(const struct kvc_chained_params *params)
{
    return chained_index::create(params);
}

struct kvc_index *kvc_chained_cuda_copy(const struct kvc_chained *from)
{
    return chained_index::create_copy(from);
}

bool kvc_chained_cuda_download(const struct kvc_index *index, struct kvc_chained *to)
{
    return chained_index::download(index, to);
}

const struct kvc_index_kind kvc_chained_cuda_kind = {
    .name = "memcachedgpu-chained-cuda",
    .source = "memcached's chains as in MemcachedGPU, SoCC 2015, sec. 5.2",
    .create = chained_index::create_published,
    .caches = true,
    .forgets = false,
    .partial = false,
    .many_readers = false,
};

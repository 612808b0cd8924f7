#include "kernels/memcachedgpu/chained_cuda.h"

#include <new>

#include "kernels/memcachedgpu/table_cuda.cuh"

namespace
{

using kvc::table_operation;
using kvc::warp_threads;

constexpr uint32_t block_threads = 128;

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
    kvc::add_stats(counted, local);
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
    kvc::add_stats(counted, local);
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
    kvc::add_stats(counted, local);
}

void index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                  struct kvc_index_stats *stats)
{
    chained_cuda *self = cuda_of(index);
    uint32_t now = self->clock++;
    kvc::run_batch(
        table_operation::search, hash, nullptr, location, count, self->counted, stats,
        [&](const struct kvc_table_batch &batch, cudaStream_t stream) {
            uint32_t *number = nullptr;
            cudaError_t error =
                cudaMallocAsync(reinterpret_cast<void **>(&number), count * sizeof(*number), stream);
            if (error != cudaSuccess) {
                return error;
            }
            search_kernel<<<(count + block_threads - 1) / block_threads, block_threads, 0, stream>>>(
                self->table, batch, count, now, number, self->counted);
            touch_kernel<<<1, warp_threads, 0, stream>>>(self->table, number, count, now, self->counted);
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
    kvc::run_batch(table_operation::insert, hash, location, out, count, self->counted, stats,
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
    kvc::run_batch(table_operation::erase, hash, location, out, count, self->counted, stats,
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
    return kvc::copy_out(&state, cuda_of(index)->table.state, sizeof(state)) ? state.used : 0;
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

} // namespace

struct kvc_index *kvc_chained_cuda_create(const struct kvc_chained_params *params)
{
    struct kvc_chained_table table;
    if (!kvc_chained_geometry(params, &table) || params->key_bytes_max < sizeof(uint64_t)) {
        errno = EINVAL;
        return nullptr;
    }
    chained_cuda *self = new (std::nothrow) chained_cuda{{&chained_cuda_ops}, table, nullptr, 0};
    if (self == nullptr) {
        errno = ENOMEM;
        return nullptr;
    }
    self->table.heads = kvc::alloc_zeroed<uint32_t>(kvc_chained_heads_bytes(&table));
    self->table.entries = kvc::alloc_zeroed<uint8_t>(kvc_chained_entries_bytes(&table));
    self->table.state = kvc::alloc_zeroed<struct kvc_chained_state>(sizeof(struct kvc_chained_state));
    self->counted = kvc::alloc_zeroed<struct kvc_index_stats>(sizeof(struct kvc_index_stats));
    if (self->table.heads == nullptr || self->table.entries == nullptr || self->table.state == nullptr ||
        self->counted == nullptr) {
        int error = errno;
        index_free(&self->index);
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
    chained_cuda *self = cuda_of(index);
    self->clock = from->clock;
    if (!kvc::copy_in(self->table.heads, from->table.heads, kvc_chained_heads_bytes(&self->table)) ||
        !kvc::copy_in(self->table.entries, from->table.entries, kvc_chained_entries_bytes(&self->table)) ||
        !kvc::copy_in(self->table.state, from->table.state, sizeof(*self->table.state))) {
        index_free(index);
        errno = ENODEV;
        return nullptr;
    }
    return index;
}

bool kvc_chained_cuda_download(const struct kvc_index *index, struct kvc_chained *to)
{
    const chained_cuda *self = cuda_of(index);
    const struct kvc_chained_table &table = self->table;
    if (table.buckets != to->table.buckets || table.capacity != to->table.capacity ||
        table.key_bytes_max != to->table.key_bytes_max ||
        !kvc::copy_out(to->table.heads, table.heads, kvc_chained_heads_bytes(&table)) ||
        !kvc::copy_out(to->table.entries, table.entries, kvc_chained_entries_bytes(&table)) ||
        !kvc::copy_out(to->table.state, table.state, sizeof(*table.state))) {
        return false;
    }
    to->clock = self->clock;
    return true;
}

const struct kvc_index_kind kvc_chained_cuda_kind = {
    .name = "memcachedgpu-chained-cuda",
    .source = "memcached's chains as in MemcachedGPU, SoCC 2015, sec. 5.2",
    .create = create_published,
    .caches = true,
    .forgets = false,
    .partial = false,
    .many_readers = false,
};

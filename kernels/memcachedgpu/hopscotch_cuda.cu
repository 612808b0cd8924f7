#include "kernels/memcachedgpu/hopscotch_cuda.h"

#include <new>

#include "kernels/memcachedgpu/table_cuda.cuh"

namespace
{

using kvc::table_operation;

constexpr uint32_t block_threads = 128;
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
    kvc::add_stats(counted, local);
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
    kvc::add_stats(counted, local);
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
    kvc::run_batch(table_operation::search, hash, nullptr, location, count, self->counted, stats,
                   [&](const struct kvc_table_batch &batch, cudaStream_t stream) {
                       search_kernel<<<blocks_for(count), block_threads, 0, stream>>>(
                           self->table, batch, count, now, self->counted);
                       return cudaGetLastError();
                   });
}

void index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location, uint32_t count,
                  uint32_t *out, struct kvc_index_stats *stats)
{
    hopscotch_cuda *self = cuda_of(index);
    uint32_t now = self->clock;
    self->clock += count;
    struct kvc_index_stats done = kvc::run_batch(
        table_operation::insert, hash, location, out, count, self->counted, stats,
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
    self->used -= kvc::run_batch(table_operation::erase, hash, location, out, count, self->counted, stats,
                                 [&](const struct kvc_table_batch &batch, cudaStream_t stream) {
                                     change_kernel<table_operation::erase>
                                         <<<blocks_for(count), block_threads, 0, stream>>>(
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

} // namespace

struct kvc_index *kvc_hopscotch_cuda_create(const struct kvc_hopscotch_params *params)
{
    struct kvc_hopscotch_table table;
    if (!kvc_hopscotch_geometry(params, &table) || params->key_bytes_max < sizeof(uint64_t)) {
        errno = EINVAL;
        return nullptr;
    }
    hopscotch_cuda *self =
        new (std::nothrow) hopscotch_cuda{{&hopscotch_cuda_ops}, table, nullptr, nullptr, 0, 0};
    if (self == nullptr) {
        errno = ENOMEM;
        return nullptr;
    }
    uint64_t locks = kvc_hopscotch_capacity(&table) / lock_entries + 1;
    self->table.tags = kvc::alloc_zeroed<uint8_t>(kvc_hopscotch_tags_bytes(&table));
    self->table.entries = kvc::alloc_zeroed<uint8_t>(kvc_hopscotch_entries_bytes(&table));
    self->locks = kvc::alloc_zeroed<uint32_t>(locks * sizeof(uint32_t));
    self->counted = kvc::alloc_zeroed<struct kvc_index_stats>(sizeof(struct kvc_index_stats));
    if (self->table.tags == nullptr || self->table.entries == nullptr || self->locks == nullptr ||
        self->counted == nullptr) {
        int error = errno;
        index_free(&self->index);
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
    hopscotch_cuda *self = cuda_of(index);
    self->clock = from->clock;
    self->used = from->used;
    if (!kvc::copy_in(self->table.tags, from->table.tags, kvc_hopscotch_tags_bytes(&self->table)) ||
        !kvc::copy_in(self->table.entries, from->table.entries, kvc_hopscotch_entries_bytes(&self->table))) {
        index_free(index);
        errno = ENODEV;
        return nullptr;
    }
    return index;
}

bool kvc_hopscotch_cuda_download(const struct kvc_index *index, struct kvc_hopscotch *to)
{
    const hopscotch_cuda *self = cuda_of(index);
    const struct kvc_hopscotch_table &table = self->table;
    if (table.homes != to->table.homes || table.neighbours != to->table.neighbours ||
        table.key_bytes_max != to->table.key_bytes_max ||
        !kvc::copy_out(to->table.tags, table.tags, kvc_hopscotch_tags_bytes(&table)) ||
        !kvc::copy_out(to->table.entries, table.entries, kvc_hopscotch_entries_bytes(&table))) {
        return false;
    }
    to->clock = self->clock;
    to->used = self->used;
    return true;
}

const struct kvc_index_kind kvc_hopscotch_cuda_kind = {
    .name = "memcachedgpu-hopscotch-cuda",
    .source = "MemcachedGPU, SoCC 2015, sec. 4.2.1",
    .create = create_published,
    .caches = true,
    .forgets = false,
    .partial = false,
    .many_readers = false,
};

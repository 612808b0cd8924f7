#include "kernels/memcachedgpu/set_assoc_cuda.h"

#include "kernels/memcachedgpu/set_assoc_device.cuh"
#include "kernels/memcachedgpu/table_cuda.cuh"

using kvc::block_threads;
using kvc::warp_threads;

namespace
{

template <bool SHARED>
__global__ void __launch_bounds__(block_threads)
    search_kernel(kvc::set_table table, struct kvc_table_batch batch, uint32_t count, uint32_t now,
                  struct kvc_index_stats *counted)
{
    uint32_t i = blockIdx.x * block_threads + threadIdx.x;
    uint32_t lines = 0, hits = 0;
    if (i < count) {
        struct kvc_table_key key = kvc_table_key(&batch, i);
        struct kvc_set_assoc_item item = kvc_table_no_item();
        if (kvc_table_key_valid(key, table.key_bytes_max)) {
            struct kvc_set_assoc_place place = kvc_set_assoc_place(&table, key.data, key.bytes);
            struct kvc::set_found found = kvc::search_set<SHARED>(table, place, key.data, key.bytes, &lines);
            if (found.entry != nullptr) {
                kvc::stamp(found, now);
                item = kvc::item_of(found.header);
                item.stamp = now;
                hits = 1;
            }
        }
        kvc_table_answer(&batch, i, item);
    }
    if (counted != nullptr) {
        kvc::add_of_warp(&counted->search_hits, hits);
        kvc::add_of_warp(&counted->search_lines, lines);
    }
}

/* Stores one item under a key of valid length; one warp runs it. Adds a new entry to *used. Returns what
 * leaves the table, and in *kind the counter for that, or nullptr. */
__device__ struct kvc_set_assoc_item insert_one(const kvc::set_table &table, struct kvc_table_key from,
                                                const struct kvc_set_assoc_item &item, uint32_t now,
                                                uint32_t lane, uint64_t *used, uint32_t *lines,
                                                uint64_t kvc_index_stats::**kind)
{
    const uint8_t *key = from.data;
    uint32_t key_bytes = from.bytes;
    struct kvc_set_assoc_place place = kvc_set_assoc_place(&table, key, key_bytes);
    kvc::set_control *control = kvc_set_assoc_control(&table, place.set);
    struct kvc_set_assoc_item left = kvc_table_no_item();
    uint4 header;
    kvc::lock_exclusive(control, lane);
    uint32_t way = kvc::find_way(table, control, place.tag, key, key_bytes, lane, &header, lines);
    bool held = way != 32;
    kvc::set_entry *entry;
    if (held) {
        entry = kvc_set_assoc_entry(&table, control, way);
        left = kvc::item_of(header);
        *kind = &kvc_index_stats::replaced;
    } else {
        uint32_t valid = kvc::load_strong_32(&control->valid);
        uint32_t free_ways = ~valid & ((1u << table.ways) - 1);
        uint32_t header_lines = 1;
        if (free_ways != 0) {
            way = static_cast<uint32_t>(__ffs(static_cast<int>(free_ways))) - 1;
            entry = kvc_set_assoc_entry(&table, control, way);
            *kind = nullptr;
        } else {
            way = kvc::oldest_way(table, control, now, lane);
            entry = kvc_set_assoc_entry(&table, control, way);
            left = kvc::item_of(kvc::load_strong(entry));
            *kind = &kvc_index_stats::evicted;
            header_lines = table.entry_bytes >= KVC_SET_ASSOC_LINE_BYTES
                               ? table.ways
                               : (table.ways * table.entry_bytes + KVC_SET_ASSOC_LINE_BYTES - 1) /
                                     KVC_SET_ASSOC_LINE_BYTES;
        }
        __syncwarp(); /* all threads have read what is overwritten now */
        *lines += header_lines + kvc_set_assoc_entry_lines(entry, 16 + key_bytes) - 1;
        uint32_t at = 8 * lane;
        if (at < key_bytes) {
            kvc::store_strong_64(reinterpret_cast<uint8_t *>(entry + 1) + at,
                                 kvc_bytes_word_64(key + at, min(key_bytes - at, 8u)));
        }
        if (lane == 0) {
            uint32_t *word = reinterpret_cast<uint32_t *>(control->tag) + way / 4;
            uint32_t shift = 8 * (way % 4);
            kvc::store_strong_32(word, (kvc::load_strong_32(word) & ~(0xffu << shift)) |
                                           static_cast<uint32_t>(place.tag) << shift);
            kvc::store_strong_32(&control->valid, valid | 1u << way);
            if (free_ways != 0) {
                kvc::add_to(used, 1);
            }
        }
    }
    if (lane == 0) {
        kvc::store_strong(entry,
                          make_uint4(now, item.location, item.value_bytes, item.flags | key_bytes << 16));
    }
    kvc::unlock_exclusive(control, lane);
    return left;
}

__global__ void __launch_bounds__(block_threads)
    insert_kernel(kvc::set_table table, struct kvc_table_batch batch, uint32_t count, uint32_t now,
                  uint64_t *used, struct kvc_index_stats *counted, uint64_t *cycles)
{
    uint32_t i = (blockIdx.x * block_threads + threadIdx.x) / warp_threads;
    uint32_t lane = threadIdx.x % warp_threads;
    long long begin = clock64();
    if (i >= count) {
        return;
    }
    struct kvc_table_key key = kvc_table_key(&batch, i);
    struct kvc_set_assoc_item item = kvc_table_item(&batch, i), left = item;
    uint32_t lines = 0;
    uint64_t kvc_index_stats::*kind = &kvc_index_stats::dropped;
    if (kvc_table_key_valid(key, table.key_bytes_max) && item.location < KVC_LOCATION_ANY) {
        left = insert_one(table, key, item, now + i, lane, used, &lines, &kind);
    }
    if (lane == 0) {
        kvc_table_answer(&batch, i, left);
        if (counted != nullptr) {
            if (kind != nullptr) {
                kvc::add_to(&(counted->*kind), 1);
            }
            kvc::add_to(&counted->insert_lines, lines);
        }
        if (cycles != nullptr) {
            cycles[i] = static_cast<uint64_t>(clock64() - begin);
        }
    }
}

__global__ void __launch_bounds__(block_threads)
    erase_kernel(kvc::set_table table, struct kvc_table_batch batch, uint32_t count, uint64_t *used,
                 struct kvc_index_stats *counted)
{
    uint32_t i = (blockIdx.x * block_threads + threadIdx.x) / warp_threads;
    uint32_t lane = threadIdx.x % warp_threads;
    if (i >= count) {
        return;
    }
    struct kvc_table_key key = kvc_table_key(&batch, i);
    uint32_t location = kvc_table_wanted(&batch, i);
    struct kvc_set_assoc_item left = kvc_table_no_item();
    uint32_t lines = 0;
    bool erased = false;
    if (kvc_table_key_valid(key, table.key_bytes_max)) {
        struct kvc_set_assoc_place place = kvc_set_assoc_place(&table, key.data, key.bytes);
        kvc::set_control *control = kvc_set_assoc_control(&table, place.set);
        uint4 header;
        kvc::lock_exclusive(control, lane);
        uint32_t way = kvc::find_way(table, control, place.tag, key.data, key.bytes, lane, &header, &lines);
        erased = way != 32 && (location == KVC_LOCATION_ANY || location == header.y);
        if (erased) {
            left = kvc::item_of(header);
            if (lane == 0) {
                kvc::store_strong_32(&control->valid, kvc::load_strong_32(&control->valid) & ~(1u << way));
            }
        }
        kvc::unlock_exclusive(control, lane);
    }
    if (lane == 0) {
        kvc_table_answer(&batch, i, left);
        if (erased) {
            kvc::add_to(used, ~0ull);
        }
        if (counted != nullptr) {
            kvc::add_to(&counted->erased, erased);
            kvc::add_to(&counted->erase_lines, lines);
        }
    }
}

struct set_assoc_cuda : kvc::table_cuda {
    using params = struct kvc_set_assoc_params;
    using cpu = struct kvc_set_assoc;

    kvc::set_table table;
    uint64_t *held; /* number of entries that hold an item, in device memory */
    bool shared_lock;

    bool geometry(const params &of)
    {
        shared_lock = of.shared_lock;
        return kvc_set_assoc_geometry(&of, &table);
    }

    static bool published(uint64_t bytes, params *to)
    {
        return kvc_set_assoc_published(bytes, to);
    }

    static params params_of(const cpu &from)
    {
        return {from.table.set_count, from.table.ways, from.table.key_bytes_max, from.shared_lock};
    }

    bool same_geometry(const kvc::set_table &other) const
    {
        return table.set_count == other.set_count && table.ways == other.ways &&
               table.key_bytes_max == other.key_bytes_max;
    }

    template <typename FUNCTION> bool arrays(const kvc::set_table &other, FUNCTION function)
    {
        return function(table.sets, other.sets, static_cast<uint64_t>(table.set_count) * table.set_bytes) &&
               function(held, nullptr, sizeof(*held));
    }

    /* `counts` and `cycles` may be nullptr. */
    cudaError_t launch(enum kvc_table_operation operation, const struct kvc_table_batch &batch,
                       uint32_t count, uint32_t now, cudaStream_t stream, struct kvc_index_stats *counts,
                       uint64_t *cycles = nullptr) const
    {
        uint32_t warps = kvc::blocks_for(static_cast<uint64_t>(count) * warp_threads);
        if (count == 0) {
            return cudaSuccess;
        }
        if (operation == KVC_TABLE_INSERT) {
            insert_kernel<<<warps, block_threads, 0, stream>>>(table, batch, count, now, held, counts,
                                                               cycles);
        } else if (operation == KVC_TABLE_ERASE) {
            erase_kernel<<<warps, block_threads, 0, stream>>>(table, batch, count, held, counts);
        } else {
            auto *kernel = shared_lock ? search_kernel<true> : search_kernel<false>;
            kernel<<<kvc::blocks_for(count), block_threads, 0, stream>>>(table, batch, count, now, counts);
        }
        return cudaGetLastError();
    }

    uint64_t capacity() const
    {
        return static_cast<uint64_t>(table.set_count) * table.ways;
    }

    uint64_t used() const
    {
        uint64_t entries = 0;
        return cudaDeviceSynchronize() == cudaSuccess && kvc::copy(&entries, held, sizeof(entries)) ? entries
                                                                                                    : 0;
    }

    bool copy_rest(const cpu &from)
    {
        return kvc::copy(held, &from.used, sizeof(from.used));
    }

    bool download_rest(cpu *to) const
    {
        to->used = used();
        return true;
    }
};

using set_assoc_index = kvc::table_index<set_assoc_cuda>;

/* Starts a batch that counts nothing. */
void start(struct kvc_index *index, struct kvc_cuda_stream *stream, enum kvc_table_operation operation,
           const struct kvc_table_batch &batch, uint32_t count, uint32_t now, uint64_t *cycles = nullptr)
{
    set_assoc_index::of(index)->launch(operation, batch, count, now, reinterpret_cast<cudaStream_t>(stream),
                                       nullptr, cycles);
}

} // namespace

struct kvc_index *kvc_set_assoc_cuda_create(const struct kvc_set_assoc_params *params)
{
    return set_assoc_index::create(params);
}

struct kvc_index *kvc_set_assoc_cuda_copy(const struct kvc_set_assoc *from)
{
    return set_assoc_index::create_copy(from);
}

bool kvc_set_assoc_cuda_download(const struct kvc_index *index, struct kvc_set_assoc *to)
{
    return set_assoc_index::download(index, to);
}

void kvc_set_assoc_cuda_search(struct kvc_index *index, struct kvc_cuda_stream *stream,
                               const struct kvc_set_assoc_keys *keys, uint32_t count, uint32_t now,
                               struct kvc_set_assoc_item *items)
{
    start(index, stream, KVC_TABLE_SEARCH, {*keys, nullptr, nullptr, nullptr, items, nullptr}, count, now);
}

void kvc_set_assoc_cuda_insert(struct kvc_index *index, struct kvc_cuda_stream *stream,
                               const struct kvc_set_assoc_keys *keys, const struct kvc_set_assoc_item *items,
                               uint32_t count, uint32_t now, struct kvc_set_assoc_item *out)
{
    kvc_set_assoc_cuda_insert_timed(index, stream, keys, items, count, now, out, nullptr);
}

void kvc_set_assoc_cuda_insert_timed(struct kvc_index *index, struct kvc_cuda_stream *stream,
                                     const struct kvc_set_assoc_keys *keys,
                                     const struct kvc_set_assoc_item *items, uint32_t count, uint32_t now,
                                     struct kvc_set_assoc_item *out, uint64_t *cycles)
{
    start(index, stream, KVC_TABLE_INSERT, {*keys, nullptr, items, nullptr, out, nullptr}, count, now,
          cycles);
}

void kvc_set_assoc_cuda_erase(struct kvc_index *index, struct kvc_cuda_stream *stream,
                              const struct kvc_set_assoc_keys *keys, const uint32_t *location, uint32_t count,
                              struct kvc_set_assoc_item *out)
{
    start(index, stream, KVC_TABLE_ERASE, {*keys, nullptr, nullptr, location, out, nullptr}, count, 0);
}

struct kvc_set_assoc_table kvc_set_assoc_cuda_table(const struct kvc_index *index, bool *shared_lock)
{
    *shared_lock = set_assoc_index::of(index)->shared_lock;
    return set_assoc_index::of(index)->table;
}

const struct kvc_index_kind kvc_set_assoc_cuda_kind = {
    .name = "memcachedgpu-set-assoc-cuda",
    .source = "MemcachedGPU, SoCC 2015, sec. 4.1-4.2",
    .create = set_assoc_index::create_published,
    .caches = true,
    .forgets = false,
    .partial = false,
    .many_readers = false,
};

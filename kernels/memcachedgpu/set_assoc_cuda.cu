#include "kernels/memcachedgpu/set_assoc_cuda.h"

#include <cerrno>
#include <new>

#include "kernels/memcachedgpu/set_assoc_device.cuh"
#include "kernels/staging.cuh"

namespace
{

constexpr uint32_t block_threads = 128;
constexpr uint32_t warp_threads = 32;

/* Counters in device memory. `used` counts from the table's creation, the others from the last reset. */
struct counters {
    unsigned long long used;
    unsigned long long hits, lines, replaced, evicted, dropped, erased;
};

struct set_assoc_cuda {
    struct kvc_index index;
    kvc::set_table table;
    counters *count;
    uint32_t clock;
    bool shared_lock;
};

set_assoc_cuda *cuda_of(struct kvc_index *index)
{
    return reinterpret_cast<set_assoc_cuda *>(index); /* the first member */
}

const set_assoc_cuda *cuda_of(const struct kvc_index *index)
{
    return reinterpret_cast<const set_assoc_cuda *>(index);
}

/* Keys as in struct kvc_set_assoc_keys, or 8 bytes each at `hash`. */
struct key_source {
    struct kvc_set_assoc_keys keys;
    const uint64_t *hash;
};

__device__ __forceinline__ const uint8_t *key_at(const key_source &from, uint32_t i)
{
    return from.hash != nullptr ? reinterpret_cast<const uint8_t *>(&from.hash[i])
                                : from.keys.keys + from.keys.offset[i];
}

__device__ __forceinline__ uint32_t key_bytes_at(const key_source &from, uint32_t i)
{
    return from.hash != nullptr ? static_cast<uint32_t>(sizeof(uint64_t)) : from.keys.bytes[i];
}

__device__ __forceinline__ bool valid_length(const kvc::set_table &table, uint32_t key_bytes)
{
    return key_bytes - 1 < table.key_bytes_max;
}

/* Where items go that were found or have left the table; each pointer may be nullptr. */
struct found_sink {
    struct kvc_set_assoc_item *items;
    uint32_t *location;
};

__device__ __forceinline__ void put(const found_sink &to, uint32_t i, const struct kvc_set_assoc_item &item)
{
    if (to.items != nullptr) {
        to.items[i] = item;
    }
    if (to.location != nullptr) {
        to.location[i] = item.location;
    }
}

/* Adds the values of all threads of a warp, all of which call it. */
__device__ __forceinline__ void add_of_warp(unsigned long long *to, uint32_t value)
{
    uint32_t sum = __reduce_add_sync(0xffffffffu, value);
    if (threadIdx.x % warp_threads == 0 && sum != 0) {
        atomicAdd(to, static_cast<unsigned long long>(sum));
    }
}

template <bool SHARED>
__global__ void __launch_bounds__(block_threads)
    search_kernel(kvc::set_table table, key_source from, uint32_t count, uint32_t now, found_sink to,
                  counters *counted)
{
    uint32_t i = blockIdx.x * block_threads + threadIdx.x;
    uint32_t lines = 0, hits = 0;
    if (i < count) {
        const uint8_t *key = key_at(from, i);
        uint32_t key_bytes = key_bytes_at(from, i);
        struct kvc_set_assoc_item item = kvc::no_item();
        if (valid_length(table, key_bytes)) {
            struct kvc_set_assoc_place place = kvc_set_assoc_place(&table, key, key_bytes);
            struct kvc::set_found found = kvc::search_set<SHARED>(table, place, key, key_bytes, &lines);
            if (found.entry != nullptr) {
                kvc::stamp(found, now);
                item = kvc::item_of(found.header);
                item.stamp = now;
                hits = 1;
            }
        }
        put(to, i, item);
    }
    if (counted != nullptr) {
        add_of_warp(&counted->hits, hits);
        add_of_warp(&counted->lines, lines);
    }
}

/* What a batch of SETs stores, or what a batch of erases removes. */
struct change {
    const struct kvc_set_assoc_item *items; /* may be nullptr */
    const uint32_t *location;               /* may be nullptr */
};

/* Stores one item under a key of valid length; one warp runs it. Returns what leaves the table, and in *kind
 * the counter for that, or nullptr. */
__device__ struct kvc_set_assoc_item insert_one(const kvc::set_table &table, const uint8_t *key,
                                                uint32_t key_bytes, const struct kvc_set_assoc_item &item,
                                                uint32_t now, uint32_t lane, counters *count, uint32_t *lines,
                                                unsigned long long **kind)
{
    struct kvc_set_assoc_place place = kvc_set_assoc_place(&table, key, key_bytes);
    kvc::set_control *control = kvc_set_assoc_control(&table, place.set);
    struct kvc_set_assoc_item left = kvc::no_item();
    uint4 header;
    kvc::lock_exclusive(control, lane);
    uint32_t way = kvc::find_way(table, control, place.tag, key, key_bytes, lane, &header, lines);
    bool held = way != 32;
    kvc::set_entry *entry;
    if (held) {
        entry = kvc_set_assoc_entry(&table, control, way);
        left = kvc::item_of(header);
        *kind = &count->replaced;
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
            *kind = &count->evicted;
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
                atomicAdd(&count->used, 1ull);
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
    insert_kernel(kvc::set_table table, key_source from, change change, uint32_t count, uint32_t now,
                  found_sink to, counters *counted, bool stats, uint64_t *cycles)
{
    uint32_t i = (blockIdx.x * block_threads + threadIdx.x) / warp_threads;
    uint32_t lane = threadIdx.x % warp_threads;
    long long begin = clock64();
    if (i >= count) {
        return;
    }
    const uint8_t *key = key_at(from, i);
    uint32_t key_bytes = key_bytes_at(from, i);
    struct kvc_set_assoc_item item = {0, 0, 0, 0};
    if (change.items != nullptr) {
        item = change.items[i];
    } else {
        item.location = change.location[i];
    }
    struct kvc_set_assoc_item left = item;
    uint32_t lines = 0;
    unsigned long long *kind = &counted->dropped;
    if (valid_length(table, key_bytes) && item.location < KVC_LOCATION_ANY) {
        left = insert_one(table, key, key_bytes, item, now + i, lane, counted, &lines, &kind);
    }
    if (lane == 0) {
        put(to, i, left);
        if (stats) {
            if (kind != nullptr) {
                atomicAdd(kind, 1ull);
            }
            atomicAdd(&counted->lines, static_cast<unsigned long long>(lines));
        }
        if (cycles != nullptr) {
            cycles[i] = static_cast<uint64_t>(clock64() - begin);
        }
    }
}

__global__ void __launch_bounds__(block_threads)
    erase_kernel(kvc::set_table table, key_source from, change change, uint32_t count, found_sink to,
                 counters *counted, bool stats)
{
    uint32_t i = (blockIdx.x * block_threads + threadIdx.x) / warp_threads;
    uint32_t lane = threadIdx.x % warp_threads;
    if (i >= count) {
        return;
    }
    const uint8_t *key = key_at(from, i);
    uint32_t key_bytes = key_bytes_at(from, i);
    uint32_t location = change.location != nullptr ? change.location[i] : KVC_LOCATION_ANY;
    struct kvc_set_assoc_item left = kvc::no_item();
    uint32_t lines = 0;
    bool erased = false;
    if (valid_length(table, key_bytes)) {
        struct kvc_set_assoc_place place = kvc_set_assoc_place(&table, key, key_bytes);
        kvc::set_control *control = kvc_set_assoc_control(&table, place.set);
        uint4 header;
        kvc::lock_exclusive(control, lane);
        uint32_t way = kvc::find_way(table, control, place.tag, key, key_bytes, lane, &header, &lines);
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
        put(to, i, left);
        if (erased) {
            atomicAdd(&counted->used, ~0ull);
        }
        if (stats) {
            atomicAdd(&counted->erased, static_cast<unsigned long long>(erased));
            atomicAdd(&counted->lines, static_cast<unsigned long long>(lines));
        }
    }
}

uint32_t blocks_for(uint64_t threads)
{
    return static_cast<uint32_t>((threads + block_threads - 1) / block_threads);
}

void launch_search(const set_assoc_cuda *self, cudaStream_t stream, const key_source &from, uint32_t count,
                   uint32_t now, const found_sink &to, counters *counted)
{
    if (count != 0) {
        auto *kernel = self->shared_lock ? search_kernel<true> : search_kernel<false>;
        kernel<<<blocks_for(count), block_threads, 0, stream>>>(self->table, from, count, now, to, counted);
    }
}

void launch_insert(const set_assoc_cuda *self, cudaStream_t stream, const key_source &from,
                   const change &change, uint32_t count, uint32_t now, const found_sink &to, bool stats,
                   uint64_t *cycles)
{
    if (count != 0) {
        insert_kernel<<<blocks_for(static_cast<uint64_t>(count) * warp_threads), block_threads, 0, stream>>>(
            self->table, from, change, count, now, to, self->count, stats, cycles);
    }
}

void launch_erase(const set_assoc_cuda *self, cudaStream_t stream, const key_source &from,
                  const change &change, uint32_t count, const found_sink &to, bool stats)
{
    if (count != 0) {
        erase_kernel<<<blocks_for(static_cast<uint64_t>(count) * warp_threads), block_threads, 0, stream>>>(
            self->table, from, change, count, to, self->count, stats);
    }
}

/* --- index.h --- */

void reset_counters(const set_assoc_cuda *self, cudaStream_t stream)
{
    cudaMemsetAsync(&self->count->hits, 0, sizeof(counters) - offsetof(counters, hits), stream);
}

/* Waits for the stream; returns zeros if it failed. */
counters read_counters(const set_assoc_cuda *self, cudaStream_t stream)
{
    counters read = {};
    if (cudaMemcpyAsync(&read, self->count, sizeof(read), cudaMemcpyDeviceToHost, stream) != cudaSuccess ||
        cudaStreamSynchronize(stream) != cudaSuccess) {
        return {};
    }
    return read;
}

void index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                  struct kvc_index_stats *stats)
{
    set_assoc_cuda *self = cuda_of(index);
    cudaStream_t stream = nullptr;
    uint32_t now = self->clock++;
    if (count == 0) {
        return;
    }
    kvc::staged<const uint64_t> hashes(hash, count, true, false, stream);
    kvc::staged<uint32_t> locations(location, count, false, true, stream);
    reset_counters(self, stream);
    if (hashes.error() == cudaSuccess && locations.error() == cudaSuccess) {
        launch_search(self, stream, {{}, hashes.device()}, count, now, {nullptr, locations.device()},
                      self->count);
        locations.finish();
    }
    counters read = read_counters(self, stream);
    if (stats != nullptr) {
        stats->searches += count;
        stats->search_hits += read.hits;
        stats->search_lines += read.lines;
    }
}

void index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location, uint32_t count,
                  uint32_t *out, struct kvc_index_stats *stats)
{
    set_assoc_cuda *self = cuda_of(index);
    cudaStream_t stream = nullptr;
    uint32_t now = self->clock;
    self->clock += count;
    if (count == 0) {
        return;
    }
    kvc::staged<const uint64_t> hashes(hash, count, true, false, stream);
    kvc::staged<const uint32_t> locations(location, count, true, false, stream);
    kvc::staged<uint32_t> outs(out, count, false, true, stream);
    reset_counters(self, stream);
    if (hashes.error() == cudaSuccess && locations.error() == cudaSuccess && outs.error() == cudaSuccess) {
        launch_insert(self, stream, {{}, hashes.device()}, {nullptr, locations.device()}, count, now,
                      {nullptr, outs.device()}, stats != nullptr, nullptr);
        outs.finish();
    }
    counters read = read_counters(self, stream);
    if (stats != nullptr) {
        stats->inserts += count;
        stats->insert_lines += read.lines;
        stats->replaced += read.replaced;
        stats->evicted += read.evicted;
        stats->dropped += read.dropped;
    }
}

void index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location, uint32_t count,
                 uint32_t *out, struct kvc_index_stats *stats)
{
    set_assoc_cuda *self = cuda_of(index);
    cudaStream_t stream = nullptr;
    if (count == 0) {
        return;
    }
    kvc::staged<const uint64_t> hashes(hash, count, true, false, stream);
    kvc::staged<const uint32_t> locations(location, count, true, false, stream);
    kvc::staged<uint32_t> outs(out, count, false, true, stream);
    reset_counters(self, stream);
    if (hashes.error() == cudaSuccess && locations.error() == cudaSuccess && outs.error() == cudaSuccess) {
        launch_erase(self, stream, {{}, hashes.device()}, {nullptr, locations.device()}, count,
                     {nullptr, outs.device()}, stats != nullptr);
        outs.finish();
    }
    counters read = read_counters(self, stream);
    if (stats != nullptr) {
        stats->erases += count;
        stats->erase_lines += read.lines;
        stats->erased += read.erased;
    }
}

uint64_t index_capacity(const struct kvc_index *index)
{
    const kvc::set_table &table = cuda_of(index)->table;
    return static_cast<uint64_t>(table.set_count) * table.ways;
}

uint64_t index_used(const struct kvc_index *index)
{
    unsigned long long used = 0;
    if (cudaDeviceSynchronize() != cudaSuccess ||
        cudaMemcpy(&used, &cuda_of(index)->count->used, sizeof(used), cudaMemcpyDeviceToHost) !=
            cudaSuccess) {
        return 0;
    }
    return used;
}

void index_free(struct kvc_index *index)
{
    set_assoc_cuda *self = cuda_of(index);
    cudaFree(self->table.sets);
    cudaFree(self->count);
    delete self;
}

constexpr struct kvc_index_ops set_assoc_cuda_ops = {
    index_free, index_search, index_insert, index_erase, index_capacity, index_used,
};

uint64_t table_bytes(const kvc::set_table &table)
{
    return static_cast<uint64_t>(table.set_count) * table.set_bytes;
}

struct kvc_index *create_published(uint64_t bytes, uint64_t)
{
    uint64_t sets = bytes / kvc_set_assoc_set_bytes(KVC_SET_ASSOC_WAYS, sizeof(uint64_t));
    if (sets > UINT32_MAX) {
        errno = EINVAL;
        return nullptr;
    }
    struct kvc_set_assoc_params params = {};
    params.sets = static_cast<uint32_t>(sets);
    params.ways = KVC_SET_ASSOC_WAYS;
    params.key_bytes_max = sizeof(uint64_t);
    return kvc_set_assoc_cuda_create(&params);
}

} // namespace

struct kvc_index *kvc_set_assoc_cuda_create(const struct kvc_set_assoc_params *params)
{
    kvc::set_table table;
    if (!kvc_set_assoc_geometry(params, &table)) {
        errno = EINVAL;
        return nullptr;
    }
    set_assoc_cuda *self = new (std::nothrow) set_assoc_cuda{{&set_assoc_cuda_ops}, table, nullptr, 0, false};
    if (self == nullptr) {
        errno = ENOMEM;
        return nullptr;
    }
    self->shared_lock = params->shared_lock;
    self->table.sets = static_cast<uint8_t *>(kvc_cuda_alloc(table_bytes(table)));
    self->count =
        static_cast<counters *>(self->table.sets != nullptr ? kvc_cuda_alloc(sizeof(counters)) : nullptr);
    if (self->count == nullptr) {
        int error = errno;
        index_free(&self->index);
        errno = error;
        return nullptr;
    }
    if (cudaMemset(self->table.sets, 0, table_bytes(table)) != cudaSuccess ||
        cudaMemset(self->count, 0, sizeof(counters)) != cudaSuccess ||
        cudaDeviceSynchronize() != cudaSuccess) {
        index_free(&self->index);
        errno = ENODEV;
        return nullptr;
    }
    return &self->index;
}

struct kvc_index *kvc_set_assoc_cuda_copy(const struct kvc_set_assoc *from)
{
    struct kvc_set_assoc_params params = {};
    params.sets = from->table.set_count;
    params.ways = from->table.ways;
    params.key_bytes_max = from->table.key_bytes_max;
    params.shared_lock = from->shared_lock;
    struct kvc_index *index = kvc_set_assoc_cuda_create(&params);
    if (index == nullptr) {
        return nullptr;
    }
    set_assoc_cuda *self = cuda_of(index);
    unsigned long long used = from->used;
    self->clock = from->base.clock;
    if (cudaMemcpy(self->table.sets, from->table.sets, table_bytes(self->table), cudaMemcpyHostToDevice) !=
            cudaSuccess ||
        cudaMemcpy(&self->count->used, &used, sizeof(used), cudaMemcpyHostToDevice) != cudaSuccess) {
        index_free(index);
        errno = ENODEV;
        return nullptr;
    }
    return index;
}

bool kvc_set_assoc_cuda_download(const struct kvc_index *index, struct kvc_set_assoc *to)
{
    const set_assoc_cuda *self = cuda_of(index);
    const kvc::set_table &table = self->table;
    if (table.set_count != to->table.set_count || table.ways != to->table.ways ||
        table.key_bytes_max != to->table.key_bytes_max || cudaDeviceSynchronize() != cudaSuccess ||
        cudaMemcpy(to->table.sets, table.sets, table_bytes(table), cudaMemcpyDeviceToHost) != cudaSuccess) {
        return false;
    }
    to->base.clock = self->clock;
    to->used = index_used(index);
    return true;
}

void kvc_set_assoc_cuda_search(struct kvc_index *index, struct kvc_cuda_stream *stream,
                               const struct kvc_set_assoc_keys *keys, uint32_t count, uint32_t now,
                               struct kvc_set_assoc_item *items)
{
    launch_search(cuda_of(index), reinterpret_cast<cudaStream_t>(stream), {*keys, nullptr}, count, now,
                  {items, nullptr}, nullptr);
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
    launch_insert(cuda_of(index), reinterpret_cast<cudaStream_t>(stream), {*keys, nullptr}, {items, nullptr},
                  count, now, {out, nullptr}, false, cycles);
}

void kvc_set_assoc_cuda_erase(struct kvc_index *index, struct kvc_cuda_stream *stream,
                              const struct kvc_set_assoc_keys *keys, const uint32_t *location, uint32_t count,
                              struct kvc_set_assoc_item *out)
{
    launch_erase(cuda_of(index), reinterpret_cast<cudaStream_t>(stream), {*keys, nullptr},
                 {nullptr, location}, count, {out, nullptr}, false);
}

struct kvc_set_assoc_table kvc_set_assoc_cuda_table(const struct kvc_index *index, bool *shared_lock)
{
    *shared_lock = cuda_of(index)->shared_lock;
    return cuda_of(index)->table;
}

const struct kvc_index_kind kvc_set_assoc_cuda_kind = {
    .name = "memcachedgpu-set-assoc-cuda",
    .source = "MemcachedGPU, SoCC 2015, sec. 4.1-4.2",
    .create = create_published,
    .caches = true,
    .forgets = false,
    .partial = false,
    .many_readers = false,
};

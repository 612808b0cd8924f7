#include "kernels/megakv/shared_cuda.h"

#include <cerrno>
#include <new>

#include "kernels/megakv/packet.h"
#include "kernels/megakv/shared_device.cuh"
#include "kernels/megakv/shared_memory.h"

namespace
{

constexpr uint32_t block_threads = 256, missed_threads = 1024, missed_blocks = 8;
constexpr uint32_t header_bytes = 8;

/* What kernels count. */
struct counters {
    kvc::cuckoo_counters table;
    unsigned long long searches, erases;
};

/* What the kernels work on. */
struct work {
    kvc::cuckoo_table table;
    counters *counted;
    kvc::shared_items items;
    struct kvc_megakv_shared_batch batch;
    uint32_t *locks;
    uint32_t *missed; /* How many GETs have missed, and their rows. */
    uint32_t tasks;
};

__device__ uint64_t *response_of(const struct kvc_megakv_shared_batch &batch, uint32_t row)
{
    return reinterpret_cast<uint64_t *>(batch.responses +
                                        static_cast<uint64_t>(row) * (header_bytes + batch.value_stride));
}

__device__ void write_header(const struct kvc_megakv_shared_batch &batch, uint32_t row, uint32_t bytes,
                             bool hit)
{
    *response_of(batch, row) =
        batch.op[row] | static_cast<uint64_t>(hit) << 16 | static_cast<uint64_t>(bytes) << 32;
}

/* KC, RD and WR of a query that is a GET, or that has only to be answered. */
__device__ void read_and_respond(const work &all, uint32_t row, bool get, uint32_t location)
{
    const struct kvc_megakv_shared_batch &batch = all.batch;
    bool compares = (all.tasks & KVC_MEGAKV_SHARED_COMPARE) != 0;
    bool reads = (all.tasks & KVC_MEGAKV_SHARED_READ) != 0;
    bool responds = (all.tasks & KVC_MEGAKV_SHARED_RESPOND) != 0;
    uint8_t result = KVC_MEGAKV_SLAB_ABSENT;
    uint32_t bytes = 0;
    if (get && location != KVC_LOCATION_NONE) {
        uint64_t *value = responds ? response_of(batch, row) + 1
                                   : reinterpret_cast<uint64_t *>(batch.values + static_cast<uint64_t>(row) *
                                                                                     batch.value_stride);
        const kvc::shared_read read = {compares
                                           ? reinterpret_cast<const uint64_t *>(
                                                 batch.keys + static_cast<uint64_t>(row) * batch.key_stride)
                                           : nullptr,
                                       batch.key_bytes[row], reads ? value : nullptr, batch.value_stride};
        result = kvc::shared_read_item(kvc::shared_item(all.items, location), read, &bytes);
        if (compares && !reads && result == KVC_MEGAKV_SLAB_MISMATCH) {
            batch.location[row] = KVC_LOCATION_NONE;
        }
    }
    batch.result[row] = result;
    if (reads) {
        batch.read_bytes[row] = bytes;
    }
    if (responds) {
        write_header(batch, row, bytes, result == KVC_MEGAKV_SLAB_HIT);
    }
}

/* Notes what a search has found, and reads the item if that is a task. */
__device__ void answer(const work &all, uint32_t row, bool get, uint32_t location)
{
    if (get && (all.tasks & KVC_MEGAKV_SHARED_SEARCH) != 0) {
        all.batch.location[row] = location;
    }
    if ((all.tasks & (KVC_MEGAKV_SHARED_COMPARE | KVC_MEGAKV_SHARED_READ)) != 0) {
        read_and_respond(all, row, get, location);
    }
}

/* search, KC, RD and WR, one thread a query. A GET that has missed is left to answer_missed(). */
__global__ void __launch_bounds__(block_threads) answer_queries(work all)
{
    const struct kvc_megakv_shared_batch &batch = all.batch;
    uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t searches = 0, hits = 0, lines = 0;
    if (row < batch.rows) {
        bool get = batch.op[row] == KVC_MEGAKV_PACKET_GET;
        searches = get && (all.tasks & KVC_MEGAKV_SHARED_SEARCH) != 0;
        uint32_t location =
            searches ? kvc::shared_search<false>(all.table, batch.hash[row], &lines) : batch.location[row];
        hits = searches && location != KVC_LOCATION_NONE;
        if (searches != hits) {
            all.missed[1 + atomicAdd(all.missed, 1u)] = row;
        } else {
            answer(all, row, get, location);
        }
    }
    kvc::add_count(&all.counted->searches, searches);
    kvc::add_count(&all.table.counters->search_hits, hits);
    kvc::add_count(&all.table.counters->search_lines, lines);
}

/* search, KC, RD and WR of GETs that have missed, in blocks of missed_threads threads. Loads of this kernel
 * share no answers with those of the one before. */
__global__ void __launch_bounds__(missed_threads) answer_missed(work all)
{
    uint32_t count = all.missed[0], hits = 0, lines = 0;
    for (uint32_t first = blockIdx.x * blockDim.x; first < count; first += gridDim.x * blockDim.x) {
        bool mine = first + threadIdx.x < count;
        uint32_t row = mine ? all.missed[1 + first + threadIdx.x] : 0;
        uint32_t location = kvc::shared_search_again(all.table, mine, mine ? all.batch.hash[row] : 0, &lines);
        if (mine) {
            answer(all, row, true, location);
        }
        hits += mine && location != KVC_LOCATION_NONE;
    }
    kvc::add_count(&all.table.counters->search_hits, hits);
    kvc::add_count(&all.table.counters->search_lines, lines);
}

/* insert, one thread a query. */
__global__ void __launch_bounds__(block_threads) insert_elements(work all)
{
    const struct kvc_megakv_shared_batch &batch = all.batch;
    uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t placed = 0, replaced = 0, dropped = 0, moves = 0, lines = 0;
    if (row < batch.rows && batch.op[row] == KVC_MEGAKV_PACKET_SET &&
        batch.location[row] != KVC_LOCATION_NONE) {
        uint32_t left;
        lines = 2;
        kvc::insert_result result = kvc::insert_locked<kvc::shared_slots, true>(
            all.table, all.locks, batch.hash[row], batch.location[row], row, &left, &moves, &lines);
        placed = result == kvc::insert_result::placed;
        replaced = result == kvc::insert_result::replaced;
        dropped = result == kvc::insert_result::dropped;
    }
    kvc::add_count(&all.table.counters->inserted, placed);
    kvc::add_count(&all.table.counters->replaced, replaced);
    kvc::add_count(&all.table.counters->dropped, dropped);
    kvc::add_count(&all.table.counters->displacements, moves);
    kvc::add_count(&all.table.counters->insert_lines, lines);
}

/* delete: a warp takes the evictions of a set, and a thread takes a DELETE. */
__global__ void __launch_bounds__(block_threads) erase_elements(work all)
{
    const struct kvc_megakv_shared_batch &batch = all.batch;
    uint32_t row = blockIdx.x * blockDim.x + threadIdx.x, number = row / 32, lane = row % 32;
    uint32_t erases = 0, erased = 0, lines = 0;
    if (number < batch.sets) {
        struct kvc_megakv_shared_set set = batch.set[number];
        for (uint32_t i = lane; i < set.evictions; i += 32) {
            struct kvc_megakv_slab_evicted gone = batch.evicted[set.first + i];
            erases++;
            erased += kvc::erase_locked(all.table, all.locks, gone.hash, gone.location, &lines) !=
                      KVC_LOCATION_NONE;
        }
    }
    if (row < batch.rows && batch.op[row] == KVC_MEGAKV_PACKET_DELETE) {
        uint32_t left = kvc::erase_locked(all.table, all.locks, batch.hash[row], KVC_LOCATION_ANY, &lines);
        batch.location[row] = left;
        erases++;
        erased += left != KVC_LOCATION_NONE;
    }
    kvc::add_count(&all.counted->erases, erases);
    kvc::add_count(&all.table.counters->erased, erased);
    kvc::add_count(&all.table.counters->erase_lines, lines);
}

/* WR of values that the host has read: a warp takes a set, whose values lie one behind another. */
__global__ void __launch_bounds__(block_threads) write_responses(work all)
{
    const struct kvc_megakv_shared_batch &batch = all.batch;
    uint32_t number = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (number >= batch.sets) {
        return;
    }
    struct kvc_megakv_shared_set set = batch.set[number];
    const uint8_t *values = batch.values + static_cast<uint64_t>(set.first) * batch.value_stride;
    uint64_t before = 0;
    for (uint32_t first = 0; first < set.rows; first += 32) {
        bool mine = first + lane < set.rows;
        uint32_t row = set.first + first + lane;
        bool hit = mine && batch.op[row] == KVC_MEGAKV_PACKET_GET && batch.result[row] == KVC_MEGAKV_SLAB_HIT;
        uint32_t bytes = hit ? batch.read_bytes[row] : 0, end = bytes;
        for (int distance = 1; distance < 32; distance *= 2) {
            uint32_t other = __shfl_up_sync(0xffffffffu, end, distance);
            end += static_cast<int>(lane) >= distance ? other : 0;
        }
        const uint8_t *from = values + before + (end - bytes);
        uint64_t *to = mine ? response_of(batch, row) + 1 : nullptr;
        for (uint32_t at = 0; at < bytes; at += 8) {
            to[at / 8] = kvc_bytes_word_64(from + at, bytes - at < 8 ? bytes - at : 8);
        }
        if (mine) {
            write_header(batch, row, bytes, hit);
        }
        before += __shfl_sync(0xffffffffu, end, 31);
    }
}

} // namespace

struct kvc_megakv_shared {
    struct kvc_index *index;
    struct kvc_megakv_shared_memory memory;
    void *shared[4]; /* The arrays that the device shares. */
    kvc::cuckoo_table table;
    counters *counted; /* Those of the table are its first member. */
    uint32_t *locks;
    uint32_t *missed; /* For missed_rows rows. */
    uint32_t missed_rows;
    struct kvc_cuda_stream *stream;
    struct kvc_cuda_event *done;
};

bool kvc_megakv_shared_allows(uint32_t tasks)
{
    constexpr uint32_t chain[] = {KVC_MEGAKV_SHARED_SEARCH, KVC_MEGAKV_SHARED_COMPARE, KVC_MEGAKV_SHARED_READ,
                                  KVC_MEGAKV_SHARED_RESPOND};
    uint32_t parts = 0;
    bool before = false;
    for (uint32_t task : chain) {
        bool has = (tasks & task) != 0;
        parts += has && !before;
        before = has;
    }
    return tasks != 0 && tasks < 2 * KVC_MEGAKV_SHARED_RESPOND && parts <= 1;
}

static bool share(struct kvc_megakv_shared *shared)
{
    const struct {
        void *memory;
        uint64_t bytes;
    } arrays[] = {{shared->memory.words, shared->memory.words_bytes},
                  {shared->memory.header, shared->memory.header_bytes},
                  {shared->memory.slabs, shared->memory.slabs_bytes},
                  {shared->memory.item_bytes, shared->memory.slab_count * sizeof(uint32_t)}};
    for (int i = 0; i < 4; i++) {
        if (!kvc_cuda_share(arrays[i].memory, arrays[i].bytes)) {
            errno = EIO;
            return false;
        }
        shared->shared[i] = arrays[i].memory;
    }
    return true;
}

static bool open_device(struct kvc_megakv_shared *shared)
{
    shared->table.words = shared->memory.words;
    shared->table.masks = shared->memory.masks;
    shared->table.max_displacements = shared->memory.max_displacements;
    shared->table.moves = reinterpret_cast<unsigned long long *>(shared->memory.moves);
    shared->counted = static_cast<counters *>(kvc_cuda_alloc(sizeof(*shared->counted)));
    shared->table.counters = &shared->counted->table;
    shared->locks = static_cast<uint32_t *>(kvc_cuda_alloc(kvc::lock_count * sizeof(*shared->locks)));
    shared->stream = kvc_cuda_stream_create();
    shared->done = kvc_cuda_event_create();
    return shared->counted != nullptr && shared->locks != nullptr && shared->stream != nullptr &&
           shared->done != nullptr &&
           kvc_cuda_zero(shared->locks, kvc::lock_count * sizeof(*shared->locks)) &&
           kvc_cuda_zero(shared->counted, sizeof(*shared->counted));
}

struct kvc_megakv_shared *kvc_megakv_shared_create(struct kvc_index *index, struct kvc_megakv_slab *slab)
{
    struct kvc_cuda_device device;
    struct kvc_megakv_shared_memory memory;
    if (!kvc_megakv_shared_memory_of(index, slab, &memory)) {
        errno = EINVAL;
        return nullptr;
    }
    if (!kvc_cuda_device(&device)) {
        errno = ENODEV;
        return nullptr;
    }
    struct kvc_megakv_shared *shared = new (std::nothrow) kvc_megakv_shared();
    if (shared == nullptr) {
        errno = ENOMEM;
        return nullptr;
    }
    shared->index = index;
    shared->memory = memory;
    if (!share(shared) || !open_device(shared)) {
        int error = errno;
        kvc_megakv_shared_free(shared);
        errno = error;
        return nullptr;
    }
    return shared;
}

void kvc_megakv_shared_free(struct kvc_megakv_shared *shared)
{
    if (shared == nullptr) {
        return;
    }
    if (shared->stream != nullptr) {
        kvc_cuda_stream_wait(shared->stream);
    }
    kvc_cuda_event_free(shared->done);
    kvc_cuda_stream_free(shared->stream);
    kvc_cuda_free(shared->missed);
    kvc_cuda_free(shared->locks);
    kvc_cuda_free(shared->counted);
    for (void *array : shared->shared) {
        kvc_cuda_unshare(array);
    }
    delete shared;
}

/* Makes the list of missed rows long enough, and empties it. */
static bool open_missed(struct kvc_megakv_shared *shared, uint32_t rows)
{
    cudaStream_t stream = reinterpret_cast<cudaStream_t>(shared->stream);
    if (shared->missed_rows < rows) {
        kvc_cuda_free(shared->missed);
        shared->missed =
            static_cast<uint32_t *>(kvc_cuda_alloc((1 + static_cast<uint64_t>(rows)) * sizeof(uint32_t)));
        shared->missed_rows = shared->missed != nullptr ? rows : 0;
    }
    return shared->missed != nullptr &&
           cudaMemsetAsync(shared->missed, 0, sizeof(uint32_t), stream) == cudaSuccess;
}

bool kvc_megakv_shared_begin(struct kvc_megakv_shared *shared, const struct kvc_megakv_shared_batch *batch,
                             uint32_t tasks)
{
    constexpr uint32_t of_query =
        KVC_MEGAKV_SHARED_SEARCH | KVC_MEGAKV_SHARED_COMPARE | KVC_MEGAKV_SHARED_READ;
    cudaStream_t stream = reinterpret_cast<cudaStream_t>(shared->stream);
    bool searches = batch->rows > 0 && (tasks & KVC_MEGAKV_SHARED_SEARCH) != 0;
    if (searches && !open_missed(shared, batch->rows)) {
        return false;
    }
    const work all = {shared->table,
                      shared->counted,
                      {shared->memory.slabs, shared->memory.item_bytes, shared->memory.slab_count},
                      *batch,
                      shared->locks,
                      shared->missed,
                      tasks};
    uint32_t by_row = (batch->rows + block_threads - 1) / block_threads;
    uint32_t by_set = (batch->sets * 32 + block_threads - 1) / block_threads;
    if (batch->rows > 0 && (tasks & of_query) != 0) {
        answer_queries<<<by_row, block_threads, 0, stream>>>(all);
    }
    if (searches) {
        answer_missed<<<missed_blocks, missed_threads, 0, stream>>>(all);
    }
    if (batch->rows > 0 && (tasks & (of_query | KVC_MEGAKV_SHARED_RESPOND)) == KVC_MEGAKV_SHARED_RESPOND) {
        write_responses<<<by_set, block_threads, 0, stream>>>(all);
    }
    if (batch->rows > 0 && (tasks & KVC_MEGAKV_SHARED_INSERT) != 0) {
        insert_elements<<<by_row, block_threads, 0, stream>>>(all);
    }
    if (batch->rows > 0 && (tasks & KVC_MEGAKV_SHARED_ERASE) != 0) {
        uint32_t blocks = by_row > by_set ? by_row : by_set;
        erase_elements<<<blocks, block_threads, 0, stream>>>(all);
    }
    bool begun = cudaPeekAtLastError() == cudaSuccess;
    return kvc_cuda_event_record(shared->done, shared->stream) && begun;
}

enum kvc_cuda_event_state kvc_megakv_shared_state(struct kvc_megakv_shared *shared)
{
    return kvc_cuda_event_query(shared->done);
}

bool kvc_megakv_shared_count(struct kvc_megakv_shared *shared, struct kvc_index_stats *stats)
{
    counters now = {};
    cudaStream_t stream = reinterpret_cast<cudaStream_t>(shared->stream);
    if (cudaMemcpyAsync(&now, shared->counted, sizeof(now), cudaMemcpyDeviceToHost, stream) != cudaSuccess ||
        cudaMemsetAsync(shared->counted, 0, sizeof(now), stream) != cudaSuccess ||
        cudaStreamSynchronize(stream) != cudaSuccess) {
        return false;
    }
    const kvc::cuckoo_counters &table = now.table;
    kvc_megakv_shared_memory_changed(shared->index, table.inserted, table.erased);
    stats->searches += now.searches;
    stats->search_hits += table.search_hits;
    stats->search_lines += table.search_lines;
    stats->inserts += table.inserted + table.replaced + table.dropped;
    stats->insert_lines += table.insert_lines;
    stats->replaced += table.replaced;
    stats->displacements += table.displacements;
    stats->dropped += table.dropped;
    stats->erases += now.erases;
    stats->erased += table.erased;
    stats->erase_lines += table.erase_lines;
    return true;
}

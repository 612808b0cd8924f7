#include "kernels/megakv/shared_cuda.h"

#include <cerrno>
#include <new>

#include "kernels/bytes.h"
#include "kernels/megakv/cuckoo_device.cuh"
#include "kernels/megakv/packet.h"

namespace kvc
{

/* The host's memory as kernels see it that share it with threads of the host. */

/* --- loads that the host's stores are ordered with --- */

__device__ __forceinline__ uint4 load_now(const uint32_t *from)
{
    uint4 four;
    asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return four;
}

/* Defines a load of one word by an instruction, of the kind of register that the word goes to. */
#define LOAD(NAME, TYPE, INSTRUCTION, REGISTER)                                                              \
    __device__ __forceinline__ TYPE NAME(const void *from)                                                   \
    {                                                                                                        \
        TYPE word;                                                                                           \
        asm volatile(INSTRUCTION " %0, [%1];"                                                                \
                     : "=" REGISTER(word)                                                                    \
                     : "l"(__cvta_generic_to_global(from))                                                   \
                     : "memory");                                                                            \
        return word;                                                                                         \
    }

LOAD(load_now_long, uint64_t, "ld.relaxed.sys.global.u64", "l")

/* Loads that come before all later ones. */
LOAD(load_first_word, uint32_t, "ld.acquire.sys.global.u32", "r")
LOAD(load_first_long, uint64_t, "ld.acquire.sys.global.u64", "l")

/* Loads a word of an item behind a load of its header; lines may stay in the nearest cache. */
LOAD(load_item_long, uint64_t, "ld.global.u64", "l")

/* Usual loads of the same sector by several threads may share one answer of the host, which may then be older
 * than what one of them has read before. These loads get answers of their own. */
LOAD(load_alone_word, uint32_t, "ld.mmio.relaxed.sys.global.u32", "r")
LOAD(load_alone_long, uint64_t, "ld.mmio.relaxed.sys.global.u64", "l")

#undef LOAD

/* Orders earlier loads before later ones. */
__device__ __forceinline__ void fence_loads()
{
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/* --- search --- */

constexpr uint32_t shared_slots = KVC_MEGAKV_CUCKOO_SLOTS;

/* Returns the slot of a bucket with this signature, or shared_slots. */
template <bool ALONE>
__device__ __forceinline__ uint32_t shared_find(const uint32_t *bucket, uint32_t signature)
{
    uint32_t held[shared_slots], found = shared_slots;
#pragma unroll
    for (uint32_t slot = 0; slot < shared_slots; slot += 4) {
        if constexpr (ALONE) {
            uint64_t low = load_alone_long(bucket + slot), high = load_alone_long(bucket + slot + 2);
            held[slot] = static_cast<uint32_t>(low);
            held[slot + 1] = static_cast<uint32_t>(low >> 32);
            held[slot + 2] = static_cast<uint32_t>(high);
            held[slot + 3] = static_cast<uint32_t>(high >> 32);
        } else {
            uint4 four = load_now(bucket + slot);
            held[slot] = four.x;
            held[slot + 1] = four.y;
            held[slot + 2] = four.z;
            held[slot + 3] = four.w;
        }
    }
#pragma unroll
    for (int slot = shared_slots - 1; slot >= 0; slot--) {
        found = held[slot] == signature ? static_cast<uint32_t>(slot) : found;
    }
    return found;
}

/* Returns the location of a signature in a bucket, or KVC_LOCATION_NONE. Between clearing and setting a
 * signature, the writer stores its location; a slot whose signature is still there has the right one. The
 * addresses of later loads depend on the results of earlier ones, which orders them; a fence would take as
 * long as a load. */
template <bool ALONE>
__device__ __forceinline__ uint32_t shared_probe(const cuckoo_table &table, uint32_t bucket,
                                                 uint32_t signature)
{
    const uint32_t *words = bucket_words<shared_slots>(table, bucket);
    uint32_t slot = shared_find<ALONE>(words, signature);
    if (slot == shared_slots) {
        return KVC_LOCATION_NONE;
    }
    uint32_t location = load_alone_word(words + kvc_megakv_cuckoo_location_word(shared_slots, true, slot));
    uint32_t behind = slot + (location == KVC_LOCATION_ANY); /* The slot: no element has this location. */
    return load_alone_word(words + behind) == signature ? location : KVC_LOCATION_NONE;
}

/* Returns the location of a hash, or KVC_LOCATION_NONE; adds the buckets read to *lines. An element that
 * moves between its buckets may be missed, and so may one whose bucket another thread has read just before.
 */
template <bool ALONE>
__device__ __forceinline__ uint32_t shared_search(const cuckoo_table &table, uint64_t hash, uint32_t *lines)
{
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = kvc_megakv_cuckoo_primary(table.masks, hash);
    uint32_t alternate = kvc_megakv_cuckoo_alternate(table.masks, primary, signature);
    uint32_t location = shared_probe<ALONE>(table, primary, signature);
    *lines += 1;
    if (location == KVC_LOCATION_NONE && alternate != primary) {
        fence_loads();
        location = shared_probe<ALONE>(table, alternate, signature);
        *lines += 1;
    }
    return location;
}

constexpr int shared_passes = 8;

/* Returns the location of a hash that was missed, or KVC_LOCATION_NONE, of each thread of a block that wants
 * one. If no element moves during a pass, none has moved past the threads. All threads want the same counter
 * of moves, which the host gives to one at a time, so the block reads it once before and once after a pass. A
 * miss also stands if elements have moved in shared_passes passes: one that is there would have moved past
 * the thread in each. All threads of the block call this. */
__device__ __forceinline__ uint32_t shared_search_again(const cuckoo_table &table, bool wants, uint64_t hash,
                                                        uint32_t *lines)
{
    __shared__ uint64_t before, behind;
    uint32_t location = KVC_LOCATION_NONE;
    for (int pass = 0; pass < shared_passes; pass++) {
        if (threadIdx.x == 0) {
            before = load_alone_long(table.moves);
            fence_loads();
        }
        __syncthreads();
        if (wants) {
            location = shared_search<true>(table, hash, lines);
            wants = location == KVC_LOCATION_NONE;
            fence_loads();
        }
        bool any = __syncthreads_or(wants);
        if (threadIdx.x == 0) {
            behind = load_alone_long(table.moves);
        }
        __syncthreads();
        if (!any || before == behind) {
            break;
        }
    }
    __syncthreads();
    return location;
}

/* --- changes --- */

/* Removes an element under locks. Returns its location, or KVC_LOCATION_NONE if there is none with this hash
 * and `wanted` location. */
__device__ __forceinline__ uint32_t erase_locked(const cuckoo_table &table, uint32_t *locks, uint64_t hash,
                                                 uint32_t wanted, uint32_t *lines)
{
    uint32_t signature = kvc_signature(hash), left = KVC_LOCATION_NONE;
    uint32_t primary = kvc_megakv_cuckoo_primary(table.masks, hash);
    uint32_t alternate = kvc_megakv_cuckoo_alternate(table.masks, primary, signature);
    while (!try_lock_pair(locks, primary, alternate)) {
        __nanosleep(64);
    }
    for (int turn = 0; turn < 2; turn++) {
        bucket_view<shared_slots, true> view(table, turn == 0 ? primary : alternate);
        uint32_t slot = view.find(signature);
        *lines += 1;
        if (slot == shared_slots) {
            continue;
        }
        element now = read_slot<shared_slots, true>(view.words, slot);
        if (wanted == KVC_LOCATION_ANY || wanted == now.location) {
            write_slot<shared_slots, true>(table, view.words, slot, erased_slot<true>());
            left = now.location;
        }
        break;
    }
    unlock_pair(locks, primary, alternate);
    return left;
}

/* --- items --- */

/* The slab store. */
struct shared_items {
    const uint8_t *slabs;
    const uint32_t *item_bytes;
    uint32_t slab_count;
};

/* Returns the item of a location, or NULL if there is none. */
__device__ __forceinline__ const uint64_t *shared_item(const shared_items &items, uint32_t location)
{
    uint32_t number = location >> 16;
    if (number >= items.slab_count) {
        return nullptr;
    }
    uint32_t bytes = items.item_bytes[number];
    bytes = bytes != 0 ? bytes : load_first_word(items.item_bytes + number); /* the slab may be new */
    uint64_t offset = static_cast<uint64_t>(location & 0xffff) * bytes;
    if (bytes == 0 || offset + bytes > KVC_MEGAKV_SLAB_BYTES) {
        return nullptr;
    }
    return reinterpret_cast<const uint64_t *>(items.slabs +
                                              static_cast<uint64_t>(number) * KVC_MEGAKV_SLAB_BYTES + offset);
}

/* Returns whether the key at `item` is `key`, which is padded with zeros. Adds what it reads to *seen. */
__device__ __forceinline__ bool shared_same_key(const uint64_t *item, const uint64_t *key, uint32_t bytes,
                                                uint64_t *seen)
{
    for (uint32_t at = 0; at < bytes; at += 8) {
        uint64_t mask = bytes - at < 8 ? (UINT64_C(1) << 8 * (bytes - at)) - 1 : ~UINT64_C(0);
        uint64_t word = load_item_long(item + at / 8);
        *seen += word;
        if ((word & mask) != key[at / 8]) {
            return false;
        }
    }
    return true;
}

/* Copies `bytes` bytes that begin `shift` bytes (0 to 7) after the start of the word `from`, in whole words.
 * Adds what it reads to *seen. */
__device__ __forceinline__ void shared_copy(uint64_t *to, const uint64_t *from, uint32_t shift,
                                            uint32_t bytes, uint64_t *seen)
{
    uint64_t word = bytes > 0 ? load_item_long(from) : 0;
    *seen += word;
    for (uint32_t at = 0; at < bytes; at += 8) {
        bool more = at + 8 < shift + bytes;
        uint64_t next = more ? load_item_long(from + at / 8 + 1) : 0;
        to[at / 8] = shift == 0 ? word : word >> 8 * shift | next << 8 * (8 - shift);
        *seen += next;
        word = next;
    }
}

/* Loads the header of an item again, after all loads whose words add up to `seen`: its address depends on
 * them. A fence would also wait until the host sees the copied value. One sum of 2^64 makes an item look
 * changed. */
__device__ __forceinline__ uint64_t header_behind(const uint64_t *item, uint64_t seen)
{
    return load_now_long(item + (seen == UINT64_C(0x9e3779b97f4a7c15)));
}

/* A read of a thread. */
struct shared_read {
    const uint64_t *key; /* NULL: any key is right. */
    uint32_t key_bytes;
    uint64_t *to;  /* Receives the value; NULL: the value is not copied. */
    uint32_t room; /* Size of the buffer for the value [bytes]. */
};

/* Reads an item and sets *value_bytes, to 0 if it is no hit. */
__device__ __forceinline__ uint8_t shared_read_item(const uint64_t *item, const shared_read &read,
                                                    uint32_t *value_bytes)
{
    *value_bytes = 0;
    uint64_t seen = 0, header = item != nullptr ? load_first_long(item) : 0;
    if ((header & kvc_megakv_slab_tag_using) == 0) {
        return KVC_MEGAKV_SLAB_CHANGED;
    }
    uint32_t key_bytes = kvc_megakv_slab_header_key_bytes(header);
    uint32_t bytes = kvc_megakv_slab_header_value_bytes(header);
    bool same = read.key == nullptr ||
                (key_bytes == read.key_bytes && shared_same_key(item + 1, read.key, key_bytes, &seen));
    if (same && read.to != nullptr) {
        if (bytes > read.room) {
            return KVC_MEGAKV_SLAB_CHANGED;
        }
        shared_copy(read.to, item + 1 + key_bytes / 8, key_bytes % 8, bytes, &seen);
    }
    if (header_behind(item, seen) != header) {
        return KVC_MEGAKV_SLAB_CHANGED;
    }
    *value_bytes = same ? bytes : 0;
    return same ? KVC_MEGAKV_SLAB_HIT : KVC_MEGAKV_SLAB_MISMATCH;
}

} // namespace kvc

namespace
{

constexpr uint32_t block_threads = 256, missed_threads = 1024, missed_blocks = 8;
constexpr uint32_t header_bytes = 8;

/* Counters of the kernels. */
struct counters {
    kvc::cuckoo_counters table;
    unsigned long long searches, erases;
};

/* Data that the kernels work on. */
struct work {
    kvc::cuckoo_table table;
    counters *counted;
    kvc::shared_items items;
    struct kvc_megakv_shared_batch batch;
    uint32_t *locks;
    uint32_t *missed; /* Number of GETs that have missed, then their rows. */
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

/* Records the result of a search, and reads the item if that is a task. */
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
 * share no answers with loads of the kernel before it. */
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

/* WR of values that the host has read: a warp takes a set, whose values lie contiguously. */
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
    struct kvc_megakv_cuckoo_memory memory;
    struct kvc_megakv_slab_memory slabs;
    void *shared[4]; /* The arrays that the device shares. */
    kvc::cuckoo_table table;
    counters *counted; /* The counters of the table are the first member. */
    uint32_t *locks;
    uint32_t *missed; /* Has room for missed_rows rows. */
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
                  {shared->slabs.slabs, shared->slabs.bytes},
                  {shared->slabs.item_bytes, shared->slabs.count * sizeof(uint32_t)}};
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
    struct kvc_megakv_cuckoo_memory memory;
    if (!kvc_megakv_cuckoo_memory_of(index, &memory)) {
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
    kvc_megakv_slab_memory_of(slab, &shared->slabs);
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
    const work all = {
        shared->table, shared->counted, {shared->slabs.slabs, shared->slabs.item_bytes, shared->slabs.count},
        *batch,        shared->locks,   shared->missed,
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
    kvc_megakv_cuckoo_memory_changed(shared->index, table.inserted, table.erased);
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

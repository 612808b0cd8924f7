/* The host's memory as kernels see it that share it with threads of the host. */
#ifndef KVC_KERNELS_MEGAKV_SHARED_DEVICE_CUH
#define KVC_KERNELS_MEGAKV_SHARED_DEVICE_CUH

#include "kernels/bytes.h"
#include "kernels/megakv/cuckoo_insert.cuh"
#include "kernels/megakv/shared_cuda.h"
#include "kernels/megakv/slab_layout.h"

namespace kvc
{

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

__device__ __forceinline__ uint64_t load_now_long(const void *from)
{
    uint64_t word;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];"
                 : "=l"(word)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return word;
}

/* Loads that come before all later ones. */
__device__ __forceinline__ uint32_t load_first_word(const uint32_t *from)
{
    uint32_t word;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                 : "=r"(word)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return word;
}

__device__ __forceinline__ uint64_t load_first_long(const void *from)
{
    uint64_t word;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];"
                 : "=l"(word)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return word;
}

/* Orders earlier loads before later ones. */
__device__ __forceinline__ void fence_loads()
{
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/* Loads a word of an item behind a load of its header; lines may stay in the nearest cache. */
__device__ __forceinline__ uint64_t load_item_long(const uint64_t *from)
{
    uint64_t word;
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(word) : "l"(__cvta_generic_to_global(from)) : "memory");
    return word;
}

/* --- search --- */

/* Usual loads of the same sector by several threads may share one answer of the host, which may then be older
 * than what one of them has read before. Such a load has an answer of its own. */
__device__ __forceinline__ uint64_t load_alone_long(const void *from)
{
    uint64_t word;
    asm volatile("ld.mmio.relaxed.sys.global.u64 %0, [%1];"
                 : "=l"(word)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return word;
}

__device__ __forceinline__ uint32_t load_alone_word(const uint32_t *from)
{
    uint32_t word;
    asm volatile("ld.mmio.relaxed.sys.global.u32 %0, [%1];"
                 : "=r"(word)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return word;
}

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
 * addresses of the later loads depend on what the earlier ones have read, which orders them; a fence would
 * take as long as a load. */
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
 * of moves, which the host gives to one at a time, so the block reads it once before and once behind a pass.
 * A miss also stands if elements have moved in shared_passes passes: one that is there would have moved past
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

/* Copies `bytes` bytes that begin `shift` bytes (0 to 7) behind the word `from`, in whole words. Adds what it
 * reads to *seen. */
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

/* Loads the header of an item again, behind all loads whose words add up to `seen`: its address depends on
 * them. A fence would also wait until the host sees the copied value. One sum of 2^64 makes an item look
 * changed. */
__device__ __forceinline__ uint64_t header_behind(const uint64_t *item, uint64_t seen)
{
    return load_now_long(item + (seen == UINT64_C(0x9e3779b97f4a7c15)));
}

/* What a thread reads. */
struct shared_read {
    const uint64_t *key; /* NULL: any key is right. */
    uint32_t key_bytes;
    uint64_t *to;  /* NULL: the value is not copied. */
    uint32_t room; /* For the value. */
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

#endif

/* Operations on one set of the set-associative table on the device. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_DEVICE_CUH
#define KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_DEVICE_CUH

#include "kernels/memcachedgpu/set_assoc.h"

namespace kvc
{

using set_control = struct kvc_set_assoc_control;
using set_entry = struct kvc_set_assoc_entry;
using set_table = struct kvc_set_assoc_table;

/* Loads and stores that may meet stores and loads of other threads. They go to the second-level cache,
 * whatever the first level holds, and the compiler keeps their order. */
__device__ __forceinline__ uint4 load_strong(const void *from)
{
    uint4 word;
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                 : "l"(from)
                 : "memory");
    return word;
}

__device__ __forceinline__ uint32_t load_strong_32(const void *from)
{
    uint32_t word;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
    return word;
}

__device__ __forceinline__ void store_strong_32(void *to, uint32_t word)
{
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
}

__device__ __forceinline__ void store_strong_64(void *to, uint64_t word)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}

__device__ __forceinline__ void store_strong(void *to, uint4 word)
{
    asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(word.x), "r"(word.y),
                 "r"(word.z), "r"(word.w)
                 : "memory");
}

__device__ __forceinline__ unsigned long long *lock_of(set_control *control)
{
    return reinterpret_cast<unsigned long long *>(&control->lock);
}

/* Bit i of the result is set if byte i of the word equals the tag. */
__device__ __forceinline__ uint32_t equal_bytes(uint32_t word, uint32_t tag)
{
    return (__vcmpeq4(word, tag * 0x01010101u) & 0x08040201u) * 0x01010101u >> 24;
}

__device__ __forceinline__ uint32_t matching_ways(uint4 tags, uint32_t valid, uint32_t tag)
{
    return (equal_bytes(tags.x, tag) | equal_bytes(tags.y, tag) << 4 | equal_bytes(tags.z, tag) << 8 |
            equal_bytes(tags.w, tag) << 12) &
           valid;
}

/* Returns the item of an entry from its header, the first 16 bytes. */
__device__ __forceinline__ struct kvc_set_assoc_item item_of(uint4 header)
{
    struct kvc_set_assoc_item item;
    item.stamp = header.x;
    item.location = header.y;
    item.value_bytes = header.z;
    item.flags = static_cast<uint16_t>(header.w);
    return item;
}

/* Result of a search, for the code that sets the timestamp. */
struct set_found {
    set_entry *entry; /* nullptr if the key was not found */
    uint4 header;
};

/* Returns which 32-bit words of a 16-byte chunk differ from the key, as bits 0 to 3. */
__device__ __forceinline__ uint32_t differing_words(uint4 stored, const uint8_t *key, uint32_t bytes)
{
    const uint32_t words[4] = {stored.x, stored.y, stored.z, stored.w};
    uint32_t differing = 0;
#pragma unroll
    for (uint32_t w = 0; w < 4; w++) {
        if (4 * w < bytes) {
            uint32_t left = bytes - 4 * w;
            uint32_t wanted = kvc_bytes_word(key + 4 * w, left < 4 ? left : 4);
            differing |= static_cast<uint32_t>(words[w] != wanted) << w;
        }
    }
    return differing;
}

/* Compares the key with the key of an entry and loads the header of the entry. Four loads are in flight at
 * once, so that keys of up to 48 bytes take one memory access, header included. `lines` is counted as on the
 * CPU.
 */
__device__ __forceinline__ bool compare_entry(const set_entry *entry, const uint8_t *key, uint32_t key_bytes,
                                              uint4 *header, uint32_t *lines)
{
    const uint8_t *stored = reinterpret_cast<const uint8_t *>(entry);
    *header = load_strong(stored);
    uint32_t at = 0;
    bool same = true;
    for (; same && at < key_bytes; at += 48) {
        uint4 chunk[3];
#pragma unroll
        for (uint32_t c = 0; c < 3; c++) {
            if (at + 16 * c < key_bytes) {
                chunk[c] = load_strong(stored + 16 + at + 16 * c);
            }
        }
        if (at == 0 && header->w >> 16 != key_bytes) {
            ++*lines;
            return false;
        }
#pragma unroll
        for (uint32_t c = 0; c < 3; c++) {
            uint32_t from = at + 16 * c;
            if (same && from < key_bytes) {
                uint32_t differing = differing_words(chunk[c], key + from, min(key_bytes - from, 16u));
                if (differing != 0) {
                    same = false;
                    *lines += kvc_set_assoc_entry_lines(entry, 16 + from + ((differing & 3) != 0 ? 8 : 16));
                }
            }
        }
    }
    if (same) {
        *lines += kvc_set_assoc_entry_lines(entry, 16 + (key_bytes + 7) / 8 * 8);
    }
    return same;
}

/* Searches a set once. The loads of the set come after the load of the lock word and before its second load,
 * because they depend on its value: a GPU thread issues instructions in order and does not speculate. */
__device__ __forceinline__ struct set_found look(const set_table &table, set_control *control, uint32_t tag,
                                                 const uint8_t *key, uint32_t key_bytes, uint4 head,
                                                 uint4 tags, uint32_t *lines)
{
    struct set_found found = {nullptr, {0, 0, 0, 0}};
    uint32_t ways = matching_ways(tags, head.z, tag);
    while (ways != 0) {
        uint32_t way = static_cast<uint32_t>(__ffs(static_cast<int>(ways))) - 1;
        ways &= ways - 1;
        set_entry *entry = kvc_set_assoc_entry(&table, control, way);
        if (ways != 0) { /* the next candidate, in case this entry holds another key */
            const void *next = kvc_set_assoc_entry(&table, control,
                                                   static_cast<uint32_t>(__ffs(static_cast<int>(ways))) - 1);
            asm volatile("prefetch.global.L2 [%0];" ::"l"(next));
        }
        if (compare_entry(entry, key, key_bytes, &found.header, lines)) {
            found.entry = entry;
            break;
        }
    }
    return found;
}

/* Searches for a key of valid length, under the shared lock (SHARED) or checking the version. */
template <bool SHARED>
__device__ __forceinline__ struct set_found search_set(const set_table &table,
                                                       struct kvc_set_assoc_place place, const uint8_t *key,
                                                       uint32_t key_bytes, uint32_t *lines)
{
    set_control *control = kvc_set_assoc_control(&table, place.set);
    const uint8_t *line = reinterpret_cast<const uint8_t *>(control);
    struct set_found found;
    if constexpr (SHARED) {
        for (;;) {
            unsigned long long lock = atomicAdd(lock_of(control), KVC_SET_ASSOC_READER);
            if ((lock & KVC_SET_ASSOC_WRITER) == 0) {
                break;
            }
            atomicAdd(lock_of(control), 0 - static_cast<unsigned long long>(KVC_SET_ASSOC_READER));
            __nanosleep(64);
        }
        __threadfence();
        uint4 head = load_strong(line), tags = load_strong(line + 16);
        ++*lines;
        found = look(table, control, place.tag, key, key_bytes, head, tags, lines);
        __threadfence();
        atomicAdd(lock_of(control), 0 - static_cast<unsigned long long>(KVC_SET_ASSOC_READER));
    } else {
        uint4 head, tags;
        uint32_t version;
        do {
            head = load_strong(line); /* lock and valid flags */
            tags = load_strong(line + 16);
            ++*lines;
            version = head.y;
            found.entry = nullptr;
            if ((version & 1) == 0) {
                found = look(table, control, place.tag, key, key_bytes, head, tags, lines);
            }
            /* A miss is not checked again: it was true when the set was read. */
        } while ((version & 1) != 0 || (found.entry != nullptr &&
                                        load_strong_32(line + offsetof(set_control, lock) + 4) != version));
    }
    return found;
}

/* Stamps a hit. If the entry has gone to another key meanwhile, that key's timestamp becomes slightly too
 * new. */
__device__ __forceinline__ void stamp(const struct set_found &found, uint32_t now)
{
    if (found.header.x != now) {
        store_strong_32(&found.entry->stamp, now);
    }
}

/* Take and release the exclusive lock; all threads of one warp call them. */
__device__ __forceinline__ void lock_exclusive(set_control *control, uint32_t lane)
{
    if (lane == 0) {
        for (;;) {
            unsigned long long lock = *reinterpret_cast<volatile unsigned long long *>(lock_of(control));
            if ((lock & (KVC_SET_ASSOC_WRITER | KVC_SET_ASSOC_READERS)) == 0 &&
                atomicCAS(lock_of(control), lock, lock + KVC_SET_ASSOC_WRITER) == lock) {
                break;
            }
            __nanosleep(64);
        }
    }
    __threadfence();
    __syncwarp();
}

__device__ __forceinline__ void unlock_exclusive(set_control *control, uint32_t lane)
{
    __threadfence();
    __syncwarp();
    if (lane == 0) {
        atomicAdd(lock_of(control), KVC_SET_ASSOC_WRITER);
    }
}

/* Returns the way that has the key, or 32. One warp calls it under the exclusive lock; lane l compares 8
 * bytes. No thread returns before all threads have read, so that each may write. */
__device__ __forceinline__ uint32_t find_way(const set_table &table, set_control *control, uint32_t tag,
                                             const uint8_t *key, uint32_t key_bytes, uint32_t lane,
                                             uint4 *header, uint32_t *lines)
{
    const uint8_t *line = reinterpret_cast<const uint8_t *>(control);
    uint4 head = load_strong(line), tags = load_strong(line + 16);
    uint32_t at = 8 * lane;
    uint64_t wanted = at < key_bytes ? kvc_bytes_word_64(key + at, min(key_bytes - at, 8u)) : 0;
    ++*lines;
    for (uint32_t ways = matching_ways(tags, head.z, tag); ways != 0; ways &= ways - 1) {
        uint32_t way = static_cast<uint32_t>(__ffs(static_cast<int>(ways))) - 1;
        const set_entry *entry = kvc_set_assoc_entry(&table, control, way);
        const uint8_t *stored = reinterpret_cast<const uint8_t *>(entry + 1);
        *header = load_strong(entry);
        if (header->w >> 16 != key_bytes) {
            ++*lines;
            continue;
        }
        bool differs =
            at < key_bytes && (load_strong_32(stored + at) != static_cast<uint32_t>(wanted) ||
                               load_strong_32(stored + at + 4) != static_cast<uint32_t>(wanted >> 32));
        uint32_t differing = __ballot_sync(0xffffffffu, differs);
        uint32_t words =
            differing != 0 ? static_cast<uint32_t>(__ffs(static_cast<int>(differing))) : (key_bytes + 7) / 8;
        *lines += kvc_set_assoc_entry_lines(entry, 16 + 8 * words);
        if (differing == 0) {
            return way; /* the vote has synchronised the threads */
        }
    }
    __syncwarp();
    return 32;
}

/* Returns the oldest way of a full set, and the lowest of equally old ones. One warp calls it under the
 * exclusive lock. */
__device__ __forceinline__ uint32_t oldest_way(const set_table &table, set_control *control, uint32_t now,
                                               uint32_t lane)
{
    int32_t age = INT32_MIN;
    if (lane < table.ways) {
        age = kvc_set_assoc_age(now, load_strong_32(&kvc_set_assoc_entry(&table, control, lane)->stamp));
    }
    int32_t oldest = __reduce_max_sync(0xffffffffu, age);
    uint32_t ways = __ballot_sync(0xffffffffu, age == oldest && lane < table.ways);
    return static_cast<uint32_t>(__ffs(static_cast<int>(ways))) - 1;
}

} // namespace kvc

#endif

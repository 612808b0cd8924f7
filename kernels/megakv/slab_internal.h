/** @file
 * Internal to kernels/megakv: the memory of the slab store, its locks, its bitmaps, and the headers of its
 * items.
 */
#ifndef KVC_KERNELS_MEGAKV_SLAB_INTERNAL_H
#define KVC_KERNELS_MEGAKV_SLAB_INTERNAL_H

#include "kernels/megakv/slab.h"

#include <sched.h>
#include <string.h>

#include "kernels/bytes.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "byte k of a word is its bits 8k to 8k + 7");

/** Internal sizes. */
enum {
    KVC_MEGAKV_SLAB_COUNT_MAX = 65536,         /**< Most slabs of a store. */
    KVC_MEGAKV_SLAB_BITMAP_WORDS = 65536 / 64, /**< Words of a slab's bitmap, 64 bits each. */
    KVC_MEGAKV_SLAB_CLASSES = 59,              /**< Number of size classes. */
    KVC_MEGAKV_SLAB_LEVELS = 3,                /**< Levels of reference bits. */
    /** Most items of a slab: two less than 16 bits can number, so that no location equals KVC_LOCATION_NONE
     * or KVC_LOCATION_ANY. */
    KVC_MEGAKV_SLAB_ITEMS_MAX = 65534,
    KVC_MEGAKV_SLAB_SPINS = 256, /**< Spins before a waiter yields, about ten microseconds. */
};

/** No slab. */
#define KVC_MEGAKV_SLAB_NONE UINT32_MAX

/** A slab. The lock of its class guards all of it except class_index, which never changes. */
struct kvc_megakv_slab_info {
    uint32_t class_index; /**< Size class. */
    uint32_t free_items;  /**< Items on the free list. */
    uint32_t free_word;   /**< No bitmap word below this one has a free item. */
    uint32_t next_free;   /**< Next slab of the class that has free items. */
    uint32_t next;        /**< Next slab of the class, in a ring. */
};

/** A size class. */
struct kvc_megakv_slab_class {
    /** The lock is taken once per batch of allocations, and for the rare releases and rewrites. A slab
     * belongs to its class for good, so this lock also guards the bitmaps of the slab. Waiting threads keep
     * reading the line of the lock; the data that its holder works on therefore lies in another line. */
    _Alignas(128) bool locked;
    _Alignas(128) uint32_t last; /**< Last slab of the ring. */
    uint32_t first_free;         /**< First slab that has free items. */
    uint32_t hand_slab;          /**< Slab under the CLOCK hand. */
    uint32_t hand_item;          /**< Item under the CLOCK hand. */
    uint32_t items;              /**< Items per slab. */
    uint32_t slabs;              /**< Number of slabs. */
    uint32_t shares;             /**< Slabs that it would have in the whole store. */
    uint32_t granted;            /**< Items that it may use: the first of its slabs. */
    uint32_t shape;              /**< Compact: lengths of all its items as in a header; 0: no item yet. */
    bool is_mixed; /**< Compact: the lengths of its items differ and stand in the store's `shape`. */
};

/** A slab store. */
struct kvc_megakv_slab {
    /** Slab memory. Readers use the members up to slab_count. Slabs are given to classes in order and for
     * good. */
    uint8_t *base; /**< NULL in a compact store. */
    /** Reference bits. Bit i of level 0 belongs to item i. Bit i of a higher level says that word i of the
     * level below is all ones. */
    uint64_t *referenced[KVC_MEGAKV_SLAB_LEVELS];
    uint32_t *item_bytes; /**< Size of the items of each slab [bytes]; 0: the slab has no class. */
    uint32_t slab_count;  /**< Number of slabs. */
    /** Slabs given to classes so far. Writers use the members from here on. `free_bits` changes under the
     * lock of the class. `in_use` is cleared under that lock and set without it, by the owner of the item. It
     * has a byte per item (3 % of the smallest items): bits would cost every write an atomic operation on a
     * line that the writers of the next batches contend for. */
    uint32_t assigned;
    uint32_t rate;                     /**< A sample of one item in this many; 1: the whole store. */
    uint32_t shares;                   /**< Slabs of the whole store. */
    uint32_t shares_left;              /**< Shares not yet assigned to a class. */
    uint64_t hash_seed;                /**< Seed of the hashes of evicted keys. */
    uint64_t *free_bits;               /**< Bitmaps of free items. */
    uint8_t *in_use;                   /**< Whether each item is in use. */
    struct kvc_megakv_slab_info *info; /**< State of the classes' slabs. */
    /** Compact: for each item the hash of its key, inverted while it is not in use. Otherwise NULL. */
    uint64_t *hash;
    uint32_t next_first; /**< Compact: where the items of the next slab will begin. */
    uint32_t *first;     /**< Compact: where the items of each slab begin in `hash` and `shape`. */
    uint32_t *shape;     /**< Compact: lengths of each item as in a header, in classes whose items differ. */
    struct kvc_megakv_slab_class classes[KVC_MEGAKV_SLAB_CLASSES]; /**< Size classes. */
};

/* The bytes of an item may be copied while another thread writes them; the version reveals that afterwards.
 * ThreadSanitizer rightly requires atomic accesses for such bytes and does not understand fences. Under
 * ThreadSanitizer, each byte is therefore loaded and stored with the ordering that the fences give otherwise.
 */
#ifdef __SANITIZE_THREAD__
static inline void kvc_megakv_slab_copy_out(void *to, const uint8_t *item, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        ((uint8_t *)to)[i] = __atomic_load_n(item + i, __ATOMIC_ACQUIRE);
    }
}

static inline void kvc_megakv_slab_copy_in(uint8_t *item, const void *from, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        __atomic_store_n(item + i, ((const uint8_t *)from)[i], __ATOMIC_RELEASE);
    }
}

static inline bool kvc_megakv_slab_same_bytes(const uint8_t *item, const uint8_t *key, uint32_t bytes)
{
    uint8_t copy[KVC_MEGAKV_SLAB_KEY_MAX];
    kvc_megakv_slab_copy_out(copy, item, bytes);
    return memcmp(copy, key, bytes) == 0;
}

static inline void kvc_megakv_slab_fence_acquire(void)
{
}

static inline void kvc_megakv_slab_fence_release(void)
{
}
#else
static inline void kvc_megakv_slab_copy_out(void *to, const uint8_t *item, uint32_t bytes)
{
    kvc_bytes_copy(to, item, bytes);
}

static inline void kvc_megakv_slab_copy_in(uint8_t *item, const void *from, uint32_t bytes)
{
    kvc_bytes_copy(item, from, bytes);
}

static inline bool kvc_megakv_slab_same_bytes(const uint8_t *item, const uint8_t *key, uint32_t bytes)
{
    return kvc_bytes_same(item, key, bytes);
}

static inline void kvc_megakv_slab_fence_acquire(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static inline void kvc_megakv_slab_fence_release(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}
#endif

/** Tells the processor that this thread spins. */
static inline void kvc_megakv_slab_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/** Loads the header of an item. */
static inline uint64_t kvc_megakv_slab_load_header(const uint8_t *item)
{
    return __atomic_load_n((const uint64_t *)item, __ATOMIC_ACQUIRE);
}

/** Stores the header of an item. */
static inline void kvc_megakv_slab_store_header(uint8_t *item, uint64_t header)
{
    __atomic_store_n((uint64_t *)item, header, __ATOMIC_RELEASE);
}

/** Returns the number of 64-byte lines that `bytes` bytes from this address on occupy. */
static inline uint32_t kvc_megakv_slab_lines_at(uint64_t address, uint32_t bytes)
{
    return (uint32_t)(((address & 63) + bytes + 63) / 64);
}

/** Returns the number of 64-byte lines that the first `bytes` bytes of an item occupy. */
static inline uint32_t kvc_megakv_slab_lines(const uint8_t *item, uint32_t bytes)
{
    return kvc_megakv_slab_lines_at((uintptr_t)item, bytes);
}

/** Returns an item's bit in its word of a bitmap. */
static inline uint64_t kvc_megakv_slab_bit(uint32_t location)
{
    return UINT64_C(1) << (location & 63);
}

/** Returns the index of an item's word in a bitmap of all slabs. */
static inline uint64_t kvc_megakv_slab_word(uint32_t location)
{
    return location / 64;
}

/** Returns the location of an item. */
static inline uint32_t kvc_megakv_slab_location(uint32_t slab_number, uint32_t item)
{
    return slab_number << 16 | item;
}

/** Sets where an item that may be prefetched and read begins in its slab [bytes]. Returns false if there is
 * no such item. */
static inline bool kvc_megakv_slab_place(const struct kvc_megakv_slab *slab, uint32_t location,
                                         uint32_t *item_bytes, uint32_t *offset)
{
    uint32_t number = location >> 16;
    if (number >= slab->slab_count) {
        return false;
    }
    uint32_t bytes = __atomic_load_n(&slab->item_bytes[number], __ATOMIC_ACQUIRE);
    uint64_t begin = (uint64_t)(location & 0xffff) * bytes;
    *item_bytes = bytes;
    *offset = (uint32_t)begin;
    return bytes != 0 && begin + bytes <= KVC_MEGAKV_SLAB_BYTES;
}

/** Returns the address of an item that may be prefetched and read, or NULL if there is no such item, as in a
 * compact store. */
static inline uint8_t *kvc_megakv_slab_item(const struct kvc_megakv_slab *slab, uint32_t location,
                                            uint32_t *item_bytes)
{
    uint32_t offset;
    if (slab->base == NULL || !kvc_megakv_slab_place(slab, location, item_bytes, &offset)) {
        return NULL;
    }
    return slab->base + (uint64_t)(location >> 16) * KVC_MEGAKV_SLAB_BYTES + offset;
}

/** Clears the reference bits `bits` in the word that contains `location`. */
static inline void kvc_megakv_slab_clear_referenced(struct kvc_megakv_slab *slab, uint32_t location,
                                                    uint64_t bits)
{
    uint32_t index = location;
    __atomic_fetch_and(&slab->referenced[0][kvc_megakv_slab_word(index)], ~bits, __ATOMIC_SEQ_CST);
    for (int level = 1; level < KVC_MEGAKV_SLAB_LEVELS; level++) {
        index /= 64;
        uint64_t *word = &slab->referenced[level][kvc_megakv_slab_word(index)];
        if ((__atomic_load_n(word, __ATOMIC_SEQ_CST) & kvc_megakv_slab_bit(index)) != 0) {
            __atomic_fetch_and(word, ~kvc_megakv_slab_bit(index), __ATOMIC_SEQ_CST);
        }
    }
}

/** Takes the lock of a class. It spins because the lock is held for one or two microseconds, far less than it
 * takes to put a thread to sleep and to wake it; sleeping costs two allocating threads a sixth of their
 * speed. A waiter yields when the holder may have lost its processor. */
static inline void kvc_megakv_slab_lock(struct kvc_megakv_slab_class *class)
{
    unsigned tries = 0;
    while (__atomic_exchange_n(&class->locked, true, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(&class->locked, __ATOMIC_RELAXED)) {
            if (++tries % KVC_MEGAKV_SLAB_SPINS == 0) {
                sched_yield();
            } else {
                kvc_megakv_slab_pause();
            }
        }
    }
}

/** Releases the lock of a class. */
static inline void kvc_megakv_slab_unlock(struct kvc_megakv_slab_class *class)
{
    __atomic_store_n(&class->locked, false, __ATOMIC_RELEASE);
}

/** Says whether an item is in use. */
static inline bool kvc_megakv_slab_in_use(const struct kvc_megakv_slab *slab, uint32_t location)
{
    return __atomic_load_n(&slab->in_use[location], __ATOMIC_ACQUIRE) != 0;
}

/** Puts an item in use or takes it out of use. */
static inline void kvc_megakv_slab_set_in_use(struct kvc_megakv_slab *slab, uint32_t location, bool value)
{
    __atomic_store_n(&slab->in_use[location], value, __ATOMIC_RELEASE);
}

/** Returns the in-use flags of 64 items as a bitmap word. */
static inline uint64_t kvc_megakv_slab_using_word(const struct kvc_megakv_slab *slab, uint32_t word_location)
{
    const uint64_t *bytes = (const uint64_t *)&slab->in_use[word_location];
    uint64_t word = 0;
    for (uint32_t i = 0; i < 8; i++) {
        /* Moves bit 0 of byte k to bit 56 + k. */
        word |= (__atomic_load_n(&bytes[i], __ATOMIC_ACQUIRE) * 0x0102040810204080 >> 56) << i * 8;
    }
    return word;
}

/* --- a compact store (slab_compact.c) --- */

/** Returns whether a store keeps the hashes of its items instead of their bytes. */
static inline bool kvc_megakv_slab_is_compact(const struct kvc_megakv_slab *slab)
{
    return slab->hash != NULL;
}

/** Gives a slab of `items` items its part of the arrays, after the slab before it. */
void kvc_megakv_slab_compact_begin(struct kvc_megakv_slab *slab, uint32_t number, uint32_t items);

/** Returns the hash of an item of a slab that has a class. */
static inline uint64_t *kvc_megakv_slab_compact_hash(const struct kvc_megakv_slab *slab, uint32_t location)
{
    return &slab->hash[slab->first[location >> 16] + (location & 0xffff)];
}

/** Does what kvc_megakv_slab_read() does, for a compact store. */
void kvc_megakv_slab_compact_read(struct kvc_megakv_slab *slab, const struct kvc_megakv_slab_reads *reads,
                                  struct kvc_megakv_slab_stats *stats);

/** Opens the arrays of a compact store; returns false if memory is short. */
bool kvc_megakv_slab_compact_open(struct kvc_megakv_slab *slab);

/** Frees the arrays of a compact store; does nothing for another one. */
void kvc_megakv_slab_compact_close(struct kvc_megakv_slab *slab);

#endif

/** @file
 * BlueCache's index cache: a 4-way set-associative table of 128-bit entries with one bucket per 64-byte line.
 *
 * Source: Xu et al., "BlueCache: A Scalable Distributed Flash-based Key-value Store", VLDB 10(4) 2016,
 * sec. 2.3 and 3.3. The table follows the paper in these points:
 *  - An entry has a pointer of 41 bits, whose top bit distinguishes flash from DRAM (sec. 3.4), 8 bits of key
 *    length, 20 bits of value length, the time of the last access in 32 bits, and 21 bits of the key's SHA-1.
 *    The paper does not describe the other 6 of the 128 bits; one of them marks a valid entry here.
 *  - The Jenkins hash of the key selects the bucket. All four entries are compared at once, and an entry
 *    matches if the abbreviated key and the key length are equal. This reads one line and writes one line.
 *  - A fifth key of a bucket replaces the least recently used entry. The data that the old entry pointed to
 *    stays where it is and is found dead later. Erasing a key also removes only its entry.
 *
 * The full key is stored elsewhere. A search may therefore return another key's entry, with a probability of
 * 2^-21 for each entry of the bucket, and the caller compares the full key. A put or an erase that meets such
 * a false match treats the entry as its own.
 *
 * The paper does not give the unit of the clock. Here it advances by one with every operation. Ages are
 * computed modulo 2^32, so that an entry looks young again after 2^32 operations without an access. The paper
 * counts an address space of 2 TB for the 41 bits; because one bit selects the medium, 1 TB is left for each.
 *
 * Not modelled: the parallel pipeline of the hardware. An index may be used by one thread at a time. */
#ifndef KVC_KERNELS_BLUECACHE_INDEX_H
#define KVC_KERNELS_BLUECACHE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/index.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    KVC_BLUECACHE_WAYS = 4,                  /**< Entries of a bucket. */
    KVC_BLUECACHE_BUCKET_BYTES = 64,         /**< Size of a bucket [bytes]. */
    KVC_BLUECACHE_KEY_HASH_BITS = 21,        /**< Bits of the key's SHA-1 in an entry. */
    KVC_BLUECACHE_KEY_MAX = 255,             /**< Longest key [bytes]. */
    KVC_BLUECACHE_VALUE_MAX = (1 << 20) - 1, /**< Longest value [bytes]. */
};

/** Top bit of a pointer: set for flash, clear for DRAM. */
#define KVC_BLUECACHE_FLASH (UINT64_C(1) << 40)
/** Largest pointer. */
#define KVC_BLUECACHE_POINTER_MAX ((UINT64_C(1) << 41) - 1)
/** No pointer. */
#define KVC_BLUECACHE_NOWHERE UINT64_MAX

/** Parameters of an index. */
struct kvc_bluecache_index_params {
    uint64_t
        bytes; /**< Size of the table: a power of two, 64 B to 256 GiB; 8 GiB hold 2^29 entries [bytes]. */
};

/** Entry of a key in the index. */
struct kvc_bluecache_found {
    uint64_t pointer;     /**< Pointer to the data; KVC_BLUECACHE_NOWHERE if the key was not found. */
    uint32_t value_bytes; /**< Length of the value; 0 if the key was not found [bytes]. */
};

/** A change of an entry that is found by its backward pointer. */
struct kvc_bluecache_move {
    uint64_t position; /**< Position of any entry of its bucket. */
    uint64_t from;     /**< Current pointer of the entry. */
    uint64_t to;       /**< New pointer; KVC_BLUECACHE_NOWHERE removes the entry. */
};

/** Creates an empty index. Returns NULL with errno EINVAL (size) or ENOMEM.
 *
 * The functions below take an index that this function created. The low half of a hash is the Jenkins hash of
 * the key, and the high half is the start of its SHA-1 (kvc_bluecache_hash). A position is the number of an
 * entry: bucket * 4 + way. */
struct kvc_index *kvc_bluecache_index_create(const struct kvc_bluecache_index_params *params);

/** Looks up `count` keys and marks the entries found as used now. */
void kvc_bluecache_index_get(struct kvc_index *index, const uint64_t *hash, const uint8_t *key_bytes,
                             uint32_t count, struct kvc_bluecache_found *found,
                             struct kvc_index_stats *stats);

/** Looks up `count` keys like kvc_bluecache_index_get(), but changes neither times of access nor the clock.
 */
void kvc_bluecache_index_peek(const struct kvc_index *index, const uint64_t *hash, const uint8_t *key_bytes,
                              uint32_t count, struct kvc_bluecache_found *found);

/** Puts `count` keys in order. position[i] becomes the position of the entry of key i. gone[i] becomes the
 * pointer that it displaced, which is an earlier pointer of the same key or the pointer of another key, or
 * KVC_BLUECACHE_NOWHERE. `gone` may be NULL. */
void kvc_bluecache_index_put(struct kvc_index *index, const uint64_t *hash, const uint8_t *key_bytes,
                             const uint32_t *value_bytes, const uint64_t *pointer, uint32_t count,
                             uint64_t *position, uint64_t *gone, struct kvc_index_stats *stats);

/** Removes `count` keys. gone[i] becomes the pointer that key i had, or KVC_BLUECACHE_NOWHERE. `gone` may be
 * NULL. */
void kvc_bluecache_index_erase(struct kvc_index *index, const uint64_t *hash, const uint8_t *key_bytes,
                               uint32_t count, uint64_t *gone, struct kvc_index_stats *stats);

/** For each move in order, changes or removes the entry of its bucket that points to `from`. If there is no
 * such entry or bucket, nothing happens. Times of access do not change. Returns the number of entries
 * changed. */
uint64_t kvc_bluecache_index_move(struct kvc_index *index, const struct kvc_bluecache_move *moves,
                                  uint32_t count);

/** True if an entry of the bucket of `position` points to `pointer`. */
bool kvc_bluecache_index_points(const struct kvc_index *index, uint64_t position, uint64_t pointer);

/** Prefetches the line of an entry for kvc_bluecache_index_points or kvc_bluecache_index_move. */
void kvc_bluecache_index_prefetch(const struct kvc_index *index, uint64_t position);

/** Returns the first of the four positions that the key of a hash may have. */
uint64_t kvc_bluecache_index_home(const struct kvc_index *index, uint64_t hash);

/** Returns the current time of the clock, in operations. */
uint32_t kvc_bluecache_index_clock(const struct kvc_index *index);

/** Sets the clock after a restart. */
void kvc_bluecache_index_set_clock(struct kvc_index *index, uint32_t clock);

/** Copies `count` buckets of 64 bytes from `first` on to `out`, without the entries that point to DRAM. */
void kvc_bluecache_index_save(const struct kvc_index *index, uint64_t first, uint64_t count, void *out);

/** Decides whether an entry with this pointer is loaded. */
typedef bool kvc_bluecache_keep_fn(void *context, uint64_t pointer);

/** Replaces `count` buckets from `first` on with those in `saved`, which may hold arbitrary bytes. An entry
 * is left out if it is invalid, points to DRAM, has the key or the pointer of another entry of its bucket, or
 * is refused by `keep`. Buckets beyond the table are ignored. */
void kvc_bluecache_index_load(struct kvc_index *index, uint64_t first, uint64_t count, const void *saved,
                              kvc_bluecache_keep_fn *keep, void *context);

/** The index as a kind of kvc_index. */
extern const struct kvc_index_kind kvc_bluecache_kind;

#ifdef __cplusplus
}
#endif

#endif

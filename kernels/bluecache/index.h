/* BlueCache's KV-index cache: a 4-way set-associative table of 128-bit entries, one bucket per 64-byte line.
 *
 * Source: Xu et al., "BlueCache: A Scalable Distributed Flash-based Key-value Store", VLDB 10(4) 2016,
 * sec. 2.3 and 3.3. What the paper says and this table does:
 *  - an entry is a 41-bit pointer whose top bit tells flash from DRAM (sec. 3.4), 8 bits of key length, 20
 *    bits of value length, a 32-bit time of the last access and 21 bits of the key's SHA-1; the 6 bits that
 *    are left of 128 are not described, one of them is "valid" here;
 *  - the bucket comes from the Jenkins hash of the key; all four entries are compared at once, and an entry
 *    is hit when abbreviated key and key length are equal: one line read, one line written;
 *  - a fifth key for a bucket takes the place of the entry used least recently; the data that this one
 *    pointed to is left where it is and found dead later. Erasing removes just the entry, too.
 *
 * Because the full key is elsewhere, a hit may be another key's (2^-21 for each entry of the bucket) and must
 * be compared with it; a put or an erase that meets such a false match takes that entry for its own.
 *
 * The paper does not give the clock's unit: here it advances by one with every operation, and ages are taken
 * modulo 2^32, so that an entry untouched for 2^32 operations looks young again. The paper counts a 2 TB
 * address space for the 41 bits; with one of them for the medium, 1 TB is left for each.
 *
 * Not modelled: the hardware's parallel pipeline. One thread at a time. */
#ifndef KVC_KERNELS_BLUECACHE_INDEX_H
#define KVC_KERNELS_BLUECACHE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/index.h"

enum {
    KVC_BLUECACHE_WAYS = 4,
    KVC_BLUECACHE_BUCKET_BYTES = 64,
    KVC_BLUECACHE_KEY_HASH_BITS = 21,
    KVC_BLUECACHE_KEY_MAX = 255,             /* bytes */
    KVC_BLUECACHE_VALUE_MAX = (1 << 20) - 1, /* bytes */
};

/* The pointer's top bit: set for flash. */
#define KVC_BLUECACHE_FLASH (UINT64_C(1) << 40)
#define KVC_BLUECACHE_POINTER_MAX ((UINT64_C(1) << 41) - 1)
/* No pointer. */
#define KVC_BLUECACHE_NOWHERE UINT64_MAX

struct kvc_bluecache_index_params {
    uint64_t bytes; /* table size, power of two, 64 B .. 256 GiB; 8 GiB holds 2^29 entries */
};

/* What an index says about a key. */
struct kvc_bluecache_found {
    uint64_t pointer; /* KVC_BLUECACHE_NOWHERE: not found */
    uint32_t value_bytes;
};

/* An entry to be changed, by its backward pointer. */
struct kvc_bluecache_move {
    uint64_t position; /* of any entry of its bucket */
    uint64_t from;     /* its pointer until now */
    uint64_t to;       /* its new pointer; KVC_BLUECACHE_NOWHERE removes it */
};

/* Functions below take an index that kvc_bluecache_index_create made. A hash has the Jenkins hash of the key
 * in its low and the first bits of its SHA-1 in its high half (kvc_bluecache_hash). A position is the number
 * of an entry: bucket * 4 + way. */

/* NULL with errno EINVAL (params) or ENOMEM. */
struct kvc_index *kvc_bluecache_index_create(const struct kvc_bluecache_index_params *params);

/* Looks `count` keys up and marks what it finds as used now. */
void kvc_bluecache_index_get(struct kvc_index *index, const uint64_t *hash, const uint8_t *key_bytes,
                             uint32_t count, struct kvc_bluecache_found *found,
                             struct kvc_index_stats *stats);

/* Puts `count` keys in order. position[i] is where key i went, gone[i] the pointer that it displaced, its own
 * earlier one or another key's, or KVC_BLUECACHE_NOWHERE; `gone` may be NULL. */
void kvc_bluecache_index_put(struct kvc_index *index, const uint64_t *hash, const uint8_t *key_bytes,
                             const uint32_t *value_bytes, const uint64_t *pointer, uint32_t count,
                             uint64_t *position, uint64_t *gone, struct kvc_index_stats *stats);

/* Removes `count` keys; gone[i] is the pointer key i had, or KVC_BLUECACHE_NOWHERE. `gone` may be NULL. */
void kvc_bluecache_index_erase(struct kvc_index *index, const uint64_t *hash, const uint8_t *key_bytes,
                               uint32_t count, uint64_t *gone, struct kvc_index_stats *stats);

/* Re-points or removes, for each move in order, the entry of its bucket that points to `from`; where there is
 * none, or no such bucket, nothing happens. Returns how many entries were changed. Times are left alone. */
uint64_t kvc_bluecache_index_move(struct kvc_index *index, const struct kvc_bluecache_move *moves,
                                  uint32_t count);

/* True while an entry of the bucket of `position` points to `pointer`. */
bool kvc_bluecache_index_points(const struct kvc_index *index, uint64_t position, uint64_t pointer);

/* Fetches the line of an entry ahead of kvc_bluecache_index_points or _move. */
void kvc_bluecache_index_prefetch(const struct kvc_index *index, uint64_t position);

/* The bucket of a hash times 4: the first of the positions that its key may have. */
uint64_t kvc_bluecache_index_home(const struct kvc_index *index, uint64_t hash);

/* The time now, and setting it (after a restart). */
uint32_t kvc_bluecache_index_clock(const struct kvc_index *index);
void kvc_bluecache_index_set_clock(struct kvc_index *index, uint32_t clock);

/* Copies `count` buckets from `first` on to `out` (64 bytes each), without the entries that point to DRAM. */
void kvc_bluecache_index_save(const struct kvc_index *index, uint64_t first, uint64_t count, void *out);

/* True: an entry with this pointer is to be kept. */
typedef bool kvc_bluecache_keep_fn(void *context, uint64_t pointer);

/* Replaces `count` buckets from `first` on by what `saved` has. Any bytes are allowed: entries that are not
 * valid, point to DRAM, equal another one of their bucket or are refused by `keep` are left out. Buckets
 * beyond the table are ignored. */
void kvc_bluecache_index_load(struct kvc_index *index, uint64_t first, uint64_t count, const void *saved,
                              kvc_bluecache_keep_fn *keep, void *context);

extern const struct kvc_index_kind kvc_bluecache_kind;

#endif

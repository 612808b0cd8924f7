/* BlueCache's key-value store of one node: index cache, DRAM store and flash log wired together.
 *
 * Source: BlueCache, VLDB 10(4) 2016, sec. 3.3 to 3.5. New pairs are written to DRAM; when a slab class is
 * full, the oldest of four random items goes through the write buffer to flash and its index entry follows it
 * there. A get looks into the index and then at one place: DRAM, the write buffer or flash. A hit on flash is
 * not promoted to DRAM, since the paper describes none. A delete, and the set of a key that is already there,
 * only change the index; the old data is left for eviction and reclaim to find dead.
 *
 * Chosen here: a pair whose slab class has no slab, because others took them all, goes straight to the write
 * buffer. With `log_deletes` deletes outlive a crash, which the paper does not ask for.
 *
 * The write policy is write-back. Not modelled: the paper's write-through alternative, its interim table for
 * sets during a checkpoint, batching over DMA and the network. One thread at a time. */
#ifndef KVC_KERNELS_BLUECACHE_STORE_H
#define KVC_KERNELS_BLUECACHE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/bluecache/dram_slab.h"
#include "kernels/bluecache/flash_log.h"
#include "kernels/bluecache/index.h"

struct kvc_bluecache_store;

struct kvc_bluecache_store_params {
    uint64_t index_bytes; /* as kvc_bluecache_index_params */
    uint64_t dram_bytes;  /* as kvc_dram_slab_params */
    struct kvc_flash_medium *medium;
    uint32_t chunk_pages, value_max_bytes, checkpoint_rows; /* as kvc_flash_log_params */
    bool log_deletes;
    uint64_t seed;
};

struct kvc_bluecache_store_stats {
    uint64_t puts, gets, deletes;
    uint64_t dram_hits, buffer_hits, flash_hits, misses;
    uint64_t false_matches; /* misses for which the index had another key's entry */
    uint64_t evicted_keys;  /* that left DRAM for the write buffer */
    uint64_t evicted_dead;  /* victims that no index entry pointed to any more */
    uint64_t bypassed;      /* puts without a place in DRAM */
    uint64_t index_evicted; /* keys that lost their index entry to another one of the bucket */
    uint64_t lines_touched; /* of index and DRAM store */
    uint64_t pages_read, pages_written, chunks_reclaimed, keys_reclaimed;
};

/* What came back after a restart. */
struct kvc_bluecache_store_recovery {
    struct kvc_flash_recovery log;
    uint64_t foreign_records; /* not for an index of this size */
};

void kvc_bluecache_store_free(struct kvc_bluecache_store *store); /* NULL is allowed; DRAM's pairs are lost */

/* kvc_bluecache_store_format or _recover comes next. NULL with errno EINVAL, ENOMEM or ENOSYS (no SHA-1). */
struct kvc_bluecache_store *kvc_bluecache_store_create(const struct kvc_bluecache_store_params *params);

/* Starts empty, erasing the flash. */
void kvc_bluecache_store_format(struct kvc_bluecache_store *store);

/* Starts with what is on flash. The index must have the size it had. */
void kvc_bluecache_store_recover(struct kvc_bluecache_store *store,
                                 struct kvc_bluecache_store_recovery *recovery);

/* Keys of a batch: key i starts at keys + i * stride and has bytes[i] bytes. */
struct kvc_bluecache_keys {
    uint32_t count;
    const uint8_t *keys;
    uint64_t stride;
    const uint8_t *bytes;
};

/* Puts pairs in order. False with errno EINVAL if a value is too large or the store not yet started (nothing
 * is put), EIO if SHA-1 fails. */
bool kvc_bluecache_store_put(struct kvc_bluecache_store *store, const struct kvc_bluecache_keys *keys,
                             const uint8_t *const *value, const uint32_t *value_bytes);

/* Gets values: value_bytes[i] is the length of key i's, or KVC_BLUECACHE_MISS, and min(capacity, length)
 * bytes of it are at out + i * capacity. False with errno EIO if SHA-1 fails. */
#define KVC_BLUECACHE_MISS UINT32_MAX
bool kvc_bluecache_store_get(struct kvc_bluecache_store *store, const struct kvc_bluecache_keys *keys,
                             uint8_t *out, uint32_t capacity, uint32_t *value_bytes);

/* Deletes keys; found[i], if not NULL, tells whether key i was there. False with errno EIO if SHA-1 fails,
 * EINVAL. */
bool kvc_bluecache_store_delete(struct kvc_bluecache_store *store, const struct kvc_bluecache_keys *keys,
                                bool *found);

/* Writes the write buffer to flash; what is in DRAM stays there. False with errno ENOSPC. */
bool kvc_bluecache_store_flush(struct kvc_bluecache_store *store);

/* Saves the index on flash (sec. 3.5). False with errno ENOSPC or EINVAL. */
bool kvc_bluecache_store_checkpoint(struct kvc_bluecache_store *store);

void kvc_bluecache_store_stats(const struct kvc_bluecache_store *store,
                               struct kvc_bluecache_store_stats *stats);

/* Keys that the index holds. */
uint64_t kvc_bluecache_store_used(const struct kvc_bluecache_store *store);

#endif

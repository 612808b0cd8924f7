/** @file
 * BlueCache's key-value store of one node: the index cache, the DRAM store and the flash log combined.
 *
 * Source: BlueCache, VLDB 10(4) 2016, sec. 3.3 to 3.5. New pairs are written to DRAM. When a slab class is
 * full, the oldest of four random items moves through the write buffer to flash, and its index entry is
 * changed accordingly. A get searches the index and then reads one place: DRAM, the write buffer or flash. A
 * hit on flash is not promoted to DRAM, because the paper does not describe that. A delete, and a set of a
 * key that exists, only change the index; eviction and reclaiming later find the old data dead.
 *
 * Two choices are ours. A pair whose slab class has no slab, because other classes took all of them or there
 * is no DRAM store, goes directly to the write buffer. With `log_deletes`, deletes survive a crash, which the
 * paper does not require.
 *
 * A pair is durable once its record is (flash_log.h). A pair in DRAM is not, and a put does not wait for it.
 * A key that was deleted comes back after a crash with its last durable value, unless deletes are logged and
 * the tombstone is durable.
 *
 * The write policy is write-back. Not modelled: the write-through alternative of the paper, its interim table
 * for sets during a checkpoint, and batching over DMA and the network. A store may be used by one thread at a
 * time. */
#ifndef KVC_KERNELS_BLUECACHE_STORE_H
#define KVC_KERNELS_BLUECACHE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/bluecache/dram_slab.h"
#include "kernels/bluecache/flash_log.h"
#include "kernels/bluecache/index.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kvc_bluecache_store;

/** Parameters of a store. */
struct kvc_bluecache_store_params {
    uint64_t index_bytes;            /**< Size of the index; see kvc_bluecache_index_params [bytes]. */
    uint64_t dram_bytes;             /**< Size of the DRAM store, 0 for none; see kvc_dram_slab_params. */
    struct kvc_flash_medium *medium; /**< Flash; not owned. */
    uint32_t chunk_pages;            /**< Pages written at a time; see kvc_flash_log_params. */
    uint32_t value_max_bytes;        /**< Longest value; 0 means KVC_BLUECACHE_VALUE_MAX [bytes]. */
    uint32_t checkpoint_rows;        /**< Rows for each checkpoint; see kvc_flash_log_params. */
    uint32_t parallel_pages; /**< Pages that the medium programs at a time; see kvc_flash_log_params. */
    bool log_deletes;        /**< Deletes are logged, so that they survive a crash. */
    uint64_t seed;           /**< Seed of the random choice of victims. */
    uint32_t slab_bytes;     /**< Size of a slab of the DRAM store; see kvc_dram_slab_params [bytes]. */
};

/** Counters of a store. */
struct kvc_bluecache_store_stats {
    uint64_t puts;             /**< Pairs put. */
    uint64_t gets;             /**< Keys asked for. */
    uint64_t deletes;          /**< Keys deleted, whether they existed or not. */
    uint64_t dram_hits;        /**< Gets served from DRAM. */
    uint64_t buffer_hits;      /**< Gets served from the write buffer. */
    uint64_t flash_hits;       /**< Gets served from flash. */
    uint64_t misses;           /**< Gets that found no value. */
    uint64_t false_matches;    /**< Misses for which the index returned another key's entry. */
    uint64_t evicted_keys;     /**< Keys that moved from DRAM to the write buffer. */
    uint64_t evicted_dead;     /**< Victims that no index entry pointed to. */
    uint64_t bypassed;         /**< Puts that found no place in DRAM. */
    uint64_t index_evicted;    /**< Keys whose index entry was replaced by another key of the bucket. */
    uint64_t lines_touched;    /**< 64-byte lines of the index and the DRAM store that were touched. */
    uint64_t pages_read;       /**< Flash pages read. */
    uint64_t pages_written;    /**< Flash pages written to the log. */
    uint64_t chunks_reclaimed; /**< Reclaimed pages divided by the 128 pages of a chunk. */
    uint64_t keys_reclaimed;   /**< Index entries removed because their page was reclaimed. */
};

/** Result of a restart. */
struct kvc_bluecache_store_recovery {
    struct kvc_flash_recovery log; /**< Recovery of the log on flash. */
    uint64_t foreign_records; /**< Records ignored because they were written for an index of another size. */
};

/** Frees a store. Pairs in DRAM are lost. NULL is allowed. */
void kvc_bluecache_store_free(struct kvc_bluecache_store *store);

/** Creates a store; kvc_bluecache_store_format or kvc_bluecache_store_recover must follow. Returns NULL with
 * errno EINVAL (parameters) or ENOMEM. */
struct kvc_bluecache_store *kvc_bluecache_store_create(const struct kvc_bluecache_store_params *params);

/** Starts an empty store by erasing the flash. */
void kvc_bluecache_store_format(struct kvc_bluecache_store *store);

/** Starts with the contents of the flash. The index must have the same size as before; records for an index
 * of another size are ignored. */
void kvc_bluecache_store_recover(struct kvc_bluecache_store *store,
                                 struct kvc_bluecache_store_recovery *recovery);

/** The keys of a batch. */
struct kvc_bluecache_keys {
    uint32_t count;       /**< Number of keys. */
    const uint8_t *keys;  /**< The keys: key i starts at keys + i * stride. */
    uint64_t stride;      /**< Distance of the keys [bytes]. */
    const uint8_t *bytes; /**< Length of each key [bytes]. */
};

/** Puts pairs in order. Returns false with errno EINVAL, and puts nothing, if a value is too long or the
 * store was not started. */
bool kvc_bluecache_store_put(struct kvc_bluecache_store *store, const struct kvc_bluecache_keys *keys,
                             const uint8_t *const *value, const uint32_t *value_bytes);

/** Length that kvc_bluecache_store_get returns for a key without a value. */
#define KVC_BLUECACHE_MISS UINT32_MAX

/** The place that the index gave to a get for its value. */
enum kvc_bluecache_place {
    KVC_BLUECACHE_IN_NONE,   /**< The index has no such key. */
    KVC_BLUECACHE_IN_DRAM,   /**< The DRAM store. */
    KVC_BLUECACHE_IN_BUFFER, /**< The write buffer. */
    KVC_BLUECACHE_IN_FLASH,  /**< Flash. */
};

/** Reads of a get. */
struct kvc_bluecache_read {
    uint32_t pages; /**< Flash pages read, also for another key's entry. Reads happen in the order of keys. */
    uint8_t place;  /**< enum kvc_bluecache_place. */
};

/** Gets values. value_bytes[i] becomes the length of the value of key i, or KVC_BLUECACHE_MISS. The first
 * min(capacity, length) bytes of the value are at out + i * capacity. `read[i]` receives where the value was
 * looked for and how many pages were read; `read` may be NULL. */
void kvc_bluecache_store_get(struct kvc_bluecache_store *store, const struct kvc_bluecache_keys *keys,
                             uint8_t *out, uint32_t capacity, uint32_t *value_bytes,
                             struct kvc_bluecache_read *read);

/** Gets values like kvc_bluecache_store_get(), but changes nothing: pairs keep their age, and only the pages
 * read are counted. */
void kvc_bluecache_store_peek(struct kvc_bluecache_store *store, const struct kvc_bluecache_keys *keys,
                              uint8_t *out, uint32_t capacity, uint32_t *value_bytes,
                              struct kvc_bluecache_read *read);

/** Deletes keys. found[i] becomes true if the index had key i; `found` may be NULL. Returns false with errno
 * EINVAL if the store was not started. */
bool kvc_bluecache_store_delete(struct kvc_bluecache_store *store, const struct kvc_bluecache_keys *keys,
                                bool *found);

/** Writes the write buffer to flash; pairs in DRAM stay there. Returns false with errno ENOSPC if too few
 * good blocks are left. */
bool kvc_bluecache_store_flush(struct kvc_bluecache_store *store);

/** Saves the index on flash (sec. 3.5). Returns false with errno ENOSPC if too few good blocks are left, or
 * EINVAL if checkpoints are disabled or the store was not started. */
bool kvc_bluecache_store_checkpoint(struct kvc_bluecache_store *store);

/** Copies the counters of a store. */
void kvc_bluecache_store_stats(const struct kvc_bluecache_store *store,
                               struct kvc_bluecache_store_stats *stats);

/** Returns the number of keys in the index. */
uint64_t kvc_bluecache_store_used(const struct kvc_bluecache_store *store);

#ifdef __cplusplus
}
#endif

#endif

/** @file
 * MICA in cache mode: a lossy hash index over circular logs of items, divided into partitions.
 *
 * Source: Lim, Han, Andersen, Kaminsky, "MICA", NSDI 2014, sec. 4.1 (partitions), 4.3.1 (circular log) and
 * 4.3.2 (lossy concurrent index). The store follows the paper in these points:
 *  - The hash of a key picks one of several partitions. Each partition has an index and a log of its own.
 *  - An index bucket is a version and 15 entries, 128 bytes. An entry is a 16-bit tag of the hash and a
 *    48-bit offset into the log, 8 bytes. Bucket, tag and partition come from different bits of the hash.
 *  - A bucket without an empty entry gives up its oldest one, which the offsets tell.
 *  - Items are appended to the log and overwrite its oldest items. The index is not told: an entry whose
 *    offset is further from the tail than the log is long refers to no item any more.
 *  - A SET of a stored key writes the item in place if it fits, else appends it. A deletion clears the entry
 *    and leaves the item to be overwritten.
 *  - Stale entries are cleared little by little as the log advances, before offsets repeat.
 *  - Requests are processed in batches: hash the key and fetch the bucket, then fetch the item, then do the
 *    work.
 *
 * The store differs from the paper in one point: an item never straddles the end of the log, where the paper
 * maps the log twice. The rest of the log is then left unused. An item's header, 16 bytes, has the hash, the
 * lengths of key and value, and the room that the item was given. Key and value are padded to 8 bytes.
 *
 * Not modelled: expiry, the approximation of LRU that appends items again when they are read, and store mode
 * (a lossless index with spare buckets, segregated fits).
 *
 * The store counts the 64-byte lines that it touches: both lines of the bucket, and the lines of each item
 * with an equal tag, which is the right one except for 15 in 65536. That makes 3 for a GET of a small item
 * and 2 for a miss.
 *
 * Threads: one thread at a time writes to a partition. If each partition is used by one thread only, this is
 * the paper's EREW. Any number of threads may read at the same time, which is its CREW: a read is repeated if
 * the bucket's version has changed meanwhile, and is a miss if the log has overwritten the item. Reads check
 * the version in both cases. */
#ifndef KVC_KERNELS_MICA_MICA_H
#define KVC_KERNELS_MICA_MICA_H

#include "kernels/index.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sizes and limits. */
enum {
    KVC_MICA_ENTRIES = 15,         /**< Entries of a bucket, as published. */
    KVC_MICA_OFFSET_BITS = 48,     /**< Bits of an entry's offset, as published. */
    KVC_MICA_HEADER_BYTES = 16,    /**< Size of an item's header [bytes]. */
    KVC_MICA_KEY_MAX = 255,        /**< Longest key [bytes]. */
    KVC_MICA_ITEM_MAX = 1 << 20,   /**< Largest item: header, key and value, padded [bytes]. */
    KVC_MICA_PARTITIONS_MAX = 256, /**< Most partitions. */
};

/** Size of the value of a key that is not stored. */
#define KVC_MICA_NONE 0xffffffffu

/** Parameters of a store. */
struct kvc_mica_params {
    uint32_t partitions; /**< Number of partitions, 1 to 256; 0: 1. */
    uint32_t buckets;    /**< Buckets of a partition, 1 or more. */
    uint32_t entries;    /**< Entries of a bucket: 15, or 7 for buckets of one line; 0: 15. */
    /** Size of a partition's log: a power of two, 64 to 2^(offset_bits - 3) [bytes]. */
    uint64_t log_bytes;
    /** Bits of an offset, 9 to 48; 0: 48. With fewer bits offsets repeat sooner, which tests use. */
    uint32_t offset_bits;
    uint64_t seed; /**< Seed of the key hash. */
};

/** The store (opaque). */
struct kvc_mica;

/** The keys of a batch. Key i is the `bytes[i]` bytes at `keys + offset[i]`. */
struct kvc_mica_keys {
    const uint8_t *keys;    /**< The bytes of all keys. */
    const uint32_t *offset; /**< Offset of each key [bytes]. */
    const uint8_t *bytes;   /**< Size of each key, 0 to 255 [bytes]. */
    /** Hash of each key, as MICA's clients send it; NULL: the store computes the hashes. A caller that gives
     * hashes must always give the same hash for the same key. */
    const uint64_t *hash;
};

/** A value to store. */
struct kvc_mica_value {
    const void *data; /**< The value. */
    uint32_t bytes;   /**< Size of the value [bytes]. */
};

/** Buffer for the value of a GET. */
struct kvc_mica_buffer {
    void *data;     /**< Receives the value. */
    uint32_t room;  /**< Size of the buffer; no more of the value is copied [bytes]. */
    uint32_t bytes; /**< Out: size of the whole value, or KVC_MICA_NONE [bytes]. */
};

/** Outcome of a SET. */
enum kvc_mica_outcome {
    KVC_MICA_NEW,      /**< The key is new. */
    KVC_MICA_EVICTED,  /**< The key is new, and another key of its bucket was evicted. */
    KVC_MICA_IN_PLACE, /**< The value of a stored key was replaced in place. */
    KVC_MICA_APPENDED, /**< The value of a stored key was replaced by a new item, which needed more room. */
    KVC_MICA_REFUSED,  /**< The value is too large for an item or for the log; the old value stays. */
};

/** State of the keys that were put into the index: they are live, or the log has overwritten them. Keys that
 * were evicted, erased or replaced are in the statistics of the calls. */
struct kvc_mica_usage {
    uint64_t live;      /**< Entries whose item is in the log. */
    uint64_t stale;     /**< Entries whose item was overwritten. */
    uint64_t forgotten; /**< Stale entries that were cleared or used again since the store was created. */
};

/** Returns the memory of an item in the log [bytes]; sizes may be means. */
double kvc_mica_item_bytes(double key_bytes, double value_bytes);

/** Frees a store; NULL is allowed. */
void kvc_mica_free(struct kvc_mica *store);

/** Creates an empty store. Returns NULL with errno EINVAL (bad parameters) or ENOMEM. */
struct kvc_mica *kvc_mica_create(const struct kvc_mica_params *params);

/** Returns the store through the common index interface, with keys of 8 bytes (the hashes, which are not
 * hashed again) and values of 4 bytes. The index lives as long as the store, and freeing it frees the store.
 */
struct kvc_index *kvc_mica_index(struct kvc_mica *store);

/** Returns the partition of a key with this hash, for callers that give each partition to a thread. */
uint32_t kvc_mica_partition(const struct kvc_mica *store, uint64_t hash);

/** Returns the hash that the store computes for a key. */
uint64_t kvc_mica_hash(const struct kvc_mica *store, const void *key, uint32_t bytes);

/** Copies the value of key i to `value[i].data` and sets `value[i].bytes`. */
void kvc_mica_get(struct kvc_mica *store, const struct kvc_mica_keys *keys, uint32_t count,
                  struct kvc_mica_buffer *value, struct kvc_index_stats *stats);

/** Stores values, in order. `outcome[i]` receives an enum kvc_mica_outcome; `outcome` may be NULL. The
 * statistics count a refusal as dropped. */
void kvc_mica_set(struct kvc_mica *store, const struct kvc_mica_keys *keys,
                  const struct kvc_mica_value *value, uint32_t count, uint8_t *outcome,
                  struct kvc_index_stats *stats);

/** Deletes keys. `erased[i]` tells whether key i was stored before; `erased` may be NULL. */
void kvc_mica_delete(struct kvc_mica *store, const struct kvc_mica_keys *keys, uint32_t count, bool *erased,
                     struct kvc_index_stats *stats);

/** Counts the entries of the whole index. No thread may write meanwhile. */
void kvc_mica_usage(const struct kvc_mica *store, struct kvc_mica_usage *usage);

/** The store as an index kind. It has three partitions, because logs are powers of two and a quarter of the
 * memory is index. */
extern const struct kvc_index_kind kvc_mica_kind;

#ifdef __cplusplus
}
#endif

#endif

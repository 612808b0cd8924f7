/** @file
 * A log of items: each is appended behind the one before it, and the oldest make room for new ones.
 *
 * Source: MICA's circular log (Lim et al., NSDI 2014, sec. 4.3.1), and the logs of stores on flash, which
 * never change what they have written (BlueCache, VLDB 10(4) 2016, sec. 3.4). An item that is replaced or
 * deleted stays as a dead one until it is the oldest; only the index tells the difference.
 *
 * A position is the number of bytes that were appended before an item, paddings included. With pages, an item
 * that fits into one does not cross into the next, and a longer one begins at a page. A location is the
 * number of an item modulo 2^31.
 *
 * Item layout: 8-byte header (key length, value length), key bytes, value bytes; a multiple of 8 bytes. One
 * thread uses a log. */
#ifndef KVC_KERNELS_ITEM_LOG_ITEM_LOG_H
#define KVC_KERNELS_ITEM_LOG_ITEM_LOG_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KVC_ITEM_LOG_HEADER_BYTES = 8 /**< Size of an item's header [bytes]. */ };

/** Parameters of a log. */
struct kvc_item_log_params {
    uint64_t bytes;      /**< Its capacity [bytes]. */
    uint32_t page_bytes; /**< Size of its pages; 0: it has none [bytes]. */
    /** Keeps of each item the hash of its key and its lengths instead of its bytes, for simulations, which
     * need no values. */
    bool compact;
};

struct kvc_item_log;

/** An item. */
struct kvc_item_log_item {
    uint64_t hash;        /**< Hash of its key. */
    uint8_t key_bytes;    /**< Length of its key [bytes]. */
    uint32_t value_bytes; /**< Length of its value [bytes]. */
    const void *key;      /**< Its key; a compact log does not read it. */
    const void *value;    /**< Its value; a compact log does not read it. */
};

/** An item that left the log. The caller must erase its index entry if that still leads to it. */
struct kvc_item_log_evicted {
    uint32_t location; /**< Its location. */
    uint64_t hash;     /**< Hash of its key. */
};

/** Creates an empty log. Returns NULL with errno EINVAL (no capacity) or ENOMEM. */
struct kvc_item_log *kvc_item_log_create(const struct kvc_item_log_params *params);

/** Frees a log; NULL is allowed. */
void kvc_item_log_free(struct kvc_item_log *log);

/** Returns the bytes of an item in a log. */
uint32_t kvc_item_log_item_bytes(uint32_t key_bytes, uint32_t value_bytes);

/** Returns where an item of `bytes` that is appended at a position begins, in a log with such pages, or 0. */
uint64_t kvc_item_log_begin(uint64_t position, uint32_t bytes, uint32_t page_bytes);

/** Evicts the oldest item if an item of these lengths does not fit yet. Returns false if it fits; the log is
 * then ready for kvc_item_log_append(). */
bool kvc_item_log_evict(struct kvc_item_log *log, uint32_t key_bytes, uint32_t value_bytes,
                        struct kvc_item_log_evicted *evicted);

/** Appends an item for which there is room, and returns its location. Returns KVC_LOCATION_NONE if it is
 * larger than the log, or with errno ENOMEM. */
uint32_t kvc_item_log_append(struct kvc_item_log *log, const struct kvc_item_log_item *item);

/** Returns whether a location holds the item of a key. Its value is copied to `value` unless that is NULL or
 * the log is compact. */
bool kvc_item_log_read(const struct kvc_item_log *log, uint32_t location, uint64_t hash, const void *key,
                       uint32_t key_bytes, void *value);

/** Returns the position of the item at a location, or UINT64_MAX if the log has none there. */
uint64_t kvc_item_log_position(const struct kvc_item_log *log, uint32_t location);

/** Returns the position at which the next item begins at the earliest. */
uint64_t kvc_item_log_end(const struct kvc_item_log *log);

/** Returns the number of items in the log, dead ones included. */
uint64_t kvc_item_log_used(const struct kvc_item_log *log);

/** Returns the memory of a log that has held `items` items at a time [bytes]. */
uint64_t kvc_item_log_memory_bytes(const struct kvc_item_log_params *params, double items);

#ifdef __cplusplus
}
#endif

#endif

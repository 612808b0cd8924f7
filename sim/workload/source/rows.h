/** @file
 * The requests that wait for one shard: a growing first-in first-out queue, stored as a struct of arrays. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_ROWS_H
#define KVC_SIM_WORKLOAD_SOURCE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/** Flags for the columns that not every queue keeps. A key's bytes follow from its id unless it comes from a
 * trace. */
enum {
    KVC_ROWS_SIZES = 1, /**< Key and value sizes. */
    KVC_ROWS_KEYS = 2,  /**< The bytes of the keys. */
    KVC_ROWS_SENT = 4,  /**< Send times. */
};

/** Columns of requests: those of a queue, of a batch, or of scratch memory. A column that is not kept is
 * NULL. */
struct kvc_columns {
    uint8_t *op;           /**< enum kvc_op. */
    uint8_t *key_bytes;    /**< Size of the key [bytes]. */
    uint32_t *value_bytes; /**< Size of the value [bytes]. */
    uint8_t *keys;         /**< `key_stride` bytes per key; zero behind the key up to its last word. */
    uint64_t *key_id;      /**< Rank of the key by popularity; for a trace, the hash. */
    uint64_t *hash;        /**< kvc_hash of the key's bytes. */
    double *sent_ns;       /**< Send time [ns]. */
    uint32_t key_stride;   /**< Distance between two keys [bytes], a multiple of 8. */
    bool zero_behind;      /**< Keys must be zero up to `key_stride`, as in a batch. */
};

/** A queue. Rows `head` to `tail` - 1 wait. */
struct kvc_rows {
    struct kvc_columns all; /**< The columns of all rows, in contiguous memory. */
    uint32_t head;          /**< The oldest row. */
    uint32_t tail;          /**< One past the newest row. */
    uint32_t capacity;      /**< Allocated rows. */
    unsigned kept;          /**< KVC_ROWS_... flags. */
};

/** Returns the columns from row `first` on. */
struct kvc_columns kvc_columns_at(const struct kvc_columns *columns, uint32_t first);

/** Resizes columns to `capacity` rows; `kept` selects the optional ones. `key_stride` must be set; before the
 * first call, everything else must be zero. Returns false if memory is short. */
bool kvc_columns_grow(struct kvc_columns *columns, uint32_t capacity, unsigned kept);

/** Frees the columns, not the struct. */
void kvc_columns_free(struct kvc_columns *columns);

/** Initializes an empty queue. */
void kvc_rows_init(struct kvc_rows *rows, uint32_t key_stride, unsigned kept);

/** Frees the memory of a queue, not the struct. */
/** Returns the memory of a queue of requests of fixed sizes that has held `count` of them [bytes]: they move
 * through all of its room. */
double kvc_rows_memory_bytes(uint32_t count);

/** Frees the rows, not the struct. */
void kvc_rows_free(struct kvc_rows *rows);

/** Makes room for `extra` rows at the tail. Returns false if memory is short. */
bool kvc_rows_reserve(struct kvc_rows *rows, uint32_t extra);

/** Returns how many rows wait. */
static inline uint32_t kvc_rows_count(const struct kvc_rows *rows)
{
    return rows->tail - rows->head;
}

#endif

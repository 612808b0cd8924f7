/** @file
 * What the source files of KV-Direct's hash table share: the table itself, addresses, and the accounting of
 * memory accesses. Internal to the table.
 *
 * The table is split by operation. table.c creates and frees it and runs batches; table_get.c, table_put.c,
 * table_delete.c and table_update.c each have one operation; table_index.c has the same operations for the
 * index interface. All of them find a key with table_find.h. What the hot paths share is inlined from these
 * headers. */
#ifndef KVC_KERNELS_KVDIRECT_TABLE_INTERNAL_H
#define KVC_KERNELS_KVDIRECT_TABLE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/index.h"
#include "kernels/kvdirect/bucket.h"
#include "kernels/kvdirect/slab.h"
#include "kernels/kvdirect/table.h"

/** Functions of the hot paths, whose arguments are often constants at the call. */
#define KVC_KVDIRECT_INLINE static inline __attribute__((always_inline))

/** Sizes of the software pipelines and of the format. */
enum {
    /** Operations whose memory is prefetched together. The prefetches are a loop of their own, because their
     * address translations hardly overlap if work lies between them. There are few enough for a core's line
     * fill buffers. */
    KVC_KVDIRECT_TABLE_GROUP = 16,
    /** Size of a pipeline's ring: three groups of keys are in its stages, and a power of two keeps the modulo
     * cheap. */
    KVC_KVDIRECT_TABLE_RING = 4 * KVC_KVDIRECT_TABLE_GROUP,
    /** Metadata of a slab pair: size of the key, unused bytes [bytes]. */
    KVC_KVDIRECT_TABLE_HEADER_BYTES = 2,
    /** Slab type of a chained bucket. */
    KVC_KVDIRECT_TABLE_BUCKET_TYPE = 1,
};

/** The table. */
struct kvc_kvdirect_table {
    struct kvc_index index;                 /**< The index interface; the first member. */
    uint8_t *memory;                        /**< The buckets of the hash index, then the slabs. */
    uint64_t bytes;                         /**< Size of the memory [bytes]. */
    uint64_t buckets;                       /**< Buckets of the hash index. */
    uint32_t inline_bytes;                  /**< Inline threshold [bytes]. */
    uint64_t seed;                          /**< Seed of the key hash. */
    uint64_t pairs;                         /**< Pairs in the table. */
    uint64_t pair_bytes;                    /**< Size of their keys and values [bytes]. */
    uint64_t released;                      /**< Slabs released since the table was created. */
    struct kvc_kvdirect_slab *slab;         /**< The allocator; NULL if the index takes all memory. */
    struct kvc_kvdirect_table_trace *trace; /**< Where accesses are noted; NULL: nowhere. */
    /** Value of `released` + 1 when the daemon last found no slab of a type; 0: never. */
    uint64_t exhausted_at[KVC_KVDIRECT_SLAB_TYPES];
};

/** Appends an access to a trace. */
void kvc_kvdirect_table_add_access(struct kvc_kvdirect_table_trace *trace, uint64_t line, uint32_t bytes,
                                   bool write);

/** Size of the hash index: whole blocks, so that the slabs begin at one [bytes]. */
uint64_t kvc_kvdirect_table_index_bytes(const struct kvc_kvdirect_table_params *params);

/** Allocates a slab, with the daemon's help. Returns KVC_KVDIRECT_SLAB_NONE if there is none, and at once if
 * there was none and no slab has been released since. */
uint32_t kvc_kvdirect_table_allocate(struct kvc_kvdirect_table *table, unsigned type,
                                     struct kvc_kvdirect_slab_stats *stats);

/** Releases a slab. */
void kvc_kvdirect_table_release(struct kvc_kvdirect_table *table, uint32_t granule, unsigned type,
                                struct kvc_kvdirect_slab_stats *stats);

/** Operations of the index interface. */
extern const struct kvc_index_ops kvc_kvdirect_table_index_ops;

/** The smaller of two numbers. */
KVC_KVDIRECT_INLINE uint64_t kvc_kvdirect_least(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

/** The chained bucket at this granule. */
KVC_KVDIRECT_INLINE struct kvc_kvdirect_bucket *kvc_kvdirect_bucket_at(const struct kvc_kvdirect_table *table,
                                                                       uint64_t granule)
{
    return (struct kvc_kvdirect_bucket *)(table->memory + granule * KVC_KVDIRECT_SLAB_GRANULE_BYTES);
}

/** The slab at this granule. */
KVC_KVDIRECT_INLINE uint8_t *kvc_kvdirect_slab_at(const struct kvc_kvdirect_table *table, uint64_t granule)
{
    return table->memory + granule * KVC_KVDIRECT_SLAB_GRANULE_BYTES;
}

/** The bucket of the hash index where the chain of a hash begins. */
KVC_KVDIRECT_INLINE struct kvc_kvdirect_bucket *
kvc_kvdirect_first_bucket(const struct kvc_kvdirect_table *table, uint64_t hash)
{
    return (struct kvc_kvdirect_bucket *)table->memory + kvc_kvdirect_table_bucket_of(hash, table->buckets);
}

/** The 9 bits of a hash that a pointer slot holds. */
KVC_KVDIRECT_INLINE uint32_t kvc_kvdirect_secondary_of(uint64_t hash)
{
    return (uint32_t)(hash >> 55);
}

/** Number of 64-byte lines that hold this many bytes. */
KVC_KVDIRECT_INLINE uint64_t kvc_kvdirect_lines_of(uint32_t bytes)
{
    return (bytes + KVC_KVDIRECT_TABLE_BUCKET_BYTES - 1) / KVC_KVDIRECT_TABLE_BUCKET_BYTES;
}

/** Whether a bucket belongs to the hash index, and not to a chain. */
KVC_KVDIRECT_INLINE bool kvc_kvdirect_in_index(const struct kvc_kvdirect_table *table,
                                               const struct kvc_kvdirect_bucket *bucket)
{
    return (uint64_t)(bucket - (const struct kvc_kvdirect_bucket *)table->memory) < table->buckets;
}

/** Notes an access if the table is traced. */
KVC_KVDIRECT_INLINE void kvc_kvdirect_note(const struct kvc_kvdirect_table *table, const void *start,
                                           uint32_t bytes, bool write)
{
    if (__builtin_expect(table->trace != NULL, 0)) {
        uint64_t offset = (uint64_t)((const uint8_t *)start - table->memory);
        kvc_kvdirect_table_add_access(table->trace, offset / KVC_KVDIRECT_TABLE_BUCKET_BYTES, bytes, write);
    }
}

/** Counts the read of a bucket, which belongs to the hash index or to a chain. */
KVC_KVDIRECT_INLINE void kvc_kvdirect_count_read(const struct kvc_kvdirect_table *table,
                                                 const struct kvc_kvdirect_bucket *bucket, bool index,
                                                 struct kvc_kvdirect_table_counts *counts)
{
    kvc_kvdirect_note(table, bucket, KVC_KVDIRECT_TABLE_BUCKET_BYTES, false);
    counts->index_reads += index;
    counts->chain_reads += !index;
    counts->lines++;
}

/** Stores a bucket's metadata and counts the write of its line. */
KVC_KVDIRECT_INLINE void kvc_kvdirect_write_bucket(const struct kvc_kvdirect_table *table,
                                                   struct kvc_kvdirect_bucket *bucket,
                                                   const struct kvc_kvdirect_bucket_meta *meta,
                                                   struct kvc_kvdirect_table_counts *counts)
{
    kvc_kvdirect_bucket_store_meta(bucket, meta);
    kvc_kvdirect_note(table, bucket, KVC_KVDIRECT_TABLE_BUCKET_BYTES, true);
    bool index = kvc_kvdirect_in_index(table, bucket);
    counts->index_writes += index;
    counts->chain_writes += !index;
}

/** Counts the write of a pair in a slab, metadata included. */
KVC_KVDIRECT_INLINE void kvc_kvdirect_count_slab_write(const struct kvc_kvdirect_table *table,
                                                       const uint8_t *slab, uint32_t used,
                                                       struct kvc_kvdirect_table_counts *counts)
{
    kvc_kvdirect_note(table, slab, used, true);
    counts->slab_writes++;
    counts->slab_lines_written += kvc_kvdirect_lines_of(used);
}

#endif

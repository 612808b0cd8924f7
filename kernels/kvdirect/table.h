/** @file
 * KV-Direct's hash table: chained 64-byte buckets that hold small pairs inline and point to slabs for others.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.1 (fig. 5), 3.3.2, 5.1.1 and 5.2.1. One block of memory holds the
 * hash index, which is a fixed number of buckets (table_internal.h), and behind it the slabs (slab.h).
 *  - A pair is a key and its value. A pair of at most the inline threshold lies in consecutive slots of a
 *    bucket. A larger pair lies in a slab of the next power of two, behind 2 bytes of metadata; its slot
 * holds a pointer to the slab and 9 more bits of the key's hash. The key itself is always compared.
 *  - A bucket without room gets a chained bucket, which is a slab of 64 bytes.
 *  - The table counts what an operation moves between the processor and memory in two units: memory accesses,
 *    as the paper does (a bucket or a slab of any size is one DMA operation), and 64-byte lines. In a bucket
 *    without a chain, GET takes 1 access, PUT and DELETE take 2 (a read and a write); a pair in a slab takes
 * 1 more.
 *  - Update functions work on a value of 8 bytes (table 1, scalar to scalar: fetch-and-add and
 *    compare-and-swap) or on a value of any size (table 1, vectors: a function of the caller's).
 *
 * The paper leaves some choices open. A new pair goes to the first bucket of its chain with room. Slots are
 * moved together within a bucket when its free slots are not consecutive, because the line is written whole
 * in any case. A pair that changes its size stays in its bucket if it fits there. A chained bucket that
 * becomes empty is unlinked. The metadata of a slab pair are the size of the key and the number of unused
 * bytes. A PUT that overwrites a pair in a slab of the same size does not write the bucket. A PUT that finds
 * no memory changes nothing.
 *
 * The daemon of the slab allocator runs when an allocation fails, and when kvc_kvdirect_table_daemon is
 * called.
 *
 * Not modelled: the out-of-order engine (the operations of a batch take effect in their order), the NIC's
 * DRAM cache, DMA latency, and what the functions of APPLY compute.
 *
 * Threads: one thread uses a table. Any number of threads may search it through kvc_kvdirect_table_index at
 * the same time while no thread changes it. */
#ifndef KVC_KERNELS_KVDIRECT_TABLE_H
#define KVC_KERNELS_KVDIRECT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/index.h"
#include "kernels/kvdirect/slab.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sizes that the published format fixes. */
enum {
    KVC_KVDIRECT_TABLE_BUCKET_BYTES = 64, /**< Size of a bucket [bytes]. */
    KVC_KVDIRECT_TABLE_INLINE_MAX = 50,   /**< Largest inline pair: all slots of a bucket [bytes]. */
    KVC_KVDIRECT_TABLE_KEY_MAX = 255,     /**< Longest key [bytes]. */
    KVC_KVDIRECT_TABLE_PAIR_MAX = 510,    /**< Largest pair: the largest slab without its metadata [bytes]. */
};

/** Parameters of a table. */
struct kvc_kvdirect_table_params {
    /** Memory for index and slabs, 1 KiB to 64 GiB, a multiple of 512 [bytes]. */
    uint64_t bytes;
    /** Share of the memory that is hash index, above 0 and up to 1. It is rounded to whole 512 bytes, and is
     * at least one of these. */
    double hash_index_frac;
    /** Inline threshold: pairs up to this size are inline, 0 to KVC_KVDIRECT_TABLE_INLINE_MAX [bytes]. */
    uint32_t inline_bytes;
    /** Seed of the key hash. */
    uint64_t seed;
};

/** Kind of an operation. */
enum kvc_kvdirect_table_verb {
    KVC_KVDIRECT_TABLE_GET,    /**< Copies the value to the caller. */
    KVC_KVDIRECT_TABLE_PUT,    /**< Inserts a pair or overwrites its value. */
    KVC_KVDIRECT_TABLE_DELETE, /**< Removes a pair. */
    KVC_KVDIRECT_TABLE_ADD,    /**< Fetch-and-add on a value of 8 bytes, modulo 2^64. */
    KVC_KVDIRECT_TABLE_SWAP,   /**< Compare-and-swap on a value of 8 bytes. */
    KVC_KVDIRECT_TABLE_APPLY,  /**< Calls a function on the value where it lies. */
};

/** Outcome of an operation. */
enum kvc_kvdirect_table_result {
    KVC_KVDIRECT_TABLE_OK,      /**< The operation succeeded. */
    KVC_KVDIRECT_TABLE_ABSENT,  /**< The key is not in the table. */
    KVC_KVDIRECT_TABLE_FULL,    /**< PUT: there is no memory; the table is unchanged. */
    KVC_KVDIRECT_TABLE_UNEQUAL, /**< SWAP: the value is not the expected one. ADD, SWAP: it is not 8 bytes. */
    /** GET: the value exceeds the room; nothing is copied. PUT: the key is empty or the pair too large. */
    KVC_KVDIRECT_TABLE_SIZE,
};

/** One operation. */
struct kvc_kvdirect_table_op {
    const void *key;      /**< The key's bytes. */
    uint8_t key_bytes;    /**< Size of the key, 1 to 255 [bytes]. */
    uint8_t verb;         /**< Operation, an enum kvc_kvdirect_table_verb. */
    uint8_t result;       /**< Out: an enum kvc_kvdirect_table_result. */
    uint16_t value_bytes; /**< PUT: size of the value. GET: room for it; out: its size if found [bytes]. */
    void *value;          /**< PUT reads it, GET writes it. It may be NULL for 0 bytes. */
    uint64_t operand;     /**< ADD: the summand. SWAP: the new value. */
    uint64_t expected;    /**< SWAP: the value that is replaced. */
    uint64_t original;    /**< ADD, SWAP: out: the value before. */
    /** APPLY: the function, which may change the value's bytes but not their number. It returns true if it
     * has changed them. */
    bool (*apply)(void *data, uint8_t *value, uint32_t bytes);
    void *data; /**< APPLY: first argument of the function. */
};

/** Memory accesses of one class of operations. A read or written slab is one access, whatever its size. */
struct kvc_kvdirect_table_counts {
    uint64_t operations;         /**< Operations run. */
    uint64_t found;              /**< Operations whose key was there. */
    uint64_t index_reads;        /**< Buckets of the hash index that were read. */
    uint64_t index_writes;       /**< Buckets of the hash index that were written. */
    uint64_t chain_reads;        /**< Chained buckets that were read. */
    uint64_t chain_writes;       /**< Chained buckets that were written. */
    uint64_t slab_reads;         /**< Pairs in slabs that were read. */
    uint64_t slab_writes;        /**< Pairs in slabs that were written. */
    uint64_t slab_lines_read;    /**< 64-byte lines of the pairs read from slabs. */
    uint64_t slab_lines_written; /**< 64-byte lines of the pairs written to slabs. */
    uint64_t lines;              /**< Different 64-byte lines that were read or written. */
};

/** Statistics of a table. Calls add to them. */
struct kvc_kvdirect_table_stats {
    struct kvc_kvdirect_table_counts get;    /**< GET. */
    struct kvc_kvdirect_table_counts put;    /**< PUT. */
    struct kvc_kvdirect_table_counts erase;  /**< DELETE. */
    struct kvc_kvdirect_table_counts update; /**< ADD, SWAP and APPLY. */
    /** Slabs read for another key: the slot's 9 bits of the hash were equal, but the key was not. */
    uint64_t false_matches;
    uint64_t full; /**< PUTs that failed because there was no memory. */
    /** The slab allocator's statistics. Its own DMA is not in the counts above. */
    struct kvc_kvdirect_slab_stats slab;
};

/** Memory accesses in total. */
static inline uint64_t kvc_kvdirect_table_accesses(const struct kvc_kvdirect_table_counts *counts)
{
    return counts->index_reads + counts->index_writes + counts->chain_reads + counts->chain_writes +
           counts->slab_reads + counts->slab_writes;
}

/** One memory access of an operation: a bucket, or a slab of any size. */
struct kvc_kvdirect_table_access {
    uint32_t line;      /**< Number of the 64-byte line of the table's memory in which the access starts. */
    uint16_t bytes;     /**< Bytes moved. */
    bool write;         /**< Whether it is a write. */
    uint32_t operation; /**< Number of the operation within the call, from 0. */
};

/** The accesses of operations, in order. Calls append to it. A zeroed struct is an empty trace. */
struct kvc_kvdirect_table_trace {
    struct kvc_kvdirect_table_access *access; /**< The accesses. The caller passes the array to free(). */
    uint32_t count;                           /**< Accesses in the array. */
    uint32_t capacity;                        /**< Accesses that the array has room for. */
    uint32_t operation;                       /**< Number of the operation that is being run. */
    bool short_of_memory;                     /**< The array could not grow, so some accesses are missing. */
};

/** The table (opaque). */
struct kvc_kvdirect_table;

/** Frees a table; NULL is allowed. */
void kvc_kvdirect_table_free(struct kvc_kvdirect_table *table);

/** Creates an empty table. Returns NULL with errno EINVAL (bad parameters) or ENOMEM. */
struct kvc_kvdirect_table *kvc_kvdirect_table_create(const struct kvc_kvdirect_table_params *params);

/** Runs operations in their order and adds to the statistics. The run is software-pipelined; batches of 32
 * and more operations work best. */
void kvc_kvdirect_table_run(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                            uint32_t count, struct kvc_kvdirect_table_stats *stats);

/** Prefetches the first buckets of keys, for a caller that knows them long before it runs their operations
 * one by one. A hash is kvc_hash() of a key with the table's seed. */
void kvc_kvdirect_table_prefetch(const struct kvc_kvdirect_table *table, const uint64_t *hash,
                                 uint32_t count);

/** Runs one operation on a key whose hash with the table's seed is known. Calls of
 * kvc_kvdirect_table_prefetch may have fetched its line. */
void kvc_kvdirect_table_run_hashed(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                                   uint64_t hash, struct kvc_kvdirect_table_stats *stats);

/** Makes these calls append every access to a trace from now on; NULL ends tracing. A slab is
 * traced as read whole, because its slot does not tell how many of its bytes are used. */
void kvc_kvdirect_table_set_trace(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_trace *trace);

/** Runs the slab allocator's daemon, see kvc_kvdirect_slab_daemon. Returns true if there are no slabs. */
bool kvc_kvdirect_table_daemon(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_stats *stats);

/** Returns the number of pairs in the table. */
uint64_t kvc_kvdirect_table_pairs(const struct kvc_kvdirect_table *table);

/** Returns the size of all keys and values in the table [bytes]. */
uint64_t kvc_kvdirect_table_pair_bytes(const struct kvc_kvdirect_table *table);

/** Memory of index and slabs [bytes]. */
uint64_t kvc_kvdirect_table_bytes(const struct kvc_kvdirect_table *table);

/** Memory in free slabs [bytes]. */
uint64_t kvc_kvdirect_table_free_slab_bytes(const struct kvc_kvdirect_table *table);

/** Returns the number of buckets of the hash index. */
uint64_t kvc_kvdirect_table_index_buckets(const struct kvc_kvdirect_table *table);

/** Returns the number of buckets that the hash index of a table with these parameters would have. */
uint64_t kvc_kvdirect_table_index_buckets_of(const struct kvc_kvdirect_table_params *params);

/** Returns the number of the bucket, below `buckets`, where the chain of a key begins. `hash` is kvc_hash()
 * of the key with the table's seed. The index is the beginning of the table's memory, so this is also the
 * number of its 64-byte line. */
static inline uint64_t kvc_kvdirect_table_bucket_of(uint64_t hash, uint64_t buckets)
{
    return (hash & UINT32_MAX) * buckets >> 32;
}

/** Returns the most pairs of this size that fit if the hash spreads them perfectly and no slot stays empty.
 * Inline pairs may fill as many chained buckets as the slabs allow; larger pairs use slots and slabs in the
 * best proportion that this index allows. Returns 0 for a size that does not fit at all. */
uint64_t kvc_kvdirect_table_capacity(const struct kvc_kvdirect_table *table, uint32_t pair_bytes);

/** Returns the capacity that a table with these parameters would have. */
uint64_t kvc_kvdirect_table_capacity_of(const struct kvc_kvdirect_table_params *params, uint32_t pair_bytes);

/** Returns the table through the common index interface. A hash is the key (8 bytes) as well as its hash
 * value, a location is the value (4 bytes). kvc_kvdirect_table_run does not find these pairs, nor does the
 * index find pairs put by it, because the two hash a key differently. The index lives as long as the table,
 * and freeing it frees the table. */
struct kvc_index *kvc_kvdirect_table_index(struct kvc_kvdirect_table *table);

/** The table as an index kind. Pairs are inline, and 5/8 of the memory is hash index. */
extern const struct kvc_index_kind kvc_kvdirect_table_kind;

#ifdef __cplusplus
}
#endif

#endif

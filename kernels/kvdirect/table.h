/* KV-Direct's hash table: chained 64-byte buckets, small pairs inline, others in slabs.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.1 (fig. 5), 3.3.2, 5.1.1 and 5.2.1. One memory holds the hash
 * index, a fixed number of buckets (bucket.h), and behind it the slabs (slab.h).
 *  - A pair (key and value together) of at most the inline threshold lies in consecutive slots of a bucket;
 *    a larger one in a slab of the next power of two, behind 2 bytes of metadata, with a slot that points to
 *    it and holds 9 more bits of the key's hash. The key itself is always compared.
 *  - A bucket that has no room gets a chained bucket from a slab of 64 bytes.
 *  - What an operation moves between the processor and memory is counted as the paper counts it, in memory
 *    accesses (a bucket, or a slab of any size, is one DMA operation), and in 64-byte lines. In a bucket
 *    without chain: GET 1, PUT and DELETE 2 (read and write); 1 more for a pair in a slab.
 *  - Update functions on a value of 8 bytes: fetch-and-add, compare-and-swap (table 1, scalar to scalar); any
 *    function on a value of any size (table 1, vectors).
 *
 * Choices where the paper is silent: a new pair goes to the first bucket of its chain with room; slots within
 * a bucket are moved together when its free ones do not follow each other (the line is written whole in any
 * case); a new size of a pair stays in its bucket if it can; a chained bucket that becomes empty is unlinked;
 * metadata of a slab pair: key size, and bytes of the slab that are not used. A PUT that overwrites a pair in
 * a slab of the same size does not write the bucket. A PUT that finds no memory changes nothing.
 *
 * The daemon of the slab allocator runs when an allocation fails, and when kvc_kvdirect_table_daemon is
 * called.
 *
 * Not modelled: the out-of-order engine (operations of a batch take effect in their order), the NIC's DRAM
 * cache, DMA latency, what functions of APPLY compute.
 *
 * Threads: one, or any number of them that only search the index. */
#ifndef KVC_KERNELS_KVDIRECT_TABLE_H
#define KVC_KERNELS_KVDIRECT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/index.h"
#include "kernels/kvdirect/slab.h"

enum {
    KVC_KVDIRECT_TABLE_BUCKET_BYTES = 64,
    KVC_KVDIRECT_TABLE_INLINE_MAX = 50, /* bytes: all slots of a bucket */
    KVC_KVDIRECT_TABLE_KEY_MAX = 255,   /* bytes */
    KVC_KVDIRECT_TABLE_PAIR_MAX = 510,  /* bytes of key and value: the largest slab less its metadata */
};

struct kvc_kvdirect_table_params {
    uint64_t bytes;         /* index and slabs, 1 KiB .. 64 GiB, a multiple of 512 */
    double hash_index_frac; /* of `bytes`, above 0 .. 1; rounded to whole 512 bytes, at least one */
    uint32_t inline_bytes;  /* threshold: pairs up to it are inline, 0 .. KVC_KVDIRECT_TABLE_INLINE_MAX */
    uint64_t seed;          /* of the key hash */
};

enum kvc_kvdirect_table_verb {
    KVC_KVDIRECT_TABLE_GET,
    KVC_KVDIRECT_TABLE_PUT,
    KVC_KVDIRECT_TABLE_DELETE,
    KVC_KVDIRECT_TABLE_ADD,   /* fetch-and-add, modulo 2^64 */
    KVC_KVDIRECT_TABLE_SWAP,  /* compare-and-swap */
    KVC_KVDIRECT_TABLE_APPLY, /* a function of the caller's on the value, where it lies */
};

enum kvc_kvdirect_table_result {
    KVC_KVDIRECT_TABLE_OK,
    KVC_KVDIRECT_TABLE_ABSENT,  /* no such key */
    KVC_KVDIRECT_TABLE_FULL,    /* PUT: no memory; the table is as it was */
    KVC_KVDIRECT_TABLE_UNEQUAL, /* SWAP: another value than expected; ADD, SWAP: the value has not 8 bytes */
    KVC_KVDIRECT_TABLE_SIZE, /* GET: the value does not fit, nothing copied; PUT: no key, or too large a pair
                              */
};

/* One operation. */
struct kvc_kvdirect_table_op {
    const void *key;
    uint8_t key_bytes;    /* 1 .. 255 */
    uint8_t verb;         /* enum kvc_kvdirect_table_verb */
    uint8_t result;       /* out: enum kvc_kvdirect_table_result */
    uint16_t value_bytes; /* PUT: of the value; GET: room for it, out: its size if found */
    void *value;          /* PUT: read; GET: written. May be NULL for 0 bytes */
    uint64_t operand;     /* ADD: summand; SWAP: new value */
    uint64_t expected;    /* SWAP */
    uint64_t original;    /* ADD, SWAP: out: the value before */
    bool (*apply)(void *data, uint8_t *value, uint32_t bytes); /* APPLY: true: it has changed the value */
    void *data;
};

/* Memory accesses of one sort of operation. */
struct kvc_kvdirect_table_counts {
    uint64_t operations;
    uint64_t found;                     /* their key was there */
    uint64_t index_reads, index_writes; /* buckets of the hash index */
    uint64_t chain_reads, chain_writes; /* chained buckets */
    uint64_t slab_reads, slab_writes;   /* pairs in slabs, each one DMA operation */
    uint64_t slab_lines_read, slab_lines_written;
    uint64_t lines; /* different 64-byte lines, read or written */
};

/* Calls add to it. */
struct kvc_kvdirect_table_stats {
    struct kvc_kvdirect_table_counts get, put, erase, update; /* erase: DELETE; update: ADD, SWAP, APPLY */
    uint64_t false_matches;              /* secondary hash equal, key different: a slab read in vain */
    uint64_t full;                       /* PUTs that failed for want of memory */
    struct kvc_kvdirect_slab_stats slab; /* the allocator's own DMA is not in the counts above */
};

static inline uint64_t kvc_kvdirect_table_accesses(const struct kvc_kvdirect_table_counts *counts)
{
    return counts->index_reads + counts->index_writes + counts->chain_reads + counts->chain_writes +
           counts->slab_reads + counts->slab_writes;
}

/* One memory access of an operation: a bucket, or a slab of any size. */
struct kvc_kvdirect_table_access {
    uint32_t line; /* 64-byte line of the table's memory in which it starts */
    uint16_t bytes;
    bool write;
    uint32_t operation; /* of the call's, from 0 */
};

/* The accesses of operations, in order; calls add to it. A zeroed struct is empty, `access` is the caller's
 * to free. */
struct kvc_kvdirect_table_trace {
    struct kvc_kvdirect_table_access *access;
    uint32_t count, capacity;
    uint32_t operation;   /* that is being run */
    bool short_of_memory; /* some accesses are missing */
};

struct kvc_kvdirect_table;

void kvc_kvdirect_table_free(struct kvc_kvdirect_table *table); /* NULL is allowed */

/* NULL with errno EINVAL (params) or ENOMEM. */
struct kvc_kvdirect_table *kvc_kvdirect_table_create(const struct kvc_kvdirect_table_params *params);

/* Runs operations in their order, software-pipelined: best with 32 and more. */
void kvc_kvdirect_table_run(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                            uint32_t count, struct kvc_kvdirect_table_stats *stats);

/* From now on kvc_kvdirect_table_run notes what it reads and writes; NULL: no longer. A slab is read whole,
 * for its slot does not tell how much of it is used. */
void kvc_kvdirect_table_trace(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_trace *trace);

/* The slab allocator's daemon, see kvc_kvdirect_slab_daemon. True where there are no slabs. */
bool kvc_kvdirect_table_daemon(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_stats *stats);

uint64_t kvc_kvdirect_table_pairs(const struct kvc_kvdirect_table *table);      /* held now */
uint64_t kvc_kvdirect_table_pair_bytes(const struct kvc_kvdirect_table *table); /* their keys and values */
uint64_t kvc_kvdirect_table_bytes(const struct kvc_kvdirect_table *table);      /* index and slabs */
uint64_t kvc_kvdirect_table_free_slab_bytes(const struct kvc_kvdirect_table *table);
uint64_t kvc_kvdirect_table_index_buckets(const struct kvc_kvdirect_table *table);

/* Most pairs of this size that fit, were there no gap and no chance in the hash: as many chained buckets as
 * inline pairs need, or slots and slabs in the best proportion that this index allows. 0: too large. */
uint64_t kvc_kvdirect_table_capacity(const struct kvc_kvdirect_table *table, uint32_t pair_bytes);

/* The same of a table that is not there yet. */
uint64_t kvc_kvdirect_table_capacity_of(const struct kvc_kvdirect_table_params *params, uint32_t pair_bytes);

/* The same table as an index: the hash is key (8 bytes) and hash value, the location is the value (4 bytes).
 * Its pairs are not found by kvc_kvdirect_table_run, and the other way round. Freed with the table. */
struct kvc_index *kvc_kvdirect_table_index(struct kvc_kvdirect_table *table);

extern const struct kvc_index_kind
    kvc_kvdirect_table_kind; /* inline pairs; 5/8 of the memory are the index */

#endif

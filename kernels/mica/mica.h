/* MICA in cache mode: a lossy hash index over circular logs of items, in partitions.
 *
 * Source: Lim, Han, Andersen, Kaminsky, "MICA", NSDI 2014, sec. 4.1 (partitions), 4.3.1 (circular log), 4.3.2
 * (lossy concurrent index). What the paper says and this store does:
 *  - the hash of a key picks one of several partitions, each with an index and a log of its own;
 *  - an index bucket is a version and 15 entries, 128 bytes; an entry is a 16-bit tag of the hash and a
 *    48-bit offset into the log, 8 bytes. Bucket, tag and partition come from different bits of the hash;
 *  - a bucket without an empty entry gives up its oldest one, which the offsets tell;
 *  - items are appended to the log, which overwrites its oldest ones; the index is not told: an entry whose
 *    offset is further from the tail than the log is long is of no item any more;
 *  - a SET of a stored key writes the item in place where it fits, else appends it; a deletion clears the
 *    entry and leaves the item to be overwritten;
 *  - stale entries are cleared little by little as the log advances, before offsets come round again;
 *  - requests are processed in batches: hash and fetch the bucket, then fetch the item, then do the work.
 *
 * Differs: an item never straddles the end of the log, where the paper maps the log twice; the rest of the
 * log is left unused then. An item's header, 16 bytes, has the hash, the lengths of key and value and the
 * room that the item was given; key and value are padded to 8 bytes.
 *
 * Not modelled: expiry, the approximation of LRU that appends items again when they are read, store mode (a
 * lossless index with spare buckets, segregated fits).
 *
 * Lines touched (64 bytes): both lines of the bucket, and those of each item with an equal tag, which is the
 * right one but for 15 in 65536; so 3 for a GET of a small item, 2 for a miss.
 *
 * Threads: one thread at a time writes to a partition. With each partition left to one thread this is the
 * paper's EREW. Any number of threads may read at the same time, its CREW: a read is repeated where the
 * bucket's version changed meanwhile, and is a miss where the log has overwritten the item. Either way reads
 * check the version. */
#ifndef KVC_KERNELS_MICA_MICA_H
#define KVC_KERNELS_MICA_MICA_H

#include "kernels/index.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    KVC_MICA_ENTRIES = 15, /* of a bucket, as published */
    KVC_MICA_OFFSET_BITS = 48,
    KVC_MICA_HEADER_BYTES = 16,
    KVC_MICA_KEY_MAX = 255,      /* bytes */
    KVC_MICA_ITEM_MAX = 1 << 20, /* bytes of header, key and value, padded */
    KVC_MICA_PARTITIONS_MAX = 256,
};

/* Bytes of the value of a key that is not stored. */
#define KVC_MICA_NONE 0xffffffffu

struct kvc_mica_params {
    uint32_t partitions;  /* 1 .. 256; 0: 1 */
    uint32_t buckets;     /* of a partition, 1 or more */
    uint32_t entries;     /* of a bucket: 15, or 7 for buckets of one line; 0: 15 */
    uint64_t log_bytes;   /* of a partition, a power of two, 64 .. 2^(offset_bits - 3) */
    uint32_t offset_bits; /* 9 .. 48; 0: 48. Fewer make the log's offsets come round sooner, for tests */
    uint64_t seed;        /* of the hash */
};

struct kvc_mica;

/* Key i is the bytes[i] bytes (0 .. 255) at keys + offset[i]. hash[i] is its hash, as MICA's clients send it;
 * NULL: they are computed. Those who give hashes give the same ones for the same key ever after. */
struct kvc_mica_keys {
    const uint8_t *keys;
    const uint32_t *offset;
    const uint8_t *bytes;
    const uint64_t *hash;
};

struct kvc_mica_value {
    const void *data;
    uint32_t bytes;
};

/* Where a GET puts a value. */
struct kvc_mica_buffer {
    void *data;
    uint32_t room;  /* bytes at `data`; no more are written */
    uint32_t bytes; /* set: of the value, or KVC_MICA_NONE */
};

enum kvc_mica_outcome {
    KVC_MICA_NEW,
    KVC_MICA_EVICTED, /* new, and another key of the bucket had to go */
    KVC_MICA_IN_PLACE,
    KVC_MICA_APPENDED, /* replaced, by an item that needed more room */
    KVC_MICA_REFUSED,  /* too large for an item or for the log; what the key had is as before */
};

/* Where the elements are that were put into the index: in it, or overwritten in the log. Those that were
 * evicted, erased or replaced are in the statistics of the calls. */
struct kvc_mica_usage {
    uint64_t live;      /* entries of items that are there */
    uint64_t stale;     /* entries of items that were overwritten */
    uint64_t forgotten; /* stale entries ever cleared or used again */
};

void kvc_mica_free(struct kvc_mica *store); /* NULL is allowed */

/* NULL with errno EINVAL (params) or ENOMEM. */
struct kvc_mica *kvc_mica_create(const struct kvc_mica_params *params);

/* The store as an index of 8-byte keys (the hashes, which are not hashed again) and 4-byte values. It lives
 * as long as the store, and freeing it frees the store. */
struct kvc_index *kvc_mica_index(struct kvc_mica *store);

/* The partition of a key with this hash, for those who give each to a thread. */
uint32_t kvc_mica_partition(const struct kvc_mica *store, uint64_t hash);

/* The hash that the store computes. */
uint64_t kvc_mica_hash(const struct kvc_mica *store, const void *key, uint32_t bytes);

/* Copies the values of keys to value[i].data. */
void kvc_mica_get(struct kvc_mica *store, const struct kvc_mica_keys *keys, uint32_t count,
                  struct kvc_mica_buffer *value, struct kvc_index_stats *stats);

/* Stores values in order; outcome[i] is an enum kvc_mica_outcome. `outcome` may be NULL. stats->dropped
 * counts refusals. */
void kvc_mica_set(struct kvc_mica *store, const struct kvc_mica_keys *keys,
                  const struct kvc_mica_value *value, uint32_t count, uint8_t *outcome,
                  struct kvc_index_stats *stats);

/* erased[i] = key i was stored and is no more. `erased` may be NULL. */
void kvc_mica_delete(struct kvc_mica *store, const struct kvc_mica_keys *keys, uint32_t count, bool *erased,
                     struct kvc_index_stats *stats);

/* Looks at the whole index. No thread may write meanwhile. */
void kvc_mica_usage(const struct kvc_mica *store, struct kvc_mica_usage *usage);

/* Three partitions: logs are powers of two, and a quarter of the memory is index. */
extern const struct kvc_index_kind kvc_mica_kind;

#ifdef __cplusplus
}
#endif

#endif

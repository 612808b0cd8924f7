/** @file
 * MemcachedGPU's set-associative hash table: keys lie beside the index, values elsewhere, and each set evicts
 * its least recently used entry.
 *
 * Source: Hetherington, O'Connor, Aamodt, "MemcachedGPU", SoCC 2015, sec. 4.2. This table follows the paper:
 *   - There is a fixed number of sets, of 16 ways unless fewer are asked for (the paper's figure 2 varies
 * them).
 *   - An entry is a header and the key, in a slot for the longest key allowed.
 *   - A header has a valid flag, the timestamp of the last access, the lengths of key and value, an 8-bit
 * hash of the key and a pointer to the item in CPU memory, which is a 32-bit location here.
 *   - A search compares the 8-bit hashes first and whole keys only where those are equal.
 *   - A SET takes the entry of an equal key, else a free one (here the lowest), else the least recently used
 * entry of the set (here the lowest of equally old ones).
 *   - GETs write nothing but the timestamp, the same one for a whole batch; each SET has a timestamp of its
 * own.
 *   - Each set has a lock, which readers share and writers take exclusively.
 *   - An evicted item is returned with its timestamp, so that the caller can wait for the GETs that saw it
 * (sec. 4.3).
 *
 * The lookup3 hash selects the set and gives the 8-bit hash.
 *
 * A set is one control line followed by its entries, one per way. The control line has what a search needs
 * first: the lock, the valid flags and the 8-bit key hashes (tags) of all ways. An entry is a header
 * (last-accessed timestamp, item location, value length, flags, key length) and the key.
 *
 * MemcachedGPU (SoCC 2015, sec. 4.2.1) has the valid flag and the tag in each entry's header, so a search
 * goes from header to header. Gathering them changes no result. A GET touches these 64-byte lines:
 *  - A miss touches 1, plus the header line of each way with an equal tag (16/256 on average in a full set).
 *  - A hit with a key of up to 48 bytes touches 2, plus the header lines of ways in front of it with an equal
 *    tag (half as many).
 *  - Every further 64 bytes of key add 1.
 *
 * The paper's layout touches no fewer lines: the headers up to the one that matches, or all of them for a
 * miss. A SET touches the same lines. If a full set must evict, a SET also touches the headers of all
 * entries, because that is where the timestamps are, as published.
 *
 * The price is memory. With its share of the control line, an entry takes 324 bytes for keys of up to 250
 * bytes and 68 bytes for keys of up to 32 bytes. The paper's 45 and 208.5 million entries in 11.75 GB amount
 * to 261 and 56 bytes.
 *
 * One thing is added: readers need not take the shared lock. The lock word contains a version, which is odd
 * while a writer holds the set. A reader that finds the version even, and unchanged after reading, has seen
 * no writer, so it reads the set without writing to it. This is the default; `shared_lock` selects the
 * published way. Both give the same results.
 *
 * Not modelled: expiry times, the stall of sec. 4.3 itself, several tables for several key sizes.
 *
 * Threads: any number of threads may search, insert and erase at the same time. What a search returns was in
 * the set at one moment: it never mixes parts of two items.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_H
#define KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_H

#include "kernels/memcachedgpu/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Adds a reader to the lock word, whose low half counts the readers that share the set. */
#define KVC_SET_ASSOC_READER UINT64_C(1)

/** Advances the version in the high half of the lock word, which is odd while a writer holds the set. */
#define KVC_SET_ASSOC_WRITER (UINT64_C(1) << 32)

/** Masks the readers in the lock word. */
#define KVC_SET_ASSOC_READERS (KVC_SET_ASSOC_WRITER - 1)

/** Control line of a set. */
struct kvc_set_assoc_control {
    uint64_t lock;        /**< Lock word. */
    uint32_t valid;       /**< Bit w: way w holds a key. */
    uint32_t unused_1;    /**< Fills the line. */
    uint64_t tag[2];      /**< Byte w, little-endian: tag of way w. */
    uint64_t unused_2[4]; /**< Fills the line. */
};

/** A table, wherever its memory is; kernels take it by value. */
struct kvc_set_assoc_table {
    uint8_t *sets;          /**< Memory of the sets, aligned to 64 bytes. */
    uint32_t set_count;     /**< Number of sets. */
    uint32_t set_bytes;     /**< Size of a set [bytes]. */
    uint32_t entry_bytes;   /**< Size of an entry [bytes]. */
    uint32_t ways;          /**< Entries per set. */
    uint32_t key_bytes_max; /**< Longest key [bytes]. */
};

/** Where a key belongs. */
struct kvc_set_assoc_place {
    uint32_t set; /**< Number of the set. */
    uint8_t tag;  /**< 8-bit hash of the key. */
};

/** Parameters of a table. */
struct kvc_set_assoc_params {
    uint32_t sets;          /**< Number of sets, at least 1. */
    uint32_t ways;          /**< Entries per set: 1, 2, 4, 8 or 16. */
    uint32_t key_bytes_max; /**< Longest key [bytes], 1 to KVC_SET_ASSOC_KEY_MAX. */
    bool shared_lock;       /**< Searches take the shared lock of each set, as published. */
};

/** A table in host memory. */
struct kvc_set_assoc {
    struct kvc_table base;            /**< The table as an index. */
    struct kvc_set_assoc_table table; /**< Geometry and memory. */
    bool shared_lock;                 /**< As in the parameters. */
    uint64_t used;                    /**< Entries that hold an item. */
};

/** Computes the geometry for these parameters, without memory; returns false if they are out of range. */
bool kvc_set_assoc_geometry(const struct kvc_set_assoc_params *params, struct kvc_set_assoc_table *table);

/** Fills in the parameters of a table of about `bytes` bytes, for 8-byte keys; returns false if it would be
 * too large. */
bool kvc_set_assoc_published(uint64_t bytes, struct kvc_set_assoc_params *params);

/** Frees a table; NULL is allowed. */
void kvc_set_assoc_free(struct kvc_set_assoc *table);

/** Creates an empty table; NULL with errno EINVAL (params) or ENOMEM.
 *
 * `&table->base.index` offers it as an index of 8-byte keys, which needs a key_bytes_max of at least 8.
 */
struct kvc_set_assoc *kvc_set_assoc_create(const struct kvc_set_assoc_params *params);

/** The table as an index of 8-byte keys with 16 ways. */
extern const struct kvc_index_kind kvc_set_assoc_kind;

#ifdef __cplusplus
}
#endif

/** Returns the size of a set [bytes]. */
static inline KVC_HOST_DEVICE uint32_t kvc_set_assoc_set_bytes(uint32_t ways, uint32_t key_bytes_max)
{
    uint32_t bytes =
        (uint32_t)sizeof(struct kvc_set_assoc_control) + ways * kvc_set_assoc_entry_bytes(key_bytes_max);
    return (bytes + KVC_SET_ASSOC_LINE_BYTES - 1) / KVC_SET_ASSOC_LINE_BYTES * KVC_SET_ASSOC_LINE_BYTES;
}

/** Returns the set and the tag of a key. The primary hash selects the set, so any number of sets works; the
 * secondary hash, which is independent of it, gives the tag. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_place
kvc_set_assoc_place(const struct kvc_set_assoc_table *table, const uint8_t *key, uint32_t key_bytes)
{
    uint64_t hash = kvc_lookup3_inline(key, key_bytes, 0, 0);
    struct kvc_set_assoc_place place;
    place.set = (uint32_t)((hash & 0xffffffffu) * table->set_count >> 32);
    place.tag = (uint8_t)(hash >> 32);
    return place;
}

/** Returns the control line of a set. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_control *
kvc_set_assoc_control(const struct kvc_set_assoc_table *table, uint32_t set)
{
    return (struct kvc_set_assoc_control *)(table->sets + (uint64_t)set * table->set_bytes);
}

/** Returns the entry of a way. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_entry *
kvc_set_assoc_entry(const struct kvc_set_assoc_table *table, struct kvc_set_assoc_control *control,
                    uint32_t way)
{
    return (struct kvc_set_assoc_entry *)((uint8_t *)(control + 1) + way * table->entry_bytes);
}

#endif

/** @file
 * The hopscotch table that MemcachedGPU's authors also tried: every key has a neighbourhood of its own.
 *
 * Source: Hetherington, O'Connor, Aamodt, "MemcachedGPU", SoCC 2015, sec. 4.2.1, which changes the hopscotch
 * hashing of Herlihy, Shavit, Tzafrir (DISC 2008). This table follows the paper:
 *   - A key is in one of the entries that follow its home entry, so neighbourhoods overlap, and no two homes
 * share all of their entries.
 *   - Where hopscotch hashing moves entries to make room in a full neighbourhood, this table evicts an entry:
 * the least recently used one, as in the set-associative table.
 *   - An entry is a header (last access, lengths, location) and the key; an 8-bit hash is compared first.
 *
 * The paper does not give the number of neighbours; the default is 16, as many as a set has ways. There is no
 * bitmap of the entries that belong to a home: hopscotch hashing needs it to move entries, and searches do
 * without.
 *
 * Not modelled: a lock on every entry, which the paper names as the reason not to use this table; expiry
 * times.
 *
 * Entry e has an 8-bit tag in an array of tags (0 if the entry is empty), and a header and a key in an array
 * of entries. A key with home h is in one of the entries h to h + neighbours - 1, so a search reads
 * `neighbours` consecutive tags. They lie in 1 line of 64 bytes or, in (neighbours - 1) of 64 cases, in 2.
 * Entries are as in the set-associative table.
 *
 * Threads: one at a time.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_HOPSCOTCH_H
#define KVC_KERNELS_MEMCACHEDGPU_HOPSCOTCH_H

#include "kernels/memcachedgpu/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sizes of a neighbourhood. */
enum {
    KVC_HOPSCOTCH_NEIGHBOURS = 16,     /**< Entries unless asked otherwise. */
    KVC_HOPSCOTCH_NEIGHBOURS_MAX = 32, /**< Most entries. */
};

/** No entry. */
#define KVC_HOPSCOTCH_NO_ENTRY 0xffffffffu

/** A table, wherever its memory is; kernels take it by value. */
struct kvc_hopscotch_table {
    uint8_t *tags;          /**< Tags, aligned to 64 bytes. */
    uint8_t *entries;       /**< Entries, aligned to 64 bytes. */
    uint32_t homes;         /**< Number of homes. */
    uint32_t neighbours;    /**< Entries of a neighbourhood: 8, 16 or 32. */
    uint32_t entry_bytes;   /**< Size of an entry [bytes]. */
    uint32_t key_bytes_max; /**< Longest key [bytes]. */
};

/** Where a key belongs. */
struct kvc_hopscotch_place {
    uint32_t home; /**< First entry of the neighbourhood. */
    uint32_t tag;  /**< Tag of the key, 1 to 255. */
};

/** Parameters of a table. */
struct kvc_hopscotch_params {
    uint32_t homes;      /**< Number of homes, 1 to 2^31; there are neighbours - 1 more entries than homes. */
    uint32_t neighbours; /**< Entries of a neighbourhood: 8, 16 or 32; 0 means 16. */
    uint32_t key_bytes_max; /**< Longest key [bytes], 1 to KVC_SET_ASSOC_KEY_MAX. */
};

/** A table in host memory. */
struct kvc_hopscotch {
    struct kvc_table base;            /**< The table as an index. */
    struct kvc_hopscotch_table table; /**< Geometry and memory. */
    uint64_t used;                    /**< Entries that hold an item. */
};

/** Computes the geometry for these parameters, without memory; returns false if they are out of range. */
bool kvc_hopscotch_geometry(const struct kvc_hopscotch_params *params, struct kvc_hopscotch_table *table);

/** Fills in the parameters of a table of about `bytes` bytes, for 8-byte keys; returns false if it would be
 * too large. */
bool kvc_hopscotch_published(uint64_t bytes, struct kvc_hopscotch_params *params);

/** Frees a table; NULL is allowed. */
void kvc_hopscotch_free(struct kvc_hopscotch *table);

/** Creates an empty table; NULL with errno EINVAL (params) or ENOMEM.
 *
 * `&table->base.index` offers it as an index of 8-byte keys, which needs a key_bytes_max of at least 8.
 */
struct kvc_hopscotch *kvc_hopscotch_create(const struct kvc_hopscotch_params *params);

/** The table as an index of 8-byte keys with 16 neighbours. */
extern const struct kvc_index_kind kvc_hopscotch_kind;

#ifdef __cplusplus
}
#endif

/** Returns the number of entries. */
static inline KVC_HOST_DEVICE uint32_t kvc_hopscotch_capacity(const struct kvc_hopscotch_table *table)
{
    return table->homes + table->neighbours - 1;
}

/** Returns the size of the tags, in whole lines [bytes]. */
static inline KVC_HOST_DEVICE uint64_t kvc_hopscotch_tags_bytes(const struct kvc_hopscotch_table *table)
{
    uint64_t bytes = kvc_hopscotch_capacity(table);
    return (bytes + KVC_SET_ASSOC_LINE_BYTES - 1) / KVC_SET_ASSOC_LINE_BYTES * KVC_SET_ASSOC_LINE_BYTES;
}

/** Returns the size of the entries [bytes]. */
static inline KVC_HOST_DEVICE uint64_t kvc_hopscotch_entries_bytes(const struct kvc_hopscotch_table *table)
{
    return (uint64_t)kvc_hopscotch_capacity(table) * table->entry_bytes;
}

/** Returns the place of a key: the primary hash selects the home, the secondary hash gives the tag. */
static inline KVC_HOST_DEVICE struct kvc_hopscotch_place
kvc_hopscotch_place(const struct kvc_hopscotch_table *table, struct kvc_table_key key)
{
    uint64_t hash = kvc_lookup3_inline(key.data, key.bytes, 0, 0);
    struct kvc_hopscotch_place place;
    place.home = (uint32_t)((hash & 0xffffffffu) * table->homes >> 32);
    place.tag = (uint32_t)(hash >> 32) & 0xff;
    place.tag += place.tag == 0;
    return place;
}

/** Returns an entry. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_entry *
kvc_hopscotch_entry(const struct kvc_hopscotch_table *table, uint32_t entry)
{
    return (struct kvc_set_assoc_entry *)(table->entries + (uint64_t)entry * table->entry_bytes);
}

/** Bit i of the result is set if entry home + i has this tag; tag 0 finds empty entries. */
static inline KVC_HOST_DEVICE uint32_t kvc_hopscotch_match(const struct kvc_hopscotch_table *table,
                                                           uint32_t home, uint32_t tag)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t all = tag * UINT64_C(0x0101010101010101);
    uint32_t matching = 0;
    for (uint32_t i = 0; i < table->neighbours; i += 8) {
        uint64_t word = kvc_bytes_word_64(table->tags + home + i, 8) ^ all;
        uint64_t zero = ~(((word & low) + low) | word | low); /* 0x80 in exactly the bytes that are zero */
        matching |= (uint32_t)((zero >> 7) * UINT64_C(0x0102040810204080) >> 56) << i;
    }
    return matching;
}

/** Returns the number of the lowest set bit; `bits` is not 0. */
static inline KVC_HOST_DEVICE uint32_t kvc_hopscotch_lowest(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return (uint32_t)__ffs((int)bits) - 1;
#else
    return (uint32_t)__builtin_ctz(bits);
#endif
}

/** Returns the number of lines that the tags of a neighbourhood lie in. */
static inline KVC_HOST_DEVICE uint32_t kvc_hopscotch_tag_lines(const struct kvc_hopscotch_table *table,
                                                               uint32_t home)
{
    return (home % KVC_SET_ASSOC_LINE_BYTES + table->neighbours + KVC_SET_ASSOC_LINE_BYTES - 1) /
           KVC_SET_ASSOC_LINE_BYTES;
}

/** Returns the entry of a key, or KVC_HOPSCOTCH_NO_ENTRY, and adds the lines read. */
static inline KVC_HOST_DEVICE uint32_t kvc_hopscotch_find(const struct kvc_hopscotch_table *table,
                                                          struct kvc_hopscotch_place place,
                                                          struct kvc_table_key key, uint64_t *lines)
{
    *lines += kvc_hopscotch_tag_lines(table, place.home);
    for (uint32_t found = kvc_hopscotch_match(table, place.home, place.tag); found != 0; found &= found - 1) {
        uint32_t number = place.home + kvc_hopscotch_lowest(found);
        const struct kvc_set_assoc_entry *entry = kvc_hopscotch_entry(table, number);
        uint32_t bytes_read;
        bool same = kvc_table_entry_has_key(entry, key, &bytes_read);
        *lines += kvc_set_assoc_entry_lines(entry, bytes_read);
        if (same) {
            return number;
        }
    }
    return KVC_HOPSCOTCH_NO_ENTRY;
}

/** Chooses the entry for a new key: the empty entry nearest to the home, otherwise the least recently used
 * one, and the nearest of equally old ones. */
static inline KVC_HOST_DEVICE uint32_t kvc_hopscotch_choose(const struct kvc_hopscotch_table *table,
                                                            uint32_t home, uint32_t now, uint64_t *lines)
{
    uint32_t empty = kvc_hopscotch_match(table, home, 0);
    if (empty != 0) {
        return home + kvc_hopscotch_lowest(empty);
    }
    uint32_t oldest = 0;
    int32_t oldest_age = INT32_MIN;
    for (uint32_t i = 0; i < table->neighbours; i++) {
        const struct kvc_set_assoc_entry *entry = kvc_hopscotch_entry(table, home + i);
        int32_t age = kvc_set_assoc_age(now, entry->stamp);
        oldest = age > oldest_age ? i : oldest;
        oldest_age = age > oldest_age ? age : oldest_age;
        /* An entry that starts in the line of the previous one adds no line. */
        *lines += i == 0 || ((uintptr_t)entry & (KVC_SET_ASSOC_LINE_BYTES - 1)) < table->entry_bytes;
    }
    return home + oldest;
}

/** Looks up a key, stamps its entry and returns its item. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_item
kvc_hopscotch_search_one(const struct kvc_hopscotch_table *table, struct kvc_hopscotch_place place,
                         struct kvc_table_key key, uint32_t now, struct kvc_index_stats *stats)
{
    uint32_t number = kvc_hopscotch_find(table, place, key, &stats->search_lines);
    if (number == KVC_HOPSCOTCH_NO_ENTRY) {
        return kvc_table_no_item();
    }
    struct kvc_set_assoc_entry *entry = kvc_hopscotch_entry(table, number);
    entry->stamp = now;
    stats->search_hits++;
    return kvc_table_entry_item(entry);
}

/** Inserts a key and returns the item that was replaced or evicted. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_item
kvc_hopscotch_insert_one(const struct kvc_hopscotch_table *table, struct kvc_hopscotch_place place,
                         struct kvc_table_key key, const struct kvc_set_assoc_item *item, uint32_t now,
                         struct kvc_index_stats *stats)
{
    struct kvc_set_assoc_item left = kvc_table_no_item();
    uint32_t number = kvc_hopscotch_find(table, place, key, &stats->insert_lines);
    if (number != KVC_HOPSCOTCH_NO_ENTRY) {
        struct kvc_set_assoc_entry *entry = kvc_hopscotch_entry(table, number);
        left = kvc_table_entry_item(entry);
        stats->replaced++;
        kvc_table_entry_set_item(entry, item, now);
        return left;
    }
    uint64_t lines = 0;
    number = kvc_hopscotch_choose(table, place.home, now, &lines);
    struct kvc_set_assoc_entry *entry = kvc_hopscotch_entry(table, number);
    uint32_t entry_lines = kvc_set_assoc_entry_lines(entry, (uint32_t)sizeof(*entry) + key.bytes);
    stats->insert_lines += lines != 0 ? lines + entry_lines - 1 : entry_lines;
    if (table->tags[number] != 0) {
        left = kvc_table_entry_item(entry);
        stats->evicted++;
    }
    table->tags[number] = (uint8_t)place.tag;
    kvc_table_entry_set_key(entry, key);
    kvc_table_entry_set_item(entry, item, now);
    return left;
}

/** Erases a key and returns the item that was erased. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_item
kvc_hopscotch_erase_one(const struct kvc_hopscotch_table *table, struct kvc_hopscotch_place place,
                        struct kvc_table_key key, uint32_t location, struct kvc_index_stats *stats)
{
    uint32_t number = kvc_hopscotch_find(table, place, key, &stats->erase_lines);
    if (number == KVC_HOPSCOTCH_NO_ENTRY) {
        return kvc_table_no_item();
    }
    struct kvc_set_assoc_item item = kvc_table_entry_item(kvc_hopscotch_entry(table, number));
    if (location != KVC_LOCATION_ANY && location != item.location) {
        return kvc_table_no_item();
    }
    table->tags[number] = 0;
    stats->erased++;
    return item;
}

#endif

/** @file
 * memcached's hash table, against which MemcachedGPU measures its own: chained buckets and one LRU queue.
 *
 * Source: Hetherington, O'Connor, Aamodt, "MemcachedGPU", SoCC 2015, sec. 2.1 and 4.2.1 (its baseline) and
 * sec. 5.2 (hash chaining, "HC": a fixed number of elements, which evicts only when it is full);
 * memcached 1.4. This table follows them:
 *   - There is a power of two of buckets, selected by the masked lookup3 hash. The elements of a bucket are
 * linked, the newest first.
 *   - An element has its key, which is compared as a whole; there are no tags.
 *   - All elements are in one queue, the most recently used first. A full table evicts the last one.
 *   - memcached moves an element in the queue at most every 60 seconds: `bump_after`, in units of the
 * timestamps. With 0, the queue is exactly in order of use, as in the paper's comparison.
 *
 * Not modelled: growing, which memcached does beyond 1.5 elements per bucket; a queue per item size; expiry
 * times; locks.
 *
 * Elements are numbered in a fixed pool instead of being allocated one by one.
 *
 * Heads are 4-byte numbers of entries, 16 to a line; number 0 means no entry. An entry has the links of its
 * chain and of the LRU queue, followed by the header and the key (table.h). Entries are 64 bytes for keys of
 * up to 32 bytes, otherwise more whole lines.
 *
 * The 64-byte lines that count are the head, each entry visited in the chain (and further lines that its key
 * takes), and the neighbours in the LRU queue of an entry that moves there. The ends of the queue are in one
 * line that is always cached and does not count. If there are k entries per head and all keys fit one line, a
 * miss touches 1 + k lines, and a hit touches 2 + k / 2 on average, plus 2 or 3 if it moves the entry to the
 * front of the queue.
 *
 * Threads: one at a time, even for searches, which move elements in the queue.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_CHAINED_H
#define KVC_KERNELS_MEMCACHEDGPU_CHAINED_H

#include "kernels/memcachedgpu/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** No entry. */
#define KVC_CHAINED_NONE 0u

/** An entry. */
struct kvc_chained_entry {
    uint32_t next;                     /**< Next entry in the chain, or next free entry. */
    uint32_t newer;                    /**< Next newer entry in the LRU queue. */
    uint32_t older;                    /**< Next older entry in the LRU queue. */
    uint32_t unused;                   /**< Fills the header to 32 bytes. */
    struct kvc_set_assoc_entry header; /**< Item and length of the key. */
    /* The key follows. */
};

/** What operations change. It lies in the table's own memory, because a single thread of the device changes
 * it. */
struct kvc_chained_state {
    uint32_t newest; /**< Newest entry of the LRU queue. */
    uint32_t oldest; /**< Oldest entry of the LRU queue. */
    uint32_t freed;  /**< First free entry that has been in use before. */
    uint32_t fresh;  /**< Entries 1 to `fresh` have been in use before. */
    uint32_t used;   /**< Entries that hold an item. */
};

/** A table, wherever its memory is; kernels take it by value. */
struct kvc_chained_table {
    struct kvc_chained_state *state; /**< What operations change. */
    uint32_t *heads;                 /**< First entry of each bucket. */
    uint8_t *entries;                /**< Entries, of which entry 1 is the first; aligned to 64 bytes. */
    uint32_t buckets;                /**< Number of buckets, a power of two. */
    uint32_t capacity;               /**< Number of entries. */
    uint32_t entry_bytes;            /**< Size of an entry [bytes]. */
    uint32_t key_bytes_max;          /**< Longest key [bytes]. */
    uint32_t bump_after;             /**< As in struct kvc_chained_params. */
};

/** Parameters of a table. */
struct kvc_chained_params {
    uint32_t buckets;       /**< Number of buckets: a power of two, 1 to 2^31. */
    uint32_t capacity;      /**< Most elements, 1 to 2^31. */
    uint32_t key_bytes_max; /**< Longest key [bytes], 1 to KVC_SET_ASSOC_KEY_MAX. */
    /** An access moves an element in the queue if its timestamp is at least this much in the past; 0: always.
     */
    uint32_t bump_after;
};

/** A table in host memory. */
struct kvc_chained {
    struct kvc_table base;          /**< The table as an index. */
    struct kvc_chained_table table; /**< Geometry and memory. */
    struct kvc_chained_state state; /**< What operations change. */
};

/** Computes the geometry for these parameters, without memory; returns false if they are out of range. */
bool kvc_chained_geometry(const struct kvc_chained_params *params, struct kvc_chained_table *table);

/** Fills in the parameters of a table of about `bytes` bytes, for 8-byte keys and up to 1.5 elements per
 * bucket.
 *
 * Returns false if there would be too many elements.
 */
bool kvc_chained_published(uint64_t bytes, struct kvc_chained_params *params);

/** Frees a table; NULL is allowed. */
void kvc_chained_free(struct kvc_chained *table);

/** Creates an empty table; NULL with errno EINVAL (params) or ENOMEM.
 *
 * `&table->base.index` offers it as an index of 8-byte keys, which needs a key_bytes_max of at least 8.
 */
struct kvc_chained *kvc_chained_create(const struct kvc_chained_params *params);

/** The table as an index of 8-byte keys that evicts exactly the least recently used one. */
extern const struct kvc_index_kind kvc_chained_kind;

#ifdef __cplusplus
}
#endif

/** Returns the size of an entry with a key of up to `key_bytes_max` bytes [bytes]. */
static inline KVC_HOST_DEVICE uint32_t kvc_chained_entry_bytes(uint32_t key_bytes_max)
{
    uint32_t bytes = (uint32_t)sizeof(struct kvc_chained_entry) + key_bytes_max;
    return (bytes + KVC_SET_ASSOC_LINE_BYTES - 1) / KVC_SET_ASSOC_LINE_BYTES * KVC_SET_ASSOC_LINE_BYTES;
}

/** Returns the size of the heads [bytes]. */
static inline KVC_HOST_DEVICE uint64_t kvc_chained_heads_bytes(const struct kvc_chained_table *table)
{
    return (uint64_t)table->buckets * sizeof(*table->heads);
}

/** Returns the size of the entries [bytes]. */
static inline KVC_HOST_DEVICE uint64_t kvc_chained_entries_bytes(const struct kvc_chained_table *table)
{
    return (uint64_t)table->capacity * table->entry_bytes;
}

/** Returns the head of a key's bucket. */
static inline KVC_HOST_DEVICE uint32_t *kvc_chained_head(const struct kvc_chained_table *table,
                                                         struct kvc_table_key key)
{
    return table->heads + ((uint32_t)kvc_lookup3_inline(key.data, key.bytes, 0, 0) & (table->buckets - 1));
}

/** Returns an entry by its number, which is not KVC_CHAINED_NONE. */
static inline KVC_HOST_DEVICE struct kvc_chained_entry *
kvc_chained_entry(const struct kvc_chained_table *table, uint32_t number)
{
    return (struct kvc_chained_entry *)(table->entries + (uint64_t)(number - 1) * table->entry_bytes);
}

/** Where a key was found: its entry, and the link that points to it, in the head or in the previous entry. */
struct kvc_chained_found {
    uint32_t number; /**< Number of the entry, or KVC_CHAINED_NONE. */
    uint32_t *link;  /**< Link that holds the number. */
};

/** Searches the chain of a key and adds the lines read. */
static inline KVC_HOST_DEVICE struct kvc_chained_found kvc_chained_find(const struct kvc_chained_table *table,
                                                                        uint32_t *head,
                                                                        struct kvc_table_key key,
                                                                        uint64_t *lines)
{
    struct kvc_chained_found found = {*head, head};
    ++*lines;
    while (found.number != KVC_CHAINED_NONE) {
        struct kvc_chained_entry *entry = kvc_chained_entry(table, found.number);
        uint32_t bytes_read;
        bool same = kvc_table_entry_has_key(&entry->header, key, &bytes_read);
        *lines +=
            1 + (offsetof(struct kvc_chained_entry, header) + bytes_read - 1) / KVC_SET_ASSOC_LINE_BYTES;
        if (same) {
            break;
        }
        found.link = &entry->next;
        found.number = entry->next;
    }
    return found;
}

/** Takes an entry out of the LRU queue, which must contain it. */
static inline KVC_HOST_DEVICE void kvc_chained_leave_queue(const struct kvc_chained_table *table,
                                                           const struct kvc_chained_entry *entry,
                                                           uint64_t *lines)
{
    if (entry->newer != KVC_CHAINED_NONE) {
        kvc_chained_entry(table, entry->newer)->older = entry->older;
        ++*lines;
    } else {
        table->state->newest = entry->older;
    }
    if (entry->older != KVC_CHAINED_NONE) {
        kvc_chained_entry(table, entry->older)->newer = entry->newer;
        ++*lines;
    } else {
        table->state->oldest = entry->newer;
    }
}

/** Makes an entry the newest of the LRU queue, which must not contain it. */
static inline KVC_HOST_DEVICE void kvc_chained_enter_queue(const struct kvc_chained_table *table,
                                                           uint32_t number, uint64_t *lines)
{
    struct kvc_chained_entry *entry = kvc_chained_entry(table, number);
    struct kvc_chained_state *state = table->state;
    entry->newer = KVC_CHAINED_NONE;
    entry->older = state->newest;
    if (state->newest != KVC_CHAINED_NONE) {
        kvc_chained_entry(table, state->newest)->newer = number;
        ++*lines;
    } else {
        state->oldest = number;
    }
    state->newest = number;
}

/** Moves an entry to the front of the LRU queue. */
static inline KVC_HOST_DEVICE void kvc_chained_to_front(const struct kvc_chained_table *table,
                                                        uint32_t number, uint64_t *lines)
{
    if (table->state->newest != number) {
        kvc_chained_leave_queue(table, kvc_chained_entry(table, number), lines);
        kvc_chained_enter_queue(table, number, lines);
    }
}

/** Says whether an access at this time moves the entry in the LRU queue. */
static inline KVC_HOST_DEVICE bool kvc_chained_due(const struct kvc_chained_table *table,
                                                   const struct kvc_chained_entry *entry, uint32_t now)
{
    return now - entry->header.stamp >= table->bump_after;
}

/** Records an access: stamps the entry and moves it in the LRU queue, if that is due. */
static inline KVC_HOST_DEVICE void kvc_chained_touch(const struct kvc_chained_table *table, uint32_t number,
                                                     uint32_t now, uint64_t *lines)
{
    struct kvc_chained_entry *entry = kvc_chained_entry(table, number);
    if (kvc_chained_due(table, entry, now)) {
        entry->header.stamp = now;
        kvc_chained_to_front(table, number, lines);
    }
}

/** Looks up a key, records the access and returns its item. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_item
kvc_chained_search_one(const struct kvc_chained_table *table, uint32_t *head, struct kvc_table_key key,
                       uint32_t now, struct kvc_index_stats *stats)
{
    struct kvc_chained_found found = kvc_chained_find(table, head, key, &stats->search_lines);
    if (found.number == KVC_CHAINED_NONE) {
        return kvc_table_no_item();
    }
    stats->search_hits++;
    kvc_chained_touch(table, found.number, now, &stats->search_lines);
    return kvc_table_entry_item(&kvc_chained_entry(table, found.number)->header);
}

/** Takes an entry out of its chain and out of the LRU queue; its contents stay. */
static inline KVC_HOST_DEVICE void kvc_chained_remove(const struct kvc_chained_table *table,
                                                      struct kvc_chained_found found, uint64_t *lines)
{
    struct kvc_chained_entry *entry = kvc_chained_entry(table, found.number);
    *found.link = entry->next;
    kvc_chained_leave_queue(table, entry, lines);
}

/** Evicts the oldest entry of the LRU queue and returns its number. */
static inline KVC_HOST_DEVICE uint32_t kvc_chained_evict(const struct kvc_chained_table *table,
                                                         struct kvc_set_assoc_item *left,
                                                         struct kvc_index_stats *stats)
{
    uint32_t number = table->state->oldest;
    const struct kvc_chained_entry *entry = kvc_chained_entry(table, number);
    struct kvc_table_key key = {(const uint8_t *)(entry + 1), entry->header.key_bytes};
    struct kvc_chained_found found =
        kvc_chained_find(table, kvc_chained_head(table, key), key, &stats->insert_lines);
    *left = kvc_table_entry_item(&entry->header);
    kvc_chained_remove(table, found, &stats->insert_lines);
    stats->evicted++;
    return number;
}

/** Inserts a key and returns the item that was replaced or evicted. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_item
kvc_chained_insert_one(const struct kvc_chained_table *table, uint32_t *head, struct kvc_table_key key,
                       const struct kvc_set_assoc_item *item, uint32_t now, struct kvc_index_stats *stats)
{
    struct kvc_chained_state *state = table->state;
    struct kvc_set_assoc_item left = kvc_table_no_item();
    struct kvc_chained_found found = kvc_chained_find(table, head, key, &stats->insert_lines);
    if (found.number != KVC_CHAINED_NONE) {
        struct kvc_chained_entry *entry = kvc_chained_entry(table, found.number);
        left = kvc_table_entry_item(&entry->header);
        stats->replaced++;
        kvc_chained_to_front(table, found.number, &stats->insert_lines);
        kvc_table_entry_set_item(&entry->header, item, now);
        return left;
    }
    uint32_t number = state->freed;
    if (number != KVC_CHAINED_NONE) {
        state->freed = kvc_chained_entry(table, number)->next;
    } else if (state->fresh < table->capacity) {
        number = ++state->fresh;
    } else {
        number = kvc_chained_evict(table, &left, stats);
        state->used--;
    }
    struct kvc_chained_entry *entry = kvc_chained_entry(table, number);
    stats->insert_lines +=
        (sizeof(*entry) + key.bytes + KVC_SET_ASSOC_LINE_BYTES - 1) / KVC_SET_ASSOC_LINE_BYTES;
    kvc_table_entry_set_key(&entry->header, key);
    kvc_table_entry_set_item(&entry->header, item, now);
    entry->next = *head;
    *head = number;
    kvc_chained_enter_queue(table, number, &stats->insert_lines);
    state->used++;
    return left;
}

/** Erases a key and returns the item that was erased. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_item
kvc_chained_erase_one(const struct kvc_chained_table *table, uint32_t *head, struct kvc_table_key key,
                      uint32_t location, struct kvc_index_stats *stats)
{
    struct kvc_chained_found found = kvc_chained_find(table, head, key, &stats->erase_lines);
    if (found.number == KVC_CHAINED_NONE) {
        return kvc_table_no_item();
    }
    struct kvc_chained_entry *entry = kvc_chained_entry(table, found.number);
    struct kvc_set_assoc_item item = kvc_table_entry_item(&entry->header);
    if (location != KVC_LOCATION_ANY && location != item.location) {
        return kvc_table_no_item();
    }
    kvc_chained_remove(table, found, &stats->erase_lines);
    entry->next = table->state->freed;
    table->state->freed = found.number;
    table->state->used--;
    stats->erased++;
    return item;
}

#endif

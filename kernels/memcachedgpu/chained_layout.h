/* The chained table, on the host and on the device: its layout and one operation on it.
 *
 * Heads are 4-byte numbers of entries, 16 to a line; entry 0 is none. An entry has the links of its chain and
 * of the LRU queue, then the header and the key of the set-associative table (set_assoc_layout.h). Entries
 * are 64 bytes for keys of up to 32 bytes, else more whole lines.
 *
 * Lines of 64 bytes that are counted: the head, each entry walked in the chain (and what more of it the key
 * takes), and the neighbours in the LRU queue of an entry that moves in it. The queue's own ends are in one
 * line that is always at hand and not counted. With k entries for each head, all keys of one line: a miss
 * touches 1 + k, a hit 2 + k / 2 on average, and 2 or 3 more where it moves the entry to the queue's front.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_CHAINED_LAYOUT_H
#define KVC_KERNELS_MEMCACHEDGPU_CHAINED_LAYOUT_H

#include "kernels/memcachedgpu/table_batch.h"

#define KVC_CHAINED_NONE 0u /* no entry */

struct kvc_chained_entry {
    uint32_t next;  /* in the chain, or of the free entries */
    uint32_t newer; /* in the LRU queue */
    uint32_t older;
    uint32_t unused;
    struct kvc_set_assoc_entry header;
    /* The key follows. */
};

/* What changes with every operation; in the table's own memory, since one thread of a device changes it. */
struct kvc_chained_state {
    uint32_t newest, oldest; /* ends of the LRU queue */
    uint32_t freed;          /* first of the free entries that were in use before */
    uint32_t fresh;          /* entries 1 .. fresh were in use before */
    uint32_t used;
};

/* A table wherever its memory is; passed to kernels by value. */
struct kvc_chained_table {
    struct kvc_chained_state *state;
    uint32_t *heads;
    uint8_t *entries; /* entry 1 is the first; aligned to 64 bytes */
    uint32_t buckets; /* a power of two */
    uint32_t capacity;
    uint32_t entry_bytes;
    uint32_t key_bytes_max;
    uint32_t bump_after;
};

static inline KVC_HOST_DEVICE uint32_t kvc_chained_entry_bytes(uint32_t key_bytes_max)
{
    uint32_t bytes = (uint32_t)sizeof(struct kvc_chained_entry) + key_bytes_max;
    return (bytes + KVC_SET_ASSOC_LINE_BYTES - 1) / KVC_SET_ASSOC_LINE_BYTES * KVC_SET_ASSOC_LINE_BYTES;
}

static inline KVC_HOST_DEVICE uint64_t kvc_chained_heads_bytes(const struct kvc_chained_table *table)
{
    return (uint64_t)table->buckets * sizeof(*table->heads);
}

static inline KVC_HOST_DEVICE uint64_t kvc_chained_entries_bytes(const struct kvc_chained_table *table)
{
    return (uint64_t)table->capacity * table->entry_bytes;
}

static inline KVC_HOST_DEVICE uint32_t *kvc_chained_head(const struct kvc_chained_table *table,
                                                         struct kvc_table_key key)
{
    return table->heads + ((uint32_t)kvc_lookup3_inline(key.data, key.bytes, 0, 0) & (table->buckets - 1));
}

static inline KVC_HOST_DEVICE struct kvc_chained_entry *
kvc_chained_entry(const struct kvc_chained_table *table, uint32_t number)
{
    return (struct kvc_chained_entry *)(table->entries + (uint64_t)(number - 1) * table->entry_bytes);
}

/* Where the entry of a key is and what points to it: a head or the entry before. */
struct kvc_chained_found {
    uint32_t number; /* or KVC_CHAINED_NONE */
    uint32_t *link;
};

/* Adds the lines read. */
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

/* The entry is in the queue and leaves it. */
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

/* The entry is not in the queue and becomes its newest. */
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

static inline KVC_HOST_DEVICE void kvc_chained_to_front(const struct kvc_chained_table *table,
                                                        uint32_t number, uint64_t *lines)
{
    if (table->state->newest != number) {
        kvc_chained_leave_queue(table, kvc_chained_entry(table, number), lines);
        kvc_chained_enter_queue(table, number, lines);
    }
}

/* Does an access at this time move the entry? */
static inline KVC_HOST_DEVICE bool kvc_chained_due(const struct kvc_chained_table *table,
                                                   const struct kvc_chained_entry *entry, uint32_t now)
{
    return now - entry->header.stamp >= table->bump_after;
}

static inline KVC_HOST_DEVICE void kvc_chained_touch(const struct kvc_chained_table *table, uint32_t number,
                                                     uint32_t now, uint64_t *lines)
{
    struct kvc_chained_entry *entry = kvc_chained_entry(table, number);
    if (kvc_chained_due(table, entry, now)) {
        entry->header.stamp = now;
        kvc_chained_to_front(table, number, lines);
    }
}

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

/* Takes the entry out of its chain and of the queue; what it held is still in it. */
static inline KVC_HOST_DEVICE void kvc_chained_remove(const struct kvc_chained_table *table,
                                                      struct kvc_chained_found found, uint64_t *lines)
{
    struct kvc_chained_entry *entry = kvc_chained_entry(table, found.number);
    *found.link = entry->next;
    kvc_chained_leave_queue(table, entry, lines);
}

/* Evicts the end of the LRU queue and returns the entry's number. */
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

/* Returns what was replaced or evicted. */
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

/* Returns what was erased. */
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

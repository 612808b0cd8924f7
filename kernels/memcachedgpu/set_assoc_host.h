/** @file
 * Internal to kernels/memcachedgpu: operations on one set of the set-associative table on the host.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_HOST_H
#define KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_HOST_H

#include "kernels/memcachedgpu/set_assoc.h"

/** Functions of the hot path, which must be inlined so that constant parameters specialise them. */
#define KVC_SET_ASSOC_INLINE static inline __attribute__((always_inline))

/** Loads a field that a writer may be changing. Acquire order puts the load before the reader's second look
 * at the version, at no cost on x86. */
#define KVC_SET_ASSOC_LOAD(from) __atomic_load_n(from, __ATOMIC_ACQUIRE)

/** Stores a field that readers may be reading. Release order puts the store after the writer takes the lock,
 * at no cost on x86. */
#define KVC_SET_ASSOC_STORE(to, value) __atomic_store_n(to, value, __ATOMIC_RELEASE)

/** Tells the processor that this thread spins. */
KVC_SET_ASSOC_INLINE void kvc_set_assoc_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/** Returns the version of a set that no writer holds, after waiting for the writer if necessary. */
KVC_SET_ASSOC_INLINE uint32_t kvc_set_assoc_begin_read(struct kvc_set_assoc_control *control, bool shared)
{
    for (;;) {
        uint64_t lock = shared ? __atomic_fetch_add(&control->lock, KVC_SET_ASSOC_READER, __ATOMIC_ACQUIRE)
                               : KVC_SET_ASSOC_LOAD(&control->lock);
        if ((lock & KVC_SET_ASSOC_WRITER) == 0) {
            return (uint32_t)(lock >> 32);
        }
        if (shared) {
            __atomic_fetch_sub(&control->lock, KVC_SET_ASSOC_READER, __ATOMIC_RELAXED);
        }
        kvc_set_assoc_relax();
    }
}

/** Returns false if a writer intervened, which invalidates what was read. */
KVC_SET_ASSOC_INLINE bool kvc_set_assoc_end_read(struct kvc_set_assoc_control *control, uint32_t version,
                                                 bool shared)
{
    if (shared) {
        __atomic_fetch_sub(&control->lock, KVC_SET_ASSOC_READER, __ATOMIC_RELEASE);
        return true;
    }
    return (uint32_t)(KVC_SET_ASSOC_LOAD(&control->lock) >> 32) == version;
}

/** Takes the exclusive lock of a set. */
KVC_SET_ASSOC_INLINE void kvc_set_assoc_lock_exclusive(struct kvc_set_assoc_control *control)
{
    for (;;) {
        uint64_t lock = __atomic_load_n(&control->lock, __ATOMIC_RELAXED);
        if ((lock & (KVC_SET_ASSOC_WRITER | KVC_SET_ASSOC_READERS)) == 0 &&
            __atomic_compare_exchange_n(&control->lock, &lock, lock + KVC_SET_ASSOC_WRITER, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return;
        }
        kvc_set_assoc_relax();
    }
}

/** Ends a write. If readers never share the lock, only its writer changes it, so no atomic addition is
 * needed. */
KVC_SET_ASSOC_INLINE void kvc_set_assoc_unlock_exclusive(struct kvc_set_assoc_control *control, bool shared)
{
    if (shared) {
        __atomic_fetch_add(&control->lock, KVC_SET_ASSOC_WRITER, __ATOMIC_RELEASE);
    } else {
        KVC_SET_ASSOC_STORE(&control->lock,
                            __atomic_load_n(&control->lock, __ATOMIC_RELAXED) + KVC_SET_ASSOC_WRITER);
    }
}

/** Bit i of the result is set if byte i of the word is zero. */
KVC_SET_ASSOC_INLINE uint32_t kvc_set_assoc_zero_bytes(uint64_t word)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t zero = ~(((word & low) + low) | word | low); /* 0x80 in exactly the bytes that are zero */
    return (uint32_t)((zero >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

/** Bit w of the result is set if way w is valid and has this tag. */
KVC_SET_ASSOC_INLINE uint32_t kvc_set_assoc_match(const struct kvc_set_assoc_control *control, uint8_t tag)
{
    uint64_t all = tag * UINT64_C(0x0101010101010101);
    return (kvc_set_assoc_zero_bytes(KVC_SET_ASSOC_LOAD(&control->tag[0]) ^ all) |
            kvc_set_assoc_zero_bytes(KVC_SET_ASSOC_LOAD(&control->tag[1]) ^ all) << 8) &
           KVC_SET_ASSOC_LOAD(&control->valid);
}

/** Returns the words of an entry's key. */
KVC_SET_ASSOC_INLINE const uint64_t *kvc_set_assoc_key_words(const struct kvc_set_assoc_entry *entry)
{
    return (const uint64_t *)(entry + 1);
}

/** Compares the key with that of an entry and counts the lines touched. */
KVC_SET_ASSOC_INLINE bool kvc_set_assoc_has_key(const struct kvc_set_assoc_entry *entry, const uint8_t *key,
                                                uint32_t key_bytes, uint64_t *lines)
{
    if (KVC_SET_ASSOC_LOAD(&entry->key_bytes) != key_bytes) {
        (*lines)++;
        return false;
    }
    bool same = true;
    uint32_t at = 0;
    for (; same && at < key_bytes; at += 8) {
        uint32_t left = key_bytes - at;
        same = KVC_SET_ASSOC_LOAD(&kvc_set_assoc_key_words(entry)[at / 8]) ==
               kvc_bytes_word_64(key + at, left < 8 ? left : 8);
    }
    *lines += kvc_set_assoc_entry_lines(entry, (uint32_t)sizeof(*entry) + at);
    return same;
}

/** Returns the item of an entry. */
KVC_SET_ASSOC_INLINE struct kvc_set_assoc_item kvc_set_assoc_item_of(const struct kvc_set_assoc_entry *entry)
{
    return (struct kvc_set_assoc_item){.location = KVC_SET_ASSOC_LOAD(&entry->location),
                                       .value_bytes = KVC_SET_ASSOC_LOAD(&entry->value_bytes),
                                       .stamp = KVC_SET_ASSOC_LOAD(&entry->stamp),
                                       .flags = KVC_SET_ASSOC_LOAD(&entry->flags)};
}

/** An item without a location. */
static const struct kvc_set_assoc_item kvc_set_assoc_no_item = {.location = KVC_LOCATION_NONE};

/** Returns the entry of a key among those with its tag, or NULL. */
KVC_SET_ASSOC_INLINE struct kvc_set_assoc_entry *
kvc_set_assoc_find(const struct kvc_set_assoc_table *table, struct kvc_set_assoc_control *control,
                   uint8_t tag, const uint8_t *key, uint32_t key_bytes, uint64_t *lines, uint32_t *way)
{
    for (uint32_t ways = kvc_set_assoc_match(control, tag); ways != 0; ways &= ways - 1) {
        *way = (uint32_t)__builtin_ctz(ways);
        struct kvc_set_assoc_entry *entry = kvc_set_assoc_entry(table, control, *way);
        if (kvc_set_assoc_has_key(entry, key, key_bytes, lines)) {
            return entry;
        }
    }
    return NULL;
}

/** Looks up one key, stamps its entry and returns whether it was found. */
KVC_SET_ASSOC_INLINE bool kvc_set_assoc_search_one(const struct kvc_set_assoc_table *table,
                                                   struct kvc_set_assoc_place place, const uint8_t *key,
                                                   uint32_t key_bytes, uint32_t now,
                                                   struct kvc_set_assoc_item *item, uint64_t *lines,
                                                   bool shared)
{
    struct kvc_set_assoc_control *control = kvc_set_assoc_control(table, place.set);
    struct kvc_set_assoc_entry *entry;
    uint32_t version;
    do {
        uint32_t way;
        version = kvc_set_assoc_begin_read(control, shared);
        ++*lines;
        entry = kvc_set_assoc_find(table, control, place.tag, key, key_bytes, lines, &way);
        *item = entry != NULL ? kvc_set_assoc_item_of(entry) : kvc_set_assoc_no_item;
        /* Under the shared lock, the timestamp certainly belongs to this key. Without it, an entry that a
         * writer has taken meanwhile gets a timestamp that is slightly too new. A popular entry already has
         * the timestamp `now`, so its line stays shared between caches. */
        if (entry != NULL && item->stamp != now) {
            KVC_SET_ASSOC_STORE(&entry->stamp, now);
            item->stamp = now;
        }
    } while (!kvc_set_assoc_end_read(control, version, shared));
    return entry != NULL;
}

/** Chooses the way for a new key: the lowest free way, otherwise the oldest way, and the lowest of equally
 * old ones. */
KVC_SET_ASSOC_INLINE uint32_t kvc_set_assoc_choose_way(const struct kvc_set_assoc_table *table,
                                                       struct kvc_set_assoc_control *control, uint32_t now,
                                                       uint64_t *lines)
{
    uint32_t free_ways = ~control->valid & ((1u << table->ways) - 1);
    if (free_ways != 0) {
        return (uint32_t)__builtin_ctz(free_ways);
    }
    uint32_t oldest = 0;
    int32_t oldest_age = INT32_MIN;
    for (uint32_t w = 0; w < table->ways; w++) {
        int32_t age =
            kvc_set_assoc_age(now, KVC_SET_ASSOC_LOAD(&kvc_set_assoc_entry(table, control, w)->stamp));
        oldest = age > oldest_age ? w : oldest;
        oldest_age = age > oldest_age ? age : oldest_age;
    }
    uint32_t headers_bytes = table->ways * table->entry_bytes;
    *lines += table->entry_bytes >= KVC_SET_ASSOC_LINE_BYTES
                  ? table->ways
                  : (headers_bytes + KVC_SET_ASSOC_LINE_BYTES - 1) / KVC_SET_ASSOC_LINE_BYTES;
    return oldest;
}

/** Stores the tag of a way. */
KVC_SET_ASSOC_INLINE void kvc_set_assoc_set_tag(struct kvc_set_assoc_control *control, uint32_t way,
                                                uint8_t tag)
{
    uint64_t *word = &control->tag[way / 8];
    unsigned shift = 8 * (way % 8);
    KVC_SET_ASSOC_STORE(word, (*word & ~(UINT64_C(0xff) << shift)) | (uint64_t)tag << shift);
}

/** Stores an item and its timestamp in an entry. */
KVC_SET_ASSOC_INLINE void kvc_set_assoc_write_item(struct kvc_set_assoc_entry *entry,
                                                   const struct kvc_set_assoc_item *item, uint32_t now)
{
    KVC_SET_ASSOC_STORE(&entry->stamp, now);
    KVC_SET_ASSOC_STORE(&entry->location, item->location);
    KVC_SET_ASSOC_STORE(&entry->value_bytes, item->value_bytes);
    KVC_SET_ASSOC_STORE(&entry->flags, item->flags);
}

/** Stores a key in an entry. */
KVC_SET_ASSOC_INLINE void kvc_set_assoc_write_key(struct kvc_set_assoc_entry *entry, const uint8_t *key,
                                                  uint32_t key_bytes)
{
    uint64_t *words = (uint64_t *)(entry + 1);
    KVC_SET_ASSOC_STORE(&entry->key_bytes, (uint16_t)key_bytes);
    for (uint32_t at = 0; at < key_bytes; at += 8) {
        uint32_t left = key_bytes - at;
        KVC_SET_ASSOC_STORE(&words[at / 8], kvc_bytes_word_64(key + at, left < 8 ? left : 8));
    }
}

/** Inserts one key and returns the item that was replaced or evicted. */
KVC_SET_ASSOC_INLINE struct kvc_set_assoc_item
kvc_set_assoc_insert_one(struct kvc_set_assoc *owner, struct kvc_set_assoc_place place, const uint8_t *key,
                         uint32_t key_bytes, const struct kvc_set_assoc_item *item, uint32_t now,
                         struct kvc_index_stats *stats)
{
    const struct kvc_set_assoc_table *table = &owner->table;
    struct kvc_set_assoc_control *control = kvc_set_assoc_control(table, place.set);
    uint32_t way = 0;
    struct kvc_set_assoc_item left = kvc_set_assoc_no_item;
    kvc_set_assoc_lock_exclusive(control);
    stats->insert_lines++;
    struct kvc_set_assoc_entry *entry =
        kvc_set_assoc_find(table, control, place.tag, key, key_bytes, &stats->insert_lines, &way);
    if (entry != NULL) {
        left = kvc_set_assoc_item_of(entry);
        stats->replaced++;
    } else {
        uint64_t lines = 0;
        way = kvc_set_assoc_choose_way(table, control, now, &lines);
        entry = kvc_set_assoc_entry(table, control, way);
        if ((control->valid >> way & 1) != 0) {
            left = kvc_set_assoc_item_of(entry);
            stats->evicted++;
        }
        uint32_t entry_lines = kvc_set_assoc_entry_lines(entry, (uint32_t)sizeof(*entry) + key_bytes);
        stats->insert_lines += lines != 0 ? lines + entry_lines - 1 : entry_lines;
        kvc_set_assoc_set_tag(control, way, place.tag);
        KVC_SET_ASSOC_STORE(&control->valid, control->valid | 1u << way);
        kvc_set_assoc_write_key(entry, key, key_bytes);
    }
    kvc_set_assoc_write_item(entry, item, now);
    kvc_set_assoc_unlock_exclusive(control, owner->shared_lock);
    return left;
}

/** Erases one key and returns its item. */
KVC_SET_ASSOC_INLINE struct kvc_set_assoc_item
kvc_set_assoc_erase_one(struct kvc_set_assoc *owner, struct kvc_set_assoc_place place, const uint8_t *key,
                        uint32_t key_bytes, uint32_t location, struct kvc_index_stats *stats)
{
    const struct kvc_set_assoc_table *table = &owner->table;
    struct kvc_set_assoc_control *control = kvc_set_assoc_control(table, place.set);
    uint32_t way = 0;
    struct kvc_set_assoc_item left = kvc_set_assoc_no_item;
    kvc_set_assoc_lock_exclusive(control);
    stats->erase_lines++;
    struct kvc_set_assoc_entry *entry =
        kvc_set_assoc_find(table, control, place.tag, key, key_bytes, &stats->erase_lines, &way);
    if (entry != NULL && (location == KVC_LOCATION_ANY || location == entry->location)) {
        left = kvc_set_assoc_item_of(entry);
        KVC_SET_ASSOC_STORE(&control->valid, control->valid & ~(1u << way));
        stats->erased++;
    }
    kvc_set_assoc_unlock_exclusive(control, owner->shared_lock);
    return left;
}

#endif

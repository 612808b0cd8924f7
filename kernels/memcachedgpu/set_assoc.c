#include "kernels/memcachedgpu/set_assoc.h"

#include <errno.h>
#include <stdlib.h>

#include "kernels/pages.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    /* Keys go through the stages of a batch (place, entry, operation) in groups of this size. The lines of a
     * group are fetched in one tight loop: a fetch whose page has to be looked up first holds back all that
     * follows it, so the look-ups overlap only if the fetches are close together. */
    GROUP = 32,
};

static inline struct kvc_set_assoc *table_of(struct kvc_index *index)
{
    return (struct kvc_set_assoc *)index; /* its first member */
}

/* What optimistic readers see must be ordered: their loads before the second look at the version, and a
 * writer's stores behind taking the lock. Acquire and release do both, at no cost on x86. */
#define LOAD(from) __atomic_load_n(from, __ATOMIC_ACQUIRE)
#define STORE(to, value) __atomic_store_n(to, value, __ATOMIC_RELEASE)

ALWAYS_INLINE void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* The version of a set that no writer has. */
ALWAYS_INLINE uint32_t begin_read(struct kvc_set_assoc_control *control, bool shared)
{
    for (;;) {
        uint64_t lock = shared ? __atomic_fetch_add(&control->lock, KVC_SET_ASSOC_READER, __ATOMIC_ACQUIRE)
                               : LOAD(&control->lock);
        if ((lock & KVC_SET_ASSOC_WRITER) == 0) {
            return (uint32_t)(lock >> 32);
        }
        if (shared) {
            __atomic_fetch_sub(&control->lock, KVC_SET_ASSOC_READER, __ATOMIC_RELAXED);
        }
        relax();
    }
}

/* false: a writer came in between, what was read is void. */
ALWAYS_INLINE bool end_read(struct kvc_set_assoc_control *control, uint32_t version, bool shared)
{
    if (shared) {
        __atomic_fetch_sub(&control->lock, KVC_SET_ASSOC_READER, __ATOMIC_RELEASE);
        return true;
    }
    return (uint32_t)(LOAD(&control->lock) >> 32) == version;
}

ALWAYS_INLINE void lock_exclusive(struct kvc_set_assoc_control *control)
{
    for (;;) {
        uint64_t lock = __atomic_load_n(&control->lock, __ATOMIC_RELAXED);
        if ((lock & (KVC_SET_ASSOC_WRITER | KVC_SET_ASSOC_READERS)) == 0 &&
            __atomic_compare_exchange_n(&control->lock, &lock, lock + KVC_SET_ASSOC_WRITER, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return;
        }
        relax();
    }
}

/* Where no reader ever shares the lock, nobody but its writer changes it, and it need not add in one step. */
ALWAYS_INLINE void unlock_exclusive(struct kvc_set_assoc_control *control, bool shared)
{
    if (shared) {
        __atomic_fetch_add(&control->lock, KVC_SET_ASSOC_WRITER, __ATOMIC_RELEASE);
    } else {
        STORE(&control->lock, __atomic_load_n(&control->lock, __ATOMIC_RELAXED) + KVC_SET_ASSOC_WRITER);
    }
}

/* Bit i is set where byte i of the word is zero. */
ALWAYS_INLINE uint32_t zero_bytes(uint64_t word)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t zero = ~(((word & low) + low) | word | low); /* 0x80 where the byte is zero, exactly */
    return (uint32_t)((zero >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

/* Bit w is set where way w is valid and has this tag. */
ALWAYS_INLINE uint32_t match(const struct kvc_set_assoc_control *control, uint8_t tag)
{
    uint64_t all = tag * UINT64_C(0x0101010101010101);
    return (zero_bytes(LOAD(&control->tag[0]) ^ all) | zero_bytes(LOAD(&control->tag[1]) ^ all) << 8) &
           LOAD(&control->valid);
}

ALWAYS_INLINE const uint64_t *key_words(const struct kvc_set_assoc_entry *entry)
{
    return (const uint64_t *)(entry + 1);
}

/* Compares keys and counts the lines that it takes. */
ALWAYS_INLINE bool has_key(const struct kvc_set_assoc_entry *entry, const uint8_t *key, uint32_t key_bytes,
                           uint64_t *lines)
{
    if (LOAD(&entry->key_bytes) != key_bytes) {
        (*lines)++;
        return false;
    }
    bool same = true;
    uint32_t at = 0;
    for (; same && at < key_bytes; at += 8) {
        uint32_t left = key_bytes - at;
        same = LOAD(&key_words(entry)[at / 8]) == kvc_bytes_word_64(key + at, left < 8 ? left : 8);
    }
    *lines += kvc_set_assoc_entry_lines(entry, (uint32_t)sizeof(*entry) + at);
    return same;
}

ALWAYS_INLINE struct kvc_set_assoc_item item_of(const struct kvc_set_assoc_entry *entry)
{
    return (struct kvc_set_assoc_item){.location = LOAD(&entry->location),
                                       .value_bytes = LOAD(&entry->value_bytes),
                                       .stamp = LOAD(&entry->stamp),
                                       .flags = LOAD(&entry->flags)};
}

static const struct kvc_set_assoc_item no_item = {.location = KVC_LOCATION_NONE};

/* The entry of a key among those with its tag, or NULL. */
ALWAYS_INLINE struct kvc_set_assoc_entry *find(const struct kvc_set_assoc_table *table,
                                               struct kvc_set_assoc_control *control, uint8_t tag,
                                               const uint8_t *key, uint32_t key_bytes, uint64_t *lines,
                                               uint32_t *way)
{
    for (uint32_t ways = match(control, tag); ways != 0; ways &= ways - 1) {
        *way = (uint32_t)__builtin_ctz(ways);
        struct kvc_set_assoc_entry *entry = kvc_set_assoc_entry(table, control, *way);
        if (has_key(entry, key, key_bytes, lines)) {
            return entry;
        }
    }
    return NULL;
}

ALWAYS_INLINE bool search_one(const struct kvc_set_assoc_table *table, struct kvc_set_assoc_place place,
                              const uint8_t *key, uint32_t key_bytes, uint32_t now,
                              struct kvc_set_assoc_item *item, uint64_t *lines, bool shared)
{
    struct kvc_set_assoc_control *control = kvc_set_assoc_control(table, place.set);
    struct kvc_set_assoc_entry *entry;
    uint32_t version;
    do {
        uint32_t way;
        version = begin_read(control, shared);
        ++*lines;
        entry = find(table, control, place.tag, key, key_bytes, lines, &way);
        *item = entry != NULL ? item_of(entry) : no_item;
        /* With the shared lock the timestamp belongs to this key for certain; without it, a writer that comes
         * now gets a timestamp that is a little too new. A popular entry has `now` already: its line stays
         * shared. */
        if (entry != NULL && item->stamp != now) {
            STORE(&entry->stamp, now);
            item->stamp = now;
        }
    } while (!end_read(control, version, shared));
    return entry != NULL;
}

/* Free ways lowest first, else the oldest, of the oldest the lowest. */
ALWAYS_INLINE uint32_t choose_way(const struct kvc_set_assoc_table *table,
                                  struct kvc_set_assoc_control *control, uint32_t now, uint64_t *lines)
{
    uint32_t free_ways = ~control->valid & ((1u << table->ways) - 1);
    if (free_ways != 0) {
        return (uint32_t)__builtin_ctz(free_ways);
    }
    uint32_t oldest = 0;
    int32_t oldest_age = INT32_MIN;
    for (uint32_t w = 0; w < table->ways; w++) {
        int32_t age = kvc_set_assoc_age(now, LOAD(&kvc_set_assoc_entry(table, control, w)->stamp));
        oldest = age > oldest_age ? w : oldest;
        oldest_age = age > oldest_age ? age : oldest_age;
    }
    uint32_t headers_bytes = table->ways * table->entry_bytes;
    *lines += table->entry_bytes >= KVC_SET_ASSOC_LINE_BYTES
                  ? table->ways
                  : (headers_bytes + KVC_SET_ASSOC_LINE_BYTES - 1) / KVC_SET_ASSOC_LINE_BYTES;
    return oldest;
}

ALWAYS_INLINE void set_tag(struct kvc_set_assoc_control *control, uint32_t way, uint8_t tag)
{
    uint64_t *word = &control->tag[way / 8];
    unsigned shift = 8 * (way % 8);
    STORE(word, (*word & ~(UINT64_C(0xff) << shift)) | (uint64_t)tag << shift);
}

ALWAYS_INLINE void write_item(struct kvc_set_assoc_entry *entry, const struct kvc_set_assoc_item *item,
                              uint32_t now)
{
    STORE(&entry->stamp, now);
    STORE(&entry->location, item->location);
    STORE(&entry->value_bytes, item->value_bytes);
    STORE(&entry->flags, item->flags);
}

ALWAYS_INLINE void write_key(struct kvc_set_assoc_entry *entry, const uint8_t *key, uint32_t key_bytes)
{
    uint64_t *words = (uint64_t *)(entry + 1);
    STORE(&entry->key_bytes, (uint16_t)key_bytes);
    for (uint32_t at = 0; at < key_bytes; at += 8) {
        uint32_t left = key_bytes - at;
        STORE(&words[at / 8], kvc_bytes_word_64(key + at, left < 8 ? left : 8));
    }
}

ALWAYS_INLINE struct kvc_set_assoc_item insert_one(struct kvc_set_assoc *owner,
                                                   struct kvc_set_assoc_place place, const uint8_t *key,
                                                   uint32_t key_bytes, const struct kvc_set_assoc_item *item,
                                                   uint32_t now, struct kvc_index_stats *stats)
{
    const struct kvc_set_assoc_table *table = &owner->table;
    struct kvc_set_assoc_control *control = kvc_set_assoc_control(table, place.set);
    uint32_t way = 0;
    struct kvc_set_assoc_item left = no_item;
    lock_exclusive(control);
    stats->insert_lines++;
    struct kvc_set_assoc_entry *entry =
        find(table, control, place.tag, key, key_bytes, &stats->insert_lines, &way);
    if (entry != NULL) {
        left = item_of(entry);
        stats->replaced++;
    } else {
        uint64_t lines = 0;
        way = choose_way(table, control, now, &lines);
        entry = kvc_set_assoc_entry(table, control, way);
        if ((control->valid >> way & 1) != 0) {
            left = item_of(entry);
            stats->evicted++;
        }
        uint32_t entry_lines = kvc_set_assoc_entry_lines(entry, (uint32_t)sizeof(*entry) + key_bytes);
        stats->insert_lines += lines != 0 ? lines + entry_lines - 1 : entry_lines;
        set_tag(control, way, place.tag);
        STORE(&control->valid, control->valid | 1u << way);
        write_key(entry, key, key_bytes);
    }
    write_item(entry, item, now);
    unlock_exclusive(control, owner->shared_lock);
    return left;
}

ALWAYS_INLINE struct kvc_set_assoc_item erase_one(struct kvc_set_assoc *owner,
                                                  struct kvc_set_assoc_place place, const uint8_t *key,
                                                  uint32_t key_bytes, uint32_t location,
                                                  struct kvc_index_stats *stats)
{
    const struct kvc_set_assoc_table *table = &owner->table;
    struct kvc_set_assoc_control *control = kvc_set_assoc_control(table, place.set);
    uint32_t way = 0;
    struct kvc_set_assoc_item left = no_item;
    lock_exclusive(control);
    stats->erase_lines++;
    struct kvc_set_assoc_entry *entry =
        find(table, control, place.tag, key, key_bytes, &stats->erase_lines, &way);
    if (entry != NULL && (location == KVC_LOCATION_ANY || location == entry->location)) {
        left = item_of(entry);
        STORE(&control->valid, control->valid & ~(1u << way));
        stats->erased++;
    }
    unlock_exclusive(control, owner->shared_lock);
    return left;
}

/* Keys of a batch: those of struct kvc_set_assoc_keys, or 8 bytes each at `hash`. */
struct key_source {
    const struct kvc_set_assoc_keys *keys;
    const uint64_t *hash;
};

ALWAYS_INLINE const uint8_t *key_at(const struct key_source *from, uint32_t i)
{
    return from->hash != NULL ? (const uint8_t *)&from->hash[i] : from->keys->keys + from->keys->offset[i];
}

ALWAYS_INLINE uint32_t key_bytes_at(const struct key_source *from, uint32_t i)
{
    return from->hash != NULL ? (uint32_t)sizeof(uint64_t) : from->keys->bytes[i];
}

ALWAYS_INLINE bool valid_length(const struct kvc_set_assoc_table *table, uint32_t key_bytes)
{
    return key_bytes - 1 < table->key_bytes_max;
}

/* `for_write` is a constant wherever this is inlined. */
ALWAYS_INLINE void fetch(const void *line, bool for_write)
{
    if (for_write) {
        __builtin_prefetch(line, 1);
    } else {
        __builtin_prefetch(line, 0);
    }
}

/* First stage: the places of a group of keys; their control lines are on the way from here on. */
ALWAYS_INLINE void stage_places(const struct kvc_set_assoc_table *table, const struct key_source *from,
                                uint32_t first, uint32_t count, struct kvc_set_assoc_place *place,
                                bool for_write)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key_bytes = key_bytes_at(from, first + i);
        place[i] = (struct kvc_set_assoc_place){0, 0};
        if (valid_length(table, key_bytes)) {
            place[i] = kvc_set_assoc_place(table, key_at(from, first + i), key_bytes);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        fetch(kvc_set_assoc_control(table, place[i].set), for_write);
    }
}

/* Second stage, without the lock, since it only says what to fetch: each key's first entry with its tag. A
 * key without one fetches a line that is at hand: a branch would be mispredicted. */
ALWAYS_INLINE void stage_entries(const struct kvc_set_assoc_table *table,
                                 const struct kvc_set_assoc_place *place, uint32_t count, bool for_write)
{
    const void *line[GROUP];
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_set_assoc_control *control = kvc_set_assoc_control(table, place[i].set);
        uint32_t ways = match(control, place[i].tag);
        const void *entry = kvc_set_assoc_entry(table, control, (uint32_t)__builtin_ctz(ways | 1u << 31));
        line[i] = ways != 0 ? entry : control;
    }
    for (uint32_t i = 0; i < count; i++) {
        fetch(line[i], for_write);
    }
}

/* The same for keys to be stored, which also want a free entry, or all headers of a full set. */
ALWAYS_INLINE void stage_victims(const struct kvc_set_assoc_table *table,
                                 const struct kvc_set_assoc_place *place, uint32_t count)
{
    uint8_t *first[GROUP], *end[GROUP];
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_set_assoc_control *control = kvc_set_assoc_control(table, place[i].set);
        uint32_t ways = match(control, place[i].tag);
        uint32_t free_ways = ~LOAD(&control->valid) & ((1u << table->ways) - 1);
        uint32_t wanted = ways != 0 ? ways : free_ways;
        uint32_t way = wanted != 0 ? (uint32_t)__builtin_ctz(wanted) : 0;
        first[i] = (uint8_t *)kvc_set_assoc_entry(table, control, way);
        end[i] = first[i] + (wanted != 0 ? 1 : table->ways) * table->entry_bytes;
    }
    uint32_t step =
        table->entry_bytes < KVC_SET_ASSOC_LINE_BYTES ? KVC_SET_ASSOC_LINE_BYTES : table->entry_bytes;
    for (uint32_t i = 0; i < count; i++) {
        for (uint8_t *line = first[i]; line < end[i]; line += step) {
            __builtin_prefetch(line, 1);
        }
    }
}

/* Where what was found goes: one of the two. */
struct found {
    struct kvc_set_assoc_item *items;
    uint32_t *location;
};

ALWAYS_INLINE void put_found(const struct found *to, uint32_t i, const struct kvc_set_assoc_item *item)
{
    if (to->items != NULL) {
        to->items[i] = *item;
    }
    if (to->location != NULL) {
        to->location[i] = item->location;
    }
}

/* Keys in group `g` of `count`. */
ALWAYS_INLINE uint32_t group_size(uint32_t count, uint64_t g)
{
    uint64_t left = count - g * GROUP;
    return left < GROUP ? (uint32_t)left : GROUP;
}

ALWAYS_INLINE void search(struct kvc_set_assoc *owner, const struct key_source *from, uint32_t count,
                          uint32_t now, const struct found *to, struct kvc_index_stats *stats, bool shared)
{
    const struct kvc_set_assoc_table table = owner->table;
    struct kvc_set_assoc_place ring[3][GROUP];
    uint64_t hits = 0, lines = 0;
    uint64_t groups = ((uint64_t)count + GROUP - 1) / GROUP;
    for (uint64_t g = 0; g < groups + 2; g++) {
        if (g < groups) {
            stage_places(&table, from, (uint32_t)(g * GROUP), group_size(count, g), ring[g % 3], false);
        }
        if (g >= 1 && g < groups + 1) {
            stage_entries(&table, ring[(g - 1) % 3], group_size(count, g - 1), false);
        }
        for (uint32_t i = 0; g >= 2 && i < group_size(count, g - 2); i++) {
            uint32_t k = (uint32_t)((g - 2) * GROUP) + i;
            struct kvc_set_assoc_item item = no_item;
            if (valid_length(&table, key_bytes_at(from, k))) {
                hits += search_one(&table, ring[(g - 2) % 3][i], key_at(from, k), key_bytes_at(from, k), now,
                                   &item, &lines, shared);
            }
            put_found(to, k, &item);
        }
    }
    stats->searches += count;
    stats->search_hits += hits;
    stats->search_lines += lines;
}

/* What a batch of inserts stores, or erases remove. */
struct change {
    const struct kvc_set_assoc_item *items; /* or NULL */
    const uint32_t *location;               /* or NULL */
    bool insert;
};

ALWAYS_INLINE struct kvc_set_assoc_item change_one(struct kvc_set_assoc *owner, const struct change *change,
                                                   const struct key_source *from,
                                                   struct kvc_set_assoc_place place, uint32_t i, uint32_t now,
                                                   struct kvc_index_stats *stats)
{
    const uint8_t *key = key_at(from, i);
    uint32_t key_bytes = key_bytes_at(from, i);
    bool valid = valid_length(&owner->table, key_bytes);
    if (!change->insert) {
        uint32_t location = change->location != NULL ? change->location[i] : KVC_LOCATION_ANY;
        return valid ? erase_one(owner, place, key, key_bytes, location, stats) : no_item;
    }
    struct kvc_set_assoc_item item = {0};
    if (change->items != NULL) {
        item = change->items[i];
    } else {
        item.location = change->location[i];
    }
    if (!valid || item.location >= KVC_LOCATION_ANY) {
        stats->dropped++;
        return item;
    }
    return insert_one(owner, place, key, key_bytes, &item, now + i, stats);
}

ALWAYS_INLINE void write(struct kvc_set_assoc *owner, const struct key_source *from, uint32_t count,
                         uint32_t now, const struct change *change, const struct found *to,
                         struct kvc_index_stats *stats)
{
    const struct kvc_set_assoc_table table = owner->table;
    struct kvc_set_assoc_place ring[3][GROUP];
    struct kvc_index_stats local = {0};
    uint64_t groups = ((uint64_t)count + GROUP - 1) / GROUP;
    for (uint64_t g = 0; g < groups + 2; g++) {
        if (g < groups) {
            stage_places(&table, from, (uint32_t)(g * GROUP), group_size(count, g), ring[g % 3], true);
        }
        if (g >= 1 && g < groups + 1) {
            if (change->insert) {
                stage_victims(&table, ring[(g - 1) % 3], group_size(count, g - 1));
            } else {
                stage_entries(&table, ring[(g - 1) % 3], group_size(count, g - 1), true);
            }
        }
        for (uint32_t i = 0; g >= 2 && i < group_size(count, g - 2); i++) {
            uint32_t k = (uint32_t)((g - 2) * GROUP) + i;
            struct kvc_set_assoc_item left =
                change_one(owner, change, from, ring[(g - 2) % 3][i], k, now, &local);
            put_found(to, k, &left);
        }
    }
    uint64_t came = change->insert ? count - local.replaced - local.evicted - local.dropped : 0;
    __atomic_fetch_add(&owner->used, came - local.erased, __ATOMIC_RELAXED);
    local.inserts = change->insert ? count : 0;
    local.erases = change->insert ? 0 : count;
    kvc_index_stats_add(stats, &local);
}

void kvc_set_assoc_search(struct kvc_set_assoc *table, const struct kvc_set_assoc_keys *keys, uint32_t count,
                          uint32_t now, struct kvc_set_assoc_item *items, struct kvc_index_stats *stats)
{
    const struct key_source from = {.keys = keys};
    const struct found to = {.items = items};
    if (table->shared_lock) {
        search(table, &from, count, now, &to, stats, true);
    } else {
        search(table, &from, count, now, &to, stats, false);
    }
}

void kvc_set_assoc_insert(struct kvc_set_assoc *table, const struct kvc_set_assoc_keys *keys,
                          const struct kvc_set_assoc_item *items, uint32_t count, uint32_t now,
                          struct kvc_set_assoc_item *out, struct kvc_index_stats *stats)
{
    write(table, &(struct key_source){.keys = keys}, count, now,
          &(struct change){.items = items, .insert = true}, &(struct found){.items = out}, stats);
}

void kvc_set_assoc_erase(struct kvc_set_assoc *table, const struct kvc_set_assoc_keys *keys,
                         const uint32_t *location, uint32_t count, struct kvc_set_assoc_item *out,
                         struct kvc_index_stats *stats)
{
    write(table, &(struct key_source){.keys = keys}, count, 0, &(struct change){.location = location},
          &(struct found){.items = out}, stats);
}

static void index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                         struct kvc_index_stats *stats)
{
    struct kvc_set_assoc *table = table_of(index);
    uint32_t now = __atomic_fetch_add(&table->clock, 1, __ATOMIC_RELAXED);
    const struct key_source from = {.hash = hash};
    const struct found to = {.location = location};
    if (table->shared_lock) {
        search(table, &from, count, now, &to, stats, true);
    } else {
        search(table, &from, count, now, &to, stats, false);
    }
}

static void index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                         uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct kvc_set_assoc *table = table_of(index);
    uint32_t now = __atomic_fetch_add(&table->clock, count, __ATOMIC_RELAXED);
    write(table, &(struct key_source){.hash = hash}, count, now,
          &(struct change){.location = location, .insert = true}, &(struct found){.location = out}, stats);
}

static void index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                        uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    write(table_of(index), &(struct key_source){.hash = hash}, count, 0,
          &(struct change){.location = location}, &(struct found){.location = out}, stats);
}

static uint64_t index_capacity(const struct kvc_index *index)
{
    const struct kvc_set_assoc *table = (const struct kvc_set_assoc *)index;
    return (uint64_t)table->table.set_count * table->table.ways;
}

static uint64_t index_used(const struct kvc_index *index)
{
    return __atomic_load_n(&((const struct kvc_set_assoc *)index)->used, __ATOMIC_RELAXED);
}

void kvc_set_assoc_free(struct kvc_set_assoc *table)
{
    if (table != NULL) {
        kvc_pages_free(table->table.sets, (uint64_t)table->table.set_count * table->table.set_bytes);
        free(table);
    }
}

static void index_free(struct kvc_index *index)
{
    kvc_set_assoc_free(table_of(index));
}

static const struct kvc_index_ops set_assoc_ops = {
    .free = index_free,
    .search = index_search,
    .insert = index_insert,
    .erase = index_erase,
    .capacity = index_capacity,
    .used = index_used,
};

bool kvc_set_assoc_geometry(const struct kvc_set_assoc_params *params, struct kvc_set_assoc_table *table)
{
    if (params->sets == 0 || params->ways == 0 || params->ways > KVC_SET_ASSOC_WAYS ||
        (params->ways & (params->ways - 1)) != 0 || params->key_bytes_max == 0 ||
        params->key_bytes_max > KVC_SET_ASSOC_KEY_MAX) {
        return false;
    }
    *table = (struct kvc_set_assoc_table){
        .set_count = params->sets,
        .set_bytes = kvc_set_assoc_set_bytes(params->ways, params->key_bytes_max),
        .entry_bytes = kvc_set_assoc_entry_bytes(params->key_bytes_max),
        .ways = params->ways,
        .key_bytes_max = params->key_bytes_max,
    };
    return true;
}

struct kvc_set_assoc *kvc_set_assoc_create(const struct kvc_set_assoc_params *params)
{
    struct kvc_set_assoc_table geometry;
    if (!kvc_set_assoc_geometry(params, &geometry)) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_set_assoc *table = malloc(sizeof(*table));
    if (table == NULL) {
        return NULL;
    }
    *table = (struct kvc_set_assoc){
        .index = {&set_assoc_ops}, .table = geometry, .shared_lock = params->shared_lock};
    table->table.sets = kvc_pages_alloc((uint64_t)geometry.set_count * geometry.set_bytes);
    if (table->table.sets == NULL) {
        free(table);
        errno = ENOMEM;
        return NULL;
    }
    return table;
}

static struct kvc_index *create_published(uint64_t bytes, uint64_t seed)
{
    (void)seed; /* nothing random */
    uint64_t sets = bytes / kvc_set_assoc_set_bytes(KVC_SET_ASSOC_WAYS, sizeof(uint64_t));
    if (sets > UINT32_MAX) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_set_assoc *table = kvc_set_assoc_create(&(struct kvc_set_assoc_params){
        .sets = (uint32_t)sets, .ways = KVC_SET_ASSOC_WAYS, .key_bytes_max = sizeof(uint64_t)});
    return table != NULL ? &table->index : NULL;
}

const struct kvc_index_kind kvc_set_assoc_kind = {
    .name = "memcachedgpu-set-assoc",
    .source = "MemcachedGPU, SoCC 2015, sec. 4.2",
    .create = create_published,
    .caches = true,
    .many_readers = true,
};

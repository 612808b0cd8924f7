#include "kernels/memcachedgpu/set_assoc.h"

#include <errno.h>
#include <stdlib.h>

#include "kernels/pages.h"

/* Loads a field that a writer may be changing. Acquire order puts the load before the reader's second look
 * at the version, at no cost on x86. */
#define LOAD(from) __atomic_load_n(from, __ATOMIC_ACQUIRE)

/* Stores a field that readers may be reading. Release order puts the store after the writer takes the lock,
 * at no cost on x86. */
#define STORE(to, value) __atomic_store_n(to, value, __ATOMIC_RELEASE)

/* Tells the processor that this thread spins. */
KVC_TABLE_INLINE void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Returns the version of a set that no writer holds, after waiting for the writer if necessary. */
KVC_TABLE_INLINE uint32_t begin_read(struct kvc_set_assoc_control *control, bool shared)
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

/* Returns false if a writer intervened, which invalidates what was read. */
KVC_TABLE_INLINE bool end_read(struct kvc_set_assoc_control *control, uint32_t version, bool shared)
{
    if (shared) {
        __atomic_fetch_sub(&control->lock, KVC_SET_ASSOC_READER, __ATOMIC_RELEASE);
        return true;
    }
    return (uint32_t)(LOAD(&control->lock) >> 32) == version;
}

/* Takes the exclusive lock of a set. */
KVC_TABLE_INLINE void lock_exclusive(struct kvc_set_assoc_control *control)
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

/* Ends a write. If readers never share the lock, only its writer changes it, so no atomic addition is
 * needed. */
KVC_TABLE_INLINE void unlock_exclusive(struct kvc_set_assoc_control *control, bool shared)
{
    if (shared) {
        __atomic_fetch_add(&control->lock, KVC_SET_ASSOC_WRITER, __ATOMIC_RELEASE);
    } else {
        STORE(&control->lock, __atomic_load_n(&control->lock, __ATOMIC_RELAXED) + KVC_SET_ASSOC_WRITER);
    }
}

/* Bit i of the result is set if byte i of the word is zero. */
KVC_TABLE_INLINE uint32_t zero_bytes(uint64_t word)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t zero = ~(((word & low) + low) | word | low); /* 0x80 in exactly the bytes that are zero */
    return (uint32_t)((zero >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

/* Bit w of the result is set if way w is valid and has this tag. */
KVC_TABLE_INLINE uint32_t match(const struct kvc_set_assoc_control *control, uint8_t tag)
{
    uint64_t all = tag * UINT64_C(0x0101010101010101);
    return (zero_bytes(LOAD(&control->tag[0]) ^ all) | zero_bytes(LOAD(&control->tag[1]) ^ all) << 8) &
           LOAD(&control->valid);
}

/* Returns the words of an entry's key. */
KVC_TABLE_INLINE const uint64_t *key_words(const struct kvc_set_assoc_entry *entry)
{
    return (const uint64_t *)(entry + 1);
}

/* Compares the key with the key of an entry and counts the lines touched. */
KVC_TABLE_INLINE bool has_key(const struct kvc_set_assoc_entry *entry, const uint8_t *key, uint32_t key_bytes,
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

/* Returns the item of an entry. */
KVC_TABLE_INLINE struct kvc_set_assoc_item item_of(const struct kvc_set_assoc_entry *entry)
{
    return (struct kvc_set_assoc_item){.location = LOAD(&entry->location),
                                       .value_bytes = LOAD(&entry->value_bytes),
                                       .stamp = LOAD(&entry->stamp),
                                       .flags = LOAD(&entry->flags)};
}

/* An item without a location. */
static const struct kvc_set_assoc_item no_item = {.location = KVC_LOCATION_NONE};

/* Returns the entry of a key among those with its tag, or NULL. */
KVC_TABLE_INLINE struct kvc_set_assoc_entry *find(const struct kvc_set_assoc_table *table,
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

/* Looks up one key, stamps its entry and returns whether it was found. */
KVC_TABLE_INLINE bool search_one(const struct kvc_set_assoc_table *table, struct kvc_set_assoc_place place,
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
        /* Under the shared lock, the timestamp certainly belongs to this key. Without it, an entry that a
         * writer has taken meanwhile gets a timestamp that is slightly too new. A popular entry already has
         * the timestamp `now`, so its line stays shared between caches. */
        if (entry != NULL && item->stamp != now) {
            STORE(&entry->stamp, now);
            item->stamp = now;
        }
    } while (!end_read(control, version, shared));
    return entry != NULL;
}

/* Chooses the way for a new key: the lowest free way, otherwise the oldest way, and the lowest of equally
 * old ones. */
KVC_TABLE_INLINE uint32_t choose_way(const struct kvc_set_assoc_table *table,
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

/* Stores the tag of a way. */
KVC_TABLE_INLINE void set_tag(struct kvc_set_assoc_control *control, uint32_t way, uint8_t tag)
{
    uint64_t *word = &control->tag[way / 8];
    unsigned shift = 8 * (way % 8);
    STORE(word, (*word & ~(UINT64_C(0xff) << shift)) | (uint64_t)tag << shift);
}

/* Stores an item and its timestamp in an entry. */
KVC_TABLE_INLINE void write_item(struct kvc_set_assoc_entry *entry, const struct kvc_set_assoc_item *item,
                                 uint32_t now)
{
    STORE(&entry->stamp, now);
    STORE(&entry->location, item->location);
    STORE(&entry->value_bytes, item->value_bytes);
    STORE(&entry->flags, item->flags);
}

/* Stores a key in an entry. */
KVC_TABLE_INLINE void write_key(struct kvc_set_assoc_entry *entry, const uint8_t *key, uint32_t key_bytes)
{
    uint64_t *words = (uint64_t *)(entry + 1);
    STORE(&entry->key_bytes, (uint16_t)key_bytes);
    for (uint32_t at = 0; at < key_bytes; at += 8) {
        uint32_t left = key_bytes - at;
        STORE(&words[at / 8], kvc_bytes_word_64(key + at, left < 8 ? left : 8));
    }
}

/* Inserts one key and returns the item that was replaced or evicted. */
KVC_TABLE_INLINE struct kvc_set_assoc_item insert_one(struct kvc_set_assoc *owner,
                                                      struct kvc_set_assoc_place place, const uint8_t *key,
                                                      uint32_t key_bytes,
                                                      const struct kvc_set_assoc_item *item, uint32_t now,
                                                      struct kvc_index_stats *stats)
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

/* Erases one key and returns its item. */
KVC_TABLE_INLINE struct kvc_set_assoc_item erase_one(struct kvc_set_assoc *owner,
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

/* Prefetches into the second-level cache, whose queue holds more lines than the fill buffers of the first.
 * `for_write` is a constant wherever this function is inlined. */
KVC_TABLE_INLINE void fetch(const void *line, bool for_write)
{
    if (for_write) {
        __builtin_prefetch(line, 1);
    } else {
        __builtin_prefetch(line, 0, 1);
    }
}

/* First step: computes the places of a group of keys and prefetches their control lines. */
KVC_TABLE_INLINE void stage_places(const struct kvc_set_assoc_table *table,
                                   const struct kvc_table_batch *batch, uint32_t first, uint32_t count,
                                   struct kvc_set_assoc_place *place, bool for_write)
{
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_table_key key = kvc_table_key(batch, first + i);
        place[i] = (struct kvc_set_assoc_place){0, 0};
        if (kvc_table_key_valid(key, table->key_bytes_max)) {
            place[i] = kvc_set_assoc_place(table, key.data, key.bytes);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        fetch(kvc_set_assoc_control(table, place[i].set), for_write);
    }
}

/* Second step: prefetches each key's first entry with its tag. It takes no lock, because the result only
 * decides what to prefetch. A key without such an entry prefetches a line that is already cached, since a
 * branch would be mispredicted. */
KVC_TABLE_INLINE void stage_entries(const struct kvc_set_assoc_table *table,
                                    const struct kvc_set_assoc_place *place, uint32_t count, bool for_write)
{
    const void *line[KVC_TABLE_GROUP];
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

/* The same for keys to be stored, which also need a free entry, or the headers of a full set. */
KVC_TABLE_INLINE void stage_victims(const struct kvc_set_assoc_table *table,
                                    const struct kvc_set_assoc_place *place, uint32_t count)
{
    uint8_t *first[KVC_TABLE_GROUP], *end[KVC_TABLE_GROUP];
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

KVC_TABLE_INLINE void search(struct kvc_set_assoc *owner, const struct kvc_table_batch *batch, uint32_t count,
                             uint32_t now, struct kvc_index_stats *stats, bool shared)
{
    const struct kvc_set_assoc_table table = owner->table;
    struct kvc_set_assoc_place ring[3][KVC_TABLE_GROUP];
    uint64_t hits = 0, lines = 0;
    uint64_t groups = kvc_table_groups(count);
    for (uint64_t g = 0; g < groups + 2; g++) {
        if (g < groups) {
            stage_places(&table, batch, (uint32_t)(g * KVC_TABLE_GROUP), kvc_table_group_size(count, g),
                         ring[g % 3], false);
        }
        if (g >= 1 && g < groups + 1) {
            stage_entries(&table, ring[(g - 1) % 3], kvc_table_group_size(count, g - 1), false);
        }
        for (uint32_t i = 0; g >= 2 && i < kvc_table_group_size(count, g - 2); i++) {
            uint32_t k = (uint32_t)((g - 2) * KVC_TABLE_GROUP) + i;
            struct kvc_table_key key = kvc_table_key(batch, k);
            struct kvc_set_assoc_item item = no_item;
            if (kvc_table_key_valid(key, table.key_bytes_max)) {
                hits +=
                    search_one(&table, ring[(g - 2) % 3][i], key.data, key.bytes, now, &item, &lines, shared);
            }
            kvc_table_answer(batch, k, item);
        }
    }
    stats->search_hits += hits;
    stats->search_lines += lines;
}

/* `is_insert` is a constant wherever this function is inlined. */
KVC_TABLE_INLINE struct kvc_set_assoc_item
change_one(struct kvc_set_assoc *owner, const struct kvc_table_batch *batch, struct kvc_set_assoc_place place,
           uint32_t i, uint32_t now, struct kvc_index_stats *stats, bool is_insert)
{
    struct kvc_table_key key = kvc_table_key(batch, i);
    bool valid = kvc_table_key_valid(key, owner->table.key_bytes_max);
    if (!is_insert) {
        return valid ? erase_one(owner, place, key.data, key.bytes, kvc_table_wanted(batch, i), stats)
                     : no_item;
    }
    struct kvc_set_assoc_item item = kvc_table_item(batch, i);
    if (!valid || item.location >= KVC_LOCATION_ANY) {
        stats->dropped++;
        return item;
    }
    return insert_one(owner, place, key.data, key.bytes, &item, now + i, stats);
}

KVC_TABLE_INLINE void change(struct kvc_set_assoc *owner, const struct kvc_table_batch *batch, uint32_t count,
                             uint32_t now, struct kvc_index_stats *stats, bool is_insert)
{
    const struct kvc_set_assoc_table table = owner->table;
    struct kvc_set_assoc_place ring[3][KVC_TABLE_GROUP];
    struct kvc_index_stats local = {0};
    uint64_t groups = kvc_table_groups(count);
    for (uint64_t g = 0; g < groups + 2; g++) {
        if (g < groups) {
            stage_places(&table, batch, (uint32_t)(g * KVC_TABLE_GROUP), kvc_table_group_size(count, g),
                         ring[g % 3], true);
        }
        if (g >= 1 && g < groups + 1) {
            if (is_insert) {
                stage_victims(&table, ring[(g - 1) % 3], kvc_table_group_size(count, g - 1));
            } else {
                stage_entries(&table, ring[(g - 1) % 3], kvc_table_group_size(count, g - 1), true);
            }
        }
        for (uint32_t i = 0; g >= 2 && i < kvc_table_group_size(count, g - 2); i++) {
            uint32_t k = (uint32_t)((g - 2) * KVC_TABLE_GROUP) + i;
            kvc_table_answer(batch, k,
                             change_one(owner, batch, ring[(g - 2) % 3][i], k, now, &local, is_insert));
        }
    }
    uint64_t came = is_insert ? count - local.replaced - local.evicted - local.dropped : 0;
    __atomic_fetch_add(&owner->used, came - local.erased, __ATOMIC_RELAXED);
    kvc_index_stats_add(stats, &local);
}

/* `operation` is a constant wherever this function is inlined. */
KVC_TABLE_INLINE void run_operation(struct kvc_table *base, const struct kvc_table_batch *batch,
                                    uint32_t count, uint32_t now, struct kvc_index_stats *stats,
                                    enum kvc_table_operation operation)
{
    struct kvc_set_assoc *owner = (struct kvc_set_assoc *)base; /* the first member */
    if (operation != KVC_TABLE_SEARCH) {
        change(owner, batch, count, now, stats, operation == KVC_TABLE_INSERT);
    } else if (owner->shared_lock) {
        search(owner, batch, count, now, stats, true);
    } else {
        search(owner, batch, count, now, stats, false);
    }
}

KVC_TABLE_RUN(run_operation)

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
    kvc_set_assoc_free((struct kvc_set_assoc *)index);
}

/* Does the first two steps of a search, and takes the location of the first entry with the tag. */
static void index_peek(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                       struct kvc_index_stats *stats)
{
    const struct kvc_set_assoc_table *table = &((const struct kvc_set_assoc *)index)->table;
    struct kvc_set_assoc_place place[KVC_TABLE_GROUP];
    (void)stats;
    for (uint64_t g = 0; g < kvc_table_groups(count); g++) {
        uint32_t first = (uint32_t)(g * KVC_TABLE_GROUP), size = kvc_table_group_size(count, g);
        stage_places(table, &(struct kvc_table_batch){.hash = hash}, first, size, place, false);
        stage_entries(table, place, size, false);
        for (uint32_t i = 0; i < size; i++) {
            struct kvc_set_assoc_control *control = kvc_set_assoc_control(table, place[i].set);
            uint32_t ways = match(control, place[i].tag);
            location[first + i] =
                ways != 0 ? kvc_set_assoc_entry(table, control, (uint32_t)__builtin_ctz(ways))->location
                          : KVC_LOCATION_NONE;
        }
    }
}

static const struct kvc_index_ops set_assoc_ops = {
    .free = index_free,
    .search = kvc_table_index_search,
    .peek = index_peek,
    .insert = kvc_table_index_insert,
    .erase = kvc_table_index_erase,
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
    *table = (struct kvc_set_assoc){.base = {.index = {&set_assoc_ops}, .run = run_by_operation},
                                    .table = geometry,
                                    .shared_lock = params->shared_lock};
    table->table.sets = kvc_pages_alloc((uint64_t)geometry.set_count * geometry.set_bytes);
    if (table->table.sets == NULL) {
        free(table);
        errno = ENOMEM;
        return NULL;
    }
    return table;
}

bool kvc_set_assoc_published(uint64_t bytes, struct kvc_set_assoc_params *params)
{
    uint64_t sets = bytes / kvc_set_assoc_set_bytes(KVC_SET_ASSOC_WAYS, sizeof(uint64_t));
    *params = (struct kvc_set_assoc_params){
        .sets = (uint32_t)sets, .ways = KVC_SET_ASSOC_WAYS, .key_bytes_max = sizeof(uint64_t)};
    return sets <= UINT32_MAX;
}

static struct kvc_index *create_published(uint64_t bytes, uint64_t seed)
{
    struct kvc_set_assoc_params params;
    (void)seed; /* nothing is random */
    if (!kvc_set_assoc_published(bytes, &params)) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_set_assoc *table = kvc_set_assoc_create(&params);
    return table != NULL ? &table->base.index : NULL;
}

const struct kvc_index_kind kvc_set_assoc_kind = {
    .name = "memcachedgpu-set-assoc",
    .source = "MemcachedGPU, SoCC 2015, sec. 4.2",
    .create = create_published,
    .caches = true,
    .many_readers = true,
};

#include "kernels/memcachedgpu/set_assoc.h"

#include <errno.h>
#include <stdlib.h>

#include "kernels/memcachedgpu/set_assoc_host.h"
#include "kernels/pages.h"

enum {
    /* Keys pass through the steps of a batch (place, entry, operation) in groups of this size. The lines of a
     * group are prefetched in one tight loop: a prefetch that needs a page walk holds back everything behind
     * it, so page walks overlap only if the prefetches are close together. */
    GROUP = 32,
};

static inline struct kvc_set_assoc *table_of(struct kvc_index *index)
{
    return (struct kvc_set_assoc *)index; /* the first member */
}

/* Keys of a batch: those of struct kvc_set_assoc_keys, or 8 bytes each at `hash`. */
struct key_source {
    const struct kvc_set_assoc_keys *keys;
    const uint64_t *hash;
};

KVC_SET_ASSOC_INLINE const uint8_t *key_at(const struct key_source *from, uint32_t i)
{
    return from->hash != NULL ? (const uint8_t *)&from->hash[i] : from->keys->keys + from->keys->offset[i];
}

KVC_SET_ASSOC_INLINE uint32_t key_bytes_at(const struct key_source *from, uint32_t i)
{
    return from->hash != NULL ? (uint32_t)sizeof(uint64_t) : from->keys->bytes[i];
}

KVC_SET_ASSOC_INLINE bool valid_length(const struct kvc_set_assoc_table *table, uint32_t key_bytes)
{
    return key_bytes - 1 < table->key_bytes_max;
}

/* Prefetches into the second-level cache, whose queue holds more lines than the fill buffers of the first.
 * `for_write` is a constant wherever this function is inlined. */
KVC_SET_ASSOC_INLINE void fetch(const void *line, bool for_write)
{
    if (for_write) {
        __builtin_prefetch(line, 1);
    } else {
        __builtin_prefetch(line, 0, 1);
    }
}

/* First step: computes the places of a group of keys and prefetches their control lines. */
KVC_SET_ASSOC_INLINE void stage_places(const struct kvc_set_assoc_table *table, const struct key_source *from,
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

/* Second step: prefetches each key's first entry with its tag. It takes no lock, because the result only
 * decides what to prefetch. A key without such an entry prefetches a line that is already cached, since a
 * branch would be mispredicted. */
KVC_SET_ASSOC_INLINE void stage_entries(const struct kvc_set_assoc_table *table,
                                        const struct kvc_set_assoc_place *place, uint32_t count,
                                        bool for_write)
{
    const void *line[GROUP];
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_set_assoc_control *control = kvc_set_assoc_control(table, place[i].set);
        uint32_t ways = kvc_set_assoc_match(control, place[i].tag);
        const void *entry = kvc_set_assoc_entry(table, control, (uint32_t)__builtin_ctz(ways | 1u << 31));
        line[i] = ways != 0 ? entry : control;
    }
    for (uint32_t i = 0; i < count; i++) {
        fetch(line[i], for_write);
    }
}

/* The same for keys to be stored, which also need a free entry, or the headers of a full set. */
KVC_SET_ASSOC_INLINE void stage_victims(const struct kvc_set_assoc_table *table,
                                        const struct kvc_set_assoc_place *place, uint32_t count)
{
    uint8_t *first[GROUP], *end[GROUP];
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_set_assoc_control *control = kvc_set_assoc_control(table, place[i].set);
        uint32_t ways = kvc_set_assoc_match(control, place[i].tag);
        uint32_t free_ways = ~KVC_SET_ASSOC_LOAD(&control->valid) & ((1u << table->ways) - 1);
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

/* Where results go: one of the two is set. */
struct found {
    struct kvc_set_assoc_item *items;
    uint32_t *location;
};

KVC_SET_ASSOC_INLINE void put_found(const struct found *to, uint32_t i, const struct kvc_set_assoc_item *item)
{
    if (to->items != NULL) {
        to->items[i] = *item;
    }
    if (to->location != NULL) {
        to->location[i] = item->location;
    }
}

/* Returns the number of keys in group `g` of a batch of `count`. */
KVC_SET_ASSOC_INLINE uint32_t group_size(uint32_t count, uint64_t g)
{
    uint64_t left = count - g * GROUP;
    return left < GROUP ? (uint32_t)left : GROUP;
}

KVC_SET_ASSOC_INLINE void search(struct kvc_set_assoc *owner, const struct key_source *from, uint32_t count,
                                 uint32_t now, const struct found *to, struct kvc_index_stats *stats,
                                 bool shared)
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
            struct kvc_set_assoc_item item = kvc_set_assoc_no_item;
            if (valid_length(&table, key_bytes_at(from, k))) {
                hits += kvc_set_assoc_search_one(&table, ring[(g - 2) % 3][i], key_at(from, k),
                                                 key_bytes_at(from, k), now, &item, &lines, shared);
            }
            put_found(to, k, &item);
        }
    }
    stats->searches += count;
    stats->search_hits += hits;
    stats->search_lines += lines;
}

/* What a batch of inserts stores, or what a batch of erases removes. */
struct change {
    const struct kvc_set_assoc_item *items; /* may be NULL */
    const uint32_t *location;               /* may be NULL */
    bool insert;
};

KVC_SET_ASSOC_INLINE struct kvc_set_assoc_item
change_one(struct kvc_set_assoc *owner, const struct change *change, const struct key_source *from,
           struct kvc_set_assoc_place place, uint32_t i, uint32_t now, struct kvc_index_stats *stats)
{
    const uint8_t *key = key_at(from, i);
    uint32_t key_bytes = key_bytes_at(from, i);
    bool valid = valid_length(&owner->table, key_bytes);
    if (!change->insert) {
        uint32_t location = change->location != NULL ? change->location[i] : KVC_LOCATION_ANY;
        return valid ? kvc_set_assoc_erase_one(owner, place, key, key_bytes, location, stats)
                     : kvc_set_assoc_no_item;
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
    return kvc_set_assoc_insert_one(owner, place, key, key_bytes, &item, now + i, stats);
}

KVC_SET_ASSOC_INLINE void write(struct kvc_set_assoc *owner, const struct key_source *from, uint32_t count,
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
    (void)seed; /* nothing is random */
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

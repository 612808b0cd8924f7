#include "kernels/memcachedgpu/hopscotch.h"

#include <errno.h>
#include <stdlib.h>

#include "kernels/pages.h"

static const uint32_t homes_max = UINT32_C(1) << 31;

KVC_TABLE_INLINE void fetch(const void *line, bool for_write)
{
    if (for_write) {
        __builtin_prefetch(line, 1);
    } else {
        __builtin_prefetch(line, 0);
    }
}

/* First step: computes the places of a group of keys and prefetches their tags. */
KVC_TABLE_INLINE void stage_places(const struct kvc_hopscotch_table *table,
                                   const struct kvc_table_batch *batch, uint32_t first, uint32_t count,
                                   struct kvc_hopscotch_place *place, bool for_write)
{
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_table_key key = kvc_table_key(batch, first + i);
        place[i] = (struct kvc_hopscotch_place){0, 1};
        if (kvc_table_key_valid(key, table->key_bytes_max)) {
            place[i] = kvc_hopscotch_place(table, key);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *tags = table->tags + place[i].home;
        fetch(tags, for_write);
        fetch(tags + table->neighbours - 1, for_write); /* mostly the same line */
    }
}

/* Second step: prefetches each key's first entry with its tag. A key without such an entry prefetches a line
 * that is already cached, since a branch would be mispredicted. */
KVC_TABLE_INLINE void stage_entries(const struct kvc_hopscotch_table *table,
                                    const struct kvc_hopscotch_place *place, uint32_t count, bool for_write)
{
    const void *line[KVC_TABLE_GROUP];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t found = kvc_hopscotch_match(table, place[i].home, place[i].tag);
        const void *entry =
            kvc_hopscotch_entry(table, place[i].home + kvc_hopscotch_lowest(found | 1u << 31));
        line[i] = found != 0 ? entry : table->tags + place[i].home;
    }
    for (uint32_t i = 0; i < count; i++) {
        fetch(line[i], for_write);
    }
}

/* The same for keys to be stored, which also need an empty entry, or the headers of a full neighbourhood. */
KVC_TABLE_INLINE void stage_victims(const struct kvc_hopscotch_table *table,
                                    const struct kvc_hopscotch_place *place, uint32_t count)
{
    uint8_t *first[KVC_TABLE_GROUP], *end[KVC_TABLE_GROUP];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t found = kvc_hopscotch_match(table, place[i].home, place[i].tag);
        uint32_t empty = kvc_hopscotch_match(table, place[i].home, 0);
        uint32_t wanted = found != 0 ? found : empty;
        uint32_t number = place[i].home + (wanted != 0 ? kvc_hopscotch_lowest(wanted) : 0);
        uint8_t *entry = (uint8_t *)kvc_hopscotch_entry(table, number);
        first[i] = entry - ((uintptr_t)entry & (KVC_SET_ASSOC_LINE_BYTES - 1));
        end[i] = entry + (wanted != 0 ? 1 : table->neighbours) * table->entry_bytes;
    }
    uint32_t step =
        table->entry_bytes < KVC_SET_ASSOC_LINE_BYTES ? KVC_SET_ASSOC_LINE_BYTES : table->entry_bytes;
    for (uint32_t i = 0; i < count; i++) {
        for (uint8_t *line = first[i]; line < end[i]; line += step) {
            fetch(line, true);
        }
    }
}

/* `operation` and `neighbours` are constants wherever this function is inlined. */
KVC_TABLE_INLINE struct kvc_set_assoc_item do_one(const struct kvc_hopscotch_table *table,
                                                  const struct kvc_table_batch *batch, uint32_t i,
                                                  struct kvc_hopscotch_place place, uint32_t now,
                                                  struct kvc_index_stats *stats,
                                                  enum kvc_table_operation operation)
{
    struct kvc_table_key key = kvc_table_key(batch, i);
    bool valid = kvc_table_key_valid(key, table->key_bytes_max);
    if (operation == KVC_TABLE_SEARCH) {
        return valid ? kvc_hopscotch_search_one(table, place, key, now, stats) : kvc_table_no_item();
    }
    if (operation == KVC_TABLE_ERASE) {
        return valid ? kvc_hopscotch_erase_one(table, place, key, kvc_table_wanted(batch, i), stats)
                     : kvc_table_no_item();
    }
    struct kvc_set_assoc_item item = kvc_table_item(batch, i);
    if (!valid || item.location >= KVC_LOCATION_ANY) {
        stats->dropped++;
        return item;
    }
    return kvc_hopscotch_insert_one(table, place, key, &item, now + i, stats);
}

KVC_TABLE_INLINE void run(struct kvc_hopscotch *owner, const struct kvc_table_batch *batch, uint32_t count,
                          uint32_t now, struct kvc_index_stats *stats, enum kvc_table_operation operation,
                          uint32_t neighbours)
{
    struct kvc_hopscotch_table table = owner->table;
    table.neighbours = neighbours;
    struct kvc_hopscotch_place ring[3][KVC_TABLE_GROUP];
    struct kvc_index_stats local = {0};
    uint64_t groups = kvc_table_groups(count);
    for (uint64_t g = 0; g < groups + 2; g++) {
        if (g < groups) {
            stage_places(&table, batch, (uint32_t)(g * KVC_TABLE_GROUP), kvc_table_group_size(count, g),
                         ring[g % 3], operation != KVC_TABLE_SEARCH);
        }
        if (g >= 1 && g < groups + 1) {
            if (operation == KVC_TABLE_INSERT) {
                stage_victims(&table, ring[(g - 1) % 3], kvc_table_group_size(count, g - 1));
            } else {
                stage_entries(&table, ring[(g - 1) % 3], kvc_table_group_size(count, g - 1), true);
            }
        }
        for (uint32_t i = 0; g >= 2 && i < kvc_table_group_size(count, g - 2); i++) {
            uint32_t k = (uint32_t)((g - 2) * KVC_TABLE_GROUP) + i;
            kvc_table_answer(batch, k,
                             do_one(&table, batch, k, ring[(g - 2) % 3][i], now, &local, operation));
        }
    }
    if (operation == KVC_TABLE_INSERT) {
        owner->used += count - local.replaced - local.evicted - local.dropped;
    }
    owner->used -= local.erased;
    kvc_index_stats_add(stats, &local);
}

KVC_TABLE_INLINE void run_any(struct kvc_table *base, const struct kvc_table_batch *batch, uint32_t count,
                              uint32_t now, struct kvc_index_stats *stats, enum kvc_table_operation operation)
{
    struct kvc_hopscotch *owner = (struct kvc_hopscotch *)base; /* the first member */
    if (owner->table.neighbours == KVC_HOPSCOTCH_NEIGHBOURS) {
        run(owner, batch, count, now, stats, operation, KVC_HOPSCOTCH_NEIGHBOURS);
    } else {
        run(owner, batch, count, now, stats, operation, owner->table.neighbours);
    }
}

KVC_TABLE_RUN(run_any)

static uint64_t index_capacity(const struct kvc_index *index)
{
    return kvc_hopscotch_capacity(&((const struct kvc_hopscotch *)index)->table);
}

static uint64_t index_used(const struct kvc_index *index)
{
    return ((const struct kvc_hopscotch *)index)->used;
}

void kvc_hopscotch_free(struct kvc_hopscotch *table)
{
    if (table != NULL) {
        kvc_pages_free(table->table.tags, kvc_hopscotch_tags_bytes(&table->table));
        kvc_pages_free(table->table.entries, kvc_hopscotch_entries_bytes(&table->table));
        free(table);
    }
}

static void index_free(struct kvc_index *index)
{
    kvc_hopscotch_free((struct kvc_hopscotch *)index);
}

static const struct kvc_index_ops hopscotch_ops = {
    .free = index_free,
    .search = kvc_table_index_search,
    .insert = kvc_table_index_insert,
    .erase = kvc_table_index_erase,
    .capacity = index_capacity,
    .used = index_used,
};

bool kvc_hopscotch_geometry(const struct kvc_hopscotch_params *params, struct kvc_hopscotch_table *table)
{
    uint32_t neighbours = params->neighbours != 0 ? params->neighbours : KVC_HOPSCOTCH_NEIGHBOURS;
    if (params->homes == 0 || params->homes > homes_max ||
        (neighbours != 8 && neighbours != 16 && neighbours != KVC_HOPSCOTCH_NEIGHBOURS_MAX) ||
        params->key_bytes_max == 0 || params->key_bytes_max > KVC_SET_ASSOC_KEY_MAX) {
        return false;
    }
    *table = (struct kvc_hopscotch_table){
        .homes = params->homes,
        .neighbours = neighbours,
        .entry_bytes = kvc_set_assoc_entry_bytes(params->key_bytes_max),
        .key_bytes_max = params->key_bytes_max,
    };
    return true;
}

struct kvc_hopscotch *kvc_hopscotch_create(const struct kvc_hopscotch_params *params)
{
    struct kvc_hopscotch_table geometry;
    if (!kvc_hopscotch_geometry(params, &geometry)) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_hopscotch *table = malloc(sizeof(*table));
    if (table == NULL) {
        return NULL;
    }
    *table = (struct kvc_hopscotch){.base = {.index = {&hopscotch_ops}, .run = run_by_operation},
                                    .table = geometry};
    table->table.tags = kvc_pages_alloc(kvc_hopscotch_tags_bytes(&geometry));
    table->table.entries = kvc_pages_alloc(kvc_hopscotch_entries_bytes(&geometry));
    if (table->table.tags == NULL || table->table.entries == NULL) {
        kvc_hopscotch_free(table);
        errno = ENOMEM;
        return NULL;
    }
    return table;
}

bool kvc_hopscotch_published(uint64_t bytes, struct kvc_hopscotch_params *params)
{
    uint64_t homes = bytes / (1 + kvc_set_assoc_entry_bytes(sizeof(uint64_t)));
    *params = (struct kvc_hopscotch_params){.homes = (uint32_t)homes, .key_bytes_max = sizeof(uint64_t)};
    return homes <= homes_max;
}

static struct kvc_index *create_published(uint64_t bytes, uint64_t seed)
{
    struct kvc_hopscotch_params params;
    (void)seed; /* nothing is random */
    if (!kvc_hopscotch_published(bytes, &params)) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_hopscotch *table = kvc_hopscotch_create(&params);
    return table != NULL ? &table->base.index : NULL;
}

const struct kvc_index_kind kvc_hopscotch_kind = {
    .name = "memcachedgpu-hopscotch",
    .source = "MemcachedGPU, SoCC 2015, sec. 4.2.1",
    .create = create_published,
    .caches = true,
};

#include "kernels/memcachedgpu/chained.h"

#include <errno.h>
#include <stdlib.h>

#include "kernels/pages.h"

static const uint32_t count_max = UINT32_C(1) << 31;

KVC_TABLE_INLINE void fetch(const void *line, bool for_write)
{
    if (for_write) {
        __builtin_prefetch(line, 1);
    } else {
        __builtin_prefetch(line, 0);
    }
}

/* First step: finds and prefetches the heads of a group of keys. */
KVC_TABLE_INLINE void stage_heads(const struct kvc_chained_table *table, const struct kvc_table_batch *batch,
                                  uint32_t first, uint32_t count, uint32_t **head, bool for_write)
{
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_table_key key = kvc_table_key(batch, first + i);
        head[i] = table->heads;
        if (kvc_table_key_valid(key, table->key_bytes_max)) {
            head[i] = kvc_chained_head(table, key);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        fetch(head[i], for_write);
    }
}

/* Returns an entry's memory, or `other`, a line that is already cached, since a branch would be mispredicted.
 */
KVC_TABLE_INLINE const void *entry_or(const struct kvc_chained_table *table, uint32_t number,
                                      const void *other)
{
    const void *entry = kvc_chained_entry(table, number);
    return number != KVC_CHAINED_NONE ? entry : other;
}

/* Second step: prefetches the first entries of the chains. */
KVC_TABLE_INLINE void stage_first(const struct kvc_chained_table *table, uint32_t *const *head,
                                  uint32_t count)
{
    const void *line[KVC_TABLE_GROUP];
    for (uint32_t i = 0; i < count; i++) {
        line[i] = entry_or(table, *head[i], head[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        fetch(line[i], true);
    }
}

/* Third step: prefetches the second entry of the chain and, if the first entry probably holds the key, the
 * neighbours of the first entry in the queue. */
KVC_TABLE_INLINE void stage_next(const struct kvc_chained_table *table, uint32_t *const *head, uint32_t count)
{
    const void *line[3][KVC_TABLE_GROUP];
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_chained_entry at_hand = {0};
        const struct kvc_chained_entry *entry = entry_or(table, *head[i], &at_hand);
        line[0][i] = entry_or(table, entry->next, head[i]);
        line[1][i] = entry_or(table, entry->newer, head[i]);
        line[2][i] = entry_or(table, entry->older, head[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        fetch(line[0][i], true);
        fetch(line[1][i], true);
        fetch(line[2][i], true);
    }
}

/* `operation` is a constant wherever this function is inlined. */
KVC_TABLE_INLINE struct kvc_set_assoc_item do_one(const struct kvc_chained_table *table,
                                                  const struct kvc_table_batch *batch, uint32_t i,
                                                  uint32_t *head, uint32_t now, struct kvc_index_stats *stats,
                                                  enum kvc_table_operation operation)
{
    struct kvc_table_key key = kvc_table_key(batch, i);
    bool valid = kvc_table_key_valid(key, table->key_bytes_max);
    if (operation == KVC_TABLE_SEARCH) {
        return valid ? kvc_chained_search_one(table, head, key, now, stats) : kvc_table_no_item();
    }
    if (operation == KVC_TABLE_ERASE) {
        return valid ? kvc_chained_erase_one(table, head, key, kvc_table_wanted(batch, i), stats)
                     : kvc_table_no_item();
    }
    struct kvc_set_assoc_item item = kvc_table_item(batch, i);
    if (!valid || item.location >= KVC_LOCATION_ANY) {
        stats->dropped++;
        return item;
    }
    return kvc_chained_insert_one(table, head, key, &item, now + i, stats);
}

KVC_TABLE_INLINE void run(struct kvc_table *base, const struct kvc_table_batch *batch, uint32_t count,
                          uint32_t now, struct kvc_index_stats *stats, enum kvc_table_operation operation)
{
    struct kvc_chained *owner = (struct kvc_chained *)base; /* the first member */
    const struct kvc_chained_table table = owner->table;
    uint32_t *ring[4][KVC_TABLE_GROUP];
    struct kvc_index_stats local = {0};
    uint64_t groups = kvc_table_groups(count);
    for (uint64_t g = 0; g < groups + 3; g++) {
        if (g < groups) {
            stage_heads(&table, batch, (uint32_t)(g * KVC_TABLE_GROUP), kvc_table_group_size(count, g),
                        ring[g % 4], operation != KVC_TABLE_SEARCH);
        }
        if (g >= 1 && g < groups + 1) {
            stage_first(&table, ring[(g - 1) % 4], kvc_table_group_size(count, g - 1));
        }
        if (g >= 2 && g < groups + 2) {
            stage_next(&table, ring[(g - 2) % 4], kvc_table_group_size(count, g - 2));
        }
        for (uint32_t i = 0; g >= 3 && i < kvc_table_group_size(count, g - 3); i++) {
            uint32_t k = (uint32_t)((g - 3) * KVC_TABLE_GROUP) + i;
            kvc_table_answer(batch, k,
                             do_one(&table, batch, k, ring[(g - 3) % 4][i], now, &local, operation));
        }
    }
    kvc_index_stats_add(stats, &local);
}

KVC_TABLE_RUN(run)

static uint64_t index_capacity(const struct kvc_index *index)
{
    return ((const struct kvc_chained *)index)->table.capacity;
}

static uint64_t index_used(const struct kvc_index *index)
{
    return ((const struct kvc_chained *)index)->state.used;
}

void kvc_chained_free(struct kvc_chained *table)
{
    if (table != NULL) {
        kvc_pages_free(table->table.heads, kvc_chained_heads_bytes(&table->table));
        kvc_pages_free(table->table.entries, kvc_chained_entries_bytes(&table->table));
        free(table);
    }
}

static void index_free(struct kvc_index *index)
{
    kvc_chained_free((struct kvc_chained *)index);
}

static const struct kvc_index_ops chained_ops = {
    .free = index_free,
    .search = kvc_table_index_search,
    .insert = kvc_table_index_insert,
    .erase = kvc_table_index_erase,
    .capacity = index_capacity,
    .used = index_used,
};

bool kvc_chained_geometry(const struct kvc_chained_params *params, struct kvc_chained_table *table)
{
    if (params->buckets == 0 || params->buckets > count_max ||
        (params->buckets & (params->buckets - 1)) != 0 || params->capacity == 0 ||
        params->capacity > count_max || params->key_bytes_max == 0 ||
        params->key_bytes_max > KVC_SET_ASSOC_KEY_MAX) {
        return false;
    }
    *table = (struct kvc_chained_table){
        .buckets = params->buckets,
        .capacity = params->capacity,
        .entry_bytes = kvc_chained_entry_bytes(params->key_bytes_max),
        .key_bytes_max = params->key_bytes_max,
        .bump_after = params->bump_after,
    };
    return true;
}

struct kvc_chained *kvc_chained_create(const struct kvc_chained_params *params)
{
    struct kvc_chained_table geometry;
    if (!kvc_chained_geometry(params, &geometry)) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_chained *table = malloc(sizeof(*table));
    if (table == NULL) {
        return NULL;
    }
    *table =
        (struct kvc_chained){.base = {.index = {&chained_ops}, .run = run_by_operation}, .table = geometry};
    table->table.state = &table->state;
    table->table.heads = kvc_pages_alloc(kvc_chained_heads_bytes(&geometry));
    table->table.entries = kvc_pages_alloc(kvc_chained_entries_bytes(&geometry));
    if (table->table.heads == NULL || table->table.entries == NULL) {
        kvc_chained_free(table);
        errno = ENOMEM;
        return NULL;
    }
    return table;
}

bool kvc_chained_published(uint64_t bytes, struct kvc_chained_params *params)
{
    uint64_t entry_bytes = kvc_chained_entry_bytes(sizeof(uint64_t));
    uint64_t buckets = 1;
    if (bytes / entry_bytes > count_max) {
        return false;
    }
    /* As many entries as fit, with enough buckets that memcached would not yet grow the table. */
    while (3 * buckets < 2 * (bytes / entry_bytes)) {
        buckets *= 2;
    }
    uint64_t heads_bytes = buckets * sizeof(uint32_t);
    *params = (struct kvc_chained_params){
        .buckets = (uint32_t)buckets,
        .capacity = (uint32_t)(bytes > heads_bytes ? (bytes - heads_bytes) / entry_bytes : 0),
        .key_bytes_max = sizeof(uint64_t),
    };
    return true;
}

static struct kvc_index *create_published(uint64_t bytes, uint64_t seed)
{
    struct kvc_chained_params params;
    (void)seed; /* nothing is random */
    if (!kvc_chained_published(bytes, &params)) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_chained *table = kvc_chained_create(&params);
    return table != NULL ? &table->base.index : NULL;
}

const struct kvc_index_kind kvc_chained_kind = {
    .name = "memcachedgpu-chained",
    .source = "memcached's chains as in MemcachedGPU, SoCC 2015, sec. 5.2",
    .create = create_published,
    .caches = true,
};

#include "kernels/memcachedgpu/table.h"

static void run(struct kvc_table *table, enum kvc_table_operation operation,
                const struct kvc_table_batch *batch, uint32_t count, uint32_t now,
                struct kvc_index_stats *stats)
{
    table->run[operation](table, batch, count, now, stats);
    stats->searches += operation == KVC_TABLE_SEARCH ? count : 0;
    stats->inserts += operation == KVC_TABLE_INSERT ? count : 0;
    stats->erases += operation == KVC_TABLE_ERASE ? count : 0;
}

void kvc_table_search(struct kvc_table *table, const struct kvc_set_assoc_keys *keys, uint32_t count,
                      uint32_t now, struct kvc_set_assoc_item *items, struct kvc_index_stats *stats)
{
    run(table, KVC_TABLE_SEARCH, &(struct kvc_table_batch){.keys = *keys, .item_out = items}, count, now,
        stats);
}

void kvc_table_insert(struct kvc_table *table, const struct kvc_set_assoc_keys *keys,
                      const struct kvc_set_assoc_item *items, uint32_t count, uint32_t now,
                      struct kvc_set_assoc_item *out, struct kvc_index_stats *stats)
{
    run(table, KVC_TABLE_INSERT, &(struct kvc_table_batch){.keys = *keys, .item = items, .item_out = out},
        count, now, stats);
}

void kvc_table_erase(struct kvc_table *table, const struct kvc_set_assoc_keys *keys, const uint32_t *location,
                     uint32_t count, struct kvc_set_assoc_item *out, struct kvc_index_stats *stats)
{
    run(table, KVC_TABLE_ERASE,
        &(struct kvc_table_batch){.keys = *keys, .location = location, .item_out = out}, count, 0, stats);
}

/* Returns the table of an index, which is its first member. */
static struct kvc_table *table_of(struct kvc_index *index)
{
    return (struct kvc_table *)index;
}

/* Returns the first of `count` timestamps. Several threads may search at once. */
static uint32_t take_stamps(struct kvc_table *table, uint32_t count)
{
    return __atomic_fetch_add(&table->clock, count, __ATOMIC_RELAXED);
}

void kvc_table_index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                            struct kvc_index_stats *stats)
{
    struct kvc_table *table = table_of(index);
    run(table, KVC_TABLE_SEARCH, &(struct kvc_table_batch){.hash = hash, .location_out = location}, count,
        take_stamps(table, 1), stats);
}

void kvc_table_index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                            uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct kvc_table *table = table_of(index);
    run(table, KVC_TABLE_INSERT,
        &(struct kvc_table_batch){.hash = hash, .location = location, .location_out = out}, count,
        take_stamps(table, count), stats);
}

void kvc_table_index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                           uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    run(table_of(index), KVC_TABLE_ERASE,
        &(struct kvc_table_batch){.hash = hash, .location = location, .location_out = out}, count, 0, stats);
}

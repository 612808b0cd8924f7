#include "models/memcachedgpu/tables.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "kernels/memcachedgpu/chained.h"
#include "kernels/memcachedgpu/hopscotch.h"
#include "kernels/pages.h"
#include "sim/base/diag.h"
#include "sim/base/rng.h"

/* ---- text_key ---- */

/* Encodes the lower 48 bits as 8 characters from '0' to 'o'. */
static uint64_t characters(uint64_t bits)
{
    bits = (bits & 0xffffff) | (bits & UINT64_C(0xffffff000000)) << 8;
    bits = (bits & UINT64_C(0x00000fff00000fff)) | (bits & UINT64_C(0x00fff00000fff000)) << 4;
    bits = (bits & UINT64_C(0x003f003f003f003f)) | (bits & UINT64_C(0x0fc00fc00fc00fc0)) << 2;
    return bits + UINT64_C(0x3030303030303030);
}

void kvc_memcachedgpu_text_key(uint8_t *to, uint64_t key_id, uint32_t key_bytes)
{
    uint64_t bits = key_id, mixed = kvc_mix64(key_id);
    for (uint32_t at = 0; at < key_bytes; at += 8) {
        uint64_t text = characters(bits);
        memcpy(to + at, &text, sizeof(text));
        bits = mixed;
        mixed = mixed << 16 ^ mixed >> 48 ^ at;
    }
}

/* What tables of one kind do in their own way. Each begins with its struct kvc_table. */
struct table_kind {
    struct kvc_table *(*create)(const struct kvc_memcachedgpu_shape *shape, uint32_t class);
    double (*bytes)(const struct kvc_memcachedgpu_shape *shape, uint32_t class);
};

/* Number of sets that hold the class's entries. */
static uint64_t sets_of(const struct kvc_memcachedgpu_shape *shape, uint32_t class)
{
    uint64_t ways = shape->ways;
    return (shape->classes[class].entries + ways - 1) / ways;
}

/* ---- sets ---- */

static struct kvc_set_assoc_params sets_params(const struct kvc_memcachedgpu_shape *shape, uint32_t class)
{
    uint64_t sets = sets_of(shape, class);
    return (struct kvc_set_assoc_params){.sets = sets > UINT32_MAX ? 0 : (uint32_t)sets,
                                         .ways = (uint32_t)shape->ways,
                                         .key_bytes_max = shape->classes[class].key_bytes_max};
}

static struct kvc_table *sets_create(const struct kvc_memcachedgpu_shape *shape, uint32_t class)
{
    struct kvc_set_assoc_params params = sets_params(shape, class);
    return (struct kvc_table *)kvc_set_assoc_create(&params);
}

static double sets_bytes(const struct kvc_memcachedgpu_shape *shape, uint32_t class)
{
    struct kvc_set_assoc_params params = sets_params(shape, class);
    struct kvc_set_assoc_table table;
    return kvc_set_assoc_geometry(&params, &table) ? (double)table.set_count * table.set_bytes : 0;
}

/* ---- hopscotch ---- */

enum { NEIGHBOURS = 16 };

static struct kvc_hopscotch_params hopscotch_params(const struct kvc_memcachedgpu_shape *shape,
                                                    uint32_t class)
{
    uint64_t entries = shape->classes[class].entries;
    return (struct kvc_hopscotch_params){.homes = entries > INT32_MAX ? 0 : (uint32_t)entries,
                                         .neighbours = NEIGHBOURS,
                                         .key_bytes_max = shape->classes[class].key_bytes_max};
}

static struct kvc_table *hopscotch_create(const struct kvc_memcachedgpu_shape *shape, uint32_t class)
{
    struct kvc_hopscotch_params params = hopscotch_params(shape, class);
    return (struct kvc_table *)kvc_hopscotch_create(&params);
}

static double hopscotch_bytes(const struct kvc_memcachedgpu_shape *shape, uint32_t class)
{
    struct kvc_hopscotch_params params = hopscotch_params(shape, class);
    struct kvc_hopscotch_table table;
    return kvc_hopscotch_geometry(&params, &table)
               ? (double)(kvc_hopscotch_tags_bytes(&table) + kvc_hopscotch_entries_bytes(&table))
               : 0;
}

/* ---- chains ---- */

/* Returns a power of two of buckets with 0.75 to 1.5 elements each: memcached grows beyond 1.5. */
static struct kvc_chained_params chained_params(const struct kvc_memcachedgpu_shape *shape, uint32_t class)
{
    uint64_t entries = shape->classes[class].entries, buckets = 1;
    while ((double)buckets * 1.5 < (double)entries) {
        buckets *= 2;
    }
    return (struct kvc_chained_params){.buckets = buckets > INT32_MAX ? 0 : (uint32_t)buckets,
                                       .capacity = entries > INT32_MAX ? 0 : (uint32_t)entries,
                                       .key_bytes_max = shape->classes[class].key_bytes_max};
}

static struct kvc_table *chained_create(const struct kvc_memcachedgpu_shape *shape, uint32_t class)
{
    struct kvc_chained_params params = chained_params(shape, class);
    return (struct kvc_table *)kvc_chained_create(&params);
}

static double chained_bytes(const struct kvc_memcachedgpu_shape *shape, uint32_t class)
{
    struct kvc_chained_params params = chained_params(shape, class);
    struct kvc_chained_table table;
    return kvc_chained_geometry(&params, &table)
               ? (double)(kvc_chained_heads_bytes(&table) + kvc_chained_entries_bytes(&table))
               : 0;
}

/* ---- all kinds ---- */

static const struct table_kind kinds[] = {
    [KVC_MEMCACHEDGPU_SETS] = {sets_create, sets_bytes},
    [KVC_MEMCACHEDGPU_HOPSCOTCH] = {hopscotch_create, hopscotch_bytes},
    [KVC_MEMCACHEDGPU_CHAINED] = {chained_create, chained_bytes},
};

double kvc_memcachedgpu_table_bytes(const struct kvc_memcachedgpu_shape *shape, uint32_t class)
{
    return kinds[shape->index].bytes(shape, class);
}

/* A chained table uses its entries in order, the other tables at hashed places. */
double kvc_memcachedgpu_table_memory_bytes(const struct kvc_memcachedgpu_shape *shape, uint32_t class,
                                           double items)
{
    double bytes = kvc_memcachedgpu_table_bytes(shape, class);
    if (shape->index != KVC_MEMCACHEDGPU_CHAINED) {
        return (double)kvc_pages_random_bytes((uint64_t)bytes, (uint64_t)items);
    }
    double entry_bytes = kvc_chained_entry_bytes(shape->classes[class].key_bytes_max);
    double heads_bytes = bytes - entry_bytes * (double)shape->classes[class].entries;
    return heads_bytes +
           (double)kvc_pages_front_bytes((uint64_t)(bytes - heads_bytes), (uint64_t)(items * entry_bytes));
}

void kvc_memcachedgpu_tables_open(struct kvc_memcachedgpu_tables *tables,
                                  const struct kvc_memcachedgpu_shape *shape)
{
    *tables = (struct kvc_memcachedgpu_tables){.shape = *shape};
    for (uint32_t i = 0; i < shape->class_count; i++) {
        tables->table[i] = kinds[shape->index].create(shape, i);
        if (tables->table[i] == NULL) {
            kvc_out_of_memory("a table of %.3g GiB: %s", kvc_memcachedgpu_table_bytes(shape, i) / 0x1p30,
                              strerror(errno));
        }
    }
}

void kvc_memcachedgpu_tables_close(struct kvc_memcachedgpu_tables *tables)
{
    for (uint32_t i = 0; i < KVC_MEMCACHEDGPU_CLASSES_MAX; i++) {
        if (tables->table[i] != NULL) {
            kvc_index_free(&tables->table[i]->index);
        }
    }
}

enum { GROUP = 256 };

/* Searches one of several tables for the keys that belong to it. */
static void search_class(const struct kvc_memcachedgpu_tables *tables, uint32_t class,
                         const struct kvc_set_assoc_keys *keys, uint32_t count, uint32_t now,
                         struct kvc_set_assoc_item *items, struct kvc_index_stats *stats)
{
    uint32_t offset[GROUP], row[GROUP], chosen = 0;
    uint8_t bytes[GROUP];
    struct kvc_set_assoc_item found[GROUP];
    for (uint32_t i = 0; i < count; i++) {
        if (kvc_memcachedgpu_class_of(&tables->shape, keys->bytes[i]) == class) {
            offset[chosen] = keys->offset[i];
            bytes[chosen] = keys->bytes[i];
            row[chosen++] = i;
        }
    }
    const struct kvc_set_assoc_keys mine = {keys->keys, offset, bytes};
    kvc_table_search(tables->table[class], &mine, chosen, now, found, stats);
    for (uint32_t i = 0; i < chosen; i++) {
        items[row[i]] = found[i];
    }
}

void kvc_memcachedgpu_tables_search(void *data, const struct kvc_set_assoc_keys *keys, uint32_t count,
                                    uint32_t now, struct kvc_set_assoc_item *items,
                                    struct kvc_index_stats *stats)
{
    const struct kvc_memcachedgpu_tables *tables = data;
    if (tables->shape.class_count == 1) {
        kvc_table_search(tables->table[0], keys, count, now, items, stats);
        return;
    }
    for (uint32_t first = 0; first < count; first += GROUP) {
        uint32_t rows = count - first < GROUP ? count - first : GROUP;
        const struct kvc_set_assoc_keys part = {keys->keys, keys->offset + first, keys->bytes + first};
        for (uint32_t i = 0; i < rows; i++) {
            items[first + i].location = KVC_LOCATION_NONE; /* The key is too long for all tables. */
        }
        for (uint32_t class = 0; class < tables->shape.class_count; class ++) {
            search_class(tables, class, &part, rows, now, items + first, stats);
        }
    }
}

struct kvc_set_assoc_item kvc_memcachedgpu_tables_insert(struct kvc_memcachedgpu_tables *tables,
                                                         const uint8_t *key, uint32_t key_bytes,
                                                         const struct kvc_set_assoc_item *item, uint32_t now,
                                                         struct kvc_index_stats *stats)
{
    uint32_t offset = 0, class = kvc_memcachedgpu_class_of(&tables->shape, key_bytes);
    uint8_t bytes = (uint8_t)key_bytes;
    struct kvc_set_assoc_item out;
    kvc_table_insert(tables->table[class], &(struct kvc_set_assoc_keys){key, &offset, &bytes}, item, 1, now,
                     &out, stats);
    return out;
}

struct kvc_set_assoc_item kvc_memcachedgpu_tables_erase(struct kvc_memcachedgpu_tables *tables,
                                                        const uint8_t *key, uint32_t key_bytes,
                                                        struct kvc_index_stats *stats)
{
    uint32_t offset = 0, class = kvc_memcachedgpu_class_of(&tables->shape, key_bytes);
    uint8_t bytes = (uint8_t)key_bytes;
    struct kvc_set_assoc_item out;
    kvc_table_erase(tables->table[class], &(struct kvc_set_assoc_keys){key, &offset, &bytes}, NULL, 1, &out,
                    stats);
    return out;
}

uint64_t kvc_memcachedgpu_tables_set(const struct kvc_memcachedgpu_tables *tables, const uint8_t *key,
                                     uint32_t key_bytes)
{
    uint32_t class = kvc_memcachedgpu_class_of(&tables->shape, key_bytes);
    const struct kvc_set_assoc *table = (const struct kvc_set_assoc *)tables->table[class];
    return (uint64_t) class << 32 | kvc_set_assoc_place(&table->table, key, key_bytes).set;
}

static uint64_t sum(const struct kvc_memcachedgpu_tables *tables,
                    uint64_t (*count)(const struct kvc_index *index))
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < tables->shape.class_count; i++) {
        all += count(&tables->table[i]->index);
    }
    return all;
}

uint64_t kvc_memcachedgpu_tables_used(const struct kvc_memcachedgpu_tables *tables)
{
    return sum(tables, kvc_index_used);
}

uint64_t kvc_memcachedgpu_tables_capacity(const struct kvc_memcachedgpu_tables *tables)
{
    return sum(tables, kvc_index_capacity);
}

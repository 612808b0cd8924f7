/* The tables of a server, of the kind that the scenario selects: one table, or one for each class of key
 * sizes. */
#ifndef KVC_MODELS_MEMCACHEDGPU_TABLES_H
#define KVC_MODELS_MEMCACHEDGPU_TABLES_H

#include <stdint.h>

#include "kernels/memcachedgpu/get.h"

/* Keys as memcached's ASCII protocol allows them: without spaces and control characters. */

/* Writes the key of `key_bytes` bytes that stands for a key of the workload. `to` has room for a multiple of
 * 8 bytes. A character has 6 bits of the id, so ids below 64^key_bytes and 2^48 have different keys. Longer
 * keys continue with mixed bits of the id. */
void kvc_memcachedgpu_text_key(uint8_t *to, uint64_t key_id, uint32_t key_bytes);

enum { KVC_MEMCACHEDGPU_CLASSES_MAX = 5 };

enum kvc_memcachedgpu_index {
    KVC_MEMCACHEDGPU_SETS,
    KVC_MEMCACHEDGPU_HOPSCOTCH,
    KVC_MEMCACHEDGPU_CHAINED,
};

/* A table for keys of up to key_bytes_max bytes. */
struct kvc_memcachedgpu_class {
    uint32_t key_bytes_max;
    uint64_t entries;
};

/* Kind and sizes of the tables of a server. */
struct kvc_memcachedgpu_shape {
    enum kvc_memcachedgpu_index index;
    uint32_t ways; /* Entries of a set. */
    uint32_t class_count;
    /* Sorted by key size, ascending; must outlive the tables. */
    const struct kvc_memcachedgpu_class *classes;
};

/* Returns the class of a key's table, or class_count if no table has room for the key. */
static inline uint32_t kvc_memcachedgpu_class_of(const struct kvc_memcachedgpu_shape *shape,
                                                 uint32_t key_bytes)
{
    uint32_t class = 0;
    while (class < shape->class_count && key_bytes > shape->classes[class].key_bytes_max) {
        class ++;
    }
    return class;
}

struct kvc_memcachedgpu_tables {
    struct kvc_memcachedgpu_shape shape;
    struct kvc_table *table[KVC_MEMCACHEDGPU_CLASSES_MAX];
};

/* Returns the memory of a class's table [bytes], or 0 if it cannot have that number of entries. */
double kvc_memcachedgpu_table_bytes(const struct kvc_memcachedgpu_shape *shape, uint32_t class);

/* Returns the memory that a class's table occupies when it holds `items` items [bytes]. */
double kvc_memcachedgpu_table_memory_bytes(const struct kvc_memcachedgpu_shape *shape, uint32_t class,
                                           double items);

/* Creates empty tables. Exits with status 3 if memory is short. */
void kvc_memcachedgpu_tables_open(struct kvc_memcachedgpu_tables *tables,
                                  const struct kvc_memcachedgpu_shape *shape);
void kvc_memcachedgpu_tables_close(struct kvc_memcachedgpu_tables *tables); /* Zeroed ones are allowed. */

/* Searches for keys, as kvc_table_search() does; `tables` is a struct kvc_memcachedgpu_tables. */
void kvc_memcachedgpu_tables_search(void *tables, const struct kvc_set_assoc_keys *keys, uint32_t count,
                                    uint32_t now, struct kvc_set_assoc_item *items,
                                    struct kvc_index_stats *stats);

/* Stores an item under a key, which is at most as long as the longest class allows. Returns the item that
 * left the tables; its location is KVC_LOCATION_NONE if there was none. */
struct kvc_set_assoc_item kvc_memcachedgpu_tables_insert(struct kvc_memcachedgpu_tables *tables,
                                                         const uint8_t *key, uint32_t key_bytes,
                                                         const struct kvc_set_assoc_item *item, uint32_t now,
                                                         struct kvc_index_stats *stats);

/* Erases a key, and returns its item; the location is KVC_LOCATION_NONE if there was none. */
struct kvc_set_assoc_item kvc_memcachedgpu_tables_erase(struct kvc_memcachedgpu_tables *tables,
                                                        const uint8_t *key, uint32_t key_bytes,
                                                        struct kvc_index_stats *stats);

/* Returns the set that a search for the key locks, numbered over all tables. Only tables of sets have locks.
 * The key is at most as long as the longest class allows. */
uint64_t kvc_memcachedgpu_tables_set(const struct kvc_memcachedgpu_tables *tables, const uint8_t *key,
                                     uint32_t key_bytes);

/* Return the number of items and of entries in all tables. */
uint64_t kvc_memcachedgpu_tables_used(const struct kvc_memcachedgpu_tables *tables);
uint64_t kvc_memcachedgpu_tables_capacity(const struct kvc_memcachedgpu_tables *tables);

#endif

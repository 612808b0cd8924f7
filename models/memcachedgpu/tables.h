/* The tables of a server: one, or one for each class of key sizes, of the kind that the scenario selects. */
#ifndef KVC_MODELS_MEMCACHEDGPU_TABLES_H
#define KVC_MODELS_MEMCACHEDGPU_TABLES_H

#include <stdint.h>

#include "kernels/memcachedgpu/get.h"
#include "models/memcachedgpu/config.h"

/* What a table of one kind offers; `table` is the kind's own struct. */
struct kvc_memcachedgpu_table_kind;

struct kvc_memcachedgpu_tables {
    const struct kvc_memcachedgpu_config *config;
    const struct kvc_memcachedgpu_table_kind *kind;
    void *table[KVC_MEMCACHEDGPU_CLASSES_MAX];
};

/* Returns the memory of a class's table [bytes], or 0 if it cannot have so many entries. */
double kvc_memcachedgpu_table_bytes(const struct kvc_memcachedgpu_config *config, uint32_t class);

/* Returns the memory that a class's table takes that holds `items` [bytes]. */
double kvc_memcachedgpu_table_memory_bytes(const struct kvc_memcachedgpu_config *config, uint32_t class,
                                           double items);

/* Creates empty tables. Returns KVC_ERR_RUNTIME if memory is short; they must be closed even then. */
enum kvc_status kvc_memcachedgpu_tables_open(struct kvc_memcachedgpu_tables *tables,
                                             const struct kvc_memcachedgpu_config *config,
                                             struct kvc_diag *diag);
void kvc_memcachedgpu_tables_close(struct kvc_memcachedgpu_tables *tables); /* Zeroed ones are allowed. */

/* Searches for keys, as kvc_set_assoc_search() does; `tables` is a struct kvc_memcachedgpu_tables. */
void kvc_memcachedgpu_tables_search(void *tables, const struct kvc_set_assoc_keys *keys, uint32_t count,
                                    uint32_t now, struct kvc_set_assoc_item *items,
                                    struct kvc_index_stats *stats);

/* Stores an item under a key of up to the longest class, and returns the item that left the tables for it;
 * its location may be KVC_LOCATION_NONE. */
struct kvc_set_assoc_item kvc_memcachedgpu_tables_insert(struct kvc_memcachedgpu_tables *tables,
                                                         const uint8_t *key, uint32_t key_bytes,
                                                         const struct kvc_set_assoc_item *item, uint32_t now,
                                                         struct kvc_index_stats *stats);

/* Erases a key, and returns its item; the location is KVC_LOCATION_NONE if there was none. */
struct kvc_set_assoc_item kvc_memcachedgpu_tables_erase(struct kvc_memcachedgpu_tables *tables,
                                                        const uint8_t *key, uint32_t key_bytes,
                                                        struct kvc_index_stats *stats);

/* Returns what the lock protects that a key's search takes: a set of one of the tables, numbered over all of
 * them. Only tables of sets have locks; a key is at most as long as the longest class allows. */
uint64_t kvc_memcachedgpu_tables_set(const struct kvc_memcachedgpu_tables *tables, const uint8_t *key,
                                     uint32_t key_bytes);

/* Returns the items in all tables, and the entries that there are. */
uint64_t kvc_memcachedgpu_tables_used(const struct kvc_memcachedgpu_tables *tables);
uint64_t kvc_memcachedgpu_tables_capacity(const struct kvc_memcachedgpu_tables *tables);

#endif

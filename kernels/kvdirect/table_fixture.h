/** @file
 * Tables, pairs and single operations for the tests of KV-Direct's hash table. */
#ifndef KVC_KERNELS_KVDIRECT_TABLE_FIXTURE_H
#define KVC_KERNELS_KVDIRECT_TABLE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/kvdirect/table.h"

/** Seed of the tables that create() makes. */
enum { TABLE_SEED = 42 };

/** Creates a table; the test fails if that is impossible. */
struct kvc_kvdirect_table *create(uint64_t bytes, double hash_index_frac, uint32_t inline_bytes);

/** Fills a value with bytes that depend on a number (its key's, or a serial one) and on its size. */
void fill_value(uint8_t *value, uint64_t what, uint32_t bytes);

/** Runs one PUT. */
enum kvc_kvdirect_table_result put(struct kvc_kvdirect_table *table, const void *key, uint32_t key_bytes,
                                   const void *value, uint32_t value_bytes,
                                   struct kvc_kvdirect_table_stats *stats);

/** Runs one DELETE. */
enum kvc_kvdirect_table_result erase(struct kvc_kvdirect_table *table, const void *key, uint32_t key_bytes,
                                     struct kvc_kvdirect_table_stats *stats);

/** Runs one GET. Returns the size of the value, which is copied to `value`, or -1. */
int get(struct kvc_kvdirect_table *table, const void *key, uint32_t key_bytes, void *value,
        struct kvc_kvdirect_table_stats *stats);

/** Puts a pair of this size with an 8-byte key, or with as many bytes as the pair has. */
enum kvc_kvdirect_table_result put_pair(struct kvc_kvdirect_table *table, uint64_t key, uint32_t pair_bytes,
                                        struct kvc_kvdirect_table_stats *stats);

/** Whether the table has a pair that put_pair has put. */
bool has_pair(struct kvc_kvdirect_table *table, uint64_t key, uint32_t pair_bytes,
              struct kvc_kvdirect_table_stats *stats);

/** The next 8-byte key from `from` on that belongs to this bucket and has this secondary hash; any if that is
 * above 511. */
uint64_t key_of_bucket(const struct kvc_kvdirect_table *table, uint64_t bucket, uint32_t secondary,
                       uint64_t from);

/** The first keys of bucket 3. */
void keys_of_bucket(const struct kvc_kvdirect_table *table, uint64_t *key, int count);

#endif

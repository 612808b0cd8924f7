/* The table as an index that holds whole pairs: a hash stands for the key, and a location for the pair's
 * size. */

#include <stddef.h>

#include "kernels/kvdirect/table_internal.h"

enum { PAIR_KEY_BYTES = 8, PAIR_GROUP = 32, PAIR_INLINE_BYTES = 15 };

static const uint8_t value[KVC_KVDIRECT_TABLE_PAIR_MAX];

static struct kvc_kvdirect_key pair_key(uint64_t hash, uint8_t *bytes)
{
    kvc_kvdirect_store64(bytes, hash);
    return kvc_kvdirect_make_key(bytes, PAIR_KEY_BYTES, hash);
}

/* Prefetches the first buckets of a group of hashes when its first one's turn has come. */
static void prefetch_group(const struct kvc_kvdirect_table *table, const uint64_t *hash, uint32_t i,
                           uint32_t count)
{
    if (i % PAIR_GROUP == 0) {
        kvc_kvdirect_table_prefetch(table, hash + i, count - i < PAIR_GROUP ? count - i : PAIR_GROUP);
    }
}

/* A pair that was looked for. */
struct found_pair {
    uint8_t bytes[PAIR_KEY_BYTES];
    struct kvc_kvdirect_key key; /* Its bytes are those above. */
    struct kvc_kvdirect_place place;
    uint32_t size; /* Its location; KVC_LOCATION_NONE: the table does not have it. */
};

static void find_pair(const struct kvc_kvdirect_table *table, const uint64_t *hash, uint32_t i,
                      uint32_t count, struct kvc_kvdirect_table_counts *counts, struct found_pair *pair)
{
    uint64_t false_matches = 0;
    pair->key = pair_key(hash[i], pair->bytes);
    prefetch_group(table, hash, i, count);
    pair->place = kvc_kvdirect_find(table, &pair->key, 0, counts, &false_matches);
    bool is_there = pair->place.bucket != NULL;
    pair->size = is_there ? PAIR_KEY_BYTES + pair->place.value_bytes : KVC_LOCATION_NONE;
}

/* Lines of slabs that follow another one; a pair that is overwritten in its slab is read and written there.
 */
static uint64_t next_lines(const struct kvc_kvdirect_table_counts *counts)
{
    uint64_t read = counts->slab_lines_read - counts->slab_reads,
             written = counts->slab_lines_written - counts->slab_writes;
    return read > written ? read : written;
}

static void pairs_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                         struct kvc_index_stats *stats)
{
    const struct kvc_kvdirect_table *table = (const struct kvc_kvdirect_table *)index;
    struct kvc_kvdirect_table_counts counts = {0};
    for (uint32_t i = 0; i < count; i++) {
        struct found_pair pair;
        find_pair(table, hash, i, count, &counts, &pair);
        location[i] = pair.size;
        stats->search_hits += pair.size != KVC_LOCATION_NONE;
    }
    stats->searches += count;
    stats->search_lines += counts.lines;
    stats->search_next_lines += next_lines(&counts);
}

static void pairs_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                         uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct kvc_kvdirect_table *table = (struct kvc_kvdirect_table *)index;
    struct kvc_kvdirect_slab_stats slab = {0};
    uint64_t false_matches = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_kvdirect_table_counts counts = {0};
        uint8_t bytes[PAIR_KEY_BYTES];
        const struct kvc_kvdirect_key key = pair_key(hash[i], bytes);
        bool fits = location[i] >= PAIR_KEY_BYTES && location[i] <= KVC_KVDIRECT_TABLE_PAIR_MAX;
        bool inlined = location[i] <= table->inline_bytes, ok = false;
        uint32_t old = KVC_LOCATION_NONE;
        prefetch_group(table, hash, i, count);
        if (fits) {
            struct kvc_kvdirect_place place =
                kvc_kvdirect_find(table, &key, inlined ? kvc_kvdirect_bucket_slots_for(location[i]) : 1,
                                  &counts, &false_matches);
            old = place.bucket != NULL ? PAIR_KEY_BYTES + place.value_bytes : old;
            ok = kvc_kvdirect_put_pair(table, &key, value, location[i] - PAIR_KEY_BYTES, inlined, place,
                                       &counts, &slab);
        }
        stats->replaced += ok && old != KVC_LOCATION_NONE;
        stats->dropped += !ok;
        stats->insert_lines += counts.lines;
        stats->insert_next_lines += next_lines(&counts);
        if (out != NULL) {
            out[i] = ok ? old : location[i];
        }
    }
    stats->inserts += count;
}

static void pairs_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                        uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct kvc_kvdirect_table *table = (struct kvc_kvdirect_table *)index;
    struct kvc_kvdirect_table_counts counts = {0};
    struct kvc_kvdirect_slab_stats slab = {0};
    for (uint32_t i = 0; i < count; i++) {
        struct found_pair pair;
        find_pair(table, hash, i, count, &counts, &pair);
        bool erases =
            pair.size != KVC_LOCATION_NONE && (location[i] == KVC_LOCATION_ANY || location[i] == pair.size);
        if (erases) {
            kvc_kvdirect_remove_pair(table, &pair.key, pair.place, &counts, &slab);
            stats->erased++;
        }
        if (out != NULL) {
            out[i] = erases ? pair.size : KVC_LOCATION_NONE;
        }
    }
    stats->erases += count;
    stats->erase_lines += counts.lines;
    stats->erase_next_lines += next_lines(&counts);
}

static uint64_t pairs_capacity(const struct kvc_index *index)
{
    const struct kvc_kvdirect_table *table = (const struct kvc_kvdirect_table *)index;
    return kvc_kvdirect_table_capacity(table, table->usual_bytes);
}

static uint64_t pairs_used(const struct kvc_index *index)
{
    return ((const struct kvc_kvdirect_table *)index)->pairs;
}

static void pairs_free(struct kvc_index *index)
{
    kvc_kvdirect_table_free((struct kvc_kvdirect_table *)index);
}

static const struct kvc_index_ops pairs_ops = {
    .free = pairs_free,
    .search = pairs_search,
    .peek = pairs_search,
    .insert = pairs_insert,
    .erase = pairs_erase,
    .capacity = pairs_capacity,
    .used = pairs_used,
};

static struct kvc_index *create_pairs(uint64_t bytes, const struct kvc_index_pairs *pairs, uint64_t seed)
{
    struct kvc_kvdirect_table *table = kvc_kvdirect_table_create(&(struct kvc_kvdirect_table_params){
        .bytes = bytes, .hash_index_frac = 0.625, .inline_bytes = pairs->inline_bytes, .seed = seed});
    if (table == NULL) {
        return NULL;
    }
    table->index.ops = &pairs_ops;
    table->usual_bytes = pairs->pair_bytes;
    return &table->index;
}

const struct kvc_index_pair_kind kvc_kvdirect_table_pair_kind = {.inline_usual_bytes = PAIR_INLINE_BYTES,
                                                                 .inline_most_bytes =
                                                                     KVC_KVDIRECT_TABLE_INLINE_MAX,
                                                                 .least_bytes = PAIR_KEY_BYTES,
                                                                 .most_bytes = KVC_KVDIRECT_TABLE_PAIR_MAX,
                                                                 .create = create_pairs};

/** @file
 * How the MICA store runs one operation on a batch of keys. Internal to the store.
 *
 * Keys pass four stages, in groups: prefetch the bucket, prefetch the first line of the item, prefetch the
 * rest of the item, run the operation. */
#ifndef KVC_KERNELS_MICA_MICA_BATCH_H
#define KVC_KERNELS_MICA_MICA_BATCH_H

#include "kernels/hash.h"
#include "kernels/mica/mica_internal.h"

/** Shape of the pipeline. */
enum {
    /** Keys of a group. The prefetches of a group are close together, so that they overlap even where their
     * pages must be looked up first. */
    KVC_MICA_GROUP = 32,
    /** Lines of an item that are prefetched at most; the processor predicts the lines behind them. */
    KVC_MICA_REST_LINES = 8,
};

/** The operation, which decides what the stages prefetch. */
enum kvc_mica_operation {
    KVC_MICA_GET,   /**< Reads a value. */
    KVC_MICA_SET,   /**< Stores a value. */
    KVC_MICA_DELETE /**< Removes a key. */
};

/** Runs the operation on key i of a batch, in its partition. */
typedef void kvc_mica_operation_fn(const struct kvc_mica_geometry *geometry,
                                   struct kvc_mica_partition *partition, const struct kvc_mica_batch *batch,
                                   uint32_t i, const struct kvc_mica_key *key, struct kvc_index_stats *stats);

/** Key i of a batch. */
KVC_MICA_INLINE struct kvc_mica_key kvc_mica_key_at(const struct kvc_mica_geometry *geometry,
                                                    const struct kvc_mica_batch *batch, uint32_t i)
{
    if (batch->keys == NULL) {
        return (struct kvc_mica_key){(const uint8_t *)&batch->hash[i], sizeof(uint64_t), batch->hash[i]};
    }
    const struct kvc_mica_keys *keys = batch->keys;
    struct kvc_mica_key key = {keys->keys + keys->offset[i], keys->bytes[i], 0};
    key.hash = keys->hash != NULL ? keys->hash[i] : kvc_hash(key.data, key.bytes, geometry->seed);
    return key;
}

/** Prefetches a line. */
KVC_MICA_INLINE void kvc_mica_prefetch(const void *line, bool write)
{
    if (write) {
        __builtin_prefetch(line, 1);
    } else {
        __builtin_prefetch(line, 0);
    }
}

/** A key on its way through the stages. */
struct kvc_mica_staged {
    struct kvc_mica_key key; /**< The key. */
    const uint64_t *item;    /**< The item that is likely to be the key's, or NULL. */
};

/** First stage: hashes the keys of a group and prefetches their buckets. */
KVC_MICA_INLINE void kvc_mica_stage_keys(const struct kvc_mica_geometry *geometry,
                                         const struct kvc_mica_partition *partitions,
                                         const struct kvc_mica_batch *batch, uint32_t first, uint32_t count,
                                         struct kvc_mica_staged *staged, bool write)
{
    for (uint32_t i = 0; i < count; i++) {
        staged[i].key = kvc_mica_key_at(geometry, batch, first + i);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t hash = staged[i].key.hash;
        const struct kvc_mica_partition *partition = partitions + kvc_mica_partition_number(geometry, hash);
        const uint64_t *bucket = kvc_mica_bucket_at(geometry, partition, hash);
        for (uint32_t w = 0; w < kvc_mica_bucket_words(geometry); w += KVC_MICA_LINE_WORDS) {
            kvc_mica_prefetch(bucket + w, write);
        }
    }
}

/** Second stage: prefetches the first item with the tag of each key. A key without such an item prefetches
 * its bucket again, because a branch would often be mispredicted. `victims`: keys that will be stored in a
 * full bucket prefetch the item that they will evict, because its location is reported. */
KVC_MICA_INLINE void kvc_mica_stage_items(const struct kvc_mica_geometry *geometry,
                                          const struct kvc_mica_partition *partitions,
                                          struct kvc_mica_staged *staged, uint32_t count, bool write,
                                          bool victims)
{
    const void *line[KVC_MICA_GROUP];
    for (uint32_t i = 0; i < count; i++) {
        uint64_t hash = staged[i].key.hash;
        const struct kvc_mica_partition *partition = partitions + kvc_mica_partition_number(geometry, hash);
        const uint64_t *bucket = kvc_mica_bucket_at(geometry, partition, hash);
        uint32_t words = kvc_mica_match(geometry, bucket, kvc_mica_tag_of(hash));
        uint32_t word = (uint32_t)__builtin_ctz(words | 1u << geometry->entries);
        bool wanted = words != 0;
        if (victims && !wanted) {
            word = kvc_mica_choose_entry(geometry, partition, bucket);
            wanted = bucket[word] != 0;
        }
        const uint64_t *item = kvc_mica_item_at(geometry, partition, KVC_MICA_LOAD(bucket + word));
        staged[i].item = wanted ? item : NULL;
        line[i] = wanted ? item : bucket;
    }
    for (uint32_t i = 0; i < count; i++) {
        kvc_mica_prefetch(line[i], write);
    }
}

/** Third stage: prefetches the further lines of each item, as far as its header says that they exist and as
 * the operation needs them. */
KVC_MICA_INLINE void kvc_mica_stage_rest(const struct kvc_mica_geometry *geometry,
                                         const struct kvc_mica_partition *partitions,
                                         const struct kvc_mica_batch *batch, uint32_t first,
                                         const struct kvc_mica_staged *staged, uint32_t count, bool write)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *item = staged[i].item;
        if (item == NULL) {
            continue;
        }
        const struct kvc_mica_partition *partition =
            partitions + kvc_mica_partition_number(geometry, staged[i].key.hash);
        uint64_t left = geometry->log_bytes / 8 - (uint64_t)(item - partition->log);
        uint64_t lengths = KVC_MICA_LOAD(&item[1]);
        uint32_t value_bytes = kvc_mica_value_bytes_of(lengths);
        uint32_t wanted = write ? batch->value[first + i].bytes : batch->buffer[first + i].room;
        uint64_t words =
            kvc_mica_item_words(kvc_mica_key_bytes_of(lengths), value_bytes < wanted ? value_bytes : wanted);
        words = words < left ? words : left; /* the header may be torn */
        words = words < KVC_MICA_REST_LINES * KVC_MICA_LINE_WORDS ? words
                                                                  : KVC_MICA_REST_LINES * KVC_MICA_LINE_WORDS;
        uint64_t start = (uintptr_t)item / 8 % KVC_MICA_LINE_WORDS;
        for (uint64_t w = KVC_MICA_LINE_WORDS; w < start + words; w += KVC_MICA_LINE_WORDS) {
            kvc_mica_prefetch(item - start + w, write);
        }
    }
}

/** Number of keys in a group of a batch. */
KVC_MICA_INLINE uint32_t kvc_mica_group_size(uint32_t count, uint64_t group)
{
    uint64_t left = count - group * KVC_MICA_GROUP;
    return left < KVC_MICA_GROUP ? (uint32_t)left : KVC_MICA_GROUP;
}

/** Runs an operation on a batch. `entries`, `simd` and `operation` are constants at the call where speed
 * matters; then the compiler makes a function of its own for each operation. */
KVC_MICA_INLINE void kvc_mica_run(struct kvc_mica *store, const struct kvc_mica_batch *batch,
                                  enum kvc_mica_operation operation, kvc_mica_operation_fn *one,
                                  uint32_t count, struct kvc_index_stats *stats, uint32_t entries, bool simd)
{
    struct kvc_mica_geometry geometry = store->geometry;
    geometry.entries = entries;
    geometry.simd = simd;
    struct kvc_mica_partition *partitions = store->partition;
    struct kvc_mica_staged ring[4][KVC_MICA_GROUP];
    struct kvc_index_stats local = {0};
    bool write = operation != KVC_MICA_GET;
    bool victims = operation == KVC_MICA_SET && batch->left != NULL;
    uint64_t groups = ((uint64_t)count + KVC_MICA_GROUP - 1) / KVC_MICA_GROUP;
    for (uint64_t g = 0; g < groups + 3; g++) {
        if (g < groups) {
            kvc_mica_stage_keys(&geometry, partitions, batch, (uint32_t)(g * KVC_MICA_GROUP),
                                kvc_mica_group_size(count, g), ring[g % 4], write);
        }
        if (g >= 1 && g < groups + 1) {
            kvc_mica_stage_items(&geometry, partitions, ring[(g - 1) % 4], kvc_mica_group_size(count, g - 1),
                                 write, victims);
        }
        if (g >= 2 && g < groups + 2 && batch->keys != NULL && operation != KVC_MICA_DELETE) {
            kvc_mica_stage_rest(&geometry, partitions, batch, (uint32_t)((g - 2) * KVC_MICA_GROUP),
                                ring[(g - 2) % 4], kvc_mica_group_size(count, g - 2), write);
        }
        for (uint32_t i = 0; g >= 3 && i < kvc_mica_group_size(count, g - 3); i++) {
            const struct kvc_mica_key *key = &ring[(g - 3) % 4][i].key;
            struct kvc_mica_partition *partition =
                partitions + kvc_mica_partition_number(&geometry, key->hash);
            one(&geometry, partition, batch, (uint32_t)((g - 3) * KVC_MICA_GROUP) + i, key, &local);
        }
    }
    kvc_index_stats_add(stats, &local);
}

#endif

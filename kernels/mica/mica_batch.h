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
enum operation {
    GET,   /**< Reads a value. */
    SET,   /**< Stores a value. */
    DELETE /**< Removes a key. */
};

/** Runs the operation on key i of a batch, in its partition. */
typedef void operation_fn(const struct geometry *geometry, struct partition *partition,
                          const struct batch *batch, uint32_t i, const struct key *key,
                          struct kvc_index_stats *stats);

/** Key i of a batch. */
KVC_MICA_INLINE struct key key_at(const struct geometry *geometry, const struct batch *batch, uint32_t i)
{
    if (batch->keys == NULL) {
        return (struct key){(const uint8_t *)&batch->hash[i], sizeof(uint64_t), batch->hash[i]};
    }
    const struct kvc_mica_keys *keys = batch->keys;
    struct key key = {keys->keys + keys->offset[i], keys->bytes[i], 0};
    key.hash = keys->hash != NULL ? keys->hash[i] : kvc_hash(key.data, key.bytes, geometry->seed);
    return key;
}

/** Prefetches a line. */
KVC_MICA_INLINE void prefetch(const void *line, bool write)
{
    if (write) {
        __builtin_prefetch(line, 1);
    } else {
        __builtin_prefetch(line, 0);
    }
}

/** A key on its way through the stages. */
struct staged {
    struct key key;       /**< The key. */
    const uint64_t *item; /**< The item that is likely to be the key's, or NULL. */
};

/** First stage: hashes the keys of a group and prefetches their buckets. */
KVC_MICA_INLINE void stage_keys(const struct geometry *geometry, const struct partition *partitions,
                                const struct batch *batch, uint32_t first, uint32_t count,
                                struct staged *staged, bool write)
{
    for (uint32_t i = 0; i < count; i++) {
        staged[i].key = key_at(geometry, batch, first + i);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t hash = staged[i].key.hash;
        const struct partition *partition = partitions + partition_number(geometry, hash);
        const uint64_t *bucket = bucket_at(geometry, partition, hash);
        for (uint32_t w = 0; w < bucket_words(geometry); w += KVC_MICA_LINE_WORDS) {
            prefetch(bucket + w, write);
        }
    }
}

/** Second stage: prefetches the first item with the tag of each key. A key without such an item prefetches
 * its bucket again, because a branch would often be mispredicted. `victims`: keys that will be stored in a
 * full bucket prefetch the item that they will evict, because its location is reported. */
KVC_MICA_INLINE void stage_items(const struct geometry *geometry, const struct partition *partitions,
                                 struct staged *staged, uint32_t count, bool write, bool victims)
{
    const void *line[KVC_MICA_GROUP];
    for (uint32_t i = 0; i < count; i++) {
        uint64_t hash = staged[i].key.hash;
        const struct partition *partition = partitions + partition_number(geometry, hash);
        const uint64_t *bucket = bucket_at(geometry, partition, hash);
        uint32_t words = match(geometry, bucket, tag_of(hash));
        uint32_t word = (uint32_t)__builtin_ctz(words | 1u << geometry->entries);
        bool wanted = words != 0;
        if (victims && !wanted) {
            word = choose_entry(geometry, partition, bucket);
            wanted = bucket[word] != 0;
        }
        const uint64_t *item = item_at(geometry, partition, KVC_MICA_LOAD(bucket + word));
        staged[i].item = wanted ? item : NULL;
        line[i] = wanted ? item : bucket;
    }
    for (uint32_t i = 0; i < count; i++) {
        prefetch(line[i], write);
    }
}

/** Third stage: prefetches the further lines of each item, as far as its header says that they exist and as
 * the operation needs them. */
KVC_MICA_INLINE void stage_rest(const struct geometry *geometry, const struct partition *partitions,
                                const struct batch *batch, uint32_t first, const struct staged *staged,
                                uint32_t count, bool write)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *item = staged[i].item;
        if (item == NULL) {
            continue;
        }
        const struct partition *partition = partitions + partition_number(geometry, staged[i].key.hash);
        uint64_t left = geometry->log_bytes / 8 - (uint64_t)(item - partition->log);
        uint64_t lengths = KVC_MICA_LOAD(&item[1]);
        uint32_t value_bytes = value_bytes_of(lengths);
        uint32_t wanted = write ? batch->value[first + i].bytes : batch->buffer[first + i].room;
        uint64_t words = item_words(key_bytes_of(lengths), value_bytes < wanted ? value_bytes : wanted);
        words = words < left ? words : left; /* the header may be torn */
        words = words < KVC_MICA_REST_LINES * KVC_MICA_LINE_WORDS ? words
                                                                  : KVC_MICA_REST_LINES * KVC_MICA_LINE_WORDS;
        uint64_t start = (uintptr_t)item / 8 % KVC_MICA_LINE_WORDS;
        for (uint64_t w = KVC_MICA_LINE_WORDS; w < start + words; w += KVC_MICA_LINE_WORDS) {
            prefetch(item - start + w, write);
        }
    }
}

/** Number of keys in a group of a batch. */
KVC_MICA_INLINE uint32_t group_size(uint32_t count, uint64_t group)
{
    uint64_t left = count - group * KVC_MICA_GROUP;
    return left < KVC_MICA_GROUP ? (uint32_t)left : KVC_MICA_GROUP;
}

/** Runs an operation on a batch. `entries`, `simd` and `operation` are constants at the call where speed
 * matters; then the compiler makes a function of its own for each operation. */
KVC_MICA_INLINE void run(struct kvc_mica *store, const struct batch *batch, enum operation operation,
                         operation_fn *one, uint32_t count, struct kvc_index_stats *stats, uint32_t entries,
                         bool simd)
{
    struct geometry geometry = store->geometry;
    geometry.entries = entries;
    geometry.simd = simd;
    struct partition *partitions = store->partition;
    struct staged ring[4][KVC_MICA_GROUP];
    struct kvc_index_stats local = {0};
    bool write = operation != GET;
    bool victims = operation == SET && batch->left != NULL;
    uint64_t groups = ((uint64_t)count + KVC_MICA_GROUP - 1) / KVC_MICA_GROUP;
    for (uint64_t g = 0; g < groups + 3; g++) {
        if (g < groups) {
            stage_keys(&geometry, partitions, batch, (uint32_t)(g * KVC_MICA_GROUP), group_size(count, g),
                       ring[g % 4], write);
        }
        if (g >= 1 && g < groups + 1) {
            stage_items(&geometry, partitions, ring[(g - 1) % 4], group_size(count, g - 1), write, victims);
        }
        if (g >= 2 && g < groups + 2 && batch->keys != NULL && operation != DELETE) {
            stage_rest(&geometry, partitions, batch, (uint32_t)((g - 2) * KVC_MICA_GROUP), ring[(g - 2) % 4],
                       group_size(count, g - 2), write);
        }
        for (uint32_t i = 0; g >= 3 && i < group_size(count, g - 3); i++) {
            const struct key *key = &ring[(g - 3) % 4][i].key;
            struct partition *partition = partitions + partition_number(&geometry, key->hash);
            one(&geometry, partition, batch, (uint32_t)((g - 3) * KVC_MICA_GROUP) + i, key, &local);
        }
    }
    kvc_index_stats_add(stats, &local);
}

#endif

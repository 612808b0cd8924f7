#include "kernels/mica/mica_batch.h"

/* Clears stale entries as the log advances: the whole index for each half of the offsets' range, so that no
 * entry stays long enough to be mistaken for a new one. */
KVC_MICA_INLINE void clean(const struct kvc_mica_geometry *geometry, struct kvc_mica_partition *partition)
{
    uint32_t half_bits = geometry->offset_bits - 1;
    uint64_t due = (uint64_t)((unsigned __int128)partition->tail * geometry->buckets >> half_bits);
    for (; partition->cleaned < due; partition->cleaned++) {
        uint64_t *bucket =
            partition->bucket + (uint64_t)partition->next_clean * kvc_mica_bucket_words(geometry);
        for (uint32_t w = 1; w < kvc_mica_bucket_words(geometry); w++) {
            if (bucket[w] != 0 && !kvc_mica_is_live(geometry, partition->tail, bucket[w])) {
                kvc_mica_put_entry(bucket, w, 0);
                partition->forgotten++;
            }
        }
        partition->next_clean = partition->next_clean + 1 < geometry->buckets ? partition->next_clean + 1 : 0;
    }
}

/* Appends an item, which must fit into the log, and returns its entry. */
KVC_MICA_INLINE uint64_t append(const struct kvc_mica_geometry *geometry,
                                struct kvc_mica_partition *partition, const struct kvc_mica_key *key,
                                const struct kvc_mica_value *value)
{
    uint64_t bytes = kvc_mica_item_words(key->bytes, value->bytes) * 8;
    uint64_t start = partition->tail;
    uint64_t left = geometry->log_bytes - (start & (geometry->log_bytes - 1));
    start += left < bytes ? left : 0;
    KVC_MICA_STORE(&partition->tail, start + bytes);
    uint64_t entry = kvc_mica_tag_of(key->hash) << KVC_MICA_TAG_SHIFT | (start & geometry->offset_mask);
    uint64_t *item = kvc_mica_item_at(geometry, partition, entry);
    KVC_MICA_STORE(&item[0], key->hash);
    KVC_MICA_STORE(&item[1], bytes / 8 << KVC_MICA_ROOM_SHIFT |
                                 (uint64_t)value->bytes << KVC_MICA_VALUE_BYTES_SHIFT | key->bytes);
    kvc_mica_copy_in(item + KVC_MICA_HEADER_WORDS, key->data, key->bytes);
    kvc_mica_copy_in(item + KVC_MICA_HEADER_WORDS + kvc_mica_words_of(key->bytes), value->data, value->bytes);
    return entry;
}

/* Gives up the entry that a new one replaces, which may be empty, stale or live. */
KVC_MICA_INLINE enum kvc_mica_outcome give_up(const struct kvc_mica_geometry *geometry,
                                              struct kvc_mica_partition *partition, uint64_t victim,
                                              uint32_t *left, struct kvc_index_stats *stats)
{
    if (victim == 0) {
        return KVC_MICA_NEW;
    }
    if (!kvc_mica_is_live(geometry, partition->tail, victim)) {
        partition->forgotten++;
        return KVC_MICA_NEW;
    }
    if (left != NULL) {
        *left = kvc_mica_location_in(kvc_mica_item_at(geometry, partition, victim));
        stats->insert_lines++;
    }
    stats->evicted++;
    return KVC_MICA_EVICTED;
}

/* Stores a value. `left` receives the location that leaves an index; it is NULL if the caller does not need
 * it. */
KVC_MICA_INLINE enum kvc_mica_outcome set_one(const struct kvc_mica_geometry *geometry,
                                              struct kvc_mica_partition *partition,
                                              const struct kvc_mica_key *key,
                                              const struct kvc_mica_value *value, uint32_t *left,
                                              struct kvc_index_stats *stats)
{
    if (value->bytes > KVC_MICA_ITEM_MAX ||
        kvc_mica_item_words(key->bytes, value->bytes) * 8 > KVC_MICA_ITEM_MAX ||
        kvc_mica_item_words(key->bytes, value->bytes) * 8 > geometry->log_bytes) {
        stats->dropped++;
        return KVC_MICA_REFUSED;
    }
    uint64_t *bucket = kvc_mica_bucket_at(geometry, partition, key->hash);
    stats->insert_lines += kvc_mica_bucket_lines(geometry);
    struct kvc_mica_found found = kvc_mica_find(geometry, partition, bucket, key, &stats->insert_lines);
    if (found.word != 0) {
        stats->replaced++;
        if (left != NULL) {
            *left = kvc_mica_location_in(found.item);
        }
        if (kvc_mica_item_words(key->bytes, value->bytes) <= found.lengths >> KVC_MICA_ROOM_SHIFT) {
            uint64_t lengths =
                (found.lengths & ~((uint64_t)KVC_MICA_VALUE_BYTES_MASK << KVC_MICA_VALUE_BYTES_SHIFT)) |
                (uint64_t)value->bytes << KVC_MICA_VALUE_BYTES_SHIFT;
            kvc_mica_begin_change(bucket);
            KVC_MICA_STORE(&found.item[1], lengths);
            kvc_mica_copy_in(found.item + KVC_MICA_HEADER_WORDS + kvc_mica_words_of(key->bytes), value->data,
                             value->bytes);
            kvc_mica_end_change(bucket);
            stats->insert_lines += kvc_mica_item_lines(found.item, key, value->bytes);
            return KVC_MICA_IN_PLACE;
        }
        stats->insert_lines += kvc_mica_item_lines(found.item, key, 0);
    }
    enum kvc_mica_outcome outcome = KVC_MICA_APPENDED;
    if (found.word == 0) {
        found.word = kvc_mica_choose_entry(geometry, partition, bucket);
        outcome = give_up(geometry, partition, bucket[found.word], left, stats);
    }
    uint64_t entry = append(geometry, partition, key, value);
    stats->insert_lines +=
        kvc_mica_item_lines(kvc_mica_item_at(geometry, partition, entry), key, value->bytes);
    kvc_mica_put_entry(bucket, found.word, entry);
    clean(geometry, partition);
    return outcome;
}

KVC_MICA_INLINE void set_at(const struct kvc_mica_geometry *geometry, struct kvc_mica_partition *partition,
                            const struct kvc_mica_batch *batch, uint32_t i, const struct kvc_mica_key *key,
                            struct kvc_index_stats *stats)
{
    struct kvc_mica_value value = batch->keys == NULL
                                      ? (struct kvc_mica_value){&batch->location[i], sizeof(uint32_t)}
                                      : batch->value[i];
    uint32_t location = KVC_LOCATION_NONE;
    uint32_t *left = batch->left != NULL ? &location : NULL;
    enum kvc_mica_outcome outcome = set_one(geometry, partition, key, &value, left, stats);
    if (batch->outcome != NULL) {
        batch->outcome[i] = (uint8_t)outcome;
    }
    if (left != NULL) {
        batch->left[i] = location;
    }
}

/* Runs a batch on buckets of any size. */
static void run_any(struct kvc_mica *store, const struct kvc_mica_batch *batch, uint32_t count,
                    struct kvc_index_stats *stats)
{
    kvc_mica_run(store, batch, KVC_MICA_SET, set_at, count, stats, store->geometry.entries, false);
}

#ifdef KVC_MICA_AVX2
/* Runs a batch on buckets of the published size, which AVX2 searches. */
KVC_MICA_AVX2_TARGET static void run_avx2(struct kvc_mica *store, const struct kvc_mica_batch *batch,
                                          uint32_t count, struct kvc_index_stats *stats)
{
    kvc_mica_run(store, batch, KVC_MICA_SET, set_at, count, stats, KVC_MICA_ENTRIES, true);
}
#endif

void kvc_mica_run_set(struct kvc_mica *store, const struct kvc_mica_batch *batch, uint32_t count,
                      struct kvc_index_stats *stats)
{
    stats->inserts += count;
#ifdef KVC_MICA_AVX2
    if (store->geometry.simd) {
        run_avx2(store, batch, count, stats);
        return;
    }
#endif
    run_any(store, batch, count, stats);
}

void kvc_mica_set(struct kvc_mica *store, const struct kvc_mica_keys *keys,
                  const struct kvc_mica_value *value, uint32_t count, uint8_t *outcome,
                  struct kvc_index_stats *stats)
{
    kvc_mica_run_set(store, &(struct kvc_mica_batch){.keys = keys, .value = value, .outcome = outcome}, count,
                     stats);
}

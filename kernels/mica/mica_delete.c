#include "kernels/mica/mica_batch.h"

/* Deletes a key if its item has this location, or any item if that is KVC_LOCATION_ANY. `left` receives the
 * location that leaves an index; it is NULL if the caller does not need it. */
KVC_MICA_INLINE bool delete_one(const struct kvc_mica_geometry *geometry,
                                struct kvc_mica_partition *partition, const struct kvc_mica_key *key,
                                uint32_t location, uint32_t *left, struct kvc_index_stats *stats)
{
    uint64_t *bucket = kvc_mica_bucket_at(geometry, partition, key->hash);
    stats->erase_lines += kvc_mica_bucket_lines(geometry);
    struct kvc_mica_found found = kvc_mica_find(geometry, partition, bucket, key, &stats->erase_lines);
    if (found.word == 0) {
        return false;
    }
    stats->erase_lines += kvc_mica_item_lines(found.item, key, left != NULL ? sizeof(location) : 0);
    if (location != KVC_LOCATION_ANY && location != kvc_mica_location_in(found.item)) {
        return false;
    }
    if (left != NULL) {
        *left = kvc_mica_location_in(found.item);
    }
    kvc_mica_put_entry(bucket, found.word, 0);
    stats->erased++;
    return true;
}

KVC_MICA_INLINE void delete_at(const struct kvc_mica_geometry *geometry, struct kvc_mica_partition *partition,
                               const struct kvc_mica_batch *batch, uint32_t i, const struct kvc_mica_key *key,
                               struct kvc_index_stats *stats)
{
    uint32_t wanted = batch->keys == NULL ? batch->location[i] : KVC_LOCATION_ANY;
    uint32_t location = KVC_LOCATION_NONE;
    uint32_t *left = batch->left != NULL ? &location : NULL;
    bool erased = delete_one(geometry, partition, key, wanted, left, stats);
    if (batch->erased != NULL) {
        batch->erased[i] = erased;
    }
    if (left != NULL) {
        batch->left[i] = location;
    }
}

/* Runs a batch on buckets of any size. */
static void run_any(struct kvc_mica *store, const struct kvc_mica_batch *batch, uint32_t count,
                    struct kvc_index_stats *stats)
{
    kvc_mica_run(store, batch, KVC_MICA_DELETE, delete_at, count, stats, store->geometry.entries, false);
}

#ifdef KVC_MICA_AVX2
/* Runs a batch on buckets of the published size, which AVX2 searches. */
KVC_MICA_AVX2_TARGET static void run_avx2(struct kvc_mica *store, const struct kvc_mica_batch *batch,
                                          uint32_t count, struct kvc_index_stats *stats)
{
    kvc_mica_run(store, batch, KVC_MICA_DELETE, delete_at, count, stats, KVC_MICA_ENTRIES, true);
}
#endif

void kvc_mica_run_delete(struct kvc_mica *store, const struct kvc_mica_batch *batch, uint32_t count,
                         struct kvc_index_stats *stats)
{
    stats->erases += count;
#ifdef KVC_MICA_AVX2
    if (store->geometry.simd) {
        run_avx2(store, batch, count, stats);
        return;
    }
#endif
    run_any(store, batch, count, stats);
}

void kvc_mica_delete(struct kvc_mica *store, const struct kvc_mica_keys *keys, uint32_t count, bool *erased,
                     struct kvc_index_stats *stats)
{
    kvc_mica_run_delete(store, &(struct kvc_mica_batch){.keys = keys, .erased = erased}, count, stats);
}

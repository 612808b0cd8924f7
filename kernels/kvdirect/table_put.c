#include "kernels/kvdirect/table_put.h"

#include <string.h>

void kvc_kvdirect_table_write_slab(const struct kvc_kvdirect_table *table, const struct kvc_kvdirect_put *put,
                                   struct kvc_kvdirect_table_counts *counts)
{
    const struct kvc_kvdirect_key *key = put->key;
    uint8_t *slab = kvc_kvdirect_slab_at(table, put->granule);
    uint32_t used = KVC_KVDIRECT_TABLE_HEADER_BYTES + key->size + put->value_bytes;
    slab[0] = (uint8_t)key->size;
    slab[1] = (uint8_t)(kvc_kvdirect_slab_bytes(put->type) - used);
    memcpy(slab + KVC_KVDIRECT_TABLE_HEADER_BYTES, key->bytes, key->size);
    if (put->value_bytes > 0) {
        memcpy(slab + KVC_KVDIRECT_TABLE_HEADER_BYTES + key->size, put->value, put->value_bytes);
    }
    kvc_kvdirect_count_slab_write(table, slab, used, counts);
}

/* Appends an empty bucket to the chain whose last bucket is `last`; returns NULL if there is no memory. Two
 * writes result: that of `last` is counted here, that of the new bucket when the caller writes it. */
static struct kvc_kvdirect_bucket *append_bucket(struct kvc_kvdirect_table *table,
                                                 struct kvc_kvdirect_bucket *last,
                                                 struct kvc_kvdirect_table_counts *counts,
                                                 struct kvc_kvdirect_slab_stats *stats)
{
    uint32_t granule = kvc_kvdirect_table_allocate(table, KVC_KVDIRECT_TABLE_BUCKET_TYPE, stats);
    if (granule == KVC_KVDIRECT_SLAB_NONE) {
        return NULL;
    }
    struct kvc_kvdirect_bucket *bucket = kvc_kvdirect_bucket_at(table, granule);
    memset(bucket, 0, sizeof(*bucket));
    struct kvc_kvdirect_bucket_meta meta = kvc_kvdirect_bucket_load_meta(last);
    meta.chain = granule;
    kvc_kvdirect_write_bucket(table, last, &meta, counts);
    counts->lines++;
    return bucket;
}

/* Continues the search for room behind the bucket that has the key, if there was none up to it. */
static void find_room_behind(const struct kvc_kvdirect_table *table, struct kvc_kvdirect_place *place,
                             uint32_t need, struct kvc_kvdirect_table_counts *counts)
{
    struct kvc_kvdirect_bucket_meta meta = place->meta;
    while (place->room == NULL && meta.chain != 0) {
        place->last = kvc_kvdirect_bucket_at(table, meta.chain);
        meta = kvc_kvdirect_bucket_load_meta(place->last);
        kvc_kvdirect_count_read(table, place->last, false, counts);
        if (kvc_kvdirect_bucket_has_room(&meta, need)) {
            place->room = place->last;
        }
    }
}

/* The bucket that the pair goes to: that of its key's old pair if it fits there, else the first with room.
 * Returns NULL if a bucket must be appended. */
static struct kvc_kvdirect_bucket *choose_bucket(const struct kvc_kvdirect_table *table,
                                                 const struct kvc_kvdirect_put *put,
                                                 struct kvc_kvdirect_place *place,
                                                 struct kvc_kvdirect_table_counts *counts)
{
    if (place->bucket == NULL) {
        return place->room;
    }
    struct kvc_kvdirect_bucket_meta without = place->meta;
    kvc_kvdirect_bucket_clear(&without, place->slot, place->slots);
    if (kvc_kvdirect_bucket_has_room(&without, put->slots)) {
        return place->bucket;
    }
    find_room_behind(table, place, put->slots, counts);
    return place->room;
}

static void set_pair(struct kvc_kvdirect_bucket *bucket, struct kvc_kvdirect_bucket_meta *meta,
                     const struct kvc_kvdirect_put *put)
{
    unsigned slot = kvc_kvdirect_bucket_make_room(bucket, meta, put->slots);
    if (put->inlined) {
        kvc_kvdirect_bucket_set_inline(bucket, meta, slot, put->key->bytes, put->key->size, put->value,
                                       put->value_bytes);
    } else {
        kvc_kvdirect_bucket_set_pointer(bucket, meta, slot, put->granule,
                                        kvc_kvdirect_secondary_of(put->key->hash), put->type);
    }
}

bool kvc_kvdirect_table_put_elsewhere(struct kvc_kvdirect_table *table, struct kvc_kvdirect_put *put,
                                      struct kvc_kvdirect_place *place,
                                      struct kvc_kvdirect_table_counts *counts,
                                      struct kvc_kvdirect_slab_stats *stats)
{
    if (!put->inlined) {
        put->granule = kvc_kvdirect_table_allocate(table, put->type, stats);
        if (put->granule == KVC_KVDIRECT_SLAB_NONE) {
            return false;
        }
    }
    struct kvc_kvdirect_bucket *target = choose_bucket(table, put, place, counts);
    bool appended = target == NULL;
    if (appended) {
        target = append_bucket(table, place->last, counts, stats);
        if (target == NULL) {
            if (!put->inlined) {
                kvc_kvdirect_table_release(table, put->granule, put->type, stats);
            }
            return false;
        }
    }
    if (!put->inlined) {
        kvc_kvdirect_table_write_slab(table, put, counts);
        counts->lines +=
            kvc_kvdirect_lines_of(KVC_KVDIRECT_TABLE_HEADER_BYTES + put->key->size + put->value_bytes);
    }
    if (place->bucket != NULL) {
        if (place->granule != 0) {
            kvc_kvdirect_table_release(table, place->granule, place->type, stats);
        }
        struct kvc_kvdirect_bucket_meta meta = kvc_kvdirect_bucket_load_meta(place->bucket);
        kvc_kvdirect_bucket_clear(&meta, place->slot, place->slots);
        if (target == place->bucket) {
            set_pair(target, &meta, put);
            kvc_kvdirect_write_bucket(table, target, &meta, counts);
            return true;
        }
        if (appended && place->last == place->bucket) {
            kvc_kvdirect_bucket_store_meta(place->bucket, &meta); /* append_bucket has counted this write */
        } else {
            kvc_kvdirect_write_bucket(table, place->bucket, &meta, counts);
        }
    }
    struct kvc_kvdirect_bucket_meta meta = kvc_kvdirect_bucket_load_meta(target);
    set_pair(target, &meta, put);
    kvc_kvdirect_write_bucket(table, target, &meta, counts);
    return true;
}

void kvc_kvdirect_table_put(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                            const struct kvc_kvdirect_key *key, struct kvc_kvdirect_table_stats *stats)
{
    uint32_t bytes = key->size + op->value_bytes;
    stats->put.operations++;
    if (key->size == 0 || bytes > KVC_KVDIRECT_TABLE_PAIR_MAX) {
        op->result = KVC_KVDIRECT_TABLE_SIZE;
        return;
    }
    bool inlined = bytes <= table->inline_bytes;
    struct kvc_kvdirect_place place = kvc_kvdirect_find(
        table, key, inlined ? kvc_kvdirect_bucket_slots_for(bytes) : 1, &stats->put, &stats->false_matches);
    stats->put.found += place.bucket != NULL;
    bool ok = kvc_kvdirect_put_pair(table, key, op->value, op->value_bytes, inlined, place, &stats->put,
                                    &stats->slab);
    stats->full += !ok;
    op->result = ok ? KVC_KVDIRECT_TABLE_OK : KVC_KVDIRECT_TABLE_FULL;
}

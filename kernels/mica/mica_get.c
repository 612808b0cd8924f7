#include "kernels/mica/mica_batch.h"

/* Lets the other hardware thread of a waiting core go ahead. */
KVC_MICA_INLINE void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Copies up to `room` bytes of a value. Returns the size of the whole value, or KVC_MICA_NONE. */
KVC_MICA_INLINE uint32_t get_one(const struct kvc_mica_geometry *geometry,
                                 const struct kvc_mica_partition *partition, const struct kvc_mica_key *key,
                                 void *to, uint32_t room, uint64_t *lines)
{
    const uint64_t *bucket = kvc_mica_bucket_at(geometry, partition, key->hash);
    for (;;) {
        uint64_t version = KVC_MICA_LOAD(bucket);
        if ((version & 1) != 0) {
            relax();
            continue;
        }
        *lines += kvc_mica_bucket_lines(geometry);
        struct kvc_mica_found found = kvc_mica_find(geometry, partition, bucket, key, lines);
        uint32_t bytes = KVC_MICA_NONE;
        if (found.word != 0) {
            bytes = kvc_mica_value_bytes_of(found.lengths);
            uint32_t copied = bytes < room ? bytes : room;
            kvc_mica_copy_out(found.item + KVC_MICA_HEADER_WORDS + kvc_mica_words_of(key->bytes), to, copied);
            *lines += kvc_mica_item_lines(found.item, key, copied);
            if (!kvc_mica_is_live(geometry, KVC_MICA_LOAD(&partition->tail), found.entry)) {
                bytes = KVC_MICA_NONE; /* the log has overwritten it meanwhile */
            }
        }
        if (KVC_MICA_LOAD(bucket) == version) {
            return bytes;
        }
    }
}

KVC_MICA_INLINE void get_at(const struct kvc_mica_geometry *geometry, struct kvc_mica_partition *partition,
                            const struct kvc_mica_batch *batch, uint32_t i, const struct kvc_mica_key *key,
                            struct kvc_index_stats *stats)
{
    bool index = batch->keys == NULL;
    uint32_t location = KVC_LOCATION_NONE;
    void *to = index ? (void *)&location : batch->buffer[i].data;
    uint32_t room = index ? sizeof(location) : batch->buffer[i].room;
    uint32_t bytes = get_one(geometry, partition, key, to, room, &stats->search_lines);
    stats->search_hits += bytes != KVC_MICA_NONE;
    if (index) {
        batch->found[i] = bytes != KVC_MICA_NONE ? location : KVC_LOCATION_NONE;
    } else {
        batch->buffer[i].bytes = bytes;
    }
}

/* Runs a batch on buckets of any size. */
static void run_any(struct kvc_mica *store, const struct kvc_mica_batch *batch, uint32_t count,
                    struct kvc_index_stats *stats)
{
    kvc_mica_run(store, batch, KVC_MICA_GET, get_at, count, stats, store->geometry.entries, false);
}

#ifdef KVC_MICA_AVX2
/* Runs a batch on buckets of the published size, which AVX2 searches. */
KVC_MICA_AVX2_TARGET static void run_avx2(struct kvc_mica *store, const struct kvc_mica_batch *batch,
                                          uint32_t count, struct kvc_index_stats *stats)
{
    kvc_mica_run(store, batch, KVC_MICA_GET, get_at, count, stats, KVC_MICA_ENTRIES, true);
}
#endif

void kvc_mica_run_get(struct kvc_mica *store, const struct kvc_mica_batch *batch, uint32_t count,
                      struct kvc_index_stats *stats)
{
    stats->searches += count;
#ifdef KVC_MICA_AVX2
    if (store->geometry.simd) {
        run_avx2(store, batch, count, stats);
        return;
    }
#endif
    run_any(store, batch, count, stats);
}

void kvc_mica_get(struct kvc_mica *store, const struct kvc_mica_keys *keys, uint32_t count,
                  struct kvc_mica_buffer *value, struct kvc_index_stats *stats)
{
    kvc_mica_run_get(store, &(struct kvc_mica_batch){.keys = keys, .buffer = value}, count, stats);
}

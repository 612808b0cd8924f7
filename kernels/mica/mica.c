#include "kernels/mica/mica.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/mica/mica_internal.h"
#include "kernels/pages.h"

enum {
    SHORT_BUCKET_ENTRIES = 7, /* Entries of a bucket of one line. */
    OFFSET_BITS_MIN = 9,
    LOG_BYTES_MIN = 64,
    LOG_SHARE_BITS = 3, /* The log is at most 1/8 of what offsets can tell apart. */
};

/* Size of a partition's index [bytes]. */
static uint64_t partition_bucket_bytes(const struct kvc_mica_geometry *geometry)
{
    return (uint64_t)geometry->buckets * kvc_mica_bucket_words(geometry) * 8;
}

void kvc_mica_free(struct kvc_mica *store)
{
    if (store == NULL) {
        return;
    }
    for (uint32_t p = 0; store->partition != NULL && p < store->geometry.partitions; p++) {
        kvc_pages_free(store->partition[p].bucket, partition_bucket_bytes(&store->geometry));
        kvc_pages_free(store->partition[p].log, store->geometry.log_bytes);
    }
    free(store->partition);
    free(store);
}

void kvc_mica_usage(const struct kvc_mica *store, struct kvc_mica_usage *usage)
{
    const struct kvc_mica_geometry *geometry = &store->geometry;
    *usage = (struct kvc_mica_usage){0};
    for (uint32_t p = 0; p < geometry->partitions; p++) {
        const struct kvc_mica_partition *partition = &store->partition[p];
        usage->forgotten += partition->forgotten;
        for (uint64_t b = 0; b < geometry->buckets; b++) {
            const uint64_t *bucket = partition->bucket + b * kvc_mica_bucket_words(geometry);
            for (uint32_t w = 1; w < kvc_mica_bucket_words(geometry); w++) {
                bool live = kvc_mica_is_live(geometry, partition->tail, bucket[w]);
                usage->live += bucket[w] != 0 && live;
                usage->stale += bucket[w] != 0 && !live;
            }
        }
    }
}

struct kvc_index *kvc_mica_index(struct kvc_mica *store)
{
    return &store->index;
}

uint32_t kvc_mica_partition(const struct kvc_mica *store, uint64_t hash)
{
    return kvc_mica_partition_number(&store->geometry, hash);
}

uint64_t kvc_mica_hash(const struct kvc_mica *store, const void *key, uint32_t bytes)
{
    return kvc_hash(key, bytes, store->geometry.seed);
}

/* Fills in defaults and checks the parameters. Returns false if one is out of range. */
static bool complete(const struct kvc_mica_params *params, struct kvc_mica_geometry *geometry)
{
    *geometry = (struct kvc_mica_geometry){
        .entries = params->entries != 0 ? params->entries : KVC_MICA_ENTRIES,
        .partitions = params->partitions != 0 ? params->partitions : 1,
        .buckets = params->buckets,
        .log_bytes = params->log_bytes,
        .offset_bits = params->offset_bits != 0 ? params->offset_bits : KVC_MICA_OFFSET_BITS,
        .seed = params->seed,
    };
    if ((geometry->entries != KVC_MICA_ENTRIES && geometry->entries != SHORT_BUCKET_ENTRIES) ||
        geometry->partitions > KVC_MICA_PARTITIONS_MAX || geometry->buckets == 0 ||
        geometry->offset_bits < OFFSET_BITS_MIN || geometry->offset_bits > KVC_MICA_OFFSET_BITS ||
        geometry->log_bytes < LOG_BYTES_MIN || (geometry->log_bytes & (geometry->log_bytes - 1)) != 0 ||
        geometry->log_bytes > UINT64_C(1) << (geometry->offset_bits - LOG_SHARE_BITS)) {
        return false;
    }
    geometry->offset_mask = (UINT64_C(1) << geometry->offset_bits) - 1;
#ifdef KVC_MICA_AVX2
    geometry->simd = geometry->entries == KVC_MICA_ENTRIES && __builtin_cpu_supports("avx2");
#endif
    return true;
}

struct kvc_mica *kvc_mica_create(const struct kvc_mica_params *params)
{
    struct kvc_mica_geometry geometry;
    if (!complete(params, &geometry)) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_mica *store = malloc(sizeof(*store));
    if (store == NULL) {
        return NULL;
    }
    uint64_t partitions_bytes = geometry.partitions * sizeof(struct kvc_mica_partition);
    *store = (struct kvc_mica){.index = {&kvc_mica_index_ops}, .geometry = geometry};
    store->partition = aligned_alloc(_Alignof(struct kvc_mica_partition), partitions_bytes);
    bool whole = store->partition != NULL;
    if (whole) {
        memset(store->partition, 0, partitions_bytes);
    }
    for (uint32_t p = 0; whole && p < geometry.partitions; p++) {
        struct kvc_mica_partition *partition = &store->partition[p];
        partition->bucket = kvc_pages_alloc(partition_bucket_bytes(&geometry));
        partition->log = kvc_pages_alloc(geometry.log_bytes);
        whole = partition->bucket != NULL && partition->log != NULL;
    }
    if (!whole) {
        kvc_mica_free(store);
        errno = ENOMEM;
        return NULL;
    }
    return store;
}

double kvc_mica_item_bytes(double key_bytes, double value_bytes)
{
    return 8.0 * (double)kvc_mica_item_words((uint32_t)key_bytes, (uint32_t)value_bytes);
}

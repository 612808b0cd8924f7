#include "kernels/mica/mica_internal.h"

#include <errno.h>

/* Size of an item with a hash as its key and a location as its value [bytes]. */
enum { ITEM_BYTES = KVC_MICA_HEADER_BYTES + 16 };

static inline struct kvc_mica *store_of(struct kvc_index *index)
{
    return (struct kvc_mica *)index; /* its first member */
}

static void index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                         struct kvc_index_stats *stats)
{
    kvc_mica_run_get(store_of(index), &(struct kvc_mica_batch){.hash = hash, .found = location}, count,
                     stats);
}

static void index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                         uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    kvc_mica_run_set(store_of(index),
                     &(struct kvc_mica_batch){.hash = hash, .location = location, .left = out}, count, stats);
}

static void index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                        uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    kvc_mica_run_delete(store_of(index),
                        &(struct kvc_mica_batch){.hash = hash, .location = location, .left = out}, count,
                        stats);
}

static void index_free(struct kvc_index *index)
{
    kvc_mica_free(store_of(index));
}

static uint64_t index_capacity(const struct kvc_index *index)
{
    const struct kvc_mica_geometry *geometry = &((const struct kvc_mica *)index)->geometry;
    uint64_t entries = (uint64_t)geometry->partitions * geometry->buckets * geometry->entries;
    uint64_t items = geometry->partitions * (geometry->log_bytes / ITEM_BYTES);
    return entries < items ? entries : items;
}

static uint64_t index_used(const struct kvc_index *index)
{
    struct kvc_mica_usage usage;
    kvc_mica_usage((const struct kvc_mica *)index, &usage);
    return usage.live;
}

const struct kvc_index_ops kvc_mica_index_ops = {
    .free = index_free,
    .search = index_search,
    .insert = index_insert,
    .erase = index_erase,
    .capacity = index_capacity,
    .used = index_used,
};

static struct kvc_index *create_published(uint64_t bytes, uint64_t seed)
{
    const uint64_t bucket_bytes = (KVC_MICA_ENTRIES + 1) * sizeof(uint64_t);
    const uint32_t partitions = 3;
    uint64_t buckets = bytes / 4 / partitions / bucket_bytes;
    if (buckets > UINT32_MAX) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_mica *store = kvc_mica_create(&(struct kvc_mica_params){
        .partitions = partitions, .buckets = (uint32_t)buckets, .log_bytes = bytes / 4, .seed = seed});
    return store != NULL ? &store->index : NULL;
}

const struct kvc_index_kind kvc_mica_kind = {
    .name = "mica",
    .source = "MICA, NSDI 2014, sec. 4.3",
    .create = create_published,
    .caches = true,
    .forgets = true,
    .many_readers = true,
};

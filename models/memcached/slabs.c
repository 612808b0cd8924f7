#include "models/memcached/slabs.h"

uint32_t kvc_memcached_slab_item_bytes(uint32_t key_bytes, uint32_t value_bytes)
{
    return KVC_MEMCACHED_SLAB_ITEM_BYTES + key_bytes + value_bytes;
}

uint32_t kvc_memcached_slab_pages(const struct kvc_memcached_slab_sizes *sizes)
{
    return (KVC_MEMCACHED_SLAB_BYTES + sizes->page_bytes - 1) / sizes->page_bytes;
}

/* Returns the first page of a slab on the SSD. */
static uint64_t first_page(const struct kvc_memcached_slab_sizes *sizes, uint32_t slab)
{
    return (uint64_t)(slab % sizes->disk_slabs) * kvc_memcached_slab_pages(sizes);
}

struct kvc_memcached_place kvc_memcached_slabs_add(struct kvc_memcached_slabs *slabs,
                                                   const struct kvc_memcached_slab_sizes *sizes,
                                                   uint32_t item_bytes, struct kvc_memcached_drain *drain)
{
    *drain = (struct kvc_memcached_drain){.evicts = false};
    if (slabs->offset + item_bytes > KVC_MEMCACHED_SLAB_BYTES) {
        slabs->slab++;
        slabs->offset = 0;
        if (slabs->slab >= sizes->memory_slabs) {
            uint32_t oldest = slabs->slab - sizes->memory_slabs;
            drain->written =
                (struct kvc_memcached_pages){first_page(sizes, oldest), kvc_memcached_slab_pages(sizes)};
            drain->evicts = oldest >= sizes->disk_slabs;
        }
    }
    struct kvc_memcached_place place = {slabs->slab, slabs->offset};
    slabs->offset += item_bytes;
    return place;
}

bool kvc_memcached_slabs_find(const struct kvc_memcached_slabs *slabs,
                              const struct kvc_memcached_slab_sizes *sizes,
                              const struct kvc_memcached_place *place, uint32_t item_bytes,
                              struct kvc_memcached_pages *pages)
{
    uint32_t age = slabs->slab - place->slab;
    *pages = (struct kvc_memcached_pages){0};
    if (age < sizes->memory_slabs) {
        return true;
    }
    if (age >= sizes->memory_slabs + sizes->disk_slabs) {
        return false;
    }
    uint32_t first = place->offset / sizes->page_bytes;
    uint32_t last = (place->offset + item_bytes - 1) / sizes->page_bytes;
    *pages = (struct kvc_memcached_pages){first_page(sizes, place->slab) + first, last - first + 1};
    return true;
}

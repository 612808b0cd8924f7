/* Where Fatcache keeps its items: slabs that fill up in memory and move to the SSD as a whole.
 *
 * Source: github.com/twitter/fatcache, fc_slab.c. An instance has a limited number of slabs in memory and a
 * part of the SSD. If it needs a new slab and all those in memory are full, it writes the oldest of them to
 * the SSD. If the SSD is full, it reads the slab that has been there for longest, forgets its items, and
 * overwrites it.
 *
 * Not modelled: classes of item sizes, each with slabs of its own; items of a slab that goes stay in the
 * index, where they count as missing, until the index needs their entries. */
#ifndef KVC_MODELS_MEMCACHED_SLABS_H
#define KVC_MODELS_MEMCACHED_SLABS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    KVC_MEMCACHED_SLAB_BYTES = 1 << 20, /* fc_settings.h, SLAB_SIZE. */
    KVC_MEMCACHED_SLAB_ITEM_BYTES = 49, /* fc_item.h: struct item before its key. */
};

/* Sizes that all instances share. */
struct kvc_memcached_slab_sizes {
    uint32_t memory_slabs, disk_slabs; /* Of an instance, at least 1 of each. */
    uint32_t page_bytes;               /* Of the SSD. */
};

/* The slabs of one instance. The zeroed struct has no items. */
struct kvc_memcached_slabs {
    uint32_t slab; /* Slab that is being filled; slabs are numbered in the order in which they are filled. */
    uint32_t offset; /* Bytes of it that are taken. */
};

/* Where an item is. */
struct kvc_memcached_place {
    uint32_t slab, offset;
};

/* Pages of the SSD, counted from the begin of the instance's part. */
struct kvc_memcached_pages {
    uint64_t first;
    uint32_t count;
};

/* What a new item does to the SSD before it is stored. */
struct kvc_memcached_drain {
    struct kvc_memcached_pages written; /* A slab from memory. */
    bool evicts;                        /* The slab that was there is read first. */
};

/* Returns the bytes of an item. */
uint32_t kvc_memcached_slab_item_bytes(uint32_t key_bytes, uint32_t value_bytes);

/* Returns the pages of a slab. */
uint32_t kvc_memcached_slab_pages(const struct kvc_memcached_slab_sizes *sizes);

/* Finds a place for an item of at most KVC_MEMCACHED_SLAB_BYTES. */
struct kvc_memcached_place kvc_memcached_slabs_add(struct kvc_memcached_slabs *slabs,
                                                   const struct kvc_memcached_slab_sizes *sizes,
                                                   uint32_t item_bytes, struct kvc_memcached_drain *drain);

/* Finds out how to read an item. Returns false if its slab is gone. `pages` is empty if it is in memory. */
bool kvc_memcached_slabs_find(const struct kvc_memcached_slabs *slabs,
                              const struct kvc_memcached_slab_sizes *sizes,
                              const struct kvc_memcached_place *place, uint32_t item_bytes,
                              struct kvc_memcached_pages *pages);

#endif

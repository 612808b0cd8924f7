/* BlueCache's DRAM key-value data store: slab classes and the oldest of four random items as the victim.
 *
 * Source: BlueCache, VLDB 10(4) 2016, sec. 3.4. What the paper says and this store does:
 *  - every slab class holds items of one size;
 *  - each item keeps a backward pointer to its entry in the index, by which the entry is re-pointed when the
 *    item leaves for flash;
 *  - the victim is the item with the oldest timestamp among four drawn at random from its class;
 *  - an item that was deleted or replaced is not given back: only its index entry goes, and the item stays
 *    until it happens to be a victim. The caller then sees that its index entry no longer points to it.
 * What the paper leaves open and is chosen here: classes of 64 bytes and then four to a doubling; slabs of
 * 2 MiB, given to a class when it first needs one and for good; the timestamp is kept in the item as well as
 * in its index entry, so that drawing four items reads four lines and not eight. The same item may be drawn
 * twice.
 *
 * Item layout: backward pointer, lengths and timestamp (16 bytes), key bytes, value bytes. An item's pointer
 * is its first byte's offset in the store, below 2^40.
 *
 * Not modelled: the store's size following the index's. One thread at a time. */
#ifndef KVC_KERNELS_BLUECACHE_DRAM_SLAB_H
#define KVC_KERNELS_BLUECACHE_DRAM_SLAB_H

#include <stdbool.h>
#include <stdint.h>

enum {
    KVC_DRAM_SLAB_BYTES = 2 << 20,
    KVC_DRAM_SLAB_HEADER_BYTES = 16,
    KVC_DRAM_SLAB_SAMPLES = 4, /* items drawn for one victim */
};

struct kvc_dram_slab;

struct kvc_dram_slab_params {
    uint64_t bytes; /* capacity, rounded up to whole slabs; at most 512 GiB */
    uint64_t seed;  /* of the random draws */
};

/* Lines: 64-byte lines of items read or written: headers of drawn items, header and key where a key is
 * compared, all of an item where it is written. */
struct kvc_dram_slab_stats {
    uint64_t reserved;
    uint64_t evicted, sampled_lines;
    uint64_t gets, get_hits, get_lines;
    uint64_t writes, write_lines;
};

struct kvc_dram_item {
    uint64_t back; /* backward pointer: the position of its index entry */
    uint32_t timestamp;
    uint32_t key_bytes, value_bytes;
    const uint8_t *key, *value;
};

void kvc_dram_slab_free(struct kvc_dram_slab *slab); /* NULL is allowed */

/* NULL with errno EINVAL or ENOMEM. */
struct kvc_dram_slab *kvc_dram_slab_create(const struct kvc_dram_slab_params *params);

/* Bytes that an item of this key (at most 255 bytes) and value (below 1 MiB) takes in its class; 0: too
 * large. */
uint32_t kvc_dram_slab_item_bytes(uint32_t key_bytes, uint32_t value_bytes);

/* Takes `count` items of the class for this size: pointer[i]. The first *fresh of them were never used; the
 * others are victims, whole until they are written, and the caller has to save what is still wanted of them
 * first. Ages are counted back from `now`. Returns how many were taken: fewer than `count` only when no slab
 * is left and the class has nothing more to evict, because it has no slab or all its items are reserved. */
uint32_t kvc_dram_slab_reserve(struct kvc_dram_slab *slab, uint32_t key_bytes, uint32_t value_bytes,
                               uint32_t now, uint32_t count, uint64_t *pointer, uint32_t *fresh,
                               struct kvc_dram_slab_stats *stats);

/* Writes into a reserved item; sizes must fit the class it was reserved from. */
void kvc_dram_slab_write(struct kvc_dram_slab *slab, uint64_t pointer, const struct kvc_dram_item *item,
                         struct kvc_dram_slab_stats *stats);

/* What an item holds; false: there is none. Its bytes stay where they are until the item is written again. */
bool kvc_dram_slab_item(const struct kvc_dram_slab *slab, uint64_t pointer, struct kvc_dram_item *item);

/* Fetches an item's first line ahead of its use; any pointer is allowed. */
void kvc_dram_slab_prefetch(const struct kvc_dram_slab *slab, uint64_t pointer);

/* A batch of GETs, software-pipelined. Key i starts at keys + i * stride; an item with another key, or none,
 * is a miss with value[i] NULL. Hits are marked as used `now`; their bytes stay in place until the next
 * write. */
struct kvc_dram_slab_gets {
    uint32_t count;
    const uint64_t *pointer;
    const uint8_t *keys;
    uint64_t stride;
    const uint8_t *key_bytes;
    uint32_t now;
    const uint8_t **value;
    uint32_t *value_bytes;
};
void kvc_dram_slab_get(struct kvc_dram_slab *slab, const struct kvc_dram_slab_gets *gets,
                       struct kvc_dram_slab_stats *stats);

uint64_t kvc_dram_slab_capacity_bytes(const struct kvc_dram_slab *slab);

#endif

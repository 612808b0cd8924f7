#include "kernels/megakv/slab.h"

#include <assert.h>

#include "kernels/hash.h"
#include "kernels/megakv/slab_internal.h"

static struct kvc_megakv_slab_class *lock_class_of(struct kvc_megakv_slab *slab, uint32_t location)
{
    struct kvc_megakv_slab_class *class = &slab->classes[slab->info[location >> 16].class_index];
    kvc_megakv_slab_lock(class);
    return class;
}

static bool is_free(const struct kvc_megakv_slab *slab, uint32_t location)
{
    return (__atomic_load_n(&slab->free_bits[kvc_megakv_slab_word(location)], __ATOMIC_RELAXED) &
            kvc_megakv_slab_bit(location)) != 0;
}

/* Takes an item in use out of the reach of CLOCK and of readers, so that the caller owns it; returns false if
 * the item is not in use. `tag` (0 or kvc_megakv_slab_tag_writing) replaces kvc_megakv_slab_tag_using in the
 * same store. The lock of the class is held. */
static bool claim(struct kvc_megakv_slab *slab, uint8_t *item, uint32_t location, uint64_t tag)
{
    if (!kvc_megakv_slab_in_use(slab, location)) {
        return false;
    }
    kvc_megakv_slab_set_in_use(slab, location, false);
    kvc_megakv_slab_store_header(item,
                                 (kvc_megakv_slab_load_header(item) & ~kvc_megakv_slab_tag_using) | tag);
    return true;
}

/* Writes an item that the caller owns and puts it in use. */
static inline void fill(struct kvc_megakv_slab *slab, uint32_t location, uint8_t *item, uint64_t header,
                        const void *key, uint32_t key_bytes, const void *value, uint32_t value_bytes,
                        struct kvc_megakv_slab_stats *stats)
{
    kvc_megakv_slab_fence_release(); /* readers see the cleared tag before any of the bytes below */
    kvc_megakv_slab_copy_in(item + KVC_MEGAKV_SLAB_HEADER_BYTES, key, key_bytes);
    kvc_megakv_slab_copy_in(item + KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes, value, value_bytes);
    uint64_t version = (header >> 32) + 1;
    kvc_megakv_slab_store_header(item, version << 32 | kvc_megakv_slab_header_shape(key_bytes, value_bytes));
    kvc_megakv_slab_set_in_use(slab, location, true);
    stats->writes++;
    stats->write_lines += kvc_megakv_slab_lines(item, KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes + value_bytes);
}

static bool has_key(const uint8_t *item, const void *key, uint32_t key_bytes)
{
    return kvc_megakv_slab_header_key_bytes(kvc_megakv_slab_load_header(item)) == key_bytes &&
           kvc_megakv_slab_same_bytes(item + KVC_MEGAKV_SLAB_HEADER_BYTES, key, key_bytes);
}

/* Overwrites an item in use: whatever key it holds, or, with `key_stays`, only if it holds this key. The key
 * cannot change under the lock, because a thread must take the item out of use before it changes a byte. */
static bool refill(struct kvc_megakv_slab *slab, uint32_t location, uint8_t *item, bool key_stays,
                   const void *key, uint32_t key_bytes, const void *value, uint32_t value_bytes,
                   struct kvc_megakv_slab_stats *stats)
{
    uint64_t header = 0;
    struct kvc_megakv_slab_class *class = lock_class_of(slab, location);
    bool mine = kvc_megakv_slab_in_use(slab, location) && (!key_stays || has_key(item, key, key_bytes)) &&
                claim(slab, item, location, kvc_megakv_slab_tag_writing);
    if (mine) {
        header = kvc_megakv_slab_load_header(item);
        kvc_megakv_slab_mark_referenced(slab, location);
    }
    kvc_megakv_slab_unlock(class);
    if (mine) {
        fill(slab, location, item, header, key, key_bytes, value, value_bytes, stats);
    }
    return mine;
}

bool kvc_megakv_slab_write(struct kvc_megakv_slab *slab, uint32_t location, const void *key,
                           uint32_t key_bytes, const void *value, uint32_t value_bytes,
                           struct kvc_megakv_slab_stats *stats)
{
    uint32_t item_bytes;
    uint8_t *item = kvc_megakv_slab_item(slab, location, &item_bytes);
    uint64_t header = kvc_megakv_slab_load_header(item);
    assert(KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes + value_bytes <= item_bytes);
    if ((header & (kvc_megakv_slab_tag_using | kvc_megakv_slab_tag_writing)) != 0) {
        return refill(slab, location, item, false, key, key_bytes, value, value_bytes, stats);
    }
    assert(!is_free(slab, location) && !kvc_megakv_slab_in_use(slab, location));
    fill(slab, location, item, header, key, key_bytes, value, value_bytes, stats);
    return true;
}

bool kvc_megakv_slab_rewrite(struct kvc_megakv_slab *slab, uint32_t location, const void *key,
                             uint32_t key_bytes, const void *value, uint32_t value_bytes,
                             struct kvc_megakv_slab_stats *stats)
{
    uint32_t item_bytes;
    uint8_t *item = kvc_megakv_slab_item(slab, location, &item_bytes);
    return item != NULL && (uint64_t)KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes + value_bytes <= item_bytes &&
           refill(slab, location, item, true, key, key_bytes, value, value_bytes, stats);
}

/* Puts an item that no other thread can hold on the free list. The lock of the class is held. */
static void put_free(struct kvc_megakv_slab *slab, struct kvc_megakv_slab_class *class, uint32_t location)
{
    uint32_t number = location >> 16;
    uint32_t word = (location & 0xffff) / 64;
    struct kvc_megakv_slab_info *info = &slab->info[number];
    uint64_t *free_word = &slab->free_bits[kvc_megakv_slab_word(location)];
    __atomic_store_n(free_word, *free_word | kvc_megakv_slab_bit(location), __ATOMIC_RELAXED);
    if (info->free_items++ == 0) {
        info->free_word = word;
        info->next_free = class->first_free;
        class->first_free = number;
    } else if (word < info->free_word) {
        info->free_word = word;
    }
}

bool kvc_megakv_slab_release(struct kvc_megakv_slab *slab, uint32_t location)
{
    uint32_t item_bytes;
    uint8_t *item = kvc_megakv_slab_item(slab, location, &item_bytes);
    if (item == NULL) {
        return false;
    }
    struct kvc_megakv_slab_class *class = lock_class_of(slab, location);
    /* If the item is not in use although its header says so, another thread is evicting or rewriting it. */
    bool others =
        !kvc_megakv_slab_in_use(slab, location) &&
        (kvc_megakv_slab_load_header(item) & (kvc_megakv_slab_tag_using | kvc_megakv_slab_tag_writing)) != 0;
    bool released = (location & 0xffff) < class->items && !is_free(slab, location) && !others;
    if (released) {
        claim(slab, item, location, 0);
        put_free(slab, class, location);
    }
    kvc_megakv_slab_unlock(class);
    return released;
}

bool kvc_megakv_slab_release_key(struct kvc_megakv_slab *slab, uint32_t location, uint64_t hash)
{
    uint32_t item_bytes;
    uint8_t *item = kvc_megakv_slab_item(slab, location, &item_bytes);
    if (item == NULL) {
        return false;
    }
    /* No thread takes or writes an item in use without this lock, so the key stays while it is read. */
    struct kvc_megakv_slab_class *class = lock_class_of(slab, location);
    bool released = kvc_megakv_slab_in_use(slab, location) &&
                    kvc_hash(item + KVC_MEGAKV_SLAB_HEADER_BYTES,
                             kvc_megakv_slab_header_key_bytes(kvc_megakv_slab_load_header(item)),
                             slab->hash_seed) == hash;
    if (released) {
        claim(slab, item, location, 0);
        put_free(slab, class, location);
    }
    kvc_megakv_slab_unlock(class);
    return released;
}

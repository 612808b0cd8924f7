#include "kernels/megakv/slab.h"

#include <errno.h>
#include <stdlib.h>

#include "kernels/megakv/slab_internal.h"
#include "kernels/pages.h"

bool kvc_megakv_slab_set_referenced(struct kvc_megakv_slab *slab, uint32_t location, uint64_t marks)
{
    uint64_t *below = &slab->referenced[0][kvc_megakv_slab_word(location)];
    /* A set bit is not written again: the write would take the line from the caches of other readers. */
    if ((~__atomic_load_n(below, __ATOMIC_RELAXED) & marks) == 0) {
        return false;
    }
    uint64_t bits = __atomic_fetch_or(below, marks, __ATOMIC_SEQ_CST) | marks;
    uint32_t index = location;
    for (int level = 1; level < KVC_MEGAKV_SLAB_LEVELS && bits == ~UINT64_C(0); level++) {
        index /= 64;
        uint64_t *word = &slab->referenced[level][kvc_megakv_slab_word(index)];
        bits = __atomic_fetch_or(word, kvc_megakv_slab_bit(index), __ATOMIC_SEQ_CST) |
               kvc_megakv_slab_bit(index);
        /* The CLOCK hand clears from the bottom up. If it passed meanwhile, either it or this thread notices
         * the other. */
        if (__atomic_load_n(below, __ATOMIC_SEQ_CST) != ~UINT64_C(0)) {
            __atomic_fetch_and(word, ~kvc_megakv_slab_bit(index), __ATOMIC_SEQ_CST);
            break;
        }
        below = word;
    }
    return true;
}

void kvc_megakv_slab_free(struct kvc_megakv_slab *slab)
{
    if (slab == NULL) {
        return;
    }
    uint64_t bitmap_bytes = (uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_BITMAP_WORDS * sizeof(uint64_t);
    kvc_pages_free(slab->base, (uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_BYTES);
    for (int level = 0; level < KVC_MEGAKV_SLAB_LEVELS; level++) {
        kvc_pages_free(slab->referenced[level], bitmap_bytes >> 6 * level);
    }
    kvc_pages_free(slab->free_bits, bitmap_bytes);
    kvc_pages_free(slab->in_use, bitmap_bytes * 8);
    kvc_pages_free(slab->item_bytes, slab->slab_count * sizeof(*slab->item_bytes));
    free(slab->info);
    free(slab);
}

struct kvc_megakv_slab *kvc_megakv_slab_create(uint64_t bytes, uint64_t hash_seed)
{
    return kvc_megakv_slab_create_sample(bytes, 1, hash_seed);
}

struct kvc_megakv_slab *kvc_megakv_slab_create_sample(uint64_t bytes, uint64_t rate, uint64_t hash_seed)
{
    /* Each class leaves one slab of a sample incomplete. */
    uint64_t shares = (bytes - 1) / KVC_MEGAKV_SLAB_BYTES + 1, extra = rate > 1 ? KVC_MEGAKV_SLAB_CLASSES : 0;
    if (bytes == 0 || rate == 0 || rate > UINT32_MAX || shares > UINT32_MAX ||
        shares / rate + extra > KVC_MEGAKV_SLAB_COUNT_MAX) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_megakv_slab *slab = aligned_alloc(_Alignof(struct kvc_megakv_slab), sizeof(*slab));
    if (slab == NULL) {
        return NULL;
    }
    memset(slab, 0, sizeof(*slab));
    slab->slab_count = (uint32_t)(shares / rate + extra);
    slab->shares = slab->shares_left = (uint32_t)shares;
    slab->rate = (uint32_t)rate;
    slab->hash_seed = hash_seed;
    for (uint32_t i = 0; i < KVC_MEGAKV_SLAB_CLASSES; i++) {
        slab->classes[i].last = KVC_MEGAKV_SLAB_NONE;
        slab->classes[i].first_free = KVC_MEGAKV_SLAB_NONE;
    }
    uint64_t bitmap_bytes = (uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_BITMAP_WORDS * sizeof(uint64_t);
    slab->base = kvc_pages_alloc((uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_BYTES);
    bool complete = true;
    for (int level = 0; level < KVC_MEGAKV_SLAB_LEVELS; level++) {
        slab->referenced[level] = kvc_pages_alloc(bitmap_bytes >> 6 * level);
        complete = complete && slab->referenced[level] != NULL;
    }
    slab->free_bits = kvc_pages_alloc(bitmap_bytes);
    slab->in_use = kvc_pages_alloc(bitmap_bytes * 8);
    slab->item_bytes = kvc_pages_alloc(slab->slab_count * sizeof(*slab->item_bytes)); /* For shared_cuda.h. */
    slab->info = calloc(slab->slab_count, sizeof(*slab->info));
    if (!complete || slab->base == NULL || slab->free_bits == NULL || slab->in_use == NULL ||
        slab->item_bytes == NULL || slab->info == NULL) {
        kvc_megakv_slab_free(slab);
        errno = ENOMEM;
        return NULL;
    }
    return slab;
}

uint64_t kvc_megakv_slab_memory_bytes(uint64_t bytes, uint64_t rate, uint64_t used_bytes)
{
    uint64_t shares = (bytes + KVC_MEGAKV_SLAB_BYTES - 1) / KVC_MEGAKV_SLAB_BYTES;
    uint64_t slabs = shares / rate + (rate > 1 ? KVC_MEGAKV_SLAB_CLASSES : 0);
    uint64_t used = (used_bytes + KVC_MEGAKV_SLAB_BYTES - 1) / KVC_MEGAKV_SLAB_BYTES;
    uint64_t bitmap_bytes = KVC_MEGAKV_SLAB_BITMAP_WORDS * sizeof(uint64_t);
    uint64_t sum_bytes = kvc_pages_front_bytes(slabs * KVC_MEGAKV_SLAB_BYTES, used_bytes) +
                         kvc_pages_front_bytes(slabs * bitmap_bytes, used * bitmap_bytes) +
                         kvc_pages_front_bytes(slabs * bitmap_bytes * 8, used * bitmap_bytes * 8) +
                         slabs * (sizeof(uint32_t) + sizeof(struct kvc_megakv_slab_info));
    for (int level = 0; level < KVC_MEGAKV_SLAB_LEVELS; level++) {
        sum_bytes +=
            kvc_pages_front_bytes(slabs * bitmap_bytes >> 6 * level, used * bitmap_bytes >> 6 * level);
    }
    return sum_bytes;
}

void kvc_megakv_slab_touch(struct kvc_megakv_slab *slab)
{
    kvc_pages_touch(slab->base, (uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_BYTES);
}

void kvc_megakv_slab_forget_reads(struct kvc_megakv_slab *slab, uint32_t one_in)
{
    uint32_t words_apart = one_in > 64 ? one_in / 64 : 1;
    uint64_t pattern = 0;
    for (uint32_t bit = 0; bit < 64; bit += one_in) {
        pattern |= UINT64_C(1) << bit;
    }
    for (uint32_t number = 0; number < slab->slab_count; number++) {
        uint32_t item_bytes = __atomic_load_n(&slab->item_bytes[number], __ATOMIC_ACQUIRE);
        uint32_t count = item_bytes == 0 ? 0 : KVC_MEGAKV_SLAB_BYTES / item_bytes;
        for (uint32_t item = 0; item < count; item += 64 * words_apart) {
            uint32_t location = kvc_megakv_slab_location(number, item);
            kvc_megakv_slab_clear_referenced(slab, location,
                                             kvc_megakv_slab_using_word(slab, location) & pattern);
        }
    }
}

uint64_t kvc_megakv_slab_used_items(const struct kvc_megakv_slab *slab)
{
    uint64_t items = 0;
    for (uint32_t number = 0; number < slab->slab_count; number++) {
        uint32_t item_bytes = __atomic_load_n(&slab->item_bytes[number], __ATOMIC_ACQUIRE);
        uint32_t count = item_bytes == 0 ? 0 : KVC_MEGAKV_SLAB_BYTES / item_bytes;
        for (uint32_t item = 0; item < count; item += 64) {
            items += (uint32_t)__builtin_popcountll(
                kvc_megakv_slab_using_word(slab, kvc_megakv_slab_location(number, item)));
        }
    }
    return items;
}

uint64_t kvc_megakv_slab_capacity_bytes(const struct kvc_megakv_slab *slab)
{
    return (uint64_t)slab->shares * KVC_MEGAKV_SLAB_BYTES / slab->rate;
}

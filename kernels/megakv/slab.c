#include "kernels/megakv/slab.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "kernels/hash.h"
#include "kernels/index.h"
#include "kernels/megakv/slab_internal.h"
#include "kernels/pages.h"

/* Sets the reference bits `marks` in the word that contains `location`; returns false if they were all set.
 */
static bool set_referenced(struct kvc_megakv_slab *slab, uint32_t location, uint64_t marks)
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

/* Sets an item's reference bit; returns false if it was set. */
static inline bool mark_referenced(struct kvc_megakv_slab *slab, uint32_t location)
{
    return set_referenced(slab, location, kvc_megakv_slab_bit(location));
}

void kvc_megakv_slab_free(struct kvc_megakv_slab *slab)
{
    if (slab == NULL) {
        return;
    }
    uint64_t bitmap_bytes = (uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_BITMAP_WORDS * sizeof(uint64_t);
    kvc_pages_free(slab->base, (uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_BYTES);
    kvc_megakv_slab_compact_close(slab);
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
    return kvc_megakv_slab_create_with(
        &(struct kvc_megakv_slab_params){.bytes = bytes, .rate = 1, .hash_seed = hash_seed});
}

struct kvc_megakv_slab *kvc_megakv_slab_create_with(const struct kvc_megakv_slab_params *params)
{
    uint64_t bytes = params->bytes, rate = params->rate;
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
    slab->hash_seed = params->hash_seed;
    for (uint32_t i = 0; i < KVC_MEGAKV_SLAB_CLASSES; i++) {
        slab->classes[i].last = KVC_MEGAKV_SLAB_NONE;
        slab->classes[i].first_free = KVC_MEGAKV_SLAB_NONE;
    }
    uint64_t bitmap_bytes = (uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_BITMAP_WORDS * sizeof(uint64_t);
    bool complete = false;
    if (params->compact) {
        complete = kvc_megakv_slab_compact_open(slab);
    } else {
        slab->base = kvc_pages_alloc((uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_BYTES);
        complete = slab->base != NULL;
    }
    for (int level = 0; level < KVC_MEGAKV_SLAB_LEVELS; level++) {
        slab->referenced[level] = kvc_pages_alloc(bitmap_bytes >> 6 * level);
        complete = complete && slab->referenced[level] != NULL;
    }
    slab->free_bits = kvc_pages_alloc(bitmap_bytes);
    slab->in_use = kvc_pages_alloc(bitmap_bytes * 8);
    /* Memory that shared_cuda.h uses. */
    slab->item_bytes = kvc_pages_alloc(slab->slab_count * sizeof(*slab->item_bytes));
    slab->info = calloc(slab->slab_count, sizeof(*slab->info));
    if (!complete || slab->free_bits == NULL || slab->in_use == NULL || slab->item_bytes == NULL ||
        slab->info == NULL) {
        kvc_megakv_slab_free(slab);
        errno = ENOMEM;
        return NULL;
    }
    return slab;
}

/* Memory of the items of a store of `slabs` slabs, whose items would fill `used_bytes` with their bytes. */
static uint64_t items_memory_bytes(const struct kvc_megakv_slab_params *params, uint64_t slabs,
                                   uint64_t used_bytes, double item_bytes, bool mixed)
{
    if (!params->compact) {
        return kvc_pages_front_bytes(slabs * KVC_MEGAKV_SLAB_BYTES, used_bytes);
    }
    uint64_t room = slabs * KVC_MEGAKV_SLAB_ITEMS_MAX;
    uint64_t items = item_bytes > 0 ? (uint64_t)((double)used_bytes / item_bytes) : 0;
    return kvc_pages_front_bytes(room * sizeof(uint64_t), items * sizeof(uint64_t)) +
           (mixed ? kvc_pages_front_bytes(room * sizeof(uint32_t), items * sizeof(uint32_t)) : 0);
}

uint64_t kvc_megakv_slab_memory_bytes(const struct kvc_megakv_slab_params *params, double stored,
                                      double item_bytes, bool mixed)
{
    uint64_t rate = params->rate, used_bytes = (uint64_t)(stored * item_bytes);
    uint64_t shares = (params->bytes + KVC_MEGAKV_SLAB_BYTES - 1) / KVC_MEGAKV_SLAB_BYTES;
    uint64_t slabs = shares / rate + (rate > 1 ? KVC_MEGAKV_SLAB_CLASSES : 0);
    uint64_t share_bytes = shares * KVC_MEGAKV_SLAB_BYTES / rate;
    used_bytes += mixed ? KVC_MEGAKV_SLAB_CLASSES / 2 * (uint64_t)KVC_MEGAKV_SLAB_BYTES : 0;
    used_bytes = used_bytes < share_bytes ? used_bytes : share_bytes; /* A full store evicts items. */
    uint64_t used = (used_bytes + KVC_MEGAKV_SLAB_BYTES - 1) / KVC_MEGAKV_SLAB_BYTES;
    uint64_t bitmap_bytes = KVC_MEGAKV_SLAB_BITMAP_WORDS * sizeof(uint64_t);
    uint64_t sum_bytes = items_memory_bytes(params, slabs, used_bytes, item_bytes, mixed) +
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

/* --- allocation --- */

enum {
    EVICT_AHEAD = 16,
};

/* Returns the size class of an item and stores the item size of the class in *class_bytes;
 * KVC_MEGAKV_SLAB_CLASSES if the item is too large. */
static uint32_t class_of(uint32_t key_bytes, uint32_t value_bytes, uint32_t *class_bytes)
{
    *class_bytes = 0;
    if (key_bytes > KVC_MEGAKV_SLAB_KEY_MAX || value_bytes > KVC_MEGAKV_SLAB_VALUE_MAX) {
        return KVC_MEGAKV_SLAB_CLASSES;
    }
    uint32_t bytes = KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes + value_bytes;
    if (bytes <= 64) {
        uint32_t index = bytes <= 32 ? 0 : bytes <= 48 ? 1 : 2;
        *class_bytes = 32 + 16 * index;
        return index;
    }
    uint32_t doubling = 31u - (uint32_t)__builtin_clz(bytes - 1); /* 2^doubling < bytes <= 2^(doubling + 1) */
    uint32_t quarters = ((bytes - 1) >> (doubling - 2)) + 1;      /* 5 .. 8 */
    *class_bytes = quarters << (doubling - 2);
    return 3 + 4 * (doubling - 6) + quarters - 5;
}

uint32_t kvc_megakv_slab_item_bytes(uint32_t key_bytes, uint32_t value_bytes)
{
    uint32_t class_bytes;
    class_of(key_bytes, value_bytes, &class_bytes);
    return class_bytes;
}

/* Sets the reference bits after the last item of a slab, so that they do not keep a word from being all ones.
 * The top level is left alone: it has no level above it, and slabs share its words. */
static void reference_the_rest(struct kvc_megakv_slab *slab, uint32_t number, uint32_t items)
{
    for (int level = 0; level < KVC_MEGAKV_SLAB_LEVELS - 1; level++) {
        uint32_t end = kvc_megakv_slab_location(number, 0) >> 6 * level | 0xffff >> 6 * level;
        uint32_t index = (kvc_megakv_slab_location(number, 0) >> 6 * level) + items;
        for (; (index & 63) != 0 && index <= end; index++) {
            slab->referenced[level][kvc_megakv_slab_word(index)] |= kvc_megakv_slab_bit(index);
        }
        for (; index <= end; index += 64) {
            slab->referenced[level][kvc_megakv_slab_word(index)] = ~UINT64_C(0);
        }
        items = (items + 63) / 64;
    }
}

/* Takes one from a counter; returns false if none is left. */
static bool take_one(uint32_t *left)
{
    uint32_t now = __atomic_load_n(left, __ATOMIC_RELAXED);
    do {
        if (now == 0) {
            return false;
        }
    } while (!__atomic_compare_exchange_n(left, &now, now - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return true;
}

/* Adds a slab without free items to a class, whose lock is held. One is always left: the items of all classes
 * fill no more slabs than there are, and a sample has a spare slab for the incomplete one of each class. */
static void add_slab(struct kvc_megakv_slab *slab, uint32_t class_index, uint32_t class_bytes)
{
    uint32_t number = __atomic_fetch_add(&slab->assigned, 1, __ATOMIC_RELAXED);
    struct kvc_megakv_slab_class *class = &slab->classes[class_index];
    struct kvc_megakv_slab_info *info = &slab->info[number];
    *info = (struct kvc_megakv_slab_info){.class_index = class_index, .next = number};
    if (class->last != KVC_MEGAKV_SLAB_NONE) {
        info->next = slab->info[class->last].next;
        slab->info[class->last].next = number;
    } else {
        class->hand_slab = number;
    }
    class->last = number;
    class->slabs++;
    if (kvc_megakv_slab_is_compact(slab)) {
        kvc_megakv_slab_compact_begin(slab, number, class->items);
    }
    __atomic_store_n(&slab->item_bytes[number], class_bytes, __ATOMIC_RELEASE);
}

/* Makes the next `count` items of the class's last slab free. */
static void free_more(struct kvc_megakv_slab *slab, struct kvc_megakv_slab_class *class, uint32_t count)
{
    uint32_t number = class->last, first = class->granted - (class->slabs - 1) * class->items;
    struct kvc_megakv_slab_info *info = &slab->info[number];
    uint64_t *free_bits = &slab->free_bits[kvc_megakv_slab_word(kvc_megakv_slab_location(number, 0))];
    for (uint32_t item = first, end = first + count, part; item < end; item += part) {
        uint32_t bit = item & 63;
        part = end - item < 64 - bit ? end - item : 64 - bit;
        free_bits[item / 64] |= (part == 64 ? ~UINT64_C(0) : (UINT64_C(1) << part) - 1) << bit;
    }
    if (first == 0) {
        reference_the_rest(slab, number, count);
    }
    if (info->free_items == 0) {
        info->next_free = class->first_free;
        class->first_free = number;
        info->free_word = first / 64;
    } else if (first / 64 < info->free_word) {
        info->free_word = first / 64;
    }
    info->free_items += count;
    class->granted += count;
}

/* Returns how many items a slab of a class holds. */
static uint32_t items_of(uint32_t class_bytes)
{
    uint32_t items = KVC_MEGAKV_SLAB_BYTES / class_bytes;
    return items < KVC_MEGAKV_SLAB_ITEMS_MAX ? items : KVC_MEGAKV_SLAB_ITEMS_MAX;
}

/* Makes the first `due` items of a class, whose lock is held, available. */
static void grant(struct kvc_megakv_slab *slab, uint32_t class_index, uint32_t class_bytes, uint64_t due)
{
    struct kvc_megakv_slab_class *class = &slab->classes[class_index];
    while (due > class->granted) {
        uint64_t room = (uint64_t) class->slabs * class->items - class->granted, left = due - class->granted;
        if (room == 0) {
            add_slab(slab, class_index, class_bytes);
            room = class->items;
        }
        free_more(slab, class, (uint32_t)(left < room ? left : room));
    }
}

/* Takes a slab for a class, whose lock is held, and makes the items of the slab available; in a sample, only
 * the sample's share of them. Returns false if no slab is left. */
static bool take_share(struct kvc_megakv_slab *slab, uint32_t class_index, uint32_t class_bytes)
{
    struct kvc_megakv_slab_class *class = &slab->classes[class_index];
    if (!take_one(&slab->shares_left)) {
        return false;
    }
    class->items = items_of(class_bytes);
    class->shares++;
    grant(slab, class_index, class_bytes,
          ((uint64_t) class->shares * class->items + slab->rate / 2) / slab->rate);
    return true;
}

/* Takes slabs for a class, whose lock is held, until it has a further item: a sample's share of one slab may
 * be less than an item. Returns false if it has none. */
static bool grow(struct kvc_megakv_slab *slab, uint32_t class_index, uint32_t class_bytes)
{
    struct kvc_megakv_slab_class *class = &slab->classes[class_index];
    uint32_t granted = class->granted;
    while (class->granted == granted && take_share(slab, class_index, class_bytes)) {
        ;
    }
    if (class->granted == 0 &&
        class->shares > 0) { /* A class that has slabs in the whole store keeps an item. */
        grant(slab, class_index, class_bytes, 1);
    }
    return class->granted > granted;
}

bool kvc_megakv_slab_assign(struct kvc_megakv_slab *slab, uint32_t key_bytes, uint32_t value_bytes)
{
    uint32_t class_bytes, class_index = class_of(key_bytes, value_bytes, &class_bytes);
    if (class_index == KVC_MEGAKV_SLAB_CLASSES) {
        return false;
    }
    struct kvc_megakv_slab_class *class = &slab->classes[class_index];
    kvc_megakv_slab_lock(class);
    bool took = take_share(slab, class_index, class_bytes);
    kvc_megakv_slab_unlock(class);
    return took;
}

uint32_t kvc_megakv_slab_items(uint32_t key_bytes, uint32_t value_bytes)
{
    uint32_t class_bytes = kvc_megakv_slab_item_bytes(key_bytes, value_bytes);
    return class_bytes > 0 ? items_of(class_bytes) : 0;
}

/* Takes up to `count` items from one word of a slab's free list. It marks them as referenced together, which
 * saves an atomic operation in each of their first writes. */
static uint32_t take_word(struct kvc_megakv_slab *slab, uint32_t word_location, uint32_t count,
                          uint32_t *location)
{
    uint64_t *word = &slab->free_bits[kvc_megakv_slab_word(word_location)];
    uint64_t left = *word;
    uint32_t taken = 0;
    for (; taken < count && left != 0; left &= left - 1) {
        location[taken++] = word_location | (uint32_t)__builtin_ctzll(left);
    }
    if (taken != 0) {
        set_referenced(slab, word_location, *word & ~left);
        __atomic_store_n(word, left, __ATOMIC_RELAXED);
    }
    return taken;
}

/* Takes up to `count` items from the free list of a class. */
static uint32_t take_free(struct kvc_megakv_slab *slab, struct kvc_megakv_slab_class *class, uint32_t count,
                          uint32_t *location)
{
    uint32_t taken = 0;
    while (taken < count && class->first_free != KVC_MEGAKV_SLAB_NONE) {
        uint32_t number = class->first_free;
        struct kvc_megakv_slab_info *info = &slab->info[number];
        while (taken < count && info->free_items > 0) {
            uint32_t found = take_word(slab, kvc_megakv_slab_location(number, info->free_word * 64),
                                       count - taken, location + taken);
            info->free_word += taken + found < count; /* otherwise the word may have more */
            info->free_items -= found;
            taken += found;
        }
        if (info->free_items == 0) {
            class->first_free = info->next_free;
        }
    }
    return taken;
}

static uint64_t from_bit(uint32_t bit)
{
    return ~UINT64_C(0) << bit;
}

/* Sweeps one bitmap word under the CLOCK hand: collects up to `count` items in use that are not referenced
 * (or, unless `spare` is set, referenced ones too), and clears the reference bits that the hand passes. The
 * hand stops after the last victim if there are enough victims, otherwise at the end of the word. */
static uint32_t sweep_word(struct kvc_megakv_slab *slab, struct kvc_megakv_slab_class *class, uint32_t count,
                           bool spare, uint32_t *location, struct kvc_megakv_slab_stats *stats)
{
    uint32_t word_location = kvc_megakv_slab_location(class->hand_slab, class->hand_item & ~63u);
    uint64_t referenced =
        __atomic_load_n(&slab->referenced[0][kvc_megakv_slab_word(word_location)], __ATOMIC_RELAXED);
    uint64_t passed = kvc_megakv_slab_using_word(slab, word_location) & from_bit(class->hand_item & 63);
    uint64_t victims = spare ? passed & ~referenced : passed;
    uint64_t evicted = 0;
    uint32_t found = 0;
    while (found < count && victims != 0) {
        location[found] = word_location | (uint32_t)__builtin_ctzll(victims);
        kvc_megakv_slab_set_in_use(slab, location[found++], false);
        evicted |= victims & -victims;
        victims &= victims - 1;
    }
    class->hand_item = (class->hand_item & ~63u) + 64;
    if (found == count) {
        uint32_t last = location[found - 1] & 63;
        class->hand_item -= 63 - last;
        passed &= ~UINT64_C(0) >> (63 - last);
    }
    if ((passed & referenced) != 0) {
        kvc_megakv_slab_clear_referenced(slab, word_location, passed);
    }
    if (evicted != 0) {
        set_referenced(slab, word_location, evicted); /* for the reason given at take_word() */
    }
    stats->clock_steps += (uint32_t)__builtin_popcountll(passed);
    return found;
}

/* Moves the CLOCK hand until it has `count` victims or the class has nothing else in use. In the latter case
 * the hand stays after the last item in use that it saw. The lock of the class is held. */
static uint32_t turn_clock(struct kvc_megakv_slab *slab, struct kvc_megakv_slab_class *class, uint32_t count,
                           uint32_t *location, struct kvc_megakv_slab_stats *stats)
{
    if (class->slabs == 0) {
        return 0;
    }
    uint32_t found = 0;
    uint32_t start_slab = class->hand_slab;
    uint32_t start_item = class->hand_item;
    uint32_t seen_slab = start_slab;
    uint32_t seen_item = start_item;
    uint32_t barren = 0; /* slabs entered since the last item in use */
    unsigned turns = 0;
    while (found < count && barren <= class->slabs) {
        if (class->hand_item >= class->items) {
            class->hand_slab = slab->info[class->hand_slab].next;
            class->hand_item = 0;
            /* The first turn clears reference bits and the second turn finds victims. From the third turn on,
             * reference bits no longer spare an item, so readers that keep setting them cannot prolong the
             * sweep forever. */
            turns += class->hand_slab == start_slab;
            barren++;
            continue;
        }
        bool spare = turns < 2 || (turns == 2 && class->hand_item < start_item);
        uint64_t steps = stats->clock_steps;
        found += sweep_word(slab, class, count - found, spare, location + found, stats);
        if (stats->clock_steps != steps) {
            seen_slab = class->hand_slab;
            seen_item = class->hand_item;
            barren = 0;
        }
    }
    class->hand_slab = seen_slab;
    class->hand_item = seen_item;
    return found;
}

/* Returns the hash of the key of an item that is or was in use. `item` is NULL in a compact store. */
static uint64_t hash_of(const struct kvc_megakv_slab *slab, uint32_t location, const uint8_t *item)
{
    if (kvc_megakv_slab_is_compact(slab)) {
        return *kvc_megakv_slab_compact_hash(slab, location);
    }
    return kvc_hash(item + KVC_MEGAKV_SLAB_HEADER_BYTES,
                    kvc_megakv_slab_header_key_bytes(kvc_megakv_slab_load_header(item)), slab->hash_seed);
}

/* Lets no reader find an item: `tag` (0 or kvc_megakv_slab_tag_writing) replaces kvc_megakv_slab_tag_using.
 */
static void withdraw(struct kvc_megakv_slab *slab, uint32_t location, uint8_t *item, uint64_t tag)
{
    if (kvc_megakv_slab_is_compact(slab)) {
        *kvc_megakv_slab_compact_hash(slab, location) ^= ~UINT64_C(0);
    } else {
        kvc_megakv_slab_store_header(item,
                                     (kvc_megakv_slab_load_header(item) & ~kvc_megakv_slab_tag_using) | tag);
    }
}

/* Withdraws evicted items, which now belong to the caller, from their readers and reports the hashes of their
 * keys. */
static void report_evicted(struct kvc_megakv_slab *slab, uint32_t count, const uint32_t *location,
                           struct kvc_megakv_slab_evicted *evicted)
{
    uint32_t item_bytes;
    for (uint32_t i = 0; i < count; i++) {
        if (count - i > EVICT_AHEAD) {
            __builtin_prefetch(kvc_megakv_slab_item(slab, location[i + EVICT_AHEAD], &item_bytes), 1);
        }
        uint8_t *item = kvc_megakv_slab_item(slab, location[i], &item_bytes);
        evicted[i].location = location[i];
        evicted[i].hash = hash_of(slab, location[i], item);
        withdraw(slab, location[i], item, 0);
    }
}

uint32_t kvc_megakv_slab_alloc(struct kvc_megakv_slab *slab, uint32_t key_bytes, uint32_t value_bytes,
                               uint32_t count, uint32_t *location, struct kvc_megakv_slab_evicted *evicted,
                               uint32_t *evicted_count, struct kvc_megakv_slab_stats *stats)
{
    uint32_t class_bytes;
    uint32_t class_index = class_of(key_bytes, value_bytes, &class_bytes);
    *evicted_count = 0;
    if (class_index == KVC_MEGAKV_SLAB_CLASSES) {
        return 0;
    }
    struct kvc_megakv_slab_class *class = &slab->classes[class_index];
    uint32_t found = 0;
    kvc_megakv_slab_lock(class);
    uint32_t taken = take_free(slab, class, count, location);
    while (taken < count && grow(slab, class_index, class_bytes)) {
        taken += take_free(slab, class, count - taken, location + taken);
    }
    if (taken < count) {
        found = turn_clock(slab, class, count - taken, location + taken, stats);
    }
    kvc_megakv_slab_unlock(class);
    report_evicted(slab, found, location + taken, evicted);
    *evicted_count = found;
    stats->evicted += found;
    stats->allocated += taken + found;
    return taken + found;
}

/* --- reads --- */

enum {
    FEW = 4,             /* Smaller batches are not prefetched. */
    READ_CHUNK = 256,    /* Items that are prefetched before the first of them is read. */
    CHUNK_LINES = 1024,  /* Lines prefetched at most, which the second-level cache holds. */
    PREFETCH_LINES = 16, /* Per item; the hardware prefetcher fetches the rest. */
    MARK_AHEAD = 16,     /* Words of reference bits in flight. */
};

/* Says whether the reference bit of an item is known to be set. The reference bits of tens of millions of
 * items take megabytes, so inspecting them would cost each read a line of a distant cache. In a store with
 * more reads than evictions most bits are set, and the top level, which stays in the nearest cache, says so.
 */
static inline bool surely_referenced(const struct kvc_megakv_slab *slab, uint32_t location)
{
    uint32_t index = location >> 6 * (KVC_MEGAKV_SLAB_LEVELS - 1);
    return (__atomic_load_n(&slab->referenced[KVC_MEGAKV_SLAB_LEVELS - 1][kvc_megakv_slab_word(index)],
                            __ATOMIC_RELAXED) &
            kvc_megakv_slab_bit(index)) != 0;
}

/* Counts one read that touched the first `bytes` bytes of the item. */
static inline enum kvc_megakv_slab_read_result seen(const uint8_t *item, uint32_t bytes,
                                                    enum kvc_megakv_slab_read_result result,
                                                    struct kvc_megakv_slab_stats *stats)
{
    stats->read_lines += kvc_megakv_slab_lines(item, bytes);
    return result;
}

/* Reads one item of any shape. A hit sets *value_bytes and advances *position. */
static enum kvc_megakv_slab_read_result read_item(const uint8_t *item, const uint8_t *key, uint32_t key_bytes,
                                                  const struct kvc_megakv_slab_reads *reads,
                                                  uint32_t *position, uint32_t *value_bytes,
                                                  struct kvc_megakv_slab_stats *stats)
{
    uint64_t header = kvc_megakv_slab_load_header(item);
    if ((header & kvc_megakv_slab_tag_using) == 0) {
        return seen(item, KVC_MEGAKV_SLAB_HEADER_BYTES, KVC_MEGAKV_SLAB_CHANGED, stats);
    }
    uint32_t touched = KVC_MEGAKV_SLAB_HEADER_BYTES;
    if (reads->compare) {
        bool same = kvc_megakv_slab_header_key_bytes(header) == key_bytes;
        if (same) {
            touched += key_bytes;
            same = kvc_megakv_slab_same_bytes(item + KVC_MEGAKV_SLAB_HEADER_BYTES, key, key_bytes);
        }
        if (!same) {
            kvc_megakv_slab_fence_acquire();
            bool changed = kvc_megakv_slab_load_header(item) != header;
            return seen(item, touched, changed ? KVC_MEGAKV_SLAB_CHANGED : KVC_MEGAKV_SLAB_MISMATCH, stats);
        }
    }
    uint32_t bytes = kvc_megakv_slab_header_value_bytes(header);
    if (bytes > reads->out_bytes) {
        return seen(item, touched, KVC_MEGAKV_SLAB_CHANGED, stats);
    }
    uint32_t start = bytes > reads->out_bytes - *position ? 0 : *position;
    touched = KVC_MEGAKV_SLAB_HEADER_BYTES + kvc_megakv_slab_header_key_bytes(header) + bytes;
    kvc_megakv_slab_copy_out(reads->out + start,
                             item + KVC_MEGAKV_SLAB_HEADER_BYTES + kvc_megakv_slab_header_key_bytes(header),
                             bytes);
    kvc_megakv_slab_fence_acquire();
    if (kvc_megakv_slab_load_header(item) != header) {
        return seen(item, touched, KVC_MEGAKV_SLAB_CHANGED, stats);
    }
    *position = start + bytes;
    *value_bytes = bytes;
    return seen(item, touched, KVC_MEGAKV_SLAB_HIT, stats);
}

/* Reads the most common shape, an 8-byte key with an 8-byte value, without calls. Returns false if the item
 * has another shape or is not a clean hit. */
static inline bool read_8_8(const uint8_t *item, const uint8_t *key, uint8_t *out)
{
    uint64_t header = kvc_megakv_slab_load_header(item);
    const uint64_t *words = (const uint64_t *)item;
    uint64_t wanted, value;
    memcpy(&wanted, key, sizeof(wanted));
    if ((header & kvc_megakv_slab_shape_mask) != kvc_megakv_slab_header_shape(8, 8) ||
        __atomic_load_n(&words[1], __ATOMIC_ACQUIRE) != wanted) {
        return false;
    }
    value = __atomic_load_n(&words[2], __ATOMIC_ACQUIRE);
    if (kvc_megakv_slab_load_header(item) != header) {
        return false;
    }
    memcpy(out, &value, sizeof(value));
    return true;
}

static inline const uint8_t *item_at(const struct kvc_megakv_slab *slab, uint32_t location,
                                     uint32_t *item_bytes)
{
    return location == KVC_LOCATION_NONE ? NULL : kvc_megakv_slab_item(slab, location, item_bytes);
}

/* Finds and prefetches the items of a chunk; returns how many they are.
 *
 * A prefetch waits in the processor's window for the walk through the page tables that its address needs, and
 * items over gigabytes need many. Nothing else stands in this loop, so that as many walks as possible
 * overlap; with reads between the prefetches, random items took 1.4 times as long, and items of few pages no
 * longer. The second-level cache holds the whole chunk. */
static uint32_t prefetch_items(const struct kvc_megakv_slab *slab, const uint32_t *location, uint32_t count,
                               const uint8_t **item)
{
    uint32_t i = 0;
    for (uint32_t lines = 0; i < count && i < READ_CHUNK && lines < CHUNK_LINES; i++) {
        uint32_t item_bytes;
        item[i] = item_at(slab, location[i], &item_bytes);
        if (item[i] != NULL) {
            uint32_t item_lines = kvc_megakv_slab_lines(item[i], item_bytes);
            item_lines = item_lines < PREFETCH_LINES ? item_lines : PREFETCH_LINES;
            __builtin_prefetch(item[i], 0, 2);
            for (uint32_t line = 1; line < item_lines; line++) {
                __builtin_prefetch(item[i] + line * 64, 0, 2);
            }
            lines += item_lines;
        }
    }
    return i;
}

/* Reads the first `count` items of a batch; `item` has NULL for a location that has none. Hits that need a
 * look at their reference bits are marked at the end. */
static inline void read_items(struct kvc_megakv_slab *slab, const struct kvc_megakv_slab_reads *reads,
                              uint32_t first, uint32_t count, const uint8_t *const *item, uint32_t *position,
                              struct kvc_megakv_slab_stats *stats)
{
    const uint32_t *location = reads->location + first;
    const uint8_t *key = reads->keys + (uint64_t)first * reads->key_stride,
                  *key_bytes = reads->key_bytes + first;
    uint8_t *out = reads->out, *result = reads->result + first;
    uint32_t *value_bytes = reads->value_bytes != NULL ? reads->value_bytes + first : NULL;
    uint32_t key_stride = reads->key_stride, out_bytes = reads->out_bytes, at = *position, unsure = 0;
    uint32_t mark[READ_CHUNK];
    bool compare = reads->compare;
    uint64_t lines = 0;
    for (uint32_t i = 0; i < count; i++, key += key_stride) {
        enum kvc_megakv_slab_read_result found = KVC_MEGAKV_SLAB_HIT;
        uint32_t bytes = 0;
        if (item[i] == NULL) {
            found = location[i] == KVC_LOCATION_NONE ? KVC_MEGAKV_SLAB_ABSENT : KVC_MEGAKV_SLAB_CHANGED;
        } else if (compare && key_bytes[i] == 8 && out_bytes - at >= 8 && read_8_8(item[i], key, out + at)) {
            bytes = 8;
            at += 8;
            lines += kvc_megakv_slab_lines(item[i], KVC_MEGAKV_SLAB_HEADER_BYTES + 16);
        } else {
            *position = at;
            found = read_item(item[i], key, compare ? key_bytes[i] : 0, reads, position, &bytes, stats);
            at = *position;
        }
        if (found == KVC_MEGAKV_SLAB_HIT && !surely_referenced(slab, location[i])) {
            mark[unsure++] = location[i];
        }
        result[i] = (uint8_t)found;
        if (value_bytes != NULL) {
            value_bytes[i] = bytes;
        }
    }
    *position = at;
    stats->read_lines += lines;
    kvc_megakv_slab_mark(slab, mark, unsure, stats);
}

/* Does little besides the reads, so that the processor overlaps this call with the caller's next ones. */
static __attribute__((noinline)) void read_few(struct kvc_megakv_slab *slab,
                                               const struct kvc_megakv_slab_reads *reads,
                                               struct kvc_megakv_slab_stats *stats)
{
    const uint8_t *item[FEW];
    uint32_t item_bytes;
    for (uint32_t i = 0; i < reads->count; i++) {
        item[i] = item_at(slab, reads->location[i], &item_bytes);
    }
    read_items(slab, reads, 0, reads->count, item, reads->out_position, stats);
}

static void read_many(struct kvc_megakv_slab *slab, const struct kvc_megakv_slab_reads *reads,
                      struct kvc_megakv_slab_stats *stats)
{
    const uint8_t *item[READ_CHUNK];
    uint32_t position = *reads->out_position;
    for (uint32_t first = 0, count; first < reads->count; first += count) {
        count = prefetch_items(slab, reads->location + first, reads->count - first, item);
        read_items(slab, reads, first, count, item, &position, stats);
    }
    *reads->out_position = position;
}

/* Performs a single read of the most common shape without a call. Returns false, having done nothing, for
 * anything else. */
static inline bool read_one_8_8(struct kvc_megakv_slab *slab, const struct kvc_megakv_slab_reads *reads,
                                struct kvc_megakv_slab_stats *stats)
{
    uint32_t item_bytes;
    uint32_t location = reads->location[0], position = *reads->out_position;
    if (location == KVC_LOCATION_NONE || !reads->compare || reads->key_bytes[0] != 8 ||
        reads->value_bytes != NULL || reads->out_bytes - position < 8) {
        return false;
    }
    const uint8_t *item = kvc_megakv_slab_item(slab, location, &item_bytes);
    if (item == NULL || !surely_referenced(slab, location) ||
        !read_8_8(item, reads->keys, reads->out + position)) {
        return false;
    }
    *reads->out_position = position + 8;
    reads->result[0] = KVC_MEGAKV_SLAB_HIT;
    stats->read_lines += kvc_megakv_slab_lines(item, KVC_MEGAKV_SLAB_HEADER_BYTES + 16);
    return true;
}

void kvc_megakv_slab_read(struct kvc_megakv_slab *slab, const struct kvc_megakv_slab_reads *reads,
                          struct kvc_megakv_slab_stats *stats)
{
    stats->reads += reads->count;
    if (kvc_megakv_slab_is_compact(slab)) {
        kvc_megakv_slab_compact_read(slab, reads, stats);
        return;
    }
    if (reads->count == 1 && read_one_8_8(slab, reads, stats)) {
        return;
    }
    if (reads->count < FEW) {
        read_few(slab, reads, stats);
    } else {
        read_many(slab, reads, stats);
    }
}

static inline void prefetch_mark(const struct kvc_megakv_slab *slab, uint32_t location)
{
    if (!surely_referenced(slab, location)) {
        __builtin_prefetch(&slab->referenced[0][kvc_megakv_slab_word(location)]);
    }
}

void kvc_megakv_slab_fetch(const struct kvc_megakv_slab *slab, const uint32_t *location, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t item_bytes;
        bool compact = slab->base == NULL && location[i] >> 16 < slab->slab_count;
        __builtin_prefetch(compact ? (const void *)kvc_megakv_slab_compact_hash(slab, location[i])
                                   : kvc_megakv_slab_item(slab, location[i], &item_bytes));
    }
}

void kvc_megakv_slab_mark(struct kvc_megakv_slab *slab, const uint32_t *location, uint32_t count,
                          struct kvc_megakv_slab_stats *stats)
{
    for (uint32_t i = 0; i < MARK_AHEAD && i < count; i++) {
        prefetch_mark(slab, location[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (count - i > MARK_AHEAD) {
            prefetch_mark(slab, location[i + MARK_AHEAD]);
        }
        if (!surely_referenced(slab, location[i])) {
            stats->checked++;
            stats->marked += mark_referenced(slab, location[i]);
        }
    }
}

/* --- writes --- */

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
    withdraw(slab, location, item, tag);
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

/* Overwrites an item in use. With `key_stays`, it does so only if the item holds this key. The key
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
        mark_referenced(slab, location);
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
    uint32_t item_bytes, offset;
    if (!kvc_megakv_slab_place(slab, location, &item_bytes, &offset)) {
        return false;
    }
    uint8_t *item = kvc_megakv_slab_item(slab, location, &item_bytes);
    struct kvc_megakv_slab_class *class = lock_class_of(slab, location);
    /* If the item is not in use although its header says so, another thread is evicting or rewriting it. */
    bool others =
        !kvc_megakv_slab_is_compact(slab) && !kvc_megakv_slab_in_use(slab, location) &&
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
    uint32_t item_bytes, offset;
    if (!kvc_megakv_slab_place(slab, location, &item_bytes, &offset)) {
        return false;
    }
    uint8_t *item = kvc_megakv_slab_item(slab, location, &item_bytes);
    /* No thread takes or writes an item in use without this lock, so the key stays while it is read. */
    struct kvc_megakv_slab_class *class = lock_class_of(slab, location);
    bool released = kvc_megakv_slab_in_use(slab, location) && hash_of(slab, location, item) == hash;
    if (released) {
        claim(slab, item, location, 0);
        put_free(slab, class, location);
    }
    kvc_megakv_slab_unlock(class);
    return released;
}

void kvc_megakv_slab_memory_of(struct kvc_megakv_slab *slab, struct kvc_megakv_slab_memory *memory)
{
    *memory = (struct kvc_megakv_slab_memory){
        .slabs = slab->base,
        .bytes = (uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_BYTES,
        .item_bytes = slab->item_bytes,
        .count = slab->slab_count,
    };
}

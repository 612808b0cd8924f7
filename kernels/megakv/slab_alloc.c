#include "kernels/megakv/slab.h"

#include "kernels/hash.h"
#include "kernels/megakv/slab_internal.h"

enum {
    /* Two less than 16 bits can number, so that no location equals KVC_LOCATION_NONE or KVC_LOCATION_ANY. */
    ITEMS_MAX = 65534,
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

/* Sets the reference bits behind the last item of a slab, so that they do not keep a word from being all
 * ones. The top level is left alone: it has no level above it, and slabs share its words. */
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
    return items < ITEMS_MAX ? items : ITEMS_MAX;
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

/* Takes a slab for a class, whose lock is held, and makes its items available, or its share of them in a
 * sample. Returns false if no slab is left. */
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
    if (class->granted == 0 && class->shares > 0) { /* What has slabs in the whole store keeps an item. */
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
        kvc_megakv_slab_set_referenced(slab, word_location, *word & ~left);
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
 * hand stops behind the last victim if there are enough victims, otherwise at the end of the word. */
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
        kvc_megakv_slab_set_referenced(slab, word_location,
                                       evicted); /* for the reason given at take_word() */
    }
    stats->clock_steps += (uint32_t)__builtin_popcountll(passed);
    return found;
}

/* Moves the CLOCK hand until it has `count` victims or the class has nothing else in use. In the latter case
 * the hand stays behind the last item in use that it saw. The lock of the class is held. */
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
        uint64_t header = kvc_megakv_slab_load_header(item);
        kvc_megakv_slab_store_header(item, header & ~kvc_megakv_slab_tag_using);
        evicted[i].location = location[i];
        evicted[i].hash = kvc_hash(item + KVC_MEGAKV_SLAB_HEADER_BYTES,
                                   kvc_megakv_slab_header_key_bytes(header), slab->hash_seed);
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

#include "kernels/megakv/slab.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/index.h"
#include "kernels/hash.h"
#include "kernels/pages.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "byte k of a word is its bits 8k to 8k + 7");

enum {
    SLAB_COUNT_MAX = 65536,
    /* Two less than 16 bits can number, so that no location is KVC_LOCATION_NONE or KVC_LOCATION_ANY. */
    ITEMS_MAX = 65534,
    BITMAP_WORDS = 65536 / 64,
    CLASS_COUNT = 59,
    LEVELS = 3,          /* of reference bits */
    FEW = 4,             /* reads below which nothing is prefetched */
    READ_AHEAD = 24,     /* items in flight */
    READ_WINDOW = 32,    /* power of two above READ_AHEAD */
    PREFETCH_LINES = 16, /* of one item; the processor's own prefetcher does the rest */
    EVICT_AHEAD = 16,
    SPINS = 256, /* some ten microseconds */
};

#define NO_SLAB UINT32_MAX

/* Item header, one word so that it is read and written whole:
 * bit 0 tag, bits 1..8 key length, bits 9..30 value length, bit 31 being written again (never with the tag),
 * bits 32..63 version (one more after every write). */
static const uint64_t tag_using = 1;
static const uint64_t tag_writing = UINT64_C(1) << 31;
static const uint64_t shape_mask = 0xffffffff; /* all but the version */

/* Of a slab; its class's lock guards it, but for class_index, which stays. */
struct slab_info {
    uint32_t class_index;
    uint32_t free_items;
    uint32_t free_word; /* no bitmap word below has a free item */
    uint32_t next_free; /* next slab of the class with free items */
    uint32_t next;      /* next slab of the class, in a ring */
};

struct size_class {
    /* Taken once a batch of allocations, and for what is rare: giving items back, writing one again. A slab
     * is its class's for good, so this lock guards the slab's bitmaps, too. Those who wait for it read its
     * line all the time, so what its holder works on has another one. */
    _Alignas(128) bool locked;
    _Alignas(128) uint32_t last; /* of the ring of slabs */
    uint32_t first_free;         /* slab with free items */
    uint32_t hand_slab, hand_item;
    uint32_t items; /* of a slab */
    uint32_t slabs;
};

struct kvc_megakv_slab {
    /* For readers. Slabs are given to classes in order and for good; item_bytes is 0 for the others. */
    uint8_t *base;
    /* Reference bits. Bit i of level 0 belongs to item i; of a higher level, it says that word i of the level
     * below is all ones. */
    uint64_t *referenced[LEVELS];
    uint32_t *item_bytes;
    uint32_t slab_count;
    /* For those who write. An item is free (on the free list), in use, or neither: its owner's, who was given
     * it and has not yet written it. `free_bits` changes under the class's lock; `in_use` is cleared under it
     * and set without, by the owner. That has a byte an item (3 % of the smallest items): bits would cost
     * every write an atomic operation, on a line that the writers of the next batches fight over. */
    uint32_t assigned;
    uint64_t hash_seed;
    uint64_t *free_bits;
    uint8_t *in_use;
    struct slab_info *info;
    struct size_class classes[CLASS_COUNT];
};

/* Bytes of items are copied while another thread may write them; the version tells afterwards.
 * ThreadSanitizer (rightly) wants such bytes to be atomic and knows no fences: there, each byte is loaded and
 * stored with the order that the fences give otherwise. */
#ifdef __SANITIZE_THREAD__
static void copy_out(void *to, const uint8_t *item, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        ((uint8_t *)to)[i] = __atomic_load_n(item + i, __ATOMIC_ACQUIRE);
    }
}

static void copy_in(uint8_t *item, const void *from, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        __atomic_store_n(item + i, ((const uint8_t *)from)[i], __ATOMIC_RELEASE);
    }
}

static bool same_bytes(const uint8_t *item, const uint8_t *key, uint32_t bytes)
{
    uint8_t copy[KVC_MEGAKV_SLAB_KEY_MAX];
    copy_out(copy, item, bytes);
    return memcmp(copy, key, bytes) == 0;
}

static inline void fence_acquire(void)
{
}

static inline void fence_release(void)
{
}
#else
static inline void copy_out(void *to, const uint8_t *item, uint32_t bytes)
{
    memcpy(to, item, bytes);
}

static inline void copy_in(uint8_t *item, const void *from, uint32_t bytes)
{
    if (bytes != 0) {
        memcpy(item, from, bytes);
    }
}

static inline bool same_bytes(const uint8_t *item, const uint8_t *key, uint32_t bytes)
{
    return memcmp(item, key, bytes) == 0;
}

static inline void fence_acquire(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static inline void fence_release(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}
#endif

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static inline uint64_t load_header(const uint8_t *item)
{
    return __atomic_load_n((const uint64_t *)item, __ATOMIC_ACQUIRE);
}

static inline void store_header(uint8_t *item, uint64_t header)
{
    __atomic_store_n((uint64_t *)item, header, __ATOMIC_RELEASE);
}

static inline uint64_t header_shape(uint32_t key_bytes, uint32_t value_bytes)
{
    return tag_using | (uint64_t)key_bytes << 1 | (uint64_t)value_bytes << 9;
}

static inline uint32_t header_key_bytes(uint64_t header)
{
    return (uint32_t)(header >> 1) & 0xff;
}

static inline uint32_t header_value_bytes(uint64_t header)
{
    return (uint32_t)header >> 9;
}

static inline uint32_t lines_of(const uint8_t *item, uint32_t bytes)
{
    return (uint32_t)((((uintptr_t)item & 63) + bytes + 63) / 64);
}

static inline uint64_t bit_of(uint32_t location)
{
    return UINT64_C(1) << (location & 63);
}

/* Index of its word in a bitmap of all slabs. */
static inline uint64_t word_of(uint32_t location)
{
    return location / 64;
}

static inline uint32_t location_of(uint32_t slab_number, uint32_t item)
{
    return slab_number << 16 | item;
}

/* Size class of an item; *class_bytes is the size of the class's items. CLASS_COUNT: too large. */
static uint32_t class_of(uint32_t key_bytes, uint32_t value_bytes, uint32_t *class_bytes)
{
    *class_bytes = 0;
    if (key_bytes > KVC_MEGAKV_SLAB_KEY_MAX || value_bytes > KVC_MEGAKV_SLAB_VALUE_MAX) {
        return CLASS_COUNT;
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

/* Address of an item that may be prefetched and read, or NULL. */
static inline uint8_t *item_of(const struct kvc_megakv_slab *slab, uint32_t location, uint32_t *item_bytes)
{
    uint32_t number = location >> 16;
    if (number >= slab->slab_count) {
        return NULL;
    }
    uint32_t bytes = __atomic_load_n(&slab->item_bytes[number], __ATOMIC_ACQUIRE);
    uint64_t offset = (uint64_t)(location & 0xffff) * bytes;
    *item_bytes = bytes;
    if (bytes == 0 || offset + bytes > KVC_MEGAKV_SLAB_BYTES) {
        return NULL;
    }
    return slab->base + (uint64_t)number * KVC_MEGAKV_SLAB_BYTES + offset;
}

/* The reference bits of tens of millions of items are megabytes and would cost each read a line of a far
 * cache. In a store that is read more than it is evicted from most are set, and the top level, which stays in
 * the nearest cache, says so. */
static inline bool surely_referenced(const struct kvc_megakv_slab *slab, uint32_t location)
{
    uint32_t index = location >> 6 * (LEVELS - 1);
    return (__atomic_load_n(&slab->referenced[LEVELS - 1][word_of(index)], __ATOMIC_RELAXED) &
            bit_of(index)) != 0;
}

/* Sets the reference bits `marks` of the word that `location` is in; false: they are set. */
static bool set_referenced(struct kvc_megakv_slab *slab, uint32_t location, uint64_t marks)
{
    uint64_t *below = &slab->referenced[0][word_of(location)];
    /* Only where they are not set: a write would take the line from other readers' caches. */
    if ((~__atomic_load_n(below, __ATOMIC_RELAXED) & marks) == 0) {
        return false;
    }
    uint64_t bits = __atomic_fetch_or(below, marks, __ATOMIC_SEQ_CST) | marks;
    uint32_t index = location;
    for (int level = 1; level < LEVELS && bits == ~UINT64_C(0); level++) {
        index /= 64;
        uint64_t *word = &slab->referenced[level][word_of(index)];
        bits = __atomic_fetch_or(word, bit_of(index), __ATOMIC_SEQ_CST) | bit_of(index);
        /* The CLOCK hand clears from the bottom up. If it came by meanwhile, one sees the other. */
        if (__atomic_load_n(below, __ATOMIC_SEQ_CST) != ~UINT64_C(0)) {
            __atomic_fetch_and(word, ~bit_of(index), __ATOMIC_SEQ_CST);
            break;
        }
        below = word;
    }
    return true;
}

static bool mark_referenced(struct kvc_megakv_slab *slab, uint32_t location)
{
    return set_referenced(slab, location, bit_of(location));
}

/* Clears the reference bits `bits` of the word that `location` is in. */
static void clear_referenced(struct kvc_megakv_slab *slab, uint32_t location, uint64_t bits)
{
    uint32_t index = location;
    __atomic_fetch_and(&slab->referenced[0][word_of(index)], ~bits, __ATOMIC_SEQ_CST);
    for (int level = 1; level < LEVELS; level++) {
        index /= 64;
        uint64_t *word = &slab->referenced[level][word_of(index)];
        if ((__atomic_load_n(word, __ATOMIC_SEQ_CST) & bit_of(index)) != 0) {
            __atomic_fetch_and(word, ~bit_of(index), __ATOMIC_SEQ_CST);
        }
    }
}

/* Sets the reference bits behind a slab's last item, so that they keep no word from being all ones. The top
 * level has no word above it (and shares its words among slabs). */
static void reference_the_rest(struct kvc_megakv_slab *slab, uint32_t number, uint32_t items)
{
    for (int level = 0; level < LEVELS - 1; level++) {
        uint32_t end = location_of(number, 0) >> 6 * level | 0xffff >> 6 * level;
        uint32_t index = (location_of(number, 0) >> 6 * level) + items;
        for (; (index & 63) != 0 && index <= end; index++) {
            slab->referenced[level][word_of(index)] |= bit_of(index);
        }
        for (; index <= end; index += 64) {
            slab->referenced[level][word_of(index)] = ~UINT64_C(0);
        }
        items = (items + 63) / 64;
    }
}

/* Spins: it is held for a microsecond or two, far less than it takes to put a thread to sleep and wake it,
 * which cost two threads that allocate a sixth of their speed. Where the holder may have lost its processor,
 * others give up theirs. */
static void lock(struct size_class *class)
{
    unsigned tries = 0;
    while (__atomic_exchange_n(&class->locked, true, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(&class->locked, __ATOMIC_RELAXED)) {
            if (++tries % SPINS == 0) {
                sched_yield();
            } else {
                pause_briefly();
            }
        }
    }
}

static void unlock(struct size_class *class)
{
    __atomic_store_n(&class->locked, false, __ATOMIC_RELEASE);
}

/* Gives the next unused slab to a class, whose lock is held; false: none is left. */
static bool assign_slab(struct kvc_megakv_slab *slab, uint32_t class_index, uint32_t class_bytes)
{
    uint32_t number = __atomic_load_n(&slab->assigned, __ATOMIC_RELAXED);
    do {
        if (number == slab->slab_count) {
            return false;
        }
    } while (!__atomic_compare_exchange_n(&slab->assigned, &number, number + 1, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    struct size_class *class = &slab->classes[class_index];
    class->items =
        KVC_MEGAKV_SLAB_BYTES / class_bytes < ITEMS_MAX ? KVC_MEGAKV_SLAB_BYTES / class_bytes : ITEMS_MAX;
    struct slab_info *info = &slab->info[number];
    *info = (struct slab_info){.class_index = class_index,
                               .free_items = class->items,
                               .next_free = class->first_free,
                               .next = number};
    class->first_free = number;
    if (class->last != NO_SLAB) {
        info->next = slab->info[class->last].next;
        slab->info[class->last].next = number;
    } else {
        class->hand_slab = number;
    }
    class->last = number;
    class->slabs++;
    uint64_t *free_bits = &slab->free_bits[word_of(location_of(number, 0))];
    for (uint32_t item = 0; item < class->items; item += 64) {
        uint32_t left = class->items - item;
        free_bits[item / 64] = left >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << left) - 1;
    }
    reference_the_rest(slab, number, class->items);
    __atomic_store_n(&slab->item_bytes[number], class_bytes, __ATOMIC_RELEASE);
    return true;
}

/* Takes up to `count` items out of one word of a slab's free list and marks them as referenced, which spares
 * whoever writes them an atomic operation each. */
static uint32_t take_word(struct kvc_megakv_slab *slab, uint32_t word_location, uint32_t count,
                          uint32_t *location)
{
    uint64_t *word = &slab->free_bits[word_of(word_location)];
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

/* Takes up to `count` items off the class's free list. */
static uint32_t take_free(struct kvc_megakv_slab *slab, struct size_class *class, uint32_t count,
                          uint32_t *location)
{
    uint32_t taken = 0;
    while (taken < count && class->first_free != NO_SLAB) {
        uint32_t number = class->first_free;
        struct slab_info *info = &slab->info[number];
        while (taken < count && info->free_items > 0) {
            uint32_t found =
                take_word(slab, location_of(number, info->free_word * 64), count - taken, location + taken);
            info->free_word += taken + found < count; /* else there may be more */
            info->free_items -= found;
            taken += found;
        }
        if (info->free_items == 0) {
            class->first_free = info->next_free;
        }
    }
    return taken;
}

static bool in_use(const struct kvc_megakv_slab *slab, uint32_t location)
{
    return __atomic_load_n(&slab->in_use[location], __ATOMIC_ACQUIRE) != 0;
}

static void set_in_use(struct kvc_megakv_slab *slab, uint32_t location, bool value)
{
    __atomic_store_n(&slab->in_use[location], value, __ATOMIC_RELEASE);
}

/* The items in use of 64, as a bitmap word. */
static uint64_t using_word(const struct kvc_megakv_slab *slab, uint32_t word_location)
{
    const uint64_t *bytes = (const uint64_t *)&slab->in_use[word_location];
    uint64_t word = 0;
    for (uint32_t i = 0; i < 8; i++) {
        /* Brings bit 0 of byte k to bit 56 + k. */
        word |= (__atomic_load_n(&bytes[i], __ATOMIC_ACQUIRE) * 0x0102040810204080 >> 56) << i * 8;
    }
    return word;
}

static uint64_t from_bit(uint32_t bit)
{
    return ~UINT64_C(0) << bit;
}

/* One word of the bitmap under the hand: gives the items in use that were not referenced, up to `count` of
 * them, and clears the reference bits passed. The hand stops behind the last victim if there are enough, else
 * at the word's end. */
static uint32_t sweep_word(struct kvc_megakv_slab *slab, struct size_class *class, uint32_t count, bool spare,
                           uint32_t *location, struct kvc_megakv_slab_stats *stats)
{
    uint32_t word_location = location_of(class->hand_slab, class->hand_item & ~63u);
    uint64_t referenced = __atomic_load_n(&slab->referenced[0][word_of(word_location)], __ATOMIC_RELAXED);
    uint64_t passed = using_word(slab, word_location) & from_bit(class->hand_item & 63);
    uint64_t victims = spare ? passed & ~referenced : passed;
    uint64_t evicted = 0;
    uint32_t found = 0;
    while (found < count && victims != 0) {
        location[found] = word_location | (uint32_t)__builtin_ctzll(victims);
        set_in_use(slab, location[found++], false);
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
        clear_referenced(slab, word_location, passed);
    }
    if (evicted != 0) {
        set_referenced(slab, word_location, evicted); /* as in take_word */
    }
    stats->clock_steps += (uint32_t)__builtin_popcountll(passed);
    return found;
}

/* Moves the CLOCK hand until it has `count` victims or the class has nothing more in use: then it stays
 * behind the last item in use that it saw. The class's lock is held. */
static uint32_t turn_clock(struct kvc_megakv_slab *slab, struct size_class *class, uint32_t count,
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
    uint32_t barren = 0; /* slabs entered since then */
    unsigned turns = 0;
    while (found < count && barren <= class->slabs) {
        if (class->hand_item >= class->items) {
            class->hand_slab = slab->info[class->hand_slab].next;
            class->hand_item = 0;
            /* The first turn clears what is referenced, the second one finds it; readers that keep marking
             * cannot make it go on for ever. */
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

/* Takes the items, which are the caller's now, from their readers and reports the hashes of their keys. */
static void report_evicted(struct kvc_megakv_slab *slab, uint32_t count, const uint32_t *location,
                           struct kvc_megakv_slab_evicted *evicted)
{
    uint32_t item_bytes;
    for (uint32_t i = 0; i < count; i++) {
        if (count - i > EVICT_AHEAD) {
            __builtin_prefetch(item_of(slab, location[i + EVICT_AHEAD], &item_bytes), 1);
        }
        uint8_t *item = item_of(slab, location[i], &item_bytes);
        uint64_t header = load_header(item);
        store_header(item, header & ~tag_using);
        evicted[i].location = location[i];
        evicted[i].hash =
            kvc_hash(item + KVC_MEGAKV_SLAB_HEADER_BYTES, header_key_bytes(header), slab->hash_seed);
    }
}

/* Counts one read; `bytes` is what it touched of the item. */
static inline enum kvc_megakv_slab_read_result seen(const uint8_t *item, uint32_t bytes,
                                                    enum kvc_megakv_slab_read_result result,
                                                    struct kvc_megakv_slab_stats *stats)
{
    stats->read_lines += lines_of(item, bytes);
    return result;
}

/* Reads one item of any shape. On a hit *value_bytes is set and *position is moved on. */
static enum kvc_megakv_slab_read_result read_item(const uint8_t *item, const uint8_t *key, uint32_t key_bytes,
                                                  const struct kvc_megakv_slab_reads *reads,
                                                  uint32_t *position, uint32_t *value_bytes,
                                                  struct kvc_megakv_slab_stats *stats)
{
    uint64_t header = load_header(item);
    if ((header & tag_using) == 0) {
        return seen(item, KVC_MEGAKV_SLAB_HEADER_BYTES, KVC_MEGAKV_SLAB_CHANGED, stats);
    }
    uint32_t touched = KVC_MEGAKV_SLAB_HEADER_BYTES;
    if (reads->compare) {
        bool same = header_key_bytes(header) == key_bytes;
        if (same) {
            touched += key_bytes;
            same = same_bytes(item + KVC_MEGAKV_SLAB_HEADER_BYTES, key, key_bytes);
        }
        if (!same) {
            fence_acquire();
            bool changed = load_header(item) != header;
            return seen(item, touched, changed ? KVC_MEGAKV_SLAB_CHANGED : KVC_MEGAKV_SLAB_MISMATCH, stats);
        }
    }
    uint32_t bytes = header_value_bytes(header);
    if (bytes > reads->out_bytes) {
        return seen(item, touched, KVC_MEGAKV_SLAB_CHANGED, stats);
    }
    uint32_t start = bytes > reads->out_bytes - *position ? 0 : *position;
    touched = KVC_MEGAKV_SLAB_HEADER_BYTES + header_key_bytes(header) + bytes;
    copy_out(reads->out + start, item + KVC_MEGAKV_SLAB_HEADER_BYTES + header_key_bytes(header), bytes);
    fence_acquire();
    if (load_header(item) != header) {
        return seen(item, touched, KVC_MEGAKV_SLAB_CHANGED, stats);
    }
    *position = start + bytes;
    *value_bytes = bytes;
    return seen(item, touched, KVC_MEGAKV_SLAB_HIT, stats);
}

/* The commonest shape, key and value of 8 bytes each, without calls. False: not that shape, or not a clean
 * hit. */
static inline bool read_8_8(const uint8_t *item, const uint8_t *key,
                            const struct kvc_megakv_slab_reads *reads, uint32_t *position)
{
    uint64_t header = load_header(item);
    if ((header & shape_mask) != header_shape(8, 8) || reads->out_bytes - *position < 8) {
        return false;
    }
    const uint64_t *words = (const uint64_t *)item;
    uint64_t wanted, value;
    memcpy(&wanted, key, sizeof(wanted));
    if (__atomic_load_n(&words[1], __ATOMIC_ACQUIRE) != wanted) {
        return false;
    }
    value = __atomic_load_n(&words[2], __ATOMIC_ACQUIRE);
    if (load_header(item) != header) {
        return false;
    }
    memcpy(reads->out + *position, &value, sizeof(value));
    *position += 8;
    return true;
}

static inline const uint8_t *prefetch_item(const struct kvc_megakv_slab *slab, uint32_t location)
{
    uint32_t item_bytes;
    if (location == KVC_LOCATION_NONE) {
        return NULL;
    }
    const uint8_t *item = item_of(slab, location, &item_bytes);
    if (item != NULL) {
        /* Values are copied out, not kept: past the second cache, which the index makes better use of. */
        __builtin_prefetch(item, 0, 0);
        uint32_t lines = lines_of(item, item_bytes);
        for (uint32_t line = 1; line < lines && line < PREFETCH_LINES; line++) {
            __builtin_prefetch(item + line * 64, 0, 0);
        }
        if (!surely_referenced(slab, location)) {
            __builtin_prefetch(&slab->referenced[0][word_of(location)]);
        }
    }
    return item;
}

void kvc_megakv_slab_free(struct kvc_megakv_slab *slab)
{
    if (slab == NULL) {
        return;
    }
    uint64_t bitmap_bytes = (uint64_t)slab->slab_count * BITMAP_WORDS * sizeof(uint64_t);
    kvc_pages_free(slab->base, (uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_BYTES);
    for (int level = 0; level < LEVELS; level++) {
        kvc_pages_free(slab->referenced[level], bitmap_bytes >> 6 * level);
    }
    kvc_pages_free(slab->free_bits, bitmap_bytes);
    kvc_pages_free(slab->in_use, bitmap_bytes * 8);
    free(slab->item_bytes);
    free(slab->info);
    free(slab);
}

struct kvc_megakv_slab *kvc_megakv_slab_create(uint64_t bytes, uint64_t hash_seed)
{
    if (bytes == 0 || bytes > (uint64_t)SLAB_COUNT_MAX * KVC_MEGAKV_SLAB_BYTES) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_megakv_slab *slab = aligned_alloc(_Alignof(struct kvc_megakv_slab), sizeof(*slab));
    if (slab == NULL) {
        return NULL;
    }
    memset(slab, 0, sizeof(*slab));
    slab->slab_count = (uint32_t)((bytes + KVC_MEGAKV_SLAB_BYTES - 1) / KVC_MEGAKV_SLAB_BYTES);
    slab->hash_seed = hash_seed;
    for (uint32_t i = 0; i < CLASS_COUNT; i++) {
        slab->classes[i].last = NO_SLAB;
        slab->classes[i].first_free = NO_SLAB;
    }
    uint64_t bitmap_bytes = (uint64_t)slab->slab_count * BITMAP_WORDS * sizeof(uint64_t);
    slab->base = kvc_pages_alloc((uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_BYTES);
    bool complete = true;
    for (int level = 0; level < LEVELS; level++) {
        slab->referenced[level] = kvc_pages_alloc(bitmap_bytes >> 6 * level);
        complete = complete && slab->referenced[level] != NULL;
    }
    slab->free_bits = kvc_pages_alloc(bitmap_bytes);
    slab->in_use = kvc_pages_alloc(bitmap_bytes * 8);
    slab->item_bytes = calloc(slab->slab_count, sizeof(*slab->item_bytes));
    slab->info = calloc(slab->slab_count, sizeof(*slab->info));
    if (!complete || slab->base == NULL || slab->free_bits == NULL || slab->in_use == NULL ||
        slab->item_bytes == NULL || slab->info == NULL) {
        kvc_megakv_slab_free(slab);
        errno = ENOMEM;
        return NULL;
    }
    return slab;
}

uint32_t kvc_megakv_slab_item_bytes(uint32_t key_bytes, uint32_t value_bytes)
{
    uint32_t class_bytes;
    class_of(key_bytes, value_bytes, &class_bytes);
    return class_bytes;
}

uint32_t kvc_megakv_slab_alloc(struct kvc_megakv_slab *slab, uint32_t key_bytes, uint32_t value_bytes,
                               uint32_t count, uint32_t *location, struct kvc_megakv_slab_evicted *evicted,
                               uint32_t *evicted_count, struct kvc_megakv_slab_stats *stats)
{
    uint32_t class_bytes;
    uint32_t class_index = class_of(key_bytes, value_bytes, &class_bytes);
    *evicted_count = 0;
    if (class_index == CLASS_COUNT) {
        return 0;
    }
    struct size_class *class = &slab->classes[class_index];
    uint32_t found = 0;
    lock(class);
    uint32_t taken = take_free(slab, class, count, location);
    while (taken < count && assign_slab(slab, class_index, class_bytes)) {
        taken += take_free(slab, class, count - taken, location + taken);
    }
    if (taken < count) {
        found = turn_clock(slab, class, count - taken, location + taken, stats);
    }
    unlock(class);
    report_evicted(slab, found, location + taken, evicted);
    *evicted_count = found;
    stats->evicted += found;
    stats->allocated += taken + found;
    return taken + found;
}

static struct size_class *lock_class_of(struct kvc_megakv_slab *slab, uint32_t location)
{
    struct size_class *class = &slab->classes[slab->info[location >> 16].class_index];
    lock(class);
    return class;
}

static bool is_free(const struct kvc_megakv_slab *slab, uint32_t location)
{
    return (__atomic_load_n(&slab->free_bits[word_of(location)], __ATOMIC_RELAXED) & bit_of(location)) != 0;
}

/* Makes an item in use its caller's own, out of CLOCK's and its readers' reach; false: it is not in use.
 * `tag` (0 or tag_writing) takes the place of tag_using, at once. The class's lock is held. */
static bool claim(struct kvc_megakv_slab *slab, uint8_t *item, uint32_t location, uint64_t tag)
{
    if (!in_use(slab, location)) {
        return false;
    }
    set_in_use(slab, location, false);
    store_header(item, (load_header(item) & ~tag_using) | tag);
    return true;
}

/* Writes an item that is the caller's own and makes it everybody's. */
static void fill(struct kvc_megakv_slab *slab, uint32_t location, uint8_t *item, uint64_t header,
                 const void *key, uint32_t key_bytes, const void *value, uint32_t value_bytes,
                 struct kvc_megakv_slab_stats *stats)
{
    fence_release(); /* readers see the cleared tag before any of what follows */
    copy_in(item + KVC_MEGAKV_SLAB_HEADER_BYTES, key, key_bytes);
    copy_in(item + KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes, value, value_bytes);
    uint64_t version = (header >> 32) + 1;
    store_header(item, version << 32 | header_shape(key_bytes, value_bytes));
    set_in_use(slab, location, true);
    stats->writes++;
    stats->write_lines += lines_of(item, KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes + value_bytes);
}

static bool has_key(const uint8_t *item, const void *key, uint32_t key_bytes)
{
    return header_key_bytes(load_header(item)) == key_bytes &&
           same_bytes(item + KVC_MEGAKV_SLAB_HEADER_BYTES, key, key_bytes);
}

/* Writes an item in use again: of any key, or (`key_stays`) only if it has this one. Its bytes stay while the
 * lock is held, as all who would change them have to take it out of use first. */
static bool refill(struct kvc_megakv_slab *slab, uint32_t location, uint8_t *item, bool key_stays,
                   const void *key, uint32_t key_bytes, const void *value, uint32_t value_bytes,
                   struct kvc_megakv_slab_stats *stats)
{
    uint64_t header = 0;
    struct size_class *class = lock_class_of(slab, location);
    bool mine = in_use(slab, location) && (!key_stays || has_key(item, key, key_bytes)) &&
                claim(slab, item, location, tag_writing);
    if (mine) {
        header = load_header(item);
        mark_referenced(slab, location);
    }
    unlock(class);
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
    uint8_t *item = item_of(slab, location, &item_bytes);
    uint64_t header = load_header(item);
    assert(KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes + value_bytes <= item_bytes);
    if ((header & (tag_using | tag_writing)) != 0) {
        return refill(slab, location, item, false, key, key_bytes, value, value_bytes, stats);
    }
    assert(!is_free(slab, location) && !in_use(slab, location));
    fill(slab, location, item, header, key, key_bytes, value, value_bytes, stats);
    return true;
}

bool kvc_megakv_slab_rewrite(struct kvc_megakv_slab *slab, uint32_t location, const void *key,
                             uint32_t key_bytes, const void *value, uint32_t value_bytes,
                             struct kvc_megakv_slab_stats *stats)
{
    uint32_t item_bytes;
    uint8_t *item = item_of(slab, location, &item_bytes);
    return item != NULL && (uint64_t)KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes + value_bytes <= item_bytes &&
           refill(slab, location, item, true, key, key_bytes, value, value_bytes, stats);
}

/* Puts an item that nobody else can have on the free list. The class's lock is held. */
static void put_free(struct kvc_megakv_slab *slab, struct size_class *class, uint32_t location)
{
    uint32_t number = location >> 16;
    uint32_t word = (location & 0xffff) / 64;
    struct slab_info *info = &slab->info[number];
    uint64_t *free_word = &slab->free_bits[word_of(location)];
    __atomic_store_n(free_word, *free_word | bit_of(location), __ATOMIC_RELAXED);
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
    uint8_t *item = item_of(slab, location, &item_bytes);
    if (item == NULL) {
        return false;
    }
    struct size_class *class = lock_class_of(slab, location);
    /* Not in use, and yet its header says so: another thread is evicting it or writing it again. */
    bool others = !in_use(slab, location) && (load_header(item) & (tag_using | tag_writing)) != 0;
    bool released = (location & 0xffff) < class->items && !is_free(slab, location) && !others;
    if (released) {
        claim(slab, item, location, 0);
        put_free(slab, class, location);
    }
    unlock(class);
    return released;
}

bool kvc_megakv_slab_release_key(struct kvc_megakv_slab *slab, uint32_t location, uint64_t hash)
{
    uint32_t item_bytes;
    uint8_t *item = item_of(slab, location, &item_bytes);
    if (item == NULL) {
        return false;
    }
    /* Nobody takes or writes an item in use without this lock, so its key stays while it is read. */
    struct size_class *class = lock_class_of(slab, location);
    bool released =
        in_use(slab, location) && kvc_hash(item + KVC_MEGAKV_SLAB_HEADER_BYTES,
                                           header_key_bytes(load_header(item)), slab->hash_seed) == hash;
    if (released) {
        claim(slab, item, location, 0);
        put_free(slab, class, location);
    }
    unlock(class);
    return released;
}

/* Reads request i, whose item this is. */
static inline void read_one(struct kvc_megakv_slab *slab, const struct kvc_megakv_slab_reads *reads,
                            uint32_t i, const uint8_t *item, uint32_t *position,
                            struct kvc_megakv_slab_stats *stats)
{
    const uint8_t *key = reads->keys + (uint64_t)i * reads->key_stride;
    enum kvc_megakv_slab_read_result result;
    uint32_t value_bytes = 0;
    if (item == NULL) {
        result = reads->location[i] == KVC_LOCATION_NONE ? KVC_MEGAKV_SLAB_ABSENT : KVC_MEGAKV_SLAB_CHANGED;
    } else if (reads->compare && reads->key_bytes[i] == 8 && read_8_8(item, key, reads, position)) {
        result = KVC_MEGAKV_SLAB_HIT;
        value_bytes = 8;
        stats->read_lines += lines_of(item, KVC_MEGAKV_SLAB_HEADER_BYTES + 16);
    } else {
        result = read_item(item, key, reads->compare ? reads->key_bytes[i] : 0, reads, position, &value_bytes,
                           stats);
    }
    if (result == KVC_MEGAKV_SLAB_HIT && !surely_referenced(slab, reads->location[i])) {
        stats->checked++;
        stats->marked += mark_referenced(slab, reads->location[i]);
    }
    reads->result[i] = (uint8_t)result;
    if (reads->value_bytes != NULL) {
        reads->value_bytes[i] = value_bytes;
    }
}

/* Little but the reads, so that the processor overlaps this call with the caller's next ones. */
static __attribute__((noinline)) void read_few(struct kvc_megakv_slab *slab,
                                               const struct kvc_megakv_slab_reads *reads,
                                               struct kvc_megakv_slab_stats *stats)
{
    for (uint32_t i = 0; i < reads->count; i++) {
        uint32_t item_bytes;
        uint32_t location = reads->location[i];
        const uint8_t *item = location == KVC_LOCATION_NONE ? NULL : item_of(slab, location, &item_bytes);
        read_one(slab, reads, i, item, reads->out_position, stats);
    }
}

static void read_many(struct kvc_megakv_slab *slab, const struct kvc_megakv_slab_reads *reads,
                      struct kvc_megakv_slab_stats *stats)
{
    const uint8_t *window[READ_WINDOW];
    uint32_t position = *reads->out_position;
    uint32_t count = reads->count;
    for (uint32_t i = 0; i < READ_AHEAD && i < count; i++) {
        window[i] = prefetch_item(slab, reads->location[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (count - i > READ_AHEAD) {
            window[(i + READ_AHEAD) % READ_WINDOW] = prefetch_item(slab, reads->location[i + READ_AHEAD]);
        }
        read_one(slab, reads, i, window[i % READ_WINDOW], &position, stats);
    }
    *reads->out_position = position;
}

/* One read of what is most common, without a call. false: not that, and nothing was done. */
static inline bool read_one_8_8(struct kvc_megakv_slab *slab, const struct kvc_megakv_slab_reads *reads,
                                struct kvc_megakv_slab_stats *stats)
{
    uint32_t item_bytes;
    uint32_t location = reads->location[0];
    if (location == KVC_LOCATION_NONE || !reads->compare || reads->key_bytes[0] != 8 ||
        reads->value_bytes != NULL) {
        return false;
    }
    const uint8_t *item = item_of(slab, location, &item_bytes);
    if (item == NULL || !surely_referenced(slab, location) ||
        !read_8_8(item, reads->keys, reads, reads->out_position)) {
        return false;
    }
    reads->result[0] = KVC_MEGAKV_SLAB_HIT;
    stats->read_lines += lines_of(item, KVC_MEGAKV_SLAB_HEADER_BYTES + 16);
    return true;
}

void kvc_megakv_slab_read(struct kvc_megakv_slab *slab, const struct kvc_megakv_slab_reads *reads,
                          struct kvc_megakv_slab_stats *stats)
{
    stats->reads += reads->count;
    if (reads->count == 1 && read_one_8_8(slab, reads, stats)) {
        return;
    }
    if (reads->count < FEW) {
        read_few(slab, reads, stats);
    } else {
        read_many(slab, reads, stats);
    }
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
            uint32_t location = location_of(number, item);
            clear_referenced(slab, location, using_word(slab, location) & pattern);
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
            items += (uint32_t)__builtin_popcountll(using_word(slab, location_of(number, item)));
        }
    }
    return items;
}

uint64_t kvc_megakv_slab_capacity_bytes(const struct kvc_megakv_slab *slab)
{
    return (uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_BYTES;
}

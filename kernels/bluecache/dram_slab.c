#include "kernels/bluecache/dram_slab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/index.h"
#include "kernels/hash.h"
#include "kernels/pages.h"

enum {
    SMALLEST_LOG2 = 6,
    STEPS = 4, /* classes for each doubling of the size */
    CLASS_COUNT = 58,
    NO_CLASS = CLASS_COUNT,
    EVICT_AHEAD = 8, /* victims whose four items are prefetched ahead */
    GET_AHEAD = 16,
    REDRAWS = 16, /* draws before all items of a class are searched in turn */
    LINE_BYTES = 64,
    LIST_ENTRIES = 4, /* for each slab: lists that double need fewer in all, the left ones included */
};

enum state { FREE, USING, RESERVED };

struct header {
    uint64_t back : 40;
    uint64_t key_bytes : 8;
    uint64_t state : 2;
    uint64_t unused : 14;
    uint32_t value_bytes;
    uint32_t timestamp;
};

_Static_assert(sizeof(struct header) == KVC_DRAM_SLAB_HEADER_BYTES, "a header has two words");

struct size_class {
    uint32_t *slabs; /* a part of `lists` */
    uint32_t slab_count;
    uint32_t used_of_last; /* items of the last slab that were ever reserved */
};

struct kvc_dram_slab {
    uint8_t *base;
    uint8_t *class_of_slab;
    uint32_t *lists; /* the slabs of all classes, so that a put never lacks memory for them */
    uint64_t lists_used;
    uint32_t slab_bytes;
    uint32_t slab_count;
    uint32_t next_slab; /* first slab that is not yet assigned to a class */
    uint64_t random;
    struct size_class classes[CLASS_COUNT];
};

/* The items drawn for one victim. */
struct draw {
    struct header *item[KVC_DRAM_SLAB_SAMPLES];
};

static uint32_t bytes_of_class(unsigned class_index)
{
    if (class_index == 0) {
        return 1u << SMALLEST_LOG2;
    }
    unsigned doubling = SMALLEST_LOG2 + (class_index - 1) / STEPS;
    return (1u << doubling) + ((class_index - 1) % STEPS + 1) * ((1u << doubling) / STEPS);
}

static unsigned class_for(uint32_t key_bytes, uint32_t value_bytes)
{
    if (key_bytes > KVC_BLUECACHE_KEY_MAX || value_bytes > KVC_BLUECACHE_VALUE_MAX) {
        return NO_CLASS;
    }
    uint32_t bytes = KVC_DRAM_SLAB_HEADER_BYTES + key_bytes + value_bytes;
    if (bytes <= 1u << SMALLEST_LOG2) {
        return 0;
    }
    unsigned doubling = 31u - (unsigned)__builtin_clz(bytes - 1);
    uint32_t step = (1u << doubling) / STEPS;
    return (doubling - SMALLEST_LOG2) * STEPS + (bytes - (1u << doubling) + step - 1) / step;
}

static struct header *header_at(const struct kvc_dram_slab *slab, uint64_t pointer)
{
    return (struct header *)(slab->base + pointer);
}

static uint64_t pointer_to(const struct kvc_dram_slab *slab, const struct header *item)
{
    return (uint64_t)((const uint8_t *)item - slab->base);
}

static uint64_t lines_of(uint64_t pointer, uint64_t bytes)
{
    return (pointer + bytes - 1) / LINE_BYTES - pointer / LINE_BYTES + 1;
}

static uint64_t next_random(struct kvc_dram_slab *slab)
{
    return kvc_mix_64(slab->random += 0x9e3779b97f4a7c15);
}

/* Assigns a slab to a class. Returns false if no slab is left. */
static bool assign_slab(struct kvc_dram_slab *slab, unsigned class_index)
{
    struct size_class *class = &slab->classes[class_index];
    if (slab->next_slab == slab->slab_count) {
        return false;
    }
    if ((class->slab_count & (class->slab_count - 1)) == 0) { /* the list doubles at powers of two */
        uint32_t *list = slab->lists + slab->lists_used;
        for (uint32_t i = 0; i < class->slab_count; i++) {
            list[i] = class->slabs[i];
        }
        slab->lists_used += class->slab_count == 0 ? 1 : (uint64_t) class->slab_count * 2;
        class->slabs = list;
    }
    class->slabs[class->slab_count++] = slab->next_slab;
    class->used_of_last = 0;
    slab->class_of_slab[slab->next_slab++] = (uint8_t)class_index;
    return true;
}

/* Reserves up to `count` items that have never been used. */
static uint32_t take_fresh(struct kvc_dram_slab *slab, unsigned class_index, uint32_t count,
                           uint64_t *pointer)
{
    struct size_class *class = &slab->classes[class_index];
    uint32_t item_bytes = bytes_of_class(class_index);
    uint32_t per_slab = slab->slab_bytes / item_bytes;
    uint32_t taken = 0;
    while (taken < count) {
        if ((class->slab_count == 0 || class->used_of_last == per_slab) && !assign_slab(slab, class_index)) {
            break;
        }
        uint64_t start = (uint64_t) class->slabs[class->slab_count - 1] * slab->slab_bytes;
        while (taken < count && class->used_of_last < per_slab) {
            pointer[taken] = start + (uint64_t) class->used_of_last++ * item_bytes;
            header_at(slab, pointer[taken++])->state = RESERVED;
        }
    }
    return taken;
}

static void draw_items(struct kvc_dram_slab *slab, const struct size_class *class, uint32_t item_bytes,
                       struct draw *draw)
{
    uint64_t per_slab = slab->slab_bytes / item_bytes;
    for (int s = 0; s < KVC_DRAM_SLAB_SAMPLES; s++) {
        uint64_t word = next_random(slab);
        uint64_t number = class->slabs[(word >> 32) * class->slab_count >> 32];
        uint64_t item = (word & UINT32_MAX) * per_slab >> 32;
        draw->item[s] = header_at(slab, number * slab->slab_bytes + item * item_bytes);
        __builtin_prefetch(draw->item[s], 1);
    }
}

/* Returns the oldest drawn item that is in use, or NULL if all of them are reserved. */
static struct header *oldest_of(const struct draw *draw, uint32_t now)
{
    struct header *oldest = NULL;
    int64_t most = -1;
    for (int s = 0; s < KVC_DRAM_SLAB_SAMPLES; s++) {
        struct header *item = draw->item[s];
        int64_t age = item->state == USING ? (int64_t)(uint32_t)(now - item->timestamp) : -1;
        oldest = age > most ? item : oldest;
        most = age > most ? age : most;
    }
    return oldest;
}

/* Finds any item in use, for a class whose items are almost all reserved. */
static struct header *find_using(const struct kvc_dram_slab *slab, const struct size_class *class,
                                 uint32_t item_bytes)
{
    for (uint32_t s = 0; s < class->slab_count; s++) {
        uint64_t start = (uint64_t) class->slabs[s] * slab->slab_bytes;
        for (uint64_t at = 0; at + item_bytes <= slab->slab_bytes; at += item_bytes) {
            if (header_at(slab, start + at)->state == USING) {
                return header_at(slab, start + at);
            }
        }
    }
    return NULL;
}

static uint32_t evict(struct kvc_dram_slab *slab, unsigned class_index, uint32_t now, uint32_t count,
                      uint64_t *pointer, struct kvc_dram_slab_stats *stats)
{
    const struct size_class *class = &slab->classes[class_index];
    uint32_t item_bytes = bytes_of_class(class_index);
    struct draw draws[EVICT_AHEAD];
    if (class->slab_count == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < EVICT_AHEAD && i < count; i++) {
        draw_items(slab, class, item_bytes, &draws[i]);
    }
    uint32_t taken = 0;
    for (; taken < count; taken++) {
        struct draw *draw = &draws[taken % EVICT_AHEAD];
        struct header *victim = oldest_of(draw, now);
        stats->sampled_lines += KVC_DRAM_SLAB_SAMPLES;
        for (int again = 0; victim == NULL && again < REDRAWS; again++) {
            draw_items(slab, class, item_bytes, draw);
            victim = oldest_of(draw, now);
            stats->sampled_lines += KVC_DRAM_SLAB_SAMPLES;
        }
        if (victim == NULL) {
            victim = find_using(slab, class, item_bytes);
        }
        if (victim == NULL) {
            break;
        }
        victim->state = RESERVED;
        pointer[taken] = pointer_to(slab, victim);
        if (count - taken > EVICT_AHEAD) {
            draw_items(slab, class, item_bytes, draw);
        }
    }
    stats->evicted += taken;
    return taken;
}

void kvc_dram_slab_free(struct kvc_dram_slab *slab)
{
    if (slab != NULL) {
        free(slab->lists);
        if (slab->base != NULL) {
            kvc_pages_free(slab->base, kvc_dram_slab_capacity_bytes(slab));
        }
        free(slab->class_of_slab);
        free(slab);
    }
}

struct kvc_dram_slab *kvc_dram_slab_create(const struct kvc_dram_slab_params *params)
{
    if (params->bytes > UINT64_C(512) << 30 || params->slab_bytes % KVC_DRAM_SLAB_HEADER_BYTES != 0) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_dram_slab *slab = calloc(1, sizeof(*slab));
    if (slab == NULL) {
        return NULL;
    }
    slab->slab_bytes = params->slab_bytes != 0 ? params->slab_bytes : KVC_DRAM_SLAB_BYTES;
    slab->slab_count = (uint32_t)((params->bytes + slab->slab_bytes - 1) / slab->slab_bytes);
    slab->random = params->seed;
    if (slab->slab_count == 0) {
        return slab; /* The slab has no place for any item. */
    }
    slab->base = kvc_pages_alloc(kvc_dram_slab_capacity_bytes(slab));
    slab->class_of_slab = malloc(slab->slab_count);
    slab->lists = malloc((size_t)slab->slab_count * LIST_ENTRIES * sizeof(*slab->lists));
    if (slab->base == NULL || slab->class_of_slab == NULL || slab->lists == NULL) {
        kvc_dram_slab_free(slab);
        errno = ENOMEM;
        return NULL;
    }
    memset(slab->class_of_slab, NO_CLASS, slab->slab_count);
    return slab;
}

uint32_t kvc_dram_slab_item_bytes(uint32_t key_bytes, uint32_t value_bytes)
{
    unsigned class_index = class_for(key_bytes, value_bytes);
    return class_index == NO_CLASS ? 0 : bytes_of_class(class_index);
}

uint32_t kvc_dram_slab_reserve(struct kvc_dram_slab *slab, uint32_t key_bytes, uint32_t value_bytes,
                               uint32_t now, uint32_t count, uint64_t *pointer, uint32_t *fresh,
                               struct kvc_dram_slab_stats *stats)
{
    unsigned class_index = class_for(key_bytes, value_bytes);
    *fresh = 0;
    if (class_index == NO_CLASS || bytes_of_class(class_index) > slab->slab_bytes) {
        return 0;
    }
    uint32_t taken = take_fresh(slab, class_index, count, pointer);
    *fresh = taken;
    if (taken < count) {
        taken += evict(slab, class_index, now, count - taken, pointer + taken, stats);
    }
    stats->reserved += taken;
    return taken;
}

static void copy_in(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    if (bytes != 0) { /* an empty key or value may be NULL */
        memcpy(to, from, bytes);
    }
}

void kvc_dram_slab_write(struct kvc_dram_slab *slab, uint64_t pointer, const struct kvc_dram_item *item,
                         struct kvc_dram_slab_stats *stats)
{
    struct header *header = header_at(slab, pointer);
    uint8_t *bytes = (uint8_t *)(header + 1);
    *header = (struct header){.back = item->back,
                              .key_bytes = item->key_bytes,
                              .state = USING,
                              .value_bytes = item->value_bytes,
                              .timestamp = item->timestamp};
    copy_in(bytes, item->key, item->key_bytes);
    copy_in(bytes + item->key_bytes, item->value, item->value_bytes);
    stats->writes++;
    stats->write_lines +=
        lines_of(pointer, (uint64_t)KVC_DRAM_SLAB_HEADER_BYTES + item->key_bytes + item->value_bytes);
}

bool kvc_dram_slab_item(const struct kvc_dram_slab *slab, uint64_t pointer, struct kvc_dram_item *item)
{
    if (pointer >= kvc_dram_slab_capacity_bytes(slab)) {
        return false;
    }
    unsigned class_index = slab->class_of_slab[pointer / slab->slab_bytes];
    if (class_index == NO_CLASS) {
        return false;
    }
    uint32_t item_bytes = bytes_of_class(class_index);
    uint32_t offset = (uint32_t)(pointer % slab->slab_bytes);
    if (offset % item_bytes != 0 || slab->slab_bytes - offset < item_bytes) {
        return false;
    }
    const struct header *header = header_at(slab, pointer);
    const uint8_t *bytes = (const uint8_t *)(header + 1);
    *item = (struct kvc_dram_item){.back = header->back,
                                   .timestamp = header->timestamp,
                                   .key_bytes = header->key_bytes,
                                   .value_bytes = header->value_bytes,
                                   .key = bytes,
                                   .value = bytes + header->key_bytes};
    return header->state != FREE &&
           item_bytes >= KVC_DRAM_SLAB_HEADER_BYTES + item->key_bytes + item->value_bytes;
}

void kvc_dram_slab_prefetch(const struct kvc_dram_slab *slab, uint64_t pointer)
{
    __builtin_prefetch(slab->base + (pointer < kvc_dram_slab_capacity_bytes(slab) ? pointer : 0), 1);
}

void kvc_dram_slab_get(struct kvc_dram_slab *slab, const struct kvc_dram_slab_gets *gets,
                       struct kvc_dram_slab_stats *stats)
{
    for (uint32_t i = 0; i < GET_AHEAD && i < gets->count; i++) {
        kvc_dram_slab_prefetch(slab, gets->pointer[i]);
    }
    for (uint32_t i = 0; i < gets->count; i++) {
        if (gets->count - i > GET_AHEAD) {
            kvc_dram_slab_prefetch(slab, gets->pointer[i + GET_AHEAD]);
        }
        uint64_t pointer = gets->pointer[i];
        uint32_t key_bytes = gets->key_bytes[i];
        struct kvc_dram_item item;
        gets->value[i] = NULL;
        gets->value_bytes[i] = 0;
        if (!kvc_dram_slab_item(slab, pointer, &item)) {
            continue;
        }
        stats->get_lines += lines_of(pointer, KVC_DRAM_SLAB_HEADER_BYTES + (uint64_t)item.key_bytes);
        if (header_at(slab, pointer)->state == USING && item.key_bytes == key_bytes &&
            memcmp(item.key, gets->keys + i * gets->stride, key_bytes) == 0) {
            header_at(slab, pointer)->timestamp = gets->peeks ? item.timestamp : gets->now;
            gets->value[i] = item.value;
            gets->value_bytes[i] = item.value_bytes;
            stats->get_hits++;
        }
    }
    stats->gets += gets->count;
}

uint64_t kvc_dram_slab_capacity_bytes(const struct kvc_dram_slab *slab)
{
    return (uint64_t)slab->slab_count * slab->slab_bytes;
}

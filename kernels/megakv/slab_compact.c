/* The items of a compact store (struct kvc_megakv_slab_params): hashes and lengths in place of bytes. */
#include <assert.h>

#include "kernels/index.h"
#include "kernels/megakv/slab_internal.h"
#include "kernels/pages.h"

enum {
    READ_AHEAD = 32, /* Items in flight. */
    HITS_MAX = 64,   /* Hits that are marked together. */
};

static uint64_t items_room(const struct kvc_megakv_slab *slab)
{
    return (uint64_t)slab->slab_count * KVC_MEGAKV_SLAB_ITEMS_MAX;
}

bool kvc_megakv_slab_compact_open(struct kvc_megakv_slab *slab)
{
    slab->hash = kvc_pages_alloc(items_room(slab) * sizeof(*slab->hash));
    slab->shape = kvc_pages_alloc(items_room(slab) * sizeof(*slab->shape));
    slab->first = kvc_pages_alloc(slab->slab_count * sizeof(*slab->first));
    return slab->hash != NULL && slab->shape != NULL && slab->first != NULL;
}

void kvc_megakv_slab_compact_close(struct kvc_megakv_slab *slab)
{
    kvc_pages_free(slab->hash, items_room(slab) * sizeof(*slab->hash));
    kvc_pages_free(slab->shape, items_room(slab) * sizeof(*slab->shape));
    kvc_pages_free(slab->first, slab->slab_count * sizeof(*slab->first));
}

void kvc_megakv_slab_compact_begin(struct kvc_megakv_slab *slab, uint32_t number, uint32_t items)
{
    slab->first[number] = slab->next_first;
    slab->next_first += items;
}

/* --- lengths --- */

static struct kvc_megakv_slab_class *class_at(struct kvc_megakv_slab *slab, uint32_t location)
{
    return &slab->classes[slab->info[location >> 16].class_index];
}

static uint32_t *shape_at(const struct kvc_megakv_slab *slab, uint32_t location)
{
    return &slab->shape[slab->first[location >> 16] + (location & 0xffff)];
}

/* Gives each item of a class the lengths that all of them have had so far. */
static void begin_to_mix(struct kvc_megakv_slab *slab, struct kvc_megakv_slab_class *class)
{
    uint32_t number = class->last;
    class->is_mixed = true;
    do {
        for (uint32_t item = 0; item < class->items; item++) {
            *shape_at(slab, kvc_megakv_slab_location(number, item)) = class->shape;
        }
        number = slab->info[number].next;
    } while (number != class->last);
}

static void set_shape(struct kvc_megakv_slab *slab, uint32_t location, uint32_t shape)
{
    struct kvc_megakv_slab_class *class = class_at(slab, location);
    if (class->shape == 0) {
        class->shape = shape;
    }
    if (!class->is_mixed && class->shape != shape) {
        begin_to_mix(slab, class);
    }
    if (class->is_mixed) {
        *shape_at(slab, location) = shape;
    }
}

/* --- writes --- */

void kvc_megakv_slab_write_hash(struct kvc_megakv_slab *slab, uint32_t location, uint64_t hash,
                                uint32_t key_bytes, uint32_t value_bytes, struct kvc_megakv_slab_stats *stats)
{
    uint32_t item_bytes = 0, offset = 0, bytes = KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes + value_bytes;
    bool there = kvc_megakv_slab_place(slab, location, &item_bytes, &offset);
    assert(there && bytes <= item_bytes && !kvc_megakv_slab_in_use(slab, location));
    (void)there;
    *kvc_megakv_slab_compact_hash(slab, location) = hash;
    set_shape(slab, location, (uint32_t)kvc_megakv_slab_header_shape(key_bytes, value_bytes));
    kvc_megakv_slab_set_in_use(slab, location, true);
    stats->writes++;
    stats->write_lines += kvc_megakv_slab_lines_at(offset, bytes);
}

/* --- reads --- */

/* Reads an item and sets the bytes of it that a read touches. An item that is not in use has no hash that a
 * key has. */
static inline enum kvc_megakv_slab_read_result read_one(struct kvc_megakv_slab *slab,
                                                        const struct kvc_megakv_slab_reads *reads, uint32_t i,
                                                        uint32_t *touched, uint32_t *value_bytes)
{
    uint32_t location = reads->location[i];
    const struct kvc_megakv_slab_class *class = class_at(slab, location);
    *touched = KVC_MEGAKV_SLAB_HEADER_BYTES;
    if ((location & 0xffff) >= class->items) {
        return KVC_MEGAKV_SLAB_CHANGED;
    }
    bool same = reads->compare && *kvc_megakv_slab_compact_hash(slab, location) == reads->hash[i];
    if (!same && !kvc_megakv_slab_in_use(slab, location)) {
        return KVC_MEGAKV_SLAB_CHANGED;
    }
    uint32_t shape = class->is_mixed ? *shape_at(slab, location) : class->shape;
    uint32_t key_bytes = kvc_megakv_slab_header_key_bytes(shape);
    if (reads->compare && !same) {
        *touched += key_bytes == reads->key_bytes[i] ? key_bytes : 0;
        return KVC_MEGAKV_SLAB_MISMATCH;
    }
    *value_bytes = kvc_megakv_slab_header_value_bytes(shape);
    *touched += key_bytes + *value_bytes;
    return KVC_MEGAKV_SLAB_HIT;
}

/* Always inlined: gcc takes a function that does nothing but prefetch for one without effect and drops calls.
 */
static inline __attribute__((always_inline)) void prefetch(const struct kvc_megakv_slab *slab,
                                                           uint32_t location)
{
    if (location != KVC_LOCATION_NONE && location >> 16 < slab->slab_count) {
        __builtin_prefetch(kvc_megakv_slab_compact_hash(slab, location), 0, 1);
    }
}

void kvc_megakv_slab_compact_read(struct kvc_megakv_slab *slab, const struct kvc_megakv_slab_reads *reads,
                                  struct kvc_megakv_slab_stats *stats)
{
    uint32_t hit[HITS_MAX], hits = 0;
    for (uint32_t i = 0; i < READ_AHEAD && i < reads->count; i++) {
        prefetch(slab, reads->location[i]);
    }
    for (uint32_t i = 0; i < reads->count; i++) {
        uint32_t item_bytes, offset, touched, value_bytes = 0, location = reads->location[i];
        enum kvc_megakv_slab_read_result result =
            location == KVC_LOCATION_NONE ? KVC_MEGAKV_SLAB_ABSENT : KVC_MEGAKV_SLAB_CHANGED;
        if (reads->count - i > READ_AHEAD) {
            prefetch(slab, reads->location[i + READ_AHEAD]);
        }
        if (location != KVC_LOCATION_NONE && kvc_megakv_slab_place(slab, location, &item_bytes, &offset)) {
            result = read_one(slab, reads, i, &touched, &value_bytes);
            stats->read_lines += kvc_megakv_slab_lines_at(offset, touched);
        }
        if (result == KVC_MEGAKV_SLAB_HIT) {
            hit[hits++] = location;
        }
        if (hits == HITS_MAX) {
            kvc_megakv_slab_mark(slab, hit, hits, stats);
            hits = 0;
        }
        reads->result[i] = (uint8_t)result;
        if (reads->value_bytes != NULL) {
            reads->value_bytes[i] = value_bytes;
        }
    }
    kvc_megakv_slab_mark(slab, hit, hits, stats);
}

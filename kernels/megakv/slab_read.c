#include "kernels/megakv/slab.h"

#include "kernels/index.h"
#include "kernels/megakv/slab_internal.h"

enum {
    FEW = 4,             /* smaller batches are not prefetched */
    READ_AHEAD = 24,     /* items in flight */
    READ_WINDOW = 32,    /* a power of two above READ_AHEAD */
    PREFETCH_LINES = 16, /* per item; the hardware prefetcher fetches the rest */
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
static inline bool read_8_8(const uint8_t *item, const uint8_t *key,
                            const struct kvc_megakv_slab_reads *reads, uint32_t *position)
{
    uint64_t header = kvc_megakv_slab_load_header(item);
    if ((header & kvc_megakv_slab_shape_mask) != kvc_megakv_slab_header_shape(8, 8) ||
        reads->out_bytes - *position < 8) {
        return false;
    }
    const uint64_t *words = (const uint64_t *)item;
    uint64_t wanted, value;
    memcpy(&wanted, key, sizeof(wanted));
    if (__atomic_load_n(&words[1], __ATOMIC_ACQUIRE) != wanted) {
        return false;
    }
    value = __atomic_load_n(&words[2], __ATOMIC_ACQUIRE);
    if (kvc_megakv_slab_load_header(item) != header) {
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
    const uint8_t *item = kvc_megakv_slab_item(slab, location, &item_bytes);
    if (item != NULL) {
        /* Into the second-level cache: an item prefetched past it fell out of the first level before it was
         * read, and the first level's few fill buffers become free sooner. */
        __builtin_prefetch(item, 0, 1);
        uint32_t lines = kvc_megakv_slab_lines(item, item_bytes);
        for (uint32_t line = 1; line < lines && line < PREFETCH_LINES; line++) {
            __builtin_prefetch(item + line * 64, 0, 1);
        }
        if (!surely_referenced(slab, location)) {
            __builtin_prefetch(&slab->referenced[0][kvc_megakv_slab_word(location)]);
        }
    }
    return item;
}

/* Performs read i on `item`, which is NULL if the location has none. */
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
        stats->read_lines += kvc_megakv_slab_lines(item, KVC_MEGAKV_SLAB_HEADER_BYTES + 16);
    } else {
        result = read_item(item, key, reads->compare ? reads->key_bytes[i] : 0, reads, position, &value_bytes,
                           stats);
    }
    if (result == KVC_MEGAKV_SLAB_HIT && !surely_referenced(slab, reads->location[i])) {
        stats->checked++;
        stats->marked += kvc_megakv_slab_mark_referenced(slab, reads->location[i]);
    }
    reads->result[i] = (uint8_t)result;
    if (reads->value_bytes != NULL) {
        reads->value_bytes[i] = value_bytes;
    }
}

/* Does little besides the reads, so that the processor overlaps this call with the caller's next ones. */
static __attribute__((noinline)) void read_few(struct kvc_megakv_slab *slab,
                                               const struct kvc_megakv_slab_reads *reads,
                                               struct kvc_megakv_slab_stats *stats)
{
    for (uint32_t i = 0; i < reads->count; i++) {
        uint32_t item_bytes;
        uint32_t location = reads->location[i];
        const uint8_t *item =
            location == KVC_LOCATION_NONE ? NULL : kvc_megakv_slab_item(slab, location, &item_bytes);
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

/* Performs a single read of the most common shape without a call. Returns false, having done nothing, for
 * anything else. */
static inline bool read_one_8_8(struct kvc_megakv_slab *slab, const struct kvc_megakv_slab_reads *reads,
                                struct kvc_megakv_slab_stats *stats)
{
    uint32_t item_bytes;
    uint32_t location = reads->location[0];
    if (location == KVC_LOCATION_NONE || !reads->compare || reads->key_bytes[0] != 8 ||
        reads->value_bytes != NULL) {
        return false;
    }
    const uint8_t *item = kvc_megakv_slab_item(slab, location, &item_bytes);
    if (item == NULL || !surely_referenced(slab, location) ||
        !read_8_8(item, reads->keys, reads, reads->out_position)) {
        return false;
    }
    reads->result[0] = KVC_MEGAKV_SLAB_HIT;
    stats->read_lines += kvc_megakv_slab_lines(item, KVC_MEGAKV_SLAB_HEADER_BYTES + 16);
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

void kvc_megakv_slab_mark(struct kvc_megakv_slab *slab, const uint32_t *location, uint32_t count,
                          struct kvc_megakv_slab_stats *stats)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!surely_referenced(slab, location[i])) {
            stats->checked++;
            stats->marked += kvc_megakv_slab_mark_referenced(slab, location[i]);
        }
    }
}

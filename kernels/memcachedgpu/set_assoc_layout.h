/* Memory layout of the set-associative table, for the CPU and the GPU.
 *
 * A set is one control line and `ways` entries behind it. The control line has what the search for a key
 * needs first: the lock, the valid flags and the 8-bit key hashes (tags) of all ways. An entry is a header
 * (last-accessed timestamp, item location, value length, flags, key length) and the key.
 *
 * MemcachedGPU (SoCC 2015, sec. 4.2.1) has valid flag and tag in each entry's header, so that a search goes
 * from header to header. Gathering them changes no result. 64-byte lines that a GET touches:
 *  - 1 for a miss, and the header line of each way with an equal tag, 16/256 on average in a full set;
 *  - 2 for a hit with a key of up to 48 bytes, and as above for the ways in front of it, half as many;
 *  - 1 more for each 64 bytes of key behind that.
 * The paper's layout touches no fewer: the headers up to the one that is found, all of them for a miss. A SET
 * touches the same lines, plus, where a full set must evict, the headers of all entries, since that is where
 * the timestamps are, as published.
 *
 * The price is memory: with its share of the control line an entry takes 324 bytes for keys of up to 250
 * bytes and 68 for 32, where the paper's 45 and 208.5 million entries in 11.75 GB come to 261 and 56. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_LAYOUT_H
#define KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/device.h"
#include "kernels/lookup3.h"

enum {
    KVC_SET_ASSOC_WAYS = 16, /* published, and the most there are */
    KVC_SET_ASSOC_KEY_MAX = 250,
    KVC_SET_ASSOC_LINE_BYTES = 64,
};

/* The lock word: below, how many readers share the set; above, its version, odd while a writer has the set.
 */
#define KVC_SET_ASSOC_READER UINT64_C(1)
#define KVC_SET_ASSOC_WRITER (UINT64_C(1) << 32)
#define KVC_SET_ASSOC_READERS (KVC_SET_ASSOC_WRITER - 1)

struct kvc_set_assoc_control {
    uint64_t lock;
    uint32_t valid; /* bit w: way w holds a key */
    uint32_t unused_1;
    uint64_t tag[2]; /* tag of way w: byte w, little-endian */
    uint64_t unused_2[4];
};

struct kvc_set_assoc_entry {
    uint32_t stamp;
    uint32_t location;
    uint32_t value_bytes;
    uint16_t flags;
    uint16_t key_bytes;
    /* The key follows, filled with zeros to the next multiple of 8 bytes. */
};

/* A table wherever its memory is; passed to kernels by value. */
struct kvc_set_assoc_table {
    uint8_t *sets; /* aligned to 64 bytes */
    uint32_t set_count;
    uint32_t set_bytes;
    uint32_t entry_bytes;
    uint32_t ways;
    uint32_t key_bytes_max;
};

struct kvc_set_assoc_place {
    uint32_t set;
    uint8_t tag;
};

/* An entry with a key of up to `key_bytes_max`: 32 bytes, 64, or more whole lines, so that none straddles a
 * line without need. */
static inline KVC_HOST_DEVICE uint32_t kvc_set_assoc_entry_bytes(uint32_t key_bytes_max)
{
    uint32_t bytes = (uint32_t)sizeof(struct kvc_set_assoc_entry) + key_bytes_max;
    return bytes <= 32
               ? 32
               : (bytes + KVC_SET_ASSOC_LINE_BYTES - 1) / KVC_SET_ASSOC_LINE_BYTES * KVC_SET_ASSOC_LINE_BYTES;
}

static inline KVC_HOST_DEVICE uint32_t kvc_set_assoc_set_bytes(uint32_t ways, uint32_t key_bytes_max)
{
    uint32_t bytes =
        (uint32_t)sizeof(struct kvc_set_assoc_control) + ways * kvc_set_assoc_entry_bytes(key_bytes_max);
    return (bytes + KVC_SET_ASSOC_LINE_BYTES - 1) / KVC_SET_ASSOC_LINE_BYTES * KVC_SET_ASSOC_LINE_BYTES;
}

/* The primary hash picks the set, so any number of sets will do; the tag is the secondary hash's, independent
 * of it. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_place
kvc_set_assoc_place(const struct kvc_set_assoc_table *table, const uint8_t *key, uint32_t key_bytes)
{
    uint64_t hash = kvc_lookup3_inline(key, key_bytes, 0, 0);
    struct kvc_set_assoc_place place;
    place.set = (uint32_t)((hash & 0xffffffffu) * table->set_count >> 32);
    place.tag = (uint8_t)(hash >> 32);
    return place;
}

static inline KVC_HOST_DEVICE struct kvc_set_assoc_control *
kvc_set_assoc_control(const struct kvc_set_assoc_table *table, uint32_t set)
{
    return (struct kvc_set_assoc_control *)(table->sets + (uint64_t)set * table->set_bytes);
}

static inline KVC_HOST_DEVICE struct kvc_set_assoc_entry *
kvc_set_assoc_entry(const struct kvc_set_assoc_table *table, struct kvc_set_assoc_control *control,
                    uint32_t way)
{
    return (struct kvc_set_assoc_entry *)((uint8_t *)(control + 1) + way * table->entry_bytes);
}

/* Lines from the entry's start to `bytes` bytes behind it. */
static inline KVC_HOST_DEVICE uint32_t kvc_set_assoc_entry_lines(const struct kvc_set_assoc_entry *entry,
                                                                 uint32_t bytes)
{
    uint32_t offset = (uint32_t)((uintptr_t)entry & (KVC_SET_ASSOC_LINE_BYTES - 1));
    return (offset + bytes + KVC_SET_ASSOC_LINE_BYTES - 1) / KVC_SET_ASSOC_LINE_BYTES;
}

/* How long ago: greatest for the least recently used. Right for stamps up to 2^31 apart, either way. */
static inline KVC_HOST_DEVICE int32_t kvc_set_assoc_age(uint32_t now, uint32_t stamp)
{
    return (int32_t)(now - stamp);
}

#endif

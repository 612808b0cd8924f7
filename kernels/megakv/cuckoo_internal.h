/** @file
 * Internal to kernels/megakv: the cuckoo table in host memory, and how its source files read and write a
 * bucket.
 */
#ifndef KVC_KERNELS_MEGAKV_CUCKOO_INTERNAL_H
#define KVC_KERNELS_MEGAKV_CUCKOO_INTERNAL_H

#include "kernels/hash.h"
#include "kernels/megakv/cuckoo.h"
#include "kernels/megakv/cuckoo_layout.h"

/* ThreadSanitizer reports vector loads of words that another thread stores as races, so it gets the portable
 * code. */
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
#include <emmintrin.h>
#define KVC_MEGAKV_CUCKOO_SSE2 1
#endif

/** Functions of the hot path, which must be inlined so that constant parameters specialise them. */
#define KVC_MEGAKV_CUCKOO_INLINE static inline __attribute__((always_inline))

enum {
    KVC_MEGAKV_CUCKOO_LINE_WORDS = 16, /**< Words of a 64-byte line, 32 bits each. */
};

/** Shape of a bucket; a compile-time constant wherever code for the two usual shapes is inlined. */
struct kvc_megakv_cuckoo_shape {
    uint32_t slots; /**< Slots per bucket. */
    bool apart;     /**< Whether signatures and locations are apart. */
    /** Whether vector code exists: one of the two usual shapes on a machine with 16-byte vectors. */
    bool simd;
};

/** The published shape. */
static const struct kvc_megakv_cuckoo_shape kvc_megakv_cuckoo_published = {KVC_MEGAKV_CUCKOO_SLOTS, true,
                                                                           true};
/** Interleaved buckets of 4 slots, which fill a 32-byte memory sector. */
static const struct kvc_megakv_cuckoo_shape kvc_megakv_cuckoo_one_sector = {4, false, true};

/** A table in host memory. */
struct kvc_megakv_cuckoo {
    struct kvc_index index;                      /**< The table as an index. */
    uint32_t *words;                             /**< Buckets. */
    uint64_t bytes;                              /**< Size of the buckets [bytes]. */
    struct kvc_megakv_cuckoo_layout_masks masks; /**< Masks that select buckets. */
    struct kvc_megakv_cuckoo_shape shape;        /**< Shape of a bucket. */
    uint32_t max_displacements;                  /**< As in the parameters. */
    bool published_displacement;                 /**< As in the parameters. */
    uint32_t *chain; /**< Slots of the current chain, up to max_displacements + 1. */
    uint64_t random; /**< State of the random choice of victims. */
    uint64_t used;   /**< Elements in the table. */
    /** Elements moved so far. A reader that missed searches again if an element moved meanwhile, because the
     * element may have passed it on the way from the alternate to the primary bucket. The counter has a line
     * of its own, apart from what every reader needs all the time. */
    _Alignas(64) uint64_t moves;
};

/** Returns the table of an index. */
static inline struct kvc_megakv_cuckoo *kvc_megakv_cuckoo_table_of(struct kvc_index *index)
{
    return (struct kvc_megakv_cuckoo *)index; /* the first member */
}

/** Loads a word that another thread may store. */
KVC_MEGAKV_CUCKOO_INLINE uint32_t kvc_megakv_cuckoo_load_word(const uint32_t *from)
{
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

/** Stores a word that other threads may load. */
KVC_MEGAKV_CUCKOO_INLINE void kvc_megakv_cuckoo_store_word(uint32_t *to, uint32_t value)
{
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
}

/** Loads a slot of the interleaved layout in one access: the signature in the low half, the location in the
 * high half. */
KVC_MEGAKV_CUCKOO_INLINE uint64_t kvc_megakv_cuckoo_load_slot(const uint32_t *bucket, unsigned c)
{
    return __atomic_load_n((const uint64_t *)bucket + c, __ATOMIC_ACQUIRE);
}

/** Stores a slot of the interleaved layout in one access. */
KVC_MEGAKV_CUCKOO_INLINE void kvc_megakv_cuckoo_store_slot(uint32_t *bucket, unsigned c, uint32_t signature,
                                                           uint32_t location)
{
    __atomic_store_n((uint64_t *)bucket + c, (uint64_t)location << 32 | signature, __ATOMIC_RELEASE);
}

/** Returns the words of a bucket. */
KVC_MEGAKV_CUCKOO_INLINE uint32_t *kvc_megakv_cuckoo_bucket_of(const struct kvc_megakv_cuckoo *table,
                                                               uint32_t bucket,
                                                               struct kvc_megakv_cuckoo_shape shape)
{
    return table->words + (uint64_t)bucket * (2 * shape.slots);
}

/** Returns the number of 64-byte lines of a bucket. */
KVC_MEGAKV_CUCKOO_INLINE uint32_t kvc_megakv_cuckoo_lines(struct kvc_megakv_cuckoo_shape shape)
{
    return shape.slots <= KVC_MEGAKV_CUCKOO_LINE_WORDS / 2 ? 1
                                                           : shape.slots / (KVC_MEGAKV_CUCKOO_LINE_WORDS / 2);
}

KVC_MEGAKV_CUCKOO_INLINE void
kvc_megakv_cuckoo_prefetch_bucket(const uint32_t *bucket, struct kvc_megakv_cuckoo_shape shape, bool write)
{
    for (uint32_t line = 0; line < kvc_megakv_cuckoo_lines(shape); line++) {
        if (write) {
            __builtin_prefetch(bucket + line * KVC_MEGAKV_CUCKOO_LINE_WORDS, 1);
        } else {
            /* The second-level cache accepts more outstanding lines. */
            __builtin_prefetch(bucket + line * KVC_MEGAKV_CUCKOO_LINE_WORDS, 0, 2);
        }
    }
}

/** Bit c of the result is set if slot c has this signature. */
KVC_MEGAKV_CUCKOO_INLINE uint32_t kvc_megakv_cuckoo_match_portable(const uint32_t *bucket, uint32_t signature,
                                                                   struct kvc_megakv_cuckoo_shape shape)
{
    uint32_t slots = 0;
    for (unsigned c = 0; c < shape.slots; c++) {
        uint32_t found = shape.apart ? kvc_megakv_cuckoo_load_word(bucket + c)
                                     : (uint32_t)kvc_megakv_cuckoo_load_slot(bucket, c);
        slots |= (uint32_t)(found == signature) << c;
    }
    return slots;
}

#ifdef KVC_MEGAKV_CUCKOO_SSE2
/** Uses two 16-byte vectors, which every x86-64 processor has. 32-byte vectors are no faster here, and the
 * code around them would pay for the transition. */
KVC_MEGAKV_CUCKOO_INLINE uint32_t kvc_megakv_cuckoo_match_published(const uint32_t *bucket,
                                                                    uint32_t signature)
{
    const __m128i *slots = (const __m128i *)bucket;
    __m128i wanted = _mm_set1_epi32((int)signature);
    __m128i low = _mm_cmpeq_epi32(_mm_load_si128(slots), wanted);
    __m128i high = _mm_cmpeq_epi32(_mm_load_si128(slots + 1), wanted);
    return (uint32_t)(_mm_movemask_ps(_mm_castsi128_ps(low)) | _mm_movemask_ps(_mm_castsi128_ps(high)) << 4);
}

/** Uses every other word, which is where the signatures are. */
KVC_MEGAKV_CUCKOO_INLINE uint32_t kvc_megakv_cuckoo_match_one_sector(const uint32_t *bucket,
                                                                     uint32_t signature)
{
    const __m128 *slots = (const __m128 *)bucket;
    __m128i signatures = _mm_castps_si128(_mm_shuffle_ps(slots[0], slots[1], 0x88));
    __m128i same = _mm_cmpeq_epi32(signatures, _mm_set1_epi32((int)signature));
    return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(same));
}
#endif

/** Returns the slots with this signature as a bitmap, by the fastest code for the shape. */
KVC_MEGAKV_CUCKOO_INLINE uint32_t kvc_megakv_cuckoo_match(const uint32_t *bucket, uint32_t signature,
                                                          struct kvc_megakv_cuckoo_shape shape)
{
#ifdef KVC_MEGAKV_CUCKOO_SSE2
    if (shape.simd) {
        return shape.apart ? kvc_megakv_cuckoo_match_published(bucket, signature)
                           : kvc_megakv_cuckoo_match_one_sector(bucket, signature);
    }
#endif
    return kvc_megakv_cuckoo_match_portable(bucket, signature, shape);
}

/** Says that no element with this primary bucket lives in its alternate bucket, because this bucket has a
 * slot that never held an element. */
KVC_MEGAKV_CUCKOO_INLINE bool kvc_megakv_cuckoo_never_full(const uint32_t *bucket,
                                                           struct kvc_megakv_cuckoo_shape shape)
{
    bool never_used = false;
    for (unsigned c = 0; !shape.apart && c < shape.slots; c++) {
        never_used |= kvc_megakv_cuckoo_load_slot(bucket, c) == 0;
    }
    return never_used;
}

/** Returns the primary bucket of an element. */
KVC_MEGAKV_CUCKOO_INLINE uint32_t kvc_megakv_cuckoo_primary_of(const struct kvc_megakv_cuckoo *table,
                                                               uint64_t hash)
{
    return kvc_megakv_cuckoo_primary(table->masks, hash);
}

/** Returns the other bucket of an element with this signature, which may be the same bucket. */
KVC_MEGAKV_CUCKOO_INLINE uint32_t kvc_megakv_cuckoo_alternate_of(const struct kvc_megakv_cuckoo *table,
                                                                 uint32_t bucket, uint32_t signature)
{
    return kvc_megakv_cuckoo_alternate(table->masks, bucket, signature);
}

/** The operations of struct kvc_index_ops. Only one thread at a time may insert or erase. */
void kvc_megakv_cuckoo_search(struct kvc_index *index, const uint64_t *hash, uint32_t count,
                              uint32_t *location, struct kvc_index_stats *stats);
void kvc_megakv_cuckoo_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                              uint32_t count, uint32_t *out, struct kvc_index_stats *stats);
void kvc_megakv_cuckoo_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                             uint32_t count, uint32_t *out, struct kvc_index_stats *stats);

#endif

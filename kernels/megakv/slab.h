/* Slab store with 32-bit location ids, size classes and bitmap CLOCK eviction.
 *
 * Source: Mega-KV, VLDB J. 26(5) 2017, sec. 7.2 and 7.4. Memory is cut into slabs of 2 MiB, each given to one
 * size class when the class first needs it. A location is slab number (high 16 bits) and item (low 16 bits),
 * so 128 GiB can be addressed. Each slab has a bitmap of reference bits; a class's CLOCK hand walks over its
 * slabs and evicts what is in use and was not referenced since the last turn. Allocation and eviction work in
 * batches, which is how receivers amortise the lock. Every item carries a status tag (free or using) and a
 * version, so that a reader can tell that an item was evicted or rewritten under it.
 *
 * Item layout: 8-byte header (version and tag, key length, value length), key bytes, value bytes.
 *
 * Size classes: 32, 48 and 64 bytes, then four to a doubling up to 1 MiB (80, 96, 112, 128, 160, ...). A slab
 * stays with its class for good, as in memcached before it learnt to move slabs: not modelled.
 *
 * Threads: any number of them may allocate, write, release and read at once. At any time an item is
 *   - free: on its class's free list;
 *   - its owner's: allocated, and not yet written or released. Only the owner may write or release it, which
 *     is for the callers to keep to;
 *   - in use: everybody's. Any thread may read it, write it again, release it, or evict it by allocating.
 * Allocation, eviction included, takes its class's lock once a batch; a fresh slab is taken with a
 * compare-and-swap. Releasing an item and writing one again take that lock, too; it is a spinlock that
 * yields. Writing an allocated item and reading take none: the last store of a write puts the item in use,
 * and whoever evicts it, releases it or writes it again takes it out of use first, under the lock, so that
 * one of them gets it. A reader changes nothing but reference bits: the tag and the version, which every
 * write moves on, tell it what happened meanwhile; a torn read is reported as KVC_MEGAKV_SLAB_CHANGED, its
 * bytes are never used. A location that an index remembers may have been evicted and be another's by the time
 * it is used: kvc_megakv_slab_release_key and kvc_megakv_slab_rewrite look at the key, while
 * kvc_megakv_slab_release and kvc_megakv_slab_write take the caller's word for it. (Should it hold the same
 * key again by then, kvc_megakv_slab_release_key releases the newer item: a miss, never a wrong value.)
 * Statistics are the caller's own. Nothing is bound to a thread or a process; fork while no other thread is
 * inside, as locks are copied, too. */
#ifndef KVC_KERNELS_MEGAKV_SLAB_H
#define KVC_KERNELS_MEGAKV_SLAB_H

#include <stdbool.h>
#include <stdint.h>

enum {
    KVC_MEGAKV_SLAB_BYTES = 2 << 20,
    KVC_MEGAKV_SLAB_HEADER_BYTES = 8,
    KVC_MEGAKV_SLAB_SURE_ITEMS = 4096, /* those whose reference bits a read knows to be set, if all are */
    KVC_MEGAKV_SLAB_KEY_MAX = 255,     /* bytes */
    KVC_MEGAKV_SLAB_VALUE_MAX = (1 << 20) - 4096, /* bytes */
};

enum kvc_megakv_slab_read_result {
    KVC_MEGAKV_SLAB_HIT,      /* the value was copied */
    KVC_MEGAKV_SLAB_ABSENT,   /* location NONE */
    KVC_MEGAKV_SLAB_MISMATCH, /* another key lives there (only when comparing) */
    KVC_MEGAKV_SLAB_CHANGED,  /* free, or rewritten while it was read */
};

struct kvc_megakv_slab;

struct kvc_megakv_slab_stats {
    uint64_t allocated;   /* items handed out */
    uint64_t evicted;     /* items taken back by CLOCK */
    uint64_t clock_steps; /* reference bits of items in use that the hand looked at */
    /* Lines: 64-byte lines of items touched, for header, key where it is compared, and value where it is
     * copied. */
    uint64_t reads, read_lines;
    uint64_t writes, write_lines;
    /* Hits that had to look at their item's own reference bit, as not all around it were set, and those that
     * found it clear and set it. */
    uint64_t checked, marked;
};

/* An item that CLOCK evicted: its index entry must be erased. */
struct kvc_megakv_slab_evicted {
    uint32_t location;
    uint64_t hash; /* of its key, as given to kvc_megakv_slab_create's hash function */
};

void kvc_megakv_slab_free(struct kvc_megakv_slab *slab); /* NULL is allowed */

/* `bytes`: capacity, rounded up to whole slabs, at most 128 GiB. `hash_seed`: of kvc_hash, to recompute the
 * hash of evicted keys. NULL with errno EINVAL or ENOMEM. */
struct kvc_megakv_slab *kvc_megakv_slab_create(uint64_t bytes, uint64_t hash_seed);

/* Bytes that an item of this key and value takes in its size class; 0: too large. */
uint32_t kvc_megakv_slab_item_bytes(uint32_t key_bytes, uint32_t value_bytes);

/* Allocates `count` items of the class that fits (key_bytes, value_bytes); each goes to location[i] with its
 * tag still "free". Takes free items, then fresh slabs, then evicts. `evicted` receives up to `count`
 * entries, *evicted_count how many. Returns how many were allocated: fewer than `count` only when no slab is
 * left and the class has nothing more to evict: it has no slab, or all its items were allocated and are not
 * yet written (those that another thread is writing again count as such). */
uint32_t kvc_megakv_slab_alloc(struct kvc_megakv_slab *slab, uint32_t key_bytes, uint32_t value_bytes,
                               uint32_t count, uint32_t *location, struct kvc_megakv_slab_evicted *evicted,
                               uint32_t *evicted_count, struct kvc_megakv_slab_stats *stats);

/* Writes key and value into an allocated item and marks it "using" and referenced: from then on it may be
 * evicted. They must fit the class that it was allocated from. Takes no lock. Writing an item in use again is
 * allowed, if no other thread may have evicted it meanwhile (else: kvc_megakv_slab_rewrite), and takes the
 * class's lock; false, with nothing written: another thread is writing, releasing or evicting it. */
bool kvc_megakv_slab_write(struct kvc_megakv_slab *slab, uint32_t location, const void *key,
                           uint32_t key_bytes, const void *value, uint32_t value_bytes,
                           struct kvc_megakv_slab_stats *stats);

/* Gives an item in use another value in place, if its key is this one. false, with nothing written: the key
 * is not there any more, another thread is writing, releasing or evicting the item, or the value does not fit
 * its class. */
bool kvc_megakv_slab_rewrite(struct kvc_megakv_slab *slab, uint32_t location, const void *key,
                             uint32_t key_bytes, const void *value, uint32_t value_bytes,
                             struct kvc_megakv_slab_stats *stats);

/* Gives an item back to its free list, written or not; false: it was free already, is no item, or another
 * thread is evicting it or writing it again. Of several threads that release an item at once, one gets true.
 */
bool kvc_megakv_slab_release(struct kvc_megakv_slab *slab, uint32_t location);

/* As kvc_megakv_slab_release, but only while the item in use there still has a key of this hash: a location
 * that an index remembers may have been evicted and given to another key since. */
bool kvc_megakv_slab_release_key(struct kvc_megakv_slab *slab, uint32_t location, uint64_t hash);

/* A batch of GETs. Key i starts at keys + i * key_stride. With `compare`, the item's key must equal it.
 * Values go one behind the other into `out`, a ring of `out_bytes` (at least KVC_MEGAKV_SLAB_VALUE_MAX for
 * arbitrary values) starting at *out_position, which is moved on; a value never wraps. A value longer than
 * the whole ring is KVC_MEGAKV_SLAB_CHANGED. `value_bytes` may be NULL; what is no hit has 0. Marks hits as
 * referenced. Software-pipelined. */
struct kvc_megakv_slab_reads {
    uint32_t count;
    const uint32_t *location;
    const uint8_t *keys;
    uint32_t key_stride;
    const uint8_t *key_bytes;
    bool compare;
    uint8_t *out;
    uint32_t out_bytes;
    uint32_t *out_position;
    uint8_t *result;       /* enum kvc_megakv_slab_read_result */
    uint32_t *value_bytes; /* of hits */
};
void kvc_megakv_slab_read(struct kvc_megakv_slab *slab, const struct kvc_megakv_slab_reads *reads,
                          struct kvc_megakv_slab_stats *stats);

/* Clears the reference bit of one in `one_in` (a power of two) items of every slab, where they are in use; 1:
 * of all, as a turn of the CLOCK hand does. Readers may go on. */
void kvc_megakv_slab_forget_reads(struct kvc_megakv_slab *slab, uint32_t one_in);

/* Items in use. Counts them all, a bit each: not for every request. Exact while no other thread writes,
 * releases or allocates. */
uint64_t kvc_megakv_slab_used_items(const struct kvc_megakv_slab *slab);
uint64_t kvc_megakv_slab_capacity_bytes(const struct kvc_megakv_slab *slab);

#endif

#include "kernels/baselines/memc3.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "kernels/hash.h"
#include "kernels/pages.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    SLOTS = KVC_MEMC3_SLOTS,
    /* Lines in flight of a search, enough to cover the memory latency. */
    SEARCH_AHEAD = 32,
    /* Keys that are searched in their primary buckets before any alternate bucket. Their lines fit the
     * first-level cache. */
    SEARCH_CHUNK = 128,
    FEW = 4, /* A search of fewer keys does not prefetch. */
    /* An insert or erase prefetches the primary bucket this many keys ahead ... */
    FIRST_AHEAD = 32,
    /* ... and the other bucket, if it is needed, this many. */
    SECOND_AHEAD = 16,
    VERSIONS = 8192,
    TAG_BITS = 8,
    ROOTS = 2, /* Buckets in which a path can begin. */
    PATHS_MAX = 8,
    DISPLACEMENTS_MAX = 1000,
};

static const uint64_t bytes_max = UINT64_C(64) << 30;
static const uint32_t every_tag = 0x01010101;
static const uint32_t tag_multiplier = 0x5bd1e995; /* from MurmurHash2 */
static const uint32_t no_node = UINT32_MAX;

/* The tags are one word, so that all four are compared at once. When a slot is filled, its tag is stored
 * last. */
struct bucket {
    _Alignas(KVC_MEMC3_BUCKET_BYTES) _Atomic uint64_t key[SLOTS];
    _Atomic uint32_t location[SLOTS];
    _Atomic uint32_t tags;
};

_Static_assert(sizeof(struct bucket) == KVC_MEMC3_BUCKET_BYTES, "a bucket is a line");

/* The buckets that a search for a path has read: first the roots, then buckets that an element of an earlier
 * one can move to. */
struct node_list {
    uint32_t *bucket;
    uint16_t *parent; /* Node from which this one was reached. */
    uint8_t *slot;    /* Slot of the parent's element that can move here. */
    uint32_t roots;   /* Number of roots. */
    uint32_t count;   /* Number of nodes, with the roots. */
};

struct memc3 {
    struct kvc_index index;
    struct bucket *buckets;
    _Atomic uint32_t *versions;
    uint64_t bytes;
    uint32_t mask; /* buckets - 1 */
    uint32_t paths, max_displacements;
    /* Fields that only the writer uses lie on other lines than fields that every reader needs. */
    _Alignas(64) uint64_t used;
    uint64_t random;
    struct node_list nodes;
    struct kvc_memc3_counts counts;
};

/* The two buckets and the tag of a hash. */
struct place {
    uint32_t primary, alternate;
    uint32_t tag;
};

/* A slot of a bucket of the table. */
struct slot {
    uint32_t bucket;
    unsigned number;
};

static inline struct memc3 *table_of(struct kvc_index *index)
{
    return (struct memc3 *)index; /* its first member */
}

static inline const struct memc3 *const_table_of(const struct kvc_index *index)
{
    return (const struct memc3 *)index;
}

ALWAYS_INLINE uint32_t tag_of(uint64_t hash)
{
    uint32_t tag = (uint32_t)(hash >> (64 - TAG_BITS));
    return tag + (tag == 0);
}

/* Returns the other bucket of an element with this tag. It is the same bucket only if the table has just one.
 */
ALWAYS_INLINE uint32_t alternate_of(const struct memc3 *table, uint32_t bucket, uint32_t tag)
{
    uint32_t offset = tag * tag_multiplier & table->mask;
    return (bucket ^ (offset + (offset == 0))) & table->mask;
}

ALWAYS_INLINE struct place place_of(const struct memc3 *table, uint64_t hash)
{
    struct place place = {.primary = (uint32_t)hash & table->mask, .tag = tag_of(hash)};
    place.alternate = alternate_of(table, place.primary, place.tag);
    return place;
}

ALWAYS_INLINE _Atomic uint32_t *version_of(const struct memc3 *table, uint32_t bucket, uint32_t other)
{
    return &table->versions[(bucket < other ? bucket : other) % VERSIONS];
}

/* Readers. Every load of a bucket has acquire order, so that the version is read before all of them and again
 * after all of them. */

/* Returns the version at the beginning of a search. During a change, this is an outdated version, so that the
 * search will be repeated. */
ALWAYS_INLINE uint32_t version_begun(const struct memc3 *table, const struct place *place)
{
    const _Atomic uint32_t *version = version_of(table, place->primary, place->alternate);
    return atomic_load_explicit(version, memory_order_acquire) & ~1u;
}

ALWAYS_INLINE bool version_holds(const struct memc3 *table, const struct place *place, uint32_t begun)
{
    const _Atomic uint32_t *version = version_of(table, place->primary, place->alternate);
    return atomic_load_explicit(version, memory_order_relaxed) == begun;
}

/* Sets the top bit of byte s if slot s has this tag. */
ALWAYS_INLINE uint32_t match_tags(uint32_t tags, uint32_t tag)
{
    uint32_t differing = tags ^ (tag * every_tag);
    uint32_t low_bits = 0x7f * every_tag;
    return ~(((differing & low_bits) + low_bits) | differing | low_bits);
}

/* Returns the first slot that match_tags has found; the argument is not 0. */
ALWAYS_INLINE unsigned first_slot(uint32_t found)
{
    return (unsigned)__builtin_ctz(found) / TAG_BITS;
}

ALWAYS_INLINE bool has_key(const struct bucket *bucket, unsigned slot, uint64_t key)
{
    return atomic_load_explicit(&bucket->key[slot], memory_order_acquire) == key;
}

/* Finds the slot that holds this key, which is nearly always the first with its tag. Returns false if there
 * is none. Branches may be mispredicted, but they cost less than more instructions for each key, which would
 * keep later keys out of the processor's window. */
ALWAYS_INLINE bool find_slot(const struct bucket *bucket, uint32_t tag, uint64_t key, unsigned *slot)
{
    uint32_t found = match_tags(atomic_load_explicit(&bucket->tags, memory_order_acquire), tag);
    for (; found != 0; found &= found - 1) {
        *slot = first_slot(found);
        if (__builtin_expect(has_key(bucket, *slot, key), 1)) {
            return true;
        }
    }
    return false;
}

/* Returns the location of a key in a bucket, or KVC_LOCATION_NONE. */
ALWAYS_INLINE uint32_t probe(const struct bucket *bucket, uint32_t tag, uint64_t key)
{
    unsigned slot;
    if (!find_slot(bucket, tag, key, &slot)) {
        return KVC_LOCATION_NONE;
    }
    return atomic_load_explicit(&bucket->location[slot], memory_order_acquire);
}

/* Searches the primary bucket. The result is KVC_LOCATION_NONE also if the writer has interfered. */
ALWAYS_INLINE uint32_t search_primary(const struct memc3 *table, uint64_t key, const struct place *place)
{
    uint32_t begun = version_begun(table, place);
    uint32_t found = probe(&table->buckets[place->primary], place->tag, key);
    return version_holds(table, place, begun) ? found : KVC_LOCATION_NONE;
}

/* Searches both buckets, again and again until the writer does not interfere. The caller has already counted
 * a hit and the primary bucket's line. */
ALWAYS_INLINE uint32_t search_both(const struct memc3 *table, uint64_t key, struct kvc_index_stats *stats)
{
    struct place place = place_of(table, key);
    uint32_t begun, found;
    stats->search_lines--;
    do {
        begun = version_begun(table, &place);
        found = probe(&table->buckets[place.primary], place.tag, key);
        stats->search_lines++;
        if (found == KVC_LOCATION_NONE && place.alternate != place.primary) {
            found = probe(&table->buckets[place.alternate], place.tag, key);
            stats->search_lines++;
        }
    } while (__builtin_expect(!version_holds(table, &place, begun), 0));
    stats->search_hits -= found == KVC_LOCATION_NONE;
    return found;
}

/* Searches keys that are too few for a pipeline. The processor overlaps this call with the caller's next
 * ones. */
static void search_few(const struct memc3 *table, const uint64_t *hash, uint32_t count, uint32_t *location,
                       struct kvc_index_stats *stats)
{
    for (uint32_t i = 0; i < count; i++) {
        struct place place = place_of(table, hash[i]);
        uint32_t found = search_primary(table, hash[i], &place);
        if (__builtin_expect(found == KVC_LOCATION_NONE, 0)) {
            found = search_both(table, hash[i], stats);
        }
        location[i] = found;
    }
}

ALWAYS_INLINE void prefetch_primary(const struct memc3 *table, uint64_t hash)
{
    __builtin_prefetch(&table->buckets[(uint32_t)hash & table->mask]);
}

/* Searches keys `start` to `end` - 1 of `count` in their primary buckets, the first SEARCH_AHEAD of which are
 * already being fetched. Prefetches the buckets of the keys after them and the alternate buckets of the keys
 * that missed. Returns the number of misses and stores their keys' numbers in `missed`. */
ALWAYS_INLINE uint32_t search_chunk(const struct memc3 *table, const uint64_t *hash, uint32_t start,
                                    uint32_t end, uint32_t count, uint32_t *location, uint32_t *missed)
{
    uint32_t misses = 0;
    for (uint32_t i = start; i < end; i++) {
        if (count - i > SEARCH_AHEAD) {
            prefetch_primary(table, hash[i + SEARCH_AHEAD]);
        }
        struct place place = place_of(table, hash[i]);
        uint32_t found = search_primary(table, hash[i], &place);
        location[i] = found;
        if (found == KVC_LOCATION_NONE) {
            __builtin_prefetch(&table->buckets[place.alternate]);
            missed[misses++] = i;
        }
    }
    return misses;
}

static void memc3_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                         struct kvc_index_stats *stats)
{
    const struct memc3 *table = table_of(index);
    stats->searches += count;
    stats->search_hits += count;
    stats->search_lines += count;
    if (count < FEW) {
        search_few(table, hash, count, location, stats);
        return;
    }
    uint32_t missed[SEARCH_CHUNK];
    for (uint32_t i = 0; i < SEARCH_AHEAD && i < count; i++) {
        prefetch_primary(table, hash[i]);
    }
    for (uint32_t start = 0; start < count; start += SEARCH_CHUNK) {
        uint32_t end = count - start > SEARCH_CHUNK ? start + SEARCH_CHUNK : count;
        uint32_t misses = search_chunk(table, hash, start, end, count, location, missed);
        for (uint32_t m = 0; m < misses; m++) {
            location[missed[m]] = search_both(table, hash[missed[m]], stats);
        }
    }
}

/* The writer. All stores are its own, so its loads need no order. Its stores to buckets have release order,
 * so that whoever sees one of them also sees that the version is odd. */

ALWAYS_INLINE uint32_t tags_at(const struct memc3 *table, uint32_t bucket)
{
    return atomic_load_explicit(&table->buckets[bucket].tags, memory_order_relaxed);
}

ALWAYS_INLINE uint32_t tag_at(const struct memc3 *table, struct slot slot)
{
    return tags_at(table, slot.bucket) >> (TAG_BITS * slot.number) & 0xff;
}

ALWAYS_INLINE uint32_t location_at(const struct memc3 *table, struct slot slot)
{
    return atomic_load_explicit(&table->buckets[slot.bucket].location[slot.number], memory_order_relaxed);
}

/* Makes the version of an element's buckets odd; end_change makes it even again. */
ALWAYS_INLINE _Atomic uint32_t *begin_change(const struct memc3 *table, uint32_t bucket, uint32_t other)
{
    _Atomic uint32_t *version = version_of(table, bucket, other);
    uint32_t now = atomic_load_explicit(version, memory_order_relaxed);
    atomic_store_explicit(version, now + 1, memory_order_release);
    return version;
}

ALWAYS_INLINE void end_change(_Atomic uint32_t *version)
{
    uint32_t now = atomic_load_explicit(version, memory_order_relaxed);
    atomic_store_explicit(version, now + 1, memory_order_release);
}

ALWAYS_INLINE void store_tag(struct memc3 *table, struct slot slot, uint32_t tag)
{
    uint32_t shift = TAG_BITS * slot.number;
    uint32_t tags = (tags_at(table, slot.bucket) & ~(0xffu << shift)) | tag << shift;
    atomic_store_explicit(&table->buckets[slot.bucket].tags, tags, memory_order_release);
}

ALWAYS_INLINE void fill(struct memc3 *table, struct slot slot, uint32_t tag, uint64_t key, uint32_t location)
{
    struct bucket *bucket = &table->buckets[slot.bucket];
    atomic_store_explicit(&bucket->location[slot.number], location, memory_order_release);
    atomic_store_explicit(&bucket->key[slot.number], key, memory_order_release);
    store_tag(table, slot, tag);
}

/* Moves an element to an empty slot of its other bucket. */
static void move(struct memc3 *table, struct slot from, struct slot to)
{
    const struct bucket *bucket = &table->buckets[from.bucket];
    uint64_t key = atomic_load_explicit(&bucket->key[from.number], memory_order_relaxed);
    _Atomic uint32_t *version = begin_change(table, from.bucket, to.bucket);
    fill(table, to, tag_at(table, from), key, location_at(table, from));
    store_tag(table, from, 0);
    end_change(version);
}

/* Returns the bucket in which to look for an element first: the primary one if it has the element's tag, else
 * the other. */
ALWAYS_INLINE uint32_t likely_bucket(const struct memc3 *table, const struct place *place)
{
    return match_tags(tags_at(table, place->primary), place->tag) != 0 ? place->primary : place->alternate;
}

ALWAYS_INLINE uint32_t empty_slots(const struct memc3 *table, uint32_t bucket)
{
    return match_tags(tags_at(table, bucket), 0);
}

static uint64_t next_random(struct memc3 *table)
{
    return kvc_mix_64(table->random += 0x9e3779b97f4a7c15);
}

static bool is_listed(const struct node_list *nodes, uint32_t bucket)
{
    uint32_t found = 0;
    for (uint32_t n = 0; n < nodes->count; n++) {
        found |= nodes->bucket[n] == bucket;
    }
    return found != 0;
}

/* Extends a path: picks a random element of the node's bucket whose other bucket is not listed yet, lists
 * that bucket and prefetches it. Returns the new node, or no_node if there is no such element. */
static uint32_t extend(struct memc3 *table, uint32_t node)
{
    struct node_list *nodes = &table->nodes;
    uint32_t bucket = nodes->bucket[node];
    uint64_t first = next_random(table);
    for (unsigned i = 0; i < SLOTS; i++) {
        unsigned slot = (unsigned)(first + i) % SLOTS;
        uint32_t next = alternate_of(table, bucket, tag_at(table, (struct slot){bucket, slot}));
        if (!is_listed(nodes, next)) {
            __builtin_prefetch(&table->buckets[next], 1);
            uint32_t added = nodes->count++;
            nodes->bucket[added] = next;
            nodes->parent[added] = (uint16_t)node;
            nodes->slot[added] = (uint8_t)slot;
            return added;
        }
    }
    return no_node;
}

static void begin_paths(struct memc3 *table, const struct place *place)
{
    struct node_list *nodes = &table->nodes;
    nodes->bucket[0] = place->primary;
    nodes->bucket[1] = place->alternate;
    nodes->roots = place->primary == place->alternate ? 1 : ROOTS;
    nodes->count = nodes->roots;
}

/* Finds a bucket with an empty slot that can be reached from the two full buckets of `place`. All paths grow
 * by one node in turn. Returns the bucket's node, or no_node. */
static uint32_t find_path(struct memc3 *table, const struct place *place)
{
    struct node_list *nodes = &table->nodes;
    uint32_t tip[PATHS_MAX];
    begin_paths(table, place);
    for (uint32_t p = 0; p < table->paths; p++) {
        tip[p] = p % nodes->roots;
    }
    for (;;) {
        uint32_t grown = nodes->count;
        for (uint32_t p = 0; p < table->paths && nodes->count - nodes->roots < table->max_displacements;
             p++) {
            uint32_t next = extend(table, tip[p]);
            tip[p] = next != no_node ? next : tip[p];
        }
        if (grown == nodes->count) {
            return no_node;
        }
        for (uint32_t n = grown; n < nodes->count; n++) {
            if (empty_slots(table, nodes->bucket[n]) != 0) {
                return n;
            }
        }
    }
}

/* Moves the elements of a path from its last node back. Returns the slot of a root that is empty then. */
static struct slot follow_path(struct memc3 *table, uint32_t node, struct kvc_index_stats *stats)
{
    const struct node_list *nodes = &table->nodes;
    struct slot empty = {nodes->bucket[node], first_slot(empty_slots(table, nodes->bucket[node]))};
    while (node >= nodes->roots) {
        struct slot from = {nodes->bucket[nodes->parent[node]], nodes->slot[node]};
        move(table, from, empty);
        empty = from;
        node = nodes->parent[node];
        stats->displacements++;
        table->counts.insert.writes++;
    }
    return empty;
}

/* Empties a slot for a new element whose two buckets are full. Returns false, and changes nothing, if there
 * is no path. */
static bool displace(struct memc3 *table, const struct place *place, struct slot *empty,
                     struct kvc_index_stats *stats)
{
    uint32_t node = find_path(table, place);
    uint32_t read = table->nodes.count - table->nodes.roots;
    stats->insert_lines += read;
    table->counts.insert.reads += read;
    if (node == no_node) {
        return false;
    }
    *empty = follow_path(table, node, stats);
    return true;
}

/* Finds the slot that holds this key and adds the buckets read to `lines`. Returns false if there is none. */
ALWAYS_INLINE bool find(const struct memc3 *table, const struct place *place, uint64_t key, struct slot *slot,
                        uint64_t *lines)
{
    slot->bucket = likely_bucket(table, place);
    *lines += slot->bucket != place->primary ? 2 : 1;
    bool found = find_slot(&table->buckets[slot->bucket], place->tag, key, &slot->number);
    if (__builtin_expect(!found && slot->bucket != place->alternate, 0)) {
        slot->bucket = place->alternate;
        *lines += 1;
        found = find_slot(&table->buckets[slot->bucket], place->tag, key, &slot->number);
    }
    return found;
}

/* Finds an empty slot for a new element, with displacements if needed. Returns false if there is none. */
ALWAYS_INLINE bool find_room(struct memc3 *table, const struct place *place, struct slot *slot,
                             struct kvc_index_stats *stats)
{
    uint32_t bucket = place->primary;
    uint32_t empty = empty_slots(table, bucket);
    if (empty == 0) {
        bucket = place->alternate;
        empty = empty_slots(table, bucket);
    }
    if (empty == 0) {
        return displace(table, place, slot, stats);
    }
    *slot = (struct slot){bucket, first_slot(empty)};
    return true;
}

/* Sums over the inserts or erases of a call. They are local to the call, so that they stay in registers. */
struct changes {
    uint64_t lines;  /* Lines touched, apart from displacements. */
    uint64_t met;    /* Elements replaced or erased. */
    uint64_t filled; /* Empty slots filled. */
};

ALWAYS_INLINE uint32_t insert_one(struct memc3 *table, uint64_t hash, uint32_t location,
                                  struct changes *changes, struct kvc_index_stats *stats)
{
    struct place place = place_of(table, hash);
    struct slot slot;
    if (find(table, &place, hash, &slot, &changes->lines)) {
        uint32_t old = location_at(table, slot);
        atomic_store_explicit(&table->buckets[slot.bucket].location[slot.number], location,
                              memory_order_release);
        changes->met++;
        return old;
    }
    if (!find_room(table, &place, &slot, stats)) {
        return location;
    }
    _Atomic uint32_t *version = begin_change(table, place.primary, place.alternate);
    fill(table, slot, place.tag, hash, location);
    end_change(version);
    changes->filled++;
    return KVC_LOCATION_NONE;
}

ALWAYS_INLINE uint32_t erase_one(struct memc3 *table, uint64_t hash, uint32_t location,
                                 struct changes *changes, struct kvc_index_stats *stats)
{
    (void)stats;
    struct place place = place_of(table, hash);
    struct slot slot;
    if (!find(table, &place, hash, &slot, &changes->lines)) {
        return KVC_LOCATION_NONE;
    }
    uint32_t old = location_at(table, slot);
    if (location != KVC_LOCATION_ANY && location != old) {
        return KVC_LOCATION_NONE;
    }
    _Atomic uint32_t *version = begin_change(table, place.primary, place.alternate);
    store_tag(table, slot, 0);
    end_change(version);
    changes->met++;
    return old;
}

/* Prefetches the bucket that is likely to have the element. The primary bucket has arrived by now. */
ALWAYS_INLINE void prefetch_likely(const struct memc3 *table, uint64_t hash)
{
    struct place place = place_of(table, hash);
    __builtin_prefetch(&table->buckets[likely_bucket(table, &place)], 1);
}

/* Inserts or erases one element. Returns the location that left the table, or KVC_LOCATION_NONE. */
typedef uint32_t change_fn(struct memc3 *table, uint64_t hash, uint32_t location, struct changes *changes,
                           struct kvc_index_stats *stats);

/* Runs a change on each key. Each iteration prefetches one key's primary bucket and another key's likely
 * bucket, and changes a third key. */
ALWAYS_INLINE struct changes change(struct memc3 *table, const uint64_t *hash, const uint32_t *location,
                                    uint32_t count, uint32_t *out, struct kvc_index_stats *stats,
                                    change_fn *one)
{
    struct changes changes = {0};
    for (uint32_t i = 0; i < FIRST_AHEAD && i < count; i++) {
        prefetch_primary(table, hash[i]);
    }
    for (uint32_t i = 0; i < SECOND_AHEAD && i < count; i++) {
        prefetch_likely(table, hash[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (count - i > FIRST_AHEAD) {
            prefetch_primary(table, hash[i + FIRST_AHEAD]);
        }
        if (count - i > SECOND_AHEAD) {
            prefetch_likely(table, hash[i + SECOND_AHEAD]);
        }
        uint32_t old = one(table, hash[i], location[i], &changes, stats);
        if (out != NULL) {
            out[i] = old;
        }
    }
    return changes;
}

static void memc3_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                         uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct memc3 *table = table_of(index);
    struct changes changes = change(table, hash, location, count, out, stats, insert_one);
    stats->inserts += count;
    stats->insert_lines += changes.lines;
    stats->replaced += changes.met;
    stats->dropped += count - changes.met - changes.filled;
    table->counts.insert.reads += changes.lines;
    table->counts.insert.writes += changes.met + changes.filled;
    table->used += changes.filled;
}

static void memc3_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                        uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct memc3 *table = table_of(index);
    struct changes changes = change(table, hash, location, count, out, stats, erase_one);
    stats->erases += count;
    stats->erase_lines += changes.lines;
    stats->erased += changes.met;
    table->counts.erase.reads += changes.lines;
    table->counts.erase.writes += changes.met;
    table->used -= changes.met;
}

static uint64_t memc3_capacity(const struct kvc_index *index)
{
    return const_table_of(index)->bytes / KVC_MEMC3_BUCKET_BYTES * SLOTS;
}

static uint64_t memc3_used(const struct kvc_index *index)
{
    return const_table_of(index)->used;
}

struct kvc_memc3_counts kvc_memc3_counts(const struct kvc_index *index)
{
    return const_table_of(index)->counts;
}

static void memc3_free(struct kvc_index *index)
{
    struct memc3 *table = table_of(index);
    kvc_pages_free(table->buckets, table->bytes);
    kvc_pages_free(table->versions, VERSIONS * sizeof(*table->versions));
    free(table->nodes.bucket);
    free(table->nodes.parent);
    free(table->nodes.slot);
    free(table);
}

static const struct kvc_index_ops memc3_ops = {
    .free = memc3_free,
    .search = memc3_search,
    .peek = memc3_search,
    .insert = memc3_insert,
    .erase = memc3_erase,
    .capacity = memc3_capacity,
    .used = memc3_used,
};

/* Allocates the memory of a table. Returns false if there is not enough; the table then has what was
 * allocated. */
static bool allocate(struct memc3 *table)
{
    uint32_t nodes = ROOTS + table->max_displacements;
    table->buckets = kvc_pages_alloc(table->bytes);
    table->versions = kvc_pages_alloc(VERSIONS * sizeof(*table->versions));
    table->nodes.bucket = calloc(nodes, sizeof(*table->nodes.bucket));
    table->nodes.parent = calloc(nodes, sizeof(*table->nodes.parent));
    table->nodes.slot = calloc(nodes, sizeof(*table->nodes.slot));
    return table->buckets != NULL && table->versions != NULL && table->nodes.bucket != NULL &&
           table->nodes.parent != NULL && table->nodes.slot != NULL;
}

struct kvc_index *kvc_memc3_create(const struct kvc_memc3_params *params)
{
    uint64_t bytes = params->bytes;
    if (bytes < KVC_MEMC3_BUCKET_BYTES || bytes > bytes_max || (bytes & (bytes - 1)) != 0 ||
        params->paths > PATHS_MAX || params->max_displacements > DISPLACEMENTS_MAX) {
        errno = EINVAL;
        return NULL;
    }
    struct memc3 *table = aligned_alloc(_Alignof(struct memc3), sizeof(*table));
    if (table == NULL) {
        return NULL;
    }
    *table = (struct memc3){.index = {&memc3_ops},
                            .bytes = bytes,
                            .mask = (uint32_t)(bytes / KVC_MEMC3_BUCKET_BYTES - 1),
                            .paths = params->paths != 0 ? params->paths : KVC_MEMC3_PATHS,
                            .max_displacements = params->max_displacements,
                            .random = params->seed};
    if (!allocate(table)) {
        memc3_free(&table->index);
        errno = ENOMEM;
        return NULL;
    }
    return &table->index;
}

static struct kvc_index *create_published(uint64_t bytes, uint64_t seed)
{
    return kvc_memc3_create(&(struct kvc_memc3_params){
        .bytes = bytes, .max_displacements = KVC_MEMC3_DISPLACEMENTS, .seed = seed});
}

const struct kvc_index_kind kvc_memc3_kind = {
    .name = "memc3",
    .source = "MemC3, NSDI 2013, sec. 3",
    .create = create_published,
    .many_readers = true,
};

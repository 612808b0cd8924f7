#include "kernels/baselines/farm.h"

#include <errno.h>
#include <stdlib.h>

#include "kernels/pages.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    /* Keys whose lines are prefetched together, in a loop of their own, so that the fetches overlap. */
    GROUP = 16,
    /* Keys that are searched in their home buckets before any second line. Their lines fit the L1 cache. */
    CHUNK = 256,
    FULL = (1 << KVC_FARM_SLOTS) - 1,
    PROBE_DEFAULT = 16,
    PROBE_MAX = 1024,
    NO_LINE = 0, /* Ends a chain. Line 0 is a bucket, so it is never in one. */
};

static const uint32_t lines_max = UINT32_C(1) << 30; /* of buckets, and of overflow blocks */

/* A bucket or an overflow block. */
struct line {
    uint64_t key[KVC_FARM_SLOTS];
    uint32_t location[KVC_FARM_SLOTS];
    uint32_t chain;    /* Line number of the next overflow block, or of the next free one; or NO_LINE. */
    uint32_t occupied; /* Bit s is set if slot s is occupied. */
    uint64_t unused;
};

_Static_assert(sizeof(struct line) == KVC_FARM_LINE_BYTES, "a bucket is a line");

struct farm {
    struct kvc_index index;
    struct line *lines; /* The buckets, then the overflow blocks. */
    uint32_t buckets, overflow_blocks;
    uint32_t probe_buckets; /* Bound on probing, at most `buckets`. */
    uint32_t free_block;    /* Line number of the first block that was used and freed, or NO_LINE. */
    uint32_t blocks_taken;  /* Overflow blocks that were ever used; the others are still zero. */
    uint64_t used;
    struct kvc_farm_counts counts;
};

/* Place of a key. */
struct place {
    struct line *line; /* The line with the key; NULL: the key is absent. */
    unsigned slot;
    struct line *before; /* The line whose chain leads to `line`; NULL: `line` is a bucket. */
    struct line
        *last; /* The last line read of home bucket and chain; the chain's end if the key is absent. */
};

ALWAYS_INLINE struct farm *table_of(struct kvc_index *index)
{
    return (struct farm *)index; /* its first member */
}

ALWAYS_INLINE uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

ALWAYS_INLINE uint32_t home_of(const struct farm *table, uint64_t hash)
{
    return (uint32_t)((hash & UINT32_MAX) * table->buckets >> 32);
}

/* Returns the bucket `distance` buckets after `bucket`. `distance` is less than the number of buckets. */
ALWAYS_INLINE uint32_t bucket_behind(const struct farm *table, uint32_t bucket, uint32_t distance)
{
    uint32_t number = bucket + distance;
    return number < table->buckets ? number : number - table->buckets;
}

/* Returns the first of these slots; the last slot if there is none. */
ALWAYS_INLINE unsigned first_slot(uint32_t slots)
{
    return (unsigned)__builtin_ctz(slots | 1u << (KVC_FARM_SLOTS - 1));
}

/* Returns the slots of a line that hold this key, as bits. */
ALWAYS_INLINE uint32_t match(const struct line *line, uint64_t hash)
{
    uint32_t slots = 0;
    for (unsigned s = 0; s < KVC_FARM_SLOTS; s++) {
        slots |= (uint32_t)(line->key[s] == hash) << s;
    }
    return slots & line->occupied;
}

/* Returns the location of a key in a line, or KVC_LOCATION_NONE. There is no branch on whether it is there,
 * because it would often be mispredicted. */
ALWAYS_INLINE uint32_t location_in(const struct line *line, uint64_t hash)
{
    uint32_t slots = match(line, hash);
    uint32_t location = line->location[first_slot(slots)];
    return slots != 0 ? location : KVC_LOCATION_NONE;
}

/* A key that was not found yet, and where to look next. */
struct pending {
    uint32_t i;    /* Number of the key. */
    uint32_t line; /* The line to look into next. */
    uint32_t then; /* The line after that. */
};

/* Searches keys `start` to `end` - 1 in their home buckets. Returns the number of keys that were not found
 * and stores them in `pending`. */
static uint32_t search_homes(const struct farm *table, const uint64_t *hash, uint32_t count, uint64_t start,
                             uint64_t end, uint32_t *location, struct pending *pending)
{
    uint32_t left = 0;
    for (uint64_t i = start; i < end;) {
        uint64_t asked = i == 0 ? 0 : i + GROUP;
        for (uint64_t stop = least(i + 2 * GROUP, count); asked < stop; asked++) {
            __builtin_prefetch(&table->lines[home_of(table, hash[asked])]);
        }
        for (uint64_t stop = least(i + GROUP, end); i < stop; i++) {
            uint32_t home = home_of(table, hash[i]);
            const struct line *line = &table->lines[home];
            location[i] = location_in(line, hash[i]);
            pending[left] = (struct pending){(uint32_t)i, bucket_behind(table, home, 1), line->chain};
            left += location[i] == KVC_LOCATION_NONE;
        }
    }
    return left;
}

/* Searches `count` pending keys in their next lines. Returns the number of keys that are still pending. */
static uint32_t search_lines(const struct farm *table, const uint64_t *hash, uint32_t count,
                             uint32_t *location, struct pending *pending, bool in_chain)
{
    uint32_t left = 0;
    for (uint32_t p = 0; p < count; p++) {
        __builtin_prefetch(&table->lines[pending[p].line]);
    }
    for (uint32_t p = 0; p < count; p++) { /* `left` is never ahead of `p` */
        uint32_t i = pending[p].i;
        const struct line *line = &table->lines[pending[p].line];
        uint32_t next = in_chain ? line->chain : pending[p].then;
        location[i] = location_in(line, hash[i]);
        pending[left] = (struct pending){i, next, NO_LINE};
        left += (location[i] == KVC_LOCATION_NONE) & (next != NO_LINE);
    }
    return left;
}

static void index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                         struct kvc_index_stats *stats)
{
    const struct farm *table = table_of(index);
    struct pending pending[CHUNK + 1];
    uint64_t lines = count;
    for (uint64_t start = 0; start < count; start += CHUNK) {
        uint64_t end = least(start + CHUNK, count);
        uint32_t left = search_homes(table, hash, count, start, end, location, pending);
        for (bool in_chain = false; left > 0; in_chain = true) {
            lines += left;
            left = search_lines(table, hash, left, location, pending, in_chain);
        }
        for (uint64_t i = start; i < end; i++) {
            stats->search_hits += location[i] != KVC_LOCATION_NONE;
        }
    }
    stats->searches += count;
    stats->search_lines += lines;
}

/* Sums over a batch of inserts or erases. */
struct change {
    struct farm *table;
    struct kvc_index_stats *stats;
    uint64_t lines;
    struct kvc_memory_accesses accesses;
};

/* Counts the first read of a line by an operation. */
ALWAYS_INLINE struct line *read_line(struct change *change, uint32_t number)
{
    change->lines++;
    change->accesses.reads++;
    return &change->table->lines[number];
}

/* Reads home bucket, next bucket and chain until the key is found. */
ALWAYS_INLINE struct place find(struct change *change, uint64_t hash)
{
    uint32_t home = home_of(change->table, hash);
    struct line *line = read_line(change, home);
    struct place place = {.last = line};
    uint32_t slots = match(line, hash);
    if (slots == 0) {
        line = read_line(change, bucket_behind(change->table, home, 1));
        slots = match(line, hash);
    }
    while (slots == 0 && place.last->chain != NO_LINE) {
        place.before = place.last;
        line = place.last = read_line(change, place.before->chain);
        slots = match(line, hash);
    }
    place.line = slots != 0 ? line : NULL;
    place.slot = first_slot(slots);
    return place;
}

ALWAYS_INLINE void fill(struct line *line, unsigned slot, uint64_t hash, uint32_t location)
{
    line->key[slot] = hash;
    line->location[slot] = location;
    line->occupied |= 1u << slot;
}

/* Puts an element into a free slot. Returns false if there is none. */
ALWAYS_INLINE bool put(struct line *line, uint64_t hash, uint32_t location)
{
    uint32_t free_slots = ~line->occupied & FULL;
    if (free_slots != 0) {
        fill(line, first_slot(free_slots), hash, location);
    }
    return free_slots != 0;
}

/* Returns the slots of a full bucket whose elements may go to the next bucket, because this one is their
 * home; as bits. */
ALWAYS_INLINE uint32_t movable(const struct farm *table, uint32_t bucket)
{
    const struct line *line = &table->lines[bucket];
    uint32_t slots = 0;
    for (unsigned s = 0; s < KVC_FARM_SLOTS; s++) {
        slots |= (uint32_t)(home_of(table, line->key[s]) == bucket) << s;
    }
    return slots;
}

/* Returns the distance from `home` to the nearest bucket with a free slot, where `home` and the next bucket
 * are full. Returns 0 if there is none within the bound. */
static uint32_t probe(struct change *change, uint32_t home)
{
    for (uint32_t distance = 2; distance < change->table->probe_buckets; distance++) {
        if (read_line(change, bucket_behind(change->table, home, distance))->occupied != FULL) {
            return distance;
        }
    }
    return 0;
}

/* Says whether each bucket between `home` and the free slot has an element that may go to the next bucket. */
static bool can_move(const struct farm *table, uint32_t home, uint32_t distance)
{
    for (uint32_t d = 1; d < distance; d++) {
        if (movable(table, bucket_behind(table, home, d)) == 0) {
            return false;
        }
    }
    return true;
}

/* Moves a free slot to the bucket after `home`. Returns that bucket, or NULL if this is not possible. */
static struct line *make_room(struct change *change, uint32_t home)
{
    struct farm *table = change->table;
    uint32_t distance = probe(change, home);
    if (distance == 0 || !can_move(table, home, distance)) {
        return NULL;
    }
    struct line *to = &table->lines[bucket_behind(table, home, distance)];
    for (uint32_t d = distance - 1; d > 0; d--) {
        uint32_t bucket = bucket_behind(table, home, d);
        struct line *from = &table->lines[bucket];
        unsigned slot = first_slot(movable(table, bucket));
        put(to, from->key[slot], from->location[slot]);
        from->occupied &= ~(1u << slot);
        to = from;
        change->stats->displacements++;
        change->accesses.writes++; /* the caller counts the write of the last bucket */
    }
    return to;
}

/* Takes an empty overflow block from the pool. Returns NULL if there is none. */
static struct line *take_block(struct change *change)
{
    struct farm *table = change->table;
    uint32_t number = table->free_block;
    if (number != NO_LINE) {
        table->free_block = table->lines[number].chain;
        table->lines[number].chain = NO_LINE;
        change->accesses.reads++;
    } else if (table->blocks_taken < table->overflow_blocks) {
        number = table->buckets + table->blocks_taken++;
    } else {
        return NULL;
    }
    table->counts.overflow_blocks++;
    change->lines++;
    return &table->lines[number];
}

/* Unlinks the last block of a chain and returns it to the pool. */
static void release_block(struct farm *table, struct line *block, struct line *before)
{
    before->chain = NO_LINE;
    block->chain = table->free_block;
    table->free_block = (uint32_t)(block - table->lines);
    table->counts.overflow_blocks--;
}

/* Appends an element to the chain of `home`, whose end is `last`. Returns false if the pool is empty. */
static bool put_in_chain(struct change *change, const struct line *home, struct line *last, uint64_t hash,
                         uint32_t location)
{
    if (last == home || !put(last, hash, location)) {
        struct line *block = take_block(change);
        if (block == NULL) {
            return false;
        }
        last->chain = (uint32_t)(block - change->table->lines);
        fill(block, 0, hash, location);
        change->accesses.writes++;
    }
    change->accesses.writes++;
    return true;
}

/* Stores a new element near its home if possible, else in the chain, whose end is `last`. Returns false if
 * the element is dropped. */
static bool put_new(struct change *change, struct line *last, uint64_t hash, uint32_t location)
{
    struct farm *table = change->table;
    uint32_t number = home_of(table, hash);
    struct line *home = &table->lines[number];
    struct line *next = &table->lines[bucket_behind(table, number, 1)];
    bool stored = put(home, hash, location) || put(next, hash, location);
    if (!stored) {
        struct line *room = make_room(change, number);
        stored = room != NULL && put(room, hash, location);
    }
    change->accesses.writes += stored;
    return stored || put_in_chain(change, home, last, hash, location);
}

/* Inserts an element. Returns the location that left the table, or KVC_LOCATION_NONE. */
ALWAYS_INLINE uint32_t insert_one(struct change *change, uint64_t hash, uint32_t location)
{
    struct place place = find(change, hash);
    if (place.line != NULL) {
        uint32_t old = place.line->location[place.slot];
        place.line->location[place.slot] = location;
        change->accesses.writes++;
        change->stats->replaced++;
        return old;
    }
    bool stored = put_new(change, place.last, hash, location);
    change->table->used += stored;
    change->stats->dropped += !stored;
    return stored ? KVC_LOCATION_NONE : location;
}

/* Empties the slot of an element with this home. The last element of the home's chain moves there if the
 * chain has one. */
static void vacate(struct change *change, const struct line *home, struct place place)
{
    struct line *line = place.line, *last = place.last, *before = place.before;
    while (last->chain != NO_LINE) {
        before = last;
        last = read_line(change, last->chain);
    }
    change->accesses.writes++;
    if (last == home) {
        line->occupied &= ~(1u << place.slot);
        return;
    }
    unsigned from = 31u - (unsigned)__builtin_clz(last->occupied);
    bool moves = last != line || from != place.slot;
    fill(line, place.slot, last->key[from], last->location[from]);
    last->occupied &= ~(1u << from);
    change->stats->displacements += moves;
    change->accesses.writes += last != line;
    if (last->occupied == 0) {
        change->accesses.writes += before != line;
        release_block(change->table, last, before);
    }
}

/* Erases an element. Returns its location, or KVC_LOCATION_NONE. */
ALWAYS_INLINE uint32_t erase_one(struct change *change, uint64_t hash, uint32_t location)
{
    struct place place = find(change, hash);
    if (place.line == NULL) {
        return KVC_LOCATION_NONE;
    }
    uint32_t found = place.line->location[place.slot];
    if (location != KVC_LOCATION_ANY && location != found) {
        return KVC_LOCATION_NONE;
    }
    vacate(change, &change->table->lines[home_of(change->table, hash)], place);
    change->table->used--;
    change->stats->erased++;
    return found;
}

/* Prefetches both buckets of a key. */
ALWAYS_INLINE void prefetch_buckets(const struct farm *table, uint64_t hash)
{
    uint32_t home = home_of(table, hash);
    __builtin_prefetch(&table->lines[home], 1);
    __builtin_prefetch(&table->lines[bucket_behind(table, home, 1)], 1);
}

/* Prefetches the chain of a key, or its home bucket again if there is no chain, because a branch would often
 * be mispredicted. */
ALWAYS_INLINE void prefetch_chain(const struct farm *table, uint64_t hash)
{
    uint32_t home = home_of(table, hash);
    uint32_t chain = table->lines[home].chain;
    __builtin_prefetch(&table->lines[chain != NO_LINE ? chain : home], 1);
}

/* Inserts or erases one element. Returns the location that left the table, or KVC_LOCATION_NONE. */
typedef uint32_t change_fn(struct change *change, uint64_t hash, uint32_t location);

/* Runs a change on each key. Returns the number of lines touched. */
ALWAYS_INLINE uint64_t run_changes(struct farm *table, const uint64_t *hash, const uint32_t *location,
                                   uint32_t count, uint32_t *out, struct kvc_index_stats *stats,
                                   struct kvc_memory_accesses *accesses, change_fn *one)
{
    struct change change = {.table = table, .stats = stats};
    uint64_t asked = 0, chained = 0;
    for (uint64_t done = 0; done < count;) {
        for (uint64_t end = least(done + 3 * GROUP, count); asked < end; asked++) {
            prefetch_buckets(table, hash[asked]);
        }
        for (uint64_t end = least(done + 2 * GROUP, count); chained < end; chained++) {
            prefetch_chain(table, hash[chained]);
        }
        for (uint64_t end = least(done + GROUP, count); done < end; done++) {
            uint32_t gone = one(&change, hash[done], location[done]);
            if (out != NULL) {
                out[done] = gone;
            }
        }
    }
    accesses->reads += change.accesses.reads;
    accesses->writes += change.accesses.writes;
    return change.lines;
}

static void index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                         uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct farm *table = table_of(index);
    stats->inserts += count;
    stats->insert_lines +=
        run_changes(table, hash, location, count, out, stats, &table->counts.insert, insert_one);
}

static void index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                        uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct farm *table = table_of(index);
    stats->erases += count;
    stats->erase_lines +=
        run_changes(table, hash, location, count, out, stats, &table->counts.erase, erase_one);
}

static uint64_t line_count(const struct farm *table)
{
    return (uint64_t)table->buckets + table->overflow_blocks;
}

static uint64_t index_capacity(const struct kvc_index *index)
{
    return line_count((const struct farm *)index) * KVC_FARM_SLOTS;
}

static uint64_t index_used(const struct kvc_index *index)
{
    return ((const struct farm *)index)->used;
}

static void index_free(struct kvc_index *index)
{
    struct farm *table = table_of(index);
    kvc_pages_free(table->lines, line_count(table) * sizeof(*table->lines));
    free(table);
}

static const struct kvc_index_ops index_ops = {
    .free = index_free,
    .search = index_search,
    .peek = index_search,
    .insert = index_insert,
    .erase = index_erase,
    .capacity = index_capacity,
    .used = index_used,
};

struct kvc_farm_counts kvc_farm_counts(const struct kvc_index *index)
{
    return ((const struct farm *)index)->counts;
}

struct kvc_index *kvc_farm_create(const struct kvc_farm_params *params)
{
    uint32_t probe_buckets = params->probe_buckets != 0 ? params->probe_buckets : PROBE_DEFAULT;
    if (params->buckets < 2 || params->buckets > lines_max || params->overflow_blocks > lines_max ||
        probe_buckets < 2 || probe_buckets > PROBE_MAX) {
        errno = EINVAL;
        return NULL;
    }
    struct farm *table = malloc(sizeof(*table));
    if (table == NULL) {
        return NULL;
    }
    *table = (struct farm){.index = {&index_ops},
                           .buckets = params->buckets,
                           .overflow_blocks = params->overflow_blocks,
                           .probe_buckets = (uint32_t)least(probe_buckets, params->buckets)};
    table->lines = kvc_pages_alloc(line_count(table) * sizeof(*table->lines));
    if (table->lines == NULL) {
        free(table);
        errno = ENOMEM;
        return NULL;
    }
    return &table->index;
}

static struct kvc_index *create_published(uint64_t bytes, uint64_t seed)
{
    (void)seed; /* nothing here is random */
    uint64_t lines = bytes / KVC_FARM_LINE_BYTES;
    if (lines > lines_max) {
        errno = EINVAL;
        return NULL;
    }
    return kvc_farm_create(&(struct kvc_farm_params){.buckets = (uint32_t)(lines - lines / 8),
                                                     .overflow_blocks = (uint32_t)(lines / 8)});
}

const struct kvc_index_kind kvc_farm_kind = {
    .name = "farm-hopscotch",
    .source = "FaRM, NSDI 2014",
    .many_readers = true,
    .create = create_published,
};

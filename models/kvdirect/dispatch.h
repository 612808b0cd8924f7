/* KV-Direct's DRAM load dispatcher decides which memory accesses go to the NIC's own DRAM, and models the
 * cache that they find there.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.4 and 4. A fraction l of the host memory, selected by a hash of the
 * line's address, may be cached in the NIC's DRAM. The rest is always accessed over PCIe. The cache is a
 * direct map of 64-byte lines. It writes a changed line back when another line takes its place. Tag and dirty
 * bit lie in spare bits of the line, so looking a line up is a read of the DRAM.
 *
 * This part has no notion of time: kvc_kvdirect_dispatch_steps() turns an access of the table into steps, and
 * the memory engine (memory_engine.h) simulates how long they take. The engine looks a cacheable line up when
 * it starts the step (kvc_kvdirect_dispatch_look), and a fetched or written line is in its place from the
 * moment at which its data is there (kvc_kvdirect_dispatch_place).
 */
#ifndef KVC_MODELS_KVDIRECT_DISPATCH_H
#define KVC_MODELS_KVDIRECT_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/kvdirect/table.h"
#include "sim/base/rng.h"

/* The places of hot keys in the cache of a sampled run.
 *
 * With functional = "sampled", cache and table are smaller by the rate, but all hot keys are simulated
 * (sim/workload/keys/sampling.h). In the small cache they would conflict with each other, and displace other
 * keys, far more often than in the whole cache. So every line of a hot key has its place in the whole cache
 * and its bucket in the whole table. The sample contains neither, but each has a stand-in there: events at
 * the stand-in place also count for the hot key's place, and events in the stand-in bucket also count for the
 * keys that share the hot key's bucket. A line of a hot key is displaced when another line is used at the
 * stand-in place, or when a line of another hot key takes its own place. It comes back when the stand-in
 * bucket is used.
 *
 * The sample contains its share of the hot keys, too. There they displace the lines of other keys as often
 * as in the whole cache. */

/* Lines of the hash index and places of the cache, of the whole NIC or of the sample. */
struct kvc_kvdirect_extent {
    uint64_t index_lines, lines, places;
};

#define KVC_KVDIRECT_NO_LINE UINT64_MAX

struct kvc_kvdirect_hot_place;

struct kvc_kvdirect_hot {
    struct kvc_kvdirect_extent whole, sample;
    uint32_t clock;                       /* Uses in the sample so far; 0: nothing is hot. */
    uint32_t *place_used;                 /* By place of the sample: when its line was last used. */
    uint32_t *place_written;              /* When it was last changed; 0: not since it was fetched. */
    uint32_t *index_used;                 /* By line of the sample's index: when it was last used. */
    struct kvc_kvdirect_hot_place *place; /* Hash map of the places in the whole cache. */
    uint64_t place_count, place_room;
};

/* Opens the places, of which none holds a line of a hot key. Exits with status 3 if memory is short. */
void kvc_kvdirect_hot_open(struct kvc_kvdirect_hot *hot, const struct kvc_kvdirect_extent *whole,
                           const struct kvc_kvdirect_extent *sample);
/* Makes room for `lines` lines of hot keys; more may follow. Exits with status 3 if memory is short. */
void kvc_kvdirect_hot_expect(struct kvc_kvdirect_hot *hot, double lines);

/* Returns the memory of this room [bytes]. */
double kvc_kvdirect_hot_memory_bytes(double lines);
void kvc_kvdirect_hot_close(struct kvc_kvdirect_hot *hot);

/* Returns the line of the whole table that replaces a line of the sample for the hot key with this hash. The
 * first bucket of a key is the one that it has in the whole table; chained buckets and slabs get random lines
 * after the index. */
uint32_t kvc_kvdirect_hot_line(const struct kvc_kvdirect_hot *hot, uint64_t hash, uint32_t line);

/* Notes that a line of a key that is not hot is used in the sample, and whether this fetches or changes it.
 */
void kvc_kvdirect_hot_note(struct kvc_kvdirect_hot *hot, uint64_t line, bool hit, bool write);

/* Before the run: notes whether the line of a key that is not hot at a place of the sample is changed. */
void kvc_kvdirect_hot_begin(struct kvc_kvdirect_hot *hot, uint64_t place, bool changed);

/* Before the run: puts a line of a hot key that was used `since` ago into its place, unless the place
 * holds a line that was used later. Exits with status 3 if memory is short. */
void kvc_kvdirect_hot_fill(struct kvc_kvdirect_hot *hot, uint64_t line, float since, bool changed);

/* Returns whether a line of a hot key is in its place. If not, *evicts tells whether the line in its place
 * is newer than the host's copy. `mate` is the line of the sample's index that stands in for the hot key's
 * bucket, or KVC_KVDIRECT_NO_LINE. */
bool kvc_kvdirect_hot_look(const struct kvc_kvdirect_hot *hot, uint64_t line, uint64_t mate, bool *evicts);

/* Puts a line of a hot key into its place. Exits with status 3 if memory is short. */
void kvc_kvdirect_hot_put(struct kvc_kvdirect_hot *hot, uint64_t line, bool changed);

enum { KVC_KVDIRECT_LINE_BYTES = 64 };

enum kvc_kvdirect_step_kind {
    KVC_KVDIRECT_HOST_READ,   /* A DMA read. */
    KVC_KVDIRECT_HOST_WRITE,  /* A DMA write. */
    KVC_KVDIRECT_CACHE_READ,  /* A hit: a read of the NIC's DRAM. */
    KVC_KVDIRECT_CACHE_FETCH, /* A miss: a futile read of the DRAM, then a DMA read whose line is stored. */
    /* A read of a line that was already in flight; it ended when the line arrived. */
    KVC_KVDIRECT_CACHE_JOIN,
    KVC_KVDIRECT_CACHE_WRITE, /* A read of the DRAM for the tag, then a write. */
    KVC_KVDIRECT_STEP_KINDS,
};

/* Owner of the line of a step. Only sampled runs have other owners than OWN. */
enum kvc_kvdirect_line_of {
    KVC_KVDIRECT_OWN,   /* The key of the operation. */
    KVC_KVDIRECT_ALIKE, /* A stand-in key, whose line stays unchanged. */
    KVC_KVDIRECT_HOT,   /* A hot key, with its line in the whole cache. */
};

/* A part of an access. All parts of an access are in flight at the same time. */
struct kvc_kvdirect_step {
    uint8_t kind;     /* enum kvc_kvdirect_step_kind. */
    bool open;        /* CACHE_READ or CACHE_WRITE of a line that has not been looked up. */
    bool evicts;      /* A changed line is evicted to the host. */
    bool fetches;     /* CACHE_WRITE of a part of a line that the cache lacks: the line is fetched first. */
    bool ends_access; /* The last part of its access. */
    uint8_t line_of;  /* enum kvc_kvdirect_line_of. */
    bool again;       /* ALIKE: an earlier step of the operation has fetched the line. */
    uint16_t endpoint;
    uint16_t evicted_endpoint; /* Link of the evicted line. */
    uint16_t bytes;
    uint32_t line; /* Cacheable line of an open step, of the sample or, if it is HOT, of the whole table. */
    uint32_t tag;  /* OWN, ALIKE: the tag that its place has if it holds the line. */
    /* Number of the place of an open step's line, different for all places of the sample and the whole cache.
     * Place and tag are stored because computing them takes a slow division. */
    uint64_t place;
};

struct kvc_kvdirect_cache_stats {
    uint64_t lines;      /* Lines of all accesses. */
    uint64_t cacheable;  /* Lines that may be cached. */
    uint64_t hits;       /* Cacheable lines that were found. */
    uint64_t writebacks; /* Evicted lines that were newer than the host's copy. */
};

struct kvc_kvdirect_dispatch {
    double cacheable_frac;    /* l. */
    uint64_t cacheable_below; /* A line is cacheable if its hash is below this. */
    bool all_cacheable;
    uint64_t places;
    uint32_t *place; /* Tag + 1, with the highest bit set if the line is newer than the host's; 0: empty. */
    uint32_t endpoints;          /* PCIe links. */
    struct kvc_kvdirect_hot hot; /* Places of hot keys; only used in a sample. */
    struct kvc_kvdirect_cache_stats stats;
};

/* Opens a cache of `dram_bytes`; with 0, no line is cacheable. Exits with status 3 if memory is short. */
void kvc_kvdirect_dispatch_open(struct kvc_kvdirect_dispatch *dispatch, double cacheable_frac,
                                double dram_bytes, uint32_t endpoints);
void kvc_kvdirect_dispatch_close(struct kvc_kvdirect_dispatch *dispatch);

/* Tells whether a line may be cached. */
bool kvc_kvdirect_dispatch_cacheable(const struct kvc_kvdirect_dispatch *dispatch, uint64_t line);

/* Returns the place of a line. */
static inline uint64_t kvc_kvdirect_dispatch_place_of(const struct kvc_kvdirect_dispatch *dispatch,
                                                      uint64_t line)
{
    return line % dispatch->places;
}

/* Returns the stand-in place in the sample for the place of a hot key's line. */
static inline uint64_t kvc_kvdirect_dispatch_like(const struct kvc_kvdirect_dispatch *dispatch, uint64_t line)
{
    return line % dispatch->hot.whole.places % dispatch->places;
}

/* Returns the cacheable line of the sample's index that stands in for the index line of a hot key, or
 * KVC_KVDIRECT_NO_LINE if the hot key's line is not in the index. */
uint64_t kvc_kvdirect_dispatch_mate(const struct kvc_kvdirect_dispatch *dispatch, uint64_t line);

/* Puts a line into its place before the run. `changed` tells whether it is newer than the host's. */
void kvc_kvdirect_dispatch_place(struct kvc_kvdirect_dispatch *dispatch, uint64_t line, bool changed);

enum { KVC_KVDIRECT_STEPS_MAX = 9 }; /* An access of 512 bytes that begins within a line touches 9 lines. */

/* Handles that the line of a step has arrived at its place. */
void kvc_kvdirect_dispatch_arrive(struct kvc_kvdirect_dispatch *dispatch,
                                  const struct kvc_kvdirect_step *step);

/* Fills up to KVC_KVDIRECT_STEPS_MAX steps of one access and returns their number. Cacheable lines are open.
 */
uint32_t kvc_kvdirect_dispatch_steps(struct kvc_kvdirect_dispatch *dispatch,
                                     const struct kvc_kvdirect_table_access *access,
                                     enum kvc_kvdirect_line_of line_of, struct kvc_kvdirect_step *step);

/* Uses the lines of an access at once: they displace others, but no operation waits for them. */
void kvc_kvdirect_dispatch_use(struct kvc_kvdirect_dispatch *dispatch,
                               const struct kvc_kvdirect_table_access *access);

/* Looks up the line of an open step: sets the step's kind, evicts and fetches. The cache stays unchanged. */
void kvc_kvdirect_dispatch_look(struct kvc_kvdirect_dispatch *dispatch, struct kvc_kvdirect_step *step);

#endif

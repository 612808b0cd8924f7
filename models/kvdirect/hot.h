/* Where hot keys lie in the cache of a sample.
 *
 * With functional = "sampled", cache and table are smaller by the rate, but all hot keys are simulated
 * (sim/workload/keys/sampling.h). In the small cache they would conflict with each other, and drive out other
 * keys, far more often than in the whole one. So every line of a hot key has its place in the whole cache,
 * and its bucket is the one of the whole table. The sample contains neither that place nor that bucket, but
 * others of their kind: what happens at a place of the sample happens likewise at the place of the hot key,
 * and what happens to the keys in a bucket of the sample happens to those that share the bucket of the hot
 * key. A line is displaced when another line is used at the place of the sample, comes back when the bucket
 * of the sample is used, and lines of hot keys displace one another at the same place.
 *
 * The sample contains its share of the hot keys, too. There they displace the lines of other keys as often as
 * in the whole cache. */
#ifndef KVC_MODELS_KVDIRECT_HOT_H
#define KVC_MODELS_KVDIRECT_HOT_H

#include <stdbool.h>
#include <stdint.h>

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

/* Opens the places, of which none holds a line of a hot key. Returns false if memory is short. */
bool kvc_kvdirect_hot_open(struct kvc_kvdirect_hot *hot, const struct kvc_kvdirect_extent *whole,
                           const struct kvc_kvdirect_extent *sample);
/* Makes room for so many lines of hot keys, as far as memory is there; more may follow. */
void kvc_kvdirect_hot_expect(struct kvc_kvdirect_hot *hot, double lines);

/* Returns the memory of this room [bytes]. */
double kvc_kvdirect_hot_memory_bytes(double lines);
void kvc_kvdirect_hot_close(struct kvc_kvdirect_hot *hot);

/* Returns the line of the whole table that takes the part of a line of the sample's for a hot key with this
 * hash. The first bucket of a key is that of the whole table; chained buckets and slabs, and the lines behind
 * them, are anywhere behind the index. */
uint32_t kvc_kvdirect_hot_line(const struct kvc_kvdirect_hot *hot, uint64_t hash, uint32_t line);

/* Notes that a line of a key that is not hot is used in the sample, and whether this fetches or changes it.
 */
void kvc_kvdirect_hot_note(struct kvc_kvdirect_hot *hot, uint64_t line, bool hit, bool write);

/* Before the run: notes whether the line of a key that is not hot at a place of the sample is changed. */
void kvc_kvdirect_hot_begin(struct kvc_kvdirect_hot *hot, uint64_t place, bool changed);

/* Before the run: puts a line of a hot key that was used `since` ago into its place, unless that holds one
 * that was used later. Exits with status 3 if memory is short. */
void kvc_kvdirect_hot_fill(struct kvc_kvdirect_hot *hot, uint64_t line, float since, bool changed);

/* Returns whether a line of a hot key is in its place. If not, *evicts tells whether the line in its place is
 * newer than the host's copy. `mate` is the line of the sample's index whose keys stand for those that share
 * the hot key's bucket; KVC_KVDIRECT_NO_LINE: none does. */
bool kvc_kvdirect_hot_look(const struct kvc_kvdirect_hot *hot, uint64_t line, uint64_t mate, bool *evicts);

/* Puts a line of a hot key into its place. Exits with status 3 if memory is short. */
void kvc_kvdirect_hot_put(struct kvc_kvdirect_hot *hot, uint64_t line, bool changed);

#endif

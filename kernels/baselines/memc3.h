/** @file
 * MemC3's optimistic cuckoo table: 4-way buckets, moves without keys, readers without locks.
 *
 * Source: Fan, Andersen, Kaminsky, "MemC3", NSDI 2013, sec. 3; as the baseline of KV-Direct (SOSP 2017,
 * sec. 5.1.1, fig. 11), that is with keys inline and values elsewhere. The table follows the papers in these
 * points:
 *  - A bucket has 4 slots, each with a 1-byte tag. The alternate bucket of an element is its bucket XOR a
 * hash of its tag, so that an element can move without its key being hashed.
 *  - An insert that meets two full buckets first looks for a cuckoo path, which is a chain of elements that
 * can each take the next one's place, up to an empty slot. The search changes nothing. Several paths are
 * searched in turn, so that their reads overlap, up to a limit of displacements in all.
 *  - The elements then move from the path's far end back, so that none is ever absent.
 *  - There are 8192 version counters, each shared by many elements. A counter is odd while one of its
 * elements moves. A reader whose counter was odd or has changed looks again.
 *
 * A bucket is one 64-byte line: 4 keys of 8 bytes, which are the hashes here, 4 locations and 4 tags. The
 * limit of 500 displacements is the paper's. The authors' sources have different numbers of paths, of which 2
 * is the default here.
 *
 * The papers leave some choices open. A tag is the hash's top byte and never 0, which marks an empty slot.
 * The lower of an element's two buckets, which are known without its key, selects its counter. Counters also
 * change with inserts and erases, as in the authors' source, so that a reader never pairs a key with another
 * key's location. A search for a path enters no bucket twice. A new element goes to its primary bucket if
 * that has an empty slot. An element for which no path is found is dropped, and nothing else is.
 *
 * Not modelled: CLOCK's bit of each slot, memcached's slabs, and keys compared behind a pointer.
 *
 * Threads: any number of threads search at the same time as one thread at a time inserts or erases. A reader
 * finds each element that is there all the time, with a location that belonged to it. */
#ifndef KVC_KERNELS_BASELINES_MEMC3_H
#define KVC_KERNELS_BASELINES_MEMC3_H

#include <stdint.h>

#include "kernels/baselines/accesses.h"
#include "kernels/index.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Shape of a bucket and published limits. */
enum {
    KVC_MEMC3_SLOTS = 4,           /**< Slots of a bucket. */
    KVC_MEMC3_BUCKET_BYTES = 64,   /**< Size of a bucket [bytes]. */
    KVC_MEMC3_PATHS = 2,           /**< Default number of paths. */
    KVC_MEMC3_DISPLACEMENTS = 500, /**< Limit of displacements, as published. */
};

/** Parameters of a table. */
struct kvc_memc3_params {
    /** Size of the table, a power of two, 64 bytes to 64 GiB; 1 GiB holds 2^26 elements [bytes]. */
    uint64_t bytes;
    uint32_t paths; /**< Paths that an insert searches in turn, 1 to 8; 0: 2. */
    /** Elements that an insert considers for a move, on all paths together, 0 to 1000. */
    uint32_t max_displacements;
    uint64_t seed; /**< Seed of the random choice among them. */
};

/** Counts of a table, in 64-byte accesses to buckets. An operation reads each line that it touches once, and
 * writes it once if it changes. A search reads its search_lines and writes nothing. The version counters, 32
 * KiB in the processor's cache, are not counted. */
struct kvc_memc3_counts {
    struct kvc_memory_accesses insert; /**< Accesses of inserts since the table was created. */
    struct kvc_memory_accesses erase;  /**< Accesses of erases since the table was created. */
};

/** Creates an empty table, in huge pages if the system has them. Returns NULL with errno EINVAL (bad
 * parameters) or ENOMEM. */
struct kvc_index *kvc_memc3_create(const struct kvc_memc3_params *params);

/** Returns the counts of an index that kvc_memc3_create has made. Only the thread that inserts may call this.
 */
struct kvc_memc3_counts kvc_memc3_counts(const struct kvc_index *index);

/** The table as an index kind, with the published limits. */
extern const struct kvc_index_kind kvc_memc3_kind;

#ifdef __cplusplus
}
#endif

#endif

/* MemC3's optimistic cuckoo table: 4-way buckets, moves without keys, readers without locks.
 *
 * Source: Fan, Andersen, Kaminsky, "MemC3", NSDI 2013, sec. 3; as the baseline of KV-Direct (SOSP 2017,
 * sec. 5.1.1, Fig. 11), that is with keys inline and values elsewhere. What the papers say and this table
 * does:
 *  - a bucket has 4 slots, each with a 1-byte tag; the alternate bucket of an element is its bucket XOR a
 *    hash of its tag, so that an element can move without its key being hashed;
 *  - an insert that meets two full buckets first looks for a cuckoo path, a chain of elements each of which
 *    can take the next one's place, down to an empty slot, and changes nothing meanwhile; several paths are
 *    searched in turns, so that their reads overlap, up to a number of displacements in all;
 *  - elements then move from the path's far end back, so that none is ever absent;
 *  - 8192 version counters, each shared by many elements, are odd while one of their elements moves. A
 *    reader whose counter was odd or has changed looks again.
 * A bucket is one 64-byte line: 4 keys of 8 bytes, here the hash itself, 4 locations, 4 tags. 500
 * displacements are the paper's; of the numbers of paths that its authors' sources have, two are taken.
 *
 * Choices where the paper is silent: a tag is the hash's top byte and never 0, which marks an empty slot; the
 * counter of an element is chosen by the lower of its two buckets, which are known without its key; counters
 * also change with inserts and erases, as in the authors' source, so that a reader never pairs a key with
 * another's location; a search for a path enters no bucket twice; a new element goes to its primary bucket if
 * that has an empty slot. An element for which no path is found is dropped, and nothing else is.
 *
 * Not modelled: CLOCK's bit of each slot, memcached's slabs, keys compared behind a pointer.
 *
 * Threads: any number of concurrent searches, and one inserting or erasing thread at a time. A reader finds
 * each element that is there all the time, with a location that was its own. */
#ifndef KVC_KERNELS_BASELINES_MEMC3_H
#define KVC_KERNELS_BASELINES_MEMC3_H

#include <stdint.h>

#include "kernels/baselines/accesses.h"
#include "kernels/index.h"

enum {
    KVC_MEMC3_SLOTS = 4, /* of a bucket */
    KVC_MEMC3_BUCKET_BYTES = 64,
    KVC_MEMC3_PATHS = 2,           /* unless asked otherwise */
    KVC_MEMC3_DISPLACEMENTS = 500, /* as published */
};

struct kvc_memc3_params {
    uint64_t bytes;             /* table size, power of two, 64 B .. 64 GiB; 1 GiB holds 2^26 elements */
    uint32_t paths;             /* searched in turns, 1 .. 8; 0: 2 */
    uint32_t max_displacements; /* elements that an insert considers for a move, on all paths, 0 .. 1000 */
    uint64_t seed;              /* of the random choice among them */
};

/* 64-byte accesses to buckets: each line that an operation touches is read once, and written once if it
 * changes. The version counters (32 KiB, in the processor's cache) are not in it. */
struct kvc_memc3_counts {
    struct kvc_memory_accesses insert, erase; /* a search reads its search_lines and writes none */
};

/* NULL with errno EINVAL (params) or ENOMEM. Memory uses huge pages where the system has them. */
struct kvc_index *kvc_memc3_create(const struct kvc_memc3_params *params);

/* What was counted since an index of kvc_memc3_create was made; for the thread that inserts. */
struct kvc_memc3_counts kvc_memc3_counts(const struct kvc_index *index);

extern const struct kvc_index_kind kvc_memc3_kind;

#endif

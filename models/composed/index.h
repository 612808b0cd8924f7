/* The kinds of index that a composed store may have: their room, and what their operations touch. */
#ifndef KVC_MODELS_COMPOSED_INDEX_H
#define KVC_MODELS_COMPOSED_INDEX_H

#include <stddef.h>

#include "kernels/index.h"

/* Smallest index that every kind can have [bytes]. */
enum { KVC_COMPOSED_INDEX_LEAST = 65536 };

/* Returns the kind of index with this number in system.index.kernel; NULL for none. */
const struct kvc_index_kind *kvc_composed_index_kind(int kernel);

/* Lists the names of the kernels whose indexes hold values. */
void kvc_composed_pair_kernels(char *text, size_t size);

/* The following take the sizes of the pairs of an index that holds values; NULL: it holds none. */

/* Returns the keys that an index of this size has room for. */
double kvc_composed_index_slots(const struct kvc_index_kind *kind, const struct kvc_index_pairs *pairs,
                                double bytes);

/* Returns the smallest power of two of bytes that `keys` keys fill to nine tenths at most. */
double kvc_composed_index_bytes(const struct kvc_index_kind *kind, const struct kvc_index_pairs *pairs,
                                double keys);

/* Mean 64-byte lines that operations touch in an index, and what it keeps. */
struct kvc_composed_lines {
    double kept;      /* Share of the keys that it still has, 0 to 1: a bucket may have no room for one. */
    double hit, miss; /* Of a search that finds its key, and of one that does not. */
    double insert;    /* Of an insert of a key that the index has. */
    double erase;
    double hit_next, insert_next, erase_next; /* These lines follow another one in memory. */
};

/* Returns these means for an index that is filled to load_frac of its room: those of the real code in a
 * small index. The calling thread keeps them. */
struct kvc_composed_lines kvc_composed_index_lines(const struct kvc_index_kind *kind,
                                                   const struct kvc_index_pairs *pairs, double load_frac);

#endif

/* A slab store filled with 8-byte keys, for tests. */
#ifndef KVC_KERNELS_MEGAKV_SLAB_FIXTURE_H
#define KVC_KERNELS_MEGAKV_SLAB_FIXTURE_H

#include "kernels/megakv/slab.h"

static const uint64_t hash_seed = 77; /* of the stores that create_slab() makes */

struct kvc_megakv_slab *create_slab(uint64_t bytes);

/* Stores keys first to first + count - 1 of 8 bytes each, with their complements as values. */
void store_words(struct kvc_megakv_slab *slab, uint64_t first, uint32_t count, uint32_t *location,
                 struct kvc_megakv_slab_evicted *evicted, uint32_t *evicted_count,
                 struct kvc_megakv_slab_stats *stats);

/* Reads one item into `out`, which has room for any value. */
enum kvc_megakv_slab_read_result read_single(struct kvc_megakv_slab *slab, uint32_t location, const void *key,
                                             uint32_t key_bytes, bool compare, uint8_t *out,
                                             uint32_t *value_bytes, struct kvc_megakv_slab_stats *stats);

/* Reads one item with a key and a value of 8 bytes each. */
enum kvc_megakv_slab_read_result read_word(struct kvc_megakv_slab *slab, uint32_t location, uint64_t key,
                                           uint64_t *value, struct kvc_megakv_slab_stats *stats);

#endif

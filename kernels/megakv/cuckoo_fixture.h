/* Calls of a cuckoo index with one key, for tests. */
#ifndef KVC_KERNELS_MEGAKV_CUCKOO_FIXTURE_H
#define KVC_KERNELS_MEGAKV_CUCKOO_FIXTURE_H

#include "kernels/megakv/cuckoo.h"

/* Returns a hash with this primary bucket and this signature. */
uint64_t hash_of(uint32_t bucket, uint32_t signature);

/* Creates a table of the published geometry, with a fixed seed. */
struct kvc_index *create_cuckoo(uint64_t bytes, uint32_t max_displacements);

/* Each returns what the call writes for the key. */
uint32_t insert(struct kvc_index *table, uint64_t hash, uint32_t location, struct kvc_index_stats *stats);
uint32_t search(struct kvc_index *table, uint64_t hash, struct kvc_index_stats *stats);
uint32_t erase(struct kvc_index *table, uint64_t hash, uint32_t location, struct kvc_index_stats *stats);

#endif

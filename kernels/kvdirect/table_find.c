#include "kernels/kvdirect/table_find.h"

#include <string.h>

bool kvc_kvdirect_table_find_in_slabs(const struct kvc_kvdirect_table *table,
                                      struct kvc_kvdirect_bucket *bucket,
                                      const struct kvc_kvdirect_bucket_meta *meta,
                                      const struct kvc_kvdirect_key *key, struct kvc_kvdirect_place *place,
                                      struct kvc_kvdirect_table_counts *counts, uint64_t *false_matches)
{
    uint32_t equal = kvc_kvdirect_bucket_match_pointers(bucket, meta, kvc_kvdirect_secondary_of(key->hash));
    for (; equal != 0; equal &= equal - 1) {
        unsigned slot = (unsigned)__builtin_ctz(equal);
        uint32_t granule = kvc_kvdirect_bucket_pointer_at(bucket, slot);
        unsigned type = kvc_kvdirect_bucket_slab_type_at(meta, slot);
        uint8_t *slab = kvc_kvdirect_slab_at(table, granule);
        uint32_t used = kvc_kvdirect_slab_bytes(type) - slab[1];
        kvc_kvdirect_note(table, slab, kvc_kvdirect_slab_bytes(type), false);
        counts->slab_reads++;
        counts->slab_lines_read += kvc_kvdirect_lines_of(used);
        counts->lines += kvc_kvdirect_lines_of(used);
        uint8_t *pair = slab + KVC_KVDIRECT_TABLE_HEADER_BYTES;
        if (slab[0] == key->size && memcmp(pair, key->bytes, key->size) == 0) {
            place->slot = slot;
            place->slots = 1;
            place->value_bytes = used - KVC_KVDIRECT_TABLE_HEADER_BYTES - key->size;
            place->value = pair + key->size;
            place->granule = granule;
            place->type = type;
            return true;
        }
        ++*false_matches;
    }
    return false;
}

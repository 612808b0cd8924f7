#include "kernels/megakv/cuckoo_fixture.h"

#include <criterion/criterion.h>

uint64_t hash_of(uint32_t bucket, uint32_t signature)
{
    return (uint64_t)signature << 32 | bucket;
}

struct kvc_index *create_cuckoo(uint64_t bytes, uint32_t max_displacements)
{
    struct kvc_index *table = kvc_megakv_cuckoo_create(&(struct kvc_megakv_cuckoo_params){
        .bytes = bytes, .max_displacements = max_displacements, .seed = 42});
    cr_assert_not_null(table);
    return table;
}

uint32_t insert(struct kvc_index *table, uint64_t hash, uint32_t location, struct kvc_index_stats *stats)
{
    uint32_t out;
    kvc_index_insert(table, &hash, &location, 1, &out, stats);
    return out;
}

uint32_t search(struct kvc_index *table, uint64_t hash, struct kvc_index_stats *stats)
{
    uint32_t location;
    kvc_index_search(table, &hash, 1, &location, stats);
    return location;
}

uint32_t erase(struct kvc_index *table, uint64_t hash, uint32_t location, struct kvc_index_stats *stats)
{
    uint32_t out;
    kvc_index_erase(table, &hash, &location, 1, &out, stats);
    return out;
}

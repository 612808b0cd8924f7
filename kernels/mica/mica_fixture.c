#include "kernels/mica/mica_fixture.h"

#include <criterion/criterion.h>

static const uint64_t random_step = 0x9e3779b97f4a7c15;

void random_rewind(uint32_t words)
{
    random_state -= words * random_step;
}

struct kvc_mica *create(uint32_t partitions, uint32_t buckets, uint32_t entries, uint64_t log_bytes,
                        uint32_t offset_bits)
{
    struct kvc_mica *store = kvc_mica_create(&(struct kvc_mica_params){.partitions = partitions,
                                                                       .buckets = buckets,
                                                                       .entries = entries,
                                                                       .log_bytes = log_bytes,
                                                                       .offset_bits = offset_bits,
                                                                       .seed = 3});
    cr_assert_not_null(store);
    return store;
}

enum kvc_mica_outcome set(struct kvc_mica *store, const void *key, uint8_t key_bytes, const void *data,
                          uint32_t bytes, struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    uint8_t outcome = 99;
    kvc_mica_set(store, &(struct kvc_mica_keys){key, &zero, &key_bytes, NULL},
                 &(struct kvc_mica_value){data, bytes}, 1, &outcome, stats);
    return (enum kvc_mica_outcome)outcome;
}

uint32_t get(struct kvc_mica *store, const void *key, uint8_t key_bytes, void *data, uint32_t room,
             struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    struct kvc_mica_buffer buffer = {data, room, 1};
    kvc_mica_get(store, &(struct kvc_mica_keys){key, &zero, &key_bytes, NULL}, 1, &buffer, stats);
    return buffer.bytes;
}

bool erase(struct kvc_mica *store, const void *key, uint8_t key_bytes, struct kvc_index_stats *stats)
{
    uint32_t zero = 0;
    bool erased;
    kvc_mica_delete(store, &(struct kvc_mica_keys){key, &zero, &key_bytes, NULL}, 1, &erased, stats);
    return erased;
}

uint32_t get_hash(struct kvc_mica *store, uint64_t hash)
{
    struct kvc_index_stats stats = {0};
    uint32_t found;
    kvc_index_search(kvc_mica_index(store), &hash, 1, &found, &stats);
    return found;
}

uint32_t put_hash(struct kvc_mica *store, uint64_t hash, uint32_t location, struct kvc_index_stats *stats)
{
    uint32_t out;
    kvc_index_insert(kvc_mica_index(store), &hash, &location, 1, &out, stats);
    return out;
}

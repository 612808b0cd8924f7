#include "kernels/peers/megakv.hh"

#include <cstring>

extern "C" {
#include "kernels/hash.h"
}

namespace kvc::peers
{

megakv_table::megakv_table(uint64_t slots)
{
    struct kvc_megakv_cuckoo_params params = {};
    params.bytes = slots * 8;
    params.max_displacements = 200;
    index_ = kvc_megakv_cuckoo_create(&params);
    slab_ = kvc_megakv_slab_create(slots * 32, hash_seed);
    if (index_ == nullptr || slab_ == nullptr) {
        kvc_bench_die("out of memory");
    }
    std::memset(key_bytes_, 8, sizeof(key_bytes_));
    reads_.key_stride = 8;
    reads_.key_bytes = key_bytes_;
    reads_.compare = true;
    reads_.out_bytes = batch_max * 8;
}

megakv_table::~megakv_table()
{
    kvc_index_free(index_);
    kvc_megakv_slab_free(slab_);
}

void megakv_table::insert(const uint64_t *key, uint32_t count)
{
    uint32_t location[batch_max], left[batch_max], evicted_count;
    struct kvc_megakv_slab_evicted evicted[batch_max];
    hash(key, count);
    if (kvc_megakv_slab_alloc(slab_, 8, 8, count, location, evicted, &evicted_count, &slab_stats_) != count) {
        kvc_bench_die("the slab store is too small");
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = value_of(key[i]);
        kvc_megakv_slab_write(slab_, location[i], &key[i], 8, &value, 8, &slab_stats_);
    }
    kvc_index_insert(index_, hash_, location, count, left, &stats_);
    for (uint32_t i = 0; i < count; i++) {
        if (left[i] != KVC_LOCATION_NONE) {
            kvc_megakv_slab_release(slab_, left[i]);
        }
    }
}

void megakv_table::set(const uint64_t *key, uint32_t count)
{
    insert(key, count);
}

void megakv_table::set_and_get(const uint64_t *key, uint32_t sets, uint32_t count, uint64_t *value)
{
    uint32_t location[batch_max];
    uint64_t old_and_found[batch_max];
    get_at(key, count, old_and_found, location);
    for (uint32_t i = 0; i < sets; i++) {
        uint64_t next = value_of(key[i]);
        if (!kvc_megakv_slab_rewrite(slab_, location[i], &key[i], 8, &next, 8, &slab_stats_)) {
            set(&key[i], 1);
        }
    }
    std::memcpy(value, old_and_found + sets, (count - sets) * sizeof(*value));
}

void megakv_table::get(const uint64_t *key, uint32_t count, uint64_t *value)
{
    uint32_t location[batch_max];
    get_at(key, count, value, location);
}

void megakv_table::search(const uint64_t *key, uint32_t count)
{
    uint32_t location[batch_max];
    hash(key, count);
    kvc_index_search(index_, hash_, count, location, &stats_);
}

double megakv_table::lines_per_search() const
{
    return static_cast<double>(stats_.search_lines) / static_cast<double>(stats_.searches);
}

void megakv_table::get_at(const uint64_t *key, uint32_t count, uint64_t *value, uint32_t *location)
{
    uint32_t position = 0;
    uint8_t result[batch_max];
    hash(key, count);
    kvc_index_search(index_, hash_, count, location, &stats_);
    /* The constant fields are already set: initialising all of them would make a batch of one expensive. */
    reads_.count = count;
    reads_.location = location;
    reads_.keys = reinterpret_cast<const uint8_t *>(key);
    reads_.out = reinterpret_cast<uint8_t *>(value);
    reads_.out_position = &position;
    reads_.result = result;
    kvc_megakv_slab_read(slab_, &reads_, &slab_stats_);
}

void megakv_table::hash(const uint64_t *key, uint32_t count)
{
    kvc_hash_batch(reinterpret_cast<const uint8_t *>(key), 8, key_bytes_, count, hash_seed, hash_);
}

} // namespace kvc::peers

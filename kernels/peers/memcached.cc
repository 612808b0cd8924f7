#include "kernels/peers/peers.hh"

#include <cstring>

extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* functions and structs share names, as they may in C */
#include "kernels/memcachedgpu/chained.h"
#pragma GCC diagnostic pop
}

namespace kvc::peers
{

namespace
{

/* memcached's chained table with 1.5 elements to a bucket, at which memcached would grow it. No element is
 * old enough to be moved to the front of the LRU queue. The 8 bytes that it stores with the key are the
 * value. */
class memcached_table : public table
{
  public:
    explicit memcached_table(uint64_t slots)
    {
        struct kvc_chained_params params = {};
        params.buckets = static_cast<uint32_t>(slots / 2);
        params.capacity = static_cast<uint32_t>(slots / 4 * 3);
        params.key_bytes_max = 8;
        params.bump_after = 2 * batch_max;
        table_ = kvc_chained_create(&params);
        if (table_ == nullptr) {
            kvc_bench_die("out of memory");
        }
        for (uint32_t i = 0; i < batch_max; i++) {
            offset_[i] = i * 8;
        }
        std::memset(key_bytes_, 8, sizeof(key_bytes_));
    }

    ~memcached_table() override
    {
        kvc_chained_free(table_);
    }

    void insert(const uint64_t *key, uint32_t count) override
    {
        struct kvc_set_assoc_item items[batch_max];
        struct kvc_set_assoc_keys keys = {reinterpret_cast<const uint8_t *>(key), offset_, key_bytes_};
        for (uint32_t i = 0; i < count; i++) {
            uint64_t value = value_of(key[i]);
            items[i].location = static_cast<uint32_t>(value & 0x7fffffff);
            items[i].value_bytes = static_cast<uint32_t>(value >> 32);
            items[i].stamp = 0;
            items[i].flags = static_cast<uint16_t>(value >> 31 & 1);
        }
        kvc_table_insert(&table_->base, &keys, items, count, 0, nullptr, &stats_);
    }

    void set(const uint64_t *key, uint32_t count) override
    {
        insert(key, count);
    }

    void get(const uint64_t *key, uint32_t count, uint64_t *value) override
    {
        struct kvc_set_assoc_item items[batch_max];
        struct kvc_set_assoc_keys keys = {reinterpret_cast<const uint8_t *>(key), offset_, key_bytes_};
        kvc_table_search(&table_->base, &keys, count, batch_max, items, &stats_);
        for (uint32_t i = 0; i < count; i++) {
            value[i] = static_cast<uint64_t>(items[i].value_bytes) << 32 |
                       static_cast<uint64_t>(items[i].flags) << 31 | items[i].location;
        }
    }

  private:
    struct kvc_chained *table_;
    struct kvc_index_stats stats_ = {};
    uint32_t offset_[batch_max];
    uint8_t key_bytes_[batch_max];
};

} // namespace

std::unique_ptr<table> create_memcached(uint64_t slots)
{
    return std::make_unique<memcached_table>(slots);
}

} // namespace kvc::peers

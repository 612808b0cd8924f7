#include "kernels/peers/peers.hh"

#include <cstring>

extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* functions and structs share names, as they may in C */
#include "kernels/mica/mica.h"
#pragma GCC diagnostic pop
}

namespace kvc::peers
{

namespace
{

/* One partition with as many entries as our index has slots, and room for every item in the log. A bucket
 * that overflows forgets a key. */
class mica_table : public table
{
  public:
    explicit mica_table(uint64_t slots)
    {
        struct kvc_mica_params params = {};
        params.buckets = static_cast<uint32_t>(slots / KVC_MICA_ENTRIES);
        params.log_bytes = slots * 32;
        params.seed = hash_seed;
        store_ = kvc_mica_create(&params);
        if (store_ == nullptr) {
            kvc_bench_die("out of memory");
        }
        for (uint32_t i = 0; i < batch_max; i++) {
            offset_[i] = i * 8;
        }
        std::memset(key_bytes_, 8, sizeof(key_bytes_));
    }

    ~mica_table() override
    {
        kvc_mica_free(store_);
    }

    void insert(const uint64_t *key, uint32_t count) override
    {
        uint64_t value[batch_max];
        struct kvc_mica_value values[batch_max];
        struct kvc_mica_keys keys = {reinterpret_cast<const uint8_t *>(key), offset_, key_bytes_, nullptr};
        for (uint32_t i = 0; i < count; i++) {
            value[i] = value_of(key[i]);
            values[i] = {&value[i], 8};
        }
        kvc_mica_set(store_, &keys, values, count, nullptr, &stats_);
    }

    void set(const uint64_t *key, uint32_t count) override
    {
        insert(key, count);
    }

    void get(const uint64_t *key, uint32_t count, uint64_t *value) override
    {
        struct kvc_mica_buffer buffers[batch_max];
        struct kvc_mica_keys keys = {reinterpret_cast<const uint8_t *>(key), offset_, key_bytes_, nullptr};
        for (uint32_t i = 0; i < count; i++) {
            buffers[i] = {&value[i], 8, 0};
        }
        kvc_mica_get(store_, &keys, count, buffers, &stats_);
    }

  private:
    struct kvc_mica *store_;
    struct kvc_index_stats stats_ = {};
    uint32_t offset_[batch_max];
    uint8_t key_bytes_[batch_max];
};

} // namespace

std::unique_ptr<table> create_mica(uint64_t slots)
{
    return std::make_unique<mica_table>(slots);
}

} // namespace kvc::peers

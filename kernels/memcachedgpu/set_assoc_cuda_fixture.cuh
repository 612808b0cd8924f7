/* Keys, items and tables for the GPU tests of the set-associative table and of the GET kernel. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_CUDA_FIXTURE_CUH
#define KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_CUDA_FIXTURE_CUH

#include <cstring>
#include <string>
#include <vector>

#include "kernels/cuda_bench.cuh"
#include "kernels/hash.h"
#include "kernels/memcachedgpu/set_assoc_cuda.h"

namespace fixture
{

inline void expect(bool right, const char *what)
{
    if (!right) {
        kvc::die(what);
    }
}

struct random_source {
    uint64_t state;
    uint64_t next()
    {
        return kvc_mix_64(state += 0x9e3779b97f4a7c15u);
    }
    uint32_t below(uint32_t end)
    {
        return static_cast<uint32_t>(next() % end);
    }
};

template <typename T> T *to_device(const std::vector<T> &host)
{
    T *device = kvc::device_array<T>(host.size() + 16); /* room for reads of whole words */
    kvc::check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy in");
    return device;
}

template <typename T> std::vector<T> to_host(const T *device, size_t count)
{
    std::vector<T> host(count);
    kvc::check(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), "copy out");
    return host;
}

/* Returns key number `id`, a text whose length and bytes depend on nothing else. */
inline std::string key_of(uint32_t id, uint32_t longest)
{
    std::string key = std::to_string(id) + ":";
    key.resize(std::max<size_t>(std::min<size_t>(key.size(), longest), 1 + id % longest), 'x');
    return key;
}

inline struct kvc_set_assoc_item item_of(uint32_t id)
{
    struct kvc_set_assoc_item item = {id * 3, id % 10 == 9 ? 1000000 : id % 1000, 0,
                                      static_cast<uint16_t>(id * 131)};
    return item;
}

inline struct kvc_set_assoc_params params_of(uint32_t sets, uint32_t ways, uint32_t key_bytes_max,
                                             bool shared_lock)
{
    struct kvc_set_assoc_params params = {sets, ways, key_bytes_max, shared_lock};
    return params;
}

inline struct kvc_set_assoc *create_cpu(const struct kvc_set_assoc_params &params)
{
    struct kvc_set_assoc *table = kvc_set_assoc_create(&params);
    expect(table != nullptr, "create on the CPU");
    return table;
}

/* Keys of a batch, for the host and for the device. */
struct key_batch {
    std::vector<uint8_t> text;
    std::vector<uint32_t> offset;
    std::vector<uint8_t> bytes;

    void add(const std::string &key)
    {
        offset.push_back(static_cast<uint32_t>(text.size()));
        bytes.push_back(static_cast<uint8_t>(key.size()));
        text.insert(text.end(), key.begin(), key.end());
    }
    struct kvc_set_assoc_keys host() const
    {
        return {text.data(), offset.data(), bytes.data()};
    }
    struct kvc_set_assoc_keys device() const
    {
        return {to_device(text), to_device(offset), to_device(bytes)};
    }
    uint32_t count() const
    {
        return static_cast<uint32_t>(offset.size());
    }
};

inline void free_keys(const struct kvc_set_assoc_keys &keys)
{
    kvc_cuda_free(const_cast<uint8_t *>(keys.keys));
    kvc_cuda_free(const_cast<uint32_t *>(keys.offset));
    kvc_cuda_free(const_cast<uint8_t *>(keys.bytes));
}

inline void expect_same_table(const struct kvc_index *device, const struct kvc_set_assoc *host,
                              const struct kvc_set_assoc_params &params, const char *what)
{
    struct kvc_set_assoc *copy = create_cpu(params);
    expect(kvc_set_assoc_cuda_download(device, copy), "download");
    size_t bytes = static_cast<size_t>(host->table.set_count) * host->table.set_bytes;
    expect(std::memcmp(copy->table.sets, host->table.sets, bytes) == 0, what);
    expect(copy->used == host->used, "elements held");
    kvc_set_assoc_free(copy);
}

} // namespace fixture

#endif

/* The interface of every table under test, and constants that all of them share. */
#ifndef KVC_KERNELS_PEERS_TABLE_HH
#define KVC_KERNELS_PEERS_TABLE_HH

#include <cstddef>
#include <cstdint>

#include "kernels/bench.h"
#include "kernels/hash.h"
#include "kernels/pages.h"

namespace kvc::peers
{

constexpr uint32_t batch_max = 256;
constexpr uint64_t hash_seed = 0x6b766361;

/* Returns the value that belongs to a key; never 0. */
inline uint64_t value_of(uint64_t key)
{
    return key * 0x9e3779b97f4a7c15u + 1;
}

/* A hash table with keys and values of 8 bytes. Operations come in batches of up to batch_max. */
class table
{
  public:
    virtual ~table() = default;
    /* Inserts keys with their values. */
    virtual void insert(const uint64_t *key, uint32_t count) = 0;
    /* Reads the values of keys that are present. */
    virtual void get(const uint64_t *key, uint32_t count, uint64_t *value) = 0;
    /* Writes the values of keys that are present again. */
    virtual void set(const uint64_t *key, uint32_t count) = 0;
    /* A mixed batch: the first `sets` keys are SETs, the others GETs with their values in `value`. */
    virtual void set_and_get(const uint64_t *key, uint32_t sets, uint32_t count, uint64_t *value)
    {
        set(key, sets);
        get(key + sets, count - sets, value);
    }
};

/* An allocator of huge pages for containers of C++ libraries. */
template <typename T> struct huge_pages {
    using value_type = T;
    huge_pages() = default;
    template <typename U> huge_pages(const huge_pages<U> &)
    {
    }
    T *allocate(size_t count)
    {
        return static_cast<T *>(kvc_bench_alloc(count * sizeof(T)));
    }
    void deallocate(T *memory, size_t count)
    {
        kvc_pages_free(memory, count * sizeof(T));
    }
    template <typename U> bool operator==(const huge_pages<U> &) const
    {
        return true;
    }
    template <typename U> bool operator!=(const huge_pages<U> &) const
    {
        return false;
    }
};

/* The hash function for containers of C++ libraries. */
struct mixing_hash {
    using is_avalanching = void;
    size_t operator()(uint64_t key) const
    {
        return kvc_mix_64(key);
    }
};

} // namespace kvc::peers

#endif

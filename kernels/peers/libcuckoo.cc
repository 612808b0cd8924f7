#include "kernels/peers/peers.hh"

#include <utility>

#include <libcuckoo/cuckoohash_map.hh>

namespace kvc::peers
{

namespace
{

/* One thread holds all locks for the whole run, so that locking costs nothing. */
class libcuckoo_unlocked : public table
{
    using map = libcuckoo::cuckoohash_map<uint64_t, uint64_t, mixing_hash, std::equal_to<uint64_t>,
                                          huge_pages<std::pair<const uint64_t, uint64_t>>>;

  public:
    explicit libcuckoo_unlocked(uint64_t slots) : map_(slots), locked_(map_.lock_table())
    {
    }

    void insert(const uint64_t *key, uint32_t count) override
    {
        for (uint32_t i = 0; i < count; i++) {
            locked_.insert(key[i], value_of(key[i]));
        }
    }

    void set(const uint64_t *key, uint32_t count) override
    {
        for (uint32_t i = 0; i < count; i++) {
            locked_.find(key[i])->second = value_of(key[i]);
        }
    }

    void get(const uint64_t *key, uint32_t count, uint64_t *value) override
    {
        for (uint32_t i = 0; i < count; i++) {
            value[i] = locked_.find(key[i])->second;
        }
    }

  private:
    map map_;
    map::locked_table locked_;
};

} // namespace

std::unique_ptr<table> create_libcuckoo(uint64_t slots)
{
    return std::make_unique<libcuckoo_unlocked>(slots);
}

} // namespace kvc::peers

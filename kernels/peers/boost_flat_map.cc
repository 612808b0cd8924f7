#include "kernels/peers/peers.hh"

#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

namespace kvc::peers
{

namespace
{

class boost_flat : public table
{
  public:
    explicit boost_flat(uint64_t slots)
    {
        map_.reserve(slots / 4 * 3);
    }

    void insert(const uint64_t *key, uint32_t count) override
    {
        for (uint32_t i = 0; i < count; i++) {
            map_.insert_or_assign(key[i], value_of(key[i]));
        }
    }

    void set(const uint64_t *key, uint32_t count) override
    {
        insert(key, count);
    }

    void get(const uint64_t *key, uint32_t count, uint64_t *value) override
    {
        for (uint32_t i = 0; i < count; i++) {
            value[i] = map_.find(key[i])->second;
        }
    }

  private:
    boost::unordered_flat_map<uint64_t, uint64_t, mixing_hash, std::equal_to<uint64_t>,
                              huge_pages<std::pair<const uint64_t, uint64_t>>>
        map_;
};

} // namespace

std::unique_ptr<table> create_boost_flat_map(uint64_t slots)
{
    return std::make_unique<boost_flat>(slots);
}

} // namespace kvc::peers

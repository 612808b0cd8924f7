/* Tests of the promises that every GPU index makes: nothing is lost without notice, and no answer belongs to
 * another key, even if keys repeat within a batch. The exit status is 0 on success and 77 if there is no
 * device. */
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/cuda_bench.cuh"
#include "kernels/hash.h"
#include "kernels/index_kinds.h"

namespace
{

constexpr uint64_t table_bytes = 1 << 18;
constexpr uint32_t batch_max = 3000, rounds = 120;

void expect(bool right, const struct kvc_index_kind &kind, const char *what)
{
    if (!right) {
        kvc::die((std::string(kind.name) + ": " + what).c_str());
    }
}

/* Maps the locations of all elements that are held to their hashes. */
using reference = std::unordered_map<uint32_t, uint64_t>;

void forget(const struct kvc_index_kind &kind, reference &held, const std::vector<uint32_t> &out)
{
    for (uint32_t location : out) {
        expect(location == KVC_LOCATION_NONE || held.erase(location) == 1, kind,
               "reports an element twice, or an element that it did not hold");
    }
}

/* Checks that every held element is found. A partial kind may return another key's element. */
void check_search(const struct kvc_index_kind &kind, struct kvc_index *index, const reference &held,
                  struct kvc_index_stats *stats)
{
    std::vector<uint64_t> hash;
    for (const auto &element : held) {
        hash.push_back(element.second);
    }
    std::vector<uint32_t> found(hash.size());
    kvc_index_search(index, hash.data(), static_cast<uint32_t>(hash.size()), found.data(), stats);
    uint64_t mistaken = 0;
    for (size_t i = 0; i < hash.size(); i++) {
        auto at = held.find(found[i]);
        expect(at != held.end(), kind, "loses an element, or finds an element that it gave up");
        mistaken += at->second != hash[i];
    }
    expect(kind.partial ? mistaken <= hash.size() / 1000 : mistaken == 0, kind,
           "finds another key's element");
    expect(kvc_index_used(index) == held.size(), kind, "miscounts its elements");
}

void test_kind(const struct kvc_index_kind &kind, uint64_t seed)
{
    struct kvc_index *index = kind.create(table_bytes, seed);
    expect(index != nullptr, kind, "is not created");
    uint64_t state = seed, universe = 2 * kvc_index_capacity(index);
    auto next = [&state] { return kvc_mix_64(state += 0x9e3779b97f4a7c15u); };
    struct kvc_index_stats stats = {};
    reference held;
    uint32_t serial = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t count = static_cast<uint32_t>(next() % (batch_max + 1));
        std::vector<uint64_t> hash(count);
        std::vector<uint32_t> location(count), out(count);
        bool erases = round % 4 == 3;
        for (uint32_t i = 0; i < count; i++) {
            hash[i] = kvc_mix_64(next() % universe + 1);
            location[i] = erases ? KVC_LOCATION_ANY : serial++;
        }
        if (erases) {
            kvc_index_erase(index, hash.data(), location.data(), count, out.data(), &stats);
        } else {
            kvc_index_insert(index, hash.data(), location.data(), count, out.data(), &stats);
            for (uint32_t i = 0; i < count; i++) {
                held[location[i]] = hash[i];
            }
        }
        forget(kind, held, out);
        check_search(kind, index, held, &stats);
    }
    expect(stats.replaced > 0 && stats.erased > 0 && stats.dropped + stats.evicted > 0, kind,
           "was not brought to its limits");
    kvc_index_free(index);
}

} // namespace

int main()
{
    kvc::need_device();
    for (uint32_t k = 0; kvc_cuda_index_kinds[k] != nullptr; k++) {
        test_kind(*kvc_cuda_index_kinds[k], 1 + k);
        std::printf("%s: ok\n", kvc_cuda_index_kinds[k]->name);
    }
    return 0;
}

/* Tests the GPU twin of the cuckoo index against a plain map and against the CPU's table. Exit status 0 means
 * success, 77 means that there is no device. */
#include <cerrno>
#include <cstring>
#include <unordered_map>

#include "kernels/cuda_bench.cuh"
#include "kernels/hash.h"
#include "kernels/megakv/cuckoo_cuda.h"

namespace
{

struct random_source {
    uint64_t state;
    uint64_t next()
    {
        return kvc_mix_64(state += 0x9e3779b97f4a7c15u);
    }
};

struct kvc_megakv_cuckoo_params params_of(uint64_t bytes, enum kvc_megakv_cuckoo_layout layout,
                                          uint32_t slots, uint32_t threads, uint32_t partitions)
{
    struct kvc_megakv_cuckoo_params params = {};
    params.bytes = bytes;
    params.layout = layout;
    params.slots = slots;
    params.threads = threads;
    params.partitions = partitions;
    params.max_displacements = 200;
    return params;
}

struct kvc_index *create(const struct kvc_megakv_cuckoo_params &params)
{
    struct kvc_index *index = kvc_megakv_cuckoo_cuda_create(&params);
    if (index == nullptr) {
        std::perror("create");
        std::exit(3);
    }
    return index;
}

void expect(bool right, const char *what)
{
    if (!right) {
        kvc::die(what);
    }
}

using location_map = std::unordered_map<uint64_t, uint32_t>; /* hash -> location */

/* Random keys of one batch, each with a location and the call's result. */
struct key_batch {
    uint32_t count;
    std::vector<uint64_t> hash;
    std::vector<uint32_t> location, out;
};

void compare_erases(struct kvc_index *index, location_map &map, key_batch &batch, random_source &random,
                    struct kvc_index_stats &stats)
{
    for (uint32_t i = 0; i < batch.count; i++) {
        auto at = map.find(batch.hash[i]);
        batch.location[i] = random.next() % 4 == 0                      ? KVC_LOCATION_ANY
                            : at != map.end() && random.next() % 4 != 0 ? at->second
                                                                        : 7;
    }
    kvc_index_erase(index, batch.hash.data(), batch.location.data(), batch.count, batch.out.data(), &stats);
    for (uint32_t i = 0; i < batch.count; i++) {
        auto at = map.find(batch.hash[i]);
        if (batch.out[i] != KVC_LOCATION_NONE) {
            expect(at != map.end() && at->second == batch.out[i], "a location was erased that was not there");
            expect(batch.location[i] == batch.out[i] || batch.location[i] == KVC_LOCATION_ANY,
                   "another location was erased");
            map.erase(at);
        }
    }
    for (uint32_t i = 0; i < batch.count; i++) {
        auto at = map.find(batch.hash[i]);
        expect(at == map.end() || (batch.location[i] != at->second && batch.location[i] != KVC_LOCATION_ANY),
               "a location was not erased");
    }
}

void compare_inserts(struct kvc_index *index, location_map &map, key_batch &batch,
                     struct kvc_index_stats &stats)
{
    std::unordered_map<uint32_t, uint64_t> alive; /* location -> hash, for the keys of this batch */
    kvc_index_insert(index, batch.hash.data(), batch.location.data(), batch.count, batch.out.data(), &stats);
    for (uint32_t i = 0; i < batch.count; i++) {
        auto at = map.find(batch.hash[i]);
        if (at != map.end()) {
            alive[at->second] = batch.hash[i];
        }
        alive[batch.location[i]] = batch.hash[i];
    }
    for (uint32_t i = 0; i < batch.count; i++) {
        expect(batch.out[i] == KVC_LOCATION_NONE || alive.erase(batch.out[i]) == 1,
               "a location was reported twice, or is not one of this batch");
    }
    for (auto &one : alive) {
        map[one.second] = one.first;
    }
    for (uint32_t i = 0; i < batch.count; i++) {
        auto at = map.find(batch.hash[i]);
        if (at != map.end() && alive.find(at->second) == alive.end()) {
            map.erase(at); /* all locations of this key were reported as dropped */
        }
    }
    std::unordered_map<uint64_t, int> copies;
    for (auto &one : alive) {
        expect(++copies[one.second] == 1, "two locations of one key are left in the table");
    }
}

/* Compares random batches, in which keys may occur several times, with a map. Any of several equal keys in a
 * batch may win, but every location is either in the table or reported. */
void test_random_batches(const struct kvc_megakv_cuckoo_params &params, uint32_t universe,
                         random_source random)
{
    struct kvc_index *index = create(params);
    location_map map;
    std::vector<uint64_t> keys(universe);
    struct kvc_index_stats stats = {};
    uint32_t next_location = 1;
    for (uint64_t &key : keys) {
        key = random.next();
    }
    for (int round = 0; round < 24; round++) {
        uint32_t count = static_cast<uint32_t>(random.next() % 3000);
        key_batch batch = {count, std::vector<uint64_t>(count), std::vector<uint32_t>(count),
                           std::vector<uint32_t>(count, 12345)};
        for (uint32_t i = 0; i < count; i++) {
            batch.hash[i] = keys[random.next() % universe];
            batch.location[i] = next_location++;
        }
        if (round % 3 == 2) {
            compare_erases(index, map, batch, random, stats);
        } else {
            compare_inserts(index, map, batch, stats);
        }
        expect(kvc_index_used(index) == map.size(), "used() differs from the size of the map");
        std::vector<uint32_t> found(universe);
        kvc_index_search(index, keys.data(), universe, found.data(), &stats);
        for (uint32_t i = 0; i < universe; i++) {
            auto at = map.find(keys[i]);
            expect(found[i] == (at == map.end() ? KVC_LOCATION_NONE : at->second),
                   "search differs from the map");
        }
    }
    kvc_index_free(index);
}

/* Inserts distinct keys in one call up to a load of `load`. With `lossless`, no key may be lost; without,
 * some keys must be lost, and all of them reported. */
void test_fill(const struct kvc_megakv_cuckoo_params &params, double load, bool lossless,
               random_source random)
{
    struct kvc_index *index = create(params);
    uint32_t count = static_cast<uint32_t>(load * static_cast<double>(params.bytes / 8));
    std::vector<uint64_t> hash(count);
    std::vector<uint32_t> location(count), out(count), found(count);
    struct kvc_index_stats stats = {};
    for (uint32_t i = 0; i < count; i++) {
        hash[i] = random.next();
        location[i] = i;
    }
    kvc_index_insert(index, hash.data(), location.data(), count, out.data(), &stats);
    kvc_index_search(index, hash.data(), count, found.data(), &stats);
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < count; i++) {
        expect(out[i] == KVC_LOCATION_NONE || out[i] == i,
               "an insert of new keys reported another's location");
        expect(found[i] == (out[i] == i ? KVC_LOCATION_NONE : i),
               "an inserted key that was not reported is not found");
        dropped += out[i] == i;
    }
    expect(dropped == stats.dropped, "drops are not counted");
    expect(kvc_index_used(index) + dropped == count, "used() after a fill");
    expect(!lossless || dropped == 0, "elements were dropped at a load that the design holds");
    expect(lossless || dropped > 0, "an overfull table dropped nothing");
    kvc_index_erase(index, hash.data(), location.data(), count, out.data(), &stats);
    expect(stats.erased + dropped == count && kvc_index_used(index) == 0, "erasing all");
    kvc_index_free(index);
}

/* Makes the same calls on both twins, with distinct keys in each call, and expects the same answers. */
void test_twins(struct kvc_megakv_cuckoo_params params, random_source random)
{
    struct kvc_index *device = create(params);
    params.threads = 0;
    struct kvc_index *host = kvc_megakv_cuckoo_create(&params);
    uint32_t count = static_cast<uint32_t>(params.bytes / 8 * 8 / 10);
    std::vector<uint64_t> hash(2 * count);
    std::vector<uint32_t> location(2 * count), left(2 * count), right(2 * count);
    struct kvc_index_stats host_stats = {}, device_stats = {};
    expect(host != nullptr, "the CPU twin was not created");
    for (uint32_t i = 0; i < 2 * count; i++) {
        hash[i] = random.next();
        location[i] = i;
    }
    for (int round = 0; round < 3; round++) {
        kvc_index_insert(host, hash.data(), location.data(), count, left.data(), &host_stats);
        kvc_index_insert(device, hash.data(), location.data(), count, right.data(), &device_stats);
        expect(std::memcmp(left.data(), right.data(), count * 4) == 0,
               "the twins' inserts report differently");
        kvc_index_erase(host, hash.data() + count / 2, location.data() + count / 2, count, left.data(),
                        &host_stats);
        kvc_index_erase(device, hash.data() + count / 2, location.data() + count / 2, count, right.data(),
                        &device_stats);
        expect(std::memcmp(left.data(), right.data(), count * 4) == 0,
               "the twins' erasures report differently");
        kvc_index_search(host, hash.data(), 2 * count, left.data(), &host_stats);
        kvc_index_search(device, hash.data(), 2 * count, right.data(), &device_stats);
        expect(std::memcmp(left.data(), right.data(), 2 * count * 4) == 0, "the twins' searches differ");
    }
    expect(host_stats.search_hits == device_stats.search_hits && host_stats.erased == device_stats.erased &&
               host_stats.replaced == device_stats.replaced && host_stats.dropped == device_stats.dropped,
           "the twins count differently");
    kvc_index_free(host);
    kvc_index_free(device);
}

void test_bad_params()
{
    struct kvc_megakv_cuckoo_params bad[] = {
        params_of(100, KVC_MEGAKV_CUCKOO_APART, 8, 0, 1),
        params_of(1 << 20, KVC_MEGAKV_CUCKOO_APART, 5, 0, 1),
        params_of(1 << 20, KVC_MEGAKV_CUCKOO_APART, 8, 16, 1),
        params_of(1 << 20, KVC_MEGAKV_CUCKOO_APART, 8, 3, 1),
        params_of(1 << 20, KVC_MEGAKV_CUCKOO_APART, 8, 0, 2048),
    };
    for (struct kvc_megakv_cuckoo_params &params : bad) {
        errno = 0;
        expect(kvc_megakv_cuckoo_cuda_create(&params) == nullptr && errno == EINVAL,
               "bad parameters were accepted");
    }
}

/* Pointers to all kinds of memory give the same answers. */
void test_pointers(random_source random)
{
    constexpr uint32_t count = 1000;
    struct kvc_index *index = create(params_of(1 << 20, KVC_MEGAKV_CUCKOO_INTERLEAVED, 4, 0, 1));
    uint64_t *pinned = static_cast<uint64_t *>(kvc_cuda_alloc_pinned(count * 8));
    uint64_t *device = static_cast<uint64_t *>(kvc_cuda_alloc(count * 8));
    uint32_t *device_found = static_cast<uint32_t *>(kvc_cuda_alloc(count * 4));
    std::vector<uint32_t> location(count), found(count);
    for (uint32_t i = 0; i < count; i++) {
        pinned[i] = random.next();
        location[i] = i;
    }
    struct kvc_index_stats stats = {};
    kvc_index_insert(index, pinned, location.data(), count, nullptr, &stats);
    cudaMemcpy(device, pinned, count * 8, cudaMemcpyHostToDevice);
    kvc_index_search(index, device, count, device_found, nullptr);
    cudaMemcpy(found.data(), device_found, count * 4, cudaMemcpyDeviceToHost);
    expect(found == location, "search with device pointers");
    kvc_index_search(index, pinned, 0, found.data(), &stats);
    kvc_cuda_free(device);
    kvc_cuda_free(device_found);
    kvc_cuda_free_pinned(pinned);
    kvc_index_free(index);
}

} // namespace

int main()
{
    kvc::need_device();
    random_source random = {1};
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    test_bad_params();
    test_pointers(random);
    for (enum kvc_megakv_cuckoo_layout layout : {KVC_MEGAKV_CUCKOO_APART, KVC_MEGAKV_CUCKOO_INTERLEAVED}) {
        for (uint32_t slots : {4u, 8u, 16u, 32u}) {
            for (uint32_t threads = 1; threads <= slots; threads *= 2) {
                for (uint32_t partitions : {1u, 16u}) {
                    struct kvc_megakv_cuckoo_params params =
                        params_of(1 << 17, layout, slots, threads, partitions);
                    test_twins(params, {random.next()});
                    test_random_batches(params, 3000, {random.next()});
                    test_random_batches(params_of(1 << 14, layout, slots, threads, partitions), 2500,
                                        {random.next()});
                }
            }
            test_fill(params_of(64 << 20, layout, slots, 0, 1), slots == 4 ? 0.9 : 0.93, true,
                      {random.next()});
            test_fill(params_of(1 << 20, layout, slots, 0, 64), 1.2, false, {random.next()});
            std::printf("%s, %u slots: ok\n", layout == KVC_MEGAKV_CUCKOO_APART ? "apart" : "interleaved",
                        slots);
        }
    }
    struct kvc_index *index = create(params_of(1 << 20, KVC_MEGAKV_CUCKOO_APART, 8, 0, 256));
    kvc_megakv_cuckoo_cuda_exclusive_blocks(index, true);
    kvc_index_free(index);
    std::printf("all right\n");
    return 0;
}

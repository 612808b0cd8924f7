/* Tests the set-associative table on the GPU against its CPU twin. Exit status 0 means success, 77 means that
 * there is no device. */
#include <cerrno>
#include <set>

#include "kernels/memcachedgpu/set_assoc_cuda_fixture.cuh"

using namespace fixture;

namespace
{

bool same_item(const struct kvc_set_assoc_item &a, const struct kvc_set_assoc_item &b)
{
    return a.location == b.location &&
           (a.location == KVC_LOCATION_NONE ||
            (a.value_bytes == b.value_bytes && a.flags == b.flags && a.stamp == b.stamp));
}

/* Batches whose keys are in different sets leave the same bytes in the table as on the CPU. */
void test_changes(uint32_t sets, uint32_t ways, uint32_t longest)
{
    random_source random = {sets * 77ull + ways};
    struct kvc_set_assoc_params params = params_of(sets, ways, longest, random.below(2) == 0);
    struct kvc_set_assoc *host = create_cpu(params);
    struct kvc_index *device = kvc_set_assoc_cuda_create(&params);
    expect(device != nullptr, "create on the GPU");
    struct kvc_index_stats stats = {};
    uint32_t now = 0xfffff000u; /* wraps around on the way */
    for (uint32_t round = 0; round < 150; round++) {
        key_batch keys;
        std::vector<struct kvc_set_assoc_item> items;
        std::vector<uint32_t> location;
        std::set<uint32_t> taken;
        for (uint32_t i = 0; i < sets; i++) {
            uint32_t id = random.below(sets * ways * 2);
            std::string key = random.below(50) == 0 ? std::string(longest < 250 ? longest + 1 : 0, 'y')
                                                    : key_of(id, longest);
            struct kvc_set_assoc_place place =
                kvc_set_assoc_place(&host->table, reinterpret_cast<const uint8_t *>(key.data()),
                                    static_cast<uint32_t>(key.size()));
            if (taken.insert(place.set).second) {
                keys.add(key);
                items.push_back(item_of(id + round % 2));
                items.back().stamp = 0;
                location.push_back(random.below(2) == 0 ? KVC_LOCATION_ANY : item_of(id).location);
            }
        }
        uint32_t count = keys.count();
        std::vector<struct kvc_set_assoc_item> host_out(count), blank(count);
        struct kvc_set_assoc_keys host_keys = keys.host(), device_keys = keys.device();
        struct kvc_set_assoc_item *device_items = to_device(items), *device_out = to_device(blank);
        uint32_t *device_location = to_device(location);
        switch (round % 5) {
        case 3:
            kvc_set_assoc_search(host, &host_keys, count, now, host_out.data(), &stats);
            kvc_set_assoc_cuda_search(device, nullptr, &device_keys, count, now, device_out);
            break;
        case 4:
            kvc_set_assoc_erase(host, &host_keys, location.data(), count, host_out.data(), &stats);
            kvc_set_assoc_cuda_erase(device, nullptr, &device_keys, device_location, count, device_out);
            break;
        default:
            kvc_set_assoc_insert(host, &host_keys, items.data(), count, now, host_out.data(), &stats);
            kvc_set_assoc_cuda_insert(device, nullptr, &device_keys, device_items, count, now, device_out);
        }
        expect(kvc_cuda_stream_wait(nullptr), "SET kernel");
        std::vector<struct kvc_set_assoc_item> out = to_host(device_out, count);
        for (uint32_t i = 0; i < count; i++) {
            expect(same_item(host_out[i], out[i]), "items of GPU and CPU differ");
        }
        now += count;
        free_keys(device_keys);
        kvc_cuda_free(device_items);
        kvc_cuda_free(device_out);
        kvc_cuda_free(device_location);
    }
    expect(stats.evicted > 0 && stats.replaced > 0 && stats.erased > 0 && stats.dropped > 0 &&
               stats.search_hits > 0,
           "changes of every kind");
    expect_same_table(device, host, params, "tables of GPU and CPU differ");
    kvc_index_free(device);
    kvc_set_assoc_free(host);
}

/* Arrays of a batch of distinct keys, in host or in device memory. */
struct index_arrays {
    std::vector<uint64_t> hash;
    std::vector<uint32_t> location;
    bool on_device;
    uint64_t *hashes;
    uint32_t *locations, *outs;
    std::vector<uint32_t> host_out;

    index_arrays(uint32_t count, bool device_arrays, random_source &random)
        : hash(count), location(count), on_device(device_arrays), host_out(count)
    {
        for (uint32_t i = 0; i < count; i++) {
            hash[i] = random.next();
            location[i] = i;
        }
        hashes = on_device ? to_device(hash) : hash.data();
        locations = on_device ? to_device(location) : location.data();
        outs = on_device ? to_device(host_out) : host_out.data();
    }

    index_arrays(const index_arrays &) = delete;
    index_arrays &operator=(const index_arrays &) = delete;

    ~index_arrays()
    {
        if (on_device) {
            kvc_cuda_free(hashes);
            kvc_cuda_free(locations);
            kvc_cuda_free(outs);
        }
    }

    std::vector<uint32_t> out() const
    {
        return on_device ? to_host(outs, host_out.size()) : host_out;
    }
};

/* Fills the index in one batch; returns which locations left it. */
std::vector<bool> fill_index(struct kvc_index *index, const index_arrays &arrays)
{
    uint32_t count = static_cast<uint32_t>(arrays.hash.size());
    struct kvc_index_stats stats = {};
    kvc_index_insert(index, arrays.hashes, arrays.locations, count, arrays.outs, &stats);
    std::vector<bool> gone(count);
    uint64_t evicted = 0;
    for (uint32_t left : arrays.out()) {
        if (left != KVC_LOCATION_NONE) {
            expect(left < count && !gone[left], "a location left twice");
            gone[left] = true;
            evicted++;
        }
    }
    expect(stats.inserts == count && stats.evicted == evicted && evicted > count / 20,
           "evictions are counted");
    expect(kvc_index_used(index) == count - evicted, "number of entries in use");
    return gone;
}

/* The same table on the CPU gives the same answers and touches the same lines. */
void compare_searches(struct kvc_index *index, const index_arrays &arrays, const std::vector<bool> &gone)
{
    uint32_t count = static_cast<uint32_t>(arrays.hash.size());
    struct kvc_set_assoc *host =
        reinterpret_cast<struct kvc_set_assoc *>(kvc_set_assoc_kind.create(1 << 20, 0));
    expect(host != nullptr && kvc_set_assoc_cuda_download(index, host), "download");
    struct kvc_index_stats device_stats = {}, host_stats = {};
    std::vector<uint32_t> host_found(count);
    kvc_index_search(index, arrays.hashes, count, arrays.outs, &device_stats);
    std::vector<uint32_t> found = arrays.out();
    kvc_index_search(&host->index, arrays.hash.data(), count, host_found.data(), &host_stats);
    for (uint32_t i = 0; i < count; i++) {
        expect(found[i] == (gone[i] ? KVC_LOCATION_NONE : i) && host_found[i] == found[i], "search");
    }
    expect(std::memcmp(&device_stats, &host_stats, sizeof(host_stats)) == 0, "search counts");
    kvc_set_assoc_free(host);
}

/* Of equal keys in one batch, one wins and the others are reported. */
void insert_equal_keys(struct kvc_index *index, uint64_t hash, uint32_t first_location)
{
    std::vector<uint64_t> same(1000, hash);
    std::vector<uint32_t> out(1000), location(1000);
    for (uint32_t i = 0; i < 1000; i++) {
        location[i] = first_location + i;
    }
    kvc_index_insert(index, same.data(), location.data(), 1000, out.data(), nullptr);
    uint32_t winner;
    kvc_index_search(index, &hash, 1, &winner, nullptr);
    std::set<uint32_t> seen(out.begin(), out.end());
    expect(winner >= first_location && winner < first_location + 1000 && seen.size() == 1000 &&
               seen.count(winner) == 0,
           "equal keys in one batch");
}

/* Uses the table as an index, with arrays of the host or of the device; sets overflow within a batch. */
void test_index(bool device_arrays)
{
    random_source random = {5};
    struct kvc_index *index = kvc_set_assoc_cuda_kind.create(1 << 20, 0);
    expect(index != nullptr, "create an index");
    uint32_t count = static_cast<uint32_t>(kvc_index_capacity(index));
    index_arrays arrays(count, device_arrays, random);
    std::vector<bool> gone = fill_index(index, arrays);
    compare_searches(index, arrays, gone);
    insert_equal_keys(index, arrays.hash[0], count);

    struct kvc_index_stats stats = {};
    uint64_t used = kvc_index_used(index);
    kvc_index_erase(index, arrays.hashes, arrays.locations, count, arrays.outs, &stats);
    expect(stats.erased > 0 && kvc_index_used(index) == used - stats.erased, "erase");
    std::vector<uint32_t> any(count, KVC_LOCATION_ANY);
    kvc_index_erase(index, arrays.hash.data(), any.data(), count, nullptr, &stats);
    expect(kvc_index_used(index) == 0, "an empty table");
    kvc_index_free(index);
}

void test_bad_params()
{
    for (struct kvc_set_assoc_params bad : {params_of(0, 16, 8, false), params_of(4, 3, 8, false),
                                            params_of(4, 16, 0, false), params_of(4, 16, 251, false)}) {
        errno = 0;
        expect(kvc_set_assoc_cuda_create(&bad) == nullptr && errno == EINVAL, "bad params");
    }
}

} // namespace

int main()
{
    kvc::need_device();
    test_bad_params();
    test_changes(40, 16, 8);
    test_changes(60, 16, 250);
    test_changes(200, 2, 49);
    test_index(false);
    test_index(true);
    std::printf("set-associative table: the same as on the CPU\n");
    return 0;
}

/* Tests the GPU twins of the three tables against the CPU's tables. Exit status 0 means
 * success, 77 means that there is no device. */
#include <cerrno>
#include <cstring>
#include <set>
#include <string>
#include <unordered_map>

#include "kernels/memcachedgpu/set_assoc_cuda_fixture.cuh"
#include "kernels/memcachedgpu/tables_cuda.h"

using namespace fixture;

namespace
{

void expect(bool right, const std::string &what)
{
    if (!right) {
        kvc::die(what.c_str());
    }
}

template <typename T> T *created(T *index)
{
    if (index == nullptr) {
        std::perror("create");
        std::exit(3);
    }
    return index;
}

enum class memory { host, pinned, device };

/* An array for the GPU's index in any kind of memory, with a copy in plain host memory. */
template <typename T> class array
{
  public:
    array(const std::vector<T> &from, enum memory where) : bytes_(from.size() * sizeof(T)), where_(where)
    {
        host_ = from;
        if (bytes_ != 0 && where != memory::host) {
            at_ = static_cast<T *>(where == memory::pinned ? kvc_cuda_alloc_pinned(bytes_)
                                                           : kvc_cuda_alloc(bytes_));
            expect(at_ != nullptr, "no memory");
            kvc::check(cudaMemcpy(at_, from.data(), bytes_, cudaMemcpyDefault), "copy in");
        }
    }
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    ~array()
    {
        where_ == memory::pinned ? kvc_cuda_free_pinned(at_) : kvc_cuda_free(at_);
    }
    T *data()
    {
        return where_ == memory::host ? host_.data() : at_;
    }
    const std::vector<T> &back()
    {
        if (at_ != nullptr) {
            kvc::check(cudaMemcpy(host_.data(), at_, bytes_, cudaMemcpyDefault), "copy back");
        }
        return host_;
    }

  private:
    std::vector<T> host_;
    T *at_ = nullptr;
    size_t bytes_;
    enum memory where_;
};

bool equal(const struct kvc_index_stats &a, const struct kvc_index_stats &b)
{
    return std::memcmp(&a, &b, sizeof(a)) == 0;
}

struct operation {
    int kind; /* 0, 1: insert; 2: search; 3: erase */
    std::vector<uint64_t> hash;
    std::vector<uint32_t> location;
};

/* Runs the same batch on both tables; answers and statistics must be equal. */
void do_both(struct kvc_index *cpu, struct kvc_index *gpu, const operation &batch, enum memory where,
             struct kvc_index_stats *cpu_stats, struct kvc_index_stats *gpu_stats, const std::string &name)
{
    uint32_t count = static_cast<uint32_t>(batch.hash.size());
    std::vector<uint32_t> right(count, 12345);
    array<uint64_t> hash(batch.hash, where);
    array<uint32_t> location(batch.location, where), out(right, where);
    if (batch.kind == 2) {
        kvc_index_search(cpu, batch.hash.data(), count, right.data(), cpu_stats);
        kvc_index_search(gpu, hash.data(), count, out.data(), gpu_stats);
    } else if (batch.kind == 3) {
        kvc_index_erase(cpu, batch.hash.data(), batch.location.data(), count, right.data(), cpu_stats);
        kvc_index_erase(gpu, hash.data(), location.data(), count, out.data(), gpu_stats);
    } else {
        kvc_index_insert(cpu, batch.hash.data(), batch.location.data(), count, right.data(), cpu_stats);
        kvc_index_insert(gpu, hash.data(), location.data(), count, out.data(), gpu_stats);
    }
    expect(out.back() == right, name + ": another answer than the CPU's");
    expect(equal(*cpu_stats, *gpu_stats), name + ": other statistics than the CPU's");
    expect(kvc_index_used(cpu) == kvc_index_used(gpu), name + ": another number of elements");
}

/* Makes a random batch of keys for which `wanted` holds. */
template <typename WANTED>
operation random_operation(random_source &random, const std::vector<uint64_t> &keys, uint32_t most,
                           WANTED wanted)
{
    operation batch = {static_cast<int>(random.next() % 4), {}, {}};
    uint32_t tries = static_cast<uint32_t>(random.next() % (most + 1));
    for (uint32_t i = 0; i < tries; i++) {
        uint64_t key = keys[random.next() % keys.size()];
        if (batch.kind == 2 || wanted(key)) {
            batch.hash.push_back(key);
            batch.location.push_back(batch.kind == 3 && random.next() % 2 != 0
                                         ? KVC_LOCATION_ANY
                                         : static_cast<uint32_t>(random.next() % 50));
        }
    }
    return batch;
}

std::vector<uint64_t> random_keys(random_source &random, uint32_t count)
{
    std::vector<uint64_t> keys(count);
    for (uint64_t &key : keys) {
        key = random.next();
    }
    return keys;
}

enum memory where_of(int round)
{
    return round % 3 == 0 ? memory::host : round % 3 == 1 ? memory::pinned : memory::device;
}

void expect_all_kinds(const struct kvc_index_stats &stats, const std::string &name)
{
    expect(stats.search_hits > 0 && stats.search_hits < stats.searches && stats.replaced > 0 &&
               stats.evicted > 0 && stats.erased > 0 && stats.erased < stats.erases,
           name + ": the test did not reach everything");
}

void test_chained(const struct kvc_chained_params &params, uint32_t universe, uint64_t seed)
{
    std::string name = "chained " + std::to_string(params.capacity) + " of " + std::to_string(params.buckets);
    random_source random = {seed};
    std::vector<uint64_t> keys = random_keys(random, universe);
    struct kvc_chained *cpu = created(kvc_chained_create(&params)),
                       *back = created(kvc_chained_create(&params));
    struct kvc_index *gpu = created(kvc_chained_cuda_create(&params));
    struct kvc_index_stats cpu_stats = {}, gpu_stats = {};
    for (int round = 0; round < 90; round++) {
        operation batch =
            random_operation(random, keys, round % 10 == 0 ? 1 : 700, [](uint64_t) { return true; });
        do_both(&cpu->base.index, gpu, batch, where_of(round), &cpu_stats, &gpu_stats, name);
        if (round == 45) { /* the copy must serve as well as the original */
            kvc_index_free(gpu);
            gpu = created(kvc_chained_cuda_copy(cpu));
        }
    }
    expect_all_kinds(cpu_stats, name);
    expect(kvc_chained_cuda_download(gpu, back), name + ": download");
    expect(std::memcmp(back->table.heads, cpu->table.heads, kvc_chained_heads_bytes(&cpu->table)) == 0 &&
               std::memcmp(back->table.entries, cpu->table.entries, kvc_chained_entries_bytes(&cpu->table)) ==
                   0 &&
               std::memcmp(&back->state, &cpu->state, sizeof(cpu->state)) == 0 &&
               back->base.clock == cpu->base.clock,
           name + ": another table than the CPU's");
    kvc_index_free(gpu);
    kvc_chained_free(cpu);
    kvc_chained_free(back);
}

/* Batches whose neighbourhoods do not overlap leave the same bytes as on the CPU. */
void test_hopscotch_apart(const struct kvc_hopscotch_params &params, uint32_t universe, uint64_t seed)
{
    std::string name = "hopscotch " + std::to_string(params.homes) + ", " + std::to_string(params.neighbours);
    random_source random = {seed};
    std::vector<uint64_t> keys = random_keys(random, universe);
    struct kvc_hopscotch *cpu = created(kvc_hopscotch_create(&params)),
                         *back = created(kvc_hopscotch_create(&params));
    struct kvc_index *gpu = created(kvc_hopscotch_cuda_create(&params));
    struct kvc_index_stats cpu_stats = {}, gpu_stats = {};
    for (int round = 0; round < 400; round++) {
        std::vector<bool> taken(params.homes + 2 * cpu->table.neighbours);
        operation batch = random_operation(random, keys, round % 10 == 0 ? 1 : 300, [&](uint64_t key) {
            struct kvc_table_key bytes = {reinterpret_cast<const uint8_t *>(&key), sizeof(key)};
            uint32_t home = kvc_hopscotch_place(&cpu->table, bytes).home, clash = 0;
            for (uint32_t e = home; e < home + cpu->table.neighbours; e++) {
                clash += taken[e];
            }
            for (uint32_t e = home; clash == 0 && e < home + cpu->table.neighbours; e++) {
                taken[e] = true;
            }
            return clash == 0;
        });
        do_both(&cpu->base.index, gpu, batch, where_of(round), &cpu_stats, &gpu_stats, name);
        if (round == 200) {
            kvc_index_free(gpu);
            gpu = created(kvc_hopscotch_cuda_copy(cpu));
        }
    }
    expect_all_kinds(cpu_stats, name);
    expect(kvc_hopscotch_cuda_download(gpu, back), name + ": download");
    expect(std::memcmp(back->table.tags, cpu->table.tags, kvc_hopscotch_tags_bytes(&cpu->table)) == 0 &&
               std::memcmp(back->table.entries, cpu->table.entries,
                           kvc_hopscotch_entries_bytes(&cpu->table)) == 0 &&
               back->base.clock == cpu->base.clock && back->used == cpu->used,
           name + ": another table than the CPU's");
    kvc_index_free(gpu);
    kvc_hopscotch_free(cpu);
    kvc_hopscotch_free(back);
}

/* In batches whose neighbourhoods overlap, and which contain keys several times, every inserted location is
 * either found or reported, and no other location is found. */
void test_hopscotch_together(uint32_t homes, uint32_t universe, uint64_t seed)
{
    std::string name = "hopscotch, together, " + std::to_string(homes);
    random_source random = {seed};
    std::vector<uint64_t> keys = random_keys(random, universe);
    struct kvc_hopscotch_params params = {homes, 16, 8};
    struct kvc_index *gpu = created(kvc_hopscotch_cuda_create(&params));
    struct kvc_index_stats stats = {};
    std::unordered_map<uint32_t, uint64_t> alive; /* location -> key */
    uint32_t serial = 0;
    for (int round = 0; round < 40; round++) {
        std::vector<uint64_t> hash(5000);
        std::vector<uint32_t> location(hash.size()), out(hash.size()), found(universe);
        for (size_t i = 0; i < hash.size(); i++) {
            hash[i] = keys[random.next() % universe];
            location[i] = round % 4 == 3 ? KVC_LOCATION_ANY : serial++;
        }
        uint32_t count = static_cast<uint32_t>(hash.size());
        if (round % 4 == 3) {
            count /= 8;
            kvc_index_erase(gpu, hash.data(), location.data(), count, out.data(), &stats);
        } else {
            kvc_index_insert(gpu, hash.data(), location.data(), count, out.data(), &stats);
            for (uint32_t i = 0; i < count; i++) {
                alive[location[i]] = hash[i];
            }
        }
        for (uint32_t i = 0; i < count; i++) {
            expect(out[i] == KVC_LOCATION_NONE || alive.erase(out[i]) == 1,
                   name + ": reported twice, or what was never put");
        }
        kvc_index_search(gpu, keys.data(), universe, found.data(), &stats);
        size_t hits = 0;
        for (uint32_t k = 0; k < universe; k++) {
            if (found[k] != KVC_LOCATION_NONE) {
                auto at = alive.find(found[k]);
                expect(at != alive.end() && at->second == keys[k], name + ": another key's location");
                hits++;
            }
        }
        expect(hits == alive.size() && hits == kvc_index_used(gpu),
               name + ": neither found nor reported, or a key twice");
    }
    expect_all_kinds(stats, name);
    kvc_index_free(gpu);
}

void test_bad_params()
{
    struct kvc_hopscotch_params no_homes = {0, 16, 8}, short_keys = {64, 16, 4};
    struct kvc_chained_params no_power = {3, 10, 8, 0}, short_chained = {4, 10, 4, 0};
    errno = 0;
    expect(kvc_hopscotch_cuda_create(&no_homes) == nullptr && errno == EINVAL, "homes of 0");
    errno = 0;
    expect(kvc_hopscotch_cuda_create(&short_keys) == nullptr && errno == EINVAL, "keys of 4 bytes");
    errno = 0;
    expect(kvc_chained_cuda_create(&no_power) == nullptr && errno == EINVAL, "3 buckets");
    errno = 0;
    expect(kvc_chained_cuda_create(&short_chained) == nullptr && errno == EINVAL, "chained keys of 4 bytes");
}

void test_empty_batches(const struct kvc_index_kind &kind)
{
    struct kvc_index *index = created(kind.create(1 << 16, 1));
    struct kvc_index_stats stats = {};
    uint64_t hash = 0;
    uint32_t location = 5, found = 1;
    kvc_index_search(index, nullptr, 0, nullptr, &stats);
    kvc_index_insert(index, nullptr, nullptr, 0, nullptr, &stats);
    kvc_index_erase(index, nullptr, nullptr, 0, nullptr, &stats);
    expect(stats.searches + stats.inserts + stats.erases == 0, "empty batches count");
    kvc_index_search(index, &hash, 1, &found, &stats);
    expect(found == KVC_LOCATION_NONE, "found in an empty table");
    kvc_index_insert(index, &hash, &location, 1, nullptr, nullptr);
    kvc_index_search(index, &hash, 1, &found, nullptr);
    expect(found == 5, "outputs that are not wanted");
    kvc_index_erase(index, &hash, &location, 1, nullptr, nullptr);
    expect(kvc_index_used(index) == 0, "not erased");
    location = KVC_LOCATION_ANY; /* not a valid location */
    kvc_index_insert(index, &hash, &location, 1, &found, &stats);
    expect(found == KVC_LOCATION_ANY && stats.dropped == 1 && kvc_index_used(index) == 0,
           "stored what is no location");
    kvc_index_free(index);
}

/* --- the set-associative table --- */

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
            kvc_table_search(&host->base, &host_keys, count, now, host_out.data(), &stats);
            kvc_set_assoc_cuda_search(device, nullptr, &device_keys, count, now, device_out);
            break;
        case 4:
            kvc_table_erase(&host->base, &host_keys, location.data(), count, host_out.data(), &stats);
            kvc_set_assoc_cuda_erase(device, nullptr, &device_keys, device_location, count, device_out);
            break;
        default:
            kvc_table_insert(&host->base, &host_keys, items.data(), count, now, host_out.data(), &stats);
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
    kvc_index_search(&host->base.index, arrays.hash.data(), count, host_found.data(), &host_stats);
    for (uint32_t i = 0; i < count; i++) {
        expect(found[i] == (gone[i] ? KVC_LOCATION_NONE : i) && host_found[i] == found[i], "search");
    }
    expect(std::memcmp(&device_stats, &host_stats, sizeof(host_stats)) == 0, "search counts");
    kvc_set_assoc_free(host);
}

/* One of several equal keys in a batch wins, and the others are reported. */
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

void test_bad_sets()
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
    test_empty_batches(kvc_hopscotch_cuda_kind);
    test_empty_batches(kvc_chained_cuda_kind);
    test_chained({64, 300, 8, 0}, 1000, 1);
    test_chained({1, 40, 8, 0}, 60, 2);
    test_chained({1024, 900, 48, 5}, 1500, 3);
    test_chained({2, 1, 8, 0}, 10, 4);
    test_hopscotch_apart({2000, 16, 8}, 2600, 5);
    test_hopscotch_apart({1000, 8, 8}, 1500, 6);
    test_hopscotch_apart({3000, 32, 64}, 4000, 7);
    test_hopscotch_apart({1, 16, 8}, 40, 8);
    test_hopscotch_together(1, 60, 9);
    test_hopscotch_together(100, 600, 10);
    test_hopscotch_together(3000, 4000, 11);
    test_bad_sets();
    test_changes(40, 16, 8);
    test_changes(60, 16, 250);
    test_changes(200, 2, 49);
    test_index(false);
    test_index(true);
    std::printf("the GPU's tables are the CPU's\n");
    return 0;
}

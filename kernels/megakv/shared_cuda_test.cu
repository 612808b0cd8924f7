/* Tests the tasks of a GPU on a store in the host's memory against the host's own code: every outcome of
 * every query for several sizes of items, inserts and erases against a plain map, and both sides at the same
 * time. Exit status 0 means success, 77 means that there is no device. */
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <unordered_map>

#include "kernels/cuda_bench.cuh"
#include "kernels/hash.h"
#include "kernels/megakv/cuckoo.h"
#include "kernels/megakv/packet.h"
#include "kernels/megakv/shared_cuda.h"
#include "kernels/pages.h"

namespace
{

constexpr uint32_t header_bytes = 8, key_stride = 256, value_stride = 1032, rows_max = 16384, set_rows = 80;
constexpr uint64_t seed = 7;

void expect(bool right, const char *what)
{
    if (!right) {
        kvc::die(what);
    }
}

/* Arrays of a batch in one block that the device shares. */
struct batch_memory {
    uint8_t *block;
    uint64_t block_bytes = 0;
    struct kvc_megakv_shared_batch batch = {};
    struct kvc_megakv_shared_set *set;
    struct kvc_megakv_slab_evicted *evicted;
    uint8_t *op, *keys, *key_bytes;
    uint64_t *hash;

    template <typename T> void take(T *&array, uint64_t count)
    {
        array = block != nullptr ? reinterpret_cast<T *>(block + block_bytes) : nullptr;
        block_bytes += (count * sizeof(T) + 255) / 256 * 256;
    }

    void place()
    {
        block_bytes = 0;
        take(set, rows_max);
        take(evicted, rows_max);
        take(op, rows_max);
        take(keys, rows_max * static_cast<uint64_t>(key_stride));
        take(key_bytes, rows_max);
        take(hash, rows_max);
        take(batch.location, rows_max);
        take(batch.result, rows_max);
        take(batch.read_bytes, rows_max);
        take(batch.values, rows_max * static_cast<uint64_t>(value_stride));
        take(batch.responses, rows_max * static_cast<uint64_t>(header_bytes + value_stride));
        batch.set = set;
        batch.evicted = evicted;
        batch.op = op;
        batch.keys = keys;
        batch.key_bytes = key_bytes;
        batch.hash = hash;
        batch.key_stride = key_stride;
        batch.value_stride = value_stride;
    }

    batch_memory() : block(nullptr)
    {
        place();
        block = static_cast<uint8_t *>(kvc_pages_alloc(block_bytes));
        if (block == nullptr || !kvc_cuda_share(block, block_bytes)) {
            std::fprintf(stderr, "a batch cannot be shared: %s\n", kvc_cuda_error());
            std::exit(3);
        }
        place();
    }

    ~batch_memory()
    {
        kvc_cuda_unshare(block);
        kvc_pages_free(block, block_bytes);
    }

    /* Makes room for `rows` queries in sets. */
    void begin(uint32_t rows)
    {
        batch.rows = rows;
        batch.sets = (rows + set_rows - 1) / set_rows;
        for (uint32_t i = 0; i < batch.sets; i++) {
            uint32_t first = i * set_rows;
            set[i] = {first, rows - first < set_rows ? rows - first : set_rows, 0};
        }
        for (uint32_t row = 0; row < rows; row++) {
            batch.location[row] = KVC_LOCATION_NONE;
        }
        std::memset(batch.result, 0xee, rows);
        std::memset(batch.values, 0xee, static_cast<uint64_t>(rows) * value_stride);
        std::memset(batch.responses, 0xee, static_cast<uint64_t>(rows) * (header_bytes + value_stride));
    }
};

struct store {
    struct kvc_index *index;
    struct kvc_megakv_slab *slab;
    struct kvc_megakv_shared *shared;

    store(uint64_t index_bytes, uint64_t slab_bytes)
    {
        struct kvc_megakv_cuckoo_params params = {};
        params.bytes = index_bytes;
        params.max_displacements = 100;
        index = kvc_megakv_cuckoo_create(&params);
        slab = kvc_megakv_slab_create(slab_bytes, seed);
        expect(index != nullptr && slab != nullptr, "no memory for a store");
        shared = kvc_megakv_shared_create(index, slab);
        if (shared == nullptr) {
            std::perror("the store cannot be shared");
            std::fprintf(stderr, "%s\n", kvc_cuda_error());
            std::exit(3);
        }
    }

    ~store()
    {
        kvc_megakv_shared_free(shared);
        kvc_index_free(index);
        kvc_megakv_slab_free(slab);
    }

    void run(const batch_memory &memory, uint32_t tasks)
    {
        expect(kvc_megakv_shared_allows(tasks), "tasks are refused");
        if (!kvc_megakv_shared_begin(shared, &memory.batch, tasks)) {
            std::fprintf(stderr, "the device refuses tasks %#x: %s\n", tasks, kvc_cuda_error());
            std::exit(3);
        }
        enum kvc_cuda_event_state state;
        do {
            state = kvc_megakv_shared_state(shared);
        } while (state == KVC_CUDA_EVENT_PENDING);
        if (state == KVC_CUDA_EVENT_FAILED) {
            std::fprintf(stderr, "the device failed in tasks %#x: %s\n", tasks, kvc_cuda_error());
            std::exit(3);
        }
    }

    struct kvc_index_stats count()
    {
        struct kvc_index_stats stats = {};
        expect(kvc_megakv_shared_count(shared, &stats), "the device failed to count");
        return stats;
    }
};

/* --- every outcome --- */

struct sizes {
    uint32_t key_bytes, value_bytes;
};

constexpr sizes all_sizes[] = {{8, 8}, {16, 64}, {13, 33}, {32, 256}, {128, 1024}, {250, 1}, {5, 0}};
constexpr uint32_t items_each = 4000;

void make_key(const sizes &size, uint64_t number, uint8_t *key)
{
    std::memset(key, 0, key_stride);
    for (uint32_t i = 0; i < size.key_bytes; i += 8) {
        uint64_t word = kvc_mix_64(number * 64 + i + size.value_bytes * UINT64_C(1000003));
        std::memcpy(key + i, &word, size.key_bytes - i < 8 ? size.key_bytes - i : 8);
    }
}

void make_value(const sizes &size, uint64_t number, uint8_t *value)
{
    for (uint32_t i = 0; i < size.value_bytes; i++) {
        value[i] = static_cast<uint8_t>(kvc_mix_64(number * 2048 + i));
    }
}

/* Stores items of a size. */
void fill(store &all, const sizes &size)
{
    uint8_t key[key_stride], value[2048];
    struct kvc_index_stats stats = {};
    struct kvc_megakv_slab_stats slab_stats = {};
    for (uint32_t i = 0; i < items_each; i++) {
        uint32_t location, evictions;
        struct kvc_megakv_slab_evicted evicted;
        make_key(size, i, key);
        make_value(size, i, value);
        expect(kvc_megakv_slab_alloc(all.slab, size.key_bytes, size.value_bytes, 1, &location, &evicted,
                                     &evictions, &slab_stats) == 1,
               "no room for an item");
        expect(evictions == 0, "an item was evicted");
        kvc_megakv_slab_write(all.slab, location, key, size.key_bytes, value, size.value_bytes, &slab_stats);
        uint64_t hash = kvc_hash(key, size.key_bytes, seed);
        kvc_index_insert(all.index, &hash, &location, 1, nullptr, &stats);
    }
    expect(stats.dropped == 0, "the index is too small");
}

/* Makes a batch of GETs, of which a quarter finds no item, and of some SETs and DELETEs. */
void make_queries(batch_memory &memory, const sizes &size, uint32_t rows)
{
    memory.begin(rows);
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t draw = kvc_mix_64(row * 31 + size.key_bytes);
        uint64_t number = draw % items_each + (draw >> 32 & 3 ? 0 : items_each);
        make_key(size, number, memory.keys + static_cast<uint64_t>(row) * key_stride);
        memory.key_bytes[row] = static_cast<uint8_t>(size.key_bytes);
        memory.hash[row] =
            kvc_hash(memory.keys + static_cast<uint64_t>(row) * key_stride, size.key_bytes, seed);
        memory.op[row] = draw >> 40 & 15  ? KVC_MEGAKV_PACKET_GET
                         : draw >> 44 & 1 ? KVC_MEGAKV_PACKET_SET
                                          : KVC_MEGAKV_PACKET_DELETE;
    }
}

/* Outcomes of the host's code for the same queries. */
struct outcomes {
    std::vector<uint32_t> location, read_bytes;
    std::vector<uint8_t> result, values; /* Values, contiguous. */

    explicit outcomes(uint32_t rows)
        : location(rows, KVC_LOCATION_NONE), read_bytes(rows), result(rows),
          values(static_cast<uint64_t>(rows) * value_stride)
    {
    }

    void search(store &all, const batch_memory &memory)
    {
        struct kvc_index_stats stats = {};
        for (uint32_t row = 0; row < memory.batch.rows; row++) {
            if (memory.op[row] == KVC_MEGAKV_PACKET_GET) {
                kvc_index_search(all.index, memory.hash + row, 1, &location[row], &stats);
            }
        }
    }

    void read(store &all, const batch_memory &memory, bool compare)
    {
        struct kvc_megakv_slab_stats stats = {};
        uint32_t position = 0;
        struct kvc_megakv_slab_reads reads = {};
        reads.count = memory.batch.rows;
        reads.location = location.data();
        reads.keys = memory.keys;
        reads.key_stride = key_stride;
        reads.key_bytes = memory.key_bytes;
        reads.compare = compare;
        reads.out = values.data();
        reads.out_bytes = static_cast<uint32_t>(values.size());
        reads.out_position = &position;
        reads.result = result.data();
        reads.value_bytes = read_bytes.data();
        kvc_megakv_slab_read(all.slab, &reads, &stats);
    }
};

void expect_values(const batch_memory &memory, const outcomes &wanted, bool in_responses)
{
    const struct kvc_megakv_shared_batch &batch = memory.batch;
    uint64_t position = 0;
    for (uint32_t row = 0; row < batch.rows; row++) {
        const uint8_t *value =
            in_responses
                ? batch.responses + row * static_cast<uint64_t>(header_bytes + value_stride) + header_bytes
                : batch.values + row * static_cast<uint64_t>(value_stride);
        expect(std::memcmp(value, wanted.values.data() + position, wanted.read_bytes[row]) == 0,
               "a value differs");
        position += wanted.read_bytes[row];
    }
}

void expect_headers(const batch_memory &memory, const outcomes &wanted)
{
    const struct kvc_megakv_shared_batch &batch = memory.batch;
    for (uint32_t row = 0; row < batch.rows; row++) {
        uint64_t header, hit = wanted.result[row] == KVC_MEGAKV_SLAB_HIT;
        std::memcpy(&header, batch.responses + row * static_cast<uint64_t>(header_bytes + value_stride),
                    sizeof(header));
        expect(header == (memory.op[row] | hit << 16 | static_cast<uint64_t>(wanted.read_bytes[row]) << 32),
               "the header of a response differs");
    }
}

void expect_reads(const batch_memory &memory, const outcomes &wanted)
{
    for (uint32_t row = 0; row < memory.batch.rows; row++) {
        expect(memory.batch.result[row] == wanted.result[row], "the outcome of a read differs");
        expect(memory.batch.read_bytes[row] == wanted.read_bytes[row], "the length of a value differs");
    }
}

/* All series of search, KC, RD and WR. */
void compare_series(store &all, batch_memory &memory, const sizes &size, uint32_t rows)
{
    constexpr uint32_t search = KVC_MEGAKV_SHARED_SEARCH, keys = KVC_MEGAKV_SHARED_COMPARE,
                       read = KVC_MEGAKV_SHARED_READ, respond = KVC_MEGAKV_SHARED_RESPOND;
    for (uint32_t tasks : {search, search | keys, search | keys | read, search | keys | read | respond, keys,
                           keys | read, keys | read | respond, read, read | respond, respond}) {
        outcomes wanted(rows);
        make_queries(memory, size, rows);
        wanted.search(all, memory);
        if ((tasks & search) == 0) { /* Some items are gone by now. */
            for (uint32_t row = 0; row < rows; row += 7) {
                wanted.location[row] = row % 2 == 0 ? wanted.location[(row + 1) % rows] : 0xfff00000 + row;
            }
            std::memcpy(memory.batch.location, wanted.location.data(), rows * sizeof(uint32_t));
            for (uint32_t row = 0; row < rows; row++) {
                bool get = memory.op[row] == KVC_MEGAKV_PACKET_GET;
                wanted.location[row] = get ? wanted.location[row] : KVC_LOCATION_NONE;
            }
        }
        wanted.read(all, memory, (tasks & keys) != 0 || tasks == respond);
        if (tasks == respond) {
            uint64_t position = 0;
            std::memcpy(memory.batch.result, wanted.result.data(), rows);
            std::memcpy(memory.batch.read_bytes, wanted.read_bytes.data(), rows * sizeof(uint32_t));
            for (uint32_t i = 0; i < memory.batch.sets; i++) {
                uint64_t bytes = 0;
                for (uint32_t row = memory.set[i].first; row < memory.set[i].first + memory.set[i].rows;
                     row++) {
                    bytes += wanted.read_bytes[row];
                }
                std::memcpy(memory.batch.values + memory.set[i].first * static_cast<uint64_t>(value_stride),
                            wanted.values.data() + position, bytes);
                position += bytes;
            }
        }
        all.run(memory, tasks);
        for (uint32_t row = 0; row < rows && (tasks & search) != 0; row++) {
            bool other =
                (tasks & keys) != 0 && (tasks & read) == 0 && wanted.result[row] == KVC_MEGAKV_SLAB_MISMATCH;
            expect(memory.op[row] != KVC_MEGAKV_PACKET_GET ||
                       memory.batch.location[row] == (other ? KVC_LOCATION_NONE : wanted.location[row]),
                   "a location differs");
        }
        for (uint32_t row = 0; row < rows && tasks == keys; row++) {
            bool other = wanted.result[row] == KVC_MEGAKV_SLAB_MISMATCH;
            expect(memory.op[row] != KVC_MEGAKV_PACKET_GET ||
                       memory.batch.location[row] == (other ? KVC_LOCATION_NONE : wanted.location[row]),
                   "a location differs behind KC");
        }
        if ((tasks & read) != 0) {
            expect_reads(memory, wanted);
            expect_values(memory, wanted, (tasks & respond) != 0);
        }
        if ((tasks & respond) != 0) {
            expect_headers(memory, wanted);
            expect_values(memory, wanted, true);
        }
    }
}

void test_outcomes(batch_memory &memory)
{
    store all(8 << 20, 64 << 20);
    for (const sizes &size : all_sizes) {
        fill(all, size);
    }
    for (const sizes &size : all_sizes) {
        compare_series(all, memory, size, rows_max);
        compare_series(all, memory, size, 1);
        compare_series(all, memory, size, 333);
        std::printf("every outcome is the host's: keys of %u and values of %u bytes\n", size.key_bytes,
                    size.value_bytes);
        std::fflush(stdout);
    }
    struct kvc_index_stats stats = all.count();
    expect(stats.searches > 0 && stats.search_hits <= stats.searches &&
               stats.search_hits > stats.searches / 2,
           "the device has not counted its searches");
}

/* --- changes --- */

using location_map = std::unordered_map<uint64_t, uint32_t>; /* hash -> location */

uint64_t hash_of(uint64_t number)
{
    return kvc_mix_64(number + 1);
}

void expect_map(store &all, batch_memory &memory, const location_map &map, uint64_t first, uint64_t last)
{
    struct kvc_index_stats stats = {};
    for (uint64_t from = first; from < last; from += rows_max) {
        uint32_t rows = static_cast<uint32_t>(last - from < rows_max ? last - from : rows_max);
        memory.begin(rows);
        std::vector<uint32_t> found(rows);
        for (uint32_t row = 0; row < rows; row++) {
            memory.hash[row] = hash_of(from + row);
            memory.op[row] = KVC_MEGAKV_PACKET_GET;
        }
        kvc_index_search(all.index, memory.hash, rows, found.data(), &stats);
        all.run(memory, KVC_MEGAKV_SHARED_SEARCH);
        for (uint32_t row = 0; row < rows; row++) {
            auto at = map.find(memory.hash[row]);
            uint32_t location = at == map.end() ? KVC_LOCATION_NONE : at->second;
            expect(found[row] == location, "the host finds another location");
            expect(memory.batch.location[row] == location, "the device finds another location");
        }
    }
}

/* Fills a table up to load 0.9, replaces, and erases. */
void test_changes(batch_memory &memory)
{
    constexpr uint64_t slots = (1 << 20) / 8, keys = slots * 9 / 10;
    store all(1 << 20, 2 << 20);
    location_map map;
    for (uint64_t from = 0; from < keys; from += rows_max) {
        uint32_t rows = static_cast<uint32_t>(keys - from < rows_max ? keys - from : rows_max);
        memory.begin(rows);
        for (uint32_t row = 0; row < rows; row++) {
            /* Some SETs replace. */
            uint64_t number = row % 10 == 9 && from > 0 ? from - 1 - row : from + row;
            memory.hash[row] = hash_of(number);
            memory.op[row] = row % 16 == 15 ? KVC_MEGAKV_PACKET_GET : KVC_MEGAKV_PACKET_SET;
            memory.batch.location[row] = static_cast<uint32_t>(from + row);
            if (memory.op[row] == KVC_MEGAKV_PACKET_SET) {
                map[memory.hash[row]] = memory.batch.location[row];
            }
        }
        all.run(memory, KVC_MEGAKV_SHARED_INSERT);
    }
    struct kvc_index_stats stats = all.count();
    expect(stats.dropped == 0 && stats.displacements > 0 && stats.replaced > 0, "wrong counts of inserts");
    expect(kvc_index_used(all.index) == map.size(), "the table has lost count");
    expect_map(all, memory, map, 0, keys);
    memory.begin(rows_max);
    for (uint32_t row = 0; row < rows_max; row++) {
        memory.hash[row] = hash_of(2 * keys + row);
        memory.op[row] = row % 3 == 0 ? KVC_MEGAKV_PACKET_DELETE : KVC_MEGAKV_PACKET_GET;
        if (memory.op[row] == KVC_MEGAKV_PACKET_DELETE && row % 2 == 0) {
            memory.hash[row] = hash_of(row);
        }
    }
    for (uint32_t i = 0; i < memory.batch.sets; i++) { /* Half of the evictions name an old location. */
        memory.set[i].evictions = memory.set[i].rows / 2;
        for (uint32_t k = 0; k < memory.set[i].evictions; k++) {
            uint64_t hash = hash_of(rows_max + memory.set[i].first + k);
            auto at = map.find(hash);
            uint32_t location = at == map.end() ? 5 : at->second;
            memory.evicted[memory.set[i].first + k] = {location ^ (k % 2 ? 1u << 30 : 0), hash};
        }
    }
    std::vector<uint32_t> removed(rows_max, KVC_LOCATION_NONE);
    for (uint32_t i = 0; i < memory.batch.sets; i++) {
        for (uint32_t k = 0; k < memory.set[i].evictions; k += 2) {
            map.erase(memory.evicted[memory.set[i].first + k].hash);
        }
    }
    for (uint32_t row = 0; row < rows_max; row++) {
        auto at = map.find(memory.hash[row]);
        if (memory.op[row] == KVC_MEGAKV_PACKET_DELETE && at != map.end()) {
            removed[row] = at->second;
            map.erase(at);
        }
    }
    all.run(memory, KVC_MEGAKV_SHARED_ERASE);
    for (uint32_t row = 0; row < rows_max; row++) {
        expect(memory.batch.location[row] == removed[row], "a DELETE has removed another location");
    }
    all.count();
    expect(kvc_index_used(all.index) == map.size(), "the table has lost count behind erases");
    expect_map(all, memory, map, 0, keys);
    std::printf("inserts and erases are those of a map: %zu elements are left\n", map.size());
    std::fflush(stdout);
}

/* --- both sides at the same time --- */

constexpr uint64_t churn_slots = (4 << 20) / 8, stable = churn_slots / 2, churn = churn_slots * 2 / 5;
constexpr uint32_t churn_rounds = 40;

void load_stable(store &all)
{
    struct kvc_index_stats stats = {};
    for (uint64_t i = 0; i < stable; i++) {
        uint64_t hash = hash_of(i);
        uint32_t location = static_cast<uint32_t>(i);
        kvc_index_insert(all.index, &hash, &location, 1, nullptr, &stats);
    }
}

/* A thread of the host inserts and erases elements, which moves others, while the device searches. */
void test_host_changes(batch_memory &memory)
{
    store all(4 << 20, 2 << 20);
    load_stable(all);
    std::atomic<bool> stop(false);
    struct kvc_index_stats stats = {};
    std::thread changer([&] {
        std::vector<uint64_t> hash(1024);
        std::vector<uint32_t> location(1024);
        for (uint64_t from = 0; !stop.load(); from = from + 1024 < 2 * churn ? from + 1024 : 0) {
            bool inserts = from < churn;
            for (uint32_t i = 0; i < 1024; i++) {
                hash[i] = hash_of(stable + (inserts ? from : from - churn) + i);
                location[i] = inserts ? 0x40000000u + i : KVC_LOCATION_ANY;
            }
            if (inserts) {
                kvc_index_insert(all.index, hash.data(), location.data(), 1024, nullptr, &stats);
            } else {
                kvc_index_erase(all.index, hash.data(), location.data(), 1024, nullptr, &stats);
            }
        }
    });
    for (uint32_t round = 0; round < churn_rounds; round++) {
        for (uint64_t from = 0; from + rows_max <= stable; from += rows_max) {
            memory.begin(rows_max);
            for (uint32_t row = 0; row < rows_max; row++) {
                memory.hash[row] = hash_of(from + row);
                memory.op[row] = KVC_MEGAKV_PACKET_GET;
            }
            all.run(memory, KVC_MEGAKV_SHARED_SEARCH);
            for (uint32_t row = 0; row < rows_max; row++) {
                uint32_t location = memory.batch.location[row];
                expect(location != KVC_LOCATION_NONE, "the device missed an element that moved");
                expect(location == from + row, "the device found another element's location");
            }
        }
    }
    stop.store(true);
    changer.join();
    expect(stats.displacements > 0, "no element moved");
    std::printf("the device finds all while the host moves %llu elements\n",
                static_cast<unsigned long long>(stats.displacements));
    std::fflush(stdout);
}

/* The device inserts and erases while a thread of the host searches. */
void test_device_changes(batch_memory &memory)
{
    store all(4 << 20, 2 << 20);
    load_stable(all);
    std::atomic<bool> stop(false), wrong(false);
    std::thread searcher([&] {
        struct kvc_index_stats stats = {};
        std::vector<uint64_t> hash(1024);
        std::vector<uint32_t> location(1024);
        for (uint64_t from = 0; !stop.load(); from = from + 2048 <= stable ? from + 1024 : 0) {
            for (uint32_t i = 0; i < 1024; i++) {
                hash[i] = hash_of(from + i);
            }
            kvc_index_search(all.index, hash.data(), 1024, location.data(), &stats);
            for (uint32_t i = 0; i < 1024; i++) {
                if (location[i] != from + i) {
                    wrong.store(true);
                }
            }
        }
    });
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t task : {KVC_MEGAKV_SHARED_INSERT, KVC_MEGAKV_SHARED_ERASE}) {
            for (uint64_t from = 0; from + rows_max <= churn; from += rows_max) {
                memory.begin(rows_max);
                for (uint32_t row = 0; row < rows_max; row++) {
                    bool inserts = task == KVC_MEGAKV_SHARED_INSERT;
                    memory.hash[row] = hash_of(stable + from + row);
                    memory.op[row] = inserts ? KVC_MEGAKV_PACKET_SET : KVC_MEGAKV_PACKET_DELETE;
                    memory.batch.location[row] = inserts ? 0x40000000u + row : KVC_LOCATION_NONE;
                }
                all.run(memory, task);
            }
        }
    }
    stop.store(true);
    searcher.join();
    struct kvc_index_stats stats = all.count();
    expect(!wrong.load(), "the host missed an element that moved");
    expect(stats.displacements > 0 && stats.dropped == 0, "no element moved, or one was lost");
    expect(kvc_index_used(all.index) == stable, "the table has lost count");
    std::printf("the host finds all while the device moves %llu elements\n",
                static_cast<unsigned long long>(stats.displacements));
    std::fflush(stdout);
}

/* A thread of the host rewrites items while the device reads them: every value read comes from one write. */
void test_rewrites(batch_memory &memory)
{
    constexpr uint32_t items = 32768, words = 12;
    constexpr sizes size = {8, words * 8};
    store all(1 << 20, 16 << 20);
    struct kvc_megakv_slab_stats stats = {};
    struct kvc_megakv_slab_evicted evicted;
    std::vector<uint32_t> location(items);
    std::vector<std::vector<uint8_t>> key(items, std::vector<uint8_t>(key_stride));
    uint64_t value[words] = {};
    for (uint32_t i = 0; i < items; i++) {
        uint32_t evictions;
        make_key(size, i, key[i].data());
        kvc_megakv_slab_alloc(all.slab, 8, size.value_bytes, 1, &location[i], &evicted, &evictions, &stats);
        kvc_megakv_slab_write(all.slab, location[i], key[i].data(), 8, value, size.value_bytes, &stats);
    }
    std::atomic<bool> stop(false);
    std::thread writer([&] {
        struct kvc_megakv_slab_stats own = {};
        uint64_t written[words];
        for (uint64_t n = 1; !stop.load(); n++) {
            std::fill(written, written + words, n);
            uint32_t i = static_cast<uint32_t>(kvc_mix_64(n) % items);
            kvc_megakv_slab_rewrite(all.slab, location[i], key[i].data(), 8, written, size.value_bytes, &own);
        }
    });
    uint64_t hits = 0, reads = 0;
    for (uint32_t round = 0; round < 200; round++) {
        memory.begin(rows_max);
        for (uint32_t row = 0; row < rows_max; row++) {
            std::memcpy(memory.keys + static_cast<uint64_t>(row) * key_stride, key[row % items].data(), 8);
            memory.key_bytes[row] = 8;
            memory.op[row] = KVC_MEGAKV_PACKET_GET;
            memory.batch.location[row] = location[row % items];
        }
        all.run(memory, KVC_MEGAKV_SHARED_COMPARE | KVC_MEGAKV_SHARED_READ);
        for (uint32_t row = 0; row < rows_max; row++) {
            uint64_t got[words];
            uint8_t result = memory.batch.result[row];
            std::memcpy(got, memory.batch.values + static_cast<uint64_t>(row) * value_stride, sizeof(got));
            expect(result == KVC_MEGAKV_SLAB_HIT || result == KVC_MEGAKV_SLAB_CHANGED,
                   "an item has another key");
            for (uint32_t word = 1; word < words && result == KVC_MEGAKV_SLAB_HIT; word++) {
                expect(got[word] == got[0], "a value is torn");
            }
            hits += result == KVC_MEGAKV_SLAB_HIT;
            reads++;
        }
    }
    stop.store(true);
    writer.join();
    expect(hits > reads / 2, "hardly an item could be read");
    std::printf("no value is torn: %llu of %llu reads are hits\n", static_cast<unsigned long long>(hits),
                static_cast<unsigned long long>(reads));
}

} // namespace

int main()
{
    kvc::print_header("shared_cuda_test");
    batch_memory memory;
    test_outcomes(memory);
    test_changes(memory);
    test_host_changes(memory);
    test_device_changes(memory);
    test_rewrites(memory);
    std::printf("passed\n");
    return 0;
}

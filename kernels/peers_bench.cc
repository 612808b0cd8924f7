/* Mega-KV's index and slab store next to well-known hash tables, on the same keys in the same run.
 *
 * 8-byte keys and values, as many as fill 0.75 of the index's cells, random hits, one core, huge pages for
 * everyone: each table says how much of all memory is on them. Ours hashes the key, searches the index, reads
 * the item from the slab, compares the whole key and copies the value. Each peer alternates with ours, run by
 * run; figures are medians, and inserts leave page faults out. Peers that were not there when this was built
 * are named and left out; MICA and memcached's table are this project's. The only C++ of the project: the
 * peers are C++. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

#ifdef KVC_PEER_RTE_HASH
#include <rte_eal.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>
#endif
#ifdef KVC_PEER_BOOST
#include <boost/unordered/unordered_flat_map.hpp>
#endif
#ifdef KVC_PEER_LIBCUCKOO
#include <libcuckoo/cuckoohash_map.hh>
#endif

#include "kernels/bench.h"

extern "C" {
#include "kernels/hash.h"
#include "kernels/megakv/cuckoo.h"
#include "kernels/megakv/slab.h"
#include "kernels/pages.h"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* functions and structs share names, as they may in C */
#include "kernels/memcachedgpu/chained.h"
#include "kernels/mica/mica.h"
#pragma GCC diagnostic pop
}

namespace
{

constexpr int runs = 5;
constexpr uint64_t run_keys = 2 << 20;
constexpr uint32_t batch_max = 256;
constexpr uint64_t hash_seed = 0x6b766361;

uint64_t value_of(uint64_t key)
{
    return key * 0x9e3779b97f4a7c15u + 1;
}

/* What every table under test does; gets and sets come in batches. */
class table
{
  public:
    virtual ~table() = default;
    virtual void insert(const uint64_t *key, uint32_t count) = 0;
    /* Values of keys that are all there. */
    virtual void get(const uint64_t *key, uint32_t count, uint64_t *value) = 0;
    virtual void set(const uint64_t *key, uint32_t count) = 0;
    /* A batch of both; the SETs come first in `key`. */
    virtual void set_and_get(const uint64_t *key, uint32_t sets, uint32_t count, uint64_t *value)
    {
        set(key, sets);
        get(key + sets, count - sets, value);
    }
};

/* How many times as fast ours has to be; 0: any. */
struct targets {
    double get_one;
    double get_many;
    double mix;
};

const double target_insert_mops = 15;
const double target_index_of_limit = 0.75;

/* --- ours --- */

class ours : public table
{
  public:
    explicit ours(uint64_t slots)
    {
        struct kvc_megakv_cuckoo_params params = {};
        params.bytes = slots * 8;
        params.max_displacements = 200;
        index_ = kvc_megakv_cuckoo_create(&params);
        slab_ = kvc_megakv_slab_create(slots * 32, hash_seed);
        if (index_ == nullptr || slab_ == nullptr) {
            kvc_bench_die("out of memory");
        }
        std::memset(key_bytes_, 8, sizeof(key_bytes_));
        reads_.key_stride = 8;
        reads_.key_bytes = key_bytes_;
        reads_.compare = true;
        reads_.out_bytes = batch_max * 8;
    }

    ~ours() override
    {
        kvc_index_free(index_);
        kvc_megakv_slab_free(slab_);
    }

    void insert(const uint64_t *key, uint32_t count) override
    {
        uint32_t location[batch_max], left[batch_max], evicted_count;
        struct kvc_megakv_slab_evicted evicted[batch_max];
        hash(key, count);
        if (kvc_megakv_slab_alloc(slab_, 8, 8, count, location, evicted, &evicted_count, &slab_stats_) !=
            count) {
            kvc_bench_die("the slab store is too small");
        }
        for (uint32_t i = 0; i < count; i++) {
            uint64_t value = value_of(key[i]);
            kvc_megakv_slab_write(slab_, location[i], &key[i], 8, &value, 8, &slab_stats_);
        }
        kvc_index_insert(index_, hash_, location, count, left, &stats_);
        for (uint32_t i = 0; i < count; i++) {
            if (left[i] != KVC_LOCATION_NONE) {
                kvc_megakv_slab_release(slab_, left[i]);
            }
        }
    }

    void set(const uint64_t *key, uint32_t count) override
    {
        insert(key, count);
    }

    /* A SET of a key that is there is looked for with the GETs and writes its item again, in place. */
    void set_and_get(const uint64_t *key, uint32_t sets, uint32_t count, uint64_t *value) override
    {
        uint32_t location[batch_max];
        uint64_t old_and_found[batch_max];
        get_at(key, count, old_and_found, location);
        for (uint32_t i = 0; i < sets; i++) {
            uint64_t next = value_of(key[i]);
            if (!kvc_megakv_slab_rewrite(slab_, location[i], &key[i], 8, &next, 8, &slab_stats_)) {
                set(&key[i], 1);
            }
        }
        std::memcpy(value, old_and_found + sets, (count - sets) * sizeof(*value));
    }

    void get(const uint64_t *key, uint32_t count, uint64_t *value) override
    {
        uint32_t location[batch_max];
        get_at(key, count, value, location);
    }

    /* The index alone; found locations are not looked at. */
    void search(const uint64_t *key, uint32_t count)
    {
        uint32_t location[batch_max];
        hash(key, count);
        kvc_index_search(index_, hash_, count, location, &stats_);
    }

    double lines_per_search() const
    {
        return static_cast<double>(stats_.search_lines) / static_cast<double>(stats_.searches);
    }

  private:
    void get_at(const uint64_t *key, uint32_t count, uint64_t *value, uint32_t *location)
    {
        uint32_t position = 0;
        uint8_t result[batch_max];
        hash(key, count);
        kvc_index_search(index_, hash_, count, location, &stats_);
        /* What never changes is there already: clearing it all again would cost a batch of one dearly. */
        reads_.count = count;
        reads_.location = location;
        reads_.keys = reinterpret_cast<const uint8_t *>(key);
        reads_.out = reinterpret_cast<uint8_t *>(value);
        reads_.out_position = &position;
        reads_.result = result;
        kvc_megakv_slab_read(slab_, &reads_, &slab_stats_);
    }

    void hash(const uint64_t *key, uint32_t count)
    {
        kvc_hash_batch(reinterpret_cast<const uint8_t *>(key), 8, key_bytes_, count, hash_seed, hash_);
    }

    struct kvc_index *index_;
    struct kvc_megakv_slab *slab_;
    struct kvc_index_stats stats_ = {};
    struct kvc_megakv_slab_stats slab_stats_ = {};
    struct kvc_megakv_slab_reads reads_ = {};
    uint64_t hash_[batch_max];
    uint8_t key_bytes_[batch_max];
};

/* --- peers --- */

template <typename T> struct huge_pages {
    using value_type = T;
    huge_pages() = default;
    template <typename U> huge_pages(const huge_pages<U> &)
    {
    }
    T *allocate(size_t count)
    {
        void *memory = kvc_pages_alloc(count * sizeof(T));
        if (memory == nullptr) {
            kvc_bench_die("out of memory");
        }
        return static_cast<T *>(memory);
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

struct mixing_hash {
    using is_avalanching = void;
    size_t operator()(uint64_t key) const
    {
        return kvc_bench_mix(key);
    }
};

#ifdef KVC_PEER_RTE_HASH
/* Without reserved huge pages, DPDK's own memory is a shared file of small pages. So its table lives in
 * memory of ours, which it knows as an external heap. */
class rte : public table
{
  public:
    explicit rte(uint64_t slots) : bytes_(slots * 40 + (UINT64_C(64) << 20))
    {
        memory_ = kvc_bench_alloc(bytes_);
        if (rte_malloc_heap_create(heap_) != 0 ||
            rte_malloc_heap_memory_add(heap_, memory_, bytes_, nullptr, 0, page_bytes_) != 0) {
            kvc_bench_die("no heap for rte_hash");
        }
        struct rte_hash_parameters params = {};
        params.name = "peer";
        params.entries = static_cast<uint32_t>(slots);
        params.key_len = 8;
        params.hash_func = rte_hash_crc;
        params.socket_id = rte_malloc_heap_get_socket(heap_);
        hash_ = rte_hash_create(&params);
        if (hash_ == nullptr) {
            kvc_bench_die("rte_hash_create failed");
        }
    }

    ~rte() override
    {
        rte_hash_free(hash_);
        if (rte_malloc_heap_memory_remove(heap_, memory_, bytes_) != 0 ||
            rte_malloc_heap_destroy(heap_) != 0) {
            kvc_bench_die("rte_hash left something behind");
        }
        kvc_pages_free(memory_, bytes_);
    }

    void insert(const uint64_t *key, uint32_t count) override
    {
        for (uint32_t i = 0; i < count; i++) {
            if (rte_hash_add_key_data(hash_, &key[i], reinterpret_cast<void *>(value_of(key[i]))) != 0) {
                kvc_bench_die("rte_hash is full");
            }
        }
    }

    void set(const uint64_t *key, uint32_t count) override
    {
        insert(key, count);
    }

    void get(const uint64_t *key, uint32_t count, uint64_t *value) override
    {
        if (count == 1) {
            rte_hash_lookup_data(hash_, key, reinterpret_cast<void **>(value));
            return;
        }
        for (uint32_t i = 0; i < count; i += RTE_HASH_LOOKUP_BULK_MAX) {
            const void *keys[RTE_HASH_LOOKUP_BULK_MAX];
            uint32_t size = std::min<uint32_t>(count - i, RTE_HASH_LOOKUP_BULK_MAX);
            uint64_t hits;
            for (uint32_t j = 0; j < size; j++) {
                keys[j] = &key[i + j];
            }
            rte_hash_lookup_bulk_data(hash_, keys, size, &hits, reinterpret_cast<void **>(value + i));
        }
    }

    /* No device and nothing reserved. */
    static void start()
    {
        const char *words[] = {
            "peers_bench", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
            "-m",          "64",        "-l",          "0",        "--log-level=lib.eal:error"};
        std::vector<char *> arguments;
        for (const char *word : words) {
            arguments.push_back(strdup(word));
        }
        if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0) {
            kvc_bench_die("rte_eal_init failed");
        }
    }

  private:
    static constexpr const char *heap_ = "peer";
    static constexpr size_t page_bytes_ = 2 << 20;
    uint64_t bytes_;
    void *memory_;
    struct rte_hash *hash_;
};
#endif

#ifdef KVC_PEER_BOOST
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
#endif

#ifdef KVC_PEER_LIBCUCKOO
/* As one thread that holds all locks for good: without their cost. */
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
#endif

/* One partition, with as many entries as ours has cells, and room for every item in the log. Its buckets
 * overflow now and then: then it has forgotten a key. */
class mica : public table
{
  public:
    explicit mica(uint64_t slots)
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

    ~mica() override
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

/* memcached's: 1.5 elements to a bucket, where memcached would grow; no element is due for the front of the
 * queue. Its 8 bytes beside the key are the value. */
class memcached : public table
{
  public:
    explicit memcached(uint64_t slots)
    {
        struct kvc_chained_params params = {};
        params.buckets = static_cast<uint32_t>(slots / 2);
        params.capacity = static_cast<uint32_t>(slots / 4 * 3);
        params.key_bytes_max = 8;
        params.bump_after = 2 * batch_max;
        table_ = kvc_chained_create(&params);
        if (table_ == nullptr) {
            kvc_bench_die("out of memory");
        }
        for (uint32_t i = 0; i < batch_max; i++) {
            offset_[i] = i * 8;
        }
        std::memset(key_bytes_, 8, sizeof(key_bytes_));
    }

    ~memcached() override
    {
        kvc_chained_free(table_);
    }

    void insert(const uint64_t *key, uint32_t count) override
    {
        struct kvc_set_assoc_item items[batch_max];
        struct kvc_set_assoc_keys keys = {reinterpret_cast<const uint8_t *>(key), offset_, key_bytes_};
        for (uint32_t i = 0; i < count; i++) {
            uint64_t value = value_of(key[i]);
            items[i].location = static_cast<uint32_t>(value & 0x7fffffff);
            items[i].value_bytes = static_cast<uint32_t>(value >> 32);
            items[i].stamp = 0;
            items[i].flags = static_cast<uint16_t>(value >> 31 & 1);
        }
        kvc_chained_insert(table_, &keys, items, count, 0, nullptr, &stats_);
    }

    void set(const uint64_t *key, uint32_t count) override
    {
        insert(key, count);
    }

    void get(const uint64_t *key, uint32_t count, uint64_t *value) override
    {
        struct kvc_set_assoc_item items[batch_max];
        struct kvc_set_assoc_keys keys = {reinterpret_cast<const uint8_t *>(key), offset_, key_bytes_};
        kvc_chained_search(table_, &keys, count, batch_max, items, &stats_);
        for (uint32_t i = 0; i < count; i++) {
            value[i] = static_cast<uint64_t>(items[i].value_bytes) << 32 |
                       static_cast<uint64_t>(items[i].flags) << 31 | items[i].location;
        }
    }

  private:
    struct kvc_chained *table_;
    struct kvc_index_stats stats_ = {};
    uint32_t offset_[batch_max];
    uint8_t key_bytes_[batch_max];
};

/* --- runs --- */

struct work {
    const char *name;
    uint32_t batch;
    uint32_t sets; /* of 100 requests */
};

const work works[] = {
    {"GET, batches of 1", 1, 0},
    {"GET, batches of 32", 32, 0},
    {"GET, batches of 256", 256, 0},
    {"95:5 GET:SET, batches of 32", 32, 5},
};

/* Page faults left out. */
double fill(table &into, uint64_t keys)
{
    uint64_t key[32];
    double start = kvc_bench_own_s();
    for (uint64_t done = 0; done < keys; done += 32) {
        uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(keys - done, 32));
        for (uint32_t i = 0; i < count; i++) {
            key[i] = kvc_bench_mix(done + i);
        }
        into.insert(key, count);
    }
    return static_cast<double>(keys) / (kvc_bench_own_s() - start) / 1e6;
}

double run_once(table &on, const work &what, const std::vector<uint64_t> &keys)
{
    uint64_t value[batch_max], batch[batch_max];
    uint64_t number = 0;
    double start = kvc_bench_now_s();
    for (uint64_t i = 0; i < run_keys; i += what.batch) {
        if (what.sets == 0) {
            on.get(&keys[i], what.batch, value);
            continue;
        }
        uint32_t sets = 0, gets = what.batch;
        for (uint32_t j = 0; j < what.batch; j++, number++) {
            bool is_set = number * what.sets % 100 < what.sets;
            batch[is_set ? sets++ : --gets] = keys[i + j];
        }
        on.set_and_get(batch, sets, what.batch, value);
    }
    return static_cast<double>(run_keys) / (kvc_bench_now_s() - start) / 1e6;
}

/* Whatever is found has to be right, and all but this share of the keys is found. */
void verify(table &on, const std::vector<uint64_t> &keys, const char *name, double forgotten)
{
    uint64_t value[batch_max], absent = 0, asked = 0;
    for (uint32_t batch : {1u, 32u, batch_max}) {
        for (uint64_t i = 0; i < 64 * batch_max; i += batch) {
            std::memset(value, 0, sizeof(value));
            on.get(&keys[i], batch, value);
            for (uint32_t j = 0; j < batch; j++) {
                asked++;
                absent += value[j] == 0;
                if (value[j] != value_of(keys[i + j]) && value[j] != 0) {
                    std::fprintf(stderr, "%s: a wrong value\n", name);
                    std::exit(1);
                }
            }
        }
    }
    if (static_cast<double>(absent) > forgotten * static_cast<double>(asked)) {
        std::fprintf(stderr, "%s: %llu of %llu keys are missing\n", name,
                     static_cast<unsigned long long>(absent), static_cast<unsigned long long>(asked));
        std::exit(1);
    }
}

/* Share of what this program has in memory that is on huge pages. */
double huge_share()
{
    double resident = 0, huge = 0, kib;
    char line[256];
    FILE *file = std::fopen("/proc/self/smaps_rollup", "r");
    while (file != nullptr && std::fgets(line, sizeof(line), file) != nullptr) {
        if (std::sscanf(line, "Rss: %lf", &kib) == 1) {
            resident = kib;
        } else if (std::sscanf(line, "AnonHugePages: %lf", &kib) == 1) {
            huge = kib;
        }
    }
    if (file != nullptr) {
        std::fclose(file);
    }
    return resident > 0 ? huge / resident : 0;
}

/* "" where nothing is asked for. */
const char *verdict(double reached, double target)
{
    return target <= 0 ? "" : reached >= target ? "  ok" : "  MISSED";
}

/* `limit_mops`: of ours by the lines that it touches; 0: not the limit. */
void print_ratio(const char *what, double theirs, double mine, double target, double limit_mops)
{
    std::printf("  %-30s %8.1f M/s, ours %8.1f M/s: %5.2f times", what, theirs, mine, mine / theirs);
    if (target > 0) {
        std::printf(" of %4.2f%s", target, verdict(mine / theirs, target));
        if (limit_mops > 0) {
            std::printf(" (limit %.2f)", limit_mops / theirs);
        }
    }
    std::printf("\n");
    std::fflush(stdout);
}

std::vector<std::vector<uint64_t>> draw(uint64_t keys)
{
    std::vector<std::vector<uint64_t>> drawn(runs);
    uint64_t number = 1;
    for (auto &each : drawn) {
        each.resize(run_keys);
        for (uint64_t &key : each) {
            key = kvc_bench_mix(kvc_bench_mix(number++ + (UINT64_C(1) << 60)) % keys);
        }
    }
    return drawn;
}

/* The peer and ours in turn. Prints a line for each work. */
void compare(const char *name, table &peer, ours &own, const struct targets &targets, double forgotten,
             double own_insert, double get_limit_mops, uint64_t keys,
             const std::vector<std::vector<uint64_t>> &drawn)
{
    double insert = fill(peer, keys);
    verify(peer, drawn[0], name, forgotten);
    std::printf("%s (%.2f of all memory on huge pages)\n", name, huge_share());
    print_ratio("insert to load 0.75", insert, own_insert, 0, 0);
    for (const work &what : works) {
        double mine[runs], theirs[runs];
        for (int run = 0; run < runs; run++) {
            theirs[run] = run_once(peer, what, drawn[run]);
            mine[run] = run_once(own, what, drawn[(run + 1) % runs]);
        }
        double target = what.sets > 0 ? targets.mix : what.batch == 1 ? targets.get_one : targets.get_many;
        print_ratio(what.name, kvc_bench_median(theirs, runs), kvc_bench_median(mine, runs), target,
                    what.batch > 1 ? get_limit_mops : 0);
    }
}

void bench_own(ours &own, double insert, double limit_mops, const std::vector<std::vector<uint64_t>> &drawn)
{
    kvc_bench_row("insert to load 0.75, index and slab", insert, 0, limit_mops);
    std::printf("  of %.1f M/s%s\n", target_insert_mops, verdict(insert, target_insert_mops));
    for (uint32_t batch : {1u, 32u, batch_max}) {
        double mops[runs];
        char name[64];
        for (int run = 0; run < runs; run++) {
            double start = kvc_bench_now_s();
            for (uint64_t i = 0; i < run_keys; i += batch) {
                own.search(&drawn[run][i], batch);
            }
            mops[run] = static_cast<double>(run_keys) / (kvc_bench_now_s() - start) / 1e6;
        }
        double median = kvc_bench_median(mops, runs);
        std::snprintf(name, sizeof(name), "index search alone, batches of %u", batch);
        kvc_bench_row(name, median, own.lines_per_search(), limit_mops);
        if (batch > 1) {
            double reached = median * own.lines_per_search() / limit_mops;
            std::printf("  of %.2f of limit%s\n", target_index_of_limit,
                        verdict(reached, target_index_of_limit));
        }
    }
}

} // namespace

int main(int argc, char **argv)
{
    uint64_t slots = UINT64_C(1) << 26;
    int option;
    while ((option = getopt(argc, argv, "c:")) != -1) {
        char *end;
        unsigned long long log2 = std::strtoull(optarg != nullptr ? optarg : "", &end, 10);
        if (option != 'c' || *end != '\0' || log2 < 16 || log2 > 28) {
            std::fprintf(stderr, "usage: peers_bench [-c LOG2_CELLS]; 16 .. 28\n");
            return 2;
        }
        slots = UINT64_C(1) << log2;
    }
    uint64_t keys = slots / 4 * 3;
    kvc_bench_print_machine();
#ifdef KVC_PEER_RTE_HASH
    rte::start();
#endif
    kvc_bench_pin(0);
    double limit_mops = kvc_bench_line_limit_mops(slots * 8);
    double far_mops = kvc_bench_line_limit_mops(slots * 32);
    double page_mops = kvc_bench_page_limit_mops(slots * 32);
    std::printf("%llu keys of 8 B, values of 8 B; random lines: %.1f M/s in %llu MiB (index), %.1f in %llu "
                "MiB (items; %.1f if 16 in turn share a page of 4 KiB)\n",
                static_cast<unsigned long long>(keys), limit_mops,
                static_cast<unsigned long long>(slots * 8 >> 20), far_mops,
                static_cast<unsigned long long>(slots * 32 >> 20), page_mops);
    std::vector<std::vector<uint64_t>> drawn = draw(keys);
    ours own(slots);
    double insert = fill(own, keys);
    verify(own, drawn[0], "ours", 0);
    bench_own(own, insert, limit_mops, drawn);
    /* The items take most of the memory that a GET goes through, and the index the rest of it. */
    double lines = own.lines_per_search() + 1;
    double get_limit_mops = far_mops / lines;
    std::printf("GET: %.2f lines at %.1f M/s: at most %.1f M/s\n", lines, far_mops, get_limit_mops);
#ifdef KVC_PEER_RTE_HASH
    {
        rte peer(slots);
        compare("DPDK rte_hash (lookup_bulk_data)", peer, own, {1, 2.2, 2}, 0, insert, get_limit_mops, keys,
                drawn);
    }
#else
    std::printf("rte_hash: not there when this was built (libdpdk-dev)\n");
#endif
#ifdef KVC_PEER_BOOST
    {
        boost_flat peer(slots);
        compare("Boost unordered_flat_map", peer, own, {0, 1.25, 0}, 0, insert, get_limit_mops, keys, drawn);
    }
#else
    std::printf("Boost: not there when this was built (libboost1.81-dev)\n");
#endif
#ifdef KVC_PEER_LIBCUCKOO
    {
        libcuckoo_unlocked peer(slots);
        compare("libcuckoo, without locks", peer, own, {1, 0, 0}, 0, insert, get_limit_mops, keys, drawn);
    }
#else
    std::printf("libcuckoo: not there when this was built (libcuckoo-dev)\n");
#endif
    {
        mica peer(slots);
        compare("MICA, lossy", peer, own, {1, 0, 0}, 0.03, insert, get_limit_mops, keys, drawn);
    }
    {
        memcached peer(slots);
        compare("memcached's chained table", peer, own, {1, 0, 0}, 0, insert, get_limit_mops, keys, drawn);
    }
    return 0;
}

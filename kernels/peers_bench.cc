/* Mega-KV's index and slab store next to well-known hash tables, on the same keys in the same run.
 *
 * 8-byte keys and values, as many as fill 0.75 of the index's cells, random hits, one core, huge pages for
 * everyone. Ours hashes the key, searches the index, reads the item from the slab, compares the whole key and
 * copies the value. Each peer alternates with ours, run by run; figures are medians. Peers that were not
 * there when this was built are named and left out. The only C++ of the project: the peers are C++. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#ifdef KVC_PEER_RTE_HASH
#include <rte_eal.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_memory.h>
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
#include "kernels/memory.h"
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
};

/* --- ours --- */

class ours : public table
{
  public:
    explicit ours(uint64_t cells)
    {
        struct kvc_cuckoo_params params = {};
        params.bytes = cells * 8;
        params.max_displacements = 200;
        index_ = kvc_cuckoo_create(&params);
        slab_ = kvc_slab_create(cells * 32, hash_seed);
        if (index_ == nullptr || slab_ == nullptr) {
            kvc_bench_die("out of memory");
        }
        std::memset(key_bytes_, 8, sizeof(key_bytes_));
    }

    ~ours() override
    {
        kvc_index_free(index_);
        kvc_slab_free(slab_);
    }

    void insert(const uint64_t *key, uint32_t count) override
    {
        uint32_t location[batch_max], left[batch_max], evicted_count;
        struct kvc_evicted evicted[batch_max];
        hash(key, count);
        if (kvc_slab_alloc(slab_, 8, 8, count, location, evicted, &evicted_count, &slab_stats_) != count) {
            kvc_bench_die("the slab store is too small");
        }
        for (uint32_t i = 0; i < count; i++) {
            uint64_t value = value_of(key[i]);
            kvc_slab_write(slab_, location[i], &key[i], 8, &value, 8, &slab_stats_);
        }
        kvc_index_insert(index_, hash_, location, count, left, &stats_);
        for (uint32_t i = 0; i < count; i++) {
            if (left[i] != KVC_LOCATION_NONE) {
                kvc_slab_release(slab_, left[i]);
            }
        }
    }

    void set(const uint64_t *key, uint32_t count) override
    {
        insert(key, count);
    }

    void get(const uint64_t *key, uint32_t count, uint64_t *value) override
    {
        uint32_t location[batch_max], position = 0;
        uint8_t result[batch_max];
        hash(key, count);
        kvc_index_search(index_, hash_, count, location, &stats_);
        struct kvc_slab_reads reads = {};
        reads.count = count;
        reads.location = location;
        reads.keys = reinterpret_cast<const uint8_t *>(key);
        reads.key_stride = 8;
        reads.key_bytes = key_bytes_;
        reads.compare = true;
        reads.out = reinterpret_cast<uint8_t *>(value);
        reads.out_bytes = batch_max * 8;
        reads.out_position = &position;
        reads.result = result;
        kvc_slab_read(slab_, &reads, &slab_stats_);
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
    void hash(const uint64_t *key, uint32_t count)
    {
        kvc_hash_batch(reinterpret_cast<const uint8_t *>(key), 8, key_bytes_, count, hash_seed, hash_);
    }

    struct kvc_index *index_;
    struct kvc_slab *slab_;
    struct kvc_index_stats stats_ = {};
    struct kvc_slab_stats slab_stats_ = {};
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
        void *memory = kvc_memory_alloc(count * sizeof(T));
        if (memory == nullptr) {
            kvc_bench_die("out of memory");
        }
        return static_cast<T *>(memory);
    }
    void deallocate(T *memory, size_t count)
    {
        kvc_memory_free(memory, count * sizeof(T));
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
class rte : public table
{
  public:
    explicit rte(uint64_t cells)
    {
        struct rte_hash_parameters params = {};
        params.name = "peer";
        params.entries = static_cast<uint32_t>(cells);
        params.key_len = 8;
        params.hash_func = rte_hash_crc;
        hash_ = rte_hash_create(&params);
        if (hash_ == nullptr) {
            kvc_bench_die("rte_hash_create failed");
        }
    }

    ~rte() override
    {
        rte_hash_free(hash_);
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

    /* No device, no reserved huge pages: its memory is offered to the system for transparent ones, as ours
     * is. */
    static void start()
    {
        const char *words[] = {"peers_bench", "--no-huge", "--no-pci", "--no-telemetry",           "-m",
                               "6144",        "-l",        "0",        "--log-level=lib.eal:error"};
        std::vector<char *> arguments;
        for (const char *word : words) {
            arguments.push_back(strdup(word));
        }
        if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0) {
            kvc_bench_die("rte_eal_init failed");
        }
        rte_memseg_list_walk(
            [](const struct rte_memseg_list *list, void *) {
                madvise(list->base_va, list->len, MADV_HUGEPAGE);
                return 0;
            },
            nullptr);
    }

  private:
    struct rte_hash *hash_;
};
#endif

#ifdef KVC_PEER_BOOST
class boost_flat : public table
{
  public:
    explicit boost_flat(uint64_t cells)
    {
        map_.reserve(cells / 4 * 3);
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
    explicit libcuckoo_unlocked(uint64_t cells) : map_(cells), locked_(map_.lock_table())
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

double fill(table &into, uint64_t keys)
{
    uint64_t key[32];
    double start = kvc_bench_now_s();
    for (uint64_t done = 0; done < keys; done += 32) {
        uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(keys - done, 32));
        for (uint32_t i = 0; i < count; i++) {
            key[i] = kvc_bench_mix(done + i);
        }
        into.insert(key, count);
    }
    return static_cast<double>(keys) / (kvc_bench_now_s() - start) / 1e6;
}

double run_once(table &on, const work &what, const std::vector<uint64_t> &keys)
{
    uint64_t value[batch_max], gets[batch_max], sets[batch_max];
    uint64_t number = 0;
    double start = kvc_bench_now_s();
    for (uint64_t i = 0; i < run_keys; i += what.batch) {
        if (what.sets == 0) {
            on.get(&keys[i], what.batch, value);
            continue;
        }
        uint32_t get_count = 0, set_count = 0;
        for (uint32_t j = 0; j < what.batch; j++, number++) {
            if (number * what.sets % 100 < what.sets) {
                sets[set_count++] = keys[i + j];
            } else {
                gets[get_count++] = keys[i + j];
            }
        }
        on.set(sets, set_count);
        on.get(gets, get_count, value);
    }
    return static_cast<double>(run_keys) / (kvc_bench_now_s() - start) / 1e6;
}

void verify(table &on, const std::vector<uint64_t> &keys, const char *name)
{
    uint64_t value[batch_max];
    for (uint32_t batch : {1u, 32u, batch_max}) {
        for (uint64_t i = 0; i < 64 * batch_max; i += batch) {
            std::memset(value, 0, sizeof(value));
            on.get(&keys[i], batch, value);
            for (uint32_t j = 0; j < batch; j++) {
                if (value[j] != value_of(keys[i + j])) {
                    std::fprintf(stderr, "%s: a wrong value\n", name);
                    std::exit(1);
                }
            }
        }
    }
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
void compare(const char *name, table &peer, ours &own, double own_insert, uint64_t keys,
             const std::vector<std::vector<uint64_t>> &drawn)
{
    double insert = fill(peer, keys);
    verify(peer, drawn[0], name);
    std::printf("%s\n  %-30s %8.1f M/s, ours %8.1f M/s: %5.2f times\n", name, "insert to load 0.75", insert,
                own_insert, own_insert / insert);
    for (const work &what : works) {
        double mine[runs], theirs[runs];
        for (int run = 0; run < runs; run++) {
            theirs[run] = run_once(peer, what, drawn[run]);
            mine[run] = run_once(own, what, drawn[(run + 1) % runs]);
        }
        double own_mops = kvc_bench_median(mine, runs), peer_mops = kvc_bench_median(theirs, runs);
        std::printf("  %-30s %8.1f M/s, ours %8.1f M/s: %5.2f times\n", what.name, peer_mops, own_mops,
                    own_mops / peer_mops);
        std::fflush(stdout);
    }
}

void bench_own(ours &own, double insert, double limit_mops, const std::vector<std::vector<uint64_t>> &drawn)
{
    kvc_bench_row("insert to load 0.75, index and slab", insert, 0, limit_mops);
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
        std::snprintf(name, sizeof(name), "index search alone, batches of %u", batch);
        kvc_bench_row(name, kvc_bench_median(mops, runs), own.lines_per_search(), limit_mops);
    }
}

} // namespace

int main(int argc, char **argv)
{
    uint64_t cells = UINT64_C(1) << 26;
    int option;
    while ((option = getopt(argc, argv, "c:")) != -1) {
        char *end;
        unsigned long long log2 = std::strtoull(optarg != nullptr ? optarg : "", &end, 10);
        if (option != 'c' || *end != '\0' || log2 < 16 || log2 > 28) {
            std::fprintf(stderr, "usage: peers_bench [-c LOG2_CELLS]; 16 .. 28\n");
            return 2;
        }
        cells = UINT64_C(1) << log2;
    }
    uint64_t keys = cells / 4 * 3;
    kvc_bench_print_machine();
#ifdef KVC_PEER_RTE_HASH
    rte::start();
#endif
    kvc_bench_pin(0);
    double limit_mops = kvc_bench_line_limit_mops(cells * 8);
    double far_mops = kvc_bench_line_limit_mops(cells * 32);
    std::printf("%llu keys of 8 B, values of 8 B; random lines: %.1f M/s in %llu MiB (index), %.1f in %llu "
                "MiB (items)\n",
                static_cast<unsigned long long>(keys), limit_mops,
                static_cast<unsigned long long>(cells * 8 >> 20), far_mops,
                static_cast<unsigned long long>(cells * 32 >> 20));
    std::vector<std::vector<uint64_t>> drawn = draw(keys);
    ours own(cells);
    double insert = fill(own, keys);
    verify(own, drawn[0], "ours");
    bench_own(own, insert, limit_mops, drawn);
#ifdef KVC_PEER_RTE_HASH
    {
        rte peer(cells);
        compare("DPDK rte_hash (lookup_bulk_data)", peer, own, insert, keys, drawn);
    }
#else
    std::printf("rte_hash: not there when this was built (libdpdk-dev)\n");
#endif
#ifdef KVC_PEER_BOOST
    {
        boost_flat peer(cells);
        compare("Boost unordered_flat_map", peer, own, insert, keys, drawn);
    }
#else
    std::printf("Boost: not there when this was built (libboost1.81-dev)\n");
#endif
#ifdef KVC_PEER_LIBCUCKOO
    {
        libcuckoo_unlocked peer(cells);
        compare("libcuckoo, without locks", peer, own, insert, keys, drawn);
    }
#else
    std::printf("libcuckoo: not there when this was built (libcuckoo-dev)\n");
#endif
    return 0;
}

#include "kernels/peers/peers.hh"

#include <algorithm>
#include <cstring>
#include <vector>

#include <rte_eal.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

namespace kvc::peers
{

namespace
{

/* Without reserved huge pages, DPDK would allocate its memory as a shared file of small pages. The table
 * therefore lives in huge pages of ours, which DPDK knows as an external heap. */
class rte_hash_table : public table
{
  public:
    explicit rte_hash_table(uint64_t slots) : bytes_(slots * 40 + (UINT64_C(64) << 20))
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

    ~rte_hash_table() override
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

  private:
    static constexpr const char *heap_ = "peer";
    static constexpr size_t page_bytes_ = 2 << 20;
    uint64_t bytes_;
    void *memory_;
    struct rte_hash *hash_;
};

} // namespace

void rte_hash_start()
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

std::unique_ptr<table> create_rte_hash(uint64_t slots)
{
    return std::make_unique<rte_hash_table>(slots);
}

} // namespace kvc::peers

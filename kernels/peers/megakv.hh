/* Our table: Mega-KV's index and slab store. */
#ifndef KVC_KERNELS_PEERS_MEGAKV_HH
#define KVC_KERNELS_PEERS_MEGAKV_HH

#include "kernels/peers/table.hh"

extern "C" {
#include "kernels/megakv/cuckoo.h"
#include "kernels/megakv/slab.h"
}

namespace kvc::peers
{

/* A GET hashes the key, searches the index, reads the item from the slab, compares the whole key and copies
 * the value. */
class megakv_table : public table
{
  public:
    explicit megakv_table(uint64_t slots);
    ~megakv_table() override;
    megakv_table(const megakv_table &) = delete;
    megakv_table &operator=(const megakv_table &) = delete;

    void insert(const uint64_t *key, uint32_t count) override;
    void set(const uint64_t *key, uint32_t count) override;
    void get(const uint64_t *key, uint32_t count, uint64_t *value) override;
    /* Searches for the keys of SETs and GETs together, and rewrites items in place. */
    void set_and_get(const uint64_t *key, uint32_t sets, uint32_t count, uint64_t *value) override;

    /* Searches the index alone, and does not look at the items. */
    void search(const uint64_t *key, uint32_t count);

    /* Mean number of 64-byte lines that a search of the index touches. */
    double lines_per_search() const;

  private:
    void get_at(const uint64_t *key, uint32_t count, uint64_t *value, uint32_t *location);
    void hash(const uint64_t *key, uint32_t count);

    struct kvc_index *index_;
    struct kvc_megakv_slab *slab_;
    struct kvc_index_stats stats_ = {};
    struct kvc_megakv_slab_stats slab_stats_ = {};
    struct kvc_megakv_slab_reads reads_ = {};
    uint64_t hash_[batch_max];
    uint8_t key_bytes_[batch_max];
};

} // namespace kvc::peers

#endif
